//! The byte core's delimiter tags, alone: numbers, epochs, keys and frames in, whether a frame is signed out, against another
//! implementation of the tag.
//!
//! The memory of keys is modelled here: its words come a cycle later, and change while the module reads. What is about to change is
//! random until it has.

use crate::bench::Bench;
use crate::error::{CheckError, HardwareError, same};
use deltaline_hdl::byte::delimiter_tags::{CYCLES, DelimiterTags};
use deltaline_hdl::emit::block::emit_block;
use deltaline_model::configuration::Configuration;
use deltaline_model::wire::authentication::Key;
use deltaline_model::wire::delimiter::{BYTES, Delimiter};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::num::NonZeroU16;
use verilator_sys::{Port, Toolchain};

const STAGE: &str = "byte core's delimiter tags";
/// The module's name.
pub const TOP: &str = "tags";
/// Cycles in which no tag is made.
const LEAST: u64 = 2300;
/// What is compared: epoch, key identifier, reserved bytes, tag.
const SIGNED: std::ops::Range<usize> = 32..56;
/// From this byte on a tag must be ready.
const OPENS: usize = 31;
/// Of the memory: words of the key, its identifier, `from`; and where what is in force begins.
const KEY: usize = 4;
const KEY_ID: usize = 12;
const FROM: usize = 14;
const IN_FORCE: usize = 16;

/// The tags of a configuration's delimiters.
///
/// # Errors
///
/// As emission.
pub fn verilog(configuration: &Configuration) -> Result<String, HardwareError> {
    Ok(emit_block(&mut DelimiterTags::new(configuration), TOP)?)
}

/// What a cycle brings besides the numbers.
#[derive(Clone, Copy, Default)]
struct Cycle {
    changes: [bool; 2],
    copying: bool,
    renews: bool,
    /// Of a frame: place and value.
    byte: Option<(usize, u8)>,
}

/// The ports.
struct Ports {
    phase: Port,
    number: [Port; 2],
    epoch: [Port; 2],
    changes: [Port; 2],
    copying: Port,
    renew: Port,
    pending: Port,
    place: Port,
    word: Port,
    there: Port,
    octet: Port,
    index: Port,
    signed: [Port; 2],
}

impl Ports {
    fn of(bench: &Bench) -> Result<Self, CheckError> {
        let one = |name: &str| bench.port(name);
        let two = |name: &str| -> Result<[Port; 2], CheckError> {
            Ok([one(&format!("due_{name}"))?, one(&format!("next_{name}"))?])
        };
        Ok(Ports {
            phase: one("phase")?,
            number: two("octet")?,
            epoch: two("epoch_octet")?,
            changes: two("changes")?,
            copying: one("copying")?,
            renew: one("renew")?,
            pending: one("pending")?,
            place: one("place")?,
            word: one("word")?,
            there: one("there")?,
            octet: one("octet")?,
            index: one("index")?,
            signed: two("signed")?,
        })
    }
}

/// The module, and what surrounds it in a core.
struct Scene {
    bench: Bench,
    ports: Ports,
    configuration: Configuration,
    random: StdRng,
    at: u64,
    memory: [u16; 32],
    /// The memory's word that was asked for in the cycle before.
    word: u16,
    pending: bool,
    numbers: [u32; 2],
    epochs: [u32; 2],
    /// From when on a tag must be ready; and when it was another last.
    deadline: [u64; 2],
    changed: [u64; 2],
    compared: u64,
}

/// What becomes another, or may.
#[derive(Clone, Copy)]
enum Event {
    /// A delimiter's number or epoch.
    Place(usize),
    /// The key in force: the one that waits, or any.
    Copy,
    /// Another key waits.
    Schedule,
    /// It waits for another interval.
    From,
    Reset,
}

impl Scene {
    fn cycle(&mut self, cycle: Cycle) -> Result<(), CheckError> {
        let (bench, ports) = (&mut self.bench, &self.ports);
        let phase = self.at % 4;
        bench.set(ports.phase, phase);
        for tag in 0..2 {
            let mut byte = |value: u32| {
                if cycle.changes[tag] { self.random.random::<u8>() } else { (value >> (8 * phase)) as u8 }
            };
            let (number, epoch) = (byte(self.numbers[tag]), byte(self.epochs[tag]));
            bench.set(ports.number[tag], number.into());
            bench.set(ports.epoch[tag], epoch.into());
            bench.set(ports.changes[tag], cycle.changes[tag].into());
        }
        bench.set(ports.copying, cycle.copying.into());
        bench.set(ports.renew, cycle.renews.into());
        bench.set(ports.pending, self.pending.into());
        bench.set(ports.word, self.word.into());
        let (index, octet) =
            cycle.byte.unwrap_or_else(|| (self.random.random_range(0..127), self.random.random()));
        bench.set(ports.there, cycle.byte.is_some().into());
        bench.set(ports.octet, octet.into());
        bench.set(ports.index, index.min(126) as u64);
        bench.settle()?;
        self.word = self.memory[bench.get(ports.place) as usize % self.memory.len()];
        self.bench.tick()?;
        self.at += 1;
        Ok(())
    }

    fn idle(&mut self, cycles: u64) -> Result<(), CheckError> {
        (0..cycles).try_for_each(|_| self.cycle(Cycle::default()))
    }

    fn from(&self) -> u32 {
        u32::from(self.memory[FROM + 1]) << 16 | u32::from(self.memory[FROM])
    }

    fn set_from(&mut self) {
        let near = self.numbers[self.random.random_range(0..2)];
        let from: u32 = match self.random.random_range(0..4) {
            0 => self.random.random(),
            1 => near ^ 1 << self.random.random_range(0..32),
            _ => near.wrapping_add(self.random.random_range(0..3)).wrapping_sub(1),
        };
        (self.memory[FROM], self.memory[FROM + 1]) = (from as u16, (from >> 16) as u16);
    }

    /// Where the key begins that signs a tag's delimiter.
    fn signer(&self, tag: usize) -> usize {
        let is_newer = self.pending && self.numbers[tag].wrapping_sub(self.from()) as i32 >= 0;
        if is_newer { 0 } else { IN_FORCE }
    }

    /// The delimiter that has a tag, by a key that begins there.
    fn delimiter(&self, tag: usize, key: usize) -> [u8; BYTES] {
        let mut secret = [0; 16];
        for (bytes, word) in secret.chunks_exact_mut(2).zip(&self.memory[key + KEY..]) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        let id = NonZeroU16::new(self.memory[key + KEY_ID]).unwrap_or(NonZeroU16::MIN);
        let place = Delimiter::new(&self.configuration, self.numbers[tag]);
        Delimiter { boot_epoch: self.epochs[tag], ..place }.signed(&Key::new(id, secret))
    }

    fn any_key(&mut self, at: usize) {
        for word in at + KEY..at + KEY_ID {
            self.memory[word] = self.random.random();
        }
        self.memory[at + KEY_ID] = self.random.random_range(1..=u16::MAX);
    }

    /// A tag is another, or may be: from when on both must be ready.
    fn told(&mut self, changed: [bool; 2], restarts: bool) {
        for (tag, changed) in changed.into_iter().enumerate() {
            let was_ready = self.deadline[tag] <= self.at && !changed;
            if changed {
                self.changed[tag] = self.at;
            }
            // The first is made, or made anew; the second behind it.
            let begins = if tag == 0 { self.at } else { self.at.max(self.deadline[0]) };
            if !was_ready && (changed || restarts || tag == 1) {
                self.deadline[tag] = begins + CYCLES;
            }
        }
    }

    fn event(&mut self, event: Event) -> Result<(), CheckError> {
        let signers = [0, 1].map(|tag| self.signer(tag));
        let cycles = self.random.random_range(1..14);
        match event {
            Event::Place(tag) => {
                for _ in 0..cycles {
                    let mut changes = [false; 2];
                    changes[tag] = true;
                    self.cycle(Cycle { changes, ..Cycle::default() })?;
                }
                let (number, from) = (self.numbers[tag], self.from());
                match self.random.random_range(0..5) {
                    0 => self.numbers[tag] = number.wrapping_add(1),
                    1 => self.epochs[tag] = self.random.random(),
                    2 => {
                        self.numbers[tag] = from.wrapping_add(self.random.random_range(0..3)).wrapping_sub(1)
                    }
                    3 => self.numbers[tag] = from ^ 1 << self.random.random_range(0..32),
                    _ => self.numbers[tag] = self.random.random(),
                }
                self.told([tag == 0, tag == 1], tag == 0);
            }
            Event::Copy => {
                let takes = self.pending && self.random.random();
                for word in 0..32 {
                    self.cycle(Cycle { copying: true, ..Cycle::default() })?;
                    if takes && word < KEY_ID {
                        self.memory[IN_FORCE + KEY + word] = self.memory[KEY + word];
                    }
                }
                if takes {
                    self.pending = false;
                    self.memory[IN_FORCE + KEY_ID] = self.memory[KEY_ID];
                } else {
                    self.any_key(IN_FORCE);
                }
                self.told([true; 2], true);
            }
            Event::Schedule if !self.pending => {
                self.any_key(0);
                self.set_from();
                self.cycle(Cycle { renews: true, ..Cycle::default() })?;
                self.pending = true;
                self.told([0, 1].map(|tag| self.signer(tag) != signers[tag]), true);
            }
            Event::Schedule | Event::From => {
                let before = self.from();
                self.set_from();
                let from = self.from();
                // A word that is written while it is read gives anything.
                (self.memory[FROM], self.memory[FROM + 1]) = (self.random.random(), (before >> 16) as u16);
                self.cycle(Cycle::default())?;
                (self.memory[FROM], self.memory[FROM + 1]) = (from as u16, self.random.random());
                self.cycle(Cycle { renews: self.pending, ..Cycle::default() })?;
                self.memory[FROM + 1] = (from >> 16) as u16;
                self.told([0, 1].map(|tag| self.signer(tag) != signers[tag]), true);
            }
            Event::Reset => {
                self.bench.reset()?;
                self.told([true; 2], true);
            }
        }
        Ok(())
    }

    /// A frame of a delimiter's length at least: from some byte on another one's bytes, perhaps behind something that happens there.
    fn frame(
        &mut self,
        first: &[u8; BYTES],
        event: Option<(usize, Event, u64)>,
        second: impl Fn(&mut Self) -> [u8; BYTES],
    ) -> Result<(), CheckError> {
        let (has_gaps, length) = (self.random.random_ratio(1, 4), self.random.random_range(BYTES..3 * BYTES));
        let (mut bytes, mut opened) = (*first, 0);
        for place in 0..length {
            if let Some((_, event, pause)) = event.filter(|(at, ..)| *at == place) {
                self.event(event)?;
                self.idle(pause)?;
                bytes[place..].copy_from_slice(&second(self)[place..]);
            }
            if has_gaps {
                let cycles = self.random.random_range(0..3);
                self.idle(cycles)?;
            }
            if place == OPENS {
                opened = self.at;
            }
            let octet = if SIGNED.contains(&place) { bytes[place] } else { self.random.random() };
            self.cycle(Cycle { byte: Some((place, octet)), ..Cycle::default() })?;
        }
        self.idle(1)?;
        // Right before the verdict: what was signed is not any more.
        let changes: [bool; 2] = std::array::from_fn(|_| self.random.random_ratio(1, 16));
        self.cycle(Cycle { changes, ..Cycle::default() })?;
        self.told(changes, changes[0]);
        for tag in 0..2 {
            let matches = bytes[SIGNED] == self.delimiter(tag, self.signer(tag))[SIGNED];
            let found = self.bench.get(self.ports.signed[tag]) == 1;
            let (can, must) = (self.changed[tag] + LEAST <= opened, self.deadline[tag] <= opened);
            let what = if tag == 0 { "it is the one that is due" } else { "it is the candidate's successor" };
            if !(matches && can) || must {
                same(STAGE, self.at, what, &(matches && can), &found)?;
                self.compared += u64::from(found);
            }
        }
        Ok(())
    }

    /// A delimiter of one of the two, or nearly.
    fn some_delimiter(&mut self) -> [u8; BYTES] {
        let tag = self.random.random_range(0..2);
        let mut bytes = self.delimiter(tag, self.signer(tag));
        match self.random.random_range(0..8) {
            0 => {
                let bit = self.random.random_range(8 * SIGNED.start..8 * SIGNED.end);
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            // Of the other key, with the other's tag.
            1 => bytes = self.delimiter(tag, IN_FORCE - self.signer(tag)),
            2 => bytes[40..].copy_from_slice(&self.delimiter(1 - tag, self.signer(1 - tag))[40..]),
            _ => {}
        }
        bytes
    }

    fn any_event(&mut self) -> Event {
        match self.random.random_range(0..12) {
            0..3 => Event::Place(0),
            3..6 => Event::Place(1),
            6 => Event::Copy,
            7..9 => Event::Schedule,
            9..11 => Event::From,
            _ => Event::Reset,
        }
    }
}

/// Runs `count` changes, with frames behind them and around them; returns how many frames were signed.
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
    let bench = Bench::new(toolchain, TOP, verilog)?;
    let mut random = StdRng::seed_from_u64(seed);
    let mut scene = Scene {
        ports: Ports::of(&bench)?,
        bench,
        configuration: *configuration,
        at: 0,
        memory: random.random(),
        word: 0,
        pending: false,
        numbers: random.random(),
        epochs: random.random(),
        deadline: [CYCLES, 2 * CYCLES],
        changed: [0; 2],
        compared: 0,
        random,
    };
    scene.idle(2 * CYCLES)?;
    for tag in 0..2 {
        let genuine = scene.delimiter(tag, scene.signer(tag));
        for bit in 8 * SIGNED.start..8 * SIGNED.end {
            let mut frame = genuine;
            frame[bit / 8] ^= 1 << (bit % 8);
            scene.frame(&frame, None, |_| genuine)?;
        }
        scene.frame(&genuine, None, |_| genuine)?;
    }
    for _ in 0..count {
        let event = scene.any_event();
        scene.event(event)?;
        // Long enough for none, some, or both.
        let cycles = match scene.random.random_range(0..4) {
            0 => 0,
            1 => scene.random.random_range(0..2 * CYCLES),
            2 => scene.deadline[0].saturating_sub(scene.at),
            _ => scene.deadline[1].saturating_sub(scene.at),
        };
        scene.idle(cycles)?;
        for _ in 0..4 {
            // What is cut short is no delimiter, and leaves nothing behind.
            if scene.random.random_ratio(1, 8) {
                let bytes = scene.some_delimiter();
                let length = scene.random.random_range(1..BYTES);
                for byte in bytes.iter().copied().enumerate().take(length) {
                    scene.cycle(Cycle { byte: Some(byte), ..Cycle::default() })?;
                }
            }
            let frame = scene.some_delimiter();
            scene.frame(&frame, None, |_| frame)?;
        }
        if scene.random.random_ratio(1, 3) {
            // Amid a frame, which goes on with what is right by then.
            let (at, pause) = (scene.random.random_range(20..57), scene.random.random_range(0..3) * CYCLES);
            let (event, tag) = (scene.any_event(), scene.random.random_range(0..2));
            let before = scene.delimiter(tag, scene.signer(tag));
            scene
                .frame(&before, Some((at, event, pause)), |scene| scene.delimiter(tag, scene.signer(tag)))?;
        }
    }
    // The first is there in time while the second changes all the time.
    scene.event(Event::Place(0))?;
    for _ in 0..CYCLES - OPENS as u64 {
        let changes = [false, scene.random.random_ratio(3, 4)];
        scene.cycle(Cycle { changes, ..Cycle::default() })?;
    }
    scene.told([false, true], false);
    let due = scene.delimiter(0, scene.signer(0));
    scene.frame(&due, None, |_| due)?;
    Ok(scene.compared)
}
