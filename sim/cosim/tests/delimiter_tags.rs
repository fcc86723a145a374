//! Tags of delimiters in hardware: against the model, planted faults, lint; see `deltaline_cosim::checks::delimiter_tags`.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks::delimiter_tags::{TOP, check, verilog};
use deltaline_cosim::faults::{Fault, fault, missed};
use deltaline_model::configuration::{Configuration, Settings};
use verilator_sys::{LintOptions, Source, Toolchain, lint};

fn configuration() -> Configuration {
    Configuration::new(Settings { segment: 0x0102_0304, rows: 16, ..Settings::default() }).unwrap()
}

#[test]
fn tags_are_those_of_the_model() {
    let configuration = configuration();
    let verilog = verilog(&configuration).unwrap();
    let tags = check(&Toolchain::find().unwrap(), &configuration, &verilog, 500, 1).unwrap();
    assert!(tags > 10_000, "{tags}");
}

const FAULTS: [Fault; 9] = [
    fault("a number that changes keeps its tag", "renew | changes_0", "renew"),
    fault("a key that changes keeps its tags", "renew | changes_0", "changes_0"),
    fault("a key that waits signs nothing", "newer_now = is_newer_0_q;", "newer_now = 1'b0;"),
    fault("a key that waits signs all", "behind = number_0 - from;", "behind = 32'h0;"),
    fault("no key that waits is as good as one", "pending & |next_id", "|next_id"),
    fault("it is told later that another key signs", "is_ready_0_q & ~stale_0", "is_ready_0_q"),
    fault("a tag that is computed goes on under another number", "if (~is_behind) begin", "if (1'b0) begin"),
    fault("the last tag is as urgent as the first", "is_behind = 1'b1;", "is_behind = 1'b0;"),
    fault("the identifier is that of the key in force", "tag_key_0 = next_id;", "tag_key_0 = key_id;"),
];

#[test]
fn faults_are_noticed() {
    let configuration = configuration();
    let verilog = verilog(&configuration).unwrap();
    let missed = missed(&verilog, TOP, &FAULTS, |verilog| {
        check(&Toolchain::find().unwrap(), &configuration, verilog, 120, 2)
    });
    let missed = missed.unwrap();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn verilator_has_nothing_to_say() {
    let waivers = include_str!("../../../hdl/lint/verilator.vlt");
    let source = Source { top: TOP, verilog: &verilog(&configuration()).unwrap() };
    let warnings =
        lint(&Toolchain::find().unwrap(), &source, LintOptions { waivers, arguments: &[] }).unwrap();
    assert_eq!(warnings, []);
}
