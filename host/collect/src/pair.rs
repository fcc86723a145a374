//! An interval of a segment: two ends' reports, and how their rows compare.

use crate::report::Report;
use crate::verdict::{Doubt, Void};
use deltaline_model::sketch::cell::Row;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::Role;
use std::cmp::Ordering;
use std::time::Duration;

/// Times of the two ends, in nanoseconds, from which on they are too far apart: a sum of delays is known modulo 2^40, and delays may be some seconds greater
/// than those of the first packet and the last.
pub const CLOCKS_TOO_FAR: u64 = (1 << 39) - (1 << 33);

/// Packets' times are known modulo this, in nanoseconds.
const WRAP: i128 = 1 << 48;

/// An interval of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Number of the measurement segment.
    pub segment: u32,
    /// Number of the interval.
    pub number: u32,
    /// When its last new frame came, as [`Collector::advance`](crate::collector::Collector::advance) said.
    pub heard: Duration,
    /// What the sender reported, if any of its frames arrived.
    pub sender: Option<Report>,
    /// What the receiver reported, if any of its frames arrived.
    pub receiver: Option<Report>,
    /// Why the two reports must not be compared, unless they may.
    pub void: Option<Void>,
    /// What to keep in mind if they are.
    pub doubts: Vec<Doubt>,
    /// Whether all control frames had right tags.
    pub authenticated: bool,
}

/// Two reports that are whole and speak of the same packets.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// What the sender reported.
    pub sender: &'a Report,
    /// What the receiver reported.
    pub receiver: &'a Report,
}

impl Interval {
    /// The two reports, if they may be compared.
    ///
    /// # Errors
    ///
    /// Why they may not.
    pub fn pair(&self) -> Result<Pair<'_>, Void> {
        match (&self.sender, &self.receiver, &self.void) {
            (_, _, Some(void)) => Err(void.clone()),
            (Some(sender), Some(receiver), None) => Ok(Pair { sender, receiver }),
            (None, _, None) => Err(Void::MissingEnd { role: Role::Sender }),
            (_, None, None) => Err(Void::MissingEnd { role: Role::Receiver }),
        }
    }
}

/// How the two ends' rows compare, rows that are empty at both ends left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rows {
    /// Rows with as many packets at either end and, with digests, the same ones.
    pub equal: usize,
    /// Rows with as many packets at either end that are not the same by their digests.
    pub foreign: usize,
    /// Whether digests vouch for equal rows.
    pub vouched: bool,
    /// Rows with fewer packets at the receiver, as loss makes them.
    pub short: usize,
    /// Rows with more packets at the receiver, as only foreign or repeated packets make them.
    pub surplus: usize,
    /// The share of both ends' packets that only one end has, as the spread of the rows' differences shows it, within chance: 0 for the same
    /// packets, 1 for others.
    pub apart_share: f64,
    /// By how much at least both the first and the last packet are later at one and the same end, in nanoseconds. Packets' times are
    /// known modulo 2^48; where both ends say the absolute time, that tells how often they have wrapped, and otherwise this is at most
    /// 2^47. From [`CLOCKS_TOO_FAR`] on, sums have wrapped, small as they may look.
    pub apart: u64,
}

impl Pair<'_> {
    /// Compares the two ends' rows, which are these.
    pub fn rows<R: Row>(&self, sender: &[R], receiver: &[R]) -> Rows {
        let mut rows = Rows { apart: self.apart(), ..Rows::default() };
        for (sender, receiver) in sender.iter().zip(receiver) {
            match receiver.count().cmp(&sender.count()) {
                _ if sender.count() == 0 && receiver.count() == 0 => {}
                Ordering::Less => rows.short += 1,
                Ordering::Greater => rows.surplus += 1,
                Ordering::Equal if !sender.agrees(receiver) => rows.foreign += 1,
                Ordering::Equal => rows.equal += 1,
            }
        }
        let (mut spread, mut packets) = (0.0, 0.0);
        let bank = (self.sender.shape.table_cells as usize).max(1);
        for (sender, receiver) in sender.chunks(bank).zip(receiver.chunks(bank)) {
            let counts = sender.iter().zip(receiver).map(|(s, r)| [s.count(), r.count()].map(f64::from));
            let (sum, squares) = counts.clone().fold((0.0, 0.0), |(sum, squares), [sent, received]| {
                (sum + sent - received, squares + (sent - received).powi(2))
            });
            // What all rows have in common is the net loss; packets of either kind that fall into rows by chance do the rest.
            spread += squares - sum * sum / sender.len() as f64;
            packets += counts.flatten().sum::<f64>();
        }
        rows.apart_share = if packets > 0.0 { spread / packets } else { 0.0 };
        rows
    }

    /// The smaller one of what lies between the ends' first packets and between their last ones.
    fn apart(&self) -> u64 {
        let (sent, received) = (self.sender.totals, self.receiver.totals);
        if sent.packets == 0 || received.packets == 0 {
            return 0;
        }
        let first = self.between(sent.first, received.first);
        let last = self.between(sent.last, received.last);
        if (first < 0) == (last < 0) { first.unsigned_abs().min(last.unsigned_abs()) } else { 0 }
    }

    /// From a moment of the sender to one of the receiver, in nanoseconds.
    fn between(&self, sent: Timestamp, received: Timestamp) -> i64 {
        let nearest = received.nanoseconds_since(sent);
        let (Some(sender), Some(receiver)) = (self.sender.time, self.receiver.time) else { return nearest };
        if sender.base != receiver.base {
            return nearest;
        }
        let apart = (i128::from(receiver.seconds) - i128::from(sender.seconds)) * 1_000_000_000;
        // Intervals end near their packets: within half a turn.
        let turns = (apart - i128::from(nearest) + WRAP / 2).div_euclid(WRAP);
        (i128::from(nearest) + turns * WRAP).clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}

impl Rows {
    /// The same where all packets that differ are known: of those that were `sent` and `received`, so many are `lost` and so many `foreign`.
    pub(crate) fn with_known(self, [sent, received]: [u64; 2], lost: u64, foreign: u64) -> Self {
        let packets = sent.saturating_add(received).max(1);
        Rows {
            equal: sent.saturating_sub(lost) as usize,
            foreign: 0,
            vouched: true,
            short: lost as usize,
            surplus: foreign as usize,
            apart_share: lost.saturating_add(foreign) as f64 / packets as f64,
            ..self
        }
    }

    /// Whether rows that look equal are likely to hold other packets, because no digests vouch for them.
    ///
    /// Let losses and surplus packets fall into rows by chance: then of e equal rows s u / e have lost as many as they gained,
    /// where s rows fall short and u have a surplus. One such row in twenty intervals is taken for likely.
    pub fn may_hide_foreign_packets(&self) -> bool {
        !self.vouched && self.surplus > 0 && 20 * self.short * self.surplus >= self.equal
    }

    /// Whether the ends seem to have seen different packets, not the same ones with some lost.
    ///
    /// Loss alone leaves no row with a surplus. In two unrelated streams a row's surplus is as likely to be zero as
    /// to be one more or one less, so that rows with a surplus and rows that fall short are each at least about as
    /// many as those that are equal by chance. Half as many, and more than [`FEW_ROWS`], are taken for a proof.
    /// Digests tell equal counts of other packets apart, which speak for it as well. Where rows hold so many packets that each has lost or gained
    /// some, their differences are still smaller than those of unrelated streams, half of whose spread is asked for.
    ///
    pub fn are_unrelated(&self) -> bool {
        let uneven = self.short.min(self.surplus) + self.foreign;
        uneven > FEW_ROWS && uneven > self.equal / 2 && self.apart_share > 0.5
    }
}

/// As many rows with a surplus prove nothing: they may come from a few repeated packets.
pub const FEW_ROWS: usize = 4;
