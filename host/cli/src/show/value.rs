//! A quantity as the text of a table's cell.
//!
//! An interval is `value ± half width` where that gives both ends to the last digit shown, else `value (end to end)`.
//!
//! # Test plan
//!
//! Intervals around their value, beside it, and not identifiable, next to the limit between the two; counts with intervals; bounds; nothing.

use crate::report::{duration, or_none};
use deltaline_collect::text::unit;
use deltaline_estimate::quantity::{Number, Quantity, Unit};

/// The heading of a quantity's column, in which cells have confidence intervals or do not; none where it is in data only.
pub(super) fn heading(quantity: &Quantity, has_range: bool) -> Option<String> {
    let heading = quantity.what.heading?;
    Some(if has_range && !quantity.what.is_bounds { format!("{heading} (95 %)") } else { heading.into() })
}

/// A quantity with its confidence interval, in the same unit, and with its share of the samples; one whose interval is not known is
/// `about` its value, and never looks exact.
pub(crate) fn value(quantity: &Quantity) -> String {
    let range = quantity.range.and_then(Result::ok);
    or_none(quantity.value.ok(), |number| match (quantity.what.unit, range) {
        (Unit::Packets, _) => packets(number, range, quantity.samples),
        (Unit::Nanoseconds, Some(range)) if quantity.what.is_bounds => between(range),
        (Unit::Nanoseconds, Some(range)) => with_range(number.to_f64(), range),
        (Unit::Nanoseconds, None) if quantity.range.is_some() => {
            format!("about {}", duration(number.to_f64()))
        }
        (Unit::Nanoseconds, None) => duration(number.to_f64()),
    })
}

/// A count of packets; its interval is seldom as wide to either side, and has both ends always, unless it is the number itself.
fn packets(number: Number, range: Option<[f64; 2]>, samples: Option<u64>) -> String {
    let text = match number {
        Number::Count(count) => count.to_string(),
        Number::Whole(count) => count.to_string(),
        Number::Real(number) => format!("{number:.3}"),
        Number::Truth(is_so) => if is_so { "yes" } else { "no" }.into(),
    };
    let range = range.filter(|ends| *ends != [number.to_f64(); 2]);
    let range = range.map(|[low, high]| format!("{low:.0} to {high:.0}"));
    let share = samples
        .filter(|_| number.to_f64() != 0.0)
        .map(|samples| format!("{:.3} %", 100.0 * number.to_f64() / samples as f64));
    match [range, share] {
        [Some(range), Some(share)] => format!("{text} ({range}; {share})"),
        [Some(only), None] | [None, Some(only)] => format!("{text} ({only})"),
        [None, None] => text,
    }
}

fn with_range(value: f64, [low, high]: [f64; 2]) -> String {
    let (scale, unit) = unit(value);
    let half = (high - low) / 2.0 / scale;
    let (value, low, high, digits) = (value / scale, low / scale, high / scale, digits(half));
    let last_digit = 10f64.powi(-(digits as i32));
    match (value - f64::midpoint(low, high)).abs() <= last_digit {
        true => format!("{value:.digits$} ± {half:.digits$} {unit}"),
        false => format!("{value:.digits$} ({low:.digits$} to {high:.digits$}) {unit}"),
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use deltaline_estimate::Reason;
    use deltaline_estimate::quantity::{BRACKET, LOST, MEAN};

    #[test]
    fn an_interval_is_the_one_that_was_computed() {
        let text = |value: f64, range| {
            let value = Ok(Number::Real(value));
            super::value(&Quantity { range: Some(Ok(range)), ..Quantity::new(&MEAN, value) })
        };
        assert_eq!(text(20_661_000.0, [19_661_000.0, 20_661_000.0]), "20.661 (19.661 to 20.661) ms");
        assert_eq!(text(20_661_000.0, [20_161_000.0, 21_161_000.0]), "20.661 ± 0.500 ms");
        // A little less than one unit in the last place shown, and a little more.
        assert_eq!(text(20_661_900.0, [20_161_000.0, 21_161_000.0]), "20.662 ± 0.500 ms");
        assert_eq!(text(20_662_100.0, [20_161_000.0, 21_161_000.0]), "20.662 (20.161 to 21.161) ms");
        let unknown = Quantity {
            range: Some(Err(Reason::FewRows)),
            ..Quantity::new(&MEAN, Ok(Number::Real(485_983.0)))
        };
        assert_eq!(super::value(&unknown), "about 485.983 µs");
        assert_eq!(super::value(&Quantity { range: None, ..unknown }), "485.983 µs");
        assert_eq!(text(-1500.0, [-1500.0, -1500.0]), "-1.500 ± 0.000 µs");
    }

    #[test]
    fn counts_and_bounds_have_both_ends() {
        let lost = Quantity { samples: Some(21_053), ..Quantity::count(&LOST, 72) };
        assert_eq!(value(&lost), "72 (0.342 %)");
        assert_eq!(value(&Quantity { range: Some(Ok([6.0, 1074.0])), ..lost }), "72 (6 to 1074; 0.342 %)");
        let none = Quantity { range: Some(Ok([0.0, 31.0])), ..Quantity::count(&LOST, 0) };
        assert_eq!(value(&none), "0 (0 to 31)");
        let exact = Quantity { range: Some(Ok([0.0, 0.0])), ..Quantity::count(&LOST, 0) };
        assert_eq!(value(&exact), "0");
        let bracket = Quantity {
            range: Some(Ok([1_000_000.0, 2_500_000.0])),
            ..Quantity::new(&BRACKET, Ok(Number::Real(1_000_000.0)))
        };
        assert_eq!(value(&bracket), "1.000 to 2.500 ms");
        assert_eq!(value(&Quantity::new(&BRACKET, Err(Reason::NoSums))), "-");
        assert_eq!(heading(&bracket, true).unwrap(), "bracket");
        assert_eq!(heading(&none, true).unwrap(), "lost (95 %)");
    }
}
