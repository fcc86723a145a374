//! Sampler: which counter memory word a packet's place names, if any.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::sketch::sampler`. A bank claims a packet whose [place](crate::sketch::place) starts with the bank's prefix of zeros;
//! the last bank that claims it gets it. The word's address is the bank number followed by the row. The prefixes are
//! the configuration's or, if they adapt, those of [`crate::interval::schedule`].
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | valid | in | 1 | a place is there |
//! | row | in | R | its lowest bits |
//! | prefix | in | 16 | its highest bits |
//! | masks | in | 128 | bits 16j+15:16j: ones where bank j's prefix must be zero; looked at if the configuration adapts |
//! | sampled | out | 1 | the packet belongs to a bank |
//! | address | out | A | its word: bank in the bits from R on, row below |
//!
//! Latency one cycle, one place a cycle. Parameters: R = log2(rows), A = R + bits of a bank number.
//!
//! Cost: `docs/report.md`, by stage and by module. With masks from outside see [`crate::interval::schedule`].
//!
//! # Test plan
//!
//! `sim/cosim`: every number of leading zeros, random places, for several configurations.

use crate::leaves::Flop;
use crate::module::module;
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::sketch::sampler::MAX_BANKS;
use rust_hdl_core::prelude::*;

/// Width of the part of a place that picks the bank: the longest prefix that a bank may have.
pub const PREFIX_BITS: usize = 16;
/// Width of the masks of all banks.
pub const MASKS: usize = PREFIX_BITS * MAX_BANKS;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Sampler<const R: usize, const A: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub valid: Signal<In, Bit>,
    pub row: Signal<In, Bits<R>>,
    pub prefix: Signal<In, Bits<PREFIX_BITS>>,
    pub masks: Signal<In, Bits<MASKS>>,
    pub sampled: Signal<Out, Bit>,
    pub address: Signal<Out, Bits<A>>,

    /// One if the masks come from outside.
    adaptive: Constant<Bits<1>>,
    /// Ones where bank j's prefix must be zero, if they do not.
    fixed: [Constant<Bits<PREFIX_BITS>>; MAX_BANKS],
    /// One where bank j exists.
    exists: [Constant<Bits<1>>; MAX_BANKS],
    /// Address of bank j's row 0.
    base: [Constant<Bits<A>>; MAX_BANKS],
    care: [Signal<Local, Bits<PREFIX_BITS>>; MAX_BANKS],
    claimed: Signal<Local, Bit>,
    bank_base: Signal<Local, Bits<A>>,
    sampled_now: Flop<Bit>,
    word: Flop<Bits<A>>,
}

impl<const R: usize, const A: usize> Sampler<R, A> {
    /// The sampler of a configuration with 2^R rows.
    pub fn new(configuration: &Configuration) -> Self {
        let lengths = configuration.prefixes().lengths();
        let all = (1u64 << PREFIX_BITS) - 1;
        let length = |bank: usize| u32::from(lengths.get(bank).copied().unwrap_or(0));
        let constant = |bank: usize| if bank < lengths.len() { (bank as u64) << R } else { 0 };
        module! { Sampler {
            adaptive: Constant::new(u64::from(configuration.adaptive()).into()),
            fixed: std::array::from_fn(|bank| Constant::new((all & !(all >> length(bank))).into())),
            exists: std::array::from_fn(|bank| Constant::new(u64::from(bank < lengths.len()).into())),
            base: std::array::from_fn(|bank| Constant::new(constant(bank).into())),
        }
            clk rst valid row prefix masks sampled address claimed bank_base sampled_now word
            ; each care
        }
    }
}

impl<const R: usize, const A: usize> Logic for Sampler<R, A> {
    #[clocked(sampled_now, word)]
    fn update(&mut self) {
        self.claimed.next = false;
        self.bank_base.next = 0.into();
        for i in 0..8 {
            self.care[i].next = self.fixed[i].val();
            if self.adaptive.val().any() {
                self.care[i].next = self.masks.val().get_bits::<PREFIX_BITS>(16 * i);
            }
            if self.exists[i].val().any() & !(self.prefix.val() & self.care[i].val()).any() {
                self.claimed.next = self.valid.val();
                self.bank_base.next = self.base[i].val();
            }
        }
        self.sampled_now.d.next = self.claimed.val();
        self.word.d.next = self.bank_base.val() | bit_cast::<A, R>(self.row.val());
        self.sampled.next = self.sampled_now.q.val();
        self.address.next = self.word.q.val();
    }
}
