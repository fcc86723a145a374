//! Authentication of control frames and delimiters: a tag that only who has the key can make.
//!
//! The tag is that of Ascon-AEAD128 (NIST SP 800-232) with an empty plaintext: all of the frame is associated data.
//!
//! | | |
//! |---|---|
//! | key | 128 bits, with an identifier of 1..=65535 that each frame names, so that keys can change |
//! | nonce, 16 bytes | segment (4), interval (4), boot epoch (4), version (1), role (1), fragment (2), big-endian; a delimiter's fragment is 0 |
//! | associated data | the frame from its segment on (byte 16) up to the tag |
//! | tag, 16 bytes | in front of the [check word](crate::wire::check), which covers it |
//!
//! No two frames under one key have the same nonce, as long as a point's boot epoch rises with each of its starts, the numbers of
//! its intervals rise within each start, as those of its delimiters must for that, and each
//! segment has one sender and one receiver. MAC addresses are left out: networks may rewrite them. EtherType, version and
//! role are in the nonce or fixed.
//!
//! A frame without a key has key identifier zero and a tag of zeros. A frame of layout version 1 cannot be authenticated.
//!
//! What a tag cannot show is that a frame is new: that is for the reader, by the epoch and the interval's number, which rise.
//!
//! # Test plan
//!
//! The associated data and nonce by hand; every single bit of a frame but those of the MAC
//! addresses refused when changed, under a check word that is right; other keys, unknown keys, no key; keys do not show
//! themselves in debug output.

use crate::ascon;
use crate::wire::check::check_word;
use crate::wire::fields::Fields;
use crate::wire::header::TRAILER_BYTES;
use crate::wire::{delimiter, v2};
use alloc::vec::Vec;
use core::num::NonZeroU16;

/// Bytes of a key.
pub const KEY_BYTES: usize = ascon::BYTES;
/// Bytes of a tag.
pub const TAG_BYTES: usize = ascon::BYTES;
/// Bytes of a frame that no tag covers: MAC addresses, EtherType, version and role.
const UNCOVERED_BYTES: usize = 16;

/// A secret that both makes and checks tags.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    id: NonZeroU16,
    secret: [u8; KEY_BYTES],
}

/// Never the secret.
impl core::fmt::Debug for Key {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        f.debug_struct("Key").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Why a frame is not taken for authentic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Unauthentic {
    /// It has no tag: layout version 1, or key identifier zero.
    #[error("it is not authenticated: give its point the key")]
    Untagged,
    /// A key that is not at hand.
    #[error("it names key {0}, which is not among the keys given")]
    UnknownKey(u16),
    /// The tag is not that of the contents: forged or altered.
    #[error("its tag is wrong: it is forged or altered, or its point has another key {0}")]
    Tag(u16),
}

/// Where a frame's fields are that its tag depends on.
struct Parts {
    /// The whole frame's bytes.
    length: usize,
    epoch: u32,
    key: u16,
    fragment: u16,
}

impl Parts {
    /// The tag that the frame should have.
    fn tag(&self, key: &Key, frame: &[u8]) -> [u8; TAG_BYTES] {
        let (field, mut nonce) = (Fields(frame), [0; 16]);
        let version_and_role = u64::from(field.u16(14));
        let number = u64::from(self.epoch) << 32 | version_and_role << 16 | u64::from(self.fragment);
        nonce[..8].copy_from_slice(&field.u64(16).to_be_bytes());
        nonce[8..].copy_from_slice(&number.to_be_bytes());
        ascon::tag(&key.secret, nonce, &frame[UNCOVERED_BYTES..self.tag_at()])
    }

    /// All bytes are compared, so that the time taken says nothing of where they differ.
    fn is_signed_by(&self, key: &Key, frame: &[u8]) -> bool {
        let (expected, found) = (self.tag(key, frame), &frame[self.tag_at()..self.length - 8]);
        found.iter().zip(expected).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
    }

    fn tag_at(&self) -> usize {
        self.length - TRAILER_BYTES
    }

    /// Of a frame that decodes; none if the layout has no room for a tag.
    fn of(frame: &[u8]) -> Option<Self> {
        let field = Fields(frame);
        match *frame.get(14..16)? {
            [delimiter::VERSION, delimiter::ROLE] => Some(Parts {
                length: delimiter::BYTES,
                epoch: field.u32(32),
                key: field.u16(36),
                fragment: 0,
            }),
            [v2::VERSION, _] => Some(Parts {
                length: v2::length(frame),
                epoch: field.u32(120),
                key: field.u16(124),
                fragment: field.u16(32),
            }),
            _ => None,
        }
        .filter(|parts| parts.length >= UNCOVERED_BYTES + TRAILER_BYTES && parts.length <= frame.len())
    }
}

impl Key {
    /// A key.
    pub fn new(id: NonZeroU16, secret: [u8; KEY_BYTES]) -> Self {
        Key { id, secret }
    }

    /// The identifier that frames name.
    pub fn id(&self) -> u16 {
        self.id.get()
    }

    /// The key itself, as bytes in the standard's order: what a point's registers are set to.
    pub fn secret(&self) -> &[u8; KEY_BYTES] {
        &self.secret
    }

    /// The key of one conversation under this key: `number` is the tag's nonce, which both ends have chosen, each half of it at
    /// random. What is signed in one conversation is not authentic in another.
    pub fn of_conversation(&self, number: [u8; 16]) -> Key {
        // No frame is that short: this is the tag of none.
        Key { id: self.id, secret: ascon::tag(&self.secret, number, b"conversation") }
    }

    /// Whether this key made the tag of a frame that decodes, whatever key the frame names; padding behind it is allowed.
    pub fn has_signed(&self, frame: &[u8]) -> bool {
        Parts::of(frame).is_some_and(|parts| parts.is_signed_by(self, frame))
    }

    /// Puts the tag and a new check word into a whole frame that names this key: a control frame of layout version 2, or a
    /// delimiter. Other bytes stay as they are.
    pub fn sign(&self, frame: &mut [u8]) {
        let Some(parts) = Parts::of(frame).filter(|parts| parts.key == self.id()) else { return };
        let (tag, check_at) = (parts.tag(self, frame), parts.length - 8);
        frame[parts.tag_at()..check_at].copy_from_slice(&tag);
        let check = check_word(&frame[..check_at]);
        frame[check_at..parts.length].copy_from_slice(&check.to_be_bytes());
    }
}

/// The keys that a reader takes, each with an identifier of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys(Vec<Key>);

impl Keys {
    /// Takes another key; whether its identifier was free.
    pub fn add(&mut self, key: Key) -> bool {
        let is_free = self.get(key.id()).is_none();
        if is_free {
            self.0.push(key);
        }
        is_free
    }

    /// The key with this identifier.
    pub fn get(&self, id: u16) -> Option<&Key> {
        self.0.iter().find(|key| key.id() == id)
    }

    /// How many keys came before the one with this identifier.
    pub fn position(&self, id: u16) -> Option<usize> {
        self.0.iter().position(|key| key.id() == id)
    }

    /// The key that came last: the one to sign with.
    pub fn last(&self) -> Option<&Key> {
        self.0.last()
    }

    /// Identifiers of all keys, in the order in which they came.
    pub fn ids(&self) -> impl Iterator<Item = u16> {
        self.0.iter().map(Key::id)
    }

    /// Checks the tag of a frame that decodes, padding behind it allowed.
    ///
    /// # Errors
    ///
    /// [`Unauthentic`] with the reason.
    pub fn check(&self, frame: &[u8]) -> Result<(), Unauthentic> {
        let parts = Parts::of(frame).filter(|parts| parts.key != 0);
        let parts = parts.ok_or(Unauthentic::Untagged)?;
        let key = self.get(parts.key).ok_or(Unauthentic::UnknownKey(parts.key))?;
        if parts.is_signed_by(key, frame) { Ok(()) } else { Err(Unauthentic::Tag(parts.key)) }
    }
}

#[cfg(test)]
mod tests;
