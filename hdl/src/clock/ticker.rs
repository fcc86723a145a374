//! Ticker: a pulse every 2^n ns of the clock.
//!
//! # Theory of operation
//!
//! Bit n of the clock's nanoseconds changes every 2^n ns, at the same moments at every point whose clock is right.
//! A step of the clock may cause one pulse more. A change of `interval_log2` causes none: what the bits were before is forgotten,
//! and a boundary in that cycle or the next with it.
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
//! `sim/cosim`, with the cores: intervals by the clock; with the shell that stands in the stream: delimiters at the
//! boundaries of the clock.

use crate::clock::bit_change::BitChange;
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

    log2_before: Flop<Bits<6>>,
    nanoseconds: Signal<Local, Bits<64>>,
    change: BitChange,
}

impl Logic for Ticker {
    #[clocked(log2_before)]
    fn update(&mut self) {
        self.change.clk.next = self.clk.val();
        self.log2_before.d.next = self.interval_log2.val();
        self.change.rst.next = self.rst.val() | (self.log2_before.q.val() != self.interval_log2.val());
        self.nanoseconds.next = bit_cast::<64, 48>(self.ptp_ts.val().get_bits::<48>(16));
        self.change.value.next = self.nanoseconds.val().get_bit(self.interval_log2.val().index());
        self.tick.next = self.change.changed.val() & self.interval_log2.val().any();
    }
}
