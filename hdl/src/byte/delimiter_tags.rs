//! Delimiter tags: whether the frame that passes has the tag of the delimiter that is due, or of the candidate's successor.
//!
//! # Theory of operation
//!
//! Twin of `Delimiter::signed` in `deltaline_model::wire::delimiter`. As [beside the wide
//! cores](crate::authentication::delimiter_tags), where the words and rounds are explained, the tags of the two delimiters that may
//! count are computed while they are waited for. Here all goes byte by byte: what is added comes from a table, from the memory of
//! the [keys](super::keys), and from the [succession](super::succession), whose numbers pass in four cycles; what must pass in the
//! stream is kept in two memories.
//!
//! ```text
//! number, epoch, from ─▶ which key signs? ─▶ which is not ready? ─▶ 17 words of 8 bytes ─▶ Ascon ─▶ memory of that tag
//!                                                                    ▲                                │ bytes 32..=55
//!                        table, key, numbers in their cycles of four ┘                      stream ─▶ same? ─▶ signed
//! ```
//!
//! A byte takes three cycles: look up the table, which says what it is; fetch it, if it is of the key; add it, a number's or epoch's
//! once it passes. Bytes 32 to 39 of the delimiter (epoch, key identifier, reserved) are kept as they are added, bytes 40 to 55 as the
//! tag leaves.
//!
//! While no tag is computed, both numbers are compared with the waiting key's interval, over and over: a key that waits signs the
//! delimiters from its interval on, also before the boundary at which it takes effect. A tag of the other key is not ready any more.
//! Of those that are not ready the one that is due is computed first, and what the candidate does never stops it.
//!
//! A frame has a tag if all these bytes were the same, and that tag was ready from the first of them to the verdict: what was compared
//! with the tag before is forgotten, however long the frame lasts.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset: no tag is ready |
//! | phase | in | 2 | which byte of numbers and epochs passes: 0, the lowest, to 3 in turn |
//! | due_octet, due_epoch_octet | in | 8 | that byte of the number and epoch that are due |
//! | next_octet, next_epoch_octet | in | 8 | of those of the candidate's successor |
//! | due_changes, next_changes | in | 1 | up to this cycle these become others |
//! | copying | in | 1 | so does the key |
//! | renew | in | 1 | from the next cycle on another key may wait, or for another interval |
//! | pending | in | 1 | a key waits, and is one |
//! | place | out | 5 | word of the memory of keys to read |
//! | word | in | 16 | a cycle later: its content |
//! | there, octet, index | in | 1, 8, 7 | a byte and its place in its frame, from the walk |
//! | due_signed, next_signed | out | 1 | from three cycles behind byte 55 to byte 28 of the next frame: the frame has that tag, which is ready |
//!
//! Parameters: the configuration's segment and identifier. Latency: a tag takes at most [`CYCLES`] from its last change on, that of
//! the candidate's successor as long behind the other one. What is renewed is known nine cycles later.
//!
//! Cost: `docs/authentication.md`.
//!
//! # Test plan
//!
//! `sim/cosim` `checks::byte_tags`, alone: what is signed is what the model signs, under keys, numbers and epochs that change at any
//! moment, also amid a frame; every single bit altered; the latency, also of the first while the second changes all the time; resets;
//! planted faults. With whole designs: `checks::forgery`.

use crate::authentication::ascon::INITIAL_VALUE;
use crate::byte::ascon::Ascon;
use crate::leaves::{Flop, Ram, Rom};
use crate::module::module;
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::wire::delimiter::{ROLE, VERSION};
use rust_hdl_core::prelude::*;

/// Cycles that a tag takes at most.
pub const CYCLES: u64 = 2360;

// What the table says of a byte. Bits 7:0: its value, or where it is; 9:8: constant, or one of these; 12:10: row of the state.
const OF_KEY: u64 = 1 << 8;
const OF_NUMBER: u64 = 2 << 8;
const OF_EPOCH: u64 = 3 << 8;
/// Rounds follow; eight of them.
const PERMUTES: u64 = 1 << 13;
const SHORT: u64 = 1 << 14;
/// It, or what leaves, must pass in the stream.
const KEPT: u64 = 1 << 15;
/// The memory's words of the key and its identifier, and the higher half of a word.
const KEY: u64 = 4;
const KEY_ID: u64 = 12;
const HIGH: u64 = 1 << 4;

/// The words that are added to the state, byte by byte.
fn program(configuration: &Configuration) -> Vec<u64> {
    let constant = |bytes: [u8; 8]| bytes.map(u64::from);
    let halves = |first: [u64; 4], second: [u64; 4]| -> [u64; 8] {
        std::array::from_fn(|byte| if byte < 4 { first[byte] } else { second[byte - 4] })
    };
    // The key's first byte is the lowest, a number's the highest.
    let key = |half: u64| -> [u64; 8] {
        std::array::from_fn(|byte| {
            OF_KEY | (KEY + 4 * half + byte as u64 / 2) | if byte % 2 == 1 { HIGH } else { 0 }
        })
    };
    let four = |of: u64| [3, 2, 1, 0].map(|byte| of | byte);
    let segment = configuration.segment().to_be_bytes().map(u64::from);
    let numbers = halves(segment, four(OF_NUMBER));
    let roles = halves(four(OF_EPOCH), [VERSION, ROLE, 0, 0].map(u64::from));
    let signer = halves(four(OF_EPOCH), [OF_KEY | KEY_ID | HIGH, OF_KEY | KEY_ID, 0, 0]);
    let one = constant([1, 0, 0, 0, 0, 0, 0, 0]);
    let words = [
        (0, constant(INITIAL_VALUE.to_le_bytes()), 0),
        (1, key(0), 0),
        (2, key(1), 0),
        (3, numbers, 0),
        (4, roles, PERMUTES),
        (3, key(0), 0),
        (4, key(1), 0),
        (0, numbers, 0),
        (1, constant(configuration.id().to_be_bytes()), PERMUTES | SHORT),
        (0, signer.map(|byte| byte | KEPT), 0),
        (1, one, PERMUTES | SHORT),
        (4, constant([0, 0, 0, 0, 0, 0, 0, 0x80]), 0),
        (0, one, 0),
        (2, key(0), 0),
        (3, key(1), PERMUTES),
        (3, key(0).map(|byte| byte | KEPT), 0),
        (4, key(1).map(|byte| byte | KEPT), 0),
    ];
    let bytes = |(row, mut bytes, rounds): (u64, [u64; 8], u64)| {
        bytes[7] |= rounds;
        bytes.map(|byte| byte | row << 10)
    };
    words.into_iter().flat_map(bytes).collect()
}

/// See the [module](self).
#[derive(LogicBlock)]
pub struct DelimiterTags {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub phase: Signal<In, Bits<2>>,
    pub due_octet: Signal<In, Bits<8>>,
    pub due_epoch_octet: Signal<In, Bits<8>>,
    pub next_octet: Signal<In, Bits<8>>,
    pub next_epoch_octet: Signal<In, Bits<8>>,
    pub due_changes: Signal<In, Bit>,
    pub next_changes: Signal<In, Bit>,
    pub copying: Signal<In, Bit>,
    pub renew: Signal<In, Bit>,
    pub pending: Signal<In, Bit>,
    pub place: Signal<Out, Bits<5>>,
    pub word: Signal<In, Bits<16>>,
    pub there: Signal<In, Bit>,
    pub octet: Signal<In, Bits<8>>,
    pub index: Signal<In, Bits<7>>,
    pub due_signed: Signal<Out, Bit>,
    pub next_signed: Signal<Out, Bit>,

    engine: Ascon,
    rom: Rom<16, 8>,

    // Of the one that is due, and of the candidate's successor.
    /// Bytes 32 to 55.
    expected: [Ram<8, 5, false>; 2],
    number: [Signal<Local, Bits<8>>; 2],
    changes: [Signal<Local, Bit>; 2],
    is_ready: [Flop<Bit>; 2],
    /// The key that waits signs it.
    is_newer: [Flop<Bit>; 2],

    // Which key signs, in four cycles: whether the number is `from` or ahead of it, by serial arithmetic.
    from_byte: Signal<Local, Bits<8>>,
    compared: Signal<Local, Bits<8>>,
    /// Without this byte's highest bit the number, as far as it has passed, is no less than `from`; with it; the highest bits differ.
    reaches: [Signal<Local, Bit>; 2],
    reached: [Flop<Bit>; 2],
    differs: [Signal<Local, Bit>; 2],
    disturbs: [Signal<Local, Bit>; 2],
    /// Nothing has changed since the first of the four cycles.
    undisturbed: [Flop<Bit>; 2],
    judges: [Signal<Local, Bit>; 2],
    newer: [Signal<Local, Bit>; 2],
    stays: [Signal<Local, Bit>; 2],
    begins: [Signal<Local, Bit>; 2],

    works: Flop<Bit>,
    /// It is the candidate's successor.
    of_next: Flop<Bit>,
    step: Flop<Bits<8>>,
    /// 0 look up, 1 fetch, 2 add.
    turn: Flop<Bits<2>>,
    number_now: Signal<Local, Bits<8>>,
    epoch_now: Signal<Local, Bits<8>>,
    newer_now: Signal<Local, Bit>,
    kind: Signal<Local, Bits<2>>,
    read: Signal<Local, Bits<5>>,
    passes: Signal<Local, Bit>,
    added: Signal<Local, Bits<8>>,
    adds: Signal<Local, Bit>,
    is_last: Signal<Local, Bit>,
    keeps: Signal<Local, Bit>,
    kept: Signal<Local, Bits<8>>,
    kept_at: Signal<Local, Bits<5>>,

    // The byte of the cycle before, beside what it is compared with.
    passing: Flop<Bits<8>>,
    opens: Flop<Bit>,
    compares: Flop<Bit>,
    same: [Flop<Bit>; 2],
}

impl DelimiterTags {
    /// The tags of a configuration's delimiters.
    pub fn new(configuration: &Configuration) -> Self {
        module! { DelimiterTags { rom: Rom::new(&program(configuration)) }
            clk rst phase due_octet due_epoch_octet next_octet next_epoch_octet due_changes next_changes copying renew pending place word
            there octet index due_signed next_signed engine from_byte compared works of_next step turn number_now epoch_now newer_now kind read
            passes added adds is_last keeps kept kept_at passing opens compares
            ; each expected number changes is_ready is_newer reaches reached differs disturbs undisturbed judges newer stays begins same
        }
    }
}

impl Logic for DelimiterTags {
    #[clocked(works, of_next, step, turn, passing, opens, compares)]
    fn update(&mut self) {
        for i in 0..2 {
            self.is_ready[i].clock.next = self.clk.val();
            self.is_ready[i].rst.next = self.rst.val();
            self.is_ready[i].d.next = self.is_ready[i].q.val();
            self.is_newer[i].clock.next = self.clk.val();
            self.is_newer[i].rst.next = self.rst.val();
            self.is_newer[i].d.next = self.is_newer[i].q.val();
            self.reached[i].clock.next = self.clk.val();
            self.reached[i].rst.next = self.rst.val();
            self.undisturbed[i].clock.next = self.clk.val();
            self.undisturbed[i].rst.next = self.rst.val();
            self.undisturbed[i].d.next = self.undisturbed[i].q.val();
            self.same[i].clock.next = self.clk.val();
            self.same[i].rst.next = self.rst.val();
            self.same[i].d.next = self.same[i].q.val();
        }

        self.number[0].next = self.due_octet.val();
        self.number[1].next = self.next_octet.val();
        self.changes[0].next = self.due_changes.val();
        self.changes[1].next = self.next_changes.val();

        // Which key signs. The word of `from` is read a cycle ahead.
        self.from_byte.next = self.word.val().get_bits::<8>(0);
        if self.phase.val().get_bit(0) {
            self.from_byte.next = self.word.val().get_bits::<8>(8);
        }
        for i in 0..2 {
            self.compared.next = self.number[i].val();
            self.reaches[i].next = (self.compared.val().get_bits::<7>(0)
                > self.from_byte.val().get_bits::<7>(0))
                | ((self.compared.val().get_bits::<7>(0) == self.from_byte.val().get_bits::<7>(0))
                    & (self.reached[i].q.val() | (self.phase.val() == 0)));
            self.differs[i].next = self.compared.val().get_bit(7) != self.from_byte.val().get_bit(7);
            self.reached[i].d.next = (self.differs[i].val() & self.compared.val().get_bit(7))
                | (!self.differs[i].val() & self.reaches[i].val());
            self.newer[i].next = self.pending.val() & (self.differs[i].val() != self.reaches[i].val());
            self.disturbs[i].next =
                self.changes[i].val() | self.copying.val() | self.renew.val() | self.works.q.val();
            if self.phase.val().all() {
                self.undisturbed[i].d.next = true;
            }
            if self.disturbs[i].val() {
                self.undisturbed[i].d.next = false;
            }
            self.judges[i].next =
                self.phase.val().all() & self.undisturbed[i].q.val() & !self.disturbs[i].val();
            self.stays[i].next = self.is_ready[i].q.val() & (self.newer[i].val() == self.is_newer[i].q.val());
            self.begins[i].next = self.judges[i].val() & !self.stays[i].val();
            if self.judges[i].val() {
                self.is_newer[i].d.next = self.newer[i].val();
                self.is_ready[i].d.next = self.stays[i].val();
            }
        }

        // Of the tag that is computed.
        self.number_now.next = self.due_octet.val();
        self.epoch_now.next = self.due_epoch_octet.val();
        self.newer_now.next = self.is_newer[0].q.val();
        if self.of_next.q.val() {
            self.number_now.next = self.next_octet.val();
            self.epoch_now.next = self.next_epoch_octet.val();
            self.newer_now.next = self.is_newer[1].q.val();
        }

        // Looked up and fetched. Between two tags: `from`, its lower half in front of the first two of the four cycles.
        self.rom.clk.next = self.clk.val();
        self.rom.address.next = self.step.q.val();
        self.kind.next = self.rom.read_data.val().get_bits::<2>(8);
        self.read.next = 14.into();
        if self.phase.val().get_bit(0) != self.phase.val().get_bit(1) {
            self.read.next = 15.into();
        }
        if self.works.q.val() {
            self.read.next = bit_cast::<5, 4>(self.rom.read_data.val().get_bits::<4>(0));
            if !self.newer_now.val() {
                self.read.next = bit_cast::<5, 4>(self.rom.read_data.val().get_bits::<4>(0)) | 16;
            }
        }
        self.place.next = self.read.val();

        // Added.
        self.passes.next = true;
        self.added.next = self.rom.read_data.val().get_bits::<8>(0);
        if self.kind.val() == 1 {
            self.added.next = self.word.val().get_bits::<8>(0);
            if self.rom.read_data.val().get_bit(4) {
                self.added.next = self.word.val().get_bits::<8>(8);
            }
        }
        if self.kind.val().get_bit(1) {
            self.passes.next = self.phase.val() == self.rom.read_data.val().get_bits::<2>(0);
            self.added.next = self.number_now.val();
            if self.kind.val().get_bit(0) {
                self.added.next = self.epoch_now.val();
            }
        }
        self.adds.next =
            self.works.q.val() & self.turn.q.val().get_bit(1) & self.passes.val() & !self.engine.busy.val();
        self.engine.clk.next = self.clk.val();
        self.engine.rst.next = self.rst.val();
        self.engine.clear.next = !self.works.q.val();
        self.engine.add.next = self.adds.val();
        self.engine.row.next = self.rom.read_data.val().get_bits::<3>(10);
        self.engine.octet.next = self.added.val();
        self.engine.permute.next = self.rom.read_data.val().get_bit(13);
        self.engine.short.next = self.rom.read_data.val().get_bit(14);

        // Kept: words 9, 15 and 16, by their lowest bits.
        self.keeps.next = self.adds.val() & self.rom.read_data.val().get_bit(15);
        self.kept.next = self.engine.sum.val();
        if !self.step.q.val().get_bit(4) & !self.step.q.val().get_bit(7) {
            self.kept.next = self.added.val();
        }
        self.kept_at.next = bit_cast::<5, 3>(self.step.q.val().get_bits::<3>(0));
        if self.step.q.val().get_bit(4) {
            self.kept_at.next = bit_cast::<5, 3>(self.step.q.val().get_bits::<3>(0)) | 8;
        }
        if self.step.q.val().get_bit(7) {
            self.kept_at.next = bit_cast::<5, 3>(self.step.q.val().get_bits::<3>(0)) | 16;
        }
        for i in 0..2 {
            self.expected[i].clk.next = self.clk.val();
            self.expected[i].read_address.next = self.index.val().get_bits::<5>(0);
            self.expected[i].write_address.next = self.kept_at.val();
            self.expected[i].write_data.next = self.kept.val();
        }
        self.expected[0].write_enable.next = self.keeps.val() & !self.of_next.q.val();
        self.expected[1].write_enable.next = self.keeps.val() & self.of_next.q.val();

        // From byte to byte, and from tag to tag.
        self.is_last.next = self.adds.val() & (self.step.q.val() == 135);
        self.turn.d.next = self.turn.q.val() + 1;
        if self.turn.q.val().get_bit(1) {
            self.turn.d.next = self.turn.q.val();
        }
        if self.adds.val() {
            self.turn.d.next = 0.into();
            self.step.d.next = self.step.q.val() + 1;
        }
        if self.is_last.val() {
            self.works.d.next = false;
            if self.of_next.q.val() {
                self.is_ready[1].d.next = true;
            } else {
                self.is_ready[0].d.next = true;
            }
        }
        if !self.works.q.val() {
            self.turn.d.next = 0.into();
            self.step.d.next = 0.into();
            self.of_next.d.next = !self.begins[0].val();
            // The second once the first is ready.
            self.works.d.next = self.begins[0].val()
                | (self.begins[1].val() & self.is_ready[0].q.val() & !self.disturbs[0].val());
        }
        if self.due_changes.val()
            | self.copying.val()
            | self.renew.val()
            | (self.next_changes.val() & self.of_next.q.val())
        {
            self.works.d.next = false;
        }
        for i in 0..2 {
            if self.changes[i].val() | self.copying.val() {
                self.is_ready[i].d.next = false;
            }
        }

        // The stream.
        self.passing.d.next = self.octet.val();
        self.opens.d.next = self.there.val() & (self.index.val().get_bits::<5>(2) == 7);
        self.compares.d.next = self.there.val()
            & (self.index.val().get_bits::<2>(5) == 1)
            & !self.index.val().get_bits::<2>(3).all();
        for i in 0..2 {
            if self.opens.q.val() {
                self.same[i].d.next = true;
            }
            if self.compares.q.val() & (self.passing.q.val() != self.expected[i].read_data.val()) {
                self.same[i].d.next = false;
            }
            if !self.is_ready[i].q.val() {
                self.same[i].d.next = false;
            }
        }
        self.due_signed.next = self.same[0].q.val() & self.is_ready[0].q.val();
        self.next_signed.next = self.same[1].q.val() & self.is_ready[1].q.val();
    }
}
