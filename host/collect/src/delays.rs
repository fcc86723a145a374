//! Delays of packets that both ends remember, and which of them to ask for where one end is far away.
//!
//! Packets that look like others are left out: which of them is which is a guess. What is left is a random sample, or nearly all.
//!
//! A *bottom-k sample* is the packets with the least checks: both ends would choose the same ones, and no pattern of the packets' keys
//! goes into the choice.
//!
//! # Test plan
//!
//! Delays against made-up ones: lost packets, foreign ones, repeated ones, times that wrap. The sample against a sorted list; its quantiles
//! in the exchange's tests.

use deltaline_model::sketch::digest::LANES;
use deltaline_model::sketch::packet_cache::{PacketCache, Sieve};
use deltaline_model::sketch::packet_id::PacketId;
use std::collections::BTreeSet;

/// Packets of a sample: the median of so many is off by a rank of 2 % as a rule.
pub(crate) const SAMPLE: usize = 512;

/// The delays in nanoseconds of packets that are the only ones of their identity at both ends. None if a cache was full.
pub(crate) fn delays(sent: &PacketCache, received: &PacketCache) -> Option<Vec<i64>> {
    let is_few = received.len() < sent.len() / 8;
    let sieve = is_few.then(|| {
        received.sightings().map(|seen| Sieve::of(seen.map(|(hash, _)| hash).collect::<Vec<_>>().into_iter()))
    });
    let sorted = |cache: &PacketCache| {
        let seen = cache.sightings()?.map(|(hash, time)| (hash, time.nanoseconds()));
        let mut seen: Vec<(u64, u64)> = match sieve.as_ref().and_then(Option::as_ref) {
            Some(sieve) => seen.filter(|(hash, _)| sieve.may_hold(*hash)).collect(),
            None => seen.collect(),
        };
        seen.sort_unstable();
        Some(seen)
    };
    let (sent, received) = (sorted(sent)?, sorted(received)?);
    let mut received = received.chunk_by(|one, other| one.0 == other.0).peekable();
    let mut delays = vec![];
    for sent in sent.chunk_by(|one, other| one.0 == other.0) {
        let &[(hash, left)] = sent else { continue };
        while received.next_if(|seen| seen.first().is_some_and(|(other, _)| *other < hash)).is_some() {}
        if let Some(&&[(other, arrived)]) = received.peek()
            && other == hash
        {
            // Times are known modulo 2^48.
            delays.push(((arrived.wrapping_sub(left) << 16) as i64) >> 16);
        }
    }
    Some(delays)
}

/// The hashes of a bottom-k sample of packets, without those that are `unwanted`, in rising order of their checks.
pub(crate) fn sample(packets: impl Iterator<Item = u64>, most: usize, unwanted: &BTreeSet<u64>) -> Vec<u64> {
    let id = PacketId::default();
    let mut least: Vec<(u32, u64)> = vec![];
    let mut bound = u32::MAX;
    let mut take = |least: &mut Vec<(u32, u64)>, batch: &[u64; LANES], length: usize| {
        let checks = id.check().digests(*batch);
        for (check, hash) in checks.into_iter().zip(batch).take(length) {
            if check <= bound && !unwanted.contains(hash) {
                least.push((check, *hash));
            }
        }
        if least.len() >= 4 * most.max(LANES) {
            shrink(least, most);
            bound = least.last().map_or(u32::MAX, |(check, _)| *check);
        }
    };
    let (mut batch, mut length) = ([0; LANES], 0);
    for hash in packets {
        batch[length] = hash;
        length += 1;
        if length == LANES {
            take(&mut least, &batch, length);
            length = 0;
        }
    }
    take(&mut least, &batch, length);
    shrink(&mut least, most);
    least.into_iter().map(|(_, hash)| hash).collect()
}

fn shrink(least: &mut Vec<(u32, u64)>, most: usize) {
    least.sort_unstable();
    least.dedup();
    least.truncate(most);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use deltaline_model::sketch::synopsis::Hashed;
    use deltaline_model::time::Timestamp;

    fn cache(packets: &[(u64, u64)]) -> PacketCache {
        let mut cache = PacketCache::default();
        for &(hash, time) in packets {
            cache.remember(&[Hashed { hash, time: Timestamp::from_nanoseconds(time), ..Hashed::default() }]);
        }
        cache
    }

    #[test]
    fn delays_are_those_of_packets_that_are_known_at_both_ends() {
        let top = (1u64 << 48) - 10;
        // 1 and 5 arrive, 2 is lost, 3 is repeated on its way, 4 was sent twice, 6 is foreign.
        let sent = cache(&[(1, 100), (2, 110), (3, 120), (4, 130), (4, 140), (5, top)]);
        let received = cache(&[(4, 180), (1, 90), (3, 170), (3, 175), (6, 1), (5, 40)]);
        assert_eq!(delays(&sent, &received).unwrap(), [-10, 50]);
        // The same where the receiver's are few.
        let many: Vec<(u64, u64)> = (1..1000).map(|number| (number << 20, number)).collect();
        let few: Vec<(u64, u64)> = (1..100).map(|number| (number << 20, number + 3 * number)).collect();
        let found = delays(&cache(&many), &cache(&few)).unwrap();
        assert_eq!(found, (1..100).map(|number| 3 * number).collect::<Vec<i64>>());
        assert_eq!(delays(&cache(&[]), &cache(&many)).unwrap(), [0i64; 0]);
    }

    #[test]
    fn a_sample_is_of_the_least_checks() {
        let id = PacketId::default();
        let hashes: Vec<u64> = (1..5000u64).map(|number| number << 32 | number).collect();
        let mut sorted: Vec<(u32, u64)> = hashes.iter().map(|hash| (id.check_of(*hash), *hash)).collect();
        sorted.sort_unstable();
        let unwanted: BTreeSet<u64> = sorted.iter().step_by(3).map(|(_, hash)| *hash).collect();
        let expected = sorted.iter().map(|(_, hash)| *hash).filter(|hash| !unwanted.contains(hash));
        assert_eq!(sample(hashes.iter().copied(), 50, &unwanted), expected.take(50).collect::<Vec<_>>());
        assert_eq!(sample(hashes[..7].iter().copied(), 50, &BTreeSet::new()).len(), 7);
    }
}
