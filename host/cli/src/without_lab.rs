//! What `deltaline lab` says of a program that was built without it.

use crate::exit::Exit;
use crate::failure::Failure;
use clap::Args;

pub(crate) const EXAMPLES: &str = "\
This program was built without the lab: build it in the repository with
    cargo build --release -p deltaline --features lab";

#[derive(Debug, Args)]
pub(crate) struct Lab {
    /// Whatever the lab is asked
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _arguments: Vec<String>,
}

/// Refuses.
pub(crate) fn run(_: &Lab) -> Result<Exit, Failure> {
    Err(Failure::new(
        Exit::Hardware,
        "lab: this program was built without the lab; build it in the repository with \
         `cargo build --release -p deltaline --features lab`",
    ))
}
