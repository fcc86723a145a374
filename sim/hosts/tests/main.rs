//! Tests in network namespaces, one module each.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;
mod network;
mod path;
mod probes;
