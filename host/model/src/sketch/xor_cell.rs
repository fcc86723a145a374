//! A cell whose further fields are exclusive ors, as the RDA paper has them.
//!
//! Two packets with the same identifier cancel in such a field, and three look like one: the count alone shows them.
//!
//! # Test plan
//!
//! Merged cells hold what one cell of all packets holds; a packet that is taken out leaves no trace; equal identifiers
//! cancel; a block reads as it was packed.

use crate::sketch::cell::{Row, SUM_MASK};
use crate::wire::cell::{self, WireCell};
use crate::wire::shape::BLOCK_CELLS;

/// Packets, their timestamps and D fields, each the exclusive or of the packets'.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct XorCell<const D: usize> {
    /// Packets, modulo 2^32.
    pub count: u32,
    /// Timestamp sum in nanoseconds, modulo 2^40.
    pub sum: u64,
    /// The further fields.
    pub fields: [u32; D],
}

impl<const D: usize> Default for XorCell<D> {
    fn default() -> Self {
        XorCell { count: 0, sum: 0, fields: [0; D] }
    }
}

impl<const D: usize> XorCell<D> {
    /// Adds one packet that was seen at `nanoseconds` (of which the low 40 bits count). True when the count wrapped to zero.
    pub fn add(&mut self, nanoseconds: u64, fields: [u32; D]) -> bool {
        self.merge(&XorCell { count: 1, sum: nanoseconds & SUM_MASK, fields })
    }

    /// Takes out a packet that was added.
    pub fn remove(&mut self, nanoseconds: u64, fields: [u32; D]) {
        self.count = self.count.wrapping_sub(1);
        self.sum = self.sum.wrapping_sub(nanoseconds) & SUM_MASK;
        self.fields = core::array::from_fn(|number| self.fields[number] ^ fields[number]);
    }
}

impl<const D: usize> Row for XorCell<D> {
    fn count(&self) -> u32 {
        self.count
    }

    fn sum(&self) -> u64 {
        self.sum
    }

    fn agrees(&self, receiver: &Self) -> bool {
        (self.count, self.fields) == (receiver.count, receiver.fields)
    }
}

impl<const D: usize> WireCell for XorCell<D> {
    fn merge(&mut self, other: &Self) -> bool {
        let (count, overflows) = self.count.overflowing_add(other.count);
        let fields = core::array::from_fn(|number| self.fields[number] ^ other.fields[number]);
        *self = XorCell { count, sum: (self.sum + other.sum) & SUM_MASK, fields };
        overflows
    }

    fn pack(cells: &[Self; BLOCK_CELLS], block: &mut [u8]) {
        cell::pack(&cells.map(|cell| (cell.count, cell.sum, cell.fields)), block);
    }

    fn unpack(block: &[u8]) -> [Self; BLOCK_CELLS] {
        cell::unpack(block).map(|(count, sum, fields)| XorCell { count, sum, fields })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_cells_hold_what_one_cell_of_all_packets_holds() {
        let packets = [(7u64, [0xffff_0001, 3]), (SUM_MASK, [0x0001_ffff, 9]), (1 << 45, [5, 9])];
        let mut all = XorCell::default();
        let mut parts = [XorCell::default(); 2];
        for (number, (nanoseconds, fields)) in packets.into_iter().enumerate() {
            assert!(!all.add(nanoseconds, fields));
            parts[number % 2].add(nanoseconds, fields);
        }
        let [mut first, second] = parts;
        first.merge(&second);
        assert_eq!(first, all);
        assert_eq!(all, XorCell { count: 3, sum: 6, fields: [0xfffe_fffb, 3] });
        all.remove(SUM_MASK, packets[1].1);
        assert_eq!(all, XorCell { count: 2, sum: 7, fields: [0xffff_0004, 10] });
        all.add(0, [0xffff_0004, 10]);
        assert_eq!((all.count, all.fields), (3, [0, 0]));
        let mut block = [0; 136];
        XorCell::pack(&[all; 8], &mut block);
        assert_eq!(XorCell::<2>::unpack(&block), [all; 8]);
        assert!(XorCell { count: u32::MAX, ..all }.add(0, [0, 0]));
    }
}
