//! Cell memory: W bits of every cell, in two copies, each updated in one cycle by whatever the user adds.
//!
//! # Theory of operation
//!
//! An update is read, waits for the memory's output register, picks its operand, is added, and is written back.
//! Updates of the same word that follow within four cycles read an old value; they get the new one by forwarding:
//! at a distance of one straight from the result register into the adder, of two to four when the operand is
//! picked. The user finds these hazards, once for all parts of its cells, and owns the [adder](crate::sketch::adder):
//! what a part holds, and how it adds, is nothing to the memory.
//!
//! ```text
//! cycle     1              2           3                 4                  5
//!        read address -> memory -> output register -> operand -> augend -> result -> write
//!                                     ^ forward 2, 3, 4     ^      |  ^      |
//!                                     |                     |    (adder)     |
//!                                     +---------------------+---------------+
//! ```
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | read_first, read_second | in | A | cycle 1: word to read in copy 0, 1 |
//! | epoch | in | 1 | cycle 3: which copy the update belongs to |
//! | forward_2, forward_3, forward_4 | in | 1 | cycle 3: the update that many cycles ahead hit the same word |
//! | forward_1 | in | 1 | cycle 4: so did the one just ahead |
//! | augend | out | W | cycle 4: the word as the updates ahead leave it |
//! | total | in | W | cycle 4: what it becomes |
//! | write_first, write_second | in | 1 | cycle 5: write that into copy 0, 1 |
//! | clear_first, clear_second | in | 1 | write zero instead |
//! | target_first, target_second | in | A | cycle 5: word to write |
//! | stored_first, stored_second | out | W | output registers of the copies |
//!
//! Latency five cycles from read address to written word, one update a cycle. Parameters: W, the width of a word;
//! A, that of its address.
//!
//! Cost: 4 W flip-flops, 2 W more in output registers, and two memories of W bits.
//!
//! # Test plan
//!
//! `sim/cosim`: as part of the lda; distances 1..=8, both epochs, all carries.

use crate::leaves::{Flop, OutputRegister, Ram};
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct CellMemory<const W: usize, const A: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub read_first: Signal<In, Bits<A>>,
    pub read_second: Signal<In, Bits<A>>,
    pub epoch: Signal<In, Bit>,
    pub forward_1: Signal<In, Bit>,
    pub forward_2: Signal<In, Bit>,
    pub forward_3: Signal<In, Bit>,
    pub forward_4: Signal<In, Bit>,
    pub augend: Signal<Out, Bits<W>>,
    pub total: Signal<In, Bits<W>>,
    pub write_first: Signal<In, Bit>,
    pub write_second: Signal<In, Bit>,
    pub clear_first: Signal<In, Bit>,
    pub clear_second: Signal<In, Bit>,
    pub target_first: Signal<In, Bits<A>>,
    pub target_second: Signal<In, Bits<A>>,
    pub stored_first: Signal<Out, Bits<W>>,
    pub stored_second: Signal<Out, Bits<W>>,

    ram: [Ram<W, A, true>; 2],
    read_out: [OutputRegister<W>; 2],
    operand: Flop<Bits<W>>,
    result: Flop<Bits<W>>,
    result_older: Flop<Bits<W>>,
    result_oldest: Flop<Bits<W>>,
    newest: Signal<Local, Bits<W>>,
}

impl<const W: usize, const A: usize> Logic for CellMemory<W, A> {
    #[clocked(operand, result, result_older, result_oldest)]
    fn update(&mut self) {
        for i in 0..2 {
            self.ram[i].clk.next = self.clk.val();
            self.ram[i].write_data.next = self.result.q.val();
            self.read_out[i].clock.next = self.clk.val();
            self.read_out[i].rst.next = self.rst.val();
            self.read_out[i].d.next = self.ram[i].read_data.val();
        }
        self.ram[0].read_address.next = self.read_first.val();
        self.ram[0].write_enable.next = self.write_first.val() | self.clear_first.val();
        self.ram[0].write_address.next = self.target_first.val();
        if self.clear_first.val() {
            self.ram[0].write_data.next = 0.into();
        }
        self.stored_first.next = self.read_out[0].q.val();
        self.ram[1].read_address.next = self.read_second.val();
        self.ram[1].write_enable.next = self.write_second.val() | self.clear_second.val();
        self.ram[1].write_address.next = self.target_second.val();
        if self.clear_second.val() {
            self.ram[1].write_data.next = 0.into();
        }
        self.stored_second.next = self.read_out[1].q.val();

        // Cycle 3: the operand, or a result on its way to the memory, the newest first.
        self.operand.d.next = self.read_out[0].q.val();
        if self.epoch.val() {
            self.operand.d.next = self.read_out[1].q.val();
        }
        if self.forward_2.val() {
            self.operand.d.next = self.result.q.val();
        } else if self.forward_3.val() {
            self.operand.d.next = self.result_older.q.val();
        } else if self.forward_4.val() {
            self.operand.d.next = self.result_oldest.q.val();
        }

        // Cycle 4: to the adder and back.
        self.newest.next = self.operand.q.val();
        if self.forward_1.val() {
            self.newest.next = self.result.q.val();
        }
        self.augend.next = self.newest.val();
        self.result.d.next = self.total.val();

        // Cycle 5 and later.
        self.result_older.d.next = self.result.q.val();
        self.result_oldest.d.next = self.result_older.q.val();
    }
}
