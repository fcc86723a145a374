//! Debian packages, downloaded by apt and unpacked without root.
//!
//! Test plan: the filter of the package database keeps other packages. The installations need a network and are tested
//! by use.

use super::error::{Error, io_error, run};
use super::folder;
use super::missing::{Missing, is_on_path, succeeds};
use super::staging::{Staging, entries, is_complete, marker_text};
use super::unpacked::Unpacked;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A set of Debian packages that are unpacked together.
pub(super) struct Packages {
    /// Name of the folder in `.tools`.
    pub(super) name: &'static str,
    packages: &'static [&'static str],
    /// Download what the packages depend on, too, unless the system has it.
    with_dependencies: bool,
    /// The packages that a user would ask for.
    wanted: &'static str,
    /// Programs of the system that make the set unnecessary.
    programs: &'static [&'static str],
    /// A file of the system without which it is necessary all the same.
    file: Option<&'static str>,
    /// What is seen to run once it is unpacked.
    tests: fn(&Unpacked) -> Vec<(Command, &'static str)>,
    hint: &'static str,
}

pub(super) const DEBIAN: Packages = Packages {
    name: "debian",
    packages: &["iverilog", "tshark"],
    with_dependencies: true,
    wanted: "iverilog tshark",
    programs: &["iverilog", "vvp", "tshark"],
    file: None,
    tests: |here| {
        let [compiler, simulator] =
            [("iverilog", "-B"), ("vvp", "-M")].map(|(name, at)| here.icarus(name, at));
        vec![(compiler, "-V"), (simulator, "-V"), (here.tshark(), "--version")]
    },
    hint: "\nas root, `apt-get install iverilog tshark` makes this step unnecessary",
};

pub(super) const TIMING: Packages = Packages {
    name: "timing",
    packages: &["opensta", "libtcl8.6", "qflow-tech-osu018"],
    // The library is one file, but depends on all of qflow; what else OpenSTA needs, Python needs as well.
    with_dependencies: false,
    wanted: "opensta qflow-tech-osu018",
    programs: &["sta"],
    file: Some(OSU018),
    tests: |here| vec![(here.sta(), "-version")],
    hint: "\nDebian 12 has both packages, later releases do not; any OpenSTA on the PATH, with the library in its place, will do",
};

pub(super) const ICESTORM: Packages = Packages {
    name: "icestorm",
    packages: &["fpga-icestorm", "fpga-icestorm-chipdb"],
    // What is used of it is in Python.
    with_dependencies: false,
    wanted: "fpga-icestorm",
    programs: &["icebox_vlog"],
    file: None,
    tests: |here| vec![(here.icebox_vlog(), "--help")],
    hint: "\nas root, `apt-get install fpga-icestorm` makes this step unnecessary",
};

pub(super) const FRR: Packages = Packages {
    name: "frr",
    packages: &["frr"],
    with_dependencies: true,
    wanted: "frr",
    programs: &[],
    // Daemons are in a folder that is not on the PATH.
    file: Some("usr/lib/frr/ospfd"),
    tests: |here| FRR_DAEMONS.map(|daemon| (here.frr(daemon), "--version")).into(),
    hint: "\nas root, `apt-get install frr` makes this step unnecessary",
};

pub(super) const FRR_FOLDER: &str = "usr/lib/frr";
pub(super) const FRR_DAEMONS: [&str; 2] = ["zebra", "ospfd"];
pub(super) const ICARUS: [&str; 2] = ["iverilog", "vvp"];
pub(super) const OSU018: &str = "usr/share/qflow/tech/osu018/osu018_stdcells.lib";
const PYTHON_HINT: &str = "\nas root, `apt-get install libpython3-dev` makes this step unnecessary";
const DPKG_STATUS: &str = "/var/lib/dpkg/status";

impl Packages {
    fn marker(&self) -> String {
        marker_text(&format!("{} with links of their own", self.packages.join(" ")))
    }

    pub(super) fn is_on_system(&self) -> bool {
        is_on_path(self.programs) && self.file.is_none_or(|file| Path::new("/").join(file).is_file())
    }

    pub(super) fn is_installed(&self) -> Result<bool, Error> {
        Ok(self.is_on_system() || is_complete(&folder()?.join(self.name), &self.marker()))
    }
}

pub(super) fn install_debian(set: &Packages) -> Result<(), Error> {
    let folder = folder()?;
    let place = folder.join(set.name);
    let names = set.packages.join(" and ");
    eprintln!("unpacking {names} into {}", place.display());
    let staging = Staging::new(&folder, set.name)?;
    let new = staging.path();
    unpack(set.packages, set.with_dependencies, new, set.hint)?;

    let unpacked = Unpacked::at(new)?;
    if set.programs.contains(&"tshark") {
        unpacked.relink()?;
        unpacked.check_data()?;
    }
    for (mut test, option) in (set.tests)(&unpacked) {
        let what = format!("testing {}", test.get_program().display());
        run(&what, test.arg(option), "")?;
    }
    staging.finish(&place, &set.marker())?;
    eprintln!("installed {names}");
    Ok(())
}

/// Downloads packages and unpacks them into a folder.
fn unpack(packages: &[&str], with_dependencies: bool, into: &Path, hint: &'static str) -> Result<(), Error> {
    let apt = PrivateApt::new(&into.join("apt"))?;
    run("reading the list of Debian packages", apt.command().arg("update"), hint)?;
    let mut download = apt.command();
    if with_dependencies {
        download.args(["install", "--download-only", "--yes", "--no-install-recommends"]);
    } else {
        download.arg("download").current_dir(apt.archives());
    }
    download.args(packages);
    run("downloading Debian packages", &mut download, hint)?;
    for package in entries(&apt.archives())? {
        if package.extension() == Some(OsStr::new("deb")) {
            let name = package.file_name().unwrap_or_default().to_string_lossy().into_owned();
            eprintln!("unpacking {name}");
            let mut unpack = Command::new("dpkg");
            unpack.arg("-x").arg(&package).arg(into);
            run("unpacking a Debian package", &mut unpack, "")?;
        }
    }
    fs::remove_dir_all(&apt.folder).map_err(io_error("remove", &apt.folder))
}

/// Gives the shared library of Debian's Python to an environment of it, in whose folder `lib` it is looked for: Debian
/// has the library in a package of its own. `version` is the interpreter's, as 3.11.
pub(super) fn add_python_library(environment: &Path, version: &str) -> Result<(), Error> {
    let folder = environment.join("debian");
    fs::create_dir_all(&folder).map_err(io_error("create", &folder))?;
    let package = format!("libpython{version}");
    // Its name has an ending on some systems (libpython3.12t64): apt finds that as it resolves dependencies.
    unpack(&[&package], true, &folder, PYTHON_HINT)?;
    let soname = format!("{package}.so.1.0");
    let library = Unpacked::at(&folder)?.library(&soname);
    let place = environment.join("lib").join(format!("{package}.so"));
    fs::rename(&library, &place).map_err(io_error("find the library of Python as", &library))?;
    fs::remove_dir_all(&folder).map_err(io_error("remove", &folder))
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

/// Whether packages can be downloaded and unpacked.
pub(super) fn has_apt() -> bool {
    ["apt-get", "dpkg", "dpkg-deb"].iter().all(|program| succeeds(Command::new(program).arg("--version")))
}

pub(super) fn missing_apt(set: &Packages) -> Option<Missing> {
    if has_apt() {
        return None;
    }
    let what = format!(
        "{}; without apt they are not installed automatically, use the system's own packages",
        set.packages.join(" and ")
    );
    Some(Missing { what, packages: set.wanted })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_wanted_packages_leave_the_database() {
        let status = "Package: bash\nStatus: install ok installed\n\nPackage: tshark\nSource: wireshark\nVersion: 4\n\n\
                      Package: libwireshark16\nSource: wireshark (4.0)\n\nPackage: iverilog\n\n\
                      Package: wireshark-doc\nSource: other\nDescription: x\n Package: iverilog\n";
        let expected = "Package: bash\nStatus: install ok installed\n\n\
                        Package: wireshark-doc\nSource: other\nDescription: x\n Package: iverilog\n\n";
        assert_eq!(without_packages(status), expected);
    }
}
