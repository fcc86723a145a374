//! Edges: where two recordings of the same traffic begin and end together.
//!
//! Two recorders that were started one after the other have seen different packets at both edges. What only one has seen
//! there is no loss, and nothing else tells it from loss: a row that is short of ten thousand packets is of no use. Times decide:
//!
//! * A recorder ran from its first record to its last, of whatever kind: packets that are not measured count, too, and so do those that a
//!   filter passes over ([`Identities::recorder_ran`]).
//! * What one end recorded outside the other recorder's time is left out, as the other one cannot have it. It lies in front of the
//!   first packet that both have or behind the last; a packet of both is never left out, and one whose key the other end has at all decides nothing:
//!   which one of such a key the other end lacks is not known.
//! * What one end recorded while the other recorder ran, and the other one lacks, was lost, or came in. So an outage up to the
//!   end of the recordings is loss, if the receiver has recorded anything after it; and it is left out, with a message, if nothing shows that
//!   the receiver's recorder ran on.
//!
//! The clocks may be apart by anything: a packet is looked for at the other end at its own time and the delay of the packets that both
//! have at this edge. Their median is taken, and the delay of the outermost one, and a packet is left out if either of them says so: one that
//! was in flight when a recorder began or stopped is not lost.
//!
//! Packets are compared by a 64-bit hash of their keys. Packets of both are those whose key occurs once at each end; where there are
//! none, as at mirror ports that give every packet twice, they are those whose key occurs up to four times, the k-th of a key being
//! the k-th at the other end. Of long
//! recordings only one packet in 2^k is compared at first; those outside the first and the last of these are then looked up in the whole other
//! recording.
//!
//! # Test plan
//!
//! Recordings of one stream, cut anywhere at either end and at both, short and long, in order and reordered, with loss, an outage as long as
//! anything that is cut, repeated keys, every packet twice, clocks apart: what is left out is what the other recorder cannot have. Outages at the
//! edges with other packets behind them and without. Recordings that have nothing in common, or a corner. Intervals of
//! measurements: `host/cli/tests/cuts.rs`.

use crate::maps::{HashMap, HashSet};
use crate::matching::{Observations, delay_between};
use crate::replay::Span;
use deltaline_model::packet::identity::{self, Key};
use std::collections::TryReserveError;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// The measured packets of a recording, and when its first and its last packet of any kind were recorded.
#[derive(Clone, Debug, Default)]
pub struct Identities {
    measured: Vec<Measured>,
    /// All packets.
    count: usize,
    /// When the first and the last one were recorded, in nanoseconds since the Unix epoch.
    ran: Option<[u64; 2]>,
}

#[derive(Clone, Copy, Debug)]
struct Measured {
    /// Its place among all packets.
    place: usize,
    time: u64,
    hash: u64,
}

/// A measured packet.
#[derive(Clone, Copy, Debug)]
pub struct Identified {
    pub(crate) key: Key,
    pub(crate) hash: u64,
}

impl Identities {
    /// Appends a packet: `time` in nanoseconds since the Unix epoch, `frame` from its destination MAC address on. Gives who it is,
    /// unless it is not measured.
    ///
    /// # Errors
    ///
    /// There is no memory for it.
    pub fn push(&mut self, time: u64, frame: &[u8]) -> Result<Option<Identified>, TryReserveError> {
        self.measured.try_reserve(1)?;
        let key = identity::identify(frame).ok().map(|identity| identity.key);
        let packet = key.map(|key| Identified { key, hash: hash(&key) });
        self.add(time, packet.map(|packet| packet.hash));
        Ok(packet)
    }

    fn add(&mut self, time: u64, hash: Option<u64>) {
        let place = self.count;
        self.measured.extend(hash.map(|hash| Measured { place, time, hash }));
        self.count += 1;
        self.ran = Some([self.ran.map_or(time, |[first, _]| first), time]);
    }

    /// Says when the recorder wrote its first record and its last one, in nanoseconds since the Unix epoch, where it has recorded more than
    /// these packets: [`Capture::ran`](crate::Capture::ran).
    pub fn recorder_ran(&mut self, ran: Option<[u64; 2]>) {
        self.ran = ran.or(self.ran);
    }

    /// Whether no packet is measured.
    pub fn is_empty(&self) -> bool {
        self.measured.is_empty()
    }

    /// The hashes of the measured packets, in order.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = u64> {
        self.measured.iter().map(|packet| packet.hash)
    }
}

impl Identities {
    /// The measured packets, in order: place among all packets, time and hash.
    pub(crate) fn packets(&self) -> impl Iterator<Item = (usize, u64, u64)> {
        self.measured.iter().map(|packet| (packet.place, packet.time, packet.hash))
    }
}

impl From<&Observations> for Identities {
    fn from(observations: &Observations) -> Self {
        let mut identities = Identities::default();
        let packets = observations.timestamps().zip(observations.keys());
        packets.for_each(|(time, key)| identities.add(time, key.as_ref().map(hash)));
        identities
    }
}

fn hash(key: &Key) -> u64 {
    xxh3_64(&key.to_bytes())
}

/// Where two recordings begin and end together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edges {
    /// The packets between the edges.
    pub span: Span,
    /// Measured packets that are left out at the sender: in front and behind.
    pub sender: [usize; 2],
    /// Measured packets that are left out at the receiver: in front and behind.
    pub receiver: [usize; 2],
    /// All measured packets of the sender and of the receiver.
    pub measured: [usize; 2],
}

/// Packets of a recording that are compared at first, about.
const COMPARED: usize = 1 << 16;
/// Packets of both at an edge whose median delay is taken, at most.
const OUTERMOST: usize = 101;

/// Packets of one key at an end, at most, whose order is relied on where no key occurs once.
const MOST_ALIKE: u32 = 4;

/// The edges of two recordings, if they have a packet in common, and most of one of them is between them.
pub fn edges(sender: &Identities, receiver: &Identities) -> Option<Edges> {
    let most = sender.measured.len().max(receiver.measured.len());
    let mask = if most <= 4 * COMPARED { 0 } else { (most / COMPARED).next_power_of_two() as u64 - 1 };
    let ends = [sender, receiver];
    let (most_alike, mut common) = [1, MOST_ALIKE]
        .into_iter()
        .map(|most| (most, common(ends, most, |hash| hash & mask == 0)))
        .find(|(_, common)| !common.is_empty())?;
    if mask > 0 {
        // Outside the first compared packet of both and the last there may be more that were not compared.
        let outer = outer(ends, &common)?;
        common.extend(self::common(ends, most_alike, |hash| outer.contains(&hash)));
    }
    let [sent, received] = [0, 1].map(|end| kept(ends, end, &mut common));
    let (sent, received) = (sent?, received?);
    // Two recordings that have but a corner in common are not of the same traffic.
    let keeps_most = |kept: &Kept| 2 * kept.left_out.iter().sum::<usize>() < kept.measured;
    (keeps_most(&sent) || keeps_most(&received)).then_some(Edges {
        span: Span { sender: sent.packets, receiver: received.packets },
        sender: sent.left_out,
        receiver: received.left_out,
        measured: [sent.measured, received.measured],
    })
}

/// The places among the measured packets of both ends of a packet that both have.
type Places = [usize; 2];

/// The packets of both, of keys that occur at most `most` times at each end: the k-th of a key is the k-th at the other end.
fn common(ends: [&Identities; 2], most: u32, is_wanted: impl Fn(u64) -> bool) -> Vec<Places> {
    // How often each key occurs at each end, and where each packet is.
    let mut counts: HashMap<u64, [u32; 2]> = HashMap::default();
    let mut found: HashMap<(u64, u32), [Option<usize>; 2]> = HashMap::default();
    for (end, identities) in ends.into_iter().enumerate() {
        for (place, hash) in identities.hashes().enumerate().filter(|(_, hash)| is_wanted(*hash)) {
            let count = &mut counts.entry(hash).or_default()[end];
            if *count < most {
                found.entry((hash, *count)).or_default()[end] = Some(place);
            }
            *count = count.saturating_add(1);
        }
    }
    let is_rare =
        |hash: u64| counts.get(&hash).is_some_and(|counts| counts.iter().all(|count| *count <= most));
    let both = found.into_iter().filter(|((hash, _), _)| is_rare(*hash));
    both.filter_map(|(_, [sent, received])| Some([sent?, received?])).collect()
}

/// The hashes of packets that an end has outside its first and its last one in `common`, and the other end anywhere.
fn outer(ends: [&Identities; 2], common: &[Places]) -> Option<HashSet<u64>> {
    let mut both = HashSet::default();
    for end in 0..2 {
        let places = common.iter().map(|places| places[end]);
        let (first, last) = (places.clone().min()?, places.max()?);
        let packets = &ends[end].measured;
        let hashes: HashSet<u64> =
            packets[..first].iter().chain(&packets[last + 1..]).map(|packet| packet.hash).collect();
        both.extend(ends[1 - end].hashes().filter(|hash| hashes.contains(hash)));
    }
    Some(both)
}

/// What is kept of a recording.
struct Kept {
    packets: Range<usize>,
    /// Measured packets in front and behind.
    left_out: [usize; 2],
    measured: usize,
}

/// What is kept of one end: the packets from the first of both to the last, and those further out that were recorded while the other
/// recorder ran.
fn kept(ends: [&Identities; 2], end: usize, common: &mut [Places]) -> Option<Kept> {
    let [own, other] = [ends[end], ends[1 - end]];
    common.sort_unstable_by_key(|places| places[end]);
    let [first, last] = [common.first()?[end], common.last()?[end]];
    let [began, ended] = other.ran?.map(i128::from);
    // From this end to the other one.
    let shift = |places: &Places| {
        i128::from(delay_between(own.measured[places[end]].time, other.measured[places[1 - end]].time))
    };
    let shifts = |outermost: &mut dyn Iterator<Item = &Places>| {
        let mut shifts: Vec<i128> = outermost.take(OUTERMOST).map(shift).collect();
        let edge = shifts[0];
        let middle = shifts.len() / 2;
        [edge, *shifts.select_nth_unstable(middle).1]
    };
    let at_front = shifts(&mut common.iter());
    let at_back = shifts(&mut common.iter().rev());
    let (front, back) = (&own.measured[..first], &own.measured[last + 1..]);
    let lacking = lacking(other, front.iter().chain(back));
    let is_before = |packet: &Measured| {
        lacking.contains(&packet.hash) && at_front.iter().any(|shift| i128::from(packet.time) + shift < began)
    };
    let is_after = |packet: &Measured| {
        lacking.contains(&packet.hash) && at_back.iter().any(|shift| i128::from(packet.time) + shift > ended)
    };

    let in_front = front.iter().rposition(is_before).map_or(0, |place| place + 1);
    let behind = back.iter().position(is_after).map_or(0, |place| back.len() - place);
    let start = in_front.checked_sub(1).map_or(0, |place| front[place].place + 1);
    let stop = if behind == 0 { own.count } else { back[back.len() - behind].place };
    Some(Kept { packets: start..stop, left_out: [in_front, behind], measured: own.measured.len() })
}

/// The keys of these packets that the `other` end has not at all.
fn lacking<'a>(other: &Identities, packets: impl Iterator<Item = &'a Measured>) -> HashSet<u64> {
    let mut lacking: HashSet<u64> = packets.map(|packet| packet.hash).collect();
    if !lacking.is_empty() {
        other.hashes().for_each(|hash| {
            lacking.remove(&hash);
        });
    }
    lacking
}

#[cfg(test)]
mod tests;
