//! What is left of a cell when the other end's is subtracted, and whether that is a single packet.
//!
//! A cell whose count says one packet is looked at in two steps: whether that packet may be in this cell at all, which all but one in
//! as many as there are rows fail if they hold several; and its check, which sixteen cells' packets get side by side.
//!
//! # Test plan
//!
//! With the tables and symbols that are made of them ([`super`]); packets of one identity by division, and of one for which another would fit.

use deltaline_model::sketch::cell::SUM_MASK;
use deltaline_model::sketch::digest::{LANES, subtract};
use deltaline_model::sketch::packet_id::PacketId;

/// Most packets of one identity that are named.
const MOST_ALIKE: u32 = 1 << 12;
/// Most times that the number of packets of one identity may be halved: each halving doubles what each of four parts may have been.
const MOST_HALVINGS: u32 = 2;

/// What is left of a cell: the sender's less the receiver's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Left<S> {
    pub(super) count: u32,
    pub(super) check: S,
    pub(super) halves: [u32; 2],
}

/// A sum of checks, in one of the ways in which cells add them.
pub(super) trait CheckSum: Copy + Default + PartialEq {
    /// That of so many packets of one check, or of so many less than none.
    fn of(check: u32, count: u32) -> Self;
    /// This one less another.
    fn less(self, other: Self) -> Self;
}

/// In two halves, each modulo 2^16.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct InHalves(pub(super) u32);

impl CheckSum for InHalves {
    #[inline(always)]
    fn of(check: u32, count: u32) -> Self {
        InHalves(times(check, count))
    }

    #[inline(always)]
    fn less(self, other: Self) -> Self {
        InHalves(subtract(self.0, other.0))
    }
}

/// As a row sums times: modulo 2^40.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct AsTimes(pub(super) u64);

impl CheckSum for AsTimes {
    fn of(check: u32, count: u32) -> Self {
        AsTimes((i64::from(check) * i64::from(count as i32)) as u64 & SUM_MASK)
    }

    fn less(self, other: Self) -> Self {
        AsTimes(self.0.wrapping_sub(other.0) & SUM_MASK)
    }
}

/// A field as often as this, by which both of its halves are multiplied modulo 2^16.
fn times(field: u32, count: u32) -> u32 {
    (field >> 16).wrapping_mul(count) << 16 | field.wrapping_mul(count) & 0xffff
}

/// The inverse of an odd number modulo 2^16, by Newton's iteration: x is one of itself modulo 8, and each step doubles the bits.
pub(super) fn inverse(odd: u32) -> u32 {
    (0..3).fold(odd, |inverse, _| inverse.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(inverse)))) & 0xffff
}

impl Left<InHalves> {
    /// What is left of a count, and of the fields of check and halves.
    pub(super) fn in_halves(count: u32, sent: [u32; 3], received: [u32; 3]) -> Self {
        let [check, upper, lower] = std::array::from_fn(|field| subtract(sent[field], received[field]));
        Left { count, check: InHalves(check), halves: [upper, lower] }
    }
}

impl<S: CheckSum> Left<S> {
    /// Takes out packets of one identity, of which the sender has `count` more than the receiver.
    pub(super) fn take(&mut self, count: u32, check: u32, halves: [u32; 2]) {
        self.count = self.count.wrapping_sub(count);
        self.check = self.check.less(S::of(check, count));
        for (left, half) in self.halves.iter_mut().zip(halves) {
            *left = subtract(*left, times(half, count));
        }
    }

    /// With a count that is known modulo 2^16 alone.
    pub(super) fn shortened(self) -> Self {
        Left { count: i32::from(self.count as u16 as i16) as u32, ..self }
    }

    /// Whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        *self == Left { count: 0, check: S::default(), halves: [0; 2] }
    }

    /// Each packet's share, of so many alike as the count says, where that is one or minus one.
    fn of_one(&self) -> [u32; 2] {
        if self.count == 1 { self.halves } else { self.halves.map(|half| subtract(0, half)) }
    }

    /// The check and the identifier of each packet that is left in this cell, if all are of one identity, whatever their number, which
    /// may be in this cell.
    pub(super) fn single(
        &self,
        id: &PacketId,
        may_be_here: impl Fn([u32; 2]) -> bool,
    ) -> Option<(u32, [u32; 2])> {
        let checked = |halves: [u32; 2]| {
            let check = id.check_of(id.hash_of(halves));
            (S::of(check, self.count) == self.check && may_be_here(halves)).then_some((check, halves))
        };
        let (alike, halves) = match self.count as i32 {
            0 => return None,
            count if count > 0 => (self.count, self.halves),
            _ => (self.count.wrapping_neg(), self.halves.map(|half| subtract(0, half))),
        };
        if alike == 1 {
            return checked(halves);
        }
        let halvings = alike.trailing_zeros();
        let low = (1 << halvings) - 1;
        if alike > MOST_ALIKE
            || halvings > MOST_HALVINGS
            || halves.iter().any(|half| (half | half >> 16) & low != 0)
        {
            return None;
        }
        // An odd number can be divided by; of an even one the uppermost bits of each part are not known.
        let inverse = inverse(alike >> halvings);
        let known = halves.map(|half| {
            let part = |part: u32| ((part & 0xffff) >> halvings).wrapping_mul(inverse) & (0xffff >> halvings);
            part(half >> 16) << 16 | part(half)
        });
        let bit = |choice: u32, part: u32| (choice >> (part * halvings) & low) << (16 - halvings);
        let mut fit = (0..1u32 << (4 * halvings)).filter_map(|choice| {
            let unknown = [0, 2].map(|part| bit(choice, part) << 16 | bit(choice, part + 1));
            checked([unknown[0] | known[0], unknown[1] | known[1]])
        });
        // The check is as often in its sum, and shows as many bits less. Where two fit, nothing here or in any other sum tells which it was.
        fit.next().filter(|_| fit.next().is_none())
    }
}

/// A cell that may hold a single packet, or several of one identity.
#[derive(Clone, Copy)]
struct Found<S> {
    place: usize,
    left: Left<S>,
    /// If it is known already that it is right.
    check: Option<u32>,
    halves: [u32; 2],
}

/// Cells that are still to be looked at.
pub(super) struct Waiting {
    places: Vec<usize>,
    /// Where several packets are left, or several of one identity: only when no cell waits that may hold a single one, because most of
    /// these will until then, and because to divide takes up to 256 checks.
    several: Vec<usize>,
}

impl Waiting {
    /// All of these cells.
    pub(super) fn all<S>(cells: &[Left<S>]) -> Self {
        let mut waiting =
            Waiting { places: Vec::with_capacity(cells.len()), several: Vec::with_capacity(cells.len()) };
        cells.iter().enumerate().for_each(|(place, left)| waiting.push(place, left));
        waiting
    }

    /// Whether there is none.
    pub(super) fn is_over(&self) -> bool {
        self.places.is_empty() && self.several.is_empty()
    }

    /// One more, where this is left.
    pub(super) fn push<S>(&mut self, place: usize, left: &Left<S>) {
        match left.count as i32 {
            0 => {}
            1 | -1 => self.places.push(place),
            _ => self.several.push(place),
        }
    }

    /// The next ones that may hold a single packet, or one that holds several of one identity.
    pub(super) fn next<S: CheckSum>(
        &mut self,
        cells: &[Left<S>],
        id: &PacketId,
        may_be_here: impl Fn(usize, [u32; 2]) -> bool,
    ) -> Singles<S> {
        let nothing = Left { count: 0, check: S::default(), halves: [0; 2] };
        let found = Found { place: 0, left: nothing, check: None, halves: [0; 2] };
        let mut singles = Singles { found: [found; LANES], length: 0 };
        while singles.length < LANES
            && let Some(place) = self.places.pop()
        {
            // Of what it has become since, it waits again.
            let Some(&left) = cells.get(place).filter(|left| matches!(left.count as i32, 1 | -1)) else {
                continue;
            };
            let halves = left.of_one();
            if may_be_here(place, halves) {
                singles.put(Found { place, left, check: None, halves });
            }
        }
        while singles.length == 0
            && let Some(place) = self.several.pop()
        {
            let Some(&left) = cells.get(place) else { continue };
            if let Some((check, halves)) = left.single(id, |halves| may_be_here(place, halves)) {
                singles.put(Found { place, left, check: Some(check), halves });
            }
        }
        singles
    }
}

/// Cells that may hold single packets.
pub(super) struct Singles<S> {
    found: [Found<S>; LANES],
    length: usize,
}

impl<S: CheckSum> Singles<S> {
    fn put(&mut self, found: Found<S>) {
        if let Some(place) = self.found.get_mut(self.length) {
            *place = found;
            self.length += 1;
        }
    }

    /// Those whose checks are right: place, what is left there, and the check and halves of each packet.
    pub(super) fn checked(
        &self,
        id: &PacketId,
    ) -> impl Iterator<Item = (usize, Left<S>, u32, [u32; 2])> + '_ {
        let halves = [0, 1].map(|half| self.found.map(|found| found.halves[half]));
        let checks = id.checks_of(halves);
        let found = self.found.iter().zip(checks).take(self.length);
        found.filter_map(|(found, check)| {
            let Found { place, left, halves, .. } = *found;
            let is_right = found.check.is_some() || S::of(check, left.count) == left.check;
            is_right.then_some((place, left, found.check.unwrap_or(check), halves))
        })
    }
}
