//! Simulation: a board's top under Verilator with a model of the host's end of its serial line.
//!
//! The same for the emitted Verilog and for the netlist of a bitstream: only the pins are looked at. The host's UART
//! has a pace of its own, one percent faster than the board's, and knows nothing of the board's inside.
//!
//! # Test plan
//!
//! It finds what it compares: `tests/board_selftest.rs` plants faults and sees them reported, with the record they are in.

use deltaline_model::board::framing::{self, Deframer};
use deltaline_model::board::traffic::Board;
use deltaline_model::board::{Command, MessageError, Record, Settings};
use std::collections::VecDeque;
use verilator_sys::{Instance, Port};

/// Steps of the host's UART in a cycle of the board: the pace is set in hundredths of a percent.
const STEPS: u32 = 10_000;

/// A board under simulation. The clock is high between cycles.
pub struct SimulatedBoard {
    instance: Instance,
    clk: Port,
    rst_n: Port,
    usb_rx: Port,
    usb_tx: Port,
    /// Steps of the host's UART in one of its bits.
    bit: u32,
    cycles: u64,
    reading: Option<Reading>,
    writing: Writing,
    outgoing: VecDeque<u8>,
    incoming: Vec<u8>,
    broken: u64,
}

/// A byte that comes: steps to the next sample, and what has come of it.
struct Reading {
    wait: u32,
    bits: u32,
    value: u16,
}

/// A byte that goes: steps to the next bit, and what is left of it, the next bit lowest.
#[derive(Default)]
struct Writing {
    wait: u32,
    left: u16,
}

impl SimulatedBoard {
    /// A board at power-on, whose bits take `bit_cycles` cycles.
    ///
    /// # Errors
    ///
    /// The instance has not the ports of a board.
    pub fn new(mut instance: Instance, bit_cycles: u8) -> Result<Self, verilator_sys::Error> {
        let port = |name| instance.port(name);
        let (clk, rst_n, usb_rx, usb_tx) = (port("clk")?, port("rst_n")?, port("usb_rx")?, port("usb_tx")?);
        instance.set(rst_n, 1);
        instance.set(usb_rx, 1);
        Ok(SimulatedBoard {
            instance,
            clk,
            rst_n,
            usb_rx,
            usb_tx,
            bit: u32::from(bit_cycles) * STEPS / 101 * 100,
            cycles: 0,
            reading: None,
            writing: Writing::default(),
            outgoing: VecDeque::new(),
            incoming: vec![],
            broken: 0,
        })
    }

    /// One clock cycle.
    ///
    /// # Errors
    ///
    /// The simulation has stopped.
    pub fn cycle(&mut self) -> Result<(), verilator_sys::Error> {
        let level = self.write();
        self.instance.set(self.usb_rx, u64::from(level));
        self.instance.set(self.clk, 0);
        self.instance.eval()?;
        self.instance.set(self.clk, 1);
        self.instance.eval()?;
        self.cycles += 1;
        self.read();
        Ok(())
    }

    /// The level of the line to the board, a cycle further on.
    fn write(&mut self) -> bool {
        let Writing { wait, left } = &mut self.writing;
        if *wait >= STEPS {
            *wait -= STEPS;
        } else {
            *left >>= 1;
            *wait += self.bit - STEPS;
            if *left == 0 {
                match self.outgoing.pop_front() {
                    // Start bit, byte, stop bit, and one that marks the end.
                    Some(byte) => *left = 0b11 << 9 | u16::from(byte) << 1,
                    None => *wait = 0,
                }
            }
        }
        *left & 1 == 1 || *left == 0
    }

    /// Looks at the line from the board.
    fn read(&mut self) {
        let level = self.instance.get(self.usb_tx) == 1;
        match &mut self.reading {
            None if !level => self.reading = Some(Reading { wait: self.bit / 2, bits: 0, value: 0 }),
            None => {}
            Some(reading) if reading.wait >= STEPS => reading.wait -= STEPS,
            // A start bit that does not last is none.
            Some(reading) if reading.bits == 0 && level => self.reading = None,
            Some(reading) => {
                reading.wait += self.bit - STEPS;
                reading.value |= u16::from(level) << reading.bits;
                reading.bits += 1;
                if reading.bits == 10 {
                    // The stop bit is high.
                    if reading.value >> 9 == 1 {
                        self.incoming.push((reading.value >> 1) as u8);
                    } else {
                        self.broken += 1;
                    }
                    self.reading = None;
                }
            }
        }
    }

    /// Puts bytes on the line to the board, behind those that wait already.
    pub fn write_bytes(&mut self, bytes: &[u8]) {
        self.outgoing.extend(bytes);
    }

    /// Puts a command on the line to the board.
    pub fn command(&mut self, command: &Command) {
        framing::encode(command.encode().as_bytes(), |byte| self.outgoing.push_back(byte));
    }

    /// The bytes that have come since the last call.
    pub fn take_bytes(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.incoming)
    }

    /// The button: held down or not.
    pub fn press(&mut self, down: bool) {
        self.instance.set(self.rst_n, u64::from(!down));
    }

    /// The simulation, for the pins that only one board has.
    pub(crate) fn instance(&mut self) -> &mut Instance {
        &mut self.instance
    }

    /// Cycles that so many bytes take, with some to spare.
    pub(crate) fn cycles_for(&self, bytes: usize) -> u64 {
        // Ten bits a byte, two more on the way, and what the cores take to make it.
        (12 * u64::from(self.bit / STEPS + 1) + 100) * bytes as u64
    }

    /// An output pin.
    ///
    /// # Errors
    ///
    /// No such port.
    pub fn pin(&self, name: &str) -> Result<bool, verilator_sys::Error> {
        Ok(self.instance.get(self.instance.port(name)?) == 1)
    }

    /// Bytes that came without their stop bit.
    pub fn broken(&self) -> u64 {
        self.broken
    }

    /// Cycles since power-on.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Runs until `count` bytes have come that have not been taken, for as long as they take, and `spare` cycles.
    ///
    /// # Errors
    ///
    /// [`Difference::Silence`] when they do not come; the simulation has stopped.
    pub fn wait_for(&mut self, count: usize, spare: u64) -> Result<(), Difference> {
        let patience = self.cycles + self.cycles_for(count + self.outgoing.len()) + spare;
        while self.incoming.len() < count {
            if self.cycles > patience {
                return Err(Difference::Silence { found: self.incoming.len(), expected: count });
            }
            self.cycle()?;
        }
        Ok(())
    }
}

/// How board and twin differ.
#[derive(Debug)]
pub enum Difference {
    /// The simulation failed.
    Simulation(verilator_sys::Error),
    /// The board falls silent.
    Silence {
        /// Bytes that came.
        found: usize,
        /// Bytes that the twin sends.
        expected: usize,
    },
    /// A byte differs, or more come than should.
    Byte {
        /// Number of the byte since power-on.
        at: usize,
        /// The twin's record that it lies in.
        record: String,
        /// What the board said instead, as far as it can be read.
        instead: String,
    },
    /// A record differs.
    Record {
        /// What the twin says.
        expected: String,
        /// What the board says.
        instead: String,
    },
    /// What came is no record that this board has.
    Message(String),
    /// Bytes without a stop bit.
    Line(u64),
}

impl From<verilator_sys::Error> for Difference {
    fn from(error: verilator_sys::Error) -> Self {
        Difference::Simulation(error)
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Difference::Simulation(error) => write!(f, "{error}"),
            Difference::Silence { found, expected } => {
                write!(f, "the board sends {found} bytes and then nothing more; the twin sends {expected}")
            }
            Difference::Byte { at, record, instead } => {
                write!(f, "byte {at} on the serial line differs: the twin says {record}, the board {instead}")
            }
            Difference::Record { expected, instead } if expected == instead => {
                write!(f, "the cells of a control frame differ: {expected}")
            }
            Difference::Record { expected, instead } => {
                write!(f, "the twin says {expected}, the board {instead}")
            }
            Difference::Message(message) => write!(f, "the board sends {message}"),
            Difference::Line(count) => write!(f, "{count} bytes on the serial line have no stop bit"),
        }
    }
}

impl std::error::Error for Difference {}

/// What a comparison covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Bytes on the line.
    pub bytes: usize,
    /// Interval ends.
    pub intervals: usize,
    /// Packets through the sender.
    pub packets: u64,
    /// Clock cycles of the board.
    pub cycles: u64,
}

/// Board and twin side by side.
pub struct Comparison {
    board: SimulatedBoard,
    twin: Board,
    /// Cycles of the twin's clock that have been waited for.
    flowed: u64,
    compared: Compared,
}

impl Comparison {
    /// Waits for the identity of a board at power-on and compares it.
    ///
    /// # Errors
    ///
    /// [`Difference`].
    pub fn new(board: SimulatedBoard, build: u32) -> Result<Self, Difference> {
        let mut said = vec![];
        let twin = Board::new(build, |payload| said.push(payload.to_vec()));
        let mut comparison = Comparison { board, twin, flowed: 0, compared: Compared::default() };
        comparison.compare(&said)?;
        Ok(comparison)
    }

    /// The board, to look at or to disturb.
    pub fn board(&mut self) -> &mut SimulatedBoard {
        &mut self.board
    }

    /// Gives a command to both and compares what they say, up to the end of all intervals that it starts.
    ///
    /// # Errors
    ///
    /// [`Difference`].
    pub fn command(&mut self, command: &Command) -> Result<(), Difference> {
        self.board.command(command);
        let mut said = vec![];
        self.twin.command(command, |payload| said.push(payload.to_vec()));
        self.finish(said)
    }

    /// Gives settings to both while `count` intervals of the present ones, which never end, run; both must put
    /// them into force behind the same one.
    ///
    /// # Errors
    ///
    /// [`Difference`].
    pub fn replace_endless(
        &mut self,
        endless: &Settings,
        next: &Settings,
        count: usize,
    ) -> Result<(), Difference> {
        let endless = Command::Settings(Settings { intervals: Settings::ENDLESS, ..*endless });
        let mut said = vec![];
        self.board.command(&endless);
        self.twin.command(&endless, |_| {});
        for _ in 0..count {
            self.interval(&mut said);
        }
        self.compare(&said)?;
        // The board is in the midst of an interval now: the records of the last one have just left.
        self.board.command(&Command::Settings(*next));
        let mut said = vec![];
        self.interval(&mut said);
        self.twin.command(&Command::Settings(*next), |_| {});
        self.finish(said)
    }

    /// The button, held down for a while.
    ///
    /// # Errors
    ///
    /// [`Difference`].
    pub fn press_button(&mut self) -> Result<(), Difference> {
        self.board.press(true);
        for _ in 0..100 {
            self.board.cycle()?;
        }
        self.board.press(false);
        let mut said = vec![];
        self.twin.command(&Command::Reset, |payload| said.push(payload.to_vec()));
        self.finish(said)
    }

    /// Bytes that the board must pass over.
    pub fn disturb(&mut self, bytes: &[u8]) {
        self.board.write_bytes(bytes);
    }

    /// An output pin; false if there is none of this name.
    pub fn pin(&self, name: &str) -> bool {
        self.board.pin(name).unwrap_or_default()
    }

    /// What has been compared so far.
    pub fn compared(&self) -> Compared {
        Compared { cycles: self.board.cycles(), ..self.compared }
    }

    fn interval(&mut self, said: &mut Vec<Vec<u8>>) -> bool {
        let runs = self.twin.run_interval(|payload| said.push(payload.to_vec()));
        self.compared.intervals += usize::from(runs);
        runs
    }

    fn finish(&mut self, mut said: Vec<Vec<u8>>) -> Result<(), Difference> {
        while self.interval(&mut said) {}
        self.compare(&said)
    }

    /// Waits for the bytes of the twin's records, and a while for any that should not be, and compares them.
    fn compare(&mut self, said: &[Vec<u8>]) -> Result<(), Difference> {
        let mut expected = vec![];
        let mut starts = vec![];
        for payload in said {
            starts.push(expected.len());
            framing::encode(payload, |byte| expected.push(byte));
            if let Ok(Record::Truth(truth)) = Record::decode(payload) {
                self.compared.packets += u64::from(truth.sent);
            }
        }
        // Commands on their way, clearing of memories, and the packets' time.
        let spare = 100_000 + self.twin.cycles().saturating_sub(self.flowed);
        self.flowed = self.twin.cycles();
        let silence = self.board.wait_for(expected.len(), spare);
        let found = self.board.take_bytes();
        let at = found.iter().zip(&expected).take_while(|(a, b)| a == b).count();
        if at < found.len() {
            let record = starts.iter().rposition(|start| *start <= at).unwrap_or_default();
            let begin = starts.get(record).copied().unwrap_or_default();
            // The record's other bytes, if the board sends any.
            let missing = said.get(record).map_or(0, |payload| payload.len() + 4 + begin);
            let rest = self.board.wait_for(missing.saturating_sub(found.len()), 0).is_ok();
            let whole = [found, self.board.take_bytes()].concat();
            let mut deframer = Deframer::new();
            let instead = whole.iter().skip(begin).find_map(|byte| {
                deframer.push(*byte).map(|message| match message {
                    Ok(payload) => describe(payload),
                    Err(error) => error.to_string(),
                })
            });
            return Err(Difference::Byte {
                at: self.compared.bytes + at,
                record: said.get(record).map_or("nothing more".into(), |payload| describe(payload)),
                instead: instead.unwrap_or_else(|| if rest { "no record" } else { "half a record" }.into()),
            });
        }
        silence?;
        self.compared.bytes += expected.len();
        if self.board.broken > 0 {
            return Err(Difference::Line(self.board.broken));
        }
        Ok(())
    }
}

/// A record in words.
pub(crate) fn describe(payload: &[u8]) -> String {
    match Record::decode(payload) {
        Ok(Record::Control(bytes)) => match deltaline_model::wire::frame::Frame::decode(bytes) {
            Ok(frame) => format!("{:?}", frame.header),
            Err(error) => format!("a control frame ({error})"),
        },
        Ok(record) => format!("{record:?}"),
        Err(error @ MessageError::Empty) => error.to_string(),
        Err(error) => format!("{error}: {payload:02x?}"),
    }
}
