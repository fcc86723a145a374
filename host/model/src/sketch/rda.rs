//! RDA and sRDA: the Reconcilable Difference Aggregator as it was published.
//!
//! Fu, Barlet-Ros, Li, *Every Timestamp Counts* (IEEE/ACM ToN 2018). Both add up exclusive ors of packets' identifiers, so that two
//! ends' tables can be subtracted and the packets read that only one end has seen.
//!
//! * `rda` (section V), kind 4: k banks of rows, 2 unless set; a packet is in one cell of each. A cell has count, timestamp sum and
//!   the exclusive or of the identifiers (ID), upper half first. It has no check: a cell is taken for a single packet's if its ID hashes to this
//!   very cell.
//! * `srda` (section IV), kind 5: one array of rows; a packet is in each of the cells that k hashes name, 2 unless set. A cell has
//!   the exclusive or of the packets' checks (IDSH), too, in front of ID. Where two hashes agree the packet is in one cell once.
//!
//! The paper counts with 64 bits for each field; here counts have 32, timestamp sums 40 and IDSH 32. The paper writes of one end that
//! estimates the difference, and sizes the table, when the interval is over; here the number of rows is set beforehand.
//!
//! The first own word holds the prefix length by which packets are sampled in the first byte, 255 in the others; of `srda` a second one
//! holds k.
//!
//! Software only: hardware has the [identity table](crate::sketch::identity_table), whose cells have a check.
//!
//! # Test plan
//!
//! Against a hash map keyed by the places of a [layout](crate::sketch::layout), k from 1 to 4, with sampling and without; shapes that
//! contradict themselves; what does not fit is refused.

use crate::sketch::layout::{Layout, checked};
use crate::sketch::packet_id::{PARTS, PacketId};
use crate::sketch::sampler::{Prefixes, Sampler};
use crate::sketch::synopsis::{Cells, Hashed, Parameters, Registered, Synopsis, read_rows};
use crate::sketch::xor_cell::XorCell;
use crate::wire::cell::{self, WireCell};
use crate::wire::shape::{Kind, Shape};
use alloc::boxed::Box;

/// A cell of RDA.
pub type RdaCell = XorCell<2>;
/// A cell of sRDA.
pub type SrdaCell = XorCell<3>;

/// k, unless it is set.
pub const TABLES: usize = 2;

/// How the registry knows RDA.
pub(crate) const RDA: Registered = Registered {
    kind: Kind::RDA,
    name: "rda",
    prefixes: &[0],
    digests_by_default: false,
    remembers_packets: true,
    check,
    new: |parameters| Box::new(Table::<2>::new(parameters, banks(parameters), |_, halves| halves)),
    shape: |parameters| rda_shape(parameters.rows, tables(parameters), &parameters.prefixes),
    read: |given| {
        if !(1..=PARTS).contains(&usize::from(given.tables)) {
            return Err("tables");
        }
        read_rows(&Shape { tables: 1, ..*given }, |prefixes| {
            rda_shape(given.table_cells as usize, 1, prefixes)
        })
    },
};

/// How the registry knows sRDA.
pub(crate) const SRDA: Registered = Registered {
    kind: Kind::SRDA,
    name: "srda",
    prefixes: &[0],
    digests_by_default: false,
    remembers_packets: true,
    check,
    new: |parameters| Box::new(Table::<3>::new(parameters, flat(parameters), checked)),
    shape: |parameters| srda_shape(parameters.rows, tables(parameters), &parameters.prefixes),
    read: |given| match *given.own.as_slice() {
        [lengths, hashes] if (1..=PARTS as u64).contains(&hashes) => {
            let one = |shape: Shape| Shape { own: [shape.own.as_slice()[0]].into(), ..shape };
            let given = Shape { own: [lengths].into(), ..*given };
            read_rows(&given, |prefixes| one(srda_shape(given.table_cells as usize, 1, prefixes)))
        }
        [_, _] => Err("hash functions"),
        _ => Err("header words"),
    },
};

fn check(parameters: &Parameters) -> Result<(), &'static str> {
    if parameters.has_digests {
        return Err("its cells have identifiers; leave out digest");
    }
    if parameters.tables.is_some_and(|tables| !(1..=PARTS).contains(&usize::from(tables))) {
        return Err("give 1 to 4 tables");
    }
    match parameters.prefixes.banks() {
        1 => Ok(()),
        _ => Err("its packets are sampled once; give one prefix length, 0 for all packets"),
    }
}

fn tables(parameters: &Parameters) -> usize {
    parameters.tables.map_or(TABLES, usize::from)
}

fn banks(parameters: &Parameters) -> Layout {
    Layout::Banks { rows: parameters.rows, banks: tables(parameters) }
}

fn flat(parameters: &Parameters) -> Layout {
    Layout::Flat { cells: parameters.rows, hashes: tables(parameters) }
}

fn rda_shape(rows: usize, banks: usize, prefixes: &Prefixes) -> Shape {
    Shape {
        kind: Kind::RDA,
        tables: banks as u8,
        table_cells: rows as u32,
        cell_bits: cell::bits(2),
        has_digests: false,
        own: [u64::from_be_bytes(prefixes.to_bytes())].into(),
    }
}

fn srda_shape(cells: usize, hashes: usize, prefixes: &Prefixes) -> Shape {
    Shape {
        kind: Kind::SRDA,
        tables: 1,
        table_cells: cells as u32,
        cell_bits: cell::bits(3),
        has_digests: false,
        own: [u64::from_be_bytes(prefixes.to_bytes()), hashes as u64].into(),
    }
}

/// The cells of one measurement point: table by table, class by class; D fields each.
#[derive(Clone, Debug)]
struct Table<const D: usize> {
    layout: Layout,
    shape: Shape,
    fields: fn(&PacketId, [u32; 2]) -> [u32; D],
    id: PacketId,
    cells: Cells<XorCell<D>>,
}

impl<const D: usize> Table<D> {
    fn new(parameters: &Parameters, layout: Layout, fields: fn(&PacketId, [u32; 2]) -> [u32; D]) -> Self {
        let shape = match layout {
            Layout::Flat { cells, hashes } => srda_shape(cells, hashes, &parameters.prefixes),
            _ => rda_shape(parameters.rows, tables(parameters), &parameters.prefixes),
        };
        let cells = Cells::new(parameters.classes, layout.cells());
        Table { layout, shape, fields, id: PacketId::default(), cells }
    }
}

impl<const D: usize> Synopsis for Table<D> {
    fn shape(&self, prefixes: &Prefixes) -> Shape {
        let lengths = u64::from_be_bytes(prefixes.to_bytes());
        let own = match *self.shape.own.as_slice() {
            [_, hashes] => [lengths, hashes].into(),
            _ => [lengths].into(),
        };
        Shape { own, ..self.shape }
    }

    fn add(&mut self, class: usize, sampler: &Sampler, packets: &[Hashed]) -> bool {
        let mut is_full = false;
        let cells = self.cells.of_class(class);
        for packet in packets.iter().filter(|packet| sampler.bank(packet.place).is_some()) {
            let halves = self.id.halves_of(packet.hash);
            let added = XorCell::<D> {
                count: 1,
                sum: packet.time.nanoseconds() & crate::sketch::cell::SUM_MASK,
                fields: (self.fields)(&self.id, halves),
            };
            for place in self.layout.places(&self.id, halves) {
                let Some(cell) = cells.get_mut(place) else { continue };
                is_full |= cell.merge(&added);
            }
        }
        is_full
    }

    fn pack(&self, class: usize, first: usize, blocks: &mut [u8]) {
        self.cells.pack(class, first, self.shape.cell_bits, blocks);
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
    use crate::sketch::registry::{self, Unreadable};
    use crate::time::Timestamp;
    use std::collections::HashMap;
    use std::vec::Vec;
    use xxhash_rust::xxh3::xxh3_64;

    fn packets() -> Vec<Hashed> {
        let packet = |i: u64| {
            let hash = xxh3_64(&i.to_le_bytes());
            Hashed { hash, place: hash as u32, time: Timestamp(hash.rotate_left(13)), ..Hashed::default() }
        };
        (0..5000).map(packet).collect()
    }

    fn settings(synopsis: Kind, tables: Option<u8>, prefixes: &[u8]) -> Settings<'_> {
        Settings { synopsis, tables, rows: 32, seed: 5, prefixes, ..Settings::default() }
    }

    fn matches_a_map<const D: usize>(
        configuration: &Configuration,
        layout: Layout,
        fields: fn(&PacketId, [u32; 2]) -> [u32; D],
    ) {
        let mut table = Table::<D>::new(&configuration.parameters(), layout, fields);
        assert_eq!(table.shape(configuration.prefixes()), configuration.shape());
        assert_eq!(Layout::of(&configuration.shape()), Some(layout));
        assert!(!table.add(0, &Sampler::new(*configuration.prefixes()), &packets()));
        let id = PacketId::default();
        let mut map: HashMap<usize, XorCell<D>> = HashMap::new();
        for packet in packets() {
            if configuration.prefixes().bank(packet.place).is_none() {
                continue;
            }
            let [upper, lower] = id.halves_of(packet.hash);
            for place in layout.places(&id, [upper, lower]) {
                let cell = map.entry(place).or_default();
                cell.count += 1;
                cell.sum = (cell.sum + (packet.time.0 >> 16)) % (1 << 40);
                let all = [id.check_of(packet.hash), upper, lower];
                cell.fields.iter_mut().zip(&all[3 - D..]).for_each(|(field, of)| *field ^= of);
            }
        }
        for (place, cell) in table.cells.as_slice().iter().enumerate() {
            assert_eq!(*cell, map.get(&place).copied().unwrap_or_default());
        }
    }

    #[test]
    fn cells_match_a_map() {
        for k in 1..=4 {
            for prefix in [0, 3] {
                let prefixes = [prefix];
                let of = |kind| Configuration::new(settings(kind, Some(k), &prefixes)).unwrap();
                let banks = Layout::Banks { rows: 32, banks: k.into() };
                matches_a_map::<2>(&of(Kind::RDA), banks, |_, halves| halves);
                let flat = Layout::Flat { cells: 32, hashes: k.into() };
                matches_a_map::<3>(&of(Kind::SRDA), flat, checked);
            }
        }
        let of = |kind| Configuration::new(settings(kind, None, &[0])).unwrap();
        assert_eq!(Layout::of(&of(Kind::RDA).shape()), Some(Layout::Banks { rows: 32, banks: 2 }));
        assert_eq!(Layout::of(&of(Kind::SRDA).shape()), Some(Layout::Flat { cells: 32, hashes: 2 }));
    }

    #[test]
    fn shapes_that_contradict_themselves_are_not_read() {
        let rda = Configuration::new(settings(Kind::RDA, None, &[3])).unwrap();
        let srda = Configuration::new(settings(Kind::SRDA, Some(4), &[3])).unwrap();
        for configuration in [&rda, &srda] {
            assert_eq!(registry::read(&configuration.shape()), Ok(*configuration.prefixes()));
        }
        let wrong = |shape: Shape, field| {
            assert_eq!(registry::read(&shape), Err(Unreadable::Contradiction(field)), "{shape:?}");
        };
        let (rda, srda) = (rda.shape(), srda.shape());
        let lengths = rda.own.as_slice()[0];
        wrong(Shape { tables: 0, ..rda }, "tables");
        wrong(Shape { tables: 5, ..rda }, "tables");
        wrong(Shape { cell_bits: 168, ..rda }, "cell bits");
        wrong(Shape { table_cells: 24, ..rda }, "table cells");
        wrong(Shape { own: [lengths, 2].into(), ..rda }, "header words");
        wrong(Shape { own: [lengths].into(), ..srda }, "header words");
        wrong(Shape { own: [lengths, 0].into(), ..srda }, "hash functions");
        wrong(Shape { own: [lengths, 5].into(), ..srda }, "hash functions");
        wrong(Shape { tables: 2, ..srda }, "prefix lengths");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for kind in [Kind::RDA, Kind::SRDA] {
            for refused in [
                settings(kind, Some(0), &[0]),
                settings(kind, Some(5), &[0]),
                settings(kind, None, &[0, 3]),
                Settings { digest: true, ..settings(kind, None, &[0]) },
            ] {
                assert!(Configuration::new(refused).is_err(), "{refused:?}");
            }
        }
        for kind in [Kind::LDA, Kind::FINECOMB, Kind::IDENTITY_TABLE] {
            assert!(Configuration::new(settings(kind, Some(2), &[0])).is_err());
        }
        // Tables are part of what both ends must have in common.
        let ids = [None, Some(1), Some(2), Some(3)]
            .map(|tables| Configuration::new(settings(Kind::RDA, tables, &[0])).unwrap().id());
        assert!(ids[0] == ids[2] && ids[0] != ids[1] && ids[2] != ids[3]);
    }
}
