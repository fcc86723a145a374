//! Registers: AXI4-Lite accesses and the hardware's signals in, answers and signals out.
//!
//! The model is a plain reading of the table [`REGISTERS`]. It is compared in every cycle: storage and strobes on
//! their ports, answers when they are offered, and the bus's rules on what has been offered and not taken.

use crate::bench::Bench;
use crate::error::{CheckError, same};
use deltaline_hdl::registers::Emitted;
use deltaline_model::registers::{Bus, Field, Kind, REGISTERS, Register, offset};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::VecDeque;
use verilator_sys::{Port, Toolchain};

const STAGE: &str = "registers";
const OKAY: u64 = 0;
const SLVERR: u64 = 2;
/// Bytes that the address reaches.
const APERTURE: u32 = 4096;
/// Most cycles from an offer to the acceptance, and from an acceptance to the answer, when nothing is in the way.
const PATIENCE: u64 = 4;

/// A write: address, data, byte strobes.
type Write = (u32, u32, u8);

/// What registers hold, by index of register and field.
#[derive(Clone)]
struct Model {
    emitted: Emitted,
    fields: Vec<Vec<u64>>,
    /// Whether a guarded register may be written in the present cycle.
    allowed: Vec<bool>,
}

impl Model {
    fn new(emitted: Emitted) -> Self {
        let of = |field: &Field| if let Kind::Constant(value) = field.kind { value } else { 0 };
        let fields = REGISTERS.iter().map(|register| register.fields.iter().map(of).collect()).collect();
        Model { emitted, fields, allowed: vec![true; REGISTERS.len()] }
    }

    /// Index of the register and number of the word at an address.
    fn find(address: u32) -> Option<(usize, u32)> {
        let holds =
            |register: &Register| (register.offset..register.offset + register.width / 8).contains(&address);
        let index = REGISTERS.iter().position(holds)?;
        address.is_multiple_of(4).then(|| (index, (address - REGISTERS[index].offset) / 4))
    }

    fn read(&self, address: u32, inputs: &[Vec<u64>]) -> Option<u32> {
        let (index, word) = Self::find(address)?;
        let mut value = match REGISTERS[index].offset {
            offset::CAPABILITY => u64::from(self.emitted.capability.0),
            offset::CONFIGURATION => self.emitted.configuration,
            offset::BUILD => u64::from(self.emitted.build),
            _ => 0,
        };
        for (number, field) in REGISTERS[index].fields.iter().enumerate() {
            value |= match field.kind {
                Kind::Input => inputs[index][number] << field.low,
                Kind::Secret | Kind::Strobe | Kind::Emitted => 0,
                Kind::Constant(_) | Kind::Snapshot | Kind::Storage => self.fields[index][number] << field.low,
            };
        }
        Some((value >> (32 * word)) as u32)
    }

    /// Whether a write is legal; then it is done.
    fn write(&mut self, (address, data, strobes): Write) -> bool {
        let Some((index, word)) = Self::find(address) else { return false };
        let fields = REGISTERS[index].fields;
        let writable = |field: &Field| matches!(field.kind, Kind::Storage | Kind::Secret | Kind::Strobe);
        if strobes != 0xf || !fields.iter().any(writable) || !self.allowed[index] {
            return false;
        }
        let here = u64::from(u32::MAX) << (32 * word);
        let mut left = u64::from(data) << (32 * word);
        let mut after = vec![];
        for (field, old) in fields.iter().zip(&self.fields[index]) {
            let bits = mask(field.width) << field.low;
            let new = ((old << field.low) & !here | left & here) & bits;
            left &= !bits;
            after.push(new >> field.low);
        }
        if left != 0 || !fields.iter().zip(&after).all(|(field, value)| field.legal.allows(*value)) {
            return false;
        }
        self.fields[index] = after;
        true
    }
}

fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// The bus's ports.
struct Pins {
    awaddr: Port,
    awvalid: Port,
    awready: Port,
    wdata: Port,
    wstrb: Port,
    wvalid: Port,
    wready: Port,
    bresp: Port,
    bvalid: Port,
    bready: Port,
    araddr: Port,
    arvalid: Port,
    arready: Port,
    rdata: Port,
    rresp: Port,
    rvalid: Port,
    rready: Port,
}

impl Pins {
    fn of(bench: &Bench) -> Result<Self, verilator_sys::Error> {
        let port = |name: &str| bench.port(&format!("s_axil_{name}"));
        Ok(Pins {
            awaddr: port("awaddr")?,
            awvalid: port("awvalid")?,
            awready: port("awready")?,
            wdata: port("wdata")?,
            wstrb: port("wstrb")?,
            wvalid: port("wvalid")?,
            wready: port("wready")?,
            bresp: port("bresp")?,
            bvalid: port("bvalid")?,
            bready: port("bready")?,
            araddr: port("araddr")?,
            arvalid: port("arvalid")?,
            arready: port("arready")?,
            rdata: port("rdata")?,
            rresp: port("rresp")?,
            rvalid: port("rvalid")?,
            rready: port("rready")?,
        })
    }
}

/// A port of a field: its indices and handle.
struct Signal {
    register: usize,
    field: usize,
    port: Port,
}

/// What the master does in one channel of requests: offered items wait for acceptance, accepted ones for an answer.
struct Channel<T> {
    todo: VecDeque<T>,
    offered: bool,
    waits: u64,
    accepted: VecDeque<T>,
}

impl<T: Copy> Channel<T> {
    fn new() -> Self {
        Channel { todo: VecDeque::new(), offered: false, waits: 0, accepted: VecDeque::new() }
    }

    /// Offers the next item, at once or with a pause; what is offered stays. The item on the wires, if any.
    fn offer(&mut self, random: &mut StdRng, pauses: bool) -> Option<T> {
        let pause = pauses && random.random_ratio(1, 2);
        self.offered |= !pause && !self.todo.is_empty();
        self.todo.front().filter(|_| self.offered).copied()
    }

    /// Behind the clock edge: whether what was offered has been accepted.
    fn settle(&mut self, ready: bool) {
        if self.offered && ready {
            self.accepted.extend(self.todo.pop_front());
            self.offered = false;
        }
    }
}

/// The register block, a master on its bus, and what the registers must hold.
struct Master {
    bench: Bench,
    pins: Pins,
    outputs: Vec<Signal>,
    driven: Vec<Signal>,
    /// Guarded registers, and the ports that guard them.
    guards: Vec<(usize, Port)>,
    inputs: Vec<Vec<u64>>,
    model: Model,
    random: StdRng,
    pauses: bool,
    aw: Channel<u32>,
    w: Channel<(u32, u8)>,
    ar: Channel<u32>,
    /// What has been answered and not taken: response, and data.
    b: Option<u64>,
    r: Option<(u64, u64)>,
    /// `snapshot` was high in the last cycle.
    snapshot: bool,
    idle: [u64; 2],
    answers: u64,
    refusals: u64,
}

/// Runs all directed accesses and `count` random ones; returns the number of answers.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn check(
    toolchain: &Toolchain,
    verilog: &str,
    emitted: Emitted,
    count: u64,
    seed: u64,
) -> Result<u64, CheckError> {
    let mut master = Master::new(toolchain, verilog, emitted, seed)?;
    master.directed()?;
    while master.answers < count {
        master.pauses = master.random.random_ratio(3, 4);
        master.draw();
        master.finish()?;
        if master.random.random_ratio(1, 64) {
            master.reset_under_way(emitted)?;
        }
    }
    same(
        STAGE,
        master.answers,
        "refusals among many accesses",
        &true,
        &(master.refusals > master.answers / 8),
    )?;
    Ok(master.answers)
}

impl Master {
    fn new(toolchain: &Toolchain, verilog: &str, emitted: Emitted, seed: u64) -> Result<Self, CheckError> {
        let bench = Bench::new(toolchain, "registers", verilog)?;
        let (mut outputs, mut driven) = (vec![], vec![]);
        for (index, register) in REGISTERS.iter().enumerate() {
            for (number, field) in register.fields.iter().enumerate() {
                let list = match field.kind {
                    Kind::Constant(_) | Kind::Emitted => continue,
                    Kind::Input | Kind::Snapshot => &mut driven,
                    Kind::Storage | Kind::Secret | Kind::Strobe => &mut outputs,
                };
                let port = bench.port(&register.port(field))?;
                list.push(Signal { register: index, field: number, port });
            }
        }
        let mut guards = vec![];
        for (index, register) in REGISTERS.iter().enumerate().filter(|(_, register)| register.guarded) {
            guards.push((index, bench.port(&format!("{}_allowed", register.name))?));
        }
        let inputs = REGISTERS.iter().map(|register| vec![0; register.fields.len()]).collect();
        Ok(Master {
            pins: Pins::of(&bench)?,
            bench,
            outputs,
            driven,
            guards,
            inputs,
            model: Model::new(emitted),
            random: StdRng::seed_from_u64(seed),
            pauses: false,
            aw: Channel::new(),
            w: Channel::new(),
            ar: Channel::new(),
            b: None,
            r: None,
            snapshot: false,
            idle: [0; 2],
            answers: 0,
            refusals: 0,
        })
    }

    fn write(&mut self, (address, data, strobes): Write) {
        self.aw.todo.push_back(address);
        self.w.todo.push_back((data, strobes));
    }

    /// Every register, every address, every bit and every restricted value, with and without pauses.
    fn directed(&mut self) -> Result<(), CheckError> {
        for pauses in [false, true] {
            self.pauses = pauses;
            let start = self.bench.cycles();
            for address in 0..APERTURE {
                let data = self.random.random();
                self.write((address, data, 0xf));
                self.ar.todo.push_back(address);
            }
            self.finish()?;
            // Without pauses one of each every two cycles.
            let slow = !pauses && self.bench.cycles() - start > 2 * u64::from(APERTURE) + 8;
            same(STAGE, self.answers, "slower than documented", &false, &slow)?;
            for register in &REGISTERS {
                for address in (register.offset..register.offset + register.width / 8).step_by(4) {
                    for bit in 0..32 {
                        self.write((address, 1 << bit, 0xf));
                        self.ar.todo.push_back(address);
                    }
                    for value in 0..64 {
                        for field in register.fields {
                            self.write((address, value << (field.low % 32), 0xf));
                        }
                        self.ar.todo.push_back(address);
                    }
                    for strobes in 0..16 {
                        self.write((address, 1, strobes));
                        self.write((address, 0, strobes));
                    }
                    self.finish()?;
                }
            }
            // One after the other, as a host does: each pair of words is of one snapshot.
            for _ in 0..8 {
                self.write((offset::SNAPSHOT, 1, 0xf));
                self.finish()?;
                for register in &REGISTERS {
                    self.ar.todo.extend((register.offset..register.offset + register.width / 8).step_by(4));
                    self.finish()?;
                }
            }
        }
        Ok(())
    }

    /// Some random accesses, most of them legal.
    fn draw(&mut self) {
        for _ in 0..self.random.random_range(1..8) {
            if self.random.random() {
                let address = self.address();
                self.ar.todo.push_back(address);
                continue;
            }
            let address = self.address();
            let legal = self.random.random_ratio(3, 4);
            let mut data = if self.random.random() { 1 } else { self.random.random() };
            if let Some((index, word)) = Model::find(address).filter(|_| legal) {
                data = 0;
                for field in REGISTERS[index].fields.iter().filter(|field| field.low / 32 <= word) {
                    let value = (0..)
                        .map(|_: u32| self.random.random::<u64>() & mask(field.width))
                        .find(|value| field.legal.allows(*value));
                    let place = u128::from(value.unwrap_or(0)) << field.low >> (32 * word);
                    data |= place as u32;
                }
            }
            let strobes = if self.random.random_ratio(1, 8) { self.random.random_range(0..16) } else { 0xf };
            self.write((address, data, strobes));
        }
    }

    fn address(&mut self) -> u32 {
        if self.random.random_ratio(1, 16) {
            return self.random.random_range(0..APERTURE);
        }
        let register = &REGISTERS[self.random.random_range(0..REGISTERS.len())];
        register.offset + if register.width == 64 && self.random.random() { 4 } else { 0 }
    }

    /// Runs until all accesses have been answered, and some cycles more.
    fn finish(&mut self) -> Result<(), CheckError> {
        let busy = |master: &Master| {
            !master.aw.todo.is_empty()
                || !master.w.todo.is_empty()
                || !master.ar.todo.is_empty()
                || !master.aw.accepted.is_empty()
                || !master.w.accepted.is_empty()
                || !master.ar.accepted.is_empty()
                || master.b.is_some()
                || master.r.is_some()
        };
        while busy(self) {
            self.cycle()?;
        }
        for _ in 0..3 {
            self.cycle()?;
        }
        Ok(())
    }

    /// A reset in the middle of accesses: nothing is answered, all is as it was at first.
    fn reset_under_way(&mut self, emitted: Emitted) -> Result<(), CheckError> {
        self.draw();
        for _ in 0..self.random.random_range(0..6) {
            self.cycle()?;
        }
        for pin in [self.pins.awvalid, self.pins.wvalid, self.pins.arvalid] {
            self.bench.set(pin, 0);
        }
        self.bench.reset()?;
        (self.aw, self.w, self.ar) = (Channel::new(), Channel::new(), Channel::new());
        (self.b, self.r, self.snapshot, self.idle) = (None, None, false, [0; 2]);
        self.model = Model::new(emitted);
        for pin in
            [self.pins.awready, self.pins.wready, self.pins.arready, self.pins.bvalid, self.pins.rvalid]
        {
            same(STAGE, self.answers, "valid and ready in reset", &0, &self.bench.get(pin))?;
        }
        self.finish()
    }

    /// One cycle of everything.
    fn cycle(&mut self) -> Result<(), CheckError> {
        // The hardware's signals change in every cycle.
        for Signal { register, field, port } in &self.driven {
            let value = self.random.random::<u64>() & mask(REGISTERS[*register].fields[*field].width);
            self.inputs[*register][*field] = value;
            self.bench.set(*port, value);
        }
        for (register, port) in &self.guards {
            let allowed = self.random.random();
            self.model.allowed[*register] = allowed;
            self.bench.set(*port, u64::from(allowed));
        }
        let (bench, pins, random) = (&mut self.bench, &self.pins, &mut self.random);
        // Wires that say nothing carry noise.
        let noise: u64 = random.random();
        let address = self.aw.offer(random, self.pauses);
        bench.set(pins.awvalid, u64::from(address.is_some()));
        bench.set(pins.awaddr, address.map_or(noise & 0xfff, u64::from));
        let data = self.w.offer(random, self.pauses);
        bench.set(pins.wvalid, u64::from(data.is_some()));
        bench.set(pins.wdata, data.map_or(noise >> 32, |(data, _)| u64::from(data)));
        bench.set(pins.wstrb, data.map_or(noise & 0xf, |(_, strobes)| u64::from(strobes)));
        let address = self.ar.offer(random, self.pauses);
        bench.set(pins.arvalid, u64::from(address.is_some()));
        bench.set(pins.araddr, address.map_or(noise >> 8 & 0xfff, u64::from));
        let takes = [0, 1].map(|_| !(self.pauses && random.random_ratio(1, 2)));
        bench.set(pins.bready, u64::from(takes[0]));
        bench.set(pins.rready, u64::from(takes[1]));
        let ready = [pins.awready, pins.wready, pins.arready].map(|pin| bench.get(pin) == 1);
        bench.tick()?;

        let before = self.model.clone();
        if self.snapshot {
            self.take();
        }
        // What may be answered was accepted before this edge.
        let writable = !self.aw.accepted.is_empty() && !self.w.accepted.is_empty();
        let readable = !self.ar.accepted.is_empty();
        self.aw.settle(ready[0]);
        self.w.settle(ready[1]);
        self.ar.settle(ready[2]);
        self.writes(takes[0], writable)?;
        self.reads(takes[1], readable, &before)?;
        self.progress(ready)
    }

    /// The snapshot.
    fn take(&mut self) {
        for (index, register) in REGISTERS.iter().enumerate() {
            for (number, field) in register.fields.iter().enumerate() {
                if field.kind == Kind::Snapshot {
                    self.model.fields[index][number] = self.inputs[index][number];
                }
            }
        }
    }

    /// The response channel of writes, the strobes and the storage.
    fn writes(&mut self, taken: bool, may_answer: bool) -> Result<(), CheckError> {
        let valid = self.bench.get(self.pins.bvalid) == 1;
        let found = valid.then(|| self.bench.get(self.pins.bresp));
        if taken {
            self.b = None;
        }
        // Strobes last for one cycle.
        for Signal { register, field, .. } in &self.outputs {
            if REGISTERS[*register].fields[*field].kind == Kind::Strobe {
                self.model.fields[*register][*field] = 0;
            }
        }
        if self.b.is_none() && valid {
            let address = self.aw.accepted.pop_front().filter(|_| may_answer);
            let data = self.w.accepted.pop_front().filter(|_| may_answer);
            if let (Some(address), Some((data, strobes))) = (address, data) {
                let legal = self.model.write((address, data, strobes));
                self.b = Some(if legal { OKAY } else { SLVERR });
                self.answers += 1;
                self.refusals += u64::from(!legal);
            }
        }
        same(STAGE, self.answers, "answer to a write", &self.b, &found)?;
        for Signal { register, field, port } in &self.outputs {
            let expected = self.model.fields[*register][*field];
            same(STAGE, self.answers, REGISTERS[*register].name, &expected, &self.bench.get(*port))?;
            if REGISTERS[*register].offset == offset::SNAPSHOT {
                self.snapshot = expected == 1;
            }
        }
        Ok(())
    }

    /// The response channel of reads.
    fn reads(&mut self, taken: bool, may_answer: bool, before: &Model) -> Result<(), CheckError> {
        let valid = self.bench.get(self.pins.rvalid) == 1;
        let found = valid.then(|| (self.bench.get(self.pins.rresp), self.bench.get(self.pins.rdata)));
        if taken {
            self.r = None;
        }
        let request = if self.r.is_none() && valid { self.ar.accepted.pop_front() } else { None };
        if let Some(address) = request.filter(|_| may_answer) {
            let data = before.read(address, &self.inputs);
            self.r = Some(data.map_or((SLVERR, 0), |data| (OKAY, u64::from(data))));
            self.answers += 1;
            self.refusals += u64::from(data.is_none());
        }
        same(STAGE, self.answers, "answer to a read", &self.r, &found)
    }

    /// Nothing waits for ever.
    fn progress(&mut self, ready: [bool; 3]) -> Result<(), CheckError> {
        let Master { aw, w, ar, .. } = self;
        // A request may wait behind one that waits for its other half, or for the taking of an answer.
        let (no_address, no_data) = (aw.accepted.is_empty(), w.accepted.is_empty());
        let waiting = [
            (aw.offered && !ready[0], &mut aw.waits, !no_address && (no_data || self.b.is_some())),
            (w.offered && !ready[1], &mut w.waits, !no_data && (no_address || self.b.is_some())),
            (ar.offered && !ready[2], &mut ar.waits, !ar.accepted.is_empty() && self.r.is_some()),
        ];
        let mut worst = 0;
        for (waits, count, excused) in waiting {
            *count = if waits && !excused { *count + 1 } else { 0 };
            worst = worst.max(*count);
        }
        let both = !self.aw.accepted.is_empty() && !self.w.accepted.is_empty();
        let pending = [both && self.b.is_none(), !self.ar.accepted.is_empty() && self.r.is_none()];
        for (pending, idle) in pending.into_iter().zip(&mut self.idle) {
            *idle = if pending { *idle + 1 } else { 0 };
            worst = worst.max(*idle);
        }
        same(STAGE, self.answers, "accesses that wait too long", &false, &(worst > PATIENCE))
    }
}

/// The register block under Verilator as a bus, for hosts' accessors.
pub struct RegisterBlock {
    bench: Bench,
    pins: Pins,
}

/// An access that the hardware refuses, or that cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// SLVERR.
    #[error("the hardware refuses an access at {0:#x}")]
    Refused(u32),
    /// The simulation failed.
    #[error(transparent)]
    Verilator(#[from] verilator_sys::Error),
}

impl RegisterBlock {
    /// The register block, reset.
    ///
    /// # Errors
    ///
    /// What Verilator says.
    pub fn new(toolchain: &Toolchain, verilog: &str) -> Result<Self, verilator_sys::Error> {
        let bench = Bench::new(toolchain, "registers", verilog)?;
        Ok(RegisterBlock { pins: Pins::of(&bench)?, bench })
    }

    /// Sets a signal of the hardware's side.
    ///
    /// # Errors
    ///
    /// No such port.
    pub fn set(&mut self, port: &str, value: u64) -> Result<(), verilator_sys::Error> {
        let port = self.bench.port(port)?;
        self.bench.set(port, value);
        Ok(())
    }

    /// A signal of the hardware's side.
    ///
    /// # Errors
    ///
    /// No such port.
    pub fn get(&self, port: &str) -> Result<u64, verilator_sys::Error> {
        Ok(self.bench.get(self.bench.port(port)?))
    }

    /// Ticks until `valid` is high, lowering what has been accepted.
    fn finish(&mut self, offers: &[(Port, Port)], valid: Port) -> Result<(), verilator_sys::Error> {
        for (offer, _) in offers {
            self.bench.set(*offer, 1);
        }
        while self.bench.get(valid) == 0 {
            let accepted: Vec<Port> = offers
                .iter()
                .filter(|(_, ready)| self.bench.get(*ready) == 1)
                .map(|(offer, _)| *offer)
                .collect();
            self.bench.tick()?;
            accepted.into_iter().for_each(|offer| self.bench.set(offer, 0));
        }
        Ok(())
    }
}

impl Bus for &mut RegisterBlock {
    type Error = AccessError;

    fn read(&mut self, offset: u32) -> Result<u32, AccessError> {
        let Pins { araddr, arvalid, arready, rvalid, rready, rresp, rdata, .. } = self.pins;
        self.bench.set(araddr, u64::from(offset));
        self.bench.set(rready, 1);
        self.finish(&[(arvalid, arready)], rvalid)?;
        let (response, data) = (self.bench.get(rresp), self.bench.get(rdata));
        self.bench.tick()?;
        if response == OKAY { Ok(data as u32) } else { Err(AccessError::Refused(offset)) }
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), AccessError> {
        let Pins { awaddr, awvalid, awready, wdata, wstrb, wvalid, wready, bvalid, bready, bresp, .. } =
            self.pins;
        self.bench.set(awaddr, u64::from(offset));
        self.bench.set(wdata, u64::from(value));
        self.bench.set(wstrb, 0xf);
        self.bench.set(bready, 1);
        self.finish(&[(awvalid, awready), (wvalid, wready)], bvalid)?;
        let response = self.bench.get(bresp);
        self.bench.tick()?;
        if response == OKAY { Ok(()) } else { Err(AccessError::Refused(offset)) }
    }
}
