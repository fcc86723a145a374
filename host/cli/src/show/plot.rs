//! Plot: delays and loss over time as SVG, on one page: estimates with their intervals, the truth if it is known, quantiles
//! where there are any, and grey what is void.
//!
//! The first delay that has a confidence interval by its kind is drawn with it, further ones that are metrics and not shown
//! first of all, quantiles, as lines; loss is the first count that is shown as a share. Time is that of day (UTC) where it is known, else that since the first packet.

use crate::exit::Exit;
use crate::failure::Failure;
use deltaline_capture::write_file;
use deltaline_collect::summary::IntervalFigures;
use deltaline_collect::text::utc;
use deltaline_estimate::quantity::{Quantity, Unit};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;
use std::path::Path;

const SIZE: (u32, u32) = (1100, 640);
/// To the right of the panels.
const LEGEND: u32 = 150;
/// Height of the upper panel.
const DELAYS: u32 = 420;
const ESTIMATE: RGBColor = RGBColor(0x1f, 0x5f, 0xa8);
const TRUTH: RGBColor = RGBColor(0xd6, 0x45, 0x1b);
const LOSS: RGBColor = RGBColor(0xa8, 0x1f, 0x5f);
const VOID: RGBColor = RGBColor(0x80, 0x80, 0x80);
/// Of further delays, in turn.
const FURTHER: [RGBColor; 3] =
    [RGBColor(0x2c, 0x8c, 0x4a), RGBColor(0x8a, 0x6d, 0x1b), RGBColor(0x7a, 0x3f, 0xa8)];
const NANOSECONDS_A_SECOND: f64 = 1e9;
const NANOSECONDS_A_MILLISECOND: f64 = 1e6;
const NANOSECONDS_AN_HOUR: u64 = 3_600_000_000_000;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn Error>>;

/// An interval's span in seconds, delays in milliseconds, loss in per cent.
struct Step {
    span: (f64, f64),
    is_void: bool,
    mean: Option<f64>,
    range: Option<[f64; 2]>,
    truth: Option<f64>,
    /// By name.
    further: Vec<(&'static str, f64)>,
    loss: Option<f64>,
}

fn step(interval: &IntervalFigures, span: (f64, f64)) -> Step {
    let milliseconds = |nanoseconds: f64| nanoseconds / NANOSECONDS_A_MILLISECOND;
    let value = |quantity: &Quantity| quantity.value.ok().map(|number| milliseconds(number.to_f64()));
    let figures = &interval.figures;
    let mut delays =
        figures.quantities().filter(|each| each.what.unit == Unit::Nanoseconds && each.range.is_some());
    let mean = delays.next();
    let further = delays.filter(|each| each.what.metric.is_some() && !each.what.is_brief);
    let lost = figures.quantities().find(|each| each.what.share.is_some());
    let share = |lost: &Quantity| {
        let of = lost.samples.filter(|samples| *samples > 0)?;
        Some(100.0 * lost.value.ok()?.to_f64() / of as f64)
    };
    Step {
        span,
        is_void: figures.void.is_some(),
        mean: mean.and_then(value),
        range: mean.and_then(|mean| mean.range?.ok()).map(|range| range.map(milliseconds)),
        truth: mean.and_then(|mean| figures.exact(mean)).and_then(value),
        further: further.filter_map(|each| Some((each.what.heading?, value(each)?))).collect(),
        loss: lost.and_then(share),
    }
}

/// Where intervals lie in time; one that reported no packets fills the gap between its neighbours.
struct Time {
    /// Where seconds count from: a full hour, in nanoseconds since the Unix epoch, if the time of day is known.
    hour: Option<u64>,
    /// In nanoseconds, at which the first packet came.
    start: i64,
}

impl Time {
    fn of(intervals: &[IntervalFigures]) -> Self {
        let known = intervals.iter().find_map(|each| Some((each.times?[0], each.span?.0)));
        let start = known.map(|(time, since)| time.saturating_add_signed(-since));
        let hour = start.map(|start| start - start % NANOSECONDS_AN_HOUR);
        Time {
            hour,
            start: start.zip(hour).map_or(0, |(start, hour)| i64::try_from(start - hour).unwrap_or(0)),
        }
    }

    fn seconds(&self, since_start: i64) -> f64 {
        (self.start + since_start) as f64 / NANOSECONDS_A_SECOND
    }

    fn spans(&self, intervals: &[IntervalFigures]) -> Vec<Option<(f64, f64)>> {
        let before = |at: usize| intervals[..at].iter().rev().find_map(|each| each.span).map(|(_, end)| end);
        let behind = |at: usize| intervals[at..].iter().find_map(|each| each.span).map(|(start, _)| start);
        let spans = intervals.iter().enumerate();
        let spans = spans.map(|(at, each)| each.span.or_else(|| before(at).zip(behind(at))));
        spans.map(|span| span.map(|(start, end)| (self.seconds(start), self.seconds(end)))).collect()
    }

    /// A tick's text, of an axis so many seconds long.
    fn tick(&self, seconds: f64, length: f64) -> String {
        match self.hour {
            Some(hour) => {
                let nanoseconds = (seconds * NANOSECONDS_A_SECOND).round().max(0.0) as u64;
                let digits = if length < 10.0 { "11:22:33.444".len() } else { "11:22:33".len() };
                utc(hour + nanoseconds).split('T').nth(1).unwrap_or_default().chars().take(digits).collect()
            }
            None => format!("{seconds}"),
        }
    }

    fn description(&self) -> String {
        match self.hour {
            Some(hour) => {
                format!(
                    "time of day at the sender (UTC, {})",
                    utc(hour).split('T').next().unwrap_or_default()
                )
            }
            None => "time at the sender since its first packet (s)".into(),
        }
    }
}

/// Writes the plot; an existing file is replaced only when the new one is complete.
///
/// # Errors
///
/// [`Exit::Output`] when it cannot be written.
pub(crate) fn write(path: &Path, intervals: &[IntervalFigures]) -> Result<(), Failure> {
    Ok(write_file(path, svg(path, intervals)?.as_bytes())?)
}

/// The plot, for the file of this name.
pub(crate) fn svg(path: &Path, intervals: &[IntervalFigures]) -> Result<String, Failure> {
    let mut svg = String::new();
    draw(intervals, &mut svg).map_err(|error| {
        let message = format!("{}: cannot be drawn: {error}", path.display());
        Failure::new(Exit::Output, message).of_file(path.display())
    })?;
    Ok(svg)
}

fn draw(intervals: &[IntervalFigures], svg: &mut String) -> Drawn {
    let time = Time::of(intervals);
    let spans = time.spans(intervals);
    let steps: Vec<Step> =
        intervals.iter().zip(spans).filter_map(|(interval, span)| Some(step(interval, span?))).collect();
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let (panels, legend) = area.split_horizontally(SIZE.0 - LEGEND);
    let (delays, losses) = panels.split_vertically(DELAYS);
    let mut names: Vec<&str> = vec![];
    for (name, _) in steps.iter().flat_map(|step| &step.further) {
        if !names.contains(name) {
            names.push(name);
        }
    }
    draw_delays(&delays, &steps, &names, &time)?;
    draw_losses(&losses, &steps, &time)?;
    draw_legend(&legend, &steps, &names)?;
    area.present()?;
    Ok(())
}

/// Something to look at even if nothing is there.
fn limits(values: impl Iterator<Item = f64>, otherwise: (f64, f64)) -> (f64, f64) {
    let (least, most) = values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if least <= most { (least, most) } else { otherwise }
}

fn axis_of_time(steps: &[Step]) -> (f64, f64) {
    let (start, end) = limits(steps.iter().flat_map(|step| [step.span.0, step.span.1]), (0.0, 1.0));
    if start < end { (start, end) } else { (start, start + 1.0) }
}

fn void<'a>(steps: &'a [Step], low: f64, high: f64) -> impl Iterator<Item = Rectangle<(f64, f64)>> + use<'a> {
    let spans = steps.iter().filter(|step| step.is_void).map(|step| step.span);
    spans.map(move |(start, end)| Rectangle::new([(start, low), (end, high)], VOID.mix(0.25).filled()))
}

fn level(span: (f64, f64), value: f64, style: impl Into<ShapeStyle>) -> PathElement<(f64, f64)> {
    PathElement::new(vec![(span.0, value), (span.1, value)], style)
}

fn draw_delays(area: &Area<'_>, steps: &[Step], names: &[&str], time: &Time) -> Drawn {
    let further = steps.iter().flat_map(|step| step.further.iter().map(|(_, value)| *value));
    let means = steps.iter().flat_map(|step| [step.mean, step.truth]).flatten();
    let ranges = steps.iter().filter_map(|step| step.range).flatten();
    let (low, high) = limits(means.chain(ranges).chain(further), (0.0, 1.0));
    let room = if low < high { 0.1 * (high - low) } else { 0.1 + 0.1 * high.abs() };
    let (low, high) = (low - room, high + room);
    let (start, end) = axis_of_time(steps);
    let mut chart = ChartBuilder::on(area)
        .caption("One-way delay and loss of each interval", ("sans-serif", 20))
        .margin(16)
        .x_label_area_size(24)
        .y_label_area_size(64)
        .build_cartesian_2d(start..end, low..high)?;
    chart
        .configure_mesh()
        .x_labels(8)
        .x_label_formatter(&|seconds| time.tick(*seconds, end - start))
        .y_desc("delay (ms)")
        .light_line_style(WHITE)
        .draw()?;
    chart.draw_series(void(steps, low, high))?;
    chart.draw_series(steps.iter().filter_map(|step| {
        let [low, high] = step.range?;
        Some(Rectangle::new([(step.span.0, low), (step.span.1, high)], ESTIMATE.mix(0.25).filled()))
    }))?;
    for (name, colour) in names.iter().zip(FURTHER.iter().cycle()) {
        chart.draw_series(steps.iter().filter_map(|step| {
            let (_, value) = step.further.iter().find(|(known, _)| known == name)?;
            Some(level(step.span, *value, colour.stroke_width(1)))
        }))?;
    }
    chart.draw_series(
        steps.iter().filter_map(|step| Some(level(step.span, step.truth?, TRUTH.stroke_width(3)))),
    )?;
    chart.draw_series(
        steps.iter().filter_map(|step| Some(level(step.span, step.mean?, ESTIMATE.stroke_width(2)))),
    )?;
    Ok(())
}

fn draw_losses(area: &Area<'_>, steps: &[Step], time: &Time) -> Drawn {
    let (_, most) = limits(steps.iter().filter_map(|step| step.loss), (0.0, 0.0));
    let high = if most > 0.0 { 1.1 * most } else { 1.0 };
    let (start, end) = axis_of_time(steps);
    let mut chart = ChartBuilder::on(area)
        .margin(16)
        .margin_top(0)
        .x_label_area_size(40)
        .y_label_area_size(64)
        .build_cartesian_2d(start..end, 0.0..high)?;
    chart
        .configure_mesh()
        .x_labels(8)
        .x_label_formatter(&|seconds| time.tick(*seconds, end - start))
        .x_desc(time.description())
        .y_desc("loss (%)")
        .y_labels(5)
        .light_line_style(WHITE)
        .draw()?;
    chart.draw_series(void(steps, 0.0, high))?;
    chart.draw_series(steps.iter().filter_map(|step| {
        Some(Rectangle::new([(step.span.0, 0.0), (step.span.1, step.loss?)], LOSS.mix(0.5).filled()))
    }))?;
    Ok(())
}

/// One line for each thing that is drawn.
fn draw_legend(area: &Area<'_>, steps: &[Step], names: &[&str]) -> Drawn {
    let any = |has: fn(&Step) -> bool| steps.iter().any(has);
    let mut entries: Vec<(&str, ShapeStyle)> = vec![];
    if any(|step| step.mean.is_some()) {
        entries.push(("estimate", ESTIMATE.stroke_width(2)));
    }
    if any(|step| step.range.is_some()) {
        entries.push(("95 % interval", ESTIMATE.mix(0.25).stroke_width(10)));
    }
    if any(|step| step.truth.is_some()) {
        entries.push(("exact", TRUTH.stroke_width(3)));
    }
    entries
        .extend(names.iter().zip(FURTHER.iter().cycle()).map(|(name, style)| (*name, style.stroke_width(1))));
    if any(|step| step.loss.is_some()) {
        entries.push(("loss", LOSS.mix(0.5).stroke_width(10)));
    }
    if any(|step| step.is_void) {
        entries.push(("void", VOID.mix(0.25).stroke_width(10)));
    }
    for (row, (name, style)) in entries.into_iter().enumerate() {
        let y = 60 + 22 * row as i32;
        area.draw(&PathElement::new(vec![(0, y), (24, y)], style))?;
        area.draw(&Text::new(name.to_string(), (32, y - 7), ("sans-serif", 14)))?;
    }
    Ok(())
}
