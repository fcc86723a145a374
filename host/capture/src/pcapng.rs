//! The pcapng format: sections of blocks (draft-ietf-opsawg-pcapng).
//!
//! A block is its type, its length, a body and its length again. A section begins with a Section Header Block, which
//! shows the byte order; Interface Description Blocks follow, which give link type and unit of time; packets stand
//! in Enhanced Packet Blocks, which name their interface by its position in the section. Interface Statistics Blocks say how many packets the
//! recorder lacks, or packets how many it lacks in front of them. All other blocks (names, secrets, what applications add) are passed over.

use crate::error::Fault;
use crate::input::Input;
use crate::link::Link;
use crate::packet::{Direction, MAX_CAPTURED, Record};
use pcap_parser::{
    BOM_MAGIC, EPB_MAGIC, EnhancedPacketBlock, IDB_MAGIC, ISB_MAGIC, InterfaceDescriptionBlock, OptionCode,
    SHB_MAGIC, SPB_MAGIC, parse_enhancedpacketblock_be, parse_enhancedpacketblock_le,
    parse_interfacedescriptionblock_be, parse_interfacedescriptionblock_le,
    parse_interfacestatisticsblock_be, parse_interfacestatisticsblock_le, parse_sectionheaderblock,
};

/// The first bytes of a file: the Section Header Block's type, which reads the same in both byte orders.
pub(crate) const MAGIC: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// Type, length and length again.
const SMALLEST_BLOCK: usize = 12;
/// The longest block that is looked into, in bytes: a packet and ample space for options.
const LARGEST_BLOCK: usize = 1 << 20;
/// The most interfaces of one section.
const MOST_INTERFACES: usize = 1 << 16;
/// Of the packet's first byte in an Enhanced Packet Block.
const PACKET_OFFSET: usize = 28;
/// `epb_flags` and `epb_dropcount`, of an Enhanced Packet Block's options.
const FLAGS: OptionCode = OptionCode(2);
const DROP_COUNT: OptionCode = OptionCode(4);
/// Type of the Packet Block, which the Enhanced Packet Block has replaced.
const OBSOLETE_PACKET: u32 = 2;

/// What the blocks so far say about the packets to come.
pub(crate) struct Pcapng {
    big_endian: bool,
    interfaces: Vec<Interface>,
    /// Packets that the interfaces, and the system, had no room for, of all sections.
    dropped: [u64; 2],
    /// Packets that it lacks in front of others, as these say: by whom is not said.
    lacking: u64,
}

impl Pcapng {
    pub(crate) fn new() -> Self {
        Pcapng { big_endian: false, interfaces: Vec::new(), dropped: [0; 2], lacking: 0 }
    }

    /// How many packets the recorder says so far that its interfaces have dropped, and its system. What packets say and statistics are of the same ones.
    pub(crate) fn dropped(&self) -> [u64; 2] {
        let [by_interfaces, by_system] = self.dropped;
        [by_interfaces.max(self.lacking.saturating_sub(by_system)), by_system]
    }

    pub(crate) fn next(&mut self, input: &mut Input) -> Result<Option<Record>, Fault> {
        while input.fill(1)? {
            if !input.fill(SMALLEST_BLOCK)? {
                return Err(Fault::Truncated);
            }
            let head = input.available();
            if head.starts_with(&MAGIC) {
                self.big_endian = match word(head, 8, false) {
                    BOM_MAGIC => false,
                    swapped if swapped.swap_bytes() == BOM_MAGIC => true,
                    _ => return Err(Fault::Damaged("a section has no byte order".into())),
                };
            }
            let kind = word(head, 0, self.big_endian);
            let length = word(head, 4, self.big_endian) as usize;
            if length < SMALLEST_BLOCK || !length.is_multiple_of(4) {
                return Err(Fault::Damaged(format!("a block is {length} bytes long")));
            }
            if !matches!(kind, SHB_MAGIC | IDB_MAGIC | ISB_MAGIC | EPB_MAGIC | SPB_MAGIC | OBSOLETE_PACKET) {
                if !input.skip(length)? {
                    return Err(Fault::Truncated);
                }
                continue;
            }
            if length > LARGEST_BLOCK {
                let problem = format!("a block is {length} bytes long, more than {LARGEST_BLOCK}");
                return Err(Fault::Damaged(problem));
            }
            if !input.fill(length)? {
                // Who was stopped while writing has written no block behind this one.
                return Err(if holds_blocks(input.available(), self.big_endian) {
                    Fault::Damaged(format!("a block is {length} bytes long, by which it would hold others"))
                } else {
                    Fault::Truncated
                });
            }
            let block = &input.available()[..length];
            if word(block, length - 4, self.big_endian) as usize != length {
                return Err(Fault::Damaged("the two lengths of a block differ".into()));
            }
            let packet = match kind {
                SHB_MAGIC => {
                    self.section(block)?;
                    None
                }
                IDB_MAGIC => {
                    self.interface(block)?;
                    None
                }
                ISB_MAGIC => {
                    let statistics = Statistics::of(block, self.big_endian);
                    self.count(statistics);
                    None
                }
                EPB_MAGIC => Some(self.packet(block)?),
                SPB_MAGIC => return Err(Fault::Untimed),
                _ => return Err(Fault::Unsupported("is an obsolete Packet Block".into())),
            };
            let block = input.consume(length);
            if let Some(packet) = packet {
                let start = block.start + PACKET_OFFSET;
                let data = start..start + packet.captured as usize;
                let Packet { timestamp, length, interface, link, direction, lacking, .. } = packet;
                self.lacking = self.lacking.saturating_add(lacking);
                return Ok(Some(Record { timestamp, length, interface, data, link, direction }));
            }
        }
        Ok(None)
    }

    fn section(&mut self, block: &[u8]) -> Result<(), Fault> {
        match parse_sectionheaderblock(block) {
            Ok((_, section)) if section.major_version == 1 => {
                self.interfaces.clear();
                Ok(())
            }
            Ok((_, section)) => {
                let version = format!("{}.{}", section.major_version, section.minor_version);
                Err(Fault::Unsupported(format!("the format is pcapng {version}, only 1.x is read")))
            }
            Err(_) => Err(Fault::Damaged("a section's header cannot be read".into())),
        }
    }

    fn interface(&mut self, block: &[u8]) -> Result<(), Fault> {
        let parse = if self.big_endian {
            parse_interfacedescriptionblock_be
        } else {
            parse_interfacedescriptionblock_le
        };
        let Ok((_, description)) = parse(block) else {
            return Err(Fault::Damaged("the description of an interface cannot be read".into()));
        };
        if self.interfaces.len() == MOST_INTERFACES {
            return Err(Fault::Damaged(format!("a section has more than {MOST_INTERFACES} interfaces")));
        }
        self.interfaces.push(Interface::new(&description, self.big_endian));
        Ok(())
    }

    /// Counts what an interface has dropped since it was last said: statistics count from the beginning.
    fn count(&mut self, statistics: Option<Statistics>) {
        let Some(Statistics { interface, dropped }) = statistics else { return };
        let Some(interface) = self.interfaces.get_mut(interface as usize) else { return };
        for ((all, known), dropped) in self.dropped.iter_mut().zip(&mut interface.dropped).zip(dropped) {
            *all = all.saturating_add(dropped.saturating_sub(*known));
            *known = dropped.max(*known);
        }
    }

    fn packet(&self, block: &[u8]) -> Result<Packet, Fault> {
        let parse = if self.big_endian { parse_enhancedpacketblock_be } else { parse_enhancedpacketblock_le };
        let Ok((_, EnhancedPacketBlock { if_id, ts_high, ts_low, caplen, origlen, options, .. })) =
            parse(block)
        else {
            return Err(Fault::Damaged("a packet does not fit its block".into()));
        };
        if caplen > MAX_CAPTURED {
            let problem = format!("a packet has {caplen} captured bytes, more than {MAX_CAPTURED}");
            return Err(Fault::Damaged(problem));
        }
        let Some(interface) = self.interfaces.get(if_id as usize) else {
            let described = self.interfaces.len();
            let problem = format!("a packet is of interface {if_id}, but {described} are described");
            return Err(Fault::Damaged(problem));
        };
        let link = Link::of(interface.link_type)?;
        let option = |code| options.iter().find(|option| option.code == code)?.as_bytes().ok();
        let flags = option(FLAGS).map(|bytes| word(bytes, 0, self.big_endian));
        let lacking = option(DROP_COUNT).and_then(|bytes| number(bytes, self.big_endian));
        let direction = match flags.map(|flags| flags & 3) {
            Some(1) => Some(Direction::In),
            Some(2) => Some(Direction::Out),
            _ => None,
        };
        let timestamp = interface.nanoseconds((u64::from(ts_high) << 32) | u64::from(ts_low))?;
        Ok(Packet {
            timestamp,
            length: origlen.max(caplen),
            interface: if_id,
            captured: caplen,
            link,
            direction,
            lacking: lacking.unwrap_or(0),
        })
    }
}

/// What an Enhanced Packet Block says of its packet.
struct Packet {
    timestamp: u64,
    length: u32,
    interface: u32,
    captured: u32,
    link: Link,
    direction: Option<Direction>,
    /// epb_dropcount.
    lacking: u64,
}

/// A number of 64 bits.
fn number(bytes: &[u8], big_endian: bool) -> Option<u64> {
    let bytes = <[u8; 8]>::try_from(bytes).ok()?;
    Some(if big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
}

/// What an Interface Statistics Block says of its interface.
struct Statistics {
    interface: u32,
    /// isb_ifdrop and isb_osdrop.
    dropped: [u64; 2],
}

impl Statistics {
    /// None if it cannot be read: no packet depends on it.
    fn of(block: &[u8], big_endian: bool) -> Option<Self> {
        let parse =
            if big_endian { parse_interfacestatisticsblock_be } else { parse_interfacestatisticsblock_le };
        let (_, block) = parse(block).ok()?;
        let option = |code| {
            let option = block.options.iter().find(|option| option.code == code)?;
            number(option.as_bytes().ok()?, big_endian)
        };
        let dropped = [OptionCode::IsbIfDrop, OptionCode::IsbOsDrop].map(|code| option(code).unwrap_or(0));
        Some(Statistics { interface: block.if_id, dropped })
    }
}

/// What an Interface Description Block says of its packets.
struct Interface {
    link_type: u16,
    /// if_tsresol: timestamps count units of 10^-r s, or of 2^-r s if the highest bit is set.
    resolution: u8,
    /// if_tsoffset: seconds to be added to every timestamp.
    offset: i64,
    /// What it has dropped by its statistics so far.
    dropped: [u64; 2],
}

impl Interface {
    fn new(description: &InterfaceDescriptionBlock<'_>, big_endian: bool) -> Self {
        let link_type = description.linktype.0 as u16;
        let mut interface = Interface { link_type, resolution: 6, offset: 0, dropped: [0; 2] };
        for option in &description.options {
            match (option.code, option.as_bytes()) {
                (OptionCode::IfTsresol, Ok(&[resolution])) => interface.resolution = resolution,
                (OptionCode::IfTsoffset, Ok(bytes)) => {
                    if let Ok(bytes) = <[u8; 8]>::try_from(bytes) {
                        interface.offset =
                            if big_endian { i64::from_be_bytes(bytes) } else { i64::from_le_bytes(bytes) };
                    }
                }
                _ => {}
            }
        }
        interface
    }

    /// Nanoseconds since the Unix epoch, rounded down.
    fn nanoseconds(&self, units: u64) -> Result<u64, Fault> {
        let exponent = u32::from(self.resolution & 0x7f);
        let nanoseconds = if self.resolution & 0x80 != 0 {
            (u128::from(units) * 1_000_000_000) >> exponent
        } else if exponent <= 9 {
            u128::from(units) * 10u128.pow(9 - exponent)
        } else {
            // From 10^39 on, which no u128 holds, every timestamp is less than a nanosecond.
            10u128.checked_pow(exponent - 9).map_or(0, |divisor| u128::from(units) / divisor)
        };
        // Below 2^94, so the sum is far from the ends of an i128.
        let nanoseconds = nanoseconds as i128 + i128::from(self.offset) * 1_000_000_000;
        u64::try_from(nanoseconds)
            .map_err(|_| Fault::Timestamp(format!("{nanoseconds} ns since the Unix epoch")))
    }
}

/// Whether there is a whole block behind the head of the first one, of a kind that recorders write.
fn holds_blocks(bytes: &[u8], big_endian: bool) -> bool {
    let rests = (SMALLEST_BLOCK..bytes.len()).step_by(4).filter_map(|at| bytes.get(at..));
    rests.into_iter().any(|rest| {
        let [kind, length] = [0, 4].map(|at| word(rest, at, big_endian));
        let is_known = matches!(kind, SHB_MAGIC | IDB_MAGIC | ISB_MAGIC | EPB_MAGIC | SPB_MAGIC);
        let size = length as usize;
        is_known
            && (SMALLEST_BLOCK..=rest.len()).contains(&size)
            && word(rest, size - 4, big_endian) == length
    })
}

/// The 32-bit word at `position`; zero where the slice ends before.
fn word(bytes: &[u8], position: usize, big_endian: bool) -> u32 {
    let Some(Ok(word)) = bytes.get(position..position + 4).map(<[u8; 4]>::try_from) else { return 0 };
    if big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
}
