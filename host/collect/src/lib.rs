//! From control frames to numbers: feeds, pairs of reports, their evaluation.
//!
//! * [`feed`]: where control frames come from: serial lines, network interfaces, recordings.
//! * [`collector`]: frames together into intervals, by segment, with what is wrong with them.
//! * [`report`]: what one end reported of an interval. [`verdict`]: whether two reports may be compared.
//! * [`pair`]: an interval's two reports, and how their rows compare.

pub mod collector;
pub mod feed;
pub mod pair;
pub mod report;
pub mod verdict;
