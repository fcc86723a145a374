//! Packet: sends the bytes of a planned packet, one a cycle.
//!
//! # Theory of operation
//!
//! Ethernet, IPv4 and UDP (192.0.2.1 port 49152 to 198.51.100.1 port 9), without check sequence:
//!
//! | bytes | content |
//! |-------|---------|
//! | 0..14 | addresses 02:00:00:00:00:02 and :01, EtherType 0x0800 |
//! | 14..34 | IPv4 header; its identification is the number's low half |
//! | 34..42 | UDP header, without checksum |
//! | 42..46 | number of the packet |
//! | 46..50 | random word |
//! | 50.. | zeros |
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | start | in | 1 | send the packet; not while one is sent |
//! | before_last, total_length, datagram_length | in | 11 | see [`crate::plan`]; stable while the packet is sent |
//! | checksum | in | 16 | |
//! | number, word | in | 32 | |
//! | ends | out | 1 | its last byte is chosen: the plan may advance |
//! | tdata | out | 8 | AXI4-Stream, no tready |
//! | tvalid, tlast | out | 1 | |
//! | first | out | 1 | its first byte |
//!
//! Latency two cycles from start to the first byte; ends comes a cycle before the last byte. No parameters. Cost:
//! about 55 flip-flops, 130 LUTs.
//!
//! # Test plan
//!
//! `sim/cosim/tests/board_selftest.rs`: the cores' totals count every packet and every byte; rows depend on every byte of the
//! identity.

use deltaline_hdl::leaves::Flop;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Packet {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub start: Signal<In, Bit>,
    pub before_last: Signal<In, Bits<11>>,
    pub total_length: Signal<In, Bits<11>>,
    pub datagram_length: Signal<In, Bits<11>>,
    pub checksum: Signal<In, Bits<16>>,
    pub number: Signal<In, Bits<32>>,
    pub word: Signal<In, Bits<32>>,
    pub ends: Signal<Out, Bit>,
    pub tdata: Signal<Out, Bits<8>>,
    pub tvalid: Signal<Out, Bit>,
    pub tlast: Signal<Out, Bit>,
    pub first: Signal<Out, Bit>,

    active: Flop<Bit>,
    index: Flop<Bits<11>>,
    at_last: Flop<Bit>,
    octet: Flop<Bits<8>>,
    is_valid: Flop<Bit>,
    is_last: Flop<Bit>,
    is_first: Flop<Bit>,
    /// Two bytes ahead of the index: a byte is looked up in two steps before it is chosen. The first step finds its
    /// constant part, and which four bytes it may be in and where; the second finds the byte.
    ahead: Flop<Bits<11>>,
    constant: Flop<Bits<8>>,
    /// 0 lengths and number of the IPv4 header, 1 checksum and length of the datagram, 2 number, 3 random word.
    four: Flop<Bits<4>>,
    place: Flop<Bits<2>>,
    octet_ahead: Flop<Bits<8>>,
    front: Signal<Local, Bits<6>>,
    column: Signal<Local, Bits<4>>,
    row_number: Signal<Local, Bits<2>>,
    row: [Signal<Local, Bits<8>>; 3],
    picked: [Signal<Local, Bits<8>>; 4],
}

impl Logic for Packet {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            active,
            index,
            at_last,
            octet,
            is_valid,
            is_last,
            is_first,
            ahead,
            constant,
            four,
            place,
            octet_ahead
        );
        self.active.rst.next = self.rst.val();
        self.index.rst.next = self.rst.val();
        self.ahead.rst.next = self.rst.val();
        // Written before they are read.
        self.octet.rst.next = false;
        self.constant.rst.next = false;
        self.four.rst.next = false;
        self.place.rst.next = false;
        self.octet_ahead.rst.next = false;
        self.at_last.rst.next = false;
        self.is_valid.rst.next = false;
        self.is_last.rst.next = false;
        self.is_first.rst.next = false;

        if self.active.q.val() {
            self.index.d.next = self.index.q.val() + 1;
            self.ahead.d.next = self.ahead.q.val() + 1;
        }
        self.at_last.d.next = self.active.q.val() & (self.index.q.val() == self.before_last.val());
        if self.at_last.q.val() {
            self.active.d.next = false;
            self.index.d.next = 0.into();
            self.ahead.d.next = 0.into();
        }
        self.front.next = self.ahead.q.val().get_bits::<6>(0);
        self.row_number.next = self.ahead.q.val().get_bits::<2>(4);
        self.column.next = self.ahead.q.val().get_bits::<4>(0);
        self.row[0].next = 0.into();
        match self.column.val().index() {
            0 => {
                self.row[0].next = 2.into();
            }
            5 => {
                self.row[0].next = 2.into();
            }
            6 => {
                self.row[0].next = 2.into();
            }
            11 => {
                self.row[0].next = 1.into();
            }
            12 => {
                self.row[0].next = 8.into();
            }
            14 => {
                self.row[0].next = 0x45.into();
            }
            _ => {}
        }
        self.row[1].next = 0.into();
        match self.column.val().index() {
            6 => {
                self.row[1].next = 0x40.into();
            }
            7 => {
                self.row[1].next = 0x11.into();
            }
            10 => {
                self.row[1].next = 0xc0.into();
            }
            12 => {
                self.row[1].next = 2.into();
            }
            13 => {
                self.row[1].next = 1.into();
            }
            14 => {
                self.row[1].next = 0xc6.into();
            }
            15 => {
                self.row[1].next = 0x33.into();
            }
            _ => {}
        }
        self.row[2].next = 0.into();
        match self.column.val().index() {
            0 => {
                self.row[2].next = 0x64.into();
            }
            1 => {
                self.row[2].next = 1.into();
            }
            2 => {
                self.row[2].next = 0xc0.into();
            }
            5 => {
                self.row[2].next = 9.into();
            }
            _ => {}
        }
        self.constant.d.next = 0.into();
        self.four.d.next = 0.into();
        self.place.d.next = self.ahead.q.val().get_bits::<2>(0);
        if !self.ahead.q.val().get_bits::<5>(6).any() {
            match self.row_number.val().index() {
                0 => {
                    self.constant.d.next = self.row[0].val();
                }
                1 => {
                    self.constant.d.next = self.row[1].val();
                }
                2 => {
                    self.constant.d.next = self.row[2].val();
                }
                _ => {}
            }
            if self.front.val().get_bits::<4>(2) == 4 {
                self.four.d.next = 1.into();
            }
            if (self.front.val().get_bits::<5>(1) == 12) | (self.front.val().get_bits::<5>(1) == 19) {
                self.four.d.next = 2.into();
            }
            if (self.front.val().get_bits::<5>(1) == 21) | (self.front.val().get_bits::<5>(1) == 22) {
                self.four.d.next = 4.into();
            }
            if (self.front.val().get_bits::<5>(1) == 23) | (self.front.val().get_bits::<5>(1) == 24) {
                self.four.d.next = 8.into();
            }
        }
        if self.start.val() {
            // Byte 0 is looked up while nothing is sent; byte 1 is zero.
            self.active.d.next = true;
            self.ahead.d.next = 2.into();
            self.constant.d.next = 0.into();
        }

        match self.place.q.val().index() {
            0 => {
                self.picked[0].next = bit_cast::<8, 3>(self.total_length.val().get_bits::<3>(8));
            }
            1 => {
                self.picked[0].next = self.total_length.val().get_bits::<8>(0);
            }
            2 => {
                self.picked[0].next = self.number.val().get_bits::<8>(8);
            }
            _ => {
                self.picked[0].next = self.number.val().get_bits::<8>(0);
            }
        }
        match self.place.q.val().index() {
            0 => {
                self.picked[1].next = self.checksum.val().get_bits::<8>(8);
            }
            1 => {
                self.picked[1].next = self.checksum.val().get_bits::<8>(0);
            }
            2 => {
                self.picked[1].next = bit_cast::<8, 3>(self.datagram_length.val().get_bits::<3>(8));
            }
            _ => {
                self.picked[1].next = self.datagram_length.val().get_bits::<8>(0);
            }
        }
        match self.place.q.val().index() {
            0 => {
                self.picked[2].next = self.number.val().get_bits::<8>(8);
            }
            1 => {
                self.picked[2].next = self.number.val().get_bits::<8>(0);
            }
            2 => {
                self.picked[2].next = self.number.val().get_bits::<8>(24);
            }
            _ => {
                self.picked[2].next = self.number.val().get_bits::<8>(16);
            }
        }
        match self.place.q.val().index() {
            0 => {
                self.picked[3].next = self.word.val().get_bits::<8>(8);
            }
            1 => {
                self.picked[3].next = self.word.val().get_bits::<8>(0);
            }
            2 => {
                self.picked[3].next = self.word.val().get_bits::<8>(24);
            }
            _ => {
                self.picked[3].next = self.word.val().get_bits::<8>(16);
            }
        }
        self.octet_ahead.d.next = self.constant.q.val();
        for i in 0..4 {
            if self.four.q.val().get_bit(i) {
                self.octet_ahead.d.next = self.picked[i].val();
            }
        }
        self.octet.d.next = self.octet_ahead.q.val();
        self.is_valid.d.next = self.active.q.val();
        self.is_last.d.next = self.at_last.q.val();
        self.is_first.d.next = self.active.q.val() & (self.index.q.val() == 0);

        self.ends.next = self.at_last.q.val();
        self.tdata.next = self.octet.q.val();
        self.tvalid.next = self.is_valid.q.val();
        self.tlast.next = self.is_last.q.val();
        self.first.next = self.is_first.q.val();
    }
}
