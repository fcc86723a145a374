//! Core: frames and interval ends in, control frames out.

use super::{CheckError, same};
use crate::hardware::{Hardware, HardwarePoint, beats};
use deltaline_model::configuration::Configuration;
use deltaline_model::frame::{Frame, Role};
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::time::Timestamp;
use deltaline_traffic::{Frames, udp_frame};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use verilator_sys::Toolchain;

const STAGE: &str = "core";

/// Cycles from the last beat of a frame, or an interval end, to its commit.
const COMMIT: usize = 7;

/// Hardware and model side by side.
struct Twin {
    hardware: HardwarePoint,
    model: MeasurementPoint,
    expected: Vec<Vec<u8>>,
    packets: u64,
    random: StdRng,
    back_pressure: bool,
}

/// Runs the directed scenarios and intervals of random traffic until `count` frames have passed; returns their
/// number.
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
        let mut twin = Twin {
            hardware: hardware.unstarted_point(role)?,
            model: MeasurementPoint::new(configuration, role),
            expected: vec![],
            packets: 0,
            random: StdRng::seed_from_u64(seed),
            back_pressure: false,
        };
        twin.before_it_counts()?;
        twin.line_rate()?;
        twin.refused_ends()?;
        twin.ends_between_neighbours()?;
        twin.ends_by_the_clock()?;
        twin.lost_clock()?;
        let mut frames = Frames::new(seed);
        while twin.packets < count / 2 {
            twin.random_interval(&mut frames)?;
        }
        twin.reset_in_the_middle(configuration, role)?;
        packets += twin.packets;
    }
    Ok(packets)
}

impl Twin {
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
        for beat in beats(frame, time, bad) {
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
            for beat in beats(&frame[..frame.len().min(64)], Timestamp(1), false) {
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

    /// An interval end in each cycle around the end of a frame: up to the frame's last beat it comes before the
    /// frame, from its last beat on behind it.
    fn ends_between_neighbours(&mut self) -> Result<(), CheckError> {
        let frame = udp_frame(1, 60);
        let beat_count = frame.len().div_ceil(8);
        for at in 0..2 * beat_count {
            self.frame(&udp_frame(0, 60), false, 0)?;
            for number in 0..2 {
                let time = Timestamp(self.random.random());
                let frame = udp_frame(number, 60);
                for (index, beat) in beats(&frame, time, false).enumerate() {
                    let position = number as usize * beat_count + index;
                    if beat.last {
                        self.model.observe(&frame, time);
                    }
                    if position == at {
                        self.hardware.set_interval_end(true);
                        self.end_model(IntervalEnd::Delimiter);
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

    /// Intervals of 2^10 ns by the clock, which advances 8 ns a cycle.
    fn ends_by_the_clock(&mut self) -> Result<(), CheckError> {
        let boundary = 1 << 10;
        self.hardware.set_time(Timestamp::from_nanoseconds(0));
        self.hardware.set_interval_log2(10);
        for _ in 0..COMMIT {
            self.cycle()?;
        }
        for interval in 1..4u64 {
            // Jump to just before the next boundary: the bit that tells intervals apart does not change.
            self.hardware.set_time(Timestamp::from_nanoseconds(interval * boundary - 80));
            self.cycle()?;
            let frame = udp_frame(interval as u32, 60);
            let time = Timestamp(self.random.random());
            for (beat, now) in beats(&frame, time, false).zip(0..) {
                self.hardware.set_time(Timestamp::from_nanoseconds(interval * boundary - 80 + 8 * now));
                self.hardware.beat(beat)?;
            }
            self.model.observe(&frame, time);
            for now in 8..16 {
                self.hardware.set_time(Timestamp::from_nanoseconds(interval * boundary - 80 + 8 * now));
                self.cycle()?;
            }
            self.end_model(IntervalEnd::Clock);
            self.compare()?;
            self.packets += 1;
        }
        self.hardware.set_interval_log2(0);
        self.end_interval()?;
        self.end_after_drain()?;
        self.compare()
    }

    /// Ends an interval behind the drain of the one before.
    fn end_after_drain(&mut self) -> Result<(), CheckError> {
        self.compare()?;
        self.end_interval()
    }

    /// One cycle without lock flags its interval and no other.
    fn lost_clock(&mut self) -> Result<(), CheckError> {
        for lost in [false, true, false] {
            self.frame(&udp_frame(4, 60), false, 0)?;
            for _ in 0..COMMIT {
                self.cycle()?;
            }
            self.hardware.set_locked(!lost);
            self.cycle()?;
            self.hardware.set_locked(true);
            if lost {
                self.model.clock_unlocked();
            }
            self.end_interval()?;
            self.compare()?;
        }
        Ok(())
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

    /// A reset amid a frame and a drain: the core starts over as if nothing had been.
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
        for beat in beats(&udp_frame(3, 60), Timestamp(5), false).take(4) {
            self.hardware.beat(beat)?;
        }
        self.hardware.reset()?;
        self.model = MeasurementPoint::new(configuration, role);
        for number in 0..200 {
            self.frame(&udp_frame(number, 60), false, 0)?;
        }
        self.end_interval()?;
        self.end_after_drain()?;
        self.compare()
    }
}
