//! Quantities as JSON: each under its key, with its confidence interval behind it.

use deltaline_collect::summary::{Figures, IntervalFigures};
use deltaline_collect::text::utc;
use deltaline_estimate::Method;
use deltaline_estimate::quantity::{Number, Quantity};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// Which keys an object has: `docs/json.md` describes them under this name.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Schema {
    name: &'static str,
    /// Rises when a key goes or changes its meaning; new keys may come without.
    version: u32,
}

impl Schema {
    /// The schema of a command's result, or of errors.
    pub(crate) fn of(name: &'static str) -> Self {
        let version = if name == "decode" { 2 } else { 1 };
        Schema { name, version }
    }
}

/// The members of several quantities.
pub(crate) struct Members<'a>(pub(crate) &'a [Quantity]);

/// The numbers of one or several intervals.
pub(crate) struct Numbers<'a>(pub(crate) &'a Figures);

/// An interval in numbers.
pub(crate) struct Interval<'a>(pub(crate) &'a IntervalFigures);

struct Value(Number);

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Number::Count(number) => serializer.serialize_u64(number),
            Number::Whole(number) => serializer.serialize_i64(number),
            Number::Real(number) => serializer.serialize_f64(number),
            Number::Truth(is_so) => serializer.serialize_bool(is_so),
        }
    }
}

fn add<M: SerializeMap>(map: &mut M, quantity: &Quantity) -> Result<(), M::Error> {
    if !quantity.what.is_bounds {
        map.serialize_entry(&quantity.what.key(), &quantity.value.ok().map(Value))?;
    }
    match quantity.range {
        Some(range) => map.serialize_entry(&quantity.what.range_key(), &range.ok()),
        None => Ok(()),
    }
}

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.0.iter().try_for_each(|quantity| add(&mut map, quantity))?;
        map.end()
    }
}

fn add_all<M: SerializeMap>(map: &mut M, figures: &Figures) -> Result<(), M::Error> {
    figures.quantities().try_for_each(|quantity| add(map, quantity))?;
    map.serialize_entry("method", &figures.method.map(Method::name))?;
    map.serialize_entry("reason", &figures.reason())?;
    map.serialize_entry("clock_doubt", &figures.clock_doubt)?;
    match &figures.exact {
        Some(exact) => map.serialize_entry("truth", &Members(exact)),
        None => Ok(()),
    }
}

impl Serialize for Numbers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        add_all(&mut map, self.0)?;
        map.end()
    }
}

impl Serialize for Interval<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let IntervalFigures { segment, number, span, times, reported, authenticated, usable_rows, figures } =
            self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("segment", segment)?;
        map.serialize_entry("interval", number)?;
        map.serialize_entry("start_ns", &span.map(|(start, _)| start))?;
        map.serialize_entry("end_ns", &span.map(|(_, end)| end))?;
        map.serialize_entry("start_time", &times.map(|[start, _]| utc(start)))?;
        map.serialize_entry("end_time", &times.map(|[_, end]| utc(end)))?;
        map.serialize_entry("reported_time", &reported.map(utc))?;
        map.serialize_entry("authenticated", authenticated)?;
        map.serialize_entry("usable_rows", usable_rows)?;
        add_all(&mut map, figures)?;
        map.end()
    }
}
