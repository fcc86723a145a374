//! Ledger: all counters of both copies, cells and totals, in memories that one 16-bit adder works on.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::sketch::cell`, `lda` and the sums of `point`. A frame that is measured has at least 34 bytes, so
//! there are 34 cycles from one packet to the next: time to update everything word by word.
//!
//! Five *planes* hold the cells, one word of each cell in each: sum 15:0, 31:16 and 39:32, count 15:0 and 31:16. The
//! sixth holds the totals of both copies at their word offsets in the control frame's header. Every cycle starts one
//! operation: read a word, add something to it, write it back, over four cycles. Operations come in groups:
//!
//! | group | operations | what |
//! |-------|------------|------|
//! | packet | 23 | byte total; last time, first time and the cell's sum, word by word; the cell's count; the sum of all times; packet total |
//! | count | 3 | adds a small counter to one of the totals that saturate; all eight of these take turns |
//! | drain | 1 | reads a word for the emitter, and clears it if asked to |
//!
//! When a group ends, the packet that waits goes first, then the counts. A drain's operation goes before whatever is next,
//! within groups too. So a packet's last operation starts 30 cycles behind it at the latest. Unmeasured
//! and bad frames may be one byte long and refused ends may come every cycle; the small counters of eight bits absorb
//! them: each is emptied every 140 cycles or less. No operation meets a word that another one still works on: packets and
//! counts each have their own words, the drain has the idle copy, and counts leave that alone when nothing was counted.
//!
//! ```text
//! 0 group, step   1 address   2 memory, addend   3 addition   4 write
//! ```
//!
//! A counter that saturates looks at its high word first: if that is all ones and the low word carries, the low word
//! becomes all ones too.
//!
//! A packet's cell is known six cycles behind it, when the first operation of its group that needs it, the sixth, starts
//! a cycle later at the earliest.
//!
//! # Slices
//!
//! With Z = 1 the planes hold records of `deltaline_model::sketch::slices`, each two cells, and a packet's cell is the second of
//! the record that runs in its copy: as drains leave cells clear, what is added there is the slice's count and sum. A packet that is
//! sampled starts the next record, unless all are used. Its place and time go to the first cell without an operation of
//! their own: its time's words pass anyway, on their way to the last time in the totals, and are written to the planes
//! of sums as well; with the lowest goes the place, to the planes of counts. So a packet has as many operations as one
//! of an LDA. Packets in front of the first record have no cell. A drain's end leaves its copy without records.
//!
//! After reset both copies are cleared, one word of each plane a cycle.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | epoch | in | 1 | the copy that counts now |
//! | packet, unmeasured, bad, refused, ignored, unlocked | in | 1 | one of them to count, or a condition to note, in that copy |
//! | octets | in | 17 | with packet, and ten cycles more: IP octets |
//! | sampled, address | in | 1 + A | five cycles behind packet: its cell, if it has one; with slices, whether it starts one, and not looked at |
//! | place | in | Z x 32 | of the packet, from then on until as many behind the next |
//! | stamp, take_stamp | in | 64 + 1 | the packet's timestamp, taken before the packet, at least 32 cycles behind the one before |
//! | by_clock | in | 1 | a clock ends the interval: noted in both copies |
//! | end_drain | in | 1 | the idle copy's words are clear: clear its flags |
//! | ask | in | 1 | read a word of the idle copy, at least eight cycles behind the one before, |
//! | ask_plane | in | 3 | of this plane; 5: totals. Stands, as do the next three, until two cycles behind the answer |
//! | ask_address, ask_word | in | A, 6 | at this address; the totals at this word |
//! | ask_clear | in | 1 | and clear it |
//! | answers | out | 1 | here it is: four cycles behind ask |
//! | answer | out | 16 | the word |
//! | flags | out | 4 | the idle copy's flags |
//! | running | out | 1 | all words are clear |
//!
//! Parameters: A, the width of a cell's address; C = A + 1; Z, 1 with slices, else 0.
//!
//! # Test plan
//!
//! `sim/cosim`: through the whole core: packets every 34 cycles, unmeasured frames and refused ends every cycle, drains
//! under way; carries and saturation of every counter, preloaded. `hdl/formal/byte_slices.v`: with slices, every packet in the
//! record of its slice, word by word.

use crate::leaves::{Delay, Flop, Ram};
use crate::module::module;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Ledger<const A: usize, const C: usize, const Z: usize = 0> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub epoch: Signal<In, Bit>,
    pub packet: Signal<In, Bit>,
    pub unmeasured: Signal<In, Bit>,
    pub bad: Signal<In, Bit>,
    pub refused: Signal<In, Bit>,
    pub ignored: Signal<In, Bit>,
    pub unlocked: Signal<In, Bit>,
    pub octets: Signal<In, Bits<17>>,
    pub sampled: Signal<In, Bit>,
    pub address: Signal<In, Bits<A>>,
    pub place: [Signal<In, Bits<32>>; Z],
    pub stamp: Signal<In, Bits<64>>,
    pub take_stamp: Signal<In, Bit>,
    pub by_clock: Signal<In, Bit>,
    pub end_drain: Signal<In, Bit>,
    pub ask: Signal<In, Bit>,
    pub ask_plane: Signal<In, Bits<3>>,
    pub ask_address: Signal<In, Bits<A>>,
    pub ask_word: Signal<In, Bits<6>>,
    pub ask_clear: Signal<In, Bit>,
    pub answers: Signal<Out, Bit>,
    pub answer: Signal<Out, Bits<16>>,
    pub flags: Signal<Out, Bits<4>>,
    pub running: Signal<Out, Bit>,

    sum_low: Ram<16, C, false>,
    sum_middle: Ram<16, C, false>,
    sum_high: Ram<8, C, false>,
    count_low: Ram<16, C, false>,
    count_high: Ram<16, C, false>,
    totals: Ram<16, 7, false>,

    // Clearing behind a reset.
    cleared: Flop<Bit>,
    clearing: Flop<Bits<13>>,
    last_word: Constant<Bits<13>>,

    // The packet that waits or is being recorded.
    waiting: Flop<Bit>,
    /// Index i: a packet came i + 1 cycles ago.
    landing: [Flop<Bit>; 5],
    is_first: Flop<Bit>,
    is_sampled: Flop<Bit>,
    target: Flop<Bits<A>>,
    packet_copy: Flop<Bit>,
    time_words: Flop<Bits<64>>,

    // Slices.
    /// Records in the first copy and in the second, and as many as there may be.
    used_first: [Flop<Bits<A>>; Z],
    used_second: [Flop<Bits<A>>; Z],
    all: [Constant<Bits<A>>; Z],
    used_now: [Signal<Local, Bits<A>>; Z],
    used_then: [Signal<Local, Bits<A>>; Z],
    starts_now: [Signal<Local, Bit>; Z],
    number: [Signal<Local, Bits<A>>; Z],
    /// The packet starts the record that its cell is of.
    starts: [Flop<Bit>; Z],
    /// The operation's result, a word of its time, goes to the record's first cell besides; and four cycles later.
    opens_now: [Signal<Local, Bits<1>>; Z],
    opens: [Delay<1, 4>; Z],

    // Index 4 x copy + kind: 0 unmeasured, 1 bad, 2 refused, 3 ignored.
    counts: [Signal<Local, Bit>; 8],
    pending: [Flop<Bits<8>>; 8],
    /// Which of them is next.
    turn: Flop<Bits<3>>,
    is_turn: [Signal<Local, Bit>; 8],
    /// Its kind: of 16 bits, and of which of the two.
    is_short: Signal<Local, Bit>,
    is_upper: Signal<Local, Bit>,
    chosen: Signal<Local, Bits<8>>,
    amount: Flop<Bits<8>>,

    // Index: copy.
    any: [Flop<Bit>; 2],
    saturated: [Flop<Bit>; 2],
    overrun: [Flop<Bit>; 2],
    clock_lost: [Flop<Bit>; 2],
    timed: [Flop<Bit>; 2],
    here: [Signal<Local, Bit>; 2],
    conditions: Signal<Local, Bits<4>>,

    // Cycle 0.
    /// The group is a packet's, not a count's.
    is_packet: Flop<Bit>,
    step: Flop<Bits<5>>,
    /// It is step 1 of a count.
    counts_now: Flop<Bit>,
    /// The operation is a drain's, whatever the group.
    is_drain: Flop<Bit>,
    group_ends: Signal<Local, Bit>,
    /// The second step of a count.
    empties: Signal<Local, Bit>,
    is_cell: Signal<Local, Bit>,

    // Cycles 1 to 4: index i belongs to cycle i + 1.
    plane: [Flop<Bits<3>>; 4],
    word: [Flop<Bits<6>>; 4],
    copy: [Flop<Bit>; 4],
    drains: [Flop<Bit>; 4],
    writes: [Flop<Bit>; 4],
    /// What is added: 0 nothing, 1 octets 15:0, 2 octets 16, 3 time, 4 the small counter.
    addend_is: [Flop<Bits<3>>; 2],
    turns_time: [Flop<Bit>; 2],
    /// The word read counts.
    adds: [Flop<Bit>; 2],
    one: [Flop<Bit>; 3],
    chains: [Flop<Bit>; 3],
    /// An addition, whose carry the next one may want.
    carries: [Flop<Bit>; 3],
    tells: [Flop<Bit>; 3],
    looks: [Flop<Bit>; 3],
    looks_full: [Flop<Bit>; 3],
    saturates: [Flop<Bit>; 3],
    clears: [Flop<Bit>; 4],

    // Cycle 1 and 4.
    read_cell: Signal<Local, Bits<C>>,
    read_total: Signal<Local, Bits<7>>,
    write_cell: Signal<Local, Bits<C>>,
    write_total: Signal<Local, Bits<7>>,
    // Cycle 2.
    memory_word: Signal<Local, Bits<16>>,
    addend: Signal<Local, Bits<16>>,
    // Cycle 3.
    left: Flop<Bits<16>>,
    right: Flop<Bits<16>>,
    // One bit longer at each end: the carry in enters below, the carry out leaves above.
    left_longer: Signal<Local, Bits<18>>,
    right_longer: Signal<Local, Bits<18>>,
    sum_total: Signal<Local, Bits<18>>,
    carry: Flop<Bit>,
    full: Flop<Bit>,
    // Cycle 4.
    result: Flop<Bits<16>>,
    result_full: Flop<Bit>,
    overflows: Flop<Bit>,
    write_data: Signal<Local, Bits<16>>,
}

impl<const A: usize, const C: usize, const Z: usize> Default for Ledger<A, C, Z> {
    fn default() -> Self {
        module! { Ledger {
            // The totals are 128 words.
            last_word: Constant::new(((1u64 << C.max(7)) - 1).into()),
            all: std::array::from_fn(|_| Constant::new((1u64 << (A - 1)).into())),
        }
            clk rst epoch packet unmeasured bad refused ignored unlocked octets sampled address stamp take_stamp
            by_clock end_drain ask ask_plane ask_address ask_word ask_clear answers answer flags running
            sum_low sum_middle sum_high count_low count_high totals cleared clearing waiting landing is_first
            is_sampled target packet_copy time_words counts pending turn is_turn is_short is_upper chosen amount any saturated
            overrun clock_lost timed here conditions is_packet step counts_now is_drain group_ends empties is_cell plane word copy
            drains writes addend_is turns_time adds one chains carries tells looks looks_full saturates clears
            read_cell read_total write_cell write_total memory_word addend left right left_longer right_longer
            sum_total carry full result result_full overflows write_data; each place used_first used_second used_now
            used_then starts_now number starts opens_now opens
        }
    }
}

impl<const A: usize, const C: usize, const Z: usize> Logic for Ledger<A, C, Z> {
    #[clocked(
        cleared,
        clearing,
        waiting,
        is_first,
        is_sampled,
        target,
        packet_copy,
        time_words,
        turn,
        amount,
        is_packet,
        step,
        counts_now,
        is_drain,
        left,
        right,
        carry,
        full,
        result,
        result_full,
        overflows
    )]
    fn update(&mut self) {
        for i in 0..8 {
            self.pending[i].clock.next = self.clk.val();
            self.pending[i].rst.next = self.rst.val();
            self.pending[i].d.next = self.pending[i].q.val();
        }
        for i in 0..2 {
            self.any[i].clock.next = self.clk.val();
            self.any[i].rst.next = self.rst.val();
            self.any[i].d.next = self.any[i].q.val();
        }
        for i in 0..2 {
            self.saturated[i].clock.next = self.clk.val();
            self.saturated[i].rst.next = self.rst.val();
            self.saturated[i].d.next = self.saturated[i].q.val();
        }
        for i in 0..2 {
            self.overrun[i].clock.next = self.clk.val();
            self.overrun[i].rst.next = self.rst.val();
            self.overrun[i].d.next = self.overrun[i].q.val();
        }
        for i in 0..2 {
            self.clock_lost[i].clock.next = self.clk.val();
            self.clock_lost[i].rst.next = self.rst.val();
            self.clock_lost[i].d.next = self.clock_lost[i].q.val();
        }
        for i in 0..2 {
            self.timed[i].clock.next = self.clk.val();
            self.timed[i].rst.next = self.rst.val();
            self.timed[i].d.next = self.timed[i].q.val();
        }
        for i in 0..4 {
            self.plane[i].clock.next = self.clk.val();
            self.plane[i].rst.next = self.rst.val();
            self.plane[i].d.next = self.plane[i].q.val();
        }
        for i in 0..4 {
            self.word[i].clock.next = self.clk.val();
            self.word[i].rst.next = self.rst.val();
            self.word[i].d.next = self.word[i].q.val();
        }
        for i in 0..4 {
            self.copy[i].clock.next = self.clk.val();
            self.copy[i].rst.next = self.rst.val();
            self.copy[i].d.next = self.copy[i].q.val();
        }
        for i in 0..4 {
            self.drains[i].clock.next = self.clk.val();
            self.drains[i].rst.next = self.rst.val();
            self.drains[i].d.next = self.drains[i].q.val();
        }
        for i in 0..4 {
            self.writes[i].clock.next = self.clk.val();
            self.writes[i].rst.next = self.rst.val();
            self.writes[i].d.next = self.writes[i].q.val();
        }
        for i in 0..2 {
            self.addend_is[i].clock.next = self.clk.val();
            self.addend_is[i].rst.next = self.rst.val();
            self.addend_is[i].d.next = self.addend_is[i].q.val();
        }
        for i in 0..2 {
            self.turns_time[i].clock.next = self.clk.val();
            self.turns_time[i].rst.next = self.rst.val();
            self.turns_time[i].d.next = self.turns_time[i].q.val();
        }
        for i in 0..2 {
            self.adds[i].clock.next = self.clk.val();
            self.adds[i].rst.next = self.rst.val();
            self.adds[i].d.next = self.adds[i].q.val();
        }
        for i in 0..3 {
            self.one[i].clock.next = self.clk.val();
            self.one[i].rst.next = self.rst.val();
            self.one[i].d.next = self.one[i].q.val();
        }
        for i in 0..3 {
            self.chains[i].clock.next = self.clk.val();
            self.chains[i].rst.next = self.rst.val();
            self.chains[i].d.next = self.chains[i].q.val();
        }
        for i in 0..3 {
            self.carries[i].clock.next = self.clk.val();
            self.carries[i].rst.next = self.rst.val();
            self.carries[i].d.next = self.carries[i].q.val();
        }
        for i in 0..3 {
            self.tells[i].clock.next = self.clk.val();
            self.tells[i].rst.next = self.rst.val();
            self.tells[i].d.next = self.tells[i].q.val();
        }
        for i in 0..3 {
            self.looks[i].clock.next = self.clk.val();
            self.looks[i].rst.next = self.rst.val();
            self.looks[i].d.next = self.looks[i].q.val();
        }
        for i in 0..3 {
            self.looks_full[i].clock.next = self.clk.val();
            self.looks_full[i].rst.next = self.rst.val();
            self.looks_full[i].d.next = self.looks_full[i].q.val();
        }
        for i in 0..3 {
            self.saturates[i].clock.next = self.clk.val();
            self.saturates[i].rst.next = self.rst.val();
            self.saturates[i].d.next = self.saturates[i].q.val();
        }
        for i in 0..4 {
            self.clears[i].clock.next = self.clk.val();
            self.clears[i].rst.next = self.rst.val();
            self.clears[i].d.next = self.clears[i].q.val();
        }

        // Behind a reset.
        if !self.cleared.q.val() {
            self.clearing.d.next = self.clearing.q.val() + 1;
            if self.clearing.q.val() == self.last_word.val() {
                self.cleared.d.next = true;
            }
        }

        // What is to be recorded.
        self.here[0].next = !self.epoch.val();
        self.here[1].next = self.epoch.val();
        for i in 0..2 {
            self.counts[i * 4].next = self.unmeasured.val() & self.here[i].val();
            self.counts[i * 4 + 1].next = self.bad.val() & self.here[i].val();
            self.counts[i * 4 + 2].next = self.refused.val() & self.here[i].val();
            self.counts[i * 4 + 3].next = self.ignored.val() & self.here[i].val();
            if self.packet.val() & self.here[i].val() {
                self.any[i].d.next = true;
            }
            if self.refused.val() & self.here[i].val() {
                self.overrun[i].d.next = true;
            }
            if self.unlocked.val() & self.here[i].val() {
                self.clock_lost[i].d.next = true;
            }
            if self.by_clock.val() {
                self.timed[i].d.next = true;
            }
            if self.end_drain.val() & !self.here[i].val() {
                self.any[i].d.next = false;
                self.saturated[i].d.next = false;
                self.overrun[i].d.next = false;
                self.clock_lost[i].d.next = false;
                self.timed[i].d.next = false;
            }
        }
        if self.overflows.q.val() {
            if self.copy[3].q.val() {
                self.saturated[1].d.next = true;
            } else {
                self.saturated[0].d.next = true;
            }
        }
        for i in 0..5 {
            self.landing[i].clock.next = self.clk.val();
            self.landing[i].rst.next = self.rst.val();
        }
        for i in 0..4 {
            self.landing[i + 1].d.next = self.landing[i].q.val();
        }
        self.landing[0].d.next = self.packet.val();
        if self.packet.val() {
            self.waiting.d.next = true;
            self.packet_copy.d.next = self.epoch.val();
            self.is_first.d.next = !self.any[0].q.val();
            if self.epoch.val() {
                self.is_first.d.next = !self.any[1].q.val();
            }
        }
        if self.landing[4].q.val() {
            self.is_sampled.d.next = self.sampled.val();
            self.target.d.next = self.address.val();
        }

        // With slices, the second cell of a record; copies start without one.
        for i in 0..Z {
            self.used_first[i].clock.next = self.clk.val();
            self.used_first[i].rst.next = self.rst.val();
            self.used_first[i].d.next = self.used_first[i].q.val();
            self.used_second[i].clock.next = self.clk.val();
            self.used_second[i].rst.next = self.rst.val();
            self.used_second[i].d.next = self.used_second[i].q.val();
            self.starts[i].clock.next = self.clk.val();
            self.starts[i].rst.next = self.rst.val();
            self.starts[i].d.next = self.starts[i].q.val();
            self.used_now[i].next = self.used_first[i].q.val();
            if self.packet_copy.q.val() {
                self.used_now[i].next = self.used_second[i].q.val();
            }
            self.starts_now[i].next = self.sampled.val() & (self.used_now[i].val() != self.all[i].val());
            self.used_then[i].next = self.used_now[i].val();
            self.number[i].next = self.used_now[i].val() - 1;
            if self.starts_now[i].val() {
                self.used_then[i].next = self.used_now[i].val() + 1;
                self.number[i].next = self.used_now[i].val();
            }
            if self.landing[4].q.val() {
                self.is_sampled.d.next = self.used_then[i].val().any();
                self.target.d.next = (self.number[i].val() << 1) | 1;
                self.starts[i].d.next = self.starts_now[i].val();
                if self.packet_copy.q.val() {
                    self.used_second[i].d.next = self.used_then[i].val();
                } else {
                    self.used_first[i].d.next = self.used_then[i].val();
                }
            }
            if self.end_drain.val() & !self.here[0].val() {
                self.used_first[i].d.next = 0.into();
            }
            if self.end_drain.val() & !self.here[1].val() {
                self.used_second[i].d.next = 0.into();
            }
            self.opens_now[i].next = 0.into();
            if self.is_packet.q.val()
                & !self.is_drain.q.val()
                & self.starts[i].q.val()
                & ((self.step.q.val() == 6) | (self.step.q.val() == 9) | (self.step.q.val() == 12))
            {
                self.opens_now[i].next = 1.into();
            }
            self.opens[i].clk.next = self.clk.val();
            self.opens[i].rst.next = self.rst.val();
            self.opens[i].d.next = self.opens_now[i].val();
        }

        // The small counters. The one whose turn it is hands over what it holds.
        self.is_turn[0].next = self.turn.q.val() == 0;
        self.is_turn[1].next = self.turn.q.val() == 1;
        self.is_turn[2].next = self.turn.q.val() == 2;
        self.is_turn[3].next = self.turn.q.val() == 3;
        self.is_turn[4].next = self.turn.q.val() == 4;
        self.is_turn[5].next = self.turn.q.val() == 5;
        self.is_turn[6].next = self.turn.q.val() == 6;
        self.is_turn[7].next = self.turn.q.val() == 7;
        self.is_short.next = self.turn.q.val().get_bit(1);
        self.is_upper.next = self.turn.q.val().get_bit(0);
        // Seen a cycle ahead: what hangs on it is wide. A drain holds the step.
        self.counts_now.d.next = !self.is_packet.q.val()
            & ((!self.is_drain.q.val() & (self.step.q.val() == 0))
                | (self.is_drain.q.val() & (self.step.q.val() == 1)));
        self.empties.next = self.counts_now.q.val() & !self.is_drain.q.val();
        self.chosen.next = 0.into();
        for i in 0..8 {
            if self.is_turn[i].val() {
                self.chosen.next = self.pending[i].q.val();
            }
            if self.counts[i].val() {
                self.pending[i].d.next = self.pending[i].q.val() + 1;
            }
            if self.empties.val() & self.is_turn[i].val() {
                self.pending[i].d.next = 0.into();
                if self.counts[i].val() {
                    self.pending[i].d.next = 1.into();
                }
            }
        }
        if self.empties.val() {
            self.amount.d.next = self.chosen.val();
        }

        // Cycle 0: the order of operations.
        self.is_drain.d.next = self.ask.val();
        self.group_ends.next = (!self.is_packet.q.val() & (self.step.q.val() == 2))
            | (self.is_packet.q.val() & (self.step.q.val() == 22));
        if !self.is_drain.q.val() {
            self.step.d.next = self.step.q.val() + 1;
            if self.group_ends.val() {
                self.step.d.next = 0.into();
                self.is_packet.d.next = self.waiting.q.val();
                self.waiting.d.next = self.packet.val();
                if !self.is_packet.q.val() {
                    self.turn.d.next = self.turn.q.val() + 1;
                }
            }
        }

        for i in 0..3 {
            self.plane[i + 1].d.next = self.plane[i].q.val();
            self.word[i + 1].d.next = self.word[i].q.val();
            self.copy[i + 1].d.next = self.copy[i].q.val();
            self.drains[i + 1].d.next = self.drains[i].q.val();
            self.writes[i + 1].d.next = self.writes[i].q.val();
            self.clears[i + 1].d.next = self.clears[i].q.val();
        }
        for i in 0..2 {
            self.one[i + 1].d.next = self.one[i].q.val();
            self.chains[i + 1].d.next = self.chains[i].q.val();
            self.carries[i + 1].d.next = self.carries[i].q.val();
            self.tells[i + 1].d.next = self.tells[i].q.val();
            self.looks[i + 1].d.next = self.looks[i].q.val();
            self.looks_full[i + 1].d.next = self.looks_full[i].q.val();
            self.saturates[i + 1].d.next = self.saturates[i].q.val();
        }
        self.addend_is[1].d.next = self.addend_is[0].q.val();
        self.turns_time[1].d.next = self.turns_time[0].q.val();
        self.adds[1].d.next = self.adds[0].q.val();

        // Cycle 0: what the operation is.
        self.plane[0].d.next = 5.into();
        self.word[0].d.next = 0.into();
        self.drains[0].d.next = false;
        self.writes[0].d.next = true;
        self.addend_is[0].d.next = 0.into();
        self.turns_time[0].d.next = false;
        self.adds[0].d.next = true;
        self.one[0].d.next = false;
        self.chains[0].d.next = false;
        self.carries[0].d.next = true;
        self.tells[0].d.next = false;
        self.looks[0].d.next = false;
        self.looks_full[0].d.next = false;
        self.saturates[0].d.next = false;
        self.clears[0].d.next = false;
        self.is_cell.next = false;
        if self.is_drain.q.val() {
            self.copy[0].d.next = !self.epoch.val();
            self.plane[0].d.next = self.ask_plane.val();
            self.word[0].d.next = self.ask_word.val();
            self.drains[0].d.next = true;
            self.carries[0].d.next = false;
            self.writes[0].d.next = self.ask_clear.val();
            self.clears[0].d.next = true;
        } else if !self.is_packet.q.val() {
            self.copy[0].d.next = self.turn.q.val().get_bit(2);
            self.word[0].d.next = 44.into();
            if self.is_upper.val() {
                self.word[0].d.next = 46.into();
            }
            // Those of one word have no upper one.
            self.looks_full[0].d.next = self.is_short.val();
            // Without a count nothing is written: the idle copy's word may just be being cleared.
            self.writes[0].d.next = self.amount.q.val().any() & !self.is_short.val();
            if self.step.q.val() == 0 {
                self.looks[0].d.next = true;
                self.writes[0].d.next = false;
            } else if self.step.q.val() == 1 {
                self.word[0].d.next = 45.into();
                if self.is_upper.val() {
                    self.word[0].d.next = 47.into();
                }
                if self.is_short.val() {
                    self.word[0].d.next = 27.into();
                    if self.is_upper.val() {
                        self.word[0].d.next = 63.into();
                    }
                }
                self.writes[0].d.next = self.chosen.val().any();
                self.addend_is[0].d.next = 4.into();
                self.saturates[0].d.next = true;
            } else {
                self.chains[0].d.next = true;
            }
        } else {
            self.copy[0].d.next = self.packet_copy.q.val();
            match self.step.q.val().index() {
                // The byte total.
                0 => {
                    self.word[0].d.next = 35.into();
                    self.addend_is[0].d.next = 1.into();
                }
                1 => {
                    self.word[0].d.next = 34.into();
                    self.addend_is[0].d.next = 2.into();
                    self.chains[0].d.next = true;
                }
                2 => {
                    self.word[0].d.next = 33.into();
                    self.chains[0].d.next = true;
                    self.tells[0].d.next = true;
                }
                // Last time, first time and the cell's sum, from the time's lowest word up.
                3 => {
                    self.word[0].d.next = 43.into();
                    self.addend_is[0].d.next = 3.into();
                    self.adds[0].d.next = false;
                    self.carries[0].d.next = false;
                }
                4 => {
                    self.word[0].d.next = 39.into();
                    self.addend_is[0].d.next = 3.into();
                    self.adds[0].d.next = false;
                    self.carries[0].d.next = false;
                    self.writes[0].d.next = self.is_first.q.val();
                    self.turns_time[0].d.next = true;
                }
                5 => {
                    self.is_cell.next = true;
                    self.plane[0].d.next = 0.into();
                    self.addend_is[0].d.next = 3.into();
                }
                6 => {
                    self.word[0].d.next = 42.into();
                    self.addend_is[0].d.next = 3.into();
                    self.adds[0].d.next = false;
                    self.carries[0].d.next = false;
                }
                7 => {
                    self.word[0].d.next = 38.into();
                    self.addend_is[0].d.next = 3.into();
                    self.adds[0].d.next = false;
                    self.carries[0].d.next = false;
                    self.writes[0].d.next = self.is_first.q.val();
                    self.turns_time[0].d.next = true;
                }
                8 => {
                    self.is_cell.next = true;
                    self.plane[0].d.next = 1.into();
                    self.addend_is[0].d.next = 3.into();
                    self.chains[0].d.next = true;
                }
                9 => {
                    self.word[0].d.next = 41.into();
                    self.addend_is[0].d.next = 3.into();
                    self.adds[0].d.next = false;
                    self.carries[0].d.next = false;
                }
                10 => {
                    self.word[0].d.next = 37.into();
                    self.addend_is[0].d.next = 3.into();
                    self.adds[0].d.next = false;
                    self.carries[0].d.next = false;
                    self.writes[0].d.next = self.is_first.q.val();
                    self.turns_time[0].d.next = true;
                }
                11 => {
                    self.is_cell.next = true;
                    self.plane[0].d.next = 2.into();
                    self.addend_is[0].d.next = 3.into();
                    self.chains[0].d.next = true;
                }
                12 => {
                    self.word[0].d.next = 40.into();
                    self.addend_is[0].d.next = 3.into();
                    self.adds[0].d.next = false;
                    self.carries[0].d.next = false;
                }
                13 => {
                    self.word[0].d.next = 36.into();
                    self.addend_is[0].d.next = 3.into();
                    self.adds[0].d.next = false;
                    self.carries[0].d.next = false;
                    self.writes[0].d.next = self.is_first.q.val();
                    self.turns_time[0].d.next = true;
                }
                // The cell's count.
                14 => {
                    self.is_cell.next = true;
                    self.plane[0].d.next = 3.into();
                    self.one[0].d.next = true;
                }
                15 => {
                    self.is_cell.next = true;
                    self.plane[0].d.next = 4.into();
                    self.chains[0].d.next = true;
                    self.tells[0].d.next = self.is_sampled.q.val();
                    // Past the time's lowest word, which is no nanoseconds.
                    self.turns_time[0].d.next = true;
                }
                // The sum of all times.
                16 => {
                    self.word[0].d.next = 55.into();
                    self.addend_is[0].d.next = 3.into();
                    self.turns_time[0].d.next = true;
                }
                17 => {
                    self.word[0].d.next = 54.into();
                    self.addend_is[0].d.next = 3.into();
                    self.chains[0].d.next = true;
                    self.turns_time[0].d.next = true;
                }
                18 => {
                    self.word[0].d.next = 53.into();
                    self.addend_is[0].d.next = 3.into();
                    self.chains[0].d.next = true;
                }
                19 => {
                    self.word[0].d.next = 52.into();
                    self.chains[0].d.next = true;
                }
                // The packet total.
                20 => {
                    self.word[0].d.next = 31.into();
                    self.one[0].d.next = true;
                }
                21 => {
                    self.word[0].d.next = 30.into();
                    self.chains[0].d.next = true;
                }
                _ => {
                    self.word[0].d.next = 29.into();
                    self.chains[0].d.next = true;
                    self.tells[0].d.next = true;
                }
            }
            if self.is_cell.val() {
                self.writes[0].d.next = self.is_sampled.q.val();
            }
        }

        // Cycle 1: addresses.
        self.read_cell.next = bit_cast::<C, A>(self.target.q.val()) << 1;
        if self.drains[0].q.val() {
            self.read_cell.next = bit_cast::<C, A>(self.ask_address.val()) << 1;
        }
        self.read_total.next = bit_cast::<7, 6>(self.word[0].q.val()) << 1;
        if self.copy[0].q.val() {
            self.read_cell.next = self.read_cell.val() | 1;
            self.read_total.next = self.read_total.val() | 1;
        }

        // Cycle 2: operands.
        self.memory_word.next = self.totals.read_data.val();
        if self.plane[1].q.val() == 0 {
            self.memory_word.next = self.sum_low.read_data.val();
        } else if self.plane[1].q.val() == 1 {
            self.memory_word.next = self.sum_middle.read_data.val();
        } else if self.plane[1].q.val() == 2 {
            self.memory_word.next = bit_cast::<16, 8>(self.sum_high.read_data.val());
        } else if self.plane[1].q.val() == 3 {
            self.memory_word.next = self.count_low.read_data.val();
        } else if self.plane[1].q.val() == 4 {
            self.memory_word.next = self.count_high.read_data.val();
        }
        self.left.d.next = 0.into();
        if self.adds[1].q.val() {
            self.left.d.next = self.memory_word.val();
        }
        self.addend.next = 0.into();
        if self.addend_is[1].q.val() == 1 {
            self.addend.next = self.octets.val().get_bits::<16>(0);
        } else if self.addend_is[1].q.val() == 2 {
            self.addend.next = bit_cast::<16, 1>(self.octets.val().get_bits::<1>(16));
        } else if self.addend_is[1].q.val() == 3 {
            self.addend.next = self.time_words.q.val().get_bits::<16>(0);
        } else if self.addend_is[1].q.val() == 4 {
            self.addend.next = bit_cast::<16, 8>(self.amount.q.val());
        }
        self.right.d.next = self.addend.val();
        if self.turns_time[1].q.val() {
            self.time_words.d.next = (self.time_words.q.val() >> 16)
                | (bit_cast::<64, 16>(self.time_words.q.val().get_bits::<16>(0)) << 48);
        }
        if self.take_stamp.val() {
            self.time_words.d.next = self.stamp.val();
        }

        // Cycle 3: the addition.
        self.left_longer.next = (bit_cast::<18, 16>(self.left.q.val()) << 1) | 1;
        self.right_longer.next = bit_cast::<18, 16>(self.right.q.val()) << 1;
        if self.one[2].q.val() | (self.chains[2].q.val() & self.carry.q.val()) {
            self.right_longer.next = self.right_longer.val() | 1;
        }
        self.sum_total.next = self.left_longer.val() + self.right_longer.val();
        self.result.d.next = self.sum_total.val().get_bits::<16>(1);
        if self.carries[2].q.val() {
            self.carry.d.next =
                self.sum_total.val().get_bit(17) & !(self.saturates[2].q.val() & self.full.q.val());
        }
        self.result_full.d.next =
            self.sum_total.val().get_bit(17) & self.saturates[2].q.val() & self.full.q.val();
        self.overflows.d.next = self.sum_total.val().get_bit(17) & self.tells[2].q.val();
        if self.looks[2].q.val() {
            self.full.d.next = self.looks_full[2].q.val() | self.left.q.val().all();
        }

        // Cycle 4: the write.
        self.write_data.next = self.result.q.val();
        if self.result_full.q.val() {
            self.write_data.next = 0xffff.into();
        }
        self.write_cell.next = bit_cast::<C, A>(self.target.q.val()) << 1;
        if self.drains[3].q.val() {
            self.write_cell.next = bit_cast::<C, A>(self.ask_address.val()) << 1;
        }
        self.write_total.next = bit_cast::<7, 6>(self.word[3].q.val()) << 1;
        if self.copy[3].q.val() {
            self.write_cell.next = self.write_cell.val() | 1;
            self.write_total.next = self.write_total.val() | 1;
        }
        if self.clears[3].q.val() | !self.cleared.q.val() {
            self.write_data.next = 0.into();
        }
        if !self.cleared.q.val() {
            self.write_cell.next = self.clearing.q.val().get_bits::<C>(0);
            self.write_total.next = self.clearing.q.val().get_bits::<7>(0);
        }

        self.sum_low.clk.next = self.clk.val();
        self.sum_low.read_address.next = self.read_cell.val();
        self.sum_low.write_address.next = self.write_cell.val();
        self.sum_low.write_data.next = self.write_data.val();
        self.sum_low.write_enable.next =
            !self.cleared.q.val() | (self.writes[3].q.val() & (self.plane[3].q.val() == 0));
        self.sum_middle.clk.next = self.clk.val();
        self.sum_middle.read_address.next = self.read_cell.val();
        self.sum_middle.write_address.next = self.write_cell.val();
        self.sum_middle.write_data.next = self.write_data.val();
        self.sum_middle.write_enable.next =
            !self.cleared.q.val() | (self.writes[3].q.val() & (self.plane[3].q.val() == 1));
        self.sum_high.clk.next = self.clk.val();
        self.sum_high.read_address.next = self.read_cell.val();
        self.sum_high.write_address.next = self.write_cell.val();
        self.sum_high.write_data.next = self.write_data.val().get_bits::<8>(0);
        self.sum_high.write_enable.next =
            !self.cleared.q.val() | (self.writes[3].q.val() & (self.plane[3].q.val() == 2));
        self.count_low.clk.next = self.clk.val();
        self.count_low.read_address.next = self.read_cell.val();
        self.count_low.write_address.next = self.write_cell.val();
        self.count_low.write_data.next = self.write_data.val();
        self.count_low.write_enable.next =
            !self.cleared.q.val() | (self.writes[3].q.val() & (self.plane[3].q.val() == 3));
        self.count_high.clk.next = self.clk.val();
        self.count_high.read_address.next = self.read_cell.val();
        self.count_high.write_address.next = self.write_cell.val();
        self.count_high.write_data.next = self.write_data.val();
        self.count_high.write_enable.next =
            !self.cleared.q.val() | (self.writes[3].q.val() & (self.plane[3].q.val() == 4));
        self.totals.clk.next = self.clk.val();
        self.totals.read_address.next = self.read_total.val();
        self.totals.write_address.next = self.write_total.val();
        self.totals.write_data.next = self.write_data.val();
        self.totals.write_enable.next =
            !self.cleared.q.val() | (self.writes[3].q.val() & (self.plane[3].q.val() == 5));

        // The first cell of a record that starts: an operation on the totals leaves the planes' ports alone.
        for i in 0..Z {
            if self.opens[i].q.val().any() {
                self.sum_low.write_address.next = self.write_cell.val() ^ 2;
                self.sum_middle.write_address.next = self.write_cell.val() ^ 2;
                self.sum_high.write_address.next = self.write_cell.val() ^ 2;
                self.count_low.write_address.next = self.write_cell.val() ^ 2;
                self.count_high.write_address.next = self.write_cell.val() ^ 2;
                self.count_low.write_data.next = self.place[i].val().get_bits::<16>(0);
                self.count_high.write_data.next = self.place[i].val().get_bits::<16>(16);
                if self.word[3].q.val() == 42 {
                    self.sum_low.write_enable.next = true;
                    self.count_low.write_enable.next = true;
                    self.count_high.write_enable.next = true;
                } else if self.word[3].q.val() == 41 {
                    self.sum_middle.write_enable.next = true;
                } else {
                    self.sum_high.write_enable.next = true;
                }
            }
        }

        // Outputs.
        self.conditions.next = 0.into();
        for i in 0..2 {
            if !self.here[i].val() {
                if self.saturated[i].q.val() {
                    self.conditions.next = self.conditions.val() | 1;
                }
                if self.overrun[i].q.val() {
                    self.conditions.next = self.conditions.val() | 2;
                }
                if self.clock_lost[i].q.val() {
                    self.conditions.next = self.conditions.val() | 4;
                }
                if self.timed[i].q.val() {
                    self.conditions.next = self.conditions.val() | 8;
                }
            }
        }
        self.flags.next = self.conditions.val();
        self.answers.next = self.drains[2].q.val();
        self.answer.next = self.left.q.val();
        self.running.next = self.cleared.q.val();
    }
}
