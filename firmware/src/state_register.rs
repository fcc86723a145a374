//! State register: the state of a machine that may begin in any state, kept in the encoding in which it was
//! written.
//!
//! # Theory of operation
//!
//! A machine without a reset starts at power-on in the state that its flip-flops happen to hold, and recovers from
//! there. That works only if every value of the flip-flops is one of the machine's states. Synthesis likes to
//! re-encode a machine with one flip-flop for each state, and then all zeros is no state at all. With neither a
//! reset nor an initial value, synthesis does not know that an FPGA begins at all zeros. In such a state the
//! machine never looks at some inputs, and yosys takes them for unused. The attribute keeps the encoding, with
//! yosys and with Vivado.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clock | in | 1 | clock, rising edge |
//! | d | in | T | next state |
//! | q | out | T | state |
//!
//! Latency one cycle. No parameters. Cost: one flip-flop a bit.
//!
//! # Test plan
//!
//! `sim/cosim/tests/board_rmii_tap.rs` begins with random registers. The netlist in the bitstream shows that synthesis keeps the
//! encoding: `cargo xtask bitstream alchitry-cu rmii-tap --verify`.

use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct StateRegister<T: Synth> {
    pub clock: Signal<In, Clock>,
    pub d: Signal<In, T>,
    pub q: Signal<Out, T>,
}

impl<T: Synth> Default for StateRegister<T> {
    fn default() -> Self {
        StateRegister { clock: Default::default(), d: Default::default(), q: Default::default() }
    }
}

impl<T: Synth> Logic for StateRegister<T> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self.q.next = self.d.val();
        }
    }

    fn connect(&mut self) {
        self.q.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "(* fsm_encoding = \"none\" *) reg [{}:0] state;
always @(posedge clock) state <= d;
always @(*) q = state;
",
            T::BITS - 1
        ))
    }
}
