//! COLATE: delays of flows from sums of times alone, noise and all.
//!
//! Shahzad, Liu, *Noise can help: accurate and efficient per-flow latency measurement without packet probing and time stamping*
//! (SIGMETRICS 2014). A *counter vector* has n counters; a flow has m of them, its *subvector*: H(f, 1) to H(f, m). A packet adds
//! its time to one of these, which its own hash picks, and nothing else is kept: no count, no digest (a [measurement point](crate::sketch::flow_vector) counts too). What other flows add to the
//! same counters is noise, taken off when a flow is asked for (`deltaline_estimate::colate`).
//!
//! **H(f, j)** is (p n) >> 32, p what two times four [rounds](crate::sketch::rounds), with the seed's constants 604 to 611, make of the flow's
//! hash and j: the second ones of its bits 63:32 added by exclusive or to what the first ones make of (its bits 31:0 + 0x9e3779b9 j) modulo
//! 2^32. j is (q m) >> 16, q the lower half of the packet's [place](crate::sketch::place), where the paper draws it: so both ends
//! put a packet into the same counter, which deviations need.
//!
//! **Epochs.** When the sum of all counters reaches the threshold, or a counter's bits would not hold a packet, the vector is an epoch, and a new one
//! begins. Times are taken from an origin that both ends know, the beginning of an interval for example: a larger time costs more bits.
//!
//! **Loss** (section 1.4). Several vectors, of which a packet enters one, by the zeros that its place begins with; each counts its packets. A vector
//! whose counts differ at the two ends is not used. The shares add up to 1.
//!
//! # Test plan
//!
//! Against a map filled by hand; epochs end where the threshold says, and hold all packets between them; subvectors are uniform and
//! different; vectors take their shares; refusals.

use crate::sketch::lds::FlowPacket;
use crate::sketch::place::Placement;
use crate::sketch::rounds::Rounds;
use crate::sketch::sampler::Prefixes;
use alloc::vec;
use alloc::vec::Vec;

const FIRST_CONSTANT: usize = 60;
/// Rounds in front of what H adds by exclusive or, and behind it.
pub const ROUNDS: usize = 4;
/// What H adds to the lower half of a flow's hash for every j.
pub const STEP: u32 = 0x9e37_79b9;

/// What a counter vector is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColateParameters {
    /// n, counters of each vector, up to 2^30.
    pub counters: usize,
    /// m, counters of a flow: even, 2 to 65,536, below n.
    pub width: usize,
    /// b, bits of a counter, 1 to 64.
    pub bits: u32,
    /// T, the sum of all counters in nanoseconds at which an epoch ends.
    pub threshold: u64,
    /// The vectors, the first of which has a prefix of length 0.
    pub prefixes: Prefixes,
    /// Seed of all hashes.
    pub seed: u64,
}

/// Why there is no such counter vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColateError {
    /// n is out of range.
    #[error("{0} counters: give 3 to 2^30")]
    Counters(usize),
    /// m is out of range.
    #[error("{0} counters a flow: give an even number from 2 to 65,536 below the number of all counters")]
    Width(usize),
    /// b is out of range.
    #[error("{0} bits a counter: give 1 to 64")]
    Bits(u32),
    /// Some packets are in no vector.
    #[error("the first prefix has length {0}: give 0, so that every packet is in a vector")]
    Prefix(u8),
}

/// Which counters are whose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subvectors {
    counters: usize,
    width: usize,
    rounds: [Rounds<ROUNDS>; 2],
}

impl Subvectors {
    /// Those of flows with `width` counters each of a vector of so many.
    pub fn new(counters: usize, width: usize, seed: u64) -> Self {
        let rounds = [0, 1].map(|which| Rounds::new(FIRST_CONSTANT + ROUNDS * which, seed));
        Subvectors { counters, width, rounds }
    }

    /// The constants of the rounds in front of the exclusive or, and of those behind it, that of the first round first.
    pub fn constants(&self) -> [&[u16; ROUNDS]; 2] {
        self.rounds.each_ref().map(Rounds::constants)
    }

    /// H(f, j), j from 0 on.
    #[inline]
    pub fn counter(&self, flow: u64, j: usize) -> usize {
        let [first, second] = &self.rounds;
        let low = (flow as u32).wrapping_add((j as u32).wrapping_mul(STEP));
        let place = second.apply(first.apply(low) ^ (flow >> 32) as u32);
        ((u64::from(place) * self.counters as u64) >> 32) as usize
    }

    /// A flow's counters, the first one first; one may come twice.
    pub fn of(&self, flow: u64) -> impl Iterator<Item = usize> + '_ {
        (0..self.width).map(move |j| self.counter(flow, j))
    }
}

/// One vector of counters of an epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterVector {
    /// The counters, in nanoseconds.
    pub counters: Vec<u64>,
    /// Packets in it.
    pub packets: u64,
}

/// A stretch of packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Epoch {
    /// The first packet's time and the last one's.
    pub span: [u64; 2],
    /// Its vectors, in the order of prefixes.
    pub vectors: Vec<CounterVector>,
}

/// One end's counters.
#[derive(Clone, Debug)]
pub struct Colate {
    parameters: ColateParameters,
    placement: Placement,
    subvectors: Subvectors,
    epochs: Vec<Epoch>,
    current: Option<Epoch>,
    sum: u64,
    is_overflown: bool,
}

impl Colate {
    /// Counters that are zero.
    ///
    /// # Errors
    ///
    /// [`ColateError`].
    pub fn new(parameters: ColateParameters) -> Result<Self, ColateError> {
        let ColateParameters { counters, width, bits, prefixes, seed, .. } = parameters;
        if !(3..=1 << 30).contains(&counters) {
            return Err(ColateError::Counters(counters));
        }
        if !(2..=1 << 16).contains(&width) || width % 2 == 1 || width >= counters {
            return Err(ColateError::Width(width));
        }
        if !(1..=64).contains(&bits) {
            return Err(ColateError::Bits(bits));
        }
        if let Some(&prefix) = prefixes.lengths().first().filter(|prefix| **prefix > 0) {
            return Err(ColateError::Prefix(prefix));
        }
        let (placement, subvectors) = (Placement::new(seed), Subvectors::new(counters, width, seed));
        let (epochs, current, sum, is_overflown) = (vec![], None, 0, false);
        Ok(Colate { parameters, placement, subvectors, epochs, current, sum, is_overflown })
    }

    /// Adds a packet, whose time is from the origin on; its octets and weight do not matter.
    #[inline]
    pub fn add(&mut self, packet: &FlowPacket) {
        let place = self.placement.place(packet.packet);
        let j = ((place & 0xffff) as usize * self.parameters.width) >> 16;
        let counter = self.subvectors.counter(packet.flow, j);
        let vector = self.parameters.prefixes.bank(place).unwrap_or(0);
        let time = packet.nanoseconds;
        let most = u64::MAX >> (64 - self.parameters.bits);
        let held = |epoch: &Epoch| epoch.vectors.get(vector)?.counters.get(counter).copied();
        let is_full =
            self.current.as_ref().and_then(held).is_some_and(|held| held > most.saturating_sub(time));
        if is_full || self.sum >= self.parameters.threshold {
            self.epochs.extend(self.current.take());
            self.sum = 0;
        }
        self.is_overflown |= time > most;
        let ColateParameters { counters, prefixes, .. } = &self.parameters;
        let blank = || CounterVector { counters: vec![0; *counters], packets: 0 };
        let epoch = self
            .current
            .get_or_insert_with(|| Epoch { span: [time; 2], vectors: vec![blank(); prefixes.banks()] });
        epoch.span = [epoch.span[0].min(time), epoch.span[1].max(time)];
        self.sum = self.sum.saturating_add(time);
        if let Some(vector) = epoch.vectors.get_mut(vector) {
            vector.packets += 1;
            if let Some(held) = vector.counters.get_mut(counter) {
                *held = held.saturating_add(time);
            }
        }
    }

    /// Whether a single packet's time has more bits than a counter, so that its epoch says nothing.
    pub fn is_overflown(&self) -> bool {
        self.is_overflown
    }

    /// All epochs, the last of which ends here.
    pub fn finish(mut self) -> Vec<Epoch> {
        self.epochs.extend(self.current.take());
        self.epochs
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::BTreeMap;
    use xxhash_rust::xxh3::xxh3_64_with_seed;

    fn hash(number: u64, purpose: u64) -> u64 {
        xxh3_64_with_seed(&number.to_le_bytes(), purpose)
    }

    fn packet(flow: u64, number: u64, nanoseconds: u64) -> FlowPacket {
        FlowPacket { flow: hash(flow, 1), packet: hash(number, 2), nanoseconds, octets: 0, weight: 1 }
    }

    fn parameters(prefixes: &[u8]) -> ColateParameters {
        let prefixes = Prefixes::new(prefixes).unwrap();
        ColateParameters { counters: 100, width: 8, bits: 64, threshold: u64::MAX, prefixes, seed: 5 }
    }

    #[test]
    fn counters_by_hand() {
        let mut colate = Colate::new(parameters(&[0, 2])).unwrap();
        let mut expected: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        let mut packets = [0; 2];
        for number in 0..2000 {
            let packet = packet(number % 17, number, 3 * number);
            colate.add(&packet);
            let place = Placement::new(5).place(packet.packet);
            let j = u64::from(place & 0xffff) * 8 / 65_536;
            let [first, second] = [60, 64].map(|constant| Rounds::<4>::new(constant, 5));
            let low = (packet.flow & 0xffff_ffff).wrapping_add(j * 0x9e37_79b9) as u32;
            let p = second.apply(first.apply(low) ^ (packet.flow >> 32) as u32);
            let vector = usize::from(place.leading_zeros() >= 2);
            *expected.entry((vector, (u64::from(p) * 100 / (1 << 32)) as usize)).or_default() += 3 * number;
            packets[vector] += 1;
        }
        let epochs = colate.finish();
        assert_eq!((epochs.len(), epochs[0].span), (1, [0, 5997]));
        for (number, vector) in epochs[0].vectors.iter().enumerate() {
            assert_eq!(vector.packets, packets[number]);
            for (at, counter) in vector.counters.iter().enumerate() {
                assert_eq!(*counter, expected.get(&(number, at)).copied().unwrap_or(0));
            }
        }
        // A quarter of them, five standard deviations.
        assert!((f64::from(packets[1] as u32) - 500.0).abs() < 5.0 * 375f64.sqrt());
    }

    #[test]
    fn epochs_end_at_the_threshold_and_before_counters_overflow() {
        let mut colate = Colate::new(ColateParameters { threshold: 1000, ..parameters(&[0]) }).unwrap();
        (0..95).for_each(|number| colate.add(&packet(number, number, 100)));
        let epochs = colate.finish();
        let packets: Vec<u64> = epochs.iter().map(|epoch| epoch.vectors[0].packets).collect();
        assert_eq!(packets, [10, 10, 10, 10, 10, 10, 10, 10, 10, 5]);

        let mut colate = Colate::new(ColateParameters { bits: 8, ..parameters(&[0]) }).unwrap();
        (0..200).for_each(|number| colate.add(&packet(1, number, 100)));
        assert!(!colate.is_overflown());
        let epochs = colate.finish();
        assert!(
            epochs.len() > 9
                && epochs.iter().all(|epoch| epoch.vectors[0].counters.iter().all(|held| *held <= 255))
        );
        assert_eq!(epochs.iter().map(|epoch| epoch.vectors[0].packets).sum::<u64>(), 200);
        let mut colate = Colate::new(ColateParameters { bits: 8, ..parameters(&[0]) }).unwrap();
        colate.add(&packet(1, 1, 256));
        assert!(colate.is_overflown());
    }

    #[test]
    fn subvectors_are_uniform() {
        for seed in 0..20 {
            let subvectors = Subvectors::new(64, 8, seed);
            let mut found = [0u32; 64];
            for flow in 0..800u64 {
                subvectors.of(flow << 11).for_each(|counter| found[counter] += 1);
            }
            // Chi-square with 63 degrees of freedom exceeds 138 or falls below 21 once in about 1e7 draws.
            let chi: f64 = found.iter().map(|&n| (f64::from(n) - 100.0).powi(2) / 100.0).sum();
            assert!((21.0..138.0).contains(&chi), "{seed}: {chi}");
        }
    }

    #[test]
    fn refusals() {
        let refused = |parameters| Colate::new(parameters).unwrap_err();
        assert_eq!(refused(ColateParameters { counters: 2, ..parameters(&[0]) }), ColateError::Counters(2));
        for width in [0, 7, 100, 1 << 17] {
            assert_eq!(refused(ColateParameters { width, ..parameters(&[0]) }), ColateError::Width(width));
        }
        assert_eq!(refused(ColateParameters { bits: 65, ..parameters(&[0]) }), ColateError::Bits(65));
        assert_eq!(refused(parameters(&[1, 2])), ColateError::Prefix(1));
    }
}
