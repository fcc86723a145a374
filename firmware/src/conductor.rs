//! Conductor: begins and ends intervals, and puts settings into force between them.
//!
//! # Theory of operation
//!
//! ```text
//! off -> load -> begin -> flow -> settle -> cut -> tell -> load, begin or off
//! ```
//!
//! An interval flows until all its packets are sent and none is under way. The clock then stands still until the
//! next interval begins. The interval is cut at both cores at once, after the control frames of the previous
//! interval have left. Then the truth about it is reported (state `tell`), and the next interval begins while the
//! cores send their frames.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | running | in | 1 | both cores count |
//! | pending | in | 1 | there are new settings |
//! | intervals | in | 16 | of the settings in force: how many intervals; 65535 means without end |
//! | idle | in | 1 | all packets are sent |
//! | quiet | in | 1 | none is under way |
//! | drained | in | 1 | the records have left |
//! | told | in | 1 | the truth has left |
//! | take | out | 1 | put the new settings into force |
//! | load | out | 1 | take their seed, after take |
//! | go | out | 1 | begin an interval |
//! | flows | out | 1 | the clock advances |
//! | cut | out | 1 | end the interval |
//! | clear | out | 1 | clear its truth |
//! | interval | out | 32 | its number |
//!
//! No parameters. Cost: about 70 flip-flops, 90 LUTs.
//!
//! # Test plan
//!
//! `sim/cosim/tests/board_selftest.rs`: numbers of intervals, settings that change between them, end, restart.

use deltaline_hdl::leaves::Flop;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Conductor {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub running: Signal<In, Bit>,
    pub pending: Signal<In, Bit>,
    pub intervals: Signal<In, Bits<16>>,
    pub idle: Signal<In, Bit>,
    pub quiet: Signal<In, Bit>,
    pub drained: Signal<In, Bit>,
    pub told: Signal<In, Bit>,
    pub take: Signal<Out, Bit>,
    pub load: Signal<Out, Bit>,
    pub go: Signal<Out, Bit>,
    pub flows: Signal<Out, Bit>,
    pub cut: Signal<Out, Bit>,
    pub clear: Signal<Out, Bit>,
    pub interval: Signal<Out, Bits<32>>,

    /// 0 off, 1 take, 2 load, 3 begin, 4 flow, 5 settle, 6 cut, 7 tell.
    state: Flop<Bits<3>>,
    left: Flop<Bits<16>>,
    is_flowing: Flop<Bit>,
    number: Flop<Bits<32>>,
    settling: Flop<Bits<7>>,
    clears: Flop<Bit>,
}

impl Logic for Conductor {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, state, left, is_flowing, number, settling, clears);
        self.state.rst.next = self.rst.val();
        self.is_flowing.rst.next = self.rst.val();
        self.number.rst.next = self.rst.val();
        self.clears.rst.next = self.rst.val();
        // Written before they are read.
        self.left.rst.next = false;
        self.settling.rst.next = false;

        // A cycle late, which keeps the truth's registers' enable short: no packet is sent as early as that.
        self.clears.d.next = (self.state.q.val() == 7) & self.told.val();
        self.settling.d.next = 0.into();
        match self.state.q.val().index() {
            0 => {
                if self.running.val() & self.pending.val() {
                    self.state.d.next = 1.into();
                }
            }
            1 => {
                self.state.d.next = 2.into();
            }
            2 => {
                self.left.d.next = self.intervals.val();
                self.state.d.next = 3.into();
                if !self.intervals.val().any() {
                    self.state.d.next = 0.into();
                }
            }
            3 => {
                self.is_flowing.d.next = true;
                self.state.d.next = 4.into();
            }
            4 => {
                if self.idle.val() & self.quiet.val() {
                    self.is_flowing.d.next = false;
                    self.state.d.next = 5.into();
                }
            }
            5 => {
                // Longer than a core takes to record a packet.
                self.settling.d.next = self.settling.q.val();
                if !self.settling.q.val().get_bit(6) {
                    self.settling.d.next = self.settling.q.val() + 1;
                }
                if self.settling.q.val().get_bit(6) & self.drained.val() {
                    self.state.d.next = 6.into();
                }
            }
            6 => {
                self.state.d.next = 7.into();
            }
            _ => {
                if self.told.val() {
                    self.number.d.next = self.number.q.val() + 1;
                    self.state.d.next = 3.into();
                    if !self.left.q.val().all() {
                        self.left.d.next = self.left.q.val() - 1;
                        if self.left.q.val() == 1 {
                            self.state.d.next = 0.into();
                        }
                    }
                    if self.pending.val() {
                        self.state.d.next = 1.into();
                    }
                }
            }
        }

        self.take.next = self.state.q.val() == 1;
        self.load.next = self.state.q.val() == 2;
        self.go.next = self.state.q.val() == 3;
        self.flows.next = self.is_flowing.q.val();
        self.cut.next = self.state.q.val() == 6;
        self.clear.next = self.clears.q.val();
        self.interval.next = self.number.q.val();
    }
}
