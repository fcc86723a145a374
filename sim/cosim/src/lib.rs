//! The emitted Verilog under Verilator, next to the software twin.
//!
//! * [`hardware`]: the core as a measurement point, used as `deltaline_model::point::MeasurementPoint` is.
//! * [`checks`]: the twin rule. Each check drives one stage, or the whole core, with the same stimulus as the
//!   model and compares every bit.
//! * [`mutations`]: faults planted in the Verilog, to show that the checks notice them.

pub mod bench;
pub mod checks;
pub mod faults;
pub mod hardware;
pub mod mutations;
