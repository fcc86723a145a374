//! The packets that the benchmarks measure.

use deltaline_model::hash::HashKind;

/// The hash functions and their names.
pub(crate) const KINDS: [(&str, HashKind); 2] = [("h3", HashKind::H3), ("rabin", HashKind::Rabin)];
/// Bytes of a frame: all that a key of IPv4 is made of, and Ethernet's header.
pub(crate) const FRAME_BYTES: usize = 14 + 20 + 28;

/// Likewise of IPv6.
pub(crate) const IPV6_FRAME_BYTES: usize = 14 + 40 + 28;

/// UDP packets over IPv4 without tags, their addresses, ports, lengths and payload drawn at random: nothing that a hash
/// of one packet has fetched helps with the next.
pub(crate) fn frames(count: usize) -> Vec<[u8; FRAME_BYTES]> {
    let mut frames = random(count);
    for frame in &mut frames {
        frame[12..15].copy_from_slice(&[0x08, 0x00, 0x45]);
        // A total length of 256 or more, so that no payload byte is padding.
        frame[16] = frame[16] % 5 + 1;
        frame[23] = 17;
    }
    frames
}

/// Likewise over IPv6.
pub(crate) fn ipv6_frames(count: usize) -> Vec<[u8; IPV6_FRAME_BYTES]> {
    let mut frames = random(count);
    for frame in &mut frames {
        frame[12..15].copy_from_slice(&[0x86, 0xdd, 0x60]);
        frame[18] = frame[18] % 5 + 1;
        frame[20] = 17;
    }
    frames
}

fn random<const BYTES: usize>(count: usize) -> Vec<[u8; BYTES]> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut byte = || {
        // Marsaglia's xorshift64.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..count).map(|_| std::array::from_fn(|_| byte())).collect()
}
