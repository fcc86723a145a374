//! A number that is estimated, and how well.

use crate::{Mean, Skew, Uncertainty};
use std::ops::Add;

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
        Guess::sum([(self, other.variance / sum), (other, self.variance / sum)])
    }

    /// The sum of so much of each, which err independently.
    fn sum(parts: [(Guess, f64); 2]) -> Guess {
        let over = |of: &dyn Fn(&Guess, f64) -> f64| {
            parts.iter().map(|(part, weight)| of(part, *weight)).sum::<f64>()
        };
        let nanoseconds = over(&|part, weight| part.nanoseconds * weight);
        let variance = over(&|part, weight| part.variance * weight * weight);
        if variance <= 0.0 {
            return Guess { nanoseconds, ..parts[0].0 };
        }
        let third = |skew: fn(&Skew) -> f64| {
            over(&|part, weight| skew(&part.skew) * (part.variance.sqrt() * weight).powi(3))
                / variance.powf(1.5)
        };
        let below = over(&|part, weight| (part.variance * weight * weight).powi(2) / part.freedom.max(1.0));
        Guess {
            nanoseconds,
            variance,
            freedom: variance * variance / below,
            skew: Skew { mean: third(|skew| skew.mean), coupling: third(|skew| skew.coupling) },
        }
    }
}

impl Add for Guess {
    type Output = Guess;

    fn add(self, other: Guess) -> Guess {
        Guess::sum([(self, 1.0), (other, 1.0)])
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
