//! Mixing: a secret map of 32 bits in front of the place's rounds, which may change from interval to interval.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::sketch::mixing`, which says what it is worth. Each bit is the parity of the value under a
//! stretch of the secret, and of one bit more:
//!
//! ```text
//! value ──┬── & mixing[31+0:0]  ── ^ ── ^ mixing[63] ── mixed[0]
//!         ├── & mixing[31+1:1]  ── ^ ── ^ mixing[64] ── mixed[1]
//!         └── ...
//! ```
//!
//! A parity of 33 products is three LUTs of four inputs deep, and takes a cycle.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | value | in | 32 | a value |
//! | mixing | in | 95 | the matrix in bits 62:0, the offset in bits 94:63 |
//! | mixed | out | 32 | what the value of the cycle before became |
//!
//! Latency one cycle, a value a cycle. No parameters. Where place has no mixing nothing of it is left.
//!
//! Cost of a mixing in the 64-bit core `10g`, yosys, before placement, each module alone; not routed yet:
//!
//! | module | iCE40: more LUT4 | flip-flops | ECP5: more LUT4 | flip-flops |
//! |--------|------------------|------------|-----------------|------------|
//! | place, in each lane (3,003 for 2,333; 3,032 for 2,436) | 670 | 0 | 596 | 0 |
//! | [mixings](crate::interval::mixings) | 198 | 161 | 298 | 161 |
//!
//! # Test plan
//!
//! As part of [place](crate::sketch::place).

use crate::leaves::Flop;
use crate::module::module;
use deltaline_hdl_macros::clocked;
use deltaline_model::sketch::mixing::MATRIX_BITS;
use rust_hdl_core::prelude::*;

/// Bits of a mixing.
pub const MIXING: usize = MATRIX_BITS as usize + 32;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Mix {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub value: Signal<In, Bits<32>>,
    pub mixing: Signal<In, Bits<MIXING>>,
    pub mixed: Signal<Out, Bits<32>>,

    highest: Constant<Bits<32>>,
    product: Signal<Local, Bits<32>>,
    sum: Signal<Local, Bits<32>>,
    now: Flop<Bits<32>>,
}

impl Default for Mix {
    fn default() -> Self {
        module! { Mix { highest: Constant::new(0x8000_0000_u64.into()) }
            clk rst value mixing mixed product sum now
        }
    }
}

impl Logic for Mix {
    #[clocked(now)]
    fn update(&mut self) {
        self.sum.next = 0.into();
        for i in 0..32 {
            self.product.next = self.mixing.val().get_bits::<32>(i) & self.value.val();
            self.sum.next = self.sum.val() >> 1;
            if self.product.val().xor() {
                self.sum.next = self.sum.val() | self.highest.val();
            }
        }
        self.now.d.next = self.sum.val() ^ self.mixing.val().get_bits::<32>(63);
        self.mixed.next = self.now.q.val();
    }
}
