//! Packet: the bytes of a planned packet, one a cycle.
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
//! | before_last, total_length, datagram_length | in | 11 | see [`crate::plan`]; as long as it is sent |
//! | checksum | in | 16 | |
//! | number, word | in | 32 | |
//! | ends | out | 1 | its last byte is chosen: the plan may advance |
//! | tdata | out | 8 | AXI4-Stream, no tready |
//! | tvalid, tlast | out | 1 | |
//! | first | out | 1 | its first byte |
//!
//! Latency two cycles from start to the first byte; ends comes a cycle before the last byte. No parameters. Cost:
//! about 55 flip-flops, 120 LUTs.
//!
//! # Test plan
//!
//! `tests/selftest.rs`: the cores' totals count every packet and every byte; rows depend on every byte that counts.

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
    /// A byte further than the index: its byte is looked up in two halves, a cycle before it is chosen.
    ahead: Flop<Bits<11>>,
    low_half: Flop<Bits<8>>,
    high_half: Flop<Bits<8>>,
    is_high: Flop<Bit>,
    is_filler: Flop<Bit>,
    place: Signal<Local, Bits<5>>,
}

impl Logic for Packet {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clk, active, index, at_last, octet, is_valid, is_last, is_first, ahead, low_half,
            high_half, is_high, is_filler
        );
        self.active.rst.next = self.rst.val();
        self.index.rst.next = self.rst.val();
        self.at_last.rst.next = self.rst.val();
        self.octet.rst.next = self.rst.val();
        self.is_valid.rst.next = self.rst.val();
        self.is_last.rst.next = self.rst.val();
        self.is_first.rst.next = self.rst.val();
        self.ahead.rst.next = self.rst.val();
        self.low_half.rst.next = self.rst.val();
        self.high_half.rst.next = self.rst.val();
        self.is_high.rst.next = self.rst.val();
        self.is_filler.rst.next = self.rst.val();

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
        if self.start.val() {
            self.active.d.next = true;
            self.ahead.d.next = 1.into();
        }

        self.place.next = self.ahead.q.val().get_bits::<5>(0);
        self.is_high.d.next = self.ahead.q.val().get_bit(5);
        self.is_filler.d.next = self.ahead.q.val().get_bits::<5>(6).any();
        self.low_half.d.next = 0.into();
        match self.place.val().index() {
            0 => {
                self.low_half.d.next = 2.into();
            }
            5 => {
                self.low_half.d.next = 2.into();
            }
            6 => {
                self.low_half.d.next = 2.into();
            }
            11 => {
                self.low_half.d.next = 1.into();
            }
            12 => {
                self.low_half.d.next = 8.into();
            }
            14 => {
                self.low_half.d.next = 0x45.into();
            }
            16 => {
                self.low_half.d.next = bit_cast::<8, 3>(self.total_length.val().get_bits::<3>(8));
            }
            17 => {
                self.low_half.d.next = self.total_length.val().get_bits::<8>(0);
            }
            18 => {
                self.low_half.d.next = self.number.val().get_bits::<8>(8);
            }
            19 => {
                self.low_half.d.next = self.number.val().get_bits::<8>(0);
            }
            22 => {
                self.low_half.d.next = 0x40.into();
            }
            23 => {
                self.low_half.d.next = 0x11.into();
            }
            24 => {
                self.low_half.d.next = self.checksum.val().get_bits::<8>(8);
            }
            25 => {
                self.low_half.d.next = self.checksum.val().get_bits::<8>(0);
            }
            26 => {
                self.low_half.d.next = 0xc0.into();
            }
            28 => {
                self.low_half.d.next = 2.into();
            }
            29 => {
                self.low_half.d.next = 1.into();
            }
            30 => {
                self.low_half.d.next = 0xc6.into();
            }
            31 => {
                self.low_half.d.next = 0x33.into();
            }
            _ => {}
        }
        self.high_half.d.next = 0.into();
        match self.place.val().index() {
            0 => {
                self.high_half.d.next = 0x64.into();
            }
            1 => {
                self.high_half.d.next = 1.into();
            }
            2 => {
                self.high_half.d.next = 0xc0.into();
            }
            5 => {
                self.high_half.d.next = 9.into();
            }
            6 => {
                self.high_half.d.next = bit_cast::<8, 3>(self.datagram_length.val().get_bits::<3>(8));
            }
            7 => {
                self.high_half.d.next = self.datagram_length.val().get_bits::<8>(0);
            }
            10 => {
                self.high_half.d.next = self.number.val().get_bits::<8>(24);
            }
            11 => {
                self.high_half.d.next = self.number.val().get_bits::<8>(16);
            }
            12 => {
                self.high_half.d.next = self.number.val().get_bits::<8>(8);
            }
            13 => {
                self.high_half.d.next = self.number.val().get_bits::<8>(0);
            }
            14 => {
                self.high_half.d.next = self.word.val().get_bits::<8>(24);
            }
            15 => {
                self.high_half.d.next = self.word.val().get_bits::<8>(16);
            }
            16 => {
                self.high_half.d.next = self.word.val().get_bits::<8>(8);
            }
            17 => {
                self.high_half.d.next = self.word.val().get_bits::<8>(0);
            }
            _ => {}
        }
        self.octet.d.next = self.low_half.q.val();
        if self.is_high.q.val() {
            self.octet.d.next = self.high_half.q.val();
        }
        if self.is_filler.q.val() {
            self.octet.d.next = 0.into();
        }
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
