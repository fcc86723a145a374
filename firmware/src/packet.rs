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
//! about 25 flip-flops, 110 LUTs.
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
    place: Signal<Local, Bits<6>>,
    in_header: Signal<Local, Bit>,
}

impl Logic for Packet {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, active, index, at_last, octet, is_valid, is_last, is_first);
        self.active.rst.next = self.rst.val();
        self.index.rst.next = self.rst.val();
        self.at_last.rst.next = self.rst.val();
        self.octet.rst.next = self.rst.val();
        self.is_valid.rst.next = self.rst.val();
        self.is_last.rst.next = self.rst.val();
        self.is_first.rst.next = self.rst.val();

        if self.active.q.val() {
            self.index.d.next = self.index.q.val() + 1;
        }
        self.at_last.d.next = self.active.q.val() & (self.index.q.val() == self.before_last.val());
        if self.at_last.q.val() {
            self.active.d.next = false;
            self.index.d.next = 0.into();
        }
        if self.start.val() {
            self.active.d.next = true;
        }

        self.place.next = self.index.q.val().get_bits::<6>(0);
        self.in_header.next = !self.index.q.val().get_bits::<5>(6).any();
        self.octet.d.next = 0.into();
        if self.in_header.val() {
            match self.place.val().index() {
                0 => {
                    self.octet.d.next = 2.into();
                }
                5 => {
                    self.octet.d.next = 2.into();
                }
                6 => {
                    self.octet.d.next = 2.into();
                }
                11 => {
                    self.octet.d.next = 1.into();
                }
                12 => {
                    self.octet.d.next = 8.into();
                }
                14 => {
                    self.octet.d.next = 0x45.into();
                }
                16 => {
                    self.octet.d.next = bit_cast::<8, 3>(self.total_length.val().get_bits::<3>(8));
                }
                17 => {
                    self.octet.d.next = self.total_length.val().get_bits::<8>(0);
                }
                18 => {
                    self.octet.d.next = self.number.val().get_bits::<8>(8);
                }
                19 => {
                    self.octet.d.next = self.number.val().get_bits::<8>(0);
                }
                22 => {
                    self.octet.d.next = 0x40.into();
                }
                23 => {
                    self.octet.d.next = 0x11.into();
                }
                24 => {
                    self.octet.d.next = self.checksum.val().get_bits::<8>(8);
                }
                25 => {
                    self.octet.d.next = self.checksum.val().get_bits::<8>(0);
                }
                26 => {
                    self.octet.d.next = 0xc0.into();
                }
                28 => {
                    self.octet.d.next = 2.into();
                }
                29 => {
                    self.octet.d.next = 1.into();
                }
                30 => {
                    self.octet.d.next = 0xc6.into();
                }
                31 => {
                    self.octet.d.next = 0x33.into();
                }
                32 => {
                    self.octet.d.next = 0x64.into();
                }
                33 => {
                    self.octet.d.next = 1.into();
                }
                34 => {
                    self.octet.d.next = 0xc0.into();
                }
                37 => {
                    self.octet.d.next = 9.into();
                }
                38 => {
                    self.octet.d.next = bit_cast::<8, 3>(self.datagram_length.val().get_bits::<3>(8));
                }
                39 => {
                    self.octet.d.next = self.datagram_length.val().get_bits::<8>(0);
                }
                42 => {
                    self.octet.d.next = self.number.val().get_bits::<8>(24);
                }
                43 => {
                    self.octet.d.next = self.number.val().get_bits::<8>(16);
                }
                44 => {
                    self.octet.d.next = self.number.val().get_bits::<8>(8);
                }
                45 => {
                    self.octet.d.next = self.number.val().get_bits::<8>(0);
                }
                46 => {
                    self.octet.d.next = self.word.val().get_bits::<8>(24);
                }
                47 => {
                    self.octet.d.next = self.word.val().get_bits::<8>(16);
                }
                48 => {
                    self.octet.d.next = self.word.val().get_bits::<8>(8);
                }
                49 => {
                    self.octet.d.next = self.word.val().get_bits::<8>(0);
                }
                _ => {}
            }
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
