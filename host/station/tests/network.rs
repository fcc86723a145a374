//! Paths of queues, measured segment by segment.
//!
//! # Test plan
//!
//! Each segment is a queue with other traffic in it besides the path's, and both its ends keep cells, half of the packets in them. What
//! is composed of the segments' estimates is compared with every packet's own delay from end to end; the coverage is bounded below
//! by binomials. A squeezed segment, and nothing else, is named within three intervals, twenty times in twenty; in 200 quiet intervals
//! none is. With losses the path's loss is exact. A delay between segments, which none of them measures, is noticed end to end.

#![allow(clippy::unwrap_used, reason = "tests")]

use deltaline_estimate::{Confidence, Estimate, Observation, Range, Singles, combine, estimate};
use deltaline_model::sketch::cell::Cell;
use deltaline_station::{Dependence, Localiser, Part, Path, Rule, apart};
use deltaline_traffic::queue::Queue;
use deltaline_traffic::random::{Random, Seed};
use deltaline_traffic::source::Sent;

/// Of the path's packets and of all others.
const BYTES: u32 = 500;
/// Mean distance of the path's packets, and of other ones in a queue, in nanoseconds.
const GAP: f64 = 100_000.0;
/// Nanoseconds between two segments.
const WIRE: u64 = 20_000;

/// A queue that other packets pass as well.
struct Segment {
    queue: Queue,
    other: f64,
    random: Random,
}

impl Segment {
    /// With a link that is busy for this share of the time.
    fn new(busy: f64, capacity: usize, random: Random) -> Self {
        Segment { queue: queue(busy, capacity), other: 0.0, random }
    }

    fn pass(&mut self, time: u64) -> Option<u32> {
        while self.other <= time as f64 {
            self.queue.pass(Sent { time: self.other as u64, bytes: BYTES });
            self.other += self.random.exponential(GAP);
        }
        self.queue.pass(Sent { time, bytes: BYTES })
    }
}

fn queue(busy: f64, capacity: usize) -> Queue {
    Queue::drop_tail(capacity, 2.0 * f64::from(BYTES) / GAP * 1e9 / busy)
}

/// Both ends' cells of a segment.
struct Ends {
    sender: Vec<Cell>,
    receiver: Vec<Cell>,
    counts: [u64; 2],
}

impl Ends {
    fn new(rows: usize) -> Self {
        Ends { sender: vec![Cell::default(); rows], receiver: vec![Cell::default(); rows], counts: [0; 2] }
    }

    fn estimate(&self) -> (Estimate, Singles) {
        let [sent, received] = self.counts;
        let rows = self.sender.len();
        let observation =
            Observation { rows, sender: &self.sender, receiver: &self.receiver, sent, received };
        (estimate(&observation).unwrap(), Singles::of(&observation))
    }
}

struct Network {
    segments: Vec<Segment>,
    random: Random,
    time: f64,
}

impl Network {
    fn new(segments: usize, busy: f64, capacity: usize, seed: Seed) -> Self {
        let segment = |place| Segment::new(busy, capacity, seed.with(place).random());
        Network {
            segments: (0..segments as u64).map(segment).collect(),
            random: seed.with(u64::MAX).random(),
            time: 0.0,
        }
    }

    /// An interval of so many packets: the segments' ends, and each packet's delays in queues, none for a lost one.
    fn interval(&mut self, packets: usize, rows: usize) -> (Vec<Ends>, Vec<Option<Vec<f64>>>) {
        let mut ends: Vec<Ends> = self.segments.iter().map(|_| Ends::new(rows)).collect();
        let mut delays = vec![];
        for _ in 0..packets {
            self.time += self.random.exponential(GAP);
            let (mut time, mut all) = (self.time as u64, Some(vec![]));
            for (segment, ends) in self.segments.iter_mut().zip(&mut ends) {
                // Every segment hashes by a seed of its own.
                let hash = self.random.bits();
                let cell = (hash & 1 == 1).then_some((hash >> 32) as usize % rows);
                ends.counts[0] += 1;
                cell.into_iter().for_each(|cell| _ = ends.sender[cell].add(time));
                let Some(here) = segment.pass(time) else {
                    all = None;
                    break;
                };
                time += u64::from(here);
                ends.counts[1] += 1;
                cell.into_iter().for_each(|cell| _ = ends.receiver[cell].add(time));
                all.iter_mut().for_each(|all| all.push(f64::from(here)));
                time += WIRE;
            }
            delays.push(all);
        }
        (ends, delays)
    }
}

/// Of 60 trials that fail with probability 1 in 20 more fail once in a thousand times.
const MOST_OF_60: usize = 9;

/// Mean and variance.
fn moments(delays: &[f64]) -> (f64, f64) {
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / delays.len() as f64;
    let average = mean(&mut delays.iter().copied());
    (average, mean(&mut delays.iter().map(|delay| (delay - average).powi(2))))
}

#[test]
fn composed_paths_hold_the_truth() {
    let mut misses = [0; 5];
    let mut deviations = 0;
    for run in 0..60 {
        let mut networks = [(); 2].map(|()| Network::new(3, 0.6, 100_000, Seed::new(1).with(run)));
        // Many rows show single packets, few of them the deviation.
        let [(fine, delays), (ends, _)] =
            [(0, 4096), (1, 256)].map(|(which, rows)| networks[which].interval(4000, rows));
        let delays: Vec<Vec<f64>> = delays.into_iter().flatten().collect();
        let mut sums: Vec<f64> = delays.iter().map(|each| each.iter().sum()).collect();
        assert_eq!(sums.len(), 4000);
        sums.sort_unstable_by(f64::total_cmp);
        let (mean, variance) = moments(&sums);
        let variances = (0..3).map(|segment| {
            let here: Vec<f64> = delays.iter().map(|each| each[segment]).collect();
            moments(&here).1
        });
        let as_if_independent = variances.sum::<f64>().sqrt();

        let overall: Vec<_> = ends.iter().map(|ends| combine(&[ends.estimate().0])).collect();
        let singles: Vec<Singles> = fine.iter().map(|ends| ends.estimate().1).collect();
        let singles: Vec<_> = singles.iter().map(|singles| [singles]).collect();
        let parts: Vec<Part> =
            overall.iter().zip(&singles).map(|(overall, singles)| Part { overall, singles }).collect();
        let path = Path::new(&parts, Confidence::P95).unwrap();
        let mut expect = |which: usize, range: Range, truth: f64| {
            misses[which] += usize::from(!(range.lower <= truth && truth <= range.upper));
        };
        let composed = path.mean().unwrap();
        expect(0, composed.range, mean);
        let width = composed.range.upper - composed.range.lower;
        assert!(width > 0.0 && width < 0.3 * mean, "{composed:?} says nothing of {mean}");
        let truths =
            [(1, Dependence::Unknown, variance.sqrt()), (2, Dependence::Independent, as_if_independent)];
        for (which, dependence, truth) in truths {
            // A heavy tail, now and then, has no interval.
            if let Ok(deviation) = path.deviation(dependence) {
                expect(which, deviation.range, truth);
                deviations += 1;
            }
        }
        for (which, probability) in [(3, 0.5), (4, 0.9)] {
            let quantile = path.quantile(probability).unwrap();
            assert!(quantile.range.lower > 0.0 && quantile.range.upper.is_finite(), "{quantile:?}");
            expect(which, quantile.range, sums[(probability * 4000.0).ceil() as usize - 1]);
        }
        assert_eq!(path.loss().unwrap().value, Some(0.0));
        // A millisecond that is spent elsewhere shows from end to end.
        let elsewhere = Range { lower: mean + 1e6, upper: mean + 1e6 };
        assert!(apart(composed.range, elsewhere).is_some_and(|more| more > 5e5));
    }
    println!("misses of 60: {misses:?}; {deviations} of 120 deviations");
    assert!(misses.iter().all(|&misses| misses <= MOST_OF_60), "{misses:?}");
    assert!(deviations >= 60, "{deviations}");
}

#[test]
fn losses_add_up() {
    for run in 0..10 {
        let mut network = Network::new(4, 0.9, 12, Seed::new(2).with(run));
        let (ends, delays) = network.interval(5000, 256);
        let lost = delays.iter().filter(|delay| delay.is_none()).count();
        assert!(lost > 20, "{lost}");
        let overall: Vec<_> = ends.iter().map(|ends| combine(&[ends.estimate().0])).collect();
        let parts: Vec<Part> = overall.iter().map(|overall| Part { overall, singles: &[] }).collect();
        let loss = Path::new(&parts, Confidence::P95).unwrap().loss().unwrap();
        let truth = lost as f64 / delays.len() as f64;
        assert!((loss.value.unwrap() - truth).abs() < 1e-12, "{loss:?} {truth}");
        assert!(loss.range.lower < truth && truth < loss.range.upper && loss.range.upper < 2.0 * truth);
    }
}

/// Takes an interval; the names of segments.
fn named(network: &mut Network, localiser: &mut Localiser<usize>) -> Vec<usize> {
    let (ends, _) = network.interval(1000, 256);
    let means = ends.iter().enumerate().filter_map(|(segment, ends)| {
        let mean = ends.estimate().0.mean.ok()?;
        Some((segment, mean.nanoseconds))
    });
    localiser.take(means).iter().map(|named| named.segment).collect()
}

const SEGMENTS: usize = 5;

#[test]
fn quiet_segments_are_not_named() {
    let mut network = Network::new(SEGMENTS, 0.4, 100_000, Seed::new(3));
    let mut localiser = Localiser::new(Rule::default());
    for interval in 0..60 + 200 {
        assert_eq!(named(&mut network, &mut localiser), [0; 0], "{interval}");
    }
    // 200 intervals with so many segments: one false name in 40 such tests.
    assert!(200.0 * localiser.false_names() < 0.026);
}

#[test]
fn squeezed_segments_are_named() {
    for run in 0..20 {
        let mut network = Network::new(SEGMENTS, 0.4, 100_000, Seed::new(4).with(run as u64));
        let mut localiser = Localiser::new(Rule::default());
        for _ in 0..63 {
            assert_eq!(named(&mut network, &mut localiser), [0; 0]);
        }
        let squeezed = run % SEGMENTS;
        network.segments[squeezed].queue = queue(0.7, 100_000);
        let names: Vec<Vec<usize>> = (0..3).map(|_| named(&mut network, &mut localiser)).collect();
        assert_eq!(names, [vec![], vec![], vec![squeezed]], "run {run}");
    }
}
