//! Topologies from files: which form a file has, and its reading.

mod graphml;
mod ospf;
mod repetita;
mod rocketfuel;

use crate::error::Wrong;
use crate::{Topology, TopologyError};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Most bytes of a file: ten times what the largest networks take.
const MOST: u64 = 32 << 20;

/// Reads a topology in any of the known forms, which is recognised by the contents:
///
/// | form | links | costs |
/// |---|---|---|
/// | Repetita `.graph` | one way | the column `weight` |
/// | GraphML, as the Topology Zoo has it | as `edgedefault` says | data named `weight`, `cost` or `metric`, else 1 |
/// | Rocketfuel `.cch` | both ways | 1: the form has none |
/// | JSON of `show ip ospf database router json` by FRR's vtysh | one way | the router's metric |
///
/// # Errors
///
/// [`TopologyError`], with file, line and remedy.
pub fn read(path: &Path) -> Result<Topology, TopologyError> {
    let file = path.display().to_string();
    match File::open(path) {
        Ok(opened) => read_from(&file, opened),
        Err(source) => Err(TopologyError::Read { file, source }),
    }
}

/// As [`read`], of what comes, such as the output of another program; `file` is what messages call it.
///
/// # Errors
///
/// [`TopologyError`], with line and remedy.
pub fn read_from(file: &str, source: impl Read) -> Result<Topology, TopologyError> {
    let text = text(source).map_err(|source| TopologyError::Read { file: file.into(), source })?;
    parse(file, &text)
}

/// As [`read`], of a text; `file` is what messages call it.
///
/// # Errors
///
/// [`TopologyError`], with line and remedy.
pub fn parse(file: &str, text: &str) -> Result<Topology, TopologyError> {
    let reader: fn(&str) -> Result<Topology, Wrong> = match first_line(text) {
        first if first.starts_with("NODES") => repetita::read,
        first if first.starts_with('<') => graphml::read,
        first if first.starts_with('{') => ospf::read,
        first if rocketfuel::is_line(first) => rocketfuel::read,
        _ => return Err(TopologyError::Unknown { file: file.into() }),
    };
    reader(text).map_err(|wrong| wrong.in_file(file))
}

/// The first line with anything in it.
fn first_line(text: &str) -> &str {
    text.trim_start_matches('\u{feff}').lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("")
}

fn text(source: impl Read) -> io::Result<String> {
    let mut text = String::new();
    source.take(MOST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST {
        return Err(io::Error::new(ErrorKind::FileTooLarge, "longer than 32 MiB"));
    }
    Ok(text)
}
