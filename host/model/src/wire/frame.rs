//! The control frame: how a measurement point reports an interval.
//!
//! An interval is reported as a sequence of Ethernet frames (LDA paper, section V: "control packets are
//! sequence-numbered so that loss of control packets translates into a measurement interval being ignored"): table by
//! table, each cut into frames of equally many cells. With several classes the sequences of the classes follow each
//! other; unmeasured, bad, refused ends and flags are the point's, and repeat in each. Every frame repeats the whole
//! header.
//!
//! There are two layouts, [version 1](crate::wire::v1) and [version 2](crate::wire::v2). [`Frame::decode`] reads both
//! into the same types; what version 1 does not have is absent in them. The last word is a [check
//! word](crate::wire::check).
//!
//! # Test plan
//!
//! Golden frames of both versions (`vectors/`), built once and compared by model, hardware and dissector; arbitrary
//! bytes never panic, whatever the version; a version that is neither is refused. The layouts' own tests are in their modules.

pub use crate::wire::check::{DESTINATION, ETHERTYPE, SOURCE};
use crate::wire::delimiter;
pub use crate::wire::header::{
    DIGESTS_FLAG, Flags, Frame, FrameError, Header, MAX_CELLS, MAX_DIGEST_CELLS, MAX_FRAME_BYTES, Role,
    TRAILER_BYTES, Totals,
};
pub use crate::wire::shape::BLOCK_CELLS;
// The version that is sent.
pub use crate::wire::v2::{VERSION, encode, frame_bytes};
use crate::wire::{v1, v2};

impl Header {
    /// The words in front of the first cell, as they are sent.
    pub fn words(&self) -> v2::Words {
        v2::words(self)
    }
}

impl<'a> Frame<'a> {
    /// Checks and decodes a frame of any version; bytes behind its end (padding) are ignored.
    ///
    /// # Errors
    ///
    /// [`FrameError`] with what is wrong.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, FrameError> {
        let ethertype = bytes.get(12..14).ok_or(FrameError::Truncated(bytes.len(), v1::HEADER_BYTES))?;
        let ethertype = u16::from_be_bytes([ethertype[0], ethertype[1]]);
        if ethertype != ETHERTYPE {
            return Err(FrameError::EtherType(ethertype));
        }
        match bytes.get(14..16) {
            Some(&[delimiter::VERSION, delimiter::ROLE]) => Err(FrameError::Delimiter),
            Some(&[v1::VERSION, _]) => v1::decode(bytes),
            Some(&[v2::VERSION, _]) => v2::decode(bytes),
            Some(&[version, _]) => Err(FrameError::Version(version)),
            _ => Err(FrameError::Truncated(bytes.len(), v1::HEADER_BYTES)),
        }
    }
}
