//! What one end reported of an interval.

use deltaline_model::sketch::cell::Cell;
use deltaline_model::sketch::sampler::Prefixes;
use deltaline_model::wire::frame::Totals;
use std::fmt;

/// What one end reported of an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The interval's own numbers.
    pub totals: Totals,
    /// Identifier of the end's configuration.
    pub configuration: u64,
    /// The banks.
    pub prefixes: Prefixes,
    /// Rows of each bank: a power of two, 8..=32,768.
    pub rows: usize,
    /// Frames that the interval has.
    pub fragments: u16,
    /// Indices of the frames that did not arrive, ascending.
    pub missing: Vec<u16>,
    /// Whether its cells have digest sums.
    pub digests: bool,
    /// All cells, bank-major; empty unless all frames arrived.
    pub cells: Vec<Cell>,
}

impl Report {
    /// The size of its table.
    pub(crate) fn table(&self) -> Table {
        Table { rows: self.rows, prefixes: self.prefixes }
    }
}

/// The size of an end's table, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    /// Rows of each bank.
    pub rows: usize,
    /// The banks.
    pub prefixes: Prefixes,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let lengths: Vec<String> = self.prefixes.lengths().iter().map(u8::to_string).collect();
        write!(f, "{} rows, banks {}", self.rows, lengths.join(","))
    }
}
