//! Half a cell: 36 bits of every cell, in two copies, with the adders that update them.
//!
//! # Theory of operation
//!
//! A cell's 72 bits are two halves of 36: a 16-bit part of the count and a 20-bit part of the timestamp sum. The
//! upper half does everything one cycle after the lower half and takes over its carries, so that no adder is
//! longer than 20 bits and the memory still holds plain cells.
//!
//! An update is read, waits for the memory's output register, picks its operand, is added, and is written back.
//! Updates of the same word that follow within four cycles read an old value; they get the new one by forwarding:
//! at a distance of one straight from the result register into the adder, of two to four when the operand is
//! picked. The [lda](crate::sketch::lda) finds these hazards once for both halves.
//!
//! ```text
//! cycle     1              2           3                 4               5
//!        read address -> memory -> output register -> operand -> add -> result -> write
//!                                     ^ forward 2, 3, 4     ^ forward 1     |
//!                                     +---------------------+--------------+
//! ```
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | read_address$0, $1 | in | A | cycle 1: word to read in copy 0, 1 |
//! | epoch | in | 1 | cycle 3: which copy the update belongs to |
//! | forward_2, forward_3, forward_4 | in | 1 | cycle 3: the update that many cycles ahead hit the same word |
//! | forward_1 | in | 1 | cycle 4: so did the one just ahead |
//! | addend | in | 20 | cycle 4: part of the timestamp |
//! | sum_carry_in, count_carry_in | in | 1 | cycle 4: carries; the lower half counts packets with the second |
//! | sum_carry, count_carry | out | 1 | cycle 5: carries out |
//! | write$0, $1 | in | 1 | cycle 5: write the result into copy 0, 1 |
//! | clear$0, $1 | in | 1 | write zero instead |
//! | write_address$0, $1 | in | A | cycle 5: word to write |
//! | stored$0, $1 | out | 36 | output registers of the copies: count part in bits 35:20, sum part below |
//!
//! Latency five cycles from read address to written word, one update a cycle. Parameters: A, the width of a word's
//! address.
//!
//! Cost: half of the lda's.
//!
//! # Test plan
//!
//! `sim/cosim`: as part of the lda; distances 1..=8, both epochs, all carries.

use crate::leaves::{Flop, OutputRegister, Ram};
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct HalfCell<const A: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub read_address: [Signal<In, Bits<A>>; 2],
    pub epoch: Signal<In, Bit>,
    pub forward_1: Signal<In, Bit>,
    pub forward_2: Signal<In, Bit>,
    pub forward_3: Signal<In, Bit>,
    pub forward_4: Signal<In, Bit>,
    pub addend: Signal<In, Bits<20>>,
    pub sum_carry_in: Signal<In, Bit>,
    pub count_carry_in: Signal<In, Bit>,
    pub sum_carry: Signal<Out, Bit>,
    pub count_carry: Signal<Out, Bit>,
    pub write: [Signal<In, Bit>; 2],
    pub clear: [Signal<In, Bit>; 2],
    pub write_address: [Signal<In, Bits<A>>; 2],
    pub stored: [Signal<Out, Bits<36>>; 2],

    ram: [Ram<36, A, true>; 2],
    read_out: [OutputRegister<36>; 2],
    operand: Flop<Bits<36>>,
    result: Flop<Bits<36>>,
    result_older: Flop<Bits<36>>,
    result_oldest: Flop<Bits<36>>,
    sum_carry_out: Flop<Bit>,
    count_carry_out: Flop<Bit>,

    augend: Signal<Local, Bits<36>>,
    // One bit longer at each end: the carry in enters below, the carry out leaves above.
    sum_left: Signal<Local, Bits<22>>,
    sum_right: Signal<Local, Bits<22>>,
    sum_total: Signal<Local, Bits<22>>,
    count_left: Signal<Local, Bits<18>>,
    count_right: Signal<Local, Bits<18>>,
    count_total: Signal<Local, Bits<18>>,
}

impl<const A: usize> Logic for HalfCell<A> {
    #[clocked(operand, result, result_older, result_oldest, sum_carry_out, count_carry_out)]
    fn update(&mut self) {
        for i in 0..2 {
            self.ram[i].clk.next = self.clk.val();
            self.ram[i].read_address.next = self.read_address[i].val();
            self.ram[i].write_enable.next = self.write[i].val() | self.clear[i].val();
            self.ram[i].write_address.next = self.write_address[i].val();
            self.ram[i].write_data.next = self.result.q.val();
            if self.clear[i].val() {
                self.ram[i].write_data.next = 0.into();
            }
            self.read_out[i].clock.next = self.clk.val();
            self.read_out[i].rst.next = self.rst.val();
            self.read_out[i].d.next = self.ram[i].read_data.val();
            self.stored[i].next = self.read_out[i].q.val();
        }

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

        // Cycle 4: the addition.
        self.augend.next = self.operand.q.val();
        if self.forward_1.val() {
            self.augend.next = self.result.q.val();
        }
        self.sum_left.next = (bit_cast::<22, 20>(self.augend.val().get_bits::<20>(0)) << 1) | 1;
        self.sum_right.next = bit_cast::<22, 20>(self.addend.val()) << 1;
        if self.sum_carry_in.val() {
            self.sum_right.next = self.sum_right.val() | 1;
        }
        self.sum_total.next = self.sum_left.val() + self.sum_right.val();
        self.count_left.next = (bit_cast::<18, 16>(self.augend.val().get_bits::<16>(20)) << 1) | 1;
        self.count_right.next = 0.into();
        if self.count_carry_in.val() {
            self.count_right.next = 1.into();
        }
        self.count_total.next = self.count_left.val() + self.count_right.val();
        self.result.d.next = bit_cast::<36, 20>(self.sum_total.val().get_bits::<20>(1))
            | (bit_cast::<36, 16>(self.count_total.val().get_bits::<16>(1)) << 20);
        self.sum_carry_out.d.next = self.sum_total.val().get_bit(21);
        self.count_carry_out.d.next = self.count_total.val().get_bit(17);

        // Cycle 5 and later.
        self.result_older.d.next = self.result.q.val();
        self.result_oldest.d.next = self.result_older.q.val();
        self.sum_carry.next = self.sum_carry_out.q.val();
        self.count_carry.next = self.count_carry_out.q.val();
    }
}
