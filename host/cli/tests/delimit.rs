//! `deltaline delimit` over the loopback interface, where the test may open it: to root, as a rule.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, run};
use deltaline_collect::feed::{Event, Feed, Source};
use deltaline_model::board;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::wire::delimiter::Delimiter;
use std::time::{Duration, Instant};

/// A segment that no other test delimits.
const SEGMENT: u32 = 0x00c0_ffee;

/// Numbers and boot epochs of the four delimiters of a segment that the command with these options sends.
fn sent(source: &mut Source, segment: u32, options: &[&str]) -> Vec<(u32, u32)> {
    // That of the boards, but for the segment.
    let rows = board::traffic::configuration().rows();
    let configuration = Configuration::new(Settings { rows, segment, ..Settings::default() });
    let id = configuration.unwrap().id();
    let segment_text = segment.to_string();
    // What is left of before.
    while !matches!(source.next_event().unwrap(), Event::Idle) {}
    let common = ["delimit", "lo", "--interval", "60ms", "--count", "4", "--segment", &segment_text];
    let result = run(&[&common[..], options].concat());
    result.told(0, &[]);
    assert_eq!(result.output, "delimiters sent: 4\n");
    let mut found = vec![];
    let mut read = 0;
    while found.len() < 4 {
        read += 1;
        assert!(read < 100_000, "{found:?}");
        let Event::Frame { bytes, .. } = source.next_event().unwrap() else { continue };
        let Ok(delimiter) = Delimiter::decode(&bytes) else { continue };
        let this = (delimiter.interval, delimiter.boot_epoch);
        // The loopback interface shows a frame as it leaves and as it comes.
        if delimiter.segment == segment && found.last() != Some(&this) {
            assert_eq!(delimiter.configuration, id);
            found.push(this);
        }
    }
    found
}

#[test]
fn delimiters_are_numbered_and_come_at_their_times() {
    let Ok(mut source) = Source::open("lo") else {
        run(&["delimit", "lo"]).failed(13, &["lo", "run as root"]);
        return;
    };
    let began = Instant::now();
    let found = sent(&mut source, SEGMENT, &["--first", "4294967294"]);
    assert!(began.elapsed() >= Duration::from_millis(180));
    let numbers: Vec<u32> = found.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [4_294_967_294, 4_294_967_295, 0, 1]);
}

/// Started once more at once, without a number: none comes again.
#[test]
fn numbers_of_two_starts_rise() {
    let Ok(mut source) = Source::open("lo") else { return };
    let starts = [0, 1].map(|_| sent(&mut source, SEGMENT + 1, &[]));
    for found in &starts {
        assert!(found.windows(2).all(|pair| pair[1].0 == pair[0].0.wrapping_add(1)), "{found:?}");
    }
    let step = starts[1][0].0.wrapping_sub(starts[0][3].0);
    assert!((1..1 << 20).contains(&step), "{starts:?}");
}

#[test]
fn failures_name_the_remedy() {
    run(&["delimit", "no-such-port"]).failed(11, &["no-such-port", "the interfaces are"]);
    run(&["delimit", "lo", "--rows", "100"]).failed(2, &["--rows", "power of two"]);
    run(&["delimit", "lo", "--interval", "0s"]).told(2, &["--interval"]);
    run(&["delimit", "lo", "--interval", "999us"]).failed(2, &["without --design, 1.000 ms"]);
    // 2,048 cells of 8 cycles and 16 frames of 200, at 156.25 MHz.
    let shortest = |interval| run(&["delimit", "none", "--design", "10g", "--interval", interval]);
    shortest("125.3us").failed(2, &["--interval", "up to 125.338 \u{b5}s"]);
    shortest("125.4us").failed(11, &["none"]);
    // With a key and few rows tags take longer than the drain: 4,200 cycles instead of 1,632.
    let folder = Folder::new();
    let text = include_str!("../../../hdl/configurations/10g.toml")
        .replace("rows = 1024", "rows = 16")
        .replace("authentication = false", "authentication = true");
    let design = folder.write("my.toml", text);
    let shortest = |interval| run(&["delimit", "none", "--design", &design, "--interval", interval]);
    shortest("26.8us").failed(2, &["--interval", "up to 26.880 \u{b5}s"]);
    shortest("26.9us").failed(11, &["none"]);
}
