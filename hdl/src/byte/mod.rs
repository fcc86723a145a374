//! The byte core: a passive measurement point on an 8-bit AXI4-Stream, for gigabit and slower links and small FPGAs.
//!
//! # Theory of operation
//!
//! ```text
//! s_axis (observed) -> walk -> hash -> ledger (cells and totals, two copies) <-> emitter -> m_axis
//!                       |                ^    ^ epoch
//!                       +----------------+    |
//!                       +-> delimiter -+      |
//!                       |              |      |
//!                       +-> [tags] ----+      |        with a key: which delimiters have their tag
//! interval_end, ptp_ts -> interval <---+------+
//! ```
//!
//! Twin of `deltaline_model::point`, as the [64-bit core](crate::point::core) is, and gives the same control frames. It uses
//! the time that a narrow stream gives: a packet takes at least 34 cycles. The [walk] goes through a frame byte by
//! byte; the [hash] adds up as the key's bytes pass, so that no key is stored; the [ledger] updates cells
//! and totals word by word in memories with one adder; the [emitter] reads them byte by byte.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk | in | 1 | clock of both streams |
//! | rst | in | 1 | synchronous reset, active high |
//! | s_axis_tdata | in | 8 | observed stream, frames without FCS |
//! | s_axis_tvalid, s_axis_tready | in | 1 | a byte is transferred when both are high |
//! | s_axis_tlast | in | 1 | last byte of a frame |
//! | s_axis_tuser | in | 65 | bit 0 with tlast: bad frame; bits 64:1 with the first byte: PTP relative-64 timestamp |
//! | interval_end | in | 1 | end the interval behind this cycle; not by a delimiter, so the interval and the next are flagged |
//! | interval_log2 | in | 6 | 0 or 48..=63: never; 1..=47: end intervals by the clock, every 2^n ns |
//! | ptp_ts | in | 64 | clock for interval_log2, PTP relative-64; may be zero otherwise |
//! | ptp_locked | in | 1 | the clock is locked; else the interval is flagged |
//! | receiver | in | 1 | role: 0 sender, 1 receiver |
//! | point_id | in | 32 | identifier of the measurement point in its control frames; constant, zero where there is none |
//! | least_interval | in | 32 | cycles from an interval's end to the next, at least; taken when an interval ends; 0 for none |
//! | running | out | 1 | the memories have been cleared after reset: counting |
//! | m_axis_* | out (tready in) | 8 + 1 + 1 + 1 | control frames, byte by byte as on the wire, for a UART or, through a frame buffer, a MAC |
//!
//! What the 64-bit core's page tells integrators holds here too, but for these: after reset the memories take one cycle
//! a word, 2^(A + 1) or at least 128 cycles; a byte of m_axis comes every four cycles at best.
//!
//! # Parameters, latency and throughput
//!
//! R = log2(rows), A = R + bits of a bank number, C = A + 1, K = 1 for authentication, else 0, Z = 1 with slices, else 0, and then
//! A = R; the configuration's hash, seed, prefix lengths and segment
//! become constants. One byte a cycle, frames of any length from one byte, back to back. A frame counts five cycles
//! behind its last byte, and is recorded 39 cycles behind it at the latest.
//!
//! A drain, with m_axis always ready, takes 56 cycles a cell and at most 752 a frame, whatever the traffic, 9 to 16 of them to begin:
//! at most 8,672 cycles for 2 x 64 cells. That is the shortest interval. With a key it takes at most 272 cycles a
//! cell and 5,499 a frame: 45,814.
//!
//! With K = 1 control frames and delimiters can be authenticated. Then the [keys] stand beside the core, in the
//! [shell](crate::emit::design) of a design with `authentication = true`, and these ports go there, not to pins:
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | ended, ended_number | out | K, K x 32 | an interval has ended; its number, until the next end |
//! | keys_busy, is_keyed, key_place, key_word | | | as the [emitter]'s |
//! | key_waits, keys_renew, tag_place, tag_word | | | the [keys]' waits, renews, tag_place and tag_word, for the [delimiter_tags] |
//!
//! Then delimiters count by their tags alone, from the cycle on in which a key is there: at most 46 behind the end of an interval.
//!
//! Cost: `docs/report.md`, for one core and for a sender and a receiver with 2 x 64 rows each on one iCE40 HX8K. Of a
//! core's fifteen block RAMs there five hold the cells, one the totals, eight the hash, one the header. With 2 x 128 rows the
//! cells take nine. The ROMs become logic on an ASIC.
//!
//! # Test plan
//!
//! `sim/cosim`: control frames of random and directed traffic against `deltaline_model::point`, byte by byte; with a key
//! `checks::signed_byte` and `checks::forgery`.

pub mod ascon;
pub mod delimiter;
pub mod delimiter_tags;
pub mod emitter;
pub mod hash;
pub mod interval;
pub mod keys;
pub mod ledger;
pub mod succession;
pub mod walk;

use crate::emit::block::emit_block;
use crate::emit::refusal::EmitError;
use crate::leaves::Flop;
use crate::module::module;
use delimiter::Delimiter;
use delimiter_tags::DelimiterTags;
use deltaline_design::{CellKind, CoreKind, built_sizes, row_bits, word_bits};
use deltaline_model::configuration::Configuration;
use emitter::Emitter;
use hash::Hash;
use interval::Interval;
use ledger::Ledger;
use rust_hdl_core::prelude::*;
use walk::Walk;

/// See the [module](self). R = log2(rows), A = R + bits of a bank number, C = A + 1.
#[derive(LogicBlock)]
pub struct Core<const R: usize, const A: usize, const C: usize, const K: usize = 0, const Z: usize = 0> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub s_axis_tdata: Signal<In, Bits<8>>,
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
    pub least_interval: Signal<In, Bits<32>>,
    pub running: Signal<Out, Bit>,
    pub m_axis_tdata: Signal<Out, Bits<8>>,
    pub m_axis_tvalid: Signal<Out, Bit>,
    pub m_axis_tready: Signal<In, Bit>,
    pub m_axis_tlast: Signal<Out, Bit>,
    pub m_axis_tuser: Signal<Out, Bit>,
    pub ended: [Signal<Out, Bit>; K],
    pub ended_number: [Signal<Out, Bits<32>>; K],
    pub keys_busy: [Signal<In, Bit>; K],
    pub is_keyed: [Signal<In, Bit>; K],
    pub key_place: [Signal<Out, Bits<4>>; K],
    pub key_word: [Signal<In, Bits<16>>; K],
    pub key_waits: [Signal<In, Bit>; K],
    pub keys_renew: [Signal<In, Bit>; K],
    pub tag_place: [Signal<Out, Bits<5>>; K],
    pub tag_word: [Signal<In, Bits<16>>; K],

    walk: Walk,
    hash: Hash<R, A, Z>,
    ledger: Ledger<A, C, Z>,
    delimiters: Delimiter,
    interval: Interval<K>,
    tags: [DelimiterTags; K],
    emitter: Emitter<A, K>,

    counts: Signal<Local, Bit>,
    packet: Signal<Local, Bit>,
    flags: Signal<Local, Bits<5>>,
    /// Index i: whether the clock was locked i + 1 cycles ago. As long as a frame's commit takes.
    locked: [Flop<Bit>; 5],
}

impl<const R: usize, const A: usize, const C: usize, const K: usize, const Z: usize> Core<R, A, C, K, Z> {
    /// The core of a configuration with 2^R rows and at most 2^(A - R) banks.
    pub fn new(configuration: &Configuration) -> Self {
        Core::of(configuration, false)
    }

    /// The same for a design that holds both points and asserts `interval_end` only while no packet is between them:
    /// such ends cut no packets apart, and are not flagged.
    pub fn with_quiet_ends(configuration: &Configuration) -> Self {
        Core::of(configuration, true)
    }

    fn of(configuration: &Configuration, quiet: bool) -> Self {
        module! { Core {
            interval: Interval::new(quiet),
            hash: Hash::new(configuration),
            delimiters: Delimiter::new(configuration),
            emitter: Emitter::new(configuration),
            tags: std::array::from_fn(|_| DelimiterTags::new(configuration)),
        }
            clk rst s_axis_tdata s_axis_tvalid s_axis_tready s_axis_tlast s_axis_tuser interval_end
            interval_log2 ptp_ts ptp_locked receiver point_id least_interval running m_axis_tdata m_axis_tvalid m_axis_tready
            m_axis_tlast m_axis_tuser walk ledger counts packet flags locked; each ended ended_number keys_busy is_keyed
            key_place key_word key_waits keys_renew tag_place tag_word
        }
    }
}

impl<const R: usize, const A: usize, const C: usize, const K: usize, const Z: usize> Logic
    for Core<R, A, C, K, Z>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.walk.clk.next = self.clk.val();
        self.walk.rst.next = self.rst.val();
        self.walk.running.next = self.ledger.running.val();
        self.walk.s_axis_tdata.next = self.s_axis_tdata.val();
        self.walk.s_axis_tvalid.next = self.s_axis_tvalid.val();
        self.walk.s_axis_tready.next = self.s_axis_tready.val();
        self.walk.s_axis_tlast.next = self.s_axis_tlast.val();
        self.walk.s_axis_tuser.next = self.s_axis_tuser.val();

        self.hash.clk.next = self.clk.val();
        self.hash.rst.next = self.rst.val();
        self.hash.key_octet.next = self.walk.key_octet.val();
        self.hash.key_position.next = self.walk.key_position.val();

        self.delimiters.clk.next = self.clk.val();
        self.delimiters.rst.next = self.rst.val();
        self.delimiters.there.next = self.walk.octet_there.val();
        self.delimiters.octet.next = self.walk.octet_now.val();
        self.delimiters.index.next = self.walk.octet_index.val();
        self.delimiters.ends.next = self.walk.frame_ends.val();
        self.delimiters.bad.next = self.walk.frame_bad.val();

        self.interval.clk.next = self.clk.val();
        self.interval.rst.next = self.rst.val();
        self.interval.interval_end.next = self.interval_end.val();
        self.interval.interval_log2.next = self.interval_log2.val();
        self.interval.ptp_ts.next = self.ptp_ts.val();
        self.interval.delimiter.next = self.delimiters.delimiter.val();
        self.interval.delimiter_number.next = self.delimiters.number.val();
        self.interval.delimiter_epoch.next = self.delimiters.epoch.val();
        self.interval.running.next = self.ledger.running.val();
        self.interval.drain_busy.next = self.emitter.busy.val();
        self.interval.least.next = self.least_interval.val();

        // Commit: the frame counts in the copy of this moment.
        self.counts.next = self.walk.commit.val() & self.ledger.running.val();
        self.ledger.clk.next = self.clk.val();
        self.ledger.rst.next = self.rst.val();
        self.ledger.epoch.next = self.interval.epoch.val();
        self.packet.next = self.counts.val() & self.walk.measured.val();
        self.hash.packet.next = self.packet.val();
        self.ledger.packet.next = self.packet.val();
        self.ledger.bad.next = self.counts.val() & self.walk.bad.val();
        self.ledger.unmeasured.next = self.counts.val() & !self.walk.measured.val() & !self.walk.bad.val();
        self.ledger.refused.next = self.interval.refused.val();
        self.ledger.ignored.next = self.interval.ignored.val();
        // The clock's lock concerns the frames whose last byte is accepted in the same cycle.
        for i in 0..5 {
            self.locked[i].clock.next = self.clk.val();
            self.locked[i].rst.next = self.rst.val();
        }
        for i in 0..4 {
            self.locked[i + 1].d.next = self.locked[i].q.val();
        }
        self.locked[0].d.next = self.ptp_locked.val();
        self.ledger.unlocked.next = !self.locked[4].q.val() & self.ledger.running.val();
        self.ledger.octets.next = self.walk.octets.val();
        self.ledger.sampled.next = self.hash.sampled.val();
        self.ledger.address.next = self.hash.address.val();
        for i in 0..Z {
            self.ledger.place[i].next = self.hash.place[i].val();
        }
        self.ledger.stamp.next = self.walk.stamp.val();
        self.ledger.take_stamp.next = self.walk.take_stamp.val();
        // A timed end concerns the interval that it ends and the one that it starts.
        self.ledger.by_clock.next = self.interval.timed.val();
        self.ledger.end_drain.next = self.emitter.end_drain.val();
        self.ledger.ask.next = self.emitter.ask.val();
        self.ledger.ask_plane.next = self.emitter.ask_plane.val();
        self.ledger.ask_address.next = self.emitter.ask_address.val();
        self.ledger.ask_word.next = self.emitter.ask_word.val();
        self.ledger.ask_clear.next = self.emitter.ask_clear.val();

        self.emitter.clk.next = self.clk.val();
        self.emitter.rst.next = self.rst.val();
        self.emitter.start.next = self.interval.start_drain.val();
        self.emitter.receiver.next = self.receiver.val();
        self.emitter.point_id.next = self.point_id.val();
        self.emitter.interval.next = self.interval.number.val();
        self.flags.next = bit_cast::<5, 4>(self.ledger.flags.val());
        if self.interval.gap.val() {
            self.flags.next = bit_cast::<5, 4>(self.ledger.flags.val()) | 16;
        }
        self.emitter.flags.next = self.flags.val();
        self.emitter.answers.next = self.ledger.answers.val();
        self.emitter.answer.next = self.ledger.answer.val();
        self.emitter.m_axis_tready.next = self.m_axis_tready.val();
        self.running.next = self.ledger.running.val();
        self.m_axis_tdata.next = self.emitter.m_axis_tdata.val();
        self.m_axis_tvalid.next = self.emitter.m_axis_tvalid.val();
        self.m_axis_tlast.next = self.emitter.m_axis_tlast.val();
        self.m_axis_tuser.next = self.emitter.m_axis_tuser.val();
        for i in 0..K {
            self.ended[i].next = self.interval.start_drain.val();
            self.ended_number[i].next = self.interval.number.val();
            self.emitter.keys_busy[i].next = self.keys_busy[i].val();
            self.emitter.is_keyed[i].next = self.is_keyed[i].val();
            self.key_place[i].next = self.emitter.key_place[i].val();
            self.emitter.key_word[i].next = self.key_word[i].val();

            self.tags[i].clk.next = self.clk.val();
            self.tags[i].rst.next = self.rst.val();
            self.tags[i].phase.next = self.interval.passing[i].val();
            self.tags[i].due_octet.next = self.interval.due_octet[i].val();
            self.tags[i].due_epoch_octet.next = self.interval.due_epoch_octet[i].val();
            self.tags[i].next_octet.next = self.interval.next_octet[i].val();
            self.tags[i].next_epoch_octet.next = self.interval.next_epoch_octet[i].val();
            self.tags[i].due_changes.next = self.interval.due_changes[i].val();
            self.tags[i].next_changes.next = self.interval.next_changes[i].val();
            self.tags[i].copying.next = self.keys_busy[i].val();
            self.tags[i].renew.next = self.keys_renew[i].val();
            self.tags[i].pending.next = self.key_waits[i].val();
            self.tag_place[i].next = self.tags[i].place.val();
            self.tags[i].word.next = self.tag_word[i].val();
            self.tags[i].there.next = self.walk.octet_there.val();
            self.tags[i].octet.next = self.walk.octet_now.val();
            self.tags[i].index.next = self.walk.octet_index.val();
            self.interval.keyed[i].next = self.is_keyed[i].val();
            self.interval.due_signed[i].next = self.tags[i].due_signed.val();
            self.interval.next_signed[i].next = self.tags[i].next_signed.val();
        }
    }
}

/// Emits in one of the sizes behind the semicolon, with K tags and Z tables of slices.
macro_rules! emit_in {
    ($size:ident, $configuration:ident, $name:ident, $k:literal, $z:literal; $(($rows:literal, $banks:literal, $classes:literal))*) => {
        match ($size.rows, $size.banks, $size.classes) {
            $(($rows, $banks, $classes) => {
                const R: usize = row_bits($rows);
                // One table: an address is that of a word.
                const A: usize = if $z == 1 { R } else { word_bits($rows, $banks, $classes) };
                emit_block(&mut Core::<R, A, { A + 1 }, $k, $z>::new($configuration), $name)
            })*
            _ => Err(EmitError::Design(format!("{:?} is not compiled", $size))),
        }
    };
}

/// The Verilog of a configuration's byte core, without a header; all names are prefixed by `name`.
///
/// # Errors
///
/// [`EmitError`] when the hardware is not built for the configuration's sizes or `name` is no identifier.
pub fn emit(configuration: &Configuration, name: &str) -> Result<String, EmitError> {
    let size = CoreKind::Byte.size(configuration)?;
    match CellKind::of_configuration(configuration) {
        CellKind::Slices => built_sizes!(byte_slices, emit_in size, configuration, name, 0, 1;),
        _ => built_sizes!(byte, emit_in size, configuration, name, 0, 0;),
    }
}

/// The same of the core whose control frames can be authenticated, without its [keys].
///
/// # Errors
///
/// As [`emit`].
pub(crate) fn emit_signed(configuration: &Configuration, name: &str) -> Result<String, EmitError> {
    let size = CoreKind::Byte.size(configuration)?;
    match CellKind::of_configuration(configuration) {
        CellKind::Slices => built_sizes!(byte_slices, emit_in size, configuration, name, 1, 1;),
        _ => built_sizes!(byte, emit_in size, configuration, name, 1, 0;),
    }
}
