//! Quantiles of delay, from rows that hold a single packet.
//!
//! With digests, a row with a count of 1 and equal digests at both ends gives the exact delay of one packet.
//! Whether a packet is alone in its row depends only on the hashes. So the n single packets of an interval are a
//! random sample of its R received ones, whatever bank they are in. A bank that samples about as many packets as it
//! has rows gives the most: 1/e of its rows.
//!
//! # One interval
//!
//! The p-quantile is the sample's: the least delay that a share p of the sample does not exceed. Its confidence
//! interval assumes nothing about the delays. It runs from the l-th to the u-th smallest delay. Let B be a
//! binomial count of n trials with probability p. Then l is the largest rank with P(B < l) at most (1 - level)/2,
//! and u the smallest with P(B >= u) at most that. The true quantile lies below the l-th or above the u-th no more
//! often than that: packets are drawn without replacement, which makes the true distribution narrower than the
//! binomial one. Where no such ranks exist, the sample is too small and the quantile is not identifiable: 95 %
//! needs 6 packets for the median, 36 for p = 0.9, 368 for 0.99.
//!
//! # Several intervals
//!
//! Interval k, with n_k single packets, stands for a share w_k of the received packets, so each of its delays
//! weighs w_k / n_k. The ranks are those of n = min n_k / w_k packets, as shares of n. Let F be the mean of the F_k
//! under the weights w_k. The weighted share of delays up to any x then has the variance sum w_k^2 F_k (1 - F_k) /
//! n_k <= sum w_k F_k (1 - F_k) / n <= F (1 - F) / n. That is never more than the variance of n packets drawn from
//! all intervals together.
//!
//! # Rounded times
//!
//! Where times are multiples of a unit, a measured delay is above the true one by less than the sender's unit, or below it by less than the receiver's
//! ([`Rounding`]). Each of the true quantile's bounds is as much farther out; that assumes nothing of how times fall into units.
//!
//! # Test plan
//!
//! Ranks against the binomial's cumulative sums and against published tables of the median's interval; samples just
//! too small; which rows are single; weights; coverage by simulation, in one interval and in several unequal ones.
//! The shipped capture against exact matching: `host/cli/tests/quantiles.rs`.

use crate::{Confidence, Observation, Range, Reason, Rounding, Stratified};
use deltaline_model::sketch::cell::Row;
use statrs::distribution::{Binomial, DiscreteCDF};

/// The exact delays that one interval reveals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Singles {
    delays: Vec<i64>,
    received: u64,
    /// What both ends' times are multiples of, where that is known: intervals of quantiles reach as much farther.
    pub rounding: Rounding,
}

impl Singles {
    /// The delays of all rows that hold the same single packet at both ends, by its digest.
    ///
    /// Without digests, a row with a single packet at each end is taken to hold the same packet. That is certain
    /// only if the row lost no packet and gained none from elsewhere.
    pub fn of<R: Row>(observation: &Observation<R>) -> Self {
        let rows = observation.sender.iter().zip(observation.receiver);
        let single = rows.filter(|(sender, receiver)| sender.count() == 1 && sender.agrees(receiver));
        Singles {
            delays: single.map(|(sender, receiver)| sender.delay_sum(receiver)).collect(),
            received: observation.received,
            rounding: Rounding::default(),
        }
    }

    /// Delays in nanoseconds of packets that are a random sample of so many received.
    pub fn drawn(delays: Vec<i64>, received: u64) -> Self {
        Singles { delays, received, rounding: Rounding::default() }
    }

    /// The delays that a test knows, and how many packets were received.
    #[cfg(test)]
    pub(crate) fn known(delays: Vec<i64>) -> Self {
        Singles::drawn(delays.clone(), delays.len() as u64)
    }

    /// The delays in nanoseconds, in row order.
    pub fn delays(&self) -> &[i64] {
        &self.delays
    }

    /// Packets received in the interval.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Whether these are the delays of all packets that were received.
    pub fn are_all(&self) -> bool {
        self.delays.len() as u64 >= self.received
    }
}

/// The standard deviation in nanoseconds of all packets of several intervals, without what rounding adds, where the delays of all are known and there are some;
/// [`Reason::Rounded`] if it is no more than rounding makes.
pub fn deviation_of_all(intervals: &[&Singles]) -> Option<Result<f64, Reason>> {
    let delays = || intervals.iter().flat_map(|each| &each.delays);
    let count = delays().count() as f64;
    if count == 0.0 || !intervals.iter().all(|each| each.are_all()) {
        return None;
    }
    // From the first one on, so that the sums lose no nanosecond.
    let first = i128::from(*delays().next()?);
    let since = || delays().map(|delay| (i128::from(*delay) - first) as f64);
    let mean = since().sum::<f64>() / count;
    let variance = since().map(|delay| (delay - mean).powi(2)).sum::<f64>() / count;
    let rounding = intervals.iter().fold(Rounding::default(), |rounding, each| rounding.max(each.rounding));
    Some(rounding.without(variance.sqrt()).ok_or(Reason::Rounded))
}

/// A quantile of delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantile {
    /// The quantile in nanoseconds.
    pub nanoseconds: f64,
    /// Its confidence interval; both ends are observed delays, and times' units off where these are known.
    pub range: Range,
}

/// The `probability`-quantile of delay over one or several disjoint intervals.
///
/// An interval in which packets were received, but none of them single, is missing from it.
///
/// ```
/// use deltaline_estimate::{Confidence, Observation, Singles, quantile};
/// use deltaline_model::sketch::cell::Cell;
///
/// // Twenty rows with one packet each, and delays of 1 to 20 ns.
/// let cell = |sum| Cell { count: 1, sum, digest: 1 };
/// let (sender, receiver) = (vec![cell(0); 20], (1..=20).map(cell).collect::<Vec<_>>());
/// let observation = Observation { rows: 20, sender: &sender, receiver: &receiver, sent: 20, received: 20 };
/// let median = quantile(&[&Singles::of(&observation)], 0.5, Confidence::P95)?.value;
/// assert_eq!((median.nanoseconds, median.range.lower, median.range.upper), (10.0, 6.0, 15.0));
/// # Ok::<(), deltaline_estimate::Reason>(())
/// ```
///
/// # Errors
///
/// [`Reason::NothingReceived`], [`Reason::NoSingle`], or [`Reason::FewSingles`] when the sample does not reach
/// beyond the quantile at the given confidence.
pub fn quantile(
    intervals: &[&Singles],
    probability: f64,
    confidence: Confidence,
) -> Result<Stratified<Quantile>, Reason> {
    let with_packets = intervals.iter().filter(|each| each.received > 0);
    let known: Vec<_> = with_packets.clone().filter(|each| !each.delays.is_empty()).collect();
    let missing = with_packets.count() - known.len();
    if known.is_empty() {
        return Err(if missing == 0 { Reason::NothingReceived } else { Reason::NoSingle });
    }
    let total: f64 = known.iter().map(|each| each.received as f64).sum();
    let mut delays = vec![];
    let mut equivalent = f64::INFINITY;
    let mut rounding = Rounding::default();
    for each in known {
        rounding = rounding.max(each.rounding);
        let (share, count) = (each.received as f64 / total, each.delays.len() as f64);
        equivalent = equivalent.min(count / share);
        delays.extend(each.delays.iter().map(|delay| (*delay, share / count)));
    }
    // Rounding must not lose a packet.
    let count = (equivalent + 1e-6) as u64;
    delays.sort_unstable_by_key(|(delay, _)| *delay);
    let (lower, upper) = ranks(count, probability, confidence)?;
    // Half a rank below, where rounding does no harm.
    let at_rank = |rank: u64| least(&delays, (rank as f64 - 0.5) / count as f64);
    let [before, behind] = rounding.units();
    let value = Quantile {
        nanoseconds: least(&delays, probability - 1e-9),
        range: Range { lower: at_rank(lower) - before, upper: at_rank(upper) + behind },
    };
    Ok(Stratified { value, missing })
}

/// The least delay that the share `share` of the weight does not exceed.
fn least(delays: &[(i64, f64)], share: f64) -> f64 {
    let mut sum = 0.0;
    let reached = delays.iter().find(|(_, weight)| {
        sum += weight;
        sum >= share
    });
    reached.or(delays.last()).map_or(0.0, |(delay, _)| *delay as f64)
}

/// The ranks l and u of `count` packets; see the [module](self).
fn ranks(count: u64, probability: f64, confidence: Confidence) -> Result<(u64, u64), Reason> {
    let tail = (1.0 - confidence.level()) / 2.0;
    let few = || Reason::FewSingles { found: count, needed: singles_needed(probability, confidence) };
    let binomial = Binomial::new(probability, count).map_err(|_| few())?;
    // The first number of packets from which on a condition holds.
    let first = |holds: &dyn Fn(u64) -> bool| {
        let (mut low, mut high) = (0, count + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            if holds(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    };
    // P(B < l) = cdf(l - 1): the largest l with cdf(l - 1) <= tail is the first b with cdf(b) > tail.
    let lower = first(&|b| b > count || binomial.cdf(b) > tail);
    // P(B >= u) = 1 - cdf(u - 1): one above the first b with 1 - cdf(b) <= tail.
    let upper = first(&|b| b > count || binomial.sf(b) <= tail) + 1;
    if lower == 0 || upper > count { Err(few()) } else { Ok((lower, upper)) }
}

/// The fewest single packets that show the `probability`-quantile: their least and greatest delays enclose it with the given
/// confidence. `probability` is above 0 and below 1.
pub fn singles_needed(probability: f64, confidence: Confidence) -> u64 {
    let tail = (1.0 - confidence.level()) / 2.0;
    let likelier = probability.max(1.0 - probability);
    (tail.ln() / likelier.ln()).ceil().max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltaline_model::sketch::cell::Cell;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    fn singles(delays: impl IntoIterator<Item = i64>, received: u64) -> Singles {
        Singles::drawn(delays.into_iter().collect(), received)
    }

    #[test]
    fn the_deviation_of_all_is_that_of_all_or_none() {
        let far = 1 << 39;
        let [one, other] = [singles([far, far + 2], 2), singles([far + 4, far + 6], 2)];
        assert_eq!(deviation_of_all(&[&one, &other]), Some(Ok(5f64.sqrt())));
        let lacking = singles([far + 4, far + 6], 3);
        assert_eq!(deviation_of_all(&[&one, &lacking]), None);
        assert_eq!(deviation_of_all(&[]), None);
        assert_eq!(deviation_of_all(&[&singles([], 0)]), None);
        let rounding = Rounding { sender: 1000, receiver: 1000 };
        let coarse = Singles { rounding, ..singles([0, 1000, 0, 0], 4) };
        assert_eq!(deviation_of_all(&[&coarse]), Some(Err(Reason::Rounded)));
    }

    /// The usual tables of the sign test give these ranks for the median at 95 %.
    #[test]
    fn ranks_of_the_median_are_the_tables() {
        for (count, lower, upper) in
            [(6, 1, 6), (8, 1, 8), (10, 2, 9), (20, 6, 15), (30, 10, 21), (100, 40, 61)]
        {
            assert_eq!(ranks(count, 0.5, Confidence::P95), Ok((lower, upper)), "{count}");
        }
    }

    #[test]
    fn ranks_are_the_tightest_that_the_binomial_allows() {
        for (count, probability) in [(40u32, 0.9), (57, 0.5), (500, 0.01), (36, 0.9)] {
            let (lower, upper) = ranks(count.into(), probability, Confidence::P95).unwrap();
            // The binomial's terms, each from the one before.
            let mut term = (1.0 - probability).powi(count as i32);
            let mut cumulated = vec![];
            let mut sum = 0.0;
            for hits in 0..=count {
                sum += term;
                cumulated.push(sum);
                term *= f64::from(count - hits) / f64::from(hits + 1) * probability / (1.0 - probability);
            }
            let below = |rank: u64| cumulated[rank as usize - 1];
            assert!(below(lower) <= 0.025 && below(lower + 1) > 0.025, "{count} {probability}");
            assert!(1.0 - below(upper) <= 0.025 && 1.0 - below(upper - 1) > 0.025, "{count} {probability}");
            let mirrored = (u64::from(count) + 1 - upper, u64::from(count) + 1 - lower);
            assert_eq!(ranks(count.into(), 1.0 - probability, Confidence::P95), Ok(mirrored));
        }
    }

    #[test]
    fn samples_just_too_small_say_how_many_are_needed() {
        for (probability, enough) in [(0.5, 6), (0.9, 36), (0.99, 368), (0.01, 368)] {
            let of = |count: u64| quantile(&[&singles(0..count as i64, 1000)], probability, Confidence::P95);
            let few = Reason::FewSingles { found: enough - 1, needed: enough };
            assert_eq!(of(enough - 1), Err(few));
            assert_eq!(of(enough).map(|each| each.missing), Ok(0));
        }
        let nothing = singles([], 0);
        assert_eq!(quantile(&[&nothing], 0.5, Confidence::P95), Err(Reason::NothingReceived));
        assert_eq!(quantile(&[&nothing, &singles([], 5)], 0.5, Confidence::P95), Err(Reason::NoSingle));
    }

    #[test]
    fn an_interval_by_hand() {
        // 1 to 20 shuffled: the tables' ranks 6 and 15.
        let shuffled = singles((0..20).map(|i| i * 7 % 20 + 1), 100);
        let found = quantile(&[&shuffled], 0.5, Confidence::P95).unwrap();
        let range = Range { lower: 6.0, upper: 15.0 };
        assert_eq!(found, Stratified { value: Quantile { nanoseconds: 10.0, range }, missing: 0 });
    }

    #[test]
    fn single_rows_hold_the_same_single_packet_at_both_ends() {
        let cell = |count, sum, digest| Cell { count, sum, digest };
        let sender =
            [cell(1, 10, 7), cell(1, 10, 7), cell(2, 10, 7), cell(0, 0, 0), cell(1, 10, 7), cell(1, 50, 9)];
        let receiver =
            [cell(1, 15, 7), cell(1, 15, 8), cell(2, 15, 7), cell(0, 0, 0), cell(0, 0, 0), cell(1, 20, 9)];
        let observation = Observation { rows: 6, sender: &sender, receiver: &receiver, sent: 6, received: 5 };
        assert_eq!(Singles::of(&observation), singles([5, -30], 5));
    }

    #[test]
    fn intervals_weigh_what_they_received() {
        // The first interval samples one packet in ten, the second all: each of the second's delays weighs a tenth.
        let (first, second) = (singles(0..100, 1000), singles(1000..2000, 1000));
        let found = quantile(&[&first, &second, &singles([], 7)], 0.75, Confidence::P95).unwrap();
        assert_eq!(found.missing, 1);
        assert_eq!(found.value.nanoseconds, 1499.0);
        // As uncertain as 200 packets drawn from both.
        let (lower, upper) = ranks(200, 0.75, Confidence::P95).unwrap();
        let Range { lower: from, upper: to } = found.value.range;
        // Ten of the second interval's packets a rank, less half a rank; rounding may give the neighbour.
        for (found, rank) in [(from, lower), (to, upper)] {
            let expected = 1000.0 + (rank as f64 - 100.5) * 10.0 - 1.0;
            assert!((found - expected).abs() <= 1.0, "{found} {expected}");
        }
    }

    /// 95 % intervals, of one interval and of three unequal ones, hold the true quantile in at least 95 % of 2000 draws,
    /// less four standard errors of that share.
    #[test]
    fn intervals_cover() {
        let mut random = StdRng::seed_from_u64(1);
        let strata = [(400u64, 0.3, 0i64), (1500, 0.05, 300), (2000, 0.2, 900)];
        for (probability, strata) in [
            (0.5, &strata[..1]),
            (0.9, &strata[..1]),
            (0.5, &strata[..]),
            (0.9, &strata[..]),
            (0.97, &strata[..]),
        ] {
            let mut covered = 0;
            for _ in 0..2000 {
                let mut all: Vec<i64> = vec![];
                let mut intervals = vec![];
                for (received, share, shift) in strata {
                    let delays: Vec<i64> = (0..*received)
                        .map(|_| shift + (-1e3 * (1.0 - random.random::<f64>()).ln()) as i64)
                        .collect();
                    let sample = delays.iter().copied().filter(|_| random.random_bool(*share));
                    intervals.push(singles(sample, *received));
                    all.extend(delays);
                }
                all.sort_unstable();
                let truth = all[(probability * all.len() as f64).ceil() as usize - 1] as f64;
                let references: Vec<&Singles> = intervals.iter().collect();
                let Range { lower, upper } =
                    quantile(&references, probability, Confidence::P95).unwrap().value.range;
                covered += u32::from((lower..=upper).contains(&truth));
            }
            assert!(covered >= 1861, "{probability}, {} intervals: {covered} of 2000", strata.len());
        }
    }
}
