//! Flow rows: the way of a stream's packets from key to cell, of which there is one in each of an LDS's four rows.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::sketch::flow_rows`, in the place of a [lane](crate::sketch::lane). A [flow key](crate::sketch::flow_key) goes through a
//! hash of its own; of that, each row makes its base by [rounds](crate::sketch::rounds) with constants of its own. The packet's place decides
//! which of its flow's four cells it is in, a sum of R bits. The rows are four [tables](crate::sketch::table), which are updated
//! together, as late as those of an [identity table](crate::sketch::identity_table).
//!
//! ```text
//! cycle  0          1      2      3                7        8           13
//! key -> flow key -> hash -> hash -> four rounds: base -> column -> update -+
//! key -> hash -> hash -> four rounds: place -> sampler -> update            +-> four tables
//!                                  6: offset -> wait ------^                |
//!        packet, epoch, nanoseconds ---------------------> update          -+
//! key -> hash -> hash -> six rounds: digest                              --|-> field
//!
//! drain_address:  row | column   -> that of all tables; the row's cell leaves, the row's cell is cleared
//! ```
//!
//! # Ports
//!
//! Those of the [identity table](crate::sketch::identity_table), but for
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | drain_address | in | R + 2 | row in the two highest bits, column below |
//! | drained_cell | out | 104 | as the lda's |
//! | digest_sum | out | 32 | as `ended` of the [digest sum](crate::sketch::digest_sum) |
//!
//! One packet a cycle; its cells are written 14 cycles behind its key. A copy may be drained from the 14th cycle on behind
//! that of its last packet. Parameters: R = log2(columns), A = R + 2, S = 104; the configuration's hash, seed and prefix length become
//! constants, unless the length adapts.
//!
//! Cost of a core of 64 bits with 1024 columns for ECP5 (`cargo xtask report --configuration 10g-lds`): 15,860 LUT4, 10,177 flip-flops, 48 RAMs of 18 kbit.
//! Placed on an LFE5U-85F of speed 6: 96.3 MHz at worst, 119.1 median, 120.4 best of three seeds, where 10 Gbit/s need 156.25. The worst path leads
//! a drain's address to the memories, 8.9 ns of it wires. So it carries 6.2 Gbit/s there, and 10 Gbit/s take a faster family.
//!
//! # Test plan
//!
//! `sim/cosim`: keys of flows of all sizes, one a cycle, and with pauses, sampled and not, of both IP versions, with fragments and protocols
//! without ports, against the model's cells; packets around a change of the copy; drains at once behind it while the other copy is updated;
//! counts that wrap; planted faults. Whole cores of 64 and 512 bits against `deltaline_model::point`. `hdl/formal/flow_rows.v`: any pattern of
//! packets, any drain.

use crate::leaves::{Delay, Flop, HashMatrix};
use crate::module::module;
use crate::sketch::digest::{self, Digest};
use crate::sketch::digest_sum::DigestSum;
use crate::sketch::flow_key::FlowKey;
use crate::sketch::mixing::MIXING;
use crate::sketch::place::Place;
use crate::sketch::rounds::Rounds;
use crate::sketch::sampler::{MASKS, PREFIX_BITS, Sampler};
use crate::sketch::table::Table;
use deltaline_model::configuration::Configuration;
use deltaline_model::sketch::flow_rows::{ROWS, WIDTH};
use deltaline_model::sketch::lds::{Bases, ROUNDS};
use rust_hdl_core::prelude::*;

/// Bits of an offset.
const OFFSET_BITS: usize = WIDTH.ilog2() as usize;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct FlowRows<const R: usize, const A: usize, const S: usize = 104> {
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

    flow_key: FlowKey,
    /// The flow's hash: its bits 31:0, and 63:32.
    flow_hash: [HashMatrix; 2],
    base: [Base<R>; ROWS],
    /// For prefix and offset: the column is not made of the place.
    place: Place,
    sampler: Sampler<1, 1>,
    unused_row: Signal<Local, Bits<1>>,
    /// From the packet to the sampler.
    placing: [Flop<Bit>; 5],
    /// From the place to the column.
    offset: Flop<Bits<OFFSET_BITS>>,
    digest: Digest,
    digests: DigestSum<1>,
    field: Delay<32, 5>,
    /// From the packet to the update: its copy above its timestamp.
    entering: Signal<Local, Bits<41>>,
    waiting: Delay<41, 7>,
    /// From the sampler to the update.
    updating: Flop<Bit>,
    column: [Flop<Bits<R>>; ROWS],
    table: [Table<R, A, S, 1, 32>; ROWS],

    drained: Signal<Local, Bits<S>>,
    overflows: Signal<Local, Bit>,
    wrapped_copy: Signal<Local, Bit>,
}

impl<const R: usize, const A: usize, const S: usize> FlowRows<R, A, S> {
    /// The rows of a configuration with 2^R columns.
    pub fn new(configuration: &Configuration) -> Self {
        let bases = Bases::new(ROWS, configuration.seed());
        let constants = |row| bases.constants(row).copied().unwrap_or_default();
        module! { FlowRows {
            flow_hash: [0, 32].map(|first| HashMatrix::new(configuration, first..first + 32)),
            base: std::array::from_fn(|row| Base::new(constants(row))),
            place: Place::new(configuration),
            sampler: Sampler::new(configuration),
            digest: digest::digest(configuration, 0),
            table: std::array::from_fn(|row| Table::new(row as u64)),
        }
            clk rst key packet epoch nanoseconds masks mixing drain_address drain_epoch clear_first clear_second drained_cell
            overflow overflow_epoch flow_key placing offset field entering waiting updating drained overflows
            wrapped_copy unused_row ends digest_sum digests; each column
        }
    }
}

impl<const R: usize, const A: usize, const S: usize> Logic for FlowRows<R, A, S> {
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
        self.offset.clock.next = self.clk.val();
        self.offset.rst.next = self.rst.val();
        self.offset.d.next = self.place.value.val().get_bits::<OFFSET_BITS>(14);

        self.flow_key.clk.next = self.clk.val();
        self.flow_key.rst.next = self.rst.val();
        self.flow_key.key.next = self.key.val();
        for i in 0..2 {
            self.flow_hash[i].clk.next = self.clk.val();
            self.flow_hash[i].key.next = self.flow_key.flow.val();
        }
        // Turned right by 16 bits a row.
        self.base[0].x.next = self.flow_hash[0].bits.val().get_bits::<16>(16);
        self.base[0].y.next = self.flow_hash[0].bits.val().get_bits::<16>(0);
        self.base[1].x.next = self.flow_hash[1].bits.val().get_bits::<16>(0);
        self.base[1].y.next = self.flow_hash[0].bits.val().get_bits::<16>(16);
        self.base[2].x.next = self.flow_hash[1].bits.val().get_bits::<16>(16);
        self.base[2].y.next = self.flow_hash[1].bits.val().get_bits::<16>(0);
        self.base[3].x.next = self.flow_hash[0].bits.val().get_bits::<16>(0);
        self.base[3].y.next = self.flow_hash[1].bits.val().get_bits::<16>(16);

        // Until the column is there.
        self.entering.next = bit_cast::<41, 40>(self.nanoseconds.val());
        self.entering.next = self.entering.val().replace_bit(40, self.epoch.val());
        self.waiting.clk.next = self.clk.val();
        self.waiting.rst.next = self.rst.val();
        self.waiting.d.next = self.entering.val();
        self.updating.clock.next = self.clk.val();
        self.updating.rst.next = self.rst.val();
        self.updating.d.next = self.sampler.sampled.val();
        self.digest.clk.next = self.clk.val();
        self.digest.rst.next = self.rst.val();
        self.digest.key.next = self.key.val();
        self.field.clk.next = self.clk.val();
        self.field.rst.next = self.rst.val();
        self.field.d.next = self.digest.value.val();

        self.digests.clk.next = self.clk.val();
        self.digests.rst.next = self.rst.val();
        self.digests.ends.next = self.ends.val();
        self.digests.packet.next = self.packet.val();
        self.digests.kind.next = 0.into();
        self.digests.digest.next = self.digest.value.val();
        self.digests.sent_kind.next = 0.into();
        self.digest_sum.next = self.digests.ended.val();

        self.drained.next = 0.into();
        self.overflows.next = false;
        self.wrapped_copy.next = false;
        for i in 0..4 {
            self.base[i].clk.next = self.clk.val();
            self.base[i].rst.next = self.rst.val();
            self.column[i].clock.next = self.clk.val();
            self.column[i].rst.next = self.rst.val();
            self.column[i].d.next =
                self.base[i].column.val() + bit_cast::<R, OFFSET_BITS>(self.offset.q.val());
            self.table[i].clk.next = self.clk.val();
            self.table[i].rst.next = self.rst.val();
            self.table[i].update.next = self.updating.q.val();
            self.table[i].epoch.next = self.waiting.q.val().get_bit(40);
            self.table[i].row.next = self.column[i].q.val();
            self.table[i].timestamp.next = self.waiting.q.val().get_bits::<40>(0);
            self.table[i].fields.next = self.field.q.val();
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

/// The base of a flow in one row: the highest bits of 32 bits of its hash behind four rounds.
///
/// | port | direction | width | meaning |
/// |------|-----------|-------|---------|
/// | clk, rst | in | 1 | clock; synchronous reset |
/// | x, y | in | 16 | the upper and the lower half of 32 bits |
/// | column | out | R | the base, four cycles later |
#[derive(LogicBlock)]
pub struct Base<const R: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub x: Signal<In, Bits<16>>,
    pub y: Signal<In, Bits<16>>,
    pub column: Signal<Out, Bits<R>>,

    rounds: Rounds<ROUNDS>,
    /// Bits below the base.
    below: Constant<Bits<6>>,
    value: Signal<Local, Bits<32>>,
    shifted: Signal<Local, Bits<32>>,
}

impl<const R: usize> Base<R> {
    fn new(constants: [u16; ROUNDS]) -> Self {
        module! { Base {
            rounds: Rounds::new(&constants),
            below: Constant::new((32 - R as u64).into()),
        }
            clk rst x y column value shifted
        }
    }
}

impl<const R: usize> Logic for Base<R> {
    #[hdl_gen]
    fn update(&mut self) {
        self.value.next = bit_cast::<32, 16>(self.y.val()) | (bit_cast::<32, 16>(self.x.val()) << 16);
        self.rounds.clk.next = self.clk.val();
        self.rounds.rst.next = self.rst.val();
        self.rounds.value.next = self.value.val();
        self.shifted.next = self.rounds.mixed.val() >> self.below.val();
        self.column.next = self.shifted.val().get_bits::<R>(0);
    }
}
