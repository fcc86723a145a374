//! Simulation of the RMII tap: the top under Verilator, PHYs at its pins, and the twins of both ports.
//!
//! The same for the emitted Verilog and for the netlist of a bitstream: only the pins are looked at. Each PHY has a
//! clock of its own that drifts against the board's, so that every phase between them comes about. When a frame's
//! timestamp is taken is worked out from the times of the clocks' edges and what the modules say of their latency; the
//! rest is [`MeasurementPoint`]'s.
//!
//! # Test plan
//!
//! It finds what it compares: `tests/board_rmii_tap.rs` plants faults and sees them reported.

use crate::boards::selftest::{Compared, Difference, SimulatedBoard, describe};
use deltaline_model::board::framing::Deframer;
use deltaline_model::board::traffic::{self, Plan};
use deltaline_model::board::{Command, Identity, Record, Top};
use deltaline_model::point::MeasurementPoint;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::delimiter::Delimiter;
use deltaline_model::wire::frame::{Frame, Role};
use std::collections::VecDeque;
use std::mem::take;
use verilator_sys::{Instance, Port};

/// Picoseconds of a cycle of the board's clock.
const CYCLE: u64 = traffic::CYCLE_PICOSECONDS as u64;
/// Picoseconds of a cycle of the PHYs' clocks: two hundred millionths too slow and too fast.
const PERIODS: [u64; 2] = [20_004, 19_996];
/// Edges of a PHY's clock from the one that takes a frame's first dibit to the one with its first byte (`deltaline_firmware::rmii`).
const TO_FIRST_BYTE: u64 = 25;
/// Edges of the board's clock, from the one that meets that byte to the one that takes the timestamp
/// (`deltaline_firmware::byte_crossing`).
const TO_TIMESTAMP: u64 = 3;
/// Edges of the board's clock from the start of a reset's count to the one behind which the timestamp is zero and grows
/// with every further one (`deltaline_firmware::power_on_reset`, `deltaline_firmware::pausing_clock`).
const TO_ZERO: u64 = 515;
/// Cycles from a reset on in which both cores clear their memories.
const CLEARING: u64 = 2_000;

/// How a frame comes, in dibits.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Zeros between the carrier's begin and the preamble.
    pub zeros: usize,
    /// The preamble, without the start delimiter's last dibit.
    pub preamble: usize,
    /// From the frame's end, how many dibits lie behind the carrier's, so that CRS_DV toggles; an even number.
    pub toggles: usize,
    /// Ones behind the last whole byte.
    pub odd: usize,
    /// Silence behind it.
    pub gap: usize,
}

impl Shape {
    /// As frames come at line rate: a preamble of 15.5 and a gap of 12 bytes.
    pub const DENSE: Shape = Shape { zeros: 0, preamble: 31, toggles: 0, odd: 0, gap: 48 };
}

/// What happened to a frame on its way to a PHY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Nothing.
    None,
    /// A bit of its check sequence has changed.
    Changed,
    /// Only so many bytes are left of it and its check sequence, at least five.
    Cut(usize),
}

/// A frame and whether the tap is to find it bad.
type Sent = (Vec<u8>, bool);

/// What stands on the pins for a cycle: CRS_DV, RXD, and the frame that begins with this dibit.
#[derive(Default)]
struct Dibit {
    valid: bool,
    bits: u8,
    begins: Option<Sent>,
}

/// A PHY's receive pins, what is to come on them, and the twin of the port behind.
struct Phy {
    clk: Port,
    crs_dv: Port,
    rxd: [Port; 2],
    /// Time of the next rising edge and from one to the next, in picoseconds.
    next: u64,
    period: u64,
    /// Rising edges so far.
    edges: u64,
    line: VecDeque<Dibit>,
    /// Frames in the tap, and the edge with which the first byte of each leaves `deltaline_firmware::rmii`.
    inside: VecDeque<(u64, Sent)>,
    point: MeasurementPoint,
    /// Payloads that the twin expects, and those that came.
    expected: Vec<Vec<u8>>,
    said: Vec<Vec<u8>>,
}

impl Phy {
    fn new(instance: &Instance, name: &str, role: Role, period: u64) -> Result<Self, verilator_sys::Error> {
        let port = |pin: &str| instance.port(&format!("{name}_{pin}"));
        Ok(Phy {
            clk: port("clk")?,
            crs_dv: port("crs_dv")?,
            rxd: [port("rxd_0")?, port("rxd_1")?],
            next: period / 3,
            period,
            edges: 0,
            line: VecDeque::new(),
            inside: VecDeque::new(),
            point: MeasurementPoint::new(&traffic::configuration(), role),
            expected: vec![],
            said: vec![],
        })
    }

    fn queue(&mut self, count: usize, valid: bool, bits: u8) {
        self.line.extend((0..count).map(|_| Dibit { valid, bits, begins: None }));
    }

    fn send(&mut self, frame: &[u8], shape: Shape, damage: Damage) {
        let Shape { zeros, preamble, toggles, odd, gap } = shape;
        let check = check_sequence(frame) ^ u32::from(damage == Damage::Changed) << (frame.len() % 32);
        let mut bytes = [frame, &check.to_le_bytes()].concat();
        if let Damage::Cut(length) = damage {
            bytes.truncate(length);
        }
        self.queue(zeros, true, 0);
        self.queue(preamble, true, 1);
        self.queue(1, true, 3);
        // Three odd dibits make a byte with the first one of the silence.
        let is_bad = damage != Damage::None || odd == 3;
        let mut begins = Some((frame.to_vec(), is_bad));
        let count = 4 * bytes.len();
        for (index, byte) in bytes.iter().flat_map(|byte| [byte; 4]).enumerate() {
            let valid = index + toggles < count || index % 2 == 1;
            self.line.push_back(Dibit { valid, bits: byte >> (2 * (index % 4)) & 3, begins: begins.take() });
        }
        self.queue(odd, true, 3);
        self.queue(gap, false, 0);
    }

    /// All rising edges before a time. The pins change with the falling edges, which the next evaluation sees.
    fn run_to(
        &mut self,
        instance: &mut Instance,
        time: u64,
        started: u64,
    ) -> Result<(), verilator_sys::Error> {
        while self.next < time {
            instance.set(self.clk, 1);
            instance.eval()?;
            if self.inside.front().is_some_and(|(edge, _)| *edge == self.edges)
                && let Some((_, (frame, is_bad))) = self.inside.pop_front()
            {
                // The first edge of the board's clock behind this one.
                let met = self.next / CYCLE + 1;
                let stamp = (met + TO_TIMESTAMP - started - TO_ZERO) * (CYCLE / 1000);
                self.observe(&frame, is_bad, Timestamp::from_nanoseconds(stamp));
            }
            self.edges += 1;
            self.next += self.period;
            let Dibit { valid, bits, begins } = self.line.pop_front().unwrap_or_default();
            self.inside.extend(begins.map(|sent| (self.edges + TO_FIRST_BYTE, sent)));
            instance.set(self.crs_dv, u64::from(valid));
            instance.set(self.rxd[0], u64::from(bits & 1));
            instance.set(self.rxd[1], u64::from(bits >> 1));
            instance.set(self.clk, 0);
        }
        Ok(())
    }

    fn observe(&mut self, frame: &[u8], is_bad: bool, time: Timestamp) {
        if is_bad {
            return self.point.observe_bad();
        }
        self.point.observe(frame, time);
        let expected = &mut self.expected;
        self.point.observe_delimiter(frame, |frame| {
            expected.push(Record::Control(frame).encode().as_bytes().to_vec());
        });
    }
}

fn check_sequence(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |check, byte| {
        (0..8).fold(check ^ u32::from(*byte), |check, _| {
            check >> 1 ^ if check & 1 == 1 { 0xedb8_8320 } else { 0 }
        })
    })
}

/// The tap with a PHY at each port, the host, and the twins.
pub struct SimulatedTap {
    board: SimulatedBoard,
    /// Ingress and egress.
    phys: [Phy; 2],
    deframer: Deframer,
    identity: Identity,
    /// Identities that came, and those that are due.
    identities: usize,
    asked: usize,
    /// Bytes behind the last whole message.
    unfinished: usize,
    /// Number of the board's cycle in which the last reset began to count.
    started: u64,
    compared: Compared,
}

impl SimulatedTap {
    /// A tap at power-on whose memories are clear; its identity has come and is that of the build.
    ///
    /// # Errors
    ///
    /// The instance has not the ports of a tap; [`Difference`].
    pub fn new(instance: Instance, bit_cycles: u8, build: u32) -> Result<Self, Difference> {
        let phys = [
            Phy::new(&instance, "ingress", Role::Sender, PERIODS[0])?,
            Phy::new(&instance, "egress", Role::Receiver, PERIODS[1])?,
        ];
        let mut tap = SimulatedTap {
            board: SimulatedBoard::new(instance, bit_cycles)?,
            phys,
            deframer: Deframer::new(),
            identity: Identity { top: Top::RmiiTap, ..traffic::identity(&traffic::configuration(), build) },
            identities: 0,
            asked: 0,
            unfinished: 0,
            started: 0,
            compared: Compared::default(),
        };
        tap.run(CLEARING)?;
        tap.wait_for_identity()?;
        Ok(tap)
    }

    /// The board, to look at.
    pub fn board(&self) -> &SimulatedBoard {
        &self.board
    }

    /// What has been compared so far.
    pub fn compared(&self) -> Compared {
        Compared { cycles: self.board.cycles(), ..self.compared }
    }

    /// Queues a frame, without its check sequence, at the ingress (0) or the egress (1).
    pub fn send(&mut self, port: usize, frame: &[u8], shape: Shape, damage: Damage) {
        self.phys[port].send(frame, shape, damage);
    }

    /// Queues dibits that belong to no frame, and silence behind them.
    pub fn disturb(&mut self, port: usize, dibits: &[u8]) {
        let phy = &mut self.phys[port];
        dibits.iter().for_each(|bits| phy.queue(1, true, *bits));
        phy.queue(40, false, 0);
    }

    /// Queues a plan's packets, back to back, at the ingress, and those that are not lost at the egress.
    pub fn send_packets(&mut self, plan: &mut Plan, count: usize) {
        for draw in plan.take(count) {
            let packet = &draw.packet()[..draw.length];
            self.send(0, packet, Shape::DENSE, Damage::None);
            if !draw.is_lost {
                self.send(1, packet, Shape::DENSE, Damage::None);
            }
        }
        self.compared.packets += count as u64;
    }

    /// Queues a delimiter at both ports.
    pub fn cut(&mut self, number: u32) {
        let delimiter = Delimiter::new(&traffic::configuration(), number).encode();
        for port in 0..2 {
            self.send(port, &delimiter, Shape::DENSE, Damage::None);
        }
        self.compared.intervals += 1;
    }

    /// Runs until all that is queued has come.
    ///
    /// # Errors
    ///
    /// [`Difference`].
    pub fn receive(&mut self) -> Result<(), Difference> {
        while self.phys.iter().any(|phy| !phy.line.is_empty() || !phy.inside.is_empty()) {
            self.run(100)?;
        }
        Ok(())
    }

    /// Runs until all that is queued has come and all control frames have gone, and a while for any that should not be;
    /// compares them with the twins'.
    ///
    /// # Errors
    ///
    /// [`Difference`].
    pub fn compare(&mut self) -> Result<(), Difference> {
        self.receive()?;
        let expected: usize =
            self.phys.iter().flat_map(|phy| &phy.expected).map(|payload| payload.len() + 5).sum();
        let patience = self.board.cycles() + self.board.cycles_for(expected) + 100_000;
        while self.phys.iter().any(|phy| phy.said.len() < phy.expected.len())
            && self.board.cycles() < patience
        {
            self.run(1_000)?;
        }
        // Anything more would have begun by then.
        self.run(2_000)?;
        if self.unfinished > 0 || self.identities != self.asked {
            return Err(Difference::Message("something that nobody asked for".into()));
        }
        if self.board.broken() > 0 {
            return Err(Difference::Line(self.board.broken()));
        }
        for phy in &mut self.phys {
            let (expected, said) = (take(&mut phy.expected), take(&mut phy.said));
            let different = expected.iter().zip(&said).find(|(expected, said)| expected != said);
            if let Some((expected, instead)) = different {
                return Err(Difference::Record { expected: describe(expected), instead: describe(instead) });
            }
            let bytes = |payloads: &[Vec<u8>]| payloads.iter().map(Vec::len).sum();
            if expected.len() != said.len() {
                return Err(Difference::Silence { found: bytes(&said), expected: bytes(&expected) });
            }
            self.compared.bytes += bytes(&said);
        }
        Ok(())
    }

    /// Asks for the identity, and compares it.
    ///
    /// # Errors
    ///
    /// [`Difference`].
    pub fn identify(&mut self) -> Result<(), Difference> {
        self.board.command(&Command::Identify);
        self.wait_for_identity()
    }

    /// The button, held down for a while, amid frames that are so long that both cores count again before their end: of
    /// these nothing is left, and both twins start anew.
    ///
    /// # Errors
    ///
    /// [`Difference`].
    pub fn press_button(&mut self) -> Result<(), Difference> {
        self.board.press(true);
        self.run(100)?;
        self.board.press(false);
        // The button's two flip-flops.
        self.started = self.board.cycles() + 2;
        for (phy, role) in self.phys.iter_mut().zip([Role::Sender, Role::Receiver]) {
            phy.point = MeasurementPoint::new(&traffic::configuration(), role);
            phy.inside.clear();
        }
        self.wait_for_identity()
    }

    /// Runs for so many cycles of the board's clock.
    ///
    /// # Errors
    ///
    /// [`Difference`].
    pub fn run(&mut self, cycles: u64) -> Result<(), Difference> {
        for _ in 0..cycles {
            let time = (self.board.cycles() + 1) * CYCLE;
            for phy in &mut self.phys {
                phy.run_to(self.board.instance(), time, self.started)?;
            }
            self.board.cycle()?;
        }
        for byte in self.board.take_bytes() {
            self.unfinished += 1;
            let Some(message) = self.deframer.push(byte) else { continue };
            self.unfinished = 0;
            let payload = message.map_err(|error| Difference::Message(error.to_string()))?;
            match Record::decode(payload) {
                Ok(Record::Control(frame)) => {
                    let frame =
                        Frame::decode(frame).map_err(|error| Difference::Message(error.to_string()))?;
                    self.phys[frame.header.role as usize].said.push(payload.to_vec());
                }
                Ok(Record::Identity(identity)) if identity == self.identity => self.identities += 1,
                _ => return Err(Difference::Message(describe(payload))),
            }
        }
        Ok(())
    }

    fn wait_for_identity(&mut self) -> Result<(), Difference> {
        let bytes = self.identity.encode().as_bytes().len() + 5;
        let patience = self.board.cycles() + 2 * self.board.cycles_for(bytes);
        self.asked += 1;
        while self.identities < self.asked {
            if self.board.cycles() > patience {
                return Err(Difference::Silence { found: 0, expected: bytes });
            }
            self.run(100)?;
        }
        Ok(())
    }
}
