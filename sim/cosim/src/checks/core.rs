//! Core: frames and interval ends in, control frames out.

use super::{CheckError, same};
use crate::bench::with_preload;
use crate::faults::{either, with_input};
use crate::hardware::{Beat, Hardware, HardwarePoint, TOP};
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::classifier::Entry;
use deltaline_model::packet::identity::PAYLOAD_WORD;
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::time::{AbsoluteTime, TimeBase, Timestamp};
use deltaline_model::wire::delimiter::Delimiter;
use deltaline_model::wire::frame::{Flags, Frame, Role, Totals};
use deltaline_traffic::{self as traffic, Frames};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use verilator_sys::Toolchain;

const STAGE: &str = "core";

/// Most cycles from the last beat of a frame, or an interval end, to its commit.
const COMMIT: usize = 7;

/// Identifier of the measurement point.
const POINT: u32 = 0x89ab_cdef;

/// A plain UDP packet that is told apart by its number, and goes to the port of that number: with classes that are told
/// apart by ports, neighbours are of different ones.
pub fn udp_frame(number: u32, length: usize) -> Vec<u8> {
    let mut frame = traffic::udp_frame(number, length);
    frame[36..38].copy_from_slice(&(number as u16).to_be_bytes());
    frame
}

/// Entries that tell 1 to 4 classes apart by the lowest bits of the word of the ports, and leave some packets out.
pub fn entries(classes: u8) -> Vec<Entry> {
    let entry = |class: u8, mask: u32, value: u32| {
        let mut entry = Entry { class, ..Entry::default() };
        (entry.mask[PAYLOAD_WORD], entry.value[PAYLOAD_WORD]) = (mask, value);
        entry
    };
    let mut entries = match classes {
        1 => vec![entry(0, 1, 0)],
        2 => vec![entry(0, 3, 0), entry(1, 1, 1)],
        _ => (0..classes.min(4)).map(|class| entry(class, 7, class.into())).collect(),
    };
    if classes > 2 {
        // Another entry of a class, and one that looks at two words.
        entries.push(entry(1, 7, 4));
        let mut last = entry(0, 7, 6);
        (last.mask[0], last.value[0]) = (0xf000_0000, 0x4000_0000);
        entries.push(last);
    }
    entries
}

/// Runs random traffic alone, `count` frames; returns their number.
///
/// # Errors
///
/// As [`check`].
pub fn traffic(
    toolchain: &Toolchain,
    configuration: &Configuration,
    verilog: &str,
    count: u64,
    seed: u64,
) -> Result<u64, CheckError> {
    let hardware = Hardware::of(toolchain, configuration, verilog)?;
    let mut twin = Twin::new(&hardware, configuration, Role::Sender, seed)?;
    twin.hardware.start()?;
    let mut frames = Frames::new(seed);
    while twin.packets < count {
        twin.random_interval(&mut frames)?;
    }
    twin.compare()?;
    Ok(twin.packets)
}

/// Hardware and model side by side.
struct Twin {
    hardware: HardwarePoint,
    model: MeasurementPoint,
    expected: Vec<Vec<u8>>,
    packets: u64,
    random: StdRng,
    back_pressure: bool,
}

/// Runs the directed scenarios and intervals of random traffic until `count` frames of it have passed; returns the
/// number of all frames.
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
    preloaded_counters(toolchain, configuration, verilog)?;
    let hardware = Hardware::of(toolchain, configuration, verilog)?;
    let mut packets = 0;
    for (role, seed) in [(Role::Sender, seed), (Role::Receiver, !seed)] {
        let mut twin = Twin::new(&hardware, configuration, role, seed)?;
        twin.before_it_counts()?;
        twin.line_rate()?;
        // With each of the two copies in the role of the other.
        for _ in 0..2 {
            twin.refused_ends()?;
            twin.ends_around_a_drains_end()?;
            twin.ends_between_neighbours(None)?;
            twin.ends_by_the_clock()?;
            twin.lost_clock()?;
            twin.absolute_times()?;
            twin.delimiters()?;
            twin.end_interval()?;
            twin.compare()?;
        }
        let (mut frames, directed) = (Frames::new(seed), twin.packets);
        while twin.packets - directed < count / 2 {
            twin.random_interval(&mut frames)?;
        }
        twin.reset_in_the_middle(configuration, role)?;
        packets += twin.packets;
    }
    Ok(packets)
}

impl Twin {
    /// Hardware out of reset, still clearing its memories.
    fn new(
        hardware: &Hardware,
        configuration: &Configuration,
        role: Role,
        seed: u64,
    ) -> Result<Self, CheckError> {
        let mut twin = Twin {
            hardware: hardware.unstarted_point(role)?,
            model: MeasurementPoint::new(configuration, role),
            expected: vec![],
            packets: 0,
            random: StdRng::seed_from_u64(seed),
            back_pressure: false,
        };
        twin.model.set_id(POINT);
        twin.hardware.set_id(POINT);
        Ok(twin)
    }

    /// One cycle, with back-pressure if wanted.
    fn cycle(&mut self) -> Result<(), CheckError> {
        if self.back_pressure {
            self.hardware.set_ready(self.random.random_ratio(1, 2));
        }
        Ok(self.hardware.tick()?)
    }

    /// A frame, one cycle in `gaps` idle or stalled, shown to both.
    fn frame(&mut self, frame: &[u8], bad: bool, gaps: u32) -> Result<(), CheckError> {
        let time = Timestamp(self.random.random());
        for beat in self.hardware.beats(frame, time, bad) {
            while gaps > 0 && self.random.random_ratio(1, gaps) {
                if self.random.random() {
                    self.cycle()?;
                } else {
                    self.hardware.stalled_beat(beat)?;
                }
            }
            if self.back_pressure {
                self.hardware.set_ready(self.random.random_ratio(1, 2));
            }
            self.hardware.beat(beat)?;
        }
        self.packets += 1;
        if bad {
            self.model.observe_bad();
        } else {
            self.model.observe(frame, time);
        }
        Ok(())
    }

    fn end_model(&mut self, end: IntervalEnd) {
        let expected = &mut self.expected;
        self.model.end_interval(end, |frame| expected.push(frame.to_vec()));
        self.hardware.expect_interval();
    }

    fn end_interval(&mut self) -> Result<(), CheckError> {
        self.hardware.request_interval_end()?;
        self.end_model(IntervalEnd::Delimiter);
        Ok(())
    }

    /// Waits for the control frames that are due and compares them.
    fn compare(&mut self) -> Result<(), CheckError> {
        self.hardware.set_ready(true);
        self.hardware.wait_for_frames()?;
        let found = self.hardware.take_frames();
        same(STAGE, self.packets, "number of control frames", &self.expected.len(), &found.len())?;
        for (expected, found) in std::mem::take(&mut self.expected).iter().zip(&found) {
            if expected != found {
                // The header says more than a thousand bytes do.
                let header = |bytes| Frame::decode(bytes).map(|frame| frame.header);
                same(STAGE, self.packets, "control frame's header", &header(expected), &header(found))?;
                same(STAGE, self.packets, "control frame", expected, found)?;
            }
        }
        Ok(())
    }

    /// Frames and interval ends while the memories are cleared leave no trace.
    fn before_it_counts(&mut self) -> Result<(), CheckError> {
        let mut frames = Frames::new(3);
        while !self.hardware.is_running() {
            let frame = frames.next_frame();
            for beat in self.hardware.beats(&frame[..frame.len().min(64)], Timestamp(1), false) {
                if !self.hardware.is_running() {
                    self.hardware.beat(beat)?;
                }
            }
            self.hardware.request_interval_end()?;
            // Enough for what was on its way to come through while the memories are still cleared: 2 cycles a word.
            let words = self.model.cells().len();
            if self.hardware.cycles() > 2 * words as u64 - 24 {
                self.hardware.start()?;
            }
        }
        // The frame that was cut off by the loop ends here, bad.
        self.frame(&[0; 8], true, 0)?;
        self.end_interval()?;
        self.compare()
    }

    /// 64-byte frames (60 without FCS) back to back: none is lost.
    fn line_rate(&mut self) -> Result<(), CheckError> {
        for number in 0..3000 {
            self.frame(&udp_frame(number, 60), false, 0)?;
        }
        self.end_interval()?;
        self.compare()
    }

    /// Delimiters of this measurement end intervals behind themselves and bring their number; others, broken and
    /// bad ones end none.
    fn delimiters(&mut self) -> Result<(), CheckError> {
        let configuration = *self.model.configuration();
        let ours = |number: u32| Delimiter::new(&configuration, number).encode().to_vec();
        let changed = |position: usize| {
            let mut frame = ours(1);
            frame[position] ^= 0x10;
            frame
        };
        // Each byte that is compared, MAC addresses and number that are not, every length, a bad one.
        let mut frames: Vec<(Vec<u8>, bool)> = vec![(ours(7), true)];
        frames.extend((0..32).map(|position| (changed(position), false)));
        frames.extend((14..=64).map(|length| (ours(0x1234_5678)[..length].to_vec(), false)));
        frames.extend([0, 1, 2, 2, 4, 0xffff_ffff, 0].map(|number| (ours(number), false)));
        let mut number = 0;
        for (frame, bad) in frames {
            self.frame(&udp_frame(number, 60), false, 0)?;
            self.frame(&frame, bad, 0)?;
            let found = if bad { None } else { Delimiter::recognise(&configuration, &frame) };
            if let Some(found) = found {
                let expected = &mut self.expected;
                self.model.end_interval_at(found, |frame| expected.push(frame.to_vec()));
                self.hardware.expect_interval();
            }
            // Another delimiter right behind it is refused; a control frame and packets change nothing.
            if found.is_some() {
                self.frame(&ours(0xfeed_beef), false, 0)?;
                self.model.refuse_interval_end();
            }
            self.frame(&changed(15), false, 0)?;
            self.frame(&udp_frame(number + 1, 60), false, 0)?;
            self.compare()?;
            // Nor does a frame of one byte behind a delimiter end another interval.
            if let Some(found) = found {
                self.frame(&frame, false, 0)?;
                let expected = &mut self.expected;
                self.model.end_interval_at(found, |frame| expected.push(frame.to_vec()));
                self.hardware.expect_interval();
                self.frame(&[0xff], false, 0)?;
            }
            self.frame(&udp_frame(number + 2, 60), false, 0)?;
            number += 3;
            self.compare()?;
        }
        self.end_interval()?;
        self.compare()
    }

    /// Interval ends while the drain works are refused, counted, and nothing else changes.
    fn refused_ends(&mut self) -> Result<(), CheckError> {
        for refused in [1, 3] {
            self.frame(&udp_frame(refused, 60), false, 0)?;
            self.end_interval()?;
            for number in 0..refused {
                self.frame(&udp_frame(number, 60), false, 0)?;
                self.hardware.request_interval_end()?;
                self.model.refuse_interval_end();
            }
            self.compare()?;
            self.frame(&udp_frame(9, 60), false, 0)?;
            self.end_interval()?;
            self.compare()?;
        }
        Ok(())
    }

    /// An interval end in each cycle of two frames: up to a frame's last beat it comes before the frame, from its
    /// last beat on behind it. With `log2` the clock ends the interval, every 2^log2 ns, 8 ns a cycle.
    fn ends_between_neighbours(&mut self, log2: Option<u8>) -> Result<(), CheckError> {
        let beat_count = udp_frame(0, 60).len().div_ceil(self.hardware.beat_bytes());
        for at in 0..2 * beat_count {
            // Times in the window that the previous boundary opened: nothing but the next boundary ends an interval.
            let boundary = log2.map(|log2| (at as u64 + 1) << log2);
            self.frame(&udp_frame(0, 60), false, 0)?;
            for number in 0..2 {
                let time = Timestamp(self.random.random());
                // Any flow: only a sampled packet shows in which copy it counts.
                let frame = udp_frame(self.random.random(), 60);
                for (index, beat) in self.hardware.beats(&frame, time, false).enumerate() {
                    let position = number as usize * beat_count + index;
                    if beat.last {
                        self.model.observe(&frame, time);
                    }
                    if let Some(boundary) = boundary {
                        let now = boundary + 8 * position as u64 - 8 * at as u64;
                        self.hardware.set_time(Timestamp::from_nanoseconds(now));
                    } else {
                        self.hardware.set_interval_end(position == at);
                    }
                    if position == at {
                        self.end_model(if log2.is_some() {
                            IntervalEnd::Clock
                        } else {
                            IntervalEnd::Delimiter
                        });
                    }
                    self.hardware.beat(beat)?;
                    self.hardware.set_interval_end(false);
                }
            }
            self.packets += 3;
            self.compare()?;
        }
        Ok(())
    }

    /// Ends by the clock, with intervals from 256 ns to 39 hours.
    fn ends_by_the_clock(&mut self) -> Result<(), CheckError> {
        for log2 in [8, 10, 20, 43] {
            // At time zero all bits are equal: neither the jump nor the new exponent ends an interval.
            self.hardware.set_interval_log2(0);
            self.hardware.set_time(Timestamp(0));
            for _ in 0..COMMIT {
                self.cycle()?;
            }
            self.hardware.set_interval_log2(log2);
            self.ends_between_neighbours(Some(log2))?;
            self.hardware.set_interval_log2(0);
            // What the last boundary started is flagged too.
            self.end_interval()?;
            self.compare()?;
        }
        // Exponents beyond the clock's width end nothing.
        self.hardware.set_interval_log2(63);
        for time in [0, 1 << 63, u64::MAX, 0] {
            self.hardware.set_time(Timestamp(time));
            for _ in 0..2 * COMMIT {
                self.cycle()?;
            }
        }
        self.hardware.set_interval_log2(0);
        self.hardware.set_time(Timestamp(0));
        self.end_interval()?;
        self.compare()
    }

    /// Two ends in all distances around the length of a drain: the second is either refused and counted, or
    /// accepted, and nothing is lost.
    fn ends_around_a_drains_end(&mut self) -> Result<(), CheckError> {
        self.compare()?;
        // How long a drain takes, from the end to the last beat of its last frame.
        self.end_interval()?;
        let started = self.hardware.cycles();
        while !self.hardware.is_drained() {
            self.cycle()?;
        }
        let length = self.hardware.cycles() - started;
        self.compare()?;
        let mut refused_before = true;
        for distance in length - 12..length + 12 {
            self.frame(&udp_frame(1, 60), false, 0)?;
            self.end_interval()?;
            self.frame(&udp_frame(2, 60), false, 0)?;
            let beats = udp_frame(2, 60).len().div_ceil(self.hardware.beat_bytes()) as u64;
            for _ in 0..distance - beats {
                self.cycle()?;
            }
            self.hardware.request_interval_end()?;
            self.compare()?;
            // An accepted end brings frames of its own.
            let asked = self.hardware.cycles();
            while self.hardware.cycles() < asked + length + 64 {
                self.cycle()?;
            }
            let found = self.hardware.take_frames();
            let refused = found.is_empty();
            if refused {
                self.model.refuse_interval_end();
            } else {
                let mut expected = vec![];
                self.model.end_interval(IntervalEnd::Delimiter, |frame| expected.push(frame.to_vec()));
                same(STAGE, distance, "control frames of the second end", &expected, &found)?;
            }
            // Once accepted, always accepted.
            same(
                STAGE,
                distance,
                "second end refused behind a drain",
                &false,
                &(refused && !refused_before),
            )?;
            refused_before = refused;
            self.end_interval()?;
            self.compare()?;
        }
        same(STAGE, length, "second end refused long behind a drain", &false, &refused_before)
    }

    /// One cycle without lock flags the interval of the frames that end in that cycle, and no other.
    fn lost_clock(&mut self) -> Result<(), CheckError> {
        const AROUND: usize = 10;
        for lost in 0..2 * AROUND {
            self.frame(&udp_frame(4, 60), false, 0)?;
            for cycle in 0..2 * AROUND {
                self.hardware.set_locked(cycle != lost);
                self.hardware.set_interval_end(cycle == AROUND);
                if cycle == lost {
                    self.model.clock_unlocked();
                }
                if cycle == AROUND {
                    self.end_model(IntervalEnd::Delimiter);
                }
                self.cycle()?;
            }
            self.hardware.set_locked(true);
            self.hardware.set_interval_end(false);
            self.compare()?;
            self.end_interval()?;
            self.compare()?;
        }
        Ok(())
    }

    /// The absolute time of an interval's end holds still for its drain, whatever the clock shows then, and an end that is
    /// refused takes none.
    fn absolute_times(&mut self) -> Result<(), CheckError> {
        let times = [
            Some(AbsoluteTime { base: TimeBase::Tai, seconds: 0x8000_0000_0001 }),
            Some(AbsoluteTime { base: TimeBase::Unix, seconds: 0x7fff_ffff_fffe }),
            None,
        ];
        for time in times {
            self.frame(&udp_frame(5, 60), false, 0)?;
            self.hardware.set_absolute_time(time);
            self.model.set_time(time);
            self.end_interval()?;
            for _ in 0..2 * COMMIT {
                self.cycle()?;
            }
            self.hardware.set_absolute_time(times[0]);
            self.hardware.request_interval_end()?;
            self.model.refuse_interval_end();
            self.compare()?;
            self.hardware.set_absolute_time(None);
            self.model.set_time(None);
        }
        self.end_interval()?;
        self.compare()
    }

    /// Traffic of every kind, drained while the next interval's traffic passes.
    fn random_interval(&mut self, frames: &mut Frames) -> Result<(), CheckError> {
        self.back_pressure = self.random.random();
        let gaps = [0, 0, 2, 8][self.random.random_range(0..4)];
        let length = self.random.random_range(1..600);
        for _ in 0..length {
            let frame = frames.next_frame();
            let bad = self.random.random_ratio(1, 32);
            self.frame(&frame, bad, gaps)?;
        }
        // What the previous interval owes comes out meanwhile, or now.
        self.compare()?;
        self.end_interval()
    }

    /// A reset amid a frame and a drain: the core starts over as if nothing had been, and the frame's rest, which
    /// holds what could pass for a frame, leaves no trace.
    fn reset_in_the_middle(&mut self, configuration: &Configuration, role: Role) -> Result<(), CheckError> {
        self.compare()?;
        self.back_pressure = false;
        for number in 0..200 {
            self.frame(&udp_frame(number, 60), false, 0)?;
        }
        self.hardware.request_interval_end()?;
        for _ in 0..300 {
            self.cycle()?;
        }
        let mut long = udp_frame(3, 1514);
        long[64..124].copy_from_slice(&udp_frame(4, 60));
        let long: Vec<Beat> = self.hardware.beats(&long, Timestamp(5), false).collect();
        let (before, behind) = long.split_at(64 / self.hardware.beat_bytes());
        before.iter().try_for_each(|beat| self.hardware.beat(*beat))?;
        self.hardware.restart()?;
        self.model = MeasurementPoint::new(configuration, role);
        self.model.set_id(POINT);
        behind.iter().try_for_each(|beat| self.hardware.beat(*beat))?;
        self.hardware.start()?;
        for number in 0..200 {
            self.frame(&udp_frame(number, 60), false, 0)?;
        }
        // No delimiter has begun this interval: it has a gap, whatever its number.
        let delimiter = Delimiter::new(configuration, 0).encode();
        self.frame(&delimiter, false, 0)?;
        let expected = &mut self.expected;
        self.model.end_interval_at(0, |frame| expected.push(frame.to_vec()));
        self.hardware.expect_interval();
        self.compare()?;
        self.end_interval()?;
        self.compare()
    }
}

/// Counters near their ends: carries between the halves of the totals, saturation, the saturated flag. The emitted
/// text is changed so that reset, or clearing, leaves the counters full.
fn preloaded_counters(
    toolchain: &Toolchain,
    configuration: &Configuration,
    verilog: &str,
) -> Result<(), CheckError> {
    let reset_to = |name: &str, width: u32, value: u64| {
        (
            format!("module deltaline_aggregator_{name}("),
            format!("q <= {width}'h0;"),
            format!("q <= {width}'h{value:x};"),
        )
    };
    let near_carry = [
        reset_to("class_totals_0_packets_low", 24, 0xff_fff0),
        reset_to("class_totals_0_bytes_low", 24, 0xff_ff00),
        reset_to("totals_unmeasured_count_low", 16, 0xfffe),
        reset_to("totals_bad_count_low", 16, 0xfffd),
        reset_to("time_sum_0_low", 24, 0xff_fff0),
        reset_to("time_sum_0_middle", 24, 0xff_ffff),
        reset_to("time_sum_0_high", 16, 0xffff),
    ];
    let near_overflow = [
        reset_to("class_totals_0_packets_low", 24, 0xff_fff0),
        reset_to("class_totals_0_packets_high", 24, 0xff_ffff),
        reset_to("totals_unmeasured_count_low", 16, 0xfffe),
        reset_to("totals_unmeasured_count_high", 16, 0xffff),
        reset_to("totals_bad_count_low", 16, 0xfffd),
        reset_to("totals_bad_count_high", 16, 0xffff),
    ];
    let near_overflow_of_bytes = [
        reset_to("class_totals_0_bytes_low", 24, 0xff_ff00),
        reset_to("class_totals_0_bytes_high", 24, 0xff_ffff),
    ];
    let full = |half: &str| {
        (
            format!("module deltaline_aggregator_lane_0_lda_{half}("),
            "ram_0_write_data = 32'h0;".into(),
            "ram_0_write_data = 36'hffff00000;".into(),
        )
    };
    let full_cells = [full("lower"), full("upper")];
    let time = Timestamp::from_nanoseconds(7);
    let mut model = MeasurementPoint::new(configuration, Role::Sender);
    let zero = model.totals(0);
    (0..40).for_each(|number| model.observe(&traffic::udp_frame(number, 60), time));
    (0..3).for_each(|_| model.observe(&[0; 60], time));
    (0..3).for_each(|_| model.observe_bad());
    let counted = model.totals(0);
    let saturated = Flags { saturated: true, ..Flags::default() };
    let cases: [(&[Change], Totals); 4] = [
        (
            &near_carry,
            Totals {
                packets: 0xff_fff0 + 40,
                bytes: 0xff_ff00 + 40 * 46,
                time_sum: Some(40 * 7 - 0x10),
                unmeasured: 0xfffe + 3,
                bad: 0xfffd + 3,
                ..counted
            },
        ),
        (
            &near_overflow,
            Totals { packets: 40 - 16, unmeasured: u32::MAX, bad: u32::MAX, flags: saturated, ..counted },
        ),
        (&near_overflow_of_bytes, Totals { bytes: 40 * 46 - 0x100, flags: saturated, ..counted }),
        (&full_cells, Totals { flags: saturated, ..counted }),
    ];
    // Ends are refused at the earliest in the second interval, so the first must leave the counter full.
    let near_end = [(
        "module deltaline_aggregator_totals(".to_string(),
        "refused_count_d = 32'h0;".to_string(),
        "refused_count_d = 16'hfffe;".to_string(),
    )];
    let changes: Vec<&[Change]> = cases.iter().map(|(changes, _)| *changes).chain([&near_end[..]]).collect();
    let hardware = Hardware::of(toolchain, configuration, &preloadable(verilog, &changes)?)?;
    let point = |case| with_preload(case, || hardware.point(Role::Sender));

    for (case, (_, expected)) in (1..).zip(&cases) {
        let mut point = point(case)?;
        for number in 0..40 {
            point.observe(&traffic::udp_frame(number, 60), time)?;
        }
        for _ in 0..3 {
            point.observe(&[0; 60], time)?;
            let bad = udp_frame(0, 60);
            for beat in point.beats(&bad, time, true) {
                point.beat(beat)?;
            }
        }
        point.end_interval()?;
        same(STAGE, case, "totals near their ends", &Some(*expected), &totals(&mut point)?)?;
    }

    let mut point = point(1 + cases.len() as u64)?;
    point.end_interval()?;
    for _ in 0..3 {
        point.request_interval_end()?;
    }
    totals(&mut point)?;
    point.end_interval()?;
    let flags = Flags { overrun: true, ..Flags::default() };
    let expected = Totals { refused_ends: u16::MAX, flags, ..zero };
    same(STAGE, 0, "refused ends near their end", &Some(expected), &totals(&mut point)?)
}

/// The totals of the interval whose control frames are due.
fn totals(point: &mut HardwarePoint) -> Result<Option<Totals>, CheckError> {
    point.wait_for_frames()?;
    let frames = point.take_frames();
    Ok(frames.first().and_then(|frame| Frame::decode(frame).ok()).map(|frame| frame.header.totals))
}

/// The text with an input `preload`, whose value, from one, says which of the lists of changes holds.
fn preloadable(verilog: &str, cases: &[&[Change]]) -> Result<String, CheckError> {
    let mut text = with_input(verilog, TOP, "preload");
    for (case, changes) in (1..).zip(cases) {
        for (module, from, to) in *changes {
            let start = text.find(module.as_str()).unwrap_or(text.len());
            let either = either(&format!("{TOP}.preload == 8'd{case}"), from, to);
            let changed = text[start..].replacen(from.as_str(), &either, 1);
            same(STAGE, 0, "text to change", &true, &(changed != text[start..]))?;
            text.replace_range(start.., &changed);
        }
    }
    Ok(text)
}

/// A module, a text in it, and what replaces its first occurrence.
type Change = (String, String, String);
