//! Class totals: what an interval counts of one class besides its cells.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::wire::frame::Totals` as `deltaline_model::point` fills it: packets, bytes, first and last time.
//! One set of counters counts; when an interval ends, they move into a set of registers that holds still for the drain,
//! and start from zero. The 48-bit totals are added in two halves of 24 bits with the carry in between kept for a
//! cycle, so their upper halves move one cycle after the rest. Several lanes may bring a packet each in one cycle: their
//! numbers and lengths arrive added up.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | ends | in | 1 | the interval ends behind this cycle |
//! | packet | in | 3 | packets of the class in this cycle, 0..=4 |
//! | ip_length | in | 19 | their IP octets |
//! | first_now, last_now | in | 64 | with packet: the first's and the last's timestamp |
//! | wrapped | out | 1 | a total wrapped with the packets of two cycles before |
//! | packets, bytes | out | 48 | the running interval's totals as of two cycles ago, both of one moment |
//! | ended_packets, ended_bytes | out | 48 | totals of the interval that ended last |
//! | ended_first, ended_last | out | 64 | its timestamps |
//!
//! Latency two cycles, any number of packets. No parameters.
//!
//! # Test plan
//!
//! `sim/cosim`: with the whole core, of one class and of several; carries of every counter with the counters preloaded.

use crate::leaves::Flop;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct ClassTotals {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub ends: Signal<In, Bit>,
    pub packet: Signal<In, Bits<3>>,
    pub ip_length: Signal<In, Bits<19>>,
    pub first_now: Signal<In, Bits<64>>,
    pub last_now: Signal<In, Bits<64>>,
    pub wrapped: Signal<Out, Bit>,
    pub packets: Signal<Out, Bits<48>>,
    pub bytes: Signal<Out, Bits<48>>,
    pub ended_packets: Signal<Out, Bits<48>>,
    pub ended_bytes: Signal<Out, Bits<48>>,
    pub ended_first: Signal<Out, Bits<64>>,
    pub ended_last: Signal<Out, Bits<64>>,

    /// The running interval. Packets are there; the upper halves are one cycle behind.
    any: Flop<Bit>,
    packets_low: Flop<Bits<24>>,
    packets_high: Flop<Bits<24>>,
    packets_carry: Flop<Bit>,
    bytes_low: Flop<Bits<24>>,
    bytes_high: Flop<Bits<24>>,
    bytes_carry: Flop<Bit>,
    has_wrapped: Flop<Bit>,
    first: Flop<Bits<64>>,
    last: Flop<Bits<64>>,
    /// The interval ended one cycle ago.
    just_ended: Flop<Bit>,

    /// The lower halves as late as the upper ones.
    shown_packets: Flop<Bits<24>>,
    shown_bytes: Flop<Bits<24>>,

    /// The interval that ended last.
    old_packets_low: Flop<Bits<24>>,
    old_packets_high: Flop<Bits<24>>,
    old_bytes_low: Flop<Bits<24>>,
    old_bytes_high: Flop<Bits<24>>,
    old_first: Flop<Bits<64>>,
    old_last: Flop<Bits<64>>,

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
}

impl Logic for ClassTotals {
    #[clocked(
        any,
        packets_low,
        packets_high,
        packets_carry,
        bytes_low,
        bytes_high,
        bytes_carry,
        has_wrapped,
        first,
        last,
        just_ended,
        shown_packets,
        shown_bytes,
        old_packets_low,
        old_packets_high,
        old_bytes_low,
        old_bytes_high,
        old_first,
        old_last
    )]
    fn update(&mut self) {
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
        self.has_wrapped.d.next =
            self.packets_sum_high.val().get_bit(24) | self.bytes_sum_high.val().get_bit(24);
        self.wrapped.next = self.has_wrapped.q.val();

        self.any.d.next = self.any.q.val() | self.packet.val().any();
        self.packets_low.d.next = self.packets_now.val();
        self.packets_carry.d.next = self.packets_sum.val().get_bit(24);
        self.bytes_low.d.next = self.bytes_now.val();
        self.bytes_carry.d.next = self.bytes_sum.val().get_bit(24);
        self.first.d.next = self.first_next.val();
        self.last.d.next = self.last_next.val();
        if self.ends.val() {
            self.old_packets_low.d.next = self.packets_now.val();
            self.old_bytes_low.d.next = self.bytes_now.val();
            self.old_first.d.next = self.first_next.val();
            self.old_last.d.next = self.last_next.val();
            self.any.d.next = false;
            self.packets_low.d.next = 0.into();
            self.bytes_low.d.next = 0.into();
            self.first.d.next = 0.into();
            self.last.d.next = 0.into();
        }

        self.just_ended.d.next = self.ends.val();
        self.packets_high.d.next = self.packets_high_now.val();
        self.bytes_high.d.next = self.bytes_high_now.val();
        if self.just_ended.q.val() {
            self.old_packets_high.d.next = self.packets_high_now.val();
            self.old_bytes_high.d.next = self.bytes_high_now.val();
            self.packets_high.d.next = 0.into();
            self.bytes_high.d.next = 0.into();
        }

        self.shown_packets.d.next = self.packets_low.q.val();
        self.shown_bytes.d.next = self.bytes_low.q.val();
        self.packets.next = bit_cast::<48, 24>(self.shown_packets.q.val())
            | (bit_cast::<48, 24>(self.packets_high.q.val()) << 24);
        self.bytes.next = bit_cast::<48, 24>(self.shown_bytes.q.val())
            | (bit_cast::<48, 24>(self.bytes_high.q.val()) << 24);
        self.ended_packets.next = bit_cast::<48, 24>(self.old_packets_low.q.val())
            | (bit_cast::<48, 24>(self.old_packets_high.q.val()) << 24);
        self.ended_bytes.next = bit_cast::<48, 24>(self.old_bytes_low.q.val())
            | (bit_cast::<48, 24>(self.old_bytes_high.q.val()) << 24);
        self.ended_first.next = self.old_first.q.val();
        self.ended_last.next = self.old_last.q.val();
    }
}
