//! Insertion into the stream, at every width; see `deltaline_cosim::checks::inline` for the plan.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks::CheckError;
use deltaline_cosim::checks::inline::{TOP, check};
use deltaline_cosim::hardware::HardwareError;
use deltaline_hdl::inline::{Width, emit};
use deltaline_model::configuration::{Configuration, Settings};
use verilator_sys::{LintOptions, Source, Toolchain, lint};

fn configuration() -> Configuration {
    Configuration::new(Settings { segment: 0x0102_0304, seed: 5, ..Settings::default() }).unwrap()
}

fn insertion(width: Width) {
    let verilog = emit(&configuration(), width, TOP).unwrap();
    let toolchain = Toolchain::find().unwrap();
    let (traffic, inserted) = check(&toolchain, &configuration(), width, &verilog, 2000, 1).unwrap();
    println!("{width:?}: {traffic} frames of traffic, {inserted} inserted");
    assert!(traffic > 32_000 && inserted > 4_000);
}

#[test]
fn insertion_into_64_bits() {
    insertion(Width::Bits64);
}

#[test]
fn insertion_into_256_bits() {
    insertion(Width::Bits256);
}

#[test]
fn insertion_into_512_bits() {
    insertion(Width::Bits512);
}

#[test]
fn verilator_finds_nothing_but_what_is_waived() {
    let waivers = include_str!("../../../hdl/lint/verilator.vlt");
    for width in Width::ALL {
        let verilog = emit(&configuration(), width, TOP).unwrap();
        let source = Source { top: TOP, verilog: &verilog };
        let options = LintOptions { waivers, arguments: &[] };
        assert_eq!(lint(&Toolchain::find().unwrap(), &source, options).unwrap(), []);
    }
}

/// A fault: the width at which it is planted, what goes wrong, emitted text, and what it is replaced with.
type Fault = (Width, &'static str, &'static str, &'static str);

const FAULTS: [Fault; 22] = [
    (
        Width::Bits64,
        "traffic is held back behind a delimiter until a control frame comes",
        "ends = i_taken & i_axis_tlast;",
        "ends = i_taken & i_axis_tlast & ~urgent;",
    ),
    (
        Width::Bits64,
        "the switch turns within a frame",
        "(s_taken & s_axis_tlast & overdue)",
        "(s_taken & overdue)",
    ),
    (
        Width::Bits64,
        "a pause within a frame is taken for one between frames",
        "pauses = s_ready_q & ~s_axis_tvalid & ~in_frame_q;",
        "pauses = s_ready_q & ~s_axis_tvalid;",
    ),
    (
        Width::Bits64,
        "pauses are not used",
        "pauses = s_ready_q & ~s_axis_tvalid & ~in_frame_q;",
        "pauses = 1'b0;",
    ),
    (Width::Bits64, "half the patience", "overdue = urgent | &waited_q;", "overdue = urgent | waited_q[7];"),
    (Width::Bits64, "no end of the patience", "overdue = urgent | &waited_q;", "overdue = urgent;"),
    (
        Width::Bits64,
        "delimiters wait as control frames do",
        "inserter_urgent = delimits;",
        "inserter_urgent = 1'b0;",
    ),
    (
        Width::Bits64,
        "a beat is lost when m_axis stalls",
        "skid_next = stalled & (skid_valid_q | accepted);",
        "skid_next = stalled & skid_valid_q;",
    ),
    (
        Width::Bits64,
        "a beat is accepted while both registers are full",
        "s_ready_d = ~skid_next & ~inserts_next;",
        "s_ready_d = ~inserts_next;",
    ),
    (Width::Bits64, "m_axis does not wait", "stalled = out_valid_q & ~m_axis_tready;", "stalled = 1'b0;"),
    (
        Width::Bits64,
        "a bubble behind each stall",
        "out_valid_d = skid_valid_q | accepted;",
        "out_valid_d = accepted;",
    ),
    (Width::Bits64, "inserted beats with a timestamp", "beat_user = 32'h0;", "beat_user = s_axis_tuser;"),
    (Width::Bits64, "the switch turns back too early", "ends = i_taken & i_axis_tlast;", "ends = i_taken;"),
    (
        Width::Bits64,
        "the stall is a cycle longer than stated",
        "i_ready_d = ~skid_next & inserts_next;",
        "i_ready_d = ~skid_next & inserts_next & inserting_q;",
    ),
    (Width::Bits64, "a delimiter breaks into a control frame", "if (begun_q) begin", "if (1'b0) begin"),
    (Width::Bits64, "the check word does not follow the number", " << check_rotation;", ";"),
    (
        Width::Bits64,
        "all delimiters have the same number",
        "number_d = number_q + 32'h1;",
        "number_d = number_q;",
    ),
    (
        Width::Bits64,
        "a cut while a delimiter is due asks for another",
        "due_d = ~(taken & is_last);",
        "due_d = ~(taken & is_last) | cut;",
    ),
    (Width::Bits64, "a row is read twice", "look_up = read_row_q + 32'h1;", "look_up = read_row_q;"),
    (
        Width::Bits64,
        "offered before it is stored",
        "offered_d = full_q;",
        "offered_d = full_q | s_axis_tvalid;",
    ),
    (Width::Bits256, "the last beat's tkeep is full", "if (~is_last | filled_q[1]) begin", "if (1'b1) begin"),
    (
        Width::Bits256,
        "the last beat's tkeep is that of two rows",
        "filled_d = target_now;",
        "filled_d = filled_q | target_now;",
    ),
];

#[test]
fn every_planted_fault_is_noticed() {
    let toolchain = Toolchain::find().unwrap();
    let mut blind = vec![];
    for (width, fault, from, to) in FAULTS {
        let verilog = emit(&configuration(), width, TOP).unwrap();
        assert!(verilog.contains(from), "stale: {fault}");
        match check(&toolchain, &configuration(), width, &verilog.replacen(from, to, 1), 200, 7) {
            Ok(_) => blind.push(fault),
            Err(CheckError::Hardware(HardwareError::Verilator(error))) => panic!("{fault}: {error}"),
            Err(noticed) => println!("{fault}: {noticed:.150}"),
        }
    }
    assert!(blind.is_empty(), "{blind:#?}");
}
