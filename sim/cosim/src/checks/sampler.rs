//! Sampler: places in, counter memory words out.

use crate::bench::Bench;
use crate::error::CheckError;
use crate::twin::Pipeline;
use deltaline_model::configuration::Configuration;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use verilator_sys::Toolchain;

/// Runs every number of leading zeros with every row bit, and `count` random places, one a cycle, some not valid;
/// returns the number of places.
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
    let mut bench = Bench::new(toolchain, "sampler", verilog)?;
    let (valid, row, prefix) = (bench.port("valid")?, bench.port("row")?, bench.port("prefix")?);
    let (sampled, address) = (bench.port("sampled")?, bench.port("address")?);
    let mut random = StdRng::seed_from_u64(seed);
    let rows = configuration.rows() as u32;
    let directed = (0..17).flat_map(|zeros| (0..32).map(move |bit| (u32::MAX >> 1 >> zeros) | 1 << bit));
    let ones = (0..17).flat_map(|zeros| (0..16).map(move |bit| (1 << 31) >> zeros | 1 << bit));
    // Long prefixes are rare: half of the random places get some zeros.
    let random_places =
        (0..count).map(|_| random.random::<u32>() >> (random.random_range(0..40u32).saturating_sub(20)));
    // Every fifth is not valid.
    let places =
        directed.chain(ones).chain(random_places).enumerate().map(|(at, place)| (at % 5 != 3, place));
    let twin = Pipeline::new("sampler", 1, |(is_valid, place): (bool, u32)| {
        let bank = configuration.prefixes().bank(place).filter(|_| is_valid);
        bank.map(|bank| (bank as u64 * u64::from(rows)) | u64::from(place & (rows - 1)))
    });
    let show = |bench: &mut Bench, (is_valid, place): (bool, u32)| {
        bench.set(valid, u64::from(is_valid));
        bench.set(row, u64::from(place & (rows - 1)));
        bench.set(prefix, u64::from(place >> 16));
    };
    twin.follow(&mut bench, places, show, |bench| (bench.get(sampled) == 1).then(|| bench.get(address)))
}
