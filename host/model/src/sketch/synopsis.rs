//! Synopsis: tables of cells that packets are added to, whatever they count.
//!
//! All synopses are one machine: a packet's identity is hashed, a rule of placement says which cells of which tables it
//! is added to, and the two ends' cells are subtracted. What differs is the placement and the fields of a cell. A
//! [measurement point](crate::point) knows no more of its synopsis than is said here; the
//! [registry](crate::sketch::registry) knows which there are.
//!
//! # Test plan
//!
//! That of each synopsis, and of the point, whose frames hold what cells that were filled by hand hold.

use crate::sketch::sampler::{Prefixes, Sampler};
use crate::time::Timestamp;
use crate::wire::cell::WireCell;
use crate::wire::shape::{BLOCK_CELLS, Kind, Shape};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// What a synopsis gets of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hashed {
    /// The [hash](crate::packet::hash) of its key.
    pub hash: u64,
    /// Its [place](crate::sketch::place): what picks its bank and its row.
    pub place: u32,
    /// When it was seen.
    pub time: Timestamp,
    /// Its [digest](crate::sketch::digest), in a configuration that has digests; else zero.
    pub digest: u32,
    /// The hash of its [flow](crate::packet::flow)'s five-tuple, with a synopsis [of flows](Kind::is_of_flows); else zero.
    pub flow: u64,
}

/// Tables of cells that packets are added to.
pub trait Synopsis: core::fmt::Debug + Send + Sync {
    /// What a control frame says of the tables in an interval with these prefix lengths.
    fn shape(&self, prefixes: &Prefixes) -> Shape;

    /// Adds packets of a class in their order, each to the bank that the sampler picks; true when a count overflowed.
    fn add(&mut self, class: usize, sampler: &Sampler, packets: &[Hashed]) -> bool;

    /// Packs a class's cells, counted table by table from `first` on, a multiple of eight, into blocks: as many as there
    /// is room for.
    fn pack(&self, class: usize, first: usize, blocks: &mut [u8]);

    /// Sets every cell to zero.
    fn clear(&mut self);
}

/// The cells of all tables of all classes: class by class, table by table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells<C> {
    cells: Vec<C>,
    per_class: usize,
}

impl<C: WireCell> Cells<C> {
    /// `per_class` cells of each class, all zero.
    pub fn new(classes: usize, per_class: usize) -> Self {
        Cells { cells: vec![C::default(); classes * per_class], per_class }
    }

    /// Those of a class.
    pub fn of_class(&mut self, class: usize) -> &mut [C] {
        let first = class * self.per_class;
        self.cells.get_mut(first..first + self.per_class).unwrap_or_default()
    }

    /// All of them.
    pub fn as_slice(&self) -> &[C] {
        &self.cells
    }

    /// As [`Synopsis::pack`], of cells of `cell_bits` bits.
    pub fn pack(&self, class: usize, first: usize, cell_bits: u16, blocks: &mut [u8]) {
        let cells = self.cells.get(class * self.per_class + first..).unwrap_or(&[]);
        let blocks = blocks.chunks_exact_mut(usize::from(cell_bits).max(1));
        for (block, cells) in blocks.zip(cells.as_chunks::<BLOCK_CELLS>().0) {
            C::pack(cells, block);
        }
    }

    /// Sets every cell to zero.
    pub fn clear(&mut self) {
        self.cells.fill(C::default());
    }
}

/// Fewest rows of a bank or cells of a table: one block of a control frame.
pub const MIN_ROWS: usize = 8;
/// Most rows of a bank or cells of a table.
pub const MAX_ROWS: usize = 32_768;

/// What a synopsis's tables are made by, of a [configuration](crate::configuration).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Measurement classes, each with tables of its own.
    pub classes: usize,
    /// Rows of each bank, or cells of each table: a power of two, [`MIN_ROWS`]..=[`MAX_ROWS`].
    pub rows: usize,
    /// The banks; if they adapt, as they are after reset.
    pub prefixes: Prefixes,
    /// Whether cells have digest sums.
    pub has_digests: bool,
    /// The seed of all hashes.
    pub seed: u64,
    /// Tables that each packet is in, 1..=4, if that is set: of [RDA and sRDA](crate::sketch::rda) alone.
    pub tables: Option<u8>,
}

/// What the registry knows of a synopsis.
pub(crate) struct Registered {
    /// Its number on the wire.
    pub(crate) kind: Kind,
    /// Its name in designs and on the command line.
    pub(crate) name: &'static str,
    /// The prefix lengths where none are given.
    pub(crate) prefixes: &'static [u8],
    /// Whether its cells have digest sums in software where nothing is said.
    pub(crate) digests_by_default: bool,
    /// Whether its tables say more if a point remembers its packets: those that differ are found among them.
    pub(crate) remembers_packets: bool,
    /// Why parameters do not fit, and what is allowed.
    pub(crate) check: fn(&Parameters) -> Result<(), &'static str>,
    /// The synopsis with these parameters, every cell zero.
    pub(crate) new: fn(&Parameters) -> Box<dyn Synopsis>,
    /// The shape of its tables; if its prefix lengths adapt, as after reset.
    pub(crate) shape: fn(&Parameters) -> Shape,
    /// How a table is sampled whose shape this is, or the field that contradicts the others.
    pub(crate) read: fn(&Shape) -> Result<Prefixes, &'static str>,
}

/// The prefix lengths in a shape's own word, provided that the `whole` shape built from them is this one.
pub(crate) fn read_rows(
    given: &Shape,
    whole: impl FnOnce(&Prefixes) -> Shape,
) -> Result<Prefixes, &'static str> {
    let &[lengths] = given.own.as_slice() else { return Err("header words") };
    let lengths = lengths.to_be_bytes();
    let used = lengths.get(..usize::from(given.tables)).ok_or("tables")?;
    let prefixes = Prefixes::new(used).map_err(|_| "prefix lengths")?;
    let rows = given.table_cells as usize;
    if !rows.is_power_of_two() || !(MIN_ROWS..=MAX_ROWS).contains(&rows) {
        return Err("table cells");
    }
    match whole(&prefixes) {
        whole if whole == *given => Ok(prefixes),
        other if other.cell_bits != given.cell_bits => Err("cell bits"),
        _ => Err("prefix lengths"),
    }
}
