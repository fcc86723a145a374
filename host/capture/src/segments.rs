//! Segments: TCP packets that a host hands to its network card whole, cut as the card cuts them.
//!
//! A host records what it sends before its card cuts it (TSO, GSO), and what it receives after its card or its driver has
//! joined it (LRO, GRO): packets of up to 64 KiB that no link carries. Cut to the longest packet of the path they are those
//! that the other point has seen. All of them have the time of the long one.
//!
//! The longest packet is found for each source and destination: it is the least of what both recordings hold, if that is a
//! length of 1,280 to 9,216 bytes, and of what the two hosts announced when they connected (the MSS option). Where neither is
//! known, packets stay as they are. So do packets that by their IP header are longer than they were on the wire, and those that would
//! make more than 512. Anybody can forge a packet that announces a length: one is not believed where both recordings hold packets that are longer,
//! equally so and of an ordinary length, nor is one below 1,280 bytes where either recording does.
//!
//! | field | in the segments |
//! |-------|-----------------|
//! | IPv4 total length, IPv6 payload length | of the segment: all but the last are as long as they may be |
//! | IPv4 identification | one more in each; 0 with "don't fragment" stays 0, as some systems send it |
//! | TCP sequence number | of the segment's first byte |
//! | TCP flags FIN and PSH | in the last one alone |
//! | TCP flag CWR | in the first one alone |
//! | checksums | as they were: the identity leaves them out |
//!
//! # Test plan
//!
//! Segments made one by one by hand, against the same as one packet, IPv4 and IPv6, with options, tags and without; snap
//! lengths; lengths of zero; a recording of what Linux cut (`tests/recordings.rs`); the longest packet from either recording and from the handshake; what is left as it is.

use crate::headers::{Ip, TCP, Tags};
use crate::packet::PacketRef;
use std::collections::HashMap;

/// The shortest and the longest packets that a link may be limited to, in bytes with their IP header.
const LIMITS: std::ops::RangeInclusive<u32> = 1280..=9216;

/// The longest packets that are cut, in bytes on the wire: what Linux makes at most.
const LONGEST: u32 = 1 << 19;
/// The most segments of a packet.
const MOST: usize = 512;
/// The least MSS that is believed: less would make many packets of one.
const LEAST_SIZE: u32 = 256;

/// Source and destination.
type Pair = [[u8; 16]; 2];

/// How long the TCP packets of a recording are.
#[derive(Clone, Debug, Default)]
pub struct Lengths(HashMap<Pair, Length>);

#[derive(Clone, Copy, Debug, Default)]
struct Length {
    /// The longest packet, in bytes with its IP header.
    longest: u32,
    /// The longest one that the source wants to get, if it has said so.
    announced: Option<u32>,
}

impl Lengths {
    /// Takes a recording's next packet.
    pub fn take(&mut self, packet: PacketRef<'_>) {
        let Some(datagram) = Datagram::of(packet.data, packet.length) else { return };
        let length = self.0.entry(datagram.ip.addresses(packet.data)).or_default();
        length.longest = length.longest.max(datagram.length() as u32);
        if let Some(announced) = datagram.announced(packet.data) {
            length.announced = Some(length.announced.map_or(announced, |before| before.min(announced)));
        }
    }
}

/// The longest packets of a path, to which longer ones are cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segmentation(HashMap<Pair, u32>);

impl Segmentation {
    /// From what both recordings of a path hold. Packets of no translation: of both recordings, the same addresses are of the
    /// same packets.
    pub fn new(sender: &Lengths, receiver: &Lengths) -> Self {
        let known = |pair: &Pair| [sender, receiver].map(|end| end.0.get(pair).copied().unwrap_or_default());
        let limit = |pair: &Pair| {
            let announced =
                known(pair).into_iter().chain(known(&[pair[1], pair[0]])).filter_map(|it| it.announced);
            let longest = known(pair).map(|it| Some(it.longest).filter(|it| LIMITS.contains(it)));
            let passes_whole = longest[0] == longest[1];
            let is_refuted = |announced: &u32| {
                let is_longer = longest.iter().flatten().any(|it| it > announced);
                is_longer && (passes_whole || announced < LIMITS.start())
            };
            let announced = announced.filter(|it| !is_refuted(it));
            announced.chain(longest.into_iter().flatten()).min().map(|limit| (*pair, limit))
        };
        Segmentation(sender.0.keys().chain(receiver.0.keys()).filter_map(limit).collect())
    }
}

/// A packet that is being cut.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    datagram: Datagram,
    /// Bytes of payload in every segment but the last.
    payload: usize,
    next: usize,
    count: usize,
}

impl Segments {
    /// The segments of a frame that is longer than its path carries; `length` is the frame's on the wire.
    pub(crate) fn of(frame: &[u8], length: u32, segmentation: &Segmentation) -> Option<Self> {
        if !(LEAST_SIZE..=LONGEST).contains(&length) {
            return None;
        }
        let datagram = Datagram::of(frame, length)?;
        let limit = *segmentation.0.get(&datagram.ip.addresses(frame))? as usize;
        if datagram.length() <= limit {
            return None;
        }
        let payload =
            limit.checked_sub(datagram.payload - datagram.ip.start).filter(|payload| *payload > 0)?;
        let count = (datagram.end - datagram.payload).div_ceil(payload);
        (count <= MOST).then_some(Segments { datagram, payload, next: 0, count })
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Puts the next segment of `whole` into `frame`, and returns its length on the wire; `None` behind the last.
    pub(crate) fn next(&mut self, whole: &[u8], frame: &mut Vec<u8>) -> Option<u32> {
        let Datagram { ip, payload, end } = self.datagram;
        let number = self.next;
        if number == self.count {
            return None;
        }
        self.next += 1;
        let start = payload + number * self.payload;
        let stop = (start + self.payload).min(end);
        frame.clear();
        frame.extend(whole.get(..payload)?);
        frame.extend(whole.get(start..stop.min(whole.len())).unwrap_or_default());

        let length = payload + stop - start;
        let mut put = |at: usize, value: &[u8]| {
            if let Some(bytes) = frame.get_mut(at..at + value.len()) {
                bytes.copy_from_slice(value);
            }
        };
        if ip.is_v6() {
            put(ip.start + 4, &((length - ip.start - 40) as u16).to_be_bytes());
        } else {
            put(ip.start + 2, &((length - ip.start) as u16).to_be_bytes());
            let identification = half_word(whole, ip.start + 4);
            let is_fixed = identification == 0 && half_word(whole, ip.start + 6) & 0x4000 != 0;
            if !is_fixed {
                put(ip.start + 4, &identification.wrapping_add(number as u16).to_be_bytes());
            }
        }
        let tcp = ip.payload;
        let sequence = u32::from(half_word(whole, tcp + 4)) << 16 | u32::from(half_word(whole, tcp + 6));
        put(tcp + 4, &sequence.wrapping_add((start - payload) as u32).to_be_bytes());
        let mut flags = whole.get(tcp + 13).copied()?;
        if self.next < self.count {
            flags &= !(FIN | PSH);
        }
        if number > 0 {
            flags &= !CWR;
        }
        put(tcp + 13, &[flags]);
        Some(length as u32)
    }
}

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;

/// A TCP packet that is no fragment.
#[derive(Clone, Copy, Debug)]
struct Datagram {
    ip: Ip,
    /// Where what TCP carries begins, and where it ends.
    payload: usize,
    end: usize,
}

impl Datagram {
    fn of(frame: &[u8], length: u32) -> Option<Self> {
        let tags = Tags::of(frame).ok()?;
        let ip = tags.ip(frame).ok()?;
        if ip.protocol != TCP || ip.is_fragment {
            return None;
        }
        let header = 4 * usize::from(frame.get(ip.payload + 12)? >> 4);
        let payload = ip.payload + header;
        // Packets of more than 64 KiB have no length of their own.
        let has_length = ip.end > ip.start + if ip.is_v6() { 40 } else { 0 };
        let end = if has_length { ip.end } else { length as usize };
        if end > length as usize {
            return None;
        }
        (header >= 20 && payload <= end && payload <= frame.len()).then_some(Datagram { ip, payload, end })
    }

    /// Bytes with the IP header.
    fn length(&self) -> usize {
        self.end - self.ip.start
    }

    /// The longest packet that a host announces as it connects: its MSS, with headers of IP and TCP without options.
    fn announced(&self, frame: &[u8]) -> Option<u32> {
        if frame.get(self.ip.payload + 13)? & SYN == 0 {
            return None;
        }
        let mut options = frame.get(self.ip.payload + 20..self.payload)?;
        loop {
            options = match *options {
                [2, 4, high, low, ..] => {
                    let headers = if self.ip.is_v6() { 60 } else { 40 };
                    let size = u32::from(u16::from_be_bytes([high, low]));
                    return (size >= LEAST_SIZE).then_some(size + headers);
                }
                [1, ref rest @ ..] => rest,
                [0, ..] | [] | [_] => return None,
                [_, length, ..] => options.get(usize::from(length.max(2))..)?,
            };
        }
    }
}

fn half_word(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u16::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests;
