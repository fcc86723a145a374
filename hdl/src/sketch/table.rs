//! Table: one of several [ldas](crate::sketch::lda) that are updated together and drained one behind the other.
//!
//! # Theory of operation
//!
//! The drain walks over all tables: the table is in the two highest bits of its address, the cell below. A table shows and clears its cell
//! while it is drained, and shows zero else, so that what all show together is the drained cell.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | update, epoch, timestamp | in | 1, 1, 40 | as the lda's |
//! | row | in | R | with update: the cell |
//! | fields | in | F | further fields, field i in bits 32i+31:32i, five cycles behind the update |
//! | drain_address | in | A | table and cell, as above |
//! | drain_epoch, clear_first, clear_second | in | 1 | as the lda's, of the drained cell |
//! | drained_cell | out | S | as the lda's; zero while another table is drained |
//! | overflow, overflow_epoch | out | 1 | as the lda's |
//!
//! Latency and throughput are the lda's. Parameters: R = log2(cells), A = R + 2, S and D as the lda's, F = 32 D; the table's number is a constant.
//! Cost: the lda's, and S gates.
//!
//! # Test plan
//!
//! As part of [identity table](crate::sketch::identity_table) and [flow rows](crate::sketch::flow_rows), which prove and mutate it.

use crate::module::module;
use crate::sketch::lda::Lda;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Table<const R: usize, const A: usize, const S: usize, const D: usize, const F: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub update: Signal<In, Bit>,
    pub epoch: Signal<In, Bit>,
    pub row: Signal<In, Bits<R>>,
    pub timestamp: Signal<In, Bits<40>>,
    pub fields: Signal<In, Bits<F>>,
    pub drain_address: Signal<In, Bits<A>>,
    pub drain_epoch: Signal<In, Bit>,
    pub clear_first: Signal<In, Bit>,
    pub clear_second: Signal<In, Bit>,
    pub drained_cell: Signal<Out, Bits<S>>,
    pub overflow: Signal<Out, Bit>,
    pub overflow_epoch: Signal<Out, Bit>,

    lda: Lda<R, S, D>,
    below: [Constant<Bits<7>>; D],
    shifted: Signal<Local, Bits<F>>,
    row_bits: Constant<Bits<5>>,
    number: Constant<Bits<A>>,
    drained_table: Signal<Local, Bits<A>>,
    is_drained: Signal<Local, Bit>,
    shown: Signal<Local, Bits<S>>,
}

impl<const R: usize, const A: usize, const S: usize, const D: usize, const F: usize> Table<R, A, S, D, F> {
    /// The table of this number.
    pub(crate) fn new(number: u64) -> Self {
        module! { Table {
            below: std::array::from_fn(|field| Constant::new((32 * field as u64).into())),
            row_bits: Constant::new((R as u64).into()),
            number: Constant::new(number.into()),
        }
            clk rst update epoch row timestamp fields shifted drain_address drain_epoch clear_first clear_second
            drained_cell overflow overflow_epoch lda drained_table is_drained shown
        }
    }
}

impl<const R: usize, const A: usize, const S: usize, const D: usize, const F: usize> Logic
    for Table<R, A, S, D, F>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.drained_table.next = self.drain_address.val() >> self.row_bits.val();
        self.is_drained.next = self.drained_table.val() == self.number.val();
        self.lda.clk.next = self.clk.val();
        self.lda.rst.next = self.rst.val();
        self.lda.update.next = self.update.val();
        self.lda.epoch.next = self.epoch.val();
        self.lda.address.next = self.row.val();
        self.lda.timestamp.next = self.timestamp.val();
        for i in 0..D {
            self.shifted.next = self.fields.val() >> self.below[i].val();
            self.lda.field[i].next = self.shifted.val().get_bits::<32>(0);
        }
        self.lda.drain_address.next = self.drain_address.val().get_bits::<R>(0);
        self.lda.drain_epoch.next = self.drain_epoch.val();
        self.lda.clear[0].next = self.clear_first.val() & self.is_drained.val();
        self.lda.clear[1].next = self.clear_second.val() & self.is_drained.val();
        self.shown.next = 0.into();
        if self.is_drained.val() {
            self.shown.next = self.lda.drained_cell.val();
        }
        self.drained_cell.next = self.shown.val();
        self.overflow.next = self.lda.overflow.val();
        self.overflow_epoch.next = self.lda.overflow_epoch.val();
    }
}
