//! Why a topology is not read, or its paths are not counted.

use crate::topology::LinkError;
use std::fmt;
use std::io;

/// Where in a topology's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: String,
    /// Its line, from 1 on, where it is known.
    pub line: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// Why a topology is not read.
#[derive(Debug, thiserror::Error)]
pub enum TopologyError {
    /// The file cannot be read.
    #[error(
        "{file}: cannot be read: {source}; give a Repetita .graph, a GraphML, a Rocketfuel .cch, or what \
         `vtysh -c 'show ip ospf database router json'` writes"
    )]
    Read {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// It is none of the known forms.
    #[error(
        "{file}: no known form of topology; give a Repetita .graph, a GraphML, a Rocketfuel .cch, or what \
         `vtysh -c 'show ip ospf database router json'` writes"
    )]
    Unknown {
        /// The file.
        file: String,
    },
    /// It contradicts its form.
    #[error("{place}: {what}; {remedy}")]
    Text {
        /// Where.
        place: Place,
        /// What is wrong.
        what: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A link is not allowed.
    #[error("{place}: {source}")]
    Link {
        /// Where.
        place: Place,
        /// What is wrong with it.
        source: LinkError,
    },
}

impl TopologyError {
    /// The file that it concerns.
    pub fn file(&self) -> &str {
        match self {
            TopologyError::Read { file, .. } | TopologyError::Unknown { file } => file,
            TopologyError::Text { place, .. } | TopologyError::Link { place, .. } => &place.file,
        }
    }
}

/// A topology's text is wrong in a line, or somewhere.
#[derive(Debug)]
pub(crate) enum Wrong {
    /// What, and what to do.
    Text(Option<usize>, String, &'static str),
    /// Which link.
    Link(Option<usize>, LinkError),
}

impl Wrong {
    pub(crate) fn text(line: usize, what: impl Into<String>, remedy: &'static str) -> Self {
        Wrong::Text(Some(line), what.into(), remedy)
    }

    pub(crate) fn whole(what: impl Into<String>, remedy: &'static str) -> Self {
        Wrong::Text(None, what.into(), remedy)
    }

    pub(crate) fn in_file(self, file: &str) -> TopologyError {
        let file = file.to_string();
        match self {
            Wrong::Text(line, what, remedy) => {
                TopologyError::Text { place: Place { file, line }, what, remedy }
            }
            Wrong::Link(line, source) => TopologyError::Link { place: Place { file, line }, source },
        }
    }
}

/// There are more paths of equal cost than can be counted or listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the network has more shortest paths of equal cost than {most}; give links different costs, or upgrade routers between them"
)]
pub struct TooManyPaths {
    /// What there may be at most.
    pub most: u128,
}
