//! What control frames hold, whatever their layout, and how one is put together and taken apart.
//!
//! # Test plan
//!
//! That of the layouts: [`crate::wire::v1`], [`crate::wire::v2`].

use crate::configuration::Configuration;
use crate::sketch::lda;
use crate::sketch::registry::{self, Unreadable};
use crate::time::{AbsoluteTime, Timestamp};
use crate::wire::cell::WireCell;
use crate::wire::check::ETHERTYPE;
use crate::wire::check::check_word;
use crate::wire::fields::Fields;
use crate::wire::shape::{BLOCK_CELLS, Kind, MAX_CELL_BYTES, MAX_OWN_WORDS, Shape, most_cells};
use alloc::boxed::Box;

/// Versions of the layout that are read; the last one is sent.
pub(crate) const VERSIONS: [u8; 2] = [1, 2];
/// Words in front of the kind's own in version 2.
pub const FIXED_WORDS: usize = 16;
/// Bytes behind the last cell: tag and check word.
pub const TRAILER_BYTES: usize = 24;
/// Most cells of an LDA's frame.
pub const MAX_CELLS: usize = most_cells(lda::CELL_BITS);
/// Most cells of an LDA's frame with digests.
pub const MAX_DIGEST_CELLS: usize = most_cells(lda::DIGEST_CELL_BITS);
/// Longest frame of a known kind in bytes.
pub const MAX_FRAME_BYTES: usize = 8 * (FIXED_WORDS + MAX_OWN_WORDS) + MAX_CELL_BYTES + TRAILER_BYTES;
/// The bit of the flags field that says that cells have digest sums.
pub const DIGESTS_FLAG: u16 = 1 << 5;

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
    /// The clock, a pin or a register, not a delimiter in the stream, started or ended the interval.
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

    /// From the flags field; bit 5 is [`DIGESTS_FLAG`], bit 6 that of the digest sum; the others are reserved and ignored.
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
    /// Sum of the 48-bit nanoseconds of all measured packets, unsampled, modulo 2^64; absent in version 1.
    pub time_sum: Option<u64>,
    /// Sum of the [digests](crate::sketch::digest) of all measured packets, unsampled, each half modulo 2^16; absent in
    /// version 1, and where cells have no digest sums.
    pub digest_sum: Option<u32>,
    /// Frames that are not measured, saturating.
    pub unmeasured: u32,
    /// Frames that the MAC marked bad, saturating.
    pub bad: u32,
    /// Interval ends that came too soon, during a drain or before the least interval was over, and were refused, saturating.
    pub refused_ends: u16,
    /// Delimiters of this measurement that were not due, saturating; zero in version 1.
    pub ignored_delimiters: u16,
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
    /// Identifier of the configuration.
    pub configuration: u64,
    /// The synopsis's tables.
    pub shape: Shape,
    /// Index of this frame in its interval.
    pub fragment: u16,
    /// Frames of the interval.
    pub fragments: u16,
    /// The table of this frame's cells.
    pub table: u8,
    /// Index of this frame's first cell in its table.
    pub first_cell: u32,
    /// Cells in this frame.
    pub cells: u16,
    /// Identifier of the measurement point; zero in version 1.
    pub point: u32,
    /// When the interval ended, if the point knows.
    pub time: Option<AbsoluteTime>,
    /// The interval's own numbers.
    pub totals: Totals,
    /// Starts of the point so far; zero if it does not count them.
    pub boot_epoch: u32,
    /// Identifier of the key; zero without.
    pub key: u16,
    /// Identifier of the [mixing](crate::sketch::mixing) that the interval was counted with; zero for the design's own,
    /// and without.
    pub mixing: u32,
}

impl Header {
    /// The headers of all frames of an interval, in the order of emission: table by table, cell by cell.
    pub fn of_interval(
        configuration: &Configuration,
        role: Role,
        interval: u32,
        totals: Totals,
    ) -> impl Iterator<Item = Header> {
        let shape = configuration.shape();
        let (segment, configuration) = (configuration.segment(), configuration.id());
        let (cells, fragments) = (shape.frame_cells(), shape.fragments());
        let per_table = fragments / u16::from(shape.tables);
        (0..fragments).map(move |fragment| Header {
            role,
            segment,
            interval,
            configuration,
            shape,
            fragment,
            fragments,
            table: (fragment / per_table) as u8,
            first_cell: u32::from(fragment % per_table) * u32::from(cells),
            cells,
            point: 0,
            time: None,
            totals,
            boot_epoch: 0,
            key: 0,
            mixing: 0,
        })
    }

    /// Index of this frame's first cell among all cells of the interval, table by table.
    pub fn cells_before(&self) -> usize {
        usize::from(self.fragment) * usize::from(self.cells)
    }

    /// Refuses frames whose place in the interval is impossible, so that a reader may index by it, and kinds that are
    /// unknown.
    pub(crate) fn check(&self) -> Result<(), FrameError> {
        let (shape, field) = (&self.shape, |name| Err(FrameError::Field(name)));
        if shape.kind == Kind::MESSAGE {
            return field("kind");
        }
        match registry::read(shape) {
            Err(Unreadable::Unknown) => return Err(FrameError::Kind(Box::new(*self))),
            Err(Unreadable::Contradiction(name)) => return field(name),
            Ok(_) => {}
        }
        if self.cells != shape.frame_cells() {
            return field("cells");
        }
        if self.fragments != shape.fragments() {
            return field("fragments");
        }
        if self.fragment >= self.fragments {
            return field("fragment");
        }
        let per_table = self.fragments / u16::from(shape.tables).max(1);
        if u16::from(self.table) != self.fragment / per_table.max(1) {
            return field("table");
        }
        if self.first_cell != u32::from(self.fragment % per_table.max(1)) * u32::from(self.cells) {
            return field("first cell");
        }
        Ok(())
    }
}

/// Why bytes are not a control frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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
    /// A layout that this release does not know.
    #[error("layout version {0}, this release knows {v1} and {v2}: use the same release at both ends", v1 = VERSIONS[0], v2 = VERSIONS[1])]
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
    /// A table of a kind that this release does not know: its cells are not read, but the header's totals are right.
    #[error(
        "synopsis kind {kind} is unknown to this release; its totals are right ({packets} packets): use a later release",
        kind = .0.shape.kind, packets = .0.totals.packets
    )]
    Kind(Box<Header>),
    /// The buffer or the cells handed to the encoder do not fit the header.
    #[error("{0} cells where the header says {1}, or a buffer below {MAX_FRAME_BYTES} bytes")]
    Encode(usize, usize),
}

/// Writes a frame with these words in front of its cells into `buffer`, its blocks by `pack`, and returns its length in
/// bytes; none if the buffer is too short.
pub(crate) fn assemble(
    header: &Header,
    words: impl ExactSizeIterator<Item = u64>,
    buffer: &mut [u8],
    pack: impl FnOnce(&mut [u8]),
) -> Option<usize> {
    let front = 8 * words.len();
    let behind = front + usize::from(header.cells) / BLOCK_CELLS * usize::from(header.shape.cell_bits);
    let length = behind + TRAILER_BYTES;
    let frame = buffer.get_mut(..length)?;
    for (bytes, word) in frame.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    pack(&mut frame[front..behind]);
    frame[behind..].fill(0);
    let check = check_word(&frame[..length - 8]);
    frame[length - 8..].copy_from_slice(&check.to_be_bytes());
    Some(length)
}

/// As [`assemble`], of cells that are at hand.
pub(crate) fn encode_cells<C: WireCell>(
    header: &Header,
    words: impl ExactSizeIterator<Item = u64>,
    cells: &[C],
    buffer: &mut [u8],
) -> Result<usize, FrameError> {
    let (blocks, rest) = cells.as_chunks();
    let wrong = FrameError::Encode(cells.len(), usize::from(header.cells));
    if cells.len() != usize::from(header.cells) || !rest.is_empty() {
        return Err(wrong);
    }
    let pack = |bytes: &mut [u8]| {
        let places = bytes.chunks_exact_mut(usize::from(header.shape.cell_bits).max(1));
        places.zip(blocks).for_each(|(place, block)| C::pack(block, place));
    };
    assemble(header, words, buffer, pack).ok_or(wrong)
}

/// The whole frame at the start of `bytes`, if it is there and its check word is right.
pub(crate) fn whole(bytes: &[u8], length: usize) -> Result<&[u8], FrameError> {
    let frame = bytes.get(..length).ok_or(FrameError::Truncated(bytes.len(), length))?;
    let (found, expected) = (Fields(frame).u64(length - 8), check_word(&frame[..length - 8]));
    if found == expected { Ok(frame) } else { Err(FrameError::Check { found, expected }) }
}

/// A checked control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The header.
    pub header: Header,
    /// The cells in blocks of eight, as long as a cell is wide in bits.
    pub(crate) blocks: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The cells of this frame, from [`Header::first_cell`] of [`Header::table`] on, if they are of this type.
    pub fn cells<C: WireCell + 'a>(&self) -> impl Iterator<Item = C> + 'a {
        self.blocks.chunks_exact(usize::from(self.header.shape.cell_bits).max(1)).flat_map(C::unpack)
    }

    /// The cells as they are packed: blocks of eight.
    pub fn blocks(&self) -> &'a [u8] {
        self.blocks
    }
}

/// The role of control frames with this number.
pub(crate) fn role(number: u8) -> Result<Role, FrameError> {
    match number {
        0 => Ok(Role::Sender),
        1 => Ok(Role::Receiver),
        _ => Err(FrameError::Field("role")),
    }
}
