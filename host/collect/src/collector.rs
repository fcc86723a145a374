//! Control frames: out of a capture, together into intervals, and the two ends' intervals into pairs.
//!
//! [`Collector::push`] takes every frame of a management port; [`Collector::finish`] says what came of it: per
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
//! ```
//! use deltaline_collect::collector::Collector;
//! use deltaline_collect::evaluation::Evaluation;
//! use deltaline_collect::summary::Summary;
//! use deltaline_model::configuration::{Configuration, Settings};
//! use deltaline_model::point::{IntervalEnd, MeasurementPoint};
//! use deltaline_model::time::Timestamp;
//! use deltaline_model::wire::frame::Role;
//!
//! // Two points see a thousand packets, 2 µs apart.
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
//!         point.observe(&packet, Timestamp::from_nanoseconds(10_000 * number + delay));
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

use crate::pair::Interval;
use crate::report::Report;
use crate::verdict::{self, Doubt, Expected, Refused, Void};
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::identity::MAX_VLAN_TAGS;
use deltaline_model::sketch::registry;
use deltaline_model::sketch::sampler::Prefixes;
use deltaline_model::wire::authentication::{Keys, Unauthentic};
use deltaline_model::wire::frame::{ETHERTYPE, Frame, FrameError, Header, Role};
use std::collections::{BTreeMap, VecDeque};
use thiserror::Error;

/// Later intervals at which a live interval is no longer waited for.
pub const LAG: usize = 4;

/// Gathers control frames.
#[derive(Clone, Debug, Default)]
pub struct Collector {
    expected: Option<Expected>,
    keys: Option<Keys>,
    frames: u64,
    foreign: u64,
    unauthentic: u64,
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
    prefixes: Option<Prefixes>,
    fragments: BTreeMap<u16, Vec<u8>>,
    contradiction: Option<(u64, &'static str)>,
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
    /// Control frames without a right tag, which were ignored because keys are given.
    pub unauthentic: u64,
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
        let decoded = Frame::decode(bytes);
        if let (Ok(_) | Err(FrameError::Kind(_)), Some(keys)) = (&decoded, &self.keys)
            && let Err(reason) = keys.check(bytes)
        {
            self.unauthentic += 1;
            self.problems.push(Problem::Unauthentic { frame: number, reason });
            return;
        }
        match decoded {
            Ok(frame) => self.gather(number, &frame.header, frame.blocks()),
            // A later release's tables: their totals are right, and so is the loss.
            Err(FrameError::Kind(header)) => self.gather(number, &header, &[]),
            // Delimiters pass in-band as control frames do, and say nothing that control frames do not.
            Err(FrameError::Delimiter) => self.foreign += 1,
            Err(error) => self.problems.push(Problem::Corrupted { frame: number, error }),
        }
    }

    fn gather(&mut self, number: u64, header: &Header, blocks: &[u8]) {
        let Header { segment, interval, role, fragment, .. } = *header;
        let common = Header { fragment: 0, table: 0, first_cell: 0, ..*header };
        let prefixes = registry::read(&common.shape).ok();
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
            prefixes,
            fragments: BTreeMap::new(),
            contradiction: None,
        });
        let contradicted = match assembly.fragments.get(&fragment) {
            _ if assembly.common != common => Some(difference(&assembly.common, &common)),
            Some(known) if known != blocks => Some("cells"),
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
                assembly.fragments.insert(fragment, blocks.to_vec());
            }
        }
    }

    /// The intervals of which nothing more is expected, by ascending number in each segment; each is handed out once.
    pub fn take_settled(&mut self) -> Vec<Interval> {
        for (segment, known) in &mut self.segments {
            while known.is_first_settled() {
                self.settled.extend(known.hand_out(*segment, self.expected));
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
        let expected = self.expected;
        if let Some(mut known) = self.segments.remove(&segment) {
            self.restarts += 1;
            self.settled.extend(std::iter::from_fn(|| known.hand_out(segment, expected)));
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

    /// Control frames without a right tag, which were ignored.
    pub fn unauthentic(&self) -> u64 {
        self.unauthentic
    }

    /// Control frames that had arrived before, byte for byte, and were ignored.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Puts together what has been gathered and not been handed out.
    pub fn finish(mut self) -> Collected {
        for (segment, known) in &mut self.segments {
            self.settled.extend(std::iter::from_fn(|| known.hand_out(*segment, self.expected)));
        }
        self.note_problems();
        Collected {
            intervals: self.settled,
            problems: self.problems,
            frames: self.frames,
            foreign: self.foreign,
            unauthentic: self.unauthentic,
            duplicates: self.duplicates,
        }
    }

    fn note_problems(&mut self) {
        for Interval { segment, number, void, doubts, authenticated, .. } in &mut self.settled {
            *authenticated = self.keys.is_some();
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
    fn hand_out(&mut self, segment: u32, expected: Option<Expected>) -> Option<Interval> {
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
        let (from, to) = (sender.as_ref(), receiver.as_ref());
        let void = contradiction
            .or_else(|| expected.and_then(|expected| expected.refuse(from, to)))
            .or_else(|| verdict::void(from, to))
            .or(shift);
        let doubts = match (&sender, &receiver) {
            (Some(sender), Some(receiver)) if void.is_none() => verdict::doubts(sender, receiver),
            _ => vec![],
        };
        Some(Interval { segment, number, sender, receiver, void, doubts, authenticated: false })
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
        "configuration"
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
        let Assembly { common, prefixes, fragments, .. } = self;
        let missing: Vec<u16> =
            (0..common.fragments).filter(|index| !fragments.contains_key(index)).collect();
        Report {
            totals: common.totals,
            point: common.point,
            time: common.time,
            configuration: common.configuration,
            shape: common.shape,
            prefixes,
            fragments: common.fragments,
            blocks: if missing.is_empty() { fragments.into_values().flatten().collect() } else { vec![] },
            missing,
        }
    }
}

#[cfg(test)]
mod tests;
