//! A board's serial line.

use super::error::FeedError;
use super::event::{Event, Feed, WAIT};
use super::line::{CHUNK, Line};
use super::recorder::Recorder;
use deltaline_model::board::{BAUD, Command, framing};
use serialport::{ErrorKind, TTYPort};
use std::io::{self, Read, Write};
use std::path::Path;
use std::thread::sleep;

/// A board's serial line: control frames, truth and identities come, commands go.
pub struct Serial {
    name: String,
    /// None while it is away.
    port: Option<TTYPort>,
    line: Line,
    pub(super) recorder: Option<Recorder>,
    bytes: u64,
}

impl Serial {
    /// Opens a port by its name, such as `/dev/ttyUSB1`.
    ///
    /// # Errors
    ///
    /// [`FeedError`] when there is no such port, another program has it, or it may not be used.
    pub fn open(name: &str) -> Result<Self, FeedError> {
        let port = open(name)?;
        Ok(Serial { name: name.into(), port: Some(port), line: Line::default(), recorder: None, bytes: 0 })
    }

    /// Bytes that have come so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Sends a command to the board. A board that is just away does not get it.
    pub fn send(&mut self, command: &Command) {
        let mut bytes = vec![];
        framing::encode(command.encode().as_bytes(), |byte| bytes.push(byte));
        if let Some(port) = &mut self.port {
            // If it fails, the next read says so.
            let _ = port.write_all(&bytes);
        }
    }

    fn next(&mut self) -> Event {
        if let Some(event) = self.next_on_line() {
            return event;
        }
        let Some(port) = &mut self.port else {
            let Ok(port) = open(&self.name) else {
                sleep(WAIT);
                return Event::Idle;
            };
            self.port = Some(port);
            return Event::Restored;
        };
        let mut buffer = [0; CHUNK];
        match port.read(&mut buffer) {
            Ok(0) => self.lose("nothing more can be read from it".into()),
            Ok(count) => {
                let bytes = &buffer[..count];
                self.bytes += count as u64;
                self.line.take(bytes);
                self.next_on_line().unwrap_or(Event::Idle)
            }
            Err(reason) => match reason.kind() {
                io::ErrorKind::TimedOut | io::ErrorKind::Interrupted => Event::Idle,
                _ => self.lose(reason.to_string()),
            },
        }
    }

    /// The next event of the line, which is recorded when it is handed out.
    fn next_on_line(&mut self) -> Option<Event> {
        let (event, bytes) = self.line.next()?;
        if let Some(recorder) = &mut self.recorder {
            recorder.write(&bytes);
        }
        Some(event)
    }

    fn lose(&mut self, reason: String) -> Event {
        self.port = None;
        self.line.cut();
        Event::Lost(reason)
    }
}

impl Feed for Serial {
    fn next_event(&mut self) -> Result<Event, FeedError> {
        Ok(self.next())
    }
}

fn open(name: &str) -> Result<TTYPort, FeedError> {
    serialport::new(name, BAUD).timeout(WAIT).open_native().map_err(|error| {
        let name = name.to_string();
        match error.kind() {
            ErrorKind::NoDevice => FeedError::Busy { name },
            ErrorKind::Io(io::ErrorKind::PermissionDenied) => FeedError::PortDenied { name },
            ErrorKind::Io(io::ErrorKind::NotFound) => {
                FeedError::Missing { name, ports: names(), interfaces: vec![] }
            }
            _ => FeedError::NoPort { name, reason: error.description },
        }
    })
}

/// Where the serial ports are listed. The library panics where this is not there, as in some containers.
const LISTED: &str = "/sys/class/tty";

/// The serial ports that there are.
pub(super) fn names() -> Vec<String> {
    if !Path::new(LISTED).is_dir() {
        return vec![];
    }
    let ports = serialport::available_ports().unwrap_or_default();
    let mut names: Vec<String> = ports.into_iter().map(|port| port.port_name).collect();
    names.sort();
    names
}
