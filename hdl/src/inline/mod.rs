//! Inline: what stands in the stream itself, to insert delimiters and control frames between its frames.
//!
//! The measurement core only watches. Around it, at an end that is to mark intervals or to report in-band, stands
//! [`insertion`]:
//!
//! ```text
//!                     cut ──► delimiter ──┐
//!  core m_axis ──► frame_buffer ──────────┴─► inserter ──┬──► m_axis
//!       ▲                       s_axis ──────────►       │
//!       └────────────────────────────────────────────────┘  the core watches what leaves
//! ```
//!
//! In front of `cut` stands [`pace`]: no delimiter before the drain of the interval before is over.
//!
//! The core watches the output, delimiters included. So both ends of the segment see the same frames in the same
//! order and cut at the very same place.
//!
//! All modules are built for beats of one, four and eight 64-bit words ([`Width`]): 1 Gbit/s to 10, 40 and 100 Gbit/s.

pub mod delimiter;
pub mod frame_buffer;
pub mod inserter;
pub mod insertion;
pub mod pace;

use crate::emit::block::emit_block;
use crate::emit::refusal::EmitError;
use deltaline_model::configuration::Configuration;
use insertion::Insertion;

/// Width of a stream's beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 64 bits.
    Bits64,
    /// 256 bits.
    Bits256,
    /// 512 bits.
    Bits512,
}

impl Width {
    /// All widths that are built.
    pub const ALL: [Width; 3] = [Width::Bits64, Width::Bits256, Width::Bits512];

    /// 64-bit words of a beat.
    pub const fn words(self) -> usize {
        match self {
            Width::Bits64 => 1,
            Width::Bits256 => 4,
            Width::Bits512 => 8,
        }
    }
}

/// The Verilog of [`Insertion`] for a configuration and a width, with all names prefixed by `name`.
///
/// # Errors
///
/// As [`emit_block`].
pub fn emit(configuration: &Configuration, width: Width, name: &str) -> Result<String, EmitError> {
    match width {
        Width::Bits64 => emit_block(&mut Insertion::<64, 8, 1, 8>::new(configuration), name),
        Width::Bits256 => emit_block(&mut Insertion::<256, 32, 4, 6>::new(configuration), name),
        Width::Bits512 => emit_block(&mut Insertion::<512, 64, 8, 5>::new(configuration), name),
    }
}
