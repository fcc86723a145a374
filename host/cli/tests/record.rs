//! Recordings of `deltaline read` survive the program's end, a full disk, and the next run.
#![allow(clippy::unwrap_used)]

mod common;

use common::board::{LOSSY, Simulated};
use common::reading::{Reading, lines, of};
use common::{Folder, command, finish, run, timeless};
use deltaline_model::board::{Command, Settings};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::process;
use std::thread::sleep;
use std::time::Duration;

/// The intervals of lines, by number, without times of day; each is there once.
fn intervals(lines: &[Value]) -> BTreeMap<u64, Value> {
    let mut found = BTreeMap::new();
    for interval in of(lines, "interval") {
        let again = found.insert(interval["interval"].as_u64().unwrap(), timeless(interval));
        assert_eq!(again, None, "an interval is there twice");
    }
    found
}

/// A fixed sequence of well mixed numbers (splitmix64).
fn numbers(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

/// What has been shown is in the recording, whenever the program is killed. `DELTALINE_KILLS` says how often it is.
#[test]
fn nothing_shown_is_lost_to_a_kill() {
    let kills = env::var("DELTALINE_KILLS").map_or(20, |kills| kills.parse().unwrap());
    let folder = Folder::new();
    let mut next = numbers(16);
    let mut shown = 0;
    for number in 0..kills {
        let recording = folder.path(&format!("{number}.bin"));
        let board = Simulated::new();
        let mut reading = Reading::start(&["read", &board.port(), "--json", "--record", &recording]);
        reading.wait_for("identity", 1);
        board.command(Command::Settings(LOSSY));
        sleep(Duration::from_micros(next() % 100_000));
        reading.signal(Signal::KILL);
        let output = reading.killed();
        // The last line may have been cut.
        let whole = output.rfind('\n').map_or("", |end| &output[..end]);
        let before = intervals(&lines(whole));
        let after = intervals(&lines(&run(&["read", &recording, "--json"]).output));
        for (number, interval) in &before {
            assert_eq!(after.get(number), Some(interval), "interval {number}");
        }
        shown += before.len();
    }
    assert!(shown >= kills, "only {shown} intervals were shown");
}

#[test]
fn a_recording_is_never_overwritten() {
    let folder = Folder::new();
    let board = Simulated::new();
    let recording = folder.write("run.bin", "the run before");
    run(&["read", &board.port(), "--record", &recording]).failed(7, &["run.bin: exists", "--rotate"]);
    assert_eq!(fs::read_to_string(&recording).unwrap(), "the run before");
    let nowhere = folder.path("nowhere/run.bin");
    run(&["read", &board.port(), "--record", &nowhere]).failed(7, &["cannot be written", "check the folder"]);
    run(&["read", &board.port(), "--rotate", "1h"]).told(2, &["--record"]);
}

/// One after the other they hold what was shown.
#[test]
fn recordings_take_turns() {
    let folder = Folder::new();
    let board = Simulated::new();
    let pattern = folder.path("run.bin");
    let mut reading = Reading::start(&[
        "read",
        &board.port(),
        "--json",
        "--record",
        &pattern,
        "--rotate",
        "1ns",
        "--intervals",
        "4",
    ]);
    reading.wait_for("identity", 1);
    board.command(Command::Settings(Settings { intervals: 4, ..LOSSY }));
    let result = reading.end();
    result.told(0, &[]);
    let mut files = folder.files();
    // By the moments that they are called after.
    files.sort();
    let mut whole = vec![];
    for file in &files {
        let name = file.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("run-20") && name.ends_with(".bin"), "{name}");
        whole.extend(fs::read(file).unwrap());
    }
    let is_used = |file: &&PathBuf| fs::metadata(file).unwrap().len() > 1;
    let used = files.iter().filter(is_used).count();
    let together = run(&["read", &folder.write("whole.bin", whole), "--json"]);
    let together: BTreeMap<u64, Value> = intervals(&lines(&together.output))
        .into_iter()
        .map(|(number, interval)| (number, of_itself(interval)))
        .collect();
    let shown = intervals(&lines(&result.output));
    let shown: BTreeMap<u64, Value> =
        shown.into_iter().map(|(number, interval)| (number, of_itself(interval))).collect();
    assert_eq!(together, shown);
    assert!(used >= 2, "{used} files");
}

/// Without what is known of a run alone: when it began, and, of a board's truth, how long its cycles are.
fn of_itself(mut interval: Value) -> Value {
    let members = interval.as_object_mut().unwrap();
    members.retain(|key, _| !["truth", "start_ns", "end_ns"].contains(&key.as_str()));
    interval
}

/// Where the disk is full, here by a limit of the file's size, measuring goes on; the program says so and ends with 7.
#[test]
fn a_full_disk_ends_the_recording_alone() {
    let folder = Folder::new();
    let recording = folder.path("run.bin");
    let board = Simulated::new();
    board.command(Command::Settings(LOSSY));
    let mut limited = process::Command::new("sh");
    limited.args(["-c", r#"trap "" XFSZ; ulimit -f 16; exec "$0" "$@""#, env!("CARGO_BIN_EXE_deltaline")]);
    let arguments = ["read", &board.port(), "--json", "--record", &recording, "--intervals", "12"];
    let result = finish(limited.args(arguments));
    result.told(7, &["--record: cannot be written further", "check the free space"]);
    assert_eq!(result.messages.matches("--record").count(), 1, "{}", result.messages);
    let shown = intervals(&lines(&result.output));
    assert_eq!(shown.len(), 12);
    // What was recorded before is whole.
    let kept = finish(&mut command(&["read", &recording, "--json"]));
    let kept = intervals(&lines(&kept.output));
    let whole: Vec<_> = kept.iter().filter(|(_, interval)| interval["lost"] != json!(null)).collect();
    assert!(!whole.is_empty() && whole.len() < 12, "{}", whole.len());
    for (number, interval) in whole {
        assert_eq!(of_itself(shown[number].clone()), of_itself(interval.clone()));
    }
}
