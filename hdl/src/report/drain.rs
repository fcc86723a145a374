//! Drain: the address's walk over all cells, class by class, and what each address says of its frame.
//!
//! # Theory of operation
//!
//! Cells come one after the other, so that the address alone says which class, fragment, bank and row is next; the tables of
//! another synopsis are walked over like banks. Banks
//! are no power of two, perhaps: the words between the last one and the next class are left out. Behind the last
//! cell of all the address is back at zero.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | step | in | 1 | on to the next cell |
//! | address | out | A | the cell's word |
//! | kind | out | 2 | its class |
//! | fragment, bank, first_row | out | A | of the frame that begins with it |
//! | at_first, at_last | out | 1 | if the address has stood for a cycle: it is the first of all, the last of all |
//! | pair_ends | out | 1 | the cell before was the second of a pair |
//! | block_ends, fragment_ends | out | 1 | if the address has stood for a cycle: a block of eight, a fragment ends in front of it |
//!
//! Latency one cycle. Parameter: A, the width of a word's address.
//!
//! # Test plan
//!
//! `hdl/formal/emitter.v`: every cell exactly once, in frames with their numbers.

use crate::leaves::Flop;
use crate::module::module;
use crate::sketch::lane::class_shift;
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Drain<const A: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub step: Signal<In, Bit>,
    pub address: Signal<Out, Bits<A>>,
    pub kind: Signal<Out, Bits<2>>,
    pub fragment: Signal<Out, Bits<A>>,
    pub bank: Signal<Out, Bits<A>>,
    pub first_row: Signal<Out, Bits<A>>,
    pub at_first: Signal<Out, Bit>,
    pub at_last: Signal<Out, Bit>,
    pub pair_ends: Signal<Out, Bit>,
    pub block_ends: Signal<Out, Bit>,
    pub fragment_ends: Signal<Out, Bit>,

    // How an address says class, fragment, bank and row.
    class_shift: Constant<Bits<5>>,
    class_mask: Constant<Bits<A>>,
    place_mask: Constant<Bits<A>>,
    class_last: Constant<Bits<A>>,
    row_bits: Constant<Bits<5>>,
    fragment_bits: Constant<Bits<5>>,
    row_mask: Constant<Bits<A>>,
    fragment_mask: Constant<Bits<A>>,
    last_address: Constant<Bits<A>>,

    address_now: Flop<Bits<A>>,
    is_first: Flop<Bit>,
    is_last: Flop<Bit>,
    ends_block: Flop<Bit>,
    ends_fragment: Flop<Bit>,
    class_bits: Signal<Local, Bits<A>>,
    /// The address within its class.
    place: Signal<Local, Bits<A>>,
    next_address: Signal<Local, Bits<A>>,
}

impl<const A: usize> Drain<A> {
    /// The drain of a configuration in fragments of `cells` cells; 2^A is at least classes × banks × rows, the latter two
    /// made powers of two.
    pub fn new(configuration: &Configuration, cells: u64) -> Self {
        let banks = u64::from(configuration.shape().tables);
        let rows = configuration.rows() as u64;
        let classes = configuration.classes() as u64;
        let class_shift = class_shift(configuration);
        // With one class all bits of an address are within it.
        let is_one = classes == 1;
        let place_mask = if is_one { u64::MAX >> (64 - A) } else { (1 << class_shift) - 1 };
        let class_mask = if is_one { 0 } else { classes.next_power_of_two() - 1 };
        let class_last = banks * rows - 1;
        module! { Drain {
            class_shift: Constant::new(u64::from(class_shift).into()),
            class_mask: Constant::new(class_mask.into()),
            place_mask: Constant::new(place_mask.into()),
            class_last: Constant::new(class_last.into()),
            row_bits: Constant::new(u64::from(configuration.row_bits()).into()),
            fragment_bits: Constant::new(u64::from(cells.max(1).ilog2()).into()),
            row_mask: Constant::new((rows - 1).into()),
            fragment_mask: Constant::new(cells.saturating_sub(1).into()),
            last_address: Constant::new(((classes - 1) << class_shift | class_last).into()),
        }
            clk rst step address kind fragment bank first_row at_first at_last pair_ends block_ends fragment_ends
            address_now is_first is_last ends_block ends_fragment class_bits place next_address
        }
    }
}

impl<const A: usize> Logic for Drain<A> {
    #[clocked(address_now, is_first, is_last, ends_block, ends_fragment)]
    fn update(&mut self) {
        self.class_bits.next = (self.address_now.q.val() >> self.class_shift.val()) & self.class_mask.val();
        self.place.next = self.address_now.q.val() & self.place_mask.val();
        self.next_address.next = self.address_now.q.val() + 1;
        if self.place.val() == self.class_last.val() {
            self.next_address.next = (self.address_now.q.val() | self.place_mask.val()) + 1;
        }
        if self.step.val() {
            self.address_now.d.next = self.next_address.val();
            if self.is_last.q.val() {
                self.address_now.d.next = 0.into();
            }
        }
        self.ends_block.d.next = !self.address_now.q.val().get_bits::<3>(0).any();
        self.ends_fragment.d.next = !(self.address_now.q.val() & self.fragment_mask.val()).any();
        self.is_first.d.next = !self.address_now.q.val().any();
        self.is_last.d.next = self.address_now.q.val() == self.last_address.val();

        self.address.next = self.address_now.q.val();
        self.kind.next = self.class_bits.val().get_bits::<2>(0);
        self.fragment.next = self.place.val() >> self.fragment_bits.val();
        self.bank.next = self.place.val() >> self.row_bits.val();
        self.first_row.next = self.address_now.q.val() & self.row_mask.val();
        self.at_first.next = self.is_first.q.val();
        self.at_last.next = self.is_last.q.val();
        self.pair_ends.next = !self.address_now.q.val().get_bit(0);
        self.block_ends.next = self.ends_block.q.val();
        self.fragment_ends.next = self.ends_fragment.q.val();
    }
}
