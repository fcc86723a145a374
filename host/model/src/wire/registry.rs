//! The registry of kinds: the one place that knows which synopses this release reads.

use crate::sketch::lda;
use crate::wire::shape::{Kind, Shape};

/// Whether a table can be read, by its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readable {
    Yes,
    /// A field contradicts the others.
    Contradiction(&'static str),
    /// A later release's kind.
    Unknown,
}

pub(crate) fn readable(shape: &Shape) -> Readable {
    let read = match shape.kind {
        Kind::LDA => lda::Table::read(shape).map(drop),
        _ => return Readable::Unknown,
    };
    match read {
        Ok(()) => Readable::Yes,
        Err(field) => Readable::Contradiction(field),
    }
}
