//! Quantiles of the shipped captures, against the delays of all packets.
//!
//! # Test plan
//!
//! * Over twenty seeds and the twelve intervals of 250 ms: the rank error of every quantile, as a share of the packets
//!   that truly are no later, against what the number of exact delays lets expect; how often the 95 % interval holds the
//!   true quantile; every exact delay is that of a packet.
//! * The 99.9th percentile of large tables: its rank error over twenty seeds, and how often its interval holds.
//! * Too few exact delays: none, and the reason. Without `--digest`: no member, no table.
//! * `decode` of the control frames says what `measure` said.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, RECEIVER, SENDER, run};
use deltaline_capture::Capture;
use deltaline_capture::matching::{Observations, match_exactly};
use serde_json::Value;

const QUANTILES: [(&str, f64); 3] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)];

fn measure(more: &[&str]) -> crate::common::Run {
    run(&[&["measure", "--json", "--interval", "250ms", SENDER, RECEIVER], more].concat())
}

#[test]
fn ranks_against_the_truth() {
    let [sender, receiver] =
        [SENDER, RECEIVER].map(|path| Observations::read(&mut Capture::open(path).unwrap()).unwrap());
    let matching = match_exactly(&sender, &receiver);
    let mut errors = QUANTILES.map(|_| vec![]);
    let (mut covered, mut of) = (0, 0);
    let mut exact = 0;
    for seed in 1..=20u32 {
        // Two banks of some 600 packets each: a third of their rows hold a single packet.
        let json = measure(&["--digest", "--banks", "2,3", "--seed", &seed.to_string()]).json();
        let mut first = 0;
        for interval in json["intervals"].as_array().unwrap() {
            let sent = interval["sent"].as_u64().unwrap() as usize;
            let pairs = matching.pairs.iter().filter(|pair| (first..first + sent).contains(&pair.sender));
            let mut delays: Vec<i64> = pairs.map(|pair| pair.delay).collect();
            delays.sort_unstable();
            first += sent;
            exact += interval["exact_delays"].as_u64().unwrap();
            for ((name, probability), errors) in QUANTILES.iter().zip(&mut errors) {
                let Some(found) = interval[format!("{name}_ns")].as_f64() else { continue };
                let below = delays.partition_point(|delay| *delay as f64 <= found);
                errors.push((below as f64 / delays.len() as f64 - probability).abs());
                let truth = delays[(probability * delays.len() as f64).ceil() as usize - 1] as f64;
                let range = &interval[format!("{name}_ci95_ns")];
                let [low, high] = [0, 1].map(|end| range[end].as_f64().unwrap());
                covered += u32::from((low..=high).contains(&truth));
                of += 1;
            }
        }
        assert_eq!(first, 59_461);
    }
    let at_95 = errors.map(|mut errors| {
        errors.sort_unstable_by(f64::total_cmp);
        (errors.len(), errors[errors.len() * 95 / 100])
    });
    println!(
        "{} exact delays an interval; (intervals, 95th percentile of rank errors): {at_95:?}",
        exact / 240
    );
    println!("{covered} of {of} intervals cover");
    assert!(exact / 240 > 500);
    // sqrt(p (1 - p) / n) with n near 650, times 1.96: 0.038, 0.023, 0.0077; a fifth more for chance.
    for ((_, error), bound) in at_95.into_iter().zip([0.046, 0.028, 0.0092]) {
        assert!(error < bound, "{error}, bound {bound}");
    }
    // At least 95 %, less what the correlation of intervals under one seed lets expect.
    assert!(f64::from(covered) > 0.94 * f64::from(of), "{covered} of {of}");
}

/// 6,000 exact delays of 57,895 packets.
#[test]
fn the_last_thousandth() {
    let [sender, receiver] =
        [SENDER, RECEIVER].map(|path| Observations::read(&mut Capture::open(path).unwrap()).unwrap());
    let mut delays: Vec<i64> =
        match_exactly(&sender, &receiver).pairs.iter().map(|pair| pair.delay).collect();
    delays.sort_unstable();
    let truth = delays[(0.999 * delays.len() as f64).ceil() as usize - 1] as f64;
    let (mut squares, mut missed) = (0.0, 0);
    for seed in 1..=20u32 {
        let table = ["--digest", "--rows", "16384", "--banks", "2", "--seed", &seed.to_string()];
        let json = run(&[&["measure", "--json", SENDER, RECEIVER], &table[..]].concat()).json();
        let overall = &json["overall"];
        assert!(overall["exact_delays"].as_u64().unwrap() > 5000, "{overall}");
        let found = overall["p999_ns"].as_f64().unwrap();
        let below = delays.partition_point(|delay| *delay as f64 <= found) as f64;
        squares += (below / delays.len() as f64 - 0.999).powi(2);
        let [low, high] = [0, 1].map(|end| overall["p999_ci95_ns"][end].as_f64().unwrap());
        missed += u32::from(!(low..=high).contains(&truth));
    }
    // sqrt(p (1 - p) / n) is 0.00043, or less; the root mean square of twenty is some 16 % beside it, three times that for chance.
    let error = (squares / 20.0).sqrt();
    println!("rank error {error:.6}, {missed} of 20 missed");
    assert!(error < 0.000_43 * 1.48, "{error}");
    // Of 20 intervals at 95 %, six or more miss once in 3,000 such tests.
    assert!(missed < 6, "{missed} of 20 missed");
}

#[test]
fn too_few_say_why() {
    let json = measure(&["--synopsis", "lda", "--digest", "--banks", "10"]).json();
    let interval = &json["intervals"][3];
    assert!(interval["exact_delays"].as_u64().unwrap() < 36);
    for key in ["p99_ns", "p99_ci95_ns", "p999_ns", "p999_ci95_ns"] {
        assert_eq!(interval[key], Value::Null, "{key}");
    }
    let reason = interval["reason"].as_str().unwrap();
    assert!(
        reason.contains("p99_ns, variation_ns: not identifiable") && reason.contains("needs 368"),
        "{reason}"
    );
}

#[test]
fn without_digests_there_are_none() {
    // A design without digests.
    let result = measure(&["--design", "10g"]);
    let json = result.json();
    assert_eq!(json["configuration"]["digests"], false);
    assert_eq!(json["overall"].get("p50_ns"), None);
    let text = run(&["measure", "--design", "10g", SENDER, RECEIVER]);
    assert!(!text.output.contains("exact delays"));
}

#[test]
fn decoding_says_the_same() {
    let folder = Folder::new();
    let frames = folder.path("control.pcapng");
    let measured = measure(&["--digest", "--banks", "1,6", "--frames", &frames]).json();
    let decoded = run(&["decode", "--json", &frames]).json();
    assert!(measured["overall"]["p90_ns"].is_f64());
    for member in ["exact_delays", "p50_ns", "p50_ci95_ns", "p90_ns", "p99_ns", "mean_ns", "lost"] {
        assert_eq!(measured["overall"][member], decoded["overall"][member], "{member}");
        assert_eq!(measured["intervals"][5][member], decoded["intervals"][5][member], "{member}");
    }
    assert_eq!(decoded["ends"][0]["digests"], true);
    let text = run(&["decode", &frames]).output;
    assert!(text.contains("exact delays") && text.contains("p99 (95 %)"), "{text}");
}
