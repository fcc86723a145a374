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
