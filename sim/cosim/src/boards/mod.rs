//! Boards: their tops under Verilator, and their bitstreams' netlists, against their twins in `deltaline_model::board`.
//!
//! The host's end of the serial line is modelled here; the tops themselves are in `deltaline-firmware`.

pub mod rmii_tap;
pub mod selftest;
