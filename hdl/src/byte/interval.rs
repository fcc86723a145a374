//! Interval: when intervals end, and which copy counts.
//!
//! # Theory of operation
//!
//! As [the 64-bit core's](crate::interval), with this core's commit of five cycles, and the bit of the clock picked in
//! two steps.
//!
//! An end that no delimiter asks for is told apart by `timed`, unless the configuration's ends are quiet: see
//! [`Core::with_quiet_ends`](crate::byte::Core::with_quiet_ends).
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | interval_end | in | 1 | end the interval behind this cycle |
//! | interval_log2 | in | 6 | 0 or 48..=63: never; 1..=47: end it by the clock every 2^n ns |
//! | ptp_ts | in | 64 | the clock, PTP relative-64; used only with interval_log2 |
//! | delimiter, delimiter_number, delimiter_epoch | in | 1, 32, 32 | a delimiter is committed three cycles later; its number and boot epoch, which stand as the [succession] wants |
//! | running | in | 1 | the memories are clear |
//! | drain_busy | in | 1 | the drain still works on the idle copy |
//! | least | in | 32 | cycles from an end to the next, at least; taken when an interval ends; 0 for none |
//! | keyed, due_signed, next_signed | in | K | as the [succession]'s |
//! | epoch | out | 1 | the copy that counts; changes behind the commit of the interval's last frame |
//! | start_drain | out | 1 | 4 to 11 cycles behind the change, when the interval's number is there |
//! | refused | out | 1 | an end was refused |
//! | ignored | out | 1 | a delimiter was ignored |
//! | timed | out | 1 | an end that may cut packets in flight apart: by no delimiter |
//! | number, gap | out | 32, 1 | from start_drain on, of the interval that ended last: its number; a delimiter before its end is missing, or it was the first |
//! | passing, due_octet, due_epoch_octet, next_octet, next_epoch_octet, due_changes, next_changes | out | K x ... | as the [succession]'s |
//!
//! [succession]: crate::byte::succession
//!
//! Latency five cycles, as a frame's commit; ends at least one drain apart. Parameters: whether ends by `interval_end` are quiet; K, 1 for
//! authentication, else 0.
//!
//! # Test plan
//!
//! `sim/cosim`: ends at every byte of a frame, during drains, by the clock, during the clearing after reset,
//! by delimiters.

use crate::byte::succession::Succession;
use crate::clock::bit_change::BitChange;
use crate::interval::least::Least;
use crate::leaves::{Delay, Flop};
use crate::module::module;
use deltaline_hdl_macros::{clocked, passes};
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Interval<const K: usize = 0> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub interval_end: Signal<In, Bit>,
    pub interval_log2: Signal<In, Bits<6>>,
    pub ptp_ts: Signal<In, Bits<64>>,
    pub delimiter: Signal<In, Bit>,
    pub delimiter_number: Signal<In, Bits<32>>,
    pub delimiter_epoch: Signal<In, Bits<32>>,
    pub running: Signal<In, Bit>,
    pub drain_busy: Signal<In, Bit>,
    pub least: Signal<In, Bits<32>>,
    pub keyed: [Signal<In, Bit>; K],
    pub due_signed: [Signal<In, Bit>; K],
    pub next_signed: [Signal<In, Bit>; K],
    pub epoch: Signal<Out, Bit>,
    pub start_drain: Signal<Out, Bit>,
    pub refused: Signal<Out, Bit>,
    pub ignored: Signal<Out, Bit>,
    pub timed: Signal<Out, Bit>,
    pub number: Signal<Out, Bits<32>>,
    pub gap: Signal<Out, Bit>,
    pub passing: [Signal<Out, Bits<2>>; K],
    pub due_octet: [Signal<Out, Bits<8>>; K],
    pub due_epoch_octet: [Signal<Out, Bits<8>>; K],
    pub next_octet: [Signal<Out, Bits<8>>; K],
    pub next_epoch_octet: [Signal<Out, Bits<8>>; K],
    pub due_changes: [Signal<Out, Bit>; K],
    pub next_changes: [Signal<Out, Bit>; K],

    quiet: Constant<Bits<1>>,
    /// The eight bits of each group of the clock's nanoseconds; the one that the exponent's low bits pick.
    group: [Signal<Local, Bits<8>>; 8],
    low: Signal<Local, Bits<3>>,
    candidate: [Flop<Bit>; 8],
    candidates: Signal<Local, Bits<8>>,
    high: Flop<Bits<3>>,
    /// Both parts of the exponent, and whether they are others than a cycle before.
    log2_before: Flop<Bits<6>>,
    log2_changed: Flop<Bit>,
    clock_bit: BitChange,
    crossed: Signal<Local, Bit>,
    /// Index i: the request i + 1 cycles ago.
    request: [Flop<Bit>; 2],
    succession: Succession<K>,
    length: Least,
    /// Ends, timed, refused, ignored.
    verdict: Signal<Local, Bits<4>>,
    to_end: Delay<4, 2>,
    /// An end is on its way to the drain.
    pending: Flop<Bit>,
    current: Flop<Bit>,
    ended_gap: Flop<Bit>,
}

impl<const K: usize> Interval<K> {
    /// Whether no packet is in flight when `interval_end` rises.
    pub(crate) fn new(quiet: bool) -> Self {
        module! { Interval { quiet: Constant::new(u64::from(quiet).into()), length: Least::new(false) }
            clk rst interval_end interval_log2 ptp_ts delimiter delimiter_number delimiter_epoch running drain_busy least epoch
            start_drain refused ignored timed number gap group low candidate candidates high log2_before log2_changed clock_bit crossed request
            succession verdict to_end pending current ended_gap; each keyed
            due_signed next_signed passing due_octet due_epoch_octet next_octet next_epoch_octet due_changes next_changes
        }
    }
}

impl<const K: usize> Logic for Interval<K> {
    #[passes(succession, in(clk, rst, running))]
    #[passes(length, in(clk, rst, least))]
    #[clocked(high, log2_before, log2_changed, pending, current, ended_gap)]
    fn update(&mut self) {
        for i in 0..8 {
            self.candidate[i].clock.next = self.clk.val();
            self.candidate[i].rst.next = self.rst.val();
            self.candidate[i].d.next = self.candidate[i].q.val();
        }
        for i in 0..2 {
            self.request[i].clock.next = self.clk.val();
            self.request[i].rst.next = self.rst.val();
            self.request[i].d.next = self.request[i].q.val();
        }

        // Groups 6 and 7 lie beyond the clock's 48 bits of nanoseconds.
        self.low.next = self.interval_log2.val().get_bits::<3>(0);
        self.high.d.next = self.interval_log2.val().get_bits::<3>(3);
        self.candidates.next = 0.into();
        for i in 0..6 {
            self.group[i].next = self.ptp_ts.val().get_bits::<8>(i * 8 + 16);
        }
        self.group[6].next = 0.into();
        self.group[7].next = 0.into();
        for i in 0..8 {
            self.candidate[i].d.next = self.group[i].val().get_bit(self.low.val().index());
            self.candidates.next = self.candidates.val().replace_bit(i, self.candidate[i].q.val());
        }
        self.clock_bit.clk.next = self.clk.val();
        // Of another bit, what was before says nothing.
        self.log2_before.d.next = self.interval_log2.val();
        self.log2_changed.d.next = self.log2_before.q.val() != self.interval_log2.val();
        self.clock_bit.rst.next = self.rst.val() | self.log2_changed.q.val();
        self.clock_bit.value.next = self.candidates.val().get_bit(self.high.q.val().index());
        self.crossed.next = self.interval_log2.val().any() & self.clock_bit.changed.val();

        self.request[1].d.next = self.request[0].q.val();
        self.request[0].d.next = self.interval_end.val();
        self.succession.request.next = self.request[1].q.val() | self.crossed.val();
        self.succession.delimiter.next = self.delimiter.val();
        self.succession.number.next = self.delimiter_number.val();
        self.succession.epoch.next = self.delimiter_epoch.val();
        self.length.ends.next = self.succession.ends.val();
        self.succession.busy.next = self.drain_busy.val() | self.pending.q.val() | self.length.soon.val();

        self.verdict.next = 0.into();
        if self.succession.ends.val() {
            self.verdict.next = self.verdict.val() | 1;
            self.pending.d.next = true;
            self.ended_gap.d.next =
                self.succession.missing.val() | (self.succession.gap.val() & !self.quiet.val().any());
        }
        if self.succession.timed.val() & !self.quiet.val().any() {
            self.verdict.next = self.verdict.val() | 2;
        }
        if self.succession.refused.val() {
            self.verdict.next = self.verdict.val() | 4;
        }
        if self.succession.ignored.val() {
            self.verdict.next = self.verdict.val() | 8;
        }
        self.to_end.clk.next = self.clk.val();
        self.to_end.rst.next = self.rst.val();
        self.to_end.d.next = self.verdict.val();
        if self.to_end.q.val().get_bit(0) {
            self.current.d.next = !self.current.q.val();
        }
        if self.succession.numbered.val() {
            self.pending.d.next = false;
        }
        self.start_drain.next = self.succession.numbered.val();
        self.timed.next = self.to_end.q.val().get_bit(1);
        self.refused.next = self.to_end.q.val().get_bit(2);
        self.ignored.next = self.to_end.q.val().get_bit(3);
        self.number.next = self.succession.ended.val();
        self.gap.next = self.ended_gap.q.val();
        self.epoch.next = self.current.q.val();
        for i in 0..K {
            self.succession.keyed[i].next = self.keyed[i].val();
            self.succession.due_signed[i].next = self.due_signed[i].val();
            self.succession.next_signed[i].next = self.next_signed[i].val();
            self.passing[i].next = self.succession.passing[i].val();
            self.due_octet[i].next = self.succession.due_octet[i].val();
            self.due_epoch_octet[i].next = self.succession.due_epoch_octet[i].val();
            self.next_octet[i].next = self.succession.next_octet[i].val();
            self.next_epoch_octet[i].next = self.succession.next_epoch_octet[i].val();
            self.due_changes[i].next = self.succession.due_changes[i].val();
            self.next_changes[i].next = self.succession.next_changes[i].val();
        }
    }
}
