//! Inserter: whole frames put between the frames of a passing stream.
//!
//! # Theory of operation
//!
//! A register slice with two entries, which every beat passes: the output register, and a skid register for the
//! beat that is accepted in the very cycle in which m_axis stalls. In front of it a switch lets either traffic
//! (s_axis) or an inserted frame (i_axis) pass. It turns at frame boundaries only, decided a cycle ahead, so that
//! both tready are flip-flops:
//!
//! * to i_axis, when a frame waits there and s_axis pauses between two frames;
//! * to i_axis, behind a frame's last beat, when the waiting frame is urgent or has waited for [`PATIENCE`] cycles;
//! * back to s_axis, behind an inserted frame's last beat. What waits on s_axis then passes first: the switch turns
//!   again behind that frame at the earliest.
//!
//! Traffic is never dropped, reordered or changed.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | s_axis_* | in (tready out) | W + K + 1 + 1 + 65 | traffic; tuser as the core has it, passed on unchanged |
//! | i_axis_* | in (tready out) | W + K + 1 + 1 | frames to insert; the first beat is offered when the whole frame can follow without a gap |
//! | urgent | in | 1 | the frame on i_axis takes the next frame boundary |
//! | m_axis_* | out (tready in) | W + K + 1 + 1 + 65 | traffic and inserted frames; tuser of the latter is zero |
//!
//! Full AXI4-Stream on all three; as long as its first beat has not been taken, i_axis may exchange the frame that it
//! offers for another.
//!
//! Parameters: W, bits of a beat; K = W / 8. Latency of each beat one cycle, always, when m_axis does not stall; one
//! beat a cycle. A frame of L beats is inserted in L cycles: s_axis_tready is low for L cycles and no more, plus one
//! for each cycle in which m_axis stalls. A waiting frame that is not urgent is inserted at the first pause between
//! two frames, at the latest behind the traffic frame that is under way [`PATIENCE`] cycles after it was offered.
//!
//! Cost before placement (`cargo xtask cost`): 64 bits: iCE40 303 LUT4, 290 flip-flops, ECP5 314 LUT4, 290
//! flip-flops; 256 bits: 735 or 746 LUT4, 722 flip-flops.
//!
//! # Test plan
//!
//! `sim/cosim`: as part of [`insertion`](super::insertion). `hdl/formal/inserter.v`: no beat is dropped, doubled,
//! reordered or changed; the rules of AXI4-Stream; inserted frames whole and at boundaries; the bound of the stall.

use crate::leaves::Flop;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// Cycles for which a frame that is not urgent waits for a pause of the traffic.
pub const PATIENCE: u64 = 255;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Inserter<const W: usize, const K: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub s_axis_tdata: Signal<In, Bits<W>>,
    pub s_axis_tkeep: Signal<In, Bits<K>>,
    pub s_axis_tvalid: Signal<In, Bit>,
    pub s_axis_tready: Signal<Out, Bit>,
    pub s_axis_tlast: Signal<In, Bit>,
    pub s_axis_tuser: Signal<In, Bits<65>>,
    pub i_axis_tdata: Signal<In, Bits<W>>,
    pub i_axis_tkeep: Signal<In, Bits<K>>,
    pub i_axis_tvalid: Signal<In, Bit>,
    pub i_axis_tready: Signal<Out, Bit>,
    pub i_axis_tlast: Signal<In, Bit>,
    pub urgent: Signal<In, Bit>,
    pub m_axis_tdata: Signal<Out, Bits<W>>,
    pub m_axis_tkeep: Signal<Out, Bits<K>>,
    pub m_axis_tvalid: Signal<Out, Bit>,
    pub m_axis_tready: Signal<In, Bit>,
    pub m_axis_tlast: Signal<Out, Bit>,
    pub m_axis_tuser: Signal<Out, Bits<65>>,

    /// At most one of the two is high, and only when the skid register is empty.
    s_ready: Flop<Bit>,
    i_ready: Flop<Bit>,
    /// The switch stands on i_axis.
    inserting: Flop<Bit>,
    /// Within a traffic frame.
    in_frame: Flop<Bit>,
    /// Cycles for which a frame has waited on i_axis.
    waited: Flop<Bits<8>>,

    out_valid: Flop<Bit>,
    out_data: Flop<Bits<W>>,
    out_keep: Flop<Bits<K>>,
    out_last: Flop<Bit>,
    out_user: Flop<Bits<65>>,
    skid_valid: Flop<Bit>,
    skid_data: Flop<Bits<W>>,
    skid_keep: Flop<Bits<K>>,
    skid_last: Flop<Bit>,
    skid_user: Flop<Bits<65>>,

    s_taken: Signal<Local, Bit>,
    i_taken: Signal<Local, Bit>,
    accepted: Signal<Local, Bit>,
    beat_data: Signal<Local, Bits<W>>,
    beat_keep: Signal<Local, Bits<K>>,
    beat_last: Signal<Local, Bit>,
    beat_user: Signal<Local, Bits<65>>,
    overdue: Signal<Local, Bit>,
    pauses: Signal<Local, Bit>,
    starts: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    inserts_next: Signal<Local, Bit>,
    stalled: Signal<Local, Bit>,
    skid_next: Signal<Local, Bit>,
}

impl<const W: usize, const K: usize> Logic for Inserter<W, K> {
    #[clocked(
        s_ready, i_ready, inserting, in_frame, waited, out_valid, out_data, out_keep, out_last, out_user,
        skid_valid, skid_data, skid_keep, skid_last, skid_user
    )]
    fn update(&mut self) {
        // The beat that is accepted in this cycle, if any.
        self.s_taken.next = self.s_axis_tvalid.val() & self.s_ready.q.val();
        self.i_taken.next = self.i_axis_tvalid.val() & self.i_ready.q.val();
        self.accepted.next = self.s_taken.val() | self.i_taken.val();
        self.beat_data.next = self.s_axis_tdata.val();
        self.beat_keep.next = self.s_axis_tkeep.val();
        self.beat_last.next = self.s_axis_tlast.val();
        self.beat_user.next = self.s_axis_tuser.val();
        if self.inserting.q.val() {
            self.beat_data.next = self.i_axis_tdata.val();
            self.beat_keep.next = self.i_axis_tkeep.val();
            self.beat_last.next = self.i_axis_tlast.val();
            self.beat_user.next = 0.into();
        }

        // The switch.
        if self.s_taken.val() {
            self.in_frame.d.next = !self.s_axis_tlast.val();
        }
        self.waited.d.next = 0.into();
        if self.i_axis_tvalid.val() & !self.inserting.q.val() {
            self.waited.d.next = self.waited.q.val() + 1;
            if self.waited.q.val().all() {
                self.waited.d.next = self.waited.q.val();
            }
        }
        self.overdue.next = self.urgent.val() | self.waited.q.val().all();
        self.pauses.next = self.s_ready.q.val() & !self.s_axis_tvalid.val() & !self.in_frame.q.val();
        self.starts.next = self.i_axis_tvalid.val()
            & (self.pauses.val() | (self.s_taken.val() & self.s_axis_tlast.val() & self.overdue.val()));
        self.ends.next = self.i_taken.val() & self.i_axis_tlast.val();
        self.inserts_next.next = (self.inserting.q.val() | self.starts.val()) & !self.ends.val();
        self.inserting.d.next = self.inserts_next.val();

        // The two registers. While the skid register is full, nothing is accepted.
        self.stalled.next = self.out_valid.q.val() & !self.m_axis_tready.val();
        self.skid_next.next = self.stalled.val() & (self.skid_valid.q.val() | self.accepted.val());
        self.skid_valid.d.next = self.skid_next.val();
        self.s_ready.d.next = !self.skid_next.val() & !self.inserts_next.val();
        self.i_ready.d.next = !self.skid_next.val() & self.inserts_next.val();
        if self.accepted.val() {
            self.skid_data.d.next = self.beat_data.val();
            self.skid_keep.d.next = self.beat_keep.val();
            self.skid_last.d.next = self.beat_last.val();
            self.skid_user.d.next = self.beat_user.val();
        }
        if !self.stalled.val() {
            self.out_valid.d.next = self.skid_valid.q.val() | self.accepted.val();
            self.out_data.d.next = self.beat_data.val();
            self.out_keep.d.next = self.beat_keep.val();
            self.out_last.d.next = self.beat_last.val();
            self.out_user.d.next = self.beat_user.val();
            if self.skid_valid.q.val() {
                self.out_data.d.next = self.skid_data.q.val();
                self.out_keep.d.next = self.skid_keep.q.val();
                self.out_last.d.next = self.skid_last.q.val();
                self.out_user.d.next = self.skid_user.q.val();
            }
        }

        self.s_axis_tready.next = self.s_ready.q.val();
        self.i_axis_tready.next = self.i_ready.q.val();
        self.m_axis_tdata.next = self.out_data.q.val();
        self.m_axis_tkeep.next = self.out_keep.q.val();
        self.m_axis_tvalid.next = self.out_valid.q.val();
        self.m_axis_tlast.next = self.out_last.q.val();
        self.m_axis_tuser.next = self.out_user.q.val();
    }
}
