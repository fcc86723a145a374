//! Writes a design's package: its Verilog with all that goes along with it.
//!
//! A package appears whole or not at all: it is written into a folder beside its place and renamed. A folder that is
//! there already is replaced if it is a package as it was written; what a user has put or changed there is not lost.
//!
//! Test plan: a new folder, one inside folders that are missing, an empty one, a package over an older one; refusals
//! of a file, of a folder with a foreign file, of a package with a changed or a missing file, of the working folder;
//! each refusal leaves everything as it was, and nothing is left beside the folder; `sha256sum -c` passes. A file without
//! a seed gets one, and says so; a shipped design says that its seed is fixed; a file with a seed says nothing.

use crate::Failure;
use deltaline_design::{DEFAULT, Design, DesignError};
use deltaline_hdl::emit::package::{File, MANIFEST, package, sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A shipped design (see --list), or the path of a file that ends in .toml
    #[arg(default_value = DEFAULT, value_name = "CONFIG")]
    design: String,
    /// Folder of the package
    #[arg(long, default_value = "out/verilog", value_name = "DIR")]
    out: PathBuf,
    /// Name of the top module, and prefix of all other modules and files
    #[arg(long, default_value = "deltaline", value_name = "PREFIX")]
    name: String,
    /// Number that hosts read from the register `build`, to tell builds apart
    #[arg(long, default_value_t = 0)]
    build: u32,
    /// Show the shipped designs and write nothing
    #[arg(long)]
    list: bool,
}

/// Does what the arguments ask for.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.list {
        return list();
    }
    let design = find(&arguments.design)?.with_build(arguments.build);
    let files =
        package(&design, &arguments.name).map_err(|error| format!("{}: {error}", arguments.design))?;
    write(&arguments.out, &files)?;
    for file in &files {
        println!("{}", arguments.out.join(&file.name).display());
    }
    if let Some(note) = seed_note(&design, arguments) {
        eprintln!("{note}");
    }
    Ok(())
}

/// Whether the argument is a file, not a shipped design's name.
fn is_file(design: &str) -> bool {
    design.ends_with(".toml")
}

/// What a user has to know of the seed, unless it stands in the user's own file.
fn seed_note(design: &Design, arguments: &Arguments) -> Option<String> {
    let seed = design.configuration().seed();
    if design.seed_is_drawn() {
        let file = arguments.out.join(format!("{}.toml", arguments.name));
        let file = file.display();
        return Some(format!(
            "the design names no seed: {seed} was drawn. {file} has it: make the other end's hardware of that file, and \
             give it to host programs"
        ));
    }
    (!is_file(&arguments.design)).then(|| {
        format!(
            "seed {seed} is the fixed seed of the shipped design {}: whoever knows it can choose packets that are sampled. \
             For a seed of your own, copy hdl/configurations/{}.toml without its seed, and give that file",
            design.name(),
            design.name()
        )
    })
}

/// The design of this name or path.
pub(crate) fn find(design: &str) -> Result<Design, DesignError> {
    if is_file(design) { Design::complete(Path::new(design)) } else { Design::named(design) }
}

/// Prints the shipped designs.
fn list() -> Result<(), Failure> {
    println!("{:<14} {:>9} {:>7} {:>11} {:>10}  what for", "design", "Gbit/s", "bits", "MHz", "rows");
    for design in Design::all()? {
        let (stream, configuration) = (design.stream(), design.configuration());
        println!(
            "{:<14} {:>9} {:>7} {:>11.3} {:>10}  {}",
            design.name(),
            stream.rate_gbps,
            format!("{} x {}", stream.lanes, stream.width),
            stream.clock_mhz,
            format!("{} x {}", configuration.prefixes().banks(), configuration.rows()),
            design.description(),
        );
    }
    Ok(())
}

/// Why a package is not written.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    /// The place is taken by something that is no folder.
    #[error("{}: is not a folder; choose another --out", .0.display())]
    NotAFolder(PathBuf),
    /// The folder is the working folder or holds it.
    #[error("{}: is the working folder or holds it, and would be replaced; choose another --out", .0.display())]
    WorkingFolder(PathBuf),
    /// The folder holds something else than a package as it was written.
    #[error("{}: {what}; a package replaces only a package that nobody changed: choose another --out, or move the folder away", folder.display())]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// What was found.
        what: String,
    },
    /// The operating system refuses.
    #[error("{}: cannot be written: {source}; choose another --out", path.display())]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Writes the files of a package as the folder `out`.
fn write(out: &Path, files: &[File]) -> Result<(), Refusal> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| Refusal::Io { path, source }
    };
    // The true place, so that a symbolic link stays one.
    let out = if out.exists() { fs::canonicalize(out).map_err(failed(out))? } else { out.to_path_buf() };
    let is_there = out.exists();
    if is_there {
        check_replaceable(&out)?;
    }
    let beside = match out.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(beside).map_err(failed(beside))?;
    let temporary = |purpose: &str| {
        let mut builder = tempfile::Builder::new();
        builder.prefix(purpose).permissions(permissions());
        builder.tempdir_in(beside).map_err(failed(beside))
    };
    let new = temporary(".verilog-new-")?;
    for file in files {
        let path = new.path().join(&file.name);
        fs::write(&path, &file.text).map_err(failed(&path))?;
    }
    if is_there {
        // Out of the way first: only an empty folder can be renamed over. It comes back if the second step fails.
        let old = temporary(".verilog-old-")?;
        fs::rename(&out, old.path()).map_err(failed(&out))?;
        let renamed = fs::rename(new.path(), &out);
        if renamed.is_err() {
            fs::rename(old.path(), &out).map_err(failed(&out))?;
        }
        renamed.map_err(failed(&out))
    } else {
        fs::rename(new.path(), &out).map_err(failed(&out))
    }
}

/// Those of a new folder, without what the user's mask takes away.
fn permissions() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(0o777)
}

/// Passes an empty folder, and a package as it was written.
fn check_replaceable(folder: &Path) -> Result<(), Refusal> {
    let failed = |source| Refusal::Io { path: folder.to_path_buf(), source };
    let foreign = |what: String| Refusal::Foreign { folder: folder.to_path_buf(), what };
    if !folder.is_dir() {
        return Err(Refusal::NotAFolder(folder.to_path_buf()));
    }
    if std::env::current_dir().is_ok_and(|working| working.starts_with(folder)) {
        return Err(Refusal::WorkingFolder(folder.to_path_buf()));
    }
    let mut names = vec![];
    for entry in fs::read_dir(folder).map_err(failed)? {
        names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
    }
    if names.is_empty() {
        return Ok(());
    }
    names.sort();
    let manifest = fs::read_to_string(folder.join(MANIFEST))
        .map_err(|_| foreign(format!("holds {} and is no package", names[0])))?;
    let listed: Vec<(&str, &str)> = manifest.lines().filter_map(|line| line.split_once("  ")).collect();
    for name in names.iter().filter(|name| *name != MANIFEST) {
        let hash = listed.iter().find(|(_, listed)| listed == name).map(|(hash, _)| *hash);
        let hash = hash.ok_or_else(|| foreign(format!("{name} is not part of the package")))?;
        if !fs::read(folder.join(name)).is_ok_and(|content| sha256(&content) == hash) {
            return Err(foreign(format!("{name} was changed")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::process::Command;

    fn files(prefix: &str) -> Vec<File> {
        package(&Design::named(DEFAULT).unwrap(), prefix).unwrap()
    }

    /// Everything below a folder.
    fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.insert(path.clone(), vec![]);
                found.append(&mut content(&path));
            } else {
                found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
        found
    }

    #[test]
    fn a_package_is_written_whole_and_replaces_an_older_one() {
        use std::os::unix::fs::PermissionsExt;
        let (one, other) = (files("one_tap"), files("other_tap"));
        let folder = tempfile::tempdir().unwrap();
        let empty = folder.path().join("empty");
        fs::create_dir(&empty).unwrap();
        let linked = folder.path().join("linked");
        std::os::unix::fs::symlink(&empty, &linked).unwrap();
        for out in [empty, folder.path().join("missing/and/deeper"), linked.clone()] {
            for files in [&one, &one, &other] {
                write(&out, files).unwrap();
                assert_eq!(fs::read_dir(&out).unwrap().count(), files.len());
                for file in files {
                    assert_eq!(fs::read_to_string(out.join(&file.name)).unwrap(), file.text);
                }
                let mut sha256sum = Command::new("sha256sum");
                sha256sum.args(["-c", "--strict", "--quiet", MANIFEST]).current_dir(&out);
                let checked = sha256sum.status().unwrap();
                assert!(checked.success());
            }
            // As any folder, not as a temporary one.
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
            let plain = folder.path().join("plain");
            fs::create_dir_all(&plain).unwrap();
            assert_eq!(mode(&out), mode(&plain));
        }
        assert!(fs::symlink_metadata(linked).unwrap().is_symlink());
        let names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 4, "{names:?}");
    }

    #[test]
    fn what_is_not_an_untouched_package_stays() {
        let (one, other) = (files("deltaline"), files("other"));
        type Change = fn(&Path);
        let changes: [(&str, Change); 6] = [
            ("is not a folder", |out| {
                fs::remove_dir_all(out).unwrap();
                fs::write(out, "mine").unwrap();
            }),
            ("notes.txt is not part of the package", |out| fs::write(out.join("notes.txt"), "mine").unwrap()),
            ("sub is not part of the package", |out| fs::create_dir(out.join("sub")).unwrap()),
            ("deltaline.xdc was changed", |out| fs::write(out.join("deltaline.xdc"), "mine").unwrap()),
            ("is no package", |out| fs::remove_file(out.join(MANIFEST)).unwrap()),
            ("deltaline.f was changed", |out| {
                fs::remove_file(out.join("deltaline.f")).unwrap();
                fs::create_dir(out.join("deltaline.f")).unwrap();
            }),
        ];
        for (what, change) in changes {
            let folder = tempfile::tempdir().unwrap();
            let out = folder.path().join("package");
            write(&out, &one).unwrap();
            change(&out);
            let before = content(folder.path());
            let message = write(&out, &other).unwrap_err().to_string();
            for fragment in [what, out.to_str().unwrap(), "choose another --out"] {
                assert!(message.contains(fragment), "no '{fragment}' in: {message}");
            }
            assert_eq!(content(folder.path()), before, "{what}");
        }
        let message = write(Path::new("."), &one).unwrap_err().to_string();
        assert!(message.contains("working folder"), "{message}");
        let message = write(Path::new("/dev/null/package"), &one).unwrap_err().to_string();
        assert!(message.contains("/dev/null") && message.contains("cannot be written"), "{message}");
    }

    #[test]
    fn designs_are_found_by_name_and_by_path() {
        assert_eq!(find(DEFAULT).unwrap().name(), DEFAULT);
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../hdl/configurations/10g.toml");
        assert_eq!(find(file).unwrap(), find(DEFAULT).unwrap());
        assert!(matches!(find("1t"), Err(DesignError::Unknown(_))));
        assert!(matches!(find("1t.toml"), Err(DesignError::Read { .. })));
    }

    #[test]
    fn a_seed_that_the_user_did_not_choose_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("package");
        let arguments = |design: &str| Arguments {
            design: design.to_string(),
            out: out.clone(),
            name: "tap".into(),
            build: 0,
            list: false,
        };
        let file = folder.path().join("my_tap.toml");
        let path = file.to_str().unwrap();
        let shipped = include_str!("../../hdl/configurations/10g.toml").replace("rows = 1024", "rows = 16");
        fs::write(&file, shipped.replace("seed = 1\n", "")).unwrap();
        run(&arguments(path)).unwrap();
        // The file in the package is complete, and that of the user is as it was.
        let completed = Design::load(&out.join("tap.toml")).unwrap();
        assert!(matches!(Design::load(&file), Err(DesignError::NoSeed { .. })));
        let verilog = fs::read_to_string(out.join("tap.v")).unwrap();
        assert!(verilog.contains(&format!("seed {}\n", completed.configuration().seed())));
        let note = seed_note(&find(path).unwrap(), &arguments(path)).unwrap();
        assert!(note.contains("was drawn") && note.contains("tap.toml"), "{note}");
        fs::write(&file, &shipped).unwrap();
        assert_eq!(seed_note(&find(path).unwrap(), &arguments(path)), None);
        let note = seed_note(&find(DEFAULT).unwrap(), &arguments(DEFAULT)).unwrap();
        assert!(
            note.contains("seed 1 is the fixed seed") && note.contains("hdl/configurations/10g.toml"),
            "{note}"
        );
    }
}
