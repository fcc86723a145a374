//! The cell: 72 bits that stand for all packets of one row, or 104 with a digest sum.
//!
//! | bits  | width | field | meaning |
//! |-------|-------|-------|---------|
//! | 71:40 | 32    | count | packets, modulo 2^32; an overflow raises the frame's `saturated` flag |
//! | 39:0  | 40    | sum   | sum of the packets' timestamps in nanoseconds, modulo 2^40 |
//!
//! A configuration with digests adds a third field of 32 bits, the [digest sum](crate::sketch::digest).
//!
//! LDA paper, section V: "the first 32 bits are a simple packet counter, the last 40 bits are a timestamp sum".

use crate::sketch::digest;
use crate::wire::cell::WireCell;
use crate::wire::fields::Fields;
use crate::wire::shape::BLOCK_CELLS;

/// Width of a timestamp sum in bits.
pub const SUM_BITS: u32 = 40;
/// Mask of the bits that a timestamp sum keeps.
pub const SUM_MASK: u64 = (1 << SUM_BITS) - 1;

/// One row of one bank: how many packets fell into it and the sum of their timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cell {
    /// Packets, modulo 2^32.
    pub count: u32,
    /// Timestamp sum in nanoseconds, modulo 2^40; the upper 24 bits are always zero.
    pub sum: u64,
    /// Digest sum; zero in a configuration without digests.
    pub digest: u32,
}

impl Cell {
    /// Adds one packet that was seen at `nanoseconds` (of which the low 40 bits count).
    ///
    /// Returns true when the packet count wrapped to zero.
    pub fn add(&mut self, nanoseconds: u64) -> bool {
        self.sum = self.sum.wrapping_add(nanoseconds) & SUM_MASK;
        self.count = self.count.wrapping_add(1);
        self.count == 0
    }

    /// Whether this cell, the sender's, and `receiver` hold the same packets, as far as they can tell: their counts
    /// are equal, and so are their digest sums.
    pub fn agrees(&self, receiver: &Cell) -> bool {
        (self.count, self.digest) == (receiver.count, receiver.digest)
    }

    /// The sum of the delays of this row's packets in nanoseconds, if this cell is the sender's and `receiver`
    /// the receiver's and both hold the same packets: the modular difference of the sums as a signed number.
    ///
    /// Right as long as the true sum lies within ±2^39 ns (±549 s).
    pub fn delay_sum(&self, receiver: &Cell) -> i64 {
        let difference = receiver.sum.wrapping_sub(self.sum) & SUM_MASK;
        let shift = 64 - SUM_BITS;
        ((difference << shift) as i64) >> shift
    }

    /// The cell in the low 72 bits of a counter memory's word, and the digest sum in the 32 above them.
    pub fn from_word(word: u128) -> Self {
        Cell { count: (word >> SUM_BITS) as u32, sum: (word as u64) & SUM_MASK, digest: (word >> 72) as u32 }
    }
}

/// A **block** holds eight words of (count, 32 bits; sum bits 31:0, 32 bits), then eight bytes with sum bits 39:32 of the
/// eight cells in order. With digests, the words of every two cells are followed by a word with their two
/// [digest sums](crate::sketch::digest), 32 bits each, so that hardware keeps no more than two: cell, cell, digests,
/// four times over, then the eight bytes.
impl WireCell for Cell {
    fn merge(&mut self, other: &Self) -> bool {
        let (count, overflows) = self.count.overflowing_add(other.count);
        let digest = digest::add(self.digest, other.digest);
        *self = Cell { count, sum: (self.sum + other.sum) & SUM_MASK, digest };
        overflows
    }

    fn pack(cells: &[Self; BLOCK_CELLS], block: &mut [u8]) {
        let has_digests = block.len() > BLOCK_BYTES;
        let Some((low, high)) = block.split_last_chunk_mut::<BLOCK_CELLS>() else { return };
        for (index, (high, cell)) in high.iter_mut().zip(cells).enumerate() {
            let (word, digest) = offsets(index, has_digests);
            low[word..word + 4].copy_from_slice(&cell.count.to_be_bytes());
            low[word + 4..word + 8].copy_from_slice(&(cell.sum as u32).to_be_bytes());
            if has_digests {
                low[digest..digest + 4].copy_from_slice(&cell.digest.to_be_bytes());
            }
            *high = (cell.sum >> 32) as u8;
        }
    }

    fn unpack(block: &[u8]) -> [Self; BLOCK_CELLS] {
        let has_digests = block.len() > BLOCK_BYTES;
        let high = block.len().saturating_sub(BLOCK_CELLS);
        let block = Fields(block);
        core::array::from_fn(|index| {
            let (word, digest) = offsets(index, has_digests);
            Cell {
                count: block.u32(word),
                sum: u64::from(block.u8(high + index)) << 32 | u64::from(block.u32(word + 4)),
                digest: if has_digests { block.u32(digest) } else { 0 },
            }
        })
    }
}

/// Bytes of a block without digests.
const BLOCK_BYTES: usize = 72;

/// Where in a block the word of its cell `index` is, and where, with digests, its digest sum.
fn offsets(index: usize, has_digests: bool) -> (usize, usize) {
    if has_digests {
        (index / 2 * 24 + index % 2 * 8, index / 2 * 24 + 16 + index % 2 * 4)
    } else {
        (index * 8, 0)
    }
}
