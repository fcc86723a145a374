//! A board's serial line.

use super::{CHUNK, Event, Line, POLL, SourceError};
use deltaline_model::board::BAUD;
use serialport::{ErrorKind, TTYPort};
use std::fs::File;
use std::io::{self, Read, Write};
use std::thread::sleep;

pub(super) struct Serial {
    name: String,
    /// None while it is away.
    port: Option<TTYPort>,
    line: Line,
    recording: Option<File>,
    bytes: u64,
}

impl Serial {
    pub(super) fn open(name: &str) -> Result<Self, SourceError> {
        let port = open(name)?;
        Ok(Serial { name: name.into(), port: Some(port), line: Line::default(), recording: None, bytes: 0 })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn record(&mut self, file: File) {
        self.recording = Some(file);
    }

    pub(super) fn next(&mut self) -> Event {
        if let Some(event) = self.line.next() {
            return event;
        }
        let Some(port) = &mut self.port else {
            let Ok(port) = open(&self.name) else {
                sleep(POLL);
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
                if let Some(recording) = &mut self.recording
                    && let Err(reason) = recording.write_all(bytes)
                {
                    self.recording = None;
                    self.line.events.push_back(Event::NotRecorded(reason.to_string()));
                }
                self.line.take(bytes);
                self.line.next().unwrap_or(Event::Idle)
            }
            Err(reason) => match reason.kind() {
                io::ErrorKind::TimedOut | io::ErrorKind::Interrupted => Event::Idle,
                _ => self.lose(reason.to_string()),
            },
        }
    }

    fn lose(&mut self, reason: String) -> Event {
        self.port = None;
        self.line.cut();
        Event::Lost(reason)
    }

    /// If it fails, the next read tells.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        if let Some(port) = &mut self.port {
            let _ = port.write_all(bytes);
        }
    }
}

fn open(name: &str) -> Result<TTYPort, SourceError> {
    serialport::new(name, BAUD).timeout(POLL).open_native().map_err(|error| {
        let name = name.to_string();
        match error.kind() {
            ErrorKind::NoDevice => SourceError::Busy { name },
            ErrorKind::Io(io::ErrorKind::PermissionDenied) => SourceError::PortDenied { name },
            ErrorKind::Io(io::ErrorKind::NotFound) => {
                SourceError::Missing { name, ports: names(), interfaces: vec![] }
            }
            _ => SourceError::NoPort { name, reason: error.description },
        }
    })
}

/// The serial ports that there are.
pub(super) fn names() -> Vec<String> {
    let ports = serialport::available_ports().unwrap_or_default();
    let mut names: Vec<String> = ports.into_iter().map(|port| port.port_name).collect();
    names.sort();
    names
}
