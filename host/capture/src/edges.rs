//! Edges: where two recordings of the same traffic begin and end together.
//!
//! Two recorders that were started one after the other have seen different packets at both edges. What only one has seen
//! there is no loss, and nothing else tells it from loss: a row that is short of ten thousand packets is of no use. So the packets
//! in front of the first one that both have, and those behind the last one that both have, are left out at the end that has
//! them, if they are more than were missing in a row anywhere in between. A run as long as one in between may be loss as well,
//! and stays. A packet that a recorder missed while it was in flight when the other one stopped is left out with them.
//!
//! Packets are compared by a 64-bit hash of their keys. Of long recordings only one in 2^k is compared at first, which makes the
//! longest run in between an estimate; the edges are found exactly.
//!
//! # Test plan
//!
//! Recordings of one stream with loss, cut anywhere at either end and at both: what is left begins and ends with a packet of
//! both, and no packet of both is left out. Nothing is left out where nothing was cut, at losses at the very edge no
//! longer than those in between, or where recordings have nothing in common. Long recordings with few compared.
//! Intervals of measurements: `host/cli/tests/cuts.rs`.

use crate::matching::Observations;
use crate::replay::Span;
use deltaline_model::packet::identity::{self, Key};
use std::collections::HashSet;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// The packets of a recording by the hash of their keys; zero for those that are not measured.
#[derive(Clone, Debug, Default)]
pub struct Identities(Vec<u64>);

/// A measured packet.
#[derive(Clone, Copy, Debug)]
pub struct Identified {
    pub(crate) key: Key,
    pub(crate) hash: u64,
}

impl Identities {
    /// Appends a packet: `frame` from its destination MAC address on. Gives who it is, unless it is not measured.
    pub fn push(&mut self, frame: &[u8]) -> Option<Identified> {
        let key = identity::identify(frame).ok().map(|identity| identity.key);
        let packet = key.map(|key| Identified { key, hash: hash(&key) });
        self.0.push(packet.map_or(0, |packet| packet.hash));
        packet
    }

    /// The hashes of the measured packets, in order.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = u64> {
        compared(&self.0, 0)
    }
}

impl From<&Observations> for Identities {
    fn from(observations: &Observations) -> Self {
        Identities(observations.keys().map(|key| key.as_ref().map_or(0, hash)).collect())
    }
}

fn hash(key: &Key) -> u64 {
    xxh3_64(&key.to_bytes())
}

/// Where two recordings begin and end together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edges {
    /// The packets from the first to the last one of both.
    pub span: Span,
    /// Measured packets that are left out at the sender: in front and behind.
    pub sender: [usize; 2],
    /// Measured packets that are left out at the receiver: in front and behind.
    pub receiver: [usize; 2],
}

impl Edges {
    /// Whether nothing is left out.
    pub fn are_whole(&self) -> bool {
        [self.sender, self.receiver] == [[0; 2]; 2]
    }
}

/// Packets of a recording that are compared at first, about.
const COMPARED: usize = 1 << 16;

/// The edges of two recordings, if they have a packet in common, and most of one of them is between them.
pub fn edges(sender: &Identities, receiver: &Identities) -> Option<Edges> {
    let most = sender.0.len().max(receiver.0.len());
    let mask = (most / COMPARED).next_power_of_two() as u64 - 1;
    let mask = if most <= 4 * COMPARED { 0 } else { mask };
    let [sent, received] = [sender, receiver].map(|end| End::new(&end.0, mask));
    let [from_sender, from_receiver] = [sent.inner(&received, mask)?, received.inner(&sent, mask)?];
    let runs = [
        sent.longest_run(&received, mask, from_sender.clone()),
        received.longest_run(&sent, mask, from_receiver.clone()),
    ];
    // In front of the first compared packet of both and behind the last there may be more that were not compared.
    let outer = |end: &End, inner: &Range<usize>| [0..inner.start, inner.end..end.packets.len()];
    let sets = [(&sent, &from_sender), (&received, &from_receiver)]
        .map(|(end, inner)| outer(end, inner).map(|range| end.set_of(range)));
    let exact = |end: &End, inner: Range<usize>, other: &[HashSet<u64>; 2]| {
        let [front, behind] = outer(end, &inner);
        let first = end.packets[front].iter().position(|packet| other[0].contains(packet));
        let last = end.packets[behind].iter().rposition(|packet| other[1].contains(packet));
        first.unwrap_or(inner.start)..last.map_or(inner.end, |last| inner.end + last + 1)
    };
    let spans = [exact(&sent, from_sender, &sets[1]), exact(&received, from_receiver, &sets[0])];
    let [sender, receiver] =
        [(&sent, &spans[0], runs[0]), (&received, &spans[1], runs[1])].map(|(end, span, longest)| {
            let front = end.measured(0..span.start);
            let behind = end.measured(span.end..end.packets.len());
            let start = if front > longest { span.start } else { 0 };
            let stop = if behind > longest { span.end } else { end.packets.len() };
            (start..stop, [front, behind].map(|count| if count > longest { count } else { 0 }))
        });
    // Two recordings that have but a corner in common are not of the same traffic.
    let keeps_most = |(range, left_out): &(Range<usize>, [usize; 2])| range.len() > left_out.iter().sum();
    if !keeps_most(&sender) && !keeps_most(&receiver) {
        return None;
    }
    Some(Edges {
        span: Span { sender: sender.0, receiver: receiver.0 },
        sender: sender.1,
        receiver: receiver.1,
    })
}

/// A recording, and its packets that are compared and occur once.
struct End<'a> {
    packets: &'a [u64],
    once: HashSet<u64>,
}

impl<'a> End<'a> {
    fn new(packets: &'a [u64], mask: u64) -> Self {
        let (mut once, mut again) = (HashSet::new(), HashSet::new());
        for packet in compared(packets, mask) {
            if !once.insert(packet) {
                again.insert(packet);
            }
        }
        once.retain(|packet| !again.contains(packet));
        End { packets, once }
    }

    /// From the first compared packet that the other end has, too, to behind the last.
    fn inner(&self, other: &End, mask: u64) -> Option<Range<usize>> {
        let is_common =
            |packet: &u64| *packet & mask == 0 && self.once.contains(packet) && other.once.contains(packet);
        let first = self.packets.iter().position(is_common)?;
        let last = self.packets.iter().rposition(is_common)?;
        Some(first..last + 1)
    }

    /// The most packets in a row in `range` that the other end does not have.
    fn longest_run(&self, other: &End, mask: u64, range: Range<usize>) -> usize {
        let (mut longest, mut run) = (0, 0);
        for packet in compared(&self.packets[range], mask).filter(|packet| self.once.contains(packet)) {
            run = if other.once.contains(&packet) { 0 } else { run + 1 };
            longest = longest.max(run);
        }
        longest * (mask as usize + 1)
    }

    fn set_of(&self, range: Range<usize>) -> HashSet<u64> {
        compared(&self.packets[range], 0).collect()
    }

    fn measured(&self, range: Range<usize>) -> usize {
        compared(&self.packets[range], 0).count()
    }
}

/// Measured packets of which the hash has no bit of `mask`.
fn compared(packets: &[u64], mask: u64) -> impl Iterator<Item = u64> {
    packets.iter().copied().filter(move |packet| *packet != 0 && packet & mask == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(packets: impl IntoIterator<Item = u64>) -> Identities {
        Identities(packets.into_iter().map(|packet| xxh3_64(&packet.to_le_bytes())).collect())
    }

    /// Every tenth packet is lost, and once three in a row.
    fn arrives(packet: &u64) -> bool {
        packet % 10 != 3 && !(500..503).contains(packet)
    }

    proptest! {
        #[test]
        fn cut_anywhere(
            cuts in [0u64..300, 700u64..1000, 0u64..300, 700u64..1000],
            scale in prop_oneof![Just(1u64), Just(600)],
        ) {
            let [a, b, c, d] = cuts.map(|cut| cut * scale);
            let sent: Vec<u64> = (a..b).collect();
            let received: Vec<u64> = (c..d).filter(arrives).collect();
            let found = edges(&of(sent.clone()), &of(received.clone())).unwrap();
            let [first, last] = [a.max(c), b.min(d)];
            let kept = &sent[found.span.sender.clone()];
            // A run no longer than the longest of losses may stay.
            let most = if scale == 1 { 4 } else { 4 * 16 };
            prop_assert!(kept[0] <= first + 4 && kept[0] + most >= first, "{found:?}");
            prop_assert!(kept[kept.len() - 1] + 4 >= last - 1 && kept[kept.len() - 1] < last + most);
            let kept = &received[found.span.receiver.clone()];
            // No packet is received that was not sent: all such are left out.
            prop_assert!(kept[0] >= first && kept[0] <= first + 4);
            prop_assert!(kept[kept.len() - 1] < last && kept[kept.len() - 1] + 6 >= last);
            prop_assert_eq!(found.receiver[0], (c..first).filter(arrives).count());
            prop_assert_eq!(found.receiver[1], (last..d.max(last)).filter(arrives).count());
        }
    }

    #[test]
    fn whole_recordings_stay_whole() {
        let found = edges(&of(0..1000), &of((0..1000).filter(arrives))).unwrap();
        assert!(found.are_whole());
        assert_eq!(found.span, Span { sender: 0..1000, receiver: 0..(0..1000).filter(arrives).count() });
        // As many are lost at the start as in between.
        let late = edges(&of(0..1000), &of((2..1000).filter(arrives))).unwrap();
        assert!(late.are_whole());
        assert_eq!(edges(&of(0..10), &of(10..20)), None);
        assert_eq!(edges(&of([]), &of([])), None);
    }

    #[test]
    fn packets_that_occur_again_and_again_are_no_edges() {
        // A keepalive that looks alike each time, in front of everything at the receiver.
        let keepalive = 77_777;
        let sent = (0..1000).chain([keepalive]).chain(1000..2000).chain([keepalive]);
        let received = [keepalive].into_iter().chain(500..1000).chain([keepalive]).chain(1000..2000);
        let found = edges(&of(sent), &of(received)).unwrap();
        assert_eq!((found.sender, found.receiver), ([500, 1], [1, 0]));
    }
}
