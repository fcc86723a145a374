//! The corpus of the fuzz targets, file by file.
//!
//! # Test plan
//!
//! Every body has a folder and every folder a body; every file as it is, cut, and with bits turned; the files reach what
//! stands behind check words and refusals, or the bodies would look at nothing.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use deltaline_capture::Capture;
use deltaline_collect::collector::Collector;
use deltaline_design::Design;
use deltaline_hostile::BODIES;
use deltaline_model::wire::frame::Frame;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

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

#[test]
fn the_corpus_is_not_refused_at_the_door() {
    let frames = files("frame");
    assert!(
        ["sender", "receiver", "digests", "sender-v2", "digests-v2"]
            .iter()
            .all(|name| Frame::decode(&frames[*name]).is_ok())
    );

    let mut collector = Collector::default();
    let mut rest = &files("collector")["two-ends"][..];
    while let Some((length, behind)) = rest.split_first_chunk() {
        let (frame, behind) = behind.split_at(usize::from(u16::from_be_bytes(*length)));
        collector.push(frame);
        rest = behind;
    }
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
