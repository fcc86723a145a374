//! The report: the finished copy of the cells leaves as control frames.

pub mod authenticator;
pub mod drain;
pub mod emitter;
pub mod header;
pub mod pack;
