//! Power-on reset: a reset that begins with the configuration, by a button, or on request.
//!
//! # Theory of operation
//!
//! A counter that starts at zero, as an FPGA's registers can, holds the reset for 512 cycles: iCE40 block RAMs
//! cannot be read in the first 3 µs after configuration. The button comes through two flip-flops, which is its
//! crossing into the clock.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk | in | 1 | clock |
//! | button_n | in | 1 | low: reset; not synchronous |
//! | request | in | 1 | reset again |
//! | rst | out | 1 | synchronous reset, active high |
//!
//! No parameters. Cost: 13 flip-flops. The module is hand-written because RustHDL's flip-flops have no initial
//! value that differs from their reset.
//!
//! # Test plan
//!
//! `sim/cosim/tests/board_selftest.rs`: the board starts by itself, on command, and by the button.

use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct PowerOnReset {
    pub clk: Signal<In, Clock>,
    pub button_n: Signal<In, Bit>,
    pub request: Signal<In, Bit>,
    pub rst: Signal<Out, Bit>,
    _count: u32,
    _pressed: [bool; 2],
}

impl Logic for PowerOnReset {
    fn update(&mut self) {
        if self.clk.pos_edge() {
            self.rst.next = self._count < 512;
            let restarts = self._pressed[1] | self.request.val();
            self._count = if restarts { 0 } else { (self._count + 1).min(512) };
            self._pressed = [!self.button_n.val(), self._pressed[0]];
        }
    }

    fn connect(&mut self) {
        self.rst.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "reg [1:0] pressed = 2'h0;
reg [9:0] count = 10'h0;
always @(posedge clk) begin
    pressed <= {pressed[0], !button_n};
    if (pressed[1] | request) count <= 10'h0;
    else if (!count[9]) count <= count + 10'h1;
    rst <= !count[9];
end
"
            .into(),
        )
    }
}
