//! Pace: no delimiter before the drain of the interval before is over.
//!
//! # Theory of operation
//!
//! Delimiters go before control frames. Whoever asks for the end of an interval again and again, by a pin that is held high or by
//! a clock whose intervals are shorter than a drain, would fill the stream with delimiters that end nothing, and no control frame
//! would come out. So an end that is asked for passes only while the core is idle; then none passes until the core, which watches
//! the stream, has met the delimiter and drained.
//!
//! ```text
//! asked    ▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔
//! cut      ▔▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▔▁▁
//! draining ▁▁▁▁▁▁▁▁▁▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▁▁▁
//! ```
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | asked | in | 1 | end the interval |
//! | draining | in | 1 | the core sends the interval that ended last |
//! | cut | out | 1 | in the same cycle: insert a delimiter |
//!
//! No parameters, no latency; a cut at most once a drain. Cost: a flip-flop.
//!
//! # Test plan
//!
//! `sim/cosim` `checks::shell`: a pin that is held high over several drains, in a sender with a receiver behind it.

use crate::leaves::Flop;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Pace {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub asked: Signal<In, Bit>,
    pub draining: Signal<In, Bit>,
    pub cut: Signal<Out, Bit>,

    /// A delimiter is on its way to the core.
    waits: Flop<Bit>,
    passes: Signal<Local, Bit>,
}

impl Logic for Pace {
    #[clocked(waits)]
    fn update(&mut self) {
        self.passes.next = self.asked.val() & !self.waits.q.val() & !self.draining.val();
        if self.passes.val() {
            self.waits.d.next = true;
        }
        if self.draining.val() {
            self.waits.d.next = false;
        }
        self.cut.next = self.passes.val();
    }
}
