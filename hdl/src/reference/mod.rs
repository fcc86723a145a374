//! Reference packets: frames that carry the time at which they were sent, for reference latency interpolation (RLI).
//!
//! ```text
//! s_axis (traffic) ──► sender ──► m_axis ──► the path ──► receiver (observes) ──► number, delay
//!                        ▲                                    ▲
//!   spacing, ptp_ts ─────┘            tuser: time of arrival ─┘
//! ```
//!
//! The [sender] puts one behind every n-th frame, with the time of its own first byte. The [receiver] recognises them, and
//! hands out how long each was under way. What passes between two of them waited in the same queues, and had about their delays:
//! software interpolates. `deltaline_model::wire::reference` defines the layout. Measurement cores count reference packets as
//! frames that are not measured.
//!
//! Built for streams of 64 bits, with timestamps in PTP relative-64.

pub mod receiver;
pub mod sender;

use crate::emit::block::emit_block;
use crate::emit::refusal::EmitError;
use deltaline_model::configuration::Configuration;
use receiver::Receiver;
use sender::Sender;

/// The Verilog of the [sender] of a configuration's segment, with all names prefixed by `name`.
///
/// # Errors
///
/// As [`emit_block`].
pub fn emit_sender(configuration: &Configuration, name: &str) -> Result<String, EmitError> {
    emit_block(&mut Sender::new(configuration), name)
}

/// The same of the [receiver].
///
/// # Errors
///
/// As [`emit_block`].
pub fn emit_receiver(configuration: &Configuration, name: &str) -> Result<String, EmitError> {
    emit_block(&mut Receiver::new(configuration), name)
}
