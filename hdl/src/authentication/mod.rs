//! Authentication: tags that only who has the key can make.

pub mod ascon;
pub mod keys;
pub mod round;
