//! Flow: which packets belong together.
//!
//! A *flow key* is the packet's [key](crate::packet::identity) with everything blanked that flows are not told apart by. So a flow's hash
//! is the [hash](crate::packet::hash) of packets, and hardware needs a mask in front of the same matrix. The five-tuple keeps:
//!
//! | field | IPv4 | IPv6 |
//! |---|---|---|
//! | IP version, always | word 0, bits 31:28 | the same |
//! | protocol | word 2, bits 23:16 | word 1, bits 15:8 |
//! | source, destination | words 3, 4 | words 2 to 5, 6 to 9 |
//! | source port, destination port | word 10 | word 10 |
//!
//! Ports are those of TCP, UDP, DCCP, SCTP and UDP-Lite; other protocols have none, and neither have later fragments of IPv4. [`FlowFields`]
//! may leave fields out, shorten addresses to networks, and join both directions: then the lower of the two ends, by address and port,
//! counts as the source. What tunnels carry is a flow once the tunnel is taken off, which is done where frames are read.
//!
//! # Test plan
//!
//! Fields by hand, both IP versions; random keys against the fields read one by one; directions joined are one flow whichever end
//! sends; 38 bytes and back.

use crate::packet::hash::Keys;
use crate::packet::identity::{KEY_BYTES, KEY_WORDS, Key, LONG_WORDS, PAYLOAD_WORD};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Bytes of a flow: IP version, protocol, both addresses of 16 bytes (of IPv4 the first eight bytes hold both), both ports.
pub const FLOW_BYTES: usize = 38;

/// The protocols that have ports: TCP, UDP, DCCP, SCTP and UDP-Lite.
pub const PROTOCOLS_WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];
const IPV4_SOURCE: usize = 3;
const IPV6_ADDRESSES: usize = 2;

/// What a flow's packets have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey(Key);

impl FlowKey {
    /// The five-tuple of the packet with this key.
    pub fn of(key: &Key) -> Self {
        FlowFields::default().flow(key)
    }

    /// As a key, to be hashed.
    pub fn key(&self) -> &Key {
        &self.0
    }

    fn is_ipv4(&self) -> bool {
        self.0.words()[0] >> 28 == 4
    }

    /// The source's address, or the joined flow's lower end; zero where flows are not told apart by it.
    pub fn source(&self) -> IpAddr {
        self.address(0)
    }

    /// The destination's.
    pub fn destination(&self) -> IpAddr {
        self.address(1)
    }

    fn address(&self, which: usize) -> IpAddr {
        let words = self.0.words();
        if self.is_ipv4() {
            return Ipv4Addr::from(words[IPV4_SOURCE + which]).into();
        }
        let first = IPV6_ADDRESSES + 4 * which;
        Ipv6Addr::from(words[first..first + 4].iter().fold(0, |all, word| all << 32 | u128::from(*word)))
            .into()
    }

    /// Source and destination port; none where both are zero, as of protocols without.
    pub fn ports(&self) -> Option<[u16; 2]> {
        let ports = self.0.words()[PAYLOAD_WORD];
        (ports != 0).then_some([(ports >> 16) as u16, ports as u16])
    }

    /// The protocol that IP carries, such as 6 for TCP.
    pub fn protocol(&self) -> u8 {
        protocol(&self.0.words())
    }

    /// In 38 bytes, so that flows of one version and protocol are neighbours.
    pub fn to_bytes(&self) -> [u8; FLOW_BYTES] {
        let key = self.0.to_bytes();
        let mut bytes = [0; FLOW_BYTES];
        (bytes[0], bytes[1]) = (key[0] >> 4, self.protocol());
        let addresses = if self.is_ipv4() { &key[12..20] } else { &key[8..40] };
        bytes[2..2 + addresses.len()].copy_from_slice(addresses);
        bytes[34..].copy_from_slice(&key[4 * PAYLOAD_WORD..][..4]);
        bytes
    }

    /// The other direction's: source and destination, and their ports, are exchanged.
    pub fn swapped(&self) -> Self {
        let mut words = self.0.words();
        if self.is_ipv4() {
            words.swap(IPV4_SOURCE, IPV4_SOURCE + 1);
        } else {
            for word in IPV6_ADDRESSES..IPV6_ADDRESSES + 4 {
                words.swap(word, word + 4);
            }
        }
        words[PAYLOAD_WORD] = words[PAYLOAD_WORD].rotate_left(16);
        FlowKey(words.into())
    }
}

impl From<[u8; FLOW_BYTES]> for FlowKey {
    /// The flow of these bytes, as [`FlowKey::to_bytes`] writes them.
    fn from(bytes: [u8; FLOW_BYTES]) -> Self {
        let mut key = [0; KEY_BYTES];
        key[0] = bytes[0] << 4;
        if bytes[0] == 4 {
            key[9] = bytes[1];
            key[12..20].copy_from_slice(&bytes[2..10]);
        } else {
            key[6] = bytes[1];
            key[8..40].copy_from_slice(&bytes[2..34]);
        }
        key[4 * PAYLOAD_WORD..][..4].copy_from_slice(&bytes[34..]);
        FlowKey(key.into())
    }
}

fn protocol(words: &[u32; KEY_WORDS]) -> u8 {
    if words[0] >> 28 == 4 { (words[2] >> 16) as u8 } else { (words[1] >> 8) as u8 }
}

/// What flows are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowFields {
    /// Leading bits of the source's address that count, of IPv4 and of IPv6; more than there are count as all.
    pub source: [u8; 2],
    /// Of the destination's.
    pub destination: [u8; 2],
    /// Whether the source port counts.
    pub source_port: bool,
    /// Whether the destination port counts.
    pub destination_port: bool,
    /// Whether the protocol counts.
    pub protocol: bool,
    /// Whether both directions are one flow.
    pub are_joined: bool,
}

impl Default for FlowFields {
    /// The five-tuple.
    fn default() -> Self {
        FlowFields {
            source: [32, 128],
            destination: [32, 128],
            source_port: true,
            destination_port: true,
            protocol: true,
            are_joined: false,
        }
    }
}

impl FlowFields {
    /// The flow of the packet with this key. Whoever asks for many packets makes a [`FlowMasks`] once.
    pub fn flow(&self, key: &Key) -> FlowKey {
        FlowMasks::new(self).flow(key)
    }

    fn mask(&self, is_ipv4: bool, has_ports: bool) -> [u64; LONG_WORDS] {
        let mut words = [0u32; KEY_WORDS];
        words[0] = 0xf << 28;
        let addresses = [self.source, self.destination];
        if is_ipv4 {
            words[2] = u32::from(self.protocol) * 0x00ff_0000;
            for (word, [bits, _]) in words[IPV4_SOURCE..].iter_mut().zip(addresses) {
                *word = leading(bits.into(), 32) as u32;
            }
        } else {
            words[1] = u32::from(self.protocol) * 0xff00;
            for (words, [_, bits]) in words[IPV6_ADDRESSES..PAYLOAD_WORD].chunks_mut(4).zip(addresses) {
                let mask = leading(bits.into(), 128);
                (0..).zip(words).for_each(|(place, word)| *word = (mask >> (96 - 32 * place)) as u32);
            }
        }
        if has_ports {
            words[PAYLOAD_WORD] =
                (u32::from(self.source_port) * 0xffff_0000) | (u32::from(self.destination_port) * 0xffff);
        }
        *Key::from(words).long_words()
    }
}

/// A mask of the first `bits` of `all`.
fn leading(bits: u32, all: u32) -> u128 {
    let bits = bits.min(all);
    if bits == 0 { 0 } else { (u128::MAX >> (128 - bits)) << (all - bits) }
}

/// [`FlowFields`] as masks of keys.
#[derive(Clone, Copy, Debug)]
pub struct FlowMasks {
    /// By IP version (other, 4) and whether there are ports.
    masks: [[[u64; LONG_WORDS]; 2]; 2],
    are_joined: bool,
}

impl FlowMasks {
    /// The masks of these fields.
    pub fn new(fields: &FlowFields) -> Self {
        let masks = [false, true].map(|is_ipv4| [false, true].map(|ports| fields.mask(is_ipv4, ports)));
        FlowMasks { masks, are_joined: fields.are_joined }
    }

    /// The words of a key that count, of IPv4 or of any other version, with ports or without.
    pub fn words(&self, is_ipv4: bool, has_ports: bool) -> [u32; KEY_WORDS] {
        let mask = &self.masks[usize::from(is_ipv4)][usize::from(has_ports)];
        core::array::from_fn(|word| (mask[word / 2] >> (32 - 32 * (word % 2))) as u32)
    }

    /// The mask that makes flows of the first `length` of these keys, if it is one for all.
    #[inline(always)]
    pub(crate) fn common(&self, keys: &Keys, length: usize) -> Option<&[u64; LONG_WORDS]> {
        let [firsts, seconds, ..] = keys.words();
        let mut masks =
            firsts.iter().zip(seconds).take(length).map(|(first, second)| self.mask(*first, *second));
        let mask = masks.next()?;
        (!self.are_joined && masks.all(|other| core::ptr::eq(mask, other))).then_some(mask)
    }

    /// What is a flow's of a key whose words of 64 bits begin with these.
    #[inline(always)]
    fn mask(&self, first: u64, second: u64) -> &[u64; LONG_WORDS] {
        let is_ipv4 = first >> 60 == 4;
        // Word 1 is the lower half of the first long word, word 2 the upper half of the second.
        let protocol = if is_ipv4 { second >> 48 } else { first >> 8 } as u8;
        let is_later_fragment = is_ipv4 && first & 0x1fff != 0;
        let has_ports = PROTOCOLS_WITH_PORTS.contains(&protocol) && !is_later_fragment;
        &self.masks[usize::from(is_ipv4)][usize::from(has_ports)]
    }

    /// The flow of the packet with this key.
    #[inline(always)]
    pub fn flow(&self, key: &Key) -> FlowKey {
        let [first, second, ..] = *key.long_words();
        let flow = FlowKey(key.masked(self.mask(first, second)));
        if self.are_joined
            && (flow.destination(), flow.ports().map(|ports| ports[1]))
                < (flow.source(), flow.ports().map(|ports| ports[0]))
        {
            return flow.swapped();
        }
        flow
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    /// A key of IPv4 or IPv6 with these fields.
    fn key(version: u8, protocol: u8, addresses: [u8; 32], ports: [u8; 4], rest: u8) -> Key {
        let mut bytes = [rest; KEY_BYTES];
        bytes[0] = version << 4 | 5;
        if version == 4 {
            (bytes[6], bytes[7], bytes[9]) = (0x40, 0, protocol);
            bytes[12..16].copy_from_slice(&addresses[..4]);
            bytes[16..20].copy_from_slice(&addresses[16..20]);
        } else {
            bytes[6] = protocol;
            bytes[8..40].copy_from_slice(&addresses);
        }
        bytes[40..44].copy_from_slice(&ports);
        bytes.into()
    }

    #[test]
    fn the_five_tuple_by_hand() {
        let mut addresses = [0; 32];
        addresses[..4].copy_from_slice(&[10, 1, 2, 3]);
        addresses[16..20].copy_from_slice(&[192, 0, 2, 9]);
        let flow = FlowKey::of(&key(4, 6, addresses, [0x1f, 0x90, 0, 80], 0xaa));
        assert_eq!(
            (flow.source().to_string(), flow.destination().to_string()),
            ("10.1.2.3".into(), "192.0.2.9".into())
        );
        assert_eq!((flow.ports(), flow.protocol()), (Some([8080, 80]), 6));
        let flow = FlowKey::of(&key(6, 17, addresses, [0, 53, 0, 54], 0xaa));
        assert_eq!(flow.source().to_string(), "a01:203::");
        assert_eq!((flow.ports(), flow.protocol()), (Some([53, 54]), 17));
        // ICMP has no ports, and a later fragment's payload is not one.
        assert_eq!(FlowKey::of(&key(4, 1, addresses, [8, 0, 1, 2], 0)).ports(), None);
        let mut bytes = key(4, 17, addresses, [0, 53, 0, 54], 0).to_bytes();
        bytes[7] = 1;
        assert_eq!(FlowKey::of(&bytes.into()).ports(), None);
    }

    #[test]
    fn networks() {
        let fields =
            FlowFields { source: [8, 16], destination: [0, 0], source_port: false, ..FlowFields::default() };
        let flow = fields.flow(&key(4, 6, [0xab; 32], [1, 2, 3, 4], 7));
        assert_eq!(
            (flow.source().to_string(), flow.destination().to_string()),
            ("171.0.0.0".into(), "0.0.0.0".into())
        );
        assert_eq!(flow.ports(), Some([0, 0x304]));
        assert_eq!(fields.flow(&key(6, 6, [0xab; 32], [1, 2, 3, 4], 7)).source().to_string(), "abab::");
    }

    proptest! {
        #[test]
        fn other_bytes_do_not_count(
            v4: bool, protocol: u8, addresses: [u8; 32], ports: [u8; 4], rest: u8, other: u8, fields in any_fields(),
        ) {
            let version = if v4 { 4 } else { 6 };
            let flow = fields.flow(&key(version, protocol, addresses, ports, rest));
            prop_assert_eq!(flow, fields.flow(&key(version, protocol, addresses, ports, other)));
            prop_assert_eq!(FlowKey::from(flow.to_bytes()), flow);
            let words = FlowMasks::new(&fields).words(v4, PROTOCOLS_WITH_PORTS.contains(&protocol));
            let masked: [u32; KEY_WORDS] = core::array::from_fn(|word| {
                key(version, protocol, addresses, ports, rest).words()[word] & words[word]
            });
            prop_assert_eq!(masked, flow.key().words());
            // The other direction's, if they are joined.
            let mut back = [0; 32];
            back[..16].copy_from_slice(&addresses[16..]);
            back[16..].copy_from_slice(&addresses[..16]);
            let [a, b, c, d] = ports;
            let joined = FlowFields { are_joined: true, ..FlowFields::default() };
            prop_assert_eq!(
                joined.flow(&key(version, 17, addresses, ports, rest)),
                joined.flow(&key(version, 17, back, [c, d, a, b], rest))
            );
        }
    }

    fn any_fields() -> impl Strategy<Value = FlowFields> {
        any::<([u8; 2], [u8; 2], bool, bool, bool)>().prop_map(
            |(source, destination, source_port, destination_port, protocol)| FlowFields {
                source,
                destination,
                source_port,
                destination_port,
                protocol,
                are_joined: false,
            },
        )
    }
}
