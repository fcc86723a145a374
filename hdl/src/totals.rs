//! Totals: what an interval counts besides its cells. One instance a copy.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::frame::Totals` as `deltaline_model::point` fills it. The 48-bit totals are added in
//! two halves of 24 bits with the carry in between kept for a cycle. The saturating counters stop at all ones.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | clear | in | 1 | start from zero |
//! | packet | in | 1 | a measured packet |
//! | ip_length | in | 17 | with packet: its IP octets |
//! | timestamp | in | 64 | with packet: its timestamp |
//! | unmeasured, bad | in | 1 | a frame of that kind |
//! | refused | in | 1 | an interval end was refused |
//! | unlocked | in | 1 | the clock is not locked |
//! | by_clock | in | 1 | the clock ends or starts the interval |
//! | overflow | in | 1 | a cell's count wrapped |
//! | packets, bytes | out | 48 | totals, complete two cycles after the last packet |
//! | first, last | out | 64 | timestamps |
//! | unmeasured_frames, bad_frames | out | 32 | saturating counters |
//! | refused_ends | out | 16 | saturating counter |
//! | flags | out | 4 | saturated, overrun, clock, timed from bit 0 on |
//!
//! Latency two cycles, one packet a cycle. No parameters.
//!
//! Cost for both copies, 2 x 1024 rows, before placement (`cargo xtask cost`): iCE40 1030 LUT4, 622 flip-flops;
//! ECP5 1660 LUT4, 622 flip-flops.
//!
//! # Test plan
//!
//! `sim/cosim`: with the whole core; carries and saturation of every counter with the counters preloaded.

use crate::leaves::Flop;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Totals {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub clear: Signal<In, Bit>,
    pub packet: Signal<In, Bit>,
    pub ip_length: Signal<In, Bits<17>>,
    pub timestamp: Signal<In, Bits<64>>,
    pub unmeasured: Signal<In, Bit>,
    pub bad: Signal<In, Bit>,
    pub refused: Signal<In, Bit>,
    pub unlocked: Signal<In, Bit>,
    pub by_clock: Signal<In, Bit>,
    pub overflow: Signal<In, Bit>,
    pub packets: Signal<Out, Bits<48>>,
    pub bytes: Signal<Out, Bits<48>>,
    pub first: Signal<Out, Bits<64>>,
    pub last: Signal<Out, Bits<64>>,
    pub unmeasured_frames: Signal<Out, Bits<32>>,
    pub bad_frames: Signal<Out, Bits<32>>,
    pub refused_ends: Signal<Out, Bits<16>>,
    pub flags: Signal<Out, Bits<4>>,

    any: Flop<Bit>,
    packets_low: Flop<Bits<24>>,
    packets_high: Flop<Bits<24>>,
    packets_carry: Flop<Bit>,
    bytes_low: Flop<Bits<24>>,
    bytes_high: Flop<Bits<24>>,
    bytes_carry: Flop<Bit>,
    first_time: Flop<Bits<64>>,
    last_time: Flop<Bits<64>>,
    unmeasured_count: Flop<Bits<32>>,
    bad_count: Flop<Bits<32>>,
    refused_count: Flop<Bits<16>>,
    saturated: Flop<Bit>,
    overrun: Flop<Bit>,
    clock_lost: Flop<Bit>,
    timed: Flop<Bit>,

    packets_sum: Signal<Local, Bits<25>>,
    packets_sum_high: Signal<Local, Bits<25>>,
    bytes_sum: Signal<Local, Bits<25>>,
    bytes_sum_high: Signal<Local, Bits<25>>,
    conditions: Signal<Local, Bits<4>>,
}

impl Logic for Totals {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            any,
            packets_low,
            packets_high,
            packets_carry,
            bytes_low,
            bytes_high,
            bytes_carry,
            first_time,
            last_time,
            unmeasured_count,
            bad_count,
            refused_count,
            saturated,
            overrun,
            clock_lost,
            timed
        );
        self.any.rst.next = self.rst.val();
        self.packets_low.rst.next = self.rst.val();
        self.packets_high.rst.next = self.rst.val();
        self.packets_carry.rst.next = self.rst.val();
        self.bytes_low.rst.next = self.rst.val();
        self.bytes_high.rst.next = self.rst.val();
        self.bytes_carry.rst.next = self.rst.val();
        self.first_time.rst.next = self.rst.val();
        self.last_time.rst.next = self.rst.val();
        self.unmeasured_count.rst.next = self.rst.val();
        self.bad_count.rst.next = self.rst.val();
        self.refused_count.rst.next = self.rst.val();
        self.saturated.rst.next = self.rst.val();
        self.overrun.rst.next = self.rst.val();
        self.clock_lost.rst.next = self.rst.val();
        self.timed.rst.next = self.rst.val();

        self.packets_sum.next = bit_cast::<25, 24>(self.packets_low.q.val()) + 1;
        self.bytes_sum.next =
            bit_cast::<25, 24>(self.bytes_low.q.val()) + bit_cast::<25, 17>(self.ip_length.val());
        self.packets_carry.d.next = false;
        self.bytes_carry.d.next = false;
        if self.packet.val() {
            self.packets_low.d.next = self.packets_sum.val().get_bits::<24>(0);
            self.packets_carry.d.next = self.packets_sum.val().get_bit(24);
            self.bytes_low.d.next = self.bytes_sum.val().get_bits::<24>(0);
            self.bytes_carry.d.next = self.bytes_sum.val().get_bit(24);
            self.any.d.next = true;
            self.last_time.d.next = self.timestamp.val();
            if !self.any.q.val() {
                self.first_time.d.next = self.timestamp.val();
            }
        }
        self.packets_sum_high.next = bit_cast::<25, 24>(self.packets_high.q.val()) + 1;
        if self.packets_carry.q.val() {
            self.packets_high.d.next = self.packets_sum_high.val().get_bits::<24>(0);
            if self.packets_sum_high.val().get_bit(24) {
                self.saturated.d.next = true;
            }
        }
        self.bytes_sum_high.next = bit_cast::<25, 24>(self.bytes_high.q.val()) + 1;
        if self.bytes_carry.q.val() {
            self.bytes_high.d.next = self.bytes_sum_high.val().get_bits::<24>(0);
            if self.bytes_sum_high.val().get_bit(24) {
                self.saturated.d.next = true;
            }
        }
        if self.overflow.val() {
            self.saturated.d.next = true;
        }

        if self.unmeasured.val() & !self.unmeasured_count.q.val().all() {
            self.unmeasured_count.d.next = self.unmeasured_count.q.val() + 1;
        }
        if self.bad.val() & !self.bad_count.q.val().all() {
            self.bad_count.d.next = self.bad_count.q.val() + 1;
        }
        if self.refused.val() {
            self.overrun.d.next = true;
            if !self.refused_count.q.val().all() {
                self.refused_count.d.next = self.refused_count.q.val() + 1;
            }
        }
        if self.unlocked.val() {
            self.clock_lost.d.next = true;
        }
        if self.by_clock.val() {
            self.timed.d.next = true;
        }

        if self.clear.val() {
            self.any.d.next = false;
            self.packets_low.d.next = 0.into();
            self.packets_high.d.next = 0.into();
            self.bytes_low.d.next = 0.into();
            self.bytes_high.d.next = 0.into();
            self.first_time.d.next = 0.into();
            self.last_time.d.next = 0.into();
            self.unmeasured_count.d.next = 0.into();
            self.bad_count.d.next = 0.into();
            self.refused_count.d.next = 0.into();
            self.saturated.d.next = false;
            self.overrun.d.next = false;
            self.clock_lost.d.next = false;
            self.timed.d.next = false;
        }

        self.packets.next = bit_cast::<48, 24>(self.packets_low.q.val())
            | (bit_cast::<48, 24>(self.packets_high.q.val()) << 24);
        self.bytes.next =
            bit_cast::<48, 24>(self.bytes_low.q.val()) | (bit_cast::<48, 24>(self.bytes_high.q.val()) << 24);
        self.first.next = self.first_time.q.val();
        self.last.next = self.last_time.q.val();
        self.unmeasured_frames.next = self.unmeasured_count.q.val();
        self.bad_frames.next = self.bad_count.q.val();
        self.refused_ends.next = self.refused_count.q.val();
        self.conditions.next = 0.into();
        if self.saturated.q.val() {
            self.conditions.next = self.conditions.val() | 1;
        }
        if self.overrun.q.val() {
            self.conditions.next = self.conditions.val() | 2;
        }
        if self.clock_lost.q.val() {
            self.conditions.next = self.conditions.val() | 4;
        }
        if self.timed.q.val() {
            self.conditions.next = self.conditions.val() | 8;
        }
        self.flags.next = self.conditions.val();
    }
}
