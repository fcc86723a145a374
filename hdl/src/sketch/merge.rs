//! Merge: the cell of two cells of the same word, as their lanes would have counted it in one.
//!
//! # Theory of operation
//!
//! Cells are linear: count and timestamp sum are added as they are, further fields in halves modulo 2^16, as in
//! [`crate::sketch::adder`]. Combinational, since cells are drained slowly.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | left, right | in | S | cells |
//! | merged | out | S | their sum |
//!
//! Parameters: S and D as the lda's.
//!
//! # Test plan
//!
//! `sim/cosim`, with cores of several lanes.

use crate::leaves::{CellFields, CellWord};
use crate::module::module;
use crate::sketch::adder::HalvesAdder;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Merge<const S: usize, const D: usize> {
    pub left: Signal<In, Bits<S>>,
    pub right: Signal<In, Bits<S>>,
    pub merged: Signal<Out, Bits<S>>,

    augend: CellFields<S, D>,
    addend: CellFields<S, D>,
    adder: [HalvesAdder; D],
    total: CellWord<S, D>,
}

impl<const S: usize, const D: usize> Default for Merge<S, D> {
    fn default() -> Self {
        module! { Merge {} left right merged augend addend total; each adder }
    }
}

impl<const S: usize, const D: usize> Logic for Merge<S, D> {
    #[hdl_gen]
    fn update(&mut self) {
        self.augend.word.next = self.left.val();
        self.addend.word.next = self.right.val();
        self.total.sum.next = self.augend.sum.val() + self.addend.sum.val();
        self.total.count.next = self.augend.count.val() + self.addend.count.val();
        for i in 0..D {
            self.adder[i].augend.next = self.augend.field[i].val();
            self.adder[i].addend.next = self.addend.field[i].val();
            self.total.field[i].next = self.adder[i].total.val();
        }
        self.merged.next = self.total.word.val();
    }
}
