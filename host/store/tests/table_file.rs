//! Tables there and back, and files that are damaged.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use bytes::Bytes;
use deltaline_store::table_file::{GROUP, TableFile, write};
use deltaline_store::{Column, Filter, LeftOut, Row, Summing, Sums, Table};
use parquet::errors::ParquetError;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeMap;

const COLUMNS: [&str; 6] = ["sent", "received", "lost", "mean_ns", "mean_ci95_ns_low", "mean_ci95_ns_high"];

/// Appends an interval with a number of each column.
fn add(table: &mut Table, row: Row, numbers: &[Option<i64>]) {
    let named = table.columns().iter().zip(numbers).map(|(column, number)| (column.name.clone(), *number));
    let known: Vec<(String, i64)> = named.filter_map(|(name, number)| Some((name, number?))).collect();
    table.push_row(row, known);
}

/// Intervals of a second of ten segments, whose numbers vary as those of a real path do.
fn table(rows: usize, seed: u64) -> Table {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut table = Table::with_columns(COLUMNS);
    for number in 0..rows {
        let segment = (number % 10) as u32;
        let sent: i64 = rng.random_range(90_000..110_000);
        let lost: i64 = if rng.random_ratio(1, 10) { rng.random_range(0..50) } else { 0 };
        let (mean, error): (i64, i64) = (rng.random_range(-500..12_000_000), rng.random_range(0..9_000));
        let is_known = rng.random_ratio(29, 30);
        let known = |number| is_known.then_some(number);
        let row = Row {
            segment,
            interval: (number / 10) as u32,
            reported: 1_790_000_000_000_000 + (number / 10) as i64 * 1_000_000 + rng.random_range(0..1000),
            authenticated: segment > 3,
            reason: (!is_known).then(|| "loss damaged every row".into()),
        };
        let delays = [known(mean), known(mean - error), known(mean + error)];
        add(&mut table, row, &[&[Some(sent), Some(sent - lost), Some(lost)], &delays[..]].concat());
    }
    table.sort();
    table
}

fn file(table: &Table) -> Bytes {
    let mut bytes = vec![];
    write(table.clone(), &BTreeMap::new(), LeftOut::default(), &mut bytes).unwrap();
    bytes.into()
}

fn read(file: Bytes, filter: &Filter) -> Result<Table, ParquetError> {
    TableFile::open(file)?.rows(filter)
}

#[test]
fn tables_come_back() {
    for rows in [1, 9, 5000, GROUP + 1] {
        let table = table(rows, rows as u64);
        assert_eq!(read(file(&table), &Filter::default()).unwrap(), table);
    }
    assert_eq!(read(file(&table(0, 0)), &Filter::default()).unwrap(), Table::default());
    let row = Row {
        segment: u32::MAX,
        interval: u32::MAX,
        reported: i64::MAX,
        authenticated: true,
        reason: Some("\"ä\n\u{1b}".into()),
    };
    let mut extreme = Table::default();
    extreme.push_row(row, [("a", i64::MIN), ("b_ns", i64::MAX)]);
    assert_eq!(read(file(&extreme), &Filter::default()).unwrap(), extreme);
}

#[test]
fn a_part_is_what_the_whole_has_of_it() {
    let table = table(50_000, 3);
    let middle = table.rows()[25_000].reported;
    let filters = [
        Filter { segment: Some(7), reported: None, authenticated: false },
        Filter { segment: Some(11), reported: None, authenticated: false },
        Filter { segment: None, reported: Some(middle..middle + 500_000_000), authenticated: false },
        Filter { segment: Some(0), reported: Some(i64::MIN..middle), authenticated: false },
    ];
    for filter in filters {
        let mut expected = table.clone();
        expected.retain(|row| filter.takes(row));
        assert_eq!(read(file(&table), &filter).unwrap(), expected, "{filter:?}");
    }
}

#[test]
fn damaged_files_never_panic() {
    let table = table(3000, 4);
    let bytes = file(&table);
    let mut rng = StdRng::seed_from_u64(8);
    let mut refused = 0;
    for trial in 0..600 {
        let mut damaged = bytes.to_vec();
        if trial % 3 == 0 {
            damaged.truncate(rng.random_range(0..bytes.len()));
        } else {
            let end = if trial % 3 == 1 { bytes.len() } else { 600 };
            let at = bytes.len() - 1 - rng.random_range(0..end);
            damaged[at] ^= 1 << rng.random_range(0..8);
        }
        refused += usize::from(read(damaged.into(), &Filter::default()).is_err());
    }
    println!("{refused} of 600 refused");
    assert!(refused >= 200);
}

/// Columns without any number are left out; one with a single number, in the last group of rows, is not, and is there whatever is asked for.
#[test]
fn columns_without_numbers_are_left_out() {
    let whole = table(3 * GROUP, 1);
    let mut sparse = Table::with_columns(["none", "sent", "one", "also_none"]);
    let last = whole.rows().len() - 1;
    for (place, row) in whole.rows().iter().enumerate() {
        add(
            &mut sparse,
            row.clone(),
            &[None, whole.number(place, "sent"), (place == last).then_some(-7), None],
        );
    }
    let file = file(&sparse);
    for segment in [None, Some(0), Some(9)] {
        let read = read(file.clone(), &Filter { segment, ..Filter::default() }).unwrap();
        let names: Vec<&str> = read.columns().iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["sent", "one"]);
        let mut asked = sparse.clone();
        asked.retain(|row| segment.is_none_or(|only| only == row.segment));
        assert_eq!(read.rows(), asked.rows());
        for Column { name, numbers } in read.columns() {
            assert_eq!(Some(&numbers[..]), asked.column(name));
        }
    }
}

/// Tables side by side, in order, and in part, against their rows as maps: columns that only one of them has, several rows of one key, and none at all.
#[test]
fn rows_keep_their_numbers() {
    let maps = |table: &Table| -> Vec<(Row, BTreeMap<String, i64>)> {
        let numbers = |place: usize| {
            let number = |column: &Column| Some((column.name.clone(), column.numbers[place]?));
            table.columns().iter().filter_map(number).collect()
        };
        assert!(table.columns().iter().all(|column| column.numbers.len() == table.rows().len()));
        table.rows().iter().enumerate().map(|(place, row)| (row.clone(), numbers(place))).collect()
    };
    let mut rng = StdRng::seed_from_u64(11);
    let names = ["a", "b", "c", "d", "e"];
    for _ in 0..500 {
        let (mut whole, mut expected) = (Table::default(), vec![]);
        for _ in 0..rng.random_range(0..5) {
            let mut part = Table::with_columns(names[..rng.random_range(0..3)].to_vec());
            let first = rng.random_range(0..3);
            for _ in 0..rng.random_range(0..6) {
                let (segment, interval, reported) =
                    (rng.random_range(0..3), rng.random_range(0..2), rng.random_range(0..3));
                let row = Row { segment, interval, reported, authenticated: rng.random(), reason: None };
                let known = names[first..].iter().filter(|_| rng.random());
                let numbers: BTreeMap<String, i64> =
                    known.map(|name| (name.to_string(), i64::from(name.as_bytes()[0]))).collect();
                let numbers: BTreeMap<String, i64> = numbers
                    .into_iter()
                    .map(|(name, number)| (name, number + 1000 * expected.len() as i64))
                    .collect();
                part.push_row(row.clone(), numbers.clone());
                expected.push((row, numbers));
            }
            whole.append(part);
        }
        assert_eq!(maps(&whole), expected);
        whole.sort();
        expected.sort_by_key(|(row, _)| (row.segment, row.reported, row.interval));
        assert_eq!(maps(&whole), expected);
        whole.retain(|row| row.authenticated || row.segment == 1);
        expected.retain(|(row, _)| row.authenticated || row.segment == 1);
        assert_eq!(maps(&whole), expected);
        whole.have_all_columns();
        assert_eq!(maps(&whole), expected);
    }
}

#[test]
fn sums_are_those_of_packets_and_leave_nothing_out() {
    let row = |reported| Row {
        segment: 1,
        interval: reported as u32,
        reported,
        authenticated: false,
        reason: None,
    };
    let known = |sent, lost, mean| {
        [Some(sent), Some(sent - lost), Some(lost), Some(mean), Some(mean - 30), Some(mean + 40)]
    };
    let parts = [
        vec![
            (0, known(100, 0, 1000)),
            (5, known(310, 10, 2000)),
            (10, [Some(7), Some(0), Some(7), None, None, None]),
        ],
        vec![(12, [Some(50), Some(40), Some(10), None, None, None]), (13, [None; 6]), (-1, known(10, 0, -5))],
    ];
    // In two parts: what belongs together need not come together.
    let mut summing = Summing::new(10);
    for part in parts.iter().rev() {
        let mut table = Table::with_columns(COLUMNS);
        part.iter().for_each(|(reported, numbers)| add(&mut table, row(*reported), numbers));
        summing.add(&table);
    }
    let sums = summing.finish();
    let starts: Vec<i64> = sums.iter().map(|sums| sums.start).collect();
    assert_eq!(starts, [-10, 0, 10]);
    assert_eq!(sums[0].mean, Some(-5.0));
    let Sums { intervals, void, sent, received, lost, unknown, mean, range, .. } = &sums[1];
    assert_eq!((*intervals, *void, *sent, *received, *lost, *unknown), (2, 0, 410, 400, 10, 0));
    assert_eq!(*mean, Some((100.0 * 1000.0 + 300.0 * 2000.0) / 400.0));
    let width = (1.0f64 / 16.0 + 9.0 / 16.0).sqrt();
    let [low, high] = range.unwrap();
    assert!((low - (1750.0 - 30.0 * width)).abs() < 1e-9 && (high - (1750.0 + 40.0 * width)).abs() < 1e-9);
    // One interval with packets has no mean: nor have all together.
    let last = &sums[2];
    assert_eq!((last.intervals, last.void, last.unknown, last.mean, last.range), (3, 1, 1, None, None));
    assert_eq!((last.sent, last.received, last.lost), (57, 40, 17));
}
