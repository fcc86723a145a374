//! Time of day: relative-64 from a time-of-day-96 clock.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::clock::TimeOfDayConverter`: (seconds x 10^9 + nanoseconds) modulo 2^48. As
//! 10^9 = 2^9 x 5^9, only 39 bits of the seconds and of every sum count, and the lowest 9 bits of the nanoseconds
//! and the fraction pass through. The constant is built of few additions:
//!
//! ```text
//! 5^9 = 5 x (2^9 x (3 x 2^8 - 5) - 32 + 1)
//!
//! cycle      1            2                  3                     4
//!        y = 5 seconds    3 y, 5 y    a = 3 y x 2^8 - 5 y    b + a x 2^9  -> bits 63:25
//!                         n + y       b = n + y - 32 y
//!                                     (n: the nanoseconds' upper 21 bits)
//! ```
//!
//! What is subtracted in cycle 3 is kept inverted: registers invert for nothing, carry chains do not. Reset leaves
//! minus one there, so that what follows is reset one cycle longer.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | ptp_ts_96 | in | 96 | PTP time of day: seconds in 95:48, nanoseconds in 45:16, fraction in 15:0; 47:46 are ignored |
//! | ptp_ts | out | 64 | the same moment in PTP relative-64 |
//!
//! Latency four cycles, one value a cycle: a clock that runs through is four cycles late. No parameters.
//!
//! Cost before placement (`cargo xtask cost`): iCE40 254 LUT4, 394 flip-flops;
//! ECP5 349 LUT4, 394 flip-flops.
//!
//! # Test plan
//!
//! `sim/cosim`: random moments, one a cycle; single bits of the seconds; all seconds' and nanoseconds' bits set; a
//! clock that runs over full seconds and over the wrap of relative-64; reserved bits as noise.

use crate::leaves::Flop;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct TimeOfDay {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub ptp_ts_96: Signal<In, Bits<96>>,
    pub ptp_ts: Signal<Out, Bits<64>>,

    seconds: Signal<Local, Bits<39>>,
    times_5: Flop<Bits<39>>,
    /// Nanoseconds and fraction.
    below_1: Flop<Bits<46>>,

    five_22: Signal<Local, Bits<22>>,
    five_30: Signal<Local, Bits<30>>,
    five_34: Signal<Local, Bits<34>>,
    nanoseconds: Signal<Local, Bits<39>>,
    product_25: Signal<Local, Bits<30>>,
    times_15: Flop<Bits<22>>,
    not_times_25: Flop<Bits<30>>,
    not_times_5: Flop<Bits<34>>,
    whole_2: Flop<Bits<39>>,
    below_2: Flop<Bits<25>>,

    shifted_15: Signal<Local, Bits<30>>,
    times_25: Signal<Local, Bits<30>>,
    five_late: Signal<Local, Bits<34>>,
    shifted_5: Signal<Local, Bits<39>>,
    upper: Flop<Bits<30>>,
    whole_3: Flop<Bits<39>>,
    below_3: Flop<Bits<25>>,

    shifted_upper: Signal<Local, Bits<39>>,
    sum: Flop<Bits<39>>,
    below_4: Flop<Bits<25>>,

    was_reset: Flop<Bit>,
}

impl Logic for TimeOfDay {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            times_5,
            below_1,
            times_15,
            not_times_25,
            not_times_5,
            whole_2,
            below_2,
            upper,
            whole_3,
            below_3,
            sum,
            below_4,
            was_reset
        );
        self.times_5.rst.next = self.rst.val();
        self.below_1.rst.next = self.rst.val();
        self.times_15.rst.next = self.rst.val();
        self.not_times_25.rst.next = self.rst.val();
        self.not_times_5.rst.next = self.rst.val();
        self.whole_2.rst.next = self.rst.val();
        self.below_2.rst.next = self.rst.val();
        self.upper.rst.next = self.rst.val() | self.was_reset.q.val();
        self.whole_3.rst.next = self.rst.val() | self.was_reset.q.val();
        self.below_3.rst.next = self.rst.val();
        self.sum.rst.next = self.rst.val();
        self.below_4.rst.next = self.rst.val();
        self.was_reset.rst.next = false;
        self.was_reset.d.next = self.rst.val();

        // Cycle 1.
        self.seconds.next = self.ptp_ts_96.val().get_bits::<39>(48);
        self.times_5.d.next = self.seconds.val() + (self.seconds.val() << 2);
        self.below_1.d.next = self.ptp_ts_96.val().get_bits::<46>(0);

        // Cycle 2. What the shifts of cycles 3 and 4 push out is not built.
        self.five_22.next = self.times_5.q.val().get_bits::<22>(0);
        self.five_30.next = self.times_5.q.val().get_bits::<30>(0);
        self.five_34.next = self.times_5.q.val().get_bits::<34>(0);
        self.nanoseconds.next = bit_cast::<39, 21>(self.below_1.q.val().get_bits::<21>(25));
        self.product_25.next = self.five_30.val() + (self.five_30.val() << 2);
        self.times_15.d.next = self.five_22.val() + (self.five_22.val() << 1);
        self.not_times_25.d.next = !self.product_25.val();
        self.not_times_5.d.next = !self.five_34.val();
        self.whole_2.d.next = self.nanoseconds.val() + self.times_5.q.val();
        self.below_2.d.next = self.below_1.q.val().get_bits::<25>(0);

        // Cycle 3.
        self.shifted_15.next = bit_cast::<30, 22>(self.times_15.q.val()) << 8;
        self.times_25.next = !self.not_times_25.q.val();
        self.five_late.next = !self.not_times_5.q.val();
        self.shifted_5.next = bit_cast::<39, 34>(self.five_late.val()) << 5;
        self.upper.d.next = self.shifted_15.val() - self.times_25.val();
        self.whole_3.d.next = self.whole_2.q.val() - self.shifted_5.val();
        self.below_3.d.next = self.below_2.q.val();

        // Cycle 4.
        self.shifted_upper.next = bit_cast::<39, 30>(self.upper.q.val()) << 9;
        self.sum.d.next = self.whole_3.q.val() + self.shifted_upper.val();
        self.below_4.d.next = self.below_3.q.val();
        self.ptp_ts.next =
            (bit_cast::<64, 39>(self.sum.q.val()) << 25) | bit_cast::<64, 25>(self.below_4.q.val());
    }
}
