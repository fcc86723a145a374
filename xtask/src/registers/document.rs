//! The documentation.

use super::source::{Block, Field, Kind, Register};
use std::fmt::Write;

/// The text of `docs/registers.md`.
pub(super) fn text(block: &Block) -> String {
    let mut text = format!(
        "<!-- Made by `cargo xtask registers` from hdl/registers/deltaline.rdl: change that. -->

# Registers of {}

Words of 32 bits on AXI4-Lite, little-endian; a register of 64 bits has its low half at the lower offset. Reading changes
nothing.

* *r* is read only; *rw* holds what was written, 0 after reset; *w* does too, and reads as 0; *strobe*: writing 1 acts
  once, writing 0 does nothing, reads as 0.
* *snapshot*: what it was when `snapshot` was last written with 1, all such registers at the same clock edge; 0 before.
* *build*: fixed when the hardware was built.
* The bus answers SLVERR, and nothing changes, for an offset without a register or within a word, a write to a register that
  cannot be written, a write of less than the whole word, a write of 1 to a bit without a field, and a value that a field's
  description does not allow.

| offset | register | bits | access | meaning |
|--------|----------|------|--------|---------|
",
        block.title
    );
    for register in &block.registers {
        let Register { name, offset, title, description, fields, .. } = register;
        let used = fields.iter().map(|field| field.low + field.width).max().unwrap_or(0);
        let first = fields.first().map_or(String::new(), access);
        let only = if let [only] = &fields[..] { values(only) } else { String::new() };
        let meaning = [&format!("*{title}.*"), description, &only].map(String::as_str).join(" ");
        let _ = writeln!(text, "| {offset:#04x} | `{name}` | {used} | {first} | {} |", meaning.trim_end());
    }
    for register in block.registers.iter().filter(|register| register.fields.len() > 1) {
        let _ = write!(
            text,
            "\n## `{}`, {:#04x}\n\n{}| bits | field | access | meaning |\n|------|-------|--------|---------|\n",
            register.name,
            register.offset,
            if register.description.is_empty() {
                String::new()
            } else {
                format!("{}\n\n", register.description)
            }
        );
        for field in &register.fields {
            let high = field.low + field.width - 1;
            let bits = if high == field.low { high.to_string() } else { format!("{high}:{}", field.low) };
            let meaning = format!("{} {}", field.description, values(field));
            let _ =
                writeln!(text, "| {bits} | `{}` | {} | {} |", field.name, access(field), meaning.trim_end());
        }
    }
    text
}

fn access(field: &Field) -> String {
    match field.kind {
        Kind::Constant(value) => format!("r, {value:#x}"),
        Kind::Emitted => "r, build".into(),
        Kind::Input => "r".into(),
        Kind::Snapshot => "r, snapshot".into(),
        Kind::Storage => "rw".into(),
        Kind::Secret => "w".into(),
        Kind::Strobe => "strobe".into(),
    }
}

fn values(field: &Field) -> String {
    match (&field.enumeration, field.maximum) {
        (Some(all), _) => {
            let members =
                all.members.iter().map(|one| format!("{}: {} ({})", one.value, one.name, one.description));
            members.collect::<Vec<_>>().join("; ") + "."
        }
        (None, Some(maximum)) => format!("At most {maximum}."),
        (None, None) => String::new(),
    }
}
