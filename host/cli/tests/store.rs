//! `deltaline store` and `deltaline query`: what a folder of recordings says is what `read` says of them.
#![allow(clippy::unwrap_used)]

use crate::common::board::{LOSSY, control_frames, said};
use crate::common::reading::{lines, of};
use crate::common::{Folder, run};
use deltaline_capture::Packet;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// The file of numbers of a recording.
fn table_of(store: &str, moment: &str) -> PathBuf {
    let files = fs::read_dir(store).unwrap().map(|entry| entry.unwrap().path());
    let is_it = |path: &PathBuf| {
        path.extension().is_some_and(|ending| ending == "parquet") && path.to_str().unwrap().contains(moment)
    };
    files.into_iter().find(is_it).unwrap()
}

/// An interval's keys that the store has no room for, or rounds.
fn same(stored: &Value, read: &Value) {
    let number = |value: &Value| value.as_f64().map(f64::round).or(value.as_bool().map(f64::from));
    for key in ["segment", "interval", "reported_time", "authenticated"] {
        assert_eq!(stored[key], read[key], "{key}");
    }
    let mut compared = 0;
    for (key, value) in read.as_object().unwrap() {
        if number(value).is_some()
            && key.ends_with("_ns")
            && !key.starts_with("start")
            && !key.starts_with("end")
            || ["sent", "received", "lost", "surplus"].contains(&key.as_str())
        {
            assert_eq!(number(&stored[key]), number(value), "{key}");
            compared += 1;
        }
    }
    assert!(compared >= 6, "{compared}");
    let [stored, read] = [stored, read].map(|each| each["mean_ci95_ns"].as_array().unwrap().clone());
    assert!(stored[0].as_f64() <= read[0].as_f64() && stored[1].as_f64() >= read[1].as_f64());
}

/// A recording of a board, in three pieces that are cut anywhere, and what `read` says of the whole.
fn recorded(folder: &Folder) -> Vec<Value> {
    let packets: Vec<Packet> = control_frames(&said(&LOSSY, 12));
    let packets: Vec<Packet> = (0..)
        .zip(packets)
        .map(|(place, packet)| Packet { timestamp: 1_790_000_000_000_000_000 + place * 10_000_000, ..packet })
        .collect();
    let whole = folder.frames("whole.pcapng", &packets);
    let (first, rest) = packets.split_at(packets.len() / 3 + 1);
    let (second, third) = rest.split_at(packets.len() / 3 + 1);
    fs::create_dir(folder.path("store")).unwrap();
    for (number, part) in [first, second, third].into_iter().enumerate() {
        folder.frames(&format!("store/lab-20260921T1413{:02}.000000Z.pcapng", 20 + number), part);
    }
    let read = run(&["read", &whole, "--json"]);
    of(&lines(&read.output), "interval").into_iter().cloned().collect()
}

#[test]
fn a_store_says_what_read_says_closed_or_not() {
    let folder = Folder::new();
    let read = recorded(&folder);
    assert!(read.len() >= 11, "{}", read.len());
    let store = folder.path("store");
    let asked = |more: &[&str]| run(&[&["query", &store, "--json"], more].concat()).json();
    let before = asked(&[]);
    let work = run(&["store", &store, "--all", "--json"]).json();
    assert_eq!(
        (work["closed"].as_array().unwrap().len(), work["intervals"].as_u64()),
        (3, Some(read.len() as u64))
    );
    let after = asked(&[]);
    assert_eq!(before, after);
    let stored = after["intervals"].as_array().unwrap();
    assert_eq!(stored.len(), read.len());
    stored.iter().zip(&read).for_each(|(stored, read)| same(stored, read));
    // A part: from the fourth to the seventh.
    let time = |place: usize| read[place]["reported_time"].as_str().unwrap();
    let part = asked(&["--from", time(3), "--to", time(7)]);
    assert_eq!(part["intervals"].as_array().unwrap()[..], stored[3..7]);
    // Together.
    let sums = asked(&["--every", "1h"]);
    let sums = sums["sums"].as_array().unwrap();
    let sum = |key: &str| stored.iter().map(|each| each[key].as_u64().unwrap_or(0)).sum::<u64>();
    let summed = |key: &str| sums.iter().map(|each| each[key].as_u64().unwrap()).sum::<u64>();
    for key in ["sent", "received", "lost"] {
        assert_eq!(summed(key), sum(key), "{key}");
    }
    // Nobody has signed these, closed or not; copies of the recordings count no second time.
    let keys = folder.path("north.keys");
    run(&["key", &keys]).told(0, &[]);
    run(&["query", &store, "--key", &keys]).told(
        5,
        &["no such interval", "not of signed control frames", "`deltaline store --key FILE` makes it anew"],
    );
    for second in 20..23 {
        let path = |name: &str| folder.path(&format!("store/{name}-20260921T1413{second}.000000Z.pcapng"));
        fs::copy(path("lab"), path("copy")).unwrap();
    }
    run(&["store", &store, "--all"]).told(0, &["unauthenticated"]);
    let again = run(&["query", &store, "--json"]);
    again.told(0, &["lab-20260921T1413", "were reported before", "count there alone"]);
    let counted: u64 = again.json()["intervals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| each["sent"].as_u64().unwrap_or(0))
        .sum();
    assert_eq!(counted, sum("sent"));
    // For people: what many intervals have in common once, and rows that fit a screen.
    let shown = run(&["query", &store]).told(0, &[]).output.clone();
    let reasons: BTreeSet<&str> = stored.iter().filter_map(|each| each["reason"].as_str()).collect();
    assert!(!reasons.is_empty() && reasons.len() < stored.len(), "{reasons:?}");
    for reason in reasons {
        assert_eq!(shown.matches(&format!(": {reason}\n")).count(), 1, "{shown}");
    }
    let rows = shown.lines().filter(|line| line.starts_with('|'));
    assert!(
        rows.clone().count() > stored.len() && rows.max_by_key(|row| row.len()).unwrap().len() < 140,
        "{shown}"
    );
    assert!(run(&["query", &store, "--every", "1h"]).output.contains("worst p99"));
    assert!(run(&["store", &store]).output.contains("0 recordings closed"));
}

/// As those of hours in which no interval ended.
#[test]
fn recordings_without_intervals_are_no_copies_of_each_other() {
    let folder = Folder::new();
    recorded(&folder);
    for hour in 15..18 {
        folder.frames(&format!("store/lab-20260921T{hour}0000.000000Z.pcapng"), &[]);
    }
    let store = folder.path("store");
    run(&["store", &store, "--all"]).told(0, &[]);
    let asked = run(&["query", &store]);
    assert!(!asked.told(0, &[]).messages.contains("count once"), "{asked:?}");
}

#[test]
fn what_is_no_store_or_damaged_is_refused_with_its_name() {
    let folder = Folder::new();
    let missing = folder.path("missing");
    run(&["query", &missing]).failed(3, &["missing", "check the name"]);
    run(&["store", &missing]).failed(3, &["missing", "check the name"]);
    run(&["query", &missing, "--from", "yesterday"]).told(2, &["2026-01-23T07:00:00Z"]);
    recorded(&folder);
    let store = folder.path("store");
    let empty = run(&["query", &store, "--segment", "77", "--json"]);
    empty.told(6, &["no such interval"]);
    assert_eq!(empty.json()["intervals"].as_array().unwrap().len(), 0);
    run(&["store", &store, "--all"]).told(0, &[]);
    let table = fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().path());
    let table =
        table.filter(|path| path.extension().is_some_and(|ending| ending == "parquet")).min().unwrap();
    let whole = run(&["query", &store, "--json"]).json()["intervals"].as_array().unwrap().len();
    let mut bytes = fs::read(&table).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(&table, bytes).unwrap();
    // The others are shown.
    let rest = run(&["query", &store, "--json"]);
    rest.told(3, &[table.to_str().unwrap(), "damaged", "makes it anew", "left out"]);
    let rest = rest.json()["intervals"].as_array().unwrap().len();
    assert!(0 < rest && rest < whole, "{rest} of {whole}");
    // So does `store`, once, as long as it can be made anew.
    for keep in [&[][..], &["--keep", "1ns"]] {
        let told = run(&[&["store", &store, "--all", "--json"], keep].concat());
        told.told(3, &[table.to_str().unwrap(), "remove this file of numbers alone"]);
        assert_eq!(told.json()["damaged"], serde_json::json!([table.to_str().unwrap()]));
        assert_eq!(told.messages.matches(table.to_str().unwrap()).count(), 1, "{}", told.messages);
    }
    // It is made anew.
    fs::remove_file(&table).unwrap();
    assert!(run(&["store", &store, "--all"]).output.contains("1 recordings closed"));
    // A torn end is said, and what is whole is taken.
    let last = folder.path("store/lab-20260921T141322.000000Z.pcapng");
    let bytes = fs::read(&last).unwrap();
    fs::write(&last, &bytes[..bytes.len() - 5]).unwrap();
    for entry in fs::read_dir(&store).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "parquet") {
            fs::remove_file(path).unwrap();
        }
    }
    run(&["store", &store, "--all"]).told(0, &["141322", "torn"]);
    // One with a wrong length is not torn: what is behind it lies there still. It is kept, as old as it is.
    let first = folder.path("store/lab-20260921T141320.000000Z.pcapng");
    let sound = fs::read(&first).unwrap();
    let mut bytes = sound.clone();
    let length = |at: usize| u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
    let interface = length(0);
    let block = interface + length(interface);
    bytes[block + 6] ^= 8;
    fs::write(&first, &bytes).unwrap();
    fs::remove_file(table_of(&store, "141320")).unwrap();
    run(&["store", &store, "--all", "--keep", "1ns"])
        .told(3, &["141320", "it would hold others", "not closed"]);
    assert_eq!(fs::read(&first).unwrap(), bytes);
    run(&["query", &store]).told(3, &["141320", "it would hold others"]);
    fs::write(&first, &sound).unwrap();
    // One that is no recording is named, and kept from being closed.
    fs::write(folder.path("store/lab-20260921T141323.000000Z.pcapng"), "none").unwrap();
    run(&["store", &store, "--all"])
        .told(3, &["141323", "is not a pcap or pcapng capture", "it is not closed"]);
}

/// Recordings are closed and removed while somebody asks: each answer has all intervals, from wherever they are by then.
#[test]
fn what_is_removed_meanwhile_is_in_every_answer() {
    let folder = Folder::new();
    let intervals = recorded(&folder).len();
    let store = folder.path("store");
    let kept: Vec<(PathBuf, Vec<u8>)> = fs::read_dir(&store)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    for _ in 0..12 {
        for entry in fs::read_dir(&store).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        kept.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
        std::thread::scope(|scope| {
            let closing = scope.spawn(|| run(&["store", &store, "--all", "--keep", "1ns"]));
            while !closing.is_finished() {
                let told = run(&["query", &store, "--json"]);
                told.told(0, &[]);
                assert_eq!(told.json()["intervals"].as_array().unwrap().len(), intervals, "{told:?}");
            }
            assert!(closing.join().unwrap().output.contains("2 removed"));
        });
    }
}

/// Nobody writes to the pipe: whoever opened it would wait. A name with an end of a line in it forges no message.
#[test]
fn what_is_no_file_is_refused_and_names_forge_no_message() {
    let folder = Folder::new();
    let store = folder.path("store");
    fs::create_dir(&store).unwrap();
    let recording = folder.frames("store/lab.pcapng", &control_frames(&said(&LOSSY, 4)));
    let whole = run(&["query", &store, "--json"]).json()["intervals"].as_array().unwrap().len();
    for ending in ["pcapng", "parquet"] {
        let pipe = folder.path(&format!("store/x.{ending}"));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        // What else there is is shown.
        let told = run(&["query", &store, "--json"]);
        told.told(3, &[&pipe, "no regular file"]);
        assert_eq!(told.json()["intervals"].as_array().unwrap().len(), whole);
        if ending == "pcapng" {
            let told = run(&["store", &store, "--json"]);
            told.told(3, &[&pipe, "no regular file"]);
            assert_eq!(told.json()["damaged"], serde_json::json!([pipe]));
        }
        fs::remove_file(&pipe).unwrap();
    }
    let link = folder.path("store/y.pcapng");
    std::os::unix::fs::symlink(folder.path("nowhere"), &link).unwrap();
    run(&["query", &store]).told(3, &[&link, "nor a link to one"]);
    fs::remove_file(&link).unwrap();
    fs::remove_file(&recording).unwrap();
    fs::write(folder.path("store/x\ndeltaline: all is well.parquet"), "none").unwrap();
    let forged = run(&["query", &store]);
    forged.told(3, &["damaged, or renamed"]);
    assert!(!forged.messages.contains("\ndeltaline: all is well"), "{}", forged.messages);
}
