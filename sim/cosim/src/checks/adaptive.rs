//! What changes at a boundary: schedules of prefix lengths and of mixings, with packets on their way.
//!
//! A schedule counts for intervals whose `ended` is high in its cycle or later. So the twin takes
//! frames and ends when the hardware shows the boundary, and schedules at once.

use super::pair::udp_frame;
use super::point::{Event, Point};
use crate::error::{CheckError, same};
use crate::hardware::{Hardware, HardwarePoint};
use crate::stream::Beat;
use crate::twin::Twin;
use deltaline_model::configuration::Configuration;
use deltaline_model::point::IntervalEnd;
use deltaline_model::sketch::mixing::Mixing;
use deltaline_model::sketch::sampler::{MAX_BANKS, NO_BANK, Prefixes};
use deltaline_model::time::Timestamp;
use deltaline_model::wire::delimiter::Delimiter;
use deltaline_model::wire::frame::Role;
use deltaline_traffic::Frames;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::VecDeque;
use verilator_sys::Toolchain;

const STAGE: &str = "adaptive";
/// Most cycles from an end that is asked for to what follows from it.
const SETTLED: u64 = 16;

/// What is scheduled, and from which interval on.
#[derive(Clone, Copy)]
enum Schedule {
    /// Prefix lengths as control frames carry them.
    Lengths(u64, u32),
    Mixing(Mixing, u32),
}

/// An adaptive core and its twin.
struct Schedules {
    hardware: HardwarePoint,
    twin: Point,
    /// What the twin has not taken yet.
    events: VecDeque<Event<'static>>,
    /// Beats to come, and the frame behind the last of each.
    beats: VecDeque<(Beat, Option<Vec<u8>>)>,
    configuration: Configuration,
    packets: u64,
    random: StdRng,
}

/// Runs the directed schedules and `count` frames of random traffic under random ones; returns the number of frames.
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
    let hardware = Hardware::of(toolchain, configuration, verilog)?;
    let mut schedules = Schedules {
        hardware: hardware.point(Role::Sender)?,
        twin: Point::new(configuration, Role::Sender),
        events: VecDeque::new(),
        beats: VecDeque::new(),
        configuration: *configuration,
        packets: 0,
        random: StdRng::seed_from_u64(seed),
    };
    if configuration.adaptive() {
        schedules.legality()?;
        schedules.lengths_around_boundaries()?;
    }
    if configuration.has_mixing() {
        schedules.mixings_around_boundaries()?;
    }
    let (mut frames, directed) = (Frames::new(seed), schedules.packets);
    while schedules.packets - directed < count {
        schedules.random_interval(&mut frames)?;
    }
    schedules.reset()?;
    Ok(schedules.packets)
}

impl Schedules {
    /// Number of the running interval.
    fn number(&self) -> u32 {
        self.twin.model.interval()
    }

    /// A frame of the stream, behind what is there already.
    fn offer(&mut self, frame: Vec<u8>) {
        let time = Timestamp(self.random.random());
        let beats: Vec<Beat> = self.hardware.beats(&frame, time, false).collect();
        for beat in beats {
            self.beats.push_back((Beat { timestamp: time.0, ..beat }, beat.last.then(|| frame.clone())));
        }
        self.packets += 1;
    }

    /// One cycle: the next beat if there is one, perhaps an end, perhaps a schedule.
    fn cycle(&mut self, end: bool, schedule: Option<Schedule>) -> Result<(), CheckError> {
        self.show_mixing(match schedule {
            Some(Schedule::Mixing(mixing, from)) => Some((mixing, from)),
            _ => None,
        });
        let schedule = match schedule {
            Some(Schedule::Lengths(lengths, from)) => Some((lengths, from)),
            _ => None,
        };
        let legal = schedule.map(|(lengths, from)| {
            let bytes = lengths.to_be_bytes();
            let used = &bytes[..self.configuration.prefixes().banks()];
            let prefixes = Prefixes::new(used).ok().filter(|prefixes| prefixes.to_bytes() == bytes);
            prefixes.is_some_and(|prefixes| self.twin.model.schedule_prefixes(prefixes, from).is_ok())
        });
        let (lengths, from) = schedule.unwrap_or((self.random.random(), self.random.random()));
        self.hardware.set_schedule(schedule.is_some(), lengths, from);
        self.tell_twin()?;
        let beat = self.beats.pop_front();
        if let Some((Beat { timestamp, .. }, Some(frame))) = &beat {
            self.events.push_back(Event::Frame(frame.clone().into(), Timestamp(*timestamp)));
            if Delimiter::of(&self.configuration, frame).is_some() {
                self.events.push_back(Event::Delimiter(frame.clone().into()));
            }
        }
        if end {
            self.events.push_back(Event::End(IntervalEnd::Request));
        }
        self.hardware.set_interval_end(end);
        match beat {
            Some((beat, _)) => self.hardware.beat(beat)?,
            None => self.hardware.tick()?,
        }
        self.hardware.set_interval_end(false);
        if let Some(legal) = legal {
            same(STAGE, self.packets, "schedule_legal", &legal, &self.hardware.schedule_is_legal())?;
        }
        Ok(())
    }

    /// Schedules a mixing, unless one waits, or shows any that is not to be taken.
    fn show_mixing(&mut self, schedule: Option<(Mixing, u32)>) {
        self.hardware.set_mixing_strobe(false);
        if self.hardware.mixing_is_pending() {
            return;
        }
        let anything = Mixing::from_parts(self.random.random(), self.random.random(), self.random.random());
        let (mixing, from) = schedule.unwrap_or((anything, self.number()));
        self.hardware.set_mixing(&mixing, from);
        if schedule.is_some() {
            // Refused by twin and core alike where there is none.
            let _ = self.twin.model.schedule_mixing(mixing, from);
            self.hardware.set_mixing_strobe(true);
        }
    }

    /// If an interval ends with the cycle to come, or an end is refused: all that came before, and the end.
    fn tell_twin(&mut self) -> Result<(), CheckError> {
        let (ends, refuses) = (self.hardware.ends(), self.hardware.refuses());
        if !ends && !refuses {
            return Ok(());
        }
        while let Some(event) = self.events.pop_front() {
            let is_end = match &event {
                Event::Delimiter(frame) => self.twin.delimiter(frame, ends),
                Event::Frame(..) => {
                    self.twin.take(event);
                    false
                }
                _ => {
                    self.twin.take(if refuses { Event::RefusedEnd } else { event });
                    true
                }
            };
            if is_end {
                if ends {
                    self.hardware.expect_interval();
                }
                return Ok(());
            }
        }
        same(STAGE, self.packets, "an end that was not asked for", &false, &true)
    }

    /// Lets all come out, and compares control frames and what still waits.
    fn compare(&mut self) -> Result<(), CheckError> {
        while !self.beats.is_empty() {
            self.cycle(false, None)?;
        }
        for _ in 0..SETTLED {
            self.cycle(false, None)?;
        }
        self.hardware.set_schedule(false, 0, 0);
        self.hardware.set_mixing_strobe(false);
        self.hardware.wait_for_frames()?;
        for event in std::mem::take(&mut self.events) {
            match event {
                Event::Frame(..) => self.twin.take(event),
                Event::Delimiter(frame) => {
                    let ends = self.twin.delimiter(&frame, true);
                    same(STAGE, self.packets, "the end of a delimiter that was due", &false, &ends)?;
                }
                _ => same(STAGE, self.packets, "an end that never came", &false, &true)?,
            }
        }
        let found = self.hardware.take_frames();
        self.twin.compare_all(STAGE, self.packets, found)?;
        let waits = self.twin.model.scheduled().is_some();
        same(STAGE, self.packets, "schedule_pending", &waits, &self.hardware.schedule_is_pending())?;
        let waits = self.twin.model.scheduled_mixing().is_some();
        same(STAGE, self.packets, "mixing_pending", &waits, &self.hardware.mixing_is_pending())
    }

    /// Each length alone and beside each other in every bank, no bank and too many: legal ones are taken, and show at
    /// the next boundary but one; the others change nothing.
    fn legality(&mut self) -> Result<(), CheckError> {
        let banks = self.configuration.prefixes().banks();
        let sound = Prefixes::new(&[3, 7, 9, 11][..banks]).map_or([0; MAX_BANKS], |sound| sound.to_bytes());
        for bank in 0..MAX_BANKS {
            for length in (0..=20).chain([32, 64, 128, 0x83, 0xf0, 0xfe, 0xff]) {
                let mut lengths = sound;
                lengths[bank] = length;
                self.cycle(false, Some(Schedule::Lengths(u64::from_be_bytes(lengths), 1 << 30)))?;
            }
        }
        self.compare()?;
        for first in 0..=17u8 {
            for second in 0..=17u8 {
                let mut lengths = sound;
                lengths[..banks.min(2)].copy_from_slice(&[first, second][..banks.min(2)]);
                let from = self.number();
                self.cycle(false, Some(Schedule::Lengths(u64::from_be_bytes(lengths), from)))?;
                if first % 4 == 0 || second == 16 {
                    self.offer(udp_frame(u32::from(first), 60));
                    self.cycle(true, None)?;
                    self.compare()?;
                }
            }
        }
        self.cycle(true, None)?;
        self.compare()
    }

    /// Lengths that turn sampling of all packets into sampling of next to none, or back: every single packet shows its
    /// lengths.
    fn lengths_around_boundaries(&mut self) -> Result<(), CheckError> {
        let banks = self.configuration.prefixes().banks();
        let word = |lengths: &[u8]| {
            let mut bytes = [NO_BANK; MAX_BANKS];
            bytes[..banks].copy_from_slice(&lengths[..banks]);
            u64::from_be_bytes(bytes)
        };
        let (all, none) = (word(&[0, 1, 2, 3]), word(&[13, 14, 15, 16]));
        self.around_boundaries([none, all].map(|lengths| move |from| Schedule::Lengths(lengths, from)))
    }

    /// Mixings, the own one among them: most packets show theirs, since few have the same row under two.
    fn mixings_around_boundaries(&mut self) -> Result<(), CheckError> {
        let mixings = [Mixing::new(&[1; 16]), Mixing::new(&[2; 16]), Mixing::from_parts(3, 3, 0)];
        self.around_boundaries(mixings.map(|mixing| move |from| Schedule::Mixing(mixing, from)))
    }

    /// Frames without a gap, a boundary at each beat of two of them, one of the schedules after the other in each cycle around it.
    fn around_boundaries<const N: usize>(
        &mut self,
        schedules: [impl Fn(u32) -> Schedule; N],
    ) -> Result<(), CheckError> {
        let beats = udp_frame(0, 60).len().div_ceil(self.hardware.beat_bytes());
        let mut schedules = schedules.iter().cycle();
        for position in 0..2 * beats {
            for distance in 0..2 * SETTLED {
                // From this interval on, one too early, one too late.
                for ahead in [1, 1, 0, 2] {
                    for number in 0..(4 * SETTLED).div_ceil(beats as u64) + 4 {
                        self.offer(udp_frame(number as u32, 60));
                    }
                    let (start, from) = (SETTLED + position as u64, self.number().wrapping_add(ahead));
                    let Some(next) = schedules.next() else { return Ok(()) };
                    for cycle in 0..3 * SETTLED + 2 * beats as u64 {
                        let now = cycle + SETTLED == start + distance;
                        self.cycle(cycle == start, now.then(|| next(from)))?;
                    }
                    self.compare()?;
                }
            }
        }
        self.cycle(true, None)?;
        self.compare()
    }

    /// A number near the running interval's, mostly.
    fn any_from(&mut self) -> u32 {
        match self.random.random_range(0..8) {
            0 => self.random.random(),
            1 => self.number().wrapping_add(1 << 31).wrapping_add(self.random.random_range(0..3)),
            _ => self.number().wrapping_add(self.random.random_range(0..5)).wrapping_sub(1),
        }
    }

    /// A mixing, sometimes the own one, or lengths.
    fn any_schedule(&mut self) -> Schedule {
        let from = self.any_from();
        if self.configuration.has_mixing() && self.random.random() {
            let id = if self.random.random_ratio(1, 4) { 0 } else { self.random.random() };
            return Schedule::Mixing(
                Mixing::from_parts(self.random.random(), self.random.random(), id),
                from,
            );
        }
        Schedule::Lengths(self.any_lengths(), from)
    }

    /// Lengths, legal in most cases.
    fn any_lengths(&mut self) -> u64 {
        let mut bytes = [NO_BANK; MAX_BANKS];
        let mut length = 0;
        for byte in &mut bytes[..self.configuration.prefixes().banks()] {
            length += self.random.random_range(0..6);
            *byte = length;
            length += 1;
        }
        if self.random.random_ratio(1, 8) {
            bytes[self.random.random_range(0..MAX_BANKS)] = self.random.random();
        }
        u64::from_be_bytes(bytes)
    }

    /// Traffic of every kind under schedules at any time, ended by a request or by delimiters of any number, some of
    /// which come during a drain and are refused.
    fn random_interval(&mut self, frames: &mut Frames) -> Result<(), CheckError> {
        let often = [20, 200, 2000][self.random.random_range(0..3)];
        for _ in 0..self.random.random_range(1..200) {
            let frame = frames.next_frame();
            self.offer(frame);
        }
        let ends = self.random.random_range(1..4);
        for end in 0..ends {
            let number = match self.random.random_range(0..4) {
                0 => self.random.random(),
                1 => u32::MAX - self.random.random_range(0..2),
                _ => self.number().wrapping_add(self.random.random_range(0..3)),
            };
            let by_request: bool = self.random.random();
            if !by_request {
                self.offer(Delimiter::new(&self.configuration, number).encode().to_vec());
            }
            while self.beats.len() > end * 8 {
                let schedule = self.random.random_ratio(1, often);
                let schedule = schedule.then(|| self.any_schedule());
                self.cycle(false, schedule)?;
            }
            if by_request {
                // An end that is asked for with a delimiter is the delimiter's: one end, not two.
                while self.front_is_delimiter() {
                    self.cycle(false, None)?;
                }
                self.cycle(true, None)?;
            }
            if self.random.random() {
                self.compare()?;
            }
        }
        self.compare()
    }

    /// Whether the beat to come is the last of a delimiter.
    fn front_is_delimiter(&self) -> bool {
        let frame = self.beats.front().and_then(|(_, frame)| frame.as_ref());
        frame.is_some_and(|frame| Delimiter::of(&self.configuration, frame).is_some())
    }

    /// A reset: the configuration's lengths again, and nothing waits.
    fn reset(&mut self) -> Result<(), CheckError> {
        let (lengths, from) = (self.any_lengths(), self.number());
        self.cycle(true, Some(Schedule::Lengths(lengths, from)))?;
        self.compare()?;
        let ahead = self.number().wrapping_add(9);
        self.cycle(false, Some(Schedule::Mixing(Mixing::new(&[5; 16]), from)))?;
        self.cycle(true, Some(Schedule::Lengths(lengths, ahead)))?;
        self.compare()?;
        self.cycle(false, Some(Schedule::Mixing(Mixing::new(&[6; 16]), ahead)))?;
        self.cycle(false, Some(Schedule::Lengths(lengths, ahead)))?;
        self.hardware.set_schedule(false, 0, 0);
        self.hardware.set_mixing_strobe(false);
        self.hardware.restart()?;
        self.twin = Point::new(&self.configuration, Role::Sender);
        self.hardware.start()?;
        for interval in 0..12 {
            self.offer(udp_frame(interval, 60));
            while !self.beats.is_empty() {
                self.cycle(false, None)?;
            }
            self.cycle(true, None)?;
            self.compare()?;
        }
        Ok(())
    }
}
