//! Recordings of `deltaline read` survive the program's end, a full disk, and the next run.
//!
//! Where nobody may make interfaces or mount file systems, the tests that need them do nothing.
#![allow(clippy::unwrap_used)]

use crate::common::board::{LOSSY, Simulated, control_frames, said};
use crate::common::link::Pair;
use crate::common::reading::{Reading, lines, of};
use crate::common::{Folder, command, finish, run, timeless};
use deltaline_collect::feed::Sender;
use deltaline_model::board::{Command, Settings};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
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

/// The same of a network interface, with the next reader starting while frames come: its recording and those before, one after the other,
/// hold every interval that was shown, each once. `DELTALINE_KILLS` says how often.
#[test]
fn nothing_shown_of_an_interface_is_lost_to_a_kill() {
    let Some(pair) = Pair::new() else { return };
    let kills = env::var("DELTALINE_KILLS").map_or(20, |kills| kills.parse().unwrap());
    let [near, far] = &pair.0;
    let folder = Folder::new();
    let mut next = numbers(17);
    let (mut shown, mut files) = (BTreeMap::new(), vec![]);
    let is_over = AtomicBool::new(false);
    // Made before the first reader starts: a busy machine takes longer for them than the readers live.
    let frames = control_frames(&said(&LOSSY, 2000));
    thread::scope(|scope| {
        scope.spawn(|| {
            let sender = Sender::open(far).unwrap();
            // Four frames make an interval.
            for frames in frames.chunks(4) {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                frames.iter().for_each(|frame| sender.send(&frame.data).unwrap());
                sleep(Duration::from_millis(5));
            }
        });
        for number in 0..kills {
            let recording = folder.path(&format!("{number}.pcapng"));
            let mut reading = Reading::start(&["read", near, "--json", "--record", &recording]);
            reading.wait_for("start", 1);
            sleep(Duration::from_micros(20_000 + next() % 100_000));
            reading.signal(Signal::KILL);
            let output = reading.killed();
            let whole = output.rfind('\n').map_or("", |end| &output[..end]);
            let usable =
                intervals(&lines(whole)).into_iter().filter(|(_, interval)| !interval["lost"].is_null());
            for (number, interval) in usable {
                assert_eq!(shown.insert(number, of_itself(interval)), None, "interval {number} came again");
            }
            files.push(recording);
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let options = ["decode", "--json", "--keep-going"].map(String::from);
    let decoded = run(&[&options[..], &files].concat()).json();
    let mut kept = BTreeMap::new();
    for interval in decoded["intervals"].as_array().unwrap() {
        let again = kept.insert(interval["interval"].as_u64().unwrap(), of_itself(timeless(interval)));
        assert_eq!(again, None, "an interval is there twice");
    }
    for (number, interval) in &shown {
        assert_eq!(kept.get(number), Some(interval), "interval {number}");
    }
    assert!(shown.len() >= kills, "only {} intervals were shown", shown.len());
}

/// A file system of its own, of so many bytes; nobody but root may mount one, as a rule.
struct Disk(String);

impl Disk {
    fn new(folder: &Folder, size: &str) -> Option<Self> {
        let path = folder.path("disk");
        fs::create_dir(&path).unwrap();
        let disk = Disk(path);
        disk.mount(&["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).then_some(disk)
    }

    fn mount(&self, options: &[&str]) -> bool {
        let output = process::Command::new("mount").args(options).arg(&self.0).output();
        output.is_ok_and(|output| output.status.success())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Not there where it could not be mounted.
        let _ = process::Command::new("umount").arg(&self.0).output();
    }
}

/// The disk is full in the middle, then may not be written at all, then has room again: measuring goes on, what is shown before
/// that is said is in the recording, and the next file is written when there is room for it.
#[test]
fn a_disk_that_is_full_then_read_only_then_has_room() {
    let folder = Folder::new();
    let Some(disk) = Disk::new(&folder, "64k") else { return };
    let board = Simulated::new();
    board.command(Command::Settings(LOSSY));
    let recording = format!("{}/run.bin", disk.0);
    let mut reading =
        Reading::start(&["read", &board.port(), "--json", "--record", &recording, "--rotate", "1s"]);
    reading.wait_for("not_recorded", 1);
    let before: BTreeMap<u64, Value> = intervals(&lines(&reading.text));
    let files = || {
        let mut files: Vec<PathBuf> =
            fs::read_dir(&disk.0).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    };
    let together: Vec<u8> = files().iter().flat_map(|file| fs::read(file).unwrap()).collect();
    let kept = intervals(&lines(&run(&["read", &folder.write("together.bin", together), "--json"]).output));
    assert!(!before.is_empty());
    for (number, interval) in before {
        assert_eq!(kept.get(&number).cloned().map(of_itself), Some(of_itself(interval)), "interval {number}");
    }
    let count = files().len();
    assert!(disk.mount(&["-o", "remount,ro"]));
    reading.wait_for("not_recorded", 2);
    assert_eq!(files().len(), count);
    assert!(disk.mount(&["-o", "remount,rw,size=16m"]));
    // Some more, until the file is there, and then some that are in it.
    let mut more = |intervals| {
        let shown = reading.text.matches(r#""event":"interval""#).count();
        reading.wait_for("interval", shown + intervals);
    };
    while files().len() == count {
        more(1);
    }
    more(20);
    reading.interrupt();
    reading.end().told(7, &["No space left", "Read-only file system"]);
    let next = &files()[count];
    let read = run(&["read", next.to_str().unwrap(), "--json"]).output;
    let whole = intervals(&lines(&read)).into_values().filter(|interval| !interval["lost"].is_null()).count();
    assert!(whole > 0, "{read}");

    // From the beginning.
    assert!(disk.mount(&["-o", "remount,ro"]));
    let refused = run(&["read", &board.port(), "--record", &format!("{}/other.bin", disk.0)]);
    refused.failed(7, &["cannot be written", "Read-only file system"]);
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

/// Without what is known of a run alone: when it began, and, of a board's truth, how long its cycles are; and without its event.
fn of_itself(mut interval: Value) -> Value {
    let members = interval.as_object_mut().unwrap();
    members.retain(|key, _| !["event", "truth", "start_ns", "end_ns"].contains(&key.as_str()));
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
    let last = whole.iter().map(|(number, _)| **number).max();
    for (number, interval) in whole {
        // Nothing confirms the last one, behind which the recording ends amid another one.
        let of_itself = |interval: &Value| {
            let mut interval = of_itself(interval.clone());
            if Some(*number) == last {
                interval["reason"].take();
            }
            interval
        };
        assert_eq!(of_itself(&shown[number]), of_itself(interval));
    }
}
