//! `deltaline query`: what a store knows of any segment and any time.
//!
//! # Test plan
//!
//! `tests/store.rs`: the intervals are those of `read`, closed or not; parts by segment and time; hours together; times that are none.

mod flows;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::flows::points::WorstFlows;
use crate::parse;
use crate::progress::working;
use crate::report::{self, duration, or_none};
use crate::show::json::Schema;
use crate::show::value::value;
use crate::store::{Believed, failure, passed_over};
use clap::Args;
use deltaline_collect::collector::Collector;
use deltaline_collect::summary::Missing;
use deltaline_collect::text::utc;
use deltaline_estimate::quantity::{DEVIATION, Definition, LOST, MEAN, Number, P99, Quantity, SENT};
use deltaline_store::{Column, Filter, Folder, Noticed, Row, StoreError, Sums, Table};
use serde::Serialize;
use serde::ser::{Error as _, SerializeMap, Serializer};
use std::path::{Path, PathBuf};

pub(crate) const EXAMPLES: &str = "\
Examples:
  An hour of one segment, interval by interval:
    deltaline query store --segment 1 --from 2026-01-23T07:00:00Z --to 2026-01-23T08:00:00Z

  All of January, an hour a line, for a program:
    deltaline query store --from 2026-01-01T00:00:00Z --to 2026-02-01T00:00:00Z --every 1h --json

  The five flows that were slowest for certain, of those that a file names, in each interval of a minute months ago:
    deltaline query store --design lds.toml --flows flows.json --count 5 --from 2026-01-23T07:00:00Z --to 2026-01-23T07:01:00Z

What is known of single flows is in recordings alone, which are read again for it: where `store --keep` has removed one, that is said in the place of
its intervals' flows, and the exit code is 5. With --json, flows come as an object a line, as of `read`.";

/// Why flows have no periods.
const EVERY_OF_FLOWS: &str = "--flows says what holds of single intervals, and --every adds intervals up: added up, a cell would hold more packets of other flows, and be lost \
                              to all with one packet that was lost in any interval, and of sums of answers nobody knows how often they hold; leave out --every, and ask for a \
                              time with --from and --to";

#[derive(Debug, Args)]
pub(crate) struct Query {
    /// The folder of `deltaline store`
    pub(crate) folder: PathBuf,
    /// This segment alone
    #[arg(long, value_name = "NUMBER")]
    pub(crate) segment: Option<u32>,
    /// Intervals that were reported from then on, such as 2026-01-23T07:00:00Z
    #[arg(long, value_parser = parse::moment, value_name = "TIME")]
    pub(crate) from: Option<i64>,
    /// Intervals that were reported before then
    #[arg(long, value_parser = parse::moment, value_name = "TIME")]
    pub(crate) to: Option<i64>,
    /// Combine intervals into periods of this length, aligned to 1970-01-01 UTC: 1h gives hours in UTC
    #[arg(long, value_parser = parse::duration, value_name = "DURATION")]
    pub(crate) every: Option<u64>,
    #[command(flatten)]
    pub(crate) worst: WorstFlows,
    #[command(flatten)]
    pub(crate) believed: Believed,
    /// Write the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Query {
    /// What is asked for.
    fn filter(&self) -> Filter {
        // From a moment on: the microsecond that it is in, too, only if it is that one's beginning.
        let end = |moment: Option<i64>, unless| {
            moment.map_or(unless, |moment| moment.div_euclid(1000) + i64::from(moment.rem_euclid(1000) > 0))
        };
        let is_timed = self.from.is_some() || self.to.is_some();
        Filter {
            segment: self.segment,
            reported: is_timed.then(|| end(self.from, i64::MIN)..end(self.to, i64::MAX)),
            authenticated: self.believed.wants_signed(),
        }
    }
}

pub(crate) fn run(arguments: &Query) -> Result<Exit, Failure> {
    let Query { folder, every, worst, believed, .. } = arguments;
    if worst.file.is_some() && every.is_some() {
        return Err(Failure::new(Exit::Usage, EVERY_OF_FLOWS));
    }
    let asked = worst.asked(believed.design())?;
    let collectors = believed.collectors()?;
    let filter = arguments.filter();
    if let Some(asked) = asked {
        let opened = Folder::open(folder).map_err(|error| failure(folder, error))?;
        return flows::run(arguments, &asked, &opened, &filter, collectors);
    }
    let mut attempt = 1;
    let (told, shown, is_empty) = loop {
        let opened = Folder::open(folder);
        if attempt == ATTEMPTS || !opened.as_ref().is_err_and(is_gone) {
            let opened = opened.map_err(|error| failure(folder, error))?;
            let found = found(arguments, &opened, &filter, &collectors);
            if attempt == ATTEMPTS || !found.0.is_outdated {
                break found;
            }
        }
        attempt += 1;
    };
    told.say(believed);
    let Told { warnings, .. } = &told;
    match shown {
        Shown::Text(text) => report::print(&text)?,
        Shown::Sums(sums) => report::print_json(&SumsOutput { warnings: warnings.clone(), ..sums })?,
        Shown::Intervals(table) => report::print_json(&IntervalsOutput::of(&table, warnings.clone()))?,
    }
    Ok(told.finish(believed, is_empty))
}

/// How often a folder is looked at whose files are removed meanwhile, as by `store --keep`: what they hold is in others by then.
const ATTEMPTS: u32 = 5;

/// Whether it is of a file that has been removed meanwhile.
fn is_gone(error: &StoreError) -> bool {
    error.file().is_some_and(|file| file.symlink_metadata().is_err())
}

/// What a folder holds: what is to be said of it, the numbers, and whether there are none.
fn found<'a>(
    arguments: &'a Query,
    opened: &Folder,
    filter: &Filter,
    collectors: &impl Fn() -> Collector,
) -> (Told<'a>, Shown, bool) {
    let Query { folder, every, json, .. } = arguments;
    let mut told = Told::of(folder);
    let noticed;
    let (shown, is_empty) = if let Some(every) = every {
        let every = i64::try_from(every.div_ceil(1000)).unwrap_or(i64::MAX);
        let failed = |error| told.leave_out(error);
        let sums;
        (sums, noticed) = working(WORK, || opened.sums(filter, every, collectors, failed));
        let output = SumsOutput {
            schema: Schema::of("query"),
            sums: sums.iter().map(Into::into).collect(),
            warnings: vec![],
        };
        (if *json { Shown::Sums(output) } else { Shown::Text(table_of_sums(&sums)) }, sums.is_empty())
    } else {
        let mut whole = Table::default();
        // As in the files, whether recordings are closed or not.
        whole.have_all_columns();
        let take = |table| match table {
            Ok(table) => whole.append(table),
            Err(error) => told.leave_out(error),
        };
        noticed = working(WORK, || opened.each(filter, collectors, take));
        whole.sort();
        let is_empty = whole.is_empty();
        (if *json { Shown::Intervals(whole) } else { Shown::Text(table_of(&whole)) }, is_empty)
    };
    told.notice(&noticed);
    told.leave_out_unsigned(&working(WORK, || opened.unsigned(filter)));
    (told, shown, is_empty)
}

/// What is done while somebody waits.
const WORK: &str = "reading intervals";

/// What is to be said beside the numbers, and how it ends.
struct Told<'a> {
    folder: &'a Path,
    warnings: Vec<String>,
    exit: Exit,
    /// A file that was there is not any more.
    is_outdated: bool,
}

impl<'a> Told<'a> {
    fn of(folder: &'a Path) -> Self {
        Told { folder, warnings: vec![], exit: Exit::Done, is_outdated: false }
    }

    /// What cannot be read is left out with its reason.
    fn leave_out(&mut self, error: StoreError) {
        self.is_outdated |= is_gone(&error);
        let counts_in_front = matches!(error, StoreError::Recording { .. });
        let failure = failure(self.folder, error);
        let rest = if counts_in_front { "" } else { "; its intervals are left out" };
        self.warnings.push(failure.message + rest);
        self.exit = Exit::gravest([self.exit, failure.exit]);
    }

    /// What nobody signed is left out with its reason.
    fn leave_out_unsigned(&mut self, files: &[(PathBuf, usize)]) {
        self.warnings.extend(files.iter().map(|(path, intervals)| {
            format!(
                "{}: {intervals} of its intervals are not of signed control frames, or `deltaline store` was given no key for them: they are left out; if its recording is still \
                 there, remove this file of numbers alone, and `deltaline store --key FILE` makes it anew from that",
                path.display()
            )
        }));
        if !files.is_empty() {
            self.exit = Exit::gravest([self.exit, Exit::Void]);
        }
    }

    /// What was noticed of the intervals.
    fn notice(&mut self, noticed: &Noticed) {
        let at_once = noticed.at_once.iter().map(|(segment, [one, other])| {
            format!(
                "segment {segment}: recordings {one} and {other} have intervals of the same time with other numbers, which count beside each other: a second \
                 recorder that lacks frames, or points of one segment number; keep one recorder's, or give each pair of points a segment of its own"
            )
        });
        let repeated = noticed.repeated.iter().map(|(path, intervals)| {
            format!(
                "{}: {intervals} of its intervals were reported before, with the same numbers, and count there alone: a copy, a second recorder, or frames that \
                 somebody has sent again",
                path.display()
            )
        });
        let missing = noticed.missing.iter().map(|((run, segment), missing)| {
            format!(
                "recording {run}, segment {segment}: {missing}; packets that were lost in them are in no number, unless another recording of the segment has them"
            )
        });
        let late = noticed.late.iter().map(|((run, segment), Missing { intervals, first })| {
            format!(
                "recording {run}, segment {segment}: {intervals} intervals, of which {first} is the first, were reported ten minutes or more behind those that follow them, \
                 and count in the time when they were: somebody held them back, reporting was interrupted, or the recorder's clock was set"
            )
        });
        let left_out = noticed.left_out.iter().map(|(path, left_out)| {
            format!("{}: {left_out}: they were left out, and what they said is in no number", path.display())
        });
        let passed_over = noticed.passed_over.iter().map(|path| passed_over(path));
        let all = at_once.chain(repeated).chain(missing).chain(late).chain(left_out).chain(passed_over);
        self.warnings.extend(all);
    }

    /// Says all of it.
    fn say(&self, believed: &Believed) {
        self.warnings.iter().for_each(|warning| report::say(warning));
        believed.mention_forgery();
    }

    /// How it ends, where there may be no interval at all.
    fn finish(self, believed: &Believed, is_empty: bool) -> Exit {
        if !is_empty {
            return self.exit;
        }
        let name = self.folder.display();
        report::say(&match believed.wants_signed() {
            true => format!(
                "{name}: holds no such interval whose control frames are signed, with this key where its recording is not closed; ask for another segment or time, \
                 give the right key, or leave out --key"
            ),
            false => format!("{name}: holds no such interval; ask for another segment or time"),
        });
        if self.exit == Exit::Done { Exit::NotIdentifiable } else { self.exit }
    }
}

enum Shown {
    Text(String),
    Sums(SumsOutput),
    Intervals(Table),
}

/// Reasons are long, and many intervals have the same one: each is below, once, with the number that stands in its intervals' rows.
fn table_of(table: &Table) -> String {
    let mut shown = report::table(&[
        "segment",
        "interval",
        "reported",
        "sent",
        "lost (95 %)",
        "mean (95 %)",
        "deviation",
        "p99",
        "note",
    ]);
    let mut notes: Vec<&str> = vec![];
    for (place, row) in table.rows().iter().enumerate() {
        let number = |name: String| table.number(place, &name);
        let packets = |name| or_none(number(name), |number| number.to_string());
        let time = |name| or_none(number(name), |number| duration(number as f64));
        let ends = |what: &Definition| {
            let end = |end| number(format!("{}_{end}", what.range_key())).map(|number| number as f64);
            Some([end("low")?, end("high")?])
        };
        shown.add_row([
            row.segment.to_string(),
            row.interval.to_string(),
            moment(row.reported),
            packets(SENT.key()),
            or_none(number(LOST.key()), |lost| with_range(&LOST, Number::Whole(lost), ends(&LOST))),
            or_none(number(MEAN.key()), |mean| with_range(&MEAN, Number::Real(mean as f64), ends(&MEAN))),
            time(DEVIATION.key()),
            time(P99.key()),
            or_none(row.reason.as_deref(), |reason| {
                let known = notes.iter().position(|note| *note == reason);
                let at = known.unwrap_or_else(|| {
                    notes.push(reason);
                    notes.len() - 1
                });
                (at + 1).to_string()
            }),
        ]);
    }
    let notes = notes.iter().zip(1..).map(|(note, number)| format!("{number}: {note}\n"));
    format!("{shown}\n{}", notes.collect::<String>())
}

/// A number with its 95 % interval, where it is known.
fn with_range(what: &'static Definition, number: Number, range: Option<[f64; 2]>) -> String {
    value(&Quantity { range: range.map(Ok), ..Quantity::new(what, Ok(number)) })
}

fn table_of_sums(sums: &[Sums]) -> String {
    let heads = [
        "segment",
        "start",
        "intervals",
        "void",
        "sent",
        "lost (95 %)",
        "mean (95 %)",
        "least",
        "greatest",
        "worst p99",
    ];
    let mut shown = report::table(&heads);
    for each in sums {
        let mean = each.mean.map(|mean| with_range(&MEAN, Number::Real(mean), each.range));
        let lost = with_range(&LOST, Number::Count(each.lost), each.lost_range);
        let time = |time: Option<i64>| or_none(time, |time| duration(time as f64));
        shown.add_row([
            each.segment.to_string(),
            moment(each.start),
            each.intervals.to_string(),
            each.void.to_string(),
            each.sent.to_string(),
            match each.lost_unknown {
                0 => lost,
                unknown => format!("{lost}, {unknown} intervals unknown"),
            },
            or_none(mean, |mean| match each.doubted {
                0 => mean,
                doubted => format!("{mean}, {doubted} intervals of doubtful clocks"),
            }),
            time(each.least),
            time(each.greatest),
            time(each.worst_p99),
        ]);
    }
    format!("{shown}\n")
}

/// Times before 1970 are none that a recording has.
fn moment(microseconds: i64) -> String {
    utc(u64::try_from(microseconds).unwrap_or(0).saturating_mul(1000))
}

#[derive(Serialize)]
struct IntervalsOutput<'a> {
    schema: Schema,
    intervals: Vec<Interval<'a>>,
    warnings: Vec<String>,
}

impl<'a> IntervalsOutput<'a> {
    fn of(table: &'a Table, warnings: Vec<String>) -> Self {
        let intervals = (0..table.rows().len()).map(|place| Interval { table, place }).collect();
        IntervalsOutput { schema: Schema::of("query"), intervals, warnings }
    }
}

/// An interval with the keys that it has in `read`.
struct Interval<'a> {
    table: &'a Table,
    place: usize,
}

impl Serialize for Interval<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Interval { table, place } = *self;
        let Some(Row { segment, interval, reported, authenticated, reason }) = table.rows().get(place) else {
            return Err(S::Error::custom("a table has no such interval"));
        };
        let number = |column: &Column| column.numbers.get(place).copied().flatten();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("segment", segment)?;
        map.serialize_entry("interval", interval)?;
        map.serialize_entry("reported_time", &moment(*reported))?;
        map.serialize_entry("authenticated", authenticated)?;
        for (at, column) in table.columns().iter().enumerate() {
            // Both ends of a range are one entry.
            if let Some(name) = column.name.strip_suffix("_low") {
                let high = table.columns().get(at + 1).and_then(number);
                map.serialize_entry(name, &number(column).zip(high).map(|(low, high)| [low, high]))?;
            } else if !column.name.ends_with("_high") {
                map.serialize_entry(&column.name, &number(column))?;
            }
        }
        map.serialize_entry("reason", reason)?;
        map.end()
    }
}

#[derive(Serialize)]
struct SumsOutput {
    schema: Schema,
    sums: Vec<SumOutput>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct SumOutput {
    segment: u32,
    start_time: String,
    intervals: u64,
    void: u64,
    unknown: u64,
    doubted: u64,
    sent: u64,
    received: u64,
    lost: u64,
    lost_ci95: Option<[f64; 2]>,
    lost_unknown: u64,
    surplus: u64,
    surplus_ci95: Option<[f64; 2]>,
    mean_ns: Option<f64>,
    mean_ci95_ns: Option<[f64; 2]>,
    min_ns: Option<i64>,
    max_ns: Option<i64>,
    worst_p99_ns: Option<i64>,
    reason: Option<String>,
}

impl From<&Sums> for SumOutput {
    fn from(sums: &Sums) -> Self {
        let unknown = (sums.unknown > 0).then(|| {
            format!(
                "{} intervals with packets have no mean: leaving them out would bias that of all",
                sums.unknown
            )
        });
        let doubted = (sums.doubted > 0).then(|| {
            format!(
                "the clocks are doubtful in {} intervals, whose delays are in the mean: their own reasons are those of `query` without --every",
                sums.doubted
            )
        });
        let reasons: Vec<String> = unknown.into_iter().chain(doubted).collect();
        let reason = (!reasons.is_empty()).then(|| reasons.join("; "));
        SumOutput {
            segment: sums.segment,
            start_time: moment(sums.start),
            intervals: sums.intervals,
            void: sums.void,
            unknown: sums.unknown,
            doubted: sums.doubted,
            sent: sums.sent,
            received: sums.received,
            lost: sums.lost,
            lost_ci95: sums.lost_range,
            lost_unknown: sums.lost_unknown,
            surplus: sums.surplus,
            surplus_ci95: sums.surplus_range,
            mean_ns: sums.mean,
            mean_ci95_ns: sums.range,
            min_ns: sums.least,
            max_ns: sums.greatest,
            worst_p99_ns: sums.worst_p99,
            reason,
        }
    }
}
