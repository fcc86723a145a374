//! The Wireshark dissector (`host/wireshark/deltaline.lua`) against the model, by tshark.
//!
//! The dissector reads the layout's documentation with its own code, so that each is a check on the other.
//!
//! # Test plan
//!
//! Every field and cell of every golden frame, bare, padded and behind a VLAN tag; the info column; every single-bit
//! error and every cut is shown, and named as the model names it; impossible header fields and unknown kinds under a right
//! check word; a frame of every kind of the registry has its name, its totals and its bytes, and no complaint; other protocols' frames of the same EtherType are left alone. No Lua error on any of them.
//!
//! tshark is the program that the environment variable `DELTALINE_TSHARK` names, else `tshark`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod common;

use common::{golden_frames, golden_frames_v2};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::packet::identity::{Identity, KEY_WORDS};
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::sketch::cell::Cell;
use deltaline_model::sketch::lda;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::check::{check_start, check_step};
use deltaline_model::wire::frame::{BLOCK_CELLS, Frame, FrameError, Header, Role};
use deltaline_model::wire::shape::Kind;
use deltaline_model::wire::{v1, v2};
use serde_json::{Value, json};
use std::env;
use std::process::Command;

const DISSECTOR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../wireshark/deltaline.lua");

/// A frame as captured, and its length on the wire.
type Captured = (Vec<u8>, usize);

fn whole(frames: impl IntoIterator<Item = Vec<u8>>) -> Vec<Captured> {
    frames.into_iter().map(|frame| (frame.clone(), frame.len())).collect()
}

/// A capture file: pcap with nanoseconds, little-endian, link type Ethernet.
fn pcap(frames: &[Captured]) -> Vec<u8> {
    const NANOSECOND_MAGIC: u32 = 0xa1b2_3c4d;
    const VERSION_2_4: u32 = 4 << 16 | 2;
    const ETHERNET: u32 = 1;
    let mut words = vec![NANOSECOND_MAGIC, VERSION_2_4, 0, 0, 65_535, ETHERNET];
    let mut file = vec![];
    for (number, (bytes, wire_length)) in (0..).zip(frames) {
        words.extend([0, number, bytes.len() as u32, *wire_length as u32]);
        file.extend(words.drain(..).flat_map(u32::to_le_bytes));
        file.extend(bytes);
    }
    file
}

/// What tshark with the dissector prints about these frames.
fn tshark(frames: &[Captured], arguments: &[&str]) -> String {
    let program = env::var_os("DELTALINE_TSHARK").unwrap_or_else(|| "tshark".into());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("frames.pcap");
    std::fs::write(&file, pcap(frames)).unwrap();
    let output = Command::new(&program)
        // A user's settings, or the dissector installed for the user, would disturb.
        .env("HOME", folder.path())
        .env("WIRESHARK_CONFIG_DIR", folder.path())
        .env("WIRESHARK_PLUGIN_DIR", folder.path())
        .env("TZ", "UTC")
        .arg("-n")
        .args(["-X", &format!("lua_script:{DISSECTOR}")])
        .arg("-r")
        .arg(&file)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| {
            panic!(
                "cannot run {}: {error}; run `cargo xtask test`, which installs tshark, or `apt-get install tshark`, \
                 or name it in the environment variable DELTALINE_TSHARK",
                program.display()
            )
        });
    let (printed, complaints) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}: {complaints}", output.status);
    assert!(!complaints.contains("Lua") && !complaints.contains("lua"), "{complaints}");
    let error = printed.find("Lua Error").map(|at| printed[at..].lines().next());
    assert_eq!(error, None);
    printed
}

/// The dissector's tree of each frame; null where it left the frame alone.
fn dissect(frames: &[Captured]) -> Vec<Value> {
    let json = tshark(frames, &["-T", "json", "--no-duplicate-keys"]);
    // Later versions of Wireshark write flags as words.
    let json = json.replace("\"True\"", "\"1\"").replace("\"False\"", "\"0\"");
    let Value::Array(packets) = serde_json::from_str(&json).unwrap() else { panic!("no array") };
    assert_eq!(packets.len(), frames.len());
    packets.into_iter().map(|mut packet| packet["_source"]["layers"]["deltaline"].take()).collect()
}

/// The info column of each frame.
fn infos(frames: &[Captured]) -> Vec<String> {
    let lines = tshark(frames, &["-o", "gui.column.format:\"Protocol\",\"%p\",\"Info\",\"%i\""]);
    let lines: Vec<String> = lines.lines().map(|line| line.trim().to_string()).collect();
    assert_eq!(lines.len(), frames.len());
    lines
}

/// How tshark writes a key that comes once or more often.
fn repeated(mut values: Vec<Value>) -> Value {
    if values.len() == 1 { values.remove(0) } else { Value::Array(values) }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}

fn number(value: impl Into<u64>) -> Value {
    Value::String(value.into().to_string())
}

fn blocks(frame: &Frame) -> Value {
    let cells: Vec<Value> = (frame.header.first_cell..)
        .zip(frame.cells::<Cell>())
        .map(|(row, cell)| {
            let mut shown = json!({
                "deltaline.cell.row": number(row),
                "deltaline.cell.count": number(cell.count),
                "deltaline.cell.sum": number(cell.sum),
            });
            if frame.header.shape.has_digests {
                shown["deltaline.cell.digest"] = format!("{:#010x}", cell.digest).into();
            }
            shown
        })
        .collect();
    repeated(cells.chunks(BLOCK_CELLS).map(|cells| json!({ "deltaline.cell": cells })).collect())
}

/// Golden frames of both versions.
fn all_golden_frames() -> Vec<Vec<u8>> {
    [golden_frames(), golden_frames_v2()].concat()
}

/// What the dissector has to show of a frame, by the model's decoding.
fn expected(bytes: &[u8]) -> Value {
    let frame = Frame::decode(bytes).unwrap();
    let Header { role, segment, interval, configuration, fragment, fragments, shape, cells, totals, .. } =
        frame.header;
    let lda::Table { rows, prefixes, has_digests } = lda::Table::read(&shape).unwrap();
    let is_first = bytes[14] == 1;
    // The flags with the reserved bits, which the model ignores.
    let (length, flags) = if is_first {
        (v1::frame_bytes(usize::from(cells), has_digests), [bytes[44], bytes[45]])
    } else {
        (v2::frame_bytes(usize::from(cells), has_digests), [bytes[52], bytes[53]])
    };
    let flag = |set: bool| number(u8::from(set));
    let time = |which: &str, Timestamp(raw)| {
        json!({
            format!("deltaline.{which}_time.nanoseconds"): number(raw >> 16),
            format!("deltaline.{which}_time.fraction"): number(raw & 0xffff),
        })
    };
    let (contents, rest) = bytes.split_at(length);
    let (contents, check) = contents.split_last_chunk::<8>().unwrap();
    let mut tree = json!({
        "deltaline.version": number(bytes[14]),
        "deltaline.role": number(role as u8),
        "deltaline.segment": number(segment),
        "deltaline.interval": number(interval),
        "deltaline.configuration": format!("{configuration:#018x}"),
        "deltaline.fragment": number(fragment),
        "deltaline.fragments": number(fragments),
        "deltaline.cells": number(cells),
        "deltaline.flags": format!("{:#06x}", u16::from_be_bytes(flags)),
        "deltaline.flags_tree": {
            "deltaline.flags.saturated": flag(totals.flags.saturated),
            "deltaline.flags.overrun": flag(totals.flags.overrun),
            "deltaline.flags.clock": flag(totals.flags.clock),
            "deltaline.flags.timed": flag(totals.flags.timed),
            "deltaline.flags.gap": flag(totals.flags.gap),
            "deltaline.flags.digests": flag(has_digests),
        },
        "deltaline.refused_ends": number(totals.refused_ends),
        "deltaline.packets": number(totals.packets),
        "deltaline.bytes": number(totals.bytes),
        "deltaline.first_time": format!("{:#018x}", totals.first.0),
        "deltaline.first_time_tree": time("first", totals.first),
        "deltaline.last_time": format!("{:#018x}", totals.last.0),
        "deltaline.last_time_tree": time("last", totals.last),
        "deltaline.prefixes": hex(&prefixes.to_bytes()),
        "deltaline.prefixes_tree": {
            "deltaline.prefix": repeated(prefixes.lengths().iter().map(|&length| number(length)).collect()),
        },
        "deltaline.unmeasured": number(totals.unmeasured),
        "deltaline.bad": number(totals.bad),
        "deltaline.block": blocks(&frame),
        "deltaline.tag": hex(&contents[contents.len() - 16..]),
        "deltaline.check": format!("{:#018x}", u64::from_be_bytes(*check)),
        "deltaline.check_tree": { "deltaline.check.ok": "1" },
    });
    let header = frame.header;
    let of_version = if is_first {
        json!({
            "deltaline.bank": number(header.table),
            "deltaline.banks": number(shape.tables),
            "deltaline.rows": number(rows as u64),
            "deltaline.first_row": number(header.first_cell),
        })
    } else {
        tree["deltaline.flags_tree"]["deltaline.flags.digest_sum"] = flag(totals.digest_sum.is_some());
        json!({
            "deltaline.kind": number(shape.kind.0),
            "deltaline.table": number(header.table),
            "deltaline.tables": number(shape.tables),
            "deltaline.header_words": number(17u8),
            "deltaline.first_cell": number(header.first_cell),
            "deltaline.cell_bits": number(shape.cell_bits),
            "deltaline.point": number(header.point),
            "deltaline.time_base": number(header.time.map_or(bytes[96], |time| time.base as u8)),
            "deltaline.seconds": number(header.time.map_or(0, |time| time.seconds)),
            "deltaline.time_sum": number(totals.time_sum.unwrap()),
            "deltaline.digest_sum": format!("0x{}", hex(&bytes[112..116]).replace(':', "")),
            "deltaline.mixing": format!("0x{}", hex(&bytes[116..120]).replace(':', "")),
            "deltaline.boot_epoch": number(header.boot_epoch),
            "deltaline.key": number(header.key),
            "deltaline.ignored_delimiters": number(header.totals.ignored_delimiters),
        })
    };
    if let (Value::Object(tree), Value::Object(of_version)) = (&mut tree, of_version) {
        tree.extend(of_version);
    }
    if !rest.is_empty() {
        tree["deltaline.padding"] = hex(rest).into();
    }
    tree
}

/// Whether the key is anywhere in the tree.
fn mentions(tree: &Value, key: &str) -> bool {
    match tree {
        Value::Object(members) => {
            members.contains_key(key) || members.values().any(|member| mentions(member, key))
        }
        Value::Array(elements) => elements.iter().any(|element| mentions(element, key)),
        _ => false,
    }
}

/// Writes the check word that belongs to the contents.
fn set_check(frame: &mut [u8]) {
    let end = frame.len() - 8;
    let check = frame[16..end].chunks_exact(8).fold(check_start(frame[14], frame[15]), |check, word| {
        check_step(check, u64::from_be_bytes(word.try_into().unwrap()))
    });
    frame[end..].copy_from_slice(&check.to_be_bytes());
}

/// A frame of eight cells of each version.
fn short_frames() -> [Vec<u8>; 2] {
    let of_length =
        |frames: Vec<Vec<u8>>, length| frames.into_iter().find(|frame| frame.len() == length).unwrap();
    [
        of_length(golden_frames(), v1::frame_bytes(8, false)),
        of_length(golden_frames_v2(), v2::frame_bytes(8, false)),
    ]
}

#[test]
fn every_field_and_cell_of_every_golden_frame() {
    let frames = all_golden_frames();
    for (tree, frame) in dissect(&whole(frames.clone())).iter().zip(&frames) {
        assert_eq!(tree, &expected(frame));
    }
}

#[test]
fn padding_and_tags_change_nothing() {
    let padded = all_golden_frames().into_iter().map(|frame| [&frame[..], &[0xaa; 9]].concat());
    let padded: Vec<Vec<u8>> = padded.collect();
    for (tree, frame) in dissect(&whole(padded.clone())).iter().zip(&padded) {
        assert_eq!(tree, &expected(frame));
    }

    let frames = all_golden_frames();
    let tagged = frames.iter().map(|frame| [&frame[..12], &[0x81, 0, 0, 5], &frame[12..]].concat());
    for (tree, frame) in dissect(&whole(tagged)).iter().zip(&frames) {
        assert_eq!(tree, &expected(frame));
    }
}

#[test]
fn the_info_column_shows_the_place_in_the_interval() {
    let infos = infos(&whole(all_golden_frames()));
    let split: Vec<(&str, &str)> = infos.iter().map(|line| line.split_once(' ').unwrap()).collect();
    assert!(split.iter().all(|(protocol, _)| *protocol == "Deltaline"));
    let info = |at: usize| split[at].1.trim();
    assert_eq!(info(0), "sender interval 0 bank 0 rows 0..15 (fragment 0 of 2)");
    assert_eq!(info(9), "receiver interval 1 bank 1 rows 0..15 (fragment 1 of 2)");
    assert_eq!(info(19), "sender interval 0 bank 7 rows 0..7 (fragment 7 of 8)");
    assert_eq!(info(21), "receiver interval 4294967295 bank 0 rows 128..255 (fragment 1 of 16)");
    assert_eq!(info(35), "receiver interval 4294967295 bank 1 rows 896..1023 (fragment 15 of 16)");
    let second = golden_frames().len();
    assert_eq!(info(second), "sender interval 0 table 0 cells 0..15 (fragment 0 of 2)");
    assert_eq!(info(second + 35), "receiver interval 4294967295 table 1 cells 896..1023 (fragment 15 of 16)");
}

#[test]
fn every_single_bit_error_is_shown_as_the_model_names_it() {
    for frame in short_frames() {
        let broken: Vec<Vec<u8>> = (14 * 8..frame.len() * 8)
            .map(|bit| {
                let mut broken = frame.clone();
                broken[bit / 8] ^= 0x80 >> (bit % 8);
                broken
            })
            .collect();
        let mut wrong_checks = 0;
        for (tree, frame) in dissect(&whole(broken.clone())).iter().zip(&broken) {
            match Frame::decode(frame).unwrap_err() {
                FrameError::Check { found, expected } => {
                    assert_eq!(tree["deltaline.check"], format!("{found:#018x}"));
                    let check = &tree["deltaline.check_tree"];
                    assert_eq!(check["deltaline.check.ok"], "0");
                    assert_eq!(check["deltaline.check.expected"], format!("{expected:#018x}"));
                    assert!(mentions(check, "deltaline.check.bad"));
                    wrong_checks += 1;
                }
                FrameError::Truncated(..) => assert!(mentions(tree, "deltaline.truncated"), "{tree}"),
                FrameError::Version(_) => assert!(mentions(tree, "deltaline.version.unknown"), "{tree}"),
                FrameError::Delimiter => assert_eq!(tree["deltaline.role"], "2"),
                FrameError::Field(_) => assert!(mentions(tree, "deltaline.contradiction"), "{tree}"),
                error => panic!("{error}"),
            }
        }
        let bits = (frame.len() - 14) * 8;
        match frame[14] {
            // All but those of the version and of the number of cells, the one that makes eight cells none, the one that
            // makes a sender's role that of delimiters, and the one that says that there are digests, for which the frame
            // is too short.
            1 => assert_eq!(wrong_checks, bits - 3 * 8 + 1 - 2),
            // All but those of the version, and of header words, cells and cell bits where they are contradictory or make
            // the frame longer: seven bits of 17 words, fifteen of 8 cells, 14 of 72 bits.
            _ => assert_eq!(wrong_checks, bits - 8 - 7 - 15 - 14),
        }
    }
}

#[test]
fn every_cut_is_shown() {
    for frame in [golden_frames().remove(0), golden_frames_v2().remove(0)] {
        let cut = |wire_length: fn(usize, usize) -> usize| -> Vec<Captured> {
            let cut = |length| (frame[..length].to_vec(), wire_length(length, frame.len()));
            (0..frame.len()).map(cut).collect()
        };
        let front = if frame[14] == 1 { 96 } else { 136 };
        // By a snap length, and on the wire.
        for frames in [cut(|_, whole| whole), cut(|length, _| length)] {
            for (length, tree) in dissect(&frames).iter().enumerate() {
                assert_eq!(mentions(tree, "deltaline.truncated"), length >= 16, "{length} bytes: {tree}");
                assert!(!mentions(tree, "deltaline.check.ok"), "{length} bytes: {tree}");
                let cells = if length >= front { (length - front) / 72 * 8 } else { 0 };
                assert_eq!(mentions(tree, "deltaline.cell"), cells > 0, "{length} bytes: {tree}");
            }
        }
        let info = infos(&[(frame[..100].to_vec(), frame.len())]).remove(0);
        assert!(info.ends_with("s 0..15 (fragment 0 of 2) [truncated]"), "{info}");
    }
}

/// Intervals of one, two and eight frames a bank.
const VARIED: [usize; 4] = [0, 1, 15, 24];
const VALUES: [u8; 12] = [0, 1, 2, 3, 7, 8, 9, 16, 17, 64, 128, 255];

/// Changed header bytes under a right check word; returns the names of the fields that contradict.
fn contradictions(golden: &[Vec<u8>], bytes: &[usize]) -> Vec<&'static str> {
    let mut frames = vec![];
    for original in VARIED.map(|at| &golden[at]) {
        for &at in bytes {
            for value in VALUES {
                let mut frame = original.clone();
                frame[at] = value;
                set_check(&mut frame);
                frames.push(frame);
            }
        }
    }
    let mut names = std::collections::BTreeSet::new();
    for ((info, tree), frame) in
        infos(&whole(frames.clone())).iter().zip(dissect(&whole(frames.clone()))).zip(&frames)
    {
        match Frame::decode(frame) {
            Ok(_) => assert_eq!(tree, expected(frame)),
            // The dissector decodes the tables of the LDA alone.
            Err(FrameError::Field(_)) if frame[14] == v2::VERSION && frame[36] != Kind::LDA.0 => {
                assert!(info.ends_with("[tables not decoded]"), "{info}");
                names.insert("kind of other tables");
            }
            Err(FrameError::Field(name)) => {
                assert!(mentions(&tree, "deltaline.contradiction"), "{name}: {tree}");
                let ours = if name == "prefix lengths" { "prefixes".into() } else { name.replace(' ', "_") };
                assert!(info.ends_with(&format!("[contradictory {ours}]")), "{name}: {info}");
                names.insert(name);
            }
            Err(FrameError::Kind(header)) => {
                assert!(info.ends_with("[unknown kind]"), "{info}");
                assert!(mentions(&tree, "deltaline.kind.unknown"), "{tree}");
                assert_eq!(tree["deltaline.packets"], number(header.totals.packets));
                assert!(mentions(&tree, "deltaline.blocks") && !mentions(&tree, "deltaline.cell"), "{tree}");
                names.insert("kind");
            }
            // Where a field makes the frame longer, it ends too early; where shorter, the check word is elsewhere.
            Err(FrameError::Truncated(..)) => assert!(mentions(&tree, "deltaline.truncated"), "{tree}"),
            Err(FrameError::Check { .. }) => assert!(mentions(&tree, "deltaline.check.bad"), "{tree}"),
            Err(error) => panic!("{error}"),
        }
    }
    names.into_iter().collect()
}

#[test]
fn impossible_fields_are_shown_under_a_right_check_word() {
    let bytes: Vec<usize> = (36..42).chain([33, 35, 45]).chain(80..88).collect();
    let all = ["bank", "banks", "cells", "first row", "fragment", "fragments", "prefix lengths", "rows"];
    assert_eq!(contradictions(&golden_frames(), &bytes), all);
    let bytes: Vec<usize> = (36..48).chain([33, 35, 53]).chain(128..136).collect();
    let all = [
        "cell bits",
        "cells",
        "first cell",
        "fragment",
        "fragments",
        "header words",
        "kind",
        "kind of other tables",
        "prefix lengths",
        "table",
        "table cells",
        "tables",
    ];
    assert_eq!(contradictions(&golden_frames_v2(), &bytes), all);
}

#[test]
fn every_kind_has_a_name_and_its_totals() {
    let sent = |kind: Kind| {
        let settings =
            Settings { synopsis: kind, rows: 128, prefixes: kind.default_prefixes(), ..Settings::default() };
        let mut point = MeasurementPoint::new(&Configuration::new(settings).unwrap(), Role::Sender);
        for number in 0..100 {
            let identity = Identity { key: [number; KEY_WORDS].into(), ip_length: 100, truncated: false };
            point.record(&identity, Timestamp(u64::from(number) << 16));
        }
        let mut frames = vec![];
        point.end_interval(IntervalEnd::Delimiter, |frame| frames.push(frame.to_vec()));
        frames.swap_remove(0)
    };
    let kinds: Vec<Kind> = Kind::all().collect();
    let frames: Vec<Vec<u8>> = kinds.iter().copied().map(sent).collect();
    let text = tshark(&whole(frames.clone()), &["-V"]);
    let shown: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("Kind: ")).collect();
    assert_eq!(shown.len(), kinds.len(), "{shown:?}");
    for (((kind, shown), tree), info) in
        kinds.iter().zip(shown).zip(dissect(&whole(frames.clone()))).zip(infos(&whole(frames.clone())))
    {
        let name = shown.strip_suffix(&format!(" ({})", kind.0));
        assert!(name.is_some_and(|name| name != "Unknown"), "{kind:?}: {shown}");
        assert_eq!(tree["deltaline.packets"], "100", "{kind:?}");
        assert_eq!(tree["deltaline.check_tree"]["deltaline.check.ok"], "1", "{kind:?}");
        let is_lda = *kind == Kind::LDA;
        assert_eq!(mentions(&tree, "deltaline.cell"), is_lda, "{kind:?}");
        assert_eq!(mentions(&tree, "deltaline.blocks"), !is_lda, "{kind:?}");
        assert_eq!(mentions(&tree, "deltaline.kind.undecoded"), !is_lda, "{kind:?}");
        assert_eq!(info.ends_with("[tables not decoded]"), !is_lda, "{info}");
        for complaint in ["kind.unknown", "contradiction", "truncated"] {
            assert!(!mentions(&tree, &format!("deltaline.{complaint}")), "{kind:?}: {tree}");
        }
    }
}

#[test]
fn other_protocols_are_left_alone() {
    let [frame, second] = short_frames();
    let from_elsewhere = [&frame[..6], &[2, 0, 0, 0, 0, 1], &frame[12..]].concat();
    let mut foreign = from_elsewhere.clone();
    foreign[100] ^= 1;
    let mut later_version = frame.clone();
    later_version[14] = 3;
    let second_from_elsewhere = [&second[..6], &[2, 0, 0, 0, 0, 1], &second[12..]].concat();
    let text = [&from_elsewhere[..14], b"\x01\x00 another protocol"].concat();
    let trees = dissect(&whole([
        from_elsewhere.clone(),
        foreign,
        text,
        later_version,
        second_from_elsewhere.clone(),
    ]));
    assert_eq!(trees[0], expected(&from_elsewhere));
    assert_eq!(trees[1], Value::Null);
    assert_eq!(trees[2], Value::Null);
    assert_eq!(trees[4], expected(&second_from_elsewhere));
    assert_eq!(trees[3]["deltaline.version"], "3");
    assert!(mentions(&trees[3], "deltaline.version.unknown"));
    assert!(!mentions(&trees[3], "deltaline.role"));
}
