//! The wide core: a passive measurement point on L lanes of 256 or 512 bits.
//!
//! # Theory of operation
//!
//! ```text
//! s_axis, lane 0 (observed) -> wide identity ---+
//! s_axis, lane 1 (observed) -> wide identity ---+-> aggregator -> m_axis
//! interval_end, ptp_ts -------> boundary -------+
//! ```
//!
//! As [`crate::point::core`], with wider beats. A lane is a stream of whole frames; a MAC whose bus holds parts of several
//! frames in one beat deals them out to lanes, and any dealing will do, because cells are linear and totals are sums.
//! Frames that end in the same cycle count in the order of their lanes. A delimiter on any lane ends the interval
//! behind the frames that end in the same cycle; dealing must not let frames overtake a delimiter. Delimiters of one cycle are
//! judged in the order of their lanes.
//!
//! # Ports
//!
//! As the core's, with s_axis_tdata of B and s_axis_tkeep of K bits; with several lanes s0_axis_*, s1_axis_* and so on.
//! m_axis has 64 bits whatever the lanes have.
//!
//! # Parameters, latency and throughput
//!
//! N, P, B, K, W, V as the wide identity's; R = log2(rows), A = R + bits of a bank number + bits of a class, L lanes,
//! C classes, S and D as the lda's (digests), G lanes of cells, F rows of flows, Q vectors of flows and Z tables of slices as the
//! aggregator's N, K, V and Z, T as its T. One beat a
//! cycle and lane, so with frames of one beat one frame a cycle and lane. A frame is committed six cycles behind its last beat, and its cell is
//! written 13 cycles later, with rows of flows 14, with a vector of flows 22, a record of slices 8.
//!
//! # Test plan
//!
//! `sim/cosim`: as the core, at both widths and with two lanes; frames of one beat back to back on every lane.

use crate::identity::wide::WideIdentity;
use crate::interval::boundary::Boundary;
use crate::module::module;
use crate::point::aggregator::Aggregator;
use crate::sketch::mixing::MIXING;
use deltaline_hdl_macros::passes;
use deltaline_model::configuration::Configuration;
use rust_hdl_core::prelude::*;

/// See the [module](self); beats of 256 bits.
pub type Core256<
    const R: usize,
    const A: usize,
    const C: usize,
    const S: usize = 72,
    const D: usize = 0,
    const G: usize = 1,
    const Z: usize = 0,
    const T: usize = R,
> = WideCore<8, 4, 256, 32, 512, 16, R, A, 1, C, S, D, G, 0, 0, Z, T>;
/// See the [module](self); L lanes with beats of 512 bits.
pub type Core512<
    const R: usize,
    const A: usize,
    const L: usize,
    const C: usize,
    const S: usize = 72,
    const D: usize = 0,
    const G: usize = L,
    const F: usize = 0,
    const Q: usize = 0,
    const Z: usize = 0,
    const T: usize = R,
> = WideCore<16, 8, 512, 64, 1024, 32, R, A, L, C, S, D, G, F, Q, Z, T>;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct WideCore<
    const N: usize,
    const P: usize,
    const B: usize,
    const K: usize,
    const W: usize,
    const V: usize,
    const R: usize,
    const A: usize,
    const L: usize,
    const C: usize,
    const S: usize = 72,
    const D: usize = 0,
    const G: usize = L,
    const F: usize = 0,
    const Q: usize = 0,
    const Z: usize = 0,
    const T: usize = R,
> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub s_axis_tdata: [Signal<In, Bits<B>>; L],
    pub s_axis_tkeep: [Signal<In, Bits<K>>; L],
    pub s_axis_tvalid: [Signal<In, Bit>; L],
    pub s_axis_tready: [Signal<In, Bit>; L],
    pub s_axis_tlast: [Signal<In, Bit>; L],
    pub s_axis_tuser: [Signal<In, Bits<65>>; L],
    pub interval_end: Signal<In, Bit>,
    pub interval_log2: Signal<In, Bits<6>>,
    pub ptp_ts: Signal<In, Bits<64>>,
    pub ptp_locked: Signal<In, Bit>,
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
    pub m_axis_tlast: Signal<Out, Bit>,
    pub m_axis_tuser: Signal<Out, Bit>,
    pub m_axis_tready: Signal<In, Bit>,

    identity: [WideIdentity<N, P, B, K, W, V>; L],
    boundary: Boundary<2>,
    aggregator: Aggregator<R, A, L, C, S, D, D, G, 0, 0, T, F, Q, Z>,
    delimiter_now: Signal<Local, Bit>,
}

impl<
    const N: usize,
    const P: usize,
    const B: usize,
    const K: usize,
    const W: usize,
    const V: usize,
    const R: usize,
    const A: usize,
    const L: usize,
    const C: usize,
    const S: usize,
    const D: usize,
    const G: usize,
    const F: usize,
    const Q: usize,
    const Z: usize,
    const T: usize,
> WideCore<N, P, B, K, W, V, R, A, L, C, S, D, G, F, Q, Z, T>
{
    /// The core of a configuration with 2^R rows and at most C classes; A as [`crate::sketch::lane`] wants it.
    pub fn new(configuration: &Configuration) -> Self {
        module! { WideCore {
            identity: std::array::from_fn(|_| WideIdentity::new(configuration)),
            aggregator: Aggregator::new(configuration),
        }
            clk rst interval_end interval_log2 ptp_ts ptp_locked receiver point_id absolute_time keyed due_ready next_ready
            schedule next_prefixes from_interval least_interval
            schedule_mixing next_mixing next_mixing_id from_mixing mixing_pending schedule_legal schedule_pending running packets bytes unmeasured bad unmatched interval draining too_soon
            ended refused gap delimiter due due_epoch next_number next_epoch due_changes next_changes m_axis_tdata m_axis_tkeep m_axis_tvalid m_axis_tlast m_axis_tuser
            m_axis_tready boundary delimiter_now
            ; each due_signed next_signed s_axis_tdata s_axis_tkeep s_axis_tvalid s_axis_tready s_axis_tlast s_axis_tuser
        }
    }
}

impl<
    const N: usize,
    const P: usize,
    const B: usize,
    const K: usize,
    const W: usize,
    const V: usize,
    const R: usize,
    const A: usize,
    const L: usize,
    const C: usize,
    const S: usize,
    const D: usize,
    const G: usize,
    const F: usize,
    const Q: usize,
    const Z: usize,
    const T: usize,
> Logic for WideCore<N, P, B, K, W, V, R, A, L, C, S, D, G, F, Q, Z, T>
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
    #[hdl_gen]
    fn update(&mut self) {
        self.delimiter_now.next = false;
        for i in 0..L {
            self.identity[i].clk.next = self.clk.val();
            self.identity[i].rst.next = self.rst.val();
            self.identity[i].running.next = self.aggregator.running.val();
            self.identity[i].tdata.next = self.s_axis_tdata[i].val();
            self.identity[i].tkeep.next = self.s_axis_tkeep[i].val();
            self.identity[i].tvalid.next = self.s_axis_tvalid[i].val();
            self.identity[i].tready.next = self.s_axis_tready[i].val();
            self.identity[i].tlast.next = self.s_axis_tlast[i].val();
            self.identity[i].tuser.next = self.s_axis_tuser[i].val();
            self.aggregator.commit[i].next = self.identity[i].commit.val();
            self.aggregator.measured[i].next = self.identity[i].measured.val();
            self.aggregator.bad[i].next = self.identity[i].bad.val();
            self.aggregator.key[i].next = self.identity[i].key.val();
            self.aggregator.timestamp[i].next = self.identity[i].timestamp.val();
            self.aggregator.ip_length[i].next = self.identity[i].ip_length.val();
            self.aggregator.delimiter[i].next = self.identity[i].delimiter.val();
            self.aggregator.delimiter_number[i].next = self.identity[i].delimiter_number.val();
            self.aggregator.delimiter_epoch[i].next = self.identity[i].delimiter_epoch.val();
            self.aggregator.due_signed[i].next = self.due_signed[i].val();
            self.aggregator.next_signed[i].next = self.next_signed[i].val();
            self.delimiter_now.next = self.delimiter_now.val() | self.identity[i].delimiter.val();
        }
        self.aggregator.request.next = self.boundary.request.val();
        self.aggregator.unlocked.next = self.boundary.unlocked.val();

        self.unmeasured.next = self.aggregator.unmeasured_frames.val();
        self.bad.next = self.aggregator.bad_frames.val();
        self.unmatched.next = self.aggregator.unmatched_frames.val();
        self.delimiter.next = self.delimiter_now.val() & self.aggregator.running.val();
    }
}
