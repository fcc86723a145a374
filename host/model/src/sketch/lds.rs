//! LDS: the Lossy Difference Sketch, which tells delay and loss of every flow from tables that know no flow.
//!
//! Sanjuàs-Cuxart, Barlet-Ros, Duffield, Kompella, *Sketching the Delay* (IMC 2011). R rows of C cells. In every row a flow has a
//! *virtual LDA*: k neighbouring cells from a base on that its hash picks, and each of its packets is in the one that the
//! packet's hash picks. Two ends' tables are subtracted cell by cell, where counts and digests agree.
//!
//! ```text
//! row 0   . . . [f f f] . . . . g g g        a flow's k cells stand at another base in each row,
//! row 1   . g g [f+g] f f . . . . . .        so that it shares them with other flows in each
//! row 2   . . . . . . . . [f f f] . .
//! ```
//!
//! | field of a cell | bits | sum of |
//! |---|---|---|
//! | count | 32 | the packets' weights (section 4.1), 1 unless set; an overflow shows in [`Lds::is_saturated`] |
//! | sum | 64 | weight times the time in nanoseconds, modulo 2^64 |
//! | digest | 32 | the packets' [digests](crate::sketch::digest), which the paper adds by exclusive or: then equal packets cancel out |
//! | octets, if wanted | 64 | the octets of packets (section 4.3), kept beside the cells |
//!
//! **Placement.** Row r's base is column (p C) >> 32, p what four [rounds](crate::sketch::rounds) with the seed's constants 572 + 4 r
//! and on make of the bits 31:0 of the flow's hash, turned right by 16 r bits. The offset is (q k) >> 16, q the lower half of the packet's
//! [place](crate::sketch::place). The flow's hash is that of its [key](crate::packet::flow).
//!
//! **Banks** (section 4.2). Row r takes the packets whose place begins with at least so many zeros as its prefix is long, one in 2^prefix.
//!
//! **SDS** (section 2.2), the sketch of packets that carry their times, has cells of delay sum and count alone. It is an LDS of one end with k = 1
//! to which delays are added instead of times, and its cells are the difference of two ends' where nothing was lost.
//!
//! **Tracked flows** are ours: flows named beforehand, as the heaviest of the last interval, have cells of their own in front of the
//! table and do not enter it. Each has k cells for every different prefix. It costs 64 bits for its hash, and those cells.
//!
//! # Cost
//!
//! 128 bits a cell. An update reads and writes R cells: `cargo bench -p deltaline-model --bench packet -- lds`.
//!
//! # Test plan
//!
//! Against a map of cells filled as the paper's figure 5 says; a flow's cells hold all of its packets, and no row more than each
//! packet once; without loss the difference of two ends is an SDS of the delays; bases of many flows are uniform and those of
//! two rows independent, by chi-square; a tracked flow leaves the table as it is without it; sampling by prefixes against the
//! places; weights; refusals.

use crate::packet::flow::FlowKey;
use crate::packet::hash::{HashKind, LinearHash};
use crate::packet::identity::Key;
use crate::sketch::colate::Subvectors;
use crate::sketch::digest::{self, PacketDigest};
use crate::sketch::place::Placement;
use crate::sketch::rounds::{LANES, Rounds};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// Most rows.
pub const MAX_ROWS: usize = 8;
/// First constant behind those of the places.
const FIRST_CONSTANT: usize = 28;
/// Rounds of a base.
pub const ROUNDS: usize = 4;
/// Longest prefix of a row.
const MAX_PREFIX: u8 = 16;
/// Most cells of a table: 4 GiB of them.
const MAX_CELLS: usize = 1 << 28;
/// Bits of a cell.
pub const CELL_BITS: usize = 128;

/// What a table is like. Both ends' must be alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LdsParameters {
    /// C, cells of a row: 1..=2^28, and no more in all rows.
    pub columns: usize,
    /// k, cells of a flow in a row: 1..=C, at most 65,536.
    pub width: usize,
    /// The rows, 1 to 8: how many zeros a packet's place begins with that enters it, 0..=16.
    pub prefixes: Vec<u8>,
    /// Whether octets are summed too.
    pub has_octets: bool,
    /// Whether a flow's cells lie anywhere in the one row, as [COLATE](crate::sketch::colate)'s H picks them, and not beside each other.
    pub is_scattered: bool,
    /// Seed of all hashes.
    pub seed: u64,
}

impl LdsParameters {
    /// R rows of C cells in which every packet is counted, k = 1.
    pub fn plain(rows: usize, columns: usize, seed: u64) -> Self {
        LdsParameters {
            columns,
            width: 1,
            prefixes: vec![0; rows],
            has_octets: false,
            is_scattered: false,
            seed,
        }
    }

    /// The share of packets that row `row` takes.
    pub fn probability(&self, row: usize) -> f64 {
        self.prefixes.get(row).map_or(0.0, |&prefix| (-f64::from(prefix)).exp2())
    }
}

impl LdsParameters {
    fn check(&self) -> Result<(), LdsError> {
        let LdsParameters { columns, width, prefixes, is_scattered, .. } = self;
        if *is_scattered && prefixes.len() != 1 {
            return Err(LdsError::Scattered(prefixes.len()));
        }
        if !(1..=MAX_ROWS).contains(&prefixes.len()) {
            return Err(LdsError::Rows(prefixes.len()));
        }
        if *columns == 0 || columns.saturating_mul(prefixes.len()) > MAX_CELLS {
            return Err(LdsError::Columns(*columns));
        }
        if *width == 0 || width > columns || *width > 1 << 16 {
            return Err(LdsError::Width { width: *width, columns: *columns });
        }
        match prefixes.iter().find(|&&prefix| prefix > MAX_PREFIX) {
            Some(&prefix) => Err(LdsError::Prefix(prefix)),
            None => Ok(()),
        }
    }
}

/// Why a table cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LdsError {
    /// Too few or too many rows.
    #[error("{0} rows: give 1 to 8")]
    Rows(usize),
    /// Too few or too many cells.
    #[error("{0} cells a row: give 1 or more, and at most 2^28 in all rows")]
    Columns(usize),
    /// A flow's cells do not fit.
    #[error(
        "a flow cannot have {width} cells of a row of {columns}: give 1 to 65,536, and no more than there are"
    )]
    Width {
        /// Cells of a flow.
        width: usize,
        /// Cells of a row.
        columns: usize,
    },
    /// A prefix is too long.
    #[error("prefix length {0}: give 0 to 16")]
    Prefix(u8),
    /// Cells are scattered over several rows.
    #[error("{0} rows of scattered cells: give one")]
    Scattered(usize),
    /// As many cells as are given are not those of such a table.
    #[error("{given} cells are given for a table of {due}")]
    Cells {
        /// Cells that are given.
        given: usize,
        /// Cells of the table.
        due: usize,
    },
}

/// A cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FlowCell {
    /// Sum of weight times time in nanoseconds, modulo 2^64.
    pub sum: u64,
    /// Sum of weights, modulo 2^32.
    pub count: u32,
    /// Digest sum.
    pub digest: u32,
}

impl FlowCell {
    /// Adds a packet of this weight; true when the count overflowed.
    #[inline(always)]
    pub(crate) fn add(&mut self, weight: u32, nanoseconds: u64, digest: u32) -> bool {
        let (count, overflows) = self.count.overflowing_add(weight);
        self.count = count;
        self.sum = self.sum.wrapping_add(nanoseconds.wrapping_mul(weight.into()));
        self.digest = digest::add(self.digest, digest);
        overflows
    }

    /// The delays' sum in nanoseconds, by weight, if this cell is the sender's, `receiver` the receiver's, and they hold the same packets. Right
    /// as long as it lies within ±2^63 ns (292 years).
    pub fn delay_sum(&self, receiver: &FlowCell) -> Option<i64> {
        let are_same = (self.count, self.digest) == (receiver.count, receiver.digest);
        are_same.then(|| receiver.sum.wrapping_sub(self.sum) as i64)
    }
}

/// A packet as the table sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowPacket {
    /// The hash of its flow's key.
    pub flow: u64,
    /// The hash of its own key.
    pub packet: u64,
    /// When it was seen, modulo 2^64 ns.
    pub nanoseconds: u64,
    /// Its octets.
    pub octets: u32,
    /// Its flow's weight, 1 or more.
    pub weight: u32,
}

/// Where a flow's cells begin in each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bases(Vec<Rounds<ROUNDS>>);

impl Bases {
    /// Those of so many rows, at most [`MAX_ROWS`].
    pub fn new(rows: usize, seed: u64) -> Self {
        let rounds = |row| Rounds::new(FIRST_CONSTANT + ROUNDS * row, seed);
        Bases((0..rows.min(MAX_ROWS)).map(rounds).collect())
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.0.len()
    }

    /// The constants of row `row`'s rounds, that of the first round first; none for no row.
    pub fn constants(&self, row: usize) -> Option<&[u16; ROUNDS]> {
        self.0.get(row).map(Rounds::constants)
    }

    /// The first column of the flow with this hash in row `row` of so many columns; none for no row.
    pub fn column(&self, row: usize, flow: u64, columns: usize) -> Option<usize> {
        self.0.get(row).map(|rounds| base(rounds, row, flow, columns))
    }

    /// The 32 bits that pick the bases of [`LANES`] flows in row `row`, side by side: of 2^n columns, their first n bits; none for no row.
    #[inline(always)]
    pub(crate) fn bits(&self, row: usize, flows: &[u64; LANES]) -> Option<[u32; LANES]> {
        // Not mapped: closures do not have the instructions that the caller may use.
        let mut bits = [0; LANES];
        for (bits, flow) in bits.iter_mut().zip(flows) {
            *bits = flow_bits(row, *flow);
        }
        Some(self.0.get(row)?.apply_all(bits))
    }
}

/// The offset of a packet's cell from its flow's first, of `width` cells.
#[inline]
pub fn offset(place: u32, width: usize) -> usize {
    ((place & 0xffff) as usize * width) >> 16
}

/// Where flows and packets belong.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Places {
    placement: Placement,
    digest: PacketDigest,
    bases: Bases,
    scattered: Option<Subvectors>,
}

/// One end's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lds {
    parameters: LdsParameters,
    places: Places,
    cells: Vec<FlowCell>,
    octets: Vec<u64>,
    tracked: Tracked,
    is_saturated: bool,
}

impl Lds {
    /// An empty table.
    ///
    /// # Errors
    ///
    /// [`LdsError`].
    pub fn new(parameters: LdsParameters) -> Result<Self, LdsError> {
        parameters.check()?;
        let seed = parameters.seed;
        let bases = Bases::new(parameters.prefixes.len(), seed);
        let scattered = parameters
            .is_scattered
            .then(|| Subvectors::new(parameters.columns, parameters.width, parameters.seed));
        let places =
            Places { placement: Placement::new(seed), digest: PacketDigest::new(seed), bases, scattered };
        let cells = vec![FlowCell::default(); parameters.columns * parameters.prefixes.len()];
        let octets = vec![0; if parameters.has_octets { cells.len() } else { 0 }];
        Ok(Lds { parameters, places, cells, octets, tracked: Tracked::default(), is_saturated: false })
    }

    /// A table of these cells, row by row, of which no count overflowed.
    ///
    /// # Errors
    ///
    /// [`LdsError`], also where there are more or fewer cells than `parameters` say.
    pub fn of_cells(parameters: LdsParameters, cells: Vec<FlowCell>) -> Result<Self, LdsError> {
        let table = Lds::new(parameters)?;
        if cells.len() != table.cells.len() {
            return Err(LdsError::Cells { given: cells.len(), due: table.cells.len() });
        }
        Ok(Lds { cells, ..table })
    }

    /// The same with cells of their own for these flows, by their hashes; empty.
    #[must_use]
    pub fn tracking(mut self, flows: &[u64]) -> Self {
        let mut prefixes = self.parameters.prefixes.clone();
        prefixes.sort_unstable();
        prefixes.dedup();
        self.tracked = Tracked::new(flows, prefixes, self.parameters.width);
        self
    }

    /// What the table is like.
    pub fn parameters(&self) -> &LdsParameters {
        &self.parameters
    }

    /// All cells, row by row.
    pub fn cells(&self) -> &[FlowCell] {
        &self.cells
    }

    /// The octets of each cell; empty unless they are wanted.
    pub fn octets(&self) -> &[u64] {
        &self.octets
    }

    /// Whether a count overflowed, so that the table says nothing for certain.
    pub fn is_saturated(&self) -> bool {
        self.is_saturated
    }

    /// Bits of the table and its tracked flows.
    pub fn bits(&self) -> usize {
        let Tracked { slots: _, hashes, cells, .. } = &self.tracked;
        CELL_BITS * (self.cells.len() + cells.len()) + 64 * (self.octets.len() + hashes.len())
    }

    /// Adds a packet.
    #[inline]
    pub fn add(&mut self, packet: &FlowPacket) {
        let place = self.places.placement.place(packet.packet);
        let digest = self.places.digest.digest(packet.packet);
        let zeros = place.leading_zeros() as u8;
        let offset = offset(place, self.parameters.width);
        if let Some(flow) = self.tracked.find(packet.flow) {
            self.is_saturated |= self.tracked.add(flow, zeros, offset, packet, digest);
            return;
        }
        let columns = self.parameters.columns;
        let rows = self
            .places
            .bases
            .0
            .iter()
            .zip(&self.parameters.prefixes)
            .zip(self.cells.chunks_exact_mut(columns));
        for (row, ((rounds, &prefix), cells)) in rows.enumerate() {
            let column = match &self.places.scattered {
                Some(subvectors) => subvectors.counter(packet.flow, offset),
                None => {
                    let column = base(rounds, row, packet.flow, columns) + offset;
                    if column >= columns { column - columns } else { column }
                }
            };
            if zeros < prefix {
                continue;
            }
            if let Some(cell) = cells.get_mut(column) {
                self.is_saturated |= cell.add(packet.weight, packet.nanoseconds, digest);
            }
            if let Some(octets) = self.octets.get_mut(row * columns + column) {
                *octets += u64::from(packet.octets);
            }
        }
    }

    /// The places of a flow's k cells in row `row`, among all cells, each once: fewer where scattered cells coincide.
    pub fn cells_of(&self, flow: u64, row: usize) -> impl Iterator<Item = usize> + use<> {
        let LdsParameters { columns, width, .. } = self.parameters;
        let base = self.places.bases.column(row, flow, columns);
        let (base, width) = base.map_or((0, 0), |base| (base, width));
        let mut scattered = vec![];
        if let Some(subvectors) = self.places.scattered.as_ref().filter(|_| width > 0) {
            scattered.extend(subvectors.of(flow));
            scattered.sort_unstable();
            scattered.dedup();
        }
        let neighbours = if scattered.is_empty() { base..base + width } else { 0..0 };
        neighbours.map(move |column| row * columns + column % columns).chain(scattered)
    }

    /// The cells of a tracked flow: for each prefix, the shortest first, k cells.
    pub fn tracked(&self, flow: u64) -> Option<impl Iterator<Item = (u8, &[FlowCell])>> {
        let Tracked { prefixes, width, cells, .. } = &self.tracked;
        let range = self.tracked.cells_of(self.tracked.find(flow)?);
        Some(prefixes.iter().copied().zip(cells.get(range)?.chunks((*width).max(1))))
    }
}

/// Hashes of packets and flows under a table's seed.
#[derive(Clone, PartialEq, Eq)]
pub struct FlowHash(LinearHash);

impl FlowHash {
    /// The hash function of this kind and seed.
    pub fn new(kind: HashKind, seed: u64) -> Self {
        FlowHash(LinearHash::new(kind, seed))
    }

    /// The hash of a flow.
    pub fn flow(&self, flow: &FlowKey) -> u64 {
        self.0.hash(flow.key())
    }

    /// The hash of a packet.
    pub fn packet(&self, key: &Key) -> u64 {
        self.0.hash(key)
    }
}

/// The first column of a flow in a row.
#[inline(always)]
fn base(rounds: &Rounds<ROUNDS>, row: usize, flow: u64, columns: usize) -> usize {
    scaled(rounds.apply(flow_bits(row, flow)), columns)
}

/// What of a flow's hash picks its base in a row.
#[inline(always)]
fn flow_bits(row: usize, flow: u64) -> u32 {
    flow.rotate_right(16 * row as u32) as u32
}

/// The column of so many for which a base's 32 bits stand.
#[inline(always)]
fn scaled(bits: u32, columns: usize) -> usize {
    ((u64::from(bits) * columns as u64) >> 32) as usize
}

/// Flows with cells of their own, found by linear probing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Tracked {
    /// A power of two of them, at least twice as many as flows: the flow's number and 1, or 0.
    slots: Vec<u32>,
    hashes: Vec<u64>,
    prefixes: Vec<u8>,
    width: usize,
    cells: Vec<FlowCell>,
}

impl Tracked {
    fn new(flows: &[u64], prefixes: Vec<u8>, width: usize) -> Self {
        let mut hashes = flows.to_vec();
        hashes.sort_unstable();
        hashes.dedup();
        let size = (2 * hashes.len()).next_power_of_two();
        let cells = vec![FlowCell::default(); hashes.len() * prefixes.len() * width];
        let mut slots = vec![0; if hashes.is_empty() { 0 } else { size }];
        for (number, &hash) in (1u32..).zip(&hashes) {
            let mut at = spread(hash) & (size - 1);
            while slots[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            slots[at] = number;
        }
        Tracked { slots, hashes, prefixes, width, cells }
    }

    #[inline]
    fn find(&self, hash: u64) -> Option<usize> {
        let last = self.slots.len().checked_sub(1)?;
        let mut at = spread(hash) & last;
        loop {
            let number = (*self.slots.get(at)? as usize).checked_sub(1)?;
            if self.hashes.get(number) == Some(&hash) {
                return Some(number);
            }
            at = (at + 1) & last;
        }
    }

    fn cells_of(&self, flow: usize) -> Range<usize> {
        let each = self.prefixes.len() * self.width;
        flow * each..(flow + 1) * each
    }

    fn add(&mut self, flow: usize, zeros: u8, offset: usize, packet: &FlowPacket, digest: u32) -> bool {
        let range = self.cells_of(flow);
        let cells = self.cells.get_mut(range).unwrap_or_default();
        let banks = self.prefixes.iter().zip(cells.chunks_mut(self.width.max(1)));
        let cells =
            banks.filter(|(prefix, _)| **prefix <= zeros).filter_map(|(_, cells)| cells.get_mut(offset));
        let FlowPacket { weight, nanoseconds, .. } = *packet;
        cells.fold(false, |overflows, cell| cell.add(weight, nanoseconds, digest) | overflows)
    }
}

/// A hash's slot: by bits that depend on all of it.
#[inline]
fn spread(hash: u64) -> usize {
    ((hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::BTreeMap;
    use xxhash_rust::xxh3::xxh3_64_with_seed;

    fn hash(number: u64, purpose: u64) -> u64 {
        xxh3_64_with_seed(&number.to_le_bytes(), purpose)
    }

    fn packet(flow: u64, number: u64, nanoseconds: u64) -> FlowPacket {
        let (octets, weight) = (number as u32 % 1500, 1 + flow as u32 % 3);
        FlowPacket { flow: hash(flow, 1), packet: hash(number, 2), nanoseconds, octets, weight }
    }

    fn parameters() -> LdsParameters {
        LdsParameters {
            columns: 37,
            width: 5,
            prefixes: vec![0, 0, 1, 3],
            has_octets: true,
            is_scattered: false,
            seed: 9,
        }
    }

    /// Figure 5 of the paper, with the sums' names of its cells: S, N, D, and octets.
    #[test]
    fn cells_are_the_papers() {
        let parameters = parameters();
        let mut lds = Lds::new(parameters.clone()).unwrap();
        // Of each cell: sum, count, the halves of the digest, octets.
        type Fields = (u64, u32, [u16; 2], u64);
        let mut cells: BTreeMap<(usize, usize), Fields> = BTreeMap::new();
        for number in 0..3000 {
            let packet = packet(number % 41, number, number * 77 + 5);
            lds.add(&packet);
            let place = Placement::new(9).place(packet.packet);
            let ph = (place & 0xffff) as usize * 5 / 65_536;
            for (i, prefix) in [0, 0, 1, 3].into_iter().enumerate() {
                let turned = (packet.flow as u128 | (packet.flow as u128) << 64) >> (16 * i);
                let fh = Rounds::<4>::new(28 + 4 * i, 9).apply(turned as u32) as u64 * 37 / (1 << 32);
                if place.leading_zeros() < prefix {
                    continue;
                }
                let cell = cells.entry((i, (fh as usize + ph) % 37)).or_default();
                cell.0 += u64::from(packet.weight) * packet.nanoseconds;
                cell.1 += packet.weight;
                let digest = PacketDigest::new(9).digest(packet.packet);
                cell.2[0] = cell.2[0].wrapping_add((digest >> 16) as u16);
                cell.2[1] = cell.2[1].wrapping_add(digest as u16);
                cell.3 += u64::from(packet.octets);
            }
        }
        for (at, (found, octets)) in lds.cells().iter().zip(lds.octets()).enumerate() {
            let expected = cells.get(&(at / 37, at % 37)).copied().unwrap_or_default();
            let digest = u32::from(expected.2[0]) << 16 | u32::from(expected.2[1]);
            assert_eq!(
                (found.sum, found.count, found.digest, *octets),
                (expected.0, expected.1, digest, expected.3)
            );
        }
    }

    #[test]
    fn a_flows_cells_hold_its_packets() {
        let mut lds = Lds::new(parameters()).unwrap();
        (0..500).for_each(|number| lds.add(&packet(3, number, 1)));
        for row in 0..2 {
            let all: u32 = lds.cells_of(hash(3, 1), row).map(|at| lds.cells()[at].count).sum();
            assert_eq!(all, 500);
        }
        let sampled: u32 = lds.cells_of(hash(3, 1), 3).map(|at| lds.cells()[at].count).sum();
        let expected =
            (0..500).filter(|&number| Placement::new(9).place(hash(number, 2)).leading_zeros() >= 3);
        assert_eq!(sampled as usize, expected.count());
        assert_eq!(lds.cells_of(hash(3, 1), 4).count(), 0);
    }

    #[test]
    fn scattered_cells_hold_a_flows_packets() {
        let parameters = LdsParameters { width: 20, is_scattered: true, prefixes: vec![0], ..parameters() };
        let mut fewer = 0;
        for flow in 0..50 {
            let mut lds = Lds::new(parameters.clone()).unwrap();
            (0..500).for_each(|number| lds.add(&packet(flow, number, 1)));
            let cells: Vec<usize> = lds.cells_of(hash(flow, 1), 0).collect();
            let all: u32 = cells.iter().map(|&at| lds.cells()[at].count).sum();
            assert_eq!(all, 500 * (1 + flow as u32 % 3));
            fewer += usize::from(cells.len() < 20);
        }
        // Of 20 cells of 37, two coincide but once in 4000.
        assert!(fewer > 45, "{fewer}");
    }

    #[test]
    fn a_difference_is_a_simple_delay_sketch() {
        let parameters = LdsParameters::plain(4, 50, 3);
        let [mut sender, mut receiver, mut simple] = [(); 3].map(|()| Lds::new(parameters.clone()).unwrap());
        for number in 0..5000 {
            let (sent, delay) = (1_000 * number, hash(number, 5) % 10_000);
            sender.add(&packet(number % 99, number, sent));
            receiver.add(&packet(number % 99, number, sent + delay));
            simple.add(&packet(number % 99, number, delay));
        }
        for ((sent, received), delays) in sender.cells().iter().zip(receiver.cells()).zip(simple.cells()) {
            assert_eq!(sent.delay_sum(received), Some(delays.sum as i64));
        }
        receiver.add(&packet(1, 5000, 0));
        let differ = sender.cells().iter().zip(receiver.cells()).filter(|(a, b)| a.delay_sum(b).is_none());
        assert_eq!(differ.count(), 4);
    }

    #[test]
    fn bases_are_uniform_and_independent() {
        for seed in 0..20 {
            let lds = Lds::new(LdsParameters::plain(3, 16, seed)).unwrap();
            let hash = FlowHash::new(HashKind::H3, seed);
            // Flows that differ in their ports alone, which count: linear hashes of them are no random ones.
            let mut pairs = [0u32; 256];
            for flow in 0..25_600u32 {
                let mut words = [0; 17];
                (words[0], words[2], words[10]) = (0x4500_0000, 17 << 16, flow);
                let flow = hash.flow(&FlowKey::of(&words.into()));
                let [a, _, b] = [0, 1, 2].map(|row| lds.cells_of(flow, row).next().unwrap() % 16);
                pairs[16 * a + b] += 1;
            }
            // Chi-square with 255 degrees of freedom: 135 to 400 but for one draw in about 1e8.
            let chi: f64 = pairs.iter().map(|&n| (f64::from(n) - 100.0).powi(2) / 100.0).sum();
            assert!((135.0..400.0).contains(&chi), "{seed}: {chi}");
        }
    }

    #[test]
    fn tracked_flows_are_apart() {
        let tracked: Vec<u64> = (0..20).map(|flow| hash(flow, 1)).collect();
        let mut with = Lds::new(parameters()).unwrap().tracking(&tracked);
        let mut without = Lds::new(parameters()).unwrap();
        for number in 0..5000 {
            let flow = number % 60;
            let packet = packet(flow, number, number);
            with.add(&packet);
            if flow >= 20 {
                without.add(&packet);
            }
        }
        assert_eq!(with.cells(), without.cells());
        for flow in 0..60 {
            match with.tracked(hash(flow, 1)) {
                Some(mut banks) if flow < 20 => {
                    let (prefix, cells) = banks.next().unwrap();
                    let count: u32 = cells.iter().map(|cell| cell.count).sum();
                    let expected = (0..5000).filter(|number| number % 60 == flow).count() as u32;
                    assert_eq!((prefix, cells.len(), count), (0, 5, expected * (1 + flow as u32 % 3)));
                    assert_eq!(banks.map(|(prefix, _)| prefix).collect::<Vec<_>>(), [1, 3]);
                }
                found => assert!(found.is_none() && flow >= 20),
            }
        }
        assert_eq!(with.bits() - without.bits(), 20 * (64 + 15 * 128));
    }

    #[test]
    fn overflows_show() {
        let mut lds = Lds::new(LdsParameters::plain(1, 1, 0)).unwrap();
        lds.add(&FlowPacket { weight: u32::MAX, ..packet(0, 0, 0) });
        assert!(!lds.is_saturated());
        lds.add(&FlowPacket { weight: 1, ..packet(0, 1, 0) });
        assert!(lds.is_saturated());
    }

    #[test]
    fn refusals() {
        let refused = |parameters| Lds::new(parameters).unwrap_err();
        assert_eq!(refused(LdsParameters::plain(0, 5, 0)), LdsError::Rows(0));
        assert_eq!(refused(LdsParameters::plain(9, 5, 0)), LdsError::Rows(9));
        assert_eq!(refused(LdsParameters::plain(1, 0, 0)), LdsError::Columns(0));
        assert_eq!(refused(LdsParameters::plain(8, 1 << 27, 0)), LdsError::Columns(1 << 27));
        for width in [0, 38] {
            assert_eq!(
                refused(LdsParameters { width, ..parameters() }),
                LdsError::Width { width, columns: 37 }
            );
        }
        assert_eq!(refused(LdsParameters { prefixes: vec![17], ..parameters() }), LdsError::Prefix(17));
        assert_eq!(refused(LdsParameters { is_scattered: true, ..parameters() }), LdsError::Scattered(4));
    }
}
