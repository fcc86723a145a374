//! Place: which bank and row a packet is counted in, free of patterns in its key.
//!
//! The [hash](crate::packet::hash) is linear over GF(2). Where packets differ in a counter alone, such as the IPv4
//! identification or a sequence number, rows picked by its bits would each hold a regular share of the
//! stream, every 64th packet for example, and not a random one: then the spread between rows is not that of random
//! samples, on which the estimates of the deviation and of every interval rest. So the
//! hash's bits 63:48 and 15:0 go through [`ROUNDS`] [rounds](crate::sketch::rounds) that are not linear, with
//! constants 568 to 571 of the seed. Of the *place* that comes out, the upper half's leading zeros pick the bank
//! ([sampler](crate::sketch::sampler)) and the lower half's low bits the row.
//!
//! It has 32 bits although a bank's number and a row need far fewer: packets whose 32 bits agree are counted together
//! whatever the rounds do, and that has to be chance.
//!
//! In a configuration with a [mixing](crate::sketch::mixing), that takes the place of the first round: it is random, and the three others
//! suffice, as the test below shows.
//!
//! # Test plan
//!
//! Counters of four kinds, both hashes, 60 seeds each: the deviation between rows and the mean of half of the packets,
//! of delays that alternate, rise or come in bursts, err no more than with random packets, by chi-squared bounds; without
//! rounds, and with one, they do; with a mixing they err no more either. The counts of all rows have the dispersion of random ones, and without rounds not. Bits 47:16 do
//! not enter. Golden places (`tests/vectors.rs`).

use crate::configuration::Configuration;
use crate::sketch::mixing::Mixing;
use crate::sketch::rounds::Rounds;

pub use crate::sketch::rounds::LANES;

/// Rounds: one more than the test below needs.
pub const ROUNDS: usize = 4;
/// First constant behind those of the digest and of identifiers.
const FIRST_CONSTANT: usize = 24;

/// Rounds behind a mixing.
pub const MIXED_ROUNDS: usize = ROUNDS - 1;

/// What turns hashes into places, picked by a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    rounds: Rounds<ROUNDS>,
    mixed: Option<(Mixing, Rounds<MIXED_ROUNDS>)>,
}

impl Placement {
    /// The placement of this seed, which is the hash function's, without a mixing.
    pub fn new(seed: u64) -> Self {
        Placement { rounds: Rounds::new(FIRST_CONSTANT, seed), mixed: None }
    }

    /// The placement of this seed with a mixing in place of the first round.
    pub fn mixed(seed: u64, mixing: Mixing) -> Self {
        let rounds = Rounds::new(FIRST_CONSTANT + 1, seed);
        Placement { mixed: Some((mixing, rounds)), ..Placement::new(seed) }
    }

    /// The placement of a configuration: if it has a mixing, its own.
    pub fn of(configuration: &Configuration) -> Self {
        let seed = configuration.seed();
        match configuration.has_mixing() {
            true => Placement::mixed(seed, Mixing::own(seed)),
            false => Placement::new(seed),
        }
    }

    /// The mixing, if there is one.
    pub fn mixing(&self) -> Option<&Mixing> {
        self.mixed.as_ref().map(|(mixing, _)| mixing)
    }

    /// The constants of the rounds, that of the first round first.
    pub fn constants(&self) -> &[u16; ROUNDS] {
        self.rounds.constants()
    }

    /// The place of the packet with this 64-bit hash.
    #[inline]
    pub fn place(&self, hash: u64) -> u32 {
        match &self.mixed {
            None => self.rounds.apply(outer_bits(hash)),
            Some((mixing, rounds)) => rounds.apply(mixing.apply(outer_bits(hash))),
        }
    }

    /// The places of [`LANES`] packets, side by side.
    #[inline(always)]
    pub fn places(&self, hashes: [u64; LANES]) -> [u32; LANES] {
        let bits = hashes.map(outer_bits);
        match &self.mixed {
            None => self.rounds.apply_all(bits),
            Some((mixing, rounds)) => rounds.apply_all(mixing.apply_all(bits)),
        }
    }
}

#[inline(always)]
fn outer_bits(hash: u64) -> u32 {
    ((hash >> 48) as u32) << 16 | (hash & 0xffff) as u32
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::packet::hash::{HashKind, LinearHash};
    use crate::packet::identity::KEY_BYTES;
    use std::println;
    use std::vec;

    const PACKETS: u32 = 1 << 15;
    const ROWS: u32 = 1024;
    const SEEDS: u64 = 60;

    /// Keys that differ in a counter: IPv4 identification; that and a TCP sequence number; a sequence number alone; identification,
    /// sequence number and timestamp of RTP.
    const COUNTERS: [fn(u32) -> [u8; KEY_BYTES]; 4] = [
        |number| key(&[(4, &(number as u16).to_be_bytes())]),
        |number| key(&[(4, &(number as u16).to_be_bytes()), (44, &(1448 * number + 12_345).to_be_bytes())]),
        |number| key(&[(44, &number.to_be_bytes())]),
        |number| {
            let (identification, sequence) = (number as u16, (number + 700) as u16);
            key(&[
                (4, &identification.to_be_bytes()),
                (50, &sequence.to_be_bytes()),
                (52, &(160 * number).to_be_bytes()),
            ])
        },
    ];

    /// Delays that follow the packets' order: every other packet late, rising, rising again and again, late in bursts.
    const DELAYS: [fn(u32) -> f64; 4] = [
        |number| f64::from(number & 1),
        |number| f64::from(number),
        |number| f64::from(number % 1024),
        |number| f64::from((number / 500).is_multiple_of(7)),
    ];

    fn key(fields: &[(usize, &[u8])]) -> [u8; KEY_BYTES] {
        let mut key = [0x45; KEY_BYTES];
        fields.iter().for_each(|(place, bytes)| key[*place..place + bytes.len()].copy_from_slice(bytes));
        key
    }

    /// Of half of the packets, in rows: the squared error of the mean and of the deviation between rows, each over what
    /// it is expected to be with random rows; summed over seeds and delays.
    fn squared_errors<const N: usize>(kind: HashKind, counter: fn(u32) -> [u8; KEY_BYTES]) -> [f64; 2] {
        errors_of(kind, counter, |seed| {
            let rounds = Rounds::<N>::new(FIRST_CONSTANT, seed);
            move |hash| rounds.apply(outer_bits(hash))
        })
    }

    fn errors_of<F: Fn(u64) -> u32>(
        kind: HashKind,
        counter: fn(u32) -> [u8; KEY_BYTES],
        placement: impl Fn(u64) -> F,
    ) -> [f64; 2] {
        let delays = DELAYS.map(|delay| (0..PACKETS).map(delay).collect::<vec::Vec<f64>>());
        let truths = delays.each_ref().map(|delays| {
            let mean = delays.iter().sum::<f64>() / f64::from(PACKETS);
            let variance =
                delays.iter().map(|delay| (delay - mean).powi(2)).sum::<f64>() / f64::from(PACKETS);
            (mean, variance)
        });
        let mut errors = [0.0; 2];
        for seed in 1..=SEEDS {
            let (hash, place_of) = (LinearHash::new(kind, seed), placement(seed));
            let mut rows = vec![(0.0, [0.0; DELAYS.len()]); ROWS as usize];
            for number in 0..PACKETS {
                let place = place_of(hash.hash(&counter(number).into()));
                if place >> 31 == 0 {
                    let (count, sums) = &mut rows[(place % ROWS) as usize];
                    *count += 1.0;
                    sums.iter_mut().zip(&delays).for_each(|(sum, delays)| *sum += delays[number as usize]);
                }
            }
            rows.retain(|(count, _)| *count > 0.0);
            let sampled: f64 = rows.iter().map(|(count, _)| count).sum();
            for (delay, (mean, variance)) in truths.into_iter().enumerate() {
                let found = rows.iter().map(|(_, sums)| sums[delay]).sum::<f64>() / sampled;
                let between = |(count, sums): &(f64, [f64; 4])| (sums[delay] - count * found).powi(2) / count;
                let freedom = rows.len() as f64 - 1.0;
                let deviation = (rows.iter().map(between).sum::<f64>() / freedom / variance).sqrt() - 1.0;
                let of_mean = variance / sampled * (1.0 - sampled / f64::from(PACKETS));
                errors[0] += (found - mean).powi(2) / of_mean;
                errors[1] += deviation.powi(2) * 2.0 * freedom;
            }
        }
        errors
    }

    #[test]
    fn rows_of_counters_are_random_samples() {
        // Chi-squared with so many degrees of freedom, five deviations to each side. The four delays of a seed are not quite
        // independent, the deviation's error has heavier tails than a normal one: half as much again.
        let freedom = (SEEDS as usize * DELAYS.len()) as f64;
        let by_chance = |errors: f64| (errors - freedom).abs() < 1.5 * 5.0 * (2.0 * freedom).sqrt();
        for kind in [HashKind::H3, HashKind::Rabin] {
            for (number, counter) in COUNTERS.into_iter().enumerate() {
                let [none, one, two] = [
                    squared_errors::<0>(kind, counter),
                    squared_errors::<1>(kind, counter),
                    squared_errors::<{ ROUNDS - 1 }>(kind, counter),
                ];
                let all = squared_errors::<ROUNDS>(kind, counter);
                let mixed = errors_of(kind, counter, |seed| {
                    let placement = Placement::mixed(seed, Mixing::own(seed));
                    move |hash| placement.place(hash)
                });
                println!(
                    "{kind:?}, counter {number}: {none:.0?} {one:.0?} {two:.0?} {all:.0?} {mixed:.0?} of {freedom}"
                );
                // A counter alone shows whether the test sees anything at all.
                if number == 0 || number == 2 {
                    assert!(!by_chance(none[1]) && !by_chance(one[1]), "the test is blind: {none:?} {one:?}");
                }
                let by_chance = two.into_iter().chain(all).chain(mixed).all(by_chance);
                assert!(by_chance, "{two:?} {all:?} {mixed:?}");
            }
        }
    }

    /// Chi-squared of the counts of all rows, over all seeds, and its degrees of freedom.
    fn dispersion<const N: usize>(kind: HashKind, counter: fn(u32) -> [u8; KEY_BYTES]) -> [f64; 2] {
        let mean = f64::from(PACKETS / ROWS);
        let of_seed = |seed| {
            let (hash, rounds) = (LinearHash::new(kind, seed), Rounds::<N>::new(FIRST_CONSTANT, seed));
            let mut counts = vec![0.0; ROWS as usize];
            for number in 0..PACKETS {
                let place = rounds.apply(outer_bits(hash.hash(&counter(number).into())));
                counts[(place % ROWS) as usize] += 1.0;
            }
            counts.into_iter().map(|count| f64::powi(count - mean, 2) / mean).sum::<f64>()
        };
        [(1..=SEEDS).map(of_seed).sum(), (SEEDS * u64::from(ROWS - 1)) as f64]
    }

    #[test]
    fn counts_of_rows_are_those_of_random_keys() {
        for kind in [HashKind::H3, HashKind::Rabin] {
            for (number, counter) in COUNTERS.into_iter().enumerate() {
                let [linear, freedom] = dispersion::<0>(kind, counter);
                let [found, _] = dispersion::<ROUNDS>(kind, counter);
                println!("{kind:?}, counter {number}: {linear:.0} {found:.0} of {freedom}");
                let by_chance = |squares: f64| (squares - freedom).abs() < 5.0 * (2.0 * freedom).sqrt();
                assert!(by_chance(found), "{found} of {freedom}");
                // Of a counter alone, whole sets of rows stay empty without rounds, or none.
                if number == 0 || number == 2 {
                    assert!(!by_chance(linear), "the test is blind: {linear} of {freedom}");
                }
            }
        }
    }

    #[test]
    fn bits_of_the_digest_do_not_enter() {
        let placement = Placement::new(5);
        assert_eq!(placement.place(0x0000_ffff_ffff_0000), placement.place(0));
        for bit in (0..16).chain(48..64) {
            assert_ne!(placement.place(1 << bit), placement.place(0), "bit {bit}");
        }
    }
}
