//! Between which shares an event's probability lies, of which some trials in all are known.
//!
//! # Theory of operation
//!
//! The interval of Clopper and Pearson: its lower end is the probability with which so many events or more have the probability of one
//! tail, its upper end that with which so many or fewer have it. Both are quantiles of beta distributions. Where one of the two
//! parameters is below [`MANY`], they are found by bisection, above by an expansion (Abramowitz and Stegun, 26.5.22), whose error goes
//! with the smaller parameter. Searching with the slope of the distribution does not end for a million trials and few events.
//!
//! # Test plan
//!
//! Tails of the binomial distribution by its sums, for some and for many events, on both sides of [`MANY`]; tails of Poisson's, up to the
//! most trials that can be counted; none and all.

use deltaline_estimate::{Confidence, Range};
use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::beta::beta_reg;

/// From here on both parameters are large.
const MANY: f64 = 1e4;
/// A parameter beside a small one is as good as infinite: the other's share is in inverse proportion to it.
const INFINITE: f64 = 1e9;
/// Halvings of 0 to 1 that leave less than the smallest share in two digits.
const BISECTIONS: u32 = 100;

/// Of a probability with which `events` of `trials` happened; `events` is at most `trials`.
pub(crate) fn clopper_pearson(events: u64, trials: u64, confidence: Confidence) -> Range {
    let tail = (1.0 - confidence.level()) / 2.0;
    let (happened, others) = (events as f64, trials.saturating_sub(events) as f64);
    // Without an event of one kind nothing bounds the share on that side.
    let lower = if events == 0 { 0.0 } else { quantile([happened, others + 1.0], tail) };
    let upper = if events >= trials { 1.0 } else { quantile([happened + 1.0, others], 1.0 - tail) };
    Range { lower, upper }
}

/// The quantile of the beta distribution of these parameters, both at least 1.
fn quantile([events, others]: [f64; 2], probability: f64) -> f64 {
    if events >= MANY && others >= MANY {
        return expansion([events, others], probability);
    }
    // The rarer of the two, which has the digits.
    if events > others {
        return 1.0 - quantile([others, events], 1.0 - probability);
    }
    let within = others.min(INFINITE);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if beta_reg(events, within, middle) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    high * ((events + within) / (events + others))
}

/// The same for large parameters.
fn expansion([events, others]: [f64; 2], probability: f64) -> f64 {
    let normal = Normal::standard().inverse_cdf(1.0 - probability);
    let [of_events, of_others] = [events, others].map(|parameter| 1.0 / (2.0 * parameter - 1.0));
    let harmonic = 2.0 / (of_events + of_others);
    let curvature = (normal * normal - 3.0) / 6.0;
    let odds = normal * (harmonic + curvature).sqrt() / harmonic
        - (of_others - of_events) * (curvature + 5.0 / 6.0 - 2.0 / (3.0 * harmonic));
    events / (events + others * (2.0 * odds).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probability of at most `events` where `mean` are expected: Poisson's, summed from the most probable term down.
    fn poisson(events: u64, mean: f64) -> f64 {
        let ln_term = |events: u64| {
            events as f64 * mean.ln() - mean - (1..=events).map(|factor| (factor as f64).ln()).sum::<f64>()
        };
        let (mut term, mut sum) = (ln_term(events).exp(), 0.0);
        for place in (0..=events).rev() {
            sum += term;
            term *= place as f64 / mean;
        }
        sum
    }

    /// The same of the binomial distribution: of `trials`, each with probability `share`.
    fn binomial(events: u64, trials: u64, share: f64) -> f64 {
        let odds = share / (1.0 - share);
        // Terms by their logarithms from none on.
        let mut term = trials as f64 * (-share).ln_1p();
        let mut sum = term.exp();
        for event in 1..=events {
            term += ((trials - event + 1) as f64 / event as f64 * odds).ln();
            sum += term.exp();
        }
        sum
    }

    #[test]
    fn tails_are_the_binomials() {
        let counts: [(u64, u64); 10] = [
            (0, 1),
            (0, 400),
            (3, 400),
            (200, 400),
            (400, 400),
            (57, 100_000),
            (9_998, 20_000),
            (9_998, 200_000),
            (10_001, 20_010),
            (300_000, 1_000_000),
        ];
        for (events, trials) in counts {
            let range = clopper_pearson(events, trials, Confidence::P95);
            if events > 0 {
                let tail = 1.0 - binomial(events - 1, trials, range.lower);
                assert!((tail - 0.025).abs() < 2e-5, "{events} {trials}: {tail}");
            } else {
                assert_eq!(range.lower, 0.0);
            }
            if events < trials {
                let tail = binomial(events, trials, range.upper);
                assert!((tail - 0.025).abs() < 2e-5, "{events} {trials}: {tail}");
            } else {
                assert_eq!(range.upper, 1.0);
            }
        }
    }

    #[test]
    fn tails_are_poissons() {
        for trials in [63_505_802, 9_204_148, 10_000_000_000, 1_000_000_000_000_000, u64::MAX] {
            for events in [0, 1, 4, 8, 20, 300, 9_999] {
                let range = clopper_pearson(events, trials, Confidence::P95);
                let [fewest, most] = [range.lower, range.upper].map(|share| share * trials as f64);
                // The binomial's tails come near to Poisson's as the share goes to 0.
                let near = 1e-4 + events as f64 / trials as f64;
                let tail = poisson(events, most);
                assert!((tail - 0.025).abs() < near, "{events} of {trials}: {tail}");
                if events > 0 {
                    let tail = 1.0 - poisson(events - 1, fewest);
                    assert!((tail - 0.025).abs() < near, "{events} of {trials}: {tail}");
                }
                let others = clopper_pearson(trials - events, trials, Confidence::P95);
                assert!((1.0 - others.upper - range.lower).abs() < 1e-15, "{events} of {trials}");
            }
        }
        assert_eq!(clopper_pearson(u64::MAX, u64::MAX, Confidence::P95).upper, 1.0);
    }
}
