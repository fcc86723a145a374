//! Sizing of slices: how well a table of records will measure, and the smallest one that is good enough.
//!
//! # Theory
//!
//! An interval of T ns has N packets, sent at random, of which the share l is lost. A packet starts a slice with probability
//! p = 2^-z. A table that merges comes to the least z at which its records are enough; here, to the least at which they are in
//! 95 % of intervals, so that what is promised holds for tables that are emptier by chance, too. Where records are only appended, as in hardware, that z is
//! the prefix length to build, from 1 to 16; where 16 are too few, nothing is promised. A boundary that arrives
//! is common to both ends: with probability q = p (1 - l), so that a slice has m + 1 packets with probability q (1 - q)^m.
//!
//! The losses of a slice count with the mean sending time of its packets but for the first ([`crate::slices`]). Of m packets that are
//! T/N apart, each lost with probability l', the sum of their times then varies by l' (1 - l') (T/N)^2 m (m^2 - 1) / 12. With r = (1 - q) / q, the
//! expectation of m (m^2 - 1) is 6 r^2 / q. Lost boundaries are known exactly; so l' = l (1 - p) are not, and over all N q slices
//!
//! | quantity | expectation |
//! |---|---|
//! | boundaries that both ends have, n | N q |
//! | variance of the completed mean | N l' (1 - l') (r T/N)^2 b / 2 / R^2 + (N l' T/N)^2 (1/q + b - 1) / 3 k / (k + 1/3)^2 / R^2 |
//! | variance of the mean of the boundaries' own delays | sigma^2 (1/n - 1/R) |
//! | variance of both, weighted | 1 / (1 / one + 1 / other) |
//! | error of sigma, relative to it | sqrt(2 (1/(n - 1) - 1/(R - 1)) + excess kurtosis (1/n - 1/R)) / 2 |
//! | error of the rank of the P-quantile | sqrt(P (1 - P) / n) |
//!
//! for R = N (1 - l) received packets. Where b packets are lost in a row, they share their place in the slice: their times
//! vary together, b times as much.
//!
//! What is added is the noise of lateness, of which k = N l p lost boundaries tell. Of a boundary with m packets before it in its slice, and as
//! many behind it on average, the times of all, sent at random, vary by (m^3 + m^3) / 3 / (2 m)^2 squares of T/N. Slices are as long as chance has it, which makes it 1/q/3; lost boundaries
//! tell of slices that are longer by a burst. In even traffic there is none of it: there errors are smaller than expected, by a quarter at most.
//!
//! # Limits
//!
//! Packets are sent at random times, all alike. Where they leave in trains, errors are larger, and where they do not keep their order, there is no mean. Sums of times are known modulo
//! 2^40 ns, and there is no mean where a slice may have more, packets times its length: a table whose longest slice has as much in more than 5 % of
//! intervals promises nothing either.
//!
//! # Test plan
//!
//! Extremes by hand; that long slices are told. Errors of mean, deviation and ranks, and boundaries, against simulation with the product's tables and estimator
//! (`sim/lab/tests/sizing_slices.rs`). The smallest table is good enough, and half of it is not.

use super::{Load, ONE_SIDED_95, Targets};
use crate::Confidence;
use crate::singles_needed;
use crate::slices::NONE_KNOWN;
use deltaline_model::sketch::sampler::MAX_PREFIX;
use deltaline_model::sketch::slices::RECORD_CELLS;
use std::ops::RangeInclusive;

/// Fewest boundaries of a table in 95 % of intervals: fewer do not show how long bursts of losses are.
pub const LEAST_BOUNDARIES: f64 = 8.0;
/// Packets of a slice times its length in nanoseconds that its sum of times can tell.
const MOST_SUM: f64 = (1u64 << 40) as f64;
/// Zeros of the boundaries of a table that merges.
pub const MERGED: RangeInclusive<u32> = 0..=32;
/// Zeros of those of a table to which records are only appended.
pub const APPENDED: RangeInclusive<u32> = 1..=MAX_PREFIX as u32;

/// What of an interval's traffic slices see in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Length of the interval in nanoseconds.
    pub interval: f64,
    /// Mean delay in nanoseconds.
    pub delay: f64,
    /// Packets that are lost in a row, at least 1.
    pub burst: f64,
}

/// The expected accuracy of slices in an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expectation {
    /// Zeros that a boundary's place begins with.
    pub zeros: u32,
    /// Whether the table may be full even so in more than 5 % of intervals.
    pub is_full: bool,
    /// Boundaries that both ends have.
    pub boundaries: f64,
    /// The number of them that 95 % of intervals reach, at least 0.
    pub boundaries_least: f64,
    /// Packets of a slice that both ends have.
    pub slice: f64,
    /// Root mean square error of the mean, relative to it; infinite where a slice may last so long that its sum of times goes round.
    pub mean: f64,
    /// Whether one may.
    pub wraps: bool,
    /// Root mean square error of the standard deviation, relative to it.
    pub deviation: f64,
}

impl Expectation {
    /// The accuracy that a table of so many records gives in an interval with this load, if boundaries have one of these numbers of zeros.
    pub fn of(records: usize, load: &Load, timing: &Timing, zeros: RangeInclusive<u32>) -> Self {
        let Load { packets, loss, variation, kurtosis } = *load;
        let share = |zeros: u32| (-f64::from(zeros)).exp2();
        let fits = |zeros: &u32| {
            let boundaries = packets * share(*zeros);
            boundaries + ONE_SIDED_95 * (boundaries * (1.0 - share(*zeros))).sqrt() <= records as f64
        };
        let most = *zeros.end();
        let found = zeros.into_iter().find(fits);
        let (zeros, is_full) = (found.unwrap_or(most), found.is_none());
        let received = packets * (1.0 - loss);
        let common = share(zeros) * (1.0 - loss);
        let boundaries = packets * common;
        let (inner, apart) = (loss * (1.0 - share(zeros)), timing.interval / packets);
        let slice = common.recip();
        let reach = (slice - 1.0) * apart;
        let placed = 0.5 * inner * (1.0 - inner) * packets * reach.powi(2) * timing.burst;
        let (unseen, known) = (packets * inner, packets * loss * share(zeros));
        let noise = (slice + timing.burst - 1.0) / 3.0 * apart.powi(2);
        let late = unseen.powi(2) * noise * known / (known + NONE_KNOWN).powi(2);
        let completed = (placed + late) / received.powi(2);
        let unsampled = |sampled: f64, all: f64| (sampled.max(0.0).recip() - all.max(0.0).recip()).max(0.0);
        let own = (variation * timing.delay).powi(2) * unsampled(boundaries, received);
        let pairs = unsampled(boundaries - 1.0, received - 1.0);
        let variance = if completed > 0.0 && own > 0.0 {
            (completed.recip() + own.recip()).recip()
        } else {
            completed.min(own)
        };
        // The longest of n is longer than ln n + 3 on average once in twenty times. The receiver's last longer.
        let longest = (boundaries.max(1.0).ln() + 3.0) / share(zeros);
        let wraps = longest * longest * apart / (1.0 - loss) >= MOST_SUM;
        Expectation {
            zeros,
            is_full,
            boundaries,
            boundaries_least: (boundaries - ONE_SIDED_95 * (boundaries * (1.0 - common)).sqrt()).max(0.0),
            slice,
            mean: if wraps { f64::INFINITY } else { variance.sqrt() / timing.delay },
            wraps,
            deviation: 0.5 * (2.0 * pairs + kurtosis * unsampled(boundaries, received)).sqrt(),
        }
    }

    /// Root mean square error of the rank of the `probability`-quantile, where it is reported.
    pub fn rank(&self, probability: f64) -> f64 {
        (probability * (1.0 - probability) / self.boundaries).sqrt()
    }

    /// The largest ratio of an error to its target, or of what an estimate takes to what is there; 1 or less is good enough.
    pub fn excess(&self, targets: &Targets) -> f64 {
        if self.is_full {
            return f64::INFINITY;
        }
        let errors = [(self.mean, targets.mean), (self.deviation, targets.deviation)];
        let errors = errors.into_iter().filter_map(|(error, target)| Some(error / target?));
        let ranks = targets.quantiles.iter().map(|(probability, target)| {
            let needed = singles_needed(*probability, Confidence::P95) as f64;
            (self.rank(*probability) / target).max(needed / self.boundaries_least)
        });
        let scarcity = LEAST_BOUNDARIES / self.boundaries_least;
        errors
            .chain(ranks)
            .map(|each| if each.is_nan() { f64::INFINITY } else { each })
            .fold(scarcity, f64::max)
    }
}

/// A table and its accuracy.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizing {
    /// Rows: two a record.
    pub rows: usize,
    /// What is expected at each load.
    pub at: Vec<(Load, Expectation)>,
    /// The largest ratio of an error to its target over all of them; 1 or less is good enough.
    pub excess: f64,
}

impl Sizing {
    /// A table of so many rows at these loads, with boundaries of one of these numbers of zeros.
    pub fn of(
        rows: usize,
        loads: &[Load],
        timing: &Timing,
        targets: &Targets,
        zeros: &RangeInclusive<u32>,
    ) -> Self {
        let expected =
            |load: &Load| (*load, Expectation::of(rows / RECORD_CELLS, load, timing, zeros.clone()));
        let at: Vec<(Load, Expectation)> = loads.iter().map(expected).collect();
        let excess = at.iter().map(|(_, expected)| expected.excess(targets)).fold(0.0, f64::max);
        Sizing { rows, at, excess }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: Load = Load { packets: 1e6, loss: 0.01, variation: 0.5, kurtosis: 1.0 };
    const TIMING: Timing = Timing { interval: 1e8, delay: 1e3, burst: 1.0 };

    fn close(found: f64, expected: f64, share: f64) {
        assert!((found / expected - 1.0).abs() < share, "{found}, not {expected}");
    }

    #[test]
    fn extremes() {
        // 488 boundaries of 11 zeros and three deviations are more than 512, 1.6 are not.
        let found = Expectation::of(512, &LOAD, &TIMING, MERGED);
        assert_eq!((found.zeros, Expectation::of(488, &LOAD, &TIMING, MERGED).zeros), (12, 12));
        assert_eq!(Expectation::of(526, &LOAD, &TIMING, MERGED).zeros, 11);
        close(found.boundaries, 1e6 / 4096.0 * 0.99, 1e-9);
        // 10,000 losses, each somewhere in a slice of 0.41 ms that is as long as its length makes likely.
        let completed = squared_error(1.0).sqrt();
        let own = 5e2 / found.boundaries.sqrt();
        close(found.mean, (completed.powi(-2) + own.powi(-2)).powf(-0.5) / 1e3, 0.01);
        close(found.rank(0.5), 0.5 / found.boundaries.sqrt(), 1e-9);
        close(found.deviation, 0.5 * (3.0 / found.boundaries).sqrt(), 0.01);
        // Delays of two values, as often one as the other: how many of n are of one varies by n/4.
        let coin = Expectation::of(512, &Load { kurtosis: -2.0, ..LOAD }, &TIMING, MERGED);
        let n = found.boundaries;
        close(coin.deviation, 0.5 * (2.0 / (n * (n - 1.0))).sqrt(), 1e-3);
        // Nothing is lost: sums say all. As many records as packets: all delays are known.
        assert_eq!(Expectation::of(512, &Load { loss: 0.0, ..LOAD }, &TIMING, MERGED).mean, 0.0);
        let all = Expectation::of(1_000_000, &Load { loss: 0.5, ..LOAD }, &TIMING, MERGED);
        assert_eq!((all.zeros, all.mean), (0, 0.0));
        assert_eq!(Expectation::of(512, &Load { packets: 500.0, ..LOAD }, &TIMING, MERGED).zeros, 0);
    }

    /// Of the completed mean of 10,000 losses, so many in a row, 2.44 of which are boundaries of slices with 4,137 packets.
    fn squared_error(burst: f64) -> f64 {
        let (slice, known) = (4096.0 / 0.99, 1e4f64 / 4096.0);
        let placed = 1e4 * 0.99 * burst / 2.0 * (slice * 1e2f64).powi(2);
        let noise = (slice + burst - 1.0) / 3.0 * 1e2f64.powi(2);
        (placed + 1e8 * noise * known / (known + NONE_KNOWN).powi(2)) / 0.99e6f64.powi(2)
    }

    #[test]
    fn bursts_make_errors_larger() {
        for burst in [1.0, 4.0, 1000.0] {
            let found = Expectation::of(512, &LOAD, &Timing { burst, delay: 1e9, ..TIMING }, MERGED);
            close(found.mean * 1e9, squared_error(burst).sqrt(), 1e-3);
        }
    }

    #[test]
    fn sums_that_go_round_promise_nothing() {
        // The longest slice of 512 records has two million packets in 0.2 s, that of 32,768 has 52,000 in 5 ms.
        let load = Load { packets: 1e8, ..LOAD };
        let mean =
            |records| Expectation::of(records, &load, &Timing { interval: 1e10, ..TIMING }, MERGED).mean;
        assert!(mean(512).is_infinite() && mean(32_768).is_finite());
        let found = Expectation::of(512, &load, &Timing { interval: 1e10, ..TIMING }, MERGED);
        assert!(
            found.wraps
                && !Expectation::of(32_768, &load, &Timing { interval: 1e10, ..TIMING }, MERGED).wraps
        );
    }

    #[test]
    fn appended_records_have_a_length_that_is_built() {
        let found = |packets| Expectation::of(512, &Load { packets, ..LOAD }, &TIMING, APPENDED);
        assert_eq!(
            [found(100.0), found(1e6), found(3e7)].map(|it| (it.zeros, it.is_full)),
            [(1, false), (12, false), (16, false)]
        );
        // 2^16 times 512, less what chance adds.
        let (full, targets) = (found(3.3e7), Targets::default());
        assert_eq!((full.zeros, full.is_full), (16, true));
        assert!(full.excess(&targets).is_infinite() && found(3e7).excess(&targets) < 1.0);
    }

    #[test]
    fn what_is_lost_altogether_is_never_good_enough() {
        let targets = Targets { mean: Some(1e9), ..Targets::default() };
        for load in [Load { loss: 1.0, ..LOAD }, Load { packets: 3.0, ..LOAD }] {
            assert!(Sizing::of(1024, &[LOAD, load], &TIMING, &targets, &MERGED).excess > 1.0);
        }
        assert!(Sizing::of(1024, &[LOAD], &TIMING, &targets, &MERGED).excess <= 1.0);
        let tail = Targets { deviation: Some(1.0), ..Targets::default() };
        let load = Load { kurtosis: f64::INFINITY, ..LOAD };
        assert!(Sizing::of(1024, &[load], &TIMING, &tail, &MERGED).excess.is_infinite());
        // p99 takes 368 boundaries.
        let rank = Targets { quantiles: vec![(0.99, 0.1)], ..Targets::default() };
        assert!(Sizing::of(1024, &[LOAD], &TIMING, &rank, &MERGED).excess > 1.0);
        assert!(Sizing::of(2048, &[LOAD], &TIMING, &rank, &MERGED).excess <= 1.0);
    }
}
