//! Queues: delay and loss at a router's output.
//!
//! Packets wait in one queue that a link of constant rate drains. The delay of a packet is the time until its last
//! byte has left. A packet that finds the queue full is lost (drop-tail); with random early detection (RED, Floyd and
//! Jacobson 1993) it may be lost before.
//!
//! RED keeps a moving average of the length, `average += weight * (length - average)` at every arrival. After an
//! idle time it is updated as if as many small packets as could have left had found the queue empty. Below `least`
//! nothing is lost, and from `most` on everything. Between them p = p_b / (1 - count * p_b), where p_b rises
//! linearly from 0 to `probability` and `count` is the number of packets since the last loss.
//!
//! [`Red::RLI`] are the parameters of the RLI paper (Lee et al., SIGCOMM 2010, section 4.2). Its drain rate in
//! bytes a second is chosen to give the delay and loss that are wanted, and so it is here.
//!
//! Memory: one number for each packet in the queue.
//!
//! # Test plan
//!
//! Worked examples; waiting times of Poisson arrivals against the formula of Pollaczek and Khinchine; a drop-tail
//! queue loses what does not fit and nothing else; RED's losses at a constant average against its probability.

use crate::random::Random;
use crate::source::Sent;
use std::collections::VecDeque;

/// Parameters of random early detection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Red {
    /// Average length in packets from which on packets are lost at random.
    pub least: f64,
    /// Average length in packets from which on all packets are lost.
    pub most: f64,
    /// Weight of an arrival in the average.
    pub weight: f64,
    /// Probability of loss just below `most`.
    pub probability: f64,
}

impl Red {
    /// The RLI paper's, for a queue of [`RLI_CAPACITY`].
    pub const RLI: Red = Red { least: 4000.0, most: 9000.0, weight: 0.002, probability: 1.0 / 50.0 };

    /// The COLATE paper's (Shahzad and Liu, SIGMETRICS 2014, section 6.1), for a queue of so many packets: half a second at the link's rate.
    pub fn colate(capacity: usize) -> Red {
        Red { least: 0.475 * capacity as f64, most: 0.95 * capacity as f64, ..Red::RLI }
    }
}

/// Packets that the RLI paper's queue holds.
pub const RLI_CAPACITY: usize = 10_000;
/// Length of the packets that an idle time counts as, in bytes.
const SMALL_BYTES: f64 = 64.0;

/// A queue in front of a link.
#[derive(Clone, Debug)]
pub struct Queue {
    capacity: usize,
    nanoseconds_a_byte: f64,
    /// When each packet in the queue will have left, in nanoseconds.
    departures: VecDeque<f64>,
    early: Option<Early>,
}

/// State of random early detection.
#[derive(Clone, Debug)]
struct Early {
    parameters: Red,
    random: Random,
    average: f64,
    /// Packets since the last loss; -1 below the lower limit, as the paper's pseudocode has it.
    count: f64,
    /// When the queue became empty, if it is.
    idle_since: f64,
}

impl Queue {
    /// A queue of `capacity` packets, drained at `bytes_per_second`.
    pub fn drop_tail(capacity: usize, bytes_per_second: f64) -> Self {
        let nanoseconds_a_byte = 1e9 / bytes_per_second;
        Queue { capacity, nanoseconds_a_byte, departures: VecDeque::new(), early: None }
    }

    /// A queue of `capacity` packets with random early detection, drained at `bytes_per_second`.
    pub fn red(capacity: usize, bytes_per_second: f64, parameters: Red, random: Random) -> Self {
        let early = Some(Early { parameters, random, average: 0.0, count: -1.0, idle_since: 0.0 });
        Queue { early, ..Queue::drop_tail(capacity, bytes_per_second) }
    }

    /// Packets in the queue when it was last offered one.
    pub fn length(&self) -> usize {
        self.departures.len()
    }

    /// The delay of the next packet in nanoseconds (at most 2^32 - 1); none when it is lost. Packets must come in
    /// order of time.
    pub fn pass(&mut self, packet: Sent) -> Option<u32> {
        let now = packet.time as f64;
        let mut left = None;
        while self.departures.front().is_some_and(|&departure| departure <= now) {
            left = self.departures.pop_front();
        }
        if let Some(early) = &mut self.early {
            if let (Some(left), true) = (left, self.departures.is_empty()) {
                early.idle_since = left;
            }
            let small = SMALL_BYTES * self.nanoseconds_a_byte;
            if early.loses(self.departures.len(), now, small) {
                return None;
            }
        }
        if self.departures.len() >= self.capacity {
            return None;
        }
        let start = self.departures.back().copied().unwrap_or(now);
        let departure = start + f64::from(packet.bytes) * self.nanoseconds_a_byte;
        self.departures.push_back(departure);
        Some((departure - now).round() as u32)
    }
}

impl Early {
    /// Whether a packet that finds `length` packets at `now` is lost early; the link takes `small` for a small
    /// packet.
    fn loses(&mut self, length: usize, now: f64, small: f64) -> bool {
        let Red { least, most, weight, probability } = self.parameters;
        if length == 0 {
            self.average *= (1.0 - weight).powf((now - self.idle_since) / small);
            // From now on the queue is not idle, unless it becomes empty again.
            self.idle_since = now;
        } else {
            self.average += weight * (length as f64 - self.average);
        }
        if self.average < least {
            self.count = -1.0;
            return false;
        }
        self.count += 1.0;
        let base = probability * (self.average - least) / (most - least);
        // Once the denominator is no longer positive, the loss is certain.
        let lost = self.average >= most
            || self.count * base >= 1.0
            || self.random.chance(base / (1.0 - self.count * base));
        if lost {
            self.count = 0.0;
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Seed;
    use crate::source::Paced;

    #[test]
    fn a_queue_by_hand() {
        // One byte a nanosecond, two places.
        let mut queue = Queue::drop_tail(2, 1e9);
        let mut pass = |time, bytes| queue.pass(Sent { time, bytes });
        assert_eq!(pass(0, 100), Some(100));
        assert_eq!(pass(10, 50), Some(140));
        assert_eq!(pass(99, 1), None);
        assert_eq!(pass(100, 7), Some(57));
        assert_eq!(pass(200, 7), Some(7));
    }

    #[test]
    fn the_colate_papers_queue_loses_from_where_it_is_about_half_full() {
        // Packets arrive twice as fast as they leave, and so the queue grows by a packet with every second one; the average is some 1 / weight
        // arrivals behind.
        let mut queue = Queue::red(100_000, 1e9, Red::colate(100_000), Seed::new(1).random());
        let first = Paced { gap: 50, bytes: 100, time: 0 }.position(|packet| queue.pass(packet).is_none());
        let expected = 2 * 47_500 + 500;
        // At the lower limit nothing is lost; the probability then rises by 1/50 along 47,500 packets, so the first loss comes
        // some thousands of packets later, and hardly ever tens of thousands.
        assert!(first.is_some_and(|first| (expected..expected + 40_000).contains(&first)), "{first:?}");
        assert!(queue.length() > 47_500);
    }

    #[test]
    fn an_overloaded_queue_loses_what_does_not_fit() {
        // Packets arrive at 1.25 times the rate of the link: a fifth is lost, and a packet that waits, waits for a
        // full queue.
        let mut queue = Queue::drop_tail(50, 1e9);
        let delays: Vec<Option<u32>> =
            Paced { gap: 80, bytes: 100, time: 0 }.take(100_000).map(|packet| queue.pass(packet)).collect();
        let lost = delays.iter().filter(|delay| delay.is_none()).count();
        assert!((lost as f64 - 20_000.0).abs() < 100.0, "{lost}");
        assert!(delays[1000..].iter().flatten().all(|delay| (4800..=5000).contains(delay)));
    }

    #[test]
    fn waiting_times_are_pollaczeks_and_khinchines() {
        // Poisson arrivals, one length: the mean wait is load / (2 (1 - load)) services.
        let mut random = Seed::new(1).random();
        for load in [0.3, 0.7] {
            let mut queue = Queue::drop_tail(usize::MAX, 1e9);
            let (mut time, mut total, packets) = (0.0, 0.0, 400_000);
            for _ in 0..packets {
                time += random.exponential(1000.0 / load);
                let delay = queue.pass(Sent { time: time as u64, bytes: 1000 });
                total += f64::from(delay.unwrap()) - 1000.0;
            }
            let (wait, expected) = (total / f64::from(packets) / 1000.0, load / (2.0 * (1.0 - load)));
            // Successive waits are alike for about 1 / (1 - load)^2 packets: 0.02 is at least four deviations.
            assert!((wait / expected - 1.0).abs() < 0.02, "{load}: {wait}, not {expected}");
        }
    }

    #[test]
    fn early_losses_are_as_frequent_as_the_average_demands() {
        let parameters = Red { least: 10.0, most: 30.0, weight: 1.0, probability: 0.1 };
        let random = Seed::new(2).random();
        let mut early = Early { parameters, random, average: 0.0, count: -1.0, idle_since: 0.0 };
        let trials = 100_000;
        let mut losses = |length| (0..trials).filter(|_| early.loses(length, 0.0, 1.0)).count() as f64;
        assert_eq!(losses(9), 0.0);
        assert_eq!(losses(30), f64::from(trials));
        // p_b = 0.05 makes the distance between losses uniform over 1..=19: mean 10.
        let expected = f64::from(trials) / 10.0;
        assert!((losses(20) / expected - 1.0).abs() < 0.02);
    }

    #[test]
    fn red_forgets_in_idle_times() {
        let random = Seed::new(3).random();
        let mut queue = Queue::red(RLI_CAPACITY, 1e9, Red { weight: 0.5, ..Red::RLI }, random);
        for _ in 0..6000 {
            let _ = queue.pass(Sent { time: 0, bytes: 64 });
        }
        let average = |queue: &Queue| queue.early.as_ref().map(|early| early.average).unwrap();
        assert!(average(&queue) > 4000.0);
        // All has left long ago.
        assert_eq!(queue.pass(Sent { time: 1_000_000_000, bytes: 64 }), Some(64));
        assert!(average(&queue) < 1.0);
    }

    #[test]
    fn red_holds_the_queue_between_its_limits() {
        // 1 % too much load: 1 % must be lost, so the average settles between the limits.
        let random = Seed::new(4).random();
        let mut queue = Queue::red(RLI_CAPACITY, 1e9, Red::RLI, random);
        let mut lost = 0;
        let packets = 3_000_000;
        for packet in (Paced { gap: 99, bytes: 100, time: 0 }).take(packets) {
            lost += usize::from(queue.pass(packet).is_none());
        }
        let length = queue.length();
        assert!((4000..9000).contains(&length), "{length}");
        // The queue itself held about 5000 of the surplus.
        let expected = packets as f64 * 0.0099 - length as f64;
        assert!((lost as f64 / expected - 1.0).abs() < 0.05, "{lost}, not {expected}");
    }
}
