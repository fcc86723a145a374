//! Boundary: what may end an interval, as late as the delimiters of the same moment are recognised.
//!
//! # Theory of operation
//!
//! A delimiter is recognised T cycles behind its last beat, some cycles ahead of its commit. Whoever asks for the end of an interval
//! means the frames whose last beat was accepted in the same cycle or before; so the request waits T cycles as well, and so does the
//! word whether the clock was locked. With `interval_log2` from 1 to 47, an end is asked for whenever that bit of
//! the clock's nanoseconds changes: every 2^n ns, at the same moments at every point whose clock is right. A step
//! of the clock may ask for an end once; a change of `interval_log2` does not.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | interval_end | in | 1 | end the interval behind this cycle |
//! | interval_log2 | in | 6 | 0 or 48..=63: never; 1..=47: end it by the clock every 2^n ns |
//! | ptp_ts | in | 64 | the clock, PTP relative-64; used only with interval_log2 |
//! | ptp_locked | in | 1 | the clock is locked |
//! | request | out | 1 | T cycles later: an end is asked for |
//! | unlocked | out | 1 | T cycles later: the clock was not locked |
//!
//! Parameters: D = T - 1. Latency T cycles.
//!
//! # Test plan
//!
//! `sim/cosim`, with the core: ends by delimiter and by clock at every beat of two frames; lock lost around an end.

use crate::clock::ticker::Ticker;
use crate::leaves::{Delay, Flop};
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Boundary<const D: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub interval_end: Signal<In, Bit>,
    pub interval_log2: Signal<In, Bits<6>>,
    pub ptp_ts: Signal<In, Bits<64>>,
    pub ptp_locked: Signal<In, Bit>,
    pub request: Signal<Out, Bit>,
    pub unlocked: Signal<Out, Bit>,

    ticker: Ticker,
    asked: Flop<Bit>,
    lock_lost: Flop<Bit>,
    /// Bit 0: an end is asked for; bit 1: the clock is not locked.
    now: Signal<Local, Bits<2>>,
    delay: Delay<2, D>,
}

impl<const D: usize> Logic for Boundary<D> {
    #[clocked(asked, lock_lost)]
    fn update(&mut self) {
        self.ticker.clk.next = self.clk.val();
        self.ticker.rst.next = self.rst.val();
        self.ticker.ptp_ts.next = self.ptp_ts.val();
        self.ticker.interval_log2.next = self.interval_log2.val();
        self.asked.d.next = self.interval_end.val();
        self.lock_lost.d.next = !self.ptp_locked.val();
        self.now.next = 0.into();
        if self.asked.q.val() | self.ticker.tick.val() {
            self.now.next = self.now.val() | 1;
        }
        if self.lock_lost.q.val() {
            self.now.next = self.now.val() | 2;
        }
        self.delay.clk.next = self.clk.val();
        self.delay.rst.next = self.rst.val();
        self.delay.d.next = self.now.val();
        self.request.next = self.delay.q.val().get_bit(0);
        self.unlocked.next = self.delay.q.val().get_bit(1);
    }
}
