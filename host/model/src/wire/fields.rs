//! Big-endian numbers at byte offsets.

/// The bytes; what lies outside reads as zero, lengths are checked before.
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
