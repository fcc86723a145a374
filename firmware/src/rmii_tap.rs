//! RMII tap: the top that measures a device between two Ethernet links of 100 Mbit/s, with two PHYs' receive pins.
//!
//! # Theory of operation
//!
//! ```text
//!        each PHY's clock   :  the board's clock
//! ingress PHY ------> rmii -:-> byte_crossing -> sender core ---> slice -+
//!                           :   clock_now: timestamps                    +-> tap_records -> framer -> uart -> usb_tx
//! egress PHY -------> rmii -:-> byte_crossing -> receiver core -> slice -+
//! usb_rx -> uart -> commands (identify, reset)
//! ```
//!
//! What enters a device is seen at the ingress, what leaves it at the egress. Both cores take their timestamps from
//! one clock, so nothing has to be synchronised. Intervals end with delimiter frames that pass through the device
//! (`deltaline_model::wire::delimiter`).
//!
//! There are three clocks: the board's and one of each PHY, which come through [`clock_pad`](crate::clock_pad)s.
//! Only the two [`byte_crossing`](crate::byte_crossing)s lie between them. The reset belongs to the board's clock
//! alone.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk | in | 1 | 100 MHz |
//! | rst_n | in | 1 | button: reset while low |
//! | usb_rx | in | 1 | from the host, 2 Mbaud |
//! | usb_tx | out | 1 | to the host |
//! | ingress_clk, egress_clk | in | 1 | each PHY's reference clock, 50 MHz; pins that reach a global buffer |
//! | ingress_crs_dv, egress_crs_dv | in | 1 | CRS_DV |
//! | ingress_rxd_0, ingress_rxd_1, egress_rxd_0, egress_rxd_1 | in | 1 | RXD |
//! | led_alive | out | 1 | blinks: 0.75 Hz |
//! | led_ingress, led_egress | out | 1 | good frames arrived in the last hundredth of a second |
//! | led_bad | out | 1 | frames with a wrong check sequence arrived in that time |
//!
//! All ports are single bits: a bitstream's netlist has no others.
//!
//! From a frame's first dibit after the start delimiter on the pins to its timestamp: 25 cycles of the PHY's clock
//! and two to three of the board's. That is 0.52 to 0.53 µs, the same at both ports but for that cycle. Throughput:
//! every frame at line rate, 148,809 shortest frames a second at both ports.
//!
//! Cost and frequency: `cargo xtask bitstream alchitry-cu rmii-tap` prints them.
//!
//! # Test plan
//!
//! `sim/cosim/tests/board_rmii_tap.rs`: bytes on usb_tx against the twins' control frames, under Verilator.

use crate::byte_crossing::ByteCrossing;
use crate::clock_pad::ClockPad;
use crate::commands::Commands;
use crate::framer::Framer;
use crate::pausing_clock::PausingClock;
use crate::power_on_reset::PowerOnReset;
use crate::register_slice::RegisterSlice;
use crate::rmii::Rmii;
use crate::tap_records::TapRecords;
use crate::uart::{Receiver, Transmitter};
use deltaline_hdl::byte::Core;
use deltaline_hdl::emit::block::emit_block;
use deltaline_hdl::emit::refusal::EmitError;
use deltaline_hdl::leaves::Flop;
use deltaline_model::board::{Identity, Top, traffic};
use deltaline_model::configuration::Configuration;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct RmiiTap {
    pub clk: Signal<In, Clock>,
    pub rst_n: Signal<In, Bit>,
    pub usb_rx: Signal<In, Bit>,
    pub usb_tx: Signal<Out, Bit>,
    pub ingress_clk: Signal<In, Clock>,
    pub ingress_crs_dv: Signal<In, Bit>,
    pub ingress_rxd_0: Signal<In, Bit>,
    pub ingress_rxd_1: Signal<In, Bit>,
    pub egress_clk: Signal<In, Clock>,
    pub egress_crs_dv: Signal<In, Bit>,
    pub egress_rxd_0: Signal<In, Bit>,
    pub egress_rxd_1: Signal<In, Bit>,
    pub led_alive: Signal<Out, Bit>,
    pub led_ingress: Signal<Out, Bit>,
    pub led_egress: Signal<Out, Bit>,
    pub led_bad: Signal<Out, Bit>,

    reset: PowerOnReset,
    ingress_pad: ClockPad,
    ingress_frames: Rmii,
    ingress_bytes: ByteCrossing,
    egress_pad: ClockPad,
    egress_frames: Rmii,
    egress_bytes: ByteCrossing,
    clock_now: PausingClock,
    sender_core: Core<6, 7, 8>,
    receiver_core: Core<6, 7, 8>,
    receiver_line: Receiver,
    commands: Commands,
    sender_slice: RegisterSlice,
    receiver_slice: RegisterSlice,
    records: TapRecords,
    framer: Framer,
    transmitter: Transmitter,

    /// The reset's pipeline over the chip, one cycle a stage: one for the sender, one for the receiver.
    sender_rst: Flop<Bit>,
    receiver_rst: Flop<Bit>,
    heartbeat: Flop<Bits<27>>,
    tick: Flop<Bit>,
    /// Good frames at the ingress, at the egress, bad ones: since the last tick, and between the two ticks before.
    seen: [Flop<Bit>; 3],
    shown: [Flop<Bit>; 3],
    stamp: Signal<Local, Bits<65>>,
    sender_user: Signal<Local, Bits<65>>,
    receiver_user: Signal<Local, Bits<65>>,
    ingress_dibit: Signal<Local, Bits<2>>,
    egress_dibit: Signal<Local, Bits<2>>,
    ingress_ends: Signal<Local, Bit>,
    egress_ends: Signal<Local, Bit>,
}

impl RmiiTap {
    /// The top of a build, whose serial line takes `bit_cycles` cycles a bit.
    pub fn new(configuration: &Configuration, build: u32, bit_cycles: u8) -> Self {
        let identity = Identity { top: Top::RmiiTap, ..traffic::identity(configuration, build) };
        RmiiTap {
            sender_core: Core::new(configuration),
            receiver_core: Core::new(configuration),
            sender_slice: Default::default(),
            receiver_slice: Default::default(),
            records: TapRecords::new(&identity),
            receiver_line: Receiver::new(bit_cycles),
            transmitter: Transmitter::new(bit_cycles),
            clk: Default::default(),
            rst_n: Default::default(),
            usb_rx: Default::default(),
            usb_tx: Default::default(),
            ingress_clk: Default::default(),
            ingress_crs_dv: Default::default(),
            ingress_rxd_0: Default::default(),
            ingress_rxd_1: Default::default(),
            egress_clk: Default::default(),
            egress_crs_dv: Default::default(),
            egress_rxd_0: Default::default(),
            egress_rxd_1: Default::default(),
            led_alive: Default::default(),
            led_ingress: Default::default(),
            led_egress: Default::default(),
            led_bad: Default::default(),
            reset: Default::default(),
            ingress_pad: Default::default(),
            ingress_frames: Default::default(),
            ingress_bytes: Default::default(),
            egress_pad: Default::default(),
            egress_frames: Default::default(),
            egress_bytes: Default::default(),
            clock_now: Default::default(),
            commands: Default::default(),
            framer: Default::default(),
            sender_rst: Default::default(),
            receiver_rst: Default::default(),
            heartbeat: Default::default(),
            tick: Default::default(),
            seen: Default::default(),
            shown: Default::default(),
            stamp: Default::default(),
            sender_user: Default::default(),
            receiver_user: Default::default(),
            ingress_dibit: Default::default(),
            egress_dibit: Default::default(),
            ingress_ends: Default::default(),
            egress_ends: Default::default(),
        }
    }
}

/// The Verilog of a build's top, without a header. The board's own build has [`crate::selftest::BIT_CYCLES`].
///
/// # Errors
///
/// [`EmitError`] when `name` is not an identifier.
pub fn emit(build: u32, bit_cycles: u8, name: &str) -> Result<String, EmitError> {
    emit_block(&mut RmiiTap::new(&traffic::configuration(), build, bit_cycles), name)
}

impl Logic for RmiiTap {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, sender_rst, receiver_rst, heartbeat, tick);
        self.heartbeat.rst.next = self.reset.rst.val();
        self.tick.rst.next = self.reset.rst.val();
        // Written before they are read.
        self.sender_rst.rst.next = false;
        self.receiver_rst.rst.next = false;
        for i in 0..3 {
            self.seen[i].clock.next = self.clk.val();
            self.seen[i].rst.next = self.reset.rst.val();
            self.seen[i].d.next = self.seen[i].q.val();
            self.shown[i].clock.next = self.clk.val();
            self.shown[i].rst.next = self.reset.rst.val();
            self.shown[i].d.next = self.shown[i].q.val();
        }
        self.reset.clk.next = self.clk.val();
        self.reset.button_n.next = self.rst_n.val();
        self.reset.request.next = self.commands.reset.val();
        self.sender_rst.d.next = self.reset.rst.val();
        self.receiver_rst.d.next = self.sender_rst.q.val();

        // The PHYs, each with its own clock.
        self.ingress_pad.pin.next = self.ingress_clk.val();
        self.ingress_dibit.next = 0.into();
        self.ingress_dibit.next = self.ingress_dibit.val().replace_bit(0, self.ingress_rxd_0.val());
        self.ingress_dibit.next = self.ingress_dibit.val().replace_bit(1, self.ingress_rxd_1.val());
        self.ingress_frames.clk.next = self.ingress_pad.clk.val();
        self.ingress_frames.crs_dv.next = self.ingress_crs_dv.val();
        self.ingress_frames.rxd.next = self.ingress_dibit.val();
        self.egress_pad.pin.next = self.egress_clk.val();
        self.egress_dibit.next = 0.into();
        self.egress_dibit.next = self.egress_dibit.val().replace_bit(0, self.egress_rxd_0.val());
        self.egress_dibit.next = self.egress_dibit.val().replace_bit(1, self.egress_rxd_1.val());
        self.egress_frames.clk.next = self.egress_pad.clk.val();
        self.egress_frames.crs_dv.next = self.egress_crs_dv.val();
        self.egress_frames.rxd.next = self.egress_dibit.val();

        // Into the clock by which both are measured.
        self.ingress_bytes.clk.next = self.clk.val();
        self.ingress_bytes.rst.next = self.sender_rst.q.val();
        self.ingress_bytes.octet.next = self.ingress_frames.octet.val();
        self.ingress_bytes.last.next = self.ingress_frames.last.val();
        self.ingress_bytes.bad.next = self.ingress_frames.bad.val();
        self.ingress_bytes.turn.next = self.ingress_frames.turn.val();
        self.egress_bytes.clk.next = self.clk.val();
        self.egress_bytes.rst.next = self.receiver_rst.q.val();
        self.egress_bytes.octet.next = self.egress_frames.octet.val();
        self.egress_bytes.last.next = self.egress_frames.last.val();
        self.egress_bytes.bad.next = self.egress_frames.bad.val();
        self.egress_bytes.turn.next = self.egress_frames.turn.val();

        self.clock_now.clk.next = self.clk.val();
        self.clock_now.rst.next = self.reset.rst.val();
        self.clock_now.flows.next = true;
        self.stamp.next = bit_cast::<65, 64>(self.clock_now.stamp.val()) << 1;
        self.sender_user.next = self.stamp.val();
        if self.ingress_bytes.tbad.val() {
            self.sender_user.next = self.stamp.val() | 1;
        }
        self.receiver_user.next = self.stamp.val();
        if self.egress_bytes.tbad.val() {
            self.receiver_user.next = self.stamp.val() | 1;
        }

        self.sender_core.clk.next = self.clk.val();
        self.sender_core.rst.next = self.sender_rst.q.val();
        self.sender_core.s_axis_tdata.next = self.ingress_bytes.tdata.val();
        self.sender_core.s_axis_tvalid.next = self.ingress_bytes.tvalid.val();
        self.sender_core.s_axis_tready.next = true;
        self.sender_core.s_axis_tlast.next = self.ingress_bytes.tlast.val();
        self.sender_core.s_axis_tuser.next = self.sender_user.val();
        self.sender_core.interval_end.next = false;
        self.sender_core.interval_log2.next = 0.into();
        self.sender_core.ptp_ts.next = 0.into();
        self.sender_core.ptp_locked.next = true;
        self.sender_core.receiver.next = false;
        self.sender_core.point_id.next = 0.into();
        self.sender_core.least_interval.next = 0.into();
        self.sender_core.m_axis_tready.next = self.sender_slice.tready.val();
        self.receiver_core.clk.next = self.clk.val();
        self.receiver_core.rst.next = self.receiver_rst.q.val();
        self.receiver_core.s_axis_tdata.next = self.egress_bytes.tdata.val();
        self.receiver_core.s_axis_tvalid.next = self.egress_bytes.tvalid.val();
        self.receiver_core.s_axis_tready.next = true;
        self.receiver_core.s_axis_tlast.next = self.egress_bytes.tlast.val();
        self.receiver_core.s_axis_tuser.next = self.receiver_user.val();
        self.receiver_core.interval_end.next = false;
        self.receiver_core.interval_log2.next = 0.into();
        self.receiver_core.ptp_ts.next = 0.into();
        self.receiver_core.ptp_locked.next = true;
        self.receiver_core.receiver.next = true;
        self.receiver_core.point_id.next = 0.into();
        self.receiver_core.least_interval.next = 0.into();
        self.receiver_core.m_axis_tready.next = self.receiver_slice.tready.val();

        // The host.
        self.receiver_line.clk.next = self.clk.val();
        self.receiver_line.rst.next = self.reset.rst.val();
        self.receiver_line.rx.next = self.usb_rx.val();
        self.commands.clk.next = self.clk.val();
        self.commands.rst.next = self.reset.rst.val();
        self.commands.octet.next = self.receiver_line.octet.val();
        self.commands.valid.next = self.receiver_line.valid.val();
        self.commands.take.next = false;
        self.records.clk.next = self.clk.val();
        self.records.rst.next = self.reset.rst.val();
        self.records.identify.next = self.commands.identify.val();
        self.sender_slice.clk.next = self.clk.val();
        self.sender_slice.rst.next = self.reset.rst.val();
        self.sender_slice.tdata.next = self.sender_core.m_axis_tdata.val();
        self.sender_slice.tvalid.next = self.sender_core.m_axis_tvalid.val();
        self.sender_slice.tlast.next = self.sender_core.m_axis_tlast.val();
        self.sender_slice.held_ready.next = self.records.sender_tready.val();
        self.records.sender_tdata.next = self.sender_slice.held_data.val();
        self.records.sender_tvalid.next = self.sender_slice.held_valid.val();
        self.records.sender_tlast.next = self.sender_slice.held_last.val();
        self.receiver_slice.clk.next = self.clk.val();
        self.receiver_slice.rst.next = self.reset.rst.val();
        self.receiver_slice.tdata.next = self.receiver_core.m_axis_tdata.val();
        self.receiver_slice.tvalid.next = self.receiver_core.m_axis_tvalid.val();
        self.receiver_slice.tlast.next = self.receiver_core.m_axis_tlast.val();
        self.receiver_slice.held_ready.next = self.records.receiver_tready.val();
        self.records.receiver_tdata.next = self.receiver_slice.held_data.val();
        self.records.receiver_tvalid.next = self.receiver_slice.held_valid.val();
        self.records.receiver_tlast.next = self.receiver_slice.held_last.val();
        self.records.tready.next = self.framer.tready.val();
        self.framer.clk.next = self.clk.val();
        self.framer.rst.next = self.reset.rst.val();
        self.framer.tdata.next = self.records.tdata.val();
        self.framer.tvalid.next = self.records.tvalid.val();
        self.framer.tlast.next = self.records.tlast.val();
        self.framer.free.next = self.transmitter.free.val();
        self.transmitter.clk.next = self.clk.val();
        self.transmitter.rst.next = self.reset.rst.val();
        self.transmitter.octet.next = self.framer.octet.val();
        self.transmitter.send.next = self.framer.send.val();

        self.heartbeat.d.next = self.heartbeat.q.val() + 1;
        self.tick.d.next = !self.heartbeat.q.val().get_bits::<20>(0).any();
        self.ingress_ends.next = self.ingress_bytes.tvalid.val() & self.ingress_bytes.tlast.val();
        self.egress_ends.next = self.egress_bytes.tvalid.val() & self.egress_bytes.tlast.val();
        if self.tick.q.val() {
            for i in 0..3 {
                self.shown[i].d.next = self.seen[i].q.val();
                self.seen[i].d.next = false;
            }
        }
        if self.ingress_ends.val() & !self.ingress_bytes.tbad.val() {
            self.seen[0].d.next = true;
        }
        if self.egress_ends.val() & !self.egress_bytes.tbad.val() {
            self.seen[1].d.next = true;
        }
        if (self.ingress_ends.val() & self.ingress_bytes.tbad.val())
            | (self.egress_ends.val() & self.egress_bytes.tbad.val())
        {
            self.seen[2].d.next = true;
        }
        self.usb_tx.next = self.transmitter.tx.val();
        self.led_alive.next = self.heartbeat.q.val().get_bit(26);
        self.led_ingress.next = self.shown[0].q.val();
        self.led_egress.next = self.shown[1].q.val();
        self.led_bad.next = self.shown[2].q.val();
    }
}
