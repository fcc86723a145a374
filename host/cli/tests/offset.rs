//! `deltaline decode --offset`: the shipped captures as both directions of a path, with clocks that are apart.
//!
//! # Test plan
//!
//! * Whatever the offset, the bounds hold it. They are as wide as the least exact delays of both directions together: each
//!   the delay of a packet, and among the least of all packets, found by matching packet with packet.
//! * A clock that moved between the two directions, no digests, a segment that is not there or has void intervals only,
//!   clocks apart by the 2^40 ns that sums of delays are known modulo: reported, each in its way.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, RECEIVER, Run, SENDER, packets, run};
use deltaline_capture::Capture;
use deltaline_capture::matching::{Observations, match_exactly};
use serde_json::Value;

/// Control frames of both directions, `offset` nanoseconds being the far clock less the near one in either.
fn recorded(folder: &Folder, offsets: [i64; 2], options: &[&str], code: i32) -> [String; 2] {
    let late = |name: &str, path: &str, offset: i64| {
        let mut packets = packets(path);
        for packet in &mut packets {
            packet.timestamp = packet.timestamp.checked_add_signed(offset).unwrap();
        }
        folder.capture(name, &packets)
    };
    // The far end receives what goes forward, and sends what comes back.
    let pairs = [
        ("1", "forward.pcapng", SENDER.into(), late("far-receiver.pcap", RECEIVER, offsets[0])),
        ("2", "backward.pcapng", late("far-sender.pcap", SENDER, offsets[1]), RECEIVER.into()),
    ];
    pairs.map(|(segment, name, sender, receiver): (_, _, String, String)| {
        let frames = folder.path(name);
        // Software has digests unless a design has none.
        let design = include_str!("../../../hdl/configurations/10g.toml");
        let own = ("segment = 0", format!("segment = {segment}"));
        let design = folder.write("bare.toml", design.replace(own.0, &own.1));
        let described = match options {
            [] => ["--design", &design],
            _ => ["--segment", segment],
        };
        let arguments = [&["measure", "--interval", "250ms", "--frames", &frames][..], &described].concat();
        let ends = [sender.as_str(), &receiver];
        run(&[&arguments[..], &ends, options].concat()).told(code, &[]);
        frames
    })
}

fn decode(frames: &[String; 2], options: &[&str]) -> Run {
    run(&[&["decode", &frames[0], &frames[1]], options].concat())
}

#[test]
fn the_bounds_hold_the_offset() {
    let folder = Folder::new();
    let [sender, receiver] =
        [SENDER, RECEIVER].map(|path| Observations::read(&mut Capture::open(path).unwrap()).unwrap());
    let mut delays: Vec<i64> =
        match_exactly(&sender, &receiver).pairs.iter().map(|pair| pair.delay).collect();
    delays.sort_unstable();
    for offset in [0, 1_234_567, -3_000_000] {
        let frames = recorded(&folder, [offset; 2], &["--digest", "--banks", "2,3"], 0);
        let result = decode(&frames, &["--offset", "1,2", "--json"]);
        result.told(0, &[]);
        let bounds = &result.json()["offset"];
        let [lowest, highest] = ["lowest_ns", "highest_ns"].map(|member| bounds[member].as_i64().unwrap());
        assert!((lowest..=highest).contains(&offset), "{lowest} to {highest}, {offset}");
        assert_eq!(bounds["reason"], Value::Null);
        // The same packets in both directions, so the least delays are the same.
        assert_eq!(highest - offset, offset - lowest);
        // Of 57,895 packets some 7,900 are exact: none of the 100 least is, with a probability of exp(-13).
        let rank = delays.binary_search(&(highest - offset));
        assert!(rank.is_ok_and(|rank| rank < 100), "{rank:?}, {highest}");
        // To the nanosecond, as the bounds are.
        let text = decode(&frames, &["--offset", "1,2"]).output;
        let [low, high] = [lowest, highest].map(|bound| format!("{:+.9} s", bound as f64 / 1e9));
        let line = format!("clock of segment 1's receiver less its sender's: {low} to {high}\n");
        assert!(text.contains(&line), "{line} {text}");
    }
}

#[test]
fn why_there_are_no_bounds() {
    let folder = Folder::new();
    // The clock leaps back by more than twice the largest delay.
    let moved = recorded(&folder, [0, 500_000_000], &["--digest", "--banks", "2,3"], 0);
    let result = decode(&moved, &["--offset", "1,2", "--json"]);
    result.told(6, &["the clocks' offset is not identifiable: the two directions' delays"]);
    assert_eq!(result.json()["offset"]["lowest_ns"], Value::Null);
    assert_eq!(decode(&moved, &["--json"]).json().get("offset"), None);
    decode(&moved, &["--offset", "1,7"]).told(6, &["no interval of segment 7 was read"]);
    decode(&moved, &["--offset", "1"]).told(2, &["two different segments, such as 1,2"]);

    // Nothing of the backward receiver.
    let mut frames = packets(&moved[1]);
    frames.retain(|frame| frame.data[15] == 0);
    let one_end = [moved[0].clone(), folder.frames("one-end.pcapng", &frames)];
    decode(&one_end, &["--offset", "1,2"]).told(5, &["segment 2: all its intervals are void"]);

    let bare = recorded(&folder, [0; 2], &[], 0);
    let result = decode(&bare, &["--offset", "1,2"]);
    result.told(6, &["segment 1: no delay is exact without digests"]);
    assert!(result.output.contains("less its sender's: not identifiable: segment 1: no delay"));
}

#[test]
fn clocks_apart_by_what_sums_wrap_at_are_told() {
    let folder = Folder::new();
    let frames = recorded(&folder, [1 << 40; 2], &["--digest", "--banks", "2,3"], 6);
    let result = decode(&frames, &["--offset", "1,2"]);
    result.told(
        6,
        &["not identifiable: segment 1: the two ends' clocks, or their recordings, are more than 541 s"],
    );
}
