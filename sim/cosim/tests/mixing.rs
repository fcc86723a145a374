//! A mixing that changes at boundaries against the model, at every width; see `deltaline_cosim::checks::adaptive`. And faults that its
//! check must notice.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks::{adaptive, core, lanes, place};
use deltaline_cosim::faults::{Fault, fault, missed};
use deltaline_hdl::emit::kind::Module;
use deltaline_hdl::emit::module::emit;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::packet::hash::HashKind;
use deltaline_model::wire::shape::Kind;
use verilator_sys::Toolchain;

const SETTINGS: Settings<'_> = Settings {
    synopsis: Kind::LDA,
    hash: HashKind::H3,
    rows: 16,
    seed: 5,
    prefixes: &[0, 3],
    adaptive: false,
    segment: 0,
    entries: &[],
    digest: false,
    mixing: true,
    tables: None,
};

fn check(module: Module, settings: Settings) {
    let (toolchain, configuration) = (Toolchain::find().unwrap(), Configuration::new(settings).unwrap());
    let verilog = emit(&configuration, module, "deltaline").unwrap();
    adaptive::check(&toolchain, &configuration, &verilog, 3000, 1).unwrap();
    // Without a schedule the core counts with its own mixing.
    core::traffic(&toolchain, &configuration, &verilog, 1000, 1).unwrap();
}

/// Both kinds of schedules at once.
#[test]
fn narrow() {
    check(Module::Core, Settings { adaptive: true, ..SETTINGS });
}

#[test]
fn wide() {
    check(Module::Core256, SETTINGS);
    check(Module::Core512, Settings { hash: HashKind::Rabin, ..SETTINGS });
}

/// Of an identity table the mixing decides which packets are in it, not where.
#[test]
fn other_synopses() {
    check(Module::Core, Settings { synopsis: Kind::FINECOMB, prefixes: &[1, 6], ..SETTINGS });
    check(Module::Core, Settings { synopsis: Kind::IDENTITY_TABLE, prefixes: &[1], ..SETTINGS });
}

#[test]
fn several_lanes() {
    let (toolchain, configuration) = (Toolchain::find().unwrap(), Configuration::new(SETTINGS).unwrap());
    let verilog = emit(&configuration, Module::TwoLanes512, "deltaline").unwrap();
    lanes::check(&toolchain, &configuration, &verilog, 5000, 1).unwrap();
}

#[test]
fn places() {
    for hash in [HashKind::H3, HashKind::Rabin] {
        let configuration = Configuration::new(Settings { hash, ..SETTINGS }).unwrap();
        let verilog = emit(&configuration, Module::Place, "place").unwrap();
        place::check(&Toolchain::find().unwrap(), &configuration, &verilog, 5000, 1).unwrap();
    }
}

/// Faults that a designer or a tool could make: each must be noticed.
const FAULTS: [Fault; 11] = [
    fault("the mixing changes a cycle too early", "mixing = change_q ^ own;", "mixing = change_d ^ own;"),
    fault("the mixing changes a cycle too late", "mixing = change_q ^ own;", "mixing = slow ^ own;"),
    fault(
        "the mixing changes within an interval",
        "due = has_begun_q & holds_q & ~late[32'h1f];",
        "due = holds_q & ~late[32'h1f];",
    ),
    fault(
        "only the very interval counts",
        "due = has_begun_q & holds_q & ~late[32'h1f];",
        "due = has_begun_q & holds_q & ~|late;",
    ),
    fault(
        "the interval is not compared",
        "due = has_begun_q & holds_q & ~late[32'h1f];",
        "due = has_begun_q & holds_q;",
    ),
    fault("what took effect waits on", "holds_d = 1'b0;", "holds_d = holds_q;"),
    fault("zero is a mixing as any other", "if (|next_id) begin", "if (1'b1) begin"),
    fault("the identifier stays what it was", "id_now_d = next_id;", ""),
    fault("frames carry the next interval's identifier", "ended_id = id_before_q;", "ended_id = id_now_q;"),
    fault("the offset is left out", "now_d = sum ^ mixing[(32'h3f)+:(32)];", "now_d = sum;"),
    fault(
        "a bit of the secret is left out",
        "product = mixing[(31)+:(32)] & value;",
        "product = mixing[(30)+:(32)] & value;",
    ),
];

#[test]
fn faults_are_noticed() {
    let (toolchain, configuration) = (Toolchain::find().unwrap(), Configuration::new(SETTINGS).unwrap());
    let sound = emit(&configuration, Module::Core256, "deltaline").unwrap();
    // For what comes too late: a register that nothing reads.
    let process = "    always @(*) begin\n        holds_clock = clk;";
    let slow = format!("    reg [94:0] slow;\n    always @(posedge clk) slow <= change_q;\n{process}");
    assert!(sound.contains(process));
    let sound = sound.replacen(process, &slow, 1);
    let missed = missed(&sound, "deltaline", &FAULTS, |verilog| {
        adaptive::check(&toolchain, &configuration, verilog, 1000, 7)
    });
    let missed = missed.unwrap();
    assert!(missed.is_empty(), "{missed:#?}");
}
