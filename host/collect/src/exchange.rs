//! Exchange: two ends that remember their packets find out between them which were lost, and how long the others took.
//!
//! RDA paper, section VIII. Each end has the packets of an interval with the times at which it saw them; no packet's bytes go to the other end.
//! The sender asks, the receiver answers, interval by interval:
//!
//! ```text
//!   sender                                 receiver
//!     greeting, a number at random  ──────►
//!                                   ◄──────  greeting, a number at random, its first interval
//!     table of interval k?          ──────►
//!                                   ◄──────  control frames of an identity table
//!     a table of so many rows?      ──────►            ┐
//!                                   ◄──────  cells     │ until it is known
//!     more symbols?                 ──────►            │ which packets differ
//!                                   ◄──────  symbols   ┘
//!     have you seen these in k + 1? ──────►            ┐ where clocks cut the
//!                                   ◄──────  these     ┘ intervals
//!     when have you seen these?     ──────►
//!                                   ◄──────  times
//!     what is there to be said?     ──────►            at the end
//!                                   ◄──────  remarks
//! ```
//!
//! The first table is small. If it does not show which packets differ, its counts say how many they are, and both ends make a
//! [bound table](deltaline_estimate::difference::bound) for as many; should that fail, too, symbols until all come out.
//!
//! # Which interval a packet belongs to
//!
//! Where clocks cut the intervals, a packet in flight at an edge is in different intervals at the two ends. It belongs to the
//! one in which it was sent: the receiver looks for packets that the sender misses in its next interval and moves them, before that one's
//! turn comes; packets that came before their time, by the receiver's clock, it moves on. So an interval is ready
//! where the one behind it has begun. Around the first interval, the one before is looked into as well.
//! An end's first and last interval, cut by the recording, are left out; so are those of which, by delays that they show, packets may have
//! passed before a recording began or after it ended. Where delays by the ends' clocks are longer than an interval, either way, not all packets are
//! looked for where they are, and the interval is void. So is one of whose packets some turn up later, in an interval where nobody looked
//! for them: they were no lost ones. And so are those at a recording's end of which such a packet might still have come.
//!
//! Of packets that look alike on both sides of an edge, one may stand for another: where times do not tell them apart, the mean's bounds reach over
//! what that may change.
//!
//! # Stamps
//!
//! Where an end's times go back by a second or more, its control frames say that its clock was not locked, and the interval has no
//! delays. Neither end sees the other's stamps but those of packets that differ and of a sample: their units, and wild delays among them. What else an
//! end sees in its recording alone, such as packets that its recorder dropped, it says at the end ([`About`]).
//!
//! # Trust
//!
//! With a key, each frame has a tag ([`authentication`](deltaline_model::wire::authentication)), under a key of this conversation that comes of both
//! numbers at random: nothing of an earlier one can be repeated. Nothing is secret: hashes and times are for all to read. Whatever comes is
//! refused or understood; what is kept for it, how long it is waited for and how often it may ask are bounded:
//!
//! | | most |
//! |---|---|
//! | a frame | [`MOST_BYTES`](deltaline_model::wire::message::MOST_BYTES) |
//! | an answer or a question | [`MOST_SAID`] words |
//! | what an answering end says of an interval | [`MOST_ANSWERED`] words, [`MOST_QUESTIONS`] answers |
//! | symbols | [`MOST_SYMBOLS`](deltaline_estimate::difference::MOST_SYMBOLS) of an interval |
//! | packets in memory | [`MOST_HELD`] of each end, in four intervals |
//! | packets that one end alone has, whose other end may still come | 2^20 at the asking end |
//! | intervals in which the sender is silent, one after the other, that are asked for these | 16 |
//!
//! # Test plan
//!
//! Against the truth of made-up packets: lost ones, repeated ones, late and early ones at edges, ones that look alike
//! on both sides of them, none at all, clocks an interval apart, intervals that have nothing in common. Ends with different keys, none, other configurations. An end that sends
//! garbage or bytes at random, stops, drips, answers something else or twice, sends symbols for ever: left with the reason, in bounded time. Against `measure` and exact matching:
//! `host/cli/tests/exchange.rs`.

use deltaline_model::configuration::Configuration;
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::sketch::packet_cache::PacketCache;
use deltaline_model::time::AbsoluteTime;
use deltaline_model::wire::authentication::{Key, Keys, Unauthentic};
use deltaline_model::wire::frame::{FrameError, Role};
use nix::time::{ClockId, clock_gettime};
use std::io;
use std::time::Duration;
use thiserror::Error;

mod about;
mod alike;
mod answering;
mod asking;
mod channel;
mod intervals;
mod judging;
mod overdue;

pub use about::About;
pub use answering::answer;
pub use asking::{Asked, Spent, ask};

/// Most words of a question, or of an answer.
pub const MOST_SAID: usize = 1 << 23;
/// Most words that an end answers of one interval.
pub const MOST_ANSWERED: usize = 1 << 25;
/// Most questions of one interval that are answered.
pub const MOST_QUESTIONS: u32 = 1 << 12;

/// Most packets of an end that are in memory: 384 MiB.
pub const MOST_HELD: u64 = 1 << 24;

/// An end's recording.
pub trait Recording {
    /// The next interval that has packets, by its number, which rises; a recording without intervals is numbered by when it began, in seconds
    /// since the Unix epoch.
    fn next(&mut self) -> Option<(u64, PacketCache)>;

    /// What is to be said of all of it, once nothing more of it is asked for.
    fn about(&mut self) -> About {
        About::default()
    }
}

impl<F: FnMut() -> Option<(u64, PacketCache)>> Recording for F {
    fn next(&mut self) -> Option<(u64, PacketCache)> {
        self()
    }
}

/// What both ends have in common.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The configuration: an identity table without sampling and classes.
    pub configuration: Configuration,
    /// Length of the intervals that the clocks cut, in nanoseconds; zero where all packets are one interval, cut alike at both ends.
    pub length: u64,
    /// Of 2^n flows one is taken, the same ones at both ends: by `next`, which gives packets.
    pub flows: u8,
    /// The keys of the measurement; the asking end signs with the last one.
    pub keys: Option<Keys>,
    /// How long a frame may take.
    pub patience: Duration,
}

/// Why an end refuses to go on, as it says to the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum Refusal {
    /// The other's greeting is not authentic.
    #[error("it does not take our key: give both ends the same file of keys, or none")]
    Key,
    /// The configurations differ.
    #[error(
        "it is configured differently: synopsis, rows, hash, seed and segment must be the same at both ends"
    )]
    Configuration,
    /// The intervals' lengths differ.
    #[error("its intervals have another length: give both ends the same")]
    Length,
    /// More packets than are remembered.
    #[error(
        "its intervals have more packets than are remembered: take shorter ones, or a part of the traffic at both ends"
    )]
    Full,
    /// The shares of flows differ.
    #[error("it takes another share of the flows: give both ends the same")]
    Flows,
}

impl Refusal {
    const ALL: [Refusal; 5] =
        [Refusal::Key, Refusal::Configuration, Refusal::Length, Refusal::Full, Refusal::Flows];

    fn number(self) -> u64 {
        self as u64
    }
}

/// Why an exchange ends early.
#[derive(Debug, Error)]
pub enum ExchangeError {
    /// The connection.
    #[error("the connection fails: {0}")]
    Connection(io::Error),
    /// Nothing more came in time.
    #[error("the other end is silent; see whether it still runs, and give it more time")]
    Silent,
    /// The connection was closed amid the exchange.
    #[error("the other end has closed the connection; see what it says")]
    Closed,
    /// What came is no frame.
    #[error("the other end sends what is no message of an exchange: {0}")]
    Frame(FrameError),
    /// What came has no right tag.
    #[error("the other end's frame is refused: {0}")]
    Unauthentic(Unauthentic),
    /// What came is not what was asked for, or more than is allowed.
    #[error("the other end breaks the rules of an exchange: {0}; both ends must be of this release")]
    Rules(&'static str),
    /// The other end refuses.
    #[error("the other end refuses: {0}")]
    Refused(Refusal),
    /// Our own intervals are too large.
    #[error(
        "more than {MOST_HELD} packets would have to be remembered: take shorter intervals, or a part of the traffic at both ends, such as \
         --flows or --filter choose"
    )]
    Full,
    /// We refuse.
    #[error("the other end is refused: {0}")]
    Refuses(Refusal),
    /// No interval is whole at both ends.
    #[error(
        "no interval is whole at both ends: the sender's begin with {}, the receiver's with {}; see whether both \
         recorded at the same time, for at least three intervals, and whether their clocks agree, or take shorter intervals", first(.sender), first(.receiver)
    )]
    Apart {
        /// The sender's first interval.
        sender: Option<u64>,
        /// The receiver's first interval.
        receiver: Option<u64>,
    },
    /// Clocks apart, or a path that loses everything.
    #[error(
        "in no interval a packet was seen at both ends: either all were lost, or the ends' clocks are apart by more than some intervals; see \
         whether both recorded the same traffic, set the clocks alike, or take longer intervals"
    )]
    NothingInCommon,
}

fn first(interval: &Option<u64>) -> String {
    interval.map_or_else(|| "none".into(), |number| number.to_string())
}

/// What an exchange took of an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// Octets sent.
    pub sent: u64,
    /// Octets received.
    pub received: u64,
    /// Processor time of this end, without that of reading packets.
    pub processor: Duration,
    /// Symbols that went over the connection.
    pub symbols: u64,
    /// Cells of bound tables that did.
    pub cells: u64,
    /// Questions asked, or answered.
    pub questions: u64,
    /// Most packets that were in memory at once.
    pub packets: u64,
}

/// What an end's control frames say of its clock in an interval.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    /// When a recording without intervals began, as it has no numbers that tell clocks apart by more than packets' times do.
    began: Option<AbsoluteTime>,
    /// Whether packets' times go back by a second or more: then it was not locked.
    goes_back: bool,
}

/// The control frames of an end's table of these packets, the tag of which depends on interval and question. None if not all packets are known.
fn table(
    terms: &Terms,
    role: Role,
    key: Option<Key>,
    (interval, question): (u32, u32),
    packets: &PacketCache,
    clock: Clock,
) -> Option<Vec<Vec<u8>>> {
    let mut point = MeasurementPoint::new(&terms.configuration, role);
    point.set_key(key);
    point.set_time(clock.began);
    point.set_boot_epoch(question);
    point.resume_at(interval);
    point.recall(packets.sightings()?);
    if clock.goes_back {
        point.clock_unlocked();
    }
    let end = if terms.length > 0 { IntervalEnd::Request } else { IntervalEnd::Delimiter };
    let mut frames = vec![];
    point.end_interval(end, |frame| frames.push(frame.to_vec()));
    Some(frames)
}

/// Processor time of this thread so far.
fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

#[cfg(test)]
mod tests;
