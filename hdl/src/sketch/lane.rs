//! Lane: the way of one stream's packets from key to cell.
//!
//! # Theory of operation
//!
//! ```text
//! key -> place (hash, hash, four rounds) -> sampler -> lda
//!  0     1 ... 6                             7         as written there
//!        packet, kind, epoch, nanoseconds -----------> lda
//! key -> digest (with digests), eight cycles --------> lda, four cycles later, and into the digest sum
//! ```
//!
//! Whether a key is that of a packet that counts, and of which class, is known one cycle behind the key. Class, copy
//! and timestamp of a packet wait until its word is known; the class is the highest part of the word's address. Lanes
//! know nothing of each other: cells are linear, so those of several lanes may be added when they are drained.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset (not of the memories) |
//! | key | in | 544 | a key, word i in bits 32i+31:32i |
//! | packet | in | 1 | the key of the cycle before is that of a packet that counts |
//! | kind | in | 2 | the packet's class |
//! | epoch | in | 1 | it counts in this copy |
//! | nanoseconds | in | 40 | its timestamp |
//! | masks | in | 128 | as the sampler's |
//! | mixing | in | 95 | as the place's |
//! | drain_address, drain_epoch, clear_first, clear_second, drained_cell | | | as the lda's |
//! | overflow, overflow_epoch | out | 1 | as the lda's |
//! | ends | in | 1 | the interval ends behind this cycle |
//! | sent_kind | in | 2 | a class, that `digest_sum` is of |
//! | digest_sum | out | 32 | as `ended` of the [digest sum](crate::sketch::digest_sum); zero without digests |
//!
//! One packet a cycle; a cell is written 13 cycles behind its key. Parameters: R = log2(rows), A = R + bits of
//! a bank number + bits of a class, C classes, S and D as the lda's, P digest sums: one, of the first field, if there
//! are fields; the configuration's hash, seed and prefix lengths become
//! constants, unless the lengths adapt.
//!
//! Cost of a whole tap with FineComb for ECP5 (yosys, before placement; the default design with seed 1): 10,020 LUT4, 7,056
//! flip-flops, 34 RAMs of 18 kbit.
//!
//! # Test plan
//!
//! Its parts have checks of their own; together with the core, 64-byte frames back to back.

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
pub struct Lane<
    const R: usize,
    const A: usize,
    const C: usize,
    const S: usize = 72,
    const D: usize = 0,
    const P: usize = D,
> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub key: Signal<In, Bits<544>>,
    pub packet: Signal<In, Bit>,
    pub kind: Signal<In, Bits<2>>,
    pub epoch: Signal<In, Bit>,
    pub nanoseconds: Signal<In, Bits<40>>,
    pub masks: Signal<In, Bits<MASKS>>,
    pub mixing: Signal<In, Bits<MIXING>>,
    pub drain_address: Signal<In, Bits<A>>,
    pub drain_epoch: Signal<In, Bit>,
    pub clear_first: Signal<In, Bit>,
    pub clear_second: Signal<In, Bit>,
    pub drained_cell: Signal<Out, Bits<S>>,
    pub overflow: Signal<Out, Bit>,
    pub overflow_epoch: Signal<Out, Bit>,
    pub ends: Signal<In, Bit>,
    pub sent_kind: Signal<In, Bits<2>>,
    pub digest_sum: Signal<Out, Bits<32>>,

    place: Place,
    sampler: Sampler<R, A>,
    digest: [Digest; D],
    digest_sums: [DigestSum<C>; P],
    lda: Lda<A, S, D>,
    /// From the packet to the sampler, and to the update.
    placing: [Flop<Bit>; 5],
    kinds: [Flop<Bits<2>>; 6],
    copy: [Flop<Bit>; 6],
    timestamp: Delay<40, 6>,
    /// From the digest to where the update wants it.
    field: [Delay<32, 4>; D],

    /// Where the class starts in an address.
    class_shift: Constant<Bits<5>>,
    class_number: Signal<Local, Bits<A>>,
    class_base: Signal<Local, Bits<A>>,
    shown_sum: Signal<Local, Bits<32>>,
}

/// The bit of an address where the class starts: rows and banks, or tables, are below.
pub(crate) fn class_shift(configuration: &Configuration) -> u32 {
    configuration.row_bits() + u32::from(configuration.shape().tables).next_power_of_two().ilog2()
}

impl<const R: usize, const A: usize, const C: usize, const S: usize, const D: usize, const P: usize>
    Lane<R, A, C, S, D, P>
{
    /// The lane of a configuration with 2^R rows; 2^A is at least classes × banks × rows, the latter two made powers of
    /// two.
    pub fn new(configuration: &Configuration) -> Self {
        module! { Lane {
            place: Place::new(configuration),
            sampler: Sampler::new(configuration),
            digest: std::array::from_fn(|field| digest::digest(configuration, field)),
            class_shift: Constant::new(u64::from(class_shift(configuration)).into()),
        }
            clk rst key packet kind epoch nanoseconds masks mixing drain_address drain_epoch clear_first clear_second
            drained_cell overflow overflow_epoch lda placing kinds copy timestamp class_number class_base shown_sum
            ends sent_kind digest_sum; each digest_sums field
        }
    }
}

impl<const R: usize, const A: usize, const C: usize, const S: usize, const D: usize, const P: usize> Logic
    for Lane<R, A, C, S, D, P>
{
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
        for i in 0..6 {
            self.kinds[i].clock.next = self.clk.val();
            self.kinds[i].rst.next = self.rst.val();
            self.copy[i].clock.next = self.clk.val();
            self.copy[i].rst.next = self.rst.val();
        }
        for i in 0..4 {
            self.placing[i + 1].d.next = self.placing[i].q.val();
        }
        for i in 0..5 {
            self.kinds[i + 1].d.next = self.kinds[i].q.val();
            self.copy[i + 1].d.next = self.copy[i].q.val();
        }
        self.placing[0].d.next = self.packet.val();
        self.kinds[0].d.next = self.kind.val();
        self.copy[0].d.next = self.epoch.val();
        self.timestamp.clk.next = self.clk.val();
        self.timestamp.rst.next = self.rst.val();
        self.timestamp.d.next = self.nanoseconds.val();

        self.sampler.clk.next = self.clk.val();
        self.sampler.rst.next = self.rst.val();
        self.sampler.valid.next = self.placing[4].q.val();
        self.sampler.row.next = self.place.value.val().get_bits::<R>(0);
        self.sampler.prefix.next = self.place.value.val().get_bits::<PREFIX_BITS>(16);
        self.sampler.masks.next = self.masks.val();

        self.class_number.next = bit_cast::<A, 2>(self.kinds[5].q.val());
        self.class_base.next = self.class_number.val() << self.class_shift.val();
        self.lda.clk.next = self.clk.val();
        self.lda.rst.next = self.rst.val();
        self.lda.update.next = self.sampler.sampled.val();
        self.lda.epoch.next = self.copy[5].q.val();
        self.lda.address.next = self.sampler.address.val() | self.class_base.val();
        self.lda.timestamp.next = self.timestamp.q.val();
        self.lda.drain_address.next = self.drain_address.val();
        self.lda.drain_epoch.next = self.drain_epoch.val();
        self.lda.clear[0].next = self.clear_first.val();
        self.lda.clear[1].next = self.clear_second.val();
        self.shown_sum.next = 0.into();
        for i in 0..D {
            self.digest[i].clk.next = self.clk.val();
            self.digest[i].rst.next = self.rst.val();
            self.digest[i].key.next = self.key.val();
            self.field[i].clk.next = self.clk.val();
            self.field[i].rst.next = self.rst.val();
            self.field[i].d.next = self.digest[i].value.val();
            self.lda.field[i].next = self.field[i].q.val();
        }
        for i in 0..P {
            self.digest_sums[i].clk.next = self.clk.val();
            self.digest_sums[i].rst.next = self.rst.val();
            self.digest_sums[i].ends.next = self.ends.val();
            self.digest_sums[i].packet.next = self.packet.val();
            self.digest_sums[i].kind.next = self.kind.val();
            self.digest_sums[i].digest.next = self.digest[i].value.val();
            self.digest_sums[i].sent_kind.next = self.sent_kind.val();
            self.shown_sum.next = self.digest_sums[i].ended.val();
        }
        self.digest_sum.next = self.shown_sum.val();
        self.drained_cell.next = self.lda.drained_cell.val();
        self.overflow.next = self.lda.overflow.val();
        self.overflow_epoch.next = self.lda.overflow_epoch.val();
    }
}
