//! Cells on the wire: blocks of eight.

use crate::wire::shape::BLOCK_CELLS;

/// A cell that control frames carry and that reports can add.
pub trait WireCell: Copy + Default + PartialEq + core::fmt::Debug {
    /// Adds another cell of the same place: of a lane, an interval, a receiver. True when a count overflowed.
    fn merge(&mut self, other: &Self) -> bool;

    /// Packs eight cells into a block. Its length in bytes is the width of a cell in bits.
    fn pack(cells: &[Self; BLOCK_CELLS], block: &mut [u8]);

    /// The eight cells of a block.
    fn unpack(block: &[u8]) -> [Self; BLOCK_CELLS];
}
