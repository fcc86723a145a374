//! Mixings: the secret that decides bank and row, which changes at the boundary of an interval.
//!
//! # Theory of operation
//!
//! Twin of `MeasurementPoint::schedule_mixing` in `deltaline_model::point`. A mixing that is scheduled waits where it was
//! written, until an interval begins whose number is `from` or a later one, modulo 2^32. It takes effect between the last
//! key of the old interval and the first one of the new, on their way from the hash to the [mixing](crate::sketch::mixing):
//!
//! ```text
//! cycle                        0         1         2         3
//! the last key of an interval: hash   -> hash   -> mixing -> rounds
//! the boundary:                commit -> ends   -> due?   -> the new mixing
//! the first key of the next:             hash   -> hash   -> mixing
//! ```
//!
//! In a configuration without a mixing nothing of this module is left.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset: back to the design's own mixing |
//! | load | in | 1 | schedule the next mixing |
//! | next_mixing, next_id | in | 95, 32 | the next mixing and its identifier, zero for the design's own, whatever `next_mixing` is; constant while `pending` |
//! | from | in | 32 | number of an interval; looked at when one ends |
//! | ends | in | 1 | an interval ends behind this cycle |
//! | begun | in | 32 | from the cycle behind `ends` on: number of the new interval |
//! | pending | out | 1 | a mixing waits |
//! | mixing | out | 95 | from the second cycle behind `ends` on: that of the running interval |
//! | ended_id | out | 32 | likewise: the identifier of the interval's that ended last |
//!
//! A schedule counts for the intervals that end in its own cycle or later; intervals have at least eight cycles. Latency as drawn. No
//! parameters but the configuration.
//!
//! # Test plan
//!
//! `sim/cosim` `checks::adaptive`, with the cores: schedules at every cycle around a boundary that packets of the shortest length
//! surround without a gap; intervals before, at and behind theirs; the own mixing again; reset. Planted faults.

use crate::leaves::Flop;
use crate::module::module;
use crate::sketch::mixing::MIXING;
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::sketch::mixing::Mixing;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Mixings {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub load: Signal<In, Bit>,
    pub next_mixing: Signal<In, Bits<MIXING>>,
    pub next_id: Signal<In, Bits<32>>,
    pub from: Signal<In, Bits<32>>,
    pub ends: Signal<In, Bit>,
    pub begun: Signal<In, Bits<32>>,
    pub pending: Signal<Out, Bit>,
    pub mixing: Signal<Out, Bits<MIXING>>,
    pub ended_id: Signal<Out, Bits<32>>,

    /// One if there is a mixing.
    exists: Constant<Bits<1>>,
    /// The mixing after reset. Registers reset to zero: they hold the difference from it.
    own_matrix: Constant<Bits<63>>,
    own_offset: Constant<Bits<32>>,

    /// One waits.
    holds: Flop<Bit>,
    /// The cycle behind an end.
    has_begun: Flop<Bit>,
    change: Flop<Bits<MIXING>>,
    id_now: Flop<Bits<32>>,
    id_before: Flop<Bits<32>>,
    own: Signal<Local, Bits<MIXING>>,
    late: Signal<Local, Bits<32>>,
    due: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
}

impl Mixings {
    /// The mixings of a configuration.
    pub fn new(configuration: &Configuration) -> Self {
        let exists = configuration.has_mixing();
        let own = Mixing::own(configuration.seed());
        let [matrix, offset] = if exists { [own.matrix(), own.offset().into()] } else { [0; 2] };
        module! { Mixings {
            exists: Constant::new(u64::from(exists).into()),
            own_matrix: Constant::new(matrix.into()),
            own_offset: Constant::new(offset.into()),
        }
            clk rst load next_mixing next_id from ends begun pending mixing ended_id holds has_begun change id_now id_before
            own late due takes
        }
    }
}

impl Logic for Mixings {
    #[clocked(holds, has_begun, change, id_now, id_before)]
    fn update(&mut self) {
        self.own.next = (bit_cast::<MIXING, 32>(self.own_offset.val()) << 63)
            | bit_cast::<MIXING, 63>(self.own_matrix.val());
        self.takes.next = self.load.val() & self.exists.val().any();
        // The cycle behind an end: the number of the new interval is there. Is it due?
        self.has_begun.d.next = self.ends.val() & self.exists.val().any();
        self.late.next = self.begun.val() - self.from.val();
        self.due.next = self.has_begun.q.val() & self.holds.q.val() & !self.late.val().get_bit(31);
        if self.has_begun.q.val() {
            self.id_before.d.next = self.id_now.q.val();
        }
        if self.due.val() {
            self.holds.d.next = false;
            self.id_now.d.next = self.next_id.val();
            self.change.d.next = 0.into();
            if self.next_id.val().any() {
                self.change.d.next = self.next_mixing.val() ^ self.own.val();
            }
        }
        if self.takes.val() {
            self.holds.d.next = true;
        }
        self.pending.next = self.holds.q.val() | self.takes.val();
        self.mixing.next = self.change.q.val() ^ self.own.val();
        self.ended_id.next = self.id_before.q.val();
    }
}
