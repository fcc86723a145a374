//! Insertion: delimiters and control frames into the passing stream.
//!
//! # Theory of operation
//!
//! The [delimiter](super::delimiter) and the [frame buffer](super::frame_buffer) offer whole frames, and the
//! [inserter](super::inserter) puts them between the frames of the stream. The delimiter goes first: it takes the next
//! frame boundary, and control frames that wait follow behind it. Control frames wait for a pause of the traffic for
//! up to [`PATIENCE`](super::inserter::PATIENCE) cycles. A frame that has begun is finished.
//!
//! Inserted frames carry EtherType 0x88B5, so that a core behind counts them as frames that are not measured.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | s_axis_* | in (tready out) | W + K + 1 + 1 + 65 | traffic |
//! | control_axis_* | in (tready out) | 64 + 1 + 1 | the core's m_axis |
//! | cut | in | 1 | end the interval at the next frame boundary; ignored while a delimiter is due |
//! | boot_epoch, key_id, tag, sent | | | as the [delimiter](super::delimiter)'s |
//! | interval | out | 32 | number of the interval that the next delimiter ends, from 0 after reset |
//! | m_axis_* | out (tready in) | W + K + 1 + 1 + 65 | traffic, delimiters and control frames; tuser of the inserted ones is zero |
//!
//! Parameters: N words of 64 bits a beat, W = 64 × N, K = 8 × N, A = 8 - log2(N). Latency of traffic one cycle. It is
//! stalled, s_axis_tready low, for as many cycles as the inserted frame has beats, plus one for each cycle in which
//! m_axis stalls; one inserted frame at a time if traffic waits:
//!
//! | N | delimiter | longest control frame (164 words) |
//! |---|-----------|-----------------------------------|
//! | 1 | 8 cycles | 164 cycles |
//! | 4 | 2 cycles | 41 cycles |
//! | 8 | 1 cycle | 21 cycles |
//!
//! A reset in the middle of a frame cuts that frame: reset the stream's source with it.
//!
//! Cost with all it consists of, before placement (`cargo xtask cost`): 64 bits: iCE40 525 LUT4, 414 flip-flops, 4
//! block RAMs, ECP5 615 LUT4, 414 flip-flops, 2 block RAMs; 256 bits: iCE40 1179 LUT4, 1043 flip-flops, 16 block RAMs,
//! ECP5 1489 LUT4, 1043 flip-flops, 8 block RAMs.
//!
//! # Test plan
//!
//! `sim/cosim`, for every width: traffic of every length from one byte, idle, back to back and random, with
//! back-pressure idle, heavy and random; requests and control frames at random and at every distance from a frame's
//! boundary. What comes out is what went in, unchanged and in order, and the inserted frames whole between frames;
//! delimiters are the model's, numbered one by one, at the first boundary; control frames are those that were given.
//! In every cycle: the rules of AXI4-Stream, latency, and the bounds of stall and wait.

use super::delimiter::Delimiter;
use super::frame_buffer::FrameBuffer;
use super::inserter::Inserter;
use crate::leaves::Flop;
use crate::module::module;
use deltaline_hdl_macros::{clocked, passes};
use deltaline_model::configuration::Configuration;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Insertion<const W: usize, const K: usize, const N: usize, const A: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub s_axis_tdata: Signal<In, Bits<W>>,
    pub s_axis_tkeep: Signal<In, Bits<K>>,
    pub s_axis_tvalid: Signal<In, Bit>,
    pub s_axis_tready: Signal<Out, Bit>,
    pub s_axis_tlast: Signal<In, Bit>,
    pub s_axis_tuser: Signal<In, Bits<65>>,
    pub control_axis_tdata: Signal<In, Bits<64>>,
    pub control_axis_tvalid: Signal<In, Bit>,
    pub control_axis_tready: Signal<Out, Bit>,
    pub control_axis_tlast: Signal<In, Bit>,
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
    pub m_axis_tuser: Signal<Out, Bits<65>>,

    delimiter: Delimiter<W, K>,
    buffer: FrameBuffer<W, K, N, A>,
    inserter: Inserter<W, K>,

    /// An inserted frame has begun and not ended.
    begun: Flop<Bit>,
    /// It is a delimiter.
    begun_delimiter: Flop<Bit>,

    delimits: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    data: Signal<Local, Bits<W>>,
    keep: Signal<Local, Bits<K>>,
    last: Signal<Local, Bit>,
}

impl<const W: usize, const K: usize, const N: usize, const A: usize> Insertion<W, K, N, A> {
    /// Insertion at an end of a configuration's segment.
    pub fn new(configuration: &Configuration) -> Self {
        module! { Insertion {
            delimiter: Delimiter::new(configuration),
        }
            clk rst s_axis_tdata s_axis_tkeep s_axis_tvalid s_axis_tready s_axis_tlast s_axis_tuser
            control_axis_tdata control_axis_tvalid control_axis_tready control_axis_tlast cut boot_epoch key_id
            tag interval sent
            m_axis_tdata m_axis_tkeep m_axis_tvalid m_axis_tready m_axis_tlast m_axis_tuser buffer inserter
            begun begun_delimiter delimits taken data keep last
        }
    }
}

impl<const W: usize, const K: usize, const N: usize, const A: usize> Logic for Insertion<W, K, N, A> {
    #[passes(delimiter, in(cut, boot_epoch, key_id, tag), out(interval, sent))]
    #[clocked(begun, begun_delimiter)]
    fn update(&mut self) {
        self.delimiter.clk.next = self.clk.val();
        self.delimiter.rst.next = self.rst.val();
        self.buffer.clk.next = self.clk.val();
        self.buffer.rst.next = self.rst.val();
        self.inserter.clk.next = self.clk.val();
        self.inserter.rst.next = self.rst.val();

        self.buffer.s_axis_tdata.next = self.control_axis_tdata.val();
        self.buffer.s_axis_tvalid.next = self.control_axis_tvalid.val();
        self.buffer.s_axis_tlast.next = self.control_axis_tlast.val();
        self.control_axis_tready.next = self.buffer.s_axis_tready.val();

        // What is offered for insertion.
        self.delimits.next = self.delimiter.m_axis_tvalid.val();
        if self.begun.q.val() {
            self.delimits.next = self.begun_delimiter.q.val();
        }
        self.data.next = self.buffer.m_axis_tdata.val();
        self.keep.next = self.buffer.m_axis_tkeep.val();
        self.last.next = self.buffer.m_axis_tlast.val();
        if self.delimits.val() {
            self.data.next = self.delimiter.m_axis_tdata.val();
            self.keep.next = self.delimiter.m_axis_tkeep.val();
            self.last.next = self.delimiter.m_axis_tlast.val();
        }
        self.inserter.i_axis_tdata.next = self.data.val();
        self.inserter.i_axis_tkeep.next = self.keep.val();
        self.inserter.i_axis_tlast.next = self.last.val();
        self.inserter.i_axis_tvalid.next = self.delimits.val() | self.buffer.m_axis_tvalid.val();
        self.inserter.urgent.next = self.delimits.val();
        self.delimiter.m_axis_tready.next = self.inserter.i_axis_tready.val() & self.delimits.val();
        self.buffer.m_axis_tready.next = self.inserter.i_axis_tready.val() & !self.delimits.val();
        self.taken.next =
            self.inserter.i_axis_tready.val() & (self.delimits.val() | self.buffer.m_axis_tvalid.val());
        if self.taken.val() {
            self.begun.d.next = !self.last.val();
            self.begun_delimiter.d.next = self.delimits.val();
        }

        self.inserter.s_axis_tdata.next = self.s_axis_tdata.val();
        self.inserter.s_axis_tkeep.next = self.s_axis_tkeep.val();
        self.inserter.s_axis_tvalid.next = self.s_axis_tvalid.val();
        self.inserter.s_axis_tlast.next = self.s_axis_tlast.val();
        self.inserter.s_axis_tuser.next = self.s_axis_tuser.val();
        self.s_axis_tready.next = self.inserter.s_axis_tready.val();
        self.m_axis_tdata.next = self.inserter.m_axis_tdata.val();
        self.m_axis_tkeep.next = self.inserter.m_axis_tkeep.val();
        self.m_axis_tvalid.next = self.inserter.m_axis_tvalid.val();
        self.m_axis_tlast.next = self.inserter.m_axis_tlast.val();
        self.m_axis_tuser.next = self.inserter.m_axis_tuser.val();
        self.inserter.m_axis_tready.next = self.m_axis_tready.val();
    }
}
