//! The program, run as its users run it.
//!
//! One test program, as linking one for each subject takes long, and a long test holds up no other.

mod accuracy;
mod advise;
mod board;
mod clocks;
mod common;
mod cuts;
mod decode;
mod delimit;
mod design;
mod edges;
mod exchange;
mod failures;
mod flows;
mod flows_of_a_store;
mod flows_of_points;
mod foreign;
#[cfg(feature = "hardware")]
mod hardware;
mod inputs;
mod interface;
mod json;
mod keys;
#[cfg(feature = "lab")]
mod lab;
mod lda_identity;
mod manual;
mod measure;
mod offset;
mod plan;
mod prometheus;
mod quantiles;
mod read;
mod record;
mod recordings;
mod size;
mod slices;
mod stamp;
mod store;
mod sums;
mod synopses;
