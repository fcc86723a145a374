//! A flow's delay from the [COLATE](deltaline_model::sketch::colate) counters of two ends.
//!
//! Shahzad, Liu, SIGMETRICS 2014. The number of the flow's packets comes from elsewhere, as in the paper (NetFlow, or an LDS beside it).
//!
//! **The paper's.** Equation 4 estimates the sum of a flow's times at each end, t = (n sum S_j - m t_X) / (n - m), S_j its m of the n counters
//! and t_X the sum of all; the mean is the difference of the two ends' over the packets. Equation 7 takes from every counter what
//! others most likely added; equations 9 and 10 estimate the sum of squared delays from differences of counters, averaged
//! over permutations of them ("virtual repetitions").
//!
//! What its equations come to, with the same hash, n and m at both ends and D_j = R_j - S_j:
//!
//! * Equation 4 is linear: the difference of two estimates is the estimate from the differences, to rounding.
//! * Equation 7 has the unknown S_j - w_j alone and no other j: its solution is one number for all counters of a flow, which equation 9 subtracts from
//!   itself. It takes no noise off.
//! * The average of equation 10 over all permutations is m s^2, s^2 the variance of the D_j with divisor m - 1. Repetitions approach
//!   that number, which costs nothing ([`ColatePair::squares`]), and it holds the noise's variance m times.
//! * Its binomial model (equation 2) counts every nanosecond as a trial of its own. Times come in packets, and packets in flows: the variance of noise is
//!   what the counters show, larger by as much as a flow's delays are longer than a nanosecond. So the parameters of section 5
//!   ([`solve`]) do not keep what they promise, and intervals here are of the counters themselves.
//!
//! **Ours** subtracts first: what is left of other flows are their delays, not their times. The mean is sum D_j - m D, D the mean of all
//! counters, or m (median of D_j - median of all) where that is nearer, as few large flows make noise large; the error is that of
//! as many counters drawn from all. From the squares the noise's variance is taken, m (s^2 - s_all^2).
//!
//! **When it fails.** The noise of other flows is taken for that of many small ones. With a few hundred flows in a few vectors means were off by
//! several times their size, and intervals of 95 % held in none: no command gives them, they are for comparison in the lab.
//!
//! # Test plan
//!
//! Equation 4 and the permutations' average by hand, and against all 15 permutations of six counters; equation 7's solution in its own
//! equation; without noise ours and the paper's are exact; intervals hold in 95 % of flows and seeds; the paper's example of parameters;
//! vectors that lost packets are passed over; what cannot be told is.

use crate::mean::Range;
use crate::reason::Reason;
use deltaline_model::sketch::colate::{ColateParameters, CounterVector, Epoch, Subvectors};
use statrs::function::erf::erf_inv;
use statrs::function::gamma::digamma;

/// Tails that a 95 % interval leaves out.
const TAILS: [f64; 2] = [0.025, 0.975];

/// What counters say of a flow's delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColateEstimate {
    /// Mean delay in nanoseconds.
    pub mean: f64,
    /// Its 95 % interval.
    pub range: Range,
    /// The standard deviation in nanoseconds.
    pub deviation: Result<f64, Reason>,
}

/// A vector of both ends' that holds the same packets.
pub struct ColatePair<'a> {
    sender: &'a CounterVector,
    receiver: &'a CounterVector,
    subvectors: Subvectors,
    width: usize,
    /// The share of packets that the vector takes.
    share: f64,
    /// Mean and variance of all differences.
    all: (f64, f64),
    median: f64,
    /// What m counters of nobody's add up to, less m times the mean: the 95 % in the middle.
    sums: Range,
    /// m times the median of m counters, less m times that of all.
    medians: Range,
}

impl<'a> ColatePair<'a> {
    /// The vector of two ends' epoch with the largest share among those with as many packets at both (section 1.4).
    ///
    /// # Errors
    ///
    /// [`Reason::NoUsableRow`] if every vector lost packets, or the ends' vectors differ in size.
    pub fn new(
        parameters: &ColateParameters,
        sender: &'a Epoch,
        receiver: &'a Epoch,
    ) -> Result<Self, Reason> {
        let shares = (0..sender.vectors.len()).map(|vector| parameters.prefixes.probability(vector));
        let pairs = sender.vectors.iter().zip(&receiver.vectors).zip(shares);
        let is_whole = |((sender, receiver), _): &((&CounterVector, &CounterVector), f64)| {
            let sizes = [sender, receiver].map(|end| end.counters.len());
            sender.packets == receiver.packets && sizes == [parameters.counters; 2]
        };
        let whole = pairs.filter(is_whole).max_by(|one, other| one.1.total_cmp(&other.1));
        let ((sender, receiver), share) = whole.ok_or(Reason::NoUsableRow)?;
        let width = parameters.width;
        let differences = differences(sender, receiver);
        let all = moments(&differences);
        let blocks = differences.chunks_exact(width);
        let sums: Vec<f64> =
            blocks.clone().map(|block| block.iter().sum::<f64>() - width as f64 * all.0).collect();
        let middle = median(differences.clone());
        let medians: Vec<f64> =
            blocks.map(|block| width as f64 * (median(block.to_vec()) - middle)).collect();
        let [sums, medians] = [sums, medians].map(tails);
        let subvectors = Subvectors::new(parameters.counters, parameters.width, parameters.seed);
        Ok(ColatePair { sender, receiver, subvectors, width, share, all, median: middle, sums, medians })
    }

    /// Equation 4 at one end: the sum of the flow's times.
    fn total(&self, end: &CounterVector, flow: u64) -> f64 {
        let (n, m) = (end.counters.len() as f64, self.width as f64);
        let own: f64 = self.subvectors.of(flow).map(|at| value(end, at)).sum();
        let all: f64 = end.counters.iter().map(|&counter| counter as f64).sum();
        (n * own - m * all) / (n - m)
    }

    /// The paper's mean (equations 3 and 4) of a flow of so many packets in all, in nanoseconds.
    pub fn papers_mean(&self, flow: u64, packets: f64) -> f64 {
        (self.total(self.receiver, flow) - self.total(self.sender, flow)) / (packets * self.share)
    }

    /// Equation 7: what others most likely added to each of the flow's counters at the sender's end or, if so, at the receiver's.
    pub fn papers_noise(&self, flow: u64, is_receiver: bool) -> f64 {
        let end = if is_receiver { self.receiver } else { self.sender };
        let others = end.counters.iter().map(|&counter| counter as f64).sum::<f64>() - self.total(end, flow);
        likeliest(others.max(0.0), end.counters.len() as f64)
    }

    /// Equation 10 over all permutations: m times the variance of the flow's counters, noise and all.
    pub fn squares(&self, flow: u64) -> f64 {
        self.width as f64 * moments(&self.of(flow)).1
    }

    /// The same over these permutations of the m places, averaged ("virtual repetitions").
    pub fn repeated(&self, flow: u64, permutations: &mut dyn Iterator<Item = Vec<usize>>) -> f64 {
        let own = self.of(flow);
        let at = |place: usize| own.get(place).copied().unwrap_or(0.0);
        let (mut sum, mut count) = (0.0, 0.0);
        for permutation in permutations {
            let pairs = permutation.as_chunks::<2>().0.iter();
            sum += pairs.map(|[one, other]| (at(*one) - at(*other)).powi(2)).sum::<f64>();
            count += 1.0;
        }
        sum / f64::max(count, 1.0)
    }

    /// The paper's deviation (equation 5) in nanoseconds, from a sum of squared delays.
    ///
    /// # Errors
    ///
    /// [`Reason::NegativeVariance`].
    pub fn papers_deviation(&self, flow: u64, packets: f64, squares: f64) -> Result<f64, Reason> {
        root(squares / (packets * self.share) - self.papers_mean(flow, packets).powi(2))
    }

    fn of(&self, flow: u64) -> Vec<f64> {
        self.subvectors
            .of(flow)
            .map(|at| difference(value_of(self.sender, at), value_of(self.receiver, at)))
            .collect()
    }

    /// Our estimate of a flow of so many packets in all.
    ///
    /// # Errors
    ///
    /// [`Reason::NothingReceived`] of a flow without packets; [`Reason::TooSmall`] where the interval is wider than the mean on
    /// either side, so that others might have made all of it.
    pub fn estimate(&self, flow: u64, packets: f64) -> Result<ColateEstimate, Reason> {
        if packets <= 0.0 {
            return Err(Reason::NothingReceived);
        }
        let (own, m, packets) = (self.of(flow), self.width as f64, packets * self.share);
        let sum = own.iter().sum::<f64>() - m * self.all.0;
        let middle = m * (median(own.clone()) - self.median);
        // How the flow's packets are spread over its counters moves their median: by (pi / 2)^(1/2) deviations of a Poisson count, two of them.
        let spread = 2.0 * 1.2533 * middle.abs() * (2.0 / packets).sqrt();
        let between = |estimate: f64, noise: Range, more: f64| Range {
            lower: estimate - noise.upper - more,
            upper: estimate - noise.lower + more,
        };
        let by_sum = (sum, between(sum, self.sums, 0.0));
        let by_median = (middle, between(middle, self.medians, spread));
        let width = |range: &Range| range.upper - range.lower;
        let (total, range) = if width(&by_median.1) < width(&by_sum.1) { by_median } else { by_sum };
        if width(&range) > 2.0 * total.abs() {
            let others = self.sender.packets as f64 * m / self.sender.counters.len() as f64;
            return Err(Reason::TooSmall { packets: packets as u64, others: others as u64 });
        }
        let squares = m * (moments(&own).1 - self.all.1);
        let mean = total / packets;
        let range = Range { lower: range.lower / packets, upper: range.upper / packets };
        Ok(ColateEstimate { mean, range, deviation: root(squares / packets - mean * mean) })
    }
}

/// The noise in a counter for which equation 7 holds: n counters, `others` nanoseconds of other flows in all.
fn likeliest(others: f64, counters: f64) -> f64 {
    let excess = |noise: f64| digamma(others - noise + 1.0) - digamma(noise + 1.0) - (counters - 1.0).ln();
    let (mut low, mut high) = (0.0, others);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        // It falls as noise rises.
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// What section 5 of the paper asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Requirement {
    /// M, bits of memory.
    pub memory: f64,
    /// alpha, the share of flows to be within beta.
    pub reliability: f64,
    /// beta, relative.
    pub error: f64,
    /// (t_R - t_S) / (t_R + t_S), a flow's delay over its times (equation 12).
    pub delay_share: f64,
    /// The least sum of times of a flow, in units of time.
    pub least: f64,
    /// The greatest.
    pub most: f64,
}

/// The parameters that solve equations 13, 14, 15 and 22.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solution {
    /// n.
    pub counters: f64,
    /// m.
    pub width: f64,
    /// b.
    pub bits: f64,
    /// T.
    pub threshold: f64,
}

impl Solution {
    /// By equations 13 to 15 with b bits a counter.
    fn with_bits(bits: f64, memory: f64, most: f64) -> Self {
        let counters = memory / bits;
        let half = (bits - 1.0).exp2();
        Solution { counters, width: most / (half - 1.0 + most / counters), bits, threshold: counters * half }
    }
}

/// Solves section 5's equations; none where no number of bits from 2 to 62 that leaves a flow two counters does.
///
/// Equation 22 is taken as printed. It has n - m where equation 18, from which it comes, gives the square of that: it asks for n - m times less
/// variance than its own model needs. With the square, m by equation 15 leaves hardly anything in it that depends on b.
pub fn solve(asked: &Requirement) -> Option<Solution> {
    let k = std::f64::consts::SQRT_2 * erf_inv(0.5 * (1.0 + asked.reliability));
    let within = asked.error * asked.delay_share;
    // Equation 22, its right side over its left.
    let ratio = |bits: f64| {
        let Solution { counters: n, width: m, threshold, .. } =
            Solution::with_bits(bits, asked.memory, asked.most);
        let t = asked.least;
        let variance = t / m * (1.0 - 1.0 / m) + (threshold - t) / n * (1.0 - 1.0 / n);
        k * k * n * n * m / (n - m) * variance / (within * t).powi(2)
    };
    // m is at least 2: by equation 15 then 2^(b-1) is at most half of t_max, or a little more.
    let (mut low, mut high) = (2.0, (0.5 * asked.most).log2().min(61.0) + 1.0);
    if !(ratio(low) >= 1.0 && ratio(high) <= 1.0) {
        return None;
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if ratio(middle) > 1.0 { low = middle } else { high = middle }
    }
    Some(Solution::with_bits(high, asked.memory, asked.most))
}

fn value_of(vector: &CounterVector, at: usize) -> u64 {
    vector.counters.get(at).copied().unwrap_or(0)
}

fn value(vector: &CounterVector, at: usize) -> f64 {
    value_of(vector, at) as f64
}

fn difference(sent: u64, received: u64) -> f64 {
    received.wrapping_sub(sent) as i64 as f64
}

fn differences(sender: &CounterVector, receiver: &CounterVector) -> Vec<f64> {
    sender
        .counters
        .iter()
        .zip(&receiver.counters)
        .map(|(sent, received)| difference(*sent, *received))
        .collect()
}

/// Mean, and variance with divisor one less than their number.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count.max(1.0);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / (count - 1.0).max(1.0))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let upper = values.len() / 2;
    let at = |place: usize| values.get(place).copied().unwrap_or(0.0);
    if values.len() % 2 == 1 { at(upper) } else { 0.5 * (at(upper.saturating_sub(1)) + at(upper)) }
}

/// The 95 % in the middle; of few values, all.
fn tails(mut values: Vec<f64>) -> Range {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1) as f64;
    let at = |place: f64| values.get(place as usize).copied().unwrap_or(0.0);
    Range { lower: at((TAILS[0] * last).floor()), upper: at((TAILS[1] * last).ceil()) }
}

fn root(variance: f64) -> Result<f64, Reason> {
    if variance >= 0.0 { Ok(variance.sqrt()) } else { Err(Reason::NegativeVariance) }
}
