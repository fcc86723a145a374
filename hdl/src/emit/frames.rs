//! The page of the frames: what an integrator without our sources needs to read a control frame and to compute its cells.
//!
//! # Theory of operation
//!
//! Layouts and rules are the model's own documentation, so that they are written once; its links lead to a section of the
//! page, or give way to the value that they name. What a package's design adds, the kinds, the canonical bytes and an
//! example, is computed by the model.
//!
//! # Test plan
//!
//! No link of a package's pages dangles, nor is one left that only Rust's documentation follows. The example of every kind
//! (key, hash, place, bank, rows, digests) and the configuration's identifier are computed anew from what the page says, by
//! code that shares nothing with the model.

use deltaline_design::Design;
use deltaline_model::configuration::{Configuration, SEED_USE};
use deltaline_model::packet::flow::FlowKey;
use deltaline_model::packet::hash::LinearHash;
use deltaline_model::packet::identity::{KEY_BITS, Key, WINDOW_BYTES, identify};
use deltaline_model::point::MeasurementPoint;
use deltaline_model::sketch::cell::Cell;
use deltaline_model::sketch::digest::PacketDigest;
use deltaline_model::sketch::flow_rows;
use deltaline_model::sketch::flow_vector;
use deltaline_model::sketch::identity_table::{self, TABLES};
use deltaline_model::sketch::lda_identity;
use deltaline_model::sketch::lds::{self, Bases, FlowHash};
use deltaline_model::sketch::packet_id::PacketId;
use deltaline_model::sketch::place::Placement;
use deltaline_model::sketch::slices::{Record, records};
use deltaline_model::time::Timestamp;
use deltaline_model::wire::authentication;
use deltaline_model::wire::check::{DESTINATION, SOURCE};
use deltaline_model::wire::delimiter::{CHECK_ROTATION, Delimiter};
use deltaline_model::wire::frame::{BLOCK_CELLS, Role, frame_bytes};
use deltaline_model::wire::reference::Reference;
use deltaline_model::wire::shape::{Kind, MAX_CELL_BYTES, most_cells};
use std::fmt::Write;
use std::iter::once;
use std::num::NonZeroU16;

/// The sources whose documentation the page holds.
const CONTROL_FRAME: &str = include_str!("../../../host/model/src/wire/v2.rs");
const BLOCKS: &str = include_str!("../../../host/model/src/wire/cell.rs");
const DELIMITER: &str = include_str!("../../../host/model/src/wire/delimiter.rs");
const REFERENCE: &str = include_str!("../../../host/model/src/wire/reference.rs");
const CHECK: &str = include_str!("../../../host/model/src/wire/check.rs");
const AUTHENTICATION: &str = include_str!("../../../host/model/src/wire/authentication.rs");
const KEY: &str = include_str!("../../../host/model/src/packet/identity.rs");
const HASH: &str = include_str!("../../../host/model/src/packet/hash.rs");
const ROUNDS: &str = include_str!("../../../host/model/src/sketch/rounds.rs");
const CANONICAL: &str = include_str!("../../../host/model/src/canonical.rs");
const CONFIGURATION: &str = include_str!("../../../host/model/src/configuration.rs");

/// Packets of the example.
const PACKETS: u16 = 8;

/// The page of a design.
pub(crate) fn page(design: &Design) -> String {
    let configuration = design.configuration();
    let references = design
        .references()
        .then(|| section("Reference packets", &(module(REFERENCE) + &reference_example(configuration))));
    let signed = if design.authentication() { signed_example(configuration) } else { String::new() };
    let parts = [
        "# Frames\n\n[Control frames](#control-frames) report the cells of an interval, [delimiters](#delimiters) end one. \
         Below them is what is\nneeded to compute a packet's [cells](#cells) from its bytes, with an [example](#example)."
            .to_string(),
        section("Control frames", &module(CONTROL_FRAME)),
        section("Kinds", &kinds()),
        section("Blocks", &module(BLOCKS)),
        section("Delimiters", &module(DELIMITER)),
    ];
    let others = [
        section("Check word", &module(CHECK)),
        section("Authentication", &(module(AUTHENTICATION) + &signed)),
        section("Key", &module(KEY)),
        section("Hash", &module(HASH)),
        section("Rounds", &module(ROUNDS)),
        CELLS.to_string(),
        section("Configuration identifier", &identifier(configuration)),
        section("Example", &example(configuration)),
    ];
    let parts = parts.into_iter().chain(references).chain(others);
    parts.map(|part| part.trim_end().to_string()).collect::<Vec<_>>().join("\n\n") + "\n"
}

/// A whole reference packet of this configuration.
fn reference_example(configuration: &Configuration) -> String {
    let (number, time) = (5, 0x1234_5678_9abc_def0);
    let bytes = Reference::new(configuration, number, Timestamp(time)).encode();
    format!("\nThat of number {number}, sent at {time:016x}:\n\n{}", dump(&bytes))
}

/// A whole delimiter of this configuration, with its tag.
fn signed_example(configuration: &Configuration) -> String {
    let (number, epoch) = (5, 9);
    let key = authentication::Key::new(NonZeroU16::MIN, std::array::from_fn(|byte| byte as u8));
    let delimiter = Delimiter { boot_epoch: epoch, ..Delimiter::new(configuration, number) };
    format!(
        "\nA delimiter of interval {number} and boot epoch {epoch}, signed with key 1, which is 00 01 02 to 0f:\n\n{}",
        dump(&delimiter.signed(&key))
    )
}

/// Bytes in hexadecimal digits.
fn dump(bytes: &[u8]) -> String {
    let line = |line: &[u8]| line.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
    format!("```text\n{}\n```\n", bytes.chunks(16).map(line).collect::<Vec<_>>().join("\n"))
}

fn section(title: &str, text: &str) -> String {
    format!("## {title}\n\n{text}")
}

/// A module's documentation, up to what its developers need alone; headings below those of the page's sections.
fn module(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line));
    let lines = lines.take_while(|line| !["# Test plan", "# Speed"].contains(line));
    let text = lines.map(|line| {
        let level = if line.starts_with("# ") { "##" } else { "" };
        format!("{level}{line}\n")
    });
    relinked(&text.collect::<String>())
}

/// The documentation of the item that is declared so.
fn item(source: &str, declaration: &str) -> String {
    let before = source.split_once(declaration).map_or("", |(before, _)| before);
    let lines = before.lines().rev().skip(1).map_while(|line| line.trim_start().strip_prefix("///"));
    let mut lines: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    lines.reverse();
    relinked(&lines.join("\n"))
}

/// A text of the documentation, with links within the page in place of those into the sources.
fn relinked(text: &str) -> String {
    let mut parts = text.split('[');
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| {
        let Some((label, rest)) = part.split_once(']') else { return text + "[" + part };
        let target = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        let (target, rest) = target.unwrap_or((label, rest));
        text + &link(label, target) + rest
    })
}

/// What stands for a link: a value, a section, or the words of the link.
fn link(label: &str, target: &str) -> String {
    let mac = |address: [u8; 6]| address.map(|byte| format!("{byte:02x}")).join(":");
    let to = |words: &str, section: &str| format!("[{words}](#{section})");
    let name = target.trim_matches('`').rsplit("::").next().unwrap_or_default();
    match name {
        "DESTINATION" => mac(DESTINATION),
        "SOURCE" => mac(SOURCE),
        "MAX_CELL_BYTES" => format!("{MAX_CELL_BYTES} bytes"),
        "WINDOW_BYTES" => format!("{WINDOW_BYTES} bytes"),
        "CHECK_ROTATION" => format!("{CHECK_ROTATION} bits"),
        "KEY_BITS" => KEY_BITS.to_string(),
        "truncated" => "The program `deltaline`".into(),
        "Cell" => to("Blocks", "blocks"),
        "id" => to("configuration identifier", "configuration-identifier"),
        "canonical" => label.into(),
        "Kind" => to("kind", "kinds"),
        "check" => to(label, "check-word"),
        "authentication" => to(label, "authentication"),
        "SEED_USE" => format!("the bytes `{}`", SEED_USE.escape_ascii()),
        "ascon" => "tag of Ascon-AEAD128 (NIST SP 800-232) with an empty plaintext".into(),
        "frame" => to(label, "control-frames"),
        "delimiter" => to(label, "delimiters"),
        "Injector" => "the core".into(),
        "identity" => to(label, "key"),
        "ROUNDS" => to(label, "rounds"),
        "first" | "classifier" | "mixing" => to(label, "cells"),
        _ => format!("[{label}]"),
    }
}

/// What readers of every kind need of it.
fn kinds() -> String {
    let mut text = String::from(
        "| kind | synopsis | tables | cell | further fields, in this order | cells a frame | frame |\n\
         |------|----------|--------|------|-------------------------------|---------------|-------|\n",
    );
    for (kind, has_digests, tables, fields) in [
        (Kind::LDA, false, "its banks", &[][..]),
        (Kind::LDA, true, "its banks", &["digest"]),
        (Kind::FINECOMB, false, "its banks", &["identifier 63:32", "identifier 31:0"]),
        (Kind::IDENTITY_TABLE, false, "4", &["check", "identifier 63:32", "identifier 31:0"]),
        (Kind::LDA_IDENTITY, false, "3", &[]),
        (Kind::FLOW_ROWS, true, "4", &["digest"]),
        (Kind::FLOW_VECTOR, false, "1", &[]),
        (Kind::SLICES, false, "1", &[]),
    ] {
        let bits = deltaline_model::wire::cell::bits(fields.len());
        let cells = most_cells(bits);
        let _ = writeln!(
            text,
            "| {kind} | {name}{digests} | {tables} | {bits} bits | {fields} | {cells} | {bytes} bytes |",
            name = kind.name().unwrap_or_default(),
            digests = if has_digests { ", with digests" } else { "" },
            fields = if fields.is_empty() { "none".into() } else { fields.join(", ") },
            bytes = frame_bytes(0, false) + cells / BLOCK_CELLS * usize::from(bits),
        );
    }
    text + "
A cell is a count of 32 bits, a timestamp sum of 40 bits and further fields of 32 bits. Cells a frame: or as many as a table
has. Every kind has one own word, word 16: the prefix lengths in this interval, one byte a bank, the first bank's in bits
63:56, 255 where there is no bank; an identity table's, an lds's, a colate's and that of slices is its one prefix length. Of lda-identity, table 0 has rows; each two words of
tables 1 and 2 are a cell of an identity table: count and check sum, then the identifier's two halves in their places.
Of slices, each two words are a [record](#cells): the first packet's place and its timestamp, modulo 2^40, in the places of count and sum; then the packets of the
slice and the sum of their timestamps. A record of no packets and all behind it are not used; cores send zeros there.
"
}

/// From the hash on; the key and the hash are the model's documentation.
const CELLS: &str = "\
## Cells

**Class.** A packet is in the class of the entry whose value its key's first eleven words have where the entry's mask has ones.
Without entries all packets are in class 0; with entries, a packet that none matches counts as unmeasured.

**Place.** Bits 63:48 of the hash above bits 15:0 go through four [rounds](#rounds), with constants 568 to 571 of the seed.

**Mixing.** In a design with a mixing the first of these rounds makes way for M x + b, over GF(2): x are the 32 bits, row r of M is
bits r+31:r of 63 bits. After reset these are constants 572 to 575 of the seed, the first in the lowest bits, without the highest
bit; b is constant 577 above constant 576. Those of an interval with another mixing are secret; word 14 has its identifier.

**Bank.** The place's 32 bits have z leading zeros. The packet's bank is the last one whose prefix length is at most z. Where
there is none, the packet enters the totals, but no cell. With slices there are no banks and rows, but records.

**Slice.** Of slices, half as many records as rows: a packet whose place has at least as many leading zeros as the prefix length starts
a record, the next behind those that are used, and is its first packet. All others count in the record that was started last in the
interval; those in front of the first one are in the totals alone. When all records are used none is started any more: the last one goes on until the interval ends.

**Row.** Tables of 2^r cells: the place's low r bits. In an identity table, which has one cell for the packet in each of its four
tables, the row in table 0 is the low r bits of identifier bits 63:48, in table 1 of bits 47:32, and so on. With lda-identity the row
is the low r bits of the identifier; the cells behind the rows are four tables of 2^(r-2), one behind the other, with
rows as an identity table's.

**Row of a flow.** With lds a packet has a cell in each of four tables. Its flow's key is its key with all but IP version, protocol, addresses and
ports set to zero: ports (word 10) count of protocols 6, 17, 33, 132 and 136, unless an IPv4 packet is a later fragment. The flow's hash, turned
right by 16 t bits, is for table t; its bits 31:0 go through four rounds with constants 572 + 4 t to 575 + 4 t of the seed. The
highest r bits of what comes out are the flow's first cell; the packet's is 0 to 3 cells behind it, by bits 15:14 of its place, modulo 2^r.

**Counter of a flow.** With colate a packet is in one cell of one table. Bits 31:0 of its flow's hash, as above, plus 2,654,435,769 j modulo 2^32, where j is
bits 15:10 of its place, go through four rounds with constants 604 to 607 of the seed. What comes out, exclusive or bits 63:32 of the flow's
hash, goes through four with constants 608 to 611. The highest r bits are the cell.

**Digest.** Bits 47:16 of the hash through six rounds, with constants 544 to 549 of the seed.

**Identifier and check.** Of the identifier, the upper half is bits 63:32 of the hash through six rounds with constants 550 to
555, the lower half bits 31:0 through six with 556 to 561. The check is bits 47:16 of the hash through six with 562 to 567.
These constants are those of seed 0, whatever the seed is.

**Sums.** A packet adds 1 to its cell's count, modulo 2^32, and bits 55:16 of its timestamp, nanoseconds, to the sum, modulo
2^40. Further fields, and lda-identity's halves of identifiers, add their two halves of 16 bits apart, each modulo 2^16; its checks add up
modulo 2^40. The digest sum in word 14 adds up, in the
same way as further fields, the first of them of all measured packets, also of those in no bank; with lda-identity the check.
";

/// What the identifier is made of, here.
fn identifier(configuration: &Configuration) -> String {
    let bytes = configuration.canonical();
    let lines: Vec<String> = bytes.as_bytes().chunks(32).map(hex).collect();
    format!(
        "{rule}\n\n{layout}\n\n{items}\n\nOf this design they are\n\n\
         ```text\n{bytes}\n```\n\nand the identifier is `{id:#018x}`.\n",
        rule = item(CONFIGURATION, "pub fn id("),
        layout = module(CANONICAL).trim_end(),
        items = item(CONFIGURATION, "pub fn canonical("),
        bytes = lines.join("\n"),
        id = configuration.id(),
    )
}

/// A few packets, and all that is computed of them.
fn example(configuration: &Configuration) -> String {
    let (hash, place) =
        (LinearHash::new(configuration.hash(), configuration.seed()), Placement::of(configuration));
    let (digest, id) = (PacketDigest::new(configuration.seed()), PacketId::default());
    let flows = FlowHash::new(configuration.hash(), configuration.seed());
    let bases = Bases::new(flow_rows::ROWS, configuration.seed());
    let subvectors = flow_vector::subvectors(configuration.rows(), configuration.seed());
    let kind = configuration.kind();
    let fields = match kind {
        Kind::FLOW_ROWS => " digest |",
        Kind::LDA if configuration.has_digests() => " digest |",
        Kind::LDA | Kind::FLOW_VECTOR | Kind::SLICES => "",
        Kind::IDENTITY_TABLE | Kind::LDA_IDENTITY => " check | identifier |",
        _ => " identifier |",
    };
    let (heads, in_decimal) = match kind {
        Kind::SLICES => ("place | starts | record", "n and records"),
        _ => ("hash | place | bank | row", "banks and rows"),
    };
    let mut text = format!(
        "UDP packets that differ in their identification n alone, in this design: hash {:?}, seed {}, prefix lengths {},\n{} rows. \
         With n = 0 the frame and its key are\n\n```text\n{}\n\n{}\n```\n\n(the IPv4 header's checksum is zero here: it is not \
         in the key). All numbers below are hexadecimal, but {in_decimal}.\n\n| n | {heads} |{fields}\n|{}\n",
        configuration.hash(),
        configuration.seed(),
        lengths(configuration),
        configuration.rows(),
        wrapped(&packet(0)),
        identify(&packet(0)).map_or(String::new(), |identity| wrapped(&identity.key.to_bytes())),
        "---|".repeat(2 + heads.matches('|').count() + fields.matches('|').count()),
    );
    if kind == Kind::SLICES {
        return text + &slices(configuration, |key| place.place(hash.hash(key)));
    }
    for number in 0..PACKETS {
        let Ok(identity) = identify(&packet(number)) else { continue };
        let hash = hash.hash(&identity.key);
        let (place, halves) = (place.place(hash), id.halves_of(hash));
        let bank = configuration.prefixes().bank(place);
        let rows: Vec<String> = match kind {
            _ if bank.is_none() => vec!["-".into()],
            Kind::IDENTITY_TABLE => (0..TABLES)
                .map(|table| identity_table::row(halves, table, configuration.rows()).to_string())
                .collect(),
            Kind::LDA_IDENTITY => {
                let rows = configuration.rows();
                let cells = (0..TABLES).map(|table| identity_table::row(halves, table, rows / TABLES));
                once(lda_identity::row_of(halves, rows)).chain(cells).map(|row| row.to_string()).collect()
            }
            Kind::FLOW_ROWS => {
                let flow = flows.flow(&FlowKey::of(&identity.key));
                let tables =
                    (0..flow_rows::ROWS).filter_map(|table| bases.column(table, flow, configuration.rows()));
                let offset = lds::offset(place, flow_rows::WIDTH);
                tables.map(|base| ((base + offset) % configuration.rows()).to_string()).collect()
            }
            Kind::FLOW_VECTOR => {
                let flow = flows.flow(&FlowKey::of(&identity.key));
                vec![subvectors.counter(flow, flow_vector::number(place)).to_string()]
            }
            _ => vec![(place as usize % configuration.rows()).to_string()],
        };
        let _ = write!(
            text,
            "| {number} | {hash:016x} | {place:08x} | {} | {} |",
            bank.map_or("-".into(), |bank| bank.to_string()),
            rows.join(", "),
        );
        if fields.contains("digest") {
            let _ = write!(text, " {:08x} |", digest.digest(hash));
        }
        if fields.contains("check") {
            let _ = write!(text, " {:08x} |", id.check_of(hash));
        }
        if fields.contains("identifier") {
            let _ = write!(text, " {:08x}{:08x} |", halves[0], halves[1]);
        }
        text.push('\n');
    }
    text
}

/// Packets that start slices among others, and the records that they leave: the rest of the example's text.
fn slices(configuration: &Configuration, place: impl Fn(&Key) -> u32) -> String {
    let zeros = configuration.prefixes().lengths().first().map_or(0, |length| u32::from(*length));
    let starts = |number: &u16| {
        identify(&packet(*number)).is_ok_and(|identity| place(&identity.key).leading_zeros() >= zeros)
    };
    let mut others = (0..=u16::MAX).filter(|number| !starts(number));
    let mut starting = (0..=u16::MAX).filter(starts);
    let mut text = String::new();
    let mut point = MeasurementPoint::new(configuration, Role::Sender);
    for (order, does_start) in (1..).zip([false, true, false, false, true, false, false, false]) {
        let Some(number) = (if does_start { starting.next() } else { others.next() }) else { continue };
        let Ok(identity) = identify(&packet(number)) else { continue };
        point.observe(&packet(number), Timestamp::from_nanoseconds(1000 * order));
        let used = records(&point.cells::<Cell>()).len();
        let place = place(&identity.key);
        let _ = writeln!(
            text,
            "| {number} | {place:08x} | {starts} | {record} |",
            starts = if does_start { "yes" } else { "-" },
            record = used.checked_sub(1).map_or("-".into(), |record| record.to_string()),
        );
    }
    text += "\nIn this order, at 1000, 2000, … 8000 ns, they leave these records; here, too, places alone are hexadecimal:\n\n\
         | record | place | start | count | sum |\n|---|---|---|---|---|\n";
    for (number, Record { place, start, count, sum }) in
        records(&point.cells::<Cell>()).into_iter().enumerate()
    {
        let _ = writeln!(text, "| {number} | {place:08x} | {start} | {count} | {sum} |");
    }
    text
}

/// A UDP packet with this IPv4 identification, in an Ethernet frame.
fn packet(identification: u16) -> Vec<u8> {
    let [high, low] = identification.to_be_bytes();
    let ethernet = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    let ipv4 = [0x45, 0, 0, 48, high, low, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1, 198, 51, 100, 2];
    let udp = [0x10, 0, 0x20, 0, 0, 28, 0, 0];
    let payload = std::array::from_fn::<u8, 20, _>(|index| index as u8);
    [&ethernet[..], &ipv4, &udp, &payload].concat()
}

/// A configuration's prefix lengths in words.
pub(crate) fn lengths(configuration: &Configuration) -> String {
    let lengths: Vec<String> = configuration.prefixes().lengths().iter().map(u8::to_string).collect();
    let mixing = if configuration.has_mixing() { " and a mixing" } else { "" };
    lengths.join(", ") + if configuration.adaptive() { " after reset, adaptive" } else { "" } + mixing
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hexadecimal, 32 bytes a line.
fn wrapped(bytes: &[u8]) -> String {
    bytes.chunks(32).map(hex).collect::<Vec<String>>().join("\n")
}

#[cfg(test)]
mod tests;
