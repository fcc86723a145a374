//! Runs Verilog inside a Rust process, through [Verilator](https://verilator.org).
//!
//! A [`Source`] is translated to C++ by the Verilator that `cargo xtask tools simulation` installs, compiled by the
//! system's C++ compiler into a shared library, cached and loaded as a [`Model`]. An [`Instance`] of it has ports
//! that are read and written through resolved handles ([`Port`]) as plain memory, and an [`Instance::eval`] that is
//! one call. There is no notion of a clock: whoever drives the instance toggles its clock port.
//!
//! ```no_run
//! use verilator_sys::{Model, Options, Source, Toolchain};
//! # fn main() -> Result<(), verilator_sys::Error> {
//! let toolchain = Toolchain::find()?;
//! let verilog = "module add(input [39:0] a, output [39:0] y); assign y = a + 40'd1; endmodule";
//! let model = Model::build(&toolchain, &Source { top: "add", verilog }, Options::default())?;
//! let (a, y) = (model.port("a")?, model.port("y")?);
//! let mut instance = model.instantiate()?;
//! instance.set(a, 41);
//! instance.eval()?;
//! assert_eq!(instance.get(y), 42);
//! # Ok(())
//! # }
//! ```
//!
//! This is the only crate of the workspace that contains `unsafe` code; it is confined to the module `model`.

mod compile;
mod error;
mod lint;
mod model;
mod port;
mod toolchain;

pub use compile::{Effort, Options, Source, Trace};
pub use error::Error;
pub use lint::{LintOptions, Warning, lint};
pub use model::{Instance, Model};
pub use port::{Direction, NamedPort, Port};
pub use toolchain::Toolchain;
