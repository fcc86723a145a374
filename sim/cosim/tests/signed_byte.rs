//! The byte core with authentication against the model; see `deltaline_cosim::checks::signed_byte`.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks::{byte, signed_byte};
use deltaline_design::Design;
use deltaline_hdl::emit::design::emit;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use verilator_sys::{LintOptions, Source, Toolchain, lint};

/// A design with so many rows and these prefix lengths.
fn design(rows: usize, prefixes: &[u8]) -> Design {
    let text = format!(
        "description = \"signed\"\nshell = \"tap\"\nclock = \"ptp\"\nauthentication = true\n\
         [stream]\nwidth = 8\nlanes = 1\nclock_mhz = 125\nrate_gbps = 1\n\
         [measurement]\nhash = \"h3\"\nseed = 7\nrows = {rows}\nprefixes = {prefixes:?}\nsegment = 0xdeadbeef\n"
    );
    // Tests run at once: a file for each call.
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("signed-{call}.toml"));
    fs::write(&path, text).unwrap();
    Design::load(&path).unwrap()
}

fn verilog(design: &Design) -> String {
    emit(design, byte::TOP).unwrap()
}

/// Data of an even number of words, and of an odd one; several frames.
#[test]
fn control_frames_are_those_that_the_model_signs() {
    for (rows, prefixes, count) in [(16, &[0u8, 2][..], 60), (8, &[2], 60), (256, &[0, 1, 3], 6)] {
        let design = design(rows, prefixes);
        let signed = signed_byte::check(&Toolchain::find().unwrap(), &design, &verilog(&design), count, 1);
        assert!(signed.unwrap() >= count / 2);
    }
}

/// Without a key it is the core that has none.
#[test]
fn without_a_key() {
    let design = design(16, &[0, 2]);
    byte::traffic(&Toolchain::find().unwrap(), design.configuration(), &verilog(&design), 2000, 2).unwrap();
}

/// Verilator -Wall finds nothing but what the 64-bit core's waivers explain.
#[test]
fn no_warnings() {
    let waivers = include_str!("../../../hdl/lint/verilator.vlt");
    let verilog = verilog(&design(128, &[1, 6]));
    let source = Source { top: byte::TOP, verilog: &verilog };
    assert_eq!(
        lint(&Toolchain::find().unwrap(), &source, LintOptions { waivers, arguments: &[] }).unwrap(),
        []
    );
}
