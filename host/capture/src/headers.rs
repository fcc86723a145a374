//! Headers: what a frame says of itself up to its ports.
//!
//! The same walk as the identity's ([`deltaline_model::packet::identity`]): up to two VLAN tags, up to four MPLS labels, then
//! IPv4 or IPv6 with its extension headers; here without its window, and with what stands there.
//!
//! # Test plan
//!
//! Every frame is IP exactly where the identity says so, and has a key of the same addresses and payload; each header cut
//! at every length is [`Unknown::Cut`], never [`Unknown::Other`].

use crate::link::{ETHERNET_HEADER, IPV4, IPV6};
use deltaline_model::packet::identity::{MAX_MPLS_LABELS, MAX_VLAN_TAGS};

pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;

/// Why something of a frame is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// The frame ends before.
    Cut,
    /// It is something else, or contradicts itself.
    Other,
}

/// What stands in front of the network header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tags {
    /// The numbers of VLANs, the outer one first.
    pub(crate) vlans: [Option<u16>; MAX_VLAN_TAGS],
    /// MPLS labels, the outer one first.
    pub(crate) labels: [Option<u32>; MAX_MPLS_LABELS],
    /// The EtherType behind the VLAN tags; below MPLS it is that of the IP version found there.
    pub(crate) ethertype: u16,
    /// Where the network header begins.
    pub(crate) end: usize,
}

impl Tags {
    /// Walks over the tags of a frame.
    pub(crate) fn of(frame: &[u8]) -> Result<Self, Unknown> {
        let half_word = |at: usize| -> Result<u16, Unknown> {
            let bytes = frame.get(at..at + 2).ok_or(Unknown::Cut)?;
            Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
        };
        let mut tags = Tags { ethertype: half_word(12)?, end: ETHERNET_HEADER, ..Tags::default() };
        for vlan in &mut tags.vlans {
            if !matches!(tags.ethertype, 0x8100 | 0x88a8) {
                break;
            }
            *vlan = Some(half_word(tags.end)? & 0xfff);
            tags.ethertype = half_word(tags.end + 2)?;
            tags.end += 4;
        }
        if !matches!(tags.ethertype, 0x8847 | 0x8848) {
            return Ok(tags);
        }
        for label in &mut tags.labels {
            let entry = u32::from(half_word(tags.end)?) << 16 | u32::from(half_word(tags.end + 2)?);
            *label = Some(entry >> 12);
            tags.end += 4;
            if entry & 0x100 != 0 {
                let first = frame.get(tags.end).ok_or(Unknown::Cut)?;
                match first >> 4 {
                    4 => tags.ethertype = IPV4,
                    6 => tags.ethertype = IPV6,
                    _ => {}
                }
                break;
            }
        }
        Ok(tags)
    }

    /// The IP header behind them.
    pub(crate) fn ip(&self, frame: &[u8]) -> Result<Ip, Unknown> {
        let version = match self.ethertype {
            IPV4 => 4,
            IPV6 => 6,
            _ => return Err(Unknown::Other),
        };
        match frame.get(self.end) {
            Some(first) if first >> 4 != version => Err(Unknown::Other),
            _ => Ip::at(frame, self.end),
        }
    }
}

/// An IP header with its extension headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ip {
    /// Where it begins.
    pub(crate) start: usize,
    /// Where its payload begins.
    pub(crate) payload: usize,
    /// Where the datagram ends, by its own length.
    pub(crate) end: usize,
    /// What the payload is.
    pub(crate) protocol: u8,
    /// Whether the payload is part of a datagram, and whether it is not the first one.
    pub(crate) is_fragment: bool,
    pub(crate) is_later_fragment: bool,
    /// Of the source and of the destination: 4 bytes or 16 from here on.
    addresses: [usize; 2],
}

impl Ip {
    /// Walks over the IP header at `start`.
    pub(crate) fn at(frame: &[u8], start: usize) -> Result<Self, Unknown> {
        let bytes = frame.get(start..).unwrap_or_default();
        match bytes.first().ok_or(Unknown::Cut)? >> 4 {
            4 => Self::v4(bytes, start),
            6 => Self::v6(bytes, start),
            _ => Err(Unknown::Other),
        }
    }

    fn v4(bytes: &[u8], start: usize) -> Result<Self, Unknown> {
        let length = 4 * usize::from(bytes[0] & 0xf);
        if length < 20 {
            return Err(Unknown::Other);
        }
        let header: &[u8; 20] = bytes.first_chunk().ok_or(Unknown::Cut)?;
        let fragment = u16::from_be_bytes([header[6], header[7]]);
        Ok(Ip {
            start,
            payload: start + length,
            end: start + usize::from(u16::from_be_bytes([header[2], header[3]])),
            protocol: header[9],
            is_fragment: fragment & 0x3fff != 0,
            is_later_fragment: fragment & 0x1fff != 0,
            addresses: [start + 12, start + 16],
        })
    }

    fn v6(bytes: &[u8], start: usize) -> Result<Self, Unknown> {
        let header: &[u8; 40] = bytes.first_chunk().ok_or(Unknown::Cut)?;
        let mut ip = Ip {
            start,
            payload: start + 40,
            end: start + 40 + usize::from(u16::from_be_bytes([header[4], header[5]])),
            protocol: header[6],
            is_fragment: false,
            is_later_fragment: false,
            addresses: [start + 8, start + 24],
        };
        loop {
            let extension = bytes.get(ip.payload - start..).unwrap_or_default();
            let length = match ip.protocol {
                0 | 43 | 60 | 135 | 139 | 140 => {
                    8 * (1 + usize::from(*extension.get(1).ok_or(Unknown::Cut)?))
                }
                51 => 8 * (1 + usize::from(*extension.get(1).ok_or(Unknown::Cut)? / 2)),
                44 => {
                    let field = extension.first_chunk::<4>().ok_or(Unknown::Cut)?;
                    ip.is_fragment = true;
                    ip.is_later_fragment = u16::from_be_bytes([field[2], field[3]]) >> 3 != 0;
                    8
                }
                _ => return Ok(ip),
            };
            ip.protocol = extension[0];
            ip.payload += length;
            if ip.is_fragment {
                return Ok(ip);
            }
        }
    }

    pub(crate) fn is_v6(&self) -> bool {
        self.addresses[0] == self.start + 8
    }

    /// The addresses of source and destination, an IPv4 one in the first four bytes. The frame is the one walked over.
    pub(crate) fn addresses(&self, frame: &[u8]) -> [[u8; 16]; 2] {
        let length = if self.is_v6() { 16 } else { 4 };
        self.addresses.map(|at| {
            let mut address = [0; 16];
            if let Some(bytes) = frame.get(at..at + length) {
                address[..length].copy_from_slice(bytes);
            }
            address
        })
    }

    /// The ports of source and destination, of protocols that have them.
    pub(crate) fn ports(&self, frame: &[u8]) -> Result<[u16; 2], Unknown> {
        // TCP, UDP, DCCP, SCTP, UDP-Lite.
        if !matches!(self.protocol, TCP | UDP | 33 | 132 | 136) || self.is_later_fragment {
            return Err(Unknown::Other);
        }
        let ports: &[u8; 4] = frame.get(self.payload..).and_then(<[u8]>::first_chunk).ok_or(Unknown::Cut)?;
        Ok([u16::from_be_bytes([ports[0], ports[1]]), u16::from_be_bytes([ports[2], ports[3]])])
    }
}

#[cfg(test)]
mod tests;
