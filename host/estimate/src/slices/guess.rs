//! A number that is estimated, and how well.

use crate::{Mean, Skew, Uncertainty};

/// By how many standard errors of their difference two guesses contradict each other.
const CONTRADICTION: f64 = 5.0;

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
    /// A mean, without its bounds; none where its spread is unknown.
    pub(super) fn of(mean: &Mean) -> Option<Guess> {
        let (variance, freedom) = mean.variance().filter(|(variance, _)| variance.is_finite())?;
        let skew = match mean.uncertainty {
            Uncertainty::Sampled { skew, .. } => skew,
            Uncertainty::Exact | Uncertainty::Unknown(_) => Skew::default(),
        };
        Some(Guess { nanoseconds: mean.nanoseconds, variance, freedom, skew })
    }

    pub(super) fn contradicts(&self, other: &Guess) -> bool {
        let error = (self.variance + other.variance).sqrt();
        (self.nanoseconds - other.nanoseconds).abs() > CONTRADICTION * error
    }

    /// The sum of so much of each, at least one, if all err to the same side.
    pub(super) fn aligned(parts: &[(Guess, f64)]) -> Guess {
        let over = |of: fn(&Guess) -> f64| parts.iter().map(|(part, weight)| of(part) * weight).sum::<f64>();
        Guess {
            nanoseconds: over(|part| part.nanoseconds),
            variance: over(|part| part.variance.sqrt()).powi(2),
            freedom: parts.iter().fold(f64::INFINITY, |least, (part, _)| part.freedom.min(least)),
            skew: Skew::default(),
        }
    }

    /// Both together, weighted by their variances, of which neither is zero.
    pub(super) fn with(self, other: Guess) -> Guess {
        let sum = self.variance + other.variance;
        Guess::sum(&[(self, other.variance / sum), (other, self.variance / sum)])
    }

    /// The sum of so much of each, which err independently; at least one.
    pub(super) fn sum(parts: &[(Guess, f64)]) -> Guess {
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
