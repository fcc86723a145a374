//! Byte core: frames and interval ends in, control frames out, one byte a cycle.

use super::pair::{self, Kind, Pair};
use super::point::Event;
use crate::error::{CheckError, same};
use crate::faults::Fault;
use crate::hardware::Hardware;
use crate::stream::{Beat, IDLE};
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::hash::LinearHash;
use deltaline_model::packet::identity::identify;
use deltaline_model::point::IntervalEnd;
use deltaline_model::sketch::cell::Cell;
use deltaline_model::sketch::place::Placement;
use deltaline_model::sketch::slices::RECORD_CELLS;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::{Flags, Frame, Role, Totals};
use deltaline_model::wire::shape::Kind as WireKind;
use deltaline_traffic::{Frames, udp_frame};
use rand::RngExt;
use std::ops::RangeInclusive;
use verilator_sys::Toolchain;

/// The core of one byte a cycle.
enum Byte {}

impl Kind for Byte {
    const STAGE: &'static str = "byte core";
    const LONGEST: u64 = 300;
    const FEW_CELLS: usize = 16;
}

const STAGE: &str = Byte::STAGE;

/// Name that the core is emitted under for its check.
pub const TOP: &str = "deltaline";

/// Cycles from the last byte of a frame, or an interval end, to its commit.
const COMMIT: usize = 5;

/// The measurement point's identifier, each byte another.
const POINT: u32 = 0x81c3_e7f5;

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
        let mut pair = Pair::<Byte>::new(&hardware, configuration, role, seed)?;
        pair.set_id(POINT);
        pair.before_it_counts()?;
        pair.line_rate()?;
        pair.counters()?;
        pair.every_cut()?;
        if configuration.kind() == WireKind::SLICES {
            pair.slices(configuration)?;
        }
        // With each of the two copies in the role of the other.
        for copy in 0..2 {
            if pair.tries_delimiters(role, copy) {
                pair.delimiters()?;
            }
            pair.refused_ends()?;
            pair.ends_around_a_drains_end()?;
            pair.ends_at_every_byte(None)?;
            pair.lost_clock()?;
            pair.end_interval()?;
            pair.compare()?;
        }
        pair.ends_by_the_clock()?;
        pair.random_intervals(count / 2, seed)?;
        pair.adversary(role)?;
        pair.reset_in_the_middle(role)?;
        packets += pair.packets;
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
    pair::traffic::<Byte>(toolchain, configuration, verilog, count, seed)
}

/// The shortest packet: an IPv4 header alone, told apart by `number`.
fn shortest_packet(number: u32) -> Vec<u8> {
    let mut frame = vec![0u8; 34];
    frame[12..18].copy_from_slice(&[8, 0, 0x45, 0, 0, 20]);
    frame[26..30].copy_from_slice(&number.to_be_bytes());
    frame
}

impl Pair<Byte> {
    /// Frames and interval ends while the memories are cleared leave no trace.
    fn before_it_counts(&mut self) -> Result<(), CheckError> {
        let end = self.clearing_cycles();
        // Stops early enough for what is on its way to come through while the memories are still cleared.
        'clearing: loop {
            for octet in self.hardware.beats(&shortest_packet(1), Timestamp(1), false) {
                if self.hardware.cycles() + 16 > end {
                    break 'clearing;
                }
                self.hardware.beat(octet)?;
            }
            self.hardware.beat(Beat { last: true, ..IDLE })?;
            self.hardware.request_interval_end()?;
        }
        self.hardware.start()?;
        // The frame that was cut off by the loop ends here, bad.
        self.frame(&[0; 8], true, 0)?;
        self.end_interval()?;
        self.compare()
    }

    /// When the core starts to count, in cycles since its bench was made: two of reset, then one a word of a plane.
    fn clearing_cycles(&self) -> u64 {
        let words = (2 * self.twin.model.cell_count().next_power_of_two()).max(128);
        words as u64 + 2
    }

    /// How long a drain takes, whatever the traffic: the interval's number is there 4 to 11 cycles behind the end's commit.
    fn drain_cycles(&self) -> RangeInclusive<u64> {
        let (cells, frames) = (self.twin.model.cell_count(), self.hardware.frames_per_interval());
        let begun = COMMIT + 56 * cells + 736 * frames;
        (begun + 4) as u64..=(begun + 11) as u64
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
        self.hardware.set_interval_end(true);
        for number in 0..30 {
            for _ in 0..number {
                self.frame(&[1], false, 0)?;
                self.frame(&[2], true, 0)?;
                (0..2).for_each(|_| self.refuse_end());
            }
            self.frame(&shortest_packet(number), false, 0)?;
            (0..34).for_each(|_| self.refuse_end());
        }
        for _ in 0..200 {
            self.frame(&[3], false, 0)?;
            self.refuse_end();
        }
        for _ in 0..200 {
            self.frame(&[3], true, 0)?;
            self.refuse_end();
        }
        self.hardware.set_interval_end(false);
        same(
            STAGE,
            self.packets,
            "drain over before the ends were refused",
            &true,
            &!self.hardware.is_drained(),
        )?;
        self.compare()?;
        // Nothing but the shortest packets, through a whole drain.
        self.end_interval()?;
        let started = self.hardware.cycles();
        let mut number = 0;
        while !self.hardware.is_drained() {
            self.frame(&shortest_packet(number), false, 0)?;
            number += 1;
        }
        let length = self.hardware.cycles() - started;
        let longest = self.drain_cycles().end() + 34;
        same(STAGE, length, "the drain under load takes longer", &true, &(length < longest))?;
        self.compare()?;
        self.end_interval()?;
        self.compare()
    }

    /// Packets that start slices and packets that do not, the shortest back to back, in every order up to a full table
    /// and beyond; intervals without a start and without a packet; starts all through a drain.
    fn slices(&mut self, configuration: &Configuration) -> Result<(), CheckError> {
        let zeros = u32::from(configuration.prefixes().lengths()[0]);
        let hash = LinearHash::new(configuration.hash(), configuration.seed());
        let placement = Placement::new(configuration.seed());
        let starts = |frame: &Vec<u8>| {
            identify(frame)
                .is_ok_and(|packet| placement.place(hash.hash(&packet.key)).leading_zeros() >= zeros)
        };
        let (starting, others): (Vec<_>, Vec<_>) = (0..500).map(shortest_packet).partition(starts);
        let mut frames = [others.iter().cycle(), starting.iter().cycle()];
        let mut next = |starts: bool| frames[usize::from(starts)].next().cloned().unwrap_or_default();
        let records = configuration.rows() / RECORD_CELLS;
        for order in 0..1u32 << 6 {
            for bit in 0..6 {
                self.frame(&next(order >> bit & 1 == 1), false, 0)?;
            }
            self.end_interval()?;
            self.compare()?;
        }
        // One less than there is room for, as many, one more, many more; and what goes on with the last one.
        for count in [records - 1, records, records + 1, 3 * records, 0] {
            for _ in 0..count {
                self.frame(&next(true), false, 0)?;
            }
            for last in 0..3 {
                self.frame(&next(count > 0 && last == 1), false, 0)?;
            }
            self.end_interval()?;
            self.compare()?;
        }
        self.end_interval()?;
        self.compare()?;
        for starts_until in [usize::MAX, 2] {
            self.end_interval()?;
            let mut number = 0;
            while !self.hardware.is_drained() {
                self.frame(&next(number < starts_until), false, 0)?;
                number += 1;
            }
            self.compare()?;
        }
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
                for octet in self.hardware.beats(frame, time, *bad) {
                    if octet.last {
                        self.observe(frame, time, *bad);
                    }
                    if let Some(boundary) = boundary {
                        let now = boundary + 8 * position as u64 - 8 * at as u64;
                        let now = Timestamp::from_nanoseconds(now);
                        self.hardware.set_time(now);
                    } else {
                        self.hardware.set_interval_end(position == at);
                    }
                    if position == at {
                        self.end_twin(Event::End(IntervalEnd::Request));
                    }
                    self.hardware.beat(octet)?;
                    self.hardware.set_interval_end(false);
                    position += 1;
                }
            }
            self.compare()?;
        }
        Ok(())
    }

    fn set_interval_log2(&mut self, log2: u8) {
        self.hardware.set_interval_log2(log2);
    }

    fn set_time(&mut self, time: u64) {
        self.hardware.set_time(Timestamp(time));
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
            // A boundary right behind another exponent ends nothing.
            (0..COMMIT).try_for_each(|_| self.cycle())?;
            if log2 < 40 {
                self.ends_at_every_byte(Some(log2))?;
            } else {
                // The clock's highest bit changes twice before it wraps.
                for time in [1 << 63, 0] {
                    self.set_time(time);
                    self.end_twin(Event::End(IntervalEnd::Request));
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
        let length = self.drain()?;
        same(STAGE, length, "cycles of a drain", &true, &self.drain_cycles().contains(&length))?;
        let mut accepted = 0;
        for distance in length - 80..length + 80 {
            self.frame(&shortest_packet(1), false, 0)?;
            self.end_interval()?;
            self.frame(&shortest_packet(2), false, 0)?;
            for _ in 0..distance - 34 {
                self.cycle()?;
            }
            accepted += u64::from(!self.second_end(distance, length + 200)?);
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

    /// A reset amid a frame and a drain: the core starts over as if nothing had been, and the frame's rest, which
    /// holds what could pass for a frame, leaves no trace.
    fn reset_in_the_middle(&mut self, role: Role) -> Result<(), CheckError> {
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
        long[45..105].copy_from_slice(&udp_frame(4, 60));
        let mut long: Vec<Beat> = self.hardware.beats(&long, Timestamp(5), false).collect();
        // The rest ends while the memories are still cleared, and with what would be a packet of its own.
        long.truncate(45 + 60);
        if let Some(octet) = long.last_mut() {
            (octet.last, octet.bad) = (true, false);
        }
        let rest = long.split_off(45);
        long.into_iter().try_for_each(|octet| self.hardware.beat(octet))?;
        self.restart(role)?;
        // One byte of it comes before the core counts, the others behind.
        for (index, octet) in rest.into_iter().enumerate() {
            if index == 1 {
                self.hardware.start()?;
            }
            self.hardware.beat(octet)?;
        }
        self.first_interval()?;
        self.restart(role)?;
        self.hardware.start()?;
        self.first_epoch()
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
    // The first interval, ended by no delimiter.
    let first = Flags { timed: true, gap: true, ..Flags::default() };
    let zero = Totals { flags: first, ..Totals::default() };
    let saturated = Flags { saturated: true, ..first };
    let cases: [Preload; 4] = [
        (
            &[
                (31, 0xfff0),
                (34, 0xffff),
                (35, 0xff00),
                (44, 0xffff),
                (45, 0xfffe),
                (46, 0xfffe),
                (47, 0xfffe),
                (53, 0xffff),
                (54, 0xffff),
                (55, 0xffff),
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
                (30, 0xffff),
                (31, 0xfff0),
                (35, 0xff00),
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
            &[
                (29, 0xffff),
                (30, 0xffff),
                (31, 0xfff0),
                (52, 0xffff),
                (53, 0xffff),
                (54, 0xffff),
                (55, 0xffff),
            ],
            0,
            Totals { packets: 40 - 16, bytes: 40 * 46, unmeasured: 3, bad: 3, flags: saturated, ..zero },
        ),
        (
            &[(33, 0xffff), (34, 0xffff), (35, 0xff00), (27, 0xfffe)],
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
        let mut pair = Pair::<Byte>::new(&hardware, configuration, Role::Sender, 1)?;
        pair.hardware.start()?;
        for number in 0..40 {
            pair.frame(&udp_frame(number, 60), false, 0)?;
        }
        for _ in 0..3 {
            pair.frame(&[0; 60], false, 0)?;
            pair.frame(&udp_frame(0, 60), true, 0)?;
        }
        let times = pair.twin.model.totals(0);
        let wraps =
            pair.twin.model.cells::<Cell>().iter().any(|cell| cell.count.checked_add(*count).is_none());
        let time_sum = words.iter().filter(|(word, _)| (52..56).contains(word));
        let time_sum = time_sum.fold(0, |sum, (word, value)| sum | u64::from(*value) << (16 * (55 - word)));
        let time_sum = times.time_sum.map(|sum| sum.wrapping_add(time_sum));
        let mut expected = Totals { first: times.first, last: times.last, time_sum, ..*expected };
        expected.flags.saturated |= wraps;
        let counts: Vec<u32> =
            pair.twin.model.cells::<Cell>().iter().map(|cell| cell.count.wrapping_add(*count)).collect();
        pair.hardware.request_interval_end()?;
        // Behind the switch: refused by the other copy.
        for _ in 0..3 {
            pair.hardware.request_interval_end()?;
        }
        let (found, found_counts) = pair.interval()?;
        same(STAGE, case, "totals near their ends", &Some(expected), &found)?;
        same(STAGE, case, "counts near their ends", &counts, &found_counts)?;
        pair.hardware.request_interval_end()?;
        let refused = expected.refused_ends.saturating_add(3);
        let found = pair.interval()?.0.map(|totals| totals.refused_ends);
        same(STAGE, case, "refused ends near their end", &Some(refused), &found)?;
    }
    Ok(())
}

/// Counts of slices near their ends: the emitted text is changed so that clearing leaves them full. A count that wraps is told.
///
/// # Errors
///
/// As [`check`].
pub fn preloaded_slices(
    toolchain: &Toolchain,
    configuration: &Configuration,
    verilog: &str,
) -> Result<(), CheckError> {
    for (preload, wraps) in [(u32::MAX - 3, true), (u32::MAX - 400, false), (0xfffe, false)] {
        let mut text = verilog.to_string();
        for (memory, value) in [("count_low", preload & 0xffff), ("count_high", preload >> 16)] {
            let from = format!("{memory}_write_data = write_data;");
            let to = format!("{memory}_write_data = cleared_q ? write_data : 16'h{value:x};");
            let changed = text.replacen(&from, &to, 1);
            same(STAGE, 0, "text to change", &true, &(changed != text))?;
            text = changed;
        }
        let hardware = Hardware::of(toolchain, configuration, &text)?;
        let mut pair = Pair::<Byte>::new(&hardware, configuration, Role::Sender, 1)?;
        pair.hardware.start()?;
        for number in 0..300 {
            pair.frame(&udp_frame(number, 60), false, 0)?;
        }
        let mut expected: Vec<u32> = pair.twin.model.cells::<Cell>().iter().map(|cell| cell.count).collect();
        let (records, _) = expected.as_chunks_mut::<RECORD_CELLS>();
        let used = records.iter().filter(|[_, count]| *count > 0).count();
        same(STAGE, 0, "records used", &true, &(used > 2))?;
        for [place, count] in records.iter_mut() {
            // Nothing is written to a record that is not used.
            *place = if *count > 0 { *place } else { preload };
            *count = count.wrapping_add(preload);
        }
        pair.hardware.request_interval_end()?;
        let (found, found_counts) = pair.interval()?;
        same(STAGE, 0, "counts of slices near their ends", &expected, &found_counts)?;
        let saturated = found.map(|totals| totals.flags.saturated);
        same(STAGE, 0, "a slice's count that wraps is told", &Some(wraps), &saturated)?;
    }
    Ok(())
}

impl Pair<Byte> {
    /// Totals and cell counts of the interval that has just been ended.
    fn interval(&mut self) -> Result<(Option<Totals>, Vec<u32>), CheckError> {
        self.hardware.expect_interval();
        self.hardware.wait_for_frames()?;
        let frames = self.hardware.take_frames();
        let frames: Vec<Frame> = frames.iter().filter_map(|frame| Frame::decode(frame).ok()).collect();
        let counts = frames.iter().flat_map(Frame::cells::<Cell>).map(|cell| cell.count).collect();
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
pub const FAULTS: [Fault; 60] = [
    fault("a stalled byte is taken", "transfer = ", "s_axis_tvalid & s_axis_tready", "s_axis_tvalid"),
    fault("the rest of a frame cut by reset is measured", "fire = ", "transfer & ~is_adrift", "transfer"),
    fault("the timestamp of the wrong byte", "if (", "~in_frame_q", "in_frame_q"),
    fault("the window is a byte longer", "over_d = ", "index_q == 32'h7d", "index_q == 32'h7e"),
    fault("TTL is not masked", "is_masked = (position_q == 32'h1) | ", "(position_q == 32'h8)", "1'b0"),
    fault("padding is part of the key", "((state_q == 32'h6) & (", "~before_end", "1'b0"),
    fault(
        "the IPv6 header is a byte longer",
        "header_end_d = (~six_q & (position_q == 32'h12)) | (",
        "position_q == 32'h26",
        "position_q == 32'h27",
    ),
    fault("the window stays over", "index_d = 32'h0;\n            over_d = ", "1'b0", "over_q"),
    fault("an opening is taken for a chain's", "\n            chain_d = ", "32'h0", "chain_q"),
    fault("long extension headers are cut short", "beyond = ", "32'hf", "32'h1"),
    fault(
        "IPv4 options end late",
        "~six_q & (state_q == 32'h5) & (",
        "offset_q[(32'h0)+:(2)] == 32'h3",
        "offset_q[(32'h0)+:(3)] == 32'h3",
    ),
    fault("a checksum is part of the key", "is_checksum = (", "summed_q[32'h0]", "1'b0"),
    fault("TCP's checksum in another place", "(position_q[(32'h1)+:(6)] == ", "32'h1c", "32'h1b"),
    fault("a wrong constant", "mixer = ", "constant_1", "constant_2"),
    fault("the halves of a hash exchanged", " x = ", "sum_q[(32'h10)+:(16)]", "sum_q[(32'h0)+:(16)]"),
    fault("a round without its addition", "total = ", "x_turned + y", "x_turned ^ y"),
    fault("a round too few", "if (", "landing_4_q", "landing_3_q"),
    fault("fragment headers continue the chain", "if (", "chain_q == 32'h3", "1'b0"),
    fault("the fourth label is one too many", "else if (", "tags_q == 32'h3", "tags_q == 32'h2"),
    fault("IPv6 length without its header", "17'h1ffff) + ", "32'h28", "32'h0"),
    fault("the last places of the key share a row", "(pair_0 << 32'h2) | ", "32'h10", "32'h14"),
    fault("a hash starts from the one before", "if (", "starting_1_q", "1'b0"),
    fault("the time's words are not turned", "turns_time_0_d = ", "1'b1", "1'b0"),
    fault("carries are lost", "if (one_2_q | ", "(chains_2_q & carry_q)", "1'b0"),
    fault(
        "a carry within the sum of times is lost",
        "word_0_d = 32'h35;\n                        addend_is_0_d = 32'h3;\n                        chains_0_d = ",
        "1'b1",
        "1'b0",
    ),
    fault(
        "the carry into the top of the sum of times is lost",
        "word_0_d = 32'h34;\n                        chains_0_d = ",
        "1'b1",
        "1'b0",
    ),
    fault(
        "the sum of times holds fractions of nanoseconds",
        "tells_0_d = is_sampled_q;\n                        turns_time_0_d = ",
        "1'b1",
        "1'b0",
    ),
    fault(
        "only times of packets with a cell are in their sum",
        "word_0_d = 32'h37;\n                        addend_is_0_d = ",
        "32'h3",
        "(is_sampled_q ? 3'h3 : 3'h0)",
    ),
    fault(
        "the sum of times is not cleared",
        "writes_0_d = ",
        "ask_clear",
        "ask_clear & (ask_word[5:2] != 4'hd)",
    ),
    fault("a packet is recorded twice", "waiting_d = ", "packet", "waiting_q"),
    fault("a drain takes the place of an operation", "if (", "~is_drain_q", "1'b1"),
    fault(
        "a byte of the point's identifier is another",
        "changing_d = ",
        "point_id[(32'h8)+:(8)]",
        "point_id[(32'h10)+:(8)]",
    ),
    fault("every packet is the first", "writes_0_d = ", "is_first_q", "1'b1"),
    fault("packets that no bank samples get a cell", "writes_0_d = ", "is_sampled_q", "1'b1"),
    fault("a frame is lost when its counter is emptied", "pending_0_d = ", "32'h1", "32'h0"),
    fault("a count of zero restores what the drain cleared", "writes_0_d = ", "|chosen", "1'b1"),
    fault("the copy that counts is drained", "copy_0_d = ", "~epoch", "epoch"),
    fault("totals are cleared too early", "ask_clear = ", "is_last_fragment_q", "1'b1"),
    fault("cells are not cleared", "| ", "(section_q != 32'h0)", "1'b0"),
    fault("the check word's top bit is lost", "if (", "check_top_q", "1'b0"),
    fault("interval end a cycle early", "succession_request = ", "request_1_q", "request_0_q"),
    fault(
        "intervals by the wrong bit of the clock",
        "clock_bit_value = ",
        "candidates[high_q]",
        "candidates[1]",
    ),
    fault("the kind of a control frame is not looked at", "compared = ", "(word == 32'h3)", "1'b0"),
    fault("delimiters of other configurations count", "(word == 32'h6) | ", "(word == 32'h7)", "1'b0"),
    fault("bad delimiters count", "found_d = ends & ", "~bad", "1'b1"),
    fault(
        "a delimiter that is cut short counts",
        "~differs_now & ",
        "(index >= 32'h3f)",
        "(index >= 32'h3e)",
    ),
    fault("a difference outlives its frame", "differs_d = differs_now & ", "~ends", "1'b1"),
    fault(
        "an interval that began with the reset passes for a whole one",
        "gap = (~timed_now & ~due_now) | lost_q | ",
        "~started_q",
        "1'b0",
    ),
    fault(
        "a missing delimiter is not told",
        "ended_gap_d = ",
        "succession_missing | (succession_gap & ~|quiet)",
        "1'b0",
    ),
    fault("an end by the pin passes for a delimiter's", "if (", "succession_timed & ~|quiet", "1'b0"),
    fault("an ignored delimiter is not counted", "if (", "succession_ignored", "1'b0"),
    fault("a delimiter's epoch from the wrong bytes", "if (", "word == 32'h8", "word == 32'h9"),
    fault("a clock without an exponent ends intervals", "crossed = ", "|interval_log2", "1'b1"),
    fault(
        "the lowest bit of an EtherType is not looked at",
        "if (",
        "low_half == 32'h800",
        "(low_half & 32'hfffe) == 32'h800",
    ),
    fault("an end during a drain is not refused", "succession_busy = ", "drain_busy", "1'b0"),
    fault("an end before the least interval is over is not refused", "| pending_q | ", "length_soon", "1'b0"),
    fault("the least interval is a cycle short", "left_d = ", "least;", "least - 32'h1;"),
    fault("a change of the exponent ends an interval", "clock_bit_rst = rst | ", "log2_changed_q", "1'b0"),
    fault("a lost lock is noted a cycle early", "unlocked = ", "~locked_4_q", "~locked_3_q"),
    fault("m_axis gives a byte up before it is taken", "(state_q == 32'h5) & ", "m_axis_tready", "1'b1"),
];

/// Faults of slices that [`check`] must notice, or [`preloaded_slices`].
pub const SLICES_FAULTS: [Fault; 18] = [
    fault("a packet that is not sampled starts a slice", "starts_now_0 = ", "sampled", "1'b1"),
    fault("a record more than there are", "used_now_0 != ", "all_0", "all_0 + 32'h1"),
    fault(
        "the records of the other copy",
        "used_now_0 = used_first_0_q;\n        if (",
        "packet_copy_q",
        "~packet_copy_q",
    ),
    fault("a start goes to the record before", "number_0 = ", "used_now_0;", "used_now_0 - 32'h1;"),
    fault("what goes on goes to the record behind", "number_0 = ", "used_now_0 - 32'h1", "used_now_0"),
    fault("packets in front of the first slice get a record", "is_sampled_d = ", "|used_then_0", "1'b1"),
    fault("records of an earlier interval count", "used_first_0_d = ", "32'h0", "used_first_0_q"),
    fault("the same in the second copy", "used_second_0_d = ", "32'h0", "used_second_0_q"),
    fault("every packet of a slice opens it", "starts_0_d = ", "starts_now_0", "|used_then_0"),
    fault("a drain opens a record", "is_packet_q & ", "~is_drain_q & starts_0_q", "starts_0_q"),
    fault("the lowest word of a start is lost", "sum_low_write_enable = ", "1'b1", "1'b0"),
    fault("the middle word of a start is lost", "(step_q == 32'h6) | ", "(step_q == 32'h9)", "1'b0"),
    fault("the highest word of a start is lost", "sum_high_write_enable = ", "1'b1", "1'b0"),
    fault("the start in the second cell", "sum_low_write_address = ", "write_cell ^ 32'h2", "write_cell"),
    fault("the place in the second cell", "count_low_write_address = ", "write_cell ^ 32'h2", "write_cell"),
    fault("the place of another round", "if (", "placed_0_q", "placing_2_q"),
    fault(
        "the halves of a place exchanged",
        "count_low_write_data = ",
        "place_0[(32'h0)+:(16)]",
        "place_0[(32'h10)+:(16)]",
    ),
    fault("the place is not kept", "place_then_0_d = ", "place_then_0_q", "32'h0"),
];
