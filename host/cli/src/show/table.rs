//! Tables for people: one row an interval, or a run of intervals without packets; one column a quantity.

use super::causes::causes;
use super::on_delivered;
use super::rows::runs;
use super::value::{heading, value};
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
    for cause in causes(intervals, overall) {
        text += &format!("{}\n", cause.text());
        cause.concerned().for_each(|concerned| text += &format!("    {concerned}\n"));
    }
    text
}

/// Rows of any numbers, each with its name; `first` is the heading of the names.
pub(crate) fn rows(first: &str, rows: &[(String, Vec<Quantity>)]) -> comfy_table::Table {
    let mut header = vec![first.to_string()];
    let first = rows.first().into_iter().flat_map(|(_, quantities)| quantities);
    header.extend(first.filter_map(|each| heading(each, each.range.is_some())));
    let mut table = report::table(&header.iter().map(String::as_str).collect::<Vec<_>>());
    for (name, quantities) in rows {
        let shown = quantities.iter().filter(|quantity| quantity.what.heading.is_some());
        table.add_row(std::iter::once(name.clone()).chain(shown.map(value)));
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
    header.extend(columns.iter().filter_map(|each| heading(each, has_range(each, intervals))));
    header.extend(comparison(&columns, overall).map(|column| column.heading));
    let mut table = report::table(&header.iter().map(String::as_str).collect::<Vec<_>>());
    let mut row = |name: String, start: Option<i64>, figures: &Figures| {
        let quantities = shown(figures);
        let mut cells = vec![name, or_none(start, |start| duration(start as f64))];
        cells.extend(quantities.iter().map(value));
        cells.extend(comparison(&quantities, figures).map(|column| column.cell));
        table.add_row(cells);
    };
    for run in runs(intervals) {
        row(run.name(), run.first.span.map(|(start, _)| start), &run.first.figures);
    }
    row("overall".into(), None, overall);
    table
}

/// Whether a column has confidence intervals, `quantity` being that of all intervals.
pub(super) fn has_range(quantity: &Quantity, intervals: &[IntervalFigures]) -> bool {
    let find =
        |each: &IntervalFigures| each.figures.find(quantity.what.name).is_some_and(|it| it.range.is_some());
    quantity.range.is_some() || intervals.iter().any(find)
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
            let truth =
                is_first.then(|| Comparison { heading: format!("true {heading}"), cell: value(&bare) });
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

/// A further answer.
fn further(intervals: &[IntervalFigures], overall: &Figures, answer: usize) -> comfy_table::Table {
    let columns: Vec<&Quantity> =
        overall.answers[answer].iter().filter(|quantity| quantity.what.heading.is_some()).collect();
    let mut header = vec!["interval".to_string()];
    header.extend(columns.iter().filter_map(|each| heading(each, has_range(each, intervals))));
    let mut table = report::table(&header.iter().map(String::as_str).collect::<Vec<_>>());
    let mut row = |name: String, figures: &Figures| {
        let cells = columns.iter().map(|column| {
            // A void interval has no such answer.
            or_none(figures.find(column.what.name), value)
        });
        table.add_row(std::iter::once(name).chain(cells));
    };
    for run in runs(intervals) {
        row(run.name(), &run.first.figures);
    }
    row("overall".into(), overall);
    table
}
