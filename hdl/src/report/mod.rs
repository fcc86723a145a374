//! The report: the finished copy of the cells leaves as control frames.

pub mod emitter;
