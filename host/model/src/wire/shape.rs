//! Shape: what every reader of a control frame can know of a synopsis's tables, whatever they count.
//!
//! A synopsis has one or more tables of equally many cells. The *kind* says what a cell counts and which packets are
//! added to it. What a reader of that kind needs besides (the LDA: prefix lengths) is in the kind's own words.
//!
//! # Test plan
//!
//! That of the frames: [`crate::wire::v2`].

/// Which synopsis a table is of: a number of the registry, which only grows. [`registry`](crate::sketch::registry) reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind(pub u8);

impl Kind {
    /// The [Lossy Difference Aggregator](crate::sketch::lda), with packet digests or without.
    pub const LDA: Kind = Kind(1);
    /// [FineComb](crate::sketch::finecomb).
    pub const FINECOMB: Kind = Kind(2);
    /// The [identity table](crate::sketch::identity_table).
    pub const IDENTITY_TABLE: Kind = Kind(3);
    /// [RDA](crate::sketch::rda).
    pub const RDA: Kind = Kind(4);
    /// [sRDA](crate::sketch::rda).
    pub const SRDA: Kind = Kind(5);
    /// No table: a [message](crate::wire::message) of one end to the other. It is no control frame.
    pub const MESSAGE: Kind = Kind(6);
    /// [Slices](crate::sketch::slices).
    pub const SLICES: Kind = Kind(7);
    /// An LDA with [slices](crate::sketch::slices).
    pub const BOTH: Kind = Kind(8);
    /// An LDA with an [identity table](crate::sketch::lda_identity).
    pub const LDA_IDENTITY: Kind = Kind(9);
    /// Rows of [flows](crate::sketch::flow_rows).
    pub const FLOW_ROWS: Kind = Kind(10);
    /// A vector of counters of [flows](crate::sketch::flow_vector).
    pub const FLOW_VECTOR: Kind = Kind(11);
}

impl core::fmt::Display for Kind {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        self.0.fmt(f)
    }
}

/// Cells of a block.
pub const BLOCK_CELLS: usize = 8;
/// Most own words of a kind that is known.
pub const MAX_OWN_WORDS: usize = 16;
/// Most bytes of cells in a frame: with all headers a frame fits a 1500-byte MTU with room for tunnels.
pub const MAX_CELL_BYTES: usize = 1152;

/// A kind's own words, at most [`MAX_OWN_WORDS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OwnWords {
    words: [u64; MAX_OWN_WORDS],
    length: usize,
}

impl<const N: usize> From<[u64; N]> for OwnWords {
    fn from(given: [u64; N]) -> Self {
        const { assert!(N <= MAX_OWN_WORDS) };
        let mut words = [0; MAX_OWN_WORDS];
        words[..N].copy_from_slice(&given);
        OwnWords { words, length: N }
    }
}

impl OwnWords {
    /// Words as they come, unless they are too many.
    pub(crate) fn collect(given: impl ExactSizeIterator<Item = u64>) -> Option<Self> {
        let (mut words, length) = ([0; MAX_OWN_WORDS], given.len());
        words.get_mut(..length)?.iter_mut().zip(given).for_each(|(slot, word)| *slot = word);
        Some(OwnWords { words, length })
    }

    /// The words.
    pub fn as_slice(&self) -> &[u64] {
        &self.words[..self.length]
    }
}

/// A synopsis's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// What they are of.
    pub kind: Kind,
    /// How many there are, 1..=255.
    pub tables: u8,
    /// Cells of each table: a multiple of eight.
    pub table_cells: u32,
    /// Width of a cell in bits, which is the length of a block of eight in bytes: a multiple of eight.
    pub cell_bits: u16,
    /// Whether cells have a [digest sum](crate::sketch::digest).
    pub has_digests: bool,
    /// The kind's own words.
    pub own: OwnWords,
}

impl Shape {
    /// Cells of all tables.
    pub fn cells(&self) -> usize {
        usize::from(self.tables) * self.table_cells as usize
    }

    /// Cells of each frame: as many blocks as fit into [`MAX_CELL_BYTES`], a power of two, but no more than a table
    /// has.
    pub fn frame_cells(&self) -> u16 {
        self.table_cells.min(most_cells(self.cell_bits) as u32) as u16
    }

    /// Frames of an interval: of each table as many as its cells need.
    pub fn fragments(&self) -> u16 {
        let per_table = self.table_cells.div_ceil(u32::from(self.frame_cells()).max(1));
        (per_table * u32::from(self.tables)) as u16
    }
}

/// Most cells of this width in one frame.
pub const fn most_cells(cell_bits: u16) -> usize {
    // Only a hostile frame has cells of width zero.
    let block_bytes = if cell_bits == 0 { 1 } else { cell_bits as usize };
    let mut blocks = 1;
    while 2 * blocks * block_bytes <= MAX_CELL_BYTES {
        blocks *= 2;
    }
    blocks * BLOCK_CELLS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_every_width_stay_below_the_limit() {
        assert_eq!([72, 104, 144, 145, 192].map(most_cells), [128, 64, 64, 32, 32]);
        for bits in 1..=MAX_CELL_BYTES as u16 {
            let bytes = most_cells(bits) / BLOCK_CELLS * usize::from(bits);
            assert!(bytes <= MAX_CELL_BYTES && 2 * bytes > MAX_CELL_BYTES, "{bits} bits: {bytes} bytes");
        }
    }
}
