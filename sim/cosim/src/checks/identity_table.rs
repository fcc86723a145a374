//! Tables that each packet is in together, drained one behind the other: an identity table, alone or beside an LDA's rows, and rows or a vector of
//! flows. Packets in, cells of all tables out.

use super::lda::preloadable;
use crate::bench::{Bench, with_preload};
use crate::error::{CheckError, same};
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::flow::FlowKey;
use deltaline_model::packet::hash::LinearHash;
use deltaline_model::packet::identity::{KEY_BITS, KEY_WORDS, Key};
use deltaline_model::sketch::cell::{Cell, SUM_MASK};
use deltaline_model::sketch::colate::Subvectors;
use deltaline_model::sketch::digest::PacketDigest;
use deltaline_model::sketch::flow_vector;
use deltaline_model::sketch::identity_table::{IdentityCell, TABLES, row};
use deltaline_model::sketch::lda_identity::{CheckedCell, WORDS, row_of};
use deltaline_model::sketch::lds::{Bases, FlowHash};
use deltaline_model::sketch::packet_id::PacketId;
use deltaline_model::sketch::place::Placement;
use deltaline_model::wire::shape::Kind;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::VecDeque;
use verilator_sys::{Port, Toolchain};

const STAGE: &str = "tables";

/// What the cells of one copy must hold.
trait Copied {
    /// Adds a packet with this hash; true when a count wrapped.
    fn add(&mut self, packet: &Packet, hash: u64) -> bool;

    /// What is drained at this address; and clears it.
    fn take(&mut self, place: usize) -> IdentityCell;
}

/// Four tables of so many rows.
struct FourTables {
    rows: usize,
    cells: Vec<IdentityCell>,
}

impl Copied for FourTables {
    fn add(&mut self, &(_, time): &Packet, hash: u64) -> bool {
        let (id, halves) = (PacketId::default(), PacketId::default().halves_of(hash));
        let fields = [id.check_of(hash), halves[0], halves[1]];
        (0..TABLES).fold(false, |is_full, table| {
            self.cells[table * self.rows + row(halves, table, self.rows)].add(time, fields) | is_full
        })
    }

    fn take(&mut self, place: usize) -> IdentityCell {
        std::mem::take(&mut self.cells[place])
    }
}

/// So many rows, and as many cells of an identity table, of two words each.
struct RowsAndCells {
    rows: Vec<Cell>,
    cells: Vec<CheckedCell>,
}

impl Copied for RowsAndCells {
    fn add(&mut self, &(_, time): &Packet, hash: u64) -> bool {
        let id = PacketId::default();
        let (halves, rows) = (id.halves_of(hash), self.rows.len());
        let is_full = self.rows[row_of(halves, rows)].add(time);
        (0..TABLES).fold(is_full, |is_full, part| {
            let place = part * (rows / TABLES) + row(halves, part, rows / TABLES);
            self.cells[place].add(id.check_of(hash).into(), halves) | is_full
        })
    }

    fn take(&mut self, place: usize) -> IdentityCell {
        let (count, sum) = match place.checked_sub(self.rows.len()) {
            None => {
                let Cell { count, sum, .. } = std::mem::take(&mut self.rows[place]);
                (count, sum)
            }
            Some(word) if word.is_multiple_of(WORDS) => {
                (self.cells[word / WORDS].count, self.cells[word / WORDS].sum)
            }
            // The cell is cleared with its second word.
            Some(word) => {
                let [upper, lower] = std::mem::take(&mut self.cells[word / WORDS]).fields;
                (upper, lower.into())
            }
        };
        IdentityCell { count, sum, fields: [0; 3] }
    }
}

/// Rows in which flows have cells.
struct RowsOfFlows {
    columns: usize,
    bases: Bases,
    hash: FlowHash,
    placement: Placement,
    digest: PacketDigest,
    cells: Vec<Cell>,
}

impl Copied for RowsOfFlows {
    fn add(&mut self, (key, time): &Packet, hash: u64) -> bool {
        let flow = self.hash.flow(&FlowKey::of(key));
        let offset = self.placement.place(hash) >> 14 & 3;
        let columns = self.columns;
        let column = |row| self.bases.column(row, flow, columns).map_or(0, |base| base + offset as usize);
        let places: Vec<usize> = (0..TABLES).map(|row| row * columns + column(row) % columns).collect();
        places.into_iter().fold(false, |is_full, place| {
            self.cells[place].add_some(1, *time, self.digest.digest(hash)) | is_full
        })
    }

    fn take(&mut self, place: usize) -> IdentityCell {
        let Cell { count, sum, digest } = std::mem::take(&mut self.cells[place]);
        IdentityCell { count, sum, fields: [digest, 0, 0] }
    }
}

/// A vector in which flows have counters.
struct VectorOfFlows {
    subvectors: Subvectors,
    hash: FlowHash,
    placement: Placement,
    cells: Vec<Cell>,
}

impl Copied for VectorOfFlows {
    fn add(&mut self, (key, time): &Packet, hash: u64) -> bool {
        let flow = self.hash.flow(&FlowKey::of(key));
        let number = self.placement.place(hash) >> 10 & 63;
        self.cells[self.subvectors.counter(flow, number as usize)].add(*time)
    }

    fn take(&mut self, place: usize) -> IdentityCell {
        let Cell { count, sum, .. } = std::mem::take(&mut self.cells[place]);
        IdentityCell { count, sum, fields: [0; 3] }
    }
}

/// Cycles from a packet to the pulse of a count that it made wrap.
const OVERFLOW_LATENCY: u64 = 14;
/// Cycles from the last packet of a copy to its first drain.
const SETTLE: usize = 13;
/// Cycles more with a vector of flows.
const ROUNDS_OF_VECTOR: usize = 8;
/// Cycles from an address to its cell.
const DRAIN_LATENCY: usize = 4;

/// A packet: its key and its timestamp.
type Packet = (Key, u64);

/// The stage and what its cells must hold.
struct Tables<'a> {
    bench: Bench,
    configuration: &'a Configuration,
    hash: LinearHash,
    placement: Placement,
    key: Port,
    packet: Port,
    epoch: Port,
    nanoseconds: Port,
    drain_address: Port,
    drain_epoch: Port,
    clear: [Port; 2],
    drained_cell: Port,
    overflow: Port,
    overflow_epoch: Port,
    /// The packet whose key was shown in the last cycle.
    shown: Option<Packet>,
    copies: [Box<dyn Copied>; 2],
    current: usize,
    overflows: VecDeque<(u64, usize)>,
    packets: u64,
    /// Cycles that a cell is written later than in an identity table.
    later: usize,
}

/// Runs all directed sequences and `count` random packets; returns the number of packets.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn check(
    toolchain: &Toolchain,
    configuration: &Configuration,
    verilog: &str,
    count: u64,
    seed: u64,
) -> Result<u64, CheckError> {
    let mut random = StdRng::seed_from_u64(seed);
    let ldas = if is_vector(configuration) { 1 } else { TABLES + usize::from(has_rows(configuration)) };
    let verilog = preloadable(verilog, module(configuration), 4 * ldas)?;
    let mut preloaded = with_preload(1, || Tables::new(toolchain, configuration, &verilog, u32::MAX))?;
    preloaded.long_carries(&mut random)?;

    let mut tables = Tables::new(toolchain, configuration, &verilog, 0)?;
    tables.directed(&mut random)?;
    while tables.packets < count {
        tables.random_interval(&mut random)?;
    }
    Ok(tables.packets + preloaded.packets)
}

/// Whether there are rows beside the table.
fn has_rows(configuration: &Configuration) -> bool {
    configuration.kind() == Kind::LDA_IDENTITY
}

/// Whether there is one vector of flows.
fn is_vector(configuration: &Configuration) -> bool {
    configuration.kind() == Kind::FLOW_VECTOR
}

/// The name of the stage's module.
fn module(configuration: &Configuration) -> &'static str {
    match configuration.kind() {
        Kind::LDA_IDENTITY => "lda_identity",
        Kind::FLOW_ROWS => "flow_rows",
        Kind::FLOW_VECTOR => "flow_vector",
        _ => "identity_table",
    }
}

/// A copy whose counts all start with this one.
fn copy(configuration: &Configuration, count: u32) -> Box<dyn Copied> {
    let rows = configuration.rows();
    if has_rows(configuration) {
        let row = Cell { count, ..Cell::default() };
        let cell = CheckedCell { count, ..CheckedCell::default() };
        return Box::new(RowsAndCells { rows: vec![row; rows], cells: vec![cell; rows] });
    }
    if configuration.kind() == Kind::FLOW_ROWS {
        let seed = configuration.seed();
        return Box::new(RowsOfFlows {
            columns: rows,
            bases: Bases::new(TABLES, seed),
            hash: FlowHash::new(configuration.hash(), seed),
            placement: Placement::new(seed),
            digest: PacketDigest::new(seed),
            cells: vec![Cell { count, ..Cell::default() }; TABLES * rows],
        });
    }
    if is_vector(configuration) {
        let seed = configuration.seed();
        return Box::new(VectorOfFlows {
            subvectors: flow_vector::subvectors(rows, seed),
            hash: FlowHash::new(configuration.hash(), seed),
            placement: Placement::new(seed),
            cells: vec![Cell { count, ..Cell::default() }; rows],
        });
    }
    let cell = IdentityCell { count, ..IdentityCell::default() };
    Box::new(FourTables { rows, cells: vec![cell; TABLES * rows] })
}

/// Any packet: often of IPv4 or IPv6, often with ports, often no fragment.
fn any(random: &mut StdRng) -> Packet {
    let mut words: [u32; KEY_WORDS] = random.random();
    if let Some(version) = [Some(4), Some(6), None][random.random_range(0..3)] {
        words[0] = words[0] & 0x0fff_ffff | version << 28;
    }
    if random.random() {
        words[1] &= !0x1fff;
    }
    if random.random() {
        let protocol = [6, 17, 33, 132, 136, 1][random.random_range(0..6)];
        words[1] = words[1] & !0xff00 | protocol << 8;
        words[2] = words[2] & !0x00ff_0000 | protocol << 16;
    }
    (Key::from(words), random.random::<u64>() & SUM_MASK)
}

/// Another packet of the same flow.
fn next((key, _): &Packet, random: &mut StdRng) -> Packet {
    let mut words = key.words();
    words[11..].copy_from_slice(&random.random::<[u32; KEY_WORDS - 11]>());
    (Key::from(words), random.random::<u64>() & SUM_MASK)
}

impl<'a> Tables<'a> {
    fn new(
        toolchain: &Toolchain,
        configuration: &'a Configuration,
        verilog: &str,
        start: u32,
    ) -> Result<Self, CheckError> {
        // The memories keep their initial content: no write may come from registers that have not been reset yet.
        let bench = Bench::zeroed(toolchain, module(configuration), verilog)?;
        let mut tables = Tables {
            configuration,
            hash: LinearHash::new(configuration.hash(), configuration.seed()),
            placement: Placement::new(configuration.seed()),
            key: bench.port("key")?,
            packet: bench.port("packet")?,
            epoch: bench.port("epoch")?,
            nanoseconds: bench.port("nanoseconds")?,
            drain_address: bench.port("drain_address")?,
            drain_epoch: bench.port("drain_epoch")?,
            clear: [bench.port("clear_first")?, bench.port("clear_second")?],
            drained_cell: bench.port("drained_cell")?,
            overflow: bench.port("overflow")?,
            overflow_epoch: bench.port("overflow_epoch")?,
            bench,
            shown: None,
            copies: [copy(configuration, start), copy(configuration, start)],
            current: 0,
            overflows: VecDeque::new(),
            packets: 0,
            later: if is_vector(configuration) { ROUNDS_OF_VECTOR } else { 0 },
        };
        tables.bench.set(tables.drain_epoch, 1);
        Ok(tables)
    }

    /// One cycle, with or without a packet's key; the packet of the key before counts. The overflow pulse is compared
    /// in every cycle.
    fn cycle(&mut self, packet: Option<Packet>) -> Result<(), CheckError> {
        let now = self.bench.cycles();
        // Without a packet the other inputs are noise.
        let noise = now.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let counted = std::mem::replace(&mut self.shown, packet);
        let key = packet.map_or([noise as u32; KEY_WORDS], |(key, _)| key.words());
        self.bench.set_words(self.key, &key);
        self.bench.set(self.packet, u64::from(counted.is_some()));
        self.bench.set(self.epoch, self.current as u64);
        self.bench.set(self.nanoseconds, counted.map_or(noise & SUM_MASK, |(_, time)| time));
        if let Some(packet) = counted {
            self.packets += 1;
            if self.count(&packet) {
                self.overflows.push_back((now + OVERFLOW_LATENCY + self.later as u64, self.current));
            }
        }
        self.bench.tick()?;
        let found =
            (self.bench.get(self.overflow) == 1).then(|| self.bench.get(self.overflow_epoch) as usize);
        let due = self.overflows.front().is_some_and(|(at, _)| *at == self.bench.cycles());
        let expected = if due { self.overflows.pop_front().map(|(_, copy)| copy) } else { None };
        same(STAGE, self.packets, "overflow", &expected, &found)
    }

    /// Adds a packet to the model's cells; true when a count wrapped.
    fn count(&mut self, packet: &Packet) -> bool {
        let hash = self.hash.hash(&packet.0);
        self.is_sampled(hash) && self.copies[self.current].add(packet, hash)
    }

    /// Makes the other copy count, and drains the one that counted, with a packet asked for in each cycle meanwhile.
    fn swap_and_drain(&mut self, mut packet: impl FnMut(usize) -> Option<Packet>) -> Result<(), CheckError> {
        // The packet whose key was shown last belongs to the copy that counts until now.
        self.cycle(None)?;
        let idle = self.current;
        self.current ^= 1;
        self.bench.set(self.drain_epoch, idle as u64);
        // One copy forwards, the other backwards, pair by pair: a table must not answer, or be cleared, for another, whichever is first.
        let places = self.configuration.shape().cells();
        let place_of = |step: usize| if idle == 0 { step } else { (places - 1 - step) ^ 1 };
        self.bench.set(self.drain_address, place_of(0) as u64);
        for cycle in 0..SETTLE + self.later {
            self.cycle(packet(cycle))?;
        }
        for place in (0..places).map(place_of) {
            self.bench.set(self.drain_address, place as u64);
            for cycle in 0..DRAIN_LATENCY {
                self.cycle(packet(cycle))?;
            }
            let expected = self.copies[idle].take(place);
            let found = self.drained();
            same(STAGE, self.packets, "drained cell", &expected, &found)?;
            self.bench.set(self.clear[idle], 1);
            self.cycle(packet(DRAIN_LATENCY))?;
            self.bench.set(self.clear[idle], 0);
            self.cycle(packet(DRAIN_LATENCY + 1))?;
        }
        Ok(())
    }

    fn drained(&self) -> IdentityCell {
        let mut words = [0u32; 6];
        self.bench.get_words(self.drained_cell, &mut words);
        // The sum below, 40 bits; then fields of 32 bits, as many as there are.
        let bits = |at: usize| (u64::from(words[at / 32 + 1]) << 32 | u64::from(words[at / 32])) >> (at % 32);
        let field = |number: usize| bits(72 + 32 * number) as u32;
        IdentityCell { count: bits(40) as u32, sum: bits(0) & SUM_MASK, fields: [0, 1, 2].map(field) }
    }

    fn check_both(&mut self) -> Result<(), CheckError> {
        self.swap_and_drain(|_| None)?;
        self.swap_and_drain(|_| None)
    }

    fn directed(&mut self, random: &mut StdRng) -> Result<(), CheckError> {
        // Every bit of a key alone.
        for bit in 0..KEY_BITS {
            let mut key = [0; 68];
            key[bit / 8] = 0x80 >> (bit % 8);
            self.cycle(Some((Key::from(key), bit as u64)))?;
        }
        self.check_both()?;
        // The same packet at every distance from 1 to 8, others in between, then nothing in between.
        let again = self.sampled(random);
        for distance in 1..=8usize {
            for step in (0..64).flat_map(|_| 0..distance) {
                self.cycle(Some(if step == 0 { again } else { any(random) }))?;
            }
            for step in (0..64).flat_map(|_| 0..distance) {
                self.cycle((step == 0).then_some(again))?;
            }
        }
        self.check_both()?;
        // Neighbours in different copies, the same cells in both, then drained while the other is updated.
        for lead in 0..16usize {
            for _ in 0..=lead {
                self.cycle(Some(again))?;
            }
            self.swap_and_drain(|cycle| (cycle % 2 == 0).then_some(again))?;
        }
        self.check_both()
    }

    fn is_sampled(&self, hash: u64) -> bool {
        self.configuration.prefixes().bank(self.placement.place(hash)).is_some()
    }

    /// A packet that is sampled.
    fn sampled(&self, random: &mut StdRng) -> Packet {
        loop {
            let packet = any(random);
            if self.is_sampled(self.hash.hash(&packet.0)) {
                return packet;
            }
        }
    }

    /// With every count at 2^32 - 1: the first packet of a cell makes it wrap, in one table or in several.
    fn long_carries(&mut self, random: &mut StdRng) -> Result<(), CheckError> {
        // The last ones are still on their way when the copy changes; then so many that the last cells wrap alone.
        for (count, pause) in [(4, 0), (100, 1)] {
            for _ in 0..count {
                self.cycle(Some(self.sampled(random)))?;
                for _ in 0..pause {
                    self.cycle(None)?;
                }
            }
            self.swap_and_drain(|_| None)?;
        }
        same(STAGE, self.packets, "overflows that never came", &0, &self.overflows.len())
    }

    /// Packets of few flows or of many, with pauses and without.
    fn random_interval(&mut self, random: &mut StdRng) -> Result<(), CheckError> {
        let few: Vec<Packet> = (0..[1, 3, 16][random.random_range(0..3)]).map(|_| any(random)).collect();
        let (share, idle) = (random.random_range(0..=8), [0, 1, 4][random.random_range(0..3)]);
        let draw = |random: &mut StdRng| {
            let pause = idle > 0 && random.random_ratio(idle, 8);
            let of_few = random.random_ratio(share, 8);
            let packet = |random: &mut StdRng| match (of_few, few[random.random_range(0..few.len())]) {
                (true, again) if random.random() => again,
                (true, first) => next(&first, random),
                (false, _) => any(random),
            };
            (!pause).then(|| packet(random))
        };
        for _ in 0..random.random_range(1..2000) {
            let packet = draw(random);
            self.cycle(packet)?;
        }
        self.swap_and_drain(|_| draw(random))
    }
}
