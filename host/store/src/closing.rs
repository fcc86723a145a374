//! From recordings to tables: each recording with the intervals of which it holds the last control frame.

use crate::folder::StoreError;
use crate::table::Table;
use deltaline_collect::collector::Collector;
use deltaline_collect::feed::{Recording, Source};
use deltaline_collect::follower::{Follower, Happening};
use std::path::PathBuf;
use std::time::Duration;

/// How long after its last frame nothing more comes of an interval, with room to spare: the collector waits half as long.
const SETTLED: Duration = Duration::from_secs(120);

/// A recording that was read.
pub(crate) struct Recorded {
    pub(crate) path: PathBuf,
    pub(crate) table: Table,
    /// Whether nothing more can come of its intervals, going by what was recorded behind it.
    pub(crate) is_settled: bool,
}

/// What recordings that follow each other hold.
pub(crate) struct Reading {
    /// All of them, in order.
    pub(crate) recorded: Vec<Recorded>,
    /// Those whose end was torn.
    pub(crate) torn: Vec<PathBuf>,
}

/// Reads recordings that follow each other.
pub(crate) fn read(paths: &[PathBuf], collector: Collector) -> Result<Reading, StoreError> {
    let source = Source::Recording(Recording::of_captures(paths.iter().cloned()));
    let mut follower = Follower::new(source, collector, Duration::ZERO);
    let mut tables: Vec<Table> = paths.iter().map(|_| Table::default()).collect();
    let mut begun = vec![];
    let mut newest = 0;
    let mut is_over = false;
    let mut torn = vec![];
    while !is_over {
        let happenings = follower.next_happenings().map_err(StoreError::Follow)?;
        if let Source::Recording(recording) = follower.source()
            && (recording.begun().len(), recording.torn().len()) != (begun.len(), torn.len())
        {
            (begun, torn) = (recording.begun().to_vec(), recording.torn().to_vec());
        }
        is_over = happenings.iter().any(|happening| matches!(happening, Happening::End));
        take(&happenings, &begun, paths, &mut tables, &mut newest);
    }
    let (happenings, _) = follower.finish();
    take(&happenings, &begun, paths, &mut tables, &mut newest);
    let next_begins = |path: &PathBuf| {
        let place = paths.iter().position(|each| each == path)?;
        let later =
            begun.iter().find(|(each, _)| paths.iter().position(|path| path == each) > Some(place))?;
        Some(later.1)
    };
    let recorded = paths.iter().zip(tables).map(|(path, table)| {
        let settled = u64::try_from(SETTLED.as_nanos()).unwrap_or(u64::MAX);
        let is_settled = next_begins(path).is_some_and(|next| next.saturating_add(settled) <= newest);
        Recorded { path: path.clone(), table, is_settled }
    });
    Ok(Reading { recorded: recorded.collect(), torn })
}

/// Puts each interval into its recording's table.
fn take(
    happenings: &[Happening],
    begun: &[(PathBuf, u64)],
    paths: &[PathBuf],
    tables: &mut [Table],
    newest: &mut u64,
) {
    for happening in happenings {
        let Happening::Interval(followed) = happening else { continue };
        let reported = followed.figures.reported.unwrap_or(0);
        *newest = reported.max(*newest);
        // Before the first packet of all nothing is reported.
        let holder = begun.iter().rev().find(|(_, first)| *first <= reported).or(begun.first());
        let place = holder.and_then(|(path, _)| paths.iter().position(|each| each == path));
        if let Some(table) = place.and_then(|place| tables.get_mut(place)) {
            table.push(&followed.figures);
        }
    }
}
