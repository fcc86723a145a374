//! Register slice: holds a byte of a stream on its way from one end of the device to the other.
//!
//! # Theory of operation
//!
//! A core reads what it sends from a block RAM and selects among its registers in the same cycle. No time is left
//! in that cycle for the route to the module that makes the records. The slice takes the byte and holds it until it
//! is taken. The handshakes on both sides come from its own flip-flops, so neither side waits for the other's
//! logic.
//!
//! ```text
//!  core ──► tdata, tlast, tvalid ──► held ──► held_data, held_last, held_valid ──► records
//!       ◄── tready (empty)                ◄── held_ready
//! ```
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | tdata, tvalid, tlast | in (tready out) | 8 + 1 + 1 | the stream that comes in |
//! | held_data, held_valid, held_last | out (held_ready in) | 8 + 1 + 1 | the stream that goes out |
//!
//! Latency one cycle, a byte every two cycles at most. No parameters. Cost: 10 flip-flops, about 5 LUTs.
//!
//! # Test plan
//!
//! `sim/cosim/tests/board_selftest.rs` and `sim/cosim/tests/board_rmii_tap.rs`: all control frames pass a slice, and a fault is planted in one.

use deltaline_hdl::leaves::Flop;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct RegisterSlice {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub tdata: Signal<In, Bits<8>>,
    pub tvalid: Signal<In, Bit>,
    pub tlast: Signal<In, Bit>,
    pub tready: Signal<Out, Bit>,
    pub held_data: Signal<Out, Bits<8>>,
    pub held_valid: Signal<Out, Bit>,
    pub held_last: Signal<Out, Bit>,
    pub held_ready: Signal<In, Bit>,

    is_full: Flop<Bit>,
    octet: Flop<Bits<8>>,
    is_last: Flop<Bit>,
}

impl Logic for RegisterSlice {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, is_full, octet, is_last);
        self.is_full.rst.next = self.rst.val();
        // Read only while the slice is full.
        self.octet.rst.next = false;
        self.is_last.rst.next = false;

        if self.is_full.q.val() {
            if self.held_ready.val() {
                self.is_full.d.next = false;
            }
        } else {
            self.is_full.d.next = self.tvalid.val();
            self.octet.d.next = self.tdata.val();
            self.is_last.d.next = self.tlast.val();
        }

        self.tready.next = !self.is_full.q.val();
        self.held_data.next = self.octet.q.val();
        self.held_valid.next = self.is_full.q.val();
        self.held_last.next = self.is_last.q.val();
    }
}
