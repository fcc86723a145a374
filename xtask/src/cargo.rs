//! The tasks that are calls of cargo.

use crate::{Failure, tools};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the operator's program is built without, and checks are run with.
const FEATURES: &str = "deltaline/hardware,deltaline/lab";

/// Runs cargo in the workspace; its exit code is checked.
fn cargo(arguments: &[&str], environment: &[(&str, &str)]) -> Result<(), Failure> {
    let program = env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    eprintln!("==> cargo {}", arguments.join(" "));
    let root = tools::workspace()?;
    let status =
        Command::new(program).args(arguments).envs(environment.iter().copied()).current_dir(root).status()?;
    if status.success() { Ok(()) } else { Err(format!("cargo {} failed", arguments.join(" ")).into()) }
}

/// The formatting is rustfmt's.
pub(crate) fn format() -> Result<(), Failure> {
    cargo(&["fmt", "--all", "--check"], &[])
}

/// No warning of rustc and clippy.
pub(crate) fn lint() -> Result<(), Failure> {
    cargo(
        &[
            "clippy",
            "--release",
            "--workspace",
            "--features",
            FEATURES,
            "--all-targets",
            "--locked",
            "--",
            "--deny",
            "warnings",
        ],
        &[],
    )
}

/// The documentation builds, with every link.
pub(crate) fn document() -> Result<(), Failure> {
    cargo(
        &["doc", "--release", "--workspace", "--features", FEATURES, "--no-deps", "--locked"],
        &[("RUSTDOCFLAGS", "--deny warnings")],
    )
}

/// All tests.
pub(crate) fn test() -> Result<(), Failure> {
    let (tshark, frr) = (tshark_script()?, tools::frr()?);
    cargo(
        &["test", "--release", "--workspace", "--features", FEATURES, "--locked", "--no-fail-fast"],
        &[("DELTALINE_TSHARK", &tshark), (FRR, &frr.to_string_lossy())],
    )
}

/// The whole tests of a network in network namespaces, and of probes over a path there.
pub(crate) fn network() -> Result<(), Failure> {
    let frr = tools::frr()?;
    let mut arguments = vec!["test", "--release", "--locked", "--package", "deltaline-hosts"];
    arguments.extend(["--test", "main", "--", "--ignored", "--nocapture", "--test-threads", "1"]);
    cargo(&arguments, &[(FRR, &frr.to_string_lossy())])
}

/// Where tests find FRR's daemons.
const FRR: &str = "DELTALINE_FRR";

/// Builds the operator's program, with more than it is shipped with if need be, and says where it is: beside this one.
pub(crate) fn build_program(more: &[&str]) -> Result<PathBuf, Failure> {
    cargo(&[&["build", "--release", "--locked"], &PROGRAM[..], more].concat(), &[])?;
    Ok(env::current_exe()?.with_file_name(PROGRAM[1]))
}

/// The operator's program. This one, which is built already, is there for the features that its manifest names: all that is
/// below the operator's program is then that of the tests.
const PROGRAM: [&str; 4] = ["--package", "deltaline", "--package", "xtask"];
/// What the demo needs besides.
const WITH_HARDWARE: [&str; 2] = ["--features", "deltaline/hardware"];

/// Tests in the sources, of all packages that do not need a simulator for them.
pub(crate) fn unit_tests() -> Result<(), Failure> {
    let mut arguments = vec!["test", "--release", "--workspace", "--locked", "--lib", "--bins"];
    arguments.extend(NEED_SIMULATOR.iter().flat_map(|package| ["--exclude", package]));
    cargo(&arguments, &[])
}

/// Packages whose tests compile and run Verilog.
const NEED_SIMULATOR: [&str; 2] = ["deltaline-cosim", "verilator-sys"];

/// A script that runs tshark with the environment that it needs where it is not installed, without giving that
/// environment to cargo and the compiler.
fn tshark_script() -> Result<String, Failure> {
    let path = tools::folder()?.join("tshark");
    tools::script(&path, &tools::tshark()?)?;
    Ok(path.to_string_lossy().into_owned())
}

/// The shipped capture through two simulated cores.
pub(crate) fn demo() -> Result<(), Failure> {
    let folder = tools::workspace()?.join("out/demo");
    fs::create_dir_all(&folder)?;
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let captures = Path::new("sim/traffic/captures");
    let capture = |name: &str| captures.join(name).to_string_lossy().into_owned();
    let (sender, receiver) = (capture("t1-sender.pcap.zst"), capture("t1-receiver.pcap.zst"));
    let (frames, plot) = (file("control-frames.pcapng"), file("delay.svg"));
    let mut program = Command::new(build_program(&WITH_HARDWARE)?);
    program.args([
        "measure",
        &sender,
        &receiver,
        "--through",
        "hardware",
        "--interval",
        "250ms",
        "--truth",
        "--frames",
        &frames,
        "--plot",
        &plot,
    ]);
    let status = program.current_dir(tools::workspace()?).status()?;
    if !status.success() {
        return Err(format!("{}: {status}", program.get_program().display()).into());
    }
    println!("plot            {plot}\ncontrol frames  {frames}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Crates with the features they are compiled with, where `selection` is built.
    fn compiled(selection: &[&str]) -> BTreeSet<String> {
        let mut command = Command::new(env::var("CARGO").unwrap());
        command.args(["tree", "--locked", "--prefix", "none", "--format", "{p} {f}"]).args(selection);
        let output = command.current_dir(tools::workspace().unwrap()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(|line| line.trim_end_matches(" (*)").to_string()).collect()
    }

    #[test]
    fn programs_are_built_with_the_features_of_the_tests() {
        let tests = compiled(&["--workspace", "--features", FEATURES, "--edges", "normal,build,dev"]);
        for programs in [&PROGRAM[..], &PROGRAM[2..], &[&PROGRAM[..], &WITH_HARDWARE].concat()] {
            let missing: Vec<String> = compiled(&[programs, &["--edges", "normal,build"]].concat())
                .into_iter()
                // The operator's program itself has none of the features that tests have.
                .filter(|one| !tests.contains(one) && !one.starts_with("deltaline v"))
                .collect();
            assert!(missing.is_empty(), "features to name in xtask/Cargo.toml: {missing:#?}");
        }
    }
}
