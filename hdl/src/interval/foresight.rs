//! Foresight: how the delimiter of one lane stands to every place that may be due when it is judged.
//!
//! # Theory of operation
//!
//! When a delimiter is judged, the place that is due is that of the cycle before, or the one behind it if a request has ended the
//! interval meanwhile, or the successor of a delimiter that was judged meanwhile, or of one on a lower lane. So is the candidate's
//! successor, but for the request. It is compared with all of these a cycle before, at once; the [succession] picks.
//!
//! ```text
//!            due, the one behind it, the candidate's successor
//! held ──▶ [ successors of what is being judged                  ] ──▶ same, begins, begins_keyed
//!            successors of what is held beside it
//! ```
//!
//! Behind the one that is due: it is compared with the due one's number, from its own less one.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | number, epoch | in | 32 | the delimiter's number and boot epoch |
//! | later | in | 32 | its number and 64 |
//! | predecessor, later_predecessor | in | 32 | likewise, less one |
//! | due, due_epoch | in | 32 | the place that is due |
//! | next_number, next_epoch | in | 32 | the candidate's successor |
//! | former_numbers, former_epochs | in | 128 | bits 32i+31:32i: the successor of what is being judged of lane i |
//! | beside_numbers, beside_epochs | in | 128 | likewise: that of what is held at the same time |
//! | is_due, begins, begins_keyed | out | 1 | the cycle behind the inputs: `same`, `begins`, `begins_keyed` of its [order] to the place that is due |
//! | is_behind, behind_begins, behind_begins_keyed | out | 1 | likewise, to the place behind that |
//! | is_next | out | 1 | likewise: it is the candidate's successor |
//! | is_former, former_begins, former_begins_keyed | out | 4 | bit i: likewise, to the successor of what was being judged of lane i |
//! | is_beside, beside_begins, beside_begins_keyed | out | 4 | bit i: likewise, of what was held at the same time; of use for lower lanes |
//!
//! Parameter: L, lanes (1..=4). Latency one cycle. Cost: 2 + 2 L orders and a comparison, of which synthesis keeps what is used.
//!
//! # Test plan
//!
//! With the [succession].
//!
//! [order]: crate::interval::order
//! [succession]: crate::interval::succession

use crate::interval::order::Order;
use crate::leaves::Flop;
use crate::module::module;
use deltaline_hdl_macros::{clocked, passes};
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Foresight<const L: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub number: Signal<In, Bits<32>>,
    pub epoch: Signal<In, Bits<32>>,
    pub later: Signal<In, Bits<32>>,
    pub predecessor: Signal<In, Bits<32>>,
    pub later_predecessor: Signal<In, Bits<32>>,
    pub due: Signal<In, Bits<32>>,
    pub due_epoch: Signal<In, Bits<32>>,
    pub next_number: Signal<In, Bits<32>>,
    pub next_epoch: Signal<In, Bits<32>>,
    pub former_numbers: Signal<In, Bits<128>>,
    pub former_epochs: Signal<In, Bits<128>>,
    pub beside_numbers: Signal<In, Bits<128>>,
    pub beside_epochs: Signal<In, Bits<128>>,
    pub is_due: Signal<Out, Bit>,
    pub begins: Signal<Out, Bit>,
    pub begins_keyed: Signal<Out, Bit>,
    pub is_behind: Signal<Out, Bit>,
    pub behind_begins: Signal<Out, Bit>,
    pub behind_begins_keyed: Signal<Out, Bit>,
    pub is_next: Signal<Out, Bit>,
    pub is_former: Signal<Out, Bits<4>>,
    pub former_begins: Signal<Out, Bits<4>>,
    pub former_begins_keyed: Signal<Out, Bits<4>>,
    pub is_beside: Signal<Out, Bits<4>>,
    pub beside_begins: Signal<Out, Bits<4>>,
    pub beside_begins_keyed: Signal<Out, Bits<4>>,

    to_due: Order,
    to_behind: Order,
    of_next: Flop<Bit>,
    to_former: [Order; L],
    to_beside: [Order; L],

    of_former: Signal<Local, Bits<4>>,
    begins_former: Signal<Local, Bits<4>>,
    begins_keyed_former: Signal<Local, Bits<4>>,
    of_beside: Signal<Local, Bits<4>>,
    begins_beside: Signal<Local, Bits<4>>,
    begins_keyed_beside: Signal<Local, Bits<4>>,
}

impl<const L: usize> Default for Foresight<L> {
    fn default() -> Self {
        module! { Foresight {}
            clk rst number epoch later predecessor later_predecessor due due_epoch next_number next_epoch former_numbers former_epochs beside_numbers
            beside_epochs is_due begins begins_keyed is_behind behind_begins behind_begins_keyed is_next is_former
            former_begins former_begins_keyed is_beside beside_begins beside_begins_keyed to_due to_behind of_next
            of_former begins_former begins_keyed_former of_beside begins_beside begins_keyed_beside
            ; each to_former to_beside
        }
    }
}

impl<const L: usize> Logic for Foresight<L> {
    #[passes(to_due, in(clk, rst, number, later, epoch), out(begins, begins_keyed))]
    #[passes(to_behind, in(clk, rst, epoch))]
    #[clocked(of_next)]
    fn update(&mut self) {
        self.to_due.other_number.next = self.due.val();
        self.to_due.other_epoch.next = self.due_epoch.val();
        self.to_behind.number.next = self.predecessor.val();
        self.to_behind.later.next = self.later_predecessor.val();
        self.to_behind.other_number.next = self.due.val();
        self.to_behind.other_epoch.next = self.due_epoch.val();
        self.of_next.d.next =
            (self.number.val() == self.next_number.val()) & (self.epoch.val() == self.next_epoch.val());
        self.of_former.next = 0.into();
        self.begins_former.next = 0.into();
        self.begins_keyed_former.next = 0.into();
        self.of_beside.next = 0.into();
        self.begins_beside.next = 0.into();
        self.begins_keyed_beside.next = 0.into();
        for i in 0..L {
            self.to_former[i].clk.next = self.clk.val();
            self.to_former[i].rst.next = self.rst.val();
            self.to_former[i].number.next = self.number.val();
            self.to_former[i].later.next = self.later.val();
            self.to_former[i].epoch.next = self.epoch.val();
            self.to_former[i].other_number.next = self.former_numbers.val().get_bits::<32>(i * 32);
            self.to_former[i].other_epoch.next = self.former_epochs.val().get_bits::<32>(i * 32);
            self.to_beside[i].clk.next = self.clk.val();
            self.to_beside[i].rst.next = self.rst.val();
            self.to_beside[i].number.next = self.number.val();
            self.to_beside[i].later.next = self.later.val();
            self.to_beside[i].epoch.next = self.epoch.val();
            self.to_beside[i].other_number.next = self.beside_numbers.val().get_bits::<32>(i * 32);
            self.to_beside[i].other_epoch.next = self.beside_epochs.val().get_bits::<32>(i * 32);
            self.of_former.next = self.of_former.val().replace_bit(i, self.to_former[i].same.val());
            self.begins_former.next = self.begins_former.val().replace_bit(i, self.to_former[i].begins.val());
            self.begins_keyed_former.next =
                self.begins_keyed_former.val().replace_bit(i, self.to_former[i].begins_keyed.val());
            self.of_beside.next = self.of_beside.val().replace_bit(i, self.to_beside[i].same.val());
            self.begins_beside.next = self.begins_beside.val().replace_bit(i, self.to_beside[i].begins.val());
            self.begins_keyed_beside.next =
                self.begins_keyed_beside.val().replace_bit(i, self.to_beside[i].begins_keyed.val());
        }
        self.is_former.next = self.of_former.val();
        self.former_begins.next = self.begins_former.val();
        self.former_begins_keyed.next = self.begins_keyed_former.val();
        self.is_beside.next = self.of_beside.val();
        self.beside_begins.next = self.begins_beside.val();
        self.beside_begins_keyed.next = self.begins_keyed_beside.val();
        self.is_due.next = self.to_due.same.val();
        self.is_behind.next = self.to_behind.same.val();
        self.behind_begins.next = self.to_behind.begins.val();
        self.behind_begins_keyed.next = self.to_behind.begins_keyed.val();
        self.is_next.next = self.of_next.q.val();
    }
}
