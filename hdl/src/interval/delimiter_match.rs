//! Delimiter match: recognises this measurement's delimiters in the stream, their numbers and boot epochs.
//!
//! # Theory of operation
//!
//! A delimiter is a control frame of its own kind (`deltaline_model::wire::delimiter`). Its EtherType, version, kind,
//! segment and configuration digest lie in the header window's words 2 to 7; they are compared pair by pair as the
//! pairs come. A frame that the MAC marked bad is no delimiter, nor is one of less than 64 bytes. The check word is not verified: the FCS, which the
//! MAC checks, guards the same bytes on the wire.
//!
//! | pair | word a | word b |
//! |------|--------|--------|
//! | 1 | of no interest | .. EtherType |
//! | 2 | version, kind, segment 31:16 | segment 15:0, number 31:16 |
//! | 3 | number 15:0, digest 63:48 | digest 47:16 |
//! | 4 | digest 15:0, epoch 31:16 | epoch 15:0 .. |
//! | 5 to 7 | of no interest | of no interest |
//! | 8 | bytes 62 and 63 .. | |
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | slot, opening, closing, bad, a, b | in | | from the header window |
//! | full | in | 1 | with closing: the last beat had all its bytes |
//! | delimiter | out | 1 | a delimiter has ended; three cycles ahead of its commit |
//! | number, epoch | out | 32 | with delimiter: the number of the interval that it ends, and its boot epoch |
//!
//! Latency one cycle behind the closing slot. Parameters: the configuration's segment and digest.
//!
//! # Test plan
//!
//! `sim/cosim`, with the core: delimiters of this and of other measurements, bad ones, with one field wrong each,
//! cut short, back to back with traffic.

use crate::leaves::Flop;
use crate::module::module;
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::wire::delimiter::Delimiter;
use rust_hdl_core::prelude::*;

/// What a delimiter of a configuration holds in the header window's words 2..=7, number left out.
pub(crate) struct Pattern {
    /// Low half of word 2.
    pub ethertype: u64,
    /// Word 3.
    pub kind_and_segment: u64,
    /// High half of word 4.
    pub segment_low: u64,
    /// Low half of word 5.
    pub digest_high: u64,
    /// Word 6.
    pub digest_middle: u64,
    /// High half of word 7.
    pub digest_low: u64,
}

impl Pattern {
    pub(crate) fn of(configuration: &Configuration) -> Self {
        let words = Delimiter::new(configuration, 0).words();
        Pattern {
            ethertype: words[1] >> 16 & 0xffff,
            kind_and_segment: (words[1] & 0xffff) << 16 | words[2] >> 48,
            segment_low: words[2] >> 32 & 0xffff,
            digest_high: words[3] >> 48,
            digest_middle: words[3] >> 16 & 0xffff_ffff,
            digest_low: words[3] & 0xffff,
        }
    }
}

/// See the [module](self).
#[derive(LogicBlock)]
pub struct DelimiterMatch {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub slot: Signal<In, Bit>,
    pub opening: Signal<In, Bit>,
    pub closing: Signal<In, Bit>,
    pub bad: Signal<In, Bit>,
    pub a: Signal<In, Bits<32>>,
    pub b: Signal<In, Bits<32>>,
    pub full: Signal<In, Bit>,
    pub delimiter: Signal<Out, Bit>,
    pub number: Signal<Out, Bits<32>>,
    pub epoch: Signal<Out, Bits<32>>,

    ethertype: Constant<Bits<16>>,
    kind_and_segment: Constant<Bits<32>>,
    segment_low: Constant<Bits<16>>,
    digest_high: Constant<Bits<16>>,
    digest_middle: Constant<Bits<32>>,
    digest_low: Constant<Bits<16>>,
    /// Pairs that have come and matched so far; 4: all that are compared; 8 and 9: with the closing slot, 64 bytes and more.
    matched: Flop<Bits<4>>,
    number_seen: Flop<Bits<32>>,
    epoch_seen: Flop<Bits<32>>,
    found: Flop<Bit>,
    matched_next: Signal<Local, Bits<4>>,
}

impl DelimiterMatch {
    /// The match for a configuration's delimiters.
    pub fn new(configuration: &Configuration) -> Self {
        let pattern = Pattern::of(configuration);
        module! { DelimiterMatch {
            ethertype: Constant::new(pattern.ethertype.into()),
            kind_and_segment: Constant::new(pattern.kind_and_segment.into()),
            segment_low: Constant::new(pattern.segment_low.into()),
            digest_high: Constant::new(pattern.digest_high.into()),
            digest_middle: Constant::new(pattern.digest_middle.into()),
            digest_low: Constant::new(pattern.digest_low.into()),
        }
            clk rst slot opening closing bad a b full delimiter number epoch matched number_seen epoch_seen found matched_next
        }
    }
}

impl Logic for DelimiterMatch {
    #[clocked(matched, number_seen, epoch_seen, found)]
    fn update(&mut self) {
        self.matched_next.next = 0.into();
        if self.opening.val() {
            if self.b.val().get_bits::<16>(0) == self.ethertype.val() {
                self.matched_next.next = 1.into();
            }
        } else if self.matched.q.val() == 1 {
            if (self.a.val() == self.kind_and_segment.val())
                & (self.b.val().get_bits::<16>(16) == self.segment_low.val())
            {
                self.matched_next.next = 2.into();
            }
        } else if self.matched.q.val() == 2 {
            if (self.a.val().get_bits::<16>(0) == self.digest_high.val())
                & (self.b.val() == self.digest_middle.val())
            {
                self.matched_next.next = 3.into();
            }
        } else if self.matched.q.val() == 3 {
            if self.a.val().get_bits::<16>(16) == self.digest_low.val() {
                self.matched_next.next = 4.into();
            }
        } else if self.matched.q.val().get_bit(3) {
            // The ninth beat and those behind it.
            self.matched_next.next = 9.into();
        } else if self.matched.q.val().get_bit(2) {
            self.matched_next.next = self.matched.q.val() + 1;
        }
        if self.slot.val() {
            self.matched.d.next = self.matched_next.val();
            if (self.matched.q.val() == 1) & !self.opening.val() {
                self.number_seen.d.next = (self.number_seen.q.val() & 0xffff_u64)
                    | (bit_cast::<32, 16>(self.b.val().get_bits::<16>(0)) << 16);
            }
            if (self.matched.q.val() == 2) & !self.opening.val() {
                self.number_seen.d.next = (self.number_seen.q.val() & 0xffff_0000_u64)
                    | bit_cast::<32, 16>(self.a.val().get_bits::<16>(16));
            }
            if (self.matched.q.val() == 3) & !self.opening.val() {
                self.epoch_seen.d.next = (bit_cast::<32, 16>(self.a.val().get_bits::<16>(0)) << 16)
                    | bit_cast::<32, 16>(self.b.val().get_bits::<16>(16));
            }
        }
        // Of eight beats the last must be full.
        self.found.d.next = self.slot.val()
            & self.closing.val()
            & !self.bad.val()
            & ((self.full.val() & (self.matched_next.val() == 8)) | (self.matched_next.val() == 9));
        self.delimiter.next = self.found.q.val();
        self.number.next = self.number_seen.q.val();
        self.epoch.next = self.epoch_seen.q.val();
    }
}
