//! Configuration: what both ends of a measurement must have in common.
//!
//! # Test plan
//!
//! Every refusal; the digest changes with every setting, but not with lengths that adapt; a golden digest
//! (`tests/vectors.rs`).

use crate::hash::HashKind;
use crate::sampler::{MAX_BANKS, NO_BANK, PrefixError, Prefixes};
use xxhash_rust::xxh3::xxh3_64;

/// Fewest rows of a bank: one block of a control frame.
pub const MIN_ROWS: usize = 8;
/// Most rows of a bank.
pub const MAX_ROWS: usize = 32_768;
/// What stands in the digest for the first prefix length if lengths adapt: no length, and not the mark of no bank.
pub const ADAPTIVE: u8 = 0xfe;

/// What a user sets; [`Configuration::new`] checks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings<'a> {
    /// The hash function.
    pub hash: HashKind,
    /// The hash function's seed, the same at both ends.
    pub seed: u64,
    /// Rows of each bank: a power of two, 8..=32,768.
    pub rows: usize,
    /// Prefix length of each bank in bits, ascending; bank j samples with probability 2^-k_j.
    pub prefixes: &'a [u8],
    /// The prefix lengths are only those after reset; others may be scheduled
    /// ([`MeasurementPoint::schedule_prefixes`](crate::point::MeasurementPoint::schedule_prefixes)).
    pub adaptive: bool,
    /// Number of the measurement segment, to tell several measurements apart.
    pub segment: u32,
}

impl Default for Settings<'_> {
    /// The LDA paper's example of section V: banks of 1024 rows, probabilities 1/2 and 1/64.
    fn default() -> Self {
        Settings { hash: HashKind::H3, seed: 1, rows: 1024, prefixes: &[1, 6], adaptive: false, segment: 0 }
    }
}

/// A checked configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration {
    hash: HashKind,
    seed: u64,
    rows: usize,
    prefixes: Prefixes,
    adaptive: bool,
    segment: u32,
}

/// Why settings are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigurationError {
    /// The number of rows is not a power of two in range.
    #[error("{0} rows: give a power of two from {MIN_ROWS} to {MAX_ROWS}")]
    Rows(usize),
    /// The prefix lengths are refused.
    #[error(transparent)]
    Prefixes(#[from] PrefixError),
}

impl Configuration {
    /// Checks settings.
    ///
    /// # Errors
    ///
    /// [`ConfigurationError`] with what is wrong and what is allowed.
    pub fn new(settings: Settings) -> Result<Self, ConfigurationError> {
        let Settings { hash, seed, rows, prefixes, adaptive, segment } = settings;
        if !rows.is_power_of_two() || !(MIN_ROWS..=MAX_ROWS).contains(&rows) {
            return Err(ConfigurationError::Rows(rows));
        }
        Ok(Configuration { hash, seed, rows, prefixes: Prefixes::new(prefixes)?, adaptive, segment })
    }

    /// The hash function's kind.
    pub fn hash(&self) -> HashKind {
        self.hash
    }

    /// The hash function's seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Rows of each bank.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Width of a row index in bits: 3..=15.
    pub fn row_bits(&self) -> u32 {
        self.rows.ilog2()
    }

    /// The banks; if they adapt, as they are after reset.
    pub fn prefixes(&self) -> &Prefixes {
        &self.prefixes
    }

    /// Whether the prefix lengths may change from interval to interval.
    pub fn adaptive(&self) -> bool {
        self.adaptive
    }

    /// Number of the measurement segment.
    pub fn segment(&self) -> u32 {
        self.segment
    }

    /// Digest of all that must be equal at both ends: xxh3 over (frame version, hash kind, seed, rows, prefix
    /// lengths, segment) as 1 + 1 + 8 + 4 + 8 + 4 bytes, big-endian. The seed cannot be read back from it.
    ///
    /// Lengths that adapt are not in it: in their place stand [`ADAPTIVE`], the number of banks, and six bytes 255.
    pub fn digest(&self) -> u64 {
        let mut bytes = [0; 26];
        bytes[0] = crate::frame::VERSION;
        bytes[1] = self.hash as u8;
        bytes[2..10].copy_from_slice(&self.seed.to_be_bytes());
        bytes[10..14].copy_from_slice(&(self.rows as u32).to_be_bytes());
        bytes[14..22].copy_from_slice(&self.banks_in_digest());
        bytes[22..].copy_from_slice(&self.segment.to_be_bytes());
        xxh3_64(&bytes)
    }

    fn banks_in_digest(&self) -> [u8; MAX_BANKS] {
        if !self.adaptive {
            return self.prefixes.to_bytes();
        }
        let mut bytes = [NO_BANK; MAX_BANKS];
        bytes[0] = ADAPTIVE;
        bytes[1] = self.prefixes.banks() as u8;
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration(settings: Settings) -> Configuration {
        Configuration::new(settings).unwrap()
    }

    #[test]
    fn refusals() {
        for rows in [0, 4, 1000, 65_536] {
            let refused = Configuration::new(Settings { rows, ..Settings::default() });
            assert_eq!(refused, Err(ConfigurationError::Rows(rows)));
        }
        let refused = Configuration::new(Settings { prefixes: &[6, 1], ..Settings::default() });
        assert_eq!(refused, Err(ConfigurationError::Prefixes(PrefixError::NotAscending(6, 1))));
    }

    #[test]
    fn the_digest_covers_every_setting() {
        let base = Settings::default();
        let variants = [
            base,
            Settings { hash: HashKind::Rabin, ..base },
            Settings { seed: 2, ..base },
            Settings { rows: 512, ..base },
            Settings { prefixes: &[1, 5], ..base },
            Settings { prefixes: &[1], ..base },
            Settings { segment: 9, ..base },
            Settings { adaptive: true, ..base },
            Settings { adaptive: true, prefixes: &[1], ..base },
        ];
        for (i, a) in variants.iter().enumerate() {
            for b in &variants[i + 1..] {
                assert_ne!(configuration(*a).digest(), configuration(*b).digest());
            }
        }
    }

    #[test]
    fn the_digest_does_not_cover_lengths_that_adapt() {
        let base = Settings { adaptive: true, ..Settings::default() };
        let other = Settings { prefixes: &[0, 16], ..base };
        assert_eq!(configuration(base).digest(), configuration(other).digest());
    }
}
