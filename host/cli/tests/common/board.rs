//! A simulated board at a pseudo-terminal: the software twin, with faults on its line.
#![allow(clippy::unwrap_used, dead_code, reason = "helpers of tests are tests, and not every test needs all")]

use deltaline_capture::Packet;
use deltaline_model::board::framing::{self, Deframer};
use deltaline_model::board::traffic::Board;
use deltaline_model::board::{Command, Record, Settings, Sizes};
use serialport::{SerialPort, TTYPort};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;
use tempfile::TempDir;

/// What the line makes of a message, given its number and its bytes with flags and check sequence.
pub(crate) type Line = Box<dyn FnMut(usize, Vec<u8>) -> Vec<u8> + Send>;
/// What the board says instead of a payload.
pub(crate) type Voice = Box<dyn FnMut(Vec<u8>) -> Vec<u8> + Send>;

/// Settings that every run of a test can do with.
pub(crate) const LOSSY: Settings = Settings {
    number: 1,
    intervals: Settings::ENDLESS,
    seed: 5,
    sizes: Sizes::Shortest,
    gap_spread: 6,
    gap: 100,
    delay: 1000,
    jitter: 9,
    burst: 0,
    loss: 655,
    bursts: 0,
    packets: 2000,
};

enum Order {
    Do(Command),
    Say(Vec<u8>),
    Unplug,
    Plug,
}

/// A board and its port.
pub(crate) struct Simulated {
    folder: TempDir,
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

impl Simulated {
    /// A sound board.
    pub(crate) fn new() -> Self {
        Self::with(Box::new(|payload| payload), Box::new(|_, bytes| bytes))
    }

    pub(crate) fn with(voice: Voice, line: Line) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("port");
        let (orders, received) = channel();
        let (plugged, is_plugged) = channel();
        let thread = spawn(move || Runner::new(path, voice, line, received, &plugged).run());
        is_plugged.recv().unwrap();
        Simulated { folder, orders: Some(orders), thread: Some(thread) }
    }

    /// The name of its port.
    pub(crate) fn port(&self) -> String {
        self.folder.path().join("port").to_str().unwrap().into()
    }

    /// As if the host had sent it.
    pub(crate) fn command(&self, command: Command) {
        self.order(Order::Do(command));
    }

    /// Bytes on the line.
    pub(crate) fn say(&self, bytes: &[u8]) {
        self.order(Order::Say(bytes.to_vec()));
    }

    pub(crate) fn unplug(&self) {
        self.order(Order::Unplug);
    }

    pub(crate) fn plug(&self) {
        self.order(Order::Plug);
    }

    fn order(&self, order: Order) {
        self.orders.as_ref().unwrap().send(order).unwrap();
    }
}

impl Drop for Simulated {
    fn drop(&mut self) {
        drop(self.orders.take());
        self.thread.take().unwrap().join().unwrap();
    }
}

struct Runner {
    path: PathBuf,
    /// Our end and the host's; the latter is kept open so that nothing is lost while the host is not there.
    port: Option<(TTYPort, TTYPort)>,
    board: Board,
    deframer: Deframer,
    voice: Voice,
    line: Line,
    messages: usize,
    /// Counts what cuts messages off: resets, and the port's going.
    cuts: usize,
    orders: Receiver<Order>,
    is_over: bool,
}

impl Runner {
    fn new(path: PathBuf, voice: Voice, line: Line, orders: Receiver<Order>, plugged: &Sender<()>) -> Self {
        let board = Board::new(77, |_| {});
        let deframer = Deframer::new();
        let (port, is_over) = (None, false);
        let mut runner =
            Runner { path, port, board, deframer, voice, line, messages: 0, cuts: 0, orders, is_over };
        runner.plug();
        plugged.send(()).unwrap();
        runner
    }

    fn plug(&mut self) {
        let pair = TTYPort::pair().unwrap();
        // Copies are not handed down to the programs that a test starts: these would hold the port.
        let (mut ours, theirs) = (pair.0.try_clone_native().unwrap(), pair.1.try_clone_native().unwrap());
        ours.set_timeout(Duration::from_millis(5)).unwrap();
        symlink(theirs.name().unwrap(), &self.path).unwrap();
        self.port = Some((ours, theirs));
    }

    fn unplug(&mut self) {
        self.cuts += 1;
        fs::remove_file(&self.path).unwrap();
        self.port = None;
    }

    fn run(mut self) {
        while !self.is_over {
            self.obey();
            self.listen();
            let mut said = vec![];
            if self.port.is_some() && self.board.run_interval(|payload| said.push(payload.to_vec())) {
                self.say_all(said);
            }
        }
    }

    fn obey(&mut self) {
        loop {
            match self.orders.try_recv() {
                Ok(Order::Do(command)) => self.command(&command),
                Ok(Order::Say(bytes)) => self.write(&bytes),
                Ok(Order::Unplug) => self.unplug(),
                Ok(Order::Plug) => self.plug(),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    self.is_over = true;
                    return;
                }
            }
        }
    }

    fn listen(&mut self) {
        let Some((port, _)) = &mut self.port else { return };
        let mut buffer = [0; 512];
        let count = port.read(&mut buffer).unwrap_or(0);
        for byte in &buffer[..count] {
            let command = match self.deframer.push(*byte) {
                Some(Ok(payload)) => Command::decode(payload).ok(),
                _ => None,
            };
            if let Some(command) = command {
                self.command(&command);
            }
        }
    }

    fn command(&mut self, command: &Command) {
        let mut said = vec![];
        self.cuts += usize::from(*command == Command::Reset);
        self.board.command(command, |payload| said.push(payload.to_vec()));
        self.say_all(said);
    }

    fn say_all(&mut self, payloads: Vec<Vec<u8>>) {
        let cuts = self.cuts;
        for payload in payloads {
            if self.cuts != cuts {
                return;
            }
            let mut bytes = vec![];
            framing::encode(&(self.voice)(payload), |byte| bytes.push(byte));
            let bytes = (self.line)(self.messages, bytes);
            self.messages += 1;
            self.write(&bytes);
        }
    }

    /// Waits while the host does not read, unless the test is over or the port is gone.
    fn write(&mut self, mut bytes: &[u8]) {
        let cuts = self.cuts;
        while let ([_, ..], Some((port, _))) = (bytes, &mut self.port) {
            match port.write(&bytes[..bytes.len().min(256)]) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::Interrupted) => {
                    self.obey();
                    if self.is_over || self.cuts != cuts {
                        return;
                    }
                }
                Err(_) => return,
            }
        }
    }
}

/// What the twin says in so many intervals.
pub(crate) fn said(settings: &Settings, intervals: usize) -> Vec<Vec<u8>> {
    let mut said = vec![];
    let mut board = Board::new(77, |payload| said.push(payload.to_vec()));
    board.command(&Command::Settings(*settings), |_| {});
    for _ in 0..intervals {
        board.run_interval(|payload| said.push(payload.to_vec()));
    }
    said
}

pub(crate) fn control_frames(said: &[Vec<u8>]) -> Vec<Packet> {
    said.iter()
        .filter_map(|payload| match Record::decode(payload).unwrap() {
            Record::Control(frame) => {
                Some(Packet { timestamp: 0, length: frame.len() as u32, interface: 0, data: frame.to_vec() })
            }
            _ => None,
        })
        .collect()
}

pub(crate) fn on_the_line(said: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![];
    said.iter().for_each(|payload| framing::encode(payload, |byte| bytes.push(byte)));
    bytes
}
