//! Digest cell: the digest sum of every cell, in two copies, with the adders that update it.
//!
//! # Theory of operation
//!
//! As a [half cell](crate::sketch::half_cell), in step with the upper one, with two sums of 16 bits in place of sum and count:
//! nothing is carried from one into the other.
//!
//! # Ports
//!
//! The cycles are those of the [lda](crate::sketch::lda).
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | read_first, read_second | in | A | cycle 2: word to read in copy 0, 1 |
//! | epoch | in | 1 | cycle 4: which copy the update belongs to |
//! | forward_2, forward_3, forward_4 | in | 1 | cycle 4: the update that many cycles ahead hit the same word |
//! | forward_1 | in | 1 | cycle 5: so did the one just ahead |
//! | addend | in | 32 | cycle 5: the packet's digest |
//! | write_first, write_second | in | 1 | cycle 6: write the result into copy 0, 1 |
//! | clear_first, clear_second | in | 1 | write zero instead |
//! | target_first, target_second | in | A | cycle 6: word to write |
//! | drain_epoch | in | 1 | which copy to show |
//! | drained | out | S | the output register of that copy, in the place of the digest sum in a cell: bits 103:72 |
//!
//! Latency five cycles from read address to written word, one update a cycle. Parameters: A, the width of a word's
//! address; S = 104, bits of a cell.
//!
//! Cost before placement: iCE40 292 LUT4, 192 flip-flops; ECP5 258 LUT4, 192 flip-flops; and two memories of 32 bits.
//!
//! # Test plan
//!
//! `sim/cosim`: as part of the lda; distances 1..=8, both epochs, carries out of both halves.

use crate::leaves::{Flop, Ram};
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct DigestCell<const A: usize, const S: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub read_first: Signal<In, Bits<A>>,
    pub read_second: Signal<In, Bits<A>>,
    pub epoch: Signal<In, Bit>,
    pub forward_1: Signal<In, Bit>,
    pub forward_2: Signal<In, Bit>,
    pub forward_3: Signal<In, Bit>,
    pub forward_4: Signal<In, Bit>,
    pub addend: Signal<In, Bits<32>>,
    pub write_first: Signal<In, Bit>,
    pub write_second: Signal<In, Bit>,
    pub clear_first: Signal<In, Bit>,
    pub clear_second: Signal<In, Bit>,
    pub target_first: Signal<In, Bits<A>>,
    pub target_second: Signal<In, Bits<A>>,
    pub drain_epoch: Signal<In, Bit>,
    pub drained: Signal<Out, Bits<S>>,

    first: Ram<32, A, false>,
    second: Ram<32, A, false>,
    first_out: Flop<Bits<32>>,
    second_out: Flop<Bits<32>>,
    operand: Flop<Bits<32>>,
    result: Flop<Bits<32>>,
    result_older: Flop<Bits<32>>,
    result_oldest: Flop<Bits<32>>,

    augend: Signal<Local, Bits<32>>,
    low: Signal<Local, Bits<16>>,
    high: Signal<Local, Bits<16>>,
    low_total: Signal<Local, Bits<16>>,
    high_total: Signal<Local, Bits<16>>,
    stored: Signal<Local, Bits<32>>,
}

impl<const A: usize, const S: usize> Logic for DigestCell<A, S> {
    #[clocked(first_out, second_out, operand, result, result_older, result_oldest)]
    fn update(&mut self) {
        self.first.clk.next = self.clk.val();
        self.first.read_address.next = self.read_first.val();
        self.first.write_enable.next = self.write_first.val() | self.clear_first.val();
        self.first.write_address.next = self.target_first.val();
        self.first.write_data.next = self.result.q.val();
        if self.clear_first.val() {
            self.first.write_data.next = 0.into();
        }
        self.first_out.d.next = self.first.read_data.val();
        self.second.clk.next = self.clk.val();
        self.second.read_address.next = self.read_second.val();
        self.second.write_enable.next = self.write_second.val() | self.clear_second.val();
        self.second.write_address.next = self.target_second.val();
        self.second.write_data.next = self.result.q.val();
        if self.clear_second.val() {
            self.second.write_data.next = 0.into();
        }
        self.second_out.d.next = self.second.read_data.val();
        self.stored.next = self.first_out.q.val();
        if self.drain_epoch.val() {
            self.stored.next = self.second_out.q.val();
        }
        self.drained.next = bit_cast::<S, 32>(self.stored.val()) << 72;

        // Cycle 4: the operand, or a result on its way to the memory, the newest first.
        self.operand.d.next = self.first_out.q.val();
        if self.epoch.val() {
            self.operand.d.next = self.second_out.q.val();
        }
        if self.forward_2.val() {
            self.operand.d.next = self.result.q.val();
        } else if self.forward_3.val() {
            self.operand.d.next = self.result_older.q.val();
        } else if self.forward_4.val() {
            self.operand.d.next = self.result_oldest.q.val();
        }

        // Cycle 5: the additions.
        self.augend.next = self.operand.q.val();
        if self.forward_1.val() {
            self.augend.next = self.result.q.val();
        }
        self.low.next = self.augend.val().get_bits::<16>(0);
        self.high.next = self.augend.val().get_bits::<16>(16);
        self.low_total.next = self.low.val() + self.addend.val().get_bits::<16>(0);
        self.high_total.next = self.high.val() + self.addend.val().get_bits::<16>(16);
        self.result.d.next =
            bit_cast::<32, 16>(self.low_total.val()) | (bit_cast::<32, 16>(self.high_total.val()) << 16);

        // Cycle 6 and later.
        self.result_older.d.next = self.result.q.val();
        self.result_oldest.d.next = self.result_older.q.val();
    }
}

/// The two halves of a digest sum in their place in a cell of S bits: bits 103:72. Combinational. Cost: wires.
#[derive(LogicBlock, Default)]
pub struct Place<const S: usize> {
    pub low: Signal<In, Bits<16>>,
    pub high: Signal<In, Bits<16>>,
    pub placed: Signal<Out, Bits<S>>,
}

impl<const S: usize> Logic for Place<S> {
    #[hdl_gen]
    fn update(&mut self) {
        self.placed.next =
            (bit_cast::<S, 16>(self.low.val()) << 72) | (bit_cast::<S, 16>(self.high.val()) << 88);
    }
}
