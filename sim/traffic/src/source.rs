//! Sources: when packets are sent and how long they are.
//!
//! * [`Paced`]: packets of equal length at equal distances.
//! * [`Sessions`]: sessions begin at random (Poisson), and each sends a Pareto-distributed number of packets (shape
//!   1.5: a few carry most of the traffic) at random distances, whose mean is the same in all sessions. So load
//!   varies on all time scales, as in aggregated Internet traffic. Of every 12 packets, 7 have 64 bytes, 4 have 576
//!   and one has 1500 (the "simple Internet mix").
//!
//! Memory: a few bytes for each session under way.
//!
//! # Test plan
//!
//! Order of time; rate and mean length against the requested ones; burstier than Poisson; seeds repeat.

use crate::random::Random;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A packet as it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Nanoseconds since the source began.
    pub time: u64,
    /// Length in bytes.
    pub bytes: u32,
}

/// Packets of equal length at equal distances, endlessly.
#[derive(Clone, Debug)]
pub struct Paced {
    /// Distance in nanoseconds.
    pub gap: u64,
    /// Length in bytes.
    pub bytes: u32,
    /// When the next packet is sent.
    pub time: u64,
}

impl Iterator for Paced {
    type Item = Sent;

    fn next(&mut self) -> Option<Sent> {
        let sent = Sent { time: self.time, bytes: self.bytes };
        self.time += self.gap;
        Some(sent)
    }
}

/// Mean length of a packet of [`Sessions`] in bytes.
pub const MEAN_BYTES: f64 = (7.0 * 64.0 + 4.0 * 576.0 + 1500.0) / 12.0;
/// Shape of the number of a session's packets.
const SESSION_SHAPE: f64 = 1.5;
/// Fewest packets of a session; on average they have three times as many.
const SESSION_PACKETS: f64 = 10.0;

/// Sessions that begin at random and send packets at random, endlessly.
#[derive(Clone, Debug)]
pub struct Sessions {
    random: Random,
    /// Mean distance of a session's packets in nanoseconds.
    gap: f64,
    /// Mean distance of beginnings in nanoseconds.
    interval: f64,
    /// When the next session begins.
    beginning: u64,
    /// Sessions under way: when the next packet is sent, how many follow it, and the session's number.
    active: BinaryHeap<Reverse<(u64, u64, u64)>>,
    /// Sessions that have begun.
    begun: u64,
}

impl Sessions {
    /// Sessions that together send `bytes_per_second` on average. While it lasts, each of them sends the share
    /// `share` of that, within 0 to 1.
    ///
    /// The start is empty: the load builds up over the length of a few sessions.
    pub fn new(bytes_per_second: f64, share: f64, mut random: Random) -> Self {
        let a_packet = 1e9 * MEAN_BYTES / bytes_per_second;
        let interval = a_packet * SESSION_PACKETS * SESSION_SHAPE / (SESSION_SHAPE - 1.0);
        let beginning = random.exponential(interval) as u64;
        Sessions { gap: a_packet / share, interval, beginning, active: BinaryHeap::new(), begun: 0, random }
    }

    fn begin(&mut self) {
        let packets = SESSION_PACKETS * self.random.uniform().powf(-SESSION_SHAPE.recip());
        // Rounded up or down at random, which keeps the mean.
        let packets = (packets + self.random.uniform()) as u64;
        self.active.push(Reverse((self.beginning, packets - 1, self.begun)));
        self.begun += 1;
        self.beginning += self.random.exponential(self.interval).round() as u64;
    }

    fn length(&mut self) -> u32 {
        match self.random.bits() % 12 {
            0..7 => 64,
            7..11 => 576,
            _ => 1500,
        }
    }
}

impl Sessions {
    /// The next packet, and the number of its session, by their beginnings.
    pub fn next_of_session(&mut self) -> Option<(Sent, u64)> {
        while self.active.peek().is_none_or(|Reverse((time, ..))| *time >= self.beginning) {
            self.begin();
        }
        let Reverse((time, following, session)) = self.active.pop()?;
        if following > 0 {
            let next = time + self.random.exponential(self.gap).round() as u64;
            self.active.push(Reverse((next, following - 1, session)));
        }
        Some((Sent { time, bytes: self.length() }, session))
    }
}

impl Iterator for Sessions {
    type Item = Sent;

    fn next(&mut self) -> Option<Sent> {
        self.next_of_session().map(|(packet, _)| packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Seed;

    #[test]
    fn paced_packets() {
        let packets: Vec<Sent> = Paced { gap: 200, bytes: 250, time: 5 }.take(3).collect();
        assert_eq!(packets.iter().map(|packet| packet.time).collect::<Vec<_>>(), [5, 205, 405]);
    }

    #[test]
    fn sessions_keep_their_rate_in_bursts() {
        let rate = 1e9;
        let source = || Sessions::new(rate, 0.01, Seed::new(1).random());
        let packets: Vec<Sent> = source().take(1_000_000).collect();
        assert!(packets.is_sorted_by_key(|packet| packet.time));
        assert!(source().take(1000).eq(packets[..1000].iter().copied()));

        let bytes: f64 = packets.iter().map(|packet| f64::from(packet.bytes)).sum();
        let mean = bytes / packets.len() as f64;
        // Five standard deviations of the mix, whose own is 429.
        assert!((mean - MEAN_BYTES).abs() < 5.0 * 429.0 / 1000.0, "{mean}");
        // Session lengths of infinite variance: the rate settles slowly.
        let seconds = packets[packets.len() - 1].time as f64 / 1e9;
        assert!((bytes / seconds / rate - 1.0).abs() < 0.1, "{}", bytes / seconds);

        // Sessions are numbered as they begin, and have 30 packets each on average, of infinite variance.
        let mut source = source();
        let numbers: Vec<u64> =
            std::iter::from_fn(|| source.next_of_session()).take(1_000_000).map(|each| each.1).collect();
        let most = numbers.iter().max().unwrap() + 1;
        let first = |session: u64| numbers.iter().position(|number| *number == session);
        assert!((0..100).map(first).is_sorted());
        assert!((numbers.len() as f64 / most as f64 / 30.0 - 1.0).abs() < 0.2, "{most}");

        // Packets in windows of 10 ms: Poisson would have a variance equal to the mean.
        let mut windows = vec![0.0; (seconds * 100.0) as usize];
        for packet in &packets {
            if let Some(window) = windows.get_mut((packet.time / 10_000_000) as usize) {
                *window += 1.0;
            }
        }
        let mean = windows.iter().sum::<f64>() / windows.len() as f64;
        let variance = windows.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / windows.len() as f64;
        assert!(variance > 10.0 * mean, "mean {mean}, variance {variance}");
    }
}
