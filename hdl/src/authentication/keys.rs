//! Keys: the key and the boot epoch of the control frames, which change between intervals alone.
//!
//! # Theory of operation
//!
//! Twin of `MeasurementPoint::schedule_key` in `deltaline_model::point`. A key that is scheduled waits where it was written,
//! and becomes the key of all frames at the end of an interval behind which the running interval has the number `from` or a
//! later one, modulo 2^32. The drain that begins there has it already: it sends its first word in the cycle in which the key
//! is there. As no interval ends during a drain, all frames of an interval have one key and one epoch.
//!
//! ```text
//! cycle      0       1         2      3
//!            ends -> number -> due? -> key, epoch
//! ```
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset: no key, epoch zero |
//! | load | in | 1 | schedule the next key |
//! | next_key, next_id | in | 128, 16 | the next key and its identifier, zero for no key; constant while `pending` |
//! | from | in | 32 | number of an interval; looked at when one ends |
//! | boot_epoch | in | 32 | taken when an interval ends |
//! | ends | in | 1 | an interval ends behind this cycle |
//! | running_number | in | 32 | from the second cycle behind `ends` on: number of the running interval |
//! | pending | out | 1 | a key waits |
//! | renews | out | 1 | from the next cycle on the next three may be others |
//! | key, key_id, epoch | out | 128, 16, 32 | from the third cycle behind `ends` on: those of the control frames |
//!
//! A schedule counts for the intervals that end in the cycle before its own, or later. No parameters. Cost:
//! `docs/authentication.md`; the key waits in the registers that it was written to, which costs nothing here.
//!
//! # Test plan
//!
//! `sim/cosim` `checks::shell`, in whole designs: keys and epochs that change, from intervals before, at and behind the next
//! one, while one waits, none; planted faults.

use crate::leaves::Flop;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Keys {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub load: Signal<In, Bit>,
    pub next_key: Signal<In, Bits<128>>,
    pub next_id: Signal<In, Bits<16>>,
    pub from: Signal<In, Bits<32>>,
    pub boot_epoch: Signal<In, Bits<32>>,
    pub ends: Signal<In, Bit>,
    pub running_number: Signal<In, Bits<32>>,
    pub pending: Signal<Out, Bit>,
    pub renews: Signal<Out, Bit>,
    pub key: Signal<Out, Bits<128>>,
    pub key_id: Signal<Out, Bits<16>>,
    pub epoch: Signal<Out, Bits<32>>,

    waits: Flop<Bit>,
    /// One and two cycles behind `ends`.
    has_ended: Flop<Bit>,
    is_numbered: Flop<Bit>,
    key_now: Flop<Bits<128>>,
    id_now: Flop<Bits<16>>,
    epoch_now: Flop<Bits<32>>,
    late: Signal<Local, Bits<32>>,
}

impl Logic for Keys {
    #[clocked(waits, has_ended, is_numbered, key_now, id_now, epoch_now)]
    fn update(&mut self) {
        self.has_ended.d.next = self.ends.val();
        self.is_numbered.d.next = self.has_ended.q.val();
        self.late.next = self.running_number.val() - self.from.val();
        if self.is_numbered.q.val() {
            self.epoch_now.d.next = self.boot_epoch.val();
            if self.waits.q.val() & !self.late.val().get_bit(31) {
                self.waits.d.next = false;
                self.key_now.d.next = self.next_key.val();
                self.id_now.d.next = self.next_id.val();
            }
        }
        if self.load.val() {
            self.waits.d.next = true;
        }
        self.pending.next = self.waits.q.val() | self.load.val();
        self.renews.next = self.is_numbered.q.val();
        self.key.next = self.key_now.q.val();
        self.key_id.next = self.id_now.q.val();
        self.epoch.next = self.epoch_now.q.val();
    }
}
