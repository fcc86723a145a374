//! Least: the least length of an interval.
//!
//! # Theory of operation
//!
//! Whoever forges ends, or holds a pin, may cut intervals as short as a drain. An end starts a count of `least` cycles, and until
//! they are over the next end comes too soon. The count goes down to zero and stays there; that an end comes too soon is known
//! from a register, a cycle behind it.
//!
//! ```text
//! cycle   0      1      2          3                least
//! ends    ▔▔▔▔▔▔▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
//! left    0      least  least - 1  least - 2 ... 2  1
//! soon    ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▁▁▁▁▁▁▁▁
//! ```
//!
//! A core whose ends come out of long logic tells them a cycle late, from a register. The count is then one behind, and the last
//! cycle that is too soon is known from three left instead of two.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | least | in | 32 | cycles from an end to the next; taken with `ends`; 0 for none |
//! | ends | in | 1 | an interval ends, or, with `late`, ended in the cycle before |
//! | soon | out | 1 | from the second cycle behind `ends` to the last before `least`: an end would come too soon |
//!
//! Latency as drawn. Parameter: `late`, whether `ends` comes a cycle behind the end. Cost before placement: iCE40 75 LUT4, 33 flip-flops.
//!
//! # Test plan
//!
//! `sim/cosim`, with the cores of every width: ends of every kind in storms, whose fate is known from the distance of the last that
//! counted alone; planted faults.

use crate::leaves::Flop;
use crate::module::module;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Least {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub least: Signal<In, Bits<32>>,
    pub ends: Signal<In, Bit>,
    pub soon: Signal<Out, Bit>,

    late: Constant<Bits<1>>,
    left: Flop<Bits<32>>,
    too_soon: Flop<Bit>,
}

impl Least {
    /// Whether `ends` comes a cycle behind the end.
    pub(crate) fn new(late: bool) -> Self {
        module! { Least { late: Constant::new(u64::from(late).into()) } clk rst least ends soon left too_soon }
    }
}

impl Logic for Least {
    #[clocked(left, too_soon)]
    fn update(&mut self) {
        if self.left.q.val().any() {
            self.left.d.next = self.left.q.val() - 1;
        }
        if self.ends.val() {
            self.left.d.next = self.least.val();
        }
        // Two left, or three if the end is told late: the next cycle is the first that may end.
        self.too_soon.d.next = self.left.q.val().get_bits::<30>(2).any()
            | (self.left.q.val().get_bits::<2>(0).all() & !self.late.val().any());
        self.soon.next = self.too_soon.q.val();
    }
}
