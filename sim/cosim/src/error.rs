//! What can go wrong: the simulation itself, or the comparison of hardware and model.

use deltaline_hdl::emit::refusal::EmitError;
use std::fmt::Debug;

/// Why the hardware cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum HardwareError {
    /// Verilator is missing, or refuses the design.
    #[error(transparent)]
    Verilator(#[from] verilator_sys::Error),
    /// The hardware is not built for this configuration.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// The core did not do what it must within a generous time.
    #[error("the core did not {0} within {1} cycles: the design is broken")]
    Stuck(&'static str, u64),
    /// The core broke a rule of AXI4-Stream on m_axis.
    #[error("m_axis: {0}: the design is broken")]
    Stream(&'static str),
}

/// What a check found.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// Hardware and model differ.
    #[error("{stage}: after {at}: {what}: model {expected}, hardware {found}")]
    Mismatch {
        /// The stage that was checked.
        stage: &'static str,
        /// Where in the stimulus.
        at: u64,
        /// What differs.
        what: &'static str,
        /// What the model says.
        expected: String,
        /// What the hardware says.
        found: String,
    },
    /// The hardware cannot be simulated, or got stuck.
    #[error(transparent)]
    Hardware(#[from] HardwareError),
}

impl From<verilator_sys::Error> for CheckError {
    fn from(error: verilator_sys::Error) -> Self {
        CheckError::Hardware(error.into())
    }
}

/// Compares what the model says with what the hardware says.
pub(crate) fn same<T: PartialEq + Debug>(
    stage: &'static str,
    at: u64,
    what: &'static str,
    expected: &T,
    found: &T,
) -> Result<(), CheckError> {
    if expected == found {
        return Ok(());
    }
    let (expected, found) = (format!("{expected:x?}"), format!("{found:x?}"));
    Err(CheckError::Mismatch { stage, at, what, expected, found })
}
