use super::*;
use crate::reading::Selection;
use crate::{Capture, Packet, PcapWriter};
use deltaline_model::packet::identity::identify;
use std::sync::Arc;

/// A host's TCP stream to another, in packets of any length.
#[derive(Clone)]
struct Stream {
    is_v6: bool,
    tags: &'static [u8],
    /// Timestamps, as every common system sends them.
    options: usize,
    identification: u16,
    /// Whether the identification does.
    counts: bool,
    sequence: u32,
}

const STREAM: Stream = Stream {
    is_v6: false,
    tags: &[],
    options: 12,
    identification: 0xfffe,
    counts: true,
    sequence: 0xffff_f000,
};

impl Stream {
    /// The next packet: so many bytes, which begin with the sequence number as they are counted, and with these flags.
    fn packet(&mut self, bytes: usize, flags: u8) -> Packet {
        self.frame(bytes, flags, &[])
    }

    /// A packet that opens a connection and announces the longest segment.
    fn frame_of_syn(&self, most: u16) -> Packet {
        let [high, low] = most.to_be_bytes();
        self.clone().frame(0, SYN, &[2, 4, high, low])
    }

    fn frame(&mut self, bytes: usize, flags: u8, options: &[u8]) -> Packet {
        let mut options = options.to_vec();
        options.resize(options.len().max(self.options).next_multiple_of(4), 1);
        let length = 20 + options.len() + bytes;
        let mut data = [&[0; 12], self.tags].concat();
        if self.is_v6 {
            data.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
            data.extend((length as u16).to_be_bytes());
            data.extend([TCP, 64]);
            data.extend([0xfd; 32]);
        } else {
            data.extend([0x08, 0x00, 0x45, 0]);
            data.extend((20 + length as u16).to_be_bytes());
            data.extend(self.identification.to_be_bytes());
            data.extend([0x40, 0, 64, TCP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        }
        data.extend([0x9c, 0x40, 0, 80]);
        data.extend(self.sequence.to_be_bytes());
        data.extend([0, 0, 0, 9, (5 + options.len() as u8 / 4) << 4, flags, 1, 0, 0, 0, 0, 0]);
        data.extend(&options);
        data.extend(
            (0..bytes as u32).map(|byte| ((self.sequence.wrapping_add(byte)).wrapping_mul(0x9e37)) as u8),
        );
        // A card counts on from packet to packet.
        self.identification = self.identification.wrapping_add(u16::from(self.counts));
        self.sequence = self.sequence.wrapping_add(bytes as u32);
        Packet { timestamp: 7, length: data.len() as u32, interface: 0, data }
    }

    /// As many segments of so many bytes, and one of the rest; with the flags of the whole.
    fn segments(&mut self, bytes: usize, most: usize, flags: u8) -> Vec<Packet> {
        let mut left = bytes;
        let mut packets = vec![];
        while left > 0 {
            let part = left.min(most);
            left -= part;
            let mut flags = flags;
            if left > 0 {
                flags &= !0x09;
            }
            if !packets.is_empty() {
                flags &= !0x80;
            }
            packets.push(self.packet(part, flags));
        }
        packets
    }
}

const ACK: u8 = 0x10;

fn capture(packets: &[Packet], selection: Selection) -> Capture {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture.pcap");
    let mut writer = PcapWriter::create(&path).unwrap();
    packets.iter().for_each(|packet| writer.write(packet.into()).unwrap());
    writer.finish().unwrap();
    Capture::open(path).unwrap().select(selection)
}

fn lengths(packets: &[Packet]) -> Lengths {
    let mut lengths = Lengths::default();
    packets.iter().for_each(|packet| lengths.take(packet.into()));
    lengths
}

/// The packets as they come when both recordings are known.
fn cut(packets: &[Packet], other: &[Packet]) -> Vec<Packet> {
    let segmentation = Some(Arc::new(Segmentation::new(&lengths(packets), &lengths(other))));
    let selection = Selection { segmentation, ..Selection::default() };
    capture(packets, selection).map(Result::unwrap).collect()
}

#[test]
fn segments_are_those_that_a_card_makes() {
    for is_v6 in [false, true] {
        for (tags, options) in [(&[][..], 0), (&[], 12), (&[0x81, 0, 0, 5], 12), (&[], 40)] {
            let stream = Stream { is_v6, tags, options, ..STREAM };
            let most = 1500 - if is_v6 { 40 } else { 20 } - 20 - options;
            for (bytes, flags) in [(10 * most, ACK), (3 * most + 1, ACK | 0x08), (most + 700, ACK | 0x89)] {
                let long = stream.clone().packet(bytes, flags);
                let segments = stream.clone().segments(bytes, most, flags);
                assert_eq!(segments[0].length, 1514 + tags.len() as u32);
                assert_eq!(cut(&[long], &segments), segments, "{is_v6} {tags:?} {options} {bytes}");
                // What is no longer than the path carries stays as it is.
                assert_eq!(cut(&segments, &segments), segments);
            }
        }
    }
}

#[test]
fn an_identification_of_zero_stays_zero() {
    let stream = Stream { identification: 0, counts: false, ..STREAM };
    let segments = stream.clone().segments(4000, 1448, ACK);
    assert_eq!(cut(&[stream.clone().packet(4000, ACK)], &segments), segments);
}

#[test]
fn recordings_cut_short_hold_what_the_identity_needs() {
    let long = STREAM.clone().packet(14_480, ACK);
    let segments = STREAM.clone().segments(14_480, 1448, ACK);
    let keys = |packets: &[Packet]| -> Vec<_> {
        packets.iter().map(|packet| identify(&packet.data).unwrap()).collect()
    };
    let mut short = long.clone();
    short.data.truncate(96);
    assert_eq!(keys(&cut(&[short.clone()], &segments)), keys(&segments));
    // Nothing behind the ports: no segment can be made.
    short.data.truncate(40);
    assert_eq!(cut(&[short.clone()], &segments), [short]);
}

#[test]
fn a_packet_whose_length_is_zero_is_as_long_as_on_the_wire() {
    for is_v6 in [false, true] {
        let stream = Stream { is_v6, ..STREAM };
        let mut long = stream.clone().packet(50_000, ACK);
        let at = if is_v6 { 18 } else { 16 };
        long.data[at..at + 2].fill(0);
        let segments = stream.clone().segments(50_000, if is_v6 { 1428 } else { 1448 }, ACK);
        assert_eq!(cut(&[long], &segments), segments);
    }
}

#[test]
fn the_handshake_says_how_long_packets_are_where_no_recording_does() {
    let mut back = [STREAM.clone().frame(0, 0x12, &[1, 1, 2, 4, 0x05, 0x78])];
    // From the receiver: addresses the other way.
    back[0].data[26..34].rotate_left(4);
    let first = STREAM.clone().frame(0, 0x02, &[2, 4, 0x05, 0xb4, 1, 3, 3, 7]);
    let long = STREAM.clone().packet(28_000, ACK);
    let other = STREAM.clone().packet(20_000, ACK);
    // 1,400 bytes with its headers, less 12 of options in every segment.
    let segments = STREAM.clone().segments(28_000, 1388, ACK);
    let found = cut(&[first.clone(), long.clone(), back[0].clone()], std::slice::from_ref(&other));
    assert_eq!(found[1..found.len() - 1], segments);
    let found = cut(std::slice::from_ref(&long), &[other.clone(), back[0].clone()]);
    assert_eq!(found, segments);
    // The sender's own limit alone.
    let found = cut(&[first.clone(), long.clone()], std::slice::from_ref(&other));
    assert_eq!(found[1..], STREAM.clone().segments(28_000, 1448, ACK));
    // Neither: all stays as it is.
    let [both] = [[long.clone()]];
    assert_eq!(cut(&both, std::slice::from_ref(&other)), both);
    // A length that lies makes no packets.
    let mut lies = long.clone();
    lies.data[16..18].fill(0);
    lies.length = u32::MAX;
    assert_eq!(cut(&[first.clone(), lies], &[])[1].length, u32::MAX);
    // A handshake's options that are cut, damaged, or of no size.
    for options in [
        &[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4][..],
        &[2, 4, 0, 0],
        &[2, 4, 0, 255],
        &[8, 0, 0, 0],
        &[0, 0, 0, 0],
        &[8, 200, 2, 4, 5, 5],
    ] {
        let odd = STREAM.clone().frame(0, 0x02, options);
        assert_eq!(cut(&[odd, long.clone()], std::slice::from_ref(&other))[1..], both, "{options:?}");
    }
}

#[test]
fn short_packets_and_long_links_set_no_limit() {
    let (long, short) = (STREAM.clone().packet(30_000, ACK), STREAM.clone().packet(300, ACK));
    assert_eq!(cut(std::slice::from_ref(&long), &[short]), std::slice::from_ref(&long));
    // Frames of 9,000 bytes at both ends are what they are.
    let jumbo = STREAM.clone().segments(30_000, 8948, ACK);
    assert_eq!(cut(&jumbo, &jumbo), jumbo);
    assert_eq!(cut(&[long], &jumbo), jumbo);
    // Other protocols, and fragments.
    let mut udp = STREAM.clone().packet(30_000, ACK);
    udp.data[23] = 17;
    let mut fragment = STREAM.clone().packet(30_000, ACK);
    fragment.data[20] = 0x20;
    let segments = STREAM.clone().segments(30_000, 1448, ACK);
    for packet in [udp, fragment] {
        assert_eq!(cut(std::slice::from_ref(&packet), &segments), [packet]);
    }
}

/// The most that packets of a stream from here on are cut to, by what both recordings hold.
fn limit(sender: &[Packet], receiver: &[Packet]) -> Option<u32> {
    let Segmentation(limits) = Segmentation::new(&lengths(sender), &lengths(receiver));
    let path = Datagram::of(&sender[0].data, sender[0].length).unwrap().ip.addresses(&sender[0].data);
    limits.get(&path).copied()
}

#[test]
fn forged_announcements_are_not_believed() {
    let announcing = |most: u16| STREAM.frame_of_syn(most);
    let whole: Vec<Packet> = (0..5).map(|_| STREAM.clone().packet(1448, ACK)).collect();
    let long: Vec<Packet> = (0..5).map(|_| STREAM.clone().packet(20 * 1448, ACK)).collect();
    let with = |packets: &[Packet], most| [packets, &[announcing(most)]].concat();
    assert_eq!(limit(&whole, &whole), Some(1500));
    assert_eq!(limit(&with(&whole, 256), &whole), Some(1500));
    assert_eq!(limit(&with(&whole, 1400), &whole), Some(1500));
    assert_eq!(limit(&with(&long, 256), &whole), Some(1500));
    // Where nothing speaks against it.
    assert_eq!(limit(&with(&long, 1400), &whole), Some(1440));
    assert_eq!(limit(&with(&long, 536), &long), Some(576));
}

#[test]
fn lengths_that_contradict_the_wire_are_not_believed() {
    // 300 bytes that call themselves 65,535; and so few captured of so many that one would make thousands.
    let mut forged = STREAM.clone().packet(246, ACK);
    forged.data[16..18].copy_from_slice(&[0xff, 0xff]);
    assert!(Datagram::of(&forged.data, forged.length).is_none());
    let mut boundless = forged.clone();
    boundless.data[16..18].fill(0);
    boundless.length = LONGEST;
    let path = Datagram::of(&boundless.data, LONGEST).unwrap().ip.addresses(&boundless.data);
    let cut = |limit| Segments::of(&boundless.data, LONGEST, &Segmentation([(path, limit)].into()));
    assert!(cut(576).is_none());
    assert!(cut(1500).is_some_and(|segments| segments.count <= MOST));
}
