//! Two measurement points inside a program of one's own, and what they say together.
//!
//! ```text
//! cargo run --release -p deltaline-collect --example embed -- SENDER RECEIVER
//! ```
//!
//! Each file is a capture of one end, pcap or pcapng. A program that sees packets in another way calls
//! [`MeasurementPoint::observe`] with the bytes of each frame and the time at which it passed. Both ends must end
//! their intervals behind the same packet; here each capture is one interval.
//!
//! # Test plan
//!
//! The shipped captures: the mean of the program's own `measure` under the same settings; files that are none are refused
//! with their name.

use deltaline_capture::Capture;
use deltaline_collect::collector::Collector;
use deltaline_collect::evaluation::Evaluation;
use deltaline_collect::summary::Summary;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::Role;
use std::error::Error;
use std::path::Path;

/// The quantities of one interval between two captures: names with values, and a reason for each value that is missing.
fn measure(sender: &Path, receiver: &Path) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    // What both ends share. Draw a seed of your own, and keep it to yourself.
    let settings =
        Settings { rows: 1024, prefixes: &[0, 3, 6], digest: true, seed: 7, ..Settings::default() };
    let configuration = Configuration::new(settings)?;
    let mut collector = Collector::expecting(&configuration);
    for (role, path) in [(Role::Sender, sender), (Role::Receiver, receiver)] {
        let mut point = MeasurementPoint::new(&configuration, role);
        for packet in Capture::open(path)? {
            let packet = packet?;
            point.observe(&packet.data, Timestamp::from_nanoseconds(packet.timestamp));
        }
        // The control frames could travel over any link; here they go straight to the collector.
        point.end_interval(IntervalEnd::Delimiter, |frame| collector.push(frame));
    }
    let evaluations: Vec<Evaluation> = Evaluation::all(&collector.finish()).collect();
    let summary = Summary::of(&evaluations);
    let text = |quantity: &deltaline_estimate::quantity::Quantity| match quantity.value {
        Ok(number) => format!("{:.1}", number.to_f64()),
        Err(reason) => reason.to_string(),
    };
    Ok(summary.overall.quantities().map(|quantity| (quantity.what.key(), text(quantity))).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<_> = std::env::args_os().skip(1).collect();
    let [sender, receiver] = &files[..] else {
        return Err("name two captures: SENDER RECEIVER".into());
    };
    for (key, value) in measure(Path::new(sender), Path::new(receiver))? {
        println!("{key:<20} {value}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn shipped(end: &str) -> std::path::PathBuf {
        let captures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sim/traffic/captures");
        Path::new(captures).join(format!("t1-{end}.pcap.zst"))
    }

    #[test]
    fn the_shipped_captures() {
        let found = measure(&shipped("sender"), &shipped("receiver")).unwrap();
        let value = |key: &str| found.iter().find(|(name, _)| name == key).unwrap().1.clone();
        assert_eq!((value("sent"), value("lost")), ("59461.0".into(), "1566.0".into()));
        // The captures' README has the truth; 2 % is four standard errors of some 2,000 packets.
        let mean: f64 = value("mean_ns").parse().unwrap();
        assert!((mean / 13_058_477.7 - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn what_is_no_capture_is_refused() {
        let readme = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        let refused = measure(readme, readme).unwrap_err().to_string();
        assert!(refused.contains("Cargo.toml"), "{refused}");
    }
}
