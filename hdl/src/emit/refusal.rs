//! Why something is not emitted.

use deltaline_design::Refusal;

/// Why a configuration or a name is not emitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmitError {
    /// There is no such hardware.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Not a Verilog identifier.
    #[error("'{0}' is not a plain Verilog identifier: use letters, digits and underscores")]
    Name(String),
    /// Flattening `$` made two names equal.
    #[error("identifiers '{0}' and '{1}' would both become '{2}': give another name")]
    Collision(String, String, String),
    /// RustHDL refuses the design.
    #[error("the design is not connected: {0}")]
    Design(String),
}
