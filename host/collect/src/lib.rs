//! From control frames to numbers: feeds, pairs of reports, their evaluation.
//!
//! * [`feed`]: where control frames come from: serial lines, network interfaces, recordings.
//! * [`collector`]: frames together into intervals, by segment, with what is wrong with them.
//! * [`report`]: what one end reported of an interval. [`verdict`]: whether two reports may be compared.
//! * [`pair`]: an interval's two reports, and how their rows compare.
//! * [`evaluation`]: what a pair says of delay and loss. [`summary`]: a segment's intervals in numbers.
//! * [`flows`]: what it says of single flows.
//! * [`truth`]: the exact numbers, where they are known.
//! * [`exchange`]: the same between two ends that remember their packets.
//! * [`follower`]: all of that live, interval by interval.
//!
//! Nothing here prints or ends a program: what went wrong is a value that says so.

pub mod collector;
mod delays;
pub mod evaluation;
pub mod exchange;
pub mod feed;
pub mod flows;
pub mod follower;
pub mod pair;
mod repair;
pub mod report;
pub mod summary;
pub mod text;
pub mod truth;
pub mod verdict;
