//! The byte core with authentication against the model; see `deltaline_cosim::checks::signed_byte`.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks::{byte, signed_byte};
use deltaline_cosim::faults::{Fault, fault, missed};
use deltaline_design::Design;
use deltaline_hdl::emit::design::emit;
use std::fs;
use std::path::Path;
use verilator_sys::{LintOptions, Source, Toolchain, lint};

/// A design with so many rows and these prefix lengths.
fn design(rows: usize, prefixes: &[u8]) -> Design {
    let text = format!(
        "description = \"signed\"\nshell = \"tap\"\nclock = \"ptp\"\nauthentication = true\n\
         [stream]\nwidth = 8\nlanes = 1\nclock_mhz = 125\nrate_gbps = 1\n\
         [measurement]\nhash = \"h3\"\nseed = 7\nrows = {rows}\nprefixes = {prefixes:?}\nsegment = 0xdeadbeef\n"
    );
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("signed-{rows}-{}.toml", prefixes.len()));
    fs::write(&path, text).unwrap();
    Design::load(&path).unwrap()
}

fn verilog(design: &Design) -> String {
    emit(design, byte::TOP).unwrap()
}

/// Data of an even number of words, and of an odd one; several frames.
#[test]
fn control_frames_are_those_that_the_model_signs() {
    for (rows, prefixes, count) in [(16, &[0u8, 2][..], 60), (8, &[2], 60), (256, &[0, 1, 3], 6)] {
        let design = design(rows, prefixes);
        let signed = signed_byte::check(&Toolchain::find().unwrap(), &design, &verilog(&design), count, 1);
        assert!(signed.unwrap() >= count / 2);
    }
}

/// Without a key it is the core that has none.
#[test]
fn without_a_key() {
    let design = design(16, &[0, 2]);
    byte::traffic(&Toolchain::find().unwrap(), design.configuration(), &verilog(&design), 2000, 2).unwrap();
}

/// Verilator -Wall finds nothing but what the 64-bit core's waivers explain.
#[test]
fn no_warnings() {
    let waivers = include_str!("../../../hdl/lint/verilator.vlt");
    let verilog = verilog(&design(128, &[1, 6]));
    let source = Source { top: byte::TOP, verilog: &verilog };
    assert_eq!(
        lint(&Toolchain::find().unwrap(), &source, LintOptions { waivers, arguments: &[] }).unwrap(),
        []
    );
}

/// A fault behind a text that says which place is meant.
const fn at(what: &'static str, before: &'static str, from: &'static str, to: &'static str) -> Fault {
    Fault { what, before, from, to }
}

/// Whether a key is due.
const DUE: &str = "due_q | (pending_q & (difference[32'hf] == is_more))";

const FAULTS: [Fault; 35] = [
    fault("the key's halves are swapped", "of_high_0 = ~word_q[32'h0];", "of_high_0 = word_q[32'h0];"),
    fault("the tag's words have the same half of the key", "of_high_0 = word_q[32'h0];", "of_high_0 = 1'b0;"),
    fault("another word than the key's identifier", "key_place_0 = 32'hc;", "key_place_0 = 32'hd;"),
    fault("the epoch's halves are swapped", "key_place_0 = 32'h3;", "key_place_0 = 32'h2;"),
    fault(
        "the key's bytes are swapped",
        "takes_high_0 = lane_q[32'h0] == of_key_0;",
        "takes_high_0 = ~lane_q[32'h0];",
    ),
    fault("words of data are no pairs", "is_second_0_d = ~is_second_0_q;", "is_second_0_d = 1'b0;"),
    fault("half a pair outlives its frame", "is_second_0_d = 1'b0;", "is_second_0_d = is_second_0_q;"),
    fault("rounds follow each word", "permutes_0 = is_second_0_q & &lane_q;", "permutes_0 = &lane_q;"),
    fault(
        "version and role are not in the nonce",
        "((lane_q) & 8'hff) | 32'ha",
        "((lane_q) & 8'hff) | 32'h8",
    ),
    fault(
        "the fragment is not in the nonce",
        "((lane_q[(32'h0)+:(1)]) & 8'hff) | 32'h20",
        "((lane_q[(32'h0)+:(1)]) & 8'hff) | 32'h10",
    ),
    fault(
        "what is not sent is in the check word",
        "is_unsent_0 = section_q >= 32'h5;",
        "is_unsent_0 = section_q >= 32'h6;",
    ),
    fault("a frame does not wait for its key", "keys_busy_0 | engine_0_busy", "engine_0_busy"),
    fault("bytes do not wait for rounds", "keys_busy_0 | engine_0_busy", "keys_busy_0"),
    at("always twelve rounds", "engine_0_short = ", "(section_q != 32'h5)", "1'b0"),
    fault("the tag has eight rounds", "~((section_q == 32'h6) & word_q[32'h2])", "1'b1"),
    at("the state is not cleared", "engine_0_clear = ", "(state_q == 32'h1)", "1'b0"),
    fault(
        "frames without a key pass for signed",
        "engine_0_add = adds_0 & is_keyed_0;",
        "engine_0_add = adds_0;",
    ),
    fault("data are not padded", "(word_q == 32'h0) & ~|lane_q", "1'b0"),
    fault("no domain separation", "(word_q == 32'h1) & &lane_q", "1'b0"),
    fault("an empty plaintext is not padded", "(word_q == 32'h2) & ~|lane_q", "1'b0"),
    fault("wrong round constants", "number_q ^ 32'hf", "number_q"),
    fault("a rotation is off by one", "words_4_q[(32'h11)+:(8)]", "words_4_q[(32'h12)+:(8)]"),
    fault("a waiting key can be changed", "~(is_key & pending_q)", "1'b1"),
    fault("a key is always due", DUE, "due_q | pending_q"),
    at("the low half of from does not matter", "is_more = ", "differs_q", "1'b0"),
    fault("the carry of from is lost", "carried = 32'h1;", "carried = 32'h0;"),
    fault("the epoch never counts", "copied[(32'h1)+:(3)] == 32'h1", "1'b0"),
    at("a key waits for ever", "if (due_q) begin\n                        ", "pending_d = 1'b0;", ""),
    fault("identifier zero signs", "keyed_d = |memory_read_data;", "keyed_d = 1'b1;"),
    fault("the memory is not cleared", "copies | ~cleared_q", "copies"),
    at("a write within a copy counts by halves", "if (stores) begin\n            ", "turn_d = 32'h0;", ""),
    fault("a key is found due again", DUE, "pending_q & (difference[32'hf] == is_more)"),
    at("bytes can be written", "legal = ", "axi_write_whole", "1'b1"),
    fault("identifiers of 32 bits", "held == 32'h6", "1'b0"),
    fault("everything can be read", "axi_read_legal = status_addressed_q;", "axi_read_legal = 1'b1;"),
];

/// Every planted fault is caught.
#[test]
fn faults() {
    let design = design(16, &[0, 2]);
    let check = |verilog: &str| signed_byte::check(&Toolchain::find().unwrap(), &design, verilog, 30, 3);
    let blind = missed(&verilog(&design), byte::TOP, &FAULTS, check).unwrap();
    assert!(blind.is_empty(), "{blind:#?}");
}
