//! Packets that look alike on both sides of an interval's edge.
//!
//! Where clocks cut intervals, a late packet of the interval before may stand for one of the same identity that is late itself, or lost: their numbers
//! agree, their times do not. Delays of packets that look like no other say between which times a packet may have been sent. If each one received can
//! only be one of its own interval, all is well; else their mean delay may be any that lies between those delays.
//!
//! # Test plan
//!
//! Times far apart and close to each other, lost ones, times that wrap. Against the truth of made-up packets in the exchange's tests.

use deltaline_capture::matching::{Fate, align};
use deltaline_model::sketch::packet_cache::{PacketCache, Sieve};

/// Fewer delays do not show between which others lie.
const LEAST_DELAYS: usize = 16;

/// Times are known modulo so many nanoseconds.
const WRAP: u64 = 1 << 48;

/// When the sender has sent packets of one identity, in nanoseconds modulo 2^48.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alike {
    pub(super) hash: u64,
    /// In an interval.
    sent: Vec<u64>,
    /// In those beside it.
    beside: Vec<u64>,
}

/// Between which delays, in nanoseconds, packets are taken to lie, and the middle one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Delays {
    least: i64,
    middle: i64,
    most: i64,
}

impl Delays {
    /// By those of some packets: a few of the others may be that much farther out again. None if they are too few.
    pub(super) fn around(delays: &[i64]) -> Option<Self> {
        let mut sorted = delays.to_vec();
        sorted.sort_unstable();
        let (&[least, .., most], true) = (sorted.as_slice(), sorted.len() >= LEAST_DELAYS) else {
            return None;
        };
        let spread = most.saturating_sub(least);
        let middle = *sorted.get(sorted.len() / 2)?;
        Some(Delays { least: least.saturating_sub(spread), middle, most: most.saturating_add(spread) })
    }
}

impl Alike {
    /// All identities that have packets in an interval and in one `beside` it.
    pub(super) fn all(here: &PacketCache, beside: [&PacketCache; 2]) -> Vec<Self> {
        let hashes = |cache: &PacketCache| -> Vec<u64> {
            cache.sightings().into_iter().flatten().map(|(hash, _)| hash).collect()
        };
        let sieve = Sieve::of(hashes(here).into_iter());
        let mut both: Vec<u64> =
            beside.into_iter().flat_map(hashes).filter(|hash| sieve.may_hold(*hash)).collect();
        both.sort_unstable();
        both.dedup();
        let times = |cache: &PacketCache| cache.all_times(&both).unwrap_or_default();
        let [before, behind] = beside.map(times);
        let beside = before.into_iter().zip(behind).map(|(before, behind)| [before, behind].concat());
        let all = both.iter().zip(times(here)).zip(beside);
        let all = all.map(|((hash, sent), beside)| Alike { hash: *hash, sent, beside });
        all.filter(|each| !each.sent.is_empty()).collect()
    }

    /// How many packets the interval has.
    pub(super) fn packets(&self) -> u64 {
        self.sent.len() as u64
    }

    /// By how many nanoseconds the sum of delays may be less, and by how many more, than exact matching with those `received` has it. None if these can
    /// only be the interval's.
    pub(super) fn open(&self, received: &[u64], delays: Delays) -> Option<[f64; 2]> {
        let base = *self.sent.first()?;
        // Without a wrap, in order.
        let far = |times: &[u64]| -> Vec<u64> {
            let mut times: Vec<u64> =
                times.iter().map(|time| time.wrapping_sub(base).wrapping_add(WRAP / 2) % WRAP).collect();
            times.sort_unstable();
            times
        };
        let [sent, beside, received] = [&self.sent, &self.beside, received].map(far);
        let may_be_of = |times: &[u64], received: u64| {
            let at = times.partition_point(|sent| between(*sent, received) > delays.most);
            times.get(at).is_some_and(|sent| between(*sent, received) >= delays.least)
        };
        let is_own = |received: &u64| may_be_of(&sent, *received) && !may_be_of(&beside, *received);
        if sent.len() == received.len() && received.iter().all(is_own) {
            return None;
        }
        let open = |fate| match fate {
            Fate::Received(one, other) => {
                let delay = between(*sent.get(one)?, *received.get(other)?);
                Some([(delay - delays.least) as f64, (delays.most - delay) as f64])
            }
            Fate::Lost(_) | Fate::Foreign(_) => None,
        };
        let all = align(&sent, &received, Some(delays.middle)).into_iter().filter_map(open);
        Some(all.fold([0.0; 2], |sum, each| [sum[0] + each[0], sum[1] + each[1]]))
    }
}

/// The delay of a packet in nanoseconds.
fn between(sent: u64, received: u64) -> i64 {
    received as i64 - sent as i64
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn times_tell_packets_apart_or_leave_a_sum_open() {
        let near: Vec<i64> = (0..20).map(|number| 100 + number).collect();
        assert_eq!(Delays::around(&near[..15]), None);
        let delays = Delays::around(&near).unwrap();
        assert_eq!(delays, Delays { least: 81, middle: 110, most: 138 });
        for base in [0, WRAP - 1500] {
            let times =
                |times: &[u64]| -> Vec<u64> { times.iter().map(|time| (base + time) % WRAP).collect() };
            let alike = Alike { hash: 1, sent: times(&[1000, 2000]), beside: times(&[900, 3000]) };
            let open = |received: &[u64]| alike.open(&times(received), delays);
            assert_eq!(open(&[1105, 2110]), None);
            // The first one may be of the interval before.
            assert_eq!(open(&[1037, 2110]), Some([-15.0, 129.0]));
            // Sums of delays are 1205 and 1215, and belong between 162 and 276.
            assert_eq!(open(&[2110, 3105]), Some([2053.0, -1939.0]));
            // One is lost, or late.
            assert_eq!(open(&[2110]), Some([29.0, 28.0]));
            assert_eq!(open(&[]), Some([0.0; 2]));
        }
    }
}
