//! Byte crossing: bytes out of another clock's domain.
//!
//! # Theory of operation
//!
//! The other side holds each byte until the next one and changes `turn` with it. `turn` goes through two
//! flip-flops. When a change has come through, the byte has been stable for at least a cycle and is taken. These
//! flip-flops have no reset, and the other side needs none: whatever value `turn` has when a reset ends here counts
//! as already seen.
//!
//! **Constraint.** The other side must hold a byte for four cycles of this side's clock. No path from its
//! flip-flops into these may be longer than two cycles, so that a byte has arrived when its `turn` has come
//! through. `cargo xtask bitstream` limits the longest path between two clocks to one cycle. These paths have no
//! other timing to meet.
//! timing to meet.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock of this side; synchronous reset |
//! | octet, last, bad, turn | in | 8 + 1 + 1 + 1 | from the other side |
//! | tdata, tlast, tbad | out | 8 + 1 + 1 | AXI4-Stream, no tready |
//! | tvalid | out | 1 | |
//!
//! Latency two to three cycles from `turn` to `tvalid`, depending on the phase of the clocks. No parameters. Cost:
//! 14 flip-flops, 4 LUTs.
//!
//! # Test plan
//!
//! `sim/cosim/tests/board_rmii_tap.rs`: clocks of two PHYs that drift against this side's through all phases; every byte and every
//! timestamp.

use deltaline_hdl::leaves::Flop;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct ByteCrossing {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub octet: Signal<In, Bits<8>>,
    pub last: Signal<In, Bit>,
    pub bad: Signal<In, Bit>,
    pub turn: Signal<In, Bit>,
    pub tdata: Signal<Out, Bits<8>>,
    pub tlast: Signal<Out, Bit>,
    pub tbad: Signal<Out, Bit>,
    pub tvalid: Signal<Out, Bit>,

    meeting: Flop<Bit>,
    met: Flop<Bit>,
    seen: Flop<Bit>,
    octet_here: Flop<Bits<8>>,
    last_here: Flop<Bit>,
    bad_here: Flop<Bit>,
    is_there: Flop<Bit>,
    comes: Signal<Local, Bit>,
}

impl Logic for ByteCrossing {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, meeting, met, seen, octet_here, last_here, bad_here, is_there);
        self.is_there.rst.next = self.rst.val();
        // These follow `turn`; see above.
        self.meeting.rst.next = false;
        self.met.rst.next = false;
        self.seen.rst.next = false;
        // Written before they are read.
        self.octet_here.rst.next = false;
        self.last_here.rst.next = false;
        self.bad_here.rst.next = false;

        self.meeting.d.next = self.turn.val();
        self.met.d.next = self.meeting.q.val();
        self.seen.d.next = self.met.q.val();
        self.comes.next = self.met.q.val() ^ self.seen.q.val();
        self.is_there.d.next = self.comes.val();
        if self.comes.val() {
            self.octet_here.d.next = self.octet.val();
            self.last_here.d.next = self.last.val();
            self.bad_here.d.next = self.bad.val();
        }
        self.tdata.next = self.octet_here.q.val();
        self.tlast.next = self.last_here.q.val();
        self.tbad.next = self.bad_here.q.val();
        self.tvalid.next = self.is_there.q.val();
    }
}
