//! Aggregator: everything behind the identity stage, for one lane or several.
//!
//! # Theory of operation
//!
//! ```text
//! key (L lanes) -> lane (place, sampler, lda in two copies), each <------------- emitter -> m_axis
//!   |                ^ packet, kind     ^ epoch                        ^
//!   +-> classifier --+                  |                              |
//! commit, timestamp -+-> totals, class totals, sums of all packets --------+
//! request, delimiters -> interval ------+
//! lengths -> schedule -> masks to lanes, lengths to emitter
//! mixing -> mixings -> mixing to lanes, its identifier to emitter
//! ```
//!
//! The classifier takes a cycle to tell a packet's class: meanwhile all else that comes with a commit waits, but not the
//! key, which is on its way through the hash. A measured frame of no class counts as not measured. Each class has
//! [class totals](crate::point::class_totals) and [a time sum](crate::point::time_sum) of its own, and its own part of the
//! memory.
//!
//! Every lane may commit a frame in every cycle. Lanes have cells of their own; the drain adds those of the same
//! word and their digest sums, and the totals add what the lanes bring. Frames that are committed in the same cycle count in the order of
//! their lanes.
//!
//! The live packets and bytes are those of all classes. [`Merge`] adds the cells of all lanes.
//!
//! In place of a lane there may be an [identity table](crate::sketch::identity_table), [rows with one beside
//! them](crate::sketch::lda_identity), [rows of flows](crate::sketch::flow_rows), a [vector of flows](crate::sketch::flow_vector), or
//! [slices](crate::sketch::slices). Another synopsis that is no lane with
//! other fields would stand beside these: an array of one or none, and its loop.
//!
//! With several lanes, `saturated` is also raised by 2^32 packets of a class in an interval, since a sum of cells might
//! wrap.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | commit$i | in | 1 | lane i: a frame has ended |
//! | measured$i, bad$i | in | 1 | with commit: it is measured; the MAC marked it bad |
//! | key$i | in | 544 | with measured: its key, word j in bits 32j+31:32j |
//! | timestamp$i | in | 64 | with measured: PTP relative-64 |
//! | ip_length$i | in | 17 | with measured: IP octets |
//! | delimiter$i, delimiter_number$i, delimiter_epoch$i | in | 1, 32, 32 | lane i: a delimiter, three cycles ahead of its commit; the number and boot epoch that it carries |
//! | request | in | 1 | end the interval behind the commits of three cycles later |
//! | unlocked | in | 1 | the clock is not locked; with the commits of three cycles later |
//! | receiver | in | 1 | role: 0 sender, 1 receiver |
//! | point_id | in | 32 | the measurement point's identifier |
//! | absolute_time | in | 56 | time base in bits 55:48, seconds below; taken at the end of an interval |
//! | schedule, next_prefixes, from_interval | in | 1, 64, 32 | `load`, `lengths` and `from` of [`crate::interval::schedule`] |
//! | schedule_legal, schedule_pending | out | 1 | `legal` and `pending` of it |
//! | schedule_mixing, next_mixing, next_mixing_id, from_mixing | in | 1, 95, 32, 32 | `load`, `next_mixing`, `next_id` and `from` of [`crate::interval::mixings`] |
//! | mixing_pending | out | 1 | `pending` of it |
//! | running | out | 1 | the memories have been cleared after reset: counting |
//! | least_interval | in | 32 | `least` of [`crate::interval`] |
//! | too_soon | out | 1 | an end would be refused because it comes too soon |
//! | draining | out | 1 | the interval that ended last is being sent |
//! | ended | out | 1 | an interval ends behind this cycle |
//! | refused | out | 1 | an end was refused |
//! | gap | out | 1 | with ended: by a delimiter whose number is not the one due |
//! | interval | out | 32 | number of the running interval |
//! | packets, bytes, unmeasured_frames, bad_frames | out | 48, 48, 32, 32 | the running interval so far |
//! | unmatched_frames | out | 32 | likewise: measured frames of no class, which are part of the unmeasured ones |
//! | m_axis_* | out (tready in) | 64 + 8 + 1 + 1 + 1 | control frames |
//!
//! Parameters: R = log2(rows), A = R + bits of a bank number + bits of a class, L = lanes (1..=4), C = classes (1, 2 or 4),
//! S and D as the lda's, P digest sums as the lane's, N lanes of cells, I identity tables, J rows with one beside them, K rows of
//! flows, V vectors of flows and Z tables of slices: what holds the cells of the lanes' packets. Either N = L and I = J = K = V = Z = 0, or L = I + J + K + V + Z = 1
//! and N = 0. T is that of J or of Z; with a vector of flows and with slices A = R.
//! Throughput: L frames a cycle. A frame's cell is written 13 cycles behind its commit, in an identity table and in rows of flows 14, in a vector of flows 22,
//! a record of slices 8.
//!
//! # Test plan
//!
//! `sim/cosim`, with the cores of every width.

use crate::interval::mixings::Mixings;
use crate::interval::schedule::Schedule;
use crate::interval::{AHEAD, Interval};
use crate::leaves::{Classifier, Delay, Flop};
use crate::module::module;
use crate::point::class_totals::ClassTotals;
use crate::point::frame_count::FrameCount;
use crate::point::time_sum::TimeSum;
use crate::point::totals::Totals;
use crate::report::emitter::Emitter;
use crate::sketch::flow_rows::FlowRows;
use crate::sketch::flow_vector::FlowVector;
use crate::sketch::identity_table::IdentityTable;
use crate::sketch::lane::Lane;
use crate::sketch::lda_identity::LdaIdentity;
use crate::sketch::merge::Merge;
use crate::sketch::mixing::MIXING;
use crate::sketch::slices::Slices;
use deltaline_hdl_macros::passes;
use deltaline_model::configuration::Configuration;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Aggregator<
    const R: usize,
    const A: usize,
    const L: usize,
    const C: usize,
    const S: usize = 72,
    const D: usize = 0,
    const P: usize = D,
    const N: usize = L,
    const I: usize = 0,
    const J: usize = 0,
    const T: usize = R,
    const K: usize = 0,
    const V: usize = 0,
    const Z: usize = 0,
> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub commit: [Signal<In, Bit>; L],
    pub measured: [Signal<In, Bit>; L],
    pub bad: [Signal<In, Bit>; L],
    pub key: [Signal<In, Bits<544>>; L],
    pub timestamp: [Signal<In, Bits<64>>; L],
    pub ip_length: [Signal<In, Bits<17>>; L],
    pub delimiter: [Signal<In, Bit>; L],
    pub delimiter_number: [Signal<In, Bits<32>>; L],
    pub delimiter_epoch: [Signal<In, Bits<32>>; L],
    pub request: Signal<In, Bit>,
    pub unlocked: Signal<In, Bit>,
    pub receiver: Signal<In, Bit>,
    pub point_id: Signal<In, Bits<32>>,
    pub absolute_time: Signal<In, Bits<56>>,
    pub keyed: Signal<In, Bit>,
    pub due_signed: [Signal<In, Bit>; L],
    pub next_signed: [Signal<In, Bit>; L],
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
    pub draining: Signal<Out, Bit>,
    pub too_soon: Signal<Out, Bit>,
    pub ended: Signal<Out, Bit>,
    pub refused: Signal<Out, Bit>,
    pub gap: Signal<Out, Bit>,
    pub due: Signal<Out, Bits<32>>,
    pub due_epoch: Signal<Out, Bits<32>>,
    pub next_number: Signal<Out, Bits<32>>,
    pub next_epoch: Signal<Out, Bits<32>>,
    pub due_changes: Signal<Out, Bit>,
    pub next_changes: Signal<Out, Bit>,
    pub interval: Signal<Out, Bits<32>>,
    pub packets: Signal<Out, Bits<48>>,
    pub bytes: Signal<Out, Bits<48>>,
    pub unmeasured_frames: Signal<Out, Bits<32>>,
    pub bad_frames: Signal<Out, Bits<32>>,
    pub unmatched_frames: Signal<Out, Bits<32>>,
    pub m_axis_tdata: Signal<Out, Bits<64>>,
    pub m_axis_tkeep: Signal<Out, Bits<8>>,
    pub m_axis_tvalid: Signal<Out, Bit>,
    pub m_axis_tready: Signal<In, Bit>,
    pub m_axis_tlast: Signal<Out, Bit>,
    pub m_axis_tuser: Signal<Out, Bit>,

    /// What comes with a commit, a cycle later: as late as the classifier's answer.
    classifier: [Classifier; L],
    staged_measured: [Flop<Bit>; L],
    staged_bad: [Flop<Bit>; L],
    staged_unmeasured: [Flop<Bit>; L],
    staged_timestamp: [Flop<Bits<64>>; L],
    staged_length: [Flop<Bits<17>>; L],
    unlocked_then: Delay<1, AHEAD>,

    lane: [Lane<R, A, C, S, D, P>; N],
    identity: [IdentityTable<R, A, S>; I],
    lda_identity: [LdaIdentity<R, A, T, S>; J],
    flow_rows: [FlowRows<R, A, S>; K],
    flow_vector: [FlowVector<A, S>; V],
    slices: [Slices<A, T, S>; Z],
    totals: Totals,
    class_totals: [ClassTotals; C],
    time_sum: [TimeSum; C],
    unmatched_count: FrameCount,
    intervals: Interval<L>,
    prefixes: Schedule,
    mixings: Mixings,
    /// When the interval ended that ended last.
    ended_time: Flop<Bits<56>>,
    emitter: Emitter<A, S, D>,

    /// One where there are several lanes.
    lanes: Constant<Bits<1>>,
    class_number: [Constant<Bits<2>>; C],
    unlocked_now: Signal<Local, Bits<1>>,
    idle: Signal<Local, Bit>,
    packet: [Signal<Local, Bit>; L],
    measured_now: [Signal<Local, Bits<3>>; C],
    unmatched_now: Signal<Local, Bits<3>>,
    unmeasured_now: Signal<Local, Bits<3>>,
    bad_now: Signal<Local, Bits<3>>,
    octets: Signal<Local, Bits<17>>,
    octets_now: [Signal<Local, Bits<19>>; C],
    first_now: [Signal<Local, Bits<64>>; C],
    last_now: [Signal<Local, Bits<64>>; C],
    half_time: Signal<Local, Bits<24>>,
    low_time: [Signal<Local, Bits<26>>; C],
    high_time: [Signal<Local, Bits<26>>; C],
    wrapped: Signal<Local, Bit>,
    crowded: Signal<Local, Bit>,
    packets_sum: Signal<Local, Bits<48>>,
    bytes_sum: Signal<Local, Bits<48>>,
    sent_packets: Signal<Local, Bits<48>>,
    sent_bytes: Signal<Local, Bits<48>>,
    sent_first: Signal<Local, Bits<64>>,
    sent_last: Signal<Local, Bits<64>>,
    sent_time_sum: Signal<Local, Bits<64>>,
    lane_digests: Signal<Local, Bits<32>>,
    digest_low: Signal<Local, Bits<16>>,
    digest_high: Signal<Local, Bits<16>>,
    sent_digest_sum: Signal<Local, Bits<32>>,
    overflow: Signal<Local, Bit>,
    overflow_epoch: Signal<Local, Bit>,
    merge: [Merge<S, D>; N],
    drained: Signal<Local, Bits<S>>,
    flags: Signal<Local, Bits<5>>,
}

impl<
    const R: usize,
    const A: usize,
    const L: usize,
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
> Aggregator<R, A, L, C, S, D, P, N, I, J, T, K, V, Z>
{
    /// The aggregator of a configuration with 2^R rows and at most C classes; A as [`Lane`] wants it.
    pub fn new(configuration: &Configuration) -> Self {
        module! { Aggregator {
            classifier: std::array::from_fn(|_| Classifier::new(configuration)),
            lane: std::array::from_fn(|_| Lane::new(configuration)),
            identity: std::array::from_fn(|_| IdentityTable::new(configuration)),
            lda_identity: std::array::from_fn(|_| LdaIdentity::new(configuration)),
            flow_rows: std::array::from_fn(|_| FlowRows::new(configuration)),
            flow_vector: std::array::from_fn(|_| FlowVector::new(configuration)),
            slices: std::array::from_fn(|_| Slices::new(configuration)),
            prefixes: Schedule::new(configuration),
            mixings: Mixings::new(configuration),
            emitter: Emitter::new(configuration),
            lanes: Constant::new(u64::from(L > 1).into()),
            class_number: std::array::from_fn(|class| Constant::new((class as u64).into())),
        }
            clk rst request unlocked receiver point_id absolute_time keyed due_ready next_ready schedule next_prefixes
            from_interval least_interval schedule_mixing next_mixing next_mixing_id from_mixing mixing_pending schedule_legal schedule_pending running draining too_soon ended refused gap due due_epoch
            next_number next_epoch due_changes next_changes interval packets
            bytes unmeasured_frames bad_frames unmatched_frames m_axis_tdata m_axis_tkeep m_axis_tvalid
            m_axis_tready m_axis_tlast m_axis_tuser unlocked_then totals unmatched_count intervals ended_time unlocked_now idle
            unmatched_now unmeasured_now bad_now octets half_time wrapped crowded packets_sum bytes_sum sent_packets
            sent_bytes sent_first sent_last sent_time_sum lane_digests digest_low digest_high sent_digest_sum overflow overflow_epoch drained flags
            ; each commit measured bad key timestamp ip_length delimiter delimiter_number delimiter_epoch due_signed next_signed staged_measured staged_bad staged_unmeasured
            staged_timestamp staged_length class_totals time_sum packet measured_now octets_now first_now last_now
            low_time high_time merge
        }
    }
}

impl<
    const R: usize,
    const A: usize,
    const L: usize,
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
> Logic for Aggregator<R, A, L, C, S, D, P, N, I, J, T, K, V, Z>
{
    #[passes(
        intervals,
        in(keyed, due_ready, next_ready),
        out(due, due_epoch, next_number, next_epoch, due_changes, next_changes)
    )]
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..L {
            self.classifier[i].clk.next = self.clk.val();
            self.classifier[i].key.next = self.key[i].val();
            self.staged_measured[i].clock.next = self.clk.val();
            self.staged_measured[i].rst.next = self.rst.val();
            self.staged_measured[i].d.next =
                self.commit[i].val() & self.measured[i].val() & self.emitter.running.val();
            self.staged_bad[i].clock.next = self.clk.val();
            self.staged_bad[i].rst.next = self.rst.val();
            self.staged_bad[i].d.next = self.commit[i].val()
                & !self.measured[i].val()
                & self.bad[i].val()
                & self.emitter.running.val();
            self.staged_unmeasured[i].clock.next = self.clk.val();
            self.staged_unmeasured[i].rst.next = self.rst.val();
            self.staged_unmeasured[i].d.next = self.commit[i].val()
                & !self.measured[i].val()
                & !self.bad[i].val()
                & self.emitter.running.val();
            self.staged_timestamp[i].clock.next = self.clk.val();
            self.staged_timestamp[i].rst.next = self.rst.val();
            self.staged_timestamp[i].d.next = self.timestamp[i].val();
            self.staged_length[i].clock.next = self.clk.val();
            self.staged_length[i].rst.next = self.rst.val();
            self.staged_length[i].d.next = self.ip_length[i].val();
        }

        self.intervals.clk.next = self.clk.val();
        self.intervals.rst.next = self.rst.val();
        self.intervals.request.next = self.request.val();
        for i in 0..L {
            self.intervals.delimiter[i].next = self.delimiter[i].val();
            self.intervals.delimiter_number[i].next = self.delimiter_number[i].val();
            self.intervals.delimiter_epoch[i].next = self.delimiter_epoch[i].val();
            self.intervals.due_signed[i].next = self.due_signed[i].val();
            self.intervals.next_signed[i].next = self.next_signed[i].val();
        }
        self.intervals.running.next = self.emitter.running.val();
        self.intervals.drain_busy.next = self.emitter.busy.val();
        self.intervals.least.next = self.least_interval.val();
        self.too_soon.next = self.intervals.soon.val();
        self.idle.next = !self.intervals.epoch.val();

        self.prefixes.clk.next = self.clk.val();
        self.prefixes.rst.next = self.rst.val();
        self.prefixes.load.next = self.schedule.val();
        self.prefixes.lengths.next = self.next_prefixes.val();
        self.prefixes.from.next = self.from_interval.val();
        self.prefixes.ends.next = self.intervals.start_drain.val();
        self.prefixes.begun.next = self.intervals.begun.val();
        self.schedule_legal.next = self.prefixes.legal.val();
        self.schedule_pending.next = self.prefixes.pending.val();
        self.emitter.prefixes.next = self.prefixes.ended.val();
        self.mixings.clk.next = self.clk.val();
        self.mixings.rst.next = self.rst.val();
        self.mixings.load.next = self.schedule_mixing.val();
        self.mixings.next_mixing.next = self.next_mixing.val();
        self.mixings.next_id.next = self.next_mixing_id.val();
        self.mixings.from.next = self.from_mixing.val();
        self.mixings.ends.next = self.intervals.start_drain.val();
        self.mixings.begun.next = self.intervals.begun.val();
        self.mixing_pending.next = self.mixings.pending.val();
        self.emitter.mixing_id.next = self.mixings.ended_id.val();

        // Commit, a cycle later: the frames count in the copy of this moment.
        self.unmeasured_now.next = 0.into();
        self.unmatched_now.next = 0.into();
        self.bad_now.next = 0.into();
        for i in 0..L {
            self.packet[i].next = self.staged_measured[i].q.val() & self.classifier[i].matched.val();
            if self.staged_measured[i].q.val() & !self.classifier[i].matched.val() {
                self.unmatched_now.next = self.unmatched_now.val() + 1;
                self.unmeasured_now.next = self.unmeasured_now.val() + 1;
            }
            if self.staged_unmeasured[i].q.val() {
                self.unmeasured_now.next = self.unmeasured_now.val() + 1;
            }
            if self.staged_bad[i].q.val() {
                self.bad_now.next = self.bad_now.val() + 1;
            }
        }
        for i in 0..N {
            self.lane[i].clk.next = self.clk.val();
            self.lane[i].rst.next = self.rst.val();
            self.lane[i].packet.next = self.packet[i].val();
            self.lane[i].kind.next = self.classifier[i].kind.val();
            self.lane[i].epoch.next = self.intervals.epoch.val();
            self.lane[i].key.next = self.key[i].val();
            self.lane[i].nanoseconds.next = self.staged_timestamp[i].q.val().get_bits::<40>(16);
            self.lane[i].masks.next = self.prefixes.masks.val();
            self.lane[i].mixing.next = self.mixings.mixing.val();
            self.lane[i].ends.next = self.intervals.start_drain.val();
            self.lane[i].sent_kind.next = self.emitter.kind.val();
            self.lane[i].drain_address.next = self.emitter.drain_address.val();
            self.lane[i].drain_epoch.next = self.idle.val();
            self.lane[i].clear_first.next =
                self.emitter.clear_all.val() | (self.emitter.clear.val() & !self.idle.val());
            self.lane[i].clear_second.next =
                self.emitter.clear_all.val() | (self.emitter.clear.val() & self.idle.val());
        }
        for i in 0..I {
            self.identity[i].clk.next = self.clk.val();
            self.identity[i].rst.next = self.rst.val();
            self.identity[i].packet.next = self.packet[i].val();
            self.identity[i].ends.next = self.intervals.start_drain.val();
            self.identity[i].epoch.next = self.intervals.epoch.val();
            self.identity[i].key.next = self.key[i].val();
            self.identity[i].nanoseconds.next = self.staged_timestamp[i].q.val().get_bits::<40>(16);
            self.identity[i].masks.next = self.prefixes.masks.val();
            self.identity[i].mixing.next = self.mixings.mixing.val();
            self.identity[i].drain_address.next = self.emitter.drain_address.val();
            self.identity[i].drain_epoch.next = self.idle.val();
            self.identity[i].clear_first.next =
                self.emitter.clear_all.val() | (self.emitter.clear.val() & !self.idle.val());
            self.identity[i].clear_second.next =
                self.emitter.clear_all.val() | (self.emitter.clear.val() & self.idle.val());
        }
        for i in 0..J {
            self.lda_identity[i].clk.next = self.clk.val();
            self.lda_identity[i].rst.next = self.rst.val();
            self.lda_identity[i].packet.next = self.packet[i].val();
            self.lda_identity[i].ends.next = self.intervals.start_drain.val();
            self.lda_identity[i].epoch.next = self.intervals.epoch.val();
            self.lda_identity[i].key.next = self.key[i].val();
            self.lda_identity[i].nanoseconds.next = self.staged_timestamp[i].q.val().get_bits::<40>(16);
            self.lda_identity[i].masks.next = self.prefixes.masks.val();
            self.lda_identity[i].mixing.next = self.mixings.mixing.val();
            self.lda_identity[i].drain_address.next = self.emitter.drain_address.val();
            self.lda_identity[i].drain_epoch.next = self.idle.val();
            self.lda_identity[i].clear_first.next =
                self.emitter.clear_all.val() | (self.emitter.clear.val() & !self.idle.val());
            self.lda_identity[i].clear_second.next =
                self.emitter.clear_all.val() | (self.emitter.clear.val() & self.idle.val());
        }
        for i in 0..K {
            self.flow_rows[i].clk.next = self.clk.val();
            self.flow_rows[i].rst.next = self.rst.val();
            self.flow_rows[i].packet.next = self.packet[i].val();
            self.flow_rows[i].ends.next = self.intervals.start_drain.val();
            self.flow_rows[i].epoch.next = self.intervals.epoch.val();
            self.flow_rows[i].key.next = self.key[i].val();
            self.flow_rows[i].nanoseconds.next = self.staged_timestamp[i].q.val().get_bits::<40>(16);
            self.flow_rows[i].masks.next = self.prefixes.masks.val();
            self.flow_rows[i].mixing.next = self.mixings.mixing.val();
            self.flow_rows[i].drain_address.next = self.emitter.drain_address.val();
            self.flow_rows[i].drain_epoch.next = self.idle.val();
            self.flow_rows[i].clear_first.next =
                self.emitter.clear_all.val() | (self.emitter.clear.val() & !self.idle.val());
            self.flow_rows[i].clear_second.next =
                self.emitter.clear_all.val() | (self.emitter.clear.val() & self.idle.val());
        }
        for i in 0..V {
            self.flow_vector[i].clk.next = self.clk.val();
            self.flow_vector[i].rst.next = self.rst.val();
            self.flow_vector[i].packet.next = self.packet[i].val();
            self.flow_vector[i].epoch.next = self.intervals.epoch.val();
            self.flow_vector[i].key.next = self.key[i].val();
            self.flow_vector[i].nanoseconds.next = self.staged_timestamp[i].q.val().get_bits::<40>(16);
            self.flow_vector[i].masks.next = self.prefixes.masks.val();
            self.flow_vector[i].mixing.next = self.mixings.mixing.val();
            self.flow_vector[i].drain_address.next = self.emitter.drain_address.val();
            self.flow_vector[i].drain_epoch.next = self.idle.val();
            self.flow_vector[i].clear_first.next =
                self.emitter.clear_all.val() | (self.emitter.clear.val() & !self.idle.val());
            self.flow_vector[i].clear_second.next =
                self.emitter.clear_all.val() | (self.emitter.clear.val() & self.idle.val());
        }
        for i in 0..Z {
            self.slices[i].clk.next = self.clk.val();
            self.slices[i].rst.next = self.rst.val();
            self.slices[i].packet.next = self.packet[i].val();
            self.slices[i].epoch.next = self.intervals.epoch.val();
            self.slices[i].key.next = self.key[i].val();
            self.slices[i].nanoseconds.next = self.staged_timestamp[i].q.val().get_bits::<40>(16);
            self.slices[i].masks.next = self.prefixes.masks.val();
            self.slices[i].mixing.next = self.mixings.mixing.val();
            self.slices[i].drain_address.next = self.emitter.drain_address.val();
            self.slices[i].drain_epoch.next = self.idle.val();
        }
        self.octets.next = 0.into();
        self.half_time.next = 0.into();
        for c in 0..C {
            self.measured_now[c].next = 0.into();
            self.octets_now[c].next = 0.into();
            self.first_now[c].next = 0.into();
            self.last_now[c].next = 0.into();
            self.low_time[c].next = 0.into();
            self.high_time[c].next = 0.into();
            for i in 0..L {
                if self.packet[i].val() & (self.classifier[i].kind.val() == self.class_number[c].val()) {
                    if !self.measured_now[c].val().any() {
                        self.first_now[c].next = self.staged_timestamp[i].q.val();
                    }
                    self.last_now[c].next = self.staged_timestamp[i].q.val();
                    self.measured_now[c].next = self.measured_now[c].val() + 1;
                    self.octets.next = self.staged_length[i].q.val();
                    self.octets_now[c].next =
                        self.octets_now[c].val() + bit_cast::<19, 17>(self.octets.val());
                    self.half_time.next = self.staged_timestamp[i].q.val().get_bits::<24>(16);
                    self.low_time[c].next = self.low_time[c].val() + bit_cast::<26, 24>(self.half_time.val());
                    self.half_time.next = self.staged_timestamp[i].q.val().get_bits::<24>(40);
                    self.high_time[c].next =
                        self.high_time[c].val() + bit_cast::<26, 24>(self.half_time.val());
                }
            }
            self.class_totals[c].clk.next = self.clk.val();
            self.class_totals[c].rst.next = self.rst.val();
            self.class_totals[c].ends.next = self.intervals.start_drain.val();
            self.class_totals[c].packet.next = self.measured_now[c].val();
            self.class_totals[c].ip_length.next = self.octets_now[c].val();
            self.class_totals[c].first_now.next = self.first_now[c].val();
            self.class_totals[c].last_now.next = self.last_now[c].val();
            self.time_sum[c].clk.next = self.clk.val();
            self.time_sum[c].rst.next = self.rst.val();
            self.time_sum[c].ends.next = self.intervals.start_drain.val();
            self.time_sum[c].low_now.next = self.low_time[c].val();
            self.time_sum[c].high_now.next = self.high_time[c].val();
        }
        self.ended_time.clock.next = self.clk.val();
        self.ended_time.rst.next = self.rst.val();
        self.ended_time.d.next = self.ended_time.q.val();
        if self.intervals.start_drain.val() {
            self.ended_time.d.next = self.absolute_time.val();
        }
        // What is asked of the classes: all together, any, and the one whose control frames are being sent.
        self.wrapped.next = false;
        self.crowded.next = false;
        self.packets_sum.next = 0.into();
        self.bytes_sum.next = 0.into();
        self.sent_packets.next = 0.into();
        self.sent_bytes.next = 0.into();
        self.sent_first.next = 0.into();
        self.sent_last.next = 0.into();
        self.sent_time_sum.next = 0.into();
        for c in 0..C {
            self.wrapped.next = self.wrapped.val() | self.class_totals[c].wrapped.val();
            if self.class_totals[c].ended_packets.val().get_bits::<16>(32).any() {
                self.crowded.next = self.lanes.val().any();
            }
            self.packets_sum.next = self.packets_sum.val() + self.class_totals[c].packets.val();
            self.bytes_sum.next = self.bytes_sum.val() + self.class_totals[c].bytes.val();
            if self.emitter.kind.val() == self.class_number[c].val() {
                self.sent_packets.next = self.class_totals[c].ended_packets.val();
                self.sent_bytes.next = self.class_totals[c].ended_bytes.val();
                self.sent_first.next = self.class_totals[c].ended_first.val();
                self.sent_last.next = self.class_totals[c].ended_last.val();
                self.sent_time_sum.next = self.time_sum[c].ended.val();
            }
        }
        // All lanes are equally far behind their commits: they tell of the same copy.
        self.overflow.next = false;
        self.overflow_epoch.next = false;
        self.drained.next = 0.into();
        self.lane_digests.next = 0.into();
        self.digest_low.next = 0.into();
        self.digest_high.next = 0.into();
        for i in 0..N {
            self.overflow.next = self.overflow.val() | self.lane[i].overflow.val();
            if self.lane[i].overflow.val() {
                self.overflow_epoch.next = self.lane[i].overflow_epoch.val();
            }
            self.merge[i].left.next = self.drained.val();
            self.merge[i].right.next = self.lane[i].drained_cell.val();
            self.drained.next = self.merge[i].merged.val();
            for _d in 0..P {
                self.lane_digests.next = self.lane[i].digest_sum.val();
                self.digest_low.next = self.digest_low.val() + self.lane_digests.val().get_bits::<16>(0);
                self.digest_high.next = self.digest_high.val() + self.lane_digests.val().get_bits::<16>(16);
            }
        }
        for i in 0..I {
            self.overflow.next = self.identity[i].overflow.val();
            self.overflow_epoch.next = self.identity[i].overflow_epoch.val();
            self.drained.next = self.identity[i].drained_cell.val();
            self.digest_low.next = self.identity[i].digest_sum.val().get_bits::<16>(0);
            self.digest_high.next = self.identity[i].digest_sum.val().get_bits::<16>(16);
        }
        for i in 0..J {
            self.overflow.next = self.lda_identity[i].overflow.val();
            self.overflow_epoch.next = self.lda_identity[i].overflow_epoch.val();
            self.drained.next = self.lda_identity[i].drained_cell.val();
            self.digest_low.next = self.lda_identity[i].digest_sum.val().get_bits::<16>(0);
            self.digest_high.next = self.lda_identity[i].digest_sum.val().get_bits::<16>(16);
        }
        for i in 0..K {
            self.overflow.next = self.flow_rows[i].overflow.val();
            self.overflow_epoch.next = self.flow_rows[i].overflow_epoch.val();
            self.drained.next = self.flow_rows[i].drained_cell.val();
            self.digest_low.next = self.flow_rows[i].digest_sum.val().get_bits::<16>(0);
            self.digest_high.next = self.flow_rows[i].digest_sum.val().get_bits::<16>(16);
        }
        for i in 0..V {
            self.overflow.next = self.flow_vector[i].overflow.val();
            self.overflow_epoch.next = self.flow_vector[i].overflow_epoch.val();
            self.drained.next = self.flow_vector[i].drained_cell.val();
        }
        for i in 0..Z {
            self.overflow.next = self.slices[i].overflow.val();
            self.overflow_epoch.next = self.slices[i].overflow_epoch.val();
            self.drained.next = self.slices[i].drained_cell.val();
        }
        self.sent_digest_sum.next =
            bit_cast::<32, 16>(self.digest_low.val()) | (bit_cast::<32, 16>(self.digest_high.val()) << 16);

        self.totals.clk.next = self.clk.val();
        self.totals.rst.next = self.rst.val();
        self.totals.ends.next = self.intervals.start_drain.val();
        self.totals.epoch.next = self.intervals.epoch.val();
        self.totals.wrapped.next = self.wrapped.val();
        self.totals.unmeasured.next = self.unmeasured_now.val();
        self.totals.bad.next = self.bad_now.val();
        self.totals.refused.next = self.intervals.refused.val();
        self.unlocked_now.next = 0.into();
        if self.unlocked.val() {
            self.unlocked_now.next = 1.into();
        }
        self.unlocked_then.clk.next = self.clk.val();
        self.unlocked_then.rst.next = self.rst.val();
        self.unlocked_then.d.next = self.unlocked_now.val();
        self.totals.unlocked.next = self.unlocked_then.q.val().any() & self.emitter.running.val();
        self.totals.ignored.next = self.intervals.ignored.val();
        self.totals.ignored_behind.next = self.intervals.ignored_behind.val();
        self.totals.timed.next = self.intervals.timed.val();
        self.totals.gap.next = self.intervals.gap.val();
        self.totals.overflow.next = self.overflow.val();
        self.totals.overflow_epoch.next = self.overflow_epoch.val();

        self.flags.next = self.totals.ended_flags.val();
        if self.crowded.val() {
            self.flags.next = self.totals.ended_flags.val() | 1;
        }
        self.emitter.clk.next = self.clk.val();
        self.emitter.rst.next = self.rst.val();
        self.emitter.start.next = self.intervals.start_drain.val();
        self.emitter.receiver.next = self.receiver.val();
        self.emitter.interval.next = self.intervals.number.val();
        self.emitter.packets.next = self.sent_packets.val();
        self.emitter.bytes.next = self.sent_bytes.val();
        self.emitter.first.next = self.sent_first.val();
        self.emitter.last.next = self.sent_last.val();
        self.emitter.time_sum.next = self.sent_time_sum.val();
        self.emitter.digest_sum.next = self.sent_digest_sum.val();
        self.emitter.absolute_time.next = self.ended_time.q.val();
        self.emitter.point_id.next = self.point_id.val();
        self.emitter.unmeasured.next = self.totals.ended_unmeasured.val();
        self.emitter.bad.next = self.totals.ended_bad.val();
        self.emitter.refused_ends.next = self.totals.ended_refused.val();
        self.emitter.ignored_delimiters.next = self.totals.ended_ignored.val();
        self.emitter.flags.next = self.flags.val();
        self.emitter.drained_cell.next = self.drained.val();
        self.emitter.m_axis_tready.next = self.m_axis_tready.val();

        self.running.next = self.emitter.running.val();
        self.draining.next = self.emitter.busy.val();
        self.ended.next = self.intervals.start_drain.val();
        self.refused.next = self.intervals.refused.val().any();
        self.gap.next = self.intervals.missing.val();
        self.interval.next = self.intervals.running_number.val();
        self.packets.next = self.packets_sum.val();
        self.bytes.next = self.bytes_sum.val();
        self.unmeasured_frames.next = self.totals.unmeasured_frames.val();
        self.bad_frames.next = self.totals.bad_frames.val();
        self.unmatched_count.clk.next = self.clk.val();
        self.unmatched_count.rst.next = self.rst.val();
        self.unmatched_count.ends.next = self.intervals.start_drain.val();
        self.unmatched_count.frames.next = self.unmatched_now.val();
        self.unmatched_frames.next = self.unmatched_count.count.val();
        self.m_axis_tdata.next = self.emitter.m_axis_tdata.val();
        self.m_axis_tkeep.next = self.emitter.m_axis_tkeep.val();
        self.m_axis_tvalid.next = self.emitter.m_axis_tvalid.val();
        self.m_axis_tlast.next = self.emitter.m_axis_tlast.val();
        self.m_axis_tuser.next = self.emitter.m_axis_tuser.val();
    }
}
