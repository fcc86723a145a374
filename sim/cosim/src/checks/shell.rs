//! Shells: whole designs, through the ports that a user has.
//!
//! A tap is driven through its registers; a sender that stands in the stream is followed by a receiver that watches
//! what comes out of it. The model observes the same frames with the same timestamps.

use super::point::{Event, Point};
use crate::bench::Bench;
use crate::error::{CheckError, HardwareError, same};
use crate::stream::{Beat, Carries, Seen, Sink, Source, beats};
use crate::twin::Twin;
use deltaline_design::Design;
use deltaline_design::{ClockSource, Shell};
use deltaline_model::configuration::Configuration;
use deltaline_model::point::IntervalEnd;
use deltaline_model::registers::{
    Bus, ClockCommand, Control, IntervalSource, Registers, Role as RoleField, offset,
};
use deltaline_model::sketch::mixing::Mixing;
use deltaline_model::sketch::sampler::{MAX_BANKS, NO_BANK, Prefixes};
use deltaline_model::time::{AbsoluteTime, TimeBase, TimeOfDay, Timestamp};
use deltaline_model::wire::authentication::Key;
use deltaline_model::wire::delimiter::Delimiter;
use deltaline_model::wire::frame::{ETHERTYPE, Role};
use deltaline_model::wire::reference::Reference;
use deltaline_traffic::Frames;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::VecDeque;
use std::num::NonZeroU16;
use verilator_sys::{Port, Toolchain};

const STAGE: &str = "shell";
/// The code of a refused access.
const SLAVE_ERROR: u64 = 2;
/// Cycles in which all tags of delimiters are made anew.
pub(super) const TAGS: u64 = 3 * 2100;
/// A pin that asks for ends all the time.
enum Storm {
    Held,
    Toggled,
    Random(Box<StdRng>),
}

impl Storm {
    fn asks(&mut self, cycle: u64) -> bool {
        match self {
            Storm::Held => true,
            Storm::Toggled => cycle.is_multiple_of(2),
            Storm::Random(random) => random.random_ratio(1, 3),
        }
    }
}

/// A design under Verilator, with a master on s_axil.
pub(super) struct Device {
    pub(super) bench: Bench,
    source: Source,
    pub(super) sink: Sink,
    interval_end: Port,
    running: Port,
    /// Whether, and how, m_axis is stalled.
    pressure: Option<StdRng>,
    /// Who drives `interval_end` in every cycle, if anybody does.
    storm: Option<Storm>,
    /// Where reference packets are told of, and number and delay of those so far.
    reference: Option<[Port; 3]>,
    references: Vec<(u64, u64)>,
    /// The clock's port and its time but for the fraction, which counts cycles; and when each frame that left m_axis began to, by it.
    clock: Option<(Port, u64)>,
    begun: Vec<Timestamp>,
    pub(super) cycles: u64,
}

impl Device {
    /// Of a design whose Verilog is this.
    pub(super) fn of(toolchain: &Toolchain, design: &Design, verilog: &str) -> Result<Self, CheckError> {
        // One lane of several is enough here: `lanes` checks the others.
        Self::of_lane(toolchain, design, verilog, 0)
    }

    /// The same; of several lanes this one is driven.
    pub(super) fn of_lane(
        toolchain: &Toolchain,
        design: &Design,
        verilog: &str,
        lane: usize,
    ) -> Result<Self, CheckError> {
        let mut bench = Bench::new(toolchain, "deltaline", verilog)?;
        let source =
            Source::of(&bench, "s_axis_").or_else(|_| Source::of(&bench, &format!("s{lane}_axis_")))?;
        let carries = match design.shell() {
            Shell::Tap => {
                source.set_ready(&mut bench, true);
                Carries::ControlFrames
            }
            Shell::Inline => Carries::Traffic,
        };
        let sink = Sink::of(&bench, "m_axis_", carries)?;
        sink.set_ready(&mut bench, true);
        if let Ok(locked) = bench.port("ptp_locked") {
            bench.set(locked, 1);
        }
        let (interval_end, running) = (bench.port("interval_end")?, bench.port("running")?);
        let reference = design.references().then(|| {
            let port = |name| bench.port(&format!("reference_{name}"));
            Ok::<_, HardwareError>([port("there")?, port("number")?, port("delay")?])
        });
        let reference = reference.transpose()?;
        let (pressure, storm, clock, cycles) = (None, None, None, 0);
        let (references, begun) = (vec![], vec![]);
        let mut device = Device {
            bench,
            source,
            sink,
            interval_end,
            running,
            pressure,
            storm,
            reference,
            references,
            clock,
            begun,
            cycles,
        };
        device.start()?;
        Ok(device)
    }

    /// Waits until the core counts.
    fn start(&mut self) -> Result<(), CheckError> {
        for _ in 0..20_000 {
            if self.bench.get(self.running) == 1 {
                return Ok(());
            }
            self.cycle()?;
        }
        same(STAGE, 0, "running", &1, &self.bench.get(self.running))
    }

    /// Resets it, whatever it does, and waits until it counts again.
    pub(super) fn restart(&mut self) -> Result<(), CheckError> {
        self.source.rest(&mut self.bench);
        self.bench.reset()?;
        self.sink.clear();
        self.start()
    }

    /// Raises interval_end for one cycle.
    pub(super) fn request_interval_end(&mut self) -> Result<(), CheckError> {
        self.bench.set(self.interval_end, 1);
        self.cycle()?;
        self.bench.set(self.interval_end, 0);
        Ok(())
    }

    /// Stalls m_axis so, or not any more.
    pub(super) fn press(&mut self, pressure: Option<StdRng>) {
        self.sink.set_ready(&mut self.bench, true);
        self.pressure = pressure;
    }

    /// One clock cycle; a beat that m_axis hands over joins its frame.
    pub(super) fn cycle(&mut self) -> Result<(), CheckError> {
        if let Some(random) = &mut self.pressure {
            self.sink.set_ready(&mut self.bench, random.random_ratio(2, 3));
        }
        if let Some(storm) = &mut self.storm {
            self.bench.set(self.interval_end, storm.asks(self.cycles).into());
        }
        let before = self.sink.progress();
        if let Some((port, time)) = self.clock {
            self.bench.set(port, time | self.cycles & 0xffff);
        }
        self.sink.take(&self.bench)?;
        if let Some((port, _)) = self.clock.filter(|_| before.1 == 0 && self.sink.progress() != before) {
            self.begun.push(Timestamp(self.bench.get(port)));
        }
        if let Some([there, number, delay]) = self.reference
            && self.bench.get(there) == 1
        {
            self.references.push((self.bench.get(number), self.bench.get(delay)));
        }
        self.bench.tick()?;
        self.cycles += 1;
        Ok(())
    }

    /// Offers a beat until it is taken.
    fn offer(&mut self, beat: Beat) -> Result<(), CheckError> {
        self.source.offer(&mut self.bench, beat);
        let patience = self.cycles + 4000;
        while !self.source.is_ready(&self.bench) {
            same(STAGE, self.cycles, "s_axis_tready stays low", &true, &(self.cycles < patience))?;
            self.cycle()?;
        }
        self.cycle()?;
        self.source.rest(&mut self.bench);
        Ok(())
    }

    pub(super) fn frame(&mut self, frame: &[u8], time: Timestamp, bad: bool) -> Result<(), CheckError> {
        beats(self.source.beat_bytes(), frame, time, bad).try_for_each(|beat| self.offer(beat))
    }

    /// A sound frame that stops for so many cycles once its first 64 bytes are there, in which an end is asked for.
    pub(super) fn frame_around_end(
        &mut self,
        frame: &[u8],
        time: Timestamp,
        pause: u64,
    ) -> Result<(), CheckError> {
        let octets = self.source.beat_bytes();
        for (place, beat) in beats(octets, frame, time, false).enumerate() {
            if place * octets == 64 {
                self.request_interval_end()?;
                self.idle(pause)?;
            }
            self.offer(beat)?;
        }
        Ok(())
    }

    pub(super) fn idle(&mut self, cycles: u64) -> Result<(), CheckError> {
        self.source.drive(&mut self.bench, None);
        (0..cycles).try_for_each(|_| self.cycle())
    }

    /// A write of some of a word's bytes on s_axil; the answer's code.
    pub(super) fn write_some(&mut self, data: u64, address: u64, strobes: u64) -> Result<u64, CheckError> {
        Ok(self.transfer(Some((data, strobes)), address)?.0)
    }

    /// An access on s_axil; the answer's code, and the data of a read.
    pub(super) fn access(&mut self, write: Option<u64>, address: u64) -> Result<(u64, u64), CheckError> {
        self.transfer(write.map(|data| (data, 0xf)), address)
    }

    fn transfer(&mut self, write: Option<(u64, u64)>, address: u64) -> Result<(u64, u64), CheckError> {
        let port = |bench: &Bench, name: &str| bench.port(&format!("s_axil_{name}"));
        let requests: &[&str] = if write.is_some() { &["aw", "w"] } else { &["ar"] };
        let answer = if write.is_some() { "b" } else { "r" };
        let address_port = if write.is_some() { "awaddr" } else { "araddr" };
        self.bench.set(port(&self.bench, address_port)?, address);
        if let Some((data, strobes)) = write {
            self.bench.set(port(&self.bench, "wdata")?, data);
            self.bench.set(port(&self.bench, "wstrb")?, strobes);
        }
        let mut waiting = vec![];
        for request in requests {
            let valid = port(&self.bench, &format!("{request}valid"))?;
            self.bench.set(valid, 1);
            waiting.push((valid, port(&self.bench, &format!("{request}ready"))?));
        }
        let (valid, ready) =
            (port(&self.bench, &format!("{answer}valid"))?, port(&self.bench, &format!("{answer}ready"))?);
        let code = port(&self.bench, &format!("{answer}resp"))?;
        self.bench.set(ready, 1);
        for _ in 0..64 {
            let taken: Vec<Port> = waiting
                .iter()
                .filter(|(_, ready)| self.bench.get(*ready) == 1)
                .map(|(valid, _)| *valid)
                .collect();
            let answered = self.bench.get(valid) == 1;
            let code = self.bench.get(code);
            let data = if write.is_none() { self.bench.get(port(&self.bench, "rdata")?) } else { 0 };
            self.cycle()?;
            for valid in taken {
                self.bench.set(valid, 0);
                waiting.retain(|(other, _)| *other != valid);
            }
            if answered {
                self.bench.set(ready, 0);
                return Ok((code, data));
            }
        }
        same(STAGE, address, "answer of s_axil within 64 cycles", &true, &false)?;
        Ok((0, 0))
    }

    pub(super) fn registers(&mut self) -> Registers<&mut Device> {
        Registers::new(self)
    }

    /// Schedules lengths, legal or not, in hardware and model.
    fn schedule(&mut self, point: &mut Point, from: u32, random: &mut StdRng) -> Result<(), CheckError> {
        let mut lengths = [NO_BANK; MAX_BANKS];
        for length in &mut lengths[..point.model.configuration().prefixes().banks()] {
            *length = random.random_range(0..18);
        }
        self.registers().write_prefixes_next(u64::from_be_bytes(lengths))?;
        self.registers().write_prefixes_from(from)?;
        let (answer, _) = self.access(Some(1), offset::PREFIXES_SCHEDULE.into())?;
        let prefixes = Prefixes::new(&lengths[..point.model.configuration().prefixes().banks()]);
        let legal = prefixes.is_ok_and(|prefixes| point.model.schedule_prefixes(prefixes, from).is_ok());
        same(STAGE, from.into(), "answer to a schedule", &(if legal { 0 } else { SLAVE_ERROR }), &answer)?;
        self.idle(4)?;
        let pending = self.registers().status()?.prefixes_pending();
        same(STAGE, from.into(), "prefixes_pending", &point.model.scheduled().is_some(), &pending)
    }

    /// Schedules a key in hardware.
    pub(super) fn give_key(&mut self, key: &Key, from: u32) -> Result<(), CheckError> {
        let (low, high) = key.secret().split_at(8);
        let half = |bytes: &[u8]| bytes.iter().rev().fold(0, |half, byte| half << 8 | u64::from(*byte));
        self.registers().write_key_low(half(low))?;
        self.registers().write_key_high(half(high))?;
        self.registers().write_key_id(key.id().into())?;
        self.registers().write_key_from(from)?;
        self.registers().key_schedule()
    }

    /// Schedules a mixing in hardware and model, unless one waits: then writes are refused.
    fn schedule_mixing(
        &mut self,
        point: &mut Point,
        from: u32,
        random: &mut StdRng,
    ) -> Result<(), CheckError> {
        let waits = point.model.scheduled_mixing().is_some();
        same(STAGE, from.into(), "mixing_pending", &waits, &self.registers().status()?.mixing_pending())?;
        if !waits {
            let own = random.random_ratio(1, 4);
            let mixing = if own { Mixing::own(random.random()) } else { Mixing::new(&random.random()) };
            self.registers().change_mixing(&mixing, from)?;
            same(STAGE, from.into(), "a mixing", &Ok(()), &point.model.schedule_mixing(mixing, from))?;
        }
        for register in
            [offset::MIXING_MATRIX, offset::MIXING_MATRIX + 4, offset::MIXING_OFFSET, offset::MIXING_ID]
        {
            let refused = self.access(Some(random.random_range(0..1 << 31)), register.into())?.0;
            same(STAGE, from.into(), "answer to a mixing while one waits", &SLAVE_ERROR, &refused)?;
            let mut bus = &mut *self;
            let read = bus.read(register)?;
            let secret = if register == offset::MIXING_ID { 0 } else { read };
            same(STAGE, from.into(), "bits of a secret", &0, &secret)?;
        }
        same(STAGE, from.into(), "mixing_pending", &true, &self.registers().status()?.mixing_pending())
    }

    /// Schedules a key, or none, and sets the boot epoch, in hardware and model.
    fn schedule_key(&mut self, point: &mut Point, from: u32, random: &mut StdRng) -> Result<(), CheckError> {
        same(STAGE, from.into(), "key_pending", &false, &self.registers().status()?.key_pending())?;
        let (secret, epoch): ([u8; 16], u32) = (random.random(), random.random());
        let id = NonZeroU16::new(random.random()).filter(|_| random.random_ratio(3, 4));
        let (low, high) = secret.split_at(8);
        let half = |bytes: &[u8]| bytes.iter().rev().fold(0, |half, byte| half << 8 | u64::from(*byte));
        self.registers().write_boot_epoch(epoch)?;
        point.model.set_boot_epoch(epoch);
        self.registers().write_key_low(half(low))?;
        self.registers().write_key_high(half(high))?;
        self.registers().write_key_id(id.map_or(0, NonZeroU16::get).into())?;
        self.registers().write_key_from(from)?;
        self.registers().key_schedule()?;
        point.model.schedule_key(id.map(|id| Key::new(id, secret)), from);
        for register in [offset::KEY_LOW, offset::KEY_HIGH, offset::KEY_ID] {
            let refused = self.access(Some(random.random_range(0..1 << 16)), register.into())?.0;
            same(STAGE, from.into(), "answer to a key while one waits", &SLAVE_ERROR, &refused)?;
            let shown = if register == offset::KEY_ID { 0xffff } else { 0 };
            let mut bus = &mut *self;
            let read = bus.read(register)?;
            same(STAGE, from.into(), "bits of a secret", &0, &(read & !shown))?;
        }
        let pending = self.registers().status()?.key_pending();
        same(STAGE, from.into(), "key_pending", &true, &pending)
    }

    /// Sets the built-in clock to a moment and stops it there: all that follows has this timestamp.
    fn stop_clock_at(&mut self, time: Timestamp) -> Result<(), CheckError> {
        self.registers().write_clock_period(0)?;
        self.registers().write_clock_value(time.0)?;
        self.registers().write_clock_command(ClockCommand::default().with_set(true))?;
        self.idle(16)
    }
}

impl Bus for &mut Device {
    type Error = CheckError;

    fn read(&mut self, offset: u32) -> Result<u32, CheckError> {
        let (code, data) = self.access(None, u64::from(offset))?;
        same(STAGE, offset.into(), "answer to a read", &0, &code)?;
        Ok(data as u32)
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), CheckError> {
        let (code, _) = self.access(Some(value.into()), u64::from(offset))?;
        same(STAGE, offset.into(), "answer to a write", &0, &code)
    }
}

/// The longest drain of a design whose m_axis is always ready, in cycles, as its package says it.
pub(super) fn drain(design: &Design) -> u64 {
    let (shape, classes) = (design.configuration().shape(), design.configuration().classes() as u64);
    let fields = (u64::from(shape.cell_bits) - 72) / 32;
    let (mut cell, mut frame) = (8 + 2 * fields, 200);
    if design.authentication() {
        (cell, frame) = (cell + 3 + 2 * fields, frame + 90);
    }
    classes * (cell * shape.cells() as u64 + frame * u64::from(shape.fragments()))
}

/// The timestamp of a frame: that of the stopped clock, or any.
fn stopped_or(random: &mut StdRng, built_in: bool, stopped: Timestamp) -> Timestamp {
    if built_in { stopped } else { Timestamp(random.random()) }
}

/// A tap through its registers: `count` random frames; returns how many frames were sent.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn tap(toolchain: &Toolchain, design: &Design, count: u64, seed: u64) -> Result<u64, CheckError> {
    let verilog = deltaline_hdl::emit::design::emit(design, "deltaline").map_err(HardwareError::from)?;
    tap_of(toolchain, design, &verilog, count, seed)
}

/// The same of a design whose Verilog is this.
///
/// # Errors
///
/// As [`tap`].
pub fn tap_of(
    toolchain: &Toolchain,
    design: &Design,
    verilog: &str,
    count: u64,
    seed: u64,
) -> Result<u64, CheckError> {
    let mut device = Device::of(toolchain, design, verilog)?;
    let configuration = *design.configuration();
    let (mut random, mut frames) = (StdRng::seed_from_u64(seed), Frames::new(seed));
    let mut point = Point::new(&configuration, Role::Receiver);
    let receiver = Control::default().with_role(RoleField::Receiver);
    device.registers().write_control(receiver)?;
    let refused =
        device.access(Some(u64::from(receiver.with_interval_log2(48).0)), offset::CONTROL.into())?.0;
    same(STAGE, 0, "answer to interval_log2 = 48", &SLAVE_ERROR, &refused)?;
    same(STAGE, 0, "control", &receiver, &device.registers().control()?)?;
    let capability = device.registers().capability()?;
    same(STAGE, 0, "classes", &(configuration.classes() as u32), &capability.classes())?;
    let optional = (configuration.adaptive(), configuration.has_digests(), design.authentication());
    let found = (capability.has_adaptive(), capability.has_digests(), capability.has_authentication());
    same(STAGE, 0, "adaptive, digests, authentication", &optional, &found)?;
    same(STAGE, 0, "digest", &configuration.id(), &device.registers().configuration()?)?;
    let (expected, found) = (configuration.has_mixing(), capability.has_mixing());
    same(STAGE, 0, "has_mixing", &expected, &found)?;
    let refused = device.access(Some(1), offset::PREFIXES_SCHEDULE.into())?.0;
    same(STAGE, 0, "answer to a schedule without lengths", &SLAVE_ERROR, &refused)?;
    let id = random.random();
    device.registers().write_point_id(id)?;
    point.model.set_id(id);
    let built_in = design.clock() == ClockSource::BuiltIn;
    let (mut sent, mut interval, mut reports, mut delimiters, mut gaps) = (0, 0u32, 0u32, 0u32, 0u32);
    let mut key_from: Option<u32> = None;
    let (mut refused_ends, mut end_refused) = (0u32, false);
    while sent < count {
        let stopped = Timestamp(random.random());
        if built_in {
            device.stop_clock_at(stopped)?;
            // A clock that software does not hold to its reference is not locked.
            point.take(Event::Unlocked);
        }
        for _ in 0..random.random_range(1..120) {
            let (frame, bad) = (frames.next_frame(), random.random_ratio(1, 16));
            let time = stopped_or(&mut random, built_in, stopped);
            device.frame(&frame, time, bad)?;
            point.frame(&frame, time, bad);
            sent += 1;
            if random.random_ratio(1, 4) {
                device.idle(random.random_range(1..8))?;
            }
        }
        // What the registers show of the running interval.
        device.idle(24)?;
        let totals = point.model.totals(0);
        let mut registers = device.registers();
        registers.snapshot()?;
        same(STAGE, sent, "interval", &interval, &registers.interval()?)?;
        same(STAGE, sent, "packets", &point.model.packets(), &registers.packets()?)?;
        same(STAGE, sent, "bytes", &point.model.bytes(), &registers.bytes()?)?;
        same(STAGE, sent, "unmeasured", &totals.unmeasured, &registers.unmeasured()?)?;
        same(STAGE, sent, "bad", &totals.bad, &registers.bad()?)?;
        same(STAGE, sent, "unmatched", &point.model.unmatched(), &registers.unmatched()?)?;
        same(STAGE, sent, "control frames", &reports, &registers.control_frames()?)?;
        same(STAGE, sent, "delimiters", &delimiters, &registers.delimiters()?)?;
        if built_in {
            same(STAGE, sent, "timestamp", &stopped.0, &registers.timestamp()?)?;
        }
        let status = registers.status()?;
        let found = (status.running(), status.ptp_locked(), status.drain_busy(), status.end_refused());
        same(STAGE, sent, "status", &(true, !built_in, false, end_refused), &found)?;

        if configuration.adaptive() {
            device.schedule(&mut point, interval.wrapping_add(random.random_range(0..3)), &mut random)?;
        } else {
            for register in [offset::PREFIXES_NEXT, offset::PREFIXES_FROM] {
                let refused = device.access(Some(u64::from(interval)), register.into())?.0;
                same(STAGE, sent, "answer to lengths where they are fixed", &SLAVE_ERROR, &refused)?;
            }
        }

        if configuration.has_mixing() {
            device.schedule_mixing(
                &mut point,
                interval.wrapping_add(random.random_range(0..3)),
                &mut random,
            )?;
        } else {
            for register in
                [offset::MIXING_MATRIX, offset::MIXING_OFFSET, offset::MIXING_ID, offset::MIXING_SCHEDULE]
            {
                let refused = device.access(Some(1), register.into())?.0;
                same(STAGE, sent, "answer to a mixing where there is none", &SLAVE_ERROR, &refused)?;
            }
        }

        // A key is scheduled before the end, or while the interval is being sent, which has the one before.
        let (schedules_key, early) = (design.authentication() && key_from.is_none(), random.random());
        let from = interval.wrapping_add(random.random_range(0..4));
        if schedules_key && early {
            device.schedule_key(&mut point, from, &mut random)?;
            key_from = Some(from);
        }
        if !design.authentication() {
            for register in [offset::BOOT_EPOCH, offset::KEY_LOW, offset::KEY_ID, offset::KEY_SCHEDULE] {
                let refused = device.access(Some(1), register.into())?.0;
                same(STAGE, sent, "answer to a key where there is none", &SLAVE_ERROR, &refused)?;
            }
        }

        if design.clock() == ClockSource::TimeOfDay {
            // Seconds of TAI, of which relative-64 keeps fewer.
            let seconds = random.random_range(0..1 << 48);
            let now = TimeOfDay::new(seconds, 999_999_999, 0xffff);
            device.bench.set_wide(device.bench.port("ptp_ts_96")?, now.0);
            point.model.set_time(Some(AbsoluteTime { base: TimeBase::Tai, seconds }));
        }

        // Another end that comes soon behind this one is refused if there is a least interval.
        let drained = drain(design) + 100;
        let least = if random.random() { drained + 20_000 } else { 0 };
        device.registers().write_least_interval(least as u32)?;
        end_refused = least > 0;

        // The end: by register, by port, by a delimiter in the stream.
        match random.random_range(0..3) {
            0 => {
                device.registers().interval_end()?;
                point.take(Event::End(IntervalEnd::Request));
            }
            1 => {
                // Close behind a frame, which belongs to the interval.
                let (frame, time) = (frames.next_frame(), stopped_or(&mut random, built_in, stopped));
                device.frame(&frame, time, false)?;
                point.frame(&frame, time, false);
                sent += 1;
                device.request_interval_end()?;
                point.take(Event::End(IntervalEnd::Request));
            }
            _ => {
                // One before it may be missing: the second behind it is the first that counts.
                let numbers = if random.random() {
                    gaps += 1;
                    interval + 1..interval + 3
                } else {
                    interval..interval + 1
                };
                for number in numbers {
                    let delimiter = Delimiter::new(&configuration, number);
                    let delimiter = match point.model.key_of_delimiter(number) {
                        None => delimiter.encode(),
                        Some(key) => {
                            device.idle(TAGS)?;
                            delimiter.signed(key)
                        }
                    };
                    device.frame(&delimiter, stopped, false)?;
                    point.frame(&delimiter, stopped, false);
                    point.take(Event::Delimiter(delimiter.as_slice().into()));
                    (delimiters, sent, interval) = (delimiters + 1, sent + 1, number);
                }
            }
        }
        interval += 1;
        reports += point.frames_due() as u32;
        key_from = key_from.filter(|from| (interval.wrapping_sub(*from) as i32) < 0);
        if schedules_key && !early {
            // The end takes some cycles to arrive.
            device.idle(40)?;
            device.schedule_key(&mut point, from, &mut random)?;
            key_from = Some(from);
        }
        device.idle(drained)?;
        if end_refused {
            device.registers().interval_end()?;
            point.take(Event::RefusedEnd);
            refused_ends += 1;
            device.idle(least)?;
        }
        point.compare_all(STAGE, sent, device.sink.take_frames())?;
    }
    let mut registers = device.registers();
    registers.snapshot()?;
    same(STAGE, sent, "refused ends", &refused_ends, &registers.refused_ends()?)?;
    same(STAGE, sent, "delimiter gaps", &gaps, &registers.delimiter_gaps()?)?;
    Ok(sent)
}

/// Reference packets behind every so many other frames that leave a sender in the stream.
struct References {
    configuration: Configuration,
    spacing: u32,
    /// Other frames since the last one, and the number of the next one.
    since: u32,
    number: u32,
}

impl References {
    /// Takes what left at this time; the reference packet that it is, if it is one. It has to be one where one is due, and nowhere else.
    fn take(&mut self, seen: &Seen, now: Timestamp, at: u64) -> Result<Option<Reference>, CheckError> {
        let is_due = self.spacing > 0 && self.since == self.spacing;
        let expected = Reference::new(&self.configuration, self.number, now);
        if is_due {
            same(STAGE, at, "a reference packet", &expected.encode().to_vec(), &seen.bytes)?;
            (self.since, self.number) = (0, self.number + 1);
            return Ok(Some(expected));
        }
        self.since += 1;
        let role = seen.bytes.get(12..16).map(|bytes| bytes == &expected.encode()[12..16]);
        same(STAGE, at, "a reference packet that is not due", &false, &(role == Some(true)))?;
        Ok(None)
    }
}

/// A sender in the stream and a receiver that watches its output: `count` random frames; returns how many were sent. Designs with reference
/// packets send one behind every fifth other frame, and the receiver tells of each.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn segment(
    toolchain: &Toolchain,
    sender: &Design,
    receiver: &Design,
    count: u64,
    seed: u64,
) -> Result<u64, CheckError> {
    let emitted = |design| deltaline_hdl::emit::design::emit(design, "deltaline");
    let texts =
        [emitted(sender).map_err(HardwareError::from)?, emitted(receiver).map_err(HardwareError::from)?];
    segment_of(toolchain, [sender, receiver], [&texts[0], &texts[1]], count, seed)
}

/// The same of designs whose Verilog is this.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn segment_of(
    toolchain: &Toolchain,
    [sender, receiver]: [&Design; 2],
    [sender_verilog, receiver_verilog]: [&str; 2],
    count: u64,
    seed: u64,
) -> Result<u64, CheckError> {
    let mut a = Device::of(toolchain, sender, sender_verilog)?;
    let mut b = Device::of(toolchain, receiver, receiver_verilog)?;
    let configuration = *sender.configuration();
    let (mut random, mut frames) = (StdRng::seed_from_u64(seed), Frames::new(seed));
    let built_in = sender.clock() == ClockSource::BuiltIn;
    let mut ends = [End::new(&configuration, Role::Sender), End::new(&configuration, Role::Receiver)];
    b.registers().write_control(Control::default().with_role(RoleField::Receiver))?;
    a.pressure = Some(StdRng::seed_from_u64(!seed));
    let stopped = Timestamp(random.random());
    // A receiver with a clock of its own is stopped, too, at another time.
    let received_then = (receiver.clock() == ClockSource::BuiltIn).then(|| Timestamp(random.random()));
    if let Some(time) = received_then {
        b.stop_clock_at(time)?;
        ends[1].twin.take(Event::Unlocked);
    }
    if receiver.clock() == ClockSource::TimeOfDay {
        // Nothing drives its own time, which says 0.
        ends[1].twin.model.set_time(Some(AbsoluteTime { base: TimeBase::Tai, seconds: 0 }));
    }
    let mut nanoseconds = 0xfff_f000u64;
    if built_in {
        a.stop_clock_at(stopped)?;
        ends[0].twin.take(Event::Unlocked);
    } else {
        a.clock = Some((a.bench.port("ptp_ts")?, nanoseconds << 16));
        a.idle(4)?;
        let by_clock = Control::default().with_interval_source(IntervalSource::Clock).with_interval_log2(20);
        a.registers().write_control(by_clock)?;
        // A new exponent may end an interval: the next end must not come before its drain is over.
        a.idle(20 * ends[0].twin.model.cell_count() as u64 + 4000)?;
    }
    let (mut sent, mut given) = (0, VecDeque::new());
    let mut references = References { configuration, spacing: 0, since: 0, number: 0 };
    if sender.references() {
        references.spacing = 5;
        a.bench.set(a.bench.port("reference_spacing")?, references.spacing.into());
    }
    while sent < count {
        for _ in 0..random.random_range(1..120) {
            let (frame, bad) = (frames.next_frame(), random.random_ratio(1, 16));
            let time = stopped_or(&mut random, built_in, stopped);
            a.frame(&frame, time, bad)?;
            given.push_back(Seen { bytes: frame, time, bad });
            sent += 1;
            if random.random_ratio(1, 4) {
                a.idle(random.random_range(1..8))?;
            }
        }
        // The cut: by register, by port, also held high over several drains, or by the clock, which passes a multiple of 2^20 ns.
        match random.random_range(0..4) {
            3 => {
                a.bench.set(a.interval_end, 1);
                a.idle(60 * ends[0].twin.model.cell_count() as u64 + 8000)?;
                a.bench.set(a.interval_end, 0);
            }
            0 => a.registers().interval_end()?,
            1 if !built_in => {
                nanoseconds += 1 << 20;
                a.clock = Some((a.bench.port("ptp_ts")?, nanoseconds << 16));
            }
            _ => {
                a.request_interval_end()?;
            }
        }
        a.idle(20 * ends[0].twin.model.cell_count() as u64 + 4000)?;
        if built_in {
            ends[0].twin.take(Event::Unlocked);
        }

        // What came out, in order: traffic unchanged, a delimiter, control frames; reference packets between.
        let mut told = vec![];
        let mut begun = std::mem::take(&mut a.begun).into_iter();
        for seen in a.sink.take_seen() {
            let time = received_then.unwrap_or_else(|| Timestamp(random.random()));
            let reference = references.take(&seen, begun.next().unwrap_or(stopped), sent)?;
            b.frame(&seen.bytes, time, seen.bad)?;
            if received_then.is_some() {
                ends[1].twin.take(Event::Unlocked);
            }
            if let Some(reference) = reference {
                // The sender's core is in front of where it was put in; the receiver's counts it as a frame that is not measured.
                ends[1].observe(&seen, time);
                told.push((u64::from(reference.number), time.0.wrapping_sub(reference.sent.0)));
                continue;
            }
            ends[0].came_out(&seen, &mut given, sent)?;
            if built_in {
                ends[0].twin.take(Event::Unlocked);
            }
            ends[0].observe(&seen, seen.time);
            if Delimiter::of(&configuration, &seen.bytes).is_some() {
                b.idle(20 * ends[1].twin.model.cell_count() as u64 + 2000)?;
            }
            ends[1].observe(&seen, time);
        }
        same(STAGE, sent, "frames that did not come out", &0, &given.len())?;
        b.idle(20 * ends[1].twin.model.cell_count() as u64 + 2000)?;
        if receiver.references() {
            same(STAGE, sent, "what the receiver tells", &told, &std::mem::take(&mut b.references))?;
        }
        ends[1].found.extend(b.sink.take_frames());
        for (end, is_stopped) in ends.iter_mut().zip([built_in, received_then.is_some()]) {
            if is_stopped {
                end.twin.take(Event::Unlocked);
            }
            end.compare(sent)?;
        }
    }
    Ok(sent)
}

/// A sender in the stream whose pin asks for ends all the time, under traffic, without a least interval and with one: the control
/// frames of all intervals come out, and intervals are neither shorter than they may be nor much longer than they must. Then somebody
/// else's delimiter ends an interval, and the next one by the pin still does. `cycles` cycles of each storm; returns the number of
/// intervals.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn storms_of(
    toolchain: &Toolchain,
    design: &Design,
    verilog: &str,
    cycles: u64,
    seed: u64,
) -> Result<u32, CheckError> {
    let mut device = Device::of(toolchain, design, verilog)?;
    let configuration = *design.configuration();
    let (mut random, mut frames) = (StdRng::seed_from_u64(seed), Frames::new(seed));
    let mut end = End::new(&configuration, Role::Sender);
    // Inserted frames wait for the end of those of the traffic.
    let longest = 2 * drain(design) + 4000;
    let storms = |random: &mut StdRng| {
        [Storm::Held, Storm::Toggled, Storm::Random(Box::new(StdRng::from_rng(random)))]
    };
    for least in [0, longest] {
        device.registers().write_least_interval(least as u32)?;
        for storm in storms(&mut random) {
            let (mut given, before) = (VecDeque::new(), end.twin.model.interval());
            let started = device.cycles;
            device.storm = Some(storm);
            while device.cycles < started + cycles {
                let seen = Seen { bytes: frames.next_frame(), time: Timestamp(random.random()), bad: false };
                device.frame(&seen.bytes, seen.time, seen.bad)?;
                given.push_back(seen);
                if random.random_ratio(1, 4) {
                    device.idle(random.random_range(1..40))?;
                }
            }
            device.storm = None;
            device.bench.set(device.interval_end, 0);
            let lasted = device.cycles - started;
            device.idle(longest + least)?;
            end.follow(&mut device, &mut given)?;
            let ended = u64::from(end.twin.model.interval() - before);
            let bounds = (lasted / (longest + least), lasted / least.max(drain(design) / 4) + 1);
            let is_within = (bounds.0..=bounds.1).contains(&ended);
            same(STAGE, ended, "intervals in a storm within their bounds", &true, &is_within)?;
        }
        // Somebody else's delimiter, which is due; ours is late then, and the one behind it due.
        let number = end.twin.model.interval();
        let bytes = Delimiter::new(&configuration, number).encode().to_vec();
        let theirs = Seen { bytes, time: Timestamp(random.random()), bad: false };
        let mut given = VecDeque::from([theirs.clone()]);
        device.frame(&theirs.bytes, theirs.time, theirs.bad)?;
        for _ in 0..2 {
            device.idle(longest + least)?;
            device.registers().interval_end()?;
        }
        device.idle(longest + least)?;
        end.follow(&mut device, &mut given)?;
        let ended = end.twin.model.interval() - number;
        same(STAGE, device.cycles, "intervals by somebody else's delimiter and ours", &2, &ended)?;
    }
    Ok(end.twin.model.interval())
}

/// The twin of one end, and its control frames.
pub(super) struct End {
    pub(super) twin: Point,
    pub(super) found: Vec<Vec<u8>>,
}

impl End {
    pub(super) fn new(configuration: &Configuration, role: Role) -> Self {
        End { twin: Point::new(configuration, role), found: vec![] }
    }

    pub(super) fn observe(&mut self, seen: &Seen, time: Timestamp) {
        self.twin.frame(&seen.bytes, time, seen.bad);
        if !seen.bad {
            self.twin.take(Event::Delimiter(seen.bytes.as_slice().into()));
        }
    }

    /// A frame that came out of a sender in the stream: one that it inserted, or the next of those that were given.
    pub(super) fn came_out(
        &mut self,
        seen: &Seen,
        given: &mut VecDeque<Seen>,
        at: u64,
    ) -> Result<(), CheckError> {
        let is_ours = seen.bytes.get(12..14) == Some(&ETHERTYPE.to_be_bytes());
        if given.front() == Some(seen) || !is_ours {
            return same(STAGE, at, "frame that passed", &given.pop_front(), &Some(seen.clone()));
        }
        if Delimiter::decode(&seen.bytes).is_err() {
            self.found.push(seen.bytes.clone());
        }
        Ok(())
    }

    /// All that came out of a sender in the stream, compared with its twin.
    fn follow(&mut self, device: &mut Device, given: &mut VecDeque<Seen>) -> Result<(), CheckError> {
        let at = device.cycles;
        for seen in device.sink.take_seen() {
            self.came_out(&seen, given, at)?;
            self.observe(&seen, seen.time);
        }
        same(STAGE, at, "frames that did not come out", &0, &given.len())?;
        self.compare(at)
    }

    pub(super) fn compare(&mut self, at: u64) -> Result<(), CheckError> {
        same(STAGE, at, "no control frame at all", &false, &(self.twin.frames_due() == 0))?;
        self.twin.compare_all(STAGE, at, std::mem::take(&mut self.found))
    }
}
