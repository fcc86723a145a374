//! Digest: keys in, 32 bits out eight cycles later.

use super::hash::forms;
use crate::bench::Bench;
use crate::error::CheckError;
use crate::twin::Pipeline;
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::hash::LinearHash;
use deltaline_model::packet::identity::{KEY_BITS, KEY_WORDS, Key};
use deltaline_model::sketch::digest::PacketDigest;
use deltaline_model::sketch::packet_id::PacketId;
use deltaline_model::wire::shape::Kind;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use verilator_sys::Toolchain;

/// Cycles from key to digest.
const LATENCY: usize = 8;

/// The function of a cell's first further field.
fn function(configuration: &Configuration) -> PacketDigest {
    let id = PacketId::default();
    match configuration.kind() {
        Kind::FINECOMB => id.halves()[0],
        Kind::IDENTITY_TABLE => *id.check(),
        _ => PacketDigest::new(configuration.seed()),
    }
}

/// Runs every single-bit key and `count` random keys, one a cycle, through either form; returns the number of keys.
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
    let mut keys = 0;
    for form in forms(verilog) {
        keys = check_form(toolchain, configuration, &form, count, seed)?;
    }
    Ok(keys)
}

fn check_form(
    toolchain: &Toolchain,
    configuration: &Configuration,
    verilog: &str,
    count: u64,
    seed: u64,
) -> Result<u64, CheckError> {
    let mut bench = Bench::new(toolchain, "digest", verilog)?;
    let (port, value) = (bench.port("key")?, bench.port("value")?);
    let hash = LinearHash::new(configuration.hash(), configuration.seed());
    let digest = function(configuration);

    let mut random = StdRng::seed_from_u64(seed);
    let single_bits = (0..KEY_BITS).map(|bit| {
        let mut key = [0; 68];
        key[bit / 8] = 0x80 >> (bit % 8);
        Key::from(key)
    });
    let random_keys = (0..count).map(|_| Key::from(random.random::<[u32; KEY_WORDS]>()));
    let keys = single_bits.chain(random_keys).chain([Key::default(); LATENCY - 1]);
    let twin = Pipeline::new("digest", LATENCY, |key: Key| u64::from(digest.digest(hash.hash(&key))));
    let show = |bench: &mut Bench, key: Key| bench.set_words(port, &key.words());
    twin.follow(&mut bench, keys, show, |bench| bench.get(value))
}
