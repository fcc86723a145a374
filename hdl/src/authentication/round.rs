//! Round: one round of the Ascon permutation.
//!
//! # Theory of operation
//!
//! NIST SP 800-232, section 3: a constant is added to the third word; the 64 columns of five bits each go through the
//! substitution, here by bitwise operations on whole words; each word is mixed with two rotations of itself. Combinational.
//!
//! ```text
//! x0..x4 -> constant -> keyed (linear) -> chi (x ^ !next & next but one) -> boxed (linear) -> x ^ x>>>a ^ x>>>b -> y0..y4
//! ```
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | number | in | 4 | of the round: 0..=11 of twelve, 4..=11 of the last eight |
//! | x0 .. x4 | in | 64 | the words of the state |
//! | y0 .. y4 | out | 64 | the same behind the round |
//!
//! No parameters. Cost: that of the [engine](crate::authentication::ascon), nearly all of it.
//!
//! # Test plan
//!
//! As part of the [engine](crate::authentication::ascon): a wrong bit anywhere makes every tag wrong.

use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Round {
    pub number: Signal<In, Bits<4>>,
    pub x0: Signal<In, Bits<64>>,
    pub x1: Signal<In, Bits<64>>,
    pub x2: Signal<In, Bits<64>>,
    pub x3: Signal<In, Bits<64>>,
    pub x4: Signal<In, Bits<64>>,
    pub y0: Signal<Out, Bits<64>>,
    pub y1: Signal<Out, Bits<64>>,
    pub y2: Signal<Out, Bits<64>>,
    pub y3: Signal<Out, Bits<64>>,
    pub y4: Signal<Out, Bits<64>>,
    /// 0xf0 for round 0, 0xe1 for round 1, ...
    constant: Signal<Local, Bits<64>>,
    inverse: Signal<Local, Bits<4>>,
    keyed: [Signal<Local, Bits<64>>; 5],
    chi: [Signal<Local, Bits<64>>; 5],
    boxed: [Signal<Local, Bits<64>>; 5],
}

impl Logic for Round {
    #[hdl_gen]
    fn update(&mut self) {
        self.inverse.next = self.number.val() ^ 0xf;
        self.constant.next =
            (bit_cast::<64, 4>(self.inverse.val()) << 4) | bit_cast::<64, 4>(self.number.val());
        self.keyed[0].next = self.x0.val() ^ self.x4.val();
        self.keyed[1].next = self.x1.val();
        self.keyed[2].next = (self.x2.val() ^ self.constant.val()) ^ self.x1.val();
        self.keyed[3].next = self.x3.val();
        self.keyed[4].next = self.x4.val() ^ self.x3.val();
        self.chi[0].next = self.keyed[0].val() ^ (!self.keyed[1].val() & self.keyed[2].val());
        self.chi[1].next = self.keyed[1].val() ^ (!self.keyed[2].val() & self.keyed[3].val());
        self.chi[2].next = self.keyed[2].val() ^ (!self.keyed[3].val() & self.keyed[4].val());
        self.chi[3].next = self.keyed[3].val() ^ (!self.keyed[4].val() & self.keyed[0].val());
        self.chi[4].next = self.keyed[4].val() ^ (!self.keyed[0].val() & self.keyed[1].val());
        self.boxed[0].next = self.chi[0].val() ^ self.chi[4].val();
        self.boxed[1].next = self.chi[1].val() ^ self.chi[0].val();
        self.boxed[2].next = !self.chi[2].val();
        self.boxed[3].next = self.chi[3].val() ^ self.chi[2].val();
        self.boxed[4].next = self.chi[4].val();
        self.y0.next = self.boxed[0].val()
            ^ ((self.boxed[0].val() >> 19) | (self.boxed[0].val() << 45))
            ^ ((self.boxed[0].val() >> 28) | (self.boxed[0].val() << 36));
        self.y1.next = self.boxed[1].val()
            ^ ((self.boxed[1].val() >> 61) | (self.boxed[1].val() << 3))
            ^ ((self.boxed[1].val() >> 39) | (self.boxed[1].val() << 25));
        self.y2.next = self.boxed[2].val()
            ^ ((self.boxed[2].val() >> 1) | (self.boxed[2].val() << 63))
            ^ ((self.boxed[2].val() >> 6) | (self.boxed[2].val() << 58));
        self.y3.next = self.boxed[3].val()
            ^ ((self.boxed[3].val() >> 10) | (self.boxed[3].val() << 54))
            ^ ((self.boxed[3].val() >> 17) | (self.boxed[3].val() << 47));
        self.y4.next = self.boxed[4].val()
            ^ ((self.boxed[4].val() >> 7) | (self.boxed[4].val() << 57))
            ^ ((self.boxed[4].val() >> 41) | (self.boxed[4].val() << 23));
    }
}
