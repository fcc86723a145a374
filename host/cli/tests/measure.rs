//! `deltaline measure` and `deltaline truth` on the shipped captures and on captures made of them.
//!
//! # Test plan
//!
//! * The members of the JSON and their values, where they are exact; the table for people.
//! * Estimates against the truth over many seeds: how often the 95 % interval holds the mean, the spread of the
//!   errors in units of the standard error, and that of the deviation, against what theory says.
//! * What is suspect is reported: clocks apart, swapped and unrelated captures, sums that wrap, short snap lengths.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, RECEIVER, SENDER, finish, packets, run};
use deltaline_capture::Packet;
use serde_json::{Value, json};
use std::fs::File;

/// The members that every result has.
const MEMBERS: [&str; 9] = [
    "sent",
    "received",
    "lost",
    "effective_samples",
    "mean_ns",
    "mean_ci95_ns",
    "std_ns",
    "std_paper_ns",
    "reason",
];

fn assert_members(figures: &Value, with_truth: bool) {
    for member in MEMBERS {
        assert!(figures.get(member).is_some(), "no {member} in {figures}");
    }
    assert_eq!(figures.get("truth").is_some(), with_truth);
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn json_of_the_whole_capture() {
    let result = run(&["measure", "--json", SENDER, RECEIVER]);
    result.told(0, &[]);
    assert_eq!(result.messages, "deltaline: no --design and no --seed: the hash function's seed is 1\n");
    let json = result.json();
    let [interval] = &json["intervals"].as_array().unwrap()[..] else { panic!("{json}") };
    assert_members(&json["overall"], false);
    assert_members(interval, false);
    for figures in [&json["overall"], interval] {
        assert_eq!(
            (&figures["sent"], &figures["received"], &figures["lost"]),
            (&json!(59_461), &json!(57_895), &json!(1_566))
        );
        // Boundary packets' delays are exact, but the least of them is not that of all.
        let reason = figures["reason"].as_str().unwrap();
        assert!(reason.contains("variation_ci95_ns: not identifiable"), "{figures}");
        // Slices bound the mean for certain as long as no packet overtakes another.
        let overtaken = format!("bracket_ns: {} packets arrived behind one", figures["reordered_overall"]);
        assert!(reason.contains(&overtaken), "{figures}");
        let [low, mean, high] =
            [&figures["mean_ci95_ns"][0], &figures["mean_ns"], &figures["mean_ci95_ns"][1]].map(number);
        assert!(low < mean && mean < high && high - low < 0.02 * mean, "{low} {mean} {high}");
        // The README of the captures has the truth; bounds at four standard errors.
        assert!((mean - 13_058_477.7).abs() < 2.0 * (high - low), "{mean}");
        assert!((number(&figures["std_ns"]) / 3_305_597.5 - 1.0).abs() < 0.1);
    }
    assert_eq!((&interval["interval"], &interval["start_ns"]), (&json!(0), &json!(0)));
    assert_eq!(json["configuration"]["digest"].as_str().unwrap().len(), 18);
    assert_eq!(json["frames"], json!({ "count": 96, "bytes": 96 * 992 }));
    assert_eq!(
        json["sender"],
        json!({ "file": SENDER, "packets": 59_461, "unmeasured": 0, "cut": 0, "truncated": 0 })
    );
    assert_eq!((&json["hardware"], &json["warnings"]), (&Value::Null, &json!([])));
}

#[test]
fn intervals_and_the_truth_about_them() {
    let json = run(&["measure", "--json", "--truth", "--interval", "500ms", SENDER, RECEIVER]).json();
    assert_members(&json["overall"], true);
    let truth =
        json!({ "sent": 59_461, "received": 57_895, "lost": 1_566, "min_ns": 519, "max_ns": 21_980_771 });
    for (member, value) in truth.as_object().unwrap() {
        assert_eq!(&json["overall"]["truth"][member], value, "{member}");
    }
    assert!((number(&json["overall"]["truth"]["mean_ns"]) - 13_058_477.7).abs() < 0.1);
    assert!((number(&json["overall"]["truth"]["std_ns"]) - 3_305_597.5).abs() < 0.1);

    // Counts from the README, which cuts by time in a capture that is not quite in its order: within a few packets.
    let intervals = json["intervals"].as_array().unwrap();
    let expected = [(10_716, 1_566), (9_705, 0), (9_789, 0), (9_735, 0), (9_761, 0), (9_755, 0)];
    assert_eq!(intervals.len(), expected.len());
    for (number, (interval, (sent, lost))) in intervals.iter().zip(expected).enumerate() {
        assert_members(interval, true);
        assert_eq!(interval["interval"], json!(number));
        assert!((interval["sent"].as_i64().unwrap() - sent).abs() <= 3, "{interval}");
        for figures in [interval, &interval["truth"]] {
            assert_eq!(figures["lost"], json!(lost));
            for member in ["sent", "received"] {
                assert_eq!(figures[member], interval[member]);
            }
        }
        let start = interval["start_ns"].as_i64().unwrap();
        assert!((start - 500_000_000 * number as i64).abs() < 2_000_000, "{start}");
    }
    let exact = run(&["truth", "--json", "--interval", "500ms", SENDER, RECEIVER]).json();
    assert_eq!(exact["intervals"].as_array().unwrap().len(), expected.len());
    for (measured, exact) in intervals.iter().zip(exact["intervals"].as_array().unwrap()) {
        for member in ["sent", "received", "lost", "mean_ns", "std_ns", "min_ns", "max_ns"] {
            assert_eq!(measured["truth"][member], exact[member]);
        }
    }
}

#[test]
fn the_exact_matching_alone() {
    let result = run(&["truth", "--json", SENDER, RECEIVER]);
    result.told(0, &[]);
    let json = result.json();
    assert_eq!(json["overall"]["lost"], json!(1_566));
    assert_eq!((&json["reordered"], &json["reordered_overall"]), (&json!(0), &json!(96)));
    assert_eq!(json["receiver_only"], json!(0));
    let end = |file, packets: u64| json!({ "file": file, "packets": packets, "unmeasured": 0, "cut": 0, "truncated": 0, "duplicates": 0 });
    assert_eq!((&json["sender"], &json["receiver"]), (&end(SENDER, 59_461), &end(RECEIVER, 57_895)));
    let text = run(&["truth", SENDER, RECEIVER]).output;
    for part in ["1566 (2.634 %)", "13.058 ms", "3.306 ms", "519.000 ns", "21.981 ms", "96 overall"] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

#[test]
fn tables_for_people() {
    let text = run(&["measure", "--truth", "--interval", "1s", SENDER, RECEIVER]).output;
    for part in [
        "overall",
        "59461",
        "1566 (1566 to 1576; 2.634 %)",
        "ms",
        "±",
        "13.058 ms",
        "true mean",
        "h3 seed 1",
        "1024 rows",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    // The paper's deviation is in data only, and needs no explanation here.
    assert!(!text.contains("std_paper"), "{text}");
}

#[test]
fn every_option_reaches_the_measurement() {
    let base = run(&["measure", "--json", SENDER, RECEIVER]).json();
    for options in
        [["--seed", "2"], ["--hash", "rabin"], ["--rows", "512"], ["--banks", "0,3,7"], ["--segment", "9"]]
    {
        let json = run(&["measure", "--json", options[0], options[1], SENDER, RECEIVER]).json();
        assert_ne!(json["configuration"], base["configuration"]);
        assert_eq!(json["overall"]["lost"], json!(1_566));
        // The segment's number has no part in the estimate.
        assert_eq!(json["overall"] == base["overall"], options[0] == "--segment", "{options:?}");
    }
    let json = run(&["measure", "--json", "--banks", "0,3,7", "--rows", "512", SENDER, RECEIVER]).json();
    assert_eq!(json["configuration"]["banks"], json!([0, 3, 7]));
    assert_eq!(json["frames"]["count"], json!(2 * (3 + 1) * 8));
}

#[test]
fn estimates_err_as_theory_says() {
    let seeds = 60;
    let (mut covered, mut squares, mut deviation_squares) = (0, 0.0, 0.0);
    for seed in 1..=seeds {
        let seed = seed.to_string();
        let json = run(&["measure", "--json", "--truth", "--seed", &seed, SENDER, RECEIVER]).json();
        let (overall, truth) = (&json["overall"], &json["overall"]["truth"]);
        let (mean, true_mean) = (number(&overall["mean_ns"]), number(&truth["mean_ns"]));
        let [low, high] = [0, 1].map(|end| number(&overall["mean_ci95_ns"][end]));
        covered += u32::from((low..=high).contains(&true_mean));
        squares += ((mean - true_mean) / ((high - low) / 2.0 / 1.96)).powi(2);
        let rows = number(&json["intervals"][0]["usable_rows"]);
        let relative = number(&overall["std_ns"]) / number(&truth["std_ns"]) - 1.0;
        deviation_squares += relative * relative * 2.0 * rows;
    }
    // Binomial with 60 and 0.95: 50 or fewer with probability 0.0003.
    assert!(covered >= 51, "{covered} of {seeds}");
    // Sums of 60 squares of standard errors: chi-square / 60 lies within 0.55 to 1.65 but for 0.001.
    let spread = squares / f64::from(seeds);
    assert!((0.55..1.65).contains(&spread), "{spread}");
    // The same for the deviation's error in units of 1 / sqrt(2 g), with some room for the delays' tails.
    let spread = deviation_squares / f64::from(seeds);
    assert!((0.45..2.0).contains(&spread), "{spread}");
}

#[test]
fn captures_may_come_through_a_pipe_when_they_are_read_once() {
    let by_name = run(&["measure", "--json", SENDER, RECEIVER]);
    let piped = |more: &[&str]| {
        let (read, write) = std::io::pipe().unwrap();
        let feeder = std::thread::spawn(move || {
            // Nobody may be reading.
            let _ = std::io::copy(&mut File::open(SENDER).unwrap(), &mut { write });
        });
        let mut command =
            crate::common::command(&[&["measure", "--json", "/dev/stdin", RECEIVER], more].concat());
        let result = finish(command.stdin(read));
        drop(command);
        feeder.join().unwrap();
        result
    };
    let (once, mut twice) = (piped(&[]).json(), by_name.json());
    // What needs both captures twice: packets' order.
    for part in ["overall", "intervals"] {
        assert_eq!(crate::common::of_tables(&once[part]), crate::common::of_tables(&twice[part]));
    }
    assert!(once["warnings"][0].as_str().unwrap().contains("read only once"), "{once}");
    assert_eq!(twice["warnings"].take(), json!([]));
    piped(&["--truth"]).told(3, &["/dev/stdin", "not a regular file", "save it to a file"]);
}

/// The shipped captures' packets.
fn shipped() -> [Vec<Packet>; 2] {
    [packets(SENDER), packets(RECEIVER)]
}

#[test]
fn a_receiver_whose_clock_is_behind_is_told() {
    let folder = Folder::new();
    let [_, mut received] = shipped();
    received.iter_mut().for_each(|packet| packet.timestamp -= 1_000_000_000);
    let receiver = folder.capture("receiver.pcap", &received);
    let result = run(&["measure", "--json", SENDER, &receiver]);
    result
        .told(0, &["mean delay is negative", "the receiver's clock is behind the sender's by at least 986."]);
    let (apart, right) = (result.json(), run(&["measure", "--json", SENDER, RECEIVER]).json());
    assert_eq!(apart["overall"]["lost"], right["overall"]["lost"]);
    let mean = number(&apart["overall"]["mean_ns"]) - number(&right["overall"]["mean_ns"]);
    assert!((mean + 1e9).abs() < 1.0, "{mean}");
    let deviation = number(&apart["overall"]["std_ns"]) / number(&right["overall"]["std_ns"]);
    assert!((deviation - 1.0).abs() < 1e-6, "{deviation}");

    // The matching knows the exact bound: the shortest delay is 519 ns.
    let result = run(&["truth", SENDER, &receiver]);
    result.told(0, &["57895 of 57895 packets arrived before they were sent", "at least 999.999 ms"]);
}

#[test]
fn sums_that_wrap_are_known_all_the_same() {
    let folder = Folder::new();
    let [_, mut received] = shipped();
    // With about 28 packets in a row, 37 s are 1036 s, beyond 549 s.
    received.iter_mut().for_each(|packet| packet.timestamp += 37_000_000_000);
    let receiver = folder.capture("receiver.pcap", &received);
    let result = run(&["measure", "--json", SENDER, &receiver]);
    result.told(0, &[]);
    let (apart, right) = (result.json(), run(&["measure", "--json", SENDER, RECEIVER]).json());
    let mean = number(&apart["overall"]["mean_ns"]) - number(&right["overall"]["mean_ns"]);
    assert!((mean - 37e9).abs() < 1.0, "{mean}");
    assert_eq!(apart["overall"]["lost"], 1566);
    let deviation = number(&apart["overall"]["std_ns"]) / number(&right["overall"]["std_ns"]);
    assert!((deviation - 1.0).abs() < 1e-6, "{deviation}");
}

#[test]
fn swapped_captures_are_told() {
    for options in [&["--json"][..], &["--json", "--truth"]] {
        let result = run(&[&["measure"], options, &[RECEIVER, SENDER]].concat());
        result.told(9, &["59461 packets were received where 57895 were sent", "swapped"]);
        let overall = &result.json()["overall"];
        assert_eq!((&overall["lost"], &overall["surplus"]), (&json!(0), &json!(1_566)));
        assert_eq!(overall["bracket_ns"], Value::Null);
        let reason = overall["reason"].as_str().unwrap();
        assert!(reason.contains("at least 1566 packets were received that were not sent"), "{reason}");
    }
    run(&["truth", RECEIVER, SENDER]).told(9, &["1566", "swapped", "give the sender's capture first"]);
}

#[test]
fn lost_and_gained_packets_are_told_apart() {
    let folder = Folder::new();
    let [mut sent, _] = shipped();
    // The sender's recorder missed some.
    sent.drain(20_000..20_300);
    let sender = folder.capture("sender.pcap", &sent);
    let result = run(&["measure", "--json", &sender, RECEIVER]);
    result.told(0, &[]);
    let overall = &result.json()["overall"];
    assert!(overall["reason"].as_str().unwrap().contains("packets were received that were not sent"));
    let [lost, surplus] = ["lost", "surplus"].map(|key| overall[key].as_u64().unwrap());
    assert_eq!((lost - surplus, &overall["net"]), (1_266, &json!(1_266)));
    let range = ["lost_ci95", "surplus_ci95"].map(|key| [0, 1].map(|end| number(&overall[key][end])));
    for ([low, high], truth) in range.into_iter().zip([1_566.0, 300.0]) {
        assert!(low <= truth && truth <= high, "{overall}");
    }
}

#[test]
fn recordings_that_do_not_begin_and_end_together_are_cut() {
    let folder = Folder::new();
    let [sent, received] = shipped();
    let right = run(&["measure", "--json", "--truth", SENDER, RECEIVER]).json();
    // The sender's recorder stopped 80 ms earlier, the receiver's started later.
    let end = sent[sent.len() - 1].timestamp - 80_000_000;
    let sender = folder.capture("sender.pcap", sent.iter().filter(|packet| packet.timestamp < end));
    let receiver = folder.capture("receiver.pcap", &received[5_000..]);
    for options in [&["--json"][..], &["--json", "--truth"], &["--json", "--interval", "100ms"]] {
        let result = run(&[&["measure"], options, &[&sender, &receiver]].concat());
        result.told(0, &["the captures do not begin and end with the same packets"]);
        let overall = &result.json()["overall"];
        assert_eq!(overall["surplus"], 0);
        let mean = number(&overall["mean_ns"]);
        assert!((11e6..14e6).contains(&mean), "{overall}");
        assert!(overall["lost"].as_u64() < right["overall"]["lost"].as_u64());
    }
    let whole = run(&["measure", "--json", SENDER, RECEIVER]);
    assert_eq!(whole.json()["warnings"], json!([]));
}

#[test]
fn without_loss_the_mean_is_exact() {
    let folder = Folder::new();
    let [sent, received] = shipped();
    // The quiet half, in which nothing is lost.
    let start = sent[0].timestamp + 600_000_000;
    let first = sent.iter().position(|packet| packet.timestamp > start).unwrap();
    let keys: std::collections::HashSet<Vec<u8>> =
        sent[first..].iter().map(|packet| packet.data[26..].to_vec()).collect();
    let sender = folder.capture("sender.pcap", &sent[first..]);
    let receiver =
        folder.capture("receiver.pcap", received.iter().filter(|each| keys.contains(&each.data[26..])));
    for seed in ["1", "2", "3"] {
        for hash in ["h3", "rabin"] {
            let arguments = ["measure", "--json", "--truth", "--seed", seed, "--hash", hash];
            let json = run(&[&arguments[..], &[&sender, &receiver]].concat()).json();
            let overall = &json["overall"];
            assert_eq!((&overall["lost"], &overall["surplus"]), (&json!(0), &json!(0)));
            assert_eq!(overall["effective_samples"], overall["received"]);
            let truth = number(&overall["truth"]["mean_ns"]);
            for value in [&overall["mean_ns"], &overall["mean_ci95_ns"][0], &overall["mean_ci95_ns"][1]] {
                assert!((number(value) - truth).abs() < 1e-3, "{overall}");
            }
            assert_eq!(overall["bracket_ns"][0], overall["bracket_ns"][1]);
        }
    }
    let text = run(&["measure", &sender, &receiver]).output;
    assert!(text.contains("± 0.000"), "{text}");
}

#[test]
fn captures_of_different_packets_are_told() {
    let folder = Folder::new();
    let [_, mut received] = shipped();
    // Another source address.
    received.iter_mut().for_each(|packet| packet.data[29] ^= 0x55);
    let receiver = folder.capture("receiver.pcap", &received);
    let result = run(&["measure", "--json", SENDER, &receiver]);
    result.told(9, &["the two ends have not seen the same packets"]);
    let overall = &result.json()["overall"];
    assert_eq!((&overall["mean_ns"], &overall["mean_ci95_ns"]), (&Value::Null, &Value::Null));
    assert_eq!((&overall["sent"], &overall["received"]), (&json!(59_461), &json!(57_895)));
    let parts = ["no packet in common (59461 and 57895 packets)", "same traffic and time"];
    run(&["measure", "--truth", SENDER, &receiver]).failed(9, &parts);
    run(&["truth", SENDER, &receiver]).failed(9, &parts);
}

#[test]
fn different_snap_lengths_are_told() {
    let folder = Folder::new();
    let [_, mut received] = shipped();
    let cut = |packets: &mut [Packet], snap: usize| {
        packets.iter_mut().for_each(|packet| packet.data.truncate(snap))
    };
    cut(&mut received, 54);
    let receiver = folder.capture("receiver.pcap", &received);
    let text = [
        "were captured without the end of their identity",
        "differently at the two ends",
        "at least 126 bytes",
    ];
    run(&["measure", SENDER, &receiver]).told(9, &text);

    // Cut alike, there is less to know packets by, but the same at both ends.
    let [mut sent, mut received] = shipped();
    cut(&mut sent, 60);
    cut(&mut received, 60);
    let sender = folder.capture("sender.pcap", &sent);
    let receiver = folder.capture("receiver.pcap", &received);
    let result = run(&["measure", "--json", &sender, &receiver]);
    result.told(0, &["59456 of 59461 packets", "told apart by less than they could be"]);
    assert_eq!(result.json()["overall"]["lost"], json!(1_566));
}

#[test]
fn frames_that_are_not_measured_are_counted() {
    let folder = Folder::new();
    let [mut sent, _] = shipped();
    let mut arp = sent[0].clone();
    arp.data[12..14].copy_from_slice(&[0x08, 0x06]);
    sent.insert(1, arp);
    let sender = folder.capture("sender.pcap", &sent);
    let result = run(&["measure", "--json", &sender, RECEIVER]);
    result.told(0, &["1 of 59462 packets are not IP and not measured"]);
    assert_eq!(result.json()["overall"]["sent"], json!(59_461));
    assert_eq!(result.json()["sender"]["unmeasured"], json!(1));
}

#[test]
fn what_is_not_identifiable_has_a_reason() {
    let folder = Folder::new();
    let [sent, _] = shipped();
    let nothing = folder.capture("nothing.pcap", []);
    let result = run(&["measure", "--json", SENDER, &nothing]);
    result.told(6, &["no packet was received"]);
    let overall = &result.json()["overall"];
    assert_eq!(
        (&overall["lost"], &overall["mean_ns"], &overall["std_ns"]),
        (&json!(59_461), &Value::Null, &Value::Null)
    );
    assert!(overall["reason"].as_str().unwrap().contains("no packet was received"), "{overall}");
    run(&["measure", "--json", "--truth", &nothing, &nothing]).told(6, &["no packet was received"]);
    run(&["truth", SENDER, &nothing]).told(6, &["no packet was received"]);

    // Losses in every row: what is known comes from sums over all packets, and is little.
    let few = folder.capture("few.pcap", sent.iter().step_by(2));
    let result = run(&["measure", "--json", "--rows", "8", "--banks", "0", SENDER, &few]);
    result.told(0, &[]);
    let overall = &result.json()["overall"];
    assert_eq!((&overall["usable_rows"], &overall["std_ns"]), (&Value::Null, &Value::Null));
    // The last packet was left out.
    assert_eq!(overall["lost"], json!(59_461 / 2));
    let [low, high] = [0, 1].map(|end| number(&overall["mean_ci95_ns"][end]));
    assert!(low < 0.0 && high > 0.0 && high - low > 1e9, "{overall}");
}

#[test]
fn a_report_is_one_page() {
    let folder = Folder::new();
    let (report, plot) = (folder.path("report.html"), folder.path("plot.svg"));
    let arguments = ["measure", "--digest", "--truth", "--interval", "500ms"];
    let result = run(&[&arguments[..], &["--report", &report, "--plot", &plot, SENDER, RECEIVER]].concat());
    result.told(0, &[]);
    let (page, plot) = (std::fs::read_to_string(&report).unwrap(), std::fs::read_to_string(&plot).unwrap());
    // The plot is in it, as are the table's cells.
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains(&plot));
    let table = result.output.lines().find(|line| line.starts_with("|        1 |")).unwrap();
    let mean = table.split('|').map(str::trim).find(|cell| cell.contains('±')).unwrap();
    let mean = mean.replace(' ', "&nbsp;");
    assert!(page.contains(&format!("<td>{mean}</td>")), "{mean}");
    assert!(
        page.contains("<td class=\"text\">deltaline measure --digest --truth --interval 500ms --report ")
    );
    for word in ["src=", "href=", "<script", "<link", "@import"] {
        assert!(!page.contains(word), "{word}");
    }
    run(&["measure", "--report", &report, "--frames", &report, SENDER, RECEIVER])
        .failed(2, &["--frames and --report name the same file"]);
    run(&["measure", "--report", "/nowhere/x.html", SENDER, RECEIVER]).told(7, &["/nowhere/x.html"]);
}
