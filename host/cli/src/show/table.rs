//! Tables for people: one row an interval, one column a quantity.

use super::on_delivered;
use super::value::{Width, heading, value};
use crate::report::{self, duration, or_none};
use deltaline_collect::summary::{Figures, IntervalFigures, Summary};
use deltaline_estimate::quantity::{Quantity, Unit};

/// A segment's intervals and all of them together: a table for each answer, and why something has no value.
pub(crate) fn summary(summary: &Summary) -> String {
    let Summary { overall, intervals, .. } = summary;
    let mut text = format!("{}\n", delays(intervals, overall));
    for answer in 1..overall.answers.len() {
        text += &format!("{}\n", further(intervals, overall, answer));
    }
    text += &on_delivered(overall).map(|note| format!("{note}\n")).unwrap_or_default();
    text + &reasons(intervals, overall)
}

/// Rows of any numbers, each with its name; `first` is the heading of the names.
pub(crate) fn rows(first: &str, rows: &[(String, Vec<Quantity>)]) -> comfy_table::Table {
    let mut header = vec![first.to_string()];
    header.extend(rows.first().iter().flat_map(|(_, quantities)| quantities.iter().filter_map(heading)));
    let mut table = report::table(&header.iter().map(String::as_str).collect::<Vec<_>>());
    for (name, quantities) in rows {
        let shown = quantities.iter().filter(|quantity| quantity.what.heading.is_some());
        table.add_row(std::iter::once(name.clone()).chain(shown.map(|each| value(each, Width::Half))));
    }
    table
}

/// The first answer, of which the truth may be known, with the intervals' times.
fn delays(intervals: &[IntervalFigures], overall: &Figures) -> comfy_table::Table {
    let shown = |figures: &Figures| -> Vec<Quantity> {
        let first = figures.answers.first().into_iter().flatten();
        first.filter(|quantity| quantity.what.heading.is_some()).copied().collect()
    };
    let columns = shown(overall);
    let mut header = vec!["interval".to_string(), "start".into()];
    header.extend(columns.iter().filter_map(heading));
    header.extend(comparison(&columns, overall).map(|column| column.heading));
    let mut table = report::table(&header.iter().map(String::as_str).collect::<Vec<_>>());
    let mut row = |name: String, start: Option<i64>, figures: &Figures| {
        let quantities = shown(figures);
        let mut cells = vec![name, or_none(start, |start| duration(start as f64))];
        cells.extend(quantities.iter().map(|quantity| value(quantity, Width::Half)));
        cells.extend(comparison(&quantities, figures).map(|column| column.cell));
        table.add_row(cells);
    };
    for interval in intervals {
        row(interval.number.to_string(), interval.span.map(|(start, _)| start), &interval.figures);
    }
    row("overall".into(), None, overall);
    table
}

/// A column that compares a quantity with the truth.
struct Comparison {
    heading: String,
    cell: String,
}

/// The truth of each quantity that has one, once, and by how much the quantity is off.
fn comparison<'a>(
    quantities: &'a [Quantity],
    figures: &'a Figures,
) -> impl Iterator<Item = Comparison> + use<'a> {
    let mut seen = vec![];
    quantities.iter().filter_map(|quantity| Some((quantity, figures.exact(quantity)?))).flat_map(
        move |(quantity, exact)| {
            let heading = quantity.what.heading.unwrap_or_default();
            let is_first = !seen.contains(&exact.what.name);
            seen.push(exact.what.name);
            // A true count's share is that of the estimate's samples, too: it need not be shown twice.
            let bare = Quantity { samples: None, ..*exact };
            let truth = is_first
                .then(|| Comparison { heading: format!("true {heading}"), cell: value(&bare, Width::Half) });
            // Counts are exact, or are not known: they are not off.
            let error = (quantity.what.unit == Unit::Nanoseconds).then(|| Comparison {
                heading: if is_first { "error".into() } else { format!("{heading} error") },
                cell: error(quantity, exact),
            });
            truth.into_iter().chain(error)
        },
    )
}

/// By how much an estimate is off, relative to the truth.
fn error(estimate: &Quantity, exact: &Quantity) -> String {
    let values = estimate.value.ok().zip(exact.value.ok()).map(|(a, b)| (a.to_f64(), b.to_f64()));
    or_none(values.filter(|(_, truth)| *truth != 0.0), |(estimate, truth)| {
        format!("{:+.3} %", 100.0 * (estimate - truth) / truth.abs())
    })
}

/// A further answer, with both ends of its confidence intervals.
fn further(intervals: &[IntervalFigures], overall: &Figures, answer: usize) -> comfy_table::Table {
    let columns: Vec<&Quantity> =
        overall.answers[answer].iter().filter(|quantity| quantity.what.heading.is_some()).collect();
    let mut header = vec!["interval".to_string()];
    header.extend(columns.iter().filter_map(|quantity| heading(quantity)));
    let mut table = report::table(&header.iter().map(String::as_str).collect::<Vec<_>>());
    let mut row = |name: String, figures: &Figures| {
        let cells = columns.iter().map(|column| {
            // A void interval has no such answer.
            or_none(figures.find(column.what.name), |quantity| value(quantity, Width::Ends))
        });
        table.add_row(std::iter::once(name).chain(cells));
    };
    for interval in intervals {
        row(interval.number.to_string(), &interval.figures);
    }
    row("overall".into(), overall);
    table
}

/// What a table leaves open, one line for each reason.
fn reasons(intervals: &[IntervalFigures], overall: &Figures) -> String {
    let intervals = intervals.iter().map(|each| (format!("interval {}", each.number), &each.figures));
    let mut groups: Vec<(Vec<String>, String)> = vec![];
    for (name, figures) in intervals.chain([("overall".to_string(), overall)]) {
        let Some(reason) = figures.reason() else { continue };
        match groups.iter_mut().find(|(_, known)| *known == reason) {
            Some((names, _)) => names.push(name),
            None => groups.push((vec![name], reason)),
        }
    }
    groups
        .into_iter()
        .map(|(names, reason)| match &names[..] {
            [first, .., last] if names.len() > MOST_NAMES => {
                format!("{first} ... {last} ({} in all): {reason}\n", names.len())
            }
            _ => format!("{}: {reason}\n", names.join(", ")),
        })
        .collect()
}

/// Intervals that are named one by one.
const MOST_NAMES: usize = 8;
