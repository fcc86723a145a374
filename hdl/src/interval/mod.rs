//! Interval: when intervals end, which copy counts, and the intervals' numbers.
//!
//! # Theory of operation
//!
//! An interval ends when an end is asked for (see [`crate::interval::boundary`]) or when a delimiter has been seen in the
//! stream. The copies swap roles, and the drain starts on the one that counted. If the drain is still busy with the
//! interval before, the end is refused and counted, and the running interval goes on.
//!
//! A delimiter carries the number of the interval that it ends. It becomes this point's number too; if it is not
//! the one that was due, a delimiter is missing, and the interval says so: it has a gap. So has the first interval,
//! which began with the reset. So lost delimiters, ends that were refused, and a point that
//! starts amid the stream are all told.
//!
//! After reset the drain first clears both copies; `running` tells when counting starts. Interval ends before that
//! are ignored.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | request | in | 1 | end the interval behind the frames that are committed in this cycle |
//! | delimiter | in | 1 | a delimiter is committed in this cycle: the same |
//! | delimiter_number | in | 32 | with delimiter: the number that it carries |
//! | unexpected | in | 1 | with delimiter: it is not that of the running interval |
//! | running | in | 1 | the memories are clear |
//! | drain_busy | in | 1 | the drain still works on the idle copy |
//! | epoch | out | 1 | the copy that counts; changes behind the commit of the interval's last frame |
//! | number | out | 32 | number of the interval that was ended last |
//! | running_number | out | 32 | number of the running interval |
//! | start_drain | out | 1 | the cycle of the change |
//! | gap | out | 1 | with start_drain: the delimiter before is missing, or this is the first interval |
//! | refused | out | 1 | an end was refused |
//!
//! Latency none; ends at least one drain apart. No parameters.
//!
//! # Test plan
//!
//! `sim/cosim`, with the core: ends at every distance from frames, during drains, by the clock, by delimiters with
//! the number due and with others, during the clearing after reset.

pub mod boundary;
pub mod delimiter_match;
pub mod schedule;

use crate::leaves::Flop;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Interval {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub request: Signal<In, Bit>,
    pub delimiter: Signal<In, Bit>,
    pub delimiter_number: Signal<In, Bits<32>>,
    pub unexpected: Signal<In, Bit>,
    pub running: Signal<In, Bit>,
    pub drain_busy: Signal<In, Bit>,
    pub epoch: Signal<Out, Bit>,
    pub number: Signal<Out, Bits<32>>,
    pub running_number: Signal<Out, Bits<32>>,
    pub start_drain: Signal<Out, Bit>,
    pub gap: Signal<Out, Bit>,
    pub refused: Signal<Out, Bit>,

    current: Flop<Bit>,
    /// Number of the running interval.
    count: Flop<Bits<32>>,
    ended: Flop<Bits<32>>,
    /// An interval has ended: the running one began at a known place.
    started: Flop<Bit>,
    asked: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    ending: Signal<Local, Bits<32>>,
}

impl Logic for Interval {
    #[clocked(current, count, ended, started)]
    fn update(&mut self) {
        self.asked.next = self.request.val() | self.delimiter.val();
        self.ends.next = self.asked.val() & self.running.val() & !self.drain_busy.val();
        self.refused.next = self.asked.val() & self.running.val() & self.drain_busy.val();
        self.ending.next = self.count.q.val();
        if self.delimiter.val() {
            self.ending.next = self.delimiter_number.val();
        }
        self.start_drain.next = self.ends.val();
        self.gap.next =
            self.ends.val() & ((self.delimiter.val() & self.unexpected.val()) | !self.started.q.val());
        if self.ends.val() {
            self.started.d.next = true;
            self.current.d.next = !self.current.q.val();
            self.ended.d.next = self.ending.val();
            self.count.d.next = self.ending.val() + 1;
        }
        self.epoch.next = self.current.q.val();
        self.running_number.next = self.count.q.val();
        self.number.next = self.ended.q.val();
    }
}
