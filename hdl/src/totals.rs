//! Totals: what an interval counts besides its cells.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::frame::Totals` as `deltaline_model::point` fills it. One set of counters counts; when
//! an interval ends, they move into a set of registers that holds still for the drain, and start from zero. The
//! 48-bit totals are added in two halves of 24 bits with the carry in between kept for a cycle, so their upper
//! halves move one cycle after the rest. The saturating counters stop at all ones; those of frames are [counters of
//! their own](crate::frame_count). Several lanes may bring a packet
//! each in one cycle: their numbers and lengths arrive added up.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | ends | in | 1 | the interval ends behind this cycle |
//! | epoch | in | 1 | the copy that counts in this cycle |
//! | packet | in | 3 | measured packets in this cycle, 0..=4 |
//! | ip_length | in | 19 | their IP octets |
//! | first_now, last_now | in | 64 | with packet: the first's and the last's timestamp |
//! | unmeasured, bad | in | 3 | frames of that kind, 0..=4 |
//! | refused | in | 1 | an interval end was refused |
//! | unlocked | in | 1 | the clock is not locked |
//! | timed | in | 1 | with ends: the clock ends the interval |
//! | gap | in | 1 | with ends: a delimiter is missing |
//! | overflow | in | 1 | a cell's count wrapped |
//! | overflow_epoch | in | 1 | in this copy |
//! | packets, bytes | out | 48 | the running interval's totals as of two cycles ago, all of one moment |
//! | unmeasured_frames, bad_frames | out | 32 | its saturating counters |
//! | ended_packets, ended_bytes | out | 48 | totals of the interval that ended last |
//! | ended_first, ended_last | out | 64 | its timestamps |
//! | ended_unmeasured, ended_bad | out | 32 | its saturating counters |
//! | ended_refused | out | 16 | its saturating counter |
//! | ended_flags | out | 5 | saturated, overrun, clock, timed, gap from bit 0 on |
//!
//! Latency two cycles, any number of packets. No parameters.
//!
//! # Test plan
//!
//! `sim/cosim`: with the whole core; carries and saturation of every counter with the counters preloaded.

use crate::frame_count::FrameCount;
use crate::leaves::Flop;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Totals {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub ends: Signal<In, Bit>,
    pub epoch: Signal<In, Bit>,
    pub packet: Signal<In, Bits<3>>,
    pub ip_length: Signal<In, Bits<19>>,
    pub first_now: Signal<In, Bits<64>>,
    pub last_now: Signal<In, Bits<64>>,
    pub unmeasured: Signal<In, Bits<3>>,
    pub bad: Signal<In, Bits<3>>,
    pub refused: Signal<In, Bit>,
    pub unlocked: Signal<In, Bit>,
    pub timed: Signal<In, Bit>,
    pub gap: Signal<In, Bit>,
    pub overflow: Signal<In, Bit>,
    pub overflow_epoch: Signal<In, Bit>,
    pub packets: Signal<Out, Bits<48>>,
    pub bytes: Signal<Out, Bits<48>>,
    pub unmeasured_frames: Signal<Out, Bits<32>>,
    pub bad_frames: Signal<Out, Bits<32>>,
    pub ended_packets: Signal<Out, Bits<48>>,
    pub ended_bytes: Signal<Out, Bits<48>>,
    pub ended_first: Signal<Out, Bits<64>>,
    pub ended_last: Signal<Out, Bits<64>>,
    pub ended_unmeasured: Signal<Out, Bits<32>>,
    pub ended_bad: Signal<Out, Bits<32>>,
    pub ended_refused: Signal<Out, Bits<16>>,
    pub ended_flags: Signal<Out, Bits<5>>,

    unmeasured_count: FrameCount,
    bad_count: FrameCount,

    /// The running interval. Packets are there; the upper halves are one cycle behind.
    any: Flop<Bit>,
    packets_low: Flop<Bits<24>>,
    packets_high: Flop<Bits<24>>,
    packets_carry: Flop<Bit>,
    bytes_low: Flop<Bits<24>>,
    bytes_high: Flop<Bits<24>>,
    bytes_carry: Flop<Bit>,
    first: Flop<Bits<64>>,
    last: Flop<Bits<64>>,
    refused_count: Flop<Bits<16>>,
    saturated: Flop<Bit>,
    clock_lost: Flop<Bit>,
    by_clock: Flop<Bit>,
    /// The interval ended one cycle ago.
    just_ended: Flop<Bit>,

    /// What is shown of the running interval: the lower halves as late as the upper ones.
    shown_packets: Flop<Bits<24>>,
    shown_bytes: Flop<Bits<24>>,

    /// The interval that ended last.
    old_packets_low: Flop<Bits<24>>,
    old_packets_high: Flop<Bits<24>>,
    old_bytes_low: Flop<Bits<24>>,
    old_bytes_high: Flop<Bits<24>>,
    old_first: Flop<Bits<64>>,
    old_last: Flop<Bits<64>>,
    old_refused: Flop<Bits<16>>,
    old_saturated: Flop<Bit>,
    old_clock_lost: Flop<Bit>,
    old_by_clock: Flop<Bit>,
    old_gap: Flop<Bit>,

    packets_sum: Signal<Local, Bits<25>>,
    packets_sum_high: Signal<Local, Bits<25>>,
    bytes_sum: Signal<Local, Bits<25>>,
    bytes_sum_high: Signal<Local, Bits<25>>,
    packets_now: Signal<Local, Bits<24>>,
    packets_high_now: Signal<Local, Bits<24>>,
    bytes_now: Signal<Local, Bits<24>>,
    bytes_high_now: Signal<Local, Bits<24>>,
    first_next: Signal<Local, Bits<64>>,
    last_next: Signal<Local, Bits<64>>,
    refused_next: Signal<Local, Bits<16>>,
    saturated_now: Signal<Local, Bit>,
    overflows_old: Signal<Local, Bit>,
    saturated_next: Signal<Local, Bit>,
    clock_lost_next: Signal<Local, Bit>,
    by_clock_next: Signal<Local, Bit>,
    conditions: Signal<Local, Bits<5>>,
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
            first,
            last,
            refused_count,
            saturated,
            clock_lost,
            by_clock,
            just_ended,
            shown_packets,
            shown_bytes,
            old_packets_low,
            old_packets_high,
            old_bytes_low,
            old_bytes_high,
            old_first,
            old_last,
            old_refused,
            old_saturated,
            old_clock_lost,
            old_by_clock,
            old_gap
        );
        self.any.rst.next = self.rst.val();
        self.packets_low.rst.next = self.rst.val();
        self.packets_high.rst.next = self.rst.val();
        self.packets_carry.rst.next = self.rst.val();
        self.bytes_low.rst.next = self.rst.val();
        self.bytes_high.rst.next = self.rst.val();
        self.bytes_carry.rst.next = self.rst.val();
        self.first.rst.next = self.rst.val();
        self.last.rst.next = self.rst.val();
        self.refused_count.rst.next = self.rst.val();
        self.saturated.rst.next = self.rst.val();
        self.clock_lost.rst.next = self.rst.val();
        self.by_clock.rst.next = self.rst.val();
        self.just_ended.rst.next = self.rst.val();
        self.shown_packets.rst.next = self.rst.val();
        self.shown_bytes.rst.next = self.rst.val();
        self.old_packets_low.rst.next = self.rst.val();
        self.old_packets_high.rst.next = self.rst.val();
        self.old_bytes_low.rst.next = self.rst.val();
        self.old_bytes_high.rst.next = self.rst.val();
        self.old_first.rst.next = self.rst.val();
        self.old_last.rst.next = self.rst.val();
        self.old_refused.rst.next = self.rst.val();
        self.old_saturated.rst.next = self.rst.val();
        self.old_clock_lost.rst.next = self.rst.val();
        self.old_by_clock.rst.next = self.rst.val();
        self.old_gap.rst.next = self.rst.val();

        self.unmeasured_count.clk.next = self.clk.val();
        self.unmeasured_count.rst.next = self.rst.val();
        self.unmeasured_count.frames.next = self.unmeasured.val();
        self.unmeasured_count.ends.next = self.ends.val();
        self.unmeasured_count.just_ended.next = self.just_ended.q.val();
        self.bad_count.clk.next = self.clk.val();
        self.bad_count.rst.next = self.rst.val();
        self.bad_count.frames.next = self.bad.val();
        self.bad_count.ends.next = self.ends.val();
        self.bad_count.just_ended.next = self.just_ended.q.val();

        // What the running interval counts with this cycle.
        self.packets_sum.next =
            bit_cast::<25, 24>(self.packets_low.q.val()) + bit_cast::<25, 3>(self.packet.val());
        self.packets_now.next = self.packets_sum.val().get_bits::<24>(0);
        self.bytes_sum.next = bit_cast::<25, 24>(self.bytes_low.q.val());
        self.first_next.next = self.first.q.val();
        self.last_next.next = self.last.q.val();
        if self.packet.val().any() {
            self.bytes_sum.next =
                bit_cast::<25, 24>(self.bytes_low.q.val()) + bit_cast::<25, 19>(self.ip_length.val());
            self.last_next.next = self.last_now.val();
            if !self.any.q.val() {
                self.first_next.next = self.first_now.val();
            }
        }
        self.bytes_now.next = self.bytes_sum.val().get_bits::<24>(0);
        self.refused_next.next = self.refused_count.q.val();
        if self.refused.val() & !self.refused_count.q.val().all() {
            self.refused_next.next = self.refused_count.q.val() + 1;
        }
        self.clock_lost_next.next = self.clock_lost.q.val() | self.unlocked.val();
        self.by_clock_next.next = self.by_clock.q.val() | self.timed.val();

        // Upper halves, one cycle later, of the interval that was running then.
        self.packets_sum_high.next = bit_cast::<25, 24>(self.packets_high.q.val());
        if self.packets_carry.q.val() {
            self.packets_sum_high.next = bit_cast::<25, 24>(self.packets_high.q.val()) + 1;
        }
        self.packets_high_now.next = self.packets_sum_high.val().get_bits::<24>(0);
        self.bytes_sum_high.next = bit_cast::<25, 24>(self.bytes_high.q.val());
        if self.bytes_carry.q.val() {
            self.bytes_sum_high.next = bit_cast::<25, 24>(self.bytes_high.q.val()) + 1;
        }
        self.bytes_high_now.next = self.bytes_sum_high.val().get_bits::<24>(0);
        self.saturated_now.next = self.saturated.q.val()
            | self.packets_sum_high.val().get_bit(24)
            | self.bytes_sum_high.val().get_bit(24);
        // A cell tells its overflow several cycles after its packet's commit.
        self.overflows_old.next = self.overflow.val() & (self.overflow_epoch.val() != self.epoch.val());
        self.saturated_next.next = self.saturated_now.val()
            | (self.overflow.val() & (self.overflow_epoch.val() == self.epoch.val()));

        self.any.d.next = self.any.q.val() | self.packet.val().any();
        self.packets_low.d.next = self.packets_now.val();
        self.packets_carry.d.next = self.packets_sum.val().get_bit(24);
        self.bytes_low.d.next = self.bytes_now.val();
        self.bytes_carry.d.next = self.bytes_sum.val().get_bit(24);
        self.first.d.next = self.first_next.val();
        self.last.d.next = self.last_next.val();
        self.refused_count.d.next = self.refused_next.val();
        self.clock_lost.d.next = self.clock_lost_next.val();
        self.by_clock.d.next = self.by_clock_next.val();
        if self.ends.val() {
            self.old_packets_low.d.next = self.packets_now.val();
            self.old_bytes_low.d.next = self.bytes_now.val();
            self.old_first.d.next = self.first_next.val();
            self.old_last.d.next = self.last_next.val();
            self.old_refused.d.next = self.refused_next.val();
            self.old_clock_lost.d.next = self.clock_lost_next.val();
            self.old_by_clock.d.next = self.by_clock_next.val();
            self.old_gap.d.next = self.gap.val();
            self.any.d.next = false;
            self.packets_low.d.next = 0.into();
            self.bytes_low.d.next = 0.into();
            self.first.d.next = 0.into();
            self.last.d.next = 0.into();
            self.refused_count.d.next = 0.into();
            self.clock_lost.d.next = false;
            // A timed end concerns the interval that it ends and the one that it starts.
            self.by_clock.d.next = self.timed.val();
        }

        self.just_ended.d.next = self.ends.val();
        self.packets_high.d.next = self.packets_high_now.val();
        self.bytes_high.d.next = self.bytes_high_now.val();
        self.saturated.d.next = self.saturated_next.val();
        self.old_saturated.d.next = self.old_saturated.q.val() | self.overflows_old.val();
        if self.just_ended.q.val() {
            self.old_packets_high.d.next = self.packets_high_now.val();
            self.old_bytes_high.d.next = self.bytes_high_now.val();
            self.packets_high.d.next = 0.into();
            self.bytes_high.d.next = 0.into();
            self.old_saturated.d.next = self.saturated_now.val() | self.overflows_old.val();
            self.saturated.d.next = self.overflow.val() & (self.overflow_epoch.val() == self.epoch.val());
        }

        self.shown_packets.d.next = self.packets_low.q.val();
        self.shown_bytes.d.next = self.bytes_low.q.val();
        self.packets.next = bit_cast::<48, 24>(self.shown_packets.q.val())
            | (bit_cast::<48, 24>(self.packets_high.q.val()) << 24);
        self.bytes.next = bit_cast::<48, 24>(self.shown_bytes.q.val())
            | (bit_cast::<48, 24>(self.bytes_high.q.val()) << 24);
        self.unmeasured_frames.next = self.unmeasured_count.count.val();
        self.bad_frames.next = self.bad_count.count.val();
        self.ended_packets.next = bit_cast::<48, 24>(self.old_packets_low.q.val())
            | (bit_cast::<48, 24>(self.old_packets_high.q.val()) << 24);
        self.ended_bytes.next = bit_cast::<48, 24>(self.old_bytes_low.q.val())
            | (bit_cast::<48, 24>(self.old_bytes_high.q.val()) << 24);
        self.ended_first.next = self.old_first.q.val();
        self.ended_last.next = self.old_last.q.val();
        self.ended_unmeasured.next = self.unmeasured_count.ended.val();
        self.ended_bad.next = self.bad_count.ended.val();
        self.ended_refused.next = self.old_refused.q.val();
        self.conditions.next = 0.into();
        if self.old_saturated.q.val() {
            self.conditions.next = self.conditions.val() | 1;
        }
        if self.old_refused.q.val().any() {
            self.conditions.next = self.conditions.val() | 2;
        }
        if self.old_clock_lost.q.val() {
            self.conditions.next = self.conditions.val() | 4;
        }
        if self.old_by_clock.q.val() {
            self.conditions.next = self.conditions.val() | 8;
        }
        if self.old_gap.q.val() {
            self.conditions.next = self.conditions.val() | 16;
        }
        self.ended_flags.next = self.conditions.val();
    }
}
