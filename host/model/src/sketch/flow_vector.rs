//! Vector of flows: [COLATE](crate::sketch::colate) as a measurement point keeps it, in software and in hardware.
//!
//! SIGMETRICS 2014, section 3: one vector of n counters, of which a flow has m = [`WIDTH`] that its hash picks, anywhere in the vector, and a packet is
//! in one of them. Flows are five-tuples.
//!
//! ```text
//! packet's place, bits 15:10 ── j ──┐
//!                                   H ── counter    . f . . g . f . . . f+g . . f . . g . . .
//! flow's hash, 64 bits ─────────────┘               a flow's counters lie apart, each with its own neighbours
//! ```
//!
//! H is that of [`Subvectors`]; n = 2^r, so that it is the highest r bits of 32. All packets take the same sample, the sampler's.
//!
//! A counter is an LDA's cell without a digest, of 72 bits: a count of packets and the sum of their times modulo 2^40 ns. The paper keeps the sum
//! alone. The count comes with the cell, and shows at which counters packets were lost. The paper's epochs are a point's intervals.
//!
//! Kind 11. Its own word holds the prefix length by which packets are sampled in the first byte, 255 in the others.
//!
//! # Cost
//!
//! 9 octets a counter. An update reads and writes one of them; the flow's hash is a second hash for each packet.
//!
//! # Test plan
//!
//! Counters are those of [`Colate`](crate::sketch::colate::Colate) fed with the same packets, counts those of one fed with times of 1 ns, with sampling
//! and without, and both those of an LDS with scattered cells; a count that overflows; too few counters and other settings that are refused; shapes that contradict themselves. Flows of packets:
//! [`crate::point`].

use crate::sketch::cell::Cell;
use crate::sketch::colate::Subvectors;
use crate::sketch::lda;
use crate::sketch::lds::LdsParameters;
use crate::sketch::sampler::{Prefixes, Sampler};
use crate::sketch::synopsis::{Cells, Hashed, Parameters, Registered, Synopsis, read_rows};
use crate::wire::shape::{Kind, Shape};
use alloc::boxed::Box;

/// m, counters of a flow.
pub const WIDTH: usize = 64;
/// Fewest counters of a vector: twice as many as a flow has.
pub const MIN_COUNTERS: usize = 2 * WIDTH;

/// How the registry knows it.
pub(crate) const FLOW_VECTOR: Registered = Registered {
    kind: Kind::FLOW_VECTOR,
    name: "colate",
    prefixes: &[0],
    digests_by_default: false,
    remembers_packets: false,
    check: |parameters| match parameters.prefixes.banks() {
        _ if parameters.has_digests => Err("its counters have no digests; leave out digest, or take lds"),
        _ if parameters.rows < MIN_COUNTERS => Err("a flow has 64 counters; give 128 rows or more"),
        1 => Ok(()),
        _ => Err("its packets are sampled once; give one prefix length, 0 for all packets"),
    },
    new: |parameters| Box::new(FlowVector::new(parameters)),
    shape: |parameters| shape(parameters.rows, &parameters.prefixes),
    read: |given| match given.table_cells as usize {
        counters if counters < MIN_COUNTERS => Err("table cells"),
        _ if given.tables != 1 => Err("tables"),
        counters => read_rows(given, |prefixes| shape(counters, prefixes)),
    },
};

fn shape(counters: usize, prefixes: &Prefixes) -> Shape {
    let table = lda::Table { rows: counters, prefixes: *prefixes, has_digests: false };
    Shape { kind: Kind::FLOW_VECTOR, ..table.shape() }
}

/// What so many counters with this prefix length are like as an [LDS](crate::sketch::lds::Lds) of one row.
pub fn parameters(counters: usize, prefixes: &Prefixes, seed: u64) -> LdsParameters {
    let prefix = prefixes.lengths().first().copied().unwrap_or(0);
    let one = LdsParameters::plain(1, counters, seed);
    LdsParameters { width: WIDTH, prefixes: [prefix].into(), is_scattered: true, ..one }
}

/// Which of so many counters are whose.
pub fn subvectors(counters: usize, seed: u64) -> Subvectors {
    Subvectors::new(counters, WIDTH, seed)
}

/// Which of its flow's counters a packet with this place is in.
#[inline]
pub fn number(place: u32) -> usize {
    ((place & 0xffff) as usize * WIDTH) >> 16
}

/// The counters of one measurement point: class by class.
#[derive(Clone, Debug)]
pub struct FlowVector {
    counters: usize,
    subvectors: Subvectors,
    cells: Cells<Cell>,
}

impl FlowVector {
    /// All counters zero.
    pub fn new(parameters: &Parameters) -> Self {
        let Parameters { rows: counters, classes, seed, .. } = *parameters;
        FlowVector { counters, subvectors: subvectors(counters, seed), cells: Cells::new(classes, counters) }
    }
}

impl Synopsis for FlowVector {
    fn shape(&self, prefixes: &Prefixes) -> Shape {
        shape(self.counters, prefixes)
    }

    fn add(&mut self, class: usize, sampler: &Sampler, packets: &[Hashed]) -> bool {
        let mut is_full = false;
        let cells = self.cells.of_class(class);
        for packet in packets.iter().filter(|packet| sampler.bank(packet.place).is_some()) {
            let counter = self.subvectors.counter(packet.flow, number(packet.place));
            if let Some(cell) = cells.get_mut(counter) {
                is_full |= cell.add(packet.time.nanoseconds());
            }
        }
        is_full
    }

    fn pack(&self, class: usize, first: usize, blocks: &mut [u8]) {
        self.cells.pack(class, first, lda::CELL_BITS, blocks);
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
    use crate::sketch::colate::{Colate, ColateParameters};
    use crate::sketch::lds::{FlowPacket, Lds};
    use crate::sketch::place::Placement;
    use crate::sketch::registry::{Unreadable, read};
    use crate::time::Timestamp;
    use std::vec::Vec;
    use xxhash_rust::xxh3::xxh3_64;

    const SEED: u64 = 5;

    fn configuration(rows: usize, prefixes: &[u8]) -> Configuration {
        let settings =
            Settings { synopsis: Kind::FLOW_VECTOR, rows, seed: SEED, prefixes, ..Settings::default() };
        Configuration::new(settings).unwrap()
    }

    fn packets() -> Vec<Hashed> {
        let placement = Placement::new(SEED);
        let packet = |number: u64| {
            let hash = xxh3_64(&number.to_le_bytes());
            Hashed {
                hash,
                place: placement.place(hash),
                time: Timestamp(hash.rotate_left(13)),
                // Some flows have most packets, most flows have one.
                flow: xxh3_64(&(number >> (number % 9)).to_le_bytes()),
                ..Hashed::default()
            }
        };
        (0..5000).map(packet).collect()
    }

    /// The counters of COLATE's vector of the packets that this prefix samples, each at the time that `time` gives it.
    fn counters(rows: usize, prefix: u8, time: fn(&Hashed) -> u64) -> Vec<u64> {
        let prefixes = if prefix == 0 { Prefixes::new(&[0]) } else { Prefixes::new(&[0, prefix]) }.unwrap();
        let whole = ColateParameters {
            counters: rows,
            width: WIDTH,
            bits: 64,
            threshold: u64::MAX,
            prefixes,
            seed: SEED,
        };
        let mut colate = Colate::new(whole).unwrap();
        for packet in packets() {
            let (flow, hash, nanoseconds) = (packet.flow, packet.hash, time(&packet));
            colate.add(&FlowPacket { flow, packet: hash, nanoseconds, octets: 0, weight: 1 });
        }
        let [epoch] = &colate.finish()[..] else { panic!("one epoch") };
        epoch.vectors.last().unwrap().counters.clone()
    }

    #[test]
    fn counters_are_those_of_colate() {
        for (prefix, rows) in [(0, 128), (0, 1024), (3, 256)] {
            let configuration = configuration(rows, &[prefix]);
            let mut vector = FlowVector::new(&configuration.parameters());
            assert!(!vector.add(0, &Sampler::new(*configuration.prefixes()), &packets()));
            let sums = counters(rows, prefix, |packet| packet.time.nanoseconds());
            let expected = sums.into_iter().zip(counters(rows, prefix, |_| 1));
            let expected =
                expected.map(|(sum, count)| Cell { count: count as u32, sum: sum & SUM_MASK, digest: 0 });
            assert_eq!(vector.cells.as_slice(), expected.collect::<Vec<_>>());
            let mut lds = Lds::new(parameters(rows, configuration.prefixes(), SEED)).unwrap();
            for Hashed { hash, time, flow, .. } in packets() {
                let nanoseconds = time.nanoseconds();
                lds.add(&FlowPacket { flow, packet: hash, nanoseconds, octets: 0, weight: 1 });
            }
            let expected = lds.cells().iter();
            let expected =
                expected.map(|cell| Cell { count: cell.count, sum: cell.sum & SUM_MASK, digest: 0 });
            assert_eq!(vector.cells.as_slice(), expected.collect::<Vec<_>>());
            vector.clear();
            assert!(vector.cells.as_slice().iter().all(|cell| *cell == Cell::default()));
        }
    }

    #[test]
    fn a_count_that_overflows_is_said() {
        let configuration = configuration(128, &[0]);
        let (mut vector, sampler) =
            (FlowVector::new(&configuration.parameters()), Sampler::new(*configuration.prefixes()));
        assert!(!vector.add(0, &sampler, &[Hashed::default()]));
        vector.cells.of_class(0).iter_mut().for_each(|cell| cell.count *= u32::MAX);
        assert!(vector.add(0, &sampler, &[Hashed::default()]));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let settings = Settings { synopsis: Kind::FLOW_VECTOR, prefixes: &[0], ..Settings::default() };
        assert!(Configuration::new(Settings { rows: 128, ..settings }).is_ok());
        for refused in [
            Settings { rows: 64, ..settings },
            Settings { digest: true, ..settings },
            Settings { prefixes: &[0, 3], ..settings },
            Settings { tables: Some(1), ..settings },
        ] {
            assert!(Configuration::new(refused).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn shapes_that_contradict_themselves_are_not_read() {
        let shape = configuration(128, &[2]).shape();
        assert_eq!(read(&shape), Ok(Prefixes::new(&[2]).unwrap()));
        let lengths = shape.own.as_slice()[0];
        for (wrong, field) in [
            (Shape { tables: 2, ..shape }, "tables"),
            (Shape { table_cells: 136, ..shape }, "table cells"),
            (Shape { table_cells: 64, ..shape }, "table cells"),
            (Shape { cell_bits: 104, ..shape }, "cell bits"),
            (Shape { has_digests: true, ..shape }, "prefix lengths"),
            (Shape { own: [lengths, 4].into(), ..shape }, "header words"),
            (Shape { own: [lengths & !0xff].into(), ..shape }, "prefix lengths"),
        ] {
            assert_eq!(read(&wrong), Err(Unreadable::Contradiction(field)), "{wrong:?}");
        }
    }
}
