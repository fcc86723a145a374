//! Registers: `hdl/registers/deltaline.rdl` is the only source; this makes the hardware, the accessors and the
//! documentation from it.
//!
//! The SystemRDL is elaborated by its reference compiler, in a locked Python environment of its own: what we read is
//! what every other tool reads, and there is no second parser to keep true. The generated files are committed, so
//! that only those who change a register need Python.
//!
//! | file | made by | content |
//! |------|---------|---------|
//! | `host/model/src/registers/map.rs` | [`host`] | table and accessors |
//! | `hdl/src/registers/block.rs` | [`hardware`] | decode, storage, snapshot and strobes as a RustHDL module |
//! | `docs/registers.md` | [`document`] | documentation |
//!
//! # Test plan
//!
//! `cargo xtask registers --check` (part of `cargo xtask test`): the committed files are what the source makes. Each
//! refusal of [`source`] has a unit test. The hardware is compared with the table under Verilator (`sim/cosim`).

mod document;
mod hardware;
mod host;
mod source;

use crate::{Failure, acceptance, tools};
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

const SOURCE: &str = "hdl/registers/deltaline.rdl";

/// Writes the generated files, or compares them with what is there.
pub(crate) fn generate(check: bool) -> Result<(), Failure> {
    let root = tools::workspace()?;
    let script = root.join("xtask/src/registers/elaborate.py");
    let json = acceptance::run(tools::registers_python()?.arg(script).arg(root.join(SOURCE)))?;
    let block = source::read(&json).map_err(|error| format!("{SOURCE}: {error}"))?;
    let files = [
        ("host/model/src/registers/map.rs", formatted(&host::text(&block))?),
        ("hdl/src/registers/block.rs", formatted(&hardware::text(&block))?),
        ("docs/registers.md", document::text(&block)),
    ];
    for (name, text) in files {
        let path = root.join(name);
        if check {
            if fs::read_to_string(&path).ok().as_deref() != Some(&text) {
                return Err(format!("{name} is not what {SOURCE} makes: run `cargo xtask registers`").into());
            }
            continue;
        }
        let failed = |error| format!("{name}: cannot be written: {error}");
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, text))
            .map_err(failed)?;
        println!("{name}");
    }
    if check {
        eprintln!("==> {} registers: the generated files are up to date", block.registers.len());
    }
    Ok(())
}

/// Rust text as `cargo fmt` leaves it.
fn formatted(text: &str) -> Result<String, Failure> {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path"])
        .arg(tools::workspace()?)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("rustfmt: {error}; install it with `rustup component add rustfmt`"))?;
    if let Some(mut input) = rustfmt.stdin.take() {
        input.write_all(text.as_bytes())?;
    }
    let output = rustfmt.wait_with_output()?;
    if output.status.success() { Ok(String::from_utf8(output.stdout)?) } else { Err("rustfmt failed".into()) }
}
