//! The sketch: which cells a packet is added to, and the memory that keeps them.
//!
//! ```text
//! key -> hash -> sampler -> lda -> half_cell, half_cell (two halves of a cell's sum and count)
//!             -> digest -------> digest_cell (if wanted)
//! ```
//!
//! [`lane::Lane`] puts them together for the packets of one lane.

pub mod digest;
pub mod digest_cell;
pub mod half_cell;
pub mod lane;
pub mod lda;
pub mod sampler;
