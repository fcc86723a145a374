//! What can go wrong with a capture, said so that the reader knows the file, the place and the remedy.

use crate::link;
use std::fmt;
use std::io;
use thiserror::Error;

/// Where in a capture something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as it was named by the caller.
    pub file: String,
    /// The packet that was being read, counted from 1.
    pub packet: u64,
    /// Where the record being read begins, in bytes of the uncompressed capture.
    pub offset: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: packet {} (byte {} of the uncompressed capture)", self.file, self.packet, self.offset)
    }
}

/// Why a capture cannot be read, or not further.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file cannot be opened, or not even its first bytes can be read.
    #[error("{file}: cannot be opened: {reason}; check the name and the permission to read it")]
    Open {
        /// The file as it was named by the caller.
        file: String,
        /// What the operating system or the decompressor says.
        reason: io::Error,
    },
    /// There is not a single byte in the file, or in what it decompresses to.
    #[error("{file}: is empty; check that the recording was started and has been written out")]
    Empty {
        /// The file as it was named by the caller.
        file: String,
    },
    /// The file begins like neither pcap nor pcapng.
    #[error(
        "{file}: is not a pcap or pcapng capture, it begins with {found}; \
         decompress it, or convert it with `editcap -F nsecpcap <file> <new file>`"
    )]
    NotACapture {
        /// The file as it was named by the caller.
        file: String,
        /// Its first bytes in hexadecimal.
        found: String,
    },
    /// The packets do not fit into memory.
    #[error(
        "{file}: its packets need more memory than there is; take a part of it, such as `editcap -r <file> <new file> 1-1000000`"
    )]
    Memory {
        /// The file as it was named by the caller.
        file: String,
    },
    /// The operating system or the decompressor fails amid the file.
    #[error(
        "{place}: cannot be read: {reason}; check the disk, and a compressed file with `gzip -t` or `zstd -t`"
    )]
    Read {
        /// Where.
        place: Place,
        /// What the operating system or the decompressor says.
        reason: io::Error,
    },
    /// The compressed file holds more than packets can be compressed by.
    #[error(
        "{place}: holds thousands of times its own size, or more packets than it has bytes, as no capture does; if it is one all the \
         same, decompress it with `gzip -d` or `zstd -d`"
    )]
    Expands {
        /// Where.
        place: Place,
    },
    /// The file ends within a record. All packets before it have been delivered.
    #[error(
        "{place}: the capture ends in the middle of this record; record or copy it again, \
         or keep its whole packets with `editcap <file> <new file>`"
    )]
    Truncated {
        /// Where.
        place: Place,
    },
    /// A record contradicts the format.
    #[error("{place}: the capture is damaged: {problem}; record or copy it again")]
    Damaged {
        /// Where.
        place: Place,
        /// What is wrong with the record.
        problem: String,
    },
    /// A record is well-formed, of a kind that is not read here.
    #[error("{place}: {problem}; convert it with `editcap -F nsecpcap <file> <new file>`")]
    Unsupported {
        /// Where.
        place: Place,
        /// What the record is.
        problem: String,
    },
    /// What the packets begin with is not known.
    #[error(
        "{place}: the link type is {number} ({name}), which is not read; record Ethernet (1), Linux cooked (113, 276), \
         raw IP (101), PPP (9) or loopback (0, 108)"
    )]
    LinkType {
        /// Where.
        place: Place,
        /// The link type's number in the registry of tcpdump.org.
        number: u16,
        /// Its name, or "not a common one".
        name: &'static str,
    },
    /// A timestamp is impossible, or is not a `u64` of nanoseconds since the Unix epoch (1970 to 2554).
    #[error(
        "{place}: the timestamp is out of range: {problem}; check the clock of the recording machine, \
         and correct the capture with `editcap -t <seconds> <file> <new file>`"
    )]
    Timestamp {
        /// Where.
        place: Place,
        /// What the record says.
        problem: String,
    },
    /// Packets of one direction are wanted, and the recording does not say which one this packet went.
    #[error(
        "{place}: the recording does not say which way the packet went; leave out the direction, and filter by addresses, \
         such as `src host 10.0.0.1`, or record Linux cooked (`tcpdump -i any`)"
    )]
    Undirected {
        /// Where.
        place: Place,
    },
    /// The packet was recorded without a timestamp (pcapng's Simple Packet Block), so it says nothing of delay.
    #[error("{place}: carries no timestamp (Simple Packet Block); recapture with timestamps")]
    Untimed {
        /// Where.
        place: Place,
    },
}

impl CaptureError {
    /// Where it is, if a record of the capture is at fault.
    pub fn place(&self) -> Option<&Place> {
        match self {
            CaptureError::Open { .. }
            | CaptureError::Empty { .. }
            | CaptureError::NotACapture { .. }
            | CaptureError::Memory { .. } => None,
            CaptureError::Read { place, .. }
            | CaptureError::Expands { place }
            | CaptureError::Truncated { place }
            | CaptureError::Damaged { place, .. }
            | CaptureError::Unsupported { place, .. }
            | CaptureError::LinkType { place, .. }
            | CaptureError::Timestamp { place, .. }
            | CaptureError::Undirected { place }
            | CaptureError::Untimed { place } => Some(place),
        }
    }

    /// The file as it was named by the caller.
    pub fn file(&self) -> &str {
        match self {
            CaptureError::Open { file, .. }
            | CaptureError::Empty { file }
            | CaptureError::NotACapture { file, .. }
            | CaptureError::Memory { file } => file,
            _ => self.place().map_or("", |place| &place.file),
        }
    }
}

/// Why a capture cannot be written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The operating system refuses to create, write or rename the file.
    #[error("{file}: cannot be written: {reason}; check the folder, its permissions and the free space")]
    Io {
        /// The file as it was named by the caller.
        file: String,
        /// What the operating system says.
        reason: io::Error,
    },
    /// There is something under the file's name that is not a file: a device, a pipe, a folder.
    #[error(
        "{file}: cannot be written: it is not a regular file, and would be replaced by one; name another file"
    )]
    Special {
        /// The file as it was named by the caller.
        file: String,
    },
    /// The timestamp does not fit the format.
    #[error(
        "{file}: packet {packet}: {timestamp} ns lies behind the year 2106, where pcap ends; write pcapng instead"
    )]
    Timestamp {
        /// The file as it was named by the caller.
        file: String,
        /// The packet, counted from 1.
        packet: u64,
        /// Its timestamp in nanoseconds since the Unix epoch.
        timestamp: u64,
    },
    /// The packet is longer than what readers of captures accept.
    #[error("{file}: packet {packet}: {length} captured bytes, the most is {most}; cut it before writing")]
    Length {
        /// The file as it was named by the caller.
        file: String,
        /// The packet, counted from 1.
        packet: u64,
        /// How many bytes it has.
        length: usize,
        /// How many it may have.
        most: u32,
    },
    /// A text for the file's header is longer than its length field can say.
    #[error("{file}: a text of {length} bytes is too long for the header; shorten it to 65,535 bytes")]
    Text {
        /// The file as it was named by the caller.
        file: String,
        /// How many bytes it has.
        length: usize,
    },
}

/// A [`CaptureError`] that does not know its place yet.
#[derive(Debug)]
pub(crate) enum Fault {
    Read(io::Error),
    Truncated,
    Damaged(String),
    Unsupported(String),
    LinkType(u16),
    Timestamp(String),
    Undirected,
    Untimed,
}

impl Fault {
    pub(crate) fn at(self, place: Place) -> CaptureError {
        match self {
            // Decompressors report the end of a cut file this way.
            Fault::Read(reason) if reason.kind() == io::ErrorKind::UnexpectedEof => {
                CaptureError::Truncated { place }
            }
            Fault::Read(reason) if reason.kind() == io::ErrorKind::FileTooLarge => {
                CaptureError::Expands { place }
            }
            Fault::Read(reason) => CaptureError::Read { place, reason },
            Fault::Truncated => CaptureError::Truncated { place },
            Fault::Damaged(problem) => CaptureError::Damaged { place, problem },
            Fault::Unsupported(problem) => CaptureError::Unsupported { place, problem },
            Fault::LinkType(number) => CaptureError::LinkType { place, number, name: link::name(number) },
            Fault::Timestamp(problem) => CaptureError::Timestamp { place, problem },
            Fault::Undirected => CaptureError::Undirected { place },
            Fault::Untimed => CaptureError::Untimed { place },
        }
    }
}

impl From<io::Error> for Fault {
    fn from(reason: io::Error) -> Self {
        Fault::Read(reason)
    }
}
