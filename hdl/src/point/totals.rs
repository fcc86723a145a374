//! Totals: what an interval counts of the point as a whole.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::wire::frame::Totals` as `deltaline_model::point` fills it; what is counted of each class is in
//! [`crate::point::class_totals`]. One set of counters counts; when an interval ends, they move into a set of registers that
//! holds still for the drain, and start from zero. The saturating counters stop at all ones; those of frames are
//! [counters of their own](crate::point::frame_count).
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | ends | in | 1 | the interval ends behind this cycle |
//! | epoch | in | 1 | the copy that counts in this cycle |
//! | wrapped | in | 1 | a class's total wrapped with the packets of two cycles before |
//! | unmeasured, bad | in | 3 | frames of that kind, 0..=4 |
//! | refused | in | 3 | interval ends that were refused; with ends, in the interval that begins |
//! | ignored | in | 3 | delimiters that were ignored |
//! | ignored_behind | in | 3 | with ends: in the interval that begins |
//! | unlocked | in | 1 | the clock is not locked |
//! | timed | in | 1 | with ends: no delimiter ends the interval |
//! | gap | in | 1 | with ends: a delimiter is missing, or the interval is the first |
//! | overflow | in | 1 | a cell's count wrapped |
//! | overflow_epoch | in | 1 | in this copy |
//! | unmeasured_frames, bad_frames | out | 32 | the running interval's saturating counters as of two cycles ago |
//! | ended_unmeasured, ended_bad | out | 32 | those of the interval that ended last |
//! | ended_refused, ended_ignored | out | 16 | its saturating counters |
//! | ended_flags | out | 5 | saturated, overrun, clock, timed, gap from bit 0 on |
//!
//! Latency three cycles, any number of frames. No parameters.
//!
//! # Test plan
//!
//! `sim/cosim`: with the whole core; carries and saturation of every counter with the counters preloaded.

use crate::leaves::Flop;
use crate::point::frame_count::FrameCount;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Totals {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub ends: Signal<In, Bit>,
    pub epoch: Signal<In, Bit>,
    pub wrapped: Signal<In, Bit>,
    pub unmeasured: Signal<In, Bits<3>>,
    pub bad: Signal<In, Bits<3>>,
    pub refused: Signal<In, Bits<3>>,
    pub ignored: Signal<In, Bits<3>>,
    pub ignored_behind: Signal<In, Bits<3>>,
    pub unlocked: Signal<In, Bit>,
    pub timed: Signal<In, Bit>,
    pub gap: Signal<In, Bit>,
    pub overflow: Signal<In, Bit>,
    pub overflow_epoch: Signal<In, Bit>,
    pub unmeasured_frames: Signal<Out, Bits<32>>,
    pub bad_frames: Signal<Out, Bits<32>>,
    pub ended_unmeasured: Signal<Out, Bits<32>>,
    pub ended_bad: Signal<Out, Bits<32>>,
    pub ended_refused: Signal<Out, Bits<16>>,
    pub ended_ignored: Signal<Out, Bits<16>>,
    pub ended_flags: Signal<Out, Bits<5>>,

    unmeasured_count: FrameCount,
    bad_count: FrameCount,

    /// The running interval. Packets are there; the upper halves are one cycle behind.
    refused_count: Flop<Bits<16>>,
    ignored_count: Flop<Bits<16>>,
    saturated: Flop<Bit>,
    clock_lost: Flop<Bit>,
    by_clock: Flop<Bit>,
    /// The interval ended one cycle ago, and two.
    just_ended: Flop<Bit>,
    ended_before: Flop<Bit>,

    /// The interval that ended last.
    old_refused: Flop<Bits<16>>,
    old_ignored: Flop<Bits<16>>,
    old_saturated: Flop<Bit>,
    old_clock_lost: Flop<Bit>,
    old_by_clock: Flop<Bit>,
    old_gap: Flop<Bit>,

    refused_sum: Signal<Local, Bits<17>>,
    refused_next: Signal<Local, Bits<16>>,
    ignored_sum: Signal<Local, Bits<17>>,
    ignored_next: Signal<Local, Bits<16>>,
    saturated_now: Signal<Local, Bit>,
    wrapped_old: Signal<Local, Bit>,
    overflows_old: Signal<Local, Bit>,
    saturated_next: Signal<Local, Bit>,
    clock_lost_next: Signal<Local, Bit>,
    by_clock_next: Signal<Local, Bit>,
    conditions: Signal<Local, Bits<5>>,
}

impl Logic for Totals {
    #[clocked(
        refused_count,
        ignored_count,
        saturated,
        clock_lost,
        by_clock,
        just_ended,
        ended_before,
        old_refused,
        old_ignored,
        old_saturated,
        old_clock_lost,
        old_by_clock,
        old_gap
    )]
    fn update(&mut self) {
        self.unmeasured_count.clk.next = self.clk.val();
        self.unmeasured_count.rst.next = self.rst.val();
        self.unmeasured_count.frames.next = self.unmeasured.val();
        self.unmeasured_count.ends.next = self.ends.val();
        self.bad_count.clk.next = self.clk.val();
        self.bad_count.rst.next = self.rst.val();
        self.bad_count.frames.next = self.bad.val();
        self.bad_count.ends.next = self.ends.val();

        // What the running interval counts with this cycle.
        self.refused_sum.next =
            bit_cast::<17, 16>(self.refused_count.q.val()) + bit_cast::<17, 3>(self.refused.val());
        self.refused_next.next = self.refused_sum.val().get_bits::<16>(0);
        if self.refused_sum.val().get_bit(16) {
            self.refused_next.next = 0xffff.into();
        }
        self.ignored_sum.next =
            bit_cast::<17, 16>(self.ignored_count.q.val()) + bit_cast::<17, 3>(self.ignored.val());
        self.ignored_next.next = self.ignored_sum.val().get_bits::<16>(0);
        if self.ignored_sum.val().get_bit(16) {
            self.ignored_next.next = 0xffff.into();
        }
        self.clock_lost_next.next = self.clock_lost.q.val() | self.unlocked.val();
        self.by_clock_next.next = self.by_clock.q.val() | self.timed.val();

        // A total tells its overflow two cycles behind its packet.
        self.wrapped_old.next = self.wrapped.val() & self.ended_before.q.val();
        self.saturated_now.next = self.saturated.q.val() | (self.wrapped.val() & !self.ended_before.q.val());
        // A cell tells its overflow several cycles after its packet's commit.
        self.overflows_old.next = self.overflow.val() & (self.overflow_epoch.val() != self.epoch.val());
        self.saturated_next.next = self.saturated_now.val()
            | (self.overflow.val() & (self.overflow_epoch.val() == self.epoch.val()));

        self.refused_count.d.next = self.refused_next.val();
        self.ignored_count.d.next = self.ignored_next.val();
        self.clock_lost.d.next = self.clock_lost_next.val();
        self.by_clock.d.next = self.by_clock_next.val();
        if self.ends.val() {
            self.old_refused.d.next = self.refused_count.q.val();
            self.old_ignored.d.next = self.ignored_next.val();
            self.old_clock_lost.d.next = self.clock_lost_next.val();
            self.old_by_clock.d.next = self.by_clock_next.val();
            self.old_gap.d.next = self.gap.val();
            self.refused_count.d.next = bit_cast::<16, 3>(self.refused.val());
            self.ignored_count.d.next = bit_cast::<16, 3>(self.ignored_behind.val());
            self.clock_lost.d.next = false;
            // A timed end concerns the interval that it ends and the one that it starts.
            self.by_clock.d.next = self.timed.val();
        }

        self.just_ended.d.next = self.ends.val();
        self.ended_before.d.next = self.just_ended.q.val();
        self.saturated.d.next = self.saturated_next.val();
        self.old_saturated.d.next =
            self.old_saturated.q.val() | self.wrapped_old.val() | self.overflows_old.val();
        if self.just_ended.q.val() {
            self.old_saturated.d.next = self.saturated_now.val() | self.overflows_old.val();
            self.saturated.d.next = self.overflow.val() & (self.overflow_epoch.val() == self.epoch.val());
        }

        self.unmeasured_frames.next = self.unmeasured_count.count.val();
        self.bad_frames.next = self.bad_count.count.val();
        self.ended_unmeasured.next = self.unmeasured_count.ended.val();
        self.ended_bad.next = self.bad_count.ended.val();
        self.ended_refused.next = self.old_refused.q.val();
        self.ended_ignored.next = self.old_ignored.q.val();
        self.conditions.next = 0.into();
        if self.old_saturated.q.val() {
            self.conditions.next = self.conditions.val() | 1;
        }
        if self.old_refused.q.val().any() {
            self.conditions.next = self.conditions.val() | 2;
        }
        if self.old_clock_lost.q.val() {
            self.conditions.next = self.conditions.val() | 4;
        }
        if self.old_by_clock.q.val() {
            self.conditions.next = self.conditions.val() | 8;
        }
        if self.old_gap.q.val() {
            self.conditions.next = self.conditions.val() | 16;
        }
        self.ended_flags.next = self.conditions.val();
    }
}
