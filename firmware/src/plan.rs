//! Plan: the properties of the next packet, drawn from a seeded generator of random numbers.
//!
//! # Theory of operation
//!
//! A xorshift generator of 32 bits (Marsaglia 2003: 13, 17, 5) steps three times a packet:
//!
//! | word | bits | use |
//! |------|------|-----|
//! | 1 | 15:0 | length, when uniform: 60 + (bits × 1455 >> 16), multiplied bit by bit |
//! | 1 | 30:16 | random part of the gap |
//! | 1 | 31 | short or long, when bimodal |
//! | 2 | 14:0 | random part of the delay |
//! | 2 | 31:16 | lost, if less than the loss |
//! | 3 | 15:0 | a burst starts, if less than the bursts |
//! | 3 | 31:0 | written into the packet |
//!
//! The sender and the delay line each have a plan with the same seed. The receiver's packets are generated again,
//! so none need be stored. Twin of `deltaline_model::board::traffic::Plan`.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | load | in | 1 | take the seed and draw the first packet |
//! | advance | in | 1 | draw the next packet |
//! | seed | in | 32 | seed |
//! | sizes | in | 2 | `deltaline_model::board::Sizes` |
//! | gap | in | 16 | fixed part of the gap |
//! | gap_mask, jitter_mask | in | 15 | bits of the random parts that count |
//! | burst | in | 8 | packets of a burst |
//! | loss, bursts | in | 16 | thresholds |
//! | known | out | 1 | lost and jitter are those of the packet |
//! | ready | out | 1 | so are all other outputs |
//! | before_last | out | 11 | number of the last byte but one; bytes count from 0 |
//! | total_length, datagram_length | out | 11 | IPv4's and UDP's length fields |
//! | checksum | out | 16 | IPv4's header checksum |
//! | number | out | 32 | of the packet, from 0 |
//! | word | out | 32 | random |
//! | gap_now | out | 17 | the gap before the packet |
//! | jitter | out | 15 | random part of its delay |
//! | lost | out | 1 | it is lost |
//!
//! Latency: known 6 cycles after load or advance, ready 24. No parameters. Cost: about 250 flip-flops, 330 LUTs.
//!
//! # Test plan
//!
//! `sim/cosim/tests/board_selftest.rs`: every packet of every pattern, through the cores' hashes, against the twin; the twin's own
//! tests check the distributions and the checksum.

use deltaline_hdl::leaves::Flop;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Plan {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub load: Signal<In, Bit>,
    pub advance: Signal<In, Bit>,
    pub seed: Signal<In, Bits<32>>,
    pub sizes: Signal<In, Bits<2>>,
    pub gap: Signal<In, Bits<16>>,
    pub gap_mask: Signal<In, Bits<15>>,
    pub jitter_mask: Signal<In, Bits<15>>,
    pub burst: Signal<In, Bits<8>>,
    pub loss: Signal<In, Bits<16>>,
    pub bursts: Signal<In, Bits<16>>,
    pub known: Signal<Out, Bit>,
    pub ready: Signal<Out, Bit>,
    pub before_last: Signal<Out, Bits<11>>,
    pub total_length: Signal<Out, Bits<11>>,
    pub datagram_length: Signal<Out, Bits<11>>,
    pub checksum: Signal<Out, Bits<16>>,
    pub number: Signal<Out, Bits<32>>,
    pub word: Signal<Out, Bits<32>>,
    pub gap_now: Signal<Out, Bits<17>>,
    pub jitter: Signal<Out, Bits<15>>,
    pub lost: Signal<Out, Bit>,

    /// 0 at rest, else the cycle after load or advance.
    phase: Flop<Bits<5>>,
    is_known: Flop<Bit>,
    is_ready: Flop<Bit>,
    state: Flop<Bits<32>>,
    counter: Flop<Bits<32>>,
    burst_left: Flop<Bits<8>>,
    factor: Flop<Bits<16>>,
    product: Flop<Bits<11>>,
    is_long: Flop<Bit>,
    gap_sum: Flop<Bits<17>>,
    wait_bits: Flop<Bits<15>>,
    is_alone: Flop<Bit>,
    starts_burst: Flop<Bit>,
    is_lost: Flop<Bit>,
    end_mark: Flop<Bits<11>>,
    total: Flop<Bits<11>>,
    datagram: Flop<Bits<11>>,
    base_sum: Flop<Bits<16>>,
    full_sum: Flop<Bits<17>>,
    check: Flop<Bits<16>>,

    first_shift: Signal<Local, Bits<32>>,
    second_shift: Signal<Local, Bits<32>>,
    third_shift: Signal<Local, Bits<32>>,
    low_half: Signal<Local, Bits<16>>,
    high_half: Signal<Local, Bits<16>>,
    gap_bits: Signal<Local, Bits<15>>,
    step_sum: Signal<Local, Bits<12>>,
    folded: Signal<Local, Bits<16>>,
}

impl Logic for Plan {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            phase,
            is_known,
            is_ready,
            state,
            counter,
            burst_left,
            factor,
            product,
            is_long,
            gap_sum,
            wait_bits,
            is_alone,
            starts_burst,
            is_lost,
            end_mark,
            total,
            datagram,
            base_sum,
            full_sum,
            check
        );
        self.phase.rst.next = self.rst.val();
        self.is_known.rst.next = self.rst.val();
        self.is_ready.rst.next = self.rst.val();
        // Written before they are read.
        self.state.rst.next = false;
        self.counter.rst.next = false;
        self.burst_left.rst.next = false;
        self.factor.rst.next = false;
        self.product.rst.next = false;
        self.is_long.rst.next = false;
        self.gap_sum.rst.next = false;
        self.wait_bits.rst.next = false;
        self.is_alone.rst.next = false;
        self.starts_burst.rst.next = false;
        self.is_lost.rst.next = false;
        self.end_mark.rst.next = false;
        self.total.rst.next = false;
        self.datagram.rst.next = false;
        self.base_sum.rst.next = false;
        self.full_sum.rst.next = false;
        self.check.rst.next = false;

        self.first_shift.next = self.state.q.val() ^ (self.state.q.val() << 13);
        self.second_shift.next = self.first_shift.val() ^ (self.first_shift.val() >> 17);
        self.third_shift.next = self.second_shift.val() ^ (self.second_shift.val() << 5);
        self.low_half.next = self.state.q.val().get_bits::<16>(0);
        self.high_half.next = self.state.q.val().get_bits::<16>(16);
        self.gap_bits.next = self.state.q.val().get_bits::<15>(16) & self.gap_mask.val();

        if self.phase.q.val().any() {
            self.phase.d.next = self.phase.q.val() + 1;
        }
        if (self.phase.q.val() == 1) | (self.phase.q.val() == 2) | (self.phase.q.val() == 3) {
            self.state.d.next = self.third_shift.val();
        }

        // The product, least significant bit of the factor first: the bits shifted out at the bottom are its
        // fraction.
        self.step_sum.next = bit_cast::<12, 11>(self.product.q.val());
        if self.factor.q.val().get_bit(0) {
            self.step_sum.next = bit_cast::<12, 11>(self.product.q.val()) + 1455;
        }
        self.product.d.next = self.step_sum.val().get_bits::<11>(1);
        self.factor.d.next = self.factor.q.val() >> 1;
        if self.phase.q.val() == 2 {
            self.product.d.next = 0.into();
            self.factor.d.next = self.low_half.val();
            self.is_long.d.next = self.state.q.val().get_bit(31);
            self.gap_sum.d.next =
                bit_cast::<17, 16>(self.gap.val()) + bit_cast::<17, 15>(self.gap_bits.val());
        }
        if self.phase.q.val() == 3 {
            self.wait_bits.d.next = self.state.q.val().get_bits::<15>(0) & self.jitter_mask.val();
            self.is_alone.d.next = self.high_half.val() < self.loss.val();
        }
        if self.phase.q.val() == 4 {
            self.starts_burst.d.next = (self.low_half.val() < self.bursts.val()) & self.burst.val().any();
        }
        if self.phase.q.val() == 5 {
            self.is_known.d.next = true;
            self.is_lost.d.next = self.is_alone.q.val();
            if self.starts_burst.q.val() {
                self.is_lost.d.next = true;
                self.burst_left.d.next = self.burst.val() - 1;
            }
            if self.burst_left.q.val().any() {
                self.is_lost.d.next = true;
                self.burst_left.d.next = self.burst_left.q.val() - 1;
            }
        }
        if self.phase.q.val() == 19 {
            self.end_mark.d.next = 58.into();
            match self.sizes.val().index() {
                1 => {
                    self.end_mark.d.next = self.product.q.val() + 58;
                }
                3 => {
                    self.end_mark.d.next = 1512.into();
                }
                _ => {}
            }
            if (self.sizes.val() == 2) & self.is_long.q.val() {
                self.end_mark.d.next = 1494.into();
            }
        }
        // 0x7148 is the sum of the header's constant words, without the length: before_last - 12.
        if self.phase.q.val() == 20 {
            self.total.d.next = self.end_mark.q.val() - 12;
            self.datagram.d.next = self.end_mark.q.val() - 32;
            self.base_sum.d.next = bit_cast::<16, 11>(self.end_mark.q.val()) + 28988;
        }
        if self.phase.q.val() == 21 {
            self.full_sum.d.next = bit_cast::<17, 16>(self.base_sum.q.val())
                + bit_cast::<17, 16>(self.counter.q.val().get_bits::<16>(0));
        }
        self.folded.next = self.full_sum.q.val().get_bits::<16>(0)
            + bit_cast::<16, 1>(self.full_sum.q.val().get_bits::<1>(16));
        if self.phase.q.val() == 22 {
            self.check.d.next = !self.folded.val();
        }
        if self.phase.q.val() == 23 {
            self.phase.d.next = 0.into();
            self.is_ready.d.next = true;
        }

        if self.load.val() | self.advance.val() {
            self.phase.d.next = 1.into();
            self.is_known.d.next = false;
            self.is_ready.d.next = false;
            self.counter.d.next = self.counter.q.val() + 1;
        }
        if self.load.val() {
            self.state.d.next = self.seed.val() | 1;
            self.counter.d.next = 0.into();
            self.burst_left.d.next = 0.into();
        }

        self.known.next = self.is_known.q.val();
        self.ready.next = self.is_ready.q.val();
        self.before_last.next = self.end_mark.q.val();
        self.total_length.next = self.total.q.val();
        self.datagram_length.next = self.datagram.q.val();
        self.checksum.next = self.check.q.val();
        self.number.next = self.counter.q.val();
        self.word.next = self.state.q.val();
        self.gap_now.next = self.gap_sum.q.val();
        self.jitter.next = self.wait_bits.q.val();
        self.lost.next = self.is_lost.q.val();
    }
}
