//! The byte core's tags of delimiters, alone: against the model, planted faults, lint; see `deltaline_cosim::checks::byte_tags`.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks::byte_tags::{TOP, check, verilog};
use deltaline_cosim::faults::{Fault, fault, missed};
use deltaline_model::configuration::{Configuration, Settings};
use verilator_sys::{LintOptions, Source, Toolchain, lint};

fn configuration() -> Configuration {
    Configuration::new(Settings { segment: 0x0102_0304, rows: 16, ..Settings::default() }).unwrap()
}

#[test]
fn frames_are_signed_as_in_the_model() {
    let configuration = configuration();
    let verilog = verilog(&configuration).unwrap();
    for seed in 0..4 {
        let signed = check(&Toolchain::find().unwrap(), &configuration, &verilog, 1000, seed).unwrap();
        assert!(signed > 1000, "{signed}");
    }
}

const FAULTS: [Fault; 20] = [
    fault("a number that changes keeps its tag", "if (changes_0 | copying) begin", "if (copying) begin"),
    fault("a key that changes keeps its tags", "if (changes_1 | copying) begin", "if (changes_1) begin"),
    Fault {
        what: "a tag that is computed goes on under another number",
        before: "if (",
        from: "due_changes | copying | renew",
        to: "copying | renew",
    },
    fault("what the candidate does stops the one that is due", "(next_changes & of_next_q)", "next_changes"),
    fault("a candidate's tag goes on under another number", "(next_changes & of_next_q)", "1'b0"),
    fault("the candidate goes first", "begins_1 & is_ready_0_q & ~disturbs_0", "begins_1"),
    fault("a key that waits signs nothing", "newer_now = is_newer_0_q;", "newer_now = 1'b0;"),
    fault("a key that waits signs all", "differs_0 != reaches_0", "1'b1"),
    Fault { what: "no key that waits is as good as one", before: "newer_1 = ", from: "pending", to: "1'b1" },
    fault(
        "its interval is compared without the lower bytes",
        "reached_0_q | (phase == 32'h0)",
        "phase == 32'h0",
    ),
    fault(
        "its interval is compared while it is written",
        "changes_0 | copying | renew | works_q",
        "changes_0 | copying | works_q",
    ),
    fault("its interval is compared with half a number", "undisturbed_1_q & ~disturbs_1", "~disturbs_1"),
    fault("its own tags stay with another key", "is_ready_0_q & (newer_0 == is_newer_0_q)", "is_ready_0_q"),
    fault("the second half of the tag is not looked at", "~&index[(32'h3)+:(2)]", "~index[32'h4]"),
    fault("the check word must pass, too", "~&index[(32'h3)+:(2)]", "1'b1"),
    fault("what lies behind byte 96 must pass, too", "index[(32'h5)+:(2)] == 32'h1", "index[32'h5]"),
    fault("what had the tag before is remembered", "if (~is_ready_0_q) begin", "if (1'b0) begin"),
    fault("what had the tag is signed a cycle longer", "same_0_q & is_ready_0_q", "same_0_q"),
    fault(
        "both have the tag of the one that is due",
        "expected_1_write_enable = keeps & of_next_q;",
        "expected_1_write_enable = keeps;",
    ),
    fault(
        "a number is added as it comes",
        "passes = phase == rom_read_data[(32'h0)+:(2)];",
        "passes = 1'b1;",
    ),
];

#[test]
fn faults_are_noticed() {
    let configuration = configuration();
    let verilog = verilog(&configuration).unwrap();
    let missed = missed(&verilog, TOP, &FAULTS, |verilog| {
        check(&Toolchain::find().unwrap(), &configuration, verilog, 300, 5)
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
