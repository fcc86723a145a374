//! A table that grows by a row with every interval: columns of fixed widths.

use super::value::{heading, value};
use deltaline_collect::summary::IntervalFigures;
use deltaline_estimate::quantity::{Quantity, Unit};

/// Columns beside the quantities, and their widths.
const SEGMENT: (&str, usize) = ("segment", 7);
const INTERVAL: (&str, usize) = ("interval", 10);
const GAPS: (&str, usize) = ("gaps", 5);
const BAD: (&str, usize) = ("bad", 5);
const DOUBT: (&str, usize) = ("doubt", 5);

/// One row: heading, width and text of every column.
pub(crate) struct Row(Vec<(String, usize, String)>);

impl Row {
    /// The brief quantities of an interval, whether its clocks are doubtful, with the truth if `has_truth`, and how many gaps and bad frames there were.
    pub(crate) fn new(interval: &IntervalFigures, gaps: u64, bad: u64, has_truth: bool) -> Self {
        let beside = |(heading, width): (&str, usize), text: String| (heading.to_string(), width, text);
        let figures = &interval.figures;
        let brief: Vec<&Quantity> = figures.quantities().filter(|quantity| quantity.what.is_brief).collect();
        let mut row = vec![
            beside(SEGMENT, interval.segment.to_string()),
            beside(INTERVAL, interval.number.to_string()),
        ];
        row.extend(brief.iter().map(|quantity| {
            (
                heading(quantity, quantity.range.is_some()).unwrap_or_default(),
                width(quantity),
                value(quantity),
            )
        }));
        row.push(beside(GAPS, gaps.to_string()));
        row.push(beside(BAD, bad.to_string()));
        row.push(beside(DOUBT, if figures.clock_doubt.is_some() { "clock" } else { "-" }.into()));
        for quantity in brief.iter().filter(|quantity| has_truth && quantity.what.exact.is_some()) {
            let heading = format!("true {}", quantity.what.heading.unwrap_or_default());
            let exact = figures.exact(quantity).map(|exact| Quantity { samples: None, ..*exact });
            let text = exact.map_or("-".into(), |exact| value(&exact));
            let width = match quantity.what.unit {
                Unit::Packets => heading.len(),
                Unit::Nanoseconds => heading.len().max(11),
            };
            row.push((heading, width, text));
        }
        Row(row)
    }

    /// The headings.
    pub(crate) fn heading(&self) -> String {
        line(self.0.iter().map(|(heading, width, _)| (heading, *width)))
    }

    /// The texts.
    pub(crate) fn text(&self) -> String {
        line(self.0.iter().map(|(_, width, text)| (text, *width)))
    }
}

/// What the longest usual text takes.
fn width(quantity: &Quantity) -> usize {
    match (quantity.what.unit, quantity.range.is_some(), quantity.what.share.is_some()) {
        (Unit::Packets, _, false) => 10,
        (Unit::Packets, _, true) => 28,
        (Unit::Nanoseconds, false, _) => 11,
        (Unit::Nanoseconds, true, _) => 31,
    }
}

/// A line of cells, each to the right of its width.
fn line<'a>(cells: impl Iterator<Item = (&'a String, usize)>) -> String {
    let cells: Vec<String> = cells.map(|(text, width)| format!("{text:>width$}")).collect();
    cells.join("  ") + "\n"
}
