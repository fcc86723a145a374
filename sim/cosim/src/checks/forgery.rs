//! Forgery: whole designs with a key, among delimiters of somebody who has not got it.
//!
//! The sender is a program here, or a design in the stream; the enemy knows all of its delimiters, and sends what he likes where he
//! likes. Whatever he sends, no interval ends by it; that is asked of the model at each, and of the hardware by its control frames,
//! which count what was ignored. Genuine ones end intervals, also behind lost ones, restarts and keys that change.

use super::point::{Event, Point};
use super::shell::{Device, End, TAGS, drain};
use crate::error::{CheckError, same};
use crate::stream::Seen;
use crate::twin::Twin;
use deltaline_design::{ClockSource, Design};
use deltaline_model::configuration::Configuration;
use deltaline_model::point::IntervalEnd;
use deltaline_model::registers::{Control, Role as RoleField};
use deltaline_model::time::{AbsoluteTime, TimeBase, Timestamp};
use deltaline_model::wire::authentication::Key;
use deltaline_model::wire::delimiter::{BYTES, Delimiter};
use deltaline_model::wire::frame::Role;
use deltaline_traffic::Frames;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use std::collections::VecDeque;
use std::num::NonZeroU16;
use verilator_sys::Toolchain;

const STAGE: &str = "forgery";
/// Cycles behind an end in which the next tag is certainly not ready.
const HASTE: u64 = 2000;
/// Bits of a delimiter that say which key it names, are reserved, and are its tag.
const SIGNATURE: std::ops::Range<usize> = 8 * 36..8 * 56;

/// Who has the key.
struct Sender {
    configuration: Configuration,
    epoch: u32,
    number: u32,
    key: Key,
    /// And from which number on.
    next_key: Option<(Key, u32)>,
    /// What has ended intervals.
    history: Vec<[u8; BYTES]>,
}

impl Sender {
    fn new(configuration: &Configuration, random: &mut StdRng) -> Self {
        Sender {
            configuration: *configuration,
            epoch: random.random(),
            number: random.random_range(0..20),
            key: any_key(random),
            next_key: None,
            history: vec![],
        }
    }

    /// The next delimiter.
    fn next(&mut self) -> [u8; BYTES] {
        if let Some((key, _)) = self.next_key.take_if(|(_, from)| self.number.wrapping_sub(*from) as i32 >= 0)
        {
            self.key = key;
        }
        let frame = self.of(self.number).signed(&self.key);
        self.number = self.number.wrapping_add(1);
        frame
    }

    fn of(&self, interval: u32) -> Delimiter {
        Delimiter { interval, boot_epoch: self.epoch, ..Delimiter::new(&self.configuration, 0) }
    }
}

fn any_key(random: &mut StdRng) -> Key {
    Key::new(NonZeroU16::MIN.saturating_add(random.random_range(0..u16::MAX)), random.random())
}

/// A delimiter by somebody who has not got the key, and would end the running interval, or lead up to that.
fn hostile(sender: &Sender, random: &mut StdRng) -> [u8; BYTES] {
    let (id, due) = (NonZeroU16::new(sender.key.id()).unwrap_or(NonZeroU16::MIN), sender.number);
    let genuine = sender.of(due).signed(&sender.key);
    let mut frame = genuine;
    match random.random_range(0..9) {
        // Forged: without a key, with any tag, with another key under the same identifier or another one.
        0 => frame = sender.of(due).encode(),
        1 => frame[40..56].copy_from_slice(&random.random::<[u8; 16]>()),
        2 => frame = sender.of(due).signed(&Key::new(id, random.random())),
        3 => frame = sender.of(due).signed(&Key::new(id.saturating_add(1), *sender.key.secret())),
        // Altered in what is signed, or in its tag.
        4 => flip(&mut frame, random.random_range(8 * 16..8 * 40)),
        5 => flip(&mut frame, random.random_range(SIGNATURE)),
        // The tag of the one that is due on one near it.
        6 => frame[20..24].copy_from_slice(&due.wrapping_add(random.random_range(0..6)).to_be_bytes()),
        // Replayed, of any time.
        7 => frame = *sender.history.choose(random).unwrap_or(&[0; BYTES]),
        // Any number near, or far, of any epoch.
        _ => {
            let interval =
                if random.random() { due.wrapping_add(random.random_range(0..4)) } else { random.random() };
            let boot_epoch = if random.random() { sender.epoch } else { random.random() };
            let delimiter = Delimiter { interval, boot_epoch, ..sender.of(0) };
            frame = delimiter.signed(&Key::new(id, random.random()));
        }
    }
    // What changed nothing, or nothing that matters, is left to the genuine one.
    if frame[12..56] == genuine[12..56] { sender.of(due).encode() } else { frame }
}

/// The same with another number, so many ahead.
fn renumbered(frame: &[u8; BYTES], ahead: u32) -> [u8; BYTES] {
    let mut frame = *frame;
    let number = frame[20..24].iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
    frame[20..24].copy_from_slice(&number.wrapping_add(ahead).to_be_bytes());
    frame
}

fn flip(frame: &mut [u8], bit: usize) {
    frame[bit / 8] ^= 0x80 >> (bit % 8);
}

/// A design under simulation, its twin and who sends to it.
struct Scene {
    device: Device,
    point: Point,
    sender: Sender,
    random: StdRng,
    frames: Frames,
    drained: u64,
    /// Cycles from a delimiter to the next at least.
    least: u64,
    /// Delimiters of the enemy.
    hostile: u64,
}

impl Scene {
    fn new(
        toolchain: &Toolchain,
        design: &Design,
        (verilog, lane): (&str, usize),
        seed: u64,
    ) -> Result<Self, CheckError> {
        let mut device = Device::of_lane(toolchain, design, verilog, lane)?;
        match device.bench.port("receiver") {
            // The core of 8 bits has a pin for it.
            Ok(receiver) => device.bench.set(receiver, 1),
            Err(_) => {
                device.registers().write_control(Control::default().with_role(RoleField::Receiver))?;
            }
        }
        let mut random = StdRng::seed_from_u64(seed);
        let sender = Sender::new(design.configuration(), &mut random);
        let mut point = Point::new(design.configuration(), Role::Receiver);
        if design.clock() == ClockSource::TimeOfDay {
            point.model.set_time(Some(AbsoluteTime { base: TimeBase::Tai, seconds: 0 }));
        }
        let drain = if design.stream().width == 8 { design.drain_cycles() as u64 } else { drain(design) };
        let (frames, drained) = (Frames::new(seed), drain + 100);
        Ok(Scene {
            device,
            point,
            sender,
            random,
            frames,
            drained,
            least: design.interval_cycles() as u64,
            hostile: 0,
        })
    }

    /// A key takes effect.
    fn start(&mut self) -> Result<(), CheckError> {
        let key = self.sender.key.clone();
        self.device.give_key(&key, 0)?;
        self.point.model.schedule_key(Some(key), 0);
        self.device.request_interval_end()?;
        self.point.take(Event::End(IntervalEnd::Request));
        self.end()
    }

    fn frame(&mut self, frame: &[u8]) -> Result<(), CheckError> {
        let time = Timestamp(self.random.random());
        self.device.frame(frame, time, false)?;
        self.point.frame(frame, time, false);
        Ok(())
    }

    fn traffic(&mut self) -> Result<(), CheckError> {
        for _ in 0..self.random.random_range(0..8) {
            let frame = self.frames.next_frame();
            self.frame(&frame)?;
        }
        Ok(())
    }

    /// A delimiter of the enemy, which ends nothing.
    fn attack(&mut self, frame: &[u8]) -> Result<(), CheckError> {
        let before = self.point.model.interval();
        self.frame(frame)?;
        self.point.take(Event::Delimiter(frame.into()));
        self.hostile += 1;
        same(
            STAGE,
            self.hostile,
            "running interval behind a hostile delimiter",
            &before,
            &self.point.model.interval(),
        )
    }

    fn attacks(&mut self, count: u64) -> Result<(), CheckError> {
        for _ in 0..count {
            let frame = hostile(&self.sender, &mut self.random);
            self.attack(&frame)?;
            match self.random.random_range(0..16) {
                0 => self.device.idle(self.random.random_range(0..400))?,
                1 => self.device.idle(1)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// A genuine delimiter, once its tag may be known; whether it ended an interval.
    fn genuine(&mut self, frame: &[u8; BYTES]) -> Result<bool, CheckError> {
        self.device.idle(TAGS)?;
        // Whatever stands right in front of it.
        self.traffic()?;
        self.frame(frame)?;
        let due = self.point.frames_due();
        self.point.take(Event::Delimiter(frame.into()));
        let is_end = self.point.frames_due() > due;
        if is_end {
            self.sender.history.push(*frame);
            // Its tag is still known.
            self.attack(&renumbered(frame, 1))?;
        }
        Ok(is_end)
    }

    /// What ends an interval has come: its control frames.
    fn end(&mut self) -> Result<(), CheckError> {
        self.device.idle(self.drained)?;
        self.point.compare_all(STAGE, self.hostile, self.device.sink.take_frames())
    }

    /// Every bit of identifier, reserved bytes and tag.
    fn every_bit(&mut self) -> Result<(), CheckError> {
        let genuine = self.sender.next();
        self.device.idle(TAGS)?;
        for bit in SIGNATURE {
            let mut frame = genuine;
            flip(&mut frame, bit);
            self.attack(&frame)?;
        }
        let is_end = self.genuine(&genuine)?;
        same(STAGE, 0, "the genuine one ends the interval", &true, &is_end)?;
        self.end()
    }

    /// A delimiter whose tag passes while it is that of the one that is due, and whose number is the next one's, in a frame that lasts until that
    /// one is due and its tag is ready.
    fn slow(&mut self) -> Result<(), CheckError> {
        let held_back = self.sender.next();
        self.device.idle(TAGS)?;
        let mut frame = renumbered(&held_back, 1).to_vec();
        frame.resize(2 * BYTES + 1, 0);
        let (time, pause) = (Timestamp(self.random.random()), TAGS + self.drained);
        self.device.frame_around_end(&frame, time, pause)?;
        self.point.take(Event::End(IntervalEnd::Request));
        self.point.frame(&frame, time, false);
        let before = self.point.model.interval();
        self.point.take(Event::Delimiter(frame[..].into()));
        self.hostile += 1;
        same(
            STAGE,
            self.hostile,
            "running interval behind a slow delimiter",
            &before,
            &self.point.model.interval(),
        )?;
        let genuine = self.sender.next();
        let is_end = self.genuine(&genuine)?;
        same(STAGE, 0, "the genuine one ends the interval", &true, &is_end)?;
        self.end()
    }

    /// The due one under a key that is superseded from its interval on, right behind that is said, while a candidate's tag is made.
    fn superseded(&mut self) -> Result<(), CheckError> {
        self.device.idle(TAGS)?;
        let due = self.sender.number;
        let old = self.sender.of(due).signed(&self.sender.key);
        self.attack(&renumbered(&old, 5))?;
        let key = any_key(&mut self.random);
        self.device.give_key(&key, due)?;
        self.point.model.schedule_key(Some(key.clone()), due);
        self.sender.next_key = Some((key, due));
        self.attack(&old)?;
        let genuine = self.sender.next();
        let is_end = self.genuine(&genuine)?;
        same(STAGE, 0, "the genuine one ends the interval", &true, &is_end)?;
        self.end()
    }

    /// Genuine ones, no farther apart than they have to be.
    fn in_haste(&mut self) -> Result<(), CheckError> {
        self.device.idle(TAGS)?;
        for _ in 0..8 {
            let genuine = self.sender.next();
            self.frame(&genuine)?;
            let due = self.point.frames_due();
            self.point.take(Event::Delimiter(genuine.as_slice().into()));
            let is_end = self.point.frames_due() > due;
            same(STAGE, 0, "the genuine one ends the interval", &true, &is_end)?;
            self.end()?;
            self.device.idle(self.least.saturating_sub(self.drained))?;
        }
        Ok(())
    }

    /// Delimiters that come during a drain: before its tag is ready one counts as forged, and behind that its end is refused.
    fn during_a_drain(&mut self) -> Result<(), CheckError> {
        let genuine = self.sender.next();
        let is_end = self.genuine(&genuine)?;
        same(STAGE, 0, "the genuine one ends the interval", &true, &is_end)?;
        let early = self.sender.next();
        self.frame(&early)?;
        self.point.model.doubt_delimiter(&early);
        self.device.idle(TAGS)?;
        self.frame(&early)?;
        let is_refused = self.point.delimiter(&early, false);
        same(STAGE, 0, "the one that is due is refused during a drain", &true, &is_refused)?;
        self.device.idle(self.drained)?;
        let genuine = self.sender.next();
        let is_end = self.genuine(&genuine)?;
        same(STAGE, 0, "the one behind it ends the interval", &true, &is_end)?;
        self.end()
    }

    /// An interval: attacks, and what the sender, the path and software do at its end.
    fn interval(&mut self) -> Result<(), CheckError> {
        self.traffic()?;
        if self.sender.next_key.is_none() && self.random.random_ratio(1, 5) {
            let (key, from) =
                (any_key(&mut self.random), self.sender.number.wrapping_add(self.random.random_range(0..4)));
            // As one that waits cannot be changed.
            if !self.device.registers().status()?.key_pending() {
                self.device.give_key(&key, from)?;
                self.point.model.schedule_key(Some(key.clone()), from);
                self.sender.next_key = Some((key, from));
            }
        }
        let attacks = self.random.random_range(0..50);
        self.attacks(attacks)?;
        let mut frames = vec![self.sender.next()];
        match self.random.random_range(0..20) {
            // The path loses one or more; the second behind them ends the interval.
            0..3 => {
                for _ in 0..self.random.random_range(1..4) {
                    frames = vec![self.sender.next()];
                }
                frames.push(self.sender.next());
            }
            // The sender starts again.
            3 => {
                self.sender.epoch = self.sender.epoch.wrapping_add(self.random.random_range(1..1 << 30));
                self.sender.number = self.random.random();
                if let Some((_, from)) = &self.sender.next_key {
                    self.sender.number = from.wrapping_add(self.random.random_range(0..9)).wrapping_sub(4);
                }
                frames = vec![self.sender.next(), self.sender.next()];
            }
            // Two change places, one comes twice.
            4 => frames.insert(0, self.sender.next()),
            5 => frames.push(frames[0]),
            // An interval by software.
            6 => {
                self.device.request_interval_end()?;
                self.point.take(Event::End(IntervalEnd::Request));
                self.device.idle(self.drained)?;
            }
            _ => {}
        }
        let mut is_end = false;
        for (place, frame) in frames.iter().enumerate() {
            if place == 1 && self.random.random_ratio(1, 3) {
                // The tag of the candidate's successor is known, and tried behind another candidate.
                self.device.idle(TAGS)?;
                self.attack(&renumbered(frame, 6))?;
                self.attack(&renumbered(frame, 7))?;
            }
            is_end = self.genuine(frame)?;
            self.device.idle(self.drained)?;
        }
        if is_end && self.drained < HASTE && self.random.random_ratio(1, 12) {
            // Before its tag is ready: it counts as forged.
            let frame = self.sender.next();
            self.frame(&frame)?;
            self.point.model.doubt_delimiter(&frame);
        }
        self.end()
    }
}

/// A tap, of whose lanes one is driven, among `count` hostile delimiters and more; returns how many there were.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn tap_of(
    toolchain: &Toolchain,
    design: &Design,
    (verilog, lane): (&str, usize),
    count: u64,
    seed: u64,
) -> Result<u64, CheckError> {
    let mut scene = Scene::new(toolchain, design, (verilog, lane), seed)?;
    scene.start()?;
    // The first two genuine ones, of any epoch.
    for ends in [false, true] {
        let frame = scene.sender.next();
        let found = scene.genuine(&frame)?;
        same(STAGE, 0, "the first delimiters with a key", &ends, &found)?;
    }
    scene.end()?;
    scene.every_bit()?;
    scene.slow()?;
    scene.superseded()?;
    scene.in_haste()?;
    if scene.drained > 2 * TAGS {
        scene.during_a_drain()?;
    }
    while scene.hostile < count {
        scene.interval()?;
    }
    Ok(scene.hostile)
}

/// A sender that stands in the stream and a receiver behind it, a design each, and an enemy in front of both: `count` intervals; returns
/// how many hostile delimiters there were.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn segment_of(
    toolchain: &Toolchain,
    (sender, sender_verilog): (&Design, &str),
    (receiver, receiver_verilog): (&Design, &str),
    count: u32,
    seed: u64,
) -> Result<u64, CheckError> {
    let mut a = Device::of(toolchain, sender, sender_verilog)?;
    let mut b = Device::of(toolchain, receiver, receiver_verilog)?;
    let configuration = *sender.configuration();
    let (mut random, mut frames) = (StdRng::seed_from_u64(seed), Frames::new(seed));
    b.registers().write_control(Control::default().with_role(RoleField::Receiver))?;
    let mut ends = [End::new(&configuration, Role::Sender), End::new(&configuration, Role::Receiver)];
    // What the enemy knows of the sender.
    let mut known = Sender { number: 0, ..Sender::new(&configuration, &mut random) };
    a.registers().write_boot_epoch(known.epoch)?;
    ends[0].twin.model.set_boot_epoch(known.epoch);
    let (mut hostile_ones, mut rotates) = (0, true);
    // Of the interval that began last: number, and whether the first delimiters of the epoch have passed.
    for interval in 0..count {
        if rotates {
            let from = interval + random.random_range(0..3) * u32::from(interval > 0);
            let key = any_key(&mut random);
            for (device, end) in [&mut a, &mut b].into_iter().zip(&mut ends) {
                device.give_key(&key, from)?;
                end.twin.model.schedule_key(Some(key.clone()), from);
            }
        }
        let mut given = VecDeque::new();
        for _ in 0..random.random_range(0..20) {
            let is_hostile = interval > 3 && random.random();
            let bytes = if is_hostile { hostile(&known, &mut random).to_vec() } else { frames.next_frame() };
            hostile_ones += u64::from(is_hostile);
            let seen = Seen { bytes, time: Timestamp(random.random()), bad: false };
            a.frame(&seen.bytes, seen.time, false)?;
            given.push_back(seen);
        }
        a.idle(TAGS)?;
        a.request_interval_end()?;
        let longest = drain(sender).max(drain(receiver)) + 1000;
        a.idle(drain(sender) + 400)?;
        if drain(sender) + 400 < HASTE {
            // The next one is not signed yet: it does not go out.
            a.request_interval_end()?;
        }
        a.idle(longest)?;
        let is_lost = interval > 4 && random.random_ratio(1, 10);
        for seen in a.sink.take_seen() {
            let is_given = given.front() == Some(&seen);
            let inserts = !is_given && Delimiter::decode(&seen.bytes).is_ok();
            ends[0].came_out(&seen, &mut given, interval.into())?;
            if inserts {
                // Its own number, whatever the core has met, under the key of that number.
                let (number, model) = (known.number, &ends[0].twin.model);
                let expected = match model.key_of_delimiter(number) {
                    Some(key) => known.of(number).signed(key),
                    None => Delimiter { boot_epoch: 0, ..known.of(number) }.encode(),
                };
                same(STAGE, interval.into(), "inserted delimiter", &&expected[..], &&seen.bytes[..])?;
                known.number += 1;
                b.idle(TAGS)?;
            }
            ends[0].observe(&seen, seen.time);
            if inserts && is_lost {
                continue;
            }
            b.frame(&seen.bytes, seen.time, false)?;
            let due = ends[1].twin.frames_due();
            ends[1].observe(&seen, seen.time);
            if inserts {
                b.idle(longest)?;
                // What has not ended an interval yet is not a replay.
                if ends[1].twin.frames_due() > due {
                    known.history.extend(seen.bytes.first_chunk::<BYTES>().copied());
                }
                for _ in 0..if interval > 3 { random.random_range(0..30) } else { 0 } {
                    let bytes = hostile(&known, &mut random).to_vec();
                    let seen = Seen { bytes, time: Timestamp(random.random()), bad: false };
                    b.frame(&seen.bytes, seen.time, false)?;
                    let before = ends[1].twin.model.interval();
                    ends[1].observe(&seen, seen.time);
                    let behind = ends[1].twin.model.interval();
                    same(STAGE, interval.into(), "interval behind a hostile delimiter", &before, &behind)?;
                    hostile_ones += 1;
                }
            }
        }
        b.idle(longest)?;
        ends[1].found.extend(b.sink.take_frames());
        for end in &mut ends {
            let found = std::mem::take(&mut end.found);
            end.twin.compare_all(STAGE, interval.into(), found)?;
        }
        let waits = a.registers().status()?.key_pending() || b.registers().status()?.key_pending();
        rotates = !waits && random.random_ratio(1, 3);
    }
    // All of the sender's count from the third on, which is the second with its epoch.
    same(STAGE, count.into(), "delimiters that were inserted", &count, &known.number)?;
    same(STAGE, count.into(), "the sender's running interval", &count, &ends[0].twin.model.interval())?;
    Ok(hostile_ones)
}
