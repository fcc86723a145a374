//! Intervals as rows, and their numbers as columns.

use deltaline_collect::summary::IntervalFigures;
use deltaline_estimate::quantity::{
    BRACKET, DEVIATION, Definition, EXACT_DELAYS, GREATEST, LEAST, LOST, MEAN, MEDIAN, NET, Number, P90, P99,
    PAPER_DEVIATION, Quantity, RECEIVED, SAMPLES, SENT, SURPLUS,
};
use smallvec::{SmallVec, smallvec};
use std::fmt;
use std::ops::{Add, Range};

/// The number that intervals have whose clocks are doubtful, 1.
pub(crate) const CLOCK_DOUBTED: &str = "clock_doubted";

/// What is known of an interval at the most, where all packets are counted in rows and cells.
static COLUMNS: [Column; 16] = [
    Column::Number(&SENT),
    Column::Number(&RECEIVED),
    Column::Ranged(&LOST),
    Column::Ranged(&SURPLUS),
    Column::Number(&NET),
    Column::Number(&SAMPLES),
    Column::Ranged(&MEAN),
    Column::Bounds(&BRACKET),
    Column::Number(&DEVIATION),
    Column::Number(&PAPER_DEVIATION),
    Column::Number(&EXACT_DELAYS),
    Column::Ranged(&MEDIAN),
    Column::Ranged(&P90),
    Column::Ranged(&P99),
    Column::Number(&LEAST),
    Column::Number(&GREATEST),
];

/// What of a quantity has columns.
enum Column {
    /// Its number.
    Number(&'static Definition),
    /// Both ends of what it lies between.
    Bounds(&'static Definition),
    /// Its number, and both ends of its 95 % interval.
    Ranged(&'static Definition),
}

impl Column {
    fn names(&self) -> Vec<String> {
        match self {
            Column::Number(what) => vec![what.key()],
            Column::Bounds(what) => ends(what).to_vec(),
            Column::Ranged(what) => [vec![what.key()], ends(what).to_vec()].concat(),
        }
    }
}

/// The names of both ends of a quantity's interval.
fn ends(what: &Definition) -> [String; 2] {
    let key = what.range_key();
    ["low", "high"].map(|end| format!("{key}_{end}"))
}

/// Which rows are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this measurement segment alone.
    pub segment: Option<u32>,
    /// Reported in this time, in microseconds since the Unix epoch; none: whenever.
    pub reported: Option<Range<i64>>,
    /// Those alone whose control frames all had right tags.
    pub authenticated: bool,
}

impl Filter {
    /// Whether it asks for this interval.
    pub fn takes(&self, row: &Row) -> bool {
        self.takes_at_any_time(row)
            && self.reported.as_ref().is_none_or(|range| range.contains(&row.reported))
    }

    /// Whether it would, had it been reported in the right time.
    pub(crate) fn takes_at_any_time(&self, row: &Row) -> bool {
        self.segment.is_none_or(|only| only == row.segment) && (row.authenticated || !self.authenticated)
    }
}

/// Control frames of a recording that were left out, so that what they said is in no number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// They are no control frame of this release, or say what no point says.
    pub corrupted: u64,
    /// They have no right tag.
    pub unauthentic: u64,
    /// They are older than what their points had reported.
    pub replayed: u64,
    /// Their intervals' numbers were far from all others, or came when those had been handed out.
    pub stray: u64,
    /// There was no room for them.
    pub beyond: u64,
}

impl LeftOut {
    /// In the order in which they are named.
    fn counts(&self) -> [(u64, &'static str); 5] {
        [
            (self.corrupted, "are damaged"),
            (self.unauthentic, "have no right tag"),
            (self.replayed, "are older than what their points had reported"),
            (self.stray, "are of intervals far from all others, or came too late"),
            (self.beyond, "had no room"),
        ]
    }

    /// Whether none was.
    pub fn is_none(&self) -> bool {
        self.counts().iter().all(|(count, _)| *count == 0)
    }
}

impl Add for LeftOut {
    type Output = LeftOut;

    fn add(self, other: LeftOut) -> LeftOut {
        LeftOut {
            corrupted: self.corrupted.saturating_add(other.corrupted),
            unauthentic: self.unauthentic.saturating_add(other.unauthentic),
            replayed: self.replayed.saturating_add(other.replayed),
            stray: self.stray.saturating_add(other.stray),
            beyond: self.beyond.saturating_add(other.beyond),
        }
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.counts().into_iter().filter(|(count, _)| *count > 0);
        let texts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
        write!(f, "of its control frames {}", texts.join(", "))
    }
}

/// An interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Number of the measurement segment.
    pub segment: u32,
    /// Number of the interval.
    pub interval: u32,
    /// When its last control frame was captured, in microseconds since the Unix epoch.
    pub reported: i64,
    /// Whether all its control frames had right tags.
    pub authenticated: bool,
    /// Why numbers have no value, or are doubtful.
    pub reason: Option<String>,
    /// A number of each column: packets, or whole nanoseconds; 1 and 0 for yes and no. None without a value.
    pub numbers: Numbers,
}

/// Numbers of an interval; there are as many as its table has columns. Those that most intervals have lie in the row itself: a month has many millions.
pub type Numbers = SmallVec<[Option<i64>; 8]>;

/// Rows, and the names of their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The keys that JSON has, with the unit; an interval's ends have `_low` and `_high` behind.
    pub columns: Vec<String>,
    /// In any order.
    pub rows: Vec<Row>,
}

impl Table {
    /// Appends an interval; not if nobody knows when it was reported, of which it says false.
    pub fn push(&mut self, interval: &IntervalFigures) -> bool {
        let Some(reported) = interval.reported.and_then(|time| i64::try_from(time / 1000).ok()) else {
            return false;
        };
        let figures = &interval.figures;
        let doubts = [figures.reason(), figures.clock_doubt.clone()];
        let doubts: Vec<String> = doubts.into_iter().flatten().collect();
        let mut row = Row {
            segment: interval.segment,
            interval: interval.number,
            reported,
            authenticated: interval.authenticated,
            reason: (!doubts.is_empty()).then(|| doubts.join("; ")),
            numbers: smallvec![None; self.columns.len()],
        };
        let doubted = figures.clock_doubt.as_ref().map(|_| (CLOCK_DOUBTED.to_string(), 1));
        for (name, number) in figures.quantities().flat_map(numbers).chain(doubted) {
            let column = self.column(name);
            row.numbers.resize(self.columns.len(), None);
            row.numbers[column] = Some(number);
        }
        self.rows.push(row);
        true
    }

    /// Has the columns of an interval of which everything is known, in their order, so that programs that read many files find them in each.
    pub fn have_all_columns(&mut self) {
        let others = std::mem::take(self);
        self.columns =
            COLUMNS.iter().flat_map(|column| column.names()).chain([CLOCK_DOUBTED.into()]).collect();
        self.append(others);
    }

    /// Appends another table's rows.
    pub fn append(&mut self, other: Table) {
        let places: Vec<usize> = other.columns.into_iter().map(|name| self.column(name)).collect();
        let are_the_same = places.len() == self.columns.len() && places.iter().copied().eq(0..places.len());
        if are_the_same {
            return self.rows.extend(other.rows);
        }
        for mut row in other.rows {
            let mut numbers = smallvec![None; self.columns.len()];
            for (place, number) in places.iter().zip(row.numbers) {
                numbers[*place] = number;
            }
            row.numbers = numbers;
            self.rows.push(row);
        }
    }

    /// A row's number of this name.
    pub fn number(&self, row: &Row, name: &str) -> Option<i64> {
        let column = self.columns.iter().position(|column| column == name)?;
        row.numbers.get(column).copied().flatten()
    }

    /// Puts rows in the order of files: by segment, then by time.
    pub fn sort(&mut self) {
        self.rows.sort_by_key(|row| (row.segment, row.reported, row.interval));
    }

    /// The column of this name, which is made if there is none.
    fn column(&mut self, name: String) -> usize {
        self.columns.iter().position(|column| *column == name).unwrap_or_else(|| {
            self.columns.push(name);
            self.columns.len() - 1
        })
    }
}

/// What of a quantity is kept.
fn numbers(quantity: &Quantity) -> Vec<(String, i64)> {
    let mut numbers = vec![];
    if let Ok(value) = quantity.value
        && !quantity.what.is_bounds
    {
        numbers.push((quantity.what.key(), whole(value)));
    }
    if let Some(Ok([low, high])) = quantity.range {
        numbers.extend(ends(quantity.what).into_iter().zip([low.floor() as i64, high.ceil() as i64]));
    }
    numbers
}

fn whole(number: Number) -> i64 {
    match number {
        Number::Count(count) => i64::try_from(count).unwrap_or(i64::MAX),
        Number::Whole(whole) => whole,
        Number::Real(real) => real.round() as i64,
        Number::Truth(is_so) => i64::from(is_so),
    }
}
