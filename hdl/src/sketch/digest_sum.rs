//! Digest sum: the sums of the digests of a lane's packets in an interval, sampled or not, one for each class.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::wire::frame::Totals::digest_sum`: each 16-bit half is added modulo 2^16. A packet's digest is
//! there seven cycles behind its commit. What says that it counts, in which class, and where the interval ends, waits for
//! as long: then digests meet the packets of their own interval, without a mark on them. When the interval ends, the
//! sums move into registers that hold still for the drain, and start from zero.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | ends | in | 1 | the interval ends behind this cycle |
//! | packet | in | 1 | a packet counts |
//! | kind | in | 2 | with packet: its class |
//! | digest | in | 32 | its digest, seven cycles later |
//! | sent_kind | in | 2 | the class to be shown |
//! | ended | out | 32 | its sum of the interval that ended last, from eight cycles behind the end on |
//!
//! Latency eight cycles, a packet a cycle. Parameter: C, classes (1, 2 or 4).
//!
//! Cost: `docs/report.md`, by module; designs without digests have none.
//!
//! # Test plan
//!
//! `sim/cosim`, with the cores: packets at every distance from a boundary, on both sides of it; carries of both halves.

use crate::leaves::{Delay, Flop};
use crate::module::module;
use crate::sketch::adder::HalvesAdder;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct DigestSum<const C: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub ends: Signal<In, Bit>,
    pub packet: Signal<In, Bit>,
    pub kind: Signal<In, Bits<2>>,
    pub digest: Signal<In, Bits<32>>,
    pub sent_kind: Signal<In, Bits<2>>,
    pub ended: Signal<Out, Bits<32>>,

    /// Bit 3: the interval ends; bit 2: a packet; below, its class.
    waiting: Delay<4, 7>,
    entering: Signal<Local, Bits<4>>,
    class_number: [Constant<Bits<2>>; C],
    addend: Signal<Local, Bits<32>>,
    adder: [HalvesAdder; C],
    running: [Flop<Bits<32>>; C],
    old: [Flop<Bits<32>>; C],
    shown: Signal<Local, Bits<32>>,
}

impl<const C: usize> Default for DigestSum<C> {
    fn default() -> Self {
        module! { DigestSum {
            class_number: std::array::from_fn(|class| Constant::new((class as u64).into())),
        }
            clk rst ends packet kind digest sent_kind ended waiting entering addend shown; each adder running old
        }
    }
}

impl<const C: usize> Logic for DigestSum<C> {
    #[hdl_gen]
    fn update(&mut self) {
        self.waiting.clk.next = self.clk.val();
        self.waiting.rst.next = self.rst.val();
        self.entering.next = bit_cast::<4, 2>(self.kind.val());
        if self.packet.val() {
            self.entering.next = self.entering.val() | 4;
        }
        if self.ends.val() {
            self.entering.next = self.entering.val() | 8;
        }
        self.waiting.d.next = self.entering.val();

        self.shown.next = 0.into();
        for c in 0..C {
            self.addend.next = 0.into();
            if self.waiting.q.val().get_bit(2)
                & (self.waiting.q.val().get_bits::<2>(0) == self.class_number[c].val())
            {
                self.addend.next = self.digest.val();
            }
            self.adder[c].augend.next = self.running[c].q.val();
            self.adder[c].addend.next = self.addend.val();
            self.running[c].clock.next = self.clk.val();
            self.running[c].rst.next = self.rst.val();
            self.running[c].d.next = self.adder[c].total.val();
            self.old[c].clock.next = self.clk.val();
            self.old[c].rst.next = self.rst.val();
            self.old[c].d.next = self.old[c].q.val();
            if self.waiting.q.val().get_bit(3) {
                self.running[c].d.next = 0.into();
                self.old[c].d.next = self.adder[c].total.val();
            }
            if self.sent_kind.val() == self.class_number[c].val() {
                self.shown.next = self.old[c].q.val();
            }
        }
        self.ended.next = self.shown.val();
    }
}
