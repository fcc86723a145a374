//! The core: a passive measurement point on a 64-bit AXI4-Stream.
//!
//! # Theory of operation
//!
//! ```text
//! s_axis (observed) -> identity ---+
//!                                  +-> aggregator (place, sampler, lda, totals, interval, emitter) -> m_axis
//! interval_end, ptp_ts -> boundary +
//! ```
//!
//! The stream is observed where tvalid and tready are both high; nothing is driven back, so the core cannot stall
//! or change traffic. A frame is counted when it has ended; its timestamp is that of its first beat. At the end of
//! an interval the copies of cells and totals swap roles, and the emitter sends the finished copy out as control
//! frames while the other counts.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk | in | 1 | clock of both streams |
//! | rst | in | 1 | synchronous reset, active high |
//! | s_axis_tdata | in | 64 | observed stream, first byte in bits 7:0, frames without FCS |
//! | s_axis_tkeep | in | 8 | contiguous from bit 0, partial only with tlast |
//! | s_axis_tvalid, s_axis_tready | in | 1 | a beat is transferred when both are high |
//! | s_axis_tlast | in | 1 | last beat of a frame |
//! | s_axis_tuser | in | 65 | bit 0 with tlast: bad frame; bits 64:1 with the first beat: PTP relative-64 timestamp |
//! | interval_end | in | 1 | end the interval behind this cycle; not by a delimiter, so the interval and the next are flagged |
//! | interval_log2 | in | 6 | 0 or 48..=63: never; 1..=47: end intervals by the clock, every 2^n ns |
//! | ptp_ts | in | 64 | clock for interval_log2, PTP relative-64; may be zero otherwise |
//! | ptp_locked | in | 1 | the clock is locked; else the interval is flagged |
//! | receiver | in | 1 | role: 0 sender, 1 receiver |
//! | point_id | in | 32 | identifier of the measurement point in its control frames, zero if it has none |
//! | absolute_time | in | 56 | time base in bits 55:48 (1 TAI, 2 Unix), seconds below; zero without such a clock |
//! | keyed | in | 1 | delimiters count by their tags alone; they must be watched for by [`crate::authentication::tag_match`] |
//! | due_signed$0, next_signed$0 | in | 1 | with delimiter: it has the tag of the one that is due, of the candidate's successor |
//! | due_ready, next_ready | in | 1 | these tags are known; with keyed zero the four have no effect |
//! | schedule | in | 1 | strobe: schedule `next_prefixes` from interval `from_interval` on; only if adaptive |
//! | next_prefixes | in | 64 | prefix lengths: bank 0 in bits 63:56, 255 where there is no bank |
//! | from_interval | in | 32 | number of the first interval with them |
//! | least_interval | in | 32 | cycles from an interval's end to the next, at least; taken when an interval ends; 0 for none |
//! | schedule_legal | out | 1 | in the same cycle: `next_prefixes` may be scheduled; what is illegal is not |
//! | schedule_pending | out | 1 | scheduled lengths wait for their interval |
//! | running | out | 1 | the memories have been cleared after reset: counting |
//! | packets, bytes | out | 48 | measured packets and their IP octets, the running interval so far |
//! | unmeasured, bad | out | 32 | other frames, the running interval so far |
//! | unmatched | out | 32 | measured frames of no class, which are part of the unmeasured ones |
//! | interval | out | 32 | number of the running interval |
//! | draining | out | 1 | the last interval is being sent, or memories are being cleared |
//! | too_soon | out | 1 | `least_interval` is not over: an end would be refused |
//! | ended | out | 1 | an interval ends behind this cycle |
//! | refused | out | 1 | an interval end was refused |
//! | delimiter | out | 1 | a delimiter of this measurement has come |
//! | due, due_epoch, next_number, next_epoch | out | 32 | whose tags are asked for: the delimiter that is due, the candidate's successor |
//! | due_changes, next_changes | out | 1 | in the next cycle they are others |
//! | gap | out | 1 | with ended: by a delimiter whose number is not the one due |
//! | m_axis_* | out (tready in) | 64 + 8 + 1 + 1 + 1 | control frames |
//!
//! # For integrators
//!
//! * One clock: `ptp_ts`, `ptp_locked`, `interval_end` and the timestamps in tuser belong to the domain of `clk`.
//! * `rst` for one cycle is enough. Then both copies are cleared, two cycles a word of the counter memory, and
//!   `running` rises; what comes before does not count. A control frame under way is cut off without tlast.
//! * `receiver` is a strap; `interval_log2` may change at run time, which ends no interval.
//! * In a configuration that adapts, other prefix lengths may be scheduled at any time; they take effect at the boundary
//!   before their interval, the same at both ends if both are told in time. A schedule counts for intervals whose
//!   `ended` is high in its cycle or later. Otherwise the four ports are left out of account: tie them to zero.
//! * `point_id` is a strap or a register; frames take it as it is when they are sent. `absolute_time` is taken when an
//!   interval ends, some cycles behind its last beat.
//! * PTP relative-64: nanoseconds in bits 63:16, their fraction in bits 15:0. Cells add the low 40 bits of the
//!   nanoseconds, the time sum all of them.
//! * An interval is sent as banks × ceil(rows / 128) frames of 160 + 9 × min(rows, 128) bytes (1312 with 128 rows and
//!   more; with digests banks × ceil(rows / 64) frames of 160 + 13 × min(rows, 64) bytes, with FineComb of 17 bytes a row;
//!   of an identity table 4 × ceil(rows / 32) frames of 160 + 21 × min(rows, 32) bytes), with gaps between words: put a frame
//!   buffer before a MAC that cannot pause.
//! * Intervals must be longer than a drain: 8 cycles a cell (10 with digests, 12 with FineComb, 14 with an identity table)
//!   and 80 a frame are a safe bound with m_axis always ready; 2 x 1024 cells take 16,700 cycles in all. An end that comes
//!   earlier is refused, counted and flagged in the next report. So is one, of whatever kind, that comes fewer than
//!   `least_interval` cycles behind the last that counted: it bounds how often others can end intervals.
//!
//! # Parameters, latency and throughput
//!
//! R = log2(rows), A = R + bits of a bank number + bits of a class, C classes, S and D as the lda's (digests), P, N, I, J, T, K and V as the
//! aggregator's; hash,
//! seed, prefix lengths, segment and entries of the configuration become constants. One beat a cycle, frames of any
//! length back to back. A frame's cell is written in the 20th cycle behind its last beat, in an
//! identity table and in rows of flows in the 21st, in a vector of flows in the 29th.
//!
//! Cost: `docs/report.md`, by stage, device and library; `cargo xtask cost` for another number of rows.
//!
//! # Test plan
//!
//! `sim/cosim`: control frames of random and directed traffic against `deltaline_model::point`, byte by byte.

use crate::identity::Identity;
use crate::interval::boundary::Boundary;
use crate::module::module;
use crate::point::aggregator::Aggregator;
use crate::sketch::mixing::MIXING;
use deltaline_hdl_macros::passes;
use deltaline_model::configuration::Configuration;
use rust_hdl_core::prelude::*;

/// See the [module](self). R = log2(rows), A = R + bits of a bank number, S bits a cell, D digests a cell.
#[derive(LogicBlock)]
pub struct Core<
    const R: usize,
    const A: usize,
    const C: usize,
    const S: usize = 72,
    const D: usize = 0,
    const P: usize = D,
    const N: usize = 1,
    const I: usize = 0,
    const J: usize = 0,
    const T: usize = R,
    const K: usize = 0,
    const V: usize = 0,
    const Z: usize = 0,
> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub s_axis_tdata: Signal<In, Bits<64>>,
    pub s_axis_tkeep: Signal<In, Bits<8>>,
    pub s_axis_tvalid: Signal<In, Bit>,
    pub s_axis_tready: Signal<In, Bit>,
    pub s_axis_tlast: Signal<In, Bit>,
    pub s_axis_tuser: Signal<In, Bits<65>>,
    pub interval_end: Signal<In, Bit>,
    pub interval_log2: Signal<In, Bits<6>>,
    pub ptp_ts: Signal<In, Bits<64>>,
    pub ptp_locked: Signal<In, Bit>,
    pub receiver: Signal<In, Bit>,
    pub point_id: Signal<In, Bits<32>>,
    pub absolute_time: Signal<In, Bits<56>>,
    pub keyed: Signal<In, Bit>,
    pub due_signed: [Signal<In, Bit>; 1],
    pub next_signed: [Signal<In, Bit>; 1],
    pub due_ready: Signal<In, Bit>,
    pub next_ready: Signal<In, Bit>,
    pub schedule: Signal<In, Bit>,
    pub next_prefixes: Signal<In, Bits<64>>,
    pub from_interval: Signal<In, Bits<32>>,
    pub least_interval: Signal<In, Bits<32>>,
    pub schedule_mixing: Signal<In, Bit>,
    pub next_mixing: Signal<In, Bits<MIXING>>,
    pub next_mixing_id: Signal<In, Bits<32>>,
    pub from_mixing: Signal<In, Bits<32>>,
    pub schedule_legal: Signal<Out, Bit>,
    pub schedule_pending: Signal<Out, Bit>,
    pub mixing_pending: Signal<Out, Bit>,
    pub running: Signal<Out, Bit>,
    pub packets: Signal<Out, Bits<48>>,
    pub bytes: Signal<Out, Bits<48>>,
    pub unmeasured: Signal<Out, Bits<32>>,
    pub bad: Signal<Out, Bits<32>>,
    pub unmatched: Signal<Out, Bits<32>>,
    pub interval: Signal<Out, Bits<32>>,
    pub draining: Signal<Out, Bit>,
    pub too_soon: Signal<Out, Bit>,
    pub ended: Signal<Out, Bit>,
    pub refused: Signal<Out, Bit>,
    pub gap: Signal<Out, Bit>,
    pub delimiter: Signal<Out, Bit>,
    pub due: Signal<Out, Bits<32>>,
    pub due_epoch: Signal<Out, Bits<32>>,
    pub next_number: Signal<Out, Bits<32>>,
    pub next_epoch: Signal<Out, Bits<32>>,
    pub due_changes: Signal<Out, Bit>,
    pub next_changes: Signal<Out, Bit>,
    pub m_axis_tdata: Signal<Out, Bits<64>>,
    pub m_axis_tkeep: Signal<Out, Bits<8>>,
    pub m_axis_tvalid: Signal<Out, Bit>,
    pub m_axis_tready: Signal<In, Bit>,
    pub m_axis_tlast: Signal<Out, Bit>,
    pub m_axis_tuser: Signal<Out, Bit>,

    identity: Identity,
    boundary: Boundary<3>,
    aggregator: Aggregator<R, A, 1, C, S, D, P, N, I, J, T, K, V, Z>,
}

impl<
    const R: usize,
    const A: usize,
    const C: usize,
    const S: usize,
    const D: usize,
    const P: usize,
    const N: usize,
    const I: usize,
    const J: usize,
    const T: usize,
    const K: usize,
    const V: usize,
    const Z: usize,
> Core<R, A, C, S, D, P, N, I, J, T, K, V, Z>
{
    /// The core of a configuration with 2^R rows and at most C classes; A as [`crate::sketch::lane`] wants it.
    pub fn new(configuration: &Configuration) -> Self {
        module! { Core {
            identity: Identity::new(configuration),
            aggregator: Aggregator::new(configuration),
        }
            clk rst s_axis_tdata s_axis_tkeep s_axis_tvalid s_axis_tready s_axis_tlast s_axis_tuser
            interval_end interval_log2 ptp_ts ptp_locked receiver point_id absolute_time keyed due_ready next_ready
            schedule next_prefixes from_interval least_interval
            schedule_mixing next_mixing next_mixing_id from_mixing mixing_pending schedule_legal schedule_pending running packets bytes unmeasured bad unmatched interval draining too_soon
            ended refused gap delimiter due due_epoch next_number next_epoch due_changes next_changes m_axis_tdata m_axis_tkeep m_axis_tvalid m_axis_tready m_axis_tlast
            m_axis_tuser boundary; each due_signed next_signed
        }
    }
}

impl<
    const R: usize,
    const A: usize,
    const C: usize,
    const S: usize,
    const D: usize,
    const P: usize,
    const N: usize,
    const I: usize,
    const J: usize,
    const T: usize,
    const K: usize,
    const V: usize,
    const Z: usize,
> Logic for Core<R, A, C, S, D, P, N, I, J, T, K, V, Z>
{
    #[passes(
        aggregator,
        in(
            clk,
            rst,
            receiver,
            point_id,
            absolute_time,
            keyed,
            due_ready,
            next_ready,
            schedule,
            next_prefixes,
            from_interval,
            least_interval,
            schedule_mixing,
            next_mixing,
            next_mixing_id,
            from_mixing,
            m_axis_tready
        ),
        out(
            schedule_legal,
            schedule_pending,
            mixing_pending,
            running,
            packets,
            bytes,
            interval,
            draining,
            too_soon,
            ended,
            refused,
            gap,
            due,
            due_epoch,
            next_number,
            next_epoch,
            due_changes,
            next_changes,
            m_axis_tdata,
            m_axis_tkeep,
            m_axis_tvalid,
            m_axis_tlast,
            m_axis_tuser
        )
    )]
    #[passes(boundary, in(clk, rst, interval_end, interval_log2, ptp_ts, ptp_locked))]
    #[passes(
        identity,
        in(clk, rst, s_axis_tdata, s_axis_tkeep, s_axis_tvalid, s_axis_tready, s_axis_tlast, s_axis_tuser)
    )]
    #[hdl_gen]
    fn update(&mut self) {
        self.identity.running.next = self.aggregator.running.val();

        self.aggregator.commit[0].next = self.identity.commit.val();
        self.aggregator.measured[0].next = self.identity.measured.val();
        self.aggregator.bad[0].next = self.identity.bad.val();
        self.aggregator.key[0].next = self.identity.key.val();
        self.aggregator.timestamp[0].next = self.identity.timestamp.val();
        self.aggregator.ip_length[0].next = self.identity.ip_length.val();
        self.aggregator.delimiter[0].next = self.identity.delimiter.val();
        self.aggregator.delimiter_number[0].next = self.identity.delimiter_number.val();
        self.aggregator.delimiter_epoch[0].next = self.identity.delimiter_epoch.val();
        self.aggregator.due_signed[0].next = self.due_signed[0].val();
        self.aggregator.next_signed[0].next = self.next_signed[0].val();
        self.aggregator.request.next = self.boundary.request.val();
        self.aggregator.unlocked.next = self.boundary.unlocked.val();

        self.unmeasured.next = self.aggregator.unmeasured_frames.val();
        self.bad.next = self.aggregator.bad_frames.val();
        self.unmatched.next = self.aggregator.unmatched_frames.val();
        self.delimiter.next = self.identity.delimiter.val() & self.aggregator.running.val();
    }
}
