//! Programs of published crates, compiled in the versions that they lock.
//!
//! Test plan: the installations need a network and are tested by use.

use super::error::{Error, run};
use super::folder;
use super::staging::{Staging, is_complete, marker_text};
use std::env;
use std::process::Command;

/// A crate with a program of the same name.
pub(super) struct Program {
    name: &'static str,
    version: &'static str,
}

/// A sender and a reflector of STAMP (RFC 8762, 8972), by others.
pub(super) const STAMP_SUITE: Program = Program { name: "stamp-suite", version: "1.0.0" };

impl Program {
    /// Compiles it, unless it is there.
    pub(super) fn install(&self) -> Result<(), Error> {
        let folder = folder()?;
        let place = folder.join(self.name);
        let marker = marker_text(self.version);
        if is_complete(&place, &marker) {
            return Ok(());
        }
        eprintln!("compiling {} into {}", self.name, place.display());
        let staging = Staging::new(&folder, self.name)?;
        let mut cargo = Command::new(env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
        cargo.args(["install", self.name, "--version", self.version, "--locked", "--quiet", "--root"]);
        run("compiling a crate", cargo.arg(staging.path()), "\nit is fetched from the registry of crates")?;
        staging.finish(&place, &marker)
    }

    /// It, where it is installed.
    pub(super) fn command(&self) -> Result<Command, Error> {
        Ok(Command::new(folder()?.join(self.name).join("bin").join(self.name)))
    }
}
