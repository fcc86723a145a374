//! Frame count: a saturating counter of an interval's frames of one kind.
//!
//! # Theory of operation
//!
//! The 32-bit count is added in two halves of 16 bits. The carry between them is kept for a cycle, so the upper half
//! works one cycle behind the lower; it also notices that the count runs over, and from then on the count is all
//! ones until its interval ends. When an interval ends the count moves into registers that hold still, the lower
//! half at once and the upper half a cycle later, and starts from zero; one that ran over becomes all ones another
//! cycle later.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | frames | in | 3 | frames in this cycle, 0..=4 |
//! | ends | in | 1 | the interval ends behind this cycle |
//! | count | out | 32 | the running interval's frames as of two cycles ago |
//! | ended | out | 32 | those of the interval that ended last, from three cycles behind its end on |
//!
//! Latency two cycles, any number of frames. No parameters. Where nobody looks at `ended`, synthesis leaves its
//! registers out.
//!
//! Cost: `docs/report.md`, by module.
//!
//! # Test plan
//!
//! `sim/cosim`, alone and with the whole core: the carry between the halves, saturation in the last cycles of an interval and
//! long before, with the counters preloaded; what is shown while it counts.

use crate::leaves::Flop;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct FrameCount {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub frames: Signal<In, Bits<3>>,
    pub ends: Signal<In, Bit>,
    pub count: Signal<Out, Bits<32>>,
    pub ended: Signal<Out, Bits<32>>,

    /// The running interval; the upper half is one cycle behind.
    low: Flop<Bits<16>>,
    carry: Flop<Bit>,
    high: Flop<Bits<16>>,
    /// The count ran over.
    full: Flop<Bit>,
    /// The interval ended one cycle ago.
    just_ended: Flop<Bit>,
    /// The lower half as late as the upper one.
    shown_low: Flop<Bits<16>>,
    /// The interval that ended last.
    old_low: Flop<Bits<16>>,
    old_high: Flop<Bits<16>>,
    /// It ran over, as was noticed in the cycle before.
    old_full: Flop<Bit>,

    sum: Signal<Local, Bits<17>>,
    sum_high: Signal<Local, Bits<17>>,
    is_full: Signal<Local, Bit>,
    shown: Signal<Local, Bits<32>>,
}

impl Logic for FrameCount {
    #[clocked(low, carry, high, full, just_ended, shown_low, old_low, old_high, old_full)]
    fn update(&mut self) {
        self.sum.next = bit_cast::<17, 16>(self.low.q.val()) + bit_cast::<17, 3>(self.frames.val());
        self.low.d.next = self.sum.val().get_bits::<16>(0);
        self.carry.d.next = self.sum.val().get_bit(16);
        if self.ends.val() {
            self.old_low.d.next = self.sum.val().get_bits::<16>(0);
            self.low.d.next = 0.into();
        }

        // One cycle later, of the interval that was running then.
        self.just_ended.d.next = self.ends.val();
        self.sum_high.next = bit_cast::<17, 16>(self.high.q.val());
        if self.carry.q.val() {
            self.sum_high.next = bit_cast::<17, 16>(self.high.q.val()) + 1;
        }
        self.is_full.next = self.full.q.val() | self.sum_high.val().get_bit(16);
        self.high.d.next = self.sum_high.val().get_bits::<16>(0);
        self.full.d.next = self.is_full.val();
        self.old_full.d.next = self.just_ended.q.val() & self.is_full.val();
        if self.just_ended.q.val() {
            self.old_high.d.next = self.sum_high.val().get_bits::<16>(0);
            self.high.d.next = 0.into();
            self.full.d.next = false;
        }
        if self.old_full.q.val() {
            self.old_low.d.next = 0xffff.into();
            self.old_high.d.next = 0xffff.into();
        }

        self.shown_low.d.next = self.low.q.val();
        self.shown.next =
            bit_cast::<32, 16>(self.shown_low.q.val()) | (bit_cast::<32, 16>(self.high.q.val()) << 16);
        if self.full.q.val() {
            self.shown.next = 0xffff_ffff_u64.into();
        }
        self.count.next = self.shown.val();
        self.ended.next =
            bit_cast::<32, 16>(self.old_low.q.val()) | (bit_cast::<32, 16>(self.old_high.q.val()) << 16);
    }
}
