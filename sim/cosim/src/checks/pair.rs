//! A core and its twin side by side: what the checks of all cores have in common.

use super::point::{Event, Point};
use crate::adversary;
use crate::error::{CheckError, same};
use crate::hardware::{Hardware, HardwarePoint};
use crate::stream::Beat;
use crate::twin::Twin;
use deltaline_model::configuration::Configuration;
use deltaline_model::point::IntervalEnd;
use deltaline_model::sketch::cell::Cell;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::delimiter::Delimiter;
use deltaline_model::wire::frame::Role;
use deltaline_model::wire::shape::Kind as WireKind;
use deltaline_traffic::{self as traffic, Frames};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::marker::PhantomData;
use verilator_sys::Toolchain;

/// A plain UDP packet that is told apart by its number, and goes to the port of that number: with classes that are told
/// apart by ports, neighbours are of different ones.
pub(crate) fn udp_frame(number: u32, length: usize) -> Vec<u8> {
    let mut frame = traffic::udp_frame(number, length);
    frame[36..38].copy_from_slice(&(number as u16).to_be_bytes());
    frame
}

/// A kind of core; each has directed scenarios of its own.
pub(crate) trait Kind {
    /// Its name in messages.
    const STAGE: &'static str;
    /// Most frames of an interval of random traffic.
    const LONGEST: u64;
    /// Most cells that are drained in less than two thousand cycles.
    const FEW_CELLS: usize;
}

/// A core and its twin.
pub(crate) struct Pair<K> {
    pub(crate) hardware: HardwarePoint,
    pub(crate) twin: Point,
    pub(crate) packets: u64,
    id: u32,
    pub(crate) random: StdRng,
    /// Whether m_axis stalls every other cycle.
    pub(crate) back_pressure: bool,
    kind: PhantomData<K>,
}

/// Runs random traffic alone, `count` frames; returns their number.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub(crate) fn traffic<K: Kind>(
    toolchain: &Toolchain,
    configuration: &Configuration,
    verilog: &str,
    count: u64,
    seed: u64,
) -> Result<u64, CheckError> {
    let hardware = Hardware::of(toolchain, configuration, verilog)?;
    let mut pair = Pair::<K>::new(&hardware, configuration, Role::Sender, seed)?;
    pair.hardware.start()?;
    pair.random_intervals(count, seed)?;
    pair.compare()?;
    Ok(pair.packets)
}

impl<K: Kind> Pair<K> {
    /// Hardware out of reset, still clearing its memories.
    pub(crate) fn new(
        hardware: &Hardware,
        configuration: &Configuration,
        role: Role,
        seed: u64,
    ) -> Result<Self, CheckError> {
        Ok(Pair {
            hardware: hardware.unstarted_point(role)?,
            twin: Point::new(configuration, role),
            packets: 0,
            id: 0,
            random: StdRng::seed_from_u64(seed),
            back_pressure: false,
            kind: PhantomData,
        })
    }

    /// The identifier of both.
    pub(crate) fn set_id(&mut self, id: u32) {
        self.id = id;
        self.hardware.set_id(id);
        self.twin.model.set_id(id);
    }

    /// Back-pressure for one cycle, if wanted.
    fn press(&mut self) {
        if self.back_pressure {
            let ready: bool = self.random.random();
            self.hardware.set_ready(ready);
        }
    }

    /// One cycle without a beat.
    pub(crate) fn cycle(&mut self) -> Result<(), CheckError> {
        self.press();
        Ok(self.hardware.tick()?)
    }

    /// A frame, one cycle in `gaps` idle or stalled, shown to both.
    pub(crate) fn frame(&mut self, frame: &[u8], bad: bool, gaps: u32) -> Result<(), CheckError> {
        let time = Timestamp(self.random.random());
        for beat in self.hardware.beats(frame, time, bad) {
            while gaps > 0 && self.random.random_ratio(1, gaps) {
                self.press();
                if self.random.random() {
                    self.hardware.tick()?;
                } else {
                    self.hardware.stalled_beat(beat)?;
                }
            }
            self.press();
            self.hardware.beat(beat)?;
        }
        self.observe(frame, time, bad);
        Ok(())
    }

    /// The twin's side of a frame.
    pub(crate) fn observe(&mut self, frame: &[u8], time: Timestamp, bad: bool) {
        self.packets += 1;
        self.twin.frame(frame, time, bad);
    }

    /// The twin's side of an interval end.
    pub(crate) fn end_twin(&mut self, end: Event<'_>) {
        self.twin.take(end);
        self.hardware.expect_interval();
    }

    /// The twin's side of an interval end that is refused.
    pub(crate) fn refuse_end(&mut self) {
        self.twin.take(Event::RefusedEnd);
    }

    /// Ends the interval by request.
    pub(crate) fn end_interval(&mut self) -> Result<(), CheckError> {
        self.hardware.request_interval_end()?;
        self.end_twin(Event::End(IntervalEnd::Request));
        Ok(())
    }

    /// Waits for the control frames that are due and compares them.
    pub(crate) fn compare(&mut self) -> Result<(), CheckError> {
        self.hardware.set_ready(true);
        self.hardware.wait_for_frames()?;
        let found = self.hardware.take_frames();
        self.twin.compare_all(K::STAGE, self.packets, found)
    }

    /// A frame that may be a delimiter, shown to both while an interval may end or not; whether it ends it, or would.
    fn delimiter(&mut self, frame: &[u8], may_end: bool) -> Result<bool, CheckError> {
        self.frame(frame, false, 0)?;
        let is_next = self.twin.delimiter(frame, may_end);
        if is_next && may_end {
            self.hardware.expect_interval();
        }
        Ok(is_next)
    }

    /// A delimiter of this measurement.
    fn ours(&self, boot_epoch: u32, number: u32) -> Vec<u8> {
        let configuration = self.twin.model.configuration();
        Delimiter { boot_epoch, ..Delimiter::new(configuration, number) }.encode().to_vec()
    }

    /// Whether delimiters are tried in this role with this copy: where drains are short in every one, else in one alone,
    /// for they take some fifteen hundred drains.
    pub(crate) fn tries_delimiters(&self, role: Role, copy: usize) -> bool {
        self.twin.model.cell_count() <= K::FEW_CELLS || (role, copy) == (Role::Receiver, 0)
    }

    /// Which frames are delimiters, which of them end intervals, and what becomes of the others.
    pub(crate) fn delimiters(&mut self) -> Result<(), CheckError> {
        self.begin_with(500)?;
        self.recognition()?;
        self.successions()?;
        self.every_distance()?;
        self.every_epoch()?;
        self.strangers()?;
        self.end_interval()?;
        self.compare()
    }

    /// Whatever was due before: now it is this number, of epoch 0. Two delimiters make a run, of another epoch first.
    fn begin_with(&mut self, number: u32) -> Result<(), CheckError> {
        for (epoch, number) in [(9, 4), (9, 5), (0, number.wrapping_sub(2)), (0, number.wrapping_sub(1))] {
            let frame = self.ours(epoch, number);
            self.delimiter(&frame, true)?;
            self.compare()?;
        }
        same(K::STAGE, self.packets, "number that is due", &number, &self.twin.model.interval())
    }

    /// Delimiters of this measurement that are due end intervals behind themselves; others, broken and bad ones end none.
    fn recognition(&mut self) -> Result<(), CheckError> {
        // Each byte, every bit of the EtherType and the epoch, every length, padding.
        let mut changes: Vec<(usize, u32, usize)> = (0..64).map(|position| (position, 4, 64)).collect();
        changes.extend((0..16).map(|bit| (12 + bit / 8, bit as u32 % 8, 64)));
        changes.extend((0..32).map(|bit| (32 + bit / 8, bit as u32 % 8, 64)));
        // Without a change that matters: the last byte of the check word.
        changes.extend((14..=130).map(|length| (63, 0, length)));
        for (number, (position, bit, length)) in (0..).step_by(3).zip(changes) {
            let due = self.twin.model.interval();
            let mut frame = self.ours(0, due);
            let mut other = frame.clone();
            other[15] ^= 16;
            frame[position] ^= 1 << bit;
            frame.resize(length, 0x5a);
            self.frame(&udp_frame(number, 60), false, 0)?;
            // Marked bad, it is none.
            self.frame(&frame, true, 0)?;
            let ends = self.delimiter(&frame, true)?;
            // The one behind it is due at once, but refused.
            let behind = self.ours(0, due.wrapping_add(1));
            let is_due = ends && length == 64 && position == 63;
            if is_due {
                same(
                    K::STAGE,
                    self.packets,
                    "a delimiter right behind another",
                    &true,
                    &self.delimiter(&behind, false)?,
                )?;
            }
            // A control frame, frames of one byte and packets change nothing.
            self.frame(&other, false, 0)?;
            self.frame(&[0xff], false, 0)?;
            self.frame(&udp_frame(number + 1, 60), false, 0)?;
            self.compare()?;
            // Nor does a frame of one byte right behind a delimiter end another interval.
            let due = self.ours(0, self.twin.model.interval());
            same(K::STAGE, self.packets, "the delimiter that is due", &true, &self.delimiter(&due, true)?)?;
            self.frame(&[0xff], false, 0)?;
            self.frame(&udp_frame(number + 2, 60), false, 0)?;
            self.compare()?;
        }
        Ok(())
    }

    /// Delimiters that are due, doubled, late, lost, far ahead, in forged pairs, of senders that start again, around the wrap; each
    /// as its distance from the one due, or as it is with an epoch of its own, and whether it ends the interval.
    fn successions(&mut self) -> Result<(), CheckError> {
        const RUNS: [&[(i64, bool)]; 14] = [
            &[(0, true), (-1, false), (-1, false), (0, true)],
            &[(-64, false), (-63, false), (0, true)],
            &[(-65, false), (-64, true), (0, true)],
            &[(-64, false), (-63, false), (-62, false)],
            // Lost: its successor's successor ends the interval.
            &[(1, false), (2, true), (0, true)],
            &[(1, false), (1, false), (3, false), (2, false), (3, true)],
            // Forged, amid those that are due.
            &[(0x4000_0000, false), (0, true), (0x4000_0001, false), (0, true)],
            &[(0x4000_0000, false), (0x4000_0001, true), (0, true)],
            &[(i32::MAX as i64, false), (0, true)],
            &[(i32::MIN as i64, false), (0x8000_0001, true)],
            // A candidate outlives what is late, and is gone with an end.
            &[(9, false), (-1, false), (10, true)],
            &[(9, false), (0, true), (9, false), (-1, false), (0, true)],
            &[(9, false), (20, false), (10, false), (11, true)],
            &[(0, true); 3],
        ];
        for start in [1000u32, 30, u32::MAX - 4, 0x7fff_fffc, 0xffff_ffff, 3] {
            for run in RUNS {
                self.begin_with(start)?;
                for (distance, ends) in run {
                    let number = self.twin.model.interval().wrapping_add(*distance as u32);
                    let frame = self.ours(0, number);
                    self.frame(&udp_frame(number, 60), false, 0)?;
                    same(K::STAGE, self.packets, "a delimiter's end", ends, &self.delimiter(&frame, true)?)?;
                    self.compare()?;
                }
            }
        }
        // A request counts every bit of the number on.
        for start in [0x5a5a_5a5a, 0xa5a5_a5a5, u32::MAX] {
            self.begin_with(start)?;
            self.end_interval()?;
            self.compare()?;
            let frame = self.ours(0, start.wrapping_add(1));
            same(K::STAGE, self.packets, "due behind a request", &true, &self.delimiter(&frame, true)?)?;
            self.compare()?;
        }
        // A sender that counts its starts: the number alone says nothing.
        let due = self.twin.model.interval();
        let number = |ahead: u32| due.wrapping_add(ahead);
        for (epoch, number, ends) in [
            (1, number(0), false),
            (0, number(0), true),
            (2, number(1), false),
            (3, number(2), false),
            (3, number(3), true),
            (0, number(4), false),
            (3, number(4), true),
            (4, 0, false),
            (4, 1, true),
            (0x8000_0004, 2, false),
            (4, 2, true),
        ] {
            let frame = self.ours(epoch, number);
            same(K::STAGE, self.packets, "a delimiter's end", &ends, &self.delimiter(&frame, true)?)?;
            self.compare()?;
        }
        Ok(())
    }

    /// Delimiters at distances from the due one that decide by any one bit, by itself or in the cycle behind a request: which of them may begin
    /// a run, the successor shows, and which of them was taken for the due one, the due one behind it.
    fn every_distance(&mut self) -> Result<(), CheckError> {
        let near = [-66i64, -65, -64, -63, -2, -1, 0, 1, 2];
        let far = (7..32).flat_map(|bit| [1i64 << bit, -(1 << bit), -64 - (1 << bit), (1 << bit) - 65]);
        // In the epoch that counts; near also in others, in which none is late.
        let own = near.into_iter().chain(far).map(|distance| (distance, 0));
        let others = near.map(|distance| (distance, 1));
        let mut epoch = 4;
        for (distance, ahead) in own.chain(others) {
            for (behind_request, follows) in [(false, true), (false, false), (true, true), (true, false)] {
                epoch += ahead;
                let due = self.twin.model.interval().wrapping_add(behind_request.into());
                let number = due.wrapping_add(distance as u32);
                let frame = self.ours(epoch, number);
                self.frame(&udp_frame(number, 60), false, 0)?;
                if behind_request {
                    self.right_behind_request(&frame)?;
                } else {
                    self.delimiter(&frame, true)?;
                }
                self.compare()?;
                let next = self.ours(epoch, if follows { number.wrapping_add(1) } else { due });
                self.delimiter(&next, true)?;
                self.compare()?;
            }
        }
        Ok(())
    }

    /// Runs of epochs that differ in every bit from each other: the second of a run ends the interval, and the one that is due does so with
    /// no other epoch.
    fn every_epoch(&mut self) -> Result<(), CheckError> {
        for (number, bit) in (0..).step_by(40).zip(0..64) {
            let own = if bit < 32 { 1u32 << bit } else { !(1 << (bit - 32)) };
            for (epoch, number, ends) in [
                (own, number, false),
                (own, number + 1, true),
                (own ^ 1 << (bit % 32), number + 2, false),
                (own, number + 2, true),
            ] {
                let frame = self.ours(epoch, number);
                same(K::STAGE, self.packets, "a delimiter's end", &ends, &self.delimiter(&frame, true)?)?;
                self.compare()?;
            }
        }
        Ok(())
    }

    /// A delimiter whose last beat is taken in the cycle behind a request, while an interval may end; its end is refused, then.
    fn right_behind_request(&mut self, frame: &[u8]) -> Result<(), CheckError> {
        let time = Timestamp(self.random.random());
        let beats: Vec<Beat> = self.hardware.beats(frame, time, false).collect();
        for (index, beat) in beats.iter().enumerate() {
            self.hardware.set_interval_end(index + 2 == beats.len());
            if beats.len() == 1 {
                self.hardware.request_interval_end()?;
            }
            self.hardware.beat(*beat)?;
        }
        self.end_twin(Event::End(IntervalEnd::Request));
        self.observe(frame, time, false);
        self.twin.delimiter(frame, false);
        Ok(())
    }

    /// Any delimiters at all, near and far, also while the drain works.
    fn strangers(&mut self) -> Result<(), CheckError> {
        for _ in 0..200 {
            let mut may_end = true;
            for number in 0..self.random.random_range(1..6) {
                let due = self.twin.model.interval();
                let near = self.random.random_range(0..4u32).wrapping_sub(1);
                let number = match self.random.random_range(0..8) {
                    0 => self.random.random(),
                    1 => due.wrapping_add(near << 6),
                    2 => near,
                    _ => due.wrapping_add(near).wrapping_add(number),
                };
                let epoch = if self.random.random_ratio(1, 6) { self.random.random_range(0..3) } else { 4 };
                let frame = self.ours(epoch, number);
                may_end &= !self.delimiter(&frame, may_end)?;
            }
            self.frame(&udp_frame(1, 60), false, 0)?;
            self.compare()?;
        }
        Ok(())
    }

    /// Frames at the edges, sums beyond a counter's lower half, a clock that runs and ends nothing, ends in successive
    /// cycles, delimiters in storms, without a least interval and with one; and a reset anywhere in it.
    pub(crate) fn adversary(&mut self, role: Role) -> Result<(), CheckError> {
        let frames = adversary::frames();
        for (number, frame) in frames.iter().enumerate() {
            self.frame(frame, number % 16 == 15, [0, 0, 4][number % 3])?;
        }
        self.end_interval()?;
        self.compare()?;
        // More than 2^24 octets, then few: nothing is left of them.
        for number in 0..260 {
            self.frame(&adversary::longest_ipv6(number), false, 0)?;
        }
        for _ in 0..2 {
            self.end_interval()?;
            self.compare()?;
            self.frame(&udp_frame(1, 60), false, 0)?;
        }
        self.running_clock()?;
        self.changed_exponents()?;
        self.successive_ends()?;
        self.least_intervals()?;
        self.resets(role, &frames)
    }

    /// A clock whose every bit changes, without an exponent: no interval ends.
    fn running_clock(&mut self) -> Result<(), CheckError> {
        for bit in 0..64 {
            for time in [1 << bit, 0] {
                self.hardware.set_time(Timestamp(time));
                for _ in 0..8 {
                    self.cycle()?;
                }
            }
        }
        self.frame(&udp_frame(2, 60), false, 0)?;
        self.end_interval()?;
        self.compare()
    }

    /// Ends in successive cycles, by the pin and by delimiters: the first counts, the others are refused.
    fn successive_ends(&mut self) -> Result<(), CheckError> {
        self.begin_with(7)?;
        for cycles in [2, 3, 9] {
            self.frame(&udp_frame(3, 60), false, 0)?;
            self.hardware.set_interval_end(true);
            for cycle in 0..cycles {
                self.cycle()?;
                match cycle {
                    0 => self.end_twin(Event::End(IntervalEnd::Request)),
                    _ => self.refuse_end(),
                }
            }
            self.hardware.set_interval_end(false);
            self.compare()?;
            for number in 0..cycles {
                let due = self.ours(0, self.twin.model.interval());
                let is_next = self.delimiter(&due, number == 0)?;
                same(K::STAGE, self.packets, "delimiters without a gap", &true, &is_next)?;
            }
            self.compare()?;
        }
        self.end_interval()?;
        self.compare()
    }

    /// Exponents that change over a clock whose bits differ: no interval ends.
    fn changed_exponents(&mut self) -> Result<(), CheckError> {
        self.hardware.set_time(Timestamp(0x5a5a_3c3c_a55a_0000));
        for _ in 0..400 {
            let log2 = self.random.random_range(0..64);
            self.hardware.set_interval_log2(log2);
            for _ in 0..self.random.random_range(1..8) {
                self.cycle()?;
            }
        }
        self.hardware.set_interval_log2(0);
        self.hardware.set_time(Timestamp(0));
        self.frame(&udp_frame(2, 60), false, 0)?;
        self.end_interval()?;
        self.compare()
    }

    /// A least interval, in storms of ends by pin, delimiters and clock: which of them count follows from their distance from the
    /// last one that did, and from nothing else. One that is shorter than a drain changes nothing.
    pub(crate) fn least_intervals(&mut self) -> Result<(), CheckError> {
        self.begin_with(7)?;
        self.back_pressure = false;
        for short in [1, 2, 9] {
            self.hardware.set_least_interval(short)?;
            self.refused_ends()?;
        }
        let least = self.drain()? + 200;
        for least in [least, least + 1] {
            // It is taken with the interval's end.
            self.hardware.set_least_interval(least as u32)?;
            let mut ended = self.hardware.cycles();
            self.end_interval()?;
            // The pin, held; then delimiters, each due as soon as the one before was refused.
            self.hardware.set_interval_end(true);
            for _ in 0..3 * least {
                self.request(&mut ended, least)?;
            }
            self.hardware.set_interval_end(false);
            let until = self.hardware.cycles() + 3 * least;
            while self.hardware.cycles() < until {
                self.due_delimiter(&mut ended, least)?;
            }
            // Another exponent takes a moment.
            self.hardware.set_interval_log2(8);
            (0..8).try_for_each(|_| self.cycle())?;
            let mut time = 0;
            let until = self.hardware.cycles() + 6 * least;
            while self.hardware.cycles() < until {
                match self.random.random_range(0..5) {
                    0 => self.due_delimiter(&mut ended, least)?,
                    1 => {
                        self.hardware.set_interval_end(true);
                        self.request(&mut ended, least)?;
                        self.hardware.set_interval_end(false);
                    }
                    2 => {
                        time ^= 1 << 8;
                        self.hardware.set_time(Timestamp::from_nanoseconds(time));
                        self.request(&mut ended, least)?;
                    }
                    3 => self.frame(&udp_frame(time as u32, 60), false, 0)?,
                    _ => {
                        let idle = self.random.random_range(1..least / 2);
                        (0..idle).try_for_each(|_| self.cycle())?;
                    }
                }
            }
            (0..least).try_for_each(|_| self.cycle())?;
            self.hardware.set_interval_log2(0);
            self.hardware.set_time(Timestamp(0));
            self.compare()?;
        }
        self.hardware.set_least_interval(0)?;
        self.end_interval()?;
        self.compare()
    }

    /// One cycle in which the interval's end is asked for; it counts if the last one that did is `least` cycles ago.
    fn request(&mut self, ended: &mut u64, least: u64) -> Result<(), CheckError> {
        let asked = self.hardware.cycles();
        self.cycle()?;
        if asked - *ended >= least {
            *ended = asked;
            self.end_twin(Event::End(IntervalEnd::Request));
        } else {
            self.refuse_end();
        }
        Ok(())
    }

    /// The delimiter that is due, whose last beat asks likewise.
    fn due_delimiter(&mut self, ended: &mut u64, least: u64) -> Result<(), CheckError> {
        let due = self.ours(0, self.twin.model.interval());
        let asked = self.hardware.cycles() + (due.len() / self.hardware.beat_bytes()) as u64 - 1;
        let may_end = asked - *ended >= least;
        let is_next = self.delimiter(&due, may_end)?;
        same(K::STAGE, self.packets, "a delimiter that is due", &true, &is_next)?;
        if may_end {
            *ended = asked;
        }
        Ok(())
    }

    /// A reset behind any beat of frames like these, while a drain works: the core starts over as if nothing had been.
    fn resets(&mut self, role: Role, frames: &[Vec<u8>]) -> Result<(), CheckError> {
        for _ in 0..4 {
            self.end_interval()?;
            let frame = &frames[self.random.random_range(0..frames.len())];
            let beats: Vec<_> = self.hardware.beats(frame, Timestamp(6), false).collect();
            let (before, behind) = beats.split_at(self.random.random_range(0..=beats.len().min(200)));
            before.iter().try_for_each(|beat| self.hardware.beat(*beat))?;
            self.restart(role)?;
            // What is left of the frame comes while memories are cleared, and ends before the core counts.
            if !before.is_empty() {
                let rest = behind.iter().rev().take(8).rev();
                rest.clone().try_for_each(|beat| self.hardware.beat(*beat))?;
            }
            self.hardware.start()?;
            self.first_interval()?;
        }
        Ok(())
    }

    /// Packets that differ in a counter alone: IPv4 identification, TCP sequence number, both. Rows are random ones: in each
    /// bank with five packets a row and more, their counts have the dispersion that chance gives.
    pub(crate) fn counters(&mut self) -> Result<(), CheckError> {
        let (identification, sequence) = (18..20, 38..42);
        for counters in [
            &[(identification.clone(), 1)][..],
            &[(sequence.clone(), 1)],
            &[(sequence.clone(), 1448)],
            &[(identification, 1), (sequence, 1448)],
        ] {
            let mut tcp = udp_frame(0, 60);
            tcp[23] = 6;
            for number in 0..1000u32 {
                for (place, step) in counters {
                    let bytes = (step * number).to_be_bytes();
                    tcp[place.clone()].copy_from_slice(&bytes[4 - place.len()..]);
                }
                self.frame(&tcp, false, 0)?;
            }
            self.random_rows()?;
            self.end_interval()?;
            self.compare()?;
        }
        Ok(())
    }

    /// Chi-squared of the counts of each bank's rows, by the cube root that is nearly normal (Wilson and Hilferty), within
    /// five deviations: one bank in two million is not by chance. The hardware's rows are compared with these.
    fn random_rows(&self) -> Result<(), CheckError> {
        let configuration = self.twin.model.configuration();
        if configuration.kind() != WireKind::LDA || configuration.has_digests() {
            return Ok(());
        }
        for rows in self.twin.model.cells::<Cell>().chunks(configuration.rows()) {
            let mean = rows.iter().map(|cell| f64::from(cell.count)).sum::<f64>() / rows.len() as f64;
            if mean < 5.0 {
                continue;
            }
            let squares = rows.iter().map(|cell| (f64::from(cell.count) - mean).powi(2) / mean).sum::<f64>();
            let freedom = rows.len() as f64 - 1.0;
            let spread = 2.0 / (9.0 * freedom);
            let deviation = ((squares / freedom).cbrt() - (1.0 - spread)) / spread.sqrt();
            same(K::STAGE, self.packets, "rows are random ones", &true, &(deviation.abs() < 5.0))?;
        }
        Ok(())
    }

    /// Interval ends while the drain works are refused, counted, and nothing else changes.
    pub(crate) fn refused_ends(&mut self) -> Result<(), CheckError> {
        for refused in [1, 3] {
            self.frame(&udp_frame(refused, 60), false, 0)?;
            self.end_interval()?;
            for number in 0..refused {
                self.frame(&udp_frame(number, 60), false, 0)?;
                self.hardware.request_interval_end()?;
                self.refuse_end();
            }
            self.compare()?;
            self.frame(&udp_frame(9, 60), false, 0)?;
            self.end_interval()?;
            self.compare()?;
        }
        Ok(())
    }

    /// A second end, after which the core runs so many cycles idle: whether it was refused. If not, the control frames of its
    /// interval are compared.
    pub(crate) fn second_end(&mut self, distance: u64, idle: u64) -> Result<bool, CheckError> {
        self.hardware.request_interval_end()?;
        self.compare()?;
        // An accepted end brings frames of its own.
        let asked = self.hardware.cycles();
        while self.hardware.cycles() < asked + idle {
            self.cycle()?;
        }
        let found = self.hardware.take_frames();
        let refused = found.is_empty();
        self.twin.take(if refused { Event::RefusedEnd } else { Event::End(IntervalEnd::Request) });
        self.twin.compare_all(K::STAGE, distance, found)?;
        Ok(refused)
    }

    /// One cycle without lock flags the interval of the frames that end in that cycle, and no other.
    pub(crate) fn lost_clock(&mut self) -> Result<(), CheckError> {
        const AROUND: usize = 10;
        for lost in 0..2 * AROUND {
            self.frame(&udp_frame(4, 60), false, 0)?;
            for cycle in 0..2 * AROUND {
                self.hardware.set_locked(cycle != lost);
                self.hardware.set_interval_end(cycle == AROUND);
                if cycle == lost {
                    self.twin.take(Event::Unlocked);
                }
                if cycle == AROUND {
                    self.end_twin(Event::End(IntervalEnd::Request));
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

    /// How many cycles a drain takes, from the end to the last beat of its last frame.
    pub(crate) fn drain(&mut self) -> Result<u64, CheckError> {
        self.end_interval()?;
        let started = self.hardware.cycles();
        while !self.hardware.is_drained() {
            self.cycle()?;
        }
        let length = self.hardware.cycles() - started;
        self.compare()?;
        Ok(length)
    }

    /// Intervals of random traffic, until `count` frames have passed.
    pub(crate) fn random_intervals(&mut self, count: u64, seed: u64) -> Result<(), CheckError> {
        let (mut frames, before) = (Frames::new(seed), self.packets);
        while self.packets - before < count {
            self.random_interval(&mut frames)?;
        }
        Ok(())
    }

    /// Traffic of every kind, drained while the next interval's traffic passes.
    fn random_interval(&mut self, frames: &mut Frames) -> Result<(), CheckError> {
        self.back_pressure = self.random.random();
        let gaps = [0, 0, 2, 8][self.random.random_range(0..4)];
        for _ in 0..self.random.random_range(1..K::LONGEST) {
            let frame = frames.next_frame();
            let bad = self.random.random_ratio(1, 32);
            self.frame(&frame, bad, gaps)?;
        }
        // What the previous interval owes comes out meanwhile, or now.
        self.compare()?;
        self.end_interval()
    }

    /// Hardware out of reset again, and a new twin.
    pub(crate) fn restart(&mut self, role: Role) -> Result<(), CheckError> {
        self.hardware.restart()?;
        self.twin = Point::new(self.twin.model.configuration(), role);
        self.set_id(self.id);
        Ok(())
    }

    /// Behind a reset: frames count again. No delimiter has begun their interval: it has a gap, whatever its number.
    pub(crate) fn first_interval(&mut self) -> Result<(), CheckError> {
        for number in 0..200 {
            self.frame(&udp_frame(number, 60), false, 0)?;
        }
        let delimiter = self.ours(0, 0);
        same(K::STAGE, self.packets, "the first delimiter", &true, &self.delimiter(&delimiter, true)?)?;
        self.compare()?;
        self.end_interval()?;
        self.compare()
    }

    /// Behind a reset and an end by request, the delimiter that is due is of boot epoch 0: only here does a core name an epoch that no
    /// delimiter has told it.
    pub(crate) fn first_epoch(&mut self) -> Result<(), CheckError> {
        self.end_interval()?;
        self.compare()?;
        let delimiter = self.ours(0, 1);
        let is_due = self.delimiter(&delimiter, true)?;
        same(K::STAGE, self.packets, "a delimiter of the epoch that a reset leaves", &true, &is_due)?;
        self.compare()
    }
}
