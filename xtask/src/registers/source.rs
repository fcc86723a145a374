//! The elaborated registers, checked to be of the kinds that hardware is made of.

use serde::Deserialize;

/// All registers, in ascending order.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) title: String,
    pub(super) registers: Vec<Register>,
}

/// A register of one or two words of 32 bits.
#[derive(Debug)]
pub(super) struct Register {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) offset: u32,
    pub(super) width: u32,
    /// An input says whether it may be written.
    pub(super) guarded: bool,
    pub(super) fields: Vec<Field>,
}

/// Some bits of a register.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) low: u32,
    pub(super) width: u32,
    pub(super) kind: Kind,
    pub(super) signed: bool,
    pub(super) maximum: Option<u64>,
    pub(super) enumeration: Option<Enumeration>,
}

/// What hardware is made of a field; the head of the source says how they are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Constant(u64),
    Emitted,
    Input,
    Snapshot,
    Storage,
    Secret,
    Strobe,
}

#[derive(Debug, Deserialize)]
pub(super) struct Enumeration {
    pub(super) name: String,
    pub(super) members: Vec<Member>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) value: u64,
    pub(super) description: String,
}

#[derive(Deserialize)]
struct JsonBlock {
    title: String,
    registers: Vec<JsonRegister>,
}

#[derive(Deserialize)]
struct JsonRegister {
    name: String,
    title: String,
    description: String,
    offset: u32,
    width: u32,
    access_width: u32,
    guarded: bool,
    fields: Vec<JsonField>,
}

#[derive(Deserialize)]
struct JsonField {
    name: String,
    description: String,
    low: u32,
    width: u32,
    software: String,
    hardware: String,
    reset: Option<u64>,
    pulse: bool,
    emitted: bool,
    snapshot: bool,
    signed: bool,
    maximum: Option<u64>,
    enumeration: Option<Enumeration>,
}

/// Reads what `elaborate.py` prints.
pub(super) fn read(json: &str) -> Result<Block, String> {
    let block: JsonBlock = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let registers = block.registers.into_iter().map(register).collect::<Result<Vec<_>, _>>()?;
    let fields =
        || registers.iter().flat_map(|register| register.fields.iter().map(move |field| (register, field)));
    let strobe = |(register, field): (&Register, &Field)| {
        register.port(field) == "snapshot" && field.kind == Kind::Strobe
    };
    if fields().any(|(_, field)| field.kind == Kind::Snapshot) && !fields().any(strobe) {
        return Err("fields with the property snapshot need a register `snapshot` with one strobe".into());
    }
    Ok(Block { title: block.title, registers })
}

fn register(json: JsonRegister) -> Result<Register, String> {
    let JsonRegister { name, title, description, offset, width, access_width, guarded, fields } = json;
    if access_width != 32 || ![32, 64].contains(&width) {
        return Err(format!("{name}: give it regwidth 32 or 64 and accesswidth 32"));
    }
    let fields = fields
        .into_iter()
        .map(|one| field(one).map_err(|error| format!("{name}.{error}")))
        .collect::<Result<_, _>>()?;
    Ok(Register { name, title, description, offset, width, guarded, fields })
}

fn field(json: JsonField) -> Result<Field, String> {
    let JsonField { name, description, low, width, signed, maximum, enumeration, .. } = json;
    let access = (json.software.as_str(), json.hardware.as_str());
    let kind = match (access, json.reset) {
        (("r", "na"), Some(value)) if !json.emitted => Kind::Constant(value),
        (("r", "na"), None) if json.emitted => Kind::Emitted,
        (("r", "w"), None) if json.snapshot => Kind::Snapshot,
        (("r", "w"), None) => Kind::Input,
        (("rw", "r"), Some(0)) if json.pulse && width == 1 => Kind::Strobe,
        (("rw", "r"), Some(0)) if !json.pulse => Kind::Storage,
        (("w", "r"), Some(0)) if !json.pulse => Kind::Secret,
        ((software, hardware), reset) => {
            return Err(format!(
                "{name}: no hardware for sw={software}, hw={hardware}, reset {reset:?} and these properties; \
                 the head of the file lists what there is (registers and strobes reset to 0)"
            ));
        }
    };
    if (maximum.is_some() || (enumeration.is_some() && kind == Kind::Storage))
        && (width > 16 || low % 32 + width > 32)
    {
        return Err(format!("{name}: values are restricted only in fields of up to 16 bits in one word"));
    }
    Ok(Field { name, description, low, width, kind, signed, maximum, enumeration })
}

impl Register {
    /// Name of a field's port.
    pub(super) fn port(&self, field: &Field) -> String {
        if self.fields.len() == 1 { self.name.clone() } else { format!("{}_{}", self.name, field.name) }
    }

    /// Number of 32-bit words.
    pub(super) fn words(&self) -> u32 {
        self.width / 32
    }

    /// The name of a word: the register's, with a number if there are several.
    pub(super) fn word_name(&self, word: u32) -> String {
        if self.words() == 1 { self.name.clone() } else { format!("{}_{word}", self.name) }
    }

    /// The parts of fields that lie in a word.
    pub(super) fn parts(&self, word: u32) -> impl Iterator<Item = (&Field, Part)> {
        self.fields.iter().filter_map(move |field| Some((field, field.part(word)?)))
    }

    /// Whether a write can be legal.
    pub(super) fn is_writable(&self) -> bool {
        self.fields.iter().any(|field| matches!(field.kind, Kind::Storage | Kind::Secret | Kind::Strobe))
    }
}

/// The bits of a field in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Lowest bit in the word.
    pub(super) position: u32,
    /// Lowest bit in the field.
    pub(super) from: u32,
    pub(super) width: u32,
}

impl Part {
    /// Its bits in the word.
    pub(super) fn mask(self) -> u32 {
        (u32::MAX >> (32 - self.width)) << self.position
    }
}

impl Field {
    fn part(&self, word: u32) -> Option<Part> {
        let start = self.low.max(32 * word);
        let end = (self.low + self.width).min(32 * word + 32);
        (start < end).then(|| Part {
            position: start - 32 * word,
            from: start - self.low,
            width: end - start,
        })
    }

    /// Whether it lies in several words.
    pub(super) fn is_split(&self) -> bool {
        self.low / 32 != (self.low + self.width - 1) / 32
    }

    /// The values that no write may give it, and that hardware of 2^width values would take.
    pub(super) fn reserved(&self) -> Vec<u64> {
        let values = || 0..1u64 << self.width;
        match (&self.enumeration, self.maximum) {
            (Some(all), _) => {
                values().filter(|value| all.members.iter().all(|one| one.value != *value)).collect()
            }
            (None, Some(maximum)) => values().filter(|value| *value > maximum).collect(),
            (None, None) => vec![],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(field: &str) -> String {
        let json = r#"{"title": "T", "registers": [{"name": "r", "title": "R", "description": "", "offset": 0,
            "width": 64, "access_width": 32, "guarded": false, "fields": [{"name": "f", "description": "", "low": 24, "width": 10,
            "software": "rw", "hardware": "r", "reset": 0, "pulse": false, "emitted": false, "snapshot": false,
            "signed": false, "maximum": null, "enumeration": null}]}]}"#;
        let (key, _) = field.split_once(':').unwrap();
        let start = json.find(&format!("{key}:")).unwrap();
        let end = start + json[start..].find([',', '}']).unwrap();
        let changed = format!("{}{field}{}", &json[..start], &json[end..]);
        read(json).unwrap();
        read(&changed).unwrap_err()
    }

    #[test]
    fn refusals_name_the_field_and_the_remedy() {
        for field in [r#""software": "w1""#, r#""reset": 7"#, r#""hardware": "rw""#, r#""pulse": true"#] {
            let refusal = refusal(field);
            assert!(
                refusal.starts_with("r.f: no hardware") && refusal.contains("the head of the file"),
                "{refusal}"
            );
        }
        assert!(refusal(r#""access_width": 64"#).contains("accesswidth 32"));
        assert!(refusal(r#""maximum": 47"#).contains("in one word"));
    }

    #[test]
    fn a_field_over_two_words_has_two_parts() {
        let kind = Kind::Storage;
        let (name, description) = (String::from("f"), String::new());
        let field = Field {
            name,
            description,
            low: 24,
            width: 10,
            kind,
            signed: false,
            maximum: None,
            enumeration: None,
        };
        assert_eq!(field.part(0), Some(Part { position: 24, from: 0, width: 8 }));
        assert_eq!(field.part(1), Some(Part { position: 0, from: 8, width: 2 }));
        assert_eq!(field.part(0).unwrap().mask(), 0xff00_0000);
    }
}
