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
//! 52 octets for four cells. An update reads and writes four of them; the flow's hash is a second hash for each packet. In software, 16 octets a
//! cell and packets sixteen at a time: `cargo bench -p deltaline-model --bench packet -- flows`.
//!
//! # Test plan
//!
//! Cells are those of an LDS fed with the same packets, with sampling and without; a count that overflows; shapes that contradict themselves. Flows
//! of packets: [`crate::point`].

use crate::sketch::cell::{Cell, SUM_MASK};
use crate::sketch::lda;
use crate::sketch::lds::{Bases, FlowCell, LdsParameters, offset};
use crate::sketch::rounds::LANES;
use crate::sketch::sampler::{Prefixes, Sampler};
use crate::sketch::synopsis::{Hashed, MIN_ROWS, Parameters, Registered, Synopsis, read_rows};
use crate::wire::cell::WireCell;
use crate::wire::shape::{BLOCK_CELLS, Kind, Shape};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use multiversion::multiversion;

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

/// What rows with this prefix length and so many columns are as an [LDS](crate::sketch::lds::Lds).
pub fn parameters(columns: usize, prefixes: &Prefixes, seed: u64) -> LdsParameters {
    let prefix = prefixes.lengths().first().copied().unwrap_or(0);
    LdsParameters {
        columns,
        width: WIDTH,
        prefixes: [prefix; ROWS].into(),
        has_octets: false,
        is_scattered: false,
        seed,
    }
}

/// The cells of one measurement point: row by row, class by class. Their sums keep 64 bits, of which frames carry the low 40.
#[derive(Clone, Debug)]
pub struct FlowRows {
    columns: usize,
    bases: Bases,
    cells: Vec<FlowCell>,
}

impl FlowRows {
    /// All cells zero.
    pub fn new(parameters: &Parameters) -> Self {
        let Parameters { rows: columns, classes, seed, .. } = *parameters;
        let cells = vec![FlowCell::default(); classes * ROWS * columns];
        FlowRows { columns, bases: Bases::new(ROWS, seed), cells }
    }
}

impl Synopsis for FlowRows {
    fn shape(&self, prefixes: &Prefixes) -> Shape {
        shape(self.columns, prefixes)
    }

    fn add(&mut self, class: usize, sampler: &Sampler, packets: &[Hashed]) -> bool {
        let per_class = ROWS * self.columns;
        let Some(cells) = self.cells.get_mut(class * per_class..(class + 1) * per_class) else {
            return false;
        };
        let is_sampled = |packet: &Hashed| sampler.bank(packet.place).is_some();
        if let Ok(whole) = packets.try_into()
            && packets.iter().all(is_sampled)
        {
            return add_all(cells, self.columns, &self.bases, whole, LANES);
        }
        // Packets that are not sampled are left out of the batch.
        let mut batch = [Hashed::default(); LANES];
        let (mut length, mut is_full) = (0, false);
        for packet in packets.iter().filter(|packet| sampler.bank(packet.place).is_some()) {
            batch[length] = *packet;
            length += 1;
            if length == LANES {
                is_full |= add_all(cells, self.columns, &self.bases, &batch, length);
                length = 0;
            }
        }
        is_full | add_all(cells, self.columns, &self.bases, &batch, length)
    }

    fn pack(&self, class: usize, first: usize, blocks: &mut [u8]) {
        let cells = self.cells.get(class * ROWS * self.columns + first..).unwrap_or(&[]);
        let blocks = blocks.chunks_exact_mut(usize::from(lda::DIGEST_CELL_BITS));
        for (block, cells) in blocks.zip(cells.as_chunks::<BLOCK_CELLS>().0) {
            Cell::pack(&cells.map(on_the_wire), block);
        }
    }

    fn clear(&mut self) {
        self.cells.fill(FlowCell::default());
    }
}

/// A cell as frames carry it.
fn on_the_wire(FlowCell { sum, count, digest }: FlowCell) -> Cell {
    Cell { count, sum: sum & SUM_MASK, digest }
}

/// Adds the first `length` packets of a batch to their cells in rows of 2^n columns; true when a count overflowed.
#[multiversion(targets("x86_64+avx2"))]
fn add_all(
    cells: &mut [FlowCell],
    columns: usize,
    bases: &Bases,
    batch: &[Hashed; LANES],
    length: usize,
) -> bool {
    let mut is_full = false;
    if length == 0 {
        return is_full;
    }
    let mut flows = [0; LANES];
    let mut offsets = [0; LANES];
    for ((flow, offset), packet) in flows.iter_mut().zip(&mut offsets).zip(batch) {
        *flow = packet.flow;
        *offset = self::offset(packet.place, WIDTH) as u32;
    }
    let shift = columns.leading_zeros() + 33 - usize::BITS;
    let mask = columns as u32 - 1;
    // All places first: the processor waits for none of them while cells are written.
    let mut places = [[0u32; LANES]; ROWS];
    for (row, places) in places.iter_mut().enumerate() {
        let Some(bits) = bases.bits(row, &flows) else { break };
        for ((place, bits), offset) in places.iter_mut().zip(bits).zip(&offsets) {
            *place = (row as u32) * columns as u32 + (((bits >> shift) + offset) & mask);
        }
    }
    for (at, packet) in batch.iter().enumerate().take(length) {
        for places in &places {
            if let Some(cell) = cells.get_mut(places[at] as usize) {
                is_full |= cell.add(1, packet.time.nanoseconds(), packet.digest);
            }
        }
    }
    is_full
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::configuration::{Configuration, Settings};
    use crate::sketch::digest::PacketDigest;
    use crate::sketch::lds::{FlowPacket, Lds};
    use crate::sketch::place::Placement;
    use crate::sketch::registry::{Unreadable, read};
    use crate::time::Timestamp;
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
            assert_eq!(lds.cells(), tables.cells);
            tables.clear();
            assert!(tables.cells.iter().all(|cell| *cell == FlowCell::default()));
        }
    }

    #[test]
    fn a_count_that_overflows_is_said() {
        let configuration = configuration(8, &[0]);
        let (mut tables, sampler) =
            (FlowRows::new(&configuration.parameters()), Sampler::new(*configuration.prefixes()));
        assert!(!tables.add(0, &sampler, &[Hashed::default()]));
        tables.cells.iter_mut().for_each(|cell| cell.count *= u32::MAX);
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
