//! Sender: puts a reference packet behind every n-th frame of a passing stream.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::wire::reference` and of `deltaline_model::reference` with a static spacing; to make it follow the load,
//! software changes `spacing`. The [inserter](crate::inline::inserter) lets traffic pass, and the reference packet at the
//! frame's boundary at which it is due.
//!
//! ```text
//! s_axis ──► inserter ──► m_axis
//!   │           ▲           │ its first beat is taken
//!   ▼           │           ▼
//! frames ≥ n ─► frame ◄── ptp_ts
//! ```
//!
//! The frame is a constant but for its number and its time, which enter the check word rotated. The time is that of the cycle in which
//! m_axis gives the frame's first beat away, however long it was stalled:
//!
//! * Of 64 bits the time is in the fifth beat. The inserter keeps two beats at most, so the first has left when the fifth is offered.
//! * Of 256 bits it is in the second, which is offered in the very cycle in which the first leaves, with the time of that cycle, and
//!   follows it without a gap.
//! * Of 512 bits it would be in the beat whose leaving it tells, and change while that is stalled, which AXI4-Stream forbids. There is
//!   no such sender.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | s_axis_* | in (tready out) | W + K + 1 + 1 + 65 | traffic; tuser as the core has it, passed on unchanged |
//! | spacing | in | 32 | one reference packet behind every so many frames of s_axis; 0: none, and the count begins anew. May change in any cycle: behind this one it counts |
//! | ptp_ts | in | 64 | clock, PTP relative-64 |
//! | number | out | 32 | of the reference packet that comes next, from 0 after reset, modulo 2^32 |
//! | m_axis_* | out (tready in) | W + K + 1 + 1 + 65 | traffic and reference packets; tuser of the latter is zero |
//!
//! Latency of traffic one cycle; a reference packet stalls it for 512 / W cycles, plus one for each in which m_axis stalls. Parameters:
//! W, bits of a beat, 64 or 256, K = W / 8; the configuration's segment and identifier. A reset in the middle of a frame cuts that
//! frame: reset the stream's source with it.
//!
//! Cost before placement (`cargo xtask cost`): 64 bits: iCE40 621 LUT4, 424 flip-flops, ECP5 646 LUT4; 256 bits: 1087 LUT4, 792 flip-flops, 1106
//! LUT4. Most of it is the inserter.
//!
//! # Test plan
//!
//! `sim/cosim`, at both widths: traffic of every length from one byte, idle, back to back and random, with back-pressure idle, heavy and random;
//! spacings of one frame, of many, of none, and changes between. What comes out is what went in, unchanged and in order; behind every
//! n-th frame, and nowhere else, the model's reference packet, numbered one by one, with the time at which its first
//! beat was taken; the rules of AXI4-Stream; planted faults. The same in a shell, with delimiters and control frames between.

use crate::inline::delimiter::{all_bytes, first_byte_lowest};
use crate::inline::inserter::Inserter;
use crate::leaves::Flop;
use crate::module::module;
use crate::report::authenticator::Swap;
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::reference::{BYTES, CHECK_ROTATIONS, Reference};
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Sender<const W: usize, const K: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub s_axis_tdata: Signal<In, Bits<W>>,
    pub s_axis_tkeep: Signal<In, Bits<K>>,
    pub s_axis_tvalid: Signal<In, Bit>,
    pub s_axis_tready: Signal<Out, Bit>,
    pub s_axis_tlast: Signal<In, Bit>,
    pub s_axis_tuser: Signal<In, Bits<65>>,
    pub spacing: Signal<In, Bits<32>>,
    pub ptp_ts: Signal<In, Bits<64>>,
    pub number: Signal<Out, Bits<32>>,
    pub m_axis_tdata: Signal<Out, Bits<W>>,
    pub m_axis_tkeep: Signal<Out, Bits<K>>,
    pub m_axis_tvalid: Signal<Out, Bit>,
    pub m_axis_tready: Signal<In, Bit>,
    pub m_axis_tlast: Signal<Out, Bit>,
    pub m_axis_tuser: Signal<Out, Bits<65>>,

    inserter: Inserter<W, K>,
    /// The reference packet of number and time 0, first byte lowest.
    of_zero: Constant<Bits<512>>,
    number_rotation: Constant<Bits<3>>,
    all_bytes: Constant<Bits<K>>,
    beat_bits: Constant<Bits<4>>,
    last_beat: Constant<Bits<3>>,
    /// The time is in the beat behind the first.
    is_wide: Constant<Bit>,

    /// Frames since the last reference packet.
    frames: Flop<Bits<32>>,
    due: Flop<Bit>,
    beat: Flop<Bits<3>>,
    next_number: Flop<Bits<32>>,
    /// The first beat is on its way to m_axis, and there is one ahead of it.
    leaves: Flop<Bit>,
    one_ahead: Flop<Bit>,
    sent: Flop<Bits<64>>,

    frame_ends: Signal<Local, Bit>,
    frames_now: Signal<Local, Bits<32>>,
    due_now: Signal<Local, Bit>,
    offered: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    is_first: Signal<Local, Bit>,
    is_last: Signal<Local, Bit>,
    /// All that the beat says.
    is_known: Signal<Local, Bit>,
    given: Signal<Local, Bit>,
    first_leaves: Signal<Local, Bit>,
    departure: Signal<Local, Bits<64>>,
    number_word: Signal<Local, Bits<64>>,
    numbers: Swap,
    times: Swap,
    shares: Swap,
    frame: Signal<Local, Bits<512>>,
    offset: Signal<Local, Bits<9>>,
}

impl<const W: usize, const K: usize> Sender<W, K> {
    /// The sender of a configuration's segment.
    pub fn new(configuration: &Configuration) -> Self {
        let bytes = Reference::new(configuration, 0, Timestamp(0)).encode();
        module! { Sender {
            of_zero: Constant::new(first_byte_lowest(&bytes)),
            number_rotation: Constant::new(u64::from(CHECK_ROTATIONS[0]).into()),
            all_bytes: Constant::new(all_bytes()),
            beat_bits: Constant::new(u64::from(W.ilog2()).into()),
            last_beat: Constant::new(((BYTES / K - 1) as u64).into()),
            is_wide: Constant::new(W > 64),
        }
            clk rst s_axis_tdata s_axis_tkeep s_axis_tvalid s_axis_tready s_axis_tlast s_axis_tuser spacing ptp_ts number
            m_axis_tdata m_axis_tkeep m_axis_tvalid m_axis_tready m_axis_tlast m_axis_tuser inserter frames due beat
            next_number leaves one_ahead sent frame_ends frames_now due_now offered taken is_first is_last is_known given
            first_leaves departure number_word numbers times shares frame offset
        }
    }
}

impl<const W: usize, const K: usize> Logic for Sender<W, K> {
    #[clocked(frames, due, beat, next_number, leaves, one_ahead, sent)]
    fn update(&mut self) {
        // When one is due: with the last beat of the n-th frame already, so that it comes right behind it.
        self.frame_ends.next =
            self.s_axis_tvalid.val() & self.inserter.s_axis_tready.val() & self.s_axis_tlast.val();
        self.frames_now.next = self.frames.q.val() + 1;
        self.due_now.next =
            self.frame_ends.val() & self.spacing.val().any() & (self.frames_now.val() >= self.spacing.val());
        if self.frame_ends.val() {
            self.frames.d.next = self.frames_now.val();
        }
        if self.due_now.val() | !self.spacing.val().any() {
            self.frames.d.next = 0.into();
        }

        // When its first beat leaves: at once, or behind one that is stalled on m_axis.
        self.given.next = self.inserter.m_axis_tvalid.val() & self.m_axis_tready.val();
        self.first_leaves.next = self.leaves.q.val() & self.given.val() & !self.one_ahead.q.val();
        self.is_first.next = !self.beat.q.val().any();
        self.is_last.next = self.beat.q.val() == self.last_beat.val();
        self.is_known.next = !self.is_wide.val() | self.is_first.val() | self.first_leaves.val();
        self.offered.next = (self.due.q.val() | self.due_now.val()) & self.is_known.val();
        self.taken.next = self.due.q.val() & self.is_known.val() & self.inserter.i_axis_tready.val();
        self.due.d.next = self.due.q.val() | self.due_now.val();
        if self.taken.val() {
            self.beat.d.next = self.beat.q.val() + 1;
            if self.is_last.val() {
                self.beat.d.next = 0.into();
                self.due.d.next = false;
                self.next_number.d.next = self.next_number.q.val() + 1;
            }
        }

        if self.given.val() {
            self.one_ahead.d.next = false;
        }
        if self.first_leaves.val() {
            self.leaves.d.next = false;
            self.sent.d.next = self.ptp_ts.val();
        }
        if self.taken.val() & self.is_first.val() {
            self.leaves.d.next = true;
            self.one_ahead.d.next = self.inserter.m_axis_tvalid.val() & !self.m_axis_tready.val();
        }
        self.departure.next = self.sent.q.val();
        if self.is_wide.val() {
            self.departure.next = self.ptp_ts.val();
        }

        // The frame.
        self.number_word.next = bit_cast::<64, 32>(self.next_number.q.val());
        self.numbers.word.next = self.number_word.val();
        self.times.word.next = self.departure.val();
        self.shares.word.next = (self.number_word.val() << self.number_rotation.val())
            ^ (self.departure.val() << 2)
            ^ (self.departure.val() >> 62);
        self.frame.next = self.of_zero.val()
            ^ (bit_cast::<512, 64>(self.numbers.swapped.val()) << 128)
            ^ (bit_cast::<512, 64>(self.times.swapped.val()) << 256)
            ^ (bit_cast::<512, 64>(self.shares.swapped.val()) << 448);
        self.offset.next = bit_cast::<9, 3>(self.beat.q.val()) << self.beat_bits.val();

        self.inserter.clk.next = self.clk.val();
        self.inserter.rst.next = self.rst.val();
        self.inserter.s_axis_tdata.next = self.s_axis_tdata.val();
        self.inserter.s_axis_tkeep.next = self.s_axis_tkeep.val();
        self.inserter.s_axis_tvalid.next = self.s_axis_tvalid.val();
        self.inserter.s_axis_tlast.next = self.s_axis_tlast.val();
        self.inserter.s_axis_tuser.next = self.s_axis_tuser.val();
        self.inserter.i_axis_tdata.next = self.frame.val().get_bits::<W>(self.offset.val().index());
        self.inserter.i_axis_tkeep.next = self.all_bytes.val();
        self.inserter.i_axis_tvalid.next = self.offered.val();
        self.inserter.i_axis_tlast.next = self.is_last.val();
        self.inserter.urgent.next = true;
        self.inserter.m_axis_tready.next = self.m_axis_tready.val();
        self.s_axis_tready.next = self.inserter.s_axis_tready.val();
        self.number.next = self.next_number.q.val();
        self.m_axis_tdata.next = self.inserter.m_axis_tdata.val();
        self.m_axis_tkeep.next = self.inserter.m_axis_tkeep.val();
        self.m_axis_tvalid.next = self.inserter.m_axis_tvalid.val();
        self.m_axis_tlast.next = self.inserter.m_axis_tlast.val();
        self.m_axis_tuser.next = self.inserter.m_axis_tuser.val();
    }
}
