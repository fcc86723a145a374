//! Sums: what the intervals of an hour, or of any other time, are together.

use crate::stretch::Stretch;
use crate::table::{CLOCK_DOUBTED, Row, Table};
use deltaline_estimate::quantity::{Definition, GREATEST, LEAST, LOST, MEAN, P99, RECEIVED, SENT, SURPLUS};
use std::collections::BTreeMap;
use std::fmt;
use std::iter;
use std::ops::Range;
use std::str::FromStr;

/// Intervals of one segment, together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sums {
    /// Number of the measurement segment.
    pub segment: u32,
    /// When they begin, in microseconds since the Unix epoch.
    pub start: i64,
    /// How many there are.
    pub intervals: u64,
    /// How many of them are void.
    pub void: u64,
    /// Packets sent.
    pub sent: u64,
    /// Packets received.
    pub received: u64,
    /// Packets lost, in intervals whose losses are known.
    pub lost: u64,
    /// Intervals whose losses are not known, void ones among them: `lost` has none of theirs.
    pub lost_unknown: u64,
    /// Its 95 % interval, in those intervals; none if one of them has none.
    pub lost_range: Option<[f64; 2]>,
    /// Packets received that were not sent.
    pub surplus: u64,
    /// Its 95 % interval, as that of `lost`.
    pub surplus_range: Option<[f64; 2]>,
    /// Intervals with packets but without a mean. If there are any, there is no mean of all: those lost most, and leaving them out
    /// would bias it.
    pub unknown: u64,
    /// Intervals whose clocks are doubtful: their delays are in the mean, and may be off.
    pub doubted: u64,
    /// Mean delay of all packets received, in nanoseconds.
    pub mean: Option<f64>,
    /// Its 95 % interval, the intervals' errors being independent; none if one of them has none.
    pub range: Option<[f64; 2]>,
    /// The least delay that is known exactly, in nanoseconds.
    pub least: Option<i64>,
    /// The greatest delay that is known exactly.
    pub greatest: Option<i64>,
    /// The greatest of the intervals' 99th percentiles.
    pub worst_p99: Option<i64>,
}

/// Puts intervals together as they come, segment by segment, for times of so many microseconds each.
pub struct Summing {
    every: i64,
    groups: BTreeMap<(u32, i64), Sum>,
}

/// What has come of one segment and time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sum {
    sums: Sums,
    /// Packets received, times their mean delay.
    weighted: f64,
    /// Packets received, times how far each end of the mean's interval is from it, squared; none once an interval has no such end.
    errors: [Option<f64>; 2],
    /// How far the ends of the intervals of packets lost, and of packets gained, are from the numbers, squared.
    counts: [[Option<f64>; 2]; 2],
}

impl Summing {
    /// Nothing has come yet.
    pub fn new(every: i64) -> Self {
        Summing { every: every.max(1), groups: BTreeMap::new() }
    }

    /// Adds a table's intervals.
    pub fn add(&mut self, table: &Table) {
        let columns = Columns::of(table);
        let mut rest = table.rows();
        while let Some(first) = rest.first() {
            let Range { start, end } = self.period(first.reported);
            // Those of one sum mostly come together.
            let is_of_it = |row: &Row| row.segment == first.segment && (start..end).contains(&row.reported);
            let many = 1 + rest.iter().skip(1).take_while(|row| is_of_it(row)).count();
            let begins = table.rows().len() - rest.len();
            self.have_sum(first.segment, start).add(&columns, begins..begins + many);
            rest = &rest[many..];
        }
    }

    /// Whether all of a stretch belongs to one sum.
    pub(crate) fn holds(&self, stretch: &Stretch) -> bool {
        let [first, last] = stretch.reported;
        self.period(first).contains(&last)
    }

    /// Adds a stretch that belongs to one sum.
    pub(crate) fn add_stretch(&mut self, stretch: &Stretch) {
        let start = self.period(stretch.reported[0]).start;
        self.have_sum(stretch.segment, start).merge(&stretch.sum);
    }

    /// The time that a moment belongs to.
    fn period(&self, moment: i64) -> Range<i64> {
        let number = moment.div_euclid(self.every);
        number.saturating_mul(self.every)..number.saturating_add(1).saturating_mul(self.every)
    }

    /// The sum of a segment and a time, which is made if there is none.
    fn have_sum(&mut self, segment: u32, start: i64) -> &mut Sum {
        self.groups.entry((segment, start)).or_insert_with(|| Sum::new(segment, start))
    }

    /// What they are together, in order of segment and time.
    pub fn finish(self) -> Vec<Sums> {
        self.groups.into_values().map(Sum::finish).collect()
    }
}

impl Sum {
    fn new(segment: u32, start: i64) -> Self {
        let sums = Sums { segment, start, ..Sums::default() };
        Sum { sums, weighted: 0.0, errors: [Some(0.0); 2], counts: [[Some(0.0); 2]; 2] }
    }

    /// Adds the rows in these places.
    fn add(&mut self, columns: &Columns, places: Range<usize>) {
        let sums = &mut self.sums;
        let many = places.len();
        sums.intervals += many as u64;
        let known = |column| within(column, &places).iter().flatten().copied();
        let lacking = |column| (many - known(column).count()) as u64;
        sums.void += lacking(columns.sent);
        sums.lost_unknown += lacking(columns.lost);
        sums.doubted += known(columns.doubted).count() as u64;
        for (sum, column) in [
            (&mut sums.sent, columns.sent),
            (&mut sums.received, columns.received),
            (&mut sums.lost, columns.lost),
            (&mut sums.surplus, columns.surplus),
        ] {
            *sum = known(column).map(packets).fold(*sum, u64::saturating_add);
        }
        let counted = [(columns.lost, columns.lost_ends), (columns.surplus, columns.surplus_ends)];
        for (errors, (counts, ends)) in self.counts.iter_mut().zip(counted) {
            for (error, ends) in errors.iter_mut().zip(ends) {
                // Of unknown losses nothing is in the sum.
                let counts = within(counts, &places).iter().map(|count| count.map(|count| (1.0, count)));
                add_errors(error, counts, within(ends, &places));
            }
        }
        sums.least = sums.least.into_iter().chain(known(columns.least)).min();
        sums.greatest = sums.greatest.into_iter().chain(known(columns.greatest)).max();
        sums.worst_p99 = sums.worst_p99.into_iter().chain(known(columns.p99)).max();
        let means = within(columns.mean, &places).iter().copied().chain(iter::repeat(None));
        let received =
            within(columns.received, &places).iter().map(|count| count.map_or(0, packets)).zip(means);
        for (received, mean) in received.clone().filter(|(received, _)| *received > 0) {
            match mean {
                Some(mean) => self.weighted += mean as f64 * received as f64,
                None => sums.unknown += 1,
            }
        }
        for (error, ends) in self.errors.iter_mut().zip(columns.ends) {
            let weighed =
                received.clone().map(|(received, mean)| (received > 0).then_some((received as f64, mean?)));
            add_errors(error, weighed, within(ends, &places));
        }
    }

    /// Adds what other intervals are together.
    fn merge(&mut self, other: &Sum) {
        for (sum, more) in self.packets_mut().into_iter().zip(other.clone().packets_mut()) {
            *sum = sum.saturating_add(*more);
        }
        let (sums, more) = (&mut self.sums, &other.sums);
        sums.least = sums.least.into_iter().chain(more.least).min();
        sums.greatest = sums.greatest.into_iter().chain(more.greatest).max();
        sums.worst_p99 = sums.worst_p99.into_iter().chain(more.worst_p99).max();
        self.weighted += other.weighted;
        for (error, more) in self.squares_mut().into_iter().zip(other.clone().squares_mut()) {
            *error = error.zip(*more).map(|(error, more)| error + more);
        }
    }

    /// Whether it can be of so many intervals.
    pub(crate) fn is_of(&self, intervals: u64) -> bool {
        let sums = &self.sums;
        let some = [sums.void, sums.lost_unknown, sums.unknown, sums.doubted];
        sums.intervals == intervals && some.into_iter().all(|some| some <= intervals)
    }

    /// What is counted, in the order in which it is written.
    fn packets_mut(&mut self) -> [&mut u64; 9] {
        let sums = &mut self.sums;
        [
            &mut sums.intervals,
            &mut sums.void,
            &mut sums.sent,
            &mut sums.received,
            &mut sums.lost,
            &mut sums.lost_unknown,
            &mut sums.surplus,
            &mut sums.unknown,
            &mut sums.doubted,
        ]
    }

    /// What is the least or the greatest of all, in the order in which it is written.
    fn extremes_mut(&mut self) -> [&mut Option<i64>; 3] {
        [&mut self.sums.least, &mut self.sums.greatest, &mut self.sums.worst_p99]
    }

    /// Squares that are summed, in the order in which they are written.
    fn squares_mut(&mut self) -> [&mut Option<f64>; 6] {
        let ([low, high], [[lost_low, lost_high], [surplus_low, surplus_high]]) =
            (&mut self.errors, &mut self.counts);
        [low, high, lost_low, lost_high, surplus_low, surplus_high]
    }

    /// What [`Sum`]'s words say, if they are such; segment and time are not among them.
    pub(crate) fn of_words(words: &str) -> Option<Sum> {
        let mut words = words.split(' ');
        let mut sum = Sum::new(0, 0);
        for packets in sum.packets_mut() {
            *packets = words.next()?.parse().ok()?;
        }
        for extreme in sum.extremes_mut() {
            *extreme = or_none(words.next()?)?;
        }
        sum.weighted = words.next()?.parse().ok()?;
        for square in sum.squares_mut() {
            *square = or_none(words.next()?)?;
        }
        let is_number = sum.weighted.is_finite()
            && sum.squares_mut().into_iter().flatten().all(|square| square.is_finite() && *square >= 0.0);
        (is_number && words.next().is_none()).then_some(sum)
    }

    fn finish(self) -> Sums {
        let received = self.sums.received as f64;
        let is_known = self.sums.unknown == 0 && received > 0.0;
        let mean = is_known.then_some(self.weighted / received);
        let range = mean.and_then(|mean| {
            let [low, high] = self.errors.map(|error| error.map(|error| error.sqrt() / received));
            Some([mean - low?, mean + high?])
        });
        let [lost_range, surplus_range] =
            [(self.sums.lost, self.counts[0]), (self.sums.surplus, self.counts[1])].map(|(count, errors)| {
                let [low, high] = errors.map(|error| error.map(f64::sqrt));
                Some([(count as f64 - low?).floor(), (count as f64 + high?).ceil()])
            });
        Sums { mean, range, lost_range, surplus_range, ..self.sums }
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sum = self.clone();
        for packets in sum.packets_mut() {
            write!(f, "{packets} ")?;
        }
        for extreme in sum.extremes_mut() {
            write_or_none(f, *extreme)?;
            f.write_str(" ")?;
        }
        write!(f, "{:e}", self.weighted)?;
        for square in sum.squares_mut() {
            f.write_str(" ")?;
            write_or_none(f, square.map(|square| format!("{square:e}")))?;
        }
        Ok(())
    }
}

/// Writes a value as a word.
fn write_or_none<T: fmt::Display>(f: &mut fmt::Formatter<'_>, value: Option<T>) -> fmt::Result {
    match value {
        Some(value) => write!(f, "{value}"),
        None => f.write_str(NONE),
    }
}

/// Reads a value that may be none; none if it is no value.
fn or_none<T: FromStr>(word: &str) -> Option<Option<T>> {
    if word == NONE { Some(None) } else { word.parse().ok().map(Some) }
}

/// The word for no value.
const NONE: &str = "-";

/// What rows of a table are together, whatever their segments and times.
pub(crate) fn summed(table: &Table, places: Range<usize>) -> Sum {
    let mut sum = Sum::new(0, 0);
    sum.add(&Columns::of(table), places);
    sum
}

/// A count as a number of packets.
fn packets(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}

/// Adds how far ends are from those of the numbers that are known, times their weights, squared; none once one has no end.
fn add_errors(
    error: &mut Option<f64>,
    numbers: impl Iterator<Item = Option<(f64, i64)>>,
    ends: &[Option<i64>],
) {
    let Some(mut sum) = *error else { return };
    let ends = ends.iter().copied().chain(iter::repeat(None));
    for (known, end) in numbers.zip(ends) {
        let Some((weight, number)) = known else { continue };
        let Some(end) = end else { return *error = None };
        let apart = end.saturating_sub(number) as f64 * weight;
        sum += apart * apart;
    }
    *error = Some(sum);
}

/// A column of a table; empty if it does not have it.
type Numbers<'a> = &'a [Option<i64>];

/// Those in these places.
fn within<'a>(numbers: Numbers<'a>, places: &Range<usize>) -> Numbers<'a> {
    numbers.get(places.clone()).unwrap_or_default()
}

/// Where a table has the numbers that are summed.
struct Columns<'a> {
    sent: Numbers<'a>,
    received: Numbers<'a>,
    lost: Numbers<'a>,
    surplus: Numbers<'a>,
    mean: Numbers<'a>,
    ends: [Numbers<'a>; 2],
    lost_ends: [Numbers<'a>; 2],
    surplus_ends: [Numbers<'a>; 2],
    least: Numbers<'a>,
    greatest: Numbers<'a>,
    p99: Numbers<'a>,
    doubted: Numbers<'a>,
}

impl<'a> Columns<'a> {
    fn of(table: &'a Table) -> Self {
        let find = |name: String| table.column(&name).unwrap_or_default();
        let ends = |what: &Definition| ["low", "high"].map(|end| find(format!("{}_{end}", what.range_key())));
        Columns {
            sent: find(SENT.key()),
            received: find(RECEIVED.key()),
            lost: find(LOST.key()),
            surplus: find(SURPLUS.key()),
            mean: find(MEAN.key()),
            ends: ends(&MEAN),
            lost_ends: ends(&LOST),
            surplus_ends: ends(&SURPLUS),
            least: find(LEAST.key()),
            greatest: find(GREATEST.key()),
            p99: find(P99.key()),
            doubted: find(CLOCK_DOUBTED.into()),
        }
    }
}
