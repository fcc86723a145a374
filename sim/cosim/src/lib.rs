//! The emitted Verilog under Verilator, next to the software twin.
//!
//! * [`mod@bench`]: a module under Verilator with a clock; writes a waveform where the environment variable `DELTALINE_WAVE`
//!   names a file, for one test alone: `DELTALINE_WAVE=/tmp/core.vcd cargo test --release -p deltaline-cosim core`.
//! * [`boards`]: the tops of boards, with a model of the host's end of their line.
//! * [`stream`]: an AXI4-Stream into the module, or out of it.
//! * [`hardware`]: the core as a measurement point, used as `deltaline_model::point::MeasurementPoint` is.
//! * `adversary`: frames that look for the edges, for every check that takes frames.
//! * `twin`: the model's side of a bench: what it takes, and what is due.
//! * [`checks`]: the twin rule. Each check drives one stage, or the whole core, with the same stimulus as its twin and
//!   compares every bit. Cores of every width have the same twin, that of a measurement point.
//! * [`error`]: the hardware cannot be simulated, or differs from the model.
//! * [`faults`]: small changes planted in the Verilog, to show that the checks notice them; [`mutations`] are those of
//!   the stages, every check's own stand with it.

mod adversary;
pub mod bench;
pub mod boards;
pub mod checks;
pub mod error;
pub mod faults;
pub mod hardware;
pub mod mutations;
pub mod stream;
mod twin;
