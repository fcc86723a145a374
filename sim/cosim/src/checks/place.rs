//! Place: keys in, what picks bank and row out six cycles later.

use super::hash::{forms, keys};
use crate::bench::Bench;
use crate::error::CheckError;
use crate::twin::Pipeline;
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::hash::LinearHash;
use deltaline_model::packet::identity::Key;
use deltaline_model::sketch::mixing::{MATRIX_BITS, Mixing};
use deltaline_model::sketch::place::{Placement, ROUNDS};
use verilator_sys::Toolchain;

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
    let placement = Placement::of(configuration);
    mixed(toolchain, configuration, verilog, "place", ROUNDS, |hash| placement.place(hash), (count, seed))
}

/// A mixing as ports have it: the matrix below the offset.
pub(crate) fn bits(mixing: &Mixing) -> u128 {
    u128::from(mixing.offset()) << MATRIX_BITS | u128::from(mixing.matrix())
}

/// The same for any 32 bits that so many rounds make of a key's hash; `of` is how many random keys, and their seed.
pub(super) fn mixed(
    toolchain: &Toolchain,
    configuration: &Configuration,
    verilog: &str,
    stage: &'static str,
    rounds: usize,
    function: impl Fn(u64) -> u32,
    (count, seed): (u64, u64),
) -> Result<u64, CheckError> {
    // Two cycles for the hash, one for each round.
    let latency = 2 + rounds;
    let hash = LinearHash::new(configuration.hash(), configuration.seed());
    let mut checked = 0;
    for form in forms(verilog) {
        let mut bench = Bench::new(toolchain, stage, &form)?;
        let (port, value) = (bench.port("key")?, bench.port("value")?);
        if let Ok(port) = bench.port("mixing") {
            // Where there is none, it must not matter.
            bench.set_wide(port, bits(&Mixing::own(configuration.seed())));
        }
        let twin = Pipeline::new(stage, latency, |key: Key| u64::from(function(hash.hash(&key))));
        let show = |bench: &mut Bench, key: Key| bench.set_words(port, &key.words());
        checked = twin.follow(&mut bench, keys(count, seed, latency), show, |bench| bench.get(value))?;
    }
    Ok(checked)
}
