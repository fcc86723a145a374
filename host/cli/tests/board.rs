//! `deltaline board selftest` against simulated boards, sound and others.
#![allow(clippy::unwrap_used)]

use crate::common::board::{LOSSY, Simulated, Voice};
use crate::common::{Folder, run};
use deltaline_model::board::{Command, Record, Top, Truth};
use serde_json::json;

/// A board that says something else instead of its identity or its truth.
fn lying(mut lie: impl FnMut(&mut Record) + Send + 'static) -> Simulated {
    let voice: Voice = Box::new(move |payload| {
        let mut record = Record::decode(&payload).unwrap();
        lie(&mut record);
        record.encode().as_bytes().to_vec()
    });
    Simulated::with(voice, Box::new(|_, bytes| bytes))
}

#[test]
fn a_sound_board_passes() {
    let board = Simulated::new();
    // Whatever it was doing.
    board.command(Command::Settings(LOSSY));
    let result = run(&["board", "selftest", &board.port(), "--json"]);
    result.told(0, &[]);
    let result = result.json();
    assert_eq!((&result["passed"], &result["settings"]), (&json!(true), &json!(100)));
    assert_eq!((&result["losses_exact"], &result["repeated"]), (&json!(100), &json!(0)));
    assert!(result["means_within"].as_u64().unwrap() >= 98, "{result:#}");
    let outcomes = result["outcomes"].as_array().unwrap();
    // The script does what it says: there are settings with losses and some without, short and long delays.
    let lost: Vec<u64> = outcomes.iter().map(|outcome| outcome["lost"].as_u64().unwrap()).collect();
    assert!(lost.iter().filter(|lost| **lost == 0).count() >= 25);
    assert!(lost.iter().filter(|lost| **lost > 100).count() >= 25);
    let mean = |of: fn(f64, f64) -> f64, start| {
        outcomes.iter().map(|outcome| outcome["mean_ns"].as_f64().unwrap()).fold(start, of)
    };
    assert!(mean(f64::min, f64::MAX) < 200.0 && mean(f64::max, 0.0) > 500_000.0);

    let text = run(&["board", "selftest", &board.port(), "--settings", "8"]);
    text.told(0, &[]);
    assert!(text.output.contains("passed: of 8 settings the loss is exact in 8"), "{}", text.output);
}

#[test]
fn estimates_that_contradict_the_truth_fail() {
    for (lie, part) in [
        ((|truth| truth.lost += 1) as fn(&mut Truth), "loss is wrong"),
        (|truth| truth.sum += truth.sum / 2, "mean is"),
    ] {
        let board = lying(move |record| {
            if let Record::Truth(truth) = record {
                lie(truth);
            }
        });
        let result = run(&["board", "selftest", &board.port(), "--settings", "10"]);
        result.told(16, &["the self-test failed", "program the board again"]);
        assert!(result.output.contains(part) && result.output.contains("FAILED"), "{}", result.output);
    }
}

#[test]
fn damaged_bytes_cost_a_second_try() {
    // The first interval's second control frame.
    let board = Simulated::with(
        Box::new(|payload| payload),
        Box::new(|number, mut bytes| {
            if number == 4 {
                bytes[40] ^= 1;
            }
            bytes
        }),
    );
    let result = run(&["board", "selftest", &board.port(), "--settings", "3", "--json"]);
    result.told(0, &["wrong check sequence", "once more"]);
    assert_eq!(result.json()["repeated"], json!(1));
}

#[test]
fn another_board_is_told() {
    let identity = |change: fn(&mut deltaline_model::board::Identity)| {
        let board = lying(move |record| {
            if let Record::Identity(identity) = record {
                change(identity);
            }
        });
        run(&["board", "selftest", &board.port()])
    };
    identity(|identity| identity.top = Top::RmiiTap)
        .failed(15, &["programmed as rmii-tap", "cargo xtask bitstream alchitry-cu selftest"]);
    identity(|identity| identity.digest ^= 1)
        .failed(4, &["the board's configuration is", "program the board"]);
    identity(|identity| identity.version = 9).failed(15, &["version 9 of the protocol", "same release"]);

    let mute = Simulated::with(Box::new(|payload| payload), Box::new(|_, _| vec![]));
    run(&["board", "selftest", &mute.port()]).failed(14, &["nothing came within 5.000 s"]);
    let folder = Folder::new();
    run(&["board", "selftest", &folder.write("empty", "no board")])
        .failed(2, &["takes no commands", "/dev/ttyUSB1"]);
    run(&["board", "selftest", "/dev/ttyNONE"]).failed(11, &["there is no such serial port"]);
}

#[test]
fn what_is_started_is_read() {
    let board = Simulated::new();
    let options = ["--delay", "300us", "--jitter", "10us", "--loss", "5", "--packets", "3000"];
    let started = run(&[&["board", "start", &board.port()][..], &options].concat());
    started.told(0, &[]);
    assert!(started.output.contains("deltaline read"), "{}", started.output);
    let read = run(&["read", &board.port(), "--json", "--intervals", "3"]);
    let lines = read.output.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let intervals: Vec<_> =
        lines.filter(|line| line["event"] == "interval" && !line["lost"].is_null()).collect();
    assert!(intervals.len() >= 2, "{read:?}");
    for interval in intervals {
        assert_eq!(interval["lost"], interval["truth"]["lost"]);
        assert!((100..200).contains(&interval["lost"].as_u64().unwrap()), "{interval}");
        let mean = interval["mean_ns"].as_f64().unwrap();
        assert!((300_000.0..320_000.0).contains(&mean), "{interval}");
    }
    for (option, value) in [("--delay", "1ms"), ("--delay", "10ns"), ("--jitter", "1ms"), ("--loss", "101")] {
        run(&["board", "start", &board.port(), option, value]).failed(2, &[option, "the board can do"]);
    }
}
