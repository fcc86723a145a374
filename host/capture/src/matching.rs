//! Matching: which packet of the receiver's capture is which of the sender's.
//!
//! The truth that estimates are compared with. Packets are recognised by their whole key ([`identity::identify`]),
//! not by a hash of it, and nothing is estimated.
//!
//! Packets of a capture that share a key, *look-alikes*, cannot be known from each other. As many of them are matched as both ends have,
//! in order. Where one end has more, those are left that fit least: an expected delay, at first the median of the packets that are the
//! only ones with their key, follows those that are matched (half of the difference each time), and a packet is passed over if
//! the next one of its end is closer to it. This is right unless look-alikes overtake each other or vary in delay by more than the time
//! between them; [`End::duplicates`] says how many packets it concerns, [`Pair::likeness`] which.
//!
//! A packet is named by its *index*: its position in its capture, from 0, all packets counted.
//!
//! # Test plan
//!
//! Random small captures against a matcher that compares each packet with each other; hand-made cases of loss,
//! duplication, reordering and unmeasured packets; statistics against closed forms and against the definition in
//! another form; look-alikes with a loss, against what was sent; the shipped capture and, where the data are at hand, the full recording, against figures that
//! were computed by other means.

use crate::error::CaptureError;
use crate::packet::PacketRef;
use crate::reading::Capture;
use crate::reordering::Reordering;
use deltaline_model::packet::flow::{FLOW_BYTES, FlowKey};
use deltaline_model::packet::identity::{self, KEY_BYTES, Key};
use std::collections::TryReserveError;
use std::ops::{Bound, Range, RangeBounds};

/// A capture, reduced to what matching needs.
#[derive(Clone, Debug, Default)]
pub struct Observations {
    /// When each packet was recorded, in nanoseconds since the Unix epoch.
    times: Vec<u64>,
    /// The measured packets: index and key, by ascending index.
    measured: Vec<(usize, Key)>,
    truncated: u64,
    cut: u64,
}

impl Observations {
    /// Reads a capture to its end.
    ///
    /// # Errors
    ///
    /// As [`Capture::next_packet`]; [`CaptureError::Memory`].
    pub fn read(capture: &mut Capture) -> Result<Self, CaptureError> {
        let mut observations = Observations::default();
        while let Some(packet) = capture.next_packet()? {
            if observations.take(packet).is_err() {
                return Err(CaptureError::Memory { file: capture.file().into() });
            }
        }
        Ok(observations)
    }

    /// Appends a packet of a capture.
    ///
    /// # Errors
    ///
    /// There is no memory for it.
    pub fn take(&mut self, packet: PacketRef<'_>) -> Result<(), TryReserveError> {
        self.times.try_reserve(1)?;
        self.measured.try_reserve(1)?;
        self.cut += u64::from(packet.has_cut_headers());
        self.push(packet.timestamp, packet.data);
        Ok(())
    }

    /// Appends a whole packet: `timestamp` in nanoseconds since the Unix epoch, `frame` from its destination MAC address
    /// on.
    pub fn push(&mut self, timestamp: u64, frame: &[u8]) {
        let identity = identity::identify(frame).ok();
        self.truncated += u64::from(identity.is_some_and(|identity| identity.truncated));
        self.measured.extend(identity.map(|identity| (self.times.len(), identity.key)));
        self.times.push(timestamp);
    }

    /// The timestamps of all packets in nanoseconds since the Unix epoch, by index.
    pub fn timestamps(&self) -> impl ExactSizeIterator<Item = u64> {
        self.times.iter().copied()
    }

    /// The keys of all packets, by index; none of packets that are not measured.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = Option<Key>> {
        let mut measured = self.measured.iter().peekable();
        (0..self.times.len())
            .map(move |index| measured.next_if(|(place, _)| *place == index).map(|(_, key)| *key))
    }

    /// Forgets all packets but these, and of these the ones at the places `left_out`, which are in order.
    pub fn keep(&mut self, packets: Range<usize>, left_out: &[usize]) {
        let is_kept = |index: usize| packets.contains(&index) && left_out.binary_search(&index).is_err();
        self.measured.retain(|(index, _)| is_kept(*index));
        let before = |index: usize| packets.start + left_out.partition_point(|place| *place < index);
        self.measured.iter_mut().for_each(|(index, _)| *index -= before(*index));
        let mut index = 0;
        self.times.retain(|_| {
            index += 1;
            is_kept(index - 1)
        });
    }

    /// The measured packets by key, those of a key by index.
    fn by_key(&self) -> Vec<(&Key, usize)> {
        let mut packets: Vec<_> = self.measured.iter().map(|(index, key)| (key, *index)).collect();
        packets.sort_unstable();
        packets
    }

    fn key(&self, index: usize) -> Option<&Key> {
        let place = self.measured.binary_search_by_key(&index, |(index, _)| *index).ok()?;
        Some(&self.measured[place].1)
    }
}

/// A packet that was seen at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Its index in the sender's capture.
    pub sender: usize,
    /// Its index in the receiver's capture.
    pub receiver: usize,
    /// The receiver's timestamp minus the sender's, in nanoseconds: negative if the clocks disagree by more than
    /// the delay. Differences beyond ±292 years are cut to that.
    pub delay: i64,
    /// What other packets with the same key make doubtful.
    pub likeness: Likeness,
}

/// What other packets with a packet's key make doubtful of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Likeness {
    /// Nothing: there are none.
    Single,
    /// Which is which, of as many at either end.
    Even,
    /// Besides, which arrived: one end has more.
    Uneven,
}

impl Likeness {
    /// Of so many packets that were sent, and so many that were received.
    pub(crate) fn of(sent: usize, received: usize) -> Self {
        match (sent, received) {
            (1, 1) => Likeness::Single,
            _ if sent == received => Likeness::Even,
            _ => Likeness::Uneven,
        }
    }

    /// As it was written as a byte.
    pub(crate) fn from_byte(byte: u8) -> Self {
        let all = [Likeness::Single, Likeness::Even];
        all.into_iter().find(|likeness| *likeness as u8 == byte).unwrap_or(Likeness::Uneven)
    }

    /// Whether another packet of either capture has the same key, so that which is which is likely, not certain.
    pub fn is_alike(self) -> bool {
        self != Likeness::Single
    }
}

/// Counts of one end's packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// All packets of the capture.
    pub packets: u64,
    /// Packets that are not measured ([`identity::Unmeasured`]), and so take no part in the matching.
    pub unmeasured: u64,
    /// Those of them that the recorder cut before the end of their IP header ([`PacketRef::has_cut_headers`]).
    pub cut: u64,
    /// Measured packets of which the capture lacks bytes that belong to the key. If the ends have different snap
    /// lengths, these may look lost: recapture with at least [`identity::WINDOW_BYTES`] bytes.
    pub truncated: u64,
    /// Measured packets whose key an earlier one of the same capture has.
    pub duplicates: u64,
}

/// What became of every packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matching {
    /// The packets that arrived, by ascending index at the sender.
    pub pairs: Vec<Pair>,
    /// Indices of the sender's packets that did not arrive, ascending.
    pub lost: Vec<usize>,
    /// Indices of the receiver's packets that were never sent, ascending.
    pub receiver_only: Vec<usize>,
    /// Counts at the sender.
    pub sender: End,
    /// Counts at the receiver.
    pub receiver: End,
    /// Packets that arrived after a later sent one of their flow ([`crate::reordering`]).
    pub reordered: u64,
    /// Packets that arrived after a later sent one of any flow.
    pub reordered_overall: u64,
}

/// Finds, for each packet of the sender's capture, the same packet in the receiver's.
pub fn match_exactly(sender: &Observations, receiver: &Observations) -> Matching {
    let mut matching = Matching { sender: sender.end(), receiver: receiver.end(), ..Matching::default() };
    let (by_key, to_key) = (sender.by_key(), receiver.by_key());
    let group = |packets: &[(&Key, usize)], key: &Key| packets.partition_point(|(other, _)| *other <= key);
    let pair = |sent: usize, arrived: usize, likeness| Pair {
        sender: sent,
        receiver: arrived,
        delay: delay_between(sender.times[sent], receiver.times[arrived]),
        likeness,
    };
    let mut alike = vec![];
    let (mut sent, mut received) = (&by_key[..], &to_key[..]);
    while let Some(key) = sent.first().into_iter().chain(received.first()).map(|(key, _)| *key).min() {
        let (one, other);
        // A group is short as a rule.
        let end = |packets: &[(&Key, usize)]| match packets {
            [(first, _), (second, _), ..] if *first == key && *second == key => group(packets, key),
            [(first, _), ..] => usize::from(*first == key),
            [] => 0,
        };
        (one, sent) = sent.split_at(end(sent));
        (other, received) = received.split_at(end(received));
        matching.sender.duplicates += one.len().saturating_sub(1) as u64;
        matching.receiver.duplicates += other.len().saturating_sub(1) as u64;
        match (one, other) {
            ([(_, sent)], [(_, arrived)]) => matching.pairs.push(pair(*sent, *arrived, Likeness::Single)),
            (_, []) => matching.lost.extend(one.iter().map(|(_, index)| index)),
            ([], _) => matching.receiver_only.extend(other.iter().map(|(_, index)| index)),
            _ => alike.push((one, other)),
        }
    }
    let mut delays: Vec<i64> = matching.pairs.iter().map(|pair| pair.delay).collect();
    let middle = delays.len() / 2;
    let usual = (!delays.is_empty()).then(|| *delays.select_nth_unstable(middle).1);
    for (one, other) in alike {
        let times = |observations: &Observations, packets: &[(&Key, usize)]| -> Vec<u64> {
            packets.iter().map(|(_, index)| observations.times[*index]).collect()
        };
        for fate in align(&times(sender, one), &times(receiver, other), usual) {
            match fate {
                Fate::Received(sent, arrived) => {
                    matching.pairs.push(pair(
                        one[sent].1,
                        other[arrived].1,
                        Likeness::of(one.len(), other.len()),
                    ));
                }
                Fate::Lost(sent) => matching.lost.push(one[sent].1),
                Fate::Foreign(arrived) => matching.receiver_only.push(other[arrived].1),
            }
        }
    }
    matching.pairs.sort_unstable_by_key(|pair| pair.sender);
    matching.lost.sort_unstable();
    matching.receiver_only.sort_unstable();
    let reordering = reordering(&matching.pairs, sender, receiver);
    (matching.reordered, matching.reordered_overall) = (reordering.in_flow, reordering.overall);
    matching
}

/// What became of a look-alike, by its position among those of its key at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The sender's and the receiver's.
    Received(usize, usize),
    /// The sender's alone.
    Lost(usize),
    /// The receiver's alone.
    Foreign(usize),
}

/// Matches the packets of one key, of which these are the times at either end: in order, as many as both ends have. `usual` is the
/// delay that the first is expected to have, if anything is known of it.
pub fn align(sent: &[u64], received: &[u64], usual: Option<i64>) -> Vec<Fate> {
    let mut fates = Vec::with_capacity(sent.len().max(received.len()));
    let delay = |one: usize, other: usize| i128::from(delay_between(sent[one], received[other]));
    let mut expected = usual.map(i128::from);
    let (mut one, mut other) = (0, 0);
    while one < sent.len() && other < received.len() {
        let here = delay(one, other);
        let usual = *expected.get_or_insert(here);
        let is_closer = |next: i128| (next - usual).abs() < (here - usual).abs();
        let [left, there] = [sent.len() - one, received.len() - other];
        if left > there && is_closer(delay(one + 1, other)) {
            fates.push(Fate::Lost(one));
            one += 1;
        } else if there > left && is_closer(delay(one, other + 1)) {
            fates.push(Fate::Foreign(other));
            other += 1;
        } else {
            fates.push(Fate::Received(one, other));
            expected = Some(usual + (here - usual) / 2);
            (one, other) = (one + 1, other + 1);
        }
    }
    fates.extend((one..sent.len()).map(Fate::Lost));
    fates.extend((other..received.len()).map(Fate::Foreign));
    fates
}

/// Time of arrival minus that of sending, cut to ±292 years.
pub(crate) fn delay_between(sent: u64, arrived: u64) -> i64 {
    (i128::from(arrived) - i128::from(sent)).clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// How many packets of `pairs` arrived after one that was sent later.
pub fn reordering(pairs: &[Pair], sender: &Observations, receiver: &Observations) -> Reordering {
    Reordering::of(pairs.iter().filter_map(|pair| {
        let (sent, arrived) = (sender.times.get(pair.sender)?, receiver.times.get(pair.receiver)?);
        Some((*arrived, *sent, pair.sender, flow(sender.key(pair.sender)?)))
    }))
}

/// A flow's bytes: IP version, protocol, addresses, and the ports of protocols that have them.
pub type Flow = [u8; FLOW_BYTES];

/// The flow of a packet.
pub fn flow(key: &Key) -> Flow {
    FlowKey::of(key).to_bytes()
}

/// The flow of a packet with this key.
pub(crate) fn flow_of(key: &[u8; KEY_BYTES]) -> Flow {
    flow(&(*key).into())
}

impl Observations {
    /// Counts of the packets, but for duplicates.
    fn end(&self) -> End {
        let packets = self.times.len() as u64;
        let unmeasured = packets - self.measured.len() as u64;
        End { packets, unmeasured, truncated: self.truncated, cut: self.cut, duplicates: 0 }
    }
}

/// The true figures of some of the sender's packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// Measured packets that were sent.
    pub sent: u64,
    /// Those of them that arrived.
    pub received: u64,
    /// Those of them that did not.
    pub lost: u64,
    /// The delays of those that arrived; `None` if none did.
    pub delay: Option<Delay>,
    /// Those that arrived and look like others: their single delays are guesses.
    pub alike: u64,
    /// Those of them of which one end has more, so that the sum of their delays is a guess as well.
    pub uneven: u64,
}

/// The true delays of some packets, receiver minus sender, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delay {
    /// Their mean.
    pub mean_ns: f64,
    /// Their standard deviation as a population: the root of the mean squared distance from the mean.
    pub std_ns: f64,
    /// The smallest.
    pub min_ns: i64,
    /// The largest.
    pub max_ns: i64,
}

impl Matching {
    /// The truth about the packets whose index at the sender is in `range`; `..` for all.
    pub fn truth(&self, range: impl RangeBounds<usize>) -> Truth {
        let first = match range.start_bound() {
            Bound::Included(&first) => first,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let is_before_end = |index: usize| match range.end_bound() {
            Bound::Included(&last) => index <= last,
            Bound::Excluded(&end) => index < end,
            Bound::Unbounded => true,
        };
        let pairs = &self.pairs[self.pairs.partition_point(|pair| pair.sender < first)..];
        let pairs = &pairs[..pairs.partition_point(|pair| is_before_end(pair.sender))];
        let lost = &self.lost[self.lost.partition_point(|&index| index < first)..];
        let lost = lost.partition_point(|&index| is_before_end(index));
        truth(pairs.iter(), lost as u64)
    }

    /// The truth about the packets for whose index at the sender `belongs` says true: for instance those of an
    /// interval, by their timestamps, in a capture that is not strictly in order of time.
    pub fn truth_where(&self, belongs: impl Fn(usize) -> bool) -> Truth {
        let lost = self.lost.iter().filter(|&&index| belongs(index)).count();
        truth(self.pairs.iter().filter(|pair| belongs(pair.sender)), lost as u64)
    }
}

fn truth<'a>(pairs: impl Iterator<Item = &'a Pair>, lost: u64) -> Truth {
    let mut tally = Tally { lost, ..Tally::default() };
    for pair in pairs {
        tally.received(pair.delay, pair.likeness);
    }
    tally.truth()
}

/// Packets as they come, added up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    lost: u64,
    received: u64,
    sum: i128,
    least: i64,
    greatest: i64,
    /// The first delay, from which the others are counted so that no digits are lost.
    first: i64,
    /// Their running mean, and the sum of squared distances from it (Welford).
    mean: f64,
    squares: f64,
    /// As [`Truth`] has them.
    alike: u64,
    uneven: u64,
}

impl Tally {
    /// A packet that did not arrive.
    pub(crate) fn lost(&mut self) {
        self.lost += 1;
    }

    /// A packet that arrived.
    pub(crate) fn received(&mut self, delay: i64, likeness: Likeness) {
        self.alike += u64::from(likeness.is_alike());
        self.uneven += u64::from(likeness == Likeness::Uneven);
        if self.received == 0 {
            (self.first, self.least, self.greatest) = (delay, delay, delay);
        }
        self.received += 1;
        self.sum += i128::from(delay);
        (self.least, self.greatest) = (self.least.min(delay), self.greatest.max(delay));
        let delay = (i128::from(delay) - i128::from(self.first)) as f64;
        let distance = delay - self.mean;
        self.mean += distance / self.received as f64;
        self.squares += distance * (delay - self.mean);
    }

    /// What they are together.
    pub(crate) fn truth(self) -> Truth {
        let Tally { lost, received, sum, least, greatest, squares, alike, uneven, .. } = self;
        let count = received as f64;
        let delay = (received > 0).then(|| Delay {
            mean_ns: sum as f64 / count,
            std_ns: (squares / count).sqrt(),
            min_ns: least,
            max_ns: greatest,
        });
        Truth { sent: received + lost, received, lost, delay, alike, uneven }
    }
}

#[cfg(test)]
mod tests;
