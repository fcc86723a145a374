//! Tests through the public functions, and what they share.

mod balance;
mod clock;
mod colate;
mod deviation;
mod examples;
mod exhaustive;
mod lds;
mod lds_alone;
mod lds_ends;
mod monte_carlo;
mod properties;
mod rounding;
mod slices;
mod sums;

use crate::{Estimate, Observation, estimate};
use deltaline_model::sketch::cell::Cell;

/// Both ends' tables, filled packet by packet.
struct Table {
    rows: usize,
    sender: Vec<Cell>,
    receiver: Vec<Cell>,
    sent: u64,
    received: u64,
}

impl Table {
    fn new(banks: usize, rows: usize) -> Self {
        let cells = vec![Cell::default(); banks * rows];
        Table { rows, sender: cells.clone(), receiver: cells, sent: 0, received: 0 }
    }

    /// One packet, sent at `time`, received `delay` later unless lost, in cell `index` unless not sampled.
    fn packet(&mut self, index: Option<usize>, time: u64, delay: Option<i64>) {
        self.sent += 1;
        if let Some(index) = index {
            self.sender[index].add(time);
        }
        if let Some(delay) = delay {
            self.received += 1;
            if let Some(index) = index {
                self.receiver[index].add(time.wrapping_add_signed(delay));
            }
        }
    }

    fn observation(&self) -> Observation<'_> {
        Observation {
            rows: self.rows,
            sender: &self.sender,
            receiver: &self.receiver,
            sent: self.sent,
            received: self.received,
        }
    }

    fn estimate(&self) -> Estimate {
        estimate(&self.observation()).unwrap()
    }
}

/// Mean and sum of squared deviations of `delays`.
fn moments(delays: &[f64]) -> (f64, f64) {
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    (mean, delays.iter().map(|delay| (delay - mean).powi(2)).sum())
}
