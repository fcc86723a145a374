//! A report: one HTML page that needs nothing else, with the plot, the numbers and all that is to be said of them.

use super::causes::causes;
use super::on_delivered;
use super::plot;
use super::rows::runs;
use super::table::has_range;
use super::value::{heading, value};
use crate::failure::Failure;
use crate::report::printable;
use deltaline_capture::write_file;
use deltaline_collect::summary::{Figures, Summary};
use deltaline_collect::text::utc;
use deltaline_estimate::quantity::Quantity;
use std::fmt::Write as _;
use std::path::Path;

const STYLE: &str = "body{font-family:sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem;color:#222}\
    table{border-collapse:collapse;margin:1rem 0;font-size:.85rem}th,td{padding:.2rem .4rem;text-align:right}\
    th{border-bottom:2px solid #222}td{border-bottom:1px solid #ddd}tr.void td{background:#ddd}td.text{text-align:left}\
    .warnings{background:#fff3d6;padding:.5rem 2rem}.wide{overflow-x:auto}svg{max-width:100%;height:auto}";

/// What a report says beside the numbers.
pub(crate) struct About<'a> {
    /// The captures.
    pub(crate) files: [&'a str; 2],
    /// How it was measured: names and values.
    pub(crate) settings: Vec<(&'static str, String)>,
    /// What is to be said of the result.
    pub(crate) warnings: &'a [String],
}

/// Writes the report; an existing file is replaced only when the new one is complete.
///
/// # Errors
///
/// [`Exit::Output`](crate::exit::Exit::Output) when it cannot be written.
pub(crate) fn write(path: &Path, about: &About<'_>, summary: &Summary) -> Result<(), Failure> {
    let svg = plot::svg(path, &summary.intervals)?;
    Ok(write_file(path, page(about, summary, &svg).as_bytes())?)
}

pub(super) fn page(about: &About<'_>, summary: &Summary, svg: &str) -> String {
    let [sender, receiver] = about.files.map(escaped);
    let settings = about.settings.iter().map(|(name, value)| [escaped(name), escaped(value)]);
    let settings: String = settings
        .map(|[name, value]| format!("<tr><th>{name}</th><td class=\"text\">{value}</td></tr>"))
        .collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Delay and loss: {sender} to \
         {receiver}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>One-way delay and loss</h1>\n<p>From \
         <b>{sender}</b> to <b>{receiver}</b></p>\n{}{svg}\n<h2>Intervals</h2>\n{}{}<h2>Measured</h2>\n\
         <table>{settings}</table>\n<p>Deltaline {}</p>\n</body>\n</html>\n",
        warnings(about.warnings),
        tables(summary),
        open_questions(summary),
        env!("CARGO_PKG_VERSION"),
    )
}

fn warnings(warnings: &[String]) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    let items: String = warnings.iter().map(|warning| format!("<li>{}</li>\n", escaped(warning))).collect();
    format!("<div class=\"warnings\"><h2>Warnings</h2>\n<ul>\n{items}</ul></div>\n")
}

/// Why numbers have no value, or not that of all packets.
fn open_questions(summary: &Summary) -> String {
    let causes = causes(&summary.intervals, &summary.overall);
    if causes.is_empty() {
        return String::new();
    }
    let mut text = "<h2>Left open</h2>\n<dl>\n".to_string();
    for cause in causes {
        let _ = writeln!(text, "<dt>{}</dt>", escaped(&cause.text()));
        cause.concerned().for_each(|concerned| text += &format!("<dd>{}</dd>\n", escaped(&concerned)));
    }
    text + "</dl>\n"
}

/// A table for each answer: a row for each interval, and one for all of them.
fn tables(summary: &Summary) -> String {
    let answers = summary.overall.answers.iter();
    let tables =
        answers.map(|columns| table(summary, columns.iter().filter(|each| each.what.heading.is_some())));
    let note = on_delivered(&summary.overall).map(|note| format!("<p>{note}</p>\n"));
    tables.chain(note).collect()
}

fn table<'a>(summary: &Summary, columns: impl Iterator<Item = &'a Quantity>) -> String {
    let columns: Vec<&Quantity> = columns.collect();
    let mut text = "<div class=\"wide\"><table>\n<tr><th>interval</th><th>start (UTC)</th>".to_string();
    for column in &columns {
        let _ = write!(
            text,
            "<th>{}</th>",
            escaped(&heading(column, has_range(column, &summary.intervals)).unwrap_or_default())
        );
    }
    text += "</tr>\n";
    for run in runs(&summary.intervals) {
        let start = run.first.times.map(|[start, _]| moment(start));
        text += &row(&run.name(), &start.unwrap_or_default(), &columns, &run.first.figures);
    }
    text += &row("overall", "", &columns, &summary.overall);
    text + "</table></div>\n"
}

fn row(name: &str, start: &str, columns: &[&Quantity], figures: &Figures) -> String {
    let class = if figures.void.is_some() { " class=\"void\"" } else { "" };
    let cells: String = columns
        .iter()
        .map(|column| figures.find(column.what.name).map_or("-".into(), value))
        .map(|cell| format!("<td>{}</td>", unbroken(&escaped(&cell))))
        .collect();
    format!("<tr{class}><td>{name}</td><td>{start}</td>{cells}</tr>\n")
}

/// A moment for people, to the millisecond.
pub(crate) fn moment(nanoseconds: u64) -> String {
    utc(nanoseconds).chars().take("2023-11-14T22:13:20.123".len()).collect::<String>().replace('T', " ")
}

/// A cell that breaks before its brackets at most.
fn unbroken(cell: &str) -> String {
    cell.replace(' ', "&nbsp;").replace("&nbsp;(", " (")
}

/// A text that is no markup.
fn escaped(text: &str) -> String {
    printable(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
