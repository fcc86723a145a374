//! Stream time of day: an observed stream whose timestamps are times of day, made one with relative-64.
//!
//! # Theory of operation
//!
//! A [`TimeOfDay`] converts what is on tuser, and everything else waits for as long. A tap needs no handshake, so
//! the beats that were transferred come out as valid beats, and the core's `s_axis_tready` is tied high. The
//! timestamp of every beat is converted; the core picks that of a frame's first.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | s_axis_tdata, tkeep, tvalid, tready, tlast | in | D, K, 1, 1, 1 | the observed stream; tready too is an input |
//! | s_axis_tuser | in | 97 | bit 0 with tlast: bad frame; bits 96:1 with the first beat: PTP time of day |
//! | interval_end | in | 1 | end the interval behind this cycle's beat |
//! | m_axis_tdata, tkeep, tlast | out | D, K, 1 | the same beats, four cycles later |
//! | m_axis_tvalid | out | 1 | a beat was transferred |
//! | m_axis_tuser | out | 65 | bit 0 as above; bits 64:1: PTP relative-64 |
//! | m_interval_end | out | 1 | end the interval behind this cycle's beat |
//!
//! Latency four cycles, one beat a cycle; a time-of-day clock that comes through a [`TimeOfDay`] of its own is as
//! late. Parameters: D and K, the widths of
//! tdata and tkeep.
//!
//! Cost before placement with D = 64, K = 8 (`cargo xtask cost`): iCE40 255 LUT4, 694
//! flip-flops; ECP5 350 LUT4, 694 flip-flops.
//!
//! # Test plan
//!
//! `sim/cosim`: random beats, one a cycle, with gaps and stalls, 64 and 8 bits wide; reset empties it.

use crate::clock::time_of_day::TimeOfDay;
use crate::leaves::Flop;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct StreamTimeOfDay<const D: usize, const K: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub s_axis_tdata: Signal<In, Bits<D>>,
    pub s_axis_tkeep: Signal<In, Bits<K>>,
    pub s_axis_tvalid: Signal<In, Bit>,
    pub s_axis_tready: Signal<In, Bit>,
    pub s_axis_tlast: Signal<In, Bit>,
    pub s_axis_tuser: Signal<In, Bits<97>>,
    pub interval_end: Signal<In, Bit>,
    pub m_axis_tdata: Signal<Out, Bits<D>>,
    pub m_axis_tkeep: Signal<Out, Bits<K>>,
    pub m_axis_tvalid: Signal<Out, Bit>,
    pub m_axis_tlast: Signal<Out, Bit>,
    pub m_axis_tuser: Signal<Out, Bits<65>>,
    pub m_interval_end: Signal<Out, Bit>,

    time_of_day: TimeOfDay,
    data: [Flop<Bits<D>>; 4],
    keep: [Flop<Bits<K>>; 4],
    valid: [Flop<Bit>; 4],
    last: [Flop<Bit>; 4],
    bad: [Flop<Bits<1>>; 4],
    ending: [Flop<Bit>; 4],
}

impl<const D: usize, const K: usize> Logic for StreamTimeOfDay<D, K> {
    #[hdl_gen]
    fn update(&mut self) {
        self.time_of_day.clk.next = self.clk.val();
        self.time_of_day.rst.next = self.rst.val();
        self.time_of_day.ptp_ts_96.next = self.s_axis_tuser.val().get_bits::<96>(1);

        for i in 0..4 {
            self.data[i].clock.next = self.clk.val();
            self.data[i].rst.next = self.rst.val();
            self.keep[i].clock.next = self.clk.val();
            self.keep[i].rst.next = self.rst.val();
            self.valid[i].clock.next = self.clk.val();
            self.valid[i].rst.next = self.rst.val();
            self.last[i].clock.next = self.clk.val();
            self.last[i].rst.next = self.rst.val();
            self.bad[i].clock.next = self.clk.val();
            self.bad[i].rst.next = self.rst.val();
            self.ending[i].clock.next = self.clk.val();
            self.ending[i].rst.next = self.rst.val();
        }
        for i in 0..3 {
            self.data[i + 1].d.next = self.data[i].q.val();
            self.keep[i + 1].d.next = self.keep[i].q.val();
            self.valid[i + 1].d.next = self.valid[i].q.val();
            self.last[i + 1].d.next = self.last[i].q.val();
            self.bad[i + 1].d.next = self.bad[i].q.val();
            self.ending[i + 1].d.next = self.ending[i].q.val();
        }
        self.data[0].d.next = self.s_axis_tdata.val();
        self.keep[0].d.next = self.s_axis_tkeep.val();
        self.valid[0].d.next = self.s_axis_tvalid.val() & self.s_axis_tready.val();
        self.last[0].d.next = self.s_axis_tlast.val();
        self.bad[0].d.next = self.s_axis_tuser.val().get_bits::<1>(0);
        self.ending[0].d.next = self.interval_end.val();

        self.m_axis_tdata.next = self.data[3].q.val();
        self.m_axis_tkeep.next = self.keep[3].q.val();
        self.m_axis_tvalid.next = self.valid[3].q.val();
        self.m_axis_tlast.next = self.last[3].q.val();
        self.m_interval_end.next = self.ending[3].q.val();
        self.m_axis_tuser.next =
            (bit_cast::<65, 64>(self.time_of_day.ptp_ts.val()) << 1) | bit_cast::<65, 1>(self.bad[3].q.val());
    }
}
