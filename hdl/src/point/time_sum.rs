//! Time sum: the sum of the timestamps of an interval's packets of one class, sampled or not.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::wire::frame::Totals::time_sum`: 48-bit nanoseconds are added modulo 2^64. The sum is cut into
//! segments of 24, 24 and 16 bits; each works one cycle behind the one below and takes over its carry, so that no adder
//! is longer than 27 bits. When an interval ends, each segment moves into a register that holds still for the drain, and
//! starts from zero, in its own cycle. Several lanes may bring a packet each in one cycle: both halves of their
//! timestamps arrive added up, and what they have above 24 bits goes to the segment above.
//!
//! ```text
//! cycle 1   low half, high half
//! cycle 2   low + low half             high half + low half's upper bits
//! cycle 3         carry ---------> middle + that
//! cycle 4                                 carry ------------> high + that one's upper bits
//! ```
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | ends | in | 1 | the interval ends behind this cycle |
//! | low_now, high_now | in | 26 | of this cycle's packets, 0..=4: the sums of their nanoseconds' bits 23:0 and 47:24 |
//! | ended | out | 64 | the sum of the interval that ended last, from five cycles behind its end on |
//!
//! Latency four cycles, any number of packets. No parameters.
//!
//! Cost: `docs/report.md`, by module.
//!
//! # Test plan
//!
//! `sim/cosim`, with the cores: carries of every segment with the sum preloaded; random timestamps; packets on both sides of
//! every boundary.

use crate::leaves::Flop;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct TimeSum {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub ends: Signal<In, Bit>,
    pub low_now: Signal<In, Bits<26>>,
    pub high_now: Signal<In, Bits<26>>,
    pub ended: Signal<Out, Bits<64>>,

    /// What is added.
    low_half: Flop<Bits<26>>,
    high_half: Flop<Bits<26>>,
    addend_middle: Flop<Bits<27>>,
    addend_high: Flop<Bits<3>>,
    /// The interval ended one cycle ago, two, three.
    ended_low: Flop<Bit>,
    ended_middle: Flop<Bit>,
    ended_high: Flop<Bit>,

    /// The running interval.
    low: Flop<Bits<24>>,
    low_carry: Flop<Bit>,
    middle: Flop<Bits<24>>,
    middle_carry: Flop<Bit>,
    high: Flop<Bits<16>>,

    /// The interval that ended last.
    old_low: Flop<Bits<24>>,
    old_middle: Flop<Bits<24>>,
    old_high: Flop<Bits<16>>,

    low_sum: Signal<Local, Bits<25>>,
    // One bit longer below, where the carry enters.
    middle_left: Signal<Local, Bits<26>>,
    middle_right: Signal<Local, Bits<26>>,
    middle_sum: Signal<Local, Bits<26>>,
    high_left: Signal<Local, Bits<17>>,
    high_right: Signal<Local, Bits<17>>,
    high_sum: Signal<Local, Bits<17>>,
}

impl Logic for TimeSum {
    #[clocked(
        low_half,
        high_half,
        addend_middle,
        addend_high,
        ended_low,
        ended_middle,
        ended_high,
        low,
        low_carry,
        middle,
        middle_carry,
        high,
        old_low,
        old_middle,
        old_high
    )]
    fn update(&mut self) {
        // Cycle 1.
        self.low_half.d.next = self.low_now.val();
        self.high_half.d.next = self.high_now.val();
        self.ended_low.d.next = self.ends.val();

        // Cycle 2: the low segment.
        self.low_sum.next = bit_cast::<25, 24>(self.low.q.val())
            + bit_cast::<25, 24>(self.low_half.q.val().get_bits::<24>(0));
        self.low.d.next = self.low_sum.val().get_bits::<24>(0);
        self.low_carry.d.next = self.low_sum.val().get_bit(24);
        if self.ended_low.q.val() {
            self.old_low.d.next = self.low_sum.val().get_bits::<24>(0);
            self.low.d.next = 0.into();
        }
        self.addend_middle.d.next = bit_cast::<27, 26>(self.high_half.q.val())
            + bit_cast::<27, 2>(self.low_half.q.val().get_bits::<2>(24));
        self.ended_middle.d.next = self.ended_low.q.val();

        // Cycle 3: the middle one.
        self.middle_left.next = (bit_cast::<26, 24>(self.middle.q.val()) << 1) | 1;
        self.middle_right.next = bit_cast::<26, 24>(self.addend_middle.q.val().get_bits::<24>(0)) << 1;
        if self.low_carry.q.val() {
            self.middle_right.next = self.middle_right.val() | 1;
        }
        self.middle_sum.next = self.middle_left.val() + self.middle_right.val();
        self.middle.d.next = self.middle_sum.val().get_bits::<24>(1);
        self.middle_carry.d.next = self.middle_sum.val().get_bit(25);
        if self.ended_middle.q.val() {
            self.old_middle.d.next = self.middle_sum.val().get_bits::<24>(1);
            self.middle.d.next = 0.into();
        }
        self.addend_high.d.next = self.addend_middle.q.val().get_bits::<3>(24);
        self.ended_high.d.next = self.ended_middle.q.val();

        // Cycle 4: the high one.
        self.high_left.next = (bit_cast::<17, 16>(self.high.q.val()) << 1) | 1;
        self.high_right.next = bit_cast::<17, 3>(self.addend_high.q.val()) << 1;
        if self.middle_carry.q.val() {
            self.high_right.next = self.high_right.val() | 1;
        }
        self.high_sum.next = self.high_left.val() + self.high_right.val();
        self.high.d.next = self.high_sum.val().get_bits::<16>(1);
        if self.ended_high.q.val() {
            self.old_high.d.next = self.high_sum.val().get_bits::<16>(1);
            self.high.d.next = 0.into();
        }

        self.ended.next = bit_cast::<64, 24>(self.old_low.q.val())
            | (bit_cast::<64, 24>(self.old_middle.q.val()) << 24)
            | (bit_cast::<64, 16>(self.old_high.q.val()) << 48);
    }
}
