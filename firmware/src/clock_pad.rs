//! Clock pad: a clock from a pin straight onto a global network.
//!
//! # Theory of operation
//!
//! Some pins have a path of their own to a global buffer. For synthesis this is such a pin, iCE40's SB_GB_IO. Any
//! other path leads through the fabric, takes some nanoseconds longer and differs in each build. Data that come
//! with a clock would then be sampled when the next data have already arrived.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | pin | in | 1 | the pin; must be one of those that reach a global buffer (GBIN) |
//! | clk | out | 1 | the clock |
//!
//! No latency in cycles, no parameters. Cost: the pin's global network. The module is hand-written because RustHDL
//! has no vendor cells.
//!
//! # Test plan
//!
//! `sim/cosim/tests/board_rmii_tap.rs`, where it is a wire; `cargo xtask bitstream` with `--verify`: the cell in the bitstream's netlist.

use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct ClockPad {
    pub pin: Signal<In, Clock>,
    pub clk: Signal<Out, Clock>,
}

impl Logic for ClockPad {
    fn update(&mut self) {
        self.clk.next = self.pin.val();
    }

    fn connect(&mut self) {
        self.clk.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "`ifdef SYNTHESIS
wire buffered;
SB_GB_IO #(.PIN_TYPE(6'b000001)) pad (.PACKAGE_PIN(pin), .GLOBAL_BUFFER_OUTPUT(buffered));
always @(*) begin clk = buffered; end
`else
always @(*) begin clk = pin; end
`endif
"
            .into(),
        )
    }
}
