//! Plot: delay over time as SVG, estimates with their intervals, and the truth if it is known.

use crate::exit::Exit;
use crate::failure::Failure;
use deltaline_capture::write_file;
use deltaline_collect::summary::IntervalFigures;
use deltaline_estimate::quantity::{Quantity, Unit};
use plotters::prelude::*;
use std::path::Path;

const SIZE: (u32, u32) = (960, 480);
const ESTIMATE: RGBColor = RGBColor(0x1f, 0x5f, 0xa8);
const TRUTH: RGBColor = RGBColor(0xd6, 0x45, 0x1b);
const NANOSECONDS_A_SECOND: f64 = 1e9;
const NANOSECONDS_A_MILLISECOND: f64 = 1e6;

/// An interval's span in seconds and delays in milliseconds.
struct Step {
    span: (f64, f64),
    mean: Option<f64>,
    range: Option<[f64; 2]>,
    truth: Option<f64>,
}

/// Of the first delay that has a confidence interval by its kind.
fn step(interval: &IntervalFigures) -> Option<Step> {
    let seconds = |nanoseconds: i64| nanoseconds as f64 / NANOSECONDS_A_SECOND;
    let milliseconds = |nanoseconds: f64| nanoseconds / NANOSECONDS_A_MILLISECOND;
    let value = |quantity: &Quantity| quantity.value.ok().map(|number| milliseconds(number.to_f64()));
    let is_shown = |each: &&Quantity| each.what.unit == Unit::Nanoseconds && each.range.is_some();
    let (start, end) = interval.span?;
    let shown = interval.figures.quantities().find(is_shown)?;
    Some(Step {
        span: (seconds(start), seconds(end)),
        mean: value(shown),
        range: shown.range.and_then(Result::ok).map(|range| range.map(milliseconds)),
        truth: interval.figures.exact(shown).and_then(value),
    })
}

/// Writes the plot; an existing file is replaced only when the new one is complete.
///
/// # Errors
///
/// [`Exit::Output`] when it cannot be written.
pub(crate) fn write(path: &Path, intervals: &[IntervalFigures]) -> Result<(), Failure> {
    let steps: Vec<Step> = intervals.iter().filter_map(step).collect();
    let mut svg = String::new();
    draw(&steps, &mut svg).map_err(|error| {
        Failure::new(Exit::Output, format!("{}: cannot be drawn: {error}", path.display()))
    })?;
    Ok(write_file(path, svg.as_bytes())?)
}

fn draw(steps: &[Step], svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let delays = || steps.iter().flat_map(|step| [step.mean, step.truth]).flatten();
    let limits = || steps.iter().filter_map(|step| step.range).flatten().chain(delays());
    let (lowest, highest) = limits().fold((f64::INFINITY, f64::NEG_INFINITY), |(lowest, highest), limit| {
        (lowest.min(limit), highest.max(limit))
    });
    let end = steps.iter().fold(0.0, |end: f64, step| end.max(step.span.1));
    // Something to look at even if there is no delay and no time.
    let (lowest, highest) = if lowest <= highest { (lowest, highest) } else { (0.0, 1.0) };
    let room = if lowest < highest { 0.1 * (highest - lowest) } else { 0.1 + 0.1 * highest.abs() };
    let end = if end > 0.0 { end } else { 1.0 };

    let mut chart = ChartBuilder::on(&area)
        .caption("One-way delay: mean of each interval", ("sans-serif", 20))
        .margin(16)
        .x_label_area_size(40)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..end, lowest - room..highest + room)?;
    chart
        .configure_mesh()
        .x_desc("time at the sender (s)")
        .y_desc("delay (ms)")
        .light_line_style(WHITE)
        .draw()?;

    let ranges = steps.iter().filter_map(|step| {
        let [low, high] = step.range?;
        Some(Rectangle::new([(step.span.0, low), (step.span.1, high)], ESTIMATE.mix(0.25).filled()))
    });
    chart
        .draw_series(ranges)?
        .label("95 % interval")
        .legend(|(x, y)| Rectangle::new([(x, y - 5), (x + 20, y + 5)], ESTIMATE.mix(0.25).filled()));
    let level = |step: &Step, delay: Option<f64>, style: ShapeStyle| {
        delay.map(|delay| PathElement::new(vec![(step.span.0, delay), (step.span.1, delay)], style))
    };
    let truth_style = TRUTH.stroke_width(3);
    if steps.iter().any(|step| step.truth.is_some()) {
        chart
            .draw_series(steps.iter().filter_map(|step| level(step, step.truth, truth_style)))?
            .label("exact")
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 20, y)], truth_style));
    }
    let estimate_style = ESTIMATE.stroke_width(2);
    chart
        .draw_series(steps.iter().filter_map(|step| level(step, step.mean, estimate_style)))?
        .label("estimate")
        .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 20, y)], estimate_style));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    area.present()?;
    Ok(())
}
