//! Sums: what the intervals of an hour, or of any other time, are together.

use crate::table::{CLOCK_DOUBTED, Row, Table};
use deltaline_estimate::quantity::{Definition, GREATEST, LEAST, LOST, MEAN, P99, RECEIVED, SENT, SURPLUS};
use std::collections::BTreeMap;

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
        let mut rows = table.rows.iter().peekable();
        while let Some(first) = rows.next() {
            let number = first.reported.div_euclid(self.every);
            let [start, end] =
                [number, number.saturating_add(1)].map(|number| number.saturating_mul(self.every));
            let sum =
                self.groups.entry((first.segment, start)).or_insert_with(|| Sum::new(first.segment, start));
            sum.add(&columns, first);
            // Those of one sum mostly come together.
            let is_of_it = |row: &&Row| row.segment == first.segment && (start..end).contains(&row.reported);
            while let Some(row) = rows.next_if(is_of_it) {
                sum.add(&columns, row);
            }
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

    fn add(&mut self, columns: &Columns, row: &Row) {
        let number = |column: Option<usize>| row.numbers.get(column?).copied().flatten();
        // What has no number adds nothing, and is counted.
        let packets = |column| number(column).map_or(0, |count| u64::try_from(count).unwrap_or(0));
        let sums = &mut self.sums;
        sums.intervals += 1;
        sums.void += u64::from(number(columns.sent).is_none());
        sums.doubted += u64::from(number(columns.doubted).is_some());
        sums.lost_unknown += u64::from(number(columns.lost).is_none());
        let received = packets(columns.received);
        for (sum, more) in [
            (&mut sums.sent, packets(columns.sent)),
            (&mut sums.received, received),
            (&mut sums.lost, packets(columns.lost)),
            (&mut sums.surplus, packets(columns.surplus)),
        ] {
            *sum = sum.saturating_add(more);
        }
        let counted = [(columns.lost, columns.lost_ends), (columns.surplus, columns.surplus_ends)];
        for (errors, (count, ends)) in self.counts.iter_mut().zip(counted) {
            // Of unknown losses nothing is in the sum.
            let Some(count) = number(count) else { continue };
            for (error, end) in errors.iter_mut().zip(ends) {
                let apart = number(end).map(|end| end.saturating_sub(count) as f64);
                *error = error.zip(apart).map(|(error, apart)| error + apart * apart);
            }
        }
        sums.least = sums.least.into_iter().chain(number(columns.least)).min();
        sums.greatest = sums.greatest.max(number(columns.greatest));
        sums.worst_p99 = sums.worst_p99.max(number(columns.p99));
        if received == 0 {
            return;
        }
        let Some(mean) = number(columns.mean) else {
            sums.unknown += 1;
            return;
        };
        self.weighted += mean as f64 * received as f64;
        for (error, end) in self.errors.iter_mut().zip(columns.ends) {
            let apart = number(end).map(|end| end.saturating_sub(mean) as f64 * received as f64);
            *error = error.zip(apart).map(|(error, apart)| error + apart * apart);
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

/// Where a table has the numbers that are summed.
struct Columns {
    sent: Option<usize>,
    received: Option<usize>,
    lost: Option<usize>,
    surplus: Option<usize>,
    mean: Option<usize>,
    ends: [Option<usize>; 2],
    lost_ends: [Option<usize>; 2],
    surplus_ends: [Option<usize>; 2],
    least: Option<usize>,
    greatest: Option<usize>,
    p99: Option<usize>,
    doubted: Option<usize>,
}

impl Columns {
    fn of(table: &Table) -> Self {
        let find = |name: String| table.columns.iter().position(|column| *column == name);
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
