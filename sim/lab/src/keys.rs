//! Where packets' hashes come from: drawn at random, or computed from keys that differ in a counter alone.
//!
//! Traffic of one flow often differs in little but a counter, of which the product's linear hashes make regular patterns; its
//! rounds behind the hash have to break them. So every experiment can be repeated with such keys, hashed and placed as the
//! product does:
//!
//! | keys | what counts |
//! |---|---|
//! | [`Counter::Identification`] | the IPv4 identification; another port after 65,536 packets |
//! | [`Counter::Sequence`] | the TCP sequence number, by 1448 |
//! | [`Counter::Both`] | both |
//! | [`Counter::Rtp`] | identification, RTP sequence number, and RTP timestamp by 160 |
//!
//! # Test plan
//!
//! Delays that follow the order of packets: from a queue, and alternating. For all counters and both hashes: the deviation's
//! squared error against that of drawn hashes, and how often the intervals of mean, median and p90 hold, within what chance
//! allows; the linear hashes alone fail it. Keys differ.

use deltaline_model::packet::hash::{HashKind, LinearHash};
use deltaline_model::packet::identity::{KEY_WORDS, Key, PAYLOAD_WORD};
use deltaline_model::sketch::place::Placement;
use deltaline_traffic::random::{Random, Seed};
use serde::{Serialize, Serializer};
use std::fmt;

/// The packets' keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keys {
    /// None: hashes are drawn.
    #[default]
    Random,
    /// Counters, hashed by a function of this kind.
    Counter(Counter, HashKind),
}

/// What differs between packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// The IPv4 identification.
    Identification,
    /// The TCP sequence number.
    Sequence,
    /// IPv4 identification and TCP sequence number.
    Both,
    /// IPv4 identification, sequence number and timestamp of RTP.
    Rtp,
}

impl Counter {
    /// All of them.
    pub const ALL: [Counter; 4] = [Counter::Identification, Counter::Sequence, Counter::Both, Counter::Rtp];

    /// The key of the packet with this number; keys of the first 2^29 packets differ.
    fn key(self, number: u32) -> Key {
        let (tcp, udp) = (6, 17);
        let counted = number << 16;
        let sequence = number.wrapping_mul(1448);
        let mut words = [0; KEY_WORDS];
        // A length, "do not fragment", a protocol, addresses, ports.
        words[0] = 0x4500_05dc;
        words[1] = 0x4000;
        words[2] = tcp << 16;
        (words[3], words[4]) = (0x0a00_0001, 0x0a00_0002);
        words[PAYLOAD_WORD] = 0xc350_0050;
        let [ports, first, second, third, ..] = &mut words[PAYLOAD_WORD..] else { return words.into() };
        match self {
            Counter::Identification => *ports += number >> 16,
            Counter::Sequence | Counter::Both => *first = sequence,
            Counter::Rtp => {
                (*first, *second, *third) =
                    (0x00b4_0000, 0x8060_0000 | number & 0xffff, number.wrapping_mul(160));
                words[2] = udp << 16;
            }
        }
        if self != Counter::Sequence {
            words[1] |= counted;
        }
        words.into()
    }
}

impl Keys {
    /// The hashes of the packets one after the other; `seed` draws them, or the hash function.
    pub fn hashes(self, seed: Seed) -> Hashes {
        let mut random = seed.random();
        Hashes(match self {
            Keys::Random => Source::Drawn(random),
            Keys::Counter(counter, kind) => {
                let seed = random.bits();
                let (hash, placement) = (LinearHash::new(kind, seed), Placement::new(seed));
                Source::Counted(Box::new(Counted { counter, hash, placement, number: 0 }))
            }
        })
    }
}

/// As the program is asked for them.
impl fmt::Display for Keys {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Keys::Counter(counter, kind) = self else { return f.write_str("random") };
        let counter = match counter {
            Counter::Identification => "identification",
            Counter::Sequence => "sequence",
            Counter::Both => "both",
            Counter::Rtp => "rtp",
        };
        let hash = match kind {
            HashKind::H3 => "h3",
            HashKind::Rabin => "rabin",
        };
        write!(f, "{counter} --hash {hash}")
    }
}

impl Serialize for Keys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The hashes of packets, one after the other.
pub struct Hashes(Source);

enum Source {
    Drawn(Random),
    Counted(Box<Counted>),
}

struct Counted {
    counter: Counter,
    hash: LinearHash,
    placement: Placement,
    /// Of the next packet.
    number: u32,
}

impl Hashes {
    /// The next packet's 64 bits: the upper ones pick the bank, the lower ones the row.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        match &mut self.0 {
            Source::Drawn(random) => random.bits(),
            Source::Counted(counted) => {
                let Counted { counter, hash, placement, number } = &mut **counted;
                let place = placement.place(hash.hash(&counter.key(*number)));
                *number = number.wrapping_add(1);
                u64::from(place) << 32 | u64::from(place)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::banks::Banks;
    use crate::outcome::Moments;
    use deltaline_estimate::{Confidence, Observation, Singles, estimate, quantile};
    use deltaline_model::sketch::cell::Cell;
    use deltaline_model::sketch::sampler::Prefixes;
    use deltaline_traffic::queue::Queue;
    use deltaline_traffic::source::Sessions;
    use deltaline_traffic::stream::Stream;
    use rayon::prelude::*;
    use std::collections::HashSet;

    const PACKETS: usize = 1 << 15;
    const ROWS: u32 = 1024;
    const SEEDS: u64 = 200;
    /// Of the linear hashes alone, which fail by far.
    const FEW_SEEDS: u64 = 40;

    #[test]
    fn keys_differ() {
        for counter in Counter::ALL {
            let keys: HashSet<[u8; 68]> = (0..200_000).map(|number| counter.key(number).to_bytes()).collect();
            assert_eq!(keys.len(), 200_000, "{counter:?}");
        }
    }

    /// What became of the packets: from a queue that loses some, and with every other one late.
    fn fates() -> [Vec<Option<u32>>; 2] {
        let seed = Seed::new(3);
        let source = Sessions::new(1.25e9, 0.05, seed.with(0).random());
        let stream = Stream::new(source, Queue::drop_tail(500, 1.25e9), PACKETS as u64);
        let delay = |packet: deltaline_traffic::stream::Packet| packet.arrival.map(|arrival| arrival.delay);
        let queue = stream.skip(PACKETS).take(PACKETS).map(delay).collect();
        let mut random = seed.with(1).random();
        let alternating = |number| 10_000 + number % 2 * 5_000 + (random.bits() % 64) as u32;
        [queue, (0..PACKETS as u32).map(alternating).map(Some).collect()]
    }

    /// Over hash functions: squared errors of the deviation in units of their expectation with a light tail, and the shares of
    /// intervals that hold mean, median and p90.
    #[derive(Clone, Copy, Debug, Default)]
    struct Found {
        deviation: f64,
        held: [f64; 3],
    }

    impl Found {
        fn of(fate: &[Option<u32>], hashes: &mut dyn FnMut() -> u64) -> Self {
            let banks = Banks::of_prefixes(ROWS, &Prefixes::new(&[1, 5]).unwrap());
            let mut sender = vec![Cell::default(); banks.cells()];
            let (mut receiver, mut moments, mut delays) = (sender.clone(), Moments::default(), vec![]);
            for (&delay, number) in fate.iter().zip(0u64..) {
                moments.add(delay);
                let cell = banks.cell(hashes());
                cell.iter().for_each(|&cell| _ = sender[cell].add(800 * number));
                if let Some(delay) = delay {
                    delays.push(delay);
                    cell.iter().for_each(|&cell| _ = receiver[cell].add(800 * number + u64::from(delay)));
                }
            }
            delays.sort_unstable();
            let truth = moments.truth();
            let observation = Observation {
                rows: ROWS as usize,
                sender: &sender,
                receiver: &receiver,
                sent: truth.sent,
                received: truth.received,
            };
            let estimate = estimate(&observation).unwrap();
            let error = estimate.deviation.unwrap() / truth.deviation - 1.0;
            let singles = Singles::of(&observation);
            // Linear hashes may leave too few rows with a single packet.
            let holds = |probability: f64| {
                let Ok(found) = quantile(&[&singles], probability, Confidence::P95) else { return false };
                let range = found.value.range;
                let truth = f64::from(delays[(probability * delays.len() as f64).ceil() as usize - 1]);
                (range.lower..=range.upper).contains(&truth)
            };
            let mean = estimate.mean.unwrap().range(Confidence::P95).unwrap();
            let held = [(mean.lower..=mean.upper).contains(&truth.mean), holds(0.5), holds(0.9)];
            Found {
                deviation: error * error * 2.0 * estimate.usable_rows as f64,
                held: held.map(|held| f64::from(u8::from(held))),
            }
        }

        fn plus(self, other: Found) -> Found {
            let sum = |what: usize| self.held[what] + other.held[what];
            Found { deviation: self.deviation + other.deviation, held: [sum(0), sum(1), sum(2)] }
        }

        /// The averages over hash functions, for both fates.
        fn average<F: FnMut() -> u64>(
            fates: &[Vec<Option<u32>>; 2],
            seeds: u64,
            hashes: impl Fn(u64) -> F + Sync,
        ) -> [Found; 2] {
            let average = |fate: &Vec<Option<u32>>| {
                let runs = (0..seeds).into_par_iter().map(|seed| Found::of(fate, &mut hashes(seed)));
                let sum = runs.reduce(Found::default, Found::plus);
                let share = |sum: f64| sum / seeds as f64;
                Found { deviation: share(sum.deviation), held: sum.held.map(share) }
            };
            fates.each_ref().map(average)
        }

        /// Whether these, over so many hash functions, are averages like those of drawn hashes.
        fn is_by_chance(&self, drawn: &Found, seeds: u64) -> bool {
            let runs = seeds as f64;
            // Four deviations of the ratio of two averages of squares of nearly normal errors, and of the share of intervals that
            // hold: 95 %, those of quantiles in more.
            let spread = 4.0 * (4.0 / runs).sqrt();
            let ratio = (self.deviation / drawn.deviation).ln().abs();
            let margin = 4.0 * (0.95 * 0.05 / runs).sqrt();
            ratio < spread && self.held.iter().all(|held| *held >= 0.95 - margin)
        }
    }

    #[test]
    fn counters_are_as_good_as_drawn_hashes() {
        let fates = fates();
        let drawn = Found::average(&fates, SEEDS, |seed| {
            let mut hashes = Keys::Random.hashes(Seed::new(seed));
            move || hashes.bits()
        });
        for kind in [HashKind::H3, HashKind::Rabin] {
            for counter in Counter::ALL {
                let placed = Found::average(&fates, SEEDS, |seed| {
                    let mut hashes = Keys::Counter(counter, kind).hashes(Seed::new(seed));
                    move || hashes.bits()
                });
                let linear = Found::average(&fates, FEW_SEEDS, |seed| {
                    let (hash, mut number) = (LinearHash::new(kind, seed), 0);
                    move || {
                        number += 1;
                        hash.hash(&counter.key(number))
                    }
                });
                println!("{counter:?}, {kind:?}: {placed:?}; linear {linear:?}; drawn {drawn:?}");
                assert!(placed.iter().zip(&drawn).all(|(placed, drawn)| placed.is_by_chance(drawn, SEEDS)));
                // Two counters that run apart are nearly random already.
                if counter != Counter::Both {
                    assert!(
                        !linear
                            .iter()
                            .zip(&drawn)
                            .all(|(linear, drawn)| linear.is_by_chance(drawn, FEW_SEEDS))
                    );
                }
            }
        }
    }
}
