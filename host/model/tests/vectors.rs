//! The model against the golden vectors in `vectors/`.
//!
//! # Test plan
//!
//! Every control frame decodes and encodes to the same bytes, and intervals are complete; the frames whose contents
//! are known are compared field by field with numbers written here, since encoder and decoder could be wrong in the
//! same way. Digest sums beside the cells. Every identity vector, those written by hand among them, every hash and every digest.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod common;

use common::{golden_frames, golden_frames_v2, lines, unhex};
use deltaline_model::packet::hash::{HashKind, LinearHash};
use deltaline_model::packet::identity::{Identity, KEY_BYTES, Key, Unmeasured, identify};
use deltaline_model::sketch::cell::{Cell, Row};
use deltaline_model::sketch::digest::{self, PacketDigest};
use deltaline_model::sketch::field_cell::FieldCell;
use deltaline_model::sketch::lda;
use deltaline_model::sketch::packet_id::PacketId;
use deltaline_model::sketch::place::Placement;
use deltaline_model::sketch::sampler::Prefixes;
use deltaline_model::time::{AbsoluteTime, TimeBase, Timestamp};
use deltaline_model::wire::frame::{Flags, Frame, FrameError, Header, MAX_FRAME_BYTES, Role, Totals};
use deltaline_model::wire::shape::Kind;
use deltaline_model::wire::{v1, v2};

type Encode = fn(&Header, &[Cell], &mut [u8]) -> Result<usize, FrameError>;

#[test]
fn every_frame_decodes_and_encodes_to_itself() {
    let versions: [(_, Encode); 2] = [(golden_frames(), v1::encode), (golden_frames_v2(), v2::encode)];
    for (frames, encode) in versions {
        let mut expected_fragment = 0;
        let mut buffer = [0; MAX_FRAME_BYTES];
        for bytes in frames {
            let frame = Frame::decode(&bytes).unwrap();
            let cells: Vec<Cell> = frame.cells().collect();
            let length = encode(&frame.header, &cells, &mut buffer).unwrap();
            assert_eq!(buffer[..length], bytes);

            assert_eq!(frame.header.fragment, expected_fragment);
            expected_fragment = (expected_fragment + 1) % frame.header.fragments;
        }
        assert_eq!(expected_fragment, 0, "the last interval is incomplete");
    }
}

/// The frames of the two versions are of the same packets, and their headers say the same where both say something. Cells
/// were picked by the hash itself then.
#[test]
fn versions_agree() {
    let [first, second] = [golden_frames(), golden_frames_v2()];
    assert_eq!(first.len(), second.len());
    for (first, second) in first.iter().zip(&second) {
        let [first, second] = [first, second].map(|bytes| Frame::decode(bytes).unwrap());
        let Header { configuration, point, time, totals, boot_epoch, key, .. } = first.header;
        assert_eq!((point, time, totals.time_sum, totals.digest_sum), (0, None, None, None));
        let totals = Totals { time_sum: None, digest_sum: None, ..second.header.totals };
        let common = Header { configuration, point, time, totals, boot_epoch, key, ..second.header };
        assert_eq!(common, first.header);
    }
}

/// What version 1 does not have: points, absolute times, sums of all packets.
#[test]
fn sums_of_all_packets_stand_beside_the_totals() {
    let golden = golden_frames_v2();
    let headers: Vec<Header> = golden.iter().map(|bytes| Frame::decode(bytes).unwrap().header).collect();
    let of = |role, segment, interval| {
        let is_it =
            |header: &&Header| (header.role, header.segment, header.interval) == (role, segment, interval);
        *headers.iter().find(is_it).unwrap()
    };
    // Packet n is sent at 2^39 + 12,340 n ns and takes 5000 + n mod 97 ns; of every fifty the last is lost.
    let sent = |n: u64| (1 << 39) + 12_340 * n;
    let sums = [Role::Sender, Role::Receiver].map(|role| {
        [0..1000, 1000..1600, 0..0].map(|numbers| match role {
            Role::Sender => numbers.map(sent).sum::<u64>(),
            Role::Receiver => numbers.filter(|n| n % 50 != 49).map(|n| sent(n) + 5000 + n % 97).sum(),
        })
    });
    for segment in [7, 9] {
        for (role, sums) in [Role::Sender, Role::Receiver].into_iter().zip(&sums) {
            for (interval, sum) in (0..).zip(sums) {
                let header = of(role, segment, interval);
                assert_eq!(header.totals.time_sum, Some(*sum), "{role} {segment} {interval}");
                assert_eq!(header.point, 0x1000_0000 + role as u32);
                let seconds = 1_767_225_637 + u64::from(interval);
                assert_eq!(header.time, Some(AbsoluteTime { base: TimeBase::Tai, seconds }));
                // Where cells have digests, so have the totals.
                assert_eq!(header.totals.digest_sum.is_some(), segment == 9);
            }
        }
    }
    // Where packets are lost, digest sums say so; that of an empty interval is zero.
    let digests = |role, interval| of(role, 9, interval).totals.digest_sum;
    assert_ne!(digests(Role::Sender, 0), digests(Role::Receiver, 0));
    assert_eq!([Role::Sender, Role::Receiver].map(|role| digests(role, 2)), [Some(0); 2]);
}

/// Role, interval, packets, bytes, unmeasured, bad, refused ends, flags of an interval.
type Summary = (Role, u32, u64, u64, u32, u32, u16, u16);

#[test]
fn small_intervals_hold_what_was_fed() {
    let mut summaries: Vec<Summary> = vec![];
    let mut sampled: Vec<u32> = vec![];
    for bytes in golden_frames() {
        let frame = Frame::decode(&bytes).unwrap();
        let Header { role, interval, totals: t, fragment, shape, .. } = frame.header;
        if shape.table_cells > 16 || shape.has_digests {
            continue;
        }
        if fragment == 0 {
            let flags = t.flags.to_bits();
            summaries.push((role, interval, t.packets, t.bytes, t.unmeasured, t.bad, t.refused_ends, flags));
            sampled.push(0);
        }
        *sampled.last_mut().unwrap() += frame.cells::<Cell>().map(|cell| cell.count).sum::<u32>();
    }
    // Packets of 60 octets, of which one in 50 is lost.
    let (sender, receiver) = (Role::Sender, Role::Receiver);
    assert_eq!(
        summaries,
        [
            (sender, 0, 1000, 60_000, 0, 0, 0, 0),
            (sender, 1, 600, 36_000, 1, 2, 1, 0b1010),
            (sender, 2, 0, 0, 0, 0, 0, 0b1000),
            (receiver, 0, 980, 58_800, 0, 0, 0, 0),
            (receiver, 1, 588, 35_280, 1, 2, 0, 0b1100),
            (receiver, 2, 0, 0, 0, 0, 0, 0b1000),
            (sender, 0, 4000, 240_000, 0, 0, 0, 0),
        ]
    );
    // Eight banks start with prefix length 0, so that every packet is sampled.
    assert_eq!([sampled[2], sampled[5], sampled[6]], [0, 0, 4000]);
}

#[test]
fn limits_are_decoded_as_written() {
    let golden = golden_frames();
    let frames: Vec<Frame> = golden.iter().map(|bytes| Frame::decode(bytes).unwrap()).collect();
    let frames: Vec<Frame> =
        frames.into_iter().filter(|frame| frame.header.shape.table_cells == 1024).collect();
    assert_eq!(frames.len(), 16);
    for (fragment, frame) in (0..).zip(&frames) {
        let expected = Header {
            role: Role::Receiver,
            segment: 0xfedc_ba98,
            interval: 0xffff_ffff,
            configuration: 0xd4c6_10d3_74a7_5bc0,
            shape: lda::Table { rows: 1024, prefixes: Prefixes::new(&[1, 6]).unwrap(), has_digests: false }
                .shape(),
            fragment,
            fragments: 16,
            table: if fragment < 8 { 0 } else { 1 },
            first_cell: u32::from(fragment) % 8 * 128,
            cells: 128,
            point: 0,
            time: None,
            boot_epoch: 0,
            mixing: 0,
            key: 0,
            totals: Totals {
                packets: 0xffff_ffff_ffff,
                bytes: 0x8123_4567_89ab,
                first: Timestamp(0xffff_ffff_ffff_fffe),
                last: Timestamp(0x8000_0000_0000_8001),
                time_sum: None,
                digest_sum: None,
                unmeasured: 0xffff_ffff,
                bad: 0x8000_0001,
                refused_ends: 0xffff,
                ignored_delimiters: 0,
                flags: Flags { saturated: true, overrun: true, clock: true, timed: true, gap: true },
            },
        };
        assert_eq!(frame.header, expected);
    }
    let cells: Vec<Cell> = frames.iter().flat_map(Frame::cells).collect();
    let limits = [
        Cell { count: 0, sum: 0, digest: 0 },
        Cell { count: 0xffff_ffff, sum: 0xff_ffff_ffff, digest: 0 },
        Cell { count: 0x8000_0000, sum: 0x80_0000_0000, digest: 0 },
        Cell { count: 1, sum: 0xff_0000_0000, digest: 0 },
        Cell { count: 0x7fff_ffff, sum: 0x00_ffff_ffff, digest: 0 },
    ];
    assert_eq!(cells.len(), 2048);
    for twelve in cells.chunks(12) {
        let held = twelve.len().min(5);
        assert_eq!(twelve[..held], limits[..held]);
    }
}

/// The frames with digests, against the LDA of the cells alone: the packets are known from the frames without.
#[test]
fn digest_sums_stand_beside_the_cells() {
    let golden = golden_frames();
    let frames = golden
        .iter()
        .map(|bytes| Frame::decode(bytes).unwrap())
        .filter(|frame| frame.header.shape.has_digests);
    let frames: Vec<Frame> = frames.collect();
    // Two ends, three intervals, two banks, two fragments a bank.
    assert_eq!(frames.len(), 24);
    for frame in &frames {
        assert_eq!((frame.header.cells, frame.header.fragments), (64, 4));
        assert!(frame.cells::<Cell>().all(|cell| (cell.count != 0) == (cell.digest != 0)));
    }
    // What is lost between the ends shows in count and digest alike: a packet of 1.
    let (sender, receiver) = frames.split_at(12);
    let cells = |frames: &[Frame]| frames[..4].iter().flat_map(Frame::cells).collect::<Vec<Cell>>();
    let (sender, receiver) = (cells(sender), cells(receiver));
    let equal_counts = sender.iter().zip(&receiver).filter(|(sent, got)| sent.count == got.count);
    assert!(equal_counts.clone().count() > 200);
    assert!(equal_counts.clone().all(|(sent, got)| sent.agrees(got)));
    let unequal = sender.iter().zip(&receiver).filter(|(sent, got)| sent.count != got.count);
    assert!(unequal.clone().count() > 5);
    assert!(unequal.clone().all(|(sent, got)| sent.digest != got.digest));
}

#[test]
fn every_hash_has_its_digest() {
    let mut checked = 0;
    for (line, columns) in lines(include_str!("../vectors/digests.txt")) {
        let [seed, hash, expected] = columns[..] else { panic!("digests.txt:{line}: unknown columns") };
        let number = |digits| u64::from_str_radix(digits, 16).unwrap();
        let digest = PacketDigest::new(number(seed)).digest(number(hash));
        assert_eq!(u64::from(digest), number(expected), "digests.txt:{line}");
        checked += 1;
    }
    assert_eq!(checked, 40);
}

#[test]
fn every_hash_has_its_place() {
    let mut checked = 0;
    for (line, columns) in lines(include_str!("../vectors/places.txt")) {
        let [seed, hash, expected] = columns[..] else { panic!("places.txt:{line}: unknown columns") };
        let number = |digits| u64::from_str_radix(digits, 16).unwrap();
        let place = Placement::new(number(seed)).place(number(hash));
        assert_eq!(u64::from(place), number(expected), "places.txt:{line}");
        checked += 1;
    }
    assert_eq!(checked, 40);
}

/// The golden intervals' packets are the same whatever counts them, and what a table shows of them is what is known.
#[test]
fn frames_of_other_synopses() {
    let frames: Vec<Vec<u8>> =
        lines(include_str!("../vectors/frames-synopses.hex")).map(|(_, columns)| unhex(columns[0])).collect();
    let (mut finecomb, mut identity) = (0, 0);
    for bytes in &frames {
        let frame = Frame::decode(bytes).unwrap();
        let Header { totals, interval, role, shape, .. } = frame.header;
        let sent = [1000, 600, 0][interval as usize];
        let arrived = sent - if role == Role::Receiver { sent / 50 } else { 0 };
        assert_eq!(totals.packets, arrived);
        assert_eq!((totals.time_sum.is_some(), totals.digest_sum.is_some()), (true, true));
        let mut buffer = [0; MAX_FRAME_BYTES];
        let length = match shape.kind {
            Kind::FINECOMB => {
                finecomb += 1;
                let cells: Vec<FieldCell<2>> = frame.cells().collect();
                v2::encode(&frame.header, &cells, &mut buffer)
            }
            _ => {
                identity += 1;
                let cells: Vec<FieldCell<3>> = frame.cells().collect();
                // Every packet is in each table, with its check.
                assert_eq!(cells.iter().map(|cell| u64::from(cell.count)).sum::<u64>(), arrived);
                let checks = cells.iter().map(|cell| cell.fields[0]).fold(0, digest::add);
                assert_eq!(totals.digest_sum, Some(checks));
                v2::encode(&frame.header, &cells, &mut buffer)
            }
        };
        assert_eq!(&buffer[..length.unwrap()], bytes);
    }
    // Two ends, three intervals; two banks, four tables.
    assert_eq!((finecomb, identity), (12, 24));
}

#[test]
fn every_hash_has_its_identifier() {
    let mut checked = 0;
    for (line, columns) in lines(include_str!("../vectors/identifiers.txt")) {
        let [hash, id, check] = columns[..] else { panic!("identifiers.txt:{line}: unknown columns") };
        let number = |digits| u64::from_str_radix(digits, 16).unwrap();
        let halves = PacketId::default().halves_of(number(hash));
        assert_eq!(
            halves.map(u64::from),
            [number(id) >> 32, number(id) & 0xffff_ffff],
            "identifiers.txt:{line}"
        );
        assert_eq!(
            u64::from(PacketId::default().check_of(number(hash))),
            number(check),
            "identifiers.txt:{line}"
        );
        checked += 1;
    }
    assert_eq!(checked, 95);
}

fn key_of(hex: &str) -> Key {
    let bytes: [u8; KEY_BYTES] = unhex(hex).try_into().unwrap();
    bytes.into()
}

/// Checks all identity vectors of a file; returns how many there are.
fn check_keys(name: &str, text: &str) -> usize {
    let mut checked = 0;
    for (line, columns) in lines(text) {
        let expected = match columns[1..] {
            ["not-ip"] => Err(Unmeasured::NotIp),
            ["malformed"] => Err(Unmeasured::Malformed),
            ["incomplete"] => Err(Unmeasured::Incomplete),
            [key, ip_length, whole] => Ok(Identity {
                key: key_of(key),
                ip_length: ip_length.parse().unwrap(),
                truncated: match whole {
                    "whole" => false,
                    "truncated" => true,
                    other => panic!("{name}:{line}: '{other}' is neither whole nor truncated"),
                },
            }),
            _ => panic!("{name}:{line}: unknown columns"),
        };
        assert_eq!(identify(&unhex(columns[0])), expected, "{name}:{line}");
        checked += 1;
    }
    checked
}

#[test]
fn every_frame_has_its_key() {
    assert!(check_keys("keys.txt", include_str!("../vectors/keys.txt")) >= 30);
}

#[test]
fn every_frame_has_the_key_written_by_hand() {
    assert_eq!(check_keys("keys_by_hand.txt", include_str!("../vectors/keys_by_hand.txt")), 11);
}

#[test]
fn every_key_has_its_hash() {
    let mut checked = 0;
    for (line, columns) in lines(include_str!("../vectors/hashes.txt")) {
        let [kind, seed, key, expected] = columns[..] else { panic!("hashes.txt:{line}: unknown columns") };
        let kind = match kind {
            "h3" => HashKind::H3,
            "rabin" => HashKind::Rabin,
            other => panic!("hashes.txt:{line}: unknown hash '{other}'"),
        };
        let number = |digits| u64::from_str_radix(digits, 16).unwrap();
        let hash = LinearHash::new(kind, number(seed)).hash(&key_of(key));
        assert_eq!(hash, number(expected), "hashes.txt:{line}");
        checked += 1;
    }
    assert_eq!(checked, 80);
}
