//! The messages in the bytes of a serial line.

use super::event::Event;
use deltaline_model::board::Record;
use deltaline_model::board::framing::Deframer;
use std::collections::VecDeque;

/// What is read at once, in bytes.
pub(super) const CHUNK: usize = 4096;

/// Finds the events in the bytes of a serial line.
#[derive(Default)]
pub(super) struct Line {
    deframer: Deframer,
    pub(super) events: VecDeque<Event>,
    /// Whole messages so far.
    pub(super) messages: u64,
}

impl Line {
    pub(super) fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let event = match self.deframer.push(*byte) {
                None => continue,
                Some(Err(error)) => Event::Bad(error.into()),
                Some(Ok(payload)) => match Record::decode(payload) {
                    Err(error) => Event::Bad(error.into()),
                    Ok(record) => {
                        self.messages += 1;
                        match record {
                            Record::Control(frame) => Event::Frame { bytes: frame.to_vec(), captured: None },
                            Record::Truth(truth) => Event::Truth(truth),
                            Record::Identity(identity) => Event::Identity(identity),
                        }
                    }
                },
            };
            self.events.push_back(event);
        }
    }

    pub(super) fn next(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// What was under way will not be finished.
    pub(super) fn cut(&mut self) {
        self.deframer = Deframer::new();
    }
}
