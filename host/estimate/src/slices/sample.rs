//! Mean and spread of a random sample, in nanoseconds.

use crate::Skew;

/// Fewer values do not show what shape they have, nor how far they spread.
pub(super) const VALUES_FOR_SHAPE: f64 = 8.0;

/// A random sample without replacement.
pub(super) struct Sample {
    pub(super) count: f64,
    pub(super) mean: f64,
    /// With the divisor n - 1.
    pub(super) variance: f64,
    /// Degrees of freedom of the variance.
    pub(super) freedom: f64,
    /// The third central moment over the cube of the deviation.
    skewness: f64,
}

impl Sample {
    pub(super) fn of(values: &[i64]) -> Self {
        let count = values.len() as f64;
        let base = values.first().copied().unwrap_or_default();
        let above = || values.iter().map(|value| value.saturating_sub(base) as f64);
        let mean = above().sum::<f64>() / count.max(1.0);
        let moment = |power| above().map(|value| (value - mean).powi(power)).sum::<f64>();
        let variance = if count > 1.0 { moment(2) / (count - 1.0) } else { 0.0 };
        // A sample's variance has the variance s^4 (2 + k) / n with the excess kurtosis k.
        let excess = if variance > 0.0 { moment(4) / count / variance.powi(2) - 3.0 } else { 0.0 };
        let freedom = ((count - 1.0) * 2.0 / (2.0 + excess.max(0.0))).max(0.0);
        let has_shape = count >= VALUES_FOR_SHAPE && variance > 0.0;
        let skewness = if has_shape { moment(3) / count / variance.powf(1.5) } else { 0.0 };
        Sample { count, mean: base as f64 + mean, variance, freedom, skewness }
    }

    /// The skew of the mean, where the share `unsampled` of all is not in the sample: as [rows](crate) have it.
    pub(super) fn skew(&self, unsampled: f64) -> Skew {
        if unsampled <= 0.0 {
            return Skew::default();
        }
        let coupling = self.skewness * (unsampled / self.count).sqrt();
        Skew { mean: coupling * (2.0 - unsampled.recip()), coupling }
    }
}
