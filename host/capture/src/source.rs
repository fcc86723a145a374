//! What boards and measurement points say, live or from a recording.
//!
//! [`Source::open`] tells by itself what it is given:
//!
//! | name | source | what comes |
//! |------|--------|------------|
//! | a terminal device, such as `/dev/ttyUSB1` | a board's serial line, [`deltaline_model::board`] | control frames, truth, identities; commands go back |
//! | a network interface, such as `eth0` | its Ethernet frames, as by a packet socket | frames |
//! | any other file | a capture, or the bytes of a serial line | as of an interface or a line |
//!
//! [`Source::next_event`] hands out one [`Event`] after the other and never waits longer than [`POLL`], so that the caller
//! can look after other things. A live source that vanishes is [`Event::Lost`], is opened again whenever that is
//! possible, and then [`Event::Restored`]; what was under way at that moment is lost.
//!
//! # Test plan
//!
//! A pseudo-terminal: messages cut anywhere into pieces, garbage between them, the other end closing and coming back
//! under the same name. The same bytes from a file. Captures as from [`Capture`]. Frames over the loopback interface,
//! sent by [`Sender`], where the test may open it. Names of nothing, of a busy port, of a device that is no terminal: told apart.

mod interface;
mod serial;

use crate::error::CaptureError;
use crate::reading::{Capture, PacketRef};
use deltaline_model::board::framing::{self, Deframer, FramingError};
use deltaline_model::board::{Command, Identity, MessageError, Record, Truth};
use interface::Interface;
pub use interface::Sender;
use serial::Serial;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

/// The longest that [`Source::next_event`] waits.
pub const POLL: Duration = Duration::from_millis(100);
/// What is read at once, in bytes.
const CHUNK: usize = 4096;

/// Something that a source has to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An Ethernet frame, from its destination MAC address on: a control frame or a foreign one.
    Frame {
        /// The frame.
        bytes: Vec<u8>,
        /// When it was recorded, in nanoseconds since the Unix epoch; only of a capture.
        recorded: Option<u64>,
    },
    /// What happened in an interval, of a board that knows.
    Truth(Truth),
    /// Which board speaks.
    Identity(Identity),
    /// Bytes that are no message.
    Bad(Bad),
    /// Nothing came within [`POLL`].
    Idle,
    /// The recording could not be written further; reading goes on.
    NotRecorded(String),
    /// The source has vanished; it is looked for.
    Lost(String),
    /// The source is back.
    Restored,
    /// The recording is over.
    End,
}

/// What is wrong with bytes of a serial line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Bad {
    /// They are no message.
    #[error(transparent)]
    Framing(#[from] FramingError),
    /// They are a message that nobody knows.
    #[error(transparent)]
    Message(#[from] MessageError),
}

/// What a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A serial line.
    Serial,
    /// A network interface.
    Interface,
    /// A recording.
    Recording,
}

/// Why a source cannot be opened, or not be read further.
#[derive(Debug, Error)]
pub enum SourceError {
    /// There is nothing of this name.
    #[error(
        "{name}: there is no such serial port, network interface or file; {}; {}; \
         check the cable and the name",
        listed("serial ports", ports),
        listed("interfaces", interfaces)
    )]
    Missing {
        /// The name.
        name: String,
        /// The serial ports that there are.
        ports: Vec<String>,
        /// The network interfaces that there are.
        interfaces: Vec<String>,
    },
    /// Another program has the port.
    #[error("{name}: the port is in use by another program; end that program (`fuser {name}` names it)")]
    Busy {
        /// The name.
        name: String,
    },
    /// The user may not open the port.
    #[error(
        "{name}: no permission to open the port; join its group with `sudo usermod -aG dialout $USER`, \
         then log out and in again"
    )]
    PortDenied {
        /// The name.
        name: String,
    },
    /// The user may not open the interface.
    #[error(
        "{name}: no permission to use the network interface; run as root, or once \
         `sudo setcap cap_net_raw+ep \"$(command -v deltaline)\"`"
    )]
    InterfaceDenied {
        /// The name.
        name: String,
    },
    /// The interface is down.
    #[error("{name}: the network interface is down; set it up with `sudo ip link set {name} up`")]
    InterfaceDown {
        /// The name.
        name: String,
    },
    /// The device cannot be used as a serial port.
    #[error("{name}: cannot be used as a serial port: {reason}; name the board's port, such as /dev/ttyUSB1")]
    NoPort {
        /// The name.
        name: String,
        /// What the operating system says.
        reason: String,
    },
    /// The interface cannot be used.
    #[error("{name}: cannot be used: {reason}; name an Ethernet interface")]
    NoInterface {
        /// The name.
        name: String,
        /// What the operating system says.
        reason: String,
    },
    /// The source takes no commands.
    #[error("{name}: is no serial port, and takes no commands; name the board's port, such as /dev/ttyUSB1")]
    NoCommands {
        /// The name.
        name: String,
    },
    /// The capture cannot be read.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The file is neither a capture nor a recording of a serial line.
    #[error(
        "{file}: is neither a pcap or pcapng capture nor a recording of a board's serial line: \
         not one whole message is in it; record with `deltaline read --record`"
    )]
    NoRecording {
        /// The file as it was named by the caller.
        file: String,
    },
}

/// The names that there are, or that there are none.
fn listed(what: &str, names: &[String]) -> String {
    match names {
        [] => format!("there are no {what}"),
        _ => format!("the {what} are {}", names.join(", ")),
    }
}

/// Where control frames come from.
pub struct Source {
    name: String,
    input: Input,
}

enum Input {
    Serial(Box<Serial>),
    Interface(Interface),
    Capture(Box<Capture>),
    Recording(Box<Recording>),
}

impl Source {
    /// Opens a serial port, a network interface or a recording, whatever is of this name.
    ///
    /// # Errors
    ///
    /// [`SourceError`], except [`SourceError::NoCommands`] and [`SourceError::NoRecording`].
    pub fn open(name: &str) -> Result<Self, SourceError> {
        let path = Path::new(name);
        let input = match path.metadata() {
            Ok(about) if about.file_type().is_char_device() => Input::Serial(Box::new(Serial::open(name)?)),
            Ok(_) => recording(path)?,
            Err(_) if interface::exists(name) => Input::Interface(Interface::open(name)?),
            Err(reason) if reason.kind() != io::ErrorKind::NotFound => {
                return Err(CaptureError::Open { file: name.into(), reason }.into());
            }
            Err(_) => {
                let (ports, interfaces) = (serial::names(), interface::names());
                return Err(SourceError::Missing { name: name.into(), ports, interfaces });
            }
        };
        Ok(Source { name: name.into(), input })
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        match &self.input {
            Input::Serial(_) => Kind::Serial,
            Input::Interface(_) => Kind::Interface,
            Input::Capture(_) | Input::Recording(_) => Kind::Recording,
        }
    }

    /// Keeps all bytes of a serial line, from here on, in a file, which [`Source::open`] reads.
    ///
    /// Of other sources there is nothing to keep: they are recorded by common tools, or are recordings.
    pub fn record(&mut self, file: File) {
        if let Input::Serial(serial) = &mut self.input {
            serial.record(file);
        }
    }

    /// Bytes that have come over a serial line.
    pub fn bytes(&self) -> u64 {
        match &self.input {
            Input::Serial(serial) => serial.bytes(),
            _ => 0,
        }
    }

    /// What the source has to tell next.
    ///
    /// # Errors
    ///
    /// Of a recording alone; live sources are [`Event::Lost`].
    pub fn next_event(&mut self) -> Result<Event, SourceError> {
        match &mut self.input {
            Input::Serial(serial) => Ok(serial.next()),
            Input::Interface(interface) => Ok(interface.next()),
            Input::Capture(capture) => Ok(match capture.next_packet()? {
                Some(PacketRef { timestamp, data, .. }) => {
                    Event::Frame { bytes: data.to_vec(), recorded: Some(timestamp) }
                }
                None => Event::End,
            }),
            Input::Recording(recording) => recording.next(),
        }
    }

    /// Sends a command to the board. A board that is just away does not get it.
    ///
    /// # Errors
    ///
    /// [`SourceError::NoCommands`] unless the source is a serial port.
    pub fn send(&mut self, command: &Command) -> Result<(), SourceError> {
        let Input::Serial(serial) = &mut self.input else {
            return Err(SourceError::NoCommands { name: self.name.clone() });
        };
        let mut bytes = vec![];
        framing::encode(command.encode().as_bytes(), |byte| bytes.push(byte));
        serial.send(&bytes);
        Ok(())
    }
}

fn recording(path: &Path) -> Result<Input, SourceError> {
    match Capture::open(path) {
        Ok(capture) => Ok(Input::Capture(Box::new(capture))),
        Err(CaptureError::NotACapture { file, .. }) => {
            let reader = File::open(path).map_err(|reason| CaptureError::Open { file, reason })?;
            Ok(Input::Recording(Box::new(Recording::new(path.to_path_buf(), reader))))
        }
        Err(error) => Err(error.into()),
    }
}

/// The bytes of a serial line, in a file.
struct Recording {
    path: PathBuf,
    file: File,
    line: Line,
    is_over: bool,
}

impl Recording {
    fn new(path: PathBuf, file: File) -> Self {
        Recording { path, file, line: Line::default(), is_over: false }
    }

    fn next(&mut self) -> Result<Event, SourceError> {
        let file = || self.path.display().to_string();
        let mut buffer = [0; CHUNK];
        loop {
            match self.line.next() {
                Some(event) => return Ok(event),
                None if self.is_over && self.line.messages == 0 => {
                    return Err(SourceError::NoRecording { file: file() });
                }
                None if self.is_over => return Ok(Event::End),
                None => {}
            }
            match self.file.read(&mut buffer) {
                Ok(0) => self.is_over = true,
                Ok(count) => self.line.take(&buffer[..count]),
                Err(reason) if reason.kind() == io::ErrorKind::Interrupted => {}
                Err(reason) => return Err(CaptureError::Open { file: file(), reason }.into()),
            }
        }
    }
}

/// Finds the events in the bytes of a serial line.
#[derive(Default)]
struct Line {
    deframer: Deframer,
    events: VecDeque<Event>,
    /// Whole messages so far.
    messages: u64,
}

impl Line {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let event = match self.deframer.push(*byte) {
                None => continue,
                Some(Err(error)) => Event::Bad(error.into()),
                Some(Ok(payload)) => match Record::decode(payload) {
                    Err(error) => Event::Bad(error.into()),
                    Ok(record) => {
                        self.messages += 1;
                        match record {
                            Record::Control(frame) => Event::Frame { bytes: frame.to_vec(), recorded: None },
                            Record::Truth(truth) => Event::Truth(truth),
                            Record::Identity(identity) => Event::Identity(identity),
                        }
                    }
                },
            };
            self.events.push_back(event);
        }
    }

    fn next(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// What was under way will not be finished.
    fn cut(&mut self) {
        self.deframer = Deframer::new();
    }
}

#[cfg(test)]
mod tests;
