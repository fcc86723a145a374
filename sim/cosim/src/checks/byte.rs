//! Byte core: frames and interval ends in, control frames out, one byte a cycle.

use crate::error::{CheckError, same};
use crate::faults::Fault;
use crate::hardware::{Hardware, HardwarePoint};
use crate::stream::{Beat, IDLE, beats};
use deltaline_model::configuration::Configuration;
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::time::Timestamp;
use deltaline_model::wire::delimiter::Delimiter;
use deltaline_model::wire::frame::{Flags, Frame, Role, Totals};
use deltaline_traffic::{Frames, udp_frame};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use verilator_sys::Toolchain;

const STAGE: &str = "byte core";

/// Name that the core is emitted under for its check.
pub const TOP: &str = "deltaline";

/// Cycles from the last byte of a frame, or an interval end, to its commit.
const COMMIT: usize = 5;

/// Runs the directed scenarios, then `count` frames of random traffic; returns the number of all frames.
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
    let mut packets = 0;
    for (role, seed) in [(Role::Sender, seed), (Role::Receiver, !seed)] {
        let mut twin = Twin::new(&hardware, configuration, role, seed)?;
        twin.before_it_counts()?;
        twin.line_rate()?;
        twin.every_cut()?;
        // With each of the two copies in the role of the other.
        for _ in 0..2 {
            twin.delimiters()?;
            twin.refused_ends()?;
            twin.ends_around_a_drains_end()?;
            twin.ends_at_every_byte(None)?;
            twin.lost_clock()?;
            twin.end_interval()?;
            twin.compare()?;
        }
        twin.ends_by_the_clock()?;
        let (mut frames, directed) = (Frames::new(seed), twin.packets);
        while twin.packets - directed < count / 2 {
            twin.random_interval(&mut frames)?;
        }
        twin.reset_in_the_middle(configuration, role)?;
        packets += twin.packets;
    }
    Ok(packets)
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
    twin.point.start()?;
    let mut frames = Frames::new(seed);
    while twin.packets < count {
        twin.random_interval(&mut frames)?;
    }
    twin.compare()?;
    Ok(twin.packets)
}

/// The bytes of a frame; what counts in one byte only is wrong in all others.
fn octets(frame: &[u8], time: Timestamp, bad: bool) -> impl Iterator<Item = Beat> {
    beats(1, frame, time, bad).map(move |octet| Beat { bad: octet.last == bad, ..octet })
}

/// The shortest packet: an IPv4 header alone, told apart by `number`.
fn shortest_packet(number: u32) -> Vec<u8> {
    let mut frame = vec![0u8; 34];
    frame[12..18].copy_from_slice(&[8, 0, 0x45, 0, 0, 20]);
    frame[26..30].copy_from_slice(&number.to_be_bytes());
    frame
}

/// Hardware and model side by side.
struct Twin {
    point: HardwarePoint,
    model: MeasurementPoint,
    expected: Vec<Vec<u8>>,
    packets: u64,
    random: StdRng,
    back_pressure: bool,
}

impl Twin {
    /// Hardware out of reset, still clearing its memories.
    fn new(
        hardware: &Hardware,
        configuration: &Configuration,
        role: Role,
        seed: u64,
    ) -> Result<Self, CheckError> {
        Ok(Twin {
            point: hardware.unstarted_point(role)?,
            model: MeasurementPoint::new(configuration, role),
            expected: vec![],
            packets: 0,
            random: StdRng::seed_from_u64(seed),
            back_pressure: false,
        })
    }

    /// Back-pressure for one cycle, if wanted.
    fn press(&mut self) {
        if self.back_pressure {
            let ready: bool = self.random.random();
            self.point.set_ready(ready);
        }
    }

    fn cycle(&mut self) -> Result<(), CheckError> {
        self.press();
        Ok(self.point.tick()?)
    }

    /// A frame, one cycle in `gaps` idle or stalled, shown to both.
    fn frame(&mut self, frame: &[u8], bad: bool, gaps: u32) -> Result<(), CheckError> {
        let time = Timestamp(self.random.random());
        for octet in octets(frame, time, bad) {
            while gaps > 0 && self.random.random_ratio(1, gaps) {
                self.press();
                if self.random.random() {
                    self.point.tick()?;
                } else {
                    self.point.stalled_beat(octet)?;
                }
            }
            self.press();
            self.point.beat(octet)?;
        }
        self.observe(frame, time, bad);
        Ok(())
    }

    fn observe(&mut self, frame: &[u8], time: Timestamp, bad: bool) {
        self.packets += 1;
        if bad {
            self.model.observe_bad();
        } else {
            self.model.observe(frame, time);
        }
    }

    fn end_model(&mut self, end: IntervalEnd) {
        let expected = &mut self.expected;
        self.model.end_interval(end, |frame| expected.push(frame.to_vec()));
        self.point.expect_interval();
    }

    fn end_model_at(&mut self, number: u32) {
        let expected = &mut self.expected;
        self.model.end_interval_at(number, |frame| expected.push(frame.to_vec()));
        self.point.expect_interval();
    }

    fn end_interval(&mut self) -> Result<(), CheckError> {
        self.point.request_interval_end()?;
        self.end_model(IntervalEnd::Delimiter);
        Ok(())
    }

    /// Waits for the control frames that are due and compares them.
    fn compare(&mut self) -> Result<(), CheckError> {
        self.point.set_ready(true);
        self.point.wait_for_frames()?;
        let found = self.point.take_frames();
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
        let end = self.clearing_cycles();
        // Stops early enough for what is on its way to come through while the memories are still cleared.
        'clearing: loop {
            for octet in octets(&shortest_packet(1), Timestamp(1), false) {
                if self.point.cycles() + 16 > end {
                    break 'clearing;
                }
                self.point.beat(octet)?;
            }
            self.point.beat(Beat { last: true, ..IDLE })?;
            self.point.request_interval_end()?;
        }
        self.point.start()?;
        // The frame that was cut off by the loop ends here, bad.
        self.frame(&[0; 8], true, 0)?;
        self.end_interval()?;
        self.compare()
    }

    /// When the core starts to count, in cycles since its bench was made: two of reset, then one a word of a plane.
    fn clearing_cycles(&self) -> u64 {
        let words = (2 * self.model.cells().len().next_power_of_two()).max(128);
        words as u64 + 2
    }

    /// The shortest packets, 64-byte frames and 1-byte frames back to back, with interval ends in every cycle of the
    /// drain: none is lost.
    fn line_rate(&mut self) -> Result<(), CheckError> {
        for number in 0..600 {
            self.frame(&udp_frame(number, 60), false, 0)?;
            self.frame(&shortest_packet(number), false, 0)?;
        }
        self.end_interval()?;
        for _ in 0..COMMIT {
            self.cycle()?;
        }
        self.point.set_interval_end(true);
        for number in 0..30 {
            for _ in 0..number {
                self.frame(&[1], false, 0)?;
                self.frame(&[2], true, 0)?;
                (0..2).for_each(|_| self.model.refuse_interval_end());
            }
            self.frame(&shortest_packet(number), false, 0)?;
            (0..34).for_each(|_| self.model.refuse_interval_end());
        }
        for _ in 0..200 {
            self.frame(&[3], false, 0)?;
            self.model.refuse_interval_end();
        }
        for _ in 0..200 {
            self.frame(&[3], true, 0)?;
            self.model.refuse_interval_end();
        }
        self.point.set_interval_end(false);
        same(
            STAGE,
            self.packets,
            "drain over before the ends were refused",
            &true,
            &!self.point.is_drained(),
        )?;
        self.compare()?;
        // Nothing but the shortest packets, through a whole drain.
        self.end_interval()?;
        let started = self.point.cycles();
        let mut number = 0;
        while !self.point.is_drained() {
            self.frame(&shortest_packet(number), false, 0)?;
            number += 1;
        }
        let length = self.point.cycles() - started;
        let (cells, frames) = (self.model.cells().len() as u64, self.point.frames_per_interval() as u64);
        same(
            STAGE,
            length,
            "the drain under load takes longer",
            &true,
            &(length <= 110 * cells + 900 * frames),
        )?;
        self.compare()?;
        self.end_interval()?;
        self.compare()
    }

    /// Frames of every kind, cut at every byte of the window and behind it; a packet of its own each.
    fn every_cut(&mut self) -> Result<(), CheckError> {
        let mut frames = Frames::new(self.random.random());
        for _ in 0..40 {
            let frame = frames.next_frame();
            for length in 1..=frame.len().min(140) {
                self.frame(&frame[..length], false, 0)?;
            }
        }
        // The deepest headers, up to and beyond the window: two VLAN tags and four labels, then three extension
        // headers or all IPv4 options.
        let mut deep =
            [&[0; 12][..], &[0x81, 0, 0, 1].repeat(2), &[0x88, 0x47], &[0, 0, 0, 64].repeat(3)].concat();
        deep.extend([0, 0, 1, 64]);
        let mut six = [&deep[..], &[0x60, 0, 0, 0, 0, 70, 0, 64], &[7; 32]].concat();
        six.extend(
            [[43, 0, 1, 1, 1, 1, 1, 1], [60, 0, 2, 2, 2, 2, 2, 2], [17, 0, 3, 3, 3, 3, 3, 3]].concat(),
        );
        let mut four = [&deep[..], &[0x4f, 0, 0, 100], &[9; 56]].concat();
        for number in 0..32 {
            for deep in [&mut six, &mut four] {
                deep.extend([number; 4]);
                self.frame(deep, false, 0)?;
            }
        }
        self.compare()?;
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
                self.end_model_at(found);
                // Another one right behind it is refused.
                self.frame(&ours(0xfeed_beef), false, 0)?;
                self.model.refuse_interval_end();
            }
            // A control frame, frames of one byte and packets change nothing.
            self.frame(&changed(15), false, 0)?;
            self.frame(&[0xff], false, 0)?;
            self.frame(&udp_frame(number + 1, 60), false, 0)?;
            self.compare()?;
            number += 2;
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
                self.point.request_interval_end()?;
                self.model.refuse_interval_end();
            }
            self.compare()?;
            self.frame(&udp_frame(9, 60), false, 0)?;
            self.end_interval()?;
            self.compare()?;
        }
        Ok(())
    }

    /// An interval end in each cycle of a few frames: up to a frame's last byte it comes before the frame, from its
    /// last byte on behind it. With `log2` the clock ends the interval, every 2^log2 ns, 8 ns a cycle.
    fn ends_at_every_byte(&mut self, log2: Option<u8>) -> Result<(), CheckError> {
        let frames: [(Vec<u8>, bool); 6] = [
            (shortest_packet(1), false),
            (vec![1], false),
            (vec![2], true),
            (vec![3, 4], false),
            (udp_frame(2, 46), false),
            (vec![5], true),
        ];
        let count: usize = frames.iter().map(|(frame, _)| frame.len()).sum();
        for at in 0..count {
            // Times in the window that the previous boundary opened: nothing but the next boundary ends an interval.
            let boundary = log2.map(|log2| (at as u64 + 1) << log2);
            self.frame(&udp_frame(0, 60), false, 0)?;
            let mut position = 0;
            for (frame, bad) in &frames {
                let time = Timestamp(self.random.random());
                for octet in octets(frame, time, *bad) {
                    if octet.last {
                        self.observe(frame, time, *bad);
                    }
                    if let Some(boundary) = boundary {
                        let now = boundary + 8 * position as u64 - 8 * at as u64;
                        let now = Timestamp::from_nanoseconds(now);
                        self.point.set_time(now);
                    } else {
                        self.point.set_interval_end(position == at);
                    }
                    if position == at {
                        self.end_model(log2.map_or(IntervalEnd::Delimiter, |_| IntervalEnd::Clock));
                    }
                    self.point.beat(octet)?;
                    self.point.set_interval_end(false);
                    position += 1;
                }
            }
            self.compare()?;
        }
        Ok(())
    }

    fn set_interval_log2(&mut self, log2: u8) {
        self.point.set_interval_log2(log2);
    }

    fn set_time(&mut self, time: u64) {
        self.point.set_time(Timestamp(time));
    }

    /// Ends by the clock, with intervals from 1 µs to 39 hours.
    fn ends_by_the_clock(&mut self) -> Result<(), CheckError> {
        for log2 in [10, 13, 22, 47] {
            // At time zero all bits are equal: neither the jump nor the new exponent ends an interval.
            self.set_interval_log2(0);
            self.set_time(0);
            for _ in 0..2 * COMMIT {
                self.cycle()?;
            }
            self.set_interval_log2(log2);
            if log2 < 40 {
                self.ends_at_every_byte(Some(log2))?;
            } else {
                // The clock's highest bit changes twice before it wraps.
                for time in [1 << 63, 0] {
                    self.set_time(time);
                    self.end_model(IntervalEnd::Clock);
                    self.compare()?;
                }
            }
            self.set_interval_log2(0);
            // What the last boundary started is flagged too.
            self.end_interval()?;
            self.compare()?;
        }
        // Exponents beyond the clock's width end nothing.
        for log2 in [48, 63] {
            self.set_interval_log2(log2);
            for time in [0, 1 << 63, u64::MAX, 0] {
                self.set_time(time);
                for _ in 0..2 * COMMIT {
                    self.cycle()?;
                }
            }
        }
        self.set_interval_log2(0);
        self.set_time(0);
        self.end_interval()?;
        self.compare()
    }

    /// Two ends in all distances around the length of a drain: the second is either refused and counted, or
    /// accepted, and nothing is lost.
    fn ends_around_a_drains_end(&mut self) -> Result<(), CheckError> {
        self.compare()?;
        // How long a drain takes, from the end to the last byte of its last frame; it takes turns with the counts,
        // which makes a cycle or two of difference.
        self.end_interval()?;
        let started = self.point.cycles();
        while !self.point.is_drained() {
            self.cycle()?;
        }
        let length = self.point.cycles() - started;
        self.compare()?;
        let (cells, frames) = (self.model.cells().len() as u64, self.point.frames_per_interval() as u64);
        same(STAGE, length, "the drain takes longer", &true, &(length <= 70 * cells + 600 * frames))?;
        let mut accepted = 0;
        for distance in length - 80..length + 80 {
            self.frame(&shortest_packet(1), false, 0)?;
            self.end_interval()?;
            self.frame(&shortest_packet(2), false, 0)?;
            for _ in 0..distance - 34 {
                self.cycle()?;
            }
            self.point.request_interval_end()?;
            self.compare()?;
            // An accepted end brings frames of its own.
            let asked = self.point.cycles();
            while self.point.cycles() < asked + length + 200 {
                self.cycle()?;
            }
            let found = self.point.take_frames();
            if found.is_empty() {
                self.model.refuse_interval_end();
            } else {
                accepted += 1;
                let mut expected = vec![];
                self.model.end_interval(IntervalEnd::Delimiter, |frame| expected.push(frame.to_vec()));
                same(STAGE, distance, "control frames of the second end", &expected, &found)?;
            }
            self.end_interval()?;
            self.compare()?;
        }
        same(
            STAGE,
            length,
            "second ends refused before and accepted behind",
            &true,
            &(40..120).contains(&accepted),
        )
    }

    /// One cycle without lock flags the interval of the frames that end in that cycle, and no other.
    fn lost_clock(&mut self) -> Result<(), CheckError> {
        const AROUND: usize = 8;
        for lost in 0..2 * AROUND {
            self.frame(&udp_frame(4, 60), false, 0)?;
            for cycle in 0..2 * AROUND {
                self.point.set_locked(cycle != lost);
                self.point.set_interval_end(cycle == AROUND);
                if cycle == lost {
                    self.model.clock_unlocked();
                }
                if cycle == AROUND {
                    self.end_model(IntervalEnd::Delimiter);
                }
                self.cycle()?;
            }
            self.point.set_locked(true);
            self.point.set_interval_end(false);
            self.compare()?;
            self.end_interval()?;
            self.compare()?;
        }
        Ok(())
    }

    /// Traffic of every kind, drained while the next interval's traffic passes.
    fn random_interval(&mut self, frames: &mut Frames) -> Result<(), CheckError> {
        self.back_pressure = self.random.random();
        let gaps = [0, 0, 2, 8][self.random.random_range(0..4)];
        let length = self.random.random_range(1..300);
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
        self.point.request_interval_end()?;
        for _ in 0..300 {
            self.cycle()?;
        }
        let mut long = udp_frame(3, 1514);
        long[45..105].copy_from_slice(&udp_frame(4, 60));
        let mut long: Vec<Beat> = octets(&long, Timestamp(5), false).collect();
        // The rest ends while the memories are still cleared, and with what would be a packet of its own.
        long.truncate(45 + 60);
        if let Some(octet) = long.last_mut() {
            (octet.last, octet.bad) = (true, false);
        }
        let rest = long.split_off(45);
        long.into_iter().try_for_each(|octet| self.point.beat(octet))?;
        self.point.restart()?;
        self.model = MeasurementPoint::new(configuration, role);
        // One byte of it comes before the core counts, the others behind.
        for (index, octet) in rest.into_iter().enumerate() {
            if index == 1 {
                self.point.start()?;
            }
            self.point.beat(octet)?;
        }
        for number in 0..200 {
            self.frame(&udp_frame(number, 60), false, 0)?;
        }
        // No delimiter has begun this interval: it has a gap, whatever its number.
        self.frame(&Delimiter::new(configuration, 0).encode(), false, 0)?;
        self.end_model_at(0);
        self.compare()?;
        self.end_interval()?;
        self.compare()
    }
}

/// Words of the totals' memory with what they start with, what all cells' counts start with, the totals expected.
type Preload = (&'static [(u32, u32)], u32, Totals);

/// Counters near their ends: carries between their words, saturation, the saturated flag. The emitted text is changed
/// so that clearing leaves them full.
///
/// # Errors
///
/// As [`check`].
pub fn preloaded_counters(
    toolchain: &Toolchain,
    configuration: &Configuration,
    verilog: &str,
) -> Result<(), CheckError> {
    let zero = Totals::default();
    let saturated = Flags { saturated: true, ..Flags::default() };
    let cases: [Preload; 4] = [
        (
            &[
                (27, 0xfff0),
                (30, 0xffff),
                (31, 0xff00),
                (44, 0xffff),
                (45, 0xfffe),
                (46, 0xfffe),
                (47, 0xfffe),
            ],
            0,
            Totals {
                packets: 0xfff0 + 40,
                bytes: 0xffff_ff00 + 40 * 46,
                unmeasured: u32::MAX,
                bad: 0xffff_0001,
                ..zero
            },
        ),
        (
            &[
                (26, 0xffff),
                (27, 0xfff0),
                (31, 0xff00),
                (44, 0xffff),
                (45, 0xfff0),
                (46, 0xffff),
                (47, 0xfffd),
            ],
            0xffff,
            Totals {
                packets: 0xffff_fff0 + 40,
                bytes: 0xff00 + 40 * 46,
                unmeasured: 0xffff_fff3,
                bad: u32::MAX,
                ..zero
            },
        ),
        (
            &[(25, 0xffff), (26, 0xffff), (27, 0xfff0)],
            0,
            Totals { packets: 40 - 16, bytes: 40 * 46, unmeasured: 3, bad: 3, flags: saturated, ..zero },
        ),
        (
            &[(29, 0xffff), (30, 0xffff), (31, 0xff00), (23, 0xfffe)],
            u32::MAX,
            Totals {
                packets: 40,
                bytes: 40 * 46 - 0x100,
                unmeasured: 3,
                bad: 3,
                refused_ends: 0xfffe,
                flags: saturated,
                ..zero
            },
        ),
    ];
    for (case, (words, count, expected)) in (0..).zip(&cases) {
        let value = words.iter().fold("16'h0".to_string(), |rest, (word, value)| {
            format!("(clearing_q[6:1] == 6'd{word}) ? 16'h{value:x} : {rest}")
        });
        let preload = [
            ("totals", value),
            ("count_low", format!("16'h{:x}", count & 0xffff)),
            ("count_high", format!("16'h{:x}", count >> 16)),
        ];
        let mut text = verilog.to_string();
        for (memory, value) in preload {
            let from = format!("{memory}_write_data = write_data;");
            let to = format!("{memory}_write_data = cleared_q ? write_data : {value};");
            let changed = text.replacen(&from, &to, 1);
            same(STAGE, case, "text to change", &true, &(changed != text))?;
            text = changed;
        }
        let hardware = Hardware::of(toolchain, configuration, &text)?;
        let mut twin = Twin::new(&hardware, configuration, Role::Sender, 1)?;
        twin.point.start()?;
        for number in 0..40 {
            twin.frame(&udp_frame(number, 60), false, 0)?;
        }
        for _ in 0..3 {
            twin.frame(&[0; 60], false, 0)?;
            twin.frame(&udp_frame(0, 60), true, 0)?;
        }
        let times = twin.model.totals(0);
        let wraps = twin.model.cells().iter().any(|cell| cell.count.checked_add(*count).is_none());
        let mut expected = Totals { first: times.first, last: times.last, ..*expected };
        expected.flags.saturated |= wraps;
        let counts: Vec<u32> =
            twin.model.cells().iter().map(|cell| cell.count.wrapping_add(*count)).collect();
        twin.point.request_interval_end()?;
        // Behind the switch: refused by the other copy.
        for _ in 0..3 {
            twin.point.request_interval_end()?;
        }
        let (found, found_counts) = twin.interval()?;
        same(STAGE, case, "totals near their ends", &Some(expected), &found)?;
        same(STAGE, case, "counts near their ends", &counts, &found_counts)?;
        twin.point.request_interval_end()?;
        let refused = expected.refused_ends.saturating_add(3);
        let found = twin.interval()?.0.map(|totals| totals.refused_ends);
        same(STAGE, case, "refused ends near their end", &Some(refused), &found)?;
    }
    Ok(())
}

impl Twin {
    /// Totals and cell counts of the interval that has just been ended.
    fn interval(&mut self) -> Result<(Option<Totals>, Vec<u32>), CheckError> {
        self.point.expect_interval();
        self.point.wait_for_frames()?;
        let frames = self.point.take_frames();
        let frames: Vec<Frame> = frames.iter().filter_map(|frame| Frame::decode(frame).ok()).collect();
        let counts = frames.iter().flat_map(Frame::cells).map(|cell| cell.count).collect();
        Ok((frames.first().map(|frame| frame.header.totals), counts))
    }
}

/// A fault in an expression, told from others by the text before it.
const fn fault(
    fault: &'static str,
    before: &'static str,
    expression: &'static str,
    faulty: &'static str,
) -> Fault {
    Fault { what: fault, before, from: expression, to: faulty }
}

/// Faults that [`check`] must notice.
pub const FAULTS: [Fault; 33] = [
    fault("a stalled byte is taken", "transfer = ", "s_axis_tvalid & s_axis_tready", "s_axis_tvalid"),
    fault("the rest of a frame cut by reset is measured", "fire = ", "transfer & ~is_adrift", "transfer"),
    fault("the timestamp of the wrong byte", "if (", "~in_frame_q", "in_frame_q"),
    fault("the window is a byte longer", "passes = there_q & ", "(index_q != 32'h7e)", "(index_q != 32'h7f)"),
    fault("TTL is not masked", "is_masked = (position_q == 32'h1) | ", "(position_q == 32'h8)", "1'b0"),
    fault("padding is part of the key", "padding_d = ", "(state_q == 32'h6) & ~before_end", "1'b0"),
    fault("fragment headers continue the chain", "if (", "chain_q == 32'h3", "1'b0"),
    fault("the fourth label is one too many", "else if (", "tags_q == 32'h3", "tags_q == 32'h2"),
    fault("IPv6 length without its header", "17'h1ffff) + ", "32'h28", "32'h0"),
    fault("the last places of the key share a row", "(pair_0 << 32'h2) | ", "32'h10", "32'h14"),
    fault("a hash starts from the one before", "if (", "starting_1_q", "1'b0"),
    fault("the time's words are not turned", "turns_time_0_d = ", "1'b1", "1'b0"),
    fault("carries are lost", "if (one_2_q | ", "(chains_2_q & carry_q)", "1'b0"),
    fault("every packet is the first", "writes_0_d = ", "is_first_q", "1'b1"),
    fault("packets that no bank samples get a cell", "writes_0_d = ", "is_sampled_q", "1'b1"),
    fault("a frame is lost when its counter is emptied", "pending_0_d = ", "32'h1", "32'h0"),
    fault("a count of zero restores what the drain cleared", "writes_0_d = ", "|chosen", "1'b1"),
    fault("the copy that counts is drained", "copy_0_d = ", "~epoch", "epoch"),
    fault("totals are cleared too early", "ask_clear = ", "is_last_fragment_q", "1'b1"),
    fault("cells are not cleared", "| ", "(section_q != 32'h0)", "1'b0"),
    fault("the check word's top bit is lost", "if (", "check_top_q", "1'b0"),
    fault("interval end a cycle early", "request_2_d = ", "request_1_q", "request_0_q"),
    fault(
        "intervals by the wrong bit of the clock",
        "clock_bit_value = ",
        "candidates[high_q]",
        "candidates[1]",
    ),
    fault("the kind of a control frame is not looked at", "compared = ", "(word == 32'h3)", "1'b0"),
    fault("delimiters of other configurations count", "(word == 32'h6) | ", "(word == 32'h7)", "1'b0"),
    fault("bad delimiters count", "found_0_d = ends & ", "~bad", "1'b1"),
    fault(
        "a delimiter that is cut short counts",
        "~differs_now & ",
        "(index >= 32'h21)",
        "(index >= 32'h1f)",
    ),
    fault("a difference outlives its frame", "differs_d = differs_now & ", "~ends", "1'b1"),
    fault(
        "an interval that began with the reset passes for a whole one",
        "(~is_due_q | ",
        "~started_q",
        "1'b0",
    ),
    fault("a missing delimiter is not told", "delimiter & (", "~is_due_q", "1'b0"),
    fault("an end during a drain is not refused", "running & ", "~drain_busy", "1'b1"),
    fault("a lost lock is noted a cycle early", "unlocked = ", "~locked_4_q", "~locked_3_q"),
    fault("m_axis gives a byte up before it is taken", "(state_q == 32'h5) & ", "m_axis_tready", "1'b1"),
];
