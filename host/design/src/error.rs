//! Why a design is refused: file, line, key, value, reason and what is allowed.

use crate::shipped::shipped_names;
use std::fmt;
use std::io;

/// Where a value stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, or the design's name where there is no file.
    pub file: String,
    /// Its line, from 1 on, where it is known.
    pub line: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// Why a design is refused.
#[derive(Debug, thiserror::Error)]
pub enum DesignError {
    /// Not one of the shipped names.
    #[error("'{0}' is not a shipped design: give one of {shipped}, or the path of a file that ends in .toml", shipped = shipped_names())]
    Unknown(String),
    /// The file cannot be read.
    #[error("{file}: cannot be read: {source}; give one of {shipped}, or the path of a file that ends in .toml", shipped = shipped_names())]
    Read {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// The text is not TOML, a key is missing, unknown or twice there, or its value is of the wrong type.
    #[error("{file}: {}\nhdl/configurations/10g.toml shows every key and what is allowed", plain(source))]
    Text {
        /// The file.
        file: String,
        /// What is wrong, with line and column.
        source: Box<toml::de::Error>,
    },
    /// A value is not allowed.
    #[error("{place}: {key} = {value}: {why}")]
    Value {
        /// Where it stands.
        place: Place,
        /// The key, with its table.
        key: String,
        /// Its value.
        value: String,
        /// The reason and what is allowed.
        why: String,
    },
    /// The file has no seed, and none is to be drawn.
    #[error(
        "{place}: measurement.seed is missing, and both ends must have the same: `cargo xtask verilog FILE` draws one and \
         puts the completed file into the package; give that file"
    )]
    NoSeed {
        /// Where the measurement is described.
        place: Place,
    },
    /// The operating system gives no random number.
    #[error("{file}: no random seed can be drawn: {source}; write measurement.seed into the file")]
    Random {
        /// The file.
        file: String,
        /// Why.
        source: getrandom::Error,
    },
}

/// The parser's message, without Rust's names of types.
fn plain(error: &toml::de::Error) -> String {
    error.to_string().replace("expected f64", "expected a number").trim_end().to_string()
}

/// A value that is not allowed, before its place is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) why: String,
}

impl Refused {
    pub(crate) fn new(key: &str, value: &dyn fmt::Debug, why: impl Into<String>) -> Refused {
        Refused { key: key.to_string(), value: format!("{value:?}"), why: why.into() }
    }

    pub(crate) fn at(self, place: Place) -> DesignError {
        let Refused { key, value, why } = self;
        DesignError::Value { place, key, value, why }
    }
}
