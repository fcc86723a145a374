//! Real traffic over a path of two hops that loses and reorders it, measured by an exchange between both ends' recordings, interval by
//! interval of their clocks, against exact matching of the packets' whole keys.
//!
//! To root alone, as a rule, who may make network namespaces; elsewhere there is nothing to test.

use crate::common::observations;
use deltaline_capture::Packet;
use deltaline_capture::matching::{Matching, match_exactly, reordering};
use deltaline_collect::exchange::{Asked, Terms, answer, ask};
use deltaline_estimate::{Difference, Further};
use deltaline_hosts::{Path, Queues, Recording, Traffic};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::packet::hash::LinearHash;
use deltaline_model::packet::identity::{Key, identify};
use deltaline_model::sketch::packet_cache::PacketCache;
use deltaline_model::sketch::packet_id::PacketId;
use deltaline_model::sketch::synopsis::Hashed;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::shape::Kind;
use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

/// Nanoseconds of an interval.
const LENGTH: u64 = 400_000_000;

struct Ends {
    terms: Terms,
    hash: LinearHash,
    recording: Recording,
}

impl Ends {
    fn hash(&self, key: &Key) -> u64 {
        self.hash.hash(key)
    }

    /// An end's packets, by the intervals of its clock.
    fn cut(&self, packets: &[Packet]) -> impl Iterator<Item = (u64, PacketCache)> {
        let mut intervals: BTreeMap<u64, PacketCache> = BTreeMap::new();
        for packet in packets {
            let Ok(identity) = identify(&packet.data) else { continue };
            let (hash, time) = (self.hash(&identity.key), Timestamp::from_nanoseconds(packet.timestamp));
            let cache = intervals.entry(packet.timestamp / LENGTH).or_default();
            cache.remember(&[Hashed { hash, time, ..Hashed::default() }]);
        }
        intervals.into_iter()
    }

    fn exchange(&self) -> Asked {
        let (near, far) = UnixStream::pair().unwrap();
        let mut sent = self.cut(&self.recording.sender);
        let mut received = self.cut(&self.recording.receiver);
        thread::scope(|scope| {
            scope.spawn(|| answer(far, &self.terms, 2, || received.next()).unwrap());
            ask(near, &self.terms, 1, || sent.next()).unwrap()
        })
    }
}

fn found(asked: &Asked, interval: usize) -> &Difference {
    let further = asked.evaluations[interval].further.iter();
    let mut found = further.filter_map(|further| match further {
        Further::Difference(found) => Some(found),
        Further::Singles(_) => None,
    });
    found.next().unwrap()
}

/// Of the packets sent in an interval: the hashes of the lost ones, in order, and the delays of the others.
fn truth(ends: &Ends, matching: &Matching, interval: u64) -> (Vec<u64>, Vec<i64>) {
    let sent = &ends.recording.sender;
    let is_in = |index: &usize| sent[*index].timestamp / LENGTH == interval;
    let key = |index: usize| identify(&sent[index].data).unwrap().key;
    let mut lost: Vec<u64> =
        matching.lost.iter().copied().filter(is_in).map(|index| ends.hash(&key(index))).collect();
    lost.sort_unstable();
    let delays = matching.pairs.iter().filter(|pair| is_in(&pair.sender)).map(|pair| pair.delay).collect();
    (lost, delays)
}

#[test]
fn lost_packets_and_delays_are_those_of_exact_matching() {
    let path = match Path::new(Queues::Two) {
        Ok(path) => path,
        Err(reason) => {
            eprintln!("not tested: network namespaces cannot be made here: {reason}");
            return;
        }
    };
    let recording =
        path.record(&Traffic { lasts: Duration::from_millis(2600), ..Traffic::default() }).unwrap();
    let settings =
        Settings { synopsis: Kind::IDENTITY_TABLE, rows: 64, prefixes: &[0], ..Settings::default() };
    let configuration = Configuration::new(settings).unwrap();
    let ends = Ends {
        terms: Terms {
            configuration,
            length: LENGTH,
            flows: 0,
            keys: None,
            patience: Duration::from_secs(20),
        },
        hash: LinearHash::new(configuration.hash(), configuration.seed()),
        recording,
    };
    let [sent, received] = [&ends.recording.sender, &ends.recording.receiver].map(observations);
    let matching = match_exactly(&sent, &received);

    // The kernel's own count is a third witness, if both recorders kept up.
    if ends.recording.unrecorded == [0, 0] {
        assert_eq!(matching.lost.len() as u64, ends.recording.dropped);
    }
    let overtaken = reordering(&matching.pairs, &sent, &received);
    assert!(
        ends.recording.dropped > 50 && overtaken.in_flow > 50,
        "{} {overtaken:?}",
        ends.recording.dropped
    );

    let asked = ends.exchange();
    assert!(asked.numbers.len() >= 4, "{:?}", asked.numbers);
    let id = PacketId::default();
    let mut late = 0;
    for (interval, number) in asked.numbers.iter().enumerate() {
        let (lost, delays) = truth(&ends, &matching, *number);
        let found = found(&asked, interval);
        assert!(found.complete);
        let mut names: Vec<u64> = found.only_sent.iter().map(|halves| id.hash_of(*halves)).collect();
        names.sort_unstable();
        assert_eq!(names, lost, "interval {number}");
        assert_eq!((found.only_received.len(), found.early), (0, 0), "interval {number}");
        let (estimate, _) = asked.evaluations[interval].result.as_ref().unwrap();
        let exact = delays.iter().sum::<i64>() as f64 / delays.len() as f64;
        let mean = estimate.mean.unwrap().nanoseconds;
        assert!((mean - exact).abs() < 1.0, "interval {number}: {mean} ns, {exact} ns");
        late += found.late;
    }
    // Queues are some 20 ms long.
    assert!(late > 10, "{late}");
}
