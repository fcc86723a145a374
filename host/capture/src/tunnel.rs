//! Tunnels: the packet within a packet.
//!
//! | tunnel | recognised by |
//! |--------|---------------|
//! | GTP-U (3GPP TS 29.281) | UDP port 2152, version 1, message 255; optional fields and extension headers |
//! | VXLAN (RFC 7348) | UDP port 4789, or 8472, which Linux takes; a valid network number |
//! | GRE (RFC 2784, 2890) | protocol 47, version 0, with checksum, key and sequence number or without; IP or Ethernet in it |
//! | IP in IP (RFC 2003, 2473, 4213) | protocols 4 and 41, in IPv4 and in IPv6 |
//! | PPPoE sessions (RFC 2516) | EtherType 0x8864 |
//!
//! The header of a tunnel may be the same for all its packets, so that the identity of the outer packet, of which the first 28
//! bytes behind the IP header are a part, does not distinguish them; and often only one of two points lies in the tunnel. The
//! identity of the innermost packet serves both. Fragments of the outer packet are left as they are, and so is a
//! packet with anything else than IP inside.
//!
//! # Test plan
//!
//! Each tunnel built by hand, plain and in its variants, in IPv4 and IPv6, behind tags, and several in each other; the same
//! at the most depth and beyond; cut at every length; headers that only look like a tunnel's.

use crate::headers::{Ip, Tags, UDP, Unknown};
use crate::link::{IPV4, IPV6, ppp};
use std::fmt;

/// The most tunnels within each other that are looked into.
const MOST: usize = 4;

/// What a packet is carried in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tunnel {
    /// GPRS tunnelling, of mobile networks.
    GtpU,
    /// Virtual extensible LAN: Ethernet in UDP.
    Vxlan,
    /// Generic routing encapsulation.
    Gre,
    /// An IP packet in an IP packet, of either version.
    Ip,
    /// A session of PPP over Ethernet.
    Pppoe,
}

impl fmt::Display for Tunnel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tunnel::GtpU => "GTP-U",
            Tunnel::Vxlan => "VXLAN",
            Tunnel::Gre => "GRE",
            Tunnel::Ip => "IP in IP",
            Tunnel::Pppoe => "PPPoE",
        })
    }
}

/// What is in a tunnel, and where in the frame it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Ethernet(usize),
    Ip(usize),
}

/// The innermost packet of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inner {
    /// The outermost tunnel that it is in.
    pub(crate) tunnel: Tunnel,
    content: Content,
}

impl Inner {
    /// The innermost packet of a frame that is in a tunnel.
    pub(crate) fn of(frame: &[u8]) -> Option<Self> {
        let (tunnel, mut content) = next(frame, Content::Ethernet(0)).ok()?;
        for _ in 1..MOST {
            let Ok((_, deeper)) = next(frame, content) else { break };
            content = deeper;
        }
        Some(Inner { tunnel, content })
    }

    /// Puts the innermost packet into `inner`, as it would come over Ethernet, and says by how many bytes that is less.
    pub(crate) fn unpack(self, frame: &[u8], inner: &mut Vec<u8>) -> u32 {
        inner.clear();
        let start = match self.content {
            Content::Ethernet(start) => start,
            Content::Ip(start) => {
                let is_v6 = frame.get(start).is_some_and(|first| first >> 4 == 6);
                inner.extend([0; 12]);
                inner.extend(if is_v6 { IPV6 } else { IPV4 }.to_be_bytes());
                start
            }
        };
        let header = inner.len();
        inner.extend(frame.get(start..).unwrap_or_default());
        (start - header) as u32
    }
}

/// What the tunnel that begins here carries.
fn next(frame: &[u8], content: Content) -> Result<(Tunnel, Content), Unknown> {
    let ip = match content {
        Content::Ethernet(start) => {
            let tags = Tags::of(frame.get(start..).ok_or(Unknown::Cut)?)?;
            match tags.ethertype {
                PPPOE_SESSION => return pppoe(frame, start + tags.end),
                IPV4 | IPV6 => Ip::at(frame, start + tags.end)?,
                _ => return Err(Unknown::Other),
            }
        }
        Content::Ip(start) => Ip::at(frame, start)?,
    };
    if ip.is_fragment {
        return Err(Unknown::Other);
    }
    match ip.protocol {
        4 | 41 => Ok((Tunnel::Ip, ip_at(frame, ip.payload)?)),
        47 => Ok((Tunnel::Gre, gre(frame, ip.payload)?)),
        UDP => {
            let [source, destination] = ip.ports(frame)?;
            let is_of = |port| source == port || destination == port;
            let payload = ip.payload + UDP_HEADER;
            if is_of(2152) {
                Ok((Tunnel::GtpU, gtp_u(frame, payload)?))
            } else if is_of(4789) || is_of(8472) {
                Ok((Tunnel::Vxlan, vxlan(frame, payload)?))
            } else {
                Err(Unknown::Other)
            }
        }
        _ => Err(Unknown::Other),
    }
}

const PPPOE_SESSION: u16 = 0x8864;
const UDP_HEADER: usize = 8;
/// EtherType of Ethernet in GRE.
const TRANSPARENT_ETHERNET: u16 = 0x6558;

fn array<const N: usize>(frame: &[u8], at: usize) -> Result<&[u8; N], Unknown> {
    frame.get(at..).and_then(<[u8]>::first_chunk).ok_or(Unknown::Cut)
}

/// An IP packet, if its version says so.
fn ip_at(frame: &[u8], at: usize) -> Result<Content, Unknown> {
    match array::<1>(frame, at)?[0] >> 4 {
        4 | 6 => Ok(Content::Ip(at)),
        _ => Err(Unknown::Other),
    }
}

fn pppoe(frame: &[u8], at: usize) -> Result<(Tunnel, Content), Unknown> {
    const HEADER: usize = 6;
    match array(frame, at)? {
        // Version 1, type 1, data of a session.
        [0x11, 0] => {
            let (ethertype, end) = ppp(frame, at + HEADER).ok_or(Unknown::Cut)?;
            match ethertype {
                IPV4 | IPV6 => Ok((Tunnel::Pppoe, ip_at(frame, end)?)),
                _ => Err(Unknown::Other),
            }
        }
        _ => Err(Unknown::Other),
    }
}

fn gre(frame: &[u8], at: usize) -> Result<Content, Unknown> {
    let &[flags, version, high, low] = array(frame, at)?;
    // Routing, which nobody sends any more, and version 1, which carries PPP.
    if flags & 0x40 != 0 || version & 7 != 0 {
        return Err(Unknown::Other);
    }
    let fields = [0x80, 0x20, 0x10].iter().filter(|&&field| flags & field != 0).count();
    let payload = at + 4 + 4 * fields;
    match u16::from_be_bytes([high, low]) {
        IPV4 | IPV6 => ip_at(frame, payload),
        TRANSPARENT_ETHERNET => ethernet_at(frame, payload),
        _ => Err(Unknown::Other),
    }
}

fn vxlan(frame: &[u8], at: usize) -> Result<Content, Unknown> {
    match array(frame, at)? {
        [flags, _, _, _, _, _, _, 0] if flags & 0x08 != 0 => ethernet_at(frame, at + 8),
        _ => Err(Unknown::Other),
    }
}

/// An Ethernet frame, if it carries an IP packet or a session of PPP: the content of any UDP packet may look like one.
fn ethernet_at(frame: &[u8], at: usize) -> Result<Content, Unknown> {
    let inner = frame.get(at..).unwrap_or_default();
    let tags = Tags::of(inner)?;
    let version = inner.get(tags.end).map(|first| first >> 4);
    match (tags.ethertype, version) {
        (PPPOE_SESSION, _) | (IPV4, Some(4)) | (IPV6, Some(6)) => Ok(Content::Ethernet(at)),
        (IPV4 | IPV6, None) => Err(Unknown::Cut),
        _ => Err(Unknown::Other),
    }
}

fn gtp_u(frame: &[u8], at: usize) -> Result<Content, Unknown> {
    let &[flags, message] = array(frame, at)?;
    // Version 1 of GTP (not GTP'), and a packet of a user.
    if flags & 0xf0 != 0x30 || message != 255 {
        return Err(Unknown::Other);
    }
    let mut payload = at + 8;
    if flags & 0x07 != 0 {
        payload += 4;
        // Extension headers: a length in units of four bytes first, the type of the next one last.
        let has_extensions = flags & 0x04 != 0;
        let mut kind = if has_extensions { array::<1>(frame, payload - 1)?[0] } else { 0 };
        while kind != 0 {
            let length = 4 * usize::from(array::<1>(frame, payload)?[0]);
            if length == 0 {
                return Err(Unknown::Other);
            }
            payload += length;
            kind = array::<1>(frame, payload - 1)?[0];
        }
    }
    ip_at(frame, payload)
}

#[cfg(test)]
mod tests;
