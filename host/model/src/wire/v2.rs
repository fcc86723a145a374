//! Layout version 2 of the control frame: one layout for the tables of every synopsis.
//!
//! It is made of 64-bit words, so that hardware emits one a beat. All numbers are big-endian. Words count from the
//! destination MAC address; the FCS is not part of it. A reader that does not know the kind still reads every field
//! up to word 15, so that loss stays exact where the table cannot be read.
//!
//! | word | bits  | field | meaning |
//! |------|-------|-------|---------|
//! | 0, 1 | 48    | destination | [`DESTINATION`](crate::wire::check::DESTINATION) |
//! |      | 48    | source | [`SOURCE`](crate::wire::check::SOURCE) |
//! |      | 16    | EtherType | 0x88B5, IEEE 802 local experimental |
//! |      | 8     | version | 2 |
//! |      | 8     | role | 0 sender, 1 receiver; 3 is a reference packet, whose layout is another |
//! | 2    | 63:32 | segment | number of the measurement segment; class c of a [classifier](crate::packet::classifier) adds c |
//! |      | 31:0  | interval | number of the interval, modulo 2^32 |
//! | 3    | 63:0  | configuration | its identifier, [`Configuration::id`](crate::configuration::Configuration::id) |
//! | 4    | 63:48 | fragment | index of this frame in the interval, from 0 |
//! |      | 47:32 | fragments | frames of the interval, equally many for each table |
//! |      | 31:24 | kind | what the tables are of, [`Kind`] |
//! |      | 23:16 | table | the table of this frame's cells |
//! |      | 15:8  | tables | 1..=255; for the LDA its banks |
//! |      | 7:0   | header words | words in front of the first block, all included |
//! | 5    | 63:32 | first cell | index in its table of this frame's first cell |
//! |      | 31:16 | cells | cells in this frame, a multiple of eight: see below |
//! |      | 15:0  | cell bits | width of a cell, a multiple of eight, and so the bytes of a block |
//! | 6    | 63:32 | point | identifier of the measurement point |
//! |      | 31:16 | flags | see below |
//! |      | 15:0  | refused ends | interval ends that came too soon and were refused, saturating: while the interval before was still being drained, or before the least interval was over |
//! | 7    | 63:0  | packets | measured packets of the interval, unsampled, modulo 2^48 |
//! | 8    | 63:0  | bytes | their IP octets, unsampled, modulo 2^48 |
//! | 9    | 63:0  | first time | PTP relative-64 timestamp of the first measured packet, 0 if there was none |
//! | 10   | 63:0  | last time | of the last measured packet, 0 if there was none |
//! | 11   | 63:32 | unmeasured | frames that are not IP, or of no class, saturating |
//! |      | 31:0  | bad | frames that the MAC marked bad, saturating |
//! | 12   | 63:56 | time base | of the seconds: 0 none, 1 TAI, 2 Unix |
//! |      | 55:48 | reserved | zero; a reader ignores it |
//! |      | 47:0  | seconds | the interval's end in whole seconds; 0 without a time base |
//! | 13   | 63:0  | time sum | the 48-bit nanoseconds of all measured packets' timestamps, unsampled, modulo 2^64 |
//! | 14   | 63:32 | digest sum | the [first digests](crate::sketch::digest::first) of all measured packets, unsampled, each half modulo 2^16; zero without flag bit 6 |
//! |      | 31:0  | mixing | identifier of the [mixing](crate::sketch::mixing); zero for the design's own, and without |
//! | 15   | 63:32 | boot epoch | starts of the point; zero if it does not count them |
//! |      | 31:16 | key | identifier of the [authentication](crate::wire::authentication) key; zero without |
//! |      | 15:0  | ignored delimiters | delimiters of this measurement in the interval that were not due, saturating |
//! | 16.. |       | own words | the kind's own, up to `header words`; LDA: one word of prefix lengths, one byte a bank, 255 where there is no bank |
//! |      |       | blocks | cells in blocks of eight, `cell bits` bytes each: the words of the cells, then the rest of the eight cells |
//! |      | 128   | tag | authentication tag; zero without a key |
//! | last | 63:0  | check | the [check word](crate::wire::check) |
//!
//! Tables are cut into frames of as many cells as fit into [`MAX_CELL_BYTES`](crate::wire::shape::MAX_CELL_BYTES), a
//! power of two, or as a table has. LDA: 128, with digests 64, its blocks as [`Cell`](crate::sketch::cell::Cell) says. A
//! frame of 128 cells has 1312 bytes, one of 64 cells with digests 992: it fits a 1500-byte MTU with room for tunnels.
//!
//! | flag | name | meaning |
//! |------|------|---------|
//! | bit 0 | saturated | a packet count or a total overflowed |
//! | bit 1 | overrun | an interval end came too soon and was refused, as counted in `refused ends`: this interval is longer than asked for |
//! | bit 2 | clock | the clock was not locked at some moment of the interval |
//! | bit 3 | timed | the clock, a pin or a register, not a delimiter in the stream, started or ended the interval |
//! | bit 4 | gap | the delimiter at the end of the interval is not the one that was due: one before it is missing, and the interval covers more than its number says; or the interval began with a reset |
//! | bit 5 | digests | cells have digest sums: set in every frame of such a configuration |
//! | bit 6 | digest sum | word 14 holds the sum of all packets' digests; points set it where cells have digests of any kind, a reader goes by this bit alone |
//!
//! Other flags are reserved; a reader ignores them.
//!
//! # Sums of all packets
//!
//! Where nothing is lost, the difference of the two ends' time sums is the exact sum of all delays: modulo 2^64 if no
//! packet crossed a wrap of the 48-bit nanoseconds (78 h) between the points, modulo 2^48 always. Equal digest sums say
//! that the packets are the same ones.
//!
//! # Test plan
//!
//! Golden frames (`vectors/frames-v2.hex`); frames by hand; round trip of arbitrary contents, with digests and without,
//! with every optional field and without; every single-bit error outside the MAC addresses, every burst of up to 63 bits
//! and every length cut refused; hostile fields under a right check word: refused or decoded to what they say, never a
//! panic; an unknown kind hands out its totals, whatever its own words and cells; reserved bits are ignored.

use crate::time::{AbsoluteTime, Timestamp};
use crate::wire::cell::WireCell;
use crate::wire::check::first_words;
use crate::wire::fields::Fields;
use crate::wire::header::{self, DIGESTS_FLAG, Flags, Frame, FrameError, Header, TRAILER_BYTES, Totals};
use crate::wire::shape::{BLOCK_CELLS, Kind, MAX_OWN_WORDS, OwnWords, Shape};

/// Version of the layout.
pub const VERSION: u8 = header::VERSIONS[1];
pub use crate::wire::header::FIXED_WORDS;
/// The bit of the flags field that says that the frame has the sum of all packets' digests.
pub const DIGEST_SUM_FLAG: u16 = 1 << 6;

/// Words in front of the first cell; those behind [`FIXED_WORDS`] are the kind's own.
#[derive(Clone, Debug)]
pub struct Words {
    words: [u64; FIXED_WORDS + MAX_OWN_WORDS],
    next: usize,
    length: usize,
}

impl Iterator for Words {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let word = self.words[..self.length].get(self.next).copied()?;
        self.next += 1;
        Some(word)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.length - self.next, Some(self.length - self.next))
    }
}

impl ExactSizeIterator for Words {}

/// The words in front of the first cell.
pub fn words(header: &Header) -> Words {
    let (totals, shape) = (&header.totals, &header.shape);
    let [first, second] = first_words(VERSION, header.role as u8);
    let own = shape.own.as_slice();
    let length = FIXED_WORDS + own.len();
    let flags = totals.flags.to_bits()
        | if shape.has_digests { DIGESTS_FLAG } else { 0 }
        | if totals.digest_sum.is_some() { DIGEST_SUM_FLAG } else { 0 };
    let mut words = [0; FIXED_WORDS + MAX_OWN_WORDS];
    words[..FIXED_WORDS].copy_from_slice(&[
        first,
        second,
        u64::from(header.segment) << 32 | u64::from(header.interval),
        header.configuration,
        u64::from(header.fragment) << 48
            | u64::from(header.fragments) << 32
            | u64::from(shape.kind.0) << 24
            | u64::from(header.table) << 16
            | u64::from(shape.tables) << 8
            | length as u64,
        u64::from(header.first_cell) << 32 | u64::from(header.cells) << 16 | u64::from(shape.cell_bits),
        u64::from(header.point) << 32 | u64::from(flags) << 16 | u64::from(totals.refused_ends),
        totals.packets,
        totals.bytes,
        totals.first.0,
        totals.last.0,
        u64::from(totals.unmeasured) << 32 | u64::from(totals.bad),
        header.time.map_or(0, AbsoluteTime::to_word),
        totals.time_sum.unwrap_or_default(),
        u64::from(totals.digest_sum.unwrap_or_default()) << 32 | u64::from(header.mixing),
        u64::from(header.boot_epoch) << 32
            | u64::from(header.key) << 16
            | u64::from(totals.ignored_delimiters),
    ]);
    words[FIXED_WORDS..length].copy_from_slice(own);
    Words { words, next: 0, length }
}

/// Length of an LDA's frame with this many cells, in bytes.
pub const fn frame_bytes(cells: usize, digests: bool) -> usize {
    use crate::sketch::lda;
    let bits = if digests { lda::DIGEST_CELL_BITS } else { lda::CELL_BITS };
    8 * (FIXED_WORDS + 1) + cells / BLOCK_CELLS * bits as usize + TRAILER_BYTES
}

/// Writes a frame into `buffer` and returns its length in bytes.
///
/// # Errors
///
/// [`FrameError::Encode`] when `cells` is not as long as the header says or `buffer` is too short.
pub fn encode<C: WireCell>(header: &Header, cells: &[C], buffer: &mut [u8]) -> Result<usize, FrameError> {
    header::encode_cells(header, words(header), cells, buffer)
}

/// As [`encode`], with the blocks by `pack`; none if the buffer is too short.
pub(crate) fn encode_blocks(
    header: &Header,
    buffer: &mut [u8],
    pack: impl FnOnce(&mut [u8]),
) -> Option<usize> {
    header::assemble(header, words(header), buffer, pack)
}

/// How long a frame of this version says that it is, in bytes, by its first six words.
pub fn length(bytes: &[u8]) -> usize {
    let field = Fields(bytes);
    let blocks = usize::from(field.u16(44)) / BLOCK_CELLS;
    8 * usize::from(field.u8(39)) + blocks * usize::from(field.u16(46)) + TRAILER_BYTES
}

/// Checks and decodes a frame of this version.
pub(crate) fn decode(bytes: &[u8]) -> Result<Frame<'_>, FrameError> {
    let frame = read(bytes)?;
    frame.header.check()?;
    Ok(frame)
}

/// Decodes a frame of this version whose check word is right, whatever its tables are.
pub(crate) fn read(bytes: &[u8]) -> Result<Frame<'_>, FrameError> {
    let least = 8 * FIXED_WORDS + TRAILER_BYTES;
    if bytes.len() < least {
        return Err(FrameError::Truncated(bytes.len(), least));
    }
    let field = Fields(bytes);
    let (header_words, cells, cell_bits) = (usize::from(field.u8(39)), field.u16(44), field.u16(46));
    if header_words < FIXED_WORDS {
        return Err(FrameError::Field("header words"));
    }
    if !usize::from(cells).is_multiple_of(BLOCK_CELLS) {
        return Err(FrameError::Field("cells"));
    }
    if !cell_bits.is_multiple_of(8) {
        return Err(FrameError::Field("cell bits"));
    }
    let front = 8 * header_words;
    let frame = header::whole(bytes, length(bytes))?;
    let behind = frame.len() - TRAILER_BYTES;
    let own = frame[8 * FIXED_WORDS..front].chunks_exact(8).map(|word| Fields(word).u64(0));
    let (flags, tables, fragments) = (field.u16(52), field.u8(38), field.u16(34));
    let header = Header {
        role: header::role(field.u8(15))?,
        segment: field.u32(16),
        interval: field.u32(20),
        configuration: field.u64(24),
        shape: Shape {
            kind: Kind(field.u8(36)),
            tables,
            table_cells: fragments
                .checked_div(tables.into())
                .map_or(0, |frames| u32::from(frames) * u32::from(cells)),
            cell_bits,
            has_digests: flags & DIGESTS_FLAG != 0,
            // No known kind has that many.
            own: OwnWords::collect(own).unwrap_or([].into()),
        },
        fragment: field.u16(32),
        fragments,
        table: field.u8(37),
        first_cell: field.u32(40),
        cells,
        point: field.u32(48),
        time: AbsoluteTime::from_word(field.u64(96)),
        totals: Totals {
            packets: field.u64(56),
            bytes: field.u64(64),
            first: Timestamp(field.u64(72)),
            last: Timestamp(field.u64(80)),
            time_sum: Some(field.u64(104)),
            digest_sum: (flags & DIGEST_SUM_FLAG != 0).then(|| field.u32(112)),
            unmeasured: field.u32(88),
            bad: field.u32(92),
            refused_ends: field.u16(54),
            ignored_delimiters: field.u16(126),
            flags: Flags::from_bits(flags),
        },
        boot_epoch: field.u32(120),
        key: field.u16(124),
        mixing: field.u32(116),
    };
    Ok(Frame { header, blocks: &frame[front..behind] })
}
