//! Packet identifier: 64 bits that stand for a packet, and their check.
//!
//! The [hash](crate::packet::hash) is linear, so that sums of it, and rows picked by it, follow the pattern of the keys.
//! An identifier is made of all of its 64 bits: each half goes through the rounds of the
//! [digest](crate::sketch::digest), the upper one with constants 550 to 555, the lower one with 556 to 561. The *check* is
//! the digest of the hash's bits 47:16 with constants 562 to 567. The constants are those of seed 0, whatever
//! the seed is: the hash is keyed already, and whoever reads a table needs no seed. Rounds can be undone, so
//! that an identifier yields the hash, and the hash the check.
//!
//! Cells add identifiers in four parts of 16 bits, each modulo 2^16, so that no carry is longer than that.
//!
//! # Test plan
//!
//! Identifiers of one bit each differ, and checks of each bit that enters them; an identifier's hash is the one that it
//! was made of; none of the parts follows a counter in the key; golden values (`tests/vectors.rs`).

use crate::sketch::digest::{LANES, PacketDigest};
use multiversion::multiversion;

/// The parts of an identifier.
pub const PARTS: usize = 4;

/// What makes identifiers and checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketId {
    /// Of the upper and of the lower half of the hash.
    halves: [PacketDigest; 2],
    check: PacketDigest,
}

impl Default for PacketId {
    fn default() -> Self {
        PacketId {
            halves: [PacketDigest::numbered(1, 32, 0), PacketDigest::numbered(2, 0, 0)],
            check: PacketDigest::numbered(3, 16, 0),
        }
    }
}

impl PacketId {
    /// The functions of the upper and of the lower half.
    pub fn halves(&self) -> &[PacketDigest; 2] {
        &self.halves
    }

    /// The function of the check.
    pub fn check(&self) -> &PacketDigest {
        &self.check
    }

    /// The identifier of the packet with this 64-bit hash, upper half first.
    pub fn halves_of(&self, hash: u64) -> [u32; 2] {
        self.halves.map(|half| half.digest(hash))
    }

    /// The check of the packet with this 64-bit hash.
    pub fn check_of(&self, hash: u64) -> u32 {
        self.check.digest(hash)
    }

    /// The checks of the packets with these identifiers, the upper halves first, side by side.
    #[inline]
    pub fn checks_of(&self, halves: [[u32; LANES]; 2]) -> [u32; LANES] {
        checks_of(self, halves)
    }

    /// The hash of the packet with this identifier.
    pub fn hash_of(&self, halves: [u32; 2]) -> u64 {
        let [upper, lower] = [0, 1].map(|half| u64::from(self.halves[half].undo(halves[half])));
        upper << 32 | lower
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn checks_of(id: &PacketId, [upper, lower]: [[u32; LANES]; 2]) -> [u32; LANES] {
    let [upper, lower] = [id.halves[0].undo_all(upper), id.halves[1].undo_all(lower)];
    let mut hashes = [0; LANES];
    // Not mapped: closures do not have the instructions that this function may use.
    for lane in 0..LANES {
        hashes[lane] = u64::from(upper[lane]) << 32 | u64::from(lower[lane]);
    }
    id.check.digests(hashes)
}

/// Part `number` of an identifier, from the most significant on.
pub fn part(halves: [u32; 2], number: usize) -> u16 {
    let half = halves[number / 2 % 2];
    if number.is_multiple_of(2) { (half >> 16) as u16 } else { half as u16 }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::packet::hash::{HashKind, LinearHash};
    use std::collections::HashSet;
    use std::vec::Vec;

    #[test]
    fn each_bit_of_the_hash_enters() {
        let id = PacketId::default();
        let hashes: Vec<u64> = (0..64).map(|bit| 1 << bit).chain([0]).collect();
        let halves: HashSet<[u32; 2]> = hashes.iter().map(|hash| id.halves_of(*hash)).collect();
        let checks: HashSet<u32> = hashes.iter().map(|hash| id.check_of(*hash)).collect();
        assert_eq!((halves.len(), checks.len()), (65, 33));
    }

    #[test]
    fn an_identifier_says_its_hash() {
        let id = PacketId::default();
        for number in 0..10_000u64 {
            let hash = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            assert_eq!(id.hash_of(id.halves_of(hash)), hash);
            let hashes: [u64; LANES] = core::array::from_fn(|lane| hash.rotate_left(lane as u32));
            let halves = [0, 1].map(|half| hashes.map(|hash| id.halves_of(hash)[half]));
            assert_eq!(id.checks_of(halves), hashes.map(|hash| id.check_of(hash)));
        }
    }

    #[test]
    fn parts_of_counters_are_spread_as_by_chance() {
        // 2^16 counters in 2^10 rows by a part's low bits: squares of counts around 64 add up to 1024 (64 + 64^2) in
        // mean, with deviation 64 sqrt(2048). A linear hash gives every row 64, or none to half of them: 65,536 less,
        // or far more.
        let expected = 1024.0 * (64.0 + 64.0 * 64.0);
        let tolerance = 5.0 * 64.0 * 2048f64.sqrt();
        let id = PacketId::default();
        for kind in [HashKind::H3, HashKind::Rabin] {
            for seed in 1..4 {
                let hash = LinearHash::new(kind, seed);
                let mut rows = std::vec![[0u32; PARTS]; 1024];
                for identification in 0..=u16::MAX {
                    let mut key = [0x45; 68];
                    key[4..6].copy_from_slice(&identification.to_be_bytes());
                    let halves = id.halves_of(hash.hash(&key.into()));
                    (0..PARTS).for_each(|number| rows[usize::from(part(halves, number)) % 1024][number] += 1);
                }
                for number in 0..PARTS {
                    let squares: f64 = rows.iter().map(|row| f64::from(row[number]).powi(2)).sum();
                    assert!((squares - expected).abs() < tolerance, "{kind:?} {seed} {number}: {squares}");
                }
            }
        }
    }

    #[test]
    fn parts_make_up_the_identifier() {
        let halves = [0x1234_5678, 0x9abc_def0];
        assert_eq!([0, 1, 2, 3].map(|number| part(halves, number)), [0x1234, 0x5678, 0x9abc, 0xdef0]);
    }
}
