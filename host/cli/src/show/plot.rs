//! Plot: delays and loss over time as SVG, on one page: estimates with their intervals, the truth if it is known, quantiles
//! where there are any, and grey what is void.
//!
//! Intervals that begin in the same column of pixels are drawn as one, from the least to the greatest; none is narrower than
//! a column. The axis of delays has room for all estimates, and for intervals up to three times as long as three quarters of
//! them are; of a longer one an arrow shows where it leaves the axis.
//!
//! The first delay that has a confidence interval by its kind is drawn with it, further ones that are metrics and not shown
//! first of all, quantiles, as lines; loss is the first count that is shown as a share. Time is that of day (UTC) where it is known, else that since the first packet.
//!
//! # Test plan
//!
//! What is drawn of a made-up quantity (`tests`); lines of real ones, no two of which look alike; thousands of intervals, one of which is void, lost a packet, or is far off; round
//! ticks for all lengths.

use crate::exit::Exit;
use crate::failure::Failure;
use deltaline_capture::write_file;
use deltaline_collect::summary::IntervalFigures;
use deltaline_collect::text::utc;
use deltaline_estimate::quantity::{Quantity, Unit};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;
use std::ops::Range;
use std::path::Path;

const SIZE: (u32, u32) = (1100, 640);
/// From so many times the least delay on, the axis of delays is logarithmic.
const DECADE: f64 = 10.0;
/// To the right of the panels.
const LEGEND: u32 = 150;
/// Height of the upper panel.
const DELAYS: u32 = 420;
const ESTIMATE: RGBColor = RGBColor(0x1f, 0x5f, 0xa8);
const TRUTH: RGBColor = RGBColor(0xd6, 0x45, 0x1b);
const LOSS: RGBColor = RGBColor(0xa8, 0x1f, 0x5f);
const VOID: RGBColor = RGBColor(0x80, 0x80, 0x80);
/// Of further delays, in turn: those of Okabe and Ito that are far from the others here, for eyes that do not tell all colours apart.
const FURTHER: [RGBColor; 5] = [
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0x00, 0x00, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
];
const NANOSECONDS_A_SECOND: f64 = 1e9;
const NANOSECONDS_A_MILLISECOND: f64 = 1e6;
const NANOSECONDS_A_DAY: u64 = 86_400_000_000_000;
const MARGIN: u32 = 16;
/// To the left of the panels' axes.
const LABELS: u32 = 64;
/// Columns of pixels of a panel, two less for rounding.
const COLUMNS: f64 = (SIZE.0 - LEGEND - 2 * MARGIN - LABELS - 2) as f64;
/// Ticks of the axis of time, at most.
const TICKS: f64 = 8.0;
/// Seconds from tick to tick that make round times of day, from one second on.
const ROUND: [f64; 16] = [
    1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 10_800.0,
    21_600.0,
];
const DAY: f64 = 86_400.0;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn Error>>;

/// The least and the greatest of some values.
type Ends = [f64; 2];

/// An interval, or several that begin in the same column of pixels: span in seconds, delays in milliseconds, loss in per cent.
#[derive(Clone)]
struct Step {
    span: (f64, f64),
    is_void: bool,
    mean: Option<Ends>,
    range: Option<Ends>,
    truth: Option<Ends>,
    /// By name.
    further: Vec<(&'static str, Ends)>,
    loss: Option<f64>,
}

fn step(interval: &IntervalFigures, span: (f64, f64)) -> Step {
    let milliseconds = |nanoseconds: f64| nanoseconds / NANOSECONDS_A_MILLISECOND;
    let value = |quantity: &Quantity| quantity.value.ok().map(|number| [milliseconds(number.to_f64()); 2]);
    let figures = &interval.figures;
    let mut delays = figures
        .quantities()
        .filter(|each| each.what.unit == Unit::Nanoseconds && each.range.is_some() && !each.what.is_bounds);
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

/// From the lesser of the least to the greater of the greatest.
fn joined(a: Option<Ends>, b: Option<Ends>) -> Option<Ends> {
    match (a, b) {
        (Some([low, high]), Some(other)) => Some([low.min(other[0]), high.max(other[1])]),
        (one, other) => one.or(other),
    }
}

impl Step {
    fn join(&mut self, other: Step) {
        self.span = (self.span.0.min(other.span.0), self.span.1.max(other.span.1));
        self.is_void |= other.is_void;
        self.mean = joined(self.mean, other.mean);
        self.range = joined(self.range, other.range);
        self.truth = joined(self.truth, other.truth);
        self.loss = self.loss.into_iter().chain(other.loss).reduce(f64::max);
        for (name, ends) in other.further {
            match self.further.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = joined(Some(*known), Some(ends)).unwrap_or(ends),
                None => self.further.push((name, ends)),
            }
        }
    }
}

/// One step for each column of pixels in which any begins, each at least a column wide.
fn in_columns(steps: Vec<Step>, (start, end): (f64, f64)) -> Vec<Step> {
    let width = (end - start) / COLUMNS;
    let column = |step: &Step| ((step.span.0 - start) / width).floor();
    let mut joined: Vec<Step> = vec![];
    for step in steps {
        match joined.last_mut() {
            Some(last) if column(last) == column(&step) => last.join(step),
            _ => joined.push(step),
        }
    }
    for step in &mut joined {
        step.span.1 = step.span.1.max(step.span.0 + width);
    }
    joined
}

/// Where intervals lie in time; one that reported no packets fills the gap between its neighbours.
struct Time {
    /// Where seconds count from: midnight, in nanoseconds since the Unix epoch, if the time of day is known.
    midnight: Option<u64>,
    /// In nanoseconds, at which the first packet came.
    start: i64,
}

impl Time {
    fn of(intervals: &[IntervalFigures]) -> Self {
        let known = intervals.iter().find_map(|each| Some((each.times?[0], each.span?.0)));
        let start = known.map(|(time, since)| time.saturating_add_signed(-since));
        let midnight = start.map(|start| start - start % NANOSECONDS_A_DAY);
        let since = start.zip(midnight).map_or(0, |(start, midnight)| start - midnight);
        Time { midnight, start: since.cast_signed() }
    }

    fn seconds(&self, since_start: i64) -> f64 {
        (self.start + since_start) as f64 / NANOSECONDS_A_SECOND
    }

    fn spans(&self, intervals: &[IntervalFigures]) -> Vec<Option<(f64, f64)>> {
        let mut next = None;
        let mut behind: Vec<Option<i64>> = intervals
            .iter()
            .rev()
            .map(|each| {
                next = each.span.map(|(start, _)| start).or(next);
                next
            })
            .collect();
        behind.reverse();
        let mut before = None;
        let spans = intervals.iter().zip(behind).map(|(each, behind)| {
            let span = each.span.or_else(|| before.zip(behind));
            before = each.span.map(|(_, end)| end).or(before);
            span
        });
        spans.map(|span| span.map(|(start, end)| (self.seconds(start), self.seconds(end)))).collect()
    }

    /// The round times of an axis.
    fn ticks(&self, (start, end): (f64, f64)) -> Vec<f64> {
        let step = step_of_ticks((end - start) / TICKS);
        let first = (start / step).ceil();
        let count = ((end / step).floor() - first).clamp(0.0, TICKS);
        (0..=count as u32).map(|tick| (first + f64::from(tick)) * step).collect()
    }

    /// A tick's text.
    fn tick(&self, seconds: f64, (start, end): (f64, f64)) -> String {
        let step = step_of_ticks((end - start) / TICKS);
        let digits = (-step.log10()).ceil().clamp(0.0, 9.0) as usize;
        let Some(midnight) = self.midnight else { return format!("{seconds:.digits$}") };
        let text = utc(midnight + (seconds * NANOSECONDS_A_SECOND).round().max(0.0) as u64);
        let (from, to) = match digits {
            _ if end - start > DAY => ("2023-".len(), "2023-11-14T22:13".len()),
            0 => ("2023-11-14T".len(), "2023-11-14T22:13:20".len()),
            _ => ("2023-11-14T".len(), "2023-11-14T22:13:20.".len() + digits),
        };
        text.get(from..to).unwrap_or_default().replace('T', " ")
    }

    fn description(&self) -> String {
        match self.midnight {
            Some(midnight) => {
                format!(
                    "time of day at the sender (UTC, {})",
                    utc(midnight).split('T').next().unwrap_or_default()
                )
            }
            None => "time at the sender since its first packet (s)".into(),
        }
    }
}

/// An axis of time, in seconds, with ticks at round times.
struct TimeAxis<'a> {
    time: &'a Time,
    ends: (f64, f64),
}

impl Ranged for TimeAxis<'_> {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, seconds: &f64, pixels: (i32, i32)) -> i32 {
        RangedCoordf64::from(self.range()).map(seconds, pixels)
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.time.ticks(self.ends)
    }

    fn range(&self) -> Range<f64> {
        self.ends.0..self.ends.1
    }
}

impl ValueFormatter<f64> for TimeAxis<'_> {
    fn format_ext(&self, seconds: &f64) -> String {
        self.time.tick(*seconds, self.ends)
    }
}

/// The least round number of seconds that is no less than this.
fn step_of_ticks(least: f64) -> f64 {
    if least < 1.0 {
        let decade = 10f64.powf(least.log10().floor());
        return [1.0, 2.0, 5.0, 10.0]
            .map(|step| step * decade)
            .into_iter()
            .find(|step| *step >= least)
            .unwrap_or(1.0);
    }
    ROUND
        .into_iter()
        .chain([DAY / 2.0])
        .find(|step| *step >= least)
        .unwrap_or_else(|| DAY * (least / DAY).ceil())
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
    let (delays, are_decades) = axis_of_delays(&steps);
    let axes = Axes { time: axis_of_time(&steps), delays, are_decades };
    let steps = in_columns(steps, axes.time);
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
    let (low, high) = axes.delays;
    if axes.are_decades {
        draw_delays(&delays, &steps, &names, &time, &axes, (low..high).log_scale())?;
    } else {
        draw_delays(&delays, &steps, &names, &time, &axes, low..high)?;
    }
    draw_losses(&losses, &steps, &time, axes.time)?;
    draw_legend(&legend, &steps, &names, &axes)?;
    area.present()?;
    Ok(())
}

/// What is shown of time, in seconds, and of delays, in milliseconds.
struct Axes {
    time: (f64, f64),
    delays: (f64, f64),
    /// Delays have a logarithmic axis.
    are_decades: bool,
}

impl Axes {
    /// Whether a step's interval leaves the axis below and above.
    fn are_left_by(&self, step: &Step) -> [bool; 2] {
        step.range.map_or([false; 2], |[low, high]| [low < self.delays.0, high > self.delays.1])
    }
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

/// From one end to the other of all delays, and whether in decades: if the greatest is more than ten times the least, and no delay is
/// below zero. Otherwise, of an interval no more than three times what three quarters of them take.
fn axis_of_delays(steps: &[Step]) -> ((f64, f64), bool) {
    let further = steps.iter().flat_map(|step| step.further.iter().map(|(_, ends)| *ends));
    let points = steps.iter().flat_map(|step| [step.mean, step.truth]).flatten().chain(further).flatten();
    let (least, greatest) = limits(points.clone(), (0.0, 1.0));
    if least > 0.0 && greatest > DECADE * least {
        return ((least / 1.5, greatest * 1.5), true);
    }
    let ranges = || steps.iter().filter_map(|step| Some((step.mean?[0], step.range?)));
    let length = |(mean, [low, high]): (f64, Ends)| (mean - low).max(high - mean);
    let mut lengths: Vec<f64> = ranges().map(length).collect();
    lengths.sort_by(f64::total_cmp);
    let longest =
        3.0 * lengths.get((3 * lengths.len()).div_ceil(4).saturating_sub(1)).copied().unwrap_or(0.0);
    let shown = ranges().flat_map(|(mean, [low, high])| [low.max(mean - longest), high.min(mean + longest)]);
    let (low, high) = limits(points.chain(shown), (0.0, 1.0));
    let room = if low < high { 0.1 * (high - low) } else { 0.1 + 0.1 * high.abs() };
    ((low - room, high + room), false)
}

fn void<'a>(steps: &'a [Step], low: f64, high: f64) -> impl Iterator<Item = Rectangle<(f64, f64)>> + use<'a> {
    let spans = steps.iter().filter(|step| step.is_void).map(|step| step.span);
    spans.map(move |(start, end)| Rectangle::new([(start, low), (end, high)], VOID.mix(0.25).filled()))
}

/// From the least to the greatest.
fn area_between(span: (f64, f64), [least, greatest]: Ends, style: ShapeStyle) -> Rectangle<(f64, f64)> {
    Rectangle::new([(span.0, least), (span.1, greatest)], style)
}

/// The same as an outline, which is a level line where both are equal: areas without height are not drawn.
fn outline(span: (f64, f64), [least, greatest]: Ends, style: ShapeStyle) -> PathElement<(f64, f64)> {
    let ((from, to), low, high) = (span, least, greatest);
    PathElement::new(vec![(from, low), (to, low), (to, high), (from, high), (from, low)], style)
}

fn draw_delays<Y>(area: &Area<'_>, steps: &[Step], names: &[&str], time: &Time, axes: &Axes, axis: Y) -> Drawn
where
    Y: AsRangedCoord<Value = f64, CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>>,
{
    let (low, high) = axes.delays;
    let mut chart = ChartBuilder::on(area)
        .caption("One-way delay and loss of each interval", ("sans-serif", 20))
        .margin(MARGIN)
        .x_label_area_size(24)
        .y_label_area_size(LABELS)
        .build_cartesian_2d(TimeAxis { time, ends: axes.time }, axis)?;
    let description = if axes.are_decades { "delay (ms), logarithmic" } else { "delay (ms)" };
    chart.configure_mesh().y_desc(description).light_line_style(WHITE).draw()?;
    chart.draw_series(void(steps, low, high))?;
    chart.draw_series(steps.iter().filter_map(|step| {
        let [from, to] = step.range?;
        Some(area_between(step.span, [from.max(low), to.min(high)], ESTIMATE.mix(0.25).filled()))
    }))?;
    for (name, colour) in names.iter().zip(FURTHER.iter().cycle()) {
        chart.draw_series(steps.iter().filter_map(|step| {
            let (_, ends) = step.further.iter().find(|(known, _)| known == name)?;
            Some(outline(step.span, *ends, colour.stroke_width(1)))
        }))?;
    }
    chart.draw_series(
        steps.iter().filter_map(|step| Some(outline(step.span, step.truth?, TRUTH.stroke_width(3)))),
    )?;
    chart.draw_series(
        steps.iter().filter_map(|step| Some(outline(step.span, step.mean?, ESTIMATE.stroke_width(2)))),
    )?;
    let arrows = steps.iter().flat_map(|step| {
        let middle = f64::midpoint(step.span.0, step.span.1);
        let ends = [(low, -1), (high, 1)].into_iter().zip(axes.are_left_by(step));
        ends.filter(|(_, leaves)| *leaves).map(move |(end, _)| ((middle, end.0), end.1))
    });
    chart.draw_series(arrows.map(|(at, up)| EmptyElement::at(at) + arrow(up)))?;
    Ok(())
}

/// The head of an arrow up (1) or down (-1), whose point is where it is put.
fn arrow(up: i32) -> Polygon<(i32, i32)> {
    Polygon::new(vec![(0, 0), (-4, 8 * up), (4, 8 * up)], ESTIMATE.filled())
}

fn draw_losses(area: &Area<'_>, steps: &[Step], time: &Time, axis: (f64, f64)) -> Drawn {
    let (_, most) = limits(steps.iter().filter_map(|step| step.loss), (0.0, 0.0));
    let high = if most > 0.0 { 1.1 * most } else { 1.0 };
    let mut chart = ChartBuilder::on(area)
        .margin(MARGIN)
        .margin_top(0)
        .x_label_area_size(40)
        .y_label_area_size(LABELS)
        .build_cartesian_2d(TimeAxis { time, ends: axis }, 0.0..high)?;
    chart
        .configure_mesh()
        .x_desc(time.description())
        .y_desc("loss (%)")
        .y_labels(5)
        .light_line_style(WHITE)
        .draw()?;
    chart.draw_series(void(steps, 0.0, high))?;
    chart.draw_series(
        steps
            .iter()
            .filter_map(|step| Some(area_between(step.span, [0.0, step.loss?], LOSS.mix(0.5).filled()))),
    )?;
    // Nothing to see is something to say.
    if most == 0.0 && steps.iter().any(|step| step.loss.is_some()) {
        let middle = (f64::midpoint(axis.0, axis.1), high / 2.0);
        let style =
            ("sans-serif", 14).into_font().into_text_style(area).pos(Pos::new(HPos::Center, VPos::Center));
        chart.draw_series([Text::new("nothing lost", middle, style)])?;
    }
    // However little is lost, it is to be seen.
    let lossy = steps.iter().filter_map(|step| Some((step.span, step.loss.filter(|loss| *loss > 0.0)?)));
    chart.draw_series(lossy.map(|(span, loss)| outline(span, [loss; 2], LOSS.stroke_width(2))))?;
    Ok(())
}

/// One line for each thing that is drawn.
fn draw_legend(area: &Area<'_>, steps: &[Step], names: &[&str], axes: &Axes) -> Drawn {
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
    let count = entries.len();
    for (row, (name, style)) in entries.into_iter().enumerate() {
        let y = 60 + 22 * row as i32;
        area.draw(&PathElement::new(vec![(0, y), (24, y)], style))?;
        area.draw(&Text::new(name.to_string(), (32, y - 7), ("sans-serif", 14)))?;
    }
    if steps.iter().any(|step| axes.are_left_by(step).contains(&true)) {
        let y = 60 + 22 * count as i32;
        area.draw(&(EmptyElement::at((12, y - 4)) + arrow(1)))?;
        area.draw(&Text::new("goes on", (32, y - 7), ("sans-serif", 14)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_about_as_many_as_fit() {
        let time = Time {
            midnight: Some(1_700_000_000_000_000_000 / NANOSECONDS_A_DAY * NANOSECONDS_A_DAY),
            start: 0,
        };
        for exponent in -12..26 {
            let length = 2f64.powi(exponent);
            let axis = (60_333.3, 60_333.3 + length);
            let ticks = time.ticks(axis);
            assert!((2..=9).contains(&ticks.len()), "{length}: {ticks:?}");
            assert!(ticks.iter().all(|tick| (axis.0..=axis.1).contains(tick)), "{length}: {ticks:?}");
            let texts: Vec<String> = ticks.iter().map(|tick| time.tick(*tick, axis)).collect();
            assert!(texts.windows(2).all(|pair| pair[0] != pair[1]), "{texts:?}");
        }
        let texts = |length: f64| {
            let axis = (60_333.3, 60_333.3 + length);
            time.ticks(axis).into_iter().take(2).map(|tick| time.tick(tick, axis)).collect::<Vec<_>>()
        };
        assert_eq!(texts(0.5), ["16:45:33.3", "16:45:33.4"]);
        assert_eq!(texts(3000.0), ["16:50:00", "17:00:00"]);
        assert_eq!(texts(200_000.0), ["11-15 00:00", "11-15 12:00"]);
    }
}
