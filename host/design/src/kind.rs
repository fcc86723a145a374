//! Kinds of hardware: shells, sources of time, cores by their stream, and cells.
//!
//! # Test plan
//!
//! A kind's name in a file is what it is shown as; every stream is that of one core at most; every configuration has one
//! kind of cells.

use deltaline_model::configuration::Configuration;
use deltaline_model::wire::shape::Kind;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a core meets the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shell {
    /// It watches and drives nothing back.
    Tap,
    /// The stream passes through it.
    Inline,
}

impl fmt::Display for Shell {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Shell::Tap => "tap",
            Shell::Inline => "inline",
        })
    }
}

/// Where time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClockSource {
    /// From outside: PTP relative-64 with every frame and on a port.
    Ptp,
    /// From outside: PTP time of day (96 bits) with every frame and on a port.
    TimeOfDay,
    /// From the adjustable clock inside.
    BuiltIn,
}

impl fmt::Display for ClockSource {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            ClockSource::Ptp => "ptp",
            ClockSource::TimeOfDay => "time-of-day",
            ClockSource::BuiltIn => "built-in",
        })
    }
}

/// A core that is built, named after its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoreKind {
    /// One lane of 8 bits: the smallest, with straps instead of registers.
    Byte,
    /// One lane of 64 bits.
    Bits64,
    /// One lane of 256 bits.
    Bits256,
    /// One lane of 512 bits.
    Bits512,
    /// Two lanes of 512 bits.
    TwoLanes512,
    /// Four lanes of 512 bits.
    FourLanes512,
}

impl CoreKind {
    /// All of them, by rising width.
    pub const ALL: [CoreKind; 6] = [
        CoreKind::Byte,
        CoreKind::Bits64,
        CoreKind::Bits256,
        CoreKind::Bits512,
        CoreKind::TwoLanes512,
        CoreKind::FourLanes512,
    ];

    /// The core for a stream.
    pub fn of_stream(width: usize, lanes: usize) -> Option<CoreKind> {
        CoreKind::ALL.into_iter().find(|core| (core.width(), core.lanes()) == (width, lanes))
    }

    /// Width of a lane in bits.
    pub const fn width(self) -> usize {
        match self {
            CoreKind::Byte => 8,
            CoreKind::Bits64 => 64,
            CoreKind::Bits256 => 256,
            CoreKind::Bits512 | CoreKind::TwoLanes512 | CoreKind::FourLanes512 => 512,
        }
    }

    /// Number of lanes.
    pub const fn lanes(self) -> usize {
        match self {
            CoreKind::TwoLanes512 => 2,
            CoreKind::FourLanes512 => 4,
            _ => 1,
        }
    }

    /// The shells that are built around it.
    pub const fn shells(self) -> &'static [Shell] {
        match self {
            CoreKind::Bits64 | CoreKind::Bits256 | CoreKind::Bits512 => &[Shell::Tap, Shell::Inline],
            CoreKind::Byte | CoreKind::TwoLanes512 | CoreKind::FourLanes512 => &[Shell::Tap],
        }
    }

    /// The sources of time that are built for it in a shell.
    pub const fn clocks(self, shell: Shell) -> &'static [ClockSource] {
        match (self, shell) {
            (CoreKind::Byte, _) => &[ClockSource::Ptp],
            (_, Shell::Tap) => &[ClockSource::Ptp, ClockSource::TimeOfDay, ClockSource::BuiltIn],
            (_, Shell::Inline) => &[ClockSource::Ptp, ClockSource::BuiltIn],
        }
    }
}

impl fmt::Display for CoreKind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.lanes() {
            1 => write!(f, "one lane of {} bits", self.width()),
            lanes => write!(f, "{lanes} lanes of {} bits", self.width()),
        }
    }
}

/// The cells that a core is built with: those of a synopsis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// The LDA's, without digest sums.
    Lda,
    /// The LDA's, with digest sums.
    Digests,
    /// FineComb's.
    FineComb,
    /// The identity table's.
    IdentityTable,
    /// The LDA's, with those of an identity table beside them.
    LdaIdentity,
    /// Those of flows, in the rows of an LDS.
    FlowRows,
    /// Those of flows, in the vector of COLATE.
    FlowVector,
    /// RDA's, of software alone.
    Rda,
    /// sRDA's, of software alone.
    Srda,
    /// Those of slices, alone or, in software, with an LDA.
    Slices,
}

impl CellKind {
    /// All of them.
    pub const ALL: [CellKind; 10] = [
        CellKind::Lda,
        CellKind::Digests,
        CellKind::FineComb,
        CellKind::IdentityTable,
        CellKind::LdaIdentity,
        CellKind::FlowRows,
        CellKind::FlowVector,
        CellKind::Rda,
        CellKind::Srda,
        CellKind::Slices,
    ];

    /// Those of a configuration.
    pub fn of_configuration(configuration: &Configuration) -> CellKind {
        match configuration.kind() {
            Kind::FINECOMB => CellKind::FineComb,
            Kind::IDENTITY_TABLE => CellKind::IdentityTable,
            Kind::LDA_IDENTITY => CellKind::LdaIdentity,
            Kind::FLOW_ROWS => CellKind::FlowRows,
            Kind::FLOW_VECTOR => CellKind::FlowVector,
            Kind::RDA => CellKind::Rda,
            Kind::SRDA => CellKind::Srda,
            Kind::SLICES | Kind::BOTH => CellKind::Slices,
            _ if configuration.has_digests() => CellKind::Digests,
            _ => CellKind::Lda,
        }
    }

    /// Whether there is no hardware for them, whatever the core.
    pub const fn is_software_only(self) -> bool {
        matches!(self, CellKind::Rda | CellKind::Srda)
    }

    /// Further fields of 32 bits in a cell, beside count and timestamp sum.
    pub const fn fields(self) -> usize {
        match self {
            CellKind::Lda | CellKind::LdaIdentity | CellKind::FlowVector | CellKind::Slices => 0,
            CellKind::Digests | CellKind::FlowRows => 1,
            CellKind::FineComb | CellKind::Rda => 2,
            CellKind::IdentityTable | CellKind::Srda => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltaline_model::configuration::Settings;

    #[test]
    fn fields_are_those_of_the_model() {
        for (cells, synopsis, digest) in [
            (CellKind::Lda, Kind::LDA, false),
            (CellKind::Digests, Kind::LDA, true),
            (CellKind::FineComb, Kind::FINECOMB, false),
            (CellKind::IdentityTable, Kind::IDENTITY_TABLE, false),
            (CellKind::LdaIdentity, Kind::LDA_IDENTITY, false),
            (CellKind::FlowRows, Kind::FLOW_ROWS, false),
            (CellKind::FlowVector, Kind::FLOW_VECTOR, false),
            (CellKind::Rda, Kind::RDA, false),
            (CellKind::Srda, Kind::SRDA, false),
            (CellKind::Slices, Kind::SLICES, false),
        ] {
            let settings = Settings { synopsis, digest, prefixes: &[1], ..Settings::default() };
            let configuration = Configuration::new(settings).unwrap();
            assert_eq!(CellKind::of_configuration(&configuration), cells);
            assert_eq!(usize::from(configuration.shape().cell_bits), 72 + 32 * cells.fields());
        }
    }

    #[test]
    fn a_name_in_a_file_is_what_is_shown() {
        #[derive(Deserialize)]
        struct Both {
            shell: Shell,
            clock: ClockSource,
        }
        for shell in [Shell::Tap, Shell::Inline] {
            for clock in [ClockSource::Ptp, ClockSource::TimeOfDay, ClockSource::BuiltIn] {
                let read: Both =
                    toml::from_str(&format!("shell = \"{shell}\"\nclock = \"{clock}\"")).unwrap();
                assert_eq!((read.shell, read.clock), (shell, clock));
            }
        }
    }

    #[test]
    fn a_stream_is_that_of_one_core() {
        for core in CoreKind::ALL {
            assert_eq!(CoreKind::of_stream(core.width(), core.lanes()), Some(core));
        }
        assert_eq!(CoreKind::of_stream(512, 3), None);
    }
}
