//! Adaptive sampling against the model, at every width; see `deltaline_cosim::checks::adaptive`. And faults that its
//! check must notice.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks::{adaptive, core, lanes};
use deltaline_cosim::faults::{Fault, fault, missed};
use deltaline_hdl::emit::kind::Module;
use deltaline_hdl::emit::module::emit;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::wire::shape::Kind;
use verilator_sys::Toolchain;

fn settings(prefixes: &[u8]) -> Settings<'_> {
    Settings { rows: 16, seed: 5, prefixes, adaptive: true, ..Settings::default() }
}

fn configuration(prefixes: &[u8]) -> Configuration {
    Configuration::new(settings(prefixes)).unwrap()
}

fn check(module: Module, prefixes: &[u8]) {
    check_with(module, settings(prefixes));
}

fn check_with(module: Module, settings: Settings) {
    let (toolchain, configuration) = (Toolchain::find().unwrap(), Configuration::new(settings).unwrap());
    let verilog = emit(&configuration, module, "deltaline").unwrap();
    adaptive::check(&toolchain, &configuration, &verilog, 10_000, 1).unwrap();
    // Without a schedule it is a core as any other.
    core::traffic(&toolchain, &configuration, &verilog, 2000, 1).unwrap();
}

#[test]
fn narrow() {
    check(Module::Core, &[1, 6]);
    check(Module::Core, &[0, 3, 7, 16]);
    check(Module::Core, &[4]);
}

#[test]
fn wide() {
    check(Module::Core256, &[1, 6]);
    check(Module::Core512, &[0, 1, 2]);
}

/// One set of lengths for all classes.
#[test]
fn with_classes() {
    check_with(Module::Core, Settings { entries: &core::entries(2), ..settings(&[1, 6]) });
}

#[test]
fn with_digests() {
    check_with(Module::Core256, Settings { digest: true, ..settings(&[0, 2, 4]) });
}

/// Whatever the cells hold, lengths change at the boundary.
#[test]
fn other_synopses() {
    check_with(Module::Core, Settings { synopsis: Kind::FINECOMB, ..settings(&[1, 6]) });
    check_with(Module::Core, Settings { synopsis: Kind::IDENTITY_TABLE, ..settings(&[1]) });
}

#[test]
fn several_lanes() {
    let (toolchain, configuration) = (Toolchain::find().unwrap(), configuration(&[1, 6]));
    let verilog = emit(&configuration, Module::TwoLanes512, "deltaline").unwrap();
    lanes::check(&toolchain, &configuration, &verilog, 10_000, 1).unwrap();
}

/// Faults that a designer or a tool could make: each must be noticed.
const FAULTS: [Fault; 12] = [
    fault(
        "lengths change a cycle too early",
        "one = mask_0_q ^ first_mask_0;",
        "one = mask_0_d ^ first_mask_0;",
    ),
    fault("lengths change a cycle too late", "one = mask_0_q ^ first_mask_0;", "one = slow ^ first_mask_0;"),
    fault(
        "lengths change within an interval",
        "due = has_ended_q & waits_q & ~late[32'h1f];",
        "due = waits_q & ~late[32'h1f];",
    ),
    fault(
        "only the very interval counts",
        "due = has_ended_q & waits_q & ~late[32'h1f];",
        "due = has_ended_q & waits_q & ~|late;",
    ),
    fault(
        "the interval is not compared",
        "due = has_ended_q & waits_q & ~late[32'h1f];",
        "due = has_ended_q & waits_q;",
    ),
    fault("what took effect waits on", "waits_d = 1'b0;", "waits_d = waits_q;"),
    fault(
        "the first schedule counts, not the last",
        "takes = load & ~wrong;",
        "takes = load & ~wrong & ~waits_q;",
    ),
    fault("what is illegal is taken", "takes = load & ~wrong;", "takes = load;"),
    fault("length 17 is legal", "if (asked_1 > longest) begin", "if (asked_1 > 32'h11) begin"),
    fault("equal lengths are legal", "(asked_1 <= asked_0)", "(asked_1 < asked_0)"),
    fault("a bank too many is legal", "if (asked_2 != 32'hff) begin", "if (1'b0) begin"),
    fault(
        "frames carry the next interval's lengths",
        "shown = before_0_q ^ first_0;",
        "shown = current_0_q ^ first_0;",
    ),
];

#[test]
fn faults_are_noticed() {
    let (toolchain, configuration) = (Toolchain::find().unwrap(), configuration(&[1, 6]));
    let sound = emit(&configuration, Module::Core256, "deltaline").unwrap();
    // For what comes too late: a register that nothing reads.
    let process = "    always @(*) begin\n        waits_clock = clk;";
    let slow = format!("    reg [15:0] slow;\n    always @(posedge clk) slow <= mask_0_q;\n{process}");
    assert!(sound.contains(process));
    let sound = sound.replacen(process, &slow, 1);
    let missed = missed(&sound, "deltaline", &FAULTS, |verilog| {
        adaptive::check(&toolchain, &configuration, verilog, 2000, 7)
    });
    let missed = missed.unwrap();
    assert!(missed.is_empty(), "{missed:#?}");
}
