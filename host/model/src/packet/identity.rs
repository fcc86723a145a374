//! Identity: the bytes of a packet that no router changes.
//!
//! Two points of a path recognise a packet by its *key*, 68 bytes in 17 words of 32 bits:
//!
//! | words  | IPv4 | IPv6 |
//! |--------|------|------|
//! | 0      | version, header length, 0, total length | version, the rest 0 |
//! | 1      | identification, flags, fragment offset | payload length, next header, 0 |
//! | 2      | 0, protocol, 0, 0 | source address, word 0 |
//! | 3, 4   | source address, destination address | source address, words 1 and 2 |
//! | 5      | 0 | source address, word 3 |
//! | 6..=9  | 0 | destination address |
//! | 10..=16 | the 28 bytes behind the IP header | the 28 bytes behind the last extension header |
//!
//! What routers rewrite is left out: MAC addresses, VLAN tags, MPLS labels, TOS or traffic class with ECN, TTL or
//! hop limit, the header checksum, the flow label (RFC 6437 section 3 lets a router set it), IPv4 options and IPv6
//! extension headers (record route, segment routing). So are the checksums of UDP and TCP: a sender whose network card
//! fills them in records what its host left there. Without the 28 bytes behind the header, one packet in four of
//! ordinary traffic shares its key with another; see Henke et al. (PAM 2009) and RFC 5475 section 6.2.
//!
//! # Rules
//!
//! * **Window.** Only the first [`WINDOW_BYTES`] of a frame are looked at.
//! * **Tags.** Up to two VLAN tags (0x8100, 0x88A8), then up to four MPLS labels (0x8847, 0x8848), then IP. Below
//!   MPLS the first four bits tell IPv4 from IPv6.
//! * **Not measured:** everything that is not IP (ARP, LLDP, spanning tree, PTP over Ethernet, our own control
//!   frames), deeper tag stacks, an IP version that contradicts the EtherType, an IPv4 header length below five
//!   words, and a frame that ends before its fixed IP header (20 or 40 bytes) does. Such frames are counted, and
//!   enter neither totals nor cells.
//! * **Extension headers** are walked over: hop-by-hop (0), routing (43), destination options (60), mobility
//!   (135), HIP (139), shim6 (140), authentication (51, its length rounded down to eight bytes) and fragment (44,
//!   which ends the chain). Everything else, encryption (50) among it, is payload.
//! * **Checksums.** Payload bytes 6 and 7 count as zero below UDP (17), 16 and 17 below TCP (6), whatever a fragment has
//!   there. The protocol is IPv4's, or what the last extension header names.
//! * **Padding.** Payload bytes behind the datagram's end, by its own length field, count as zero, so that a link
//!   that pads short frames changes nothing.
//! * **Truncation.** Bytes that the frame does not hold (a capture's snap length, the window's end) count as
//!   zero. [`Identity::truncated`] says when that hides bytes: when the frame ends before bytes of the key that the window
//!   would have held, within a chain of extension headers, or before the payload begins.
//!
//! # Test plan
//!
//! Keys built by hand for every encapsulation; each router-mutable field changed alone leaves the key as it is,
//! each other field changes it; every frame cut at every length neither panics nor reads beyond the cut; padding
//! of any content changes nothing; the quick way of plain frames against the general one, on both sides of what is plain;
//! limits (third VLAN tag, fifth label, header length 4) are not measured. The
//! hardware twin is compared on random and directed traffic in `sim/cosim`.

/// Length of a key in bytes.
pub const KEY_BYTES: usize = 68;
/// Length of a key in 32-bit words.
pub const KEY_WORDS: usize = KEY_BYTES / 4;
/// Length of a key in words of 64 bits, the last of which is half one.
pub(crate) const LONG_WORDS: usize = KEY_BYTES.div_ceil(8);
/// Length of a key in bits.
pub const KEY_BITS: usize = KEY_BYTES * 8;
/// First key word of the payload.
pub const PAYLOAD_WORD: usize = 10;
/// Bytes behind the IP header that belong to the key.
pub const PAYLOAD_BYTES: usize = 28;
/// Number of the key's form; 0 had checksums in it.
pub const KEY_FORM: u8 = 1;
/// How much of a frame, from its first byte on, is looked at: what 128-byte windows hold of the 32-bit words that
/// start two bytes into the frame, where every header behind Ethernet's is aligned.
pub const WINDOW_BYTES: usize = 126;
/// Most VLAN tags in front of the IP header.
pub const MAX_VLAN_TAGS: usize = 2;
/// Most MPLS labels in front of the IP header.
pub const MAX_MPLS_LABELS: usize = 4;

/// The bytes that identify a packet; see the [module](self) for the layout.
///
/// They are kept as numbers of 64 bits, in which hashes read them; the last one holds the last word alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key([u64; LONG_WORDS]);

impl Key {
    /// The bytes, in the order of the wire.
    pub fn to_bytes(&self) -> [u8; KEY_BYTES] {
        let mut bytes = [0; KEY_BYTES];
        for (bytes, word) in bytes.chunks_exact_mut(4).zip(self.words()) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        bytes
    }

    /// The words of 32 bits, the first byte of each in its highest bits.
    pub fn words(&self) -> [u32; KEY_WORDS] {
        let [pairs @ .., last] = self.0;
        core::array::from_fn(|word| match pairs.get(word / 2) {
            Some(pair) => (pair >> (32 * (1 - word % 2))) as u32,
            None => last as u32,
        })
    }

    /// The words of 64 bits, the first byte of each in its highest bits; the last one is the last word of 32 bits.
    #[inline]
    pub(crate) fn long_words(&self) -> &[u64; LONG_WORDS] {
        &self.0
    }

    /// The key of these words, as [`Key::long_words`] gives them.
    #[inline]
    pub(crate) fn of_long_words(words: [u64; LONG_WORDS]) -> Self {
        Key(words)
    }

    /// The bits of the key that `mask` has, the others zero.
    #[inline]
    pub(crate) fn masked(&self, mask: &[u64; LONG_WORDS]) -> Self {
        Key(core::array::from_fn(|word| self.0[word] & mask[word]))
    }
}

impl From<[u8; KEY_BYTES]> for Key {
    /// The key of these bytes, in the order of the wire.
    fn from(bytes: [u8; KEY_BYTES]) -> Self {
        let word = |word: usize| half_word(&bytes[4 * word..]) as u32;
        core::array::from_fn::<u32, KEY_WORDS, _>(word).into()
    }
}

impl From<[u32; KEY_WORDS]> for Key {
    /// The key of these words, the first byte of each in its highest bits.
    fn from(words: [u32; KEY_WORDS]) -> Self {
        let mut key = Key::default();
        for (word, halves) in key.0.iter_mut().zip(words.chunks(2)) {
            *word = halves.iter().fold(0, |word, half| word << 32 | u64::from(*half));
        }
        key
    }
}

/// What the identity stage finds in a measured frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The bytes that identify the packet.
    pub key: Key,
    /// Octets of the IP datagram with its header, as its own length field says (IPFIX `octetDeltaCount`):
    /// total length, or payload length + 40. 0..=65,575.
    pub ip_length: u32,
    /// The frame ended before bytes of the key that the window would have held, or before the payload; they count as zero.
    pub truncated: bool,
}

/// Why a frame is not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unmeasured {
    /// No IP packet behind at most two VLAN tags and four MPLS labels.
    NotIp,
    /// The IP version contradicts the EtherType, or the IPv4 header length is below five words.
    Malformed,
    /// The frame ends before the fixed IP header does.
    Incomplete,
}

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
const IPV6_HEADER: usize = 40;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// Bytes of a frame without tags and options that the key is made of.
const PLAIN_BYTES: usize = 14 + 20 + PAYLOAD_BYTES;

/// What stands in front of the IP header.
enum Network {
    V4,
    V6,
    /// Below MPLS, where only the version field shows it.
    Unknown,
}

/// The identity of a frame that starts with its destination MAC address and ends without its FCS.
///
/// # Errors
///
/// [`Unmeasured`] when the frame is not one that Deltaline measures.
#[inline(always)]
pub fn identify(frame: &[u8]) -> Result<Identity, Unmeasured> {
    if let Some(identity) = identify_plain(frame) {
        return Ok(identity);
    }
    // Taken apart: handed on as it is, it would have the plain one written to memory, too.
    let Identity { key: Key([a, b, c, d, e, f, g, h, i]), ip_length, truncated } = general(frame)?;
    Ok(Identity { key: Key([a, b, c, d, e, f, g, h, i]), ip_length, truncated })
}

/// The identity of what most packets are: IPv4 without tags and options, of which all bytes of the key are there.
///
/// Where this is inlined, a hash takes the key's words from the frame, and the key is never in memory. To write it there
/// and read it again costs as much as to find it.
#[inline(always)]
pub(crate) fn identify_plain(frame: &[u8]) -> Option<Identity> {
    let frame: &[u8; PLAIN_BYTES] = frame.first_chunk()?;
    let total_length = u16::from_be_bytes([frame[16], frame[17]]);
    let is_plain =
        half_word(&frame[12..]) >> 8 == 0x08_0045 && usize::from(total_length) >= 20 + PAYLOAD_BYTES;
    let [a, b, c] = ipv4_words(&frame[14..34]);
    let [d, e, f, g] = without_checksum(payload_words(&frame[34..]), frame[23]);
    let key = Key([a, b, c, 0, 0, d, e, f, g]);
    is_plain.then_some(Identity { key, ip_length: u32::from(total_length), truncated: false })
}

/// What an IPv4 header of 20 bytes contributes to the key: not TOS, TTL and header checksum.
#[inline(always)]
fn ipv4_words(header: &[u8]) -> [u64; 3] {
    [
        long_word(header) & 0xff00_ffff_ffff_ffff,
        long_word(&header[8..]) & 0x00ff_0000_ffff_ffff,
        half_word(&header[16..]) << 32,
    ]
}

/// All payload bytes of the key.
#[inline(always)]
fn payload_words(bytes: &[u8]) -> [u64; 4] {
    [long_word(bytes), long_word(&bytes[8..]), long_word(&bytes[16..]), half_word(&bytes[24..])]
}

/// Payload bytes of the key without the checksum of this protocol.
#[inline(always)]
fn without_checksum([d, e, f, g]: [u64; 4], protocol: u8) -> [u64; 4] {
    let unless = |is_there, bytes: u64| if is_there { !bytes } else { u64::MAX };
    [d & unless(protocol == UDP, 0xffff), e, f & unless(protocol == TCP, 0xffff << 48), g]
}

/// The identity of any frame.
#[inline(never)]
fn general(frame: &[u8]) -> Result<Identity, Unmeasured> {
    let window = &frame[..frame.len().min(WINDOW_BYTES)];
    let (start, network) = network_header(window)?;
    let first = word(window, start).ok_or(Unmeasured::Incomplete)?;
    match (network, first[0] >> 4) {
        (Network::V4 | Network::Unknown, 4) => ipv4(window, start, first),
        (Network::V6 | Network::Unknown, 6) => ipv6(window, start),
        (Network::Unknown, _) => Err(Unmeasured::NotIp),
        _ => Err(Unmeasured::Malformed),
    }
}

/// Where the network header starts and what the tags in front of it say it is.
#[inline]
fn network_header(window: &[u8]) -> Result<(usize, Network), Unmeasured> {
    let mut vlan_tags = 0;
    let mut position = 12;
    loop {
        let ethertype = window.get(position..position + 2).ok_or(Unmeasured::NotIp)?;
        let ethertype = u16::from_be_bytes([ethertype[0], ethertype[1]]);
        position += 2;
        match ethertype {
            0x8100 | 0x88a8 if vlan_tags < MAX_VLAN_TAGS => {
                vlan_tags += 1;
                position += 2;
            }
            0x8847 | 0x8848 => {
                for _ in 0..MAX_MPLS_LABELS {
                    let label = word(window, position).ok_or(Unmeasured::NotIp)?;
                    position += 4;
                    let bottom_of_stack = label[2] & 1 == 1;
                    if bottom_of_stack {
                        return Ok((position, Network::Unknown));
                    }
                }
                return Err(Unmeasured::NotIp);
            }
            ETHERTYPE_IPV4 => return Ok((position, Network::V4)),
            ETHERTYPE_IPV6 => return Ok((position, Network::V6)),
            _ => return Err(Unmeasured::NotIp),
        }
    }
}

fn ipv4(window: &[u8], start: usize, first: [u8; 4]) -> Result<Identity, Unmeasured> {
    let header = 4 * usize::from(first[0] & 0xf);
    if header < 20 {
        return Err(Unmeasured::Malformed);
    }
    let fixed = window.get(start..start + 20).ok_or(Unmeasured::Incomplete)?;
    let total_length = u16::from_be_bytes([first[2], first[3]]);
    let [a, b, c] = ipv4_words(fixed);
    let payload = usize::from(total_length).saturating_sub(header);
    let (words, truncated) = payload_of(window, start + header, payload);
    let [d, e, f, g] = without_checksum(words, fixed[9]);
    Ok(Identity { key: Key([a, b, c, 0, 0, d, e, f, g]), ip_length: u32::from(total_length), truncated })
}

fn ipv6(window: &[u8], start: usize) -> Result<Identity, Unmeasured> {
    let fixed = window.get(start..start + IPV6_HEADER).ok_or(Unmeasured::Incomplete)?;
    let payload_length = u16::from_be_bytes([fixed[4], fixed[5]]);
    let mut payload = usize::from(payload_length);
    let mut position = start + IPV6_HEADER;
    let mut header = fixed[6];
    while let Some(kind) = Extension::of(header) {
        let Some(extension) = word(window, position) else {
            // What is there of the extension header is no payload.
            position = WINDOW_BYTES;
            break;
        };
        let length = kind.bytes(extension[1]);
        position += length;
        payload = payload.saturating_sub(length);
        header = extension[0];
        if matches!(kind, Extension::Fragment) {
            break;
        }
    }
    // Not traffic class, flow label and hop limit.
    let lengths = long_word(fixed) & 0xf000_0000_ffff_ff00;
    let address = |at: usize| long_word(&fixed[at..]);
    let (words, truncated) = payload_of(window, position, payload);
    let [d, e, f, g] = without_checksum(words, header);
    let key = Key([lengths, address(8), address(16), address(24), address(32), d, e, f, g]);
    Ok(Identity { key, ip_length: u32::from(payload_length) + IPV6_HEADER as u32, truncated })
}

/// The IPv6 extension headers that are walked over, by how their length is coded.
enum Extension {
    /// Length field in units of eight bytes beyond the first eight.
    Units,
    /// Authentication header: length field in units of four bytes beyond the first eight.
    Authentication,
    /// Fragment header: always eight bytes, and the last to be walked over.
    Fragment,
}

impl Extension {
    fn of(next_header: u8) -> Option<Self> {
        match next_header {
            0 | 43 | 60 | 135 | 139 | 140 => Some(Extension::Units),
            51 => Some(Extension::Authentication),
            44 => Some(Extension::Fragment),
            _ => None,
        }
    }

    fn bytes(&self, length_field: u8) -> usize {
        match self {
            Extension::Units => 8 * (1 + usize::from(length_field)),
            Extension::Authentication => 8 * (1 + usize::from(length_field / 2)),
            Extension::Fragment => 8,
        }
    }
}

/// The payload bytes of the key, of which the datagram has `declared` at most; true when the frame ended before them.
fn payload_of(window: &[u8], position: usize, declared: usize) -> ([u64; 4], bool) {
    let wanted = declared.min(PAYLOAD_BYTES);
    // Nearly always all of it is there.
    if let Some(held) = window.get(position..position + PAYLOAD_BYTES)
        && wanted == PAYLOAD_BYTES
    {
        return (payload_words(held), false);
    }
    let end = (position + wanted).min(WINDOW_BYTES);
    let held = window.get(position..end.min(window.len())).unwrap_or(&[]);
    let mut bytes = [0; PAYLOAD_BYTES];
    bytes[..held.len()].copy_from_slice(held);
    (payload_words(&bytes), wanted > 0 && window.len() < end)
}

fn word(window: &[u8], position: usize) -> Option<[u8; 4]> {
    window.get(position..position + 4)?.try_into().ok()
}

/// The first eight bytes as a number, the first one in its highest bits; zero where there are fewer.
#[inline(always)]
fn long_word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

/// The first four bytes as a number, likewise.
#[inline(always)]
fn half_word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes).into())
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    const MACS: [u8; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

    fn payload() -> Vec<u8> {
        (0..40).map(|i| 0x80 + i).collect()
    }

    fn ipv4_packet(options: usize) -> Vec<u8> {
        let header = 20 + options;
        let mut packet =
            vec![0x40 | (header / 4) as u8, 0x12, 0, (header + 40) as u8, 0xbe, 0xef, 0x40, 0x01];
        packet.extend([63, 17, 0xaa, 0x55, 10, 1, 0, 1, 10, 2, 0, 1]);
        packet.extend(vec![0x77; options]);
        packet.extend(payload());
        packet
    }

    fn ipv6_packet(next_header: u8, extensions: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x61, 0x23, 0x45, 0x67, 0, (extensions.len() + 40) as u8, next_header, 64];
        packet.extend(0x20..0x40);
        packet.extend(extensions);
        packet.extend(payload());
        packet
    }

    fn frame(tags: &[u8], packet: &[u8]) -> Vec<u8> {
        [&MACS[..], tags, packet].concat()
    }

    fn ipv4_key() -> [u8; KEY_BYTES] {
        let mut key = [0; KEY_BYTES];
        key[..20].copy_from_slice(&[
            0x45, 0, 0, 60, 0xbe, 0xef, 0x40, 0x01, 0, 17, 0, 0, 10, 1, 0, 1, 10, 2, 0, 1,
        ]);
        key[40..].copy_from_slice(&kept_payload());
        key
    }

    /// What of the payload below UDP is in a key.
    fn kept_payload() -> [u8; PAYLOAD_BYTES] {
        core::array::from_fn(|byte| if byte == 6 || byte == 7 { 0 } else { payload()[byte] })
    }

    fn ipv6_key(next_header: u8, length: u8) -> [u8; KEY_BYTES] {
        let mut key = [0; KEY_BYTES];
        key[..8].copy_from_slice(&[0x60, 0, 0, 0, 0, length, next_header, 0]);
        for (byte, value) in key[8..40].iter_mut().zip(0x20..) {
            *byte = value;
        }
        key[40..].copy_from_slice(&kept_payload());
        key
    }

    fn key_of(frame: &[u8]) -> [u8; KEY_BYTES] {
        identify(frame).unwrap().key.to_bytes()
    }

    #[test]
    fn ipv4_behind_every_kind_of_tag() {
        let stacks: [&[u8]; 6] = [
            &[8, 0],
            &[0x81, 0, 0x20, 5, 8, 0],
            &[0x88, 0xa8, 0, 7, 0x81, 0, 0, 9, 8, 0],
            &[0x88, 0x47, 0, 1, 0x11, 64],
            &[0x88, 0x48, 0, 1, 0x10, 64, 0, 2, 0x10, 63, 0, 3, 0x10, 62, 0, 4, 0x11, 61],
            &[0x81, 0, 0, 5, 0x81, 0, 0, 6, 0x88, 0x47, 0, 1, 0x10, 64, 0, 2, 0x11, 63],
        ];
        for tags in stacks {
            let identity = identify(&frame(tags, &ipv4_packet(0))).unwrap();
            assert_eq!(identity.key.to_bytes(), ipv4_key());
            assert_eq!(identity.ip_length, 60);
            assert!(!identity.truncated);
        }
    }

    #[test]
    fn ipv4_options_are_skipped() {
        for options in (4..=40).step_by(4) {
            let mut expected = ipv4_key();
            expected[0] = 0x40 | (5 + options / 4) as u8;
            expected[3] = (60 + options) as u8;
            assert_eq!(key_of(&frame(&[8, 0], &ipv4_packet(options))), expected);
        }
    }

    #[test]
    fn ipv6_extension_headers_are_walked_over() {
        let plain = identify(&frame(&[0x86, 0xdd], &ipv6_packet(17, &[]))).unwrap();
        assert_eq!((plain.key.to_bytes(), plain.ip_length), (ipv6_key(17, 40), 80));
        let hop_by_hop = [17, 0, 1, 2, 3, 4, 5, 6];
        assert_eq!(key_of(&frame(&[0x86, 0xdd], &ipv6_packet(0, &hop_by_hop))), ipv6_key(0, 48));
        let routing_then_fragment =
            [[44, 1, 0, 0, 0, 0, 0, 0], [9; 8], [17, 0xff, 0, 1, 9, 9, 9, 9]].concat();
        assert_eq!(key_of(&frame(&[0x86, 0xdd], &ipv6_packet(43, &routing_then_fragment))), ipv6_key(43, 64));
        let authentication = [[50, 4, 0, 0, 0, 0, 0, 0], [7; 8], [7; 8]].concat();
        let mut encrypted = ipv6_key(51, 64);
        encrypted[40..].copy_from_slice(&payload()[..28]);
        assert_eq!(key_of(&frame(&[0x86, 0xdd], &ipv6_packet(51, &authentication))), encrypted);
    }

    #[test]
    fn checksums_of_tcp_and_udp_are_left_out_and_nothing_else() {
        let protocols = [(17, Some(6)), (6, Some(16)), (136, None), (132, None), (1, None), (58, None)];
        for (protocol, checksum) in protocols {
            let mut ipv4 = ipv4_packet(8);
            ipv4[9] = protocol;
            let fragmented = [protocol, 0, 0x12, 0x31, 9, 9, 9, 9];
            let packets = [
                (frame(&[8, 0], &ipv4), 14 + 28),
                (frame(&[0x86, 0xdd], &ipv6_packet(protocol, &[])), 14 + 40),
                (frame(&[0x86, 0xdd], &ipv6_packet(44, &fragmented)), 14 + 48),
            ];
            for (original, payload) in packets {
                for byte in 0..PAYLOAD_BYTES {
                    let mut changed = original.clone();
                    changed[payload + byte] ^= 0x5a;
                    let is_left_out = checksum.is_some_and(|at| byte == at || byte == at + 1);
                    let is_same = key_of(&changed) == key_of(&original);
                    assert_eq!(is_same, is_left_out, "protocol {protocol}, byte {byte}");
                }
            }
        }
    }

    #[test]
    fn mutable_fields_leave_the_key_and_others_change_it() {
        let cases: [(Vec<u8>, &[usize]); 2] = [
            (frame(&[8, 0], &ipv4_packet(4)), &[15, 22, 24, 25, 34, 35, 36, 37, 44, 45]),
            (frame(&[0x86, 0xdd], &ipv6_packet(17, &[])), &[14, 15, 16, 17, 21, 60, 61]),
        ];
        for (original, mutable) in cases {
            for position in 14..original.len() {
                let mut changed = original.clone();
                // One low bit, so that lengths and versions stay plausible.
                changed[position] ^= 1;
                let payload_end = original.len() - 12;
                let irrelevant = mutable.contains(&position) || position >= payload_end;
                assert_eq!(
                    identify(&changed).map(|i| i.key) == identify(&original).map(|i| i.key),
                    irrelevant,
                    "byte {position}"
                );
            }
        }
        let mut traffic_class = frame(&[0x86, 0xdd], &ipv6_packet(17, &[]));
        traffic_class[14] ^= 0x0f;
        assert_eq!(key_of(&traffic_class), ipv6_key(17, 40));
    }

    #[test]
    fn limits_are_not_measured() {
        let packet = ipv4_packet(0);
        let three_vlans = [0x81, 0, 0, 1, 0x81, 0, 0, 2, 0x81, 0, 0, 3, 8, 0];
        assert_eq!(identify(&frame(&three_vlans, &packet)), Err(Unmeasured::NotIp));
        let five_labels = [[0x88, 0x47].as_slice(), &[0, 1, 0x10, 64].repeat(4), &[0, 1, 0x11, 64]].concat();
        assert_eq!(identify(&frame(&five_labels, &packet)), Err(Unmeasured::NotIp));
        assert_eq!(identify(&frame(&[8, 6], &[0; 46])), Err(Unmeasured::NotIp));
        assert_eq!(identify(&frame(&[0x86, 0xdd], &packet)), Err(Unmeasured::Malformed));
        let mut short_header = packet.clone();
        short_header[0] = 0x44;
        assert_eq!(identify(&frame(&[8, 0], &short_header)), Err(Unmeasured::Malformed));
        assert_eq!(identify(&frame(&[8, 0], &packet[..19])), Err(Unmeasured::Incomplete));
        assert_eq!(identify(&frame(&[0x88, 0x47, 0, 1, 0x11, 64], &[0; 40])), Err(Unmeasured::NotIp));
    }

    #[test]
    fn padding_counts_as_zero_and_truncation_is_told() {
        let mut short = ipv4_packet(0)[..30].to_vec();
        short[3] = 30;
        let bare = frame(&[8, 0], &short);
        let padded = [&bare[..], &[0xee; 16]].concat();
        assert_eq!(identify(&bare), identify(&padded));
        assert!(!identify(&bare).unwrap().truncated);

        let whole = frame(&[8, 0], &ipv4_packet(0));
        for length in 34..whole.len() {
            let cut = identify(&whole[..length]).unwrap();
            assert_eq!(cut.truncated, length < 14 + 20 + 28, "{length} bytes");
            let held = (length - 34).min(28);
            assert_eq!(cut.key.to_bytes()[40..40 + held], kept_payload()[..held]);
            assert!(cut.key.to_bytes()[40 + held..].iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn the_window_ends_what_is_looked_at() {
        let extensions = [[60, 3].as_slice(), &[0; 30], &[17, 5], &[0; 46]].concat();
        let long = frame(&[0x86, 0xdd], &ipv6_packet(60, &extensions));
        let identity = identify(&long).unwrap();
        assert!(identity.key.to_bytes()[40..].iter().all(|&byte| byte == 0));
        assert!(!identity.truncated);
        assert!(identify(&long[..100]).unwrap().truncated);
    }

    proptest! {
        #[test]
        fn arbitrary_frames_never_panic(frame in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = identify(&frame);
        }

        #[test]
        fn plain_frames_have_the_key_of_any_frame(
            mut frame in proptest::collection::vec(any::<u8>(), 60..70), version in 0x44u8..0x47,
            length in prop_oneof![40u16..60, 250u16..270],
        ) {
            frame[12..15].copy_from_slice(&[8, 0, version]);
            frame[16..18].copy_from_slice(&length.to_be_bytes());
            let is_plain = frame.len() >= 62 && version == 0x45 && length >= 48;
            prop_assert_eq!(identify_plain(&frame), is_plain.then(|| general(&frame).unwrap()));
        }

        #[test]
        fn keys_are_their_bytes_and_words(bytes in proptest::collection::vec(any::<u8>(), KEY_BYTES)) {
            let key = Key::from(<[u8; KEY_BYTES]>::try_from(&bytes[..]).unwrap());
            prop_assert_eq!(&key.to_bytes()[..], &bytes);
            prop_assert_eq!(key.words().map(u32::to_be_bytes).concat(), bytes);
            prop_assert_eq!(Key::from(key.words()), key);
        }

        #[test]
        fn only_the_window_counts(mut frame in proptest::collection::vec(any::<u8>(), 126..200), at in 0usize..3) {
            frame[12..14].copy_from_slice(&[[8, 0], [0x86, 0xdd], [0x88, 0x47]][at]);
            frame[14] = [0x45, 0x60, 0][at];
            prop_assert_eq!(identify(&frame), identify(&frame[..126]));
        }
    }
}
