//! Runs the program, and makes captures to run it on.
#![allow(clippy::unwrap_used, dead_code, reason = "helpers of tests are tests, and not every test needs all")]

pub(crate) mod board;
pub(crate) mod link;
pub(crate) mod reading;

use deltaline_capture::{Capture, Packet, PcapWriter, PcapngWriter};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The shipped pair of captures.
pub(crate) const SENDER: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../sim/traffic/captures/t1-sender.pcap.zst");
pub(crate) const RECEIVER: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../sim/traffic/captures/t1-receiver.pcap.zst");

/// What a run of the program came to.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) output: String,
    pub(crate) messages: String,
}

impl Run {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.output).unwrap()
    }

    /// Checks the exit code, and that the messages tell each of these.
    #[track_caller]
    pub(crate) fn told(&self, code: i32, parts: &[&str]) -> &Self {
        assert_eq!(self.code, code, "{self:?}");
        for part in parts {
            assert!(self.messages.contains(part), "{part:?} is not in {:?}", self.messages);
        }
        self
    }

    /// As [`Run::told`]; and it was one message, with no result.
    #[track_caller]
    pub(crate) fn failed(&self, code: i32, parts: &[&str]) {
        self.told(code, parts);
        assert_eq!(self.output, "");
        assert_eq!(self.messages.matches("deltaline: ").count(), 1, "{}", self.messages);
    }
}

pub(crate) fn command(arguments: &[impl AsRef<OsStr>]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deltaline"));
    command.args(arguments);
    command
}

pub(crate) fn run(arguments: &[impl AsRef<OsStr>]) -> Run {
    finish(&mut command(arguments))
}

pub(crate) fn finish(command: &mut Command) -> Run {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code().unwrap(), output: text(output.stdout), messages: text(output.stderr) }
}

pub(crate) fn packets(path: impl AsRef<Path>) -> Vec<Packet> {
    Capture::open(path).unwrap().map(Result::unwrap).collect()
}

/// The same without times of day, of which not every source knows.
pub(crate) fn timeless(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let lasting = members.iter().filter(|(key, _)| !key.ends_with("_time"));
            Value::Object(lasting.map(|(key, value)| (key.clone(), timeless(value))).collect())
        }
        Value::Array(values) => Value::Array(values.iter().map(timeless).collect()),
        other => other.clone(),
    }
}

/// The numbers that come of tables, without those that come of the recordings themselves, and without what these say of bounds.
pub(crate) fn of_tables(numbers: &Value) -> Value {
    match numbers {
        Value::Object(members) => {
            let known = |key: &str| ["reordered", "reordered_overall", "compared"].contains(&key);
            let of_tables = members.iter().filter(|(key, _)| !known(key));
            let of_table = |(key, value): (&String, &Value)| match (key.as_str(), value) {
                ("reason", Value::String(reason)) => (key.clone(), without_order(reason)),
                _ => (key.clone(), self::of_tables(value)),
            };
            Value::Object(of_tables.map(of_table).collect())
        }
        Value::Array(all) => all.iter().map(of_tables).collect(),
        other => other.clone(),
    }
}

/// A reason without what is said of a bracket where packets overtook others; none if nothing is left.
fn without_order(reason: &str) -> Value {
    const END: &str = "bounds that do not ask for the order";
    let rest = match reason.split_once(END) {
        Some((said, rest)) if said.starts_with("bracket_ns: ") => rest.trim_start_matches("; "),
        _ => reason,
    };
    if rest.is_empty() { Value::Null } else { rest.into() }
}

/// A pcap file in nanoseconds of this link type: time, length on the wire, and what was recorded.
pub(crate) fn pcap(link_type: u32, records: impl IntoIterator<Item = (u64, u32, Vec<u8>)>) -> Vec<u8> {
    let mut file = vec![];
    file.extend(0xa1b2_3c4d_u32.to_le_bytes());
    file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0]);
    file.extend(link_type.to_le_bytes());
    for (time, length, data) in records {
        for field in [(time / 1_000_000_000) as u32, (time % 1_000_000_000) as u32, data.len() as u32, length]
        {
            file.extend(field.to_le_bytes());
        }
        file.extend(data);
    }
    file
}

/// A folder of files for one test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().into()
    }

    /// A capture of these packets.
    pub(crate) fn capture<'a>(&self, name: &str, packets: impl IntoIterator<Item = &'a Packet>) -> String {
        let path = self.path(name);
        let mut writer = PcapWriter::create(&path).unwrap();
        packets.into_iter().for_each(|packet| writer.write(packet.into()).unwrap());
        writer.finish().unwrap();
        path
    }

    /// As [`Folder::capture`], as pcapng.
    pub(crate) fn frames<'a>(&self, name: &str, packets: impl IntoIterator<Item = &'a Packet>) -> String {
        let path = self.path(name);
        let mut writer = PcapngWriter::create(&path, "", "").unwrap();
        packets.into_iter().for_each(|packet| writer.write(packet.into()).unwrap());
        writer.finish().unwrap();
        path
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn files(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

/// Adds to a recording in pcapng, as dumpcap does at its end, how many packets the interface received, how many it dropped, and how many the system did.
pub(crate) fn add_dropped(path: &str, counts: [u64; 3]) {
    let option =
        |(code, count): (u16, u64)| [&code.to_le_bytes()[..], &[8, 0], &count.to_le_bytes()].concat();
    let options = [4, 5, 7].into_iter().zip(counts).flat_map(option);
    let body: Vec<u8> = [0; 12].into_iter().chain(options).chain([0; 4]).collect();
    let length = (body.len() as u32 + 12).to_le_bytes();
    let bytes = [&std::fs::read(path).unwrap()[..], &[5, 0, 0, 0], &length, &body, &length].concat();
    std::fs::write(path, bytes).unwrap();
}

/// Of the longer packets every other one comes in two fragments.
pub(crate) fn fragmented(packets: Vec<Packet>) -> Vec<Packet> {
    let mut parts = vec![];
    for (number, packet) in packets.into_iter().enumerate() {
        if packet.length < 200 || packet.data[12..14] != [8, 0] || number % 2 == 0 {
            parts.push(packet);
            continue;
        }
        for (field, byte) in [(0x2000u16, 0), (60, 1)] {
            let mut part = packet.clone();
            part.data[20..22].copy_from_slice(&field.to_be_bytes());
            part.data[34] ^= byte;
            parts.push(part);
        }
    }
    parts
}
