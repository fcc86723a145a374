use super::*;
use crate::packet::MAX_CAPTURED;
use proptest::prelude::*;
use std::io::{self, Cursor, Write};

/// Bytes written by hand, in either byte order.
#[derive(Default)]
struct Bytes {
    big_endian: bool,
    bytes: Vec<u8>,
}

impl Bytes {
    fn new(big_endian: bool) -> Self {
        Bytes { big_endian, bytes: Vec::new() }
    }

    fn u16(mut self, value: u16) -> Self {
        let bytes = if self.big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
        self.bytes.extend(bytes);
        self
    }

    fn u32(mut self, value: u32) -> Self {
        let bytes = if self.big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
        self.bytes.extend(bytes);
        self
    }

    fn i64(mut self, value: i64) -> Self {
        let bytes = if self.big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
        self.bytes.extend(bytes);
        self
    }

    fn raw(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend(bytes);
        self
    }

    fn padded(self, bytes: &[u8]) -> Self {
        let padding = bytes.len().next_multiple_of(4) - bytes.len();
        self.raw(bytes).raw(&vec![0; padding])
    }

    /// Appends a pcapng block.
    fn block(self, kind: u32, body: Bytes) -> Self {
        let length = body.bytes.len() as u32 + 12;
        self.u32(kind).u32(length).raw(&body.bytes).u32(length)
    }
}

const NANOSECOND_MAGIC: u32 = 0xa1b2_3c4d;
const MICROSECOND_MAGIC: u32 = 0xa1b2_c3d4;

fn pcap_header(big_endian: bool, magic: u32, link_type: u32) -> Bytes {
    Bytes::new(big_endian).u32(magic).u16(2).u16(4).u32(0).u32(0).u32(96).u32(link_type)
}

fn record(bytes: Bytes, seconds: u32, fraction: u32, length: u32, data: &[u8]) -> Bytes {
    bytes.u32(seconds).u32(fraction).u32(data.len() as u32).u32(length).raw(data)
}

fn section(bytes: Bytes) -> Bytes {
    let body = Bytes::new(bytes.big_endian).u32(0x1a2b_3c4d).u16(1).u16(0).i64(-1);
    bytes.block(0x0a0d_0d0a, body)
}

fn interface(bytes: Bytes, link_type: u16, resolution: Option<u8>, offset: Option<i64>) -> Bytes {
    let mut body = Bytes::new(bytes.big_endian).u16(link_type).u16(0).u32(0);
    body = body.u16(2).u16(4).raw(b"eth0");
    if let Some(resolution) = resolution {
        body = body.u16(9).u16(1).padded(&[resolution]);
    }
    if let Some(offset) = offset {
        body = body.u16(14).u16(8).i64(offset);
    }
    bytes.block(1, body.u32(0))
}

fn enhanced(bytes: Bytes, interface: u32, units: u64, length: u32, data: &[u8]) -> Bytes {
    let body = Bytes::new(bytes.big_endian).u32(interface).u32((units >> 32) as u32).u32(units as u32);
    let body = body.u32(data.len() as u32).u32(length).padded(data);
    bytes.block(6, body)
}

fn open(bytes: impl Into<Vec<u8>>) -> Result<Capture, CaptureError> {
    Capture::new("test.pcap", Cursor::new(bytes.into()), None)
}

fn read(bytes: impl Into<Vec<u8>>) -> Result<Vec<Packet>, CaptureError> {
    open(bytes)?.collect()
}

fn packet(timestamp: u64, length: u32, data: &[u8]) -> Packet {
    Packet { timestamp, length, interface: 0, data: data.to_vec() }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    // As the program `zstd` writes it.
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Two packets, the second cut short by the snap length.
fn small_pcap() -> Vec<u8> {
    let bytes = record(pcap_header(false, NANOSECOND_MAGIC, 1), 1_700_000_000, 999_999_999, 5, b"first");
    record(bytes, 1_700_000_001, 7, 1514, b"second").bytes
}

fn small_packets() -> Vec<Packet> {
    vec![packet(1_700_000_000_999_999_999, 5, b"first"), packet(1_700_000_001_000_000_007, 1514, b"second")]
}

fn small_pcapng() -> Vec<u8> {
    let bytes = interface(section(Bytes::new(false)), 1, Some(9), None);
    let bytes = enhanced(bytes, 0, 1_700_000_000_999_999_999, 5, b"first");
    enhanced(bytes, 0, 1_700_000_001_000_000_007, 1514, b"second").bytes
}

#[test]
fn a_pcap_file_byte_by_byte() {
    #[rustfmt::skip]
    let bytes = [
        0xd4, 0xc3, 0xb2, 0xa1, // magic number: microseconds, little-endian
        2, 0, 4, 0,             // version 2.4
        0, 0, 0, 0, 0, 0, 0, 0, // time zone, accuracy
        0xff, 0xff, 0, 0,       // snap length
        1, 0, 0, 0,             // Ethernet
        0x02, 0x01, 0, 0,       // 258 s
        0x03, 0x01, 0, 0,       // 259 us
        3, 0, 0, 0,             // captured
        60, 0, 0, 0,            // on the wire
        0xaa, 0xbb, 0xcc,
    ];
    assert_eq!(read(bytes).unwrap(), [packet(258_000_259_000, 60, &[0xaa, 0xbb, 0xcc])]);
}

#[test]
fn a_pcapng_file_byte_by_byte() {
    #[rustfmt::skip]
    let bytes = [
        0x0a, 0x0d, 0x0d, 0x0a, 0, 0, 0, 28,             // section header, big-endian
        0x1a, 0x2b, 0x3c, 0x4d, 0, 1, 0, 0,              // byte order, version 1.0
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,  // length unknown
        0, 0, 0, 28,
        0, 0, 0, 1, 0, 0, 0, 20,                         // interface description
        0, 1, 0, 0, 0, 0, 0, 96,                         // Ethernet, snap length
        0, 0, 0, 20,
        0, 0, 0, 6, 0, 0, 0, 36,                         // enhanced packet
        0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2,              // interface, 2^32 + 2 us
        0, 0, 0, 3, 0, 0, 0, 60,                         // captured, on the wire
        0xaa, 0xbb, 0xcc, 0,                             // padded
        0, 0, 0, 36,
    ];
    assert_eq!(read(bytes).unwrap(), [packet(4_294_967_298_000, 60, &[0xaa, 0xbb, 0xcc])]);
}

#[test]
fn pcap_in_both_units_and_byte_orders() {
    for big_endian in [false, true] {
        for (magic, unit) in [(MICROSECOND_MAGIC, 1000), (NANOSECOND_MAGIC, 1)] {
            let bytes = record(pcap_header(big_endian, magic, 1), 5, 999_999, 4, b"1234");
            let bytes = record(bytes, u32::MAX, 1, 1514, b"");
            let expected = [
                packet(5_000_000_000 + 999_999 * unit, 4, b"1234"),
                packet(4_294_967_295_000_000_000 + unit, 1514, b""),
            ];
            assert_eq!(read(bytes.bytes).unwrap(), expected, "{big_endian} {magic:x}");
        }
    }
}

#[test]
fn a_link_type_with_a_frame_check_sequence_is_ethernet() {
    let bytes = record(pcap_header(false, NANOSECOND_MAGIC, 0x2400_0001), 1, 2, 3, b"abc");
    assert_eq!(read(bytes.bytes).unwrap(), [packet(1_000_000_002, 3, b"abc")]);
}

#[test]
fn a_wire_length_below_the_captured_one_is_raised() {
    let bytes = record(pcap_header(false, NANOSECOND_MAGIC, 1), 1, 2, 3, b"abcdef").bytes;
    assert_eq!(read(bytes).unwrap()[0].length, 6);
}

#[test]
fn pcapng_in_every_unit_and_both_byte_orders() {
    let cases: [(Option<u8>, Option<i64>, u64, u64); 14] = [
        (None, None, 1_234_567, 1_234_567_000),
        (Some(6), None, 1_234_567, 1_234_567_000),
        (Some(9), None, 0xffff_ffff_ffff_ffff, 0xffff_ffff_ffff_ffff),
        (Some(0), None, 3, 3_000_000_000),
        (Some(3), None, 3, 3_000_000),
        // Picoseconds are rounded down.
        (Some(12), None, 5_999, 5),
        (Some(28), None, u64::MAX, 1),
        (Some(127), None, u64::MAX, 0),
        // 1.5 s in units of 2^-10 s; 2^32 + 1/2 s in units of 2^-31 s; units of 2^-127 s.
        (Some(0x8a), None, 1536, 1_500_000_000),
        (Some(0x80 | 31), None, (1 << 63) + (1 << 30), 4_294_967_296_500_000_000),
        (Some(0xff), None, u64::MAX, 0),
        (Some(0x80), None, 7, 7_000_000_000),
        (Some(9), Some(1_700_000_000), 5, 1_700_000_000_000_000_005),
        (Some(9), Some(-2), 2_000_000_001, 1),
    ];
    for big_endian in [false, true] {
        for (resolution, offset, units, expected) in cases {
            let bytes = interface(section(Bytes::new(big_endian)), 1, resolution, offset);
            let bytes = enhanced(bytes, 0, units, 1514, b"12345").bytes;
            assert_eq!(read(bytes).unwrap(), [packet(expected, 1514, b"12345")], "{resolution:?} {offset:?}");
        }
    }
}

#[test]
fn pcapng_sections_have_their_own_interfaces_and_byte_order() {
    let bytes = interface(section(Bytes::new(true)), 1, Some(9), None);
    let bytes = interface(bytes, 1, Some(3), None);
    let bytes = enhanced(bytes, 1, 1, 60, b"a");
    let mut bytes = enhanced(bytes, 0, 1, 60, b"ab");
    bytes.big_endian = false;
    let bytes = interface(section(bytes), 1, Some(0), None);
    let bytes = enhanced(bytes, 0, 1, 60, b"abc").bytes;
    let mut expected = [packet(1_000_000, 60, b"a"), packet(1, 60, b"ab"), packet(1_000_000_000, 60, b"abc")];
    expected[0].interface = 1;
    assert_eq!(read(bytes).unwrap(), expected);
}

#[test]
fn pcapng_blocks_that_do_not_matter_are_passed_over() {
    let bytes = interface(section(Bytes::new(false)), 1, Some(9), None);
    let bytes = bytes.block(4, Bytes::default().raw(b"not what a name resolution block holds.."));
    let bytes = bytes.block(5, Bytes::default());
    // Longer than any block that is looked into.
    let bytes = bytes.block(0x0000_0bad, Bytes::default().raw(&vec![0xee; 3 << 20]));
    // A packet with a comment.
    let body = Bytes::default().u32(0).u32(0).u32(77).u32(3).u32(3).padded(b"abc");
    let bytes = bytes.block(6, body.u16(1).u16(2).padded(b"hi").u32(0));
    let mut capture = open(bytes.bytes).unwrap();
    assert_eq!(capture.next().unwrap().unwrap(), packet(77, 3, b"abc"));
    assert!(capture.next().is_none());
    assert!(capture.input.memory() <= 1 << 18, "{}", capture.input.memory());
}

#[test]
fn compression_is_recognised_by_content() {
    for plain in [small_pcap(), small_pcapng()] {
        let (head, tail) = plain.split_at(50);
        let skippable = [0x5a, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9];
        for stored in [
            plain.clone(),
            gzip(&plain),
            [gzip(head), gzip(tail)].concat(),
            zstd(&plain),
            [zstd(head), zstd(tail)].concat(),
            [&skippable[..], &zstd(&plain)].concat(),
        ] {
            assert_eq!(read(stored).unwrap(), small_packets());
        }
    }
}

#[test]
fn windows_of_long_distance_matching_are_read() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 19).unwrap();
    encoder.long_distance_matching(true).unwrap();
    encoder.window_log(27).unwrap();
    encoder.write_all(&small_pcap()).unwrap();
    assert_eq!(read(encoder.finish().unwrap()).unwrap(), small_packets());
}

#[test]
fn captures_without_packets() {
    assert_eq!(read(pcap_header(false, NANOSECOND_MAGIC, 1).bytes).unwrap(), []);
    assert_eq!(read(section(Bytes::new(true)).bytes).unwrap(), []);
}

#[test]
fn progress_is_told_in_stored_bytes() {
    let plain = small_pcap().repeat(1);
    let data = vec![0; 1000];
    let mut bytes = Bytes { big_endian: false, bytes: plain };
    for second in 0..1000 {
        bytes = record(bytes, second, 0, 1000, &data);
    }
    let stored = bytes.bytes;
    let total = stored.len() as u64;
    let mut capture = Capture::new("test", Cursor::new(stored), Some(total)).unwrap();
    let mut read = 24;
    let mut last = 0;
    while let Some(packet) = capture.next_packet().unwrap() {
        read += 16 + packet.data.len() as u64;
        let progress = capture.progress();
        assert_eq!(progress.total, Some(total));
        assert!(progress.consumed >= read.max(last) && progress.consumed < read + 300_000);
        last = progress.consumed;
    }
    assert_eq!(last, total);
}

#[test]
fn files_that_cannot_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.pcap");
    for path in [missing.as_path(), folder.path()] {
        let error = Capture::open(path).err().unwrap();
        assert!(matches!(error, CaptureError::Open { .. }), "{error}");
        assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
    }
}

#[test]
fn files_that_are_no_captures() {
    for empty in [vec![], gzip(b""), zstd(b"")] {
        assert!(matches!(open(empty).err().unwrap(), CaptureError::Empty { .. }));
    }
    for other in [&b"#!/bin/sh\n"[..], b"abc", &[0xd4], &[0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]] {
        for stored in [other.to_vec(), gzip(other)] {
            assert!(matches!(open(stored).err().unwrap(), CaptureError::NotACapture { .. }));
        }
    }
    let message = open(*b"#!/bin/sh\n").err().unwrap().to_string();
    assert!(message.contains("test.pcap") && message.contains("23 21 2f 62"), "{message}");
}

/// Where the records of a file begin and how many packets lie before them.
fn boundaries(file: &[u8], records: &[(usize, u64)]) -> Vec<(usize, u64)> {
    let mut position = 0;
    let mut result = vec![(0, 0)];
    let mut packets = 0;
    for &(length, is_packet) in records {
        position += length;
        packets += is_packet;
        result.push((position, packets));
    }
    assert_eq!(position, file.len());
    result
}

#[test]
fn a_file_cut_anywhere_delivers_its_whole_packets_and_tells_the_place() {
    let pcap = small_pcap();
    let pcapng = small_pcapng();
    let cases = [
        (boundaries(&pcap, &[(24, 0), (16 + 5, 1), (16 + 6, 1)]), pcap),
        (boundaries(&pcapng, &[(28, 0), (40, 0), (40, 1), (40, 1)]), pcapng),
    ];
    for (boundaries, file) in cases {
        for cut in 8..file.len() {
            let &(offset, packets) = boundaries.iter().rev().find(|&&(begin, _)| begin <= cut).unwrap();
            let mut delivered = Vec::new();
            let end = open(&file[..cut]).and_then(|mut capture| {
                while let Some(packet) = capture.next_packet()? {
                    delivered.push(packet.to_packet());
                }
                Ok(())
            });
            assert_eq!(delivered, small_packets()[..packets as usize], "cut at {cut}");
            if cut == offset {
                assert!(end.is_ok());
                continue;
            }
            let place = Place { file: "test.pcap".into(), packet: packets + 1, offset: offset as u64 };
            match end {
                Err(CaptureError::Truncated { place: told }) => assert_eq!(told, place, "cut at {cut}"),
                other => panic!("cut at {cut}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_length_that_is_wrong_is_no_cut() {
    for big_endian in [false, true] {
        let bytes = interface(section(Bytes::new(big_endian)), 1, Some(9), None);
        let first = bytes.bytes.len();
        let bytes = enhanced(bytes, 0, 1, 5, b"first");
        let last = bytes.bytes.len();
        let whole = enhanced(bytes, 0, 2, 1514, b"second").bytes;
        for (block, is_cut) in [(first, false), (last, true)] {
            // Any bit of its length that makes it longer than the file, and no longer than a block may be.
            for bit in 7..20 {
                let mut bytes = whole.clone();
                let place = if big_endian { 3 - bit / 8 } else { bit / 8 };
                bytes[block + 4 + place] ^= 1 << (bit % 8);
                match read(bytes) {
                    Err(CaptureError::Truncated { .. }) => assert!(is_cut, "bit {bit}"),
                    Err(CaptureError::Damaged { problem, place }) => {
                        assert!(!is_cut && problem.contains("it would hold others"), "bit {bit}: {problem}");
                        assert_eq!(place.offset, block as u64);
                    }
                    other => panic!("bit {bit}: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn a_cut_within_a_block_that_is_passed_over_is_told_too() {
    let whole = section(Bytes::new(false));
    let offset = whole.bytes.len() as u64;
    let mut bytes = whole.block(4, Bytes::default().raw(&[0; 100_000])).bytes;
    bytes.pop();
    match read(bytes) {
        Err(CaptureError::Truncated { place }) => assert_eq!((place.packet, place.offset), (1, offset)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_compressed_file_that_is_cut_or_damaged() {
    let mut plain = Bytes { big_endian: false, bytes: small_pcap() };
    for second in 0..20_000u32 {
        plain = record(plain, second, 0, 16, &second.wrapping_mul(0x9e37_79b9).to_le_bytes().repeat(4));
    }
    for stored in [gzip(&plain.bytes), zstd(&plain.bytes)] {
        let error = read(&stored[..stored.len() / 2]).unwrap_err();
        let CaptureError::Truncated { place } = error else { panic!("{error:?}") };
        assert!(place.packet > 1);

        let mut damaged = stored.clone();
        let middle = damaged.len() / 2;
        damaged[middle..middle + 100].fill(0xff);
        assert!(read(damaged).is_err());
    }
}

#[test]
fn unknown_link_types_are_named() {
    let pcap = record(pcap_header(false, NANOSECOND_MAGIC, 105), 1, 2, 3, b"abc").bytes;
    let pcapng = interface(section(Bytes::new(false)), 1, None, None);
    let pcapng = interface(pcapng, 249, None, None);
    let pcapng = enhanced(enhanced(pcapng, 0, 1, 3, b"abc"), 1, 2, 3, b"abc").bytes;
    for (bytes, packets, expected) in [(pcap, 1, "105 (IEEE 802.11)"), (pcapng, 2, "249 (Windows USB)")] {
        let error = read(bytes).unwrap_err();
        let CaptureError::LinkType { ref place, .. } = error else { panic!("{error:?}") };
        assert_eq!(place.packet, packets);
        let message = error.to_string();
        assert!(message.contains(expected) && message.contains("record Ethernet (1)"), "{message}");
    }
}

#[test]
fn packets_of_other_link_types_come_as_on_ethernet() {
    // Raw IP, in both formats; beside it an interface of Ethernet. 1500 bytes on the wire, of which two were captured.
    let frame = [&[0; 12][..], &[0x08, 0x00, 0x45, 0x00]].concat();
    let pcap = record(pcap_header(false, NANOSECOND_MAGIC, 101), 0, 7, 1500, &[0x45, 0]).bytes;
    assert_eq!(read(pcap).unwrap(), [packet(7, 1514, &frame)]);
    let pcapng = interface(interface(section(Bytes::new(true)), 101, Some(9), None), 1, Some(9), None);
    let pcapng = enhanced(enhanced(pcapng, 0, 7, 1500, &[0x45, 0]), 1, 8, 1514, &frame).bytes;
    let mut ethernet = packet(8, 1514, &frame);
    ethernet.interface = 1;
    assert_eq!(read(pcapng).unwrap(), [packet(7, 1514, &frame), ethernet]);
    // Cut within the link header, and a length that lies.
    let cut = record(pcap_header(false, NANOSECOND_MAGIC, 113), 0, 7, 60, &[0; 15]);
    let cut = record(cut, 0, 8, 20, &[0; 20]).bytes;
    assert_eq!(read(cut).unwrap(), [packet(7, 60, b""), packet(8, 18, &[0; 18])]);
    let longest = record(pcap_header(false, NANOSECOND_MAGIC, 12), 0, 7, u32::MAX, &[0x45]).bytes;
    assert_eq!(read(longest).unwrap()[0].length, u32::MAX);
}

/// The packets' times.
fn selected(bytes: Vec<u8>, selection: Selection) -> Result<(Vec<u64>, u64), CaptureError> {
    let mut capture = open(bytes)?.select(selection);
    let mut times = vec![];
    while let Some(packet) = capture.next_packet()? {
        times.push(packet.timestamp);
    }
    Ok((times, capture.passed_over()))
}

#[test]
fn packets_of_one_direction() {
    for big_endian in [false, true] {
        let mut pcapng = interface(section(Bytes::new(big_endian)), 1, Some(9), None);
        for (time, flags) in [1, 2, 0x0101, 0xff02, 2].into_iter().enumerate() {
            let body = Bytes::new(big_endian).u32(0).u32(0).u32(time as u32).u32(3).u32(3).padded(b"abc");
            pcapng = pcapng.block(6, body.u16(2).u16(4).u32(flags).u32(0));
        }
        for (direction, times) in [(Direction::In, &[0, 2][..]), (Direction::Out, &[1, 3, 4])] {
            let selection = Selection { direction: Some(direction), ..Selection::default() };
            let expected = (times.to_vec(), 5 - times.len() as u64);
            assert_eq!(selected(pcapng.bytes.clone(), selection).unwrap(), expected);
        }
    }
    let mut cooked = pcap_header(false, NANOSECOND_MAGIC, 113);
    for (time, kind) in [(0, 0), (1, 4), (2, 3), (3, 4)] {
        cooked = record(cooked, 0, time, 60, &[0, kind, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0]);
    }
    let out = Selection { direction: Some(Direction::Out), ..Selection::default() };
    assert_eq!(selected(cooked.bytes, out.clone()).unwrap(), (vec![1, 3], 2));
    // Neither says anything: pcap of Ethernet, and flags of direction 0.
    let silent = interface(section(Bytes::new(false)), 1, Some(9), None);
    let body = Bytes::new(false).u32(0).u32(0).u32(0).u32(3).u32(3).padded(b"abc");
    let silent = silent.block(6, body.u16(2).u16(4).u32(0x100).u32(0)).bytes;
    for bytes in [small_pcap(), silent] {
        let error = selected(bytes, out.clone()).unwrap_err();
        assert!(matches!(&error, CaptureError::Undirected { place } if place.packet == 1), "{error}");
        assert!(error.to_string().contains("filter by addresses"), "{error}");
    }
}

#[test]
fn packets_that_a_filter_wants_behind_any_link_header() {
    let ipv4 = |protocol| {
        [&[0x45, 0, 0, 20, 0, 0, 0, 0, 64, protocol, 0, 0][..], &[10, 0, 0, 1, 10, 0, 0, 2]].concat()
    };
    let packets = [ipv4(6), ipv4(17), ipv4(1), ipv4(17)];
    let headers: [(u32, Vec<u8>); 3] =
        [(1, [&[0; 12][..], &[8, 0]].concat()), (101, vec![]), (0, vec![2, 0, 0, 0])];
    for (link, header) in headers {
        let mut bytes = pcap_header(false, NANOSECOND_MAGIC, link);
        for (time, packet) in packets.iter().enumerate() {
            bytes = record(bytes, 0, time as u32, 60, &[&header[..], packet].concat());
        }
        let filter = Some(Filter::new("udp and src host 10.0.0.1").unwrap());
        let selection = Selection { filter, ..Selection::default() };
        assert_eq!(selected(bytes.bytes, selection).unwrap(), (vec![1, 3], 2));
    }
}

#[test]
fn timestamps_out_of_range() {
    for (magic, fraction) in [(NANOSECOND_MAGIC, 1_000_000_000), (MICROSECOND_MAGIC, 1_000_000)] {
        let below = record(pcap_header(false, magic, 1), 1, fraction - 1, 0, b"").bytes;
        assert!(read(below).is_ok());
        let bytes = record(pcap_header(false, magic, 1), 1, fraction, 0, b"").bytes;
        assert!(matches!(read(bytes), Err(CaptureError::Timestamp { .. })));
    }
    for (resolution, offset, units) in [
        (6, 0, u64::MAX / 1000 + 1),
        (0, 0, u64::MAX),
        (0x80, 0, u64::MAX),
        (9, -1, 999_999_999),
        (9, i64::MIN, u64::MAX),
        (9, i64::MAX, 0),
        (9, 1, u64::MAX),
    ] {
        let bytes = interface(section(Bytes::new(false)), 1, Some(resolution), Some(offset));
        let result = read(enhanced(bytes, 0, units, 0, b"").bytes);
        assert!(matches!(result, Err(CaptureError::Timestamp { .. })), "{resolution} {offset} {units}");
    }
}

#[test]
fn records_that_are_not_read() {
    let start = || interface(section(Bytes::new(false)), 1, Some(9), None);
    let simple = start().block(3, Bytes::default().u32(3).padded(b"abc")).bytes;
    assert!(matches!(read(simple), Err(CaptureError::Untimed { .. })));
    let obsolete = start().block(2, Bytes::default().u32(0).u32(0).u32(0).u32(0).u32(0)).bytes;
    assert!(matches!(read(obsolete), Err(CaptureError::Unsupported { .. })));
    let old = Bytes::new(false).u32(MICROSECOND_MAGIC).u16(1).u16(0).raw(&[0; 12]).u32(1).bytes;
    assert!(matches!(read(old), Err(CaptureError::Unsupported { .. })));
    let future = Bytes::new(false).u32(0x1a2b_3c4d).u16(2).u16(0).i64(-1);
    let future = Bytes::new(false).block(0x0a0d_0d0a, future).bytes;
    assert!(matches!(read(future), Err(CaptureError::Unsupported { .. })));
}

#[test]
fn records_that_contradict_the_format() {
    let start = || interface(section(Bytes::new(false)), 1, Some(9), None);
    let packet_of = |interface, captured, data: &[u8]| {
        Bytes::new(false).u32(interface).u32(0).u32(0).u32(captured).u32(captured).padded(data)
    };
    let order = Bytes::new(false).u32(0x0a0d_0d0a).u32(28).raw(&[1; 20]);
    let cases = [
        ("interface", start().block(6, packet_of(1, 3, b"abc"))),
        ("does not fit", start().block(6, packet_of(0, 5, b"abc"))),
        ("does not fit", start().block(6, packet_of(0, u32::MAX, b"abc"))),
        ("captured bytes", start().block(6, packet_of(0, 262_145, &vec![0; 262_145]))),
        ("lengths", start().u32(6).u32(36).raw(&packet_of(0, 3, b"abc").bytes).u32(40)),
        ("lengths", start().u32(1).u32(20).raw(&[1, 0, 0, 0, 0, 0, 0, 0]).u32(24)),
        ("8 bytes long", start().u32(6).u32(8).u32(8)),
        ("13 bytes long", start().u32(6).u32(13).raw(&[0; 5])),
        ("long, more than", start().u32(6).u32(0xffff_fffc).raw(&[0; 100])),
        ("description", start().block(1, Bytes::new(false).u32(1))),
        ("does not fit", start().block(6, Bytes::new(false).u32(0))),
        ("byte order", order),
        ("captured bytes", pcap_header(true, NANOSECOND_MAGIC, 1).u32(1).u32(2).u32(262_145).u32(262_145)),
        ("captured bytes", pcap_header(false, NANOSECOND_MAGIC, 1).u32(1).u32(2).u32(u32::MAX).u32(9)),
    ];
    for (expected, bytes) in cases {
        let mut capture = open(bytes.bytes).unwrap();
        let error = capture.next_packet().unwrap_err();
        assert!(matches!(error, CaptureError::Damaged { .. }), "{expected}: {error:?}");
        assert!(error.to_string().contains(expected), "{expected}: {error}");
        assert!(capture.next_packet().unwrap().is_none(), "a capture is over after an error");
        assert!(capture.input.memory() <= 1 << 20);
    }
}

#[test]
fn the_longest_packet_is_read_and_a_length_that_lies_costs_no_memory() {
    let data = vec![7; MAX_CAPTURED as usize];
    let bytes = record(pcap_header(false, NANOSECOND_MAGIC, 1), 1, 2, MAX_CAPTURED, &data);
    let bytes = record(bytes, 1, 3, 4, b"next").bytes;
    let packets = read(bytes).unwrap();
    assert_eq!((packets[0].data.len(), &packets[1].data[..]), (data.len(), &b"next"[..]));

    let lies = pcap_header(false, NANOSECOND_MAGIC, 1).u32(1).u32(2).u32(MAX_CAPTURED).u32(9).bytes;
    let mut capture = open(lies).unwrap();
    assert!(matches!(capture.next_packet(), Err(CaptureError::Truncated { .. })));
    assert!(capture.input.memory() <= 1 << 17);
}

#[test]
fn a_packet_that_is_too_long_is_damage_even_where_the_buffer_holds_it() {
    let data = vec![7; MAX_CAPTURED as usize + 1];
    let longest = record(pcap_header(false, NANOSECOND_MAGIC, 1), 1, 2, 9, &data[1..]).bytes;
    let longer = record(Bytes::new(false), 1, 3, 9, &data).bytes;
    let source = Cursor::new(longest).chain(Cursor::new(longer));
    let mut capture = Capture::new("test.pcap", source, None).unwrap();
    assert!(capture.next_packet().unwrap().is_some());
    assert!(matches!(capture.next_packet(), Err(CaptureError::Damaged { .. })));
}

#[test]
fn interrupted_reads_are_repeated() {
    struct Interrupted(bool, Cursor<Vec<u8>>);
    impl Read for Interrupted {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.0 = !self.0;
            if self.0 { Err(std::io::ErrorKind::Interrupted.into()) } else { self.1.read(&mut buffer[..1]) }
        }
    }
    let capture = Capture::new("test", Interrupted(false, Cursor::new(small_pcap())), None).unwrap();
    assert_eq!(capture.map(Result::unwrap).collect::<Vec<_>>(), small_packets());
}

#[test]
fn a_source_that_fails_is_told_with_its_place() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is on fire"))
        }
    }
    let mut capture = Capture::new("test", Cursor::new(small_pcap()).chain(Failing), None).unwrap();
    assert!(capture.next_packet().unwrap().is_some());
    assert!(capture.next_packet().unwrap().is_some());
    let error = capture.next_packet().unwrap_err();
    assert!(matches!(&error, CaptureError::Read { place, .. } if (place.packet, place.offset) == (3, 67)));
    assert!(error.to_string().contains("the disk is on fire"), "{error}");
}

/// Reads to the end and checks that the memory stayed within a fixed amount plus what `stored` holds.
fn is_harmless(stored: Vec<u8>) -> Result<(), TestCaseError> {
    let most = 2 * stored.len() + (1 << 18);
    if let Ok(mut capture) = open(stored) {
        while let Ok(Some(packet)) = capture.next_packet() {
            prop_assert!(packet.data.len() <= packet.length as usize);
        }
        prop_assert!(capture.input.memory() <= most);
        prop_assert!(matches!(capture.next_packet(), Ok(None)));
    }
    Ok(())
}

/// A valid file of any kind, and the packets in it.
fn any_file() -> impl Strategy<Value = (Vec<u8>, Vec<Vec<u8>>)> {
    let data = prop::collection::vec(any::<u8>(), 0..70);
    let packets = prop::collection::vec((any::<u32>(), 0u32..1_000_000, data), 0..8);
    (packets, any::<bool>(), any::<bool>(), prop::option::of(any::<u8>())).prop_map(
        |(packets, big_endian, is_pcap, resolution)| {
            let mut bytes = if is_pcap {
                pcap_header(big_endian, NANOSECOND_MAGIC, 1)
            } else {
                interface(section(Bytes::new(big_endian)), 1, resolution, Some(0))
            };
            for (seconds, fraction, data) in &packets {
                bytes = if is_pcap {
                    record(bytes, *seconds, *fraction, 1514, data)
                } else {
                    enhanced(bytes, 0, u64::from(*seconds), 1514, data)
                };
            }
            (bytes.bytes, packets.into_iter().map(|(_, _, data)| data).collect())
        },
    )
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_harmless(bytes in prop::collection::vec(any::<u8>(), 0..400), magic in 0usize..8) {
        let magics = [
            &pcap::MAGICS[0][..], &pcap::MAGICS[3], &pcapng::MAGIC, &[0x1f, 0x8b, 8], &[0x28, 0xb5, 0x2f, 0xfd], &[],
            &pcap_header(true, NANOSECOND_MAGIC, 1).bytes,
            &section(Bytes::new(false)).bytes,
        ];
        is_harmless([magics[magic], &bytes].concat())?;
    }

    #[test]
    fn mutated_files_are_harmless(
        (file, _) in any_file(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..4), 1..6),
        compression in 0u8..5,
    ) {
        let compress = |bytes: &[u8], when: u8| match compression.wrapping_sub(when) {
            0 => gzip(bytes),
            1 => zstd(bytes),
            _ => bytes.to_vec(),
        };
        // Compressed after, or before the edits, or not at all.
        let mut bytes = compress(&file, 2);
        for (at, value, kind) in edits {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = value,
                1 => bytes[at] ^= 1 << (value % 8),
                2 => bytes.truncate(at),
                _ => bytes.extend_from_within(at..),
            }
        }
        is_harmless(compress(&bytes, 0))?;
    }

    #[test]
    fn records_of_any_link_type_are_harmless(
        link in prop::sample::select(&[0, 9, 12, 50, 101, 108, 113, 228, 229, 276][..]),
        data in prop::collection::vec(any::<u8>(), 0..60),
        length in any::<u32>(),
    ) {
        is_harmless(record(pcap_header(false, NANOSECOND_MAGIC, link), 0, 0, length, &data).bytes)?;
    }

    #[test]
    fn valid_files_are_read_whole((file, expected) in any_file()) {
        let data: Vec<Vec<u8>> = read(file).unwrap().into_iter().map(|packet| packet.data).collect();
        prop_assert_eq!(data, expected);
    }
}

#[test]
fn a_translated_packet_comes_without_what_was_translated() {
    let frame = |source: u8, port: u8| {
        let udp = [port, port, 0, 53, 0, 20, source, port, 9, 9];
        [&[0; 12][..], &[8, 0, 0x45, 0, 0, 40, 0, 7, 0, 0, 64, 17, 0, 0, 10, 0, 0, source, 10, 9, 9, 9], &udp]
            .concat()
    };
    let of = |link: u32, data: &[u8]| {
        let bytes = record(pcap_header(false, NANOSECOND_MAGIC, link), 0, 7, 60, data).bytes;
        let selection = Selection { translated: true, ..Selection::default() };
        open(bytes).unwrap().select(selection).map(Result::unwrap).collect::<Vec<_>>()
    };
    let before = of(1, &frame(1, 40));
    assert_eq!(before, of(1, &frame(77, 99)));
    assert_eq!(before[0].data, of(101, &frame(3, 4)[14..])[0].data);
    assert_eq!(before[0].data[26..38], [0; 12]);
}

/// What a file says that holds a header and so many megabytes of zeros, records of 16 bytes without a byte of packet: its packets, and why no more.
fn records_of_nothing(
    megabytes: u64,
    compress: impl FnOnce(&mut dyn Read) -> Vec<u8>,
) -> (u64, Option<CaptureError>) {
    let mut head = vec![];
    for field in [0xa1b2_3c4d_u32, 4 << 16 | 2, 0, 0, 65535, 1] {
        head.extend(field.to_le_bytes());
    }
    let small = compress(&mut head.as_slice().chain(io::repeat(0).take(megabytes << 20)));
    let mut capture = Capture::new("bomb", Cursor::new(small), None).unwrap();
    let mut packets = 0_u64;
    loop {
        match capture.next_packet() {
            Ok(Some(_)) => packets += 1,
            Ok(None) => return (packets, None),
            Err(error) => return (packets, Some(error)),
        }
    }
}

/// Some ten thousand times its size, by Zstandard, and a thousand times, by gzip.
#[test]
fn what_expands_beyond_all_packets_is_refused() {
    let by_zstd = |source: &mut dyn Read| {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        io::copy(source, &mut encoder).unwrap();
        encoder.finish().unwrap()
    };
    let by_gzip = |source: &mut dyn Read| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        io::copy(source, &mut encoder).unwrap();
        encoder.finish().unwrap()
    };
    let plain = |source: &mut dyn Read| {
        let mut all = vec![];
        source.read_to_end(&mut all).unwrap();
        all
    };
    for compress in [&by_zstd as &dyn Fn(&mut dyn Read) -> Vec<u8>, &by_gzip, &plain] {
        let (packets, none) = records_of_nothing(60, compress);
        assert!(none.is_none() && packets == 60 << 16, "{none:?}");
    }
    for compress in [&by_zstd as &dyn Fn(&mut dyn Read) -> Vec<u8>, &by_gzip] {
        let (packets, error) = records_of_nothing(100, compress);
        assert!(matches!(&error, Some(CaptureError::Expands { .. })), "{error:?}");
        assert!((64 << 16..66 << 16).contains(&packets), "{packets}");
    }
    // Not compressed, it is what it is.
    let (packets, none) = records_of_nothing(100, plain);
    assert!(none.is_none() && packets == 100 << 16, "{none:?}");
}

#[test]
fn what_a_recorder_says_that_it_dropped_is_counted() {
    for big_endian in [false, true] {
        // Statistics of an interface, each of its numbers since the beginning: received, dropped by the interface, dropped by the system.
        let statistics = |bytes: Bytes, number: u32, counts: [i64; 3]| {
            let body = Bytes::new(big_endian).u32(number).u32(0).u32(0);
            let body = [4, 5, 7]
                .into_iter()
                .zip(counts)
                .fold(body, |body, (code, count)| body.u16(code).u16(8).i64(count));
            bytes.block(5, body.u32(0))
        };
        let bytes = interface(section(Bytes::new(big_endian)), 1, Some(9), None);
        let bytes = interface(bytes, 1, Some(9), None);
        let bytes = statistics(enhanced(bytes, 0, 77, 60, b"a"), 0, [100, 2, 30]);
        let bytes = statistics(statistics(bytes, 1, [10, 0, 400]), 0, [900, 3, 50]);
        // Of no interface, and without room for its numbers.
        let bytes = statistics(bytes, 2, [1, 1, 1]).block(5, Bytes::new(big_endian).u32(0).u32(0));
        // Another section begins anew.
        let bytes = statistics(interface(section(bytes), 1, Some(9), None), 0, [5, 5, 0]);
        let mut capture = open(bytes.bytes).unwrap();
        assert_eq!(capture.by_ref().map(Result::unwrap).count(), 1);
        assert_eq!(capture.dropped(), [8, 450]);
    }
}

/// Packets say how many are missing in front of them, as statistics may say, too; damaged options say nothing.
#[test]
fn what_packets_say_that_is_missing_in_front_of_them_is_counted() {
    for (big_endian, by_system, expected) in
        [(false, 0, [12, 0]), (true, 0, [12, 0]), (false, 5, [7, 5]), (true, 20, [0, 20])]
    {
        let mut bytes = interface(section(Bytes::new(big_endian)), 1, Some(9), None);
        for (number, missing) in [(0, Some(0)), (1, Some(9)), (2, None), (3, Some(3))] {
            let body = Bytes::new(big_endian).u32(0).u32(0).u32(number).u32(1).u32(60).padded(b"a");
            bytes = bytes.block(
                6,
                match missing {
                    Some(missing) => body.u16(4).u16(8).i64(missing).u32(0),
                    None => body.u16(4).u16(4).u32(77).u32(0),
                },
            );
        }
        let statistics = Bytes::new(big_endian).u32(0).u32(0).u32(0).u16(7).u16(8).i64(by_system).u32(0);
        let mut capture = open(bytes.block(5, statistics).bytes).unwrap();
        assert_eq!(capture.by_ref().map(Result::unwrap).count(), 4);
        assert_eq!(capture.dropped(), expected, "{by_system}");
    }
}

#[test]
fn the_longest_silence_is_known() {
    let times = [5, 6, 4, 20, 21];
    let bytes = times
        .into_iter()
        .fold(pcap_header(false, NANOSECOND_MAGIC, 1), |bytes, time| record(bytes, time, 0, 60, b"a"));
    let mut capture = open(bytes.bytes).unwrap();
    assert_eq!(capture.by_ref().map(Result::unwrap).count(), 5);
    assert_eq!(capture.silence(), Some([4_000_000_000, 20_000_000_000]));
}
