//! Hash: keys in, row and prefix bits out two cycles later.

use crate::bench::Bench;
use crate::error::CheckError;
use crate::twin::Pipeline;
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::hash::LinearHash;
use deltaline_model::packet::identity::{KEY_BITS, KEY_WORDS, Key};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use verilator_sys::{Port, Toolchain};

/// Cycles from key to hash.
const LATENCY: usize = 2;

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

/// The text as Verilator reads it, and as synthesis does.
pub(super) fn forms(verilog: &str) -> [String; 2] {
    [verilog.to_string(), format!("`undef VERILATOR\n{verilog}")]
}

fn check_form(
    toolchain: &Toolchain,
    configuration: &Configuration,
    verilog: &str,
    count: u64,
    seed: u64,
) -> Result<u64, CheckError> {
    let mut bench = Bench::new(toolchain, "hash", verilog)?;
    let word: Vec<Port> =
        (0..KEY_WORDS).map(|i| bench.port(&format!("word_{i}"))).collect::<Result<_, _>>()?;
    let (row, prefix) = (bench.port("row")?, bench.port("prefix")?);
    let hash = LinearHash::new(configuration.hash(), configuration.seed());
    let longest = configuration.prefixes().lengths().iter().copied().max().unwrap_or(0);
    let used = !(0xffff_u64 >> longest) & 0xffff;

    let mut random = StdRng::seed_from_u64(seed);
    let single_bits = (0..KEY_BITS).map(|bit| {
        let mut key = [0; 68];
        key[bit / 8] = 0x80 >> (bit % 8);
        Key::from(key)
    });
    let random_keys = (0..count).map(|_| Key::from(random.random::<[u32; KEY_WORDS]>()));
    let keys = single_bits.chain(random_keys).chain([Key::default(); LATENCY - 1]);
    let rows = configuration.rows() as u64 - 1;
    let twin = Pipeline::new("hash", LATENCY, |key: Key| {
        let hash = hash.hash(&key);
        (hash & rows, hash >> 48 & used)
    });
    let show = |bench: &mut Bench, key: Key| {
        for (word, port) in key.words().into_iter().zip(&word) {
            bench.set(*port, u64::from(word));
        }
    };
    twin.follow(&mut bench, keys, show, |bench| (bench.get(row), bench.get(prefix)))
}
