//! Receiver: recognises reference packets in an observed stream, and says how long each was under way.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::wire::reference`. EtherType, version, role, segment and configuration are compared beat by beat as
//! they come; number and time are kept on the way. A frame that the MAC marked bad is no reference packet, nor is one of less than
//! 64 bytes; more may follow (padding). Check word, addresses and reserved bytes are not compared: the FCS, which the MAC checks,
//! covers the same bytes.
//!
//! | beat | bytes | compared | kept |
//! |------|-------|----------|------|
//! | 0 | 0..8 | | the time of arrival, from tuser |
//! | 1 | 8..16 | EtherType, version, role | |
//! | 2 | 16..24 | segment | number |
//! | 3 | 24..32 | configuration | |
//! | 4 | 32..40 | | time of sending |
//! | 7 | 56..64 | there, and whole | |
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | s_axis_* | in | 64 + 8 + 1 + 1 + 1 + 65 | observed stream, frames without FCS; tuser: bit 0 with tlast, a bad frame; bits 64:1 with the first beat, PTP relative-64 timestamp |
//! | there | out | 1 | a reference packet has come, two cycles behind its last beat |
//! | number | out | 32 | with there: its number; a missing one is lost |
//! | delay | out | 64 | with there: time of arrival less time of sending, PTP relative-64, two's complement: negative where the clocks disagree by more |
//!
//! One beat a cycle, frames of any length back to back. Parameters: the configuration's segment and identifier. A reset in the
//! middle of a frame takes its rest for a frame: reset the stream's source with it.
//!
//! Cost before placement (`cargo xtask cost`): iCE40 190 LUT4, 263 flip-flops; ECP5 134 LUT4, 263 flip-flops.
//!
//! # Test plan
//!
//! `sim/cosim`: random traffic with reference packets of this segment and of others, with pauses and without; every single bit of
//! one inverted; cut at every length, padded; marked bad; back to back; delays of any sign; planted faults.

use crate::leaves::Flop;
use crate::module::module;
use crate::report::authenticator::Swap;
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::reference::Reference;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Receiver {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub s_axis_tdata: Signal<In, Bits<64>>,
    pub s_axis_tkeep: Signal<In, Bits<8>>,
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

    /// Beats of the frame so far, up to eight.
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

    swap: Swap,
    transfer: Signal<Local, Bit>,
    agrees_now: Signal<Local, Bit>,
    is_long: Signal<Local, Bit>,
}

impl Receiver {
    /// The receiver of a configuration's segment.
    pub fn new(configuration: &Configuration) -> Self {
        let words = Reference::new(configuration, 0, Timestamp(0)).words().map(u64::swap_bytes);
        module! { Receiver {
            kind: Constant::new((words[1] >> 32).into()),
            segment: Constant::new((words[2] & 0xffff_ffff).into()),
            configuration: Constant::new(words[3].into()),
        }
            clk rst s_axis_tdata s_axis_tkeep s_axis_tvalid s_axis_tready s_axis_tlast s_axis_tuser there number delay
            beats agrees arrival number_seen sent found found_then number_then delay_then swap transfer agrees_now is_long
        }
    }
}

impl Logic for Receiver {
    #[clocked(beats, agrees, arrival, number_seen, sent, found, found_then, number_then, delay_then)]
    fn update(&mut self) {
        self.transfer.next = self.s_axis_tvalid.val() & self.s_axis_tready.val();
        self.swap.word.next = self.s_axis_tdata.val();
        self.agrees_now.next = self.agrees.q.val();
        match self.beats.q.val().index() {
            0 => {
                self.agrees_now.next = true;
            }
            1 => {
                self.agrees_now.next =
                    self.agrees.q.val() & (self.s_axis_tdata.val().get_bits::<32>(32) == self.kind.val());
            }
            2 => {
                self.agrees_now.next =
                    self.agrees.q.val() & (self.s_axis_tdata.val().get_bits::<32>(0) == self.segment.val());
            }
            3 => {
                self.agrees_now.next =
                    self.agrees.q.val() & (self.s_axis_tdata.val() == self.configuration.val());
            }
            _ => {}
        }
        // Of eight beats the last must be whole.
        self.is_long.next =
            (self.beats.q.val() == 8) | ((self.beats.q.val() == 7) & self.s_axis_tkeep.val().all());
        self.found.d.next = self.transfer.val()
            & self.s_axis_tlast.val()
            & self.agrees_now.val()
            & self.is_long.val()
            & !self.s_axis_tuser.val().get_bit(0);
        if self.transfer.val() {
            self.agrees.d.next = self.agrees_now.val();
            if self.beats.q.val() != 8 {
                self.beats.d.next = self.beats.q.val() + 1;
            }
            if self.s_axis_tlast.val() {
                self.beats.d.next = 0.into();
            }
            if self.beats.q.val() == 0 {
                self.arrival.d.next = self.s_axis_tuser.val().get_bits::<64>(1);
            }
            if self.beats.q.val() == 2 {
                self.number_seen.d.next = self.swap.swapped.val().get_bits::<32>(0);
            }
            if self.beats.q.val() == 4 {
                self.sent.d.next = self.swap.swapped.val();
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
