//! Figures as SVG.
//!
//! # Test plan
//!
//! Figures with points, without points, and with values that a logarithmic axis cannot show are all drawn. Every
//! series is in the legend.

use crate::figure::{Axis, Figure, Point, Series, Style};
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use std::ops::Range;

const SIZE: (u32, u32) = (960, 540);
const COLOURS: [RGBColor; 7] = [
    RGBColor(0x1f, 0x5f, 0xa8),
    RGBColor(0xd6, 0x45, 0x1b),
    RGBColor(0x2a, 0x8a, 0x3e),
    RGBColor(0x7b, 0x3f, 0x98),
    RGBColor(0xb8, 0x86, 0x0b),
    RGBColor(0x12, 0x8a, 0x8a),
    RGBColor(0x55, 0x55, 0x55),
];

type Drawing = Result<(), Box<dyn std::error::Error>>;

/// The figure as SVG.
///
/// # Errors
///
/// The drawing library's error.
pub(crate) fn svg(figure: &Figure) -> Result<String, Box<dyn std::error::Error>> {
    let mut text = String::new();
    let points = || figure.series.iter().flat_map(|series| &series.points);
    let x = range(points().map(|point| point.x), figure.x);
    let y = range(
        figure.series.iter().flat_map(|series| series.points.iter().flat_map(|p| values(series, p))),
        figure.y,
    );
    match (figure.x.logarithmic, figure.y.logarithmic) {
        (true, true) => draw(figure, x.log_scale(), y.log_scale(), &mut text),
        (true, false) => draw(figure, x.log_scale(), y, &mut text),
        (false, true) => draw(figure, x, y.log_scale(), &mut text),
        (false, false) => draw(figure, x, y, &mut text),
    }?;
    // A text file ends with a newline.
    text.push('\n');
    Ok(text)
}

/// The vertical extent of a point.
fn values(series: &Series, point: &Point) -> impl Iterator<Item = f64> {
    let values = match series.style {
        Style::Band => [point.low, point.high],
        Style::Line | Style::Dashed => [point.y, None],
    };
    values.into_iter().flatten()
}

/// The range that the axis shows for these values, with some room.
fn range(values: impl Iterator<Item = f64>, axis: Axis) -> Range<f64> {
    let shown = values.filter(|&value| value.is_finite() && (value > 0.0 || !axis.logarithmic));
    let (low, high) = shown
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    match (low <= high, axis.logarithmic) {
        (false, _) => 0.1..1.0,
        (true, true) => low / 1.3..high * 1.3,
        (true, false) => {
            let room = if low < high { 0.05 * (high - low) } else { 0.1 * high.abs() + 0.1 };
            low - room..high + room
        }
    }
}

fn draw<X, Y>(figure: &Figure, x: X, y: Y, text: &mut String) -> Drawing
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(format!("Figure {}: {}", figure.name, figure.title), ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(72)
        .right_y_label_area_size(250)
        .build_cartesian_2d(x, y)?;
    chart.configure_mesh().x_desc(figure.x.label).y_desc(figure.y.label).light_line_style(WHITE).draw()?;
    for series in &figure.series {
        let colour = COLOURS[series.colour % COLOURS.len()];
        let drawable = |point: &&Point| values(series, point).all(|y| y > 0.0 || !figure.y.logarithmic);
        let points = || series.points.iter().filter(drawable);
        let line: Vec<(f64, f64)> = points().filter_map(|point| Some((point.x, point.y?))).collect();
        match series.style {
            Style::Line => {
                let dots = line.iter().map(|&place| Circle::new(place, 3, colour.filled()));
                chart.draw_series(dots)?;
                chart.draw_series(LineSeries::new(line, colour.stroke_width(2)))?;
            }
            Style::Dashed => {
                chart.draw_series(DashedLineSeries::new(line, 5, 4, colour.stroke_width(1)))?;
            }
            Style::Band => {
                let low = points().filter_map(|point| Some((point.x, point.low?)));
                let high = points().rev().filter_map(|point| Some((point.x, point.high?)));
                let outline: Vec<(f64, f64)> = low.chain(high).collect();
                chart.draw_series([Polygon::new(outline, colour.mix(0.2))])?;
            }
        }
    }
    legend(&area, &figure.series)?;
    area.present()?;
    Ok(())
}

/// The legend, to the right of the chart.
fn legend(area: &DrawingArea<SVGBackend, plotters::coord::Shift>, series: &[Series]) -> Drawing {
    let left = SIZE.0 as i32 - 240;
    for (series, top) in series.iter().zip((56..).step_by(22)) {
        let colour = COLOURS[series.colour % COLOURS.len()];
        let line = |from: i32, to: i32, width| {
            PathElement::new(vec![(left + from, top), (left + to, top)], colour.stroke_width(width))
        };
        match series.style {
            Style::Line => {
                area.draw(&line(0, 24, 2))?;
                area.draw(&Circle::new((left + 12, top), 3, colour.filled()))?;
            }
            Style::Dashed => {
                for dash in [0, 9, 18] {
                    area.draw(&line(dash, dash + 5, 1))?;
                }
            }
            Style::Band => {
                let corners = [(left, top - 5), (left + 24, top + 5)];
                area.draw(&Rectangle::new(corners, colour.mix(0.2).filled()))?;
            }
        }
        area.draw(&Text::new(series.name.clone(), (left + 30, top - 6), ("sans-serif", 13)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(points: Vec<Point>, logarithmic: bool) -> Figure {
        let axis = Axis { label: "axis", logarithmic };
        let styles = [("line", Style::Line), ("dashed", Style::Dashed), ("band", Style::Band)];
        let series = styles.map(|(name, style)| Series {
            name: name.into(),
            colour: 1,
            style,
            points: points.clone(),
        });
        Figure { name: "9z", title: "a test", x: axis, y: axis, series: series.to_vec() }
    }

    #[test]
    fn everything_is_drawn() {
        let some = vec![Point::range(0.1, 2.0, 1.0), Point::range(0.2, 3.0, 1.0)];
        let odd = vec![
            Point::range(0.1, 0.0, 1.0),
            Point::average(0.2, [None].into_iter()),
            Point::range(0.3, 1.0, 0.0),
        ];
        for points in [some, odd, vec![]] {
            for logarithmic in [true, false] {
                let svg = svg(&figure(points.clone(), logarithmic)).unwrap();
                assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n\n") || svg.ends_with("</svg>\n"));
                for name in ["Figure 9z: a test", "line", "dashed", "band"] {
                    assert!(svg.contains(name), "{name}");
                }
            }
        }
    }
}
