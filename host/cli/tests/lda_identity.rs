//! An LDA's rows with an identity table beside them, on the shipped captures, against the delays of all packets.
//!
//! # Test plan
//!
//! * Packets lost and foreign ones are named and counted, exactly where all are in the table; of a sample `lost` is estimated, and covered.
//! * Where as many come in as are lost, the mean's 95 % interval holds the true mean as often as chance lets expect. Rows alone, trusted
//!   by their counts, do not see them: the lab's figure 13.
//! * A table that is too small says so, and names nothing.
//! * `decode` of the control frames says what `measure` said; what does not fit is refused.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, RECEIVER, SENDER, of_tables, packets, run, timeless};
use deltaline_capture::Packet;
use serde_json::{Value, json};

const MEAN_NS: f64 = 13_058_477.7;
const LOST: u64 = 1566;

fn measure(sender: &str, receiver: &str, more: &[&str]) -> Value {
    let all = ["measure", "--json", "--truth", "--synopsis", "lda-identity", sender, receiver];
    run(&[&all[..], more].concat()).json()["overall"].clone()
}

fn covers(overall: &Value, key: &str, truth: f64) -> bool {
    let [low, high] = [0, 1].map(|end| overall[key][end].as_f64().unwrap());
    (low..=high).contains(&truth)
}

#[test]
fn packets_are_named() {
    let overall = measure(SENDER, RECEIVER, &["--rows", "4096"]);
    let numbers = ["lost", "only_sent", "only_received"].map(|key| overall[key].as_u64());
    assert_eq!(numbers, [Some(LOST), Some(LOST), Some(0)]);
    assert_eq!(overall["complete"], json!(true));
    assert!(covers(&overall, "bracket_ns", MEAN_NS), "{overall}");
    let missed = (1..=20).filter(|seed: &u32| {
        let overall =
            measure(SENDER, RECEIVER, &["--rows", "1024", "--banks", "2", "--seed", &seed.to_string()]);
        assert_eq!((&overall["complete"], &overall["only_sent"]), (&json!(true), &Value::Null));
        !covers(&overall, "mean_ci95_ns", MEAN_NS)
    });
    // Of 20 intervals at 95 %, five or more miss once in 400 such tests.
    assert!(missed.count() < 5);
}

/// The interval that loses most takes longest: quantiles of the others are not those of all.
#[test]
fn quantiles_say_which_intervals_they_lack() {
    let folder = Folder::new();
    let sent: Vec<Packet> = packets(SENDER).into_iter().take(20_000).collect();
    let (first, last) = (sent[0].timestamp, sent.last().unwrap().timestamp);
    let quarter = (last - first) / 4;
    let is_congested = |packet: &Packet| (first + quarter..first + 2 * quarter).contains(&packet.timestamp);
    let arrives = |(number, packet): &(usize, &Packet)| !is_congested(packet) || number % 5 < 2;
    let mut received: Vec<Packet> = sent
        .iter()
        .enumerate()
        .filter(arrives)
        .map(|(number, packet)| {
            let delay =
                if is_congested(packet) { 9_000_000 } else { 1_000_000 } + 1000 * (number as u64 % 97);
            Packet { timestamp: packet.timestamp + delay, ..packet.clone() }
        })
        .collect();
    received.sort_by_key(|packet| packet.timestamp);
    let [sender, receiver] = [("sender.pcap", &sent), ("receiver.pcap", &received)]
        .map(|(name, packets)| folder.capture(name, packets));
    let interval = format!("{quarter}ns");
    let arguments =
        ["measure", "--json", "--synopsis", "lda-identity", "--interval", &interval, &sender, &receiver];
    let result = run(&arguments).json();
    let lacking: Vec<bool> =
        result["intervals"].as_array().unwrap().iter().map(|each| each["p50_ns"].is_null()).collect();
    assert!(lacking[1] && !lacking[0] && !lacking[2], "{lacking:?}");
    for (numbers, said) in [
        (&result["overall"], "have no value and are left out"),
        (&result["intervals"][1], "no row holds a single packet"),
    ] {
        let reason = numbers["reason"].as_str().unwrap();
        assert!(reason.contains("p50_ns") && reason.contains(said), "{reason}");
    }
}

#[test]
fn rows_that_lost_one_and_gained_another_are_known() {
    let folder = Folder::new();
    let sent: Vec<Packet> = packets(SENDER).into_iter().take(20_000).collect();
    let last = sent.last().unwrap().timestamp;
    // Every hundredth packet is lost, and as many come in at the end.
    let mut received = vec![];
    for (number, packet) in sent.iter().enumerate() {
        let delay = 5_000_000 + 1000 * (number as u64 % 97);
        let mut packet = Packet { timestamp: packet.timestamp + delay, ..packet.clone() };
        if number % 100 == 7 {
            packet.timestamp = last + 4_000_000;
            // A byte of the IP addresses.
            packet.data[29] ^= 0x55;
        }
        received.push(packet);
    }
    received.sort_by_key(|packet| packet.timestamp);
    let [sender, receiver] =
        [("s", &sent), ("r", &received)].map(|(name, packets)| folder.capture(name, packets));
    let whole = measure(&sender, &receiver, &["--rows", "1024"]);
    let numbers = ["only_sent", "only_received", "lost", "surplus"].map(|key| whole[key].as_u64());
    assert_eq!(numbers, [Some(200); 4], "{whole}");
    assert_eq!(whole["bracket_ns"], Value::Null);
    let (mut missed, mut lost_missed) = (0, 0);
    for seed in 1..=20 {
        let overall =
            measure(&sender, &receiver, &["--rows", "256", "--banks", "2", "--seed", &seed.to_string()]);
        assert_eq!(overall["complete"], json!(true), "{overall}");
        missed += u32::from(!covers(&overall, "mean_ci95_ns", overall["truth"]["mean_ns"].as_f64().unwrap()));
        lost_missed += u32::from(!covers(&overall, "lost_ci95", 200.0));
    }
    // As above.
    assert!(missed < 5 && lost_missed < 5, "{missed} and {lost_missed} of 20 missed");
}

#[test]
fn a_table_that_is_too_small_says_so() {
    let overall = measure(SENDER, RECEIVER, &["--rows", "1024"]);
    assert_eq!((&overall["complete"], &overall["only_sent"]), (&json!(false), &Value::Null));
    assert!(overall["reason"].as_str().unwrap().contains("more packets differ"), "{overall}");
}

#[test]
fn control_frames_say_the_same() {
    let (folder, synopsis) = (Folder::new(), ["--synopsis", "lda-identity", "--rows", "512"]);
    let frames = folder.path("frames.pcapng");
    let options = ["measure", "--json", "--interval", "500ms", "--frames", &frames, SENDER, RECEIVER];
    let measured = run(&[&options[..], &synopsis].concat()).json();
    let decoded = run(&["decode", "--json", &frames]).json();
    for part in ["overall", "intervals"] {
        assert_eq!(of_tables(&timeless(&decoded[part])), of_tables(&timeless(&measured[part])));
    }
    run(&["measure", SENDER, RECEIVER, "--synopsis", "lda-identity", "--rows", "16"])
        .failed(2, &["32 rows at least"]);
    run(&["measure", SENDER, RECEIVER, "--synopsis", "lda-identity", "--banks", "0,3"])
        .failed(2, &["give one prefix length"]);
}
