//! Rounds: what makes bits of the linear hash not linear over GF(2), in adders of 16 bits.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::sketch::rounds`. A round is an addition, rotations and exclusive ors of two halves of 16 bits:
//!
//! ```text
//! x ── >>> 7 ── + ── ^ constant ──┬── x_after
//!               │                 │
//! y ──┬─────────┘                 │
//!     └─────── <<< 2 ──────────── ^ ── y_after
//! ```
//!
//! One round a cycle, so that no path has more than one adder. In [digest](crate::sketch::digest) and
//! [place](crate::sketch::place) of the wide cores every round is a stage; the [byte core](crate::byte::hash) has time to use one round again and again.
//!
//! # Ports of `Round`
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | x, y | in | 16 | the halves |
//! | constant | in | 16 | the round's constant |
//! | x_after, y_after | out | 16 | the halves behind the round, a cycle later |
//!
//! Latency one cycle, a value a cycle. No parameters. Cost before placement: iCE40 48 LUT4, 32 flip-flops.
//!
//! # Ports of `Rounds`
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | value | in | 32 | a value: x above y |
//! | mixed | out | 32 | what N rounds make of it, N cycles later |
//!
//! Latency N cycles, a value a cycle. Parameter: N, rounds; their constants become constants.
//!
//! # Ports of `MixedHash`
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | key | in | 544 | a key, word i in bits 32i+31:32i |
//! | value | out | 32 | 32 bits of its hash behind N rounds, N + 2 cycles later: x above y |
//!
//! Latency N + 2 cycles, one key a cycle. Parameter: N, rounds; the hash, its 32 bits and the rounds' constants become constants.
//!
//! # Test plan
//!
//! `sim/cosim`, as digest, as place and as part of [flow vector](crate::sketch::flow_vector): every key bit alone, and random keys. Planted faults: an addition, a rotation, a constant, a
//! round left out, the wrong hash bits.

use crate::leaves::{Flop, HashMatrix};
use crate::module::module;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// One round; see the [module](self).
#[derive(LogicBlock, Default)]
pub struct Round {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub x: Signal<In, Bits<16>>,
    pub y: Signal<In, Bits<16>>,
    pub constant: Signal<In, Bits<16>>,
    pub x_after: Signal<Out, Bits<16>>,
    pub y_after: Signal<Out, Bits<16>>,

    x_turned: Signal<Local, Bits<16>>,
    y_turned: Signal<Local, Bits<16>>,
    total: Signal<Local, Bits<16>>,
    mixed: Signal<Local, Bits<16>>,
    x_now: Flop<Bits<16>>,
    y_now: Flop<Bits<16>>,
}

impl Logic for Round {
    #[clocked(x_now, y_now)]
    fn update(&mut self) {
        self.x_turned.next = (bit_cast::<16, 7>(self.x.val().get_bits::<7>(0)) << 9)
            | bit_cast::<16, 9>(self.x.val().get_bits::<9>(7));
        self.y_turned.next = (bit_cast::<16, 14>(self.y.val().get_bits::<14>(0)) << 2)
            | bit_cast::<16, 2>(self.y.val().get_bits::<2>(14));
        self.total.next = self.x_turned.val() + self.y.val();
        self.mixed.next = self.total.val() ^ self.constant.val();
        self.x_now.d.next = self.mixed.val();
        self.y_now.d.next = self.y_turned.val() ^ self.mixed.val();
        self.x_after.next = self.x_now.q.val();
        self.y_after.next = self.y_now.q.val();
    }
}

/// N rounds; see the [module](self).
#[derive(LogicBlock)]
pub struct Rounds<const N: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub value: Signal<In, Bits<32>>,
    pub mixed: Signal<Out, Bits<32>>,

    round: [Round; N],
    constant: [Constant<Bits<16>>; N],
    x: Signal<Local, Bits<16>>,
    y: Signal<Local, Bits<16>>,
}

impl<const N: usize> Rounds<N> {
    /// Rounds with these constants, that of the first round first.
    pub(crate) fn new(constants: &[u16; N]) -> Self {
        module! { Rounds {
            constant: constants.map(|constant| Constant::new(u64::from(constant).into())),
        }
            clk rst value mixed x y; each round
        }
    }
}

impl<const N: usize> Logic for Rounds<N> {
    #[hdl_gen]
    fn update(&mut self) {
        self.x.next = self.value.val().get_bits::<16>(16);
        self.y.next = self.value.val().get_bits::<16>(0);
        for i in 0..N {
            self.round[i].clk.next = self.clk.val();
            self.round[i].rst.next = self.rst.val();
            self.round[i].x.next = self.x.val();
            self.round[i].y.next = self.y.val();
            self.round[i].constant.next = self.constant[i].val();
            self.x.next = self.round[i].x_after.val();
            self.y.next = self.round[i].y_after.val();
        }
        self.mixed.next = bit_cast::<32, 16>(self.y.val()) | (bit_cast::<32, 16>(self.x.val()) << 16);
    }
}

/// 32 bits of the hash behind N rounds; see the [module](self).
#[derive(LogicBlock)]
pub struct MixedHash<const N: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub key: Signal<In, Bits<544>>,
    pub value: Signal<Out, Bits<32>>,

    matrix: HashMatrix,
    round: [Round; N],
    constant: [Constant<Bits<16>>; N],
    x: Signal<Local, Bits<16>>,
    y: Signal<Local, Bits<16>>,
}

impl<const N: usize> MixedHash<N> {
    /// What the matrix gives, behind rounds with these constants, that of the first round first.
    pub(crate) fn new(matrix: HashMatrix, constants: &[u16; N]) -> Self {
        module! { MixedHash {
            matrix: matrix,
            constant: constants.map(|constant| Constant::new(u64::from(constant).into())),
        }
            clk rst key value x y; each round
        }
    }
}

impl<const N: usize> Logic for MixedHash<N> {
    #[hdl_gen]
    fn update(&mut self) {
        self.matrix.clk.next = self.clk.val();
        self.matrix.key.next = self.key.val();
        self.x.next = self.matrix.bits.val().get_bits::<16>(16);
        self.y.next = self.matrix.bits.val().get_bits::<16>(0);
        for i in 0..N {
            self.round[i].clk.next = self.clk.val();
            self.round[i].rst.next = self.rst.val();
            self.round[i].x.next = self.x.val();
            self.round[i].y.next = self.y.val();
            self.round[i].constant.next = self.constant[i].val();
            self.x.next = self.round[i].x_after.val();
            self.y.next = self.round[i].y_after.val();
        }
        self.value.next = bit_cast::<32, 16>(self.y.val()) | (bit_cast::<32, 16>(self.x.val()) << 16);
    }
}
