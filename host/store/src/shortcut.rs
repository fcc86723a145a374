//! The shortcut of sums: which files of numbers need not be read row by row, as their stretches say what is asked for.
//!
//! It is open where all recordings are of one run, and in all of them together each segment's numbers rise, one by one, those of recordings that are still open
//! among them. Then no interval comes again, and all that is to be known of a stretch is known from its ends. A file takes it if
//! each of its stretches that is asked for belongs to one sum, and is asked for as a whole: in front of the edges of the time that is asked for, and behind
//! them, rows are read.
//!
//! # Test plan
//!
//! Sums, and what is noticed, are those of rows, over folders whose numbers are missing, come late, come again, or start over, in files one behind the other, of one recorder and of
//! two, in random times, by hours, by minutes and by odd times, of any segment, signed or not; of a regular folder no file is read, and of a time that is asked for those
//! outside of it; numbers that rise by half of all and more. `tests/folder.rs`: recordings that are open.

use crate::continuity::Reported;
use crate::stretch::Stretch;
use crate::summing::Summing;
use crate::table::{Filter, LeftOut};
use std::collections::BTreeMap;

/// What a file says of itself without its rows.
pub(crate) struct Said {
    /// Its stretches; none where it does not say them.
    pub(crate) stretches: Option<Vec<Stretch>>,
    pub(crate) left_out: LeftOut,
}

/// The files that need not be read, each under its recording's name, with those of its stretches that are asked for.
#[derive(Default)]
pub(crate) struct Shortcut<'a> {
    files: BTreeMap<&'a str, Said>,
    /// Of each segment, the greatest number that has come.
    greatest: BTreeMap<u32, u32>,
}

impl<'a> Shortcut<'a> {
    /// Takes the next file; none if there is no shortcut.
    pub(crate) fn file(
        mut self,
        recording: &'a str,
        said: Said,
        filter: &Filter,
        sums: &Summing,
    ) -> Option<Self> {
        let Said { stretches, left_out } = said;
        let mut stretches = stretches?;
        for [first, last] in stretches.iter().map(Stretch::ends) {
            self.rises_to(&first)?;
            self.greatest.insert(last.segment, last.interval);
        }
        let is_empty = stretches.is_empty();
        stretches.retain(|stretch| stretch.is_of(filter));
        let stand = |stretch: &Stretch| stretch.is_within(filter) && sums.holds(stretch);
        // One of which nothing is asked for has its place before or behind others.
        if (is_empty || !stretches.is_empty()) && stretches.iter().all(stand) {
            self.files.insert(recording, Said { stretches: Some(stretches), left_out });
        }
        Some(self)
    }

    /// Takes intervals of a recording that is open; none if there is no shortcut.
    pub(crate) fn open(mut self, intervals: impl IntoIterator<Item = Reported>) -> Option<Self> {
        intervals.into_iter().try_for_each(|interval| self.rises_to(&interval))?;
        Some(self)
    }

    /// What is said of a recording whose file need not be read.
    pub(crate) fn said(&self, recording: &str) -> Option<&Said> {
        self.files.get(recording)
    }

    /// None if a segment's numbers do not rise to this one.
    fn rises_to(&mut self, interval: &Reported) -> Option<()> {
        let before = self.greatest.insert(interval.segment, interval.interval);
        // One that is farther ahead may as well come late, from before numbers started over.
        let rises =
            |before: u32| interval.interval.checked_sub(before).is_some_and(|by| by > 0 && by < 1 << 31);
        before.is_none_or(rises).then_some(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::folder::{Folder, Noticed};
    use crate::summing::Sums;
    use crate::table::{Row, Table};
    use deltaline_collect::collector::Collector;
    use proptest::prelude::*;
    use std::path::Path;
    use tempfile::TempDir;

    const MINUTE: i64 = 60_000_000;
    const HOUR: i64 = 60 * MINUTE;
    const BEGINNING: i64 = 1_767_225_600_000_000;
    const COLUMNS: [&str; 7] =
        ["sent", "received", "lost", "mean_ns", "mean_ci95_ns_low", "mean_ci95_ns_high", "clock_doubted"];

    /// An interval of a minute, with numbers that are its own.
    fn add(table: &mut Table, segment: u32, interval: u32, reported: i64, authenticated: bool) {
        let of = |bound: u64| (u64::from(interval) * 7919 + u64::from(segment) * 104_729) % bound;
        let sent = 1000 + of(97) as i64;
        let lost = of(13) as i64;
        let mean = 50_000 + of(1009) as i64;
        let numbers = [sent, sent - lost, lost, mean, mean - of(31) as i64, mean + of(37) as i64, 1];
        // Some have no mean, some no end of its interval, and few doubtful clocks.
        let has = |place| match place {
            3..=5 if of(41) == 0 => false,
            4 if of(43) == 0 => false,
            6 => of(47) == 0,
            _ => true,
        };
        let numbers = numbers.into_iter().enumerate().filter(|(place, _)| has(*place));
        let row = Row { segment, interval, reported, authenticated, reason: None };
        table.push_row(row, numbers.map(|(place, number)| (COLUMNS[place], number)));
    }

    /// A folder with files of these names.
    fn folder(path: &Path, files: Vec<(String, Table)>) -> Folder {
        let mut folder = Folder::open(path).unwrap();
        for (name, table) in files {
            folder.add(&name, 0, table, &BTreeMap::new(), LeftOut::default()).unwrap();
        }
        Folder::open(path).unwrap()
    }

    fn name(run: &str, hour: i64) -> String {
        format!("{run}-202601{:02}T{:02}0000.000000Z", 1 + hour / 24, hour % 24)
    }

    /// Sums of rows that are read one by one.
    fn of_rows(folder: &Folder, filter: &Filter, every: i64) -> (Vec<Sums>, Noticed) {
        let mut summing = Summing::new(every);
        let noticed = folder.each(filter, Collector::default, |table| summing.add(&table.unwrap()));
        (summing.finish(), noticed)
    }

    fn of_any_way(folder: &Folder, filter: &Filter, every: i64) -> (Vec<Sums>, Noticed) {
        folder.sums(filter, every, Collector::default, |error| panic!("{error}"))
    }

    /// Sums that are the same but for how real numbers are rounded.
    fn are_equal(one: &[Sums], other: &[Sums]) -> bool {
        let near = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => (one - other).abs() <= 1e-9 * one.abs(),
            (one, other) => one == other,
        };
        let ends = |range: Option<[f64; 2]>| [range.map(|range| range[0]), range.map(|range| range[1])];
        let without = |sums: &Sums| Sums { mean: None, range: None, ..sums.clone() };
        one.len() == other.len()
            && one.iter().zip(other).all(|(one, other)| {
                without(one) == without(other)
                    && near(one.mean, other.mean)
                    && ends(one.range).into_iter().zip(ends(other.range)).all(|(one, other)| near(one, other))
            })
    }

    /// The files that are read row by row.
    fn read(folder: &Folder, filter: &Filter, every: i64, files: i64) -> Option<i64> {
        let shortcut = folder.shortcut(filter, &Summing::new(every), &[])?;
        Some((0..files).filter(|hour| shortcut.said(&name("north", *hour)).is_none()).count() as i64)
    }

    #[test]
    fn no_file_of_a_regular_folder_is_read() {
        let files = (0..30).map(|hour| {
            let mut table = Table::with_columns(COLUMNS);
            for minute in (0..60).filter(|minute| hour != 7 || *minute != 20) {
                let number = 60 * hour + minute;
                for segment in [3, 8] {
                    add(&mut table, segment, 900 + number as u32, BEGINNING + number * MINUTE, false);
                }
            }
            (name("north", hour), table)
        });
        let place = TempDir::new().unwrap();
        let folder = folder(place.path(), files.collect());
        let of_time = |reported| Filter { reported: Some(reported), ..Filter::default() };
        let half = BEGINNING + 2 * HOUR + HOUR / 2;
        for (filter, every, expected) in [
            (Filter::default(), HOUR, 0),
            (Filter::default(), 24 * HOUR, 0),
            (Filter::default(), i64::MAX, 0),
            (Filter { segment: Some(8), ..Filter::default() }, HOUR, 0),
            (Filter::default(), MINUTE, 30),
            // Those outside are looked at for what is missing beside the edges.
            (of_time(BEGINNING + 2 * HOUR..BEGINNING + 9 * HOUR), HOUR, 23),
            (of_time(half..BEGINNING + 9 * HOUR), HOUR, 24),
            (Filter { authenticated: true, ..Filter::default() }, HOUR, 30),
        ] {
            assert_eq!(read(&folder, &filter, every, 30), Some(expected), "{filter:?} {every}");
            let (sums, noticed) = of_any_way(&folder, &filter, every);
            let (of_rows, of_rows_noticed) = of_rows(&folder, &filter, every);
            assert!(are_equal(&sums, &of_rows), "{filter:?}");
            assert_eq!(noticed, of_rows_noticed);
            assert_eq!(noticed.missing.is_empty(), filter.authenticated, "{filter:?}");
        }
    }

    /// Behind numbers that rise too far, those that are the last before numbers start over come late.
    #[test]
    fn numbers_far_ahead_are_read() {
        for (next, is_open) in
            [(10, false), (11, true), (10 + (1 << 31), false), (9 + (1 << 31), true), (u32::MAX, false)]
        {
            let reported = [10, next].map(|interval| Reported { segment: 1, reported: 0, interval });
            assert_eq!(Shortcut::default().open(reported).is_some(), is_open, "{next}");
        }
        let (mut first, mut last) = (Table::with_columns(COLUMNS), Table::with_columns(COLUMNS));
        (5..10).for_each(|number| add(&mut first, 1, number, BEGINNING + i64::from(number) * MINUTE, false));
        (0..4).for_each(|number| {
            add(&mut last, 1, u32::MAX - 3 + number, BEGINNING + HOUR + i64::from(number), false)
        });
        let place = TempDir::new().unwrap();
        let folder = folder(place.path(), vec![(name("north", 0), first), (name("north", 1), last)]);
        let (sums, noticed) = of_any_way(&folder, &Filter::default(), HOUR);
        let (of_rows, of_rows_noticed) = of_rows(&folder, &Filter::default(), HOUR);
        assert!(are_equal(&sums, &of_rows));
        assert_eq!(noticed, of_rows_noticed);
    }

    /// What a recorder makes of the next minute.
    #[derive(Clone, Debug)]
    enum Step {
        Usual,
        Missing(u32),
        Again(u32),
        Late(i64),
        StartsOver(u32),
        Tags,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            300 => Just(Step::Usual),
            6 => (1..50_u32).prop_map(Step::Missing),
            1 => (1..90_u32).prop_map(Step::Again),
            1 => (1..20_i64).prop_map(Step::Late),
            1 => (0..9_u32).prop_map(Step::StartsOver),
            3 => Just(Step::Tags),
        ];
        prop_oneof![
            // Numbers that rise, too: the others leave no shortcut.
            prop::collection::vec(
                prop_oneof![40 => Just(Step::Usual), 1 => (1..50_u32).prop_map(Step::Missing), 1 => Just(Step::Tags)],
                0..500
            ),
            prop::collection::vec(step, 0..500),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        /// Within a file numbers rise, but not from file to file, nor from run to run; times that are asked for begin and end with files.
        #[test]
        fn sums_of_files_that_rise_are_those_of_rows(
            files in prop::collection::vec((-40..90_i32, 1..60_u32, prop_oneof![7 => Just(false), 1 => Just(true)]), 0..8),
            rises in any::<bool>(),
            asked in proptest::option::of((-1..8_i64, 0..8_i64)),
        ) {
            let (mut number, mut tables) = (1000_u32, vec![]);
            for ((step, many, is_south), hour) in files.into_iter().zip(0..) {
                number = number.saturating_add_signed(if rises { step.abs() } else { step });
                let mut table = Table::with_columns(COLUMNS);
                // What another recorder has is of the same time as what came before.
                let hour = if is_south && hour > 0 { hour - 1 } else { hour };
                for place in 0..many {
                    add(&mut table, 0, number + place, BEGINNING + hour * HOUR + i64::from(place) * MINUTE, false);
                }
                number += many;
                tables.push((name(if is_south { "south" } else { "north" }, hour), table));
            }
            let place = TempDir::new().unwrap();
            let folder = folder(place.path(), tables);
            let reported = asked.map(|(from, many)| BEGINNING + from * HOUR..BEGINNING + (from + many) * HOUR);
            let filter = Filter { reported, ..Filter::default() };
            let (sums, noticed) = of_any_way(&folder, &filter, HOUR);
            let (of_rows, of_rows_noticed) = of_rows(&folder, &filter, HOUR);
            prop_assert!(are_equal(&sums, &of_rows), "{sums:?}\n{of_rows:?}");
            prop_assert_eq!(noticed, of_rows_noticed);
        }

        #[test]
        fn sums_are_those_of_rows(
            steps in steps(),
            seconds in 1..90_i64,
            hours in 1..4_i64,
            both in prop_oneof![5 => Just(false), 1 => Just(true)],
            asked in proptest::option::of((-2000..9000_i64, 0..9000_i64)),
            segment in proptest::option::of(0..3_u32),
            authenticated in any::<bool>(),
            every in prop_oneof![3 => Just(HOUR), 1 => Just(5 * MINUTE), 1 => Just(3 * HOUR), 1 => Just(7_000_000_001)],
        ) {
            let (mut number, mut time, mut has_tags) = (1000_u32, BEGINNING - 900 * MINUTE / 60, false);
            let mut files: BTreeMap<(bool, i64), Table> = BTreeMap::new();
            for step in steps {
                let (mut of_row, mut reported) = (number, time);
                match step {
                    Step::Usual => {}
                    Step::Missing(many) => (number, of_row) = (number + many, number + many),
                    Step::Again(back) => of_row = number.saturating_sub(back),
                    Step::Late(minutes) => reported += minutes * MINUTE,
                    Step::StartsOver(first) => (number, of_row) = (first, first),
                    Step::Tags => has_tags = !has_tags,
                }
                let file = (time - BEGINNING).div_euclid(hours * HOUR).max(0);
                for run in [false, true].into_iter().take(1 + usize::from(both)) {
                    let table = files.entry((run, file)).or_insert_with(|| Table::with_columns(COLUMNS));
                    for segment in 0..2 {
                        add(table, segment, of_row, reported + i64::from(run) * 1234, has_tags);
                    }
                }
                number += u32::from(of_row == number);
                time += seconds * 1_000_000;
            }
            let place = TempDir::new().unwrap();
            let named = |((run, file), table)| (name(if run { "south" } else { "north" }, file * hours), table);
            let folder = folder(place.path(), files.into_iter().map(named).collect());
            let reported = asked.map(|(from, many)| {
                BEGINNING + from * 1_000_000..BEGINNING + (from + many) * 1_000_000
            });
            let filter = Filter { segment, reported, authenticated };
            let (sums, noticed) = of_any_way(&folder, &filter, every);
            let (of_rows, of_rows_noticed) = of_rows(&folder, &filter, every);
            prop_assert!(are_equal(&sums, &of_rows), "{sums:?}\n{of_rows:?}");
            prop_assert_eq!(noticed, of_rows_noticed);
        }
    }
}
