//! A design: a measurement's configuration, the stream that it is for, and a name.
//!
//! # Test plan
//!
//! With its reader and writer: `tests/design.rs`.

use crate::error::{DesignError, Place, Refused};
use crate::kind::{ClockSource, CoreKind, Shell};
use crate::measurement::Measurement;
use crate::stream::Stream;
use deltaline_model::configuration::Configuration;

/// What a user says of a design; [`Design::new`] checks it.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// What it is for, in one line.
    pub description: String,
    /// How it meets the stream.
    pub shell: Shell,
    /// Where its time comes from.
    pub clock: ClockSource,
    /// Its control frames can be authenticated.
    pub authentication: bool,
    /// It receives reference packets, and in line it sends them, too.
    pub references: bool,
    /// The stream that it observes.
    pub stream: Stream,
    /// What it measures.
    pub measurement: Measurement,
}

/// A checked design; see the [crate](crate).
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    name: String,
    parts: Parts,
    configuration: Configuration,
    build: u32,
    seed_is_drawn: bool,
}

impl Design {
    /// Checks a design's parts.
    ///
    /// # Errors
    ///
    /// [`DesignError::Value`] unless the settings are legal, hardware of its kind exists, and its stream keeps up with its
    /// rate.
    pub fn new(name: &str, parts: Parts) -> Result<Design, DesignError> {
        let place = || Place { file: name.to_string(), line: None };
        Design::checked(name, parts).map_err(|refused| refused.at(place()))
    }

    pub(crate) fn checked(name: &str, parts: Parts) -> Result<Design, Refused> {
        // Both are written into comments, where a line break would end the comment.
        for (key, text) in [("the file's name", name), ("description", &parts.description)] {
            if text.trim().is_empty() || text.chars().any(char::is_control) {
                return Err(Refused::new(key, &text, "give one line of text"));
            }
        }
        check_stream(&parts.stream)?;
        let configuration = parts.measurement.configuration()?;
        check_rate(&parts.stream)?;
        if configuration.adaptive() && parts.stream.width == CoreKind::Byte.width() {
            let why =
                "the core of 8 bits has no registers and fixed prefix lengths; give false, or a wider stream";
            return Err(Refused::new("measurement.adaptive", &true, why));
        }
        if configuration.has_mixing() && parts.stream.width == CoreKind::Byte.width() {
            let why = "the core of 8 bits has none; leave it out, or give a wider stream";
            return Err(Refused::new("measurement.mixing", &true, why));
        }
        Ok(Design { name: name.to_string(), parts, configuration, build: 0, seed_is_drawn: false })
    }

    /// Its name: that of its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All that a user says of it, to make another design of.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// What it is for, in one line.
    pub fn description(&self) -> &str {
        &self.parts.description
    }

    /// The stream that it observes.
    pub fn stream(&self) -> &Stream {
        &self.parts.stream
    }

    /// The clock of that stream in MHz.
    pub fn clock_mhz(&self) -> f64 {
        self.parts.stream.clock_mhz
    }

    /// How it meets the stream.
    pub fn shell(&self) -> Shell {
        self.parts.shell
    }

    /// Where its time comes from.
    pub fn clock(&self) -> ClockSource {
        self.parts.clock
    }

    /// Whether its control frames can be authenticated.
    pub fn authentication(&self) -> bool {
        self.parts.authentication
    }

    /// Whether it receives reference packets, and in line sends them, too.
    pub fn references(&self) -> bool {
        self.parts.references
    }

    /// What it measures.
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// The number that hosts read from a register, to tell builds apart; 0 unless it is given.
    pub fn build(&self) -> u32 {
        self.build
    }

    /// The same with another number of the build.
    pub fn with_build(self, build: u32) -> Design {
        Design { build, ..self }
    }

    /// Whether its seed was drawn when it was read ([`Design::complete`]), so that its file does not have it.
    pub fn seed_is_drawn(&self) -> bool {
        self.seed_is_drawn
    }

    pub(crate) fn with_drawn_seed(self) -> Design {
        Design { seed_is_drawn: true, ..self }
    }
}

/// What is allowed, for refusals.
pub(crate) fn allowed_widths() -> String {
    let mut widths = CoreKind::ALL.map(CoreKind::width).to_vec();
    widths.dedup();
    format!("a lane has one of {widths:?} bits")
}

/// What is allowed, for refusals.
pub(crate) const ALLOWED_LANES: &str = "give at least one lane";

fn check_stream(stream: &Stream) -> Result<(), Refused> {
    let Stream { width, lanes, clock_mhz, rate_gbps } = *stream;
    if !CoreKind::ALL.into_iter().any(|core| core.width() == width) {
        return Err(Refused::new("stream.width", &width, allowed_widths()));
    }
    if lanes == 0 {
        return Err(Refused::new("stream.lanes", &lanes, ALLOWED_LANES));
    }
    for (key, value) in [("stream.clock_mhz", clock_mhz), ("stream.rate_gbps", rate_gbps)] {
        if !(value.is_finite() && value > 0.0) {
            return Err(Refused::new(key, &value, "give a number above 0"));
        }
    }
    Ok(())
}

fn check_rate(stream: &Stream) -> Result<(), Refused> {
    if stream.keeps_up() {
        return Ok(());
    }
    let length = stream.tightest();
    let why = format!(
        "{} x {} bits cannot keep up with {} Gbit/s: frames of {length} bytes need {:.0} frames/s, possible are {:.0}; \
         give a clock of at least {:.3} MHz, more lanes or a wider stream",
        stream.lanes,
        stream.width,
        stream.rate_gbps,
        stream.frames_needed(length),
        stream.frames_possible(length),
        stream.clock_needed()
    );
    let value = stream.clock_mhz.to_string();
    Err(Refused { key: "stream.clock_mhz".into(), value, why })
}
