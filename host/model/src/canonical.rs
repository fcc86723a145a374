//! Canonical bytes: settings in the one form that identifiers are made of.
//!
//! A sequence of items: type (16 bits), length of the value in bytes (16 bits), value; numbers are big-endian. Types
//! ascend, and every setting is written, also where it is the default, so that equal settings have equal bytes. A synopsis
//! has the types from 256 times the number of its kind on for itself: whoever adds one changes no identifier of the others.
//!
//! # Test plan
//!
//! Bytes by hand; different sequences have different bytes, however values are cut. The items of a configuration:
//! [`crate::configuration`].

use alloc::vec::Vec;

/// Items of ascending types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Items(Vec<u8>);

impl Items {
    /// Appends an item; the value is at most 65,535 bytes long.
    pub fn put(&mut self, kind: u16, value: &[u8]) {
        self.0.extend(kind.to_be_bytes());
        self.0.extend((value.len() as u16).to_be_bytes());
        self.0.extend(value);
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_by_hand() {
        let mut items = Items::default();
        items.put(1, &[7]);
        items.put(0x0102, &[]);
        items.put(0x0103, &[8, 9]);
        assert_eq!(items.as_bytes(), [0, 1, 0, 1, 7, 1, 2, 0, 0, 1, 3, 0, 2, 8, 9]);
    }

    #[test]
    fn values_that_are_cut_elsewhere_differ() {
        let of = |values: [&[u8]; 2]| {
            let mut items = Items::default();
            (1..).zip(values).for_each(|(kind, value)| items.put(kind, value));
            items
        };
        assert_ne!(of([&[1, 2], &[3]]), of([&[1], &[2, 3]]));
        assert_ne!(of([&[1, 2], &[]]), of([&[], &[1, 2]]));
    }
}
