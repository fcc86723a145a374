//! Sampler: which bank a packet belongs to, if any.
//!
//! Bank j has a *prefix length* k_j: a packet belongs to the bank with the longest prefix that its
//! [place](crate::sketch::place) satisfies, that is, with k_j leading zeros (LDA paper, section III-B-4). Prefix lengths ascend, so banks are disjoint and
//! bank j samples the share 2^-k_j - 2^-k_(j+1) of the packets, the last bank 2^-k_j.
//!
//! # Test plan
//!
//! The paper's example (prefixes 3 and 7) bit by bit; every leading-zero count against the definition; rejection of
//! what is not ascending, empty, too many or too long.

/// Most banks of one measurement.
pub const MAX_BANKS: usize = 8;
/// Longest prefix: the rarest bank samples one packet in 2^16.
pub const MAX_PREFIX: u8 = 16;
/// What stands in a control frame for a bank that does not exist.
pub const NO_BANK: u8 = 0xff;

/// The prefix lengths of the banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Prefixes {
    lengths: [u8; MAX_BANKS],
    banks: u8,
}

/// Why prefix lengths are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrefixError {
    /// No bank, or more than [`MAX_BANKS`].
    #[error("{0} banks: give between 1 and {MAX_BANKS} prefix lengths")]
    Banks(usize),
    /// A prefix longer than [`MAX_PREFIX`].
    #[error("prefix length {0} is too long: a bank samples at least one packet in 2^{MAX_PREFIX}")]
    TooLong(u8),
    /// Two banks would claim the same packets.
    #[error("prefix length {1} follows {0}: probabilities must fall from bank to bank, so lengths must rise")]
    NotAscending(u8, u8),
}

impl Prefixes {
    /// Prefix lengths in leading zero bits, one a bank, ascending.
    ///
    /// # Errors
    ///
    /// [`PrefixError`] unless there are 1..=8 of them, strictly ascending, at most 16.
    pub fn new(prefixes: &[u8]) -> Result<Self, PrefixError> {
        if prefixes.is_empty() || prefixes.len() > MAX_BANKS {
            return Err(PrefixError::Banks(prefixes.len()));
        }
        if let Some(&long) = prefixes.iter().find(|&&length| length > MAX_PREFIX) {
            return Err(PrefixError::TooLong(long));
        }
        if let Some(pair) = prefixes.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(PrefixError::NotAscending(pair[0], pair[1]));
        }
        let mut lengths = [NO_BANK; MAX_BANKS];
        lengths[..prefixes.len()].copy_from_slice(prefixes);
        Ok(Prefixes { lengths, banks: prefixes.len() as u8 })
    }

    /// How many banks there are.
    pub fn banks(&self) -> usize {
        usize::from(self.banks)
    }

    /// The prefix lengths, one a bank.
    pub fn lengths(&self) -> &[u8] {
        &self.lengths[..self.banks()]
    }

    /// The prefix lengths as a control frame carries them, [`NO_BANK`] behind the last.
    pub fn to_bytes(&self) -> [u8; MAX_BANKS] {
        self.lengths
    }

    /// How many lengths are at most this number of zeros.
    fn reached(&self, zeros: u32) -> u8 {
        self.lengths().iter().filter(|&&length| u32::from(length) <= zeros).count() as u8
    }

    /// The bank of a packet with this place; none when the packet is not sampled.
    pub fn bank(&self, place: u32) -> Option<usize> {
        self.reached(place.leading_zeros()).checked_sub(1).map(usize::from)
    }

    /// The share of all packets that bank `bank` samples; zero for a bank that does not exist.
    pub fn probability(&self, bank: usize) -> f64 {
        let share = |bank: usize| match self.lengths().get(bank) {
            Some(&length) => 1.0 / (1u64 << length) as f64,
            None => 0.0,
        };
        share(bank) - share(bank + 1)
    }
}

/// Prefix lengths for many packets: with a table of what the first byte of a place says of its bank.
#[derive(Clone, Debug)]
pub struct Sampler {
    prefixes: Prefixes,
    /// How many lengths a place reaches whose first byte is the index, unless that is zero.
    reached: [u8; 256],
}

impl Sampler {
    /// The sampler with these prefix lengths.
    pub fn new(prefixes: Prefixes) -> Self {
        let reached = |first| prefixes.reached((first as u8).leading_zeros());
        Sampler { prefixes, reached: core::array::from_fn(reached) }
    }

    /// Its prefix lengths.
    pub fn prefixes(&self) -> &Prefixes {
        &self.prefixes
    }

    /// As [`Prefixes::bank`].
    #[inline]
    pub fn bank(&self, place: u32) -> Option<usize> {
        // The processors that every build is for count leading zeros slowly; few places begin with as many as eight.
        let first = usize::from(place.to_be_bytes()[0]);
        // One number before there is an option of it, so that an update need not branch.
        let reached = match first {
            0 => self.prefixes.reached(place.leading_zeros()),
            _ => self.reached[first],
        };
        reached.checked_sub(1).map(usize::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_example() {
        let prefixes = Prefixes::new(&[3, 7]).unwrap();
        assert_eq!(prefixes.bank(0b0000_0001 << 24), Some(1));
        assert_eq!(prefixes.bank(0b0000_0010 << 24), Some(0));
        assert_eq!(prefixes.bank(0b0001_1111 << 24), Some(0));
        assert_eq!(prefixes.bank(0b0010_0000 << 24), None);
        assert_eq!(Sampler::new(prefixes).bank(0b0010_0000 << 24), None);
        assert_eq!(prefixes.probability(0), 1.0 / 8.0 - 1.0 / 128.0);
        assert_eq!(prefixes.probability(1), 1.0 / 128.0);
        assert_eq!(prefixes.probability(2), 0.0);
    }

    #[test]
    fn every_number_of_leading_zeros() {
        let prefixes = Prefixes::new(&[0, 1, 5, 16]).unwrap();
        let sampler = Sampler::new(prefixes);
        for zeros in 0..=32u32 {
            let place = u32::MAX.checked_shr(zeros).unwrap_or(0);
            assert_eq!(place.leading_zeros(), zeros);
            let expected = match zeros {
                0 => 0,
                1..=4 => 1,
                5..=15 => 2,
                _ => 3,
            };
            assert_eq!((prefixes.bank(place), sampler.bank(place)), (Some(expected), Some(expected)));
        }
    }

    #[test]
    fn shares_of_random_places() {
        let prefixes = Prefixes::new(&[1, 6]).unwrap();
        let mut found = [0u32; 2];
        let trials = 100_000u64;
        for i in 0..trials {
            if let Some(bank) = prefixes.bank(xxhash_rust::xxh3::xxh3_64(&i.to_le_bytes()) as u32) {
                found[bank] += 1;
            }
        }
        for (bank, count) in found.into_iter().enumerate() {
            let p = prefixes.probability(bank);
            let off = f64::from(count) - p * trials as f64;
            // Five standard deviations of a binomial count.
            assert!(off * off < 25.0 * trials as f64 * p * (1.0 - p), "bank {bank}: {count}");
        }
    }

    #[test]
    fn refusals() {
        assert_eq!(Prefixes::new(&[]), Err(PrefixError::Banks(0)));
        assert_eq!(Prefixes::new(&[0; 9]), Err(PrefixError::Banks(9)));
        assert_eq!(Prefixes::new(&[1, 17]), Err(PrefixError::TooLong(17)));
        assert_eq!(Prefixes::new(&[6, 1]), Err(PrefixError::NotAscending(6, 1)));
        assert_eq!(Prefixes::new(&[1, 1]), Err(PrefixError::NotAscending(1, 1)));
    }
}
