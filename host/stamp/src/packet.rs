//! Test packets and answers (RFC 8762, sections 4.2.1 and 4.3.1; the session identifier: RFC 8972, section 3).
//!
//! ```text
//! open, 44 octets                                     authenticated, 112 octets
//!        test packet           answer                        test packet           answer
//!  0     sequence number       sequence number         0     sequence number       sequence number
//!  4     time                  time                    4     zeros                 zeros
//! 12     error, session        error, session         16     time                  time
//! 16     zeros                 time of arrival        24     error, session        error, session
//! 24                           sequence number,       28     zeros                 zeros
//! 28                           time and                32                          time of arrival
//! 36                           error of the test      48                           sequence number,
//! 40                           packet; its TTL        64                           time and error of the test
//!                                                     80                           packet; its TTL
//!                                                     96     HMAC                  HMAC
//! ```
//!
//! Behind these may follow extensions (RFC 8972, section 4), flags, type, length and value each. None of them is known here but the padding: an
//! answer gives them back, marked as unknown, and so is as long as what it answers.

use crate::time::ErrorEstimate;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Octets of a packet without extensions.
pub const OPEN: usize = 44;
/// Octets of an authenticated one.
pub const AUTHENTICATED: usize = 112;
/// Most octets of a packet, extensions included.
pub const MOST: usize = 9000;

/// Octets of the HMAC: the first half of that with SHA-256.
const HMAC: usize = 16;
/// An extension's flags: not known; it does not fit.
const UNKNOWN: u8 = 0x80;
const MALFORMED: u8 = 0x40;
/// The extension that is padding alone.
const PADDING: u8 = 1;
/// Octets in front of an extension's value.
const HEAD: usize = 4;

/// A key that authenticates packets.
#[derive(Clone)]
pub struct Key(Hmac<Sha256>);

/// A key that is too short to be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key has 16 octets at least")]
pub struct ShortKey;

impl Key {
    /// From its octets, 16 at least.
    ///
    /// # Errors
    ///
    /// [`ShortKey`].
    pub fn new(octets: &[u8]) -> Result<Self, ShortKey> {
        let is_long = octets.len() >= HMAC;
        let hmac = Hmac::new_from_slice(octets).ok().filter(|_| is_long);
        hmac.map(Key).ok_or(ShortKey)
    }

    fn sign(&self, packet: &mut [u8]) {
        let Some((signed, tag)) = packet.split_at_mut_checked(AUTHENTICATED - HMAC) else { return };
        let found = self.0.clone().chain_update(signed).finalize().into_bytes();
        tag.iter_mut().zip(found).take(HMAC).for_each(|(octet, found)| *octet = found);
    }

    fn has_signed(&self, packet: &[u8]) -> bool {
        let Some((signed, tag)) = packet.split_at_checked(AUTHENTICATED - HMAC) else { return false };
        let Some(tag) = tag.first_chunk::<HMAC>() else { return false };
        self.0.clone().chain_update(signed).verify_truncated_left(tag).is_ok()
    }
}

/// Why a packet is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It has fewer octets than such a packet.
    Short,
    /// Its HMAC is not that of the key.
    Forged,
}

/// What both kinds of packets begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The sequence number.
    pub number: u32,
    /// The time, in the format that the error says.
    pub time: u64,
    /// How wrong that may be.
    pub error: ErrorEstimate,
    /// The session, or zero.
    pub session: u16,
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The reflector's own.
    pub stamp: Stamp,
    /// When the test packet arrived, in the format of the reflector's times.
    pub arrival: u64,
    /// What the test packet said, but for its session.
    pub asked: Stamp,
    /// The TTL, or hop limit, that the test packet arrived with.
    pub ttl: u8,
}

/// Where the fields are.
struct Places {
    length: usize,
    time: usize,
    arrival: usize,
    asked: usize,
    asked_time: usize,
    ttl: usize,
}

fn places(is_authenticated: bool) -> Places {
    match is_authenticated {
        false => Places { length: OPEN, time: 4, arrival: 16, asked: 24, asked_time: 28, ttl: 40 },
        true => Places { length: AUTHENTICATED, time: 16, arrival: 32, asked: 48, asked_time: 64, ttl: 80 },
    }
}

fn put(packet: &mut [u8], place: usize, octets: &[u8]) {
    packet.iter_mut().skip(place).zip(octets).for_each(|(octet, value)| *octet = *value);
}

fn get<const N: usize>(packet: &[u8], place: usize) -> [u8; N] {
    packet.get(place..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}

impl Stamp {
    fn put(&self, packet: &mut [u8], number: usize, time: usize) {
        put(packet, number, &self.number.to_be_bytes());
        put(packet, time, &self.time.to_be_bytes());
        put(packet, time + 8, &self.error.0.to_be_bytes());
    }

    fn get(packet: &[u8], number: usize, time: usize) -> Self {
        Stamp {
            number: u32::from_be_bytes(get(packet, number)),
            time: u64::from_be_bytes(get(packet, time)),
            error: ErrorEstimate(u16::from_be_bytes(get(packet, time + 8))),
            session: 0,
        }
    }

    fn whole(packet: &[u8], places: &Places) -> Self {
        let session = u16::from_be_bytes(get(packet, places.time + 10));
        Stamp { session, ..Stamp::get(packet, 0, places.time) }
    }

    /// The test packet, of at least `length` octets, at most [`MOST`]; what is above those that it has to have is a padding.
    pub fn packet(&self, key: Option<&Key>, length: usize) -> Vec<u8> {
        let places = places(key.is_some());
        let mut packet = vec![0; places.length];
        self.put(&mut packet, 0, places.time);
        put(&mut packet, places.time + 10, &self.session.to_be_bytes());
        if let Some(key) = key {
            key.sign(&mut packet);
        }
        let more = length.min(MOST).saturating_sub(places.length);
        if more > 0 {
            // Its own head is part of it: a few octets may be added.
            let value = more.saturating_sub(HEAD);
            packet.extend([0, PADDING]);
            packet.extend((value as u16).to_be_bytes());
            packet.extend(std::iter::repeat_n(0, value));
        }
        packet
    }

    /// Reads a test packet.
    ///
    /// # Errors
    ///
    /// [`Refused`].
    pub fn read(packet: &[u8], key: Option<&Key>) -> Result<Self, Refused> {
        let places = accepted(packet, key)?;
        Ok(Stamp::whole(packet, &places))
    }
}

fn accepted(packet: &[u8], key: Option<&Key>) -> Result<Places, Refused> {
    let places = places(key.is_some());
    match key {
        _ if packet.len() < places.length => Err(Refused::Short),
        Some(key) if !key.has_signed(packet) => Err(Refused::Forged),
        _ => Ok(places),
    }
}

impl Answer {
    /// The answer to `asked`, whose extensions it gives back.
    pub fn packet(&self, key: Option<&Key>, asked: &[u8]) -> Vec<u8> {
        let places = places(key.is_some());
        let mut packet = vec![0; places.length];
        self.stamp.put(&mut packet, 0, places.time);
        put(&mut packet, places.time + 10, &self.stamp.session.to_be_bytes());
        put(&mut packet, places.arrival, &self.arrival.to_be_bytes());
        self.asked.put(&mut packet, places.asked, places.asked_time);
        put(&mut packet, places.ttl, &[self.ttl]);
        if let Some(key) = key {
            key.sign(&mut packet);
        }
        packet.extend(returned(asked.get(places.length..).unwrap_or_default()));
        packet
    }

    /// Reads an answer.
    ///
    /// # Errors
    ///
    /// [`Refused`].
    pub fn read(packet: &[u8], key: Option<&Key>) -> Result<Self, Refused> {
        let places = accepted(packet, key)?;
        let [ttl] = get(packet, places.ttl);
        Ok(Answer {
            stamp: Stamp::whole(packet, &places),
            arrival: u64::from_be_bytes(get(packet, places.arrival)),
            asked: Stamp::get(packet, places.asked, places.asked_time),
            ttl,
        })
    }
}

/// Extensions as an answer has them. Octets that are none at all, which older senders pad with, come back as they are.
fn returned(extensions: &[u8]) -> Vec<u8> {
    let mut returned = extensions.to_vec();
    let mut place = 0;
    while let Some(&[flags, kind, ..]) = returned.get(place..).and_then(|rest| rest.first_chunk::<HEAD>()) {
        let length = usize::from(u16::from_be_bytes(get(&returned, place + 2)));
        let fits = place + HEAD + length <= returned.len();
        let mark = match kind {
            0 => break,
            _ if !fits => MALFORMED,
            PADDING => 0,
            _ => UNKNOWN,
        };
        // What a test packet says of itself is not the reflector's word.
        put(&mut returned, place, &[flags & !(UNKNOWN | MALFORMED) | mark]);
        if !fits {
            break;
        }
        place += HEAD + length;
    }
    returned
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STAMP: Stamp = Stamp {
        number: 0x0102_0304,
        time: 0x1112_1314_1516_1718,
        error: ErrorEstimate(0xa1a2),
        session: 0xb1b2,
    };
    const ANSWER: Answer = Answer {
        stamp: STAMP,
        arrival: 0x2122_2324_2526_2728,
        asked: Stamp {
            number: 0x3132_3334,
            time: 0x4142_4344_4546_4748,
            error: ErrorEstimate(0x5152),
            session: 0,
        },
        ttl: 0x61,
    };

    fn key() -> Key {
        Key::new(b"0123456789abcdef").unwrap()
    }

    fn octets(text: &str) -> Vec<u8> {
        let digits: String = text.split_whitespace().collect();
        (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
    }

    /// Field by field, as the RFCs' figures draw them.
    #[test]
    fn packets_by_hand() {
        let open = "01020304 1112131415161718 a1a2 b1b2";
        let zeros = |count| "00".repeat(count);
        assert_eq!(STAMP.packet(None, 0), octets(&format!("{open} {}", zeros(28))));
        let answer = format!("{open} 2122232425262728 31323334 4142434445464748 5152 0000 61 000000");
        assert_eq!(ANSWER.packet(None, &[]), octets(&answer));

        let signed = format!("01020304 {} 1112131415161718 a1a2 b1b2 {}", zeros(12), zeros(68));
        let packet = STAMP.packet(Some(&key()), 0);
        assert_eq!(packet[..96], octets(&signed));
        assert_eq!(packet.len(), AUTHENTICATED);
        let answer = format!(
            "01020304 {} 1112131415161718 a1a2 b1b2 {} 2122232425262728 {} 31323334 {} 4142434445464748 5152 {} 61 {}",
            zeros(12),
            zeros(4),
            zeros(8),
            zeros(12),
            zeros(6),
            zeros(15)
        );
        assert_eq!(ANSWER.packet(Some(&key()), &[])[..96], octets(&answer));
    }

    /// Of 96 zeros.
    #[test]
    fn tags_are_those_of_another_implementation() {
        // python3 -c 'import hmac; print(hmac.new(b"0123456789abcdef", bytes(96), "sha256").hexdigest()[:32])'
        let blank = Stamp { number: 0, time: 0, error: ErrorEstimate(0), session: 0 };
        assert_eq!(blank.packet(Some(&key()), 0)[96..], octets(TAG));
    }

    /// Packets that scapy 2.8.0 made (scapy.contrib.stamp), of half, a quarter and an eighth behind whole seconds.
    #[test]
    fn packets_are_those_of_scapy() {
        let seconds = 3_900_000_000 << 32;
        let error = ErrorEstimate(0x9604);
        let asked = Stamp { number: 7, time: seconds + (1 << 31), error, session: 0x1234 };
        let sent = octets(
            "00000007e8754700800000009604123400000000000000000000000000000000000000000000000000000000",
        );
        assert_eq!(asked.packet(None, 0), sent);
        let stamp =
            Stamp { number: 6, time: seconds + (5 << 30), error: ErrorEstimate(0x2001), session: 0x1234 };
        let asked = Stamp { session: 0, ..asked };
        let answer = Answer { stamp, arrival: seconds + (9 << 29), asked, ttl: 64 };
        let answered = octets(
            "00000006e87547014000000020011234e87547012000000000000007e8754700800000009604000040000000",
        );
        assert_eq!(answer.packet(None, &sent), answered);
        assert_eq!(Answer::read(&answered, None), Ok(answer));
    }

    const TAG: &str = "610f8da5b334cb9433123b8cb1d2599b";

    #[test]
    fn keys_decide() {
        let packet = STAMP.packet(Some(&key()), 0);
        assert_eq!(Stamp::read(&packet, Some(&key())), Ok(STAMP));
        let other = Key::new(b"0123456789abcdeg").unwrap();
        assert_eq!(Stamp::read(&packet, Some(&other)), Err(Refused::Forged));
        for bit in 0..8 * AUTHENTICATED {
            let mut altered = packet.clone();
            altered[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Stamp::read(&altered, Some(&key())), Err(Refused::Forged), "{bit}");
        }
        assert!(Key::new(b"0123456789abcde").is_err());
        assert_eq!(Stamp::read(&packet[..111], Some(&key())), Err(Refused::Short));
        assert_eq!(Stamp::read(&packet[..43], None), Err(Refused::Short));
    }

    #[test]
    fn extensions_come_back() {
        // A padding, an unknown one that claims to be known, and one that is longer than the packet.
        let asked = octets("00 01 0002 ffff  00 07 0001 aa  40 09 ffff 01");
        let expected = octets("00 01 0002 ffff  80 07 0001 aa  40 09 ffff 01");
        assert_eq!(returned(&asked), expected);
        // No extensions: what was there before they were thought of.
        assert_eq!(returned(&[0; 9]), [0; 9]);
        for length in [44, 45, 48, 100, MOST, usize::MAX] {
            let packet = STAMP.packet(None, length);
            assert!(packet.len() >= length.min(MOST) && packet.len() <= MOST + HEAD, "{length}");
            assert_eq!(ANSWER.packet(None, &packet).len(), packet.len());
            assert_eq!(Answer::read(&ANSWER.packet(None, &packet), None), Ok(ANSWER));
        }
    }

    proptest! {
        #[test]
        fn any_octets_do_no_harm(packet in proptest::collection::vec(any::<u8>(), 0..300)) {
            for key in [None, Some(key())] {
                let _ = Answer::read(&packet, key.as_ref());
                if Stamp::read(&packet, key.as_ref()).is_ok() {
                    prop_assert_eq!(ANSWER.packet(key.as_ref(), &packet).len(), packet.len());
                }
            }
        }
    }
}
