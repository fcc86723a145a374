//! Core: frames and interval ends in, control frames out.

use super::pair::{self, Kind, Pair, udp_frame};
use super::point::Event;
use crate::bench::with_preload;
use crate::error::{CheckError, HardwareError, same};
use crate::faults::{either, with_input};
use crate::hardware::{Hardware, HardwarePoint, TOP};
use crate::stream::Beat;
use deltaline_design::CellKind;
use deltaline_hdl::emit::reader;
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::classifier::Entry;
use deltaline_model::packet::identity::PAYLOAD_WORD;
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::sketch::cell::Cell;
use deltaline_model::time::{AbsoluteTime, TimeBase, Timestamp};
use deltaline_model::wire;
use deltaline_model::wire::delimiter::Delimiter;
use deltaline_model::wire::frame::{Flags, Frame, Role, Totals};
use deltaline_traffic::{self as traffic, Frames};
use rand::RngExt;
use verilator_sys::Toolchain;

/// The cores of 64 bits and more.
enum Core {}

impl Kind for Core {
    const STAGE: &'static str = "core";
    const LONGEST: u64 = 600;
    const FEW_CELLS: usize = 512;
}

const STAGE: &str = Core::STAGE;

/// Most cycles from the last beat of a frame, or an interval end, to its commit.
const COMMIT: usize = 7;

/// Identifier of the sender's measurement point; the receiver's has the other bits.
const POINT: u32 = 0x89ab_cdef;

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
    pair::traffic::<Core>(toolchain, configuration, verilog, count, seed)
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
    // One model for all: without a case, the input `preload` changes nothing.
    check_preloadable(toolchain, configuration, &preloadable(verilog)?, count, seed)
}

/// The same, the text as it is emitted but for preloaded counters, and with every case of delimiters in both roles and with both
/// copies however long drains take.
///
/// # Errors
///
/// As [`check`].
pub fn check_whole(
    toolchain: &Toolchain,
    configuration: &Configuration,
    verilog: &str,
    count: u64,
    seed: u64,
) -> Result<u64, CheckError> {
    preloaded_counters(toolchain, configuration, &preloadable(verilog)?)?;
    scenarios(toolchain, configuration, verilog, (count, seed), true)
}

/// The same as [`check`] with a text that has the input `preload` already, as [`preloadable`] makes it.
///
/// # Errors
///
/// As [`check`].
pub fn check_preloadable(
    toolchain: &Toolchain,
    configuration: &Configuration,
    verilog: &str,
    count: u64,
    seed: u64,
) -> Result<u64, CheckError> {
    preloaded_counters(toolchain, configuration, verilog)?;
    scenarios(toolchain, configuration, verilog, (count, seed), false)
}

fn scenarios(
    toolchain: &Toolchain,
    configuration: &Configuration,
    verilog: &str,
    (count, seed): (u64, u64),
    is_whole: bool,
) -> Result<u64, CheckError> {
    let hardware = Hardware::of(toolchain, configuration, verilog)?;
    let mut packets = 0;
    for (role, seed, id) in [(Role::Sender, seed, POINT), (Role::Receiver, !seed, !POINT)] {
        let mut pair = Pair::<Core>::new(&hardware, configuration, role, seed)?;
        pair.set_id(id);
        pair.before_it_counts()?;
        pair.line_rate()?;
        pair.counters()?;
        // With each of the two copies in the role of the other.
        for copy in 0..2 {
            pair.refused_ends()?;
            pair.ends_around_a_drains_end()?;
            pair.ends_between_neighbours(None)?;
            pair.ends_by_the_clock()?;
            pair.lost_clock()?;
            pair.absolute_times()?;
            if is_whole || pair.tries_delimiters(role, copy) {
                pair.delimiters()?;
            }
            pair.running_totals()?;
            pair.end_interval()?;
            pair.compare()?;
        }
        pair.random_intervals(count / 2, seed)?;
        pair.adversary(role)?;
        pair.reset_in_the_middle(role)?;
        packets += pair.packets;
    }
    Ok(packets)
}

impl Pair<Core> {
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
            self.twin.model.set_time(time);
            self.end_interval()?;
            for _ in 0..2 * COMMIT {
                self.cycle()?;
            }
            self.hardware.set_absolute_time(times[0]);
            self.hardware.request_interval_end()?;
            self.refuse_end();
            self.compare()?;
            self.hardware.set_absolute_time(None);
            self.twin.model.set_time(None);
        }
        self.end_interval()?;
        self.compare()
    }

    /// What the pins show of the running interval.
    fn running_totals(&mut self) -> Result<(), CheckError> {
        for number in 0..40 {
            self.frame(&udp_frame(number, 60), number % 8 == 7, 0)?;
            for _ in 0..2 * COMMIT {
                self.cycle()?;
            }
            let shown = self.hardware.running_totals()?;
            let expected = [self.twin.model.packets(), self.twin.model.bytes()];
            same(STAGE, self.packets, "packets and bytes of the running interval", &expected, &shown)?;
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
            let words = self.twin.model.cell_count();
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
                        self.observe(&frame, time, false);
                    }
                    if let Some(boundary) = boundary {
                        let now = boundary + 8 * position as u64 - 8 * at as u64;
                        self.hardware.set_time(Timestamp::from_nanoseconds(now));
                    } else {
                        self.hardware.set_interval_end(position == at);
                    }
                    if position == at {
                        self.end_twin(Event::End(IntervalEnd::Request));
                    }
                    self.hardware.beat(beat)?;
                    self.hardware.set_interval_end(false);
                }
            }
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
            // A boundary right behind another exponent ends nothing.
            (0..COMMIT).try_for_each(|_| self.cycle())?;
            self.ends_between_neighbours(Some(log2))?;
            self.hardware.set_interval_log2(0);
            // What the last boundary started is flagged too.
            self.end_interval()?;
            self.compare()?;
        }
        // Each bit of the clock ends intervals whenever it changes, whatever the others do.
        for log2 in 1..48 {
            let other = |random: u64| random & !(1 << log2);
            let times: [u64; 3] = std::array::from_fn(|_| other(self.random.random_range(0..1 << 48)));
            let now = |time| Timestamp::from_nanoseconds(time);
            self.hardware.set_time(now(times[0]));
            (0..COMMIT).try_for_each(|_| self.cycle())?;
            self.hardware.set_interval_log2(log2);
            (0..COMMIT).try_for_each(|_| self.cycle())?;
            self.hardware.set_time(now(times[1] | 1 << log2));
            self.end_twin(Event::End(IntervalEnd::Request));
            (0..COMMIT).try_for_each(|_| self.cycle())?;
            self.hardware.set_time(now(times[2] | 1 << log2));
            self.compare()?;
            self.hardware.set_interval_log2(0);
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
        let length = self.drain()?;
        // What the core's page promises.
        let (cells, frames) = (self.twin.model.cell_count(), self.hardware.frames_per_interval());
        let fields = CellKind::of_configuration(self.twin.model.configuration()).fields();
        let bound = ((8 + 2 * fields) * cells + 80 * frames) as u64;
        same(STAGE, length, "drain within its bound", &true, &(length <= bound))?;
        let mut refused_before = true;
        for distance in length - 12..length + 12 {
            self.frame(&udp_frame(1, 60), false, 0)?;
            self.end_interval()?;
            self.frame(&udp_frame(2, 60), false, 0)?;
            let beats = udp_frame(2, 60).len().div_ceil(self.hardware.beat_bytes()) as u64;
            for _ in 0..distance - beats {
                self.cycle()?;
            }
            let refused = self.second_end(distance, length + 64)?;
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
        long[64..124].copy_from_slice(&udp_frame(4, 60));
        let long: Vec<Beat> = self.hardware.beats(&long, Timestamp(5), false).collect();
        let (before, behind) = long.split_at(64 / self.hardware.beat_bytes());
        before.iter().try_for_each(|beat| self.hardware.beat(*beat))?;
        self.restart(role)?;
        behind.iter().try_for_each(|beat| self.hardware.beat(*beat))?;
        self.hardware.start()?;
        self.first_interval()?;
        self.restart(role)?;
        self.hardware.start()?;
        self.first_epoch()
    }
}

/// The case of [`preloadable`] with cells near their ends.
const FULL_CELLS: u64 = 5;

/// Upper halves of counters: each bit is one in one of the two behind a carry, and zero in usual intervals.
const HIGH: [u64; 2] = [0x5a_5a5a, 0xa5_a5a5];

/// The emitted text with an input `preload`, which says what reset, or clearing, leaves in counters: from one, each of the
/// cases of the check.
///
/// # Errors
///
/// [`CheckError::Mismatch`] if a text that is to be changed is not there.
pub fn preloadable(verilog: &str) -> Result<String, CheckError> {
    let reset_to = |name: &str, width: u32, value: u64| {
        (
            format!("deltaline_aggregator_{name}"),
            format!("q <= {width}'h0;"),
            format!("q <= {width}'h{value:x};"),
        )
    };
    let near_carry = HIGH.map(|high| {
        [
            reset_to("class_totals_0_packets_low", 24, 0xff_fff0),
            reset_to("class_totals_0_packets_high", 24, high & 0xff_ffff),
            reset_to("class_totals_0_bytes_low", 24, 0xff_ff00),
            reset_to("class_totals_0_bytes_high", 24, high & 0xff_ffff),
            reset_to("totals_unmeasured_count_low", 16, 0xfffe),
            reset_to("totals_unmeasured_count_high", 16, high & 0xffff),
            reset_to("totals_bad_count_low", 16, 0xfffd),
            reset_to("totals_bad_count_high", 16, high & 0xffff),
            reset_to("time_sum_0_low", 24, 0xff_fff0),
            reset_to("time_sum_0_middle", 24, 0xff_ffff),
            reset_to("time_sum_0_high", 16, high & 0xffff),
        ]
    });
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
    // The cells of a lane or of a vector, or of the last of several tables, or the rows beside tables.
    let lda = [
        "lane_0_lda",
        "identity_0_table_3_lda",
        "lda_identity_0_rows",
        "flow_rows_0_table_3_lda",
        "flow_vector_0_lda",
    ]
    .into_iter()
    .find(|lda| verilog.contains(&format!("module deltaline_aggregator_{lda}(")));
    let full = |half: &str, copy: u8| {
        (
            format!("deltaline_aggregator_{}_{half}", lda.unwrap_or_default()),
            format!("ram_{copy}_write_data = 32'h0;"),
            format!("ram_{copy}_write_data = 36'hffff00000;"),
        )
    };
    let slices = "deltaline_aggregator_slices_0";
    let full_cells = if verilog.contains(&format!("module {slices}(")) {
        // The first packet of a slice makes its count wrap.
        vec![(slices.to_string(), "count_d = 32'h1;".to_string(), "count_d = 32'h0;".to_string())]
    } else {
        vec![full("lower", 0), full("upper", 0), full("lower", 1), full("upper", 1)]
    };
    // Ends are refused at the earliest in the second interval, so the first must leave the counters full.
    let full_behind = |counter: &str, added: &str| {
        (
            "deltaline_aggregator_totals".to_string(),
            format!("{counter}_count_d = (({added}) & 16'hffff);"),
            format!("{counter}_count_d = 16'hfffe;"),
        )
    };
    let near_end = [full_behind("refused", "refused"), full_behind("ignored", "ignored_behind")];
    let mut text = with_input(verilog, TOP, "preload");
    let [near_carry, near_carry_of_others] = near_carry;
    let cases: [&[Change]; 6] =
        [&near_carry, &near_carry_of_others, &near_overflow, &near_overflow_of_bytes, &full_cells, &near_end];
    for (case, changes) in (1..).zip(cases) {
        for (module, from, to) in changes {
            let start = reader::module(&text, module).map_or(text.len(), |module| module.start);
            let either = either(&format!("{TOP}.preload == 8'd{case}"), from, to);
            let changed = text[start..].replacen(from.as_str(), &either, 1);
            same(STAGE, 0, "text to change", &true, &(changed != text[start..]))?;
            text.replace_range(start.., &changed);
        }
    }
    Ok(text)
}

/// Counters near their ends: carries between the halves of the totals, saturation, the saturated flag. Reset, or
/// clearing, leaves the counters full.
fn preloaded_counters(
    toolchain: &Toolchain,
    configuration: &Configuration,
    preloadable: &str,
) -> Result<(), CheckError> {
    let time = Timestamp::from_nanoseconds(7);
    let mut model = MeasurementPoint::new(configuration, Role::Sender);
    let zero = model.totals(0);
    (0..40).for_each(|number| model.observe(&traffic::udp_frame(number, 60), time));
    (0..3).for_each(|_| model.observe(&[0; 60], time));
    (0..3).for_each(|_| model.observe_bad());
    let counted = model.totals(0);
    let is_plain = configuration.kind() == wire::shape::Kind::LDA && !configuration.has_digests();
    let cells = if is_plain { model.cells::<Cell>() } else { vec![] };
    // The first interval, ended by no delimiter.
    let first = Flags { timed: true, gap: true, ..Flags::default() };
    let counted = Totals { flags: first, ..counted };
    let saturated = Flags { saturated: true, ..first };
    let near_carry = HIGH.map(|high| Totals {
        packets: (high & 0xff_ffff) << 24 | 0xff_fff0,
        bytes: (high & 0xff_ffff) << 24 | 0xff_ff00,
        time_sum: Some(high << 48 | 0xffff_ffff_fff0),
        unmeasured: (high as u32) << 16 | 0xfffe,
        bad: (high as u32) << 16 | 0xfffd,
        ..counted
    });
    let near_carry = near_carry.map(|reset| Totals {
        packets: reset.packets + 40,
        bytes: reset.bytes + 40 * 46,
        time_sum: reset.time_sum.map(|sum| sum.wrapping_add(40 * 7)),
        unmeasured: reset.unmeasured + 3,
        bad: reset.bad + 3,
        ..reset
    });
    let [one, other] = near_carry;
    let cases: [Totals; 5] = [
        one,
        other,
        Totals { packets: 40 - 16, unmeasured: u32::MAX, bad: u32::MAX, flags: saturated, ..counted },
        Totals { bytes: 40 * 46 - 0x100, flags: saturated, ..counted },
        Totals { flags: saturated, ..counted },
    ];
    let hardware = Hardware::of(toolchain, configuration, preloadable)?;
    let point = |case| with_preload(case, || hardware.point(Role::Sender));

    for (case, expected) in (1..).zip(&cases) {
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
        let frames = frames(&mut point)?;
        same(STAGE, case, "totals near their ends", &Some(*expected), &totals(&frames))?;
        // A half of a word is a half of the count and one of the sum.
        let near_end = |cell: &Cell| Cell { count: cell.count.wrapping_sub(1), ..*cell };
        if is_plain && case == FULL_CELLS {
            let expected: Vec<Cell> = cells.iter().map(near_end).collect();
            same(STAGE, case, "cells near their ends", &expected, &self::cells(&frames))?;
        }
        // Nothing is left of it.
        point.end_interval()?;
        let empty = Totals { flags: Flags { timed: true, ..Flags::default() }, ..zero };
        let frames = self::frames(&mut point)?;
        same(STAGE, case, "totals behind those near their ends", &Some(empty), &totals(&frames))?;
        if is_plain && case == FULL_CELLS {
            // The other copy, which nothing has been counted in.
            let expected = vec![near_end(&Cell::default()); cells.len()];
            same(STAGE, case, "cells near their ends in the other copy", &expected, &self::cells(&frames))?;
        }
    }

    overflow_around_an_end(|| point(FULL_CELLS))?;
    let mut point = point(1 + cases.len() as u64)?;
    point.end_interval()?;
    for _ in 0..3 {
        point.request_interval_end()?;
        point.observe(&Delimiter::new(configuration, 1 << 20).encode(), time)?;
    }
    frames(&mut point)?;
    point.end_interval()?;
    let flags = Flags { overrun: true, timed: true, ..Flags::default() };
    let full = u16::MAX;
    let expected = Totals { refused_ends: full, ignored_delimiters: full, unmeasured: 3, flags, ..zero };
    same(
        STAGE,
        0,
        "refused ends and ignored delimiters near their end",
        &Some(expected),
        &totals(&frames(&mut point)?),
    )
}

/// A cell tells its overflow cycles behind its packet, so an end can pass it: the flag is that of the packet's interval, whether
/// the packet is the last before the end or the first behind it. `point` makes points whose cells are full. Which packets
/// are in such a cell, those far from any end show.
fn overflow_around_an_end(
    point: impl Fn() -> Result<HardwarePoint, HardwareError>,
) -> Result<(), CheckError> {
    let is_saturated = |frames: Vec<Vec<u8>>| totals(&frames).map(|totals| totals.flags.saturated);
    let mut overflows = 0;
    // With a long prefix few packets come into a cell.
    for number in 0..64 {
        if number >= 8 && overflows > 0 {
            break;
        }
        let packet = traffic::udp_frame(number, 60);
        let mut far = point()?;
        far.observe(&packet, Timestamp(0))?;
        (0..8 * COMMIT).try_for_each(|_| far.tick())?;
        far.end_interval()?;
        let is_in_a_cell = is_saturated(frames(&mut far)?);
        overflows += u64::from(is_in_a_cell == Some(true));

        let mut around = point()?;
        around.observe(&packet, Timestamp(0))?;
        around.end_interval()?;
        let before = is_saturated(frames(&mut around)?);
        same(STAGE, number.into(), "overflow of the last packet before an end", &is_in_a_cell, &before)?;
        // Nothing of it is left, and the next end comes while nothing is on its way.
        around.request_interval_end()?;
        around.expect_interval();
        around.observe(&packet, Timestamp(0))?;
        let between = is_saturated(frames(&mut around)?);
        same(STAGE, number.into(), "overflow of the first packet behind an end", &Some(false), &between)?;
        around.end_interval()?;
        let behind = is_saturated(frames(&mut around)?);
        same(STAGE, number.into(), "overflow of the interval that a packet began", &is_in_a_cell, &behind)?;
    }
    same(STAGE, overflows, "packets in full cells", &true, &(overflows > 0))
}

/// The control frames of the interval that has ended.
fn frames(point: &mut HardwarePoint) -> Result<Vec<Vec<u8>>, CheckError> {
    point.wait_for_frames()?;
    Ok(point.take_frames())
}

/// The cells in them.
fn cells(frames: &[Vec<u8>]) -> Vec<Cell> {
    let decoded = frames.iter().filter_map(|frame| Frame::decode(frame).ok());
    decoded.flat_map(|frame| frame.cells().collect::<Vec<_>>()).collect()
}

/// The totals in them.
fn totals(frames: &[Vec<u8>]) -> Option<Totals> {
    frames.first().and_then(|frame| Frame::decode(frame).ok()).map(|frame| frame.header.totals)
}

/// The name of a module, a text in it, and what replaces its first occurrence.
type Change = (String, String, String);
