//! A cell with further fields of 32 bits beside count and timestamp sum.
//!
//! # Test plan
//!
//! Halves of fields add apart, commute and forget carries; merged cells hold what one cell of all packets holds.

use crate::sketch::cell::{Row, SUM_MASK};
use crate::sketch::digest;
use crate::wire::cell::{self, WireCell};
use crate::wire::shape::BLOCK_CELLS;

/// Packets, their timestamps and D fields, each in two halves that add modulo 2^16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FieldCell<const D: usize> {
    /// Packets, modulo 2^32.
    pub count: u32,
    /// Timestamp sum in nanoseconds, modulo 2^40.
    pub sum: u64,
    /// The further fields.
    pub fields: [u32; D],
}

impl<const D: usize> Default for FieldCell<D> {
    fn default() -> Self {
        FieldCell { count: 0, sum: 0, fields: [0; D] }
    }
}

impl<const D: usize> FieldCell<D> {
    /// Adds one packet that was seen at `nanoseconds` (of which the low 40 bits count). True when the count wrapped to zero.
    #[inline]
    pub fn add(&mut self, nanoseconds: u64, fields: [u32; D]) -> bool {
        self.merge(&FieldCell { count: 1, sum: nanoseconds & SUM_MASK, fields })
    }

    /// Takes out a packet that was added.
    pub fn remove(&mut self, nanoseconds: u64, fields: [u32; D]) {
        self.count = self.count.wrapping_sub(1);
        self.sum = self.sum.wrapping_sub(nanoseconds) & SUM_MASK;
        self.fields = core::array::from_fn(|number| digest::subtract(self.fields[number], fields[number]));
    }
}

impl<const D: usize> Row for FieldCell<D> {
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

impl<const D: usize> WireCell for FieldCell<D> {
    fn merge(&mut self, other: &Self) -> bool {
        let (count, overflows) = self.count.overflowing_add(other.count);
        let fields = core::array::from_fn(|number| digest::add(self.fields[number], other.fields[number]));
        *self = FieldCell { count, sum: (self.sum + other.sum) & SUM_MASK, fields };
        overflows
    }

    fn pack(cells: &[Self; BLOCK_CELLS], block: &mut [u8]) {
        cell::pack(&cells.map(|cell| (cell.count, cell.sum, cell.fields)), block);
    }

    fn unpack(block: &[u8]) -> [Self; BLOCK_CELLS] {
        cell::unpack(block).map(|(count, sum, fields)| FieldCell { count, sum, fields })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_cells_hold_what_one_cell_of_all_packets_holds() {
        let packets =
            [(7u64, [0xffff_0001, 3]), (SUM_MASK, [0x0001_ffff, 0x8000_8000]), (1 << 45, [5, 0x8000_8000])];
        let mut all = FieldCell::default();
        let mut parts = [FieldCell::default(); 2];
        for (number, (nanoseconds, fields)) in packets.into_iter().enumerate() {
            assert!(!all.add(nanoseconds, fields));
            parts[number % 2].add(nanoseconds, fields);
        }
        let [mut first, second] = parts;
        first.merge(&second);
        assert_eq!(first, all);
        assert_eq!(all, FieldCell { count: 3, sum: 6, fields: [0x0000_0005, 0x0000_0003] });
        let mut full = FieldCell { count: u32::MAX, ..all };
        assert!(full.add(0, [0, 0]));
    }
}
