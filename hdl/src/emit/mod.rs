//! Emission: Verilog, shells and packages, made of RustHDL blocks for a design.
//!
//! ```text
//! block (any RustHDL block) -> module (a core or a stage, in one of the sizes) -> shell (registers, clock, insertion;
//! put together by wiring) -> design -> package (all that a user drops in)
//! ```
//!
//! `refusal` and `kind` are what all of them share; they know none of the emitters.

pub mod block;
mod byte_shell;
pub mod design;
mod frames;
mod header;
pub mod kind;
pub mod module;
pub mod package;
mod ports;
pub mod reader;
pub mod refusal;
mod shell;
mod sizes;
pub mod stages;
mod wiring;
