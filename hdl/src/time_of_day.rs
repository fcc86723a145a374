//! Time of day: relative-64 from a time-of-day-96 clock.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::clock::TimeOfDayConverter`: (seconds x 10^9 + nanoseconds) modulo 2^48. As
//! 10^9 = 2^9 x 5^9, only 39 bits of the seconds and of every sum count, and the lowest 9 bits of the nanoseconds
//! and the fraction pass through. The constant is built of few additions:
//!
//! ```text
//! 5^9 = 5 x (2^9 x (3 x 2^8 - 5) - 31)
//!
//! cycle      1            2                  3                          4
//!        y = 5 seconds    3 y, 5 y    a = 3 y x 2^8 - 5 y      b + a x 2^9  -> bits 63:25
//!                         31 y        b = nanoseconds - 31 y
//! ```
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
//! Cost before placement (`cargo xtask cost`): COST
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

    times_5_times_3: Flop<Bits<22>>,
    times_5_times_5: Flop<Bits<30>>,
    times_5_times_31: Flop<Bits<39>>,
    below_2: Flop<Bits<46>>,

    upper: Flop<Bits<30>>,
    whole: Flop<Bits<39>>,
    below_3: Flop<Bits<25>>,

    sum: Flop<Bits<39>>,
    below_4: Flop<Bits<25>>,

    five_22: Signal<Local, Bits<22>>,
    five_30: Signal<Local, Bits<30>>,
    three: Signal<Local, Bits<30>>,
    nanoseconds: Signal<Local, Bits<39>>,
    shifted: Signal<Local, Bits<39>>,
}

impl Logic for TimeOfDay {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            times_5,
            below_1,
            times_5_times_3,
            times_5_times_5,
            times_5_times_31,
            below_2,
            upper,
            whole,
            below_3,
            sum,
            below_4
        );
        self.times_5.rst.next = self.rst.val();
        self.below_1.rst.next = self.rst.val();
        self.times_5_times_3.rst.next = self.rst.val();
        self.times_5_times_5.rst.next = self.rst.val();
        self.times_5_times_31.rst.next = self.rst.val();
        self.below_2.rst.next = self.rst.val();
        self.upper.rst.next = self.rst.val();
        self.whole.rst.next = self.rst.val();
        self.below_3.rst.next = self.rst.val();
        self.sum.rst.next = self.rst.val();
        self.below_4.rst.next = self.rst.val();

        // Cycle 1.
        self.seconds.next = self.ptp_ts_96.val().get_bits::<39>(48);
        self.times_5.d.next = self.seconds.val() + (self.seconds.val() << 2);
        self.below_1.d.next = self.ptp_ts_96.val().get_bits::<46>(0);

        // Cycle 2. What the shifts of cycles 3 and 4 push out is not built.
        self.five_22.next = self.times_5.q.val().get_bits::<22>(0);
        self.five_30.next = self.times_5.q.val().get_bits::<30>(0);
        self.times_5_times_3.d.next = self.five_22.val() + (self.five_22.val() << 1);
        self.times_5_times_5.d.next = self.five_30.val() + (self.five_30.val() << 2);
        self.times_5_times_31.d.next = (self.times_5.q.val() << 5) - self.times_5.q.val();
        self.below_2.d.next = self.below_1.q.val();

        // Cycle 3.
        self.three.next = bit_cast::<30, 22>(self.times_5_times_3.q.val()) << 8;
        self.upper.d.next = self.three.val() - self.times_5_times_5.q.val();
        self.nanoseconds.next = bit_cast::<39, 21>(self.below_2.q.val().get_bits::<21>(25));
        self.whole.d.next = self.nanoseconds.val() - self.times_5_times_31.q.val();
        self.below_3.d.next = self.below_2.q.val().get_bits::<25>(0);

        // Cycle 4.
        self.shifted.next = bit_cast::<39, 30>(self.upper.q.val()) << 9;
        self.sum.d.next = self.whole.q.val() + self.shifted.val();
        self.below_4.d.next = self.below_3.q.val();
        self.ptp_ts.next =
            (bit_cast::<64, 39>(self.sum.q.val()) << 25) | bit_cast::<64, 25>(self.below_4.q.val());
    }
}
