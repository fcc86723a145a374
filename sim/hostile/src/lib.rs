//! What must hold for any bytes that come from outside.
//!
//! Each function takes bytes that nobody vouches for and fails, by a panic, if what they are read as breaks a promise.
//! libFuzzer looks for bytes that make it fail (`fuzz/`); the test of this crate gives it the bytes of `fuzz/corpus`, and
//! those with parts cut off and bits turned.
//!
//! | function | reads | what must hold |
//! |----------|-------|----------------|
//! | [`frame`] | a control frame | what is read can be written, and reads the same again |
//! | [`collector`] | control frames in any order | each interval comes once; what is compared is whole at both ends |
//! | [`deframer`] | a serial line | no message is longer than allowed; one behind garbage is found |
//! | [`capture`] | a pcap or pcapng file | the same packets, in whatever pieces the bytes arrive |
//! | [`design`] | a design's file | the stream carries its rate at every frame length |
//! | [`command`] | a command line; `size` is done | a design that is chosen can be read; every error expected is a number |
//! | [`keys`] | a key file | a line more is a key more, and changes no other |
//! | [`filter`] | a filter and a packet | parentheses and two negations change nothing, one negation does |
//! | [`difference`] | packets at either end, and damage to their tables | decoders end; what is complete makes up the tables, and without damage it is the truth |
//! | [`http`] | a request for the figures | one answer or none, of bounded length, however the request comes in pieces |
//!
//! Bytes at random have no right check word, and nothing behind it would be reached: [`frame`] and [`collector`] take each
//! frame as it is and with its check word put right.
//!
//! # Test plan
//!
//! Every file of the corpus, as it is, cut at every sixteenth of its length, and with single bits turned; the corpus
//! reaches what stands behind check words and refusals. The check word put right is the right one.

use deltaline_capture::filter::Filter;
use deltaline_capture::segments::{Lengths, Segmentation};
use deltaline_capture::{Capture, Packet, Selection};
use deltaline_collect::collector::{Collector, Limits};
use deltaline_collect::pair::Interval;
use deltaline_design::Design;
use deltaline_model::board::framing::{self, Deframer, FLAG};
use deltaline_model::board::{Command, MAX_PAYLOAD_BYTES, Record};
use deltaline_model::sketch::cell::Cell;
use deltaline_model::wire::delimiter::Delimiter;
use deltaline_model::wire::frame::{BLOCK_CELLS, DIGESTS_FLAG, Frame, MAX_FRAME_BYTES, TRAILER_BYTES};
use deltaline_model::wire::{v1, v2};
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

mod difference;
mod http;
mod text;

pub use difference::difference;
pub use http::http;
pub use text::{command, filter, keys};

/// A body: it panics if the bytes break a promise.
pub type Body = fn(&[u8]);

/// All bodies, by the names of their targets and of their folders in the corpus.
pub const BODIES: [(&str, Body); 10] = [
    ("frame", frame),
    ("collector", collector),
    ("deframer", deframer),
    ("capture", capture),
    ("design", design),
    ("command", command),
    ("keys", keys),
    ("filter", filter),
    ("http", http),
    ("difference", difference),
];

/// Packets of a capture after which reading stops: a small compressed file can hold very many.
const MAX_PACKETS: usize = 10_000;
/// Bytes of the message that must be found behind garbage, at most.
const MAX_MESSAGE: usize = 64;

/// A control frame, or a delimiter.
pub fn frame(bytes: &[u8]) {
    // Whatever it holds, it is read or refused.
    let _ = Delimiter::decode(bytes);
    for bytes in [bytes, &with_right_check(bytes)] {
        let Ok(frame) = Frame::decode(bytes) else { continue };
        let cells: Vec<Cell> = frame.cells().collect();
        let mut again = [0; MAX_FRAME_BYTES];
        let encode = if bytes[14] == v1::VERSION { v1::encode } else { v2::encode };
        let length = encode(&frame.header, &cells, &mut again).unwrap_or_default();
        assert_eq!(Frame::decode(&again[..length]), Ok(frame));
    }
}

/// Control frames, each behind a word of 16 bits, big-endian: its length, and in the three upper bits what happens behind
/// it (1: a second passes; 2: what is settled is taken; 4: a source restarts).
pub fn collector(bytes: &[u8]) {
    let mut collector = Collector::default();
    let (mut pushed, mut settled, mut seconds) = (0, vec![], 0);
    for (frame, action) in actions(bytes) {
        collector.push(frame);
        collector.push(&with_right_check(frame));
        pushed += 2;
        seconds += u64::from(action & 1);
        collector.advance(Duration::from_secs(seconds));
        if action & 2 != 0 {
            settled.extend(collector.take_settled());
        }
        if action & 4 != 0 {
            collector.restart_all();
        }
        assert!(collector.bytes() <= Limits::default().bytes);
    }
    let has_restarted = collector.counts().restarts > 0;
    let collected = collector.finish();
    assert_eq!(collected.counts.frames, pushed);
    settled.extend(collected.intervals);
    settled.iter().for_each(check_interval);
    let names: BTreeSet<(u32, u32)> =
        settled.iter().map(|interval| (interval.segment, interval.number)).collect();
    assert!(has_restarted || names.len() == settled.len(), "an interval came twice");
}

/// The frames of a file of the corpus of [`collector`], each with what happens behind it.
pub fn actions(bytes: &[u8]) -> impl Iterator<Item = (&[u8], u16)> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (word, behind) = rest.split_first_chunk()?;
        let word = u16::from_be_bytes(*word);
        let (frame, behind) = behind.split_at(behind.len().min(usize::from(word & 0x1fff)));
        rest = behind;
        Some((frame, word >> 13))
    })
}

/// What is compared is whole, and what is not whole is not compared.
fn check_interval(interval: &Interval) {
    for report in [&interval.sender, &interval.receiver].into_iter().flatten() {
        assert!(report.missing < report.fragments);
        let whole = report.shape.cells() / BLOCK_CELLS * usize::from(report.shape.cell_bits);
        assert!(report.blocks.is_empty() || report.blocks.len() == whole);
        assert!(report.blocks.is_empty() || report.missing == 0);
    }
    if let Ok(pair) = interval.pair() {
        assert_eq!(pair.sender.configuration, pair.receiver.configuration);
        assert_eq!(pair.sender.blocks.len(), pair.receiver.blocks.len());
        assert!(!pair.sender.blocks.is_empty());
        let [sender, receiver] = [pair.sender, pair.receiver].map(|report| report.cells::<Cell>());
        let rows = pair.rows(&sender, &receiver);
        let compared = rows.equal + rows.foreign + rows.short + rows.surplus;
        assert!(compared <= sender.len());
        // A mean of any rows must not divide by their number without a look at it.
        let _ = rows.are_unrelated();
    }
}

/// A serial line; the first bytes are also sent as a message behind all of them.
pub fn deframer(bytes: &[u8]) {
    let mut deframer = Deframer::new();
    for byte in bytes.iter().copied().chain([FLAG]) {
        if let Some(Ok(payload)) = deframer.push(byte) {
            assert!(payload.len() <= MAX_PAYLOAD_BYTES);
            if let Ok(record) = Record::decode(payload) {
                assert_eq!(record.encode().as_bytes(), payload);
            }
            if let Ok(command) = Command::decode(payload) {
                assert_eq!(Command::decode(command.encode().as_bytes()), Ok(command));
            }
        }
    }
    let message = &bytes[..bytes.len().min(MAX_MESSAGE)];
    let mut found = vec![];
    framing::encode(message, |byte| {
        if let Some(outcome) = deframer.push(byte) {
            found.push(outcome.map(<[u8]>::to_vec));
        }
    });
    assert_eq!(found, [Ok(message.to_vec())], "a message behind garbage");
}

/// A capture file, from a source that gives all at once and from one that gives few bytes at a time.
///
/// How much a decompressor gives out before it notices that what it reads is damaged depends on the pieces; so of a
/// damaged compressed file, one reading may see more packets than the other, but no different ones.
pub fn capture(bytes: &[u8]) {
    let (whole, pieces) = (packets(bytes, usize::MAX), packets(bytes, 3));
    let is_damaged = whole.1.is_some() || pieces.1.is_some();
    if is_damaged
        && COMPRESSED.iter().any(|(at, magic)| bytes.get(*at..).unwrap_or_default().starts_with(magic))
    {
        assert!(whole.0.iter().zip(&pieces.0).all(|(one, other)| one == other));
    } else {
        assert_eq!(whole, pieces);
    }
    rewritten(bytes);
}

/// A capture whose packets are taken out of tunnels, cut, and stripped of their addresses.
fn rewritten(bytes: &[u8]) {
    let open = |selection| {
        let source = Pieces { bytes: bytes.to_vec(), position: 0, piece: usize::MAX };
        Capture::new("capture", source, None).map(|capture| capture.select(selection))
    };
    let inner = Selection { inner: true, ..Selection::default() };
    let Ok(mut capture) = open(inner.clone()) else { return };
    let mut lengths = Lengths::default();
    for _ in 0..MAX_PACKETS {
        let Ok(Some(packet)) = capture.next_packet() else { break };
        lengths.take(packet);
    }
    let segmentation = Some(Arc::new(Segmentation::new(&lengths, &lengths)));
    let filter = Filter::new("ip or ip6 or not port 7").ok();
    let selection = Selection { filter, segmentation, translated: true, ..inner };
    let Ok(mut capture) = open(selection) else { return };
    for _ in 0..MAX_PACKETS {
        let Ok(Some(packet)) = capture.next_packet() else { return };
        assert!(packet.data.len() <= packet.length as usize);
    }
}

/// Beginnings of compressed files, and where they stand: gzip, Zstandard, and a skippable frame of Zstandard.
const COMPRESSED: [(usize, &[u8]); 3] =
    [(0, &[0x1f, 0x8b]), (0, &[0x28, 0xb5, 0x2f, 0xfd]), (1, &[0x2a, 0x4d, 0x18])];

/// The packets of a capture that comes in pieces of so many bytes, and what ended it.
fn packets(bytes: &[u8], piece: usize) -> (Vec<Packet>, Option<String>) {
    let source = Pieces { bytes: bytes.to_vec(), position: 0, piece };
    let mut capture = match Capture::new("capture", source, None) {
        Ok(capture) => capture,
        Err(error) => return (vec![], Some(error.to_string())),
    };
    let mut packets = vec![];
    while packets.len() < MAX_PACKETS {
        match capture.next_packet() {
            Ok(Some(packet)) => packets.push(packet.to_packet()),
            Ok(None) => break,
            Err(error) => return (packets, Some(error.to_string())),
        }
    }
    (packets, None)
}

/// Bytes that come a few at a time.
struct Pieces {
    bytes: Vec<u8>,
    position: usize,
    piece: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = &self.bytes[self.position..];
        let count = rest.len().min(self.piece).min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.position += count;
        Ok(count)
    }
}

/// A design's file.
pub fn design(bytes: &[u8]) {
    let read = || Design::parse("fuzzed.toml", "fuzzed", std::str::from_utf8(bytes).ok()?).ok();
    if let Some(design) = read() {
        let stream = design.stream();
        for length in 64..=9018 {
            assert!(stream.frames_possible(length) >= stream.frames_needed(length), "{length} bytes");
        }
        let again = read().map(|design| design.configuration().id());
        assert_eq!(again, Some(design.configuration().id()));
    }
}

/// A frame with the check word that its contents give, as far as it has room for one.
///
/// Made from the layout's description, not with the model's own function.
fn with_right_check(bytes: &[u8]) -> Vec<u8> {
    let mut frame = bytes.to_vec();
    let field = |offset: usize| -> Option<usize> {
        Some(usize::from(u16::from_be_bytes([*bytes.get(offset)?, *bytes.get(offset + 1)?])))
    };
    let length = || -> Option<usize> {
        match *bytes.get(14)? {
            v1::VERSION => {
                let digests = field(44)? & usize::from(DIGESTS_FLAG) != 0;
                field(42)?.is_multiple_of(BLOCK_CELLS).then_some(v1::frame_bytes(field(42)?, digests))
            }
            _ => {
                Some(8 * usize::from(*bytes.get(39)?) + field(44)? / BLOCK_CELLS * field(46)? + TRAILER_BYTES)
            }
        }
    };
    let Some(length) = length().filter(|length| *length <= bytes.len()) else { return frame };
    let end = length - 8;
    let word = |bytes: &[u8]| bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let start = word(&frame[12..16]);
    let check = frame[16..end].chunks(8).fold(start, |check, eight| check.rotate_left(1) ^ word(eight));
    frame[end..end + 8].copy_from_slice(&check.to_be_bytes());
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_that_was_changed_is_read_again_with_its_check_word_put_right() {
        let bytes = include_bytes!("../../../fuzz/corpus/frame/sender");
        assert_eq!(with_right_check(bytes), bytes);
        let mut changed = *bytes;
        changed[100] ^= 0x10;
        assert!(Frame::decode(&changed).is_err());
        assert!(Frame::decode(&with_right_check(&changed)).is_ok());
    }
}
