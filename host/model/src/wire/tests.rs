//! Both layouts of the control frame.

extern crate std;
use super::check::check_word;
use super::frame::{Flags, Frame, FrameError, Header, MAX_CELLS, MAX_FRAME_BYTES, Role, Totals};
use super::shape::{Kind, OwnWords};
use super::{v1, v2};
use crate::configuration::{Configuration, Settings};
use crate::sketch::cell::Cell;
use crate::time::{AbsoluteTime, TimeBase, Timestamp};
use proptest::prelude::*;
use std::string::ToString;
use std::vec;
use std::vec::Vec;
use xxhash_rust::xxh3::xxh3_64_with_seed;

type Encode = fn(&Header, &[Cell], &mut [u8]) -> Result<usize, FrameError>;

/// A version, its encoder, and the bytes in front of the cells of an LDA.
#[derive(Clone, Copy, Debug)]
struct Layout {
    version: u8,
    encode: Encode,
    front: usize,
}

const V1: Layout = Layout { version: 1, encode: v1::encode, front: 96 };
const V2: Layout = Layout { version: 2, encode: v2::encode, front: 136 };

fn configuration(rows: usize, prefixes: &[u8], digest: bool) -> Configuration {
    let settings = Settings { rows, prefixes, segment: 0x0102_0304, digest, ..Settings::default() };
    Configuration::new(settings).unwrap()
}

fn cells(count: usize, seed: u64, digests: bool) -> Vec<Cell> {
    let word = |i: usize, seed| xxh3_64_with_seed(&i.to_le_bytes(), seed);
    let cell = |i| Cell {
        count: word(2 * i, seed) as u32,
        sum: word(2 * i + 1, seed) >> 24,
        digest: if digests { word(i, !seed) as u32 } else { 0 },
    };
    (0..count).map(cell).collect()
}

impl Layout {
    fn frame(&self, header: &Header, cells: &[Cell]) -> Vec<u8> {
        let mut buffer = [0; MAX_FRAME_BYTES];
        let length = (self.encode)(header, cells, &mut buffer).unwrap();
        buffer[..length].to_vec()
    }

    fn frames(
        &self,
        configuration: &Configuration,
        change: impl Fn(&mut Header),
        cells: &[Cell],
    ) -> Vec<(Header, Vec<u8>)> {
        Header::of_interval(configuration, Role::Receiver, 7, Totals::default())
            .map(|mut header| {
                change(&mut header);
                let cells = &cells[header.cells_before()..][..usize::from(header.cells)];
                (header, self.frame(&header, cells))
            })
            .collect()
    }

    fn plain(&self, rows: usize, prefixes: &[u8]) -> Vec<(Header, Vec<u8>)> {
        let cells = cells(rows * prefixes.len(), 1, false);
        // What version 1 does not have is zero in version 2.
        let version = self.version;
        let change = move |header: &mut Header| header.totals.time_sum = (version == 2).then_some(0);
        self.frames(&configuration(rows, prefixes, false), change, &cells)
    }
}

/// Writes the check word that belongs to the contents.
fn set_check(frame: &mut [u8]) {
    let end = frame.len() - 8;
    let check = check_word(&frame[..end]);
    frame[end..].copy_from_slice(&check.to_be_bytes());
}

fn time() -> impl Strategy<Value = Option<AbsoluteTime>> {
    let base = prop_oneof![Just(TimeBase::Tai), Just(TimeBase::Unix)];
    proptest::option::of((base, 0u64..1 << 48).prop_map(|(base, seconds)| AbsoluteTime { base, seconds }))
}

fn totals() -> impl Strategy<Value = Totals> {
    (any::<[u64; 4]>(), any::<u64>(), any::<Option<u32>>(), any::<[u32; 2]>(), any::<[u16; 2]>(), 0u16..32)
        .prop_map(
            |(
                [packets, bytes, first, last],
                time_sum,
                digest_sum,
                [unmeasured, bad],
                [refused_ends, ignored_delimiters],
                flags,
            )| {
                Totals {
                    packets,
                    bytes,
                    first: Timestamp(first),
                    last: Timestamp(last),
                    time_sum: Some(time_sum),
                    digest_sum,
                    unmeasured,
                    bad,
                    refused_ends,
                    ignored_delimiters,
                    flags: Flags::from_bits(flags),
                }
            },
        )
}

proptest! {
    #[test]
    fn intervals_survive_the_round_trip(
        totals in totals(), time in time(), [point, boot_epoch, mixing]: [u32; 3], key: u16, seed: u64,
        log_rows in 3usize..11, banks in 1usize..5, digests: bool,
    ) {
        let (rows, prefixes) = (1 << log_rows, &[0, 3, 9, 16][..banks]);
        let (configuration, all) = (configuration(rows, prefixes, digests), cells(rows * banks, seed, digests));
        let second = |header: &mut Header| {
            *header = Header { point, time, totals, boot_epoch, key, mixing, ..*header };
        };
        let first = |header: &mut Header| {
            header.totals = Totals { time_sum: None, digest_sum: None, ignored_delimiters: 0, ..totals };
        };
        for frames in [V1.frames(&configuration, first, &all), V2.frames(&configuration, second, &all)] {
            let mut decoded: Vec<Cell> = vec![];
            for (header, bytes) in &frames {
                let frame = Frame::decode(bytes).unwrap();
                prop_assert_eq!(&frame.header, header);
                prop_assert_eq!(usize::from(header.fragments), frames.len());
                prop_assert_eq!(header.cells_before(), decoded.len());
                decoded.extend(frame.cells::<Cell>());
                let padded = [&bytes[..], &[0xaa; 9]].concat();
                prop_assert_eq!(Frame::decode(&padded).unwrap(), frame);
            }
            prop_assert_eq!(decoded, &all[..]);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..400), version in 0u8..4, role in 0u8..4,
        [words, cells, bits] in [14u8..30, 0..17, 0..120],
    ) {
        let _ = Frame::decode(&bytes);
        if bytes.len() > 48 {
            bytes[12..16].copy_from_slice(&[0x88, 0xb5, version, role]);
            bytes[39] = words;
            bytes[42..44].copy_from_slice(&[0, 8]);
            bytes[44..48].copy_from_slice(&[0, cells, 0, bits]);
            let _ = Frame::decode(&bytes);
            // The same under a right check word, wherever the frame ends by its own account.
            let blocks = usize::from(cells / 8) * usize::from(bits);
            let end = if version == 2 { 8 * usize::from(words) + blocks + 24 } else { 192 };
            if let Some(frame) = bytes.get_mut(..end) {
                set_check(frame);
                let is_checked = !matches!(Frame::decode(frame), Err(FrameError::Check { .. }));
                prop_assert!(is_checked || version != 2);
            }
        }
    }

    #[test]
    fn impossible_fields_of_version_1_are_refused_under_a_right_check_word(at in 32usize..44, value: u8) {
        let (_, mut bytes) = V1.plain(256, &[1, 6]).remove(3);
        prop_assume!(bytes[at] != value);
        bytes[at] = value;
        if Frame::decode(&bytes).is_err_and(|error| matches!(error, FrameError::Check { .. })) {
            set_check(&mut bytes);
        }
        prop_assert!(Frame::decode(&bytes).is_err());
    }

    #[test]
    fn impossible_fields_of_version_2_are_refused_under_a_right_check_word(
        at in (32usize..48).prop_union(128..136), value: u8
    ) {
        let (_, mut bytes) = V2.plain(256, &[1, 6]).remove(3);
        prop_assume!(bytes[at] != value);
        bytes[at] = value;
        set_check(&mut bytes);
        match (at, Frame::decode(&bytes)) {
            (36, Err(FrameError::Kind(header))) => prop_assert_eq!(header.shape.kind, Kind(value)),
            // Another prefix length is as good as this one, where it ascends and is not too long.
            (128 | 129, Ok(frame)) => prop_assert_eq!(frame.header.shape.own.as_slice()[0].to_be_bytes()[at - 128], value),
            (_, Err(FrameError::Field(_) | FrameError::Truncated(..) | FrameError::Check { .. })) => {}
            (at, other) => prop_assert!(false, "byte {}: {:?}", at, other),
        }
    }

    #[test]
    fn an_unknown_kind_hands_out_its_totals(
        totals in totals(), time in time(), kind in 128u8.., own in proptest::collection::vec(any::<u64>(), 0..=239),
        blocks in 0usize..5, cell_bytes in 0usize..50, place: [u8; 12],
    ) {
        let cell_bits = 8 * cell_bytes;
        let header = Header { totals, time, point: 77, ..V2.plain(8, &[1]).remove(0).0 };
        let mut words: Vec<u64> = v2::words(&header).take(v2::FIXED_WORDS).collect();
        words[4] = u64::from_be_bytes([place[0], place[1], place[2], place[3], kind, place[4], place[5], 0])
            | (v2::FIXED_WORDS + own.len()) as u64;
        words[5] = u64::from_be_bytes([place[6], place[7], place[8], place[9], 0, 0, 0, 0])
            | (8 * blocks as u64) << 16 | cell_bits as u64;
        words.extend(own);
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        bytes.extend(vec![0x5a; blocks * cell_bits + 24]);
        set_check(&mut bytes);
        let Err(FrameError::Kind(found)) = Frame::decode(&bytes) else { panic!("{:?}", Frame::decode(&bytes)) };
        prop_assert_eq!((found.totals, found.time, found.point, found.shape.kind), (totals, time, 77, Kind(kind)));
        prop_assert!(FrameError::Kind(found).to_string().contains(&totals.packets.to_string()));
    }
}

#[test]
fn every_single_bit_error_and_every_cut_is_refused() {
    for layout in [V1, V2] {
        for (_, bytes) in layout.plain(16, &[2]) {
            for bit in 12 * 8..bytes.len() * 8 {
                let mut broken = bytes.clone();
                broken[bit / 8] ^= 0x80 >> (bit % 8);
                assert!(Frame::decode(&broken).is_err(), "{layout:?}, bit {bit}");
                // A cut elsewhere does not heal it.
                broken.extend([0; 300]);
                assert!(Frame::decode(&broken).is_err(), "{layout:?}, bit {bit}, padded");
            }
            for length in 0..bytes.len() {
                let cut = Frame::decode(&bytes[..length]);
                assert!(matches!(cut, Err(FrameError::Truncated(..))), "{layout:?}, {length} bytes: {cut:?}");
            }
        }
    }
}

#[test]
fn every_burst_of_63_bits_is_refused_and_longer_ones_need_not_be() {
    for layout in [V1, V2] {
        let (_, bytes) = layout.plain(8, &[2]).remove(0);
        let flip = |bytes: &mut [u8], bit: usize| bytes[bit / 8] ^= 0x80 >> (bit % 8);
        for first in 16 * 8..bytes.len() * 8 - 64 {
            for length in 2..=63 {
                // The ends of the burst and noise in between.
                let mut broken = bytes.clone();
                let noise = xxh3_64_with_seed(&[first as u8, (first >> 8) as u8, length as u8], 0);
                for bit in (0..length).filter(|&bit| bit == 0 || bit == length - 1 || noise >> bit & 1 == 1) {
                    flip(&mut broken, first + bit);
                }
                assert!(Frame::decode(&broken).is_err(), "{layout:?}, {length} bits from {first}");
            }
        }
        let mut unnoticed = bytes.clone();
        // A bit, and the one that it is rotated onto in the next word: 64 bits from end to end.
        flip(&mut unnoticed, 8 * layout.front + 1);
        flip(&mut unnoticed, 8 * layout.front + 64);
        assert!(Frame::decode(&unnoticed).is_ok());
    }
}

#[test]
fn a_frame_with_digests_by_hand() {
    let all = cells(128, 2, true);
    for layout in [V1, V2] {
        let (header, bytes) = layout.frames(&configuration(128, &[1], true), |_| {}, &all).remove(1);
        assert_eq!((header.fragments, header.first_cell, header.cells), (2, 64, 64));
        assert_eq!(bytes.len(), layout.front + 8 * 104 + 24);
        match layout.version {
            1 => assert_eq!(bytes[40..48], [0, 64, 0, 64, 0, 0x20, 0, 0]),
            _ => {
                assert_eq!(bytes[40..48], [0, 0, 0, 64, 0, 64, 0, 104]);
                assert_eq!(bytes[52..54], [0, 0x20]);
            }
        }
        // The second block's cells 4 and 5 of 0 to 7: words 6 and 7, digests in word 8.
        let block = &bytes[layout.front + 104..][..104];
        for (index, place) in [(4, 0), (5, 1)] {
            let cell = all[64 + 8 + index];
            assert_eq!(block[8 * (6 + place)..][..4], cell.count.to_be_bytes());
            assert_eq!(block[8 * (6 + place)..][4..8], cell.sum.to_be_bytes()[4..]);
            assert_eq!(block[64 + 4 * place..][..4], cell.digest.to_be_bytes());
            assert_eq!(block[96 + index], (cell.sum >> 32) as u8);
        }
        // Rotated and added word by word from the EtherType on.
        let start = 0x88b5_0001 | u64::from(layout.version) << 8;
        let contents = bytes[16..bytes.len() - 8].chunks_exact(8);
        let words = contents.map(|word| u64::from_be_bytes(word.try_into().unwrap()));
        let expected = words.fold(start, |check, word| check.rotate_left(1) ^ word);
        assert_eq!(bytes[bytes.len() - 8..], expected.to_be_bytes());
    }
}

const ADDRESSES: [u8; 12] = [0x03, 0x44, 0x45, 0x4c, 0x54, 0x41, 0x02, 0x44, 0x45, 0x4c, 0x54, 0x41];

#[test]
fn a_frame_of_version_1_by_hand() {
    let (header, bytes) = V1.plain(8, &[1, 6]).remove(1);
    assert_eq!(bytes.len(), 96 + 72 + 24);
    assert_eq!(bytes[..12], ADDRESSES);
    assert_eq!(bytes[12..24], [0x88, 0xb5, 1, 1, 1, 2, 3, 4, 0, 0, 0, 7]);
    assert_eq!(bytes[24..32], header.configuration.to_be_bytes());
    assert_eq!(bytes[32..48], [0, 1, 0, 2, 1, 2, 0, 8, 0, 0, 0, 8, 0, 0, 0, 0]);
    assert_eq!(bytes[80..88], [1, 6, 255, 255, 255, 255, 255, 255]);
    let third = cells(16, 1, false)[8 + 2];
    assert_eq!(bytes[112..116], third.count.to_be_bytes());
    assert_eq!(bytes[116..120], third.sum.to_be_bytes()[4..]);
    assert_eq!(bytes[96 + 64 + 2], third.sum.to_be_bytes()[3]);
    assert_eq!(bytes[168..184], [0; 16]);
}

#[test]
fn a_frame_of_version_2_by_hand() {
    let all = cells(512, 1, false);
    let change = |header: &mut Header| {
        header.point = 0x0506_0708;
        header.time = Some(AbsoluteTime { base: TimeBase::Unix, seconds: 0x0a0b_0c0d_0e0f });
        header.boot_epoch = 0x1112_1314;
        header.key = 0x1516;
        header.mixing = 0x7576_7778;
        header.totals = Totals {
            packets: 0x2122_2324_2526,
            bytes: 0x3132_3334_3536,
            first: Timestamp(0x4142_4344_4546_4748),
            last: Timestamp(0x5152_5354_5556_5758),
            time_sum: Some(0x6162_6364_6566_6768),
            digest_sum: Some(0x7172_7374),
            unmeasured: 0x8182_8384,
            bad: 0x9192_9394,
            refused_ends: 0xa1a2,
            ignored_delimiters: 0x1718,
            flags: Flags { gap: true, saturated: true, ..Flags::default() },
        };
    };
    let (header, bytes) = V2.frames(&configuration(256, &[1, 6], false), change, &all).remove(3);
    assert_eq!(bytes.len(), 136 + 16 * 72 + 24);
    assert_eq!(bytes[..12], ADDRESSES);
    assert_eq!(bytes[12..24], [0x88, 0xb5, 2, 1, 1, 2, 3, 4, 0, 0, 0, 7]);
    assert_eq!(bytes[24..32], header.configuration.to_be_bytes());
    // The fourth of four fragments, kind 1, table 1 of 2, 17 words; cells 128 to 255, 72 bits each.
    assert_eq!(bytes[32..48], [0, 3, 0, 4, 1, 1, 2, 17, 0, 0, 0, 128, 0, 128, 0, 72]);
    assert_eq!(bytes[48..56], [5, 6, 7, 8, 0, 0b0101_0001, 0xa1, 0xa2]);
    assert_eq!(
        bytes[56..72],
        [0, 0, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0, 0, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36]
    );
    assert_eq!(bytes[72..80], [0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48]);
    assert_eq!(bytes[80..88], [0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58]);
    assert_eq!(bytes[88..96], [0x81, 0x82, 0x83, 0x84, 0x91, 0x92, 0x93, 0x94]);
    assert_eq!(bytes[96..104], [2, 0, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f]);
    assert_eq!(bytes[104..112], [0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68]);
    assert_eq!(bytes[112..120], [0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78]);
    assert_eq!(bytes[120..128], [0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18]);
    assert_eq!(bytes[128..136], [1, 6, 255, 255, 255, 255, 255, 255]);
    let third = all[256 + 128 + 2];
    assert_eq!(bytes[152..156], third.count.to_be_bytes());
    assert_eq!(bytes[156..160], third.sum.to_be_bytes()[4..]);
    assert_eq!(bytes[136 + 64 + 2], third.sum.to_be_bytes()[3]);
    assert_eq!(bytes[136 + 16 * 72..136 + 16 * 72 + 16], [0; 16]);
}

#[test]
fn reserved_bits_of_version_2_are_ignored() {
    let (header, bytes) = V2.plain(8, &[1]).remove(0);
    for (at, value) in [(52, 0xff), (53, 0x80), (97, 0xff), (96, 3)] {
        let mut other = bytes.clone();
        other[at] = value;
        set_check(&mut other);
        assert_eq!(Frame::decode(&other).unwrap().header, header, "byte {at}");
    }
}

#[test]
fn fields_that_contradict_the_others_are_named() {
    let named = |at: usize, value: u8| {
        let (_, mut bytes) = V2.plain(256, &[1, 6]).remove(3);
        bytes[at] = value;
        // Fields that make the frame longer need not meet its end.
        bytes
            .resize(8 * usize::from(bytes[39]) + usize::from(bytes[45] / 8) * usize::from(bytes[47]) + 24, 0);
        set_check(&mut bytes);
        match Frame::decode(&bytes) {
            Err(FrameError::Field(name)) => name,
            other => panic!("byte {at}: {other:?}"),
        }
    };
    for (at, value, name) in [
        (15, 3, "role"),
        (33, 4, "fragment"),
        (33, 2, "first cell"),
        (33, 1, "table"),
        (35, 5, "fragments"),
        (35, 6, "table cells"),
        (37, 0, "table"),
        (37, 2, "table"),
        (38, 1, "prefix lengths"),
        (38, 9, "tables"),
        (38, 0, "prefix lengths"),
        (39, 16, "header words"),
        (39, 18, "header words"),
        (39, 33, "header words"),
        (43, 0, "first cell"),
        (40, 1, "first cell"),
        (45, 64, "cells"),
        (45, 120, "table cells"),
        (47, 80, "cell bits"),
        (47, 104, "cell bits"),
        (47, 0, "cell bits"),
        (53, 0x20, "cell bits"),
        (128, 7, "prefix lengths"),
        (130, 9, "prefix lengths"),
    ] {
        assert_eq!(named(at, value), name, "byte {at} is {value}");
    }
    let (_, mut short) = V2.plain(8, &[1]).remove(0);
    short[39] = 15;
    assert_eq!(Frame::decode(&short), Err(FrameError::Field("header words")));
    short[39] = 17;
    short[45] = 4;
    assert_eq!(Frame::decode(&short), Err(FrameError::Field("cells")));
    // Behind such blocks words would not be whole.
    (short[45], short[47]) = (8, 76);
    assert_eq!(Frame::decode(&short), Err(FrameError::Field("cell bits")));
}

#[test]
fn headers_and_cells_that_do_not_match_are_not_encoded() {
    let (header, bytes) = V2.plain(16, &[1]).remove(0);
    let mut buffer = [0; MAX_FRAME_BYTES];
    for count in [0, 8, 15, 17, 24] {
        let refused = v2::encode(&header, &vec![Cell::default(); count], &mut buffer);
        assert_eq!(refused, Err(FrameError::Encode(count, 16)));
    }
    let refused = v2::encode(&header, &[Cell::default(); 16], &mut buffer[..bytes.len() - 1]);
    assert_eq!(refused, Err(FrameError::Encode(16, 16)));
}

#[test]
fn other_versions_are_refused() {
    for version in (0..=255).filter(|version| ![1, 2].contains(version)) {
        let (_, mut bytes) = V2.plain(8, &[1]).remove(0);
        bytes[14] = version;
        set_check(&mut bytes);
        assert_eq!(Frame::decode(&bytes), Err(FrameError::Version(version)));
    }
}

#[test]
fn the_longest_frames_fit_the_buffer_and_the_mtu() {
    const { assert!(MAX_FRAME_BYTES <= 1500 - 40 && v2::frame_bytes(MAX_CELLS, false) <= MAX_FRAME_BYTES) };
    let own: OwnWords = [u64::MAX; 16].into();
    assert_eq!(own.as_slice(), [u64::MAX; 16]);
}
