//! The byte core's succession, alone: which of its delimiters and requests end intervals, against the model.
//!
//! Delimiters are as near to each other as on the wire at least, their numbers and epochs stand as long as the module asks for and
//! are random otherwise. They differ from those of before in one byte, by one, or not at all.

use crate::bench::Bench;
use crate::error::{CheckError, same};
use deltaline_model::succession::{Place, RECENT, Succession, Trust, Verdict};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use verilator_sys::{Port, Toolchain};

const STAGE: &str = "byte succession";
/// Cycles from a delimiter to the next, at least.
const APART: u64 = 64;
/// Cycles before a delimiter, and behind it, in which its number and epoch stand.
const STANDS: (u64, u64) = (24, 16);
/// Cycles behind an end in which no interval can end, at least.
const BUSY: u64 = 32;
/// Cycles from an end to its number.
const NUMBERED: std::ops::RangeInclusive<u64> = 6..=13;

/// What a cycle says: ends, and with it timed, missing and gap; refused, ignored.
#[derive(Debug, Default, PartialEq, Eq)]
struct Verdicts {
    ends: bool,
    of_end: [bool; 3],
    refused: bool,
    ignored: bool,
}

/// The model, with the number that is due.
#[derive(Default)]
struct Truth {
    succession: Succession,
    due: u32,
    has_ended: bool,
    lost: bool,
    ended: u32,
}

impl Truth {
    fn cycle(&mut self, delimiter: Option<Place>, request: bool, busy: bool) -> Verdicts {
        let mut verdicts = Verdicts::default();
        let mut counts = false;
        if let Some(place) = delimiter {
            let verdict = self.succession.judge(place, self.due, self.has_ended, Trust::NoKey);
            counts = verdict != Verdict::Ignored;
            verdicts.ignored = !counts;
            if counts {
                self.due = place.number.wrapping_add(1);
                let is_missing = verdict == Verdict::Gap;
                let has_gap = is_missing || self.lost || !self.has_ended;
                self.lost = busy;
                self.end(&mut verdicts, busy, [false, is_missing, has_gap], place.number);
            }
        }
        if request && !counts {
            let has_gap = self.lost || !self.has_ended;
            if !busy {
                self.succession.end_by_request();
                self.lost = false;
                self.due = self.due.wrapping_add(1);
            }
            self.end(&mut verdicts, busy, [true, false, has_gap], self.due.wrapping_sub(1));
        }
        verdicts
    }

    fn end(&mut self, verdicts: &mut Verdicts, busy: bool, of_end: [bool; 3], number: u32) {
        if busy {
            verdicts.refused = true;
        } else {
            verdicts.ends = true;
            verdicts.of_end = of_end;
            self.has_ended = true;
            self.ended = number;
        }
    }
}

/// A number that is near what is due, the candidate or the one before, or differs in one byte or bit.
fn number(random: &mut StdRng, due: u32, before: u32) -> u32 {
    let base = if random.random_ratio(2, 3) { due } else { before.wrapping_add(1) };
    match random.random_range(0..12u32) {
        0..4 => base,
        4 => base.wrapping_add(1),
        5 => base.wrapping_sub(random.random_range(0..3)),
        6 => due.wrapping_sub(RECENT).wrapping_add(random.random_range(0..3)).wrapping_sub(1),
        7 => base ^ 1 << random.random_range(0..32),
        8 => base ^ random.random_range(0..256) << (8 * random.random_range(0..4)),
        // All carries: the next number has zeros below.
        9 => u32::MAX >> random.random_range(0..32),
        10 => u32::MAX << random.random_range(0..32),
        _ => random.random(),
    }
}

/// Runs `count` delimiters, with requests around and between them, and some resets; returns the number of ends.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn succession(toolchain: &Toolchain, verilog: &str, count: u64, seed: u64) -> Result<u64, CheckError> {
    let mut bench = Bench::new(toolchain, "succession", verilog)?;
    let [delimiter, number_in, epoch_in, request, running, busy] =
        ["delimiter", "number", "epoch", "request", "running", "busy"].map(|name| bench.port(name));
    let (delimiter, number_in, epoch_in) = (delimiter?, number_in?, epoch_in?);
    let (request, running, busy) = (request?, running?, busy?);
    let outputs = ["ends", "timed", "missing", "gap", "refused", "ignored", "numbered", "ended"]
        .map(|name| bench.port(name));
    let [ends, timed, missing, gap, refused, ignored, numbered, ended] = outputs;
    let flags: [Port; 3] = [timed?, missing?, gap?];
    let (ends, refused, ignored, numbered, ended) = (ends?, refused?, ignored?, numbered?, ended?);
    let mut random = StdRng::seed_from_u64(seed);
    let mut truth = Truth::default();
    let mut found_ends = 0;
    let mut before = Place { epoch: 0, number: 0 };
    // Until an end's number is there: its cycle.
    let mut waits: Option<u64> = None;
    // No interval can end before this cycle.
    let (mut at, mut free) = (0u64, 0u64);
    let mut came = (None, false);
    bench.set(running, 1);
    for _ in 0..count {
        if random.random_ratio(1, 200) {
            bench.reset()?;
            came = (None, false);
            (truth, before, waits, free) = (Truth::default(), Place { epoch: 0, number: 0 }, None, 0);
        }
        let length = APART + if random.random_ratio(1, 2) { 0 } else { random.random_range(0..100) };
        let epoch = match random.random_range(0..8u32) {
            0 => before.epoch ^ random.random_range(0..256) << (8 * random.random_range(0..4)),
            1 => random.random(),
            _ => before.epoch,
        };
        let place = Place { epoch, number: number(&mut random, truth.due, before.number) };
        // A request, if any, in a cycle around the delimiter or anywhere; or held.
        let is_held = random.random_ratio(1, 40);
        let asks = random.random_bool(0.5).then(|| random.random_range(0..length));
        let asks_near = random.random_bool(0.3).then(|| random.random_range(STANDS.0 - 12..STANDS.0 + 14));
        // No interval can end in some cycles in front of one around the delimiter, in which there may be a request.
        let frees = random.random_bool(0.2).then(|| random.random_range(STANDS.0 - 3..STANDS.0 + 8));
        for cycle in 0..length {
            let is_delimiter = cycle == STANDS.0;
            let stands = cycle <= STANDS.0 + STANDS.1;
            bench.set(number_in, if stands { place.number } else { random.random() }.into());
            bench.set(epoch_in, if stands { place.epoch } else { random.random() }.into());
            bench.set(delimiter, is_delimiter.into());
            let is_asked = is_held || [asks, asks_near, frees].contains(&Some(cycle));
            bench.set(request, is_asked.into());
            let is_busy = at < free || frees.is_some_and(|free| (free - 10..=free).contains(&cycle));
            bench.set(busy, is_busy.into());
            // The verdict on what came in the cycle before, with what keeps ends back in this one.
            bench.settle()?;
            let (was_delimiter, was_asked) = came;
            let expected = truth.cycle(was_delimiter, was_asked, is_busy);
            came = (is_delimiter.then_some(place), is_asked);
            let is_end = bench.get(ends) == 1;
            let found = Verdicts {
                ends: is_end,
                of_end: if is_end { flags.map(|flag| bench.get(flag) == 1) } else { [false; 3] },
                refused: bench.get(refused) == 1,
                ignored: bench.get(ignored) == 1,
            };
            same(STAGE, at, "verdict", &expected, &found)?;
            if is_end {
                found_ends += 1;
                waits = Some(at);
                free = at + 1 + BUSY + if random.random_bool(0.5) { 0 } else { random.random_range(0..400) };
            } else if bench.get(numbered) == 1 {
                let waited = waits.take().map(|end| at - end);
                same(
                    STAGE,
                    at,
                    "number in time",
                    &true,
                    &waited.is_some_and(|cycles| NUMBERED.contains(&cycles)),
                )?;
            }
            let late = waits.is_some_and(|end| at > end + NUMBERED.end());
            same(STAGE, at, "an end without a number", &false, &late)?;
            if waits.is_none() {
                same(STAGE, at, "number of the last end", &u64::from(truth.ended), &bench.get(ended))?;
            }
            bench.tick()?;
            at += 1;
        }
        before = place;
    }
    Ok(found_ends)
}
