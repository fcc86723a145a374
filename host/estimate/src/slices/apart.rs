//! A mean by slices, with rows beside them or without, in the parts that it is made of, and those of several intervals together.
//!
//! Errors of several intervals add up by their nature:
//!
//! | part | of several intervals |
//! |---|---|
//! | completion of slices | errs by chance in each interval: squares add up |
//! | that of the first slice and the last | may lean to the same side in all of them, as where each interval ends with a burst of losses: errors add up |
//! | lateness of losses | may have the same sign in all of them: the boundaries of all are asked as those of one |
//! | boundary packets | a random sample of each interval, a stratum |
//! | rows beside slices, if they hold more packets | the same, in place of the boundary packets |
//!
//! Completion and lateness know nothing of which packets are sampled, and a sample nothing of when lost packets were sent: they are weighted by their variances. Rows and boundary
//! packets do share packets, as both are picked by the zeros that places begin with; so they are not weighted, and the larger sample is taken. Which is larger knows
//! nothing of delays either. Intervals are weighted by the packets that they received.

use super::complete::Completion;
use super::guess::Guess;
use super::lost_boundaries::Lateness;
use super::sample::{Sample, VALUES_FOR_SHAPE};
use crate::{Estimate, Mean, Method};

/// What an interval's mean is made of where slices have a share in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Apart {
    received: f64,
    completed: Guess,
    /// That of the variance of the completion which is of the first and the last slice.
    edges: f64,
    lateness: Lateness,
    /// The packets whose delays are a sample.
    sampled: f64,
    /// Their mean; none where they are too few to show how far they spread.
    sample: Option<Guess>,
}

impl Apart {
    pub(super) fn new(completion: &Completion, sample: &Sample, received: u64) -> Self {
        let received = received as f64;
        let share = 1.0 - (sample.count / received).min(1.0);
        let own = Guess {
            nanoseconds: sample.mean,
            variance: sample.variance * share / sample.count,
            freedom: sample.freedom,
            skew: sample.skew(share),
        };
        let has_spread = sample.count >= VALUES_FOR_SHAPE && own.variance > 0.0;
        let Completion { mean, edges, lateness, .. } = *completion;
        let sample_mean = has_spread.then_some(own);
        Apart { received, completed: mean, edges, lateness, sampled: sample.count, sample: sample_mean }
    }

    /// The same with rows as the sample; none if they hold no more packets.
    pub(super) fn with_rows(self, rows: &Estimate) -> Option<Self> {
        let sampled = rows.effective_samples as f64;
        let mean = rows.mean.ok().filter(|_| rows.method == Method::Rows && sampled >= self.sampled)?;
        let sample = Guess::of(&mean).filter(|guess| guess.variance > 0.0)?;
        Some(Apart { sampled, sample: Some(sample), ..self })
    }

    /// The mean of these intervals, at least one.
    pub(crate) fn mean(intervals: &[Apart]) -> Mean {
        let packets: f64 = intervals.iter().map(|each| each.received).sum();
        let weighted = |of: &dyn Fn(&Apart) -> Guess| -> Vec<_> {
            intervals.iter().map(|each| (of(each), each.received / packets)).collect()
        };
        let lateness = intervals.iter().fold(Lateness::default(), |sum, each| sum + each.lateness);
        let mut parts = weighted(&|each| Guess {
            variance: (each.completed.variance - each.edges).max(0.0),
            ..each.completed
        });
        let edges = weighted(&|each| Guess { nanoseconds: 0.0, variance: each.edges, ..each.completed });
        parts.extend([(Guess::aligned(&edges), 1.0), (lateness.guess(), packets.recip())]);
        let completed = Guess::sum(&parts);
        let samples = intervals.iter().map(|each| Some((each.sample?, each.received / packets)));
        match samples.collect::<Option<Vec<_>>>() {
            Some(samples) if completed.variance > 0.0 => completed.with(Guess::sum(&samples)).into(),
            _ => completed.into(),
        }
    }
}
