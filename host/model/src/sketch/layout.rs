//! Layout: which cells of a table that can be subtracted a packet is in, and how it is taken out of them again.
//!
//! Three synopses can be subtracted. What picks a packet's cells of an [identity table](crate::sketch::identity_table) is its
//! [identifier](crate::sketch::packet_id); of [RDA and sRDA](crate::sketch::rda) it is the identifier of the identifier: there a cell's
//! exclusive or of several identifiers must not lead back to that cell but by chance.
//!
//! # Test plan
//!
//! Places by hand for each kind; of sRDA one where two hashes agree; shapes of other kinds have no layout. That packets are found where
//! they were added is tested with the synopses.

use crate::sketch::cell::Row;
use crate::sketch::field_cell::FieldCell;
use crate::sketch::packet_id::{PARTS, PacketId, part};
use crate::sketch::xor_cell::XorCell;
use crate::wire::cell::WireCell;
use crate::wire::shape::{Kind, Shape};

/// Where packets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// An identity table's: one cell of each of four tables.
    Identity {
        /// Cells of each table, a power of two.
        rows: usize,
    },
    /// RDA's: one cell of each bank.
    Banks {
        /// Cells of each bank, a power of two.
        rows: usize,
        /// Banks, 1..=4.
        banks: usize,
    },
    /// sRDA's: some cells of one array.
    Flat {
        /// Its cells, a power of two.
        cells: usize,
        /// Hash functions, 1..=4; two that agree name one cell.
        hashes: usize,
    },
}

impl Layout {
    /// That of tables of this shape, which the [registry](crate::sketch::registry) can read; none of those that cannot be subtracted.
    pub fn of(shape: &Shape) -> Option<Layout> {
        let rows = shape.table_cells as usize;
        match shape.kind {
            Kind::IDENTITY_TABLE => Some(Layout::Identity { rows }),
            Kind::RDA => Some(Layout::Banks { rows, banks: shape.tables.into() }),
            Kind::SRDA => Some(Layout::Flat { cells: rows, hashes: *shape.own.as_slice().get(1)? as usize }),
            _ => None,
        }
    }

    /// Cells of all tables.
    pub fn cells(self) -> usize {
        match self {
            Layout::Identity { rows } => PARTS * rows,
            Layout::Banks { rows, banks } => banks * rows,
            Layout::Flat { cells, .. } => cells,
        }
    }

    /// The cells of the packet with this identifier, counted table by table; none twice.
    pub fn places(self, id: &PacketId, halves: [u32; 2]) -> impl Iterator<Item = usize> + use<> {
        let again = || id.halves_of(u64::from(halves[0]) << 32 | u64::from(halves[1]));
        let (hashes, rows, apart, halves) = match self {
            Layout::Identity { rows } => (PARTS, rows, rows, halves),
            Layout::Banks { rows, banks } => (banks.min(PARTS), rows, rows, again()),
            Layout::Flat { cells, hashes } => (hashes.min(PARTS), cells, 0, again()),
        };
        let row =
            move |number: usize| number * apart + (usize::from(part(halves, number)) & rows.wrapping_sub(1));
        (0..hashes).filter(move |&number| (0..number).all(|other| row(other) != row(number))).map(row)
    }
}

/// A cell that packets can be taken out of.
pub trait Subtractable: Row + WireCell {
    /// Takes out the packet with this identifier, which was added at `nanoseconds`.
    fn take_out(&mut self, nanoseconds: u64, id: &PacketId, halves: [u32; 2]);
}

/// Check, and the identifier's halves.
pub(crate) fn checked(id: &PacketId, halves: [u32; 2]) -> [u32; 3] {
    [id.check_of(id.hash_of(halves)), halves[0], halves[1]]
}

impl Subtractable for FieldCell<3> {
    fn take_out(&mut self, nanoseconds: u64, id: &PacketId, halves: [u32; 2]) {
        self.remove(nanoseconds, checked(id, halves));
    }
}

impl Subtractable for FieldCell<2> {
    fn take_out(&mut self, nanoseconds: u64, _: &PacketId, halves: [u32; 2]) {
        self.remove(nanoseconds, halves);
    }
}

impl Subtractable for XorCell<3> {
    fn take_out(&mut self, nanoseconds: u64, id: &PacketId, halves: [u32; 2]) {
        self.remove(nanoseconds, checked(id, halves));
    }
}

impl Subtractable for XorCell<2> {
    fn take_out(&mut self, nanoseconds: u64, _: &PacketId, halves: [u32; 2]) {
        self.remove(nanoseconds, halves);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    #[test]
    fn places_by_hand() {
        let id = PacketId::default();
        let halves = [0x1234_5678, 0x9abc_def0];
        let places = |layout: Layout| layout.places(&id, halves).collect::<Vec<_>>();
        assert_eq!(places(Layout::Identity { rows: 16 }), [4, 16 + 8, 32 + 12, 48]);
        let [upper, lower] = id.halves_of(0x1234_5678_9abc_def0);
        let parts = [upper >> 16, upper, lower >> 16, lower].map(|part| part as usize & 0xff);
        assert_eq!(places(Layout::Banks { rows: 256, banks: 3 }), [parts[0], 256 + parts[1], 512 + parts[2]]);
        assert_eq!(places(Layout::Flat { cells: 256, hashes: 2 }), parts[..2]);
        // Of four hashes and two cells some agree.
        let few = places(Layout::Flat { cells: 2, hashes: 4 });
        assert!(few.len() <= 2 && few.iter().all(|place| *place < 2) && few[0] == parts[0] & 1);
    }

    #[test]
    fn a_shape_that_cannot_be_subtracted_has_none() {
        let shape = |kind, tables, own: &[u64]| Shape {
            kind,
            tables,
            table_cells: 64,
            cell_bits: 136,
            has_digests: false,
            own: crate::wire::shape::OwnWords::collect(own.iter().copied()).unwrap(),
        };
        assert_eq!(Layout::of(&shape(Kind::LDA, 2, &[0])), None);
        assert_eq!(Layout::of(&shape(Kind::RDA, 2, &[0])), Some(Layout::Banks { rows: 64, banks: 2 }));
        assert_eq!(Layout::of(&shape(Kind::SRDA, 1, &[0])), None);
        let flat = Layout::of(&shape(Kind::SRDA, 1, &[0, 3])).unwrap();
        assert_eq!((flat, flat.cells()), (Layout::Flat { cells: 64, hashes: 3 }, 64));
    }
}
