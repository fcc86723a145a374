//! The traffic that several experiments share.
//!
//! # Test plan
//!
//! An interval does not depend on the number of threads; its mean is the paper's.

use crate::banks::Banks;
use crate::figure::Axis;
use crate::outcome::{Outcome, measure};
use crate::{LabError, Progress, Scale};
use deltaline_traffic::delay::Delay;
use deltaline_traffic::loss::Losses;
use deltaline_traffic::random::Seed;
use rayon::prelude::*;

/// The paper's mean delay in nanoseconds.
pub(crate) const MEAN: f64 = 200.0;

/// Shares of packets lost, from the smallest to the largest that the paper mentions.
pub(crate) const LOSSES: [f64; 13] =
    [0.0001, 0.0002, 0.0005, 0.001, 0.0016, 0.003, 0.005, 0.01, 0.02, 0.04, 0.06, 0.1, 0.2];

/// The axis of [`LOSSES`].
pub(crate) const LOSS_AXIS: Axis = Axis::logarithmic("share of packets lost");

/// The purposes of seeds.
pub(crate) mod purpose {
    pub(crate) const DELAYS: u64 = 0;
    pub(crate) const LOSSES: u64 = 1;
    pub(crate) const HASHES: u64 = 2;
    pub(crate) const PROBES: u64 = 3;
    pub(crate) const SOURCE: u64 = 4;
    pub(crate) const QUEUE: u64 = 5;
    pub(crate) const EDGES: u64 = 6;
    pub(crate) const PLACE: u64 = 7;
    pub(crate) const FOREIGN: u64 = 8;
}

/// The paper's delay laws and their names.
pub(crate) fn laws() -> [(&'static str, Delay); 6] {
    [
        ("Weibull 0.6", Delay::weibull(MEAN, 0.6)),
        ("Weibull 0.7", Delay::weibull(MEAN, 0.7)),
        ("Weibull 0.8", Delay::weibull(MEAN, 0.8)),
        ("Pareto 3", Delay::pareto(MEAN, 3.0)),
        ("Pareto 4", Delay::pareto(MEAN, 4.0)),
        ("Pareto 5", Delay::pareto(MEAN, 5.0)),
    ]
}

/// Packets whose delays are drawn from one seed, so that a part can be drawn without the parts before it.
const CHUNK: usize = 1 << 16;

/// An interval's delays in nanoseconds.
pub(crate) fn interval(law: &Delay, packets: usize, seed: Seed) -> Vec<u32> {
    let mut delays = vec![0; packets];
    delays.par_chunks_mut(CHUNK).enumerate().for_each(|(number, chunk)| {
        let (mut law, mut random) = (law.clone(), seed.with(number as u64).random());
        chunk.fill_with(|| law.draw(&mut random));
    });
    delays
}

/// How packets are lost.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pattern {
    /// Independently of each other.
    Uniform,
    /// In episodes of a hundred packets on average.
    Bursts,
}

impl Pattern {
    pub(crate) fn losses(self, share: f64, seed: Seed) -> Losses {
        match self {
            Pattern::Uniform => Losses::uniform(share, seed.random()),
            Pattern::Bursts => Losses::bursts(share, 100.0, seed.random()),
        }
    }
}

/// The seed of everything at one of [`LOSSES`].
pub(crate) fn seed_of_place(seed: Seed, place: usize) -> Seed {
    seed.with(purpose::PLACE).with(place as u64)
}

/// Puts an interval through banks `scale.runs` times at each of [`LOSSES`], each time with other hashes. Gives the
/// outcomes by loss and run. The losses are the same in all runs and for all banks.
pub(crate) fn sweep(
    delays: &[u32],
    pattern: Pattern,
    banks: &(dyn Fn(f64) -> Result<Banks, LabError> + Sync),
    seed: Seed,
    scale: &Scale,
    progress: &dyn Progress,
) -> Result<Vec<Vec<Outcome>>, LabError> {
    let places: Vec<(usize, f64)> = LOSSES.into_iter().enumerate().collect();
    places
        .into_par_iter()
        .map(|(place, loss)| {
            runs(delays, pattern, loss, &banks(loss)?, seed_of_place(seed, place), scale, progress)
        })
        .collect()
}

/// Puts an interval through banks `scale.runs` times, each time with other hashes.
pub(crate) fn runs(
    delays: &[u32],
    pattern: Pattern,
    loss: f64,
    banks: &Banks,
    seed: Seed,
    scale: &Scale,
    progress: &dyn Progress,
) -> Result<Vec<Outcome>, LabError> {
    let numbers = (0..scale.runs as u64).into_par_iter();
    numbers
        .map(|run| {
            let losses = pattern.losses(loss, seed.with(purpose::LOSSES));
            let packets = delays.iter().zip(losses).map(|(&delay, lost)| (!lost).then_some(delay));
            let hashes = scale.keys.hashes(seed.with(purpose::HASHES).with(run));
            let outcome = measure(packets, banks, hashes)?;
            progress.step();
            Ok(outcome)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_the_same_on_one_thread() {
        let draw = || interval(&Delay::weibull(MEAN, 0.6), 200_000, Seed::new(1));
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let delays = draw();
        assert_eq!(one.install(draw), delays);
        assert_ne!(delays[..CHUNK], delays[CHUNK..2 * CHUNK]);
        let mean = delays.iter().map(|&delay| f64::from(delay)).sum::<f64>() / delays.len() as f64;
        // Five standard deviations: sigma is 1.76 means.
        assert!((mean / MEAN - 1.0).abs() < 5.0 * 1.76 / (delays.len() as f64).sqrt(), "{mean}");
    }
}
