//! Emission: designs, and the Verilog, shells and packages that are made of them.
//!
//! ```text
//! TOML -> design -> verilog (core) -> shell (registers, clock, insertion) -> package (all that a user drops in)
//! ```

pub mod design;
pub mod package;
pub mod shell;
pub mod verilog;
