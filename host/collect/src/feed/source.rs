//! Opens a feed by name: serial port, interface or file.

use super::error::FeedError;
use super::event::{Event, Feed};
use super::interface::Interface;
use super::packet_socket::Link;
use super::recorder::Recorder;
use super::recording::Recording;
use super::serial::{self, Serial};
use deltaline_capture::{CaptureError, pcapng_beginning};
use deltaline_model::board::framing::FLAG;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::Duration;

/// A feed that was opened by its name.
pub enum Source {
    /// A terminal device, such as `/dev/ttyUSB1`.
    Serial(Box<Serial>),
    /// A network interface, such as `eth0`.
    Interface(Interface),
    /// Any other file.
    Recording(Recording),
}

impl Source {
    /// Opens a serial port, a network interface or a recording, whatever is of this name.
    ///
    /// # Errors
    ///
    /// [`FeedError`], except [`FeedError::NoCommands`] and [`FeedError::NoRecording`].
    pub fn open(name: &str) -> Result<Self, FeedError> {
        let path = Path::new(name);
        match path.metadata() {
            Ok(about) if about.file_type().is_char_device() => {
                Ok(Source::Serial(Box::new(Serial::open(name)?)))
            }
            Ok(_) => Ok(Source::Recording(Recording::open(path)?)),
            Err(_) if Link::find(name).is_some() => Ok(Source::Interface(Interface::open(name)?)),
            Err(reason) if reason.kind() != io::ErrorKind::NotFound => {
                Err(CaptureError::Open { file: name.into(), reason }.into())
            }
            Err(_) => {
                let (ports, interfaces) = (serial::names(), Link::names());
                Err(FeedError::Missing { name: name.into(), ports, interfaces })
            }
        }
    }

    /// Opens a serial port, to which commands can be sent.
    ///
    /// # Errors
    ///
    /// As [`Source::open`]; [`FeedError::NoCommands`] when it is something else.
    pub fn open_serial(name: &str) -> Result<Serial, FeedError> {
        match Source::open(name)? {
            Source::Serial(serial) => Ok(*serial),
            Source::Interface(_) | Source::Recording(_) => Err(FeedError::NoCommands { name: name.into() }),
        }
    }

    /// Whether it goes on as long as it is there; a recording has an end.
    pub fn is_live(&self) -> bool {
        !matches!(self, Source::Recording(_))
    }

    /// The serial line, if that is what it is.
    pub fn serial(&mut self) -> Option<&mut Serial> {
        match self {
            Source::Serial(serial) => Some(serial),
            Source::Interface(_) | Source::Recording(_) => None,
        }
    }

    /// Keeps what a live feed says, from here on, in a file that [`Recording`] reads: the bytes of a serial line, or a
    /// pcapng capture. With a period a new file begins every so often, at the end of an interval, each called after its moment.
    ///
    /// # Errors
    ///
    /// Of a recording, [`io::ErrorKind::Unsupported`]; [`io::ErrorKind::AlreadyExists`], for no file is overwritten; what
    /// the operating system says.
    pub fn record(&mut self, path: &Path, period: Option<Duration>) -> io::Result<()> {
        let create = |beginning| Recorder::create(path, period, beginning).map(Some);
        match self {
            Source::Serial(serial) => serial.recorder = create(vec![FLAG])?,
            Source::Interface(interface) => {
                let comment = "control frames as they came";
                interface.recorder = create(pcapng_beginning(interface.name(), comment))?;
            }
            Source::Recording(_) => return Err(io::ErrorKind::Unsupported.into()),
        }
        Ok(())
    }

    /// Waits until all that has been handed out is on the disk, where it is recorded.
    pub(crate) fn sync(&mut self) {
        if let Some(recorder) = self.recorder() {
            recorder.sync();
        }
    }

    /// Why it is not recorded any more, once.
    pub(crate) fn not_recorded(&mut self) -> Option<io::Error> {
        self.recorder()?.take_failure()
    }

    fn recorder(&mut self) -> Option<&mut Recorder> {
        match self {
            Source::Serial(serial) => serial.recorder.as_mut(),
            Source::Interface(interface) => interface.recorder.as_mut(),
            Source::Recording(_) => None,
        }
    }

    /// What has come of an interface already, or comes within this time; other sources are read one event at a time.
    pub(crate) fn waiting(&mut self, wait: Duration) -> Option<Event> {
        match self {
            Source::Interface(interface) => {
                Some(interface.next_within(wait)).filter(|event| *event != Event::Idle)
            }
            Source::Serial(_) | Source::Recording(_) => None,
        }
    }

    /// How many control frames came that the kernel had no room for; none where it does not say.
    pub fn dropped(&self) -> Option<u64> {
        match self {
            Source::Interface(interface) => Some(interface.dropped()),
            Source::Serial(_) | Source::Recording(_) => None,
        }
    }
}

impl Feed for Source {
    fn next_event(&mut self) -> Result<Event, FeedError> {
        match self {
            Source::Serial(serial) => serial.next_event(),
            Source::Interface(interface) => interface.next_event(),
            Source::Recording(recording) => recording.next_event(),
        }
    }
}
