//! Delimiter tags: the tags of the delimiters that may come next, computed while they are waited for.
//!
//! # Theory of operation
//!
//! Twin of `Delimiter::signed` in `deltaline_model::wire::delimiter`. Of a delimiter all is constant but its number, its boot epoch
//! and the key. Few of them matter at a time: the one that is due, the successor of the candidate, and, where a design inserts
//! delimiters, the one that it inserts next. So no delimiter waits for its tag; the tag waits for the delimiter, and the stream
//! only compares ([`tag_match`](super::tag_match)). Intervals last longer than a tag takes, so the small [engine of the byte
//! core](crate::byte::ascon) is enough in every width.
//!
//! ```text
//! changes, renew ──▶ which tags are not ready ──▶ the first of them ──▶ words, byte by byte ──▶ Ascon ──▶ its tag, ready
//! number, epoch, key ─────────────────────────────────────────────────────▲
//! ```
//!
//! The words that are added to the state of Ascon-AEAD128 (NIST SP 800-232), and the rounds behind them; w0 is segment and
//! number, w1 the configuration, w2 epoch and key identifier, n1 epoch, version and role:
//!
//! ```text
//! place  0   1   2   3   4      5   6   7   8     9   10    11    12  13  14     15  16
//! row    0   1   2   3   4      3   4   0   1     0   1     4     0   2   3      3   4
//! word   IV  K0  K1  w0  n1     K0  K1  w0  w1    w2  1     2^63  1   K0  K1     K0  K1
//! rounds                   12                  8         8                  12   tag: what leaves
//! ```
//!
//! A tag that changes while it is computed, or one in front of it, stops that: places are in the order of their urgency. So forged
//! candidates, however many, keep nobody from the tag that is due.
//!
//! As in the model a key that is scheduled signs the delimiters from its interval on, also before the boundary at which it
//! takes effect.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset: no tag is ready |
//! | key, key_id | in | 128, 16 | the key, its first byte in bits 7:0, and its identifier |
//! | pending, next_key, next_id, from | in | 1, 128, 16, 32 | as the [keys](super::keys)': a key waits for this interval |
//! | renew | in | 1 | from the next cycle on the key may be another |
//! | number$i, epoch$i | in | 32 | number and boot epoch of a delimiter |
//! | changes$i | in | 1 | from the next cycle on these may be others |
//! | ready$i | out | 1 | the tag is that of number, epoch and key |
//! | tag$i | out | 128 | the tag, its first byte in bits 7:0 |
//! | tag_key$i | out | 16 | identifier of its key |
//!
//! Parameter: S, tags, the most urgent first. A tag takes 2057 cycles: 136 octets that are added, and 40 rounds of 48.
//!
//! Cost: `docs/authentication.md`.
//!
//! # Test plan
//!
//! `sim/cosim` `checks::delimiter_tags`: tags are the model's, under random keys, epochs and numbers that change at any moment; what
//! is ready is never another delimiter's; the latency; the first tag is there in time while others change all the time; resets;
//! planted faults. With whole designs: `checks::forgery`.

use crate::authentication::ascon::INITIAL_VALUE;
use crate::byte::ascon::Ascon;
use crate::leaves::Flop;
use crate::module::module;
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::wire::delimiter::{ROLE, VERSION};
use rust_hdl_core::prelude::*;

/// The row of the state that a word is added to, by place, the first one lowest.
const ROWS: u128 = 0x4_3320_4101_0434_3210;
/// The word: 0 initial value, 1 and 2 key, 3 segment and number, 4 epoch, version and role, 5 configuration, 6 epoch and key
/// identifier, 7 one in the first byte, 8 the highest bit of the last.
const WORDS: u128 = 0x2_1217_8765_3214_3210;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct DelimiterTags<const S: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub key: Signal<In, Bits<128>>,
    pub key_id: Signal<In, Bits<16>>,
    pub pending: Signal<In, Bit>,
    pub next_key: Signal<In, Bits<128>>,
    pub next_id: Signal<In, Bits<16>>,
    pub from: Signal<In, Bits<32>>,
    pub renew: Signal<In, Bit>,
    pub number: [Signal<In, Bits<32>>; S],
    pub epoch: [Signal<In, Bits<32>>; S],
    pub changes: [Signal<In, Bit>; S],
    pub ready: [Signal<Out, Bit>; S],
    pub tag: [Signal<Out, Bits<128>>; S],
    pub tag_key: [Signal<Out, Bits<16>>; S],

    engine: Ascon,

    rows: Constant<Bits<68>>,
    words: Constant<Bits<68>>,
    slot_number: [Constant<Bits<2>>; S],
    initial_value: Constant<Bits<64>>,
    segment: Constant<Bits<32>>,
    configuration: Constant<Bits<64>>,
    version_and_role: Constant<Bits<32>>,

    is_ready: [Flop<Bit>; S],
    tags: [Flop<Bits<128>>; S],
    /// The key that waits signs it.
    is_newer: [Flop<Bit>; S],
    works: Flop<Bit>,
    /// The tag that is computed.
    slot: Flop<Bits<2>>,
    place: Flop<Bits<5>>,
    /// Byte of the word.
    index: Flop<Bits<3>>,

    number_now: Signal<Local, Bits<32>>,
    epoch_now: Signal<Local, Bits<32>>,
    newer_now: Signal<Local, Bit>,
    id_now: Signal<Local, Bits<16>>,
    behind: Signal<Local, Bits<32>>,
    /// The tag that is looked at is less urgent than the one that is computed.
    is_behind: Signal<Local, Bit>,
    newer: [Signal<Local, Bit>; S],
    stale: [Signal<Local, Bit>; S],
    nibble: Signal<Local, Bits<7>>,
    row: Signal<Local, Bits<3>>,
    word: Signal<Local, Bits<4>>,
    /// Lowest bit of a byte: of words whose first byte is the lowest, of such whose first byte is the highest, and of their halves.
    rising: Signal<Local, Bits<6>>,
    key_byte: Signal<Local, Bits<7>>,
    falling: Signal<Local, Bits<6>>,
    falling_half: Signal<Local, Bits<5>>,
    id_byte: Signal<Local, Bits<4>>,
    is_second_half: Signal<Local, Bit>,
    octet: Signal<Local, Bits<8>>,
    adds: Signal<Local, Bit>,
    is_last: Signal<Local, Bit>,
    leaves: Signal<Local, Bit>,
    begins: Signal<Local, Bit>,
    shifted: Signal<Local, Bits<128>>,
}

impl<const S: usize> DelimiterTags<S> {
    /// The tags of a configuration's delimiters.
    pub fn new(configuration: &Configuration) -> Self {
        let table = |table: u128| {
            let halves = [table as u64, (table >> 64) as u64].map(Bits::<68>::from);
            Constant::new((halves[1] << 64) | halves[0])
        };
        let version_and_role = u64::from(VERSION) << 24 | u64::from(ROLE) << 16;
        module! { DelimiterTags {
            rows: table(ROWS),
            words: table(WORDS),
            slot_number: std::array::from_fn(|slot| Constant::new((slot as u64).into())),
            initial_value: Constant::new(INITIAL_VALUE.into()),
            segment: Constant::new(u64::from(configuration.segment()).into()),
            configuration: Constant::new(configuration.id().into()),
            version_and_role: Constant::new(version_and_role.into()),
        }
            clk rst key key_id pending next_key next_id from renew engine works slot place index number_now epoch_now newer_now id_now behind is_behind nibble row word rising key_byte
            falling falling_half id_byte is_second_half octet adds is_last leaves begins shifted
            ; each number epoch changes ready tag tag_key is_ready tags is_newer newer stale
        }
    }
}

impl<const S: usize> Logic for DelimiterTags<S> {
    #[clocked(works, slot, place, index)]
    fn update(&mut self) {
        for i in 0..S {
            self.is_ready[i].clock.next = self.clk.val();
            self.is_ready[i].rst.next = self.rst.val();
            self.is_ready[i].d.next = self.is_ready[i].q.val();
            self.tags[i].clock.next = self.clk.val();
            self.tags[i].rst.next = self.rst.val();
            self.tags[i].d.next = self.tags[i].q.val();
        }

        // The byte that is added.
        self.number_now.next = 0.into();
        self.epoch_now.next = 0.into();
        self.newer_now.next = false;
        for i in 0..S {
            if self.slot.q.val() == self.slot_number[i].val() {
                self.number_now.next = self.number[i].val();
                self.epoch_now.next = self.epoch[i].val();
                self.newer_now.next = self.is_newer[i].q.val();
            }
        }
        self.id_now.next = self.key_id.val();
        if self.newer_now.val() {
            self.id_now.next = self.next_id.val();
        }
        self.nibble.next = bit_cast::<7, 5>(self.place.q.val()) << 2;
        self.row.next = self.rows.val().get_bits::<3>(self.nibble.val().index());
        self.word.next = self.words.val().get_bits::<4>(self.nibble.val().index());
        self.rising.next = bit_cast::<6, 3>(self.index.q.val()) << 3;
        self.key_byte.next = bit_cast::<7, 6>(self.rising.val());
        if self.word.val() == 2 {
            self.key_byte.next = bit_cast::<7, 6>(self.rising.val()) | 64;
        }
        self.falling.next = self.rising.val() ^ 0x38;
        self.falling_half.next = self.falling.val().get_bits::<5>(0);
        self.id_byte.next = self.falling.val().get_bits::<4>(0);
        self.is_second_half.next = self.index.q.val().get_bit(2);
        self.octet.next = 0.into();
        if self.word.val() == 0 {
            self.octet.next = self.initial_value.val().get_bits::<8>(self.rising.val().index());
        } else if (self.word.val() == 1) | (self.word.val() == 2) {
            self.octet.next = self.key.val().get_bits::<8>(self.key_byte.val().index());
            if self.newer_now.val() {
                self.octet.next = self.next_key.val().get_bits::<8>(self.key_byte.val().index());
            }
        } else if self.word.val() == 3 {
            self.octet.next = self.segment.val().get_bits::<8>(self.falling_half.val().index());
            if self.is_second_half.val() {
                self.octet.next = self.number_now.val().get_bits::<8>(self.falling_half.val().index());
            }
        } else if (self.word.val() == 4) | (self.word.val() == 6) {
            self.octet.next = self.epoch_now.val().get_bits::<8>(self.falling_half.val().index());
            if self.is_second_half.val() {
                self.octet.next = 0.into();
                if !self.word.val().get_bit(1) {
                    self.octet.next =
                        self.version_and_role.val().get_bits::<8>(self.falling_half.val().index());
                } else if !self.index.q.val().get_bit(1) {
                    self.octet.next = self.id_now.val().get_bits::<8>(self.id_byte.val().index());
                }
            }
        } else if self.word.val() == 5 {
            self.octet.next = self.configuration.val().get_bits::<8>(self.falling.val().index());
        } else if self.word.val() == 7 {
            if !self.index.q.val().any() {
                self.octet.next = 1.into();
            }
        } else if self.index.q.val().all() {
            self.octet.next = 0x80.into();
        }

        self.adds.next = self.works.q.val() & !self.engine.busy.val();
        self.is_last.next = self.index.q.val().all();
        self.engine.clk.next = self.clk.val();
        self.engine.rst.next = self.rst.val();
        self.engine.clear.next = !self.works.q.val();
        self.engine.add.next = self.adds.val();
        self.engine.row.next = self.row.val();
        self.engine.octet.next = self.octet.val();
        self.engine.permute.next = self.is_last.val()
            & ((self.place.q.val() == 4)
                | (self.place.q.val() == 8)
                | (self.place.q.val() == 10)
                | (self.place.q.val() == 14));
        self.engine.short.next = (self.place.q.val() == 8) | (self.place.q.val() == 10);

        // The tag leaves byte by byte.
        self.leaves.next = self.adds.val() & (self.place.q.val() >= 15);
        self.shifted.next = bit_cast::<128, 8>(self.engine.sum.val()) << 120;
        for i in 0..S {
            if self.leaves.val() & (self.slot.q.val() == self.slot_number[i].val()) {
                self.tags[i].d.next = (self.tags[i].q.val() >> 8) | self.shifted.val();
            }
        }

        if self.adds.val() {
            self.index.d.next = self.index.q.val() + 1;
            if self.is_last.val() {
                self.place.d.next = self.place.q.val() + 1;
                if self.place.q.val() == 16 {
                    self.works.d.next = false;
                    for i in 0..S {
                        if self.slot.q.val() == self.slot_number[i].val() {
                            self.is_ready[i].d.next = true;
                        }
                    }
                }
            }
        }
        self.begins.next = false;
        if !self.works.q.val() {
            self.place.d.next = 0.into();
            self.index.d.next = 0.into();
            self.slot.d.next = 0.into();
            for i in 0..S {
                if !self.is_ready[i].q.val() & !self.begins.val() {
                    self.begins.next = true;
                    self.works.d.next = true;
                    self.slot.d.next = self.slot_number[i].val();
                }
            }
        }
        self.behind.next = 0.into();
        self.is_behind.next = false;
        for i in 0..S {
            self.behind.next = self.number[i].val() - self.from.val();
            self.newer[i].next =
                self.pending.val() & self.next_id.val().any() & !self.behind.val().get_bit(31);
            self.is_newer[i].clock.next = self.clk.val();
            self.is_newer[i].rst.next = self.rst.val();
            self.is_newer[i].d.next = self.newer[i].val();
            self.stale[i].next = self.newer[i].val() ^ self.is_newer[i].q.val();
            if self.renew.val() | self.changes[i].val() | self.stale[i].val() {
                self.is_ready[i].d.next = false;
                if !self.is_behind.val() {
                    self.works.d.next = false;
                }
            }
            if self.slot.q.val() == self.slot_number[i].val() {
                self.is_behind.next = true;
            }
            self.ready[i].next = self.is_ready[i].q.val() & !self.stale[i].val();
            self.tag_key[i].next = self.key_id.val();
            if self.newer[i].val() {
                self.tag_key[i].next = self.next_id.val();
            }
            self.tag[i].next = self.tags[i].q.val();
        }
    }
}
