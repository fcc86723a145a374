//! Identity table: packets in, cells of its four tables out when drained.

use crate::bench::Bench;
use crate::error::{CheckError, same};
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::hash::LinearHash;
use deltaline_model::packet::identity::{KEY_BITS, KEY_WORDS, Key};
use deltaline_model::sketch::cell::SUM_MASK;
use deltaline_model::sketch::identity_table::{IdentityCell, TABLES, row};
use deltaline_model::sketch::packet_id::PacketId;
use deltaline_model::sketch::place::Placement;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::VecDeque;
use verilator_sys::{Port, Toolchain};

const STAGE: &str = "identity table";

/// Cycles from a packet to the pulse of a count that it made wrap.
const OVERFLOW_LATENCY: u64 = 14;
/// Cycles from the last packet of a copy to its first drain.
const SETTLE: usize = 13;
/// Cycles from an address to its cell.
const DRAIN_LATENCY: usize = 4;

/// What the memories start with in the emitted text, and what a check of long carries starts them with instead: every
/// bit of every cell's count set.
const ZERO: &str = "words[i] = 36'h0;";
const FULL: &str = "words[i] = 36'hffff00000;";

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
    copies: [Vec<IdentityCell>; 2],
    current: usize,
    overflows: VecDeque<(u64, usize)>,
    packets: u64,
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
    let full = verilog.replace(ZERO, FULL);
    same(STAGE, 0, "memories that can be preloaded", &(4 * TABLES), &full.matches(FULL).count())?;
    let start = IdentityCell { count: u32::MAX, ..IdentityCell::default() };
    let mut preloaded = Tables::new(toolchain, configuration, &full, start)?;
    preloaded.long_carries(&mut random)?;

    let mut tables = Tables::new(toolchain, configuration, verilog, IdentityCell::default())?;
    tables.directed(&mut random)?;
    while tables.packets < count {
        tables.random_interval(&mut random)?;
    }
    Ok(tables.packets + preloaded.packets)
}

/// Any packet.
fn any(random: &mut StdRng) -> Packet {
    (Key::from(random.random::<[u32; KEY_WORDS]>()), random.random::<u64>() & SUM_MASK)
}

impl<'a> Tables<'a> {
    fn new(
        toolchain: &Toolchain,
        configuration: &'a Configuration,
        verilog: &str,
        start: IdentityCell,
    ) -> Result<Self, CheckError> {
        // The memories keep their initial content: no write may come from registers that have not been reset yet.
        let bench = Bench::zeroed(toolchain, "identity_table", verilog)?;
        let copy = vec![start; TABLES * configuration.rows()];
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
            copies: [copy.clone(), copy],
            current: 0,
            overflows: VecDeque::new(),
            packets: 0,
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
        if let Some((key, time)) = counted {
            self.packets += 1;
            if self.count(self.hash.hash(&key), time) {
                self.overflows.push_back((now + OVERFLOW_LATENCY, self.current));
            }
        }
        self.bench.tick()?;
        let found =
            (self.bench.get(self.overflow) == 1).then(|| self.bench.get(self.overflow_epoch) as usize);
        let due = self.overflows.front().is_some_and(|(at, _)| *at == self.bench.cycles());
        let expected = if due { self.overflows.pop_front().map(|(_, copy)| copy) } else { None };
        same(STAGE, self.packets, "overflow", &expected, &found)
    }

    /// Adds the packet of a hash to the model's cells; true when a count wrapped.
    fn count(&mut self, hash: u64, time: u64) -> bool {
        if !self.is_sampled(hash) {
            return false;
        }
        let (id, rows) = (PacketId::default(), self.configuration.rows());
        let halves = id.halves_of(hash);
        let fields = [id.check_of(hash), halves[0], halves[1]];
        let cells = &mut self.copies[self.current];
        (0..TABLES).fold(false, |is_full, table| {
            cells[table * rows + row(halves, table, rows)].add(time, fields) | is_full
        })
    }

    /// Makes the other copy count, and drains the one that counted, with a packet asked for in each cycle meanwhile.
    fn swap_and_drain(&mut self, mut packet: impl FnMut(usize) -> Option<Packet>) -> Result<(), CheckError> {
        // The packet whose key was shown last belongs to the copy that counts until now.
        self.cycle(None)?;
        let idle = self.current;
        self.current ^= 1;
        self.bench.set(self.drain_epoch, idle as u64);
        // One copy forwards, the other backwards: a table must not answer, or be cleared, for another, whichever is first.
        let places = self.copies[idle].len();
        let place_of = |step: usize| if idle == 0 { step } else { places - 1 - step };
        self.bench.set(self.drain_address, place_of(0) as u64);
        for cycle in 0..SETTLE {
            self.cycle(packet(cycle))?;
        }
        for place in (0..places).map(place_of) {
            self.bench.set(self.drain_address, place as u64);
            for cycle in 0..DRAIN_LATENCY {
                self.cycle(packet(cycle))?;
            }
            let expected = std::mem::take(&mut self.copies[idle][place]);
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
        // The sum below, 40 bits; then fields of 32 bits.
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
            (!pause).then(|| if of_few { few[random.random_range(0..few.len())] } else { any(random) })
        };
        for _ in 0..random.random_range(1..2000) {
            let packet = draw(random);
            self.cycle(packet)?;
        }
        self.swap_and_drain(|_| draw(random))
    }
}
