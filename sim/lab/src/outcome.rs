//! One measurement: packets through both ends' cells, and the estimate beside the truth.
//!
//! Cells and estimator are those of the product. A packet's hash is drawn at random or computed from a key that is a counter
//! ([`keys`](crate::keys)): a hash function is meant to turn different keys into 64 bits that look random, and drawing them
//! is faster. A test compares the two.
//!
//! # Test plan
//!
//! The truth by hand; estimates from drawn hashes and from H3 of real keys through the model have errors of the
//! same size; packets that cross an interval's edge are counted where they arrive.

use crate::banks::Banks;
use crate::keys::Hashes;
use deltaline_estimate::{Estimate, Observation, ObservationError};
use deltaline_model::sketch::cell::Cell;

/// Distance between packets in nanoseconds: the paper's 5 million a second.
pub const GAP: u64 = 200;

/// The true values for the packets that arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// Packets sent.
    pub sent: u64,
    /// Packets received.
    pub received: u64,
    /// Mean delay in nanoseconds; 0 when nothing arrived.
    pub mean: f64,
    /// Standard deviation of delay in nanoseconds, with divisor `received`.
    pub deviation: f64,
}

/// Accumulates a [`Truth`] exactly.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moments {
    sent: u64,
    received: u64,
    sum: u64,
    squares: u128,
}

impl Moments {
    /// Counts a packet that arrived with this delay, or one that was lost.
    #[inline]
    pub fn add(&mut self, delay: Option<u32>) {
        self.sent += 1;
        if let Some(delay) = delay {
            self.received += 1;
            self.sum += u64::from(delay);
            self.squares += u128::from(delay) * u128::from(delay);
        }
    }

    /// The truth so far.
    pub fn truth(&self) -> Truth {
        let Moments { sent, received, sum, squares } = *self;
        let count = received.max(1);
        // Both products are below 2^128 while the delays of an interval add up to less than 584 years.
        let spread = (u128::from(count) * squares).saturating_sub(u128::from(sum) * u128::from(sum));
        let mean = sum as f64 / count as f64;
        Truth { sent, received, mean, deviation: (spread as f64).sqrt() / count as f64 }
    }
}

/// An estimate and the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The estimate from the two ends' cells.
    pub estimate: Estimate,
    /// The true values.
    pub truth: Truth,
}

impl Outcome {
    /// Packets in usable rows.
    pub fn samples(&self) -> f64 {
        self.estimate.effective_samples as f64
    }

    /// |estimate - truth| / truth of the mean.
    pub fn mean_error(&self) -> Option<f64> {
        let mean = self.estimate.mean.ok()?.nanoseconds;
        Some((mean - self.truth.mean).abs() / self.truth.mean)
    }

    /// |estimate - truth| / truth of the standard deviation from the spread between rows.
    pub fn deviation_error(&self) -> Option<f64> {
        self.error_of(self.estimate.deviation.ok()?)
    }

    /// |estimate - truth| / truth of the paper's standard deviation.
    pub fn paper_deviation_error(&self) -> Option<f64> {
        self.error_of(self.estimate.paper_deviation.ok()?)
    }

    fn error_of(&self, deviation: f64) -> Option<f64> {
        let truth = self.truth.deviation;
        (truth > 0.0).then(|| (deviation - truth).abs() / truth)
    }
}

/// Measures packets. Each is given by its delay, or none when it is lost.
///
/// # Errors
///
/// [`ObservationError`] when the cells contradict the totals, which cannot happen here.
pub fn measure(
    packets: impl Iterator<Item = Option<u32>>,
    banks: &Banks,
    mut hashes: Hashes,
) -> Result<Outcome, ObservationError> {
    let mut sender = vec![Cell::default(); banks.cells()];
    let mut receiver = sender.clone();
    let (mut moments, mut time) = (Moments::default(), 0);
    for delay in packets {
        moments.add(delay);
        if let Some(cell) = banks.cell(hashes.bits()) {
            sender[cell].add(time);
            if let Some(delay) = delay {
                receiver[cell].add(time + u64::from(delay));
            }
        }
        time += GAP;
    }
    let truth = moments.truth();
    let estimate = deltaline_estimate::estimate(&Observation {
        rows: banks.rows(),
        sender: &sender,
        receiver: &receiver,
        sent: truth.sent,
        received: truth.received,
    })?;
    Ok(Outcome { estimate, truth })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Keys;
    use deltaline_model::configuration::{Configuration, Settings};
    use deltaline_model::packet::hash::{HashKind, LinearHash};
    use deltaline_model::sketch::lda::Lda;
    use deltaline_model::sketch::place::Placement;
    use deltaline_model::sketch::sampler::Sampler;
    use deltaline_model::sketch::synopsis::{Hashed, Synopsis};
    use deltaline_model::time::Timestamp;
    use deltaline_traffic::delay::Delay;
    use deltaline_traffic::loss::Losses;
    use deltaline_traffic::random::Seed;
    use deltaline_traffic::udp_frame;

    #[test]
    fn moments_by_hand() {
        let mut moments = Moments::default();
        [Some(2), None, Some(4), Some(9)].into_iter().for_each(|delay| moments.add(delay));
        let truth = moments.truth();
        assert_eq!((truth.sent, truth.received, truth.mean), (4, 3, 5.0));
        assert!((truth.deviation - (26f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(Moments::default().truth().deviation, 0.0);
    }

    /// Mean squared error of the mean over its expectation, and effective samples, over hash functions.
    fn statistics(estimates: &[(Estimate, Truth)]) -> (f64, f64) {
        let count = estimates.len() as f64;
        let mut ratio = 0.0;
        for (estimate, truth) in estimates {
            let (samples, received) = (estimate.effective_samples as f64, truth.received as f64);
            let variance = truth.deviation.powi(2) * (1.0 - samples / received) / samples;
            ratio += (estimate.mean.unwrap().nanoseconds - truth.mean).powi(2) / variance;
        }
        (ratio / count, estimates.iter().map(|(each, _)| each.effective_samples as f64).sum::<f64>() / count)
    }

    #[test]
    fn drawn_hashes_are_as_good_as_hashed_keys() {
        let (seed, packets, trials) = (Seed::new(1), 10_000, 300);
        let mut law = Delay::weibull(200.0, 0.8);
        let mut random = seed.with(0).random();
        let lost = Losses::uniform(0.02, seed.with(1).random());
        let fate: Vec<Option<u32>> =
            lost.take(packets).map(|lost| (!lost).then_some(law.draw(&mut random))).collect();
        // Real keys: one UDP flow whose packets differ in their payload.
        let mut payload = seed.with(2).random();
        let keys: Vec<_> = (0..packets)
            .map(|_| {
                deltaline_model::packet::identity::identify(&udp_frame(payload.bits() as u32, 60))
                    .unwrap()
                    .key
            })
            .collect();

        let prefixes: &[u8] = &[1, 4];
        let configured = Configuration::new(Settings { rows: 256, prefixes, ..Settings::default() }).unwrap();
        let banks = Banks::of_prefixes(256, configured.prefixes());
        let (mut drawn, mut hashed) = (vec![], vec![]);
        for trial in 0..trials {
            let outcome =
                measure(fate.iter().copied(), &banks, Keys::Random.hashes(seed.with(3).with(trial))).unwrap();
            drawn.push((outcome.estimate, outcome.truth));

            let (hash, placement) = (LinearHash::new(HashKind::H3, trial), Placement::new(trial));
            let (mut sender, mut receiver) =
                (Lda::new(&configured.parameters()), Lda::new(&configured.parameters()));
            let sampler = Sampler::new(*configured.prefixes());
            for ((key, delay), number) in keys.iter().zip(&fate).zip(0u64..) {
                let (place, time) = (placement.place(hash.hash(key)), GAP * number);
                let at = |time| {
                    let time = Timestamp::from_nanoseconds(time);
                    [Hashed { place, time, ..Hashed::default() }]
                };
                sender.add(0, &sampler, &at(time));
                if let Some(delay) = delay {
                    receiver.add(0, &sampler, &at(time + u64::from(*delay)));
                }
            }
            let truth = outcome.truth;
            let estimate = deltaline_estimate::estimate(&Observation {
                rows: 256,
                sender: sender.cells(),
                receiver: receiver.cells(),
                sent: truth.sent,
                received: truth.received,
            });
            hashed.push((estimate.unwrap(), truth));
        }
        let (drawn, hashed) = (statistics(&drawn), statistics(&hashed));
        // The mean of 300 squares of normal variables has deviation sqrt(2 / 300) = 0.08.
        assert!((drawn.0 - 1.0).abs() < 0.33 && (hashed.0 - 1.0).abs() < 0.33, "{drawn:?} {hashed:?}");
        assert!((drawn.1 / hashed.1 - 1.0).abs() < 0.02, "{drawn:?} {hashed:?}");
    }
}
