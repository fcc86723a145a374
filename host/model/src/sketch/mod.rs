//! The sketch: which cells a packet is added to, and what a cell adds up.

pub mod cell;
pub mod digest;
pub mod lda;
pub mod registry;
pub mod sampler;
pub mod synopsis;
