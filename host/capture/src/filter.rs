//! Filters: which packets of a capture are wanted, in a part of tcpdump's language (`man pcap-filter`).
//!
//! | primitive | packets |
//! |-----------|---------|
//! | `[ip\|ip6] [src\|dst] host ADDRESS`, `src ADDRESS`, `dst ADDRESS` | of this address |
//! | `[ip\|ip6] [src\|dst] net 10.1`, `net 10.1.0.0/16`, `net 10.1.0.0 mask 255.255.0.0`, `net 2001:db8::/32` | of such an address |
//! | `[tcp\|udp\|sctp] [src\|dst] port NUMBER`, `portrange FIRST-LAST` | of this port, but no later fragments |
//! | `[ip\|ip6] proto NUMBER` or a name (`\tcp`, `gre`) | of this protocol |
//! | `ip`, `ip6`, `arp`, `rarp`, `tcp`, `udp`, `sctp`, `icmp`, `icmp6`, `igmp`, `esp` | of this kind |
//! | `vlan [NUMBER]`, `mpls [LABEL]` | with such a tag |
//!
//! Primitives are combined by `and` (`&&`), `or` (`||`), `not` (`!`) and parentheses; `and` and `or` have the same precedence
//! and are taken from left to right. `src or dst` and `src and dst` are directions, too. A value without a qualifier has the
//! qualifiers of the one before: `tcp port 80 or 443`. All else is refused.
//!
//! As in tcpdump, a packet is not wanted when a byte that decides about it was not captured. Unlike there, tags and IPv6
//! extension headers are looked through wherever they stand: routers add and take them, and the same filter must choose the
//! same packets at both ends. So `host 10.0.0.1` needs no `vlan and` before it.
//!
//! # Test plan
//!
//! Expressions against packets with what libpcap 1.10.3 says of each pair, in a table made with it
//! (`libpcap.txt`); what differs by intent, by hand; expressions that are refused; arbitrary texts.

use crate::headers::{Ip, TCP, Tags, UDP, Unknown};
use crate::link::{IPV4, IPV6};
use thiserror::Error;

mod parse;

/// A filter expression that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter(Expression);

/// Why a filter expression is not understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "the filter {expression:?} is not understood: {problem}; understood are host, net, port, portrange and proto with src or \
     dst and with ip, ip6, tcp, udp or sctp before them; ip, ip6, arp, rarp, tcp, udp, sctp, icmp, icmp6, igmp, esp, vlan and \
     mpls; and, or, not and parentheses; addresses and ports are numbers"
)]
pub struct FilterError {
    /// The expression.
    pub expression: String,
    /// What of it is not understood.
    pub problem: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Expression {
    Test(Test),
    Not(Box<Expression>),
    And(Box<[Expression; 2]>),
    Or(Box<[Expression; 2]>),
}

/// Which of a packet's two addresses or ports is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Source,
    Destination,
    Either,
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test {
    /// An address, in its first bits.
    Net {
        side: Side,
        is_v6: bool,
        address: [u8; 16],
        bits: u32,
    },
    /// An address under a mask, of IPv4.
    Mask {
        side: Side,
        address: u32,
        mask: u32,
    },
    Port {
        side: Side,
        protocol: Option<u8>,
        first: u16,
        last: u16,
    },
    /// What an IP packet of this version, or of any, carries.
    Protocol {
        is_v6: Option<bool>,
        number: u8,
    },
    EtherType(u16),
    Vlan(Option<u16>),
    Mpls(Option<u32>),
}

impl Filter {
    /// Reads an expression.
    ///
    /// # Errors
    ///
    /// [`FilterError`], when it is not in the part of the language that the [module](self) names.
    pub fn new(expression: &str) -> Result<Self, FilterError> {
        parse::expression(expression)
            .map(Filter)
            .map_err(|problem| FilterError { expression: expression.into(), problem })
    }

    /// Whether a packet is wanted: `frame` from its destination MAC address on.
    pub fn wants(&self, frame: &[u8]) -> bool {
        let Ok(tags) = Tags::of(frame) else { return false };
        self.0.is_true(&Packet { frame, tags, ip: tags.ip(frame) }).unwrap_or(false)
    }
}

/// A packet and its headers.
struct Packet<'a> {
    frame: &'a [u8],
    tags: Tags,
    ip: Result<Ip, Unknown>,
}

impl Expression {
    /// `None` when what decides was not captured.
    fn is_true(&self, packet: &Packet<'_>) -> Option<bool> {
        Some(match self {
            Expression::Test(test) => match test.is_true(packet) {
                Ok(is_true) => is_true,
                Err(Unknown::Other) => false,
                Err(Unknown::Cut) => return None,
            },
            Expression::Not(inner) => !inner.is_true(packet)?,
            Expression::And(sides) => sides[0].is_true(packet)? && sides[1].is_true(packet)?,
            Expression::Or(sides) => sides[0].is_true(packet)? || sides[1].is_true(packet)?,
        })
    }
}

impl Test {
    fn is_true(&self, packet: &Packet<'_>) -> Result<bool, Unknown> {
        let (frame, tags) = (packet.frame, &packet.tags);
        Ok(match *self {
            Test::Net { side, is_v6, address, bits } => {
                let ip = packet.ip?;
                let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
                let differs = |found: &[u8; 16]| {
                    (u128::from_be_bytes(*found) ^ u128::from_be_bytes(address)) & mask != 0
                };
                ip.is_v6() == is_v6 && side.holds(&ip.addresses(frame), |found| !differs(found))
            }
            Test::Mask { side, address, mask } => {
                let ip = packet.ip?;
                let is_in =
                    |[a, b, c, d, ..]: &[u8; 16]| u32::from_be_bytes([*a, *b, *c, *d]) & mask == address;
                !ip.is_v6() && side.holds(&ip.addresses(frame), is_in)
            }
            Test::Port { side, protocol, first, last } => {
                let ip = packet.ip?;
                let is_one = match protocol {
                    Some(protocol) => ip.protocol == protocol,
                    None => matches!(ip.protocol, TCP | UDP | SCTP),
                };
                is_one && side.holds(&ip.ports(frame)?, |port| (first..=last).contains(port))
            }
            Test::Protocol { is_v6, number } => {
                let ip = packet.ip?;
                ip.protocol == number && is_v6.is_none_or(|is_v6| is_v6 == ip.is_v6())
            }
            Test::EtherType(ethertype) => tags.ethertype == ethertype,
            Test::Vlan(None) => tags.vlans[0].is_some(),
            Test::Vlan(number) => tags.vlans.contains(&number),
            Test::Mpls(None) => tags.labels[0].is_some(),
            Test::Mpls(label) => tags.labels.contains(&label),
        })
    }
}

impl Side {
    fn holds<T>(self, [source, destination]: &[T; 2], is_one: impl Fn(&T) -> bool) -> bool {
        match self {
            Side::Source => is_one(source),
            Side::Destination => is_one(destination),
            Side::Either => is_one(source) || is_one(destination),
            Side::Both => is_one(source) && is_one(destination),
        }
    }
}

const SCTP: u8 = 132;

#[cfg(test)]
mod tests;
