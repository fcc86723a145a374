//! What can go wrong with a tool, and running a program so that it is known what went wrong.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};

/// Failure to install or find a tool.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Programs that have to come from the system are missing.
    #[error("missing on this system:\n{}\nto install: {remedy}", list.iter().map(|m| format!("  {m}")).collect::<Vec<_>>().join("\n"))]
    Missing {
        /// One line for each.
        list: Vec<String>,
        /// The command that installs all of them.
        remedy: String,
    },
    /// A program ran and failed.
    #[error("{what} failed ({status}); command: {command}{}{hint}", prefixed(output))]
    Failed {
        /// What was attempted.
        what: String,
        /// How it ended.
        status: process::ExitStatus,
        /// The command line.
        command: String,
        /// The end of what it printed.
        output: String,
        /// What to do, or nothing.
        hint: &'static str,
    },
    /// A file, folder or program could not be used.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

fn prefixed(output: &str) -> String {
    if output.is_empty() { String::new() } else { format!("\n{output}") }
}

pub(super) fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_path_buf();
    move |source| Error::Io { action, path, source }
}

/// Runs a program to its end; what it prints is shown only if it fails.
pub(super) fn run(what: &str, command: &mut Command, hint: &'static str) -> Result<(), Error> {
    eprintln!("  {what}");
    let program = PathBuf::from(command.get_program());
    let output = command.stdin(Stdio::null()).output().map_err(io_error("run", &program))?;
    if output.status.success() {
        return Ok(());
    }
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed);
    let lines: Vec<&str> = printed.trim().lines().collect();
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    Err(Error::Failed {
        what: what.to_string(),
        status: output.status,
        command: words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" "),
        output: lines[lines.len().saturating_sub(20)..].join("\n"),
        hint,
    })
}
