//! The measurement datapath as RustHDL modules, and its emission as Verilog.
//!
//! Every stage is the twin of a module of the same name in `deltaline-model`, which holds the parameters, the hash
//! matrix and the frame layout:
//!
//! ```text
//! identity (header_window, tags, datagram) -> hash -> sampler -> lda (half_cell) -> emitter
//!                                    totals, interval
//! ```
//!
//! [`core::Core`] puts them together; [`verilog::emit`] writes a configuration out as one Verilog file.
// Ports are documented in each module's port table, where they can be read side by side.
#![allow(missing_docs)]

pub mod byte;
pub mod core;
pub mod datagram;
pub mod emitter;
pub mod half_cell;
pub mod header_window;
pub mod identity;
pub mod interval;
pub mod lda;
pub mod leaves;
pub mod sampler;
pub mod tags;
pub mod totals;
pub mod verilog;
