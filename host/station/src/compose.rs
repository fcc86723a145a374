//! A path in numbers, from those of its segments.
//!
//! # Theory of operation
//!
//! A packet's delay on the path is the sum of its delays on the k segments. Every interval of a segment is taken at the
//! confidence 1 - (1 - c) / k, so that all k hold together with confidence c, however their errors depend on each other
//! (Bonferroni); what follows from them is arithmetic.
//!
//! | of the path | from the segments | assumes |
//! |---|---|---|
//! | mean | the sum of the means | packets that are lost further on were as late as the others |
//! | deviation, [`Dependence::Unknown`] | between max(0, 2 max sigma - sum sigma) and the sum of sigma (Minkowski) | the same |
//! | deviation, [`Dependence::Independent`] | the root of the sum of squares | besides, delays of different segments do not depend on each other |
//! | loss | 1 - product of (1 - loss); intervals of Clopper and Pearson | packets are lost one by one, and on one segment whether or not on another; bursts, and segments that are full at the same time, make the interval too narrow |
//! | quantile q | between the sums of the q s / k and of the 1 - (1 - q) s / k quantiles | nothing |
//!
//! For the quantile: the sum of delays exceeds a sum of thresholds only if one of them is exceeded. s, for each segment, is the least share
//! of packets that passes all segments behind it: a segment's numbers are those of what arrived there, of which the path's packets are at least that
//! share. The k - 1 shares and the k quantiles hold together as the segments' intervals do.
//!
//! # Limits
//!
//! A segment speaks for the path's packets if they fare in it as all that it measured: one class, one queue (the measurement
//! equivalence class of the paper, section II-C). With losses, mean and deviation are the sums of what arrived in each segment. If it is the
//! late packets that are lost, those that arrive at the end were earlier, and the intervals need not hold their mean; the quantiles do. A delay of which
//! clocks' offsets are a part adds these up, too.
//!
//! # Test plan
//!
//! Worked examples; bounds that are reached, by delays that run together or against each other; losses behind a segment, of the latest packets, and
//! before it; refusals. Coverage over queues, against every packet's own delay: `tests/network.rs`.

use crate::clopper_pearson::clopper_pearson;
use deltaline_estimate::{Confidence, ConfidenceError, Loss, Overall, Range, Reason, Singles, quantile};

/// What is known of a segment.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Its delay and loss.
    pub overall: &'a Overall,
    /// Its exact delays, by interval; empty if there are none.
    pub singles: &'a [&'a Singles],
}

/// Whether delays on different segments depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependence {
    /// They may, in any way.
    Unknown,
    /// They do not.
    Independent,
}

/// A number of a path: its estimate, if there is a best one, and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Composed {
    /// The estimate.
    pub value: Option<f64>,
    /// The interval.
    pub range: Range,
}

/// Why a path has no number.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ComposeError {
    /// A path without segments.
    #[error("a path has at least one segment; give those that it consists of")]
    Nothing,
    /// A segment lacks the number.
    #[error("segment {place} of the path: {reason}")]
    Segment {
        /// Its place on the path, from 1 on.
        place: usize,
        /// Why.
        reason: Reason,
    },
    /// So many segments take more confidence than any has.
    #[error(transparent)]
    Confidence(#[from] ConfidenceError),
    /// No quantile.
    #[error("{0} is no quantile; give a share between 0 and 1")]
    Quantile(f64),
}

/// A path, as the sequence of its segments.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    parts: &'a [Part<'a>],
    confidence: Confidence,
    /// Of each segment's numbers.
    each: Confidence,
}

impl<'a> Path<'a> {
    /// The path of these segments. Its intervals hold with this confidence.
    ///
    /// # Errors
    ///
    /// [`ComposeError::Nothing`]; [`ComposeError::Confidence`] if 1 - (1 - confidence) / segments exceeds 0.999999.
    pub fn new(parts: &'a [Part<'a>], confidence: Confidence) -> Result<Self, ComposeError> {
        if parts.is_empty() {
            return Err(ComposeError::Nothing);
        }
        Ok(Path { parts, confidence, each: shared(confidence, parts.len())? })
    }

    /// What `number` is for each segment.
    fn each<T>(&self, mut number: impl FnMut(&Part) -> Result<T, Reason>) -> Result<Vec<T>, ComposeError> {
        let numbered = self.parts.iter().zip(1..);
        numbered
            .map(|(part, place)| number(part).map_err(|reason| ComposeError::Segment { place, reason }))
            .collect()
    }

    /// The mean delay in nanoseconds.
    ///
    /// # Errors
    ///
    /// [`ComposeError::Segment`].
    pub fn mean(&self) -> Result<Composed, ComposeError> {
        let means = self.each(|part| {
            let mean = part.overall.mean?;
            Ok((mean.nanoseconds, mean.range(self.each)?))
        })?;
        let value = Some(means.iter().map(|(mean, _)| mean).sum());
        Ok(Composed { value, range: sum(means.iter().map(|(_, range)| *range)) })
    }

    /// The standard deviation of the delay in nanoseconds.
    ///
    /// # Errors
    ///
    /// [`ComposeError::Segment`].
    pub fn deviation(&self, dependence: Dependence) -> Result<Composed, ComposeError> {
        let deviations = self.each(|part| {
            let deviation = part.overall.deviation?;
            Ok((deviation.nanoseconds, deviation.range(self.each)?))
        })?;
        let ranges = deviations.iter().map(|(_, range)| *range);
        if dependence == Dependence::Independent {
            let root =
                |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>().sqrt();
            let range = Range {
                lower: root(&mut ranges.clone().map(|range| range.lower)),
                upper: root(&mut ranges.map(|range| range.upper)),
            };
            return Ok(Composed {
                value: Some(root(&mut deviations.iter().map(|(value, _)| *value))),
                range,
            });
        }
        let upper = sum(ranges.clone()).upper;
        // What one segment varies more than all others together can take back.
        let lower = ranges.map(|range| range.lower + range.upper - upper).fold(0.0, f64::max);
        let value = (deviations.len() == 1).then(|| deviations[0].0);
        Ok(Composed { value, range: Range { lower, upper } })
    }

    /// The share of packets that are lost.
    ///
    /// # Errors
    ///
    /// [`ComposeError::Segment`], also where more packets came out of a segment than went in.
    pub fn loss(&self) -> Result<Composed, ComposeError> {
        let lost = self.each(|part| lost(part).map(|lost| (lost.share(), lost.range(self.each))))?;
        // 1 - product of (1 - share), with the digits of small shares.
        let together = |shares: &mut dyn Iterator<Item = f64>| {
            -shares.map(|share| (-share).ln_1p()).sum::<f64>().exp_m1()
        };
        let range = Range {
            lower: together(&mut lost.iter().map(|(_, range)| range.lower)),
            upper: together(&mut lost.iter().map(|(_, range)| range.upper)),
        };
        Ok(Composed { value: Some(together(&mut lost.iter().map(|(share, _)| *share))), range })
    }

    /// Bounds of the `probability`-quantile of the delay, in nanoseconds. Where a segment has too few exact delays for one of them,
    /// it is infinite.
    ///
    /// # Errors
    ///
    /// [`ComposeError::Quantile`] unless `probability` is between 0 and 1; [`ComposeError::Segment`] if both bounds are infinite, or
    /// nothing is known of the loss.
    pub fn quantile(&self, probability: f64) -> Result<Composed, ComposeError> {
        if !(probability > 0.0 && probability < 1.0) {
            return Err(ComposeError::Quantile(probability));
        }
        let together = shared(self.confidence, 2 * self.parts.len() - 1)?;
        let kept = self.each(|part| match part.overall.received {
            0 => Err(Reason::NothingReceived),
            _ => Ok(1.0 - lost(part)?.range(together).upper),
        })?;
        // Of what arrives in a segment, how much arrives at the path's end.
        let count = self.parts.len();
        let shares: Vec<f64> =
            (1..=count).map(|behind| kept[behind..].iter().product::<f64>() / count as f64).collect();
        let bound = |probability: &dyn Fn(f64) -> f64| {
            let mut shares = shares.iter();
            self.each(|part| {
                let share = shares.next().copied().unwrap_or(0.0);
                Ok(quantile(part.singles, probability(share), together)?.value.range)
            })
        };
        let lower = bound(&|share| probability * share);
        let upper = bound(&|share| 1.0 - (1.0 - probability) * share);
        match (lower, upper) {
            (Err(error), Err(_)) => Err(error),
            (lower, upper) => {
                let lower = lower.map_or(f64::NEG_INFINITY, |ranges| sum(ranges.into_iter()).lower);
                let upper = upper.map_or(f64::INFINITY, |ranges| sum(ranges.into_iter()).upper);
                Ok(Composed { value: None, range: Range { lower, upper } })
            }
        }
    }
}

/// So many statements of this confidence each hold together with `confidence`.
fn shared(confidence: Confidence, statements: usize) -> Result<Confidence, ConfidenceError> {
    Confidence::new(1.0 - (1.0 - confidence.level()) / statements as f64)
}

/// What a segment lost.
#[derive(Clone, Copy)]
struct Lost {
    lost: u64,
    sent: u64,
}

impl Lost {
    fn share(self) -> f64 {
        self.lost as f64 / self.sent as f64
    }

    fn range(self, confidence: Confidence) -> Range {
        clopper_pearson(self.lost, self.sent, confidence)
    }
}

fn lost(part: &Part) -> Result<Lost, Reason> {
    let sent = part.overall.sent;
    match part.overall.loss() {
        Loss::Surplus(surplus) => Err(Reason::Gained(surplus)),
        Loss::Lost(_) if sent == 0 => Err(Reason::NothingReceived),
        Loss::Lost(lost) => Ok(Lost { lost, sent }),
    }
}

/// Of the magnitudes of two numbers, what their difference may be by rounding alone: thousands of additions.
const ROUNDING: f64 = 1.0 / (1u64 << 40) as f64;

/// By how much a measurement from end to end lies above what its segments add up to, or below: the distance of the two
/// intervals; none where they meet. Two intervals of confidence 1 - a / 2 each, of the same delay, are apart with probability a at
/// most. A distance of 2^-40 of the delays is rounding, and none. Ends that are no numbers bound nothing.
///
/// More end to end is delay outside of the segments; less says that other packets were measured.
pub fn apart(composed: Range, measured: Range) -> Option<f64> {
    let beyond = |one: f64, other: f64| {
        let distance = one - other;
        (distance.abs() > ROUNDING * one.abs().max(other.abs())).then_some(distance)
    };
    if measured.lower > composed.upper {
        beyond(measured.lower, composed.upper)
    } else if measured.upper < composed.lower {
        beyond(measured.upper, composed.lower)
    } else {
        None
    }
}

fn sum(ranges: impl Iterator<Item = Range>) -> Range {
    ranges.fold(Range { lower: 0.0, upper: 0.0 }, |sum, range| Range {
        lower: sum.lower + range.lower,
        upper: sum.upper + range.upper,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltaline_estimate::{Deviation, Mean, Rounding, Uncertainty, combine};

    fn known(mean: f64, deviation: f64, sent: u64, received: u64) -> Overall {
        Overall {
            sent,
            received,
            mean: Ok(Mean::unbounded(mean, Uncertainty::Exact)),
            deviation: Ok(Deviation {
                nanoseconds: deviation,
                degrees_of_freedom: 1e6,
                rows: 1_000_001,
                rounding: Rounding::default(),
            }),
            ..combine(&[])
        }
    }

    fn parts(overall: &[Overall]) -> Vec<Part<'_>> {
        overall.iter().map(|overall| Part { overall, singles: &[] }).collect()
    }

    #[test]
    fn worked() {
        let segments = [known(100.0, 30.0, 1000, 900), known(250.0, 40.0, 900, 450)];
        let parts = parts(&segments);
        let path = Path::new(&parts, Confidence::P95).unwrap();
        let exact = Range { lower: 350.0, upper: 350.0 };
        assert_eq!(path.mean(), Ok(Composed { value: Some(350.0), range: exact }));
        let loss = path.loss().unwrap();
        assert!((loss.value.unwrap() - 0.55).abs() < 1e-12);
        assert!(loss.range.lower > 0.5 && loss.range.upper < 0.6);
        let close = |deviation: Composed, lower: f64, upper: f64| {
            let Range { lower: low, upper: high } = deviation.range;
            (low - lower).abs() < 0.3 && (high - upper).abs() < 0.3
        };
        let independent = path.deviation(Dependence::Independent).unwrap();
        assert!(close(independent, 50.0, 50.0) && independent.value == Some(50.0), "{independent:?}");
        // Delays that run against each other leave 10, those that run together 70.
        let unknown = path.deviation(Dependence::Unknown).unwrap();
        assert!(close(unknown, 10.0, 70.0) && unknown.value.is_none(), "{unknown:?}");
        // No deviation of three alike can be ruled out below.
        let three = [known(0.0, 40.0, 1, 1); 3];
        let three = super::tests::parts(&three);
        let path = Path::new(&three, Confidence::P95).unwrap();
        assert!(close(path.deviation(Dependence::Unknown).unwrap(), 0.0, 120.0));
    }

    /// Exact delays of 1 to `count`, and of as many packets again that were lost before, or in the segment.
    fn counted(count: u64) -> (Overall, Singles) {
        (known(0.0, 0.0, 2 * count, count), Singles::drawn((1..=count as i64).collect(), count))
    }

    /// What is lost in a segment takes nothing from its numbers; what is lost behind it does.
    #[test]
    fn quantiles_where_packets_are_lost() {
        let (overall, singles) = counted(1000);
        let singles = [&singles];
        let lossy = Part { overall: &overall, singles: &singles };
        let alone = Path::new(&[lossy], Confidence::P95).unwrap().quantile(0.5).unwrap();
        assert_eq!(alone.range, quantile(&singles, 0.5, Confidence::P95).unwrap().value.range);

        // Half of the packets reach the end, the fast half of the first segment, say, or the slow one: 1 to 500 or 501 to 1000.
        let none = Singles::drawn(vec![0; 500], 500);
        let rest = known(0.0, 0.0, 1000, 500);
        let parts = [lossy, Part { overall: &rest, singles: &[&none] }];
        let range = Path::new(&parts, Confidence::P95).unwrap().quantile(0.5).unwrap().range;
        assert!(range.lower <= 250.0 && range.upper >= 750.0, "{range:?}");
        assert!(range.lower > 0.0 && range.upper <= 1000.0, "{range:?}");
        // Where all is lost it is that segment that is named.
        let nothing = known(0.0, 0.0, 1000, 0);
        let parts = [lossy, Part { overall: &nothing, singles: &[] }];
        let error = Path::new(&parts, Confidence::P95).unwrap().quantile(0.5).unwrap_err();
        assert_eq!(error, ComposeError::Segment { place: 2, reason: Reason::NothingReceived });
    }

    #[test]
    fn refused() {
        let nothing = combine(&[]);
        let segments = [known(1.0, 1.0, 10, 10), nothing, known(1.0, 1.0, 10, 12)];
        let parts = parts(&segments);
        let path = |parts| Path::new(parts, Confidence::P95);
        assert_eq!(path(&[]).unwrap_err(), ComposeError::Nothing);
        let place = |error: ComposeError| match error {
            ComposeError::Segment { place, reason } => (place, reason),
            error => panic!("{error}"),
        };
        assert_eq!(place(path(&parts).unwrap().mean().unwrap_err()), (2, nothing.mean.unwrap_err()));
        assert_eq!(place(path(&parts).unwrap().loss().unwrap_err()), (2, Reason::NothingReceived));
        assert_eq!(place(path(&parts[2..]).unwrap().loss().unwrap_err()), (1, Reason::Gained(2)));
        assert_eq!(
            place(path(&parts[..1]).unwrap().quantile(0.5).unwrap_err()),
            (1, Reason::NothingReceived)
        );
        for probability in [0.0, 1.0, -1.0, f64::NAN] {
            let error = path(&parts[..1]).unwrap().quantile(probability).unwrap_err();
            assert!(matches!(error, ComposeError::Quantile(_)));
        }
        let sure = Confidence::new(0.999_999).unwrap();
        assert!(matches!(Path::new(&parts, sure), Err(ComposeError::Confidence(_))));
    }

    #[test]
    fn ends_and_segments() {
        let range = |lower, upper| Range { lower, upper };
        assert_eq!(apart(range(1.0, 3.0), range(2.0, 9.0)), None);
        assert_eq!(apart(range(1.0, 3.0), range(3.0, 9.0)), None);
        assert_eq!(apart(range(1.0, 3.0), range(5.0, 9.0)), Some(2.0));
        assert_eq!(apart(range(4.0, 5.0), range(1.0, 3.0)), Some(-1.0));
        // Thirds that are added in another order.
        let [one, other] = [(0.1 + 0.2) + 0.3, 0.1 + (0.2 + 0.3)];
        assert_ne!(one, other);
        assert_eq!(
            [apart(range(one, one), range(other, other)), apart(range(other, other), range(one, one))],
            [None; 2]
        );
    }
}
