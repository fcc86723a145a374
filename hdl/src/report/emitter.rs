//! Emitter: drains the idle copy into control frames and clears it.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::wire::frame`, where the layout is defined; it is made of 64-bit words for this module's
//! sake. A small state machine chooses a word, adds it to the check word, offers it on m_axis, and goes on when it
//! is taken; a cell is cleared when it has been read. The [drain](crate::report::drain) walks over the addresses, the
//! [`crate::report::header`] looks its words up, the [packer](crate::report::pack) makes beats of all.
//!
//! With several classes the control frames of each follow those of the one before, numbered anew, under the next
//! segment's number.
//!
//! After reset the same machine first walks over all addresses and clears both copies.
//!
//! ```text
//! clear all -> idle -> header words 0..=16 -> (8 x [read, cell word], sum tops) x 16 -> tag, tag, check
//!               ^        ^                                                                      |
//!               |        +------------------------------ next fragment -------------------------+
//!               +------------------------------- last fragment of the last class ----------------+
//! ```
//!
//! With D further fields in a cell, the words of every two cells are followed by D words with theirs.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | start | in | 1 | an interval has ended |
//! | receiver | in | 1 | the role field |
//! | interval | in | 32 | from the cycle after start until idle: the interval's number |
//! | packets, bytes, first, last, unmeasured, bad, refused_ends, ignored_delimiters, flags | in | | the interval's totals |
//! | time_sum, digest_sum | in | 64, 32 | the sums of its packets; without digests the latter is zero |
//! | absolute_time | in | 56 | when it ended: time base in bits 55:48, seconds below |
//! | point_id | in | 32 | the measurement point's identifier |
//! | mixing_id | in | 32 | identifier of the interval's mixing; zero without |
//! | prefixes | in | 64 | the prefix lengths of the interval, as the frame's; looked at if the configuration adapts |
//! | kind | out | 2 | the class whose frames are being sent: asks for its packets, bytes, first, last |
//! | drained_cell | in | S | the cell at drain_address |
//! | drain_address | out | A | word to show or to clear |
//! | clear | out | 1 | clear the word in the idle copy |
//! | clear_all | out | 1 | clear it in both |
//! | busy | out | 1 | draining or clearing |
//! | running | out | 1 | both copies have been cleared since reset |
//! | m_axis_* | out (tready in) | 64 + 8 + 1 + 1 + 1 | control frames; tkeep is all ones; bytes as on the wire |
//!
//! Parameters: A, the width of a word's address; S and D as the lda's. From start to the first word three cycles.
//! Throughput: a word every four cycles, a cell every seven; with m_axis ready, an interval of 2 x 1024 cells takes
//! some 16,700 cycles, which is the shortest interval; two cycles more a cell for each further field. Words come with gaps: a
//! MAC that cannot pause within a frame needs a frame buffer before it. Clearing after reset takes two cycles a word.
//!
//! Cost: `docs/report.md`, by stage and by module.
//!
//! # Test plan
//!
//! `sim/cosim`: frames against `deltaline_model::wire::frame::encode`, for every size that is built, with random
//! back-pressure; memory found clear behind every drain and after reset.

use crate::leaves::Flop;
use crate::module::module;
use crate::report::drain::Drain;
use crate::report::header;
use crate::report::pack::Pack;
use deltaline_hdl_macros::{clocked, passes};
use deltaline_model::configuration::Configuration;
use deltaline_model::wire::frame::{Header, Role, Totals};
use deltaline_model::wire::v2;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Emitter<const A: usize, const S: usize = 72, const D: usize = 0> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub start: Signal<In, Bit>,
    pub receiver: Signal<In, Bit>,
    pub interval: Signal<In, Bits<32>>,
    pub packets: Signal<In, Bits<48>>,
    pub bytes: Signal<In, Bits<48>>,
    pub first: Signal<In, Bits<64>>,
    pub last: Signal<In, Bits<64>>,
    pub unmeasured: Signal<In, Bits<32>>,
    pub bad: Signal<In, Bits<32>>,
    pub refused_ends: Signal<In, Bits<16>>,
    pub ignored_delimiters: Signal<In, Bits<16>>,
    pub flags: Signal<In, Bits<5>>,
    pub time_sum: Signal<In, Bits<64>>,
    pub digest_sum: Signal<In, Bits<32>>,
    pub absolute_time: Signal<In, Bits<56>>,
    pub point_id: Signal<In, Bits<32>>,
    pub mixing_id: Signal<In, Bits<32>>,
    pub prefixes: Signal<In, Bits<64>>,
    pub kind: Signal<Out, Bits<2>>,
    pub drained_cell: Signal<In, Bits<S>>,
    pub drain_address: Signal<Out, Bits<A>>,
    pub clear: Signal<Out, Bit>,
    pub clear_all: Signal<Out, Bit>,
    pub busy: Signal<Out, Bit>,
    pub running: Signal<Out, Bit>,
    pub m_axis_tdata: Signal<Out, Bits<64>>,
    pub m_axis_tkeep: Signal<Out, Bits<8>>,
    pub m_axis_tvalid: Signal<Out, Bit>,
    pub m_axis_tready: Signal<In, Bit>,
    pub m_axis_tlast: Signal<Out, Bit>,
    pub m_axis_tuser: Signal<Out, Bit>,

    walk: Drain<A>,
    front: header::Header<A>,
    pack: Pack<S, D>,
    /// The last word of two cells' further fields.
    last_field: Constant<Bits<5>>,

    /// 0 clear, 1 clear and step, 2 idle, 4 look up, 5 choose, 6 read, 7 add to check, 8 offer.
    state: Flop<Bits<4>>,
    /// 0 header, 1 cells, 2 sum tops, 3 tag, 4 check, 5 further fields of two cells.
    section: Flop<Bits<3>>,
    /// Word within the section, or cycles waited.
    step: Flop<Bits<5>>,
    cleared: Flop<Bit>,
    /// Take the cell: state 6, step 0.
    taking: Flop<Bit>,
    /// Clear the word in the idle copy; clear it in no more than that.
    clearing: Flop<Bit>,
    clears_not_all: Flop<Bit>,
    /// The state is 2; many wait for it.
    is_idle: Flop<Bit>,
    /// One-hot: the word within the header.
    header_step: Flop<Bits<17>>,
}

impl<const A: usize, const S: usize, const D: usize> Emitter<A, S, D> {
    /// The emitter of a configuration; 2^A is at least classes × banks × rows, the latter two made powers of two.
    pub fn new(configuration: &Configuration) -> Self {
        let totals = Totals { digest_sum: configuration.has_digest_sum().then_some(0), ..Totals::default() };
        let first = Header::of_interval(configuration, Role::Sender, 0, totals).next();
        let (cells, words) = first.map_or((0, [0; header::WORDS]), |header| {
            let mut words = v2::words(&header);
            (header.cells, std::array::from_fn(|_| words.next().unwrap_or_default()))
        });
        module! { Emitter {
            walk: Drain::new(configuration, cells.into()),
            front: header::Header::new(configuration, &words),
            last_field: Constant::new((D.saturating_sub(1) as u64).into()),
        }
            clk rst start receiver interval packets bytes first last unmeasured bad refused_ends ignored_delimiters flags time_sum
            digest_sum absolute_time point_id mixing_id prefixes kind
            drained_cell drain_address clear clear_all busy running m_axis_tdata m_axis_tkeep m_axis_tvalid
            m_axis_tready m_axis_tlast m_axis_tuser pack state section step cleared taking clearing clears_not_all
            is_idle header_step
        }
    }
}

impl<const A: usize, const S: usize, const D: usize> Logic for Emitter<A, S, D> {
    #[passes(walk, in(clk, rst))]
    #[passes(
        front,
        in(
            clk,
            rst,
            receiver,
            interval,
            packets,
            bytes,
            first,
            last,
            unmeasured,
            bad,
            refused_ends,
            ignored_delimiters,
            flags,
            time_sum,
            digest_sum,
            absolute_time,
            point_id,
            mixing_id,
            prefixes
        )
    )]
    #[passes(pack, in(clk, rst, drained_cell))]
    #[clocked(state, section, step, cleared, taking, clearing, clears_not_all, is_idle, header_step)]
    fn update(&mut self) {
        self.walk.step.next =
            (self.state.q.val() == 1) | ((self.state.q.val() == 6) & (self.step.q.val() == 2));
        self.front.select.next = self.header_step.q.val();
        self.front.kind.next = self.walk.kind.val();
        self.front.fragment.next = self.walk.fragment.val();
        self.front.bank.next = self.walk.bank.val();
        self.front.first_row.next = self.walk.first_row.val();
        self.pack.choose.next = self.state.q.val() == 5;
        self.pack.section.next = self.section.q.val();
        self.pack.step.next = self.step.q.val();
        self.pack.header_word.next = self.front.word.val();
        self.pack.take.next = self.taking.q.val();
        self.pack.add.next = self.state.q.val() == 7;
        self.pack.taken.next = (self.state.q.val() == 8) & self.m_axis_tready.val();

        // The memory's write ports are far: what they do next is known a cycle ahead, in state 0 and in step 1 of state 6.
        self.taking.d.next = (self.state.q.val() == 5) & (self.section.q.val() == 1);
        self.clearing.d.next = (self.state.q.val() == 6) & (self.step.q.val() == 0);
        self.clears_not_all.d.next = (self.state.q.val() != 1) | self.walk.at_last.val();
        // Clear both copies after reset; the address stands for two cycles, as the memory's upper half wants it.
        if self.state.q.val() == 0 {
            self.state.d.next = 1.into();
        }
        if self.state.q.val() == 1 {
            self.state.d.next = 0.into();
            if self.walk.at_last.val() {
                self.cleared.d.next = true;
                self.state.d.next = 2.into();
                self.is_idle.d.next = true;
            }
        }
        // Idle.
        if self.state.q.val() == 2 {
            self.step.d.next = 0.into();
            self.header_step.d.next = 1.into();
            self.section.d.next = 0.into();
            // The last updates reach memory, totals and sums 20 to 22 cycles behind the end of their frame, those of an
            // identity table 21 to 23, those of a vector of flows 29 to 31. The first word that depends on them is that of the
            // flags, looked up 25 cycles behind start, which itself comes at least eight cycles behind that end; the first
            // cell is taken 71 behind it.
            if self.start.val() {
                self.state.d.next = 4.into();
                self.is_idle.d.next = false;
            }
        }
        // A cycle to look the header's word up, which happens all the time.
        if self.state.q.val() == 4 {
            self.state.d.next = 5.into();
        }
        // Choose a word.
        if self.state.q.val() == 5 {
            self.state.d.next = 7.into();
            if self.section.q.val() == 1 {
                self.step.d.next = 0.into();
                self.state.d.next = 6.into();
            }
        }
        // Take the cell, whose address has stood for four cycles; clear it, which takes two cycles; go on.
        if self.state.q.val() == 6 {
            self.step.d.next = self.step.q.val() + 1;
            if self.step.q.val() == 2 {
                self.state.d.next = 7.into();
            }
        }
        if self.state.q.val() == 7 {
            self.state.d.next = 8.into();
        }
        // Wait until it is taken; then what comes next?
        if (self.state.q.val() == 8) & self.m_axis_tready.val() {
            self.state.d.next = 4.into();
            self.step.d.next = self.step.q.val() + 1;
            self.header_step.d.next = self.header_step.q.val() << 1;
            if (self.section.q.val() == 0) & self.header_step.q.val().get_bit(16) {
                self.section.d.next = 1.into();
            }
            if (self.section.q.val() == 1) & self.walk.block_ends.val() {
                self.section.d.next = 2.into();
            }
            for _i in 0..D {
                // Asked when the address is already that of the next cell.
                if (self.section.q.val() == 1) & self.walk.pair_ends.val() {
                    self.section.d.next = 5.into();
                    self.step.d.next = 0.into();
                }
                if (self.section.q.val() == 5) & (self.step.q.val() == self.last_field.val()) {
                    self.section.d.next = 1.into();
                    if self.walk.block_ends.val() {
                        self.section.d.next = 2.into();
                    }
                }
            }
            if self.section.q.val() == 2 {
                self.section.d.next = 1.into();
                if self.walk.fragment_ends.val() {
                    self.section.d.next = 3.into();
                    self.step.d.next = 0.into();
                }
            }
            if (self.section.q.val() == 3) & (self.step.q.val() == 1) {
                self.section.d.next = 4.into();
            }
            if self.section.q.val() == 4 {
                self.section.d.next = 0.into();
                self.step.d.next = 0.into();
                self.header_step.d.next = 1.into();
                // The address is back at zero behind the last fragment.
                if self.walk.at_first.val() {
                    self.state.d.next = 2.into();
                    self.is_idle.d.next = true;
                }
            }
        }

        // Outputs are assigned once, here: one that changed twice in a process would wake its readers twice, and two
        // such modules that read each other would never let an event-driven simulator come to rest.
        self.clear.next = self.clearing.q.val();
        self.clear_all.next = !self.clears_not_all.q.val();
        self.drain_address.next = self.walk.address.val();
        self.kind.next = self.walk.kind.val();
        self.running.next = self.cleared.q.val();
        self.busy.next = !self.is_idle.q.val();
        self.m_axis_tdata.next = self.pack.data.val();
        self.m_axis_tvalid.next = self.pack.valid.val();
        self.m_axis_tlast.next = self.pack.last.val();
        self.m_axis_tkeep.next = 0xff.into();
        self.m_axis_tuser.next = false;
    }
}
