//! Clocks: time of day in, relative-64 out; the adjustable clock's controls in, its time out.
//!
//! Every cycle is compared with the twin and with a truth of its own, in long integers.

use crate::bench::Bench;
use crate::error::{CheckError, same};
use deltaline_model::clock::{AdjustableClock, Controls, Reading, SLEW_CYCLES, TimeOfDayConverter};
use deltaline_model::time::{TimeOfDay, Timestamp};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::VecDeque;
use verilator_sys::{Port, Toolchain};

/// Cycles from an input to what it makes of the output, in all modules here.
const LATENCY: usize = 4;
const NANOSECOND: u64 = 1 << 16;
const SECOND: u64 = 1_000_000_000;
/// Where relative-64 wraps, as a time of day: 2^48 ns.
const WRAP: (u64, u64) = (281_474, 976_710_656);

/// The outputs that are due: what went in, four edges behind.
struct Due<T>(VecDeque<T>);

impl<T: Clone + Default> Due<T> {
    fn new() -> Self {
        Due(vec![T::default(); LATENCY - 1].into())
    }

    /// What is due behind the edge that takes `value` in.
    fn after(&mut self, value: T) -> T {
        self.0.push_back(value);
        self.0.pop_front().unwrap_or_default()
    }
}

/// A moment's relative-64 by the definition.
fn truth(time: TimeOfDay) -> Timestamp {
    let nanoseconds = (time.0 >> 48) * 1_000_000_000 + (time.0 >> 16) % (1 << 30);
    Timestamp((((nanoseconds % (1 << 48)) << 16) | (time.0 % (1 << 16))) as u64)
}

/// Any moment, small and large seconds alike, with noise in the reserved bits.
fn random_time(random: &mut StdRng) -> TimeOfDay {
    let seconds = (random.random::<u64>() >> 16) >> random.random_range(0..48);
    let nanoseconds = random.random_range(0..SECOND as u32);
    TimeOfDay(
        TimeOfDay::new(seconds, nanoseconds, random.random()).0
            | u128::from(random.random_range(0..4u8)) << 46,
    )
}

/// A time-of-day clock that runs over a second's end, and the relative-64 clock that was started with it.
struct Running {
    nanoseconds: u128,
    shown: Timestamp,
}

impl Running {
    /// `before` ns before the given second and nanosecond.
    fn new((seconds, nanoseconds): (u64, u64), before: u64) -> Self {
        let start = u128::from(seconds * SECOND + nanoseconds - before);
        Running { nanoseconds: start << 16, shown: Timestamp((start << 16) as u64) }
    }

    fn next(&mut self, period: u64) -> (TimeOfDay, Timestamp) {
        let (whole, fraction) = (self.nanoseconds >> 16, self.nanoseconds as u16);
        let second = u128::from(SECOND);
        let time = TimeOfDay::new((whole / second) as u64, (whole % second) as u32, fraction);
        let shown = self.shown;
        self.nanoseconds += u128::from(period);
        self.shown.0 = shown.0.wrapping_add(period);
        (time, shown)
    }
}

/// Directed moments, and what they are in relative-64.
fn directed_times() -> Vec<(TimeOfDay, Timestamp)> {
    let bits = (0..96).map(|bit| TimeOfDay(1 << bit));
    let ends = [TimeOfDay(0), TimeOfDay(!0), TimeOfDay::new((1 << 48) - 1, 999_999_999, 0xffff)];
    let mut times: Vec<_> = bits.chain(ends).map(|time| (time, truth(time))).collect();
    // 6.4 ns a cycle, over the end of a second, over the wrap, and over the last second of the 48 bits.
    for (start, before) in [((1, 0), 500), ((1_767_225_637, 0), 500), (WRAP, 500), ((281_475, 0), 500)] {
        let mut running = Running::new(start, before);
        times.extend((0..200).map(|_| running.next(419_430)));
    }
    times
}

/// Runs directed moments, and `count` random ones, one a cycle, a reset in between; returns the number of moments.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn time_of_day(toolchain: &Toolchain, verilog: &str, count: u64, seed: u64) -> Result<u64, CheckError> {
    const STAGE: &str = "time_of_day";
    let mut bench = Bench::new(toolchain, STAGE, verilog)?;
    let (input, output) = (bench.port("ptp_ts_96")?, bench.port("ptp_ts")?);
    let mut random = StdRng::seed_from_u64(seed);
    let mut times = directed_times();
    times.extend((0..count).map(|_| random_time(&mut random)).map(|time| (time, truth(time))));
    let (mut twin, mut due) = (TimeOfDayConverter::default(), Due::new());
    for (at, (time, relative)) in times.iter().enumerate() {
        if at == times.len() / 2 {
            bench.reset()?;
            (twin, due) = (TimeOfDayConverter::default(), Due::new());
        }
        bench.set_wide(input, time.0);
        bench.tick()?;
        let found = Timestamp(bench.get(output));
        same(STAGE, at as u64, "twin's time", &twin.tick(*time), &found)?;
        same(STAGE, at as u64, "true time", &due.after(*relative), &found)?;
    }
    Ok(times.len() as u64)
}

/// Runs directed moments, and `count` random beats, of a stream with `width` bits of tdata, with gaps and stalls and
/// a reset in between; returns the number of beats.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn stream_time_of_day(
    toolchain: &Toolchain,
    verilog: &str,
    width: u32,
    count: u64,
    seed: u64,
) -> Result<u64, CheckError> {
    const STAGE: &str = "stream_time_of_day";
    let mut bench = Bench::new(toolchain, STAGE, verilog)?;
    let [data, keep, valid, ready, last, user] = ["tdata", "tkeep", "tvalid", "tready", "tlast", "tuser"]
        .map(|port| bench.port(&format!("s_axis_{port}")));
    let (data, keep, valid, ready, last, user) = (data?, keep?, valid?, ready?, last?, user?);
    let [m_data, m_keep, m_valid, m_last, m_user] =
        ["tdata", "tkeep", "tvalid", "tlast", "tuser"].map(|port| bench.port(&format!("m_axis_{port}")));
    let (m_data, m_keep, m_valid, m_last, m_user) = (m_data?, m_keep?, m_valid?, m_last?, m_user?);
    let (end, m_end) = (bench.port("interval_end")?, bench.port("m_interval_end")?);
    let mut random = StdRng::seed_from_u64(seed);
    let mut times = directed_times();
    times.extend((0..count).map(|_| random_time(&mut random)).map(|time| (time, truth(time))));
    let mut due = Due::new();
    for (at, (time, relative)) in times.iter().enumerate() {
        if at == times.len() / 2 {
            bench.reset()?;
            due = Due::new();
        }
        let beat_data = random.random::<u64>() & (u64::MAX >> (64 - width));
        let beat_keep = random.random::<u64>() & (u64::MAX >> (64 - width / 8));
        let [is_valid, is_ready, is_last, is_bad, is_end] = random.random::<[bool; 5]>();
        bench.set(data, beat_data);
        bench.set(keep, beat_keep);
        bench.set(valid, is_valid.into());
        bench.set(ready, is_ready.into());
        bench.set(last, is_last.into());
        bench.set(end, is_end.into());
        bench.set_wide(user, time.0 << 1 | u128::from(is_bad));
        bench.tick()?;
        let beat = (
            is_valid && is_ready,
            beat_data,
            beat_keep,
            u64::from(is_last),
            u128::from(relative.0) << 1 | u128::from(is_bad),
            is_end,
        );
        let found = (
            bench.get(m_valid) == 1,
            bench.get(m_data),
            bench.get(m_keep),
            bench.get(m_last),
            bench.get_wide(m_user),
            bench.get(m_end) == 1,
        );
        same(STAGE, at as u64, "beat", &due.after(beat), &found)?;
    }
    Ok(times.len() as u64)
}

/// The adjustable clock's time as a sum in closed form: products of cycles instead of additions.
#[derive(Default)]
struct ClosedForm {
    /// In 2^-32 ns, without any wrap: what the present run of equal cycles and the present slew start from.
    start: i128,
    cycle: i128,
    cycles: i128,
    offset: i128,
    slew_cycles: i128,
}

impl ClosedForm {
    fn now(&self) -> i128 {
        let slewed = self.offset * self.slew_cycles.min(SLEW_CYCLES.into());
        self.start + self.cycle * self.cycles + slewed
    }

    fn end_slew(&mut self) {
        self.start += self.offset * self.slew_cycles.min(SLEW_CYCLES.into());
        (self.offset, self.slew_cycles) = (0, 0);
    }

    fn after(&mut self, controls: &Controls) -> Timestamp {
        let cycle = i128::from(controls.period) + i128::from(controls.rate);
        if cycle != self.cycle {
            self.start += self.cycle * self.cycles;
            (self.cycle, self.cycles) = (cycle, 0);
        }
        if controls.set || controls.step {
            self.end_slew();
            let value = i128::from(controls.value) << 16;
            if controls.set {
                self.start = value - self.cycle * self.cycles;
            } else {
                self.start += value;
            }
        }
        self.cycles += 1;
        self.slew_cycles += 1;
        let time = Timestamp((self.now().rem_euclid(1 << 80) >> 16) as u64);
        if controls.slew && !controls.set && !controls.step {
            self.end_slew();
            self.offset = controls.offset.into();
        }
        time
    }
}

/// The adjustable clock, its twin, and the truth.
struct Clocks {
    bench: Bench,
    ports: [Port; 8],
    ptp_ts: Port,
    stepped: Port,
    locked: Port,
    slewing: Port,
    twin: AdjustableClock,
    closed: ClosedForm,
    due: Due<(Timestamp, bool)>,
    before: u64,
    random: StdRng,
}

impl Clocks {
    fn new(toolchain: &Toolchain, verilog: &str, seed: u64) -> Result<Self, CheckError> {
        let bench = Bench::new(toolchain, "adjustable_clock", verilog)?;
        let ports = [
            bench.port("period")?,
            bench.port("rate")?,
            bench.port("slew")?,
            bench.port("offset")?,
            bench.port("step")?,
            bench.port("set")?,
            bench.port("value")?,
            bench.port("synchronised")?,
        ];
        Ok(Clocks {
            ports,
            ptp_ts: bench.port("ptp_ts")?,
            stepped: bench.port("stepped")?,
            locked: bench.port("locked")?,
            slewing: bench.port("slewing")?,
            bench,
            twin: AdjustableClock::default(),
            closed: ClosedForm::default(),
            due: Due::new(),
            before: 0,
            random: StdRng::seed_from_u64(seed),
        })
    }

    fn reset(&mut self) -> Result<(), CheckError> {
        self.bench.reset()?;
        self.twin = AdjustableClock::default();
        self.closed = ClosedForm::default();
        self.due = Due::new();
        self.before = 0;
        Ok(())
    }

    /// One cycle. Without their pulse, `offset` and `value` are noise.
    fn tick(&mut self, controls: &Controls) -> Result<(), CheckError> {
        const STAGE: &str = "adjustable_clock";
        let at = self.bench.cycles();
        let mut controls = *controls;
        if !controls.slew {
            controls.offset = self.random.random();
        }
        if !controls.set && !controls.step {
            controls.value = self.random.random();
        }
        let values = [
            controls.period,
            u64::from(controls.rate.cast_unsigned()),
            controls.slew.into(),
            u64::from(controls.offset.cast_unsigned()),
            controls.step.into(),
            controls.set.into(),
            controls.value,
            controls.synchronised.into(),
        ];
        for (port, value) in self.ports.into_iter().zip(values) {
            self.bench.set(port, value);
        }
        self.bench.tick()?;
        let found = Reading {
            time: Timestamp(self.bench.get(self.ptp_ts)),
            stepped: self.bench.get(self.stepped) == 1,
            locked: self.bench.get(self.locked) == 1,
        };
        same(STAGE, at, "twin's reading", &self.twin.tick(&controls), &found)?;
        let slewing = self.bench.get(self.slewing) == 1;
        same(STAGE, at, "slewing", &self.twin.slewing(), &slewing)?;
        let forward = controls.period >= 1 << 32;
        let (time, may_run_back) = self.due.after((self.closed.after(&controls), !forward));
        same(STAGE, at, "true time", &time, &found.time)?;
        let runs_back = found.time.0.wrapping_sub(self.before) >> 63 == 1;
        let excused = found.stepped || may_run_back;
        same(STAGE, at, "time that runs backwards", &false, &(runs_back && !excused))?;
        self.before = found.time.0;
        Ok(())
    }

    fn run(&mut self, controls: &Controls, cycles: u32) -> Result<(), CheckError> {
        let quiet = Controls { slew: false, step: false, set: false, ..*controls };
        (0..cycles).try_for_each(|_| self.tick(&quiet))
    }

    fn directed(&mut self) -> Result<(), CheckError> {
        let plain = Controls { period: 8 << 32, synchronised: true, ..Controls::default() };
        self.run(&plain, 100)?;
        // The wrap of 2^48 ns, forwards, and a step back over it.
        self.tick(&Controls { set: true, value: 0u64.wrapping_sub(101 * NANOSECOND), ..plain })?;
        self.run(&plain, 20)?;
        self.tick(&Controls { step: true, value: 0u64.wrapping_sub(300 * NANOSECOND), ..plain })?;
        self.run(&plain, 60)?;
        // Carries from the lower half: a 256th nanosecond, every length of carry, by running and by steps of one.
        for bit in 24..64 {
            self.tick(&Controls { set: true, value: (1 << bit) - 20 * NANOSECOND, ..plain })?;
            self.run(&plain, 5)?;
            self.tick(&Controls { set: true, value: (1 << bit) - 8 * NANOSECOND - 1, ..plain })?;
            self.tick(&Controls { step: true, value: 1, ..plain })?;
            self.tick(&Controls { step: true, value: u64::MAX, ..plain })?;
            self.tick(&Controls { step: true, value: 1 << bit, ..plain })?;
            self.tick(&Controls { step: true, value: (1u64 << bit).wrapping_neg(), ..plain })?;
            self.run(&plain, 5)?;
        }
        // The extremes of everything that is added; with a period of nothing, time runs backwards.
        for period in [1 << 32, (1 << 40) - 1, 8 << 32, 0] {
            for rate in [i32::MIN, -1, 0, 1, i32::MAX] {
                for offset in [i32::MIN, -1, 0, 1, i32::MAX] {
                    let controls = Controls { period, rate, offset, ..Controls::default() };
                    self.tick(&Controls { slew: true, ..controls })?;
                    self.run(&controls, 10)?;
                }
                self.tick(&Controls { set: true, value: u64::MAX, ..plain })?;
            }
        }
        // Two commands at every distance, and three things at once.
        for first in 1..8u8 {
            for second in 1..8u8 {
                for distance in 0..6 {
                    let command = |which: u8, value: u64| Controls {
                        slew: which & 1 == 1,
                        offset: -1_000_000,
                        step: which & 2 == 2,
                        set: which & 4 == 4,
                        value,
                        ..plain
                    };
                    self.tick(&command(first, 1000 * NANOSECOND))?;
                    self.run(&plain, distance)?;
                    self.tick(&command(second, 77 * NANOSECOND + 1))?;
                    self.run(&plain, 6)?;
                }
            }
        }
        // Whole slews, one of them right behind another, one cut by reset.
        for offset in [i32::MIN, -70_000, 1, i32::MAX] {
            self.tick(&Controls { slew: true, offset, rate: -5, ..plain })?;
            self.run(&Controls { rate: -5, ..plain }, SLEW_CYCLES)?;
        }
        self.run(&plain, 10)?;
        self.tick(&Controls { slew: true, offset: i32::MAX, ..plain })?;
        self.run(&plain, 10)?;
        self.reset()?;
        self.run(&plain, 10)
    }

    fn random(&mut self, cycles: u64) -> Result<(), CheckError> {
        let mut controls = Controls { period: 8 << 32, ..Controls::default() };
        for cycle in 0..cycles {
            // Restless and quiet stretches take turns.
            let scale = if cycle / 2048 % 2 == 0 { 1 } else { 64 };
            let random = &mut self.random;
            let shift = random.random_range(0..32);
            if random.random_ratio(1, 8 * scale) {
                controls.rate = random.random::<i32>() >> shift;
            }
            if random.random_ratio(1, 32 * scale) {
                controls.period = random.random_range(1 << 32..1u64 << 40) >> (shift % 8);
            }
            controls.synchronised ^= random.random_ratio(1, 16 * scale);
            controls.slew = random.random_ratio(1, 16 * scale);
            controls.offset = random.random::<i32>() >> shift;
            controls.step = random.random_ratio(1, 32 * scale);
            controls.set = random.random_ratio(1, 64 * scale);
            controls.value = (random.random::<i64>() >> (2 * shift)).cast_unsigned();
            self.tick(&controls)?;
        }
        Ok(())
    }
}

/// Runs the directed sequences and `count` random cycles; returns the number of cycles.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn adjustable_clock(
    toolchain: &Toolchain,
    verilog: &str,
    count: u64,
    seed: u64,
) -> Result<u64, CheckError> {
    let mut clocks = Clocks::new(toolchain, verilog, seed)?;
    clocks.directed()?;
    clocks.random(count)?;
    Ok(clocks.bench.cycles())
}
