//! Packets of a capture, and what formats have in common.

use crate::headers::{Tags, Unknown};
use crate::link::Link;
use deltaline_model::packet::identity::{self, WINDOW_BYTES};
use std::ops::Range;

/// The most captured bytes of a packet: what libpcap allows for Ethernet.
pub(crate) const MAX_CAPTURED: u32 = 262_144;

/// A packet as it lies in the reader's buffer, until the next one is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRef<'a> {
    /// Nanoseconds since the Unix epoch (1970 to 2554). Finer units are rounded down.
    pub timestamp: u64,
    /// Bytes of the frame on the wire, without the frame check sequence as a rule; never less than what was captured.
    pub length: u32,
    /// The interface it was captured on: its position in the section of a pcapng file, 0 in a pcap file.
    pub interface: u32,
    /// The captured bytes, from the destination MAC address on; at most 262,144, and 14 more of a packet that was recorded
    /// without an Ethernet header, and got one.
    pub data: &'a [u8],
}

/// A packet of its own; see [`PacketRef`] for the fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Nanoseconds since the Unix epoch.
    pub timestamp: u64,
    /// Bytes on the wire.
    pub length: u32,
    /// The interface it was captured on.
    pub interface: u32,
    /// The captured bytes.
    pub data: Vec<u8>,
}

impl<'a> From<&'a Packet> for PacketRef<'a> {
    fn from(packet: &'a Packet) -> Self {
        let Packet { timestamp, length, interface, ref data } = *packet;
        PacketRef { timestamp, length, interface, data }
    }
}

impl PacketRef<'_> {
    /// Whether the recorder cut the packet before the end of its IP header, so that it is not measured whatever it is.
    pub fn has_cut_headers(&self) -> bool {
        let is_cut = self.data.len() < self.length as usize && self.data.len() < WINDOW_BYTES;
        is_cut
            && identity::identify(self.data).is_err()
            && Tags::of(self.data).and_then(|tags| tags.ip(self.data)).err() == Some(Unknown::Cut)
    }

    /// A copy that outlives the reader's buffer.
    pub fn to_packet(self) -> Packet {
        let PacketRef { timestamp, length, interface, data } = self;
        Packet { timestamp, length, interface, data: data.to_vec() }
    }
}

/// A packet whose bytes are still a place in the input's buffer.
#[derive(Clone)]
pub(crate) struct Record {
    pub(crate) timestamp: u64,
    pub(crate) length: u32,
    pub(crate) interface: u32,
    pub(crate) data: Range<usize>,
    /// What the bytes begin with.
    pub(crate) link: Link,
    /// Which way it went, if the format says so for every link type.
    pub(crate) direction: Option<Direction>,
}

/// Which way a packet went through the interface that it was recorded on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It came in.
    In,
    /// It went out.
    Out,
}
