//! Authenticator: puts boot epoch, key identifier and tag into the control frames that pass.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::wire::authentication`. It stands in the way of the control frames, which come without: word
//! 15 and the tag's words are zero there, and what it adds to them it adds to the check word too. The check word is linear: a
//! word goes into it rotated by its distance from the end. So an error of the frame before is still found behind.
//!
//! A word of data passes in the cycle in which the [engine](crate::authentication::ascon) takes it, which may have to be
//! waited for; the first one waits for nonce and key, the tag for its rounds. Without a key, identifier zero, nothing waits.
//!
//! ```text
//! words:   0, 1     2            3 .. T-1            T             T+1    T+2
//!          pass     begin, take  take                finish, tag   tag    check word, mended
//! added:            15: boot epoch, key             t0            t1     rotl(t0, 1) ^ t1 ^ rotl(word 15, T-14)
//! ```
//!
//! The nonce has the frame's second word as sent, epoch, version, role and fragment. Fragments are counted: each class and
//! interval has equally many.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset, with the core |
//! | key | in | 128 | the key, its first byte in bits 7:0; constant within a frame |
//! | key_id | in | 16 | its identifier, zero: no key; constant within a frame |
//! | boot_epoch | in | 32 | starts of the point; constant within a frame |
//! | s_axis_* | in (tready out) | 64 + 1 + 1 | control frames of the core, whole words |
//! | m_axis_* | out (tready in) | 64 + 1 + 1 | the same with epoch, key and tag |
//!
//! No parameters but the configuration's sizes. Latency: none but what is waited for. With a key, a frame of n words takes
//! 15 cycles to begin and 24 or 32 to finish; a pair of words takes nine at least, where the core needs eight in the header
//! and fourteen behind it.
//!
//! Cost: `docs/authentication.md`.
//!
//! # Test plan
//!
//! `sim/cosim` `checks::authentication`: control frames of the model, of every synopsis, under many keys, epochs and none,
//! with pauses on both sides, are those that the model signs; reset within a frame; planted faults. With the whole design:
//! `checks::shell`.

use crate::authentication::ascon::Ascon;
use crate::leaves::Flop;
use crate::module::module;
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::wire::frame::{Header, Role, Totals};
use deltaline_model::wire::shape::BLOCK_CELLS;
use deltaline_model::wire::v2;
use rust_hdl_core::prelude::*;

/// Words from the tag to the end.
const TRAILER_WORDS: usize = 3;
/// The word with epoch and key.
const EPOCH_WORD: usize = 15;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Authenticator {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub key: Signal<In, Bits<128>>,
    pub key_id: Signal<In, Bits<16>>,
    pub boot_epoch: Signal<In, Bits<32>>,
    pub s_axis_tdata: Signal<In, Bits<64>>,
    pub s_axis_tvalid: Signal<In, Bit>,
    pub s_axis_tready: Signal<Out, Bit>,
    pub s_axis_tlast: Signal<In, Bit>,
    pub m_axis_tdata: Signal<Out, Bits<64>>,
    pub m_axis_tvalid: Signal<Out, Bit>,
    pub m_axis_tready: Signal<In, Bit>,
    pub m_axis_tlast: Signal<Out, Bit>,

    engine: Ascon,
    /// Between words as they are sent and words of the engine and of beats.
    added_beat: Swap,
    first_tag: Swap,
    second_tag: Swap,
    numbers: Swap,

    epoch_place: Constant<Bits<8>>,
    last_data: Constant<Bits<8>>,
    first_tag_place: Constant<Bits<8>>,
    second_tag_place: Constant<Bits<8>>,
    check_place: Constant<Bits<8>>,
    /// How far word 15 is rotated in the check word, and the rest of 64.
    rotation: Constant<Bits<6>>,
    counter_rotation: Constant<Bits<7>>,
    version: Constant<Bits<64>>,
    last_fragment: Constant<Bits<16>>,

    /// The word that is offered.
    place: Flop<Bits<8>>,
    /// It is data.
    is_data: Flop<Bit>,
    fragment: Flop<Bits<16>>,
    receiver: Flop<Bit>,
    /// The engine has begun this frame, has taken this word, has been given all.
    begun: Flop<Bit>,
    taken: Flop<Bit>,
    finished: Flop<Bit>,

    has_key: Signal<Local, Bit>,
    at_tag: Signal<Local, Bit>,
    begins: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    finishes: Signal<Local, Bit>,
    passes: Signal<Local, Bit>,
    moves: Signal<Local, Bit>,
    role_bit: Signal<Local, Bits<64>>,
    epoch_word: Signal<Local, Bits<64>>,
    /// Tags as words, the first one also rotated by one.
    tag_words: [Signal<Local, Bits<64>>; 2],
    rotated: Signal<Local, Bits<64>>,
    added: Signal<Local, Bits<64>>,
    beat: Signal<Local, Bits<64>>,
}

impl Authenticator {
    /// The authenticator of a configuration's control frames.
    pub fn new(configuration: &Configuration) -> Self {
        let header = Header::of_interval(configuration, Role::Sender, 0, Totals::default()).next();
        let (words, fragments) = header.map_or((0, 1), |header| {
            let blocks = usize::from(header.cells) / BLOCK_CELLS;
            let block_words = usize::from(header.shape.cell_bits) / 8;
            (v2::words(&header).len() + blocks * block_words + TRAILER_WORDS, header.fragments)
        });
        let place = |place: usize| Constant::new((place as u64).into());
        let tag = words.saturating_sub(TRAILER_WORDS);
        let rotation = (words.saturating_sub(EPOCH_WORD + 2) % 64) as u64;
        module! { Authenticator {
            epoch_place: place(EPOCH_WORD),
            last_data: place(tag.saturating_sub(1)),
            first_tag_place: place(tag),
            second_tag_place: place(tag + 1),
            check_place: place(tag + 2),
            rotation: Constant::new(rotation.into()),
            counter_rotation: Constant::new((64 - rotation).into()),
            version: Constant::new((u64::from(v2::VERSION) << 24).into()),
            last_fragment: Constant::new(u64::from(fragments.saturating_sub(1)).into()),
        }
            clk rst key key_id boot_epoch s_axis_tdata s_axis_tvalid s_axis_tready s_axis_tlast m_axis_tdata
            m_axis_tvalid m_axis_tready m_axis_tlast engine added_beat first_tag second_tag numbers place is_data
            fragment receiver begun taken finished has_key at_tag begins takes finishes passes moves role_bit
            epoch_word tag_words rotated added beat
        }
    }
}

impl Logic for Authenticator {
    #[clocked(place, is_data, fragment, receiver, begun, taken, finished)]
    fn update(&mut self) {
        self.has_key.next = self.key_id.val().any();
        self.at_tag.next = self.place.q.val() == self.first_tag_place.val();
        self.begins.next =
            self.s_axis_tvalid.val() & self.has_key.val() & self.is_data.q.val() & !self.begun.q.val();
        self.takes.next = self.s_axis_tvalid.val()
            & self.is_data.q.val()
            & self.begun.q.val()
            & self.engine.ready.val()
            & !self.taken.q.val();
        self.finishes.next = self.s_axis_tvalid.val()
            & self.at_tag.val()
            & self.begun.q.val()
            & self.engine.ready.val()
            & !self.finished.q.val();
        self.passes.next = (!self.is_data.q.val() & !self.at_tag.val())
            | !self.has_key.val()
            | self.taken.q.val()
            | self.takes.val()
            | (self.finished.q.val() & self.engine.ready.val());
        self.moves.next = self.s_axis_tvalid.val() & self.m_axis_tready.val() & self.passes.val();

        // The nonce: the first word of data, epoch, version, role, fragment.
        self.role_bit.next = 0.into();
        if self.receiver.q.val() {
            self.role_bit.next = 0x1_0000.into();
        }
        self.numbers.word.next = (bit_cast::<64, 32>(self.boot_epoch.val()) << 32)
            | self.version.val()
            | self.role_bit.val()
            | bit_cast::<64, 16>(self.fragment.q.val());
        self.engine.clk.next = self.clk.val();
        self.engine.rst.next = self.rst.val();
        self.engine.key.next = self.key.val();
        self.engine.nonce.next = bit_cast::<128, 64>(self.s_axis_tdata.val())
            | (bit_cast::<128, 64>(self.numbers.swapped.val()) << 64);
        self.engine.start.next = self.begins.val();
        self.engine.absorb.next = self.takes.val();
        self.engine.finish.next = self.finishes.val();

        // What is added to the word, in the order of bytes in which the check word is made.
        self.epoch_word.next =
            (bit_cast::<64, 32>(self.boot_epoch.val()) << 32) | (bit_cast::<64, 16>(self.key_id.val()) << 16);
        self.first_tag.word.next = self.engine.tag.val().get_bits::<64>(0);
        self.second_tag.word.next = self.engine.tag.val().get_bits::<64>(64);
        self.tag_words[0].next = 0.into();
        self.tag_words[1].next = 0.into();
        if self.finished.q.val() {
            self.tag_words[0].next = self.first_tag.swapped.val();
            self.tag_words[1].next = self.second_tag.swapped.val();
        }
        self.rotated.next = (self.tag_words[0].val() << 1) | (self.tag_words[0].val() >> 63);
        self.added.next = 0.into();
        if self.place.q.val() == self.epoch_place.val() {
            self.added.next = self.epoch_word.val();
        }
        if self.at_tag.val() {
            self.added.next = self.tag_words[0].val();
        }
        if self.place.q.val() == self.second_tag_place.val() {
            self.added.next = self.tag_words[1].val();
        }
        if self.place.q.val() == self.check_place.val() {
            self.added.next = (self.epoch_word.val() << self.rotation.val())
                ^ (self.epoch_word.val() >> self.counter_rotation.val())
                ^ self.rotated.val()
                ^ self.tag_words[1].val();
        }
        self.added_beat.word.next = self.added.val();
        self.beat.next = self.s_axis_tdata.val() ^ self.added_beat.swapped.val();
        self.engine.word.next = self.beat.val();

        if self.begins.val() {
            self.begun.d.next = true;
        }
        if self.takes.val() {
            self.taken.d.next = true;
        }
        if self.finishes.val() {
            self.finished.d.next = true;
        }
        if self.moves.val() {
            self.taken.d.next = false;
            self.place.d.next = self.place.q.val() + 1;
            if self.place.q.val() == 1 {
                self.is_data.d.next = true;
                self.receiver.d.next = self.s_axis_tdata.val().get_bit(56);
            }
            if self.place.q.val() == self.last_data.val() {
                self.is_data.d.next = false;
            }
            if self.s_axis_tlast.val() {
                self.place.d.next = 0.into();
                self.begun.d.next = false;
                self.finished.d.next = false;
                self.fragment.d.next = self.fragment.q.val() + 1;
                if self.fragment.q.val() == self.last_fragment.val() {
                    self.fragment.d.next = 0.into();
                }
            }
        }

        self.s_axis_tready.next = self.m_axis_tready.val() & self.passes.val();
        self.m_axis_tvalid.next = self.s_axis_tvalid.val() & self.passes.val();
        self.m_axis_tdata.next = self.beat.val();
        self.m_axis_tlast.next = self.s_axis_tlast.val();
    }
}

/// A word whose first byte is the highest, with the first byte lowest, and the other way round. Combinational. Cost: wires.
#[derive(LogicBlock, Default)]
pub struct Swap {
    pub word: Signal<In, Bits<64>>,
    pub swapped: Signal<Out, Bits<64>>,
}

impl Logic for Swap {
    #[hdl_gen]
    fn update(&mut self) {
        self.swapped.next = bit_cast::<64, 8>(self.word.val().get_bits::<8>(56))
            | (bit_cast::<64, 8>(self.word.val().get_bits::<8>(48)) << 8)
            | (bit_cast::<64, 8>(self.word.val().get_bits::<8>(40)) << 16)
            | (bit_cast::<64, 8>(self.word.val().get_bits::<8>(32)) << 24)
            | (bit_cast::<64, 8>(self.word.val().get_bits::<8>(24)) << 32)
            | (bit_cast::<64, 8>(self.word.val().get_bits::<8>(16)) << 40)
            | (bit_cast::<64, 8>(self.word.val().get_bits::<8>(8)) << 48)
            | (bit_cast::<64, 8>(self.word.val().get_bits::<8>(0)) << 56);
    }
}
