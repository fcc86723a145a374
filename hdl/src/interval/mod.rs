//! Interval: when intervals end, and which copy counts.
//!
//! # Theory of operation
//!
//! An interval ends when an end is asked for (see [`crate::interval::boundary`]) or when a delimiter has been seen in the
//! stream that is the next one by the rules of the [succession]. The copies swap roles, and the drain
//! starts on the one that counted. If the drain is still busy with the interval before, the end is refused and counted, and the
//! running interval goes on. So is one that comes sooner behind the last than [`least`] allows.
//!
//! What ends an interval is known before its last frames are committed: it is judged [`AHEAD`] cycles ahead of them, and what comes
//! of it waits.
//!
//! After reset the drain first clears both copies; `running` says that counting starts. What comes before that is ignored.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | request | in | 1 | end the interval behind the frames that are committed [`AHEAD`] cycles later |
//! | delimiter$i, delimiter_number$i, delimiter_epoch$i | in | 1, 32, 32 | lane i: a delimiter that is committed then |
//! | keyed, due_signed$i, next_signed$i, due_ready, next_ready | in | 1 | as the succession's |
//! | running | in | 1 | the memories are clear |
//! | drain_busy | in | 1 | the drain still works on the idle copy |
//! | least | in | 32 | cycles from an end to the next, at least; taken when an interval ends; 0 for none |
//! | epoch | out | 1 | the copy that counts; changes behind the interval's last frame |
//! | start_drain | out | 1 | the cycle of the change |
//! | timed, missing, gap, refused, ignored, ignored_behind | out | 1, 1, 1, 3, 3, 3 | as the succession's, with start_drain |
//! | number | out | 32 | with start_drain, and until the next one: number of the interval that ends |
//! | begun | out | 32 | likewise: number of the interval that begins |
//! | due, due_epoch, next_number, next_epoch, due_changes, next_changes | out | | as the succession's |
//! | soon | out | 1 | an end would be refused because it comes too soon |
//! | running_number | out | 32 | number of the running interval, from the second cycle behind start_drain on |
//!
//! Parameter: L, lanes. Latency [`AHEAD`] cycles; ends at least one drain apart.
//!
//! # Test plan
//!
//! `sim/cosim`, with the core: ends at every distance from frames, during drains, by the clock, by delimiters,
//! during the clearing after reset. `hdl/formal/interval.v`.

pub mod boundary;
pub mod delimiter_match;
pub mod foresight;
pub mod least;
pub mod mixings;
pub mod order;
pub mod schedule;
pub mod succession;

use crate::interval::least::Least;
use crate::interval::succession::Succession;
use crate::leaves::{Delay, Flop};
use crate::module::module;
use deltaline_hdl_macros::{clocked, passes};
use rust_hdl_core::prelude::*;

/// Cycles from what ends an interval to the cycle in which it does.
pub const AHEAD: usize = 4;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Interval<const L: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub request: Signal<In, Bit>,
    pub delimiter: [Signal<In, Bit>; L],
    pub delimiter_number: [Signal<In, Bits<32>>; L],
    pub delimiter_epoch: [Signal<In, Bits<32>>; L],
    pub keyed: Signal<In, Bit>,
    pub due_signed: [Signal<In, Bit>; L],
    pub next_signed: [Signal<In, Bit>; L],
    pub due_ready: Signal<In, Bit>,
    pub next_ready: Signal<In, Bit>,
    pub running: Signal<In, Bit>,
    pub drain_busy: Signal<In, Bit>,
    pub least: Signal<In, Bits<32>>,
    pub epoch: Signal<Out, Bit>,
    pub start_drain: Signal<Out, Bit>,
    pub timed: Signal<Out, Bit>,
    pub missing: Signal<Out, Bit>,
    pub gap: Signal<Out, Bit>,
    pub refused: Signal<Out, Bits<3>>,
    pub ignored: Signal<Out, Bits<3>>,
    pub ignored_behind: Signal<Out, Bits<3>>,
    pub number: Signal<Out, Bits<32>>,
    pub begun: Signal<Out, Bits<32>>,
    pub running_number: Signal<Out, Bits<32>>,
    pub due: Signal<Out, Bits<32>>,
    pub due_epoch: Signal<Out, Bits<32>>,
    pub next_number: Signal<Out, Bits<32>>,
    pub next_epoch: Signal<Out, Bits<32>>,
    pub due_changes: Signal<Out, Bit>,
    pub next_changes: Signal<Out, Bit>,
    pub soon: Signal<Out, Bit>,

    succession: Succession<L>,
    /// The interval ended a cycle ago: no path from what is judged goes through the count of the least interval.
    has_ended: Flop<Bit>,
    length: Least,
    verdict: Signal<Local, Bits<13>>,
    to_end: Delay<13, 2>,
    /// An end is on its way.
    pending: Flop<Bit>,
    current: Flop<Bit>,
    shown: Flop<Bits<32>>,
}

impl<const L: usize> Default for Interval<L> {
    fn default() -> Self {
        module! { Interval { length: Least::new(true) }
            clk rst request keyed due_ready next_ready running drain_busy least epoch start_drain timed missing gap refused
            ignored ignored_behind number begun running_number due due_epoch next_number next_epoch due_changes
            next_changes soon succession has_ended verdict to_end pending current shown
            ; each delimiter delimiter_number delimiter_epoch due_signed next_signed
        }
    }
}

impl<const L: usize> Logic for Interval<L> {
    #[passes(
        succession,
        in(clk, rst, request, keyed, due_ready, next_ready, running),
        out(due, due_epoch, next_number, next_epoch, due_changes, next_changes)
    )]
    #[passes(length, in(clk, rst, least), out(soon))]
    #[clocked(has_ended, pending, current, shown)]
    fn update(&mut self) {
        for i in 0..L {
            self.succession.delimiter[i].next = self.delimiter[i].val();
            self.succession.delimiter_number[i].next = self.delimiter_number[i].val();
            self.succession.delimiter_epoch[i].next = self.delimiter_epoch[i].val();
            self.succession.due_signed[i].next = self.due_signed[i].val();
            self.succession.next_signed[i].next = self.next_signed[i].val();
        }
        self.has_ended.d.next = self.succession.ends.val();
        self.length.ends.next = self.has_ended.q.val();
        self.succession.busy.next = self.drain_busy.val() | self.pending.q.val() | self.length.soon.val();
        self.verdict.next = (bit_cast::<13, 3>(self.succession.refused.val()) << 4)
            | (bit_cast::<13, 3>(self.succession.ignored.val()) << 7)
            | (bit_cast::<13, 3>(self.succession.ignored_behind.val()) << 10);
        if self.succession.ends.val() {
            self.verdict.next = self.verdict.val() | 1;
        }
        if self.succession.timed.val() {
            self.verdict.next = self.verdict.val() | 2;
        }
        if self.succession.missing.val() {
            self.verdict.next = self.verdict.val() | 4;
        }
        if self.succession.gap.val() {
            self.verdict.next = self.verdict.val() | 8;
        }
        self.to_end.clk.next = self.clk.val();
        self.to_end.rst.next = self.rst.val();
        self.to_end.d.next = self.verdict.val();

        if self.succession.ends.val() {
            self.pending.d.next = true;
        }
        if self.to_end.q.val().get_bit(0) {
            self.pending.d.next = false;
            self.current.d.next = !self.current.q.val();
        }
        if !self.pending.q.val() {
            self.shown.d.next = self.succession.due.val();
        }
        self.epoch.next = self.current.q.val();
        self.start_drain.next = self.to_end.q.val().get_bit(0);
        self.timed.next = self.to_end.q.val().get_bit(1);
        self.missing.next = self.to_end.q.val().get_bit(2);
        self.gap.next = self.to_end.q.val().get_bit(3);
        self.refused.next = self.to_end.q.val().get_bits::<3>(4);
        self.ignored.next = self.to_end.q.val().get_bits::<3>(7);
        self.ignored_behind.next = self.to_end.q.val().get_bits::<3>(10);
        self.number.next = self.succession.ended.val();
        self.begun.next = self.succession.begun.val();
        self.running_number.next = self.shown.q.val();
    }
}
