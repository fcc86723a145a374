//! Lost and gained packets.
//!
//! # Test plan
//!
//! As in [`crate::balance`].

use super::monte_carlo::{Generator, binomial};
use crate::{Balance, Basis, Confidence, EndSums, Observation, Sums, estimate};
use deltaline_model::sketch::cell::Cell;

fn cells(rows: &[(u32, u32)]) -> Vec<Cell> {
    rows.iter().map(|&(count, digest)| Cell { count, sum: 0, digest }).collect()
}

fn balance(sender: &[(u32, u32)], receiver: &[(u32, u32)]) -> Balance {
    let total = |end: &[(u32, u32)]| end.iter().map(|(count, _)| u64::from(*count)).sum();
    let (sent, received) = (total(sender), total(receiver));
    let (sender, receiver) = (cells(sender), cells(receiver));
    estimate(&Observation { rows: sender.len(), sender: &sender, receiver: &receiver, sent, received })
        .unwrap()
        .balance
}

#[test]
fn what_rows_prove() {
    let plain = balance(&[(5, 1), (3, 2), (0, 0)], &[(5, 1), (1, 3), (0, 0)]);
    assert_eq!((plain.lost(), plain.surplus(), plain.net, plain.basis()), (2, 0, 2, Basis::Net));
    // Two of three rows are whole, and one packet in three that came in besides would not show: not so three.
    assert_eq!(plain.lost_range(Confidence::P95), Some([2.0, 4.0]));
    // One row lost two, one gained one.
    let both = balance(&[(5, 1), (3, 2), (1, 9)], &[(5, 1), (1, 3), (2, 8)]);
    assert_eq!((both.lost_least, both.surplus_least, both.net, both.basis()), (2, 1, 1, Basis::Estimated));
    assert!(both.lost() >= 2 && both.surplus() + 1 == both.lost());
    // Equal counts, other packets.
    let foreign = balance(&[(5, 1), (3, 2)], &[(5, 1), (3, 7)]);
    assert_eq!((foreign.lost_least, foreign.surplus_least, foreign.net), (1, 1, 0));
    assert_eq!(foreign.basis(), Basis::Estimated);
    // More came in than went: no loss is proven.
    let gained = balance(&[(5, 1), (3, 2)], &[(5, 1), (6, 7)]);
    assert_eq!((gained.lost(), gained.surplus(), gained.net), (0, 3, -3));
}

#[test]
fn sums_of_digests_show_what_no_sampled_row_does() {
    let end = |digests| EndSums { packets: 4, times: 0, digests: Some(digests), first: 0, last: 0 };
    let of = |digests| {
        let (sender, receiver) = (cells(&[(1, 4)]), cells(&[(1, 4)]));
        let observation = Observation { rows: 1, sender: &sender, receiver: &receiver, sent: 4, received: 4 };
        let sums = Sums { sender: end(11), receiver: end(digests) };
        estimate(&observation).unwrap().with_sums(&sums).balance
    };
    let same = of(11);
    assert_eq!((same.lost(), same.surplus(), same.basis()), (0, 0, Basis::Exact));
    assert_eq!(same.lost_range(Confidence::P95), Some([0.0, 0.0]));
    let other = of(12);
    assert_eq!((other.lost(), other.surplus(), other.basis()), (1, 1, Basis::Estimated));
}

#[test]
fn intervals_add_up() {
    let lost = balance(&[(5, 1), (3, 2)], &[(5, 1), (1, 3)]);
    let gained = balance(&[(5, 1), (3, 2)], &[(5, 1), (6, 7)]);
    let sum = lost.and(gained);
    assert_eq!((sum.lost_least, sum.surplus_least, sum.net), (2, 3, -1));
    assert_eq!((sum.lost() as i64 - sum.surplus() as i64, sum.basis()), (-1, Basis::Estimated));
    assert_eq!(lost.and(Balance::default()), lost);
}

#[test]
fn estimates_are_unbiased_and_their_intervals_hold() {
    const TRIALS: u64 = 1_000;
    const ROWS: usize = 256;
    for (seed, lost, gained, share) in [(1, 60, 40, 1.0), (2, 300, 300, 1.0), (3, 900, 200, 0.25)] {
        let random = &mut Generator::new(seed);
        let (mut sum, mut held) = (0.0, 0);
        for _ in 0..TRIALS {
            let mut rows = vec![(100u32, 100u32); ROWS];
            let sampled = |random: &mut Generator| random.uniform() <= share;
            for _ in 0..lost {
                if sampled(random) {
                    rows[random.hash() as usize % ROWS].1 -= 1;
                }
            }
            for _ in 0..gained {
                if sampled(random) {
                    rows[random.hash() as usize % ROWS].1 += 1;
                }
            }
            let sender: Vec<Cell> = rows.iter().map(|row| Cell { count: row.0, ..Cell::default() }).collect();
            let receiver: Vec<Cell> =
                rows.iter().map(|row| Cell { count: row.1, ..Cell::default() }).collect();
            let sent = (100.0 * ROWS as f64 / share) as u64;
            let received = sent - lost + gained;
            let observation =
                Observation { rows: ROWS, sender: &sender, receiver: &receiver, sent, received };
            let balance = estimate(&observation).unwrap().balance;
            sum += balance.lost() as f64;
            let [low, high] = balance.lost_range(Confidence::P95).unwrap();
            held += u64::from(low <= lost as f64 && lost as f64 <= high);
        }
        // By the formula of the variance, four deviations of the mean.
        let both = (lost + gained) as f64 * share;
        let error = (both + 2.0 * both * both / (ROWS - 1) as f64).sqrt() / 2.0 / share;
        let mean = sum / TRIALS as f64;
        assert!((mean - lost as f64).abs() < 0.5 + 4.0 * error / (TRIALS as f64).sqrt(), "{mean} of {lost}");
        binomial(held, TRIALS, 0.95);
    }
}

/// A handful of packets is lost and another handful gained, where rows sample a half of all or a 64th, or few of them are whole. Whether a row shows it or none does,
/// the interval holds what was lost; and what comes of many such intervals holds the sum.
#[test]
fn what_no_row_shows_is_within_the_interval() {
    const TRIALS: u64 = 2_000;
    for (seed, rows, share, lost, gained) in [
        (8, 1024, 0.5, 1, 2),
        (9, 1024, 0.5, 2, 1),
        (10, 64, 0.5, 4, 4),
        (11, 1024, 1.0 / 64.0, 30, 50),
        (12, 64, 1.0, 90, 2),
        (13, 64, 1.0, 2000, 5),
        (14, 256, 0.25, 12, 0),
        (15, 1024, 0.5, 6, 15),
        (16, 1024, 0.5, 60, 60),
    ] {
        let random = &mut Generator::new(seed);
        let (mut held, mut unseen, mut held_together) = (0, 0, 0);
        let mut together = (Balance::default(), 0.0);
        for trial in 1..=TRIALS {
            let mut receiver = vec![(200u32, 0u32); rows];
            let sender = receiver.clone();
            for number in 0..lost + gained {
                if random.uniform() <= share {
                    let row = &mut receiver[random.hash() as usize % rows];
                    row.0 = if number < lost { row.0.saturating_sub(1) } else { row.0 + 1 };
                    row.1 ^= random.hash() as u32;
                }
            }
            let (sender, receiver) = (cells(&sender), cells(&receiver));
            let sent = (200.0 * rows as f64 / share) as u64;
            let received = sent - lost + gained;
            let observation = Observation { rows, sender: &sender, receiver: &receiver, sent, received };
            let balance = estimate(&observation).unwrap().balance;
            let holds = |balance: &Balance, lost: f64| {
                let [low, high] = balance.lost_range(Confidence::P95).unwrap();
                low <= lost && lost <= high
            };
            held += u64::from(holds(&balance, lost as f64));
            unseen += u64::from(balance.basis() == Basis::Net && balance.lost() != lost);
            together = (together.0.and(balance), together.1 + lost as f64);
            if trial % 20 == 0 {
                held_together += u64::from(holds(&together.0, together.1));
                together = Default::default();
            }
        }
        println!(
            "{rows} rows of {share}: {held} of {TRIALS}, {unseen} unseen, {held_together} of {} together",
            TRIALS / 20
        );
        assert!(held as f64 > 0.93 * TRIALS as f64, "{rows} rows of {share}: {held}");
        assert!(
            held_together as f64 > 0.87 * (TRIALS / 20) as f64,
            "{rows} rows of {share}: {held_together}"
        );
    }
}

/// Intervals without packets, and those of a few that no row samples, without digests: what is open of them is no more than they have.
#[test]
fn idle_intervals_leave_nothing_open() {
    let rows = vec![(50, 0); 64];
    let busy = balance(&rows, &rows);
    let of = |sent: u64| {
        let blank = cells(&[(0, 0); 64]);
        let received = sent.saturating_sub(1);
        estimate(&Observation { rows: 64, sender: &blank, receiver: &blank, sent, received }).unwrap().balance
    };
    let [low, high] = busy.lost_range(Confidence::P95).unwrap();
    assert_eq!([low, high], [0.0, 0.0]);
    assert_eq!(of(0).lost_range(Confidence::P95), Some([0.0, 0.0]));
    assert_eq!(of(4).lost_range(Confidence::P95), Some([1.0, 4.0]));
    let all = (0..100).fold(busy, |all, number| all.and(of(if number == 50 { 4 } else { 0 })));
    assert_eq!(all.lost_range(Confidence::P95), Some([1.0, 4.0]));
    // From totals alone nothing is known.
    assert_eq!(Balance::of_totals(4, 3).lost_range(Confidence::P95), None);
}

/// Where most rows have gained, none shows a loss: that some hide is said, and how many may.
#[test]
fn losses_hide_in_few_rows_that_gained() {
    const TRIALS: u64 = 1_000;
    for (seed, rows, lost, gained) in [(4, 8, 0, 40), (5, 8, 25, 90), (6, 8, 5, 300), (7, 16, 30, 100)] {
        let random = &mut Generator::new(seed);
        let mut held = 0;
        for _ in 0..TRIALS {
            let sender = vec![(1000, 0); rows];
            let mut receiver = sender.clone();
            (0..lost).for_each(|_| receiver[random.hash() as usize % rows].0 -= 1);
            (0..gained).for_each(|_| receiver[random.hash() as usize % rows].0 += 1);
            let balance = balance(&sender, &receiver);
            assert_eq!(balance.basis(), Basis::Estimated);
            let [low, high] = balance.lost_range(Confidence::P95).unwrap();
            held += u64::from(low <= f64::from(lost) && f64::from(lost) <= high);
        }
        println!("{rows} rows, {lost} lost, {gained} gained: {held} of {TRIALS}");
        // Of eight rows, a variance has seven degrees of freedom, and no normal distribution.
        assert!(held > 880, "{rows} rows, {lost} lost, {gained} gained: {held} of {TRIALS}");
    }
}
