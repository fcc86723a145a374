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
//! With K = 1 a frame whose interval has a key is authenticated, as `deltaline_model::wire::authentication` says. Each byte then
//! goes through the same states, and what goes to the [engine](crate::byte::ascon) alone does so before and behind those that are
//! sent: looked up like the header's bytes, or in the memory of [keys](crate::byte::keys), which also has boot epoch and
//! key identifier. A byte waits to be looked up while rounds are under way.
//!
//! ```text
//! not sent: initial value, key, nonce | 12 rounds | key        padding | 8 rounds | domain, padding, key | 12 rounds
//! sent:     header: 16 bytes, others -> (8 rounds for each pair of words) -> cells ...          tag: state ^ key -> check
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
//! | keys_busy, is_keyed | in | K | the keys' `busy` and `is_keyed` |
//! | key_place, key_word | out, in | K x 4, K x 16 | the keys' `place` and `word` |
//!
//! Parameters: A, the width of a cell's address; K, 1 if frames can be authenticated, else 0. A byte takes four cycles, each word of the ledger four more,
//! whatever the traffic; what that makes of an interval, the [core](crate::byte) says.
//!
//! # Test plan
//!
//! `sim/cosim`: frames against `deltaline_model::wire::frame::encode`, for every size that is built, with random
//! back-pressure; memory found clear behind every drain and after reset.

use crate::authentication::ascon::INITIAL_VALUE;
use crate::byte::ascon::Ascon;
use crate::leaves::{Flop, Rom};
use crate::module::module;
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::wire::frame::{Header, Role, Totals};
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Emitter<const A: usize, const K: usize = 0> {
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
    pub keys_busy: [Signal<In, Bit>; K],
    pub is_keyed: [Signal<In, Bit>; K],
    pub key_place: [Signal<Out, Bits<4>>; K],
    pub key_word: [Signal<In, Bits<16>>; K],

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

    engine: [Ascon; K],
    /// The data's word is the second of its pair.
    is_second: [Flop<Bit>; K],
    /// The byte is of the key, of its high half; of the epoch or the key's identifier.
    of_key: [Signal<Local, Bit>; K],
    of_high: [Signal<Local, Bit>; K],
    of_epoch: [Signal<Local, Bit>; K],
    key_octet: [Signal<Local, Bits<8>>; K],
    takes_high: [Signal<Local, Bit>; K],
    /// It is data, it is not sent, it goes to the engine: to this word, and rounds follow.
    is_data: [Signal<Local, Bit>; K],
    is_unsent: [Signal<Local, Bit>; K],
    to_row: [Signal<Local, Bits<3>>; K],
    adds: [Signal<Local, Bit>; K],
    permutes: [Signal<Local, Bit>; K],
}

impl<const A: usize, const K: usize> Emitter<A, K> {
    /// The emitter of a configuration; 2^A is at least banks × rows.
    pub fn new(configuration: &Configuration) -> Self {
        let header = Header::of_interval(configuration, Role::Sender, 0, Totals::default()).next();
        let cells = header.map_or(1, |header| u64::from(header.cells));
        let banks = configuration.prefixes().banks() as u64;
        let rows = configuration.rows() as u64;
        module! { Emitter {
            rom: Rom::new(&contents(header.iter().flat_map(Header::words), K > 0)),
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
            plane rotated entering next_address next_in_block; each keys_busy is_keyed key_place key_word engine
            is_second of_key of_high of_epoch key_octet takes_high is_data is_unsent to_row adds permutes
        }
    }
}

/// The header's bytes of the first fragment; bit 8 is set in those that the ledger has. Behind them, for tags, what the engine's
/// state begins with, in its order of bytes.
fn contents(words: impl Iterator<Item = u64>, has_tags: bool) -> Vec<u64> {
    let initial = has_tags.then_some(INITIAL_VALUE.swap_bytes());
    let bytes = words.chain(initial).flat_map(u64::to_be_bytes);
    // Refused ends, totals and times, unmeasured and bad frames, the sum of all times, ignored delimiters.
    let of_ledger = |place| matches!(place, 54..=55 | 58..=63 | 66..=95 | 104..=111 | 126..=127);
    bytes.enumerate().map(|(place, byte)| u64::from(of_ledger(place)) << 8 | u64::from(byte)).collect()
}

impl<const A: usize, const K: usize> Logic for Emitter<A, K> {
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
        // What goes to the engine alone, from its place in the header: the initial value behind it, segment and interval, then epoch,
        // version, role and fragment.
        for i in 0..K {
            if self.section.q.val() == 5 {
                if self.word.q.val() == 0 {
                    self.place.next = bit_cast::<8, 3>(self.lane.q.val()) | 136;
                }
                if self.word.q.val() == 3 {
                    self.place.next = bit_cast::<8, 3>(self.lane.q.val()) | 16;
                }
                if self.word.q.val() == 4 {
                    self.place.next = bit_cast::<8, 3>(self.lane.q.val()) | 120;
                    if self.lane.q.val().get_bit(2) {
                        self.place.next = bit_cast::<8, 3>(self.lane.q.val()) | 10;
                        if self.lane.q.val().get_bit(1) {
                            self.place.next = bit_cast::<8, 1>(self.lane.q.val().get_bits::<1>(0)) | 32;
                        }
                    }
                }
            }
            self.of_epoch[i].next = (self.place.val().get_bits::<5>(3) == 15)
                & !(self.lane.q.val().get_bit(2) & self.lane.q.val().get_bit(1));
        }
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

        for i in 0..K {
            self.is_second[i].clock.next = self.clk.val();
            self.is_second[i].rst.next = self.rst.val();
            self.is_second[i].d.next = self.is_second[i].q.val();

            // Bytes of the memory of keys; those of the key come the other way round.
            self.of_high[i].next = !self.word.q.val().get_bit(0);
            if self.section.q.val() == 3 {
                self.of_high[i].next = self.word.q.val().get_bit(0);
            }
            self.of_key[i].next = (self.section.q.val() == 3)
                | ((self.section.q.val() == 6) & (self.word.q.val() >= 3))
                | ((self.section.q.val() == 5)
                    & ((self.word.q.val() == 1)
                        | (self.word.q.val() == 2)
                        | (self.word.q.val() == 5)
                        | (self.word.q.val() == 6)));
            self.takes_high[i].next = self.lane.q.val().get_bit(0) == self.of_key[i].val();
            self.key_octet[i].next = self.key_word[i].val().get_bits::<8>(0);
            if self.takes_high[i].val() {
                self.key_octet[i].next = self.key_word[i].val().get_bits::<8>(8);
            }

            // A frame begins with what is not sent, if it has a tag; so it does when nothing is known of that yet.
            self.is_unsent[i].next = self.section.q.val() >= 5;
            if self.state.q.val() == 0 {
                self.section.d.next = 5.into();
            }
            if self.state.q.val() == 1 {
                if self.keys_busy[i].val() | self.engine[i].busy.val() {
                    self.state.d.next = 1.into();
                } else if (self.section.q.val() == 5) & !self.is_keyed[i].val() {
                    self.state.d.next = 1.into();
                    self.section.d.next = 0.into();
                }
            }
            if self.state.q.val() == 2 {
                if self.section.q.val() == 5 {
                    self.octet.d.next = self.rom.read_data.val().get_bits::<8>(0) | self.changing.q.val();
                }
                if self.section.q.val() == 6 {
                    // Padding of the data, the bit that ends them, padding of no plaintext.
                    if (self.word.q.val() == 0) & !self.lane.q.val().any() {
                        self.octet.d.next = 1.into();
                    }
                    if (self.word.q.val() == 1) & self.lane.q.val().all() {
                        self.octet.d.next = 0x80.into();
                    }
                    if (self.word.q.val() == 2) & !self.lane.q.val().any() {
                        self.octet.d.next = 1.into();
                    }
                }
                if self.of_key[i].val() | self.of_epoch[i].val() {
                    self.octet.d.next = self.key_octet[i].val();
                }
                if self.section.q.val() == 3 {
                    self.state.d.next = 3.into();
                }
            }
            // A byte of the tag: of the key, and of the state.
            if (self.state.q.val() == 3) & (self.section.q.val() == 3) {
                self.state.d.next = 4.into();
                self.octet.d.next = 0.into();
                if self.is_keyed[i].val() {
                    self.octet.d.next = self.engine[i].sum.val();
                }
            }

            self.is_data[i].next = (self.section.q.val() == 1)
                | (self.section.q.val() == 2)
                | ((self.section.q.val() == 0) & self.word.q.val().get_bits::<4>(1).any());
            self.adds[i].next = (self.state.q.val() == 4)
                & (self.is_data[i].val() | self.is_unsent[i].val() | (self.section.q.val() == 3));
            self.to_row[i].next = 0.into();
            self.permutes[i].next = false;
            if self.is_data[i].val() {
                self.permutes[i].next = self.is_second[i].q.val() & self.lane.q.val().all();
            }
            if self.is_second[i].q.val() {
                self.to_row[i].next = 1.into();
            }
            if self.section.q.val() == 3 {
                self.to_row[i].next = 3.into();
                if self.word.q.val().get_bit(0) {
                    self.to_row[i].next = 4.into();
                }
            }
            if self.section.q.val() == 5 {
                self.to_row[i].next = self.word.q.val().get_bits::<3>(0);
                if self.word.q.val() >= 5 {
                    self.to_row[i].next = self.word.q.val().get_bits::<3>(0) - 2;
                }
                self.permutes[i].next = (self.word.q.val() == 4) & self.lane.q.val().all();
            }
            if self.section.q.val() == 6 {
                match self.word.q.val().index() {
                    0 => {}
                    1 => {
                        self.to_row[i].next = 4.into();
                    }
                    2 => {
                        self.to_row[i].next = 0.into();
                    }
                    3 => {
                        self.to_row[i].next = 2.into();
                    }
                    _ => {
                        self.to_row[i].next = 3.into();
                    }
                }
                self.permutes[i].next = !self.word.q.val().get_bits::<2>(0).any() & self.lane.q.val().all();
            }
            if (self.state.q.val() == 4) & self.lane.q.val().all() & self.is_data[i].val() {
                self.is_second[i].d.next = !self.is_second[i].q.val();
            }
            if self.section.q.val() == 3 {
                self.is_second[i].d.next = false;
            }
            self.engine[i].clk.next = self.clk.val();
            self.engine[i].rst.next = self.rst.val();
            self.engine[i].clear.next = (self.state.q.val() == 1)
                & (self.section.q.val() == 5)
                & !self.word.q.val().any()
                & !self.lane.q.val().any();
            self.engine[i].add.next = self.adds[i].val() & self.is_keyed[i].val();
            self.engine[i].row.next = self.to_row[i].val();
            self.engine[i].octet.next = self.octet.q.val();
            self.engine[i].permute.next = self.permutes[i].val();
            self.engine[i].short.next =
                (self.section.q.val() != 5) & !((self.section.q.val() == 6) & self.word.q.val().get_bit(2));

            // What is not sent is not offered, nor in the check word.
            if (self.state.q.val() == 4) & self.is_unsent[i].val() {
                self.check.d.next = self.check.q.val();
                self.check_top.d.next = self.check_top.q.val();
                self.valid.d.next = false;
                self.state.d.next = 1.into();
                self.lane.d.next = self.lane.q.val() + 1;
                if self.lane.q.val().all() {
                    self.word.d.next = self.word.q.val() + 1;
                    if (self.section.q.val() == 5) & (self.word.q.val() == 6) {
                        self.section.d.next = 0.into();
                        self.word.d.next = 0.into();
                    }
                    if (self.section.q.val() == 6) & (self.word.q.val() == 4) {
                        self.section.d.next = 3.into();
                        self.word.d.next = 0.into();
                    }
                }
            }
            if (self.state.q.val() == 5) & self.m_axis_tready.val() & self.lane.q.val().all() {
                if (self.section.q.val() == 2)
                    & (self.in_fragment.val() == self.fragment_mask.val())
                    & self.is_keyed[i].val()
                {
                    self.section.d.next = 6.into();
                }
                if self.section.q.val() == 4 {
                    self.section.d.next = 5.into();
                }
            }

            self.key_place[i].next = 12.into();
            if !self.lane.q.val().get_bit(2) {
                self.key_place[i].next = 3.into();
                if self.lane.q.val().get_bit(1) {
                    self.key_place[i].next = 2.into();
                }
            }
            if self.of_key[i].val() {
                self.key_place[i].next = bit_cast::<4, 2>(self.lane.q.val().get_bits::<2>(1)) | 4;
                if self.of_high[i].val() {
                    self.key_place[i].next = bit_cast::<4, 2>(self.lane.q.val().get_bits::<2>(1)) | 8;
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
