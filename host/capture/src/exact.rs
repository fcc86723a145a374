//! Exact matching of captures of any length, in bounded memory.
//!
//! What [`crate::matching`] and [`crate::replay`] find with everything in memory, [`Matcher`] finds by sorting records of the
//! packets, which are in temporary files where they are many (about 360 bytes a packet of the sender in all, in the
//! folder `TMPDIR`, or `/var/tmp`):
//!
//! | sorted by | shows |
//! |---|---|
//! | key and index, at each end | which packet is which; look-alikes come last, when the usual delay is known; what is left was lost, or never sent |
//! | delay | the usual one: the median of packets that are the only ones with their key |
//! | index at the receiver | the rank of each packet among those that arrived |
//! | index at the sender | intervals: before a place that no packet overtakes, the first m to be sent have the first m ranks |
//! | arrival; flow and arrival | packets that arrived after a later sent one |
//!
//! # Test plan
//!
//! Random small captures with memory for all and for a few records: the same as `matching` and `replay` in memory, in every
//! number. The program's tests run it on a pair of captures that does not fit into the memory that it may have.

use crate::flows::{Fates, FlowTruth};
use crate::matching::{End, Fate, Flow, Likeness, Tally, Truth, align, delay_between, flow_of};
use crate::packet::PacketRef;
use crate::replay::{CutError, MAX_INTERVALS};
use crate::sorting::{Sorted, Sorter};
use deltaline_model::packet::flow::FlowFields;
use deltaline_model::packet::identity::{self, KEY_BYTES};
use std::collections::VecDeque;
use std::io;
use thiserror::Error;

/// Bytes of memory for the records of one order; seven orders are never there at once.
const MEMORY: usize = 8 << 20;

/// Bytes of a number.
const NUMBER: usize = 8;
/// Key, index and timestamp.
const KEYED: usize = KEY_BYTES + 2 * NUMBER;
/// Index at the receiver, index at the sender, time of sending, time of arrival, likeness.
const PAIRED: usize = 4 * NUMBER + 1;
/// Index at the sender, time of sending, what became of it, time of arrival, rank, likeness.
const SENT: usize = 4 * NUMBER + 2;
/// Time of arrival, time of sending.
const ARRIVED: usize = 2 * NUMBER;
/// Flow, time of arrival, time of sending.
const FLOWING: usize = size_of::<Flow>() + ARRIVED;

/// What became of a packet of the sender.
const UNMEASURED: u8 = 0;
const LOST: u8 = 1;
const RECEIVED: u8 = 2;
/// Received, and of no account for where intervals end.
const ALIKE: u8 = 3;

/// Why captures cannot be matched.
#[derive(Debug, Error)]
pub enum MatchError {
    /// Temporary files cannot be written or read.
    #[error(
        "temporary files cannot be written or read: {0}; set TMPDIR to a folder with about 360 bytes for each packet"
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
    /// Of those packets that look like no other ones.
    pub unlike: Unlike,
    /// As [`crate::matching::Matching::reordered`].
    pub reordered: u64,
    /// As [`crate::matching::Matching::reordered_overall`].
    pub reordered_overall: u64,
    /// Counts at the sender.
    pub sender: End,
    /// Counts at the receiver.
    pub receiver: End,
}

/// Packets that arrived and look like no other ones: whose delays are no guess.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unlike {
    /// How many.
    pub packets: u64,
    /// How many of them arrived before they were sent.
    pub negative: u64,
    /// The least of their delays in nanoseconds, if it is negative, else zero.
    pub least: i64,
}

impl Unlike {
    /// Counts those of these delays.
    pub fn of(delays: impl Iterator<Item = (i64, Likeness)>) -> Self {
        let mut counted = Unlike::default();
        delays.for_each(|(delay, likeness)| counted.count(delay, likeness));
        counted
    }

    fn count(&mut self, delay: i64, likeness: Likeness) {
        if !likeness.is_alike() {
            self.packets += 1;
            self.negative += u64::from(delay < 0);
            self.least = self.least.min(delay);
        }
    }
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
            self.by_sender.push(sent(index, packet.timestamp, UNMEASURED, [0; 2], Likeness::Single))?;
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
        Ok(self.matched(length, None)?.0)
    }

    /// Matches what was taken, as one interval, and calls `each` for every flow, told apart by these fields, in the order of IP version,
    /// protocol, addresses and ports.
    ///
    /// # Errors
    ///
    /// [`MatchError::Files`].
    pub fn finish_by_flow(
        self,
        fields: &FlowFields,
        each: impl FnMut(FlowTruth),
    ) -> Result<Matched, MatchError> {
        let fates = Fates::new(fields, self.memory);
        let (matched, fates) = self.matched(None, Some(fates))?;
        if let Some(fates) = fates {
            fates.each(each)?;
        }
        Ok(matched)
    }

    fn matched(
        self,
        length: Option<u64>,
        fates: Option<Fates>,
    ) -> Result<(Matched, Option<Fates>), MatchError> {
        let Matcher { memory, sender, receiver, by_sender } = self;
        let (mut sender_end, mut receiver_end) = (sender.end, receiver.end);
        let mut paths = Paths::new(memory, by_sender, fates);
        let mut delays = Sorter::<NUMBER>::new(memory);
        let [mut alike_sent, mut alike_received] = [(); 2].map(|()| Sorter::<KEYED>::new(memory));
        let mut groups = Groups::new(sender.by_key, receiver.by_key)?;
        let mut unique = 0;
        while let Some(group) = groups.next()? {
            sender_end.duplicates += group.sent.len().saturating_sub(1) as u64;
            receiver_end.duplicates += group.received.len().saturating_sub(1) as u64;
            match (&group.sent[..], &group.received[..]) {
                (&[sent], &[received]) => {
                    unique += 1;
                    delays.push(ordered(delay_between(sent[1], received[1])))?;
                    paths.received(&group.key, sent, received, Likeness::Single)?;
                }
                (lost, []) => lost.iter().try_for_each(|lost| paths.lost(&group.key, *lost, false))?,
                ([], foreign) => foreign.iter().try_for_each(|_| paths.foreign(&group.key, false))?,
                (sent, received) => {
                    for (alike, packets) in [(&mut alike_sent, sent), (&mut alike_received, received)] {
                        for [index, time] in packets {
                            alike.push(packed(&[&group.key, &bytes(*index), &bytes(*time)]))?;
                        }
                    }
                }
            }
        }
        let usual = median(delays, unique)?;
        let mut alike = 0;
        let mut groups = Groups::new(alike_sent, alike_received)?;
        while let Some(group) = groups.next()? {
            let likeness = Likeness::of(group.sent.len(), group.received.len());
            let times =
                |packets: &[[u64; 2]]| -> Vec<u64> { packets.iter().map(|[_, time]| *time).collect() };
            for fate in align(&times(&group.sent), &times(&group.received), usual) {
                match fate {
                    Fate::Received(one, other) => {
                        alike += 1;
                        paths.received(&group.key, group.sent[one], group.received[other], likeness)?;
                    }
                    Fate::Lost(one) => paths.lost(&group.key, group.sent[one], true)?,
                    Fate::Foreign(_) => paths.foreign(&group.key, true)?,
                }
            }
        }

        let Paths { by_receiver, by_arrival, by_flow, mut by_sender, receiver_only, fates } = paths;
        let (reordered, reordered_overall) = (late::<FLOWING>(by_flow)?, late::<ARRIVED>(by_arrival)?);
        let (mut rank, mut arrivals) = (0, by_receiver.sorted()?);
        while let Some(record) = arrivals.next()? {
            let [index, time, arrival] = [1, 2, 3].map(|place| number(&record, place * NUMBER));
            // As in `replay`.
            let likeness = Likeness::from_byte(record[4 * NUMBER]);
            let is_certain = !likeness.is_alike() || alike >= unique;
            let what = if is_certain { RECEIVED } else { ALIKE };
            by_sender.push(sent(index, time, what, [arrival, rank], likeness))?;
            rank += u64::from(is_certain);
        }
        let Cut { overall, intervals, postponed, unlike } =
            cut(by_sender.sorted()?, sender_end.packets, length)?;
        let matched = Matched {
            overall,
            intervals,
            postponed,
            receiver_only,
            unlike,
            reordered,
            reordered_overall,
            sender: sender_end,
            receiver: receiver_end,
        };
        Ok((matched, fates))
    }
}

/// What became of packets, for the orders that are needed of it.
struct Paths {
    by_receiver: Sorter<PAIRED>,
    by_arrival: Sorter<ARRIVED>,
    by_flow: Sorter<FLOWING>,
    by_sender: Sorter<SENT>,
    receiver_only: u64,
    /// By flow, where that is wanted.
    fates: Option<Fates>,
}

impl Paths {
    fn new(memory: usize, by_sender: Sorter<SENT>, fates: Option<Fates>) -> Self {
        Paths {
            by_receiver: Sorter::new(memory),
            by_arrival: Sorter::new(memory),
            by_flow: Sorter::new(memory),
            by_sender,
            receiver_only: 0,
            fates,
        }
    }

    /// Takes a packet that was received; index and time at either end.
    fn received(
        &mut self,
        key: &[u8; KEY_BYTES],
        [index, time]: [u64; 2],
        [there, arrival]: [u64; 2],
        likeness: Likeness,
    ) -> io::Result<()> {
        if let Some(fates) = &mut self.fates {
            fates.received(key, delay_between(time, arrival), likeness.is_alike())?;
        }
        let (arrived, sent) = (bytes(arrival), bytes(time));
        self.by_receiver.push(packed(&[&bytes(there), &bytes(index), &sent, &arrived, &[likeness as u8]]))?;
        self.by_arrival.push(packed(&[&arrived, &sent]))?;
        self.by_flow.push(packed(&[&flow_of(key), &arrived, &sent]))
    }

    fn foreign(&mut self, key: &[u8; KEY_BYTES], is_alike: bool) -> io::Result<()> {
        self.receiver_only += 1;
        self.fates.as_mut().map_or(Ok(()), |fates| fates.surplus(key, is_alike))
    }

    fn lost(&mut self, key: &[u8; KEY_BYTES], [index, time]: [u64; 2], is_alike: bool) -> io::Result<()> {
        if let Some(fates) = &mut self.fates {
            fates.lost(key, is_alike)?;
        }
        self.by_sender.push(sent(index, time, LOST, [0; 2], Likeness::Single))
    }
}

/// The middle one of so many delays.
fn median(delays: Sorter<NUMBER>, count: u64) -> io::Result<Option<i64>> {
    let mut sorted = delays.sorted()?;
    for _ in 0..count / 2 {
        sorted.next()?;
    }
    Ok(sorted.next()?.map(|bytes| (u64::from_be_bytes(bytes) ^ 1 << 63).cast_signed()))
}

/// A delay so that the order of its bytes is its own.
fn ordered(delay: i64) -> [u8; NUMBER] {
    bytes(delay.cast_unsigned() ^ 1 << 63)
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

/// The packets of both ends, key by key.
struct Groups {
    sorted: [Sorted<KEYED>; 2],
    next: [Option<[u8; KEYED]>; 2],
}

/// The packets of one key: index and time of each, by index.
struct Group {
    key: [u8; KEY_BYTES],
    sent: Vec<[u64; 2]>,
    received: Vec<[u64; 2]>,
}

impl Groups {
    fn new(sent: Sorter<KEYED>, received: Sorter<KEYED>) -> io::Result<Self> {
        let mut sorted = [sent.sorted()?, received.sorted()?];
        let next = [sorted[0].next()?, sorted[1].next()?];
        Ok(Groups { sorted, next })
    }

    fn next(&mut self) -> io::Result<Option<Group>> {
        let keys = self.next.iter().flatten().filter_map(|record| record.first_chunk::<KEY_BYTES>());
        let Some(key) = keys.min().copied() else { return Ok(None) };
        let [sent, received] = [self.take(0, &key)?, self.take(1, &key)?];
        Ok(Some(Group { key, sent, received }))
    }

    /// An end's packets of this key.
    fn take(&mut self, end: usize, key: &[u8]) -> io::Result<Vec<[u64; 2]>> {
        let mut packets = vec![];
        while let Some(record) = self.next[end].filter(|record| record.starts_with(key)) {
            packets.push(packet(&record));
            self.next[end] = self.sorted[end].next()?;
        }
        Ok(packets)
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
    unlike: Unlike,
}

/// Cuts the sender's packets, which come in their order, wherever an end is due and no packet overtakes it.
fn cut(mut packets: Sorted<SENT>, count: u64, length: Option<u64>) -> Result<Cut, MatchError> {
    if length == Some(0) {
        return Err(CutError::NoLength.into());
    }
    let (mut overall, mut interval) = (Tally::default(), Tally::default());
    let (mut intervals, mut postponed, mut unlike) = (vec![], 0, Unlike::default());
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
            what @ (RECEIVED | ALIKE) => {
                if what == RECEIVED {
                    arrived += 1;
                    behind = behind.max(rank + 1);
                }
                let delay = delay_between(time, arrival);
                let likeness = Likeness::from_byte(record[SENT - 1]);
                unlike.count(delay, likeness);
                [&mut overall, &mut interval].into_iter().for_each(|tally| tally.received(delay, likeness));
            }
            LOST => [&mut overall, &mut interval].into_iter().for_each(Tally::lost),
            _ => {}
        }
    }
    put(&mut wanted, count, &mut interval);
    intervals.push(interval.truth());
    Ok(Cut { overall: overall.truth(), intervals, postponed, unlike })
}

fn sent(index: u64, time: u64, what: u8, [arrival, rank]: [u64; 2], likeness: Likeness) -> [u8; SENT] {
    packed(&[&bytes(index), &bytes(time), &[what], &bytes(arrival), &bytes(rank), &[likeness as u8]])
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
