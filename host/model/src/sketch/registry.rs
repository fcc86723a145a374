//! The registry: the one place that knows which synopses this release has.
//!
//! # Test plan
//!
//! Names and kinds belong together one to one; an unknown kind is neither made nor read.

use crate::configuration::Configuration;
use crate::sketch::lda::{self, Lda};
use crate::sketch::sampler::Prefixes;
use crate::sketch::synopsis::Synopsis;
use crate::wire::shape::{Kind, Shape};
use alloc::boxed::Box;

/// A synopsis of this release.
struct Registered {
    kind: Kind,
    name: &'static str,
    /// What of a configuration does not fit, and what is allowed.
    check: fn(&Configuration) -> Result<(), &'static str>,
    new: fn(&Configuration) -> Box<dyn Synopsis>,
    /// The shape of its tables; if its prefix lengths adapt, as after reset.
    shape: fn(&Configuration) -> Shape,
    /// How a table is sampled whose shape this is, or the field that contradicts the others.
    read: fn(&Shape) -> Result<Prefixes, &'static str>,
}

static SYNOPSES: [Registered; 1] = [Registered {
    kind: Kind::LDA,
    name: "lda",
    check: |_| Ok(()),
    new: |configuration| Box::new(Lda::new(configuration)),
    shape: |configuration| lda::Table::of(configuration).shape(),
    read: |shape| lda::Table::read(shape).map(|table| table.prefixes),
}];

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

/// What a configuration's kind is registered as. No configuration is of an unknown one.
fn of(configuration: &Configuration) -> &'static Registered {
    find(configuration.kind()).unwrap_or(&SYNOPSES[0])
}

/// Whether a configuration's settings fit its synopsis.
pub(crate) fn check(configuration: &Configuration) -> Result<(), &'static str> {
    (of(configuration).check)(configuration)
}

/// The synopsis of a configuration, every cell zero.
pub(crate) fn synopsis(configuration: &Configuration) -> Box<dyn Synopsis> {
    (of(configuration).new)(configuration)
}

/// The shape of a configuration's tables; if its prefix lengths adapt, as after reset.
pub fn shape(configuration: &Configuration) -> Shape {
    (of(configuration).shape)(configuration)
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

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Kind> {
        SYNOPSES.iter().find(|each| each.name == name).map(|each| each.kind)
    }
}
