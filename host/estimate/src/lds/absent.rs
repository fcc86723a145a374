//! An interval of a flow's mean that holds by the hash alone, from what flows read that do not exist.
//!
//! A flow's cells hold other flows' packets, too. Which ones, its hash decides, which knows nothing of delays or sizes: so they are
//! what any other hash would find. Let a flow with mean delay m read n packets with delay sum S, of which v packets with delay sum V are
//! others'. Then
//!
//! ```text
//! S - n m  =  V - v m          its own packets cancel out
//! ```
//!
//! and the right side is a draw of the numbers V_i - v_i m of flows that do not exist, read in the same way. A mean m is rejected
//! where S - n m is among the outermost of these. So the interval holds whatever sizes and delays there are, and whether or not they stay
//! the same. Flows that do not exist read the packets of existing ones, the asked flow's among them; at the right m those cancel out there,
//! too.
//!
//! **How it is read.** By the emptiest of the rows in which every packet is counted and all k cells of the flow are usable. Flows that do
//! not exist are read by the emptiest of the first so many.
//!
//! **The ends.** Each flow that does not exist, with v_i < n, rejects the means on one side of (S - V_i) / (n - v_i); so the interval ends
//! where as many of these numbers lie outside as may be missed. One with v_i >= n might have made all that is read, and counts against
//! both ends.
//!
//! **Many flows.** Of those that are asked, one in twenty is missed, and these may be just the ones that look worst. So whoever shows some of
//! many says so: with a chance of 0.05 shown / asked for each, no more than one in twenty of those shown is missed on average
//! (Benjamini, Yekutieli, *False discovery rate-adjusted multiple confidence intervals*, JASA 2005).
//!
//! # Test plan
//!
//! A flow alone; of all flows, and of the slowest of many, as many are missed as theory allows,
//! over seeds, with heavy tails, with delays that rise and fall, and with a large flow; on the capture of a real
//! queue (`tests/capture.rs`); refusals.

use super::LdsPair;
use crate::mean::Range;
use crate::reason::Reason;
use std::sync::OnceLock;

/// Flows that do not exist.
const FLOWS: usize = 3999;
/// As many are looked for in order to find these, where cells are damaged.
const TRIED: u64 = 20 * FLOWS as u64;
/// What the intervals of those shown may miss.
const MISSED: f64 = 0.05;

/// What a flow reads in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Reading {
    packets: f64,
    delays: f64,
}

/// Readings of flows that do not exist, in the emptiest of one row, of two, and so on; made when they are asked for.
#[derive(Debug)]
pub(super) struct Absent(Vec<OnceLock<Vec<Reading>>>);

impl Absent {
    pub(super) fn new(rows: usize) -> Self {
        Absent((0..rows).map(|_| OnceLock::new()).collect())
    }
}

impl LdsPair<'_> {
    /// The interval of the mean delay of a flow in nanoseconds, of which `shown` intervals are shown of the `asked` flows: so chosen, 95 % of
    /// those shown hold. For one flow that was chosen beforehand, both are 1: then 95 % of those asked hold, counting refusals, and fewer of the
    /// given, since those with many packets of others are given rather. The flow is not a tracked one.
    ///
    /// # Errors
    ///
    /// [`Reason::NothingReceived`] of a flow without packets; [`Reason::NoUsableRow`] where loss damaged a cell of the flow in every row
    /// that counts all packets; [`Reason::TooSmall`] where others might have made all that is read, or more than 100 flows are asked for
    /// each that is shown.
    pub fn interval(&self, flow: u64, shown: usize, asked: usize) -> Result<Range, Reason> {
        if self.least(flow, |at| self.sender.cells().get(at).map_or(0.0, |cell| f64::from(cell.count))) == 0.0
        {
            return Err(Reason::NothingReceived);
        }
        let rows: Vec<Reading> = self.readings(flow).collect();
        let Reading { packets, delays } = emptiest(rows.iter().copied()).ok_or(Reason::NoUsableRow)?;
        let absent = self.absent(rows.len());
        let others = absent.iter().map(|other| other.packets).sum::<f64>() / absent.len().max(1) as f64;
        let too_small = Reason::TooSmall { packets: packets as u64, others: others as u64 };
        let smaller = absent.iter().filter(|other| other.packets < packets);
        let mut ends: Vec<f64> =
            smaller.map(|other| (delays - other.delays) / (packets - other.packets)).collect();
        let chance = MISSED * (shown as f64 / asked.max(1) as f64).min(1.0);
        let outside = (0.5 * chance * (absent.len() + 1) as f64).floor() as usize;
        let outside = outside.saturating_sub(absent.len() - ends.len());
        if outside == 0 || 2 * outside > ends.len() {
            return Err(too_small);
        }
        let last = ends.len() - outside;
        let lower = *ends.select_nth_unstable_by(outside - 1, f64::total_cmp).1;
        let upper = *ends.select_nth_unstable_by(last, f64::total_cmp).1;
        Ok(Range { lower, upper })
    }

    /// What a flow reads in the rows that count every packet and in which all of its cells are usable.
    fn readings(&self, flow: u64) -> impl Iterator<Item = Reading> {
        let rows = self.sender.parameters().prefixes.iter().enumerate();
        rows.filter(|(_, prefix)| **prefix == 0).filter_map(move |(row, _)| {
            self.sender.cells_of(flow, row).try_fold(Reading::default(), |all, at| {
                let (sent, received) = (self.sender.cells().get(at)?, self.receiver.cells().get(at)?);
                let delays = sent.delay_sum(received)? as f64;
                Some(Reading { packets: all.packets + f64::from(sent.count), delays: all.delays + delays })
            })
        })
    }

    /// What flows that do not exist read in the emptiest of `rows` rows.
    fn absent(&self, rows: usize) -> &[Reading] {
        // Numbers of which the tables' rounds make bases.
        let flows = (1..=TRIED).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let read = |flow| {
            let readings: Vec<Reading> = self.readings(flow).take(rows).collect();
            emptiest(readings.iter().copied()).filter(|_| readings.len() == rows)
        };
        let slot = rows.checked_sub(1).and_then(|slot| self.absent.0.get(slot));
        slot.map_or(&[], |slot| slot.get_or_init(|| flows.filter_map(read).take(FLOWS).collect()))
    }
}

fn emptiest(readings: impl Iterator<Item = Reading>) -> Option<Reading> {
    readings.min_by(|one, other| one.packets.total_cmp(&other.packets))
}
