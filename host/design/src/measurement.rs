//! What a design measures: all that both ends must have in common, as a user says it.

use crate::error::Refused;
use crate::sizes::{MAX_BANKS, MAX_ROWS};
use deltaline_model::configuration::{Configuration, ConfigurationError, MIN_ROWS, Settings};
use deltaline_model::packet::classifier::{ClassifierError, Fields};
use deltaline_model::packet::hash::HashKind;
use deltaline_model::sketch::sampler::MAX_PREFIX;
use deltaline_model::wire::shape::Kind;
use std::fmt;

/// Which packets are of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// The class, 0..=3.
    pub class: u8,
    /// What its packets have in common; a class may have several such entries.
    pub fields: Fields,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Fields { version, source, destination, protocol, source_port, destination_port } = self.fields;
        write!(f, "{{ class = {}", self.class)?;
        version.iter().try_for_each(|version| write!(f, ", version = {version}"))?;
        source.iter().try_for_each(|source| write!(f, ", source = \"{source}\""))?;
        destination.iter().try_for_each(|destination| write!(f, ", destination = \"{destination}\""))?;
        protocol.iter().try_for_each(|protocol| write!(f, ", protocol = {protocol}"))?;
        source_port.iter().try_for_each(|port| write!(f, ", source_port = {port}"))?;
        destination_port.iter().try_for_each(|port| write!(f, ", destination_port = {port}"))?;
        f.write_str(" }")
    }
}

/// What a design measures. Units and ranges are those of [`Settings`], within what hardware is built for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// The synopsis.
    pub synopsis: Kind,
    /// The hash function.
    pub hash: HashKind,
    /// Its seed, the same at both ends.
    pub seed: u64,
    /// Rows of each bank.
    pub rows: usize,
    /// Prefix length of each bank in bits, ascending.
    pub prefixes: Vec<u8>,
    /// Prefix lengths may change from interval to interval.
    pub adaptive: bool,
    /// Number of the first class's segment.
    pub segment: u32,
    /// Cells have digest sums.
    pub digest: bool,
    /// A secret mixing decides bank and row; others may be scheduled.
    pub mixing: bool,
    /// Which packets are of which class; all are of one class where it is empty.
    pub classes: Vec<Class>,
}

/// What is allowed, for refusals.
pub(crate) fn allowed_rows() -> String {
    format!("give a power of two from {MIN_ROWS} to {MAX_ROWS}")
}

/// What is allowed, for refusals.
pub(crate) fn allowed_synopses() -> String {
    let names: Vec<&str> = Kind::all().filter_map(Kind::name).collect();
    format!("give one of {}", names.join(", "))
}

/// A refusal of prefix lengths.
pub(crate) fn refused_prefixes(prefixes: &dyn fmt::Debug, reason: &str) -> Refused {
    let why = format!("{reason}; give 1 to {MAX_BANKS} ascending lengths from 0 to {MAX_PREFIX}");
    Refused::new("measurement.prefixes", prefixes, why)
}

impl Measurement {
    /// Checks it.
    pub(crate) fn configuration(&self) -> Result<Configuration, Refused> {
        let Measurement { synopsis, hash, seed, rows, ref prefixes, adaptive, .. } = *self;
        let Measurement { segment, digest, mixing, ref classes, .. } = *self;
        if !rows.is_power_of_two() || !(MIN_ROWS..=MAX_ROWS).contains(&rows) {
            return Err(Refused::new("measurement.rows", &rows, allowed_rows()));
        }
        if prefixes.is_empty() || prefixes.len() > MAX_BANKS {
            return Err(refused_prefixes(prefixes, &format!("{} banks", prefixes.len())));
        }
        let mut entries = vec![];
        for (index, Class { class, fields }) in classes.iter().enumerate() {
            let entry = fields.entry(*class);
            entries.push(entry.map_err(|error| self.refused_entry(index, error.to_string()))?);
        }
        let settings = Settings {
            synopsis,
            hash,
            seed,
            rows,
            prefixes,
            adaptive,
            segment,
            entries: &entries,
            digest,
            mixing,
            tables: None,
        };
        Configuration::new(settings).map_err(|error| self.refused(error))
    }

    fn refused_entry(&self, index: usize, why: String) -> Refused {
        let value = self.classes.get(index).map(Class::to_string).unwrap_or_default();
        Refused { key: format!("entry[{index}]"), value, why }
    }

    /// The key that the model's error concerns.
    fn refused(&self, error: ConfigurationError) -> Refused {
        let why = error.to_string();
        match error {
            ConfigurationError::Rows(rows) => Refused::new("measurement.rows", &rows, why),
            ConfigurationError::Synopsis(kind) | ConfigurationError::Kind { kind, .. } => {
                Refused::new("measurement.synopsis", &kind.name().unwrap_or_default(), why)
            }
            ConfigurationError::Prefixes(_) => refused_prefixes(&self.prefixes, &why),
            ConfigurationError::Segment { segment, .. } => Refused::new("measurement.segment", &segment, why),
            ConfigurationError::Classifier(
                ClassifierError::Class { entry: index, .. }
                | ClassifierError::Value { entry: index, .. }
                | ClassifierError::Overlap { second: index, .. },
            ) => self.refused_entry(index, why),
            ConfigurationError::Classifier(_) => {
                let classes: Vec<u8> = self.classes.iter().map(|each| each.class).collect();
                Refused::new("entry.class", &classes, why)
            }
        }
    }
}
