//! Shells: whole designs, through the ports that a user has.
//!
//! A tap is driven through its registers; a sender that stands in the stream is followed by a receiver that watches
//! what comes out of it. The model observes the same frames with the same timestamps.

use super::{CheckError, same};
use crate::bench::Bench;
use crate::hardware::{Beat, HardwareError, IDLE, beats};
use deltaline_design::Design;
use deltaline_design::{ClockSource, Shell};
use deltaline_model::configuration::Configuration;
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::registers::{
    Bus, ClockCommand, Control, IntervalSource, Registers, Role as RoleField, offset,
};
use deltaline_model::sketch::sampler::{MAX_BANKS, NO_BANK, Prefixes};
use deltaline_model::time::{AbsoluteTime, TimeBase, TimeOfDay, Timestamp};
use deltaline_model::wire::delimiter::Delimiter;
use deltaline_model::wire::frame::{ETHERTYPE, Frame, Role};
use deltaline_traffic::Frames;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::VecDeque;
use verilator_sys::{Port, Toolchain};

const STAGE: &str = "shell";
/// The code of a refused access.
const SLAVE_ERROR: u64 = 2;
/// In nanoseconds.
const SECOND: u64 = 1_000_000_000;

/// A stream of the design: one side's ports.
struct Stream {
    tdata: Port,
    tkeep: Port,
    tvalid: Port,
    tready: Port,
    tlast: Port,
    tuser: Port,
}

impl Stream {
    fn of(bench: &Bench, prefix: &str) -> Result<Self, verilator_sys::Error> {
        let port = |name: &str| bench.port(&format!("{prefix}_{name}"));
        Ok(Stream {
            tdata: port("tdata")?,
            tkeep: port("tkeep")?,
            tvalid: port("tvalid")?,
            tready: port("tready")?,
            tlast: port("tlast")?,
            tuser: port("tuser")?,
        })
    }
}

/// A frame as it left a stream.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    bytes: Vec<u8>,
    time: u64,
    bad: bool,
}

/// A design under Verilator, with a master on s_axil.
struct Device {
    bench: Bench,
    source: Stream,
    sink: Stream,
    interval_end: Port,
    running: Port,
    /// The frame that is coming out of m_axis, and those that are out.
    partial: Seen,
    out: VecDeque<Seen>,
    /// Whether, and how, m_axis is stalled.
    pressure: Option<StdRng>,
    cycles: u64,
}

impl Device {
    fn build(toolchain: &Toolchain, design: &Design) -> Result<Self, CheckError> {
        let verilog = deltaline_hdl::emit::design::emit(design, "deltaline").map_err(HardwareError::from)?;
        let mut bench = Bench::new(toolchain, "deltaline", &verilog)?;
        // One lane of several is enough here: `lanes` checks the others.
        let source = Stream::of(&bench, "s_axis").or_else(|_| Stream::of(&bench, "s0_axis"))?;
        let sink = Stream::of(&bench, "m_axis")?;
        if design.shell() == Shell::Tap {
            bench.set(source.tready, 1);
        }
        bench.set(sink.tready, 1);
        if let Ok(locked) = bench.port("ptp_locked") {
            bench.set(locked, 1);
        }
        let (interval_end, running) = (bench.port("interval_end")?, bench.port("running")?);
        let partial = Seen { bytes: vec![], time: 0, bad: false };
        let mut device = Device {
            bench,
            source,
            sink,
            interval_end,
            running,
            partial,
            out: VecDeque::new(),
            pressure: None,
            cycles: 0,
        };
        for _ in 0..20_000 {
            if device.bench.get(device.running) == 1 {
                return Ok(device);
            }
            device.cycle()?;
        }
        same(STAGE, 0, "running", &1, &device.bench.get(device.running))?;
        Ok(device)
    }

    /// One clock cycle; a beat that m_axis hands over joins its frame.
    fn cycle(&mut self) -> Result<(), CheckError> {
        let sink = &self.sink;
        if let Some(random) = &mut self.pressure {
            self.bench.set(sink.tready, u64::from(random.random_ratio(2, 3)));
        }
        if self.bench.get(sink.tvalid) == 1 && self.bench.get(sink.tready) == 1 {
            let mut words = [0u32; 16];
            if sink.tdata.width() <= 64 {
                let data = self.bench.get(sink.tdata);
                (words[0], words[1]) = (data as u32, (data >> 32) as u32);
            } else {
                self.bench.get_words(sink.tdata, &mut words[..sink.tdata.words()]);
            }
            let user = match sink.tuser.width() {
                0..=64 => u128::from(self.bench.get(sink.tuser)),
                _ => self.bench.get_wide(sink.tuser),
            };
            if self.partial.bytes.is_empty() {
                self.partial.time = (user >> 1) as u64;
            }
            let count = self.bench.get(sink.tkeep).count_ones() as usize;
            let bytes = words.iter().flat_map(|word| word.to_le_bytes());
            self.partial.bytes.extend(bytes.take(count));
            if self.bench.get(sink.tlast) == 1 {
                self.partial.bad = user & 1 == 1;
                let empty = Seen { bytes: vec![], time: 0, bad: false };
                self.out.push_back(std::mem::replace(&mut self.partial, empty));
            }
        }
        self.bench.tick().map_err(HardwareError::from)?;
        self.cycles += 1;
        Ok(())
    }

    /// Offers a beat until it is taken.
    fn offer(&mut self, beat: Beat) -> Result<(), CheckError> {
        let source = &self.source;
        self.bench.set_beat(source.tdata, &beat.data);
        self.bench.set(source.tkeep, beat.keep);
        self.bench.set(source.tlast, u64::from(beat.last));
        match source.tuser.width() {
            1 => self.bench.set(source.tuser, u64::from(beat.bad)),
            65 => self.bench.set_wide(source.tuser, u128::from(beat.timestamp) << 1 | u128::from(beat.bad)),
            _ => {
                let time = Timestamp(beat.timestamp);
                let (seconds, nanoseconds) = (time.nanoseconds() / SECOND, time.nanoseconds() % SECOND);
                let time = TimeOfDay::new(seconds, nanoseconds as u32, time.0 as u16);
                self.bench.set_wide(source.tuser, time.0 << 1 | u128::from(beat.bad));
            }
        }
        self.bench.set(source.tvalid, 1);
        let patience = self.cycles + 4000;
        while self.bench.get(self.source.tready) == 0 {
            same(STAGE, self.cycles, "s_axis_tready stays low", &true, &(self.cycles < patience))?;
            self.cycle()?;
        }
        self.cycle()?;
        self.bench.set(self.source.tvalid, 0);
        Ok(())
    }

    fn frame(&mut self, frame: &[u8], time: Timestamp, bad: bool) -> Result<(), CheckError> {
        beats(self.source.tkeep.width() as usize, frame, time, bad).try_for_each(|beat| self.offer(beat))
    }

    fn idle(&mut self, cycles: u64) -> Result<(), CheckError> {
        self.bench.set_beat(self.source.tdata, &IDLE.data);
        (0..cycles).try_for_each(|_| self.cycle())
    }

    /// An access on s_axil; the answer's code, and the data of a read.
    fn access(&mut self, write: Option<u64>, address: u64) -> Result<(u64, u64), CheckError> {
        let port = |bench: &Bench, name: &str| bench.port(&format!("s_axil_{name}"));
        let requests: &[&str] = if write.is_some() { &["aw", "w"] } else { &["ar"] };
        let answer = if write.is_some() { "b" } else { "r" };
        let address_port = if write.is_some() { "awaddr" } else { "araddr" };
        self.bench.set(port(&self.bench, address_port)?, address);
        if let Some(data) = write {
            self.bench.set(port(&self.bench, "wdata")?, data);
            self.bench.set(port(&self.bench, "wstrb")?, 0xf);
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

    fn registers(&mut self) -> Registers<&mut Device> {
        Registers::new(self)
    }

    /// Schedules lengths, legal or not, in hardware and model.
    fn schedule(
        &mut self,
        point: &mut MeasurementPoint,
        from: u32,
        random: &mut StdRng,
    ) -> Result<(), CheckError> {
        let mut lengths = [NO_BANK; MAX_BANKS];
        for length in &mut lengths[..point.configuration().prefixes().banks()] {
            *length = random.random_range(0..18);
        }
        self.registers().write_prefixes_next(u64::from_be_bytes(lengths))?;
        self.registers().write_prefixes_from(from)?;
        let (answer, _) = self.access(Some(1), offset::PREFIXES_SCHEDULE.into())?;
        let prefixes = Prefixes::new(&lengths[..point.configuration().prefixes().banks()]);
        let legal = prefixes.is_ok_and(|prefixes| point.schedule_prefixes(prefixes, from).is_ok());
        same(STAGE, from.into(), "answer to a schedule", &(if legal { 0 } else { SLAVE_ERROR }), &answer)?;
        self.idle(4)?;
        let pending = self.registers().status()?.prefixes_pending();
        same(STAGE, from.into(), "prefixes_pending", &point.scheduled().is_some(), &pending)
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
    let mut device = Device::build(toolchain, design)?;
    let configuration = *design.configuration();
    let (mut random, mut frames) = (StdRng::seed_from_u64(seed), Frames::new(seed));
    let mut point = MeasurementPoint::new(&configuration, Role::Receiver);
    let receiver = Control::default().with_role(RoleField::Receiver);
    device.registers().write_control(receiver)?;
    let refused =
        device.access(Some(u64::from(receiver.with_interval_log2(48).0)), offset::CONTROL.into())?.0;
    same(STAGE, 0, "answer to interval_log2 = 48", &SLAVE_ERROR, &refused)?;
    same(STAGE, 0, "control", &receiver, &device.registers().control()?)?;
    let capability = device.registers().capability()?;
    same(STAGE, 0, "classes", &(configuration.classes() as u32), &capability.classes())?;
    let optional = (configuration.adaptive(), configuration.has_digests());
    let found = (capability.has_adaptive(), capability.has_digests());
    same(STAGE, 0, "adaptive, digests", &optional, &found)?;
    same(STAGE, 0, "digest", &configuration.id(), &device.registers().configuration()?)?;
    let refused = device.access(Some(1), offset::PREFIXES_SCHEDULE.into())?.0;
    same(STAGE, 0, "answer to a schedule without lengths", &SLAVE_ERROR, &refused)?;
    let id = random.random();
    device.registers().write_point_id(id)?;
    point.set_id(id);
    let built_in = design.clock() == ClockSource::BuiltIn;
    let (mut sent, mut interval, mut reports, mut delimiters, mut gaps) = (0, 0u32, 0u32, 0u32, 0u32);
    while sent < count {
        let stopped = Timestamp(random.random());
        if built_in {
            device.stop_clock_at(stopped)?;
            // A clock that software does not hold to its reference is not locked.
            point.clock_unlocked();
        }
        for _ in 0..random.random_range(1..120) {
            let (frame, bad) = (frames.next_frame(), random.random_ratio(1, 16));
            let time = stopped_or(&mut random, built_in, stopped);
            device.frame(&frame, time, bad)?;
            if bad {
                point.observe_bad()
            } else {
                point.observe(&frame, time)
            }
            sent += 1;
            if random.random_ratio(1, 4) {
                device.idle(random.random_range(1..8))?;
            }
        }
        // What the registers show of the running interval.
        device.idle(24)?;
        let totals = point.totals(0);
        let mut registers = device.registers();
        registers.snapshot()?;
        same(STAGE, sent, "interval", &interval, &registers.interval()?)?;
        same(STAGE, sent, "packets", &point.packets(), &registers.packets()?)?;
        same(STAGE, sent, "bytes", &point.bytes(), &registers.bytes()?)?;
        same(STAGE, sent, "unmeasured", &totals.unmeasured, &registers.unmeasured()?)?;
        same(STAGE, sent, "bad", &totals.bad, &registers.bad()?)?;
        same(STAGE, sent, "unmatched", &point.unmatched(), &registers.unmatched()?)?;
        same(STAGE, sent, "control frames", &reports, &registers.control_frames()?)?;
        same(STAGE, sent, "delimiters", &delimiters, &registers.delimiters()?)?;
        if built_in {
            same(STAGE, sent, "timestamp", &stopped.0, &registers.timestamp()?)?;
        }
        let status = registers.status()?;
        let found = (status.running(), status.ptp_locked(), status.drain_busy(), status.end_refused());
        same(STAGE, sent, "status", &(true, !built_in, false, false), &found)?;

        if configuration.adaptive() {
            device.schedule(&mut point, interval.wrapping_add(random.random_range(0..3)), &mut random)?;
        } else {
            for register in [offset::PREFIXES_NEXT, offset::PREFIXES_FROM] {
                let refused = device.access(Some(u64::from(interval)), register.into())?.0;
                same(STAGE, sent, "answer to lengths where they are fixed", &SLAVE_ERROR, &refused)?;
            }
        }

        if design.clock() == ClockSource::TimeOfDay {
            // Seconds of TAI, of which relative-64 keeps fewer.
            let seconds = random.random_range(0..1 << 48);
            let now = TimeOfDay::new(seconds, 999_999_999, 0xffff);
            device.bench.set_wide(device.bench.port("ptp_ts_96")?, now.0);
            point.set_time(Some(AbsoluteTime { base: TimeBase::Tai, seconds }));
        }

        // The end: by register, by port, by a delimiter in the stream.
        let mut expected = vec![];
        let mut collect = |frame: &[u8]| expected.push(frame.to_vec());
        match random.random_range(0..3) {
            0 => {
                device.registers().interval_end()?;
                point.end_interval(IntervalEnd::Delimiter, &mut collect);
            }
            1 => {
                // Close behind a frame, which belongs to the interval.
                let (frame, time) = (frames.next_frame(), stopped_or(&mut random, built_in, stopped));
                device.frame(&frame, time, false)?;
                point.observe(&frame, time);
                sent += 1;
                device.bench.set(device.interval_end, 1);
                device.cycle()?;
                device.bench.set(device.interval_end, 0);
                point.end_interval(IntervalEnd::Delimiter, &mut collect);
            }
            _ => {
                let delimiter = Delimiter::new(&configuration, interval).encode();
                device.frame(&delimiter, stopped, false)?;
                point.observe(&delimiter, stopped);
                point.end_interval_at(interval, &mut collect);
                // What no delimiter has begun has a gap.
                gaps += u32::from(interval == 0);
                delimiters += 1;
                sent += 1;
            }
        }
        interval += 1;
        reports += expected.len() as u32;
        device.idle(20 * point.cells().len() as u64 + 2000)?;
        let found: Vec<Vec<u8>> = device.out.drain(..).map(|seen| seen.bytes).collect();
        same(STAGE, sent, "control frames", &expected, &found)?;
    }
    let mut registers = device.registers();
    registers.snapshot()?;
    same(STAGE, sent, "refused ends", &0, &registers.refused_ends()?)?;
    same(STAGE, sent, "delimiter gaps", &gaps, &registers.delimiter_gaps()?)?;
    Ok(sent)
}

/// A sender in the stream and a receiver that watches its output: `count` random frames; returns how many were sent.
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
    let (mut a, mut b) = (Device::build(toolchain, sender)?, Device::build(toolchain, receiver)?);
    let configuration = *sender.configuration();
    let (mut random, mut frames) = (StdRng::seed_from_u64(seed), Frames::new(seed));
    let built_in = sender.clock() == ClockSource::BuiltIn;
    let mut ends = [End::new(&configuration, Role::Sender), End::new(&configuration, Role::Receiver)];
    b.registers().write_control(Control::default().with_role(RoleField::Receiver))?;
    a.pressure = Some(StdRng::seed_from_u64(!seed));
    let stopped = Timestamp(random.random());
    let mut nanoseconds = 0xfff_f000u64;
    if built_in {
        a.stop_clock_at(stopped)?;
        ends[0].point.clock_unlocked();
    } else {
        a.bench.set(a.bench.port("ptp_ts")?, nanoseconds << 16);
        a.idle(4)?;
        let by_clock = Control::default().with_interval_source(IntervalSource::Clock).with_interval_log2(20);
        a.registers().write_control(by_clock)?;
        // A new exponent may end an interval: the next end must not come before its drain is over.
        a.idle(20 * ends[0].point.cells().len() as u64 + 4000)?;
    }
    let (mut sent, mut given) = (0, VecDeque::new());
    while sent < count {
        for _ in 0..random.random_range(1..120) {
            let (frame, bad) = (frames.next_frame(), random.random_ratio(1, 16));
            let time = stopped_or(&mut random, built_in, stopped);
            a.frame(&frame, time, bad)?;
            given.push_back(Seen { bytes: frame, time: time.0, bad });
            sent += 1;
            if random.random_ratio(1, 4) {
                a.idle(random.random_range(1..8))?;
            }
        }
        // The cut: by register, by port, or by the clock, which passes a multiple of 2^20 ns.
        match random.random_range(0..3) {
            0 => a.registers().interval_end()?,
            1 if !built_in => {
                nanoseconds += 1 << 20;
                a.bench.set(a.bench.port("ptp_ts")?, nanoseconds << 16);
            }
            _ => {
                a.bench.set(a.interval_end, 1);
                a.cycle()?;
                a.bench.set(a.interval_end, 0);
            }
        }
        a.idle(20 * ends[0].point.cells().len() as u64 + 4000)?;
        if built_in {
            ends[0].point.clock_unlocked();
        }

        // What came out, in order: traffic unchanged, a delimiter, control frames.
        for seen in std::mem::take(&mut a.out) {
            let is_ours = seen.bytes.get(12..14) == Some(&ETHERTYPE.to_be_bytes());
            if given.front() != Some(&seen) && is_ours {
                if Delimiter::decode(&seen.bytes).is_err() {
                    ends[0].found.push(seen.bytes.clone());
                }
            } else {
                same(STAGE, sent, "frame that passed", &given.pop_front(), &Some(seen.clone()))?;
            }
            ends[0].observe(&seen, Timestamp(seen.time));
            let time = Timestamp(random.random());
            b.frame(&seen.bytes, time, seen.bad)?;
            ends[1].observe(&seen, time);
        }
        same(STAGE, sent, "frames that did not come out", &0, &given.len())?;
        b.idle(20 * ends[1].point.cells().len() as u64 + 2000)?;
        ends[1].found.extend(b.out.drain(..).map(|seen| seen.bytes));
        if built_in {
            ends[0].point.clock_unlocked();
        }
        for end in &mut ends {
            end.compare(sent)?;
        }
    }
    Ok(sent)
}

/// The model of one end, and the control frames of both.
struct End {
    point: MeasurementPoint,
    expected: Vec<Vec<u8>>,
    found: Vec<Vec<u8>>,
}

impl End {
    fn new(configuration: &Configuration, role: Role) -> Self {
        End { point: MeasurementPoint::new(configuration, role), expected: vec![], found: vec![] }
    }

    fn observe(&mut self, seen: &Seen, time: Timestamp) {
        if seen.bad {
            return self.point.observe_bad();
        }
        self.point.observe(&seen.bytes, time);
        if let Some(number) = Delimiter::recognise(self.point.configuration(), &seen.bytes) {
            let expected = &mut self.expected;
            self.point.end_interval_at(number, |frame| expected.push(frame.to_vec()));
        }
    }

    fn compare(&mut self, at: u64) -> Result<(), CheckError> {
        let header =
            |frame: Option<&Vec<u8>>| frame.map(|frame| Frame::decode(frame).map(|frame| frame.header));
        same(STAGE, at, "header", &header(self.expected.first()), &header(self.found.first()))?;
        same(STAGE, at, "control frames", &self.expected, &self.found)?;
        same(STAGE, at, "no control frame at all", &false, &self.expected.is_empty())?;
        self.expected.clear();
        self.found.clear();
        Ok(())
    }
}
