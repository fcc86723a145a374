//! The expectations of sizing slices against simulation with the product's tables and estimator.
//!
//! # Test plan
//!
//! Packets leave evenly or at random times, their delays swing three times in an interval, and they keep their order. Tables of two sizes, neither of which leaves open
//! how many zeros its boundaries come to; single losses, bursts, and bursts as long as slices; swings so small that the boundaries' own delays are what is known best, so large that
//! the completed sums are, and between. At each point 200 intervals, each with its own packets: the number of boundaries, and the squared errors of
//! mean, deviation and median's rank, over what is expected. The standard error of an average is computed from its values. Five of them, at some
//! two hundred averages, leave about one false alarm in 10,000. The theory is of second order: 4 % are allowed for it at a point, 2 % over all points. Weights of the
//! two means are estimated: what that costs is at most what is gained by them. Even traffic has no noise of lateness, which the theory expects: there squares of
//! the mean's errors may be 0.6 of those expected.

#![allow(clippy::unwrap_used, reason = "tests")]

use deltaline_estimate::sizing::Load;
use deltaline_estimate::sizing::slices::{Expectation, MERGED, Timing};
use deltaline_estimate::slices::Sliced;
use deltaline_estimate::{EndSums, Sums};
use deltaline_model::sketch::digest;
use deltaline_model::sketch::sampler::{Prefixes, Sampler};
use deltaline_model::sketch::slices::{RECORD_CELLS, Slices};
use deltaline_model::sketch::synopsis::{Hashed, Parameters, Synopsis};
use deltaline_model::time::Timestamp;
use deltaline_traffic::random::Seed;
use rayon::prelude::*;
use std::f64::consts::{PI, SQRT_2};

const PACKETS: usize = 24_000;
const INTERVALS: u64 = 200;
/// Losses, and how many in a row: much shorter than slices.
const SHORT: [(f64, usize); 3] = [(0.02, 1), (0.1, 1), (0.02, 3)];
/// Longer than a quarter of a slice, of 128 packets or more here.
const LONG: [(f64, usize); 2] = [(0.1, 60), (0.3, 600)];
/// The square of an error of the mean is the second of four figures.
const MEAN: usize = 1;
/// Of that square, so much is left where there is no noise of lateness: the shares are 1/2 and 1/3.
const EVEN: f64 = 0.6;
/// Nanoseconds from packet to packet.
const APART: f64 = 10_000.0;

/// What one end has seen.
fn end(packets: &[Hashed], rows: usize) -> (Slices, EndSums) {
    let prefixes = Prefixes::new(&[0]).unwrap();
    let mut slices =
        Slices::new(&Parameters { classes: 1, rows, prefixes, has_digests: true, seed: 0, tables: None });
    slices.add(0, &Sampler::new(prefixes), packets);
    let time = |packet: Option<&Hashed>| packet.map_or(0, |packet| packet.time.nanoseconds());
    let sums = EndSums {
        packets: packets.len() as u64,
        times: packets.iter().map(|packet| packet.time.nanoseconds()).sum(),
        digests: Some(packets.iter().fold(0, |sum, packet| digest::add(sum, packet.digest))),
        first: time(packets.first()),
        last: time(packets.last()),
    };
    (slices, sums)
}

/// Of one interval: boundaries and squared errors of mean, deviation and the median's rank, over those expected.
fn interval(rows: usize, loss: f64, burst: usize, swing: f64, is_even: bool, seed: Seed) -> [f64; 4] {
    let mut random = seed.random();
    let (mut sent, mut received, mut delays, mut left) = (vec![], vec![], vec![], 0);
    let phase = random.uniform();
    let mut at = 0.0;
    for number in 0..PACKETS {
        let turn = 3.0 * number as f64 / PACKETS as f64 + phase;
        at += if is_even { APART } else { random.exponential(APART) };
        let delay = swing * (1.0 + (2.0 * PI * turn).sin());
        let (hash, digest) = (random.bits(), random.bits() as u32);
        let hashed = |time: f64| {
            let time = Timestamp::from_nanoseconds(time.round() as u64);
            Hashed { hash, place: hash as u32, digest, time, flow: 0 }
        };
        sent.push(hashed(at));
        if left == 0 && random.chance(loss / (burst as f64 * (1.0 - loss) + loss)) {
            left = burst;
        }
        if left > 0 {
            left -= 1;
        } else {
            received.push(hashed(at + delay));
            delays.push((at + delay).round() - at.round());
        }
    }
    let ((sender, from), (receiver, to)) = (end(&sent, rows), end(&received, rows));
    let found =
        Sliced::of(sender.records(), receiver.records(), &Sums { sender: from, receiver: to }, usize::MAX);
    let count = delays.len() as f64;
    let mean = delays.iter().sum::<f64>() / count;
    let deviation = (delays.iter().map(|delay| (delay - mean).powi(2)).sum::<f64>() / count).sqrt();
    let mut exact = found.singles.delays().to_vec();
    exact.sort_unstable();
    let median = exact[exact.len() / 2] as f64;
    let below = delays.iter().filter(|delay| **delay < median).count() as f64 / count;
    let expected = expected(rows, loss, burst, swing);
    let relative = |found: f64, truth: f64, error: f64| ((found / truth - 1.0) / error).powi(2);
    [
        exact.len() as f64 / expected.boundaries,
        relative(found.estimate.mean.unwrap().nanoseconds, mean, expected.mean),
        relative(found.estimate.deviation.unwrap(), deviation, expected.deviation),
        ((below - 0.5) / expected.rank(0.5)).powi(2),
    ]
}

fn expected(rows: usize, loss: f64, burst: usize, swing: f64) -> Expectation {
    // A sine's fourth power is 3/8 on average, its square 1/2.
    let load = Load { packets: PACKETS as f64, loss, variation: 1.0 / SQRT_2, kurtosis: 1.5 - 3.0 };
    let timing = Timing { interval: APART * PACKETS as f64, delay: swing, burst: burst as f64 };
    Expectation::of(rows / RECORD_CELLS, &load, &timing, MERGED)
}

/// The square of the better one of the two means' errors over that of both together, from 1 to 2.
fn gain(rows: usize, loss: f64, burst: usize, swing: f64) -> f64 {
    const FAR: f64 = 1e15;
    let expected = |swing| expected(rows, loss, burst, swing);
    let both = expected(swing);
    let own = swing.powi(2) / 2.0 * (1.0 / both.boundaries - 1.0 / (PACKETS as f64 * (1.0 - loss)));
    // Of delays as large, boundaries say nothing.
    let completed = (expected(FAR).mean * FAR).powi(2);
    own.min(completed) / (both.mean * swing).powi(2)
}

#[test]
fn expectations_match_simulation() {
    let (mut number, mut overall) = (0, [0.0; 4]);
    for (rows, cases) in [(128, &SHORT[..]), (512, &SHORT[..]), (512, &LONG[..])] {
        for &(loss, burst) in cases {
            for (swing, is_even) in
                [1e3, 1e5, 1e7].into_iter().flat_map(|swing| [(swing, true), (swing, false)])
            {
                number += 1;
                let seed = Seed::new(19).with(number);
                let intervals: Vec<[f64; 4]> = (0..INTERVALS)
                    .into_par_iter()
                    .map(|run| interval(rows, loss, burst, swing, is_even, seed.with(run)))
                    .collect();
                let gain = gain(rows, loss, burst, swing);
                assert!((1.0..=2.0 + 1e-6).contains(&gain), "{gain}");
                for (what, overall) in overall.iter_mut().enumerate() {
                    let (values, count) = (intervals.iter().map(|each| each[what]), INTERVALS as f64);
                    let average = values.clone().sum::<f64>() / count;
                    let variance = values.map(|value| (value - average).powi(2)).sum::<f64>() / (count - 1.0);
                    let margin = 5.0 * (variance / count).sqrt() + 0.04;
                    let most = if what == MEAN { gain } else { 1.0 };
                    let least = if what == MEAN && is_even { EVEN } else { 1.0 };
                    println!(
                        "{rows} rows, loss {loss} by {burst}, swing {swing}, even {is_even}, value {what}: {average:.3} ± {margin:.3}"
                    );
                    assert!((least - margin..most + margin).contains(&average), "{least} to {most}");
                    *overall += average / (least * most).sqrt();
                }
            }
        }
    }
    // Squares of nearly normal errors have the standard error sqrt(2 / n).
    let margin = 5.0 * (2.0 / (number * INTERVALS) as f64).sqrt() + 0.02;
    for (what, sum) in overall.iter().enumerate() {
        let average = sum / number as f64;
        println!("value {what}: {average:.4} ± {margin:.4}");
        assert!((average - 1.0).abs() < margin, "value {what}: {average} ± {margin}");
    }
}
