//! Digest: keys in, 32 bits out eight cycles later.

use super::place::mixed;
use crate::error::CheckError;
use deltaline_model::configuration::Configuration;
use deltaline_model::sketch::digest::{PacketDigest, ROUNDS};
use deltaline_model::sketch::packet_id::PacketId;
use deltaline_model::wire::shape::Kind;
use verilator_sys::Toolchain;

/// The function of a cell's first further field.
fn function(configuration: &Configuration) -> PacketDigest {
    let id = PacketId::default();
    match configuration.kind() {
        Kind::FINECOMB => id.halves()[0],
        Kind::IDENTITY_TABLE | Kind::LDA_IDENTITY => *id.check(),
        _ => PacketDigest::new(configuration.seed()),
    }
}

/// Runs every single-bit key, keys that count and `count` random keys, one a cycle, through either form; returns the number
/// of keys.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn check(
    toolchain: &Toolchain,
    configuration: &Configuration,
    verilog: &str,
    count: u64,
    seed: u64,
) -> Result<u64, CheckError> {
    let digest = function(configuration);
    mixed(toolchain, configuration, verilog, "digest", ROUNDS, |hash| digest.digest(hash), (count, seed))
}
