//! The reference packet: a frame that carries the time at which it was sent.
//!
//! Reference latency interpolation (RLI; Lee, Duffield, Kompella, SIGCOMM 2010, section 4) takes the delays of packets between two
//! reference packets from theirs: they wait in the same queues. The sender inserts one behind every n-th packet,
//! [`Injector`](crate::reference::Injector) says when; the receiver subtracts the time that it carries from the time at which it comes.
//!
//! As a [delimiter](crate::wire::delimiter) it is an untagged Ethernet frame of eight 64-bit words to a group address, and begins as every
//! frame of ours. Put it into the queue of the traffic that it stands for. All numbers are big-endian; offsets count bytes from the
//! destination MAC address; the FCS is not part of it.
//!
//! | offset | bytes | field | meaning |
//! |--------|-------|-------|---------|
//! | 0      | 6     | destination | [`DESTINATION`](crate::wire::check::DESTINATION) |
//! | 6      | 6     | source | [`SOURCE`](crate::wire::check::SOURCE) |
//! | 12     | 2     | EtherType | 0x88B5, IEEE 802 local experimental |
//! | 14     | 1     | version | 2 |
//! | 15     | 1     | role | 3 reference packet |
//! | 16     | 4     | segment | number of the measurement segment |
//! | 20     | 4     | number | of the reference packet, from 0, modulo 2^32: a missing one shows |
//! | 24     | 8     | configuration | its identifier, [`Configuration::id`] |
//! | 32     | 8     | sent | PTP relative-64 timestamp of its first byte at the sender |
//! | 40     | 16    | reserved | zero; a reader ignores it |
//! | 56     | 8     | check | the [check word](crate::wire::check) |
//!
//! Compared are EtherType, version, role, segment and configuration, of frames of 64 bytes at least; more may follow, and is padding. The core does not
//! compare the check word, nor addresses and reserved bytes: in the stream the FCS covers them. Against forgers nothing guards it.
//!
//! # Test plan
//!
//! A reference packet by hand; round trip of arbitrary numbers and times, padded and not; those of other measurements, with any bit of what is compared
//! inverted, and cut at every length, are none; it is no delimiter and no control frame; number and time enter the check word rotated.

use crate::configuration::Configuration;
use crate::time::Timestamp;
use crate::wire::check::{bytes_of, checked_words};
use crate::wire::fields::Fields;
use crate::wire::header;

/// Version of the layout.
pub const VERSION: u8 = header::VERSIONS[1];
/// The role byte of a reference packet.
pub const ROLE: u8 = 3;
/// Words of a reference packet.
pub const WORDS: usize = 8;
/// Length of a reference packet in bytes.
pub const BYTES: usize = 8 * WORDS;
/// By how many bits the words that hold number and time are rotated to the left within the check word.
pub const CHECK_ROTATIONS: [u32; 2] = [4, 2];

/// What a reference packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// Number of the measurement segment.
    pub segment: u32,
    /// Number of the reference packet.
    pub number: u32,
    /// Identifier of the configuration.
    pub configuration: u64,
    /// When its first byte was sent.
    pub sent: Timestamp,
}

impl Reference {
    /// The reference packet of this number, sent at this time.
    pub fn new(configuration: &Configuration, number: u32, sent: Timestamp) -> Self {
        let (segment, configuration) = (configuration.segment(), configuration.id());
        Reference { segment, number, configuration, sent }
    }

    /// The whole frame as words; hardware emits them with the most significant byte first.
    pub fn words(&self) -> [u64; WORDS] {
        let numbers = u64::from(self.segment) << 32 | u64::from(self.number);
        checked_words(VERSION, ROLE, [numbers, self.configuration, self.sent.0, 0, 0])
    }

    /// The frame's bytes.
    pub fn encode(&self) -> [u8; BYTES] {
        bytes_of(self.words())
    }

    /// What a frame says, if it is a reference packet of `configuration`, as a receiver recognises it at line rate: by length, EtherType, version,
    /// role, segment and configuration.
    pub fn of(configuration: &Configuration, frame: &[u8]) -> Option<Self> {
        let frame = frame.get(..BYTES)?;
        let expected = Reference::new(configuration, 0, Timestamp(0)).encode();
        let is_ours = frame[12..20] == expected[12..20] && frame[24..32] == expected[24..32];
        is_ours.then(|| Reference::read(Fields(frame)))
    }

    fn read(field: Fields) -> Self {
        Reference {
            segment: field.u32(16),
            number: field.u32(20),
            configuration: field.u64(24),
            sent: Timestamp(field.u64(32)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::Settings;
    use crate::wire::delimiter::{Delimiter, DelimiterError};
    use crate::wire::frame::Frame;
    use proptest::prelude::*;

    const SAMPLE: Reference = Reference {
        segment: 0x0102_0304,
        number: 0xfffe_fdfc,
        configuration: 0x1122_3344_5566_7788,
        sent: Timestamp(0x8000_0000_0000_0001),
    };

    fn configuration() -> Configuration {
        Configuration::new(Settings { segment: 9, ..Settings::default() }).unwrap()
    }

    proptest! {
        #[test]
        fn reference_packets_survive_the_round_trip(number: u32, sent: u64, padding in 0usize..20) {
            let reference = Reference::new(&configuration(), number, Timestamp(sent));
            let mut padded = [0xaa; BYTES + 20];
            padded[..BYTES].copy_from_slice(&reference.encode());
            prop_assert_eq!(Reference::of(&configuration(), &padded[..BYTES + padding]), Some(reference));
        }

        #[test]
        fn number_and_time_enter_the_check_word_rotated(number: u32, sent: u64) {
            let of_zero = Reference { number: 0, sent: Timestamp(0), ..SAMPLE }.words()[7];
            let check = Reference { number, sent: Timestamp(sent), ..SAMPLE }.words()[7];
            let [of_number, of_time] = CHECK_ROTATIONS;
            prop_assert_eq!(check, of_zero ^ u64::from(number).rotate_left(of_number) ^ sent.rotate_left(of_time));
        }
    }

    #[test]
    fn a_reference_packet_by_hand() {
        let bytes = SAMPLE.encode();
        assert_eq!(bytes[..12], [0x03, 0x44, 0x45, 0x4c, 0x54, 0x41, 0x02, 0x44, 0x45, 0x4c, 0x54, 0x41]);
        assert_eq!(bytes[12..24], [0x88, 0xb5, 2, 3, 1, 2, 3, 4, 0xff, 0xfe, 0xfd, 0xfc]);
        assert_eq!(bytes[24..32], [0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88]);
        assert_eq!(bytes[32..40], [0x80, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(bytes[40..56], [0; 16]);
        // 0x88b50203 << 5, the numbers rotated by 4, the configuration by 3, the time by 2.
        let check = 0x11_16a0_4060_u64 ^ 0x1020_304f_ffef_dfc0 ^ 0x8911_9a22_ab33_bc40 ^ 6;
        assert_eq!(bytes[56..], check.to_be_bytes());
    }

    #[test]
    fn others_and_cut_ones_are_none() {
        let bytes = Reference::new(&configuration(), 7, Timestamp(9)).encode();
        for bit in (12 * 8..20 * 8).chain(24 * 8..32 * 8) {
            let mut broken = bytes;
            broken[bit / 8] ^= 0x80 >> (bit % 8);
            assert_eq!(Reference::of(&configuration(), &broken), None, "bit {bit}");
        }
        for length in 0..BYTES {
            assert_eq!(Reference::of(&configuration(), &bytes[..length]), None);
        }
        assert_eq!(Reference::of(&configuration(), &SAMPLE.encode()), None);
    }

    #[test]
    fn it_is_neither_delimiter_nor_control_frame() {
        let bytes = SAMPLE.encode();
        assert_eq!(Delimiter::decode(&bytes), Err(DelimiterError::Role(ROLE)));
        assert!(Frame::decode(&bytes).is_err());
        let delimiter = Delimiter::new(&configuration(), 2);
        assert_eq!(Reference::of(&configuration(), &delimiter.encode()), None);
    }
}
