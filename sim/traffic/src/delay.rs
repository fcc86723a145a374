//! Delay laws: the distribution from which a packet's delay is drawn.
//!
//! | law | distribution function | mean | standard deviation / mean |
//! |---|---|---|---|
//! | Weibull | 1 - exp(-(x / scale)^shape) | scale Γ(1 + 1/shape) | sqrt(Γ(1 + 2/shape) / Γ(1 + 1/shape)^2 - 1) |
//! | Pareto | 1 - (x / scale)^-shape, from scale on | scale shape / (shape - 1) | 1 / sqrt(shape (shape - 2)) |
//! | lognormal | Φ(ln(x / scale) / shape), Φ that of a normal variable | scale exp(shape^2 / 2) | sqrt(exp(shape^2) - 1) |
//! | jitter | uniform between base - jitter and base + jitter | base | jitter / (base sqrt(3)) |
//! | trace | recorded delays, in order, repeated | theirs | theirs |
//!
//! Papagiannaki et al. found Weibull with shapes of 0.6 to 0.8 at a backbone router. The LDA paper (section IV)
//! uses it, and Pareto with shapes of 3 to 5, all with a mean of 0.2 µs. Delays are rounded to nanoseconds and
//! limited to 4.29 s (2^32 - 1 ns).
//!
//! # Test plan
//!
//! Mean and deviation against the table, and against the LDA paper's variances of 0.123 and 0.013; the distribution
//! function at quantiles; draws from a trace are the trace.

use crate::random::Random;
use statrs::function::gamma::gamma;
use std::sync::Arc;

/// A delay law.
#[derive(Clone, Debug, PartialEq)]
pub enum Delay {
    /// Weibull's distribution.
    Weibull {
        /// Scale in nanoseconds.
        scale: f64,
        /// Shape; below 1 the tail is heavier than exponential.
        shape: f64,
    },
    /// Pareto's distribution.
    Pareto {
        /// Scale, which is the least delay, in nanoseconds.
        scale: f64,
        /// Shape; the deviation is finite above 2.
        shape: f64,
    },
    /// The lognormal distribution; the larger its shape, the heavier its tail.
    Lognormal {
        /// Scale, which is the median, in nanoseconds.
        scale: f64,
        /// Shape: the standard deviation of the logarithm.
        shape: f64,
    },
    /// A constant and uniform jitter around it.
    Jitter {
        /// Mean in nanoseconds.
        base: f64,
        /// The largest difference from it, in nanoseconds.
        jitter: f64,
    },
    /// Recorded delays.
    Trace {
        /// Nanoseconds, one for each packet; without any, every delay is zero.
        delays: Arc<[u32]>,
        /// The index of the next one.
        next: usize,
    },
}

impl Delay {
    /// Weibull's distribution with this mean in nanoseconds.
    pub fn weibull(mean: f64, shape: f64) -> Self {
        Delay::Weibull { scale: mean / gamma(1.0 + 1.0 / shape), shape }
    }

    /// Pareto's distribution with this mean in nanoseconds; `shape` is above 1.
    pub fn pareto(mean: f64, shape: f64) -> Self {
        Delay::Pareto { scale: mean * (shape - 1.0) / shape, shape }
    }

    /// The lognormal distribution with this mean in nanoseconds.
    pub fn lognormal(mean: f64, shape: f64) -> Self {
        Delay::Lognormal { scale: mean / (0.5 * shape * shape).exp(), shape }
    }

    /// Recorded delays in nanoseconds, from the first on.
    pub fn trace(delays: impl Into<Arc<[u32]>>) -> Self {
        Delay::Trace { delays: delays.into(), next: 0 }
    }

    /// The next packet's delay in nanoseconds.
    pub fn draw(&mut self, random: &mut Random) -> u32 {
        let delay = match self {
            Delay::Weibull { scale, shape } => *scale * (-random.uniform().ln()).powf(shape.recip()),
            Delay::Pareto { scale, shape } => *scale * random.uniform().powf(-shape.recip()),
            Delay::Lognormal { scale, shape } => *scale * (*shape * random.normal()).exp(),
            Delay::Jitter { base, jitter } => *base + *jitter * (2.0 * random.uniform() - 1.0),
            Delay::Trace { delays, next } => {
                let delay = delays.get(*next).copied().unwrap_or(0);
                *next = if *next + 1 < delays.len() { *next + 1 } else { 0 };
                return delay;
            }
        };
        // The conversion saturates at the limits of 32 bits.
        delay.round() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Seed;

    const DRAWS: usize = 200_000;

    fn drawn(mut law: Delay) -> Vec<f64> {
        let mut random = Seed::new(1).random();
        (0..DRAWS).map(|_| f64::from(law.draw(&mut random))).collect()
    }

    fn moments(values: &[f64]) -> (f64, f64) {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        (mean, (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt())
    }

    #[test]
    fn means_are_the_requested_ones_and_deviations_the_papers() {
        // A mean of 0.2 ms in nanoseconds makes rounding negligible. The paper's variances are in units of 0.2. The
        // deviation of heavy tails converges slowly and has its own tolerance.
        for (law, variance, tolerance) in [
            (Delay::weibull(2e5, 0.6), 0.1236, 0.03),
            (Delay::weibull(2e5, 0.8), 0.0639, 0.02),
            (Delay::pareto(2e5, 3.0), 0.01333, 0.15),
            (Delay::pareto(2e5, 5.0), 0.002667, 0.03),
            (Delay::lognormal(2e5, 1.0), 0.0687, 0.05),
            (Delay::Jitter { base: 2e5, jitter: 1e5 }, 0.00333, 0.01),
        ] {
            let (mean, deviation) = moments(&drawn(law.clone()));
            let expected = 1e6 * f64::sqrt(variance);
            assert!((mean - 2e5).abs() < 5.0 * expected / (DRAWS as f64).sqrt(), "{law:?}: {mean}");
            assert!((deviation / expected - 1.0).abs() < tolerance, "{law:?}: {deviation}, not {expected}");
        }
    }

    #[test]
    fn shares_below_a_limit_are_the_distribution_functions() {
        let limit = 3e5;
        for (law, probability) in [
            (Delay::Weibull { scale: 1.33e5, shape: 0.6 }, 1.0 - (-(limit / 1.33e5f64).powf(0.6)).exp()),
            (Delay::Pareto { scale: 1.6e5, shape: 5.0 }, 1.0 - (limit / 1.6e5f64).powf(-5.0)),
            // One deviation of the logarithm above the median.
            (Delay::Lognormal { scale: limit / 2f64.exp(), shape: 2.0 }, 0.841_345),
            (Delay::Jitter { base: 2.5e5, jitter: 1e5 }, 0.75),
        ] {
            let below = drawn(law.clone()).iter().filter(|&&delay| delay <= limit).count() as f64;
            let expected = probability * DRAWS as f64;
            let deviation = (expected * (1.0 - probability)).sqrt();
            assert!((below - expected).abs() < 5.0 * deviation, "{law:?}: {below}, not {expected}");
        }
    }

    #[test]
    fn a_trace_is_repeated() {
        let mut random = Seed::new(2).random();
        let mut law = Delay::trace([3, 1, 4]);
        let delays: Vec<u32> = (0..7).map(|_| law.draw(&mut random)).collect();
        assert_eq!(delays, [3, 1, 4, 3, 1, 4, 3]);
        assert_eq!(Delay::trace([]).draw(&mut random), 0);
    }

    #[test]
    fn values_out_of_range_saturate() {
        let mut random = Seed::new(3).random();
        assert_eq!(Delay::Jitter { base: 1e12, jitter: 0.0 }.draw(&mut random), u32::MAX);
        assert_eq!(Delay::Jitter { base: -5.0, jitter: 0.0 }.draw(&mut random), 0);
    }
}
