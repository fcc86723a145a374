//! A design's Verilog: the core for its stream, in its shell, with a header.
//!
//! # Test plan
//!
//! `hdl/tests/emission.rs`: every shipped design; times of day; the largest and the smallest hardware; what is not built
//! is refused.

use crate::byte;
use crate::emit::byte_shell;
use crate::emit::header::header;
use crate::emit::refusal::EmitError;
use crate::emit::shell;
use deltaline_design::{CellKind, CoreKind, Design};

/// The Verilog of a design, with all names prefixed by `prefix`.
///
/// # Errors
///
/// [`EmitError`] when there is no hardware for the design or `prefix` is no identifier.
pub fn emit(design: &Design, prefix: &str) -> Result<String, EmitError> {
    let body = match design.core()? {
        // It has straps instead of registers, but for a key: it is the smallest.
        CoreKind::Byte if design.authentication() => byte_shell::emit(design.configuration(), prefix)?,
        CoreKind::Byte => byte::emit(design.configuration(), prefix)?,
        core => shell::shell(design, core, prefix)?,
    };
    let what = format!("{} of design {}: {}", design.shell(), design.name(), design.description());
    Ok(format!("{}\n{body}", header(design.configuration(), &what, prefix, &body)))
}

/// In this cycle behind a frame's last beat its cell is written.
pub(crate) fn commit_cycle(core: CoreKind, cells: CellKind) -> usize {
    match core {
        CoreKind::Byte => 39,
        // The row waits for the identifier.
        CoreKind::Bits64 if matches!(cells, CellKind::IdentityTable | CellKind::LdaIdentity) => 21,
        // And the column for the flow's hash.
        CoreKind::Bits64 if cells == CellKind::FlowRows => 21,
        CoreKind::Bits512 if cells == CellKind::FlowRows => 20,
        // Twice four rounds more.
        CoreKind::Bits64 if cells == CellKind::FlowVector => 29,
        CoreKind::Bits512 if cells == CellKind::FlowVector => 28,
        // Nothing is read before it is written.
        CoreKind::Bits64 if cells == CellKind::Slices => 15,
        CoreKind::Bits256 | CoreKind::Bits512 if cells == CellKind::Slices => 14,
        CoreKind::Bits64 => 20,
        CoreKind::Bits256 | CoreKind::Bits512 | CoreKind::TwoLanes512 | CoreKind::FourLanes512 => 19,
    }
}
