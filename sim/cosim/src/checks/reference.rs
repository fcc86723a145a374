//! Reference packets: traffic in, traffic with reference packets out; a stream in, delays out.
//!
//! # Test plan
//!
//! The plans of `deltaline_hdl::reference`. What must come out follows from what is accepted: frames as they were, and behind every n-th one the
//! model's reference packet, with the time that the clock showed when its first beat was taken. What the receiver must say, the
//! model says of each frame.

use crate::bench::Bench;
use crate::error::{CheckError, HardwareError, same};
use crate::stream::{Beat, Carries, Sink, Source, beats};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::time::Timestamp;
use deltaline_model::wire::reference::{BYTES, Reference};
use deltaline_traffic::Frames;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::VecDeque;
use verilator_sys::Toolchain;

/// The name under which either block is emitted for its check.
pub const TOP: &str = "references";
const STAGE: &str = "reference packets";
/// Cycles from a reference packet's last beat to its delay.
const LATENCY: u64 = 2;
/// Cycles in which nothing moves although something waits.
const STUCK: u64 = 200;

/// In so many of sixteen cycles traffic is offered, and taken.
const PACES: [(u32, u32); 5] = [(16, 16), (16, 9), (5, 16), (3, 4), (16, 2)];

/// A frame that must come out.
enum Due {
    Traffic(Vec<Beat>),
    Reference,
}

/// Runs `frames` frames of traffic through the sender at each pace; returns the number of reference packets.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn check_sender(
    toolchain: &Toolchain,
    configuration: &Configuration,
    verilog: &str,
    frames: usize,
    seed: u64,
) -> Result<u64, CheckError> {
    let mut references = 0;
    for (offered, taken) in PACES {
        references +=
            send(Bench::new(toolchain, TOP, verilog)?, configuration, [offered, taken], frames, seed)?;
    }
    Ok(references)
}

fn send(
    mut bench: Bench,
    configuration: &Configuration,
    [offered, taken]: [u32; 2],
    frames: usize,
    seed: u64,
) -> Result<u64, CheckError> {
    let mut random = StdRng::seed_from_u64(seed);
    let source = Source::of(&bench, "s_axis_")?;
    let mut sink = Sink::of(&bench, "m_axis_", Carries::Traffic)?;
    let beat_bytes = source.beat_bytes();
    let [spacing_port, clock, number_port] =
        [bench.port("spacing")?, bench.port("ptp_ts")?, bench.port("number")?];
    source.rest(&mut bench);
    bench.reset()?;
    let mut traffic: VecDeque<Beat> = VecDeque::new();
    for _ in 0..frames {
        // From one beat on; now and then a long one.
        let length = if random.random_ratio(1, 20) { 1500 } else { random.random_range(1..=80) };
        let mut left: usize = length;
        while left > 0 {
            let bytes = left.min(beat_bytes);
            left -= bytes;
            // A tuser that is never zero tells traffic from what is inserted.
            traffic.push_back(Beat {
                data: on_bus(std::array::from_fn(|_| random.random()), beat_bytes),
                keep: u64::MAX >> (64 - bytes),
                last: left == 0,
                timestamp: random.random_range(1..=u64::MAX),
                bad: random.random(),
            });
        }
    }
    let (mut spacing, mut since, mut number, mut accepted) = (0u32, 0u32, 0u32, vec![]);
    let mut due: VecDeque<Due> = VecDeque::new();
    let (mut leaving, mut first_taken): (Vec<Beat>, u64) = (vec![], 0);
    let (mut is_offered, mut moved) = (false, 0);
    while !traffic.is_empty() || !due.is_empty() {
        let cycle = bench.cycles();
        if random.random_ratio(1, 300) {
            spacing = [0, 1, 2, 3, 10, 100][random.random_range(0..6)];
        }
        let now: u64 = random.random();
        is_offered |= !traffic.is_empty() && random.random_ratio(offered, 16);
        let is_taken = random.random_ratio(taken, 16);
        let beat = traffic.front().copied().filter(|_| is_offered);
        let (shown, is_ready) = (sink.shown(&bench), source.is_ready(&bench));
        source.drive(&mut bench, beat);
        sink.set_ready(&mut bench, is_taken);
        bench.set(spacing_port, u64::from(spacing));
        bench.set(clock, now);

        // What has begun to leave goes on without a gap.
        let has_gap = shown.is_none() && !leaving.is_empty() && matches!(due.front(), Some(Due::Reference));
        same(STAGE, cycle, "a gap in a reference packet", &false, &has_gap)?;
        if let Some(left) = shown.filter(|_| is_taken) {
            moved = cycle;
            if leaving.is_empty() {
                first_taken = now;
            }
            leaving.push(left);
            if left.last {
                let found = std::mem::take(&mut leaving);
                match due.pop_front() {
                    Some(Due::Traffic(expected)) => {
                        same(STAGE, cycle, "a frame of traffic", &expected, &found)?;
                    }
                    Some(Due::Reference) => {
                        let reference = Reference::new(configuration, number, Timestamp(first_taken));
                        let bytes = reference.encode();
                        let expected: Vec<Beat> = beats(beat_bytes, &bytes, Timestamp(0), false)
                            .map(|beat| Beat {
                                data: on_bus(beat.data, beat_bytes),
                                timestamp: 0,
                                bad: false,
                                ..beat
                            })
                            .collect();
                        same(STAGE, cycle, "a reference packet", &expected, &found)?;
                        number = number.wrapping_add(1);
                    }
                    None => same(STAGE, cycle, "a frame that nobody sent", &vec![], &found)?,
                }
            }
        }
        let ends = beat.filter(|_| is_ready).is_some_and(|beat| {
            moved = cycle;
            accepted.push(beat);
            traffic.pop_front();
            is_offered = false;
            beat.last
        });
        if ends {
            due.push_back(Due::Traffic(std::mem::take(&mut accepted)));
            since += 1;
        }
        if spacing == 0 {
            since = 0;
        } else if ends && since >= spacing {
            due.push_back(Due::Reference);
            since = 0;
        }
        sink.take(&bench)?;
        bench.tick()?;
        if cycle > moved + STUCK {
            return Err(HardwareError::Stuck("move a beat", STUCK).into());
        }
    }
    same(STAGE, bench.cycles(), "the number of the next one", &u64::from(number), &bench.get(number_port))?;
    Ok(u64::from(number))
}

/// What a bus of so many bytes has of a beat's data.
fn on_bus(mut data: [u64; 8], beat_bytes: usize) -> [u64; 8] {
    data.iter_mut().skip(beat_bytes / 8).for_each(|word| *word = 0);
    data
}

/// Runs `count` frames past the receiver, reference packets and others, at each pace; returns the number of reference packets.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn check_receiver(
    toolchain: &Toolchain,
    configuration: &Configuration,
    verilog: &str,
    count: usize,
    seed: u64,
) -> Result<u64, CheckError> {
    let mut references = 0;
    for (offered, taken) in PACES {
        let bench = Bench::new(toolchain, TOP, verilog)?;
        references += receive(bench, configuration, [offered, taken], count, seed)?;
    }
    Ok(references)
}

/// A frame, and whether the MAC marks it bad: reference packets, what differs from one a little, and traffic.
fn frame(
    configuration: &Configuration,
    frames: &mut Frames,
    random: &mut StdRng,
) -> Result<(Vec<u8>, bool), CheckError> {
    let sent = Timestamp(random.random());
    let mut bytes = Reference::new(configuration, random.random(), sent).encode().to_vec();
    let mut is_bad = false;
    match random.random_range(0..8) {
        0 | 1 => {}
        2 => {
            let bit = random.random_range(0..8 * BYTES);
            bytes[bit / 8] ^= 0x80 >> (bit % 8);
        }
        3 => bytes.truncate(random.random_range(1..BYTES)),
        4 => bytes.resize(random.random_range(BYTES..=BYTES + 40), random.random()),
        5 => is_bad = true,
        6 => {
            let segment = configuration.segment() ^ 1 << random.random_range(0..32);
            let other = Configuration::new(Settings { segment, ..Settings::default() })
                .map_err(|_| HardwareError::Stream("no such segment"))?;
            bytes = Reference::new(&other, random.random(), sent).encode().to_vec();
        }
        _ => bytes = frames.next_frame(),
    }
    Ok((bytes, is_bad))
}

fn receive(
    mut bench: Bench,
    configuration: &Configuration,
    [offered, taken]: [u32; 2],
    count: usize,
    seed: u64,
) -> Result<u64, CheckError> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut frames = Frames::new(random.random());
    let source = Source::of(&bench, "s_axis_")?;
    let [reference, number, delay] = [bench.port("there")?, bench.port("number")?, bench.port("delay")?];
    source.rest(&mut bench);
    bench.reset()?;
    let mut due: VecDeque<(u64, u32, u64)> = VecDeque::new();
    let mut references = 0;
    let mut cycle_of =
        |bench: &mut Bench, beat: Option<Beat>, is_ready: bool, due: &mut VecDeque<(u64, u32, u64)>| {
            let cycle = bench.cycles();
            let expected = due.front().filter(|(when, ..)| *when == cycle).copied();
            same(STAGE, cycle, "a reference packet", &u64::from(expected.is_some()), &bench.get(reference))?;
            if let Some((_, expected_number, expected_delay)) = expected {
                due.pop_front();
                same(STAGE, cycle, "its number", &u64::from(expected_number), &bench.get(number))?;
                same(STAGE, cycle, "its delay", &expected_delay, &bench.get(delay))?;
                references += 1;
            }
            source.drive(bench, beat);
            source.set_ready(bench, is_ready);
            Ok::<(), CheckError>(bench.tick()?)
        };
    for _ in 0..count {
        let (bytes, is_bad) = frame(configuration, &mut frames, &mut random)?;
        let time = Timestamp(random.random());
        for beat in beats(source.beat_bytes(), &bytes, time, is_bad) {
            loop {
                let (is_there, is_ready) = (random.random_ratio(offered, 16), random.random_ratio(taken, 16));
                let cycle = bench.cycles();
                if is_there && is_ready && beat.last && !is_bad {
                    let found = Reference::of(configuration, &bytes);
                    due.extend(
                        found.map(|found| (cycle + LATENCY, found.number, time.0.wrapping_sub(found.sent.0))),
                    );
                }
                cycle_of(&mut bench, Some(beat).filter(|_| is_there), is_ready, &mut due)?;
                if is_there && is_ready {
                    break;
                }
            }
        }
    }
    for _ in 0..=LATENCY {
        cycle_of(&mut bench, None, true, &mut due)?;
    }
    Ok(references)
}
