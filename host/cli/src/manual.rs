//! `deltaline completions` and `deltaline manual`: what shells and `man` know of the command line, made from its definition.
//!
//! # Test plan
//!
//! `tests/manual.rs`: every command has its page with its options, examples and exit codes, which `man` renders without a
//! warning; bash completes commands and options.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::report;
use clap::{Args, Command};
use clap_complete::Shell;
use std::fs;
use std::path::PathBuf;

/// The name of the program.
const NAME: &str = "deltaline";

pub(crate) const COMPLETIONS: &str = "\
Examples:
  For bash, from the next login on:
    deltaline completions bash > ~/.local/share/bash-completion/completions/deltaline";

pub(crate) const EXAMPLES: &str = "\
Examples:
  For one user, whose `man deltaline` finds them there:
    deltaline manual ~/.local/share/man/man1";

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// The folder, which is made if it is not there
    folder: PathBuf,
}

pub(crate) fn completions(arguments: &Completions, mut command: Command) -> Result<Exit, Failure> {
    let mut script = vec![];
    clap_complete::generate(arguments.shell, &mut command, NAME, &mut script);
    report::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

pub(crate) fn manual(arguments: &Manual, command: Command) -> Result<Exit, Failure> {
    let folder = &arguments.folder;
    fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder)).map_err(
        |reason| {
            let folder = folder.display();
            let message =
                format!("{folder}: cannot be written: {reason}; check the folder and its permissions");
            Failure::new(Exit::Output, message).of_file(folder)
        },
    )?;
    Ok(Exit::Done)
}
