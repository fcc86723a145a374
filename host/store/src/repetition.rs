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
use crate::table::{CLOCK_DOUBTED, Column, Row, Table};
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
    /// Intervals with a mean: a run's own, which only its recorder can have twice.
    own: Own,
}

/// Runs' own intervals.
#[derive(Default)]
struct Own {
    /// The last ones.
    last: Known,
    /// Those before.
    before: Known,
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

impl Own {
    /// Those of a run and segment.
    fn of(&mut self, run: u64, segment: u32) -> OfSegment<'_> {
        let Own { last, before } = self;
        OfSegment {
            run,
            before: before.rising.get(&(run, segment)).map_or(&[], |rising| rising),
            others_before: &before.others,
            rising: last.rising.entry((run, segment)).or_default(),
            others: &mut last.others,
            intervals: &mut last.intervals,
        }
    }

    /// Forgets those before, once enough came behind them.
    fn forget(&mut self) {
        if self.last.intervals >= OWN {
            self.before = std::mem::take(&mut self.last);
        }
    }
}

/// What is known of a run's segment.
struct OfSegment<'a> {
    run: u64,
    before: &'a [(u32, u64)],
    others_before: &'a HashSet<u64>,
    rising: &'a mut Vec<(u32, u64)>,
    others: &'a mut HashSet<u64>,
    intervals: &'a mut usize,
}

impl OfSegment<'_> {
    /// Whether an interval has not come before.
    fn is_first(&mut self, interval: u32, check: u64) -> bool {
        let (new, other) = ((interval, check), check ^ self.run);
        let is_above = is_above(self.rising, interval);
        let comes_again = (!is_above && self.rising.binary_search(&new).is_ok())
            || self.others.contains(&other)
            || (!self::is_above(self.before, interval) && self.before.binary_search(&new).is_ok())
            || self.others_before.contains(&other);
        if comes_again {
            return false;
        }
        if is_above {
            self.rising.push(new);
        } else {
            self.others.insert(other);
        }
        *self.intervals += 1;
        true
    }
}

/// Whether an interval's number is above all of these, which rise.
fn is_above(rising: &[(u32, u64)], interval: u32) -> bool {
    rising.last().is_none_or(|(last, _)| *last < interval)
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
    /// Notes those of a run's intervals that are asked for.
    pub(crate) fn ask(&mut self, run: &str, table: &Table, is_asked: impl Fn(&Row) -> bool) {
        let (checks, run) = (Checks::of(table), check_of(run));
        for (place, row) in table.rows().iter().enumerate().filter(|(_, row)| is_asked(row)) {
            let report = Report { reported: row.reported, run };
            let first = self.first.entry(checks.of_row(place, row).own()).or_insert(report);
            *first = report.min(*first);
            let [least, greatest] = self.intervals.unwrap_or([row.interval; 2]);
            self.intervals = Some([least.min(row.interval), greatest.max(row.interval)]);
        }
    }

    /// The numbers of what is asked for.
    pub(crate) fn intervals(&self) -> Option<RangeInclusive<u32>> {
        self.intervals.map(|[least, greatest]| least..=greatest)
    }

    /// Notes those of a run's intervals that were reported earlier, if they are the same ones.
    pub(crate) fn note(&mut self, run: &str, table: &Table, is_earlier: impl Fn(&Row) -> bool) {
        let (checks, run) = (Checks::of(table), check_of(run));
        for (place, row) in table.rows().iter().enumerate().filter(|(_, row)| is_earlier(row)) {
            let check = checks.of_row(place, row);
            if check.near.iter().any(|near| self.first.contains_key(near)) {
                let report = Report { reported: row.reported, run };
                let first = self.first.entry(check.own()).or_insert(report);
                *first = report.min(*first);
            }
        }
    }

    /// Takes the intervals out of a run's table that were reported before, and says how many.
    pub(crate) fn take_out_of(&mut self, table: &mut Table, run: &str) -> Repeated {
        let (checks, run) = (Checks::of(table), check_of(run));
        let (mut kept, mut of_run) = (Vec::with_capacity(table.rows().len()), vec![]);
        for rows in table.rows().chunk_by(|one, next| one.segment == next.segment) {
            let mut own = self.own.of(run, rows[0].segment);
            for row in rows {
                let (check, report) =
                    (checks.of_row(kept.len(), row), Report { reported: row.reported, run });
                let firsts = check.near.iter().filter_map(|near| self.first.get(near));
                let mut earlier = firsts.filter(|first| **first < report);
                if earlier.clone().any(|first| first.run != report.run) {
                    kept.push(false);
                    continue;
                }
                let has_own = earlier.next().is_some();
                let is_repeated = check.has_mean && (!own.is_first(row.interval, check.own()) || has_own);
                of_run.extend(is_repeated.then(|| Reported::from(row)));
                kept.push(!is_repeated);
            }
            self.own.forget();
        }
        drop(checks);
        table.retain_places(&kept);
        of_run.sort_unstable();
        Repeated { intervals: kept.into_iter().filter(|is_kept| !is_kept).count(), own: of_run }
    }
}

/// A check of a run's name.
fn check_of(run: &str) -> u64 {
    xxh3_64(run.as_bytes())
}

/// Checks of a table's rows. Tables may have other columns, and in another order: each value's check is of its column's name, too. Whether its clocks are doubted
/// is none of an interval's numbers: it hangs on when control frames came.
struct Checks<'a> {
    of_rows: Vec<u64>,
    means: &'a [Option<i64>],
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

impl<'a> Checks<'a> {
    fn of(table: &'a Table) -> Self {
        let of_row = |row: &Row| {
            let own = [row.segment, row.interval, u32::from(row.authenticated)].map(u32::to_le_bytes);
            xxh3_64(own.as_flattened())
        };
        let mut of_rows: Vec<u64> = table.rows().iter().map(of_row).collect();
        for Column { name, numbers } in table.columns().iter().filter(|column| column.name != CLOCK_DOUBTED) {
            let seed = xxh3_64(name.as_bytes());
            for (check, number) in of_rows.iter_mut().zip(numbers) {
                if let Some(number) = number {
                    *check = check.wrapping_add(xxh3_64_with_seed(&number.to_le_bytes(), seed));
                }
            }
        }
        Checks { of_rows, means: table.column("mean_ns").unwrap_or_default() }
    }

    /// Of the row in this place.
    fn of_row(&self, place: usize, row: &Row) -> Check {
        let check = self.of_rows.get(place).copied().unwrap_or_default();
        let has_mean = matches!(self.means.get(place), Some(Some(_)));
        let then =
            |step: i64| xxh3_64_with_seed(&(row.reported.div_euclid(APART) + step).to_le_bytes(), check);
        let near = if has_mean { [check; 3] } else { [-1, 0, 1].map(then) };
        Check { has_mean, near }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Numbers rise, start over, come late and come again, with the same contents and with others.
        #[test]
        fn intervals_of_a_run_are_known_again_in_any_order(
            steps in prop::collection::vec((0..3_u32, -20..30_i32, 0..2_u64, 0..2_u64), 1..400),
        ) {
            let (mut own, mut seen, mut numbers) = (Own::default(), HashSet::new(), [0_u32; 3]);
            for (segment, step, contents, run) in steps {
                let last = &mut numbers[segment as usize];
                *last = last.wrapping_add_signed(step) % 200;
                let check = xxh3_64_with_seed([segment, *last].map(u32::to_le_bytes).as_flattened(), contents);
                prop_assert_eq!(own.of(run, segment).is_first(*last, check), seen.insert((run, check)));
            }
        }
    }
}
