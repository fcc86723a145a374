//! Identity: gathers the key of a packet, 17 words, and hands it over when the frame has ended.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::packet::identity`, where the key and its masks are defined. Header window, tags and datagram
//! stages say which key words a pair holds; this stage masks what routers rewrite, checksums, and what lies behind the
//! datagram's end, and keeps the words until the frame has ended.
//!
//! ```text
//! s_axis -> header window -> tags -> datagram -> key words -> commit
//!   0          1, 2, 3         4       5, 6          7           cycle behind the last beat
//! ```
//!
//! The key is cleared in the cycle in which it is read. The next frame writes its first key word in the next cycle
//! at the earliest, because its first two beats hold no part of an IP header.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | running | in | 1 | the core counts; see the header window |
//! | s_axis_* | in | 64 + 8 + 1 + 1 + 1 + 65 | the observed stream |
//! | commit | out | 1 | a frame has ended, seven cycles after its last beat was accepted |
//! | measured | out | 1 | with commit: it is measured, and key, time and ip_length are its own |
//! | bad | out | 1 | with commit: the MAC marked it bad |
//! | key | out | 544 | with commit: the key, word i in bits 32i+31:32i |
//! | timestamp | out | 64 | with commit: timestamp of the first beat |
//! | ip_length | out | 17 | with commit: IP octets |
//! | delimiter | out | 1 | three cycles ahead of commit: it is a delimiter of this measurement |
//! | delimiter_number, delimiter_epoch | out | 32 | with delimiter: the number of the interval that it ends, and its boot epoch |
//!
//! Latency seven cycles behind the last beat; one beat a cycle, frames of any length back to back.
//!
//! No parameters. Cost: `docs/report.md`, by stage and by module.
//!
//! # Test plan
//!
//! `sim/cosim`: random and directed frames of every encapsulation and length, gaps, back to back, against
//! `deltaline_model::packet::identity::identify`, every key bit compared.

pub mod checksum;
pub mod datagram;
pub mod header_window;
pub mod tags;
pub mod wide;

use crate::identity::datagram::Datagram;
use crate::identity::header_window::HeaderWindow;
use crate::identity::tags::Tags;
use crate::interval::delimiter_match::DelimiterMatch;
use crate::leaves::{Flop, KeyVector};
use crate::module::module;
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::identity::{KEY_WORDS, PAYLOAD_WORD};
use rust_hdl_core::prelude::*;

const _: () = assert!(KEY_WORDS == 17 && PAYLOAD_WORD == 10);

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Identity {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub running: Signal<In, Bit>,
    pub s_axis_tdata: Signal<In, Bits<64>>,
    pub s_axis_tkeep: Signal<In, Bits<8>>,
    pub s_axis_tvalid: Signal<In, Bit>,
    pub s_axis_tready: Signal<In, Bit>,
    pub s_axis_tlast: Signal<In, Bit>,
    pub s_axis_tuser: Signal<In, Bits<65>>,
    pub commit: Signal<Out, Bit>,
    pub measured: Signal<Out, Bit>,
    pub bad: Signal<Out, Bit>,
    pub key: Signal<Out, Bits<544>>,
    pub timestamp: Signal<Out, Bits<64>>,
    pub ip_length: Signal<Out, Bits<17>>,
    pub delimiter: Signal<Out, Bit>,
    pub delimiter_number: Signal<Out, Bits<32>>,
    pub delimiter_epoch: Signal<Out, Bits<32>>,

    header_window: HeaderWindow,
    tags: Tags,
    datagram: Datagram,
    delimiter_match: DelimiterMatch,

    x: Signal<Local, Bits<32>>,
    y: Signal<Local, Bits<32>>,
    six: Signal<Local, Bit>,
    odd: Signal<Local, Bit>,
    header: Signal<Local, Bits<5>>,
    payload: Signal<Local, Bits<4>>,
    /// The pair's payload words of even and of odd number, and which pair of the latter it is.
    even: Signal<Local, Bits<32>>,
    uneven: Signal<Local, Bits<32>>,
    uneven_payload: Signal<Local, Bits<3>>,
    /// Bit i: payload word i lies in the datagram, at least with its first byte if there is a tail.
    reached: Signal<Local, Bits<8>>,
    tail_mask: Signal<Local, Bits<32>>,
    mask: [Signal<Local, Bits<32>>; 7],

    word: [Flop<Bits<32>>; 17],
    vector: KeyVector,
    committed: Flop<Bit>,
    commit_measured: Flop<Bit>,
    commit_bad: Flop<Bit>,
    commit_length: Flop<Bits<17>>,
    commit_time: Flop<Bits<64>>,
}

impl Identity {
    /// The identity stage; of the configuration, only what its delimiters look like matters.
    pub fn new(configuration: &Configuration) -> Self {
        module! { Identity {
            delimiter_match: DelimiterMatch::new(configuration),
        }
            clk rst running s_axis_tdata s_axis_tkeep s_axis_tvalid s_axis_tready s_axis_tlast s_axis_tuser
            commit measured bad word timestamp ip_length delimiter delimiter_number delimiter_epoch header_window tags
            datagram x y six odd header payload even uneven uneven_payload reached tail_mask mask key vector committed commit_measured
            commit_bad commit_length commit_time
        }
    }
}

impl Logic for Identity {
    #[clocked(committed, commit_measured, commit_bad, commit_length, commit_time)]
    fn update(&mut self) {
        self.header_window.clk.next = self.clk.val();
        self.header_window.rst.next = self.rst.val();
        self.header_window.running.next = self.running.val();
        self.header_window.s_axis_tdata.next = self.s_axis_tdata.val();
        self.header_window.s_axis_tkeep.next = self.s_axis_tkeep.val();
        self.header_window.s_axis_tvalid.next = self.s_axis_tvalid.val();
        self.header_window.s_axis_tready.next = self.s_axis_tready.val();
        self.header_window.s_axis_tlast.next = self.s_axis_tlast.val();
        self.header_window.s_axis_tuser.next = self.s_axis_tuser.val();

        self.delimiter_match.clk.next = self.clk.val();
        self.delimiter_match.rst.next = self.rst.val();
        self.delimiter_match.slot.next = self.header_window.slot.val();
        self.delimiter_match.opening.next = self.header_window.opening.val();
        self.delimiter_match.closing.next = self.header_window.closing.val();
        self.delimiter_match.bad.next = self.header_window.bad.val();
        self.delimiter_match.a.next = self.header_window.a.val();
        self.delimiter_match.b.next = self.header_window.b.val();
        self.delimiter_match.full.next = self.header_window.full.val();
        self.delimiter.next = self.delimiter_match.delimiter.val();
        self.delimiter_number.next = self.delimiter_match.number.val();
        self.delimiter_epoch.next = self.delimiter_match.epoch.val();

        self.tags.clk.next = self.clk.val();
        self.tags.rst.next = self.rst.val();
        self.tags.slot.next = self.header_window.slot.val();
        self.tags.opening.next = self.header_window.opening.val();
        self.tags.closing.next = self.header_window.closing.val();
        self.tags.bad.next = self.header_window.bad.val();
        self.tags.a.next = self.header_window.a.val();
        self.tags.b.next = self.header_window.b.val();
        self.tags.a_tag.next = self.header_window.a_tag.val();
        self.tags.b_tag.next = self.header_window.b_tag.val();

        self.datagram.clk.next = self.clk.val();
        self.datagram.rst.next = self.rst.val();
        self.datagram.pair.next = self.tags.pair.val();
        self.datagram.first.next = self.tags.first.val();
        self.datagram.network.next = self.tags.network.val();
        self.datagram.closes.next = self.tags.closes.val();
        self.datagram.bad_frame.next = self.tags.bad_frame.val();
        self.datagram.x.next = self.tags.x.val();
        self.datagram.y.next = self.tags.y.val();
        self.datagram.x_whole.next = self.tags.x_whole.val();
        self.datagram.y_whole.next = self.tags.y_whole.val();

        self.x.next = self.datagram.key_x.val();
        self.y.next = self.datagram.key_y.val();
        self.six.next = self.datagram.version6.val();
        self.odd.next = self.datagram.odd.val();
        self.header.next = self.datagram.header.val();
        self.payload.next = self.datagram.payload.val();

        // Which bytes of the payload words lie before the datagram's end.
        self.reached.next = (bit_cast::<8, 7>(self.datagram.payload_whole.val()) << 1) | 1;
        self.tail_mask.next = 0.into();
        if self.datagram.payload_tail.val() == 1 {
            self.tail_mask.next = 0xff00_0000_u64.into();
        } else if self.datagram.payload_tail.val() == 2 {
            self.tail_mask.next = 0xffff_0000_u64.into();
        } else if self.datagram.payload_tail.val() == 3 {
            self.tail_mask.next = 0xffff_ff00_u64.into();
        }
        for i in 0..7 {
            self.mask[i].next = 0.into();
            if self.reached.val().get_bit(i) {
                self.mask[i].next = self.tail_mask.val();
            }
            if self.reached.val().get_bit(i + 1) {
                self.mask[i].next = 0xffff_ffff_u64.into();
            }
        }
        if self.datagram.checksum.val().get_bit(0) {
            self.mask[1].next = self.mask[1].val() & 0xffff_0000_u64;
        }
        if self.datagram.checksum.val().get_bit(1) {
            self.mask[4].next = self.mask[4].val() & 0x0000_ffff_u64;
        }
        for i in 0..17 {
            self.word[i].clock.next = self.clk.val();
            self.word[i].rst.next = self.rst.val();
            self.word[i].d.next = self.word[i].q.val();
            if self.committed.q.val() {
                self.word[i].d.next = 0.into();
            }
            self.vector.word[i].next = self.word[i].q.val();
        }
        self.key.next = self.vector.key.val();

        // The fixed header, without what routers rewrite: TOS, TTL and checksum; traffic class, flow label and hop
        // limit.
        if self.header.val().get_bit(0) {
            self.word[0].d.next = self.x.val() & 0xff00_ffff_u64;
            self.word[1].d.next = self.y.val();
            if self.six.val() {
                self.word[0].d.next = self.x.val() & 0xf000_0000_u64;
                self.word[1].d.next = self.y.val() & 0xffff_ff00_u64;
            }
        }
        if self.header.val().get_bit(1) {
            self.word[2].d.next = self.x.val() & 0x00ff_0000_u64;
            self.word[3].d.next = self.y.val();
            if self.six.val() {
                self.word[2].d.next = self.x.val();
            }
        }
        if self.header.val().get_bit(2) {
            self.word[4].d.next = self.x.val();
            if self.six.val() {
                self.word[5].d.next = self.y.val();
            }
        }
        if self.header.val().get_bit(3) {
            self.word[6].d.next = self.x.val();
            self.word[7].d.next = self.y.val();
        }
        if self.header.val().get_bit(4) {
            self.word[8].d.next = self.x.val();
            self.word[9].d.next = self.y.val();
        }
        // The payload: words of even number come first in their pair, or, if the pairs are odd, last in it; then those of odd
        // number come a pair later.
        self.even.next = self.x.val();
        self.uneven.next = self.y.val();
        self.uneven_payload.next = self.payload.val().get_bits::<3>(0);
        if self.odd.val() {
            self.even.next = self.y.val();
            self.uneven.next = self.x.val();
            self.uneven_payload.next = self.payload.val().get_bits::<3>(1);
        }
        for i in 0..4 {
            if self.payload.val().get_bit(i) {
                self.word[i * 2 + 10].d.next = self.even.val() & self.mask[i * 2].val();
            }
        }
        for i in 0..3 {
            if self.uneven_payload.val().get_bit(i) {
                self.word[i * 2 + 11].d.next = self.uneven.val() & self.mask[i * 2 + 1].val();
            }
        }
        self.committed.d.next = self.datagram.closed.val();
        self.commit_measured.d.next = self.datagram.measured.val();
        self.commit_bad.d.next = self.datagram.bad.val();
        self.commit_length.d.next = self.datagram.ip_length.val();
        // The next frame's timestamp is there from the next cycle on.
        self.commit_time.d.next = self.header_window.timestamp.val();
        self.commit.next = self.committed.q.val();
        self.measured.next = self.commit_measured.q.val();
        self.bad.next = self.commit_bad.q.val();
        self.timestamp.next = self.commit_time.q.val();
        self.ip_length.next = self.commit_length.q.val();
    }
}
