//! The measurement point: all stages behind the identity, and what is counted of a point as a whole.
//!
//! [`core::Core`] is the point for a stream of 64 bits, [`wide_core`] for wider ones and several lanes; both are an
//! identity stage in front of the same [`aggregator::Aggregator`].

pub mod aggregator;
pub mod class_totals;
pub mod core;
pub mod frame_count;
pub mod time_sum;
pub mod totals;
pub mod wide_core;
