//! The measurement datapath as RustHDL modules, and its emission as Verilog.
//!
//! Every stage is the twin of a module of the same name in `deltaline-model`, which holds the parameters, the hash
//! matrix and the frame layout:
//!
//! ```text
//! identity (header_window, tags, datagram) -> classifier, hash -> sampler -> lda (half_cell) -> emitter
//!                                             digest (if wanted) -> digest_cell
//!                                             class_totals, totals, interval
//! ```
//!
//! [`core::Core`] puts them together; [`verilog::emit`] writes a configuration out as one Verilog file. A
//! [`design::Design`] is a configuration with a name and the stream that it is for; [`package::package`] makes of it
//! all that a user drops into a project.
//! [`core::Core`] puts them together; [`verilog::emit`] writes a configuration out as one Verilog file.
//! [`inline`] stands in the stream itself: it inserts delimiters and control frames.
// Ports are documented in each module's port table, where they can be read side by side.
#![allow(missing_docs)]

pub mod adjustable_clock;
pub mod aggregator;
pub mod axi_lite;
pub mod boundary;
pub mod byte;
pub mod class_totals;
pub mod core;
pub mod datagram;
pub mod delimiter_match;
pub mod design;
pub mod digest;
pub mod digest_cell;
pub mod emitter;
pub mod events;
pub mod frame_count;
pub mod half_cell;
pub mod header_window;
pub mod identity;
pub mod inline;
pub mod interval;
pub mod lane;
pub mod lda;
pub mod leaves;
pub mod live_counter;
pub mod package;
pub mod registers;
pub mod sampler;
pub mod schedule;
pub mod shell;
pub mod stream_time_of_day;
pub mod tags;
pub mod ticker;
pub mod time_of_day;
pub mod totals;
pub mod verilog;
pub mod wide_core;
pub mod wide_identity;
