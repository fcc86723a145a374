//! The register block as a RustHDL module.
//!
//! The text has sections (fields of the struct, constructor, statements of the kernel), which are collected register
//! by register.

use super::source::{Block, Field, Kind, Part, Register};
use std::fmt::Write;

/// Width of the addresses: a page of 4 KiB.
const ADDRESS: u32 = 12;

#[derive(Default)]
struct Sections {
    /// Fields of the struct: name, type, and whether public.
    ports: Vec<(String, String)>,
    parts: Vec<(String, String)>,
    /// Constants: name and the expression of their value.
    constants: Vec<(String, String)>,
    /// What is given at emission: name and type.
    emitted: Vec<(String, String)>,
    flops: Vec<String>,
    statements: String,
    readable: Vec<String>,
    /// What the read data are the disjunction of.
    read: Vec<String>,
    /// Conditions under which a write is legal.
    writes: Vec<String>,
}

/// The text of `hdl/src/registers/block.rs`.
pub(super) fn text(block: &Block) -> String {
    let mut sections = Sections::default();
    for register in &block.registers {
        sections.register(register);
    }
    sections.text()
}

/// RustHDL's type of a signal.
fn signal_type(width: u32) -> String {
    if width == 1 { "Bit".into() } else { format!("Bits<{width}>") }
}

/// Some bits of `value`, a signal of `width` bits, at their place in a word.
fn in_word(value: &str, width: u32, part: Part) -> String {
    let Part { position, from, width: bits } = part;
    let sliced =
        if bits == width { value.to_string() } else { format!("{value}.get_bits::<{bits}>({from})") };
    placed(&sliced, bits, 32, position)
}

/// `value` of `from` bits, widened to `to` bits and shifted left.
fn placed(value: &str, from: u32, to: u32, shift: u32) -> String {
    let value = if from == 1 { format!("{value}.into()") } else { value.to_string() };
    let wide = if from == to { value } else { format!("bit_cast::<{to}, {from}>({value})") };
    if shift == 0 { wide } else { format!("({wide} << {shift})") }
}

impl Sections {
    fn register(&mut self, register: &Register) {
        // A kernel runs from top to bottom once: what is read there must have been assigned above.
        for word in 0..register.words() {
            self.read_word(register, word);
            if register.is_writable() {
                self.write_word(register, word);
            }
        }
        for field in &register.fields {
            self.field(register, field);
        }
        if register.guarded {
            self.ports.push((format!("{}_allowed", register.name), "Signal<In, Bit>".into()));
        }
    }

    /// Ports, storage and outputs.
    fn field(&mut self, register: &Register, field: &Field) {
        let (port, width) = (register.port(field), signal_type(field.width));
        match field.kind {
            Kind::Constant(_) => {}
            Kind::Emitted => {
                let of_host = if register.fields.len() > 1 {
                    pascal(&register.name)
                } else {
                    format!("u{}", register.width)
                };
                if self.emitted.last().is_none_or(|(name, _)| *name != register.name) {
                    self.emitted.push((register.name.clone(), of_host));
                }
            }
            Kind::Input => self.ports.push((port, format!("Signal<In, {width}>"))),
            Kind::Snapshot => {
                self.statement(&format!(
                    "if self.snapshot_pulse.q.val() {{ self.{port}_taken.d.next = self.{port}.val(); }}"
                ));
                self.flop(format!("{port}_taken"), width.clone());
                self.ports.push((port, format!("Signal<In, {width}>")));
            }
            Kind::Strobe => {
                let bit = field.low % 32;
                let word = register.word_name(field.low / 32);
                self.statement(&format!(
                    "self.{port}_pulse.d.next = self.{word}_write.val() & self.axi.write_data.val().get_bit({bit});
                     self.{port}.next = self.{port}_pulse.q.val();"
                ));
                self.flop(format!("{port}_pulse"), width.clone());
                self.ports.push((port, format!("Signal<Out, {width}>")));
            }
            Kind::Storage | Kind::Secret => {
                let mut output = vec![];
                for word in 0..register.words() {
                    for (_, part) in register.parts(word).filter(|(one, _)| one.name == field.name) {
                        let held = held(register, field, word);
                        let taken = match (part.width, part.position) {
                            (32, _) => "self.axi.write_data.val()".to_string(),
                            (1, bit) => format!("self.axi.write_data.val().get_bit({bit})"),
                            (bits, bit) => format!("self.axi.write_data.val().get_bits::<{bits}>({bit})"),
                        };
                        self.statement(&format!(
                            "if self.{}_write.val() {{ self.{held}.d.next = {taken}; }}",
                            register.word_name(word)
                        ));
                        let value = format!("self.{held}.q.val()");
                        output.push(if part.width == field.width {
                            value
                        } else {
                            placed(&value, part.width, field.width, part.from)
                        });
                        self.flop(held, signal_type(part.width));
                    }
                }
                self.statement(&format!("self.{port}.next = {};", output.join(" | ")));
                self.ports.push((port, format!("Signal<Out, {width}>")));
            }
        }
    }

    fn read_word(&mut self, register: &Register, word: u32) {
        let (name, offset) = (register.word_name(word), register.offset + 4 * word);
        let mut constant = 0;
        let mut terms = vec![];
        for (field, part) in register.parts(word) {
            let port = register.port(field);
            match field.kind {
                Kind::Constant(value) => {
                    constant |= ((value >> part.from) as u32) << part.position & part.mask()
                }
                Kind::Emitted => {
                    let term = format!("self.{name}_given.val()");
                    if terms.last() != Some(&term) {
                        terms.push(term);
                    }
                }
                Kind::Input => terms.push(in_word(&format!("self.{port}.val()"), field.width, part)),
                Kind::Snapshot => {
                    terms.push(in_word(&format!("self.{port}_taken.q.val()"), field.width, part))
                }
                Kind::Storage => {
                    let held = held(register, field, word);
                    terms.push(placed(&format!("self.{held}.q.val()"), part.width, 32, part.position));
                }
                Kind::Secret | Kind::Strobe => {}
            }
        }
        if register.fields.iter().any(|field| field.kind == Kind::Emitted) {
            let value = if register.fields.len() > 1 {
                format!("emitted.{}.0", register.name)
            } else {
                format!("emitted.{}", register.name)
            };
            let value = if register.words() == 1 {
                format!("u64::from({value})")
            } else if word == 0 {
                format!("{value} & 0xffff_ffff")
            } else {
                format!("{value} >> {}", 32 * word)
            };
            self.constants.push((format!("{name}_given"), value));
        }
        self.statement(&format!(
            "self.{name}_addressed.d.next = self.axi.read_address.val() == {offset:#x};"
        ));
        self.flop(format!("{name}_addressed"), signal_type(1));
        self.readable.push(format!("self.{name}_addressed.q.val()"));
        if constant != 0 {
            terms.push(format!("{constant:#010x}_u64.into()"));
        }
        if !terms.is_empty() {
            self.local(format!("{name}_read"), 32);
            self.read.push(format!("self.{name}_read.val()"));
            self.statement(&format!(
                "self.{name}_read.next = 0.into();
                 if self.{name}_addressed.q.val() {{ self.{name}_read.next = {}; }}",
                terms.join(" | ")
            ));
        }
    }

    fn write_word(&mut self, register: &Register, word: u32) {
        let (name, offset) = (register.word_name(word), register.offset + 4 * word);
        let mut legal = vec![];
        let owned = register.parts(word).fold(0, |mask, (_, part)| mask | part.mask());
        if owned != u32::MAX {
            self.local(format!("{name}_reserved"), 32);
            self.statement(&format!(
                "self.{name}_reserved.next = self.axi.write_data.val() & {:#010x}_u64;",
                !owned
            ));
            legal.push(format!("!self.{name}_reserved.val().any()"));
        }
        for (field, part) in register.parts(word) {
            let reserved = field.reserved();
            if field.kind != Kind::Storage || reserved.is_empty() {
                continue;
            }
            let asked = format!("{}_asked", register.port(field));
            self.local(asked.clone(), part.width);
            self.statement(&format!(
                "self.{asked}.next = self.axi.write_data.val().get_bits::<{}>({});",
                part.width, part.position
            ));
            match field.maximum {
                Some(maximum) => legal.push(format!("(self.{asked}.val() <= {maximum})")),
                None => legal.extend(reserved.iter().map(|value| format!("(self.{asked}.val() != {value})"))),
            }
        }
        if register.guarded {
            legal.push(format!("self.{}_allowed.val()", register.name));
        }
        let legal = if legal.is_empty() { "true".to_string() } else { legal.join(" & ") };
        for suffix in ["legal", "write"] {
            self.local(format!("{name}_{suffix}"), 1);
        }
        let legal = if legal == "true" { String::new() } else { format!(" & {legal}") };
        self.statement(&format!(
            "self.{name}_legal.next = self.axi.write_whole.val() & (self.axi.write_address.val() == {offset:#x}){legal};
             self.{name}_write.next = self.axi.write.val() & self.{name}_legal.val();"
        ));
        self.writes.push(format!("self.{name}_legal.val()"));
    }

    fn flop(&mut self, name: String, of: String) {
        self.flops.push(name.clone());
        self.parts.push((name, format!("Flop<{of}>")));
    }

    fn local(&mut self, name: String, width: u32) {
        self.parts.push((name, format!("Signal<Local, {}>", signal_type(width))));
    }

    fn statement(&mut self, text: &str) {
        self.statements += text;
        self.statements.push('\n');
    }

    fn text(&self) -> String {
        let bus: &[(&str, &str, u32)] = &[
            ("awaddr", "In", ADDRESS),
            ("awprot", "In", 3),
            ("awvalid", "In", 1),
            ("awready", "Out", 1),
            ("wdata", "In", 32),
            ("wstrb", "In", 4),
            ("wvalid", "In", 1),
            ("wready", "Out", 1),
            ("bresp", "Out", 2),
            ("bvalid", "Out", 1),
            ("bready", "In", 1),
            ("araddr", "In", ADDRESS),
            ("arprot", "In", 3),
            ("arvalid", "In", 1),
            ("arready", "Out", 1),
            ("rdata", "Out", 32),
            ("rresp", "Out", 2),
            ("rvalid", "Out", 1),
            ("rready", "In", 1),
        ];
        let mut text = String::from(
            "//! The register block; see the module above for its theory and ports.\n//!\n\
             //! Made by `cargo xtask registers` from `hdl/registers/deltaline.rdl`: change that.\n\n\
             use crate::leaves::Flop;\nuse crate::module::module;\nuse crate::registers::axi_lite::AxiLite;\n\
             use deltaline_hdl_macros::clocked;\n",
        );
        let of_host: Vec<&str> =
            self.emitted.iter().map(|(_, of)| of.as_str()).filter(|of| !of.starts_with('u')).collect();
        let _ = write!(
            text,
            "use deltaline_model::registers::{{{}}};
             use rust_hdl_core::prelude::*;

             /// What is constant in hardware and given when it is emitted.
             #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
             pub struct Emitted {{\n",
            of_host.join(", ")
        );
        for (name, of) in &self.emitted {
            let _ = writeln!(text, "/// The register of this name.\npub {name}: {of},");
        }
        text += "}\n\n/// See the [module](super).\n#[derive(LogicBlock)]\npub struct Registers {\n\
                 pub clk: Signal<In, Clock>,\npub rst: Signal<In, Bit>,\n";
        for (name, direction, width) in bus {
            let _ = writeln!(text, "pub s_axil_{name}: Signal<{direction}, {}>,", signal_type(*width));
        }
        for (name, of) in &self.ports {
            let _ = writeln!(text, "pub {name}: {of},");
        }
        text += "\naxi: AxiLite,\nreadable: Signal<Local, Bit>,\n";
        for (name, _) in &self.constants {
            let _ = writeln!(text, "{name}: Constant<Bits<32>>,");
        }
        for (name, of) in &self.parts {
            let _ = writeln!(text, "{name}: {of},");
        }
        text += "}\n\nimpl Registers {\n/// The registers of a build.\npub fn new(emitted: &Emitted) -> Self {\n\
                 module! { Registers {\n";
        for (name, value) in &self.constants {
            let _ = writeln!(text, "            {name}: Constant::new(({value}).into()),");
        }
        let bus_names: Vec<String> = bus.iter().map(|(name, ..)| format!("s_axil_{name}")).collect();
        let plain = ["clk", "rst"].into_iter().chain(bus_names.iter().map(String::as_str));
        let plain = plain.chain(self.ports.iter().map(|(name, _)| name.as_str())).chain(["axi", "readable"]);
        let plain = plain.chain(self.parts.iter().map(|(name, _)| name.as_str()));
        text += "        }\n";
        for line in lines(plain, 98) {
            let _ = writeln!(text, "            {line}");
        }
        let _ = writeln!(
            text,
            "        }}\n}}\n}}\n\nimpl Logic for Registers {{\n#[clocked({})]\nfn update(&mut self) {{",
            self.flops.join(", ")
        );
        text += "\nself.axi.clk.next = self.clk.val();\nself.axi.rst.next = self.rst.val();\n";
        for (name, direction, _) in bus.iter().filter(|(name, ..)| !name.ends_with("prot")) {
            let _ = match *direction {
                "In" => writeln!(text, "self.axi.s_axil_{name}.next = self.s_axil_{name}.val();"),
                _ => writeln!(text, "self.s_axil_{name}.next = self.axi.s_axil_{name}.val();"),
            };
        }
        let _ = write!(
            text,
            "\n{}\nself.readable.next = {};\nself.axi.read_legal.next = self.readable.val();\n\
             self.axi.read_data.next = {};\nself.axi.write_legal.next = {};\n}}\n}}\n",
            self.statements,
            self.readable.join(" | "),
            self.read.join(" | "),
            self.writes.join(" | "),
        );
        text
    }
}

/// Names in as few lines as hold them, each at most this wide; what stands in a macro is not formatted.
fn lines<'a>(names: impl Iterator<Item = &'a str>, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for name in names {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(name),
            Some(line) if line.len() + 1 + name.len() <= width => *line += &format!(" {name}"),
            _ => lines.push(name.to_string()),
        }
    }
    lines
}

/// The register that holds a field's bits of a word.
fn held(register: &Register, field: &Field, word: u32) -> String {
    let port = register.port(field);
    if field.is_split() { format!("{port}_held_{word}") } else { format!("{port}_held") }
}

/// A type's name.
pub(super) fn pascal(name: &str) -> String {
    name.split('_')
        .map(|word| {
            let (first, rest) = word.split_at(word.len().min(1));
            first.to_ascii_uppercase() + rest
        })
        .collect()
}
