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
//! [`PacketRef::length`] what was on the wire. A [`Selection`] says which packets come: by a filter, or by the way that they
//! went, as pcapng (`epb_flags`) and Linux cooked records say it. A file that ends within a record delivers all packets before it and
//! then [`CaptureError::Truncated`]; a caller who can do with that much may go on.
//!
//! # Test plan
//!
//! One capture built by hand, byte by byte, for every variant of both formats and every error. Whatever the
//! compression, the packets are the same. Arbitrary bytes, and valid files with bytes changed, removed and
//! doubled: no panic, and no more memory than a fixed amount plus what the file holds.

use crate::error::{CaptureError, Fault, Place};
use crate::filter::Filter;
use crate::input::{Input, Progress};
use crate::link::Link;
use crate::packet::{Direction, Packet, PacketRef, Record};
use crate::pcap::{self, Pcap};
use crate::pcapng::{self, Pcapng};
use crate::segments::{Segmentation, Segments};
use crate::translation;
use crate::tunnel::Inner;
use std::fs::File;
use std::io::Read;
use std::mem;
use std::path::Path;
use std::sync::Arc;

enum Format {
    Pcap(Pcap),
    Pcapng(Pcapng),
}

/// Which packets of a capture are wanted: by default, all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Those that the filter wants.
    pub filter: Option<Filter>,
    /// Those that went this way.
    pub direction: Option<Direction>,
    /// Whether the innermost packet comes in place of one that carries it: in GTP-U, VXLAN, GRE, IP and PPPoE, up to four in
    /// each other. The filter sees the outer one.
    pub inner: bool,
    /// How TCP packets are cut that are longer than their path carries.
    pub segmentation: Option<Arc<Segmentation>>,
    /// Whether addresses, ports, ICMP identifiers and their checksums come as zero, because a translation changes them between
    /// the points.
    pub translated: bool,
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
    /// Where the next such frame is put together.
    spare: Vec<u8>,
    /// A packet of which segments are still to come, in `whole`.
    segments: Option<(Record, Segments)>,
    whole: Vec<u8>,
    selection: Selection,
    /// Records read, and those of them that were not wanted.
    packets: u64,
    passed_over: u64,
    /// When the first record and the last one so far were recorded, wanted or not.
    ran: Option<[u64; 2]>,
    /// The longest time between two records, from which to which.
    silence: Option<[u64; 2]>,
    /// Packets that were split, and what came of them.
    split: [u64; 2],
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
            Ok(Some(format)) => Ok(Capture {
                file,
                input,
                format,
                frame: vec![],
                spare: vec![],
                segments: None,
                whole: vec![],
                selection: Selection::default(),
                packets: 0,
                passed_over: 0,
                ran: None,
                silence: None,
                split: [0; 2],
                over: false,
            }),
            Ok(None) if input.available().is_empty() => Err(CaptureError::Empty { file }),
            Ok(None) => {
                let first = input.available().iter().take(8).map(|byte| format!("{byte:02x}"));
                let found = first.collect::<Vec<_>>().join(" ");
                Err(CaptureError::NotACapture { file, found })
            }
            Err(fault) => Err(fault.at(Place { file, packet: 1, offset: input.offset() })),
        }
    }

    /// The same capture, of which only these packets come.
    pub fn select(self, selection: Selection) -> Self {
        Capture { selection, ..self }
    }

    /// What errors call it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The next packet, or `None` at the end of the capture.
    ///
    /// # Errors
    ///
    /// Any [`CaptureError`] that has a place. The capture is over then.
    pub fn next_packet(&mut self) -> Result<Option<PacketRef<'_>>, CaptureError> {
        let found = match self.next_wanted() {
            Ok(found) => found,
            Err(fault) => {
                self.over = true;
                let (file, offset) = (self.file.clone(), self.input.offset());
                return Err(fault.at(Place { file, packet: self.packets + 1, offset }));
            }
        };
        let Some((Record { timestamp, length, interface, data, .. }, is_as_recorded)) = found else {
            return Ok(None);
        };
        let data = if is_as_recorded { self.input.consumed(data) } else { &self.frame };
        Ok(Some(PacketRef { timestamp, length, interface, data }))
    }

    /// The next record that is wanted, with the length of its frame; and whether the frame is as it was recorded, or in
    /// `self.frame`.
    fn next_wanted(&mut self) -> Result<Option<(Record, bool)>, Fault> {
        while !self.over {
            if let Some((record, segments)) = &mut self.segments {
                if let Some(length) = segments.next(&self.whole, &mut self.frame) {
                    let record = Record { length, ..record.clone() };
                    return Ok(Some(self.translate((record, false))));
                }
                self.segments = None;
            }
            let found = match &mut self.format {
                Format::Pcap(pcap) => pcap.next(&mut self.input),
                Format::Pcapng(pcapng) => pcapng.next(&mut self.input),
            };
            let Some(mut record) = found? else { break };
            self.input.check_records(self.packets + 1)?;
            self.note(record.timestamp);
            let bytes = self.input.consumed(record.data.clone());
            if let Some(wanted) = self.selection.direction
                && record.direction.or_else(|| record.link.direction(bytes)).ok_or(Fault::Undirected)?
                    != wanted
            {
                self.pass_over();
                continue;
            }
            let (mut frame, mut is_as_recorded) = (bytes, true);
            if record.link != Link::Ethernet {
                let longer = record.link.to_ethernet(bytes, &mut self.frame);
                record.length = record.length.saturating_add_signed(longer);
                (frame, is_as_recorded) = (&self.frame, false);
            }
            if self.selection.filter.as_ref().is_some_and(|filter| !filter.wants(frame)) {
                self.pass_over();
                continue;
            }
            if self.selection.inner
                && let Some(inner) = Inner::of(frame)
            {
                record.length = record.length.saturating_sub(inner.unpack(frame, &mut self.spare));
                mem::swap(&mut self.frame, &mut self.spare);
                (frame, is_as_recorded) = (&self.frame, false);
            }
            self.packets += 1;
            if let Some(segmentation) = &self.selection.segmentation
                && let Some(segments) = Segments::of(frame, record.length, segmentation)
            {
                self.whole.clear();
                self.whole.extend(frame);
                self.split = [self.split[0] + 1, self.split[1] + segments.count() as u64];
                self.segments = Some((record, segments));
                continue;
            }
            return Ok(Some(self.translate((record, is_as_recorded))));
        }
        self.over = true;
        Ok(None)
    }

    /// Takes out of a frame what an address translation changes, if there is one.
    fn translate(&mut self, (record, is_as_recorded): (Record, bool)) -> (Record, bool) {
        if !self.selection.translated {
            return (record, is_as_recorded);
        }
        if is_as_recorded {
            self.frame.clear();
            self.frame.extend(self.input.consumed(record.data.clone()));
        }
        translation::blank(&mut self.frame);
        (record, false)
    }

    /// Notes when a record was recorded.
    fn note(&mut self, time: u64) {
        let [first, last] = self.ran.unwrap_or([time; 2]);
        let length = |[from, to]: [u64; 2]| to.saturating_sub(from);
        if length([last, time]) > self.silence.map_or(0, length) {
            self.silence = Some([last, time]);
        }
        self.ran = Some([first, time]);
    }

    fn pass_over(&mut self) {
        self.packets += 1;
        self.passed_over += 1;
    }

    /// How many packets were passed over so far, because they are not wanted.
    pub fn passed_over(&self) -> u64 {
        self.passed_over
    }

    /// When the first record and the last one so far were recorded, in nanoseconds since the Unix epoch, whether they were wanted or
    /// not: what shows that the recorder ran.
    pub fn ran(&self) -> Option<[u64; 2]> {
        self.ran
    }

    /// Between which two records, that follow on each other, most time has passed so far, in nanoseconds since the Unix epoch, whether they were wanted or
    /// not.
    pub fn silence(&self) -> Option<[u64; 2]> {
        self.silence
    }

    /// How many packets the recording says so far that its interfaces have dropped, and its system, for want of room: what pcapng's statistics hold, which
    /// most recorders write last.
    pub fn dropped(&self) -> [u64; 2] {
        match &self.format {
            Format::Pcapng(pcapng) => pcapng.dropped(),
            Format::Pcap(_) => [0; 2],
        }
    }

    /// How many packets were split so far, and into how many.
    pub fn split(&self) -> [u64; 2] {
        self.split
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
