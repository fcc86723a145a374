//! The documentation.
//!
//! Test plan: a register of constants shows the whole word that is read of it. The rest is that of [`super`].

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
* *snapshot*: what it was when `snapshot` was last written with 1, all such registers at the same clock edge, at which frames that are still in the
  pipeline may be in some of them and not yet in others; 0 before.
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
        let access = access_of_all(fields);
        let only = if let [only] = &fields[..] { values(only) } else { String::new() };
        let meaning = [&format!("*{title}.*"), description, &only].map(String::as_str).join(" ");
        let _ = writeln!(text, "| {offset:#04x} | `{name}` | {used} | {access} | {} |", meaning.trim_end());
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

/// How the whole register is accessed; if all of it is constant, with what it reads as.
fn access_of_all(fields: &[Field]) -> String {
    let constant = |whole: u64, field: &Field| match field.kind {
        Kind::Constant(value) => Some(whole | value << field.low),
        _ => None,
    };
    match (fields, fields.iter().try_fold(0, constant)) {
        ([_, _, ..], Some(whole)) => format!("r, {whole:#010x}"),
        _ => fields.first().map_or(String::new(), access),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn access_of(kinds: &[(u32, Kind)]) -> String {
        let field = |&(low, kind): &(u32, Kind)| Field {
            name: "field".into(),
            description: String::new(),
            low,
            width: 16,
            kind,
            signed: false,
            maximum: None,
            enumeration: None,
        };
        access_of_all(&kinds.iter().map(field).collect::<Vec<_>>())
    }

    #[test]
    fn a_constant_register_shows_what_is_read_of_it() {
        assert_eq!(access_of(&[(0, Kind::Constant(5)), (16, Kind::Constant(1))]), "r, 0x00010005");
        assert_eq!(access_of(&[(0, Kind::Constant(5))]), "r, 0x5");
        assert_eq!(access_of(&[(0, Kind::Emitted), (16, Kind::Constant(1))]), "r, build");
        assert_eq!(access_of(&[(0, Kind::Storage), (16, Kind::Storage)]), "rw");
    }
}
