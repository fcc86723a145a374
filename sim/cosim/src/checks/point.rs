//! The twin of a measurement point: frames and interval ends in, control frames out.

use crate::error::{CheckError, same};
use crate::twin::Twin;
use deltaline_model::configuration::Configuration;
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::{Frame, Role};
use std::borrow::Cow;
use std::collections::VecDeque;

/// What happens to a measurement point.
pub(crate) enum Event<'a> {
    /// A frame passes; its time is that of its first byte.
    Frame(Cow<'a, [u8]>, Timestamp),
    /// A frame passes that the MAC marked bad.
    BadFrame,
    /// The interval ends.
    End(IntervalEnd),
    /// A delimiter passes, which ends the interval if it is the next one.
    Delimiter(Cow<'a, [u8]>),
    /// The interval should end, but the one before is still being drained.
    RefusedEnd,
    /// The clock is not locked.
    Unlocked,
}

/// The twin of a measurement point.
pub(crate) struct Point {
    pub(crate) model: MeasurementPoint,
    control_frames: VecDeque<Vec<u8>>,
}

impl Twin for Point {
    type Input<'a> = Event<'a>;
    /// A control frame.
    type Output = Vec<u8>;

    fn take(&mut self, event: Event<'_>) {
        let emit = |frame: &[u8]| self.control_frames.push_back(frame.to_vec());
        match event {
            Event::Frame(frame, time) => self.model.observe(&frame, time),
            Event::BadFrame => self.model.observe_bad(),
            Event::End(end) => self.model.end_interval(end, emit),
            Event::Delimiter(frame) => {
                self.model.observe_delimiter(&frame, emit);
            }
            Event::RefusedEnd => self.model.refuse_interval_end(),
            Event::Unlocked => self.model.clock_unlocked(),
        }
    }

    fn due(&mut self) -> Option<Vec<u8>> {
        self.control_frames.pop_front()
    }
}

impl Point {
    /// Before its first packet.
    pub(crate) fn new(configuration: &Configuration, role: Role) -> Self {
        Point { model: MeasurementPoint::new(configuration, role), control_frames: VecDeque::new() }
    }

    /// A frame passes, sound or bad.
    pub(crate) fn frame(&mut self, frame: &[u8], time: Timestamp, bad: bool) {
        self.take(if bad { Event::BadFrame } else { Event::Frame(frame.into(), time) });
    }

    /// A frame passes that may be a delimiter, while an interval may end or not: whether it ends it, or would.
    pub(crate) fn delimiter(&mut self, frame: &[u8], may_end: bool) -> bool {
        if may_end {
            let frames = &mut self.control_frames;
            self.model.observe_delimiter(frame, |frame| frames.push_back(frame.to_vec()))
        } else {
            self.model.refuse_delimiter(frame)
        }
    }

    /// Control frames that are due.
    pub(crate) fn frames_due(&self) -> usize {
        self.control_frames.len()
    }

    /// Compares all control frames that came out with all that are due.
    ///
    /// # Errors
    ///
    /// [`CheckError::Mismatch`] with the first difference.
    pub(crate) fn compare_all(
        &mut self,
        stage: &'static str,
        at: u64,
        found: Vec<Vec<u8>>,
    ) -> Result<(), CheckError> {
        same(stage, at, "number of control frames", &self.frames_due(), &found.len())?;
        self.compare_first(stage, at, found)
    }

    /// Compares control frames that came out with the first ones that are due.
    ///
    /// # Errors
    ///
    /// [`CheckError::Mismatch`] with the first difference.
    pub(crate) fn compare_first(
        &mut self,
        stage: &'static str,
        at: u64,
        found: Vec<Vec<u8>>,
    ) -> Result<(), CheckError> {
        for found in found {
            if let Some(expected) = self.control_frames.front().filter(|expected| **expected != found) {
                // The header says more than a thousand bytes do.
                let header = |bytes| Frame::decode(bytes).map(|frame| frame.header);
                same(stage, at, "control frame's header", &header(expected), &header(&found))?;
            }
            self.compare(stage, at, "control frame", Some(found))?;
        }
        Ok(())
    }
}
