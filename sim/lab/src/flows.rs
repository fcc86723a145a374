//! Flows: sizes and delays for the experiments on flows.
//!
//! The trace of *Sketching the Delay* (IMC 2011) is not public. Flow sizes are Pareto's with exponent 0.8, cut off at a thirteenth of all packets: with 7.76 million packets that gives
//! its 146,000 flows, and 4.4 % of flows with more than 50 packets, by which the paper fits its own. Delays have two modes, as its figure 8
//! shows: 60 % of flows around 150 µs, 40 % around 500 µs, and flows differ within a mode, lognormal with deviation 0.25; packets vary
//! around their flow's mean by a Weibull law of shape 0.8. The order of packets does not matter to sums, so each flow's are sent at once.
//!
//! # Test plan
//!
//! The full population against the paper's numbers of packets, flows and large flows.

use crate::Scale;
use deltaline_traffic::random::Seed;

const EXPONENT: f64 = 0.8;
/// The largest flow is a thirteenth of all packets.
const LARGEST: f64 = 13.0;
/// The paper's packets over those of the LDA paper's interval, which scales are given by.
pub(crate) const MORE_PACKETS: f64 = 7.76 / 5.0;

/// A flow to be sent.
#[derive(Clone, Copy)]
pub(crate) struct Flow {
    pub(crate) size: u32,
    /// Mean delay in nanoseconds.
    pub(crate) mean: f64,
    /// Bronze, silver, gold.
    pub(crate) class: usize,
    pub(crate) hash: u64,
}

/// The flows of an interval.
pub(crate) fn population(scale: &Scale, seed: Seed) -> Vec<Flow> {
    let packets = scale.packets as f64 * MORE_PACKETS;
    let largest = packets / LARGEST;
    let beyond = largest.powf(-EXPONENT);
    let mean = EXPONENT / (1.0 - EXPONENT) * (largest.powf(1.0 - EXPONENT) - 1.0) / (1.0 - beyond);
    let count = (packets / mean).ceil();
    let mut random = seed.random();
    (0..count as u64)
        .map(|number| {
            // One flow of each share of the distribution.
            let share = (number as f64 + random.uniform()) / count;
            let size = (1.0 - share * (1.0 - beyond)).powf(-EXPONENT.recip());
            let mode = if random.chance(0.6) { 150_000.0 } else { 500_000.0 };
            let mean = mode * (0.25 * random.normal()).exp();
            let class = match random.uniform() {
                gold if gold <= 0.01 => 2,
                silver if silver <= 0.1 => 1,
                _ => 0,
            };
            Flow { size: size.round().clamp(1.0, largest) as u32, mean, class, hash: random.bits() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_numbers() {
        let flows = population(&Scale::default(), Seed::new(1));
        let packets: f64 = flows.iter().map(|flow| f64::from(flow.size)).sum();
        // Rounding of the smallest flows to whole packets takes some.
        assert!((packets / 7.76e6 - 1.0).abs() < 0.05, "{packets}");
        assert!((flows.len() as f64 / 146_000.0 - 1.0).abs() < 0.02, "{}", flows.len());
        let large = flows.iter().filter(|flow| flow.size > 50).count() as f64 / flows.len() as f64;
        assert!((large / 0.044 - 1.0).abs() < 0.05, "{large}");
    }
}
