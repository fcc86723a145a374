//! The boards' serial link: what a board and its host say to each other.
//!
//! 2,000,000 baud, 8 data bits, no parity, one stop bit, no flow control. Each message is one frame on the line
//! ([`framing`]); the first byte of its payload says what it is. All numbers are big-endian; offsets count from that
//! first byte. This is the only place where the layout is defined.
//!
//! # Board to host
//!
//! **0x00, control frame**: behind the kind the control frame itself, from the destination MAC address to the check word
//! ([`crate::wire::frame`]).
//!
//! **0x01, truth**: what happened in an interval, exactly, counted by the hardware beside the measurement. It comes
//! before the control frames of its interval, the sender's before the receiver's.
//!
//! | offset | bytes | field | meaning |
//! |--------|-------|-------|---------|
//! | 0  | 1 | kind | 0x01 |
//! | 1  | 1 | settings | number of the settings that were in force |
//! | 2  | 4 | interval | number of the interval, as in its control frames |
//! | 6  | 4 | sent | packets that passed the sender |
//! | 10 | 4 | lost | those of them that were lost |
//! | 14 | 4 | received | packets that passed the receiver |
//! | 18 | 4 | held | packets that had to wait because the delay line was full |
//! | 22 | 4 | least | smallest delay, 0x1ffff if nothing was received |
//! | 26 | 4 | greatest | greatest delay, 0 if nothing was received |
//! | 30 | 8 | sum | of all delays |
//! | 38 | 8 | squares | sum of their squares |
//!
//! Delays are in clock cycles of the board, from a packet's first byte at the sender to its first byte at the receiver:
//! the moments of the timestamps that the cores take.
//!
//! **0x02, identity**: which board speaks; sent after reset and on request.
//!
//! | offset | bytes | field | meaning |
//! |--------|-------|-------|---------|
//! | 0  | 1 | kind | 0x02 |
//! | 1  | 1 | top | 1 selftest, 2 rmii-tap |
//! | 2  | 1 | version | of this protocol: 1 |
//! | 3  | 4 | cycle | picoseconds of a clock cycle |
//! | 7  | 8 | configuration | its identifier, [`Configuration::id`](crate::configuration::Configuration::id) |
//! | 15 | 2 | rows | rows of each bank |
//! | 17 | 8 | prefix lengths | one byte a bank, 255 where there is no bank |
//! | 25 | 4 | build | a number that tells builds apart |
//!
//! # Host to board
//!
//! **0x80, identify**, **0x82, reset**: the kind alone. Reset stops everything, clears both cores, counts intervals from
//! zero again; a message that was under way is cut off, and an identity follows.
//!
//! **0x81, settings**, for `selftest` only:
//!
//! | offset | bytes | field | meaning |
//! |--------|-------|-------|---------|
//! | 0  | 1 | kind | 0x81 |
//! | 1  | 1 | number | comes back in the truth of the intervals that it rules |
//! | 2  | 2 | intervals | how many to run: 0 stops behind the running one, 65535 runs until other settings come |
//! | 4  | 4 | seed | of the random numbers; the lowest bit counts as set |
//! | 8  | 1 | sizes | [`Sizes`] |
//! | 9  | 1 | gap spread | g, 0..=15: a gap is 24 bytes + gap + uniform in 0..2^g |
//! | 10 | 2 | gap | bytes between packets beyond the 24 of check sequence, preamble and least gap |
//! | 12 | 2 | delay | least delay in cycles; below [`LEAST_DELAY`] it counts as that |
//! | 14 | 1 | jitter | j, 0..=15: adds uniform in 0..2^j cycles |
//! | 15 | 1 | burst | packets that a burst of losses takes, 0: there are none |
//! | 16 | 2 | loss | of 65536 packets outside of bursts, how many are lost |
//! | 18 | 2 | bursts | of 65536 packets outside of bursts, before how many a burst starts |
//! | 20 | 4 | packets | of an interval |
//!
//! A message with another length, another kind or a wrong check sequence is passed over; bits above those of an
//! exponent or of [`Sizes`] are too. Settings rule from the next interval on, the last that came before it.
//!
//! # Test plan
//!
//! Every message survives the round trip; each layout by hand; every cut and every added byte is refused; arbitrary
//! bytes never panic; values that the hardware has no bits for are refused before they are sent.

pub mod framing;
pub mod traffic;

use crate::sketch::sampler::MAX_BANKS;
use crate::wire::fields::Fields;
use crate::wire::frame::MAX_FRAME_BYTES;

/// Speed of the serial link in baud.
pub const BAUD: u32 = 2_000_000;
/// Version of the protocol.
pub const VERSION: u8 = 1;
/// Longest payload of a message: a control frame behind its kind.
pub const MAX_PAYLOAD_BYTES: usize = 1 + MAX_FRAME_BYTES;
/// Bytes of a truth record.
pub const TRUTH_BYTES: usize = 46;
/// Bytes of an identity record.
pub const IDENTITY_BYTES: usize = 29;
/// Bytes of a settings command.
pub const SETTINGS_BYTES: usize = 24;
/// The delay line's own delay in cycles: the shortest there is.
pub const LEAST_DELAY: u16 = 16;
/// Greatest exponent of a gap's spread and of the jitter.
pub const MAX_EXPONENT: u8 = 15;
/// What [`Truth::least`] is when nothing was received.
pub const NO_DELAY: u32 = 0x1_ffff;

/// The first byte of a payload.
pub mod kind {
    /// A control frame.
    pub const CONTROL: u8 = 0x00;
    /// A truth record.
    pub const TRUTH: u8 = 0x01;
    /// An identity record.
    pub const IDENTITY: u8 = 0x02;
    /// The command that asks for an identity record.
    pub const IDENTIFY: u8 = 0x80;
    /// The command that sets what the self-test does.
    pub const SETTINGS: u8 = 0x81;
    /// The command that resets the board.
    pub const RESET: u8 = 0x82;
}

/// What a board does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Top {
    /// Measures packets that it makes, delays and loses itself.
    Selftest = 1,
    /// Measures a device between two Ethernet ports.
    RmiiTap = 2,
}

/// Which board speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// What it does.
    pub top: Top,
    /// Version of the protocol that it speaks.
    pub version: u8,
    /// Picoseconds of a clock cycle.
    pub cycle: u32,
    /// Identifier of its configuration.
    pub digest: u64,
    /// Rows of each bank.
    pub rows: u16,
    /// Prefix lengths of its banks, 255 where there is none.
    pub prefixes: [u8; MAX_BANKS],
    /// Tells builds apart.
    pub build: u32,
}

/// What happened in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truth {
    /// Number of the settings that were in force.
    pub settings: u8,
    /// Number of the interval.
    pub interval: u32,
    /// Packets that passed the sender.
    pub sent: u32,
    /// Those of them that were lost.
    pub lost: u32,
    /// Packets that passed the receiver.
    pub received: u32,
    /// Packets that had to wait because the delay line was full.
    pub held: u32,
    /// Smallest delay in cycles, [`NO_DELAY`] if nothing was received.
    pub least: u32,
    /// Greatest delay in cycles.
    pub greatest: u32,
    /// Sum of all delays.
    pub sum: u64,
    /// Sum of their squares.
    pub squares: u64,
}

/// What a board says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// A control frame; [`crate::wire::frame::Frame::decode`] reads it.
    Control(&'a [u8]),
    /// What happened in an interval.
    Truth(Truth),
    /// Which board speaks.
    Identity(Identity),
}

/// Lengths of the self-test's Ethernet frames, with check sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sizes {
    /// 64 bytes.
    #[default]
    Shortest = 0,
    /// Uniform from 64 to 1518 bytes.
    Uniform = 1,
    /// 64 or 1500 bytes, equally often.
    Bimodal = 2,
    /// 1518 bytes.
    Longest = 3,
}

/// What the self-test does; the fields are those of the [message](self).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Comes back in the truth records.
    pub number: u8,
    /// How many intervals to run: 0 stops, [`Settings::ENDLESS`] runs until other settings come.
    pub intervals: u16,
    /// Seed of the random numbers.
    pub seed: u32,
    /// Lengths of frames.
    pub sizes: Sizes,
    /// Exponent of the gaps' random part.
    pub gap_spread: u8,
    /// Bytes between packets beyond the least.
    pub gap: u16,
    /// Least delay in cycles.
    pub delay: u16,
    /// Exponent of the delays' random part.
    pub jitter: u8,
    /// Packets that a burst of losses takes.
    pub burst: u8,
    /// Of 65536 packets, how many are lost alone.
    pub loss: u16,
    /// Of 65536 packets, before how many a burst starts.
    pub bursts: u16,
    /// Packets of an interval.
    pub packets: u32,
}

/// What a host says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Send an identity record.
    Identify,
    /// Do this from the next interval on.
    Settings(Settings),
    /// Start anew.
    Reset,
}

/// Why a payload is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// There is nothing in it.
    #[error("an empty message")]
    Empty,
    /// The first byte is no kind that is known.
    #[error("a message of unknown kind {0:#04x}: is the bitstream of another version?")]
    Kind(u8),
    /// A message of this kind has another length.
    #[error(
        "a message of kind {kind:#04x} has {found} bytes, not {expected}: is the bitstream of another version?"
    )]
    Length {
        /// The kind.
        kind: u8,
        /// Bytes that came.
        found: usize,
        /// Bytes that such a message has.
        expected: usize,
    },
    /// An identity names no top that is known.
    #[error("the board says that it is of type {0}: this program knows 1 (selftest) and 2 (rmii-tap)")]
    Top(u8),
    /// A field of settings has a value that there is no hardware for.
    #[error("settings: {field} is {value}; allowed is {allowed}")]
    Field {
        /// The field.
        field: &'static str,
        /// Its value.
        value: u32,
        /// The values that are allowed.
        allowed: &'static str,
    },
}

/// A message's payload, ready for the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Payload<N> {
    fn new(kind: u8) -> Self {
        let mut payload = Payload { bytes: [0; N], length: 0 };
        payload.put(&[kind]);
        payload
    }

    fn put(&mut self, bytes: &[u8]) {
        for (slot, byte) in self.bytes.iter_mut().skip(self.length).zip(bytes) {
            *slot = *byte;
            self.length += 1;
        }
    }

    /// The bytes, kind first.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

fn expect(payload: &[u8], expected: usize) -> Result<Fields<'_>, MessageError> {
    match payload.len() {
        found if found == expected => Ok(Fields(payload)),
        found => Err(MessageError::Length { kind: payload[0], found, expected }),
    }
}

impl Identity {
    /// The record.
    pub fn encode(&self) -> Payload<IDENTITY_BYTES> {
        let mut payload = Payload::new(kind::IDENTITY);
        payload.put(&[self.top as u8, self.version]);
        payload.put(&self.cycle.to_be_bytes());
        payload.put(&self.digest.to_be_bytes());
        payload.put(&self.rows.to_be_bytes());
        payload.put(&self.prefixes);
        payload.put(&self.build.to_be_bytes());
        payload
    }

    fn decode(payload: &[u8]) -> Result<Self, MessageError> {
        let fields = expect(payload, IDENTITY_BYTES)?;
        let top = match fields.u8(1) {
            1 => Top::Selftest,
            2 => Top::RmiiTap,
            other => return Err(MessageError::Top(other)),
        };
        Ok(Identity {
            top,
            version: fields.u8(2),
            cycle: fields.u32(3),
            digest: fields.u64(7),
            rows: fields.u16(15),
            prefixes: fields.u64(17).to_be_bytes(),
            build: fields.u32(25),
        })
    }
}

impl Truth {
    /// The record.
    pub fn encode(&self) -> Payload<TRUTH_BYTES> {
        let mut payload = Payload::new(kind::TRUTH);
        payload.put(&[self.settings]);
        let words =
            [self.interval, self.sent, self.lost, self.received, self.held, self.least, self.greatest];
        for word in words {
            payload.put(&word.to_be_bytes());
        }
        payload.put(&self.sum.to_be_bytes());
        payload.put(&self.squares.to_be_bytes());
        payload
    }

    fn decode(payload: &[u8]) -> Result<Self, MessageError> {
        let fields = expect(payload, TRUTH_BYTES)?;
        Ok(Truth {
            settings: fields.u8(1),
            interval: fields.u32(2),
            sent: fields.u32(6),
            lost: fields.u32(10),
            received: fields.u32(14),
            held: fields.u32(18),
            least: fields.u32(22),
            greatest: fields.u32(26),
            sum: fields.u64(30),
            squares: fields.u64(38),
        })
    }
}

impl<'a> Record<'a> {
    /// Reads a message of a board.
    ///
    /// # Errors
    ///
    /// [`MessageError`]; a control frame's own contents are not looked at.
    pub fn decode(payload: &'a [u8]) -> Result<Self, MessageError> {
        match payload.split_first() {
            None => Err(MessageError::Empty),
            Some((&kind::CONTROL, frame)) => Ok(Record::Control(frame)),
            Some((&kind::TRUTH, _)) => Truth::decode(payload).map(Record::Truth),
            Some((&kind::IDENTITY, _)) => Identity::decode(payload).map(Record::Identity),
            Some((&other, _)) => Err(MessageError::Kind(other)),
        }
    }

    /// The message.
    pub fn encode(&self) -> Payload<MAX_PAYLOAD_BYTES> {
        match self {
            Record::Control(frame) => {
                let mut payload = Payload::new(kind::CONTROL);
                payload.put(frame);
                payload
            }
            Record::Truth(truth) => truth.encode().widen(),
            Record::Identity(identity) => identity.encode().widen(),
        }
    }
}

impl<const N: usize> Payload<N> {
    fn widen<const M: usize>(&self) -> Payload<M> {
        let mut payload = Payload { bytes: [0; M], length: 0 };
        payload.put(self.as_bytes());
        payload
    }
}

impl Settings {
    /// As many intervals as come until there are other settings.
    pub const ENDLESS: u16 = u16::MAX;

    /// Refuses what the hardware has no bits for, or would never end.
    ///
    /// # Errors
    ///
    /// [`MessageError::Field`].
    pub fn check(&self) -> Result<(), MessageError> {
        for (field, value) in [("the gaps' spread", self.gap_spread), ("the jitter", self.jitter)] {
            if value > MAX_EXPONENT {
                return Err(MessageError::Field {
                    field,
                    value: value.into(),
                    allowed: "an exponent up to 15",
                });
            }
        }
        if self.packets == 0 {
            let allowed = "1 packet an interval or more";
            return Err(MessageError::Field { field: "the number of packets", value: 0, allowed });
        }
        Ok(())
    }
}

impl Command {
    /// Reads a message of a host.
    ///
    /// # Errors
    ///
    /// [`MessageError`].
    pub fn decode(payload: &[u8]) -> Result<Self, MessageError> {
        match payload.first() {
            None => Err(MessageError::Empty),
            Some(&kind::IDENTIFY) => expect(payload, 1).map(|_| Command::Identify),
            Some(&kind::RESET) => expect(payload, 1).map(|_| Command::Reset),
            Some(&kind::SETTINGS) => {
                let fields = expect(payload, SETTINGS_BYTES)?;
                let sizes = [Sizes::Shortest, Sizes::Uniform, Sizes::Bimodal, Sizes::Longest];
                Ok(Command::Settings(Settings {
                    number: fields.u8(1),
                    intervals: fields.u16(2),
                    seed: fields.u32(4),
                    sizes: sizes[usize::from(fields.u8(8) & 3)],
                    gap_spread: fields.u8(9) & MAX_EXPONENT,
                    gap: fields.u16(10),
                    delay: fields.u16(12),
                    jitter: fields.u8(14) & MAX_EXPONENT,
                    burst: fields.u8(15),
                    loss: fields.u16(16),
                    bursts: fields.u16(18),
                    packets: fields.u32(20),
                }))
            }
            Some(&other) => Err(MessageError::Kind(other)),
        }
    }

    /// The message.
    pub fn encode(&self) -> Payload<SETTINGS_BYTES> {
        let settings = match self {
            Command::Identify => return Payload::new(kind::IDENTIFY),
            Command::Reset => return Payload::new(kind::RESET),
            Command::Settings(settings) => settings,
        };
        let mut payload = Payload::new(kind::SETTINGS);
        payload.put(&[settings.number]);
        payload.put(&settings.intervals.to_be_bytes());
        payload.put(&settings.seed.to_be_bytes());
        payload.put(&[settings.sizes as u8, settings.gap_spread]);
        payload.put(&settings.gap.to_be_bytes());
        payload.put(&settings.delay.to_be_bytes());
        payload.put(&[settings.jitter, settings.burst]);
        payload.put(&settings.loss.to_be_bytes());
        payload.put(&settings.bursts.to_be_bytes());
        payload.put(&settings.packets.to_be_bytes());
        payload
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    fn settings() -> impl Strategy<Value = Settings> {
        (any::<[u8; 3]>(), any::<[u16; 5]>(), any::<[u32; 2]>(), 0u8..16, 0u8..16).prop_map(
            |([number, sizes, burst], [intervals, gap, delay, loss, bursts], [seed, packets], a, b)| {
                Settings {
                    number,
                    intervals,
                    seed,
                    sizes: [Sizes::Shortest, Sizes::Uniform, Sizes::Bimodal, Sizes::Longest]
                        [usize::from(sizes & 3)],
                    gap_spread: a,
                    gap,
                    delay,
                    jitter: b,
                    burst,
                    loss,
                    bursts,
                    packets,
                }
            },
        )
    }

    proptest! {
        #[test]
        fn commands_survive_the_round_trip(settings in settings()) {
            for command in [Command::Settings(settings), Command::Identify, Command::Reset] {
                prop_assert_eq!(Command::decode(command.encode().as_bytes()), Ok(command));
            }
        }

        #[test]
        fn records_survive_the_round_trip(
            words: [u32; 7],
            [sum, squares]: [u64; 2],
            bytes: [u8; 10],
            frame in proptest::collection::vec(any::<u8>(), 0..MAX_FRAME_BYTES),
        ) {
            let [interval, sent, lost, received, held, least, greatest] = words;
            let settings = bytes[0];
            let truth =
                Truth { settings, interval, sent, lost, received, held, least, greatest, sum, squares };
            let identity = Identity {
                top: if bytes[0] < 128 { Top::Selftest } else { Top::RmiiTap },
                version: bytes[1],
                cycle: sent,
                digest: sum,
                rows: lost as u16,
                prefixes: squares.to_be_bytes(),
                build: held,
            };
            for record in [Record::Truth(truth), Record::Identity(identity), Record::Control(&frame)] {
                let payload = record.encode();
                prop_assert_eq!(Record::decode(payload.as_bytes()), Ok(record));
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            for kind in [None, Some(0), Some(1), Some(2), Some(0x80), Some(0x81), Some(0x82)] {
                if let (Some(first), Some(kind)) = (bytes.first_mut(), kind) {
                    *first = kind;
                }
                let _ = Record::decode(&bytes);
                let _ = Command::decode(&bytes);
            }
        }
    }

    #[test]
    fn the_layouts_by_hand() {
        let truth = Truth {
            settings: 1,
            interval: 2,
            sent: 3,
            lost: 4,
            received: 5,
            held: 6,
            least: 7,
            greatest: 8,
            sum: 9,
            squares: 10,
        };
        let mut expected = vec![1, 1];
        (2..9u32).for_each(|word| expected.extend(word.to_be_bytes()));
        (9..11u64).for_each(|word| expected.extend(word.to_be_bytes()));
        assert_eq!(truth.encode().as_bytes(), expected);

        let identity = Identity {
            top: Top::Selftest,
            version: 1,
            cycle: 10_000,
            digest: 0x0102_0304_0506_0708,
            rows: 128,
            prefixes: [1, 6, 255, 255, 255, 255, 255, 255],
            build: 9,
        };
        let mut expected = vec![2, 1, 1, 0, 0, 0x27, 0x10, 1, 2, 3, 4, 5, 6, 7, 8, 0, 128, 1, 6];
        expected.extend([255; 6]);
        expected.extend([0, 0, 0, 9]);
        assert_eq!(identity.encode().as_bytes(), expected);

        let settings = Settings {
            number: 1,
            intervals: 0x0203,
            seed: 0x0405_0607,
            sizes: Sizes::Bimodal,
            gap_spread: 9,
            gap: 0x0a0b,
            delay: 0x0c0d,
            jitter: 14,
            burst: 15,
            loss: 0x1011,
            bursts: 0x1213,
            packets: 0x1415_1617,
        };
        let mut expected: Vec<u8> = vec![0x81, 1, 2, 3, 4, 5, 6, 7, 2];
        expected.extend(9..=0x17u8);
        assert_eq!(Command::Settings(settings).encode().as_bytes(), expected);
    }

    #[test]
    fn other_lengths_and_kinds_are_refused() {
        let command = Command::Settings(Settings::default()).encode();
        for length in 1..SETTINGS_BYTES {
            let cut = Command::decode(&command.as_bytes()[..length]);
            assert_eq!(cut, Err(MessageError::Length { kind: 0x81, found: length, expected: 24 }));
        }
        let longer = [command.as_bytes(), &[0]].concat();
        assert!(matches!(Command::decode(&longer), Err(MessageError::Length { .. })));
        assert!(matches!(Command::decode(&[0x80, 0]), Err(MessageError::Length { .. })));
        for (kind, bytes) in [(1u8, TRUTH_BYTES), (2, IDENTITY_BYTES)] {
            for length in (1..60).filter(|length| *length != bytes) {
                let mut payload = vec![0; length];
                payload[0] = kind;
                assert!(matches!(Record::decode(&payload), Err(MessageError::Length { .. })));
            }
        }
        assert_eq!(Record::decode(&[]), Err(MessageError::Empty));
        assert_eq!(Record::decode(&[3]), Err(MessageError::Kind(3)));
        assert_eq!(Command::decode(&[0x83]), Err(MessageError::Kind(0x83)));
        let mut strange = [0; IDENTITY_BYTES];
        strange[..2].copy_from_slice(&[2, 9]);
        assert_eq!(Record::decode(&strange), Err(MessageError::Top(9)));
    }

    #[test]
    fn settings_beyond_the_hardware_are_refused() {
        let good = Settings { packets: 1, ..Settings::default() };
        assert_eq!(good.check(), Ok(()));
        for bad in [
            Settings { gap_spread: 16, ..good },
            Settings { jitter: 16, ..good },
            Settings { packets: 0, ..good },
        ] {
            assert!(matches!(bad.check(), Err(MessageError::Field { .. })));
        }
    }
}
