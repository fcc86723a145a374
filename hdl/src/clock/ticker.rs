//! Ticker: a pulse every 2^n ns of the clock.
//!
//! # Theory of operation
//!
//! Bit n of the clock's nanoseconds changes every 2^n ns, at the same moments at every point whose clock is right.
//! A step of the clock, or a change of `interval_log2`, may cause one pulse more.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | ptp_ts | in | 64 | the clock, PTP relative-64 |
//! | interval_log2 | in | 6 | 0 or 48..=63: never; 1..=47: n |
//! | tick | out | 1 | the bit has changed |
//!
//! Latency two cycles. No parameters.
//!
//! # Test plan
//!
//! `sim/cosim`, with the shell that stands in the stream: delimiters at the boundaries of the clock.

use crate::leaves::Flop;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Ticker {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub ptp_ts: Signal<In, Bits<64>>,
    pub interval_log2: Signal<In, Bits<6>>,
    pub tick: Signal<Out, Bit>,

    nanoseconds: Signal<Local, Bits<64>>,
    started: Flop<Bit>,
    clock_bit: Flop<Bit>,
    clock_bit_before: Flop<Bit>,
}

impl Logic for Ticker {
    #[clocked(started, clock_bit, clock_bit_before)]
    fn update(&mut self) {
        self.nanoseconds.next = bit_cast::<64, 48>(self.ptp_ts.val().get_bits::<48>(16));
        self.clock_bit.d.next = self.nanoseconds.val().get_bit(self.interval_log2.val().index());
        self.clock_bit_before.d.next = self.clock_bit.q.val();
        // Behind a reset there is nothing to compare with.
        if !self.started.q.val() {
            self.clock_bit_before.d.next = self.clock_bit.d.val();
        }
        self.started.d.next = true;
        self.tick.next = self.started.q.val()
            & self.interval_log2.val().any()
            & (self.clock_bit.q.val() != self.clock_bit_before.q.val());
    }
}
