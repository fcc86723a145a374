//! Combines consecutive intervals into one estimate. Each interval is a stratum.
//!
//! With R_k packets received in interval k and w_k = R_k / sum R_k:
//!
//! * mean = sum w_k mean_k, with variance sum w_k^2 v_k, where v_k is the squared standard error of mean_k.
//!   A mean outside of its interval's certain bounds counts as it is reported, moved to their nearer end, and none is farther off than these let it.
//!   Errors of brackets, and of slices whose table was full, may all lie to one side: where each interval begins or ends with a burst of
//!   losses, say. They count as one error, of sum w_k v_k^(1/2), with the fewest degrees of freedom of any. Other intervals of which slices
//!   tell the mean are one stratum, in which all their lost boundaries say together where in their slices losses lie.
//!   Rows of intervals are sampled independently, each with its own few degrees of freedom f_k, so the sum has (sum w_k^2
//!   v_k)^2 / sum ((w_k^2 v_k)^2 / f_k) of them (Welch-Satterthwaite). Third moments of independent means add up,
//!   weighted by w_k^3, and so do covariances of mean and variance ([`Skew`]).
//! * sigma^2 = sum w_k (sigma_k^2 + (mean_k - mean)^2) - sum w_k (1 - w_k) v_k. The last term is what the noise of
//!   the means adds to their spread, so that sigma^2 is unbiased. It never exceeds sum w_k sigma_k^2, because
//!   v_k = s_k^2 (1/S_k - 1/R_k) and sigma_k^2 = s_k^2 (1 - 1/R_k) leave sigma_k^2 - v_k = s_k^2 (1 - 1/S_k) >= 0.
//! * the paper's sigma^2 = sum w_k F_k - mean^2. That equals sum w_k (sigma_k^2 + (mean_k - mean)^2) where no
//!   sigma_k^2 is negative. Where some are negative, their F_k still count: leaving out the intervals whose
//!   variance chance made negative would bias the rest upwards.
//!
//! * the squared deviation's own variance is sum w_k^2 (2 sigma_k^4 / f_k + 4 e_k^2 v_k + 4 e_k c_k), with f_k degrees of freedom
//!   in interval k, its distance e_k = mean_k - mean, and c_k the covariance of mean_k and sigma_k^2. [`Skew::coupling`] is that of mean_k
//!   and v_k over v_k^(3/2), and v_k is sigma_k^2 times what is known exactly, so that c_k = coupling sigma_k^2 v_k^(1/2). The interval
//!   is that of a chi-squared variable of that relative variance.
//! * brackets: sum w_k bracket_k. Packets lost and gained add up.
//!
//! An only packet has no spread: sigma_k^2 is 0 for R_k = 1, whatever one row shows.
//!
//! If packets were received in an interval but mean or deviation is not identifiable there, it has none for all intervals
//! together: what is missing is not chance, but the intervals in which most was lost, and these are slow. Quantiles
//! and the paper's deviation leave such an interval out, and say so: it is *missing*.

use crate::interval::{Method, root_of_difference};
use crate::sizing::{LEAST_ROWS, LEAST_SAMPLES};
use crate::slices::Apart;
use crate::{Balance, Confidence, Estimate, Loss, Mean, Range, Reason, Rounding, Skew, Uncertainty};

/// A value over several intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stratified<T> {
    /// The value, over the packets of the intervals that are not missing.
    pub value: T,
    /// Intervals in which packets were received but which the value leaves out.
    pub missing: usize,
}

/// What several intervals together show about delay and loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overall {
    /// Intervals combined.
    pub intervals: usize,
    /// Packets sent; saturates at 2^64 - 1.
    pub sent: u64,
    /// Packets received; saturates at 2^64 - 1.
    pub received: u64,
    /// Packets in usable rows; saturates at 2^64 - 1.
    pub effective_samples: u64,
    /// Those of them that are of intervals whose mean is not exact: what its error rests on.
    pub sampled: u64,
    /// What times are multiples of: mean and bracket are those of measured delays.
    pub rounding: Rounding,
    /// Packets lost and packets gained, apart.
    pub balance: Balance,
    /// Why rows of some interval are no chance sample of its packets, if so.
    pub representative: Result<(), Reason>,
    /// Mean delay of all intervals.
    pub mean: Result<Mean, Reason>,
    /// Where the means of the intervals with packets come from.
    pub method: Method,
    /// Between which delays the mean of all intervals lies for certain, in nanoseconds.
    pub bracket: Result<Range, Reason>,
    /// Standard deviation of delay of all intervals, from the spread between rows and between intervals.
    pub deviation: Result<Deviation, Reason>,
    /// The LDA paper's standard deviation of delay in nanoseconds.
    pub paper_deviation: Result<Stratified<f64>, Reason>,
}

/// A standard deviation of delay, and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deviation {
    /// The standard deviation in nanoseconds.
    pub nanoseconds: f64,
    /// Degrees of freedom of its square.
    pub degrees_of_freedom: f64,
    /// Rows that it comes from.
    pub rows: usize,
    /// What it is without: the spread that rounded times have added.
    pub rounding: Rounding,
}

/// Fewest rows with which a deviation has an interval: fewer do not show the tail.
const FEWEST_ROWS: usize = 100;
/// Fewest degrees of freedom with which it has one, in all and of each row: with fewer, few packets of a heavy tail make up most
/// of the spread, and there is no knowing how many more there are. To ask for more would leave the worst: rows that happen to
/// lack the tail have most freedom and the least deviation.
const FEWEST_FREEDOM: f64 = 50.0;
const LEAST_FREEDOM: f64 = 0.3;
/// By which power of the freedom that is left of a row the upper end's is less: found by the trials of `tests/deviation.rs`.
const HIDDEN_TAIL: f64 = 1.5;

impl Deviation {
    /// Whether few packets make up most of the spread.
    pub fn has_heavy_tail(&self) -> bool {
        !self.has_freedom(FEWEST_FREEDOM.max(LEAST_FREEDOM * self.rows.saturating_sub(1) as f64))
    }

    /// Whether there are at least so many degrees of freedom; a NaN is none.
    fn has_freedom(&self, least: f64) -> bool {
        self.degrees_of_freedom >= least
    }

    /// Whether rows, or the packets in them, are too few to say anything of the tail.
    pub(crate) fn has_few(&self, samples: u64) -> bool {
        (self.rows as f64) < LEAST_ROWS || (samples as f64) < LEAST_SAMPLES
    }

    /// Whether the mean's interval may hold less often than it says: rows are few, or the tail is so heavy that Student's t
    /// and the rows' skew do not make up for it. The fewer rows there are, the more of their freedom must be left, as few rows
    /// seldom show the whole tail. `samples` packets are in the rows.
    pub(crate) fn strains_the_mean(&self, samples: u64) -> bool {
        let rows = self.rows.saturating_sub(1) as f64;
        let least = (0.5 * rows).clamp(LEAST_ROWS - 1.0, FEWEST_FREEDOM);
        self.has_few(samples) || !self.has_freedom(least.max(LEAST_FREEDOM / 2.0 * rows))
    }

    /// The confidence interval of the deviation. Where a heavy tail takes degrees of freedom, the upper end has fewer still:
    /// rows that happen to lack much of the tail show too small a deviation and too much freedom at once.
    ///
    /// # Errors
    ///
    /// [`Reason::FewRows`] from 100 rows or fewer, [`Reason::HeavyTail`] with less than 50 degrees of freedom or three
    /// tenths of one a row: from these nothing can be said.
    pub fn range(&self, confidence: Confidence) -> Result<Range, Reason> {
        let Deviation { degrees_of_freedom: freedom, rows, rounding, .. } = *self;
        let nanoseconds = rounding.with(self.nanoseconds);
        if rows <= FEWEST_ROWS {
            return Err(Reason::FewRows);
        }
        if nanoseconds == 0.0 {
            return Ok(rounding.without_range(Range { lower: 0.0, upper: 0.0 }));
        }
        if self.has_heavy_tail() {
            return Err(Reason::HeavyTail);
        }
        let hidden = freedom * (freedom / (rows - 1) as f64).min(1.0).powf(HIDDEN_TAIL);
        let [[_, above], [below, _]] = [freedom, hidden].map(|freedom| confidence.chi_squared(freedom));
        Ok(rounding.without_range(Range {
            lower: nanoseconds * (freedom / above).sqrt(),
            upper: nanoseconds * (hidden / below).sqrt(),
        }))
    }

    /// What is left of a deviation that contains what rounding has added.
    fn without_rounding(self) -> Result<Self, Reason> {
        let nanoseconds = self.rounding.without(self.nanoseconds).ok_or(Reason::Rounded)?;
        Ok(Deviation { nanoseconds, ..self })
    }
}

impl Overall {
    /// Packets lost, exact: the losses of all intervals less their surplus.
    pub fn loss(&self) -> Loss {
        Loss::between(self.sent, self.received)
    }
}

/// Combines the estimates of disjoint intervals; their order does not matter.
///
/// ```
/// use deltaline_estimate::{Loss, Observation, combine, estimate};
/// use deltaline_model::sketch::cell::Cell;
///
/// // Two packets with a mean delay of 100 ns in the first interval, one with 250 ns in the second, where one was lost.
/// let interval = |packets, delay_sum, lost| {
///     let cell = |count, sum| [Cell { count, sum, digest: 0 }, Cell::default()];
///     let (sender, receiver) = (cell(packets, 0), cell(packets, delay_sum));
///     let (sent, received) = (u64::from(packets) + lost, u64::from(packets));
///     estimate(&Observation { rows: 2, sender: &sender, receiver: &receiver, sent, received })
/// };
/// let overall = combine(&[interval(2, 200, 0)?, interval(1, 250, 1)?]);
/// assert_eq!(overall.loss(), Loss::Lost(1));
/// assert_eq!(overall.mean?.nanoseconds, 150.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn combine(intervals: &[Estimate]) -> Overall {
    let add = |count: fn(&Estimate) -> u64| intervals.iter().map(count).fold(0, u64::saturating_add);
    Overall {
        intervals: intervals.len(),
        sent: add(|each| each.sent),
        received: add(|each| each.received),
        effective_samples: add(|each| each.effective_samples),
        sampled: add(|each| match each.mean {
            Ok(Mean { uncertainty: Uncertainty::Exact, .. }) => 0,
            _ => each.effective_samples,
        }),
        rounding: intervals.iter().fold(Rounding::default(), |all, each| all.max(each.rounding)),
        balance: intervals.iter().fold(Balance::default(), |sum, each| sum.and(each.balance)),
        representative: intervals.iter().try_for_each(|each| each.representative),
        mean: whole(intervals, |each| Ok((each.mean?, *each)))
            .map(|strata| overall_mean(&with_slices_as_one(strata))),
        method: method(intervals),
        bracket: whole(intervals, |each| each.bracket).map(|strata| Range {
            lower: weighted(&strata, |range| range.lower),
            upper: weighted(&strata, |range| range.upper),
        }),
        deviation: whole(intervals, |each| {
            // The delay of an only packet is known, and has no spread.
            if let (1, Ok(mean)) = (each.delivered, each.mean) {
                let rounding = each.rounding;
                return Ok((
                    mean,
                    Deviation { nanoseconds: 0.0, degrees_of_freedom: 1.0, rows: 1, rounding },
                ));
            }
            let deviation = Deviation {
                nanoseconds: each.deviation?,
                degrees_of_freedom: each.deviation_freedom,
                rows: each.deviation_rows,
                rounding: each.rounding,
            };
            Ok((each.mean?, deviation))
        })
        .and_then(|strata| overall_deviation(&strata)?.without_rounding()),
        paper_deviation: strata(intervals, |each| {
            Some((each.mean.ok()?.nanoseconds, each.paper_second_moment.ok()?))
        })
        .and_then(|strata| {
            let deviation = overall_paper_deviation(&strata.value)?;
            Ok(Stratified { value: deviation, missing: strata.missing })
        }),
    }
}

/// Where the means of the intervals with packets come from.
fn method(intervals: &[Estimate]) -> Method {
    let with_packets = intervals.iter().filter(|each| each.received > 0).map(|each| each.method);
    let both = with_packets.reduce(|one, other| if one == other { one } else { Method::Mixed });
    both.unwrap_or(Method::Rows)
}

/// An interval's share of the packets and what is known of it.
type Stratum<T> = (f64, T);

/// The intervals with packets of which `known` knows something, at least one, with their weights w_k.
fn strata<T>(
    intervals: &[Estimate],
    known: impl Fn(&Estimate) -> Option<T>,
) -> Result<Stratified<Vec<Stratum<T>>>, Reason> {
    let with_packets = intervals.iter().filter(|each| each.received > 0);
    let all = with_packets.clone().count();
    let mut strata: Vec<Stratum<T>> =
        with_packets.filter_map(|each| Some((each.delivered as f64, known(each)?))).collect();
    if strata.is_empty() {
        return Err(if all == 0 { Reason::NothingReceived } else { Reason::NoInterval });
    }
    let total: f64 = strata.iter().map(|(received, _)| received).sum();
    strata.iter_mut().for_each(|(weight, _)| *weight /= total);
    Ok(Stratified { missing: all - strata.len(), value: strata })
}

/// All intervals with packets and what `known` knows of them; an only one keeps the reason of its own.
fn whole<T>(
    intervals: &[Estimate],
    known: impl Fn(&Estimate) -> Result<T, Reason>,
) -> Result<Vec<Stratum<T>>, Reason> {
    if let [only] = intervals {
        return Ok(vec![(1.0, known(only)?)]);
    }
    let strata = strata(intervals, |each| known(each).ok())?;
    if strata.missing > 0 { Err(Reason::Missing(strata.missing)) } else { Ok(strata.value) }
}

/// The weighted sum of what `value` takes from the strata.
fn weighted<T>(strata: &[Stratum<T>], value: impl Fn(&T) -> f64) -> f64 {
    strata.iter().map(|(weight, known)| weight * value(known)).sum()
}

/// Means, and whether errors of several of them may all lie to one side.
type MeanOfStratum = (Mean, bool);

/// The strata of which slices tell the mean as one.
fn with_slices_as_one(strata: Vec<Stratum<(Mean, Estimate)>>) -> Vec<Stratum<MeanOfStratum>> {
    // What bounds tell more of than slices do is not to spoil the others.
    let is_sampled = |mean: &Mean| match mean.uncertainty {
        Uncertainty::Sampled { standard_error, .. } => standard_error <= farthest(mean),
        Uncertainty::Exact | Uncertainty::Unknown(_) => false,
    };
    let (mut sliced, mut parts, mut all) = (vec![], vec![], vec![]);
    for (weight, (mean, estimate)) in strata {
        match estimate.apart.filter(|_| is_sampled(&mean)) {
            Some(apart) => {
                sliced.push((weight, (mean, false)));
                parts.push(apart);
            }
            None => all.push((weight, (mean, estimate.method != Method::Rows))),
        }
    }
    if let [_, _, ..] = sliced[..] {
        let total: f64 = sliced.iter().map(|(weight, _)| weight).sum();
        let mean = Apart::mean(&parts);
        let bounds = Range {
            lower: weighted(&sliced, |(mean, _)| mean.bounds.lower) / total,
            upper: weighted(&sliced, |(mean, _)| mean.bounds.upper) / total,
        };
        sliced = vec![(total, (mean.bounded(bounds), false))];
    }
    all.extend(sliced);
    all
}

/// By how much a mean is off at most.
fn farthest(mean: &Mean) -> f64 {
    let (value, Range { lower, upper }) = (mean.within_bounds(), mean.bounds);
    (value - lower).max(upper - value)
}

fn overall_mean(strata: &[Stratum<MeanOfStratum>]) -> Mean {
    let (mut variance, mut satterthwaite, mut degrees) = (0.0, 0.0, 0.0);
    let (mut aside, mut fewest) = (0.0, f64::INFINITY);
    let (mut uncertainty, mut thirds) = (Uncertainty::Exact, Skew::default());
    for (weight, (mean, leans)) in strata {
        let most = farthest(mean);
        if let Uncertainty::Sampled { standard_error, skew, .. } = mean.uncertainty {
            let cube = (weight * standard_error.min(most)).powi(3);
            thirds.mean += cube * skew.mean;
            thirds.coupling += cube * skew.coupling;
        }
        match mean.variance().map(|(variance, degrees)| (variance.min(most * most), degrees)) {
            Some((own_variance, own_degrees)) if own_degrees > 0.0 && *leans => {
                aside += weight * own_variance.sqrt();
                fewest = own_degrees.min(fewest);
            }
            Some((own_variance, own_degrees)) if own_degrees > 0.0 => {
                let part = weight * weight * own_variance;
                variance += part;
                satterthwaite += part * part / own_degrees;
                degrees += own_degrees;
            }
            Some(_) => {}
            None => uncertainty = mean.uncertainty,
        }
    }
    if aside > 0.0 {
        let part = aside * aside;
        variance += part;
        satterthwaite += part * part / fewest;
        degrees += fewest;
    }
    if uncertainty == Uncertainty::Exact && degrees > 0.0 {
        // Squares of tiny variances may vanish; then the degrees of freedom do not matter much.
        let ratio = variance * variance / satterthwaite;
        let degrees_of_freedom = if ratio >= 1.0 { ratio.min(degrees) } else { degrees };
        let standard_error = variance.sqrt();
        let over_cube = |third: f64| if third == 0.0 { 0.0 } else { third / standard_error.powi(3) };
        let skew = Skew { mean: over_cube(thirds.mean), coupling: over_cube(thirds.coupling) };
        uncertainty = Uncertainty::Sampled { standard_error, degrees_of_freedom, skew };
    }
    let bounds = Range {
        lower: weighted(strata, |(mean, _)| mean.bounds.lower),
        upper: weighted(strata, |(mean, _)| mean.bounds.upper),
    };
    Mean { nanoseconds: weighted(strata, |(mean, _)| mean.within_bounds()), uncertainty, bounds }
}

fn overall_deviation(strata: &[Stratum<(Mean, Deviation)>]) -> Result<Deviation, Reason> {
    let noise_of = |mean: &Mean| mean.variance().map_or(0.0, |(variance, _)| variance);
    let centre = weighted(strata, |(mean, _)| mean.nanoseconds);
    let within = weighted(strata, |(_, deviation)| deviation.nanoseconds.powi(2));
    let between = weighted(strata, |(mean, _)| (mean.nanoseconds - centre).powi(2));
    let noise: f64 = strata.iter().map(|(weight, (mean, _))| weight * (1.0 - weight) * noise_of(mean)).sum();
    let variance = (within + between - noise).max(0.0);
    // Means that few rows tell so badly that more is taken off for their errors than there is.
    if variance == 0.0 && noise > 0.0 {
        return Err(Reason::FewRows);
    }
    let of_interval = |(weight, (mean, deviation)): &Stratum<(Mean, Deviation)>| {
        let freedom = deviation.degrees_of_freedom;
        let own = weight * deviation.nanoseconds.powi(2) * (2.0 / freedom).sqrt();
        let shift = 2.0 * weight * (mean.nanoseconds - centre) * noise_of(mean).sqrt();
        // The covariance over the two standard errors; what few rows show may be more than there can be.
        let correlation = (mean.coupling() * (freedom / 2.0).sqrt()).clamp(-1.0, 1.0);
        own * own + shift * shift + 2.0 * correlation * own * shift
    };
    let error: f64 = strata.iter().map(of_interval).sum();
    Ok(Deviation {
        rows: strata.iter().map(|(_, (_, deviation))| deviation.rows).sum(),
        rounding: strata.iter().fold(Rounding::default(), |all, (_, (_, each))| all.max(each.rounding)),
        nanoseconds: variance.sqrt(),
        degrees_of_freedom: if error > 0.0 { 2.0 * variance * variance / error } else { f64::INFINITY },
    })
}

fn overall_paper_deviation(strata: &[Stratum<(f64, f64)>]) -> Result<f64, Reason> {
    root_of_difference(weighted(strata, |(_, moment)| *moment), weighted(strata, |(mean, _)| *mean))
}
