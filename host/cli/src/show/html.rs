//! A report: one HTML page that needs nothing else, with the plot, the numbers and all that is to be said of them.

use super::on_delivered;
use super::plot;
use super::value::{Width, heading, value};
use crate::failure::Failure;
use deltaline_capture::write_file;
use deltaline_collect::summary::{Figures, Summary};
use deltaline_collect::text::utc;
use deltaline_estimate::quantity::Quantity;
use std::fmt::Write as _;
use std::path::Path;

const STYLE: &str = "body{font-family:sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem;color:#222}\
    table{border-collapse:collapse;margin:1rem 0}th,td{padding:.2rem .7rem;text-align:right;white-space:nowrap}\
    th{border-bottom:2px solid #222}td{border-bottom:1px solid #ddd}tr.void td{background:#ddd}\
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
    let settings: String =
        settings.map(|[name, value]| format!("<tr><th>{name}</th><td>{value}</td></tr>")).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Delay and loss: {sender} to \
         {receiver}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>One-way delay and loss</h1>\n<p>From \
         <b>{sender}</b> to <b>{receiver}</b></p>\n{}{svg}\n<h2>Intervals</h2>\n{}<h2>Measured</h2>\n\
         <table>{settings}</table>\n<p>Deltaline {}</p>\n</body>\n</html>\n",
        warnings(about.warnings),
        tables(summary),
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
    let mut text = "<div class=\"wide\"><table>\n<tr><th>interval</th><th>start</th>".to_string();
    for column in &columns {
        let _ = write!(text, "<th>{}</th>", escaped(&heading(column).unwrap_or_default()));
    }
    text += "<th></th></tr>\n";
    for interval in &summary.intervals {
        let start = interval.times.map(|[start, _]| utc(start));
        text += &row(&interval.number.to_string(), &start.unwrap_or_default(), &columns, &interval.figures);
    }
    text += &row("overall", "", &columns, &summary.overall);
    text + "</table></div>\n"
}

fn row(name: &str, start: &str, columns: &[&Quantity], figures: &Figures) -> String {
    let class = if figures.void.is_some() { " class=\"void\"" } else { "" };
    let cells: String = columns
        .iter()
        .map(|column| figures.find(column.what.name).map_or("-".into(), |each| value(each, Width::Half)))
        .map(|cell| format!("<td>{}</td>", escaped(&cell)))
        .collect();
    let reason = figures.void.as_ref().map_or(String::new(), |void| escaped(&void.to_string()));
    format!("<tr{class}><td>{name}</td><td>{start}</td>{cells}<td>{reason}</td></tr>\n")
}

/// A text that is no markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
