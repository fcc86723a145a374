//! What goes over the wire: control frames and delimiters.

pub mod delimiter;
pub mod frame;
