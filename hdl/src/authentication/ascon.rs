//! Ascon: the tag of Ascon-AEAD128 (NIST SP 800-232) with an empty plaintext, over associated data of whole words.
//!
//! # Theory of operation
//!
//! The state of 320 bits is five words. In every cycle it either goes through [rounds](crate::authentication::round) or has
//! something added by exclusive or: the nonce and key to a cleared state, a word of data, the paddings and the key again.
//! So there is one multiplexer in front of it, whatever is added.
//!
//! Data are added in pairs of words, the first to S0, the second to S1; behind each pair come eight rounds. Behind the last
//! word comes the padding, a one behind the data, which may need a pair of its own.
//!
//! ```text
//! start            S = 0
//! begin            S ^= IV, K0, K1, N0, N1       12 rounds    S3 ^= K0, S4 ^= K1
//! absorb           S0 ^= word
//! absorb           S1 ^= word                     8 rounds
//! finish           S0 or S1 ^= 1                  8 rounds    S4 ^= 2^63 (domain), S0 ^= 1, S2 ^= K0, S3 ^= K1
//!                                                12 rounds    S3 ^= K0, S4 ^= K1: the tag
//! ```
//!
//! Bytes: the standard takes the first byte of a word as its lowest, as a beat of an AXI4-Stream does. Keys, nonces and tags
//! have their first byte in bits 7:0.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | key | in | 128 | constant from start until the tag is there |
//! | nonce | in | 128 | taken in the cycle behind start |
//! | start | in | 1 | in any cycle: a new tag, whatever is under way |
//! | absorb | in | 1 | only if ready, behind start: add `word` to the data |
//! | word | in | 64 | eight bytes of associated data |
//! | finish | in | 1 | only if ready, not with absorb, behind one word or more: that was all |
//! | ready | out | 1 | takes absorb or finish, in this cycle; behind finish: the tag is there |
//! | tag | out | 128 | from then until start |
//!
//! Parameter: R rounds a cycle (1, 2 or 4, which divide eight and twelve). Latency in cycles, from the strobe until ready:
//! start 12 / R + 3, each second word 8 / R + 1, finish 20 / R + 3. A tag over n words thus takes
//! n + (20 + 8 x floor(n / 2) + 12) / R + 5 cycles from start, if they come without waiting: 828 with 159 words and R = 1.
//!
//! Cost: `docs/authentication.md`.
//!
//! # Test plan
//!
//! `sim/cosim`: known answers of the standard's reference implementation; random keys, nonces and data of 1..=40 words
//! against another implementation, with pauses, restarts at any moment and resets; R = 1, 2 and 4; the latencies; planted faults.

use crate::authentication::round::Round;
use crate::leaves::Flop;
use crate::module::module;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// What the standard starts the first word with: Ascon-AEAD128, twelve and eight rounds, tags of 128 bits, rate of 16 bytes.
pub(crate) const INITIAL_VALUE: u64 = 0x0000_1000_808c_0001;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Ascon<const R: usize = 1> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub key: Signal<In, Bits<128>>,
    pub nonce: Signal<In, Bits<128>>,
    pub start: Signal<In, Bit>,
    pub absorb: Signal<In, Bit>,
    pub word: Signal<In, Bits<64>>,
    pub finish: Signal<In, Bit>,
    pub ready: Signal<Out, Bit>,
    pub tag: Signal<Out, Bits<128>>,

    initial_value: Constant<Bits<64>>,
    domain_bit: Constant<Bits<64>>,
    rounds: Constant<Bits<4>>,
    last_number: Constant<Bits<4>>,

    state: [Flop<Bits<64>>; 5],
    round: [Round; R],
    /// Clears the state.
    clears: Signal<Local, Bit>,
    /// What is added to the state, and what rounds make of it.
    added: [Signal<Local, Bits<64>>; 5],
    mixed: [Signal<Local, Bits<64>>; 5],
    next_number: Signal<Local, Bits<4>>,
    key_low: Signal<Local, Bits<64>>,
    key_high: Signal<Local, Bits<64>>,

    /// The state is clear.
    begins: Flop<Bit>,
    /// Rounds are under way; the number of this cycle's first one.
    running: Flop<Bit>,
    number: Flop<Bits<4>>,
    /// What the rounds belong to: 0 nonce and key, 1 data, 2 padding, 3 the tag.
    phase: Flop<Bits<2>>,
    /// Rounds are over, and something is to be added.
    is_over: Flop<Bit>,
    is_ready: Flop<Bit>,
    /// The next word is the second of its pair.
    is_second: Flop<Bit>,
}

impl<const R: usize> Default for Ascon<R> {
    fn default() -> Self {
        module! { Ascon {
            initial_value: Constant::new(INITIAL_VALUE.into()),
            domain_bit: Constant::new((1u64 << 63).into()),
            rounds: Constant::new((R as u64).into()),
            last_number: Constant::new((12 - R as u64).into()),
        }
            clk rst key nonce start absorb word finish ready tag state clears added mixed next_number key_low
            key_high begins running number phase is_over is_ready is_second; each round
        }
    }
}

impl<const R: usize> Logic for Ascon<R> {
    #[clocked(begins, running, number, phase, is_over, is_ready, is_second)]
    fn update(&mut self) {
        self.key_low.next = self.key.val().get_bits::<64>(0);
        self.key_high.next = self.key.val().get_bits::<64>(64);
        for i in 0..5 {
            self.added[i].next = 0.into();
            self.mixed[i].next = self.state[i].q.val();
        }
        self.next_number.next = self.number.q.val();
        for i in 0..R {
            self.round[i].number.next = self.next_number.val();
            self.round[i].x0.next = self.mixed[0].val();
            self.round[i].x1.next = self.mixed[1].val();
            self.round[i].x2.next = self.mixed[2].val();
            self.round[i].x3.next = self.mixed[3].val();
            self.round[i].x4.next = self.mixed[4].val();
            self.mixed[0].next = self.round[i].y0.val();
            self.mixed[1].next = self.round[i].y1.val();
            self.mixed[2].next = self.round[i].y2.val();
            self.mixed[3].next = self.round[i].y3.val();
            self.mixed[4].next = self.round[i].y4.val();
            self.next_number.next = self.next_number.val() + 1;
        }

        if self.begins.q.val() {
            self.begins.d.next = false;
            self.added[0].next = self.initial_value.val();
            self.added[1].next = self.key_low.val();
            self.added[2].next = self.key_high.val();
            self.added[3].next = self.nonce.val().get_bits::<64>(0);
            self.added[4].next = self.nonce.val().get_bits::<64>(64);
            self.running.d.next = true;
            self.number.d.next = 0.into();
            self.phase.d.next = 0.into();
        }
        if self.running.q.val() {
            self.number.d.next = self.next_number.val();
            if self.number.q.val() == self.last_number.val() {
                self.running.d.next = false;
                self.is_over.d.next = self.phase.q.val() != 1;
                self.is_ready.d.next = self.phase.q.val() == 1;
            }
        }
        if self.is_over.q.val() {
            self.is_over.d.next = false;
            if self.phase.q.val() == 2 {
                // The domain's bit; the padding of an empty plaintext.
                self.added[0].next = 1.into();
                self.added[2].next = self.key_low.val();
                self.added[3].next = self.key_high.val();
                self.added[4].next = self.domain_bit.val();
                self.running.d.next = true;
                self.number.d.next = 0.into();
                self.phase.d.next = 3.into();
            } else {
                self.added[3].next = self.key_low.val();
                self.added[4].next = self.key_high.val();
                self.is_ready.d.next = true;
            }
        }
        if self.absorb.val() {
            self.is_second.d.next = !self.is_second.q.val();
            if self.is_second.q.val() {
                self.added[1].next = self.word.val();
                self.running.d.next = true;
                self.is_ready.d.next = false;
                self.number.d.next = 4.into();
                self.phase.d.next = 1.into();
            } else {
                self.added[0].next = self.word.val();
            }
        }
        if self.finish.val() {
            if self.is_second.q.val() {
                self.added[1].next = 1.into();
            } else {
                self.added[0].next = 1.into();
            }
            self.running.d.next = true;
            self.is_ready.d.next = false;
            self.number.d.next = 4.into();
            self.phase.d.next = 2.into();
        }
        if self.start.val() {
            self.begins.d.next = true;
            self.running.d.next = false;
            self.is_over.d.next = false;
            self.is_ready.d.next = false;
            self.is_second.d.next = false;
        }

        self.clears.next = self.rst.val() | self.start.val();
        for i in 0..5 {
            self.state[i].clock.next = self.clk.val();
            self.state[i].rst.next = self.clears.val();
            self.state[i].d.next = self.state[i].q.val() ^ self.added[i].val();
            if self.running.q.val() {
                self.state[i].d.next = self.mixed[i].val();
            }
        }
        self.ready.next = self.is_ready.q.val();
        self.tag.next =
            bit_cast::<128, 64>(self.state[3].q.val()) | (bit_cast::<128, 64>(self.state[4].q.val()) << 64);
    }
}
