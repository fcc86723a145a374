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
        (Unit::Nanoseconds, _) => duration(number.to_f64()),
    })
}

fn packets(number: Number, samples: Option<u64>) -> String {
    let text = match number {
        Number::Count(count) => count.to_string(),
        Number::Whole(count) => count.to_string(),
        Number::Real(count) => format!("{count:.3}"),
    };
    match samples.filter(|_| number.to_f64() != 0.0) {
        Some(samples) => format!("{text} ({:.3} %)", 100.0 * number.to_f64() / samples as f64),
        None => text,
    }
}

fn with_range(value: f64, [low, high]: [f64; 2], width: Width) -> String {
    let (scale, unit) = unit(value);
    match width {
        Width::Half => format!("{:.3} ± {:.3} {unit}", value / scale, (high - low) / 2.0 / scale),
        Width::Ends => {
            format!("{:.3} ({:.3} to {:.3}) {unit}", value / scale, low / scale, high / scale)
        }
    }
}
