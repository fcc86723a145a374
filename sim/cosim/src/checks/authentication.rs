//! Authentication: key, nonce and words of data in, tags out.
//!
//! The truth is another implementation, and the known answers of the standard's reference; that the two agree is tested here.

use crate::bench::Bench;
use crate::error::{CheckError, HardwareError, same};
use ascon_aead::AsconAead128;
use ascon_aead::aead::array::Array;
use ascon_aead::aead::{AeadInOut, KeyInit};
use deltaline_hdl::authentication::ascon::Ascon;
use deltaline_hdl::emit::block::emit_block;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use verilator_sys::{Port, Toolchain};

const STAGE: &str = "ascon";
/// More cycles than anything takes.
const PATIENCE: u64 = 100;

/// Tags of so many bytes of 0x30, 0x31, ... under the key 0x00, 0x01, ... and the nonce 0x10, 0x11, ...: the reference
/// implementation's (github.com/ascon/ascon-c at fdfca408, `LWC_AEAD_KAT_128_128.txt`, counts 9, 17, 25 and 33).
const KNOWN_ANSWERS: [(usize, u128); 4] = [
    (8, 0x865c_5940_93a9_edee_2c1d_6384_ccb4_939e),
    (16, 0xe423_0cdb_8330_ee9d_c0cf_d7c7_b346_e6dc),
    (24, 0xfaaf_8239_5224_8afd_0e3f_e698_34c1_5d65),
    (32, 0xefc3_e78b_02ad_9a80_a6f0_548c_5b0b_b5ba),
];

/// Key, nonce, data and tag of each; numbers with the first byte lowest.
fn known_answers() -> impl Iterator<Item = (u128, u128, Vec<u8>, u128)> {
    let bytes = |first: u8| u128::from_le_bytes(std::array::from_fn(|i| first + i as u8));
    KNOWN_ANSWERS.into_iter().map(move |(length, answer)| {
        (bytes(0), bytes(0x10), (0x30..).take(length).collect(), answer.swap_bytes())
    })
}

/// The tag of data; numbers with the first byte lowest.
fn tag(key: u128, nonce: u128, data: &[u8]) -> u128 {
    let cipher = AsconAead128::new(&Array(key.to_le_bytes()));
    let nonce = Array(nonce.to_le_bytes());
    // Only plaintexts can be too long.
    let tag = cipher.encrypt_inout_detached(&nonce, data, (&mut [][..]).into());
    tag.map_or(0, |tag| u128::from_le_bytes(tag.into()))
}

/// The engine with so many rounds a cycle.
///
/// # Errors
///
/// A number of rounds that is not built.
pub fn verilog(rounds: u32) -> Result<String, HardwareError> {
    Ok(match rounds {
        1 => emit_block(&mut Ascon::<1>::default(), STAGE),
        2 => emit_block(&mut Ascon::<2>::default(), STAGE),
        _ => emit_block(&mut Ascon::<4>::default(), STAGE),
    }?)
}

struct Engine {
    bench: Bench,
    rounds: u64,
    key: Port,
    nonce: Port,
    start: Port,
    absorb: Port,
    word: Port,
    finish: Port,
    ready: Port,
    tag: Port,
}

impl Engine {
    fn new(toolchain: &Toolchain, verilog: &str, rounds: u32) -> Result<Self, CheckError> {
        let bench = Bench::new(toolchain, STAGE, verilog)?;
        let [key, nonce, start, absorb, word, finish, ready, tag] =
            ["key", "nonce", "start", "absorb", "word", "finish", "ready", "tag"]
                .map(|name| bench.port(name));
        Ok(Engine {
            rounds: rounds.into(),
            key: key?,
            nonce: nonce?,
            start: start?,
            absorb: absorb?,
            word: word?,
            finish: finish?,
            ready: ready?,
            tag: tag?,
            bench,
        })
    }

    /// A strobe, and the cycles behind it until the engine is ready, which must be as many as are due.
    fn strobe(&mut self, port: Port, due: u64) -> Result<(), CheckError> {
        self.bench.set(port, 1);
        self.bench.tick()?;
        self.bench.set(port, 0);
        let mut cycles = 1;
        while self.bench.get(self.ready) == 0 && cycles < PATIENCE {
            self.bench.tick()?;
            cycles += 1;
        }
        same(STAGE, self.bench.cycles(), "cycles until ready", &due, &cycles)
    }

    fn begin(&mut self, key: u128, nonce: u128) -> Result<(), CheckError> {
        self.bench.set_wide(self.key, key);
        self.bench.set_wide(self.nonce, nonce);
        self.strobe(self.start, 12 / self.rounds + 3)
    }

    fn absorb(&mut self, at: usize, word: u64) -> Result<(), CheckError> {
        self.bench.set(self.word, word);
        self.strobe(self.absorb, if at.is_multiple_of(2) { 1 } else { 8 / self.rounds + 1 })
    }

    /// Whole words of data; the tag must be as expected.
    fn check(&mut self, key: u128, nonce: u128, data: &[u8], expected: u128) -> Result<(), CheckError> {
        self.begin(key, nonce)?;
        for (at, word) in data.as_chunks().0.iter().enumerate() {
            self.absorb(at, u64::from_le_bytes(*word))?;
        }
        self.strobe(self.finish, 20 / self.rounds + 3)?;
        same(STAGE, self.bench.cycles(), "tag", &expected, &self.bench.get_wide(self.tag))
    }
}

/// Runs the known answers and `count` random tags; returns the number of tags.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn check(
    toolchain: &Toolchain,
    verilog: &str,
    rounds: u32,
    count: u64,
    seed: u64,
) -> Result<u64, CheckError> {
    let mut engine = Engine::new(toolchain, verilog, rounds)?;
    for (key, nonce, data, answer) in known_answers() {
        engine.check(key, nonce, &data, answer)?;
    }
    let mut random = StdRng::seed_from_u64(seed);
    for _ in 0..count {
        let [key, nonce]: [u128; 2] = random.random();
        // Sometimes another tag is begun first, and left or reset at any moment.
        if random.random_ratio(1, 4) {
            let left = random.random_range(0..40);
            engine.bench.set_wide(engine.key, !key);
            engine.bench.set(engine.start, 1);
            engine.bench.tick()?;
            engine.bench.set(engine.start, 0);
            for _ in 0..left {
                let [absorbs, finishes] = [random.random_ratio(1, 3), random.random_ratio(1, 9)];
                let is_ready = engine.bench.get(engine.ready) == 1;
                engine.bench.set(engine.absorb, u64::from(is_ready && absorbs));
                engine.bench.set(engine.finish, u64::from(is_ready && finishes && !absorbs));
                engine.bench.set(engine.word, random.random());
                engine.bench.tick()?;
            }
            engine.bench.set(engine.absorb, 0);
            engine.bench.set(engine.finish, 0);
            if random.random_ratio(1, 4) {
                engine.bench.reset()?;
            }
        }
        let mut data = vec![0; 8 * random.random_range(1..=40)];
        random.fill(&mut data[..]);
        engine.check(key, nonce, &data, tag(key, nonce, &data))?;
    }
    Ok(KNOWN_ANSWERS.len() as u64 + count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_implementation_knows_the_answers() {
        for (key, nonce, data, answer) in known_answers() {
            assert_eq!(tag(key, nonce, &data), answer);
        }
    }
}
