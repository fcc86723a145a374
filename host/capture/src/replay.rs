//! Replay: two captures as two streams with delimiters in them.
//!
//! A measurement point in a path ends its intervals at delimiters that pass among the packets, so that an interval
//! holds the same packets at both ends. Captures hold no delimiters; [`Cuts`] says where they would have been.
//! A capture's stream is its packets in the order of the file.
//!
//! A delimiter is wanted at the sender's time start + k × length. It is put at the first place from there on where
//! no packet overtakes it: where all packets that were sent before it, and arrived, arrived before all that were
//! sent behind it. In the receiver's stream it then stands right behind the last that was sent before it, where a
//! FIFO would deliver it. Packets that look alike do not count in this as long as they are fewer than half of those that arrived: one
//! that is taken for another would seem to overtake everything in between. But where they keep the order, too, it stands behind those of them
//! that were sent before it. [`crossing`] says which of them lie in different intervals at the two ends all the same.
//!
//! # Test plan
//!
//! By hand: order kept, an inversion across the wanted place, loss at it, gaps, nothing. Random small streams: every
//! interval holds the same packets at both ends, and each cut is the first possible place. Look-alikes, in order and late. The shipped capture,
//! which has inversions: every pair lies in one interval.

use crate::matching::{Matching, Observations, Pair};
use std::ops::Range;
use thiserror::Error;

/// Most intervals that a pair of captures is cut into.
pub const MAX_INTERVALS: u64 = 100_000;

/// Where the delimiters stand in two streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cuts {
    /// The ends of all intervals: how many packets of the sender's and of the receiver's stream lie before them.
    ends: Vec<(usize, usize)>,
    postponed: usize,
}

/// Per place in the sender's stream, the first arrival of all of these packets that were sent at it or behind it.
fn first_behind<'a>(pairs: impl Iterator<Item = &'a Pair>, [sent, received]: [usize; 2]) -> Vec<usize> {
    let mut first_behind = vec![received; sent + 1];
    for pair in pairs {
        first_behind[pair.sender] = pair.receiver;
    }
    for place in (0..sent).rev() {
        first_behind[place] = first_behind[place].min(first_behind[place + 1]);
    }
    first_behind
}

/// Per interval, how many packets of these pairs it has at one end, and another interval at the other end.
pub fn crossing(spans: &[Span], pairs: &[Pair]) -> Vec<u64> {
    let mut crossing = vec![0; spans.len()];
    for pair in pairs {
        let sent = spans.partition_point(|span| span.sender.end <= pair.sender);
        let received = spans.partition_point(|span| span.receiver.end <= pair.receiver);
        for place in [sent, received].into_iter().filter(|_| sent != received) {
            crossing.get_mut(place).into_iter().for_each(|count| *count += 1);
        }
    }
    crossing
}

/// The packets of an interval, by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// In the sender's stream.
    pub sender: Range<usize>,
    /// In the receiver's stream.
    pub receiver: Range<usize>,
}

/// Why streams are not cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CutError {
    /// The length of an interval is zero.
    #[error("an interval of no length; give at least 1 ns")]
    NoLength,
    /// There would be too many intervals.
    #[error(
        "{0} intervals, at most {MAX_INTERVALS} are cut; give longer intervals, \
         and check the captures for wrong timestamps"
    )]
    TooMany(u64),
}

impl Cuts {
    /// Cuts two streams, of which `matching` is the matching, every `length` nanoseconds from the sender's first
    /// packet on.
    ///
    /// # Errors
    ///
    /// [`CutError`] when `length` is zero or the last packet lies [`MAX_INTERVALS`] or more lengths behind the first.
    pub fn in_band(
        sender: &Observations,
        receiver: &Observations,
        matching: &Matching,
        length: u64,
    ) -> Result<Self, CutError> {
        if length == 0 {
            return Err(CutError::NoLength);
        }
        let (sent, received) = (sender.timestamps().len(), receiver.timestamps().len());
        let alike = matching.pairs.iter().filter(|pair| pair.likeness.is_alike()).count();
        let is_certain = move |pair: &&Pair| !pair.likeness.is_alike() || 2 * alike >= matching.pairs.len();
        let first_behind = first_behind(matching.pairs.iter().filter(is_certain), [sent, received]);
        let first_of_all = self::first_behind(matching.pairs.iter(), [sent, received]);

        let mut cuts = Cuts { ends: vec![], postponed: 0 };
        let mut pairs = matching.pairs.iter().peekable();
        // Per delimiter that is due, the place where it was wanted.
        let mut wanted: Vec<usize> = vec![];
        let (mut arrived, mut arrived_of_all) = (0, 0);
        let start = sender.timestamps().next().unwrap_or(0);
        for (place, timestamp) in sender.timestamps().enumerate() {
            while let Some(pair) = pairs.next_if(|pair| pair.sender < place) {
                arrived_of_all = arrived_of_all.max(pair.receiver + 1);
                if is_certain(&pair) {
                    arrived = arrived.max(pair.receiver + 1);
                }
            }
            let due = timestamp.saturating_sub(start) / length;
            if due >= MAX_INTERVALS {
                return Err(CutError::TooMany(due.saturating_add(1)));
            }
            wanted.resize(wanted.len().max(due as usize), place);
            if arrived <= first_behind[place] {
                let in_order = arrived_of_all <= first_of_all[place];
                let before = cuts.ends.last().map_or(0, |(_, received)| *received);
                cuts.put(&wanted, (place, if in_order { arrived_of_all } else { arrived.max(before) }));
            }
        }
        let arrived = pairs.filter(is_certain).map(|pair| pair.receiver + 1).max().unwrap_or(0).max(arrived);
        let before = cuts.ends.last().map_or(0, |(_, received)| *received);
        cuts.put(&wanted, (sent, arrived.max(before)));
        cuts.ends.push((sent, received));
        Ok(cuts)
    }

    /// Puts all delimiters that are due to one place.
    fn put(&mut self, wanted: &[usize], place: (usize, usize)) {
        for wanted in &wanted[self.ends.len()..] {
            self.postponed = self.postponed.max(place.0 - wanted);
            self.ends.push(place);
        }
    }

    /// The intervals, of which there is at least one; together they are the two streams.
    pub fn spans(&self) -> impl ExactSizeIterator<Item = Span> {
        (0..self.ends.len()).map(|interval| {
            let before = interval.checked_sub(1).and_then(|before| self.ends.get(before));
            let (start, end) = (before.copied().unwrap_or_default(), self.ends[interval]);
            Span { sender: start.0..end.0, receiver: start.1..end.1 }
        })
    }

    /// By how many of the sender's packets a delimiter was put later than wanted, at most.
    pub fn postponed(&self) -> usize {
        self.postponed
    }
}

#[cfg(test)]
mod tests;
