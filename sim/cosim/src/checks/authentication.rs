//! Authentication: key, nonce and words of data in, tags out; control frames without tags in, and with tags out.
//!
//! The truth of tags is another implementation, and the known answers of the standard's reference; that the two agree is
//! tested here. That of frames is the model.

use super::point::{Event, Point};
use crate::bench::Bench;
use crate::error::{CheckError, HardwareError, same};
use crate::stream::{Carries, Sink, Source, beats};
use crate::twin::Twin;
use ascon_aead::AsconAead128;
use ascon_aead::aead::array::Array;
use ascon_aead::aead::{AeadInOut, KeyInit};
use deltaline_hdl::authentication::ascon::Ascon;
use deltaline_hdl::emit::block::emit_block;
use deltaline_hdl::report::authenticator::Authenticator;
use deltaline_model::configuration::Configuration;
use deltaline_model::point::IntervalEnd;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::authentication::Key;
use deltaline_model::wire::frame::Role;
use deltaline_traffic::Frames;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::num::NonZeroU16;
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

/// The authenticator of a configuration.
///
/// # Errors
///
/// It cannot be emitted.
pub fn authenticator(configuration: &Configuration) -> Result<String, HardwareError> {
    Ok(emit_block(&mut Authenticator::new(configuration), STAGE)?)
}

/// Most cycles that a frame of so many words takes with a key, if none is waited for on either side.
pub const fn most_cycles(words: u64) -> u64 {
    15 + 10 * words.div_ceil(2) + 40
}

/// An authenticator, the streams on both sides of it, and where the core's words come late or a sink is slow.
struct Stage {
    bench: Bench,
    source: Source,
    sink: Sink,
    hesitant: Option<StdRng>,
}

impl Stage {
    /// Sends a frame through; returns the cycles that it takes.
    fn send(&mut self, frame: &[u8]) -> Result<u64, CheckError> {
        let start = self.bench.cycles();
        for beat in beats(8, frame, Timestamp(0), false) {
            while self.hesitant.as_mut().is_some_and(|random| random.random_ratio(1, 3)) {
                self.source.rest(&mut self.bench);
                self.cycle()?;
            }
            self.source.offer(&mut self.bench, beat);
            let patience = self.bench.cycles() + 50 * PATIENCE;
            while !self.cycle()? {
                let waits = self.bench.cycles() < patience;
                same("authenticator", start, "tready stays low", &true, &waits)?;
            }
        }
        self.source.rest(&mut self.bench);
        Ok(self.bench.cycles() - start)
    }

    /// A cycle; whether what is offered was taken.
    fn cycle(&mut self) -> Result<bool, CheckError> {
        let ready = !self.hesitant.as_mut().is_some_and(|random| random.random_ratio(1, 3));
        self.sink.set_ready(&mut self.bench, ready);
        self.bench.settle()?;
        self.sink.take(&self.bench)?;
        let taken = self.source.is_ready(&self.bench);
        self.bench.tick()?;
        Ok(taken)
    }
}

/// Lets the control frames of `count` intervals pass, under keys and epochs that change from one to the next; every fourth
/// has no key. Returns the number of frames.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn frames(
    toolchain: &Toolchain,
    configuration: &Configuration,
    verilog: &str,
    count: u64,
    seed: u64,
) -> Result<u64, CheckError> {
    const STAGE: &str = "authenticator";
    let bench = Bench::new(toolchain, self::STAGE, verilog)?;
    let (source, sink) =
        (Source::of(&bench, "s_axis_")?, Sink::of(&bench, "m_axis_", Carries::ControlFrames)?);
    let [key, key_id, boot_epoch] = ["key", "key_id", "boot_epoch"].map(|name| bench.port(name));
    let (key, key_id, boot_epoch) = (key?, key_id?, boot_epoch?);
    let mut stage = Stage { bench, source, sink, hesitant: None };
    let (mut random, mut traffic) = (StdRng::seed_from_u64(seed), Frames::new(seed));
    let mut passed = 0;
    for role in [Role::Sender, Role::Receiver] {
        let mut plain = Point::new(configuration, role);
        let mut signed = Point::new(configuration, role);
        for interval in 0..count {
            let (secret, epoch): ([u8; 16], u32) = (random.random(), random.random());
            let id = NonZeroU16::new(random.random()).filter(|_| interval % 4 != 3);
            stage.bench.set_wide(key, u128::from_le_bytes(secret));
            stage.bench.set(key_id, id.map_or(0, NonZeroU16::get).into());
            stage.bench.set(boot_epoch, epoch.into());
            signed.model.set_boot_epoch(epoch);
            signed.model.set_key(id.map(|id| Key::new(id, secret)));
            for _ in 0..random.random_range(0..100) {
                let (frame, time) = (traffic.next_frame(), Timestamp(random.random()));
                plain.frame(&frame, time, false);
                signed.frame(&frame, time, false);
            }
            for point in [&mut plain, &mut signed] {
                point.take(Event::End(IntervalEnd::Delimiter));
            }
            stage.hesitant = random.random_ratio(1, 2).then(|| StdRng::seed_from_u64(random.random()));
            while let Some(frame) = plain.due() {
                let cycles = stage.send(&frame)?;
                let words = frame.len() as u64 / 8;
                if stage.hesitant.is_none() {
                    let most = if id.is_some() { most_cycles(words) } else { words };
                    same(STAGE, passed, "a frame takes too long", &false, &(cycles > most))?;
                }
                passed += 1;
            }
            signed.compare_all(STAGE, passed, stage.sink.take_frames())?;
        }
        // A reset within a frame: what comes next begins anew, as the core does.
        plain.take(Event::End(IntervalEnd::Delimiter));
        let cut = 8 * random.random_range(2..20);
        stage.send(plain.due().as_deref().and_then(|frame| frame.get(..cut)).unwrap_or_default())?;
        stage.bench.reset()?;
        stage.sink.clear();
    }
    Ok(passed)
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
