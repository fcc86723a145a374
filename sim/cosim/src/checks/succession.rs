//! The byte core's succession, alone: which of its delimiters and requests end intervals, against the model.
//!
//! Delimiters are as near to each other as on the wire at least, their numbers and epochs stand as long as the module asks for and
//! are random otherwise. They differ from those of before in one byte, by one, or not at all.
//!
//! Of the core with a key tags are right, wrong, or those of others, and not ready behind a change; keys come and go. What passes for
//! those who make the tags is what the model has, whenever it is said to be.

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

/// The model, with what is due, and the candidate's successor.
#[derive(Default)]
struct Truth {
    succession: Succession,
    due: u32,
    epoch: u32,
    next: Option<Place>,
    has_ended: bool,
    lost: bool,
    ended: u32,
}

impl Truth {
    /// Whether it counts if its tag is right: because it is due, and because it is the candidate's successor.
    fn may_count(&self, place: Place) -> [bool; 2] {
        let [is_due, is_next] = [self.due, place.number.wrapping_add(1)].map(|due| {
            let mut succession = self.succession;
            succession.judge(place, due, true, Trust::Authentic)
        });
        [is_due == Verdict::Due, is_next == Verdict::Gap]
    }

    fn cycle(&mut self, delimiter: Option<(Place, Trust)>, request: bool, busy: bool) -> Verdicts {
        let mut verdicts = Verdicts::default();
        let mut counts = false;
        if let Some((place, trust)) = delimiter {
            let verdict = self.succession.judge(place, self.due, self.has_ended, trust);
            counts = verdict != Verdict::Ignored;
            verdicts.ignored = !counts;
            let successor = Place { number: place.number.wrapping_add(1), ..place };
            if counts {
                (self.epoch, self.next) = (place.epoch, None);
            } else if self.may_count(successor)[1] {
                self.next = Some(successor);
            }
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
                self.next = None;
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
    let base = if random.random_ratio(1, 2) { due } else { before.wrapping_add(1) };
    match random.random_range(0..13u32) {
        0..4 => base,
        4 => base.wrapping_add(1),
        5 => base.wrapping_sub(random.random_range(0..3)),
        6 => due.wrapping_sub(RECENT).wrapping_add(random.random_range(0..3)).wrapping_sub(1),
        7 => base ^ 1 << random.random_range(0..32),
        8 => base ^ random.random_range(0..256) << (8 * random.random_range(0..4)),
        // All carries: the next number has zeros below.
        9 => u32::MAX >> random.random_range(0..32),
        10 => u32::MAX << random.random_range(0..32),
        11 => due.wrapping_add(1 << 31).wrapping_add(random.random_range(0..3)).wrapping_sub(1),
        _ => random.random(),
    }
}

/// The ports of the core with a key.
struct Tags {
    keyed: Port,
    signed: [Port; 2],
    passing: Port,
    /// Of what is due, and of the candidate's successor: a byte of its number and of its epoch, and that they change.
    octets: [[Port; 2]; 2],
    changes: [Port; 2],
    is_keyed: bool,
    /// Cycles until a tag is ready, once it does not change any more; and since when it has or should have.
    waits: [u64; 2],
    stable: [u64; 2],
}

impl Tags {
    fn of(bench: &Bench) -> Result<Option<Self>, CheckError> {
        let Ok(keyed) = bench.port("keyed_0") else { return Ok(None) };
        let port = |name: &str| bench.port(&format!("{name}_0"));
        let octets = [
            [port("due_octet")?, port("due_epoch_octet")?],
            [port("next_octet")?, port("next_epoch_octet")?],
        ];
        Ok(Some(Tags {
            keyed,
            signed: [port("due_signed")?, port("next_signed")?],
            passing: port("passing")?,
            octets,
            changes: [port("due_changes")?, port("next_changes")?],
            is_keyed: false,
            waits: [0; 2],
            stable: [0; 2],
        }))
    }

    /// Says which tags the delimiter has on which there is a verdict in this cycle, and how far it is to be believed.
    fn give(&self, bench: &mut Bench, truth: &Truth, delimiter: Option<Place>, random: &mut StdRng) -> Trust {
        bench.set(self.keyed, self.is_keyed.into());
        let may_count = delimiter.map_or([false; 2], |place| truth.may_count(place));
        let mut trust = if self.is_keyed { Trust::Forged } else { Trust::NoKey };
        let is_authentic = random.random_ratio(3, 4);
        for (tag, may_count) in may_count.into_iter().enumerate() {
            // What is neither may have the tag of either.
            let has_tag = if may_count { is_authentic } else { random.random() };
            let is_signed = has_tag && self.waits[tag] == 0;
            bench.set(self.signed[tag], is_signed.into());
            if self.is_keyed && may_count && is_signed {
                trust = Trust::Authentic;
            }
        }
        trust
    }

    /// What passes for those who make the tags, behind the verdict of this cycle.
    fn compare(
        &mut self,
        bench: &Bench,
        truth: &Truth,
        (at, is_verdict): (u64, bool),
        random: &mut StdRng,
    ) -> Result<(), CheckError> {
        let due = Place { epoch: truth.epoch, number: truth.due };
        let byte = 8 * bench.get(self.passing);
        for (tag, place) in [Some(due), truth.next].into_iter().enumerate() {
            let changes = bench.get(self.changes[tag]) == 1;
            self.stable[tag] = if changes && !is_verdict { self.stable[tag] } else { at };
            let late = at - self.stable[tag] > *NUMBERED.end();
            same(STAGE, at, "what changes does so in time", &false, &late)?;
            self.waits[tag] = self.waits[tag].saturating_sub(1);
            if changes {
                // Sooner than any tag can be made, so that there are more of them.
                self.waits[tag] = random.random_range(1..48);
            } else if let Some(place) = place {
                let expected = [place.number, place.epoch].map(|value| u64::from(value >> byte & 0xff));
                let found = self.octets[tag].map(|port| bench.get(port));
                same(STAGE, at, "what passes for a tag", &expected, &found)?;
            }
        }
        Ok(())
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
    let mut tags = Tags::of(&bench)?;
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
        let epoch = match random.random_range(0..9u32) {
            8 => {
                before.epoch.wrapping_add(random.random_range(0..3)).wrapping_sub(1)
                    ^ random.random_range(0..2) << 31
            }
            0 => before.epoch ^ random.random_range(0..256) << (8 * random.random_range(0..4)),
            1 => random.random(),
            _ => before.epoch,
        };
        let place = Place { epoch, number: number(&mut random, truth.due, before.number) };
        // A request, if any, in a cycle around the delimiter or anywhere; or held.
        let is_held = random.random_ratio(1, 40);
        let asks = random.random_bool(0.5).then(|| random.random_range(0..length));
        let asks_near = random.random_bool(0.4).then(|| random.random_range(STANDS.0 - 12..STANDS.0 + 14));
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
            let (was_delimiter, was_asked) = came;
            let trust = tags
                .as_ref()
                .map_or(Trust::NoKey, |tags| tags.give(&mut bench, &truth, was_delimiter, &mut random));
            bench.settle()?;
            let expected = truth.cycle(was_delimiter.map(|place| (place, trust)), was_asked, is_busy);
            came = (is_delimiter.then_some(place), is_asked);
            let is_end = bench.get(ends) == 1;
            let found = Verdicts {
                ends: is_end,
                of_end: if is_end { flags.map(|flag| bench.get(flag) == 1) } else { [false; 3] },
                refused: bench.get(refused) == 1,
                ignored: bench.get(ignored) == 1,
            };
            same(STAGE, at, "verdict", &expected, &found)?;
            if let Some(tags) = &mut tags {
                tags.compare(&bench, &truth, (at, expected != Verdicts::default()), &mut random)?;
            }
            if is_end {
                found_ends += 1;
                waits = Some(at);
                // Keys change behind ends alone, which take the candidate away.
                if let Some(tags) = tags.as_mut().filter(|_| random.random_ratio(1, 16)) {
                    tags.is_keyed = random.random_ratio(3, 4);
                }
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
