//! LDA: all banks' cells in two copies, one update a cycle on one copy while the other is drained.
//!
//! # Theory of operation
//!
//! Banks are disjoint, so a packet updates one bank at most, and all banks share one memory a copy: the address is
//! the bank followed by the row. Two [half cells](crate::sketch::half_cell) keep 36 bits each; the upper one works one
//! cycle behind the lower. This module walks an update through the cycles, finds the hazards once, and gives the
//! idle copy's ports to the drain. With digests a [digest cell](crate::sketch::digest_cell) goes along with the upper half.
//!
//! ```text
//! cycle 0   update port                      drain port
//! cycle 1   read addresses of both copies, hazards against cycles 2..=5
//! cycle 2   memory                                     (upper half: one cycle later)
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
//! | digest$0 | in | 32 | with digests: the update's digest, five cycles behind it |
//! | overflow | out | 1 | a count wrapped, seven cycles after its update |
//! | overflow_epoch | out | 1 | in this copy |
//! | drain_address | in | A | word of the idle copy to show or to clear |
//! | drain_epoch | in | 1 | which copy that is |
//! | clear$0, clear$1 | in | 1 | clear the word in copy 0, 1; the copy must be idle, or no update may come |
//! | drained_cell | out | S | the drained cell, count in bits 71:40, digest sum above, four cycles after drain_address settled |
//!
//! Throughput: one update a cycle, for any sequence of addresses. An update is written in cycles 5 and 6: a copy
//! may be drained from the seventh cycle after its last update on. Parameters: A, the width of a word's address;
//! D, 1 with digests, else 0; S = 72 + 32 D, bits of a cell.
//!
//! Cost: `docs/report.md`, by stage and by module.
//!
//! # Test plan
//!
//! `sim/cosim`: random and directed updates every cycle against `deltaline_model::sketch::lda`: one word, the same word at
//! distances 1..=8, epoch changes between neighbours, counts past 2^16, sums past every segment; drain with and
//! without clear; with digests and without.

use crate::leaves::Flop;
use crate::module::module;
use crate::sketch::digest_cell::DigestCell;
use crate::sketch::half_cell::HalfCell;
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
    pub digest: [Signal<In, Bits<32>>; D],
    pub overflow: Signal<Out, Bit>,
    pub overflow_epoch: Signal<Out, Bit>,
    pub drain_address: Signal<In, Bits<A>>,
    pub drain_epoch: Signal<In, Bit>,
    pub clear: [Signal<In, Bit>; 2],
    pub drained_cell: Signal<Out, Bits<S>>,

    lower: HalfCell<A>,
    upper: HalfCell<A>,
    digests: [DigestCell<A, S>; D],

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
    drained: Signal<Local, Bits<S>>,
}

impl<const A: usize, const S: usize, const D: usize> Default for Lda<A, S, D> {
    fn default() -> Self {
        module! { Lda { }
            clk rst update epoch address timestamp overflow overflow_epoch drain_address drain_epoch clear
            drained_cell lower upper valid copy word nanoseconds read_address hazard hazard_1 hazard_2
            hazard_3 hazard_4 clearing lower_target upper_target wraps wraps_copy drained_lower drained_upper
            drained
            ; each digest digests
        }
    }
}

impl<const A: usize, const S: usize, const D: usize> Logic for Lda<A, S, D> {
    #[clocked(wraps, wraps_copy)]
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
        self.lower.read_address[0].next = self.read_address[0].q.val();
        self.lower.read_address[1].next = self.read_address[1].q.val();
        self.upper.read_address[0].next = self.read_address[2].q.val();
        self.upper.read_address[1].next = self.read_address[3].q.val();

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
        self.lower.addend.next = self.nanoseconds[3].q.val().get_bits::<20>(0);
        self.lower.sum_carry_in.next = false;
        self.lower.count_carry_in.next = self.valid[3].q.val();
        self.upper.clk.next = self.clk.val();
        self.upper.rst.next = self.rst.val();
        self.upper.epoch.next = self.copy[3].q.val();
        self.upper.forward_1.next = self.hazard_1[3].q.val();
        self.upper.forward_2.next = self.hazard_2[2].q.val();
        self.upper.forward_3.next = self.hazard_3[2].q.val();
        self.upper.forward_4.next = self.hazard_4[2].q.val();
        self.upper.addend.next = self.nanoseconds[4].q.val().get_bits::<20>(20);
        self.upper.sum_carry_in.next = self.lower.sum_carry.val();
        self.upper.count_carry_in.next = self.lower.count_carry.val();

        // Writes: an update's result into its own copy, zero where the drain clears.
        for i in 0..2 {
            self.clearing[i].clock.next = self.clk.val();
            self.clearing[i].rst.next = self.rst.val();
            self.clearing[i].d.next = self.clear[i].val();
            self.lower.clear[i].next = self.clear[i].val();
            self.upper.clear[i].next = self.clearing[i].q.val();
            self.lower_target[i].next = self.word[4].q.val();
            self.upper_target[i].next = self.word[5].q.val();
            if self.clear[i].val() {
                self.lower_target[i].next = self.drain_address.val();
            }
            // The drain keeps its address for a cycle after it clears.
            if self.clearing[i].q.val() {
                self.upper_target[i].next = self.drain_address.val();
            }
            self.lower.write_address[i].next = self.lower_target[i].val();
            self.upper.write_address[i].next = self.upper_target[i].val();
        }
        self.lower.write[0].next = self.valid[4].q.val() & !self.copy[4].q.val();
        self.lower.write[1].next = self.valid[4].q.val() & self.copy[4].q.val();
        self.upper.write[0].next = self.valid[5].q.val() & !self.copy[5].q.val();
        self.upper.write[1].next = self.valid[5].q.val() & self.copy[5].q.val();

        for i in 0..D {
            self.digests[i].clk.next = self.clk.val();
            self.digests[i].rst.next = self.rst.val();
            self.digests[i].read_first.next = self.read_address[2].q.val();
            self.digests[i].read_second.next = self.read_address[3].q.val();
            self.digests[i].epoch.next = self.copy[3].q.val();
            self.digests[i].forward_1.next = self.hazard_1[3].q.val();
            self.digests[i].forward_2.next = self.hazard_2[2].q.val();
            self.digests[i].forward_3.next = self.hazard_3[2].q.val();
            self.digests[i].forward_4.next = self.hazard_4[2].q.val();
            self.digests[i].addend.next = self.digest[i].val();
            self.digests[i].write_first.next = self.valid[5].q.val() & !self.copy[5].q.val();
            self.digests[i].write_second.next = self.valid[5].q.val() & self.copy[5].q.val();
            self.digests[i].clear_first.next = self.clearing[0].q.val();
            self.digests[i].clear_second.next = self.clearing[1].q.val();
            self.digests[i].target_first.next = self.upper_target[0].val();
            self.digests[i].target_second.next = self.upper_target[1].val();
        }

        // Cycle 6: the upper count's carry.
        self.wraps.d.next = self.upper.count_carry.val() & self.valid[5].q.val();
        self.wraps_copy.d.next = self.copy[5].q.val();
        self.overflow.next = self.wraps.q.val();
        self.overflow_epoch.next = self.wraps_copy.q.val();

        // The drained cell: both parts of the count above both parts of the sum.
        self.drained_lower.next = self.lower.stored[0].val();
        self.drained_upper.next = self.upper.stored[0].val();
        if self.drain_epoch.val() {
            self.drained_lower.next = self.lower.stored[1].val();
            self.drained_upper.next = self.upper.stored[1].val();
        }
        self.drained.next = bit_cast::<S, 20>(self.drained_lower.val().get_bits::<20>(0))
            | (bit_cast::<S, 20>(self.drained_upper.val().get_bits::<20>(0)) << 20)
            | (bit_cast::<S, 16>(self.drained_lower.val().get_bits::<16>(20)) << 40)
            | (bit_cast::<S, 16>(self.drained_upper.val().get_bits::<16>(20)) << 56);
        for i in 0..D {
            self.digests[i].drain_epoch.next = self.drain_epoch.val();
            self.drained.next = self.drained.val() | self.digests[i].drained.val();
        }
        self.drained_cell.next = self.drained.val();
    }
}
