//! Sums over all packets.
//!
//! # Test plan
//!
//! As in [`crate::sums`]: random packets, at random clock offsets and around the wrap of times. Few rows that happen to lack a second mode of the delays
//! contradict the sums, and are no reason to refuse the bracket.

use super::monte_carlo::Generator;
use crate::quantity::{Remark, of_delays};
use crate::{
    EndSums, Estimate, Method, Observation, Range, Reason, Sums, Uncertainty, combine, estimate_traffic,
};
use deltaline_model::sketch::cell::Cell;

const WRAP: u64 = 1 << 48;

/// An end's sums of packets at these times, before they wrap.
fn end(times: &[i64]) -> EndSums {
    let wrapped: Vec<u64> = times.iter().map(|time| *time as u64 % WRAP).collect();
    EndSums {
        packets: times.len() as u64,
        times: wrapped.iter().fold(0, |sum: u64, time| sum.wrapping_add(*time)),
        digests: Some(9),
        first: wrapped.first().copied().unwrap_or(0),
        last: wrapped.last().copied().unwrap_or(0),
    }
}

#[test]
fn means_are_exact_and_brackets_hold_anywhere() {
    let random = &mut Generator::new(3);
    let mut wraps = 0;
    for trial in 0..2_000 {
        let packets = 1 + random.hash() as usize % 400;
        // Far from the wrap of times, around it, and with the clocks on both sides of it.
        let start = match trial % 3 {
            0 => (random.hash() % (WRAP / 2)) as i64,
            1 => WRAP as i64 - (random.hash() % 400_000) as i64,
            _ => WRAP as i64 - 1_000_000,
        };
        let offset = [0i64, 5_000_000, -5_000, 400_000_000_000][random.hash() as usize % 4];
        let sent: Vec<i64> = (0..packets as i64).map(|number| start + 1000 * number).collect();
        let delays: Vec<i64> = sent.iter().map(|_| offset + (random.hash() % 50_000) as i64).collect();
        let loss = [0.0, 0.1, 0.6][random.hash() as usize % 3];
        let arrives: Vec<bool> = sent.iter().map(|_| random.uniform() > loss).collect();
        let mut received: Vec<i64> =
            (0..packets).filter(|i| arrives[*i]).map(|i| sent[i] + delays[i]).collect();
        received.sort_unstable();
        let kept: Vec<i64> = (0..packets).filter(|i| arrives[*i]).map(|i| delays[i]).collect();
        let sums = Sums { sender: end(&sent), receiver: end(&received) };
        if kept.is_empty() {
            assert_eq!((sums.mean(None), sums.bracket(None)), (None, None));
            continue;
        }
        let truth = kept.iter().sum::<i64>() as f64 / kept.len() as f64;
        wraps += usize::from(sums.bracket(None).is_none());
        for near in [None, Some(Range { lower: truth - 90_000.0, upper: truth + 50_000.0 })] {
            if kept.len() == packets {
                let mean = sums.mean(near);
                assert!(mean.is_none_or(|mean| (mean - truth).abs() < 1e-3), "{mean:?}, {truth}");
                assert!(mean.is_some() || near.is_none());
            } else {
                assert_eq!(sums.mean(near), None);
            }
            let Some(bracket) = sums.bracket(near) else {
                assert_eq!(near, None);
                continue;
            };
            assert!(bracket.lower <= truth + 1e-3 && truth <= bracket.upper + 1e-3, "{bracket:?}, {truth}");
            let lost = (packets - kept.len()) as f64;
            let span = 1000.0 * (packets - 1) as f64;
            let by_losses = lost * span / kept.len() as f64;
            let by_times = span + (received.iter().max().unwrap() - received.iter().min().unwrap()) as f64;
            let width = bracket.upper - bracket.lower;
            assert!(width <= by_losses.min(by_times) + 1e-3, "{width}, {by_losses}, {by_times}");
            // One that is cut off at neither end is as wide as losses may have been apart.
            assert!(width > by_losses - 1e-3 || by_times < 2.0 * by_losses + span, "{width}, {by_losses}");
            assert!(sums.completed(near).is_some());
        }
    }
    assert!(wraps > 50, "{wraps}");
}

/// A last packet whose stamp is wrong by up to three days. Its own mean moves by that over the number of packets, whichever it is: another one is
/// never given, whether times pass their wrap by it or not.
#[test]
fn one_stamp_of_another_day_gives_no_other_mean() {
    let random = &mut Generator::new(12);
    let mut given = 0;
    for trial in 0..2_000 {
        let packets = 2 + random.hash() as usize % 3_000;
        let start = (random.hash() % WRAP) as i64;
        let sent: Vec<i64> = (0..packets as i64).map(|number| start + 10_000 * number).collect();
        let mut received: Vec<i64> =
            sent.iter().map(|time| time + 1_000_000 + (random.hash() % 50_000) as i64).collect();
        let wrong = (1 + random.hash() % 260_000) as i64 * 1_000_000_000;
        // One sent at a wrong time, or received.
        let mut sent = sent;
        let end_of = if trial % 2 == 0 { &mut received } else { &mut sent };
        end_of[packets - 1] += wrong;
        let sum = |times: &[i64]| times.iter().map(|time| i128::from(*time)).sum::<i128>();
        let truth = (sum(&received) - sum(&sent)) as f64 / packets as f64;
        let sums = Sums { sender: end(&sent), receiver: end(&received) };
        let near = sums.by_times();
        // Half a turn and more is a step back, which no range of first and last times holds.
        if wrong < (WRAP / 2) as i64
            && let Some(mean) = sums.mean(near)
        {
            given += 1;
            assert!((mean - truth).abs() < 1.0, "{mean}, {truth}, {wrong} ns of {packets}");
        }
    }
    assert!(given > 100, "{given}");
}

/// A packet amid the others, in no row, whose stamp is seconds to weeks off: what the first and the last packet of both ends allow is far less.
#[test]
fn one_wrong_stamp_amid_the_others_gives_no_mean() {
    let random = &mut Generator::new(14);
    for trial in 0..500 {
        let packets = 3 + random.hash() as usize % 3_000;
        let start = (random.hash() % (WRAP / 4)) as i64 + (WRAP / 4) as i64;
        let sent: Vec<i64> = (0..packets as i64).map(|number| start + 10_000 * number).collect();
        let delay = |random: &mut Generator| 1_000_000 + (random.hash() % 50_000) as i64;
        let received: Vec<i64> = sent.iter().map(|time| time + delay(random)).collect();
        let wrong = (2 + random.hash() % 1_000_000) as i64 * 1_000_000_000;
        let place = 1 + random.hash() as usize % (packets - 2);
        let of = |is_wrong: bool| {
            let mut ends = [sent.clone(), received.clone()];
            ends[trial % 2][place] += if is_wrong { wrong } else { 0 };
            let blank = [Cell::default(); 8];
            let packets = packets as u64;
            let observation =
                Observation { rows: 8, sender: &blank, receiver: &blank, sent: packets, received: packets };
            let sums = Sums { sender: end(&ends[0]), receiver: end(&ends[1]) };
            estimate_traffic(&observation, None, &[]).unwrap().with_sums(&sums)
        };
        let (sound, wrong) = (of(false), of(true));
        assert_eq!((sound.method, sound.bracket.is_ok()), (Method::Sums, true), "{packets}");
        assert!(wrong.mean.is_err() && wrong.bracket.is_err(), "{packets}: {wrong:?}");
    }
}

#[test]
fn other_packets_have_no_exact_mean_and_a_surplus_no_bracket() {
    let sums = Sums { sender: end(&[10, 20]), receiver: EndSums { digests: Some(8), ..end(&[15, 25]) } };
    assert_eq!((sums.mean(None), sums.digests_agree()), (None, Some(false)));
    let more = Sums { sender: end(&[10, 20]), receiver: end(&[15, 25, 26]) };
    assert_eq!((more.mean(None), more.bracket(None)), (None, None));
    let unknown = Sums { sender: EndSums { digests: None, ..end(&[10]) }, receiver: end(&[15]) };
    assert_eq!((unknown.mean(None), unknown.digests_agree()), (None, None));
}

/// What eight rows and sums show of 60 packets, of which two in a hundred take fifty times as long as the others and a share is lost, and the delays of
/// those that arrived.
fn interval(random: &mut Generator, loss: f64) -> (Estimate, Vec<i64>) {
    let [mut sent, mut received] = [[Cell::default(); 8]; 2];
    let (mut times, mut arrivals, mut delays) = (vec![], vec![], vec![]);
    for number in 0..60 {
        let time = 10_000 * number + (random.hash() % 10_000) as i64;
        let delay = if random.uniform() < 0.02 { 50_000_000 } else { 1_000_000 };
        let delay = delay + (random.hash() % 10_000) as i64;
        let (row, digest) = (random.hash() as usize % 8, random.hash() as u32);
        let add = |cells: &mut [Cell; 8], time: i64| {
            cells[row].count += 1;
            cells[row].sum = cells[row].sum.wrapping_add(time as u64);
            cells[row].digest ^= digest;
        };
        times.push(time);
        add(&mut sent, time);
        if random.uniform() >= loss {
            add(&mut received, time + delay);
            arrivals.push(time + delay);
            delays.push(delay);
        }
    }
    arrivals.sort_unstable();
    let digests = if arrivals.len() == times.len() { 9 } else { 1 };
    let sums = Sums { sender: end(&times), receiver: EndSums { digests: Some(digests), ..end(&arrivals) } };
    let observation = Observation {
        rows: 8,
        sender: &sent,
        receiver: &received,
        sent: 60,
        received: arrivals.len() as u64,
    };
    (estimate_traffic(&observation, None, &[]).unwrap().with_sums(&sums), delays)
}

fn mean_of(delays: &[i64]) -> f64 {
    delays.iter().sum::<i64>() as f64 / delays.len() as f64
}

/// Eight rows of the few that are left whole often hold none of the late packets. The bracket holds by its proof, in every trial; whatever mean there is has a
/// mark, and no trial is refused.
#[test]
fn few_rows_without_the_late_packets_contradict_nothing() {
    let random = &mut Generator::new(8);
    let mut completed = 0;
    for _ in 0..400 {
        let (found, delays) = interval(random, 0.05);
        if delays.len() == 60 {
            continue;
        }
        let truth = mean_of(&delays);
        assert_ne!(found.mean.err(), Some(Reason::Unsampled));
        let bracket = found.bracket.unwrap();
        assert!(bracket.lower <= truth && truth <= bracket.upper, "{truth} {found:?}");
        if found.method == Method::Bracket {
            completed += 1;
            let quantities = of_delays(&combine(&[found]), None);
            let mean = quantities.iter().find(|each| each.what.name == "mean").unwrap();
            let range = mean.range.unwrap().unwrap();
            assert!(range[0] <= truth && truth <= range[1], "{truth} {found:?}");
            assert!(found.deviation.is_err() || mean.remark == Some(Remark::FewSamples), "{mean:?}");
        }
    }
    // In one trial of three no row is whole, and some of the others lack the late packets.
    assert!(completed > 40, "{completed}");
}

/// The mean of such intervals, and of some that lost nothing, is never outside of what is certain of all; nor does it pass for better known than those intervals
/// that are a guess from few packets.
#[test]
fn together_intervals_keep_their_bounds_and_their_marks() {
    let random = &mut Generator::new(9);
    let (mut outside, mut contradicted) = (0, 0);
    for _ in 0..300 {
        let (intervals, delays): (Vec<Estimate>, Vec<Vec<i64>>) =
            (0..6).map(|number| interval(random, if number % 3 == 0 { 0.0 } else { 0.05 })).unzip();
        let (overall, truth) = (combine(&intervals), mean_of(&delays.concat()));
        let (Ok(bracket), Ok(mean)) = (overall.bracket, overall.mean) else { continue };
        assert!(bracket.lower - 1.0 <= truth && truth <= bracket.upper + 1.0, "{bracket:?} {truth}");
        let reported = mean.within_bounds();
        assert!(bracket.lower - 1.0 <= reported && reported <= bracket.upper + 1.0, "{bracket:?} {mean:?}");
        let is_outside =
            |each: &Estimate| each.mean.is_ok_and(|mean| mean.within_bounds() != mean.nanoseconds);
        outside += usize::from(intervals.iter().any(is_outside));
        let quantities = of_delays(&overall, None);
        let shown = quantities.iter().find(|each| each.what.name == "mean").unwrap();
        if let Some(Ok([low, high])) = shown.range {
            // At most 240 packets in rows of intervals with losses.
            assert!(mean.uncertainty == Uncertainty::Exact || shown.remark.is_some(), "{shown:?}");
            assert!(bracket.lower - 1.0 <= low && high <= bracket.upper + 1.0, "{bracket:?} {shown:?}");
            contradicted += usize::from(truth < low - 1.0 || truth > high + 1.0);
        }
    }
    assert!(outside > 30, "{outside}");
    println!("{contradicted} of 300 miss, all of them marked");
}
