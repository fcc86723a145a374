//! The delimiter: the frame by which a sender cuts the stream into intervals.
//!
//! Both ends must end an interval behind the very same packet, or packets in flight count in different intervals at
//! the two ends. The LDA paper lets the sender mark the places: it sends start and end messages down the path that
//! the packets take (section III), sequence-numbered, so that one that is lost voids its interval (section V). This
//! is that message. One suffices for both, because an interval starts where the one before it ends. The sender
//! inserts it between two frames of the stream; both ends recognise it where it passes and end their interval there.
//!
//! It is an untagged Ethernet frame to a group address. It passes switches, but no router, and behind a change of tags
//! it is not recognised; put it into the queue of the traffic that it cuts, which must not overtake it.
//!
//! It is made of eight 64-bit words, as long as the shortest Ethernet frames, and begins as a
//! [control frame](crate::wire::frame) does. All numbers are big-endian; offsets count bytes from the destination MAC
//! address; the FCS is not part of it.
//!
//! | offset | bytes | field | meaning |
//! |--------|-------|-------|---------|
//! | 0      | 6     | destination | [`DESTINATION`](crate::wire::check::DESTINATION) |
//! | 6      | 6     | source | [`SOURCE`](crate::wire::check::SOURCE) |
//! | 12     | 2     | EtherType | 0x88B5, IEEE 802 local experimental |
//! | 14     | 1     | version | 1 |
//! | 15     | 1     | role | 2 delimiter |
//! | 16     | 4     | segment | number of the measurement segment |
//! | 20     | 4     | interval | number of the interval that ends here, modulo 2^32 |
//! | 24     | 8     | configuration | its identifier, [`Configuration::id`] |
//! | 32     | 4     | boot epoch | starts of the sender; zero if it does not count them |
//! | 36     | 2     | key | identifier of the [authentication](crate::wire::authentication) key; zero without |
//! | 38     | 2     | reserved | zero; a reader ignores it |
//! | 40     | 16    | tag | authentication tag; zero without a key |
//! | 56     | 8     | check | as in the control frame |
//!
//! The check word guards it in software, in files and on serial lines. The cores do not compare it, nor the addresses, the key's identifier and the reserved
//! bytes: in the stream the FCS covers them, and against forgers only a key helps.
//!
//! The check word is linear. So a sender need not add up eight words: it adds what varies, each rotated by its place, to
//! the check word of the rest: the interval's number by [`CHECK_ROTATION`].
//!
//! # Test plan
//!
//! A delimiter by hand; round trip of arbitrary contents, with and without padding behind it; every single-bit error
//! outside the MAC addresses and every length cut refused; a delimiter is no control frame, a control frame no
//! delimiter, each with an error that says so; the shortcut to the check word; arbitrary bytes never panic.

use crate::configuration::Configuration;
use crate::wire::authentication::Key;
use crate::wire::check::{ETHERTYPE, bytes_of, check_word, checked_words};
use crate::wire::fields::Fields;

/// Version of the layout: what has not changed since keeps it.
pub const VERSION: u8 = 1;
/// The role byte of a delimiter.
pub const ROLE: u8 = 2;
/// Words of a delimiter.
pub const WORDS: usize = 8;
/// Length of a delimiter in bytes.
pub const BYTES: usize = 8 * WORDS;
/// By how many bits the word that holds the interval's number is rotated to the left within the check word.
pub const CHECK_ROTATION: u32 = 4;

/// What a delimiter says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Delimiter {
    /// Number of the measurement segment.
    pub segment: u32,
    /// Number of the interval that ends here.
    pub interval: u32,
    /// Identifier of the configuration.
    pub configuration: u64,
    /// Starts of the sender; zero if it does not count them.
    pub boot_epoch: u32,
    /// Identifier of the key; zero without.
    pub key: u16,
}

/// Why bytes are not a delimiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DelimiterError {
    /// Another EtherType: somebody else's frame.
    #[error("EtherType {0:#06x} is not that of delimiters ({ETHERTYPE:#06x})")]
    EtherType(u16),
    /// The frame ends too early.
    #[error("{0} bytes where a delimiter has {BYTES}: capture with a snap length of at least {BYTES}")]
    Truncated(usize),
    /// A layout that this version does not know.
    #[error("layout version {0}, this is version {VERSION}: use the same release at both ends")]
    Version(u8),
    /// Another role: a control frame.
    #[error("role {0} is not that of delimiters ({ROLE}): 0 and 1 are control frames")]
    Role(u8),
    /// The check word does not match.
    #[error("check word {found:#018x} where the contents give {expected:#018x}: the delimiter is corrupted")]
    Check {
        /// What the frame holds.
        found: u64,
        /// What its contents give.
        expected: u64,
    },
}

impl Delimiter {
    /// The delimiter at the end of an interval, without epoch and key.
    pub fn new(configuration: &Configuration, interval: u32) -> Self {
        let (segment, configuration) = (configuration.segment(), configuration.id());
        Delimiter { segment, interval, configuration, boot_epoch: 0, key: 0 }
    }

    /// The whole frame as words, without a tag; hardware emits them with the most significant byte first.
    pub fn words(&self) -> [u64; WORDS] {
        let numbers = u64::from(self.segment) << 32 | u64::from(self.interval);
        let epoch_and_key = u64::from(self.boot_epoch) << 32 | u64::from(self.key) << 16;
        checked_words(VERSION, ROLE, [numbers, self.configuration, epoch_and_key, 0, 0])
    }

    /// The frame's bytes, with the tag of this key, whose identifier it names.
    pub fn signed(mut self, key: &Key) -> [u8; BYTES] {
        self.key = key.id();
        let mut bytes = self.encode();
        key.sign(&mut bytes);
        bytes
    }

    /// The frame's bytes, without a tag.
    pub fn encode(&self) -> [u8; BYTES] {
        bytes_of(self.words())
    }

    /// What a frame says, if it is a delimiter of `configuration`, as a measurement point recognises it at line rate: by length,
    /// EtherType, version, role, segment and configuration. The check word is left to those who store delimiters; on the wire
    /// the FCS guards the same bytes.
    pub fn of(configuration: &Configuration, frame: &[u8]) -> Option<Self> {
        let frame = frame.get(..BYTES)?;
        let expected = Delimiter::new(configuration, 0).encode();
        let is_ours = frame[12..20] == expected[12..20] && frame[24..32] == expected[24..32];
        is_ours.then(|| Delimiter::read(Fields(frame)))
    }

    fn read(field: Fields) -> Self {
        Delimiter {
            segment: field.u32(16),
            interval: field.u32(20),
            configuration: field.u64(24),
            boot_epoch: field.u32(32),
            key: field.u16(36),
        }
    }

    /// Checks and decodes a frame; bytes behind its end (padding) are ignored.
    ///
    /// # Errors
    ///
    /// [`DelimiterError`] with what is wrong.
    pub fn decode(bytes: &[u8]) -> Result<Self, DelimiterError> {
        let truncated = DelimiterError::Truncated(bytes.len());
        let &[high, low, version, role] = bytes.get(12..16).ok_or(truncated)? else { return Err(truncated) };
        let ethertype = u16::from_be_bytes([high, low]);
        if ethertype != ETHERTYPE {
            return Err(DelimiterError::EtherType(ethertype));
        }
        // In every version a role means the same.
        if role != ROLE {
            return Err(DelimiterError::Role(role));
        }
        if version != VERSION {
            return Err(DelimiterError::Version(version));
        }
        let delimiter = bytes.get(..BYTES).ok_or(truncated)?;
        let field = Fields(delimiter);
        let expected = check_word(&delimiter[..BYTES - 8]);
        let found = field.u64(BYTES - 8);
        if found != expected {
            return Err(DelimiterError::Check { found, expected });
        }
        Ok(Delimiter::read(field))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::configuration::Settings;
    use crate::sketch::cell::Cell;
    use crate::wire::frame::{self, Frame, FrameError, Header, MAX_FRAME_BYTES, Role, Totals};
    use proptest::prelude::*;
    use std::string::ToString;

    const SAMPLE: Delimiter = Delimiter {
        segment: 0x0102_0304,
        interval: 0xfffe_fdfc,
        configuration: 0x1122_3344_5566_7788,
        boot_epoch: 0,
        key: 0,
    };

    proptest! {
        #[test]
        fn delimiters_survive_the_round_trip(
            segment: u32,
            interval: u32,
            configuration: u64,
            boot_epoch: u32,
            key: u16,
            padding in 0usize..20,
        ) {
            let delimiter = Delimiter { segment, interval, configuration, boot_epoch, key };
            let mut padded = [0xaa; BYTES + 20];
            padded[..BYTES].copy_from_slice(&delimiter.encode());
            prop_assert_eq!(Delimiter::decode(&padded[..BYTES + padding]), Ok(delimiter));
        }

        #[test]
        fn the_number_enters_the_check_word_rotated(segment: u32, interval: u32, configuration: u64) {
            let of_zero = Delimiter { segment, interval: 0, configuration, ..SAMPLE }.words()[7];
            let check = Delimiter { segment, interval, configuration, ..SAMPLE }.words()[7];
            prop_assert_eq!(check, of_zero ^ u64::from(interval).rotate_left(CHECK_ROTATION));
        }

        #[test]
        fn arbitrary_bytes_never_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = Delimiter::decode(&bytes);
            if bytes.len() >= 16 {
                bytes[12..16].copy_from_slice(&[0x88, 0xb5, 1, 2]);
                prop_assert!(Delimiter::decode(&bytes).is_err());
            }
        }
    }

    #[test]
    fn a_delimiter_by_hand() {
        let bytes = SAMPLE.encode();
        assert_eq!(bytes[..12], [0x03, 0x44, 0x45, 0x4c, 0x54, 0x41, 0x02, 0x44, 0x45, 0x4c, 0x54, 0x41]);
        assert_eq!(bytes[12..24], [0x88, 0xb5, 1, 2, 1, 2, 3, 4, 0xff, 0xfe, 0xfd, 0xfc]);
        assert_eq!(bytes[24..32], [0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88]);
        assert_eq!(bytes[32..56], [0; 24]);
        // 0x88b50102 << 5 ^ 0x01020304fffefdfc rotated by 4 ^ 0x1122334455667788 rotated by 3.
        let check = 0x11_16a0_2040_u64 ^ 0x1020_304f_ffef_dfc0 ^ 0x8911_9a22_ab33_bc40;
        assert_eq!(bytes[56..], check.to_be_bytes());
    }

    #[test]
    fn a_delimiter_names_its_configuration() {
        let configuration = Configuration::new(Settings { segment: 9, ..Settings::default() }).unwrap();
        let expected =
            Delimiter { segment: 9, interval: 4, configuration: configuration.id(), boot_epoch: 0, key: 0 };
        assert_eq!(Delimiter::new(&configuration, 4), expected);
    }

    #[test]
    fn every_single_bit_error_and_every_cut_is_refused() {
        let bytes = SAMPLE.encode();
        for bit in 12 * 8..BYTES * 8 {
            let mut broken = bytes;
            broken[bit / 8] ^= 0x80 >> (bit % 8);
            let error = Delimiter::decode(&broken).unwrap_err();
            match bit / 8 {
                12 | 13 => assert!(matches!(error, DelimiterError::EtherType(_)), "bit {bit}: {error}"),
                14 => assert!(matches!(error, DelimiterError::Version(_)), "bit {bit}: {error}"),
                15 => assert!(matches!(error, DelimiterError::Role(_)), "bit {bit}: {error}"),
                _ => assert!(matches!(error, DelimiterError::Check { .. }), "bit {bit}: {error}"),
            }
        }
        for length in 0..BYTES {
            assert_eq!(Delimiter::decode(&bytes[..length]), Err(DelimiterError::Truncated(length)));
        }
    }

    #[test]
    fn a_delimiter_is_no_control_frame_and_the_other_way_round() {
        let mut padded = [0; MAX_FRAME_BYTES];
        padded[..BYTES].copy_from_slice(&SAMPLE.encode());
        for length in [BYTES, 120, MAX_FRAME_BYTES] {
            let error = Frame::decode(&padded[..length]).unwrap_err();
            assert_eq!(error, FrameError::Delimiter);
            assert!(error.to_string().contains("delimiter"));
        }

        let configuration = Configuration::new(Settings { rows: 8, ..Settings::default() }).unwrap();
        for role in [Role::Sender, Role::Receiver] {
            let header = Header::of_interval(&configuration, role, 3, Totals::default()).next().unwrap();
            let mut buffer = [0; MAX_FRAME_BYTES];
            let length = frame::encode(&header, &[Cell::default(); 8], &mut buffer).unwrap();
            assert_eq!(Delimiter::decode(&buffer[..length]), Err(DelimiterError::Role(role as u8)));
        }
    }
}
