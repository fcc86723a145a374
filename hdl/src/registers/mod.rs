//! Registers: control and status of a measurement point on AXI4-Lite.
//!
//! # Theory of operation
//!
//! The registers are described once, in `hdl/registers/deltaline.rdl`; `cargo xtask registers` makes the module
//! [`Registers`] from it, its documentation (`docs/registers.md`) and the accessors for hosts
//! (`deltaline_model::registers`). [`crate::registers::axi_lite::AxiLite`] does the handshakes.
//!
//! A host takes a snapshot, and reads at leisure counters of more than 32 bits, and of the same moment. Reading
//! changes nothing, so several hosts may read. What is illegal is answered with SLVERR and changes nothing.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock of everything; synchronous reset, active high |
//! | s_axil_* | | | AXI4-Lite, 32 data bits, 12 address bits; awprot and arprot are not looked at |
//! | prefixes_*_allowed, boot_epoch_allowed, key_*_allowed, mixing_*_allowed | in | 1 | in the same cycle: a write to the register may be legal |
//! | control_*, point_id, boot_epoch, key_low, key_high, key_id, key_from, least_interval, prefixes_next, prefixes_from, mixing_matrix, mixing_offset, mixing_id, mixing_from, clock_synchronised, clock_period, clock_rate, clock_offset, clock_value | out | of the field | what was written, from the next cycle on |
//! | snapshot, interval_end, prefixes_schedule, key_schedule, mixing_schedule, clock_command_* | out | 1 | high for one cycle, the one behind the write |
//! | status_*, clock_status_* | in | 1 | read as they are |
//! | interval, packets, bytes, unmeasured, bad, unmatched, refused_ends, control_frames, delimiters, delimiter_gaps, timestamp | in | of the field | taken at the end of the cycle in which `snapshot` is high |
//!
//! Each field has one port: named after its register, and after the field too where a register has several.
//!
//! # Parameters, latency and throughput
//!
//! [`Emitted`] gives the constants of a build. Accesses take the time of [`crate::registers::axi_lite`]. A read that is offered
//! when the write to `snapshot` has been answered, or later, sees the new values.
//!
//! Cost before placement (`cargo xtask cost`): iCE40 817 LUT4, 1100 flip-flops; ECP5 859 LUT4, 1100 flip-flops. Of these,
//! 400 flip-flops hold the snapshot.
//!
//! # Test plan
//!
//! `sim/cosim` `checks::registers`: all registers, all illegal accesses, random masters; strobes of one cycle;
//! snapshots of counters that change in every cycle. `sim/cocotb`: the same through cocotbext-axi, a master by others.

pub mod axi_lite;
mod block;
pub mod events;

pub use block::{Emitted, Registers};

use crate::emit::block::emit_block;
use crate::emit::refusal::EmitError;
use deltaline_model::configuration::Configuration;
use deltaline_model::registers::{Capability, HashKind};

/// Parts of the hardware that a build may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The adjustable clock.
    pub clock: bool,
    /// Recognition of delimiters in the stream.
    pub delimiters: bool,
    /// Authentication of control frames.
    pub authentication: bool,
}

impl Emitted {
    /// The constants of a core with `lanes` lanes of `data_bytes` bytes.
    pub fn new(
        configuration: &Configuration,
        data_bytes: u32,
        lanes: u32,
        build: u32,
        options: Options,
    ) -> Self {
        let hash = match configuration.hash() {
            deltaline_model::packet::hash::HashKind::H3 => HashKind::H3,
            deltaline_model::packet::hash::HashKind::Rabin => HashKind::Rabin,
        };
        let capability = Capability::default()
            .with_data_bytes(data_bytes)
            .with_lanes(lanes)
            .with_banks(configuration.prefixes().banks() as u32)
            .with_rows_log2(configuration.row_bits())
            .with_classes(configuration.classes() as u32)
            .with_hash(hash)
            .with_has_authentication(options.authentication)
            .with_has_clock(options.clock)
            .with_has_delimiters(options.delimiters)
            .with_has_adaptive(configuration.adaptive())
            .with_has_mixing(configuration.has_mixing())
            .with_has_digests(configuration.has_digests());
        Emitted { capability, configuration: configuration.id(), build }
    }
}

/// The Verilog of the register block alone.
///
/// # Errors
///
/// [`EmitError`] when `name` is no identifier.
pub fn emit(emitted: &Emitted, name: &str) -> Result<String, EmitError> {
    emit_block(&mut Registers::new(emitted), name)
}
