//! Designs with a key among forged delimiters; see `deltaline_cosim::checks::forgery`.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks::forgery;
use deltaline_cosim::faults::{Fault, fault, missed};
use deltaline_design::Design;
use std::fs;
use std::path::Path;
use verilator_sys::Toolchain;

/// A design of few rows, with authentication; read from a file as a user's own is.
fn design(name: &str, shell: &str, clock: &str, width: usize, lanes: usize) -> Design {
    let rate = if width == 8 { 1 } else { 10 };
    let text = format!(
        "description = \"{name}\"\nshell = \"{shell}\"\nclock = \"{clock}\"\nauthentication = true\n\
         [stream]\nwidth = {width}\nlanes = {lanes}\nclock_mhz = 400\nrate_gbps = {rate}\n\
         [measurement]\nhash = \"h3\"\nseed = 7\nrows = 16\nprefixes = [0, 2]\nsegment = 0x01020304\n"
    );
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.toml"));
    fs::write(&path, text).unwrap();
    Design::load(&path).unwrap()
}

fn verilog(design: &Design) -> String {
    deltaline_hdl::emit::design::emit(design, "deltaline").unwrap()
}

/// 10,000 of them end nothing in 64 bits, and 500 or more in each other width.
#[test]
fn forged_delimiters_end_no_interval() {
    for (name, clock, width, lanes, lane, count) in [
        ("forged-8", "ptp", 8, 1, 0, 2_000),
        ("forged-64", "ptp", 64, 1, 0, 10_000),
        ("forged-64-day", "time-of-day", 64, 1, 0, 500),
        ("forged-256", "ptp", 256, 1, 0, 1_000),
        ("forged-512", "ptp", 512, 1, 0, 1_000),
        ("forged-2x512", "ptp", 512, 2, 1, 1_000),
    ] {
        let design = design(name, "tap", clock, width, lanes);
        let hostile =
            forgery::tap_of(&Toolchain::find().unwrap(), &design, (&verilog(&design), lane), count, 1);
        assert!(hostile.unwrap_or_else(|error| panic!("{name}: {error}")) >= count);
    }
}

/// Designs in the stream sign what they insert, and look at what passes.
#[test]
fn senders_in_the_stream_sign_their_delimiters() {
    let receiver = design("signed-receiver", "tap", "ptp", 64, 1);
    let receives = verilog(&receiver);
    for (name, clock, width) in
        [("signed-64", "ptp", 64), ("signed-256", "ptp", 256), ("signed-512", "ptp", 512)]
    {
        let sender = design(name, "inline", clock, width, 1);
        let hostile = forgery::segment_of(
            &Toolchain::find().unwrap(),
            (&sender, &verilog(&sender)),
            (&receiver, &receives),
            40,
            3,
        );
        assert!(hostile.unwrap_or_else(|error| panic!("{name}: {error}")) >= 500);
    }
}

/// What `hdl/formal/succession.v` proves besides is planted there.
const FAULTS: [Fault; 9] = [
    fault(
        "a tag is not made anew for the next candidate",
        "next_changes_now = 1'b1;",
        "next_changes_now = 1'b0;",
    ),
    fault(
        "what is due needs no tag",
        "(is_due & due_tag_now & judged_due_tag_0_q)",
        "(is_due & due_tag_now)",
    ),
    fault(
        "the candidate's successor needs no tag",
        "(is_next & next_tag_now & judged_next_tag_0_q)",
        "(is_next & next_tag_now)",
    ),
    fault("a quarter of the tag is not looked at", "is_due = is_due & has_due_2_q;", "is_due = is_due;"),
    fault("what had the tag before is remembered", "has_due_key_d = 1'b0;", ""),
    fault("the identifier is not looked at", "is_due = has_due_key_q;", "is_due = 1'b1;"),
    fault(
        "reserved bytes are not looked at",
        "found == ((due_half) & 32'hffffffff)",
        "(found & 32'hffff) == ((due_half) & 32'hffffffff)",
    ),
    fault("the verdict is of the frame before", "to_delimiter_d = both;", "to_delimiter_d = is_due;"),
    Fault {
        what: "a key that waits signs nothing yet",
        before: "assign tags_pending = ",
        from: "keys_pending",
        to: "1'b0",
    },
];

/// What only one beat for a delimiter shows: others' tags are forgotten before the next one has passed.
const FAULTS_512: [Fault; 1] =
    [fault("the tag of the one before is still taken", "due_tag_now = due_ready;", "due_tag_now = 1'b1;")];

/// What is noticed of the modules alone, `byte_tags` and `succession` plant.
const FAULTS_8: [Fault; 5] = [
    Fault {
        what: "a key that waits signs nothing yet",
        before: "assign core_key_waits_0 = ",
        from: "keys_waits",
        to: "1'b0",
    },
    Fault {
        what: "a key is waited for unnoticed",
        before: "assign core_keys_renew_0 = ",
        from: "keys_renews",
        to: "1'b0",
    },
    fault("delimiters need no tag", "interval_keyed_0 = is_keyed_0;", "interval_keyed_0 = 1'b0;"),
    fault(
        "the candidate's successor needs the tag of the one that is due",
        "interval_next_signed_0 = tags_0_next_signed;",
        "interval_next_signed_0 = tags_0_due_signed;",
    ),
    fault(
        "the key's copy does not reach the tags",
        "memory_of_tags_write_enable = writes;",
        "memory_of_tags_write_enable = stores | second_q;",
    ),
];

/// What must be noticed of a sender in the stream.
const SIGNING_FAULTS: [Fault; 6] = [
    fault("a delimiter goes out before its tag is ready", "core_keyed & ~tags_ready_1", "1'b0"),
    Fault {
        what: "the tag is that of the one before",
        before: "assign tags_changes_1 = ",
        from: "insertion_sent",
        to: "1'b0",
    },
    fault("the check word lacks the tag's first word", "(tag_word << 32'h1)", "(tag_word << 32'h2)"),
    Fault {
        what: "the check word lacks the tag's second word",
        before: "(tag_word >> 32'h3f) ^ ",
        from: "second_tag_swapped",
        to: "first_tag_swapped",
    },
    fault("the check word lacks the epoch", "(epoch_word << 32'h2)", "(epoch_word << 32'h3)"),
    fault("without a key there is a tag", "core_keyed ? tags_tag_1 : 128'd0", "tags_tag_1"),
];

#[test]
fn faults_of_signing_are_noticed() {
    let receiver = design("signing-receiver", "tap", "ptp", 64, 1);
    let sender = design("signing-64-faults", "inline", "ptp", 64, 1);
    let receives = verilog(&receiver);
    let missed = missed(&verilog(&sender), "deltaline", &SIGNING_FAULTS, |verilog| {
        let toolchain = Toolchain::find().unwrap();
        forgery::segment_of(&toolchain, (&sender, verilog), (&receiver, &receives), 12, 4)
    });
    let missed = missed.unwrap();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn faults_are_noticed() {
    for (name, width, faults) in [
        ("forged-8-faults", 8, &FAULTS_8[..]),
        ("forged-64-faults", 64, &FAULTS[..]),
        ("forged-512-faults", 512, &FAULTS_512[..]),
    ] {
        let design = design(name, "tap", "ptp", width, 1);
        let missed = missed(&verilog(&design), "deltaline", faults, |verilog| {
            forgery::tap_of(&Toolchain::find().unwrap(), &design, (verilog, 0), 600, 2)
        });
        let missed = missed.unwrap();
        assert!(missed.is_empty(), "{missed:#?}");
    }
}
