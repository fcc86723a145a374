//! The core: a passive measurement point on a 64-bit AXI4-Stream.
//!
//! # Theory of operation
//!
//! ```text
//! s_axis (observed) -> identity -> hash -> sampler -> lda (two copies) <- emitter -> m_axis
//!                         |                             ^ epoch             ^ totals
//!                         +--> totals (two copies)      |                   |
//! interval_end, ptp_ts -> interval ---------------------+-------------------+
//! ```
//!
//! The stream is observed where tvalid and tready are both high; nothing is driven back, so the core cannot stall
//! or change traffic. A frame is counted when it has ended; its timestamp is that of its first beat. At the end of
//! an interval the copies of cells and totals swap roles, and the emitter sends the finished copy out as control
//! frames while the other counts.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk | in | 1 | clock of both streams |
//! | rst | in | 1 | synchronous reset, active high |
//! | s_axis_tdata | in | 64 | observed stream, first byte in bits 7:0, frames without FCS |
//! | s_axis_tkeep | in | 8 | contiguous from bit 0, partial only with tlast |
//! | s_axis_tvalid, s_axis_tready | in | 1 | a beat is transferred when both are high |
//! | s_axis_tlast | in | 1 | last beat of a frame |
//! | s_axis_tuser | in | 65 | bit 0 with tlast: bad frame; bits 64:1 with the first beat: PTP relative-64 timestamp |
//! | interval_end | in | 1 | end the interval behind this cycle (a delimiter in the stream) |
//! | interval_log2 | in | 6 | 0 or 48..=63: never; 1..=47: end intervals by the clock, every 2^n ns |
//! | ptp_ts | in | 64 | clock for interval_log2, PTP relative-64; may be zero otherwise |
//! | ptp_locked | in | 1 | the clock is locked; else the interval is flagged |
//! | receiver | in | 1 | role: 0 sender, 1 receiver |
//! | running | out | 1 | the memories have been cleared after reset: counting |
//! | m_axis_* | out (tready in) | 64 + 8 + 1 + 1 + 1 | control frames |
//!
//! # For integrators
//!
//! * One clock: `ptp_ts`, `ptp_locked`, `interval_end` and the timestamps in tuser belong to the domain of `clk`.
//! * `rst` for one cycle is enough. Then both copies are cleared, two cycles a word of the counter memory, and
//!   `running` rises; what comes before does not count. A control frame under way is cut off without tlast.
//! * `receiver` is a strap; `interval_log2` may change at run time, which may end an interval once.
//! * PTP relative-64: nanoseconds in bits 63:16, their fraction in bits 15:0. Cells add the low 40 bits of the
//!   nanoseconds.
//! * An interval is sent as banks × ceil(rows / 128) frames of 120 + 9 × min(rows, 128) bytes (1272 with 128 rows and
//!   more), with gaps between words: put a frame buffer before a MAC that cannot pause.
//! * Intervals must be longer than a drain: 8 cycles a cell is a safe bound with m_axis always ready, 16,400 cycles in
//!   all for 2 x 1024 cells. An end that comes earlier is refused, counted and flagged in the next report.
//!
//! # Parameters, latency and throughput
//!
//! R = log2(rows), A = R + bits of a bank number; the configuration's hash, seed, prefix lengths and segment become
//! constants. One beat a cycle, frames of any length back to back. A frame's cell is written in the 16th cycle behind
//! its last beat.
//!
//! Cost in all, 2 x 1024 rows, before placement (`cargo xtask cost`): iCE40 6552 LUT4, 3323 flip-flops, 72 block RAMs;
//! ECP5 8170 LUT4, 3323 flip-flops, 16 block RAMs.
//!
//! # Test plan
//!
//! `sim/cosim`: control frames of random and directed traffic against `deltaline_model::point`, byte by byte.

use crate::emitter::Emitter;
use crate::identity::Identity;
use crate::interval::Interval;
use crate::lda::Lda;
use crate::leaves::{Flop, HashMatrix};
use crate::sampler::Sampler;
use crate::totals::Totals;
use deltaline_model::configuration::Configuration;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self). R = log2(rows), A = R + bits of a bank number.
#[derive(LogicBlock)]
pub struct Core<const R: usize, const A: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub s_axis_tdata: Signal<In, Bits<64>>,
    pub s_axis_tkeep: Signal<In, Bits<8>>,
    pub s_axis_tvalid: Signal<In, Bit>,
    pub s_axis_tready: Signal<In, Bit>,
    pub s_axis_tlast: Signal<In, Bit>,
    pub s_axis_tuser: Signal<In, Bits<65>>,
    pub interval_end: Signal<In, Bit>,
    pub interval_log2: Signal<In, Bits<6>>,
    pub ptp_ts: Signal<In, Bits<64>>,
    pub ptp_locked: Signal<In, Bit>,
    pub receiver: Signal<In, Bit>,
    pub running: Signal<Out, Bit>,
    pub m_axis_tdata: Signal<Out, Bits<64>>,
    pub m_axis_tkeep: Signal<Out, Bits<8>>,
    pub m_axis_tvalid: Signal<Out, Bit>,
    pub m_axis_tready: Signal<In, Bit>,
    pub m_axis_tlast: Signal<Out, Bit>,
    pub m_axis_tuser: Signal<Out, Bit>,

    identity: Identity,
    hash: HashMatrix<R>,
    sampler: Sampler<R, A>,
    lda: Lda<A>,
    totals: [Totals; 2],
    interval: Interval,
    emitter: Emitter<A>,

    counts: Signal<Local, Bit>,
    packet: Signal<Local, Bit>,
    unmeasured: Signal<Local, Bit>,
    bad: Signal<Local, Bit>,
    unlocked: Signal<Local, Bit>,
    idle: Signal<Local, Bit>,
    idle_packets: Signal<Local, Bits<48>>,
    idle_bytes: Signal<Local, Bits<48>>,
    idle_first: Signal<Local, Bits<64>>,
    idle_last: Signal<Local, Bits<64>>,
    idle_unmeasured: Signal<Local, Bits<32>>,
    idle_bad: Signal<Local, Bits<32>>,
    idle_refused_ends: Signal<Local, Bits<16>>,
    idle_flags: Signal<Local, Bits<4>>,
    /// Index i: what was committed i + 1 cycles ago.
    hashing: [Flop<Bit>; 2],
    hash_epoch: [Flop<Bit>; 3],
    /// Index i: whether the clock was locked i + 1 cycles ago. As long as a frame's commit takes.
    locked: [Flop<Bit>; 7],
    timestamp: Flop<Bits<40>>,
}

impl<const R: usize, const A: usize> Core<R, A> {
    /// The core of a configuration with 2^R rows and at most 2^(A - R) banks.
    pub fn new(configuration: &Configuration) -> Self {
        Core {
            clk: Default::default(),
            rst: Default::default(),
            s_axis_tdata: Default::default(),
            s_axis_tkeep: Default::default(),
            s_axis_tvalid: Default::default(),
            s_axis_tready: Default::default(),
            s_axis_tlast: Default::default(),
            s_axis_tuser: Default::default(),
            interval_end: Default::default(),
            interval_log2: Default::default(),
            ptp_ts: Default::default(),
            ptp_locked: Default::default(),
            receiver: Default::default(),
            running: Default::default(),
            m_axis_tdata: Default::default(),
            m_axis_tkeep: Default::default(),
            m_axis_tvalid: Default::default(),
            m_axis_tready: Default::default(),
            m_axis_tlast: Default::default(),
            m_axis_tuser: Default::default(),
            identity: Default::default(),
            hash: HashMatrix::new(configuration),
            sampler: Sampler::new(configuration),
            lda: Default::default(),
            totals: Default::default(),
            interval: Default::default(),
            emitter: Emitter::new(configuration),
            counts: Default::default(),
            packet: Default::default(),
            unmeasured: Default::default(),
            bad: Default::default(),
            unlocked: Default::default(),
            idle: Default::default(),
            idle_packets: Default::default(),
            idle_bytes: Default::default(),
            idle_first: Default::default(),
            idle_last: Default::default(),
            idle_unmeasured: Default::default(),
            idle_bad: Default::default(),
            idle_refused_ends: Default::default(),
            idle_flags: Default::default(),
            hashing: Default::default(),
            hash_epoch: Default::default(),
            locked: Default::default(),
            timestamp: Default::default(),
        }
    }
}

impl<const R: usize, const A: usize> Logic for Core<R, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, timestamp);
        self.timestamp.rst.next = self.rst.val();

        self.identity.clk.next = self.clk.val();
        self.identity.rst.next = self.rst.val();
        self.identity.running.next = self.emitter.running.val();
        self.identity.s_axis_tdata.next = self.s_axis_tdata.val();
        self.identity.s_axis_tkeep.next = self.s_axis_tkeep.val();
        self.identity.s_axis_tvalid.next = self.s_axis_tvalid.val();
        self.identity.s_axis_tready.next = self.s_axis_tready.val();
        self.identity.s_axis_tlast.next = self.s_axis_tlast.val();
        self.identity.s_axis_tuser.next = self.s_axis_tuser.val();

        // Commit: the frame counts in the copy of this moment.
        self.counts.next = self.identity.commit.val() & self.emitter.running.val();
        self.packet.next = self.counts.val() & self.identity.measured.val();
        self.bad.next = self.counts.val() & self.identity.bad.val();
        self.unmeasured.next = self.counts.val() & !self.identity.measured.val() & !self.identity.bad.val();
        self.idle.next = !self.interval.epoch.val();

        self.interval.clk.next = self.clk.val();
        self.interval.rst.next = self.rst.val();
        self.interval.interval_end.next = self.interval_end.val();
        self.interval.interval_log2.next = self.interval_log2.val();
        self.interval.ptp_ts.next = self.ptp_ts.val();
        self.interval.running.next = self.emitter.running.val();
        self.interval.drain_busy.next = self.emitter.busy.val();

        for i in 0..2 {
            self.totals[i].clk.next = self.clk.val();
            self.totals[i].rst.next = self.rst.val();
            self.totals[i].ip_length.next = self.identity.ip_length.val();
            self.totals[i].timestamp.next = self.identity.timestamp.val();
        }
        self.totals[0].packet.next = self.packet.val() & self.idle.val();
        self.totals[1].packet.next = self.packet.val() & !self.idle.val();
        self.totals[0].unmeasured.next = self.unmeasured.val() & self.idle.val();
        self.totals[1].unmeasured.next = self.unmeasured.val() & !self.idle.val();
        self.totals[0].bad.next = self.bad.val() & self.idle.val();
        self.totals[1].bad.next = self.bad.val() & !self.idle.val();
        self.totals[0].refused.next = self.interval.refused.val() & self.idle.val();
        self.totals[1].refused.next = self.interval.refused.val() & !self.idle.val();
        // The clock's lock concerns the frames whose last beat is accepted in the same cycle.
        for i in 0..7 {
            self.locked[i].clock.next = self.clk.val();
            self.locked[i].rst.next = self.rst.val();
        }
        for i in 0..6 {
            self.locked[i + 1].d.next = self.locked[i].q.val();
        }
        self.locked[0].d.next = self.ptp_locked.val();
        self.unlocked.next = !self.locked[6].q.val() & self.emitter.running.val();
        self.totals[0].unlocked.next = self.unlocked.val() & self.idle.val();
        self.totals[1].unlocked.next = self.unlocked.val() & !self.idle.val();
        // A timed end concerns the interval that it ends and the one that it starts.
        self.totals[0].by_clock.next = self.interval.start_drain.val() & self.interval.timed.val();
        self.totals[1].by_clock.next = self.interval.start_drain.val() & self.interval.timed.val();
        self.totals[0].clear.next = self.emitter.clear_totals.val() & !self.idle.val();
        self.totals[1].clear.next = self.emitter.clear_totals.val() & self.idle.val();
        self.totals[0].overflow.next = self.lda.overflow.val() & !self.lda.overflow_epoch.val();
        self.totals[1].overflow.next = self.lda.overflow.val() & self.lda.overflow_epoch.val();

        self.hash.clk.next = self.clk.val();
        for i in 0..17 {
            self.hash.word[i].next = self.identity.word[i].val();
        }
        for i in 0..2 {
            self.hashing[i].clock.next = self.clk.val();
            self.hashing[i].rst.next = self.rst.val();
        }
        for i in 0..3 {
            self.hash_epoch[i].clock.next = self.clk.val();
            self.hash_epoch[i].rst.next = self.rst.val();
        }
        self.hashing[0].d.next = self.packet.val();
        self.hashing[1].d.next = self.hashing[0].q.val();
        self.hash_epoch[0].d.next = self.interval.epoch.val();
        self.hash_epoch[1].d.next = self.hash_epoch[0].q.val();
        self.hash_epoch[2].d.next = self.hash_epoch[1].q.val();
        // Measured frames are at least five cycles apart: one register holds the time until the update.
        if self.packet.val() {
            self.timestamp.d.next = self.identity.timestamp.val().get_bits::<40>(16);
        }
        self.sampler.clk.next = self.clk.val();
        self.sampler.rst.next = self.rst.val();
        self.sampler.valid.next = self.hashing[1].q.val();
        self.sampler.row.next = self.hash.row.val();
        self.sampler.prefix.next = self.hash.prefix.val();

        self.lda.clk.next = self.clk.val();
        self.lda.rst.next = self.rst.val();
        self.lda.update.next = self.sampler.sampled.val();
        self.lda.epoch.next = self.hash_epoch[2].q.val();
        self.lda.address.next = self.sampler.address.val();
        self.lda.timestamp.next = self.timestamp.q.val();
        self.lda.drain_address.next = self.emitter.drain_address.val();
        self.lda.drain_epoch.next = self.idle.val();
        self.lda.clear[0].next = self.emitter.clear_all.val() | (self.emitter.clear.val() & !self.idle.val());
        self.lda.clear[1].next = self.emitter.clear_all.val() | (self.emitter.clear.val() & self.idle.val());

        self.emitter.clk.next = self.clk.val();
        self.emitter.rst.next = self.rst.val();
        self.emitter.start.next = self.interval.start_drain.val();
        self.emitter.receiver.next = self.receiver.val();
        self.emitter.interval.next = self.interval.number.val();
        // Chosen in locals: a submodule's input is assigned once (see the emitter).
        self.idle_packets.next = self.totals[0].packets.val();
        self.idle_bytes.next = self.totals[0].bytes.val();
        self.idle_first.next = self.totals[0].first.val();
        self.idle_last.next = self.totals[0].last.val();
        self.idle_unmeasured.next = self.totals[0].unmeasured_frames.val();
        self.idle_bad.next = self.totals[0].bad_frames.val();
        self.idle_refused_ends.next = self.totals[0].refused_ends.val();
        self.idle_flags.next = self.totals[0].flags.val();
        if self.idle.val() {
            self.idle_packets.next = self.totals[1].packets.val();
            self.idle_bytes.next = self.totals[1].bytes.val();
            self.idle_first.next = self.totals[1].first.val();
            self.idle_last.next = self.totals[1].last.val();
            self.idle_unmeasured.next = self.totals[1].unmeasured_frames.val();
            self.idle_bad.next = self.totals[1].bad_frames.val();
            self.idle_refused_ends.next = self.totals[1].refused_ends.val();
            self.idle_flags.next = self.totals[1].flags.val();
        }
        self.emitter.packets.next = self.idle_packets.val();
        self.emitter.bytes.next = self.idle_bytes.val();
        self.emitter.first.next = self.idle_first.val();
        self.emitter.last.next = self.idle_last.val();
        self.emitter.unmeasured.next = self.idle_unmeasured.val();
        self.emitter.bad.next = self.idle_bad.val();
        self.emitter.refused_ends.next = self.idle_refused_ends.val();
        self.emitter.flags.next = self.idle_flags.val();
        self.emitter.drained_cell.next = self.lda.drained_cell.val();
        self.emitter.m_axis_tready.next = self.m_axis_tready.val();
        self.running.next = self.emitter.running.val();
        self.m_axis_tdata.next = self.emitter.m_axis_tdata.val();
        self.m_axis_tkeep.next = self.emitter.m_axis_tkeep.val();
        self.m_axis_tvalid.next = self.emitter.m_axis_tvalid.val();
        self.m_axis_tlast.next = self.emitter.m_axis_tlast.val();
        self.m_axis_tuser.next = self.emitter.m_axis_tuser.val();
    }
}
