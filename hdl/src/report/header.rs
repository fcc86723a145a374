//! Header: the words in front of a control frame's cells, one by one.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::wire::v2::words`. Words that never change are constants of the configuration; to some,
//! something is added that does.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | select | in | 17 | one-hot: which word |
//! | kind, fragment, bank, first_row | in | | where the frame's cells lie, as [`crate::report::drain`] says it |
//! | receiver | in | 1 | the role field |
//! | interval | in | 32 | the interval's number |
//! | packets, bytes, first, last, unmeasured, bad, refused_ends, ignored_delimiters, flags | in | | the interval's totals |
//! | time_sum, digest_sum | in | 64, 32 | the sums of its packets; without digests the latter is zero |
//! | absolute_time | in | 56 | when it ended: time base in bits 55:48, seconds below |
//! | point_id | in | 32 | the measurement point's identifier |
//! | mixing_id | in | 32 | identifier of the interval's mixing; zero without |
//! | prefixes | in | 64 | the prefix lengths of the interval, as the frame's; looked at if the configuration adapts |
//! | word | out | 64 | the word, one cycle later |
//!
//! Parameter: A, the width of a word's address.
//!
//! # Test plan
//!
//! `sim/cosim`: as part of the cores, against `deltaline_model::wire::frame::encode`.

use crate::leaves::Flop;
use crate::module::module;
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::classifier::MAX_CLASSES;
use deltaline_model::wire::v2::FIXED_WORDS;
use rust_hdl_core::prelude::*;

/// Words in front of the first cell: one of an LDA's own.
pub(crate) const WORDS: usize = FIXED_WORDS + 1;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Header<const A: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub select: Signal<In, Bits<17>>,
    pub kind: Signal<In, Bits<2>>,
    pub fragment: Signal<In, Bits<A>>,
    pub bank: Signal<In, Bits<A>>,
    pub first_row: Signal<In, Bits<A>>,
    pub receiver: Signal<In, Bit>,
    pub interval: Signal<In, Bits<32>>,
    pub packets: Signal<In, Bits<48>>,
    pub bytes: Signal<In, Bits<48>>,
    pub first: Signal<In, Bits<64>>,
    pub last: Signal<In, Bits<64>>,
    pub unmeasured: Signal<In, Bits<32>>,
    pub bad: Signal<In, Bits<32>>,
    pub refused_ends: Signal<In, Bits<16>>,
    pub ignored_delimiters: Signal<In, Bits<16>>,
    pub flags: Signal<In, Bits<5>>,
    pub time_sum: Signal<In, Bits<64>>,
    pub digest_sum: Signal<In, Bits<32>>,
    pub absolute_time: Signal<In, Bits<56>>,
    pub point_id: Signal<In, Bits<32>>,
    pub mixing_id: Signal<In, Bits<32>>,
    pub prefixes: Signal<In, Bits<64>>,
    pub word: Signal<Out, Bits<64>>,

    // Words that never change.
    destination_word: Constant<Bits<64>>,
    source_word: Constant<Bits<64>>,
    segment_word: [Constant<Bits<64>>; MAX_CLASSES],
    identifier_word: Constant<Bits<64>>,
    place_word: Constant<Bits<64>>,
    extent_word: Constant<Bits<64>>,
    flags_word: Constant<Bits<64>>,
    prefixes_word: Constant<Bits<64>>,
    /// One if `prefixes` counts instead.
    adaptive: Constant<Bits<1>>,
    class_number: [Constant<Bits<2>>; MAX_CLASSES],

    segment_now: Signal<Local, Bits<64>>,
    role_bit: Signal<Local, Bits<64>>,
    looked_up: Signal<Local, Bits<64>>,
    header_word: Flop<Bits<64>>,
}

impl<const A: usize> Header<A> {
    /// The header of a configuration, whose words of an interval without traffic are `words`.
    pub fn new(configuration: &Configuration, words: &[u64; WORDS]) -> Self {
        let word = |index: usize| Constant::new(Bits::<64>::from(words[index]));
        module! { Header {
            destination_word: word(0),
            source_word: word(1),
            segment_word: std::array::from_fn(|class| {
                Constant::new(words[2].wrapping_add((class as u64) << 32).into())
            }),
            identifier_word: word(3),
            place_word: word(4),
            extent_word: word(5),
            flags_word: word(6),
            prefixes_word: word(16),
            adaptive: Constant::new(u64::from(configuration.adaptive()).into()),
            class_number: std::array::from_fn(|class| Constant::new((class as u64).into())),
        }
            clk rst select kind fragment bank first_row receiver interval packets bytes first last unmeasured bad
            refused_ends ignored_delimiters flags time_sum digest_sum absolute_time point_id mixing_id prefixes word segment_now role_bit looked_up header_word
        }
    }
}

impl<const A: usize> Logic for Header<A> {
    #[clocked(header_word)]
    fn update(&mut self) {
        self.segment_now.next = self.segment_word[0].val();
        for i in 0..4 {
            if self.kind.val() == self.class_number[i].val() {
                self.segment_now.next = self.segment_word[i].val();
            }
        }
        self.role_bit.next = 0.into();
        if self.receiver.val() {
            self.role_bit.next = 1.into();
        }
        self.looked_up.next = 0.into();
        if self.select.val().get_bit(0) {
            self.looked_up.next = self.looked_up.val() | self.destination_word.val();
        }
        if self.select.val().get_bit(1) {
            self.looked_up.next = self.looked_up.val() | (self.source_word.val() | self.role_bit.val());
        }
        if self.select.val().get_bit(2) {
            self.looked_up.next =
                self.looked_up.val() | (self.segment_now.val() | bit_cast::<64, 32>(self.interval.val()));
        }
        if self.select.val().get_bit(3) {
            self.looked_up.next = self.looked_up.val() | self.identifier_word.val();
        }
        if self.select.val().get_bit(4) {
            self.looked_up.next = self.looked_up.val()
                | (self.place_word.val()
                    | (bit_cast::<64, A>(self.fragment.val()) << 48)
                    | (bit_cast::<64, A>(self.bank.val()) << 16));
        }
        if self.select.val().get_bit(5) {
            self.looked_up.next = self.looked_up.val()
                | (self.extent_word.val() | (bit_cast::<64, A>(self.first_row.val()) << 32));
        }
        if self.select.val().get_bit(6) {
            self.looked_up.next = self.looked_up.val()
                | (self.flags_word.val()
                    | (bit_cast::<64, 32>(self.point_id.val()) << 32)
                    | (bit_cast::<64, 5>(self.flags.val()) << 16)
                    | bit_cast::<64, 16>(self.refused_ends.val()));
        }
        if self.select.val().get_bit(7) {
            self.looked_up.next = self.looked_up.val() | bit_cast::<64, 48>(self.packets.val());
        }
        if self.select.val().get_bit(8) {
            self.looked_up.next = self.looked_up.val() | bit_cast::<64, 48>(self.bytes.val());
        }
        if self.select.val().get_bit(9) {
            self.looked_up.next = self.looked_up.val() | self.first.val();
        }
        if self.select.val().get_bit(10) {
            self.looked_up.next = self.looked_up.val() | self.last.val();
        }
        if self.select.val().get_bit(11) {
            self.looked_up.next = self.looked_up.val()
                | (bit_cast::<64, 32>(self.unmeasured.val()) << 32)
                | bit_cast::<64, 32>(self.bad.val());
        }
        if self.select.val().get_bit(12) {
            self.looked_up.next = self.looked_up.val()
                | (bit_cast::<64, 8>(self.absolute_time.val().get_bits::<8>(48)) << 56)
                | bit_cast::<64, 48>(self.absolute_time.val().get_bits::<48>(0));
        }
        if self.select.val().get_bit(13) {
            self.looked_up.next = self.looked_up.val() | self.time_sum.val();
        }
        if self.select.val().get_bit(14) {
            self.looked_up.next = self.looked_up.val()
                | (bit_cast::<64, 32>(self.digest_sum.val()) << 32)
                | bit_cast::<64, 32>(self.mixing_id.val());
        }
        // The rest of word 15 is zero: frames are not authenticated.
        if self.select.val().get_bit(15) {
            self.looked_up.next = self.looked_up.val() | bit_cast::<64, 16>(self.ignored_delimiters.val());
        }
        if self.select.val().get_bit(16) {
            if self.adaptive.val().any() {
                self.looked_up.next = self.looked_up.val() | self.prefixes.val();
            } else {
                self.looked_up.next = self.looked_up.val() | self.prefixes_word.val();
            }
        }
        self.header_word.d.next = self.looked_up.val();
        self.word.next = self.header_word.q.val();
    }
}
