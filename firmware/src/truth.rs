//! Truth: what really happened to an interval's packets.
//!
//! # Theory of operation
//!
//! Counts packets at the sender, the lost ones among them, and packets at the receiver. Adds up the receiver's
//! delays and their squares. A delay is the clock at a packet's first byte at the receiver, less the clock at its
//! first byte at the sender. The cores take their timestamps at the same moments. The square is multiplied bit by
//! bit, and both sums are updated in words of 16 bits. That takes 23 of the at least 84 cycles between two packets.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | clear | in | 1 | an interval begins |
//! | send | in | 1 | a packet starts at the sender |
//! | lost | in | 1 | with send: it is lost |
//! | held | in | 1 | a packet begins to wait for room in the line |
//! | receive | in | 1 | a packet starts at the receiver |
//! | now | in | 18 | clock in cycles |
//! | sent_at | in | 18 | with receive: when it started at the sender |
//! | sent, losses, received, holds | out | 32 | counts |
//! | least, greatest | out | 17 | delays |
//! | sum | out | 48 | of all delays |
//! | squares | out | 64 | sum of their squares |
//!
//! Latency 25 cycles. No parameters. Cost: about 380 flip-flops, 330 LUTs.
//!
//! # Test plan
//!
//! `sim/cosim/tests/board_selftest.rs`: every truth record against the twin.

use deltaline_hdl::leaves::Flop;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Truth {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub clear: Signal<In, Bit>,
    pub send: Signal<In, Bit>,
    pub lost: Signal<In, Bit>,
    pub held: Signal<In, Bit>,
    pub receive: Signal<In, Bit>,
    pub now: Signal<In, Bits<18>>,
    pub sent_at: Signal<In, Bits<18>>,
    pub sent: Signal<Out, Bits<32>>,
    pub losses: Signal<Out, Bits<32>>,
    pub received: Signal<Out, Bits<32>>,
    pub holds: Signal<Out, Bits<32>>,
    pub least: Signal<Out, Bits<17>>,
    pub greatest: Signal<Out, Bits<17>>,
    pub sum: Signal<Out, Bits<48>>,
    pub squares: Signal<Out, Bits<64>>,

    sent_count: Flop<Bits<32>>,
    loss_count: Flop<Bits<32>>,
    received_count: Flop<Bits<32>>,
    hold_count: Flop<Bits<32>>,
    /// Inverted, so that reset makes it the greatest.
    not_least: Flop<Bits<17>>,
    most: Flop<Bits<17>>,
    sum_words: Flop<Bits<48>>,
    square_words: Flop<Bits<64>>,

    /// 0 at rest; 1..=17 multiply; 18..=21 add; then back to 0.
    phase: Flop<Bits<5>>,
    delay: Flop<Bits<17>>,
    factor: Flop<Bits<17>>,
    upper: Flop<Bits<17>>,
    lower: Flop<Bits<17>>,
    addend: Flop<Bits<48>>,
    sum_carry: Flop<Bit>,
    square_carry: Flop<Bit>,

    elapsed: Signal<Local, Bits<18>>,
    partial: Signal<Local, Bits<18>>,
    square_word: Signal<Local, Bits<16>>,
    sum_total: Signal<Local, Bits<17>>,
    square_total: Signal<Local, Bits<17>>,
    carry_bits: Signal<Local, Bits<2>>,
    adds: Signal<Local, Bit>,
    least_now: Signal<Local, Bits<17>>,
}

impl Logic for Truth {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            sent_count,
            loss_count,
            received_count,
            hold_count,
            not_least,
            most,
            sum_words,
            square_words,
            phase,
            delay,
            factor,
            upper,
            lower,
            addend,
            sum_carry,
            square_carry
        );
        self.sent_count.rst.next = self.rst.val();
        self.loss_count.rst.next = self.rst.val();
        self.received_count.rst.next = self.rst.val();
        self.hold_count.rst.next = self.rst.val();
        self.not_least.rst.next = self.rst.val();
        self.most.rst.next = self.rst.val();
        self.sum_words.rst.next = self.rst.val();
        self.square_words.rst.next = self.rst.val();
        self.phase.rst.next = self.rst.val();
        // Written before they are read.
        self.delay.rst.next = false;
        self.factor.rst.next = false;
        self.upper.rst.next = false;
        self.lower.rst.next = false;
        self.addend.rst.next = false;
        self.sum_carry.rst.next = false;
        self.square_carry.rst.next = false;

        if self.send.val() {
            self.sent_count.d.next = self.sent_count.q.val() + 1;
        }
        if self.send.val() & self.lost.val() {
            self.loss_count.d.next = self.loss_count.q.val() + 1;
        }
        if self.held.val() {
            self.hold_count.d.next = self.hold_count.q.val() + 1;
        }
        self.elapsed.next = self.now.val() - self.sent_at.val();
        if self.receive.val() {
            self.received_count.d.next = self.received_count.q.val() + 1;
            self.delay.d.next = self.elapsed.val().get_bits::<17>(0);
        }

        if self.phase.q.val().any() {
            self.phase.d.next = self.phase.q.val() + 1;
        }
        self.partial.next = bit_cast::<18, 17>(self.upper.q.val());
        if self.factor.q.val().get_bit(0) {
            self.partial.next =
                bit_cast::<18, 17>(self.upper.q.val()) + bit_cast::<18, 17>(self.delay.q.val());
        }
        // The product shifts right, from the upper half into the lower.
        self.factor.d.next = self.factor.q.val() >> 1;
        self.upper.d.next = self.partial.val().get_bits::<17>(1);
        self.lower.d.next =
            (self.lower.q.val() >> 1) | (bit_cast::<17, 1>(self.partial.val().get_bits::<1>(0)) << 16);
        self.least_now.next = !self.not_least.q.val();
        if self.phase.q.val() == 1 {
            if self.delay.q.val() < self.least_now.val() {
                self.not_least.d.next = !self.delay.q.val();
            }
            if self.delay.q.val() > self.most.q.val() {
                self.most.d.next = self.delay.q.val();
            }
            self.addend.d.next = bit_cast::<48, 17>(self.delay.q.val());
            self.sum_carry.d.next = false;
            self.square_carry.d.next = false;
        }
        if self.receive.val() {
            self.phase.d.next = 1.into();
            self.upper.d.next = 0.into();
            self.factor.d.next = self.elapsed.val().get_bits::<17>(0);
        }

        // The square's lowest 16 bits; the sum has one word less than the squares.
        self.square_word.next = self.lower.q.val().get_bits::<16>(0);
        if self.phase.q.val() == 21 {
            self.phase.d.next = 0.into();
        }
        self.carry_bits.next = 0.into();
        if self.sum_carry.q.val() {
            self.carry_bits.next = self.carry_bits.val() | 1;
        }
        if self.square_carry.q.val() {
            self.carry_bits.next = self.carry_bits.val() | 2;
        }
        self.sum_total.next = bit_cast::<17, 16>(self.sum_words.q.val().get_bits::<16>(0))
            + bit_cast::<17, 16>(self.addend.q.val().get_bits::<16>(0))
            + bit_cast::<17, 1>(self.carry_bits.val().get_bits::<1>(0));
        self.square_total.next = bit_cast::<17, 16>(self.square_words.q.val().get_bits::<16>(0))
            + bit_cast::<17, 16>(self.square_word.val())
            + bit_cast::<17, 1>(self.carry_bits.val().get_bits::<1>(1));
        // States 18..=21.
        self.adds.next =
            self.phase.q.val().get_bit(4) & (self.phase.q.val().get_bit(1) | self.phase.q.val().get_bit(2));
        if self.adds.val() {
            self.factor.d.next = 0.into();
            self.upper.d.next = self.upper.q.val() >> 16;
            self.lower.d.next =
                (self.lower.q.val() >> 16) | (bit_cast::<17, 16>(self.upper.q.val().get_bits::<16>(0)) << 1);
            self.square_carry.d.next = self.square_total.val().get_bit(16);
            self.square_words.d.next = (self.square_words.q.val() >> 16)
                | (bit_cast::<64, 16>(self.square_total.val().get_bits::<16>(0)) << 48);
            if self.phase.q.val() != 21 {
                self.addend.d.next = self.addend.q.val() >> 16;
                self.sum_carry.d.next = self.sum_total.val().get_bit(16);
                self.sum_words.d.next = (self.sum_words.q.val() >> 16)
                    | (bit_cast::<48, 16>(self.sum_total.val().get_bits::<16>(0)) << 32);
            }
        }
        if self.clear.val() {
            self.sent_count.d.next = 0.into();
            self.loss_count.d.next = 0.into();
            self.received_count.d.next = 0.into();
            self.hold_count.d.next = 0.into();
            self.not_least.d.next = 0.into();
            self.most.d.next = 0.into();
            self.sum_words.d.next = 0.into();
            self.square_words.d.next = 0.into();
        }

        self.sent.next = self.sent_count.q.val();
        self.losses.next = self.loss_count.q.val();
        self.received.next = self.received_count.q.val();
        self.holds.next = self.hold_count.q.val();
        self.least.next = self.least_now.val();
        self.greatest.next = self.most.q.val();
        self.sum.next = self.sum_words.q.val();
        self.squares.next = self.square_words.q.val();
    }
}
