//! Writes the golden vectors that this model and other implementations are held against.
//!
//! `cargo run -p deltaline-model --example vectors -- host/model/vectors` writes `frames-v2.hex`, `frames-synopses.hex`,
//! `keys.txt`, `hashes.txt`, `places.txt`, `digests.txt` and `identifiers.txt` into the folder; their formats are described in its README. The output depends on nothing but this
//! program and the model: if it differs from the committed files, the contract has changed.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::packet::hash::{HashKind, LinearHash};
use deltaline_model::packet::identity::{KEY_BITS, KEY_BYTES, Key, Unmeasured, identify};
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::sketch::cell::{Cell, SUM_MASK};
use deltaline_model::sketch::digest::PacketDigest;
use deltaline_model::sketch::packet_id::PacketId;
use deltaline_model::sketch::place::Placement;
use deltaline_model::time::{AbsoluteTime, TimeBase, Timestamp};
use deltaline_model::wire::frame::{Flags, Header, MAX_CELLS, MAX_FRAME_BYTES, Role, Totals};
use deltaline_model::wire::shape::Kind;
use deltaline_model::wire::v2;
use xxhash_rust::xxh3::xxh3_64;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args_os().nth(1).ok_or("name the folder to write to: host/model/vectors")?;
    let folder = Path::new(&folder);
    let files = [
        ("frames-v2.hex", frames()?),
        ("frames-synopses.hex", synopses()?),
        ("keys.txt", keys()?),
        ("hashes.txt", hashes()?),
        ("places.txt", places()?),
        ("digests.txt", digests()?),
        ("identifiers.txt", identifiers()?),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

// Packets.

const MACS: [u8; 12] = [0x02, 0, 0, 0, 0, 1, 0x02, 0, 0, 0, 0, 2];
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];

const TCP: u8 = 6;
const UDP: u8 = 17;
const FRAGMENT: u8 = 44;
const ENCRYPTION: u8 = 50;
const AUTHENTICATION: u8 = 51;

fn ethernet(tags: &[u8], packet: &[u8]) -> Vec<u8> {
    [&MACS, tags, packet].concat()
}

/// Forty bytes in which each differs from the others.
fn payload() -> Vec<u8> {
    (0x80..0xa8).collect()
}

/// An IPv4 packet with this many bytes of options.
fn ipv4(options: usize, protocol: u8, identification: u16, payload: &[u8]) -> Vec<u8> {
    let header = 20 + options;
    let length = ((header + payload.len()) as u16).to_be_bytes();
    let identification = identification.to_be_bytes();
    let fixed = [
        [0x40 | (header / 4) as u8, 0xb8, length[0], length[1]],
        [identification[0], identification[1], 0x40, 0],
        [64, protocol, 0x12, 0x34],
        [192, 0, 2, 1],
        [198, 51, 100, 2],
    ];
    [fixed.as_flattened(), &vec![0x01; options], payload].concat()
}

/// An IPv6 packet whose header is followed by extension headers.
fn ipv6(next_header: u8, extensions: &[u8], payload: &[u8]) -> Vec<u8> {
    let length = ((extensions.len() + payload.len()) as u16).to_be_bytes();
    let start = [0x6b, 0x8f, 0xed, 0xcb, length[0], length[1], next_header, 64];
    let addresses: Vec<u8> = (0x20..0x40).collect();
    [&start, &addresses[..], extensions, payload].concat()
}

/// An extension header: next header, length field, zeros.
fn extension(next_header: u8, length_field: u8, bytes: usize) -> Vec<u8> {
    let mut header = vec![0x5a; bytes];
    header[..2].copy_from_slice(&[next_header, length_field]);
    header
}

// Identity.

/// What is in a frame, and the frame.
type Case = (&'static str, Vec<u8>);

fn ipv4_cases() -> Vec<Case> {
    let packet = ipv4(0, UDP, 0xbeef, &payload());
    let tagged = |tags: &[u8]| ethernet(tags, &packet);
    let mut fragment = packet.clone();
    fragment[6..8].copy_from_slice(&[0x20, 0xb9]);
    let padded = [ethernet(&IPV4, &ipv4(0, UDP, 3, &payload()[..10])), vec![0xee; 16]].concat();
    vec![
        ("IPv4, UDP", tagged(&IPV4)),
        ("IPv4, TCP", ethernet(&IPV4, &ipv4(0, TCP, 1, &payload()))),
        ("IPv4, encryption", ethernet(&IPV4, &ipv4(0, ENCRYPTION, 2, &payload()))),
        ("IPv4, later fragment", ethernet(&IPV4, &fragment)),
        ("IPv4, 4 bytes of options", ethernet(&IPV4, &ipv4(4, UDP, 4, &payload()))),
        ("IPv4, 40 bytes of options", ethernet(&IPV4, &ipv4(40, UDP, 5, &payload()))),
        ("IPv4, no payload", ethernet(&IPV4, &ipv4(0, UDP, 6, &[]))),
        ("IPv4, padded to Ethernet's minimum", padded),
        ("IPv4, cut in the payload", tagged(&IPV4)[..50].to_vec()),
        ("IPv4, cut behind the fixed header", tagged(&IPV4)[..34].to_vec()),
        ("IPv4, one VLAN tag", tagged(&[0x81, 0, 0x20, 5, 8, 0])),
        ("IPv4, service and customer tag", tagged(&[0x88, 0xa8, 0, 7, 0x81, 0, 0, 9, 8, 0])),
        ("IPv4, one label", tagged(&[0x88, 0x47, 0, 1, 0x11, 64])),
        ("IPv4, multicast label", tagged(&[0x88, 0x48, 0, 1, 0x11, 64])),
        (
            "IPv4, two VLAN tags, four labels and 40 bytes of options: all of the window",
            ethernet(
                &[
                    [0x81, 0, 0, 5, 0x81, 0, 0, 6, 0x88, 0x47].as_slice(),
                    &[0, 1, 0x10, 64, 0, 2, 0x10, 63, 0, 3, 0x10, 62, 0, 4, 0x11, 61],
                ]
                .concat(),
                &ipv4(40, UDP, 7, &payload()),
            ),
        ),
    ]
}

fn ipv6_cases() -> Vec<Case> {
    let plain = |next_header, extensions: &[u8]| ethernet(&IPV6, &ipv6(next_header, extensions, &payload()));
    let one = |header| plain(header, &extension(UDP, 1, 16));
    let chain =
        [extension(43, 0, 8), extension(60, 0, 8), extension(FRAGMENT, 0, 8), extension(60, 0, 8)].concat();
    let udp = ipv6(UDP, &[], &payload());
    vec![
        ("IPv6, UDP", plain(UDP, &[])),
        ("IPv6, TCP", plain(TCP, &[])),
        ("IPv6, encryption", plain(ENCRYPTION, &[])),
        ("IPv6, hop-by-hop options", one(0)),
        ("IPv6, routing header", one(43)),
        ("IPv6, destination options", one(60)),
        ("IPv6, mobility header", one(135)),
        ("IPv6, HIP", one(139)),
        ("IPv6, shim6", one(140)),
        ("IPv6, authentication header of 24 bytes", plain(AUTHENTICATION, &extension(UDP, 4, 24))),
        ("IPv6, authentication header of 28 bytes", plain(AUTHENTICATION, &extension(UDP, 5, 28))),
        ("IPv6, fragment header ends the chain", plain(FRAGMENT, &extension(60, 0, 8))),
        ("IPv6, four extension headers and destination options in the fragment", plain(0, &chain)),
        ("IPv6, extension headers that reach beyond the window", plain(60, &extension(UDP, 9, 80))),
        ("IPv6, one VLAN tag", ethernet(&[0x81, 0, 0, 5, 0x86, 0xdd], &udp)),
        ("IPv6, two labels", ethernet(&[0x88, 0x47, 0, 1, 0x10, 64, 0, 2, 0x11, 63], &udp)),
        ("IPv6, cut in an extension header", one(0)[..14 + 40 + 2].to_vec()),
    ]
}

fn unmeasured_cases() -> Result<Vec<Case>, Box<dyn Error>> {
    let packet = ipv4(0, UDP, 0xbeef, &payload());
    let labels = [[0x88, 0x47].as_slice(), &[0, 1, 0x10, 64].repeat(4), &[0, 1, 0x11, 64]].concat();
    let mut short_header = packet.clone();
    short_header[0] = 0x44;
    let control = configuration(8, &[1], 0)?;
    let mut control_frame = vec![];
    MeasurementPoint::new(&control, Role::Sender)
        .end_interval(IntervalEnd::Delimiter, |frame| control_frame.extend(frame));
    Ok(vec![
        ("ARP", ethernet(&[8, 6], &[0; 46])),
        ("PTP over Ethernet", ethernet(&[0x88, 0xf7], &[0; 46])),
        ("spanning tree: a length, not an EtherType", ethernet(&[0, 38], &[0x42; 38])),
        ("control frame", control_frame),
        ("three VLAN tags", ethernet(&[0x81, 0, 0, 1].repeat(3), &packet)),
        ("five labels", ethernet(&labels, &packet)),
        ("Ethernet below a label", ethernet(&[0x88, 0x47, 0, 1, 0x11, 64], &[0; 40])),
        ("frame without EtherType", MACS.to_vec()),
        ("IPv4 behind IPv6's EtherType", ethernet(&IPV6, &packet)),
        ("IPv4 header length 4", ethernet(&IPV4, &short_header)),
        ("IPv4 cut before its last byte", ethernet(&IPV4, &packet[..19])),
        ("IPv6 cut before its last byte", ethernet(&IPV6, &ipv6(UDP, &[], &payload())[..39])),
    ])
}

fn keys() -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    for (name, frame) in [ipv4_cases(), ipv6_cases(), unmeasured_cases()?].concat() {
        writeln!(text, "# {name}")?;
        let frame_hex = hex(&frame);
        match identify(&frame) {
            Ok(identity) => {
                let whole = if identity.truncated { "truncated" } else { "whole" };
                writeln!(
                    text,
                    "{frame_hex} {} {} {whole}",
                    hex(&identity.key.to_bytes()),
                    identity.ip_length
                )?;
            }
            Err(Unmeasured::NotIp) => writeln!(text, "{frame_hex} not-ip")?,
            Err(Unmeasured::Malformed) => writeln!(text, "{frame_hex} malformed")?,
            Err(Unmeasured::Incomplete) => writeln!(text, "{frame_hex} incomplete")?,
        }
    }
    Ok(text)
}

// Hash.

fn hashes() -> Result<String, Box<dyn Error>> {
    let bit = |bit: usize| {
        let mut key = [0; KEY_BYTES];
        key[bit / 8] = 0x80 >> (bit % 8);
        Key::from(key)
    };
    let key_of = |frame| identify(frame).map(|identity| identity.key).map_err(|_| "an IP packet has no key");
    let keys: [Key; 8] = [
        Key::default(),
        bit(0),
        bit(7),
        bit(300),
        bit(KEY_BITS - 1),
        Key::from([0xff; KEY_BYTES]),
        key_of(&ethernet(&IPV4, &ipv4(0, UDP, 0xbeef, &payload())))?,
        key_of(&ethernet(&IPV6, &ipv6(UDP, &[], &payload())))?,
    ];
    let mut text = String::new();
    for (name, kind) in [("h3", HashKind::H3), ("rabin", HashKind::Rabin)] {
        for seed in [0, 1, 2, 0xfedc_ba98_7654_3210, u64::MAX] {
            let hash = LinearHash::new(kind, seed);
            for key in &keys {
                writeln!(text, "{name} {seed:016x} {} {:016x}", hex(&key.to_bytes()), hash.hash(key))?;
            }
        }
    }
    Ok(text)
}

// Places and digests.

/// Seeds and hashes of golden places and digests.
fn seeds_and_hashes() -> impl Iterator<Item = (u64, u64)> {
    let random = |i: u64| xxh3_64(&i.to_le_bytes());
    let hashes = [0, 1, 0xffff, 1 << 16, 1 << 47, 1 << 48, 1 << 63, u64::MAX, random(1), random(2)];
    [0, 1, 0xfedc_ba98_7654_3210, u64::MAX].into_iter().flat_map(move |seed| hashes.map(|hash| (seed, hash)))
}

fn places() -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    for (seed, hash) in seeds_and_hashes() {
        writeln!(text, "{seed:016x} {hash:016x} {:08x}", Placement::new(seed).place(hash))?;
    }
    Ok(text)
}

fn digests() -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    for (seed, hash) in seeds_and_hashes() {
        writeln!(text, "{seed:016x} {hash:016x} {:08x}", PacketDigest::new(seed).digest(hash))?;
    }
    Ok(text)
}

fn identifiers() -> Result<String, Box<dyn Error>> {
    let (mut text, id) = (String::new(), PacketId::default());
    let random = |i: u64| xxh3_64(&i.to_le_bytes());
    for hash in [0, u64::MAX].into_iter().chain((0..64).map(|bit| 1 << bit)).chain((1..30).map(random)) {
        let halves = id.halves_of(hash);
        writeln!(text, "{hash:016x} {:08x}{:08x} {:08x}", halves[0], halves[1], id.check_of(hash))?;
    }
    Ok(text)
}

// Control frames.

fn configuration(rows: usize, prefixes: &[u8], segment: u32) -> Result<Configuration, Box<dyn Error>> {
    Ok(Configuration::new(Settings { rows, prefixes, segment, ..Settings::default() })?)
}

fn frames() -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    for role in [Role::Sender, Role::Receiver] {
        writeln!(text, "# {role}: 16 rows, prefixes 1 and 6, three intervals of which the last is empty")?;
        small_intervals(&configuration(16, &[1, 6], 7)?, role, &mut text)?;
    }
    writeln!(text, "# sender: 8 rows, eight banks")?;
    eight_banks(&mut text)?;
    writeln!(text, "# receiver: 1024 rows, prefixes 1 and 6, fields and cells at their limits")?;
    limits(&mut text)?;
    let digests = Settings { rows: 128, prefixes: &[1, 3], segment: 9, digest: true, ..Settings::default() };
    for role in [Role::Sender, Role::Receiver] {
        writeln!(
            text,
            "# {role}: digests, 128 rows, prefixes 1 and 3, three intervals of which the last is empty"
        )?;
        small_intervals(&Configuration::new(digests)?, role, &mut text)?;
    }
    Ok(text)
}

/// Frames of the synopses beside the LDA.
fn synopses() -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    let base = Settings { rows: 16, segment: 11, ..Settings::default() };
    for (synopsis, prefixes, what) in [
        (Kind::FINECOMB, &[1, 6][..], "FineComb, prefixes 1 and 6"),
        (Kind::IDENTITY_TABLE, &[0], "identity table, all packets"),
    ] {
        let configuration = Configuration::new(Settings { synopsis, prefixes, ..base })?;
        for role in [Role::Sender, Role::Receiver] {
            writeln!(text, "# {role}: {what}, 16 rows, three intervals of which the last is empty")?;
            small_intervals(&configuration, role, &mut text)?;
        }
    }
    Ok(text)
}

/// A measurement point whose identifier and clock are its own.
fn point(configuration: &Configuration, role: Role) -> MeasurementPoint {
    let mut point = MeasurementPoint::new(configuration, role);
    point.set_id(0x1000_0000 + role as u32);
    point
}

/// Appends the frames of an interval as lines. Intervals end in successive seconds from the new year of 2026 on.
fn end_interval(
    point: &mut MeasurementPoint,
    end: IntervalEnd,
    text: &mut String,
) -> Result<(), Box<dyn Error>> {
    point.set_time(Some(AbsoluteTime {
        base: TimeBase::Tai,
        seconds: 1_767_225_637 + u64::from(point.interval()),
    }));
    let mut frames = vec![];
    point.end_interval(end, |frame| frames.push(frame.to_vec()));
    for frame in frames {
        writeln!(text, "{}", hex(&frame))?;
    }
    Ok(())
}

/// Packet `number` of a stream that sends one packet each 12.34 us; each takes 5 us and a bit to the receiver.
fn observe(point: &mut MeasurementPoint, role: Role, number: u16) {
    let frame = ethernet(&IPV4, &ipv4(0, UDP, number, &payload()));
    let sent = (1 << 39) + u64::from(number) * 12_340;
    let delay = if role == Role::Sender { 0 } else { 5_000 + u64::from(number % 97) };
    point.observe(&frame, Timestamp(Timestamp::from_nanoseconds(sent + delay).0 | u64::from(number)));
}

/// Two full intervals and an empty one; one packet in 50 does not reach the receiver.
fn small_intervals(
    configuration: &Configuration,
    role: Role,
    text: &mut String,
) -> Result<(), Box<dyn Error>> {
    let mut point = point(configuration, role);
    let arrives = |number: &u16| role == Role::Sender || number % 50 != 49;
    (0..1000).filter(arrives).for_each(|number| observe(&mut point, role, number));
    end_interval(&mut point, IntervalEnd::Delimiter, text)?;

    (1000..1600).filter(arrives).for_each(|number| observe(&mut point, role, number));
    point.observe(&ethernet(&[8, 6], &[0; 46]), Timestamp(0));
    point.observe_bad();
    point.observe_bad();
    match role {
        Role::Sender => point.refuse_interval_end(),
        Role::Receiver => point.clock_unlocked(),
    }
    end_interval(&mut point, IntervalEnd::Request, text)?;

    end_interval(&mut point, IntervalEnd::Delimiter, text)?;
    Ok(())
}

fn eight_banks(text: &mut String) -> Result<(), Box<dyn Error>> {
    let configuration = configuration(8, &[0, 1, 2, 3, 5, 8, 12, 16], 8)?;
    let mut point = point(&configuration, Role::Sender);
    (0..4000).for_each(|number| observe(&mut point, Role::Sender, number));
    end_interval(&mut point, IntervalEnd::Delimiter, text)?;
    Ok(())
}

fn limits(text: &mut String) -> Result<(), Box<dyn Error>> {
    let totals = Totals {
        packets: (1 << 48) - 1,
        bytes: 0x8123_4567_89ab,
        first: Timestamp(0xffff_ffff_ffff_fffe),
        last: Timestamp(0x8000_0000_0000_8001),
        time_sum: Some(0xfedc_ba98_7654_3210),
        digest_sum: Some(0x8000_ffff),
        unmeasured: u32::MAX,
        bad: 0x8000_0001,
        refused_ends: u16::MAX,
        ignored_delimiters: 0,
        flags: Flags { saturated: true, overrun: true, clock: true, timed: true, gap: true },
    };
    let configuration = configuration(1024, &[1, 6], 0xfedc_ba98)?;
    let mut buffer = [0; MAX_FRAME_BYTES];
    for mut header in Header::of_interval(&configuration, Role::Receiver, u32::MAX, totals) {
        let cells: [Cell; MAX_CELLS] = std::array::from_fn(|i| cell(header.cells_before() + i));
        header = Header {
            point: u32::MAX,
            time: Some(AbsoluteTime { base: TimeBase::Unix, seconds: (1 << 48) - 1 }),
            boot_epoch: 0xfedc_ba98,
            key: 0x8001,
            ..header
        };
        let length = v2::encode(&header, &cells, &mut buffer)?;
        writeln!(text, "{}", hex(&buffer[..length]))?;
    }
    Ok(())
}

/// Limits in the first five cells of each twelve, arbitrary numbers in the others.
fn cell(index: usize) -> Cell {
    match index % 12 {
        0 => Cell { count: 0, sum: 0, digest: 0 },
        1 => Cell { count: u32::MAX, sum: SUM_MASK, digest: 0 },
        2 => Cell { count: 0x8000_0000, sum: 1 << 39, digest: 0 },
        3 => Cell { count: 1, sum: 0xff_0000_0000, digest: 0 },
        4 => Cell { count: 0x7fff_ffff, sum: 0xffff_ffff, digest: 0 },
        _ => {
            let word = |i: usize| xxh3_64(&(i as u64).to_le_bytes());
            Cell { count: word(2 * index) as u32, sum: word(2 * index + 1) & SUM_MASK, digest: 0 }
        }
    }
}
