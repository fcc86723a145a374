//! Reading: packets from captures.
//!
//! Formats are recognised by content, never by the file's name:
//!
//! | format | variants |
//! |--------|----------|
//! | pcap   | 2.x; microseconds and nanoseconds; both byte orders |
//! | pcapng | 1.x; several sections and interfaces; decimal and binary `if_tsresol`; `if_tsoffset`; both byte orders |
//!
//! each plain, or compressed as gzip (several members) or Zstandard (several frames, windows up to 128 MiB, which
//! is what `zstd --long` writes). Packets of other link types than Ethernet (Linux cooked, raw IP, PPP, loopback) come as if
//! they had been recorded on Ethernet. In pcapng, packets stand in Enhanced Packet Blocks;
//! Simple Packet Blocks carry no timestamps, and so are an error.
//!
//! Packets may be cut short by the recorder's snap length: [`PacketRef::data`] is what was captured,
//! [`PacketRef::length`] what was on the wire. A file that ends within a record delivers all packets before it and
//! then [`CaptureError::Truncated`]; a caller who can do with that much may go on.
//!
//! # Test plan
//!
//! One capture built by hand, byte by byte, for every variant of both formats and every error. Whatever the
//! compression, the packets are the same. Arbitrary bytes, and valid files with bytes changed, removed and
//! doubled: no panic, and no more memory than a fixed amount plus what the file holds.

use crate::error::{CaptureError, Fault, Place};
use crate::input::{Input, Progress};
use crate::link::Link;
use crate::packet::{Packet, PacketRef, Record};
use crate::pcap::{self, Pcap};
use crate::pcapng::{self, Pcapng};
use std::fs::File;
use std::io::Read;
use std::path::Path;

enum Format {
    Pcap(Pcap),
    Pcapng(Pcapng),
}

/// A capture that is being read, packet by packet.
///
/// [`Capture::next_packet`] lends each packet without copying it; as an [`Iterator`], a capture yields copies.
/// After an error it has no more packets.
pub struct Capture {
    file: String,
    input: Input,
    format: Format,
    /// The frame of the current packet, where it is not what was recorded.
    frame: Vec<u8>,
    packets: u64,
    over: bool,
}

impl Capture {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    ///
    /// Any [`CaptureError`] but [`CaptureError::Untimed`]. In pcapng, the link type is known only when the first
    /// packet of an interface comes.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, CaptureError> {
        let name = path.as_ref().display().to_string();
        match File::open(&path) {
            Ok(file) => {
                let total = file.metadata().ok().filter(|about| about.is_file()).map(|about| about.len());
                Self::new(name, file, total)
            }
            Err(reason) => Err(CaptureError::Open { file: name, reason }),
        }
    }

    /// Reads a capture from any source, for instance a pipe: `file` is how errors call it, `total` its length in
    /// bytes where that is known.
    ///
    /// # Errors
    ///
    /// As [`Capture::open`].
    pub fn new(
        file: impl Into<String>,
        source: impl Read + Send + 'static,
        total: Option<u64>,
    ) -> Result<Self, CaptureError> {
        let file = file.into();
        let mut input = match Input::new(source, total) {
            Ok(input) => input,
            Err(reason) => return Err(CaptureError::Open { file, reason }),
        };
        match Format::recognise(&mut input) {
            Ok(Some(format)) => Ok(Capture { file, input, format, frame: vec![], packets: 0, over: false }),
            Ok(None) if input.available().is_empty() => Err(CaptureError::Empty { file }),
            Ok(None) => {
                let first = input.available().iter().take(8).map(|byte| format!("{byte:02x}"));
                let found = first.collect::<Vec<_>>().join(" ");
                Err(CaptureError::NotACapture { file, found })
            }
            Err(fault) => Err(fault.at(Place { file, packet: 1, offset: input.offset() })),
        }
    }

    /// The next packet, or `None` at the end of the capture.
    ///
    /// # Errors
    ///
    /// Any [`CaptureError`] that has a place. The capture is over then.
    pub fn next_packet(&mut self) -> Result<Option<PacketRef<'_>>, CaptureError> {
        if self.over {
            return Ok(None);
        }
        let found = match &mut self.format {
            Format::Pcap(pcap) => pcap.next(&mut self.input),
            Format::Pcapng(pcapng) => pcapng.next(&mut self.input),
        };
        match found {
            Ok(Some(Record { timestamp, length, interface, data, link })) => {
                self.packets += 1;
                let record = self.input.consumed(data);
                if link == Link::Ethernet {
                    return Ok(Some(PacketRef { timestamp, length, interface, data: record }));
                }
                let longer = link.to_ethernet(record, &mut self.frame);
                let length = length.saturating_add_signed(longer);
                Ok(Some(PacketRef { timestamp, length, interface, data: &self.frame }))
            }
            Ok(None) => {
                self.over = true;
                Ok(None)
            }
            Err(fault) => {
                self.over = true;
                let (file, offset) = (self.file.clone(), self.input.offset());
                Err(fault.at(Place { file, packet: self.packets + 1, offset }))
            }
        }
    }

    /// How far the file has been read.
    pub fn progress(&self) -> Progress {
        self.input.progress()
    }
}

impl Iterator for Capture {
    type Item = Result<Packet, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_packet().map(|packet| packet.map(PacketRef::to_packet)).transpose()
    }
}

impl Format {
    /// By the first four bytes; `None` if they are no capture's.
    fn recognise(input: &mut Input) -> Result<Option<Self>, Fault> {
        input.fill(8)?;
        let Some(magic) = input.available().first_chunk::<4>() else { return Ok(None) };
        Ok(if pcap::MAGICS.contains(magic) {
            Some(Format::Pcap(Pcap::new(input)?))
        } else if *magic == pcapng::MAGIC {
            Some(Format::Pcapng(Pcapng::new()))
        } else {
            None
        })
    }
}

#[cfg(test)]
mod tests;
