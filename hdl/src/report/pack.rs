//! Pack: the words of a control frame, each added to the check word and turned into a beat.
//!
//! # Theory of operation
//!
//! A word is chosen or taken from a cell, added, and offered. A cell gives its word at once: the count above the low 32
//! bits of the timestamp sum. The rest of it waits: the sums' top bytes until the eight cells of a block are there, and
//! each further field of 32 bits until two cells are, since frames are made of 64-bit words.
//!
//! ```text
//! two cells:  word, word, first fields of both, second fields of both, ...
//! a block:    four times two cells, top bytes of the eight sums
//! ```
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | choose | in | 1 | choose the word of `section` |
//! | section | in | 3 | 0 header, 1 cells, 2 sum tops, 3 tag, 4 check, 5 further fields of two cells |
//! | step | in | 5 | which of the header's or of the two cells' words |
//! | header_word | in | 64 | the header's word |
//! | take | in | 1 | take the cell's word instead |
//! | drained_cell | in | S | the cell |
//! | add | in | 1 | in the cycle behind: add the chosen word to the check word, and offer it |
//! | taken | in | 1 | the beat has been taken |
//! | data, valid, last | out | 64, 1, 1 | the beat, bytes as on the wire |
//!
//! Parameters: S, bits of a cell; D, its further fields.
//!
//! # Test plan
//!
//! `hdl/formal/emitter.v`: a cell's parts at their places. `sim/cosim`, as part of the cores: check words; further fields.

use crate::leaves::{CellFields, Flop};
use crate::module::module;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Pack<const S: usize, const D: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub choose: Signal<In, Bit>,
    pub section: Signal<In, Bits<3>>,
    pub step: Signal<In, Bits<5>>,
    pub header_word: Signal<In, Bits<64>>,
    pub take: Signal<In, Bit>,
    pub drained_cell: Signal<In, Bits<S>>,
    pub add: Signal<In, Bit>,
    pub taken: Signal<In, Bit>,
    pub data: Signal<Out, Bits<64>>,
    pub valid: Signal<Out, Bit>,
    pub last: Signal<Out, Bit>,

    taken_cell: CellFields<S, D>,
    /// The number of a further field among them.
    field_number: [Constant<Bits<5>>; D],
    chosen: Flop<Bits<64>>,
    tops: Flop<Bits<64>>,
    /// Two cells' further fields; what enters with the next cell.
    pair: [Flop<Bits<64>>; D],
    entering: [FieldShift; D],
    check: Flop<Bits<64>>,
    beat: Flop<Bits<64>>,
    is_valid: Flop<Bit>,
    is_last: Flop<Bit>,
    rotated: Signal<Local, Bits<64>>,
}

impl<const S: usize, const D: usize> Default for Pack<S, D> {
    fn default() -> Self {
        module! { Pack {
            field_number: std::array::from_fn(|field| Constant::new((field as u64).into())),
        }
            clk rst choose section step header_word take drained_cell add taken data valid last taken_cell chosen tops
            check beat is_valid is_last rotated; each pair entering
        }
    }
}

impl<const S: usize, const D: usize> Logic for Pack<S, D> {
    #[clocked(chosen, tops, check, beat, is_valid, is_last)]
    fn update(&mut self) {
        self.rotated.next = self.check.q.val() << 1;
        if self.check.q.val().get_bit(63) {
            self.rotated.next = self.rotated.val() | 1;
        }
        self.taken_cell.word.next = self.drained_cell.val();
        for i in 0..D {
            self.pair[i].clock.next = self.clk.val();
            self.pair[i].rst.next = self.rst.val();
            self.pair[i].d.next = self.pair[i].q.val();
            self.entering[i].held.next = self.pair[i].q.val();
            self.entering[i].field.next = self.taken_cell.field[i].val();
        }

        if self.choose.val() {
            if self.section.val() == 0 {
                self.chosen.d.next = self.header_word.val();
            }
            if self.section.val() == 2 {
                self.chosen.d.next = self.tops.q.val();
            }
            if self.section.val() == 3 {
                self.chosen.d.next = 0.into();
            }
            if self.section.val() == 4 {
                self.chosen.d.next = self.check.q.val();
            }
            for i in 0..D {
                if (self.section.val() == 5) & (self.step.val() == self.field_number[i].val()) {
                    self.chosen.d.next = self.pair[i].q.val();
                }
            }
        }
        if self.take.val() {
            self.chosen.d.next = bit_cast::<64, 32>(self.taken_cell.sum.val().get_bits::<32>(0))
                | (bit_cast::<64, 32>(self.taken_cell.count.val()) << 32);
            self.tops.d.next =
                (self.tops.q.val() << 8) | bit_cast::<64, 8>(self.taken_cell.sum.val().get_bits::<8>(32));
            for i in 0..D {
                self.pair[i].d.next = self.entering[i].both.val();
            }
        }
        // Add the word to the check word, and offer it with the wire's first byte in the lowest lane.
        if self.add.val() {
            self.check.d.next = self.rotated.val() ^ self.chosen.q.val();
            // The check word begins with the second half of the second word, whatever it was.
            if (self.section.val() == 0) & (self.step.val() == 1) {
                self.check.d.next = bit_cast::<64, 32>(self.chosen.q.val().get_bits::<32>(0));
            }
            self.beat.d.next = bit_cast::<64, 8>(self.chosen.q.val().get_bits::<8>(56))
                | (bit_cast::<64, 8>(self.chosen.q.val().get_bits::<8>(48)) << 8)
                | (bit_cast::<64, 8>(self.chosen.q.val().get_bits::<8>(40)) << 16)
                | (bit_cast::<64, 8>(self.chosen.q.val().get_bits::<8>(32)) << 24)
                | (bit_cast::<64, 8>(self.chosen.q.val().get_bits::<8>(24)) << 32)
                | (bit_cast::<64, 8>(self.chosen.q.val().get_bits::<8>(16)) << 40)
                | (bit_cast::<64, 8>(self.chosen.q.val().get_bits::<8>(8)) << 48)
                | (bit_cast::<64, 8>(self.chosen.q.val().get_bits::<8>(0)) << 56);
            self.is_valid.d.next = true;
            self.is_last.d.next = self.section.val() == 4;
        }
        if self.taken.val() {
            self.is_valid.d.next = false;
            self.is_last.d.next = false;
        }
        self.data.next = self.beat.q.val();
        self.valid.next = self.is_valid.q.val();
        self.last.next = self.is_last.q.val();
    }
}

/// A field behind the one held before it. Combinational. Cost: wires.
#[derive(LogicBlock, Default)]
pub struct FieldShift {
    pub held: Signal<In, Bits<64>>,
    pub field: Signal<In, Bits<32>>,
    pub both: Signal<Out, Bits<64>>,
}

impl Logic for FieldShift {
    #[hdl_gen]
    fn update(&mut self) {
        self.both.next = (self.held.val() << 32) | bit_cast::<64, 32>(self.field.val());
    }
}
