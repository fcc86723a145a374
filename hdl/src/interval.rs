//! Interval: when intervals end, and which copy counts.
//!
//! # Theory of operation
//!
//! An interval ends when `interval_end` is high (a delimiter was seen in the stream), or, if `interval_log2` is not
//! zero, whenever bit `interval_log2` of the clock's nanoseconds changes: every 2^interval_log2 ns, at the same
//! moments at every point whose clock is right. Either way a frame whose last beat is accepted in the same cycle
//! or before belongs to the interval that ends. The request therefore takes as long as a frame's commit.
//!
//! When it arrives, the copies swap roles and the drain starts on the one that counted. If the drain is still busy
//! with the interval before, the end is refused and counted, and the running interval goes on.
//!
//! A step of the clock, or a change of `interval_log2`, may end an interval too; it is flagged like any other.
//!
//! After reset the drain first clears both copies; `running` tells when counting starts. Interval ends before that
//! are ignored.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | interval_end | in | 1 | end the interval behind this cycle |
//! | interval_log2 | in | 6 | 0 or 48..=63: never; 1..=47: end it by the clock every 2^n ns |
//! | ptp_ts | in | 64 | the clock, PTP relative-64; used only with interval_log2 |
//! | running | in | 1 | the memories are clear |
//! | drain_busy | in | 1 | the drain still works on the idle copy |
//! | epoch | out | 1 | the copy that counts; changes behind the commit of the interval's last frame |
//! | number | out | 32 | number of the interval that was ended last |
//! | start_drain | out | 1 | the cycle of the change |
//! | refused | out | 1 | an end was refused |
//! | timed | out | 1 | with start_drain: the clock ended the interval |
//!
//! Latency seven cycles, as a frame's commit; ends at least one drain apart. No parameters.
//!
//! Cost, 2 x 1024 rows, before placement (`cargo xtask cost`): iCE40 112 LUT4, 80 flip-flops;
//! ECP5 182 LUT4, 80 flip-flops.
//!
//! # Test plan
//!
//! `sim/cosim`: ends at every distance from frames, during drains, by the clock, during the clearing after reset.

use crate::leaves::Flop;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Interval {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub interval_end: Signal<In, Bit>,
    pub interval_log2: Signal<In, Bits<6>>,
    pub ptp_ts: Signal<In, Bits<64>>,
    pub running: Signal<In, Bit>,
    pub drain_busy: Signal<In, Bit>,
    pub epoch: Signal<Out, Bit>,
    pub number: Signal<Out, Bits<32>>,
    pub start_drain: Signal<Out, Bit>,
    pub refused: Signal<Out, Bit>,
    pub timed: Signal<Out, Bit>,

    nanoseconds: Signal<Local, Bits<64>>,
    clock_bit: Flop<Bit>,
    clock_bit_before: Flop<Bit>,
    crossed: Signal<Local, Bit>,
    /// Index i: the request i + 1 cycles ago.
    request: [Flop<Bit>; 7],
    by_clock: [Flop<Bit>; 6],
    current: Flop<Bit>,
    count: Flop<Bits<32>>,
    ended: Flop<Bits<32>>,
    ends: Signal<Local, Bit>,
}

impl Logic for Interval {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, clock_bit, clock_bit_before, current, count, ended);
        self.clock_bit.rst.next = self.rst.val();
        self.clock_bit_before.rst.next = self.rst.val();
        self.current.rst.next = self.rst.val();
        self.count.rst.next = self.rst.val();
        self.ended.rst.next = self.rst.val();

        self.nanoseconds.next = bit_cast::<64, 48>(self.ptp_ts.val().get_bits::<48>(16));
        self.clock_bit.d.next = self.nanoseconds.val().get_bit(self.interval_log2.val().index());
        self.clock_bit_before.d.next = self.clock_bit.q.val();
        // Behind a reset this compares with zero; the core does not count yet then, and ignores it.
        self.crossed.next =
            self.interval_log2.val().any() & (self.clock_bit.q.val() != self.clock_bit_before.q.val());

        for i in 0..7 {
            self.request[i].clock.next = self.clk.val();
            self.request[i].rst.next = self.rst.val();
        }
        for i in 0..6 {
            self.request[i + 1].d.next = self.request[i].q.val();
            self.by_clock[i].clock.next = self.clk.val();
            self.by_clock[i].rst.next = self.rst.val();
        }
        for i in 0..5 {
            self.by_clock[i + 1].d.next = self.by_clock[i].q.val();
        }
        self.request[0].d.next = self.interval_end.val();
        self.by_clock[0].d.next = self.crossed.val();
        if self.crossed.val() {
            self.request[1].d.next = true;
        }

        self.ends.next = self.request[6].q.val() & self.running.val() & !self.drain_busy.val();
        self.refused.next = self.request[6].q.val() & self.running.val() & self.drain_busy.val();
        self.start_drain.next = self.ends.val();
        self.timed.next = self.by_clock[5].q.val();
        if self.ends.val() {
            self.current.d.next = !self.current.q.val();
            self.ended.d.next = self.count.q.val();
            self.count.d.next = self.count.q.val() + 1;
        }
        self.epoch.next = self.current.q.val();
        self.number.next = self.ended.q.val();
    }
}
