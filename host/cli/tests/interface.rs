//! `deltaline read` on an interface that goes down, comes back, is taken away and made again.
//!
//! To root alone, as a rule, who may make a pair of interfaces; elsewhere there is nothing to test.
#![allow(clippy::unwrap_used)]

use crate::common::board::{LOSSY, control_frames, said};
use crate::common::link::{Pair, ip};
use crate::common::reading::{Reading, lines, of};
use crate::common::{Folder, finish, packets, run, timeless};
use deltaline_collect::feed::{Event, Feed, Sender, Source};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::time::Timestamp;
use deltaline_model::wire::delimiter::Delimiter;
use deltaline_model::wire::frame::Role;
use serde_json::{Value, json};
use std::env;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

#[test]
fn an_interface_may_go_and_come() {
    let Some(pair) = Pair::new() else { return };
    let [near, far] = &pair.0;
    let folder = Folder::new();
    let recording = folder.path("run.pcapng");
    let mut reading = Reading::start(&["read", near, "--json", "--record", &recording]);
    reading.wait_for("start", 1);
    // Four frames make an interval.
    let mut frames = control_frames(&said(&LOSSY, 8)).into_iter().map(|packet| packet.data);
    let mut send = |intervals: usize, tag: &[u8]| {
        let sender = Sender::open(far).unwrap();
        for frame in frames.by_ref().take(4 * intervals) {
            let mut foreign = frame.clone();
            foreign[12] = 0x08;
            (0..200).for_each(|_| sender.send(&foreign).unwrap());
            sender.send(&[&frame[..12], tag, &frame[12..]].concat()).unwrap();
        }
    };
    send(2, &[]);
    reading.wait_for("interval", 2);
    send(1, &[0x81, 0, 0, 5]);
    send(1, &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6]);
    reading.wait_for("interval", 4);

    assert!(ip(&["link", "set", near, "down"]));
    reading.wait_for("lost", 1);
    assert!(ip(&["link", "set", near, "up"]));
    reading.wait_for("restored", 1);
    send(2, &[]);
    reading.wait_for("interval", 6);

    assert!(pair.remove());
    reading.wait_for("lost", 2);
    assert!(pair.create());
    reading.wait_for("restored", 2);
    send(2, &[]);
    reading.wait_for("interval", 8);
    reading.interrupt();
    let result = reading.end();
    result.told(0, &["waiting for it to come back", "is back"]);
    let read = lines(&result.output);
    let end = of(&read, "end")[0];
    for (key, count) in
        [("intervals", 8), ("void", 0), ("missing", 0), ("bad", 0), ("dropped", 0), ("reconnects", 2)]
    {
        assert_eq!(end[key], json!(count), "{key}");
    }

    // The recording holds our frames alone, and says the same.
    assert_eq!(packets(&recording).len(), 32);
    let own = |value: &Value| {
        let mut own = timeless(value);
        own.as_object_mut().unwrap().remove("event");
        own
    };
    let shown: Vec<Value> = of(&read, "interval").into_iter().map(own).collect();
    let decoded = run(&["decode", &recording, "--json"]).json();
    let decoded: Vec<Value> = decoded["intervals"].as_array().unwrap().iter().map(own).collect();
    assert_eq!(decoded, shown);
    read_by_others(&recording);
}

/// Intervals of a burst that comes faster than single ones are synchronised with the disk, and Ctrl-C behind the last frame: each is
/// shown, or the kernel's drops are told.
#[test]
fn a_burst_is_read_to_its_end() {
    const INTERVALS: u64 = 3000;
    let Some(pair) = Pair::new() else { return };
    let [near, far] = &pair.0;
    let folder = Folder::new();
    let recording = folder.path("run.pcapng");
    let mut reading = Reading::start(&["read", near, "--json", "--record", &recording]);
    reading.wait_for("start", 1);
    let settings = Settings { rows: 8, prefixes: &[0], ..Settings::default() };
    let configuration = Configuration::new(settings).unwrap();
    let mut points = [Role::Sender, Role::Receiver].map(|role| MeasurementPoint::new(&configuration, role));
    let sender = Sender::open(far).unwrap();
    for number in 0..INTERVALS {
        for point in &mut points {
            point.observe(&[0; 60], Timestamp::from_nanoseconds(number));
            point.end_interval(IntervalEnd::Delimiter, |frame| sender.send(frame).unwrap());
        }
    }
    reading.interrupt();
    let result = reading.end();
    let end = of(&lines(&result.output), "end")[0].clone();
    let recorded = packets(&recording).len() as u64;
    let dropped = end["dropped"].as_u64().unwrap();
    assert_eq!(recorded + dropped, 2 * INTERVALS, "{end}");
    if dropped == 0 {
        assert_eq!((&end["intervals"], &end["missing"]), (&json!(INTERVALS), &json!(0)), "{end}");
    } else {
        result.told(5, &["the kernel dropped some"]);
    }
}

#[test]
fn delimiters_wait_for_their_link_and_keep_their_numbers() {
    let Some(pair) = Pair::new() else { return };
    let [near, far] = &pair.0;
    let mut source = Source::open(far).unwrap();
    let mut delimiting =
        Reading::start(&["delimit", near, "--interval", "20ms", "--count", "40", "--first", "0"]);
    let mut numbers = vec![];
    // Until this number has come.
    let mut hear = |source: &mut Source, number: u32| {
        while numbers.last().is_none_or(|last| *last < number) {
            if let Event::Frame { bytes, .. } = source.next_event().unwrap() {
                numbers.push(Delimiter::decode(&bytes).unwrap().interval);
            }
        }
        numbers.clone()
    };
    hear(&mut source, 2);
    assert!(ip(&["link", "set", near, "down"]));
    assert!(delimiting.message().contains("is gone"));
    sleep(Duration::from_millis(150));
    assert!(ip(&["link", "set", near, "up"]));
    assert!(delimiting.message().contains("is back"));
    hear(&mut source, 5);
    // The other end goes down: no carrier.
    assert!(ip(&["link", "set", far, "down"]));
    assert!(delimiting.message().contains("is gone"));
    assert!(ip(&["link", "set", far, "up"]));
    let numbers = hear(&mut source, 39);
    delimiting.end().told(0, &["is back"]);
    // Those that come before the other end listens again are lost; none comes twice or in another order.
    assert!(numbers.is_sorted_by(|a, b| a < b) && numbers[..6] == [0, 1, 2, 3, 4, 5], "{numbers:?}");
}

/// In a network namespace of its own, where `/sys` shows another one's interfaces.
#[test]
fn without_a_carrier_nothing_is_said_to_be_sent() {
    if Pair::new().is_none() {
        return;
    }
    let script = "ip link add v0 type veth peer name v1 && ip link set v0 up && exec \"$0\" delimit v0 --interval 20ms --count 2";
    let mut delimiting = Command::new("unshare");
    delimiting.args(["--net", "sh", "-c", script, env!("CARGO_BIN_EXE_deltaline")]);
    finish(&mut delimiting).failed(11, &["v0", "no carrier", "other end"]);
}

/// Wireshark's own tool counts what is in a capture: beside the tshark that `DELTALINE_TSHARK` names, if it does.
fn read_by_others(capture: &str) {
    let capinfos = match env::var_os("DELTALINE_TSHARK") {
        Some(tshark) => Path::new(&tshark).with_file_name("capinfos"),
        None => "capinfos".into(),
    };
    let Ok(output) = Command::new(capinfos).args(["-T", "-r", "-c", capture]).output() else { return };
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.trim().ends_with("\t32"), "{said}");
}
