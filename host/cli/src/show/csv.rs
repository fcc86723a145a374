//! Intervals as comma-separated values (RFC 4180, lines end with a newline): a line each, under a line of the keys that JSON has.
//!
//! A confidence interval is two columns, `..._low` and `..._high`, and so are bounds; the truth's keys begin with `true_`. What has no value is
//! empty, and `reason` says why. What is to be said of the numbers is last.

use deltaline_collect::summary::{Field, Fields, Figures, IntervalFigures, OF_INTERVALS, OF_NUMBERS};
use deltaline_estimate::quantity::{Definition, Number, Quantity};

/// All intervals, of one or several segments.
pub(crate) fn intervals<'a>(intervals: impl IntoIterator<Item = &'a IntervalFigures> + Clone) -> String {
    let all = || intervals.clone().into_iter();
    let columns = columns(all().flat_map(|interval| interval.figures.quantities()));
    let exact = columns_of_truth(all().map(|interval| &interval.figures));
    let mut head = keys(OF_INTERVALS);
    for (what, has_range) in &columns {
        head.extend((!what.is_bounds).then(|| what.key()));
        if *has_range {
            head.extend(["low", "high"].map(|end| format!("{}_{end}", what.range_key())));
        }
    }
    head.extend(exact.iter().map(|what| format!("true_{}", what.key())));
    head.extend(keys(OF_NUMBERS));
    let mut text = line(&head);
    for interval in all() {
        text += &line(&cells(interval, &columns, &exact));
    }
    text
}

fn keys<T>(fields: &Fields<T>) -> Vec<String> {
    fields.iter().map(|(key, _)| (*key).to_string()).collect()
}

fn values<T>(fields: &Fields<T>, of: &T) -> impl Iterator<Item = String> {
    fields.iter().map(|(_, value)| match value(of) {
        Some(Field::Number(number)) => number.to_string(),
        Some(Field::Truth(is_so)) => is_so.to_string(),
        Some(Field::Text(text)) => text,
        None => String::new(),
    })
}

/// A column of each quantity that any interval has, in order, and whether it has a confidence interval.
fn columns<'a>(quantities: impl Iterator<Item = &'a Quantity>) -> Vec<(&'static Definition, bool)> {
    let mut columns: Vec<(&Definition, bool)> = vec![];
    for quantity in quantities {
        let has_range = quantity.range.is_some();
        match columns.iter_mut().find(|(known, _)| known.name == quantity.what.name) {
            Some((_, known)) => *known |= has_range,
            None => columns.push((quantity.what, has_range)),
        }
    }
    columns
}

fn columns_of_truth<'a>(figures: impl Iterator<Item = &'a Figures>) -> Vec<&'static Definition> {
    let exact = figures.flat_map(|figures| figures.exact.iter().flatten());
    columns(exact).into_iter().map(|(what, _)| what).collect()
}

fn cells(
    interval: &IntervalFigures,
    columns: &[(&'static Definition, bool)],
    exact: &[&'static Definition],
) -> Vec<String> {
    let figures = &interval.figures;
    let some = |value: Option<String>| value.unwrap_or_default();
    let mut cells: Vec<String> = values(OF_INTERVALS, interval).collect();
    for (what, has_range) in columns {
        let found = figures.find(what.name);
        if !what.is_bounds {
            cells.push(some(found.and_then(|quantity| quantity.value.ok()).map(number)));
        }
        if *has_range {
            let range = found.and_then(|quantity| quantity.range).and_then(Result::ok);
            cells.extend([0, 1].map(|end| some(range.map(|range| range[end].to_string()))));
        }
    }
    cells.extend(exact.iter().map(|what| {
        let found = figures.exact.iter().flatten().find(|quantity| quantity.what.name == what.name);
        some(found.and_then(|quantity| quantity.value.ok()).map(number))
    }));
    cells.extend(values(OF_NUMBERS, figures));
    cells
}

fn number(number: Number) -> String {
    match number {
        Number::Count(count) => count.to_string(),
        Number::Whole(whole) => whole.to_string(),
        Number::Real(real) => real.to_string(),
        Number::Truth(is_so) => is_so.to_string(),
    }
}

fn line(cells: &[String]) -> String {
    let quoted: Vec<String> = cells
        .iter()
        .map(|cell| match cell.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", cell.replace('"', "\"\"")),
            false => cell.clone(),
        })
        .collect();
    quoted.join(",") + "\n"
}
