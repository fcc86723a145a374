//! Hashes side by side: sixteen keys at a time, by the instruction that multiplies bytes with matrices of 8 x 8 bits, of x86-64
//! processors since 2019 (GFNI) that have registers of 512 bits. Any linear hash of [`crate::packet::hash`] is such a
//! product, with random rows or not.
//!
//! # Theory of operation
//!
//! The hash is a matrix of 64 x 544 bits times the key. Cut into *blocks* of 8 x 8 bits, a block says what one byte of the key adds to one
//! byte of the hash. The instruction multiplies all eight bytes of each of a register's eight *lanes* with one block, so a lane holds the same
//! byte of eight keys:
//!
//! ```text
//! one word of eight keys        in lanes              times blocks, turn by turn         lane of the hash
//!  key 0: h g f e d c b a       a a a a a a a a   x   turn 0: byte 0, turn 1: byte 1 ..   byte 0 of eight hashes
//!  key 1: h g f e d c b a   ->  b b b b b b b b   x   turn 0: byte 1, turn 1: byte 2 ..   byte 1
//!  ...                          ...                                                      ...
//!  key 7: h g f e d c b a       h h h h h h h h   x   turn 0: byte 7, turn 1: byte 0 ..   byte 7
//! ```
//!
//! In turn t, lane l is multiplied with the block of hash byte l + t modulo 8. Eight sums, one a turn, run over all words of the key. At the
//! end the sum of turn t is rotated by t lanes: then lane l of all eight is what belongs to hash byte l. Words that are zero in all eight keys,
//! or under the mask, are passed over.
//!
//! # Cost
//!
//! 4.6 KB of blocks a hash function, where tables of bytes have 139 KB: they stay in the nearest cache. For IPv4, 56 products and as many sums of
//! 512 bits for eight packets.
//!
//! # Test plan
//!
//! That of [`crate::packet::hash`]: against the sum of the key's rows, for random keys under random masks, whole keys too, with words that are zero in
//! some keys and in all, both hash functions. Processors without the instructions have the same test.

use crate::packet::hash::{AT_ONCE, Keys};
use crate::packet::identity::{KEY_BITS, LONG_WORDS};
use alloc::boxed::Box;
use core::arch::x86_64::{
    __m128i, __m512i, _mm_cvtsi128_si64, _mm_unpackhi_epi64, _mm512_alignr_epi64, _mm512_and_si512,
    _mm512_extracti32x4_epi32, _mm512_gf2p8affine_epi64_epi8, _mm512_permutexvar_epi8, _mm512_set_epi64,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_test_epi64_mask, _mm512_xor_si512,
};
use multiversion::multiversion;
use multiversion::target::match_target;

/// Lanes of a register, bytes of a lane, bytes of a hash, turns.
const LANES: usize = 8;

/// A hash function's matrix in blocks: by word of the key, turn and lane, where lane l is the word's byte of significance l.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Blocks(Box<[[[u64; LANES]; LANES]; LONG_WORDS]>);

impl Blocks {
    /// Those of the hash function with these rows; none where the processor has no instructions for them.
    pub(crate) fn new(rows: &[u64; KEY_BITS]) -> Option<Self> {
        has_instructions().then(|| {
            let turn =
                |word, turn| core::array::from_fn(|lane| block(rows, word, lane, (lane + turn) % LANES));
            let word = |word| core::array::from_fn(|at| turn(word, at));
            Blocks(Box::new(core::array::from_fn(word)))
        })
    }

    /// The hashes of what `mask` has of these keys, where the processor has the instructions.
    pub(crate) fn hashes(&self, keys: &Keys, mask: &[u64; LONG_WORDS]) -> Option<[u64; AT_ONCE]> {
        hashes(self, keys, mask)
    }
}

/// What a byte of the key, of significance `lane` in its word, adds to byte `of_hash` of the hash, as the instruction takes it: the
/// highest byte is for the lowest bit of the result, and has a bit for each bit of the key's byte.
fn block(rows: &[u64; KEY_BITS], word: usize, lane: usize, of_hash: usize) -> u64 {
    // The last word is the last four bytes of the key.
    let bytes = if word + 1 < LONG_WORDS { LANES } else { LANES / 2 };
    let Some(byte) = bytes.checked_sub(lane + 1).map(|byte| LANES * word + byte) else { return 0 };
    let mut block = 0;
    for (place, row) in rows.iter().skip(8 * byte).take(8).enumerate() {
        // The first row is the highest bit's.
        for bit in 0..8 {
            block |= (row >> (8 * of_hash + bit) & 1) << (8 * (7 - bit) + 7 - place);
        }
    }
    block
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vbmi+gfni"))]
fn has_instructions() -> bool {
    match_target! {
        "x86_64+avx512f+avx512bw+avx512vbmi+gfni" => true,
        _ => false,
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vbmi+gfni"))]
fn hashes(blocks: &Blocks, keys: &Keys, mask: &[u64; LONG_WORDS]) -> Option<[u64; AT_ONCE]> {
    match_target! {
        "x86_64+avx512f+avx512bw+avx512vbmi+gfni" => Some(by_lanes(blocks, keys, mask)),
        _ => {
            let _ = (blocks, keys, mask);
            None
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
#[inline]
fn by_lanes(Blocks(blocks): &Blocks, keys: &Keys, mask: &[u64; LONG_WORDS]) -> [u64; AT_ONCE] {
    let mut hashes = [0; AT_ONCE];
    for (half, hashes) in hashes.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
        let mut sums = [_mm512_setzero_si512(); LANES];
        for ((words, mask), blocks) in keys.words().iter().zip(mask).zip(blocks.iter()) {
            let words = register(&words.as_chunks::<LANES>().0[half]);
            let words = _mm512_and_si512(words, _mm512_set1_epi64(*mask as i64));
            if _mm512_test_epi64_mask(words, words) == 0 {
                continue;
            }
            let lanes = transposed(words);
            for (sum, block) in sums.iter_mut().zip(blocks) {
                let product = _mm512_gf2p8affine_epi64_epi8::<0>(lanes, register(block));
                *sum = _mm512_xor_si512(*sum, product);
            }
        }
        let [a, b, c, d, e, f, g, h] = sums;
        let ab = _mm512_xor_si512(a, rotated::<7>(b));
        let cd = _mm512_xor_si512(rotated::<6>(c), rotated::<5>(d));
        let ef = _mm512_xor_si512(rotated::<4>(e), rotated::<3>(f));
        let gh = _mm512_xor_si512(rotated::<2>(g), rotated::<1>(h));
        let sum = _mm512_xor_si512(_mm512_xor_si512(ab, cd), _mm512_xor_si512(ef, gh));
        *hashes = numbers(transposed(sum));
    }
    hashes
}

/// Lane s of eight keys' words: byte s of all of them; and back.
#[target_feature(enable = "avx512f,avx512vbmi")]
#[inline]
fn transposed(lanes: __m512i) -> __m512i {
    const PLACES: [u64; LANES] = {
        let (mut places, mut at) = ([0; LANES], 0);
        while at < LANES * LANES {
            places[at / LANES] |= ((LANES * (at % LANES) + at / LANES) as u64) << (8 * (at % LANES));
            at += 1;
        }
        places
    };
    _mm512_permutexvar_epi8(register(&PLACES), lanes)
}

/// Lane l becomes lane l - `BY` modulo 8.
#[target_feature(enable = "avx512f")]
#[inline]
fn rotated<const BY: i32>(lanes: __m512i) -> __m512i {
    _mm512_alignr_epi64::<BY>(lanes, lanes)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn register(numbers: &[u64; LANES]) -> __m512i {
    let [a, b, c, d, e, f, g, h] = numbers.map(|number| number as i64);
    _mm512_set_epi64(h, g, f, e, d, c, b, a)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn numbers(lanes: __m512i) -> [u64; LANES] {
    let [a, b] = pair(_mm512_extracti32x4_epi32::<0>(lanes));
    let [c, d] = pair(_mm512_extracti32x4_epi32::<1>(lanes));
    let [e, f] = pair(_mm512_extracti32x4_epi32::<2>(lanes));
    let [g, h] = pair(_mm512_extracti32x4_epi32::<3>(lanes));
    [a, b, c, d, e, f, g, h]
}

#[target_feature(enable = "avx512f")]
#[inline]
fn pair(lanes: __m128i) -> [u64; 2] {
    [_mm_cvtsi128_si64(lanes) as u64, _mm_cvtsi128_si64(_mm_unpackhi_epi64(lanes, lanes)) as u64]
}
