//! A mean and how well it is known.

use crate::{Confidence, Reason};

/// A mean delay with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean in nanoseconds. Negative when the receiver's clock is behind the sender's by more than the delay.
    pub nanoseconds: f64,
    /// How well it is known.
    pub uncertainty: Uncertainty,
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
        /// Degrees of freedom of the standard error, at least 1; a fraction in a combination of intervals.
        degrees_of_freedom: f64,
    },
    /// The mean is that of a random sample of unknown spread.
    Unknown(Reason),
}

/// A confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Lower end in nanoseconds.
    pub lower: f64,
    /// Upper end in nanoseconds.
    pub upper: f64,
}

impl Mean {
    /// Half the width of the mean's confidence interval in nanoseconds: Student's t times the standard error, zero
    /// when the mean is exact.
    ///
    /// # Errors
    ///
    /// The [`Reason`] why the standard error is unknown.
    pub fn half_width(&self, confidence: Confidence) -> Result<f64, Reason> {
        match self.uncertainty {
            Uncertainty::Exact => Ok(0.0),
            Uncertainty::Sampled { standard_error, degrees_of_freedom } => {
                Ok(confidence.student(degrees_of_freedom) * standard_error)
            }
            Uncertainty::Unknown(reason) => Err(reason),
        }
    }

    /// The mean's confidence interval.
    ///
    /// # Errors
    ///
    /// The [`Reason`] why the standard error is unknown.
    pub fn range(&self, confidence: Confidence) -> Result<Range, Reason> {
        let half = self.half_width(confidence)?;
        Ok(Range { lower: self.nanoseconds - half, upper: self.nanoseconds + half })
    }

    /// Whether the mean is below zero beyond doubt, which no delay is: the 95 % interval lies below zero. Then the
    /// clocks disagree by at least as much.
    ///
    /// A mean of unknown spread is taken at its word.
    pub fn clock_suspect(&self) -> bool {
        self.nanoseconds + self.half_width(Confidence::P95).unwrap_or(0.0) < 0.0
    }

    /// The square of the standard error and its degrees of freedom; none when unknown.
    pub(crate) fn variance(&self) -> Option<(f64, f64)> {
        match self.uncertainty {
            Uncertainty::Exact => Some((0.0, 0.0)),
            Uncertainty::Sampled { standard_error, degrees_of_freedom } => {
                Some((standard_error * standard_error, degrees_of_freedom))
            }
            Uncertainty::Unknown(_) => None,
        }
    }
}
