//! A mean delay and its uncertainty.
//!
//! # Test plan
//!
//! The interval's ends solve Hall's cubic, and without skew they are Student's. Whatever the skew, the mean lies
//! between the ends, and they move apart as the level rises. Coverage: `tests::monte_carlo`.

use crate::{Confidence, Reason};

/// A mean delay with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean in nanoseconds. Negative when the receiver's clock is behind the sender's by more than the delay.
    pub nanoseconds: f64,
    /// Its uncertainty.
    pub uncertainty: Uncertainty,
    /// Between which delays it lies for certain, in nanoseconds; infinite where nothing is known. The confidence interval
    /// ends there.
    pub bounds: Range,
}

/// How well a mean is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Uncertainty {
    /// Every received packet is in a usable row: the mean is the true one.
    Exact,
    /// The mean is that of a random sample.
    Sampled {
        /// Estimated standard error of the mean in nanoseconds, at least 0.
        standard_error: f64,
        /// Degrees of freedom of the standard error, at least 1; a fraction where rows or intervals differ.
        degrees_of_freedom: f64,
        /// How lopsided the estimate is.
        skew: Skew,
    },
    /// The mean is that of a random sample of unknown spread.
    Unknown(Reason),
}

/// How lopsided an estimated mean is, estimated from its rows; zero where they are too few.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Skew {
    /// The third central moment of the mean over the cube of its standard error.
    pub mean: f64,
    /// The covariance of the mean and its squared standard error, over the cube of the standard error.
    pub coupling: f64,
}

impl Skew {
    /// The (true - estimated) / standard error at which a Student variable would be at `t`. This is the inverse of
    /// Hall's cubic transformation (Hall, J. R. Statist. Soc. B 54, 1992), written for a sample without
    /// replacement.
    ///
    /// Let T = (estimated - true) / standard error. To first order E T = -coupling / 2, and the third cumulant is
    /// mean - 3 coupling. With c = (3 coupling - mean) / 6, the sum T + c T^2 + c^2 T^3 / 3 + mean / 6 is symmetric
    /// to that order, and it rises everywhere.
    fn quantile(self, t: f64) -> f64 {
        // An interval must hold its mean, so a sixth of this must not exceed the least t that is asked for, 0.674
        // at 50 %. Beyond that it is no longer the small correction that the transformation assumes.
        let [mean, coupling] = [self.mean, self.coupling].map(|skew| skew.clamp(-2.0, 2.0));
        let c = (3.0 * coupling - mean) / 6.0;
        let y = -t - mean / 6.0;
        if c.abs() < 1e-9 { -y } else { (1.0 - (1.0 + 3.0 * c * y).cbrt()) / c }
    }
}

/// A confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Lower end in nanoseconds.
    pub lower: f64,
    /// Upper end in nanoseconds.
    pub upper: f64,
}

impl Range {
    /// All numbers.
    pub const ALL: Range = Range { lower: f64::NEG_INFINITY, upper: f64::INFINITY };

    /// What both have in common; none where they are apart by more than rounding.
    pub(crate) fn common(self, other: Range) -> Option<Range> {
        let (lower, upper) = (self.lower.max(other.lower), self.upper.min(other.upper));
        let rounding = 1e-6 + 1e-12 * lower.abs();
        (lower <= upper + rounding).then_some(Range { lower, upper: upper.max(lower) })
    }
}

impl Mean {
    /// Half the width of the mean's confidence interval in nanoseconds; zero when the mean is exact. The interval
    /// need not be symmetric: see [`Mean::range`].
    ///
    /// # Errors
    ///
    /// The [`Reason`] why the standard error is unknown.
    pub fn half_width(&self, confidence: Confidence) -> Result<f64, Reason> {
        let range = self.range(confidence)?;
        Ok(0.5 * (range.upper - range.lower))
    }

    /// The mean's confidence interval: Student's t times the standard error on both sides, moved and stretched by
    /// [`Skew`], and cut where the bounds end. Where the estimate lies outside its bounds, it is moved to their nearer end, and the interval with
    /// it: cut alone, it would be the narrower the more rows and bounds contradict each other. If it has nothing in common with the bounds, these are
    /// all that is known.
    ///
    /// # Errors
    ///
    /// The [`Reason`] why the standard error is unknown.
    pub fn range(&self, confidence: Confidence) -> Result<Range, Reason> {
        let (below, above) = self.widths(confidence)?;
        let Range { lower, upper } = self.bounds;
        if self.nanoseconds + above < lower || self.nanoseconds - below > upper {
            return Ok(self.bounds);
        }
        let centre = self.within_bounds();
        Ok(Range { lower: (centre - below).max(lower), upper: (centre + above).min(upper) })
    }

    /// Whether the estimate lies outside of its bounds by more than half of its interval on that side: by chance once in six where the bounds are
    /// narrow, and else because rows lack some of the tail.
    pub fn strains_its_bounds(&self, confidence: Confidence) -> bool {
        let [below, above] = self.widths(confidence).map_or([0.0; 2], |(below, above)| [below, above]);
        let Range { lower, upper } = self.bounds;
        // All of the bounds is no interval that may hold less often.
        let is_all = self.range(confidence).is_ok_and(|range| range == self.bounds);
        let is_far = self.nanoseconds + above / 2.0 < lower || self.nanoseconds - below / 2.0 > upper;
        is_far && !is_all
    }

    /// A mean of which nothing is known for certain.
    pub fn unbounded(nanoseconds: f64, uncertainty: Uncertainty) -> Self {
        Mean { nanoseconds, uncertainty, bounds: Range::ALL }
    }

    /// A mean of which nothing is known but that it lies within `bounds`, and that this delay is as likely as any.
    pub(crate) fn between(bounds: Range, nanoseconds: f64) -> Self {
        let nanoseconds = nanoseconds.clamp(bounds.lower, bounds.upper);
        // No variable within the bounds is farther off.
        let standard_error = (nanoseconds - bounds.lower).max(bounds.upper - nanoseconds);
        let (degrees_of_freedom, skew) = (f64::INFINITY, Skew::default());
        let uncertainty = Uncertainty::Sampled { standard_error, degrees_of_freedom, skew };
        Mean { nanoseconds, uncertainty, bounds }
    }

    /// The same mean, known to lie between `bounds`.
    pub fn bounded(self, bounds: Range) -> Self {
        Mean { bounds, ..self }
    }

    /// The mean as it is reported: moved between its bounds where it lies outside.
    pub fn within_bounds(&self) -> f64 {
        self.nanoseconds.max(self.bounds.lower).min(self.bounds.upper)
    }

    /// How far the interval reaches below and above the mean.
    fn widths(&self, confidence: Confidence) -> Result<(f64, f64), Reason> {
        match self.uncertainty {
            Uncertainty::Exact => Ok((0.0, 0.0)),
            Uncertainty::Sampled { standard_error, degrees_of_freedom, skew } => {
                let t = confidence.student(degrees_of_freedom);
                Ok((-skew.quantile(-t) * standard_error, skew.quantile(t) * standard_error))
            }
            Uncertainty::Unknown(reason) => Err(reason),
        }
    }

    /// Whether the mean is significantly below zero: its 95 % interval lies below zero. No delay is negative, so
    /// the clocks then disagree by at least as much.
    ///
    /// A mean of unknown spread is compared without an interval.
    pub fn clock_suspect(&self) -> bool {
        self.range(Confidence::P95).map_or(self.nanoseconds, |range| range.upper) < 0.0
    }

    /// The square of the standard error and its degrees of freedom; none when unknown.
    pub(crate) fn variance(&self) -> Option<(f64, f64)> {
        match self.uncertainty {
            Uncertainty::Exact => Some((0.0, 0.0)),
            Uncertainty::Sampled { standard_error, degrees_of_freedom, .. } => {
                Some((standard_error * standard_error, degrees_of_freedom))
            }
            Uncertainty::Unknown(_) => None,
        }
    }

    /// [`Skew::coupling`]; zero when there is no standard error.
    pub(crate) fn coupling(&self) -> f64 {
        match self.uncertainty {
            Uncertainty::Sampled { skew, .. } => skew.coupling,
            Uncertainty::Exact | Uncertainty::Unknown(_) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(mean: f64, coupling: f64) -> Mean {
        let skew = Skew { mean, coupling };
        let uncertainty = Uncertainty::Sampled { standard_error: 2.0, degrees_of_freedom: 30.0, skew };
        Mean::unbounded(100.0, uncertainty)
    }

    #[test]
    fn the_ends_solve_the_cubic() {
        let t = Confidence::P95.student(30.0);
        for (mean, coupling) in [(0.0, 0.0), (0.3, 0.3), (-0.4, 0.5), (1.0, -0.2), (0.3, 0.1)] {
            let range = sampled(mean, coupling).range(Confidence::P95).unwrap();
            let c = (3.0 * coupling - mean) / 6.0;
            let transformed = |end: f64| {
                let studentized = (100.0 - end) / 2.0;
                studentized + c * studentized.powi(2) + c * c / 3.0 * studentized.powi(3) + mean / 6.0
            };
            assert!((transformed(range.lower) - t).abs() < 1e-9, "{mean} {coupling}: {range:?}");
            assert!((transformed(range.upper) + t).abs() < 1e-9, "{mean} {coupling}: {range:?}");
        }
        // A tail to the right: the true mean may be far above, hardly below.
        let range = sampled(0.3, 0.3).range(Confidence::P95).unwrap();
        assert!(range.upper - 100.0 > 1.3 * (100.0 - range.lower));
    }

    #[test]
    fn an_estimate_outside_its_bounds_moves_with_its_interval() {
        let plain = sampled(0.0, 0.0);
        let half = plain.half_width(Confidence::P95).unwrap();
        let range = |lower: f64, upper: f64| {
            let mean = plain.bounded(Range { lower, upper });
            (mean.range(Confidence::P95).unwrap(), mean.strains_its_bounds(Confidence::P95))
        };
        // Within, they are cut.
        assert_eq!(range(99.0, 200.0), (Range { lower: 99.0, upper: 100.0 + half }, false));
        // Just outside and farther, all of the width is left beyond the end.
        for (off, strains) in [(0.4, false), (0.9, true)] {
            let lower = 100.0 + off * half;
            let (found, strained) = range(lower, 200.0);
            assert_eq!((found.lower, strained), (lower, strains));
            assert!((found.upper - lower - half).abs() < 1e-9, "{found:?}");
            let upper = 100.0 - off * half;
            let (found, strained) = range(0.0, upper);
            assert_eq!((found.upper, strained), (upper, strains));
            assert!((upper - found.lower - half).abs() < 1e-9, "{found:?}");
        }
        // Narrow bounds are all of the interval, and so are those that have nothing in common with it.
        assert_eq!(
            range(100.0 + 0.9 * half, 100.0 + half),
            (Range { lower: 100.0 + 0.9 * half, upper: 100.0 + half }, false)
        );
        assert_eq!(range(110.0, 200.0), (Range { lower: 110.0, upper: 200.0 }, false));
    }

    #[test]
    fn any_skew_leaves_the_mean_within() {
        for mean in [-1e9, -2.0, -0.1, 0.0, 1e-12, 0.7, 3.0, f64::INFINITY] {
            for coupling in [-1e9, -0.5, 0.0, 1e-12, 1.5, f64::INFINITY] {
                let estimate = sampled(mean, coupling);
                let mut last = Range { lower: 100.0, upper: 100.0 };
                for level in [0.5, 0.9, 0.95, 0.999, 0.999_999] {
                    let range = estimate.range(Confidence::new(level).unwrap()).unwrap();
                    assert!(
                        range.lower < last.lower && range.upper > last.upper,
                        "{mean} {coupling} {level}"
                    );
                    last = range;
                }
                assert!(last.lower.is_finite() && last.upper.is_finite());
            }
        }
    }
}
