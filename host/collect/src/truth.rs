//! The truth about packets, where it is known: by matching them one by one, or from a board that made them.

use deltaline_capture::matching;
use deltaline_estimate::quantity::{Definition, Number, Quantity, Unit};
use deltaline_estimate::{Reason, Rounding};
use deltaline_model::board;

/// Exact numbers of the packets between two points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exact {
    /// Packets sent.
    pub sent: u64,
    /// Packets received.
    pub received: u64,
    /// Packets lost.
    pub lost: u64,
    /// Their delays, if any packet was received.
    pub delay: Option<Delay>,
    /// What of it is a guess.
    pub guesses: Guesses,
}

/// Packets that look like others, of which the truth is a guess.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guesses {
    /// Received packets whose own delays are.
    pub alike: u64,
    /// Those of them of which one end has more, so that the sum of their delays is, too.
    pub uneven: u64,
    /// Whether they are of one interval among others: then it is a guess in which of them a packet was lost.
    pub is_part: bool,
}

/// One packet in how many may be a guess, before what hangs on it is refused.
const GUESSED: u64 = 1000;

/// Exact delays in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delay {
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, with the number of packets as divisor.
    pub deviation: f64,
    /// The least.
    pub least: i64,
    /// The greatest.
    pub greatest: i64,
}

static SENT: Definition = Definition::new("sent", "sent", Unit::Packets);
static RECEIVED: Definition = Definition { heading: None, ..Definition::new("received", "", Unit::Packets) };
static LOST: Definition = Definition::new("lost", "lost", Unit::Packets);
static MEAN: Definition = Definition::new("mean", "mean", Unit::Nanoseconds);
static DEVIATION: Definition = Definition::new("std", "deviation", Unit::Nanoseconds);
static LEAST: Definition = Definition::new("min", "minimum", Unit::Nanoseconds);
static GREATEST: Definition = Definition::new("max", "maximum", Unit::Nanoseconds);

/// What is known of the stamps that delays are differences of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamps {
    /// Whether wrong ones are among them.
    pub are_wrong: bool,
    /// What they are multiples of.
    pub rounding: Rounding,
}

impl Exact {
    /// The mean delay in nanoseconds.
    ///
    /// # Errors
    ///
    /// Why it is not known.
    pub fn mean(&self, stamps: Stamps) -> Result<f64, Reason> {
        self.unless_guessed(self.guesses.uneven).and(self.average(stamps)).map(|delay| delay.mean)
    }

    /// The standard deviation of the delays in nanoseconds, without what rounding adds.
    ///
    /// # Errors
    ///
    /// Why it is not known.
    pub fn deviation(&self, stamps: Stamps) -> Result<f64, Reason> {
        let delay = self.unless_guessed(self.guesses.alike).and(self.average(stamps))?;
        stamps.rounding.without(delay.deviation).ok_or(Reason::Rounded)
    }

    /// Refuses what hangs on so many guesses.
    fn unless_guessed(&self, guesses: u64) -> Result<(), Reason> {
        if guesses > self.received / GUESSED { Err(Reason::Guessed) } else { Ok(()) }
    }

    /// The delays, for what all of them go into; the least and the greatest show wrong stamps.
    fn average(&self, stamps: Stamps) -> Result<Delay, Reason> {
        if stamps.are_wrong { Err(Reason::WildStamps) } else { self.delay.ok_or(Reason::NothingReceived) }
    }

    /// The least delay and the greatest in nanoseconds, if any packet was received.
    pub fn extremes(&self) -> impl Iterator<Item = i64> + use<> {
        self.delay.into_iter().flat_map(|delay| [delay.least, delay.greatest])
    }

    /// The numbers as quantities.
    pub fn quantities(&self, stamps: Stamps) -> Vec<Quantity> {
        let Exact { sent, received, lost, delay, guesses } = *self;
        let is_known = self.unless_guessed(if guesses.is_part { guesses.uneven } else { 0 });
        let count = |what, packets| Quantity::new(what, is_known.map(|()| Number::Count(packets)));
        let extreme = |what, number: fn(Delay) -> i64| {
            let delay = self.unless_guessed(guesses.alike).and(delay.ok_or(Reason::NothingReceived));
            Quantity::new(what, delay.map(number).map(Number::Whole))
        };
        vec![
            Quantity::count(&SENT, sent),
            count(&RECEIVED, received),
            Quantity { samples: Some(sent), ..count(&LOST, lost) },
            Quantity::new(&MEAN, self.mean(stamps).map(Number::Real)),
            Quantity::new(&DEVIATION, self.deviation(stamps).map(Number::Real)),
            extreme(&LEAST, |delay| delay.least),
            extreme(&GREATEST, |delay| delay.greatest),
        ]
    }

    /// The same as one interval of several.
    pub fn as_part(self, of_several: bool) -> Self {
        Exact { guesses: Guesses { is_part: of_several, ..self.guesses }, ..self }
    }

    /// What a board counted, with so many picoseconds in its clock's cycle.
    pub fn of_board(truth: &board::Truth, cycle: u32) -> Self {
        let received = u64::from(truth.received);
        let nanoseconds = |cycles: f64| cycles * (f64::from(cycle) / 1000.0);
        let count = f64::from(truth.received);
        // In whole numbers, so that a small deviation of a large mean is right.
        let variance = (u128::from(received) * u128::from(truth.squares))
            .saturating_sub(u128::from(truth.sum) * u128::from(truth.sum)) as f64;
        let delay = Delay {
            mean: nanoseconds(truth.sum as f64 / count),
            deviation: nanoseconds(variance.sqrt() / count),
            least: nanoseconds(truth.least.into()) as i64,
            greatest: nanoseconds(truth.greatest.into()) as i64,
        };
        Exact {
            sent: truth.sent.into(),
            received,
            lost: truth.lost.into(),
            delay: (received > 0).then_some(delay),
            guesses: Guesses::default(),
        }
    }
}

impl From<matching::Truth> for Exact {
    fn from(truth: matching::Truth) -> Self {
        let matching::Truth { sent, received, lost, delay, alike, uneven } = truth;
        let delay = delay.map(|delay| Delay {
            mean: delay.mean_ns,
            deviation: delay.std_ns,
            least: delay.min_ns,
            greatest: delay.max_ns,
        });
        Exact { sent, received, lost, delay, guesses: Guesses { alike, uneven, is_part: false } }
    }
}
