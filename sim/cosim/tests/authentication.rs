//! Authentication in hardware: tags against another implementation, and the faults that this must notice.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks::{self, authentication};
use deltaline_cosim::faults::{Fault, fault, missed};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::wire::shape::Kind;
use verilator_sys::Toolchain;

#[test]
fn tags_are_those_of_the_standard() {
    for rounds in [1, 2, 4] {
        let verilog = authentication::verilog(rounds).unwrap();
        let tags = authentication::check(&Toolchain::find().unwrap(), &verilog, rounds, 2000, 1).unwrap();
        assert!(tags > 2000);
    }
}

const FAULTS: [Fault; 12] = [
    fault("wrong round constants", "inverse = number ^ 32'hf;", "inverse = number;"),
    fault("a rotation is off by one", "(boxed_3 >> 32'h11)", "(boxed_3 >> 32'h12)"),
    fault("the substitution lacks its inversion", "boxed_2 = ~chi_2;", "boxed_2 = chi_2;"),
    fault("data begin with the first of twelve rounds", "number_d = 32'h4;", "number_d = 32'h0;"),
    fault("no domain separation", "added_4 = domain_bit;", ""),
    fault("an empty plaintext is not padded", "added_0 = 32'h1;", ""),
    fault("the key's halves are swapped", "added_3 = key_high;", "added_3 = key_low;"),
    fault(
        "the nonce's halves are swapped",
        "added_3 = nonce[(32'h0)+:(64)];",
        "added_3 = nonce[(32'h40)+:(64)];",
    ),
    fault("padding is always the first word's", "added_1 = 32'h1;", "added_0 = 32'h1;"),
    fault("a start does not clear the state", "clears = rst | start;", "clears = rst;"),
    fault("a start leaves the half of a pair", "is_second_d = 1'b0;", ""),
    fault(
        "a start leaves rounds under way",
        "begins_d = 1'b1;\n            running_d = 1'b0;",
        "begins_d = 1'b1;",
    ),
];

#[test]
fn faults_are_noticed() {
    let verilog = authentication::verilog(1).unwrap();
    let missed = missed(&verilog, "ascon", &FAULTS, |verilog| {
        authentication::check(&Toolchain::find().unwrap(), verilog, 1, 100, 1)
    });
    let missed = missed.unwrap();
    assert!(missed.is_empty(), "{missed:#?}");
}

const FRAME_FAULTS: [Fault; 8] = [
    fault(
        "the tag's words are swapped",
        "tag_words_0 = first_tag_swapped;",
        "tag_words_0 = second_tag_swapped;",
    ),
    fault("the check word is not mended", "if (place_q == check_place) begin", "if (1'b0) begin"),
    fault("the epoch is not put in", "if (place_q == epoch_place) begin", "if (1'b0) begin"),
    fault("fragments are not counted", "fragment_d = fragment_q + 32'h1;", "fragment_d = fragment_q;"),
    fault(
        "fragments go on over an interval's end",
        "if (fragment_q == last_fragment) begin",
        "if (1'b0) begin",
    ),
    fault("the nonce lacks the role", "if (receiver_q) begin", "if (1'b0) begin"),
    fault("a word is taken twice", "taken_d = 1'b1;", ""),
    fault("the tag does not wait for its rounds", "finished_q & engine_ready", "finished_q"),
];

#[test]
fn faults_of_frames_are_noticed() {
    let configuration = Configuration::new(Settings { rows: 16, ..Settings::default() }).unwrap();
    let verilog = authentication::authenticator(&configuration).unwrap();
    let missed = missed(&verilog, "ascon", &FRAME_FAULTS, |verilog| {
        authentication::frames(&Toolchain::find().unwrap(), &configuration, verilog, 12, 1)
    });
    let missed = missed.unwrap();
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Every synopsis, several frames of each table, several classes.
#[test]
fn frames_are_those_that_the_model_signs() {
    let entries = checks::core::entries(3);
    for settings in [
        Settings { rows: 16, ..Settings::default() },
        Settings { rows: 256, segment: 0xdead_beef, ..Settings::default() },
        Settings { rows: 128, digest: true, ..Settings::default() },
        Settings { rows: 16, entries: &entries, ..Settings::default() },
        Settings { rows: 256, synopsis: Kind::FINECOMB, ..Settings::default() },
        Settings { rows: 64, synopsis: Kind::IDENTITY_TABLE, prefixes: &[1], ..Settings::default() },
    ] {
        let configuration = Configuration::new(settings).unwrap();
        let verilog = authentication::authenticator(&configuration).unwrap();
        let frames =
            authentication::frames(&Toolchain::find().unwrap(), &configuration, &verilog, 12, 1).unwrap();
        assert!(frames >= 24);
    }
}
