//! Classifier: keys in, classes out.

use crate::bench::Bench;
use crate::error::CheckError;
use crate::twin::Pipeline;
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::classifier::Entry;
use deltaline_model::packet::identity::{KEY_WORDS, Key};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use verilator_sys::Toolchain;

/// Runs keys that match an entry, each with every single bit changed, and `count` random keys, half of which match an
/// entry, one a cycle; returns the number of keys.
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
    let mut bench = Bench::new(toolchain, "classify", verilog)?;
    let words =
        (0..KEY_WORDS).map(|word| bench.port(&format!("word_{word}"))).collect::<Result<Vec<_>, _>>()?;
    let (matched, kind) = (bench.port("matched")?, bench.port("kind")?);
    let mut random = StdRng::seed_from_u64(seed);
    let entries = configuration.classifier().entries();
    let mut keys: Vec<[u32; KEY_WORDS]> = vec![];
    for entry in entries {
        let key = matching(entry, random.random());
        keys.extend((0..32 * KEY_WORDS).map(|bit| {
            let mut changed = key;
            changed[bit / 32] ^= 1 << (bit % 32);
            changed
        }));
        keys.push(key);
    }
    for _ in 0..count {
        let any = random.random();
        let entry = random.random_range(0..2 * entries.len().max(1));
        keys.push(entries.get(entry).map_or(any, |entry| matching(entry, any)));
    }
    let class = |key| configuration.classifier().class(&Key::from(key));
    let twin = Pipeline::new("classifier", 1, |key| class(key).map(|class| class as u64));
    let show = |bench: &mut Bench, key: [u32; KEY_WORDS]| {
        for (port, word) in words.iter().zip(key) {
            bench.set(*port, u64::from(word));
        }
    };
    twin.follow(&mut bench, keys, show, |bench| (bench.get(matched) == 1).then(|| bench.get(kind)))
}

/// The key with the bits that an entry looks at set as it wants them.
fn matching(entry: &Entry, mut key: [u32; KEY_WORDS]) -> [u32; KEY_WORDS] {
    for (word, (mask, value)) in key.iter_mut().zip(entry.mask.iter().zip(&entry.value)) {
        *word = *word & !mask | value;
    }
    key
}
