//! A quantity as the text of a table's cell.

use crate::report::{duration, or_none};
use deltaline_collect::text::unit;
use deltaline_estimate::quantity::{Number, Quantity, Unit};

/// How a confidence interval is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// Half its width.
    Half,
    /// Its two ends.
    Ends,
}

/// The heading of a quantity's column; none where it is in data only.
pub(super) fn heading(quantity: &Quantity) -> Option<String> {
    let heading = quantity.what.heading?;
    Some(if quantity.range.is_some() { format!("{heading} (95 %)") } else { heading.into() })
}

/// A quantity with its confidence interval, in the same unit, or with its share of the samples.
pub(super) fn value(quantity: &Quantity, width: Width) -> String {
    or_none(quantity.value.ok(), |number| match (quantity.what.unit, quantity.range) {
        (Unit::Packets, _) => packets(number, quantity.samples),
        (Unit::Nanoseconds, Some(Ok(range))) => with_range(number.to_f64(), range, width),
        (Unit::Nanoseconds, _) => match number {
            Number::Between(ends) => between(ends),
            _ => duration(number.to_f64()),
        },
    })
}

fn packets(number: Number, samples: Option<u64>) -> String {
    let text = match number {
        Number::Count(count) => count.to_string(),
        Number::Whole(count) => count.to_string(),
        Number::Real(_) | Number::Between(_) => format!("{:.3}", number.to_f64()),
    };
    match samples.filter(|_| number.to_f64() != 0.0) {
        Some(samples) => format!("{text} ({:.3} %)", 100.0 * number.to_f64() / samples as f64),
        None => text,
    }
}

fn with_range(value: f64, [low, high]: [f64; 2], width: Width) -> String {
    let (scale, unit) = unit(value);
    let half = (high - low) / 2.0 / scale;
    let (value, low, high, digits) = (value / scale, low / scale, high / scale, digits(half));
    match width {
        Width::Half => format!("{value:.digits$} ± {half:.digits$} {unit}"),
        Width::Ends => format!("{value:.digits$} ({low:.digits$} to {high:.digits$}) {unit}"),
    }
}

fn between([low, high]: [f64; 2]) -> String {
    let (scale, unit) = unit(f64::max(low.abs(), high.abs()));
    let digits = digits((high - low) / 2.0 / scale);
    format!("{:.digits$} to {:.digits$} {unit}", low / scale, high / scale)
}

/// Digits behind the point that show an interval of this half-width, beside a large offset of the clocks too.
fn digits(half: f64) -> usize {
    if half > 0.0 { (1.0 - half.log10()).ceil().clamp(3.0, 9.0) as usize } else { 3 }
}
