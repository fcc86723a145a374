//! Streams: packets in intervals, with the fate of each on its way.
//!
//! A [`Source`](crate::source) sends, a [`Path`] delays and loses, and an interval ends after a fixed number of
//! packets. Packets near an interval's edge may be *reordered*: the receiver sees them on the other side of the
//! edge, early or late.
//!
//! A stream holds one packet at a time. What its path holds is in the path's documentation.
//!
//! # Test plan
//!
//! Packets, times and intervals against the source; delays and losses against the path alone. Only packets within
//! the window cross an edge, as often as requested, and none before the first interval.

use crate::delay::Delay;
use crate::loss::Losses;
use crate::queue::Queue;
use crate::random::Random;
use crate::source::Sent;

/// What lies between the two ends.
pub trait Path {
    /// The delay of the next packet in nanoseconds; none when it is lost.
    fn pass(&mut self, packet: Sent) -> Option<u32>;
}

impl Path for Queue {
    fn pass(&mut self, packet: Sent) -> Option<u32> {
        Queue::pass(self, packet)
    }
}

/// A path whose delays are drawn from a law, and its losses, independently of each other.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The delays.
    pub delay: Delay,
    /// The losses.
    pub losses: Losses,
    /// The random numbers for the delays.
    pub random: Random,
}

impl Path for Drawn {
    fn pass(&mut self, _packet: Sent) -> Option<u32> {
        let delay = self.delay.draw(&mut self.random);
        let is_lost = self.losses.next().unwrap_or(false);
        (!is_lost).then_some(delay)
    }
}

/// A packet and its fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The packet as it is sent.
    pub sent: Sent,
    /// The interval in which it is sent.
    pub interval: u32,
    /// Its arrival; none when it is lost.
    pub arrival: Option<Arrival>,
}

/// A packet's arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Nanoseconds since the packet was sent.
    pub delay: u32,
    /// The interval in which the receiver counts it.
    pub interval: u32,
}

/// Reordering at the edges of intervals.
#[derive(Clone, Debug)]
pub struct Edges {
    /// How many packets before an edge, and as many after it, may cross it; at most half an interval.
    pub window: u64,
    /// The probability that each of them does.
    pub probability: f64,
    /// The random numbers that decide it.
    pub random: Random,
}

/// An endless stream of packets in intervals.
#[derive(Clone, Debug)]
pub struct Stream<S, P> {
    source: S,
    path: P,
    /// Packets of an interval.
    length: u64,
    edges: Option<Edges>,
    interval: u32,
    /// Packets of the interval so far.
    position: u64,
}

impl<S: Iterator<Item = Sent>, P: Path> Stream<S, P> {
    /// The packets of `source` over `path`, in intervals of `length` packets, at least 1.
    pub fn new(source: S, path: P, length: u64) -> Self {
        Stream { source, path, length: length.max(1), edges: None, interval: 0, position: 0 }
    }

    /// The same with reordering at the edges.
    #[must_use]
    pub fn reordered(self, edges: Edges) -> Self {
        Stream { edges: Some(edges), ..self }
    }

    /// The interval in which the packet at `position` of the current interval arrives.
    fn arrival_interval(&mut self) -> u32 {
        let Some(edges) = &mut self.edges else { return self.interval };
        let window = edges.window.min(self.length / 2);
        if self.position + window >= self.length && edges.random.chance(edges.probability) {
            self.interval + 1
        } else if self.position < window && self.interval > 0 && edges.random.chance(edges.probability) {
            self.interval - 1
        } else {
            self.interval
        }
    }
}

impl<S: Iterator<Item = Sent>, P: Path> Iterator for Stream<S, P> {
    type Item = Packet;

    fn next(&mut self) -> Option<Packet> {
        let sent = self.source.next()?;
        let delay = self.path.pass(sent);
        let arrival = delay.map(|delay| Arrival { delay, interval: self.arrival_interval() });
        let packet = Packet { sent, interval: self.interval, arrival };
        self.position += 1;
        if self.position == self.length {
            (self.interval, self.position) = (self.interval.wrapping_add(1), 0);
        }
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Seed;
    use crate::source::Paced;

    fn path() -> Drawn {
        Drawn {
            delay: Delay::weibull(200.0, 0.6),
            losses: Losses::uniform(0.1, Seed::new(1).random()),
            random: Seed::new(2).random(),
        }
    }

    const SOURCE: Paced = Paced { gap: 200, bytes: 250, time: 0 };

    #[test]
    fn packets_come_from_the_source_and_their_fate_from_the_path() {
        let (mut alone, length) = (path(), 1000);
        for (packet, (sent, number)) in Stream::new(SOURCE, path(), length).zip(SOURCE.zip(0u64..)).take(5000)
        {
            assert_eq!((packet.sent, u64::from(packet.interval)), (sent, number / length));
            assert_eq!(packet.arrival.map(|arrival| arrival.delay), alone.pass(sent));
            assert!(packet.arrival.is_none_or(|arrival| arrival.interval == packet.interval));
        }
    }

    #[test]
    fn only_packets_near_an_edge_cross_it() {
        let (length, window, probability) = (1000, 50, 0.3);
        let edges = Edges { window, probability, random: Seed::new(3).random() };
        let intervals = 400u32;
        let mut crossed = [0.0; 2];
        let stream = Stream::new(SOURCE, path(), length).reordered(edges);
        for (packet, number) in stream.zip(0u64..).take(length as usize * intervals as usize) {
            let Some(arrival) = packet.arrival else { continue };
            let position = number % length;
            if arrival.interval == packet.interval + 1 {
                assert!(position >= length - window);
                crossed[0] += 1.0;
            } else if arrival.interval != packet.interval {
                assert_eq!(arrival.interval + 1, packet.interval);
                assert!(position < window);
                crossed[1] += 1.0;
            }
        }
        let expected = f64::from(intervals) * window as f64 * 0.9 * probability;
        for count in crossed {
            assert!((count - expected).abs() < 5.0 * expected.sqrt(), "{crossed:?}, not {expected}");
        }
    }
}
