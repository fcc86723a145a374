//! UART: a byte as ten bits on a line (start, eight data bits from the least significant on, stop).
//!
//! # Theory of operation
//!
//! A bit takes `divider` + 1 cycles. The receiver synchronises the line with two flip-flops, the only clock
//! crossing, and samples each bit in its middle, counted from the edge of the start bit.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | octet, send | in | 8, 1 | transmitter: send this byte; only when it is free |
//! | free | out | 1 | transmitter: it can take a byte |
//! | tx | out | 1 | the line, high at rest |
//! | rx | in | 1 | the line, not synchronous |
//! | octet, valid | out | 8, 1 | receiver: a byte has arrived; one whose stop bit is low is ignored |
//!
//! Parameter: `divider`, as a constant. Cost: transmitter about 25 flip-flops, receiver 30.
//!
//! # Test plan
//!
//! `sim/cosim/tests/board_selftest.rs`: a model of the other side, at its own speed, reads and writes both lines.

use deltaline_hdl::leaves::Flop;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Transmitter {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub octet: Signal<In, Bits<8>>,
    pub send: Signal<In, Bit>,
    pub free: Signal<Out, Bit>,
    pub tx: Signal<Out, Bit>,

    divider: Constant<Bits<8>>,
    count: Flop<Bits<8>>,
    bits_left: Flop<Bits<4>>,
    shift: Flop<Bits<9>>,
    /// Inverted, so that reset leaves the line at rest.
    low: Flop<Bit>,
}

impl Transmitter {
    /// A transmitter whose bits take `cycles` cycles.
    pub fn new(cycles: u8) -> Self {
        Transmitter {
            divider: Constant::new(u64::from(cycles - 1).into()),
            clk: Default::default(),
            rst: Default::default(),
            octet: Default::default(),
            send: Default::default(),
            free: Default::default(),
            tx: Default::default(),
            count: Default::default(),
            bits_left: Default::default(),
            shift: Default::default(),
            low: Default::default(),
        }
    }
}

impl Logic for Transmitter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, count, bits_left, shift, low);
        self.count.rst.next = false;
        self.bits_left.rst.next = self.rst.val();
        self.shift.rst.next = false;
        self.low.rst.next = self.rst.val();

        if self.bits_left.q.val().any() {
            self.count.d.next = self.count.q.val() + 1;
            if self.count.q.val() == self.divider.val() {
                self.count.d.next = 0.into();
                self.bits_left.d.next = self.bits_left.q.val() - 1;
                self.low.d.next = !self.shift.q.val().get_bit(0);
                self.shift.d.next = (self.shift.q.val() >> 1) | 256;
            }
        } else if self.send.val() {
            self.count.d.next = 0.into();
            self.bits_left.d.next = 10.into();
            self.low.d.next = true;
            self.shift.d.next = bit_cast::<9, 8>(self.octet.val()) | 256;
        }
        self.free.next = !self.bits_left.q.val().any();
        self.tx.next = !self.low.q.val();
    }
}

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Receiver {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub rx: Signal<In, Bit>,
    pub octet: Signal<Out, Bits<8>>,
    pub valid: Signal<Out, Bit>,

    divider: Constant<Bits<8>>,
    middle: Constant<Bits<8>>,
    /// Inverted, so that reset leaves the line at rest.
    crossing: Flop<Bit>,
    crossed: Flop<Bit>,
    count: Flop<Bits<8>>,
    bits_left: Flop<Bits<4>>,
    shift: Flop<Bits<8>>,
    is_valid: Flop<Bit>,
    sampled: Signal<Local, Bits<8>>,
}

impl Receiver {
    /// A receiver whose bits take `cycles` cycles.
    pub fn new(cycles: u8) -> Self {
        Receiver {
            divider: Constant::new(u64::from(cycles - 1).into()),
            middle: Constant::new(u64::from(cycles / 2).into()),
            clk: Default::default(),
            rst: Default::default(),
            rx: Default::default(),
            octet: Default::default(),
            valid: Default::default(),
            crossing: Default::default(),
            crossed: Default::default(),
            count: Default::default(),
            bits_left: Default::default(),
            shift: Default::default(),
            is_valid: Default::default(),
            sampled: Default::default(),
        }
    }
}

impl Logic for Receiver {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, crossing, crossed, count, bits_left, shift, is_valid);
        self.crossing.rst.next = false;
        self.crossed.rst.next = false;
        self.count.rst.next = false;
        self.bits_left.rst.next = self.rst.val();
        self.shift.rst.next = false;
        self.is_valid.rst.next = false;

        self.crossing.d.next = !self.rx.val();
        self.crossed.d.next = self.crossing.q.val();
        self.is_valid.d.next = false;
        self.sampled.next = self.shift.q.val() >> 1;
        if !self.crossed.q.val() {
            self.sampled.next = (self.shift.q.val() >> 1) | 128;
        }
        if self.bits_left.q.val().any() {
            self.count.d.next = self.count.q.val() + 1;
            if self.count.q.val() == self.divider.val() {
                self.count.d.next = 0.into();
                self.bits_left.d.next = self.bits_left.q.val() - 1;
                // Ten bits: the start bit, which must last until its middle, the byte, the stop bit.
                if (self.bits_left.q.val() == 10) & !self.crossed.q.val() {
                    self.bits_left.d.next = 0.into();
                }
                if self.bits_left.q.val() == 1 {
                    self.is_valid.d.next = !self.crossed.q.val();
                } else {
                    self.shift.d.next = self.sampled.val();
                }
            }
        } else if self.crossed.q.val() {
            self.count.d.next = self.middle.val();
            self.bits_left.d.next = 10.into();
        }
        self.octet.next = self.shift.q.val();
        self.valid.next = self.is_valid.q.val();
    }
}
