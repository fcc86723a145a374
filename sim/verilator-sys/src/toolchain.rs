//! Finds the installed Verilator and a C++ compiler.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;

/// An installed Verilator, a C++ compiler and the folder that keeps built models.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// Verilator's root folder: holds `bin/verilator_bin` and `include`.
    pub(crate) root: PathBuf,
    /// What `verilator_bin --version` prints, part of the key of the cache.
    pub(crate) verilator_version: String,
    /// The compiler and arguments that always precede the others, such as `ccache g++`.
    pub(crate) compiler: Vec<String>,
    /// First line of what the compiler prints for `--version`, part of the key of the cache.
    pub(crate) compiler_version: String,
    /// Where built models are kept.
    pub(crate) cache: PathBuf,
}

impl Toolchain {
    /// Finds the tools.
    ///
    /// The folder of the tools is the value of the environment variable `DELTALINE_TOOLS`, or else the first
    /// `.tools` with an installed Verilator on the way up from the current directory, then from the folder of the
    /// running program. The compiler is `CXX`, or else the first of `c++`, `g++`, `clang++` that runs. Built models
    /// are cached in `models` in the folder of the tools.
    ///
    /// # Errors
    ///
    /// [`Error::VerilatorMissing`] and [`Error::CompilerMissing`] name what to install; [`Error::Io`] if Verilator
    /// does not run.
    pub fn find() -> Result<Self, Error> {
        let (tools, root) = find_verilator()?;
        let compilers = match env::var("CXX") {
            Ok(cxx) if !cxx.trim().is_empty() => vec![cxx],
            _ => ["c++", "g++", "clang++"].map(String::from).to_vec(),
        };
        Self::new(&tools, root, &compilers)
    }

    /// Uses the tools in the folder `tools`, such as `/path/to/.tools`, and the command `compiler`, such as `g++` or
    /// `ccache g++`.
    ///
    /// # Errors
    ///
    /// As [`Toolchain::find`].
    pub fn at(tools: &Path, compiler: &str) -> Result<Self, Error> {
        let root = verilator_root(tools)
            .ok_or_else(|| Error::VerilatorMissing { searched: format!("in {}", tools.display()) })?;
        Self::new(tools, root, &[compiler.to_string()])
    }

    /// The same tools with another folder for built models.
    #[must_use]
    pub fn with_cache(mut self, folder: &Path) -> Self {
        self.cache = folder.to_path_buf();
        self
    }

    /// The folder that keeps built models; may not exist yet.
    #[must_use]
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    fn new(tools: &Path, root: PathBuf, compilers: &[String]) -> Result<Self, Error> {
        let (compiler, compiler_version) = compilers
            .iter()
            .find_map(|candidate| {
                let words: Vec<String> = candidate.split_whitespace().map(String::from).collect();
                let (program, arguments) = words.split_first()?;
                let output = Command::new(program).args(arguments).arg("--version").output().ok()?;
                let version =
                    String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or("").to_string();
                output.status.success().then_some((words, version))
            })
            .ok_or_else(|| Error::CompilerMissing { searched: format!("tried {}", compilers.join(", ")) })?;
        let binary = root.join("bin/verilator_bin");
        let output = Command::new(&binary)
            .arg("--version")
            .env("VERILATOR_ROOT", &root)
            .output()
            .map_err(Error::io("cannot run", &binary))?;
        let cache = tools.canonicalize().map_err(Error::io("cannot find", tools))?.join("models");
        let verilator_version = String::from_utf8_lossy(&output.stdout).trim().to_string();
        Ok(Self { root, verilator_version, compiler, compiler_version, cache })
    }

    /// `verilator_bin` called directly, so that neither Perl nor Python nor make is needed.
    pub(crate) fn verilator(&self) -> Command {
        let mut command = Command::new(self.root.join("bin/verilator_bin"));
        command.env("VERILATOR_ROOT", &self.root);
        command
    }

    /// The C++ compiler with its leading arguments.
    pub(crate) fn cxx(&self) -> Command {
        // `new` checked that there is a first word.
        let mut words = self.compiler.iter();
        let mut command = Command::new(words.next().map_or("c++", String::as_str));
        command.args(words);
        command
    }
}

/// The folder of the tools and Verilator's root in it.
fn find_verilator() -> Result<(PathBuf, PathBuf), Error> {
    if let Some(tools) = env::var_os("DELTALINE_TOOLS").filter(|value| !value.is_empty()) {
        let tools = PathBuf::from(tools);
        return match verilator_root(&tools) {
            Some(root) => Ok((tools, root)),
            None => {
                Err(Error::VerilatorMissing { searched: format!("DELTALINE_TOOLS is {}", tools.display()) })
            }
        };
    }
    let starts = [env::current_dir().ok(), env::current_exe().ok()];
    for start in starts.iter().flatten() {
        for folder in start.ancestors() {
            let tools = folder.join(".tools");
            if let Some(root) = verilator_root(&tools) {
                return Ok((tools, root));
            }
        }
    }
    let searched: Vec<String> = starts.iter().flatten().map(|start| start.display().to_string()).collect();
    Err(Error::VerilatorMissing { searched: format!("upwards from {}", searched.join(" and ")) })
}

/// Verilator's root folder under `tools`, absolute because Verilator runs in other folders, whatever the version of the virtual environment's Python.
fn verilator_root(tools: &Path) -> Option<PathBuf> {
    let entries = tools.canonicalize().ok()?.join("simulation/lib").read_dir().ok()?;
    entries
        .flatten()
        .map(|entry| entry.path().join("site-packages/verilator"))
        .find(|root| root.join("bin/verilator_bin").is_file())
}
