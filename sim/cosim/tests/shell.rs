//! Whole designs against the model; see `deltaline_cosim::checks::shell`.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks::shell;
use deltaline_cosim::faults::{Fault, fault, missed};
use deltaline_design::Design;
use std::fs;
use std::path::Path;
use verilator_sys::Toolchain;

/// A design of few rows, adaptive or with digests if its name ends so, with authentication, a mixing or reference packets if its name has keys, mixing or references; read from a file as a user's own is.
fn design(name: &str, shell: &str, clock: &str, width: usize, lanes: usize) -> Design {
    design_with(name, shell, clock, width, lanes, "")
}

/// Three classes; some IPv4 packets are of none.
const ENTRIES: &str = "
[[entry]]\nclass = 2\nsource = \"0.0.0.0/2\"\n
[[entry]]\nclass = 1\nsource = \"64.0.0.0/2\"\n
[[entry]]\nclass = 0\nsource = \"128.0.0.0/2\"\n
[[entry]]\nclass = 0\nsource = \"::/1\"\n
[[entry]]\nclass = 1\nsource = \"8000::/1\"\n";

fn design_with(name: &str, shell: &str, clock: &str, width: usize, lanes: usize, entries: &str) -> Design {
    let text = format!(
        "description = \"{name}\"\nshell = \"{shell}\"\nclock = \"{clock}\"\nauthentication = {authentication}\nreferences = {references}\n\
         [stream]\nwidth = {width}\nlanes = {lanes}\nclock_mhz = 400\nrate_gbps = 10\n\
         [measurement]\nhash = \"h3\"\nseed = 7\nrows = 16\nprefixes = [0, 2]\nadaptive = {adaptive}\ndigest = {digest}\nmixing = {mixing}\nsegment = 9\n{entries}",
        authentication = name.contains("keys"),
        references = name.contains("references"),
        adaptive = name.ends_with("adaptive"),
        digest = name.ends_with("digest"),
        mixing = name.contains("mixing"),
    );
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.toml"));
    fs::write(&path, text).unwrap();
    Design::load(&path).unwrap()
}

#[test]
fn taps() {
    for (name, clock, width, lanes) in [
        ("tap-64", "ptp", 64, 1),
        ("tap-64-clock", "built-in", 64, 1),
        ("tap-256", "ptp", 256, 1),
        ("tap-512", "built-in", 512, 1),
        ("tap-2x512", "ptp", 512, 2),
        ("tap-64-adaptive", "ptp", 64, 1),
        ("tap-256-mixing-adaptive", "ptp", 256, 1),
        ("tap-64-digest", "ptp", 64, 1),
        ("tap-64-day", "time-of-day", 64, 1),
        ("tap-2x512-day", "time-of-day", 512, 2),
        ("tap-64-keys", "ptp", 64, 1),
    ] {
        let sent =
            shell::tap(&Toolchain::find().unwrap(), &design(name, "tap", clock, width, lanes), 2000, 1);
        assert!(sent.unwrap_or_else(|error| panic!("{name}: {error}")) >= 2000);
    }
}

/// What must be noticed of keys and epochs.
const FAULTS: [Fault; 5] = [
    fault("keys change while an interval is sent", "if (is_numbered_q) begin", "if (1'b1) begin"),
    fault("the boot epoch stays what it was", "epoch_now_d = boot_epoch;", ""),
    fault("a key does not wait for its interval", "late = running_number - from;", "late = 32'h0;"),
    fault("a key stays what it was", "key_now_d = next_key;", ""),
    fault("a key can be changed while it waits", "pending = waits_q | load;", "pending = 1'b0;"),
];

#[test]
fn faults_of_keys_are_noticed() {
    let design = design("tap-64-keys-faults", "tap", "ptp", 64, 1);
    let verilog = deltaline_hdl::emit::design::emit(&design, "deltaline").unwrap();
    let missed = missed(&verilog, "deltaline", &FAULTS, |verilog| {
        shell::tap_of(&Toolchain::find().unwrap(), &design, verilog, 1000, 1)
    });
    let missed = missed.unwrap();
    assert!(missed.is_empty(), "{missed:#?}");
}

/// What must be noticed of the registers of mixings.
const MIXING_FAULTS: [Fault; 2] = [
    Fault {
        what: "a mixing can be changed while it waits",
        before: "registers_mixing_offset_allowed = ",
        from: "~core_mixing_pending",
        to: "1'b1",
    },
    fault(
        "halves of a mixing change places",
        "{registers_mixing_offset, registers_mixing_matrix}",
        "{registers_mixing_matrix, registers_mixing_offset}",
    ),
];

#[test]
fn faults_of_mixings_are_noticed() {
    let design = design("tap-64-mixing-faults", "tap", "ptp", 64, 1);
    let verilog = deltaline_hdl::emit::design::emit(&design, "deltaline").unwrap();
    let missed = missed(&verilog, "deltaline", &MIXING_FAULTS, |verilog| {
        shell::tap_of(&Toolchain::find().unwrap(), &design, verilog, 1000, 1)
    });
    let missed = missed.unwrap();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn taps_with_classes() {
    for (name, width) in [("classes-64", 64), ("classes-256", 256), ("classes-64-keys", 64)] {
        let design = design_with(name, "tap", "ptp", width, 1, ENTRIES);
        let sent = shell::tap(&Toolchain::find().unwrap(), &design, 2000, 3);
        assert!(sent.unwrap_or_else(|error| panic!("{name}: {error}")) >= 2000);
    }
}

#[test]
fn storms_of_ends() {
    for (name, width) in [("storm-64", 64), ("storm-256", 256), ("storm-512", 512)] {
        let design = design(name, "inline", "ptp", width, 1);
        let verilog = deltaline_hdl::emit::design::emit(&design, "deltaline").unwrap();
        let ended = shell::storms_of(&Toolchain::find().unwrap(), &design, &verilog, 60_000, 3);
        assert!(ended.unwrap_or_else(|error| panic!("{name}: {error}")) >= 60);
    }
}

/// What must be noticed of the pace of a sender in the stream.
const PACE_FAULTS: [Fault; 5] = [
    fault("delimiters go out while the core drains", "core_draining | core_too_soon", "core_too_soon"),
    fault(
        "delimiters go out before the least interval is over",
        "core_draining | core_too_soon",
        "core_draining",
    ),
    fault(
        "delimiters do not wait for each other",
        "passes = asked & ~waits_q & ~busy;",
        "passes = asked & ~busy;",
    ),
    fault("a delimiter that ends nothing stops those behind", "if (|to_drain_q) begin", "if (busy) begin"),
    fault("the next delimiter goes out before the drain begins", "|to_drain_q", "|met_now"),
];

#[test]
fn faults_of_the_pace_are_noticed() {
    let design = design("storm-64-faults", "inline", "ptp", 64, 1);
    let verilog = deltaline_hdl::emit::design::emit(&design, "deltaline").unwrap();
    let missed = missed(&verilog, "deltaline", &PACE_FAULTS, |verilog| {
        shell::storms_of(&Toolchain::find().unwrap(), &design, verilog, 30_000, 5)
    });
    let missed = missed.unwrap();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn segments() {
    // The receiver's beats need not be as wide as the sender's.
    let receiver = design("receiver", "tap", "ptp", 64, 1);
    for (name, clock, width) in [
        ("in-64", "ptp", 64),
        ("in-64-clock", "built-in", 64),
        ("in-64-keys", "ptp", 64),
        ("in-256", "ptp", 256),
        ("in-512", "ptp", 512),
    ] {
        let sender = design(name, "inline", clock, width, 1);
        let sent = shell::segment(&Toolchain::find().unwrap(), &sender, &receiver, 2000, 2);
        assert!(sent.unwrap_or_else(|error| panic!("{name}: {error}")) >= 2000);
    }
}

/// What must be noticed of how reference packets are joined to a shell in line.
const SENDER_FAULTS: [Fault; 5] = [
    fault(
        "the core watches reference packets, too",
        "core_s_axis_tvalid = insertion_m_axis_tvalid",
        "core_s_axis_tvalid = m_axis_tvalid",
    ),
    fault(
        "the core counts beats that wait",
        "core_s_axis_tready = insertion_m_axis_tready",
        "core_s_axis_tready = 1'b1",
    ),
    fault("no clock", "reference_sender_ptp_ts = ptp_ts", "reference_sender_ptp_ts = 64'd0"),
    fault("no spacing", "reference_sender_spacing = reference_spacing", "reference_sender_spacing = 32'd1"),
    fault(
        "marks and times are lost",
        "reference_sender_s_axis_tuser = insertion_m_axis_tuser",
        "reference_sender_s_axis_tuser = 65'd0",
    ),
];

/// The same of a tap.
const RECEIVER_FAULTS: [Fault; 2] = [
    fault(
        "the receiver does not get the frames' times",
        "reference_receiver_s_axis_tuser = core_s_axis_tuser",
        "reference_receiver_s_axis_tuser = 65'd0",
    ),
    fault(
        "the receiver takes beats that are not observed",
        "reference_receiver_s_axis_tvalid = core_s_axis_tvalid",
        "reference_receiver_s_axis_tvalid = 1'b1",
    ),
];

#[test]
fn segments_with_reference_packets() {
    let toolchain = Toolchain::find().unwrap();
    for (name, clock, width, receiving, wide) in [
        ("references-in", "ptp", 64, "ptp", 64),
        ("references-in-clock", "built-in", 64, "built-in", 64),
        ("references-in-keys", "ptp", 64, "time-of-day", 64),
        ("references-in-256", "ptp", 256, "ptp", 256),
        ("references-in-256-keys", "built-in", 256, "time-of-day", 512),
    ] {
        let sender = design(name, "inline", clock, width, 1);
        let receiver = design(&format!("{name}-receiver"), "tap", receiving, wide, 1);
        let sent = shell::segment(&toolchain, &sender, &receiver, 2000, 2);
        assert!(sent.unwrap_or_else(|error| panic!("{name}: {error}")) >= 2000);
    }
}

#[test]
fn faults_of_reference_packets_are_noticed() {
    let [sender, receiver] = [("inline", "references-in-faults"), ("tap", "references-receiver-faults")]
        .map(|(shell, name)| design(name, shell, "ptp", 64, 1));
    let toolchain = Toolchain::find().unwrap();
    for (design, of_sender, faults) in
        [(&sender, true, &SENDER_FAULTS[..]), (&receiver, false, &RECEIVER_FAULTS)]
    {
        let verilog = deltaline_hdl::emit::design::emit(design, "deltaline").unwrap();
        let missed = missed(&verilog, "deltaline", faults, |faulty| {
            let other =
                deltaline_hdl::emit::design::emit(if of_sender { &receiver } else { &sender }, "deltaline")
                    .unwrap();
            let verilogs = if of_sender { [faulty, &other] } else { [&other, faulty] };
            shell::segment_of(&toolchain, [&sender, &receiver], verilogs, 400, 3)
        });
        let missed = missed.unwrap();
        assert!(missed.is_empty(), "{missed:#?}");
    }
}
