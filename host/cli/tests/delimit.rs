//! `deltaline delimit` over the loopback interface, where the test may open it: to root, as a rule.
#![allow(clippy::unwrap_used)]

mod common;

use common::run;
use deltaline_collect::feed::{Event, Feed, Source};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::wire::delimiter::Delimiter;
use std::time::{Duration, Instant};

/// A segment that no other test delimits.
const SEGMENT: u32 = 0x00c0_ffee;

#[test]
fn delimiters_are_numbered_and_come_at_their_times() {
    let Ok(mut source) = Source::open("lo") else {
        run(&["delimit", "lo"]).failed(13, &["lo", "run as root"]);
        return;
    };
    // That of the boards, but for the segment.
    let configuration = Configuration::new(Settings { rows: 128, segment: SEGMENT, ..Settings::default() });
    let id = configuration.unwrap().id();
    let began = Instant::now();
    let segment = SEGMENT.to_string();
    let result = run(&[
        "delimit",
        "lo",
        "--interval",
        "60ms",
        "--count",
        "4",
        "--first",
        "4294967294",
        "--segment",
        &segment,
    ]);
    result.told(0, &[]);
    assert_eq!(result.output, "delimiters sent: 4\n");
    assert!(began.elapsed() >= Duration::from_millis(180));
    let mut numbers = vec![];
    let mut read = 0;
    while numbers.len() < 4 {
        read += 1;
        assert!(read < 100_000, "{numbers:?}");
        let Event::Frame { bytes, .. } = source.next_event().unwrap() else { continue };
        let Ok(delimiter) = Delimiter::decode(&bytes) else { continue };
        // The loopback interface shows a frame as it leaves and as it comes.
        if delimiter.segment == SEGMENT && numbers.last() != Some(&delimiter.interval) {
            assert_eq!(delimiter.configuration, id);
            numbers.push(delimiter.interval);
        }
    }
    assert_eq!(numbers, [4_294_967_294, 4_294_967_295, 0, 1]);
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
}
