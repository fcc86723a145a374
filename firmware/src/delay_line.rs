//! Delay line: decides when the receiver's packets go.
//!
//! # Theory of operation
//!
//! For each packet under way, a memory holds when it was sent. The receiver's [plan](crate::plan) knows its
//! content. A packet goes when its delay has passed, its plan is drawn and the packet before it ended 24 cycles
//! ago. So packets never overtake each other. Lost packets never enter the memory; the plan passes over them.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | restart | in | 1 | the plan is loaded again; the line must be quiet |
//! | push | in | 1 | a packet that is not lost starts at the sender |
//! | now | in | 18 | clock, in cycles |
//! | delay | in | 16 | least delay; below 16 it counts as 16 |
//! | known, ready, lost | in | 1 | see [`crate::plan`] |
//! | jitter | in | 15 | |
//! | ends | in | 1 | the receiver's packet ends |
//! | advance | out | 1 | draw the next packet |
//! | start | out | 1 | send the packet |
//! | sent | out | 18 | when the packet that is being sent passed the sender |
//! | full | out | 1 | 256 packets are under way |
//! | quiet | out | 1 | none is |
//!
//! A packet's first byte comes `delay` + `jitter` cycles after its first byte at the sender, if nothing holds it
//! up. No parameters. Cost: two block RAMs (256 x 18), about 120 flip-flops, 140 LUTs.
//!
//! # Test plan
//!
//! `sim/cosim/tests/board_selftest.rs`: sums of delays and of their squares, least and greatest, with delays from the least to the
//! greatest, jitter that holds packets up, bursts of losses, and a full line.

use deltaline_hdl::leaves::{Flop, Ram};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct DelayLine {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub restart: Signal<In, Bit>,
    pub push: Signal<In, Bit>,
    pub now: Signal<In, Bits<18>>,
    pub delay: Signal<In, Bits<16>>,
    pub known: Signal<In, Bit>,
    pub ready: Signal<In, Bit>,
    pub lost: Signal<In, Bit>,
    pub jitter: Signal<In, Bits<15>>,
    pub ends: Signal<In, Bit>,
    pub advance: Signal<Out, Bit>,
    pub start: Signal<Out, Bit>,
    pub sent: Signal<Out, Bits<18>>,
    pub full: Signal<Out, Bit>,
    pub quiet: Signal<Out, Bit>,

    ram: Ram<18, 8, false>,
    head: Flop<Bits<8>>,
    tail: Flop<Bits<8>>,
    count: Flop<Bits<9>>,
    /// 0 plan, 1 entry, 2 read it, 3 compare, 4 its time, 5 the packet.
    state: Flop<Bits<3>>,
    least: Flop<Bits<16>>,
    whole: Flop<Bits<17>>,
    due: Flop<Bits<18>>,
    sent_at: Flop<Bits<18>>,
    reached: Flop<Bit>,
    is_quiet: Flop<Bit>,
    difference: Signal<Local, Bits<18>>,
    pops: Signal<Local, Bit>,
    passes_over: Signal<Local, Bit>,
    finishes: Signal<Local, Bit>,
    starts: Signal<Local, Bit>,
}

impl Logic for DelayLine {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, head, tail, count, state, least, whole, due, sent_at, reached, is_quiet);
        self.head.rst.next = self.rst.val();
        self.tail.rst.next = self.rst.val();
        self.count.rst.next = self.rst.val();
        self.state.rst.next = self.rst.val();
        // Written before they are read.
        self.least.rst.next = false;
        self.whole.rst.next = false;
        self.due.rst.next = false;
        self.sent_at.rst.next = false;
        self.reached.rst.next = false;
        self.is_quiet.rst.next = false;

        self.ram.clk.next = self.clk.val();
        self.ram.write_enable.next = self.push.val();
        self.ram.write_address.next = self.head.q.val();
        self.ram.write_data.next = self.now.val();
        self.ram.read_address.next = self.tail.q.val();

        // Three cycles pass from the comparison to the first byte.
        self.least.d.next = self.delay.val() - 3;
        if !self.delay.val().get_bits::<12>(4).any() {
            self.least.d.next = 13.into();
        }
        self.whole.d.next = bit_cast::<17, 16>(self.least.q.val()) + bit_cast::<17, 15>(self.jitter.val());
        self.difference.next = self.now.val() - self.due.q.val();
        self.reached.d.next = !self.difference.val().get_bit(17);

        self.passes_over.next = (self.state.q.val() == 0) & self.known.val() & self.lost.val();
        self.finishes.next = (self.state.q.val() == 5) & self.ends.val();
        self.pops.next = self.state.q.val() == 2;
        self.starts.next = (self.state.q.val() == 4) & self.reached.q.val() & self.ready.val();
        match self.state.q.val().index() {
            0 => {
                if self.known.val() & !self.lost.val() {
                    self.state.d.next = 1.into();
                }
            }
            1 => {
                if self.count.q.val().any() {
                    self.state.d.next = 2.into();
                }
            }
            2 => {
                self.sent_at.d.next = self.ram.read_data.val();
                self.due.d.next = self.ram.read_data.val() + bit_cast::<18, 17>(self.whole.q.val());
                self.tail.d.next = self.tail.q.val() + 1;
                self.state.d.next = 3.into();
            }
            3 => {
                self.state.d.next = 4.into();
            }
            4 => {
                if self.starts.val() {
                    self.state.d.next = 5.into();
                }
            }
            _ => {
                if self.ends.val() {
                    self.state.d.next = 0.into();
                }
            }
        }
        if self.restart.val() {
            self.state.d.next = 0.into();
        }
        if self.push.val() {
            self.head.d.next = self.head.q.val() + 1;
        }
        if self.push.val() & !self.pops.val() {
            self.count.d.next = self.count.q.val() + 1;
        }
        if self.pops.val() & !self.push.val() {
            self.count.d.next = self.count.q.val() - 1;
        }
        self.is_quiet.d.next =
            !self.count.q.val().any() & ((self.state.q.val() == 0) | (self.state.q.val() == 1));

        self.advance.next = self.passes_over.val() | self.finishes.val();
        self.start.next = self.starts.val();
        self.sent.next = self.sent_at.q.val();
        self.full.next = self.count.q.val().get_bit(8);
        self.quiet.next = self.is_quiet.q.val();
    }
}
