//! Digest: 32 bits of a packet that show "the same packets", summed in every cell.
//!
//! A row whose counts agree may still hold different packets at the two ends: as many foreign ones, or early ones of
//! the next interval, as were lost. With digests a row is usable only if its digest sums agree too, and a row with a
//! count of 1 and equal digests at both ends holds the exact delay of one packet. So a bank with a small probability,
//! about rows / packets, is a *singleton bank* without being anything special; its delays give quantiles.
//!
//! # Why not the hash
//!
//! The [hash](crate::packet::hash) is linear over GF(2): packets a, b and c, d with a ^ b = c ^ d have hashes of equal
//! exclusive or, and neighbours in a counter such as the IPv4 identification make many such sets. A digest has to give
//! them equal sums no more often than chance, once in 2^32. It is made of the hash's bits 47:16, which pick neither
//! row nor bank ([place](crate::sketch::place)), by [`ROUNDS`] [rounds](crate::sketch::rounds) with constants 544 to 549
//! of the seed.
//!
//! A cell's *digest sum* adds the halves separately, each modulo 2^16: as good against chance as one sum modulo 2^32,
//! and no carry is longer than 16 bits. It is a sum, not an exclusive or, so that packets of equal identity do not
//! cancel out.
//!
//! The digest is no defence against somebody who knows the seed and forges packets.
//!
//! # Test plan
//!
//! Pairs of packets with equal exclusive or of their keys, counters in the IPv4 identification, for both hashes: as
//! many equal sums as chance gives (32 expected), from four rounds on; millions without a round, and still hundreds
//! with two. Golden digests (`tests/vectors.rs`); sums commute and forget carries.

use crate::sketch::packet_id::PacketId;
pub use crate::sketch::rounds::LANES;
use crate::sketch::rounds::Rounds;
use crate::wire::shape::Kind;

/// Rounds: two more than the test below needs, and as many as hardware has cycles for without waiting.
pub const ROUNDS: usize = 6;
/// Lowest bit of the hash that enters the digest; 32 do.
pub const FIRST_HASH_BIT: u32 = 16;

/// The digest function that a seed picks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketDigest {
    rounds: Rounds<ROUNDS>,
    first_bit: u32,
}

impl PacketDigest {
    /// The digest function of this seed, which is the hash function's.
    pub fn new(seed: u64) -> Self {
        PacketDigest::numbered(0, FIRST_HASH_BIT, seed)
    }

    /// Another digest function of this seed, of the 32 bits of the hash from `first_bit` on, which is 32 at most. Function
    /// n has the constants 544 + 6 n + i.
    pub(crate) fn numbered(number: usize, first_bit: u32, seed: u64) -> Self {
        PacketDigest { rounds: Rounds::new(ROUNDS * number, seed), first_bit }
    }

    /// The lowest bit of the hash that enters the digest; 32 do.
    pub fn first_bit(&self) -> u32 {
        self.first_bit
    }

    /// The constants, that of the first round first.
    pub fn constants(&self) -> &[u16; ROUNDS] {
        self.rounds.constants()
    }

    /// The digest of the packet with this 64-bit hash.
    pub fn digest(&self, hash: u64) -> u32 {
        self.rounds.apply((hash >> self.first_bit) as u32)
    }

    /// The 32 bits of hash that have this digest.
    pub(crate) fn undo(&self, digest: u32) -> u32 {
        self.rounds.undo(digest)
    }

    /// As [`PacketDigest::undo`], side by side.
    #[inline(always)]
    pub(crate) fn undo_all(&self, digests: [u32; LANES]) -> [u32; LANES] {
        self.rounds.undo_all(digests)
    }

    /// The digests of [`LANES`] packets, side by side.
    #[inline(always)]
    pub fn digests(&self, hashes: [u64; LANES]) -> [u32; LANES] {
        self.rounds.apply_all(hashes.map(|hash| (hash >> self.first_bit) as u32))
    }
}

/// The function of the first digest in a cell of this kind, which is summed over all packets too: of a FineComb row and
/// of RDA the identifier's upper half, of an identity table's cell, alone or beside an LDA's rows, and of sRDA the check, and otherwise the seed's digest.
pub fn first(kind: Kind, seed: u64) -> PacketDigest {
    match kind {
        Kind::FINECOMB | Kind::RDA => PacketId::default().halves()[0],
        Kind::IDENTITY_TABLE | Kind::LDA_IDENTITY | Kind::SRDA => *PacketId::default().check(),
        _ => PacketDigest::new(seed),
    }
}

/// The difference of two digest sums: of the halves, each modulo 2^16.
pub fn subtract(a: u32, b: u32) -> u32 {
    let low = a.wrapping_sub(b) & 0xffff;
    let high = (a >> 16).wrapping_sub(b >> 16) << 16;
    high | low
}

/// The sum of two digests, or digest sums: of the halves, each modulo 2^16.
pub fn add(a: u32, b: u32) -> u32 {
    let low = a.wrapping_add(b) & 0xffff;
    let high = (a >> 16).wrapping_add(b >> 16) << 16;
    high | low
}

/// The sum of many digests: that of [`add`], whose halves do not wait for each other.
#[inline(always)]
pub(crate) fn sum(digests: impl Iterator<Item = u32>) -> u32 {
    let (low, high) = digests.fold((0u32, 0u32), |(low, high), digest| {
        (low.wrapping_add(digest), high.wrapping_add(digest >> 16))
    });
    high << 16 | low & 0xffff
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::packet::hash::{HashKind, LinearHash};
    use std::println;
    use std::vec::Vec;

    /// Pairs of packets {i, i ^ d} that differ in the IPv4 identification alone, for 256 d: how many have equal sums
    /// of digests? All pairs of one d have keys, and so hashes, of equal exclusive or.
    fn equal_sums<const N: usize>(kind: HashKind, seed: u64) -> usize {
        let hash = LinearHash::new(kind, seed);
        let rounds = Rounds::<N>::new(0, seed);
        let digests: Vec<u32> = (0..=u16::MAX)
            .map(|identification| {
                let mut key = [0x45; 68];
                key[4..6].copy_from_slice(&identification.to_be_bytes());
                rounds.apply((hash.hash(&key.into()) >> FIRST_HASH_BIT) as u32)
            })
            .collect();
        (1..=256usize)
            .map(|difference| {
                let firsts = (0..digests.len()).filter(|first| *first < first ^ difference);
                let mut sums: Vec<u32> =
                    firsts.map(|first| add(digests[first], digests[first ^ difference])).collect();
                sums.sort_unstable();
                // All that are equal, two by two.
                sums.chunk_by(|a, b| a == b).map(|equal| equal.len() * (equal.len() - 1) / 2).sum::<usize>()
            })
            .sum()
    }

    #[test]
    fn equal_exclusive_ors_give_equal_sums_by_chance_only() {
        // 256 times 2^15 pairs, taken two by two, over 2^32: 32, of which Poisson leaves 8..=64 once in 10^6 draws.
        let by_chance = 8..=64;
        for kind in [HashKind::H3, HashKind::Rabin] {
            for seed in [1, 2, 3] {
                let found = [
                    equal_sums::<0>(kind, seed),
                    equal_sums::<1>(kind, seed),
                    equal_sums::<2>(kind, seed),
                    equal_sums::<3>(kind, seed),
                    equal_sums::<4>(kind, seed),
                    equal_sums::<5>(kind, seed),
                    equal_sums::<ROUNDS>(kind, seed),
                ];
                println!("{kind:?}, seed {seed}: {found:?} equal sums with 0, 1, ... rounds");
                assert!(found[0] > 1000 * by_chance.end(), "the test is blind: {found:?}");
                assert!(found[2] > *by_chance.end(), "the test is blind: {found:?}");
                assert!(found[4..].iter().all(|equal| by_chance.contains(equal)), "{found:?}");
            }
        }
    }

    #[test]
    fn sums_commute_and_keep_their_halves_apart() {
        assert_eq!(add(0xffff_ffff, 0x0001_0001), 0);
        assert_eq!(add(0x0000_ffff, 0x0000_0001), 0);
        assert_eq!(add(0x8001_7fff, 0x8001_0001), 0x0002_8000);
        assert_eq!(add(0x1234_5678, 0x9abc_def0), add(0x9abc_def0, 0x1234_5678));
    }

    #[test]
    fn bits_of_the_place_do_not_enter() {
        let digest = PacketDigest::new(5);
        assert_eq!(digest.digest(0xffff_0000_0000_7fff), digest.digest(0));
        for bit in 16..48 {
            assert_ne!(digest.digest(1 << bit), digest.digest(0), "bit {bit}");
        }
    }
}
