//! Reports: tables for people, JSON for programs, messages.

use crate::exit::{Exit, Failure};
use crate::results::{Figures, IntervalFigures, QuantileFigures};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::io::{self, ErrorKind, Write};

/// Writes a result to standard output. Nobody reading it any more is no error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_part(text).map(|_| ())
}

/// As [`print()`]; tells whether anybody may still be reading.
pub(crate) fn print_part(text: &str) -> Result<bool, Failure> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(reason) if reason.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(reason) => Err(Failure::new(
            Exit::Output,
            format!("standard output cannot be written: {reason}; check where it is redirected to"),
        )),
        Ok(()) => Ok(true),
    }
}

/// Writes a result as JSON to standard output.
pub(crate) fn print_json(result: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(result).map_err(|error| Failure::new(Exit::Output, error))?;
    print(&(text + "\n"))
}

/// Writes a result as a line of JSON to standard output; tells whether anybody may still be reading.
pub(crate) fn print_json_line(result: &impl Serialize) -> Result<bool, Failure> {
    let text = serde_json::to_string(result).map_err(|error| Failure::new(Exit::Output, error))?;
    print_part(&(text + "\n"))
}

/// Writes a message to standard error; if that fails there is nobody to tell.
pub(crate) fn say(message: &str) {
    let _ = writeln!(io::stderr(), "deltaline: {message}");
}

/// A duration in a unit that suits it.
pub(crate) fn duration(nanoseconds: f64) -> String {
    let (scale, unit) = unit(nanoseconds);
    format!("{:.3} {unit}", nanoseconds / scale)
}

fn unit(nanoseconds: f64) -> (f64, &'static str) {
    // The limits are those from which on three decimals would round up to the next unit.
    match nanoseconds.abs() {
        small if small < 999.9995 => (1.0, "ns"),
        small if small < 999_999.5 => (1e3, "µs"),
        small if small < 999_999_500.0 => (1e6, "ms"),
        _ => (1e9, "s"),
    }
}

const NONE: &str = "-";

pub(crate) fn or_none<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NONE.into(), show)
}

/// A mean and half the width of its confidence interval, in the same unit.
pub(crate) fn mean(figures: &Figures) -> String {
    or_none(figures.mean_ns, |mean| match figures.mean_ci95_ns {
        Some([low, high]) => {
            let (scale, unit) = unit(mean);
            format!("{:.3} ± {:.3} {unit}", mean / scale, (high - low) / 2.0 / scale)
        }
        None => duration(mean),
    })
}

pub(crate) fn loss(lost: Option<u64>, sent: Option<u64>) -> String {
    or_none(lost.zip(sent), |(lost, sent)| match lost {
        0 => "0".into(),
        _ => format!("{lost} ({:.3} %)", 100.0 * lost as f64 / sent as f64),
    })
}

/// By how much an estimate is off, relative to the truth.
fn error(estimate: Option<f64>, truth: Option<f64>) -> String {
    or_none(estimate.zip(truth).filter(|(_, truth)| *truth != 0.0), |(estimate, truth)| {
        format!("{:+.3} %", 100.0 * (estimate - truth) / truth.abs())
    })
}

/// A table without clutter, numbers to the right.
pub(crate) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(header.iter().copied());
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The figures of all intervals and of all together.
pub(crate) fn figures(intervals: &[IntervalFigures], overall: &Figures) -> Table {
    let has_truth = overall.truth.is_some();
    let mut header =
        vec!["interval", "start", "sent", "lost", "samples", "mean (95 %)", "deviation", "paper's"];
    if has_truth {
        header.extend(["true lost", "true mean", "error", "true deviation", "error", "paper's error"]);
    }
    let mut table = table(&header);
    let mut row = |name: String, start: Option<i64>, figures: &Figures| {
        let mut cells = vec![
            name,
            or_none(start, |start| duration(start as f64)),
            or_none(figures.sent, |sent| sent.to_string()),
            loss(figures.lost, figures.sent),
            or_none(figures.effective_samples, |samples| samples.to_string()),
            mean(figures),
            or_none(figures.std_ns, duration),
            or_none(figures.std_paper_ns, duration),
        ];
        if let Some(truth) = figures.truth {
            cells.extend([
                truth.lost.to_string(),
                or_none(truth.mean_ns, duration),
                error(figures.mean_ns, truth.mean_ns),
                or_none(truth.std_ns, duration),
                error(figures.std_ns, truth.std_ns),
                error(figures.std_paper_ns, truth.std_ns),
            ]);
        }
        table.add_row(cells);
    };
    for interval in intervals {
        row(interval.interval.to_string(), interval.start_ns, &interval.figures);
    }
    row("overall".into(), None, overall);
    table
}

/// The quantiles of all intervals and of all together; nothing without digests.
pub(crate) fn quantiles(intervals: &[IntervalFigures], overall: &Figures) -> String {
    if overall.quantiles.is_none() {
        return String::new();
    }
    let mut table = table(&["interval", "exact delays", "p50 (95 %)", "p90 (95 %)", "p99 (95 %)"]);
    let mut row = |name: String, figures: &Figures| {
        let of = |value: fn(&QuantileFigures) -> Option<f64>,
                  range: fn(&QuantileFigures) -> Option<[f64; 2]>| {
            let quantiles = figures.quantiles.as_ref();
            or_none(quantiles.and_then(value).zip(quantiles.and_then(range)), |(value, [low, high])| {
                let (scale, unit) = unit(value);
                format!("{:.3} ({:.3} to {:.3}) {unit}", value / scale, low / scale, high / scale)
            })
        };
        table.add_row([
            name,
            or_none(figures.quantiles, |quantiles| quantiles.exact_delays.to_string()),
            of(|quantiles| quantiles.p50_ns, |quantiles| quantiles.p50_ci95_ns),
            of(|quantiles| quantiles.p90_ns, |quantiles| quantiles.p90_ci95_ns),
            of(|quantiles| quantiles.p99_ns, |quantiles| quantiles.p99_ci95_ns),
        ]);
    };
    for interval in intervals {
        row(interval.interval.to_string(), &interval.figures);
    }
    row("overall".into(), overall);
    format!("{table}\n")
}

/// What a table leaves open, one line for each reason.
pub(crate) fn reasons(intervals: &[IntervalFigures], overall: &Figures) -> String {
    let intervals = intervals.iter().map(|each| (format!("interval {}", each.interval), &each.figures));
    let mut groups: Vec<(Vec<String>, &str)> = vec![];
    for (name, figures) in intervals.chain([("overall".to_string(), overall)]) {
        let Some(reason) = figures.reason.as_deref() else { continue };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_readable() {
        for (nanoseconds, text) in [
            (0.0, "0.000 ns"),
            (519.0, "519.000 ns"),
            (-999.9996, "-1.000 µs"),
            (12_301_070.6, "12.301 ms"),
            (999_999.6, "1.000 ms"),
            (-1.5e9, "-1.500 s"),
            (5.4e11, "540.000 s"),
        ] {
            assert_eq!(duration(nanoseconds), text);
        }
    }
}
