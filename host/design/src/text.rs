//! Design files: TOML to [`Design`] and back.
//!
//! # Theory of operation
//!
//! `hdl/configurations/10g.toml` shows every key but `[[entry]]`. Nothing is optional but that, `authentication`, `references`, `synopsis`, `adaptive`,
//! `digest`, `mixing` and `seed`, and no other key is allowed. An `[[entry]]` says which packets are of a measurement class
//! (`hdl/configurations/10g-classes.toml`); without one all are. The same structures are read and written, so the two
//! cannot disagree.
//!
//! A file without a seed is complete only once a random one has been drawn: [`Design::complete`] does that, where a
//! design is made; [`Design::load`], where one is used, refuses it.
//!
//! Numbers are read wide, so that a refusal can say more than that they do not fit. Where a value stands is looked up
//! only when it is refused.
//!
//! # Test plan
//!
//! `tests/design.rs`.

use crate::design::{ALLOWED_LANES, Design, Parts, allowed_widths};
use crate::error::{DesignError, Place, Refused};
use crate::kind::{ClockSource, Shell};
use crate::measurement::{Class, Measurement, allowed_rows, allowed_synopses, refused_prefixes};
use crate::shipped::{SHIPPED, shipped_file};
use crate::small_file;
use crate::stream::Stream;
use deltaline_model::packet::classifier::{Fields, MAX_CLASSES};
use deltaline_model::packet::hash::HashKind;
use deltaline_model::wire::shape::Kind;
use ipnet::IpNet;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// A whole number of any size.
#[derive(Clone, Copy)]
struct Whole(i128);

impl fmt::Debug for Whole {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Whole;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a whole number")
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Whole, E> {
                Ok(Whole(value.into()))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Whole, E> {
                Ok(Whole(value.into()))
            }

            fn visit_i128<E: de::Error>(self, value: i128) -> Result<Whole, E> {
                Ok(Whole(value))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl Serialize for Whole {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i128(self.0)
    }
}

impl Whole {
    /// The number in a narrower type, or the refusal of its key.
    fn fit<T: TryFrom<i128>>(self, key: &str, why: impl FnOnce() -> String) -> Result<T, Refused> {
        T::try_from(self.0).map_err(|_| Refused::new(key, &self.0, why()))
    }
}

/// The file as it is written.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Text {
    description: String,
    shell: Shell,
    clock: ClockSource,
    /// Off in files that do not name it.
    #[serde(default)]
    authentication: bool,
    /// Off in files that do not name it, and not written then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    references: bool,
    stream: StreamText,
    measurement: MeasurementText,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    entry: Vec<EntryText>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct StreamText {
    width: Whole,
    lanes: Whole,
    clock_mhz: f64,
    rate_gbps: f64,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct MeasurementText {
    /// The LDA in files that do not name it.
    #[serde(default = "lda")]
    synopsis: String,
    hash: HashText,
    /// Drawn for files that do not name it.
    seed: Option<Whole>,
    rows: Whole,
    prefixes: Vec<Whole>,
    /// Off in files that do not name it.
    #[serde(default)]
    adaptive: bool,
    segment: Whole,
    /// Off in files that do not name it.
    #[serde(default)]
    digest: bool,
    /// Off in files that do not name it, and not written then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    mixing: bool,
}

fn lda() -> String {
    Kind::LDA.name().unwrap_or_default().into()
}

#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum HashText {
    H3,
    Rabin,
}

/// Packets with these fields are of this class; a field that is not given may be anything.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct EntryText {
    class: Whole,
    version: Option<Whole>,
    source: Option<String>,
    destination: Option<String>,
    protocol: Option<Whole>,
    source_port: Option<Whole>,
    destination_port: Option<Whole>,
}

impl StreamText {
    fn stream(&self) -> Result<Stream, Refused> {
        Ok(Stream {
            width: self.width.fit("stream.width", allowed_widths)?,
            lanes: self.lanes.fit("stream.lanes", || ALLOWED_LANES.to_string())?,
            clock_mhz: self.clock_mhz,
            rate_gbps: self.rate_gbps,
        })
    }
}

impl MeasurementText {
    /// The measurement; `seed` stands for one that the file does not name.
    fn measurement(&self, seed: Option<u64>, entries: &[EntryText]) -> Result<Measurement, Refused> {
        let prefix = |length: &Whole| {
            let refused = || refused_prefixes(&self.prefixes, &format!("{length:?} is no prefix length"));
            u8::try_from(length.0).map_err(|_| refused())
        };
        let class = |(index, entry): (usize, &EntryText)| entry.class(index);
        let unknown = || Refused::new("measurement.synopsis", &self.synopsis, allowed_synopses());
        Ok(Measurement {
            synopsis: Kind::named(&self.synopsis).ok_or_else(unknown)?,
            hash: match self.hash {
                HashText::H3 => HashKind::H3,
                HashText::Rabin => HashKind::Rabin,
            },
            seed: match self.seed {
                Some(given) => given.fit("measurement.seed", || {
                    "give 0 to 2^64 - 1, or leave it out and let `cargo xtask verilog` draw one".into()
                })?,
                None => seed.unwrap_or_default(),
            },
            rows: self.rows.fit("measurement.rows", allowed_rows)?,
            prefixes: self.prefixes.iter().map(prefix).collect::<Result<_, _>>()?,
            adaptive: self.adaptive,
            segment: self.segment.fit("measurement.segment", || "give 0 to 2^32 - 1".into())?,
            digest: self.digest,
            mixing: self.mixing,
            classes: entries.iter().enumerate().map(class).collect::<Result<_, _>>()?,
        })
    }
}

impl EntryText {
    fn class(&self, index: usize) -> Result<Class, Refused> {
        let key = |key: &str| format!("entry[{index}].{key}");
        fn number<T: TryFrom<i128>>(
            key: &str,
            value: Option<Whole>,
            greatest: u32,
        ) -> Result<Option<T>, Refused> {
            value.map(|value| value.fit(key, || format!("give 0 to {greatest}"))).transpose()
        }
        let net = |name: &str, value: &Option<String>| {
            let parse = |text: &String| {
                let address = || text.parse().map(|address: IpAddr| IpNet::from(address));
                let why = "give an address or a prefix, as 10.1.0.0/16 or 2001:db8::/32";
                text.parse().or_else(|_| address()).map_err(|_| Refused::new(&key(name), text, why))
            };
            value.as_ref().map(parse).transpose()
        };
        let class = self.class.fit(&key("class"), || format!("give 0 to {}", MAX_CLASSES - 1))?;
        let fields = Fields {
            version: number(&key("version"), self.version, u8::MAX.into())?,
            source: net("source", &self.source)?,
            destination: net("destination", &self.destination)?,
            protocol: number(&key("protocol"), self.protocol, u8::MAX.into())?,
            source_port: number(&key("source_port"), self.source_port, u16::MAX.into())?,
            destination_port: number(&key("destination_port"), self.destination_port, u16::MAX.into())?,
        };
        Ok(Class { class, fields })
    }

    fn of(class: &Class) -> EntryText {
        let Fields { version, source, destination, protocol, source_port, destination_port } = class.fields;
        let whole = |number: u16| Whole(number.into());
        EntryText {
            class: whole(class.class.into()),
            version: version.map(|version| whole(version.into())),
            source: source.map(|net| net.to_string()),
            destination: destination.map(|net| net.to_string()),
            protocol: protocol.map(|protocol| whole(protocol.into())),
            source_port: source_port.map(whole),
            destination_port: destination_port.map(whole),
        }
    }
}

impl Text {
    /// What is written of a design.
    fn of(parts: &Parts) -> Text {
        let Parts { description, shell, clock, authentication, references, stream, measurement } = parts;
        let whole = |number: usize| Whole(number as i128);
        Text {
            description: description.clone(),
            shell: *shell,
            clock: *clock,
            authentication: *authentication,
            references: *references,
            stream: StreamText {
                width: whole(stream.width),
                lanes: whole(stream.lanes),
                clock_mhz: stream.clock_mhz,
                rate_gbps: stream.rate_gbps,
            },
            measurement: MeasurementText {
                synopsis: measurement.synopsis.name().unwrap_or_default().into(),
                hash: match measurement.hash {
                    HashKind::H3 => HashText::H3,
                    HashKind::Rabin => HashText::Rabin,
                },
                seed: Some(Whole(measurement.seed.into())),
                rows: whole(measurement.rows),
                prefixes: measurement.prefixes.iter().map(|length| Whole((*length).into())).collect(),
                adaptive: measurement.adaptive,
                segment: Whole(measurement.segment.into()),
                digest: measurement.digest,
                mixing: measurement.mixing,
            },
            entry: measurement.classes.iter().map(EntryText::of).collect(),
        }
    }

    fn parts(self, seed: Option<u64>) -> Result<Parts, Refused> {
        Ok(Parts {
            stream: self.stream.stream()?,
            measurement: self.measurement.measurement(seed, &self.entry)?,
            description: self.description,
            shell: self.shell,
            clock: self.clock,
            authentication: self.authentication,
            references: self.references,
        })
    }
}

/// What becomes of a file without a seed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seedless {
    Refuse,
    Draw,
}

impl Design {
    /// The shipped designs, by rising rate.
    ///
    /// # Errors
    ///
    /// [`DesignError`], never for what is released: the tests read every shipped design.
    pub fn all() -> Result<Vec<Design>, DesignError> {
        SHIPPED.iter().map(|(name, text)| Design::parse(&shipped_file(name), name, text)).collect()
    }

    /// The shipped design of this name.
    ///
    /// # Errors
    ///
    /// [`DesignError::Unknown`] if there is none.
    pub fn named(name: &str) -> Result<Design, DesignError> {
        match SHIPPED.iter().find(|(shipped, _)| *shipped == name) {
            Some((name, text)) => Design::parse(&shipped_file(name), name, text),
            None => Err(DesignError::Unknown(name.to_string())),
        }
    }

    /// The design of a file, named after it, to measure with.
    ///
    /// # Errors
    ///
    /// [`DesignError`] with file, line and what to do when the file cannot be read or is refused, also for having no
    /// seed.
    pub fn load(path: &Path) -> Result<Design, DesignError> {
        read(path, Seedless::Refuse)
    }

    /// The design of a file, named after it, to make hardware of: a seed that the file does not name is drawn, and
    /// [`Design::seed_is_drawn`] says so.
    ///
    /// # Errors
    ///
    /// As [`Design::load`], and [`DesignError::Random`] when no seed can be drawn.
    pub fn complete(path: &Path) -> Result<Design, DesignError> {
        read(path, Seedless::Draw)
    }

    /// The design of a text; `file` is for messages.
    ///
    /// # Errors
    ///
    /// As [`Design::load`], but for reading.
    pub fn parse(file: &str, name: &str, text: &str) -> Result<Design, DesignError> {
        parse(file, name, text, Seedless::Refuse)
    }

    /// The file's text: [`Design::parse`] makes the same design of it, but for its build.
    ///
    /// # Errors
    ///
    /// None is known: all that a design holds can be written as TOML.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(&Text::of(self.parts()))
    }
}

/// A random seed, of all 64 bits.
///
/// # Errors
///
/// When the operating system gives no random numbers.
pub fn random_seed() -> Result<u64, getrandom::Error> {
    getrandom::u64()
}

fn read(path: &Path, seedless: Seedless) -> Result<Design, DesignError> {
    let file = path.display().to_string();
    let text = small_file::read(path).map_err(|source| DesignError::Read { file: file.clone(), source })?;
    let name = path.file_stem().map(|name| name.to_string_lossy()).unwrap_or_default();
    parse(&file, &name, &text, seedless)
}

fn parse(file: &str, name: &str, text: &str, seedless: Seedless) -> Result<Design, DesignError> {
    let place = |key: &str| Place { file: file.to_string(), line: line_of(text, key) };
    let refuse = |refused: Refused| {
        let place = place(&refused.key);
        refused.at(place)
    };
    let read: Text = toml::from_str(text)
        .map_err(|source| DesignError::Text { file: file.to_string(), source: Box::new(source) })?;
    let drawn = match (read.measurement.seed, seedless) {
        (Some(_), _) => None,
        (None, Seedless::Refuse) => return Err(DesignError::NoSeed { place: place("measurement") }),
        (None, Seedless::Draw) => {
            Some(random_seed().map_err(|source| DesignError::Random { file: file.to_string(), source })?)
        }
    };
    let design = Design::checked(name, read.parts(drawn).map_err(refuse)?).map_err(refuse)?;
    Ok(if drawn.is_some() { design.with_drawn_seed() } else { design })
}

/// The line of a key such as `measurement.rows` or `entry[2].class`, or of the deepest of its tables that is there.
fn line_of(text: &str, key: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let (mut table, mut found) = (document.get_ref(), None);
    for part in key.split('.') {
        let (name, index) = match part.strip_suffix(']').and_then(|part| part.split_once('[')) {
            Some((name, index)) => (name, index.parse::<usize>().ok()),
            None => (part, None),
        };
        let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref() == name) else { break };
        found = Some(key.span().start);
        let value = match (value.get_ref(), index) {
            (DeValue::Array(values), Some(index)) => {
                let Some(value) = values.get(index) else { break };
                found = Some(value.span().start);
                value.get_ref()
            }
            (value, _) => value,
        };
        let DeValue::Table(inner) = value else { break };
        table = inner;
    }
    found.map(|at| text[..at.min(text.len())].matches('\n').count() + 1)
}
