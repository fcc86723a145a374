//! A histogram of delays that takes bounded memory and adds up over intervals, links and hosts.
//!
//! [`Singles`] are exact, but grow with every interval. A [`Histogram`] keeps only how many of them fell between
//! powers of 1.002 nanoseconds, with bins of their own for negative ones (DDSketch: Masson, Rim and Lee, 2019; the
//! crate `sketches-ddsketch`).
//!
//! # Guarantees
//!
//! A quantile of the histogram is within [`RELATIVE_ERROR`] of the same quantile of the recorded delays, or within
//! a nanosecond. That holds for every distribution, and merging in any order gives the same quantile. The bins
//! cover every delay that a row can hold, so none is ever folded into its neighbour.
//!
//! Bias and variance against all packets are those of the sample: see [`crate::quantile`], which also gives
//! confidence intervals. Here every delay has the same weight, while [`crate::quantile`] weighs intervals of which
//! unequal shares were sampled.
//!
//! # Test plan
//!
//! Quantiles against the sorted delays, with and without negative ones; merging in any order against recording all
//! in one.

use crate::Singles;
use sketches_ddsketch::{Config, DDSketch};

/// How far a quantile may be from that of the recorded delays, as a share of the latter.
pub const RELATIVE_ERROR: f64 = 0.001;
/// Powers of (1 + error) / (1 - error) up to 2^40, more than a delay's 2^39 nanoseconds.
const BINS: u32 = 14_000;

/// Delays of single packets, counted.
#[derive(Clone)]
pub struct Histogram(DDSketch);

impl Default for Histogram {
    fn default() -> Self {
        Self(DDSketch::new(Config::new(RELATIVE_ERROR, BINS, 1.0)))
    }
}

impl Histogram {
    /// Adds an interval's delays.
    pub fn record(&mut self, singles: &Singles) {
        singles.delays().iter().for_each(|delay| self.0.add(*delay as f64));
    }

    /// Adds all that another histogram holds.
    pub fn merge(&mut self, other: &Histogram) {
        // Only histograms with other bins are refused, and all of ours have the same.
        let _ = self.0.merge(&other.0);
    }

    /// Delays recorded.
    pub fn count(&self) -> u64 {
        self.0.count() as u64
    }

    /// The `probability`-quantile in nanoseconds; none for an empty histogram or for a `probability` outside 0 to
    /// 1.
    pub fn quantile(&self, probability: f64) -> Option<f64> {
        self.0.quantile(probability).ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn histogram(delays: &[i64]) -> Histogram {
        let mut histogram = Histogram::default();
        histogram.record(&Singles::known(delays.to_vec()));
        histogram
    }

    /// A delay of any magnitude, of either sign.
    fn delay() -> impl Strategy<Value = i64> {
        (0u32..39, any::<u64>(), any::<bool>()).prop_map(|(bits, value, is_negative)| {
            let magnitude = (value % (1 << bits)) as i64;
            if is_negative { -magnitude } else { magnitude }
        })
    }

    proptest! {
        #[test]
        fn quantiles_are_those_of_the_delays(
            mut delays in proptest::collection::vec(delay(), 1..300), probability in 0.0..=1.0f64, split: prop::sample::Index,
        ) {
            let (first, second) = delays.split_at(split.index(delays.len()));
            let mut merged = histogram(second);
            merged.merge(&histogram(first));
            let whole = histogram(&delays);
            prop_assert_eq!(merged.count(), delays.len() as u64);
            prop_assert_eq!(merged.quantile(probability), whole.quantile(probability));
            delays.sort_unstable();
            // The library's rank is rounded down; half a rank more does no harm.
            let rank = (probability * (delays.len() - 1) as f64) as usize;
            let found = whole.quantile(probability).unwrap();
            let is_near = |exact: i64| (found - exact as f64).abs() <= RELATIVE_ERROR * 1.001 * exact.abs() as f64 + 1.0;
            prop_assert!(is_near(delays[rank]) || delays.get(rank + 1).is_some_and(|next| is_near(*next)), "{} {:?}", found, delays.get(rank));
        }
    }

    #[test]
    fn nothing_has_no_quantile() {
        assert_eq!(Histogram::default().quantile(0.5), None);
        assert_eq!(histogram(&[3]).quantile(1.5), None);
        assert_eq!(histogram(&[]).count(), 0);
    }
}
