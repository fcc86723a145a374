//! The Lossy Difference Aggregator: banks of rows of cells.
//!
//! LDA paper, sections III-B and III-C: a packet that the sampler gives to bank j is counted in one row of it, where
//! its timestamp is added too, and with digests its [digest](crate::sketch::digest). All banks share one row hash, the
//! low bits of the packet's [place](crate::sketch::place).
//!
//! # Test plan
//!
//! Against a hash map keyed by (bank, row), with digests and without, packets that are not sampled among them; overflow
//! of the count is reported, but not of packets that are in no bank.

use crate::sketch::cell::Cell;
use crate::sketch::sampler::{Prefixes, Sampler};
use crate::sketch::synopsis::{Cells, Hashed, Parameters, Registered, Synopsis, read_rows};
use crate::wire::cell;
use crate::wire::shape::{Kind, Shape};
use alloc::boxed::Box;

/// Width of a cell in bits.
pub const CELL_BITS: u16 = cell::bits(0);
/// Width of a cell with its digest sum in bits.
pub const DIGEST_CELL_BITS: u16 = cell::bits(1);

/// What a control frame says of an LDA. Its tables are the banks; its own word holds their prefix lengths, one byte a
/// bank, 255 where there is no bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    /// Rows of each bank: a power of two, 8..=32,768.
    pub rows: usize,
    /// The banks.
    pub prefixes: Prefixes,
    /// Whether cells have digest sums.
    pub has_digests: bool,
}

impl Table {
    /// The table with these parameters.
    pub fn of(parameters: &Parameters) -> Self {
        Table { rows: parameters.rows, prefixes: parameters.prefixes, has_digests: parameters.has_digests }
    }

    /// What a reader of any kind can know of it.
    pub fn shape(&self) -> Shape {
        Shape {
            kind: Kind::LDA,
            tables: self.prefixes.banks() as u8,
            table_cells: self.rows as u32,
            cell_bits: if self.has_digests { DIGEST_CELL_BITS } else { CELL_BITS },
            has_digests: self.has_digests,
            own: [u64::from_be_bytes(self.prefixes.to_bytes())].into(),
        }
    }

    /// The table of this shape.
    ///
    /// # Errors
    ///
    /// The name of the field that contradicts the others.
    pub fn read(shape: &Shape) -> Result<Self, &'static str> {
        let (rows, has_digests) = (shape.table_cells as usize, shape.has_digests);
        let table = |prefixes: &Prefixes| Table { rows, prefixes: *prefixes, has_digests };
        read_rows(shape, |prefixes| table(prefixes).shape()).map(|prefixes| table(&prefixes))
    }
}

/// How the registry knows it.
pub(crate) const LDA: Registered = Registered {
    kind: Kind::LDA,
    name: "lda",
    prefixes: &[1, 6],
    digests_by_default: true,
    remembers_packets: false,
    check: |_| Ok(()),
    new: |parameters| Box::new(Lda::new(parameters)),
    shape: |parameters| Table::of(parameters).shape(),
    read: |shape| Table::read(shape).map(|table| table.prefixes),
};

/// The cells of one measurement point: banks × rows, bank-major. Each class has banks of its own, numbered behind
/// those of the class before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lda {
    table: Table,
    cells: Cells<Cell>,
}

impl Lda {
    /// An LDA with every cell zero.
    pub fn new(parameters: &Parameters) -> Self {
        let table = Table::of(parameters);
        Lda { table, cells: Cells::new(parameters.classes, table.rows * table.prefixes.banks()) }
    }

    /// Counts packets of `class`, each in its row of its bank, if it is in one; true when a count overflowed. Digests are
    /// added if `DIGESTS`.
    #[inline]
    fn count<const DIGESTS: bool>(&mut self, class: usize, sampler: &Sampler, packets: &[Hashed]) -> bool {
        let (rows, mut is_full) = (self.table.rows, false);
        let cells = self.cells.of_class(class);
        for packet in packets {
            // Whether a packet is sampled is random, and a wrong guess at a branch costs more than to add nothing to a cell.
            let (bank, packets) = sampler.bank(packet.place).map_or((0, 0), |bank| (bank, 1));
            let place = bank * rows + (packet.place as usize & (rows - 1));
            if let Some(cell) = cells.get_mut(place) {
                let digest = if DIGESTS { packet.digest } else { 0 };
                is_full |= cell.add_some(packets, packet.time.nanoseconds(), digest);
            }
        }
        is_full
    }

    /// All cells, bank-major.
    pub fn cells(&self) -> &[Cell] {
        self.cells.as_slice()
    }
}

impl Synopsis for Lda {
    fn shape(&self, prefixes: &Prefixes) -> Shape {
        Table { prefixes: *prefixes, ..self.table }.shape()
    }

    #[inline]
    fn add(&mut self, class: usize, sampler: &Sampler, packets: &[Hashed]) -> bool {
        if self.table.has_digests {
            self.count::<true>(class, sampler, packets)
        } else {
            self.count::<false>(class, sampler, packets)
        }
    }

    fn pack(&self, class: usize, first: usize, blocks: &mut [u8]) {
        let bits = self.table.shape().cell_bits;
        self.cells.pack(class, first, bits, blocks);
    }

    fn clear(&mut self) {
        self.cells.clear();
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::configuration::{Configuration, Settings};
    use crate::sketch::digest::PacketDigest;
    use crate::time::Timestamp;
    use std::collections::HashMap;
    use xxhash_rust::xxh3::xxh3_64;

    #[test]
    fn updates_match_a_map_of_rows() {
        updates_match(Settings { rows: 64, ..Settings::default() });
        updates_match(Settings { rows: 64, digest: true, ..Settings::default() });
    }

    fn updates_match(settings: Settings) {
        let configuration = Configuration::new(settings).unwrap();
        let mut lda = Lda::new(&configuration.parameters());
        let sampler = Sampler::new(*configuration.prefixes());
        let mut map: HashMap<(usize, u64), (u32, u64, [u16; 2])> = HashMap::new();
        for i in 0..20_000u64 {
            let hash = xxh3_64(&i.to_le_bytes());
            let time = Timestamp(hash.rotate_left(13));
            let digest = if settings.digest { PacketDigest::new(settings.seed).digest(hash) } else { 0 };
            assert!(!lda.add(0, &sampler, &[Hashed { hash, place: hash as u32, time, digest, flow: 0 }]));
            let Some(bank) = configuration.prefixes().bank(hash as u32) else { continue };
            let entry = map.entry((bank, hash % 64)).or_default();
            entry.0 += 1;
            entry.1 = (entry.1 + (time.0 >> 16)) % (1 << 40);
            entry.2[0] = entry.2[0].wrapping_add((digest >> 16) as u16);
            entry.2[1] = entry.2[1].wrapping_add(digest as u16);
        }
        for bank in 0..2 {
            for (row, cell) in (0..).zip(&lda.cells()[64 * bank..64 * (bank + 1)]) {
                let (count, sum, [high, low]) = map.get(&(bank, row)).copied().unwrap_or_default();
                assert_eq!(*cell, Cell { count, sum, digest: u32::from(high) << 16 | u32::from(low) });
            }
        }
        lda.clear();
        assert!(lda.cells().iter().all(|cell| *cell == Cell::default()));
    }

    #[test]
    fn overflow_of_a_count_is_told() {
        let configuration = Configuration::new(Settings { prefixes: &[1], ..Settings::default() }).unwrap();
        let mut lda = Lda::new(&configuration.parameters());
        let sampler = Sampler::new(*configuration.prefixes());
        let [sampled, other] = [5, 5 | 1 << 31].map(|place| [Hashed { place, ..Hashed::default() }]);
        lda.cells.of_class(0)[5].count = u32::MAX;
        assert!(!lda.add(0, &sampler, &other));
        assert!(lda.add(0, &sampler, &sampled));
        assert!(!lda.add(0, &sampler, &sampled));
        let mut cell = Cell { count: u32::MAX - 1, ..Cell::default() };
        assert!(!cell.add_some(0, 1, 1));
        assert!(!cell.add(1));
        assert!(cell.add_some(1, 1, 8));
        assert_eq!(cell, Cell { count: 0, sum: 2, digest: 8 });
    }
}
