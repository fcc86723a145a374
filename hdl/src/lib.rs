//! The measurement datapath as RustHDL modules, and its emission as Verilog.
//!
//! Every stage is the twin of a module of the same name in `deltaline-model`, which holds the parameters, the hash
//! matrix and the frame layout:
//!
//! ```text
//! identity (header_window, tags, datagram) -> classifier, hash -> sampler -> lda (cell_memory) -> emitter
//!                                             digest (if wanted) -> cell_memory
//!                                             class_totals, totals, interval
//! ```
//!
//! [`point::core::Core`] puts them together; [`emit::module::emit`] writes a configuration out as one Verilog file,
//! [`emit::design::emit`] a [`deltaline_design::Design`] with registers and a clock; [`emit::package::package`] makes of it all
//! that a user drops into a project.
//! [`inline`] stands in the stream itself: it inserts delimiters and control frames; [`reference`](mod@reference), reference packets.
// Ports are documented in each module's port table, where they can be read side by side.
#![allow(missing_docs)]

pub mod authentication;
pub mod byte;
pub mod clock;
pub mod emit;
pub mod identity;
pub mod inline;
pub mod interval;
pub mod leaves;
mod module;
pub mod point;
pub mod reference;
pub mod registers;
pub mod report;
pub mod sketch;
