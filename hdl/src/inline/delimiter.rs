//! Delimiter: the frame that ends an interval, built when it is asked for.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::wire::delimiter`, where the layout is defined. All of the frame is constant but the interval's
//! number, boot epoch, key identifier and tag, and, since the check word is linear, their share in the check word: each word
//! rotated by its distance from the end. So the frame is a constant and exclusive ors. Without authentication epoch,
//! identifier and tag are zero, and nothing of them is left.
//!
//! A request makes the frame due; it is offered until it has been taken, and the number goes up by one. A request
//! while one is due asks for the same delimiter.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | cut | in | 1 | end the interval |
//! | boot_epoch, key_id, tag | in | 32, 16, 128 | those of the delimiter of this number; constant while it is offered; tag: first byte lowest |
//! | interval | out | 32 | number of the interval that the next delimiter ends, from 0 after reset |
//! | sent | out | 1 | from the next cycle on it is another |
//! | m_axis_* | out (tready in) | W + K + 1 + 1 | the delimiter, a beat a cycle |
//!
//! Parameters: W, bits of a beat: 64, 256 or 512; K = W / 8. From cut to the first beat one cycle; 512 / W beats.
//!
//! Cost before placement (`cargo xtask cost`): 64 bits: iCE40 107 LUT4, 36 flip-flops, ECP5 108 LUT4, 36 flip-flops;
//! 256 bits: 103 or 104 LUT4, 36 flip-flops.
//!
//! # Test plan
//!
//! `sim/cosim`: as part of [`insertion`](super::insertion): delimiters against the model, consecutive numbers, a
//! second request while one is due.

use crate::leaves::Flop;
use crate::module::module;
use crate::report::authenticator::Swap;
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::wire::delimiter::{self, CHECK_ROTATION};
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Delimiter<const W: usize, const K: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub cut: Signal<In, Bit>,
    pub boot_epoch: Signal<In, Bits<32>>,
    pub key_id: Signal<In, Bits<16>>,
    pub tag: Signal<In, Bits<128>>,
    pub interval: Signal<Out, Bits<32>>,
    pub sent: Signal<Out, Bit>,
    pub m_axis_tdata: Signal<Out, Bits<W>>,
    pub m_axis_tkeep: Signal<Out, Bits<K>>,
    pub m_axis_tvalid: Signal<Out, Bit>,
    pub m_axis_tready: Signal<In, Bit>,
    pub m_axis_tlast: Signal<Out, Bit>,

    /// The delimiter of interval 0, first byte lowest.
    of_zero: Constant<Bits<512>>,
    check_rotation: Constant<Bits<3>>,
    all_bytes: Constant<Bits<K>>,
    beat_bits: Constant<Bits<4>>,
    last_beat: Constant<Bits<3>>,

    due: Flop<Bit>,
    number: Flop<Bits<32>>,
    beat: Flop<Bits<3>>,

    /// Words as they are sent, and their share in the check word.
    epoch_and_key: Swap,
    first_tag: Swap,
    second_tag: Swap,
    shares: Swap,
    epoch_word: Signal<Local, Bits<64>>,
    tag_word: Signal<Local, Bits<64>>,
    share: Signal<Local, Bits<64>>,
    octet: Signal<Local, Bits<8>>,
    number_bytes: Signal<Local, Bits<32>>,
    frame: Signal<Local, Bits<512>>,
    offset: Signal<Local, Bits<9>>,
    taken: Signal<Local, Bit>,
    is_last: Signal<Local, Bit>,
}

/// A frame of eight words, first byte lowest.
pub(crate) fn first_byte_lowest(bytes: &[u8; delimiter::BYTES]) -> Bits<512> {
    let add = |frame: Bits<512>, byte: &u8| (frame << 8) | Bits::<512>::from(u64::from(*byte));
    bytes.iter().rev().fold(Bits::default(), add)
}

/// The tkeep of a whole beat.
pub(crate) fn all_bytes<const K: usize>() -> Bits<K> {
    (0..K).fold(Bits::default(), |keep, byte| keep.replace_bit(byte, true))
}

impl<const W: usize, const K: usize> Delimiter<W, K> {
    /// The delimiter of a configuration.
    pub fn new(configuration: &Configuration) -> Self {
        let bytes = delimiter::Delimiter::new(configuration, 0).encode();
        module! { Delimiter {
            of_zero: Constant::new(first_byte_lowest(&bytes)),
            check_rotation: Constant::new(u64::from(CHECK_ROTATION).into()),
            all_bytes: Constant::new(all_bytes()),
            beat_bits: Constant::new(u64::from(W.ilog2()).into()),
            last_beat: Constant::new(((delimiter::BYTES / K - 1) as u64).into()),
        }
            clk rst cut boot_epoch key_id tag interval sent m_axis_tdata m_axis_tkeep m_axis_tvalid m_axis_tready m_axis_tlast due number
            beat epoch_and_key first_tag second_tag shares epoch_word tag_word share octet number_bytes frame offset taken is_last
        }
    }
}

impl<const W: usize, const K: usize> Logic for Delimiter<W, K> {
    #[clocked(due, number, beat)]
    fn update(&mut self) {
        // The number and its share in the check word, most significant byte first on the wire.
        self.epoch_word.next =
            (bit_cast::<64, 32>(self.boot_epoch.val()) << 32) | (bit_cast::<64, 16>(self.key_id.val()) << 16);
        self.epoch_and_key.word.next = self.epoch_word.val();
        self.first_tag.word.next = self.tag.val().get_bits::<64>(0);
        self.second_tag.word.next = self.tag.val().get_bits::<64>(64);
        self.tag_word.next = self.first_tag.swapped.val();
        self.share.next = (bit_cast::<64, 32>(self.number.q.val()) << self.check_rotation.val())
            ^ (self.epoch_word.val() << 2)
            ^ (self.epoch_word.val() >> 62)
            ^ (self.tag_word.val() << 1)
            ^ (self.tag_word.val() >> 63)
            ^ self.second_tag.swapped.val();
        self.number_bytes.next = 0.into();
        for i in 0..4 {
            self.octet.next = self.number.q.val().get_bits::<8>(i * 8);
            self.number_bytes.next = (self.number_bytes.val() << 8) | bit_cast::<32, 8>(self.octet.val());
        }
        self.shares.word.next = self.share.val();
        self.frame.next = self.of_zero.val()
            ^ (bit_cast::<512, 32>(self.number_bytes.val()) << 160)
            ^ (bit_cast::<512, 64>(self.epoch_and_key.swapped.val()) << 256)
            ^ (bit_cast::<512, 128>(self.tag.val()) << 320)
            ^ (bit_cast::<512, 64>(self.shares.swapped.val()) << 448);

        self.is_last.next = self.beat.q.val() == self.last_beat.val();
        self.taken.next = self.due.q.val() & self.m_axis_tready.val();
        if self.taken.val() {
            self.beat.d.next = self.beat.q.val() + 1;
            if self.is_last.val() {
                self.beat.d.next = 0.into();
                self.number.d.next = self.number.q.val() + 1;
            }
        }
        self.due.d.next = self.cut.val();
        if self.due.q.val() {
            self.due.d.next = !(self.taken.val() & self.is_last.val());
        }

        self.offset.next = bit_cast::<9, 3>(self.beat.q.val()) << self.beat_bits.val();
        self.interval.next = self.number.q.val();
        self.sent.next = self.taken.val() & self.is_last.val();
        self.m_axis_tdata.next = self.frame.val().get_bits::<W>(self.offset.val().index());
        self.m_axis_tkeep.next = self.all_bytes.val();
        self.m_axis_tvalid.next = self.due.q.val();
        self.m_axis_tlast.next = self.is_last.val();
    }
}
