//! LDA: updates in, cells out when drained; with digests, if it has a port for them.

use crate::bench::{Bench, with_preload};
use crate::error::{CheckError, same};
use crate::faults::{either, with_input};
use deltaline_model::sketch::cell::{Cell, SUM_MASK};
use deltaline_model::sketch::digest;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::VecDeque;
use verilator_sys::{Port, Toolchain};

const STAGE: &str = "lda";

/// Cycles from an update to its overflow pulse.
const OVERFLOW_LATENCY: u64 = 7;
/// Cycles from an update to its digest.
const DIGEST_DELAY: usize = 5;
/// Cycles from the last update of a copy to its first drain.
const SETTLE: usize = 6;
/// Cycles from an address to its cell.
const DRAIN_LATENCY: usize = 4;

/// What the memory starts with in the emitted text, and what a check of long carries starts it with instead: every
/// bit of every cell's count set.
const ZERO: &str = "words[i] = 36'h0;";
const FULL: &str = "words[i] = 36'hffff00000;";

/// The stage and what its cells must hold.
struct Memories {
    bench: Bench,
    update: Port,
    epoch: Port,
    address: Port,
    timestamp: Port,
    digest: Option<Port>,
    /// Digests of the last updates, the oldest first.
    digests: VecDeque<u32>,
    overflow: Port,
    overflow_epoch: Port,
    drain_address: Port,
    drain_epoch: Port,
    clear: [Port; 2],
    drained_cell: Port,
    words: usize,
    copies: [Vec<Cell>; 2],
    current: usize,
    overflows: VecDeque<(u64, usize)>,
    updates: u64,
}

/// Runs all directed sequences and `count` random updates; returns the number of updates.
///
/// `words` is the number of cells of the emitted module: 2^A.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn check(
    toolchain: &Toolchain,
    verilog: &str,
    words: usize,
    count: u64,
    seed: u64,
) -> Result<u64, CheckError> {
    let mut random = StdRng::seed_from_u64(seed);
    let verilog = preloadable(verilog, "lda", 4)?;
    let full = Cell { count: u32::MAX, ..Cell::default() };
    let mut preloaded = with_preload(1, || Memories::new(toolchain, &verilog, words, full))?;
    preloaded.long_carries(&mut random)?;

    Ok(preloaded.updates + updates(toolchain, &verilog, words, count, seed)?)
}

/// The text, whose so many memories start as its new input `preload` says: as emitted, or full with one.
pub(super) fn preloadable(verilog: &str, top: &str, memories: usize) -> Result<String, CheckError> {
    same(STAGE, 0, "memories that can be preloaded", &memories, &verilog.matches(ZERO).count())?;
    let either = either(&format!("{top}.preload == 8'd1"), ZERO, FULL);
    Ok(with_input(verilog, top, "preload").replace(ZERO, &either))
}

/// The directed sequences and random updates of [`check`], without those that need the emitted memories' content: for
/// memories of others.
///
/// # Errors
///
/// As [`check`].
pub fn updates(
    toolchain: &Toolchain,
    verilog: &str,
    words: usize,
    count: u64,
    seed: u64,
) -> Result<u64, CheckError> {
    let mut random = StdRng::seed_from_u64(!seed);
    let mut memories = Memories::new(toolchain, verilog, words, Cell::default())?;
    memories.directed(&mut random)?;
    while memories.updates < count {
        memories.random_interval(&mut random)?;
    }
    Ok(memories.updates)
}

impl Memories {
    fn new(toolchain: &Toolchain, verilog: &str, words: usize, start: Cell) -> Result<Self, CheckError> {
        // The memories keep their initial content: no write may come from registers that have not been reset yet.
        let bench = Bench::zeroed(toolchain, "lda", verilog)?;
        let mut memories = Memories {
            update: bench.port("update")?,
            epoch: bench.port("epoch")?,
            address: bench.port("address")?,
            timestamp: bench.port("timestamp")?,
            digest: bench.port("field_0").ok(),
            digests: VecDeque::from([0; DIGEST_DELAY]),
            overflow: bench.port("overflow")?,
            overflow_epoch: bench.port("overflow_epoch")?,
            drain_address: bench.port("drain_address")?,
            drain_epoch: bench.port("drain_epoch")?,
            clear: [bench.port("clear_0")?, bench.port("clear_1")?],
            drained_cell: bench.port("drained_cell")?,
            bench,
            words,
            copies: [vec![start; words], vec![start; words]],
            current: 0,
            overflows: VecDeque::new(),
            updates: 0,
        };
        memories.bench.set(memories.update, 0);
        memories.bench.set(memories.drain_epoch, 1);
        Ok(memories)
    }

    /// One cycle, with or without an update; the overflow pulse is compared in every cycle.
    fn cycle(&mut self, update: Option<(usize, u64)>) -> Result<(), CheckError> {
        let now = self.bench.cycles();
        self.bench.set(self.update, u64::from(update.is_some()));
        // Without an update the other inputs are noise.
        let (word, time) = update.unwrap_or((now as usize % self.words, now.wrapping_mul(0x9e37_79b9)));
        self.bench.set(self.epoch, self.current as u64);
        self.bench.set(self.address, word as u64);
        self.bench.set(self.timestamp, time & SUM_MASK);
        // Digests of all ones carry; what comes without an update is noise. Some digest of every time.
        let value =
            if time.is_multiple_of(4) { u32::MAX } else { (time >> 3) as u32 ^ time.rotate_left(17) as u32 };
        self.digests.push_back(value);
        if let (Some(port), Some(value)) = (self.digest, self.digests.pop_front()) {
            self.bench.set(port, u64::from(value));
        }
        if update.is_some() {
            self.updates += 1;
            if self.digest.is_some() {
                let cell = &mut self.copies[self.current][word];
                cell.digest = digest::add(cell.digest, value);
            }
            if self.copies[self.current][word].add(time) {
                self.overflows.push_back((now + OVERFLOW_LATENCY, self.current));
            }
        }
        self.bench.tick()?;
        let found =
            (self.bench.get(self.overflow) == 1).then(|| self.bench.get(self.overflow_epoch) as usize);
        let due = self.overflows.front().is_some_and(|(at, _)| *at == self.bench.cycles());
        let expected = if due { self.overflows.pop_front().map(|(_, copy)| copy) } else { None };
        same(STAGE, self.updates, "overflow", &expected, &found)
    }

    /// Makes the other copy count, and drains the one that counted, with `update` asked for each cycle meanwhile.
    fn swap_and_drain(
        &mut self,
        mut update: impl FnMut(usize) -> Option<(usize, u64)>,
    ) -> Result<(), CheckError> {
        let idle = self.current;
        self.current ^= 1;
        self.bench.set(self.drain_epoch, idle as u64);
        self.bench.set(self.drain_address, 0);
        for cycle in 0..SETTLE {
            self.cycle(update(cycle))?;
        }
        for word in 0..self.words {
            self.bench.set(self.drain_address, word as u64);
            for cycle in 0..DRAIN_LATENCY {
                self.cycle(update(cycle))?;
            }
            let found = Cell::from_word(self.bench.get_wide(self.drained_cell));
            let expected = std::mem::take(&mut self.copies[idle][word]);
            same(STAGE, self.updates, "drained cell", &expected, &found)?;
            self.bench.set(self.clear[idle], 1);
            self.cycle(update(DRAIN_LATENCY))?;
            self.bench.set(self.clear[idle], 0);
            self.cycle(update(DRAIN_LATENCY + 1))?;
        }
        Ok(())
    }

    fn check_both(&mut self) -> Result<(), CheckError> {
        self.swap_and_drain(|_| None)?;
        self.swap_and_drain(|_| None)
    }

    fn directed(&mut self, random: &mut StdRng) -> Result<(), CheckError> {
        // All updates in one word, one a cycle, past the count's carry from the lower to the upper half.
        for _ in 0..70_000 {
            self.cycle(Some((self.words - 1, random.random())))?;
        }
        self.check_both()?;
        // The same word at every distance from 1 to 8, other words in between, then nothing in between.
        for distance in 1..=8usize {
            for _ in 0..64 {
                for step in 0..distance {
                    self.cycle(Some((if step == 0 { 3 } else { 3 + step }, random.random())))?;
                }
            }
            for _ in 0..64 {
                for step in 0..distance {
                    self.cycle((step == 0).then(|| (5, random.random())))?;
                }
            }
        }
        self.check_both()?;
        // Neighbours in different copies, the same word in both, then drained while the other is updated.
        for lead in 0..12usize {
            for _ in 0..=lead {
                self.cycle(Some((7, random.random())))?;
            }
            let mut draw = || Some((7, random.random()));
            self.swap_and_drain(|cycle| draw().filter(|_| cycle % 2 == 0))?;
        }
        // Sums at every carry: all ones plus one, at each end of each half.
        for (word, time) in [(0, 0xf_ffff), (1, 0xff_fff0_0000), (2, SUM_MASK), (3, 0x80_0000_0000)] {
            for addend in [time, 1, time, 1 << 20, time] {
                self.cycle(Some((word, addend)))?;
            }
        }
        self.check_both()
    }

    /// With every count at 2^32 - 1: the next update carries through the whole count.
    fn long_carries(&mut self, random: &mut StdRng) -> Result<(), CheckError> {
        for word in [0, 1, 2, 0, 5, 5, self.words - 1] {
            self.cycle(Some((word, random.random())))?;
        }
        for word in [6, 0, 8] {
            for _ in 0..3 {
                self.cycle(None)?;
            }
            self.cycle(Some((word, random.random())))?;
        }
        self.check_both()?;
        same(STAGE, self.updates, "overflows that never came", &0, &self.overflows.len())
    }

    fn random_interval(&mut self, random: &mut StdRng) -> Result<(), CheckError> {
        let span = [2, 4, 16, self.words][random.random_range(0..4)];
        let idle = [0, 1, 4][random.random_range(0..3)];
        let draw = |random: &mut StdRng| {
            let pause = idle > 0 && random.random_ratio(idle, 8);
            (!pause).then(|| (random.random_range(0..span), random.random()))
        };
        for _ in 0..random.random_range(1..2000) {
            let update = draw(random);
            self.cycle(update)?;
        }
        self.swap_and_drain(|_| draw(random))
    }
}
