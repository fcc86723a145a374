//! Live counter: a saturating counter of the running interval that is shown, and not kept when the interval ends.
//!
//! # Theory of operation
//!
//! Added in two halves of 16 bits, with the carry in between kept for a cycle. What is shown has both halves of one
//! moment. Beyond 2^32 - 1 it shows all ones until the interval ends.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | ends | in | 1 | the interval ends behind this cycle |
//! | amount | in | 3 | what is added in this cycle |
//! | shown | out | 32 | the sum of the running interval as of two cycles ago |
//!
//! Latency two cycles. No parameters.
//!
//! # Test plan
//!
//! `sim/cosim`: through the registers of a design with classes; carry and saturation with the counter preloaded.

use crate::leaves::Flop;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct LiveCounter {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub ends: Signal<In, Bit>,
    pub amount: Signal<In, Bits<3>>,
    pub shown: Signal<Out, Bits<32>>,

    low: Flop<Bits<16>>,
    carry: Flop<Bit>,
    high: Flop<Bits<16>>,
    full: Flop<Bit>,
    just_ended: Flop<Bit>,
    shown_low: Flop<Bits<16>>,
    low_sum: Signal<Local, Bits<17>>,
    high_sum: Signal<Local, Bits<17>>,
    count: Signal<Local, Bits<32>>,
}

impl Logic for LiveCounter {
    #[clocked(low, carry, high, full, just_ended, shown_low)]
    fn update(&mut self) {
        self.low_sum.next = bit_cast::<17, 16>(self.low.q.val()) + bit_cast::<17, 3>(self.amount.val());
        self.low.d.next = self.low_sum.val().get_bits::<16>(0);
        self.carry.d.next = self.low_sum.val().get_bit(16);
        if self.ends.val() {
            self.low.d.next = 0.into();
        }
        // One cycle later, of the interval that was running then.
        self.high_sum.next = bit_cast::<17, 16>(self.high.q.val());
        if self.carry.q.val() {
            self.high_sum.next = bit_cast::<17, 16>(self.high.q.val()) + 1;
        }
        self.high.d.next = self.high_sum.val().get_bits::<16>(0);
        self.full.d.next = self.full.q.val() | self.high_sum.val().get_bit(16);
        self.just_ended.d.next = self.ends.val();
        if self.just_ended.q.val() {
            self.high.d.next = 0.into();
            self.full.d.next = false;
        }

        self.shown_low.d.next = self.low.q.val();
        self.count.next =
            bit_cast::<32, 16>(self.shown_low.q.val()) | (bit_cast::<32, 16>(self.high.q.val()) << 16);
        if self.full.q.val() {
            self.count.next = 0xffff_ffff_u64.into();
        }
        self.shown.next = self.count.val();
    }
}
