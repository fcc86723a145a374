//! Delimiter tags: numbers, epochs and keys in, tags out, against another implementation.

use crate::bench::Bench;
use crate::error::{CheckError, HardwareError, same};
use deltaline_hdl::authentication::delimiter_tags::DelimiterTags;
use deltaline_hdl::emit::block::emit_block;
use deltaline_model::configuration::Configuration;
use deltaline_model::wire::authentication::Key;
use deltaline_model::wire::delimiter::Delimiter;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::num::NonZeroU16;
use verilator_sys::Toolchain;

const STAGE: &str = "delimiter tags";
/// The module's name.
pub const TOP: &str = "tags";
/// Tags.
const TAGS: usize = 3;
/// Cycles that one takes.
const LATENCY: u64 = 2057;

/// Three tags of a configuration.
///
/// # Errors
///
/// As emission.
pub fn verilog(configuration: &Configuration) -> Result<String, HardwareError> {
    Ok(emit_block(&mut DelimiterTags::<TAGS>::new(configuration), TOP)?)
}

/// A key as the ports have it, and its identifier.
fn key(random: &mut StdRng) -> (u128, u16) {
    (random.random(), random.random_range(1..=u16::MAX))
}

/// Runs `count` changes; returns how many tags were compared.
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
    let mut bench = Bench::new(toolchain, TOP, verilog)?;
    let port = |bench: &Bench, name: &str, tag: usize| bench.port(&format!("{name}_{tag}"));
    let mut random = StdRng::seed_from_u64(seed);
    let (mut now, mut waiting, mut from, mut pending) = (key(&mut random), key(&mut random), 0u32, false);
    let mut places = [(0u32, 0u32); TAGS];
    let mut compared = 0;
    let mut is_there = [false; TAGS];
    let mut at = 0u64;
    for _ in 0..count {
        // Changes are told a cycle ahead.
        let changes: [bool; TAGS] = std::array::from_fn(|_| random.random_ratio(1, 3));
        let renews = random.random_ratio(1, 6);
        let resets = random.random_ratio(1, 25);
        for (tag, changes) in changes.iter().enumerate() {
            let changes_port = port(&bench, "changes", tag)?;
            bench.set(changes_port, (*changes).into());
        }
        let renew = bench.port("renew")?;
        bench.set(renew, renews.into());
        bench.tick()?;
        at += 1;
        if resets {
            bench.reset()?;
        }
        if renews {
            (now, pending) = (if pending && random.random() { waiting } else { key(&mut random) }, false);
        } else if !pending && random.random_ratio(1, 4) {
            (waiting, pending) = (key(&mut random), true);
            from = places[random.random_range(0..TAGS)]
                .0
                .wrapping_add(random.random_range(0..3))
                .wrapping_sub(1);
        }
        for tag in 0..TAGS {
            let changes_port = port(&bench, "changes", tag)?;
            bench.set(changes_port, 0);
            if changes[tag] {
                places[tag] = match random.random_range(0..4) {
                    0 => (places[tag].0.wrapping_add(1), places[tag].1),
                    1 => (places[tag].0, random.random()),
                    2 => (from.wrapping_add(random.random_range(0..3)).wrapping_sub(1), places[tag].1),
                    _ => (random.random(), random.random()),
                };
            }
            let (number, epoch) = (port(&bench, "number", tag)?, port(&bench, "epoch", tag)?);
            bench.set(number, places[tag].0.into());
            bench.set(epoch, places[tag].1.into());
        }
        bench.set(renew, 0);
        for (name, (secret, id)) in [("", now), ("next_", waiting)] {
            let (secret_port, id_port) = (
                bench.port(&format!("{name}key"))?,
                bench.port(if name.is_empty() { "key_id" } else { "next_id" })?,
            );
            bench.set_wide(secret_port, secret);
            bench.set(id_port, id.into());
        }
        let (from_port, pending_port) = (bench.port("from")?, bench.port("pending")?);
        bench.set(from_port, from.into());
        bench.set(pending_port, pending.into());
        bench.settle()?;
        let signer =
            |number: u32| if pending && number.wrapping_sub(from) as i32 >= 0 { waiting } else { now };
        // Long enough for some of them, or all.
        let cycles = match random.random_range(0..3) {
            0 => random.random_range(0..200),
            1 => random.random_range(0..2 * LATENCY),
            _ => TAGS as u64 * (LATENCY + 8),
        };
        for cycle in 0..cycles {
            if cycle % 97 == 0 || cycle + 1 == cycles {
                for tag in 0..TAGS {
                    let ready = bench.get(port(&bench, "ready", tag)?) == 1;
                    is_there[tag] = ready;
                    if ready {
                        let (number, epoch) = places[tag];
                        let (secret, id) = signer(number);
                        let delimiter =
                            Delimiter { boot_epoch: epoch, ..Delimiter::new(configuration, number) };
                        let key =
                            Key::new(NonZeroU16::new(id).unwrap_or(NonZeroU16::MIN), secret.to_le_bytes());
                        let expected: u128 = delimiter.signed(&key)[40..56]
                            .iter()
                            .rev()
                            .fold(0, |tag, byte| tag << 8 | u128::from(*byte));
                        let found = bench.get_wide(port(&bench, "tag", tag)?);
                        same(STAGE, at, "tag", &expected, &found)?;
                        same(
                            STAGE,
                            at,
                            "its key",
                            &u64::from(id),
                            &bench.get(port(&bench, "tag_key", tag)?),
                        )?;
                        compared += 1;
                    }
                }
            }
            bench.tick()?;
            at += 1;
        }
        if cycles > TAGS as u64 * LATENCY {
            same(STAGE, at, "tags that are ready in time", &[true; TAGS], &is_there)?;
        }
    }
    // The first is there in time while the last changes all the time.
    let last = port(&bench, "changes", TAGS - 1)?;
    let first = port(&bench, "changes", 0)?;
    bench.set(first, 1);
    bench.tick()?;
    bench.set(first, 0);
    let mut taken = 0;
    while bench.get(port(&bench, "ready", 0)?) == 0 && taken < 2 * LATENCY {
        bench.set(last, random.random::<bool>().into());
        bench.tick()?;
        taken += 1;
    }
    same(STAGE, at, "cycles of a tag", &LATENCY, &taken)?;
    Ok(compared)
}
