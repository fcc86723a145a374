//! The table and the accessors for hosts.

use super::hardware::pascal;
use super::source::{Block, Enumeration, Field, Kind, Register};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The text of `host/model/src/registers/map.rs`.
pub(super) fn text(block: &Block) -> String {
    let mut text = String::from(
        "//! The register map.\n//!\n\
         //! Made by `cargo xtask registers` from `hdl/registers/deltaline.rdl`: change that.\n\n\
         // All fields and types are handled alike, where a hand would leave out a shift by 0 or a conversion.\n\
         #![allow(clippy::identity_op, clippy::unnecessary_cast, clippy::useless_conversion)]\n\n\
         use super::{Bus, Field, Kind, Legal, Register, Registers};\n\n",
    );
    table(&mut text, block);
    text += "/// Offsets of the registers in bytes.\npub mod offset {\n";
    for register in &block.registers {
        let Register { name, title, offset, .. } = register;
        let _ = writeln!(text, "/// {title}.\npub const {}: u32 = {offset:#x};", name.to_ascii_uppercase());
    }
    text += "}\n\n";
    let mut known = BTreeSet::new();
    let fields = block.registers.iter().flat_map(|register| &register.fields);
    for enumeration in fields.filter_map(|field| field.enumeration.as_ref()) {
        if known.insert(&enumeration.name) {
            enumerate(&mut text, enumeration);
        }
    }
    for register in block.registers.iter().filter(|register| register.fields.len() > 1) {
        structure(&mut text, register);
    }
    text += "impl<B: Bus> Registers<B> {\n";
    for register in &block.registers {
        access(&mut text, register);
    }
    text += "}\n";
    text
}

fn table(text: &mut String, block: &Block) {
    let _ = writeln!(
        text,
        "/// All registers, by ascending offset.\npub const REGISTERS: [Register; {}] = [",
        block.registers.len()
    );
    for Register { name, offset, width, guarded, fields, .. } in &block.registers {
        let _ = writeln!(
            text,
            "Register {{ name: {name:?}, offset: {offset:#x}, width: {width}, guarded: {guarded}, fields: &["
        );
        for field in fields {
            let Field { name, low, width, .. } = field;
            let kind = match field.kind {
                Kind::Constant(value) => format!("Kind::Constant({value:#x})"),
                other => format!("Kind::{other:?}"),
            };
            let legal = match (&field.enumeration, field.maximum) {
                _ if field.kind != Kind::Storage => "Legal::Any".to_string(),
                (Some(all), _) => {
                    format!("Legal::Only(&{:?})", all.members.iter().map(|one| one.value).collect::<Vec<_>>())
                }
                (None, Some(maximum)) => format!("Legal::UpTo({maximum})"),
                (None, None) => "Legal::Any".to_string(),
            };
            let _ = writeln!(
                text,
                "Field {{ name: {name:?}, low: {low}, width: {width}, kind: {kind}, legal: {legal} }},"
            );
        }
        *text += "] },\n";
    }
    *text += "];\n\n";
}

fn enumerate(text: &mut String, enumeration: &Enumeration) {
    let name = pascal(&enumeration.name);
    let _ = writeln!(
        text,
        "/// The values of fields of this kind.\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\npub enum {name} {{"
    );
    for member in &enumeration.members {
        let _ = writeln!(
            text,
            "/// {}.\n{} = {},",
            sentence(&member.description),
            pascal(&member.name),
            member.value
        );
    }
    let _ = writeln!(text, "}}\n\nimpl {name} {{\nfn of(value: u32) -> Option<Self> {{\nmatch value {{");
    for member in &enumeration.members {
        let _ = writeln!(text, "{} => Some({name}::{}),", member.value, pascal(&member.name));
    }
    *text += "_ => None,\n}\n}\n}\n\n";
}

/// The content of a register with several fields.
fn structure(text: &mut String, register: &Register) {
    let (of, of_register) = (pascal(&register.name), format!("u{}", register.width));
    let _ = writeln!(
        text,
        "/// {}: its content.\n#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]\npub struct {of}(pub {of_register});\n\nimpl {of} {{",
        register.title
    );
    for field in &register.fields {
        let mask = (u64::MAX >> (64 - field.width)) << field.low;
        let _ = writeln!(
            text,
            "/// Bits of `{}`.\npub const {}: {of_register} = {mask:#x};",
            field.name,
            field.name.to_ascii_uppercase()
        );
    }
    for field in &register.fields {
        let Field { name, low, width, description, .. } = field;
        let mask = format!("Self::{}", name.to_ascii_uppercase());
        let bits = format!("((self.0 & {mask}) >> {low})");
        // Its type, its value out of the register, and its bits out of a value.
        let (of_field, value, raw) = match (&field.enumeration, width) {
            (Some(all), _) => {
                let of = pascal(&all.name);
                (of.clone(), format!("{of}::of({bits} as u32)"), format!("value as {of_register}"))
            }
            (None, 1) => {
                ("bool".into(), format!("self.0 & {mask} != 0"), format!("{of_register}::from(value)"))
            }
            (None, 2..=32) => ("u32".into(), format!("{bits} as u32"), format!("{of_register}::from(value)")),
            (None, _) => ("u64".into(), bits, "value".into()),
        };
        let (read, unknown) = match field.enumeration {
            Some(_) => (format!("Option<{of_field}>"), " `None`: a value that this map does not know."),
            None => (of_field.clone(), ""),
        };
        let _ = writeln!(text, "\n/// {description}{unknown}\npub fn {name}(self) -> {read} {{ {value} }}");
        // What hosts write, and what the hardware is built with. The rest is only read.
        if matches!(field.kind, Kind::Emitted | Kind::Storage | Kind::Secret | Kind::Strobe) {
            let _ = writeln!(
                text,
                "\n/// With another `{name}`.\n#[must_use]\n\
                 pub fn with_{name}(self, value: {of_field}) -> Self {{ {of}(self.0 & !{mask} | (({raw}) << {low}) & {mask}) }}"
            );
        }
    }
    *text += "}\n\n";
}

/// Reading and writing a register.
fn access(text: &mut String, register: &Register) {
    let (name, constant) = (&register.name, register.name.to_ascii_uppercase());
    let words = register.words();
    let description = if register.description.is_empty() {
        format!("{}.", register.title)
    } else {
        format!("{}. {}", register.title, register.description)
    };
    let strobe = register.fields.iter().all(|field| field.kind == Kind::Strobe);
    let several = register.fields.len() > 1;
    let signed = register.fields.iter().any(|field| field.signed);
    let of = match (several, signed) {
        (true, _) => pascal(name),
        (false, true) => format!("i{}", register.width),
        (false, false) => format!("u{}", register.width),
    };
    let errors = "///\n/// # Errors\n///\n/// What the bus says.\n";
    if strobe && !several {
        let _ = writeln!(
            text,
            "/// {description}\n{errors}pub fn {name}(&mut self) -> Result<(), B::Error> {{ self.bus.write(offset::{constant}, 1) }}\n"
        );
        return;
    }
    let is_readable = !register.fields.iter().all(|field| matches!(field.kind, Kind::Secret | Kind::Strobe));
    let (read, write) = if words == 1 { ("read", "write") } else { ("read_long", "write_long") };
    let bus = if words == 1 { "self.bus" } else { "self" };
    if is_readable {
        let value = match (several, signed) {
            (true, _) => format!("{bus}.{read}(offset::{constant}).map({of})"),
            (false, true) => {
                format!("{bus}.{read}(offset::{constant}).map(u{}::cast_signed)", register.width)
            }
            (false, false) => format!("{bus}.{read}(offset::{constant})"),
        };
        let _ = writeln!(
            text,
            "/// {description}\n{errors}pub fn {name}(&mut self) -> Result<{of}, B::Error> {{ {value} }}\n"
        );
    }
    if register.is_writable() {
        let value = match (several, signed) {
            (true, _) => "value.0",
            (false, true) => "value.cast_unsigned()",
            (false, false) => "value",
        };
        let _ = writeln!(
            text,
            "/// {}\n{errors}pub fn write_{name}(&mut self, value: {of}) -> Result<(), B::Error> {{ \
             {bus}.{write}(offset::{constant}, {value}) }}\n",
            if is_readable { format!("Writes `{name}`.") } else { format!("Writes `{name}`: {description}") }
        );
    }
}

/// With a capital and without a final stop.
fn sentence(text: &str) -> String {
    let text = text.trim_end_matches('.');
    let (first, rest) = text.split_at(text.len().min(1));
    first.to_ascii_uppercase() + rest
}
