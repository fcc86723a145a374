//! Insertion into the stream, at every width; see `deltaline_cosim::checks::inline` for the plan.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks::inline::{TOP, check};
use deltaline_cosim::faults::{Fault, fault, missed};
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

const FAULTS: [Fault; 22] = [
    fault(
        "traffic is held back behind a delimiter until a control frame comes",
        "ends = i_taken & i_axis_tlast;",
        "ends = i_taken & i_axis_tlast & ~urgent;",
    ),
    fault("the switch turns within a frame", "(s_taken & s_axis_tlast & overdue)", "(s_taken & overdue)"),
    fault(
        "a pause within a frame is taken for one between frames",
        "pauses = s_ready_q & ~s_axis_tvalid & ~in_frame_q;",
        "pauses = s_ready_q & ~s_axis_tvalid;",
    ),
    fault("pauses are not used", "pauses = s_ready_q & ~s_axis_tvalid & ~in_frame_q;", "pauses = 1'b0;"),
    fault("half the patience", "overdue = urgent | &waited_q;", "overdue = urgent | waited_q[7];"),
    fault("no end of the patience", "overdue = urgent | &waited_q;", "overdue = urgent;"),
    fault("delimiters wait as control frames do", "inserter_urgent = delimits;", "inserter_urgent = 1'b0;"),
    fault(
        "a beat is lost when m_axis stalls",
        "skid_next = stalled & (skid_valid_q | accepted);",
        "skid_next = stalled & skid_valid_q;",
    ),
    fault(
        "a beat is accepted while both registers are full",
        "s_ready_d = ~skid_next & ~inserts_next;",
        "s_ready_d = ~inserts_next;",
    ),
    fault("m_axis does not wait", "stalled = out_valid_q & ~m_axis_tready;", "stalled = 1'b0;"),
    fault("a bubble behind each stall", "out_valid_d = skid_valid_q | accepted;", "out_valid_d = accepted;"),
    fault("inserted beats with a timestamp", "beat_user = 32'h0;", "beat_user = s_axis_tuser;"),
    fault("the switch turns back too early", "ends = i_taken & i_axis_tlast;", "ends = i_taken;"),
    fault(
        "the stall is a cycle longer than stated",
        "i_ready_d = ~skid_next & inserts_next;",
        "i_ready_d = ~skid_next & inserts_next & inserting_q;",
    ),
    fault("a delimiter breaks into a control frame", "if (begun_q) begin", "if (1'b0) begin"),
    fault(
        "the check word does not follow the number",
        "(((number_q) & 64'hffffffffffffffff) << check_rotation)",
        "(((number_q) & 64'hffffffffffffffff) << 3'h0)",
    ),
    fault("all delimiters have the same number", "number_d = number_q + 32'h1;", "number_d = number_q;"),
    fault(
        "a cut while a delimiter is due asks for another",
        "due_d = ~(taken & is_last);",
        "due_d = ~(taken & is_last) | cut;",
    ),
    fault("a row is read twice", "look_up = read_row_q + 32'h1;", "look_up = read_row_q;"),
    fault("offered before it is stored", "row_valid_d = full_q;", "row_valid_d = full_q | s_axis_tvalid;"),
    fault("the output register does not wait", "free = ~out_valid_q | m_axis_tready;", "free = 1'b1;"),
    fault(
        "a frame is read again while its last beat waits",
        "if (ends | (moved & is_last)) begin",
        "if (moved & is_last) begin",
    ),
];

/// Of 256 bits.
const WIDE_FAULTS: [Fault; 2] = [
    fault("the last beat's tkeep is full", "if (~is_last | filled_q[1]) begin", "if (1'b1) begin"),
    fault(
        "the last beat's tkeep is that of two rows",
        "filled_d = target_now;",
        "filled_d = filled_q | target_now;",
    ),
];

#[test]
fn every_planted_fault_is_noticed() {
    let toolchain = Toolchain::find().unwrap();
    for (width, faults) in [(Width::Bits64, &FAULTS[..]), (Width::Bits256, &WIDE_FAULTS)] {
        let verilog = emit(&configuration(), width, TOP).unwrap();
        let check = |verilog: &str| check(&toolchain, &configuration(), width, verilog, 200, 7);
        let missed = missed(&verilog, TOP, faults, check).unwrap();
        assert!(missed.is_empty(), "{missed:#?}");
    }
}
