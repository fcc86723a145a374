//! Order: how a delimiter's place in its sender's life stands to another one, the due one or what may become it.
//!
//! # Theory of operation
//!
//! Two comparisons and three signs of differences, each held in a flip-flop of its own: they are the long part of judging a delimiter, and
//! none of them needs to know which place is due in the end. So the [succession](crate::interval::succession) has them done a
//! cycle ahead, against every place that may be due by then. What they say together is a gate or two behind the flip-flops.
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

    same_number: Flop<Bit>,
    same_epoch: Flop<Bit>,
    is_behind: Flop<Bit>,
    is_behind_later: Flop<Bit>,
    is_epoch_behind: Flop<Bit>,
    ahead: Signal<Local, Bits<32>>,
    later_ahead: Signal<Local, Bits<32>>,
    epochs_ahead: Signal<Local, Bits<32>>,
}

impl Logic for Order {
    #[clocked(same_number, same_epoch, is_behind, is_behind_later, is_epoch_behind)]
    fn update(&mut self) {
        self.ahead.next = self.number.val() - self.other_number.val();
        self.later_ahead.next = self.later.val() - self.other_number.val();
        self.epochs_ahead.next = self.epoch.val() - self.other_epoch.val();
        self.same_number.d.next = self.number.val() == self.other_number.val();
        self.same_epoch.d.next = self.epoch.val() == self.other_epoch.val();
        self.is_behind.d.next = self.ahead.val().get_bit(31);
        self.is_behind_later.d.next = self.later_ahead.val().get_bit(31);
        self.is_epoch_behind.d.next = self.epochs_ahead.val().get_bit(31);
        self.same.next = self.same_number.q.val() & self.same_epoch.q.val();
        self.begins.next = !self.same_epoch.q.val() | !self.is_behind.q.val() | self.is_behind_later.q.val();
        self.begins_keyed.next = (!self.same_epoch.q.val() & !self.is_epoch_behind.q.val())
            | (self.same_epoch.q.val() & !self.same_number.q.val() & !self.is_behind.q.val());
    }
}
