//! `--key` and `deltaline key`: frames that are signed, forged, altered, of another key, and a key that changes.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, Run, run};
use deltaline_capture::Packet;
use deltaline_design::load_keys;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::time::Timestamp;
use deltaline_model::wire::authentication::Key;
use deltaline_model::wire::frame::Role;
use serde_json::Value;
use std::path::Path;

/// Intervals of the two points of a path.
const INTERVALS: u32 = 6;

fn key_file(folder: &Folder, name: &str, keys: usize) -> (String, Vec<Key>) {
    let path = folder.path(name);
    for _ in 0..keys {
        run(&["key", &path]).told(0, &[]);
    }
    let all = load_keys(Path::new(&path)).unwrap();
    (path, all.ids().map(|id| all.get(id).unwrap().clone()).collect())
}

/// What two points send that see a thousand packets an interval, 2 µs apart, each with the key that it has at first and, from the third
/// interval on, with the second.
fn frames(first: Option<&Key>, second: Option<&Key>) -> Vec<Packet> {
    frames_changing(first, second, [3, 3])
}

/// The same, where the ends change keys behind the intervals in front of these.
fn frames_changing(first: Option<&Key>, second: Option<&Key>, from: [u32; 2]) -> Vec<Packet> {
    let settings = Settings { rows: 64, prefixes: &[0], digest: true, ..Settings::default() };
    let configuration = Configuration::new(settings).unwrap();
    let mut frames = vec![];
    for (role, delay) in [(Role::Sender, 0), (Role::Receiver, 2_000)] {
        let mut point = MeasurementPoint::new(&configuration, role);
        point.set_boot_epoch(9);
        point.set_key(first.cloned());
        if second.is_some() {
            point.schedule_key(second.cloned(), from[role as usize]);
        }
        for interval in 0..INTERVALS {
            for number in 0..1000_u64 {
                let mut packet = [0; 50];
                packet[12..18].copy_from_slice(&[0x08, 0x00, 0x45, 0, 0, 36]);
                packet[23] = 17;
                packet[42..].copy_from_slice(&(u64::from(interval) << 32 | number).to_be_bytes());
                let time = u64::from(interval) * 1_000_000_000 + 10_000 * number + delay;
                point.observe(&packet, Timestamp::from_nanoseconds(time));
            }
            point.end_interval(IntervalEnd::Delimiter, |frame| {
                frames.push(Packet {
                    timestamp: 0,
                    length: frame.len() as u32,
                    interface: 0,
                    data: frame.to_vec(),
                });
            });
        }
    }
    frames
}

fn decode(folder: &Folder, frames: &[Packet], options: &[&str]) -> Run {
    let path = folder.frames("frames.pcapng", frames);
    run(&[&["decode", "--json", &path], options].concat())
}

/// The mean of each interval, and whether it is authenticated.
fn means(run: &Run) -> Vec<(Option<f64>, bool)> {
    let json = run.json();
    let of = |interval: &Value| (interval["mean_ns"].as_f64(), interval["authenticated"].as_bool().unwrap());
    json["intervals"].as_array().unwrap().iter().map(of).collect()
}

const RIGHT: (Option<f64>, bool) = (Some(2_000.0), true);

/// Gives a frame a right check word again: by its definition, not by the library.
pub(crate) fn forge(frame: &mut Packet, change: impl FnOnce(&mut [u8])) {
    let bytes = &mut frame.data;
    let end = bytes.len() - 8;
    change(&mut bytes[..end]);
    let words: Vec<u64> =
        bytes[8..end].chunks(8).map(|word| u64::from_be_bytes(word.try_into().unwrap())).collect();
    let check = words[1..].iter().fold(words[0] & 0xffff_ffff, |check, word| check.rotate_left(1) ^ word);
    bytes[end..].copy_from_slice(&check.to_be_bytes());
}

#[test]
fn signed_intervals_are_authenticated() {
    let folder = Folder::new();
    let (file, keys) = key_file(&folder, "keys", 1);
    let frames = frames(Some(&keys[0]), None);
    let with_key = decode(&folder, &frames, &["--key", &file]);
    assert_eq!(means(with_key.told(0, &[])), vec![RIGHT; 6]);
    // Without the key they are read all the same, and nothing vouches for them.
    assert_eq!(means(decode(&folder, &frames, &[]).told(0, &[])), vec![(RIGHT.0, false); 6]);
    run(&["decode", &folder.path("frames.pcapng")]).told(0, &["unauthenticated"]);
}

#[test]
fn keys_change_without_a_void_interval() {
    let folder = Folder::new();
    let (file, keys) = key_file(&folder, "keys", 2);
    let frames = frames(Some(&keys[0]), Some(&keys[1]));
    assert_eq!(means(decode(&folder, &frames, &["--key", &file]).told(0, &[])), vec![RIGHT; 6]);
}

/// Whoever has the old key could sign for the end that has it still.
#[test]
fn ends_that_change_keys_at_different_intervals_lose_those_between() {
    let folder = Folder::new();
    let (file, keys) = key_file(&folder, "keys", 2);
    let frames = frames_changing(Some(&keys[0]), Some(&keys[1]), [3, 4]);
    let run = decode(&folder, &frames, &["--key", &file]);
    let found = means(run.told(5, &["the receiver's control frames are signed with key 1"]));
    let void: Vec<usize> = (0..6).filter(|&at| found[at] != RIGHT).collect();
    assert_eq!((void, found[2].0), (vec![2], None));
}

#[test]
fn what_nobody_with_the_key_has_sent_is_left_out() {
    let folder = Folder::new();
    let (file, keys) = key_file(&folder, "keys", 1);
    let (_, others) = key_file(&folder, "others", 2);
    let genuine = frames(Some(&keys[0]), None);
    let mut all = vec![];
    // In front of each frame: the same of another key under the same identifier and under an unknown one, without a key, and
    // altered ones: a total, a cell, the tag, the interval's number.
    let forgers = [Some(&others[0]), Some(&others[1]), None].map(|key| frames(key, None));
    for (at, frame) in genuine.iter().enumerate() {
        all.extend(forgers.iter().map(|frames| frames[at].clone()));
        for byte in [23, 60, 200, frame.data.len() - 9] {
            let mut altered = frame.clone();
            forge(&mut altered, |bytes| bytes[byte] ^= 1);
            all.push(altered);
        }
        all.push(frame.clone());
    }
    let run = decode(&folder, &all, &["--key", &file]);
    assert_eq!(means(run.told(5, &["its tag is wrong", "names key 2", "not authenticated"])), vec![RIGHT; 6]);
    assert_eq!(run.json()["frames"]["unauthentic"], 7 * genuine.len());
}

/// What sends delimiters has started over and the points have not: signed all the same, which of both runs is meant nobody can tell.
#[test]
fn numbers_that_come_again_are_left_out_with_the_remedy() {
    let folder = Folder::new();
    let (file, keys) = key_file(&folder, "keys", 1);
    let all = frames(Some(&keys[0]), None);
    // As they come: one end's and the other's, interval by interval.
    let (sent, received) = all.split_at(all.len() / 2);
    let first: Vec<Packet> = sent.iter().zip(received).flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
    // The last interval of the first run is still open: of that number both would contradict each other.
    let mut second = first[..8].to_vec();
    for frame in &mut second {
        frame.data[60] ^= 1;
        keys[0].sign(&mut frame.data);
    }
    let path = folder.frames("twice.pcapng", &[first, second].concat());
    let run = run(&["read", "--json", &path, "--key", &file]);
    run.told(
        0,
        &[
            "the receiver reports intervals again of the same start, which has come to 5",
            "--first above 5",
            "new boot epoch",
        ],
    );
    let lines: Vec<Value> = run.output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |event: &str| lines.iter().filter(|line| line["event"] == event).collect::<Vec<_>>();
    assert_eq!((of("interval").len(), of("again").len(), of("restart").len()), (6, 2, 0));
    assert_eq!(of("end")[0]["replayed"], 8);
}

/// Old frames of a segment are sent again while another segment is measured as ever: that segment's intervals do not hide it.
#[test]
fn a_segment_of_which_only_replays_come_is_named_while_another_lives() {
    let folder = Folder::new();
    let (file, keys) = key_file(&folder, "keys", 1);
    let all = frames(Some(&keys[0]), None);
    let (sent, received) = all.split_at(all.len() / 2);
    let starved: Vec<Packet> = sent.iter().zip(received).flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
    let living = starved.iter().cloned().map(|mut frame| {
        frame.data[16..20].copy_from_slice(&7u32.to_be_bytes());
        keys[0].sign(&mut frame.data);
        frame
    });
    // In front of each frame of the other segment, eight of the same start's run before: 96 frames in all.
    let old = starved[..8].iter().cloned().map(|mut frame| {
        frame.data[60] ^= 1;
        keys[0].sign(&mut frame.data);
        frame
    });
    let old: Vec<Packet> = old.collect();
    let replayed = living.flat_map(|frame| old.iter().cloned().chain([frame]));
    let path = folder.frames("starved.pcapng", &starved.iter().cloned().chain(replayed).collect::<Vec<_>>());
    let run = run(&["read", "--json", &path, "--key", &file]);
    run.told(5, &["segment 0: its last 64 control frames were all older", "start both points"]);
    let lines: Vec<Value> = run.output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |event: &str| lines.iter().filter(|line| line["event"] == event).collect::<Vec<_>>();
    assert_eq!((of("interval").len(), of("end")[0]["replayed"].as_u64()), (12, Some(96)));
    assert_eq!((of("replayed").len(), &of("replayed")[0]["segment"]), (1, &0.into()));
}

#[test]
fn nothing_authentic_is_no_result() {
    let folder = Folder::new();
    let (file, _) = key_file(&folder, "keys", 1);
    let run = decode(&folder, &frames(None, None), &["--key", &file]);
    run.told(5, &["not authenticated: give its point the key"]);
    assert_eq!(run.json()["overall"], Value::Null);
    assert_eq!(run.json()["intervals"].as_array().unwrap().len(), 0);
}

/// A store with the wrong key closes and removes nothing, and says so.
#[test]
fn a_store_with_the_wrong_key_keeps_its_recordings() {
    let folder = Folder::new();
    let (file, keys) = key_file(&folder, "keys", 1);
    let (other, _) = key_file(&folder, "others", 1);
    std::fs::create_dir(folder.path("store")).unwrap();
    let mut all = frames(Some(&keys[0]), None);
    all.iter_mut().for_each(|frame| frame.timestamp = 1_790_000_000_000_000_000);
    let [first, second] = ["07", "08"].map(|hour| format!("store/north-20260123T{hour}0000.000000Z.pcapng"));
    let count = all.len();
    let paths = [folder.frames(&first, &all), folder.frames(&second, &[])];
    let store = folder.path("store");
    let asked = |key: &str| run(&["store", &store, "--all", "--keep", "1us", "--key", key, "--json"]);
    let wrong = asked(&other);
    wrong.told(
        5,
        &[
            &paths[0],
            "none of its control frames has a right tag",
            "--key",
            "have no right tag: they are left out",
        ],
    );
    let output = wrong.json();
    assert_eq!(
        (&output["distrusted"][0], output["unauthentic"].as_u64()),
        (&paths[0].clone().into(), Some(count as u64))
    );
    assert_eq!((output["intervals"].as_u64(), &output["removed"]), (Some(0), &Value::Array(vec![])));
    run(&["query", &store, "--key", &other])
        .told(6, &["12 have no right tag", "whose control frames are signed", "leave out --key"]);
    let right = asked(&file);
    let output = right.told(0, &[]).json();
    assert_eq!((output["intervals"].as_u64(), &output["removed"][0]), (Some(6), &paths[0].clone().into()));
    assert_eq!(
        (output["distrusted"].as_array().unwrap().len(), output["unauthentic"].as_u64()),
        (0, Some(0))
    );
}

#[test]
fn key_files_are_checked() {
    let folder = Folder::new();
    let (file, _) = key_file(&folder, "keys", 1);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("1 ") && text.trim_end().len() == 34, "{text}");
    let path = folder.frames("frames.pcapng", &frames(None, None));
    run(&["decode", &path, "--key", &folder.path("none")])
        .failed(3, &["none: No such file", "deltaline key"]);
    let open = folder.write("open", &text);
    std::fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    run(&["decode", &path, "--key", &open]).failed(3, &["chmod 600"]);
    run(&["key", "/nowhere/keys"]).failed(7, &["/nowhere/keys"]);
}
