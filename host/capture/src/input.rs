//! The bytes of a capture: decompressed, buffered, and counted for a progress bar.
//!
//! A small file may expand to any length. One that does so beyond what packets can is refused ([`TIMES`], [`FREE`]):
//! what is read of it takes memory and time of whoever reads it. So do its records, of which the shortest have 16 bytes: of these
//! gzip, which expands 1,032 times at most, makes 64 of a byte ([`FREE_RECORDS`]).

use flate2::read::MultiGzDecoder;
use std::io::{self, Cursor, ErrorKind, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How far the file has been read; both in bytes of the file as it is stored, compressed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read so far. Runs ahead of the packets delivered by at most some hundred kilobytes.
    pub consumed: u64,
    /// Bytes there are, where that is known (it is not for a pipe).
    pub total: Option<u64>,
}

/// What is read from the decompressor at once, in bytes.
const CHUNK: usize = 1 << 16;

/// A compressed file may hold so many times its size. Of packets that differ in their times alone, those of 9,000 bytes
/// reach half of it.
const TIMES: u64 = 2_000;
/// So many bytes it may hold whatever its size.
const FREE: u64 = 64 << 20;

/// A compressed file may hold a record for each of its bytes, and so many whatever its size: no two packets differ by less, were it in their
/// times alone.
const FREE_RECORDS: u64 = 4 << 20;

/// A growing window onto the uncompressed bytes.
pub(crate) struct Input {
    reader: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    /// What is buffered and not consumed.
    available: Range<usize>,
    /// Of the first available byte, in the uncompressed capture.
    offset: u64,
    consumed: Arc<AtomicU64>,
    total: Option<u64>,
    is_compressed: bool,
}

impl Input {
    /// Recognises gzip (RFC 1952) and Zstandard (RFC 8878) by their first bytes.
    pub(crate) fn new(raw: impl Read + Send + 'static, total: Option<u64>) -> io::Result<Self> {
        let consumed = Arc::new(AtomicU64::new(0));
        let mut raw = Counting { inner: raw, consumed: Arc::clone(&consumed) };
        let mut magic = Vec::new();
        raw.by_ref().take(4).read_to_end(&mut magic)?;
        let is_gzip = magic.starts_with(&[0x1f, 0x8b]);
        let is_zstd = match magic[..] {
            [0x28, 0xb5, 0x2f, 0xfd] => true,
            // A skippable frame, which may stand before the first one.
            [low, 0x2a, 0x4d, 0x18] => low & 0xf0 == 0x50,
            _ => false,
        };
        let whole = Cursor::new(magic).chain(raw);
        let reader: Box<dyn Read + Send> = if is_gzip {
            Box::new(Expanded {
                inner: MultiGzDecoder::new(whole),
                given: 0,
                consumed: Arc::clone(&consumed),
            })
        } else if is_zstd {
            Box::new(Expanded {
                inner: zstd::Decoder::new(whole)?,
                given: 0,
                consumed: Arc::clone(&consumed),
            })
        } else {
            Box::new(whole)
        };
        Ok(Input {
            reader,
            buffer: Vec::new(),
            available: 0..0,
            offset: 0,
            consumed,
            total,
            is_compressed: is_gzip || is_zstd,
        })
    }

    pub(crate) fn progress(&self) -> Progress {
        Progress { consumed: self.consumed.load(Ordering::Relaxed), total: self.total }
    }

    /// Refuses so many records of a file that cannot hold them.
    pub(crate) fn check_records(&self, records: u64) -> io::Result<()> {
        if self.is_compressed && records > FREE_RECORDS && records > self.progress().consumed {
            return Err(ErrorKind::FileTooLarge.into());
        }
        Ok(())
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn available(&self) -> &[u8] {
        &self.buffer[self.available.clone()]
    }

    /// Makes at least `wanted` bytes available; false if the capture ends before.
    ///
    /// The buffer grows only as data arrive: a length field that lies costs no memory.
    pub(crate) fn fill(&mut self, wanted: usize) -> io::Result<bool> {
        while self.available.len() < wanted {
            if self.available.is_empty() {
                self.available = 0..0;
            }
            if self.available.end == self.buffer.len() {
                if self.available.start > 0 {
                    self.buffer.copy_within(self.available.clone(), 0);
                    self.available = 0..self.available.len();
                } else {
                    self.buffer.resize((2 * self.buffer.len()).max(CHUNK), 0);
                }
            }
            match self.reader.read(&mut self.buffer[self.available.end..]) {
                Ok(0) => return Ok(false),
                Ok(count) => self.available.end += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Passes over `count` available bytes and says where in the buffer they are until the next fill.
    pub(crate) fn consume(&mut self, count: usize) -> Range<usize> {
        let start = self.available.start;
        self.available.start = (start + count).min(self.available.end);
        self.offset += self.available.start.abs_diff(start) as u64;
        start..self.available.start
    }

    /// Passes over `count` bytes without keeping them; false if the capture ends before.
    pub(crate) fn skip(&mut self, count: usize) -> io::Result<bool> {
        let start = self.offset;
        let mut left = count;
        while left > 0 {
            let part = left.min(CHUNK);
            if !self.fill(part)? {
                // The place to be reported is where the incomplete record begins.
                self.offset = start;
                return Ok(false);
            }
            self.consume(part);
            left -= part;
        }
        Ok(true)
    }

    /// What `consume` has passed over, as long as nothing has been filled since.
    pub(crate) fn consumed(&self, range: Range<usize>) -> &[u8] {
        self.buffer.get(range).unwrap_or(&[])
    }

    #[cfg(test)]
    pub(crate) fn memory(&self) -> usize {
        self.buffer.capacity()
    }
}

/// Counts the bytes that pass.
struct Counting<R> {
    inner: R,
    consumed: Arc<AtomicU64>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.consumed.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// What comes of a decompressor, within bounds.
struct Expanded<R> {
    inner: R,
    /// Bytes so far.
    given: u64,
    /// Bytes of the file that they were made of.
    consumed: Arc<AtomicU64>,
}

impl<R: Read> Read for Expanded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = self.consumed.load(Ordering::Relaxed).saturating_mul(TIMES).max(FREE);
        if self.given > most {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let count = self.inner.read(buffer)?;
        self.given += count as u64;
        Ok(count)
    }
}
