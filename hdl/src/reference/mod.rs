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
//! Receivers are built for one lane of 64, 256 or 512 bits, senders for 64 or 256, with timestamps in PTP relative-64.

pub mod receiver;
pub mod sender;

use crate::emit::block::emit_block;
use crate::emit::refusal::EmitError;
use crate::inline::Width;
use deltaline_design::Refusal;
use deltaline_model::configuration::Configuration;
use receiver::Receiver;
use sender::Sender;

/// The Verilog of the [sender] of a configuration's segment, with all names prefixed by `name`.
///
/// # Errors
///
/// [`Refusal::ReferenceSender`] of 512 bits; otherwise as [`emit_block`].
pub fn emit_sender(configuration: &Configuration, width: Width, name: &str) -> Result<String, EmitError> {
    match width {
        Width::Bits64 => emit_block(&mut Sender::<64, 8>::new(configuration), name),
        Width::Bits256 => emit_block(&mut Sender::<256, 32>::new(configuration), name),
        Width::Bits512 => Err(Refusal::ReferenceSender.into()),
    }
}

/// The same of the [receiver], of any width.
///
/// # Errors
///
/// As [`emit_block`].
pub fn emit_receiver(configuration: &Configuration, width: Width, name: &str) -> Result<String, EmitError> {
    match width {
        Width::Bits64 => emit_block(&mut Receiver::<64, 8>::new(configuration), name),
        Width::Bits256 => emit_block(&mut Receiver::<256, 32>::new(configuration), name),
        Width::Bits512 => emit_block(&mut Receiver::<512, 64>::new(configuration), name),
    }
}
