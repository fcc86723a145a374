//! Control frames: out of a capture, together into intervals, and the two ends' intervals into pairs.
//!
//! [`Collector::push`] takes every frame of a management port; [`Collector::finish`] tells what came of it: per
//! interval what each end reported, and whether the two reports are *usable*, that is, whether they are whole and
//! speak of the same packets. If not, [`Void`] says why and what to do about it (LDA paper, section V: "loss of
//! control packets translates into a measurement interval being ignored").
//!
//! A recording may be pushed in any order and finished. Of a live source, [`Collector::take_settled`] hands out each
//! interval as soon as nothing more is to be expected of it: both ends are whole, or each end that is not has gone on
//! to a later interval, or [`LAG`] later intervals have begun.
//!
//! A frame belongs to its (segment, interval, role). All that follows rests on the bytes of control frames alone.
//!
//! # Limits
//!
//! * An end that refuses an interval's end numbers its later intervals one too low. That shift is followed through
//!   the refusals that were reported; those of an interval of which not a single frame arrived are unknown.
//! * Interval numbers that start over, after 2^32 intervals or with a reset, contradict the earlier ones: one
//!   recording for one run. Live, they are followed ([`Collector::restarts`]): what is pending is then handed out.
//!
//! # Test plan
//!
//! Two measurement points' own frames survive the way, in any order, in VLAN tags, among foreign frames. Each
//! [`Void`] and [`Doubt`] by hand. Frames dropped, repeated, corrupted and shuffled at random: no panic, and every
//! pair that is usable equals what the points held. Live: each interval at its last frame and not before; the same
//! intervals as finished, whatever is lost; a silent end, late frames and restarts.

use deltaline_model::packet::identity::MAX_VLAN_TAGS;
use deltaline_model::sketch::cell::Cell;
use deltaline_model::sketch::lda;
use deltaline_model::sketch::sampler::Prefixes;
use deltaline_model::wire::frame::{ETHERTYPE, Frame, FrameError, Header, Role, Totals};
use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use thiserror::Error;

/// Sum of a row's delays, in nanoseconds, from which on it is taken to be near the 2^39 where sums wrap.
pub const SUM_NEAR_WRAP: u64 = 1 << 38;

/// Times of the two ends, in nanoseconds, from which on they are too far apart: a sum of delays is known modulo 2^40.
pub const CLOCKS_TOO_FAR: u64 = 1 << 39;

/// Later intervals at which a live interval is no longer waited for.
pub const LAG: usize = 4;

/// Gathers control frames.
#[derive(Clone, Debug, Default)]
pub struct Collector {
    frames: u64,
    foreign: u64,
    duplicates: u64,
    late: u64,
    restarts: u64,
    problems: Vec<Problem>,
    segments: BTreeMap<u32, Segment>,
    settled: Vec<Interval>,
    untagged: Vec<u8>,
}

/// What is known of a segment.
#[derive(Clone, Debug, Default)]
struct Segment {
    /// What has not been handed out, by the interval's number.
    pending: BTreeMap<u32, Ends>,
    /// The last [`LAG`] intervals that have been, with what their frames had in common.
    recent: VecDeque<(u32, [Option<Header>; 2])>,
    refused: Refused,
}

/// An interval that is being gathered: one place for each [`Role`].
type Ends = [Option<Assembly>; 2];

/// The frames of one end's interval.
#[derive(Clone, Debug)]
struct Assembly {
    /// What all of its frames have in common, with the rest set to zero.
    common: Header,
    table: lda::Table,
    fragments: BTreeMap<u16, Vec<Cell>>,
    contradiction: Option<(u64, &'static str)>,
}

/// What one end reported of an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The interval's own numbers.
    pub totals: Totals,
    /// Digest of the end's configuration.
    pub digest: u64,
    /// The banks.
    pub prefixes: Prefixes,
    /// Rows of each bank: a power of two, 8..=32,768.
    pub rows: usize,
    /// Frames that the interval has.
    pub fragments: u16,
    /// Indices of the frames that did not arrive, ascending.
    pub missing: Vec<u16>,
    /// Whether its cells have digest sums.
    pub digests: bool,
    /// All cells, bank-major; empty unless all frames arrived.
    pub cells: Vec<Cell>,
}

/// An interval of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Number of the measurement segment.
    pub segment: u32,
    /// Number of the interval.
    pub number: u32,
    /// What the sender reported, if any of its frames arrived.
    pub sender: Option<Report>,
    /// What the receiver reported, if any of its frames arrived.
    pub receiver: Option<Report>,
    /// Why the two reports must not be compared, unless they may.
    pub void: Option<Void>,
    /// What to keep in mind if they are.
    pub doubts: Vec<Doubt>,
}

/// Two reports that are whole and speak of the same packets.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// What the sender reported.
    pub sender: &'a Report,
    /// What the receiver reported.
    pub receiver: &'a Report,
}

/// What came of a capture's frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// All intervals, by ascending segment and number.
    pub intervals: Vec<Interval>,
    /// Everything that is not as it should be, the capture's frames first.
    pub problems: Vec<Problem>,
    /// Frames taken in.
    pub frames: u64,
    /// Frames of other EtherTypes, which were ignored.
    pub foreign: u64,
    /// Control frames that had arrived before, byte for byte, and were ignored.
    pub duplicates: u64,
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// A frame of the right EtherType is not a control frame of this release.
    #[error("frame {frame}: {error}; it is left out")]
    Corrupted {
        /// The frame, counted from 1.
        frame: u64,
        /// What is wrong with it.
        error: FrameError,
    },
    /// A control frame had arrived before.
    #[error(
        "frame {frame}: repeats fragment {fragment} of the {role}'s interval {interval} of segment {segment}; \
         it is ignored, but check that the management port is captured once"
    )]
    Duplicate {
        /// The frame, counted from 1.
        frame: u64,
        /// Number of the segment.
        segment: u32,
        /// Number of the interval.
        interval: u32,
        /// The end.
        role: Role,
        /// Index of the control frame in its interval.
        fragment: u16,
    },
    /// An interval is void.
    #[error("segment {segment}, interval {interval}: {reason}")]
    Void {
        /// Number of the segment.
        segment: u32,
        /// Number of the interval.
        interval: u32,
        /// Why.
        reason: Void,
    },
    /// A usable interval gives reason for doubt.
    #[error("segment {segment}, interval {interval}: {doubt}")]
    Doubt {
        /// Number of the segment.
        segment: u32,
        /// Number of the interval.
        interval: u32,
        /// What about.
        doubt: Doubt,
    },
}

/// Why an interval's two reports must not be compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
pub enum Void {
    /// Frames of one end and interval contradict each other.
    #[error(
        "frame {frame} contradicts an earlier frame of the {role} in its {field}: the interval is void; \
         give every sender and receiver its own segment number, and every run its own recording"
    )]
    Contradiction {
        /// The end.
        role: Role,
        /// The first frame that contradicts, counted from 1.
        frame: u64,
        /// What it contradicts.
        field: &'static str,
    },
    /// The ends are configured differently.
    #[error(
        "the configurations differ: digest {sender:#018x} at the sender ({sender_table}), {receiver:#018x} at the \
         receiver ({receiver_table}); hash, seed, rows, banks and segment must be the same at both ends"
    )]
    ConfigurationMismatch {
        /// The sender's digest.
        sender: u64,
        /// The receiver's digest.
        receiver: u64,
        /// The sender's rows and banks.
        sender_table: Table,
        /// The receiver's rows and banks.
        receiver_table: Table,
    },
    /// Not all of an end's frames arrived.
    #[error(
        "{} of {of} of the {role} {} missing: the interval is void; capture the management port without loss",
        Listed(missing),
        if missing.len() == 1 { "is" } else { "are" }
    )]
    LostFragments {
        /// The end.
        role: Role,
        /// Indices of the missing frames, ascending, at least one.
        missing: Vec<u16>,
        /// Frames that the interval has.
        of: u16,
    },
    /// No frame of one end arrived.
    #[error(
        "nothing of the {role} arrived: the interval is void; capture the control frames of both ends, \
         and give both the same segment number"
    )]
    MissingEnd {
        /// The end that is missing.
        role: Role,
    },
    /// The clock ended or started the interval.
    #[error(
        "the clock cut the {role}'s interval, so that packets in flight at the cut lie in different intervals at \
         the two ends and would corrupt rows without a trace: the interval is void; use in-band delimiters"
    )]
    TimedCut {
        /// An end whose interval was cut by the clock.
        role: Role,
    },
    /// A delimiter did not reach an end, or reached it during a drain.
    #[error(
        "a delimiter before this interval's end did not count at the {role}, so that its interval covers more than \
         the number says: the interval is void; the first interval of an end that starts amid the stream is always so"
    )]
    LostDelimiter {
        /// An end whose interval has a gap.
        role: Role,
    },
    /// The ends sampled an interval of a configuration that adapts with different prefix lengths.
    #[error(
        "the ends sampled with different prefix lengths ({sender} at the sender, {receiver} at the receiver): the \
         interval is void; schedule lengths at both ends before the interval that they are for begins"
    )]
    DifferentSampling {
        /// The sender's rows and banks.
        sender: Table,
        /// The receiver's rows and banks.
        receiver: Table,
    },
    /// A count overflowed.
    #[error("a counter of the {role} overflowed: the interval is void; use shorter intervals")]
    Saturated {
        /// An end whose counter overflowed.
        role: Role,
    },
    /// The ends have refused different interval ends, so that their intervals hold different packets.
    #[error(
        "the sender had refused {sender} interval ends by the end of this interval, the receiver {receiver}: \
         the ends' intervals cover different packets and are void; send delimiters farther apart than a drain takes"
    )]
    RefusedEnds {
        /// Interval ends refused by the sender up to this interval's end, as far as reported.
        sender: u64,
        /// Interval ends refused by the receiver up to this interval's end, as far as reported.
        receiver: u64,
    },
}

/// What to keep in mind about a usable interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum Doubt {
    /// The clock was not locked.
    #[error(
        "the {role}'s clock was not locked at some moment: losses are right, delays may not be; \
         wait until the clock is locked"
    )]
    ClockUnlocked {
        /// The end.
        role: Role,
    },
    /// Both ends refused the same interval ends.
    #[error(
        "{refused} interval ends came during a drain and were refused at both ends: the interval is longer than \
         asked for; send delimiters farther apart than a drain takes"
    )]
    Overrun {
        /// How many.
        refused: u16,
    },
}

/// The size of an end's table, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    /// Rows of each bank.
    pub rows: usize,
    /// The banks.
    pub prefixes: Prefixes,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let lengths: Vec<String> = self.prefixes.lengths().iter().map(u8::to_string).collect();
        write!(f, "{} rows, banks {}", self.rows, lengths.join(","))
    }
}

/// Fragments by number, in runs: "fragments 3, 7-9".
struct Listed<'a>(&'a [u16]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(if self.0.len() == 1 { "fragment " } else { "fragments " })?;
        let runs = self.0.chunk_by(|a, b| a.checked_add(1) == Some(*b));
        for (position, run) in runs.enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            match run {
                [first, .., last] if run.len() > 2 => write!(f, "{separator}{first}-{last}")?,
                [first, second] => write!(f, "{separator}{first}, {second}")?,
                _ => run.iter().try_for_each(|only| write!(f, "{separator}{only}"))?,
            }
        }
        Ok(())
    }
}

impl Collector {
    /// Takes a frame of any EtherType, from its destination MAC address on, behind at most two VLAN tags.
    pub fn push(&mut self, bytes: &[u8]) {
        self.frames += 1;
        let Some(tags) = tags_before_control(bytes) else {
            self.foreign += 1;
            return;
        };
        if tags == 0 {
            return self.push_control(bytes);
        }
        let mut untagged = std::mem::take(&mut self.untagged);
        untagged.clear();
        untagged.extend(bytes[..12].iter().chain(&bytes[12 + 4 * tags..]));
        self.push_control(&untagged);
        self.untagged = untagged;
    }

    fn push_control(&mut self, bytes: &[u8]) {
        let number = self.frames;
        match Frame::decode(bytes) {
            Ok(frame) => self.gather(number, &frame),
            // Delimiters pass in-band as control frames do, and say nothing that control frames do not.
            Err(FrameError::Delimiter) => self.foreign += 1,
            Err(error) => self.problems.push(Problem::Corrupted { frame: number, error }),
        }
    }

    fn gather(&mut self, number: u64, frame: &Frame) {
        let Header { segment, interval, role, fragment, .. } = frame.header;
        let common = Header { fragment: 0, table: 0, first_cell: 0, ..frame.header };
        let table = match lda::Table::read(&common.shape) {
            Ok(table) => table,
            Err(field) => {
                let error = FrameError::Field(field);
                self.problems.push(Problem::Corrupted { frame: number, error });
                return;
            }
        };
        match self.segments.get(&segment).map_or(Age::Due, |known| known.age(&common)) {
            Age::Due => {}
            Age::Late => {
                self.late += 1;
                return;
            }
            Age::Restarted => self.restart(segment),
        }
        let ends = self.segments.entry(segment).or_default().pending.entry(interval).or_default();
        let assembly = ends[role as usize].get_or_insert_with(|| Assembly {
            common,
            table,
            fragments: BTreeMap::new(),
            contradiction: None,
        });
        let contradicted = match assembly.fragments.get(&fragment) {
            _ if assembly.common != common => Some(difference(&assembly.common, &common)),
            Some(cells) if !cells.iter().copied().eq(frame.cells()) => Some("cells"),
            Some(_) => {
                self.duplicates += 1;
                self.problems.push(Problem::Duplicate { frame: number, segment, interval, role, fragment });
                return;
            }
            None => None,
        };
        match contradicted {
            Some(field) => {
                assembly.contradiction.get_or_insert((number, field));
            }
            None => {
                assembly.fragments.insert(fragment, frame.cells().collect());
            }
        }
    }

    /// The intervals of which nothing more is expected, by ascending number in each segment; each is handed out once.
    pub fn take_settled(&mut self) -> Vec<Interval> {
        for (segment, known) in &mut self.segments {
            while known.is_first_settled() {
                self.settled.extend(known.hand_out(*segment));
            }
        }
        self.note_problems();
        std::mem::take(&mut self.settled)
    }

    /// A source has begun anew, as after a reset: nothing more is expected of any interval.
    pub fn restart_all(&mut self) {
        for segment in self.segments.keys().copied().collect::<Vec<_>>() {
            self.restart(segment);
        }
    }

    fn restart(&mut self, segment: u32) {
        if let Some(mut known) = self.segments.remove(&segment) {
            self.restarts += 1;
            self.settled.extend(std::iter::from_fn(|| known.hand_out(segment)));
        }
    }

    /// What is not as it should be, since the last call.
    pub fn take_problems(&mut self) -> Vec<Problem> {
        std::mem::take(&mut self.problems)
    }

    /// Frames of intervals that had been handed out already, which came too late.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// How often a segment's interval numbers have started over.
    pub fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Frames of other EtherTypes, and delimiters, which were ignored.
    pub fn foreign(&self) -> u64 {
        self.foreign
    }

    /// Control frames that had arrived before, byte for byte, and were ignored.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Puts together what has been gathered and not been handed out.
    pub fn finish(mut self) -> Collected {
        for (segment, known) in &mut self.segments {
            self.settled.extend(std::iter::from_fn(|| known.hand_out(*segment)));
        }
        self.note_problems();
        Collected {
            intervals: self.settled,
            problems: self.problems,
            frames: self.frames,
            foreign: self.foreign,
            duplicates: self.duplicates,
        }
    }

    fn note_problems(&mut self) {
        for Interval { segment, number, void, doubts, .. } in &self.settled {
            let (segment, interval) = (*segment, *number);
            let void = void.iter().map(|reason| Problem::Void { segment, interval, reason: reason.clone() });
            let doubts = doubts.iter().map(|&doubt| Problem::Doubt { segment, interval, doubt });
            self.problems.extend(void.chain(doubts));
        }
    }
}

/// How a frame's interval stands to those that have been handed out.
enum Age {
    /// It has not been handed out.
    Due,
    /// It has.
    Late,
    /// Interval numbers have started over.
    Restarted,
}

impl Segment {
    fn age(&self, common: &Header) -> Age {
        match self.recent.back() {
            Some((last, _)) if common.interval <= *last => {}
            _ => return Age::Due,
        }
        let same = self.recent.iter().find(|(number, _)| *number == common.interval);
        match same.map(|(_, ends)| ends[common.role as usize]) {
            Some(None) => Age::Late,
            Some(Some(known)) if known == *common => Age::Late,
            _ => Age::Restarted,
        }
    }

    /// Whether nothing more is to be expected of the first pending interval.
    fn is_first_settled(&self) -> bool {
        let mut pending = self.pending.values();
        let Some(first) = pending.next() else { return false };
        let is_over = |role: usize| {
            let is_whole = first[role].as_ref().is_some_and(Assembly::is_whole);
            is_whole || pending.clone().any(|later| later[role].is_some())
        };
        pending.len() >= LAG || (is_over(0) && is_over(1))
    }

    /// Judges the first pending interval.
    fn hand_out(&mut self, segment: u32) -> Option<Interval> {
        let (number, ends) = self.pending.pop_first()?;
        if self.recent.len() == LAG {
            self.recent.pop_front();
        }
        self.recent.push_back((number, ends.each_ref().map(|end| Some(end.as_ref()?.common))));

        let [sender, receiver] = &ends;
        let contradiction =
            [(Role::Sender, sender), (Role::Receiver, receiver)].iter().find_map(|(role, end)| {
                let (frame, field) = end.as_ref()?.contradiction?;
                Some(Void::Contradiction { role: *role, frame, field })
            });
        let [sender, receiver] = ends.map(|end| end.map(Assembly::into_report));
        let shift = self.refused.follow(sender.as_ref(), receiver.as_ref());
        let void = contradiction.or_else(|| void(sender.as_ref(), receiver.as_ref())).or(shift);
        let doubts = match (&sender, &receiver) {
            (Some(sender), Some(receiver)) if void.is_none() => doubts(sender, receiver),
            _ => vec![],
        };
        Some(Interval { segment, number, sender, receiver, void, doubts })
    }
}

/// How many VLAN tags stand before a control frame's EtherType; none if that is not what follows.
fn tags_before_control(bytes: &[u8]) -> Option<usize> {
    for tags in 0..=MAX_VLAN_TAGS {
        let at = 12 + 4 * tags;
        match bytes.get(at..at + 2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])) {
            Some(ETHERTYPE) => return Some(tags),
            // IEEE 802.1Q, 802.1ad and the number that was used before 802.1ad.
            Some(0x8100 | 0x88a8 | 0x9100) => {}
            _ => return None,
        }
    }
    None
}

/// What two headers of one interval differ in.
fn difference(first: &Header, second: &Header) -> &'static str {
    if first.configuration != second.configuration {
        "configuration digest"
    } else if first.shape != second.shape {
        "rows and banks"
    } else {
        "totals"
    }
}

impl Assembly {
    fn is_whole(&self) -> bool {
        self.fragments.len() == usize::from(self.common.fragments)
    }

    fn into_report(self) -> Report {
        let Assembly { common, table, fragments, .. } = self;
        let missing: Vec<u16> =
            (0..common.fragments).filter(|index| !fragments.contains_key(index)).collect();
        Report {
            totals: common.totals,
            digest: common.configuration,
            prefixes: table.prefixes,
            rows: table.rows,
            fragments: common.fragments,
            digests: table.has_digests,
            cells: if missing.is_empty() { fragments.into_values().flatten().collect() } else { vec![] },
            missing,
        }
    }
}

impl Report {
    fn table(&self) -> Table {
        Table { rows: self.rows, prefixes: self.prefixes }
    }
}

/// Why two reports must not be compared, but for refused interval ends.
fn void(sender: Option<&Report>, receiver: Option<&Report>) -> Option<Void> {
    if let (Some(sender), Some(receiver)) = (sender, receiver) {
        // Equal digests of tables of different size are no chance but a forgery; the cells could not be compared.
        let size = |end: &Report| (end.rows, end.prefixes.banks());
        if sender.digest != receiver.digest || size(sender) != size(receiver) {
            return Some(Void::ConfigurationMismatch {
                sender: sender.digest,
                receiver: receiver.digest,
                sender_table: sender.table(),
                receiver_table: receiver.table(),
            });
        }
    }
    let ends = [(Role::Sender, sender), (Role::Receiver, receiver)];
    let present = || ends.iter().filter_map(|(role, end)| Some((*role, (*end)?)));
    if let Some((role, end)) = present().find(|(_, end)| !end.missing.is_empty()) {
        return Some(Void::LostFragments { role, missing: end.missing.clone(), of: end.fragments });
    }
    if let Some((role, _)) = ends.iter().find(|(_, end)| end.is_none()) {
        return Some(Void::MissingEnd { role: *role });
    }
    if let Some((role, _)) = present().find(|(_, end)| end.totals.flags.timed) {
        return Some(Void::TimedCut { role });
    }
    if let Some((role, _)) = present().find(|(_, end)| end.totals.flags.gap) {
        return Some(Void::LostDelimiter { role });
    }
    // Behind what may be the cause: an end that missed a delimiter changes its lengths late.
    if let (Some(sender), Some(receiver)) = (sender, receiver)
        && sender.prefixes != receiver.prefixes
    {
        return Some(Void::DifferentSampling { sender: sender.table(), receiver: receiver.table() });
    }
    let (role, _) = present().find(|(_, end)| end.totals.flags.saturated)?;
    Some(Void::Saturated { role })
}

fn doubts(sender: &Report, receiver: &Report) -> Vec<Doubt> {
    let mut doubts = vec![];
    for (role, end) in [(Role::Sender, sender), (Role::Receiver, receiver)] {
        if end.totals.flags.clock {
            doubts.push(Doubt::ClockUnlocked { role });
        }
    }
    let refused = sender.totals.refused_ends;
    if refused > 0 {
        doubts.push(Doubt::Overrun { refused });
    }
    doubts
}

/// Interval ends that the two ends of a segment have refused so far.
#[derive(Clone, Debug, Default)]
struct Refused {
    sender: u64,
    receiver: u64,
    /// A count was at its limit, so that the true one is unknown from there on.
    is_unknown: bool,
}

impl Refused {
    /// Adds an interval's refusals; tells whether they make it void.
    fn follow(&mut self, sender: Option<&Report>, receiver: Option<&Report>) -> Option<Void> {
        let began_together = self.sender == self.receiver;
        for (end, sum) in [(sender, &mut self.sender), (receiver, &mut self.receiver)] {
            // Behind a delimiter that was refused, the next one brings its number: the ends are together again, and the
            // interval in between has a gap.
            let refused = end.filter(|end| !end.totals.flags.gap).map_or(0, |end| end.totals.refused_ends);
            *sum = sum.saturating_add(refused.into());
            self.is_unknown |= refused == u16::MAX;
        }
        let is_sound = began_together && self.sender == self.receiver && !self.is_unknown;
        (!is_sound).then_some(Void::RefusedEnds { sender: self.sender, receiver: self.receiver })
    }
}

impl Interval {
    /// The two reports, if they may be compared.
    ///
    /// # Errors
    ///
    /// Why they may not.
    pub fn pair(&self) -> Result<Pair<'_>, Void> {
        match (&self.sender, &self.receiver, &self.void) {
            (_, _, Some(void)) => Err(void.clone()),
            (Some(sender), Some(receiver), None) => Ok(Pair { sender, receiver }),
            (None, _, None) => Err(Void::MissingEnd { role: Role::Sender }),
            (_, None, None) => Err(Void::MissingEnd { role: Role::Receiver }),
        }
    }
}

/// How the two ends' rows compare, rows that are empty at both ends left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Rows with as many packets at either end and, with digests, the same ones.
    pub equal: usize,
    /// Rows with as many packets at either end that are not the same by their digests.
    pub foreign: usize,
    /// Rows with fewer packets at the receiver, as loss makes them.
    pub short: usize,
    /// Rows with more packets at the receiver, as only foreign or repeated packets make them.
    pub surplus: usize,
    /// The largest magnitude of an equal row's sum of delays in nanoseconds, up to 2^39. From [`SUM_NEAR_WRAP`] on,
    /// sums may have wrapped.
    pub largest_sum: u64,
    /// By how much at least both the first and the last packet are later at one and the same end, in nanoseconds, up to
    /// 2^47: times are known modulo 2^48. From [`CLOCKS_TOO_FAR`] on, sums have wrapped, small as they may look.
    pub apart: u64,
}

impl Pair<'_> {
    /// Compares the two ends' rows.
    pub fn rows(&self) -> Rows {
        let mut rows = Rows { apart: self.apart(), ..Rows::default() };
        for (sender, receiver) in self.sender.cells.iter().zip(&self.receiver.cells) {
            match receiver.count.cmp(&sender.count) {
                _ if sender.count == 0 && receiver.count == 0 => {}
                Ordering::Less => rows.short += 1,
                Ordering::Greater => rows.surplus += 1,
                Ordering::Equal if !sender.agrees(receiver) => rows.foreign += 1,
                Ordering::Equal => {
                    rows.equal += 1;
                    rows.largest_sum = rows.largest_sum.max(sender.delay_sum(receiver).unsigned_abs());
                }
            }
        }
        rows
    }

    /// The smaller one of what lies between the ends' first packets and between their last ones.
    fn apart(&self) -> u64 {
        let (sent, received) = (self.sender.totals, self.receiver.totals);
        if sent.packets == 0 || received.packets == 0 {
            return 0;
        }
        let first = received.first.nanoseconds_since(sent.first);
        let last = received.last.nanoseconds_since(sent.last);
        if (first < 0) == (last < 0) { first.unsigned_abs().min(last.unsigned_abs()) } else { 0 }
    }
}

impl Rows {
    /// Whether the ends seem to have seen different packets, not the same ones with some lost.
    ///
    /// Loss alone leaves no row with a surplus. In two unrelated streams a row's surplus is as likely to be zero as
    /// to be one more or one less, so that rows with a surplus and rows that fall short are each at least about as
    /// many as those that are equal by chance. Half as many, and more than [`FEW_ROWS`], are taken for a proof.
    /// Digests tell equal counts of other packets apart, which speak for it as well.
    pub fn are_unrelated(&self) -> bool {
        let uneven = self.short.min(self.surplus) + self.foreign;
        uneven > FEW_ROWS && uneven > self.equal / 2
    }
}

/// As many rows with a surplus prove nothing: they may come from a few repeated packets.
pub const FEW_ROWS: usize = 4;

#[cfg(test)]
mod tests;
