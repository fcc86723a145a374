//! Results as tables, JSON, CSV, metrics, plots and reports. Each goes through the quantities of an answer and knows none by its name;
//! see [`deltaline_estimate::quantity`].
//!
//! # Test plan
//!
//! A made-up quantity, with range, share and true counterpart, comes out of every one of them (`tests`).

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
mod value;
