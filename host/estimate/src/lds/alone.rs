//! A flow's deviation, where its cells hold no packets but its own.
//!
//! A row has k cells of a flow, and a packet's place, which is chance, says in which of them it is. So the cells hold random parts of the flow, and how
//! far their means are apart shows how far its packets are: with n_i packets and delay sum D_i in cell i, and m the mean of all,
//!
//! ```text
//! s^2  =  sum over cells of (D_i - n_i m)^2 / n_i  /  (cells - 1)
//! ```
//!
//! expects the variance of its delays, whatever order they came in. But another flow's packets would add theirs.
//!
//! **Alone.** Other flows have other bases in each row. Where two rows hold the same in each of the k cells, by counts and digests of both ends and delays, these are
//! the flow's packets alone, or another flow shares its cells in both rows. How often that is, flows that do not exist show: among them two rows with the same
//! packets are as often as they would be others' packets here, and two rows without packets as often as the flow is alone. Where there are more of the first than
//! half of what the interval may miss allows, nothing is said.
//!
//! **The interval** takes s^2 for chi-squared with a degree of freedom for each cell but one: it is as wide as three degrees make it, from 0.57 to 3.7 times
//! s. Where delays are mostly alike and the few others are as many as there are cells, one in each of them looks like none: four of them do so in 9 of
//! 100 cases. Of any other number no more than one in 25.
//!
//! # Test plan
//!
//! Intervals hold as often as they say, over laws of delay with tails and few late packets, in tables with room and without; flows that share their cells are
//! refused and none of them is answered; a flow without spread has no interval; chance that leaves no room.

use super::LdsPair;
use super::absent::{Sureness, absent_flows};
use crate::confidence::Confidence;
use crate::mean::Range;
use crate::reason::Reason;
use deltaline_model::sketch::lds::FlowCell;

/// A standard deviation of delay with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldDeviation {
    /// In nanoseconds.
    pub nanoseconds: f64,
    /// The interval.
    pub range: Range,
}

/// A cell at both ends.
type CellPair = (FlowCell, FlowCell);

/// How many flows that do not exist have two rows that hold the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SameRows {
    /// No packets: a flow in their place would be alone.
    empty: usize,
    /// The same packets, which would be taken for that flow's.
    shared: usize,
}

impl LdsPair<'_> {
    /// The deviation of a flow's delays, of which `shown` flows are shown of the `asked` ones, as in [`LdsPair::read`]. Where the flow lost packets, it is that of
    /// those in its undamaged cells, a random part.
    ///
    /// # Errors
    ///
    /// [`Reason::NothingReceived`] of a flow without packets; [`Reason::Shared`] where others' packets are in its cells in all rows but one, or may be;
    /// [`Reason::OneCell`] where fewer than two undamaged cells hold packets; [`Reason::NoSpread`] where all cells have the same mean.
    pub fn deviation(&self, flow: u64, shown: usize, asked: usize) -> Result<HeldDeviation, Reason> {
        let Sureness { chance, flows } = Sureness::of(shown, asked);
        let cells = self.same_rows(flow).ok_or(Reason::Shared)?;
        let SameRows { empty, shared } = self.absent_same_rows(flows);
        // This flow would be one more of the shared ones.
        let may_be_shared = (shared + 1) as f64 / (empty + shared + 1) as f64;
        if may_be_shared > 0.5 * chance {
            return Err(Reason::Shared);
        }
        if cells.iter().all(|(sender, _)| sender.count == 0) {
            return Err(Reason::NothingReceived);
        }
        let undamaged = cells.iter().filter(|(sender, _)| sender.count > 0);
        let cells: Vec<(f64, f64)> = undamaged
            .filter_map(|(sender, receiver)| Some((sender.count.into(), sender.delay_sum(receiver)? as f64)))
            .collect();
        if cells.len() < 2 {
            return Err(Reason::OneCell);
        }
        let (packets, delays) =
            cells.iter().fold((0.0, 0.0), |(packets, delays), cell| (packets + cell.0, delays + cell.1));
        let mean = delays / packets;
        let squares: f64 =
            cells.iter().map(|(packets, delays)| (delays - packets * mean).powi(2) / packets).sum();
        let freedom = cells.len() as f64 - 1.0;
        let nanoseconds = (squares / freedom).sqrt();
        // What rounding to nanoseconds makes, says nothing.
        if nanoseconds < 1.0 {
            return Err(Reason::NoSpread);
        }
        let confidence = Confidence::new(1.0 - 0.5 * chance).unwrap_or(Confidence::P95);
        let [least, most] = confidence.chi_squared(freedom);
        let end = |of_chi_squared: f64| (squares / of_chi_squared).sqrt();
        Ok(HeldDeviation { nanoseconds, range: Range { lower: end(most), upper: end(least) } })
    }

    /// A flow's cells in a row that counts every packet, if they hold the same in another one.
    fn same_rows(&self, flow: u64) -> Option<Vec<CellPair>> {
        let prefixes = &self.sender.parameters().prefixes;
        let rows = prefixes.iter().enumerate().filter(|(_, prefix)| **prefix == 0);
        let rows: Vec<Vec<CellPair>> = rows.map(|(row, _)| self.cell_pairs(flow, row)).collect();
        let same = |(one, other): &(&CellPair, &CellPair)| {
            let shown = |(sender, receiver): &CellPair| {
                let digests = (sender.count, sender.digest, receiver.count, receiver.digest);
                (digests, sender.delay_sum(receiver))
            };
            shown(one) == shown(other)
        };
        let mut pairs = rows
            .iter()
            .enumerate()
            .flat_map(|(at, one)| rows.iter().skip(at + 1).map(move |other| (one, other)));
        pairs.find(|(one, other)| one.iter().zip(*other).all(|pair| same(&pair))).map(|(one, _)| one.clone())
    }

    fn cell_pairs(&self, flow: u64, row: usize) -> Vec<CellPair> {
        let cell = |at: usize| Some((*self.sender.cells().get(at)?, *self.receiver.cells().get(at)?));
        self.sender.cells_of(flow, row).filter_map(cell).collect()
    }

    fn absent_same_rows(&self, flows: usize) -> SameRows {
        self.absent.of_same_rows(flows, || {
            absent_flows(flows).filter_map(|flow| self.same_rows(flow)).fold(
                SameRows::default(),
                |all, cells| {
                    let is_empty =
                        cells.iter().all(|(sender, receiver)| sender.count == 0 && receiver.count == 0);
                    SameRows {
                        empty: all.empty + usize::from(is_empty),
                        shared: all.shared + usize::from(!is_empty),
                    }
                },
            )
        })
    }
}
