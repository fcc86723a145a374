//! `deltaline read` against a board at a pseudo-terminal, against recordings, against what is no source.
#![allow(clippy::unwrap_used)]

use crate::common::board::{LOSSY, Simulated, control_frames, on_the_line, said};
use crate::common::reading::{Reading, lines, of};
use crate::common::{Folder, SENDER, run, timeless};
use deltaline_capture::Packet;
use deltaline_model::board::traffic::{Plan, configuration};
use deltaline_model::board::{Command, Identity, Record, Settings, Top};
use deltaline_model::point::MeasurementPoint;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::Role;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::net::TcpListener;
use std::process::Command as Shell;
use std::thread::sleep;
use std::time::Duration;

fn all_timeless(values: &[&Value]) -> Vec<Value> {
    values.iter().map(|value| timeless(value)).collect()
}

fn without_truth(interval: &Value) -> Value {
    let mut interval = timeless(interval);
    let members = interval.as_object_mut().unwrap();
    members.remove("truth");
    members.remove("event");
    interval
}

#[test]
fn a_board_is_read_live_and_recorded() {
    let folder = Folder::new();
    let recording = folder.path("run.bin");
    let board = Simulated::new();
    let mut reading =
        Reading::start(&["read", &board.port(), "--json", "--intervals", "5", "--record", &recording]);
    reading.wait_for("identity", 1);
    board.command(Command::Settings(LOSSY));
    let result = reading.end();
    result.told(0, &[]);
    let read = lines(&result.output);
    let identity = of(&read, "identity")[0];
    assert_eq!((&identity["top"], &identity["rows"]), (&json!("selftest"), &json!(64)));
    assert_eq!((&identity["banks"], &identity["build"]), (&json!([1, 6]), &json!(77)));
    let intervals = of(&read, "interval");
    assert_eq!(intervals.len(), 5);
    let mut lost = 0;
    for (number, interval) in intervals.iter().enumerate() {
        let truth = &interval["truth"];
        assert_eq!(interval["interval"], json!(number));
        assert_eq!((&interval["sent"], &interval["lost"]), (&json!(2000), &truth["lost"]));
        lost += truth["lost"].as_u64().unwrap();
        let [low, high] = [0, 1].map(|end| interval["mean_ci95_ns"][end].as_f64().unwrap());
        let (mean, truth) = (interval["mean_ns"].as_f64().unwrap(), truth["mean_ns"].as_f64().unwrap());
        assert!((mean - truth).abs() < 1.5 * (high - low), "{interval}");
    }
    assert!(lost > 50);
    let end = of(&read, "end")[0];
    assert_eq!((&end["intervals"], &end["lost"], &end["bad"]), (&json!(5), &json!(lost), &json!(0)));

    // The recording says the same, and so does `decode` of the same control frames.
    let again = run(&["read", &recording, "--json", "--intervals", "5"]);
    again.told(0, &[]);
    let again = lines(&again.output);
    assert_eq!(all_timeless(&of(&again, "interval")), all_timeless(&intervals));
    let capture = folder.frames("frames.pcapng", &control_frames(&said(&LOSSY, 5)));
    let decoded = run(&["decode", &capture, "--json"]).json();
    let capture = run(&["read", &capture, "--json"]);
    capture.told(0, &[]);
    let capture = lines(&capture.output);
    for (number, decoded) in decoded["intervals"].as_array().unwrap().iter().enumerate() {
        let decoded = &timeless(decoded);
        assert_eq!(&without_truth(intervals[number]), decoded);
        assert_eq!(&without_truth(of(&capture, "interval")[number]), decoded);
    }
}

/// An RMII tap knows no truth, and its first interval began at no delimiter.
#[test]
fn a_tap_is_read_without_a_truth() {
    let voice = |payload: Vec<u8>| match Record::decode(&payload) {
        Ok(Record::Identity(identity)) => {
            let tap = Identity { top: Top::RmiiTap, ..identity };
            tap.encode().as_bytes().to_vec()
        }
        _ => payload,
    };
    let board = Simulated::with(Box::new(voice), Box::new(|_, bytes| bytes));
    let mut reading = Reading::start(&["read", &board.port(), "--json", "--intervals", "3"]);
    reading.wait_for("identity", 1);
    let mut ends = [Role::Sender, Role::Receiver].map(|role| MeasurementPoint::new(&configuration(), role));
    let mut plan = Plan::new(&LOSSY);
    let mut lost = [0; 3];
    for (number, lost) in lost.iter_mut().enumerate() {
        for (index, draw) in plan.by_ref().take(2000).enumerate() {
            let sent = 1_000_000_000 * number as u64 + 6_720 * index as u64;
            let packet = &draw.packet()[..draw.length];
            ends[0].observe(packet, Timestamp::from_nanoseconds(sent));
            *lost += u64::from(draw.is_lost);
            if !draw.is_lost {
                ends[1].observe(packet, Timestamp::from_nanoseconds(sent + 5_000));
            }
        }
        let mut said = vec![];
        for end in &mut ends {
            end.end_interval_at(number as u32, |frame| {
                said.push(Record::Control(frame).encode().as_bytes().to_vec());
            });
        }
        board.say(&on_the_line(&said));
    }
    let result = reading.end();
    // The first interval's being void.
    result.told(5, &[]);
    let read = lines(&result.output);
    assert_eq!(of(&read, "identity")[0]["top"], json!("rmii-tap"));
    let intervals = of(&read, "interval");
    assert!(intervals[0]["mean_ns"].is_null());
    for (interval, lost) in intervals.iter().zip(lost).skip(1) {
        assert_eq!((&interval["sent"], &interval["lost"]), (&json!(2000), &json!(lost)));
        assert!((interval["mean_ns"].as_f64().unwrap() - 5_000.0).abs() < 1e-6, "{interval}");
        assert!(interval["truth"].is_null());
    }
}

#[test]
fn the_table_shows_estimates_beside_the_truth() {
    let folder = Folder::new();
    let recording = folder.write("run.bin", on_the_line(&said(&LOSSY, 3)));
    let result = run(&["read", &recording]);
    result.told(0, &[]);
    let rows: Vec<&str> = result.output.lines().collect();
    assert_eq!(rows.len(), 5, "{}", result.output);
    for part in ["interval", "mean (95 %)", "gaps", "bad", "true mean"] {
        assert!(rows[0].contains(part), "{}", rows[0]);
    }
    assert!(
        rows[1..4].iter().all(|row| {
            let has_interval = row.contains(" ± ") || row.contains(" to ");
            has_interval && row.chars().count() == rows[0].chars().count()
        }),
        "{}",
        result.output
    );
    assert!(rows[4].starts_with("3 intervals, 0 of them void, 0 missing; 6000 packets sent"), "{}", rows[4]);
}

/// Message 3 stands behind garbage, message 12 is cut, message 20 lost, an interval's are lost altogether.
#[test]
fn damage_on_the_line_is_counted_and_voids_what_it_touches() {
    let board = Simulated::with(
        Box::new(|payload| payload),
        Box::new(|number, mut bytes| match number {
            3 => [&[0x7e, 0x11, 0x7d, 0x7e, 0x55][..], &bytes].concat(),
            8 => {
                bytes.truncate(bytes.len() / 2);
                bytes
            }
            13 | 16..=20 => vec![],
            _ => bytes,
        }),
    );
    // The identity is message 0; five make an interval: the truth and two control frames of each end.
    let mut reading = Reading::start(&["read", &board.port(), "--json", "--intervals", "5"]);
    reading.wait_for("identity", 1);
    board.command(Command::Settings(LOSSY));
    let result = reading.end();
    result.told(5, &["gave up", "wrong check sequence", "interval 3: nothing of it arrived"]);
    let read = lines(&result.output);
    let intervals = of(&read, "interval");
    let usable: Vec<(u64, bool)> = intervals
        .iter()
        .map(|interval| {
            (interval["interval"].as_u64().unwrap(), interval["lost"] == interval["truth"]["lost"])
        })
        .collect();
    assert_eq!(usable, [(0, true), (1, false), (2, false), (4, true), (5, true)], "{}", result.output);
    let gap = json!({ "event": "gap", "segment": 0, "first": 3, "last": 3 });
    assert_eq!(of(&read, "gap"), [&gap]);
    let end = of(&read, "end")[0];
    assert_eq!((&end["void"], &end["missing"]), (&json!(2), &json!(1)));
    assert!(end["bad"].as_u64().unwrap() >= 2);
}

#[test]
fn a_reset_in_the_middle_begins_anew() {
    let board = Simulated::new();
    board.command(Command::Settings(Settings { intervals: 3, ..LOSSY }));
    let mut reading = Reading::start(&["read", &board.port(), "--json", "--intervals", "6"]);
    reading.wait_for("interval", 3);
    // In the midst of the fourth interval, and of a message.
    let fourth = said(&LOSSY, 4);
    board.say(&on_the_line(&fourth[16..19])[..1000]);
    board.command(Command::Reset);
    board.command(Command::Settings(LOSSY));
    let result = reading.end();
    result.told(5, &["the board was reset", "wrong check sequence"]);
    let read = lines(&result.output);
    assert_eq!(of(&read, "restart").len(), 1);
    let position = read.iter().position(|line| line["event"] == "restart").unwrap();
    let (before, after) = read.split_at(position);
    let (before, after) = (of(before, "interval"), of(after, "interval"));
    assert_eq!((before.len(), after.len()), (4, 2), "{}", result.output);
    assert_eq!(before[3]["lost"], Value::Null);
    // The same settings: the same figures, to the bit.
    assert_eq!(all_timeless(&before[..2]), all_timeless(&after));
}

#[test]
fn a_port_that_goes_and_comes_is_read_on() {
    let board = Simulated::new();
    board.command(Command::Settings(Settings { intervals: 2, ..LOSSY }));
    let mut reading = Reading::start(&["read", &board.port(), "--json", "--intervals", "4"]);
    reading.wait_for("interval", 2);
    board.unplug();
    reading.wait_for("lost", 1);
    sleep(Duration::from_millis(300));
    board.plug();
    reading.wait_for("restored", 1);
    board.command(Command::Settings(LOSSY));
    let result = reading.end();
    result.told(0, &["waiting for it to come back", "is back"]);
    let read = lines(&result.output);
    let numbers: Vec<u64> =
        of(&read, "interval").iter().map(|line| line["interval"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
    let end = of(&read, "end")[0];
    assert_eq!((&end["reconnects"], &end["restarts"]), (&json!(1), &json!(0)));
}

#[test]
fn a_board_of_another_configuration_is_told() {
    let board = Simulated::with(
        Box::new(|mut payload| {
            if let Ok(Record::Identity(_)) = Record::decode(&payload) {
                payload[7] ^= 1;
            }
            payload
        }),
        Box::new(|_, bytes| bytes),
    );
    board.command(Command::Settings(LOSSY));
    let result = run(&["read", &board.port(), "--intervals", "2"]);
    result.told(4, &["its control frames are of configuration", "program the board again"]);
}

#[test]
fn what_is_no_source_is_told() {
    let folder = Folder::new();
    run(&["read", "/dev/ttyNONE"])
        .failed(11, &["/dev/ttyNONE: there is no such", "interfaces are", "check the cable"]);
    run(&["read", "/dev/null"]).failed(11, &["/dev/null: cannot be used as a serial port"]);
    run(&["read", &folder.write("text", "no capture ~~~~")]).failed(3, &["neither a pcap or pcapng capture"]);
    run(&["read", &folder.write("empty", "")]).failed(3, &["is empty"]);
    run(&["read", "--record", &folder.path("x"), SENDER]).failed(2, &["--record", "a recording already"]);
    let foreign = run(&["read", SENDER]);
    foreign.told(6, &["no control frame in it"]);

    let board = Simulated::new();
    let held = serialport::new(board.port(), 2_000_000).open().unwrap();
    run(&["read", &board.port()]).failed(12, &["in use by another program", "fuser"]);
    drop(held);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    run(&["read", &board.port(), "--prometheus", &address])
        .failed(12, &["cannot be served", "another address"]);
}

#[test]
fn a_silent_or_strange_port_is_told() {
    let mute = || Simulated::with(Box::new(|payload| payload), Box::new(|_, _| vec![]));
    let read = |board: &Simulated| run(&["read", &board.port(), "--timeout", "700ms"]);
    read(&mute()).failed(14, &["nothing came within 700.000 ms", "has power and is programmed"]);
    let strange = mute();
    strange.say(b"U-Boot 2024.01\r\n=> ");
    read(&strange).failed(15, &["19 bytes came", "no message of a Deltaline board", "program the board"]);
    read(&Simulated::new()).told(14, &["the board answers as selftest", "deltaline board start"]);
}

/// The terminal goes away, or the system ends: what was read is summed up. `nohup` has SIGHUP ignored.
#[test]
fn signals_end_it_with_a_summary() {
    let board = Simulated::new();
    board.command(Command::Settings(LOSSY));
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        // Whoever runs the tests may have SIGHUP ignored.
        let mut command = Shell::new("env");
        command.args(["--default-signal=HUP", env!("CARGO_BIN_EXE_deltaline")]);
        let mut reading = Reading::of(command.args(["read", &board.port(), "--json"]));
        reading.wait_for("interval", 2);
        reading.signal(signal);
        let result = reading.end();
        result.told(0, &[]);
        let end = lines(&result.output).pop().unwrap();
        assert!(end["event"] == "end" && end["intervals"].as_u64() >= Some(2), "{end}");
    }
    let mut nohup = Shell::new("sh");
    nohup.args(["-c", r#"trap "" HUP; exec "$0" "$@""#, env!("CARGO_BIN_EXE_deltaline")]);
    let mut reading = Reading::of(nohup.args(["read", &board.port(), "--json"]));
    reading.wait_for("interval", 2);
    reading.signal(Signal::HUP);
    reading.wait_for("interval", 12);
    reading.interrupt();
    reading.end().told(0, &[]);
}

/// Interval numbers that start over without a word, as behind a network.
#[test]
fn a_reader_that_stood_still_calls_nothing_late() {
    for _ in 0..6 {
        let board = Simulated::new();
        let mut reading = Reading::start(&["read", &board.port(), "--json"]);
        reading.wait_for("identity", 1);
        board.command(Command::Settings(LOSSY));
        reading.wait_for("interval", 3);
        // Ctrl-Z, or a machine that is overloaded: the line holds a part of an interval meanwhile.
        reading.signal(Signal::STOP);
        sleep(Duration::from_millis(1300));
        reading.interrupt();
        reading.signal(Signal::CONT);
        let result = reading.end();
        result.told(0, &[]);
        let end = of(&lines(&result.output), "end")[0].clone();
        assert_eq!((&end["void"], &end["missing"], &end["bad"]), (&json!(0), &json!(0), &json!(0)));
    }
}

#[test]
fn a_capture_of_two_runs_is_followed() {
    let folder = Folder::new();
    let two =
        [control_frames(&said(&LOSSY, 6)), control_frames(&said(&Settings { seed: 9, ..LOSSY }, 3))].concat();
    let result = run(&["read", &folder.frames("two.pcapng", &two), "--json"]);
    result.told(0, &["interval numbers start over"]);
    let read = lines(&result.output);
    let numbers: Vec<u64> =
        of(&read, "interval").iter().map(|line| line["interval"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 0, 1, 2]);
}

/// The clock of the machine that made a recording was set while it did, forth in the midst of an interval, back in another one. What was
/// measured is the same, and each interval is reported by the clock of its last frame.
#[test]
fn a_clock_that_was_set_during_a_recording_voids_nothing() {
    const HOUR: u64 = 3_600_000_000_000;
    let folder = Folder::new();
    let mut frames = control_frames(&said(&LOSSY, 8));
    let read = |frames: &[Packet], name: &str| {
        let result = run(&["read", &folder.frames(name, frames), "--json"]);
        result.told(0, &[]);
        lines(&result.output)
    };
    let steady = read(&frames, "steady.pcapng");
    // Four frames make an interval.
    for (number, frame) in (0..).zip(&mut frames) {
        let clock = 10 * HOUR + 1_000_000 * number;
        frame.timestamp = match number {
            ..10 => clock,
            10..22 => clock + 2 * HOUR,
            _ => clock - HOUR,
        };
    }
    let stepped = read(&frames, "stepped.pcapng");
    assert_eq!(all_timeless(&of(&stepped, "interval")), all_timeless(&of(&steady, "interval")));
    assert_eq!(of(&stepped, "interval").len(), 8);
    let reported: Vec<&str> =
        of(&stepped, "interval").iter().map(|line| line["reported_time"].as_str().unwrap()).collect();
    let hours: Vec<&str> = reported.iter().map(|time| &time[..13]).collect();
    assert_eq!(hours[..2], ["1970-01-01T10"; 2], "{reported:?}");
    assert_eq!(hours[2..5], ["1970-01-01T12"; 3], "{reported:?}");
    assert_eq!(hours[5..], ["1970-01-01T09"; 3], "{reported:?}");
}
