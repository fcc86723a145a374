//! A number that is estimated, and how well.

use crate::{Mean, Skew, Uncertainty};

/// An estimate of a number of nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Guess {
    pub(super) nanoseconds: f64,
    pub(super) variance: f64,
    /// Degrees of freedom of the variance.
    pub(super) freedom: f64,
    pub(super) skew: Skew,
}

impl Guess {
    /// Both together, weighted by their variances, of which neither is zero.
    pub(super) fn with(self, other: Guess) -> Guess {
        let sum = self.variance + other.variance;
        let parts = [(self, other.variance / sum), (other, self.variance / sum)];
        let over = |of: &dyn Fn(&Guess, f64) -> f64| {
            parts.iter().map(|(part, weight)| of(part, *weight)).sum::<f64>()
        };
        let variance = over(&|part, weight| part.variance * weight * weight);
        let third = |skew: fn(&Skew) -> f64| {
            over(&|part, weight| skew(&part.skew) * (part.variance.sqrt() * weight).powi(3))
                / variance.powf(1.5)
        };
        let below = over(&|part, weight| (part.variance * weight * weight).powi(2) / part.freedom.max(1.0));
        Guess {
            nanoseconds: over(&|part, weight| part.nanoseconds * weight),
            variance,
            freedom: variance * variance / below,
            skew: Skew { mean: third(|skew| skew.mean), coupling: third(|skew| skew.coupling) },
        }
    }
}

impl From<Guess> for Mean {
    fn from(Guess { nanoseconds, variance, freedom, skew }: Guess) -> Self {
        let uncertainty = match variance > 0.0 {
            true => Uncertainty::Sampled {
                standard_error: variance.sqrt(),
                degrees_of_freedom: freedom.max(1.0),
                skew,
            },
            false => Uncertainty::Exact,
        };
        Mean::unbounded(nanoseconds, uncertainty)
    }
}
