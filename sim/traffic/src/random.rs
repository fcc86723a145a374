//! Random numbers that are the same on every platform and in every version: the named generator xoshiro256++, and
//! nothing else of the `rand` crate. Logarithms and powers come from the platform's mathematical library, whose
//! last digit may differ; values drawn with them are rounded to nanoseconds or packets.
//!
//! # Test plan
//!
//! Reference output of xoshiro256++; seeds with different labels differ; moments of the distributions.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

/// The start of a sequence of random numbers. [`Seed::with`] derives independent seeds, one for each purpose, so
/// that changing the use of one does not change the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(u64);

impl Seed {
    /// The seed of this number.
    pub fn new(number: u64) -> Self {
        Seed(number)
    }

    /// The seed under this one for the purpose, run or place that `label` numbers.
    #[must_use]
    pub fn with(self, label: u64) -> Self {
        // The finaliser of SplitMix64, once for each label.
        let mut mixed = self.0.rotate_left(17) ^ label.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Seed(mixed ^ (mixed >> 31))
    }

    /// The random numbers that start here.
    pub fn random(self) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(self.0))
    }
}

/// A sequence of random numbers.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform within (0, 1].
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() <= probability
    }

    /// Exponentially distributed with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.uniform().ln()
    }

    /// Standard normal, by the method of Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// The number of trials that fail before the first success, when each succeeds with `probability`:
    /// geometrically distributed from 0 on. It is 2^64 - 1 when none ever succeeds.
    pub fn failures(&mut self, probability: f64) -> u64 {
        if probability >= 1.0 {
            return 0;
        }
        if probability > 0.0 {
            // Rounds down; saturates at the largest number.
            (self.uniform().ln() / (-probability).ln_1p()) as u64
        } else {
            u64::MAX
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        // The first outputs of Blackman's and Vigna's xoshiro256++ from the state 1, 2, 3, 4.
        let mut bytes = [0; 32];
        for (byte, value) in (0..32).step_by(8).zip([1u64, 2, 3, 4]) {
            bytes[byte..byte + 8].copy_from_slice(&value.to_le_bytes());
        }
        let mut random = Random(Xoshiro256PlusPlus::from_seed(bytes));
        assert_eq!(
            [random.bits(), random.bits(), random.bits()],
            [41_943_041, 58_720_359, 3_588_806_011_781_223]
        );
    }

    #[test]
    fn labels_make_different_seeds() {
        let seed = Seed::new(1);
        let seeds =
            [seed, seed.with(0), seed.with(1), seed.with(0).with(1), seed.with(1).with(0), Seed::new(2)];
        for (i, a) in seeds.iter().enumerate() {
            assert!(seeds[i + 1..].iter().all(|b| a != b));
        }
        assert_eq!(seed.with(7).random().bits(), seed.with(7).random().bits());
    }

    #[test]
    fn moments() {
        let mut random = Seed::new(3).random();
        let trials = 100_000;
        let mut mean = |draw: fn(&mut Random) -> f64| {
            (0..trials).map(|_| draw(&mut random)).sum::<f64>() / f64::from(trials)
        };
        // Five standard deviations each.
        let root = f64::from(trials).sqrt();
        assert!((mean(Random::uniform) - 0.5).abs() < 5.0 * 12f64.sqrt().recip() / root);
        assert!((mean(|random| random.exponential(7.0)) - 7.0).abs() < 5.0 * 7.0 / root);
        let failures = mean(|random| random.failures(0.1) as f64);
        assert!((failures - 9.0).abs() < 5.0 * 90f64.sqrt() / root, "{failures}");
        assert!((mean(|random| f64::from(u8::from(random.chance(0.3)))) - 0.3).abs() < 5.0 * 0.46 / root);
    }

    #[test]
    fn certain_and_impossible_success() {
        let mut random = Seed::new(4).random();
        assert_eq!(
            [random.failures(1.0), random.failures(0.0), random.failures(-1.0)],
            [0, u64::MAX, u64::MAX]
        );
    }
}
