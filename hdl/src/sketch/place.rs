//! Place: 32 bits that pick a packet's bank and row, free of patterns in its key.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::sketch::place`, which says why: the hash's bits 63:48 and 15:0 go through four
//! [rounds](crate::sketch::rounds). The leading zeros of the upper half pick the bank, in the
//! [sampler](crate::sketch::sampler), the low bits of the lower half the row.
//!
//! ```text
//! key -> hash -> hash -> round -> round -> round -> round -> place
//!  0       1       2       3        4        5        6
//! ```
//!
//! In a configuration with a mixing, [that](crate::sketch::mixing) takes the place of the first round.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | key | in | 544 | a key, word i in bits 32i+31:32i |
//! | mixing | in | 95 | three cycles behind the key: the matrix in bits 62:0, the offset in bits 94:63; looked at if there is one |
//! | value | out | 32 | the place of the key, six cycles later: x above y |
//!
//! Latency six cycles, one key a cycle. Parameters: none; the configuration's hash and its seed become constants. Of the
//! last round, synthesis removes what no bank and no row depends on.
//!
//! # Test plan
//!
//! `sim/cosim`: every key bit alone, random keys, keys that count in one field; H3 and Rabin; planted faults.

use crate::leaves::HashMatrix;
use crate::module::module;
use crate::sketch::mixing::{MIXING, Mix};
use crate::sketch::rounds::Round;
use deltaline_model::configuration::Configuration;
use deltaline_model::sketch::place::{Placement, ROUNDS};
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Place {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub key: Signal<In, Bits<544>>,
    pub mixing: Signal<In, Bits<MIXING>>,
    pub value: Signal<Out, Bits<32>>,

    /// One if there is a mixing.
    has_mixing: Constant<Bits<1>>,
    matrix: HashMatrix,
    mix: Mix,
    round: [Round; ROUNDS],
    constant: [Constant<Bits<16>>; ROUNDS],
    x: Signal<Local, Bits<16>>,
    y: Signal<Local, Bits<16>>,
}

impl Place {
    /// The place of a configuration.
    pub fn new(configuration: &Configuration) -> Self {
        let constants = *Placement::new(configuration.seed()).constants();
        module! { Place {
            has_mixing: Constant::new(u64::from(configuration.has_mixing()).into()),
            matrix: outer_bits(configuration),
            constant: constants.map(|constant| Constant::new(u64::from(constant).into())),
        }
            clk rst key mixing value mix x y; each round
        }
    }
}

impl Logic for Place {
    #[hdl_gen]
    fn update(&mut self) {
        self.matrix.clk.next = self.clk.val();
        self.matrix.key.next = self.key.val();
        self.mix.clk.next = self.clk.val();
        self.mix.rst.next = self.rst.val();
        self.mix.value.next = self.matrix.bits.val();
        self.mix.mixing.next = self.mixing.val();
        for i in 0..4 {
            self.round[i].clk.next = self.clk.val();
            self.round[i].rst.next = self.rst.val();
            self.round[i].constant.next = self.constant[i].val();
        }
        self.round[0].x.next = self.matrix.bits.val().get_bits::<16>(16);
        self.round[0].y.next = self.matrix.bits.val().get_bits::<16>(0);
        self.x.next = self.round[0].x_after.val();
        self.y.next = self.round[0].y_after.val();
        if self.has_mixing.val().any() {
            self.x.next = self.mix.mixed.val().get_bits::<16>(16);
            self.y.next = self.mix.mixed.val().get_bits::<16>(0);
        }
        for i in 1..4 {
            self.round[i].x.next = self.x.val();
            self.round[i].y.next = self.y.val();
            self.x.next = self.round[i].x_after.val();
            self.y.next = self.round[i].y_after.val();
        }
        self.value.next = bit_cast::<32, 16>(self.y.val()) | (bit_cast::<32, 16>(self.x.val()) << 16);
    }
}

/// The hash bits that a place is made of: 63:48 above 15:0.
pub fn outer_bits(configuration: &Configuration) -> HashMatrix {
    HashMatrix::new(configuration, (0..16).chain(48..64))
}
