//! Events: counts what happens to intervals, since reset.
//!
//! # Theory of operation
//!
//! Saturating counters for the registers: interval ends that were refused, control frames sent, delimiters and
//! missing delimiters. What an interval counts by itself is in its totals.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | ended | in | 1 | an interval ended |
//! | refused | in | 1 | an interval end was refused |
//! | gap | in | 1 | a delimiter whose number is not the one due ends an interval |
//! | delimiter | in | 1 | a delimiter has come |
//! | frame | in | 1 | a control frame has been sent |
//! | end_refused | out | 1 | the last interval end that was asked for was refused |
//! | refused_ends | out | 16 | refused interval ends |
//! | control_frames, delimiters, delimiter_gaps | out | 32 | control frames, delimiters, missing delimiters |
//!
//! Latency one cycle. No parameters.
//!
//! # Test plan
//!
//! `sim/cosim`, through the registers of a whole design.

use crate::leaves::Flop;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Events {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub ended: Signal<In, Bit>,
    pub refused: Signal<In, Bit>,
    pub gap: Signal<In, Bit>,
    pub delimiter: Signal<In, Bit>,
    pub frame: Signal<In, Bit>,
    pub end_refused: Signal<Out, Bit>,
    pub refused_ends: Signal<Out, Bits<16>>,
    pub control_frames: Signal<Out, Bits<32>>,
    pub delimiters: Signal<Out, Bits<32>>,
    pub delimiter_gaps: Signal<Out, Bits<32>>,

    last_refused: Flop<Bit>,
    refused_count: Flop<Bits<16>>,
    frame_count: Flop<Bits<32>>,
    delimiter_count: Flop<Bits<32>>,
    gap_count: Flop<Bits<32>>,
}

impl Logic for Events {
    #[clocked(last_refused, refused_count, frame_count, delimiter_count, gap_count)]
    fn update(&mut self) {
        if self.ended.val() {
            self.last_refused.d.next = false;
        }
        if self.refused.val() {
            self.last_refused.d.next = true;
            if !self.refused_count.q.val().all() {
                self.refused_count.d.next = self.refused_count.q.val() + 1;
            }
        }
        if self.frame.val() & !self.frame_count.q.val().all() {
            self.frame_count.d.next = self.frame_count.q.val() + 1;
        }
        if self.delimiter.val() & !self.delimiter_count.q.val().all() {
            self.delimiter_count.d.next = self.delimiter_count.q.val() + 1;
        }
        if self.gap.val() & !self.gap_count.q.val().all() {
            self.gap_count.d.next = self.gap_count.q.val() + 1;
        }
        self.end_refused.next = self.last_refused.q.val();
        self.refused_ends.next = self.refused_count.q.val();
        self.control_frames.next = self.frame_count.q.val();
        self.delimiters.next = self.delimiter_count.q.val();
        self.delimiter_gaps.next = self.gap_count.q.val();
    }
}
