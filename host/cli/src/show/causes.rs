//! Why numbers have no value, or not that of all packets: each cause once, with the intervals and numbers that it concerns.
//!
//! Causes that differ in whole numbers alone, such as how many packets were gained, are one: it gives the least and the
//! greatest of each.
//!
//! # Test plan
//!
//! Neighbours and single intervals, more of them than are named; causes that differ in a number, and in a word; several
//! numbers in different intervals; all intervals together.

use deltaline_collect::summary::{Figures, IntervalFigures};

/// Runs of intervals that are named.
const MOST_RUNS: usize = 8;
/// Stands in a cause for a number.
const NUMBER: char = '\0';

/// A cause.
pub(super) struct Cause {
    /// Its text, with [`NUMBER`] in the place of each number.
    shape: String,
    /// The least and the greatest of each number.
    numbers: Vec<(u64, u64)>,
    concerned: Vec<Concerned>,
}

/// Numbers and where they are.
struct Concerned {
    /// Their keys; none if all are concerned.
    keys: Vec<String>,
    /// The first and the last interval of each run.
    runs: Vec<(u32, u32)>,
    is_overall: bool,
}

/// The causes behind what tables of these numbers leave open, in the order in which they come up.
pub(super) fn causes(intervals: &[IntervalFigures], overall: &Figures) -> Vec<Cause> {
    let mut causes: Vec<Cause> = vec![];
    let intervals = intervals.iter().map(|each| (Some(each.number), &each.figures));
    for (interval, figures) in intervals.chain([(None, overall)]) {
        for (keys, text) in figures.reasons() {
            let (shape, numbers) = parsed(&text);
            match causes.iter_mut().find(|cause| cause.shape == shape) {
                Some(cause) => cause.add(&numbers, keys, interval),
                None => {
                    let numbers = numbers.into_iter().map(|number| (number, number)).collect();
                    causes.push(Cause { shape, numbers, concerned: vec![Concerned::new(keys, interval)] });
                }
            }
        }
    }
    causes
}

/// A text with [`NUMBER`] in the place of each whole number that stands alone, and these numbers.
fn parsed(text: &str) -> (String, Vec<u64>) {
    let mut numbers = vec![];
    let words: Vec<String> = text
        .split(' ')
        .map(|word| {
            let bare = word.trim_matches(['(', ')', ',', ';', ':']);
            match bare.parse() {
                Ok(number) if bare.bytes().all(|byte| byte.is_ascii_digit()) => {
                    numbers.push(number);
                    word.replace(bare, &NUMBER.to_string())
                }
                _ => word.into(),
            }
        })
        .collect();
    (words.join(" "), numbers)
}

impl Cause {
    fn add(&mut self, numbers: &[u64], keys: Vec<String>, interval: Option<u32>) {
        for ((least, greatest), &number) in self.numbers.iter_mut().zip(numbers) {
            (*least, *greatest) = ((*least).min(number), (*greatest).max(number));
        }
        match self.concerned.iter_mut().find(|each| each.keys == keys) {
            Some(concerned) => concerned.add(interval),
            None => self.concerned.push(Concerned::new(keys, interval)),
        }
    }

    /// What it says.
    pub(super) fn text(&self) -> String {
        let mut numbers = self.numbers.iter();
        let parts = self.shape.split_inclusive(NUMBER).map(|part| {
            let Some(before) = part.strip_suffix(NUMBER) else { return part.to_string() };
            match numbers.next() {
                Some((least, greatest)) if least == greatest => format!("{before}{least}"),
                Some((least, greatest)) => format!("{before}{least} to {greatest}"),
                None => before.into(),
            }
        });
        parts.collect()
    }

    /// Which numbers of which intervals it concerns, a line each.
    pub(super) fn concerned(&self) -> impl Iterator<Item = String> + use<'_> {
        self.concerned.iter().map(Concerned::text)
    }
}

impl Concerned {
    fn new(keys: Vec<String>, interval: Option<u32>) -> Self {
        let mut new = Concerned { keys, runs: vec![], is_overall: false };
        new.add(interval);
        new
    }

    /// An interval, or all of them together.
    fn add(&mut self, interval: Option<u32>) {
        match (interval, self.runs.last_mut()) {
            (None, _) => self.is_overall = true,
            (Some(number), Some((_, last))) if last.checked_add(1) == Some(number) => *last = number,
            (Some(number), _) => self.runs.push((number, number)),
        }
    }

    fn text(&self) -> String {
        let run = |&(first, last): &(u32, u32)| match first == last {
            true => first.to_string(),
            false => format!("{first} to {last}"),
        };
        let named: Vec<String> = self.runs.iter().take(MOST_RUNS).map(run).collect();
        let count: u64 = self.runs.iter().map(|(first, last)| u64::from(last - first) + 1).sum();
        let mut places = vec![];
        match (&self.runs[..], count) {
            ([], _) => {}
            (_, 1) => places.push(format!("interval {}", named.join(", "))),
            (runs, _) if runs.len() > MOST_RUNS => {
                places.push(format!("intervals {} ... ({count} in all)", named.join(", ")));
            }
            _ => places.push(format!("intervals {}", named.join(", "))),
        }
        places.extend(self.is_overall.then(|| "overall".into()));
        let places = places.join(" and ");
        if self.keys.is_empty() { places } else { format!("{places}: {}", self.keys.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::blank;
    use super::*;
    use deltaline_estimate::Reason;
    use deltaline_estimate::quantity::{DEVIATION, MEAN, Quantity};

    fn figures(mean: Reason, deviation: Reason) -> Figures {
        let quantities = vec![Quantity::new(&MEAN, Err(mean)), Quantity::new(&DEVIATION, Err(deviation))];
        Figures { answers: vec![quantities], ..Figures::default() }
    }

    fn texts(of_intervals: &[(u32, Reason, Reason)], overall: &Figures) -> Vec<String> {
        let interval =
            |&(number, mean, deviation): &(u32, Reason, Reason)| blank(number, figures(mean, deviation));
        let intervals: Vec<IntervalFigures> = of_intervals.iter().map(interval).collect();
        causes(&intervals, overall)
            .iter()
            .flat_map(|cause| std::iter::once(cause.text()).chain(cause.concerned()))
            .collect()
    }

    #[test]
    fn each_cause_is_there_once() {
        let (row, rows) = (Reason::NoUsableRow, Reason::FewRows);
        let found =
            texts(&[(2, row, row), (3, row, row), (4, row, rows), (6, row, row)], &figures(rows, rows));
        let expected = [
            row.to_string(),
            "intervals 2 to 3, 6: mean_ns, std_ns".into(),
            "interval 4: mean_ns".into(),
            rows.to_string(),
            "interval 4: std_ns".into(),
            "overall: mean_ns, std_ns".into(),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn numbers_make_no_other_cause() {
        let gained = [(0, 12), (1, 3), (2, 4)].map(|(at, packets)| {
            let reason = Reason::Gained(packets);
            (at, reason, reason)
        });
        let found = texts(&gained, &figures(Reason::Gained(19), Reason::Gained(19)));
        let expected = Reason::Gained(7).to_string().replace('7', "3 to 19");
        assert_eq!(found, [expected, "intervals 0 to 2 and overall: mean_ns, std_ns".into()]);
        // Part of a word is no number.
        assert_eq!(parsed("p50 of 2^39 ns (550 s), 0.5"), ("p50 of 2^39 ns (\0 s), 0.5".into(), vec![550]));
    }

    #[test]
    fn not_all_of_many_are_named() {
        let many: Vec<(u32, Reason, Reason)> =
            (0..40).map(|each| (2 * each, Reason::NoUsableRow, Reason::NoUsableRow)).collect();
        let found = texts(&many, &Figures::default());
        assert_eq!(found[1], "intervals 0, 2, 4, 6, 8, 10, 12, 14 ... (40 in all): mean_ns, std_ns");
    }
}
