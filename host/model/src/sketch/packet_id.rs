//! Packet identifier: 64 bits that stand for a packet, and their check.
//!
//! The [hash](crate::packet::hash) is linear, so that sums of it, and rows picked by it, follow the pattern of the keys.
//! An identifier is made of all of its 64 bits: each half goes through the rounds of the
//! [digest](crate::sketch::digest), the upper one with constants 550 to 555, the lower one with 556 to 561. A half can be
//! undone, so that different hashes have different identifiers.
//!
//! Cells add identifiers in four parts of 16 bits, each modulo 2^16, so that no carry is longer than that.
//!
//! The *check* of an identifier is a digest of both halves, added part by part, with the constants of seed 0: who
//! reads a table needs no seed to see whether a sum of identifiers is that of one packet.
//!
//! # Test plan
//!
//! Identifiers and checks of one bit each differ; none of the parts follows a counter in the key; parts add as whole
//! identifiers do; golden values (`tests/vectors.rs`).

use crate::sketch::digest::{PacketDigest, add};

/// The parts of an identifier.
pub const PARTS: usize = 4;

/// The identifiers that a seed picks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketId {
    /// Of the upper and of the lower half of the hash.
    halves: [PacketDigest; 2],
}

impl PacketId {
    /// The identifiers of this seed, which is the hash function's.
    pub fn new(seed: u64) -> Self {
        PacketId { halves: [PacketDigest::numbered(1, 32, seed), PacketDigest::numbered(2, 0, seed)] }
    }

    /// The functions of the upper and of the lower half.
    pub fn halves(&self) -> &[PacketDigest; 2] {
        &self.halves
    }

    /// The identifier of the packet with this 64-bit hash, upper half first.
    pub fn halves_of(&self, hash: u64) -> [u32; 2] {
        self.halves.map(|half| half.digest(hash))
    }
}

/// What checks an identifier: its halves, added, through the rounds of the digest of seed 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdCheck(PacketDigest);

impl Default for IdCheck {
    fn default() -> Self {
        IdCheck(PacketDigest::numbered(0, 0, 0))
    }
}

impl IdCheck {
    /// Its digest function, of the halves' sum.
    pub fn digest(&self) -> &PacketDigest {
        &self.0
    }

    /// The check of an identifier.
    pub fn of(&self, halves: [u32; 2]) -> u32 {
        self.0.digest(add(halves[0], halves[1]).into())
    }
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
        let (id, check) = (PacketId::new(9), IdCheck::default());
        let halves: Vec<[u32; 2]> =
            (0..64).map(|bit| id.halves_of(1 << bit)).chain([id.halves_of(0)]).collect();
        assert_eq!(halves.iter().collect::<HashSet<_>>().len(), 65);
        assert_eq!(halves.iter().map(|halves| check.of(*halves)).collect::<HashSet<_>>().len(), 65);
    }

    #[test]
    fn parts_of_counters_are_spread_as_by_chance() {
        // 2^16 counters in 2^10 rows by a part's low bits: squares of counts around 64 add up to 1024 (64 + 64^2) in
        // mean, with deviation 64 sqrt(2048). A linear hash gives every row 64, or none to half of them: 65,536 less,
        // or far more.
        let expected = 1024.0 * (64.0 + 64.0 * 64.0);
        let tolerance = 5.0 * 64.0 * 2048f64.sqrt();
        for kind in [HashKind::H3, HashKind::Rabin] {
            for seed in 1..4 {
                let (hash, id) = (LinearHash::new(kind, seed), PacketId::new(seed));
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
