//! The program as a Debian package: `cargo xtask package`.
//!
//! | in the package | what |
//! |---|---|
//! | `/usr/bin/deltaline` | the program, without simulator and lab, stripped |
//! | `/usr/lib/systemd/system/deltaline@.service` | reads from a source for as long as the machine runs |
//! | `/usr/share/man`, completions of bash, zsh and fish | made by the program itself |
//! | `/usr/share/doc/deltaline` | licences, changelog, `json.md`, an example of the unit's settings |
//!
//! It depends on the C library of the system that it is built on, or a later one. Times in it are those of the commit, so that
//! the same commit gives the same bytes.
//!
//! # Test plan
//!
//! The package is unpacked into a folder of its own, as dpkg would do below the root, and what came is looked at, not what was
//! put in: the program runs, `man` and bash read what is theirs, systemd verifies the unit, where each of them is there.
//! A unit with a mistake does not pass (`tests`).

use crate::{Failure, cargo, tools};
use flate2::{Compression, GzBuilder};
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const NAME: &str = "deltaline";
const UNIT: &str = "usr/lib/systemd/system/deltaline@.service";
/// Shells whose completions are installed, and where.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/deltaline"),
    ("zsh", "usr/share/zsh/vendor-completions/_deltaline"),
    ("fish", "usr/share/fish/vendor_completions.d/deltaline.fish"),
];

/// Builds the package into `out/package`, and checks it.
pub(crate) fn run() -> Result<(), Failure> {
    let workspace = tools::workspace()?;
    cargo::build_program()?;
    let folder = workspace.join("out/package");
    fs::create_dir_all(&folder)?;
    let root = TempDir::new_in(&folder)?;
    fill(root.path(), &workspace)?;
    let package = pack(root.path(), &folder)?;
    check(&package)?;
    println!("{}", package.display());
    Ok(())
}

/// Puts everything in its place below `root`.
fn fill(root: &Path, workspace: &Path) -> Result<(), Failure> {
    let program = root.join("usr/bin").join(NAME);
    let built = workspace.join("target/release").join(NAME);
    put(&program, &fs::read(built)?, 0o755)?;
    told(Command::new("strip").arg(&program))?;

    let pages = TempDir::new_in(root)?;
    told(Command::new(&program).arg("manual").arg(pages.path()))?;
    for page in fs::read_dir(pages.path())? {
        let page = page?;
        let target = root.join("usr/share/man/man1").join(page.file_name()).with_extension("1.gz");
        put(&target, &compressed(&fs::read(page.path())?)?, 0o644)?;
    }
    for (shell, target) in SHELLS {
        put(&root.join(target), &told(Command::new(&program).args(["completions", shell]))?, 0o644)?;
    }
    let debian = workspace.join("host/cli/debian");
    put(&root.join(UNIT), &fs::read(debian.join("deltaline@.service"))?, 0o644)?;
    let documents = root.join("usr/share/doc").join(NAME);
    for (source, name) in [
        (debian.join("copyright"), "copyright"),
        (debian.join("example.conf"), "example.conf"),
        (workspace.join("docs/json.md"), "json.md"),
        (workspace.join("LICENSE-MIT"), "LICENSE-MIT"),
        (workspace.join("THIRD-PARTY-NOTICES.txt"), "THIRD-PARTY-NOTICES.txt"),
    ] {
        put(&documents.join(name), &fs::read(source)?, 0o644)?;
    }
    put(&documents.join("changelog.gz"), &compressed(&fs::read(workspace.join("CHANGELOG.md"))?)?, 0o644)
}

/// Makes the package of what is below `root`.
fn pack(root: &Path, folder: &Path) -> Result<PathBuf, Failure> {
    let text = |command: &mut Command| -> Result<String, Failure> {
        Ok(String::from_utf8(told(command)?)?.trim().to_string())
    };
    let architecture = text(Command::new("dpkg").arg("--print-architecture"))?;
    let library = text(Command::new("dpkg-query").args(["--show", "--showformat", "${Version}\n", "libc6"]))?;
    let library = library.split('-').next().unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    let control = format!(
        "Package: {NAME}\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: The Deltaline authors \
         <deltaline@localhost>\nSection: net\nPriority: optional\nDepends: libc6 (>= {library}), libgcc-s1\n\
         Description: one-way delay, jitter and loss of real traffic\n Two points of a path each keep a small table of \
         packet counts and timestamp\n sums (Lossy Difference Aggregator); the difference of the tables gives delay,\n \
         jitter and loss. Reads captures, network interfaces and boards.\n"
    );
    put(&root.join("DEBIAN/control"), control.as_bytes(), 0o644)?;
    let package = folder.join(format!("{NAME}_{version}_{architecture}.deb"));
    let mut command = Command::new("dpkg-deb");
    command.args(["--root-owner-group", "--build"]).arg(root).arg(&package);
    // Without a repository, times are those of now.
    let mut git = Command::new("git");
    if let Ok(commit) = text(git.args(["log", "-1", "--format=%ct"]).current_dir(tools::workspace()?)) {
        command.env("SOURCE_DATE_EPOCH", commit);
    }
    told(&mut command)?;
    Ok(package)
}

/// Unpacks the package and looks at what came.
fn check(package: &Path) -> Result<(), Failure> {
    let root = TempDir::new()?;
    let root = root.path();
    told(Command::new("dpkg-deb").arg("--extract").arg(package).arg(root))?;
    let program = root.join("usr/bin").join(NAME);
    let version = String::from_utf8(told(Command::new(&program).arg("--version"))?)?;
    if version.trim() != format!("{NAME} {}", env!("CARGO_PKG_VERSION")) {
        return Err(format!("the packaged program says {version:?}").into());
    }
    for page in fs::read_dir(root.join("usr/share/man/man1"))? {
        let mut command = Command::new("man");
        quiet(command.args(["--warnings", "--local-file"]).arg(page?.path()))?;
    }
    quiet(Command::new("bash").arg("-n").arg(root.join(SHELLS[0].1)))?;
    verify_unit(root)
}

/// Lets systemd look at an instance of the unit below `root`, whose settings are the example.
fn verify_unit(root: &Path) -> Result<(), Failure> {
    let example = fs::read(root.join("usr/share/doc").join(NAME).join("example.conf"))?;
    put(&root.join("etc/deltaline/example.conf"), &example, 0o644)?;
    // Other units, which a root without systemd lacks.
    for unit in ["network-online.target", "sysinit.target", "basic.target", "shutdown.target"] {
        let text = "[Unit]\nDescription=stands for the system's\n";
        put(&root.join("usr/lib/systemd/system").join(unit), text.as_bytes(), 0o644)?;
    }
    let mut command = Command::new("systemd-analyze");
    command.arg(format!("--root={}", root.display())).args([
        "verify",
        "--man=no",
        "deltaline@example.service",
    ]);
    quiet(&mut command)
}

/// Writes a file, with the folders above it.
fn put(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
        fs::set_permissions(folder, Permissions::from_mode(0o755))?;
    }
    fs::write(path, bytes)?;
    Ok(fs::set_permissions(path, Permissions::from_mode(mode))?)
}

/// As `gzip -9n`, which Debian wants.
fn compressed(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut writer = GzBuilder::new().mtime(0).write(vec![], Compression::best());
    writer.write_all(bytes)?;
    Ok(writer.finish()?)
}

/// What a program writes, if it succeeds.
fn told(command: &mut Command) -> Result<Vec<u8>, Failure> {
    let output = command.output().map_err(|reason| format!("{command:?}: {reason}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr)).into())
}

/// A program that is there must succeed and complain of nothing.
fn quiet(command: &mut Command) -> Result<(), Failure> {
    let output = match command.output() {
        Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => {
            eprintln!(
                "{}: is not there, what it would look at is not looked at",
                command.get_program().display()
            );
            return Ok(());
        }
        output => output?,
    };
    let complaints = String::from_utf8_lossy(&output.stderr);
    if output.status.success() && complaints.trim().is_empty() {
        return Ok(());
    }
    Err(format!("{command:?}: {}", complaints.trim()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root with the unit, and with something in the program's place.
    fn root(unit: &str) -> TempDir {
        let root = TempDir::new().unwrap();
        let debian = tools::workspace().unwrap().join("host/cli/debian");
        let example = fs::read(debian.join("example.conf")).unwrap();
        put(&root.path().join("usr/share/doc/deltaline/example.conf"), &example, 0o644).unwrap();
        put(&root.path().join("usr/bin/deltaline"), b"#!/bin/sh\n", 0o755).unwrap();
        put(&root.path().join(UNIT), unit.as_bytes(), 0o644).unwrap();
        root
    }

    #[test]
    fn a_unit_with_a_mistake_is_noticed() {
        let debian = tools::workspace().unwrap().join("host/cli/debian");
        let unit = fs::read_to_string(debian.join("deltaline@.service")).unwrap();
        verify_unit(root(&unit).path()).unwrap();
        if Command::new("systemd-analyze").arg("--version").output().is_err() {
            return;
        }
        for (right, wrong) in
            [("/usr/bin/deltaline", "/usr/bin/deltalime"), ("ProtectHome=yes", "ProtectHomes=yes")]
        {
            assert!(unit.contains(right));
            assert!(verify_unit(root(&unit.replace(right, wrong)).path()).is_err(), "{wrong}");
        }
    }
}
