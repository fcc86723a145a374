//! Classifier: which measurement class a packet belongs to, if any.
//!
//! An [`Entry`] is a mask and a value over the first eleven words of the [key](crate::packet::identity): addresses, protocol,
//! and the first payload word, where TCP and UDP have their ports. A packet belongs to the class of the entries that it
//! matches. Several entries may name one class; entries of different classes must exclude each other, so that no order
//! among them matters. Without entries there is one class, and every measured packet is in it.
//!
//! Class c is measured apart, as measurement segment `segment + c`: it has totals and cells of its own, and its
//! own sequence of control frames. A packet that no entry matches counts among the frames that are not measured.
//!
//! [`Fields`] makes an entry of what people know: prefixes, protocol and ports.
//!
//! # Test plan
//!
//! Every refusal; one bit of every masked field changed leaves the class; entries of different classes that differ in
//! one common bit pass, those that differ only where one of them does not look are refused; no packet is in two classes;
//! fields against packets built by hand.

use crate::packet::identity::{Key, PAYLOAD_WORD};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use ipnet::IpNet;

/// Most entries of one measurement.
pub const MAX_ENTRIES: usize = 8;
/// Most classes of one measurement.
pub const MAX_CLASSES: usize = 4;
/// Words of the key that an entry looks at, from the first on.
pub const WORDS: usize = PAYLOAD_WORD + 1;

/// Words of a key, first byte in the highest bits.
pub type Words = [u32; WORDS];

/// Packets with these bits are in this class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Entry {
    /// The class, 0..=3.
    pub class: u8,
    /// What the looked-at bits must be; zero elsewhere.
    pub value: Words,
    /// Ones where bits are looked at.
    pub mask: Words,
}

impl Entry {
    /// Whether a packet with this key matches.
    pub fn matches(&self, key: &Key) -> bool {
        let fields = self.value.iter().zip(&self.mask);
        key.words().iter().zip(fields).all(|(word, (value, mask))| word & mask == *value)
    }

    /// Whether some packet could match both.
    fn meets(&self, other: &Entry) -> bool {
        (0..WORDS)
            .all(|word| (self.value[word] ^ other.value[word]) & self.mask[word] & other.mask[word] == 0)
    }
}

/// Checked entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classifier {
    entries: [Entry; MAX_ENTRIES],
    count: u8,
}

/// Why entries are refused; entries count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClassifierError {
    /// More than [`MAX_ENTRIES`].
    #[error("{0} entries: give at most {MAX_ENTRIES}")]
    Entries(usize),
    /// A class that cannot be.
    #[error("entry {entry} names class {class}: classes are 0 to {last}", last = MAX_CLASSES - 1)]
    Class {
        /// The entry.
        entry: usize,
        /// Its class.
        class: u8,
    },
    /// A class without an entry below one with.
    #[error("no entry names class {0}, though a higher one is named: number classes from 0 without holes")]
    Hole(u8),
    /// A value that no packet can have.
    #[error("entry {entry} has value bits outside its mask in word {word}: clear them, or set the mask")]
    Value {
        /// The entry.
        entry: usize,
        /// The word of the key.
        word: usize,
    },
    /// A packet could be in two classes.
    #[error(
        "entries {first} and {second} name different classes, and some packets match both: make them exclude each other in a field that both look at"
    )]
    Overlap {
        /// The one.
        first: usize,
        /// The other.
        second: usize,
    },
}

impl Classifier {
    /// Checks entries.
    ///
    /// # Errors
    ///
    /// [`ClassifierError`] with what is wrong and what is allowed.
    pub fn new(entries: &[Entry]) -> Result<Self, ClassifierError> {
        if entries.len() > MAX_ENTRIES {
            return Err(ClassifierError::Entries(entries.len()));
        }
        for (index, entry) in entries.iter().enumerate() {
            if usize::from(entry.class) >= MAX_CLASSES {
                return Err(ClassifierError::Class { entry: index, class: entry.class });
            }
            if let Some(word) = (0..WORDS).find(|&word| entry.value[word] & !entry.mask[word] != 0) {
                return Err(ClassifierError::Value { entry: index, word });
            }
            let overlaps = |other: &Entry| other.class != entry.class && other.meets(entry);
            if let Some(first) = entries[..index].iter().position(overlaps) {
                return Err(ClassifierError::Overlap { first, second: index });
            }
        }
        let highest = entries.iter().map(|entry| entry.class).max().unwrap_or(0);
        if let Some(hole) = (0..highest).find(|class| entries.iter().all(|entry| entry.class != *class)) {
            return Err(ClassifierError::Hole(hole));
        }
        let mut checked = [Entry::default(); MAX_ENTRIES];
        checked[..entries.len()].copy_from_slice(entries);
        Ok(Classifier { entries: checked, count: entries.len() as u8 })
    }

    /// The entries.
    pub fn entries(&self) -> &[Entry] {
        &self.entries[..usize::from(self.count)]
    }

    /// Number of classes, 1..=4.
    pub fn classes(&self) -> usize {
        1 + self.entries().iter().map(|entry| usize::from(entry.class)).max().unwrap_or(0)
    }

    /// Whether there are no entries, so that every packet is of class 0.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The class of a packet with this key; none when no entry matches.
    pub fn class(&self, key: &Key) -> Option<usize> {
        if self.is_empty() {
            return Some(0);
        }
        self.entries().iter().find(|entry| entry.matches(key)).map(|entry| usize::from(entry.class))
    }
}

/// Fields of a packet that an entry looks at; one that is `None` may be anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// IP version, 4 or 6; need not be given with an address.
    pub version: Option<u8>,
    /// Source address.
    pub source: Option<IpNet>,
    /// Destination address.
    pub destination: Option<IpNet>,
    /// IPv4 protocol or next header of the fixed IPv6 header: an IPv6 packet with extension headers has theirs there.
    pub protocol: Option<u8>,
    /// Source port. A port also asks that the packet be no fragment behind the first.
    pub source_port: Option<u16>,
    /// Destination port.
    pub destination_port: Option<u16>,
}

/// Why fields make no entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldsError {
    /// A version that is neither 4 nor 6.
    #[error("IP version {0}: give 4 or 6")]
    Version(u8),
    /// An IPv4 field with an IPv6 field.
    #[error("source, destination and version are not of one IP version: give two entries, one for each")]
    Mixed,
    /// Protocol or ports without a version.
    #[error("a protocol is at another place in IPv4 than in IPv6: give the version, 4 or 6, or an address")]
    NoVersion,
    /// A port without a protocol that has ports at its start.
    #[error("a port without a protocol that has one: give protocol 6 (TCP), 17 (UDP), 33, 132 or 136")]
    NoPorts,
    /// Address bits behind the prefix.
    #[error("{0} has bits set behind its prefix: give {net}", net = .0.trunc())]
    HostBits(IpNet),
}

impl Fields {
    /// The entry that packets with these fields match.
    ///
    /// # Errors
    ///
    /// [`FieldsError`] with what is wrong and what is allowed.
    pub fn entry(&self, class: u8) -> Result<Entry, FieldsError> {
        if let Some(net) =
            [self.source, self.destination].into_iter().flatten().find(|net| *net != net.trunc())
        {
            return Err(FieldsError::HostBits(net));
        }
        let Some(is_v6) = self.is_v6()? else {
            return Ok(Entry { class, ..Entry::default() });
        };
        let has_port = self.source_port.is_some() || self.destination_port.is_some();
        if has_port && !matches!(self.protocol, Some(6 | 17 | 33 | 132 | 136)) {
            return Err(FieldsError::NoPorts);
        }
        let mut entry = Entry { class, ..Entry::default() };
        entry.look(0, 0xf000_0000, if is_v6 { 0x6000_0000 } else { 0x4000_0000 });
        let (source, destination) = if is_v6 { (2, 6) } else { (3, 4) };
        entry.look_at_address(source, self.source);
        entry.look_at_address(destination, self.destination);
        if let Some(protocol) = self.protocol {
            let (word, shift) = if is_v6 { (1, 8) } else { (2, 16) };
            entry.look(word, 0xff << shift, u32::from(protocol) << shift);
        }
        if let Some(port) = self.source_port {
            entry.look(PAYLOAD_WORD, 0xffff_0000, u32::from(port) << 16);
        }
        if let Some(port) = self.destination_port {
            entry.look(PAYLOAD_WORD, 0x0000_ffff, u32::from(port));
        }
        // The fixed IPv6 header names the protocol, so there is no fragment header.
        if has_port && !is_v6 {
            entry.look(1, 0x1fff, 0);
        }
        Ok(entry)
    }

    /// Whether the fields are those of IPv6; none when there is no field.
    fn is_v6(&self) -> Result<Option<bool>, FieldsError> {
        let stated = match self.version {
            None => None,
            Some(4) => Some(false),
            Some(6) => Some(true),
            Some(version) => return Err(FieldsError::Version(version)),
        };
        let of_address = |net: Option<IpNet>| net.map(|net| net.addr().is_ipv6());
        let mut known = [stated, of_address(self.source), of_address(self.destination)].into_iter().flatten();
        let Some(first) = known.next() else {
            let has_more =
                self.protocol.is_some() || self.source_port.is_some() || self.destination_port.is_some();
            return if has_more { Err(FieldsError::NoVersion) } else { Ok(None) };
        };
        if known.any(|other| other != first) { Err(FieldsError::Mixed) } else { Ok(Some(first)) }
    }
}

impl Entry {
    fn look(&mut self, word: usize, mask: u32, value: u32) {
        self.mask[word] |= mask;
        self.value[word] |= value;
    }

    fn look_at_address(&mut self, first_word: usize, net: Option<IpNet>) {
        let Some(net) = net else { return };
        match (net.addr(), net.netmask()) {
            (IpAddr::V4(address), IpAddr::V4(mask)) => {
                self.look(first_word, Ipv4Addr::to_bits(mask), Ipv4Addr::to_bits(address));
            }
            (IpAddr::V6(address), IpAddr::V6(mask)) => {
                for word in 0..4 {
                    let part = |address: Ipv6Addr| (address.to_bits() >> (96 - 32 * word)) as u32;
                    self.look(first_word + word, part(mask), part(address));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::packet::identity::{KEY_BYTES, identify};
    use proptest::prelude::*;
    use std::string::ToString;
    use std::vec;
    use std::vec::Vec;

    fn entry(class: u8, word: usize, mask: u32, value: u32) -> Entry {
        let mut entry = Entry { class, ..Entry::default() };
        entry.look(word, mask, value);
        entry
    }

    #[test]
    fn without_entries_everything_is_class_0() {
        let classifier = Classifier::new(&[]).unwrap();
        assert_eq!((classifier.classes(), classifier.class(&Key::default())), (1, Some(0)));
    }

    #[test]
    fn refusals() {
        let a = entry(0, 3, 0xff00_0000, 0x0a00_0000);
        for (entries, error) in [
            (vec![a; 9], ClassifierError::Entries(9)),
            (vec![a, Entry { class: 4, ..a }], ClassifierError::Class { entry: 1, class: 4 }),
            (vec![entry(1, 3, 0xff00_0000, 0x0a00_0000)], ClassifierError::Hole(0)),
            (vec![a, entry(2, 3, 0xff00_0000, 0x0b00_0000)], ClassifierError::Hole(1)),
            (vec![a, entry(0, 10, 0xffff, 0x1_0000)], ClassifierError::Value { entry: 1, word: 10 }),
            // The same bits; a part of them; another word.
            (vec![a, Entry { class: 1, ..a }], ClassifierError::Overlap { first: 0, second: 1 }),
            (
                vec![a, a, entry(1, 3, 0xffff_0000, 0x0a01_0000)],
                ClassifierError::Overlap { first: 0, second: 2 },
            ),
            (
                vec![a, entry(1, 4, 0xff00_0000, 0x0b00_0000)],
                ClassifierError::Overlap { first: 0, second: 1 },
            ),
            (
                vec![a, Entry { class: 1, ..Entry::default() }],
                ClassifierError::Overlap { first: 0, second: 1 },
            ),
        ] {
            assert_eq!(Classifier::new(&entries), Err(error));
            assert!(!error.to_string().is_empty());
        }
        // One bit that both look at is enough; entries of one class may overlap.
        let two = Classifier::new(&[a, entry(1, 3, 1 << 24, 1 << 24), a]).unwrap();
        assert_eq!((two.classes(), two.entries().len()), (2, 3));
    }

    fn net(text: &str) -> Option<IpNet> {
        Some(text.parse().unwrap())
    }

    fn ipv4() -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend([
            8, 0, 0x46, 0x12, 0, 60, 0xbe, 0xef, 0x20, 0x00, 63, 17, 0xaa, 0x55, 10, 1, 0, 1, 172, 16, 5, 9,
        ]);
        frame.extend([0x77; 4]);
        frame.extend([0x12, 0x34, 0x00, 0x35]);
        frame.extend([0; 40]);
        frame
    }

    fn ipv6() -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend([0x86, 0xdd, 0x61, 0x23, 0x45, 0x67, 0, 40, 6, 64]);
        frame.extend([0x20, 1, 0x0d, 0xb8, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6]);
        frame.extend([0x20, 1, 0x0d, 0xb8, 1, 1, 1, 2, 1, 3, 1, 4, 1, 5, 1, 6]);
        frame.extend([0x12, 0x34, 0x00, 0x35]);
        frame.extend([0; 40]);
        frame
    }

    fn matches(fields: Fields, frame: &[u8]) -> bool {
        fields.entry(0).unwrap().matches(&identify(frame).unwrap().key)
    }

    #[test]
    fn fields_by_hand_and_every_bit_that_they_look_at() {
        let port = Fields { source_port: Some(0x1234), destination_port: Some(53), ..Fields::default() };
        let v4 = Fields {
            source: net("10.1.0.0/16"),
            destination: net("172.16.5.9/32"),
            protocol: Some(17),
            ..port
        };
        let v6 = Fields {
            source: net("2001:db8:1:2::/64"),
            destination: net("2001:db8:101:102:103:104:105:106/128"),
            protocol: Some(6),
            ..port
        };
        // Bytes of the frame of which all bits are looked at.
        let cases: [(Fields, Vec<u8>, Vec<usize>); 2] = [
            (v4, ipv4(), [23, 26, 27].into_iter().chain(30..34).chain(38..42).collect()),
            (v6, ipv6(), [20].into_iter().chain(22..30).chain(38..58).collect()),
        ];
        for (fields, frame, looked_at) in cases {
            assert!(matches(fields, &frame) && matches(Fields::default(), &frame));
            for position in 14..frame.len() {
                for bit in 0..8 {
                    let mut changed = frame.clone();
                    changed[position] ^= 1 << bit;
                    let Ok(identity) = identify(&changed) else { continue };
                    // The header's length moves the ports, a shorter datagram cuts them off; a fragment has none.
                    let moves = fields == v4 && (position == 14 || position == 17 || position == 16);
                    let fragment = fields == v4 && (position == 21 || position == 20 && bit < 5);
                    let length = fields == v6 && (18..20).contains(&position);
                    if !moves && !length {
                        let expected = !looked_at.contains(&position) && !fragment;
                        let found = fields.entry(0).unwrap().matches(&identity.key);
                        assert_eq!(found, expected, "byte {position}, bit {bit}");
                    }
                }
            }
        }
        assert!(!matches(v4, &ipv6()) && !matches(v6, &ipv4()));
        let version = |version| Fields { version: Some(version), ..Fields::default() };
        assert!(matches(version(4), &ipv4()) && !matches(version(4), &ipv6()));
        assert!(matches(version(6), &ipv6()) && !matches(version(6), &ipv4()));
    }

    #[test]
    fn fields_that_make_no_entry() {
        let none = Fields::default();
        let ten = net("10.0.0.0/8");
        for (fields, error) in [
            (Fields { version: Some(5), ..none }, FieldsError::Version(5)),
            (Fields { version: Some(6), source: ten, ..none }, FieldsError::Mixed),
            (Fields { source: ten, destination: net("::/0"), ..none }, FieldsError::Mixed),
            (Fields { protocol: Some(17), ..none }, FieldsError::NoVersion),
            (Fields { destination_port: Some(17), ..none }, FieldsError::NoVersion),
            (Fields { source: ten, source_port: Some(1), ..none }, FieldsError::NoPorts),
            (Fields { source: ten, source_port: Some(1), protocol: Some(1), ..none }, FieldsError::NoPorts),
            (
                Fields { source: net("10.0.0.1/8"), ..none },
                FieldsError::HostBits("10.0.0.1/8".parse().unwrap()),
            ),
        ] {
            assert_eq!(fields.entry(0), Err(error));
        }
        assert!(
            FieldsError::HostBits("10.0.0.1/8".parse().unwrap()).to_string().ends_with("give 10.0.0.0/8")
        );
    }

    fn entries() -> impl Strategy<Value = Vec<Entry>> {
        let words = || prop_oneof![Just([0; WORDS]), proptest::array::uniform11(0u32..4)];
        let entry = (0u8..4, words(), words()).prop_map(|(class, mut value, mask)| {
            value.iter_mut().zip(&mask).for_each(|(value, mask)| *value &= mask);
            Entry { class, value, mask }
        });
        proptest::collection::vec(entry, 0..5)
    }

    proptest! {
        #[test]
        fn no_packet_is_in_two_classes(entries in entries(), words: [u8; WORDS]) {
            let mut key = [0; KEY_BYTES];
            for (word, bits) in words.iter().enumerate() {
                key[4 * word + 3] = bits & 3;
            }
            let found: Vec<u8> = entries.iter().filter(|entry| entry.matches(&key.into())).map(|entry| entry.class).collect();
            if let Ok(classifier) = Classifier::new(&entries) {
                prop_assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
                let expected = if entries.is_empty() { Some(0) } else { found.first().copied().map(usize::from) };
                prop_assert_eq!(classifier.class(&key.into()), expected);
            }
        }
    }
}
