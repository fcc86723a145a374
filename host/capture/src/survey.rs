//! Surveys: what a recording holds that makes it hard to compare with another.
//!
//! Of all packets length, time and whether they are fragments are noted; a sample is looked into: the first 512, and then every 61st, so that traffic of
//! small periods is seen as it is. It costs a few nanoseconds a packet.
//!
//! # Test plan
//!
//! Recordings with and without each peculiarity, in numbers just below and above what is remarked; more addresses than
//! are kept; a peculiarity that begins after the first packets; times that go back, and coarse ones.

use crate::headers::Tags;
use crate::packet::PacketRef;
use crate::tunnel::{Inner, Tunnel};
use deltaline_model::packet::identity::{Key, identify};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// How many packets are all looked at, and then one of how many.
const FIRST: u64 = 512;
const STRIDE: u64 = 61;
/// The longest frame of an ordinary link: 1,500 bytes, with two VLAN tags.
const ORDINARY: u32 = 1522;
/// The most pairs of addresses, and the most identities, that are kept.
const MOST: usize = 1 << 14;

/// What a sample of a recording's packets shows.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    packets: u64,
    sampled: u64,
    /// Sampled packets by the tunnel they are in.
    tunnels: HashMap<Tunnel, u64>,
    /// The identities of those that have one, as far as they are kept, and of how many packets they are.
    identities: HashSet<Key>,
    identified: u64,
    /// Sampled packets by source and destination, and their bytes.
    pairs: HashMap<[IpAddr; 2], [u64; 2]>,
    /// All packets longer than [`ORDINARY`], and the longest of all.
    long: u64,
    longest: u32,
    /// When the first and the last packet were recorded, in nanoseconds since the Unix epoch.
    span: Option<[u64; 2]>,
    /// The packet before.
    last: u64,
    backward: Option<Backward>,
    /// All fragments of IP packets.
    fragments: u64,
    /// What all times of the sample are multiples of, in nanoseconds.
    resolution: u64,
}

/// Times that go back from one packet to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backward {
    /// How often.
    pub times: u64,
    /// By how many nanoseconds at most.
    pub most: u64,
}

/// By how many nanoseconds a time is earlier than the one before it to be called one that goes back: recorders that collect from several queues
/// mix up packets by less.
const BACK: u64 = 1_000_000;

/// Packets in tunnels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tunnelled {
    /// The tunnel that most of them are in.
    pub tunnel: Tunnel,
    /// The share of all packets that are in tunnels, 0 to 1.
    pub share: f64,
    /// Whether their outer headers do not distinguish them: packets that are not measured, or of which more than one in
    /// twenty has the identity of another.
    pub are_alike: bool,
}

/// Packets of both directions between the same addresses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BothWays {
    /// The share of all packets that go the rarer way, 0 to 0.5.
    pub share: f64,
    /// Source and destination of most bytes.
    pub example: [IpAddr; 2],
}

impl Survey {
    /// Counts a packet of a recording, and looks at it if it is one of the sample.
    #[inline]
    pub fn take(&mut self, packet: PacketRef<'_>) {
        self.packets += 1;
        self.long += u64::from(packet.length > ORDINARY);
        self.longest = self.longest.max(packet.length);
        if packet.timestamp.saturating_add(BACK) < self.last {
            self.note_backward(self.last - packet.timestamp);
        }
        self.last = packet.timestamp;
        self.fragments += u64::from(is_fragment(packet.data));
        let [first, last] = self.span.unwrap_or([packet.timestamp; 2]);
        self.span = Some([first.min(packet.timestamp), last.max(packet.timestamp)]);
        if self.packets <= FIRST || self.packets.is_multiple_of(STRIDE) {
            self.look_at(packet);
        }
    }

    #[cold]
    fn note_backward(&mut self, by: u64) {
        let Backward { times, most } = self.backward.unwrap_or(Backward { times: 0, most: 0 });
        self.backward = Some(Backward { times: times + 1, most: most.max(by) });
    }

    #[cold]
    fn look_at(&mut self, PacketRef { data: frame, length, timestamp, .. }: PacketRef<'_>) {
        self.sampled += 1;
        self.resolution = greatest_common_divisor(timestamp, self.resolution);
        if let Some(inner) = Inner::of(frame) {
            *self.tunnels.entry(inner.tunnel).or_default() += 1;
            if let (Ok(identity), true) = (identify(frame), self.identities.len() < MOST) {
                self.identified += 1;
                self.identities.insert(identity.key);
            }
        }
        if let Ok(ip) = Tags::of(frame).and_then(|tags| tags.ip(frame)) {
            let pair = ip.addresses(frame).map(|address| match ip.is_v6() {
                true => IpAddr::V6(Ipv6Addr::from(address)),
                false => IpAddr::V4(Ipv4Addr::new(address[0], address[1], address[2], address[3])),
            });
            let has_room = self.pairs.len() < MOST;
            if has_room || self.pairs.contains_key(&pair) {
                let [packets, bytes] = self.pairs.entry(pair).or_default();
                (*packets, *bytes) = (*packets + 1, *bytes + u64::from(length));
            }
        }
    }

    /// How many packets are longer than frames of 1,500 bytes and two VLAN tags, and how long the longest of all is on the
    /// wire.
    pub fn long(&self) -> (u64, u32) {
        (self.long, self.longest)
    }

    /// How many packets are fragments of IP packets, the first ones included.
    pub fn fragments(&self) -> u64 {
        self.fragments
    }

    /// When the first and the last packet were recorded, in nanoseconds since the Unix epoch.
    pub fn span(&self) -> Option<[u64; 2]> {
        self.span
    }

    /// Times that go back by more than a millisecond from one packet to the next, if there are any.
    pub fn backward(&self) -> Option<Backward> {
        self.backward
    }

    /// What all times are multiples of, in nanoseconds, if enough of them were looked at to show it.
    pub fn resolution(&self) -> Option<u64> {
        (self.sampled >= FEWEST_TIMES && self.resolution > 0).then_some(self.resolution)
    }

    /// How many packets there are.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Packets in tunnels, if there are any.
    pub fn tunnelled(&self) -> Option<Tunnelled> {
        let (&tunnel, _) = self.tunnels.iter().max_by_key(|&(tunnel, packets)| (packets, tunnel))?;
        let packets: u64 = self.tunnels.values().sum();
        let distinct = self.identities.len() as u64;
        let share = packets as f64 / self.sampled as f64;
        let are_alike = 20 * distinct < 19 * self.identified || self.tunnels.contains_key(&Tunnel::Pppoe);
        Some(Tunnelled { tunnel, share, are_alike })
    }

    /// Packets of both directions, if at least one in fifty goes against the others of its two addresses.
    pub fn both_ways(&self) -> Option<BothWays> {
        let against =
            |pair: &[IpAddr; 2]| self.pairs.get(&[pair[1], pair[0]]).map_or(0, |[packets, _]| *packets);
        let there_and_back = self.pairs.iter().filter(|(pair, _)| pair[0] != pair[1]);
        // Each pair of addresses is seen from both sides.
        let twice: u64 = there_and_back.clone().map(|(pair, [packets, _])| against(pair).min(*packets)).sum();
        let share = twice as f64 / 2.0 / self.sampled as f64;
        let busiest = there_and_back
            .filter(|(pair, _)| against(pair) > 0)
            .max_by_key(|&(pair, [_, bytes])| (bytes, Reverse(pair)));
        busiest.filter(|_| share >= 0.02).map(|(example, _)| BothWays { share, example: *example })
    }
}

/// Times that show what they are multiples of: that as many random ones share a factor of 2 has a probability of 2^-32.
pub const FEWEST_TIMES: u64 = 32;

/// Whether a frame carries a fragment: IPv4 with "more fragments" or an offset, IPv6 with a fragment header that says so.
fn is_fragment(frame: &[u8]) -> bool {
    match frame {
        // Nearly all frames.
        [_, _, _, _, _, _, _, _, _, _, _, _, 0x08, 0, 0x45..=0x4f, _, _, _, _, _, high, low, ..] => {
            u16::from_be_bytes([*high, *low]) & 0x3fff != 0
        }
        _ => Tags::of(frame).and_then(|tags| tags.ip(frame)).is_ok_and(|ip| ip.is_fragment),
    }
}

/// What both numbers are multiples of; the other one, if one is 0.
pub fn greatest_common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests;
