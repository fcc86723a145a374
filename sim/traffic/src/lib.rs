//! Seeded traffic for simulations and tests.
//!
//! There are two kinds. [`Frames`] are bytes of every encapsulation, for the stages that read headers. A [`stream`]
//! has packets without bytes, for experiments on accuracy. A [`source`] sends them. Their delays are drawn from a
//! law ([`delay`]) and their losses by [`loss`], or a [`queue`] makes both. Packets may be reordered at the edges
//! of intervals. A stream holds no more packets than its queue does.
//!
//! # Test plan
//!
//! Every kind of frame that the identity stage distinguishes occurs, and the same seed gives the same frames. The
//! modules have their own plans.

pub mod delay;
pub mod loss;
pub mod queue;
pub mod random;
pub mod source;
pub mod stream;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// An endless source of Ethernet frames of every encapsulation, sound and broken alike: none to three VLAN tags,
/// none to five MPLS labels, IPv4 with options, IPv6 with extension headers, other protocols, length fields that
/// contradict the frame, frames cut at any byte, padding.
pub struct Frames {
    random: StdRng,
}

impl Frames {
    /// The source that `seed` starts.
    pub fn new(seed: u64) -> Self {
        Frames { random: StdRng::seed_from_u64(seed) }
    }

    /// The next frame, 1 to about 400 bytes.
    pub fn next_frame(&mut self) -> Vec<u8> {
        let mut frame: Vec<u8> = self.bytes(12);
        // Sound frames are as common as all others together, or deep headers would hardly ever be reached.
        let sound = self.chance(2);
        let ipv6 = self.chance(2);
        self.push_tags(&mut frame, sound, ipv6);
        if ipv6 {
            self.push_ipv6(&mut frame, sound);
        } else {
            self.push_ipv4(&mut frame, sound);
        }
        if self.chance(4) {
            let padding = self.random.random_range(0..20);
            let padding = self.bytes(padding);
            frame.extend(padding);
        }
        if !sound && self.chance(2) {
            let length = self.random.random_range(1..=frame.len());
            frame.truncate(length);
        }
        frame
    }

    fn chance(&mut self, one_in: u32) -> bool {
        self.random.random_ratio(1, one_in)
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.random.random()).collect()
    }

    fn push_tags(&mut self, frame: &mut Vec<u8>, sound: bool, ipv6: bool) {
        let most = if sound { 2 } else { 3 };
        for _ in 0..self.random.random_range(0..=most) {
            let tag: [u8; 2] = if self.chance(2) { [0x81, 0] } else { [0x88, 0xa8] };
            frame.extend(tag);
            let control = self.bytes(2);
            frame.extend(control);
        }
        if self.chance(3) {
            frame.extend(if self.chance(2) { [0x88, 0x47] } else { [0x88, 0x48] });
            let labels = self.random.random_range(1..=if sound { 4 } else { 5 });
            for label in 1..=labels {
                let mut entry = self.bytes(4);
                entry[2] = entry[2] & 0xfe | u8::from(label == labels);
                frame.extend(entry);
            }
            return;
        }
        let other: [u8; 2] = self.random.random();
        frame.extend(match self.random.random_range(0..if sound { 6 } else { 9 }) {
            6 => [8, 6],
            7 => [0x88, 0xb5],
            8 => other,
            _ if ipv6 => [0x86, 0xdd],
            _ => [8, 0],
        });
    }

    /// How many payload bytes follow, and what the length field says of them.
    fn payload(&mut self, sound: bool) -> (usize, u16) {
        let actual = match self.random.random_range(0..4) {
            0 => self.random.random_range(0..40),
            1 => self.random.random_range(0..200),
            _ => self.random.random_range(20..36),
        };
        let declared = match self.random.random_range(0..6) {
            0 if !sound => self.random.random_range(0..64),
            1 if !sound => self.random.random(),
            _ => actual as u16,
        };
        (actual, declared)
    }

    fn push_ipv4(&mut self, frame: &mut Vec<u8>, sound: bool) {
        let words: u8 =
            if self.chance(2) { 5 } else { self.random.random_range(if sound { 5 } else { 0 }..16) };
        let version: u8 = if sound || !self.chance(8) { 4 } else { self.random.random_range(0..16) };
        let (actual, declared) = self.payload(sound);
        let total = (4 * u16::from(words)).wrapping_add(declared);
        let tos: u8 = self.random.random();
        frame.extend([version << 4 | words, tos]);
        frame.extend(total.to_be_bytes());
        let rest = self.bytes((4 * usize::from(words)).max(20) - 4 + actual);
        frame.extend(rest);
    }

    fn push_ipv6(&mut self, frame: &mut Vec<u8>, sound: bool) {
        let mut extensions: Vec<u8> = vec![];
        let mut next_header: u8 = if self.chance(4) {
            self.random.random()
        } else {
            [6, 17, 58, 50, 59][self.random.random_range(0..5)]
        };
        // Built from the last extension header to the first.
        let chain = if self.chance(2) { 0 } else { self.random.random_range(1..5) };
        for _ in 0..chain {
            let kind: u8 = [0, 43, 60, 135, 139, 140, 51, 44][self.random.random_range(0..8)];
            let most = if self.chance(4) { 8 } else { 2 };
            let units: u8 = self.random.random_range(0..most);
            let (length_field, units) = match kind {
                44 => (self.random.random(), 0),
                51 => (2 * units + u8::from(!sound && self.chance(4)), units),
                _ => (units, units),
            };
            let mut header = vec![next_header, length_field];
            header.extend(self.bytes(6 + 8 * usize::from(units)));
            header.extend(extensions);
            extensions = header;
            next_header = kind;
        }
        let version: u8 = if sound || !self.chance(8) { 6 } else { self.random.random_range(0..16) };
        let (actual, declared) = self.payload(sound);
        let first: [u8; 4] = self.random.random();
        frame.extend([version << 4 | first[0] & 0xf, first[1], first[2], first[3]]);
        frame.extend((extensions.len() as u16).wrapping_add(declared).to_be_bytes());
        frame.push(next_header);
        let rest = self.bytes(1 + 32);
        frame.extend(rest);
        frame.extend(extensions);
        let payload = self.bytes(actual);
        frame.extend(payload);
    }
}

/// A plain UDP packet over IPv4 in a frame of `length` bytes (46..=1514), distinguished by `number`.
pub fn udp_frame(number: u32, length: usize) -> Vec<u8> {
    let length = length.clamp(46, 1514);
    let mut frame = vec![0u8; length];
    frame[..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
    frame[14] = 0x45;
    frame[16..18].copy_from_slice(&((length - 14) as u16).to_be_bytes());
    frame[22] = 64;
    frame[23] = 17;
    frame[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    frame[38..40].copy_from_slice(&((length - 34) as u16).to_be_bytes());
    frame[42..46].copy_from_slice(&number.to_be_bytes());
    frame
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltaline_model::packet::identity::{Unmeasured, identify};

    #[test]
    fn every_kind_turns_up_and_seeds_repeat() {
        let (mut frames, mut again) = (Frames::new(5), Frames::new(5));
        let mut kinds = [0u32; 7];
        for _ in 0..20_000 {
            let frame = frames.next_frame();
            assert_eq!(frame, again.next_frame());
            let kind = match identify(&frame) {
                Ok(identity) => match (identity.key.words()[0] >> 28, identity.truncated) {
                    (4, false) => 0,
                    (4, true) => 1,
                    (_, false) => 2,
                    (_, true) => 3,
                },
                Err(Unmeasured::NotIp) => 4,
                Err(Unmeasured::Malformed) => 5,
                Err(Unmeasured::Incomplete) => 6,
            };
            kinds[kind] += 1;
        }
        assert!(kinds.iter().all(|&count| count > 100), "{kinds:?}");
    }

    #[test]
    fn udp_frames_are_distinguished() {
        let key = |number| identify(&udp_frame(number, 60)).unwrap().key;
        assert_ne!(key(1), key(2));
        assert_eq!(identify(&udp_frame(1, 1514)).unwrap().ip_length, 1500);
    }
}
