//! Confidence levels, Student's quantile, and the LDA paper's Hoeffding interval.
//!
//! # Test plan
//!
//! Student's quantile against published tables and, at many degrees of freedom, against the normal quantile; the
//! Hoeffding half-width against equation (1) solved by hand; refusals.

use crate::Reason;
use statrs::distribution::{ChiSquared, ContinuousCDF, StudentsT};

/// A confidence level within 0.5..=0.999999.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Confidence(f64);

/// A confidence level out of range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("confidence level {0} is out of range: give a share within 0.5 to 0.999999, such as 0.95")]
pub struct ConfidenceError(
    /// The level refused.
    pub f64,
);

impl Confidence {
    /// 95 %.
    pub const P95: Confidence = Confidence(0.95);
    /// What chance does not miss: once in 10^9, six standard errors of a normal variable.
    pub(crate) const CERTAIN: Confidence = Confidence(1.0 - 1e-9);

    /// The confidence level `level`, a share: 0.95 stands for 95 %.
    ///
    /// # Errors
    ///
    /// [`ConfidenceError`] unless `level` is within 0.5..=0.999999.
    pub fn new(level: f64) -> Result<Self, ConfidenceError> {
        if (0.5..=0.999_999).contains(&level) { Ok(Confidence(level)) } else { Err(ConfidenceError(level)) }
    }

    /// The level as a share.
    pub fn level(self) -> f64 {
        self.0
    }

    /// The probability of either tail.
    fn tail(self) -> f64 {
        (1.0 - self.0) / 2.0
    }

    /// The t with which a Student variable of `degrees_of_freedom` lies within ±t at this confidence.
    ///
    /// Degrees of freedom below 1 count as 1, those above 10^6 as 10^6, where t exceeds the normal quantile by a
    /// millionth.
    pub(crate) fn student(self, degrees_of_freedom: f64) -> f64 {
        // Not `clamp`: a NaN must count as 1, which gives the widest interval.
        let degrees = if degrees_of_freedom >= 1.0 { degrees_of_freedom.min(1e6) } else { 1.0 };
        let Ok(student) = StudentsT::new(0.0, 1.0, degrees) else {
            return f64::INFINITY;
        };
        // Bisection of the upper tail, since `StudentsT::inverse_cdf` loses digits at 10^6 degrees of freedom and
        // does not return at 10^8. The largest t, at 1 degree of freedom, is 636619 < 2^20.
        let (mut low, mut high) = (0.0, 1_048_576.0);
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            if student.sf(middle) > self.tail() {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

impl Confidence {
    /// The two ends between which a chi-squared variable of `degrees_of_freedom`, at least 1, lies at this confidence, with
    /// equal tails. Above 10^6 they are those of 10^6, scaled.
    pub(crate) fn chi_squared(self, degrees_of_freedom: f64) -> [f64; 2] {
        let degrees = degrees_of_freedom.clamp(1.0, 1e6);
        let Ok(variable) = ChiSquared::new(degrees) else { return [0.0, f64::INFINITY] };
        [self.tail(), 1.0 - self.tail()]
            .map(|share| variable.inverse_cdf(share) / degrees * degrees_of_freedom)
    }
}

/// Halvings of an interval of 2^20 that leave 2^-40.
const BISECTIONS: u32 = 60;

/// Half the width, in nanoseconds, of the LDA paper's interval of the mean (section III-D, equation 1), for
/// comparison.
///
/// `deviation` is the standard deviation of delay in nanoseconds, at least 0, and `samples` the effective sample
/// size S. The half-width is sigma * sqrt(2 ln(2 / (1 - level)) / S). It takes no account of the share of packets
/// sampled, nor of how well sigma is known.
///
/// # Errors
///
/// [`Reason::NoUsableRow`] without samples, [`Reason::NegativeVariance`] when `deviation` is negative or NaN.
pub fn hoeffding_half_width(deviation: f64, samples: u64, confidence: Confidence) -> Result<f64, Reason> {
    if samples == 0 {
        return Err(Reason::NoUsableRow);
    }
    if deviation.is_nan() || deviation < 0.0 {
        return Err(Reason::NegativeVariance);
    }
    Ok(deviation * (2.0 * (2.0 / (1.0 - confidence.level())).ln() / samples as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NIST/SEMATECH e-Handbook, table 1.3.6.7.2 and the usual three-digit tables, two-sided.
    const TABLE: [(f64, f64, f64); 12] = [
        (0.95, 1.0, 12.706),
        (0.95, 2.0, 4.303),
        (0.95, 3.0, 3.182),
        (0.95, 7.0, 2.365),
        (0.95, 10.0, 2.228),
        (0.95, 30.0, 2.042),
        (0.95, 100.0, 1.984),
        (0.98, 5.0, 3.365),
        (0.99, 1.0, 63.657),
        (0.99, 20.0, 2.845),
        (0.90, 4.0, 2.132),
        (0.998, 60.0, 3.232),
    ];

    #[test]
    fn students_quantile_is_the_tables() {
        for (level, degrees, expected) in TABLE {
            let t = Confidence::new(level).unwrap().student(degrees);
            assert!((t - expected).abs() <= 0.0005, "{level} {degrees}: {t}, table {expected}");
        }
    }

    #[test]
    fn students_quantile_where_it_has_a_closed_form() {
        for level in [0.5, 0.8, 0.95, 0.99, 0.9999, 0.999_999] {
            let confidence = Confidence::new(level).unwrap();
            let one = (std::f64::consts::FRAC_PI_2 * level).tan();
            let two = level * (2.0 / (1.0 - level * level)).sqrt();
            assert!((confidence.student(1.0) / one - 1.0).abs() < 1e-6, "{level}");
            assert!((confidence.student(2.0) / two - 1.0).abs() < 1e-6, "{level}");
        }
    }

    #[test]
    fn many_or_odd_degrees_of_freedom() {
        let normal = 1.959_963_985;
        for degrees in [1e6, 1e8, 1e300, f64::INFINITY] {
            assert!((Confidence::P95.student(degrees) / normal - 1.0).abs() < 2e-6);
        }
        for degrees in [f64::NAN, 0.0, -3.0, f64::NEG_INFINITY] {
            assert_eq!(Confidence::P95.student(degrees), Confidence::P95.student(1.0));
        }
    }

    #[test]
    fn hoeffding_solves_equation_1() {
        // Pr <= 2 exp(-e^2 S / (2 sigma^2)) = 0.02 with S = 400, sigma = 10: e = 10 sqrt(2 ln 100 / 400).
        let confidence = Confidence::new(0.98).unwrap();
        let width = hoeffding_half_width(10.0, 400, confidence).unwrap();
        assert!((2.0 * (-width * width * 400.0 / 200.0).exp() - 0.02).abs() < 1e-12);
        assert!((width - 1.517_43).abs() < 1e-5);
        assert_eq!(hoeffding_half_width(10.0, 0, confidence), Err(Reason::NoUsableRow));
        assert_eq!(hoeffding_half_width(-1.0, 5, confidence), Err(Reason::NegativeVariance));
        assert_eq!(hoeffding_half_width(f64::NAN, 5, confidence), Err(Reason::NegativeVariance));
    }

    #[test]
    fn levels_out_of_range_are_refused() {
        for level in [0.0, 0.49, 1.0, 95.0, -1.0] {
            assert_eq!(Confidence::new(level), Err(ConfidenceError(level)));
        }
        assert!(Confidence::new(f64::NAN).is_err());
    }
}
