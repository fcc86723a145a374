//! What lost boundaries show of when lost packets were sent.
//!
//! The hash that makes a packet a boundary knows nothing of its fate: lost boundaries are a random sample of all lost packets, and the sender has the
//! time of each. Of n of them, each is so much later than the mean of its slice's packets; the other losses are as much later on average, wherever queues
//! drop packets:
//!
//! ```text
//! sum of the lost packets' times = known times + sum l t + (L - n) d
//! ```
//!
//! with t the mean time of a slice's packets, l those of it that were lost unseen, L all that were lost, and d the mean of what the sample is later by. As of every random sample without
//! replacement, the variance is s^2 L (L - n) / n.

use super::align::{First, Slice};
use super::guess::Guess;
use super::sample::{Sample, VALUES_FOR_SHAPE};

/// Fewer lost boundaries tell too little of how far their times spread.
pub(crate) const LEAST_LOST: f64 = VALUES_FOR_SHAPE;

/// The sum of the times of those lost packets whose times are not known, each since its slice's start, by the times that are known; none
/// where they are few, or all alike.
pub(super) fn guess(slices: &[Slice]) -> Option<Guess> {
    let (mut later, mut unseen, mut sum) = (vec![], 0.0, 0.0);
    for slice in slices {
        let mean = mean_time(slice);
        let known = slice.parts.iter().filter(|part| part.first == First::Lost);
        let before = later.len();
        later.extend(known.map(|part| ((part.start - slice.start) as f64 - mean) as i64));
        let lost = slice.lost as f64 - (later.len() - before) as f64;
        unseen += lost;
        sum += lost * mean;
    }
    let later = Sample::of(&later);
    let share = unseen / (unseen + later.count);
    // A sample without spread does not say that all are so.
    let has_spread = later.variance > 0.0 || unseen == 0.0;
    (later.count >= LEAST_LOST && has_spread).then(|| Guess {
        nanoseconds: sum + unseen * later.mean,
        variance: later.variance * unseen * (unseen + later.count) / later.count,
        freedom: later.freedom,
        skew: later.skew(share),
    })
}

/// Mean time of a slice's packets since its start, but for its first one if that arrived.
fn mean_time(slice: &Slice) -> f64 {
    let first = slice.parts.first().filter(|part| part.first == First::Arrived);
    let packets = slice.sent - u64::from(first.is_some());
    let all: i128 = slice.parts.iter().map(|part| part.sum).sum();
    let sum =
        all - first.map_or(0, |part| i128::from(part.start)) - i128::from(packets) * i128::from(slice.start);
    if packets == 0 { 0.0 } else { sum as f64 / packets as f64 }
}
