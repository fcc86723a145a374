//! Rounds: a permutation of 32 bits that is not linear over GF(2), in adders of 16 bits.
//!
//! Those of the cipher Speck32, with constants that a seed picks in place of round keys. The 32 bits are two halves, x
//! above y:
//!
//! ```text
//! x <- (x >>> 7) + y  ^ constant        16 bits, addition modulo 2^16
//! y <- (y <<< 2) ^ x
//! ```
//!
//! Constant n, from 544 on, is the low 16 bits of the xxh3 hash of n (eight bytes, little-endian) under the seed: the
//! sequence of the H3 hash's rows, continued. Each function of the sketch has a stretch of that sequence of its own.
//!
//! They are no cipher: whoever knows the seed can undo them.
//!
//! # Test plan
//!
//! Undone, they give what went in; sixteen side by side are as one by one; golden digests and places
//! (`tests/vectors.rs`). How many rounds a purpose needs is tested where it is served.

use multiversion::multiversion;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::packet::identity::KEY_BITS;

/// Values that go through the rounds side by side.
pub const LANES: usize = 16;

/// Constant 544 + `number` of a seed.
pub(crate) fn constant(number: usize, seed: u64) -> u16 {
    xxh3_64_with_seed(&((KEY_BITS + number) as u64).to_le_bytes(), seed) as u16
}

/// `N` rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds<const N: usize> {
    constants: [u16; N],
}

impl<const N: usize> Rounds<N> {
    /// The rounds of this seed whose constants are 544 + `first` and those behind it.
    pub(crate) fn new(first: usize, seed: u64) -> Self {
        Rounds { constants: core::array::from_fn(|round| constant(first + round, seed)) }
    }

    /// The constants, that of the first round first.
    pub fn constants(&self) -> &[u16; N] {
        &self.constants
    }

    /// What a value becomes.
    #[inline]
    pub fn apply(&self, value: u32) -> u32 {
        let (x, y) = self.constants.iter().fold(halves(value), |(x, y), constant| {
            let x = x.rotate_right(7).wrapping_add(y) ^ constant;
            (x, y.rotate_left(2) ^ x)
        });
        joined(x, y)
    }

    /// The value that becomes this one.
    pub(crate) fn undo(&self, value: u32) -> u32 {
        let (x, y) = self.constants.iter().rev().fold(halves(value), |(x, y), constant| {
            let y = (y ^ x).rotate_right(2);
            ((x ^ constant).wrapping_sub(y).rotate_left(7), y)
        });
        joined(x, y)
    }

    /// As [`Rounds::undo`], side by side.
    #[inline]
    pub(crate) fn undo_all(&self, values: [u32; LANES]) -> [u32; LANES] {
        undo_all(&self.constants, values)
    }

    /// As [`Rounds::apply`], side by side, so that a processor's wide registers hold many.
    #[inline]
    pub fn apply_all(&self, values: [u32; LANES]) -> [u32; LANES] {
        apply_all(&self.constants, values)
    }
}

/// A function of its own, as its counterpart below: within a caller that gathers values from packets the compiler does them one by one.
#[multiversion(targets("x86_64+avx2"))]
#[inline(never)]
fn apply_all<const N: usize>(constants: &[u16; N], values: [u32; LANES]) -> [u32; LANES] {
    let (mut x, mut y) = ([0; LANES], [0; LANES]);
    for ((x, y), value) in x.iter_mut().zip(&mut y).zip(values) {
        (*x, *y) = halves(value);
    }
    for constant in constants {
        for (x, y) in x.iter_mut().zip(&mut y) {
            *x = x.rotate_right(7).wrapping_add(*y) ^ constant;
            *y = y.rotate_left(2) ^ *x;
        }
    }
    let mut results = [0; LANES];
    for ((result, x), y) in results.iter_mut().zip(x).zip(y) {
        *result = joined(x, y);
    }
    results
}

#[multiversion(targets("x86_64+avx2"))]
#[inline(never)]
fn undo_all<const N: usize>(constants: &[u16; N], values: [u32; LANES]) -> [u32; LANES] {
    let (mut x, mut y) = ([0; LANES], [0; LANES]);
    for ((x, y), value) in x.iter_mut().zip(&mut y).zip(values) {
        (*x, *y) = halves(value);
    }
    for constant in constants.iter().rev() {
        for (x, y) in x.iter_mut().zip(&mut y) {
            *y = (*y ^ *x).rotate_right(2);
            *x = (*x ^ constant).wrapping_sub(*y).rotate_left(7);
        }
    }
    let mut results = [0; LANES];
    for ((result, x), y) in results.iter_mut().zip(x).zip(y) {
        *result = joined(x, y);
    }
    results
}

#[inline(always)]
fn halves(value: u32) -> (u16, u16) {
    ((value >> 16) as u16, value as u16)
}

#[inline(always)]
fn joined(x: u16, y: u16) -> u32 {
    u32::from(x) << 16 | u32::from(y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_can_be_undone_and_done_side_by_side() {
        for seed in 0..200 {
            let rounds = Rounds::<5>::new(3, seed);
            let values: [u32; LANES] = core::array::from_fn(|i| xxh3_64_with_seed(&[i as u8], seed) as u32);
            let results = values.map(|value| rounds.apply(value));
            assert_eq!(rounds.apply_all(values), results);
            assert_eq!(results.map(|result| rounds.undo(result)), values);
            assert_eq!(rounds.undo_all(results), values);
        }
    }
}
