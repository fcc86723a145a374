//! Hash functions on the command line.

use clap::ValueEnum;
use deltaline_model::packet::hash::HashKind;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Hash {
    /// A random row for every bit
    H3,
    /// Rabin's fingerprint
    Rabin,
}

impl From<Hash> for HashKind {
    fn from(hash: Hash) -> Self {
        match hash {
            Hash::H3 => HashKind::H3,
            Hash::Rabin => HashKind::Rabin,
        }
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Hash::H3 => "h3",
            Hash::Rabin => "rabin",
        })
    }
}

impl From<HashKind> for Hash {
    fn from(kind: HashKind) -> Self {
        match kind {
            HashKind::H3 => Hash::H3,
            HashKind::Rabin => Hash::Rabin,
        }
    }
}
