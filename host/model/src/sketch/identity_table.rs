//! Identity table: tables that can be subtracted and read, so that the packets that differ come out one by one.
//!
//! RDA paper, section IV: a packet is added to one cell of each of k tables, and a cell adds up the packets'
//! identifiers. Two ends' tables are subtracted; where one packet is left in a cell, its identifier is known, it is
//! taken out of its other cells, and so on. What remains of the rows is as good as an LDA's without loss.
//!
//! k is [`TABLES`]; the row in table t is the low bits of part t, most significant first, of the [identifier](crate::sketch::packet_id). The
//! paper's cells have no check; a cell whose count says one packet may hold three, one of them with the opposite sign.
//! Here each cell adds up the identifiers' checks too.
//!
//! Kind 3. A cell has three further fields: the check, and the identifier's halves, upper first. Its own word holds
//! the prefix length by which packets are sampled in the first byte, 255 in the others.
//!
//! # Test plan
//!
//! Against a hash map keyed by (table, row), with sampling and without; a count that overflows; shapes that contradict themselves.

use crate::sketch::cell::SUM_MASK;
use crate::sketch::digest::LANES;
use crate::sketch::field_cell::FieldCell;
use crate::sketch::packet_id::{PARTS, PacketId, part};
use crate::sketch::sampler::{Prefixes, Sampler};
use crate::sketch::synopsis::{Hashed, Parameters, Registered, Synopsis, read_rows};
use crate::wire::cell::{self, WireCell};
use crate::wire::shape::{BLOCK_CELLS, Kind, Shape};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use multiversion::multiversion;

/// Tables, one for each part of an identifier.
pub const TABLES: usize = PARTS;

/// A cell of an identity table.
pub type IdentityCell = FieldCell<3>;

/// How the registry knows it.
pub(crate) const IDENTITY_TABLE: Registered = Registered {
    kind: Kind::IDENTITY_TABLE,
    name: "identity",
    prefixes: &[0],
    digests_by_default: false,
    remembers_packets: true,
    check: |parameters| {
        if parameters.has_digests {
            return Err("its cells have identifiers; leave out digest");
        }
        match parameters.prefixes.banks() {
            1 => Ok(()),
            _ => Err("its packets are sampled once; give one prefix length, 0 for all packets"),
        }
    },
    new: |parameters| Box::new(IdentityTable::new(parameters)),
    shape: |parameters| shape(parameters.rows, &parameters.prefixes),
    read: |given| match given.own.as_slice() {
        [word] if word << 8 | 0xff == u64::MAX => read_rows(&Shape { tables: 1, ..*given }, |prefixes| {
            Shape { tables: 1, ..shape(given.table_cells as usize, prefixes) }
        })
        .and_then(|prefixes| if usize::from(given.tables) == TABLES { Ok(prefixes) } else { Err("tables") }),
        [_] => Err("prefix lengths"),
        _ => Err("header words"),
    },
};

fn shape(rows: usize, prefixes: &Prefixes) -> Shape {
    Shape {
        kind: Kind::IDENTITY_TABLE,
        tables: TABLES as u8,
        table_cells: rows as u32,
        cell_bits: cell::bits(3),
        has_digests: false,
        own: [u64::from_be_bytes(prefixes.to_bytes())].into(),
    }
}

/// The row of a packet in a table of 2^n `rows`.
pub fn row(halves: [u32; 2], table: usize, rows: usize) -> usize {
    usize::from(part(halves, table)) & (rows - 1)
}

/// What a cell adds up, as a processor adds it in two steps: a cell of [`IdentityCell`] would take seven, and lie across two lines of its
/// cache where this is half of one.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
struct Sums {
    /// Packets, and their timestamps in nanoseconds.
    totals: [u64; 2],
    /// The parts of check, upper half and lower half, most significant first, and two that stay zero.
    parts: [u16; 8],
}

impl Sums {
    #[inline(always)]
    fn add(&mut self, nanoseconds: u64, parts: [u16; 8]) {
        self.totals.iter_mut().zip([1, nanoseconds]).for_each(|(sum, more)| *sum = sum.wrapping_add(more));
        self.parts.iter_mut().zip(parts).for_each(|(sum, part)| *sum = sum.wrapping_add(part));
    }

    fn cell(&self) -> IdentityCell {
        let [count, sum] = self.totals;
        let field = |first: usize| u32::from(self.parts[first]) << 16 | u32::from(self.parts[first + 1]);
        IdentityCell { count: count as u32, sum: sum & SUM_MASK, fields: [field(0), field(2), field(4)] }
    }
}

/// The tables of one measurement point: table by table, class by class.
#[derive(Clone, Debug)]
pub struct IdentityTable {
    rows: usize,
    id: PacketId,
    cells: Vec<Sums>,
    /// Packets since the cells were zero: no cell holds more.
    packets: u64,
}

impl IdentityTable {
    fn new(parameters: &Parameters) -> Self {
        let rows = parameters.rows;
        let cells = vec![Sums::default(); parameters.classes * TABLES * rows];
        IdentityTable { rows, id: PacketId::default(), cells, packets: 0 }
    }
}

impl Synopsis for IdentityTable {
    fn shape(&self, prefixes: &Prefixes) -> Shape {
        shape(self.rows, prefixes)
    }

    fn add(&mut self, class: usize, sampler: &Sampler, packets: &[Hashed]) -> bool {
        let per_class = TABLES * self.rows;
        let Some(cells) = self.cells.get_mut(class * per_class..(class + 1) * per_class) else {
            return false;
        };
        // Packets that are not sampled are left out of the batch.
        let mut batch = [(0, 0); LANES];
        let mut length = 0;
        for packet in packets.iter().filter(|packet| sampler.bank(packet.place).is_some()) {
            batch[length] = (packet.hash, packet.time.nanoseconds());
            length += 1;
            if length == LANES {
                add_all(cells, self.rows, &self.id, &batch, length);
                length = 0;
            }
        }
        add_all(cells, self.rows, &self.id, &batch, length);
        self.packets += packets.len() as u64;
        self.packets >> 32 != 0 && cells.iter().any(|cell| cell.totals[0] >> 32 != 0)
    }

    fn pack(&self, class: usize, first: usize, blocks: &mut [u8]) {
        let cells = self.cells.get(class * TABLES * self.rows + first..).unwrap_or(&[]);
        let blocks = blocks.chunks_exact_mut(usize::from(cell::bits(3)));
        for (block, cells) in blocks.zip(cells.as_chunks::<BLOCK_CELLS>().0) {
            IdentityCell::pack(&cells.each_ref().map(Sums::cell), block);
        }
    }

    fn clear(&mut self) {
        self.cells.fill(Sums::default());
        self.packets = 0;
    }
}

/// Adds the first `length` packets of a batch, by hash and nanoseconds, to their cells.
#[multiversion(targets("x86_64+avx2"))]
fn add_all(cells: &mut [Sums], rows: usize, id: &PacketId, batch: &[(u64, u64); LANES], length: usize) {
    if length == 0 {
        return;
    }
    let hashes = batch.map(|(hash, _)| hash);
    // Not mapped: closures do not have the instructions that this function may use.
    let [upper, lower] = id.halves();
    let (upper, lower) = (upper.digests(hashes), lower.digests(hashes));
    let checks = id.check().digests(hashes);
    for (lane, (_, nanoseconds)) in batch.iter().enumerate().take(length) {
        let halves = [upper[lane], lower[lane]];
        let split = |field: u32| [(field >> 16) as u16, field as u16];
        let ([a, b], [c, d], [e, f]) = (split(checks[lane]), split(upper[lane]), split(lower[lane]));
        for table in 0..TABLES {
            if let Some(cell) = cells.get_mut(table * rows + row(halves, table, rows)) {
                cell.add(*nanoseconds, [a, b, c, d, e, f, 0, 0]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::configuration::{Configuration, Settings};
    use crate::sketch::digest;
    use crate::time::Timestamp;
    use std::collections::HashMap;
    use std::vec::Vec;
    use xxhash_rust::xxh3::xxh3_64;

    #[test]
    fn a_count_that_overflows_is_said() {
        let settings =
            Settings { synopsis: Kind::IDENTITY_TABLE, rows: 8, prefixes: &[0], ..Settings::default() };
        let configuration = Configuration::new(settings).unwrap();
        let (mut tables, sampler) =
            (IdentityTable::new(&configuration.parameters()), Sampler::new(*configuration.prefixes()));
        // As if nearly 2^32 packets had been one and the same.
        assert!(!tables.add(0, &sampler, &[Hashed::default()]));
        tables.packets += u64::from(u32::MAX) - 1;
        tables.cells.iter_mut().for_each(|cell| cell.totals[0] *= u64::from(u32::MAX));
        assert!(tables.add(0, &sampler, &[Hashed::default()]));
        tables.clear();
        assert!(!tables.add(0, &sampler, &[Hashed::default()]));
        assert_eq!(tables.cells.iter().map(|cell| cell.totals[0]).sum::<u64>(), TABLES as u64);
    }

    #[test]
    fn cells_match_a_map() {
        for prefix in [0, 3] {
            let base = Settings { synopsis: Kind::IDENTITY_TABLE, rows: 32, seed: 5, ..Settings::default() };
            let configuration = Configuration::new(Settings { prefixes: &[prefix], ..base }).unwrap();
            let packets: Vec<Hashed> = (0..5000u64)
                .map(|i| {
                    let hash = xxh3_64(&i.to_le_bytes());
                    Hashed {
                        hash,
                        place: hash as u32,
                        time: Timestamp(hash.rotate_left(13)),
                        ..Hashed::default()
                    }
                })
                .collect();
            let mut tables = IdentityTable::new(&configuration.parameters());
            assert!(!tables.add(0, &Sampler::new(*configuration.prefixes()), &packets));
            let id = PacketId::default();
            let mut map: HashMap<usize, IdentityCell> = HashMap::new();
            for packet in packets.iter().filter(|packet| packet.place.leading_zeros() >= prefix.into()) {
                let [upper, lower] = id.halves_of(packet.hash);
                for (table, low_bits) in [upper >> 16, upper, lower >> 16, lower].into_iter().enumerate() {
                    let cell = map.entry(32 * table + (low_bits % 32) as usize).or_default();
                    cell.count += 1;
                    cell.sum = (cell.sum + (packet.time.0 >> 16)) % (1 << 40);
                    let added = [id.check_of(packet.hash), upper, lower];
                    cell.fields
                        .iter_mut()
                        .zip(added)
                        .for_each(|(sum, field)| *sum = digest::add(*sum, field));
                }
            }
            for (place, sums) in tables.cells.iter().enumerate() {
                assert_eq!(sums.cell(), map.get(&place).copied().unwrap_or_default());
            }
        }
    }
}
