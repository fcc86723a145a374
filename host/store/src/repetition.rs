//! Repetition: intervals that lie in a store more than once.
//!
//! Copies of recordings, a second recorder, and somebody who sends control frames again make an interval's numbers come twice. It counts where it was reported
//! first, and nowhere else: what is sent again comes later, and two times that lie side by side then share no interval. So what was reported in front of the time that is asked for
//! matters too.
//!
//! # Test plan
//!
//! `tests/folder.rs`: copies, second recorders with clocks apart, and replays into a recording of another name, hours later; all of it, in times that lie side by side, and
//! where the first report lies outside of the time that is asked for, of a run of its own, too; intervals without a mean; frames sent again within one recording.
//! Here: a run's own intervals in any order, against a plain set.

use crate::continuity::Reported;
use crate::table::{CLOCK_DOUBTED, Row, Table};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Microseconds that two recorders' clocks are taken to be apart at most.
const APART: i64 = 10_000_000;

/// Of a run's own intervals so many are known again at least: a month's are many millions.
const OWN: usize = 1 << 20;

/// What is known of intervals that come again.
#[derive(Default)]
pub(crate) struct Repetition {
    /// Of several runs, or of a time that is asked for: the first report of each interval, by the check of its numbers.
    first: HashMap<u64, Report>,
    /// The least and the greatest of their numbers.
    intervals: Option<[u32; 2]>,
    /// The last intervals with a mean, and those before: a run's own, which only its recorder can have twice.
    own: [Known; 2],
}

/// Intervals of runs. Nearly all come in the order of their numbers, and one with a number above all before it is new: it takes no search.
#[derive(Default)]
struct Known {
    /// Of each run and segment, numbers that rise, and the intervals' checks.
    rising: BTreeMap<(u64, u32), Vec<(u32, u64)>>,
    /// The checks of all others, each with its run's.
    others: HashSet<u64>,
    /// How many there are.
    intervals: usize,
}

impl Known {
    fn holds(&self, run: u64, row: &Row, check: u64) -> bool {
        let rising = self.rising.get(&(run, row.segment)).filter(|rising| !is_above(rising, row));
        rising.is_some_and(|rising| rising.binary_search(&(row.interval, check)).is_ok())
            || self.others.contains(&(check ^ run))
    }

    fn note(&mut self, run: u64, row: &Row, check: u64) {
        let rising = self.rising.entry((run, row.segment)).or_default();
        if is_above(rising, row) {
            rising.push((row.interval, check));
        } else {
            self.others.insert(check ^ run);
        }
        self.intervals += 1;
    }
}

/// Whether an interval's number is above all of these, which rise.
fn is_above(rising: &[(u32, u64)], row: &Row) -> bool {
    rising.last().is_none_or(|(last, _)| *last < row.interval)
}

/// When an interval was reported, and a check of the name of the run that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Report {
    reported: i64,
    run: u64,
}

/// Intervals that are not handed out, as they were reported before.
pub(crate) struct Repeated {
    /// How many.
    pub(crate) intervals: usize,
    /// Those of the same run, in order.
    pub(crate) own: Vec<Reported>,
}

impl Repetition {
    /// Notes intervals of a run that are asked for.
    pub(crate) fn ask<'a>(&mut self, run: &str, columns: &[String], rows: impl Iterator<Item = &'a Row>) {
        let (checks, run) = (Checks::of(columns), check_of(run));
        for row in rows {
            let report = Report { reported: row.reported, run };
            let first = self.first.entry(checks.of_row(row).own()).or_insert(report);
            *first = report.min(*first);
            let [least, greatest] = self.intervals.unwrap_or([row.interval; 2]);
            self.intervals = Some([least.min(row.interval), greatest.max(row.interval)]);
        }
    }

    /// The numbers of what is asked for.
    pub(crate) fn intervals(&self) -> Option<RangeInclusive<u32>> {
        self.intervals.map(|[least, greatest]| least..=greatest)
    }

    /// Notes intervals that are not asked for, if they are the same ones.
    pub(crate) fn note<'a>(&mut self, run: &str, columns: &[String], rows: impl Iterator<Item = &'a Row>) {
        let (checks, run) = (Checks::of(columns), check_of(run));
        for row in rows {
            let check = checks.of_row(row);
            if check.near.iter().any(|near| self.first.contains_key(near)) {
                let report = Report { reported: row.reported, run };
                let first = self.first.entry(check.own()).or_insert(report);
                *first = report.min(*first);
            }
        }
    }

    /// Takes the intervals out of a run's table that were reported before, and says how many.
    pub(crate) fn take_out_of(&mut self, table: &mut Table, run: &str) -> Repeated {
        let (checks, run) = (Checks::of(&table.columns), check_of(run));
        let (before, mut of_run) = (table.rows.len(), vec![]);
        table.rows.retain(|row| {
            let (check, report) = (checks.of_row(row), Report { reported: row.reported, run });
            let firsts = check.near.iter().filter_map(|near| self.first.get(near));
            let mut earlier = firsts.filter(|first| **first < report);
            if earlier.clone().any(|first| first.run != report.run) {
                return false;
            }
            let has_own = earlier.next().is_some();
            if check.has_mean && (!self.is_first_of_run(run, row, check.own()) || has_own) {
                of_run.push(Reported::from(row));
                return false;
            }
            true
        });
        of_run.sort_unstable();
        Repeated { intervals: before - table.rows.len(), own: of_run }
    }

    /// Whether a run's own interval has not come before.
    fn is_first_of_run(&mut self, run: u64, row: &Row, check: u64) -> bool {
        if self.own.iter().any(|known| known.holds(run, row, check)) {
            return false;
        }
        let [last, before] = &mut self.own;
        last.note(run, row, check);
        if last.intervals >= OWN {
            *before = std::mem::take(last);
        }
        true
    }
}

/// A check of a run's name.
fn check_of(run: &str) -> u64 {
    xxh3_64(run.as_bytes())
}

/// What makes checks of a table's rows. Tables may have other columns, and in another order: each value's check is of its column's name, too. Whether its clocks are doubted
/// is none of an interval's numbers: it hangs on when control frames came.
struct Checks {
    columns: Vec<Option<u64>>,
    mean: Option<usize>,
}

/// What stands for an interval's numbers. Those without a mean, such as those that lost everything, may be alike by chance behind a new start of the points:
/// they are the same only if they were reported at about the same time, too.
struct Check {
    has_mean: bool,
    /// Where the same interval is found: times that are not far apart may lie on either side of a multiple.
    near: [u64; 3],
}

impl Check {
    fn own(&self) -> u64 {
        self.near[1]
    }
}

impl Checks {
    fn of(columns: &[String]) -> Self {
        Checks {
            columns: columns
                .iter()
                .map(|name| (name != CLOCK_DOUBTED).then(|| xxh3_64(name.as_bytes())))
                .collect(),
            mean: columns.iter().position(|name| name == "mean_ns"),
        }
    }

    fn of_row(&self, row: &Row) -> Check {
        let own = [row.segment, row.interval, u32::from(row.authenticated)].map(u32::to_le_bytes);
        let checks =
            self.columns.iter().zip(&row.numbers).filter_map(|(column, number)| {
                Some(xxh3_64_with_seed(&(*number)?.to_le_bytes(), (*column)?))
            });
        let check = checks.fold(xxh3_64(own.as_flattened()), u64::wrapping_add);
        let has_mean = self.mean.is_some_and(|mean| matches!(row.numbers.get(mean), Some(Some(_))));
        let then =
            |step: i64| xxh3_64_with_seed(&(row.reported.div_euclid(APART) + step).to_le_bytes(), check);
        let near = if has_mean { [check; 3] } else { [-1, 0, 1].map(then) };
        Check { has_mean, near }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Numbers;
    use proptest::prelude::*;

    proptest! {
        /// Numbers rise, start over, come late and come again, with the same contents and with others.
        #[test]
        fn intervals_of_a_run_are_known_again_in_any_order(
            steps in prop::collection::vec((0..3_u32, -20..30_i32, 0..2_u64, 0..2_u64), 1..400),
        ) {
            let (mut repetition, mut seen, mut numbers) = (Repetition::default(), HashSet::new(), [0_u32; 3]);
            for (segment, step, contents, run) in steps {
                let last = &mut numbers[segment as usize];
                *last = last.wrapping_add_signed(step) % 200;
                let (reported, authenticated, reason, numbers) = (0, false, None, Numbers::new());
                let row = Row { segment, interval: *last, reported, authenticated, reason, numbers };
                let check = xxh3_64_with_seed([segment, *last].map(u32::to_le_bytes).as_flattened(), contents);
                prop_assert_eq!(repetition.is_first_of_run(run, &row, check), seen.insert((run, check)));
            }
        }
    }
}
