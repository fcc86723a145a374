//! A path and what is sent on it, as both ends see it, packet by packet: for the experiments that ask for order.
//!
//! # Test plan
//!
//! Packets from elsewhere are at the receiver alone, in the order of time, and leave all others as they are; probes see what packets see where
//! these are sent at Poisson's times, too; rank errors by hand.

use crate::traffic::{Pattern, purpose};
use deltaline_model::sketch::synopsis::Hashed;
use deltaline_model::time::Timestamp;
use deltaline_traffic::delay::Delay;
use deltaline_traffic::queue::Queue;
use deltaline_traffic::random::{Random, Seed};
use deltaline_traffic::source::{MEAN_BYTES, Sessions};
use deltaline_traffic::stream::Stream;

/// Boundaries have at least so many zeros, where they are lost more often than others.
const LOST_BOUNDARY: u32 = 5;

/// What delays packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Law {
    /// A random walk around the mean, with this standard deviation.
    Correlated(f64),
    /// Weibull delays of this mean and shape 0.7, in order.
    Weibull(f64),
    /// A queue that drops its tail, at this load.
    Queue(f64),
}

/// A path and what is sent on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) law: Law,
    /// Packets a second.
    pub(crate) rate: f64,
    /// Share of the packets that are lost, beside those that a queue drops.
    pub(crate) loss: f64,
    pub(crate) pattern: Pattern,
    /// Share of the packets that others overtake.
    pub(crate) overtaken: f64,
    /// Further loss of packets that start slices.
    pub(crate) boundaries_lost: f64,
    /// Packets that come in from elsewhere, at any time, for each that is sent.
    pub(crate) foreign: f64,
}

/// A packet: when it is sent, and when it arrives.
#[derive(Clone, Copy, Debug)]
struct Travel {
    sent: u64,
    received: Option<u64>,
    /// When it and all that were sent before are through, lost or not, but for those that a queue dropped.
    through: u64,
}

impl Path {
    /// One that keeps all packets and their order.
    pub(crate) fn new(law: Law, rate: f64) -> Self {
        Path {
            law,
            rate,
            loss: 0.0,
            pattern: Pattern::Uniform,
            overtaken: 0.0,
            boundaries_lost: 0.0,
            foreign: 0.0,
        }
    }

    fn travels(&self, packets: usize, seed: Seed) -> Vec<Travel> {
        let mut travels = match self.law {
            Law::Queue(load) => self.queued(load, packets, seed),
            Law::Correlated(_) | Law::Weibull(_) => self.delayed(packets, seed),
        };
        let mut through = 0;
        for travel in &mut travels {
            through = travel.received.map_or(through, |received| received.max(through));
            travel.through = through;
        }
        let losses = self.pattern.losses(self.loss, seed.with(purpose::LOSSES));
        for (travel, lost) in travels.iter_mut().zip(losses) {
            travel.received = travel.received.filter(|_| !lost);
        }
        if self.overtaken > 0.0 {
            let mut random = seed.with(purpose::EDGES).random();
            for travel in &mut travels {
                if random.chance(self.overtaken) {
                    // By some five packets on average.
                    let late = random.exponential(5e9 / self.rate) as u64;
                    travel.received = travel.received.map(|received| received + late);
                }
            }
        }
        travels
    }

    fn delayed(&self, packets: usize, seed: Seed) -> Vec<Travel> {
        let mut random = seed.with(purpose::DELAYS).random();
        let gap = 1e9 / self.rate;
        let mut weibull = Delay::weibull(1.0, 0.7);
        if let Law::Weibull(mean) = self.law {
            weibull = Delay::weibull(mean, 0.7);
        }
        let (mut time, mut walk, mut last) = (1e12, random.normal(), 0);
        let mut delay = |random: &mut Random, passed: f64| match self.law {
            Law::Correlated(deviation) => {
                // What is left of a deviation after twenty times as long as it is large.
                let kept = (-passed / (20.0 * deviation)).exp();
                walk = kept * walk + (1.0 - kept * kept).sqrt() * random.normal();
                (deviation * (4.0 + walk)).max(0.0)
            }
            _ => f64::from(weibull.draw(random)),
        };
        let travel = |_| {
            let passed = random.exponential(gap);
            time += passed;
            let sent = time as u64;
            last = (sent + 1000 + delay(&mut random, passed) as u64).max(last);
            Travel { sent, received: Some(last), through: 0 }
        };
        (0..packets).map(travel).collect()
    }

    fn queued(&self, load: f64, packets: usize, seed: Seed) -> Vec<Travel> {
        let bytes = MEAN_BYTES * self.rate;
        let source = Sessions::new(bytes, 0.05, seed.with(purpose::SOURCE).random());
        let stream = Stream::new(source, Queue::drop_tail(500, bytes / load), packets as u64);
        let travel = |packet: deltaline_traffic::stream::Packet| Travel {
            sent: packet.sent.time,
            received: packet.arrival.map(|arrival| packet.sent.time + u64::from(arrival.delay)),
            through: 0,
        };
        stream.skip(packets / 2).take(packets).map(travel).collect()
    }
}

/// Packets of both ends in a run, in the order of time, and what became of those that were sent.
pub(crate) struct Run {
    pub(crate) sent: Vec<Hashed>,
    pub(crate) received: Vec<Hashed>,
    /// The delay of each packet that was sent, in nanoseconds; none for a lost one.
    pub(crate) fates: Vec<Option<u64>>,
    /// Of each packet that was sent, when it and all before are through.
    through: Vec<u64>,
    path: Path,
}

/// Octets of a probe: the smallest frame on a link.
pub(crate) const PROBE_OCTETS: usize = 64;

impl Run {
    pub(crate) fn new(path: &Path, packets: usize, seed: Seed) -> Self {
        let travels = path.travels(packets, seed);
        let mut random = seed.with(purpose::HASHES).random();
        let hashed = |hash: u64, time| {
            let (place, digest) = (hash as u32, (hash >> 32) as u32);
            Hashed { hash, place, digest, time: Timestamp::from_nanoseconds(time), flow: 0 }
        };
        let (mut sent, mut received, mut fates, mut through) = (vec![], vec![], vec![], vec![]);
        for Travel { sent: at, received: then, through: all } in travels {
            through.push(all);
            let packet = hashed(random.bits(), at);
            sent.push(packet);
            let is_lost =
                packet.place.leading_zeros() >= LOST_BOUNDARY && random.chance(path.boundaries_lost);
            let then = then.filter(|_| !is_lost);
            received.extend(then.map(|then| hashed(packet.hash, then)));
            fates.push(then.map(|then| then - at));
        }
        let times = |packet: Option<&Hashed>| packet.map_or(0, |packet: &Hashed| packet.time.nanoseconds());
        let (first, last) = (times(sent.first()), times(sent.last()));
        let mut random = seed.with(purpose::FOREIGN).random();
        for _ in 0..(path.foreign * sent.len() as f64) as usize {
            let time = first + (random.uniform() * (last - first) as f64) as u64;
            received.push(hashed(random.bits(), time));
        }
        received.sort_by_key(|packet| packet.time.nanoseconds());
        Run { sent, received, fates, through, path: *path }
    }

    /// The delay of a probe of no matter to the packets that is sent at `time`, in front of the packet with the number `next`: it waits for the one ahead as they
    /// do.
    pub(crate) fn probe(&self, next: usize, time: f64, random: &mut Random) -> f64 {
        let Some(ahead) = next.checked_sub(1) else {
            return self.fates.get(next).copied().flatten().unwrap_or(0) as f64;
        };
        let through = self.through[ahead] as f64;
        let wait = (through - time).max(0.0);
        match self.path.law {
            Law::Queue(load) => wait + 1e9 * PROBE_OCTETS as f64 * load / (MEAN_BYTES * self.path.rate),
            Law::Weibull(mean) => wait.max(1000.0 + f64::from(Delay::weibull(mean, 0.7).draw(random))),
            Law::Correlated(_) => through - self.sent[ahead].time.nanoseconds() as f64,
        }
    }

    /// The delays of the packets that arrived, in nanoseconds, in the order in which they were sent.
    pub(crate) fn delays(&self) -> impl Iterator<Item = u64> {
        self.fates.iter().flatten().copied()
    }

    /// Packets that were sent and did not arrive.
    pub(crate) fn lost(&self) -> usize {
        self.sent.len() - self.delays().count()
    }

    /// Packets that came in from elsewhere.
    pub(crate) fn gained(&self) -> usize {
        self.received.len() - self.delays().count()
    }

    /// The mean delay of the packets that arrived, in nanoseconds; 0 when nothing did.
    pub(crate) fn mean(&self) -> f64 {
        self.delays().map(|delay| delay as f64).sum::<f64>() / self.delays().count().max(1) as f64
    }
}

/// How the true delays of a run are distributed.
pub(crate) struct Distribution(Vec<u64>);

impl Distribution {
    pub(crate) fn of(run: &Run) -> Self {
        let mut delays: Vec<u64> = run.delays().collect();
        delays.sort_unstable();
        Distribution(delays)
    }

    /// The shares of delays below a value and not above it: equal delays have all ranks between the first one and the last one.
    pub(crate) fn ranks(&self, value: f64) -> [f64; 2] {
        let below = self.0.partition_point(|delay| (*delay as f64) < value);
        let to = self.0.partition_point(|delay| (*delay as f64) <= value);
        [below, to].map(|rank| rank as f64 / self.0.len() as f64)
    }

    /// How far the rank of what is said to be the `probability`-quantile is from that.
    pub(crate) fn rank_error(&self, probability: f64, value: f64) -> f64 {
        let [below, to] = self.ranks(value);
        (probability - probability.clamp(below, to)).abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets at Poisson's times see what any moment sees; those of sessions, which come together, wait longer.
    #[test]
    fn probes_see_what_poissons_packets_see() {
        for (law, rate) in [(Law::Weibull(5e3), 1e5), (Law::Correlated(1e5), 1e6), (Law::Queue(0.7), 1e5)] {
            let ratios = (0..40).map(|seed| {
                let run = Run::new(&Path::new(law, rate), 20_000, Seed::new(seed));
                let (first, last) =
                    (run.sent[0].time.nanoseconds() as f64, run.sent[19_999].time.nanoseconds() as f64);
                let mut random = Seed::new(seed).with(9).random();
                let delay = |_| {
                    let time = first + random.uniform() * (last - first);
                    let next = run.sent.partition_point(|packet| (packet.time.nanoseconds() as f64) < time);
                    run.probe(next, time, &mut random)
                };
                (0..5000).map(delay).sum::<f64>() / 5000.0 / run.mean()
            });
            let ratios: Vec<f64> = ratios.collect();
            let mean = ratios.iter().sum::<f64>() / 40.0;
            let error = (ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / 39.0 / 40.0).sqrt();
            println!("{law:?}: probes over packets {mean:.4}, standard error {error:.4}");
            match law {
                Law::Queue(_) => assert!(mean < 1.0 - 4.0 * error, "{mean} {error}"),
                _ => assert!((mean - 1.0).abs() < 4.0 * error, "{law:?}: {mean} {error}"),
            }
        }
    }

    #[test]
    fn packets_from_elsewhere() {
        let path = Path { loss: 0.1, ..Path::new(Law::Weibull(5e3), 1e5) };
        let run = |foreign| Run::new(&Path { foreign, ..path }, 1000, Seed::new(1));
        let (clean, mixed) = (run(0.0), run(0.05));
        assert_eq!((&clean.sent, &clean.fates), (&mixed.sent, &mixed.fates));
        assert_eq!(
            (clean.received.len() + 50, clean.received.len()),
            (mixed.received.len(), 1000 - clean.lost())
        );
        let is_new = |packet: &&Hashed| !clean.received.contains(packet);
        let [first, last] = [0, 999].map(|number: usize| clean.sent[number].time.nanoseconds());
        let new: Vec<&Hashed> = mixed.received.iter().filter(is_new).collect();
        assert!(
            new.len() == 50 && new.iter().all(|packet| (first..=last).contains(&packet.time.nanoseconds()))
        );
        assert!(mixed.received.is_sorted_by_key(|packet| packet.time.nanoseconds()));
    }

    #[test]
    fn rank_errors_by_hand() {
        let delays = Distribution(vec![1, 2, 2, 2, 9]);
        assert_eq!(delays.ranks(2.0), [0.2, 0.8]);
        // Any rank between the first of equal delays and the last one is right.
        assert_eq!(delays.rank_error(0.5, 2.0), 0.0);
        assert!((delays.rank_error(0.5, 9.0) - 0.3).abs() < 1e-12);
        assert!((delays.rank_error(0.99, 2.0) - 0.19).abs() < 1e-12);
    }
}
