//! Message: what one end of a segment says to the other about an interval, in a frame of [layout version 2](crate::wire::v2).
//!
//! | field of the frame | in a message |
//! |---|---|
//! | role | of the end that speaks |
//! | interval, boot epoch | the interval, and the number of the question; in a greeting both halves of a number at random |
//! | fragment, fragments | part of what is said, and of how many |
//! | kind | [`Kind::MESSAGE`] |
//! | tables | what is said: 1..=255 |
//! | cells, cell bits | 8, and the bytes of the one block behind the header: words of 64 bits, at most [`MOST_WORDS`] |
//! | configuration, segment, key, tag, check | as in a control frame |
//!
//! All others are zero. A message is too long for a path's MTU: it belongs into a stream, behind its length.
//!
//! # Test plan
//!
//! What is written is read, with any words; a control frame is no message and a message no control frame; bytes at random are read or refused;
//! tags as those of frames.

use crate::wire::fields::Fields;
use crate::wire::frame::{BLOCK_CELLS, FrameError, Header, Role, TRAILER_BYTES, Totals};
use crate::wire::shape::{Kind, Shape};
use crate::wire::v2::{self, FIXED_WORDS};
use alloc::vec;
use alloc::vec::Vec;

/// Most words of a message.
pub const MOST_WORDS: usize = 8184;
/// Most bytes of a message.
pub const MOST_BYTES: usize = 8 * (FIXED_WORDS + MOST_WORDS) + TRAILER_BYTES;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The end that speaks.
    pub role: Role,
    /// Number of the measurement segment.
    pub segment: u32,
    /// Identifier of the configuration.
    pub configuration: u64,
    /// The interval, modulo 2^32.
    pub interval: u32,
    /// Number of the question.
    pub question: u32,
    /// What is said.
    pub what: u8,
    /// Which part of it this is, from 0.
    pub part: u16,
    /// Parts of it.
    pub parts: u16,
    /// Identifier of the key; zero without.
    pub key: u16,
    /// The words of this part.
    pub words: Vec<u64>,
}

impl Message {
    /// The frame, without a tag. None if there are more than [`MOST_WORDS`].
    pub fn encode(&self) -> Option<Vec<u8>> {
        let header = Header {
            role: self.role,
            segment: self.segment,
            interval: self.interval,
            configuration: self.configuration,
            shape: Shape {
                kind: Kind::MESSAGE,
                tables: self.what,
                table_cells: 0,
                cell_bits: u16::try_from(8 * self.words.len())
                    .ok()
                    .filter(|_| self.words.len() <= MOST_WORDS)?,
                has_digests: false,
                own: [].into(),
            },
            fragment: self.part,
            fragments: self.parts,
            table: 0,
            first_cell: 0,
            cells: BLOCK_CELLS as u16,
            point: 0,
            time: None,
            totals: Totals::default(),
            boot_epoch: self.question,
            key: self.key,
            mixing: 0,
        };
        let mut frame = vec![0; 8 * (FIXED_WORDS + self.words.len()) + TRAILER_BYTES];
        v2::encode_blocks(&header, &mut frame, |block| {
            block.chunks_exact_mut(8).zip(&self.words).for_each(|(bytes, word)| {
                bytes.copy_from_slice(&word.to_be_bytes());
            });
        })?;
        Some(frame)
    }

    /// Checks and decodes a frame; its tag is for [`Keys`](crate::wire::authentication::Keys).
    ///
    /// # Errors
    ///
    /// Why it is no message.
    pub fn decode(bytes: &[u8]) -> Result<Self, FrameError> {
        match bytes.get(12..15) {
            Some([first, second, v2::VERSION])
                if u16::from_be_bytes([*first, *second]) == crate::wire::frame::ETHERTYPE => {}
            _ => return Err(FrameError::Field("version")),
        }
        let frame = v2::read(bytes)?;
        let Header { role, segment, interval, configuration, shape, fragment, fragments, .. } = frame.header;
        if shape.kind != Kind::MESSAGE || shape.tables == 0 {
            return Err(FrameError::Field("kind"));
        }
        if usize::from(frame.header.cells) != BLOCK_CELLS
            || usize::from(shape.cell_bits) > 8 * MOST_WORDS
            || !shape.own.as_slice().is_empty()
            || frame.blocks().len() != usize::from(shape.cell_bits)
        {
            return Err(FrameError::Field("cells"));
        }
        if fragment >= fragments {
            return Err(FrameError::Field("fragment"));
        }
        Ok(Message {
            role,
            segment,
            configuration,
            interval,
            question: frame.header.boot_epoch,
            what: shape.tables,
            part: fragment,
            parts: fragments,
            key: frame.header.key,
            words: frame.blocks().chunks_exact(8).map(|word| Fields(word).u64(0)).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::configuration::{Configuration, Settings};
    use crate::point::{IntervalEnd, MeasurementPoint};
    use crate::wire::authentication::{Key, Keys, Unauthentic};
    use crate::wire::frame::Frame;
    use core::num::NonZeroU16;
    use proptest::prelude::*;

    fn message(words: Vec<u64>) -> Message {
        Message {
            role: Role::Receiver,
            segment: 7,
            configuration: 0x0123_4567_89ab_cdef,
            interval: u32::MAX,
            question: 9,
            what: 3,
            part: 1,
            parts: 2,
            key: 5,
            words,
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(words in proptest::collection::vec(any::<u64>(), 0..40), at: usize, bit in 0..8u32) {
            let message = message(words);
            let mut frame = message.encode().unwrap();
            prop_assert_eq!(Message::decode(&frame), Ok(message));
            let at = 14 + at % (frame.len() - 14);
            frame[at] ^= 1 << bit;
            prop_assert!(Message::decode(&frame).is_err());
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = Message::decode(&bytes);
        }
    }

    #[test]
    fn the_longest_and_longer_ones() {
        let longest = message(vec![1; MOST_WORDS]);
        let frame = longest.encode().unwrap();
        assert_eq!((frame.len(), v2::length(&frame)), (MOST_BYTES, MOST_BYTES));
        assert_eq!(Message::decode(&frame), Ok(longest));
        assert_eq!(message(vec![1; MOST_WORDS + 1]).encode(), None);
    }

    #[test]
    fn messages_are_no_control_frames_and_have_tags_like_them() {
        let mut frame = message(vec![1, 2]).encode().unwrap();
        assert_eq!(Frame::decode(&frame), Err(FrameError::Field("kind")));
        let key = Key::new(NonZeroU16::new(5).unwrap(), [3; 16]);
        let (one, other) = (key.of_conversation([1; 16]), key.of_conversation([2; 16]));
        one.sign(&mut frame);
        let check = |key: &Key| {
            let mut keys = Keys::default();
            keys.add(key.clone());
            keys.check(&frame)
        };
        let wrong = Err(Unauthentic::Tag(5));
        assert_eq!([check(&one), check(&other), check(&key)], [Ok(()), wrong, wrong]);
        let configuration = Configuration::new(Settings::default()).unwrap();
        let mut point = MeasurementPoint::new(&configuration, Role::Sender);
        point.end_interval(IntervalEnd::Request, |frame| {
            assert_eq!(Message::decode(frame), Err(FrameError::Field("kind")));
        });
    }
}
