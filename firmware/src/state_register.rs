//! State register: the state of a machine that begins in any state, in the encoding that it was written in.
//!
//! # Theory of operation
//!
//! A machine without a reset comes out of power-on in whatever state its flip-flops make up, and finds its way from
//! there. That holds as long as every value of them is one of the machine's states. Synthesis likes to encode a machine
//! anew, a flip-flop for each state; all of these zero is no state at all, and with neither a reset nor an initial value
//! nothing tells it that this is where an FPGA begins. yosys then takes the inputs that a machine never looks at in such
//! a state for unused. The attribute keeps the encoding, with yosys and with Vivado.
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
//! `tests/rmii_tap.rs` begins with random registers. That synthesis keeps to it is seen in the netlist that lies in the
//! bitstream: `cargo xtask bitstream alchitry-cu rmii-tap --verify`.

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
