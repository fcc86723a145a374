//! Recordings: captures of a management port, and files of a serial line's bytes.

use super::error::FeedError;
use super::event::{Event, Feed};
use super::line::{CHUNK, Line};
use deltaline_capture::{Capture, CaptureError, PacketRef};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A recording, from its beginning to its end.
pub struct Recording(Kind);

enum Kind {
    Capture(Box<Capture>),
    Serial(Box<SerialBytes>),
}

impl Recording {
    /// Opens a pcap or pcapng capture, plain or compressed; any other file is taken for the bytes of a serial line.
    ///
    /// # Errors
    ///
    /// [`FeedError::Capture`] when the file cannot be read or is empty.
    pub fn open(path: &Path) -> Result<Self, FeedError> {
        match Capture::open(path) {
            Ok(capture) => Ok(Recording(Kind::Capture(Box::new(capture)))),
            Err(CaptureError::NotACapture { file, .. }) => {
                let name = file.clone();
                let reader = File::open(path).map_err(|reason| CaptureError::Open { file, reason })?;
                Ok(Recording(Kind::Serial(Box::new(SerialBytes::new(name, reader)))))
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl Feed for Recording {
    fn next_event(&mut self) -> Result<Event, FeedError> {
        match &mut self.0 {
            Kind::Capture(capture) => Ok(match capture.next_packet()? {
                Some(PacketRef { timestamp, data, .. }) => {
                    Event::Frame { bytes: data.to_vec(), captured: Some(timestamp) }
                }
                None => Event::End,
            }),
            Kind::Serial(bytes) => bytes.next(),
        }
    }
}

/// The bytes of a serial line, in a file.
struct SerialBytes {
    name: String,
    file: File,
    line: Line,
    is_over: bool,
}

impl SerialBytes {
    fn new(name: String, file: File) -> Self {
        SerialBytes { name, file, line: Line::default(), is_over: false }
    }

    fn next(&mut self) -> Result<Event, FeedError> {
        let mut buffer = [0; CHUNK];
        loop {
            match self.line.next() {
                Some((event, _)) => return Ok(event),
                None if self.is_over && self.line.messages == 0 => {
                    return Err(FeedError::NoRecording { file: self.name.clone() });
                }
                None if self.is_over => return Ok(Event::End),
                None => {}
            }
            match self.file.read(&mut buffer) {
                Ok(0) => self.is_over = true,
                Ok(count) => self.line.take(&buffer[..count]),
                Err(reason) if reason.kind() == io::ErrorKind::Interrupted => {}
                Err(reason) => return Err(CaptureError::Open { file: self.name.clone(), reason }.into()),
            }
        }
    }
}
