//! `deltaline decode` on control frames that were lost, repeated, corrupted, mixed up.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, RECEIVER, Run, SENDER, packets, run, timeless};
use deltaline_capture::Packet;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::Role;
use serde_json::{Value, json};

/// Frames of one end's interval.
const FRAGMENTS: usize = 48;

/// Measures in intervals of a second and returns the result and the control frames: per interval the sender's, then
/// the receiver's.
fn measured(folder: &Folder, options: &[&str]) -> (Value, Vec<Packet>) {
    let path = folder.path("measured.pcapng");
    let arguments = ["measure", "--json", "--interval", "1s", "--frames", &path, SENDER, RECEIVER];
    let result = run(&[&arguments[..], options].concat());
    result.told(0, &[]);
    (crate::common::of_tables(&timeless(&result.json())), packets(&path))
}

fn decode(folder: &Folder, frames: &[Packet]) -> Run {
    run(&["decode", "--json", &folder.frames("frames.pcapng", frames)])
}

fn intervals(json: &Value) -> &[Value] {
    json["intervals"].as_array().unwrap()
}

#[test]
fn decoded_frames_give_what_was_measured() {
    let folder = Folder::new();
    let (measured, mut frames) = measured(&folder, &["--segment", "3"]);
    assert_eq!(frames.len(), 6 * FRAGMENTS);
    frames.reverse();
    // Among foreign traffic, in a VLAN.
    frames.extend_from_slice(&packets(SENDER)[..10]);
    for frame in &mut frames[..4] {
        frame.data.splice(12..12, [0x81, 0x00, 0x00, 0x64]);
    }
    let result = decode(&folder, &frames);
    result.told(0, &[]);
    assert_eq!(result.messages, "");
    let json = timeless(&result.json());
    assert_eq!((&json["overall"], &json["intervals"]), (&measured["overall"], &measured["intervals"]));
    assert_eq!(json["segments"], json!([{ "segment": 3, "overall": measured["overall"] }]));
    let expected = json!({
        "all": 298, "foreign": 10, "unauthentic": 0, "duplicates": 0, "corrupted": 0,
        "unlisted": 0, "replayed": 0, "stray": 0, "beyond": 0, "unconfirmed": 0
    });
    assert_eq!(json["frames"], expected);
    let ends = json["ends"].as_array().unwrap();
    assert_eq!(ends.len(), 6);
    assert_eq!((&ends[0]["end"], &ends[0]["packets"]), (&json!("sender"), &measured["intervals"][0]["sent"]));
    assert_eq!(
        (&ends[1]["end"], &ends[1]["packets"]),
        (&json!("receiver"), &measured["intervals"][0]["received"])
    );
    assert_eq!((&ends[5]["fragments"], &ends[5]["missing"]), (&json!(FRAGMENTS), &json!(0)));

    let text = run(&["decode", &folder.path("frames.pcapng")]).output;
    for part in ["receiver", "48/48", "59461", "1566 (1566 to 1576; 2.634 %)", "segment 3"] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

#[test]
fn frames_of_others_than_those_listed_are_counted() {
    let folder = Folder::new();
    let (measured, mut frames) = measured(&folder, &["--segment", "3"]);
    let (_, other) = self::measured(&folder, &["--segment", "4"]);
    frames.extend(other);
    let capture = folder.frames("both.pcapng", &frames);
    let all = run(&["decode", "--json", &capture]).json();
    let digest = all["ends"][0]["digest"].as_str().unwrap();
    for list in [["--segment", "3,9"], ["--digest", digest]] {
        let result = run(&[&["decode", "--json", &capture], &list[..]].concat());
        result.told(0, &["288 control frames were left out that are of other segments"]);
        let json = crate::common::of_tables(&timeless(&result.json()));
        assert_eq!(json["intervals"], measured["intervals"]);
        assert_eq!(json["frames"]["unlisted"], json!(6 * FRAGMENTS));
    }
    let read = run(&["read", "--segment", "3", &capture]);
    read.told(0, &["288 control frames were left out that are of other segments"]);
    let none = run(&["decode", "--json", "--point", "5", &capture]);
    none.told(5, &["576 control frames were left out"]);
    assert_eq!(none.json()["intervals"], json!([]));
    run(&["decode", "--digest", "0xg", &capture]).told(2, &["hexadecimal"]);
}

/// One end's frames of an interval far ahead, which no second one confirms.
#[test]
fn a_forged_number_far_ahead_is_left_out() {
    let folder = Folder::new();
    let (measured, mut frames) = measured(&folder, &[]);
    let configuration = Configuration::new(Settings::default()).unwrap();
    let mut point = MeasurementPoint::new(&configuration, Role::Sender);
    let like = frames[20].clone();
    point.end_interval_at(1 << 20, |data| {
        frames.insert(20, Packet { length: data.len() as u32, data: data.to_vec(), ..like.clone() });
    });
    let result = decode(&folder, &frames);
    result.told(5, &["control frames were left out that have interval numbers far from all others"]);
    assert_eq!(crate::common::of_tables(&timeless(&result.json()))["intervals"], measured["intervals"]);
}

#[test]
fn lost_frames_void_their_interval() {
    let folder = Folder::new();
    let (measured, mut frames) = measured(&folder, &[]);
    frames.remove(3 * FRAGMENTS + 7);
    frames.remove(3 * FRAGMENTS + 3);
    let result = decode(&folder, &frames);
    result.told(
        5,
        &["frames.pcapng: segment 0, interval 1: 2 of the 48 control frames of the receiver did not arrive: \
                      the interval is void; capture the management port without loss"],
    );
    let json = timeless(&result.json());
    assert_eq!(intervals(&json)[0], intervals(&measured)[0]);
    assert_eq!(intervals(&json)[2], intervals(&measured)[2]);
    let void = &intervals(&json)[1];
    for member in ["sent", "received", "lost", "mean_ns", "mean_ci95_ns", "std_ns", "effective_samples"] {
        assert_eq!(void[member], Value::Null);
    }
    assert!(void["reason"].as_str().unwrap().contains("2 of the 48 control frames"), "{void}");
    let sent = |interval: usize| intervals(&measured)[interval]["sent"].as_u64().unwrap();
    assert_eq!(json["overall"]["sent"], json!(sent(0) + sent(2)));
    assert!(json["overall"]["reason"].as_str().unwrap().contains("1 of 3 intervals are void"));
}

/// All frames of an interval that both ends reported are held back: its number is missing, and that is said.
#[test]
fn intervals_of_which_nothing_came_are_named() {
    let folder = Folder::new();
    let (measured, mut frames) = measured(&folder, &[]);
    frames.drain(2 * FRAGMENTS..4 * FRAGMENTS);
    let result = decode(&folder, &frames);
    result.told(5, &["segment 0: nothing of interval 1 arrived"]);
    let json = timeless(&result.json());
    assert_eq!(intervals(&json).len(), 2);
    // The one in front of them is the same, but nothing confirms it.
    let mut before = intervals(&json)[0].clone();
    let reason = before["reason"].take();
    assert!(reason.as_str().unwrap().contains("no control frame of the next one"), "{reason}");
    let mut expected = intervals(&measured)[0].clone();
    expected["reason"].take();
    assert_eq!(before, expected);
}

#[test]
fn a_missing_end_voids_its_intervals() {
    let folder = Folder::new();
    let (_, frames) = measured(&folder, &[]);
    let of =
        |role: u8| -> Vec<Packet> { frames.iter().filter(|frame| frame.data[15] == role).cloned().collect() };
    let (sender, receiver) = (of(0), of(1));
    let result = decode(&folder, &sender);
    result.told(5, &["segment 0, intervals 0 to 2: nothing of the receiver arrived"]);
    assert_eq!(result.json()["overall"]["mean_ns"], Value::Null);
    // One capture for each end.
    let sender = folder.frames("sender.pcapng", &sender);
    let receiver = folder.capture("receiver.pcap", &receiver);
    let whole = run(&["decode", "--json", &sender, &receiver]);
    whole.told(0, &[]);
    assert_eq!(whole.json()["overall"]["lost"], json!(1_566));
}

#[test]
fn repeated_frames_do_no_harm() {
    let folder = Folder::new();
    let (measured, mut frames) = measured(&folder, &[]);
    frames.extend_from_within(5..9);
    let result = decode(&folder, &frames);
    result.told(
        0,
        &["frames.pcapng: frame 289: this frame, and 4 in all, repeat earlier ones and are ignored"],
    );
    assert_eq!(result.json()["overall"], measured["overall"]);
    assert_eq!(result.json()["frames"]["duplicates"], json!(4));
}

#[test]
fn corrupted_frames_are_left_out() {
    let folder = Folder::new();
    let (measured, mut frames) = measured(&folder, &[]);
    frames[FRAGMENTS + 4].data[300] ^= 1;
    let result = decode(&folder, &frames);
    result.told(
        5,
        &[
            "frames.pcapng: frame 53: check word",
            "the frame is corrupted",
            "interval 0: 1 of the 48 control frames of the receiver did not arrive",
        ],
    );
    assert_eq!(intervals(&timeless(&result.json()))[1..], intervals(&measured)[1..]);
    // Short of the snap length that control frames need.
    frames.iter_mut().for_each(|frame| frame.data.truncate(128));
    let result = decode(&folder, &frames);
    result.told(5, &["capture with a snap length of at least 1432", "and 278 more such frames"]);
    assert_eq!(result.json()["overall"]["mean_ns"], Value::Null);
}

#[test]
fn two_runs_in_one_recording_contradict_each_other() {
    let folder = Folder::new();
    let (_, mut frames) = measured(&folder, &[]);
    frames.extend(measured(&folder, &["--seed", "2"]).1);
    let result = decode(&folder, &frames);
    result.told(5, &["contradicts an earlier frame of the sender in its configuration", "own recording"]);
    assert_eq!(result.json()["overall"]["mean_ns"], Value::Null);
}

#[test]
fn ends_that_are_configured_differently_are_named() {
    let folder = Folder::new();
    let (one, mut frames) = measured(&folder, &[]);
    let (other, others) = measured(&folder, &["--seed", "2"]);
    frames.retain(|frame| frame.data[15] == 0);
    frames.extend(others.into_iter().filter(|frame| frame.data[15] == 1));
    let result = decode(&folder, &frames);
    result.told(
        4,
        &[
            "segment 0, intervals 0 to 2: the configurations differ",
            one["configuration"]["digest"].as_str().unwrap(),
            other["configuration"]["digest"].as_str().unwrap(),
            "hash, seed, rows, banks and segment must be the same at both ends",
        ],
    );
    assert_eq!(result.json()["overall"]["mean_ns"], Value::Null);
}

#[test]
fn cuts_by_the_clock_are_refused() {
    let folder = Folder::new();
    let configuration = Configuration::new(Settings::default()).unwrap();
    let mut frames = vec![];
    for (role, path) in [(Role::Sender, SENDER), (Role::Receiver, RECEIVER)] {
        let mut point = MeasurementPoint::new(&configuration, role);
        for packet in packets(path) {
            point.observe(&packet.data, Timestamp::from_nanoseconds(packet.timestamp));
        }
        point.end_interval(IntervalEnd::Request, |data| {
            frames.push(Packet { timestamp: 0, length: 0, interface: 0, data: data.to_vec() });
        });
    }
    let result = decode(&folder, &frames);
    result.told(10, &["the clock, a pin or a register cut the sender's interval", "use in-band delimiters"]);
    assert_eq!(result.json()["overall"]["lost"], Value::Null);
    assert_eq!(result.json()["ends"][0]["flags"], json!(["timed", "gap"]));
}

#[test]
fn several_segments_are_kept_apart() {
    let folder = Folder::new();
    let (first, mut frames) = measured(&folder, &[]);
    let (second, others) = measured(&folder, &["--segment", "5", "--seed", "2"]);
    frames.extend(others);
    let result = decode(&folder, &frames);
    result.told(0, &[]);
    let json = result.json();
    assert_eq!(json["overall"], Value::Null);
    assert_eq!(
        json["segments"],
        json!([{ "segment": 0, "overall": first["overall"] }, { "segment": 5, "overall": second["overall"] }])
    );
    assert_eq!(intervals(&json).len(), 6);
}

#[test]
fn a_capture_without_control_frames() {
    run(&["decode", SENDER])
        .failed(6, &[SENDER, "no control frame among 59461 frames", "snap length of at least 1432"]);
}

/// The path puts three tags before one packet in twenty: the receiver sees them and does not measure them, so that they are no lost ones.
#[test]
fn packets_that_the_receiver_does_not_measure_are_no_lost_ones() {
    let folder = Folder::new();
    for (share, is_said) in [(20, true), (200_000, false)] {
        let mut received = packets(RECEIVER);
        for packet in received.iter_mut().step_by(share).skip(1) {
            packet.data.splice(12..12, [0x81, 0, 0, 1].repeat(3));
            packet.length += 12;
        }
        let receiver = folder.capture("receiver.pcap", &received);
        let frames = folder.path("frames.pcapng");
        let measured =
            run(&["measure", "--json", "--interval", "500ms", "--frames", &frames, SENDER, &receiver]);
        for result in [measured.json(), run(&["decode", "--json", &frames]).json()] {
            let intervals = result["intervals"].as_array().unwrap();
            for figures in intervals.iter().chain([&result["overall"]]) {
                let reason = figures["reason"].as_str().unwrap_or_default();
                assert_eq!(
                    reason.contains("more frames that are not measured than the other"),
                    is_said,
                    "{share}: {figures}"
                );
            }
        }
        std::fs::remove_file(&frames).unwrap();
    }
}
