//! Authentication: tags that only who has the key can make.

pub mod ascon;
pub mod delimiter_tags;
pub mod keys;
pub mod round;
pub mod tag_match;
