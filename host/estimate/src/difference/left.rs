//! What is left of a cell when the other end's is subtracted, and whether that is a single packet.
//!
//! A cell whose count says one packet is looked at in two steps: whether that packet may be in this cell at all, which all but one in
//! as many as there are rows fail if they hold several; and its check, which sixteen cells' packets get side by side.
//!
//! # Test plan
//!
//! With the tables and symbols that are made of them ([`super`]); packets of one identity by division.

use deltaline_model::sketch::digest::{LANES, subtract};
use deltaline_model::sketch::packet_id::PacketId;

/// Most packets of one identity that are named.
const MOST_ALIKE: u32 = 1 << 12;
/// Most times that the number of packets of one identity may be halved: each halving doubles what each of four parts may have been.
const MOST_HALVINGS: u32 = 2;

/// What is left of a cell: the sender's less the receiver's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) count: u32,
    pub(super) fields: [u32; 3],
}

/// A field as often as this, by which both of its halves are multiplied modulo 2^16.
fn times(field: u32, count: u32) -> u32 {
    (field >> 16).wrapping_mul(count) << 16 | field.wrapping_mul(count) & 0xffff
}

/// The inverse of an odd number modulo 2^16, by Newton's iteration: x is one of itself modulo 8, and each step doubles the bits.
pub(super) fn inverse(odd: u32) -> u32 {
    (0..3).fold(odd, |inverse, _| inverse.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(inverse)))) & 0xffff
}

impl Left {
    /// Takes out packets of one identity, of which the sender has `count` more than the receiver.
    pub(super) fn take(&mut self, count: u32, fields: [u32; 3]) {
        self.count = self.count.wrapping_sub(count);
        for (left, field) in self.fields.iter_mut().zip(fields) {
            *left = subtract(*left, times(field, count));
        }
    }

    /// With a count that is known modulo 2^16 alone.
    pub(super) fn shortened(self) -> Self {
        Left { count: i32::from(self.count as u16 as i16) as u32, ..self }
    }

    /// Whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        *self == Left { count: 0, fields: [0; 3] }
    }

    /// The fields of each packet that is left in this cell, if all are of one identity, whatever their number, which may be in this cell.
    pub(super) fn single(&self, id: &PacketId, may_be_here: impl Fn([u32; 2]) -> bool) -> Option<[u32; 3]> {
        let is_right = |[check, upper, lower]: [u32; 3]| {
            let halves = [upper, lower];
            id.check_of(id.hash_of(halves)) == check && may_be_here(halves)
        };
        let (alike, fields) = match self.count as i32 {
            0 => return None,
            count if count > 0 => (self.count, self.fields),
            _ => (self.count.wrapping_neg(), self.fields.map(|field| subtract(0, field))),
        };
        if alike == 1 {
            return Some(fields).filter(|fields| is_right(*fields));
        }
        let halvings = alike.trailing_zeros();
        let low = (1 << halvings) - 1;
        if alike > MOST_ALIKE
            || halvings > MOST_HALVINGS
            || fields.iter().any(|field| (field | field >> 16) & low != 0)
        {
            return None;
        }
        // An odd number can be divided by; of an even one the uppermost bits of each part are not known.
        let inverse = inverse(alike >> halvings);
        let known = fields.map(|field| {
            let part = |part: u32| ((part & 0xffff) >> halvings).wrapping_mul(inverse) & (0xffff >> halvings);
            part(field >> 16) << 16 | part(field)
        });
        let bit = |choice: u32, part: u32| (choice >> (part * halvings) & low) << (16 - halvings);
        let halves = |choice: u32| {
            [0, 2].map(|part| bit(choice, part) << 16 | bit(choice, part + 1)).into_iter().zip(&known[1..])
        };
        (0..1u32 << (4 * halvings)).find_map(|choice| {
            let mut halves = halves(choice).map(|(unknown, known)| unknown | known);
            let halves = [halves.next()?, halves.next()?];
            let check = id.check_of(id.hash_of(halves));
            let found = [check, halves[0], halves[1]];
            (times(check, alike) == fields[0] && is_right(found)).then_some(found)
        })
    }
}

/// Cells that may hold single packets: place, what is left there, and the packet's fields.
pub(super) struct Singles {
    /// Each with whether its check is known to be right.
    found: [(usize, Left, [u32; 3], bool); LANES],
    length: usize,
}

impl Singles {
    /// The next of the cells that wait.
    pub(super) fn next(
        waiting: &mut Vec<usize>,
        cells: &[Left],
        id: &PacketId,
        may_be_here: impl Fn(usize, [u32; 2]) -> bool,
    ) -> Self {
        let nothing = Left { count: 0, fields: [0; 3] };
        let mut singles = Singles { found: [(0, nothing, [0; 3], false); LANES], length: 0 };
        while singles.length < LANES
            && let Some(place) = waiting.pop()
        {
            let Some(&left) = cells.get(place) else { continue };
            let (fields, is_checked) = match left.count as i32 {
                0 => continue,
                1 => (left.fields, false),
                -1 => (left.fields.map(|field| subtract(0, field)), false),
                _ => match left.single(id, |halves| may_be_here(place, halves)) {
                    Some(fields) => (fields, true),
                    None => continue,
                },
            };
            if is_checked || may_be_here(place, [fields[1], fields[2]]) {
                singles.found[singles.length] = (place, left, fields, is_checked);
                singles.length += 1;
            }
        }
        singles
    }

    /// Those whose checks are right.
    pub(super) fn checked(&self, id: &PacketId) -> impl Iterator<Item = (usize, Left, [u32; 3])> + '_ {
        let halves = [1, 2].map(|half| self.found.map(|(_, _, fields, _)| fields[half]));
        let checks = id.checks_of(halves);
        let found = self.found.iter().zip(checks).take(self.length);
        found.filter_map(|((place, left, fields, is_checked), check)| {
            (*is_checked || fields[0] == check).then_some((*place, *left, *fields))
        })
    }
}
