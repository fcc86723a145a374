//! Results as tables, JSON, CSV, metrics, plots and reports. Each goes through the quantities of an answer and knows none by its name;
//! see [`deltaline_estimate::quantity`].
//!
//! # Test plan
//!
//! A made-up quantity, with range, share and true counterpart, comes out of every one of them (`tests`). Where packets were lost,
//! tables say whose delays they show; where none were, they do not.

mod causes;
pub(crate) mod csv;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod live;
pub(crate) mod plot;
pub(crate) mod prometheus;
mod rows;
pub(crate) mod table;
#[cfg(test)]
mod tests;
pub(crate) mod value;

use deltaline_collect::summary::Figures;
use deltaline_estimate::quantity::{LOST, Number};

/// What delays are those of, where not all packets have one.
fn on_delivered(overall: &Figures) -> Option<&'static str> {
    match overall.find(LOST.name)?.value {
        Ok(Number::Count(0)) | Err(_) => None,
        Ok(_) => Some("delays are those of the packets that arrived; lost packets have none"),
    }
}
