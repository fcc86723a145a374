//! Verilator -Wall finds nothing in the emitted Verilog but what `hdl/lint/verilator.vlt` explains, and every
//! waiver there is needed.
#![allow(clippy::unwrap_used)]

use deltaline_hdl::verilog::{Module, emit};
use deltaline_model::configuration::{Configuration, Settings};
use verilator_sys::{LintOptions, Source, Toolchain, Warning, lint};

fn warnings(verilog: &str, waivers: &str) -> Vec<Warning> {
    let source = Source { top: "deltaline", verilog };
    lint(&Toolchain::find().unwrap(), &source, LintOptions { waivers, arguments: &[] }).unwrap()
}

#[test]
fn nothing_but_what_is_waived_and_no_waiver_too_many() {
    let waivers = include_str!("../../../hdl/lint/verilator.vlt");
    for rows in [16, 1024] {
        let configuration = Configuration::new(Settings { rows, ..Settings::default() }).unwrap();
        let verilog = emit(&configuration, Module::Core, "deltaline").unwrap();
        assert_eq!(warnings(&verilog, waivers), []);
    }

    let verilog = emit(&Configuration::new(Settings::default()).unwrap(), Module::Core, "deltaline").unwrap();
    let statements: Vec<&str> = waivers.lines().filter(|line| line.starts_with("lint_off")).collect();
    for left_out in &statements {
        // A file that holds all modules under one name other than theirs is what the rule is about.
        if left_out.contains("DECLFILENAME") {
            continue;
        }
        let others: Vec<&str> = statements.iter().filter(|line| *line != left_out).copied().collect();
        assert_ne!(warnings(&verilog, &others.join("\n")), [], "not needed: {left_out}");
    }
}
