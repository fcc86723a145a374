//! An LDA's rows with an identity table beside them, which names the rows that lost or gained packets.
//!
//! Rows of an [LDA](crate::sketch::lda) alone are trusted where counts agree. A row that lost one packet and gained another agrees
//! too, and the difference of two times an interval apart enters the mean. Here the packets of the rows are also
//! in an [identity table](crate::sketch::identity_table), which shows one by one the packets that differ, and a packet's
//! [identifier](crate::sketch::packet_id) says its row. So every row is known to be whole, or to lack or hold known packets.
//!
//! ```text
//!                        table 0: rows              tables 1 and 2: an identity table's cells, two words each
//! place  -> sampled?     ┌───────┬──────────────┐   ┌───────┬──────────────┬───────┬──────────────┐
//! identifier ───┬──────► │ count │ sum of times │   │ count │ sum of checks│ upper │ lower half   │
//!               │        ├───────┼──────────────┤   ├───────┼──────────────┼───────┼──────────────┤
//!               │        │   ... │          ... │   │   ... │          ... │   ... │          ... │
//!               │        └───────┴──────────────┘   └───────┴──────────────┴───────┴──────────────┘
//!               └─ one row, and one cell of each of four parts
//! ```
//!
//! All are words of 72 bits, so that a table of times and a table of identities are drained alike. An identity table's cells need no
//! times of their own, since the rows have them: where a row sums times, they sum checks, modulo 2^40.
//!
//! | word | bits  | field | meaning |
//! |------|-------|-------|---------|
//! | 0 | 71:40 | count | packets, modulo 2^32 |
//! | 0 | 39:0  | checks | sum of their [checks](crate::sketch::packet_id), modulo 2^40 |
//! | 1 | 71:40 | upper | sum of their identifiers' upper halves, each part modulo 2^16 |
//! | 1 | 39:0  | lower | of the lower halves |
//!
//! Of m rows the identity table has m cells, m / 4 in each of its four parts: it shows 0.67 m packets that differ. Part t's cell is the low
//! bits of part t of the identifier, and the row those of its last part. Rows of the place would not do: whoever
//! reads the identifier does not know the seed of the place.
//!
//! Kind 9. Its own word holds the prefix length by which packets are sampled in the first byte, 255 in the others.
//!
//! # Test plan
//!
//! Rows and cells against maps filled by hand, with sampling and without; words come out of frames' blocks as they went in, wherever a
//! frame begins; shapes that contradict themselves.

use crate::sketch::cell::Cell;
use crate::sketch::field_cell::FieldCell;
use crate::sketch::identity_table::{TABLES, row};
use crate::sketch::lda;
use crate::sketch::packet_id::{PARTS, PacketId};
use crate::sketch::sampler::{Prefixes, Sampler};
use crate::sketch::synopsis::{Cells, Hashed, Parameters, Registered, Synopsis, read_rows};
use crate::wire::cell::WireCell;
use crate::wire::shape::{BLOCK_CELLS, Kind, Shape};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Words of an identity table's cell.
pub const WORDS: usize = 2;
/// Tables of words: one of rows, and those of the identity table.
pub const WORD_TABLES: u8 = 1 + WORDS as u8;
/// Fewest rows: each part of the identity table has a quarter as many cells, eight at least.
pub const LEAST_ROWS: usize = TABLES * BLOCK_CELLS;

/// A cell of the identity table: its sum is that of checks, its fields are the identifiers' halves.
pub type CheckedCell = FieldCell<2>;

fn to_words(cell: &CheckedCell) -> [Cell; WORDS] {
    let [upper, lower] = cell.fields;
    [
        Cell { count: cell.count, sum: cell.sum, digest: 0 },
        Cell { count: upper, sum: lower.into(), digest: 0 },
    ]
}

/// Rows, and the identity table's cells, from the words of all tables.
pub fn of_words(words: &[Cell]) -> (&[Cell], Vec<CheckedCell>) {
    let (rows, words) = words.split_at(words.len() / usize::from(WORD_TABLES));
    let cell = |[first, second]: &[Cell; WORDS]| CheckedCell {
        count: first.count,
        sum: first.sum,
        fields: [second.count, second.sum as u32],
    };
    (rows, words.as_chunks().0.iter().map(cell).collect())
}

/// The row of a packet, of 2^n `rows`.
pub fn row_of(halves: [u32; 2], rows: usize) -> usize {
    row(halves, PARTS - 1, rows)
}

/// How the registry knows it.
pub(crate) const LDA_IDENTITY: Registered = Registered {
    kind: Kind::LDA_IDENTITY,
    name: "lda-identity",
    prefixes: &[0],
    digests_by_default: false,
    remembers_packets: false,
    check: |parameters| match parameters.prefixes.banks() {
        _ if parameters.has_digests => Err("its identity table has identifiers; leave out digest"),
        _ if parameters.rows < LEAST_ROWS => {
            Err("a quarter of its rows is a part of its identity table: give 32 rows at least")
        }
        1 => Ok(()),
        _ => Err("its packets are sampled once; give one prefix length, 0 for all packets"),
    },
    new: |parameters| Box::new(RowsAndIdentities::new(parameters)),
    shape: |parameters| shape(parameters.rows, &parameters.prefixes),
    read: |given| match given.own.as_slice() {
        [word] if word << 8 | 0xff == u64::MAX => {
            let prefixes = read_rows(&Shape { tables: 1, ..*given }, |prefixes| Shape {
                tables: 1,
                ..shape(given.table_cells as usize, prefixes)
            })?;
            match given.tables {
                WORD_TABLES if given.table_cells as usize >= LEAST_ROWS => Ok(prefixes),
                WORD_TABLES => Err("table cells"),
                _ => Err("tables"),
            }
        }
        [_] => Err("prefix lengths"),
        _ => Err("header words"),
    },
};

fn shape(rows: usize, prefixes: &Prefixes) -> Shape {
    let table = lda::Table { rows, prefixes: *prefixes, has_digests: false };
    Shape { kind: Kind::LDA_IDENTITY, tables: WORD_TABLES, ..table.shape() }
}

/// The tables of one measurement point, class by class.
#[derive(Clone, Debug)]
pub struct RowsAndIdentities {
    rows: usize,
    id: PacketId,
    times: Cells<Cell>,
    identities: Cells<CheckedCell>,
}

impl RowsAndIdentities {
    /// All cells zero.
    pub fn new(parameters: &Parameters) -> Self {
        let Parameters { rows, classes, .. } = *parameters;
        RowsAndIdentities {
            rows,
            id: PacketId::default(),
            times: Cells::new(classes, rows),
            identities: Cells::new(classes, rows),
        }
    }
}

impl Synopsis for RowsAndIdentities {
    fn shape(&self, prefixes: &Prefixes) -> Shape {
        shape(self.rows, prefixes)
    }

    fn add(&mut self, class: usize, sampler: &Sampler, packets: &[Hashed]) -> bool {
        let mut is_full = false;
        let (times, identities) = (self.times.of_class(class), self.identities.of_class(class));
        for packet in packets.iter().filter(|packet| sampler.bank(packet.place).is_some()) {
            let halves = self.id.halves_of(packet.hash);
            let check = self.id.check_of(packet.hash);
            if let Some(cell) = times.get_mut(row_of(halves, self.rows)) {
                is_full |= cell.add(packet.time.nanoseconds());
            }
            let cells = self.rows / TABLES;
            for part in 0..TABLES {
                if let Some(cell) = identities.get_mut(part * cells + row(halves, part, cells)) {
                    is_full |= cell.add(check.into(), halves);
                }
            }
        }
        is_full
    }

    fn pack(&self, class: usize, first: usize, blocks: &mut [u8]) {
        let blocks = blocks.chunks_exact_mut(lda::CELL_BITS.into());
        let class = class * self.rows;
        for (number, block) in blocks.enumerate() {
            let first = first + number * BLOCK_CELLS;
            let words = match first.checked_sub(self.rows) {
                None => {
                    self.times.as_slice().get(class + first..).and_then(|rows| rows.first_chunk()).copied()
                }
                Some(behind) => {
                    let cells = self.identities.as_slice().get(class + behind / WORDS..);
                    let cells = cells.and_then(|cells| cells.first_chunk::<{ BLOCK_CELLS / WORDS }>());
                    let mut words = [Cell::default(); BLOCK_CELLS];
                    cells.map(|cells| {
                        let both = cells.iter().flat_map(to_words);
                        words.iter_mut().zip(both).for_each(|(slot, word)| *slot = word);
                        words
                    })
                }
            };
            words.into_iter().for_each(|words| Cell::pack(&words, block));
        }
    }

    fn clear(&mut self) {
        self.times.clear();
        self.identities.clear();
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::configuration::{Configuration, Settings};
    use crate::sketch::digest;
    use crate::sketch::registry::{Unreadable, read};
    use crate::time::Timestamp;
    use std::collections::HashMap;
    use std::vec;
    use xxhash_rust::xxh3::xxh3_64;

    #[test]
    fn words_are_those_of_maps() {
        for (prefix, rows) in [(0, 32), (2, 64)] {
            let settings =
                Settings { synopsis: Kind::LDA_IDENTITY, rows, prefixes: &[prefix], ..Settings::default() };
            let parameters = Configuration::new(settings).unwrap().parameters();
            let packets: Vec<Hashed> = (0..9000u64)
                .map(|number| {
                    let hash = xxh3_64(&number.to_le_bytes());
                    Hashed {
                        hash,
                        place: hash as u32,
                        time: Timestamp(hash.rotate_left(13)),
                        ..Hashed::default()
                    }
                })
                .collect();
            let mut tables = RowsAndIdentities::new(&parameters);
            assert!(!tables.add(0, &Sampler::new(parameters.prefixes), &packets));
            let id = PacketId::default();
            let mut times: HashMap<usize, (u32, u64)> = HashMap::new();
            let mut identities: HashMap<usize, CheckedCell> = HashMap::new();
            for packet in packets.iter().filter(|packet| packet.place.leading_zeros() >= prefix.into()) {
                let [upper, lower] = id.halves_of(packet.hash);
                let of_row = times.entry(lower as usize % rows).or_default();
                *of_row = (of_row.0 + 1, (of_row.1 + (packet.time.0 >> 16)) % (1 << 40));
                let cells = rows / 4;
                for (part, low_bits) in [upper >> 16, upper, lower >> 16, lower].into_iter().enumerate() {
                    let cell = identities.entry(part * cells + low_bits as usize % cells).or_default();
                    cell.count += 1;
                    cell.sum = (cell.sum + u64::from(id.check_of(packet.hash))) % (1 << 40);
                    cell.fields = [digest::add(cell.fields[0], upper), digest::add(cell.fields[1], lower)];
                }
            }
            // Whatever a frame begins with.
            for first in (0..3 * rows).step_by(BLOCK_CELLS) {
                let mut blocks = vec![0; (3 * rows - first) / BLOCK_CELLS * 72];
                tables.pack(0, first, &mut blocks);
                let mut words: Vec<Cell> = vec![Cell::default(); first];
                words.extend(blocks.chunks(72).flat_map(Cell::unpack));
                let (found, cells) = of_words(&words);
                assert_eq!((found.len(), cells.len()), (rows, rows));
                for (row, cell) in found.iter().enumerate().skip(first) {
                    assert_eq!((cell.count, cell.sum), times.get(&row).copied().unwrap_or_default());
                }
                for (place, cell) in cells.iter().enumerate().skip(first.saturating_sub(rows) / 2) {
                    assert_eq!(*cell, identities.get(&place).copied().unwrap_or_default());
                }
            }
            tables.clear();
            let mut blocks = vec![1; 3 * rows / BLOCK_CELLS * 72];
            tables.pack(0, 0, &mut blocks);
            assert!(blocks.iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn shapes_that_contradict_themselves_are_not_read() {
        let good = shape(32, &Prefixes::new(&[3]).unwrap());
        assert_eq!(read(&good), Ok(Prefixes::new(&[3]).unwrap()));
        let wrong = |field| Err(Unreadable::Contradiction(field));
        assert_eq!(read(&Shape { tables: 2, ..good }), wrong("tables"));
        assert_eq!(read(&Shape { table_cells: 16, ..good }), wrong("table cells"));
        assert_eq!(read(&Shape { table_cells: 48, ..good }), wrong("table cells"));
        assert_eq!(read(&Shape { cell_bits: 104, ..good }), wrong("cell bits"));
        assert_eq!(read(&Shape { own: [].into(), ..good }), wrong("header words"));
        assert_eq!(read(&Shape { own: [0x0304_ffff_ffff_ffff].into(), ..good }), wrong("prefix lengths"));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let base = Settings { synopsis: Kind::LDA_IDENTITY, prefixes: &[0], ..Settings::default() };
        for settings in [
            Settings { digest: true, ..base },
            Settings { rows: 16, ..base },
            Settings { prefixes: &[0, 3], ..base },
        ] {
            assert!(Configuration::new(settings).is_err());
        }
    }
}
