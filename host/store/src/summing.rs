//! Sums: what the intervals of an hour, or of any other time, are together.

use crate::table::{CLOCK_DOUBTED, Row, Table};
use deltaline_estimate::quantity::{Definition, GREATEST, LEAST, LOST, MEAN, P99, RECEIVED, SENT, SURPLUS};
use std::collections::BTreeMap;
use std::iter;
use std::ops::Range;

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
struct Sum {
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
            let number = first.reported.div_euclid(self.every);
            let [start, end] =
                [number, number.saturating_add(1)].map(|number| number.saturating_mul(self.every));
            // Those of one sum mostly come together.
            let is_of_it = |row: &Row| row.segment == first.segment && (start..end).contains(&row.reported);
            let many = 1 + rest.iter().skip(1).take_while(|row| is_of_it(row)).count();
            let begins = table.rows().len() - rest.len();
            let sum =
                self.groups.entry((first.segment, start)).or_insert_with(|| Sum::new(first.segment, start));
            sum.add(&columns, begins..begins + many);
            rest = &rest[many..];
        }
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
