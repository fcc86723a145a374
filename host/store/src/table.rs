//! Intervals as rows, and their numbers as columns.

use deltaline_collect::summary::IntervalFigures;
use deltaline_estimate::quantity::{
    BRACKET, DEVIATION, Definition, EXACT_DELAYS, GREATEST, LEAST, LOST, MEAN, MEDIAN, NET, Number, P90, P99,
    PAPER_DEVIATION, Quantity, RECEIVED, SAMPLES, SENT, SURPLUS,
};
use std::fmt;
use std::ops::{Add, Range};

/// The number that intervals have whose clocks are doubtful, 1.
pub(crate) const CLOCK_DOUBTED: &str = "clock_doubted";

/// What is known of an interval at the most, where all packets are counted in rows and cells.
static KNOWN: [Known; 16] = [
    Known::Number(&SENT),
    Known::Number(&RECEIVED),
    Known::Ranged(&LOST),
    Known::Ranged(&SURPLUS),
    Known::Number(&NET),
    Known::Number(&SAMPLES),
    Known::Ranged(&MEAN),
    Known::Bounds(&BRACKET),
    Known::Number(&DEVIATION),
    Known::Number(&PAPER_DEVIATION),
    Known::Number(&EXACT_DELAYS),
    Known::Ranged(&MEDIAN),
    Known::Ranged(&P90),
    Known::Ranged(&P99),
    Known::Number(&LEAST),
    Known::Number(&GREATEST),
];

/// What of a quantity has columns.
enum Known {
    /// Its number.
    Number(&'static Definition),
    /// Both ends of what it lies between.
    Bounds(&'static Definition),
    /// Its number, and both ends of its 95 % interval.
    Ranged(&'static Definition),
}

impl Known {
    fn names(&self) -> Vec<String> {
        match self {
            Known::Number(what) => vec![what.key()],
            Known::Bounds(what) => ends(what).to_vec(),
            Known::Ranged(what) => [vec![what.key()], ends(what).to_vec()].concat(),
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

/// An interval, without its numbers.
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
}

/// One number of every interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The key that JSON has, with the unit; an interval's ends have `_low` and `_high` behind.
    pub name: String,
    /// Packets, or whole nanoseconds; 1 and 0 for yes and no. None without a value.
    pub numbers: Vec<Option<i64>>,
}

/// Rows, and as many numbers in each column: a month has many millions, and who asks goes through them column by column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    columns: Vec<Column>,
    /// In any order.
    rows: Vec<Row>,
}

impl Table {
    /// No rows yet, and columns of these names.
    pub fn with_columns<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Self {
        let column = |name: T| Column { name: name.into(), numbers: vec![] };
        Table { columns: names.into_iter().map(column).collect(), rows: vec![] }
    }

    /// These rows, and as many numbers in each column.
    pub(crate) fn of(rows: Vec<Row>, columns: Vec<Column>) -> Self {
        Table { columns, rows }
    }

    /// Its intervals.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The same, to be changed.
    pub fn rows_mut(&mut self) -> &mut [Row] {
        &mut self.rows
    }

    /// Their numbers.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Whether it has no interval.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Appends an interval; not if nobody knows when it was reported, of which it says false.
    pub fn push(&mut self, interval: &IntervalFigures) -> bool {
        let Some(reported) = interval.reported.and_then(|time| i64::try_from(time / 1000).ok()) else {
            return false;
        };
        let figures = &interval.figures;
        let doubts = [figures.reason(), figures.clock_doubt.clone()];
        let doubts: Vec<String> = doubts.into_iter().flatten().collect();
        let row = Row {
            segment: interval.segment,
            interval: interval.number,
            reported,
            authenticated: interval.authenticated,
            reason: (!doubts.is_empty()).then(|| doubts.join("; ")),
        };
        let doubted = figures.clock_doubt.as_ref().map(|_| (CLOCK_DOUBTED.to_string(), 1));
        self.push_row(row, figures.quantities().flat_map(numbers).chain(doubted));
        true
    }

    /// Appends an interval with these of its numbers, by name.
    pub fn push_row<T: AsRef<str>>(&mut self, row: Row, numbers: impl IntoIterator<Item = (T, i64)>) {
        let place = self.rows.len();
        self.rows.push(row);
        self.columns.iter_mut().for_each(|column| column.numbers.push(None));
        for (name, number) in numbers {
            let column = self.have_column(name.as_ref());
            self.columns[column].numbers[place] = Some(number);
        }
    }

    /// Has the columns of an interval of which everything is known, in their order, so that programs that read many files find them in each.
    pub fn have_all_columns(&mut self) {
        let others = std::mem::take(self);
        let names = KNOWN.iter().flat_map(Known::names).chain([CLOCK_DOUBTED.into()]);
        *self = Table::with_columns(names);
        self.append(others);
    }

    /// Appends another table's rows.
    pub fn append(&mut self, other: Table) {
        let before = self.rows.len();
        self.rows.extend(other.rows);
        for Column { name, mut numbers } in other.columns {
            let column = self.have_column(&name);
            let own = &mut self.columns[column].numbers;
            own.truncate(before);
            if own.is_empty() { std::mem::swap(own, &mut numbers) } else { own.append(&mut numbers) }
        }
        let rows = self.rows.len();
        self.columns.iter_mut().for_each(|column| column.numbers.resize(rows, None));
    }

    /// A row's number of this name.
    pub fn number(&self, place: usize, name: &str) -> Option<i64> {
        self.column(name)?.get(place).copied().flatten()
    }

    /// The numbers of this name.
    pub fn column(&self, name: &str) -> Option<&[Option<i64>]> {
        self.columns.iter().find(|column| column.name == name).map(|column| &column.numbers[..])
    }

    /// One row, and its numbers.
    pub(crate) fn one(&self, place: usize) -> Table {
        let rows = self.rows.get(place).cloned().into_iter().collect();
        let of_row = |column: &Column| Column {
            name: column.name.clone(),
            numbers: column.numbers.get(place).copied().into_iter().collect(),
        };
        Table { columns: self.columns.iter().map(of_row).collect(), rows }
    }

    /// Puts rows in the order of files: by segment, then by time.
    pub fn sort(&mut self) {
        let key = |row: &Row| (row.segment, row.reported, row.interval);
        if self.rows.is_sorted_by_key(key) {
            return;
        }
        let mut places: Vec<usize> = (0..self.rows.len()).collect();
        places.sort_by_key(|place| self.rows.get(*place).map(key));
        for column in &mut self.columns {
            column.numbers = places.iter().map(|place| column.numbers[*place]).collect();
        }
        let mut rows: Vec<Option<Row>> = std::mem::take(&mut self.rows).into_iter().map(Some).collect();
        self.rows = places.into_iter().filter_map(|place| rows[place].take()).collect();
    }

    /// Keeps the rows of which this is said.
    pub fn retain(&mut self, keep: impl FnMut(&Row) -> bool) {
        let kept: Vec<bool> = self.rows.iter().map(keep).collect();
        self.retain_places(&kept);
    }

    /// Keeps the rows in whose places it says so.
    pub(crate) fn retain_places(&mut self, kept: &[bool]) {
        if kept.iter().all(|is_kept| *is_kept) {
            return;
        }
        retain(&mut self.rows, kept);
        self.columns.iter_mut().for_each(|column| retain(&mut column.numbers, kept));
    }

    /// The column of this name, which is made if there is none.
    fn have_column(&mut self, name: &str) -> usize {
        self.columns.iter().position(|column| column.name == name).unwrap_or_else(|| {
            self.columns.push(Column { name: name.into(), numbers: vec![None; self.rows.len()] });
            self.columns.len() - 1
        })
    }
}

/// Keeps what is in the places that say so.
fn retain<T>(all: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    all.retain(|_| kept.next().is_none_or(|is_kept| *is_kept));
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
