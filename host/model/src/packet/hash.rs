//! Hash: 64 bits of a packet's key, by H3 or by Rabin's fingerprint.
//!
//! Both are linear over GF(2): the hash is the exclusive or of one 64-bit *row* for every set bit of the key. So a
//! hash function is a table of [`KEY_BITS`] rows, and software and hardware share the table.
//!
//! * **H3** (Carter and Wegman; LDA paper, section V): every row is random. Row i is the 64-bit xxh3 hash of i (eight
//!   bytes, little-endian) under the seed.
//! * **Rabin**: the key as a polynomial over GF(2), times x^64, modulo an irreducible polynomial of degree 64
//!   that the seed picks: the first of x^64 + (c_i with its lowest bit set) for i = 0, 1, ... that is irreducible, c_i the
//!   xxh3 hash of i under the seed. Row i is x^(64 + 543 - i) modulo the polynomial.
//!
//! Key bit 0 is the first bit on the wire: the most significant bit of the key's first byte.
//!
//! # Speed
//!
//! Software looks up what a byte of the key contributes: one table of 256 sums of rows for every byte, 139 KB a hash
//! function, made when the function is. That is one load a byte instead of eight masks. Words that are zero are passed over: of IPv4
//! those that only IPv6 uses, of a flow's key nine more.
//!
//! Rabin's fingerprint is faster where the processor multiplies without carries (x86-64 since 2011; found at run time by
//! the feature `std`, else taken for granted or not by the build): a product for every whole eight bytes, and two more.
//! Whoever hashes many packets asks the processor once ([`crate::point`]). Where it multiplies matrices of bits (x86-64 with GFNI and registers
//! of 512 bits, found likewise), sixteen keys are hashed side by side (`side_by_side.rs`), H3 in half the time, and flows of both functions. `cargo bench -p deltaline-model` measures both.
//!
//! # What linearity costs
//!
//! Keys that differ in a counter alone reach an affine subspace of hashes: whole bits may stay as they are, and rows picked by them
//! would be a stratified sample, not a random one. Rows and banks are therefore picked by a *place* that four rounds make of the hash's outer bits
//! ([`crate::sketch::place`]), and packets of one row are kept apart by a digest of all of its bits ([`crate::sketch::digest`]): neither is linear.
//!
//! # Test plan
//!
//! The tables, and what is found at once, against the sum of the set bits' rows; linearity; rows against xxh3 directly; Rabin against a bit-serial
//! division; irreducibility against trial division at small degree and known polynomials; uniformity of row and prefix bits
//! by chi-square with many seeds.

use crate::packet::identity::{KEY_BITS, KEY_WORDS, Key, LONG_WORDS};
#[cfg(target_arch = "x86_64")]
use crate::packet::residue::{Residue, Words};
#[cfg(target_arch = "x86_64")]
use crate::packet::side_by_side::Blocks;
use alloc::boxed::Box;
use multiversion::multiversion;
use multiversion::target::match_target;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The hash functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HashKind {
    /// Random rows.
    #[default]
    H3,
    /// Residue modulo a random irreducible polynomial of degree 64.
    Rabin,
}

/// A hash function: one 64-bit row for every bit of the key.
#[derive(Clone, PartialEq, Eq)]
pub struct LinearHash {
    rows: [u64; KEY_BITS],
    /// For every word of the key, each of its bytes and each value of that, the sum of the set bits' rows.
    tables: Box<[[[u64; 256]; 4]]>,
    /// For Rabin's fingerprint, where the processor multiplies polynomials.
    #[cfg(target_arch = "x86_64")]
    residue: Option<Residue>,
    /// Where the processor multiplies matrices of bits.
    #[cfg(target_arch = "x86_64")]
    blocks: Option<Blocks>,
}

/// Keys that [`LinearHash::hashes`] takes at a time.
pub(crate) const AT_ONCE: usize = 16;
/// What [`LinearHash::hashes`] takes of whole keys.
pub(crate) const WHOLE: [u64; LONG_WORDS] = [u64::MAX; LONG_WORDS];
/// Fewest of them that take less time together than one by one.
#[cfg(target_arch = "x86_64")]
const WORTH_IT: usize = 4;

/// So many keys, word by word, as they are hashed together.
#[derive(Clone, Copy, Default)]
pub(crate) struct Keys([[u64; AT_ONCE]; LONG_WORDS]);

impl Keys {
    /// The words of all keys, those of one number together.
    #[inline(always)]
    pub(crate) fn words(&self) -> &[[u64; AT_ONCE]; LONG_WORDS] {
        &self.0
    }

    /// One of them.
    #[inline(always)]
    pub(crate) fn get(&self, at: usize) -> Key {
        Key::of_long_words(core::array::from_fn(|word| self.0[word][at]))
    }

    /// Sets one of them.
    #[inline(always)]
    pub(crate) fn set(&mut self, at: usize, key: &Key) {
        for (words, word) in self.0.iter_mut().zip(key.long_words()) {
            words[at] = *word;
        }
    }
}

impl LinearHash {
    /// The function of this kind that `seed` picks.
    pub fn new(kind: HashKind, seed: u64) -> Self {
        let mut rows = [0; KEY_BITS];
        // Other processors than x86-64 take Rabin's hash from the tables, too.
        #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
        let modulus = match kind {
            HashKind::H3 => {
                for (row, index) in rows.iter_mut().zip(0u64..) {
                    *row = xxh3_64_with_seed(&index.to_le_bytes(), seed);
                }
                None
            }
            HashKind::Rabin => {
                let modulus = irreducible(seed);
                // x^64 modulo the polynomial is its own low part.
                let mut power = modulus;
                for row in rows.iter_mut().rev() {
                    *row = power;
                    power = times_x(power, modulus);
                }
                Some(modulus)
            }
        };
        let tables = |word: &[u64; 32]| core::array::from_fn(|byte| sums(&word[8 * byte..8 * byte + 8]));
        LinearHash {
            tables: rows.as_chunks().0.iter().map(tables).collect(),
            #[cfg(target_arch = "x86_64")]
            residue: modulus.map(|modulus| Residue::new(&rows, modulus)),
            #[cfg(target_arch = "x86_64")]
            blocks: Blocks::new(&rows),
            rows,
        }
    }

    /// The rows, the one of key bit 0 first.
    pub fn rows(&self) -> &[u64; KEY_BITS] {
        &self.rows
    }

    /// The 64-bit hash of a key.
    pub fn hash(&self, key: &Key) -> u64 {
        hash(self, key)
    }

    /// Whether [`LinearHash::hashes`] takes less time than one hash after the other: `of_parts` of keys, or of whole ones, which
    /// Rabin's fingerprint takes while they are in registers.
    pub(crate) fn is_faster_at_once(&self, of_parts: bool) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.blocks.is_some() && (of_parts || self.residue.is_none());
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = of_parts;
            false
        }
    }

    /// The hashes of what `mask` has of the first `length` keys; behind them, anything.
    pub(crate) fn hashes(&self, keys: &Keys, mask: &[u64; LONG_WORDS], length: usize) -> [u64; AT_ONCE] {
        #[cfg(target_arch = "x86_64")]
        if let Some(blocks) = self.blocks.as_ref().filter(|_| length >= WORTH_IT)
            && let Some(hashes) = blocks.hashes(keys, mask)
        {
            return hashes;
        }
        let mut hashes = [0; AT_ONCE];
        for (at, hash) in hashes.iter_mut().enumerate().take(length) {
            *hash = self.hash(&keys.get(at).masked(mask));
        }
        hashes
    }

    /// The same: of Rabin's fingerprint by `multiply`, which is [`Residue::of`], called by who has the instructions for it;
    /// else from the tables. Both get words and not the key, so that these stay in registers: from memory they are read
    /// in pairs that were just written one by one, and the processor waits for each pair.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn multiplied(
        &self,
        key: &Key,
        multiply: impl FnOnce(&Residue, Words, Words, Words, Words, u64) -> u64,
    ) -> u64 {
        let [a, b, c, d, e, f, g, h, half] = *key.long_words();
        match &self.residue {
            Some(residue) => multiply(residue, (a, b), (c, d), (e, f), (g, h), half),
            None => self.looked_up([a, b, c, d, e, f, g, h, half]),
        }
    }

    /// The same from the tables.
    #[inline(always)]
    pub(crate) fn looked_up(&self, [words @ .., last]: [u64; LONG_WORDS]) -> u64 {
        // One look at the length instead of one a word.
        let Some(tables) = self.tables.first_chunk() else { return 0 };
        words.iter().enumerate().fold(part(tables, KEY_WORDS - 1, last as u32), |hash, (index, word)| {
            hash ^ part(tables, 2 * index, (word >> 32) as u32) ^ part(tables, 2 * index + 1, *word as u32)
        })
    }
}

#[multiversion(targets("x86_64+pclmulqdq"))]
fn hash(function: &LinearHash, key: &Key) -> u64 {
    match_target! {
        "x86_64+pclmulqdq" => function.multiplied(key, |residue, ab, cd, ef, gh, half| residue.of(ab, cd, ef, gh, half)),
        _ => function.looked_up(*key.long_words()),
    }
}

/// What a word of the key contributes to its hash.
#[inline(always)]
fn part(tables: &[[[u64; 256]; 4]; KEY_WORDS], index: usize, word: u32) -> u64 {
    match tables.get(index) {
        Some([a, b, c, d]) if word != 0 => {
            let [at_a, at_b, at_c, at_d] = word.to_be_bytes().map(usize::from);
            a[at_a] ^ b[at_b] ^ c[at_c] ^ d[at_d]
        }
        _ => 0,
    }
}

/// The sums of all subsets of eight rows, of which the first is the most significant bit's.
fn sums(rows: &[u64]) -> [u64; 256] {
    let mut sums = [0; 256];
    for value in 1..sums.len() {
        let lowest = value.trailing_zeros() as usize;
        sums[value] = sums[value & (value - 1)] ^ rows[7 - lowest];
    }
    sums
}

/// `a` times x modulo x^64 + `modulus`.
pub(crate) fn times_x(a: u64, modulus: u64) -> u64 {
    (a << 1) ^ ((a >> 63).wrapping_neg() & modulus)
}

/// `a` times `b` modulo x^64 + `modulus`.
fn times(a: u64, b: u64, modulus: u64) -> u64 {
    (0..64).rev().fold(0, |product, bit| times_x(product, modulus) ^ ((b >> bit & 1).wrapping_neg() & a))
}

/// The first irreducible polynomial of degree 64 in the sequence that `seed` starts, without its leading term.
fn irreducible(seed: u64) -> u64 {
    // One odd polynomial in 32 is irreducible: the search ends after a few dozen steps.
    let mut index = 0u64;
    loop {
        let candidate = xxh3_64_with_seed(&index.to_le_bytes(), seed) | 1;
        if is_irreducible(candidate) {
            return candidate;
        }
        index += 1;
    }
}

/// Rabin's test for x^64 + `modulus`: x^(2^64) is x, and x^(2^32) - x shares no factor with it.
fn is_irreducible(modulus: u64) -> bool {
    const X: u64 = 2;
    let square = |power, _| times(power, power, modulus);
    let half = (0..32).fold(X, square);
    let full = (32..64).fold(half, square);
    full == X && coprime(half ^ X, modulus)
}

/// Whether `a` and x^64 + `modulus` have no common factor.
fn coprime(a: u64, modulus: u64) -> bool {
    let remainder = |mut dividend: u128, divisor: u128| {
        while dividend != 0 && dividend.ilog2() >= divisor.ilog2() {
            dividend ^= divisor << (dividend.ilog2() - divisor.ilog2());
        }
        dividend
    };
    let (mut a, mut b) = (1 << 64 | u128::from(modulus), u128::from(a));
    while b != 0 {
        (a, b) = (b, remainder(a, b));
    }
    a == 1
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::packet::identity::KEY_BYTES;
    use proptest::prelude::*;

    fn any_key() -> impl Strategy<Value = [u8; KEY_BYTES]> {
        proptest::collection::vec(any::<u8>(), KEY_BYTES).prop_map(|v| v.try_into().unwrap())
    }

    proptest! {
        #[test]
        fn a_hash_is_the_sum_of_the_set_bits_rows(
            mut key in any_key(), seed: u64, rabin: bool, first in 0..=KEY_BYTES, zeros in 0..=KEY_BYTES,
        ) {
            // Zeros as in IPv4, and elsewhere.
            key[first..(first + zeros).min(KEY_BYTES)].fill(0);
            let hash = LinearHash::new(if rabin { HashKind::Rabin } else { HashKind::H3 }, seed);
            let is_set = |bit: usize| key[bit / 8] << (bit % 8) & 0x80 != 0;
            let set = (0..KEY_BITS).filter(|&bit| is_set(bit));
            let expected = set.fold(0, |sum, bit| sum ^ hash.rows()[bit]);
            prop_assert_eq!(hash.hash(&key.into()), expected);
            // What other processors do.
            prop_assert_eq!(hash.looked_up(*Key::from(key).long_words()), expected);
        }

        #[test]
        fn hashes_found_at_once_are_those_of_each(
            keys: [[u8; 32]; AT_ONCE], first in 0..KEY_BYTES, mask: [u64; LONG_WORDS], zero in 0..LONG_WORDS, of_one: bool,
            length in 0..=AT_ONCE, seed: u64, rabin: bool,
        ) {
            let hash = LinearHash::new(if rabin { HashKind::Rabin } else { HashKind::H3 }, seed);
            let mut all = Keys::default();
            let mut mask = if of_one { mask } else { WHOLE };
            mask[zero] &= u64::from(of_one).wrapping_sub(1);
            let keys = keys.map(|bytes| {
                // Zeros elsewhere: words that are zero in all keys, and in some.
                let mut key = [0; KEY_BYTES];
                let end = KEY_BYTES.min(first + usize::from(bytes[0] % 33));
                key[first..end].copy_from_slice(&bytes[..end - first]);
                Key::from(key)
            });
            keys.iter().enumerate().for_each(|(at, key)| all.set(at, key));
            let expected = keys.map(|key| {
                let bytes = key.masked(&mask).to_bytes();
                let set = (0..KEY_BITS).filter(|bit| bytes[bit / 8] << (bit % 8) & 0x80 != 0);
                set.fold(0, |sum, bit| sum ^ hash.rows()[bit])
            });
            prop_assert_eq!(&hash.hashes(&all, &mask, length)[..length], &expected[..length]);
            prop_assert!((0..AT_ONCE).all(|at| all.get(at) == keys[at]));
        }

        #[test]
        fn hashes_are_linear(a in any_key(), b in any_key(), seed: u64, rabin: bool) {
            let hash = LinearHash::new(if rabin { HashKind::Rabin } else { HashKind::H3 }, seed);
            let sum: [u8; KEY_BYTES] = core::array::from_fn(|i| a[i] ^ b[i]);
            prop_assert_eq!(hash.hash(&sum.into()), hash.hash(&a.into()) ^ hash.hash(&b.into()));
            prop_assert_eq!(hash.hash(&Key::default()), 0);
        }

        #[test]
        fn rabin_is_the_remainder_of_a_long_division(key in any_key(), seed: u64) {
            let modulus = irreducible(seed);
            let mut remainder = 0u64;
            let bits = key.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
            for bit in bits.chain(core::iter::repeat_n(0, 64)) {
                let carry = remainder >> 63;
                remainder = remainder << 1 | u64::from(bit);
                if carry == 1 {
                    remainder ^= modulus;
                }
            }
            prop_assert_eq!(LinearHash::new(HashKind::Rabin, seed).hash(&key.into()), remainder);
        }

        #[test]
        fn h3_rows_are_single_bits(bit in 0usize..544, seed: u64) {
            let mut key = [0u8; 68];
            key[bit / 8] = 0x80 >> (bit % 8);
            let row = xxh3_64_with_seed(&(bit as u64).to_le_bytes(), seed);
            prop_assert_eq!(LinearHash::new(HashKind::H3, seed).hash(&key.into()), row);
        }

        #[test]
        fn products_are_reducible(low in any::<u32>()) {
            // (x^32 + low)^2 = x^64 + low^2: never irreducible.
            let spread = (0..32).fold(0u64, |square, bit| square | (u64::from(low >> bit & 1) << (2 * bit)));
            prop_assert!(!is_irreducible(spread));
        }
    }

    #[test]
    fn known_polynomials() {
        // ECMA-182 (the CRC of tape cartridges) has the factor x + 1; x^64 + x^4 + x^3 + x + 1 is irreducible.
        assert!(!is_irreducible(0x42f0_e1eb_a9ea_3693));
        assert!(is_irreducible(0x1b));
        assert!(!is_irreducible(0x1));
    }

    #[test]
    fn a_share_of_one_in_thirty_two_odd_polynomials_is_irreducible() {
        // There are (2^64 - 2^32) / 64 irreducible polynomials of degree 64, all odd: 1/32 of the odd ones.
        let found =
            (0..6400u64).filter(|i| is_irreducible(xxh3_64_with_seed(&i.to_le_bytes(), 7) | 1)).count();
        let sigma = (6400.0 * (1.0 / 32.0) * (31.0 / 32.0f64)).sqrt();
        assert!((found as f64 - 200.0).abs() < 4.5 * sigma, "{found}");
    }

    #[test]
    fn rows_and_prefixes_are_uniform() {
        for kind in [HashKind::H3, HashKind::Rabin] {
            for seed in 0..50 {
                let hash = LinearHash::new(kind, seed);
                let mut rows = [0u32; 64];
                let mut zeros = 0u32;
                for packet in 0..6400u64 {
                    let mut key = [0x45; 68];
                    let varying = xxh3_64_with_seed(&packet.to_le_bytes(), !seed).to_be_bytes();
                    key[..8].copy_from_slice(&varying);
                    let hash = hash.hash(&key.into());
                    rows[(hash & 63) as usize] += 1;
                    zeros += u32::from(hash >> 62 == 0);
                }
                // Chi-square with 63 degrees of freedom exceeds 138 or falls below 21 once in about 1e7 draws.
                let chi: f64 = rows.iter().map(|&n| (f64::from(n) - 100.0).powi(2) / 100.0).sum();
                assert!((21.0..138.0).contains(&chi), "{kind:?} {seed}: {chi}");
                // A quarter of the hashes, five and a half standard deviations.
                assert!((f64::from(zeros) - 1600.0).abs() < 5.5 * 34.7, "{kind:?} {seed}: {zeros}");
            }
        }
    }
}
