//! Digest: 32 bits of a packet's key that are not linear over GF(2).
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::sketch::digest`. 32 bits of the hash go through six [rounds](crate::sketch::rounds). In a
//! [lane](crate::sketch::lane) it is ready four cycles before the upper half of the packet's cell is added: nothing waits for it.
//!
//! Which bits of the hash, and which constants the rounds have, is the function's: [`function`] says whose a cell's further
//! fields are.
//!
//! # Ports
//!
//! Those of [`MixedHash`]: `value` is the digest of `key`, eight cycles later.
//!
//! Latency eight cycles, one key a cycle. Parameters: none; the configuration's hash, its seed and the function become
//! constants.
//!
//! Cost before placement: iCE40 2794 LUT4, 512 flip-flops; ECP5 2865 LUT4, 512 flip-flops. Nine parts in ten are the
//! 32 bits of hash: of a matrix that depends on all of the key, none can be spared without losing keys that differ.
//!
//! # Test plan
//!
//! `sim/cosim`: every key bit alone, and random keys, for the first field of each synopsis; all fields as part of the
//! cores, whose control frames hold the sums.

use crate::leaves::HashMatrix;
use crate::sketch::rounds::MixedHash;
use deltaline_model::configuration::Configuration;
use deltaline_model::sketch::digest::{self, PacketDigest, ROUNDS};
use deltaline_model::sketch::packet_id::PacketId;
use deltaline_model::wire::shape::Kind;

/// See the [module](self).
pub type Digest = MixedHash<ROUNDS>;

/// The digest of a configuration that is further field `field` of its cells.
pub fn digest(configuration: &Configuration, field: usize) -> Digest {
    let function = function(configuration, field);
    let first = function.first_bit();
    MixedHash::new(HashMatrix::new(configuration, first..first + 32), function.constants())
}

/// The function that makes further field `field` of a configuration's cells.
pub fn function(configuration: &Configuration, field: usize) -> PacketDigest {
    let [upper, lower] = *PacketId::default().halves();
    match (configuration.kind(), field) {
        (Kind::IDENTITY_TABLE | Kind::LDA_IDENTITY, 1) => upper,
        (Kind::FINECOMB, 1) | (Kind::IDENTITY_TABLE | Kind::LDA_IDENTITY, 2) => lower,
        _ => digest::first(configuration.kind(), configuration.seed()),
    }
}
