//! Quantities as JSON: each under its key, with its confidence interval behind it.

use deltaline_collect::summary::{Field, Fields, Figures, IntervalFigures, OF_INTERVALS, OF_NUMBERS};
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

struct FieldValue(Field);

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

impl Serialize for FieldValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Field::Number(number) => serializer.serialize_i64(*number),
            Field::Truth(is_so) => serializer.serialize_bool(*is_so),
            Field::Text(text) => serializer.serialize_str(text),
        }
    }
}

fn add_fields<T, M: SerializeMap>(map: &mut M, fields: &Fields<T>, of: &T) -> Result<(), M::Error> {
    fields.iter().try_for_each(|(key, value)| map.serialize_entry(key, &value(of).map(FieldValue)))
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
    add_fields(map, OF_NUMBERS, figures)?;
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
        let mut map = serializer.serialize_map(None)?;
        add_fields(&mut map, OF_INTERVALS, self.0)?;
        add_all(&mut map, &self.0.figures)?;
        map.end()
    }
}
