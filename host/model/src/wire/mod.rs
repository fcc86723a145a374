//! What goes over the wire: control frames, delimiters and messages.

pub mod authentication;
pub mod cell;
pub mod check;
pub mod delimiter;
pub(crate) mod fields;
pub mod frame;
pub mod header;
pub mod message;
pub mod reference;
pub mod shape;
pub mod v1;
pub mod v2;

#[cfg(test)]
mod tests;
