//! Banks with any number of rows and any sampling probability, as the paper's experiments need them: for example
//! three banks with a third of the counters each, p = alpha m / (L + 1).
//!
//! A packet's hash selects a bank as in [`deltaline_model::sketch::sampler`], with a limit in place of a number of
//! leading zeros: the packet belongs to the last bank whose limit its hash does not exceed. Limits fall from bank
//! to bank, so banks are disjoint. With limits 2^(64-k) - 1 and a power of two rows this is exactly the hardware's
//! rule.
//!
//! # Test plan
//!
//! The model's bank and row for its own configurations; shares of random hashes; the paper's probabilities by hand.

use deltaline_model::sketch::sampler::Prefixes;

/// The paper's alpha.
pub const ALPHA: f64 = 0.5;

/// Banks with equal numbers of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Banks {
    rows: u32,
    /// The largest hash of each bank.
    limits: Vec<u64>,
}

impl Banks {
    /// Banks of `rows` rows that sample these disjoint shares of the packets; the shares add up to at most 1.
    pub fn new(rows: u32, shares: &[f64]) -> Self {
        let mut limits = Vec::with_capacity(shares.len());
        let mut below = 0.0;
        for share in shares.iter().rev() {
            below += share;
            // A share of nothing would still sample one hash in 2^64, which does not matter.
            limits.push((f64::min(below, 1.0) * 2f64.powi(64)) as u128);
        }
        let limits = limits.iter().rev().map(|limit| limit.saturating_sub(1) as u64).collect();
        Banks { rows, limits }
    }

    /// The paper's banks (section IV-B), with `counters` rows in all. Each bank is tuned to one of `losses`, which
    /// are shares of the `packets` sent, by p = alpha m / (L + 1).
    pub fn tuned(counters: u32, losses: &[f64], packets: usize) -> Self {
        let rows = counters / losses.len() as u32;
        let shares: Vec<f64> = losses
            .iter()
            .map(|loss| (ALPHA * f64::from(rows) / (loss * packets as f64 + 1.0)).min(1.0))
            .collect();
        Banks::new(rows, &shares)
    }

    /// The banks of the hardware with these prefixes.
    pub fn of_prefixes(rows: u32, prefixes: &Prefixes) -> Self {
        let limit = |length: &u8| u64::MAX >> *length;
        Banks { rows, limits: prefixes.lengths().iter().map(limit).collect() }
    }

    /// Rows of a bank.
    pub fn rows(&self) -> usize {
        self.rows as usize
    }

    /// Rows of all banks.
    pub fn cells(&self) -> usize {
        self.rows() * self.limits.len()
    }

    /// The cell of a packet with this hash, bank-major; none when it is not sampled.
    #[inline]
    pub fn cell(&self, hash: u64) -> Option<usize> {
        let bank = self.limits.iter().rposition(|&limit| hash <= limit)?;
        Some(bank * self.rows() + (hash as u32 % self.rows) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltaline_traffic::random::Seed;

    #[test]
    fn prefixes_are_the_models() {
        let prefixes = Prefixes::new(&[0, 3, 7]).unwrap();
        let banks = Banks::of_prefixes(64, &prefixes);
        let shares: Vec<f64> = (0..3).map(|bank| prefixes.probability(bank)).collect();
        assert_eq!(banks, Banks::new(64, &shares));
        let mut random = Seed::new(1).random();
        for _ in 0..10_000 {
            // With many leading zeros too.
            let hash = random.bits() >> (random.bits() % 12);
            let expected = prefixes.bank((hash >> 32) as u32).map(|bank| bank * 64 + (hash % 64) as usize);
            assert_eq!(banks.cell(hash), expected);
        }
    }

    #[test]
    fn shares_are_the_requested_ones() {
        let shares = [0.5, 0.3, 0.01];
        let banks = Banks::new(341, &shares);
        assert_eq!(banks.cells(), 1023);
        let (mut random, mut found, trials) = (Seed::new(2).random(), [0.0; 3], 200_000);
        for _ in 0..trials {
            if let Some(cell) = banks.cell(random.bits()) {
                found[cell / 341] += 1.0;
            }
        }
        for (count, share) in found.iter().zip(shares) {
            let expected = share * f64::from(trials);
            assert!((count - expected).abs() < 5.0 * (expected * (1.0 - share)).sqrt(), "{found:?}");
        }
    }

    #[test]
    fn the_papers_probabilities() {
        // 5 million packets, two banks of 512: 0.5 * 512 / 25,001 and 0.5 * 512 / 500,001.
        let two = Banks::tuned(1024, &[0.005, 0.1], 5_000_000);
        assert_eq!(two, Banks::new(512, &[256.0 / 25_001.0, 256.0 / 500_001.0]));
        // Fewer losses than rows: everything is sampled.
        assert_eq!(Banks::tuned(1024, &[0.0001], 5_000_000).limits, [u64::MAX]);
    }
}
