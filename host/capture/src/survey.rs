//! Surveys: what a recording holds that makes it hard to compare with another.
//!
//! A sample of the packets is looked at: the first 512, and then every 61st, so that traffic of small periods is seen as
//! it is. It costs a few nanoseconds a packet.
//!
//! # Test plan
//!
//! Recordings with and without each peculiarity, in numbers just below and above what is remarked; more addresses than
//! are kept; a peculiarity that begins after the first packets.

use crate::headers::Tags;
use crate::packet::PacketRef;
use crate::tunnel::{Inner, Tunnel};
use deltaline_model::packet::identity::{Key, identify};
use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// How many packets are all looked at, and then one of how many.
const FIRST: u64 = 512;
const STRIDE: u64 = 61;
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
    /// Sampled packets by source and destination.
    pairs: HashMap<[IpAddr; 2], u64>,
}

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
    /// Source and destination of most packets.
    pub example: [IpAddr; 2],
}

impl Survey {
    /// Counts a packet of a recording, and looks at it if it is one of the sample.
    #[inline]
    pub fn take(&mut self, packet: PacketRef<'_>) {
        self.packets += 1;
        if self.packets <= FIRST || self.packets.is_multiple_of(STRIDE) {
            self.look_at(packet.data);
        }
    }

    #[cold]
    fn look_at(&mut self, frame: &[u8]) {
        self.sampled += 1;
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
                *self.pairs.entry(pair).or_default() += 1;
            }
        }
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
        let against = |pair: &[IpAddr; 2]| self.pairs.get(&[pair[1], pair[0]]).copied().unwrap_or(0);
        let there_and_back = self.pairs.iter().filter(|(pair, _)| pair[0] != pair[1]);
        // Each pair of addresses is seen from both sides.
        let twice: u64 = there_and_back.clone().map(|(pair, packets)| against(pair).min(*packets)).sum();
        let share = twice as f64 / 2.0 / self.sampled as f64;
        let busiest = there_and_back
            .filter(|(pair, _)| against(pair) > 0)
            .max_by_key(|&(pair, packets)| (packets, std::cmp::Reverse(pair)));
        busiest.filter(|_| share >= 0.02).map(|(example, _)| BothWays { share, example: *example })
    }
}

#[cfg(test)]
mod tests;
