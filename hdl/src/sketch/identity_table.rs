//! Identity table: the way of a stream's packets from key to cell, of which there is one in each of four tables.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::sketch::identity_table`, in the place of a [lane](crate::sketch::lane). Three
//! [digests](crate::sketch::digest) make check and identifier. The tables are four [ldas](crate::sketch::lda), each in a
//! [table](crate::sketch::table), which are updated together: the row in each is made of the low bits of a part of the identifier. So an update waits a cycle
//! longer than that of a lane, and the fields wait until it wants them.
//!
//! ```text
//! cycle  0      1      2                 6      7     8           13
//! key -> hash -> hash -> four rounds: place -> sampler -> update -+
//!        packet, epoch, nanoseconds -----------------> update -+-> four ldas
//! key -> hash -> hash -> six rounds: check              --|-> fields
//!                                    upper half  -> rows 0, 1 -> fields
//!                                    lower half  -> rows 2, 3 -> fields
//!
//! drain_address:  table | row   -> the row of all ldas; the table's cell leaves, the table's cell is cleared
//! ```
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset (not of the memories) |
//! | key | in | 544 | a key, word i in bits 32i+31:32i |
//! | packet | in | 1 | the key of the cycle before is that of a packet that counts |
//! | epoch | in | 1 | it counts in this copy |
//! | nanoseconds | in | 40 | its timestamp |
//! | masks | in | 128 | as the sampler's |
//! | mixing | in | 95 | as the place's |
//! | drain_address | in | R + 2 | table in the two highest bits, row below: as the lda's |
//! | drain_epoch, clear_first, clear_second | in | 1 | as the lda's |
//! | drained_cell | out | 168 | as the lda's |
//! | overflow, overflow_epoch | out | 1 | as the lda's: a count of any table wrapped |
//! | ends | in | 1 | the interval ends behind this cycle |
//! | digest_sum | out | 32 | as `ended` of the [digest sum](crate::sketch::digest_sum), whose digest is the check |
//!
//! One packet a cycle; its cells are written 14 cycles behind its key. A copy may be drained from the 14th cycle on behind
//! that of its last packet. Parameters: R = log2(rows), A = R + 2, S = 168, the bits of a cell; the configuration's hash,
//! seed and prefix length become constants, unless the length adapts.
//!
//! Cost of a whole tap for ECP5 (yosys, before placement; the default design with 1024 rows and seed 1): 16,017 LUT4, 11,643
//! flip-flops, 82 RAMs of 18 kbit; with an LDA 5,482, 5,007 and 18. The core alone, placed on an LFE5U-85F of speed 6
//! (`cargo xtask report --configuration 10g-identity`): 16,850, 12,006 and 80; 100.9 MHz at worst, 107.7 median, 108.8 best of three
//! seeds, where 10 Gbit/s need 156.25. Most of the worst path is wires from the block RAMs of twenty fields (4.1 ns), and a block
//! RAM's answer (5.8 ns). So it carries 6.5 Gbit/s there, and 10 Gbit/s take a faster family.
//!
//! # Test plan
//!
//! `sim/cosim`: keys, one a cycle, and with pauses, sampled and not, against the model's tables; packets around a change of
//! the copy; drains at once behind it while the other copy is updated; counts that wrap; planted faults.
//! `hdl/formal/identity_table.v`: any pattern of packets, any drain.

use crate::leaves::{Delay, Flop};
use crate::module::module;
use crate::sketch::digest::{self, Digest};
use crate::sketch::digest_sum::DigestSum;
use crate::sketch::mixing::MIXING;
use crate::sketch::place::Place;
use crate::sketch::sampler::{MASKS, PREFIX_BITS, Sampler};
use crate::sketch::table::Table;
use deltaline_model::configuration::Configuration;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct IdentityTable<const R: usize, const A: usize, const S: usize = 168> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub key: Signal<In, Bits<544>>,
    pub packet: Signal<In, Bit>,
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
    field: [Delay<32, 5>; 3],
    fields: Signal<Local, Bits<96>>,
    /// From the packet to the update: its copy above its timestamp.
    entering: Signal<Local, Bits<41>>,
    waiting: Delay<41, 7>,
    /// From the sampler to the update.
    updating: Flop<Bit>,
    table: [Table<R, A, S, 3, 96>; 4],

    drained: Signal<Local, Bits<S>>,
    overflows: Signal<Local, Bit>,
    wrapped_copy: Signal<Local, Bit>,
}

impl<const R: usize, const A: usize, const S: usize> IdentityTable<R, A, S> {
    /// The identity table of a configuration with 2^R rows.
    pub fn new(configuration: &Configuration) -> Self {
        module! { IdentityTable {
            place: Place::new(configuration),
            sampler: Sampler::new(configuration),
            digest: std::array::from_fn(|field| digest::digest(configuration, field)),
            table: std::array::from_fn(|number| Table::new(number as u64)),
        }
            clk rst key packet epoch nanoseconds masks mixing drain_address drain_epoch clear_first clear_second drained_cell
            overflow overflow_epoch placing field fields entering waiting updating drained overflows
            wrapped_copy unused_row ends digest_sum checks
        }
    }
}

impl<const R: usize, const A: usize, const S: usize> Logic for IdentityTable<R, A, S> {
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
            self.field[i].clk.next = self.clk.val();
            self.field[i].rst.next = self.rst.val();
            self.field[i].d.next = self.digest[i].value.val();
        }

        self.checks.clk.next = self.clk.val();
        self.checks.rst.next = self.rst.val();
        self.checks.ends.next = self.ends.val();
        self.checks.packet.next = self.packet.val();
        self.checks.kind.next = 0.into();
        self.checks.digest.next = self.digest[0].value.val();
        self.checks.sent_kind.next = 0.into();
        self.digest_sum.next = self.checks.ended.val();

        self.table[0].row.next = self.digest[1].value.val().get_bits::<R>(16);
        self.table[1].row.next = self.digest[1].value.val().get_bits::<R>(0);
        self.table[2].row.next = self.digest[2].value.val().get_bits::<R>(16);
        self.table[3].row.next = self.digest[2].value.val().get_bits::<R>(0);
        self.fields.next = bit_cast::<96, 32>(self.field[0].q.val())
            | (bit_cast::<96, 32>(self.field[1].q.val()) << 32)
            | (bit_cast::<96, 32>(self.field[2].q.val()) << 64);
        self.drained.next = 0.into();
        self.overflows.next = false;
        self.wrapped_copy.next = false;
        for i in 0..4 {
            self.table[i].clk.next = self.clk.val();
            self.table[i].rst.next = self.rst.val();
            self.table[i].update.next = self.updating.q.val();
            self.table[i].epoch.next = self.waiting.q.val().get_bit(40);
            self.table[i].timestamp.next = self.waiting.q.val().get_bits::<40>(0);
            self.table[i].fields.next = self.fields.val();
            self.table[i].drain_address.next = self.drain_address.val();
            self.table[i].drain_epoch.next = self.drain_epoch.val();
            self.table[i].clear_first.next = self.clear_first.val();
            self.table[i].clear_second.next = self.clear_second.val();
            self.drained.next = self.drained.val() | self.table[i].drained_cell.val();
            self.overflows.next = self.overflows.val() | self.table[i].overflow.val();
            // All are updated together: their pulses are of the same copy.
            if self.table[i].overflow.val() {
                self.wrapped_copy.next = self.table[i].overflow_epoch.val();
            }
        }
        self.drained_cell.next = self.drained.val();
        self.overflow.next = self.overflows.val();
        self.overflow_epoch.next = self.wrapped_copy.val();
    }
}
