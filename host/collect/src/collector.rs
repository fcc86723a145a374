//! Control frames: out of a capture, together into intervals, and the two ends' intervals into pairs.
//!
//! [`Collector::push`] takes every frame of a management port; [`Collector::finish`] says what came of it: per
//! interval what each end reported, and whether the two reports are *usable*, that is, whether they are whole and
//! speak of the same packets. If not, [`Void`] says why and what to do about it (LDA paper, section V: "loss of
//! control packets translates into a measurement interval being ignored").
//!
//! A recording may be pushed in any order and finished. Of a live source, [`Collector::take_settled`] hands out each
//! interval as soon as nothing more is to be expected of it: both ends have begun the next one, or are whole since the
//! [grace](Limits::grace) and as long again as the interval took, or one is and the other has been [absent](Limits::absence) for as long, or [`LAG`] later intervals have begun, or its
//! [time](Limits::patience) is over.
//!
//! A frame belongs to its (segment, interval, role). All that follows rests on the bytes of control frames alone.
//!
//! ```
//! use deltaline_collect::collector::Collector;
//! use deltaline_collect::evaluation::Evaluation;
//! use deltaline_collect::summary::Summary;
//! use deltaline_model::configuration::{Configuration, Settings};
//! use deltaline_model::point::{IntervalEnd, MeasurementPoint};
//! use deltaline_model::time::Timestamp;
//! use deltaline_model::wire::frame::Role;
//!
//! // Two points see a thousand packets, 10 µs apart, 2 µs from one to the other.
//! let configuration = Configuration::new(Settings { rows: 64, prefixes: &[0], ..Settings::default() })?;
//! let mut collector = Collector::default();
//! for (role, delay) in [(Role::Sender, 0), (Role::Receiver, 2_000)] {
//!     let mut point = MeasurementPoint::new(&configuration, role);
//!     for number in 0..1_000_u64 {
//!         // An IPv4 header, and the number as UDP payload.
//!         let mut packet = [0; 50];
//!         packet[12..18].copy_from_slice(&[0x08, 0x00, 0x45, 0, 0, 36]);
//!         packet[23] = 17;
//!         packet[42..].copy_from_slice(&number.to_be_bytes());
//!         point.observe(&packet, Timestamp::from_nanoseconds(10_007 * number + delay));
//!     }
//!     point.end_interval(IntervalEnd::Delimiter, |frame| collector.push(frame));
//! }
//!
//! let collected = collector.finish();
//! assert_eq!(collected.problems, []);
//! let evaluations: Vec<Evaluation> = Evaluation::all(&collected).collect();
//! let summary = Summary::of(&evaluations);
//! let mean = summary.overall.find("mean").and_then(|mean| mean.value.ok());
//! assert_eq!(mean.map(|mean| mean.to_f64()), Some(2_000.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Frames that nobody vouches for
//!
//! ```text
//!             number near the segment's others            both ends have it, or one end
//!  frame ──┬───────────────────────────────► pending ◄──── has it and a neighbour ───┐
//!          │                                    │                                    │
//!          │ far, or of a segment unknown       ▼ in order, each once                │
//!          └──────────────────────────────► quarantine ──────────────────────────────┘
//!                                               │ too old, or no room
//!                                               ▼ counted
//! ```
//!
//! * Numbers count modulo 2^32 (RFC 1982). One more than [`LAG`] ahead of a segment's newest, or behind what has been handed
//!   out, waits in quarantine until a second frame agrees. What agrees is a jump ahead or, behind, a restart: what
//!   is pending is handed out, and the segment goes on from there. Two forged frames can do that, and do it again; only
//!   [keys](Collector::authenticated_by) keep them from it.
//! * An end that reports two tables under one number has been given a delimiter twice: its interval is void, and the next one. So
//!   is the next one, if the first table has been handed out already. An interval is also void if an end ignored
//!   delimiters in it or in the next one, as far as that has come.
//! * (boot epoch, interval) rises in each role. Frames of an older epoch than two whole ends have had together, or of one
//!   that is counted and an interval that has been handed out, are replays. When one end's later epoch restarts
//!   a segment, the other end goes on in the epoch that it has: without keys. With keys, live, no number comes again in
//!   an epoch, whatever the other end does: a point signs whatever number its delimiters have, and what it signed before
//!   they started over would pass for new.
//!   With keys, recordings hold no earlier start behind a later one of the same end either.
//! * With keys, in the order of their file, no key is used in a segment behind a newer one, nor beside it: the interval is void.
//! * Of segments, pending intervals and bytes there are at most as many as [`Limits`] say. No state is kept by
//!   point. To make room, the oldest of what is in quarantine goes first; to make room for a segment, one of which nothing has come for
//!   a [long time](Limits::silence). A frame takes the same work however many are kept, but for the
//!   depth of trees.
//!
//! # Limits
//!
//! * Interval numbers that start over contradict the earlier ones where a recording is finished as a whole: one recording for
//!   one run. Live, they are followed. A restart from a number above 2^31 looks like a jump ahead.
//! * A forged delimiter that is early at one end is shown by the points' counts of ignored delimiters, in the next interval; so the
//!   interval waits for that one. If all frames of an end's next one are lost or held back, or intervals take a minute and more, it is handed out
//!   before. Keys at software points help.
//!
//! # Test plan
//!
//! Two measurement points' own frames survive the way, in any order, in VLAN tags, among foreign frames. Each
//! [`Void`] and [`Doubt`] by hand. Frames dropped, repeated, corrupted and shuffled at random: no panic, and every
//! pair that is usable equals what the points held. Live: each interval at its last frame and not before; the same
//! intervals as finished, whatever is lost; a silent end, late frames and restarts.
//!
//! Hostile (`hostile.rs`): one far number at every place, delimiters repeated at one end, replays of epochs, 100,000
//! forged segments in bounded memory and linear work, 10,000 forged, altered, repeated and delayed frames around wraps.

use crate::pair::Interval;
use crate::verdict::{self, Doubt, Expected, Void};
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::identity::MAX_VLAN_TAGS;
use deltaline_model::wire::authentication::{Keys, Unauthentic};
use deltaline_model::wire::frame::{ETHERTYPE, Frame, FrameError, Header, Role};
use entry::{Came, ENTRY_BYTES, Entry, Taken, most_bytes};
pub use limits::{Allowed, Limits};
pub use passed::{End, Passed};
use quarantine::Quarantine;
use segment::{HandedOut, Place, SEGMENT_BYTES, Segment};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use thiserror::Error;

mod entry;
mod limits;
mod passed;
mod quarantine;
mod segment;

/// Later intervals at which a live interval is no longer waited for, and the furthest that an interval's number may be ahead
/// of its segment's others without being confirmed.
pub const LAG: usize = 4;

/// Problems that are kept by name until they are taken; further ones are counted.
pub const MOST_PROBLEMS: usize = 1000;

/// So many replayed control frames of a segment in a row, and no interval, are spoken of.
pub const MANY_REPLAYED: u64 = 64;

/// Gathers control frames.
#[derive(Clone, Debug, Default)]
pub struct Collector {
    expected: Option<Expected>,
    keys: Option<Keys>,
    limits: Limits,
    allowed: Allowed,
    now: Duration,
    /// What is settled has been asked for: frames come in about the order of their sending.
    is_live: bool,
    counts: Counts,
    problems: Vec<Problem>,
    segments: BTreeMap<u32, Segment>,
    quarantine: Quarantine,
    /// All segments by when their last frame came.
    silent: BTreeSet<(Duration, u32)>,
    /// Segments that have made room for others.
    forgotten: Vec<u32>,
    /// Segments of which frames came that have not been looked at since.
    touched: BTreeSet<u32>,
    /// When which segment's interval of which number is to be looked at again.
    timers: BTreeSet<(Duration, u32, u32)>,
    settled: Vec<Interval>,
    /// Numbers have started over behind what is settled.
    is_parted: bool,
    /// What all pending intervals take, and those in `settled`.
    bytes: usize,
    settled_bytes: usize,
    work: u64,
    untagged: Vec<u8>,
    /// When the frames that come now were captured.
    captured: Option<u64>,
}

/// What became of frames, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All frames.
    pub frames: u64,
    /// Those of other EtherTypes, and delimiters.
    pub foreign: u64,
    /// Those that are no control frame of this release, or say what no point says.
    pub corrupted: u64,
    /// Control frames without a right tag, where keys are given.
    pub unauthentic: u64,
    /// Those of segments, points and configurations that are not [`Allowed`].
    pub unlisted: u64,
    /// Those that had arrived before, byte for byte, and were ignored.
    pub duplicates: u64,
    /// Those of intervals that had been handed out already.
    pub late: u64,
    /// Those of a boot epoch, or of an interval in it, that is older than what its end has reported.
    pub replayed: u64,
    /// Those whose intervals' numbers were far from all others, and were never confirmed.
    pub stray: u64,
    /// Those whose intervals' numbers still waited to be confirmed in the end.
    pub unconfirmed: u64,
    /// Those for which there was no room within the [`Limits`].
    pub beyond: u64,
    /// Problems that are not named, because there are more than [`MOST_PROBLEMS`].
    pub unnamed: u64,
    /// How often a segment's interval numbers have started over.
    pub restarts: u64,
    /// Intervals that lacked control frames when a live source was left: these may have been under way.
    pub under_way: u64,
}

/// What came of a capture's frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// All intervals, by ascending segment, and in it in the order of their numbers.
    pub intervals: Vec<Interval>,
    /// What is not as it should be, the capture's frames first, as far as it is kept by name.
    pub problems: Vec<Problem>,
    /// What became of the frames.
    pub counts: Counts,
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
    /// A control frame has no right tag, and keys are given.
    #[error("frame {frame}: {reason}; it is left out")]
    Unauthentic {
        /// The frame, counted from 1.
        frame: u64,
        /// Why it is not believed.
        reason: Unauthentic,
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
    /// An end reports numbers that it has passed in the same start, where its frames are signed.
    #[error(
        "segment {segment}: the {role} reports intervals again of the same start, which has come to {passed}: they are left out, for nothing \
         tells them from old frames that somebody sends again. If what sends delimiters has started over, give the point a new boot \
         epoch, or start `deltaline delimit` with --first above {passed}"
    )]
    Again {
        /// Number of the segment.
        segment: u32,
        /// The end.
        role: Role,
        /// The highest number that its start has come to.
        passed: u32,
    },
    /// Nothing has come of a segment but old frames, so many since its last interval.
    #[error(
        "segment {segment}: its last {frames} control frames were all older than what their points have reported: either somebody sends old \
         frames again, or has done so and the points' own pass for old ones since; if intervals are missing, start both points and `read` again"
    )]
    Starved {
        /// Number of the segment.
        segment: u32,
        /// How many.
        frames: u64,
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

impl Collector {
    /// Takes intervals of this configuration only; those of another one are void.
    pub fn expecting(configuration: &Configuration) -> Self {
        Collector { expected: Some(Expected::new(configuration)), ..Collector::default() }
    }

    /// Takes only control frames that one of these keys has signed; others are counted and ignored.
    pub fn authenticated_by(self, keys: Keys) -> Self {
        Collector { keys: Some(keys), ..self }
    }

    /// Whether it takes signed control frames alone.
    pub fn wants_signed(&self) -> bool {
        self.keys.is_some()
    }

    /// Goes on from what a live source's segments, by their numbers, had come to when it was read before: earlier frames are replays. Without
    /// keys nobody vouches for that, and it begins anew.
    pub fn behind(mut self, passed: &BTreeMap<u32, Passed>) -> Self {
        if !self.wants_signed() {
            return self;
        }
        self.is_live = true;
        for (&segment, passed) in passed.iter().take(self.limits.segments) {
            if self.make_room(SEGMENT_BYTES)
                && self.segments.insert(segment, Segment::behind(passed, self.now)).is_none()
            {
                self.bytes += SEGMENT_BYTES;
                self.silent.insert((self.now, segment));
            }
        }
        self
    }

    /// Keeps no more than this.
    pub fn within(self, limits: Limits) -> Self {
        Collector { limits, ..self }
    }

    /// The same, but no interval is handed out because one end is [absent](Limits::absence): of recordings, whose times may be those of several
    /// clocks.
    pub fn waiting_for_ends(self) -> Self {
        Collector { limits: Limits { absence: Duration::MAX, ..self.limits }, ..self }
    }

    /// Takes the frames of these alone; others are counted.
    pub fn allowing(self, allowed: Allowed) -> Self {
        Collector { allowed, ..self }
    }

    /// Says how late it is, by any clock; one that goes back stands still until it is on again. Nothing ages as long as nobody
    /// says so.
    pub fn advance(&mut self, now: Duration) {
        self.now = self.now.max(now);
    }

    /// Says when the frames that follow were captured, in nanoseconds since the Unix epoch: those of an interval's two ends should not be far apart.
    pub fn captured(&mut self, time: u64) {
        self.captured = Some(time);
    }

    /// Takes a frame of any EtherType, from its destination MAC address on, behind at most two VLAN tags.
    pub fn push(&mut self, bytes: &[u8]) {
        self.counts.frames += 1;
        let Some(tags) = tags_before_control(bytes) else {
            self.counts.foreign += 1;
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
        let decoded = Frame::decode(bytes);
        if let (Ok(_) | Err(FrameError::Kind(_)), Some(keys)) = (&decoded, &self.keys)
            && let Err(reason) = keys.check(bytes)
        {
            self.counts.unauthentic += 1;
            return self.note(Problem::Unauthentic { frame: self.counts.frames, reason });
        }
        let taken = match decoded {
            Ok(frame) => self.gather(&frame.header, frame.blocks()),
            // A later release's tables: their totals are right, and so is the loss.
            Err(FrameError::Kind(header)) => self.gather(&header, &[]),
            // Delimiters pass in-band as control frames do, and say nothing that control frames do not.
            Err(FrameError::Delimiter) => {
                self.counts.foreign += 1;
                return;
            }
            Err(error) => Err(error),
        };
        if let Err(error) = taken {
            self.counts.corrupted += 1;
            self.note(Problem::Corrupted { frame: self.counts.frames, error });
        }
    }

    fn gather(&mut self, header: &Header, blocks: &[u8]) -> Result<(), FrameError> {
        verdict::check(header)?;
        let segment = header.segment;
        if !self.allowed.allows(header) {
            self.counts.unlisted += 1;
            return Ok(());
        }
        let must_rise = self.vouches_for_order();
        match self.segments.get_mut(&segment).map_or(Place::Far, |known| known.place(header, must_rise)) {
            Place::Late => self.counts.late += 1,
            Place::Replayed => self.leave_out_replayed(segment),
            Place::Again => self.leave_out_again(header),
            _ if !self.make_room(most_bytes(blocks.len())) => self.counts.beyond += 1,
            Place::Due => self.take_due(header, blocks),
            Place::Far => self.take_far(header, blocks),
        }
        Ok(())
    }

    /// Live, and with keys, (boot epoch, interval) rises in each role, or a frame is a replay. A recording's frames may come in any order,
    /// and without keys anybody may say anything.
    fn vouches_for_order(&self) -> bool {
        self.is_live && self.keys.is_some()
    }

    /// A frame that is older than what its end has reported. Frames that are replayed may have higher numbers than those that are due, which
    /// then pass for old ones themselves: it is said of a segment that gets nothing else for long. A recording hands out nothing before its end.
    fn leave_out_replayed(&mut self, segment: u32) {
        self.counts.replayed += 1;
        if self.is_live && self.segments.get_mut(&segment).is_some_and(Segment::say_starved) {
            self.note(Problem::Starved { segment, frames: MANY_REPLAYED });
        }
    }

    /// A frame of a number that its end has passed in this boot epoch: a replay, or what sends delimiters has started over.
    fn leave_out_again(&mut self, header: &Header) {
        let Header { segment, role, .. } = *header;
        self.leave_out_replayed(segment);
        let passed = self.segments.get_mut(&segment).and_then(|known| known.say_again(role));
        if let Some(passed) = passed {
            self.note(Problem::Again { segment, role, passed });
        }
    }

    /// Gives up the oldest of the intervals that nothing confirms, until there is room for so many bytes.
    fn make_room(&mut self, bytes: usize) -> bool {
        while self.bytes + bytes > self.limits.bytes {
            let Some(oldest) = self.quarantine.pop_oldest() else { return false };
            self.give_up(&oldest);
        }
        true
    }

    /// Forgets the segment of which nothing has come for longest, if it is long enough and there are as many as are followed.
    fn make_room_for_segment(&mut self) -> bool {
        if self.segments.len() >= self.limits.segments {
            let silence = self.limits.silence;
            let is_over =
                |(heard, _): &&(Duration, u32)| self.is_live && heard.saturating_add(silence) <= self.now;
            let Some(&(_, segment)) = self.silent.first().filter(is_over) else { return false };
            self.hand_out_all(segment);
            self.silent.pop_first();
            self.segments.remove(&segment);
            self.bytes -= SEGMENT_BYTES;
            self.forgotten.push(segment);
        }
        self.make_room(SEGMENT_BYTES)
    }

    fn give_up(&mut self, entry: &Entry) {
        self.work += 1;
        self.bytes -= entry.bytes;
        self.counts.stray += entry.frames();
    }

    /// A frame of a number that is due.
    fn take_due(&mut self, header: &Header, blocks: &[u8]) {
        let Header { segment, interval, .. } = *header;
        let (now, frame) = (self.now, self.counts.frames);
        let came = Came { now, captured: self.captured };
        let Some(known) = self.segments.get_mut(&segment) else { return };
        let is_new = known.get(interval).is_none();
        if is_new && known.pending() >= self.limits.pending {
            self.counts.beyond += 1;
            return;
        }
        self.silent.remove(&(known.heard, segment));
        known.heard = now;
        self.silent.insert((now, segment));
        self.touched.insert(segment);
        if is_new {
            let is_newest = known.insert(interval, Entry::new(frame, now));
            self.bytes += ENTRY_BYTES;
            if is_newest {
                self.absorb(segment);
            }
        }
        let Some(entry) = self.segments.get_mut(&segment).and_then(|known| known.get(interval)) else {
            return;
        };
        let taken = entry.take(frame, came, header, blocks);
        self.raise_epochs(segment, [(header.role as usize, header.boot_epoch)]);
        self.set_timer(segment, interval);
        self.count(taken, header);
    }

    /// Sets when a pending interval is to be looked at again.
    fn set_timer(&mut self, segment: u32, number: u32) {
        let Some(known) = self.segments.get_mut(&segment) else { return };
        let before = known.whole;
        let Some(entry) = known.get(number) else { return };
        self.timers.remove(&(entry.due, segment, number));
        entry.due = entry.next_look(self.now, &self.limits, before);
        self.timers.insert((entry.due, segment, number));
    }

    /// A frame of a segment's first numbers, or of one far from the others.
    fn take_far(&mut self, header: &Header, blocks: &[u8]) {
        let name = (header.segment, header.interval);
        let (now, frame) = (self.now, self.counts.frames);
        let came = Came { now, captured: self.captured };
        let before = self.quarantine.len();
        let entry = self.quarantine.entry(name, || Entry::new(frame, now));
        let taken = entry.take(frame, came, header, blocks);
        if self.quarantine.len() > before {
            self.bytes += ENTRY_BYTES;
        }
        self.count(taken, header);
        if self.quarantine.is_confirmed(name, header.role as usize) {
            self.confirm(name);
        }
    }

    fn count(&mut self, taken: Taken, header: &Header) {
        let Header { segment, interval, role, fragment, .. } = *header;
        match taken {
            Taken::New(bytes) => self.bytes += bytes,
            Taken::Duplicate => {
                self.counts.duplicates += 1;
                let frame = self.counts.frames;
                self.note(Problem::Duplicate { frame, segment, interval, role, fragment });
            }
            Taken::Contradiction => {}
        }
    }

    /// Makes what waited for its neighbours due.
    fn absorb(&mut self, segment: u32) {
        let Some(known) = self.segments.get_mut(&segment) else { return };
        while known.pending() < self.limits.pending {
            self.work += 1;
            let Some((number, mut entry)) = self.quarantine.take_near(segment, known.newest(), 1) else {
                return;
            };
            entry.due = entry.next_look(self.now, &self.limits, known.whole);
            self.timers.insert((entry.due, segment, number));
            known.insert(number, entry);
        }
    }

    /// A number has been confirmed, and with it those around it: the segment goes on from there.
    fn confirm(&mut self, (segment, number): (u32, u32)) {
        let (mut first, mut newest) = (number, number);
        let mut found: Vec<(u32, Entry)> =
            self.quarantine.remove((segment, number)).map(|entry| (number, entry)).into_iter().collect();
        while let Some((before, entry)) = self.quarantine.take_near(segment, first, u32::MAX) {
            first = before;
            found.push((before, entry));
        }
        while let Some((behind, entry)) = self.quarantine.take_near(segment, newest, 1) {
            newest = behind;
            found.push((behind, entry));
        }
        let is_in_order =
            !self.is_live && self.segments.get(&segment).is_some_and(|known| !known.has_handed_out());
        if is_in_order {
            // Of a recording, which comes in any order: all numbers between these and the others are due.
            let joined = self.segments.get(&segment).and_then(|known| known.joined(first, newest));
            let Some((begin, end)) = joined else {
                found.iter().for_each(|(_, entry)| self.give_up(entry));
                return;
            };
            found.extend(self.quarantine.take_between(segment, begin, end));
            if let Some(known) = self.segments.get_mut(&segment) {
                known.widen((begin, end));
            }
        } else if self.segments.contains_key(&segment) {
            self.hand_out_all(segment);
        } else if !self.make_room_for_segment() {
            return self.leave_out(found);
        }
        let room =
            self.limits.pending.saturating_sub(self.segments.get(&segment).map_or(0, Segment::pending));
        self.leave_out(found.split_off(room.min(found.len())));
        self.work += found.len() as u64;
        self.touched.insert(segment);
        let mut epochs = vec![];
        for (number, entry) in &mut found {
            entry.due = entry.next_look(self.now, &self.limits, [None; 2]);
            self.timers.insert((entry.due, segment, *number));
            epochs.extend(entry.reported_epochs());
        }
        match self.segments.get_mut(&segment) {
            Some(known) if is_in_order => found.into_iter().for_each(|(number, entry)| {
                known.insert(number, entry);
            }),
            Some(known) => {
                if known.jump(first, newest, found.into_iter().collect()) {
                    self.counts.restarts += 1;
                    self.is_parted = true;
                }
            }
            None => {
                self.bytes += SEGMENT_BYTES;
                let pending = found.into_iter().collect();
                self.segments.insert(segment, Segment::new(first, newest, pending, self.now));
                self.silent.insert((self.now, segment));
            }
        }
        self.raise_epochs(segment, epochs);
    }

    /// An end's frame shows that it has started as often as it says, where that is signed: frames of earlier starts that come behind it are
    /// replays, of a recording as well, where each end's frames come in the order of its starts.
    fn raise_epochs(&mut self, segment: u32, epochs: impl IntoIterator<Item = (usize, u32)>) {
        if self.keys.is_none() {
            return;
        }
        if let Some(known) = self.segments.get_mut(&segment) {
            epochs.into_iter().for_each(|(role, epoch)| known.reports_in(role, epoch));
        }
    }

    /// There is no room for these.
    fn leave_out(&mut self, entries: Vec<(u32, Entry)>) {
        for (_, entry) in entries {
            self.work += 1;
            self.bytes -= entry.bytes;
            self.counts.beyond += entry.frames();
        }
    }

    /// The intervals of which nothing more is expected, in each segment in the order of their numbers; each is handed out once.
    ///
    /// To be called behind every frame of a live source, and now and then where none comes. Where numbers start over, what
    /// was pending comes alone, and what is behind it with the next call.
    pub fn take_settled(&mut self) -> Vec<Interval> {
        self.is_live = true;
        if !std::mem::take(&mut self.is_parted) {
            for segment in std::mem::take(&mut self.touched) {
                self.settle(segment);
            }
            self.look_at_clock();
        }
        self.note_judgements();
        self.bytes -= std::mem::take(&mut self.settled_bytes);
        std::mem::take(&mut self.settled)
    }

    /// What is settled, and what is whole and would be held back for longer, with a [doubt](Doubt::Unconfirmed), and all in front of it: of a live source
    /// that is left. What nothing has confirmed is counted, and so are the intervals behind, which lack frames that may be under way.
    pub fn take_whole(&mut self) -> Vec<Interval> {
        let mut taken = self.take_settled();
        // What is behind a restart comes with the second call.
        taken.extend(self.take_settled());
        for segment in self.segments.keys().copied().collect::<Vec<_>>() {
            while let Some(first) = self.segments.get(&segment).and_then(Segment::first_up_to_whole) {
                self.hand_out(segment, first, false);
            }
        }
        self.counts.under_way = self.segments.values().map(|segment| segment.pending() as u64).sum();
        self.note_judgements();
        self.bytes -= std::mem::take(&mut self.settled_bytes);
        taken.append(&mut self.settled);
        while let Some(left) = self.quarantine.pop_oldest() {
            self.bytes -= left.bytes;
            self.counts.unconfirmed += left.frames();
        }
        taken
    }

    /// Hands out what is settled of a segment.
    fn settle(&mut self, segment: u32) {
        let (now, limits) = (self.now, self.limits);
        while let Some(known) = self.segments.get(&segment)
            && let Some(first) = known.first()
        {
            self.work += 1;
            if !known.is_settled(first, now, &limits) {
                return self.set_timer(segment, first);
            }
            self.hand_out(segment, first, true);
        }
    }

    /// Looks at intervals whose time has come.
    fn look_at_clock(&mut self) {
        let (now, patience) = (self.now, self.limits.patience);
        while let Some(&(due, segment, number)) = self.timers.first().filter(|(due, ..)| *due <= now) {
            self.work += 1;
            self.timers.remove(&(due, segment, number));
            let Some(entry) = self.segments.get_mut(&segment).and_then(|known| known.get(number)) else {
                continue;
            };
            if entry.since.saturating_add(patience) > now {
                self.set_timer(segment, number);
                self.settle(segment);
                continue;
            }
            // Nothing more is expected of it, and so of none before it.
            while let Some(first) = self.segments.get(&segment).and_then(Segment::first) {
                self.hand_out(segment, first, true);
                if first == number {
                    break;
                }
            }
            self.settle(segment);
        }
        while self.quarantine.oldest().is_some_and(|oldest| oldest.since.saturating_add(patience) <= now) {
            if let Some(oldest) = self.quarantine.pop_oldest() {
                self.give_up(&oldest);
            }
        }
    }

    /// Hands out the first pending interval of a segment, which has this number, and may be the last one.
    fn hand_out(&mut self, segment: u32, number: u32, is_last: bool) {
        let Some(known) = self.segments.get_mut(&segment) else { return };
        let Some(HandedOut { interval, due, bytes }) =
            known.hand_out(segment, number, self.expected, self.keys.as_ref(), is_last)
        else {
            return;
        };
        self.work += 1;
        self.timers.remove(&(due, segment, number));
        self.settled_bytes += bytes;
        self.settled.push(interval);
    }

    fn hand_out_all(&mut self, segment: u32) {
        while let Some(first) = self.segments.get(&segment).and_then(Segment::first) {
            self.hand_out(segment, first, true);
        }
    }

    /// A source has begun anew, as after a reset: nothing more is expected of any interval.
    pub fn restart_all(&mut self) {
        for segment in self.segments.keys().copied().collect::<Vec<_>>() {
            self.hand_out_all(segment);
            self.counts.restarts += 1;
        }
        // A board's word is not signed: it makes no old frame new.
        if !self.vouches_for_order() {
            self.bytes -= SEGMENT_BYTES * self.segments.len();
            self.segments.clear();
            self.silent.clear();
        }
        while let Some(oldest) = self.quarantine.pop_oldest() {
            self.give_up(&oldest);
        }
    }

    /// The segments that were forgotten since the last call, to make room for others; what comes of them again is as if nothing had come
    /// before.
    pub fn take_forgotten(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.forgotten)
    }

    /// What is not as it should be, since the last call.
    pub fn take_problems(&mut self) -> Vec<Problem> {
        std::mem::take(&mut self.problems)
    }

    /// What became of all frames so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// What is kept, in bytes: at most as many as the [`Limits`] say, and what lies in the memory's own gaps.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Intervals looked at so far: what the work grows with, whatever machine does it.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Puts together what has been gathered and not been handed out.
    pub fn finish(mut self) -> Collected {
        for segment in self.segments.keys().copied().collect::<Vec<_>>() {
            self.hand_out_all(segment);
        }
        self.hand_out_unconfirmed();
        // Segments in their order; what came of each stays in its own.
        self.settled.sort_by_key(|interval| interval.segment);
        self.note_judgements();
        Collected { intervals: self.settled, problems: self.problems, counts: self.counts }
    }

    /// Hands out what nothing confirms of segments of which nothing else is known.
    fn hand_out_unconfirmed(&mut self) {
        let mut unknown: BTreeMap<u32, BTreeMap<u32, Entry>> = BTreeMap::new();
        for ((segment, number), entry) in self.quarantine.take_all() {
            let is_full = unknown.len() + self.segments.len() >= self.limits.segments;
            match unknown.get(&segment) {
                _ if self.segments.contains_key(&segment) => self.give_up(&entry),
                None if is_full => self.counts.beyond += entry.frames(),
                _ => {
                    self.counts.unconfirmed += entry.frames();
                    unknown.entry(segment).or_default().insert(number, entry);
                }
            }
        }
        for (segment, mut entries) in unknown {
            while let Some((number, entry)) = entries.pop_first() {
                let pending = BTreeMap::from([(number, entry)]);
                let mut alone = Segment::new(number, number, pending, self.now);
                let handed_out = alone.hand_out(segment, number, self.expected, self.keys.as_ref(), true);
                self.settled.extend(handed_out.map(|handed_out| handed_out.interval));
            }
        }
    }

    fn note(&mut self, problem: Problem) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.counts.unnamed += 1;
        }
    }

    /// Notes what makes the intervals that are about to be handed out void or doubtful.
    fn note_judgements(&mut self) {
        for Interval { segment, number, void, doubts, authenticated, .. } in &mut self.settled {
            *authenticated = self.keys.is_some();
            let (segment, interval) = (*segment, *number);
            let void = void.iter().map(|reason| Problem::Void { segment, interval, reason: reason.clone() });
            let doubts = doubts.iter().map(|&doubt| Problem::Doubt { segment, interval, doubt });
            for problem in void.chain(doubts) {
                if self.problems.len() < MOST_PROBLEMS {
                    self.problems.push(problem);
                } else {
                    self.counts.unnamed += 1;
                }
            }
        }
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

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
