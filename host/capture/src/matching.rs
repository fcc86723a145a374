//! Matching: which packet of the receiver's capture is which of the sender's.
//!
//! The truth that estimates are compared with. Packets are recognised by their whole key ([`identity::identify`]),
//! not by a hash of it, and nothing is estimated. Where several packets of a capture share a key, the k-th of the
//! sender's is taken for the k-th of the receiver's: right unless one of them was lost or overtook another, which
//! the captures do not show; [`End::duplicates`] says how many packets that concerns.
//!
//! A packet is named by its *index*: its position in its capture, from 0, all packets counted.
//!
//! # Test plan
//!
//! Random small captures against a matcher that compares each packet with each other; hand-made cases of loss,
//! duplication, reordering and unmeasured packets; statistics against closed forms and against the definition in
//! another form; the shipped capture and, where the data are at hand, the full recording, against figures that
//! were computed by other means.

use crate::error::CaptureError;
use crate::packet::PacketRef;
use crate::reading::Capture;
use crate::reordering::Reordering;
use deltaline_model::packet::identity::{self, KEY_BYTES, Key, PAYLOAD_WORD};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ops::{Bound, Range, RangeBounds};

/// A capture, reduced to what matching needs.
#[derive(Clone, Debug, Default)]
pub struct Observations {
    /// Per packet: its timestamp in nanoseconds since the Unix epoch, and its key if it is one to be measured.
    packets: Vec<(u64, Option<Key>)>,
    truncated: u64,
    cut: u64,
}

impl Observations {
    /// Reads a capture to its end.
    ///
    /// # Errors
    ///
    /// As [`Capture::next_packet`].
    pub fn read(capture: &mut Capture) -> Result<Self, CaptureError> {
        let mut observations = Observations::default();
        while let Some(packet) = capture.next_packet()? {
            observations.take(packet);
        }
        Ok(observations)
    }

    /// Appends a packet of a capture.
    pub fn take(&mut self, packet: PacketRef<'_>) {
        self.cut += u64::from(packet.has_cut_headers());
        self.push(packet.timestamp, packet.data);
    }

    /// Appends a whole packet: `timestamp` in nanoseconds since the Unix epoch, `frame` from its destination MAC address
    /// on.
    pub fn push(&mut self, timestamp: u64, frame: &[u8]) {
        let identity = identity::identify(frame).ok();
        self.truncated += u64::from(identity.is_some_and(|identity| identity.truncated));
        self.packets.push((timestamp, identity.map(|identity| identity.key)));
    }

    /// The timestamps of all packets in nanoseconds since the Unix epoch, by index.
    pub fn timestamps(&self) -> impl ExactSizeIterator<Item = u64> {
        self.packets.iter().map(|&(timestamp, _)| timestamp)
    }

    /// The keys of all packets, by index; none of packets that are not measured.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = Option<Key>> {
        self.packets.iter().map(|(_, key)| *key)
    }

    /// Forgets all packets but these.
    pub fn keep(&mut self, packets: Range<usize>) {
        self.packets.truncate(packets.end);
        self.packets.drain(..packets.start.min(self.packets.len()));
    }

    /// The measured packets.
    fn measured(&self) -> impl Iterator<Item = (usize, &Key)> {
        self.packets.iter().enumerate().filter_map(|(index, (_, key))| Some((index, key.as_ref()?)))
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

    // Per key, its packets at the receiver as a linked list: first and last here, the links beside.
    let mut waiting: HashMap<&Key, (Option<usize>, usize)> = HashMap::with_capacity(receiver.packets.len());
    let mut following: Vec<Option<usize>> = vec![None; receiver.packets.len()];
    for (index, key) in receiver.measured() {
        match waiting.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert((Some(index), index));
            }
            Entry::Occupied(mut entry) => {
                let (_, last) = entry.get_mut();
                following[*last] = Some(index);
                *last = index;
            }
        }
    }

    let mut is_known = vec![false; receiver.packets.len()];
    for (index, key) in sender.measured() {
        let Some(arrived) = waiting.get_mut(key).and_then(|(first, _)| {
            let arrived = *first;
            *first = arrived.and_then(|arrived| following[arrived]);
            arrived
        }) else {
            matching.lost.push(index);
            continue;
        };
        is_known[arrived] = true;
        let delay = delay_between(sender.packets[index].0, receiver.packets[arrived].0);
        matching.pairs.push(Pair { sender: index, receiver: arrived, delay });
    }
    matching
        .receiver_only
        .extend(receiver.measured().map(|(index, _)| index).filter(|&index| !is_known[index]));
    let reordering = reordering(&matching.pairs, sender, receiver);
    (matching.reordered, matching.reordered_overall) = (reordering.in_flow, reordering.overall);
    matching
}

/// Time of arrival minus that of sending, cut to ±292 years.
pub(crate) fn delay_between(sent: u64, arrived: u64) -> i64 {
    (i128::from(arrived) - i128::from(sent)).clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// How many packets of `pairs` arrived after one that was sent later.
pub fn reordering(pairs: &[Pair], sender: &Observations, receiver: &Observations) -> Reordering {
    Reordering::of(pairs.iter().filter_map(|pair| {
        let (sent, key) = sender.packets.get(pair.sender)?;
        let (arrived, _) = receiver.packets.get(pair.receiver)?;
        Some((*arrived, *sent, pair.sender, flow(key.as_ref()?)))
    }))
}

/// IP version, protocol, addresses, and the ports of protocols that have them.
pub(crate) type Flow = [u8; 38];

fn flow(key: &Key) -> Flow {
    flow_of(&key.to_bytes())
}

/// The flow of a packet with this key.
pub(crate) fn flow_of(key: &[u8; KEY_BYTES]) -> Flow {
    let mut flow = [0; 38];
    let is_ipv4 = key[0] >> 4 == 4;
    let protocol = if is_ipv4 { key[9] } else { key[6] };
    flow[0] = key[0] >> 4;
    flow[1] = protocol;
    if is_ipv4 {
        flow[2..10].copy_from_slice(&key[12..20]);
    } else {
        flow[2..34].copy_from_slice(&key[8..40]);
    }
    let is_later_fragment = is_ipv4 && (key[6] & 0x1f, key[7]) != (0, 0);
    // TCP, UDP, DCCP, SCTP, UDP-Lite.
    if matches!(protocol, 6 | 17 | 33 | 132 | 136) && !is_later_fragment {
        flow[34..].copy_from_slice(&key[4 * PAYLOAD_WORD..][..4]);
    }
    flow
}

impl Observations {
    fn end(&self) -> End {
        let mut seen: HashSet<&Key> = HashSet::with_capacity(self.packets.len());
        let mut end = End {
            packets: self.packets.len() as u64,
            truncated: self.truncated,
            cut: self.cut,
            ..End::default()
        };
        end.unmeasured = end.packets;
        for (_, key) in self.measured() {
            end.unmeasured -= 1;
            end.duplicates += u64::from(!seen.insert(key));
        }
        end
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
    pairs.for_each(|pair| tally.received(pair.delay));
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
}

impl Tally {
    /// A packet that did not arrive.
    pub(crate) fn lost(&mut self) {
        self.lost += 1;
    }

    /// A packet that arrived.
    pub(crate) fn received(&mut self, delay: i64) {
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
        let Tally { lost, received, sum, least, greatest, squares, .. } = self;
        let count = received as f64;
        let delay = (received > 0).then(|| Delay {
            mean_ns: sum as f64 / count,
            std_ns: (squares / count).sqrt(),
            min_ns: least,
            max_ns: greatest,
        });
        Truth { sent: received + lost, received, lost, delay }
    }
}

#[cfg(test)]
mod tests;
