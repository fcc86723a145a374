//! The registry: the one place that knows which synopses this release has.
//!
//! # Test plan
//!
//! Names and kinds belong together one to one; an unknown kind is neither made nor read.

use crate::sketch::finecomb::FINECOMB;
use crate::sketch::flow_rows::FLOW_ROWS;
use crate::sketch::flow_vector::FLOW_VECTOR;
use crate::sketch::identity_table::IDENTITY_TABLE;
use crate::sketch::lda::{LDA, Lda};
use crate::sketch::lda_identity::LDA_IDENTITY;
use crate::sketch::rda::{RDA, SRDA};
use crate::sketch::sampler::{Prefixes, Sampler};
use crate::sketch::slices::{BOTH, SLICES};
use crate::sketch::synopsis::{Hashed, Parameters, Registered, Synopsis};
use crate::wire::shape::{Kind, Shape};
use alloc::boxed::Box;

/// A point's tables. The LDA's are held as what they are, so that a packet's way to its cell is one piece of code, some
/// fifty instructions shorter.
#[derive(Debug)]
pub(crate) enum Tables {
    Lda(Lda),
    Other(Box<dyn Synopsis>),
}

impl Tables {
    #[inline]
    pub(crate) fn add(&mut self, class: usize, sampler: &Sampler, packets: &[Hashed]) -> bool {
        match self {
            Tables::Lda(lda) => lda.add(class, sampler, packets),
            Tables::Other(synopsis) => synopsis.add(class, sampler, packets),
        }
    }

    /// Those of any synopsis.
    pub(crate) fn any(&self) -> &dyn Synopsis {
        match self {
            Tables::Lda(lda) => lda,
            Tables::Other(synopsis) => &**synopsis,
        }
    }

    /// Sets every cell to zero.
    pub(crate) fn clear(&mut self) {
        match self {
            Tables::Lda(lda) => lda.clear(),
            Tables::Other(synopsis) => synopsis.clear(),
        }
    }
}

static SYNOPSES: [Registered; 10] =
    [LDA, FINECOMB, IDENTITY_TABLE, RDA, SRDA, SLICES, BOTH, LDA_IDENTITY, FLOW_ROWS, FLOW_VECTOR];

fn find(kind: Kind) -> Option<&'static Registered> {
    SYNOPSES.iter().find(|each| each.kind == kind)
}

/// Why a shape is not that of tables that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// A field contradicts the others.
    Contradiction(&'static str),
    /// A later release's kind.
    Unknown,
}

/// The prefix lengths by which tables of this shape are sampled.
///
/// # Errors
///
/// Why the tables cannot be read.
pub fn read(shape: &Shape) -> Result<Prefixes, Unreadable> {
    let known = find(shape.kind).ok_or(Unreadable::Unknown)?;
    (known.read)(shape).map_err(Unreadable::Contradiction)
}

/// What a kind is registered as. No configuration is of an unknown one.
fn of(kind: Kind) -> &'static Registered {
    find(kind).unwrap_or(&SYNOPSES[0])
}

/// Whether parameters fit a synopsis.
pub(crate) fn check(kind: Kind, parameters: &Parameters) -> Result<(), &'static str> {
    if parameters.tables.is_some() && !kind.has_tables_to_choose() {
        return Err("the number of its tables is fixed; leave it out, or take rda or srda");
    }
    (of(kind).check)(parameters)
}

/// A synopsis, every cell zero.
pub(crate) fn synopsis(kind: Kind, parameters: &Parameters) -> Tables {
    match of(kind).kind {
        Kind::LDA => Tables::Lda(Lda::new(parameters)),
        _ => Tables::Other((of(kind).new)(parameters)),
    }
}

/// The shape of a synopsis's tables.
pub(crate) fn shape(kind: Kind, parameters: &Parameters) -> Shape {
    (of(kind).shape)(parameters)
}

impl Kind {
    /// Every kind of this release.
    pub fn all() -> impl Iterator<Item = Kind> {
        SYNOPSES.iter().map(|each| each.kind)
    }

    /// Its name, if this release knows it.
    pub fn name(self) -> Option<&'static str> {
        find(self).map(|each| each.name)
    }

    /// Whether the number of tables that a packet is in may be set.
    pub fn has_tables_to_choose(self) -> bool {
        matches!(self, Kind::RDA | Kind::SRDA)
    }

    /// Whether a packet's flow has a say in its cells.
    pub fn is_of_flows(self) -> bool {
        matches!(self, Kind::FLOW_ROWS | Kind::FLOW_VECTOR)
    }

    /// The prefix lengths where none are given; none for an unknown kind.
    pub fn default_prefixes(self) -> &'static [u8] {
        find(self).map_or(&[], |each| each.prefixes)
    }

    /// Whether its cells have digest sums in software where nothing is said.
    pub fn has_digests_by_default(self) -> bool {
        find(self).is_some_and(|each| each.digests_by_default)
    }

    /// Whether its tables say more if a point [remembers its packets](crate::point::MeasurementPoint::remember_packets).
    pub fn remembers_packets(self) -> bool {
        find(self).is_some_and(|each| each.remembers_packets)
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Kind> {
        SYNOPSES.iter().find(|each| each.name == name).map(|each| each.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_kinds_belong_together() {
        for kind in Kind::all() {
            assert_eq!(kind.name().and_then(Kind::named), Some(kind));
        }
        assert_eq!((Kind(0).name(), Kind::named("nothing")), (None, None));
    }
}
