//! Residue: a key modulo a polynomial of degree 64 by carry-less multiplication, an instruction of x86-64 processors
//! since 2011. Who calls these functions has the target feature `pclmulqdq`, as the compiler checks; who has not, goes
//! through [`multiversion`], which asks the processor.
//!
//! # Theory of operation
//!
//! The key is eight words of 64 bits and one of 32. What a word contributes to the residue of key times x^64 is the word
//! times a power of x, and that power may itself be reduced beforehand: a *factor* for every word. The last word's is
//! x^64, which needs no product. The sum of all, which do not wait for each other, has less than 128 bits; its upper
//! half h is reduced by Barrett's method, which is exact for polynomials: with the reciprocal floor(x^128 / P), the
//! quotient of h x^64 by P is the upper half of h times reciprocal, and the remainder is the lower half of that quotient
//! times P.
//!
//! # Test plan
//!
//! That of [`crate::packet::hash`], whose tests compare every hash with the sum of the key's rows and with a bit-serial
//! division.

use crate::packet::hash::times_x;
use crate::packet::identity::{KEY_BITS, KEY_BYTES};
use core::arch::x86_64::{__m128i, _mm_clmulepi64_si128, _mm_cvtsi128_si64, _mm_set_epi64x, _mm_xor_si128};

/// Whole words of the key.
const WORDS: usize = KEY_BYTES / 8;

/// What a polynomial x^64 + `modulus` needs. Numbers of 64 bits stand in pairs, as the multiplication takes them from
/// memory.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Residue {
    /// The powers of x that the lowest bits of the words stand for, modulo the polynomial; the first of two in the
    /// lower half.
    factors: [u128; WORDS / 2],
    /// Lower half: the modulus. Upper half: floor(x^128 / (x^64 + modulus)) without its leading term.
    reduction: u128,
}

impl Residue {
    /// For the polynomial x^64 + `modulus`, from the rows of its hash function.
    pub(crate) fn new(rows: &[u64; KEY_BITS], modulus: u64) -> Self {
        let lowest_bit = |word: usize| 64 * word + 63;
        // Long division: a term of the quotient for every power from 127 down to 64.
        let (mut reciprocal, mut remainder) = (0, modulus);
        for _ in 0..64 {
            reciprocal = reciprocal << 1 | remainder >> 63;
            remainder = times_x(remainder, modulus);
        }
        let factors = |pair: usize| pair_of(rows[lowest_bit(2 * pair)], rows[lowest_bit(2 * pair + 1)]);
        Residue { factors: core::array::from_fn(factors), reduction: pair_of(modulus, reciprocal) }
    }

    /// The key times x^64 modulo the polynomial.
    #[target_feature(enable = "pclmulqdq")]
    #[inline]
    pub(crate) fn of(&self, (a, b): Words, (c, d): Words, (e, f): Words, (g, h): Words, half: u64) -> u64 {
        let [ab, cd, ef, gh] = self.factors;
        let [ab, cd, ef, gh] = [register(ab), register(cd), register(ef), register(gh)];
        let mut sum = register(u128::from(half) << 64);
        sum = _mm_xor_si128(sum, product::<LOW_OF_BOTH>(word(a), ab));
        sum = _mm_xor_si128(sum, product::<LOW_AND_HIGH>(word(b), ab));
        sum = _mm_xor_si128(sum, product::<LOW_OF_BOTH>(word(c), cd));
        sum = _mm_xor_si128(sum, product::<LOW_AND_HIGH>(word(f), ef));
        // Not so of a flow's key.
        if g | h != 0 {
            sum = _mm_xor_si128(sum, product::<LOW_OF_BOTH>(word(g), gh));
            sum = _mm_xor_si128(sum, product::<LOW_AND_HIGH>(word(h), gh));
        }
        // Addresses of IPv6.
        let is_ipv4 = d | e == 0;
        if !is_ipv4 {
            sum = _mm_xor_si128(sum, product::<LOW_AND_HIGH>(word(d), cd));
            sum = _mm_xor_si128(sum, product::<LOW_OF_BOTH>(word(e), ef));
        }
        let reduction = register(self.reduction);
        let quotient = _mm_xor_si128(sum, product::<HIGH_OF_BOTH>(sum, reduction));
        let remainder = _mm_xor_si128(sum, product::<HIGH_AND_LOW>(quotient, reduction));
        _mm_cvtsi128_si64(remainder) as u64
    }
}

/// Two words of the key.
pub(crate) type Words = (u64, u64);

/// Which halves of two pairs are multiplied.
const LOW_OF_BOTH: i32 = 0x00;
const HIGH_AND_LOW: i32 = 0x01;
const LOW_AND_HIGH: i32 = 0x10;
const HIGH_OF_BOTH: i32 = 0x11;

/// The product of two polynomials, one of each pair.
#[target_feature(enable = "pclmulqdq")]
#[inline]
fn product<const HALVES: i32>(a: __m128i, b: __m128i) -> __m128i {
    _mm_clmulepi64_si128::<HALVES>(a, b)
}

#[target_feature(enable = "pclmulqdq")]
#[inline]
fn register(pair: u128) -> __m128i {
    _mm_set_epi64x((pair >> 64) as i64, pair as i64)
}

#[target_feature(enable = "pclmulqdq")]
#[inline]
fn word(word: u64) -> __m128i {
    _mm_set_epi64x(0, word as i64)
}

fn pair_of(low: u64, high: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}
