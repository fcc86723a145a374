//! Place: 32 bits that pick a packet's bank and row, free of patterns in its key.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::sketch::place`, which says why: the hash's bits 63:48 and 15:0 go through four
//! [rounds](crate::sketch::rounds). The leading zeros of the upper half pick the bank, in the
//! [sampler](crate::sketch::sampler), the low bits of the lower half the row.
//!
//! ```text
//! key -> hash -> hash -> round -> round -> round -> round -> place
//!  0       1       2       3        4        5        6
//! ```
//!
//! # Ports
//!
//! Those of [`MixedHash`]: `value` is the place of `key`, six cycles later.
//!
//! Latency six cycles, one key a cycle. Parameters: none; the configuration's hash and its seed become constants. Of the
//! last round, synthesis removes what no bank and no row depends on.
//!
//! # Test plan
//!
//! `sim/cosim`: every key bit alone, random keys, keys that count in one field; H3 and Rabin; planted faults.

use crate::leaves::HashMatrix;
use crate::sketch::rounds::MixedHash;
use deltaline_model::configuration::Configuration;
use deltaline_model::sketch::place::{Placement, ROUNDS};

/// See the [module](self).
pub type Place = MixedHash<ROUNDS>;

/// The place of a configuration.
pub fn place(configuration: &Configuration) -> Place {
    MixedHash::new(outer_bits(configuration), Placement::new(configuration.seed()).constants())
}

/// The hash bits that a place is made of: 63:48 above 15:0.
pub fn outer_bits(configuration: &Configuration) -> HashMatrix {
    HashMatrix::new(configuration, (0..16).chain(48..64))
}
