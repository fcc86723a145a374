//! Sizing: how well a configuration will measure before it is built, and the smallest one that is good enough.
//!
//! # Theory
//!
//! An interval has N packets, each of which is lost with probability l. Bank j has m rows and samples the share
//! p_j. Hashing scatters packets independently. So the number of packets in a row that arrive is Poisson with mean
//! µ_j = p_j N (1 - l) / m, and the number of those lost is Poisson and independent of it. The row is usable with
//! probability u_j = e^(-p_j N l / m). Hence
//!
//! | quantity | expectation |
//! |---|---|
//! | effective samples S | sum of m u_j µ_j |
//! | usable rows g that hold packets | sum of m u_j (1 - e^-µ_j) |
//! | rows with a single packet at both ends | sum of m s_j, with s_j = u_j µ_j e^-µ_j |
//!
//! S varies by v = Var S / S^2, with Var S = sum of m (u_j (µ_j + µ_j^2) - u_j^2 µ_j^2). For R = N (1 - l) received
//! packets with standard deviation sigma and excess kurtosis k:
//!
//! | root mean square error | formula |
//! |---|---|
//! | of the mean, relative to it | sigma/mu * sqrt((1 + v) / S - 1/R) |
//! | of sigma, relative to it | sqrt(V g / (g - 1) - (k + 2) / R) / 2, with V = 1 / sum of 1 / (2 + k/n) over the rows |
//! | of the rank of the q-quantile | sqrt(q (1 - q) / singles) |
//!
//! A quantile is reported from so many single packets on that their extremes enclose it ([`singles_needed`]). Their number
//! varies with the sum of m s_j (1 - s_j), and 95 % of intervals have at least the expectation less 1.645 deviations of it:
//! a quantile that needs more is not promised. So with usable rows and effective samples: estimates from fewer than [`LEAST_ROWS`] or
//! [`LEAST_SAMPLES`] are marked, and 95 % of intervals shall not be.
//!
//! On the second formula: the squared sum of a row of n packets, over n, consists of its packets' squares over n
//! and of products of different packets. The products vary with 2 (1 - 1/n), the squares with (k + 2) / n, together with
//! 2 + k/n. The estimate weighs rows by the inverse of that, or alike where k is negative. As packets are drawn without
//! replacement, their squares vary by (k + 2) / R less.
//!
//! # Limits
//!
//! Losses are assumed independent of each other. Bursts are no restriction: hashes scatter the packets of a burst,
//! so its losses hit rows as independent ones would. A loss that differs from interval to interval is a
//! restriction: give the range of the loss of an interval, not that of its average. The errors are those of one
//! interval; n intervals together have errors sqrt(n) times smaller. With a heavy tail of delays, a few packets of
//! the interval decide its sigma: with k infinite no sampling estimates the sigma of all packets well.
//!
//! Prefix lengths that follow the loss are assumed to fit the interval's loss. It must not differ much from that of
//! two intervals before, from which they were computed.
//!
//! # Test plan
//!
//! Extremes by hand. The errors, samples, rows and single packets of a grid of configurations, losses and delay
//! laws against simulation, within margins from theory (`sim/lab/tests/sizing.rs`). The smallest design fits, and
//! no smaller one does. Targets that no design reaches. Prefix lengths that follow the loss are those of the
//! control loop.

pub mod slices;

use crate::{Confidence, prefixes_for_loss, singles_needed};
use deltaline_model::sketch::sampler::{MAX_PREFIX, PrefixError, Prefixes};

/// Fewest usable rows of a design; from here on the intervals of the mean have their stated coverage.
pub const LEAST_ROWS: f64 = 32.0;
/// Fewest packets in usable rows of a design, which show a tail: of those that are one in a hundred, 300 hold none once in twenty times.
/// What is rarer may not show, however the rest is spread. Estimates from fewer are marked.
pub const LEAST_SAMPLES: f64 = 300.0;

/// Deviations below its mean that 95 % of a normal variable lie above.
const ONE_SIDED_95: f64 = 1.644_854;

/// The traffic of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Packets sent.
    pub packets: f64,
    /// The share of them that is lost, 0 to 1.
    pub loss: f64,
    /// Standard deviation of delay over its mean.
    pub variation: f64,
    /// Excess kurtosis of delay: 0 for normal delays, 6 for exponential ones.
    pub kurtosis: f64,
}

/// The expected accuracy of an interval's estimates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expectation {
    /// Effective samples.
    pub samples: f64,
    /// Usable rows that hold packets.
    pub rows: f64,
    /// Rows that hold a single packet, the same at both ends.
    pub singles: f64,
    /// The number of such rows that 95 % of intervals reach, at least 0.
    pub singles_least: f64,
    /// Root mean square error of the mean, relative to it.
    pub mean: f64,
    /// Root mean square error of the standard deviation, relative to it.
    pub deviation: f64,
    /// Usable rows that 95 % of intervals reach, at least 0.
    pub rows_least: f64,
    /// Effective samples that 95 % of intervals reach, at least 0.
    pub samples_least: f64,
}

impl Expectation {
    /// The accuracy that banks of `rows` rows with these prefixes give in an interval with this load.
    pub fn of(rows: usize, prefixes: &Prefixes, load: &Load) -> Self {
        let (m, received) = (rows as f64, load.packets * (1.0 - load.loss));
        let (mut samples, mut usable, mut singles, mut variance) = (0.0, 0.0, 0.0, 0.0);
        let (mut weights, mut squares, mut singles_variance, mut usable_variance) = (0.0, 0.0, 0.0, 0.0);
        let weight = |packets: f64| (2.0 + load.kurtosis.max(0.0) / packets).recip();
        let square = |packets: f64| weight(packets).powi(2) * (2.0 + load.kurtosis / packets);
        for bank in 0..prefixes.banks() {
            let hits = prefixes.probability(bank) * load.packets / m;
            let (whole, arrive) = ((-hits * load.loss).exp(), hits * (1.0 - load.loss));
            let empty = (-arrive).exp();
            samples += m * whole * arrive;
            let filled = whole * (1.0 - empty);
            usable += m * filled;
            usable_variance += m * filled * (1.0 - filled);
            let single = whole * arrive * empty;
            singles += m * single;
            singles_variance += m * single * (1.0 - single);
            variance += m * whole * arrive * (1.0 + arrive - whole * arrive);
            weights += m * whole * mean_over_rows(arrive, weight);
            squares += m * whole * mean_over_rows(arrive, square);
        }
        // The hash cannot sample more than there is, and nothing varies when it samples all.
        let all = prefixes.lengths().first() == Some(&0) && load.loss == 0.0;
        if all {
            (samples, variance) = (received, 0.0);
        }
        let spread = ((1.0 + variance / samples.powi(2)) / samples - received.recip()).max(0.0);
        let mean = if all { 0.0 } else { load.variation * spread.sqrt() };
        let of_rows = squares / weights.powi(2) * usable / (usable - 1.0).max(0.0);
        // Nothing to weigh, or all weights nothing: a tail without a fourth moment.
        let squares = if weights > 0.0 { of_rows - (load.kurtosis + 2.0) / received } else { f64::INFINITY };
        let least = |number: f64, variance: f64| (number - ONE_SIDED_95 * variance.sqrt()).max(0.0);
        Expectation {
            samples,
            rows: usable,
            rows_least: least(usable, usable_variance),
            samples_least: least(samples, variance),
            singles,
            singles_least: least(singles, singles_variance),
            mean,
            deviation: 0.5 * squares.max(0.0).sqrt(),
        }
    }

    /// Rows and samples from which on estimates are not marked, over those that 95 % of intervals reach: the larger ratio.
    fn scarcity(&self) -> f64 {
        (LEAST_ROWS / self.rows_least).max(LEAST_SAMPLES / self.samples_least)
    }

    /// Half of the mean's confidence interval, relative to it.
    pub fn mean_interval(&self, confidence: Confidence) -> f64 {
        confidence.student(self.rows - 1.0) * self.mean
    }

    /// Whether the `probability`-quantile is reported, with its 95 % interval, in at least 95 % of intervals.
    pub fn shows(&self, probability: f64) -> bool {
        self.shortage(probability) <= 1.0
    }

    /// Single packets that the quantile needs, over those that 95 % of intervals reach.
    fn shortage(&self, probability: f64) -> f64 {
        singles_needed(probability, Confidence::P95) as f64 / self.singles_least
    }

    /// Root mean square error of the rank of the `probability`-quantile, where it is reported.
    pub fn rank(&self, probability: f64) -> f64 {
        (probability * (1.0 - probability) / self.singles).sqrt()
    }
}

/// The sum over n >= 1 of `value` of n times the Poisson probability of n.
fn mean_over_rows(average: f64, value: impl Fn(f64) -> f64) -> f64 {
    // Above 30, three points of the normal distribution do: good to a thousandth for 1/n, and better for all that varies less.
    if average > 30.0 {
        let step = (3.0 * average).sqrt();
        return (value(average - step) + 4.0 * value(average) + value(average + step)) / 6.0;
    }
    let (mut probability, mut sum) = ((-average).exp(), 0.0);
    for n in 1..200 {
        probability *= average / f64::from(n);
        sum += probability * value(f64::from(n));
        if f64::from(n) > average && probability < 1e-9 {
            break;
        }
    }
    sum
}

/// The errors that estimates may have at every loss of the range. `None` leaves that error unlimited. A quantile must also be
/// reported in 95 % of intervals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Targets {
    /// Root mean square error of the mean, relative to it.
    pub mean: Option<f64>,
    /// Root mean square error of the standard deviation, relative to it.
    pub deviation: Option<f64>,
    /// Quantiles: probability and root mean square error of the rank.
    pub quantiles: Vec<(f64, f64)>,
}

impl Targets {
    /// The largest ratio of an error to its target; 1 or less is good enough.
    pub fn excess(&self, expected: &Expectation) -> f64 {
        let errors = self.mean.map(|target| expected.mean / target).into_iter();
        let errors = errors.chain(self.deviation.map(|target| expected.deviation / target));
        let quantiles = self.quantiles.iter();
        let errors = errors
            .chain(quantiles.map(|(q, target)| (expected.rank(*q) / target).max(expected.shortage(*q))));
        errors.fold(expected.scarcity(), f64::max)
    }
}

/// A configuration and its worst accuracy.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizing {
    /// Rows of each bank.
    pub rows: usize,
    /// The banks. Where they follow the loss, these are the first to use: those for the last load.
    pub prefixes: Prefixes,
    /// The loads that were evaluated, and the banks at each.
    pub at: Vec<(Load, Prefixes)>,
    /// The largest ratio of an error to its target over all of them; 1 or less is good enough.
    pub excess: f64,
}

/// The largest ratio of an error to its target.
fn worst<'a>(rows: usize, at: impl IntoIterator<Item = (&'a Load, &'a Prefixes)>, targets: &Targets) -> f64 {
    at.into_iter()
        .map(|(load, prefixes)| targets.excess(&Expectation::of(rows, prefixes, load)))
        .fold(0.0, |worst: f64, excess| if excess.is_nan() { f64::INFINITY } else { worst.max(excess) })
}

/// `banks` banks of `rows` rows whose prefixes follow the loss ([`prefixes_for_loss`]). The `loads` differ in loss
/// alone, in ascending order.
///
/// Where a prefix changes, the number of samples and usable rows jumps. So the losses on both sides of every such
/// change are evaluated too.
///
/// # Errors
///
/// [`PrefixError::Banks`] unless there are 1 to 8 banks and a load.
pub fn following_prefixes(
    rows: usize,
    banks: usize,
    loads: &[Load],
    targets: &Targets,
) -> Result<Sizing, PrefixError> {
    let (Some(first), Some(last)) = (loads.first(), loads.last()) else {
        return Err(PrefixError::Banks(banks));
    };
    let changes = (0..=MAX_PREFIX).map(|length| (rows << length) as f64);
    let changes = changes.flat_map(|lost| [lost, lost + 1.0].map(|lost| lost / first.packets));
    let inside = changes.filter(|loss| (first.loss..=last.loss).contains(loss));
    let mut loads: Vec<Load> =
        inside.map(|loss| Load { loss, ..*first }).chain(loads.iter().copied()).collect();
    loads.sort_by(|a, b| a.loss.total_cmp(&b.loss));
    let fit = |load: Load| {
        let lost = (load.packets * load.loss).round() as u64;
        Ok((load, prefixes_for_loss(banks, rows, load.packets as u64, lost)?))
    };
    let at: Vec<(Load, Prefixes)> = loads.into_iter().map(fit).collect::<Result<_, _>>()?;
    let (_, prefixes) = *at.last().ok_or(PrefixError::Banks(banks))?;
    let excess = worst(rows, at.iter().map(|(load, prefixes)| (load, prefixes)), targets);
    Ok(Sizing { rows, prefixes, at, excess })
}

/// The best prefixes for `banks` banks of `rows` rows: those whose largest ratio of an error to its target, over
/// all `loads`, is the smallest.
///
/// # Errors
///
/// [`PrefixError::Banks`] unless there are 1 to 8 banks.
pub fn best_prefixes(
    rows: usize,
    banks: usize,
    loads: &[Load],
    targets: &Targets,
) -> Result<Sizing, PrefixError> {
    let mut best: Option<(f64, Prefixes)> = None;
    let mut lengths: Vec<u8> = (0..banks.min(usize::from(MAX_PREFIX)) as u8).collect();
    loop {
        let prefixes = Prefixes::new(&lengths)?;
        let excess = worst(rows, loads.iter().map(|load| (load, &prefixes)), targets);
        if best.is_none_or(|(least, _)| excess < least) {
            best = Some((excess, prefixes));
        }
        // The next ascending lengths: the last one that can still rise does, and those after it follow closely.
        let room = |place: usize| MAX_PREFIX - (banks - 1 - place) as u8;
        match (0..banks).rev().find(|&place| lengths[place] < room(place)) {
            Some(place) => {
                let first = lengths[place] + 1;
                lengths.truncate(place);
                lengths.extend((0..(banks - place) as u8).map(|step| first + step));
            }
            None => break,
        }
    }
    let (excess, prefixes) = best.ok_or(PrefixError::Banks(banks))?;
    Ok(Sizing { rows, prefixes, at: loads.iter().map(|load| (*load, prefixes)).collect(), excess })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: Load = Load { packets: 1e6, loss: 0.01, variation: 1.0, kurtosis: 6.0 };

    fn expected(rows: usize, lengths: &[u8], load: &Load) -> Expectation {
        Expectation::of(rows, &Prefixes::new(lengths).unwrap(), load)
    }

    fn close(found: f64, expected: f64, share: f64) {
        assert!((found / expected - 1.0).abs() < share, "{found}, not {expected}");
    }

    #[test]
    fn extremes() {
        // Nothing lost and everything sampled: the mean is exact, and sigma has 1023 degrees of freedom.
        let whole = expected(1024, &[0], &Load { loss: 0.0, ..LOAD });
        assert_eq!((whole.samples, whole.mean, whole.mean_interval(Confidence::P95)), (1e6, 0.0, 0.0));
        close(whole.deviation, (0.5 / 1023f64).sqrt(), 0.002);
        // One packet a row or none: the sample's own moments.
        let sparse = expected(1024, &[16], &LOAD);
        close(sparse.samples, 1e6 / 65_536.0 * 0.99, 0.001);
        close(sparse.rows, sparse.samples, 0.01);
        close(sparse.deviation, (8.0 / (sparse.samples - 1.0)).sqrt() / 2.0, 0.02);
        close(sparse.rank(0.5), 0.5 / sparse.singles.sqrt(), 1e-9);
        // A packet a row on average: a share 1/e of the rows.
        let singles = expected(1024, &[0], &Load { packets: 1024.0, loss: 0.0, ..LOAD });
        close(singles.singles, 1024.0 / std::f64::consts::E, 1e-9);
        // The paper's tuned bank: S = m α e^-α / l.
        let tuned = expected(1024, &[4], &Load { loss: 512.0 * 16.0 / 1e6, ..LOAD });
        close(tuned.samples, 1e6 / 16.0 * (-0.5f64).exp(), 0.01);
    }

    #[test]
    fn means_over_rows() {
        let weight = |packets: f64| (2.0 + 6.0 / packets).recip();
        // At the seam of sum and points, and where a single packet is all there is.
        close(mean_over_rows(29.999, weight), mean_over_rows(30.001, weight), 2e-4);
        close(mean_over_rows(29.999, f64::recip), mean_over_rows(30.001, f64::recip), 2e-3);
        close(mean_over_rows(1e-6, weight), 1e-6 / 8.0, 1e-5);
        // No row is empty, and the average packets are as many as there are.
        close(mean_over_rows(3.0, |_| 1.0), 1.0 - (-3f64).exp(), 1e-8);
        for average in [3.0, 300.0] {
            close(mean_over_rows(average, |packets| packets), average, 1e-7);
        }
    }

    #[test]
    fn a_light_tail_has_rows_alike() {
        // A packet a row at most: the squares of uniform delays vary by k + 2 = 0.8.
        let load = Load { kurtosis: -1.2, ..LOAD };
        let sparse = expected(1024, &[16], &load);
        close(sparse.deviation, (0.8 / (sparse.samples - 1.0)).sqrt() / 2.0, 0.02);
    }

    #[test]
    fn the_best_prefixes_are_those_of_a_search_through_all() {
        let targets = Targets { mean: Some(0.02), deviation: Some(0.05), ..Targets::default() };
        let loads = [0.001, 0.1].map(|loss| Load { loss, ..LOAD });
        let worst = |lengths: &[u8]| {
            loads.iter().map(|load| targets.excess(&expected(512, lengths, load))).fold(0.0, f64::max)
        };
        let mut least = (f64::INFINITY, vec![]);
        for first in 0..16 {
            for second in first + 1..=16 {
                let excess = worst(&[first, second]);
                if excess < least.0 {
                    least = (excess, vec![first, second]);
                }
            }
        }
        let best = best_prefixes(512, 2, &loads, &targets).unwrap();
        assert_eq!((best.excess, best.prefixes.lengths()), (least.0, &least.1[..]));
        assert_eq!(best.at, loads.map(|load| (load, best.prefixes)));
        assert!(best_prefixes(512, 1, &loads, &targets).unwrap().excess > best.excess);
        assert_eq!(best_prefixes(512, 0, &loads, &targets), Err(PrefixError::Banks(0)));
        assert_eq!(best_prefixes(512, 9, &loads, &targets), Err(PrefixError::Banks(9)));
    }

    #[test]
    fn prefixes_that_follow_the_loss() {
        let targets = Targets { mean: Some(0.02), deviation: Some(0.05), ..Targets::default() };
        let loads = [0.0001, 0.001, 0.01].map(|loss| Load { loss, ..LOAD });
        let following = following_prefixes(512, 1, &loads, &targets).unwrap();
        // 100, 1000 and 10,000 losses in 512 rows, one a row or less, and where that changes.
        let lost = |load: &Load| (load.loss * load.packets).round() as u64;
        let at: Vec<(u64, u8)> =
            following.at.iter().map(|(load, prefixes)| (lost(load), prefixes.lengths()[0])).collect();
        let expected_at = [
            (100, 0),
            (512, 0),
            (513, 1),
            (1000, 1),
            (1024, 1),
            (1025, 2),
            (2048, 2),
            (2049, 3),
            (4096, 3),
            (4097, 4),
            (8192, 4),
            (8193, 5),
            (10_000, 5),
        ];
        assert_eq!(at, expected_at);
        assert_eq!(following.prefixes.lengths(), [5]);
        let excess = |(lost, length): (u64, u8)| {
            targets.excess(&expected(512, &[length], &Load { loss: lost as f64 / 1e6, ..LOAD }))
        };
        close(following.excess, at.iter().copied().map(excess).fold(0.0, f64::max), 1e-9);
        // Fewest rows are usable just before a change: more than at the loads given.
        let given = [(100, 0), (1000, 1), (10_000, 5)].map(excess).into_iter().fold(0.0, f64::max);
        assert!(following.excess > given);
        // Fixed ones are for the largest loss, and far worse where there is less.
        let fixed = best_prefixes(512, 1, &loads, &targets).unwrap().prefixes;
        assert!(expected(512, &[0], &loads[0]).mean < 0.5 * expected(512, fixed.lengths(), &loads[0]).mean);
        assert_eq!(following_prefixes(512, 9, &loads, &targets), Err(PrefixError::Banks(9)));
        assert_eq!(following_prefixes(512, 1, &[], &targets), Err(PrefixError::Banks(1)));
    }

    #[test]
    fn quantiles_that_are_not_reported_are_never_good_enough() {
        let asked = |probability| Targets { quantiles: vec![(probability, 0.5)], ..Targets::default() };
        // A packet a row: 1024/e = 377 single packets, give or take 15.4.
        let singles = expected(1024, &[0], &Load { packets: 1024.0, loss: 0.0, ..LOAD });
        close(singles.singles_least, 376.7 - 1.645 * 15.43, 1e-3);
        // p99 needs 368, which 70 % of intervals have; p90 needs 36.
        assert!(singles.shows(0.9) && !singles.shows(0.99) && !singles.shows(0.01) && !singles.shows(0.999));
        assert!(asked(0.9).excess(&singles) < 1.0 && asked(0.99).excess(&singles) > 1.0);
        let twice = expected(1024, &[0, 1], &Load { packets: 2048.0, loss: 0.0, ..LOAD });
        assert!(twice.shows(0.99) && asked(0.99).excess(&twice) <= 1.0 && !twice.shows(0.999));
        let none = expected(1024, &[0], &Load { loss: 0.0, ..LOAD });
        assert!(!none.shows(0.5) && asked(0.5).excess(&none) == f64::INFINITY);
    }

    #[test]
    fn too_few_rows_or_samples_are_never_good_enough() {
        let lax = Targets { mean: Some(10.0), ..Targets::default() };
        // 2000 packets, of which a few rows' worth are left: enough rows, and too few packets in them.
        let few = Load { packets: 2000.0, loss: 0.02, variation: 0.1, kurtosis: 6.0 };
        let scarce = expected(64, &[3], &few);
        assert!(
            scarce.rows_least > LEAST_ROWS && scarce.samples < LEAST_SAMPLES && lax.excess(&scarce) > 1.0
        );
        let best = best_prefixes(64, 1, &[few], &lax).unwrap();
        assert!(
            best.excess <= 1.0 && Expectation::of(64, &best.prefixes, &few).samples_least >= LEAST_SAMPLES
        );
        assert!(lax.excess(&expected(1024, &[16], &LOAD)) > 1.0);
        assert!(lax.excess(&expected(1024, &[8], &LOAD)) < 1.0);
        // Nothing but losses, and a tail whose deviation no sample shows.
        assert_eq!(expected(1024, &[8], &Load { kurtosis: f64::INFINITY, ..LOAD }).deviation, f64::INFINITY);
        let lost = Load { loss: 1.0, ..LOAD };
        assert_eq!(best_prefixes(64, 1, &[lost], &lax).unwrap().excess, f64::INFINITY);
    }
}
