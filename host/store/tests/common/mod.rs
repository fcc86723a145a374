//! Recordings of two points' control frames.
#![allow(clippy::unwrap_used, dead_code, reason = "helpers of tests are tests, and not every test needs all")]

use deltaline_capture::{PacketRef, pcapng_beginning, pcapng_packet};
use deltaline_collect::collector::Collector;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::time::Timestamp;
use deltaline_model::wire::authentication::{Key, Keys};
use deltaline_model::wire::frame::Role;
use std::fs;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

pub(crate) const SECOND: u64 = 1_000_000_000;
pub(crate) const BEGINNING: u64 = 1_790_000_000 * SECOND;

/// The control frames of so many intervals of a second each, with the times when they were captured. The receiver's come a second
/// behind the sender's, so that every cut between recordings goes through an interval.
pub(crate) fn frames(intervals: u32) -> Vec<(u64, Vec<u8>)> {
    frames_of(0, intervals, None)
}

/// The same of any segment, signed with a key if there is one.
pub(crate) fn frames_of(segment: u32, intervals: u32, key: Option<Key>) -> Vec<(u64, Vec<u8>)> {
    frames_with(segment, intervals, 50, key)
}

/// The same with so many packets in each interval.
pub(crate) fn frames_with(
    segment: u32,
    intervals: u32,
    packets: u32,
    key: Option<Key>,
) -> Vec<(u64, Vec<u8>)> {
    let settings = Settings { segment, rows: 16, ..Settings::default() };
    let configuration = Configuration::new(settings).unwrap();
    let mut points = [Role::Sender, Role::Receiver].map(|role| MeasurementPoint::new(&configuration, role));
    if key.is_some() {
        for point in &mut points {
            point.set_boot_epoch(5);
            point.set_key(key.clone());
        }
    }
    let mut frames = vec![];
    for interval in 0..intervals {
        for (end, point) in points.iter_mut().enumerate() {
            for packet in 0..packets {
                if end == 1 && (interval + packet) % 40 == 7 {
                    continue;
                }
                let mut bytes = [0; 46];
                bytes[12..18].copy_from_slice(&[0x08, 0x00, 0x45, 0, 0, 32]);
                bytes[42..].copy_from_slice(&(1000 * interval + packet).to_be_bytes());
                let time = u64::from(interval) * SECOND + u64::from(packet) * 1_000_000;
                point.observe(&bytes, Timestamp::from_nanoseconds(time + 5000 * end as u64));
            }
            let captured = BEGINNING + (u64::from(interval) + 1 + end as u64) * SECOND;
            point.end_interval(IntervalEnd::Delimiter, |frame| frames.push((captured, frame.to_vec())));
        }
    }
    frames.sort_by_key(|(captured, _)| *captured);
    frames
}

/// A key, and what takes frames that it has signed.
pub(crate) fn key(octet: u8) -> (Key, Collector) {
    let key = Key::new(NonZeroU16::MIN, [octet; 16]);
    let mut keys = Keys::default();
    assert!(keys.add(key.clone()));
    (key, Collector::default().authenticated_by(keys))
}

pub(crate) fn recording(frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = pcapng_beginning("eth1", "control frames as they came");
    for (timestamp, data) in frames {
        bytes.extend(pcapng_packet(PacketRef {
            timestamp: *timestamp,
            length: data.len() as u32,
            data,
            interface: 0,
        }));
    }
    bytes
}

/// The name of a recording that begins then.
pub(crate) fn name(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("north-20260123T{:02}{:02}00.000000Z.pcapng", number / 60, number % 60))
}

/// Recordings of another recorder, one for each part.
pub(crate) fn record_as<'a>(
    folder: &Path,
    recorder: &str,
    parts: impl IntoIterator<Item = &'a [(u64, Vec<u8>)]>,
) {
    for (number, part) in parts.into_iter().enumerate() {
        let path = folder.join(format!("{recorder}-20260123T1{number}0000.000000Z.pcapng"));
        fs::write(path, recording(part)).unwrap();
    }
}
