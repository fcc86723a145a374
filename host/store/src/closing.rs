//! From recordings to tables: each recording with the intervals of which it holds the last control frame.

use crate::folder::{StoreError, length};
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
    /// How many bytes it had, or fewer.
    pub(crate) length: u64,
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

/// Where a recording begins.
struct Beginning {
    /// Its place among the recordings.
    place: usize,
    /// When its first frame came, as [`Follower::passed`] and [`Follower::elapsed`] say: the time of day may be set, even within a recording.
    passed: Duration,
    elapsed: Duration,
}

/// Reads recordings that follow each other.
pub(crate) fn read(paths: &[PathBuf], collector: Collector) -> Result<Reading, StoreError> {
    // What is written to them from now on may be read, or may not.
    let lengths = paths.iter().map(|path| length(path)).collect::<Result<Vec<_>, _>>()?;
    let source = Source::Recording(Recording::of_captures(paths.iter().cloned()));
    let mut follower = Follower::new(source, collector, Duration::ZERO);
    let mut tables: Vec<Table> = paths.iter().map(|_| Table::default()).collect();
    let mut beginnings = vec![];
    let mut is_over = false;
    while !is_over {
        let happenings = follower.next_happenings().map_err(StoreError::Follow)?;
        let (passed, elapsed) = (follower.passed(), follower.elapsed());
        // Of recordings one frame is taken at a time.
        if let Source::Recording(recording) = follower.source()
            && let Some(path) = recording.begun().get(beginnings.len())
            && let Some(place) = paths.iter().position(|each| each == path)
        {
            beginnings.push(Beginning { place, passed, elapsed });
        }
        is_over = happenings.iter().any(|happening| matches!(happening, Happening::End));
        take(&happenings, &beginnings, &mut tables);
    }
    let elapsed = follower.elapsed();
    let torn = match follower.source() {
        Source::Recording(recording) => recording.torn().to_vec(),
        Source::Serial(_) | Source::Interface(_) => vec![],
    };
    let (happenings, _) = follower.finish();
    take(&happenings, &beginnings, &mut tables);
    let recorded = paths.iter().zip(lengths).zip(tables).enumerate();
    let recorded = recorded.map(|(place, ((path, length), table))| {
        let next = beginnings.iter().find(|next| next.place > place);
        let is_settled = next.is_some_and(|next| next.elapsed.saturating_add(SETTLED) <= elapsed);
        Recorded { path: path.clone(), length, table, is_settled }
    });
    Ok(Reading { recorded: recorded.collect(), torn })
}

/// Puts each interval into the table of the recording that holds its last control frame.
fn take(happenings: &[Happening], beginnings: &[Beginning], tables: &mut [Table]) {
    for happening in happenings {
        let Happening::Interval(followed) = happening else { continue };
        let holder = beginnings.iter().rev().find(|beginning| beginning.passed <= followed.heard);
        if let Some(table) = holder.and_then(|holder| tables.get_mut(holder.place)) {
            table.push(&followed.figures);
        }
    }
}
