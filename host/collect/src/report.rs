//! What one end reported of an interval.
//!
//! # Test plan
//!
//! With the collector's: rows of true packets never lie apart from first and last time, whatever the synopsis; forged ones do. Times that were rounded
//! show their unit, others none (`host/cli/tests/clocks.rs`); nor do those of packets that are sent in step.

use deltaline_capture::survey::{FEWEST_TIMES, greatest_common_divisor};
use deltaline_model::sketch::cell::{Cell, Row, SUM_BITS, SUM_MASK};
use deltaline_model::sketch::finecomb;
use deltaline_model::sketch::identity_table::IdentityCell;
use deltaline_model::sketch::rda::{RdaCell, SrdaCell};
use deltaline_model::sketch::sampler::Prefixes;
use deltaline_model::time::AbsoluteTime;
use deltaline_model::wire::cell::WireCell;
use deltaline_model::wire::frame::Totals;
use deltaline_model::wire::shape::{Kind, Shape};
use std::fmt;

/// How far a packet may lie before the first one or behind the last one, in nanoseconds: recorders and lanes may mix up
/// neighbours.
const MIXED_UP: u64 = 1_000_000;

/// What one end reported of an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The interval's own numbers.
    pub totals: Totals,
    /// The measurement point's own number.
    pub point: u32,
    /// How often the point had started, as far as it counts.
    pub boot_epoch: u32,
    /// When the interval ended, if the point knows.
    pub time: Option<AbsoluteTime>,
    /// Identifier of the end's configuration.
    pub configuration: u64,
    /// Identifier of the mixing that the interval was counted with; zero for the design's own, and without.
    pub mixing: u32,
    /// The synopsis's tables.
    pub shape: Shape,
    /// How they are sampled; not known of a later release's synopsis.
    pub prefixes: Option<Prefixes>,
    /// Frames that the interval has.
    pub fragments: u16,
    /// How many of them did not arrive. Which, is not kept: a single forged frame can make it any 65,534.
    pub missing: u16,
    /// All cells, table by table, in blocks as control frames carry them; empty unless all frames arrived.
    pub blocks: Vec<u8>,
}

impl Report {
    /// All cells, table by table, if they are of this type; none unless all frames arrived.
    pub fn cells<C: WireCell>(&self) -> Vec<C> {
        self.blocks.chunks_exact(usize::from(self.shape.cell_bits).max(1)).flat_map(C::unpack).collect()
    }

    /// The cells of rows, and those of the table of slices behind them.
    pub(crate) fn rows_and_slices(&self) -> (Vec<Cell>, Vec<Cell>) {
        let mut rows = self.cells::<Cell>();
        let slices = rows.split_off(rows.len().saturating_sub(self.shape.table_cells as usize));
        (rows, slices)
    }

    /// What its rows show of the packets' times, by their sums. Rows of so many packets that their sum may have wrapped show nothing.
    pub(crate) fn times(&self) -> Times {
        match self.shape.kind {
            Kind::LDA => self.times_in(&self.cells::<Cell>()),
            Kind::BOTH => self.times_in(&self.rows_and_slices().0),
            Kind::FINECOMB => self.times_in(&self.cells::<finecomb::RowCell>()),
            Kind::IDENTITY_TABLE => self.times_in(&self.cells::<IdentityCell>()),
            Kind::RDA => self.times_in(&self.cells::<RdaCell>()),
            Kind::SRDA => self.times_in(&self.cells::<SrdaCell>()),
            _ => Times::default(),
        }
    }

    fn times_in<R: Row>(&self, rows: &[R]) -> Times {
        let [first, last] = [self.totals.first, self.totals.last];
        let span = last.nanoseconds_since(first);
        let Ok(room) = u64::try_from(span.saturating_add(2 * MIXED_UP as i64)) else {
            return Times { apart: span.unsigned_abs(), unit: 0 };
        };
        let (mut apart, mut multiples) = (0, vec![]);
        for row in rows.iter().filter(|row| row.count() > 0) {
            let count = u64::from(row.count());
            let Some(most) = count.checked_mul(room).filter(|most| most >> SUM_BITS == 0) else { continue };
            // Since the first packet, but for those that are mixed up with it.
            let since = |moment: u64| row.sum().wrapping_sub(count.wrapping_mul(moment)) & SUM_MASK;
            let offset = since(first.nanoseconds().wrapping_sub(MIXED_UP));
            if offset > most {
                // All of them may be.
                apart = apart.max((offset - most).min(SUM_MASK + 1 - offset).div_ceil(count));
            } else {
                multiples.push(offset.abs_diff(count * MIXED_UP));
            }
        }
        Times { apart, unit: unit(multiples) }
    }

    /// The size of its table.
    pub(crate) fn table(&self) -> Table {
        Table { kind: self.shape.kind, rows: self.shape.table_cells as usize, prefixes: self.prefixes }
    }
}

/// What an end's rows show of its packets' times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    /// By how many nanoseconds at least a packet lies before the first one or behind the last one; 0 if none is known to.
    pub(crate) apart: u64,
    /// The power of ten of nanoseconds that all are multiples of, from the first one on; 0 if too few rows show it.
    pub(crate) unit: u64,
}

/// The power of ten that all of these are multiples of; 0 if they are too few, or all 0. Clocks of recorders show decimals of a second; another factor is that of
/// packets that are sent in step.
pub(crate) fn unit(multiples: impl IntoIterator<Item = u64>) -> u64 {
    let (count, common) = multiples
        .into_iter()
        .fold((0, 0), |(count, common), number| (count + 1, greatest_common_divisor(common, number)));
    if count < FEWEST_TIMES || common == 0 {
        return 0;
    }
    let mut unit = 1;
    while common % (10 * unit) == 0 {
        unit *= 10;
    }
    unit
}

/// The size of an end's table, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    /// The synopsis.
    pub kind: Kind,
    /// Rows of each bank.
    pub rows: usize,
    /// The banks, if the synopsis is known.
    pub prefixes: Option<Prefixes>,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (Some(name), Some(prefixes)) = (self.kind.name(), self.prefixes) else {
            return write!(f, "unknown synopsis {}", self.kind);
        };
        let lengths: Vec<String> = prefixes.lengths().iter().map(u8::to_string).collect();
        write!(f, "{name}, {} rows, banks {}", self.rows, lengths.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_a_power_of_ten() {
        let times = |step: u64| unit((0..40).map(|number| step * (number * number + 3)));
        assert_eq!([1, 7, 8, 10_007, 15_625].map(times), [1; 5]);
        assert_eq!([1000, 20_000, 4_000_000].map(times), [1000, 10_000, 1_000_000]);
        assert_eq!((unit([1000; 31]), unit([0; 40])), (0, 0));
    }
}
