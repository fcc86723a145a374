//! Configuration: what both ends of a measurement must have in common.
//!
//! # Test plan
//!
//! Every refusal; the identifiers change with every setting, but not with lengths that adapt; golden ones
//! (`tests/vectors.rs`).

use crate::ascon;
use crate::canonical::Items;
use crate::packet::classifier::{Classifier, ClassifierError, Entry, MAX_ENTRIES, WORDS};
use crate::packet::hash::HashKind;
use crate::packet::identity::KEY_FORM;
use crate::sketch::place;
use crate::sketch::rda;
use crate::sketch::registry;
use crate::sketch::sampler::{MAX_BANKS, NO_BANK, PrefixError, Prefixes};
use crate::sketch::synopsis::Parameters;
use crate::wire::shape::{Kind, Shape};
use alloc::vec::Vec;
use xxhash_rust::xxh3::xxh3_64;

pub use crate::sketch::synopsis::{MAX_ROWS, MIN_ROWS};
/// What stands in the identifier of version 1 for the first prefix length if lengths adapt: no length, and not the mark of no bank.
pub const ADAPTIVE: u8 = 0xfe;

/// Bytes of an entry under that identifier.
const ENTRY_BYTES: usize = 1 + 8 * WORDS;
/// What that identifier covers of digest sums.
const DIGESTS: u8 = b'd';
/// What follows the seed in the key of the identifier, so that other uses of the seed give other keys.
pub const SEED_USE: &[u8; 8] = b"identity";

/// What a user sets; [`Configuration::new`] checks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings<'a> {
    /// The synopsis; one of the [registry].
    pub synopsis: Kind,
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
    /// What tells measurement classes apart, at most 8; without entries all packets are of one class.
    pub entries: &'a [Entry],
    /// Whether cells have a [digest sum](crate::sketch::digest).
    pub digest: bool,
    /// A [mixing](crate::sketch::mixing) decides bank and row, and others may be scheduled
    /// ([`MeasurementPoint::schedule_mixing`](crate::point::MeasurementPoint::schedule_mixing)).
    pub mixing: bool,
    /// Tables that each packet is in, 1..=4, of [RDA and sRDA](crate::sketch::rda) alone; none for two.
    pub tables: Option<u8>,
}

impl Default for Settings<'_> {
    /// The LDA paper's example of section V: banks of 1024 rows, probabilities 1/2 and 1/64.
    fn default() -> Self {
        Settings {
            synopsis: Kind::LDA,
            hash: HashKind::H3,
            seed: 1,
            rows: 1024,
            prefixes: &[1, 6],
            adaptive: false,
            segment: 0,
            entries: &[],
            digest: false,
            mixing: false,
            tables: None,
        }
    }
}

/// A checked configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration {
    kind: Kind,
    hash: HashKind,
    seed: u64,
    rows: usize,
    prefixes: Prefixes,
    adaptive: bool,
    segment: u32,
    classifier: Classifier,
    digests: bool,
    mixing: bool,
    tables: Option<u8>,
}

/// Why settings are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigurationError {
    /// A later release's synopsis.
    #[error("synopsis kind {0} is unknown to this release")]
    Synopsis(Kind),
    /// The settings do not fit the synopsis.
    #[error("synopsis '{}' does not allow these settings: {reason}", kind.name().unwrap_or_default())]
    Kind {
        /// The synopsis.
        kind: Kind,
        /// What is wrong and what is allowed.
        reason: &'static str,
    },
    /// The number of rows is not a power of two in range.
    #[error("{0} rows: give a power of two from {MIN_ROWS} to {MAX_ROWS}")]
    Rows(usize),
    /// The prefix lengths are refused.
    #[error(transparent)]
    Prefixes(#[from] PrefixError),
    /// The entries are refused.
    #[error(transparent)]
    Classifier(#[from] ClassifierError),
    /// The last class's segment has no number.
    #[error("segment {segment} with {classes} classes: each class is a segment of its own, at most 2^32 - 1")]
    Segment {
        /// The first class's segment.
        segment: u32,
        /// Number of classes.
        classes: usize,
    },
}

impl Configuration {
    /// Checks settings.
    ///
    /// # Errors
    ///
    /// [`ConfigurationError`] with what is wrong and what is allowed.
    pub fn new(settings: Settings) -> Result<Self, ConfigurationError> {
        let Settings { synopsis, hash, seed, rows, prefixes, adaptive, .. } = settings;
        let Settings { segment, entries, digest, mixing, tables, .. } = settings;
        if synopsis.name().is_none() {
            return Err(ConfigurationError::Synopsis(synopsis));
        }
        if !rows.is_power_of_two() || !(MIN_ROWS..=MAX_ROWS).contains(&rows) {
            return Err(ConfigurationError::Rows(rows));
        }
        let classifier = Classifier::new(entries)?;
        let classes = classifier.classes();
        if segment.checked_add(classes as u32 - 1).is_none() {
            return Err(ConfigurationError::Segment { segment, classes });
        }
        let prefixes = Prefixes::new(prefixes)?;
        let configuration = Configuration {
            kind: synopsis,
            hash,
            seed,
            rows,
            prefixes,
            adaptive,
            segment,
            classifier,
            digests: digest,
            mixing,
            tables,
        };
        registry::check(synopsis, &configuration.parameters())
            .map_err(|reason| ConfigurationError::Kind { kind: synopsis, reason })?;
        Ok(configuration)
    }

    /// The synopsis.
    pub fn kind(&self) -> Kind {
        self.kind
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

    /// Number of the measurement segment; that of class c is c more.
    pub fn segment(&self) -> u32 {
        self.segment
    }

    /// What tells measurement classes apart.
    #[inline]
    pub fn classifier(&self) -> &Classifier {
        &self.classifier
    }

    /// Number of measurement classes, 1..=4.
    pub fn classes(&self) -> usize {
        self.classifier.classes()
    }

    /// Whether cells have a [digest sum](crate::sketch::digest), or, with slices, all packets together.
    pub fn has_digests(&self) -> bool {
        self.digests
    }

    /// Whether a [mixing](crate::sketch::mixing) decides bank and row.
    pub fn has_mixing(&self) -> bool {
        self.mixing
    }

    /// Whether the first digest of all packets is summed for control frames: cells have one then, but those of slices.
    pub fn has_digest_sum(&self) -> bool {
        self.digests || !matches!(self.kind, Kind::LDA | Kind::SLICES | Kind::FLOW_VECTOR)
    }

    /// The shape of the synopsis's tables; if its prefix lengths adapt, as after reset.
    pub fn shape(&self) -> Shape {
        registry::shape(self.kind, &self.parameters())
    }

    /// What a synopsis's tables are made by.
    pub fn parameters(&self) -> Parameters {
        Parameters {
            classes: self.classes(),
            rows: self.rows,
            prefixes: self.prefixes,
            has_digests: self.digests,
            seed: self.seed,
            tables: self.tables,
        }
    }

    /// Identifier of all that must be equal at both ends as frames of version 1 carry it: xxh3 over (frame version, hash kind, seed, rows, prefix
    /// lengths, segment) as 1 + 1 + 8 + 4 + 8 + 4 bytes, big-endian, then (class, values, masks) of each entry as 1 + 44 +
    /// 44 bytes, then, with digest sums, a byte `d`. Whoever sees it and knows the other settings can find the
    /// seed: frames of this version hide nothing.
    ///
    /// Lengths that adapt are not in it: in their place stand [`ADAPTIVE`], the number of banks, and six bytes 255.
    pub fn version_1_id(&self) -> u64 {
        let mut bytes = [0; 26 + MAX_ENTRIES * ENTRY_BYTES + 1];
        bytes[0] = 1;
        bytes[1] = self.hash as u8;
        bytes[2..10].copy_from_slice(&self.seed.to_be_bytes());
        bytes[10..14].copy_from_slice(&(self.rows as u32).to_be_bytes());
        bytes[14..22].copy_from_slice(&self.banks_in_digest());
        bytes[22..26].copy_from_slice(&self.segment.to_be_bytes());
        let entries = self.classifier.entries();
        for (bytes, entry) in bytes[26..].chunks_exact_mut(ENTRY_BYTES).zip(entries) {
            bytes[0] = entry.class;
            let words = entry.value.iter().chain(&entry.mask);
            bytes[1..]
                .chunks_exact_mut(4)
                .zip(words)
                .for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_be_bytes()));
        }
        let mut length = 26 + entries.len() * ENTRY_BYTES;
        if self.digests {
            bytes[length] = DIGESTS;
            length += 1;
        }
        xxh3_64(&bytes[..length])
    }

    /// Identifier of all that must be equal at both ends: the first 64 bits, big-endian, of the [tag](crate::ascon) of the other
    /// settings' [canonical bytes](Configuration::canonical) as associated data. Its key is the seed (8 bytes, big-endian) followed by
    /// [`SEED_USE`], its nonce zero. So frames name a seed without showing it: there is no quicker way back than to try all
    /// seeds, 2^64 if it was drawn.
    pub fn id(&self) -> u64 {
        let mut key = [0; ascon::BYTES];
        key[..8].copy_from_slice(&self.seed.to_be_bytes());
        key[8..].copy_from_slice(SEED_USE);
        let tag = ascon::tag(&key, [0; ascon::BYTES], self.canonical().as_bytes());
        tag[..8].iter().fold(0, |id, byte| id << 8 | u64::from(*byte))
    }

    /// The settings but for the seed as [canonical bytes](crate::canonical). Numbers are big-endian.
    ///
    /// | type | bytes | setting |
    /// |------|-------|---------|
    /// | 1 | 4 | segment |
    /// | 2 | 1 | hash function: 0 H3, 1 Rabin |
    /// | 4 | 89 each | entries: class (1), value words (44), mask words (44) |
    /// | 5 | 1 | [kind](crate::wire::shape::Kind) of the synopsis |
    /// | 6 | 1 | [rounds](crate::sketch::place::ROUNDS) between hash and place, one less behind a mixing |
    /// | 7 | 1 | form of the [key](crate::packet::identity): 1, without checksums |
    /// | 8 | 1 | 1 if there is a [mixing](crate::sketch::mixing), else no such item |
    /// | 256 × kind ... | | the synopsis's own |
    /// | ... + 1 | 4 | rows of each bank, or cells of each table |
    /// | ... + 2 | 1 | prefix lengths: how many |
    /// | ... + 3 | 1 | 1 if prefix lengths adapt, else 0 |
    /// | ... + 4 | 1 each | prefix lengths; empty if they adapt |
    /// | 261, 1797, 2053 | 1 | LDA, slices, both: 1 with digest sums, else 0 |
    /// | 1029, 1285 | 1 | RDA, sRDA: tables that a packet is in |
    pub fn canonical(&self) -> Items {
        let mut items = Items::default();
        items.put(1, &self.segment.to_be_bytes());
        items.put(2, &[self.hash as u8]);
        let of_entry = |entry: &Entry| {
            let words = entry.value.into_iter().chain(entry.mask).flat_map(u32::to_be_bytes);
            core::iter::once(entry.class).chain(words).collect::<Vec<u8>>()
        };
        items.put(4, &self.classifier.entries().iter().flat_map(of_entry).collect::<Vec<u8>>());
        items.put(5, &[self.kind.0]);
        let rounds = if self.mixing { place::MIXED_ROUNDS } else { place::ROUNDS };
        items.put(6, &[rounds as u8]);
        items.put(7, &[KEY_FORM]);
        if self.mixing {
            items.put(8, &[1]);
        }
        let own = u16::from(self.kind.0) << 8;
        items.put(own + 1, &(self.rows as u32).to_be_bytes());
        items.put(own + 2, &[self.prefixes.banks() as u8]);
        items.put(own + 3, &[u8::from(self.adaptive)]);
        items.put(own + 4, if self.adaptive { &[] } else { self.prefixes.lengths() });
        if matches!(self.kind, Kind::LDA | Kind::SLICES | Kind::BOTH) {
            items.put(own + 5, &[u8::from(self.digests)]);
        }
        if self.kind.has_tables_to_choose() {
            items.put(own + 5, &[self.tables.unwrap_or(rda::TABLES as u8)]);
        }
        items
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
        let refused = Configuration::new(Settings { entries: &[Entry::default(); 9], ..Settings::default() });
        assert_eq!(refused, Err(ConfigurationError::Classifier(ClassifierError::Entries(9))));
        let (entries, segment) = (&classes(), u32::MAX - 1);
        assert!(
            Configuration::new(Settings { entries: &entries[..2], segment, ..Settings::default() }).is_ok()
        );
        let refused = Configuration::new(Settings { entries, segment, ..Settings::default() });
        assert_eq!(refused, Err(ConfigurationError::Segment { segment, classes: 3 }));
    }

    /// Three classes, told apart by the IP version.
    fn classes() -> [Entry; 3] {
        [0u8, 1, 2].map(|class| {
            let (mut value, mut mask) = ([0; WORDS], [0; WORDS]);
            (value[0], mask[0]) = (u32::from(class) << 28, 0xf000_0000);
            Entry { class, value, mask }
        })
    }

    #[test]
    fn the_digest_covers_every_setting() {
        let base = Settings::default();
        let entries = classes();
        let mut other = entries;
        other[2].class = 1;
        let mut wider = entries;
        wider[1].mask[10] = 1;
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
            Settings { entries: &entries[..1], ..base },
            Settings { entries: &entries, ..base },
            Settings { entries: &other, ..base },
            Settings { entries: &wider, ..base },
            Settings { digest: true, ..base },
        ];
        for (i, a) in variants.iter().enumerate() {
            for b in &variants[i + 1..] {
                assert_ne!(configuration(*a).version_1_id(), configuration(*b).version_1_id());
                assert_ne!(configuration(*a).id(), configuration(*b).id());
            }
        }
    }

    /// Of version 2 alone: frames of version 1 have no field for it.
    #[test]
    fn the_digest_covers_that_there_is_a_mixing() {
        let [without, with] =
            [false, true].map(|mixing| configuration(Settings { mixing, ..Settings::default() }));
        assert_ne!(without.id(), with.id());
        let (bytes, items) = (with.canonical(), [&[0, 6, 0, 1, 3][..], &[0, 7, 0, 1, 1], &[0, 8, 0, 1, 1]]);
        assert!(bytes.as_bytes().windows(15).any(|window| window == items.concat()));
    }

    #[test]
    fn the_digest_does_not_cover_lengths_that_adapt() {
        let base = Settings { adaptive: true, ..Settings::default() };
        let other = Settings { prefixes: &[0, 16], ..base };
        assert_eq!(configuration(base).version_1_id(), configuration(other).version_1_id());
        assert_eq!(configuration(base).id(), configuration(other).id());
    }

    #[test]
    fn canonical_bytes_by_hand() {
        let entries = &classes()[1..2];
        let entries = [Entry { class: 0, ..entries[0] }];
        let settings =
            Settings { entries: &entries, segment: 0x0a0b_0c0d, seed: 0x1122, ..Settings::default() };
        let bytes = configuration(settings).canonical();
        let (start, rest) = bytes.as_bytes().split_at(8 + 5 + 4 + 89);
        assert_eq!(start[..8], [0, 1, 0, 4, 0x0a, 0x0b, 0x0c, 0x0d]);
        assert_eq!(start[8..13], [0, 2, 0, 1, 0]);
        assert_eq!(start[13..22], [0, 4, 0, 89, 0, 0x10, 0, 0, 0]);
        assert_eq!(start[62..66], [0xf0, 0, 0, 0]);
        let lda = [
            &[0, 5, 0, 1, 1][..],
            &[0, 6, 0, 1, 4],
            &[0, 7, 0, 1, 1],
            &[1, 1, 0, 4, 0, 0, 4, 0],
            &[1, 2, 0, 1, 2],
            &[1, 3, 0, 1, 0],
            &[1, 4, 0, 2, 1, 6],
            &[1, 5, 0, 1, 0],
        ];
        assert_eq!(rest, lda.concat());
        let adaptive = Settings { adaptive: true, digest: true, ..Settings::default() };
        let bytes = configuration(adaptive).canonical();
        let end = [&[1, 2, 0, 1, 2][..], &[1, 3, 0, 1, 1], &[1, 4, 0, 0], &[1, 5, 0, 1, 1]];
        assert!(bytes.as_bytes().ends_with(&end.concat()));
    }
}
