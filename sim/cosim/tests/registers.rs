//! The register block: the check of `deltaline_cosim::checks::registers`, faults that it must notice, the accessors
//! of hosts on the hardware, and literals by hand, so that the map cannot move unnoticed.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks::registers::{AccessError, RegisterBlock, check};
use deltaline_cosim::faults::{Fault, fault, missed};
use deltaline_hdl::registers::{Emitted, Options, emit};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::registers::{Bus, ClockCommand, Control, IntervalSource, Registers, Role};
use verilator_sys::{LintOptions, Source, Toolchain, lint};

fn emitted() -> Emitted {
    let configuration = Configuration::new(Settings::default()).unwrap();
    Emitted::new(
        &configuration,
        8,
        1,
        0x1234_5678,
        Options { clock: true, delimiters: false, authentication: true },
    )
}

fn verilog() -> String {
    emit(&emitted(), "registers").unwrap()
}

#[test]
fn hardware_is_the_map() {
    let answers = check(&Toolchain::find().unwrap(), &verilog(), emitted(), 200_000, 1).unwrap();
    assert!(answers >= 200_000);
}

#[test]
fn lint_finds_nothing() {
    let waivers = include_str!("../../../hdl/lint/registers.vlt");
    let verilog = verilog();
    let source = Source { top: "registers", verilog: &verilog };
    let warnings =
        lint(&Toolchain::find().unwrap(), &source, LintOptions { waivers, arguments: &[] }).unwrap();
    assert_eq!(warnings, []);
}

/// As a host sees it, through the accessors.
#[test]
fn a_host_measures() {
    let mut hardware = RegisterBlock::new(&Toolchain::find().unwrap(), &verilog()).unwrap();
    let values =
        [("packets", 0x1234_5678_9abc), ("timestamp", u64::MAX), ("refused_ends", 7), ("status_running", 1)];
    for (port, value) in values {
        hardware.set(port, value).unwrap();
    }
    let mut registers = Registers::new(&mut hardware);
    assert_eq!(registers.block_type().unwrap().to_be_bytes(), *b"DELT");
    assert_eq!((registers.version().unwrap().major(), registers.next_block().unwrap()), (1, 0));
    assert_eq!(registers.configuration().unwrap(), Configuration::new(Settings::default()).unwrap().id());
    assert_eq!(registers.build().unwrap(), 0x1234_5678);
    let capability = registers.capability().unwrap();
    assert_eq!((capability.data_bytes(), capability.banks(), capability.rows_log2()), (8, 2, 10));
    assert!(capability.has_clock() && !capability.has_delimiters());
    assert!(registers.status().unwrap().running());
    assert_eq!(registers.packets().unwrap(), 0);
    registers.snapshot().unwrap();
    assert_eq!(registers.packets().unwrap(), 0x1234_5678_9abc);
    assert_eq!((registers.timestamp().unwrap(), registers.refused_ends().unwrap()), (u64::MAX, 7));

    let control = Control::default()
        .with_role(Role::Receiver)
        .with_interval_source(IntervalSource::Clock)
        .with_interval_log2(30);
    registers.write_control(control).unwrap();
    let refused = registers.write_control(control.with_interval_log2(48));
    assert!(matches!(refused, Err(AccessError::Refused(0x20))));
    assert_eq!(registers.control().unwrap(), control);
    registers.write_clock_period(8 << 32).unwrap();
    registers.write_clock_rate(-5).unwrap();
    registers.write_clock_command(ClockCommand::default().with_set(true)).unwrap();
    assert_eq!(hardware.get("control_interval_log2").unwrap(), 30);
    assert_eq!(hardware.get("clock_period").unwrap(), 8 << 32);
    assert_eq!(hardware.get("clock_rate").unwrap(), 0xffff_fffb);
    assert_eq!(hardware.get("clock_command_set").unwrap(), 0);
}

/// Offsets and values by hand.
#[test]
fn the_map_by_hand() {
    let mut hardware = RegisterBlock::new(&Toolchain::find().unwrap(), &verilog()).unwrap();
    let inputs = [
        ("interval", 0x2c, 0x0101_0101),
        ("packets", 0x30, 0x2222_2222),
        ("bytes", 0x38, 0x3333_3333),
        ("unmeasured", 0x40, 4),
        ("bad", 0x44, 5),
        ("refused_ends", 0x48, 6),
        ("control_frames", 0x4c, 7),
        ("unmatched", 0x50, 8),
        ("delimiters", 0x54, 9),
        ("delimiter_gaps", 0x58, 10),
        ("timestamp", 0x60, 11),
    ];
    for (port, _, value) in inputs {
        hardware.set(port, value).unwrap();
    }
    for port in [
        "status_ptp_locked",
        "status_end_refused",
        "clock_status_slewing",
        "prefixes_next_allowed",
        "key_low_allowed",
        "mixing_matrix_allowed",
        "mixing_id_allowed",
    ] {
        hardware.set(port, 1).unwrap();
    }
    let bus = &mut &mut hardware;
    bus.write(0x28, 1).unwrap();
    for (_, offset, value) in inputs {
        assert_eq!(u64::from(bus.read(offset).unwrap()), value);
    }
    let fixed =
        [(0x00, 0x4445_4c54), (0x04, 0x0001_0005), (0x08, 0), (0x0c, 0x122a_2108), (0x18, 0x1234_5678)];
    for (offset, value) in fixed.into_iter().chain([(0x24, 0b1010), (0x68, 2)]) {
        assert_eq!(bus.read(offset).unwrap(), value, "{offset:#x}");
    }
    for (offset, value) in [
        (0x20, 0x2f11),
        (0x6c, 1),
        (0x74, 0xff),
        (0x78, u32::MAX),
        (0x7c, 3),
        (0x84, 4),
        (0x94, 0x0106_ffff),
        (0xc4, 77),
        (0xdc, 78),
    ] {
        bus.write(offset, value).unwrap();
        assert_eq!(bus.read(offset).unwrap(), value, "{offset:#x}");
    }
    // A key is taken, and not shown.
    bus.write(0xac, 6).unwrap();
    assert_eq!(bus.read(0xac).unwrap(), 0);
    // Nor is a mixing, whose matrix has 63 bits.
    bus.write(0xd4, u32::MAX >> 1).unwrap();
    assert_eq!(bus.read(0xd4).unwrap(), 0);
    for (offset, value) in [
        (0xb0, 1),
        (0xd4, u32::MAX),
        (0xd8, 1),
        (0xe0, 1),
        (0x20, 0x3000),
        (0x20, 0x20),
        (0x74, 0x100),
        (0x1c, 0),
        (0x8c, 0),
        (0x02, 0),
        (0x24, 0),
        (0x98, 1),
        (0x9c, 1),
    ] {
        assert!(bus.write(offset, value).is_err(), "{offset:#x}");
    }
}

/// Faults that a designer or a tool could make: each must be noticed.
const FAULTS: [Fault; 20] = [
    fault("a write of some bytes is done", "w_whole_d = &s_axil_wstrb;", "w_whole_d = s_axil_wstrb[0];"),
    fault(
        "a write happens before its data",
        "writes = aw_full_q & w_full_q & ~b_full_q;",
        "writes = aw_full_q & ~b_full_q;",
    ),
    fault(
        "a write happens over an answer that waits",
        "writes = aw_full_q & w_full_q & ~b_full_q;",
        "writes = aw_full_q & w_full_q;",
    ),
    fault("an answer to a write is given up", "if (s_axil_bready) begin", "if (b_full_q) begin"),
    fault("read data change while they wait", "reads = ar_full_q & ~r_full_q;", "reads = ar_full_q;"),
    fault("a second address is accepted too early", "ar_ready_d = ~ar_next;", "ar_ready_d = 1'b1;"),
    fault(
        "the address of a read does not stay",
        "ar_address_next = ar_address_q;",
        "ar_address_next = s_axil_araddr;",
    ),
    fault(
        "a register answers at its neighbour's address, too",
        "bad_addressed_d = axi_read_address == 32'h44;",
        "bad_addressed_d = axi_read_address >= 32'h44;",
    ),
    fault("every read is legal", "if (read_legal) begin", "if (1'b1) begin"),
    fault("every write is answered well", "if (write_legal) begin", "if (1'b1) begin"),
    fault(
        "the greatest value is one too great",
        "(control_interval_log2_asked <= 32'h2f)",
        "(control_interval_log2_asked <= 32'h30)",
    ),
    fault("a reserved value is taken", "(control_interval_source_asked != 32'h3)", "1'b1"),
    fault(
        "the guard of a register is not asked",
        "~|prefixes_schedule_reserved & prefixes_schedule_allowed;",
        "~|prefixes_schedule_reserved;",
    ),
    fault(
        "a bit without a field is taken",
        "axi_write_data & 64'hffffff00;",
        "axi_write_data & 64'hfffffe00;",
    ),
    fault(
        "a strobe lasts until the answer is taken",
        "interval_end_write = axi_write & interval_end_legal;",
        "interval_end_write = interval_end_legal;",
    ),
    fault(
        "a refused write starts a strobe",
        "clock_command_write = axi_write & clock_command_legal;",
        "clock_command_write = axi_write;",
    ),
    fault(
        "writing 0 is a snapshot",
        "snapshot_pulse_d = snapshot_write & axi_write_data[32'h0];",
        "snapshot_pulse_d = snapshot_write;",
    ),
    fault(
        "a counter is taken in every cycle",
        "if (snapshot_pulse_q) begin\n            bytes_taken_d",
        "if (1'b1) begin\n            bytes_taken_d",
    ),
    fault(
        "a counter is taken a cycle before the others",
        "if (snapshot_pulse_q) begin\n            packets_taken_d",
        "if (snapshot_pulse_d) begin\n            packets_taken_d",
    ),
    fault(
        "the wrong bits of a long counter",
        "packets_taken_q[(32'h20)+:(16)]",
        "packets_taken_q[(32'h10)+:(16)]",
    ),
];

#[test]
fn faults_are_noticed() {
    let toolchain = Toolchain::find().unwrap();
    let check = |verilog: &str| check(&toolchain, verilog, emitted(), 20_000, 7);
    let missed = missed(&verilog(), "registers", &FAULTS, check).unwrap();
    assert!(missed.is_empty(), "{missed:#?}");
}
