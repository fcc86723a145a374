//! Clocks: time as the core counts it, PTP relative-64, from what the board or the network gives.

pub mod adjustable;
pub mod bit_change;
pub mod stream_time_of_day;
pub mod ticker;
pub mod time_of_day;
