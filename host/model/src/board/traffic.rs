//! The software twin of the self-test board: commands in, records out, byte for byte what the hardware says.
//!
//! # Theory of operation
//!
//! Time is counted in cycles of the board's clock, which stands still between intervals; so nothing here depends on
//! the serial link's speed. A packet's bytes follow each other cycle by cycle.
//!
//! * [`Plan`] draws what each packet is.
//! * A packet starts behind the last byte of the one before by [`LEAST_GAP`] cycles and its gap; if the delay line
//!   holds [`LINE_PACKETS`] packets, not before it has room.
//! * It reaches the receiver after its delay, but behind the packet before it, by [`LEAST_GAP`] cycles or more:
//!   packets never overtake. Lost packets never reach it.
//! * An interval ends when its packets are sent and have arrived.
//!
//! How many cycles the hardware needs from one step to the next is written where it counts.
//!
//! # Test plan
//!
//! Packets are what the identity stage measures, with a right IPv4 checksum and the lengths of their pattern; loss,
//! bursts, gaps and delays have the distributions that the settings say; packets keep their order and distance; truth
//! agrees with a count of what was observed; settings rule from the next interval on. Byte for byte against the
//! hardware: `sim/cosim/tests/board_selftest.rs`.

use super::{Command, Identity, LEAST_DELAY, NO_DELAY, Record, Settings, Sizes, Top, Truth, VERSION};
use crate::configuration::{Configuration, Settings as Measurement};
use crate::point::{IntervalEnd, MeasurementPoint};
use crate::time::Timestamp;
use crate::wire::frame::Role;

/// Picoseconds of a clock cycle.
pub const CYCLE_PICOSECONDS: u32 = 10_000;
const CYCLE_NANOSECONDS: u64 = 10;
/// Cycles between packets: check sequence, preamble and least gap of Ethernet, in bytes.
pub const LEAST_GAP: u64 = 24;
/// Packets that the delay line holds.
pub const LINE_PACKETS: usize = 256;
/// Longest packet in bytes, without check sequence.
pub const MAX_PACKET_BYTES: usize = 1514;
const MIN_PACKET_BYTES: usize = 60;

/// What the board measures with, two cores of which fill an iCE40 HX8K's block RAMs: 64 rows, banks that sample one half and one in 64.
pub fn configuration() -> Configuration {
    let settings = Measurement { rows: 64, ..Measurement::default() };
    // The settings are constants that pass: a test says so.
    Configuration::new(settings).unwrap_or_else(|_| unreachable!())
}

/// What the board of a build answers when it is asked who it is.
pub fn identity(configuration: &Configuration, build: u32) -> Identity {
    Identity {
        top: Top::Selftest,
        version: VERSION,
        cycle: CYCLE_PICOSECONDS,
        digest: configuration.id(),
        rows: configuration.rows() as u16,
        prefixes: configuration.prefixes().to_bytes(),
        build,
    }
}

/// What a packet is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Number since the settings came into force.
    pub number: u32,
    /// Random word in its payload.
    pub word: u32,
    /// Bytes, without check sequence.
    pub length: usize,
    /// Cycles in front of it beyond [`LEAST_GAP`].
    pub gap: u64,
    /// Random part of its delay in cycles.
    pub jitter: u64,
    /// It is lost.
    pub is_lost: bool,
}

impl Draw {
    /// The packet's bytes; their number is the length.
    pub fn packet(&self) -> [u8; MAX_PACKET_BYTES] {
        let total = self.length as u16 - 14;
        let mut header = [
            [0x45, 0],
            total.to_be_bytes(),
            (self.number as u16).to_be_bytes(),
            [0, 0],
            [64, 17],
            [0, 0],
            [192, 0],
            [2, 1],
            [198, 51],
            [100, 1],
        ];
        let sum = header.iter().map(|word| u32::from(u16::from_be_bytes(*word))).sum::<u32>();
        let folded = (sum & 0xffff) + (sum >> 16);
        header[5] = (!((folded & 0xffff) + (folded >> 16)) as u16).to_be_bytes();
        let [a, b, c, d] = self.number.to_be_bytes();
        let [e, f, g, h] = self.word.to_be_bytes();
        let [k, l] = (total - 20).to_be_bytes();
        let mut bytes = [0; MAX_PACKET_BYTES];
        let front = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
        let back = [0xc0, 0, 0, 9, k, l, 0, 0, a, b, c, d, e, f, g, h];
        let all = front.into_iter().chain(header.into_iter().flatten()).chain(back);
        bytes.iter_mut().zip(all).for_each(|(slot, byte)| *slot = byte);
        bytes
    }
}

/// Draws packets from a seeded xorshift generator, three words each.
#[derive(Clone, Debug)]
pub struct Plan {
    settings: Settings,
    state: u32,
    number: u32,
    burst_left: u8,
}

impl Plan {
    /// A plan in front of its first packet.
    pub fn new(settings: &Settings) -> Self {
        Plan { settings: *settings, state: settings.seed | 1, number: 0, burst_left: 0 }
    }

    fn word(&mut self) -> u32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        self.state
    }
}

impl Iterator for Plan {
    type Item = Draw;

    fn next(&mut self) -> Option<Draw> {
        let Settings { sizes, gap_spread, gap, jitter, burst, loss, bursts, .. } = self.settings;
        let [first, second, third] = [self.word(), self.word(), self.word()];
        let length = match sizes {
            Sizes::Shortest => MIN_PACKET_BYTES,
            Sizes::Uniform => MIN_PACKET_BYTES + (((first & 0xffff) * 1455) >> 16) as usize,
            Sizes::Bimodal if first >> 31 == 0 => MIN_PACKET_BYTES,
            Sizes::Bimodal => 1496,
            Sizes::Longest => MAX_PACKET_BYTES,
        };
        let low_bits = |value: u32, count: u8| u64::from(value) & ((1 << count) - 1);
        let mut is_lost = (second >> 16) < u32::from(loss);
        if self.burst_left > 0 {
            is_lost = true;
            self.burst_left -= 1;
        } else if (third & 0xffff) < u32::from(bursts) && burst > 0 {
            is_lost = true;
            self.burst_left = burst - 1;
        }
        let number = self.number;
        self.number = number.wrapping_add(1);
        Some(Draw {
            number,
            word: third,
            length,
            gap: u64::from(gap) + low_bits(first >> 16, gap_spread),
            jitter: low_bits(second, jitter),
            is_lost,
        })
    }
}

/// The delay line and the receiver behind it.
#[derive(Clone, Debug)]
struct Line {
    /// When the last packets left the memory, by their number.
    left: [u64; LINE_PACKETS],
    entered: usize,
    /// When the receiver's last packet has been chosen to its end, if it was in this interval.
    ended: Option<u64>,
    /// Packets lost since.
    passed_over: u64,
}

impl Line {
    /// The first moment at which a packet may enter.
    fn has_room(&self) -> u64 {
        // Room shows three cycles before a packet's first byte.
        if self.entered < LINE_PACKETS { 0 } else { self.left[self.entered % LINE_PACKETS] + 3 }
    }

    /// A packet enters at `sent`; returns when its first byte leaves.
    fn pass(&mut self, sent: u64, delay: u64, length: u64) -> u64 {
        // Drawing takes 6 cycles until a packet is known to be lost, 18 more until all is known.
        let (known, ready) = match self.ended {
            Some(ended) => (ended + 6 * (self.passed_over + 1), ended + 6 * self.passed_over + 24),
            None => (0, 0),
        };
        let seen = 1 + known.max(sent);
        self.left[self.entered % LINE_PACKETS] = seen + 1;
        self.entered += 1;
        let starts = (seen + 3).max(ready).max(sent + delay - 2);
        self.ended = Some(starts + length);
        self.passed_over = 0;
        starts + 2
    }
}

/// The board.
pub struct Board {
    build: u32,
    sender: MeasurementPoint,
    receiver: MeasurementPoint,
    waiting: Option<Settings>,
    settings: Settings,
    left: u16,
    plan: Plan,
    line: Line,
    interval: u32,
    /// Cycles in which the clock has run.
    now: u64,
}

impl Board {
    /// A board behind its reset; `say` is handed the payload of its identity.
    pub fn new(build: u32, mut say: impl FnMut(&[u8])) -> Self {
        let configuration = configuration();
        say(identity(&configuration, build).encode().as_bytes());
        let settings = Settings::default();
        Board {
            build,
            sender: MeasurementPoint::new(&configuration, Role::Sender),
            receiver: MeasurementPoint::new(&configuration, Role::Receiver),
            waiting: None,
            settings,
            left: 0,
            plan: Plan::new(&settings),
            line: Line { left: [0; LINE_PACKETS], entered: 0, ended: None, passed_over: 0 },
            interval: 0,
            now: 0,
        }
    }

    /// Does what the host says; `say` is handed the payloads that come of it.
    pub fn command(&mut self, command: &Command, mut say: impl FnMut(&[u8])) {
        match command {
            Command::Identify => say(identity(self.sender.configuration(), self.build).encode().as_bytes()),
            Command::Settings(settings) => self.waiting = Some(*settings),
            Command::Reset => *self = Board::new(self.build, say),
        }
    }

    /// Runs the next interval, if there is one to run; `say` is handed the payloads of its records.
    pub fn run_interval(&mut self, mut say: impl FnMut(&[u8])) -> bool {
        if let Some(settings) = self.waiting.take() {
            self.settings = settings;
            self.left = settings.intervals;
            self.plan = Plan::new(&settings);
        }
        if self.left == 0 {
            return false;
        }
        if self.left != Settings::ENDLESS {
            self.left -= 1;
        }
        let truth = self.flow();
        say(truth.encode().as_bytes());
        for point in [&mut self.sender, &mut self.receiver] {
            point.end_interval(IntervalEnd::Delimiter, |frame| {
                say(Record::Control(frame).encode().as_bytes())
            });
        }
        self.interval = self.interval.wrapping_add(1);
        true
    }

    /// Cycles in which the board's clock has run so far.
    pub fn cycles(&self) -> u64 {
        self.now
    }

    /// An interval's packets.
    fn flow(&mut self) -> Truth {
        let mut truth = Truth {
            settings: self.settings.number,
            interval: self.interval,
            sent: 0,
            lost: 0,
            received: 0,
            held: 0,
            least: NO_DELAY,
            greatest: 0,
            sum: 0,
            squares: 0,
        };
        (self.line.ended, self.line.passed_over) = (None, 0);
        let mut free = self.now;
        for draw in self.plan.by_ref().take(self.settings.packets as usize) {
            let (packet, length) = (draw.packet(), draw.length as u64);
            let packet = &packet[..draw.length];
            let wished = free + LEAST_GAP + draw.gap;
            let sent = wished.max(self.line.has_room());
            truth.sent += 1;
            truth.held += u32::from(sent > wished);
            self.sender.observe(packet, moment(sent));
            free = sent + length;
            self.now = self.now.max(free + 1);
            if draw.is_lost {
                truth.lost += 1;
                self.line.passed_over += 1;
                continue;
            }
            let delay = u64::from(self.settings.delay.max(LEAST_DELAY)) + draw.jitter;
            let received = self.line.pass(sent, delay, length);
            self.receiver.observe(packet, moment(received));
            self.now = self.now.max(received + length + 2);
            let delay = received - sent;
            truth.received += 1;
            truth.least = truth.least.min(delay as u32);
            truth.greatest = truth.greatest.max(delay as u32);
            truth.sum += delay;
            truth.squares += delay * delay;
        }
        truth
    }
}

/// The timestamp of a cycle.
fn moment(cycle: u64) -> Timestamp {
    Timestamp::from_nanoseconds(cycle.wrapping_mul(CYCLE_NANOSECONDS))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::packet::identity::identify;
    use crate::wire::frame::{Frame, Header};
    use std::vec;
    use std::vec::Vec;

    const QUIET: Settings = Settings {
        number: 3,
        intervals: 1,
        seed: 7,
        sizes: Sizes::Shortest,
        gap_spread: 0,
        gap: 0,
        delay: 100,
        jitter: 0,
        burst: 0,
        loss: 0,
        bursts: 0,
        packets: 1000,
    };

    fn draws(settings: Settings, count: usize) -> Vec<Draw> {
        Plan::new(&settings).take(count).collect()
    }

    /// Truth, and the headers of its control frames, of each interval.
    fn run(board: &mut Board, settings: Settings) -> Vec<(Truth, Vec<Header>)> {
        let mut intervals: Vec<(Truth, Vec<Header>)> = vec![];
        board.command(&Command::Settings(settings), |_| unreachable!());
        while board.run_interval(|payload| match Record::decode(payload).unwrap() {
            Record::Truth(truth) => intervals.push((truth, vec![])),
            Record::Control(frame) => {
                intervals.last_mut().unwrap().1.push(Frame::decode(frame).unwrap().header);
            }
            Record::Identity(_) => unreachable!(),
        }) {}
        intervals
    }

    #[test]
    fn packets_are_valid_and_told_apart() {
        let mut keys = vec![];
        for sizes in [Sizes::Shortest, Sizes::Uniform, Sizes::Bimodal, Sizes::Longest] {
            for draw in draws(Settings { sizes, ..QUIET }, 70_000) {
                let packet = draw.packet();
                let packet = &packet[..draw.length];
                let words = packet[14..34].chunks(2).map(|word| u64::from(word[0]) << 8 | u64::from(word[1]));
                let sum: u64 = words.sum();
                assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff, "{draw:?}");
                assert_eq!(usize::from(packet[16]) << 8 | usize::from(packet[17]), draw.length - 14);
                assert_eq!(usize::from(packet[38]) << 8 | usize::from(packet[39]), draw.length - 34);
                let identity = identify(packet).unwrap();
                assert_eq!(usize::from(identity.ip_length as u16), draw.length - 14);
                if sizes == Sizes::Shortest {
                    keys.push(identity.key);
                }
            }
        }
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 70_000);
    }

    #[test]
    fn lengths_follow_their_pattern() {
        let lengths = |sizes| draws(Settings { sizes, ..QUIET }, 100_000).into_iter().map(|draw| draw.length);
        assert!(lengths(Sizes::Shortest).all(|length| length == 60));
        assert!(lengths(Sizes::Longest).all(|length| length == 1514));
        let mean = lengths(Sizes::Uniform).sum::<usize>() as f64 / 1e5;
        assert!((mean - 787.0).abs() < 5.0, "{mean}");
        assert_eq!(lengths(Sizes::Uniform).min(), Some(60));
        assert_eq!(lengths(Sizes::Uniform).max(), Some(1514));
        let long = lengths(Sizes::Bimodal).filter(|length| *length == 1496).count();
        assert!(lengths(Sizes::Bimodal).all(|length| length == 60 || length == 1496));
        assert!((49_000..51_000).contains(&long), "{long}");
    }

    #[test]
    fn losses_gaps_and_delays_follow_the_settings() {
        let settings = Settings { loss: 6554, gap: 5, gap_spread: 4, jitter: 10, ..QUIET };
        let all = draws(settings, 100_000);
        let lost = all.iter().filter(|draw| draw.is_lost).count();
        assert!((9_600..10_400).contains(&lost), "{lost}");
        assert!(all.iter().all(|draw| (5..21).contains(&draw.gap) && draw.jitter < 1024));
        let mean = |of: fn(&Draw) -> u64| all.iter().map(of).sum::<u64>() as f64 / 1e5;
        assert!((mean(|draw| draw.gap) - 12.5).abs() < 0.1);
        assert!((mean(|draw| draw.jitter) - 511.5).abs() < 5.0);

        let bursts = draws(Settings { bursts: 655, burst: 9, ..QUIET }, 100_000);
        let lost: Vec<usize> =
            bursts.iter().enumerate().filter(|(_, draw)| draw.is_lost).map(|(at, _)| at).collect();
        assert!((7_000..9_500).contains(&lost.len()), "{}", lost.len());
        // Bursts may follow each other at once; then they are a multiple.
        for run in lost.chunk_by(|a, b| a + 1 == *b).rev().skip(1) {
            assert_eq!(run.len() % 9, 0);
        }
    }

    #[test]
    fn truth_says_what_the_points_have_seen() {
        let mut board = Board::new(0, |_| {});
        let settings = Settings { intervals: 3, loss: 3000, jitter: 9, gap_spread: 7, ..QUIET };
        let intervals = run(&mut board, settings);
        assert_eq!(intervals.len(), 3);
        for (number, (truth, headers)) in intervals.iter().enumerate() {
            assert_eq!((truth.settings, truth.interval, truth.sent), (3, number as u32, 1000));
            assert_eq!(truth.sent - truth.lost, truth.received);
            assert!(truth.lost > 0 && truth.least >= 100 && truth.greatest > truth.least);
            assert_eq!(headers.len(), 4);
            for header in headers {
                let expected = if header.role == Role::Sender { truth.sent } else { truth.received };
                assert_eq!(header.totals.packets, u64::from(expected));
                assert_eq!(header.interval, truth.interval);
            }
        }
    }

    #[test]
    fn quiet_delays_are_the_one_that_was_set() {
        for (delay, expected) in [(0, 16), (15, 16), (16, 16), (17, 17), (100, 100), (20_000, 20_000)] {
            for sizes in [Sizes::Shortest, Sizes::Uniform] {
                let mut board = Board::new(0, |_| {});
                let (truth, _) = run(&mut board, Settings { delay, sizes, ..QUIET }).remove(0);
                assert_eq!((truth.least, truth.greatest, truth.held), (expected, expected, 0));
                assert_eq!(truth.squares, 1000 * u64::from(expected).pow(2));
            }
        }
    }

    #[test]
    fn delays_stay_below_the_greatest_and_a_full_line_holds_packets_back() {
        let mut board = Board::new(0, |_| {});
        let settings = Settings { packets: 5000, delay: 65_535, jitter: 15, ..QUIET };
        let (truth, _) = run(&mut board, settings).remove(0);
        assert!(truth.greatest <= 65_535 + 32_767 && truth.greatest > 90_000, "{truth:?}");
        assert!(truth.held > 100, "{truth:?}");
        let (truth, _) = run(&mut board, Settings { gap: 2000, ..settings }).remove(0);
        assert_eq!(truth.held, 0);
        assert!(truth.greatest <= 65_535 + 32_767);
    }

    #[test]
    fn settings_rule_from_the_next_interval_on() {
        let mut board = Board::new(0, |_| {});
        assert!(!board.run_interval(|_| unreachable!()));
        board.command(&Command::Settings(Settings { intervals: Settings::ENDLESS, ..QUIET }), |_| {});
        for _ in 0..10 {
            assert!(board.run_interval(|_| {}));
        }
        assert_eq!(run(&mut board, Settings { intervals: 2, number: 9, ..QUIET }).len(), 2);
        assert_eq!(run(&mut board, Settings { intervals: 0, ..QUIET }).len(), 0);
        let mut said = vec![];
        board.command(&Command::Reset, |payload| said.push(payload.to_vec()));
        let expected = identity(&configuration(), 0);
        assert_eq!(said.len(), 1);
        assert_eq!(Record::decode(&said[0]), Ok(Record::Identity(expected)));
        assert_eq!(run(&mut board, QUIET)[0].0.interval, 0);
    }
}
