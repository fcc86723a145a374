//! Writing: packets into captures, pcap or pcapng, with nanosecond timestamps and link type Ethernet.
//!
//! Both writers work on a temporary file beside the target and rename it in [`PcapWriter::finish`] or
//! [`PcapngWriter::finish`]. A writer that is dropped before leaves nothing behind, and an older file of the same
//! name is replaced only by a whole new one.
//!
//! pcapng holds timestamps until the year 2554 and says what it is in a comment; pcap ends in 2106, and is
//! understood by more tools. Files are little-endian.
//!
//! # Test plan
//!
//! Small files against bytes written by hand. Round trips through [`crate::reading`] (whose parser is not ours).
//! Dropped and failing writers leave the folder as it was.

use crate::error::WriteError;
use crate::packet::{MAX_CAPTURED, PacketRef};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

const ETHERNET: u16 = 1;

/// Writes a pcap file with nanosecond timestamps.
pub struct PcapWriter {
    draft: Draft,
}

impl PcapWriter {
    /// Starts a capture that will be at `path` once it is finished.
    ///
    /// # Errors
    ///
    /// [`WriteError::Io`], [`WriteError::Special`].
    pub fn create(path: impl AsRef<Path>) -> Result<Self, WriteError> {
        let mut draft = Draft::create(path.as_ref())?;
        let mut header = Vec::with_capacity(24);
        header.extend(0xa1b2_3c4d_u32.to_le_bytes());
        header.extend(2u16.to_le_bytes());
        header.extend(4u16.to_le_bytes());
        // Time zone and accuracy, which nobody uses.
        header.extend([0; 8]);
        header.extend(MAX_CAPTURED.to_le_bytes());
        header.extend(u32::from(ETHERNET).to_le_bytes());
        draft.write(&header)?;
        Ok(PcapWriter { draft })
    }

    /// Appends a packet; its interface is not recorded.
    ///
    /// # Errors
    ///
    /// [`WriteError::Timestamp`] after 2106-02-07 06:28:15 UTC, [`WriteError::Length`] over 262,144 captured bytes,
    /// [`WriteError::Io`].
    pub fn write(&mut self, packet: PacketRef<'_>) -> Result<(), WriteError> {
        let captured = self.draft.next_packet(&packet)?;
        let Ok(seconds) = u32::try_from(packet.timestamp / 1_000_000_000) else {
            return Err(WriteError::Timestamp {
                file: self.draft.name(),
                packet: self.draft.packets,
                timestamp: packet.timestamp,
            });
        };
        let nanoseconds = (packet.timestamp % 1_000_000_000) as u32;
        for field in [seconds, nanoseconds, captured, packet.length.max(captured)] {
            self.draft.write(&field.to_le_bytes())?;
        }
        self.draft.write(packet.data)
    }

    /// Writes out what is pending and gives the file its name.
    ///
    /// # Errors
    ///
    /// [`WriteError::Io`].
    pub fn finish(self) -> Result<(), WriteError> {
        self.draft.finish()
    }
}

/// Writes a pcapng file: one section, one interface, nanosecond timestamps.
pub struct PcapngWriter {
    draft: Draft,
}

impl PcapngWriter {
    /// Starts a capture that will be at `path` once it is finished. `interface` is the name of the interface,
    /// `comment` says what the capture is; neither is written when it is empty.
    ///
    /// # Errors
    ///
    /// [`WriteError::Text`] when a text is longer than 65,535 bytes, [`WriteError::Io`],
    /// [`WriteError::Special`].
    pub fn create(path: impl AsRef<Path>, interface: &str, comment: &str) -> Result<Self, WriteError> {
        let mut draft = Draft::create(path.as_ref())?;
        for text in [interface, comment] {
            if text.len() > usize::from(u16::MAX) {
                return Err(WriteError::Text { file: draft.name(), length: text.len() });
            }
        }
        draft.write(&pcapng_beginning(interface, comment))?;
        Ok(PcapngWriter { draft })
    }

    /// Appends a packet; whatever interface it is of, it is recorded as of this file's only one.
    ///
    /// # Errors
    ///
    /// [`WriteError::Length`] over 262,144 captured bytes, [`WriteError::Io`].
    pub fn write(&mut self, packet: PacketRef<'_>) -> Result<(), WriteError> {
        self.draft.next_packet(&packet)?;
        self.draft.write(&pcapng_packet(packet))
    }

    /// Writes out what is pending and gives the file its name.
    ///
    /// # Errors
    ///
    /// [`WriteError::Io`].
    pub fn finish(self) -> Result<(), WriteError> {
        self.draft.finish()
    }
}

/// What a pcapng file begins with: a section and its only interface, of Ethernet, times in nanoseconds. `interface` is the
/// interface's name, `comment` says what the capture is; both are cut at 65,535 bytes, and neither is written when it is
/// empty.
pub fn pcapng_beginning(interface: &str, comment: &str) -> Vec<u8> {
    let mut section = Vec::new();
    section.extend(0x1a2b_3c4d_u32.to_le_bytes());
    section.extend(1u16.to_le_bytes());
    section.extend(0u16.to_le_bytes());
    // The section's length is not given.
    section.extend((-1i64).to_le_bytes());
    let program = concat!("deltaline ", env!("CARGO_PKG_VERSION"));
    option(&mut section, 1, comment.as_bytes());
    option(&mut section, 4, program.as_bytes());
    section.extend([0; 4]);

    let mut description = Vec::new();
    description.extend(ETHERNET.to_le_bytes());
    description.extend([0; 2]);
    description.extend(MAX_CAPTURED.to_le_bytes());
    option(&mut description, 2, interface.as_bytes());
    // if_tsresol: units of 10^-9 s.
    option(&mut description, 9, &[9]);
    description.extend([0; 4]);
    [block(0x0a0d_0d0a, &section), block(1, &description)].concat()
}

/// A packet of at most 262,144 captured bytes as it follows in the file; whatever interface it is of, it is recorded as of
/// the file's only one.
pub fn pcapng_packet(packet: PacketRef<'_>) -> Vec<u8> {
    let captured = packet.data.len() as u32;
    let [high, low] = [(packet.timestamp >> 32) as u32, packet.timestamp as u32];
    let mut body = Vec::with_capacity(20 + packet.data.len() + 3);
    for field in [0, high, low, captured, packet.length.max(captured)] {
        body.extend(field.to_le_bytes());
    }
    body.extend(packet.data);
    pad(&mut body);
    block(6, &body)
}

/// A pcapng block; the body's length is a multiple of four and far below 2^32.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32 + 12).to_le_bytes();
    [&kind.to_le_bytes()[..], &length, body, &length].concat()
}

/// Writes a file whole, or leaves what was there, as the writers of captures do.
///
/// # Errors
///
/// [`WriteError::Io`], [`WriteError::Special`].
pub fn write_file(path: impl AsRef<Path>, contents: &[u8]) -> Result<(), WriteError> {
    let mut draft = Draft::create(path.as_ref())?;
    draft.write(contents)?;
    draft.finish()
}

/// A file that has its contents but not yet its name.
struct Draft {
    writer: BufWriter<NamedTempFile>,
    target: PathBuf,
    packets: u64,
}

impl Draft {
    fn create(named: &Path) -> Result<Self, WriteError> {
        // What a symbolic link points to is replaced, not the link.
        let target = fs::canonicalize(named).unwrap_or_else(|_| named.to_path_buf());
        if fs::metadata(&target).is_ok_and(|existing| !existing.is_file()) {
            return Err(WriteError::Special { file: named.display().to_string() });
        }
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".").suffix(".part");
        // As any new file, not only for its owner as temporary files are; the process's mask still applies.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        match builder.tempfile_in(folder.unwrap_or(Path::new("."))) {
            Ok(file) => Ok(Draft { writer: BufWriter::new(file), target, packets: 0 }),
            // The reason alone: the temporary file's name says nothing to anybody.
            Err(reason) => {
                let reason = reason.kind().into();
                Err(WriteError::Io { file: named.display().to_string(), reason })
            }
        }
    }

    fn name(&self) -> String {
        self.target.display().to_string()
    }

    /// Counts a packet and returns its captured length.
    fn next_packet(&mut self, packet: &PacketRef<'_>) -> Result<u32, WriteError> {
        self.packets += 1;
        match u32::try_from(packet.data.len()) {
            Ok(captured) if captured <= MAX_CAPTURED => Ok(captured),
            _ => Err(WriteError::Length {
                file: self.name(),
                packet: self.packets,
                length: packet.data.len(),
                most: MAX_CAPTURED,
            }),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.writer.write_all(bytes).map_err(|reason| WriteError::Io { file: self.name(), reason })
    }

    fn finish(self) -> Result<(), WriteError> {
        let name = self.name();
        let persist = || -> io::Result<()> {
            let file = self.writer.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.as_file().sync_all()?;
            file.persist(&self.target)?;
            Ok(())
        };
        persist().map_err(|reason| WriteError::Io { file: name, reason })
    }
}

/// Appends a pcapng option, unless it is empty.
fn option(block: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    if !value.is_empty() {
        block.extend(code.to_le_bytes());
        block.extend((value.len() as u16).to_le_bytes());
        block.extend(value);
        pad(block);
    }
}

/// Appends zeros up to a multiple of four bytes.
fn pad(block: &mut Vec<u8>) {
    block.resize(block.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests;
