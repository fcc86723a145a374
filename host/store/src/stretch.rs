//! Stretches: intervals of one segment that follow each other by their numbers, with what they are together, so that who asks for hours need not read
//! every interval.
//!
//! A file of numbers has them beside its rows, under the key [`STRETCHES`] of its metadata, a line each, in order of segment and number:
//!
//! ```text
//! segment, first and last interval, first and last time, 1 if authenticated or 0, words of the sums
//! ```
//!
//! A stretch ends where a number is missing, where intervals with right tags follow others, and with each hour in UTC: sums of hours, and of what consists
//! of hours, are sums of stretches. There are none where numbers do not rise with time, as behind a new start of the points: there,
//! which intervals come again hangs on all that they hold.
//!
//! # Test plan
//!
//! Against rows that are summed one by one: numbers that are missing, times around hours, tags that begin; numbers that come again or fall; lines that are cut,
//! or say what no rows say. [`crate::shortcut`]: whole folders.

use crate::continuity::{Place, Reported};
use crate::summing::{Sum, summed};
use crate::table::{Filter, Row, Table};
use std::fmt;
use std::str::FromStr;

/// The key of a file's stretches.
pub(crate) const STRETCHES: &str = "deltaline.stretches";
/// Microseconds of an hour.
const HOUR: i64 = 3_600_000_000;
/// A file with more of them is read row by row.
const MOST: usize = 1 << 12;

/// Intervals of one segment that follow each other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stretch {
    pub(crate) segment: u32,
    /// The first number, and the last.
    pub(crate) intervals: [u32; 2],
    /// When these were reported, in microseconds since the Unix epoch: no other one was earlier, or later.
    pub(crate) reported: [i64; 2],
    pub(crate) authenticated: bool,
    /// What they are together.
    pub(crate) sum: Sum,
}

impl Stretch {
    /// All stretches of a table whose rows are in order; none if numbers do not rise with time.
    pub(crate) fn of(table: &Table) -> Option<Vec<Stretch>> {
        let rows = table.rows();
        let falls = |pair: &[Row]| pair[0].segment == pair[1].segment && pair[0].interval >= pair[1].interval;
        if rows.windows(2).any(falls) {
            return None;
        }
        let mut stretches = vec![];
        let mut begins = 0;
        for rows in rows.chunk_by(follows) {
            let ends = begins + rows.len();
            if let [first, .., last] | [first @ last] = rows {
                stretches.push(Stretch {
                    segment: first.segment,
                    intervals: [first.interval, last.interval],
                    reported: [first.reported, last.reported],
                    authenticated: first.authenticated,
                    sum: summed(table, begins..ends),
                });
            }
            begins = ends;
        }
        (stretches.len() <= MOST).then_some(stretches)
    }

    /// How many intervals it has.
    pub(crate) fn len(&self) -> u64 {
        u64::from(self.intervals[1].wrapping_sub(self.intervals[0])) + 1
    }

    /// Its first interval, and its last.
    pub(crate) fn ends(&self) -> [Reported; 2] {
        let end = |end: usize| Reported {
            segment: self.segment,
            reported: self.reported[end],
            interval: self.intervals[end],
        };
        [end(0), end(1)]
    }

    /// Whether a filter asks for its segment.
    pub(crate) fn is_of(&self, filter: &Filter) -> bool {
        filter.segment.is_none_or(|only| only == self.segment)
    }

    /// Whether a filter that asks for its segment asks for all of its intervals.
    pub(crate) fn is_within(&self, filter: &Filter) -> bool {
        let lies = |time| Place::of([time; 2], filter.reported.as_ref()) == Place::Inside;
        self.reported.into_iter().all(lies) && (self.authenticated || !filter.authenticated)
    }
}

/// Whether the second of two rows goes on where the first one ends.
fn follows(one: &Row, next: &Row) -> bool {
    let hour = |row: &Row| row.reported.div_euclid(HOUR);
    one.segment == next.segment
        && one.interval.checked_add(1) == Some(next.interval)
        && one.authenticated == next.authenticated
        && hour(one) == hour(next)
}

impl fmt::Display for Stretch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stretch { segment, intervals: [first, last], reported: [from, to], authenticated, sum } = self;
        write!(f, "{segment} {first} {last} {from} {to} {} {sum}", u8::from(*authenticated))
    }
}

/// A line that is none of a stretch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoStretch;

impl FromStr for Stretch {
    type Err = NoStretch;

    fn from_str(line: &str) -> Result<Self, NoStretch> {
        fn next<T: FromStr>(word: Option<&str>) -> Result<T, NoStretch> {
            word.and_then(|word| word.parse().ok()).ok_or(NoStretch)
        }
        let mut words = line.splitn(7, ' ');
        let segment = next(words.next())?;
        let intervals: [u32; 2] = [next(words.next())?, next(words.next())?];
        let reported: [i64; 2] = [next(words.next())?, next(words.next())?];
        let authenticated = match words.next() {
            Some("0") => false,
            Some("1") => true,
            _ => return Err(NoStretch),
        };
        let sum = words.next().and_then(Sum::of_words).ok_or(NoStretch)?;
        let stretch = Stretch { segment, intervals, reported, authenticated, sum };
        let is_sound = intervals.is_sorted() && reported.is_sorted() && stretch.sum.is_of(stretch.len());
        if is_sound { Ok(stretch) } else { Err(NoStretch) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Intervals of one segment: number, time in minutes, and whether they have tags.
    fn table(rows: &[(u32, i64, bool)]) -> Table {
        let mut table = Table::default();
        for (interval, minutes, authenticated) in rows {
            let row = Row {
                segment: 4,
                interval: *interval,
                reported: minutes * HOUR / 60,
                authenticated: *authenticated,
                reason: None,
            };
            table.push_row(row, [("sent", 10 + minutes), ("received", 9), ("mean_ns", 100 * minutes)]);
        }
        table
    }

    fn numbers(rows: &[(u32, i64, bool)]) -> Option<Vec<[u32; 2]>> {
        Some(Stretch::of(&table(rows))?.iter().map(|stretch| stretch.intervals).collect())
    }

    #[test]
    fn stretches_end_with_what_does_not_go_on() {
        let plain = [(7, 57, false), (8, 58, false), (9, 59, false)];
        assert_eq!(numbers(&plain), Some(vec![[7, 9]]));
        assert_eq!(numbers(&[]), Some(vec![]));
        assert_eq!(numbers(&[plain[0], (9, 59, false)]), Some(vec![[7, 7], [9, 9]]));
        assert_eq!(numbers(&[(7, 59, false), (8, 60, false), (9, 61, false)]), Some(vec![[7, 7], [8, 9]]));
        assert_eq!(numbers(&[(7, -1, false), (8, 0, false)]), Some(vec![[7, 7], [8, 8]]));
        assert_eq!(numbers(&[plain[0], (8, 58, true)]), Some(vec![[7, 7], [8, 8]]));
        for wrong in [[(7, 1, false), (7, 2, false)], [(u32::MAX, 1, false), (0, 2, false)]] {
            assert_eq!(numbers(&wrong), None);
        }
        let many: Vec<_> = (0..=MOST).map(|number| (2 * number as u32, number as i64, false)).collect();
        assert_eq!(numbers(&many), None);
        assert_eq!(numbers(&many[1..]).unwrap().len(), MOST);
    }

    /// Lines say what they were made of; cut anywhere, or with another word in any place, they say something else or nothing.
    #[test]
    fn lines_there_and_back() {
        let stretches = Stretch::of(&table(&[(7, 57, false), (8, 58, false), (9, 59, true)])).unwrap();
        assert_eq!(stretches.len(), 2);
        for stretch in stretches {
            let line = stretch.to_string();
            assert_eq!(line.parse(), Ok(stretch.clone()));
            let words: Vec<&str> = line.split(' ').collect();
            for place in 0..words.len() {
                assert_eq!(words[..place].join(" ").parse::<Stretch>(), Err(NoStretch), "{place}");
                for other in ["", "x", "NaN", "inf", "-7", "99999999999999999999", "1e400"] {
                    let mut words = words.clone();
                    words[place] = other;
                    let read = words.join(" ").parse::<Stretch>();
                    assert_ne!(read, Ok(stretch.clone()));
                    // Times and what is the least may lie in front of nought.
                    let may_be =
                        other == "-7" && matches!(place, 3 | 15..=18) || other.len() == 20 && place >= 18;
                    assert!(read.is_err() || may_be, "{place} {other}");
                }
            }
            assert_eq!(format!("{line} 1").parse::<Stretch>(), Err(NoStretch));
        }
        // Last in front of first, in numbers or times; another count of intervals; more void ones than there are.
        let line = Stretch::of(&table(&[(7, 57, false), (8, 58, false)])).unwrap()[0].to_string();
        assert!(line.starts_with("4 7 8 3420000000 3480000000 0 2 0 135 "), "{line}");
        for (from, to) in [(" 7 8 ", " 8 7 "), (" 342", " 942"), (" 7 8 ", " 6 8 "), (" 0 2 0 ", " 0 2 3 ")] {
            assert_eq!(line.replacen(from, to, 1).parse::<Stretch>(), Err(NoStretch), "{from}");
        }
    }
}
