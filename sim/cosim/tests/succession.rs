//! The byte core's succession, alone: the twin rule, planted faults, lint.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks::succession::succession;
use deltaline_cosim::faults::{Fault, fault, missed};
use deltaline_hdl::byte::succession::Succession;
use deltaline_hdl::emit::block::emit_block;
use verilator_sys::{LintOptions, Source, Toolchain, lint};

fn toolchain() -> Toolchain {
    Toolchain::find().unwrap()
}

fn verilog<const K: usize>() -> String {
    emit_block(&mut Succession::<K>::default(), "succession").unwrap()
}

#[test]
fn delimiters_and_requests_end_what_the_model_ends() {
    for seed in 0..4 {
        for verilog in [verilog::<0>(), verilog::<1>()] {
            let ends = succession(&toolchain(), &verilog, 50_000, seed).unwrap();
            assert!(ends > 10_000, "{ends}");
        }
    }
}

const FAULTS: [Fault; 32] = [
    fault(
        "a byte of the number is passed over",
        "number_byte_d = number[(32'h10)+:(8)]",
        "number_byte_d = number[(32'h8)+:(8)]",
    ),
    fault(
        "a byte of the epoch is passed over",
        "epoch_byte_d = epoch[(32'h18)+:(8)]",
        "epoch_byte_d = epoch[(32'h10)+:(8)]",
    ),
    fault("the difference's carry is lost", "low_q | carry_q", "low_q"),
    fault("the difference of the bytes before is forgotten", "low_q | zero_q", "1'b1"),
    fault("one more than due in the lowest byte alone", "one_q & ~|difference", "~|difference"),
    fault("what is recent, by the lowest byte alone", "minus_q & &difference", "minus_q"),
    fault("32 behind is not recent", "&difference[(32'h6)+:(2)]", "&difference[(32'h5)+:(3)]"),
    fault("63 behind is the farthest", "difference == 32'hc0", "difference == 32'hc1"),
    fault("epochs are compared in their highest byte alone", "low_q | equal_q", "1'b1"),
    fault("the candidate's epoch is not compared", "(epoch_byte_q == next_epoch_q[(32'h0)+:(8)])", "1'b1"),
    fault("the candidate's number is not compared", "(number_byte_q == next_number_q[(32'h0)+:(8)])", "1'b1"),
    fault("results while a request's task waits", "~request_waits_q & ~of_request_q", "~of_request_q"),
    fault(
        "results of four cycles in which the due number changed",
        "~request_waits_q & ~of_request_q",
        "~request_waits_q",
    ),
    fault("results behind a request are those before", "is_due_d = is_behind_due_q;", "is_due_d = is_due_q;"),
    fault("behind a request 65 behind is recent", "is_recent_q & ~is_farthest_q", "is_recent_q"),
    Fault {
        what: "without a candidate its place is taken for one",
        before: "is_next_q & ",
        from: "has_candidate_q",
        to: "1'b1",
    },
    Fault { what: "the first delimiter is not taken", before: ") | ", from: "~started_q", to: "1'b0" },
    fault("a request beside a delimiter that counts is a second end", "running & ~counts", "running"),
    fault("late ones become candidates", "~(is_same_epoch_q & is_recent_q)", "1'b1"),
    fault("ones of another epoch become no candidates", "is_same_epoch_q & is_recent_q", "is_recent_q"),
    Fault {
        what: "a candidate outlives a request",
        before: "if (ends_now) begin
            ",
        from: "has_candidate_d = 1'b0;",
        to: "has_candidate_d = has_candidate_q;",
    },
    fault("a refused delimiter leaves no gap", "lost_d = 1'b1;", "lost_d = lost_q;"),
    fault("a gap outlives its interval", "lost_d = 1'b0;", "lost_d = lost_q;"),
    fault("busy does not refuse", "(requested | counts) & ~busy", "requested | counts"),
    fault("the due number as it is", "low_q | increment_carry_q", "increment_carry_q"),
    fault("the due number's carry is lost", "low_q | increment_carry_q", "low_q"),
    fault("a request takes the passing number", "if (of_request_q) begin", "if (1'b0) begin"),
    fault("a refused delimiter gives its number", "of_delimiter_q & delimiter_ends_q", "of_delimiter_q"),
    fault("the later task goes first", "request_first_q | ~delimiter_waits_q", "~delimiter_waits_q"),
    fault("a request's task always goes first", "request_first_q | ~delimiter_waits_q", "1'b1"),
    fault("of two tasks one is forgotten", "delimiter_waits_q & takes_request", "1'b0"),
    fault("the number is said to be there early", "numbers_d = to_ended & is_high", "numbers_d = to_ended"),
];

#[test]
fn planted_faults_are_noticed() {
    let missed = missed(&verilog::<0>(), "succession", &FAULTS, |verilog| {
        succession(&toolchain(), verilog, 200_000, 7)
    })
    .unwrap();
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Of the core with a key.
const KEY_FAULTS: [Fault; 21] = [
    fault("what is due needs no tag", "due_now & due_signed_0", "due_now"),
    fault("the candidate's successor needs no tag", "has_candidate_q & next_signed_0", "has_candidate_q"),
    fault(
        "without a candidate its place is taken for one",
        "has_candidate_q & next_signed_0",
        "next_signed_0",
    ),
    fault(
        "any tag is good for what is due",
        "due_now & due_signed_0",
        "due_now & (due_signed_0 | next_signed_0)",
    ),
    fault("what has a tag needs not be due", "due_now & due_signed_0", "due_signed_0"),
    fault("the key is not looked at", "if (keyed_0) begin", "if (1'b0) begin"),
    Fault { what: "there is always a key", before: "(", from: "keyed_0", to: "1'b1" },
    fault("of a sender that is not known only what is later is a candidate", "~is_known_0_q", "1'b0"),
    fault(
        "what counts without a key makes its sender known",
        "is_known_0_d = keyed_0;",
        "is_known_0_d = 1'b1;",
    ),
    fault("no sender is known", "is_known_0_d = keyed_0;", "is_known_0_d = 1'b0;"),
    fault("ones that are late or copies are candidates", "is_same_epoch_q & is_ahead_0_q", "is_same_epoch_q"),
    fault("ahead in another epoch is as good", "is_same_epoch_q & is_ahead_0_q", "is_ahead_0_q"),
    fault("what is due is ahead", "~difference[32'h7] & ~is_zero", "~difference[32'h7]"),
    Fault { what: "the same epoch is a later one", before: " & ", from: "~is_equal", to: "1'b1" },
    fault("later epochs, by the highest byte alone", "low_q | epoch_reached_0_q", "low_q"),
    fault(
        "later epochs, as far as they reach alone",
        "epoch_differs_0 != epoch_reaches_0",
        "epoch_reaches_0",
    ),
    fault("what was behind due is ahead behind a request", "is_ahead_0_q & ~is_behind_due_q", "is_ahead_0_q"),
    Fault {
        what: "behind a request the farthest one is behind",
        before: " | ",
        from: "is_opposite_0_q",
        to: "1'b0",
    },
    fault(
        "it is not told that what is due changes",
        "due_changes_0 = counts | timed_now",
        "due_changes_0 = timed_now",
    ),
    Fault {
        what: "it is not told that a request's task waits",
        before: " | ",
        from: "request_waits_q",
        to: "1'b0",
    },
    fault(
        "it is not told that the candidate changes",
        "next_changes_0 = begins_run",
        "next_changes_0 = 1'b0",
    ),
];

#[test]
fn planted_faults_of_keys_are_noticed() {
    let missed = missed(&verilog::<1>(), "succession", &KEY_FAULTS, |verilog| {
        succession(&toolchain(), verilog, 600_000, 7)
    });
    let missed = missed.unwrap();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn verilator_has_nothing_to_say() {
    let waivers = include_str!("../../../hdl/lint/verilator.vlt");
    for verilog in [verilog::<0>(), verilog::<1>()] {
        let source = Source { top: "succession", verilog: &verilog };
        let warnings = lint(&toolchain(), &source, LintOptions { waivers, arguments: &[] }).unwrap();
        assert_eq!(warnings, []);
    }
}
