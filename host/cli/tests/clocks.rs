//! Clocks that step, drift, stamp wrongly or coarsely, and packets that overtake each other, in recordings.
//!
//! Test plan: the shipped pair as it is raises no doubt, in one interval, in many and in any part of it. Variants of it, in which the clock of one
//! end is set forward or back, single packets have wild stamps, or stamps are multiples of a millisecond, are doubted by what they
//! are; a pair of constant delay in which a clock runs fast is. So are flows, exact numbers and control frames alone, as far as these show it. What is said of the deviation stays true. Order: the numbers
//! of exact matching, with and without intervals, and in recordings that are reordered on purpose.

#![allow(clippy::unwrap_used)]

use crate::common::reading::{lines, of};
use crate::common::{Folder, RECEIVER, Run, SENDER, packets, run};
use deltaline_capture::Packet;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::time::{AbsoluteTime, TimeBase, Timestamp};
use deltaline_model::wire::frame::Role;
use serde_json::Value;
use std::fs;

/// Measures these recordings.
fn measure(folder: &Folder, sender: &[Packet], receiver: &[Packet], options: &[&str]) -> Run {
    let [sender, receiver] =
        [("sender.pcap", sender), ("receiver.pcap", receiver)].map(|(name, all)| folder.capture(name, all));
    run(&[&["measure", "--json", "--seed", "5", &sender, &receiver], options].concat())
}

fn doubt(run: &Run) -> String {
    let json = run.json();
    json["overall"]["clock_doubt"].as_str().unwrap_or_default().to_string()
}

/// The packets from one on, their clock set by so many nanoseconds.
fn set(packets: &mut [Packet], from: usize, by: i64) {
    for packet in &mut packets[from..] {
        packet.timestamp = packet.timestamp.saturating_add_signed(by);
    }
}

#[test]
fn the_shipped_pair_raises_no_doubt() {
    let folder = Folder::new();
    let ends = [SENDER, RECEIVER].map(packets);
    let parts = (0..8).map(|part| (part * 7000, (part + 1) * 7000));
    for (from, to) in parts.chain([(0, ends[1].len())]) {
        let [sender, receiver] = [&ends[0][from..to], &ends[1][from..to]];
        for options in [&[][..], &["--interval", "100ms"]] {
            let found = measure(&folder, sender, receiver, options);
            assert_eq!(doubt(&found), "", "{from} {options:?}: {found:?}");
            assert!(!found.messages.contains("multiples of"), "{}", found.messages);
        }
    }
}

#[test]
fn a_clock_that_is_set_is_noticed() {
    let folder = Folder::new();
    for (end, by) in
        [(1, 1_000_000_000), (1, -1_000_000_000), (0, 200_000_000), (0, -50_000_000), (1, 3_600_000_000_000)]
    {
        let mut ends = [SENDER, RECEIVER].map(packets);
        let place = ends[end].len() / 3;
        set(&mut ends[end], place, by);
        for options in [&[][..], &["--interval", "200ms"]] {
            let found = measure(&folder, &ends[0], &ends[1], options);
            let doubt = doubt(&found);
            assert!(doubt.contains("jump"), "{end} {by} {options:?}: {}", found.messages);
            assert!(found.messages.contains("a clock was set, or the path changed"), "{}", found.messages);
            if by < 0 {
                assert!(found.messages.contains("go back once"), "{}", found.messages);
            }
        }
        let [sender, receiver] = [folder.path("sender.pcap"), folder.path("receiver.pcap")];
        run(&["truth", &sender, &receiver]).told(0, &["jump", "a clock was set, or the path changed"]);
    }
}

#[test]
fn clocks_apart_by_turns_of_the_times_are_refused() {
    let folder = Folder::new();
    let sender = packets(SENDER)[..2000].to_vec();
    let turn = 1i64 << 48;
    // An hour is refused, and so are turns and nearly turns; with and without what reads packets one by one.
    for by in [
        3_600_000_000_000,
        turn,
        -turn,
        3 * turn,
        1024 * turn,
        turn + 300_000_000_000,
        100_000_000_000 - turn,
        // Some delays are below the half of what they are known by, and others are not.
        (1 << 39) - 1_000_000,
        -(1 << 39),
    ] {
        let mut receiver = packets(RECEIVER)[..2000].to_vec();
        set(&mut receiver, 0, by);
        for options in [&[][..], &["--synopsis", "identity"], &["--interval", "20ms"]] {
            let found = measure(&folder, &sender, &receiver, options);
            found.told(6, &["more than 541 s apart"]);
            let json = found.json();
            for key in ["mean_ns", "bracket_ns", "std_ns", "p50_ns"] {
                assert!(json["overall"][key].is_null(), "{by} {options:?} {key}: {found:?}");
            }
        }
    }
    // Half a minute is not.
    let mut receiver = packets(RECEIVER)[..2000].to_vec();
    set(&mut receiver, 0, 30_000_000_000);
    assert!(measure(&folder, &sender, &receiver, &[]).json()["overall"]["mean_ns"].as_f64() > Some(3e10));
}

#[test]
fn wild_stamps_are_noticed() {
    let folder = Folder::new();
    for (end, by) in [(1, 1_000_000_000_000i64), (0, 1_000_000_000_000), (1, -1_000_000_000_000)] {
        let mut ends = [SENDER, RECEIVER].map(packets);
        for packet in ends[end].iter_mut().skip(500).step_by(1000) {
            packet.timestamp = packet.timestamp.saturating_add_signed(by);
        }
        for options in [&[][..], &["--truth"]] {
            let found = measure(&folder, &ends[0], &ends[1], options);
            assert!(doubt(&found).contains("their stamps are wrong"), "{end} {by}: {found:?}");
            assert!(found.messages.contains("times of its packets go back"), "{found:?}");
            assert!(!found.messages.contains("deviation are right"), "{found:?}");
            refused(&found);
        }
        let [sender, receiver] = [folder.path("sender.pcap"), folder.path("receiver.pcap")];
        let exact = run(&["truth", "--json", &sender, &receiver]);
        exact.told(0, &["their stamps are wrong"]);
        let overall = &exact.json()["overall"];
        assert!(overall["mean_ns"].is_null() && overall["std_ns"].is_null(), "{exact:?}");
        assert!(overall["min_ns"].is_i64() && overall["lost"].is_u64(), "{exact:?}");
    }
}

#[test]
fn wild_stamps_are_in_no_flow_and_no_interval_beside_theirs() {
    let folder = Folder::new();
    let mut ends = [SENDER, RECEIVER].map(packets);
    let sound =
        [("sound.pcap", &ends[0]), ("received.pcap", &ends[1])].map(|(name, all)| folder.capture(name, all));
    // A packet of one flow, which both ends have seen.
    let spoilt = ends[1][20_040].data[26..34].to_vec();
    ends[1][20_040].timestamp += 1_000_000_000_000;
    let paths = ["sender.pcap", "receiver.pcap"].map(|name| folder.path(name));
    ends.iter().zip(["sender.pcap", "receiver.pcap"]).for_each(|(all, name)| _ = folder.capture(name, all));
    let fields = ["--fields", "source,destination"];
    let flows =
        |ends: &[String; 2]| run(&[&["flows", "list", "--json", &ends[0], &ends[1]], &fields[..]].concat());
    let (found, expected) = (flows(&paths), flows(&sound));
    found.told(0, &["times of its packets go back", "receiver.pcap"]);
    let address = |at: usize| spoilt[at..at + 4].iter().map(u8::to_string).collect::<Vec<_>>().join(".");
    let (mut refused, mut right) = (0, 0);
    for (flow, sound) in found.json().as_array().unwrap().iter().zip(expected.json().as_array().unwrap()) {
        if [&flow["source"], &flow["destination"]] != [&Value::from(address(0)), &Value::from(address(4))] {
            right += usize::from(flow == sound);
            continue;
        }
        refused += 1;
        for key in ["mean_ns", "mean_ci95_ns", "std_ns"] {
            assert!(flow[key].is_null() && sound[key] != Value::Null, "{flow} {sound}");
        }
        assert!(flow["reason"].as_str().unwrap().contains("wrong stamps"), "{flow}");
        assert_eq!([&flow["sent"], &flow["lost"]], [&sound["sent"], &sound["lost"]]);
    }
    assert_eq!((refused, refused + right), (1, found.json().as_array().unwrap().len()));
    let intervals = run(&["truth", "--json", "--interval", "250ms", &paths[0], &paths[1]]).json();
    let intervals = intervals["intervals"].as_array().unwrap();
    let without = intervals.iter().filter(|interval| interval["mean_ns"].is_null()).count();
    assert!(without == 1 && intervals.len() > 5, "{intervals:?}");
}

/// Mean and deviation are, with the reason.
fn refused(found: &Run) {
    let json = found.json();
    for key in ["mean_ns", "mean_ci95_ns", "std_ns", "bracket_ns"] {
        assert!(json["overall"][key].is_null(), "{key}: {found:?}");
    }
    assert!(found.output.contains("wrong stamps"), "{found:?}");
}

#[test]
fn one_wild_stamp_is_in_no_mean() {
    let folder = Folder::new();
    let mut ends = [SENDER, RECEIVER].map(packets);
    // The first hundred are all matched.
    ends[1][40].timestamp += 1_000_000_000_000;
    for options in [&[][..], &["--interval", "250ms"]] {
        let found = measure(&folder, &ends[0], &ends[1], options);
        refused(&found);
        let json = found.json();
        let intervals = json["intervals"].as_array().unwrap();
        let without = intervals.iter().filter(|interval| interval["mean_ns"].is_null()).count();
        assert_eq!(without, 1, "{found:?}");
        // Nor in the one beside it that is called true.
        let truth = measure(&folder, &ends[0], &ends[1], &[options, &["--truth"]].concat()).json();
        assert!(truth["overall"]["truth"].is_object(), "{truth}");
        assert_eq!(
            [&truth["overall"]["truth"]["mean_ns"], &truth["overall"]["truth"]["std_ns"]],
            [&Value::Null; 2]
        );
        let intervals = truth["intervals"].as_array().unwrap();
        let without = intervals.iter().filter(|interval| interval["truth"]["mean_ns"].is_null()).count();
        assert_eq!(without, 1, "{truth}");
    }
    // Packets that were held up come in order.
    ends[1].sort_by_key(|packet| packet.timestamp);
    let found = measure(&folder, &ends[0], &ends[1], &[]);
    assert!(doubt(&found).contains("alone were held up"), "{found:?}");
    assert!(!found.output.contains("wrong stamps"), "{found:?}");
}

/// The shipped sender's packets, and a receiver that saw all of them 50 µs later by a clock of that rate.
fn with_rate(ppm: i64) -> [Vec<Packet>; 2] {
    let sender = packets(SENDER);
    let mut receiver = sender.clone();
    let base = sender[0].timestamp;
    for packet in &mut receiver {
        let drifted = (packet.timestamp - base).cast_signed() * ppm / 1_000_000;
        packet.timestamp = (packet.timestamp + 50_000).saturating_add_signed(drifted);
    }
    [sender, receiver]
}

#[test]
fn a_clock_that_runs_fast_is_noticed() {
    let folder = Folder::new();
    // As a crystal, and as a daemon that makes a clock catch up.
    for ppm in [20, -100, 5_000] {
        let [sender, receiver] = with_rate(ppm);
        for options in [&[][..], &["--interval", "100ms"]] {
            let doubt = doubt(&measure(&folder, &sender, &receiver, options));
            // The least of a few packets' times is known to a hundredth of the time.
            let rate =
                doubt.split(" ppm").next().and_then(|text| text.rsplit(' ').next()?.parse::<f64>().ok());
            assert!(rate.is_some_and(|rate| (rate / ppm.abs() as f64 - 1.0).abs() < 0.01), "{doubt}");
            let fast = if ppm > 0 { "receiver's" } else { "sender's" };
            assert!(doubt.contains(&format!("the {fast} clock runs fast")), "{doubt}");
        }
    }
    let [sender, receiver] = with_rate(0);
    assert_eq!(doubt(&measure(&folder, &sender, &receiver, &[])), "");
}

#[test]
fn coarse_stamps_are_noticed_where_they_matter() {
    let folder = Folder::new();
    for (resolution, matters) in [(1_000_000, true), (1_000, false)] {
        let mut ends = [SENDER, RECEIVER].map(packets);
        for packet in ends.iter_mut().flatten() {
            packet.timestamp -= packet.timestamp % resolution;
        }
        let found = measure(&folder, &ends[0], &ends[1], &[]);
        assert_eq!(found.messages.contains("multiples of 1.000 ms"), matters, "{found:?}");
        assert_eq!(found.messages.contains("multiples of"), matters, "{found:?}");
        let paths = ["sender.pcap", "receiver.pcap"].map(|name| folder.path(name));
        for command in [&["truth"][..], &["flows", "top"]] {
            let found = run(&[command, &["--json", &paths[0], &paths[1]]].concat());
            assert_eq!(found.messages.contains("multiples of 1.000 ms"), matters, "{found:?}");
        }
    }
}

/// One end records in microseconds, the other in nanoseconds, which differ by half a microsecond on average.
#[test]
fn recordings_of_unlike_units_are_not_taken_for_exact() {
    let folder = Folder::new();
    let exact = measure(&folder, &packets(SENDER), &packets(RECEIVER), &["--interval", "250ms"]).json();
    for coarse in 0..2 {
        let mut ends = [SENDER, RECEIVER].map(packets);
        for packet in &mut ends[coarse] {
            packet.timestamp -= packet.timestamp % 1000;
        }
        let found = measure(&folder, &ends[0], &ends[1], &["--interval", "250ms"]).json();
        let intervals = |json: &Value| json["intervals"].as_array().unwrap().clone();
        let mut lossless = 0;
        for (found, exact) in intervals(&found).iter().zip(intervals(&exact)) {
            let number = |json: &Value| json.as_f64().unwrap();
            if exact["lost"] != 0 || exact["mean_ci95_ns"][0] != exact["mean_ci95_ns"][1] {
                continue;
            }
            lossless += 1;
            let truth = number(&exact["mean_ns"]);
            let reason = found["reason"].as_str().unwrap();
            assert!(reason.contains("mean_ns: one end's times are whole microseconds"), "{reason}");
            assert!((number(&found["mean_ns"]) - truth).abs() < 40.0, "{found}, {truth}");
            for range in ["mean_ci95_ns", "bracket_ns"] {
                let [low, high] = [0, 1].map(|end| number(&found[range][end]));
                assert!(low <= truth && truth <= high && high - low < 1001.0, "{range}: {found}, {truth}");
            }
        }
        assert!(lossless >= 8, "{lossless}");
    }
}

/// What `decode` and `read` make of the control frames alone of what was measured with these options.
fn from_frames(folder: &Folder, ends: &[Vec<Packet>; 2], options: &[&str]) -> [Value; 2] {
    let frames = folder.path("control.pcapng");
    measure(folder, &ends[0], &ends[1], &[options, &["--frames", &frames]].concat());
    let lines = run(&["read", "--json", &frames]).output;
    let mut lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_default());
    let interval = lines.find(|line| line["event"] == "interval" && line["interval"] == 0);
    [run(&["decode", "--json", &frames]).json()["overall"].clone(), interval.unwrap_or_default()]
}

/// Two points' control frames of two intervals, which end at this Unix time and a second later, as they come then.
fn dated(seconds: u64) -> Vec<Packet> {
    let settings = Settings { rows: 64, prefixes: &[0], digest: true, ..Settings::default() };
    let configuration = Configuration::new(settings).unwrap();
    let mut points = [Role::Sender, Role::Receiver].map(|role| MeasurementPoint::new(&configuration, role));
    let mut frames = vec![];
    for seconds in [seconds, seconds + 1] {
        for (delay, point) in points.iter_mut().enumerate() {
            point.set_time(Some(AbsoluteTime { base: TimeBase::Unix, seconds }));
            for number in 0..100 {
                let mut packet = [0; 50];
                packet[12..18].copy_from_slice(&[0x08, 0x00, 0x45, 0, 0, 36]);
                packet[23] = 17;
                packet[42..].copy_from_slice(&(seconds << 32 | number).to_be_bytes());
                point.observe(&packet, Timestamp::from_nanoseconds(1000 * number + 500 * delay as u64));
            }
            point.end_interval(IntervalEnd::Delimiter, |frame| {
                let (timestamp, length) = (seconds * 1_000_000_000, frame.len() as u32);
                frames.push(Packet { timestamp, length, interface: 0, data: frame.to_vec() });
            });
        }
    }
    frames
}

/// Somebody keeps control frames, and sends them when they are wanted: `read` shows when they came.
#[test]
fn control_frames_of_another_day_are_doubted() {
    let folder = Folder::new();
    let frames = dated(1_767_225_600);
    for (by, doubt) in [
        (0, ""),
        (60_000_000_000, ""),
        (86_400_000_000_000, "before its control frames came"),
        (-3_600_000_000_000, "after its control frames came"),
    ] {
        let mut sent = frames.clone();
        sent.iter_mut().for_each(|frame| frame.timestamp = frame.timestamp.saturating_add_signed(by));
        let read = lines(&run(&["read", "--json", &folder.frames("control.pcapng", &sent)]).output);
        let intervals = of(&read, "interval");
        assert_eq!(intervals.len(), 2);
        for interval in intervals {
            let said = interval["clock_doubt"].as_str().unwrap_or_default();
            assert!(said.contains(doubt) && said.is_empty() == doubt.is_empty(), "{by}: {interval}");
        }
    }
}

#[test]
fn wild_stamps_are_noticed_in_control_frames() {
    let folder = Folder::new();
    for (end, by) in [(1, 300_000_000_000i64), (0, 300_000_000_000), (1, -300_000_000_000)] {
        let mut ends = [SENDER, RECEIVER].map(packets);
        for packet in ends[end].iter_mut().skip(500).step_by(1000) {
            packet.timestamp = packet.timestamp.saturating_add_signed(by);
        }
        for found in from_frames(&folder, &ends, &[]) {
            for key in ["mean_ns", "mean_ci95_ns", "std_ns", "bracket_ns"] {
                assert!(found[key].is_null(), "{end} {by} {key}: {found}");
            }
            assert!(found["reason"].as_str().unwrap_or_default().contains("wrong stamps"), "{found}");
            let doubt = found["clock_doubt"].as_str().unwrap_or_default();
            assert!(doubt.contains("lie before its first packet or behind its last one"), "{found}");
            assert!(found["lost"].is_u64(), "{found}");
        }
    }
    // Where order shows nothing, packets that are alone in their rows show what is far from all others.
    let mut ends = [SENDER, RECEIVER].map(packets);
    let late = ends[1].len() - 1000;
    set(&mut ends[1], late, 300_000_000_000);
    for found in from_frames(&folder, &ends, &[]) {
        assert!(found["clock_doubt"].as_str().unwrap_or_default().contains("far from all others"), "{found}");
        assert!(!found["reason"].as_str().unwrap_or_default().contains("wrong stamps"), "{found}");
    }
}

#[test]
fn coarse_stamps_are_noticed_in_control_frames() {
    let folder = Folder::new();
    for (unit, is_said) in [(1_000_000, true), (1_000, false), (1, false)] {
        for end in 0..2 {
            let mut ends = [SENDER, RECEIVER].map(packets);
            ends[end].iter_mut().for_each(|packet| packet.timestamp -= packet.timestamp % unit);
            let whole = measure(&folder, &ends[0], &ends[1], &[]).json()["overall"].clone();
            for found in from_frames(&folder, &ends, &[]) {
                let doubt = found["clock_doubt"].as_str().unwrap_or_default();
                let role = ["sender", "receiver"][end];
                assert_eq!(
                    doubt.contains(&format!("the {role}'s times are multiples of 1.000 ms")),
                    is_said,
                    "{found}"
                );
                assert_eq!(doubt.is_empty(), !is_said, "{found}");
                // The same deviation as of whom has the recordings.
                assert!(!is_said || found["std_ns"] == whole["std_ns"], "{found} {whole}");
            }
        }
    }
}

#[test]
fn a_deviation_of_rounding_is_none() {
    let folder = Folder::new();
    // Delays within a tenth of a millisecond, and stamps in milliseconds.
    let mut ends = with_rate(0);
    for (number, packet) in ends[1].iter_mut().enumerate() {
        packet.timestamp += 1000 * (number as u64 % 100);
    }
    for packet in ends.iter_mut().flatten() {
        packet.timestamp -= packet.timestamp % 1_000_000;
    }
    let [sender, receiver] =
        [("sender.pcap", &ends[0]), ("receiver.pcap", &ends[1])].map(|(name, all)| folder.capture(name, all));
    let truth = run(&["truth", "--json", &sender, &receiver]).json()["overall"].clone();
    let beside =
        run(&["measure", "--truth", "--json", &sender, &receiver]).json()["overall"]["truth"].clone();
    let flow = &run(&["flows", "top", "--count", "1", "--json", &sender, &receiver]).json()[0];
    for exact in [&truth, &beside, flow] {
        assert!(exact["mean_ns"].is_f64() && exact["std_ns"].is_null(), "{exact}");
    }
    assert!(flow["reason"].as_str().unwrap().contains("so coarse that rounding"), "{flow}");
}

/// What a result says of the order: within flows, in all, of how many.
fn order(numbers: &Value) -> [u64; 3] {
    ["reordered", "reordered_overall", "compared"].map(|key| numbers[key].as_u64().unwrap_or(u64::MAX))
}

#[test]
fn order_is_that_of_exact_matching() {
    let folder = Folder::new();
    let mut ends = [SENDER, RECEIVER].map(packets);
    // One packet in fifty arrives behind the next two.
    for place in (0..ends[1].len() - 2).step_by(50) {
        ends[1][place].timestamp = ends[1][place + 2].timestamp + 1;
    }
    ends[1].sort_by_key(|packet| packet.timestamp);
    let whole = measure(&folder, &ends[0], &ends[1], &[]).json();
    let cut = measure(&folder, &ends[0], &ends[1], &["--interval", "250ms"]).json();
    let paths = ["sender.pcap", "receiver.pcap"].map(|name| folder.path(name));
    let truth = run(&["truth", "--json", &paths[0], &paths[1]]).json();
    let [in_flow, overall, compared] = order(&whole["overall"]);
    assert_eq!([&truth["reordered"], &truth["reordered_overall"]], [in_flow, overall]);
    assert_eq!(truth["overall"]["received"], compared);
    assert!(overall > compared / 60 && in_flow > 0, "{overall} of {compared}");
    // The intervals end where nothing overtakes.
    assert_eq!(order(&cut["overall"]), [in_flow, overall, compared]);
    let intervals = cut["intervals"].as_array().unwrap();
    let sum: u64 = intervals.iter().map(|interval| order(interval)[1]).sum();
    assert!(intervals.len() > 5 && sum == overall);
}

/// A receiver's clock that is 1.5 s behind: every way to see the numbers says that delays mean nothing, and none where clocks are alike.
#[test]
fn doubts_of_clocks_reach_every_output() {
    for (by, is_doubted) in [(-1_500_000_000, true), (0, false)] {
        let folder = Folder::new();
        let mut ends = [SENDER, RECEIVER].map(packets);
        set(&mut ends[1], 0, by);
        let [sender, receiver] =
            [("a.pcap", &ends[0]), ("b.pcap", &ends[1])].map(|(name, all)| folder.capture(name, all));
        fs::create_dir(folder.path("store")).unwrap();
        let frames = folder.path("store/north-20260123T070000.000000Z.pcapng");
        run(&["measure", "--interval", "500ms", "--frames", &frames, &sender, &receiver]);

        let read = run(&["read", &frames]);
        let intervals = read.output.lines().filter(|line| line.trim_end().ends_with(" clock")).count();
        assert_eq!(intervals, if is_doubted { 6 } else { 0 }, "{read:?}");
        assert_eq!(read.messages.matches("is behind").count(), usize::from(is_doubted), "{read:?}");

        let store = folder.path("store");
        run(&["store", &store, "--all"]).told(0, &[]);
        let sums = run(&["query", &store, "--every", "1000h", "--json"]).json()["sums"][0].clone();
        assert_eq!(sums["doubted"], if is_doubted { 6 } else { 0 }, "{sums}");
        let reason = sums["reason"].as_str().unwrap_or_default();
        assert_eq!(reason.contains("clocks are doubtful in 6 intervals"), is_doubted, "{sums}");
        assert_eq!(sums["lost"], 1566, "{sums}");
        let range = [0, 1].map(|end| sums["lost_ci95"][end].as_f64().unwrap());
        assert!(range[0] == 1566.0 && (1566.0..1600.0).contains(&range[1]), "{sums}");
        let shown = run(&["query", &store, "--every", "1000h"]).output;
        assert_eq!(shown.contains("6 intervals of doubtful clocks"), is_doubted, "{shown}");
    }
}

/// One packet amid eight thousand is stamped an hour late, and every second one is in no row: in control frames the mean over all packets has it, and says so.
#[test]
fn one_wrong_stamp_in_no_row_is_doubted_in_control_frames() {
    let sender: Vec<Packet> = packets(SENDER).into_iter().take(8_000).collect();
    let (mut given, mut refused) = (0, 0);
    for place in (500..7_500).step_by(700) {
        let folder = Folder::new();
        let mut receiver = sender.clone();
        receiver.iter_mut().for_each(|packet| packet.timestamp += 1_000_000);
        receiver[place].timestamp += 3_600_000_000_000;
        for found in from_frames(&folder, &[sender.clone(), receiver], &[]) {
            match found["mean_ns"].as_f64() {
                Some(mean) => {
                    given += 1;
                    assert!(mean > 2e6, "{found}");
                    let doubt = found["clock_doubt"].as_str().unwrap_or_default();
                    assert!(doubt.contains("show another mean than the sums"), "{place}: {found}");
                }
                None => refused += 1,
            }
        }
    }
    println!("{given} {refused}");
    assert!(refused > 0, "{given}");
}
