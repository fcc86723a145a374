//! Slices: packets in, records out.
//!
//! # Test plan
//!
//! Records are cut by hand: whatever the place's leading zeros say starts one, as long as there is room. Packets that start slices one after
//! the other, at every distance; none that does; copies without a packet; changes of the copy between neighbours; drains at once behind a
//! change, forwards and backwards, twice, while the other copy counts; random intervals, empty tables to full ones; counts that wrap.

use crate::bench::{Bench, with_preload};
use crate::error::{CheckError, same};
use crate::faults::{either, with_input};
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::hash::LinearHash;
use deltaline_model::packet::identity::{KEY_WORDS, Key};
use deltaline_model::sketch::cell::SUM_MASK;
use deltaline_model::sketch::place::Placement;
use deltaline_model::sketch::slices::RECORD_CELLS;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::VecDeque;
use verilator_sys::{Port, Toolchain};

const STAGE: &str = "slices";
const TOP: &str = "slices";
/// Cycles from a packet to the pulse of a count that it made wrap.
const OVERFLOW_LATENCY: u64 = 7;
/// Cycles from the last packet of a copy to its first drain.
const SETTLE: usize = 7;
/// Cycles from an address to its word.
const DRAIN_LATENCY: usize = 4;

/// A packet: its key and its timestamp.
type Packet = (Key, u64);

/// A record of a slice: its first packet's place and time, its packets and the sum of their times.
type Record = [u64; 4];

/// The stage and what its records must be.
struct Stage {
    bench: Bench,
    hash: LinearHash,
    placement: Placement,
    zeros: u32,
    room: usize,
    key: Port,
    packet: Port,
    epoch: Port,
    nanoseconds: Port,
    drain_address: Port,
    drain_epoch: Port,
    drained_cell: Port,
    overflow: Port,
    overflow_epoch: Port,
    /// What the count of a record is behind its first packet.
    first_count: u32,
    /// The packet whose key was shown in the last cycle.
    shown: Option<Packet>,
    copies: [Vec<Record>; 2],
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
    let (one, most) = ("count_d = 32'h1;", "count_d = 32'hffffffff;");
    let found = verilog.matches(one).count();
    same(STAGE, 0, "first counts that can be preloaded", &1, &found)?;
    let text = with_input(verilog, TOP, "preload")
        .replace(one, &either(&format!("{TOP}.preload == 8'd1"), one, most));
    let mut full = with_preload(1, || Stage::new(toolchain, configuration, &text, u32::MAX))?;
    // The last count of a copy is near its end: nothing is added to it in front of the other copy's first slice.
    for starts in [true, false, true] {
        let packet = full.one(starts, &mut random);
        full.cycle(Some(packet))?;
        full.swap_and_drain(|_| None)?;
    }
    for _ in 0..8 {
        full.random_interval(&mut random)?;
    }
    same(STAGE, full.packets, "overflows that never came", &0, &full.overflows.len())?;

    let mut stage = Stage::new(toolchain, configuration, &text, 1)?;
    stage.directed(&mut random)?;
    while stage.packets < count {
        stage.random_interval(&mut random)?;
    }
    Ok(stage.packets + full.packets)
}

/// Any packet.
fn any(random: &mut StdRng) -> Packet {
    (Key::from(random.random::<[u32; KEY_WORDS]>()), random.random::<u64>() & SUM_MASK)
}

impl Stage {
    fn new(
        toolchain: &Toolchain,
        configuration: &Configuration,
        verilog: &str,
        first_count: u32,
    ) -> Result<Self, CheckError> {
        let bench = Bench::new(toolchain, TOP, verilog)?;
        let mut stage = Stage {
            hash: LinearHash::new(configuration.hash(), configuration.seed()),
            placement: Placement::new(configuration.seed()),
            zeros: configuration.prefixes().lengths().first().copied().unwrap_or(0).into(),
            room: configuration.rows() / RECORD_CELLS,
            key: bench.port("key")?,
            packet: bench.port("packet")?,
            epoch: bench.port("epoch")?,
            nanoseconds: bench.port("nanoseconds")?,
            drain_address: bench.port("drain_address")?,
            drain_epoch: bench.port("drain_epoch")?,
            drained_cell: bench.port("drained_cell")?,
            overflow: bench.port("overflow")?,
            overflow_epoch: bench.port("overflow_epoch")?,
            bench,
            first_count,
            shown: None,
            copies: [vec![], vec![]],
            current: 0,
            overflows: VecDeque::new(),
            packets: 0,
        };
        stage.bench.set(stage.drain_epoch, 1);
        Ok(stage)
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

    /// Counts a packet; true when a count wrapped.
    fn count(&mut self, &(key, time): &Packet) -> bool {
        let place = self.placement.place(self.hash.hash(&key));
        let records = &mut self.copies[self.current];
        if place.leading_zeros() >= self.zeros && records.len() < self.room {
            records.push([place.into(), time, self.first_count.into(), time]);
            return false;
        }
        let Some([_, _, count, sum]) = records.last_mut() else { return false };
        *count = u64::from((*count as u32).wrapping_add(1));
        *sum = (*sum + time) & SUM_MASK;
        *count == 0
    }

    /// Makes the other copy count, and drains the one that counted, with a packet asked for in each cycle meanwhile.
    fn swap_and_drain(&mut self, mut packet: impl FnMut(usize) -> Option<Packet>) -> Result<(), CheckError> {
        // The packet whose key was shown last belongs to the copy that counts until now.
        self.cycle(None)?;
        let idle = self.current;
        self.current ^= 1;
        self.copies[self.current].clear();
        self.bench.set(self.drain_epoch, idle as u64);
        let words = RECORD_CELLS * self.room;
        // One copy forwards and backwards again, the other backwards first.
        let place_of = |step: usize| {
            let place = if step < words { step } else { 2 * words - 1 - step };
            if idle == 0 { place } else { words - 1 - place }
        };
        self.bench.set(self.drain_address, place_of(0) as u64);
        for cycle in 0..SETTLE {
            self.cycle(packet(cycle))?;
        }
        for place in (0..2 * words).map(place_of) {
            self.bench.set(self.drain_address, place as u64);
            for cycle in 0..DRAIN_LATENCY {
                self.cycle(packet(cycle))?;
            }
            let record = self.copies[idle].get(place / RECORD_CELLS).unwrap_or(&[0; 4]);
            let expected = [record[place % RECORD_CELLS * 2], record[place % RECORD_CELLS * 2 + 1]];
            same(STAGE, self.packets, "drained word", &expected, &self.drained())?;
        }
        Ok(())
    }

    /// Bits 71:40 and 39:0 of the drained word.
    fn drained(&self) -> [u64; 2] {
        let mut words = [0u32; 3];
        self.bench.get_words(self.drained_cell, &mut words);
        let [low, middle, high] = words.map(u64::from);
        [middle >> 8 | (high & 0xff) << 24, low | (middle & 0xff) << 32]
    }

    fn directed(&mut self, random: &mut StdRng) -> Result<(), CheckError> {
        // Copies without a packet, twice each.
        for _ in 0..4 {
            self.swap_and_drain(|_| None)?;
        }
        let (first, other) = (self.one(true, random), self.one(false, random));
        // No slice starts; then slices of one packet, of two, ... each with pauses and without.
        for length in 0..=12usize {
            for pause in 0..3 {
                for step in (0..8).flat_map(|_| 0..length.max(1)) {
                    self.cycle(Some(if step == 0 && length > 0 { first } else { other }))?;
                    (0..pause).try_for_each(|_| self.cycle(None))?;
                }
                self.swap_and_drain(|_| None)?;
            }
        }
        // Neighbours in different copies, which start a slice, or go on with none; then one copy counts while the other is drained.
        for lead in 0..16usize {
            for behind in [first, other] {
                for step in 0..=lead {
                    self.cycle(Some(if step == 0 { first } else { other }))?;
                }
                self.swap_and_drain(|cycle| (cycle % 2 == 0).then_some(behind))?;
            }
        }
        Ok(())
    }

    /// A packet that starts a slice, or one that does not.
    fn one(&self, starts: bool, random: &mut StdRng) -> Packet {
        loop {
            let packet = any(random);
            let place = self.placement.place(self.hash.hash(&packet.0));
            if (place.leading_zeros() >= self.zeros) == starts {
                return packet;
            }
        }
    }

    /// Few packets or many, with pauses and without, one of them again and again.
    fn random_interval(&mut self, random: &mut StdRng) -> Result<(), CheckError> {
        let again = any(random);
        let (share, idle) = (random.random_range(0..=7), [0, 1, 4][random.random_range(0..3)]);
        let draw = |random: &mut StdRng| {
            let is_pause = idle > 0 && random.random_ratio(idle, 8);
            (!is_pause).then(|| if random.random_ratio(share, 8) { again } else { any(random) })
        };
        let packets = [1, 10, 100, 2000][random.random_range(0..4)];
        for _ in 0..random.random_range(0..packets) {
            let packet = draw(random);
            self.cycle(packet)?;
        }
        self.swap_and_drain(|_| draw(random))
    }
}
