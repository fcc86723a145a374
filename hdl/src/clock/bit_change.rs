//! Bit change: a pulse whenever a bit that was picked of a clock changes.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | value | in | 1 | the bit |
//! | changed | out | 1 | two cycles ago it was not what it was one cycle ago; never of what was before a reset |
//!
//! Latency one cycle. No parameters. Cost: four flip-flops.
//!
//! # Test plan
//!
//! `sim/cosim`: as part of what ends intervals and times delimiters by the clock, at every power of two; reset.

use crate::leaves::Flop;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct BitChange {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub value: Signal<In, Bit>,
    pub changed: Signal<Out, Bit>,

    is_set: Flop<Bit>,
    was_set: Flop<Bit>,
    /// What the two hold is the bit of after the reset.
    started: Flop<Bit>,
    started_before: Flop<Bit>,
}

impl Logic for BitChange {
    #[clocked(is_set, was_set, started, started_before)]
    fn update(&mut self) {
        self.is_set.d.next = self.value.val();
        self.was_set.d.next = self.is_set.q.val();
        self.started.d.next = true;
        self.started_before.d.next = self.started.q.val();
        self.changed.next = self.started_before.q.val() & (self.is_set.q.val() != self.was_set.q.val());
    }
}
