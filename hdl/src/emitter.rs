//! Emitter: drains the idle copy into control frames and clears it.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::frame`, where the layout is defined; it is made of 64-bit words for this module's
//! sake. A small state machine chooses a word, adds it to the check word, offers it on m_axis, and goes on when it
//! is taken. Cells come one after the other, so that the address alone says which bank, row and fragment is next.
//! A cell is cleared when it has been read.
//!
//! After reset the same machine first walks over all addresses and clears both copies.
//!
//! ```text
//! clear all -> idle -> header words 0..=11 -> (8 x [read, cell word], sum tops) x 16 -> tag, tag, check
//!               ^        ^                                                                      |
//!               |        +------------------------------ next fragment -------------------------+
//!               +------------------------------------ last fragment ----------------------------+
//! ```
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
//! | drained_cell | in | 72 | the cell at drain_address |
//! | drain_address | out | A | word to show or to clear |
//! | clear | out | 1 | clear the word in the idle copy |
//! | clear_all | out | 1 | clear it in both |
//! | busy | out | 1 | draining or clearing |
//! | running | out | 1 | both copies have been cleared since reset |
//! | m_axis_* | out (tready in) | 64 + 8 + 1 + 1 + 1 | control frames; tkeep is all ones; bytes as on the wire |
//!
//! Parameters: A, the width of a word's address. From start to the first word three cycles. Throughput: a word every
//! four cycles, a cell every seven; with m_axis ready, an interval of 2 x 1024 cells takes some 16,400 cycles, which is
//! the shortest interval. Words come with gaps: a MAC that cannot pause within a frame needs a frame buffer before it.
//! Clearing after reset takes two cycles a word.
//!
//! Cost, 2 x 1024 rows, before placement (`cargo xtask cost`): iCE40 1043 LUT4, 345 flip-flops;
//! ECP5 1461 LUT4, 345 flip-flops.
//!
//! # Test plan
//!
//! `sim/cosim`: frames against `deltaline_model::frame::encode`, for every size that is built, with random
//! back-pressure; memory found clear behind every drain and after reset.

use crate::leaves::Flop;
use deltaline_model::configuration::Configuration;
use deltaline_model::frame::{Header, Role, Totals};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Emitter<const A: usize> {
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
    pub drained_cell: Signal<In, Bits<72>>,
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
    segment_word: Constant<Bits<64>>,
    digest_word: Constant<Bits<64>>,
    place_word: Constant<Bits<64>>,
    extent_word: Constant<Bits<64>>,
    prefixes_word: Constant<Bits<64>>,
    /// One if `prefixes` counts instead.
    adaptive: Constant<Bits<1>>,
    // How an address says fragment, bank and row.
    row_bits: Constant<Bits<5>>,
    fragment_bits: Constant<Bits<5>>,
    row_mask: Constant<Bits<A>>,
    fragment_mask: Constant<Bits<A>>,
    last_address: Constant<Bits<A>>,

    /// 0 clear, 1 clear and step, 2 idle, 4 look up, 5 choose, 6 read, 7 add to check, 8 offer.
    state: Flop<Bits<4>>,
    /// 0 header, 1 cells, 2 sum tops, 3 tag, 4 check.
    section: Flop<Bits<3>>,
    /// Word within the header or the tag, or cycles waited.
    step: Flop<Bits<4>>,
    cleared: Flop<Bit>,
    address_now: Flop<Bits<A>>,
    header_word: Flop<Bits<64>>,
    chosen: Flop<Bits<64>>,
    tops: Flop<Bits<64>>,
    check: Flop<Bits<64>>,
    data: Flop<Bits<64>>,
    valid: Flop<Bit>,
    is_last: Flop<Bit>,

    fragment: Signal<Local, Bits<A>>,
    bank: Signal<Local, Bits<A>>,
    first_row: Signal<Local, Bits<A>>,
    role_bit: Signal<Local, Bits<64>>,
    rotated: Signal<Local, Bits<64>>,
    next_address: Signal<Local, Bits<A>>,
    block_ends: Signal<Local, Bit>,
    fragment_ends: Signal<Local, Bit>,
}

impl<const A: usize> Emitter<A> {
    /// The emitter of a configuration; 2^A is at least banks × rows.
    pub fn new(configuration: &Configuration) -> Self {
        let header = Header::of_interval(configuration, Role::Sender, 0, Totals::default()).next();
        let (cells, words) = header.map_or((0, [0; 12]), |header| (header.cells, header.words()));
        let banks = configuration.prefixes().banks() as u64;
        let rows = configuration.rows() as u64;
        let word = |index: usize| Constant::new(Bits::<64>::from(words[index]));
        Emitter {
            clk: Default::default(),
            rst: Default::default(),
            start: Default::default(),
            receiver: Default::default(),
            interval: Default::default(),
            packets: Default::default(),
            bytes: Default::default(),
            first: Default::default(),
            last: Default::default(),
            unmeasured: Default::default(),
            bad: Default::default(),
            refused_ends: Default::default(),
            flags: Default::default(),
            prefixes: Default::default(),
            drained_cell: Default::default(),
            drain_address: Default::default(),
            clear: Default::default(),
            clear_all: Default::default(),
            busy: Default::default(),
            running: Default::default(),
            m_axis_tdata: Default::default(),
            m_axis_tkeep: Default::default(),
            m_axis_tvalid: Default::default(),
            m_axis_tready: Default::default(),
            m_axis_tlast: Default::default(),
            m_axis_tuser: Default::default(),
            destination_word: word(0),
            source_word: word(1),
            segment_word: word(2),
            digest_word: word(3),
            place_word: word(4),
            extent_word: word(5),
            prefixes_word: word(10),
            adaptive: Constant::new(u64::from(configuration.adaptive()).into()),
            row_bits: Constant::new(u64::from(configuration.row_bits()).into()),
            fragment_bits: Constant::new(u64::from(cells.max(1).ilog2()).into()),
            row_mask: Constant::new((rows - 1).into()),
            fragment_mask: Constant::new(u64::from(cells.saturating_sub(1)).into()),
            last_address: Constant::new((banks * rows - 1).into()),
            state: Default::default(),
            section: Default::default(),
            step: Default::default(),
            cleared: Default::default(),
            address_now: Default::default(),
            header_word: Default::default(),
            chosen: Default::default(),
            tops: Default::default(),
            check: Default::default(),
            data: Default::default(),
            valid: Default::default(),
            is_last: Default::default(),
            fragment: Default::default(),
            bank: Default::default(),
            first_row: Default::default(),
            role_bit: Default::default(),
            rotated: Default::default(),
            next_address: Default::default(),
            block_ends: Default::default(),
            fragment_ends: Default::default(),
        }
    }
}

impl<const A: usize> Logic for Emitter<A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            state,
            section,
            step,
            cleared,
            address_now,
            header_word,
            chosen,
            tops,
            check,
            data,
            valid,
            is_last
        );
        self.state.rst.next = self.rst.val();
        self.section.rst.next = self.rst.val();
        self.step.rst.next = self.rst.val();
        self.cleared.rst.next = self.rst.val();
        self.address_now.rst.next = self.rst.val();
        self.header_word.rst.next = self.rst.val();
        self.chosen.rst.next = self.rst.val();
        self.tops.rst.next = self.rst.val();
        self.check.rst.next = self.rst.val();
        self.data.rst.next = self.rst.val();
        self.valid.rst.next = self.rst.val();
        self.is_last.rst.next = self.rst.val();

        self.fragment.next = self.address_now.q.val() >> self.fragment_bits.val();
        self.bank.next = self.address_now.q.val() >> self.row_bits.val();
        self.first_row.next = self.address_now.q.val() & self.row_mask.val();
        self.next_address.next = self.address_now.q.val() + 1;
        // Asked when the address is already that of the next cell.
        self.block_ends.next = !self.address_now.q.val().get_bits::<3>(0).any();
        self.fragment_ends.next = !(self.address_now.q.val() & self.fragment_mask.val()).any();
        self.role_bit.next = 0.into();
        if self.receiver.val() {
            self.role_bit.next = 1.into();
        }
        self.rotated.next = self.check.q.val() << 1;
        if self.check.q.val().get_bit(63) {
            self.rotated.next = self.rotated.val() | 1;
        }

        // Clear both copies after reset; the address stands for two cycles, as the memory's upper half wants it.
        if self.state.q.val() == 0 {
            self.state.d.next = 1.into();
        }
        if self.state.q.val() == 1 {
            self.state.d.next = 0.into();
            self.address_now.d.next = self.next_address.val();
            if self.address_now.q.val() == self.last_address.val() {
                self.address_now.d.next = 0.into();
                self.cleared.d.next = true;
                self.state.d.next = 2.into();
            }
        }
        // Idle.
        if self.state.q.val() == 2 {
            self.step.d.next = 0.into();
            self.section.d.next = 0.into();
            // The last updates reach memory and totals 16 to 18 cycles behind the end of their frame, which is long
            // before the first word that depends on them is looked up.
            if self.start.val() {
                self.state.d.next = 4.into();
            }
        }
        // The header's word of this step, looked up all the time, and a cycle to do so.
        match self.step.q.val().index() {
            0 => {
                self.header_word.d.next = self.destination_word.val();
            }
            1 => {
                self.header_word.d.next = self.source_word.val() | self.role_bit.val();
            }
            2 => {
                self.header_word.d.next = self.segment_word.val() | bit_cast::<64, 32>(self.interval.val());
            }
            3 => {
                self.header_word.d.next = self.digest_word.val();
            }
            4 => {
                self.header_word.d.next = self.place_word.val()
                    | (bit_cast::<64, A>(self.fragment.val()) << 48)
                    | (bit_cast::<64, A>(self.bank.val()) << 24);
            }
            5 => {
                self.header_word.d.next = self.extent_word.val()
                    | (bit_cast::<64, A>(self.first_row.val()) << 48)
                    | (bit_cast::<64, 5>(self.flags.val()) << 16)
                    | bit_cast::<64, 16>(self.refused_ends.val());
            }
            6 => {
                self.header_word.d.next = bit_cast::<64, 48>(self.packets.val());
            }
            7 => {
                self.header_word.d.next = bit_cast::<64, 48>(self.bytes.val());
            }
            8 => {
                self.header_word.d.next = self.first.val();
            }
            9 => {
                self.header_word.d.next = self.last.val();
            }
            10 => {
                self.header_word.d.next = self.prefixes_word.val();
                if self.adaptive.val().any() {
                    self.header_word.d.next = self.prefixes.val();
                }
            }
            _ => {
                self.header_word.d.next =
                    (bit_cast::<64, 32>(self.unmeasured.val()) << 32) | bit_cast::<64, 32>(self.bad.val());
            }
        }
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
        }
        // Take the cell, whose address has stood for four cycles; clear it, which takes two cycles; go on.
        if self.state.q.val() == 6 {
            self.step.d.next = self.step.q.val() + 1;
            if self.step.q.val() == 0 {
                self.chosen.d.next = bit_cast::<64, 32>(self.drained_cell.val().get_bits::<32>(0))
                    | (bit_cast::<64, 32>(self.drained_cell.val().get_bits::<32>(40)) << 32);
                self.tops.d.next =
                    (self.tops.q.val() << 8) | bit_cast::<64, 8>(self.drained_cell.val().get_bits::<8>(32));
            }
            if self.step.q.val() == 2 {
                self.address_now.d.next = self.next_address.val();
                if self.address_now.q.val() == self.last_address.val() {
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
            if (self.section.q.val() == 0) & (self.step.q.val() == 11) {
                self.section.d.next = 1.into();
            }
            if (self.section.q.val() == 1) & self.block_ends.val() {
                self.section.d.next = 2.into();
            }
            if self.section.q.val() == 2 {
                self.section.d.next = 1.into();
                if self.fragment_ends.val() {
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
                // The address is back at zero behind the last fragment.
                if !self.address_now.q.val().any() {
                    self.state.d.next = 2.into();
                }
            }
        }

        // Outputs are assigned once, here: one that changed twice in a process would wake its readers twice, and two
        // such modules that read each other would never let an event-driven simulator come to rest.
        self.clear.next = (self.state.q.val() == 6) & (self.step.q.val() == 1);
        self.clear_all.next = self.state.q.val() == 0;
        self.drain_address.next = self.address_now.q.val();
        self.running.next = self.cleared.q.val();
        self.busy.next = self.state.q.val() != 2;
        self.m_axis_tdata.next = self.data.q.val();
        self.m_axis_tvalid.next = self.valid.q.val();
        self.m_axis_tlast.next = self.is_last.q.val();
        self.m_axis_tkeep.next = 0xff.into();
        self.m_axis_tuser.next = false;
    }
}
