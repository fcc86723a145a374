//! Mixing: a secret map in front of the place's rounds, which may change from interval to interval.
//!
//! Hash and rounds are fixed in a design, and whoever knows it can tell which packets are sampled: he holds back others
//! alone, and the delay that he makes is not seen. Secret constants in the rounds would not do: behind their few additions
//! there are sums of bits of the hash that agree with a bit of the place in 52.6 % of all cases or 47.4 %, so that of 131,072
//! packets of one such sum a number is sampled that lies 19 deviations from that of packets drawn by lot
//! (`tests/mixing.rs`). So the 32 bits of the hash that a place is made of, x, become
//!
//! ```text
//! M x + b    over GF(2): row r of M is bits r+31:r of a secret of 63 bits, b one of 32
//! ```
//!
//! M is a Hankel matrix, a Toeplitz one upside down. What is promised needs no assumption about the enemy's means:
//!
//! * For every x, M x + b is uniform, since b is.
//! * For x and y that differ, it is independent of M y + b: let c be the highest bit in which they differ. Bit r of
//!   M (x + y) has the secret's bit r + c in it, which none of the bits below r has. So they are uniform, all 32.
//!
//! The rounds behind it are a permutation, known to all. So the places of any two packets whose 32 bits differ are
//! uniform and independent: of packets that are chosen without knowledge of the secret, as many are sampled as of packets
//! chosen by lot, in the mean and in the variance. Tails are bounded by Chebyshev's inequality; higher moments are not those
//! of chance. Packets whose 32 bits agree share their fate, whatever the secret: who makes packets may make them
//! all alike, but which fate it is remains chance.
//!
//! The promise holds until the enemy sees what came of it: a mixing is good for intervals whose control frames
//! he has not read yet. See `docs/threats.md`.
//!
//! A mixing is derived from a secret of 16 bytes as the Ascon [tag](crate::ascon) of the bytes `mixing`, with a nonce of zero:
//!
//! | bytes of the tag | meaning |
//! |------------------|---------|
//! | 0 to 7 | the matrix, big-endian, without its highest bit |
//! | 8 to 11 | b |
//! | 12 to 15 | identifier, which control frames carry; 1 in place of 0 |
//!
//! So mixings of different secrets have different identifiers, but for one pair in 2^32, and the identifier says nothing
//! of the rest. Zero is that of the design's own mixing, which follows from the seed: constants 572 to 577 of the
//! [rounds](crate::sketch::rounds)' sequence, the first in the lowest bits, 63 bits of matrix, an unused one, and b.
//!
//! # Test plan
//!
//! The matrix by rows, as the hardware computes it; sixteen side by side are as one by one. Uniform and pairwise independent:
//! all secrets of a small map of the same form, counted. `tests/mixing.rs`: an enemy who knows all but the secret, against the bound
//! of theory.

use crate::ascon;
use crate::sketch::rounds::{LANES, constant};

/// Bits of the matrix.
pub const MATRIX_BITS: u32 = 63;
/// First constant of a design's own mixing, behind those of the place.
const FIRST_CONSTANT: usize = 28;
/// What is tagged with the secret, so that other uses of it give other bits.
const USE: &[u8; 6] = b"mixing";

/// A map of 32 bits to 32 bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Mixing {
    matrix: u64,
    offset: u32,
    id: u32,
}

/// Without the secret.
impl core::fmt::Debug for Mixing {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        write!(f, "Mixing({:#010x})", self.id)
    }
}

impl Mixing {
    /// The mixing of a secret. Draw it: a short or reused one can be tried out by who sees the identifier.
    pub fn new(secret: &[u8; ascon::BYTES]) -> Self {
        let tag = u128::from_be_bytes(ascon::tag(secret, [0; ascon::BYTES], USE));
        Mixing::from_parts((tag >> 64) as u64, (tag >> 32) as u32, (tag as u32).max(1))
    }

    /// The mixing of a design with this seed until another one takes effect.
    pub fn own(seed: u64) -> Self {
        let bits = (0..6).fold(0u128, |bits, index| {
            bits | u128::from(constant(FIRST_CONSTANT + index, seed)) << (16 * index)
        });
        Mixing::from_parts(bits as u64, (bits >> 64) as u32, 0)
    }

    /// The mixing of these bits, as registers take it. The matrix's highest bit is left out.
    pub fn from_parts(matrix: u64, offset: u32, id: u32) -> Self {
        Mixing { matrix: matrix & (u64::MAX >> (64 - MATRIX_BITS)), offset, id }
    }

    /// The bits of the matrix: row r is made of bits r+31:r. Secret.
    pub fn matrix(&self) -> u64 {
        self.matrix
    }

    /// What is added to each product. Secret.
    pub fn offset(&self) -> u32 {
        self.offset
    }

    /// What control frames show of it; zero for a design's own.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// What a value becomes.
    #[inline]
    pub fn apply(&self, value: u32) -> u32 {
        (0..32).fold(self.offset, |sum, column| sum ^ self.column(column) & mask(value >> column))
    }

    /// As [`Mixing::apply`], side by side.
    #[inline(always)]
    pub fn apply_all(&self, values: [u32; LANES]) -> [u32; LANES] {
        let mut sums = [self.offset; LANES];
        for column in 0..32 {
            let bits = self.column(column);
            sums.iter_mut().zip(&values).for_each(|(sum, value)| *sum ^= bits & mask(value >> column));
        }
        sums
    }

    /// A column of the matrix: as it is symmetric, the row of that number.
    #[inline(always)]
    fn column(&self, number: u32) -> u32 {
        (self.matrix >> number) as u32
    }
}

/// Ones where the lowest bit is one.
#[inline(always)]
fn mask(value: u32) -> u32 {
    (value & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::HashSet;
    use std::vec;
    use std::vec::Vec;

    fn some(number: u64) -> u64 {
        xxhash_rust::xxh3::xxh3_64(&number.to_le_bytes())
    }

    #[test]
    fn rows_are_stretches_of_the_secret() {
        for number in 0..200 {
            let mixing = Mixing::from_parts(some(number), some(number + 1000) as u32, 7);
            let values: [u32; LANES] = core::array::from_fn(|i| some(5000 + number * 16 + i as u64) as u32);
            let by_rows = values.map(|value| {
                let bit = |row: u32| ((mixing.matrix() >> row) as u32 & value).count_ones() & 1;
                (0..32).fold(mixing.offset(), |sum, row| sum ^ bit(row) << row)
            });
            assert_eq!(values.map(|value| mixing.apply(value)), by_rows);
            assert_eq!(mixing.apply_all(values), by_rows);
        }
    }

    /// All 2^15 secrets of the map of five bits: every pair of different values becomes every pair, equally often. The five bits
    /// are the lowest ones of the real map, with a matrix of nine.
    #[test]
    fn two_values_become_every_pair_equally_often() {
        const BITS: u32 = 5;
        let matrices = 1u64 << (2 * BITS - 1);
        for first in 0..1u32 << BITS {
            for second in 0..first {
                let mut pairs = vec![0u32; 1 << (2 * BITS)];
                for matrix in 0..matrices {
                    let product = Mixing::from_parts(matrix, 0, 1);
                    let [x, y] = [first, second].map(|value| product.apply(value) % (1 << BITS));
                    for offset in 0..1u32 << BITS {
                        pairs[((x ^ offset) << BITS | y ^ offset) as usize] += 1;
                    }
                }
                assert!(pairs.iter().all(|count| *count == 1 << (BITS - 1)), "{first} {second}");
            }
        }
    }

    #[test]
    fn secrets_and_seeds_give_different_mixings() {
        let secrets = (0..=255u8).map(|byte| Mixing::new(&[byte; 16]));
        let all: Vec<Mixing> = secrets.chain((0..256).map(Mixing::own)).collect();
        let parts = |f: fn(&Mixing) -> u64| all.iter().map(f).collect::<HashSet<u64>>().len();
        assert_eq!(parts(Mixing::matrix), 512);
        assert_eq!(parts(|mixing| mixing.id().into()), 257);
        assert!(all.iter().all(|mixing| mixing.matrix() >> 63 == 0));
        // What is printed is the identifier alone.
        assert_eq!(std::format!("{:?}", Mixing::from_parts(5, 6, 0xab)), "Mixing(0x000000ab)");
    }

    /// Without this crate: NIST SP 800-232's vectors test the tag, the bytes are cut by hand.
    #[test]
    fn a_secret_is_cut_as_the_table_says() {
        let tag = ascon::tag(&[9; 16], [0; 16], b"mixing");
        let mixing = Mixing::new(&[9; 16]);
        assert_eq!(mixing.matrix().to_be_bytes()[1..], tag[1..8]);
        assert_eq!(mixing.offset().to_be_bytes(), tag[8..12]);
        assert_eq!(mixing.id().to_be_bytes(), tag[12..]);
    }
}
