//! Exact matching of captures of any length, in bounded memory.
//!
//! What [`crate::matching`] and [`crate::replay`] find with everything in memory, [`Matcher`] finds by sorting records of the
//! packets, which are in temporary files where they are many (about 350 bytes a packet of the sender in all, in the
//! folder `TMPDIR`, or `/var/tmp`):
//!
//! | sorted by | shows |
//! |---|---|
//! | key and index, at each end | which packet is which: within a key, the k-th is the k-th; what is left was lost, or never sent |
//! | index at the receiver | the rank of each packet among those that arrived |
//! | index at the sender | intervals: before a place that no packet overtakes, the first m to be sent have the first m ranks |
//! | arrival; flow and arrival | packets that arrived after a later sent one |
//!
//! # Test plan
//!
//! Random small captures with memory for all and for a few records: the same as `matching` and `replay` in memory, in every
//! number. The program's tests run it on a pair of captures that does not fit into the memory that it may have.

use crate::matching::{End, Flow, Tally, Truth, delay_between, flow_of};
use crate::packet::PacketRef;
use crate::replay::{CutError, MAX_INTERVALS};
use crate::sorting::{Sorted, Sorter};
use deltaline_model::packet::identity::{self, KEY_BYTES};
use std::collections::VecDeque;
use std::io;
use thiserror::Error;

/// Bytes of memory for the records of one order; six orders are never there at once.
const MEMORY: usize = 8 << 20;

/// Bytes of a number.
const NUMBER: usize = 8;
/// Key, index and timestamp.
const KEYED: usize = KEY_BYTES + 2 * NUMBER;
/// Index at the receiver, index at the sender, time of sending, time of arrival.
const PAIRED: usize = 4 * NUMBER;
/// Index at the sender, time of sending, what became of it, time of arrival, rank.
const SENT: usize = 4 * NUMBER + 1;
/// Time of arrival, time of sending.
const ARRIVED: usize = 2 * NUMBER;
/// Flow, time of arrival, time of sending.
const FLOWING: usize = size_of::<Flow>() + ARRIVED;

/// What became of a packet of the sender.
const UNMEASURED: u8 = 0;
const LOST: u8 = 1;
const RECEIVED: u8 = 2;

/// Why captures cannot be matched.
#[derive(Debug, Error)]
pub enum MatchError {
    /// Temporary files cannot be written or read.
    #[error(
        "temporary files cannot be written or read: {0}; set TMPDIR to a folder with about 350 bytes for each packet"
    )]
    Files(#[from] io::Error),
    /// The captures cannot be cut into intervals.
    #[error(transparent)]
    Cut(#[from] CutError),
}

/// What came of two captures.
#[derive(Clone, Debug, PartialEq)]
pub struct Matched {
    /// All packets.
    pub overall: Truth,
    /// The packets of each interval, of which there is at least one.
    pub intervals: Vec<Truth>,
    /// By how many of the sender's packets an interval's end was put later than wanted, at most.
    pub postponed: u64,
    /// Measured packets of the receiver that were never sent.
    pub receiver_only: u64,
    /// Packets that arrived before they were sent.
    pub negative: u64,
    /// As [`crate::matching::Matching::reordered`].
    pub reordered: u64,
    /// As [`crate::matching::Matching::reordered_overall`].
    pub reordered_overall: u64,
    /// Counts at the sender.
    pub sender: End,
    /// Counts at the receiver.
    pub receiver: End,
}

/// Takes two captures and matches them.
pub struct Matcher {
    memory: usize,
    sender: Recorded,
    receiver: Recorded,
    by_sender: Sorter<SENT>,
}

/// One end's packets.
struct Recorded {
    end: End,
    by_key: Sorter<KEYED>,
}

impl Default for Matcher {
    fn default() -> Self {
        Matcher::new(MEMORY)
    }
}

impl Matcher {
    /// A matcher whose orders take about so many bytes of memory each.
    fn new(memory: usize) -> Self {
        let recorded = || Recorded { end: End::default(), by_key: Sorter::new(memory) };
        Matcher { memory, sender: recorded(), receiver: recorded(), by_sender: Sorter::new(memory) }
    }

    /// Takes the sender's next packet.
    ///
    /// # Errors
    ///
    /// [`MatchError::Files`].
    pub fn sent(&mut self, packet: PacketRef<'_>) -> Result<(), MatchError> {
        let index = self.sender.end.packets;
        if !self.sender.take(packet)? {
            self.by_sender.push(sent(index, packet.timestamp, UNMEASURED, 0, 0))?;
        }
        Ok(())
    }

    /// Takes the receiver's next packet.
    ///
    /// # Errors
    ///
    /// [`MatchError::Files`].
    pub fn received(&mut self, packet: PacketRef<'_>) -> Result<(), MatchError> {
        self.receiver.take(packet)?;
        Ok(())
    }

    /// Matches what was taken, and cuts it into intervals of so many nanoseconds as [`crate::replay::Cuts`] does; without
    /// a length there is one.
    ///
    /// # Errors
    ///
    /// [`MatchError`].
    pub fn finish(self, length: Option<u64>) -> Result<Matched, MatchError> {
        let Matcher { memory, sender, receiver, mut by_sender } = self;
        let (mut sender_end, mut receiver_end) = (sender.end, receiver.end);
        let mut sent_keys = Keys::new(sender.by_key)?;
        let mut received_keys = Keys::new(receiver.by_key)?;
        let mut by_receiver = Sorter::<PAIRED>::new(memory);
        let mut by_arrival = Sorter::<ARRIVED>::new(memory);
        let mut by_flow = Sorter::<FLOWING>::new(memory);
        let mut receiver_only = 0;
        loop {
            let order = match (&sent_keys.next, &received_keys.next) {
                (None, None) => break,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some(one), Some(other)) => one[..KEY_BYTES].cmp(&other[..KEY_BYTES]),
            };
            let one = if order.is_le() { sent_keys.advance()? } else { None };
            let other = if order.is_ge() { received_keys.advance()? } else { None };
            match (one, other) {
                (Some(one), Some(other)) => {
                    let ([index, time], [there, arrival]) = (packet(&one), packet(&other));
                    by_receiver.push(packed(&[
                        &bytes(there),
                        &bytes(index),
                        &bytes(time),
                        &bytes(arrival),
                    ]))?;
                    by_arrival.push(packed(&[&bytes(arrival), &bytes(time)]))?;
                    let key = one.first_chunk::<KEY_BYTES>().unwrap_or(&[0; KEY_BYTES]);
                    by_flow.push(packed(&[&flow_of(key), &bytes(arrival), &bytes(time)]))?;
                }
                (Some(one), None) => {
                    let [index, time] = packet(&one);
                    by_sender.push(sent(index, time, LOST, 0, 0))?;
                }
                _ => receiver_only += 1,
            }
        }
        sender_end.duplicates = sent_keys.again;
        receiver_end.duplicates = received_keys.again;
        let (reordered, reordered_overall) = (late::<FLOWING>(by_flow)?, late::<ARRIVED>(by_arrival)?);

        let (mut rank, mut arrivals) = (0, by_receiver.sorted()?);
        while let Some(record) = arrivals.next()? {
            let [index, time, arrival] = [1, 2, 3].map(|place| number(&record, place * NUMBER));
            by_sender.push(sent(index, time, RECEIVED, arrival, rank))?;
            rank += 1;
        }
        let Cut { overall, intervals, postponed, negative } =
            cut(by_sender.sorted()?, sender_end.packets, length)?;
        Ok(Matched {
            overall,
            intervals,
            postponed,
            receiver_only,
            negative,
            reordered,
            reordered_overall,
            sender: sender_end,
            receiver: receiver_end,
        })
    }
}

impl Recorded {
    /// Takes a packet; whether it is measured.
    fn take(&mut self, packet: PacketRef<'_>) -> io::Result<bool> {
        let index = self.end.packets;
        self.end.packets += 1;
        self.end.cut += u64::from(packet.has_cut_headers());
        let Ok(identity) = identity::identify(packet.data) else {
            self.end.unmeasured += 1;
            return Ok(false);
        };
        self.end.truncated += u64::from(identity.truncated);
        let key = identity.key.to_bytes();
        self.by_key.push(packed(&[&key, &bytes(index), &bytes(packet.timestamp)]))?;
        Ok(true)
    }
}

/// One end's packets by their keys.
struct Keys {
    sorted: Sorted<KEYED>,
    next: Option<[u8; KEYED]>,
    /// Packets whose key an earlier one has.
    again: u64,
}

impl Keys {
    fn new(sorter: Sorter<KEYED>) -> io::Result<Self> {
        let mut sorted = sorter.sorted()?;
        let next = sorted.next()?;
        Ok(Keys { sorted, next, again: 0 })
    }

    fn advance(&mut self) -> io::Result<Option<[u8; KEYED]>> {
        let next = self.sorted.next()?;
        let is_again = next.zip(self.next).is_some_and(|(one, other)| one[..KEY_BYTES] == other[..KEY_BYTES]);
        self.again += u64::from(is_again);
        Ok(std::mem::replace(&mut self.next, next))
    }
}

/// How many packets come after one that was sent later, of those with the same beginning; a record ends with the times of
/// arrival and of sending.
fn late<const N: usize>(sorter: Sorter<N>) -> io::Result<u64> {
    let (mut count, mut latest, mut group) = (0, 0, [0; N]);
    let mut sorted = sorter.sorted()?;
    while let Some(record) = sorted.next()? {
        if record[..N - ARRIVED] != group[..N - ARRIVED] {
            (group, latest) = (record, 0);
        }
        let time = number(&record, N - NUMBER);
        count += u64::from(time < latest);
        latest = latest.max(time);
    }
    Ok(count)
}

/// Intervals.
struct Cut {
    overall: Truth,
    intervals: Vec<Truth>,
    postponed: u64,
    negative: u64,
}

/// Cuts the sender's packets, which come in their order, wherever an end is due and no packet overtakes it.
fn cut(mut packets: Sorted<SENT>, count: u64, length: Option<u64>) -> Result<Cut, MatchError> {
    if length == Some(0) {
        return Err(CutError::NoLength.into());
    }
    let (mut overall, mut interval) = (Tally::default(), Tally::default());
    let (mut intervals, mut postponed, mut negative) = (vec![], 0, 0);
    // Ends that are wanted and not put yet, by the place where they are wanted; and how many have been wanted.
    let (mut wanted, mut all): (VecDeque<u64>, u64) = (VecDeque::new(), 0);
    let mut put = |wanted: &mut VecDeque<u64>, place: u64, interval: &mut Tally| {
        for due in wanted.drain(..) {
            postponed = postponed.max(place - due);
            intervals.push(std::mem::take(interval).truth());
        }
    };
    // How many packets before this one arrived, and the rank behind the last of them.
    let (mut arrived, mut behind, mut start) = (0, 0, None);
    while let Some(record) = packets.next()? {
        let [place, time] = [0, NUMBER].map(|at| number(&record, at));
        if let Some(length) = length {
            let due = time.saturating_sub(*start.get_or_insert(time)) / length;
            if due >= MAX_INTERVALS {
                return Err(CutError::TooMany(due.saturating_add(1)).into());
            }
            wanted.extend((all..due).map(|_| place));
            all = all.max(due);
            if arrived == behind {
                put(&mut wanted, place, &mut interval);
            }
        }
        let [arrival, rank] = [2 * NUMBER + 1, 3 * NUMBER + 1].map(|at| number(&record, at));
        match record[2 * NUMBER] {
            RECEIVED => {
                arrived += 1;
                behind = behind.max(rank + 1);
                let delay = delay_between(time, arrival);
                negative += u64::from(delay < 0);
                [&mut overall, &mut interval].into_iter().for_each(|tally| tally.received(delay));
            }
            LOST => [&mut overall, &mut interval].into_iter().for_each(Tally::lost),
            _ => {}
        }
    }
    put(&mut wanted, count, &mut interval);
    intervals.push(interval.truth());
    Ok(Cut { overall: overall.truth(), intervals, postponed, negative })
}

fn sent(index: u64, time: u64, what: u8, arrival: u64, rank: u64) -> [u8; SENT] {
    packed(&[&bytes(index), &bytes(time), &[what], &bytes(arrival), &bytes(rank)])
}

/// Index and timestamp of a packet with its key.
fn packet(record: &[u8; KEYED]) -> [u64; 2] {
    [KEY_BYTES, KEY_BYTES + NUMBER].map(|at| number(record, at))
}

/// A number so that the order of its bytes is its own.
fn bytes(number: u64) -> [u8; NUMBER] {
    number.to_be_bytes()
}

fn number(record: &[u8], at: usize) -> u64 {
    record[at..].first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

/// A record of these parts, one behind the other.
fn packed<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    let mut record = [0; N];
    let mut rest = &mut record[..];
    for part in parts {
        let (place, behind) = rest.split_at_mut(part.len());
        place.copy_from_slice(part);
        rest = behind;
    }
    record
}

#[cfg(test)]
mod tests;
