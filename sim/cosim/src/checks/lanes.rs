//! Lanes: frames on several lanes at once, control frames out.
//!
//! Frames count in the order in which their last beats come, those of one cycle in the order of their lanes.

use super::place::bits;
use super::point::{Event, Point};
use crate::adversary;
use crate::bench::Bench;
use crate::error::{CheckError, same};
use crate::stream::{Beat, Carries, Sink, Source, beats};
use crate::twin::Twin;
use deltaline_model::configuration::Configuration;
use deltaline_model::point::IntervalEnd;
use deltaline_model::sketch::mixing::Mixing;
use deltaline_model::sketch::sampler::Prefixes;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::delimiter::Delimiter;
use deltaline_model::wire::frame::Role;
use deltaline_traffic::{Frames, udp_frame};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::VecDeque;
use verilator_sys::{Port, Toolchain};

const STAGE: &str = "lanes";
/// Cycles until a drain must be over, per word of the memory and for the rest.
const PATIENCE: (u64, u64) = (16, 2000);

struct Lane {
    source: Source,
    beats: VecDeque<Beat>,
    /// The frame under way.
    frame: Vec<u8>,
    time: Timestamp,
    bad: bool,
}

/// A core of several lanes and its twin.
struct Lanes {
    bench: Bench,
    lanes: Vec<Lane>,
    sink: Sink,
    interval_end: Port,
    twin: Point,
    /// An interval has ended, and its drain works.
    is_draining: bool,
    packets: u64,
    random: StdRng,
}

/// Runs `count` frames over both lanes; returns their number.
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
    let mut bench = Bench::new(toolchain, "deltaline", verilog)?;
    let mut lanes = vec![];
    let count_lanes = (0..).take_while(|lane| bench.port(&format!("s{lane}_axis_tdata")).is_ok()).count();
    for lane in 0..count_lanes {
        let source = Source::of(&bench, &format!("s{lane}_axis_"))?;
        source.set_ready(&mut bench, true);
        let (time, bad) = (Timestamp(0), false);
        lanes.push(Lane { source, beats: VecDeque::new(), frame: vec![], time, bad });
    }
    let sink = Sink::of(&bench, "m_axis_", Carries::ControlFrames)?;
    sink.set_ready(&mut bench, true);
    bench.set(bench.port("ptp_locked")?, 1);
    let running = bench.port("running")?;
    let words = (configuration.rows() * configuration.prefixes().banks()).next_power_of_two() as u64;
    for _ in 0..4 * words + 64 {
        bench.tick()?;
    }
    same(STAGE, 0, "running", &1, &bench.get(running))?;
    let mut all = Lanes {
        interval_end: bench.port("interval_end")?,
        bench,
        lanes,
        sink,
        twin: Point::new(configuration, Role::Sender),
        is_draining: false,
        packets: 0,
        random: StdRng::seed_from_u64(seed),
    };
    let mut frames = Frames::new(seed);
    // One frame a cycle and lane, and no other cycle.
    for number in 0..2000 {
        for lane in 0..count_lanes {
            all.offer(lane, &udp_frame(number * 4 + lane as u32, 60), false);
        }
        all.cycle(false)?;
    }
    all.end(0, None)?;
    all.adversary()?;
    all.crowds()?;
    all.interval(&mut frames, 1, 0, Some(0))?;
    while all.packets < count {
        let length = all.random.random_range(1..800);
        let gaps = [0, 0, 2, 8][all.random.random_range(0..4)];
        let delimiter = match all.random.random_range(0..6) {
            lane if lane < count_lanes => Some(lane),
            _ => None,
        };
        all.interval(&mut frames, length, gaps, delimiter)?;
    }
    Ok(all.packets)
}

impl Lanes {
    fn offer(&mut self, lane: usize, frame: &[u8], bad: bool) {
        let time = Timestamp(self.random.random());
        let lane = &mut self.lanes[lane];
        lane.beats.extend(beats(64, frame, time, bad));
        lane.frame = frame.to_vec();
        (lane.time, lane.bad) = (time, bad);
        self.packets += 1;
    }

    /// Frames at the edges, now on this lane, now on that one, while the others have theirs; sums beyond a counter's lower
    /// half, then small ones; ends in successive cycles.
    fn adversary(&mut self) -> Result<(), CheckError> {
        let longest = (0..260).map(adversary::longest_ipv6);
        for (number, frame) in adversary::frames().into_iter().chain(longest).enumerate() {
            let lane = number * 7 % 3 % self.lanes.len();
            while !self.lanes[lane].beats.is_empty() {
                self.cycle(false)?;
            }
            self.offer(lane, &frame, number % 16 == 15);
        }
        while self.lanes.iter().any(|lane| !lane.beats.is_empty()) {
            self.cycle(false)?;
        }
        self.end(1, None)?;
        self.offer(0, &udp_frame(1, 60), false);
        self.cycle(false)?;
        self.cycle(true)?;
        for _ in 0..3 {
            self.sink.take(&self.bench)?;
            self.twin.take(Event::RefusedEnd);
            self.bench.tick()?;
        }
        self.settle()?;
        self.end(1, Some(0))
    }

    /// Random frames on both lanes; the interval ends by request, or by a delimiter on a lane.
    fn interval(
        &mut self,
        frames: &mut Frames,
        length: u64,
        gaps: u32,
        delimiter: Option<usize>,
    ) -> Result<(), CheckError> {
        if self.twin.model.configuration().adaptive() {
            self.schedule()?;
        }
        if self.twin.model.configuration().has_mixing() {
            self.schedule_mixing()?;
        }
        for _ in 0..length {
            for lane in 0..self.lanes.len() {
                if self.lanes[lane].beats.is_empty() && !(gaps > 0 && self.random.random_ratio(1, gaps)) {
                    let (frame, bad) = (frames.next_frame(), self.random.random_ratio(1, 32));
                    self.offer(lane, &frame, bad);
                }
            }
            self.cycle(false)?;
        }
        self.end(length, delimiter)
    }

    /// Other prefix lengths from the next interval on: numbers stay far below 2^31 behind 0 here.
    fn schedule(&mut self) -> Result<(), CheckError> {
        let (first, second) = (self.random.random_range(0..4), self.random.random_range(4..15));
        let lengths = &[first, second, 15, 16][..self.twin.model.configuration().prefixes().banks()];
        let Ok(prefixes) = Prefixes::new(lengths) else { return Ok(()) };
        self.bench.set(self.bench.port("next_prefixes")?, u64::from_be_bytes(prefixes.to_bytes()));
        self.bench.set(self.bench.port("schedule")?, 1);
        self.cycle(false)?;
        self.bench.set(self.bench.port("schedule")?, 0);
        same(STAGE, self.packets, "schedule", &Ok(()), &self.twin.model.schedule_prefixes(prefixes, 0))
    }

    /// Another mixing from the next interval on.
    fn schedule_mixing(&mut self) -> Result<(), CheckError> {
        let mixing = Mixing::from_parts(self.random.random(), self.random.random(), self.random.random());
        self.bench.set_wide(self.bench.port("next_mixing")?, bits(&mixing));
        self.bench.set(self.bench.port("next_mixing_id")?, mixing.id().into());
        self.bench.set(self.bench.port("schedule_mixing")?, 1);
        self.cycle(false)?;
        self.bench.set(self.bench.port("schedule_mixing")?, 0);
        same(STAGE, self.packets, "a mixing", &Ok(()), &self.twin.model.schedule_mixing(mixing, 0))
    }

    /// Ends the interval and compares its control frames.
    fn end(&mut self, length: u64, delimiter: Option<usize>) -> Result<(), CheckError> {
        match delimiter {
            None => self.cycle(true)?,
            Some(lane) => {
                while !self.lanes[lane].beats.is_empty() {
                    self.cycle(false)?;
                }
                // Lost ones before it: their successor's successor is the first that counts.
                let lost = u32::from(length.is_multiple_of(5)) * 7;
                let due = self.twin.model.interval();
                for number in if lost > 0 { due + lost..due + lost + 2 } else { due..due + 1 } {
                    self.delimiter(lane, number);
                    self.cycle(false)?;
                }
            }
        }
        same(STAGE, self.packets, "the interval's end", &true, &self.is_draining)?;
        self.settle()
    }

    /// A delimiter of one beat on a lane.
    fn delimiter(&mut self, lane: usize, number: u32) {
        let frame = Delimiter::new(self.twin.model.configuration(), number).encode();
        self.offer(lane, &frame, false);
    }

    /// Delimiters on all lanes at once, in one cycle and in several without a pause: due, doubled, ahead, in runs.
    fn crowds(&mut self) -> Result<(), CheckError> {
        while self.lanes.iter().any(|lane| !lane.beats.is_empty()) {
            self.cycle(false)?;
        }
        for round in 0..300 {
            for _ in 0..round % 4 + 1 {
                for lane in 0..self.lanes.len() {
                    let due = self.twin.model.interval();
                    let ahead = self.random.random_range(0..4);
                    match self.random.random_range(0..8) {
                        0 => self.offer(lane, &udp_frame(round, 60), false),
                        1 => self.delimiter(lane, due.wrapping_sub(1 + 64 * ahead)),
                        2 => self.delimiter(lane, due + 100 + ahead),
                        _ => self.delimiter(lane, due + ahead),
                    }
                }
                let end = self.random.random_ratio(1, 8);
                self.cycle(end)?;
            }
            self.settle()?;
        }
        Ok(())
    }

    /// Waits for the control frames that are due and compares them.
    fn settle(&mut self) -> Result<(), CheckError> {
        let words = self.twin.model.cell_count() as u64;
        let patience = PATIENCE.0 * words + PATIENCE.1;
        for _ in 0..patience {
            self.cycle(false)?;
        }
        self.is_draining = false;
        self.twin.compare_all(STAGE, self.packets, self.sink.take_frames())
    }

    /// One cycle: a beat of every lane that has one.
    fn cycle(&mut self, end: bool) -> Result<(), CheckError> {
        self.sink.take(&self.bench)?;
        let mut passed = vec![];
        for lane in &mut self.lanes {
            let beat = lane.beats.pop_front();
            lane.source.drive(&mut self.bench, beat);
            if beat.is_some_and(|beat| beat.last) {
                self.twin.frame(&lane.frame, lane.time, lane.bad);
                passed.extend((!lane.bad).then(|| lane.frame.clone()));
            }
        }
        let mut counted = false;
        for frame in passed {
            let is_next = self.twin.delimiter(&frame, !self.is_draining);
            counted |= is_next;
            self.is_draining |= is_next;
        }
        if end && !counted {
            let event = if self.is_draining { Event::RefusedEnd } else { Event::End(IntervalEnd::Request) };
            self.twin.take(event);
            self.is_draining = true;
        }
        self.bench.set(self.interval_end, u64::from(end));
        Ok(self.bench.tick()?)
    }
}
