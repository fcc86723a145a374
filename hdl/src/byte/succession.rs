//! Succession: which delimiters and requests end intervals, and the intervals' numbers, a byte a cycle.
//!
//! # Theory of operation
//!
//! The rules are `deltaline_model::succession`'s; the [wide cores' twin](crate::interval::succession) of them judges a delimiter in
//! the cycle in which it comes. Here that would be the longest path of the core and a twentieth of a small FPGA, and there is time:
//! a delimiter's epoch passes 28 cycles before it ends. So the numbers are compared beforehand, over and over, byte by byte, and when
//! the delimiter ends only the result is looked at.
//!
//! The four numbers that are kept rotate by a byte a cycle, so that in cycle p of four their lowest byte is byte p. Beside them
//! goes byte p of what passes. What is to be stored replaces a number's byte in passing, one more than its source or as it is:
//!
//! ```text
//! number, epoch ─▶ byte p ─┬─────────────▶ compare ─▶ results, in every fourth cycle ─▶ verdict
//!                          ├─▶ + 1 ─┐         ▲                                             │
//!                          │   ▲    ▼         │                                             │ task
//!                          │   └── due, its epoch, behind the candidate, its epoch ◀────────┘
//!                          └─▶ ended
//! ```
//!
//! What a verdict stores is a task: it waits for the next four cycles that begin with byte 0. There are at most two, that of a
//! delimiter and that of a request; the earlier goes first. In the meantime the results are out of date. A delimiter
//! cannot meet them behind another one, which is 64 cycles away. It can behind a request that has ended an interval; but that makes
//! the due number one more, and what the number that passes is to one more is compared, too.
//!
//! | result | of the number that passes, and its epoch |
//! |--------|------------------------------------------|
//! | is_due, is_behind_due | the number that is due; one more than that |
//! | is_recent, is_farthest | 1 to 64 behind the one that is due; 64 behind |
//! | is_same_epoch | the epoch of the last delimiter that counted |
//! | is_next | number and epoch: behind the candidate |
//! | is_ahead, is_opposite | with K: ahead of the number that is due; 2^31 ahead, which is as far behind |
//! | is_later | with K: a later epoch than that of the last delimiter that counted |
//!
//! With a key a delimiter counts only if it has its tag: two tags that [others](super::delimiter_tags) compute, for whom the
//! numbers pass here. They are told as soon as a number is to become another, until it has: what was signed by then is not any
//! more, so no delimiter meets a tag that is out of date.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | delimiter | in | 1 | a delimiter has ended; at least 60 cycles behind the one before |
//! | number, epoch | in | 32 | its number and boot epoch: they stand from 24 cycles before it to 16 behind it |
//! | request | in | 1 | end the interval |
//! | running | in | 1 | from the cycle behind the inputs on: ends count |
//! | busy | in | 1 | likewise: no interval can end. Stands for at least 32 cycles behind an end |
//! | keyed | in | K | likewise: delimiters are believed by their tags |
//! | due_signed, next_signed | in | K | likewise: the delimiter has the tag that is expected of the one that is due, of the candidate's successor |
//! | ends | out | 1 | the cycle behind the inputs: the interval ends |
//! | timed | out | 1 | with ends: by a request |
//! | missing | out | 1 | with ends: by a delimiter that was not due |
//! | gap | out | 1 | with ends: the interval has one, or is the first |
//! | refused | out | 1 | an end is refused |
//! | ignored | out | 1 | a delimiter is ignored |
//! | numbered | out | 1 | the number of the interval that ended is there, 6 to 13 cycles behind ends |
//! | ended | out | 32 | from numbered to the next end: that number |
//! | passing | out | K x 2 | which byte of the next four passes: 0, the lowest, to 3 in turn |
//! | due_octet, due_epoch_octet | out | K x 8 | that byte of the number and epoch that are due |
//! | next_octet, next_epoch_octet | out | K x 8 | of those of the candidate's successor |
//! | due_changes, next_changes | out | K | up to this cycle these become others |
//!
//! Parameter: K, 1 for authentication, else 0. Latency as stated. Cost before placement without K: iCE40 194 LUT4, 206 flip-flops,
//! as `cargo xtask report --check` counts them; that of the wide cores' 455 and 293.
//!
//! # Test plan
//!
//! `sim/cosim/tests/succession.rs`, alone: the verdict on every delimiter and request, and the number of every interval that ends,
//! against the model: numbers and epochs that differ in one byte or in one carry, requests in each of the cycles around a delimiter
//! and its successor, busy and not; with K tags that are right, wrong, and not ready, keys that come and go, and what passes for the
//! tags; planted faults. With the core: `sim/cosim`'s checks of the byte core, `checks::forgery`.

use crate::leaves::Flop;
use crate::module::module;
use deltaline_hdl_macros::clocked;
use deltaline_model::succession::RECENT;
use rust_hdl_core::prelude::*;

const _: () = assert!(RECENT == 1 << 6);

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Succession<const K: usize = 0> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub delimiter: Signal<In, Bit>,
    pub number: Signal<In, Bits<32>>,
    pub epoch: Signal<In, Bits<32>>,
    pub request: Signal<In, Bit>,
    pub running: Signal<In, Bit>,
    pub busy: Signal<In, Bit>,
    pub keyed: [Signal<In, Bit>; K],
    pub due_signed: [Signal<In, Bit>; K],
    pub next_signed: [Signal<In, Bit>; K],
    pub ends: Signal<Out, Bit>,
    pub timed: Signal<Out, Bit>,
    pub missing: Signal<Out, Bit>,
    pub gap: Signal<Out, Bit>,
    pub refused: Signal<Out, Bit>,
    pub ignored: Signal<Out, Bit>,
    pub numbered: Signal<Out, Bit>,
    pub ended: Signal<Out, Bits<32>>,
    pub passing: [Signal<Out, Bits<2>>; K],
    pub due_octet: [Signal<Out, Bits<8>>; K],
    pub due_epoch_octet: [Signal<Out, Bits<8>>; K],
    pub next_octet: [Signal<Out, Bits<8>>; K],
    pub next_epoch_octet: [Signal<Out, Bits<8>>; K],
    pub due_changes: [Signal<Out, Bit>; K],
    pub next_changes: [Signal<Out, Bit>; K],

    // What came in the cycle before.
    there: Flop<Bit>,
    asked: Flop<Bit>,

    /// Which byte passes.
    phase: Flop<Bits<2>>,
    low: Flop<Bit>,
    is_high: Signal<Local, Bit>,
    /// Of what passes, taken a cycle ahead.
    number_byte: Flop<Bits<8>>,
    epoch_byte: Flop<Bits<8>>,

    // The numbers, rotating.
    due_number: Flop<Bits<32>>,
    /// Of the last delimiter that counted.
    due_epoch: Flop<Bits<32>>,
    /// The candidate's successor.
    next_number: Flop<Bits<32>>,
    next_epoch: Flop<Bits<32>>,
    due_byte: Signal<Local, Bits<8>>,
    due_epoch_byte: Signal<Local, Bits<8>>,
    next_byte: Signal<Local, Bits<8>>,
    next_epoch_byte: Signal<Local, Bits<8>>,
    ended_number: Flop<Bits<32>>,
    numbers: Flop<Bit>,

    // The comparison, byte by byte: of the difference from the number that is due, and of the others.
    /// One bit longer at each end: the carry in enters below, the carry out leaves above.
    left: Signal<Local, Bits<10>>,
    right: Signal<Local, Bits<10>>,
    sum_total: Signal<Local, Bits<10>>,
    difference: Signal<Local, Bits<8>>,
    carry: Flop<Bit>,
    is_zero: Signal<Local, Bit>,
    is_one: Signal<Local, Bit>,
    is_minus: Signal<Local, Bit>,
    is_least: Signal<Local, Bit>,
    is_equal: Signal<Local, Bit>,
    is_successor: Signal<Local, Bit>,
    zero: Flop<Bit>,
    one: Flop<Bit>,
    minus: Flop<Bit>,
    least: Flop<Bit>,
    equal: Flop<Bit>,
    successor: Flop<Bit>,

    // The results.
    is_due: Flop<Bit>,
    is_behind_due: Flop<Bit>,
    is_recent: Flop<Bit>,
    is_farthest: Flop<Bit>,
    is_same_epoch: Flop<Bit>,
    is_next: Flop<Bit>,

    has_candidate: Flop<Bit>,
    /// An interval has ended: the running one began at a known place.
    started: Flop<Bit>,
    /// A delimiter has been refused since.
    lost: Flop<Bit>,

    // The verdict.
    came: Signal<Local, Bit>,
    due_now: Signal<Local, Bit>,
    counts: Signal<Local, Bit>,
    begins_run: Signal<Local, Bit>,
    requested: Signal<Local, Bit>,
    ends_now: Signal<Local, Bit>,
    timed_now: Signal<Local, Bit>,

    // Tasks that wait, and the one under way.
    delimiter_waits: Flop<Bit>,
    request_waits: Flop<Bit>,
    request_first: Flop<Bit>,
    /// The delimiter's counts, else it is the candidate; it ends an interval.
    delimiter_counts: Flop<Bit>,
    delimiter_ends: Flop<Bit>,
    of_delimiter: Flop<Bit>,
    of_request: Flop<Bit>,
    takes_request: Signal<Local, Bit>,
    is_current: Signal<Local, Bit>,
    to_due: Signal<Local, Bit>,
    to_epoch: Signal<Local, Bit>,
    to_next: Signal<Local, Bit>,
    to_ended: Signal<Local, Bit>,
    source: Signal<Local, Bits<8>>,
    increment: Signal<Local, Bits<9>>,
    incremented: Signal<Local, Bits<9>>,
    increment_carry: Flop<Bit>,

    // With a key: what may begin a run.
    /// Without this byte's highest bit the epoch, as far as it has passed, is no less than that of the last delimiter that counted;
    /// with it; the highest bits differ.
    epoch_reaches: [Signal<Local, Bit>; K],
    epoch_reached: [Flop<Bit>; K],
    epoch_differs: [Signal<Local, Bit>; K],
    is_ahead: [Flop<Bit>; K],
    is_opposite: [Flop<Bit>; K],
    is_later: [Flop<Bit>; K],
    /// The last delimiter that counted did so by its tag.
    is_known: [Flop<Bit>; K],
}

impl<const K: usize> Default for Succession<K> {
    fn default() -> Self {
        module! { Succession { }
            clk rst delimiter number epoch request running busy ends timed missing gap refused ignored numbered ended there asked phase low
            is_high number_byte epoch_byte due_number due_epoch next_number next_epoch due_byte due_epoch_byte next_byte
            next_epoch_byte ended_number numbers left right sum_total difference carry is_zero is_one is_minus is_least is_equal
            is_successor zero one minus least equal successor is_due is_behind_due is_recent is_farthest is_same_epoch is_next
            has_candidate started lost came due_now counts begins_run requested ends_now timed_now delimiter_waits request_waits
            request_first delimiter_counts delimiter_ends of_delimiter of_request takes_request is_current to_due to_epoch to_next
            to_ended source increment incremented increment_carry; each keyed due_signed next_signed passing due_octet
            due_epoch_octet next_octet next_epoch_octet due_changes next_changes epoch_reaches epoch_reached epoch_differs
            is_ahead is_opposite is_later is_known
        }
    }
}

impl<const K: usize> Logic for Succession<K> {
    #[clocked(
        there,
        asked,
        phase,
        low,
        number_byte,
        epoch_byte,
        due_number,
        due_epoch,
        next_number,
        next_epoch,
        ended_number,
        numbers,
        carry,
        zero,
        one,
        minus,
        least,
        equal,
        successor,
        is_due,
        is_behind_due,
        is_recent,
        is_farthest,
        is_same_epoch,
        is_next,
        has_candidate,
        started,
        lost,
        delimiter_waits,
        request_waits,
        request_first,
        delimiter_counts,
        delimiter_ends,
        of_delimiter,
        of_request,
        increment_carry
    )]
    fn update(&mut self) {
        self.there.d.next = self.delimiter.val();
        self.asked.d.next = self.request.val();

        // The bytes of this cycle.
        self.phase.d.next = self.phase.q.val() + 1;
        self.is_high.next = self.phase.q.val() == 3;
        self.low.d.next = self.is_high.val();
        self.number_byte.d.next = self.number.val().get_bits::<8>(0);
        self.epoch_byte.d.next = self.epoch.val().get_bits::<8>(0);
        if self.phase.q.val() == 0 {
            self.number_byte.d.next = self.number.val().get_bits::<8>(8);
            self.epoch_byte.d.next = self.epoch.val().get_bits::<8>(8);
        }
        if self.phase.q.val() == 1 {
            self.number_byte.d.next = self.number.val().get_bits::<8>(16);
            self.epoch_byte.d.next = self.epoch.val().get_bits::<8>(16);
        }
        if self.phase.q.val() == 2 {
            self.number_byte.d.next = self.number.val().get_bits::<8>(24);
            self.epoch_byte.d.next = self.epoch.val().get_bits::<8>(24);
        }

        // Compared: the number less the one that is due, plus the complement of that and one; the others for equality.
        self.left.next = (bit_cast::<10, 8>(self.number_byte.q.val()) << 1) | 1;
        self.right.next = bit_cast::<10, 8>(self.due_number.q.val().get_bits::<8>(0) ^ 0xff) << 1;
        if self.low.q.val() | self.carry.q.val() {
            self.right.next = (bit_cast::<10, 8>(self.due_number.q.val().get_bits::<8>(0) ^ 0xff) << 1) | 1;
        }
        self.sum_total.next = self.left.val() + self.right.val();
        self.difference.next = self.sum_total.val().get_bits::<8>(1);
        self.carry.d.next = self.sum_total.val().get_bit(9);
        self.is_zero.next = (self.low.q.val() | self.zero.q.val()) & !self.difference.val().any();
        self.is_one.next = self.one.q.val() & !self.difference.val().any();
        self.is_minus.next = self.minus.q.val() & self.difference.val().all();
        self.is_least.next = self.least.q.val() & self.difference.val().all();
        if self.low.q.val() {
            self.is_one.next = self.difference.val() == 1;
            self.is_minus.next = self.difference.val().get_bits::<2>(6).all();
            self.is_least.next = self.difference.val() == 0xc0;
        }
        self.is_equal.next = (self.low.q.val() | self.equal.q.val())
            & (self.epoch_byte.q.val() == self.due_epoch.q.val().get_bits::<8>(0));
        self.is_successor.next = (self.low.q.val() | self.successor.q.val())
            & (self.number_byte.q.val() == self.next_number.q.val().get_bits::<8>(0))
            & (self.epoch_byte.q.val() == self.next_epoch.q.val().get_bits::<8>(0));
        self.zero.d.next = self.is_zero.val();
        self.one.d.next = self.is_one.val();
        self.minus.d.next = self.is_minus.val();
        self.least.d.next = self.is_least.val();
        self.equal.d.next = self.is_equal.val();
        self.successor.d.next = self.is_successor.val();
        // Results are out of date as long as a request's task is to be done, and those of four cycles in which it was.
        self.is_current.next = !self.request_waits.q.val() & !self.of_request.q.val();
        if self.is_high.val() & self.is_current.val() {
            self.is_due.d.next = self.is_zero.val();
            self.is_behind_due.d.next = self.is_one.val();
            self.is_recent.d.next = self.is_minus.val();
            self.is_farthest.d.next = self.is_least.val();
            self.is_same_epoch.d.next = self.is_equal.val();
            self.is_next.d.next = self.is_successor.val();
        }

        for i in 0..K {
            self.epoch_reached[i].clock.next = self.clk.val();
            self.epoch_reached[i].rst.next = self.rst.val();
            self.is_ahead[i].clock.next = self.clk.val();
            self.is_ahead[i].rst.next = self.rst.val();
            self.is_ahead[i].d.next = self.is_ahead[i].q.val();
            self.is_opposite[i].clock.next = self.clk.val();
            self.is_opposite[i].rst.next = self.rst.val();
            self.is_opposite[i].d.next = self.is_opposite[i].q.val();
            self.is_later[i].clock.next = self.clk.val();
            self.is_later[i].rst.next = self.rst.val();
            self.is_later[i].d.next = self.is_later[i].q.val();
            self.is_known[i].clock.next = self.clk.val();
            self.is_known[i].rst.next = self.rst.val();
            self.is_known[i].d.next = self.is_known[i].q.val();

            self.epoch_reaches[i].next = (self.epoch_byte.q.val().get_bits::<7>(0)
                > self.due_epoch.q.val().get_bits::<7>(0))
                | ((self.epoch_byte.q.val().get_bits::<7>(0) == self.due_epoch.q.val().get_bits::<7>(0))
                    & (self.low.q.val() | self.epoch_reached[i].q.val()));
            self.epoch_differs[i].next =
                self.epoch_byte.q.val().get_bit(7) != self.due_epoch.q.val().get_bit(7);
            self.epoch_reached[i].d.next = (self.epoch_differs[i].val() & self.epoch_byte.q.val().get_bit(7))
                | (!self.epoch_differs[i].val() & self.epoch_reaches[i].val());
            if self.is_high.val() & self.is_current.val() {
                self.is_ahead[i].d.next = !self.difference.val().get_bit(7) & !self.is_zero.val();
                self.is_opposite[i].d.next = self.zero.q.val() & (self.difference.val() == 0x80);
                self.is_later[i].d.next =
                    (self.epoch_differs[i].val() != self.epoch_reaches[i].val()) & !self.is_equal.val();
            }
        }

        // The verdict.
        self.came.next = self.there.q.val() & self.running.val();
        self.due_now.next = self.is_due.q.val() & self.is_same_epoch.q.val();
        self.counts.next = self.came.val()
            & (self.due_now.val()
                | (self.is_next.q.val() & self.has_candidate.q.val())
                | !self.started.q.val());
        self.begins_run.next =
            self.came.val() & !self.counts.val() & !(self.is_same_epoch.q.val() & self.is_recent.q.val());
        for i in 0..K {
            if self.keyed[i].val() {
                self.counts.next = self.came.val()
                    & ((self.due_now.val() & self.due_signed[i].val())
                        | (self.is_next.q.val() & self.has_candidate.q.val() & self.next_signed[i].val()));
                self.begins_run.next = self.came.val()
                    & !self.counts.val()
                    & (!self.is_known[i].q.val()
                        | (self.is_same_epoch.q.val() & self.is_ahead[i].q.val())
                        | self.is_later[i].q.val());
            }
            if self.counts.val() {
                self.is_known[i].d.next = self.keyed[i].val();
            }
        }
        // A request beside a delimiter that counts is one end with it.
        self.requested.next = self.asked.q.val() & self.running.val() & !self.counts.val();
        self.timed_now.next = self.requested.val() & !self.busy.val();
        self.ends_now.next = (self.requested.val() | self.counts.val()) & !self.busy.val();
        self.ends.next = self.ends_now.val();
        self.timed.next = self.timed_now.val();
        self.missing.next = !self.timed_now.val() & !self.due_now.val();
        self.gap.next =
            (!self.timed_now.val() & !self.due_now.val()) | self.lost.q.val() | !self.started.q.val();
        self.refused.next = (self.requested.val() | self.counts.val()) & self.busy.val();
        self.ignored.next = self.came.val() & !self.counts.val();
        if self.begins_run.val() {
            self.has_candidate.d.next = true;
        }
        if self.counts.val() {
            self.has_candidate.d.next = false;
            self.lost.d.next = true;
        }
        if self.ends_now.val() {
            self.has_candidate.d.next = false;
            self.lost.d.next = false;
            self.started.d.next = true;
        }
        // What was due is behind now. If it comes, it may pass for a candidate: the one behind it is due anyway.
        if self.timed_now.val() {
            self.is_due.d.next = self.is_behind_due.q.val();
            self.is_recent.d.next = self.is_recent.q.val() & !self.is_farthest.q.val();
            // Of what is opposite, the number behind is ahead.
            for i in 0..K {
                self.is_ahead[i].d.next =
                    (self.is_ahead[i].q.val() & !self.is_behind_due.q.val()) | self.is_opposite[i].q.val();
            }
        }

        // The task of these four cycles.
        self.to_due.next =
            self.of_request.q.val() | (self.of_delimiter.q.val() & self.delimiter_counts.q.val());
        self.to_epoch.next = self.of_delimiter.q.val() & self.delimiter_counts.q.val();
        self.to_next.next = self.of_delimiter.q.val() & !self.delimiter_counts.q.val();
        self.to_ended.next =
            self.of_request.q.val() | (self.of_delimiter.q.val() & self.delimiter_ends.q.val());
        self.source.next = self.number_byte.q.val();
        if self.of_request.q.val() {
            self.source.next = self.due_number.q.val().get_bits::<8>(0);
        }
        self.increment.next = 0.into();
        if self.low.q.val() | self.increment_carry.q.val() {
            self.increment.next = 1.into();
        }
        self.incremented.next = bit_cast::<9, 8>(self.source.val()) + self.increment.val();
        self.increment_carry.d.next = self.incremented.val().get_bit(8);
        self.due_byte.next = self.due_number.q.val().get_bits::<8>(0);
        if self.to_due.val() {
            self.due_byte.next = self.incremented.val().get_bits::<8>(0);
        }
        self.due_epoch_byte.next = self.due_epoch.q.val().get_bits::<8>(0);
        if self.to_epoch.val() {
            self.due_epoch_byte.next = self.epoch_byte.q.val();
        }
        self.next_byte.next = self.next_number.q.val().get_bits::<8>(0);
        self.next_epoch_byte.next = self.next_epoch.q.val().get_bits::<8>(0);
        if self.to_next.val() {
            self.next_byte.next = self.incremented.val().get_bits::<8>(0);
            self.next_epoch_byte.next = self.epoch_byte.q.val();
        }
        self.due_number.d.next =
            (self.due_number.q.val() >> 8) | (bit_cast::<32, 8>(self.due_byte.val()) << 24);
        self.due_epoch.d.next =
            (self.due_epoch.q.val() >> 8) | (bit_cast::<32, 8>(self.due_epoch_byte.val()) << 24);
        self.next_number.d.next =
            (self.next_number.q.val() >> 8) | (bit_cast::<32, 8>(self.next_byte.val()) << 24);
        self.next_epoch.d.next =
            (self.next_epoch.q.val() >> 8) | (bit_cast::<32, 8>(self.next_epoch_byte.val()) << 24);
        if self.to_ended.val() {
            self.ended_number.d.next =
                (self.ended_number.q.val() >> 8) | (bit_cast::<32, 8>(self.source.val()) << 24);
        }
        self.numbers.d.next = self.to_ended.val() & self.is_high.val();

        // The next task: the earlier one.
        self.takes_request.next =
            self.request_waits.q.val() & (self.request_first.q.val() | !self.delimiter_waits.q.val());
        if self.is_high.val() {
            self.of_request.d.next = self.takes_request.val();
            self.of_delimiter.d.next = self.delimiter_waits.q.val() & !self.takes_request.val();
            self.request_waits.d.next = self.request_waits.q.val() & !self.takes_request.val();
            self.delimiter_waits.d.next = self.delimiter_waits.q.val() & self.takes_request.val();
        }
        if self.counts.val() | self.begins_run.val() {
            self.delimiter_waits.d.next = true;
            self.delimiter_counts.d.next = self.counts.val();
            self.delimiter_ends.d.next = self.counts.val() & !self.busy.val();
        }
        if self.timed_now.val() {
            self.request_waits.d.next = true;
            self.request_first.d.next = !self.delimiter_waits.q.val();
        }

        for i in 0..K {
            self.passing[i].next = self.phase.q.val();
            self.due_octet[i].next = self.due_number.q.val().get_bits::<8>(0);
            self.due_epoch_octet[i].next = self.due_epoch.q.val().get_bits::<8>(0);
            self.next_octet[i].next = self.next_number.q.val().get_bits::<8>(0);
            self.next_epoch_octet[i].next = self.next_epoch.q.val().get_bits::<8>(0);
            self.due_changes[i].next = self.counts.val()
                | self.timed_now.val()
                | self.request_waits.q.val()
                | (self.delimiter_waits.q.val() & self.delimiter_counts.q.val())
                | self.to_due.val();
            self.next_changes[i].next = self.begins_run.val()
                | (self.delimiter_waits.q.val() & !self.delimiter_counts.q.val())
                | self.to_next.val();
        }
        self.numbered.next = self.numbers.q.val();
        self.ended.next = self.ended_number.q.val();
    }
}
