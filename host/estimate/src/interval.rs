//! The estimate of one interval.

use crate::observation::{Observation, ObservationError, UsableRow};
use crate::sizing::LEAST_ROWS;
use crate::slices::Apart;
use crate::sums::Sums;
use crate::wrapping::near_delay;
use crate::{Balance, Confidence, Loss, Mean, Range, Reason, Rounding, Skew, Uncertainty};
use deltaline_model::sketch::cell::Row;

/// Where a mean comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The sums over all packets, which both ends have seen.
    Sums,
    /// Rows, a random sample.
    Rows,
    /// Slices, completed.
    Slices,
    /// Rows and slices, weighted by their errors.
    Both,
    /// The bracket, with nothing known of where in it.
    Bracket,
    /// One interval has it from this, another from that.
    Mixed,
}

impl Method {
    /// Its name in data.
    pub fn name(self) -> &'static str {
        match self {
            Method::Sums => "sums",
            Method::Rows => "rows",
            Method::Slices => "slices",
            Method::Both => "both",
            Method::Bracket => "bracket",
            Method::Mixed => "mixed",
        }
    }
}

/// What one interval shows about delay and loss; the crate's documentation gives the formulas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Packets sent.
    pub sent: u64,
    /// Packets received, R.
    pub received: u64,
    /// Packets whose delays the mean is of: those received, unless it is known which ones were gained.
    pub delivered: u64,
    /// Packets in usable rows, S; at most `received`.
    pub effective_samples: u64,
    /// Usable rows that hold packets, g.
    pub usable_rows: usize,
    /// Mean delay.
    pub mean: Result<Mean, Reason>,
    /// Where the mean comes from, if there is one.
    pub method: Method,
    /// What it is made of, if slices have a share in it and are a sample of all.
    pub apart: Option<Apart>,
    /// Between which delays the mean lies for certain, in nanoseconds; [`Estimate::with_sums`] finds out.
    pub bracket: Result<Range, Reason>,
    /// Standard deviation of delay in nanoseconds, from the spread between rows; needs two usable rows.
    pub deviation: Result<f64, Reason>,
    /// Degrees of freedom of the squared deviation: at most one fewer than rows, far fewer where delays have a heavy tail.
    pub deviation_freedom: f64,
    /// Rows, or single packets, that the deviation comes from.
    pub deviation_rows: usize,
    /// What both ends' times are multiples of, where that is known: the deviation here contains it, that of [`combine`](crate::combine) does not.
    pub rounding: Rounding,
    /// Packets lost and packets gained, apart.
    pub balance: Balance,
    /// Why rows are no chance sample of all packets, so that their deviation and quantiles are not those of all, if so.
    pub representative: Result<(), Reason>,
    /// The LDA paper's estimate of the mean of the squared delays, F (section III-E, equation 5), in ns^2.
    pub paper_second_moment: Result<f64, Reason>,
    /// The LDA paper's standard deviation of delay in nanoseconds, sqrt(F - mean^2).
    ///
    /// Equation (3) of the paper, (F' - mu^2) / N with F' the sum of squares, is a misprint for F' / N - mu^2.
    pub paper_deviation: Result<f64, Reason>,
}

impl Estimate {
    /// Packets sent less packets received.
    pub fn loss(&self) -> Loss {
        Loss::between(self.sent, self.received)
    }

    /// The same with the delays of the packets that both ends have seen, `common`, instead of those of rows: it is known which packets
    /// these are.
    pub fn with_common(self, common: &Estimate) -> Self {
        let Estimate { sent, received, balance, .. } = self;
        Estimate { sent, received, balance, ..*common }
    }

    /// The same with the deviation of single packets, whose delays in nanoseconds are a chance sample of all, where these are at least as many as rows, of which each
    /// shows as much as one packet.
    pub fn with_spread_of(self, delays: &[i64]) -> Self {
        if delays.len() < self.usable_rows.max(2) || self.mean.is_err() {
            return self;
        }
        let sample =
            Sample::of(delays.iter().map(|delay| UsableRow { packets: 1, delay_sum: i128::from(*delay) }));
        let deviation = sample.variance().map(|variance| (variance * without_one(self.delivered)).sqrt());
        Estimate { deviation, deviation_freedom: sample.freedom, deviation_rows: sample.rows, ..self }
    }

    /// The same where the sum of delays may be so many nanoseconds less and so many more, because of packets that look alike it is not known
    /// which ones both ends have seen. What was open before stays so. Less than none less, or more, is a sum that is wrong. Beside the error of
    /// rows, those few do not count.
    pub fn with_open(self, [less, more]: [f64; 2]) -> Self {
        let (Ok(bracket), Ok(mean)) = (self.bracket, self.mean) else { return self };
        if [less, more] == [0.0, 0.0] || self.delivered == 0 {
            return self;
        }
        let packets = self.delivered as f64;
        let bounds = Range { lower: bracket.lower - less / packets, upper: bracket.upper + more / packets };
        let mean = match self.method {
            Method::Sums => Mean::between(bounds, mean.within_bounds()),
            _ => mean.bounded(bounds),
        };
        Estimate { mean: Ok(mean), bracket: Ok(bounds), ..self }
    }

    /// The same with what sums over all packets show beyond rows: an exact mean, or a bracket of it. Where no row was usable
    /// there is a mean all the same, with the error that lost packets' times may have.
    pub fn with_sums(self, sums: &Sums) -> Self {
        let of_rows = self.mean.and_then(|mean| mean.range(Confidence::CERTAIN)).ok();
        let width = |range: &Range| range.upper - range.lower;
        let near = of_rows.into_iter().chain(sums.by_times()).min_by(|a, b| width(a).total_cmp(&width(b)));
        let balance = match sums.digests_agree() {
            Some(are_equal) => self.balance.with_digest_sums(are_equal),
            None => self.balance,
        };
        if let Some(nanoseconds) = sums.mean(near) {
            let exact = Range { lower: nanoseconds, upper: nanoseconds };
            let mean = Ok(Mean::unbounded(nanoseconds, Uncertainty::Exact).bounded(exact));
            if !sums.holds(nanoseconds) {
                let reason = Reason::WildStamps;
                return Estimate { mean: Err(reason), bracket: Err(reason), balance, ..self };
            }
            let representative = self.representative.and(self.fits(exact));
            let deviation = representative.and(self.deviation);
            let effective_samples = self.received;
            return Estimate {
                mean,
                method: Method::Sums,
                bracket: Ok(exact),
                effective_samples,
                balance,
                representative,
                deviation,
                ..self
            };
        }
        let bracket = match sums.bracket(near) {
            _ if balance.surplus_least > 0 => Err(Reason::Gained(balance.surplus_least)),
            // Without digests nothing vouches that these packets were sent.
            _ if sums.digests_agree().is_none() => Err(Reason::NoSums),
            Some(bracket) => Ok(bracket),
            None => Err(Reason::NoSums),
        };
        // Bounds are certain if no packet was gained and times are in order; rows speak for all packets if none is far off. Where they
        // contradict each other, one of both is not so.
        let contradiction = bracket.map_or(Ok(()), |bracket| self.fits(bracket));
        if let (Err(_), true) = (contradiction, bracket.is_ok_and(|bracket| self.may_lack_the_tail(bracket)))
        {
            let known = sums.completed(near);
            let mean = bracket.and_then(|bracket| Ok(Mean::between(bracket, known.ok_or(Reason::NoSums)?)));
            return Estimate { mean, method: Method::Bracket, bracket, balance, ..self };
        }
        if let Err(reason) = contradiction {
            let (mean, bracket, deviation, representative) =
                (Err(reason), Err(reason), Err(reason), Err(reason));
            return Estimate { mean, bracket, deviation, representative, balance, ..self };
        }
        let mut method = self.method;
        let mean = match (self.mean, bracket) {
            (mean, Ok(bracket)) if needs_completion(mean) => {
                method = Method::Bracket;
                let known = mean.ok().map(|mean| mean.nanoseconds).or_else(|| sums.completed(near));
                known.map_or(mean, |known| Ok(Mean::between(bracket, known)))
            }
            (mean, _) => mean,
        };
        // Rows may be chance's worst.
        let mean = mean.map(|mean| bracket.map_or(mean, |bracket| mean.bounded(bracket)));
        Estimate { mean, method, bracket, balance, ..self }
    }

    /// Whether rows are so few that they may lack the packets that make up the mean: then bounds that contradict them are right all the same. Only late
    /// packets make a tail: rows above the bounds do not lack them.
    fn may_lack_the_tail(&self, bounds: Range) -> bool {
        (self.usable_rows as f64) < LEAST_ROWS && self.mean.is_ok_and(|mean| mean.nanoseconds < bounds.lower)
    }

    /// Whether what rows show of the mean can be true if it lies within `bounds`.
    fn fits(&self, bounds: Range) -> Result<(), Reason> {
        let of_rows = self.mean.and_then(|mean| mean.range(Confidence::CERTAIN));
        // Rounding of a clock's unit.
        let is_apart = |rows: Range| rows.lower > bounds.upper + 1.0 || rows.upper < bounds.lower - 1.0;
        if of_rows.is_ok_and(is_apart) { Err(Reason::Unsampled) } else { Ok(()) }
    }
}

/// Whether rows alone give no mean, or one of unknown spread, although packets were received.
fn needs_completion(mean: Result<Mean, Reason>) -> bool {
    match mean {
        Ok(mean) => matches!(mean.uncertainty, Uncertainty::Unknown(_)),
        Err(reason) => matches!(reason, Reason::NoUsableRow | Reason::NothingSampled | Reason::Alike),
    }
}

/// Estimates one interval from both ends' cells and totals.
///
/// # Errors
/// Returns an [`ObservationError`] when the observation contradicts itself: no cells, tables of different size, a
/// partial bank, or more packets in an end's cells than passed it.
pub fn estimate<R: Row>(observation: &Observation<R>) -> Result<Estimate, ObservationError> {
    estimate_with(observation, Ok(None), Ok(()))
}

/// As [`estimate`], of recordings and points in the field. Where it is known from elsewhere that the mean delay is `near`, in
/// nanoseconds, sums of delays may be beyond ±2^39. `shares` is the share of all packets that each bank samples, as far as it is
/// known. Rows that are not filled by chance, since packets look alike, show no delays:
/// [`Reason::Alike`].
///
/// # Errors
///
/// As [`estimate`]; and where a bank that takes all packets holds fewer.
pub fn estimate_traffic<R: Row>(
    observation: &Observation<R>,
    near: Option<Range>,
    shares: &[f64],
) -> Result<Estimate, ObservationError> {
    observation.check()?;
    observation.check_whole(shares)?;
    let rows: Vec<UsableRow> = observation.usable_rows().collect();
    let representative = if observation.has_alike(shares) { Err(Reason::Alike) } else { Ok(()) };
    estimate_with(observation, near_delay(&rows, near), representative)
}

fn estimate_with<R: Row>(
    observation: &Observation<R>,
    near: Result<Option<f64>, Reason>,
    representative: Result<(), Reason>,
) -> Result<Estimate, ObservationError> {
    observation.check()?;
    let received = observation.received;
    let sum = |row: &UsableRow| near.ok().flatten().map_or(row.delay_sum, |near| row.near(near));
    let sample = Sample::of(observation.usable_rows().map(|row| UsableRow { delay_sum: sum(&row), ..row }));
    let mean = match (sample.packets, near.and(representative)) {
        (0, _) => Err(no_sample(observation)),
        (_, Err(reason)) => Err(reason),
        (_, Ok(())) => Ok(sample.mean(received)),
    };
    let paper_second_moment = second_moment(observation, sum).map_err(|reason| mean.err().unwrap_or(reason));
    Ok(Estimate {
        sent: observation.sent,
        received,
        delivered: received,
        effective_samples: sample.packets,
        usable_rows: sample.rows,
        mean,
        method: Method::Rows,
        apart: None,
        bracket: Err(Reason::NoSums),
        deviation: match mean {
            Ok(_) => sample.variance().map(|variance| (variance * without_one(received)).sqrt()),
            Err(reason) => Err(reason),
        },
        deviation_freedom: sample.variance().map_or(0.0, |_| sample.freedom),
        deviation_rows: sample.rows,
        rounding: Rounding::default(),
        balance: Balance::of_rows(observation),
        representative,
        paper_second_moment,
        paper_deviation: match (mean, paper_second_moment) {
            (Ok(mean), Ok(moment)) => root_of_difference(moment, mean.nanoseconds),
            (Err(reason), _) | (_, Err(reason)) => Err(reason),
        },
    })
}

/// The square root of `moment` - `mean`^2.
pub(crate) fn root_of_difference(moment: f64, mean: f64) -> Result<f64, Reason> {
    let variance = moment - mean * mean;
    if variance >= 0.0 { Ok(variance.sqrt()) } else { Err(Reason::NegativeVariance) }
}

/// Why no usable row holds a packet.
fn no_sample<R: Row>(observation: &Observation<R>) -> Reason {
    if observation.received == 0 {
        Reason::NothingReceived
    } else if observation.is_blank() {
        Reason::NothingSampled
    } else {
        Reason::NoUsableRow
    }
}

/// (R - 1) / R: turns a variance with divisor R - 1 into one with divisor R.
fn without_one(received: u64) -> f64 {
    received.saturating_sub(1) as f64 / received as f64
}

/// The sums over the usable rows.
struct Sample {
    /// g.
    rows: usize,
    /// S.
    packets: u64,
    /// The mean, rounded down.
    floor: i128,
    /// The part of the mean above `floor`, within 0..1.
    fraction: f64,
    /// The between-row variance, where there are two rows.
    variance: f64,
    /// Its degrees of freedom.
    freedom: f64,
    /// sum d_i^3 with d_i = X_i - n_i mean.
    cubes: f64,
}

/// Fewest usable rows whose third and fourth moments are used: as many as the smallest bank has.
const ROWS_FOR_SHAPE: usize = 8;

impl Sample {
    fn of(rows: impl Iterator<Item = UsableRow>) -> Self {
        let rows: Vec<UsableRow> = rows.collect();
        let packets: u64 = rows.iter().map(|row| row.packets).sum();
        let total: i128 = rows.iter().map(|row| row.delay_sum).sum();
        let divisor = i128::from(packets.max(1));
        // The integer part of the mean is subtracted before anything is rounded. A clock offset far larger than the
        // spread then costs no digits.
        let floor = total.div_euclid(divisor);
        let fraction = total.rem_euclid(divisor) as f64 / divisor as f64;
        let residual = |row: &UsableRow| {
            let above_floor = row.delay_sum - i128::from(row.packets) * floor;
            above_floor as f64 - row.packets as f64 * fraction
        };
        let counted: Vec<(f64, f64)> = rows.iter().map(|row| (row.packets as f64, residual(row))).collect();
        let (variance, freedom) = spread(&counted);
        let cubes = counted.iter().map(|(_, residual)| residual.powi(3)).sum();
        Sample { rows: rows.len(), packets, floor, fraction, variance, freedom, cubes }
    }

    /// The between-row variance with divisor R - 1.
    fn variance(&self) -> Result<f64, Reason> {
        if self.rows < 2 { Err(Reason::OneUsableRow) } else { Ok(self.variance) }
    }

    /// The skew of the mean, with `unsampled` = 1 - S/R.
    ///
    /// A row's sum has the third moment n_i k, where k is that of the delays, so sum d_i^3 / S estimates k. The
    /// mean of S of R delays without replacement has the third moment k (1 - S/R) (1 - 2 S/R) / S^2. Its covariance
    /// with its squared standard error is k (1 - S/R)^2 / S^2.
    fn skew(&self, variance: f64, unsampled: f64) -> Skew {
        if self.rows < ROWS_FOR_SHAPE || variance <= 0.0 {
            return Skew::default();
        }
        let packets = self.packets as f64;
        let coupling = self.cubes / packets / variance.powf(1.5) * (unsampled / packets).sqrt();
        Skew { mean: coupling * (2.0 - unsampled.recip()), coupling }
    }

    /// The mean of at least one packet, of `received` in all.
    fn mean(&self, received: u64) -> Mean {
        let unsampled = received.saturating_sub(self.packets);
        let uncertainty = match self.variance() {
            _ if unsampled == 0 => Uncertainty::Exact,
            Err(reason) => Uncertainty::Unknown(reason),
            Ok(variance) => {
                let share = unsampled as f64 / received as f64;
                Uncertainty::Sampled {
                    standard_error: (variance * share / self.packets as f64).sqrt(),
                    degrees_of_freedom: self.freedom,
                    skew: self.skew(variance, share),
                }
            }
        };
        Mean::unbounded(self.floor as f64 + self.fraction, uncertainty)
    }
}

/// The between-row variance of rows of n_i packets with residuals d_i, and its degrees of freedom.
///
/// z_i = d_i^2 / n_i has the mean s^2 (1 - n_i/S) and the variance s^4 (2 + k/n_i), where k is the excess kurtosis of the
/// delays. So rows count with the weight w_i = 1 / (2 + k/n_i): under a heavy tail, rows of few packets say less of the
/// spread than those of many. The weighted mean has the variance s^4 / sum w_i, and a chi-squared variable over its f degrees
/// of freedom has 2 s^4 / f. Without excess f is g - 1.
///
/// k follows from the excess kurtosis of d_i / sqrt(n_i), which is k times the average of 1/n_i. Its estimate is unbiased
/// for normal rows, and a negative one counts as zero.
fn spread(rows: &[(f64, f64)]) -> (f64, f64) {
    let g = rows.len() as f64;
    let square = |(packets, residual): &(f64, f64)| residual * residual / packets;
    let plain = rows.iter().map(square).sum::<f64>() / (g - 1.0);
    if rows.len() < ROWS_FOR_SHAPE || plain <= 0.0 {
        return (plain, g - 1.0);
    }
    let fourths: f64 = rows.iter().map(|row| square(row).powi(2)).sum();
    let scaled = g * (g + 1.0) / (g - 1.0) * fourths / (plain * plain);
    let excess = ((scaled - 3.0 * (g - 1.0).powi(2)) / ((g - 2.0) * (g - 3.0))).max(0.0);
    let kurtosis = excess * g / rows.iter().map(|(packets, _)| packets.recip()).sum::<f64>();
    let weight = |packets: f64| (2.0 + kurtosis / packets).recip();
    let packets: f64 = rows.iter().map(|(packets, _)| packets).sum();
    let squares: f64 = rows.iter().map(|row| weight(row.0) * square(row)).sum();
    let weights: f64 = rows.iter().map(|(own, _)| weight(*own) * (1.0 - own / packets)).sum();
    (squares / weights, (2.0 * weights).max(1.0))
}

/// The paper's F. The low-order bit of the row index is the sign, so adjacent rows collapse into one.
///
/// The paper asks that the collapsed counts match; here both rows' counts must match. With loss alone that is the
/// same. With a loss in one row and a surplus in the other it is the safer reading.
fn second_moment<R: Row>(
    observation: &Observation<R>,
    sum: impl Fn(&UsableRow) -> i128,
) -> Result<f64, Reason> {
    let (mut packets, mut squares) = (0, 0.0);
    for (even, odd) in observation.usable_pairs() {
        packets += even.packets + odd.packets;
        let collapsed = (sum(&odd) - sum(&even)) as f64;
        squares += collapsed * collapsed;
    }
    if packets == 0 { Err(Reason::NoUsablePair) } else { Ok(squares / packets as f64) }
}
