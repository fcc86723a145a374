//! Order: how a delimiter's place in its sender's life stands to another one, the due one or what may become it.
//!
//! # Theory of operation
//!
//! Comparisons and signs of differences, whose results are held: they are the long part of judging a delimiter, and none of them
//! needs to know which place is due in the end. So the [succession](crate::interval::succession) has them done a cycle
//! ahead, against every place that may be due by then.
//!
//! Numbers are compared by their difference modulo 2^32, as serial numbers are (RFC 1982). One is recent that is behind by
//! [`RECENT`] at most: behind, but no more so with as much added. Two signs say that, each a carry chain with nothing behind it.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | number, epoch | in | 32 | the delimiter's number and boot epoch |
//! | later | in | 32 | the number and [`RECENT`] |
//! | other_number, other_epoch | in | 32 | those of the place that it is compared with |
//! | same | out | 1 | the cycle behind the inputs: they are the same |
//! | begins | out | 1 | likewise: of another epoch, or not recent; without a key it may be the first of a new run |
//! | begins_keyed | out | 1 | likewise: of a later epoch, or ahead in the same one; with a key it may be |
//!
//! No parameters. Latency one cycle.
//!
//! # Test plan
//!
//! With the succession: `hdl/formal/interval.v` and `succession.v`, `sim/cosim` with the cores of every width.

use crate::leaves::Flop;
use deltaline_hdl_macros::clocked;
#[cfg(doc)]
use deltaline_model::succession::RECENT;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Order {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub number: Signal<In, Bits<32>>,
    pub epoch: Signal<In, Bits<32>>,
    pub later: Signal<In, Bits<32>>,
    pub other_number: Signal<In, Bits<32>>,
    pub other_epoch: Signal<In, Bits<32>>,
    pub same: Signal<Out, Bit>,
    pub begins: Signal<Out, Bit>,
    pub begins_keyed: Signal<Out, Bit>,

    is_same: Flop<Bit>,
    may_begin: Flop<Bit>,
    may_begin_keyed: Flop<Bit>,
    same_number: Signal<Local, Bit>,
    same_epoch: Signal<Local, Bit>,
    ahead: Signal<Local, Bits<32>>,
    later_ahead: Signal<Local, Bits<32>>,
    epochs_ahead: Signal<Local, Bits<32>>,
}

impl Logic for Order {
    #[clocked(is_same, may_begin, may_begin_keyed)]
    fn update(&mut self) {
        self.same_number.next = self.number.val() == self.other_number.val();
        self.same_epoch.next = self.epoch.val() == self.other_epoch.val();
        self.ahead.next = self.number.val() - self.other_number.val();
        self.later_ahead.next = self.later.val() - self.other_number.val();
        self.epochs_ahead.next = self.epoch.val() - self.other_epoch.val();
        self.is_same.d.next = self.same_number.val() & self.same_epoch.val();
        self.may_begin.d.next =
            !self.same_epoch.val() | !self.ahead.val().get_bit(31) | self.later_ahead.val().get_bit(31);
        self.may_begin_keyed.d.next = (!self.same_epoch.val() & !self.epochs_ahead.val().get_bit(31))
            | (self.same_epoch.val() & !self.same_number.val() & !self.ahead.val().get_bit(31));
        self.same.next = self.is_same.q.val();
        self.begins.next = self.may_begin.q.val();
        self.begins_keyed.next = self.may_begin_keyed.q.val();
    }
}
