//! Reference packets: sender and receiver; see `deltaline_cosim::checks::reference` for the plan.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks::reference::{TOP, check_receiver, check_sender};
use deltaline_cosim::faults::{Fault, fault, missed};
use deltaline_hdl::reference::{emit_receiver, emit_sender};
use deltaline_model::configuration::{Configuration, Settings};
use verilator_sys::{LintOptions, Source, Toolchain, lint};

fn configuration() -> Configuration {
    Configuration::new(Settings { segment: 0x0102_0304, seed: 5, ..Settings::default() }).unwrap()
}

fn toolchain() -> Toolchain {
    Toolchain::find().unwrap()
}

#[test]
fn sender() {
    let verilog = emit_sender(&configuration(), TOP).unwrap();
    let references = check_sender(&toolchain(), &configuration(), &verilog, 4000, 1).unwrap();
    assert!(references > 5000, "{references}");
}

#[test]
fn receiver() {
    let verilog = emit_receiver(&configuration(), TOP).unwrap();
    let references = check_receiver(&toolchain(), &configuration(), &verilog, 4000, 1).unwrap();
    assert!(references > 5000, "{references}");
}

#[test]
fn verilator_finds_nothing_but_what_is_waived() {
    let waivers = include_str!("../../../hdl/lint/verilator.vlt");
    for verilog in
        [emit_sender(&configuration(), TOP).unwrap(), emit_receiver(&configuration(), TOP).unwrap()]
    {
        let source = Source { top: TOP, verilog: &verilog };
        let options = LintOptions { waivers, arguments: &[] };
        assert_eq!(lint(&toolchain(), &source, options).unwrap(), []);
    }
}

const SENDER_FAULTS: &[Fault] = &[
    fault("one frame too late", "(frames_now >= spacing)", "(frames_now > spacing)"),
    fault("counted on where one was due", "if (due_now | ~|spacing) begin", "if (~|spacing) begin"),
    fault("a frame later than it is due", "offered = due_q | due_now;", "offered = due_q;"),
    fault("every beat counts as a frame", "inserter_s_axis_tready & s_axis_tlast", "inserter_s_axis_tready"),
    fault("one without a spacing", "frame_ends & |spacing", "frame_ends"),
    fault("the time of the beat that is stalled in front", "if (~one_ahead_q) begin", "if (1'b1) begin"),
    fault(
        "the time of the beat behind",
        "one_ahead_d = inserter_m_axis_tvalid & ~m_axis_tready;",
        "one_ahead_d = 1'b1;",
    ),
    fault("the time at which it was made", "if (leaves_q & given) begin", "if (leaves_q) begin"),
    fault(
        "the same number again",
        "next_number_d = next_number_q + 32'h1;",
        "next_number_d = next_number_q;",
    ),
    fault("the check word without the time", "(sent_q << 32'h2)", "64'h0"),
    fault("the check word without the time's highest bits", "(sent_q >> 32'h3e)", "64'h0"),
    fault("it waits for a pause", "inserter_urgent = 1'b1;", "inserter_urgent = 1'b0;"),
];

const RECEIVER_FAULTS: &[Fault] = &[
    fault("any frame of our EtherType", "(s_axis_tdata[(32'h20)+:(32)] == kind)", "1'b1"),
    fault("any segment", "(s_axis_tdata[(32'h0)+:(32)] == segment)", "1'b1"),
    fault("any configuration", "(s_axis_tdata == configuration)", "1'b1"),
    fault("a byte too few", "((beats_q == 32'h7) & &s_axis_tkeep)", "(beats_q == 32'h7)"),
    fault("padded ones are not seen", "(beats_q == 32'h8)", "1'b0"),
    fault("bad ones count", "~s_axis_tuser[32'h0]", "1'b1"),
    fault(
        "beats that nobody takes count",
        "transfer = s_axis_tvalid & s_axis_tready;",
        "transfer = s_axis_tvalid;",
    ),
    fault("the arrival of the last beat", "if (beats_q == 32'h0) begin", "if (1'b1) begin"),
    fault("the delay the other way round", "arrival_q - sent_q", "sent_q - arrival_q"),
    fault("what matched outlives its frame", "agrees_now = 1'b1;", "agrees_now = agrees_q;"),
];

#[test]
fn planted_faults_are_noticed() {
    let (sender, receiver) = (emit_sender(&configuration(), TOP), emit_receiver(&configuration(), TOP));
    let (sender, receiver) = (sender.unwrap(), receiver.unwrap());
    let check = |verilog: &str| check_sender(&toolchain(), &configuration(), verilog, 1000, 7);
    let mut blind = missed(&sender, TOP, SENDER_FAULTS, check).unwrap();
    let check = |verilog: &str| check_receiver(&toolchain(), &configuration(), verilog, 1000, 7);
    blind.extend(missed(&receiver, TOP, RECEIVER_FAULTS, check).unwrap());
    assert!(blind.is_empty(), "{blind:#?}");
}
