//! Emitter: drains the idle copy into control frames, byte by byte, and clears it.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::wire::frame`, where the layout is defined. A small state machine looks up a byte, adds it to the
//! check word, offers it on m_axis, and goes on when it is taken. Words of the [ledger](crate::byte::ledger) are asked
//! for one by one, two bytes each, and cleared with their last use: cells when they are read, totals in the interval's
//! last frame.
//!
//! A ROM holds the header's constant bytes, and which bytes the ledger has. The other changing ones are chosen a cycle
//! earlier, while the ROM looks up: the ROM's output is late.
//!
//! The check word is a ring of eight bytes. Rotated left by one bit, a byte is its own low seven bits and the top bit
//! of the byte behind it; behind the last byte that is the first one, whose top bit is kept.
//!
//! ```text
//! idle -> look up -> choose -> (wait for the ledger) -> add -> offer -+-> over -> idle
//!            ^                                                       |
//!            +-------------------------------------------------------+
//! header: 17 words of 8 bytes -> (8 cells of 8 bytes, 8 sum tops) x cells / 8 -> tag: 2 words -> check: 1 word
//! ```
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | start | in | 1 | an interval has ended |
//! | receiver | in | 1 | the role field |
//! | interval | in | 32 | number of the interval |
//! | flags | in | 5 | its flags |
//! | point_id | in | 32 | identifier of the measurement point; constant |
//! | ask, ask_plane, ask_address, ask_word, ask_clear | out | 1, 3, A, 6, 1 | read a word of the idle copy; see the ledger |
//! | answers, answer | in | 1, 16 | the word |
//! | busy | out | 1 | draining |
//! | end_drain | out | 1 | the drain is over |
//! | m_axis_* | out (tready in) | 8 + 1 + 1 + 1 | control frames; bytes as on the wire |
//!
//! Parameters: A, the width of a cell's address. A byte takes four cycles, each word of the ledger four more,
//! whatever the traffic; what that makes of an interval, the [core](crate::byte) says.
//!
//! # Test plan
//!
//! `sim/cosim`: frames against `deltaline_model::wire::frame::encode`, for every size that is built, with random
//! back-pressure; memory found clear behind every drain and after reset.

use crate::leaves::{Flop, Rom};
use crate::module::module;
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::wire::frame::{Header, Role, Totals};
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Emitter<const A: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub start: Signal<In, Bit>,
    pub receiver: Signal<In, Bit>,
    pub interval: Signal<In, Bits<32>>,
    pub flags: Signal<In, Bits<5>>,
    pub point_id: Signal<In, Bits<32>>,
    pub ask: Signal<Out, Bit>,
    pub ask_plane: Signal<Out, Bits<3>>,
    pub ask_address: Signal<Out, Bits<A>>,
    pub ask_word: Signal<Out, Bits<6>>,
    pub ask_clear: Signal<Out, Bit>,
    pub answers: Signal<In, Bit>,
    pub answer: Signal<In, Bits<16>>,
    pub busy: Signal<Out, Bit>,
    pub end_drain: Signal<Out, Bit>,
    pub m_axis_tdata: Signal<Out, Bits<8>>,
    pub m_axis_tvalid: Signal<Out, Bit>,
    pub m_axis_tready: Signal<In, Bit>,
    pub m_axis_tlast: Signal<Out, Bit>,
    pub m_axis_tuser: Signal<Out, Bit>,

    rom: Rom<9, 8>,
    // How an address says fragment, bank and row.
    row_bits: Constant<Bits<5>>,
    fragment_bits: Constant<Bits<5>>,
    row_mask: Constant<Bits<A>>,
    fragment_mask: Constant<Bits<A>>,
    last_address: Constant<Bits<A>>,
    last_fragment: Constant<Bits<A>>,
    block_base_mask: Constant<Bits<A>>,

    /// 0 idle, 1 look up, 2 choose, 3 wait for the ledger, 4 add, 5 offer, 6 over.
    state: Flop<Bits<3>>,
    /// 0 header, 1 cells, 2 sum tops, 3 tag, 4 check.
    section: Flop<Bits<3>>,
    /// Word within the header or the tag.
    word: Flop<Bits<5>>,
    /// Byte within the word.
    lane: Flop<Bits<3>>,
    /// The header's byte at word and lane where it changes, else zero; a cycle behind them.
    changing: Flop<Bits<8>>,
    address_now: Flop<Bits<A>>,
    is_last_fragment: Flop<Bit>,
    octet: Flop<Bits<8>>,
    /// The second byte of the ledger's word.
    low_octet: Flop<Bits<8>>,
    check: Flop<Bits<64>>,
    check_top: Flop<Bit>,
    valid: Flop<Bit>,
    is_last: Flop<Bit>,

    place: Signal<Local, Bits<8>>,
    role_bit: Signal<Local, Bits<8>>,
    fragment: Signal<Local, Bits<A>>,
    bank: Signal<Local, Bits<A>>,
    row: Signal<Local, Bits<A>>,
    first_row: Signal<Local, Bits<16>>,
    fragment_base: Signal<Local, Bits<A>>,
    block_base: Signal<Local, Bits<A>>,
    in_fragment: Signal<Local, Bits<A>>,
    is_ledger: Signal<Local, Bit>,
    asks: Signal<Local, Bit>,
    plane: Signal<Local, Bits<3>>,
    rotated: Signal<Local, Bits<8>>,
    entering: Signal<Local, Bits<8>>,
    /// The address behind this one: within the block of eight, and in all.
    next_address: Signal<Local, Bits<A>>,
    next_in_block: Signal<Local, Bits<3>>,
}

impl<const A: usize> Emitter<A> {
    /// The emitter of a configuration; 2^A is at least banks × rows.
    pub fn new(configuration: &Configuration) -> Self {
        let header = Header::of_interval(configuration, Role::Sender, 0, Totals::default()).next();
        let cells = header.map_or(1, |header| u64::from(header.cells));
        let banks = configuration.prefixes().banks() as u64;
        let rows = configuration.rows() as u64;
        module! { Emitter {
            rom: Rom::new(&contents(header.iter().flat_map(Header::words))),
            row_bits: Constant::new(u64::from(configuration.row_bits()).into()),
            fragment_bits: Constant::new(u64::from(cells.ilog2()).into()),
            row_mask: Constant::new((rows - 1).into()),
            fragment_mask: Constant::new((cells - 1).into()),
            last_address: Constant::new((banks * rows - 1).into()),
            last_fragment: Constant::new((banks * rows - cells).into()),
            block_base_mask: Constant::new(((1u64 << A) - 8).into()),
        }
            clk rst start receiver flags point_id ask ask_plane ask_address ask_word ask_clear answers answer busy
            end_drain m_axis_tdata m_axis_tvalid m_axis_tready m_axis_tlast m_axis_tuser state section word
            lane address_now is_last_fragment interval octet low_octet check check_top valid is_last place
            changing role_bit fragment bank row first_row fragment_base block_base in_fragment is_ledger asks
            plane rotated entering next_address next_in_block
        }
    }
}

/// The header's bytes of the first fragment; bit 8 is set in those that the ledger has.
fn contents(words: impl Iterator<Item = u64>) -> Vec<u64> {
    let bytes = words.flat_map(u64::to_be_bytes);
    // Refused ends, totals and times, unmeasured and bad frames, the sum of all times, ignored delimiters.
    let of_ledger = |place| matches!(place, 54..=55 | 58..=63 | 66..=95 | 104..=111 | 126..=127);
    bytes.enumerate().map(|(place, byte)| u64::from(of_ledger(place)) << 8 | u64::from(byte)).collect()
}

impl<const A: usize> Logic for Emitter<A> {
    #[clocked(
        state,
        section,
        word,
        lane,
        changing,
        address_now,
        is_last_fragment,
        octet,
        low_octet,
        check,
        check_top,
        valid,
        is_last
    )]
    fn update(&mut self) {
        self.rom.clk.next = self.clk.val();
        self.place.next = (bit_cast::<8, 5>(self.word.q.val()) << 3) | bit_cast::<8, 3>(self.lane.q.val());
        self.rom.address.next = self.place.val();
        self.fragment.next = self.address_now.q.val() >> self.fragment_bits.val();
        self.bank.next = self.address_now.q.val() >> self.row_bits.val();
        self.row.next = self.address_now.q.val() & self.row_mask.val();
        self.first_row.next = bit_cast::<16, A>(self.row.val());
        self.next_address.next = self.address_now.q.val() + 1;
        self.next_in_block.next = self.address_now.q.val().get_bits::<3>(0) + 1;
        self.in_fragment.next = self.address_now.q.val() & self.fragment_mask.val();
        self.fragment_base.next = self.address_now.q.val() ^ self.in_fragment.val();
        self.block_base.next = self.address_now.q.val() & self.block_base_mask.val();
        self.is_last_fragment.d.next = self.fragment_base.val() == self.last_fragment.val();

        // The header's changing bytes, by their places in the frame.
        self.role_bit.next = 0.into();
        if self.receiver.val() {
            self.role_bit.next = 1.into();
        }
        self.changing.d.next = 0.into();
        match self.place.val().index() {
            15 => {
                self.changing.d.next = self.role_bit.val();
            }
            20 => {
                self.changing.d.next = self.interval.val().get_bits::<8>(24);
            }
            21 => {
                self.changing.d.next = self.interval.val().get_bits::<8>(16);
            }
            22 => {
                self.changing.d.next = self.interval.val().get_bits::<8>(8);
            }
            23 => {
                self.changing.d.next = self.interval.val().get_bits::<8>(0);
            }
            33 => {
                self.changing.d.next = bit_cast::<8, A>(self.fragment.val());
            }
            37 => {
                self.changing.d.next = bit_cast::<8, A>(self.bank.val());
            }
            42 => {
                self.changing.d.next = self.first_row.val().get_bits::<8>(8);
            }
            43 => {
                self.changing.d.next = self.first_row.val().get_bits::<8>(0);
            }
            48 => {
                self.changing.d.next = self.point_id.val().get_bits::<8>(24);
            }
            49 => {
                self.changing.d.next = self.point_id.val().get_bits::<8>(16);
            }
            50 => {
                self.changing.d.next = self.point_id.val().get_bits::<8>(8);
            }
            51 => {
                self.changing.d.next = self.point_id.val().get_bits::<8>(0);
            }
            53 => {
                self.changing.d.next = bit_cast::<8, 5>(self.flags.val());
            }
            _ => {}
        }

        if (self.state.q.val() == 0) & self.start.val() {
            self.state.d.next = 1.into();
        }
        // The ROM looks the byte up.
        if self.state.q.val() == 1 {
            self.state.d.next = 2.into();
        }
        // Choose it, or ask for it; the second byte of a word came with the first.
        self.is_ledger.next = (self.section.q.val() == 1)
            | (self.section.q.val() == 2)
            | ((self.section.q.val() == 0) & self.rom.read_data.val().get_bit(8));
        self.asks.next = (self.state.q.val() == 2)
            & self.is_ledger.val()
            & ((self.section.q.val() == 2) | !self.lane.q.val().get_bit(0));
        if self.state.q.val() == 2 {
            self.state.d.next = 4.into();
            if self.asks.val() {
                self.state.d.next = 3.into();
            }
            self.octet.d.next = 0.into();
            if self.section.q.val() == 0 {
                self.octet.d.next = self.rom.read_data.val().get_bits::<8>(0) | self.changing.q.val();
            }
            if self.is_ledger.val() {
                self.octet.d.next = self.low_octet.q.val();
            }
            if self.section.q.val() == 4 {
                self.octet.d.next = self.check.q.val().get_bits::<8>(56);
            }
        }
        if (self.state.q.val() == 3) & self.answers.val() {
            self.octet.d.next = self.answer.val().get_bits::<8>(8);
            self.low_octet.d.next = self.answer.val().get_bits::<8>(0);
            if self.section.q.val() == 2 {
                self.octet.d.next = self.answer.val().get_bits::<8>(0);
            }
            self.state.d.next = 4.into();
        }

        // Add it to the check word, which starts with bytes 12..=15 of the header; offer it.
        self.rotated.next = (bit_cast::<8, 7>(self.check.q.val().get_bits::<7>(56)) << 1)
            | bit_cast::<8, 1>(self.check.q.val().get_bits::<1>(55));
        if self.lane.q.val() == 7 {
            self.rotated.next = bit_cast::<8, 7>(self.check.q.val().get_bits::<7>(56)) << 1;
            if self.check_top.q.val() {
                self.rotated.next = (bit_cast::<8, 7>(self.check.q.val().get_bits::<7>(56)) << 1) | 1;
            }
        }
        self.entering.next = self.rotated.val() ^ self.octet.q.val();
        if (self.section.q.val() == 0) & !self.word.q.val().get_bits::<4>(1).any() {
            self.entering.next = 0.into();
            if self.word.q.val().get_bit(0) & self.lane.q.val().get_bit(2) {
                self.entering.next = self.octet.q.val();
            }
        }
        if self.state.q.val() == 4 {
            self.check.d.next = (self.check.q.val() << 8) | bit_cast::<64, 8>(self.entering.val());
            if self.lane.q.val() == 0 {
                self.check_top.d.next = self.check.q.val().get_bit(63);
            }
            self.valid.d.next = true;
            self.is_last.d.next = (self.section.q.val() == 4) & (self.lane.q.val() == 7);
            self.state.d.next = 5.into();
        }

        // Wait until it is taken; then what comes next?
        if (self.state.q.val() == 5) & self.m_axis_tready.val() {
            self.valid.d.next = false;
            self.is_last.d.next = false;
            self.state.d.next = 1.into();
            self.lane.d.next = self.lane.q.val() + 1;
            // Sum tops: a byte a cell, from the block's first cell to the next block's.
            if self.section.q.val() == 2 {
                self.address_now.d.next = self.next_address.val();
            }
            if self.lane.q.val() == 7 {
                self.word.d.next = self.word.q.val() + 1;
                match self.section.q.val().index() {
                    0 => {
                        if self.word.q.val() == 16 {
                            self.section.d.next = 1.into();
                            self.word.d.next = 0.into();
                        }
                    }
                    1 => {
                        self.word.d.next = 0.into();
                        self.address_now.d.next =
                            self.block_base.val() | bit_cast::<A, 3>(self.next_in_block.val());
                        if self.address_now.q.val().get_bits::<3>(0).all() {
                            self.section.d.next = 2.into();
                        }
                    }
                    2 => {
                        self.word.d.next = 0.into();
                        self.section.d.next = 1.into();
                        if self.in_fragment.val() == self.fragment_mask.val() {
                            self.section.d.next = 3.into();
                        }
                        if self.address_now.q.val() == self.last_address.val() {
                            self.address_now.d.next = 0.into();
                        }
                    }
                    3 => {
                        if self.word.q.val() == 1 {
                            self.section.d.next = 4.into();
                        }
                    }
                    _ => {
                        self.section.d.next = 0.into();
                        self.word.d.next = 0.into();
                        // The address is back at zero behind the last fragment.
                        if !self.address_now.q.val().any() {
                            self.state.d.next = 6.into();
                        }
                    }
                }
            }
        }
        if self.state.q.val() == 6 {
            self.state.d.next = 0.into();
        }

        self.plane.next = 5.into();
        if self.section.q.val() == 2 {
            self.plane.next = 2.into();
        }
        if self.section.q.val() == 1 {
            match self.lane.q.val().get_bits::<2>(1).index() {
                0 => {
                    self.plane.next = 4.into();
                }
                1 => {
                    self.plane.next = 3.into();
                }
                2 => {
                    self.plane.next = 1.into();
                }
                _ => {
                    self.plane.next = 0.into();
                }
            }
        }

        // Outputs are assigned once, here.
        self.ask.next = self.asks.val();
        self.ask_plane.next = self.plane.val();
        self.ask_address.next = self.address_now.q.val();
        self.ask_word.next = (bit_cast::<6, 4>(self.word.q.val().get_bits::<4>(0)) << 2)
            | bit_cast::<6, 2>(self.lane.q.val().get_bits::<2>(1));
        self.ask_clear.next = self.is_last_fragment.q.val() | (self.section.q.val() != 0);
        self.end_drain.next = self.state.q.val() == 6;
        self.busy.next = self.state.q.val() != 0;
        self.m_axis_tdata.next = self.octet.q.val();
        self.m_axis_tvalid.next = self.valid.q.val();
        self.m_axis_tlast.next = self.is_last.q.val();
        self.m_axis_tuser.next = false;
    }
}
