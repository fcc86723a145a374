//! Flow vector: the way of a stream's packets from key to counter, one of the 64 that its flow has in COLATE's vector.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::sketch::flow_vector`, in the place of a [lane](crate::sketch::lane). A [flow key](crate::sketch::flow_key) goes through a
//! hash of its own, which waits for the packet's place, as its [subvector](Subvector) needs both: which of the flow's counters the packet
//! is in, j, are six bits of the place. The vector is one [lda](crate::sketch::lda).
//!
//! ```text
//! cycle  0          1       2       3             6        7          8                 12              16
//! key -> flow key -> hash -> hash -> bits 31:0 --- wait --> + --------> four rounds ----> ^ four rounds -> column
//!                                                           |                             |                 |
//! key -> hash -> hash -> four rounds: place -> j -> j step -+  bits 63:32 ---- wait ------+                 |
//!                                       |                                                                   v
//!                                       +-> sampler ------------- wait ----------------------> update --> lda
//!        packet, epoch, nanoseconds ---------------- wait ----------------------------------> update ----^
//! ```
//!
//! One round a cycle, as everywhere: no path has more than one adder. So counters are written eight cycles later than cells of
//! [flow rows](crate::sketch::flow_rows), which a drain leaves time for: it begins with a header. `hdl/formal/aggregator.v` proves how much.
//!
//! # Ports
//!
//! Those of the [identity table](crate::sketch::identity_table), but for
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | drain_address | in | A | the counter |
//! | drained_cell | out | 72 | as the lda's |
//! | ends, digest_sum | | | there are none: no packet has a digest |
//!
//! One packet a cycle; its counter is written 22 cycles behind its key. A copy may be drained from the 22nd cycle on behind
//! that of its last packet. Parameters: A = log2(counters), S = 72; the configuration's hash, seed and prefix length become
//! constants, unless the length adapts.
//!
//! Cost of this stage with 1024 counters for ECP5 before placement (yosys): 6,179 LUT4, 3,790 flip-flops, 8 RAMs of 18 kbit. Waits are 1,000 of the
//! flip-flops. A core of 64 bits with it (`cargo xtask report --configuration 10g-colate`) has 10,045 LUT4, 7,279 flip-flops and 8 such RAMs. Placed on
//! an LFE5U-85F of speed 6: 122.4 MHz at worst, 133.3 median, 134.8 best of three seeds, where 10 Gbit/s need 156.25. The worst path compares
//! delimiters' numbers, 6.3 ns of it wires. So it carries 7.8 Gbit/s there, and 10 Gbit/s take a faster family.
//!
//! # Test plan
//!
//! `sim/cosim`: keys of flows of all sizes, one a cycle, and with pauses, sampled and not, of both IP versions, with fragments and protocols
//! without ports, against the model's cells; packets around a change of the copy; drains at once behind it while the other copy is updated;
//! counts that wrap; planted faults. Whole cores of 64 and 512 bits against `deltaline_model::point`. `hdl/formal/flow_vector.v`: any pattern of
//! packets, any drain.

use crate::leaves::{Delay, Flop, HashMatrix, Rom};
use crate::module::module;
use crate::sketch::flow_key::FlowKey;
use crate::sketch::lda::Lda;
use crate::sketch::mixing::MIXING;
use crate::sketch::place::Place;
use crate::sketch::rounds::Rounds;
use crate::sketch::sampler::{MASKS, PREFIX_BITS, Sampler};
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::sketch::colate::{ROUNDS, STEP};
use deltaline_model::sketch::flow_vector::{WIDTH, subvectors};
use rust_hdl_core::prelude::*;

/// Bits of j.
const NUMBER_BITS: usize = WIDTH.ilog2() as usize;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct FlowVector<const A: usize, const S: usize = 72> {
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

    flow_key: FlowKey,
    /// The flow's hash: its bits 31:0, and 63:32.
    flow_hash: [HashMatrix; 2],
    /// Until the packet's place is there.
    flow: [Delay<32, 3>; 2],
    /// For prefix and j: the column is not made of the place.
    place: Place,
    sampler: Sampler<1, 1>,
    unused_row: Signal<Local, Bits<1>>,
    /// From the packet to the sampler.
    placing: [Flop<Bit>; 5],
    subvector: Subvector<A>,
    /// From the sampler to the update.
    sampled: Signal<Local, Bits<1>>,
    updating: Delay<1, 9>,
    /// From the packet to the update: its copy above its timestamp.
    entering: Signal<Local, Bits<41>>,
    waiting: Delay<41, 15>,
    lda: Lda<A, S>,
}

impl<const A: usize, const S: usize> FlowVector<A, S> {
    /// The vector of a configuration with 2^A counters.
    pub fn new(configuration: &Configuration) -> Self {
        module! { FlowVector {
            flow_hash: [0, 32].map(|first| HashMatrix::new(configuration, first..first + 32)),
            place: Place::new(configuration),
            sampler: Sampler::new(configuration),
            subvector: Subvector::new(configuration),
        }
            clk rst key packet epoch nanoseconds masks mixing drain_address drain_epoch clear_first clear_second drained_cell
            overflow overflow_epoch flow_key placing sampled updating entering waiting unused_row lda; each flow
        }
    }
}

impl<const A: usize, const S: usize> Logic for FlowVector<A, S> {
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

        self.flow_key.clk.next = self.clk.val();
        self.flow_key.rst.next = self.rst.val();
        self.flow_key.key.next = self.key.val();
        for i in 0..2 {
            self.flow_hash[i].clk.next = self.clk.val();
            self.flow_hash[i].key.next = self.flow_key.flow.val();
            self.flow[i].clk.next = self.clk.val();
            self.flow[i].rst.next = self.rst.val();
            self.flow[i].d.next = self.flow_hash[i].bits.val();
        }
        self.subvector.clk.next = self.clk.val();
        self.subvector.rst.next = self.rst.val();
        self.subvector.low.next = self.flow[0].q.val();
        self.subvector.high.next = self.flow[1].q.val();
        self.subvector.number.next = self.place.value.val().get_bits::<NUMBER_BITS>(10);

        // Until the column is there.
        self.entering.next = bit_cast::<41, 40>(self.nanoseconds.val());
        self.entering.next = self.entering.val().replace_bit(40, self.epoch.val());
        self.waiting.clk.next = self.clk.val();
        self.waiting.rst.next = self.rst.val();
        self.waiting.d.next = self.entering.val();
        self.sampled.next = 0.into();
        if self.sampler.sampled.val() {
            self.sampled.next = 1.into();
        }
        self.updating.clk.next = self.clk.val();
        self.updating.rst.next = self.rst.val();
        self.updating.d.next = self.sampled.val();

        self.lda.clk.next = self.clk.val();
        self.lda.rst.next = self.rst.val();
        self.lda.update.next = self.updating.q.val().any();
        self.lda.epoch.next = self.waiting.q.val().get_bit(40);
        self.lda.address.next = self.subvector.column.val();
        self.lda.timestamp.next = self.waiting.q.val().get_bits::<40>(0);
        self.lda.drain_address.next = self.drain_address.val();
        self.lda.drain_epoch.next = self.drain_epoch.val();
        self.lda.clear[0].next = self.clear_first.val();
        self.lda.clear[1].next = self.clear_second.val();
        self.drained_cell.next = self.lda.drained_cell.val();
        self.overflow.next = self.lda.overflow.val();
        self.overflow_epoch.next = self.lda.overflow_epoch.val();
    }
}

/// H: the counter of a flow's packet, twin of `deltaline_model::sketch::colate::Subvectors`.
///
/// | port | direction | width | meaning |
/// |------|-----------|-------|---------|
/// | clk, rst | in | 1 | clock; synchronous reset |
/// | low, high | in | 32 | bits 31:0 and 63:32 of the flow's hash |
/// | number | in | 6 | j |
/// | column | out | A | H(f, j), ten cycles later |
///
/// One packet a cycle. What j adds comes out of a memory of constants: its product takes one of 64 values.
#[derive(LogicBlock)]
pub struct Subvector<const A: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub low: Signal<In, Bits<32>>,
    pub high: Signal<In, Bits<32>>,
    pub number: Signal<In, Bits<NUMBER_BITS>>,
    pub column: Signal<Out, Bits<A>>,

    product: Rom<32, NUMBER_BITS>,
    low_now: Flop<Bits<32>>,
    sum: Flop<Bits<32>>,
    first: Rounds<ROUNDS>,
    /// Until the first rounds are done.
    high_then: Delay<32, 6>,
    second: Rounds<ROUNDS>,
    /// Bits below the column.
    below: Constant<Bits<6>>,
    shifted: Signal<Local, Bits<32>>,
}

impl<const A: usize> Subvector<A> {
    fn new(configuration: &Configuration) -> Self {
        let products: Vec<u64> = (0..WIDTH as u32).map(|number| STEP.wrapping_mul(number).into()).collect();
        let subvectors = subvectors(configuration.rows(), configuration.seed());
        let [first, second] = subvectors.constants();
        module! { Subvector {
            product: Rom::new(&products),
            first: Rounds::new(first),
            second: Rounds::new(second),
            below: Constant::new((32 - A as u64).into()),
        }
            clk rst low high number column low_now sum high_then shifted
        }
    }
}

impl<const A: usize> Logic for Subvector<A> {
    #[clocked(low_now, sum)]
    fn update(&mut self) {
        self.product.clk.next = self.clk.val();
        self.product.address.next = self.number.val();
        self.low_now.d.next = self.low.val();
        self.sum.d.next = self.low_now.q.val() + self.product.read_data.val();
        self.first.clk.next = self.clk.val();
        self.first.rst.next = self.rst.val();
        self.first.value.next = self.sum.q.val();
        self.high_then.clk.next = self.clk.val();
        self.high_then.rst.next = self.rst.val();
        self.high_then.d.next = self.high.val();
        self.second.clk.next = self.clk.val();
        self.second.rst.next = self.rst.val();
        self.second.value.next = self.first.mixed.val() ^ self.high_then.q.val();
        self.shifted.next = self.second.mixed.val() >> self.below.val();
        self.column.next = self.shifted.val().get_bits::<A>(0);
    }
}
