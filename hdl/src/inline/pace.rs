//! Pace: no delimiter while the core would refuse it.
//!
//! # Theory of operation
//!
//! Delimiters go before control frames. Whoever asks for the end of an interval again and again, by a pin that is held high or by
//! a clock whose intervals are shorter than a drain, would fill the stream with delimiters that end nothing, and no control frame
//! would come out. So an end that is asked for passes only while the core is idle and the least interval over; then none passes
//! until the core, which watches the stream, has met a delimiter, and its drain, if it ends an interval, has begun.
//!
//! That it has met one is enough: where somebody else's delimiter has ended the interval, ours is late and ends nothing, and the
//! next one must still go out.
//!
//! ```text
//! asked ▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔
//! cut   ▔▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▔▁▁
//! waits ▁▔▔▔▔▔▔▔▔▔▔▁▁▁▁▁▁▁▁▁▁▁▁▁▁▔▔
//! met   ▁▁▁▁▁▁▔▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
//! busy  ▁▁▁▁▁▁▁▁▁▁▁▔▔▔▔▔▔▔▔▔▔▔▔▔▁▁▁
//! ```
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | asked | in | 1 | end the interval |
//! | busy | in | 1 | the core would refuse an end; five cycles behind `met` at the latest if one was met that ends an interval |
//! | met | in | 1 | the core has met a delimiter |
//! | cut | out | 1 | in the same cycle: insert a delimiter |
//!
//! No parameters, no latency; a cut at most once a drain and a least interval. Cost: five flip-flops.
//!
//! # Test plan
//!
//! `sim/cosim` `checks::shell`: a pin that is held high over several drains, in a sender with a receiver behind it; pins held,
//! toggled and random under traffic, with and without a least interval, and somebody else's delimiters; planted faults.

use crate::interval::AHEAD;
use crate::leaves::{Delay, Flop};
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Pace {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub asked: Signal<In, Bit>,
    pub busy: Signal<In, Bit>,
    pub met: Signal<In, Bit>,
    pub cut: Signal<Out, Bit>,

    /// A delimiter is on its way to the core.
    waits: Flop<Bit>,
    passes: Signal<Local, Bit>,
    met_now: Signal<Local, Bits<1>>,
    to_drain: Delay<1, AHEAD>,
}

impl Logic for Pace {
    #[clocked(waits)]
    fn update(&mut self) {
        self.met_now.next = 0.into();
        if self.met.val() {
            self.met_now.next = 1.into();
        }
        self.to_drain.clk.next = self.clk.val();
        self.to_drain.rst.next = self.rst.val();
        self.to_drain.d.next = self.met_now.val();
        self.passes.next = self.asked.val() & !self.waits.q.val() & !self.busy.val();
        if self.to_drain.q.val().any() {
            self.waits.d.next = false;
        }
        if self.passes.val() {
            self.waits.d.next = true;
        }
        self.cut.next = self.passes.val();
    }
}
