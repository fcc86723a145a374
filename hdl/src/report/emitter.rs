//! Emitter: drains the idle copy into control frames and clears it.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::wire::frame`, where the layout is defined; it is made of 64-bit words for this module's
//! sake. A small state machine chooses a word, adds it to the check word, offers it on m_axis, and goes on when it
//! is taken. Cells come one after the other, so that the address alone says which bank, row and fragment is next.
//! A cell is cleared when it has been read.
//!
//! With several classes the address goes on with the next class's first word behind the last word of a class, and the
//! control frames of the next class follow, numbered anew, under the next segment's number.
//!
//! After reset the same machine first walks over all addresses and clears both copies.
//!
//! ```text
//! clear all -> idle -> header words 0..=11 -> (8 x [read, cell word], sum tops) x 16 -> tag, tag, check
//!               ^        ^                                                                      |
//!               |        +------------------------------ next fragment -------------------------+
//!               +------------------------------- last fragment of the last class ----------------+
//! ```
//!
//! With digests, the words of every two cells are followed by a word with their digest sums.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | start | in | 1 | an interval has ended |
//! | receiver | in | 1 | the role field |
//! | interval | in | 32 | from the cycle after start until idle: the interval's number |
//! | packets, bytes, first, last, unmeasured, bad, refused_ends, flags | in | | the interval's totals |
//! | prefixes | in | 64 | the prefix lengths of the interval, as the frame's; looked at if the configuration adapts |
//! | kind | out | 2 | the class whose frames are being sent: asks for its packets, bytes, first, last |
//! | drained_cell | in | S | the cell at drain_address |
//! | drain_address | out | A | word to show or to clear |
//! | clear | out | 1 | clear the word in the idle copy |
//! | clear_all | out | 1 | clear it in both |
//! | busy | out | 1 | draining or clearing |
//! | running | out | 1 | both copies have been cleared since reset |
//! | m_axis_* | out (tready in) | 64 + 8 + 1 + 1 + 1 | control frames; tkeep is all ones; bytes as on the wire |
//!
//! Parameters: A, the width of a word's address; S and D as the lda's. From start to the first word three cycles.
//! Throughput: a word every four cycles, a cell every seven; with m_axis ready, an interval of 2 x 1024 cells takes
//! some 16,400 cycles, which is the shortest interval; with digests two cycles more a cell. Words come with gaps: a
//! MAC that cannot pause within a frame needs a frame buffer before it. Clearing after reset takes two cycles a word.
//!
//! Cost: `docs/report.md`, by stage and by module.
//!
//! # Test plan
//!
//! `sim/cosim`: frames against `deltaline_model::wire::frame::encode`, for every size that is built, with random
//! back-pressure; memory found clear behind every drain and after reset.

use crate::leaves::Flop;
use crate::module::module;
use crate::sketch::lane::class_shift;
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::classifier::MAX_CLASSES;
use deltaline_model::wire::frame::{Header, Role, Totals};
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Emitter<const A: usize, const S: usize = 72, const D: usize = 0> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub start: Signal<In, Bit>,
    pub receiver: Signal<In, Bit>,
    pub interval: Signal<In, Bits<32>>,
    pub packets: Signal<In, Bits<48>>,
    pub bytes: Signal<In, Bits<48>>,
    pub first: Signal<In, Bits<64>>,
    pub last: Signal<In, Bits<64>>,
    pub unmeasured: Signal<In, Bits<32>>,
    pub bad: Signal<In, Bits<32>>,
    pub refused_ends: Signal<In, Bits<16>>,
    pub flags: Signal<In, Bits<5>>,
    pub prefixes: Signal<In, Bits<64>>,
    pub kind: Signal<Out, Bits<2>>,
    pub drained_cell: Signal<In, Bits<S>>,
    pub drain_address: Signal<Out, Bits<A>>,
    pub clear: Signal<Out, Bit>,
    pub clear_all: Signal<Out, Bit>,
    pub busy: Signal<Out, Bit>,
    pub running: Signal<Out, Bit>,
    pub m_axis_tdata: Signal<Out, Bits<64>>,
    pub m_axis_tkeep: Signal<Out, Bits<8>>,
    pub m_axis_tvalid: Signal<Out, Bit>,
    pub m_axis_tready: Signal<In, Bit>,
    pub m_axis_tlast: Signal<Out, Bit>,
    pub m_axis_tuser: Signal<Out, Bit>,

    // Words of the header that never change.
    destination_word: Constant<Bits<64>>,
    source_word: Constant<Bits<64>>,
    segment_word: [Constant<Bits<64>>; MAX_CLASSES],
    digest_word: Constant<Bits<64>>,
    place_word: Constant<Bits<64>>,
    extent_word: Constant<Bits<64>>,
    prefixes_word: Constant<Bits<64>>,
    /// One if `prefixes` counts instead.
    adaptive: Constant<Bits<1>>,
    // How an address says class, fragment, bank and row.
    class_shift: Constant<Bits<5>>,
    class_mask: Constant<Bits<A>>,
    class_number: [Constant<Bits<2>>; MAX_CLASSES],
    place_mask: Constant<Bits<A>>,
    class_last: Constant<Bits<A>>,
    row_bits: Constant<Bits<5>>,
    fragment_bits: Constant<Bits<5>>,
    row_mask: Constant<Bits<A>>,
    fragment_mask: Constant<Bits<A>>,
    last_address: Constant<Bits<A>>,

    /// 0 clear, 1 clear and step, 2 idle, 4 look up, 5 choose, 6 read, 7 add to check, 8 offer.
    state: Flop<Bits<4>>,
    /// 0 header, 1 cells, 2 sum tops, 3 tag, 4 check, 5 two digest sums.
    section: Flop<Bits<3>>,
    /// Word within the header or the tag, or cycles waited.
    step: Flop<Bits<4>>,
    cleared: Flop<Bit>,
    /// Take the cell: state 6, step 0.
    taking: Flop<Bit>,
    /// Clear the word in the idle copy; clear it in no more than that.
    clearing: Flop<Bit>,
    clears_not_all: Flop<Bit>,
    /// The state is 2; many wait for it.
    is_idle: Flop<Bit>,
    address_now: Flop<Bits<A>>,
    /// If the address has stood for a cycle: it is behind a block, behind a fragment, that of the first cell, of the last.
    block_ends: Flop<Bit>,
    fragment_ends: Flop<Bit>,
    at_first: Flop<Bit>,
    at_last: Flop<Bit>,
    /// One-hot: the word within the header.
    header_step: Flop<Bits<12>>,
    header_word: Flop<Bits<64>>,
    chosen: Flop<Bits<64>>,
    tops: Flop<Bits<64>>,
    /// The last two cells' digest sums.
    pair: [Flop<Bits<64>>; D],
    check: Flop<Bits<64>>,
    data: Flop<Bits<64>>,
    valid: Flop<Bit>,
    is_last: Flop<Bit>,

    class_bits: Signal<Local, Bits<A>>,
    class_now: Signal<Local, Bits<2>>,
    segment_now: Signal<Local, Bits<64>>,
    /// The address within its class.
    place: Signal<Local, Bits<A>>,
    fragment: Signal<Local, Bits<A>>,
    bank: Signal<Local, Bits<A>>,
    first_row: Signal<Local, Bits<A>>,
    role_bit: Signal<Local, Bits<64>>,
    rotated: Signal<Local, Bits<64>>,
    looked_up: Signal<Local, Bits<64>>,
    next_address: Signal<Local, Bits<A>>,
}

impl<const A: usize, const S: usize, const D: usize> Emitter<A, S, D> {
    /// The emitter of a configuration; 2^A is at least classes × banks × rows, the latter two made powers of two.
    pub fn new(configuration: &Configuration) -> Self {
        let header = Header::of_interval(configuration, Role::Sender, 0, Totals::default()).next();
        let (cells, words) = header.map_or((0, [0; 12]), |header| (header.cells, header.words()));
        let banks = configuration.prefixes().banks() as u64;
        let rows = configuration.rows() as u64;
        let classes = configuration.classes() as u64;
        let class_shift = class_shift(configuration);
        // With one class all bits of an address are within it.
        let is_one = classes == 1;
        let place_mask = if is_one { u64::MAX >> (64 - A) } else { (1 << class_shift) - 1 };
        let class_mask = if is_one { 0 } else { classes.next_power_of_two() - 1 };
        let class_last = banks * rows - 1;
        let word = |index: usize| Constant::new(Bits::<64>::from(words[index]));
        module! { Emitter {
            destination_word: word(0),
            source_word: word(1),
            segment_word: std::array::from_fn(|class| {
                Constant::new(words[2].wrapping_add((class as u64) << 32).into())
            }),
            digest_word: word(3),
            place_word: word(4),
            extent_word: word(5),
            prefixes_word: word(10),
            adaptive: Constant::new(u64::from(configuration.adaptive()).into()),
            class_shift: Constant::new(u64::from(class_shift).into()),
            class_mask: Constant::new(class_mask.into()),
            class_number: std::array::from_fn(|class| Constant::new((class as u64).into())),
            place_mask: Constant::new(place_mask.into()),
            class_last: Constant::new(class_last.into()),
            row_bits: Constant::new(u64::from(configuration.row_bits()).into()),
            fragment_bits: Constant::new(u64::from(cells.max(1).ilog2()).into()),
            row_mask: Constant::new((rows - 1).into()),
            fragment_mask: Constant::new(u64::from(cells.saturating_sub(1)).into()),
            last_address: Constant::new(((classes - 1) << class_shift | class_last).into()),
        }
            clk rst start receiver interval packets bytes first last unmeasured bad refused_ends flags
            prefixes kind drained_cell drain_address clear clear_all busy running m_axis_tdata m_axis_tkeep
            m_axis_tvalid m_axis_tready m_axis_tlast m_axis_tuser state section step cleared taking clearing
            clears_not_all is_idle address_now block_ends fragment_ends at_first at_last header_step
            header_word chosen tops check data valid is_last class_bits class_now segment_now place fragment
            bank first_row role_bit rotated looked_up next_address
            ; each pair
        }
    }
}

impl<const A: usize, const S: usize, const D: usize> Logic for Emitter<A, S, D> {
    #[clocked(
        state,
        section,
        step,
        cleared,
        taking,
        clearing,
        clears_not_all,
        is_idle,
        address_now,
        block_ends,
        fragment_ends,
        at_first,
        at_last,
        header_step,
        header_word,
        chosen,
        tops,
        check,
        data,
        valid,
        is_last
    )]
    fn update(&mut self) {
        for i in 0..D {
            self.pair[i].clock.next = self.clk.val();
            self.pair[i].rst.next = self.rst.val();
            self.pair[i].d.next = self.pair[i].q.val();
        }

        self.class_bits.next = (self.address_now.q.val() >> self.class_shift.val()) & self.class_mask.val();
        self.class_now.next = self.class_bits.val().get_bits::<2>(0);
        self.segment_now.next = self.segment_word[0].val();
        for i in 0..4 {
            if self.class_now.val() == self.class_number[i].val() {
                self.segment_now.next = self.segment_word[i].val();
            }
        }
        self.place.next = self.address_now.q.val() & self.place_mask.val();
        self.fragment.next = self.place.val() >> self.fragment_bits.val();
        self.bank.next = self.place.val() >> self.row_bits.val();
        self.first_row.next = self.address_now.q.val() & self.row_mask.val();
        self.next_address.next = self.address_now.q.val() + 1;
        // Banks are no power of two, perhaps: the words between the last one and the next class are left out.
        if self.place.val() == self.class_last.val() {
            self.next_address.next = (self.address_now.q.val() | self.place_mask.val()) + 1;
        }
        self.role_bit.next = 0.into();
        if self.receiver.val() {
            self.role_bit.next = 1.into();
        }
        self.rotated.next = self.check.q.val() << 1;
        if self.check.q.val().get_bit(63) {
            self.rotated.next = self.rotated.val() | 1;
        }

        // Asked when the address has stood for a cycle or more.
        self.block_ends.d.next = !self.address_now.q.val().get_bits::<3>(0).any();
        self.fragment_ends.d.next = !(self.address_now.q.val() & self.fragment_mask.val()).any();
        self.at_first.d.next = !self.address_now.q.val().any();
        self.at_last.d.next = self.address_now.q.val() == self.last_address.val();
        // The memory's write ports are far: what they do next is known a cycle ahead, in state 0 and in step 1 of state 6.
        self.taking.d.next = (self.state.q.val() == 5) & (self.section.q.val() == 1);
        self.clearing.d.next = (self.state.q.val() == 6) & (self.step.q.val() == 0);
        self.clears_not_all.d.next = (self.state.q.val() != 1) | self.at_last.q.val();
        // Clear both copies after reset; the address stands for two cycles, as the memory's upper half wants it.
        if self.state.q.val() == 0 {
            self.state.d.next = 1.into();
        }
        if self.state.q.val() == 1 {
            self.state.d.next = 0.into();
            self.address_now.d.next = self.next_address.val();
            if self.at_last.q.val() {
                self.address_now.d.next = 0.into();
                self.cleared.d.next = true;
                self.state.d.next = 2.into();
                self.is_idle.d.next = true;
            }
        }
        // Idle.
        if self.state.q.val() == 2 {
            self.step.d.next = 0.into();
            self.header_step.d.next = 1.into();
            self.section.d.next = 0.into();
            // The last updates reach memory and totals 16 to 18 cycles behind the end of their frame, which is long
            // before the first word that depends on them is looked up.
            if self.start.val() {
                self.state.d.next = 4.into();
                self.is_idle.d.next = false;
            }
        }
        // The header's word of this step, looked up all the time, and a cycle to do so.
        self.looked_up.next = 0.into();
        if self.header_step.q.val().get_bit(0) {
            self.looked_up.next = self.looked_up.val() | self.destination_word.val();
        }
        if self.header_step.q.val().get_bit(1) {
            self.looked_up.next = self.looked_up.val() | (self.source_word.val() | self.role_bit.val());
        }
        if self.header_step.q.val().get_bit(2) {
            self.looked_up.next =
                self.looked_up.val() | (self.segment_now.val() | bit_cast::<64, 32>(self.interval.val()));
        }
        if self.header_step.q.val().get_bit(3) {
            self.looked_up.next = self.looked_up.val() | self.digest_word.val();
        }
        if self.header_step.q.val().get_bit(4) {
            self.looked_up.next = self.looked_up.val()
                | (self.place_word.val()
                    | (bit_cast::<64, A>(self.fragment.val()) << 48)
                    | (bit_cast::<64, A>(self.bank.val()) << 24));
        }
        if self.header_step.q.val().get_bit(5) {
            self.looked_up.next = self.looked_up.val()
                | (self.extent_word.val()
                    | (bit_cast::<64, A>(self.first_row.val()) << 48)
                    | (bit_cast::<64, 5>(self.flags.val()) << 16)
                    | bit_cast::<64, 16>(self.refused_ends.val()));
        }
        if self.header_step.q.val().get_bit(6) {
            self.looked_up.next = self.looked_up.val() | bit_cast::<64, 48>(self.packets.val());
        }
        if self.header_step.q.val().get_bit(7) {
            self.looked_up.next = self.looked_up.val() | bit_cast::<64, 48>(self.bytes.val());
        }
        if self.header_step.q.val().get_bit(8) {
            self.looked_up.next = self.looked_up.val() | self.first.val();
        }
        if self.header_step.q.val().get_bit(9) {
            self.looked_up.next = self.looked_up.val() | self.last.val();
        }
        if self.header_step.q.val().get_bit(10) {
            if self.adaptive.val().any() {
                self.looked_up.next = self.looked_up.val() | self.prefixes.val();
            } else {
                self.looked_up.next = self.looked_up.val() | self.prefixes_word.val();
            }
        }
        if self.header_step.q.val().get_bit(11) {
            self.looked_up.next = self.looked_up.val()
                | (bit_cast::<64, 32>(self.unmeasured.val()) << 32)
                | bit_cast::<64, 32>(self.bad.val());
        }
        self.header_word.d.next = self.looked_up.val();
        if self.state.q.val() == 4 {
            self.state.d.next = 5.into();
        }
        // Choose a word.
        if self.state.q.val() == 5 {
            self.state.d.next = 7.into();
            if self.section.q.val() == 0 {
                self.chosen.d.next = self.header_word.q.val();
            }
            if self.section.q.val() == 1 {
                self.step.d.next = 0.into();
                self.state.d.next = 6.into();
            }
            if self.section.q.val() == 2 {
                self.chosen.d.next = self.tops.q.val();
            }
            if self.section.q.val() == 3 {
                self.chosen.d.next = 0.into();
            }
            if self.section.q.val() == 4 {
                self.chosen.d.next = self.check.q.val();
            }
            for i in 0..D {
                if self.section.q.val() == 5 {
                    self.chosen.d.next = self.pair[i].q.val();
                }
            }
        }
        // Take the cell, whose address has stood for four cycles; clear it, which takes two cycles; go on.
        if self.state.q.val() == 6 {
            self.step.d.next = self.step.q.val() + 1;
            if self.taking.q.val() {
                self.chosen.d.next = bit_cast::<64, 32>(self.drained_cell.val().get_bits::<32>(0))
                    | (bit_cast::<64, 32>(self.drained_cell.val().get_bits::<32>(40)) << 32);
                self.tops.d.next =
                    (self.tops.q.val() << 8) | bit_cast::<64, 8>(self.drained_cell.val().get_bits::<8>(32));
                for i in 0..D {
                    self.pair[i].d.next = (self.pair[i].q.val() << 32)
                        | bit_cast::<64, 32>(self.drained_cell.val().get_bits::<32>(72));
                }
            }
            if self.step.q.val() == 2 {
                self.address_now.d.next = self.next_address.val();
                if self.at_last.q.val() {
                    self.address_now.d.next = 0.into();
                }
                self.state.d.next = 7.into();
            }
        }
        // Add the word to the check word, and offer it with the wire's first byte in the lowest lane.
        if self.state.q.val() == 7 {
            self.check.d.next = self.rotated.val() ^ self.chosen.q.val();
            if self.section.q.val() == 0 {
                if self.step.q.val() == 0 {
                    self.check.d.next = 0.into();
                }
                if self.step.q.val() == 1 {
                    self.check.d.next = bit_cast::<64, 32>(self.chosen.q.val().get_bits::<32>(0));
                }
            }
            self.data.d.next = bit_cast::<64, 8>(self.chosen.q.val().get_bits::<8>(56))
                | (bit_cast::<64, 8>(self.chosen.q.val().get_bits::<8>(48)) << 8)
                | (bit_cast::<64, 8>(self.chosen.q.val().get_bits::<8>(40)) << 16)
                | (bit_cast::<64, 8>(self.chosen.q.val().get_bits::<8>(32)) << 24)
                | (bit_cast::<64, 8>(self.chosen.q.val().get_bits::<8>(24)) << 32)
                | (bit_cast::<64, 8>(self.chosen.q.val().get_bits::<8>(16)) << 40)
                | (bit_cast::<64, 8>(self.chosen.q.val().get_bits::<8>(8)) << 48)
                | (bit_cast::<64, 8>(self.chosen.q.val().get_bits::<8>(0)) << 56);
            self.valid.d.next = true;
            self.is_last.d.next = self.section.q.val() == 4;
            self.state.d.next = 8.into();
        }
        // Wait until it is taken; then what comes next?
        if (self.state.q.val() == 8) & self.m_axis_tready.val() {
            self.valid.d.next = false;
            self.is_last.d.next = false;
            self.state.d.next = 4.into();
            self.step.d.next = self.step.q.val() + 1;
            self.header_step.d.next = self.header_step.q.val() << 1;
            if (self.section.q.val() == 0) & (self.step.q.val() == 11) {
                self.section.d.next = 1.into();
            }
            if (self.section.q.val() == 1) & self.block_ends.q.val() {
                self.section.d.next = 2.into();
            }
            for _i in 0..D {
                // Asked when the address is already that of the next cell.
                if (self.section.q.val() == 1) & !self.address_now.q.val().get_bit(0) {
                    self.section.d.next = 5.into();
                }
                if self.section.q.val() == 5 {
                    self.section.d.next = 1.into();
                    if self.block_ends.q.val() {
                        self.section.d.next = 2.into();
                    }
                }
            }
            if self.section.q.val() == 2 {
                self.section.d.next = 1.into();
                if self.fragment_ends.q.val() {
                    self.section.d.next = 3.into();
                    self.step.d.next = 0.into();
                }
            }
            if (self.section.q.val() == 3) & (self.step.q.val() == 1) {
                self.section.d.next = 4.into();
            }
            if self.section.q.val() == 4 {
                self.section.d.next = 0.into();
                self.step.d.next = 0.into();
                self.header_step.d.next = 1.into();
                // The address is back at zero behind the last fragment.
                if self.at_first.q.val() {
                    self.state.d.next = 2.into();
                    self.is_idle.d.next = true;
                }
            }
        }

        // Outputs are assigned once, here: one that changed twice in a process would wake its readers twice, and two
        // such modules that read each other would never let an event-driven simulator come to rest.
        self.clear.next = self.clearing.q.val();
        self.clear_all.next = !self.clears_not_all.q.val();
        self.drain_address.next = self.address_now.q.val();
        self.kind.next = self.class_now.val();
        self.running.next = self.cleared.q.val();
        self.busy.next = !self.is_idle.q.val();
        self.m_axis_tdata.next = self.data.q.val();
        self.m_axis_tvalid.next = self.valid.q.val();
        self.m_axis_tlast.next = self.is_last.q.val();
        self.m_axis_tkeep.next = 0xff.into();
        self.m_axis_tuser.next = false;
    }
}
