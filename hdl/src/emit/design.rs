//! A design's Verilog: the core for its stream, in its shell, with a header.
//!
//! # Test plan
//!
//! `hdl/tests/emission.rs`: every shipped design; times of day; the largest and the smallest hardware; what is not built
//! is refused.

use crate::byte;
use crate::emit::header::header;
use crate::emit::refusal::EmitError;
use crate::emit::shell;
use deltaline_design::{CellKind, CoreKind, Design, Refusal};

/// The Verilog of a design, with all names prefixed by `prefix`.
///
/// # Errors
///
/// [`EmitError`] when there is no hardware for the design or `prefix` is no identifier.
pub fn emit(design: &Design, prefix: &str) -> Result<String, EmitError> {
    let body = match design.core()? {
        // It has straps instead of registers: it is the smallest.
        CoreKind::Byte => byte::emit(design.configuration(), prefix)?,
        core => shell::shell(design, core, prefix)?,
    };
    let what = format!("{} of design {}: {}", design.shell(), design.name(), design.description());
    Ok(format!("{}\n{body}", header(design.configuration(), &what, prefix, &body)))
}

/// How long a core takes, in cycles.
pub(crate) struct Timing {
    /// A frame's cell is written in this cycle behind its last beat.
    pub(crate) commit: usize,
    /// A drain takes fewer cycles than this for each cell.
    pub(crate) drain_cell: usize,
    /// And this for each control frame.
    pub(crate) drain_frame: usize,
}

impl Timing {
    /// That of a design.
    pub(crate) fn of(design: &Design) -> Result<Timing, Refusal> {
        let (core, cells) = (design.core()?, CellKind::of_configuration(design.configuration()));
        let commit = match core {
            CoreKind::Byte => return Ok(Timing { commit: 39, drain_cell: 56, drain_frame: 737 }),
            // The row waits for the identifier.
            CoreKind::Bits64 if cells == CellKind::IdentityTable => 21,
            CoreKind::Bits64 => 20,
            CoreKind::Bits256 | CoreKind::Bits512 | CoreKind::TwoLanes512 | CoreKind::FourLanes512 => 19,
        };
        // The core waits while a frame leaves the buffer.
        let plain = Timing { commit, drain_cell: 8 + 2 * cells.fields(), drain_frame: 200 };
        if !design.authentication() {
            return Ok(plain);
        }
        // With a key, five cycles at most for each second word; 15 to begin and 24 to finish.
        let (drain_cell, drain_frame) = (plain.drain_cell + 3 + 2 * cells.fields(), plain.drain_frame + 90);
        Ok(Timing { drain_cell, drain_frame, ..plain })
    }
}
