//! The packets that the benchmarks measure.

use deltaline_model::packet::hash::HashKind;

/// The hash functions and their names.
pub(crate) const KINDS: [(&str, HashKind); 2] = [("h3", HashKind::H3), ("rabin", HashKind::Rabin)];
/// Bytes of a frame: all that a key of IPv4 is made of, and Ethernet's header.
pub(crate) const FRAME_BYTES: usize = 14 + 20 + 28;

/// Likewise of IPv6.
pub(crate) const IPV6_FRAME_BYTES: usize = 14 + 40 + 28;

/// UDP packets over IPv4 without tags, their addresses, ports, lengths and payload drawn at random: nothing that a hash
/// of one packet has fetched helps with the next.
pub(crate) fn frames(count: usize) -> Vec<[u8; FRAME_BYTES]> {
    // Lengths of 256 or more, so that no payload byte is padding.
    random(count, &[0x08, 0x00, 0x45], 16, 23)
}

/// Likewise over IPv6.
pub(crate) fn ipv6_frames(count: usize) -> Vec<[u8; IPV6_FRAME_BYTES]> {
    random(count, &[0x86, 0xdd, 0x60], 18, 20)
}

/// Random frames with this EtherType and version, a length field at `length` of 256 or more, and UDP at `protocol`.
fn random<const BYTES: usize>(
    count: usize,
    start: &[u8; 3],
    length: usize,
    protocol: usize,
) -> Vec<[u8; BYTES]> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut byte = || {
        // Marsaglia's xorshift64.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    let mut frame = || {
        let mut frame = std::array::from_fn(|_| byte());
        frame[12..15].copy_from_slice(start);
        frame[length] = frame[length] % 5 + 1;
        frame[protocol] = 17;
        frame
    };
    (0..count).map(|_| frame()).collect()
}
