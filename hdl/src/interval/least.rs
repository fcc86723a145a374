//! Least: the least length of an interval.
//!
//! # Theory of operation
//!
//! Whoever forges ends, or holds a pin, may cut intervals as short as a drain. An end starts a count of `least` cycles, and until
//! they are over the next end comes too soon. The count goes down to zero and stays there; that an end comes too soon is known
//! from a register, a cycle behind it. The end itself is held for a cycle, so that no path from what is judged goes through the
//! count; in these three cycles the end is on its way, and no other can be.
//!
//! ```text
//! cycle   0      1      2      3          4                least
//! ends    ▔▔▔▔▔▔▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
//! left    0      0      least  least - 1  least - 2 ... 3  2      1
//! soon    ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▁▁▁▁▁▁▁▁▁
//! ```
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | least | in | 32 | cycles from an end to the next; taken a cycle behind `ends`; 0 for none |
//! | ends | in | 1 | an interval ends; not in the two cycles behind |
//! | soon | out | 1 | from the third cycle behind `ends` to the last before `least`: an end would come too soon |
//!
//! Latency as drawn. No parameters. Cost before placement: iCE40 75 LUT4, 35 flip-flops.
//!
//! # Test plan
//!
//! `sim/cosim`, with the cores of every width: ends of every kind in storms, whose fate is known from the distance of the last that
//! counted alone; planted faults.

use crate::leaves::Flop;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Least {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub least: Signal<In, Bits<32>>,
    pub ends: Signal<In, Bit>,
    pub soon: Signal<Out, Bit>,

    has_ended: Flop<Bit>,
    left: Flop<Bits<32>>,
    too_soon: Flop<Bit>,
}

impl Logic for Least {
    #[clocked(has_ended, left, too_soon)]
    fn update(&mut self) {
        self.has_ended.d.next = self.ends.val();
        if self.left.q.val().any() {
            self.left.d.next = self.left.q.val() - 1;
        }
        if self.has_ended.q.val() {
            self.left.d.next = self.least.val();
        }
        // Three left: the next cycle is the first that may end.
        self.too_soon.d.next = self.left.q.val().get_bits::<30>(2).any();
        self.soon.next = self.too_soon.q.val();
    }
}
