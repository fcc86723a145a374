//! Schedule: prefix lengths that change at the boundary of an interval.
//!
//! # Theory of operation
//!
//! Twin of `MeasurementPoint::schedule_prefixes` in `deltaline_model::point`. Lengths that are scheduled wait until
//! an interval begins whose number is theirs or a later one, modulo 2^32. All packets take the same time from commit
//! to sampler, and a change of masks takes that time too: packets that are still on their way at the boundary meet
//! the lengths of their own interval, and those behind it the new ones, without any mark on the packet.
//!
//! ```text
//! cycle                        0         1         2                   6              7
//! the last key of an interval: hash   -> hash   -> round -> rounds  -> sampler
//! the boundary:                commit -> ends   -> due?  -> ended   ->            ->  masks of the new interval
//! the first key of the next:             hash   -> hash  -> rounds  ->            ->  sampler
//! ```
//!
//! What is illegal changes nothing: other than one length for each bank, lengths above 16 or not ascending, or a design
//! whose lengths are fixed. Fixed lengths are constants of sampler and emitter; nothing of this module is left then.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset: back to the configuration's lengths |
//! | load | in | 1 | schedule `lengths` from interval `from` on, in place of what waits |
//! | lengths | in | 64 | lengths as a control frame carries them: bank 0 in bits 63:56, 255 where there is no bank |
//! | from | in | 32 | number of an interval |
//! | ends | in | 1 | an interval ends behind this cycle |
//! | begun | in | 32 | from the cycle behind `ends` on: number of the new interval |
//! | legal | out | 1 | in the same cycle: `lengths` may be scheduled |
//! | pending | out | 1 | lengths wait |
//! | masks | out | 128 | from the sixth cycle behind `ends` on, bits 16j+15:16j: ones where bank j's prefix must be zero |
//! | ended | out | 64 | from the second cycle behind `ends` on: the lengths of the interval that ended last, as `lengths` |
//!
//! A schedule counts for the intervals that end in its own cycle or later; intervals have at least eight cycles. Latency as drawn. No parameters but the
//! configuration.
//!
//! Cost of adapting with two banks instead of the fixed lengths 1 and 6, iCE40, before placement, none where lengths are
//! fixed:
//!
//! | module | more LUT4 | more flip-flops |
//! |--------|-----------|-----------------|
//! | this one | 120 | 94 |
//! | sampler | 18 | 0 |
//! | emitter | 36 | 0 |
//!
//! # Test plan
//!
//! `sim/cosim` `checks::adaptive`, with the core: schedules at every cycle around a boundary that packets of the
//! shortest length surround without a gap; intervals before, at and behind theirs, numbers that wrap and jump; what
//! replaces what; everything illegal; reset. Planted faults.

use crate::leaves::{Delay, Flop};
use crate::module::module;
use crate::sketch::sampler::{MASKS, PREFIX_BITS};
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::sketch::sampler::{MAX_BANKS, MAX_PREFIX};
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Schedule {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub load: Signal<In, Bit>,
    pub lengths: Signal<In, Bits<64>>,
    pub from: Signal<In, Bits<32>>,
    pub ends: Signal<In, Bit>,
    pub begun: Signal<In, Bits<32>>,
    pub legal: Signal<Out, Bit>,
    pub pending: Signal<Out, Bit>,
    pub masks: Signal<Out, Bits<MASKS>>,
    pub ended: Signal<Out, Bits<64>>,

    /// One if lengths may change.
    adaptive: Constant<Bits<1>>,
    /// One where bank j exists.
    exists: [Constant<Bits<1>>; MAX_BANKS],
    /// Bank j's length after reset, and its mask. Registers reset to zero: they hold the difference from these.
    first: [Constant<Bits<5>>; MAX_BANKS],
    first_mask: [Constant<Bits<PREFIX_BITS>>; MAX_BANKS],
    longest: Constant<Bits<8>>,
    /// Shifted to the right by a length, the lower half is that bank's mask.
    ones: Constant<Bits<32>>,

    waits: Flop<Bit>,
    due_from: Flop<Bits<32>>,
    waiting: [Flop<Bits<5>>; MAX_BANKS],
    current: [Flop<Bits<5>>; MAX_BANKS],
    before: [Flop<Bits<5>>; MAX_BANKS],
    mask: [Flop<Bits<PREFIX_BITS>>; MAX_BANKS],
    /// From the lengths to the masks.
    taking: Signal<Local, Bits<1>>,
    meeting: Delay<1, 4>,
    has_ended: Flop<Bit>,

    asked: [Signal<Local, Bits<8>>; MAX_BANKS],
    wrong: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    late: Signal<Local, Bits<32>>,
    due: Signal<Local, Bit>,
    length: [Signal<Local, Bits<5>>; MAX_BANKS],
    shifted: Signal<Local, Bits<32>>,
    shown: Signal<Local, Bits<5>>,
    word: Signal<Local, Bits<64>>,
    one: Signal<Local, Bits<PREFIX_BITS>>,
    all: Signal<Local, Bits<MASKS>>,
}

impl Schedule {
    /// The schedule of a configuration.
    pub fn new(configuration: &Configuration) -> Self {
        let lengths = configuration.prefixes().lengths();
        let first = |bank: usize| u64::from(lengths.get(bank).copied().unwrap_or(0));
        module! { Schedule {
            adaptive: Constant::new(u64::from(configuration.adaptive()).into()),
            exists: std::array::from_fn(|bank| Constant::new(u64::from(bank < lengths.len()).into())),
            first: std::array::from_fn(|bank| Constant::new(first(bank).into())),
            first_mask: std::array::from_fn(|bank| Constant::new((0xffff & !(0xffff >> first(bank))).into())),
            longest: Constant::new(u64::from(MAX_PREFIX).into()),
            ones: Constant::new(0xffff_0000_u64.into()),
        }
            clk rst load lengths from ends begun legal pending masks ended waits due_from has_ended
            wrong takes late due shifted shown word one all taking meeting
            ; each waiting current before mask asked length
        }
    }
}

impl Logic for Schedule {
    #[clocked(waits, due_from, has_ended)]
    fn update(&mut self) {
        for i in 0..8 {
            self.waiting[i].clock.next = self.clk.val();
            self.waiting[i].rst.next = self.rst.val();
            self.waiting[i].d.next = self.waiting[i].q.val();
            self.current[i].clock.next = self.clk.val();
            self.current[i].rst.next = self.rst.val();
            self.current[i].d.next = self.current[i].q.val();
            self.before[i].clock.next = self.clk.val();
            self.before[i].rst.next = self.rst.val();
            self.before[i].d.next = self.before[i].q.val();
            self.mask[i].clock.next = self.clk.val();
            self.mask[i].rst.next = self.rst.val();
            self.mask[i].d.next = self.mask[i].q.val();
        }

        // Is what is asked for legal?
        for i in 0..8 {
            self.asked[i].next = self.lengths.val().get_bits::<8>(56 - 8 * i);
        }
        self.wrong.next = !self.adaptive.val().any();
        for i in 0..8 {
            if self.exists[i].val().any() {
                if self.asked[i].val() > self.longest.val() {
                    self.wrong.next = true;
                }
            } else if self.asked[i].val() != 0xff {
                self.wrong.next = true;
            }
        }
        for i in 0..7 {
            if self.exists[i + 1].val().any() & (self.asked[i + 1].val() <= self.asked[i].val()) {
                self.wrong.next = true;
            }
        }

        // The cycle behind an end: the number of the new interval is there. Is it due?
        self.has_ended.d.next = self.ends.val() & self.adaptive.val().any();
        self.late.next = self.begun.val() - self.due_from.q.val();
        self.due.next = self.has_ended.q.val() & self.waits.q.val() & !self.late.val().get_bit(31);
        for i in 0..8 {
            self.length[i].next = self.current[i].q.val() ^ self.first[i].val();
            self.shifted.next = self.ones.val() >> self.length[i].val();
            if self.has_ended.q.val() {
                self.before[i].d.next = self.current[i].q.val();
            }
            if self.due.val() {
                self.current[i].d.next = self.waiting[i].q.val();
            }
            if self.meeting.q.val().any() & self.exists[i].val().any() {
                self.mask[i].d.next = self.shifted.val().get_bits::<16>(0) ^ self.first_mask[i].val();
            }
        }
        self.taking.next = 0.into();
        if self.due.val() {
            self.waits.d.next = false;
            self.taking.next = 1.into();
        }
        self.meeting.clk.next = self.clk.val();
        self.meeting.rst.next = self.rst.val();
        self.meeting.d.next = self.taking.val();

        // What comes now waits, and what waited does so no more.
        self.takes.next = self.load.val() & !self.wrong.val();
        if self.takes.val() {
            self.waits.d.next = true;
            self.due_from.d.next = self.from.val();
        }
        for i in 0..8 {
            if self.takes.val() & self.exists[i].val().any() {
                self.waiting[i].d.next = self.asked[i].val().get_bits::<5>(0) ^ self.first[i].val();
            }
        }

        self.word.next = 0.into();
        self.all.next = 0.into();
        for i in 0..8 {
            self.one.next = self.mask[i].q.val() ^ self.first_mask[i].val();
            self.all.next = (self.all.val() >> 16) | (bit_cast::<MASKS, PREFIX_BITS>(self.one.val()) << 112);
            self.shown.next = self.before[i].q.val() ^ self.first[i].val();
            if self.exists[i].val().any() {
                self.word.next = (self.word.val() << 8) | bit_cast::<64, 5>(self.shown.val());
            } else {
                self.word.next = (self.word.val() << 8) | 0xff;
            }
        }

        self.legal.next = !self.wrong.val();
        self.pending.next = self.waits.q.val();
        self.ended.next = self.word.val();
        self.masks.next = self.all.val();
    }
}
