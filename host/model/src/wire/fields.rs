//! Big-endian numbers at byte offsets.

/// The bytes; a number that does not lie inside reads as zero, lengths are checked before.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl Fields<'_> {
    fn bytes<const N: usize>(&self, offset: usize) -> [u8; N] {
        self.0.get(offset..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
    }

    pub(crate) fn u8(&self, offset: usize) -> u8 {
        u8::from_be_bytes(self.bytes(offset))
    }

    pub(crate) fn u16(&self, offset: usize) -> u16 {
        u16::from_be_bytes(self.bytes(offset))
    }

    pub(crate) fn u32(&self, offset: usize) -> u32 {
        u32::from_be_bytes(self.bytes(offset))
    }

    pub(crate) fn u64(&self, offset: usize) -> u64 {
        u64::from_be_bytes(self.bytes(offset))
    }
}
