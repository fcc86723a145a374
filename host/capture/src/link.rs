//! Link types: what stands in front of a recorded packet, turned into an Ethernet header.
//!
//! Everything behind this module sees Ethernet frames. A packet that was recorded otherwise gets a header of 14 bytes: two
//! MAC addresses of zeros and the EtherType, behind which it goes on as it was recorded. Nothing that identifies a packet
//! is lost, since the identity leaves link headers out.
//!
//! | number | link type | in front of the packet |
//! |--------|-----------|------------------------|
//! | 0, 108 | BSD loopback, OpenBSD loopback | address family, 4 bytes in either byte order |
//! | 1      | Ethernet | |
//! | 9, 50  | PPP (RFC 1661), with HDLC's address and control or without; Cisco HDLC (RFC 1547) | up to 4 bytes |
//! | 12, 14, 101 | raw IP | nothing |
//! | 113    | Linux cooked, as of the interface `any` | 16 bytes, which end with an EtherType |
//! | 228, 229 | raw IPv4, raw IPv6 | nothing |
//! | 276    | Linux cooked, version 2 | 20 bytes, which begin with an EtherType |
//!
//! The numbers are those of <https://www.tcpdump.org/linktypes.html>; all other ones are refused.
//!
//! # Test plan
//!
//! One record of each link type, and of each form that it takes, written by hand: the frame is the Ethernet frame with the
//! same packet. Every record cut at every length; what is no IP stays none.

use crate::error::Fault;
use crate::packet::Direction;

/// Bytes of an Ethernet header.
pub(crate) const ETHERNET_HEADER: usize = 14;
pub(crate) const IPV4: u16 = 0x0800;
pub(crate) const IPV6: u16 = 0x86dd;
/// An EtherType of no packet: as a length field, it says that nothing follows.
const NONE: u16 = 0;
/// The packet type of Linux for what the recording host sent.
const SENT_BY_US: u16 = 4;

/// What a recorded packet begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    Ethernet,
    Loopback,
    Ppp,
    RawIp,
    RawIpv4,
    RawIpv6,
    Cooked,
    Cooked2,
}

impl Link {
    /// By its number; that of an interface description, or the lower half of a pcap file's.
    pub(crate) fn of(number: u16) -> Result<Self, Fault> {
        Ok(match number {
            0 | 108 => Link::Loopback,
            1 => Link::Ethernet,
            9 | 50 => Link::Ppp,
            12 | 14 | 101 => Link::RawIp,
            113 => Link::Cooked,
            228 => Link::RawIpv4,
            229 => Link::RawIpv6,
            276 => Link::Cooked2,
            _ => return Err(Fault::LinkType(number)),
        })
    }

    /// Puts the Ethernet frame of a record into `frame`, and says how many bytes longer it is than the record. A record that
    /// is cut within its link header makes a frame without a byte.
    pub(crate) fn to_ethernet(self, record: &[u8], frame: &mut Vec<u8>) -> i32 {
        frame.clear();
        let Some((ethertype, start)) = self.network(record) else { return 0 };
        frame.extend([0; 12]);
        frame.extend(ethertype.to_be_bytes());
        frame.extend(record.get(start..).unwrap_or_default());
        ETHERNET_HEADER as i32 - start as i32
    }

    /// Which way a record went, of the link types that say so.
    pub(crate) fn direction(self, record: &[u8]) -> Option<Direction> {
        let sent = match self {
            Link::Cooked => u16::from_be_bytes([*record.first()?, *record.get(1)?]) == SENT_BY_US,
            Link::Cooked2 => u16::from(*record.get(10)?) == SENT_BY_US,
            _ => return None,
        };
        Some(if sent { Direction::Out } else { Direction::In })
    }

    /// The EtherType, and where what it is of begins; `None` where the record ends before that is known.
    fn network(self, record: &[u8]) -> Option<(u16, usize)> {
        let half_word = |at: usize| Some(u16::from_be_bytes([*record.get(at)?, *record.get(at + 1)?]));
        Some(match self {
            Link::Ethernet => (half_word(12)?, ETHERNET_HEADER),
            Link::Loopback => (loopback(*record.first_chunk()?), 4),
            Link::Ppp => match (*record.first()?, record.get(1)) {
                (0x0f | 0x8f, Some(0)) => (half_word(2)?, 4),
                (0x0f | 0x8f | 0xff, None) => return None,
                (0xff, Some(0x03)) => ppp(record, 2)?,
                _ => ppp(record, 0)?,
            },
            Link::RawIp => match record.first()? >> 4 {
                4 => (IPV4, 0),
                6 => (IPV6, 0),
                _ => (NONE, 0),
            },
            Link::RawIpv4 => (IPV4, 0),
            Link::RawIpv6 => (IPV6, 0),
            Link::Cooked => (half_word(14)?, 16),
            Link::Cooked2 => (half_word(0).filter(|_| record.len() >= 20)?, 20),
        })
    }
}

/// The EtherType of an address family, which the recording machine wrote in its own byte order.
fn loopback(family: [u8; 4]) -> u16 {
    match u32::from_be_bytes(family).min(u32::from_le_bytes(family)) {
        2 => IPV4,
        // Linux, Windows, NetBSD and OpenBSD, FreeBSD, macOS.
        10 | 23 | 24 | 28 | 30 => IPV6,
        _ => NONE,
    }
}

/// The EtherType of the PPP protocol field at `at`, which an odd first byte makes one byte long, and where it ends.
pub(crate) fn ppp(record: &[u8], at: usize) -> Option<(u16, usize)> {
    let first = u16::from(*record.get(at)?);
    let (protocol, end) = match first & 1 {
        1 => (first, at + 1),
        _ => (first << 8 | u16::from(*record.get(at + 1)?), at + 2),
    };
    let ethertype = match protocol {
        0x0021 => IPV4,
        0x0057 => IPV6,
        0x0281 => 0x8847,
        0x0283 => 0x8848,
        _ => NONE,
    };
    Some((ethertype, end))
}

/// The names of link types.
pub(crate) fn name(number: u16) -> &'static str {
    match number {
        3 => "AX.25",
        6 => "IEEE 802.5 Token Ring",
        7 => "ARCNET",
        8 => "SLIP",
        10 => "FDDI",
        51 => "PPP over Ethernet",
        104 => "Cisco HDLC",
        105 => "IEEE 802.11",
        107 => "Frame Relay",
        119 => "IEEE 802.11 with a Prism header",
        122 => "IP over Fibre Channel",
        127 => "IEEE 802.11 with radiotap",
        147..=162 => "private use",
        163 => "IEEE 802.11 with an AVS header",
        166 => "PPP with direction",
        187 | 201 => "Bluetooth HCI",
        189 | 220 => "Linux USB",
        192 => "per-packet information",
        195 | 215 | 230 => "IEEE 802.15.4",
        197 => "Endace ERF",
        227 => "CAN",
        239 => "Linux netfilter log",
        240 => "netANALYZER",
        247 => "IP over InfiniBand",
        249 => "Windows USB",
        253 => "Linux netlink",
        258 => "macOS PKTAP",
        274 => "Ethernet with preamble",
        _ => "not a common one",
    }
}

#[cfg(test)]
mod tests;
