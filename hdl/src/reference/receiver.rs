//! Receiver: recognises reference packets in an observed stream, and says how long each was under way.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::wire::reference`. EtherType, version, role, segment and configuration are compared beat by beat as
//! they come; number and time are kept on the way. A frame that the MAC marked bad is no reference packet, nor is one of less than
//! 64 bytes; more may follow (padding). Check word, addresses and reserved bytes are not compared: the FCS, which the MAC checks,
//! covers the same bytes.
//!
//! | beat of 64, 256, 512 bits | bytes | compared | kept |
//! |------|-------|----------|------|
//! | 0, 0, 0 | 0..8 | | the time of arrival, from tuser |
//! | 1, 0, 0 | 8..16 | EtherType, version, role | |
//! | 2, 0, 0 | 16..24 | segment | number |
//! | 3, 0, 0 | 24..32 | configuration | |
//! | 4, 1, 0 | 32..40 | | time of sending |
//! | 7, 1, 0 | 56..64 | there, and whole | |
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | s_axis_* | in | W + K + 1 + 1 + 1 + 65 | observed stream, frames without FCS; tuser: bit 0 with tlast, a bad frame; bits 64:1 with the first beat, PTP relative-64 timestamp |
//! | there | out | 1 | a reference packet has come, two cycles behind its last beat |
//! | number | out | 32 | with there: its number; a missing one is lost |
//! | delay | out | 64 | with there: time of arrival less time of sending, PTP relative-64, two's complement: negative where the clocks disagree by more |
//!
//! One beat a cycle, frames of any length back to back. Parameters: W, bits of a beat, 64, 256 or 512, K = W / 8; the configuration's
//! segment and identifier. A reset in the middle of a frame takes its rest for a frame: reset the stream's source with it.
//!
//! Cost before placement (`cargo xtask cost`): 64 bits: iCE40 191 LUT4, ECP5 134; 256 bits: 196, 139; 512 bits: 204, 152; 263 flip-flops
//! at each width.
//!
//! # Test plan
//!
//! `sim/cosim`, at each width: random traffic with reference packets of this segment and of others, with pauses and without; every
//! single bit of one inverted; cut at every length, padded; marked bad; back to back; delays of any sign; planted faults.

use crate::leaves::Flop;
use crate::module::module;
use crate::report::authenticator::Swap;
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::reference::{BYTES, Reference};
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Receiver<const W: usize, const K: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub s_axis_tdata: Signal<In, Bits<W>>,
    pub s_axis_tkeep: Signal<In, Bits<K>>,
    pub s_axis_tvalid: Signal<In, Bit>,
    pub s_axis_tready: Signal<In, Bit>,
    pub s_axis_tlast: Signal<In, Bit>,
    pub s_axis_tuser: Signal<In, Bits<65>>,
    pub there: Signal<Out, Bit>,
    pub number: Signal<Out, Bits<32>>,
    pub delay: Signal<Out, Bits<64>>,

    /// As they come, first byte lowest.
    kind: Constant<Bits<32>>,
    segment: Constant<Bits<32>>,
    configuration: Constant<Bits<64>>,
    /// In which beat each is, and at which of its bits.
    kind_beat: Constant<Bits<4>>,
    kind_at: Constant<Bits<9>>,
    segment_beat: Constant<Bits<4>>,
    segment_at: Constant<Bits<9>>,
    number_at: Constant<Bits<9>>,
    configuration_beat: Constant<Bits<4>>,
    configuration_at: Constant<Bits<9>>,
    sent_beat: Constant<Bits<4>>,
    sent_at: Constant<Bits<9>>,
    last_beat: Constant<Bits<4>>,
    beats_of_one: Constant<Bits<4>>,

    /// Beats of the frame so far, up to those of a reference packet.
    beats: Flop<Bits<4>>,
    /// All that was compared so far was right.
    agrees: Flop<Bit>,
    arrival: Flop<Bits<64>>,
    number_seen: Flop<Bits<32>>,
    sent: Flop<Bits<64>>,
    found: Flop<Bit>,
    found_then: Flop<Bit>,
    number_then: Flop<Bits<32>>,
    delay_then: Flop<Bits<64>>,

    times: Swap,
    number_bytes: Signal<Local, Bits<32>>,
    number_now: Signal<Local, Bits<32>>,
    octet: Signal<Local, Bits<8>>,
    transfer: Signal<Local, Bit>,
    is_kind: Signal<Local, Bit>,
    is_segment: Signal<Local, Bit>,
    is_configuration: Signal<Local, Bit>,
    agrees_now: Signal<Local, Bit>,
    is_long: Signal<Local, Bit>,
}

/// The beat in which this word of a frame is.
fn beat_of<const K: usize>(word: usize) -> Bits<4> {
    ((word * 8 / K) as u64).into()
}

/// Where that begins in its beat, in bits.
fn place_of<const K: usize>(word: usize) -> usize {
    word * 8 % K * 8
}

impl<const W: usize, const K: usize> Receiver<W, K> {
    /// The receiver of a configuration's segment.
    pub fn new(configuration: &Configuration) -> Self {
        let words = Reference::new(configuration, 0, Timestamp(0)).words().map(u64::swap_bytes);
        let at = |bit: usize| Constant::new((bit as u64).into());
        module! { Receiver {
            kind: Constant::new((words[1] >> 32).into()),
            segment: Constant::new((words[2] & 0xffff_ffff).into()),
            configuration: Constant::new(words[3].into()),
            kind_beat: Constant::new(beat_of::<K>(1)),
            kind_at: at(place_of::<K>(1) + 32),
            segment_beat: Constant::new(beat_of::<K>(2)),
            segment_at: at(place_of::<K>(2)),
            number_at: at(place_of::<K>(2) + 32),
            configuration_beat: Constant::new(beat_of::<K>(3)),
            configuration_at: at(place_of::<K>(3)),
            sent_beat: Constant::new(beat_of::<K>(4)),
            sent_at: at(place_of::<K>(4)),
            last_beat: Constant::new(beat_of::<K>(7)),
            beats_of_one: Constant::new(((BYTES / K) as u64).into()),
        }
            clk rst s_axis_tdata s_axis_tkeep s_axis_tvalid s_axis_tready s_axis_tlast s_axis_tuser there number delay
            beats agrees arrival number_seen sent found found_then number_then delay_then times number_bytes number_now octet transfer is_kind
            is_segment is_configuration agrees_now is_long
        }
    }
}

impl<const W: usize, const K: usize> Logic for Receiver<W, K> {
    #[clocked(beats, agrees, arrival, number_seen, sent, found, found_then, number_then, delay_then)]
    fn update(&mut self) {
        self.transfer.next = self.s_axis_tvalid.val() & self.s_axis_tready.val();
        self.number_bytes.next = self.s_axis_tdata.val().get_bits::<32>(self.number_at.val().index());
        self.number_now.next = 0.into();
        for i in 0..4 {
            self.octet.next = self.number_bytes.val().get_bits::<8>(i * 8);
            self.number_now.next = (self.number_now.val() << 8) | bit_cast::<32, 8>(self.octet.val());
        }
        self.times.word.next = self.s_axis_tdata.val().get_bits::<64>(self.sent_at.val().index());

        // What is in another beat says nothing in this one.
        self.is_kind.next = (self.beats.q.val() != self.kind_beat.val())
            | (self.s_axis_tdata.val().get_bits::<32>(self.kind_at.val().index()) == self.kind.val());
        self.is_segment.next = (self.beats.q.val() != self.segment_beat.val())
            | (self.s_axis_tdata.val().get_bits::<32>(self.segment_at.val().index()) == self.segment.val());
        self.is_configuration.next = (self.beats.q.val() != self.configuration_beat.val())
            | (self.s_axis_tdata.val().get_bits::<64>(self.configuration_at.val().index())
                == self.configuration.val());
        self.agrees_now.next = (self.agrees.q.val() | !self.beats.q.val().any())
            & self.is_kind.val()
            & self.is_segment.val()
            & self.is_configuration.val();
        // Of the beats of a reference packet the last must be whole.
        self.is_long.next = (self.beats.q.val() == self.beats_of_one.val())
            | ((self.beats.q.val() == self.last_beat.val()) & self.s_axis_tkeep.val().all());
        self.found.d.next = self.transfer.val()
            & self.s_axis_tlast.val()
            & self.agrees_now.val()
            & self.is_long.val()
            & !self.s_axis_tuser.val().get_bit(0);
        if self.transfer.val() {
            self.agrees.d.next = self.agrees_now.val();
            if self.beats.q.val() != self.beats_of_one.val() {
                self.beats.d.next = self.beats.q.val() + 1;
            }
            if self.s_axis_tlast.val() {
                self.beats.d.next = 0.into();
            }
            if !self.beats.q.val().any() {
                self.arrival.d.next = self.s_axis_tuser.val().get_bits::<64>(1);
            }
            if self.beats.q.val() == self.segment_beat.val() {
                self.number_seen.d.next = self.number_now.val();
            }
            if self.beats.q.val() == self.sent_beat.val() {
                self.sent.d.next = self.times.swapped.val();
            }
        }
        self.found_then.d.next = self.found.q.val();
        self.number_then.d.next = self.number_seen.q.val();
        self.delay_then.d.next = self.arrival.q.val() - self.sent.q.val();
        self.there.next = self.found_then.q.val();
        self.number.next = self.number_then.q.val();
        self.delay.next = self.delay_then.q.val();
    }
}
