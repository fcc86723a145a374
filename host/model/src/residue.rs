//! Residue: a key modulo a polynomial of degree 64 by carry-less multiplication, an instruction of the processor.
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
//! That of [`crate::hash`], whose tests compare every hash with the sum of the key's rows and with a bit-serial
//! division.

use crate::hash::times_x;
use crate::identity::{IPV6_ONLY, KEY_BITS, KEY_BYTES, Key};
use safe_arch::{m128i, mul_i64_carryless_m128i};

/// Whole words of the key.
const WORDS: usize = KEY_BYTES / 8;

/// What a polynomial x^64 + `modulus` needs.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Residue {
    /// The powers of x that the lowest bits of the words stand for, modulo the polynomial.
    factors: [u64; WORDS],
    modulus: u64,
    /// floor(x^128 / (x^64 + modulus)) without its leading term.
    reciprocal: u64,
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
        Residue { factors: core::array::from_fn(|word| rows[lowest_bit(word)]), modulus, reciprocal }
    }

    /// The key times x^64 modulo the polynomial.
    #[inline(always)]
    pub(crate) fn of(&self, key: &Key) -> u64 {
        let words = key.long_words();
        // The last half word, times x^64.
        let mut sum = m128i::from(u128::from(words[WORDS] >> 32) << 64);
        for (index, (&word, &factor)) in words.iter().zip(&self.factors).enumerate() {
            // In every IPv4 packet.
            let is_blank = IPV6_ONLY.contains(&(2 * index)) && word == 0;
            if !is_blank {
                sum ^= product(word, factor);
            }
        }
        let [low, high] = halves(sum);
        let [_, quotient] = halves(product(high, self.reciprocal));
        let [remainder, _] = halves(product(quotient ^ high, self.modulus));
        low ^ remainder
    }
}

/// The product of two polynomials.
#[inline]
fn product(a: u64, b: u64) -> m128i {
    mul_i64_carryless_m128i::<0>(m128i::from(u128::from(a)), m128i::from(u128::from(b)))
}

/// The lower and the upper 64 bits.
#[inline]
fn halves(product: m128i) -> [u64; 2] {
    let product = u128::from(product);
    [product as u64, (product >> 64) as u64]
}
