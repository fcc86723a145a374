//! The truth about packets, where it is known: by matching them one by one, or from a board that made them.

use deltaline_capture::matching;
use deltaline_estimate::Reason;
use deltaline_estimate::quantity::{Definition, Number, Quantity, Unit};
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
}

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

impl Exact {
    /// The numbers as quantities.
    pub fn quantities(&self) -> Vec<Quantity> {
        let Exact { sent, received, lost, delay } = *self;
        let of = |what, number: fn(Delay) -> Number| {
            Quantity::new(what, delay.map(number).ok_or(Reason::NothingReceived))
        };
        vec![
            Quantity::count(&SENT, sent),
            Quantity::count(&RECEIVED, received),
            Quantity { samples: Some(sent), ..Quantity::count(&LOST, lost) },
            of(&MEAN, |delay| Number::Real(delay.mean)),
            of(&DEVIATION, |delay| Number::Real(delay.deviation)),
            of(&LEAST, |delay| Number::Whole(delay.least)),
            of(&GREATEST, |delay| Number::Whole(delay.greatest)),
        ]
    }

    /// The numbers where packets have wrong stamps: these are in mean and deviation, while the least and the greatest delay show them.
    pub fn quantities_of_wrong_stamps(&self) -> Vec<Quantity> {
        let spoilt =
            |each: &Quantity| [&MEAN, &DEVIATION].into_iter().any(|what| std::ptr::eq(what, each.what));
        let refused = |each: Quantity| match spoilt(&each) {
            true => Quantity::new(each.what, Err(Reason::WildStamps)),
            false => each,
        };
        self.quantities().into_iter().map(refused).collect()
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
        }
    }
}

impl From<matching::Truth> for Exact {
    fn from(truth: matching::Truth) -> Self {
        let matching::Truth { sent, received, lost, delay } = truth;
        let delay = delay.map(|delay| Delay {
            mean: delay.mean_ns,
            deviation: delay.std_ns,
            least: delay.min_ns,
            greatest: delay.max_ns,
        });
        Exact { sent, received, lost, delay }
    }
}
