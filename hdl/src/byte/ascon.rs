//! Ascon by bytes: the same tag as the [engine of the wide cores](crate::authentication::ascon) makes, in a sixth of its logic.
//!
//! # Theory of operation
//!
//! The control frames of this core come byte by byte, so a state that takes a byte at a time is enough. Its five words and a
//! spare one are rings of eight bytes that turn right by one: what leaves at the low end comes in at the high end, and on its
//! way something happens to it. So there are no multiplexers in the words, and only eight columns are worked on at a time:
//!
//! ```text
//! adding         word i:    byte ^ octet
//! substitution   words 0..4 -> eight columns -> words 1..5
//! diffusion i    word i + 1 turns; its bytes, mixed with the 16 that its rotations bring there, become word i
//! ```
//!
//! A round is the substitution and five diffusions, of eight cycles each. Each diffusion needs its whole word until its last
//! byte, which is why the substitution moves all words up by one and the diffusions move them down again.
//!
//! When what is added to the state, and when it is permuted, says the [emitter](crate::byte::emitter).
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | clear | in | 1 | the state becomes zero, whatever is under way |
//! | add | in | 1 | only if not busy: add `octet` to the lowest byte of a word, and turn that word |
//! | row | in | 3 | which one: 0..=4 |
//! | octet | in | 8 | what is added |
//! | permute | in | 1 | with add: then come the rounds |
//! | short | in | 1 | with permute: eight of them, not twelve |
//! | sum | out | 8 | word 3 or 4, as the lowest bit of `row` says: its lowest byte, with `octet` added |
//! | busy | out | 1 | rounds are under way |
//!
//! Eight additions turn a word once around. No parameters. Latency: a round takes 48 cycles, and busy is high for 384 or 576
//! from the cycle behind permute on.
//!
//! Cost: `docs/authentication.md`.
//!
//! # Test plan
//!
//! `sim/cosim` `checks::signed_byte`, with the core: the tags of control frames of even and of odd numbers of words, under many keys,
//! are those of the model, which has the known answers of the standard; resets at any moment; the latency, in the length
//! of a drain.

use crate::leaves::Flop;
use crate::module::module;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Ascon {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub clear: Signal<In, Bit>,
    pub add: Signal<In, Bit>,
    pub row: Signal<In, Bits<3>>,
    pub octet: Signal<In, Bits<8>>,
    pub permute: Signal<In, Bit>,
    pub short: Signal<In, Bit>,
    pub sum: Signal<Out, Bits<8>>,
    pub busy: Signal<Out, Bit>,

    one: Constant<Bits<6>>,
    words: [Flop<Bits<64>>; 6],
    running: Flop<Bit>,
    number: Flop<Bits<4>>,
    /// Byte, and above it 0 the substitution, 1..=5 the diffusion of word 0..=4.
    step: Flop<Bits<6>>,

    clears: Signal<Local, Bit>,
    stage: Signal<Local, Bits<3>>,
    /// A one at the place of the stage, and of the word that is added to.
    at: Signal<Local, Bits<6>>,
    chosen: Signal<Local, Bits<6>>,
    added: Signal<Local, Bits<8>>,
    /// 0xf0 for round 0, 0xe1 for round 1, ...; in its first byte.
    constant: Signal<Local, Bits<8>>,
    low: [Signal<Local, Bits<8>>; 6],
    keyed: [Signal<Local, Bits<8>>; 5],
    chi: [Signal<Local, Bits<8>>; 5],
    boxed: [Signal<Local, Bits<8>>; 5],
    mixed: [Signal<Local, Bits<8>>; 5],
    /// What comes in at the high end, and whether a word turns.
    enters: [Signal<Local, Bits<8>>; 6],
    on_top: [Signal<Local, Bits<64>>; 6],
    turns: Signal<Local, Bits<6>>,
    last_step: Signal<Local, Bit>,
}

impl Default for Ascon {
    fn default() -> Self {
        module! { Ascon { one: Constant::new(1.into()) }
            clk rst clear add row octet permute short sum busy running number step clears stage at chosen added
            constant turns last_step words low keyed chi boxed mixed enters on_top
        }
    }
}

impl Logic for Ascon {
    #[clocked(running, number, step)]
    fn update(&mut self) {
        self.clears.next = self.rst.val() | self.clear.val();
        self.stage.next = self.step.q.val().get_bits::<3>(3);
        self.at.next = 0.into();
        self.chosen.next = 0.into();
        self.added.next = 0.into();
        if self.running.q.val() {
            self.at.next = self.one.val() << self.stage.val();
        }
        if self.add.val() {
            self.chosen.next = self.one.val() << self.row.val();
            self.added.next = self.octet.val();
        }
        for i in 0..6 {
            self.low[i].next = self.words[i].q.val().get_bits::<8>(0);
        }

        // The substitution of eight columns.
        self.constant.next = 0.into();
        if !self.step.q.val().get_bits::<3>(0).any() {
            self.constant.next =
                (bit_cast::<8, 4>(self.number.q.val() ^ 0xf) << 4) | bit_cast::<8, 4>(self.number.q.val());
        }
        self.keyed[0].next = self.low[0].val() ^ self.low[4].val();
        self.keyed[1].next = self.low[1].val();
        self.keyed[2].next = (self.low[2].val() ^ self.constant.val()) ^ self.low[1].val();
        self.keyed[3].next = self.low[3].val();
        self.keyed[4].next = self.low[4].val() ^ self.low[3].val();
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

        // The diffusion: a byte, and those at the distances of its word's two rotations.
        self.mixed[0].next = self.low[1].val()
            ^ self.words[1].q.val().get_bits::<8>(19)
            ^ self.words[1].q.val().get_bits::<8>(28);
        self.mixed[1].next = self.low[2].val()
            ^ (bit_cast::<8, 3>(self.words[2].q.val().get_bits::<3>(61))
                | (bit_cast::<8, 5>(self.words[2].q.val().get_bits::<5>(0)) << 3))
            ^ self.words[2].q.val().get_bits::<8>(39);
        self.mixed[2].next = self.low[3].val()
            ^ self.words[3].q.val().get_bits::<8>(1)
            ^ self.words[3].q.val().get_bits::<8>(6);
        self.mixed[3].next = self.low[4].val()
            ^ self.words[4].q.val().get_bits::<8>(10)
            ^ self.words[4].q.val().get_bits::<8>(17);
        self.mixed[4].next = self.low[5].val()
            ^ self.words[5].q.val().get_bits::<8>(7)
            ^ self.words[5].q.val().get_bits::<8>(41);

        for i in 0..6 {
            self.enters[i].next = self.low[i].val() ^ self.added.val();
        }
        for i in 0..5 {
            if self.at.val().get_bit(i + 1) {
                self.enters[i].next = self.mixed[i].val();
            }
            if self.at.val().get_bit(0) {
                self.enters[i + 1].next = self.boxed[i].val();
            }
        }
        self.on_top[0].next = bit_cast::<64, 8>(self.enters[0].val()) << 56;
        self.on_top[1].next = bit_cast::<64, 8>(self.enters[1].val()) << 56;
        self.on_top[2].next = bit_cast::<64, 8>(self.enters[2].val()) << 56;
        self.on_top[3].next = bit_cast::<64, 8>(self.enters[3].val()) << 56;
        self.on_top[4].next = bit_cast::<64, 8>(self.enters[4].val()) << 56;
        self.on_top[5].next = bit_cast::<64, 8>(self.enters[5].val()) << 56;
        // In the substitution all words turn, in a diffusion the one that is read and the one that is made.
        self.turns.next = self.chosen.val() | self.at.val() | (self.at.val() >> 1);
        if self.at.val().get_bit(0) {
            self.turns.next = 0x3f.into();
        }
        for i in 0..6 {
            self.words[i].clock.next = self.clk.val();
            self.words[i].rst.next = self.clears.val();
            self.words[i].d.next = self.words[i].q.val();
            if self.turns.val().get_bit(i) {
                self.words[i].d.next = (self.words[i].q.val() >> 8) | self.on_top[i].val();
            }
        }

        self.last_step.next = self.step.q.val() == 47;
        if self.running.q.val() {
            self.step.d.next = self.step.q.val() + 1;
            if self.last_step.val() {
                self.step.d.next = 0.into();
                self.number.d.next = self.number.q.val() + 1;
                if self.number.q.val() == 11 {
                    self.running.d.next = false;
                }
            }
        }
        if self.add.val() & self.permute.val() {
            self.running.d.next = true;
            self.step.d.next = 0.into();
            self.number.d.next = 0.into();
            if self.short.val() {
                self.number.d.next = 4.into();
            }
        }
        if self.clear.val() {
            self.running.d.next = false;
        }

        self.busy.next = self.running.q.val();
        self.sum.next = self.low[4].val() ^ self.octet.val();
        if self.row.val().get_bit(0) {
            self.sum.next = self.low[3].val() ^ self.octet.val();
        }
    }
}
