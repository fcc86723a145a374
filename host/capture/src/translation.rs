//! Address translation: what it changes in a packet, taken out.
//!
//! Between two points with a translation (NAT) in between, packets differ in addresses, ports, ICMP identifiers and the
//! checksums that cover them. With all of these zero at both ends, they are the same packets again, known by what is left:
//! lengths, IPv4's identification, sequence numbers and the first bytes of what they carry.
//!
//! # Test plan
//!
//! Each protocol, before and after a translation built by hand: one frame. Everything else still distinguishes two frames.

use crate::headers::{TCP, Tags, UDP};

const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
const DCCP: u8 = 33;
const SCTP: u8 = 132;
const UDP_LITE: u8 = 136;

/// Makes zero what some firewalls and tunnels rewrite in an IPv4 header: the identification, and "don't fragment".
pub fn blank_identification(frame: &mut [u8]) {
    let Ok(ip) = Tags::of(frame).and_then(|tags| tags.ip(frame)) else { return };
    if let Some([identification @ .., flags]) =
        frame.get_mut(ip.start + 4..ip.start + 7).filter(|_| !ip.is_v6())
    {
        identification.fill(0);
        *flags &= !0x40;
    }
}

/// Makes zero what an address translation changes in a frame.
pub(crate) fn blank(frame: &mut [u8]) {
    let Ok(ip) = Tags::of(frame).and_then(|tags| tags.ip(frame)) else { return };
    let addresses = if ip.is_v6() { 8..40 } else { 12..20 };
    let mut zero = |from: usize, bytes: std::ops::Range<usize>| {
        frame.iter_mut().skip(from + bytes.start).take(bytes.len()).for_each(|byte| *byte = 0);
    };
    zero(ip.start, addresses);
    if ip.is_later_fragment {
        return;
    }
    match ip.protocol {
        TCP => {
            zero(ip.payload, 0..4);
            zero(ip.payload, 16..18);
        }
        UDP | UDP_LITE | DCCP => {
            zero(ip.payload, 0..4);
            zero(ip.payload, 6..8);
        }
        SCTP => {
            zero(ip.payload, 0..4);
            zero(ip.payload, 8..12);
        }
        // Checksum and identifier.
        ICMP | ICMPV6 => zero(ip.payload, 2..6),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
