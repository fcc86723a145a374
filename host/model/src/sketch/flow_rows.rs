//! Rows of flows: an [LDS](crate::sketch::lds) as a measurement point keeps it, in software and in hardware.
//!
//! IMC 2011, section 3: four rows, in each of which a flow has four neighbouring cells, and a packet is in one of them. Flows are five-tuples. A cell is an
//! LDA's with its digest sum, of 104 bits:
//!
//! ```text
//! flow's hash ──┬── rounds of row 0 ── base ──┐
//!               ├── rounds of row 1 ── base ──┤                 row 0   . . . . [f f f f] . . .
//!               ├── rounds of row 2 ── base ──┼── + ── column   row 1   [f f f f] . . . . . . .
//!               └── rounds of row 3 ── base ──┤    modulo       row 2   f] . . . . . . . [f f f
//! packet's place, bits 15:14 ──────── offset ─┘    the row      row 3   . . [f f f f] . . . . .
//! ```
//!
//! Placement is that of [`Lds`](crate::sketch::lds::Lds), with k = [`WIDTH`]. All rows take the same sample of packets: the sampler's. How many cells a
//! row has is a power of two, so that its column is a sum of as many bits as a row's number has.
//!
//! Kind 10. Its own word holds the prefix length by which packets are sampled in the first byte, 255 in the others.
//!
//! # Cost
//!
//! 52 octets for four cells. An update reads and writes four of them; the flow's hash is a second hash for each packet.
//!
//! # Test plan
//!
//! Cells are those of an LDS fed with the same packets, with sampling and without; a count that overflows; shapes that contradict themselves. Flows
//! of packets: [`crate::point`].

use crate::sketch::cell::Cell;
use crate::sketch::lda;
use crate::sketch::lds::{Bases, LdsParameters, offset};
use crate::sketch::sampler::{Prefixes, Sampler};
use crate::sketch::synopsis::{Cells, Hashed, MIN_ROWS, Parameters, Registered, Synopsis, read_rows};
use crate::wire::shape::{Kind, Shape};
use alloc::boxed::Box;

/// R, rows.
pub const ROWS: usize = 4;
/// k, cells of a flow in each.
pub const WIDTH: usize = 4;
const _: () = assert!(WIDTH <= MIN_ROWS);

/// How the registry knows it.
pub(crate) const FLOW_ROWS: Registered = Registered {
    kind: Kind::FLOW_ROWS,
    name: "lds",
    prefixes: &[0],
    digests_by_default: false,
    remembers_packets: false,
    check: |parameters| match parameters.prefixes.banks() {
        _ if parameters.has_digests => Err("its cells have digests always; leave out digest"),
        1 => Ok(()),
        _ => Err("its packets are sampled once; give one prefix length, 0 for all packets"),
    },
    new: |parameters| Box::new(FlowRows::new(parameters)),
    shape: |parameters| shape(parameters.rows, &parameters.prefixes),
    read: |given| match given.own.as_slice() {
        [word] if word << 8 | 0xff == u64::MAX => read_rows(&Shape { tables: 1, ..*given }, |prefixes| {
            Shape { tables: 1, ..shape(given.table_cells as usize, prefixes) }
        })
        .and_then(|prefixes| if usize::from(given.tables) == ROWS { Ok(prefixes) } else { Err("tables") }),
        [_] => Err("prefix lengths"),
        _ => Err("header words"),
    },
};

fn shape(columns: usize, prefixes: &Prefixes) -> Shape {
    let table = lda::Table { rows: columns, prefixes: *prefixes, has_digests: true };
    Shape { kind: Kind::FLOW_ROWS, tables: ROWS as u8, ..table.shape() }
}

/// The column of a packet in row `row` of 2^n columns.
fn column(bases: &Bases, row: usize, packet: &Hashed, columns: usize) -> Option<usize> {
    let base = bases.column(row, packet.flow, columns)?;
    Some((base + offset(packet.place, WIDTH)) & (columns - 1))
}

/// What rows with this prefix length and so many columns are as an [LDS](crate::sketch::lds::Lds).
pub fn parameters(columns: usize, prefixes: &Prefixes, seed: u64) -> LdsParameters {
    let prefix = prefixes.lengths().first().copied().unwrap_or(0);
    LdsParameters { columns, width: WIDTH, prefixes: [prefix; ROWS].into(), has_octets: false, seed }
}

/// The cells of one measurement point: row by row, class by class.
#[derive(Clone, Debug)]
pub struct FlowRows {
    columns: usize,
    bases: Bases,
    cells: Cells<Cell>,
}

impl FlowRows {
    /// All cells zero.
    pub fn new(parameters: &Parameters) -> Self {
        let Parameters { rows: columns, classes, seed, .. } = *parameters;
        FlowRows { columns, bases: Bases::new(ROWS, seed), cells: Cells::new(classes, ROWS * columns) }
    }
}

impl Synopsis for FlowRows {
    fn shape(&self, prefixes: &Prefixes) -> Shape {
        shape(self.columns, prefixes)
    }

    fn add(&mut self, class: usize, sampler: &Sampler, packets: &[Hashed]) -> bool {
        let (columns, mut is_full) = (self.columns, false);
        let cells = self.cells.of_class(class);
        for packet in packets.iter().filter(|packet| sampler.bank(packet.place).is_some()) {
            for (row, cells) in cells.chunks_exact_mut(columns).enumerate() {
                let cell = column(&self.bases, row, packet, columns).and_then(|column| cells.get_mut(column));
                if let Some(cell) = cell {
                    is_full |= cell.add_some(1, packet.time.nanoseconds(), packet.digest);
                }
            }
        }
        is_full
    }

    fn pack(&self, class: usize, first: usize, blocks: &mut [u8]) {
        self.cells.pack(class, first, lda::DIGEST_CELL_BITS, blocks);
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
    use crate::sketch::cell::SUM_MASK;
    use crate::sketch::digest::PacketDigest;
    use crate::sketch::lds::{FlowPacket, Lds};
    use crate::sketch::place::Placement;
    use crate::sketch::registry::{Unreadable, read};
    use crate::time::Timestamp;
    use std::vec::Vec;
    use xxhash_rust::xxh3::xxh3_64;

    const SEED: u64 = 5;

    fn configuration(rows: usize, prefixes: &[u8]) -> Configuration {
        let settings =
            Settings { synopsis: Kind::FLOW_ROWS, rows, seed: SEED, prefixes, ..Settings::default() };
        Configuration::new(settings).unwrap()
    }

    fn packets() -> Vec<Hashed> {
        let (placement, digest) = (Placement::new(SEED), PacketDigest::new(SEED));
        let packet = |number: u64| {
            let hash = xxh3_64(&number.to_le_bytes());
            Hashed {
                hash,
                place: placement.place(hash),
                digest: digest.digest(hash),
                time: Timestamp(hash.rotate_left(13)),
                // Some flows have most packets, most flows have one.
                flow: xxh3_64(&(number >> (number % 9)).to_le_bytes()),
            }
        };
        (0..5000).map(packet).collect()
    }

    #[test]
    fn cells_are_those_of_an_lds() {
        for (prefix, rows) in [(0, 8), (0, 256), (3, 64)] {
            let configuration = configuration(rows, &[prefix]);
            let mut lds = Lds::new(parameters(rows, configuration.prefixes(), SEED)).unwrap();
            let mut tables = FlowRows::new(&configuration.parameters());
            assert!(!tables.add(0, &Sampler::new(*configuration.prefixes()), &packets()));
            for Hashed { hash, time, flow, .. } in packets() {
                let nanoseconds = time.nanoseconds();
                lds.add(&FlowPacket { flow, packet: hash, nanoseconds, octets: 0, weight: 1 });
            }
            assert_eq!(lds.cells().len(), tables.cells.as_slice().len());
            for (expected, found) in lds.cells().iter().zip(tables.cells.as_slice()) {
                let expected =
                    Cell { count: expected.count, sum: expected.sum & SUM_MASK, digest: expected.digest };
                assert_eq!(*found, expected);
            }
            tables.clear();
            assert!(tables.cells.as_slice().iter().all(|cell| *cell == Cell::default()));
        }
    }

    #[test]
    fn a_count_that_overflows_is_said() {
        let configuration = configuration(8, &[0]);
        let (mut tables, sampler) =
            (FlowRows::new(&configuration.parameters()), Sampler::new(*configuration.prefixes()));
        assert!(!tables.add(0, &sampler, &[Hashed::default()]));
        tables.cells.of_class(0).iter_mut().for_each(|cell| cell.count *= u32::MAX);
        assert!(tables.add(0, &sampler, &[Hashed::default()]));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let settings = Settings { synopsis: Kind::FLOW_ROWS, prefixes: &[0], ..Settings::default() };
        assert!(Configuration::new(settings).is_ok());
        for refused in [
            Settings { digest: true, ..settings },
            Settings { prefixes: &[0, 3], ..settings },
            Settings { tables: Some(4), ..settings },
        ] {
            assert!(Configuration::new(refused).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn shapes_that_contradict_themselves_are_not_read() {
        let shape = configuration(64, &[2]).shape();
        assert_eq!(read(&shape), Ok(Prefixes::new(&[2]).unwrap()));
        let lengths = shape.own.as_slice()[0];
        for (wrong, field) in [
            (Shape { tables: 3, ..shape }, "tables"),
            (Shape { table_cells: 24, ..shape }, "table cells"),
            (Shape { cell_bits: 72, ..shape }, "cell bits"),
            (Shape { has_digests: false, ..shape }, "prefix lengths"),
            (Shape { own: [lengths, 4].into(), ..shape }, "header words"),
            (Shape { own: [lengths & !0xff].into(), ..shape }, "prefix lengths"),
        ] {
            assert_eq!(read(&wrong), Err(Unreadable::Contradiction(field)), "{wrong:?}");
        }
    }
}
