//! Succession: which delimiters and requests end intervals, and the intervals' numbers.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::succession`, where the rules are: only the delimiter that is due ends the interval, or, with a gap, the
//! successor of the candidate; others are ignored and counted. Delimiters of one cycle are taken one after the other, in the order
//! of their lanes, a request behind them. An end that cannot be, because the drain of the one before is not over, is refused; that
//! of a delimiter leaves a gap, and its successor is due.
//!
//! Delimiters may come in every cycle, and each meets what the one before has left. So that none of the long comparisons lies between
//! them, what comes is held for a cycle with its successor's number, while its [foresight](crate::interval::foresight) compares it
//! with every place that may be due by the next; then it is judged by picking from these.
//!
//! ```text
//! delimiters ──▶ held, number + 1 ──▶ foresight ──▶ pick: is it due? the candidate's successor? ──▶ ends, refused, ignored
//!                                        ▲ ▲            ▲                                     │
//!                                        │ └────────────┴── whose successor is due by now ◀───┤
//!                                        └── due, epoch, candidate ◀──────────────────────────┘
//! ```
//!
//! With a key a delimiter counts only if it has its tag, which is that of the delimiter that is due, or of the candidate's successor:
//! two tags that [others](crate::authentication::delimiter_tags) compute beforehand. One that comes before its tag is ready does not
//! count. In a design without authentication `keyed` is zero, and nothing of that is left.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | delimiter$i | in | 1 | lane i: a delimiter |
//! | delimiter_number$i, delimiter_epoch$i | in | 32 | its number and boot epoch |
//! | due_signed$i, next_signed$i | in | 1 | with delimiter: it has the tag that is expected of the one that is due, of the candidate's successor |
//! | keyed | in | 1 | from the second cycle behind the inputs on: delimiters are believed by their tags |
//! | due_ready, next_ready | in | 1 | likewise: these tags are those of `due`, `next_number` and their epochs |
//! | request | in | 1 | end the interval |
//! | running | in | 1 | from the second cycle behind the inputs on: ends count |
//! | busy | in | 1 | likewise: no interval can end |
//! | ends | out | 1 | the second cycle behind the inputs: the interval ends |
//! | timed | out | 1 | with ends: by a request |
//! | missing | out | 1 | with ends: by a delimiter that was not due |
//! | gap | out | 1 | with ends: the interval has one, or is the first |
//! | refused | out | 3 | ends that are refused: of the running interval, or, with ends, of the one that begins |
//! | ignored | out | 3 | delimiters that are ignored in the running interval |
//! | ignored_behind | out | 3 | with ends: in the one that begins |
//! | due | out | 32 | number of the running interval: that of the delimiter that is due |
//! | due_epoch | out | 32 | boot epoch of that delimiter |
//! | next_number, next_epoch | out | 32 | of the candidate's successor |
//! | due_changes, next_changes | out | 1 | in the next cycle they are others: their tags are not ready |
//! | ended, begun | out | 32 | from the cycle behind ends on: number of the interval that ended, and the one behind it |
//!
//! Parameter: L, lanes (1..=4). Latency as stated.
//!
//! # Test plan
//!
//! `sim/cosim`, with the cores of every width: delimiters due, doubled, late, lost, far ahead, forged pairs, restarts with and
//! without an epoch, around the wrap, refused ones; several in a cycle. `hdl/formal/interval.v`: no interval ends twice; with a key no
//! delimiter counts without its tag. With tags: `sim/cosim` `checks::forgery`.

use crate::interval::foresight::Foresight;
use crate::leaves::Flop;
use crate::module::module;
use deltaline_hdl_macros::clocked;
use deltaline_model::succession::RECENT;
use rust_hdl_core::prelude::*;

const _: () = assert!(RECENT == 64);

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Succession<const L: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub delimiter: [Signal<In, Bit>; L],
    pub delimiter_number: [Signal<In, Bits<32>>; L],
    pub delimiter_epoch: [Signal<In, Bits<32>>; L],
    pub due_signed: [Signal<In, Bit>; L],
    pub next_signed: [Signal<In, Bit>; L],
    pub keyed: Signal<In, Bit>,
    pub due_ready: Signal<In, Bit>,
    pub next_ready: Signal<In, Bit>,
    pub request: Signal<In, Bit>,
    pub running: Signal<In, Bit>,
    pub busy: Signal<In, Bit>,
    pub ends: Signal<Out, Bit>,
    pub timed: Signal<Out, Bit>,
    pub missing: Signal<Out, Bit>,
    pub gap: Signal<Out, Bit>,
    pub refused: Signal<Out, Bits<3>>,
    pub ignored: Signal<Out, Bits<3>>,
    pub ignored_behind: Signal<Out, Bits<3>>,
    pub due: Signal<Out, Bits<32>>,
    pub due_epoch: Signal<Out, Bits<32>>,
    pub next_number: Signal<Out, Bits<32>>,
    pub next_epoch: Signal<Out, Bits<32>>,
    pub due_changes: Signal<Out, Bit>,
    pub next_changes: Signal<Out, Bit>,
    pub ended: Signal<Out, Bits<32>>,
    pub begun: Signal<Out, Bits<32>>,

    // What came in the cycle before, and is compared.
    there: [Flop<Bit>; L],
    number: [Flop<Bits<32>>; L],
    later: [Flop<Bits<32>>; L],
    predecessor: [Flop<Bits<32>>; L],
    later_predecessor: [Flop<Bits<32>>; L],
    successor: [Flop<Bits<32>>; L],
    epoch: [Flop<Bits<32>>; L],
    has_due_tag: [Flop<Bit>; L],
    has_next_tag: [Flop<Bit>; L],
    asked: Flop<Bit>,
    foresight: [Foresight<L>; L],
    /// A lane's bits among all lanes' numbers start here.
    place: [Constant<Bits<7>>; L],
    one: Signal<Local, Bits<32>>,
    former_numbers: Signal<Local, Bits<128>>,
    former_epochs: Signal<Local, Bits<128>>,
    beside_numbers: Signal<Local, Bits<128>>,
    beside_epochs: Signal<Local, Bits<128>>,
    of_former: Signal<Local, Bits<4>>,
    of_beside: Signal<Local, Bits<4>>,
    begins_former: Signal<Local, Bits<4>>,
    begins_beside: Signal<Local, Bits<4>>,
    begins_keyed_former: Signal<Local, Bits<4>>,
    begins_keyed_beside: Signal<Local, Bits<4>>,

    // What came in the one before that, and is judged.
    judged: [Flop<Bit>; L],
    judged_number: [Flop<Bits<32>>; L],
    judged_successor: [Flop<Bits<32>>; L],
    judged_epoch: [Flop<Bits<32>>; L],
    judged_due_tag: [Flop<Bit>; L],
    judged_next_tag: [Flop<Bit>; L],
    judged_request: Flop<Bit>,

    due_number: Flop<Bits<32>>,
    /// Of the last delimiter that counted.
    known_epoch: Flop<Bits<32>>,
    /// It counted by its tag.
    is_known: Flop<Bit>,
    has_candidate: Flop<Bit>,
    /// The candidate's successor.
    successor_number: Flop<Bits<32>>,
    successor_epoch: Flop<Bits<32>>,
    /// An interval has ended: the running one began at a known place.
    started: Flop<Bit>,
    /// A delimiter has been refused since.
    lost: Flop<Bit>,
    ended_number: Flop<Bits<32>>,
    begun_number: Flop<Bits<32>>,

    // Since the comparisons: lane i's delimiter has made its successor the one that is due, or the candidate's; or a request, the number
    // behind.
    due_of: [Flop<Bit>; L],
    next_of: [Flop<Bit>; L],
    due_behind: Flop<Bit>,

    // Which comparisons tell of the place that is due, and of the candidate's successor, as the delimiters of this cycle so far leave
    // them: those with the registers, with lane i's successor of the cycle before, or of this one.
    by_register: Signal<Local, Bit>,
    by_behind: Signal<Local, Bit>,
    by_former: [Signal<Local, Bit>; L],
    by_beside: [Signal<Local, Bit>; L],
    next_by_register: Signal<Local, Bit>,
    next_by_former: [Signal<Local, Bit>; L],
    next_by_beside: [Signal<Local, Bit>; L],

    // The registers as they leave them.
    due_now: Signal<Local, Bits<32>>,
    due_epoch_now: Signal<Local, Bits<32>>,
    is_known_now: Signal<Local, Bit>,
    has_candidate_now: Signal<Local, Bit>,
    next_number_now: Signal<Local, Bits<32>>,
    next_epoch_now: Signal<Local, Bits<32>>,
    started_now: Signal<Local, Bit>,
    lost_now: Signal<Local, Bit>,
    may_end: Signal<Local, Bit>,
    ends_now: Signal<Local, Bit>,
    timed_now: Signal<Local, Bit>,
    missing_now: Signal<Local, Bit>,
    gap_now: Signal<Local, Bit>,
    refused_now: Signal<Local, Bits<3>>,
    ignored_now: Signal<Local, Bits<3>>,
    behind_now: Signal<Local, Bits<3>>,

    /// The tags that are ready, until a delimiter of this cycle makes others due.
    due_tag_now: Signal<Local, Bit>,
    next_tag_now: Signal<Local, Bit>,
    due_changes_now: Signal<Local, Bit>,
    next_changes_now: Signal<Local, Bit>,

    is_due: Signal<Local, Bit>,
    is_next: Signal<Local, Bit>,
    counted: Signal<Local, Bit>,
    /// It ends the interval, if one can end.
    counts: Signal<Local, Bit>,
    begins: Signal<Local, Bit>,
    begins_keyed: Signal<Local, Bit>,
    may_begin_a_run: Signal<Local, Bit>,
}

impl<const L: usize> Default for Succession<L> {
    fn default() -> Self {
        module! { Succession { place: std::array::from_fn(|lane| Constant::new((32 * lane as u64).into())) }
            clk rst keyed due_ready next_ready request running busy ends timed missing gap refused ignored ignored_behind
            due due_epoch next_number next_epoch due_changes next_changes ended begun asked judged_request due_number
            known_epoch is_known has_candidate successor_number successor_epoch started lost ended_number begun_number
            one former_numbers former_epochs beside_numbers beside_epochs of_former of_beside begins_former begins_beside
            begins_keyed_former begins_keyed_beside due_behind by_register by_behind next_by_register due_now due_epoch_now is_known_now has_candidate_now
            next_number_now next_epoch_now started_now lost_now may_end ends_now timed_now missing_now gap_now refused_now
            ignored_now behind_now due_tag_now next_tag_now due_changes_now next_changes_now is_due is_next counted
            counts begins begins_keyed may_begin_a_run
            ; each delimiter delimiter_number delimiter_epoch due_signed next_signed there number later predecessor later_predecessor successor
            epoch has_due_tag has_next_tag foresight judged judged_number judged_successor judged_epoch judged_due_tag
            judged_next_tag due_of next_of by_former by_beside next_by_former next_by_beside
        }
    }
}

impl<const L: usize> Logic for Succession<L> {
    #[clocked(
        asked,
        judged_request,
        due_behind,
        due_number,
        known_epoch,
        is_known,
        has_candidate,
        successor_number,
        successor_epoch,
        started,
        lost,
        ended_number,
        begun_number
    )]
    fn update(&mut self) {
        for i in 0..L {
            self.there[i].clock.next = self.clk.val();
            self.there[i].rst.next = self.rst.val();
            self.there[i].d.next = self.delimiter[i].val();
            self.number[i].clock.next = self.clk.val();
            self.number[i].rst.next = self.rst.val();
            self.number[i].d.next = self.delimiter_number[i].val();
            self.later[i].clock.next = self.clk.val();
            self.later[i].rst.next = self.rst.val();
            self.later[i].d.next = self.delimiter_number[i].val() + 64;
            self.later_predecessor[i].clock.next = self.clk.val();
            self.later_predecessor[i].rst.next = self.rst.val();
            self.later_predecessor[i].d.next = self.delimiter_number[i].val() + 63;
            self.predecessor[i].clock.next = self.clk.val();
            self.predecessor[i].rst.next = self.rst.val();
            self.predecessor[i].d.next = self.delimiter_number[i].val() - 1;
            self.successor[i].clock.next = self.clk.val();
            self.successor[i].rst.next = self.rst.val();
            self.successor[i].d.next = self.delimiter_number[i].val() + 1;
            self.epoch[i].clock.next = self.clk.val();
            self.epoch[i].rst.next = self.rst.val();
            self.epoch[i].d.next = self.delimiter_epoch[i].val();
            self.has_due_tag[i].clock.next = self.clk.val();
            self.has_due_tag[i].rst.next = self.rst.val();
            self.has_due_tag[i].d.next = self.due_signed[i].val();
            self.has_next_tag[i].clock.next = self.clk.val();
            self.has_next_tag[i].rst.next = self.rst.val();
            self.has_next_tag[i].d.next = self.next_signed[i].val();
            self.judged[i].clock.next = self.clk.val();
            self.judged[i].rst.next = self.rst.val();
            self.judged[i].d.next = self.there[i].q.val();
            self.judged_number[i].clock.next = self.clk.val();
            self.judged_number[i].rst.next = self.rst.val();
            self.judged_number[i].d.next = self.number[i].q.val();
            self.judged_successor[i].clock.next = self.clk.val();
            self.judged_successor[i].rst.next = self.rst.val();
            self.judged_successor[i].d.next = self.successor[i].q.val();
            self.judged_epoch[i].clock.next = self.clk.val();
            self.judged_epoch[i].rst.next = self.rst.val();
            self.judged_epoch[i].d.next = self.epoch[i].q.val();
            self.judged_due_tag[i].clock.next = self.clk.val();
            self.judged_due_tag[i].rst.next = self.rst.val();
            self.judged_due_tag[i].d.next = self.has_due_tag[i].q.val();
            self.judged_next_tag[i].clock.next = self.clk.val();
            self.judged_next_tag[i].rst.next = self.rst.val();
            self.judged_next_tag[i].d.next = self.has_next_tag[i].q.val();
        }
        self.asked.d.next = self.request.val();
        self.judged_request.d.next = self.asked.q.val();
        self.former_numbers.next = 0.into();
        self.former_epochs.next = 0.into();
        self.beside_numbers.next = 0.into();
        self.beside_epochs.next = 0.into();
        for i in 0..L {
            self.one.next = self.judged_successor[i].q.val();
            self.former_numbers.next =
                self.former_numbers.val() | (bit_cast::<128, 32>(self.one.val()) << self.place[i].val());
            self.one.next = self.judged_epoch[i].q.val();
            self.former_epochs.next =
                self.former_epochs.val() | (bit_cast::<128, 32>(self.one.val()) << self.place[i].val());
            self.one.next = self.successor[i].q.val();
            self.beside_numbers.next =
                self.beside_numbers.val() | (bit_cast::<128, 32>(self.one.val()) << self.place[i].val());
            self.one.next = self.epoch[i].q.val();
            self.beside_epochs.next =
                self.beside_epochs.val() | (bit_cast::<128, 32>(self.one.val()) << self.place[i].val());
        }
        for i in 0..L {
            self.foresight[i].clk.next = self.clk.val();
            self.foresight[i].rst.next = self.rst.val();
            self.foresight[i].number.next = self.number[i].q.val();
            self.foresight[i].later.next = self.later[i].q.val();
            self.foresight[i].later_predecessor.next = self.later_predecessor[i].q.val();
            self.foresight[i].predecessor.next = self.predecessor[i].q.val();
            self.foresight[i].epoch.next = self.epoch[i].q.val();
            self.foresight[i].due.next = self.due_number.q.val();
            self.foresight[i].due_epoch.next = self.known_epoch.q.val();
            self.foresight[i].next_number.next = self.successor_number.q.val();
            self.foresight[i].next_epoch.next = self.successor_epoch.q.val();
            self.foresight[i].former_numbers.next = self.former_numbers.val();
            self.foresight[i].former_epochs.next = self.former_epochs.val();
            self.foresight[i].beside_numbers.next = self.beside_numbers.val();
            self.foresight[i].beside_epochs.next = self.beside_epochs.val();
        }

        self.by_behind.next = self.due_behind.q.val();
        self.by_register.next = !self.due_behind.q.val();
        self.next_by_register.next = true;
        for i in 0..L {
            self.by_former[i].next = self.due_of[i].q.val();
            self.by_beside[i].next = false;
            self.next_by_former[i].next = self.next_of[i].q.val();
            self.next_by_beside[i].next = false;
            if self.due_of[i].q.val() {
                self.by_register.next = false;
            }
            if self.next_of[i].q.val() {
                self.next_by_register.next = false;
            }
        }
        self.due_now.next = self.due_number.q.val();
        self.due_epoch_now.next = self.known_epoch.q.val();
        self.is_known_now.next = self.is_known.q.val();
        self.due_tag_now.next = self.due_ready.val();
        self.next_tag_now.next = self.next_ready.val();
        self.due_changes_now.next = false;
        self.next_changes_now.next = false;
        self.has_candidate_now.next = self.has_candidate.q.val();
        self.next_number_now.next = self.successor_number.q.val();
        self.next_epoch_now.next = self.successor_epoch.q.val();
        self.started_now.next = self.started.q.val();
        self.lost_now.next = self.lost.q.val();
        self.may_end.next = !self.busy.val();
        self.ends_now.next = false;
        self.timed_now.next = false;
        self.missing_now.next = false;
        self.gap_now.next = false;
        self.refused_now.next = 0.into();
        self.ignored_now.next = 0.into();
        self.behind_now.next = 0.into();
        self.counted.next = false;
        for i in 0..L {
            self.is_due.next = (self.by_register.val() & self.foresight[i].is_due.val())
                | (self.by_behind.val() & self.foresight[i].is_behind.val());
            self.begins.next = (self.by_register.val() & self.foresight[i].begins.val())
                | (self.by_behind.val() & self.foresight[i].behind_begins.val());
            self.begins_keyed.next = (self.by_register.val() & self.foresight[i].begins_keyed.val())
                | (self.by_behind.val() & self.foresight[i].behind_begins_keyed.val());
            self.is_next.next = self.next_by_register.val() & self.foresight[i].is_next.val();
            self.of_former.next = self.foresight[i].is_former.val();
            self.of_beside.next = self.foresight[i].is_beside.val();
            self.begins_former.next = self.foresight[i].former_begins.val();
            self.begins_beside.next = self.foresight[i].beside_begins.val();
            self.begins_keyed_former.next = self.foresight[i].former_begins_keyed.val();
            self.begins_keyed_beside.next = self.foresight[i].beside_begins_keyed.val();
            for k in 0..L {
                self.is_due.next = self.is_due.val()
                    | (self.by_former[k].val() & self.of_former.val().get_bit(k))
                    | (self.by_beside[k].val() & self.of_beside.val().get_bit(k));
                self.begins.next = self.begins.val()
                    | (self.by_former[k].val() & self.begins_former.val().get_bit(k))
                    | (self.by_beside[k].val() & self.begins_beside.val().get_bit(k));
                self.begins_keyed.next = self.begins_keyed.val()
                    | (self.by_former[k].val() & self.begins_keyed_former.val().get_bit(k))
                    | (self.by_beside[k].val() & self.begins_keyed_beside.val().get_bit(k));
                self.is_next.next = self.is_next.val()
                    | (self.next_by_former[k].val() & self.of_former.val().get_bit(k))
                    | (self.next_by_beside[k].val() & self.of_beside.val().get_bit(k));
            }
            self.is_next.next = self.is_next.val() & self.has_candidate_now.val();
            if self.keyed.val() {
                self.counts.next =
                    (self.is_due.val() & self.due_tag_now.val() & self.judged_due_tag[i].q.val())
                        | (self.is_next.val() & self.next_tag_now.val() & self.judged_next_tag[i].q.val());
                self.may_begin_a_run.next = !self.is_known_now.val() | self.begins_keyed.val();
            } else {
                self.counts.next = self.is_due.val() | self.is_next.val() | !self.started_now.val();
                self.may_begin_a_run.next = self.begins.val();
            }
            if self.judged[i].q.val() & self.running.val() {
                if self.counts.val() {
                    self.counted.next = true;
                    if self.may_end.val() {
                        self.may_end.next = false;
                        self.ends_now.next = true;
                        self.missing_now.next = !self.is_due.val();
                        self.gap_now.next =
                            !self.is_due.val() | self.lost_now.val() | !self.started_now.val();
                        self.started_now.next = true;
                        self.lost_now.next = false;
                        self.ended_number.d.next = self.judged_number[i].q.val();
                        self.begun_number.d.next = self.judged_successor[i].q.val();
                    } else {
                        self.refused_now.next = self.refused_now.val() + 1;
                        self.lost_now.next = true;
                    }
                    self.due_now.next = self.judged_successor[i].q.val();
                    self.due_epoch_now.next = self.judged_epoch[i].q.val();
                    self.is_known_now.next = self.keyed.val();
                    self.has_candidate_now.next = false;
                    self.by_register.next = false;
                    self.by_behind.next = false;
                    for k in 0..L {
                        self.by_former[k].next = false;
                        self.by_beside[k].next = false;
                    }
                    self.by_beside[i].next = true;
                    self.due_tag_now.next = false;
                    self.due_changes_now.next = true;
                } else {
                    if self.ends_now.val() {
                        self.behind_now.next = self.behind_now.val() + 1;
                    } else {
                        self.ignored_now.next = self.ignored_now.val() + 1;
                    }
                    if self.may_begin_a_run.val() {
                        self.has_candidate_now.next = true;
                        self.next_by_register.next = false;
                        for k in 0..L {
                            self.next_by_former[k].next = false;
                            self.next_by_beside[k].next = false;
                        }
                        self.next_by_beside[i].next = true;
                        self.next_tag_now.next = false;
                        self.next_changes_now.next = true;
                        self.next_number_now.next = self.judged_successor[i].q.val();
                        self.next_epoch_now.next = self.judged_epoch[i].q.val();
                    }
                }
            }
        }
        self.due_behind.d.next = false;
        // A request beside a delimiter that counts is one end with it.
        if self.judged_request.q.val() & self.running.val() & !self.counted.val() {
            if self.may_end.val() {
                self.ends_now.next = true;
                self.timed_now.next = true;
                self.gap_now.next = self.lost_now.val() | !self.started_now.val();
                self.started_now.next = true;
                self.lost_now.next = false;
                self.ended_number.d.next = self.due_number.q.val();
                self.begun_number.d.next = self.due_number.q.val() + 1;
                self.due_now.next = self.due_number.q.val() + 1;
                self.due_behind.d.next = true;
                self.due_changes_now.next = true;
                self.has_candidate_now.next = false;
            } else {
                self.refused_now.next = self.refused_now.val() + 1;
            }
        }
        for i in 0..L {
            self.due_of[i].clock.next = self.clk.val();
            self.due_of[i].rst.next = self.rst.val();
            self.due_of[i].d.next = self.by_beside[i].val();
            self.next_of[i].clock.next = self.clk.val();
            self.next_of[i].rst.next = self.rst.val();
            self.next_of[i].d.next = self.next_by_beside[i].val();
        }
        self.due_number.d.next = self.due_now.val();
        self.known_epoch.d.next = self.due_epoch_now.val();
        self.is_known.d.next = self.is_known_now.val();
        self.has_candidate.d.next = self.has_candidate_now.val();
        self.successor_number.d.next = self.next_number_now.val();
        self.successor_epoch.d.next = self.next_epoch_now.val();
        self.started.d.next = self.started_now.val();
        self.lost.d.next = self.lost_now.val();

        self.ends.next = self.ends_now.val();
        self.timed.next = self.timed_now.val();
        self.missing.next = self.missing_now.val();
        self.gap.next = self.gap_now.val();
        self.refused.next = self.refused_now.val();
        self.ignored.next = self.ignored_now.val();
        self.ignored_behind.next = self.behind_now.val();
        self.due.next = self.due_number.q.val();
        self.due_epoch.next = self.known_epoch.q.val();
        self.next_number.next = self.successor_number.q.val();
        self.next_epoch.next = self.successor_epoch.q.val();
        self.due_changes.next = self.due_changes_now.val();
        self.next_changes.next = self.next_changes_now.val();
        self.ended.next = self.ended_number.q.val();
        self.begun.next = self.begun_number.q.val();
    }
}
