//! Pausing clock: the packets' time, which stands still between intervals.
//!
//! # Theory of operation
//!
//! Two counters advance by one cycle, 10 ns, in each cycle in which traffic may flow. While a board waits for its
//! serial link no packet is under way, and the clock waits too. So the measurement does not depend on the speed of
//! the link, and a model of the traffic alone knows every timestamp.
//!
//! The nanoseconds are two halves of 24 bits. The upper half follows one cycle later, so that no carry passes
//! through both.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock, 100 MHz; synchronous reset |
//! | flows | in | 1 | advance |
//! | stamp | out | 64 | nanoseconds as PTP relative-64 |
//! | cycles | out | 18 | cycles, modulo 2^18: always a tenth of the nanoseconds |
//!
//! Latency two cycles from flows to both outputs. No parameters. Cost: about 110 flip-flops and 60 LUTs.
//!
//! # Test plan
//!
//! `sim/cosim/tests/board_selftest.rs`: every timestamp and every delay that the board reports, against the model.

use deltaline_hdl::leaves::Flop;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct PausingClock {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub flows: Signal<In, Bit>,
    pub stamp: Signal<Out, Bits<64>>,
    pub cycles: Signal<Out, Bits<18>>,

    low: Flop<Bits<24>>,
    carry: Flop<Bit>,
    count: Flop<Bits<18>>,
    low_late: Flop<Bits<24>>,
    high: Flop<Bits<24>>,
    count_late: Flop<Bits<18>>,
    total: Signal<Local, Bits<25>>,
}

impl Logic for PausingClock {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, low, carry, count, low_late, high, count_late);
        self.low.rst.next = self.rst.val();
        self.count.rst.next = self.rst.val();
        self.high.rst.next = self.rst.val();
        // Written before they are read.
        self.carry.rst.next = false;
        self.low_late.rst.next = false;
        self.count_late.rst.next = false;

        self.total.next = bit_cast::<25, 24>(self.low.q.val()) + 10;
        self.carry.d.next = false;
        if self.flows.val() {
            self.low.d.next = self.total.val().get_bits::<24>(0);
            self.carry.d.next = self.total.val().get_bit(24);
            self.count.d.next = self.count.q.val() + 1;
        }
        self.low_late.d.next = self.low.q.val();
        self.count_late.d.next = self.count.q.val();
        if self.carry.q.val() {
            self.high.d.next = self.high.q.val() + 1;
        }
        self.stamp.next =
            (bit_cast::<64, 24>(self.high.q.val()) << 40) | (bit_cast::<64, 24>(self.low_late.q.val()) << 16);
        self.cycles.next = self.count_late.q.val();
    }
}
