//! The page, read as somebody reads it who has nothing else of ours.

use super::page;
use crate::emit::package::{File, package};
use deltaline_design::{Design, shipped_names};
use deltaline_model::ascon;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::authentication::Key;
use deltaline_model::wire::delimiter::Delimiter;
use deltaline_model::wire::reference::Reference;
use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroU16;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What a page says outside of code.
fn prose(page: &str) -> String {
    let outside_blocks = page.split("```").step_by(2).collect::<String>();
    outside_blocks.split('`').step_by(2).collect()
}

/// The anchors of a page's headings, as those who show it make them.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-"))
        .map(|anchor| anchor.replace(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'), ""))
        .collect()
}

/// The links of a page that lead nowhere.
fn dangling(page: &str, files: &[File]) -> Vec<String> {
    let text = prose(page);
    let links = text.split('[').skip(1).map(|part| {
        let (label, rest) = part.split_once(']').unwrap_or((part, ""));
        (label, rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(target, _)| target))
    });
    let leads = |target: &str| match target.strip_prefix('#') {
        Some(anchor) => anchors(page).contains(anchor),
        None => files.iter().any(|file| file.name == target),
    };
    links.filter(|(_, target)| !target.is_some_and(leads)).map(|(label, _)| label.to_string()).collect()
}

#[test]
fn no_link_dangles() {
    let check = |page: &str, files: &[File]| {
        let found = dangling(page, files);
        assert!(found.is_empty(), "{found:?}: `link` says what stands for it");
        // Nor does a page name a place in our sources.
        for place in ["crate::", "docs/", ".rs"] {
            assert!(!page.contains(place), "{place}");
        }
    };
    for name in shipped_names().split(", ") {
        check(&page(&Design::named(name).unwrap()), &[]);
    }
    check(&page_of("10g", &[("[stream]", "references = true\n[stream]")]), &[]);
    // A tap with registers, and a core without.
    for name in ["10g", "1g"] {
        let files = package(&Design::named(name).unwrap(), "tap").unwrap();
        let pages: Vec<&File> = files.iter().filter(|file| file.name.ends_with(".md")).collect();
        assert_eq!(pages.len(), if name == "1g" { 2 } else { 3 });
        pages.iter().for_each(|page| check(&page.text, &files));
    }
    // What would be found.
    let page = "# A b\n[x](#a-b) `y[0]` [`Kind`] [z](#c) [w](crate::w)\n";
    assert_eq!(dangling(page, &[]), ["", "z", "w"]);
}

/// The numbers behind `name` in a page's text, up to one that ends with a full stop or is followed by words.
fn numbers(page: &str, name: &str) -> Vec<u64> {
    let (_, text) = page.split_once(name).unwrap();
    text.split([',', ' ', '\n']).filter(|word| !word.is_empty()).map_while(|word| word.parse().ok()).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        text.chars().filter_map(|digit| digit.to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// `n` rounds with constants from `first` on.
fn rounds(value: u32, n: u64, first: u64, seed: u64) -> u32 {
    let (mut x, mut y) = ((value >> 16) as u16, value as u16);
    for number in first..first + n {
        let constant = xxh3_64_with_seed(&number.to_le_bytes(), seed) as u16;
        x = x.rotate_right(7).wrapping_add(y) ^ constant;
        y = y.rotate_left(2) ^ x;
    }
    u32::from(x) << 16 | u32::from(y)
}

/// "Key", of an IPv4 packet without tags and options.
fn key(frame: &[u8]) -> Vec<u8> {
    let mut payload = frame[34..62].to_vec();
    payload[6..8].fill(0);
    let header = [&[frame[14], 0][..], &frame[16..22], &[0, frame[23], 0, 0], &frame[26..34]].concat();
    [&header[..], &[0; 20], &payload].concat()
}

/// "Hash", H3.
fn hash(key: &[u8], seed: u64) -> u64 {
    let is_set = |bit: &u64| key[*bit as usize / 8] << (bit % 8) & 0x80 != 0;
    (0..544u64).filter(is_set).fold(0, |sum, bit| sum ^ xxh3_64_with_seed(&bit.to_le_bytes(), seed))
}

/// "Cells": the columns of the example's table behind n.
fn columns(hash: u64, seed: u64, prefixes: &[u64], rows: u64, heads: &[&str]) -> Vec<String> {
    let place = rounds(((hash >> 48) << 16 | hash & 0xffff) as u32, 4, 568, seed);
    let bank = prefixes.iter().rposition(|length| *length <= u64::from(place.leading_zeros()));
    let middle = (hash >> 16) as u32;
    let id =
        u64::from(rounds((hash >> 32) as u32, 6, 550, 0)) << 32 | u64::from(rounds(hash as u32, 6, 556, 0));
    let row = match bank {
        None => "-".to_string(),
        Some(_) if heads.contains(&"check") => {
            [48, 32, 16, 0].map(|shift| ((id >> shift & 0xffff) % rows).to_string()).join(", ")
        }
        Some(_) => (u64::from(place) % rows).to_string(),
    };
    let of = |head: &&str| match *head {
        "hash" => format!("{hash:016x}"),
        "place" => format!("{place:08x}"),
        "bank" => bank.map_or("-".into(), |bank| bank.to_string()),
        "row" => row.clone(),
        "digest" => format!("{:08x}", rounds(middle, 6, 544, seed)),
        "check" => format!("{:08x}", rounds(middle, 6, 562, 0)),
        "identifier" => format!("{id:016x}"),
        other => other.into(),
    };
    heads.iter().map(of).collect()
}

/// A page's example computed anew; the columns that its table has.
fn check(page: &str) -> Vec<String> {
    let (_, example) = page.split_once("## Example").unwrap();
    let [seed] = numbers(example, "seed ")[..] else { unreachable!("one seed") };
    let prefixes = numbers(example, "prefix lengths ");
    let (rows, prefixes) = prefixes.split_last().unwrap();
    let block = example.split("```").nth(1).unwrap().strip_prefix("text").unwrap();
    let (frame, expected) = block.split_once("\n\n").unwrap();
    let mut frame = unhex(frame);
    assert_eq!(key(&frame), unhex(expected));
    let mut lines = example.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let heads: Vec<&str> = lines.next().unwrap().split(" | ").skip(1).collect();
    let (mut packets, mut sampled) = (0u16, 0);
    for line in lines {
        frame[18..20].copy_from_slice(&packets.to_be_bytes());
        let expected = columns(hash(&key(&frame), seed), seed, prefixes, *rows, &heads);
        let found: Vec<&str> = line.split(" | ").collect();
        assert_eq!(found[0], packets.to_string());
        assert_eq!(found[1..], expected[..]);
        packets += 1;
        sampled += usize::from(expected[2] != "-");
    }
    assert!(packets == 8 && sampled > 0, "{packets} packets, {sampled} sampled");
    heads.into_iter().map(String::from).collect()
}

/// The example of slices computed anew: which packets start one, where each counts, and what the records hold.
fn check_slices(page: &str) {
    let (_, example) = page.split_once("## Example").unwrap();
    let [seed] = numbers(example, "seed ")[..] else { unreachable!("one seed") };
    let [zeros, rows] = numbers(example, "prefix lengths ")[..] else { unreachable!("one prefix length") };
    let block = example.split("```").nth(1).unwrap().strip_prefix("text").unwrap();
    let mut frame = unhex(block.split_once("\n\n").unwrap().0);
    let lines: Vec<Vec<&str>> = example
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
        .map(|line| line.split(" | ").collect())
        .collect();
    let (packets, found) = lines.split_at(lines.iter().position(|line| line[0] == "record").unwrap());
    let mut records: Vec<[u64; 4]> = vec![];
    for (time, line) in (1000..).step_by(1000).zip(&packets[1..]) {
        frame[18..20].copy_from_slice(&line[0].parse::<u16>().unwrap().to_be_bytes());
        let hash = hash(&key(&frame), seed);
        let place = rounds(((hash >> 48) << 16 | hash & 0xffff) as u32, 4, 568, seed);
        let starts = u64::from(place.leading_zeros()) >= zeros;
        match records.last_mut() {
            _ if starts => records.push([place.into(), time, 1, time]),
            Some(record) => (record[2], record[3]) = (record[2] + 1, record[3] + time),
            None => {}
        }
        let starts = if starts { "yes" } else { "-" };
        let record = records.len().checked_sub(1).map_or("-".to_string(), |record| record.to_string());
        assert_eq!(line[1..], [format!("{place:08x}").as_str(), starts, &record]);
    }
    assert!(packets.len() == 9 && records.len() == 2 && records.len() as u64 <= rows / 2);
    let expected: Vec<Vec<String>> = (0..)
        .zip(records)
        .map(|(number, [place, rest @ ..])| {
            let rest = rest.map(|value| value.to_string());
            [&[format!("{number}"), format!("{place:08x}")][..], &rest].concat()
        })
        .collect();
    assert_eq!(found[1..], expected[..]);
}

/// The page of a shipped design with some of its file replaced.
fn page_of(name: &str, replaced: &[(&str, &str)]) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/configurations");
    let mut text = fs::read_to_string(format!("{folder}/{name}.toml")).unwrap();
    for (from, to) in replaced {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    page(&Design::parse("tap.toml", "tap", &text).unwrap())
}

#[test]
fn the_page_is_enough_to_compute_a_cell() {
    let always = ["hash", "place", "bank", "row"];
    let synopsis = |name| ("synopsis = \"lda\"", name);
    for (name, replaced, further) in [
        ("10g", vec![], &[][..]),
        ("10g", vec![("seed = 1\n", "seed = 81985529216486895\n")], &[]),
        ("10g-quantiles", vec![], &["digest"]),
        ("10g", vec![synopsis("synopsis = \"finecomb\"")], &["identifier"]),
        (
            "10g",
            vec![synopsis("synopsis = \"identity\""), ("prefixes = [1, 6]", "prefixes = [0]")],
            &["check", "identifier"],
        ),
    ] {
        assert_eq!(check(&page_of(name, &replaced)), [&always[..], further].concat(), "{name}, {replaced:?}");
    }
}

#[test]
fn the_page_is_enough_to_compute_a_record() {
    check_slices(&page_of("10g-slices", &[]));
    check_slices(&page_of("1g-slices", &[("seed = 1\n", "seed = 81985529216486895\n")]));
}

/// The canonical bytes of the default design, by hand from the page's table, and their tag under its seed.
#[test]
fn the_page_is_enough_to_compute_the_identifier() {
    let items: [(u16, &[u8]); 11] = [
        (1, &[0; 4]),
        (2, &[0]),
        (4, &[]),
        (5, &[1]),
        (6, &[4]),
        (7, &[1]),
        (257, &[0, 0, 4, 0]),
        (258, &[2]),
        (259, &[0]),
        (260, &[1, 6]),
        (261, &[0]),
    ];
    let bytes = items.map(|(number, value)| {
        [&number.to_be_bytes()[..], &(value.len() as u16).to_be_bytes(), value].concat()
    });
    let page = page_of("10g", &[]);
    let (_, section) = page.split_once("## Configuration identifier").unwrap();
    let block = section.split("```").nth(1).unwrap().strip_prefix("text").unwrap();
    assert_eq!(unhex(block), bytes.concat());
    let tag = ascon::tag(b"\0\0\0\0\0\0\0\x01identity", [0; 16], &bytes.concat());
    let digits: String = tag[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(section.contains(&format!("the identifier is `0x{digits}`")));
}

/// The page's delimiter is one of the design, and has the tag of the key that it names.
#[test]
fn a_signed_frame_is_there_with_keys() {
    let with = page_of("10g", &[("authentication = false", "authentication = true")]);
    let section = with.split_once("## Authentication\n").unwrap().1.split_once("\n## ").unwrap().0;
    let (_, dump) = section.rsplit_once("```text\n").unwrap();
    let bytes: Vec<u8> = dump
        .split("```")
        .next()
        .unwrap()
        .split_whitespace()
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect();
    let design = Design::named("10g").unwrap();
    let read = Delimiter::of(design.configuration(), &bytes).unwrap();
    assert_eq!((read.interval, read.boot_epoch, read.key, bytes.len()), (5, 9, 1, 64));
    let key = Key::new(NonZeroU16::MIN, std::array::from_fn(|byte| byte as u8));
    assert!(key.has_signed(&bytes));
    assert!(!page_of("10g", &[]).contains("signed with key 1"));
}

#[test]
fn reference_packets_are_there_with_those_who_have_them() {
    let with = page_of("10g", &[("[stream]", "references = true\n[stream]")]);
    let section = with.split_once("## Reference packets\n").unwrap().1.split_once("\n## ").unwrap().0;
    assert!(
        section.contains("| 32     | 8     | sent |") && section.contains("[delimiter](#delimiters)"),
        "{section}"
    );
    let lines = section.split_once("```text\n").unwrap().1.split_once("\n```").unwrap().0.split_whitespace();
    let bytes: Vec<u8> = lines.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
    let design = Design::named("10g").unwrap();
    let read = Reference::of(design.configuration(), &bytes).unwrap();
    assert_eq!((read.number, read.sent, bytes.len()), (5, Timestamp(0x1234_5678_9abc_def0), 64));
    assert!(!section.contains("](crate") && !section.contains("[`"), "{section}");
    assert!(!page_of("10g", &[]).contains("Reference packets"));
}
