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
//! Against a hash map keyed by (table, row), with sampling and without; shapes that contradict themselves.

use crate::sketch::field_cell::FieldCell;
use crate::sketch::packet_id::{PARTS, PacketId, part};
use crate::sketch::sampler::{Prefixes, Sampler};
use crate::sketch::synopsis::{Cells, Hashed, Parameters, Registered, Synopsis, read_rows};
use crate::wire::cell;
use crate::wire::shape::{Kind, Shape};
use alloc::boxed::Box;

/// Tables, one for each part of an identifier.
pub const TABLES: usize = PARTS;

/// A cell of an identity table.
pub type IdentityCell = FieldCell<3>;

/// How the registry knows it.
pub(crate) const IDENTITY_TABLE: Registered = Registered {
    kind: Kind::IDENTITY_TABLE,
    name: "identity",
    prefixes: &[0],
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

/// The tables of one measurement point: table by table, class by class.
#[derive(Clone, Debug)]
pub struct IdentityTable {
    rows: usize,
    id: PacketId,
    cells: Cells<IdentityCell>,
}

impl IdentityTable {
    fn new(parameters: &Parameters) -> Self {
        let rows = parameters.rows;
        IdentityTable { rows, id: PacketId::default(), cells: Cells::new(parameters.classes, TABLES * rows) }
    }
}

impl Synopsis for IdentityTable {
    fn shape(&self, prefixes: &Prefixes) -> Shape {
        shape(self.rows, prefixes)
    }

    fn add(&mut self, class: usize, sampler: &Sampler, packets: &[Hashed]) -> bool {
        let mut is_full = false;
        let cells = self.cells.of_class(class);
        for packet in packets.iter().filter(|packet| sampler.bank(packet.place).is_some()) {
            let halves = self.id.halves_of(packet.hash);
            let fields = [self.id.check_of(packet.hash), halves[0], halves[1]];
            for table in 0..TABLES {
                let place = table * self.rows + row(halves, table, self.rows);
                let Some(cell) = cells.get_mut(place) else { continue };
                is_full |= cell.add(packet.time.nanoseconds(), fields);
            }
        }
        is_full
    }

    fn pack(&self, class: usize, first: usize, blocks: &mut [u8]) {
        self.cells.pack(class, first, cell::bits(3), blocks);
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
    use crate::sketch::digest;
    use crate::time::Timestamp;
    use std::collections::HashMap;
    use std::vec::Vec;
    use xxhash_rust::xxh3::xxh3_64;

    #[test]
    fn cells_match_a_map() {
        for prefix in [0, 3] {
            let base = Settings { synopsis: Kind::IDENTITY_TABLE, rows: 32, seed: 5, ..Settings::default() };
            let configuration = Configuration::new(Settings { prefixes: &[prefix], ..base }).unwrap();
            let packets: Vec<Hashed> = (0..5000u64)
                .map(|i| {
                    let hash = xxh3_64(&i.to_le_bytes());
                    Hashed { hash, place: hash as u32, time: Timestamp(hash.rotate_left(13)), digest: 0 }
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
            for (place, cell) in tables.cells.as_slice().iter().enumerate() {
                assert_eq!(*cell, map.get(&place).copied().unwrap_or_default());
            }
        }
    }
}
