//! Pacer: decides when the sender's packets go, and how many.
//!
//! # Theory of operation
//!
//! A packet starts 24 cycles and its gap after the last byte of the one before, as on a link of one byte a cycle: 4
//! for the check sequence, 8 of preamble, 12 of least gap. The plan is drawn in that time. If the delay line is
//! full, the packet waits until there is room.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | go | in | 1 | send an interval's packets |
//! | packets | in | 32 | how many |
//! | gap_now | in | 17 | see [`crate::plan`] |
//! | full | in | 1 | the delay line is full |
//! | ends | in | 1 | the packet ends |
//! | start | out | 1 | send a packet |
//! | held | out | 1 | a packet begins to wait |
//! | idle | out | 1 | all packets are sent |
//!
//! No parameters. Cost: about 60 flip-flops, 110 LUTs.
//!
//! # Test plan
//!
//! `sim/cosim/tests/board_selftest.rs`: timestamps of back-to-back, spread and held packets against the twin.

use deltaline_hdl::leaves::Flop;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Pacer {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub go: Signal<In, Bit>,
    pub packets: Signal<In, Bits<32>>,
    pub gap_now: Signal<In, Bits<17>>,
    pub full: Signal<In, Bit>,
    pub ends: Signal<In, Bit>,
    pub start: Signal<Out, Bit>,
    pub held: Signal<Out, Bit>,
    pub idle: Signal<Out, Bit>,

    /// 0 idle, 1 least gap, 2 the packet's own gap, 3 room in the line, 4 the packet.
    state: Flop<Bits<3>>,
    rest: Flop<Bits<5>>,
    gap: Flop<Bits<17>>,
    remaining: Flop<Bits<32>>,
    /// What remains behind this packet: subtracting takes long, and there is time.
    others: Flop<Bits<32>>,
    is_final: Flop<Bit>,
    is_held: Flop<Bit>,
    starts: Signal<Local, Bit>,
    holds: Signal<Local, Bit>,
}

impl Logic for Pacer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, state, rest, gap, remaining, others, is_final, is_held);
        self.state.rst.next = self.rst.val();
        self.is_held.rst.next = self.rst.val();
        // Written before they are read.
        self.rest.rst.next = false;
        self.gap.rst.next = false;
        self.remaining.rst.next = false;
        self.others.rst.next = false;
        self.is_final.rst.next = false;

        self.starts.next = (self.state.q.val() == 3) & !self.full.val();
        self.holds.next = (self.state.q.val() == 3) & self.full.val() & !self.is_held.q.val();
        self.others.d.next = self.remaining.q.val() - 1;
        self.is_final.d.next = self.remaining.q.val() == 1;
        self.rest.d.next = self.rest.q.val() + 1;
        match self.state.q.val().index() {
            0 => {
                self.rest.d.next = 0.into();
                self.remaining.d.next = self.packets.val();
                if self.go.val() {
                    self.state.d.next = 1.into();
                }
            }
            1 => {
                if self.rest.q.val() == 21 {
                    self.gap.d.next = self.gap_now.val();
                    self.state.d.next = 2.into();
                }
            }
            2 => {
                self.gap.d.next = self.gap.q.val() - 1;
                if !self.gap.q.val().any() {
                    self.state.d.next = 3.into();
                }
            }
            3 => {
                self.is_held.d.next = true;
                if self.starts.val() {
                    self.is_held.d.next = false;
                    self.state.d.next = 4.into();
                }
            }
            _ => {
                if self.ends.val() {
                    self.rest.d.next = 0.into();
                    self.remaining.d.next = self.others.q.val();
                    self.state.d.next = 1.into();
                    if self.is_final.q.val() {
                        self.state.d.next = 0.into();
                    }
                }
            }
        }
        self.start.next = self.starts.val();
        self.held.next = self.holds.val();
        self.idle.next = self.state.q.val() == 0;
    }
}
