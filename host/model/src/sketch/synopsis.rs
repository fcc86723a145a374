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
use crate::wire::shape::{BLOCK_CELLS, Shape};
use alloc::vec;
use alloc::vec::Vec;

/// What a synopsis gets of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hashed {
    /// The [hash](crate::packet::hash) of its key.
    pub hash: u64,
    /// When it was seen.
    pub time: Timestamp,
    /// Its [digest](crate::sketch::digest), in a configuration that has digests; else zero.
    pub digest: u32,
}

/// Tables of cells that packets are added to.
pub trait Synopsis: core::fmt::Debug + Send + Sync {
    /// What a control frame says of the tables in an interval that is sampled so.
    fn shape(&self, prefixes: &Prefixes) -> Shape;

    /// Adds packets of a class, sampled so, in their order; true when a count overflowed.
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
    /// So many cells of each class, all zero.
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

    /// As [`Synopsis::pack`], of cells that are so wide.
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
