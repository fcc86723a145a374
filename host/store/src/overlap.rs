//! Overlap: recordings of two names that have intervals of one segment at the same time, as two recorders make them, or points of one segment number.
//!
//! They do if an interval of one was reported between two of the other that follow each other by their numbers. Runs of recorders that take turns do not.
//!
//! All of a segment's intervals are gone through once, in order of time. Of each run its last one is known, and of the two runs that reported last, when: another run
//! reported between a run's last interval and its next one if the later of those that are not its own came behind the last one.
//!
//! # Test plan
//!
//! Against every pair of runs and intervals, with times that are the same, and numbers that lack or come again; `tests/folder.rs`: folders.

use crate::table::Row;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// When an interval was reported, its number, and the place of its run.
type Report = (i64, u32, usize);

/// What was reported in several runs; nothing is kept of a single one.
pub(crate) struct Overlap {
    /// In order of their names.
    runs: Vec<String>,
    segments: BTreeMap<u32, Vec<Report>>,
}

impl Overlap {
    /// Of runs with these names.
    pub(crate) fn of(runs: BTreeSet<String>) -> Self {
        Overlap { runs: runs.into_iter().collect(), segments: BTreeMap::new() }
    }

    /// Whether there is but one run.
    pub(crate) fn is_of_one(&self) -> bool {
        self.runs.len() < 2
    }

    /// Notes a run's intervals.
    pub(crate) fn note<'a>(&mut self, run: &str, rows: impl IntoIterator<Item = &'a Row>) {
        let Ok(run) = self.runs.binary_search_by(|known| known.as_str().cmp(run)) else { return };
        if self.is_of_one() {
            return;
        }
        for Row { segment, reported, interval, .. } in rows {
            self.segments.entry(*segment).or_default().push((*reported, *interval, run));
        }
    }

    /// Segments of which two runs overlap, and the first two that do.
    pub(crate) fn finish(self) -> Vec<(u32, [String; 2])> {
        let Overlap { runs, segments } = self;
        let named = |(segment, mut reports): (u32, Vec<Report>)| {
            let pair = first_pair(&mut reports)?;
            Some((segment, pair.map(|run| runs.get(run).cloned().unwrap_or_default())))
        };
        segments.into_iter().filter_map(named).collect()
    }
}

/// The first two runs that overlap, in order.
fn first_pair(reports: &mut [Report]) -> Option<[usize; 2]> {
    reports.sort_unstable();
    let mut last: HashMap<usize, (i64, u32)> = HashMap::new();
    // The runs that reported last, and when.
    let mut latest: [Option<(usize, i64)>; 2] = [None; 2];
    for at_once in reports.chunk_by(|one, next| one.0 == next.0) {
        for (time, _, run) in at_once {
            if !matches!(latest[0], Some((known, _)) if known == *run) {
                latest[1] = latest[0];
            }
            latest[0] = Some((*run, *time));
        }
        for (time, number, run) in at_once {
            let before = last.insert(*run, (*time, *number));
            let follows = before.filter(|(_, before)| before.wrapping_add(1) == *number);
            let other = latest.into_iter().flatten().find(|(other, _)| other != run);
            if let Some(((before, _), (other, then))) = follows.zip(other)
                && before < then
            {
                return Some([*run.min(&other), *run.max(&other)]);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether an interval of one run lies between two of another that follow each other, looked for in all of them.
    fn overlap(reports: &[Report], one: usize, other: usize) -> bool {
        let of = |run| {
            let mut all: Vec<(i64, u32)> =
                reports.iter().filter(|report| report.2 == run).map(|report| (report.0, report.1)).collect();
            all.sort_unstable();
            all
        };
        of(other).windows(2).any(|pair| {
            let follows = pair[0].1.wrapping_add(1) == pair[1].1;
            follows && of(one).iter().any(|(time, _)| pair[0].0 < *time && *time <= pair[1].0)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn two_runs_overlap_where_one_lies_in_the_other(
            steps in prop::collection::vec((0..4_usize, 0..3_i64, prop_oneof![8 => Just(1_u32), 1 => 0..3_u32], 0..9_u8), 0..40),
        ) {
            // Runs take turns, mostly for some intervals.
            let (mut reports, mut time, mut numbers, mut run) = (vec![], 0, [u32::MAX - 3; 4], 0);
            for (next, step, ahead, turn) in steps {
                run = if turn == 0 { next } else { run };
                time += step;
                numbers[run] = numbers[run].wrapping_add(ahead);
                reports.push((time, numbers[run], run));
            }
            let pairs: Vec<[usize; 2]> = (0..4)
                .flat_map(|one| (one + 1..4).map(move |two| [one, two]))
                .filter(|[one, two]| overlap(&reports, *one, *two) || overlap(&reports, *two, *one))
                .collect();
            match first_pair(&mut reports.clone()) {
                None => prop_assert!(pairs.is_empty(), "{pairs:?}"),
                Some(pair) => prop_assert!(pairs.contains(&pair), "{pair:?} of {pairs:?}"),
            }
        }
    }
}
