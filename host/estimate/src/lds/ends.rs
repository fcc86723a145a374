//! Two ends' tables from cells whose sums have 40 bits, as control frames carry them.
//!
//! A cell of n packets knows their delays' sum modulo 2^40 ns (18 minutes). No packet was sent in front of the first one or behind the last one, nor received
//! so: that bounds every delay, from least to most. Of the sums that are 2^40 apart, one at most lies between n times these where
//!
//! ```text
//! n (most - least)  <  2^40 ns        in an interval of a tenth of a second 5,500 packets a cell
//! ```
//!
//! A cell with more packets is *uncertain*, and not used. The mean of all packets would not do in place of the bounds: a flow that is delayed half a
//! second more than others, and another that is delayed less, are both wrong then, and together right.
//!
//! # Test plan
//!
//! Sums of 40 bits come out as those of 64, or are uncertain: one flow that is half a second later than all others, two that are apart in opposite
//! directions, with loss and without, clocks apart; cells of few packets are always certain, and so are all where an end has seen none; tables of the wrong size.

use crate::mean::Range;
use crate::sums::Sums;
use deltaline_model::sketch::cell::{Cell, Row, SUM_BITS};
use deltaline_model::sketch::lds::{FlowCell, Lds, LdsError, LdsParameters};

/// A turn of a cell's sum, in nanoseconds.
const TURN: f64 = (1u64 << SUM_BITS) as f64;

/// The tables of both ends.
#[derive(Clone, Debug)]
pub struct Ends {
    /// The sender's.
    pub sender: Lds,
    /// The receiver's, which differs from the sender's in uncertain cells.
    pub receiver: Lds,
    /// Which cells are uncertain, row by row.
    pub uncertain: Vec<bool>,
}

impl Ends {
    /// From both ends' cells row by row, and from what both sum of all packets.
    ///
    /// # Errors
    ///
    /// [`LdsError`] where there are more or fewer cells than such a table has.
    pub fn of_cells(parameters: &LdsParameters, cells: [&[Cell]; 2], sums: &Sums) -> Result<Self, LdsError> {
        let [sent, received] = cells;
        // Where an end has seen no packet there is no delay, and no time that bounds any.
        let delays = sums.by_times().map_or(Range { lower: 0.0, upper: 0.0 }, |_| sums.extremes());
        let middle = f64::midpoint(delays.lower, delays.upper);
        let is_uncertain = |sent: &Cell| f64::from(sent.count) * (delays.upper - delays.lower) >= TURN;
        let uncertain: Vec<bool> = sent.iter().map(is_uncertain).collect();
        let sender = sent.iter().map(|cell| FlowCell { sum: 0, count: cell.count, digest: cell.digest });
        let receiver = sent.iter().zip(received).zip(&uncertain).map(|((sent, received), &is_uncertain)| {
            let known = sent.delay_sum(received);
            let turns = ((f64::from(sent.count) * middle - known as f64) / TURN).round() as i64;
            let sum = known.wrapping_add(turns.wrapping_mul(1 << SUM_BITS)) as u64;
            // With another digest it does not hold the same packets.
            let digest = if is_uncertain { !sent.digest } else { received.digest };
            FlowCell { sum, count: received.count, digest }
        });
        let [sender, receiver] = [sender.collect(), receiver.collect()];
        Ok(Ends {
            sender: Lds::of_cells(parameters.clone(), sender)?,
            receiver: Lds::of_cells(parameters.clone(), receiver)?,
            uncertain,
        })
    }

    /// Whether an uncertain cell is among a flow's.
    pub fn are_uncertain(&self, flow: u64) -> bool {
        let mut rows = 0..self.sender.parameters().prefixes.len();
        rows.any(|row| self.sender.cells_of(flow, row).any(|at| self.uncertain.get(at) == Some(&true)))
    }
}
