//! Cuts a window out of a pair of captures, consistently at both ends: of the sender's capture the packets sent in
//! the window, of the receiver's those of them that arrived. Writes Zstandard-compressed nanosecond pcap, and
//! prints the figures of the cut.
//!
//! ```text
//! cargo run -p deltaline-capture --example cut_pair -- \
//!     <sender> <receiver> <start in s> <length in s> <sender's cut> <receiver's cut>
//! ```

use deltaline_capture::matching::{Matching, Observations, Truth, match_exactly};
use deltaline_capture::{Capture, PcapWriter};
use std::error::Error;
use std::fs::{self, File};
use std::path::Path;

/// Of the intervals that are listed, in nanoseconds.
const INTERVAL: u64 = 500_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [sender_in, receiver_in, start, length, sender_out, receiver_out] = &arguments[..] else {
        return Err("usage: cut_pair <sender> <receiver> <start in s> <length in s> \
                    <sender's cut> <receiver's cut>"
            .into());
    };
    let nanoseconds =
        |seconds: &str| -> Result<u64, Box<dyn Error>> { Ok((seconds.parse::<f64>()? * 1e9).round() as u64) };
    let (start, length) = (nanoseconds(start)?, nanoseconds(length)?);

    let sender = Observations::read(&mut Capture::open(sender_in)?)?;
    let receiver = Observations::read(&mut Capture::open(receiver_in)?)?;
    let first = sender.timestamps().min().ok_or("the sender's capture has no packets")?;
    let window = first + start..first + start + length;
    let sent: Vec<bool> = sender.timestamps().map(|timestamp| window.contains(&timestamp)).collect();
    let mut arrived = vec![false; receiver.timestamps().len()];
    for pair in match_exactly(&sender, &receiver).pairs {
        arrived[pair.receiver] = sent[pair.sender];
    }
    cut(sender_in, &sent, sender_out)?;
    cut(receiver_in, &arrived, receiver_out)?;

    // The figures are those of the files as they were written.
    let sender = Observations::read(&mut Capture::open(sender_out)?)?;
    let receiver = Observations::read(&mut Capture::open(receiver_out)?)?;
    report(&sender, &match_exactly(&sender, &receiver), window.start);
    for file in [sender_out, receiver_out] {
        println!("{file}: {} bytes", fs::metadata(file)?.len());
    }
    Ok(())
}

/// Copies the packets that `keep` says true for, by index.
fn cut(from: &str, keep: &[bool], to: &str) -> Result<(), Box<dyn Error>> {
    let plain = Path::new(to).with_extension("");
    let mut writer = PcapWriter::create(&plain)?;
    let mut capture = Capture::open(from)?;
    for &keep in keep {
        if let Some(packet) = capture.next_packet()?.filter(|_| keep) {
            writer.write(packet)?;
        }
    }
    writer.finish()?;
    let mut encoder = zstd::Encoder::new(File::create(to)?, 22)?;
    encoder.long_distance_matching(true)?;
    encoder.window_log(27)?;
    encoder.include_checksum(true)?;
    std::io::copy(&mut File::open(&plain)?, &mut encoder)?;
    encoder.finish()?;
    Ok(fs::remove_file(plain)?)
}

fn report(sender: &Observations, matching: &Matching, start: u64) {
    println!("sender: {:?}", matching.sender);
    println!("receiver: {:?}", matching.receiver);
    println!("reordered: {}, overall {}", matching.reordered, matching.reordered_overall);
    println!("never sent: {}", matching.receiver_only.len());
    println!("| interval | sent | received | lost | mean delay (ns) | standard deviation (ns) | min | max |");
    println!("|----------|------|----------|------|-----------------|-------------------------|-----|-----|");
    let timestamps: Vec<u64> = sender.timestamps().collect();
    let intervals = timestamps.iter().max().map_or(0, |last| (last - start) / INTERVAL + 1);
    for interval in 0..intervals {
        let name = format!("{:.1} s", (interval * INTERVAL) as f64 / 1e9);
        row(&name, &matching.truth_where(|index| (timestamps[index] - start) / INTERVAL == interval));
    }
    row("all", &matching.truth(..));
}

fn row(name: &str, truth: &Truth) {
    let delay = truth.delay.map_or("| | | ".into(), |delay| {
        format!("{:.1} | {:.1} | {} | {}", delay.mean_ns, delay.std_ns, delay.min_ns, delay.max_ns)
    });
    println!("| {name} | {} | {} | {} | {delay} |", truth.sent, truth.received, truth.lost);
}
