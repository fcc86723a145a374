//! The messages in the bytes of a serial line.

use super::event::Event;
use deltaline_model::board::Record;
use deltaline_model::board::framing::Deframer;
use std::collections::VecDeque;

/// What is read at once, in bytes.
pub(super) const CHUNK: usize = 4096;

/// Bytes that are handed on at the latest, be they a message or not.
const MOST: usize = 1 << 16;

/// Finds the events in the bytes of a serial line.
#[derive(Default)]
pub(super) struct Line {
    deframer: Deframer,
    /// Each with the bytes that it was made of, and those before them that were nothing.
    events: VecDeque<(Event, Vec<u8>)>,
    /// Those since the last event.
    bytes: Vec<u8>,
    /// Whole messages so far.
    pub(super) messages: u64,
}

impl Line {
    pub(super) fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.bytes.push(*byte);
            let event = match self.deframer.push(*byte) {
                None if self.bytes.len() >= MOST => Event::Idle,
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
            self.events.push_back((event, std::mem::take(&mut self.bytes)));
        }
    }

    /// The next event, and its bytes.
    pub(super) fn next(&mut self) -> Option<(Event, Vec<u8>)> {
        self.events.pop_front()
    }

    /// What was under way will not be finished.
    pub(super) fn cut(&mut self) {
        self.deframer = Deframer::new();
    }
}
