//! From recordings to tables: each recording with the intervals of which it holds the last control frame.

use crate::folder::{StoreError, length};
use crate::table::{LeftOut, Table};
use deltaline_collect::collector::{Collector, Counts, Passed};
use deltaline_collect::feed::{Recording, Source};
use deltaline_collect::follower::{Followed, Follower, Happening};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// How long after its last frame nothing more comes of an interval, with room to spare: the collector waits half as long.
pub(crate) const SETTLED: Duration = Duration::from_secs(120);

/// A recording that was read.
pub(crate) struct Recorded {
    pub(crate) path: PathBuf,
    /// How many bytes it had, or fewer.
    pub(crate) length: u64,
    pub(crate) table: Table,
    /// What segments have come to in its end, where control frames are signed.
    pub(crate) passed: BTreeMap<u32, Passed>,
    /// What of it was left out.
    pub(crate) left_out: LeftOut,
    /// Whether nothing more can come of its intervals, going by what was recorded behind it.
    pub(crate) is_settled: bool,
    /// Where control frames must be signed, whether it has some and none with a right tag, or no interval and some that seem to be sent again: it is
    /// not known what it holds, and what segments have come to before may be forged.
    pub(crate) is_unauthentic: bool,
    /// Why it could not be read to its end.
    pub(crate) damage: Option<String>,
}

/// What recordings that follow each other hold.
#[derive(Default)]
pub(crate) struct Reading {
    /// All of them, in order.
    pub(crate) recorded: Vec<Recorded>,
    /// Those whose end was torn.
    pub(crate) torn: Vec<PathBuf>,
    /// Of segments of which for long nothing else came.
    pub(crate) starved: Vec<String>,
}

/// Where a recording begins.
struct Beginning {
    /// Its place among the recordings.
    place: usize,
    /// When its first frame came, as [`Follower::age`] and [`Follower::elapsed`] say: the time of day may be set, even within a recording.
    at: Duration,
    elapsed: Duration,
}

/// Reads recordings that follow each other, and those in front of which segments have come to `passed`.
pub(crate) fn read(
    paths: &[PathBuf],
    passed: BTreeMap<u32, Passed>,
    collector: Collector,
) -> Result<Reading, StoreError> {
    // What is written to them from now on may be read, or may not.
    let lengths = paths.iter().map(|path| length(path)).collect::<Result<Vec<_>, _>>()?;
    let source = Source::Recording(Recording::of_captures(paths.iter().cloned()));
    let wants_signed = collector.wants_signed();
    let mut follower = Follower::new(source, collector.behind(&passed), Duration::ZERO);
    let mut parts: Vec<Part> = paths.iter().map(|_| Part::default()).collect();
    let (mut beginnings, mut starved): (Vec<Beginning>, _) = (vec![], vec![]);
    let mut is_over = false;
    while !is_over {
        let before = follower.counts();
        let happenings = follower.next_happenings().map_err(StoreError::Follow)?;
        let (at, elapsed) = (follower.age(), follower.elapsed());
        // Of recordings one frame is taken at a time.
        if let Source::Recording(recording) = follower.source()
            && let Some(path) = recording.begun().get(beginnings.len())
            && let Some(place) = paths.iter().position(|each| each == path)
        {
            beginnings.push(Beginning { place, at, elapsed });
        }
        if let Some(part) = beginnings.last().and_then(|beginning| parts.get_mut(beginning.place)) {
            part.count(&before, &follower.counts());
        }
        is_over = happenings.iter().any(|happening| matches!(happening, Happening::End));
        starved.extend(happenings.iter().filter_map(|happening| match happening {
            Happening::Starved { reason, .. } => Some(reason.clone()),
            _ => None,
        }));
        take(&happenings, &beginnings, &mut parts);
    }
    let elapsed = follower.elapsed();
    let (torn, damaged) = match follower.source() {
        Source::Recording(recording) => {
            let damaged = recording.damaged().iter().map(|(path, reason)| (path.clone(), reason.to_string()));
            (recording.torn().to_vec(), damaged.collect())
        }
        Source::Serial(_) | Source::Interface(_) => (vec![], BTreeMap::new()),
    };
    let before = follower.counts();
    let (happenings, counts) = follower.finish();
    take(&happenings, &beginnings, &mut parts);
    if let Some(part) = beginnings.last().and_then(|beginning| parts.get_mut(beginning.place)) {
        part.count(&before, &counts);
    }
    let mut passed = passed;
    let recorded = paths.iter().zip(lengths).zip(parts).enumerate();
    let recorded = recorded.map(|(place, ((path, length), part))| {
        part.passed.iter().for_each(|(segment, later)| {
            passed.entry(*segment).and_modify(|passed| passed.follow(later)).or_insert(*later);
        });
        let next = beginnings.iter().find(|next| next.place > place);
        let is_settled = next.is_some_and(|next| next.elapsed.saturating_add(SETTLED) <= elapsed);
        let LeftOut { unauthentic, replayed, .. } = part.left_out;
        let has_none = (unauthentic > 0 && part.taken == 0) || (replayed > 0 && part.table.is_empty());
        Recorded {
            path: path.clone(),
            length,
            table: part.table,
            passed: passed.clone(),
            left_out: part.left_out,
            is_settled,
            is_unauthentic: wants_signed && has_none,
            damage: damaged.get(path).cloned(),
        }
    });
    Ok(Reading { recorded: recorded.collect(), torn, starved })
}

/// What belongs to a recording.
#[derive(Default)]
struct Part {
    table: Table,
    /// What segments come to in it, by signed intervals.
    passed: BTreeMap<u32, Passed>,
    /// Its control frames that were taken, and those that were not.
    taken: u64,
    left_out: LeftOut,
}

impl Part {
    /// Counts what has come between these two counts.
    fn count(&mut self, before: &Counts, after: &Counts) {
        let taken = |counts: &Counts| {
            counts.frames.saturating_sub(counts.foreign + counts.corrupted + counts.unauthentic)
        };
        self.taken += taken(after).saturating_sub(taken(before));
        let more = |count: fn(&Counts) -> u64| count(after).saturating_sub(count(before));
        self.left_out = self.left_out
            + LeftOut {
                corrupted: more(|counts| counts.corrupted),
                unauthentic: more(|counts| counts.unauthentic),
                replayed: more(|counts| counts.replayed),
                stray: more(|counts| counts.stray + counts.unconfirmed + counts.late),
                beyond: more(|counts| counts.beyond),
            };
    }
}

/// Puts each interval to the recording that holds its last control frame.
fn take(happenings: &[Happening], beginnings: &[Beginning], parts: &mut [Part]) {
    for happening in happenings {
        let Happening::Interval(followed) = happening else { continue };
        let Followed { figures, interval, .. } = &**followed;
        let holder = beginnings.iter().rev().find(|beginning| beginning.at <= interval.heard);
        if let Some(part) = holder.and_then(|holder| parts.get_mut(holder.place)) {
            part.table.push(figures);
            if figures.authenticated {
                let passed = Passed::of(interval);
                let known = part.passed.entry(figures.segment).or_insert(passed);
                known.follow(&passed);
            }
        }
    }
}
