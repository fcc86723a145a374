//! Reference packets: sender and receiver; see `deltaline_cosim::checks::reference` for the plan.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks::reference::{TOP, check_receiver, check_sender};
use deltaline_cosim::faults::{Fault, fault, missed};
use deltaline_design::Refusal;
use deltaline_hdl::emit::refusal::EmitError;
use deltaline_hdl::inline::Width;
use deltaline_hdl::reference::{emit_receiver, emit_sender};
use deltaline_model::configuration::{Configuration, Settings};
use verilator_sys::{LintOptions, Source, Toolchain, lint};

fn configuration() -> Configuration {
    Configuration::new(Settings { segment: 0x0102_0304, seed: 5, ..Settings::default() }).unwrap()
}

fn toolchain() -> Toolchain {
    Toolchain::find().unwrap()
}

fn sender(width: Width) {
    let verilog = emit_sender(&configuration(), width, TOP).unwrap();
    let references = check_sender(&toolchain(), &configuration(), &verilog, 4000, 1).unwrap();
    assert!(references > 5000, "{references}");
}

#[test]
fn sender_of_64_bits() {
    sender(Width::Bits64);
}

#[test]
fn sender_of_256_bits() {
    sender(Width::Bits256);
}

#[test]
fn no_sender_of_512_bits() {
    let refusal = emit_sender(&configuration(), Width::Bits512, TOP).unwrap_err();
    assert_eq!(refusal, EmitError::Refused(Refusal::ReferenceSender));
}

fn receiver(width: Width) {
    let verilog = emit_receiver(&configuration(), width, TOP).unwrap();
    let references = check_receiver(&toolchain(), &configuration(), &verilog, 4000, 1).unwrap();
    assert!(references > 5000, "{references}");
}

#[test]
fn receiver_of_64_bits() {
    receiver(Width::Bits64);
}

#[test]
fn receiver_of_256_bits() {
    receiver(Width::Bits256);
}

#[test]
fn receiver_of_512_bits() {
    receiver(Width::Bits512);
}

#[test]
fn verilator_finds_nothing_but_what_is_waived() {
    let waivers = include_str!("../../../hdl/lint/verilator.vlt");
    let senders = [Width::Bits64, Width::Bits256].map(|width| emit_sender(&configuration(), width, TOP));
    let receivers = Width::ALL.map(|width| emit_receiver(&configuration(), width, TOP));
    for verilog in senders.into_iter().chain(receivers) {
        let verilog = verilog.unwrap();
        let source = Source { top: TOP, verilog: &verilog };
        let options = LintOptions { waivers, arguments: &[] };
        assert_eq!(lint(&toolchain(), &source, options).unwrap(), []);
    }
}

const SENDER_FAULTS: &[Fault] = &[
    fault("one frame too late", "(frames_now >= spacing)", "(frames_now > spacing)"),
    fault("counted on where one was due", "if (due_now | ~|spacing) begin", "if (~|spacing) begin"),
    fault("a frame later than it is due", "(due_q | due_now)", "(due_q)"),
    fault("every beat counts as a frame", "inserter_s_axis_tready & s_axis_tlast", "inserter_s_axis_tready"),
    fault("one without a spacing", "frame_ends & |spacing", "frame_ends"),
    fault(
        "the time of the beat that is stalled in front",
        "first_leaves = leaves_q & given & ~one_ahead_q;",
        "first_leaves = leaves_q & given;",
    ),
    fault(
        "the time of the beat behind",
        "one_ahead_d = inserter_m_axis_tvalid & ~m_axis_tready;",
        "one_ahead_d = 1'b1;",
    ),
    fault(
        "the time at which it was made",
        "first_leaves = leaves_q & given & ~one_ahead_q;",
        "first_leaves = leaves_q & ~one_ahead_q;",
    ),
    fault(
        "the same number again",
        "next_number_d = next_number_q + 32'h1;",
        "next_number_d = next_number_q;",
    ),
    fault("the check word without the time", "(departure << 32'h2)", "64'h0"),
    fault("the check word without the time's highest bits", "(departure >> 32'h3e)", "64'h0"),
    fault("it waits for a pause", "inserter_urgent = 1'b1;", "inserter_urgent = 1'b0;"),
];

/// Of 256 bits.
const WIDE_SENDER_FAULTS: &[Fault] = &[
    fault(
        "the second beat before the first has left",
        "is_known = ~is_wide | is_first | first_leaves;",
        "is_known = 1'b1;",
    ),
    fault(
        "a gap behind the first beat",
        "is_known = ~is_wide | is_first | first_leaves;",
        "is_known = is_first | ~leaves_q;",
    ),
    fault("the time that was kept", "departure = ptp_ts;", "departure = sent_q;"),
];

const RECEIVER_FAULTS: &[Fault] = &[
    fault("any frame of our EtherType", "(s_axis_tdata[(kind_at)+:(32)] == kind)", "1'b1"),
    fault("any segment", "(s_axis_tdata[(segment_at)+:(32)] == segment)", "1'b1"),
    fault("any configuration", "(s_axis_tdata[(configuration_at)+:(64)] == configuration)", "1'b1"),
    fault("a byte too few", "((beats_q == last_beat) & &s_axis_tkeep)", "(beats_q == last_beat)"),
    fault("padded ones are not seen", "(beats_q == beats_of_one)", "1'b0"),
    fault("bad ones count", "~s_axis_tuser[32'h0]", "1'b1"),
    fault(
        "beats that nobody takes count",
        "transfer = s_axis_tvalid & s_axis_tready;",
        "transfer = s_axis_tvalid;",
    ),
    fault("the arrival of the last beat", "if (~|beats_q) begin", "if (1'b1) begin"),
    fault("the delay the other way round", "arrival_q - sent_q", "sent_q - arrival_q"),
    fault("what matched outlives its frame", "(agrees_q | ~|beats_q)", "(agrees_q)"),
];

fn faults_of_senders(width: Width, faults: &[Fault]) {
    let verilog = emit_sender(&configuration(), width, TOP).unwrap();
    let check = |verilog: &str| check_sender(&toolchain(), &configuration(), verilog, 1000, 7);
    let blind = missed(&verilog, TOP, faults, check).unwrap();
    assert!(blind.is_empty(), "{blind:#?}");
}

fn faults_of_receivers(width: Width, faults: &[Fault]) {
    let verilog = emit_receiver(&configuration(), width, TOP).unwrap();
    let check = |verilog: &str| check_receiver(&toolchain(), &configuration(), verilog, 1000, 7);
    let blind = missed(&verilog, TOP, faults, check).unwrap();
    assert!(blind.is_empty(), "{blind:#?}");
}

#[test]
fn planted_faults_are_noticed() {
    faults_of_senders(Width::Bits64, SENDER_FAULTS);
    faults_of_receivers(Width::Bits64, RECEIVER_FAULTS);
}

#[test]
fn planted_faults_of_wide_ones_are_noticed() {
    faults_of_senders(Width::Bits256, WIDE_SENDER_FAULTS);
    faults_of_receivers(Width::Bits512, RECEIVER_FAULTS);
}
