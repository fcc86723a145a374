//! The store against an independent reader: a month of intervals, written as `deltaline store` writes them, is read by DuckDB.
//!
//! A month of ten segments and intervals of a second is 25.9 million rows in 720 files. Numbers vary as those of a busy path do: each interval
//! has its own count of packets, mean, interval of the mean, and deviation, and one in thirty has no mean.
//!
//! Test plan: DuckDB and the store give the same sums of each segment, to the last digit; the same history of one; the store's sums of hours are those of its rows; the size of a row is at most what
//! the documents say. Times are printed, for both, with as many threads as there are processors and from the page cache, and not judged.

use crate::{Failure, acceptance, tools};
use deltaline_collect::text::utc;
use deltaline_store::{Filter, Folder, LeftOut, Row, Summing, Sums, Table};
use deltaline_traffic::random::{Random, Seed};
use std::fs;
use std::process::Stdio;
use std::time::Instant;
use tempfile::TempDir;

/// Rows of an hour: ten segments, a second each.
const HOUR: u64 = 10 * 3600;
const SEGMENTS: u64 = 10;
/// The segment whose history is asked for.
const ONE: u32 = 3;
/// Bytes that a row may take.
const MOST_BYTES: f64 = 16.0;
const BEGINNING: i64 = 1_767_225_600_000_000;
const SECOND: i64 = 1_000_000;

/// What DuckDB is asked: sums of every segment, and one segment's history as a checksum.
const QUESTIONS: &str = r#"
import duckdb, sys, time
files = sys.argv[1] + "/*.parquet"
start = time.monotonic()
for row in duckdb.sql(f"""select segment, count(*), sum(sent), sum(lost), count(mean_ns), sum(mean_ns), min(epoch_us(reported)), max(epoch_us(reported))
                          from '{files}' group by segment order by segment""").fetchall():
    print(*row)
middle = time.monotonic()
history = duckdb.sql(f"select epoch_us(reported), mean_ns from '{files}' where segment = {sys.argv[2]} order by reported").fetchall()
print(len(history), sum(place * (mean or 0) for place, (_, mean) in enumerate(history)))
print(f"DuckDB: all {middle - start:.2f} s, one segment {time.monotonic() - middle:.2f} s", file=sys.stderr)
"#;

/// Writes so many rows, asks both, and compares.
pub(crate) fn check(rows: u64) -> Result<(), Failure> {
    eprintln!("==> the store against DuckDB, {rows} rows");
    let mut python = tools::readers_python()?;
    let place = TempDir::new()?;
    let mut folder = Folder::open(place.path())?;
    let mut random = Seed::new(20).random();
    let start = Instant::now();
    for hour in 0..rows.div_ceil(HOUR) {
        let rows = HOUR.min(rows - hour * HOUR);
        folder.add(
            &recording(hour),
            0,
            table(hour, rows, &mut random),
            &Default::default(),
            LeftOut::default(),
        )?;
    }
    eprintln!("written in {:.1} s", start.elapsed().as_secs_f64());
    let bytes: u64 =
        fs::read_dir(place.path())?.map(|file| Ok(file?.metadata()?.len())).sum::<std::io::Result<u64>>()?;
    let size = bytes as f64 / rows as f64;
    let script = place.path().join("questions.py");
    fs::write(&script, QUESTIONS)?;
    python.arg(script).arg(place.path()).arg(ONE.to_string()).stderr(Stdio::inherit());
    let theirs = acceptance::run(&mut python)?;
    let ours = answers(&folder)?;
    if theirs != ours {
        return Err(format!("DuckDB reads\n{theirs}where the store has\n{ours}").into());
    }
    println!("{rows} rows of {size:.1} bytes: DuckDB reads what was written");
    if size > MOST_BYTES { Err(format!("a row takes more than {MOST_BYTES} bytes").into()) } else { Ok(()) }
}

/// What `read --record north.pcapng --rotate 1h` calls an hour: all of them are one run.
fn recording(hour: u64) -> String {
    let moment = utc(1000 * (BEGINNING as u64 + hour * 3600 * SECOND as u64)).replace(['-', ':'], "");
    format!("north-{}Z", moment.trim_end_matches("000Z"))
}

/// An hour of intervals.
fn table(hour: u64, rows: u64, random: &mut Random) -> Table {
    let columns = ["sent", "received", "lost", "mean_ns", "mean_ci95_ns_low", "mean_ci95_ns_high", "std_ns"];
    let mut table = Table::with_columns(columns);
    for number in 0..rows {
        let second = hour * 3600 + number / SEGMENTS;
        let mut below = |bound: u64| (random.uniform() * bound as f64) as i64;
        let sent = 90_000 + below(20_000);
        let lost = if below(10) == 0 { below(50) } else { 0 };
        let (mean, error, deviation) = (100_000 + below(60_000), below(500), 20_000 + below(5000));
        let is_known = below(30) > 0;
        let row = Row {
            segment: (number % SEGMENTS) as u32,
            interval: second as u32,
            reported: BEGINNING + second as i64 * SECOND + below(2000),
            authenticated: true,
            reason: (!is_known).then(|| "not identifiable: loss damaged every row".into()),
        };
        let counts = [sent, sent - lost, lost];
        let delays = is_known.then_some([mean, mean - error, mean + error, deviation]);
        table.push_row(row, columns.into_iter().zip(counts.into_iter().chain(delays.into_iter().flatten())));
    }
    table
}

/// What the store itself says to the questions, line by line.
fn answers(folder: &Folder) -> Result<String, Failure> {
    let none = || deltaline_collect::collector::Collector::default();
    let mut unread = Ok(());
    let start = Instant::now();
    let (hours, _) = folder.sums(&Filter::default(), 3600 * SECOND, none, |error| unread = Err(error));
    let after_hours = start.elapsed();
    let start = Instant::now();
    let mut of_rows = Summing::new(3600 * SECOND);
    folder.each(&Filter::default(), none, |table| match table {
        Ok(table) => of_rows.add(&table),
        Err(error) => unread = Err(error),
    });
    let after_rows = start.elapsed();
    let start = Instant::now();
    let of_one = Filter { segment: Some(ONE), ..Filter::default() };
    let (mut place, mut history) = (0_i128, 0_i128);
    folder.each(&of_one, none, |table| match table {
        Ok(table) => {
            for mean in table.column("mean_ns").unwrap_or_default() {
                history += place * i128::from(mean.unwrap_or(0));
                place += 1;
            }
        }
        Err(error) => unread = Err(error),
    });
    let [after_hours, after_rows, after_one] =
        [after_hours, after_rows, start.elapsed()].map(|time| time.as_secs_f64());
    eprintln!(
        "the store: all as hours {after_hours:.2} s, all row by row {after_rows:.2} s, one segment's rows {after_one:.2} s"
    );
    let counts = |sums: &Sums| (sums.segment, sums.start, sums.intervals, sums.sent, sums.lost, sums.unknown);
    if !hours.iter().map(counts).eq(of_rows.finish().iter().map(counts)) {
        return Err("the store's sums of hours are not those of its rows".into());
    }
    // Sums of means as DuckDB makes them.
    let mut sums: Vec<[i128; 7]> = vec![[0, 0, 0, 0, 0, i128::MAX, 0]; SEGMENTS as usize];
    folder.each(&Filter::default(), none, |table| {
        let table = match table {
            Ok(table) => table,
            Err(error) => return unread = Err(error),
        };
        for (place, row) in table.rows().iter().enumerate() {
            let Some(sum) = sums.get_mut(row.segment as usize) else { continue };
            let mean = table.number(place, "mean_ns");
            let more = [
                1,
                table.number(place, "sent").unwrap_or(0),
                table.number(place, "lost").unwrap_or(0),
                i64::from(mean.is_some()),
                mean.unwrap_or(0),
            ];
            sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += i128::from(more));
            sum[5] = sum[5].min(row.reported.into());
            sum[6] = sum[6].max(row.reported.into());
        }
    });
    unread?;
    let mut text = String::new();
    for (segment, sum) in sums.iter().enumerate().filter(|(_, sum)| sum[0] > 0) {
        let numbers: Vec<String> = sum.iter().map(i128::to_string).collect();
        text += &format!("{segment} {}\n", numbers.join(" "));
    }
    Ok(text + &format!("{place} {history}\n"))
}
