//! Frame buffer: takes a control frame word by word, with gaps, and offers it whole, a beat a cycle.
//!
//! # Theory of operation
//!
//! The core's emitter gives a word every few cycles; a MAC, or a place between two frames of a stream, wants the
//! frame in one go. So a frame is stored whole before its first beat is offered, and the next one is accepted when
//! its last beat has been taken. A beat is a row of N words, each in a memory of its own. While a row moves on, the
//! memories look the next one up; a whole frame is stored before, so no row is read in the cycle in which it is
//! written.
//!
//! ```text
//! s_axis ──▶ N memories ──▶ output register ──▶ m_axis
//! ```
//!
//! The output register stands between the memories, which take most of a cycle to answer on an FPGA, and the way to
//! a MAC, or through a switch into a stream.
//!
//! Useful by itself, between the core and a MAC that cannot pause within a frame.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | s_axis_* | in (tready out) | 64 + 1 + 1 | a frame of up to N × 2^A words, all bytes in use |
//! | m_axis_* | out (tready in) | W + K + 1 + 1 | the frame without gaps; tkeep partial in the last beat only; bytes outside it are left over from earlier frames |
//!
//! Parameters: N words of 64 bits a beat, W = 64 × N, K = 8 × N, A = log2(rows). Three cycles from the last word to
//! the first beat. A frame occupies the buffer from its first word to its last beat: m_axis then adds one cycle a beat to
//! the emitter's pace, besides what it stalls.
//!
//! Cost before placement (`cargo xtask cost`): 64 bits: iCE40 36 LUT4, 86 flip-flops, 4 block RAMs, ECP5 39 LUT4, 86
//! flip-flops, 2 block RAMs; 256 bits: iCE40 46 LUT4, 283 flip-flops, 16 block RAMs, ECP5 53 LUT4, 283 flip-flops, 8
//! block RAMs.
//!
//! # Test plan
//!
//! `sim/cosim`: as part of [`insertion`](super::insertion): frames of 1 to 164 words, with and without gaps, and
//! back-pressure at every beat.

use crate::leaves::{Flop, Ram};
use crate::module::module;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct FrameBuffer<const W: usize, const K: usize, const N: usize, const A: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub s_axis_tdata: Signal<In, Bits<64>>,
    pub s_axis_tvalid: Signal<In, Bit>,
    pub s_axis_tready: Signal<Out, Bit>,
    pub s_axis_tlast: Signal<In, Bit>,
    pub m_axis_tdata: Signal<Out, Bits<W>>,
    pub m_axis_tkeep: Signal<Out, Bits<K>>,
    pub m_axis_tvalid: Signal<Out, Bit>,
    pub m_axis_tready: Signal<In, Bit>,
    pub m_axis_tlast: Signal<Out, Bit>,

    /// The frame's first word of each row goes to the highest memory, so that shifting the words in gives the beat.
    ram: [Ram<64, A, false>; N],
    /// One bit for each memory, of eight at most: the first that is written in a row.
    first: Constant<Bits<8>>,

    /// A whole frame is stored.
    full: Flop<Bit>,
    /// The memories answer with the row read_row.
    row_valid: Flop<Bit>,
    out_valid: Flop<Bit>,
    out_data: Flop<Bits<W>>,
    out_keep: Flop<Bits<K>>,
    out_last: Flop<Bit>,
    /// The memory that takes the next word; none: the first one.
    target: Flop<Bits<8>>,
    /// The memories that have been written in this row.
    filled: Flop<Bits<8>>,
    write_row: Flop<Bits<A>>,
    read_row: Flop<Bits<A>>,

    write: Signal<Local, Bit>,
    target_now: Signal<Local, Bits<8>>,
    target_next: Signal<Local, Bits<8>>,
    /// The output register is free for a row.
    free: Signal<Local, Bit>,
    moved: Signal<Local, Bit>,
    /// The last beat waits in the output register.
    ends: Signal<Local, Bit>,
    is_last: Signal<Local, Bit>,
    look_up: Signal<Local, Bits<A>>,
    word: Signal<Local, Bits<64>>,
    data: Signal<Local, Bits<W>>,
    keep: Signal<Local, Bits<K>>,
}

impl<const W: usize, const K: usize, const N: usize, const A: usize> Default for FrameBuffer<W, K, N, A> {
    fn default() -> Self {
        module! { FrameBuffer {
            first: Constant::new((1_u64 << (N - 1)).into()),
        }
            clk rst s_axis_tdata s_axis_tvalid s_axis_tready s_axis_tlast m_axis_tdata m_axis_tkeep
            m_axis_tvalid m_axis_tready m_axis_tlast full row_valid out_valid out_data out_keep out_last
            target filled write_row read_row write target_now target_next free moved ends is_last look_up word
            data keep
            ; each ram
        }
    }
}

impl<const W: usize, const K: usize, const N: usize, const A: usize> Logic for FrameBuffer<W, K, N, A> {
    #[clocked(full, row_valid, out_valid, out_data, out_keep, out_last, target, filled, write_row, read_row)]
    fn update(&mut self) {
        // Words in.
        self.write.next = self.s_axis_tvalid.val() & !self.full.q.val();
        self.target_now.next = self.target.q.val();
        if !self.target.q.val().any() {
            self.target_now.next = self.first.val();
        }
        self.target_next.next = self.target_now.val() >> 1;
        if self.write.val() {
            self.target.d.next = self.target_next.val();
            self.filled.d.next = self.filled.q.val() | self.target_now.val();
            if !self.target.q.val().any() {
                self.filled.d.next = self.target_now.val();
            }
            if self.s_axis_tlast.val() {
                self.target.d.next = 0.into();
                self.full.d.next = true;
            } else if !self.target_next.val().any() {
                self.write_row.d.next = self.write_row.q.val() + 1;
            }
        }

        // Rows out. The last one is the one that was written last.
        self.is_last.next = self.read_row.q.val() == self.write_row.q.val();
        self.free.next = !self.out_valid.q.val() | self.m_axis_tready.val();
        self.moved.next = self.row_valid.q.val() & self.free.val();
        self.look_up.next = self.read_row.q.val();
        if self.moved.val() {
            self.look_up.next = self.read_row.q.val() + 1;
        }
        self.read_row.d.next = self.look_up.val();
        self.row_valid.d.next = self.full.q.val();
        self.ends.next = self.out_valid.q.val() & self.out_last.q.val();
        if self.ends.val() | (self.moved.val() & self.is_last.val()) {
            self.row_valid.d.next = false;
        }
        if self.ends.val() & self.m_axis_tready.val() {
            self.full.d.next = false;
            self.read_row.d.next = 0.into();
            self.write_row.d.next = 0.into();
        }
        for i in 0..N {
            self.ram[i].clk.next = self.clk.val();
            self.ram[i].write_enable.next = self.write.val() & self.target_now.val().get_bit(i);
            self.ram[i].write_address.next = self.write_row.q.val();
            self.ram[i].write_data.next = self.s_axis_tdata.val();
            self.ram[i].read_address.next = self.look_up.val();
        }

        self.word.next = self.ram[0].read_data.val();
        self.data.next = bit_cast::<W, 64>(self.word.val());
        self.keep.next = 0.into();
        if !self.is_last.val() | self.filled.q.val().get_bit(0) {
            self.keep.next = 0xff.into();
        }
        for i in 1..N {
            self.word.next = self.ram[i].read_data.val();
            self.data.next = (self.data.val() << 64) | bit_cast::<W, 64>(self.word.val());
            self.keep.next = self.keep.val() << 8;
            if !self.is_last.val() | self.filled.q.val().get_bit(i) {
                self.keep.next = self.keep.val() | 0xff;
            }
        }

        if self.free.val() {
            self.out_valid.d.next = self.row_valid.q.val();
            self.out_data.d.next = self.data.val();
            self.out_keep.d.next = self.keep.val();
            self.out_last.d.next = self.is_last.val();
        }

        self.s_axis_tready.next = !self.full.q.val();
        self.m_axis_tdata.next = self.out_data.q.val();
        self.m_axis_tkeep.next = self.out_keep.q.val();
        self.m_axis_tvalid.next = self.out_valid.q.val();
        self.m_axis_tlast.next = self.out_last.q.val();
    }
}
