//! Packet cache: who passed in an interval and when, kept until it is known which packets the other end has not seen.
//!
//! RDA paper, section VI: tables show which packets differ, but not when those were seen. An end that remembers its packets
//! answers that, and the sums of both ends come down to the packets that both have seen. 24 bytes a packet: 2 million packets
//! take 48 MB an end. Cores have none.
//!
//! # Test plan
//!
//! Times of packets that passed once, twice and never; a sieve of hashes that count, in different bits; a cache that is full says nothing; packets that are moved stay in order.

use crate::sketch::synopsis::Hashed;
use crate::time::Timestamp;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// Most packets of an interval that are remembered: 384 MiB.
pub const MOST: usize = 1 << 24;

/// Hashes that are looked for among many others, nearly all of which one bit tells from them.
#[derive(Clone, Debug)]
pub struct Sieve {
    bits: Vec<u64>,
    shift: u32,
}

impl Sieve {
    /// Of these hashes.
    pub fn of(hashes: impl ExactSizeIterator<Item = u64>) -> Self {
        let bits = (32 * hashes.len()).next_power_of_two().clamp(1 << 10, 1 << 26);
        let mut sieve = Sieve { bits: vec![0; bits / 64], shift: 64 - bits.trailing_zeros() };
        for hash in hashes {
            let place = sieve.place(hash);
            if let Some(word) = sieve.bits.get_mut(place / 64) {
                *word |= 1 << (place % 64);
            }
        }
        sieve
    }

    /// Hashes are linear: their upper bits alone may all be the same.
    fn place(&self, hash: u64) -> usize {
        (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    /// Whether this may be one of the hashes: always if it is, once in 32 times at most if it is not.
    #[inline]
    pub fn may_hold(&self, hash: u64) -> bool {
        let place = self.place(hash);
        self.bits.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 != 0)
    }
}

/// The packets of one interval.
#[derive(Clone, Debug, Default)]
pub struct PacketCache {
    /// Hash, time in nanoseconds modulo 2^48, and place.
    packets: Vec<(u64, u64, u32)>,
    is_full: bool,
}

impl PacketCache {
    /// Remembers packets, unless there is no room.
    pub fn remember(&mut self, packets: &[Hashed]) {
        if self.packets.len() + packets.len() > MOST || self.packets.try_reserve(packets.len()).is_err() {
            self.is_full = true;
            return;
        }
        self.packets
            .extend(packets.iter().map(|packet| (packet.hash, packet.time.nanoseconds(), packet.place)));
    }

    /// Hash and [place](crate::sketch::place) of each packet, in their order. None if the cache was full.
    pub fn packets(&self) -> Option<impl Iterator<Item = (u64, u32)> + '_> {
        (!self.is_full).then(|| self.packets.iter().map(|(hash, _, place)| (*hash, *place)))
    }

    /// How many packets were remembered.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether none were.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Hash and time of each packet, in their order. None if the cache was full.
    pub fn sightings(&self) -> Option<impl Iterator<Item = (u64, Timestamp)> + '_> {
        let time = |(hash, time, _): &(u64, u64, u32)| (*hash, Timestamp::from_nanoseconds(*time));
        (!self.is_full).then(|| self.packets.iter().map(time))
    }

    /// Moves packets whose hash `is_wanted` to the end of `other`, in their order.
    pub fn move_behind(&mut self, other: &mut Self, mut is_wanted: impl FnMut(u64) -> bool) {
        let moved = self.packets.extract_if(.., |(hash, ..)| is_wanted(*hash));
        other.packets.extend(moved);
    }

    /// Moves packets whose hash `is_wanted` in front of those of `other`, in their order.
    pub fn move_before(&mut self, other: &mut Self, mut is_wanted: impl FnMut(u64) -> bool) {
        let moved: Vec<_> = self.packets.extract_if(.., |(hash, ..)| is_wanted(*hash)).collect();
        other.packets.splice(0..0, moved);
    }

    /// When the packets of each of these hashes were seen, in nanoseconds modulo 2^48, in their order. None if the cache was full.
    pub fn all_times(&self, hashes: &[u64]) -> Option<Vec<Vec<u64>>> {
        if self.is_full {
            return None;
        }
        let mut places: BTreeMap<u64, usize> = BTreeMap::new();
        hashes.iter().enumerate().for_each(|(place, hash)| {
            places.insert(*hash, place);
        });
        let mut times = vec![Vec::new(); hashes.len()];
        let sieve = Sieve::of(hashes.iter().copied());
        let sifted = self.packets.iter().filter(|(hash, ..)| sieve.may_hold(*hash));
        for (hash, time, _) in sifted.filter(|_| !hashes.is_empty()) {
            if let Some(times) = places.get(hash).and_then(|place| times.get_mut(*place)) {
                times.push(*time);
            }
        }
        Some(times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(hash: u64, time: u64) -> Hashed {
        Hashed { hash, time: Timestamp::from_nanoseconds(time), ..Hashed::default() }
    }

    #[test]
    fn a_sieve_holds_what_it_is_of_and_little_else() {
        for counter in [1u64, 1 << 32, 1 << 52] {
            let sieve = Sieve::of((0..1000u32).map(|number| u64::from(number).wrapping_mul(counter)));
            assert!((0..1000u64).all(|number| sieve.may_hold(number.wrapping_mul(counter))));
            let others =
                (1000..4000u64).filter(|number| sieve.may_hold(number.wrapping_mul(counter))).count();
            // A thirty-second of 3,000, and five deviations.
            assert!(others < 94 + 48, "{counter}: {others}");
        }
        assert!(!Sieve::of([].into_iter()).may_hold(0));
    }

    #[test]
    fn times_are_those_of_the_packets_that_are_meant() {
        let mut cache = PacketCache::default();
        cache.remember(&[packet(7, 100), packet(8, 110)]);
        cache.remember(&[packet(9, 120), packet(8, 130)]);
        assert_eq!(cache.all_times(&[9, 5, 8]), Some(vec![vec![120], vec![], vec![110, 130]]));
        assert_eq!(cache.all_times(&[]), Some(vec![]));
        assert_eq!(cache.packets().unwrap().last(), Some((8, 0)));
        let (mut before, mut behind) = (PacketCache::default(), PacketCache::default());
        before.remember(&[packet(1, 50)]);
        behind.remember(&[packet(2, 200)]);
        // The first of the two 8, then the last packet.
        let mut first = true;
        cache.move_behind(&mut before, |hash| hash == 8 && core::mem::take(&mut first));
        cache.move_before(&mut behind, |hash| hash != 7);
        let times = |cache: &PacketCache| {
            cache.sightings().unwrap().map(|(hash, time)| (hash, time.nanoseconds())).collect::<Vec<_>>()
        };
        assert_eq!(times(&before), [(1, 50), (8, 110)]);
        assert_eq!(times(&behind), [(9, 120), (8, 130), (2, 200)]);
        assert_eq!((times(&cache), cache.len(), cache.is_empty()), (vec![(7, 100)], 1, false));
        cache.is_full = true;
        assert!(cache.packets().is_none());
        assert_eq!(cache.all_times(&[7]), None);
    }
}
