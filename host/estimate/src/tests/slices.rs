//! Slices of simulated streams, against what became of every packet.

use crate::slices::{Sliced, align, together};
use crate::sums::{EndSums, Sums};
use crate::{Confidence, Estimate, Mean, Method, Observation, Reason, Uncertainty, combine, estimate};
use deltaline_model::sketch::digest;
use deltaline_model::sketch::lda::Lda;
use deltaline_model::sketch::sampler::{Prefixes, Sampler};
use deltaline_model::sketch::slices::{Record, Slices};
use deltaline_model::sketch::synopsis::{Hashed, Parameters, Synopsis};
use deltaline_model::time::Timestamp;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::ops::Range;

/// Numbers mixed as hashes are: by SplitMix64.
fn mixed(number: u64) -> u64 {
    let mut hash = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// A packet at one end: number and time.
type Seen = (u64, u64);

fn hashed(&(number, time): &Seen) -> Hashed {
    let hash = mixed(number);
    let time = Timestamp::from_nanoseconds(time);
    Hashed { hash, place: hash as u32, digest: (hash >> 32) as u32, time, flow: 0 }
}

fn parameters(rows: usize, prefixes: &[u8]) -> Parameters {
    let prefixes = Prefixes::new(prefixes).unwrap();
    Parameters { classes: 1, rows, prefixes, has_digests: false, seed: 0, tables: None }
}

fn end(rows: usize, prefix: u8, seen: &[Seen]) -> (Vec<Record>, EndSums) {
    let parameters = parameters(rows, &[prefix]);
    let (mut slices, sampler) = (Slices::new(&parameters), Sampler::new(parameters.prefixes));
    let packets: Vec<Hashed> = seen.iter().map(hashed).collect();
    slices.add(0, &sampler, &packets);
    let time = |packet: Option<&Hashed>| packet.map_or(0, |packet| packet.time.nanoseconds());
    let sums = EndSums {
        packets: packets.len() as u64,
        times: packets.iter().fold(0, |sum, packet| sum + packet.time.nanoseconds()),
        digests: Some(packets.iter().fold(0, |sum, packet| digest::add(sum, packet.digest))),
        first: time(packets.first()),
        last: time(packets.last()),
    };
    (slices.records().to_vec(), sums)
}

fn sliced(rows: usize, sent: &[Seen], received: &[Seen]) -> Sliced {
    let (a, sender) = end(rows, 0, sent);
    let (b, receiver) = end(rows, 0, received);
    Sliced::of(&a, &b, &Sums { sender, receiver }, usize::MAX)
}

/// Packets sent about `gap` ns apart, and those received, in their order: delays drift by a random walk of some `jitter` around
/// its mean, and `loss` of the packets are lost in bursts.
struct Path {
    packets: u64,
    gap: u64,
    jitter: f64,
    loss: f64,
    burst: u64,
    /// So many leave together.
    train: u64,
}

impl Path {
    fn run(&self, random: &mut StdRng) -> (Vec<Seen>, Vec<Seen>) {
        let (mut sent, mut received) = (vec![], vec![]);
        let salt: u64 = random.random();
        let (mut time, mut delay, mut last, mut left) = (3 << 40, self.jitter, 0, 0);
        for number in 0..self.packets {
            // A microsecond behind each other, and as long behind the train before as keeps the rate.
            let even = -(1.0 - random.random::<f64>()).ln();
            let gap = even * (self.gap * self.train) as f64;
            time += 1 + if number % self.train == 0 { gap as u64 } else { 1000 };
            delay += 0.05 * (self.jitter - delay) + 0.3 * self.jitter * (random.random::<f64>() - 0.5);
            sent.push((salt.wrapping_add(number), time));
            if left == 0 && random.random::<f64>() < self.loss / self.burst as f64 {
                left = self.burst;
            }
            if left > 0 {
                left -= 1;
                continue;
            }
            last = (time + 1000 + delay.max(0.0) as u64).max(last);
            received.push((salt.wrapping_add(number), last));
        }
        (sent, received)
    }
}

/// The delays of the packets that arrived.
fn delays(sent: &[Seen], received: &[Seen]) -> Vec<f64> {
    let mut sent = sent.iter();
    received.iter().map(|(number, at)| (at - sent.find(|it| it.0 == *number).unwrap().1) as f64).collect()
}

fn mean_of(delays: &[f64]) -> f64 {
    delays.iter().sum::<f64>() / delays.len() as f64
}

/// Whether a mean's interval holds that of these delays, and by how many standard errors the mean is off.
fn against(mean: Mean, delays: &[f64]) -> (bool, f64) {
    let (range, truth) = (mean.range(Confidence::P95).unwrap(), mean_of(delays));
    let error = mean.variance().map_or(0.0, |(variance, _)| variance.sqrt());
    (range.lower <= truth && truth <= range.upper, (mean.within_bounds() - truth) / error)
}

#[test]
fn the_bracket_holds_in_every_stream_that_keeps_order() {
    let random = &mut StdRng::seed_from_u64(11);
    let mut found = 0;
    for trial in 0..10_000 {
        let path = Path {
            packets: random.random_range(1..600),
            gap: [1, 100, 10_000, 1_000_000][trial % 4],
            jitter: [0.0, 500.0, 1e5, 1e7][trial / 4 % 4],
            loss: [0.0, 0.01, 0.2, 0.9][trial / 16 % 4],
            burst: [1, 3, 100][trial / 64 % 3],
            train: [1, 7, 40][trial % 3],
        };
        let (sent, received) = path.run(random);
        let Sliced { estimate, slices, singles } = sliced([8, 32, 256][trial % 3], &sent, &received);
        let delays = delays(&sent, &received);
        if delays.is_empty() {
            assert!(estimate.mean.is_err() && estimate.bracket.is_err());
            continue;
        }
        let (mean, bracket) = (
            mean_of(&delays),
            estimate.bracket.unwrap_or_else(|reason| panic!("{trial}: {reason:?} {sent:?} {received:?}")),
        );
        let rounding = 1e-6 + 1e-12 * mean.abs();
        assert!(
            bracket.lower <= mean + rounding && mean <= bracket.upper + rounding,
            "{trial}: {mean} {bracket:?}"
        );
        let within = estimate.mean.unwrap().within_bounds();
        assert!(within >= bracket.lower - rounding && within <= bracket.upper + rounding);
        // Losses lie where they were, and exact delays are delays.
        let lost: u64 = slices.iter().map(|slice| slice.lost).sum();
        assert_eq!(lost, (sent.len() - received.len()) as u64);
        assert!(singles.delays().iter().all(|delay| delays.contains(&(*delay as f64))));
        found += 1;
    }
    assert!(found > 7000);
}

#[test]
fn intervals_cover_the_mean() {
    for (packets, jitter, loss, burst, train) in [
        (20_000, 1e4, 0.01, 1, 1),
        (20_000, 1e6, 0.01, 1, 1),
        (20_000, 1e6, 0.1, 1, 1),
        (20_000, 1e6, 0.01, 20, 1),
        (20_000, 1e5, 0.2, 1, 1),
        (20_000, 1e6, 0.02, 100, 1),
        (1250, 1e4, 0.03, 1, 20),
        (20_000, 1e4, 0.03, 1, 200),
        (5000, 1e4, 0.03, 1, 20),
        (1250, 1e5, 0.03, 1, 5),
    ] {
        let random = &mut StdRng::seed_from_u64(17);
        let trials = 300;
        let mut covered = 0;
        for _ in 0..trials {
            let path = Path { packets, gap: 5000, jitter, loss, burst, train };
            let (sent, received) = path.run(random);
            let mean = sliced(512, &sent, &received).estimate.mean.unwrap();
            let range = mean.range(Confidence::P95).unwrap();
            let truth = mean_of(&delays(&sent, &received));
            covered += u32::from(range.lower <= truth && truth <= range.upper);
        }
        println!(
            "{packets} packets, jitter {jitter}, loss {loss} in bursts of {burst}, trains of {train}: {covered} of {trials}"
        );
        // 285 expected, with a deviation of 3.8: five of them and two points.
        assert!(
            covered >= 260,
            "{jitter}, {loss} in bursts of {burst}, trains of {train}: {covered} of {trials}"
        );
    }
}

/// Packets that leave in trains of 20, in slices of four: as many intervals hold as should. Of evenly spread packets, 10 % missed.
#[test]
fn intervals_hold_where_packets_leave_in_trains() {
    let random = &mut StdRng::seed_from_u64(53);
    let path = Path { packets: 1250, gap: 5000, jitter: 1e4, loss: 0.03, burst: 1, train: 20 };
    let mut covered = 0;
    for _ in 0..1200 {
        let (sent, received) = path.run(random);
        let range = sliced(512, &sent, &received).estimate.mean.unwrap().range(Confidence::P95).unwrap();
        let truth = mean_of(&delays(&sent, &received));
        covered += u32::from(range.lower <= truth && truth <= range.upper);
    }
    println!("trains of 20 in slices of four: {covered} of 1200");
    // 1140 expected, with a deviation of 7.5: five of them.
    assert!(covered >= 1102, "{covered} of 1200");
}

/// Single losses, and a burst where an interval begins or ends: only there a slice's end is no matter of chance, and the errors of all intervals have
/// one sign.
#[test]
fn bursts_at_the_edges_of_intervals_are_in_the_range_of_each_and_of_all() {
    let random = &mut StdRng::seed_from_u64(31);
    let path = Path { packets: 750, gap: 200_000, jitter: 1e6, loss: 0.01, burst: 1, train: 1 };
    for (burst, is_end) in [(30, true), (30, false), (10, true), (10, false)] {
        let (mut covered, mut all_covered) = (0, 0);
        for _ in 0..50 {
            let (mut estimates, mut kept) = (vec![], vec![]);
            for _ in 0..6 {
                let (sent, mut received) = path.run(random);
                let from = if is_end { 750 - burst } else { 0 };
                received.retain(|(number, _)| sent[from..from + burst].iter().all(|lost| lost.0 != *number));
                let estimate = sliced(128, &sent, &received).estimate;
                let delays = delays(&sent, &received);
                let range = estimate.mean.unwrap().range(Confidence::P95).unwrap();
                covered += u32::from(range.lower <= mean_of(&delays) && mean_of(&delays) <= range.upper);
                estimates.push(estimate);
                kept.extend(delays);
            }
            let range = combine(&estimates).mean.unwrap().range(Confidence::P95).unwrap();
            all_covered += u32::from(range.lower <= mean_of(&kept) && mean_of(&kept) <= range.upper);
        }
        println!("{burst} lost, at the end {is_end}: {covered} of 300, {all_covered} of 50");
        // 285 and 47.5 expected, with deviations of 3.8 and 1.5: five of them.
        assert!(
            covered >= 266 && all_covered >= 40,
            "{burst} {is_end}: {covered} of 300, {all_covered} of 50"
        );
    }
}

/// A queue of 100 packets which bursts of traffic fill up: the packets it drops are the last of each burst, in every slice that has some.
fn behind_a_queue(random: &mut StdRng) -> (Vec<Seen>, Vec<Seen>) {
    const SERVICE: u64 = 10_000;
    let (mut sent, mut received) = (vec![], vec![]);
    let salt: u64 = random.random();
    let (mut time, mut free) = (3 << 40, 0);
    let mut gap = |mean: f64| 1 + (-(1.0 - random.random::<f64>()).ln() * mean) as u64;
    while sent.len() < 20_000 {
        time += gap(2e6);
        let end = time + gap(1e6);
        while time < end {
            time += gap(SERVICE as f64 / 2.0);
            let packet = salt.wrapping_add(sent.len() as u64);
            sent.push((packet, time));
            if free.max(time) - time < 100 * SERVICE {
                free = free.max(time) + SERVICE;
                received.push((packet, free));
            }
        }
    }
    (sent, received)
}

/// Where a queue drops packets, they lie somewhere else in their slices than the others do, and more so the more slices there are: lost boundaries show where.
#[test]
fn intervals_hold_behind_a_queue_that_fills_up() {
    for rows in [256, 512, 1024, 2048, 4096, 8192] {
        let random = &mut StdRng::seed_from_u64(43);
        let mut covered = 0;
        for _ in 0..300 {
            let (sent, received) = behind_a_queue(random);
            let estimate = sliced(rows, &sent, &received).estimate;
            let range = estimate.mean.unwrap().range(Confidence::P95).unwrap();
            let truth = mean_of(&delays(&sent, &received));
            covered += u32::from(range.lower <= truth && truth <= range.upper);
        }
        println!("behind a queue, {rows} rows: {covered} of 300");
        // 285 expected, with a deviation of 3.8: five of them.
        assert!(covered >= 266, "{rows}: {covered} of 300");
    }
}

/// What loses packets at one place of their trains.
#[derive(Clone, Debug)]
enum Loss {
    /// These packets of one train in so many.
    Places(Range<u64>, u64),
    /// These packets of trains that a long gap follows.
    BeforeLong(Range<u64>),
    /// Such a share of all, anywhere.
    Some(f64),
    /// Packets closer to the one before than so many nanoseconds.
    Close(u64),
    /// A policer that lets so many octets pass at once, and so many per microsecond; there are packets of 64, 576 and 1500 octets.
    Policer(f64, f64),
    /// A queue of so many octets, of which so many leave per microsecond.
    Queue(f64, f64),
}

/// Packets that leave in trains.
struct Trains {
    trains: u64,
    packets: u64,
    /// Nanoseconds from packet to packet of a train, and from train to train, on average.
    gap: u64,
    period: u64,
    /// One gap in twenty is so many times as long.
    long: u64,
    loss: Loss,
}

impl Trains {
    fn run(&self, random: &mut StdRng) -> (Vec<Seen>, Vec<Seen>) {
        let (mut sent, mut received) = (vec![], vec![]);
        let salt: u64 = random.random();
        let (mut delay, mut last, mut octets, mut before) = (1e6, 0, 0.0f64, 0);
        let (mut start, mut is_long) = (3 << 40, false);
        for train in 0..self.trains {
            let is_behind_long = is_long;
            is_long = random.random_range(0..20) == 0;
            let longer = if is_behind_long { self.long } else { 1 };
            start += (self.period / 2 + random.random_range(0..self.period)) * longer;
            let mut time = start;
            for place in 0..self.packets {
                time = (time + random.random_range(0..=2 * self.gap)).max(before + 1);
                let since = time - before;
                before = time;
                let packet = salt.wrapping_add(sent.len() as u64);
                sent.push((packet, time));
                delay += 0.02 * (1e6 - delay) + 1e5 * (random.random::<f64>() - 0.5);
                let size = [64.0, 576.0, 1500.0][random.random_range(0..3)];
                let mut queued = 0.0;
                let is_lost = match &self.loss {
                    Loss::Places(places, every) => train % every == 0 && places.contains(&place),
                    Loss::BeforeLong(places) => is_long && places.contains(&place),
                    Loss::Some(share) => random.random::<f64>() < *share,
                    Loss::Close(least) => since < *least,
                    Loss::Policer(most, rate) | Loss::Queue(most, rate) => {
                        octets = (octets - since as f64 / 1000.0 * rate).max(0.0);
                        let is_lost = octets + size > *most;
                        octets += if is_lost { 0.0 } else { size };
                        queued = octets / rate * 1000.0;
                        is_lost
                    }
                };
                if !is_lost {
                    let delay = if let Loss::Queue(..) = self.loss { queued } else { delay.max(0.0) };
                    last = (time + 1000 + delay as u64).max(last);
                    received.push((packet, last));
                }
            }
        }
        (sent, received)
    }
}

/// Of each train, packets at one place are lost: as many in every slice, so that nothing but lost boundaries shows where. Trains are
/// shorter than slices, and longer ones. Fifteen intervals together, in which they are lost at the same place, hold as often as one.
#[test]
fn intervals_hold_where_trains_lose_packets_at_one_place() {
    let trains = |trains, packets, period, loss| Trains { trains, packets, gap: 3000, period, long: 1, loss };
    let hundreds = |loss| trains(600, 100, 1_000_000, loss);
    let far = |loss| trains(200, 100, 10_000_000, loss);
    let long = |loss| Trains { long: 20, period: 500_000, ..hundreds(loss) };
    let (mut groups, mut groups_covered) = (0, 0);
    for (name, trains) in [
        ("the last fifth of 100", hundreds(Loss::Places(80..100, 1))),
        ("the first fifth of 100", hundreds(Loss::Places(0..20, 1))),
        ("the last one of 100", hundreds(Loss::Places(99..100, 1))),
        ("the last fifth of one in five", hundreds(Loss::Places(80..100, 5))),
        ("the last fifth of 250", trains(250, 250, 4_000_000, Loss::Places(200..250, 1))),
        ("the last two of 10", trains(6000, 10, 100_000, Loss::Places(8..10, 1))),
        ("the last fifth of 100, long gaps", long(Loss::Places(80..100, 1))),
        ("the last one of 100, long gaps", long(Loss::Places(99..100, 1))),
        ("the last fifth before long gaps", long(Loss::BeforeLong(80..100))),
        ("the last one before long gaps", long(Loss::BeforeLong(99..100))),
        ("single ones of 100, long gaps", long(Loss::Some(0.01))),
        ("the last one of one in twenty, far apart", far(Loss::Places(99..100, 20))),
        ("the first one of one in twenty, far apart", far(Loss::Places(0..1, 20))),
        ("the last three of one in twenty, far apart", far(Loss::Places(97..100, 20))),
        ("the last one of one in two, far apart", far(Loss::Places(99..100, 2))),
        ("the last one of 100, far apart", far(Loss::Places(99..100, 1))),
        ("single ones, far apart", far(Loss::Some(0.001))),
        ("a policer", hundreds(Loss::Policer(5e4, 60.0))),
        ("a policer, long gaps", long(Loss::Policer(5e4, 60.0))),
        ("a queue in octets", hundreds(Loss::Queue(5e4, 100.0))),
        ("a queue in octets, long gaps", long(Loss::Queue(5e4, 100.0))),
        ("the first four of 100, few packets a slice", trains(60, 100, 4_000_000, Loss::Places(0..4, 1))),
        ("close packets, no trains", trains(60_000, 1, 10_000, Loss::Close(6000))),
    ] {
        for rows in [256, 1024, 8192] {
            let random = &mut StdRng::seed_from_u64(67);
            let (mut covered, mut squares, mut of_groups, mut squares_of_groups) = (0, 0.0, 0, 0.0);
            for _ in 0..10 {
                let (mut estimates, mut kept) = (vec![], vec![]);
                for _ in 0..15 {
                    let (sent, received) = trains.run(random);
                    let estimate = sliced(rows, &sent, &received).estimate;
                    let delays = delays(&sent, &received);
                    let (holds, error) = against(estimate.mean.unwrap(), &delays);
                    covered += u32::from(holds);
                    squares += error.powi(2);
                    estimates.push(estimate);
                    kept.extend(delays);
                }
                let (holds, error) = against(combine(&estimates).mean.unwrap(), &kept);
                of_groups += u32::from(holds);
                squares_of_groups += error.powi(2);
            }
            println!(
                "{name}, {rows} rows: {covered} of 150, {:.2} errors; fifteen: {of_groups} of 10, {:.2} errors",
                (squares / 150.0f64).sqrt(),
                (squares_of_groups / 10.0f64).sqrt()
            );
            // 142.5 expected, with a deviation of 2.7: five of them.
            assert!(covered >= 129, "{name}, {rows}: {covered} of 150");
            // 9.5, 0.69.
            assert!(of_groups >= 6, "{name}, {rows}: {of_groups} of 10 groups of intervals");
            groups += 10;
            groups_covered += of_groups;
        }
    }
    println!("{groups_covered} of {groups} groups of intervals");
    // With the variance of a binomial number, five deviations.
    let expected = 0.95 * f64::from(groups);
    assert!(
        f64::from(groups_covered) >= expected - 5.0 * (0.05 * expected).sqrt(),
        "{groups_covered} of {groups}"
    );
}

/// The rows of a bank that both ends fill.
fn of_rows(rows: usize, prefixes: &[u8], [sent, received]: [&[Seen]; 2]) -> Estimate {
    let parameters = parameters(rows, prefixes);
    let cells = |seen: &[Seen]| {
        let mut lda = Lda::new(&parameters);
        let packets: Vec<Hashed> = seen.iter().map(hashed).collect();
        lda.add(0, &Sampler::new(parameters.prefixes), &packets);
        lda.cells().to_vec()
    };
    let (sender, receiver) = (cells(sent), cells(received));
    let (sent, received) = (sent.len() as u64, received.len() as u64);
    estimate(&Observation { rows, sender: &sender, receiver: &receiver, sent, received }).unwrap()
}

/// Where much is lost, rows that are left hold packets whose places begin with zeros, and so do boundaries: the two are not independent.
#[test]
fn rows_and_boundaries_that_share_packets_are_not_weighed() {
    for (loss, prefixes, rows) in [(0.5, &[1, 6][..], 256), (0.5, &[5], 256), (0.1, &[1, 6], 1024)] {
        let random = &mut StdRng::seed_from_u64(97);
        let path = Path { packets: 20_000, gap: 30_000, jitter: 1e5, loss, burst: 1, train: 1 };
        let mut covered = 0;
        for _ in 0..800 {
            let (sent, received) = path.run(random);
            let of_rows = of_rows(rows, prefixes, [&sent, &received]);
            let both = together(of_rows, &sliced(rows, &sent, &received).estimate);
            covered += u32::from(against(both.mean.unwrap(), &delays(&sent, &received)).0);
        }
        println!("{loss} lost, {prefixes:?} x {rows}: {covered} of 800");
        // 760 expected, with a deviation of 6.2: three of them. Weighed as if they were independent, 726 of the first hold.
        assert!(covered >= 742, "{loss} {prefixes:?}: {covered} of 800");
    }
}

/// Rows beside slices: eight intervals together are nearer than either, and their ranges hold as often as they should.
#[test]
fn rows_and_slices_of_several_intervals_are_weighed_once() {
    let random = &mut StdRng::seed_from_u64(83);
    let path = Path { packets: 5000, gap: 2000, jitter: 1e5, loss: 0.02, burst: 1, train: 1 };
    let (mut covered, mut wider) = (0, 0);
    for _ in 0..200 {
        let (mut slices, mut rows, mut both, mut kept) = (vec![], vec![], vec![], vec![]);
        for _ in 0..8 {
            let (sent, received) = path.run(random);
            let of_slices = sliced(128, &sent, &received).estimate;
            let delays = delays(&sent, &received);
            // What rows would show: as far off as slices are, on average.
            let error = of_slices.mean.unwrap().variance().unwrap().0.sqrt();
            let off: f64 = (0..12).map(|_| random.random::<f64>() - 0.5).sum();
            let uncertainty = Uncertainty::Sampled {
                standard_error: error,
                degrees_of_freedom: 1000.0,
                skew: crate::Skew::default(),
            };
            let of_rows = Estimate {
                mean: Ok(Mean::unbounded(mean_of(&delays) + off * error, uncertainty)),
                method: Method::Rows,
                apart: None,
                ..of_slices
            };
            both.push(together(of_rows, &of_slices));
            assert_eq!(both.last().unwrap().method, Method::Both);
            slices.push(of_slices);
            rows.push(of_rows);
            kept.extend(delays);
        }
        let width =
            |estimates: &[Estimate]| combine(estimates).mean.unwrap().half_width(Confidence::P95).unwrap();
        wider += u32::from(width(&both) > width(&rows).min(width(&slices)));
        covered += u32::from(against(combine(&both).mean.unwrap(), &kept).0);
        // An interval alone is what it is.
        let [alone, own] = [combine(&both[..1]).mean, both[0].mean].map(Result::unwrap);
        let widths = [alone, own].map(|mean| mean.half_width(Confidence::P95).unwrap());
        assert_eq!(alone.nanoseconds, own.nanoseconds);
        assert!((widths[0] / widths[1] - 1.0).abs() < 1e-9);
    }
    println!("{covered} of 200, {wider} wider");
    // 190 expected, with a deviation of 3.1: five of them.
    assert!(covered >= 175 && wider == 0, "{covered} of 200, {wider} wider");
}

/// An interval of which one packet in 1,500 arrived: its bracket tells more of it than slices do, and weighed by that one packet it spoils nothing.
#[test]
fn an_interval_that_lost_nearly_everything_does_not_spoil_the_others() {
    let random = &mut StdRng::seed_from_u64(89);
    let path = Path { packets: 1500, gap: 33_000, jitter: 1e5, loss: 0.02, burst: 1, train: 1 };
    for _ in 0..20 {
        let mut estimates: Vec<Estimate> = vec![];
        for _ in 0..20 {
            let (sent, received) = path.run(random);
            estimates.push(sliced(256, &sent, &received).estimate);
        }
        let width =
            |estimates: &[Estimate]| combine(estimates).mean.unwrap().half_width(Confidence::P95).unwrap();
        let alone = width(&estimates);
        let (sent, received) = path.run(random);
        let only = sliced(256, &sent, &received[700..701]).estimate;
        let bracket = only.bracket.unwrap();
        let share = 1.0 / estimates.iter().map(|each| each.received as f64).sum::<f64>();
        estimates.push(only);
        // What the bracket of that packet adds, twice for the confidence.
        let most = alone + 2.0 * share * (bracket.upper - bracket.lower);
        assert!(width(&estimates) < most, "{} of {alone}, {most}", width(&estimates));
    }
}

/// Boundaries by hand: slices of eight packets a microsecond apart, with a gap in each. The packet before the gap is a boundary that was lost, and the one before that was
/// lost unseen.
#[test]
fn lost_boundaries_say_where_losses_lie() {
    const GAP: u64 = 100_000;
    // As often before the middle of their slices as behind it.
    let lost: Vec<u64> = [2, 3, 4, 5, 6].repeat(4);
    let mean = |lost: &[u64]| {
        let (mut sent, mut received, mut first) = (vec![], vec![], 0);
        for at in lost {
            let time = |place: u64| first + 1000 * place + if place > *at { GAP } else { 0 };
            let record = |places: &[u64], delay: u64| Record {
                place: 8 * sent.len() as u32 + places[0] as u32 + 1,
                start: time(places[0]) + delay,
                count: places.len() as u32,
                sum: places.iter().map(|place| time(*place) + delay).sum(),
            };
            let (before, behind): (Vec<u64>, Vec<u64>) = (0..8).partition(|place| place < at);
            let arrived: Vec<u64> = (0..8).filter(|place| ![*at - 1, *at].contains(place)).collect();
            received.push(record(&arrived, 500));
            let records = [record(&before, 0), record(&behind, 0)];
            sent.extend(records);
            first += 8000 + GAP;
        }
        let end = |records: &[Record], delay: u64| EndSums {
            packets: records.iter().map(|record| u64::from(record.count)).sum(),
            times: records.iter().map(|record| record.sum).sum(),
            digests: None,
            first: delay,
            last: first - 1000 + delay,
        };
        let sums = Sums { sender: end(&sent, 0), receiver: end(&received, 500) };
        Sliced::of(&sent, &received, &sums, usize::MAX).estimate.mean.unwrap()
    };
    // By how much the unseen one is earlier than the six that it may be: in microseconds, (28 - i + 7 - i gaps) / 6 against i - 1.
    let early = |lost: &[u64]| {
        let of = |at: &u64| (28.0 - *at as f64 + 0.1e3 * (7 - at) as f64) / 6.0 - (at - 1) as f64;
        lost.iter().map(of).sum::<f64>() * 1e3
    };
    // Lost boundaries are by i - 4 - (7 - i) gaps / 7 later than their slice's mean, of which (i - 4) (1 + gap / 7) go with their place: three sevenths of a gap too
    // early, each.
    let found = mean(&lost);
    let expected = 500.0 + (early(&lost) - 20.0 / (1.0 + 1.0 / 60.0) * GAP as f64 * 3.0 / 7.0) / 120.0;
    assert!((found.nanoseconds - expected).abs() < 0.5, "{found:?}, not {expected}");
    // No sample without spread says that all losses are as these.
    assert_ne!(found.uncertainty, Uncertainty::Exact);
    // Five show less of it, and how far they spread is seen from those that arrived.
    let found = mean(&lost[..5]);
    let expected = 500.0 + (early(&lost[..5]) - 5.0 / (1.0 + 1.0 / 15.0) * GAP as f64 * 3.0 / 7.0) / 30.0;
    assert!((found.nanoseconds - expected).abs() < 0.5, "{found:?}, not {expected}");
}

#[test]
fn nothing_lost_is_exact_and_lost_boundaries_are_known() {
    let sent: Vec<Seen> = (0..8).map(|number| (number, 1000 + 100 * number)).collect();
    let all: Vec<Seen> = sent.iter().map(|(number, time)| (*number, time + 70)).collect();
    let whole = sliced(64, &sent, &all).estimate;
    assert_eq!((whole.method, whole.mean.unwrap().uncertainty), (Method::Sums, Uncertainty::Exact));
    // Each packet is a boundary: the lost one's time is known.
    let received: Vec<Seen> = all.iter().copied().filter(|(number, _)| *number != 3).collect();
    let one = sliced(64, &sent, &received);
    assert_eq!(one.estimate.mean.unwrap().nanoseconds, 70.0);
    assert_eq!((one.estimate.bracket.unwrap().lower, one.estimate.bracket.unwrap().upper), (70.0, 70.0));
    assert_eq!(one.estimate.method, Method::Slices);
    // One packet an interval, and none.
    let single = sliced(64, &sent[..1], &all[..1]).estimate;
    assert_eq!(single.mean.unwrap().nanoseconds, 70.0);
    for (sent, received) in [(&sent[..1], &all[..0]), (&sent[..0], &all[..0])] {
        let none = sliced(64, sent, received).estimate;
        assert_eq!(none.mean.unwrap_err(), Reason::NothingReceived);
    }
}

/// Half of 2,000 packets lost in five minutes, minutes behind a wrap of times: sums over all do not say how often they have wrapped, and slices do.
#[test]
fn slices_bracket_the_mean_where_sums_of_all_wrap() {
    let sent: Vec<Seen> = (0..2000).map(|number| (number, 1_000_000 + 150_000_000 * number)).collect();
    let arrived = sent.iter().filter(|(number, _)| mixed(number ^ 0x5eed).is_multiple_of(2));
    let received: Vec<Seen> = arrived.map(|(number, time)| (*number, time + 1_000_000)).collect();
    let found = sliced(1024, &sent, &received).estimate;
    let bracket = found.bracket.unwrap();
    assert!(bracket.lower <= 1e6 && 1e6 <= bracket.upper, "{bracket:?}");
    // Eight packets of a slice last for a second, on average.
    assert!(bracket.upper - bracket.lower < 5e9, "{bracket:?}");
}

#[test]
fn broken_order_and_foreign_packets_are_refused() {
    let random = &mut StdRng::seed_from_u64(23);
    for trial in 0..200 {
        let path = Path { packets: 2000, gap: 1000, jitter: 1e5, loss: 0.002, burst: 1, train: 1 };
        let (sent, mut received) = path.run(random);
        let truth = mean_of(&delays(&sent, &received));
        match trial % 4 {
            // Every tenth packet overtakes the next one.
            0 => received.chunks_mut(10).filter(|chunk| chunk.len() > 1).for_each(|chunk| {
                let (first, second) = (chunk[0].0, chunk[1].0);
                (chunk[0].0, chunk[1].0) = (second, first);
            }),
            // Packets that were never sent.
            1 => received.iter_mut().step_by(20).for_each(|packet| packet.0 ^= 1 << 60),
            // Packets that come twice.
            2 => {
                received = received
                    .iter()
                    .flat_map(|packet| vec![*packet; 1 + usize::from(packet.0 % 9 == 0)])
                    .collect()
            }
            // Another traffic altogether.
            _ => received.iter_mut().for_each(|packet| packet.0 ^= 1 << 60),
        }
        let found = sliced(256, &sent, &received).estimate;
        let expected = |reason| matches!(reason, Reason::Reordered(_) | Reason::Gained(_));
        match (trial % 4, found.mean) {
            (_, Err(reason)) => assert!(expected(reason), "{trial}: {reason:?}"),
            // Whoever lost nothing has an exact mean in any order.
            (0, Ok(mean)) => assert!(
                mean.uncertainty == Uncertainty::Exact && (mean.nanoseconds / truth - 1.0).abs() < 0.01,
                "{trial}: {mean:?}"
            ),
            (_, Ok(mean)) => panic!("{trial}: {mean:?}"),
        }
    }
}

#[test]
fn tables_of_other_depths_compare() {
    let random = &mut StdRng::seed_from_u64(31);
    let path = Path { packets: 5000, gap: 1000, jitter: 1e5, loss: 0.01, burst: 1, train: 1 };
    let (sent, received) = path.run(random);
    let truth = mean_of(&delays(&sent, &received));
    for (rows, other, prefix) in [(64, 1024, 0), (1024, 64, 0), (8192, 8, 0), (16_384, 16_384, 2)] {
        let (a, sender) = end(rows, 0, &sent);
        let (b, receiver) = end(other, prefix, &received);
        let bracket = Sliced::of(&a, &b, &Sums { sender, receiver }, usize::MAX).estimate.bracket.unwrap();
        assert!(bracket.lower <= truth && truth <= bracket.upper, "{rows} {other}");
    }
}

#[test]
fn tables_that_were_full_bracket_the_mean_and_sample_nothing() {
    let random = &mut StdRng::seed_from_u64(37);
    for trial in 0..300 {
        let loss = [0.001, 0.05, 0.3][trial % 3];
        let path =
            Path { packets: 2000, gap: 1000, jitter: 1e5, loss, burst: [1, 30][trial / 3 % 2], train: 1 };
        let (sent, received) = path.run(random);
        let truth = mean_of(&delays(&sent, &received));
        let (a, sender) = end(64, 3, &sent);
        let (b, receiver) = end(64, 3, &received);
        assert_eq!((a.len(), b.len()), (32, 32));
        let Sliced { estimate, singles, .. } = Sliced::of(&a, &b, &Sums { sender, receiver }, 32);
        let (bracket, mean) = (estimate.bracket.unwrap(), estimate.mean.unwrap());
        assert!(bracket.lower <= truth && truth <= bracket.upper, "{trial}: {truth} {bracket:?}");
        assert!(bracket.lower <= mean.nanoseconds && mean.nanoseconds <= bracket.upper, "{trial}");
        assert_eq!(estimate.deviation, Err(Reason::FullTable));
        assert!(singles.delays().is_empty());
    }
}

#[test]
fn hostile_records_are_refused_or_bounded() {
    let random = &mut StdRng::seed_from_u64(41);
    for _ in 0..3000 {
        let mut records = || -> Vec<Record> {
            let count = random.random_range(0..12);
            let record = |_| Record {
                place: random.random_range(0..4) << random.random_range(0..30),
                start: random.random::<u64>() >> random.random_range(24..60),
                count: random.random::<u32>() >> random.random_range(0..31),
                sum: random.random::<u64>() >> random.random_range(24..60),
            };
            (0..count).map(record).collect()
        };
        let (a, b) = (records(), records());
        let mut sums = || EndSums {
            packets: random.random::<u64>() >> random.random_range(0..63),
            times: random.random(),
            digests: Some(0),
            first: random.random::<u64>() >> 16,
            last: random.random::<u64>() >> 16,
        };
        let sums = Sums { sender: sums(), receiver: sums() };
        let room = [4, 11, usize::MAX][a.len() % 3];
        let _ = align(&a, &b, &sums, room);
        let found = Sliced::of(&a, &b, &sums, room).estimate;
        let both = together(found, &found);
        for estimate in [found, both] {
            let interval = estimate.mean.ok().and_then(|mean| mean.range(Confidence::P95).ok());
            for range in estimate.bracket.ok().into_iter().chain(interval) {
                assert!(range.lower <= range.upper, "{range:?}");
            }
        }
        for mean in [found.mean, both.mean].into_iter().flatten() {
            assert!(mean.nanoseconds.is_finite());
            let _ = mean.range(Confidence::P95);
        }
    }
}

/// Two records of 2^31 packets that the other end's zeros merge: as a count, they are none.
#[test]
fn counts_that_go_round_are_refused() {
    let record = |place, start, count| Record { place, start, count, sum: 0 };
    let sender = [record(1 << 26, 10, 1 << 31), record(1 << 29, 20, 1 << 31)];
    let receiver = [record(1 << 26, 10, 5)];
    let end = |packets, times| EndSums { packets, times, digests: None, first: 10, last: 30 };
    let sums = Sums { sender: end(1 << 32, 0), receiver: end(5, 0) };
    assert_eq!(align(&sender, &receiver, &sums, usize::MAX), Err(Reason::SliceWraps));
    let found = Sliced::of(&sender, &receiver, &sums, usize::MAX).estimate;
    assert_eq!(found.mean.unwrap_err(), Reason::SliceWraps);
}

#[test]
fn brackets_that_contradict_each_other_have_nothing_in_common() {
    let range = |lower, upper| crate::Range { lower, upper };
    assert_eq!(range(1.0, 5.0).common(range(3.0, 9.0)), Some(range(3.0, 5.0)));
    assert_eq!(range(1.0, 3.0).common(range(3.0 + 1e-9, 9.0)), Some(range(3.0 + 1e-9, 3.0 + 1e-9)));
    assert_eq!(range(1.0, 2.0).common(range(3.0, 9.0)), None);
}
