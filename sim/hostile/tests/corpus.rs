//! The corpus of the fuzz targets, file by file.
//!
//! # Test plan
//!
//! Every body has a folder and every folder a body; every file as it is, cut, and with bits turned; the files reach what
//! stands behind check words and refusals, or the bodies would look at nothing.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use deltaline::outside::{Understood, understood};
use deltaline_capture::Capture;
use deltaline_capture::filter::Filter;
use deltaline_collect::collector::{Collector, Counts};
use deltaline_design::{Design, parse_keys};
use deltaline_hostile::{BODIES, actions};
use deltaline_model::wire::frame::Frame;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

/// Files of a target's folder, by name.
fn files(target: &str) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(corpus().join(target)).unwrap().map(Result::unwrap);
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn every_target_has_files_and_a_body() {
    let mut folders: Vec<String> = fs::read_dir(corpus())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    folders.sort();
    let mut names = BODIES.map(|(name, _)| name);
    names.sort();
    assert_eq!(folders, names);
    assert!(names.iter().all(|name| files(name).len() >= 4));
    let targets = corpus().join("../fuzz_targets");
    assert!(names.iter().all(|name| targets.join(name).with_extension("rs").is_file()));
}

#[test]
fn the_corpus_breaks_no_promise() {
    for (name, body) in BODIES {
        for bytes in files(name).into_values() {
            body(&bytes);
            for part in 0..16 {
                body(&bytes[..bytes.len() * part / 16]);
            }
            // Some 256 places of the file, each with another bit.
            for place in (0..bytes.len()).step_by(bytes.len() / 256 + 1) {
                let mut turned = bytes.clone();
                turned[place] ^= 1 << (place % 8);
                body(&turned);
            }
        }
    }
}

/// A file's frames, one after the other, with all that is handed out: numbers, and whether they are usable.
fn collected(name: &str) -> (Vec<(u32, bool)>, Counts) {
    let (mut collector, mut seconds, mut found) = (Collector::default(), 0, vec![]);
    for (frame, action) in actions(&files("collector")[name]) {
        collector.push(frame);
        seconds += u64::from(action & 1);
        collector.advance(Duration::from_secs(seconds));
        found.extend(collector.take_settled());
    }
    let collected = collector.finish();
    found.extend(collected.intervals);
    (found.iter().map(|interval| (interval.number, interval.void.is_none())).collect(), collected.counts)
}

#[test]
fn the_collectors_corpus_reaches_what_it_is_for() {
    let (found, counts) = collected("around-the-wrap");
    assert_eq!(found, [(u32::MAX - 1, true), (u32::MAX, true), (0, true), (1, true)]);
    assert_eq!((counts.stray, counts.restarts), (0, 0));
    let (found, counts) = collected("far-ahead-and-confirmed");
    assert_eq!(found, [(5, true), (6, true), (900, true), (901, false)]);
    assert_eq!((counts.stray, counts.restarts, counts.foreign), (1, 0, 1));
    let (found, counts) = collected("epochs-and-replays");
    assert_eq!(found, [(50, true), (51, true), (0, true), (1, true), (2, true)]);
    assert_eq!((counts.replayed, counts.restarts), (2, 1));
    let (found, _) = collected("delimiter-twice-at-one-end");
    assert_eq!(found, [(1, false), (2, false), (3, false), (4, false)]);
    let (found, counts) = collected("forged-segments");
    assert_eq!((found.len(), counts.corrupted), (7, 0));
}

#[test]
fn the_corpus_is_not_refused_at_the_door() {
    let frames = files("frame");
    assert!(
        ["sender", "receiver", "digests", "sender-v2", "digests-v2"]
            .iter()
            .all(|name| Frame::decode(&frames[*name]).is_ok())
    );

    let mut collector = Collector::default();
    let files_of_collector = files("collector");
    actions(&files_of_collector["two-ends"]).for_each(|(frame, _)| collector.push(frame));
    // The first interval of an end is void, or the reports are compared: either way both ends have come whole.
    let intervals = collector.finish().intervals;
    let is_whole = |report: &Option<deltaline_collect::report::Report>| {
        report.as_ref().is_some_and(|report| !report.blocks.is_empty())
    };
    assert!(intervals.iter().any(|interval| is_whole(&interval.sender) && is_whole(&interval.receiver)));
    assert!(intervals.iter().any(|interval| interval.pair().is_ok()));

    for name in
        ["micro.pcap", "nano-big-endian.pcap", "two-sections.pcapng", "micro.pcap.gz", "nano.pcap.zst"]
    {
        let packets: Result<Vec<_>, _> =
            Capture::open(corpus().join("capture").join(name)).unwrap().collect();
        assert!(packets.unwrap().len() >= 2, "{name}");
    }
    for name in ["1g.toml", "10g-classes.toml", "10g-quantiles.toml", "10g-adaptive.toml", "limits.toml"] {
        Design::load(&corpus().join("design").join(name)).unwrap();
    }
}

#[test]
fn the_corpus_of_texts_is_understood_as_it_is_meant() {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    for (name, bytes) in files("command") {
        let text = text(bytes);
        let words: Vec<&str> = text.lines().collect();
        let read = understood(&words);
        let is_right = match &read {
            Understood::Refused(_) => name == "size-refused",
            Understood::Size(_) => name.starts_with("size"),
            Understood::Command => !name.starts_with("size"),
        };
        assert!(is_right, "{name}: {read:?}");
    }
    for (name, bytes) in files("keys") {
        let is_read = parse_keys(&name, &text(bytes)).is_ok();
        assert_eq!(is_read, !["twice", "nothing"].contains(&name.as_str()), "{name}");
    }
    for (name, bytes) in files("filter") {
        let (filter, packet) = bytes.split_at(bytes.iter().position(|byte| *byte == b'\n').unwrap());
        let filter = Filter::new(&text(filter.to_vec())).unwrap();
        let is_wanted = ["host", "nets", "v6", "tags", "fragment"].contains(&name.as_str());
        assert_eq!(filter.wants(&packet[1..]), is_wanted, "{name}");
    }
}
