//! Delimiter: recognises this measurement's delimiters in the stream, their numbers and boot epochs.
//!
//! # Theory of operation
//!
//! As the [64-bit core's](crate::interval::delimiter_match), byte by byte: EtherType, version, kind and segment are bytes 12 to
//! 19 of a frame, the number is in bytes 20 to 23, the configuration digest in bytes 24 to 31, the boot epoch
//! in bytes 32 to 35. A byte that differs is remembered to the frame's end. A frame of less than 64 bytes, or that the MAC marked
//! bad, is no delimiter.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | there, octet, index | in | 1, 8, 7 | a byte and its place in its frame, from the walk |
//! | ends, bad | in | 1 | it is the last one; the frame is bad |
//! | delimiter | out | 1 | a delimiter has ended; three cycles ahead of its commit |
//! | number, epoch | out | 32 | from 28 cycles before delimiter to 19 behind it: the number of the interval that it ends, and its boot epoch |
//!
//! Latency a cycle behind the last byte. Parameters: the configuration's segment and digest.
//!
//! # Test plan
//!
//! `sim/cosim`, with the core: delimiters of this and of other measurements, bad ones, with one byte wrong each, cut
//! short, back to back with traffic.

use crate::leaves::Flop;
use crate::module::module;
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::wire::delimiter::Delimiter as Frame;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Delimiter {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub there: Signal<In, Bit>,
    pub octet: Signal<In, Bits<8>>,
    pub index: Signal<In, Bits<7>>,
    pub ends: Signal<In, Bit>,
    pub bad: Signal<In, Bit>,
    pub delimiter: Signal<Out, Bit>,
    pub number: Signal<Out, Bits<32>>,
    pub epoch: Signal<Out, Bits<32>>,

    /// Bytes 16..=19 and 12..=15, bytes 24..=31: found by an index's low three bits.
    kind_and_segment: [Constant<Bits<8>>; 8],
    digest: [Constant<Bits<8>>; 8],
    /// The index in words of four bytes.
    word: Signal<Local, Bits<5>>,
    low: Signal<Local, Bits<3>>,
    one: Constant<Bits<8>>,
    /// A one at the place of the index's low three bits.
    place: Signal<Local, Bits<8>>,
    compared: Signal<Local, Bit>,
    expected: Signal<Local, Bits<8>>,
    differs_now: Signal<Local, Bit>,
    differs: Flop<Bit>,
    seen_number: Flop<Bits<32>>,
    seen_epoch: Flop<Bits<32>>,
    found: Flop<Bit>,
}

impl Delimiter {
    /// Recognises the delimiters of a configuration.
    pub fn new(configuration: &Configuration) -> Self {
        let words = Frame::new(configuration, 0).words();
        let kind_and_segment = (words[2] >> 32 << 32 | words[1] & 0xffff_ffff).to_be_bytes();
        module! { Delimiter {
            kind_and_segment: kind_and_segment.map(|byte| Constant::new(u64::from(byte).into())),
            digest: words[3].to_be_bytes().map(|byte| Constant::new(u64::from(byte).into())),
            one: Constant::new(1.into()),
        }
            clk rst there octet index ends bad delimiter number epoch word low place compared expected differs_now
            differs seen_number seen_epoch found
        }
    }
}

impl Logic for Delimiter {
    #[clocked(differs, seen_number, seen_epoch, found)]
    fn update(&mut self) {
        self.word.next = self.index.val().get_bits::<5>(2);
        self.low.next = self.index.val().get_bits::<3>(0);
        self.place.next = self.one.val() << self.low.val();
        self.compared.next =
            (self.word.val() == 3) | (self.word.val() == 4) | (self.word.val() == 6) | (self.word.val() == 7);
        self.expected.next = 0.into();
        for i in 0..8 {
            if self.place.val().get_bit(i) {
                self.expected.next = self.kind_and_segment[i].val();
                if self.word.val() >= 6 {
                    self.expected.next = self.digest[i].val();
                }
            }
        }
        self.differs_now.next =
            self.differs.q.val() | (self.compared.val() & (self.octet.val() != self.expected.val()));
        if self.there.val() {
            self.differs.d.next = self.differs_now.val() & !self.ends.val();
            if self.word.val() == 5 {
                self.seen_number.d.next =
                    (self.seen_number.q.val() << 8) | bit_cast::<32, 8>(self.octet.val());
            }
            if self.word.val() == 8 {
                self.seen_epoch.d.next = (self.seen_epoch.q.val() << 8) | bit_cast::<32, 8>(self.octet.val());
            }
        }
        self.found.d.next =
            self.ends.val() & !self.bad.val() & !self.differs_now.val() & (self.index.val() >= 63);
        self.delimiter.next = self.found.q.val();
        self.number.next = self.seen_number.q.val();
        self.epoch.next = self.seen_epoch.q.val();
    }
}
