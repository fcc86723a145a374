//! Slices: the way of a stream's packets from key to the record of their slice.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::sketch::slices` with a prefix length of 1 to 16, in the place of a [lane](crate::sketch::lane). Packets that the
//! sampler takes start a slice; all others belong to the slice that runs. Its record is in registers, and is written to memory
//! with every packet: so a record is whole whenever the interval ends, and nothing is ever read but by the drain.
//!
//! ```text
//! cycle  0                   6            7                   8
//! key -> place (hash, rounds) -> sampler -> starts a slice? -> record -+-> record memory, copy 0 -+-> drained cell
//!                             -> place  --------------------->         +-> record memory, copy 1 -+
//!        packet, epoch, nanoseconds ----------> wait --------->
//! ```
//!
//! Each copy counts its records. The count of a copy starts from zero when the copy becomes the one that counts, also without a packet.
//! What a memory holds behind the last record is of earlier intervals: the drain sees zeros there, and clears nothing. When all records are used
//! the last slice goes on; packets in front of the first slice are in no record.
//!
//! # Ports
//!
//! Those of the [identity table](crate::sketch::identity_table), but for
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | drain_address | in | A | record in bits A-1:1; bit 0: 0 its place and start, 1 its count and sum |
//! | drained_cell | out | 72 | the first in bits 71:40, the second in bits 39:0; four cycles after drain_address settled |
//! | clear_first, clear_second | | | there are none: nothing needs to be cleared |
//! | ends, digest_sum | | | there are none: no packet has a digest |
//!
//! One packet a cycle; its record is written eight cycles behind its key. A copy may be drained from the seventh cycle on behind its last
//! packet. Parameters: A = log2(rows), T = A - 1 = log2(records), S = 72; the configuration's hash, seed and prefix length become constants,
//! unless the length adapts.
//!
//! Cost for ECP5 before placement (yosys): a core of 64 bits with 512 records (`cargo xtask report --configuration 10g-slices --device 85f-6`) has
//! 6,587 LUT4, 4,949 flip-flops and 8 RAMs of 18 kbit, where one with two banks of 1024 rows has 6,995, 5,195 and 16. Placed on an LFE5U-85F of speed 6: 132.3 MHz at worst, 136.7
//! median, 138.1 best of three seeds; the worst path is that out of the memory, whose RAMs take 5.8 ns.
//!
//! # Test plan
//!
//! `sim/cosim`: packets one a cycle, and with pauses, slices of one packet and of thousands, tables that are empty, full and more than full, against
//! records cut by hand; packets around a change of the copy; copies without a packet; drains while the other copy is updated; counts that
//! wrap; planted faults. Whole cores of 64, 256 and 512 bits against `deltaline_model::point`. `hdl/formal/slices.v`: any pattern of packets, any drain.

use crate::leaves::{Delay, Flop, OutputRegister, Ram};
use crate::module::module;
use crate::sketch::mixing::MIXING;
use crate::sketch::place::Place;
use crate::sketch::sampler::{MASKS, PREFIX_BITS, Sampler};
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Slices<const A: usize, const T: usize, const S: usize = 72> {
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
    pub drained_cell: Signal<Out, Bits<S>>,
    pub overflow: Signal<Out, Bit>,
    pub overflow_epoch: Signal<Out, Bit>,

    place: Place,
    sampler: Sampler<1, 1>,
    unused_row: Signal<Local, Bits<1>>,
    /// From the packet to the record.
    waiting: [Flop<Bit>; 6],
    copy: [Flop<Bit>; 6],
    timestamp: Delay<40, 6>,
    place_then: Flop<Bits<32>>,

    /// The copy that counted a cycle before.
    copy_before: Flop<Bit>,
    /// Records of each copy.
    used: [Flop<Bits<A>>; 2],
    all: Constant<Bits<A>>,
    used_now: Signal<Local, Bits<A>>,
    used_then: Signal<Local, Bits<A>>,
    starts: Signal<Local, Bit>,
    goes_on: Signal<Local, Bit>,
    /// The record of the running slice, and where it belongs.
    first_place: Flop<Bits<32>>,
    start: Flop<Bits<40>>,
    count: Flop<Bits<32>>,
    sum: Flop<Bits<40>>,
    number: Flop<Bits<T>>,
    written: Flop<Bit>,
    written_copy: Flop<Bit>,
    record: [Signal<Local, Bits<S>>; 2],
    memory: [RecordMemory<T, S>; 2],

    drained_number: Signal<Local, Bits<A>>,
    drained_used: Signal<Local, Bits<A>>,
    is_used: Flop<Bit>,
    drained: Signal<Local, Bits<S>>,
}

impl<const A: usize, const T: usize, const S: usize> Slices<A, T, S> {
    /// The slices of a configuration with 2^A rows.
    pub fn new(configuration: &Configuration) -> Self {
        module! { Slices {
            place: Place::new(configuration),
            sampler: Sampler::new(configuration),
            all: Constant::new((1 << T).into()),
        }
            clk rst key packet epoch nanoseconds masks mixing drain_address drain_epoch drained_cell overflow overflow_epoch unused_row
            timestamp place_then copy_before used_now used_then starts goes_on first_place start count sum number written
            written_copy drained_number drained_used is_used drained; each waiting copy used record memory
        }
    }
}

impl<const A: usize, const T: usize, const S: usize> Logic for Slices<A, T, S> {
    #[clocked(
        place_then,
        copy_before,
        first_place,
        start,
        count,
        sum,
        number,
        written,
        written_copy,
        is_used
    )]
    fn update(&mut self) {
        self.place.clk.next = self.clk.val();
        self.place.rst.next = self.rst.val();
        self.place.key.next = self.key.val();
        self.place.mixing.next = self.mixing.val();
        for i in 0..6 {
            self.waiting[i].clock.next = self.clk.val();
            self.waiting[i].rst.next = self.rst.val();
            self.copy[i].clock.next = self.clk.val();
            self.copy[i].rst.next = self.rst.val();
        }
        for i in 0..5 {
            self.waiting[i + 1].d.next = self.waiting[i].q.val();
            self.copy[i + 1].d.next = self.copy[i].q.val();
        }
        self.waiting[0].d.next = self.packet.val();
        self.copy[0].d.next = self.epoch.val();
        self.timestamp.clk.next = self.clk.val();
        self.timestamp.rst.next = self.rst.val();
        self.timestamp.d.next = self.nanoseconds.val();
        self.place_then.d.next = self.place.value.val();
        self.sampler.clk.next = self.clk.val();
        self.sampler.rst.next = self.rst.val();
        self.sampler.valid.next = self.waiting[4].q.val();
        self.sampler.row.next = self.place.value.val().get_bits::<1>(0);
        self.sampler.prefix.next = self.place.value.val().get_bits::<PREFIX_BITS>(16);
        self.sampler.masks.next = self.masks.val();
        self.unused_row.next = self.sampler.address.val();

        // Cycle 7: a slice starts, or goes on. Another copy has no record yet.
        self.copy_before.d.next = self.copy[5].q.val();
        self.used_now.next = self.used[0].q.val();
        if self.copy[5].q.val() {
            self.used_now.next = self.used[1].q.val();
        }
        if self.copy[5].q.val() != self.copy_before.q.val() {
            self.used_now.next = 0.into();
        }
        self.starts.next = self.sampler.sampled.val() & (self.used_now.val() != self.all.val());
        self.goes_on.next = self.waiting[5].q.val() & !self.starts.val() & self.used_now.val().any();
        self.used_then.next = self.used_now.val();
        if self.starts.val() {
            self.used_then.next = self.used_now.val() + 1;
        }
        for i in 0..2 {
            self.used[i].clock.next = self.clk.val();
            self.used[i].rst.next = self.rst.val();
            self.used[i].d.next = self.used[i].q.val();
        }
        if self.copy[5].q.val() {
            self.used[1].d.next = self.used_then.val();
        } else {
            self.used[0].d.next = self.used_then.val();
        }
        if self.starts.val() {
            self.first_place.d.next = self.place_then.q.val();
            self.start.d.next = self.timestamp.q.val();
            self.count.d.next = 1.into();
            self.sum.d.next = self.timestamp.q.val();
            self.number.d.next = self.used_now.val().get_bits::<T>(0);
        } else if self.goes_on.val() {
            self.count.d.next = self.count.q.val() + 1;
            self.sum.d.next = self.sum.q.val() + self.timestamp.q.val();
        }
        self.written.d.next = self.starts.val() | self.goes_on.val();
        self.written_copy.d.next = self.copy[5].q.val();

        // Cycle 8: the record as it is now. A slice has a packet: a count of zero has wrapped.
        self.overflow.next = self.written.q.val() & !self.count.q.val().any();
        self.overflow_epoch.next = self.written_copy.q.val();
        self.record[0].next =
            bit_cast::<S, 40>(self.start.q.val()) | (bit_cast::<S, 32>(self.first_place.q.val()) << 40);
        self.record[1].next =
            bit_cast::<S, 40>(self.sum.q.val()) | (bit_cast::<S, 32>(self.count.q.val()) << 40);
        self.drained_number.next = self.drain_address.val() >> 1;
        for i in 0..2 {
            self.memory[i].clk.next = self.clk.val();
            self.memory[i].rst.next = self.rst.val();
            self.memory[i].write_number.next = self.number.q.val();
            self.memory[i].first.next = self.record[0].val();
            self.memory[i].second.next = self.record[1].val();
            self.memory[i].read_number.next = self.drained_number.val().get_bits::<T>(0);
            self.memory[i].is_second.next = self.drain_address.val().get_bit(0);
        }
        self.memory[0].write.next = self.written.q.val() & !self.written_copy.q.val();
        self.memory[1].write.next = self.written.q.val() & self.written_copy.q.val();

        self.drained_used.next = self.used[0].q.val();
        if self.drain_epoch.val() {
            self.drained_used.next = self.used[1].q.val();
        }
        self.is_used.d.next = self.drained_number.val() < self.drained_used.val();
        self.drained.next = 0.into();
        if self.is_used.q.val() {
            self.drained.next = self.memory[0].word.val();
            if self.drain_epoch.val() {
                self.drained.next = self.memory[1].word.val();
            }
        }
        self.drained_cell.next = self.drained.val();
    }
}

/// The records of one copy.
///
/// | port | direction | width | meaning |
/// |------|-----------|-------|---------|
/// | clk, rst | in | 1 | clock; synchronous reset (not of the memories) |
/// | write | in | 1 | write a record |
/// | write_number | in | T | this one |
/// | first, second | in | 72 | its words |
/// | read_number | in | T | record to read |
/// | is_second | in | 1 | its second word |
/// | word | out | 72 | that word, three cycles after read_number settled |
///
/// One write a cycle. Each word lies in two memories of 36 bits, as a cell does in an [lda](crate::sketch::lda).
#[derive(LogicBlock)]
pub struct RecordMemory<const T: usize, const S: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub write: Signal<In, Bit>,
    pub write_number: Signal<In, Bits<T>>,
    pub first: Signal<In, Bits<S>>,
    pub second: Signal<In, Bits<S>>,
    pub read_number: Signal<In, Bits<T>>,
    pub is_second: Signal<In, Bit>,
    pub word: Signal<Out, Bits<S>>,

    read_number_then: Flop<Bits<T>>,
    ram: [Ram<36, T, true>; 4],
    read_out: [OutputRegister<36>; 4],
    shown: Signal<Local, Bits<S>>,
}

impl<const T: usize, const S: usize> Default for RecordMemory<T, S> {
    fn default() -> Self {
        module! { RecordMemory {}
            clk rst write write_number first second read_number is_second word read_number_then shown; each ram read_out
        }
    }
}

impl<const T: usize, const S: usize> Logic for RecordMemory<T, S> {
    #[clocked(read_number_then)]
    fn update(&mut self) {
        self.read_number_then.d.next = self.read_number.val();
        for i in 0..4 {
            self.ram[i].clk.next = self.clk.val();
            self.ram[i].write_enable.next = self.write.val();
            self.ram[i].write_address.next = self.write_number.val();
            self.ram[i].read_address.next = self.read_number_then.q.val();
            self.read_out[i].clock.next = self.clk.val();
            self.read_out[i].rst.next = self.rst.val();
            self.read_out[i].d.next = self.ram[i].read_data.val();
        }
        self.ram[0].write_data.next = self.first.val().get_bits::<36>(0);
        self.ram[1].write_data.next = self.first.val().get_bits::<36>(36);
        self.ram[2].write_data.next = self.second.val().get_bits::<36>(0);
        self.ram[3].write_data.next = self.second.val().get_bits::<36>(36);
        self.shown.next =
            bit_cast::<S, 36>(self.read_out[0].q.val()) | (bit_cast::<S, 36>(self.read_out[1].q.val()) << 36);
        if self.is_second.val() {
            self.shown.next = bit_cast::<S, 36>(self.read_out[2].q.val())
                | (bit_cast::<S, 36>(self.read_out[3].q.val()) << 36);
        }
        self.word.next = self.shown.val();
    }
}
