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
//! **Alone.** Other flows have other bases in each row. Where two rows hold the same in each of the k cells, by counts and digests of both ends and delays, and no
//! row holds fewer packets, these are the flow's packets alone, or another flow shares its cells in all rows or in two that look emptiest. How often that is, flows
//! that do not exist show: among them two rows with the same packets are as often as they would be others' packets here, and two rows without packets as often as
//! the flow is alone. Where there are more of the first than half of what the interval may miss allows, nothing is said.
//!
//! **Damage.** Of a flow that lost packets nothing is said: a few slow packets that are not in the undamaged cells make the deviation of all another one.
//!
//! **Packets that look alike** are in one cell, all of one key, and where their delays are alike, too, s^2 is as many times too large. The counts show it: they differ
//! more between the cells than chance lets them. A flow of which that is so is refused, and all are where it is so of those together that are asked for. One in a
//! hundred is refused by chance. A single flow whose packets come two by two escapes most often, and is not told from others: then 14 to 40 of 100 intervals miss.
//!
//! **The interval** takes s^2 for chi-squared with a degree of freedom for each cell but one: it is as wide as three degrees make it, from 0.57 to 3.7 times
//! s. Where delays are of two sizes and those of the rarer one are as many as there are cells, one in each of them looks like no spread at all: four do so in 9 of
//! 100 cases. Of any other number no more than one in 25.
//!
//! # Test plan
//!
//! Intervals hold as often as they say, over laws of delay with tails and few late packets, in tables with room and without; flows that share their cells are
//! refused and none of them is answered, nor is one that shares two rows of which another row knows better; packets that come in copies, of one flow and of all;
//! a flow without spread, or that lost packets, has no interval.

use super::LdsPair;
use super::absent::{Sureness, absent_flows};
use crate::confidence::Confidence;
use crate::mean::Range;
use crate::reason::Reason;
use deltaline_model::sketch::lds::FlowCell;
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// A standard deviation of delay with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldDeviation {
    /// In nanoseconds.
    pub nanoseconds: f64,
    /// The interval.
    pub range: Range,
}

/// Packets of a flow in a cell, on average, from which on counts tell whether packets look alike.
const LEAST_EXPECTED: f64 = 2.0;
/// How often chance may make them look so.
const ALIKE: f64 = 0.01;

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
    /// The deviation of a flow's delays, of which `shown` flows are shown of the `asked` ones, as in [`LdsPair::read`]. A tracked flow
    /// has no packets in these cells.
    ///
    /// # Errors
    ///
    /// [`Reason::NothingReceived`] of a flow without packets; [`Reason::Shared`] where others' packets are in its cells in all rows but one, or may be;
    /// [`Reason::Damaged`] of a flow that lost packets; [`Reason::Alike`] where more of them are in some cells than chance lets them;
    /// [`Reason::OneCell`] where fewer than two cells hold packets; [`Reason::NoSpread`] where all cells have the same mean.
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
        if self.look_alike([flow]) {
            return Err(Reason::Alike);
        }
        let delays =
            |(sender, receiver): &CellPair| Some((sender.count.into(), sender.delay_sum(receiver)? as f64));
        let cells: Option<Vec<(f64, f64)>> = cells.iter().map(delays).collect();
        let mut cells = cells.ok_or(Reason::Damaged)?;
        cells.retain(|(packets, _)| *packets > 0.0);
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

    /// Whether packets of these flows, as far as they are alone, are more often in one cell than chance lets them.
    pub fn look_alike(&self, flows: impl IntoIterator<Item = u64>) -> bool {
        let (mut squares, mut freedom) = (0.0, 0.0);
        for cells in flows.into_iter().filter_map(|flow| self.same_rows(flow)) {
            let counts = cells.iter().map(|(sender, _)| f64::from(sender.count));
            let expected = counts.clone().sum::<f64>() / cells.len() as f64;
            if expected >= LEAST_EXPECTED {
                squares += counts.map(|count| (count - expected).powi(2) / expected).sum::<f64>();
                freedom += cells.len() as f64 - 1.0;
            }
        }
        ChiSquared::new(freedom).is_ok_and(|chi_squared| chi_squared.sf(squares) < ALIKE)
    }

    /// A flow's cells in a row that counts every packet, if they hold the same in another one, and no row holds fewer packets.
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
        let packets =
            |row: &Vec<CellPair>| row.iter().map(|(sender, _)| u64::from(sender.count)).sum::<u64>();
        let fewest = rows.iter().map(packets).min()?;
        let rows: Vec<Vec<CellPair>> = rows.into_iter().filter(|row| packets(row) == fewest).collect();
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
