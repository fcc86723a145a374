//! LDA with an identity table: the way of a stream's packets from key to one row, and to one cell of each part of the table
//! that names the damaged rows.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::sketch::lda_identity`, in the place of a [lane](crate::sketch::lane). One hash feeds both: three
//! [digests](crate::sketch::digest) make check and identifier, whose low bits pick the row and the cells. All are updated together, as
//! those of an [identity table](crate::sketch::identity_table) are. The rows are an [lda](crate::sketch::lda); so is each part of the
//! table, which adds the check where the rows add the time, and the halves as further fields.
//!
//! ```text
//! cycle  0      1      2                 6      7     8           13
//! key -> hash -> hash -> four rounds: place -> sampler -> update -+
//!        packet, epoch, nanoseconds -----------------> update -+-> rows
//! key -> hash -> hash -> six rounds: check                     +-> four parts, in place of a time
//!                                    upper half  -> cells of parts 0, 1   --|-> fields
//!                                    lower half  -> cells of parts 2, 3, row --|-> fields
//!
//! drain_address:  0 0 | row                      -> the row
//!                 0 1 | p | cell | word          -> part 0 p      a cell is drained as two words of 72 bits,
//!                 1 0 | p | cell | word          -> part 1 p      and cleared behind the second one
//! ```
//!
//! # Ports
//!
//! Those of the [identity table](crate::sketch::identity_table), but for
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | drain_address | in | A | the table of words in the two highest bits, the word below: as above |
//! | drained_cell | out | 72 | a row, or a word of a cell |
//! | overflow, overflow_epoch | out | 1 | as the lda's: a count of a row or of any part wrapped |
//!
//! One packet a cycle; row and cells are written 14 cycles behind its key. A copy may be drained from the 14th cycle on behind
//! that of its last packet. Parameters: R = log2(rows), A = R + 2, T = R - 2, the bits of a part's cells; S = 72; the configuration's
//! hash, seed and prefix length become constants, unless the length adapts.
//!
//! # Test plan
//!
//! `sim/cosim`: keys, one a cycle, and with pauses, sampled and not, against the model's words; packets around a change of
//! the copy; drains at once behind it while the other copy is updated; counts that wrap; planted faults. Whole cores against
//! `deltaline_model::point`. `hdl/formal/lda_identity.v`: any pattern of packets, any drain.

use crate::leaves::{Delay, Flop};
use crate::module::module;
use crate::sketch::digest::{self, Digest};
use crate::sketch::digest_sum::DigestSum;
use crate::sketch::lda::Lda;
use crate::sketch::mixing::MIXING;
use crate::sketch::place::Place;
use crate::sketch::sampler::{MASKS, PREFIX_BITS, Sampler};
use deltaline_model::configuration::Configuration;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct LdaIdentity<const R: usize, const A: usize, const T: usize, const S: usize = 72> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub key: Signal<In, Bits<544>>,
    pub packet: Signal<In, Bit>,
    pub epoch: Signal<In, Bit>,
    pub nanoseconds: Signal<In, Bits<40>>,
    pub mixing: Signal<In, Bits<MIXING>>,
    pub masks: Signal<In, Bits<MASKS>>,
    pub drain_address: Signal<In, Bits<A>>,
    pub drain_epoch: Signal<In, Bit>,
    pub clear_first: Signal<In, Bit>,
    pub clear_second: Signal<In, Bit>,
    pub drained_cell: Signal<Out, Bits<S>>,
    pub overflow: Signal<Out, Bit>,
    pub overflow_epoch: Signal<Out, Bit>,
    pub ends: Signal<In, Bit>,
    pub digest_sum: Signal<Out, Bits<32>>,

    /// For the prefix alone: the row is made of the identifier.
    place: Place,
    sampler: Sampler<1, 1>,
    unused_row: Signal<Local, Bits<1>>,
    /// From the packet to the sampler.
    placing: [Flop<Bit>; 5],
    /// The check, the upper and the lower half of the identifier.
    digest: [Digest; 3],
    checks: DigestSum<1>,
    half: [Delay<32, 5>; 2],
    /// From the packet to the update: its copy above its timestamp.
    entering: Signal<Local, Bits<41>>,
    waiting: Delay<41, 7>,
    /// From the sampler to the update.
    updating: Flop<Bit>,
    rows: Lda<R, S, 0>,
    part: [Part<A, T, S>; 4],

    row_bits: Constant<Bits<5>>,
    drained_table: Signal<Local, Bits<A>>,
    rows_drained: Signal<Local, Bit>,
    drained: Signal<Local, Bits<S>>,
    overflows: Signal<Local, Bit>,
    wrapped_copy: Signal<Local, Bit>,
}

impl<const R: usize, const A: usize, const T: usize, const S: usize> LdaIdentity<R, A, T, S> {
    /// The tables of a configuration with 2^R rows.
    pub fn new(configuration: &Configuration) -> Self {
        module! { LdaIdentity {
            place: Place::new(configuration),
            sampler: Sampler::new(configuration),
            digest: std::array::from_fn(|field| digest::digest(configuration, field)),
            part: std::array::from_fn(|number| Part::new(number as u64)),
            row_bits: Constant::new((R as u64).into()),
        }
            clk rst key packet epoch nanoseconds mixing masks drain_address drain_epoch clear_first clear_second drained_cell
            overflow overflow_epoch placing half entering waiting updating rows drained_table rows_drained drained overflows
            wrapped_copy unused_row ends digest_sum checks
        }
    }
}

impl<const R: usize, const A: usize, const T: usize, const S: usize> Logic for LdaIdentity<R, A, T, S> {
    #[hdl_gen]
    fn update(&mut self) {
        self.place.clk.next = self.clk.val();
        self.place.rst.next = self.rst.val();
        self.place.key.next = self.key.val();
        self.place.mixing.next = self.mixing.val();
        for i in 0..5 {
            self.placing[i].clock.next = self.clk.val();
            self.placing[i].rst.next = self.rst.val();
        }
        for i in 0..4 {
            self.placing[i + 1].d.next = self.placing[i].q.val();
        }
        self.placing[0].d.next = self.packet.val();
        self.sampler.clk.next = self.clk.val();
        self.sampler.rst.next = self.rst.val();
        self.sampler.valid.next = self.placing[4].q.val();
        self.sampler.row.next = self.place.value.val().get_bits::<1>(0);
        self.sampler.prefix.next = self.place.value.val().get_bits::<PREFIX_BITS>(16);
        self.sampler.masks.next = self.masks.val();
        self.unused_row.next = self.sampler.address.val();

        // Until the identifier is there.
        self.entering.next = bit_cast::<41, 40>(self.nanoseconds.val());
        self.entering.next = self.entering.val().replace_bit(40, self.epoch.val());
        self.waiting.clk.next = self.clk.val();
        self.waiting.rst.next = self.rst.val();
        self.waiting.d.next = self.entering.val();
        self.updating.clock.next = self.clk.val();
        self.updating.rst.next = self.rst.val();
        self.updating.d.next = self.sampler.sampled.val();
        for i in 0..3 {
            self.digest[i].clk.next = self.clk.val();
            self.digest[i].rst.next = self.rst.val();
            self.digest[i].key.next = self.key.val();
        }
        for i in 0..2 {
            self.half[i].clk.next = self.clk.val();
            self.half[i].rst.next = self.rst.val();
            self.half[i].d.next = self.digest[i + 1].value.val();
        }

        self.checks.clk.next = self.clk.val();
        self.checks.rst.next = self.rst.val();
        self.checks.ends.next = self.ends.val();
        self.checks.packet.next = self.packet.val();
        self.checks.kind.next = 0.into();
        self.checks.digest.next = self.digest[0].value.val();
        self.checks.sent_kind.next = 0.into();
        self.digest_sum.next = self.checks.ended.val();

        self.drained_table.next = self.drain_address.val() >> self.row_bits.val();
        self.rows_drained.next = !self.drained_table.val().any();
        self.rows.clk.next = self.clk.val();
        self.rows.rst.next = self.rst.val();
        self.rows.update.next = self.updating.q.val();
        self.rows.epoch.next = self.waiting.q.val().get_bit(40);
        self.rows.address.next = self.digest[2].value.val().get_bits::<R>(0);
        self.rows.timestamp.next = self.waiting.q.val().get_bits::<40>(0);
        self.rows.drain_address.next = self.drain_address.val().get_bits::<R>(0);
        self.rows.drain_epoch.next = self.drain_epoch.val();
        self.rows.clear[0].next = self.clear_first.val() & self.rows_drained.val();
        self.rows.clear[1].next = self.clear_second.val() & self.rows_drained.val();
        self.drained.next = 0.into();
        if self.rows_drained.val() {
            self.drained.next = self.rows.drained_cell.val();
        }
        self.overflows.next = self.rows.overflow.val();
        self.wrapped_copy.next = self.rows.overflow_epoch.val();

        self.part[0].row.next = self.digest[1].value.val().get_bits::<T>(16);
        self.part[1].row.next = self.digest[1].value.val().get_bits::<T>(0);
        self.part[2].row.next = self.digest[2].value.val().get_bits::<T>(16);
        self.part[3].row.next = self.digest[2].value.val().get_bits::<T>(0);
        for i in 0..4 {
            self.part[i].clk.next = self.clk.val();
            self.part[i].rst.next = self.rst.val();
            self.part[i].update.next = self.updating.q.val();
            self.part[i].epoch.next = self.waiting.q.val().get_bit(40);
            self.part[i].check.next = self.digest[0].value.val();
            self.part[i].upper.next = self.half[0].q.val();
            self.part[i].lower.next = self.half[1].q.val();
            self.part[i].drain_address.next = self.drain_address.val();
            self.part[i].drain_epoch.next = self.drain_epoch.val();
            self.part[i].clear_first.next = self.clear_first.val();
            self.part[i].clear_second.next = self.clear_second.val();
            self.drained.next = self.drained.val() | self.part[i].shown_word.val();
            self.overflows.next = self.overflows.val() | self.part[i].overflow.val();
            // All are updated together: their pulses are of the same copy.
            if self.part[i].overflow.val() {
                self.wrapped_copy.next = self.part[i].overflow_epoch.val();
            }
        }
        self.drained_cell.next = self.drained.val();
        self.overflow.next = self.overflows.val();
        self.overflow_epoch.next = self.wrapped_copy.val();
    }
}

/// A part of the identity table: the ports of its [lda](crate::sketch::lda), in the drain's walk over all words.
///
/// | port | direction | width | meaning |
/// |------|-----------|-------|---------|
/// | update, epoch | in | 1 | as the lda's |
/// | row | in | T | with update: its cell, the low bits of a part of the identifier |
/// | check | in | 32 | with update |
/// | upper, lower | in | 32 | the identifier, five cycles behind the update |
/// | drain_address, drain_epoch, clear_first, clear_second | in | | as those of [`LdaIdentity`]; a cell is cleared with its second word |
/// | shown_word | out | S | four cycles after drain_address settled; zero while other words are drained |
/// | overflow, overflow_epoch | out | 1 | as the lda's |
#[derive(LogicBlock)]
pub struct Part<const A: usize, const T: usize, const S: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub update: Signal<In, Bit>,
    pub epoch: Signal<In, Bit>,
    pub row: Signal<In, Bits<T>>,
    pub check: Signal<In, Bits<32>>,
    pub upper: Signal<In, Bits<32>>,
    pub lower: Signal<In, Bits<32>>,
    pub drain_address: Signal<In, Bits<A>>,
    pub drain_epoch: Signal<In, Bit>,
    pub clear_first: Signal<In, Bit>,
    pub clear_second: Signal<In, Bit>,
    pub shown_word: Signal<Out, Bits<S>>,
    pub overflow: Signal<Out, Bit>,
    pub overflow_epoch: Signal<Out, Bit>,

    lda: Lda<T, 136, 2>,
    /// The address without word and cell, and what that is for this part.
    cell_bits: Constant<Bits<5>>,
    number: Constant<Bits<A>>,
    drained_part: Signal<Local, Bits<A>>,
    is_drained: Signal<Local, Bit>,
    is_second: Signal<Local, Bit>,
    first_word: Signal<Local, Bits<72>>,
    drained_upper: Signal<Local, Bits<32>>,
    drained_lower: Signal<Local, Bits<32>>,
    shown: Signal<Local, Bits<72>>,
}

impl<const A: usize, const T: usize, const S: usize> Part<A, T, S> {
    fn new(number: u64) -> Self {
        module! { Part {
            cell_bits: Constant::new((T as u64 + 1).into()),
            // Behind the rows, which take as many addresses as two parts.
            number: Constant::new((2 + number).into()),
        }
            clk rst update epoch row check upper lower drain_address drain_epoch clear_first clear_second shown_word
            overflow overflow_epoch lda drained_part is_drained is_second first_word drained_upper drained_lower shown
        }
    }
}

impl<const A: usize, const T: usize, const S: usize> Logic for Part<A, T, S> {
    #[hdl_gen]
    fn update(&mut self) {
        self.drained_part.next = self.drain_address.val() >> self.cell_bits.val();
        self.is_drained.next = self.drained_part.val() == self.number.val();
        self.is_second.next = self.drain_address.val().get_bit(0);
        self.lda.clk.next = self.clk.val();
        self.lda.rst.next = self.rst.val();
        self.lda.update.next = self.update.val();
        self.lda.epoch.next = self.epoch.val();
        self.lda.address.next = self.row.val();
        self.lda.timestamp.next = bit_cast::<40, 32>(self.check.val());
        self.lda.field[0].next = self.upper.val();
        self.lda.field[1].next = self.lower.val();
        self.lda.drain_address.next = self.drain_address.val().get_bits::<T>(1);
        self.lda.drain_epoch.next = self.drain_epoch.val();
        self.lda.clear[0].next = self.clear_first.val() & self.is_drained.val() & self.is_second.val();
        self.lda.clear[1].next = self.clear_second.val() & self.is_drained.val() & self.is_second.val();
        self.first_word.next = self.lda.drained_cell.val().get_bits::<72>(0);
        self.drained_upper.next = self.lda.drained_cell.val().get_bits::<32>(72);
        self.drained_lower.next = self.lda.drained_cell.val().get_bits::<32>(104);
        self.shown.next = 0.into();
        if self.is_drained.val() {
            self.shown.next = self.first_word.val();
            if self.is_second.val() {
                self.shown.next = (bit_cast::<72, 32>(self.drained_upper.val()) << 40)
                    | bit_cast::<72, 32>(self.drained_lower.val());
            }
        }
        self.shown_word.next = bit_cast::<S, 72>(self.shown.val());
        self.overflow.next = self.lda.overflow.val();
        self.overflow_epoch.next = self.lda.overflow_epoch.val();
    }
}
