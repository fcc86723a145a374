//! Slices: the stream cut in time at packets that their hash chooses.
//!
//! A packet whose [place](crate::sketch::place) begins with k zeros starts a slice. Both ends cut at the same packets, and nothing
//! is inserted. A *record* holds what its slice is known by: the starting packet's place and time, the packets of the
//! slice, and the sum of their times. Whoever keeps all in order has as many packets in a slice at either end but for those
//! that were lost. A boundary that is lost merges two slices.
//!
//! The number of zeros is the prefix length, and with it goes what a full table does:
//!
//! * **0: as many slices as there is room for.** Boundaries nest: those of k + 1 zeros are among those of k. So a table that
//!   is full asks for one zero more and merges every slice whose start no longer is one into the slice before. It never
//!   overflows, whatever the rate is, and holds at least about half of its records, by chance. Tables that ask for
//!   different numbers of zeros compare at the larger one. A table is read, added and written again: software alone.
//! * **1 to 16: that many zeros, always.** Records are appended and never read, which suits hardware. A full table's last slice
//!   goes on to the interval's end; that the table is full shows it.
//!
//! What comes before the first boundary has no record: it is the totals of the interval less all records.
//!
//! A record has 144 bits, two words of 72 as a row of an [LDA](crate::sketch::lda) has them:
//!
//! | word | bits  | field | meaning |
//! |------|-------|-------|---------|
//! | 0 | 71:40 | place | of the starting packet; zeros first |
//! | 0 | 39:0  | start | its time in nanoseconds, modulo 2^40 |
//! | 1 | 71:40 | count | packets of the slice; none in a record that is not used |
//! | 1 | 39:0  | sum | sum of their times in nanoseconds, modulo 2^40 |
//!
//! A place with z zeros leaves 31 - z bits to tell boundaries apart: of 512 whose places begin with 12 zeros, some one in
//! 1,000 looks like another, and ends there are merged.
//!
//! Kind 7. A table of 2^n rows has half as many records. Its own word holds the prefix length in the first byte,
//! 255 in the others. Kind 8 is an LDA with one table of records behind its banks, filled with the same places; there a
//! boundary has any number of zeros, and slices are merged.
//!
//! # Test plan
//!
//! Against cutting by hand at the number of zeros that the table came to, or at a fixed one; packets and times are all kept
//! or in front of the first record; a full table that is merged by hand to more zeros is the one that was filled so; packets that all look
//! alike; records come out of cells as they went in.

use crate::sketch::cell::{Cell, SUM_MASK};
use crate::sketch::lda::{self, Lda};
use crate::sketch::sampler::{Prefixes, Sampler};
use crate::sketch::synopsis::{Hashed, Parameters, Registered, Synopsis, read_rows};
use crate::wire::cell::WireCell;
use crate::wire::shape::{BLOCK_CELLS, Kind, Shape};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Rows of a record.
pub const RECORD_CELLS: usize = 2;

/// A slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Record {
    /// The starting packet's place.
    pub place: u32,
    /// The starting packet's time in nanoseconds, modulo 2^40.
    pub start: u64,
    /// Packets, at least 1, modulo 2^32.
    pub count: u32,
    /// Sum of their times in nanoseconds, modulo 2^40.
    pub sum: u64,
}

impl Record {
    fn starting_with(packet: &Hashed) -> Self {
        let start = packet.time.nanoseconds() & SUM_MASK;
        Record { place: packet.place, start, count: 1, sum: start }
    }

    /// Zeros that the starting packet's place begins with, 0..=32.
    pub fn zeros(&self) -> u32 {
        self.place.leading_zeros()
    }

    /// Adds what comes behind it; true when the count overflowed.
    fn extend(&mut self, count: u32, sum: u64) -> bool {
        let (count, overflows) = self.count.overflowing_add(count);
        (self.count, self.sum) = (count, self.sum.wrapping_add(sum) & SUM_MASK);
        overflows
    }

    fn to_cells(self) -> [Cell; RECORD_CELLS] {
        [
            Cell { count: self.place, sum: self.start, digest: 0 },
            Cell { count: self.count, sum: self.sum, digest: 0 },
        ]
    }

    fn of_cells([first, second]: &[Cell; RECORD_CELLS]) -> Self {
        Record { place: first.count, start: first.sum, count: second.count, sum: second.sum }
    }
}

/// The records in a table's cells: up to the first that is not used.
pub fn records(cells: &[Cell]) -> Vec<Record> {
    let all = cells.as_chunks::<RECORD_CELLS>().0.iter().map(Record::of_cells);
    all.take_while(|record| record.count > 0).collect()
}

/// Merges slices whose start has fewer than so many zeros into those before. Of those in front of the first that has,
/// nothing is left: they are what comes before the first boundary.
pub fn coarsen(records: &mut Vec<Record>, zeros: u32) -> bool {
    let (mut kept, mut overflows) = (0, false);
    for at in 0..records.len() {
        let record = records[at];
        if record.zeros() >= zeros {
            records[kept] = record;
            kept += 1;
        } else if let Some(before) = kept.checked_sub(1) {
            overflows |= records[before].extend(record.count, record.sum);
        }
    }
    records.truncate(kept);
    overflows
}

/// The records of one class.
#[derive(Clone, Debug, Default)]
struct Cut {
    records: Vec<Record>,
    /// Fewest zeros of a boundary: where slices are merged, those that the full table asks for.
    zeros: u32,
}

impl Cut {
    /// Adds a packet, which starts a slice if it has enough zeros and `may_start` one; true when a count overflowed.
    fn add(&mut self, packet: &Hashed, may_start: bool, most: usize, merges: bool) -> bool {
        let mut overflows = false;
        let own = packet.place.leading_zeros();
        if may_start && own >= self.zeros {
            while merges && self.records.len() >= most && self.zeros <= own {
                self.zeros += 1;
                overflows |= coarsen(&mut self.records, self.zeros);
            }
            if own >= self.zeros && self.records.len() < most {
                self.records.push(Record::starting_with(packet));
                return overflows;
            }
        }
        match self.records.last_mut() {
            Some(last) => last.extend(1, packet.time.nanoseconds() & SUM_MASK) | overflows,
            None => overflows,
        }
    }
}

/// The slices of one measurement point, class by class.
#[derive(Clone, Debug)]
pub struct Slices {
    rows: usize,
    /// Whether a full table asks for more zeros.
    merges: bool,
    classes: Vec<Cut>,
}

impl Slices {
    /// No slice yet.
    pub fn new(parameters: &Parameters) -> Self {
        Slices::merging(parameters, parameters.prefixes.lengths() == [0])
    }

    fn merging(parameters: &Parameters, merges: bool) -> Self {
        let empty = || Cut { records: Vec::with_capacity(parameters.rows / RECORD_CELLS), zeros: 0 };
        Slices { rows: parameters.rows, merges, classes: (0..parameters.classes).map(|_| empty()).collect() }
    }

    /// The records of the first class.
    pub fn records(&self) -> &[Record] {
        self.classes.first().map_or(&[], |cut| &cut.records)
    }

    /// As [`Synopsis::add`], where the sampler says which packets may start slices, or without it all may.
    fn cut(&mut self, class: usize, sampler: Option<&Sampler>, packets: &[Hashed]) -> bool {
        let (most, merges) = (self.rows / RECORD_CELLS, self.merges);
        let Some(cut) = self.classes.get_mut(class) else { return false };
        packets.iter().fold(false, |is_full, packet| {
            let may_start = sampler.is_none_or(|sampler| sampler.bank(packet.place).is_some());
            cut.add(packet, may_start, most, merges) | is_full
        })
    }

    /// A class's table as cells.
    fn cells(&self, class: usize) -> Vec<Cell> {
        let records = self.classes.get(class).map_or(&[][..], |cut| &cut.records);
        let mut cells: Vec<Cell> = records.iter().flat_map(|record| record.to_cells()).collect();
        cells.resize(self.rows, Cell::default());
        cells
    }

    fn empty(&mut self) {
        self.classes.iter_mut().for_each(|cut| {
            cut.records.clear();
            cut.zeros = 0;
        });
    }
}

/// As [`Synopsis::pack`], of a table's cells.
fn pack(cells: &[Cell], first: usize, cell_bits: u16, blocks: &mut [u8]) {
    let cells = cells.get(first..).unwrap_or(&[]);
    let blocks = blocks.chunks_exact_mut(usize::from(cell_bits).max(1));
    for (block, cells) in blocks.zip(cells.as_chunks::<BLOCK_CELLS>().0) {
        Cell::pack(cells, block);
    }
}

impl Synopsis for Slices {
    fn shape(&self, prefixes: &Prefixes) -> Shape {
        shape(self.rows, prefixes)
    }

    fn add(&mut self, class: usize, sampler: &Sampler, packets: &[Hashed]) -> bool {
        self.cut(class, Some(sampler), packets)
    }

    fn pack(&self, class: usize, first: usize, blocks: &mut [u8]) {
        pack(&self.cells(class), first, lda::CELL_BITS, blocks);
    }

    fn clear(&mut self) {
        self.empty();
    }
}

fn shape(rows: usize, prefixes: &Prefixes) -> Shape {
    let table = lda::Table { rows, prefixes: *prefixes, has_digests: false };
    Shape { kind: Kind::SLICES, ..table.shape() }
}

/// How the registry knows it.
pub(crate) const SLICES: Registered = Registered {
    kind: Kind::SLICES,
    name: "slices",
    prefixes: &[0],
    digests_by_default: true,
    remembers_packets: false,
    check: |parameters| match parameters.prefixes.banks() {
        1 => Ok(()),
        _ => Err(
            "there is one kind of boundary; give one prefix length, 0 for as many slices as there is room for",
        ),
    },
    new: |parameters| Box::new(Slices::new(parameters)),
    shape: |parameters| shape(parameters.rows, &parameters.prefixes),
    read: |given| match given.tables {
        1 => read_rows(given, |prefixes| shape(given.table_cells as usize, prefixes)),
        _ => Err("tables"),
    },
};

/// An LDA and slices behind one hash.
#[derive(Clone, Debug)]
struct RowsAndSlices {
    lda: Lda,
    slices: Slices,
    banks: usize,
    cell_bits: u16,
}

impl Synopsis for RowsAndSlices {
    fn shape(&self, prefixes: &Prefixes) -> Shape {
        with_slices(self.lda.shape(prefixes))
    }

    fn add(&mut self, class: usize, sampler: &Sampler, packets: &[Hashed]) -> bool {
        self.lda.add(class, sampler, packets) | self.slices.cut(class, None, packets)
    }

    fn pack(&self, class: usize, first: usize, blocks: &mut [u8]) {
        let rows = self.banks * self.slices.rows;
        let of_rows = rows.saturating_sub(first) / BLOCK_CELLS * usize::from(self.cell_bits);
        let (of_rows, of_slices) = blocks.split_at_mut(of_rows.min(blocks.len()));
        if !of_rows.is_empty() {
            self.lda.pack(class, first, of_rows);
        }
        if !of_slices.is_empty() {
            pack(&self.slices.cells(class), first.saturating_sub(rows), self.cell_bits, of_slices);
        }
    }

    fn clear(&mut self) {
        self.lda.clear();
        self.slices.empty();
    }
}

/// The shape of an LDA with one table of records more.
fn with_slices(lda: Shape) -> Shape {
    Shape { kind: Kind::BOTH, tables: lda.tables + 1, ..lda }
}

/// How the registry knows an LDA with slices.
pub(crate) const BOTH: Registered = Registered {
    kind: Kind::BOTH,
    name: "both",
    prefixes: &[1, 6],
    digests_by_default: true,
    remembers_packets: false,
    check: |_| Ok(()),
    new: |parameters| {
        Box::new(RowsAndSlices {
            lda: Lda::new(parameters),
            slices: Slices::merging(parameters, true),
            banks: parameters.prefixes.banks(),
            cell_bits: lda::Table::of(parameters).shape().cell_bits,
        })
    },
    shape: |parameters| with_slices(lda::Table::of(parameters).shape()),
    read: |given| {
        let tables = given.tables.checked_sub(1).ok_or("tables")?;
        let lda = Shape { kind: Kind::LDA, tables, ..*given };
        lda::Table::read(&lda).map(|table| table.prefixes)
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::{Configuration, Settings};
    use crate::time::Timestamp;
    use alloc::vec;
    use xxhash_rust::xxh3::xxh3_64;

    fn packets(count: u64) -> Vec<Hashed> {
        let packet = |number: u64| {
            let hash = xxh3_64(&number.to_le_bytes());
            let time = Timestamp::from_nanoseconds((1 << 40) - 5000 + 100 * number);
            Hashed { hash, place: hash as u32, digest: (hash >> 32) as u32, time, flow: 0 }
        };
        (0..count).map(packet).collect()
    }

    fn by_hand(packets: &[Hashed], zeros: u32) -> Vec<Record> {
        let mut records: Vec<Record> = vec![];
        for packet in packets {
            let time = packet.time.nanoseconds() % (1 << 40);
            if packet.place.leading_zeros() >= zeros {
                records.push(Record { place: packet.place, start: time, count: 1, sum: time });
            } else if let Some(last) = records.last_mut() {
                last.count += 1;
                last.sum = (last.sum + time) % (1 << 40);
            }
        }
        records
    }

    fn slices(synopsis: Kind, rows: usize, prefixes: &[u8], packets: &[Hashed]) -> Vec<Cell> {
        let configuration =
            Configuration::new(Settings { synopsis, rows, prefixes, ..Settings::default() }).unwrap();
        let mut tables = crate::sketch::registry::synopsis(synopsis, &configuration.parameters());
        let sampler = Sampler::new(*configuration.prefixes());
        packets.chunks(7).for_each(|packets| assert!(!tables.add(0, &sampler, packets)));
        let shape = configuration.shape();
        let mut blocks = vec![0; shape.cells() / BLOCK_CELLS * usize::from(shape.cell_bits)];
        tables.any().pack(0, 0, &mut blocks);
        assert_eq!(crate::sketch::registry::read(&shape), Ok(*configuration.prefixes()));
        blocks.chunks_exact(usize::from(shape.cell_bits)).flat_map(Cell::unpack).collect()
    }

    #[test]
    fn records_are_those_cut_by_hand() {
        for count in [0, 1, 3, 60, 64, 65, 20_000] {
            let packets = packets(count);
            let found = records(&slices(Kind::SLICES, 128, &[0], &packets));
            assert!(found.len() <= 64);
            // The fewest zeros with which there is always room.
            let expected =
                (0..=32).map(|zeros| by_hand(&packets, zeros)).find(|cut| cut.len() <= 64).unwrap();
            assert_eq!(found, expected, "{count} packets");
        }
    }

    #[test]
    fn with_a_prefix_the_last_slice_of_a_full_table_goes_on() {
        for (count, prefix) in [(0, 1), (50, 1), (120, 1), (20_000, 3), (20_000, 8), (20_000, 16)] {
            let packets = packets(count);
            let found = records(&slices(Kind::SLICES, 128, &[prefix], &packets));
            let mut expected = by_hand(&packets, prefix.into());
            let behind = expected.split_off(expected.len().min(64));
            if let Some(last) = expected.last_mut() {
                for slice in &behind {
                    last.count += slice.count;
                    last.sum = (last.sum + slice.sum) % (1 << 40);
                }
            }
            assert_eq!(found, expected, "{count} packets, prefix {prefix}");
        }
    }

    #[test]
    fn both_tables_are_those_of_each() {
        let packets = packets(5000);
        let both = slices(Kind::BOTH, 64, &[1, 6], &packets);
        assert_eq!(both[..128], slices(Kind::LDA, 64, &[1, 6], &packets));
        assert_eq!(both[128..], slices(Kind::SLICES, 64, &[0], &packets));
    }

    #[test]
    fn coarser_tables_are_those_cut_coarser() {
        let packets = packets(3000);
        for zeros in 0..12 {
            let mut fine = by_hand(&packets, 0);
            assert!(!coarsen(&mut fine, zeros));
            assert_eq!(fine, by_hand(&packets, zeros));
        }
    }

    #[test]
    fn packets_that_look_alike_leave_no_slice_rather_than_overflow() {
        for place in [0, 1 << 20, u32::MAX] {
            let packet = Hashed { place, ..Hashed::default() };
            let found = records(&slices(Kind::SLICES, 16, &[0], &vec![packet; 1000]));
            assert!(found.is_empty() || found.len() <= 8, "{found:?}");
        }
    }
}
