//! Packet cache: who passed in an interval and when, kept until it is known which packets the other end has not seen.
//!
//! RDA paper, section VI: tables show which packets differ, but not when those were seen. An end that remembers its packets
//! answers that, and the sums of both ends come down to the packets that both have seen. 16 bytes a packet: 2 million packets
//! take 32 MB an end. Cores have none.
//!
//! # Test plan
//!
//! Times of packets that passed once, twice and never; a cache that is full says nothing.

use crate::sketch::synopsis::Hashed;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Most packets of an interval that are remembered: 256 MiB.
pub const MOST: usize = 1 << 24;

/// The packets of one interval.
#[derive(Clone, Debug, Default)]
pub struct PacketCache {
    /// Hash, and time in nanoseconds modulo 2^48.
    packets: Vec<(u64, u64)>,
    is_full: bool,
}

impl PacketCache {
    /// Remembers packets, unless there is no room.
    pub fn remember(&mut self, packets: &[Hashed]) {
        if self.packets.len() + packets.len() > MOST || self.packets.try_reserve(packets.len()).is_err() {
            self.is_full = true;
            return;
        }
        self.packets.extend(packets.iter().map(|packet| (packet.hash, packet.time.nanoseconds())));
    }

    /// When packets with these hashes were seen, in nanoseconds modulo 2^48, in their order; a hash stands there as often as
    /// its packet is meant. None if that is not known: a packet was not seen as often as it is meant, or more often, which of
    /// them is meant then, or the cache was full.
    pub fn times(&self, hashes: &[u64]) -> Option<Vec<u64>> {
        if self.is_full {
            return None;
        }
        let mut wanted: BTreeMap<u64, (usize, Vec<u64>)> = BTreeMap::new();
        hashes.iter().for_each(|hash| wanted.entry(*hash).or_default().0 += 1);
        for (hash, time) in self.packets.iter().filter(|_| !hashes.is_empty()) {
            if let Some((_, times)) = wanted.get_mut(hash) {
                times.push(*time);
            }
        }
        if wanted.values().any(|(meant, times)| times.len() != *meant) {
            return None;
        }
        hashes.iter().map(|hash| wanted.get_mut(hash)?.1.pop()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;
    use alloc::vec;

    fn packet(hash: u64, time: u64) -> Hashed {
        Hashed { hash, time: Timestamp::from_nanoseconds(time), ..Hashed::default() }
    }

    #[test]
    fn times_are_those_of_the_packets_that_are_meant() {
        let mut cache = PacketCache::default();
        cache.remember(&[packet(7, 100), packet(8, 110)]);
        cache.remember(&[packet(9, 120), packet(8, 130)]);
        assert_eq!(cache.times(&[9, 7]), Some(vec![120, 100]));
        let both = cache.times(&[8, 8]).unwrap();
        assert_eq!(both.iter().sum::<u64>(), 240);
        assert_eq!((cache.times(&[8]), cache.times(&[5]), cache.times(&[])), (None, None, Some(vec![])));
        cache.is_full = true;
        assert_eq!(cache.times(&[7]), None);
    }
}
