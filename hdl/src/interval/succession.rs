//! Succession: which delimiters and requests end intervals, and the intervals' numbers.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::succession`, where the rules are: only the delimiter that is due ends the interval, or, with a gap, the
//! successor of the candidate; others are ignored and counted. Delimiters of one cycle are taken one after the other, in the order
//! of their lanes, a request behind them. An end that cannot be, because the drain of the one before is not over, is refused; that
//! of a delimiter leaves a gap, and its successor is due.
//!
//! What comes is held for a cycle with its successor's number, and judged against the registers in the next: delimiters may come in
//! every cycle, and each meets what the one before has left.
//!
//! ```text
//! delimiters ──▶ held, number + 1 ──▶ is it due? the candidate's successor? ──▶ ends, refused, ignored
//!                                       ▲                                │
//!                                       └── due, epoch, candidate ◀──────┘
//! ```
//!
//! Ahead, or [`RECENT`] and more behind: of the difference from the number that is due, bits 31:6
//! are not all ones.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | delimiter$i | in | 1 | lane i: a delimiter |
//! | delimiter_number$i, delimiter_epoch$i | in | 32 | its number and boot epoch |
//! | request | in | 1 | end the interval |
//! | running | in | 1 | from the cycle behind the inputs on: ends count |
//! | busy | in | 1 | likewise: no interval can end |
//! | ends | out | 1 | the cycle behind the inputs: the interval ends |
//! | timed | out | 1 | with ends: by a request |
//! | missing | out | 1 | with ends: by a delimiter that was not due |
//! | gap | out | 1 | with ends: the interval has one, or is the first |
//! | refused | out | 3 | ends that are refused: of the running interval, or, with ends, of the one that begins |
//! | ignored | out | 3 | delimiters that are ignored in the running interval |
//! | ignored_behind | out | 3 | with ends: in the one that begins |
//! | due | out | 32 | number of the running interval: that of the delimiter that is due |
//! | ended, begun | out | 32 | from the cycle behind ends on: number of the interval that ended, and the one behind it |
//!
//! Parameter: L, lanes (1..=4). Latency as stated.
//!
//! # Test plan
//!
//! `sim/cosim`, with the cores of every width: delimiters due, doubled, late, lost, far ahead, forged pairs, restarts with and
//! without an epoch, around the wrap, refused ones; several in a cycle. `hdl/formal/interval.v`: no interval ends twice.

use crate::leaves::Flop;
use crate::module::module;
use deltaline_hdl_macros::clocked;
use deltaline_model::succession::RECENT;
use rust_hdl_core::prelude::*;

const _: () = assert!(RECENT == 1 << 6);

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Succession<const L: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub delimiter: [Signal<In, Bit>; L],
    pub delimiter_number: [Signal<In, Bits<32>>; L],
    pub delimiter_epoch: [Signal<In, Bits<32>>; L],
    pub request: Signal<In, Bit>,
    pub running: Signal<In, Bit>,
    pub busy: Signal<In, Bit>,
    pub ends: Signal<Out, Bit>,
    pub timed: Signal<Out, Bit>,
    pub missing: Signal<Out, Bit>,
    pub gap: Signal<Out, Bit>,
    pub refused: Signal<Out, Bits<3>>,
    pub ignored: Signal<Out, Bits<3>>,
    pub ignored_behind: Signal<Out, Bits<3>>,
    pub due: Signal<Out, Bits<32>>,
    pub ended: Signal<Out, Bits<32>>,
    pub begun: Signal<Out, Bits<32>>,

    // What came in the cycle before.
    there: [Flop<Bit>; L],
    number: [Flop<Bits<32>>; L],
    successor: [Flop<Bits<32>>; L],
    epoch: [Flop<Bits<32>>; L],
    asked: Flop<Bit>,

    due_number: Flop<Bits<32>>,
    /// Of the last delimiter that ended an interval.
    due_epoch: Flop<Bits<32>>,
    has_candidate: Flop<Bit>,
    /// The candidate's successor.
    next_number: Flop<Bits<32>>,
    next_epoch: Flop<Bits<32>>,
    /// An interval has ended: the running one began at a known place.
    started: Flop<Bit>,
    /// A delimiter has been refused since.
    lost: Flop<Bit>,
    ended_number: Flop<Bits<32>>,
    begun_number: Flop<Bits<32>>,

    // The registers as the delimiters of this cycle so far leave them.
    due_now: Signal<Local, Bits<32>>,
    due_epoch_now: Signal<Local, Bits<32>>,
    has_candidate_now: Signal<Local, Bit>,
    next_number_now: Signal<Local, Bits<32>>,
    next_epoch_now: Signal<Local, Bits<32>>,
    started_now: Signal<Local, Bit>,
    lost_now: Signal<Local, Bit>,
    may_end: Signal<Local, Bit>,
    ends_now: Signal<Local, Bit>,
    timed_now: Signal<Local, Bit>,
    missing_now: Signal<Local, Bit>,
    gap_now: Signal<Local, Bit>,
    refused_now: Signal<Local, Bits<3>>,
    ignored_now: Signal<Local, Bits<3>>,
    behind_now: Signal<Local, Bits<3>>,

    same_epoch: Signal<Local, Bit>,
    is_due: Signal<Local, Bit>,
    is_next: Signal<Local, Bit>,
    counted: Signal<Local, Bit>,
    ahead: Signal<Local, Bits<32>>,
}

impl<const L: usize> Default for Succession<L> {
    fn default() -> Self {
        module! { Succession {}
            clk rst request running busy ends timed missing gap refused ignored ignored_behind due ended begun asked
            due_number due_epoch has_candidate next_number next_epoch started lost ended_number begun_number due_now
            due_epoch_now has_candidate_now next_number_now next_epoch_now started_now lost_now may_end ends_now
            timed_now missing_now gap_now refused_now ignored_now behind_now same_epoch is_due is_next counted ahead
            ; each delimiter delimiter_number delimiter_epoch there number successor epoch
        }
    }
}

impl<const L: usize> Logic for Succession<L> {
    #[clocked(
        asked,
        due_number,
        due_epoch,
        has_candidate,
        next_number,
        next_epoch,
        started,
        lost,
        ended_number,
        begun_number
    )]
    fn update(&mut self) {
        for i in 0..L {
            self.there[i].clock.next = self.clk.val();
            self.there[i].rst.next = self.rst.val();
            self.there[i].d.next = self.delimiter[i].val();
            self.number[i].clock.next = self.clk.val();
            self.number[i].rst.next = self.rst.val();
            self.number[i].d.next = self.delimiter_number[i].val();
            self.successor[i].clock.next = self.clk.val();
            self.successor[i].rst.next = self.rst.val();
            self.successor[i].d.next = self.delimiter_number[i].val() + 1;
            self.epoch[i].clock.next = self.clk.val();
            self.epoch[i].rst.next = self.rst.val();
            self.epoch[i].d.next = self.delimiter_epoch[i].val();
        }
        self.asked.d.next = self.request.val();

        self.due_now.next = self.due_number.q.val();
        self.due_epoch_now.next = self.due_epoch.q.val();
        self.has_candidate_now.next = self.has_candidate.q.val();
        self.next_number_now.next = self.next_number.q.val();
        self.next_epoch_now.next = self.next_epoch.q.val();
        self.started_now.next = self.started.q.val();
        self.lost_now.next = self.lost.q.val();
        self.may_end.next = !self.busy.val();
        self.ends_now.next = false;
        self.timed_now.next = false;
        self.missing_now.next = false;
        self.gap_now.next = false;
        self.refused_now.next = 0.into();
        self.ignored_now.next = 0.into();
        self.behind_now.next = 0.into();
        self.counted.next = false;
        for i in 0..L {
            self.same_epoch.next = self.epoch[i].q.val() == self.due_epoch_now.val();
            self.is_due.next = self.same_epoch.val() & (self.number[i].q.val() == self.due_now.val());
            self.is_next.next = self.has_candidate_now.val()
                & (self.epoch[i].q.val() == self.next_epoch_now.val())
                & (self.number[i].q.val() == self.next_number_now.val());
            self.ahead.next = self.number[i].q.val() - self.due_now.val();
            if self.there[i].q.val() & self.running.val() {
                if self.is_due.val() | self.is_next.val() | !self.started_now.val() {
                    self.counted.next = true;
                    if self.may_end.val() {
                        self.may_end.next = false;
                        self.ends_now.next = true;
                        self.missing_now.next = !self.is_due.val();
                        self.gap_now.next =
                            !self.is_due.val() | self.lost_now.val() | !self.started_now.val();
                        self.started_now.next = true;
                        self.lost_now.next = false;
                        self.ended_number.d.next = self.number[i].q.val();
                        self.begun_number.d.next = self.successor[i].q.val();
                    } else {
                        self.refused_now.next = self.refused_now.val() + 1;
                        self.lost_now.next = true;
                    }
                    self.due_now.next = self.successor[i].q.val();
                    self.due_epoch_now.next = self.epoch[i].q.val();
                    self.has_candidate_now.next = false;
                } else {
                    if self.ends_now.val() {
                        self.behind_now.next = self.behind_now.val() + 1;
                    } else {
                        self.ignored_now.next = self.ignored_now.val() + 1;
                    }
                    if !self.same_epoch.val() | !self.ahead.val().get_bits::<26>(6).all() {
                        self.has_candidate_now.next = true;
                        self.next_number_now.next = self.successor[i].q.val();
                        self.next_epoch_now.next = self.epoch[i].q.val();
                    }
                }
            }
        }
        // A request beside a delimiter that counts is one end with it.
        if self.asked.q.val() & self.running.val() & !self.counted.val() {
            if self.may_end.val() {
                self.ends_now.next = true;
                self.timed_now.next = true;
                self.gap_now.next = self.lost_now.val() | !self.started_now.val();
                self.started_now.next = true;
                self.lost_now.next = false;
                self.ended_number.d.next = self.due_number.q.val();
                self.begun_number.d.next = self.due_number.q.val() + 1;
                self.due_now.next = self.due_number.q.val() + 1;
                self.has_candidate_now.next = false;
            } else {
                self.refused_now.next = self.refused_now.val() + 1;
            }
        }
        self.due_number.d.next = self.due_now.val();
        self.due_epoch.d.next = self.due_epoch_now.val();
        self.has_candidate.d.next = self.has_candidate_now.val();
        self.next_number.d.next = self.next_number_now.val();
        self.next_epoch.d.next = self.next_epoch_now.val();
        self.started.d.next = self.started_now.val();
        self.lost.d.next = self.lost_now.val();

        self.ends.next = self.ends_now.val();
        self.timed.next = self.timed_now.val();
        self.missing.next = self.missing_now.val();
        self.gap.next = self.gap_now.val();
        self.refused.next = self.refused_now.val();
        self.ignored.next = self.ignored_now.val();
        self.ignored_behind.next = self.behind_now.val();
        self.due.next = self.due_number.q.val();
        self.ended.next = self.ended_number.q.val();
        self.begun.next = self.begun_number.q.val();
    }
}
