//! Sums over all packets.
//!
//! # Test plan
//!
//! As in [`crate::sums`]: random packets, at random clock offsets and around the wrap of times.

use super::monte_carlo::Generator;
use crate::{EndSums, Sums};

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
        for near in [None, Some(truth + 20_000.0)] {
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

#[test]
fn other_packets_have_no_exact_mean_and_a_surplus_no_bracket() {
    let sums = Sums { sender: end(&[10, 20]), receiver: EndSums { digests: Some(8), ..end(&[15, 25]) } };
    assert_eq!((sums.mean(None), sums.digests_agree()), (None, Some(false)));
    let more = Sums { sender: end(&[10, 20]), receiver: end(&[15, 25, 26]) };
    assert_eq!((more.mean(None), more.bracket(None)), (None, None));
    let unknown = Sums { sender: EndSums { digests: None, ..end(&[10]) }, receiver: end(&[15]) };
    assert_eq!((unknown.mean(None), unknown.digests_agree()), (None, None));
}
