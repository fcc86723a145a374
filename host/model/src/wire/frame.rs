//! The control frame: how a measurement point reports an interval.
//!
//! An interval is reported as a sequence of Ethernet frames (LDA paper, section V: "control packets are
//! sequence-numbered so that loss of control packets translates into a measurement interval being ignored"), one for
//! each 128 rows of each bank (64 rows with digests). With several classes the sequences of the classes follow each
//! other; unmeasured, bad, refused ends and flags are the point's, and repeat in each. Every frame repeats the whole
//! header. This is the only place where the layout is defined; it is made of 64-bit words, so that hardware emits one
//! a beat.
//!
//! All numbers are big-endian. Offsets count bytes from the destination MAC address; the FCS is not part of it.
//!
//! | offset | bytes | field | meaning |
//! |--------|-------|-------|---------|
//! | 0      | 6     | destination | [`DESTINATION`] |
//! | 6      | 6     | source | [`SOURCE`] |
//! | 12     | 2     | EtherType | 0x88B5, IEEE 802 local experimental |
//! | 14     | 1     | version | 1 |
//! | 15     | 1     | role | 0 sender, 1 receiver; 2 is a [delimiter](crate::wire::delimiter::Delimiter) |
//! | 16     | 4     | segment | number of the measurement segment; class c of a [classifier](crate::packet::classifier) adds c |
//! | 20     | 4     | interval | number of the interval, modulo 2^32 |
//! | 24     | 8     | configuration digest | [`crate::configuration::Configuration::digest`] |
//! | 32     | 2     | fragment | index of this frame in the interval, from 0 |
//! | 34     | 2     | fragments | frames of the interval: banks × ceil(rows / 128), with digests ceil(rows / 64) |
//! | 36     | 1     | bank | the bank of this frame's cells |
//! | 37     | 1     | banks | 1..=8 |
//! | 38     | 2     | rows | rows of each bank |
//! | 40     | 2     | first row | row of this frame's first cell |
//! | 42     | 2     | cells | cells in this frame: min(rows, 128), with digests min(rows, 64) |
//! | 44     | 2     | flags | see below |
//! | 46     | 2     | refused ends | interval ends that came during a drain and were refused, saturating |
//! | 48     | 8     | packets | measured packets of the interval, unsampled, modulo 2^48 |
//! | 56     | 8     | bytes | their IP octets, unsampled, modulo 2^48 |
//! | 64     | 8     | first time | PTP relative-64 timestamp of the first measured packet, 0 if there was none |
//! | 72     | 8     | last time | of the last measured packet, 0 if there was none |
//! | 80     | 8     | prefix lengths | one byte a bank, 255 where there is no bank |
//! | 88     | 4     | unmeasured | frames that are not IP, or of no class, saturating |
//! | 92     | 4     | bad | frames that the MAC marked bad, saturating |
//! | 96     | 9 × cells | blocks | cells in blocks of eight, 72 bytes each, see below; with digests 13 × cells, 104 bytes each |
//! | 96 + 9 × cells | 16 | tag | room for an authentication tag; zero when there is none |
//! | 112 + 9 × cells | 8 | check | see below |
//!
//! A **block** holds eight cells: eight words of (count, 32 bits; sum bits 31:0, 32 bits), then eight bytes with
//! sum bits 39:32 of the eight cells in order. With digests, the words of every two cells are followed by a word with
//! their two [digest sums](crate::sketch::digest), 32 bits each, so that hardware keeps no more than two: cell, cell, digests,
//! four times over, then the eight bytes.
//!
//! | flag | name | meaning |
//! |------|------|---------|
//! | bit 0 | saturated | a packet count or a total overflowed |
//! | bit 1 | overrun | an interval end came while the previous interval was still being drained and was refused: this interval is longer than asked for |
//! | bit 2 | clock | the clock was not locked at some moment of the interval |
//! | bit 3 | timed | the clock, not a delimiter in the stream, started or ended the interval |
//! | bit 4 | gap | the delimiter at the end of the interval is not the one that was due: one before it is missing, and the interval covers more than its number says |
//! | bit 5 | digests | cells have digest sums: set in every frame of such a configuration |
//!
//! The **check** word guards what the FCS does not: assembly, storage, truncation. It starts as the 32 bits
//! (EtherType, version, role); for each following 64-bit word of the frame it is rotated left by one bit and the
//! word is added by exclusive or. Every error that lies within 63 consecutive bits is found.
//!
//! A frame of 128 cells has 1272 bytes, one of 64 cells with digests 952: it fits a 1500-byte MTU with room for tunnels.
//!
//! # Test plan
//!
//! Golden frames (`vectors/`), built once and compared by model, hardware and dissector; round trip of arbitrary
//! contents, with digests and without; every single-bit error outside the MAC addresses and every
//! burst of up to 63 bits refused; arbitrary bytes never panic; every length cut
//! refused.

use crate::configuration::Configuration;
use crate::sketch::cell::Cell;
use crate::sketch::sampler::{MAX_BANKS, Prefixes};
use crate::time::Timestamp;
use crate::wire::delimiter;

/// EtherType of control frames: IEEE 802 local experimental EtherType 1.
pub const ETHERTYPE: u16 = 0x88b5;
/// Version of the layout.
pub const VERSION: u8 = 1;
/// Destination MAC address: a locally administered group.
pub const DESTINATION: [u8; 6] = [0x03, 0x44, 0x45, 0x4c, 0x54, 0x41];
/// Source MAC address: locally administered.
pub const SOURCE: [u8; 6] = [0x02, 0x44, 0x45, 0x4c, 0x54, 0x41];
/// Bytes in front of the first cell.
pub const HEADER_BYTES: usize = 96;
/// Bytes behind the last cell: tag and check word.
pub const TRAILER_BYTES: usize = 24;
/// Cells of a block.
pub const BLOCK_CELLS: usize = 8;
/// Bytes of a block.
pub const BLOCK_BYTES: usize = 72;
/// Bytes of a block with digests.
pub const DIGEST_BLOCK_BYTES: usize = 104;
/// Most cells of a frame.
pub const MAX_CELLS: usize = 128;
/// Most cells of a frame with digests.
pub const MAX_DIGEST_CELLS: usize = 64;
/// Longest frame in bytes; one with digests is shorter.
pub const MAX_FRAME_BYTES: usize = frame_bytes(MAX_CELLS, false);
/// The bit of the flags field that says that cells have digest sums.
pub const DIGESTS_FLAG: u16 = 1 << 5;

/// Length of a frame with this many cells, in bytes.
pub const fn frame_bytes(cells: usize, digests: bool) -> usize {
    HEADER_BYTES + cells / BLOCK_CELLS * block_bytes(digests) + TRAILER_BYTES
}

const fn block_bytes(digests: bool) -> usize {
    if digests { DIGEST_BLOCK_BYTES } else { BLOCK_BYTES }
}

/// Which end of the segment a frame comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The end that packets pass first.
    Sender = 0,
    /// The end that packets pass last.
    Receiver = 1,
}

impl core::fmt::Display for Role {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        f.write_str(match self {
            Role::Sender => "sender",
            Role::Receiver => "receiver",
        })
    }
}

/// What the flags field says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags {
    /// A packet count or a total overflowed.
    pub saturated: bool,
    /// An interval end was refused: this interval is longer than asked for.
    pub overrun: bool,
    /// The clock was not locked at some moment.
    pub clock: bool,
    /// The clock, not a delimiter in the stream, started or ended the interval.
    pub timed: bool,
    /// A delimiter before the one that ended the interval is missing.
    pub gap: bool,
}

impl Flags {
    /// The flags field.
    pub fn to_bits(self) -> u16 {
        u16::from(self.saturated)
            | u16::from(self.overrun) << 1
            | u16::from(self.clock) << 2
            | u16::from(self.timed) << 3
            | u16::from(self.gap) << 4
    }

    /// From the flags field; bit 5 is [`DIGESTS_FLAG`], bits 15:6 are reserved and ignored.
    pub fn from_bits(bits: u16) -> Self {
        let flag = |bit: u32| bits >> bit & 1 == 1;
        Flags { saturated: flag(0), overrun: flag(1), clock: flag(2), timed: flag(3), gap: flag(4) }
    }
}

/// What an interval's frames have in common besides the configuration: the interval's own numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Totals {
    /// Measured packets, unsampled, modulo 2^48.
    pub packets: u64,
    /// Their IP octets, unsampled, modulo 2^48.
    pub bytes: u64,
    /// When the first measured packet was seen; zero if there was none.
    pub first: Timestamp,
    /// When the last measured packet was seen; zero if there was none.
    pub last: Timestamp,
    /// Frames that are not measured, saturating.
    pub unmeasured: u32,
    /// Frames that the MAC marked bad, saturating.
    pub bad: u32,
    /// Interval ends that came during a drain and were refused, saturating.
    pub refused_ends: u16,
    /// Conditions of the interval.
    pub flags: Flags,
}

/// The header of a control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Which end the frame comes from.
    pub role: Role,
    /// Number of the measurement segment.
    pub segment: u32,
    /// Number of the interval.
    pub interval: u32,
    /// Digest of the configuration.
    pub digest: u64,
    /// Index of this frame in its interval.
    pub fragment: u16,
    /// Frames of the interval.
    pub fragments: u16,
    /// The bank of this frame's cells.
    pub bank: u8,
    /// Rows of each bank.
    pub rows: u16,
    /// Row of this frame's first cell.
    pub first_row: u16,
    /// Cells in this frame.
    pub cells: u16,
    /// Whether cells have digest sums.
    pub digests: bool,
    /// The banks.
    pub prefixes: Prefixes,
    /// The interval's own numbers.
    pub totals: Totals,
}

impl Header {
    /// The headers of all frames of an interval, in the order of emission: bank by bank, row by row.
    pub fn of_interval(
        configuration: &Configuration,
        role: Role,
        interval: u32,
        totals: Totals,
    ) -> impl Iterator<Item = Header> {
        let Geometry { cells, per_bank, fragments } = Geometry::new(
            configuration.rows(),
            configuration.prefixes().banks(),
            configuration.has_digests(),
        );
        let (segment, digest) = (configuration.segment(), configuration.digest());
        let (rows, prefixes) = (configuration.rows() as u16, *configuration.prefixes());
        let digests = configuration.has_digests();
        (0..fragments).map(move |fragment| Header {
            role,
            segment,
            interval,
            digest,
            fragment,
            fragments,
            bank: (fragment / per_bank) as u8,
            rows,
            first_row: fragment % per_bank * cells,
            cells,
            digests,
            prefixes,
            totals,
        })
    }

    /// The header's twelve words: all that is in front of the first cell.
    pub fn words(&self) -> [u64; HEADER_BYTES / 8] {
        let totals = &self.totals;
        let [first, second] = first_words(self.role as u8);
        [
            first,
            second,
            u64::from(self.segment) << 32 | u64::from(self.interval),
            self.digest,
            u64::from(self.fragment) << 48
                | u64::from(self.fragments) << 32
                | u64::from(self.bank) << 24
                | (self.prefixes.banks() as u64) << 16
                | u64::from(self.rows),
            u64::from(self.first_row) << 48
                | u64::from(self.cells) << 32
                | u64::from(totals.flags.to_bits() | if self.digests { DIGESTS_FLAG } else { 0 }) << 16
                | u64::from(totals.refused_ends),
            totals.packets,
            totals.bytes,
            totals.first.0,
            totals.last.0,
            u64::from_be_bytes(self.prefixes.to_bytes()),
            u64::from(totals.unmeasured) << 32 | u64::from(totals.bad),
        ]
    }

    /// Index of this frame's first cell among all cells of the interval, bank-major.
    pub fn first_cell(&self) -> usize {
        usize::from(self.bank) * usize::from(self.rows) + usize::from(self.first_row)
    }
}

/// How an interval is cut into frames.
struct Geometry {
    /// Cells of each frame.
    cells: u16,
    /// Frames of each bank.
    per_bank: u16,
    /// Frames of the interval.
    fragments: u16,
}

impl Geometry {
    fn new(rows: usize, banks: usize, digests: bool) -> Self {
        let cells = rows.min(if digests { MAX_DIGEST_CELLS } else { MAX_CELLS });
        let per_bank = rows / cells;
        Geometry { cells: cells as u16, per_bank: per_bank as u16, fragments: (per_bank * banks) as u16 }
    }
}

/// Why bytes are not a control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Another EtherType: somebody else's frame.
    #[error("EtherType {0:#06x} is not that of control frames ({ETHERTYPE:#06x})")]
    EtherType(u16),
    /// The frame ends too early.
    #[error(
        "{0} bytes where a control frame needs {1}: capture with a snap length of at least {MAX_FRAME_BYTES}"
    )]
    Truncated(usize, usize),
    /// The role of delimiters.
    #[error("a delimiter, not a control frame: it ends an interval and reports nothing")]
    Delimiter,
    /// A layout that this version does not know.
    #[error("layout version {0}, this is version {VERSION}: use the same release at both ends")]
    Version(u8),
    /// The check word does not match.
    #[error("check word {found:#018x} where the contents give {expected:#018x}: the frame is corrupted")]
    Check {
        /// What the frame holds.
        found: u64,
        /// What its contents give.
        expected: u64,
    },
    /// A field contradicts the others.
    #[error("field '{0}' contradicts the others: not written by this release")]
    Field(&'static str),
    /// The buffer or the cells handed to the encoder do not fit the header.
    #[error("{0} cells where the header says {1}, or a buffer below {MAX_FRAME_BYTES} bytes")]
    Encode(usize, usize),
}

/// Writes a frame into `buffer` and returns its length in bytes.
///
/// # Errors
///
/// [`FrameError::Encode`] when `cells` is not as long as the header says or `buffer` is too short.
pub fn encode(header: &Header, cells: &[Cell], buffer: &mut [u8]) -> Result<usize, FrameError> {
    let length = frame_bytes(cells.len(), header.digests);
    let wrong = FrameError::Encode(cells.len(), usize::from(header.cells));
    if cells.len() != usize::from(header.cells) || !cells.len().is_multiple_of(BLOCK_CELLS) {
        return Err(wrong);
    }
    let frame = buffer.get_mut(..length).ok_or(wrong)?;
    for (bytes, word) in frame.chunks_exact_mut(8).zip(header.words()) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    let blocks = frame[HEADER_BYTES..length - TRAILER_BYTES].chunks_exact_mut(block_bytes(header.digests));
    for (block, cells) in blocks.zip(cells.chunks_exact(BLOCK_CELLS)) {
        let (low, high) = block.split_at_mut(block_bytes(header.digests) - BLOCK_CELLS);
        for (index, (high, cell)) in high.iter_mut().zip(cells).enumerate() {
            let (word, digest) = offsets(index, header.digests);
            low[word..word + 4].copy_from_slice(&cell.count.to_be_bytes());
            low[word + 4..word + 8].copy_from_slice(&(cell.sum as u32).to_be_bytes());
            if header.digests {
                low[digest..digest + 4].copy_from_slice(&cell.digest.to_be_bytes());
            }
            *high = (cell.sum >> 32) as u8;
        }
    }
    frame[length - TRAILER_BYTES..].fill(0);
    let check = check(&frame[16..length - 8], check_start(header.role as u8));
    frame[length - 8..].copy_from_slice(&check.to_be_bytes());
    Ok(length)
}

/// Where in a block the word of its cell `index` is, and where, with digests, its digest sum.
fn offsets(index: usize, digests: bool) -> (usize, usize) {
    if digests {
        (index / 2 * 24 + index % 2 * 8, index / 2 * 24 + 16 + index % 2 * 4)
    } else {
        (index * 8, 0)
    }
}

/// A checked control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The header.
    pub header: Header,
    blocks: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Checks and decodes a frame; bytes behind its end (padding) are ignored.
    ///
    /// # Errors
    ///
    /// [`FrameError`] with what is wrong.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, FrameError> {
        let ethertype = bytes.get(12..14).ok_or(FrameError::Truncated(bytes.len(), HEADER_BYTES))?;
        let ethertype = u16::from_be_bytes([ethertype[0], ethertype[1]]);
        if ethertype != ETHERTYPE {
            return Err(FrameError::EtherType(ethertype));
        }
        if bytes.get(14..16) == Some(&[VERSION, delimiter::ROLE]) {
            return Err(FrameError::Delimiter);
        }
        if bytes.len() < HEADER_BYTES + TRAILER_BYTES {
            return Err(FrameError::Truncated(bytes.len(), HEADER_BYTES + TRAILER_BYTES));
        }
        if bytes[14] != VERSION {
            return Err(FrameError::Version(bytes[14]));
        }
        let field = Fields(bytes);
        let cells = field.u16(42);
        if usize::from(cells) > MAX_CELLS || !usize::from(cells).is_multiple_of(BLOCK_CELLS) {
            return Err(FrameError::Field("cells"));
        }
        let flags = field.u16(44);
        let digests = flags & DIGESTS_FLAG != 0;
        let length = frame_bytes(usize::from(cells), digests);
        let frame = bytes.get(..length).ok_or(FrameError::Truncated(bytes.len(), length))?;
        let start = u64::from(field.u32(12));
        let (found, expected) = (field.u64(length - 8), check(&frame[16..length - 8], start));
        if found != expected {
            return Err(FrameError::Check { found, expected });
        }
        let header = Header {
            role: match bytes[15] {
                0 => Role::Sender,
                1 => Role::Receiver,
                _ => return Err(FrameError::Field("role")),
            },
            segment: field.u32(16),
            interval: field.u32(20),
            digest: field.u64(24),
            fragment: field.u16(32),
            fragments: field.u16(34),
            bank: bytes[36],
            rows: field.u16(38),
            first_row: field.u16(40),
            cells,
            digests,
            prefixes: prefixes(bytes[37], &frame[80..88])?,
            totals: Totals {
                packets: field.u64(48),
                bytes: field.u64(56),
                first: Timestamp(field.u64(64)),
                last: Timestamp(field.u64(72)),
                unmeasured: field.u32(88),
                bad: field.u32(92),
                refused_ends: field.u16(46),
                flags: Flags::from_bits(flags),
            },
        };
        check_geometry(&header)?;
        Ok(Frame { header, blocks: &frame[HEADER_BYTES..length - TRAILER_BYTES] })
    }

    /// The cells of this frame, from [`Header::first_row`] on.
    pub fn cells(&self) -> impl Iterator<Item = Cell> + 'a {
        let digests = self.header.digests;
        self.blocks.chunks_exact(block_bytes(digests)).flat_map(move |block| {
            let (low, high) = block.split_at(block_bytes(digests) - BLOCK_CELLS);
            high.iter().enumerate().map(move |(index, high)| {
                let (word, digest) = offsets(index, digests);
                Cell {
                    count: Fields(low).u32(word),
                    sum: u64::from(*high) << 32 | u64::from(Fields(low).u32(word + 4)),
                    digest: if digests { Fields(low).u32(digest) } else { 0 },
                }
            })
        })
    }
}

fn prefixes(banks: u8, lengths: &[u8]) -> Result<Prefixes, FrameError> {
    let banks = usize::from(banks);
    let used = lengths.get(..banks).ok_or(FrameError::Field("banks"))?;
    let prefixes = Prefixes::new(used).map_err(|_| FrameError::Field("prefix lengths"))?;
    if prefixes.to_bytes()[..] != lengths[..MAX_BANKS] {
        return Err(FrameError::Field("prefix lengths"));
    }
    Ok(prefixes)
}

/// Refuses frames whose place in the interval is impossible, so that a reader may index by it.
fn check_geometry(header: &Header) -> Result<(), FrameError> {
    let rows = usize::from(header.rows);
    if !rows.is_power_of_two() || rows < BLOCK_CELLS {
        return Err(FrameError::Field("rows"));
    }
    let geometry = Geometry::new(rows, header.prefixes.banks(), header.digests);
    if header.cells != geometry.cells {
        return Err(FrameError::Field("cells"));
    }
    if header.fragments != geometry.fragments {
        return Err(FrameError::Field("fragments"));
    }
    if header.fragment >= geometry.fragments {
        return Err(FrameError::Field("fragment"));
    }
    if u16::from(header.bank) != header.fragment / geometry.per_bank {
        return Err(FrameError::Field("bank"));
    }
    if header.first_row != header.fragment % geometry.per_bank * geometry.cells {
        return Err(FrameError::Field("first row"));
    }
    Ok(())
}

/// The first two words of every frame of ours: addresses, EtherType, version and role.
pub(crate) const fn first_words(role: u8) -> [u64; 2] {
    [mac(DESTINATION) << 16 | mac(SOURCE) >> 32, mac(SOURCE) << 32 | check_start(role)]
}

/// What the check word starts with: EtherType, version and role.
pub const fn check_start(role: u8) -> u64 {
    (ETHERTYPE as u64) << 16 | (VERSION as u64) << 8 | role as u64
}

/// One step of the check word.
pub const fn check_step(check: u64, word: u64) -> u64 {
    check.rotate_left(1) ^ word
}

pub(crate) fn check(bytes: &[u8], start: u64) -> u64 {
    bytes.chunks_exact(8).fold(start, |check, word| check_step(check, Fields(word).u64(0)))
}

/// A MAC address as a 48-bit number.
const fn mac(bytes: [u8; 6]) -> u64 {
    let [a, b, c, d, e, f] = bytes;
    u64::from_be_bytes([0, 0, a, b, c, d, e, f])
}

/// Big-endian fields at byte offsets; what lies outside reads as zero, lengths are checked before.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl Fields<'_> {
    fn number(&self, offset: usize, bytes: usize) -> u64 {
        self.0.iter().skip(offset).take(bytes).fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    pub(crate) fn u8(&self, offset: usize) -> u8 {
        self.number(offset, 1) as u8
    }

    pub(crate) fn u16(&self, offset: usize) -> u16 {
        self.number(offset, 2) as u16
    }

    pub(crate) fn u32(&self, offset: usize) -> u32 {
        self.number(offset, 4) as u32
    }

    pub(crate) fn u64(&self, offset: usize) -> u64 {
        self.number(offset, 8)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::configuration::Settings;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    fn configuration(rows: usize, prefixes: &[u8]) -> Configuration {
        Configuration::new(Settings { rows, prefixes, segment: 0x0102_0304, ..Settings::default() }).unwrap()
    }

    fn totals() -> impl Strategy<Value = Totals> {
        (any::<[u64; 4]>(), any::<[u32; 2]>(), any::<u16>(), 0u16..32).prop_map(
            |([packets, bytes, first, last], [unmeasured, bad], refused_ends, flags)| Totals {
                packets,
                bytes,
                first: Timestamp(first),
                last: Timestamp(last),
                unmeasured,
                bad,
                refused_ends,
                flags: Flags::from_bits(flags),
            },
        )
    }

    fn frames(rows: usize, prefixes: &[u8], totals: Totals, cells: &[Cell]) -> Vec<(Header, Vec<u8>)> {
        frames_of(&configuration(rows, prefixes), totals, cells)
    }

    fn with_digests(rows: usize, prefixes: &[u8]) -> Configuration {
        let settings = Settings { rows, prefixes, segment: 0x0102_0304, digest: true, ..Settings::default() };
        Configuration::new(settings).unwrap()
    }

    fn frames_of(configuration: &Configuration, totals: Totals, cells: &[Cell]) -> Vec<(Header, Vec<u8>)> {
        let mut buffer = [0; MAX_FRAME_BYTES];
        Header::of_interval(configuration, Role::Receiver, 7, totals)
            .map(|header| {
                let cells = &cells[header.first_cell()..][..usize::from(header.cells)];
                let length = encode(&header, cells, &mut buffer).unwrap();
                (header, buffer[..length].to_vec())
            })
            .collect()
    }

    fn cells(count: usize, seed: u64) -> Vec<Cell> {
        let word = |i: usize| xxhash_rust::xxh3::xxh3_64_with_seed(&i.to_le_bytes(), seed);
        (0..count)
            .map(|i| Cell { count: word(2 * i) as u32, sum: word(2 * i + 1) >> 24, digest: 0 })
            .collect()
    }

    fn digest_cells(count: usize, seed: u64) -> Vec<Cell> {
        let digest = |i: usize| (xxhash_rust::xxh3::xxh3_64_with_seed(&i.to_le_bytes(), !seed)) as u32;
        let cells = cells(count, seed).into_iter().enumerate();
        cells.map(|(i, cell)| Cell { digest: digest(i), ..cell }).collect()
    }

    proptest! {
        #[test]
        fn intervals_survive_the_round_trip(
            totals in totals(), seed: u64, log_rows in 3usize..11, banks in 1usize..5, digests: bool
        ) {
            let rows = 1 << log_rows;
            let prefixes = &[0, 3, 9, 16][..banks];
            let all = if digests { digest_cells(rows * banks, seed) } else { cells(rows * banks, seed) };
            let mut decoded = vec![];
            let frames = match digests {
                true => frames_of(&with_digests(rows, prefixes), totals, &all),
                false => frames(rows, prefixes, totals, &all),
            };
            for (header, bytes) in &frames {
                let frame = Frame::decode(bytes).unwrap();
                prop_assert_eq!(&frame.header, header);
                prop_assert_eq!(usize::from(header.fragments), frames.len());
                prop_assert_eq!(header.first_cell(), decoded.len());
                decoded.extend(frame.cells());
                let padded = [&bytes[..], &[0xaa; 9]].concat();
                prop_assert_eq!(Frame::decode(&padded).unwrap(), frame);
            }
            prop_assert_eq!(decoded, all);
        }

        #[test]
        fn arbitrary_bytes_never_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Frame::decode(&bytes);
            if bytes.len() > 44 {
                bytes[12..16].copy_from_slice(&[0x88, 0xb5, 1, 0]);
                bytes[42..44].copy_from_slice(&[0, 8]);
                let _ = Frame::decode(&bytes);
            }
        }

        #[test]
        fn impossible_fields_are_refused_even_with_a_good_check(at in 32usize..44, value: u8) {
            let (_, mut bytes) = frames(256, &[1, 6], Totals::default(), &cells(512, 3)).remove(3);
            prop_assume!(bytes[at] != value);
            bytes[at] = value;
            let end = bytes.len() - 8;
            if Frame::decode(&bytes).is_err_and(|error| matches!(error, FrameError::Check { .. })) {
                let good = check(&bytes[16..end], check_start(Role::Receiver as u8));
                bytes[end..].copy_from_slice(&good.to_be_bytes());
            }
            prop_assert!(Frame::decode(&bytes).is_err());
        }
    }

    #[test]
    fn every_single_bit_error_and_every_cut_is_refused() {
        for (_, bytes) in frames(16, &[2], Totals::default(), &cells(16, 1)) {
            for bit in 12 * 8..bytes.len() * 8 {
                let mut broken = bytes.clone();
                broken[bit / 8] ^= 0x80 >> (bit % 8);
                assert!(Frame::decode(&broken).is_err(), "bit {bit}");
            }
            for length in 0..bytes.len() {
                assert!(
                    matches!(Frame::decode(&bytes[..length]), Err(FrameError::Truncated(..))),
                    "{length} bytes"
                );
            }
        }
    }

    #[test]
    fn every_burst_of_63_bits_is_refused_and_longer_ones_need_not_be() {
        let (_, bytes) = frames(8, &[2], Totals::default(), &cells(8, 1)).remove(0);
        let flip = |bytes: &mut [u8], bit: usize| bytes[bit / 8] ^= 0x80 >> (bit % 8);
        for first in 16 * 8..bytes.len() * 8 - 64 {
            for length in 2..=63 {
                // The ends of the burst and noise in between.
                let mut broken = bytes.clone();
                let noise = xxhash_rust::xxh3::xxh3_64(&[first as u8, (first >> 8) as u8, length as u8]);
                for bit in (0..length).filter(|&bit| bit == 0 || bit == length - 1 || noise >> bit & 1 == 1) {
                    flip(&mut broken, first + bit);
                }
                assert!(Frame::decode(&broken).is_err(), "{length} bits from {first}");
            }
        }
        let mut unnoticed = bytes.clone();
        // A bit, and the one that it is rotated onto in the next word: 64 bits from end to end.
        flip(&mut unnoticed, 8 * 96 + 1);
        flip(&mut unnoticed, 8 * 96 + 64);
        assert!(Frame::decode(&unnoticed).is_ok());
    }

    #[test]
    fn a_frame_with_digests_by_hand() {
        let all = digest_cells(128, 2);
        let (header, bytes) = frames_of(&with_digests(128, &[1]), Totals::default(), &all).remove(1);
        assert_eq!((header.fragments, header.first_row, header.cells), (2, 64, 64));
        assert_eq!(bytes.len(), 96 + 8 * 104 + 24);
        assert_eq!(bytes[40..48], [0, 64, 0, 64, 0, 0x20, 0, 0]);
        // The second block's cells 4 and 5 of 0 to 7: words 6 and 7, digests in word 8.
        let block = &bytes[96 + 104..][..104];
        for (index, place) in [(4, 0), (5, 1)] {
            let cell = all[64 + 8 + index];
            assert_eq!(block[8 * (6 + place)..][..4], cell.count.to_be_bytes());
            assert_eq!(block[8 * (6 + place)..][4..8], cell.sum.to_be_bytes()[4..]);
            assert_eq!(block[64 + 4 * place..][..4], cell.digest.to_be_bytes());
            assert_eq!(block[96 + index], (cell.sum >> 32) as u8);
        }
        let expected = check(&bytes[16..bytes.len() - 8], check_start(Role::Receiver as u8));
        assert_eq!(bytes[bytes.len() - 8..], expected.to_be_bytes());
    }

    #[test]
    fn a_frame_by_hand() {
        let (header, bytes) = frames(8, &[1, 6], Totals::default(), &cells(16, 2)).remove(1);
        assert_eq!(bytes.len(), 96 + 72 + 24);
        assert_eq!(bytes[..12], [0x03, 0x44, 0x45, 0x4c, 0x54, 0x41, 0x02, 0x44, 0x45, 0x4c, 0x54, 0x41]);
        assert_eq!(bytes[12..24], [0x88, 0xb5, 1, 1, 1, 2, 3, 4, 0, 0, 0, 7]);
        assert_eq!(bytes[24..32], header.digest.to_be_bytes());
        assert_eq!(bytes[32..48], [0, 1, 0, 2, 1, 2, 0, 8, 0, 0, 0, 8, 0, 0, 0, 0]);
        assert_eq!(bytes[80..88], [1, 6, 255, 255, 255, 255, 255, 255]);
        let third = cells(16, 2)[8 + 2];
        assert_eq!(bytes[112..116], third.count.to_be_bytes());
        assert_eq!(bytes[116..120], third.sum.to_be_bytes()[4..]);
        assert_eq!(bytes[96 + 64 + 2], third.sum.to_be_bytes()[3]);
        assert_eq!(bytes[168..184], [0; 16]);
    }
}
