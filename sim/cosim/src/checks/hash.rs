//! Hash: keys in, the bits that a place is made of out two cycles later.

use crate::bench::Bench;
use crate::error::CheckError;
use crate::twin::Pipeline;
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::hash::LinearHash;
use deltaline_model::packet::identity::{KEY_BITS, KEY_BYTES, KEY_WORDS, Key};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use verilator_sys::{Port, Toolchain};

/// Cycles from key to hash.
const LATENCY: usize = 2;

/// Bytes of a key with a counter: IPv4 identification, TCP sequence number.
const COUNTERS: [std::ops::Range<usize>; 2] = [4..6, 44..48];

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

/// Every single-bit key, keys that differ in a counter alone, and `count` random ones; then as many as the last answers wait
/// for.
pub(super) fn keys(count: u64, seed: u64, latency: usize) -> impl Iterator<Item = Key> {
    let mut random = StdRng::seed_from_u64(seed);
    let single_bits = (0..KEY_BITS).map(|bit| {
        let mut key = [0; KEY_BYTES];
        key[bit / 8] = 0x80 >> (bit % 8);
        Key::from(key)
    });
    let base: [u8; KEY_BYTES] = random.random();
    let counting = COUNTERS.into_iter().flat_map(move |field| {
        (0..1000u32).map(move |number| {
            let mut key = base;
            key[field.clone()].copy_from_slice(&number.to_be_bytes()[4 - field.len()..]);
            Key::from(key)
        })
    });
    let random_keys = (0..count).map(move |_| Key::from(random.random::<[u32; KEY_WORDS]>()));
    single_bits.chain(counting).chain(random_keys).chain(std::iter::repeat_n(Key::default(), latency - 1))
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
    let bits = bench.port("bits")?;
    let hash = LinearHash::new(configuration.hash(), configuration.seed());
    let twin = Pipeline::new("hash", LATENCY, |key: Key| {
        let hash = hash.hash(&key);
        hash >> 48 << 16 | hash & 0xffff
    });
    let show = |bench: &mut Bench, key: Key| {
        for (word, port) in key.words().into_iter().zip(&word) {
            bench.set(*port, u64::from(word));
        }
    };
    twin.follow(&mut bench, keys(count, seed, LATENCY), show, |bench| bench.get(bits))
}
