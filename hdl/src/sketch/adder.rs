//! Adders of cells: what an update does to the words of a [cell memory](crate::sketch::cell_memory).
//!
//! # Theory of operation
//!
//! Both are combinational and cut into segments, so that no carry chain is longer than 20 bits. [`PartAdder`] adds one of
//! the two parts of count and timestamp sum: of 16 and of 20 bits, with carries in and out. [`HalvesAdder`] adds a
//! field of 32 bits, such as a digest, as two halves modulo 2^16 without a carry in between: such a sum is linear as
//! well, and equal sums say as much about equal packets.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | augend | in | 36, 32 | the word before: of a part the count in bits 35:20, the sum below |
//! | addend | in | 20, 32 | what is added: to a part's sum, or to the field |
//! | sum_carry_in, count_carry_in | in | 1 | of a part: carries in; what counts is a carry into the lower count |
//! | total | out | 36, 32 | the word behind |
//! | sum_carry, count_carry | out | 1 | of a part: carries out |
//!
//! No parameters. Cost: an adder a segment.
//!
//! # Test plan
//!
//! `sim/cosim`: as part of the lda; all carries.

use rust_hdl_core::prelude::*;

/// See the [module](self): a part of count and timestamp sum.
#[derive(LogicBlock, Default)]
pub struct PartAdder {
    pub augend: Signal<In, Bits<36>>,
    pub addend: Signal<In, Bits<20>>,
    pub sum_carry_in: Signal<In, Bit>,
    pub count_carry_in: Signal<In, Bit>,
    pub total: Signal<Out, Bits<36>>,
    pub sum_carry: Signal<Out, Bit>,
    pub count_carry: Signal<Out, Bit>,

    // One bit longer at each end: the carry in enters below, the carry out leaves above.
    sum_left: Signal<Local, Bits<22>>,
    sum_right: Signal<Local, Bits<22>>,
    sum_total: Signal<Local, Bits<22>>,
    count_left: Signal<Local, Bits<18>>,
    count_right: Signal<Local, Bits<18>>,
    count_total: Signal<Local, Bits<18>>,
}

impl Logic for PartAdder {
    #[hdl_gen]
    fn update(&mut self) {
        self.sum_left.next = (bit_cast::<22, 20>(self.augend.val().get_bits::<20>(0)) << 1) | 1;
        self.sum_right.next = bit_cast::<22, 20>(self.addend.val()) << 1;
        if self.sum_carry_in.val() {
            self.sum_right.next = self.sum_right.val() | 1;
        }
        self.sum_total.next = self.sum_left.val() + self.sum_right.val();
        self.count_left.next = (bit_cast::<18, 16>(self.augend.val().get_bits::<16>(20)) << 1) | 1;
        self.count_right.next = 0.into();
        if self.count_carry_in.val() {
            self.count_right.next = 1.into();
        }
        self.count_total.next = self.count_left.val() + self.count_right.val();
        self.total.next = bit_cast::<36, 20>(self.sum_total.val().get_bits::<20>(1))
            | (bit_cast::<36, 16>(self.count_total.val().get_bits::<16>(1)) << 20);
        self.sum_carry.next = self.sum_total.val().get_bit(21);
        self.count_carry.next = self.count_total.val().get_bit(17);
    }
}

/// See the [module](self): a field of two halves.
#[derive(LogicBlock, Default)]
pub struct HalvesAdder {
    pub augend: Signal<In, Bits<32>>,
    pub addend: Signal<In, Bits<32>>,
    pub total: Signal<Out, Bits<32>>,

    low: Signal<Local, Bits<16>>,
    high: Signal<Local, Bits<16>>,
}

impl Logic for HalvesAdder {
    #[hdl_gen]
    fn update(&mut self) {
        self.low.next = self.augend.val().get_bits::<16>(0) + self.addend.val().get_bits::<16>(0);
        self.high.next = self.augend.val().get_bits::<16>(16) + self.addend.val().get_bits::<16>(16);
        self.total.next = bit_cast::<32, 16>(self.low.val()) | (bit_cast::<32, 16>(self.high.val()) << 16);
    }
}
