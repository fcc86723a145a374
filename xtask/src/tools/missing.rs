//! What has to come from the system, and which packages hold it.
//!
//! Test plan: all that is missing is named, with one command.

use super::error::Error;
use std::env;
use std::process::{Command, Stdio};

/// Something that is missing, and the Debian packages that hold it.
pub(super) struct Missing {
    pub(super) what: String,
    pub(super) packages: &'static str,
}

pub(super) fn report(missing: Vec<Missing>) -> Result<(), Error> {
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = missing.iter().map(|one| one.packages).collect();
    let remedy = format!("apt-get install {}", packages.join(" "));
    Err(Error::Missing { list: missing.into_iter().map(|one| one.what).collect(), remedy })
}

pub(super) fn compiler() -> Option<Missing> {
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

pub(super) fn succeeds(command: &mut Command) -> bool {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

pub(super) fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

/// True if all programs are on the PATH and are to be used.
pub(super) fn is_on_path(programs: &[&str]) -> bool {
    // For testing the private installation on a system that has the tools.
    if env::var_os("DELTALINE_FORCE_PRIVATE_TOOLS").is_some_and(|value| value == "1") {
        return false;
    }
    let path = env::var_os("PATH").unwrap_or_default();
    programs.iter().all(|program| env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_missing_programs_are_named_with_one_command() {
        let one = |what: &str, packages| Missing { what: what.to_string(), packages };
        let error = report(vec![one("a compiler", "g++"), one("a module", "python3-venv")]).unwrap_err();
        let expected =
            "missing on this system:\n  a compiler\n  a module\nto install: apt-get install g++ python3-venv";
        assert_eq!(error.to_string(), expected);
    }
}
