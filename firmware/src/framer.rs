//! Framer: sends messages as bytes on the serial line, with flags, escapes and check sequence.
//!
//! Twin of `deltaline_model::board::framing::encode`, where the format is defined.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | tdata | in | 8 | payload |
//! | tvalid | in | 1 | |
//! | tlast | in | 1 | |
//! | tready | out | 1 | the byte is taken |
//! | free | in | 1 | the transmitter takes a byte |
//! | octet | out | 8 | the byte for it |
//! | send | out | 1 | |
//! | idle | out | 1 | no message is under way |
//!
//! A byte takes three cycles in addition to the transmitter's. No parameters. Cost: about 40 flip-flops, 80 LUTs.
//!
//! # Test plan
//!
//! `sim/cosim/tests/board_selftest.rs`: every byte on the line against the twin; records long enough to hold every byte value.

use deltaline_hdl::leaves::Flop;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Framer {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub tdata: Signal<In, Bits<8>>,
    pub tvalid: Signal<In, Bit>,
    pub tlast: Signal<In, Bit>,
    pub tready: Signal<Out, Bit>,
    pub free: Signal<In, Bit>,
    pub octet: Signal<Out, Bits<8>>,
    pub send: Signal<Out, Bit>,
    pub idle: Signal<Out, Bit>,

    /// 0 idle, 1 first flag, 2 take a byte, 3 special or not, 4 send it, 5 send the escape, 6 last flag.
    state: Flop<Bits<3>>,
    /// What is sent: 0 payload, 1 and 2 the check sequence.
    part: Flop<Bits<2>>,
    is_last: Flop<Bit>,
    byte_now: Flop<Bits<8>>,
    check: Flop<Bits<16>>,
    entering: Signal<Local, Bits<8>>,
    nibble: Signal<Local, Bits<8>>,
    wide: Signal<Local, Bits<16>>,
    is_special: Signal<Local, Bit>,
    outgoing: Signal<Local, Bits<8>>,
    sends: Signal<Local, Bit>,
}

impl Logic for Framer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, state, part, is_last, byte_now, check);
        self.state.rst.next = self.rst.val();
        // Written before they are read.
        self.part.rst.next = false;
        self.is_last.rst.next = false;
        self.byte_now.rst.next = false;
        self.check.rst.next = false;

        // The check sequence of a byte in closed form.
        self.entering.next = self.tdata.val() ^ self.check.q.val().get_bits::<8>(0);
        self.nibble.next = self.entering.val() ^ (self.entering.val() << 4);
        self.wide.next = bit_cast::<16, 8>(self.nibble.val());
        self.is_special.next = (self.byte_now.q.val() == 0x7e) | (self.byte_now.q.val() == 0x7d);
        self.outgoing.next = 0x7e.into();
        self.sends.next = false;
        match self.state.q.val().index() {
            0 => {
                self.check.d.next = 0xffff.into();
                self.part.d.next = 0.into();
                if self.tvalid.val() {
                    self.state.d.next = 1.into();
                }
            }
            1 => {
                self.sends.next = self.free.val();
                if self.free.val() {
                    self.state.d.next = 2.into();
                }
            }
            2 => {
                if self.part.q.val() == 0 {
                    if self.tvalid.val() {
                        self.byte_now.d.next = self.tdata.val();
                        self.is_last.d.next = self.tlast.val();
                        self.check.d.next = (self.check.q.val() >> 8)
                            ^ (self.wide.val() << 8)
                            ^ (self.wide.val() << 3)
                            ^ (self.wide.val() >> 4);
                        self.state.d.next = 3.into();
                    }
                } else {
                    self.byte_now.d.next = !self.check.q.val().get_bits::<8>(0);
                    self.check.d.next = self.check.q.val() >> 8;
                    self.state.d.next = 3.into();
                }
            }
            3 => {
                self.state.d.next = 4.into();
                if self.is_special.val() {
                    self.state.d.next = 5.into();
                }
            }
            4 => {
                self.outgoing.next = self.byte_now.q.val();
                self.sends.next = self.free.val();
                if self.free.val() {
                    self.state.d.next = 2.into();
                    if self.is_last.q.val() {
                        self.part.d.next = self.part.q.val() + 1;
                    }
                    if self.part.q.val() == 2 {
                        self.state.d.next = 6.into();
                    }
                }
            }
            5 => {
                self.outgoing.next = 0x7d.into();
                self.sends.next = self.free.val();
                if self.free.val() {
                    self.byte_now.d.next = self.byte_now.q.val() ^ 0x20;
                    self.state.d.next = 4.into();
                }
            }
            _ => {
                self.sends.next = self.free.val();
                if self.free.val() {
                    self.state.d.next = 0.into();
                }
            }
        }

        self.tready.next = (self.state.q.val() == 2) & (self.part.q.val() == 0);
        self.octet.next = self.outgoing.val();
        self.send.next = self.sends.val();
        self.idle.next = self.state.q.val() == 0;
    }
}
