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
use crate::wire::cell::{self, WireCell};
use crate::wire::shape::BLOCK_CELLS;

/// Width of a timestamp sum in bits.
pub const SUM_BITS: u32 = 40;
/// Mask of the bits that a timestamp sum keeps.
pub const SUM_MASK: u64 = (1 << SUM_BITS) - 1;

/// What an estimate needs of a row: packets, their timestamps' sum, and whether two ends' rows hold the same packets.
pub trait Row: Copy {
    /// Packets, modulo 2^32.
    fn count(&self) -> u32;

    /// Timestamp sum in nanoseconds, modulo 2^40.
    fn sum(&self) -> u64;

    /// Whether this row, the sender's, and `receiver` hold the same packets, as far as they show it.
    fn agrees(&self, receiver: &Self) -> bool;

    /// The sum of the delays of this row's packets in nanoseconds, if this row is the sender's and `receiver`
    /// the receiver's and both hold the same packets: the modular difference of the sums as a signed number.
    ///
    /// Right as long as the true sum lies within ±2^39 ns (±549 s).
    fn delay_sum(&self, receiver: &Self) -> i64 {
        let difference = receiver.sum().wrapping_sub(self.sum()) & SUM_MASK;
        let shift = 64 - SUM_BITS;
        ((difference << shift) as i64) >> shift
    }
}

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
        self.add_some(1, nanoseconds, 0)
    }

    /// As [`Cell::add`], with a digest, if `packets` is 1; adds nothing, if it is 0. A caller that cannot guess which one
    /// it is saves a branch.
    #[inline]
    pub fn add_some(&mut self, packets: u32, nanoseconds: u64, digest: u32) -> bool {
        self.digest = digest::add(self.digest, digest & u32::wrapping_neg(packets));
        self.sum = self.sum.wrapping_add(nanoseconds & u64::wrapping_neg(packets.into())) & SUM_MASK;
        self.count = self.count.wrapping_add(packets);
        (self.count == 0) & (packets == 1)
    }

    /// The cell in the low 72 bits of a counter memory's word, and the digest sum in the 32 above them.
    pub fn from_word(word: u128) -> Self {
        Cell { count: (word >> SUM_BITS) as u32, sum: (word as u64) & SUM_MASK, digest: (word >> 72) as u32 }
    }
}

impl Row for Cell {
    fn count(&self) -> u32 {
        self.count
    }

    fn sum(&self) -> u64 {
        self.sum
    }

    fn agrees(&self, receiver: &Cell) -> bool {
        (self.count, self.digest) == (receiver.count, receiver.digest)
    }
}

/// With digests a cell has one [further field](crate::wire::cell).
impl WireCell for Cell {
    fn merge(&mut self, other: &Self) -> bool {
        let (count, overflows) = self.count.overflowing_add(other.count);
        let digest = digest::add(self.digest, other.digest);
        *self = Cell { count, sum: (self.sum + other.sum) & SUM_MASK, digest };
        overflows
    }

    fn pack(cells: &[Self; BLOCK_CELLS], block: &mut [u8]) {
        if block.len() > usize::from(cell::bits(0)) {
            cell::pack(&cells.map(|cell| (cell.count, cell.sum, [cell.digest])), block);
        } else {
            cell::pack(&cells.map(|cell| (cell.count, cell.sum, [])), block);
        }
    }

    fn unpack(block: &[u8]) -> [Self; BLOCK_CELLS] {
        if block.len() > usize::from(cell::bits(0)) {
            cell::unpack(block).map(|(count, sum, [digest])| Cell { count, sum, digest })
        } else {
            cell::unpack(block).map(|(count, sum, [])| Cell { count, sum, digest: 0 })
        }
    }
}
