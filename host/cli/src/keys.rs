//! `deltaline key`: a key that authenticates a measurement's frames; and what the other commands do with `--key`.
//!
//! # Test plan
//!
//! `tests/keys.rs`: what `key` writes is taken by `decode`, `read` and `delimit`; a frame that is forged, altered, of another key or
//! of none is left out and counted; a key is changed between two intervals without a void one.

use crate::described;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report;
use clap::Args;
use deltaline_collect::collector::Collector;
use deltaline_design::{KeyFileError, add_key, load_keys};
use deltaline_model::wire::authentication::Keys;
use std::path::{Path, PathBuf};

pub(crate) const EXAMPLES: &str = "\
Examples:
  A key for a measurement, in a new file that only its owner may read:
    deltaline key north.keys

  Its use, with a design that says authentication = true:
    deltaline delimit eth0 --design my.toml --key north.keys
    deltaline read eth1 --design my.toml --key north.keys

  Another key, which takes the place of the first one: add it and start the readers again, then give it to the points:
    deltaline key north.keys";

#[derive(Debug, Args)]
pub(crate) struct AddKey {
    /// The file of keys; it is made if there is none, otherwise the key is added to it
    pub(crate) file: PathBuf,
}

pub(crate) fn run(arguments: &AddKey) -> Result<Exit, Failure> {
    let id = add_key(&arguments.file).map_err(|error| {
        let exit = if matches!(error, KeyFileError::File { .. } | KeyFileError::Special { .. }) {
            Exit::Output
        } else {
            Exit::Input
        };
        Failure::new(exit, error.to_string())
    })?;
    report::print(&format!("{}: key {id} added\n", arguments.file.display()))?;
    Ok(Exit::Done)
}

/// The keys of `--key`, if it was given.
pub(crate) fn keys(path: Option<&Path>) -> Result<Option<Keys>, Failure> {
    let load = |path| load_keys(path).map_err(|error| Failure::new(Exit::Input, format!("--key: {error}")));
    path.map(load).transpose()
}

/// A collector of a design's control frames, or of whatever comes; with keys, of those that they have signed.
pub(crate) fn collector(design: Option<&str>, key: Option<&Path>) -> Result<Collector, Failure> {
    let collector = described::expecting(design)?;
    Ok(match keys(key)? {
        Some(keys) => collector.authenticated_by(keys),
        None => collector,
    })
}

/// Says, where no key is given, that anybody can forge `what`.
pub(crate) fn mention_forgery(key: Option<&Path>, what: &str) {
    if key.is_none() {
        report::say(&format!("unauthenticated: anybody on the path can forge {what}; give --key FILE"));
    }
}
