//! The check word, and how a frame of ours begins.
//!
//! The check word guards what the FCS does not: assembly, storage, truncation. It starts as the 32 bits (EtherType,
//! version, role); for each following 64-bit word of the frame it is rotated left by one bit and the word is added by
//! exclusive or. Every error that lies within 63 consecutive bits is found.
//!
//! # Test plan
//!
//! That of the frames that end in it: [`crate::wire::v1`], [`crate::wire::v2`], [`crate::wire::delimiter`].

use crate::wire::fields::Fields;

/// EtherType of control frames and delimiters: IEEE 802 local experimental EtherType 1.
pub const ETHERTYPE: u16 = 0x88b5;
/// Destination MAC address: a locally administered group.
pub const DESTINATION: [u8; 6] = [0x03, 0x44, 0x45, 0x4c, 0x54, 0x41];
/// Source MAC address: locally administered.
pub const SOURCE: [u8; 6] = [0x02, 0x44, 0x45, 0x4c, 0x54, 0x41];

/// The first two words of every frame of ours: addresses, EtherType, version and role.
pub const fn first_words(version: u8, role: u8) -> [u64; 2] {
    [mac(DESTINATION) << 16 | mac(SOURCE) >> 32, mac(SOURCE) << 32 | check_start(version, role)]
}

/// What the check word starts with: EtherType, version and role.
pub const fn check_start(version: u8, role: u8) -> u64 {
    (ETHERTYPE as u64) << 16 | (version as u64) << 8 | role as u64
}

/// One step of the check word.
pub const fn check_step(check: u64, word: u64) -> u64 {
    check.rotate_left(1) ^ word
}

/// The words of a frame of eight: how every frame of ours begins, these, and the check word.
pub(crate) fn checked_words(version: u8, role: u8, middle: [u64; 5]) -> [u64; 8] {
    let [first, second] = first_words(version, role);
    let [third, fourth, fifth, sixth, seventh] = middle;
    let check = middle.into_iter().fold(check_start(version, role), check_step);
    [first, second, third, fourth, fifth, sixth, seventh, check]
}

/// The bytes of a frame of eight words.
pub(crate) fn bytes_of(words: [u64; 8]) -> [u8; 64] {
    let mut bytes = [0; 64];
    for (bytes, word) in bytes.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    bytes
}

/// The check word of a frame without it: whole words from the addresses on, two of them at least.
pub(crate) fn check_word(frame: &[u8]) -> u64 {
    let mut words = frame.chunks_exact(8).map(|word| Fields(word).u64(0)).skip(1);
    let start = words.next().unwrap_or_default() & 0xffff_ffff;
    words.fold(start, check_step)
}

/// A MAC address as a 48-bit number.
const fn mac(bytes: [u8; 6]) -> u64 {
    let [a, b, c, d, e, f] = bytes;
    u64::from_be_bytes([0, 0, a, b, c, d, e, f])
}
