//! Stretches: runs of a sender's packets in a row that are looked for at the receiver, of a recording of any length.
//!
//! They show what tables do not: single delays in order of time, which show whether the clocks ran alike, and reordering. All packets of a short
//! recording are taken; of a long one, runs of 1024 at even distances, at most 131,072 packets. Within a run nothing is missing, so that reordering
//! by less than that is seen as it is.
//!
//! Packets are compared by a 64-bit hash of their keys. Which one is which of those that occur more than once at either end is a guess, as in
//! [`align`]: they are kept apart.
//!
//! # Test plan
//!
//! Random recordings with loss, duplicates and reordering: the passages are those of exact matching where a recording is short, and among them
//! where it is long; so is the reordering. Distances are even, and the most is kept to, at any length.

use crate::edges::{Identified, Identities};
use crate::maps::HashMap;
use crate::matching::{Fate, Flow, align, delay_between, flow_of};
use crate::reordering::Reordering;
use crate::replay::Span;

/// Packets of a run.
const RUN: usize = 1024;
/// Most packets that are kept.
const MOST: usize = 1 << 17;

/// Runs of a sender's packets.
#[derive(Clone, Debug)]
pub struct Stretches {
    /// One run of how many is kept, a power of two.
    every: usize,
    position: usize,
    packets: Vec<Sent>,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    position: usize,
    time: u64,
    hash: u64,
    flow: Flow,
}

impl Default for Stretches {
    fn default() -> Self {
        Stretches { every: 1, position: 0, packets: vec![] }
    }
}

impl Stretches {
    /// Takes the sender's next packet: its time in nanoseconds since the Unix epoch, and who it is, unless it is not measured.
    pub fn push(&mut self, time: u64, packet: Option<&Identified>) {
        let position = self.position;
        self.position += 1;
        let Some(packet) = packet.filter(|_| self.has(position)) else { return };
        if self.packets.len() == MOST {
            self.every *= 2;
            let every = self.every;
            self.packets.retain(|sent| (sent.position / RUN).is_multiple_of(every));
            if !self.has(position) {
                return;
            }
        }
        self.packets.push(Sent { position, time, hash: packet.hash, flow: flow_of(&packet.key.to_bytes()) });
    }

    fn has(&self, position: usize) -> bool {
        (position / RUN).is_multiple_of(self.every)
    }

    /// The packets that passed both ends, of all packets of the sender and of the receiver; within a span of the recordings, if
    /// one is given.
    pub fn passages(self, sender: &Identities, receiver: &Identities, span: Option<&Span>) -> Passages {
        let mut places: HashMap<u64, Place> =
            HashMap::with_capacity_and_hasher(self.packets.len(), Default::default());
        for (index, packet) in self.packets.iter().enumerate() {
            places.insert(packet.hash, Place { index, sent: 0, arrived: 0 });
        }
        for hash in sender.hashes() {
            if let Some(place) = places.get_mut(&hash) {
                place.sent += 1;
            }
        }
        let mut arrivals = vec![None; self.packets.len()];
        for (position, time, hash) in receiver.packets() {
            if let Some(place) = places.get_mut(&hash) {
                place.arrived += 1;
                arrivals[place.index] = Some((position, time));
            }
        }
        let is_within = |sent: usize, arrived: usize| {
            span.is_none_or(|span| span.sender.contains(&sent) && span.receiver.contains(&arrived))
        };
        // Of the keys that are not single, where the packets are at each end.
        let mut alike: HashMap<u64, [Vec<(usize, u64)>; 2]> = places
            .iter()
            .filter(|(_, place)| place.arrived > 0 && (place.sent, place.arrived) != (1, 1))
            .map(|(hash, _)| (*hash, Default::default()))
            .collect();
        if !alike.is_empty() {
            let spans = span.map(|span| [&span.sender, &span.receiver]);
            for (end, identities) in [sender, receiver].into_iter().enumerate() {
                for (position, time, hash) in identities.packets() {
                    let is_kept = spans.is_none_or(|spans| spans[end].contains(&position));
                    if let Some(ends) = alike.get_mut(&hash).filter(|_| is_kept) {
                        ends[end].push((position, time));
                    }
                }
            }
        }
        let arrived = places.values().filter(|place| place.arrived > 0);
        let lacking = arrived.map(|place| place.sent.saturating_sub(place.arrived) as u64).sum();
        let looked_at = places.values().map(|place| place.sent as u64).sum();
        let every = self.every;
        let packets = self.packets.into_iter().zip(arrivals).enumerate();
        let passed = packets.filter_map(|(index, (sent, arrival))| {
            let place = places.get(&sent.hash)?;
            let (position, arrived) = arrival?;
            let is_single = (place.index, place.sent, place.arrived) == (index, 1, 1);
            let Sent { time, flow, .. } = sent;
            (is_single && is_within(sent.position, position)).then_some(Passage {
                run: sent.position / RUN,
                sent: time,
                arrived,
                flow,
            })
        });
        let single: Vec<Passage> = passed.collect();
        let mut delays: Vec<i64> = single.iter().map(Passage::delay).collect();
        let middle = delays.len() / 2;
        let usual = (!delays.is_empty()).then(|| *delays.select_nth_unstable(middle).1);
        let mut repeated = vec![];
        for [sent, received] in alike.into_values() {
            let [from, to] =
                [&sent, &received].map(|end| end.iter().map(|(_, time)| *time).collect::<Vec<_>>());
            repeated.extend(align(&from, &to, usual).into_iter().filter_map(|fate| match fate {
                Fate::Received(one, other) if (sent[one].0 / RUN).is_multiple_of(every) => {
                    Some(delay_between(from[one], to[other]))
                }
                _ => None,
            }));
        }
        Passages { single, repeated, looked_at, lacking }
    }
}

/// Where a packet is, and how often it occurs at either end.
#[derive(Clone, Copy, Debug)]
struct Place {
    index: usize,
    sent: usize,
    arrived: usize,
}

/// A packet that passed both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Passage {
    run: usize,
    sent: u64,
    arrived: u64,
    flow: Flow,
}

impl Passage {
    fn delay(&self) -> i64 {
        delay_between(self.sent, self.arrived)
    }
}

/// Packets that passed both ends.
#[derive(Clone, Debug, Default)]
pub struct Passages {
    /// Those that occur once at each end, in the order of the sender's recording.
    single: Vec<Passage>,
    repeated: Vec<i64>,
    /// Packets that the sender has, and copies among them of which the receiver has fewer.
    looked_at: u64,
    lacking: u64,
}

impl Passages {
    /// When each that occurs once was sent, in nanoseconds since the Unix epoch, and its delay in nanoseconds.
    pub fn delays(&self) -> impl Iterator<Item = (u64, i64)> {
        self.single.iter().map(|passage| (passage.sent, passage.delay()))
    }

    /// The delays in nanoseconds of those that occur more than once at either end, by a guess at which is which.
    pub fn repeated(&self) -> &[i64] {
        &self.repeated
    }

    /// How many of the sender's packets were looked at, and how many of these are copies of others, of which the receiver has fewer, but not none.
    pub fn lacking_copies(&self) -> (u64, u64) {
        (self.lacking, self.looked_at)
    }

    /// How many of those that occur once overtook each other, run by run.
    pub fn reordering(&self) -> Reordering {
        let mut all = Reordering::default();
        // Runs that follow on each other are one.
        for run in self.single.chunk_by(|one, next| next.run - one.run <= 1) {
            let packets = run.iter().enumerate();
            all += Reordering::of(
                packets.map(|(place, passage)| (passage.arrived, passage.sent, place, passage.flow)),
            );
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::{Observations, match_exactly};
    use proptest::prelude::*;

    /// An IPv4 packet of UDP with this identification, from this port.
    fn frame(identification: u32, port: u8) -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend([8, 0, 0x45, 0, 0, 46, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend([0, port, 0, 9, 0, 26, 0, 0]);
        frame.extend(identification.to_be_bytes());
        frame.resize(60, 0);
        frame
    }

    /// What exact matching and stretches find in the same two recordings of (time, packet).
    fn both(sent: &[(u64, u32)], received: &[(u64, u32)]) -> (Vec<(u64, i64)>, Reordering, Passages) {
        let frame = |packet: u32| frame(packet, (packet % 3) as u8);
        let mut ends = [Observations::default(), Observations::default()];
        for (end, packets) in ends.iter_mut().zip([sent, received]) {
            packets.iter().for_each(|(time, packet)| end.push(*time, &frame(*packet)));
        }
        let matching = match_exactly(&ends[0], &ends[1]);
        let exact = matching.pairs.iter().map(|pair| (sent[pair.sender].0, pair.delay)).collect();
        let reordering = Reordering {
            compared: matching.pairs.len() as u64,
            in_flow: matching.reordered,
            overall: matching.reordered_overall,
        };
        let (mut identities, mut stretches) = (Identities::default(), Stretches::default());
        for (time, packet) in sent {
            let packet = identities.push(*time, &frame(*packet)).unwrap();
            stretches.push(*time, packet.as_ref());
        }
        let mut arrived = Identities::default();
        for (time, packet) in received {
            arrived.push(*time, &frame(*packet)).unwrap();
        }
        (exact, reordering, stretches.passages(&identities, &arrived, None))
    }

    proptest! {
        #[test]
        fn short_recordings_are_matched_as_they_are(
            packets in proptest::collection::vec((1u64..50, 0u64..200, 0u8..10), 1..200),
        ) {
            let (mut time, mut sent, mut received) = (0, vec![], vec![]);
            for (packet, (gap, delay, lost)) in packets.into_iter().enumerate() {
                time += gap;
                sent.push((time, packet as u32));
                if lost > 0 {
                    received.push((time + delay, packet as u32));
                }
            }
            received.sort_unstable();
            let (exact, reordering, passages) = both(&sent, &received);
            prop_assert_eq!(passages.delays().collect::<Vec<_>>(), exact);
            prop_assert_eq!(passages.reordering(), reordering);
        }
    }

    #[test]
    fn long_recordings_are_sampled_evenly() {
        // A packet in 100 arrives behind the next one.
        let count = 600_000u32;
        let sent: Vec<(u64, u32)> = (0..count).map(|packet| (u64::from(packet) * 100, packet)).collect();
        let late = |packet: u32| if packet % 100 == 7 { 150 } else { 0 };
        let mut received: Vec<(u64, u32)> =
            sent.iter().map(|&(time, packet)| (time + 1000 + late(packet), packet)).collect();
        received.sort_unstable();
        let (exact, reordering, passages) = both(&sent, &received);
        assert_eq!((exact.len(), reordering.overall), (600_000, 6000));
        let found = passages.reordering();
        assert!(found.compared as usize <= MOST && found.compared as usize > MOST / 2 - RUN);
        // Every run holds ten or eleven of them.
        let share = found.overall as f64 / found.compared as f64;
        assert!((share - 0.01).abs() < 0.001, "{found:?}");
        let runs: Vec<usize> =
            passages.single.chunk_by(|one, next| one.run == next.run).map(|run| run[0].run).collect();
        assert!(runs.windows(2).all(|pair| pair[1] - pair[0] == 8), "{runs:?}");
    }

    #[test]
    fn packets_that_occur_twice_are_kept_apart() {
        let sent = [(0, 1), (10, 2), (20, 1), (30, 3), (40, 4)];
        let received = [(5, 1), (15, 2), (35, 3), (36, 3), (45, 4)];
        let (_, _, passages) = both(&sent, &received);
        assert_eq!(passages.delays().collect::<Vec<_>>(), [(10, 5), (40, 5)]);
        // Packet 1 was sent twice, of which the first arrived; 3 arrived twice.
        let mut repeated = passages.repeated().to_vec();
        repeated.sort_unstable();
        assert_eq!(repeated, [5, 5]);
    }
}
