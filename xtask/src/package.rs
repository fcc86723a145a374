//! The program as a Debian package: `cargo xtask package`.
//!
//! | in the package | what |
//! |---|---|
//! | `/usr/bin/deltaline` | the program, without simulator and lab, stripped |
//! | `/usr/lib/systemd/system/deltaline@.service` | reads from a source for as long as the machine runs |
//! | `/usr/share/man`, completions of bash, zsh and fish | made by the program itself |
//! | `/usr/share/doc/deltaline` | licences, changelogs, `json.md`, `metrics.md`, an example of the unit's settings |
//! | `/etc/deltaline` | empty: for the settings, which are the user's and stay |
//!
//! Its scripts end the unit's instances where the program is removed, and restart them where it is replaced. It depends on the C library of the system that it is built on, or a later one. Times in it are those of the commit, so that
//! the same commit gives the same bytes.
//!
//! # Test plan
//!
//! dpkg installs the package below a folder of its own, without root, and what came is looked at, not what was put in: every
//! file is as the package's sums say, the program runs, `man` and bash read what is theirs, systemd verifies the unit. Removed
//! again, it leaves the settings that somebody wrote, and nothing else. lintian finds no error and no warning. Man, systemd
//! and lintian are asked where they are there. A unit with a mistake does not pass; the scripts call systemd where it
//! runs and only there, and not where the package goes below another root (`tests`).

use crate::{Failure, cargo, tools};
use flate2::{Compression, GzBuilder};
use std::env;
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const NAME: &str = "deltaline";
const UNIT: &str = "usr/lib/systemd/system/deltaline@.service";
/// The settings of the unit's instances.
const SETTINGS: &str = "etc/deltaline";
/// Of the package, behind the program's version.
const REVISION: u32 = 1;
/// Of the authors; there is no address to write to.
const MAINTAINER: &str = "The Deltaline authors <deltaline@localhost>";
/// Scripts that dpkg runs: after the files came, and before they go.
const SCRIPTS: [&str; 2] = ["postinst", "prerm"];
/// Shells whose completions are installed, and where.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/deltaline"),
    ("zsh", "usr/share/zsh/vendor-completions/_deltaline"),
    ("fish", "usr/share/fish/vendor_completions.d/deltaline.fish"),
];

/// Builds the package into `out/package`, and checks it.
pub(crate) fn run() -> Result<(), Failure> {
    let workspace = tools::workspace()?;
    let program = cargo::build_program(&[])?;
    let folder = workspace.join("out/package");
    fs::create_dir_all(&folder)?;
    let root = TempDir::new_in(&folder)?;
    fill(root.path(), &workspace, &program)?;
    let package = pack(root.path(), &workspace, &folder)?;
    check(&package)?;
    println!("{}", package.display());
    Ok(())
}

/// Puts everything in its place below `root`.
fn fill(root: &Path, workspace: &Path, built: &Path) -> Result<(), Failure> {
    let program = root.join("usr/bin").join(NAME);
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
        (workspace.join("docs/metrics.md"), "metrics.md"),
        (workspace.join("LICENSE-MIT"), "LICENSE-MIT"),
        (workspace.join("THIRD-PARTY-NOTICES.txt"), "THIRD-PARTY-NOTICES.txt"),
    ] {
        put(&documents.join(name), &fs::read(source)?, 0o644)?;
    }
    put(&documents.join("changelog.gz"), &compressed(&fs::read(workspace.join("CHANGELOG.md"))?)?, 0o644)?;
    folder_for_all(&root.join(SETTINGS))?;
    for script in SCRIPTS {
        put(&root.join("DEBIAN").join(script), &fs::read(debian.join(script))?, 0o755)?;
    }
    Ok(())
}

/// Makes the package of what is below `root`.
fn pack(root: &Path, workspace: &Path, folder: &Path) -> Result<PathBuf, Failure> {
    let architecture = text(Command::new("dpkg").arg("--print-architecture"))?;
    let library = text(Command::new("dpkg-query").args(["--show", "--showformat", "${Version}\n", "libc6"]))?;
    let library = library.split('-').next().unwrap_or_default();
    let version = format!("{}-{REVISION}", env!("CARGO_PKG_VERSION"));
    let seconds = seconds(workspace)?;
    let date =
        text(Command::new("date").args(["--utc", "--rfc-email", "--date"]).arg(format!("@{seconds}")))?;
    let changes = format!(
        "{NAME} ({version}) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- {MAINTAINER}  {date}\n"
    );
    let documents = root.join("usr/share/doc").join(NAME);
    put(&documents.join("changelog.Debian.gz"), &compressed(changes.as_bytes())?, 0o644)?;

    let control = format!(
        "Package: {NAME}\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\nSection: net\n\
         Priority: optional\nDepends: libc6 (>= {library}), libgcc-s1\n\
         Description: one-way delay, jitter and loss of real traffic\n Two points of a path each keep a small table of \
         packet counts and timestamp\n sums (Lossy Difference Aggregator); the difference of the tables gives delay,\n \
         jitter and loss. Reads captures, network interfaces and boards.\n"
    );
    put(&root.join("DEBIAN/control"), control.as_bytes(), 0o644)?;
    let sums = "find * -path DEBIAN -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum";
    let sums = told(Command::new("sh").args(["-c", sums]).current_dir(root))?;
    put(&root.join("DEBIAN/md5sums"), &sums, 0o644)?;

    let package = folder.join(format!("{NAME}_{version}_{architecture}.deb"));
    let mut command = Command::new("dpkg-deb");
    command.args(["--root-owner-group", "--build"]).arg(root).arg(&package);
    told(command.env("SOURCE_DATE_EPOCH", seconds))?;
    Ok(package)
}

/// When the commit was made, in seconds since 1970; of sources without a repository, when their changelog was written.
fn seconds(workspace: &Path) -> Result<String, Failure> {
    text(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(workspace)).or_else(|_| {
        text(Command::new("date").args(["+%s", "--reference"]).arg(workspace.join("CHANGELOG.md")))
    })
}

/// Installs the package below a folder, looks at what came, and removes it.
fn check(package: &Path) -> Result<(), Failure> {
    let mut lintian = Command::new("lintian");
    // There is no address of a maintainer, and no bug of Debian that the first version could close.
    lintian.args(["--fail-on", "error,warning", "--no-cfg", "--allow-root", "--suppress-tags"]);
    lintian.arg("bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs");
    quiet(lintian.arg(package))?;

    let root = TempDir::new()?;
    let root = root.path();
    fs::create_dir_all(root.join("var/lib/dpkg/info"))?;
    fs::create_dir_all(root.join("var/lib/dpkg/updates"))?;
    fs::write(root.join("var/lib/dpkg/status"), "")?;
    told(dpkg(root).arg("--install").arg(package))?;
    let changed = told(dpkg(root).args(["--verify", NAME]))?;
    if !changed.is_empty() {
        return Err(format!("installed otherwise than packed:\n{}", String::from_utf8_lossy(&changed)).into());
    }
    check_installed(root)?;

    let settings = root.join(SETTINGS).join("lab.conf");
    put(&settings, b"SOURCE=eth0\n", 0o644)?;
    told(dpkg(root).args(["--remove", NAME]))?;
    let left = files(root)?;
    if left != [settings] {
        return Err(format!("removed, the package leaves {left:?}").into());
    }
    Ok(())
}

/// dpkg, of the system below `root`, which holds no package that this one depends on.
fn dpkg(root: &Path) -> Command {
    let mut command = Command::new("dpkg");
    command.arg(format!("--root={}", root.display()));
    command.args(["--force-not-root", "--force-script-chrootless", "--force-depends"]);
    // It asks for programs that Debian puts on the path of root alone.
    let path = env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{path}:/usr/sbin:/sbin"));
    command
}

/// All files below `root` but dpkg's own.
fn files(root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let (mut files, mut folders) = (vec![], vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                files.push(entry.path());
            } else if entry.path() != root.join("var/lib/dpkg") {
                folders.push(entry.path());
            }
        }
    }
    Ok(files)
}

/// Looks at what is installed below `root`.
fn check_installed(root: &Path) -> Result<(), Failure> {
    let program = root.join("usr/bin").join(NAME);
    let version = text(Command::new(&program).arg("--version"))?;
    if version != format!("{NAME} {}", env!("CARGO_PKG_VERSION")) {
        return Err(format!("the packaged program says {version:?}").into());
    }
    let mut man = Command::new("man");
    man.args(["--warnings", "--local-file"]);
    for page in fs::read_dir(root.join("usr/share/man/man1"))? {
        man.arg(page?.path());
    }
    quiet(&mut man)?;
    quiet(Command::new("bash").arg("-n").arg(root.join(SHELLS[0].1)))?;
    verify_unit(root)
}

/// Lets systemd look at an instance of the unit below `root`, whose settings are the example.
fn verify_unit(root: &Path) -> Result<(), Failure> {
    let example = fs::read(root.join("usr/share/doc").join(NAME).join("example.conf"))?;
    let scratch = TempDir::new()?;
    let scratch = scratch.path();
    put(&scratch.join(SETTINGS).join("example.conf"), &example, 0o644)?;
    for file in [UNIT, "usr/bin/deltaline"] {
        let from = root.join(file);
        put(&scratch.join(file), &fs::read(&from)?, fs::metadata(&from)?.permissions().mode())?;
    }
    // Other units, which a root without systemd lacks.
    for unit in ["network-online.target", "sysinit.target", "basic.target", "shutdown.target"] {
        let text = "[Unit]\nDescription=stands for the system's\n";
        put(&scratch.join("usr/lib/systemd/system").join(unit), text.as_bytes(), 0o644)?;
    }
    let mut command = Command::new("systemd-analyze");
    command.arg(format!("--root={}", scratch.display())).args([
        "verify",
        "--man=no",
        "deltaline@example.service",
    ]);
    quiet(&mut command)
}

/// Writes a file, with the folders above it.
fn put(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        folder_for_all(folder)?;
    }
    fs::write(path, bytes)?;
    Ok(fs::set_permissions(path, Permissions::from_mode(mode))?)
}

/// Makes a folder that everybody may read.
fn folder_for_all(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder)?;
    Ok(fs::set_permissions(folder, Permissions::from_mode(0o755))?)
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

/// What a program writes as text, without the last line's end.
fn text(command: &mut Command) -> Result<String, Failure> {
    Ok(String::from_utf8(told(command)?)?.trim_end().to_string())
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
    if output.status.success() && output.stderr.is_empty() {
        return Ok(());
    }
    let complaints = if output.stderr.is_empty() { output.stdout } else { output.stderr };
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&complaints).trim()).into())
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

    /// What a script of the package calls when dpkg runs it, with `root` for the system that the files are of.
    fn calls(script: &str, arguments: &[&str], root: &str) -> String {
        let folder = TempDir::new().unwrap();
        let log = folder.path().join("log");
        fs::write(&log, "").unwrap();
        for program in ["systemctl", "deb-systemd-invoke"] {
            let text = format!("#!/bin/sh\necho {program} $* >> {}\n", log.display());
            put(&folder.path().join(program), text.as_bytes(), 0o755).unwrap();
        }
        let script = tools::workspace().unwrap().join("host/cli/debian").join(script);
        let mut command = Command::new("/bin/sh");
        command.arg(script).args(arguments).env("PATH", folder.path()).env("DPKG_ROOT", root);
        told(&mut command).unwrap();
        fs::read_to_string(log).unwrap()
    }

    #[test]
    fn the_scripts_call_systemd_where_it_runs_and_only_for_its_own_system() {
        let runs = Path::new("/run/systemd/system").is_dir();
        let unit = "deltaline@*.service";
        let stop = format!("deb-systemd-invoke stop {unit}\n");
        let restart = format!("systemctl --system daemon-reload\ndeb-systemd-invoke try-restart {unit}\n");
        for (script, arguments, expected) in [
            ("prerm", ["remove", ""], &*stop),
            ("prerm", ["upgrade", "0.2.0-1"], ""),
            ("postinst", ["configure", ""], &restart),
            ("postinst", ["abort-remove", ""], ""),
        ] {
            assert_eq!(
                calls(script, &arguments, ""),
                if runs { expected } else { "" },
                "{script} {arguments:?}"
            );
            assert_eq!(calls(script, &arguments, "/other"), "", "{script} {arguments:?}");
        }
    }
}
