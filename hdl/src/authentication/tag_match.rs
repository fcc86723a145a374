//! Tag match: whether the frame that passes has one of the tags that are expected.
//!
//! # Theory of operation
//!
//! It watches the stream beside the core. Key identifier, two reserved bytes that are zero, and tag are in the same bytes of every
//! delimiter (`deltaline_model::wire::delimiter`); here these bytes of every frame are compared with what is expected, 32 bits by
//! 32, each in its beat. Whether the frame is a delimiter at all finds the core.
//!
//! ```text
//! beat ──▶ key identifier?  tag 0..4?  4..8?  8..12?  12..16? ──▶ all of them ──▶ as late as the core's delimiter
//! ```
//!
//! What a short frame leaves of the one before does no harm: it is no delimiter. A frame may last while another delimiter becomes due and its
//! tag is made: what was compared with the tag before is forgotten as soon as a tag is not ready.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | tdata | in | W | observed stream, as the core's s_axis |
//! | tvalid, tready, tlast | in | 1 | likewise |
//! | due_key, next_key | in | 16 | the identifiers that are expected; constant while they matter |
//! | due_tag, next_tag | in | 128 | likewise the tags, first byte lowest |
//! | due_ready, next_ready | in | 1 | these are known; low for a cycle at least before they are others |
//! | due_signed, next_signed | out | 1 | in cycle D + 1 behind a frame's last beat: it has that identifier and tag |
//!
//! Parameters: W, bits of a beat: 64, 256 or 512; D, so many cycles less one is the core's `delimiter` behind the last beat: 3
//! with 64 bits, else 2. One beat a cycle.
//!
//! Cost: `docs/authentication.md`.
//!
//! # Test plan
//!
//! `sim/cosim` `checks::forgery`, with whole designs of every width: every single bit of tag and identifier altered, back to back
//! with traffic, with pauses; a frame that lasts until the next tag is ready; planted faults.

use crate::leaves::{Delay, Flop};
use crate::module::module;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// Bytes in front of the key identifier, and of the tag.
const KEY_AT: usize = 36;
const TAG_AT: usize = 40;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct TagMatch<const W: usize, const D: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub tdata: Signal<In, Bits<W>>,
    pub tvalid: Signal<In, Bit>,
    pub tready: Signal<In, Bit>,
    pub tlast: Signal<In, Bit>,
    pub due_key: Signal<In, Bits<16>>,
    pub next_key: Signal<In, Bits<16>>,
    pub due_tag: Signal<In, Bits<128>>,
    pub next_tag: Signal<In, Bits<128>>,
    pub due_ready: Signal<In, Bit>,
    pub next_ready: Signal<In, Bit>,
    pub due_signed: Signal<Out, Bit>,
    pub next_signed: Signal<Out, Bit>,

    /// Beats, and bits in them, of the identifier and of the quarters of the tag.
    key_beat: Constant<Bits<3>>,
    key_bit: Constant<Bits<9>>,
    beat_of: [Constant<Bits<3>>; 4],
    bit_of: [Constant<Bits<9>>; 4],

    /// The beat of the frame; seven: that one or one behind.
    beat: Flop<Bits<3>>,
    has_due_key: Flop<Bit>,
    has_next_key: Flop<Bit>,
    has_due: [Flop<Bit>; 4],
    has_next: [Flop<Bit>; 4],

    due_half: Signal<Local, Bits<16>>,
    next_half: Signal<Local, Bits<16>>,
    found: Signal<Local, Bits<32>>,
    quarter: Signal<Local, Bits<32>>,
    takes: Signal<Local, Bit>,
    is_due: Signal<Local, Bit>,
    is_next: Signal<Local, Bit>,
    both: Signal<Local, Bits<2>>,
    to_delimiter: Delay<2, D>,
}

impl<const W: usize, const D: usize> Default for TagMatch<W, D> {
    fn default() -> Self {
        let beat = |byte: usize| Constant::new(((8 * byte / W) as u64).into());
        let bit = |byte: usize| Constant::new(((8 * byte % W) as u64).into());
        module! { TagMatch {
            key_beat: beat(KEY_AT),
            key_bit: bit(KEY_AT),
            beat_of: std::array::from_fn(|quarter| beat(TAG_AT + 4 * quarter)),
            bit_of: std::array::from_fn(|quarter| bit(TAG_AT + 4 * quarter)),
        }
            clk rst tdata tvalid tready tlast due_key next_key due_tag next_tag due_ready next_ready due_signed next_signed beat has_due_key has_next_key due_half next_half found
            quarter takes is_due is_next both to_delimiter; each has_due has_next
        }
    }
}

impl<const W: usize, const D: usize> Logic for TagMatch<W, D> {
    #[clocked(beat, has_due_key, has_next_key)]
    fn update(&mut self) {
        self.takes.next = self.tvalid.val() & self.tready.val();
        if self.takes.val() {
            if !self.beat.q.val().all() {
                self.beat.d.next = self.beat.q.val() + 1;
            }
            if self.tlast.val() {
                self.beat.d.next = 0.into();
            }
        }
        // The identifier's first byte is the highest.
        self.due_half.next = (bit_cast::<16, 8>(self.due_key.val().get_bits::<8>(0)) << 8)
            | bit_cast::<16, 8>(self.due_key.val().get_bits::<8>(8));
        self.next_half.next = (bit_cast::<16, 8>(self.next_key.val().get_bits::<8>(0)) << 8)
            | bit_cast::<16, 8>(self.next_key.val().get_bits::<8>(8));
        self.found.next = self.tdata.val().get_bits::<32>(self.key_bit.val().index());
        if self.takes.val() & (self.beat.q.val() == self.key_beat.val()) {
            self.has_due_key.d.next = self.found.val() == bit_cast::<32, 16>(self.due_half.val());
            self.has_next_key.d.next = self.found.val() == bit_cast::<32, 16>(self.next_half.val());
        }
        // The identifier comes in front of the tag, or with it.
        if !self.due_ready.val() {
            self.has_due_key.d.next = false;
        }
        if !self.next_ready.val() {
            self.has_next_key.d.next = false;
        }
        self.quarter.next = 0.into();
        for i in 0..4 {
            self.has_due[i].clock.next = self.clk.val();
            self.has_due[i].rst.next = self.rst.val();
            self.has_due[i].d.next = self.has_due[i].q.val();
            self.has_next[i].clock.next = self.clk.val();
            self.has_next[i].rst.next = self.rst.val();
            self.has_next[i].d.next = self.has_next[i].q.val();
            self.quarter.next = self.tdata.val().get_bits::<32>(self.bit_of[i].val().index());
            if self.takes.val() & (self.beat.q.val() == self.beat_of[i].val()) {
                self.has_due[i].d.next = self.quarter.val() == self.due_tag.val().get_bits::<32>(i * 32);
                self.has_next[i].d.next = self.quarter.val() == self.next_tag.val().get_bits::<32>(i * 32);
            }
        }

        self.is_due.next = self.has_due_key.q.val();
        self.is_next.next = self.has_next_key.q.val();
        for i in 0..4 {
            self.is_due.next = self.is_due.val() & self.has_due[i].q.val();
            self.is_next.next = self.is_next.val() & self.has_next[i].q.val();
        }
        self.both.next = 0.into();
        if self.is_due.val() {
            self.both.next = 1.into();
        }
        if self.is_next.val() {
            self.both.next = self.both.val() | 2;
        }
        self.to_delimiter.clk.next = self.clk.val();
        self.to_delimiter.rst.next = self.rst.val();
        self.to_delimiter.d.next = self.both.val();
        self.due_signed.next = self.to_delimiter.q.val().get_bit(0);
        self.next_signed.next = self.to_delimiter.q.val().get_bit(1);
    }
}
