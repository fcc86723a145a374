//! An interval that is being gathered: the frames of its two ends.

use super::Limits;
use crate::report::Report;
use crate::verdict::Void;
use deltaline_model::sketch::registry;
use deltaline_model::sketch::sampler::Prefixes;
use deltaline_model::time::AbsoluteTime;
use deltaline_model::wire::frame::{Header, Role};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// What an interval takes besides its ends, with its places in all maps: more than it does.
pub(super) const ENTRY_BYTES: usize = 512;
/// What an end takes besides its blocks: its header, and the map of its first frames.
const ASSEMBLY_BYTES: usize = size_of::<Assembly>() + 512;
/// What a frame takes besides its blocks.
const FRAME_BYTES: usize = 96;

/// The most that a frame with blocks of so many bytes takes.
pub(super) fn most_bytes(blocks: usize) -> usize {
    ENTRY_BYTES + ASSEMBLY_BYTES + FRAME_BYTES + blocks
}

/// An interval that is being gathered.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    ends: [Option<Box<Assembly>>; 2],
    /// The number of its first frame.
    pub(super) born: u64,
    /// When its first frame came.
    pub(super) since: Duration,
    /// When its last new frame came.
    pub(super) heard: Duration,
    /// When it is to be looked at again.
    pub(super) due: Duration,
    /// What it takes, as far as it is counted.
    pub(super) bytes: usize,
    /// The number of the frame with which both ends were whole.
    completed: u64,
}

/// The boot epochs of two whole ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Together {
    epochs: [u32; 2],
    /// The number of the last frame.
    completed: u64,
}

impl Together {
    /// An end that is of an earlier start here than there, where the other is not, although this was completed later: the two ends are of two intervals that
    /// have the same number.
    pub(super) fn outdated(self, there: Together) -> Option<Role> {
        let ([sender, receiver], [before, other]) = (self.epochs, there.epochs);
        match self.completed > there.completed {
            true if sender < before && receiver >= other => Some(Role::Sender),
            true if receiver < other && sender >= before => Some(Role::Receiver),
            _ => None,
        }
    }

    /// The one of later starts, and of those of the same ones the first.
    pub(super) fn later(self, other: Together) -> Together {
        let is_later =
            self.epochs != other.epochs && (0..2).all(|role| self.epochs[role] >= other.epochs[role]);
        if is_later { self } else { other }
    }
}

/// The frames of one end's interval.
#[derive(Clone, Debug)]
struct Assembly {
    /// What all of its frames have in common, with the rest set to zero.
    common: Header,
    prefixes: Option<Prefixes>,
    fragments: BTreeMap<u16, Vec<u8>>,
    contradiction: Option<(u64, &'static str)>,
    /// When its first frame was captured, in nanoseconds since the Unix epoch, if that is known.
    captured: Option<u64>,
    /// When its last frame came, if it has come.
    whole: Option<Duration>,
}

/// When a frame came.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Came {
    pub(super) now: Duration,
    /// In nanoseconds since the Unix epoch, if that is known.
    pub(super) captured: Option<u64>,
}

/// What a frame is to its interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// A part that was missing, of so many bytes.
    New(usize),
    /// A part that had come before.
    Duplicate,
    /// It contradicts another one.
    Contradiction,
}

/// What all frames of an end's interval have in common.
pub(super) fn common(header: &Header) -> Header {
    Header { fragment: 0, table: 0, first_cell: 0, ..*header }
}

/// A number that stands for what an interval's frames have in common.
pub(super) fn digest(common: &Header) -> u64 {
    let mut hasher = DefaultHasher::new();
    common.words().for_each(|word| word.hash(&mut hasher));
    hasher.finish()
}

impl Entry {
    pub(super) fn new(born: u64, since: Duration) -> Self {
        Entry { ends: [None, None], born, since, heard: since, due: since, bytes: ENTRY_BYTES, completed: 0 }
    }

    /// Takes the frame of this number.
    pub(super) fn take(&mut self, frame: u64, came: Came, header: &Header, blocks: &[u8]) -> Taken {
        let Came { now, captured } = came;
        let common = common(header);
        let mut cost = FRAME_BYTES + blocks.len();
        let end = &mut self.ends[header.role as usize];
        if end.is_none() {
            cost += ASSEMBLY_BYTES;
        }
        let assembly = end.get_or_insert_with(|| {
            Box::new(Assembly {
                common,
                prefixes: registry::read(&common.shape).ok(),
                fragments: BTreeMap::new(),
                contradiction: None,
                captured,
                whole: None,
            })
        });
        let contradicted = match assembly.fragments.get(&header.fragment) {
            _ if assembly.common != common => difference(&assembly.common, &common),
            Some(known) if known != blocks => "cells",
            Some(_) => return Taken::Duplicate,
            None => {
                assembly.fragments.insert(header.fragment, blocks.to_vec());
                if assembly.fragments.len() == usize::from(common.fragments) {
                    assembly.whole = Some(now);
                }
                self.heard = now;
                self.bytes += cost;
                self.completed = frame;
                return Taken::New(cost);
            }
        };
        assembly.contradiction.get_or_insert((frame, contradicted));
        Taken::Contradiction
    }

    /// Whether anything of this end has come.
    pub(super) fn has(&self, role: usize) -> bool {
        self.ends[role].is_some()
    }

    /// When all of this end had come, if it has.
    pub(super) fn whole(&self, role: usize) -> Option<Duration> {
        self.ends[role].as_ref()?.whole
    }

    /// Until when an end is held back for the next interval to begin, once it is whole: the grace, and twice as long as it took since the
    /// one before was whole, if that is known. What the next one says of ignored delimiters, it says within this time, or the one behind it shows that the next
    /// one's frames are lost.
    pub(super) fn held_until(
        &self,
        role: usize,
        before: Option<Duration>,
        grace: Duration,
    ) -> Option<Duration> {
        Some(self.waits_until(role, before, grace)?.saturating_add(self.took(role, before)?))
    }

    /// Until when an end that is whole waits for the other one: so long, and as long again as it took.
    pub(super) fn waits_until(
        &self,
        role: usize,
        before: Option<Duration>,
        time: Duration,
    ) -> Option<Duration> {
        Some(self.whole(role)?.saturating_add(time).saturating_add(self.took(role, before)?))
    }

    /// How long it took since the one before was whole.
    fn took(&self, role: usize, before: Option<Duration>) -> Option<Duration> {
        let whole = self.whole(role)?;
        Some(before.map_or(Duration::ZERO, |before| whole.saturating_sub(before)))
    }

    /// When it is to be looked at next: when an end is no longer held back, at last when its own patience is over. `before` is when
    /// the ends of the interval before were whole.
    pub(super) fn next_look(
        &self,
        now: Duration,
        limits: &Limits,
        before: [Option<Duration>; 2],
    ) -> Duration {
        let held = [0, 1].into_iter().flat_map(|role| {
            let held = self.held_until(role, before[role], limits.grace);
            held.into_iter().chain(self.waits_until(role, before[role], limits.absence))
        });
        held.filter(|end| *end > now).fold(self.since.saturating_add(limits.patience), Duration::min)
    }

    /// Frames that it holds.
    pub(super) fn frames(&self) -> u64 {
        self.ends.iter().flatten().map(|end| end.fragments.len() as u64).sum()
    }

    /// When each end's interval ended, as far as it is known.
    pub(super) fn times(&self) -> [Option<AbsoluteTime>; 2] {
        self.ends.each_ref().map(|end| end.as_ref()?.common.time)
    }

    /// When each end's first frame was captured.
    pub(super) fn captured(&self) -> [Option<u64>; 2] {
        self.ends.each_ref().map(|end| end.as_ref()?.captured)
    }

    /// What stands for each end's frames.
    pub(super) fn digests(&self) -> [Option<u64>; 2] {
        self.ends.each_ref().map(|end| end.as_ref().map(|end| digest(&end.common)))
    }

    /// What keys the ends' frames name.
    pub(super) fn keys(&self) -> [Option<u16>; 2] {
        self.ends.each_ref().map(|end| Some(end.as_ref()?.common.key))
    }

    /// The boot epochs of the ends of which there is anything.
    pub(super) fn reported_epochs(&self) -> impl Iterator<Item = (usize, u32)> {
        let ends = self.ends.iter().enumerate();
        ends.filter_map(|(role, end)| Some((role, end.as_ref()?.common.boot_epoch)))
    }

    /// The ends' boot epochs, if both are whole and contradict nothing.
    pub(super) fn epochs(&self) -> Option<[u32; 2]> {
        let epoch = |end: &Option<Box<Assembly>>| {
            let end = end.as_ref().filter(|end| end.whole.is_some() && end.contradiction.is_none())?;
            Some(end.common.boot_epoch)
        };
        Some([epoch(&self.ends[0])?, epoch(&self.ends[1])?])
    }

    /// As [`Entry::epochs`], and since when both are whole.
    pub(super) fn together(&self) -> Option<Together> {
        Some(Together { epochs: self.epochs()?, completed: self.completed })
    }

    /// The end that contradicts itself, if one does, and why this makes the interval void.
    pub(super) fn contradiction(&self) -> Option<(Role, Void)> {
        [Role::Sender, Role::Receiver].into_iter().find_map(|role| {
            let (frame, field) = self.ends[role as usize].as_ref()?.contradiction?;
            Some((role, Void::Contradiction { role, frame, field }))
        })
    }

    /// An end that ignored delimiters, and how many. A key makes no difference: it may be for control frames alone.
    pub(super) fn ignored_delimiters(&self) -> Option<(Role, u16)> {
        [Role::Sender, Role::Receiver].into_iter().find_map(|role| {
            let ignored = self.ends[role as usize].as_ref()?.common.totals.ignored_delimiters;
            (ignored > 0).then_some((role, ignored))
        })
    }

    pub(super) fn into_reports(self) -> [Option<Report>; 2] {
        self.ends.map(|end| end.map(|end| end.into_report()))
    }
}

/// What two headers of one interval differ in.
fn difference(first: &Header, second: &Header) -> &'static str {
    if first.configuration != second.configuration {
        "configuration"
    } else if first.shape != second.shape {
        "rows and banks"
    } else if first.mixing != second.mixing {
        "mixing"
    } else {
        "totals"
    }
}

impl Assembly {
    fn into_report(self) -> Report {
        let Assembly { common, prefixes, fragments, .. } = self;
        // Indices are below the number of fragments, and each is held once.
        let missing = common.fragments.saturating_sub(fragments.len() as u16);
        Report {
            totals: common.totals,
            point: common.point,
            boot_epoch: common.boot_epoch,
            time: common.time,
            configuration: common.configuration,
            mixing: common.mixing,
            shape: common.shape,
            prefixes,
            fragments: common.fragments,
            // Whole blocks at once: byte by byte takes most of the time that an interval without packets does.
            blocks: if missing == 0 { fragments.into_values().collect::<Vec<_>>().concat() } else { vec![] },
            missing,
        }
    }
}
