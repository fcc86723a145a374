//! FineComb: an LDA whose rows have a digest of 64 bits.
//!
//! FineComb (SIGCOMM 2011; RDA paper, section II) adds to every row of an LDA an incremental digest of its packets, so
//! that a row that gained packets from a neighbouring interval, or lost some to one, is not taken for a good one. Its
//! digest is the sum of the packets' [identifiers](crate::sketch::packet_id). FineComb's stash, which repairs such rows,
//! is the [packet cache](crate::sketch::packet_cache) of a software point; hardware has none, and its rows are left out.
//!
//! Kind 2. Banks, rows, sampling and own word are the [LDA's](crate::sketch::lda); a cell has two further fields, the
//! identifier's upper half first.
//!
//! # Test plan
//!
//! Against a hash map keyed by (bank, row), packets that are not sampled among them; shapes that contradict themselves.

use crate::sketch::field_cell::FieldCell;
use crate::sketch::packet_id::PacketId;
use crate::sketch::sampler::{Prefixes, Sampler};
use crate::sketch::synopsis::{Cells, Hashed, Parameters, Registered, Synopsis, read_rows};
use crate::wire::cell;
use crate::wire::shape::{Kind, Shape};
use alloc::boxed::Box;

/// A row of FineComb.
pub type RowCell = FieldCell<2>;

/// How the registry knows it.
pub(crate) const FINECOMB: Registered = Registered {
    kind: Kind::FINECOMB,
    name: "finecomb",
    prefixes: &[1, 6],
    digests_by_default: false,
    remembers_packets: true,
    check: |parameters| match parameters.has_digests {
        true => Err("its rows have digests of their own; leave out digest"),
        false => Ok(()),
    },
    new: |parameters| Box::new(FineComb::new(parameters)),
    shape: |parameters| shape(parameters.rows, &parameters.prefixes),
    read: |given| read_rows(given, |prefixes| shape(given.table_cells as usize, prefixes)),
};

fn shape(rows: usize, prefixes: &Prefixes) -> Shape {
    Shape {
        kind: Kind::FINECOMB,
        tables: prefixes.banks() as u8,
        table_cells: rows as u32,
        cell_bits: cell::bits(2),
        has_digests: false,
        own: [u64::from_be_bytes(prefixes.to_bytes())].into(),
    }
}

/// The cell of a packet with this [place](crate::sketch::place), counted bank by bank of 2^n `rows`, if it is sampled.
pub fn cell(prefixes: &Prefixes, rows: usize, place: u32) -> Option<usize> {
    Some(prefixes.bank(place)? * rows + (place as usize & rows.wrapping_sub(1)))
}

/// The rows of one measurement point: banks × rows, bank-major, class by class.
#[derive(Clone, Debug)]
pub struct FineComb {
    rows: usize,
    id: PacketId,
    cells: Cells<RowCell>,
}

impl FineComb {
    fn new(parameters: &Parameters) -> Self {
        let rows = parameters.rows;
        let cells = Cells::new(parameters.classes, rows * parameters.prefixes.banks());
        FineComb { rows, id: PacketId::default(), cells }
    }
}

impl Synopsis for FineComb {
    fn shape(&self, prefixes: &Prefixes) -> Shape {
        shape(self.rows, prefixes)
    }

    fn add(&mut self, class: usize, sampler: &Sampler, packets: &[Hashed]) -> bool {
        let mut is_full = false;
        let cells = self.cells.of_class(class);
        for packet in packets {
            let Some(bank) = sampler.bank(packet.place) else { continue };
            let row = packet.place as usize & (self.rows - 1);
            let Some(cell) = cells.get_mut(bank * self.rows + row) else { continue };
            is_full |= cell.add(packet.time.nanoseconds(), self.id.halves_of(packet.hash));
        }
        is_full
    }

    fn pack(&self, class: usize, first: usize, blocks: &mut [u8]) {
        self.cells.pack(class, first, cell::bits(2), blocks);
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
    use crate::time::Timestamp;
    use std::collections::HashMap;
    use std::vec::Vec;
    use xxhash_rust::xxh3::xxh3_64;

    #[test]
    fn rows_match_a_map() {
        let settings = Settings { synopsis: Kind::FINECOMB, rows: 64, seed: 5, ..Settings::default() };
        let configuration = Configuration::new(settings).unwrap();
        let packets: Vec<Hashed> = (0..20_000u64)
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
        let mut finecomb = FineComb::new(&configuration.parameters());
        assert!(!finecomb.add(0, &Sampler::new(*configuration.prefixes()), &packets));
        let mut map: HashMap<usize, (u32, u64, [u16; 4])> = HashMap::new();
        for packet in &packets {
            let Some(bank) = configuration.prefixes().bank(packet.place) else { continue };
            let entry = map.entry(64 * bank + packet.place as usize % 64).or_default();
            entry.0 += 1;
            entry.1 = (entry.1 + (packet.time.0 >> 16)) % (1 << 40);
            let place = 64 * bank + packet.place as usize % 64;
            assert_eq!(cell(configuration.prefixes(), 64, packet.place), Some(place));
            let halves = PacketId::default().halves_of(packet.hash);
            for (number, sum) in entry.2.iter_mut().enumerate() {
                *sum = sum.wrapping_add(crate::sketch::packet_id::part(halves, number));
            }
        }
        for (place, cell) in finecomb.cells.as_slice().iter().enumerate() {
            let (count, sum, parts) = map.get(&place).copied().unwrap_or_default();
            let half = |number: usize| u32::from(parts[number]) << 16 | u32::from(parts[number + 1]);
            assert_eq!(*cell, RowCell { count, sum, fields: [half(0), half(2)] });
        }
    }
}
