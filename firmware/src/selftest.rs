//! Self-test: the top for a bare board with USB. It makes packets, delays and loses them, and measures them.
//!
//! # Theory of operation
//!
//! ```text
//! usb_rx -> uart -> commands -> conductor, pausing_clock
//!                                  |
//!             plan -> pacer -> packet -> sender core ----> slice -+
//!                        |  when         |                        |
//!                    delay_line        truth ------------------ records -> framer -> uart -> usb_tx
//!                        |               |                        |
//!             plan -> ...... -> packet -> receiver core -> slice -+
//! ```
//!
//! The host sends settings; the board runs intervals. For each it reports what its two cores measured and what
//! really happened. Neither depends on the other. Twin of `deltaline_model::board::traffic::Board`, byte for byte.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk | in | 1 | 100 MHz |
//! | rst_n | in | 1 | button: reset while low |
//! | usb_rx | in | 1 | from the host, 2 Mbaud |
//! | usb_tx | out | 1 | to the host |
//! | led_alive | out | 1 | blinks: 0.75 Hz |
//! | led_loss | out | 1 | packets were lost in the last interval |
//! | led_overrun | out | 1 | packets had to wait for room in the delay line in the last interval |
//! | led_flow | out | 1 | packets flow |
//!
//! All ports are single bits: a bitstream's netlist has no others.
//!
//! Cost and frequency: `cargo xtask bitstream alchitry-cu selftest` prints them.
//!
//! # Test plan
//!
//! `sim/cosim/tests/board_selftest.rs`: bytes on usb_tx against the twin's, under Verilator; `cargo xtask bitstream` with `--verify`:
//! the same for the netlist in the bitstream.

use crate::commands::Commands;
use crate::conductor::Conductor;
use crate::delay_line::DelayLine;
use crate::framer::Framer;
use crate::pacer::Pacer;
use crate::packet::Packet;
use crate::pausing_clock::PausingClock;
use crate::plan::Plan;
use crate::power_on_reset::PowerOnReset;
use crate::records::Records;
use crate::register_slice::RegisterSlice;
use crate::truth::Truth;
use crate::uart::{Receiver, Transmitter};
use deltaline_hdl::byte::Core;
use deltaline_hdl::emit::block::emit_block;
use deltaline_hdl::emit::refusal::EmitError;
use deltaline_hdl::leaves::Flop;
use deltaline_model::board::traffic;
use deltaline_model::configuration::Configuration;
use deltaline_model::wire::frame::{Header, Role, Totals};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// Cycles of a bit on the serial line.
pub const BIT_CYCLES: u8 = 50;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Selftest {
    pub clk: Signal<In, Clock>,
    pub rst_n: Signal<In, Bit>,
    pub usb_rx: Signal<In, Bit>,
    pub usb_tx: Signal<Out, Bit>,
    pub led_alive: Signal<Out, Bit>,
    pub led_loss: Signal<Out, Bit>,
    pub led_overrun: Signal<Out, Bit>,
    pub led_flow: Signal<Out, Bit>,

    reset: PowerOnReset,
    receiver_line: Receiver,
    commands: Commands,
    conductor: Conductor,
    clock_now: PausingClock,
    sender_plan: Plan,
    sender_pacer: Pacer,
    sender_packet: Packet,
    sender_core: Core<6, 7, 8>,
    line: DelayLine,
    receiver_plan: Plan,
    receiver_packet: Packet,
    receiver_core: Core<6, 7, 8>,
    truth: Truth,
    sender_slice: RegisterSlice,
    receiver_slice: RegisterSlice,
    records: Records,
    framer: Framer,
    transmitter: Transmitter,

    /// The reset's pipeline over the chip, one cycle a stage: one for the sender, one for the receiver.
    sender_rst: Flop<Bit>,
    receiver_rst: Flop<Bit>,
    both_run: Flop<Bit>,
    heartbeat: Flop<Bits<27>>,
    seen_loss: Flop<Bit>,
    seen_hold: Flop<Bit>,
    shown_loss: Flop<Bit>,
    shown_hold: Flop<Bit>,
    all_left: Flop<Bit>,
    user_now: Signal<Local, Bits<65>>,
}

impl Selftest {
    /// The top of a build, whose serial line takes `bit_cycles` cycles a bit.
    pub fn new(configuration: &Configuration, build: u32, bit_cycles: u8) -> Self {
        let frames = Header::of_interval(configuration, Role::Sender, 0, Totals::default()).count();
        Selftest {
            // The conductor ends intervals when all packets have arrived.
            sender_core: Core::with_quiet_ends(configuration),
            receiver_core: Core::with_quiet_ends(configuration),
            sender_slice: Default::default(),
            receiver_slice: Default::default(),
            records: Records::new(frames as u8, &traffic::identity(configuration, build)),
            receiver_line: Receiver::new(bit_cycles),
            transmitter: Transmitter::new(bit_cycles),
            clk: Default::default(),
            rst_n: Default::default(),
            usb_rx: Default::default(),
            usb_tx: Default::default(),
            led_alive: Default::default(),
            led_loss: Default::default(),
            led_overrun: Default::default(),
            led_flow: Default::default(),
            reset: Default::default(),
            commands: Default::default(),
            conductor: Default::default(),
            clock_now: Default::default(),
            sender_plan: Default::default(),
            sender_pacer: Default::default(),
            sender_packet: Default::default(),
            line: Default::default(),
            receiver_plan: Default::default(),
            receiver_packet: Default::default(),
            truth: Default::default(),
            framer: Default::default(),
            sender_rst: Default::default(),
            receiver_rst: Default::default(),
            both_run: Default::default(),
            heartbeat: Default::default(),
            seen_loss: Default::default(),
            seen_hold: Default::default(),
            shown_loss: Default::default(),
            shown_hold: Default::default(),
            all_left: Default::default(),
            user_now: Default::default(),
        }
    }
}

/// The Verilog of a build's top, without a header. The board's own build has [`BIT_CYCLES`].
///
/// # Errors
///
/// [`EmitError`] when `name` is not an identifier.
pub fn emit(build: u32, bit_cycles: u8, name: &str) -> Result<String, EmitError> {
    emit_block(&mut Selftest::new(&traffic::configuration(), build, bit_cycles), name)
}

impl Logic for Selftest {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            sender_rst,
            receiver_rst,
            both_run,
            heartbeat,
            seen_loss,
            seen_hold,
            shown_loss,
            shown_hold,
            all_left
        );
        self.seen_loss.rst.next = self.reset.rst.val();
        self.seen_hold.rst.next = self.reset.rst.val();
        self.shown_loss.rst.next = self.reset.rst.val();
        self.shown_hold.rst.next = self.reset.rst.val();
        // Written before they are read.
        self.sender_rst.rst.next = false;
        self.receiver_rst.rst.next = false;
        self.both_run.rst.next = false;
        self.heartbeat.rst.next = false;
        self.all_left.rst.next = false;
        self.user_now.next = bit_cast::<65, 64>(self.clock_now.stamp.val()) << 1;
        self.reset.clk.next = self.clk.val();
        self.reset.button_n.next = self.rst_n.val();
        self.reset.request.next = self.commands.reset.val();
        self.sender_rst.d.next = self.reset.rst.val();
        self.receiver_rst.d.next = self.sender_rst.q.val();

        self.receiver_line.clk.next = self.clk.val();
        self.receiver_line.rst.next = self.reset.rst.val();
        self.receiver_line.rx.next = self.usb_rx.val();
        self.commands.clk.next = self.clk.val();
        self.commands.rst.next = self.reset.rst.val();
        self.commands.octet.next = self.receiver_line.octet.val();
        self.commands.valid.next = self.receiver_line.valid.val();
        self.commands.take.next = self.conductor.take.val();

        self.both_run.d.next = self.sender_core.running.val() & self.receiver_core.running.val();
        self.all_left.d.next = self.records.drained.val() & self.framer.idle.val();
        self.conductor.clk.next = self.clk.val();
        self.conductor.rst.next = self.reset.rst.val();
        self.conductor.running.next = self.both_run.q.val();
        self.conductor.pending.next = self.commands.pending.val();
        self.conductor.intervals.next = self.commands.intervals.val();
        self.conductor.idle.next = self.sender_pacer.idle.val();
        self.conductor.quiet.next = self.line.quiet.val();
        self.conductor.drained.next = self.all_left.q.val();
        self.conductor.told.next = self.records.told.val();
        self.clock_now.clk.next = self.clk.val();
        self.clock_now.rst.next = self.reset.rst.val();
        self.clock_now.flows.next = self.conductor.flows.val();

        // The sender.
        self.sender_plan.clk.next = self.clk.val();
        self.sender_plan.rst.next = self.sender_rst.q.val();
        self.sender_plan.load.next = self.conductor.load.val();
        self.sender_plan.seed.next = self.commands.seed.val();
        self.sender_plan.sizes.next = self.commands.sizes.val();
        self.sender_plan.gap.next = self.commands.gap.val();
        self.sender_plan.gap_mask.next = self.commands.gap_mask.val();
        self.sender_plan.jitter_mask.next = self.commands.jitter_mask.val();
        self.sender_plan.burst.next = self.commands.burst.val();
        self.sender_plan.loss.next = self.commands.loss.val();
        self.sender_plan.bursts.next = self.commands.bursts.val();
        self.sender_plan.advance.next = self.sender_packet.ends.val();
        self.sender_pacer.clk.next = self.clk.val();
        self.sender_pacer.rst.next = self.sender_rst.q.val();
        self.sender_pacer.go.next = self.conductor.go.val();
        self.sender_pacer.packets.next = self.commands.packets.val();
        self.sender_pacer.gap_now.next = self.sender_plan.gap_now.val();
        self.sender_pacer.full.next = self.line.full.val();
        self.sender_pacer.ends.next = self.sender_packet.ends.val();
        self.sender_packet.clk.next = self.clk.val();
        self.sender_packet.rst.next = self.sender_rst.q.val();
        self.sender_packet.before_last.next = self.sender_plan.before_last.val();
        self.sender_packet.total_length.next = self.sender_plan.total_length.val();
        self.sender_packet.datagram_length.next = self.sender_plan.datagram_length.val();
        self.sender_packet.checksum.next = self.sender_plan.checksum.val();
        self.sender_packet.number.next = self.sender_plan.number.val();
        self.sender_packet.word.next = self.sender_plan.word.val();
        self.sender_packet.start.next = self.sender_pacer.start.val();
        self.sender_core.clk.next = self.clk.val();
        self.sender_core.rst.next = self.sender_rst.q.val();
        self.sender_core.s_axis_tdata.next = self.sender_packet.tdata.val();
        self.sender_core.s_axis_tvalid.next = self.sender_packet.tvalid.val();
        self.sender_core.s_axis_tready.next = true;
        self.sender_core.s_axis_tlast.next = self.sender_packet.tlast.val();
        self.sender_core.s_axis_tuser.next = self.user_now.val();
        self.sender_core.interval_end.next = self.conductor.cut.val();
        self.sender_core.interval_log2.next = 0.into();
        self.sender_core.ptp_ts.next = 0.into();
        self.sender_core.ptp_locked.next = true;
        self.sender_core.m_axis_tready.next = self.sender_slice.tready.val();

        // The delay line and the receiver.
        self.receiver_plan.clk.next = self.clk.val();
        self.receiver_plan.rst.next = self.receiver_rst.q.val();
        self.receiver_plan.load.next = self.conductor.load.val();
        self.receiver_plan.seed.next = self.commands.seed.val();
        self.receiver_plan.sizes.next = self.commands.sizes.val();
        self.receiver_plan.gap.next = self.commands.gap.val();
        self.receiver_plan.gap_mask.next = self.commands.gap_mask.val();
        self.receiver_plan.jitter_mask.next = self.commands.jitter_mask.val();
        self.receiver_plan.burst.next = self.commands.burst.val();
        self.receiver_plan.loss.next = self.commands.loss.val();
        self.receiver_plan.bursts.next = self.commands.bursts.val();
        self.receiver_plan.advance.next = self.line.advance.val();
        self.line.clk.next = self.clk.val();
        self.line.rst.next = self.receiver_rst.q.val();
        self.line.restart.next = self.conductor.load.val();
        self.line.push.next = self.sender_packet.first.val() & !self.sender_plan.lost.val();
        self.line.now.next = self.clock_now.cycles.val();
        self.line.delay.next = self.commands.delay.val();
        self.line.known.next = self.receiver_plan.known.val();
        self.line.ready.next = self.receiver_plan.ready.val();
        self.line.lost.next = self.receiver_plan.lost.val();
        self.line.jitter.next = self.receiver_plan.jitter.val();
        self.line.ends.next = self.receiver_packet.ends.val();
        self.receiver_packet.clk.next = self.clk.val();
        self.receiver_packet.rst.next = self.receiver_rst.q.val();
        self.receiver_packet.before_last.next = self.receiver_plan.before_last.val();
        self.receiver_packet.total_length.next = self.receiver_plan.total_length.val();
        self.receiver_packet.datagram_length.next = self.receiver_plan.datagram_length.val();
        self.receiver_packet.checksum.next = self.receiver_plan.checksum.val();
        self.receiver_packet.number.next = self.receiver_plan.number.val();
        self.receiver_packet.word.next = self.receiver_plan.word.val();
        self.receiver_packet.start.next = self.line.start.val();
        self.receiver_core.clk.next = self.clk.val();
        self.receiver_core.rst.next = self.receiver_rst.q.val();
        self.receiver_core.s_axis_tdata.next = self.receiver_packet.tdata.val();
        self.receiver_core.s_axis_tvalid.next = self.receiver_packet.tvalid.val();
        self.receiver_core.s_axis_tready.next = true;
        self.receiver_core.s_axis_tlast.next = self.receiver_packet.tlast.val();
        self.receiver_core.s_axis_tuser.next = self.user_now.val();
        self.receiver_core.interval_end.next = self.conductor.cut.val();
        self.receiver_core.interval_log2.next = 0.into();
        self.receiver_core.ptp_ts.next = 0.into();
        self.receiver_core.ptp_locked.next = true;
        self.receiver_core.m_axis_tready.next = self.receiver_slice.tready.val();
        self.sender_core.receiver.next = false;
        self.sender_core.point_id.next = 0.into();
        self.sender_core.least_interval.next = 0.into();
        self.receiver_core.receiver.next = true;
        self.receiver_core.point_id.next = 0.into();
        self.receiver_core.least_interval.next = 0.into();

        // What happened, and what is sent.
        self.truth.clk.next = self.clk.val();
        self.truth.rst.next = self.reset.rst.val();
        self.truth.clear.next = self.conductor.clear.val();
        self.truth.send.next = self.sender_packet.first.val();
        self.truth.lost.next = self.sender_plan.lost.val();
        self.truth.held.next = self.sender_pacer.held.val();
        self.truth.receive.next = self.receiver_packet.first.val();
        self.truth.now.next = self.clock_now.cycles.val();
        self.truth.sent_at.next = self.line.sent.val();
        self.records.clk.next = self.clk.val();
        self.records.rst.next = self.reset.rst.val();
        self.records.tell.next = self.conductor.cut.val();
        self.records.identify.next = self.commands.identify.val();
        self.records.number.next = self.commands.number.val();
        self.records.interval.next = self.conductor.interval.val();
        self.records.sent.next = self.truth.sent.val();
        self.records.losses.next = self.truth.losses.val();
        self.records.received.next = self.truth.received.val();
        self.records.holds.next = self.truth.holds.val();
        self.records.least.next = self.truth.least.val();
        self.records.greatest.next = self.truth.greatest.val();
        self.records.sum.next = self.truth.sum.val();
        self.records.squares.next = self.truth.squares.val();
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
        if self.sender_packet.first.val() & self.sender_plan.lost.val() {
            self.seen_loss.d.next = true;
        }
        if self.sender_pacer.held.val() {
            self.seen_hold.d.next = true;
        }
        if self.conductor.cut.val() {
            self.shown_loss.d.next = self.seen_loss.q.val();
            self.shown_hold.d.next = self.seen_hold.q.val();
            self.seen_loss.d.next = false;
            self.seen_hold.d.next = false;
        }
        self.usb_tx.next = self.transmitter.tx.val();
        self.led_alive.next = self.heartbeat.q.val().get_bit(26);
        self.led_loss.next = self.shown_loss.q.val();
        self.led_overrun.next = self.shown_hold.q.val();
        self.led_flow.next = self.conductor.flows.val();
    }
}
