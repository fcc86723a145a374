//! Recordings: captures of a management port, and files of a serial line's bytes.

use super::error::FeedError;
use super::event::{Event, Feed};
use super::line::{CHUNK, Line};
use deltaline_capture::{Capture, CaptureError, PacketRef};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A recording, from its beginning to its end.
pub struct Recording(Kind);

enum Kind {
    Capture(Box<Capture>),
    Captures(Box<Captures>),
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

    /// Opens captures that follow each other, as one recording. One that was cut ends with its last whole packet: whoever wrote it was
    /// ended, and nothing that is torn was ever confirmed. One that is damaged, or cannot be read, ends there, and the next one is read.
    pub fn of_captures(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let rest = paths.into_iter().collect();
        Recording(Kind::Captures(Box::new(Captures {
            rest,
            current: None,
            begun: vec![],
            torn: vec![],
            damaged: vec![],
        })))
    }

    /// Of captures that follow each other: those that have been reached and hold any packet.
    pub fn begun(&self) -> &[PathBuf] {
        match &self.0 {
            Kind::Captures(captures) => &captures.begun,
            Kind::Capture(_) | Kind::Serial(_) => &[],
        }
    }

    /// Of captures that follow each other: those that were cut, as far as they have been read.
    pub fn torn(&self) -> &[PathBuf] {
        match &self.0 {
            Kind::Captures(captures) => &captures.torn,
            Kind::Capture(_) | Kind::Serial(_) => &[],
        }
    }

    /// Of captures that follow each other: those that could not be read to their end, and why, as far as they have been reached.
    pub fn damaged(&self) -> &[(PathBuf, CaptureError)] {
        match &self.0 {
            Kind::Captures(captures) => &captures.damaged,
            Kind::Capture(_) | Kind::Serial(_) => &[],
        }
    }
}

/// Captures that follow each other.
struct Captures {
    rest: VecDeque<PathBuf>,
    current: Option<(PathBuf, Capture)>,
    begun: Vec<PathBuf>,
    torn: Vec<PathBuf>,
    damaged: Vec<(PathBuf, CaptureError)>,
}

impl Captures {
    fn next(&mut self) -> Event {
        loop {
            let Some((path, capture)) = &mut self.current else {
                let Some(path) = self.rest.pop_front() else { return Event::End };
                match Capture::open(&path) {
                    Ok(capture) => self.current = Some((path, capture)),
                    Err(CaptureError::Truncated { .. } | CaptureError::Empty { .. }) => self.torn.push(path),
                    Err(error) => self.damaged.push((path, error)),
                }
                continue;
            };
            match capture.next_packet() {
                Ok(Some(PacketRef { timestamp, data, .. })) => {
                    if self.begun.last() != Some(path) {
                        self.begun.push(path.clone());
                    }
                    return Event::Frame { bytes: data.to_vec(), captured: Some(timestamp) };
                }
                Ok(None) => self.current = None,
                Err(CaptureError::Truncated { .. }) => {
                    self.torn.push(path.clone());
                    self.current = None;
                }
                Err(error) => {
                    self.damaged.push((path.clone(), error));
                    self.current = None;
                }
            }
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
            Kind::Captures(captures) => Ok(captures.next()),
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
