//! Layout version 1 of the control frame: read for ever, no longer sent.
//!
//! It has one kind, the LDA, and is made of 64-bit words. All numbers are big-endian. Offsets count bytes from the
//! destination MAC address; the FCS is not part of it.
//!
//! | offset | bytes | field | meaning |
//! |--------|-------|-------|---------|
//! | 0      | 6     | destination | [`DESTINATION`](crate::wire::check::DESTINATION) |
//! | 6      | 6     | source | [`SOURCE`](crate::wire::check::SOURCE) |
//! | 12     | 2     | EtherType | 0x88B5, IEEE 802 local experimental |
//! | 14     | 1     | version | 1 |
//! | 15     | 1     | role | 0 sender, 1 receiver; 2 is a [delimiter](crate::wire::delimiter::Delimiter) |
//! | 16     | 4     | segment | number of the measurement segment; class c of a [classifier](crate::packet::classifier) adds c |
//! | 20     | 4     | interval | number of the interval, modulo 2^32 |
//! | 24     | 8     | configuration | identifier of the configuration |
//! | 32     | 2     | fragment | index of this frame in the interval, from 0 |
//! | 34     | 2     | fragments | frames of the interval: banks × ceil(rows / 128), with digests ceil(rows / 64) |
//! | 36     | 1     | bank | the bank of this frame's cells |
//! | 37     | 1     | banks | 1..=8 |
//! | 38     | 2     | rows | rows of each bank |
//! | 40     | 2     | first row | row of this frame's first cell |
//! | 42     | 2     | cells | cells in this frame: min(rows, 128), with digests min(rows, 64) |
//! | 44     | 2     | flags | bits 0 to 5 as in [version 2](crate::wire::v2) |
//! | 46     | 2     | refused ends | interval ends that came too soon and were refused, saturating |
//! | 48     | 8     | packets | measured packets of the interval, unsampled, modulo 2^48 |
//! | 56     | 8     | bytes | their IP octets, unsampled, modulo 2^48 |
//! | 64     | 8     | first time | PTP relative-64 timestamp of the first measured packet, 0 if there was none |
//! | 72     | 8     | last time | of the last measured packet, 0 if there was none |
//! | 80     | 8     | prefix lengths | one byte a bank, 255 where there is no bank |
//! | 88     | 4     | unmeasured | frames that are not IP, or of no class, saturating |
//! | 92     | 4     | bad | frames that the MAC marked bad, saturating |
//! | 96     | 9 × cells | blocks | cells in blocks of eight, 72 bytes each; with digests 13 × cells, 104 bytes each |
//! | 96 + 9 × cells | 16 | tag | room for an authentication tag; zero when there is none |
//! | 112 + 9 × cells | 8 | check | the [check word](crate::wire::check) |
//!
//! [`Cell`](crate::sketch::cell::Cell) describes the blocks. A frame of 128 cells has 1272 bytes, one of 64 cells with
//! digests 952.
//!
//! # Test plan
//!
//! Golden frames (`vectors/frames.hex`); round trip of arbitrary contents, with digests and without; every single-bit
//! error outside the MAC addresses and every burst of up to 63 bits refused; every length cut refused; impossible fields
//! refused under a right check word.

use crate::sketch::lda;
use crate::time::Timestamp;
use crate::wire::cell::WireCell;
use crate::wire::check::first_words;
use crate::wire::fields::Fields;
use crate::wire::header::{
    self, DIGESTS_FLAG, Flags, Frame, FrameError, Header, MAX_CELLS, TRAILER_BYTES, Totals,
};
use crate::wire::shape::{BLOCK_CELLS, Kind, Shape};

/// Version of the layout.
pub const VERSION: u8 = header::VERSIONS[0];
/// Bytes in front of the first cell.
pub const HEADER_BYTES: usize = 96;

/// Length of a frame with this many cells, in bytes.
pub const fn frame_bytes(cells: usize, digests: bool) -> usize {
    let bits = if digests { lda::DIGEST_CELL_BITS } else { lda::CELL_BITS };
    HEADER_BYTES + cells / BLOCK_CELLS * bits as usize + TRAILER_BYTES
}

/// The twelve words in front of the first cell.
pub fn words(header: &Header) -> [u64; HEADER_BYTES / 8] {
    let (totals, shape) = (&header.totals, &header.shape);
    let [first, second] = first_words(VERSION, header.role as u8);
    let digests = if shape.has_digests { DIGESTS_FLAG } else { 0 };
    [
        first,
        second,
        u64::from(header.segment) << 32 | u64::from(header.interval),
        header.configuration,
        u64::from(header.fragment) << 48
            | u64::from(header.fragments) << 32
            | u64::from(header.table) << 24
            | u64::from(shape.tables) << 16
            | u64::from(shape.table_cells),
        u64::from(header.first_cell) << 48
            | u64::from(header.cells) << 32
            | u64::from(totals.flags.to_bits() | digests) << 16
            | u64::from(totals.refused_ends),
        totals.packets,
        totals.bytes,
        totals.first.0,
        totals.last.0,
        shape.own.as_slice().first().copied().unwrap_or_default(),
        u64::from(totals.unmeasured) << 32 | u64::from(totals.bad),
    ]
}

/// Writes a frame into `buffer` and returns its length in bytes.
///
/// # Errors
///
/// [`FrameError::Encode`] when `cells` is not as long as the header says or `buffer` is too short.
pub fn encode<C: WireCell>(header: &Header, cells: &[C], buffer: &mut [u8]) -> Result<usize, FrameError> {
    header::encode_cells(header, words(header).into_iter(), cells, buffer)
}

/// Checks and decodes a frame of this version.
pub(crate) fn decode(bytes: &[u8]) -> Result<Frame<'_>, FrameError> {
    if bytes.len() < HEADER_BYTES + TRAILER_BYTES {
        return Err(FrameError::Truncated(bytes.len(), HEADER_BYTES + TRAILER_BYTES));
    }
    let field = Fields(bytes);
    let (cells, flags) = (field.u16(42), field.u16(44));
    if usize::from(cells) > MAX_CELLS || !usize::from(cells).is_multiple_of(BLOCK_CELLS) {
        return Err(FrameError::Field("cells"));
    }
    let has_digests = flags & DIGESTS_FLAG != 0;
    let length = frame_bytes(usize::from(cells), has_digests);
    let frame = header::whole(bytes, length)?;
    let header = Header {
        role: header::role(field.u8(15))?,
        segment: field.u32(16),
        interval: field.u32(20),
        configuration: field.u64(24),
        shape: Shape {
            kind: Kind::LDA,
            tables: field.u8(37),
            table_cells: field.u16(38).into(),
            cell_bits: if has_digests { lda::DIGEST_CELL_BITS } else { lda::CELL_BITS },
            has_digests,
            own: [field.u64(80)].into(),
        },
        fragment: field.u16(32),
        fragments: field.u16(34),
        table: field.u8(36),
        first_cell: field.u16(40).into(),
        cells,
        point: 0,
        time: None,
        totals: Totals {
            packets: field.u64(48),
            bytes: field.u64(56),
            first: Timestamp(field.u64(64)),
            last: Timestamp(field.u64(72)),
            time_sum: None,
            digest_sum: None,
            unmeasured: field.u32(88),
            bad: field.u32(92),
            refused_ends: field.u16(46),
            ignored_delimiters: 0,
            flags: Flags::from_bits(flags),
        },
        boot_epoch: 0,
        mixing: 0,
        key: 0,
    };
    header.check().map_err(in_words_of_this_version)?;
    Ok(Frame { header, blocks: &frame[HEADER_BYTES..length - TRAILER_BYTES] })
}

/// The name that a field has in this layout.
fn in_words_of_this_version(error: FrameError) -> FrameError {
    match error {
        FrameError::Field("table") => FrameError::Field("bank"),
        FrameError::Field("tables") => FrameError::Field("banks"),
        FrameError::Field("table cells") => FrameError::Field("rows"),
        FrameError::Field("first cell") => FrameError::Field("first row"),
        error => error,
    }
}
