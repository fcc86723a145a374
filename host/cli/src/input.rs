//! Captures as the commands read them: by name or from standard input, to the end or as far as they are whole.
//!
//! # Test plan
//!
//! Here: a file that is written anew while it is read, or goes on. `tests/inputs.rs`: standard input gives what the file gives; a capture that was cut, or damaged, is refused, and with
//! `--keep-going` read up to there with the count said.

use crate::exit::Exit;
use crate::failure::Failure;
use deltaline_capture::edges::Edges;
use deltaline_capture::{Capture, CaptureError, PacketRef, Selection};
use deltaline_model::wire::frame::Role;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::iter::Peekable;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::vec::IntoIter;

/// The name that stands for standard input.
const STANDARD_INPUT: &str = "-";

/// A capture that is being read.
pub(crate) struct Input {
    capture: Capture,
    name: String,
    keeps_going: bool,
    packets: u64,
    /// The places of those that are wanted, and, in order, of those among them that are not.
    kept: Range<usize>,
    left_out: Peekable<IntoIter<usize>>,
    /// Why it ended before its end.
    cut: Option<CaptureError>,
    /// What it began with, of a file.
    beginning: Option<Beginning>,
}

/// How a file begins, by which it is known to be written anew, or a copy of another.
pub(crate) struct Beginning {
    path: PathBuf,
    bytes: Vec<u8>,
    length: u64,
}

impl Beginning {
    /// None of what is no regular file, or cannot be read.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        // What is read of a pipe is gone.
        let about = fs::metadata(path).ok().filter(Metadata::is_file)?;
        let mut bytes = vec![];
        File::open(path).ok()?.take(1 << 16).read_to_end(&mut bytes).ok()?;
        Some(Beginning { path: path.into(), bytes, length: about.len() })
    }

    /// Whether two files are as long, and begin with the same bytes.
    pub(crate) fn is_like(&self, other: &Beginning) -> bool {
        (self.length, &self.bytes) == (other.length, &other.bytes)
    }

    /// Whether the file has other contents by now than it had, but for what was appended.
    fn has_changed(&self) -> bool {
        // One that is gone was read to its end.
        Self::of(&self.path)
            .is_some_and(|now| now.length < self.length || !now.bytes.starts_with(&self.bytes))
    }
}

impl Input {
    /// Opens a capture, `-` being standard input. One that `keeps_going` ends where it is cut or damaged.
    pub(crate) fn open(path: &Path, keeps_going: bool) -> Result<Self, Failure> {
        let name = name(path);
        let capture = match is_standard_input(path) {
            true => Capture::new(name.as_str(), io::stdin(), None)?,
            false => Capture::open(path)?,
        };
        let beginning = if is_standard_input(path) { None } else { Beginning::of(path) };
        let left_out = vec![].into_iter().peekable();
        Ok(Input {
            capture,
            name,
            keeps_going,
            packets: 0,
            kept: 0..usize::MAX,
            left_out,
            cut: None,
            beginning,
        })
    }

    /// Only these packets of it.
    pub(crate) fn select(self, selection: Selection) -> Self {
        Input { capture: self.capture.select(selection), ..self }
    }

    /// Only the packets of `role` between these edges.
    pub(crate) fn within(self, edges: Option<&Edges>, role: Role) -> Self {
        let Some(Edges { span, under_way: [sent, received], .. }) = edges else { return self };
        let (kept, left_out) = match role {
            Role::Sender => (&span.sender, sent),
            Role::Receiver => (&span.receiver, received),
        };
        Input { kept: kept.clone(), left_out: left_out.clone().into_iter().peekable(), ..self }
    }

    /// What it is called.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What is read.
    pub(crate) fn capture(&self) -> &Capture {
        &self.capture
    }

    /// The next packet that is wanted.
    pub(crate) fn next_packet(&mut self) -> Result<Option<PacketRef<'_>>, Failure> {
        while (self.packets as usize) < self.kept.start
            || self.left_out.next_if_eq(&(self.packets as usize)).is_some()
        {
            if self.read()?.is_none() {
                return Ok(None);
            }
        }
        if self.packets as usize >= self.kept.end { Ok(None) } else { self.read() }
    }

    /// How many packets were read so far, left out or not.
    pub(crate) fn packets(&self) -> u64 {
        self.packets
    }

    fn read(&mut self) -> Result<Option<PacketRef<'_>>, Failure> {
        match self.capture.next_packet() {
            Ok(packet) => {
                self.packets += u64::from(packet.is_some());
                Ok(packet)
            }
            Err(error) if self.keeps_going && is_damage(&error) => {
                self.cut = Some(error);
                Ok(None)
            }
            Err(error) => {
                let may_go_on = is_damage(&error);
                let failure = Failure::from(error);
                Err(if may_go_on {
                    failure.or_else("take its packets up to there with --keep-going")
                } else {
                    failure
                })
            }
        }
    }

    /// The packets that were read do not fit into memory.
    pub(crate) fn out_of_memory(&self) -> Failure {
        CaptureError::Memory { file: self.name.clone() }.into()
    }

    /// What is to be said of packets that were split.
    pub(crate) fn remark_on_split(&self) -> Option<String> {
        let [packets, segments] = self.capture.split();
        (packets > 0).then(|| format!("{}: --split has made {segments} packets of {packets}", self.name))
    }

    /// What is to be said of a capture that lacks packets: it ended before its end, or its recorder had no room for them.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let changed = self.beginning.as_ref().is_some_and(Beginning::has_changed).then(|| {
            format!(
                "{}: was written anew while it was read: what is shown may be of two recordings; start again once it is whole",
                self.name
            )
        });
        changed.into_iter().chain(self.remark()).chain(self.remark_on_dropped()).collect()
    }

    /// What is to be said of packets that the recorder had no room for. Of a part of a capture it is not known: most recorders say it last.
    fn remark_on_dropped(&self) -> Option<String> {
        let [interface, system] = self.capture.dropped();
        (self.kept.end == usize::MAX && [interface, system] != [0; 2]).then(|| {
            format!(
                "{}: its recorder says that {interface} packets were dropped by the interface and {system} by the system for want of room: those of them \
                 that the other end has look lost or never sent; record with a larger buffer (dumpcap -B), fewer bytes of each packet (-s), or a filter",
                self.name
            )
        })
    }

    /// What is to be said of a capture that ended before its end.
    pub(crate) fn remark(&self) -> Option<String> {
        let cut = self.cut.as_ref()?.to_string();
        let what = cut.split_once("; ").map_or(cut.as_str(), |(what, _)| what);
        Some(format!(
            "{what}; only its {} packets before that are used, and what the other capture has of the time behind them \
             looks lost or never sent",
            self.packets
        ))
    }
}

/// Whether packets in front of this may be whole.
fn is_damage(error: &CaptureError) -> bool {
    matches!(error, CaptureError::Truncated { .. } | CaptureError::Damaged { .. } | CaptureError::Read { .. })
}

/// Whether a capture comes from standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == STANDARD_INPUT
}

/// What a capture is called.
pub(crate) fn name(path: &Path) -> String {
    match is_standard_input(path) {
        true => "standard input".into(),
        false => path.display().to_string(),
    }
}

/// Refuses standard input that would be read twice.
pub(crate) fn check_standard_input<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    if paths.into_iter().filter(|path| is_standard_input(path)).count() > 1 {
        let message = "-: standard input can be one capture only; name a file for the other";
        return Err(Failure::new(Exit::Usage, message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn what_is_written_anew_is_known_from_what_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recording.pcap");
        for (now, has_changed) in [
            (&b"one packet"[..], false),
            (b"one packet and another", false),
            (b"one pack", true),
            (b"two packets", true),
            (b"", true),
        ] {
            fs::write(&path, b"one packet").unwrap();
            let beginning = Beginning::of(&path).unwrap();
            fs::write(&path, now).unwrap();
            assert_eq!(beginning.has_changed(), has_changed, "{now:?}");
            fs::remove_file(&path).unwrap();
            assert!(!beginning.has_changed());
        }
        assert!(Beginning::of(folder.path()).is_none());
    }
}
