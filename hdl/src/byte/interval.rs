//! Interval: when intervals end, and which copy counts.
//!
//! # Theory of operation
//!
//! As [the 64-bit core's](crate::interval), with this core's commit of five cycles, and the bit of the clock picked in
//! two steps. Whether a delimiter's number is the one that is due is found out before its commit: the number is there
//! long before, and an interval that ends just then leaves the drain busy.
//!
//! An end that no delimiter asks for is told apart by `timed`, unless the configuration's ends are quiet: see
//! [`Core::with_quiet_ends`](crate::byte::Core::with_quiet_ends).
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | interval_end | in | 1 | end the interval behind this cycle |
//! | interval_log2 | in | 6 | 0 or 48..=63: never; 1..=47: end it by the clock every 2^n ns |
//! | ptp_ts | in | 64 | the clock, PTP relative-64; used only with interval_log2 |
//! | delimiter, delimiter_number | in | 1, 32 | a delimiter is committed in this cycle: end it; the number that it carries |
//! | running | in | 1 | the memories are clear |
//! | drain_busy | in | 1 | the drain still works on the idle copy |
//! | epoch | out | 1 | the copy that counts; changes behind the commit of the interval's last frame |
//! | start_drain | out | 1 | the cycle of the change |
//! | refused | out | 1 | an end was refused |
//! | timed | out | 1 | an end that may cut packets in flight apart: by no delimiter |
//! | number, gap | out | 32, 1 | of the interval that ended last: its number; a delimiter before its end is missing, or it was the first |
//!
//! Latency five cycles, as a frame's commit; ends at least one drain apart. Parameter: whether ends by `interval_end` are quiet.
//!
//! # Test plan
//!
//! `sim/cosim`: ends at every byte of a frame, during drains, by the clock, during the clearing after reset,
//! by delimiters with the number due and with others.

use crate::clock::bit_change::BitChange;
use crate::leaves::Flop;
use crate::module::module;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Interval {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub interval_end: Signal<In, Bit>,
    pub interval_log2: Signal<In, Bits<6>>,
    pub ptp_ts: Signal<In, Bits<64>>,
    pub delimiter: Signal<In, Bit>,
    pub delimiter_number: Signal<In, Bits<32>>,
    pub running: Signal<In, Bit>,
    pub drain_busy: Signal<In, Bit>,
    pub epoch: Signal<Out, Bit>,
    pub start_drain: Signal<Out, Bit>,
    pub refused: Signal<Out, Bit>,
    pub timed: Signal<Out, Bit>,
    pub number: Signal<Out, Bits<32>>,
    pub gap: Signal<Out, Bit>,

    quiet: Constant<Bits<1>>,
    /// The eight bits of each group of the clock's nanoseconds; the one that the exponent's low bits pick.
    group: [Signal<Local, Bits<8>>; 8],
    low: Signal<Local, Bits<3>>,
    candidate: [Flop<Bit>; 8],
    candidates: Signal<Local, Bits<8>>,
    high: Flop<Bits<3>>,
    clock_bit: BitChange,
    crossed: Signal<Local, Bit>,
    /// Index i: the request i + 1 cycles ago.
    request: [Flop<Bit>; 5],
    current: Flop<Bit>,
    /// Number of the running interval; of the one that ended last.
    count: Flop<Bits<32>>,
    ended: Flop<Bits<32>>,
    ended_gap: Flop<Bit>,
    /// An interval has ended: the running one began at a known place.
    started: Flop<Bit>,
    is_due: Flop<Bit>,
    asked: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    ending: Signal<Local, Bits<32>>,
}

impl Interval {
    /// Whether no packet is in flight when `interval_end` rises.
    pub(crate) fn new(quiet: bool) -> Self {
        module! { Interval { quiet: Constant::new(u64::from(quiet).into()) }
            clk rst interval_end interval_log2 ptp_ts delimiter delimiter_number running drain_busy epoch start_drain
            refused timed number gap group low candidate candidates high clock_bit crossed request current count ended
            ended_gap started is_due asked ends ending
        }
    }
}

impl Logic for Interval {
    #[clocked(high, current, count, ended, ended_gap, started, is_due)]
    fn update(&mut self) {
        for i in 0..8 {
            self.candidate[i].clock.next = self.clk.val();
            self.candidate[i].rst.next = self.rst.val();
            self.candidate[i].d.next = self.candidate[i].q.val();
        }
        for i in 0..5 {
            self.request[i].clock.next = self.clk.val();
            self.request[i].rst.next = self.rst.val();
            self.request[i].d.next = self.request[i].q.val();
        }

        // Groups 6 and 7 lie beyond the clock's 48 bits of nanoseconds.
        self.low.next = self.interval_log2.val().get_bits::<3>(0);
        self.high.d.next = self.interval_log2.val().get_bits::<3>(3);
        self.candidates.next = 0.into();
        for i in 0..6 {
            self.group[i].next = self.ptp_ts.val().get_bits::<8>(i * 8 + 16);
        }
        self.group[6].next = 0.into();
        self.group[7].next = 0.into();
        for i in 0..8 {
            self.candidate[i].d.next = self.group[i].val().get_bit(self.low.val().index());
            self.candidates.next = self.candidates.val().replace_bit(i, self.candidate[i].q.val());
        }
        self.clock_bit.clk.next = self.clk.val();
        self.clock_bit.rst.next = self.rst.val();
        self.clock_bit.value.next = self.candidates.val().get_bit(self.high.q.val().index());
        self.crossed.next = self.interval_log2.val().any() & self.clock_bit.changed.val();

        for i in 0..4 {
            self.request[i + 1].d.next = self.request[i].q.val();
        }
        self.request[0].d.next = self.interval_end.val();
        if self.crossed.val() {
            self.request[2].d.next = true;
        }

        self.is_due.d.next = self.delimiter_number.val() == self.count.q.val();
        self.asked.next = self.request[4].q.val() | self.delimiter.val();
        self.ends.next = self.asked.val() & self.running.val() & !self.drain_busy.val();
        self.refused.next = self.asked.val() & self.running.val() & self.drain_busy.val();
        self.ending.next = self.count.q.val();
        if self.delimiter.val() {
            self.ending.next = self.delimiter_number.val();
        }
        self.start_drain.next = self.ends.val();
        self.timed.next = self.ends.val() & !self.delimiter.val() & !self.quiet.val().any();
        if self.ends.val() {
            self.current.d.next = !self.current.q.val();
            self.started.d.next = true;
            self.ended.d.next = self.ending.val();
            self.count.d.next = self.ending.val() + 1;
            self.ended_gap.d.next = (self.delimiter.val() & !self.is_due.q.val())
                | (!self.started.q.val() & !self.quiet.val().any());
        }
        self.number.next = self.ended.q.val();
        self.gap.next = self.ended_gap.q.val();
        self.epoch.next = self.current.q.val();
    }
}
