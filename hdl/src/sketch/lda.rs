//! LDA: all banks' cells in two copies, one update a cycle on one copy while the other is drained.
//!
//! # Theory of operation
//!
//! Banks are disjoint, so a packet updates one bank at most, and all banks share one memory a copy: the address is
//! the bank followed by the row. Count and timestamp sum lie in two [cell memories](crate::sketch::cell_memory) of 36
//! bits: 16 bits of the count and 20 of the sum each. The upper part works one cycle behind the lower and takes over
//! its carries, so that no adder is longer than 20 bits and the memory still holds plain cells. This module walks an
//! update through the cycles, finds the hazards once, and gives the idle copy's ports to the drain. Every further field
//! of 32 bits, such as the digest sum, is one more cell memory in step with the upper part.
//!
//! ```text
//! cycle 0   update port                      drain port
//! cycle 1   read addresses of both copies, hazards against cycles 2..=5
//! cycle 2   memory                                     (upper part and further fields: one cycle later)
//! cycle 3   operand
//! cycle 4   addition
//! cycle 5   write
//! ```
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset of the pipeline (not of the memories) |
//! | update | in | 1 | count a packet |
//! | epoch | in | 1 | in this copy |
//! | address | in | A | in this word |
//! | timestamp | in | 40 | and add this many nanoseconds |
//! | field$0 ... | in | 32 | what is added to the further fields, five cycles behind the update; halves modulo 2^16 |
//! | overflow | out | 1 | a count wrapped, seven cycles after its update |
//! | overflow_epoch | out | 1 | in this copy |
//! | drain_address | in | A | word of the idle copy to show or to clear |
//! | drain_epoch | in | 1 | which copy that is |
//! | clear$0, clear$1 | in | 1 | clear the word in copy 0, 1; the copy must be idle, or no update may come |
//! | drained_cell | out | S | the drained cell as [`CellWord`] puts it together, four cycles after drain_address settled |
//!
//! Throughput: one update a cycle, for any sequence of addresses. An update is written in cycles 5 and 6: a copy
//! may be drained from the seventh cycle after its last update on. Parameters: A, the width of a word's address;
//! D, further fields; S = 72 + 32 D, bits of a cell.
//!
//! Cost: `docs/report.md`, by stage and by module.
//!
//! # Test plan
//!
//! `sim/cosim`: random and directed updates every cycle against `deltaline_model::sketch::lda`: one word, the same word at
//! distances 1..=8, epoch changes between neighbours, counts past 2^16, sums past every segment; drain with and
//! without clear; with a further field and without.

use crate::leaves::{CellWord, Flop};
use crate::module::module;
use crate::sketch::adder::{HalvesAdder, PartAdder};
use crate::sketch::cell_memory::CellMemory;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Lda<const A: usize, const S: usize = 72, const D: usize = 0> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub update: Signal<In, Bit>,
    pub epoch: Signal<In, Bit>,
    pub address: Signal<In, Bits<A>>,
    pub timestamp: Signal<In, Bits<40>>,
    pub field: [Signal<In, Bits<32>>; D],
    pub overflow: Signal<Out, Bit>,
    pub overflow_epoch: Signal<Out, Bit>,
    pub drain_address: Signal<In, Bits<A>>,
    pub drain_epoch: Signal<In, Bit>,
    pub clear: [Signal<In, Bit>; 2],
    pub drained_cell: Signal<Out, Bits<S>>,

    lower: CellMemory<36, A>,
    upper: CellMemory<36, A>,
    fields: [CellMemory<32, A>; D],
    lower_adder: PartAdder,
    upper_adder: PartAdder,
    field_adder: [HalvesAdder; D],
    /// Out of the lower part, into the upper one a cycle later; out of the upper count.
    sum_carry: Flop<Bit>,
    count_carry: Flop<Bit>,
    count_wraps: Flop<Bit>,

    valid: [Flop<Bit>; 6],
    copy: [Flop<Bit>; 6],
    word: [Flop<Bits<A>>; 6],
    nanoseconds: [Flop<Bits<40>>; 5],
    read_address: [Flop<Bits<A>>; 4],
    hazard: [Signal<Local, Bit>; 4],
    hazard_1: [Flop<Bit>; 4],
    hazard_2: [Flop<Bit>; 3],
    hazard_3: [Flop<Bit>; 3],
    hazard_4: [Flop<Bit>; 3],
    clearing: [Flop<Bit>; 2],
    lower_target: [Signal<Local, Bits<A>>; 2],
    upper_target: [Signal<Local, Bits<A>>; 2],
    wraps: Flop<Bit>,
    wraps_copy: Flop<Bit>,
    drained_lower: Signal<Local, Bits<36>>,
    drained_upper: Signal<Local, Bits<36>>,
    drained_fields: [Signal<Local, Bits<32>>; D],
    drained: CellWord<S, D>,
}

impl<const A: usize, const S: usize, const D: usize> Default for Lda<A, S, D> {
    fn default() -> Self {
        module! { Lda {}
            clk rst update epoch address timestamp overflow overflow_epoch drain_address drain_epoch clear
            drained_cell lower upper lower_adder upper_adder sum_carry count_carry count_wraps valid copy word
            nanoseconds read_address hazard hazard_1 hazard_2 hazard_3 hazard_4 clearing lower_target upper_target
            wraps wraps_copy drained_lower drained_upper drained; each field fields field_adder drained_fields
        }
    }
}

impl<const A: usize, const S: usize, const D: usize> Logic for Lda<A, S, D> {
    #[clocked(sum_carry, count_carry, count_wraps, wraps, wraps_copy)]
    fn update(&mut self) {
        // An update's way through the cycles: index i holds it in cycle i + 1.
        for i in 0..6 {
            self.valid[i].clock.next = self.clk.val();
            self.valid[i].rst.next = self.rst.val();
            self.copy[i].clock.next = self.clk.val();
            self.copy[i].rst.next = self.rst.val();
            self.word[i].clock.next = self.clk.val();
            self.word[i].rst.next = self.rst.val();
        }
        for i in 0..5 {
            self.valid[i + 1].d.next = self.valid[i].q.val();
            self.copy[i + 1].d.next = self.copy[i].q.val();
            self.word[i + 1].d.next = self.word[i].q.val();
        }
        self.valid[0].d.next = self.update.val();
        self.copy[0].d.next = self.epoch.val();
        self.word[0].d.next = self.address.val();
        for i in 0..5 {
            self.nanoseconds[i].clock.next = self.clk.val();
            self.nanoseconds[i].rst.next = self.rst.val();
        }
        for i in 0..4 {
            self.nanoseconds[i + 1].d.next = self.nanoseconds[i].q.val();
        }
        self.nanoseconds[0].d.next = self.timestamp.val();

        // Cycle 0: the copy that is updated reads the update's word, the other the drain's. The upper half reads
        // one cycle later.
        for i in 0..4 {
            self.read_address[i].clock.next = self.clk.val();
            self.read_address[i].rst.next = self.rst.val();
        }
        self.read_address[0].d.next = self.drain_address.val();
        self.read_address[1].d.next = self.drain_address.val();
        if self.update.val() {
            if self.epoch.val() {
                self.read_address[1].d.next = self.address.val();
            } else {
                self.read_address[0].d.next = self.address.val();
            }
        }
        self.read_address[2].d.next = self.read_address[0].q.val();
        self.read_address[3].d.next = self.read_address[1].q.val();
        self.lower.read_first.next = self.read_address[0].q.val();
        self.lower.read_second.next = self.read_address[1].q.val();
        self.upper.read_first.next = self.read_address[2].q.val();
        self.upper.read_second.next = self.read_address[3].q.val();

        // Cycle 1: who of the four updates ahead hits the same word?
        for i in 0..4 {
            self.hazard[i].next = self.valid[i + 1].q.val()
                & (self.copy[i + 1].q.val() == self.copy[0].q.val())
                & (self.word[i + 1].q.val() == self.word[0].q.val());
        }
        for i in 0..4 {
            self.hazard_1[i].clock.next = self.clk.val();
            self.hazard_1[i].rst.next = self.rst.val();
        }
        for i in 0..3 {
            self.hazard_1[i + 1].d.next = self.hazard_1[i].q.val();
            self.hazard_2[i].clock.next = self.clk.val();
            self.hazard_2[i].rst.next = self.rst.val();
            self.hazard_3[i].clock.next = self.clk.val();
            self.hazard_3[i].rst.next = self.rst.val();
            self.hazard_4[i].clock.next = self.clk.val();
            self.hazard_4[i].rst.next = self.rst.val();
        }
        for i in 0..2 {
            self.hazard_2[i + 1].d.next = self.hazard_2[i].q.val();
            self.hazard_3[i + 1].d.next = self.hazard_3[i].q.val();
            self.hazard_4[i + 1].d.next = self.hazard_4[i].q.val();
        }
        self.hazard_1[0].d.next = self.hazard[0].val();
        self.hazard_2[0].d.next = self.hazard[1].val();
        self.hazard_3[0].d.next = self.hazard[2].val();
        self.hazard_4[0].d.next = self.hazard[3].val();

        // Cycles 3 to 5 of the lower half, 4 to 6 of the upper.
        self.lower.clk.next = self.clk.val();
        self.lower.rst.next = self.rst.val();
        self.lower.epoch.next = self.copy[2].q.val();
        self.lower.forward_1.next = self.hazard_1[2].q.val();
        self.lower.forward_2.next = self.hazard_2[1].q.val();
        self.lower.forward_3.next = self.hazard_3[1].q.val();
        self.lower.forward_4.next = self.hazard_4[1].q.val();
        self.lower_adder.augend.next = self.lower.augend.val();
        self.lower_adder.addend.next = self.nanoseconds[3].q.val().get_bits::<20>(0);
        self.lower_adder.sum_carry_in.next = false;
        self.lower_adder.count_carry_in.next = self.valid[3].q.val();
        self.lower.total.next = self.lower_adder.total.val();
        self.sum_carry.d.next = self.lower_adder.sum_carry.val();
        self.count_carry.d.next = self.lower_adder.count_carry.val();
        self.upper.clk.next = self.clk.val();
        self.upper.rst.next = self.rst.val();
        self.upper.epoch.next = self.copy[3].q.val();
        self.upper.forward_1.next = self.hazard_1[3].q.val();
        self.upper.forward_2.next = self.hazard_2[2].q.val();
        self.upper.forward_3.next = self.hazard_3[2].q.val();
        self.upper.forward_4.next = self.hazard_4[2].q.val();
        self.upper_adder.augend.next = self.upper.augend.val();
        self.upper_adder.addend.next = self.nanoseconds[4].q.val().get_bits::<20>(20);
        self.upper_adder.sum_carry_in.next = self.sum_carry.q.val();
        self.upper_adder.count_carry_in.next = self.count_carry.q.val();
        self.upper.total.next = self.upper_adder.total.val();
        self.count_wraps.d.next = self.upper_adder.count_carry.val();

        // Writes: an update's result into its own copy, zero where the drain clears.
        for i in 0..2 {
            self.clearing[i].clock.next = self.clk.val();
            self.clearing[i].rst.next = self.rst.val();
            self.clearing[i].d.next = self.clear[i].val();
            self.lower_target[i].next = self.word[4].q.val();
            self.upper_target[i].next = self.word[5].q.val();
            if self.clear[i].val() {
                self.lower_target[i].next = self.drain_address.val();
            }
            // The drain keeps its address for a cycle after it clears.
            if self.clearing[i].q.val() {
                self.upper_target[i].next = self.drain_address.val();
            }
        }
        self.lower.clear_first.next = self.clear[0].val();
        self.lower.clear_second.next = self.clear[1].val();
        self.lower.target_first.next = self.lower_target[0].val();
        self.lower.target_second.next = self.lower_target[1].val();
        self.upper.clear_first.next = self.clearing[0].q.val();
        self.upper.clear_second.next = self.clearing[1].q.val();
        self.upper.target_first.next = self.upper_target[0].val();
        self.upper.target_second.next = self.upper_target[1].val();
        self.lower.write_first.next = self.valid[4].q.val() & !self.copy[4].q.val();
        self.lower.write_second.next = self.valid[4].q.val() & self.copy[4].q.val();
        self.upper.write_first.next = self.valid[5].q.val() & !self.copy[5].q.val();
        self.upper.write_second.next = self.valid[5].q.val() & self.copy[5].q.val();

        for i in 0..D {
            self.fields[i].clk.next = self.clk.val();
            self.fields[i].rst.next = self.rst.val();
            self.fields[i].epoch.next = self.copy[3].q.val();
            self.fields[i].forward_1.next = self.hazard_1[3].q.val();
            self.fields[i].forward_2.next = self.hazard_2[2].q.val();
            self.fields[i].forward_3.next = self.hazard_3[2].q.val();
            self.fields[i].forward_4.next = self.hazard_4[2].q.val();
            self.field_adder[i].augend.next = self.fields[i].augend.val();
            self.field_adder[i].addend.next = self.field[i].val();
            self.fields[i].total.next = self.field_adder[i].total.val();
            self.fields[i].read_first.next = self.read_address[2].q.val();
            self.fields[i].read_second.next = self.read_address[3].q.val();
            self.fields[i].write_first.next = self.valid[5].q.val() & !self.copy[5].q.val();
            self.fields[i].write_second.next = self.valid[5].q.val() & self.copy[5].q.val();
            self.fields[i].clear_first.next = self.clearing[0].q.val();
            self.fields[i].clear_second.next = self.clearing[1].q.val();
            self.fields[i].target_first.next = self.upper_target[0].val();
            self.fields[i].target_second.next = self.upper_target[1].val();
        }

        // Cycle 6: the upper count's carry.
        self.wraps.d.next = self.count_wraps.q.val() & self.valid[5].q.val();
        self.wraps_copy.d.next = self.copy[5].q.val();
        self.overflow.next = self.wraps.q.val();
        self.overflow_epoch.next = self.wraps_copy.q.val();

        // The drained cell: both parts of the count above both parts of the sum.
        self.drained_lower.next = self.lower.stored_first.val();
        self.drained_upper.next = self.upper.stored_first.val();
        if self.drain_epoch.val() {
            self.drained_lower.next = self.lower.stored_second.val();
            self.drained_upper.next = self.upper.stored_second.val();
        }
        self.drained.sum.next = bit_cast::<40, 20>(self.drained_lower.val().get_bits::<20>(0))
            | (bit_cast::<40, 20>(self.drained_upper.val().get_bits::<20>(0)) << 20);
        self.drained.count.next = bit_cast::<32, 16>(self.drained_lower.val().get_bits::<16>(20))
            | (bit_cast::<32, 16>(self.drained_upper.val().get_bits::<16>(20)) << 16);
        for i in 0..D {
            self.drained_fields[i].next = self.fields[i].stored_first.val();
            if self.drain_epoch.val() {
                self.drained_fields[i].next = self.fields[i].stored_second.val();
            }
            self.drained.field[i].next = self.drained_fields[i].val();
        }
        self.drained_cell.next = self.drained.word.val();
    }
}
