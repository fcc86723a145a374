//! Cells on the wire: blocks of eight.
//!
//! A cell has a count (32 bits), a timestamp sum (40 bits) and, by its kind, further fields of 32 bits. A **block**
//! holds eight words of (count, 32 bits; sum bits 31:0, 32 bits), then eight bytes with sum bits 39:32 of the eight
//! cells in order. The words of every two cells are followed by one word for each further field with that field of both,
//! so that hardware keeps no more than two cells: cell, cell, first fields, second fields ..., four times over, then the
//! eight bytes. So a block is as many bytes long as a cell has bits.
//!
//! # Test plan
//!
//! A block by hand for no further field, one and three; what is packed comes out again.

use crate::wire::fields::Fields;
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

/// Width in bits of a cell with this many further fields.
pub const fn bits(fields: usize) -> u16 {
    72 + 32 * fields as u16
}

/// A cell's count, sum and further fields.
pub(crate) type Parts<const D: usize> = (u32, u64, [u32; D]);

/// Where in a block the word of its cell `index` is, and where the first of its further fields; the next are eight bytes
/// behind each other.
fn offsets(index: usize, fields: usize) -> (usize, usize) {
    let (pair, second) = (index / 2 * (16 + 8 * fields), index % 2);
    (pair + 8 * second, pair + 16 + 4 * second)
}

/// Packs eight cells into a block of [`bits`] bytes; a shorter one is left as it is.
pub(crate) fn pack<const D: usize>(cells: &[Parts<D>; BLOCK_CELLS], block: &mut [u8]) {
    let Some(block) = block.get_mut(..usize::from(bits(D))) else { return };
    let Some((low, high)) = block.split_last_chunk_mut::<BLOCK_CELLS>() else { return };
    for (index, (high, (count, sum, fields))) in high.iter_mut().zip(cells).enumerate() {
        let (word, first) = offsets(index, D);
        low[word..word + 4].copy_from_slice(&count.to_be_bytes());
        low[word + 4..word + 8].copy_from_slice(&(*sum as u32).to_be_bytes());
        for (number, field) in fields.iter().enumerate() {
            let at = first + 8 * number;
            low[at..at + 4].copy_from_slice(&field.to_be_bytes());
        }
        *high = (sum >> 32) as u8;
    }
}

/// The eight cells of a block.
pub(crate) fn unpack<const D: usize>(block: &[u8]) -> [Parts<D>; BLOCK_CELLS] {
    let high = block.len().saturating_sub(BLOCK_CELLS);
    let block = Fields(block);
    core::array::from_fn(|index| {
        let (word, first) = offsets(index, D);
        let sum = u64::from(block.u8(high + index)) << 32 | u64::from(block.u32(word + 4));
        (block.u32(word), sum, core::array::from_fn(|number| block.u32(first + 8 * number)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Cell i: count i, sum 0x(50 + i) << 32 | 0x100 + i, field f: 0x(f + 1)000 + i.
    fn cells<const D: usize>() -> [Parts<D>; BLOCK_CELLS] {
        core::array::from_fn(|i| {
            let field = |number: usize| ((number as u32 + 1) << 12) | i as u32;
            (i as u32, (0x50 + i as u64) << 32 | 0x100 | i as u64, core::array::from_fn(field))
        })
    }

    #[test]
    fn blocks_by_hand() {
        let mut block = [0; 168];
        pack::<0>(&cells(), &mut block);
        assert_eq!(block[56..72], [0, 0, 0, 7, 0, 0, 1, 7, 0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57]);
        pack::<1>(&cells(), &mut block);
        assert_eq!(block[16..32], [0, 0, 0x10, 0, 0, 0, 0x10, 1, 0, 0, 0, 2, 0, 0, 1, 2]);
        pack::<3>(&cells(), &mut block);
        assert_eq!(block[8..24], [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0x10, 0, 0, 0, 0x10, 1]);
        assert_eq!(block[24..40], [0, 0, 0x20, 0, 0, 0, 0x20, 1, 0, 0, 0x30, 0, 0, 0, 0x30, 1]);
        assert_eq!(
            block[152..],
            [0, 0, 0x30, 6, 0, 0, 0x30, 7, 0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57]
        );
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_out_again(given: [(u32, u64, [u32; 3]); BLOCK_CELLS]) {
            let cells = given.map(|(count, sum, fields)| (count, sum >> 24, fields));
            let mut block = [0; 168];
            pack(&cells, &mut block);
            prop_assert_eq!(unpack::<3>(&block), cells);
        }
    }
}
