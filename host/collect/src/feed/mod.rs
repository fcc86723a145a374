//! Feeds: what boards and measurement points say, live or from a recording.
//!
//! [`Source::open`] finds out what is of a name:
//!
//! | name | feed | what comes |
//! |------|------|------------|
//! | a terminal device, such as `/dev/ttyUSB1` | [`Serial`]: a board's line, [`deltaline_model::board`] | control frames, truth, identities; commands go back |
//! | a network interface, such as `eth0` | [`Interface`]: its frames of our EtherType, also behind VLAN tags | frames |
//! | any other file | [`Recording`]: a capture, or the bytes of a serial line | as of an interface or a line |
//!
//! Each is a [`Feed`], which hands out one [`Event`] after the other.
//!
//! # Test plan
//!
//! A pseudo-terminal: messages cut anywhere into pieces, garbage between them, the other end closing and coming back
//! under the same name. The same bytes from a file. Captures as from [`deltaline_capture::Capture`]. Frames over the
//! loopback interface, sent by [`Sender`], where the test may open it. Names of nothing, of a busy port, of a device that
//! is no terminal: each refused with its own reason.

mod error;
mod event;
mod interface;
mod line;
mod packet_socket;
mod recorder;
mod recording;
mod serial;
mod source;
#[cfg(test)]
mod tests;

pub use error::FeedError;
pub use event::{Bad, Event, Feed, WAIT};
pub use interface::{Interface, Sender};
pub use recording::Recording;
pub use serial::Serial;
pub use source::Source;
