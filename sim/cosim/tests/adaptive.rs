//! Adaptive sampling against the model, at every width; see `deltaline_cosim::checks::adaptive`. And faults that its
//! check must notice.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks::{CheckError, adaptive, core, lanes};
use deltaline_hdl::verilog::{Module, emit};
use deltaline_model::configuration::{Configuration, Settings};
use verilator_sys::Toolchain;

fn configuration(prefixes: &[u8]) -> Configuration {
    let settings = Settings { rows: 16, seed: 5, prefixes, adaptive: true, ..Settings::default() };
    Configuration::new(settings).unwrap()
}

fn check(module: Module, prefixes: &[u8]) {
    let (toolchain, configuration) = (Toolchain::find().unwrap(), configuration(prefixes));
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

#[test]
fn several_lanes() {
    let (toolchain, configuration) = (Toolchain::find().unwrap(), configuration(&[1, 6]));
    let verilog = emit(&configuration, Module::TwoLanes512, "deltaline").unwrap();
    lanes::check(&toolchain, &configuration, &verilog, 10_000, 1).unwrap();
}

/// A fault, and the changes of the emitted text that plant it.
type Fault = (&'static str, &'static [(&'static str, &'static str)]);

/// Faults that a designer or a tool could make: each must be noticed.
const FAULTS: [Fault; 12] = [
    ("lengths change a cycle too early", &[("one = mask_0_q;", "one = mask_0_d;")]),
    (
        "lengths change a cycle too late",
        &[
            (
                "    always @(*) begin\n        waits_clock = clk;",
                "    reg [15:0] slow;\n    always @(posedge clk) slow <= mask_0_q;\n    \
                 always @(*) begin\n        waits_clock = clk;",
            ),
            ("one = mask_0_q;", "one = slow;"),
        ],
    ),
    ("lengths change within an interval", &[("due = has_ended_q & waits_q", "due = waits_q")]),
    ("only the very interval counts", &[("waits_q & ~late[32'h1f]", "waits_q & ~|late")]),
    ("the interval is not compared", &[("waits_q & ~late[32'h1f]", "waits_q")]),
    (
        "what took effect waits on",
        &[("if (due) begin\n            waits_d = 1'b0;", "if (due) begin\n            waits_d = waits_q;")],
    ),
    (
        "the first schedule counts, not the last",
        &[("takes = load & ~wrong;", "takes = load & ~wrong & ~waits_q;")],
    ),
    ("what is illegal is taken", &[("takes = load & ~wrong;", "takes = load;")]),
    ("length 17 is legal", &[("asked_1 > longest", "asked_1 > 32'h11")]),
    ("equal lengths are legal", &[("asked_1 <= asked_0", "asked_1 < asked_0")]),
    ("a bank too many is legal", &[("else if (asked_2 != 32'hff) begin", "else if (1'b0) begin")]),
    ("frames carry the next interval's lengths", &[("shown = before_0_q", "shown = current_0_q")]),
];

#[test]
fn faults_are_noticed() {
    let (toolchain, configuration) = (Toolchain::find().unwrap(), configuration(&[1, 6]));
    let sound = emit(&configuration, Module::Core256, "deltaline").unwrap();
    for (fault, changes) in FAULTS {
        let mut planted = sound.clone();
        for (from, to) in changes {
            assert!(planted.contains(from), "{fault}: its text is not in the Verilog any more");
            planted = planted.replacen(from, to, 1);
        }
        let noticed = adaptive::check(&toolchain, &configuration, &planted, 2000, 7).expect_err(fault);
        assert!(matches!(noticed, CheckError::Mismatch { .. }), "{fault}: {noticed}");
    }
}
