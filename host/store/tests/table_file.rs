//! Tables there and back, and files that are damaged.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use bytes::Bytes;
use deltaline_store::table_file::{GROUP, TableFile, write};
use deltaline_store::{Filter, LeftOut, Row, Summing, Sums, Table};
use parquet::errors::ParquetError;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeMap;

/// Intervals of a second of ten segments, whose numbers vary as those of a real path do.
fn table(rows: usize, seed: u64) -> Table {
    let mut rng = StdRng::seed_from_u64(seed);
    let columns =
        ["sent", "received", "lost", "mean_ns", "mean_ci95_ns_low", "mean_ci95_ns_high"].map(String::from);
    let row = |number: usize| {
        let segment = (number % 10) as u32;
        let sent: i64 = rng.random_range(90_000..110_000);
        let lost: i64 = if rng.random_ratio(1, 10) { rng.random_range(0..50) } else { 0 };
        let (mean, error): (i64, i64) = (rng.random_range(-500..12_000_000), rng.random_range(0..9_000));
        let is_known = rng.random_ratio(29, 30);
        let known = |number| is_known.then_some(number);
        Row {
            segment,
            interval: (number / 10) as u32,
            reported: 1_790_000_000_000_000 + (number / 10) as i64 * 1_000_000 + rng.random_range(0..1000),
            authenticated: segment > 3,
            reason: (!is_known).then(|| "loss damaged every row".into()),
            numbers: [
                Some(sent),
                Some(sent - lost),
                Some(lost),
                known(mean),
                known(mean - error),
                known(mean + error),
            ]
            .into_iter()
            .collect(),
        }
    };
    let mut table = Table { columns: columns.to_vec(), rows: (0..rows).map(row).collect() };
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
    let extreme = Table {
        columns: vec!["a".into(), "b_ns".into()],
        rows: vec![Row {
            segment: u32::MAX,
            interval: u32::MAX,
            reported: i64::MAX,
            authenticated: true,
            reason: Some("\"ä\n\u{1b}".into()),
            numbers: [Some(i64::MIN), Some(i64::MAX)].into_iter().collect(),
        }],
    };
    assert_eq!(read(file(&extreme), &Filter::default()).unwrap(), extreme);
}

#[test]
fn a_part_is_what_the_whole_has_of_it() {
    let table = table(50_000, 3);
    let middle = table.rows[25_000].reported;
    let filters = [
        Filter { segment: Some(7), reported: None, authenticated: false },
        Filter { segment: Some(11), reported: None, authenticated: false },
        Filter { segment: None, reported: Some(middle..middle + 500_000_000), authenticated: false },
        Filter { segment: Some(0), reported: Some(i64::MIN..middle), authenticated: false },
    ];
    for filter in filters {
        let mut expected = table.clone();
        expected.rows.retain(|row| filter.takes(row));
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
    let mut sparse = whole.clone();
    let columns = ["none", "sent", "one", "also_none"];
    sparse.columns = columns.map(String::from).to_vec();
    for row in &mut sparse.rows {
        row.numbers = [None, row.numbers[0], None, None].into_iter().collect();
    }
    let last = sparse.rows.len() - 1;
    sparse.rows[last].numbers[2] = Some(-7);
    let file = file(&sparse);
    for segment in [None, Some(0), Some(9)] {
        let read = read(file.clone(), &Filter { segment, ..Filter::default() }).unwrap();
        assert_eq!(read.columns, ["sent", "one"]);
        let asked = sparse.rows.iter().filter(|row| segment.is_none_or(|only| only == row.segment));
        assert!(read.rows.iter().map(|row| &row.numbers[..]).eq(asked.map(|row| &row.numbers[1..3])));
    }
}

#[test]
fn sums_are_those_of_packets_and_leave_nothing_out() {
    let row = |reported, numbers: [Option<i64>; 6]| Row {
        segment: 1,
        interval: reported as u32,
        reported,
        authenticated: false,
        reason: None,
        numbers: numbers.into_iter().collect(),
    };
    let columns = table(0, 0).columns;
    let known = |sent, lost, mean| {
        [Some(sent), Some(sent - lost), Some(lost), Some(mean), Some(mean - 30), Some(mean + 40)]
    };
    let mut table = Table {
        columns,
        rows: vec![
            row(0, known(100, 0, 1000)),
            row(5, known(310, 10, 2000)),
            row(10, known(7, 7, 0)),
            row(12, [Some(50), Some(40), Some(10), None, None, None]),
            row(13, [None; 6]),
            row(-1, known(10, 0, -5)),
        ],
    };
    table.rows[2].numbers[3..].fill(None);
    // In two parts: what belongs together need not come together.
    let mut summing = Summing::new(10);
    let rest = Table { columns: table.columns.clone(), rows: table.rows.split_off(3) };
    summing.add(&rest);
    summing.add(&table);
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
