//! Where control frames come from, as one interface, and what comes.

use super::error::FeedError;
use deltaline_model::board::framing::FramingError;
use deltaline_model::board::{Identity, MessageError, Truth};
use std::time::Duration;
use thiserror::Error;

/// The longest that [`Feed::next_event`] waits.
pub const WAIT: Duration = Duration::from_millis(100);

/// Where control frames come from.
///
/// A live feed that vanishes is [`Event::Lost`], is opened again whenever that is possible, and then
/// [`Event::Restored`]; what was under way at that moment is lost.
pub trait Feed {
    /// What comes next. It never waits longer than [`WAIT`], so that the caller can look after other things.
    ///
    /// # Errors
    ///
    /// Of a recording alone; live feeds are [`Event::Lost`].
    fn next_event(&mut self) -> Result<Event, FeedError>;
}

/// What comes of a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An Ethernet frame, from its destination MAC address on: a control frame or a foreign one.
    Frame {
        /// The frame.
        bytes: Vec<u8>,
        /// When it was captured, in nanoseconds since the Unix epoch; of a capture file or an interface.
        captured: Option<u64>,
    },
    /// What happened in an interval, of a board that knows.
    Truth(Truth),
    /// Which board speaks.
    Identity(Identity),
    /// Bytes that are no message.
    Bad(Bad),
    /// Nothing came within [`WAIT`].
    Idle,
    /// The feed has vanished; it is looked for.
    Lost(String),
    /// The feed is back.
    Restored,
    /// The recording is over.
    End,
}

/// What is wrong with bytes of a serial line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Bad {
    /// They are no message.
    #[error(transparent)]
    Framing(#[from] FramingError),
    /// They are a message that nobody knows.
    #[error(transparent)]
    Message(#[from] MessageError),
}
