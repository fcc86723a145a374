//! Byte core with authentication: frames, interval ends and keys in, authenticated control frames out.
//!
//! What the core does without a key, [`super::byte`] checks.

use super::point::{Event, Point};
use super::shell::{Device, TAGS};
use crate::error::{CheckError, same};
use crate::twin::Twin;
use deltaline_design::Design;
use deltaline_model::point::IntervalEnd;
use deltaline_model::registers::{Status, offset};
use deltaline_model::time::Timestamp;
use deltaline_model::wire::authentication::Key;
use deltaline_model::wire::delimiter::Delimiter;
use deltaline_model::wire::frame::Role;
use deltaline_traffic::Frames;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::num::NonZeroU16;
use verilator_sys::Toolchain;

const STAGE: &str = "byte core with authentication";
/// Codes of answers: taken, refused.
const OKAY: u64 = 0;
const SLAVE_ERROR: u64 = 2;
/// The registers that are written, with the highest value that each takes.
const WRITTEN: [(u32, u64); 8] = [
    (offset::BOOT_EPOCH, 0xffff_ffff),
    (offset::KEY_LOW, 0xffff_ffff),
    (offset::KEY_LOW + 4, 0xffff_ffff),
    (offset::KEY_HIGH, 0xffff_ffff),
    (offset::KEY_HIGH + 4, 0xffff_ffff),
    (offset::KEY_ID, 0xffff),
    (offset::KEY_FROM, 0xffff_ffff),
    (offset::KEY_SCHEDULE, 1),
];
/// Those that a waiting key locks.
const LOCKED: std::ops::Range<usize> = 1..6;

struct Pair {
    device: Device,
    point: Point,
    frames: Frames,
    random: StdRng,
    /// What the registers hold.
    key: (Option<NonZeroU16>, [u8; 16]),
    from: u32,
    packets: u64,
    /// Cycles that a drain takes at most.
    drain: u64,
}

/// Runs `count` intervals in each role, and what is directed; returns the number of control frames with a tag.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn check(
    toolchain: &Toolchain,
    design: &Design,
    verilog: &str,
    count: u64,
    seed: u64,
) -> Result<u64, CheckError> {
    let mut signed = 0;
    for (role, seed) in [(Role::Sender, seed), (Role::Receiver, !seed)] {
        let device = Device::of(toolchain, design, verilog)?;
        let mut pair = Pair {
            point: Point::new(design.configuration(), role),
            device,
            frames: Frames::new(seed),
            random: StdRng::seed_from_u64(seed),
            key: (None, [0; 16]),
            from: 0,
            packets: 0,
            drain: design.drain_cycles() as u64,
        };
        pair.device.bench.set(pair.device.bench.port("receiver")?, role as u64);
        pair.accesses()?;
        for interval in 0..count {
            signed += pair.interval(interval)?;
        }
        pair.length()?;
        pair.writes_behind_an_end()?;
        for _ in 0..4 {
            pair.reset(role, design)?;
            signed += pair.interval(0)? + pair.interval(1)?;
        }
    }
    Ok(signed)
}

impl Pair {
    fn write(&mut self, register: u32, value: u32) -> Result<(), CheckError> {
        let (code, _) = self.device.access(Some(value.into()), register.into())?;
        same(STAGE, register.into(), "answer to a write", &OKAY, &code)
    }

    fn write_both(&mut self, register: u32, value: u64) -> Result<(), CheckError> {
        self.write(register, value as u32)?;
        self.write(register + 4, (value >> 32) as u32)
    }

    fn is_pending(&mut self) -> Result<bool, CheckError> {
        let (code, status) = self.device.access(None, offset::STATUS.into())?;
        same(STAGE, self.packets, "answer to a read of status", &OKAY, &code)?;
        let status = Status(status as u32);
        let others = status.0 & !Status::KEY_PENDING;
        same(STAGE, self.packets, "other bits of status", &0, &others)?;
        Ok(status.key_pending())
    }

    fn set_epoch(&mut self) -> Result<(), CheckError> {
        let epoch = self.random.random();
        self.write(offset::BOOT_EPOCH, epoch)?;
        self.point.model.set_boot_epoch(epoch);
        Ok(())
    }

    /// Schedules what is in the registers.
    fn schedule(&mut self, from: u32) -> Result<(), CheckError> {
        self.write(offset::KEY_FROM, from)?;
        self.write(offset::KEY_SCHEDULE, 1)?;
        self.from = from;
        let (id, secret) = self.key;
        self.point.model.schedule_key(id.map(|id| Key::new(id, secret)), from);
        same(STAGE, from.into(), "key_pending", &true, &self.is_pending()?)
    }

    /// Another key, one of four times none; sometimes only its identifier is another.
    fn next_key(&mut self) -> Result<(), CheckError> {
        self.key.0 = NonZeroU16::new(self.random.random()).filter(|_| self.random.random_ratio(3, 4));
        self.write(offset::KEY_ID, self.key.0.map_or(0, NonZeroU16::get).into())?;
        if self.random.random_ratio(3, 4) {
            let key: u128 = self.random.random();
            self.key.1 = key.to_le_bytes();
            self.write_both(offset::KEY_LOW, key as u64)?;
            self.write_both(offset::KEY_HIGH, (key >> 64) as u64)?;
        }
        Ok(())
    }

    /// What is written and read elsewhere, or otherwise, is refused and changes nothing; nothing shows the key.
    fn accesses(&mut self) -> Result<(), CheckError> {
        self.set_epoch()?;
        self.next_key()?;
        for pending in [false, true] {
            for address in (0..0x200).chain([0x2a8, 0x4b8, 0xfff]) {
                if address != offset::STATUS {
                    let (code, data) = self.device.access(None, address.into())?;
                    same(STAGE, address.into(), "answer to a read", &(SLAVE_ERROR, 0), &(code, data))?;
                }
                let place = WRITTEN.iter().position(|(register, _)| *register == address);
                let illegal = match place.map(|place| (place, WRITTEN[place].1)) {
                    None => self.random.random::<u32>().into(),
                    Some((place, _)) if pending && LOCKED.contains(&place) => 1,
                    Some((_, 0xffff_ffff)) => continue,
                    Some((_, highest)) => (highest + 1) << self.random.random_range(0..16),
                };
                let (code, _) = self.device.access(Some(illegal), address.into())?;
                same(STAGE, address.into(), "answer to a write", &SLAVE_ERROR, &code)?;
            }
            // Not all four bytes.
            for strobes in 0..15 {
                for (register, _) in WRITTEN {
                    let code = self.device.write_some(1, register.into(), strobes)?;
                    same(STAGE, register.into(), "answer to a write of some bytes", &SLAVE_ERROR, &code)?;
                }
            }
            // Taken, without effect.
            self.write(offset::KEY_SCHEDULE, 0)?;
            same(STAGE, 0, "key_pending", &pending, &self.is_pending()?)?;
            if !pending {
                self.schedule(2)?;
            }
        }
        Ok(())
    }

    /// Traffic, and an end by the pin or by a delimiter.
    fn traffic(&mut self) -> Result<(), CheckError> {
        for _ in 0..self.random.random_range(0..40) {
            let (frame, bad) = (self.frames.next_frame(), self.random.random_ratio(1, 16));
            let time = Timestamp(self.random.random());
            self.device.frame(&frame, time, bad)?;
            self.point.frame(&frame, time, bad);
            self.packets += 1;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), CheckError> {
        if self.random.random() {
            let number = self.point.model.interval();
            let delimiter = Delimiter::new(self.point.model.configuration(), number);
            let key = self.point.model.key_of_delimiter(number).cloned();
            // With a key one without a tag ends nothing.
            let delimiter = match key.filter(|_| self.random.random_ratio(3, 4)) {
                Some(key) => {
                    self.device.idle(TAGS)?;
                    delimiter.signed(&key)
                }
                None => delimiter.encode(),
            };
            self.device.frame(&delimiter, Timestamp(0), false)?;
            self.point.frame(&delimiter, Timestamp(0), false);
            self.point.take(Event::Delimiter(delimiter.as_slice().into()));
        }
        if self.point.frames_due() == 0 {
            self.device.request_interval_end()?;
            self.point.take(Event::End(IntervalEnd::Request));
        }
        Ok(())
    }

    /// Waits for the control frames that are due, and compares; how many of them have a tag.
    fn compare(&mut self) -> Result<u64, CheckError> {
        let patience = self.device.cycles + 2 * self.drain + 1000;
        let mut found = vec![];
        while found.len() < self.point.frames_due() && self.device.cycles < patience {
            self.device.idle(16)?;
            found.extend(self.device.sink.take_frames());
        }
        self.device.idle(64)?;
        found.extend(self.device.sink.take_frames());
        let signed = found.iter().filter(|frame| frame.get(124..126).is_some_and(|key| key != [0, 0]));
        let signed = signed.count() as u64;
        self.point.compare_all(STAGE, self.packets, found)?;
        Ok(signed)
    }

    /// Traffic, a key that is scheduled at some time for some interval, an end, and its control frames.
    fn interval(&mut self, number: u64) -> Result<u64, CheckError> {
        let pressure = (number % 3 == 2).then(|| StdRng::seed_from_u64(self.random.random()));
        self.device.press(pressure);
        self.traffic()?;
        let schedules = !self.is_pending()?;
        let running = self.point.model.interval();
        // Its interval is behind, this one, the next ones, or half the numbers away.
        let distance =
            [0, 1, 2, 3, u32::MAX, 1 << 31, (1 << 31) + 1, (1 << 31) + 2][self.random.random_range(0..8)];
        let early: bool = self.random.random();
        if schedules {
            self.next_key()?;
            if early {
                self.schedule(running.wrapping_add(distance))?;
            }
        }
        if self.random.random() {
            self.set_epoch()?;
        }
        self.end()?;
        if !early {
            // Behind the copy, while the frames are sent with what was there.
            self.device.idle(200)?;
            self.set_epoch()?;
            if schedules {
                self.schedule(running.wrapping_add(distance))?;
            }
        }
        let signed = self.compare()?;
        // What waits for an interval that is far away is scheduled anew.
        if self.is_pending()? && (self.from.wrapping_sub(running) > 8) {
            let near = self.point.model.interval().wrapping_add(1);
            self.schedule(near)?;
        }
        Ok(signed)
    }

    /// A key that is there.
    fn some_key(&mut self) -> Result<(), CheckError> {
        loop {
            if !self.is_pending()? {
                self.next_key()?;
                if self.key.0.is_some() {
                    let running = self.point.model.interval();
                    return self.schedule(running);
                }
            } else {
                self.schedule(self.point.model.interval())?;
                self.end()?;
                self.compare()?;
            }
        }
    }

    /// With a key a drain takes what the design says, and up to that an end is refused.
    fn length(&mut self) -> Result<(), CheckError> {
        self.some_key()?;
        self.device.press(None);
        self.end()?;
        self.compare()?;
        let mut length = self.drain - self.drain / 16;
        let mut is_over = false;
        while !is_over && length <= self.drain {
            self.device.request_interval_end()?;
            self.point.take(Event::End(IntervalEnd::Request));
            let start = self.device.cycles;
            while self.device.cycles < start + length {
                self.device.cycle()?;
            }
            self.device.request_interval_end()?;
            let frames = self.device.sink.take_frames();
            is_over = frames.len() == self.point.frames_due();
            self.point.compare_first(STAGE, self.packets, frames)?;
            self.point.take(if is_over { Event::End(IntervalEnd::Request) } else { Event::RefusedEnd });
            self.compare()?;
            length += self.drain / 64;
        }
        same(STAGE, length, "a drain takes what the design says, less a sixteenth at most", &true, &is_over)
    }

    /// Registers that are written while the key is copied: an epoch counts for the frames that are due, the key's interval does not
    /// matter any more.
    fn writes_behind_an_end(&mut self) -> Result<(), CheckError> {
        self.device.press(None);
        for behind in 14..24 {
            self.some_key()?;
            let before = self.point.model.interval();
            self.device.request_interval_end()?;
            let start = self.device.cycles;
            while self.device.cycles < start + behind {
                self.device.cycle()?;
            }
            if behind % 2 == 0 {
                self.set_epoch()?;
            } else {
                self.write(offset::KEY_FROM, before.wrapping_add(9))?;
            }
            self.point.take(Event::End(IntervalEnd::Request));
            self.compare()?;
            same(STAGE, behind, "key_pending", &false, &self.is_pending()?)?;
        }
        Ok(())
    }

    /// A reset anywhere in a drain: no key, no epoch.
    fn reset(&mut self, role: Role, design: &Design) -> Result<(), CheckError> {
        self.some_key()?;
        self.end()?;
        let cycles = self.random.random_range(0..self.drain);
        self.device.idle(cycles)?;
        self.device.restart()?;
        self.point = Point::new(design.configuration(), role);
        self.key = (None, [0; 16]);
        same(STAGE, self.packets, "key_pending", &false, &self.is_pending()?)?;
        for _ in 0..2 {
            self.device.request_interval_end()?;
            self.point.take(Event::End(IntervalEnd::Request));
            let signed = self.compare()?;
            same(STAGE, self.packets, "frames with a tag behind a reset", &0, &signed)?;
            // What the registers hold by now: nothing, of identifier zero.
            self.schedule(0)?;
        }
        self.end()?;
        self.compare()?;
        Ok(())
    }
}
