use crate::module::module;
use rust_hdl_core::prelude::*;

/// A D flip-flop with synchronous, active-high reset to zero.
///
/// | port | direction | width | meaning |
/// |------|-----------|-------|---------|
/// | clock  | in  | 1 | clock, rising edge |
/// | rst  | in  | 1 | reset: q becomes zero |
/// | d    | in  | T | next value |
/// | q    | out | T | value |
///
/// Latency one cycle. Cost: one flip-flop a bit. Tested in every other module.
#[derive(LogicBlock)]
pub struct Flop<T: Synth> {
    pub clock: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub d: Signal<In, T>,
    pub q: Signal<Out, T>,
}

impl<T: Synth> Default for Flop<T> {
    fn default() -> Self {
        module! { Flop { }
            clock rst d q
        }
    }
}

impl<T: Synth> Logic for Flop<T> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self.q.next = if self.rst.val() { T::default() } else { self.d.val() };
        }
    }

    fn connect(&mut self) {
        self.q.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "always @(posedge clock) begin\n    if (rst) q <= {}'h0;\n    else q <= d;\nend\n",
            T::BITS
        ))
    }
}
