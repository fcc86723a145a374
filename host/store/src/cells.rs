//! Cells: what every cell of an interval counted, which its recording alone holds.
//!
//! Files of numbers have no cells, so the intervals that count are looked for in their recordings again: in each, with what was recorded in front of it, as an
//! interval may have begun there, and behind it until nothing more comes of its own. An interval is the one that counts if its number, its last
//! control frame's time and its packets are the same.
//!
//! # Test plan
//!
//! `tests/cells.rs`: cut, rotated and closed recordings, pauses between them, those of two recorders, and frames that are sent again: every interval of [`Folder::each`](crate::Folder::each)
//! once, with the cells of one whole recording; recordings that were removed, cut, damaged or changed behind their closing; signed frames, and
//! other keys. `host/cli/tests/flows_of_a_store.rs`: the program.

use crate::closing::SETTLED;
use crate::continuity::Reported;
use crate::table::Table;
use deltaline_collect::collector::{Collector, Passed};
use deltaline_collect::feed::{Recording, Source};
use deltaline_collect::follower::{Followed, Follower, Happening};
use deltaline_estimate::quantity::{RECEIVED, SENT};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

/// An interval that counts.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its numbers, in a table of its own.
    pub table: Table,
    /// What its recording says of it.
    pub followed: Result<Box<Followed>, NoCells>,
}

/// Why an interval that counts has no cells.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoCells {
    /// Its recording is gone.
    #[error(
        "its recording {recording}.pcapng is not in the folder any more, and no file of numbers has cells; keep recordings for longer"
    )]
    Removed {
        /// The recording's name without ending.
        recording: String,
    },
    /// Its recording cannot be read up to it.
    #[error("{reason}")]
    Unreadable {
        /// Why.
        reason: String,
    },
    /// Its recording does not hold it.
    #[error(
        "{} does not hold it as it was read before: it is still written to, was cut, a recording in front of it was removed, or other keys signed it; ask again, \
         and look for what is left of it",
        path.display()
    )]
    Missing {
        /// The recording.
        path: PathBuf,
    },
    /// Its recording says something else.
    #[error(
        "{} says of it other packets than were stored; look whether the recording was changed, or another design or key was given when it was closed",
        path.display()
    )]
    Changed {
        /// The recording.
        path: PathBuf,
    },
}

/// Recordings that follow each other.
pub(crate) struct Around<'a> {
    /// The one in front, if there is one, the one whose intervals are looked for, and all behind.
    pub(crate) recordings: &'a [PathBuf],
    /// The place of that one.
    pub(crate) own: usize,
    /// What segments had come to in front of them.
    pub(crate) passed: BTreeMap<u32, Passed>,
}

impl Around<'_> {
    /// Hands out each interval of a table that was made of the own recording: those that it still holds as they come, and then the others.
    pub(crate) fn find(
        &self,
        table: Table,
        collector: Collector,
        mut take: impl FnMut(Kept) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(own) = self.recordings.get(self.own) else { return ControlFlow::Continue(()) };
        let mut wanted = Wanted::of(table);
        let source = Source::Recording(Recording::of_captures(self.recordings.iter().cloned()));
        let mut follower = Follower::new(source, collector.behind(&self.passed), Duration::ZERO);
        let mut unreadable = None;
        // When the next recording began.
        let mut next: Option<Duration> = None;
        while !wanted.places.is_empty() {
            let happenings = match follower.next_happenings() {
                Ok(happenings) => happenings,
                Err(error) => {
                    unreadable = Some(error.to_string());
                    break;
                }
            };
            let elapsed = follower.elapsed();
            if let Source::Recording(recording) = follower.source() {
                let up_to_own = &self.recordings[..=self.own];
                let mut damaged = recording.damaged().iter().filter(|(path, _)| up_to_own.contains(path));
                unreadable = damaged.next_back().map(|(_, reason)| reason.to_string());
                let is_behind = recording.begun().last().is_some_and(|path| !up_to_own.contains(path));
                next = next.or(is_behind.then_some(elapsed));
            }
            let is_over = happenings.iter().any(|happening| matches!(happening, Happening::End))
                || next.is_some_and(|next| next.saturating_add(SETTLED) <= elapsed);
            wanted.take(happenings, own, &mut take)?;
            if is_over {
                wanted.take(follower.finish().0, own, &mut take)?;
                break;
            }
        }
        let reason = match unreadable {
            Some(reason) => NoCells::Unreadable { reason },
            None => NoCells::Missing { path: own.clone() },
        };
        wanted.give_up(&reason, take)
    }
}

/// Intervals that are looked for.
pub(crate) struct Wanted {
    table: Table,
    /// In order, each with its place in the table: some are of the same number and time.
    places: BTreeSet<(Reported, usize)>,
}

impl Wanted {
    /// All of a table.
    pub(crate) fn of(table: Table) -> Self {
        let places = table.rows().iter().enumerate().map(|(place, row)| (Reported::from(row), place));
        Wanted { places: places.collect(), table }
    }

    /// Hands out those of them that have come.
    fn take(
        &mut self,
        happenings: Vec<Happening>,
        own: &Path,
        mut take: impl FnMut(Kept) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for happening in happenings {
            let Happening::Interval(followed) = happening else { continue };
            let mut said = Table::default();
            said.push(&followed.figures);
            let Some(row) = said.rows().first() else { continue };
            let reported = Reported::from(row);
            let known = self.places.range((reported, 0)..=(reported, usize::MAX)).next().copied();
            let Some((_, place)) = known.and_then(|known| self.places.take(&known)) else { continue };
            let table = self.table.one(place);
            let is_void = followed.figures.figures.void.is_some();
            let followed = match is_void || packets(&table) == packets(&said) {
                true => Ok(followed),
                false => Err(NoCells::Changed { path: own.into() }),
            };
            take(Kept { table, followed })?;
        }
        ControlFlow::Continue(())
    }

    /// Hands out those that have not come, for this reason.
    pub(crate) fn give_up(
        self,
        reason: &NoCells,
        mut take: impl FnMut(Kept) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.places.iter().try_for_each(|(_, place)| {
            take(Kept { table: self.table.one(*place), followed: Err(reason.clone()) })
        })
    }
}

/// How many packets an interval sent and received.
fn packets(table: &Table) -> Option<[Option<i64>; 2]> {
    table.rows().first()?;
    Some([SENT, RECEIVED].map(|what| table.number(0, &what.key())))
}
