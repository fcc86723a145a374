//! AXI4-Lite: the handshakes of a slave, in front of any table of registers.
//!
//! # Theory of operation
//!
//! Address and data of a write are accepted in any order, each into a register, and the write happens in the cycle
//! in which both are there and the response of the write before has been taken. Its response is offered from the
//! next cycle on and held until it is taken. Reads have a path of their own and work alike. One write and one read
//! are under way at most. Protection bits are not looked at.
//!
//! The address of a read leaves for the table as it comes in, so that the table may decode it into registers, and has
//! all of the next cycle to select what is read.
//!
//! All outputs to the bus are registered: none follows an input in the same cycle. Ready is low during reset and
//! while an access is under way.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | s_axil_aw*, s_axil_w*, s_axil_b*, s_axil_ar*, s_axil_r* | | | AXI4-Lite, 32 data bits, 12 address bits |
//! | write | out | 1 | a write happens in this cycle |
//! | write_address | out | 12 | where |
//! | write_data | out | 32 | what |
//! | write_whole | out | 1 | all four bytes are written |
//! | write_legal | in | 1 | in the same cycle: answer OKAY, else SLVERR |
//! | read_address | out | 12 | what will be read |
//! | read_data | in | 32 | a cycle later: its content |
//! | read_legal | in | 1 | a cycle later: answer OKAY, else SLVERR |
//!
//! # Parameters, latency and throughput
//!
//! No parameters. An answer is offered two cycles behind the acceptance of its address (and data). One write and one
//! read every two cycles with a master that is always ready; every three if it waits for answers.
//!
//! # Test plan
//!
//! `sim/cosim` `checks::registers`: random pauses on all channels, answers compared, the rules of the bus in every
//! cycle, the throughput. `hdl/formal/axi_lite.v` proves the rules without bound on time.

use crate::leaves::Flop;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct AxiLite {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub s_axil_awaddr: Signal<In, Bits<12>>,
    pub s_axil_awvalid: Signal<In, Bit>,
    pub s_axil_awready: Signal<Out, Bit>,
    pub s_axil_wdata: Signal<In, Bits<32>>,
    pub s_axil_wstrb: Signal<In, Bits<4>>,
    pub s_axil_wvalid: Signal<In, Bit>,
    pub s_axil_wready: Signal<Out, Bit>,
    pub s_axil_bresp: Signal<Out, Bits<2>>,
    pub s_axil_bvalid: Signal<Out, Bit>,
    pub s_axil_bready: Signal<In, Bit>,
    pub s_axil_araddr: Signal<In, Bits<12>>,
    pub s_axil_arvalid: Signal<In, Bit>,
    pub s_axil_arready: Signal<Out, Bit>,
    pub s_axil_rdata: Signal<Out, Bits<32>>,
    pub s_axil_rresp: Signal<Out, Bits<2>>,
    pub s_axil_rvalid: Signal<Out, Bit>,
    pub s_axil_rready: Signal<In, Bit>,
    pub write: Signal<Out, Bit>,
    pub write_address: Signal<Out, Bits<12>>,
    pub write_data: Signal<Out, Bits<32>>,
    pub write_whole: Signal<Out, Bit>,
    pub write_legal: Signal<In, Bit>,
    pub read_address: Signal<Out, Bits<12>>,
    pub read_data: Signal<In, Bits<32>>,
    pub read_legal: Signal<In, Bit>,

    // Of each channel: what was accepted, whether there is something, and whether more can be accepted. The last is
    // the opposite of the second but for reset, when both are low.
    aw_address: Flop<Bits<12>>,
    aw_full: Flop<Bit>,
    aw_ready: Flop<Bit>,
    w_data: Flop<Bits<32>>,
    w_whole: Flop<Bit>,
    w_full: Flop<Bit>,
    w_ready: Flop<Bit>,
    ar_address: Flop<Bits<12>>,
    ar_full: Flop<Bit>,
    ar_ready: Flop<Bit>,
    b_response: Flop<Bits<2>>,
    b_full: Flop<Bit>,
    r_data: Flop<Bits<32>>,
    r_response: Flop<Bits<2>>,
    r_full: Flop<Bit>,

    writes: Signal<Local, Bit>,
    reads: Signal<Local, Bit>,
    aw_next: Signal<Local, Bit>,
    w_next: Signal<Local, Bit>,
    ar_next: Signal<Local, Bit>,
    ar_address_next: Signal<Local, Bits<12>>,
}

impl Logic for AxiLite {
    #[clocked(
        aw_address, aw_full, aw_ready, w_data, w_whole, w_full, w_ready, ar_address, ar_full, ar_ready,
        b_response, b_full, r_data, r_response, r_full
    )]
    fn update(&mut self) {
        self.writes.next = self.aw_full.q.val() & self.w_full.q.val() & !self.b_full.q.val();
        self.reads.next = self.ar_full.q.val() & !self.r_full.q.val();

        // Accept.
        self.aw_next.next =
            (self.aw_full.q.val() | (self.s_axil_awvalid.val() & self.aw_ready.q.val())) & !self.writes.val();
        self.aw_full.d.next = self.aw_next.val();
        self.aw_ready.d.next = !self.aw_next.val();
        if self.aw_ready.q.val() {
            self.aw_address.d.next = self.s_axil_awaddr.val();
        }
        self.w_next.next =
            (self.w_full.q.val() | (self.s_axil_wvalid.val() & self.w_ready.q.val())) & !self.writes.val();
        self.w_full.d.next = self.w_next.val();
        self.w_ready.d.next = !self.w_next.val();
        if self.w_ready.q.val() {
            self.w_data.d.next = self.s_axil_wdata.val();
            self.w_whole.d.next = self.s_axil_wstrb.val().all();
        }
        self.ar_next.next =
            (self.ar_full.q.val() | (self.s_axil_arvalid.val() & self.ar_ready.q.val())) & !self.reads.val();
        self.ar_full.d.next = self.ar_next.val();
        self.ar_ready.d.next = !self.ar_next.val();
        self.ar_address_next.next = self.ar_address.q.val();
        if self.ar_ready.q.val() {
            self.ar_address_next.next = self.s_axil_araddr.val();
        }
        self.ar_address.d.next = self.ar_address_next.val();

        // Answer: OKAY is 0, SLVERR is 2.
        if self.s_axil_bready.val() {
            self.b_full.d.next = false;
        }
        if self.writes.val() {
            self.b_full.d.next = true;
            self.b_response.d.next = 2.into();
            if self.write_legal.val() {
                self.b_response.d.next = 0.into();
            }
        }
        if self.s_axil_rready.val() {
            self.r_full.d.next = false;
        }
        if self.reads.val() {
            self.r_full.d.next = true;
            self.r_data.d.next = self.read_data.val();
            self.r_response.d.next = 2.into();
            if self.read_legal.val() {
                self.r_response.d.next = 0.into();
            }
        }

        self.write.next = self.writes.val();
        self.write_address.next = self.aw_address.q.val();
        self.write_data.next = self.w_data.q.val();
        self.write_whole.next = self.w_whole.q.val();
        self.read_address.next = self.ar_address_next.val();
        self.s_axil_awready.next = self.aw_ready.q.val();
        self.s_axil_wready.next = self.w_ready.q.val();
        self.s_axil_bresp.next = self.b_response.q.val();
        self.s_axil_bvalid.next = self.b_full.q.val();
        self.s_axil_arready.next = self.ar_ready.q.val();
        self.s_axil_rdata.next = self.r_data.q.val();
        self.s_axil_rresp.next = self.r_response.q.val();
        self.s_axil_rvalid.next = self.r_full.q.val();
    }
}
