//! Examples by hand.
//!
//! # Test plan
//!
//! The paper's Fig. 2; exactness without loss; every reason and every refusal; modular sums; a receiver clock that
//! is behind. A combination of intervals computed by hand, with missing, empty and surplus intervals.

use super::Table;
use crate::{
    Balance, Confidence, Estimate, Loss, Mean, Observation, ObservationError, Reason, Rounding, Skew,
    Uncertainty, combine, estimate,
};
use deltaline_model::sketch::cell::Cell;
use deltaline_model::wire::frame::Role;

fn cells(cells: &[(u32, u64)]) -> Vec<Cell> {
    cells.iter().map(|&(count, sum)| Cell { count, sum, digest: 0 }).collect()
}

/// An estimate from (count, sum) pairs, all of whose packets were sampled.
fn whole(rows: usize, sender: &[(u32, u64)], receiver: &[(u32, u64)]) -> Estimate {
    let total = |end: &[(u32, u64)]| end.iter().map(|cell| u64::from(cell.0)).sum();
    let (sent, received) = (total(sender), total(receiver));
    estimate(&Observation { rows, sender: &cells(sender), receiver: &cells(receiver), sent, received })
        .unwrap()
}

fn mean(nanoseconds: f64, standard_error: f64, degrees_of_freedom: f64) -> Mean {
    let skew = Skew::default();
    Mean::unbounded(nanoseconds, Uncertainty::Sampled { standard_error, degrees_of_freedom, skew })
}

/// An interval with S = 10 of the received packets.
fn interval(received: u64, mean: Result<Mean, Reason>, deviation: Result<f64, Reason>) -> Estimate {
    Estimate {
        method: crate::Method::Rows,
        apart: None,
        sent: received + 1,
        received,
        delivered: received,
        effective_samples: 10,
        usable_rows: 3,
        mean,
        bracket: Err(Reason::NoSums),
        deviation,
        deviation_freedom: 2.0,
        deviation_rows: 3,
        rounding: Rounding::default(),
        balance: Balance::of_totals(received + 1, received),
        representative: Ok(()),
        paper_second_moment: Err(Reason::NoUsablePair),
        paper_deviation: Err(Reason::NoUsablePair),
    }
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found}, expected {expected}");
}

#[test]
fn figure_2_of_the_lda_paper() {
    let estimate = whole(4, &[(5, 120), (10, 234), (2, 15), (1, 6)], &[(5, 180), (9, 348), (2, 37), (1, 14)]);
    assert_eq!(estimate.loss(), Loss::Lost(1));
    assert_eq!((estimate.sent, estimate.received), (18, 17));
    assert_eq!((estimate.effective_samples, estimate.usable_rows), (8, 3));
    let mean = estimate.mean.unwrap();
    assert_eq!(mean.nanoseconds, 11.25);
    // Residuals 60 - 56.25, 22 - 22.5, 8 - 11.25 over 5, 2, 1 packets; g - 1 = 2.
    let variance = (3.75f64.powi(2) / 5.0 + 0.5f64.powi(2) / 2.0 + 3.25f64.powi(2)) / 2.0;
    close(estimate.deviation.unwrap(), (variance * 16.0 / 17.0).sqrt());
    let standard_error = (variance * (1.0 - 8.0 / 17.0) / 8.0).sqrt();
    // Student's t, 97.5 %, 2 degrees of freedom.
    let half = mean.half_width(Confidence::P95).unwrap();
    assert!((half / standard_error - 4.302_652_7).abs() < 1e-6);
    let range = mean.range(Confidence::P95).unwrap();
    assert_eq!((range.lower, range.upper), (11.25 - half, 11.25 + half));
    // The first pair of rows is damaged, the second collapses to 8 - 22 over 3 packets: below the squared mean.
    close(estimate.paper_second_moment.unwrap(), 14.0 * 14.0 / 3.0);
    assert_eq!(estimate.paper_deviation, Err(Reason::NegativeVariance));
}

#[test]
fn without_loss_the_mean_is_exact() {
    let mut table = Table::new(2, 4);
    for (packet, delay) in [3, 7, 8, 1_000, 2, 4].into_iter().enumerate() {
        table.packet(Some(packet % 5), 1 << 39, Some(delay));
    }
    let mean = table.estimate().mean.unwrap();
    close(mean.nanoseconds, 1024.0 / 6.0);
    assert_eq!(mean.uncertainty, Uncertainty::Exact);
    assert_eq!(mean.half_width(Confidence::P95), Ok(0.0));
    // One more packet, not sampled: the mean is no longer exact.
    table.packet(None, 5, Some(9));
    assert!(table.estimate().mean.unwrap().half_width(Confidence::P95).unwrap() > 0.0);
}

#[test]
fn one_row_gives_an_exact_mean_but_no_deviation() {
    let estimate = whole(1, &[(4, 0)], &[(4, 10)]);
    let mean = estimate.mean.unwrap();
    assert_eq!((mean.nanoseconds, mean.uncertainty), (2.5, Uncertainty::Exact));
    assert_eq!(estimate.deviation, Err(Reason::OneUsableRow));
    assert_eq!(estimate.paper_second_moment, Err(Reason::NoUsablePair));
}

#[test]
fn one_usable_row_of_many_gives_a_mean_of_unknown_spread() {
    let estimate = whole(2, &[(4, 0), (3, 0)], &[(4, 10), (2, 0)]);
    assert_eq!((estimate.usable_rows, estimate.effective_samples), (1, 4));
    let mean = estimate.mean.unwrap();
    assert_eq!((mean.nanoseconds, mean.uncertainty), (2.5, Uncertainty::Unknown(Reason::OneUsableRow)));
    assert_eq!(mean.half_width(Confidence::P95), Err(Reason::OneUsableRow));
    assert_eq!(mean.range(Confidence::P95), Err(Reason::OneUsableRow));
    assert_eq!(estimate.deviation, Err(Reason::OneUsableRow));
}

#[test]
fn nothing_to_estimate_from() {
    let reasons = |estimate: Estimate, reason| {
        assert_eq!(estimate.mean, Err(reason));
        assert_eq!(estimate.deviation, Err(reason));
        assert_eq!(estimate.paper_second_moment, Err(reason));
        assert_eq!(estimate.paper_deviation, Err(reason));
        assert_eq!((estimate.effective_samples, estimate.usable_rows), (0, 0));
    };
    let blank = cells(&[(0, 0); 4]);
    let of = |sender: &[Cell], receiver: &[Cell], sent, received| {
        estimate(&Observation { rows: 2, sender, receiver, sent, received }).unwrap()
    };
    reasons(of(&blank, &blank, 0, 0), Reason::NothingReceived);
    reasons(of(&cells(&[(3, 9); 4]), &blank, 20, 0), Reason::NothingReceived);
    assert_eq!(of(&cells(&[(3, 9); 4]), &blank, 20, 0).loss(), Loss::Lost(20));
    reasons(of(&blank, &blank, 7, 7), Reason::NothingSampled);
    reasons(of(&cells(&[(3, 9); 4]), &cells(&[(2, 9); 4]), 12, 8), Reason::NoUsableRow);
    reasons(of(&blank, &cells(&[(2, 9), (0, 0), (0, 0), (0, 0)]), 7, 9), Reason::NoUsableRow);
}

#[test]
fn empty_rows_count_for_nothing_whatever_their_sums() {
    let with = whole(4, &[(2, 0), (0, 77), (3, 0), (0, 0)], &[(2, 8), (0, 5), (3, 10), (0, 999)]);
    let without = whole(4, &[(2, 0), (0, 0), (3, 0), (0, 0)], &[(2, 8), (0, 0), (3, 10), (0, 0)]);
    assert_eq!(with, without);
    assert_eq!(with.usable_rows, 2);
    close(with.paper_second_moment.unwrap(), (64.0 + 100.0) / 5.0);
}

#[test]
fn pairs_stay_within_a_bank() {
    // Three rows: the third has no partner, least of all the next bank's first.
    let estimate = whole(3, &[(1, 0); 6], &[(1, 10), (1, 4), (1, 50), (1, 3), (1, 1), (1, 70)]);
    close(estimate.paper_second_moment.unwrap(), (36.0 + 4.0) / 4.0);
    // Both rows of a pair must be whole, even if their losses and surplus balance.
    let balanced = whole(2, &[(2, 0), (2, 0), (1, 0), (1, 0)], &[(1, 5), (3, 5), (1, 4), (1, 1)]);
    close(balanced.paper_second_moment.unwrap(), 9.0 / 2.0);
}

#[test]
fn sums_wrap_at_40_bits() {
    let late = (1u64 << 40) - 5;
    let mut table = Table::new(1, 4);
    for (row, delay) in [(0, 10), (0, 20), (1, 12), (2, 18), (3, 15)] {
        table.packet(Some(row), late, Some(delay));
    }
    assert_eq!(table.estimate().mean.unwrap().nanoseconds, 15.0);
}

#[test]
fn the_largest_clock_offset_costs_no_digits() {
    let delays = [(0, 100), (0, 104), (1, 98), (2, 101), (3, 99)];
    let estimate_with = |offset: i64| {
        let mut table = Table::new(1, 4);
        for (row, delay) in delays {
            table.packet(Some(row), 1_000, Some(delay + offset));
        }
        table.packet(None, 1_000, Some(0));
        table.estimate()
    };
    let plain = estimate_with(0);
    for offset in [-1_000, 270_000_000_000, -270_000_000_000] {
        let shifted = estimate_with(offset);
        assert_eq!(shifted.deviation, plain.deviation);
        assert_eq!(shifted.mean.unwrap().uncertainty, plain.mean.unwrap().uncertainty);
        let moved = shifted.mean.unwrap().nanoseconds - plain.mean.unwrap().nanoseconds;
        // An f64 of 2.7 * 10^11 has steps of 3 * 10^-5.
        assert!((moved - offset as f64).abs() < 1e-4);
    }
}

#[test]
fn a_receiver_clock_behind_is_reported() {
    let estimate_with = |offset: i64| {
        let mut table = Table::new(1, 4);
        for (row, delay) in [(0, 100), (1, 300), (2, 200), (3, 200)] {
            table.packet(Some(row), 1 << 20, Some(delay + offset));
        }
        table.packet(None, 1 << 20, Some(0));
        table.estimate().mean.unwrap()
    };
    assert!(!estimate_with(0).clock_suspect());
    // The interval is 200 ± 58 ns wide: an offset of -230 ns may be chance, one of -300 ns is not.
    let doubtful = estimate_with(-230);
    assert_eq!(doubtful.nanoseconds, -30.0);
    assert!((55.0..61.0).contains(&doubtful.half_width(Confidence::P95).unwrap()));
    assert!(!doubtful.clock_suspect());
    assert!(estimate_with(-300).clock_suspect());
    let unknown = Uncertainty::Unknown(Reason::OneUsableRow);
    assert!(Mean::unbounded(-1.0, unknown).clock_suspect());
    assert!(!Mean::unbounded(0.0, unknown).clock_suspect());
}

#[test]
fn more_received_than_sent_is_visible() {
    let estimate = whole(2, &[(2, 0), (2, 0)], &[(2, 8), (5, 40)]);
    assert_eq!(estimate.loss(), Loss::Surplus(3));
    assert_eq!(estimate.mean.unwrap().nanoseconds, 4.0);
}

#[test]
fn contradictions_are_refused() {
    let two = cells(&[(1, 0), (1, 0)]);
    let try_with = |rows, sender: &[Cell], receiver: &[Cell], sent, received| {
        estimate(&Observation { rows, sender, receiver, sent, received }).unwrap_err()
    };
    assert_eq!(try_with(0, &two, &two, 2, 2), ObservationError::Empty { rows: 0, cells: 2 });
    assert_eq!(try_with(2, &[], &[], 2, 2), ObservationError::Empty { rows: 2, cells: 0 });
    assert_eq!(try_with(2, &two, &two[..1], 2, 2), ObservationError::Sizes { sender: 2, receiver: 1 });
    assert_eq!(try_with(3, &two, &two, 2, 2), ObservationError::PartialBank { cells: 2, rows: 3 });
    let total = |end, total| ObservationError::Total { end, cells: 2, total };
    assert_eq!(try_with(2, &two, &two, 1, 2), total(Role::Sender, 1));
    assert_eq!(try_with(2, &two, &two, 2, 0), total(Role::Receiver, 0));
    assert_eq!(
        total(Role::Receiver, 0).to_string(),
        "the receiver's cells hold 2 packets, but its total is 0: cells and total belong to different intervals"
    );
}

#[test]
fn two_intervals_by_hand() {
    let overall = combine(&[
        interval(100, Ok(mean(10.0, 2.0, 4.0)), Ok(5.0)),
        interval(300, Ok(mean(30.0, 1.0, 20.0)), Ok(7.0)),
    ]);
    assert_eq!((overall.sent, overall.received, overall.effective_samples), (402, 400, 20));
    assert_eq!((overall.intervals, overall.loss()), (2, Loss::Lost(2)));
    let mean = overall.mean.unwrap();
    close(mean.nanoseconds, 25.0);
    let Uncertainty::Sampled { standard_error, degrees_of_freedom, .. } = mean.uncertainty else {
        panic!("not sampled");
    };
    // Parts of the variance: 4 / 16 and 9 / 16.
    close(standard_error, (13.0f64 / 16.0).sqrt());
    close(degrees_of_freedom, 13.0f64.powi(2) / (4.0f64.powi(2) / 4.0 + 9.0f64.powi(2) / 20.0));
    let within = 0.25 * 25.0 + 0.75 * 49.0;
    let between = 0.25 * 15.0f64.powi(2) + 0.75 * 5.0f64.powi(2);
    let noise = 0.25 * 0.75 * (4.0 + 1.0);
    let deviation = overall.deviation.unwrap();
    let variance = within + between - noise;
    close(deviation.nanoseconds, variance.sqrt());
    // Of the deviations, with two degrees of freedom each, and of the means.
    let own = (0.25f64 * 25.0).powi(2) + (0.75f64 * 49.0).powi(2);
    let of_means = (2.0f64 * 0.25 * 15.0).powi(2) * 4.0 + (2.0f64 * 0.75 * 5.0).powi(2);
    close(deviation.degrees_of_freedom, 2.0 * variance * variance / (own + of_means));
    assert_eq!(overall.paper_deviation, Err(Reason::NoInterval));
}

#[test]
fn a_mean_is_that_of_all_intervals_with_packets_or_none() {
    let none = interval(50, Err(Reason::NoUsableRow), Err(Reason::NoUsableRow));
    let unknown = Mean::unbounded(99.0, Uncertainty::Unknown(Reason::OneUsableRow));
    let spread_unknown = interval(50, Ok(unknown), Err(Reason::OneUsableRow));
    let exact = Mean::unbounded(20.0, Uncertainty::Exact);
    let exact_only = interval(100, Ok(exact), Err(Reason::OneUsableRow));
    let good = interval(100, Ok(mean(10.0, 2.0, 4.0)), Ok(5.0));
    let empty = interval(0, Err(Reason::NothingReceived), Err(Reason::NothingReceived));

    // An interval that lost every row was slow: the others' mean is not that of all.
    let overall = combine(&[none, good, empty, exact_only]);
    assert_eq!((overall.mean, overall.deviation), (Err(Reason::Missing(1)), Err(Reason::Missing(2))));
    let overall = combine(&[good, empty, exact_only]);
    assert_eq!(overall.mean, Ok(mean(15.0, 1.0, 4.0)));
    // One of unknown spread: a mean without an interval.
    let overall = combine(&[spread_unknown, good]);
    let found = overall.mean.unwrap();
    assert_eq!(found.uncertainty, unknown.uncertainty);
    close(found.nanoseconds, (99.0 * 50.0 + 10.0 * 100.0) / 150.0);
    // All exact: exact.
    assert_eq!(combine(&[exact_only, exact_only]).mean, Ok(exact));
    assert_eq!(combine(&[none, none]).mean, Err(Reason::NoInterval));
    // One alone keeps its reason.
    assert_eq!(combine(&[none]).mean, Err(Reason::NoUsableRow));
    assert_eq!(combine(&[empty]).mean, Err(Reason::NothingReceived));
    assert_eq!(combine(&[]).deviation, Err(Reason::NothingReceived));
}

#[test]
fn a_surplus_is_visible_overall() {
    let good = interval(100, Ok(mean(10.0, 2.0, 4.0)), Ok(5.0));
    let surplus = Estimate { sent: 40, received: 47, delivered: 47, ..good };
    let overall = combine(&[good, surplus]);
    assert_eq!(overall.loss(), Loss::Surplus(6));
    let huge = Estimate { sent: u64::MAX, received: u64::MAX, delivered: u64::MAX, ..good };
    assert_eq!(combine(&[huge, huge]).sent, u64::MAX);
}

#[test]
fn the_papers_deviation_overall_keeps_intervals_of_negative_variance() {
    let with = |received, nanoseconds, moment: f64| Estimate {
        paper_second_moment: Ok(moment),
        ..interval(received, Ok(mean(nanoseconds, 1.0, 1.0)), Ok(1.0))
    };
    // sigma^2 of the second alone would be 90 - 100; overall 0.5 (130 + 90) - 100.
    let overall = combine(&[with(100, 10.0, 130.0), with(100, 10.0, 90.0)]);
    close(overall.paper_deviation.unwrap().value, 10f64.sqrt());
    let overall = combine(&[with(100, 10.0, 90.0), with(100, 10.0, 90.0)]);
    assert_eq!(overall.paper_deviation, Err(Reason::NegativeVariance));
}
