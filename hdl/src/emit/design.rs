//! Named designs: a configuration, the stream that it is for, and a name.
//!
//! # Theory of operation
//!
//! A design is a TOML file: `hdl/configurations/10g.toml` shows every key. The shipped ones are part of the library
//! ([`Design::all`], [`Design::named`]); [`Design::read`] reads a user's own, whose name is that of its file.
//! Nothing is optional but the entries and `digest`, and no other key is allowed. An `[[entry]]` says which packets are
//! of a measurement class (`hdl/configurations/10g-classes.toml`); without one all are. A file is refused unless
//! hardware of its kind exists, the measurement's settings are legal, and its stream keeps up with its rate.
//!
//! # Keeping up
//!
//! A frame of n bytes with FCS occupies n + 20 bytes of the link (preamble and gap), and, because its FCS is cut off
//! and it starts on a beat of its own, ceil((n - 4) / bytes of a beat) beats of its lane. Every length from 64 to 9018
//! bytes must pass back to back. The shortest frame is seldom the tightest: with 512 bits the frame of 69 bytes takes
//! two beats where that of 64 bytes takes one. Lanes count as if the frames were spread over them evenly.
//!
//! # Test plan
//!
//! The shipped designs parse, pass, emit, and are listed under their file's name; the default one is the model's
//! default configuration. Entries against entries made by hand. Every refusal, with file, key, reason and what is allowed. Frames a second against figures
//! known from elsewhere (14,880,952 at 10 Gbit/s), and known hard cases: 256 bits at 156.25 MHz carry 40 Gbit/s of
//! payload but not of every frame length. Arbitrary text, and arbitrary values under the right keys, never panic.

use crate::byte;
use crate::emit::shell::{self, ClockSource, Core, Shell};
use crate::emit::verilog::{self, EmitError, MAX_BANKS, MAX_ROWS, Module};
use deltaline_model::configuration::{Configuration, ConfigurationError, MIN_ROWS, Settings};
use deltaline_model::packet::classifier::{ClassifierError, Entry, Fields, MAX_CLASSES};
use deltaline_model::packet::hash::HashKind;
use deltaline_model::sketch::sampler::MAX_PREFIX;
use ipnet::IpNet;
use serde::Deserialize;
use std::fmt;
use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::Path;

/// The name of the design that stands for all others where none is asked for.
pub const DEFAULT: &str = "10g";

/// The shipped designs, by rising rate: name and text of the file.
const SHIPPED: [(&str, &str); 10] = [
    ("1g", include_str!("../../configurations/1g.toml")),
    ("10g", include_str!("../../configurations/10g.toml")),
    ("10g-adaptive", include_str!("../../configurations/10g-adaptive.toml")),
    ("10g-classes", include_str!("../../configurations/10g-classes.toml")),
    ("10g-inline", include_str!("../../configurations/10g-inline.toml")),
    ("10g-quantiles", include_str!("../../configurations/10g-quantiles.toml")),
    ("40g", include_str!("../../configurations/40g.toml")),
    ("40g-classifier", include_str!("../../configurations/40g-classifier.toml")),
    ("100g", include_str!("../../configurations/100g.toml")),
    ("400g", include_str!("../../configurations/400g.toml")),
];

/// What [`Design::emit`] has hardware for, in words.
pub(crate) const BUILT: &str = "one lane of 64, 256 or 512 bits; taps also for two and four lanes of 512 bits, and for one of 8 bits with the clock ptp";

/// Widths of a stream.
const WIDTHS: [usize; 4] = [8, 64, 256, 512];

/// Lengths of an Ethernet frame with FCS in bytes, jumbo frames included.
const FRAMES: std::ops::RangeInclusive<u32> = 64..=9018;
/// Preamble, start delimiter and gap between frames, in byte times.
const GAP_BYTES: u32 = 20;
/// The frame check sequence, which the stream does not carry.
const FCS_BYTES: u32 = 4;

/// The stream that a design observes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stream {
    /// Width of a lane's tdata in bits.
    pub width: usize,
    /// Streams of that width side by side.
    pub lanes: usize,
    /// Their clock in MHz.
    pub clock_mhz: f64,
    /// Rate of the Ethernet link in Gbit/s, preamble and gaps included.
    pub rate_gbps: f64,
}

impl Stream {
    /// Frames of `length` bytes (with FCS) that the link can bring in a second.
    pub fn frames_needed(&self, length: u32) -> f64 {
        self.rate_gbps * 1e9 / (8.0 * f64::from(length + GAP_BYTES))
    }

    /// Frames of `length` bytes (with FCS) that the stream can carry in a second.
    pub fn frames_possible(&self, length: u32) -> f64 {
        let beats = (length - FCS_BYTES).div_ceil(self.width as u32 / 8);
        self.clock_mhz * 1e6 * self.lanes as f64 / f64::from(beats)
    }

    /// The frame length in bytes that comes closest to the stream's limit, or exceeds it most.
    pub fn tightest(&self) -> u32 {
        let spare = |length: &u32| self.frames_possible(*length) / self.frames_needed(*length);
        FRAMES.min_by(|a, b| spare(a).total_cmp(&spare(b))).unwrap_or(*FRAMES.start())
    }

    /// The lowest clock in MHz that keeps up with the rate.
    pub fn clock_needed(&self) -> f64 {
        let tightest = self.tightest();
        self.clock_mhz * self.frames_needed(tightest) / self.frames_possible(tightest)
    }
}

/// A design; see the [module](self).
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    name: String,
    description: String,
    stream: Stream,
    shell: Shell,
    clock: ClockSource,
    configuration: Configuration,
    build: u32,
}

/// Why a design is refused.
#[derive(Debug, thiserror::Error)]
pub enum DesignError {
    /// Not one of the shipped names.
    #[error("'{0}' is not a shipped design: give one of {shipped}, or the path of a file that ends in .toml", shipped = names())]
    Unknown(String),
    /// The file cannot be read.
    #[error("{file}: cannot be read: {source}; give one of {shipped}, or the path of a file that ends in .toml", shipped = names())]
    Read {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// The text is not TOML, a key is missing, unknown or twice there, or its value is of the wrong type.
    #[error("{file}: {}\nhdl/configurations/10g.toml shows every key and what is allowed", plain(source))]
    Text {
        /// The file.
        file: String,
        /// What is wrong and where.
        source: Box<toml::de::Error>,
    },
    /// A value is not allowed.
    #[error("{file}: {key} = {value}: {why}")]
    Value {
        /// The file.
        file: String,
        /// The key, with its table.
        key: String,
        /// Its value.
        value: String,
        /// The reason and what is allowed.
        why: String,
    },
    /// The stream cannot carry what the link brings.
    #[error(
        "{file}: stream.clock_mhz = {}: {} x {} bits cannot keep up with {} Gbit/s: frames of {length} bytes need {:.0} \
         frames/s, possible are {:.0}; give a clock of at least {:.3} MHz, more lanes or a wider stream",
        stream.clock_mhz, stream.lanes, stream.width, stream.rate_gbps,
        stream.frames_needed(*length), stream.frames_possible(*length), stream.clock_needed()
    )]
    Rate {
        /// The file.
        file: String,
        /// The stream.
        stream: Stream,
        /// Length of the frame, with FCS, that exceeds it most.
        length: u32,
    },
}

/// The shipped names, for messages.
fn names() -> String {
    SHIPPED.map(|(name, _)| name).join(", ")
}

/// The parser's message, without Rust's names of types.
fn plain(error: &toml::de::Error) -> String {
    let message = error.to_string().replace("expected i64", "expected a whole number");
    message.replace("expected f64", "expected a number").trim_end().to_string()
}

/// The file as it is written. Numbers are read wide, so that a refusal can say more than that they do not fit.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    description: String,
    shell: Shell,
    clock: ClockSource,
    stream: StreamText,
    measurement: MeasurementText,
    #[serde(default)]
    entry: Vec<EntryText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamText {
    width: i64,
    lanes: i64,
    clock_mhz: f64,
    rate_gbps: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MeasurementText {
    hash: HashText,
    seed: i64,
    rows: i64,
    prefixes: Vec<i64>,
    /// Off in files that do not name it.
    #[serde(default)]
    adaptive: bool,
    segment: i64,
    /// Off in files that do not name it.
    #[serde(default)]
    digest: bool,
}

/// Packets with these fields are of this class; a field that is not given may be anything.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryText {
    class: i64,
    version: Option<i64>,
    source: Option<String>,
    destination: Option<String>,
    protocol: Option<i64>,
    source_port: Option<i64>,
    destination_port: Option<i64>,
}

impl EntryText {
    /// The entry, or the key, its value and why it is refused.
    fn entry(&self) -> Result<Entry, (&'static str, String, String)> {
        fn number<T: TryFrom<i64>>(
            key: &'static str,
            value: Option<i64>,
            greatest: u32,
        ) -> Result<Option<T>, (&'static str, String, String)> {
            let checked = |value| {
                T::try_from(value).map_err(|_| (key, value.to_string(), format!("give 0 to {greatest}")))
            };
            value.map(checked).transpose()
        }
        let net = |key: &'static str, value: &Option<String>| {
            let parsed = value.as_ref().map(|text| {
                let refused = || {
                    (
                        key,
                        format!("{text:?}"),
                        "give an address or a prefix, as 10.1.0.0/16 or 2001:db8::/32".into(),
                    )
                };
                text.parse()
                    .or_else(|_| text.parse().map(|address: IpAddr| IpNet::from(address)))
                    .map_err(|_| refused())
            });
            parsed.transpose()
        };
        let class = number("class", Some(self.class), MAX_CLASSES as u32 - 1)?.unwrap_or(0);
        let fields = Fields {
            version: number("version", self.version, u8::MAX.into())?,
            source: net("source", &self.source)?,
            destination: net("destination", &self.destination)?,
            protocol: number("protocol", self.protocol, u8::MAX.into())?,
            source_port: number("source_port", self.source_port, u16::MAX.into())?,
            destination_port: number("destination_port", self.destination_port, u16::MAX.into())?,
        };
        fields.entry(class).map_err(|error| ("", self.to_string(), error.to_string()))
    }
}

impl fmt::Display for EntryText {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{{ class = {}", self.class)?;
        let numbers = [
            ("version", self.version),
            ("protocol", self.protocol),
            ("source_port", self.source_port),
            ("destination_port", self.destination_port),
        ];
        for (key, text) in [("source", &self.source), ("destination", &self.destination)] {
            text.iter().try_for_each(|text| write!(f, ", {key} = {text:?}"))?;
        }
        for (key, number) in numbers {
            number.iter().try_for_each(|number| write!(f, ", {key} = {number}"))?;
        }
        f.write_str(" }")
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum HashText {
    H3,
    Rabin,
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

    /// The design of a file, named after it.
    ///
    /// # Errors
    ///
    /// [`DesignError`] when the file cannot be read or is refused.
    pub fn read(path: &Path) -> Result<Design, DesignError> {
        let file = path.display().to_string();
        let text =
            fs::read_to_string(path).map_err(|source| DesignError::Read { file: file.clone(), source })?;
        let name = path.file_stem().map(|name| name.to_string_lossy()).unwrap_or_default();
        Design::parse(&file, &name, &text)
    }

    fn parse(file: &str, name: &str, text: &str) -> Result<Design, DesignError> {
        let Text { description, shell, clock, stream, measurement, entry: entry_texts } =
            toml::from_str(text)
                .map_err(|source| DesignError::Text { file: file.to_string(), source: Box::new(source) })?;
        let refuse = |key: &str, value: &dyn fmt::Debug, why: String| DesignError::Value {
            file: file.to_string(),
            key: key.to_string(),
            value: format!("{value:?}"),
            why,
        };

        // Both are written into comments, where a line break would end the comment.
        for (key, text) in [("the file's name", name), ("description", &description)] {
            if text.trim().is_empty() || text.chars().any(char::is_control) {
                return Err(refuse(key, &text, "give one line of text".into()));
            }
        }

        let width =
            usize::try_from(stream.width).ok().filter(|width| WIDTHS.contains(width)).ok_or_else(|| {
                refuse("stream.width", &stream.width, format!("a lane has one of {WIDTHS:?} bits"))
            })?;
        let lanes = usize::try_from(stream.lanes)
            .ok()
            .filter(|lanes| *lanes > 0)
            .ok_or_else(|| refuse("stream.lanes", &stream.lanes, "give at least one lane".into()))?;
        for (key, value) in [("stream.clock_mhz", stream.clock_mhz), ("stream.rate_gbps", stream.rate_gbps)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(refuse(key, &value, "give a number above 0".into()));
            }
        }
        let stream = Stream { width, lanes, clock_mhz: stream.clock_mhz, rate_gbps: stream.rate_gbps };

        let rows = usize::try_from(measurement.rows)
            .ok()
            .filter(|rows| rows.is_power_of_two() && (MIN_ROWS..=MAX_ROWS).contains(rows))
            .ok_or_else(|| {
                let why = format!("give a power of two from {MIN_ROWS} to {MAX_ROWS}");
                refuse("measurement.rows", &measurement.rows, why)
            })?;
        let prefixes = &measurement.prefixes;
        let refuse_prefixes = |reason: String| {
            let allowed = format!("give 1 to {MAX_BANKS} ascending lengths from 0 to {MAX_PREFIX}");
            refuse("measurement.prefixes", prefixes, format!("{reason}; {allowed}"))
        };
        if prefixes.len() > MAX_BANKS {
            return Err(refuse_prefixes(format!("{} banks", prefixes.len())));
        }
        let mut lengths = vec![];
        for prefix in prefixes {
            let length = u8::try_from(*prefix);
            lengths.push(length.map_err(|_| refuse_prefixes(format!("{prefix} is no prefix length")))?);
        }
        let seed = u64::try_from(measurement.seed)
            .map_err(|_| refuse("measurement.seed", &measurement.seed, "give 0 to 2^63 - 1".into()))?;
        let segment = u32::try_from(measurement.segment)
            .map_err(|_| refuse("measurement.segment", &measurement.segment, "give 0 to 2^32 - 1".into()))?;
        let hash = match measurement.hash {
            HashText::H3 => HashKind::H3,
            HashText::Rabin => HashKind::Rabin,
        };
        let refuse_entry = |index: usize, key: &str, value: String, why: String| {
            let dot = if key.is_empty() { "" } else { "." };
            refuse(&format!("entry[{index}]{dot}{key}"), &format_args!("{value}"), why)
        };
        let mut entries = vec![];
        for (index, text) in entry_texts.iter().enumerate() {
            let entry = text.entry();
            entries.push(entry.map_err(|(key, value, why)| refuse_entry(index, key, value, why))?);
        }
        let digest = measurement.digest;
        let adaptive = measurement.adaptive;
        let settings =
            Settings { hash, seed, rows, prefixes: &lengths, adaptive, segment, entries: &entries, digest };
        let configuration = Configuration::new(settings).map_err(|error| match error {
            ConfigurationError::Segment { .. } => refuse("measurement.segment", &segment, error.to_string()),
            ConfigurationError::Classifier(reason) => match reason {
                ClassifierError::Class { entry: index, .. }
                | ClassifierError::Value { entry: index, .. }
                | ClassifierError::Overlap { second: index, .. } => {
                    let text = entry_texts.get(index).map(ToString::to_string).unwrap_or_default();
                    refuse_entry(index, "", text, error.to_string())
                }
                _ => {
                    let classes: Vec<i64> = entry_texts.iter().map(|text| text.class).collect();
                    refuse("entry.class", &classes, error.to_string())
                }
            },
            _ => refuse_prefixes(error.to_string()),
        })?;

        let length = stream.tightest();
        if stream.frames_possible(length) < stream.frames_needed(length) {
            return Err(DesignError::Rate { file: file.to_string(), stream, length });
        }
        if adaptive && width == 8 {
            let why =
                "the core of 8 bits has no registers and fixed prefix lengths; give false, or a wider stream";
            return Err(refuse("measurement.adaptive", &adaptive, why.into()));
        }
        Ok(Design { name: name.to_string(), description, stream, shell, clock, configuration, build: 0 })
    }

    /// Its name: that of its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is for, in one line.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The stream that it observes.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The clock of that stream in MHz.
    pub fn clock_mhz(&self) -> f64 {
        self.stream.clock_mhz
    }

    /// How it meets the stream.
    pub fn shell(&self) -> Shell {
        self.shell
    }

    /// Where its time comes from.
    pub fn clock(&self) -> ClockSource {
        self.clock
    }

    /// What it measures.
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// The same with a number that hosts read from a register, to tell builds apart; it is 0 otherwise.
    pub fn with_build(self, build: u32) -> Design {
        Design { build, ..self }
    }

    /// Its Verilog, with all names prefixed by `prefix`.
    ///
    /// # Errors
    ///
    /// [`EmitError`] when there is no hardware for its stream yet or `prefix` is no identifier.
    pub fn emit(&self, prefix: &str) -> Result<String, EmitError> {
        let body = match self.hardware()?.kind {
            Kind::Byte => byte::emit(&self.configuration, prefix)?,
            Kind::Shell(core) => {
                shell::shell(&self.configuration, core, self.shell, self.clock, self.build, prefix)?
            }
        };
        let what = format!("{} of design {}: {}", self.shell, self.name, self.description);
        Ok(format!("{}\n{body}", verilog::header(&self.configuration, &what, prefix, &body)))
    }

    /// The hardware for its stream. Whatever differs between cores is told apart here and nowhere else.
    pub(crate) fn hardware(&self) -> Result<Hardware, EmitError> {
        let (shell, Stream { width, lanes, .. }) = (self.shell, self.stream);
        if (shell, self.clock, width, lanes) == (Shell::Tap, ClockSource::Ptp, 8, 1) {
            return Ok(Hardware {
                kind: Kind::Byte,
                commit_cycles: 36,
                drain_cycles: 110,
                frame_cycles: 900,
            });
        }
        let (module, commit_cycles) = match (shell, width, lanes) {
            (_, 64, 1) => (Module::Core, 16),
            (_, 256, 1) => (Module::Core256, 15),
            (_, 512, 1) => (Module::Core512, 15),
            (Shell::Tap, 512, 2) => (Module::TwoLanes512, 15),
            (Shell::Tap, 512, 4) => (Module::FourLanes512, 15),
            _ => return Err(EmitError::Stream { shell, width, lanes }),
        };
        let core = Core { module, data_bytes: width as u32 / 8, lanes: lanes as u32 };
        let drain_cycles = if self.configuration.has_digests() { 10 } else { 8 };
        // The core waits while a frame leaves the buffer.
        Ok(Hardware { kind: Kind::Shell(core), commit_cycles, drain_cycles, frame_cycles: 200 })
    }
}

/// What a design's hardware is.
enum Kind {
    /// The byte core, which has straps instead of registers: it is the smallest.
    Byte,
    /// A core in a shell.
    Shell(Core),
}

/// A core, and what is to be said of it.
pub(crate) struct Hardware {
    kind: Kind,
    /// A frame's cell is written in this cycle behind its last beat.
    pub(crate) commit_cycles: usize,
    /// A drain takes fewer cycles than this for each cell.
    pub(crate) drain_cycles: usize,
    /// And this for each control frame.
    pub(crate) frame_cycles: usize,
}

/// The file of a shipped design, for messages.
fn shipped_file(name: &str) -> String {
    format!("hdl/configurations/{name}.toml")
}

#[cfg(test)]
mod tests;
