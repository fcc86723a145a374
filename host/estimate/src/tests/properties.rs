//! Properties that hold for any input.
//!
//! # Test plan
//!
//! Tables of any shape, with totals that may contradict them: no panic, no number that is not finite, no sample
//! larger than what was received, and always an interval around its mean. For tables that do not contradict
//! themselves, permuting the rows alike at both ends or adding a constant clock offset changes what it should and
//! nothing else. Combining adds up and does not depend on the order of intervals.

use crate::{Confidence, Estimate, Observation, Overall, combine, estimate, hoeffding_half_width};
use deltaline_model::sketch::cell::{Cell, SUM_MASK};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

/// A row: the sender's count and sum, the delay sum, and packets lost (or, if negative, gained).
type Row = (u32, u64, i64, i32);

fn any_cell() -> impl Strategy<Value = Cell> {
    (prop_oneof![0..4u32, any::<u32>()], prop_oneof![Just(0), 0..=SUM_MASK, any::<u64>()])
        .prop_map(|(count, sum)| Cell { count, sum, digest: 0 })
}

/// Rows as traffic leaves them, so that many are usable; delay sums up to 2^38 either way.
fn row() -> impl Strategy<Value = Row> {
    let count = prop_oneof![Just(0u32), 1..20u32, 1..1_000_000u32];
    let delay = prop_oneof![-100..1_000i64, -(1i64 << 38)..(1i64 << 38)];
    (count, 0..=SUM_MASK, delay, prop_oneof![4 => Just(0), 1 => -2..3i32])
}

fn ends(rows: &[Row]) -> (Vec<Cell>, Vec<Cell>) {
    rows.iter()
        .map(|&(count, sum, delay, lost)| {
            let got = sum.wrapping_add_signed(delay) & SUM_MASK;
            (
                Cell { count, sum, digest: 0 },
                Cell { count: count.saturating_add_signed(-lost), sum: got, digest: 0 },
            )
        })
        .unzip()
}

fn total(cells: &[Cell]) -> u64 {
    cells.iter().map(|cell| u64::from(cell.count)).sum()
}

/// The estimate of `rows` as one bank, with `unsampled` further packets.
fn of_rows(rows: &[Row], unsampled: u64) -> Estimate {
    let (sender, receiver) = ends(rows);
    let (sent, received) = (total(&sender) + unsampled, total(&receiver) + unsampled);
    estimate(&Observation { rows: rows.len(), sender: &sender, receiver: &receiver, sent, received }).unwrap()
}

fn sound_mean(mean: crate::Mean) -> Result<(), TestCaseError> {
    prop_assert!(mean.nanoseconds.is_finite());
    for level in [0.5, 0.95, 0.999_999] {
        let confidence = Confidence::new(level).unwrap();
        if let Ok(range) = mean.range(confidence) {
            let half = mean.half_width(confidence).unwrap();
            prop_assert!(half.is_finite() && half >= 0.0);
            prop_assert!(range.lower <= mean.nanoseconds && mean.nanoseconds <= range.upper);
            prop_assert!(!mean.clock_suspect() || mean.nanoseconds < 0.0);
        }
    }
    Ok(())
}

fn sound(estimate: &Estimate) -> Result<(), TestCaseError> {
    prop_assert!(estimate.effective_samples <= estimate.received);
    prop_assert!(estimate.usable_rows as u64 <= estimate.effective_samples);
    prop_assert_eq!(estimate.mean.is_ok(), estimate.usable_rows > 0);
    prop_assert_eq!(estimate.deviation.is_ok(), estimate.usable_rows > 1);
    estimate.mean.map_or(Ok(()), sound_mean)?;
    for value in [estimate.deviation, estimate.paper_deviation, estimate.paper_second_moment] {
        prop_assert!(value.is_err() || value.is_ok_and(|value| value.is_finite() && value >= 0.0));
    }
    let hoeffding = estimate
        .deviation
        .and_then(|sigma| hoeffding_half_width(sigma, estimate.effective_samples, Confidence::P95));
    prop_assert!(hoeffding.is_err() || hoeffding.is_ok_and(|half| half.is_finite() && half >= 0.0));
    Ok(())
}

fn sound_overall(overall: &Overall) -> Result<(), TestCaseError> {
    overall.mean.map_or(Ok(()), sound_mean)?;
    if let Ok(deviation) = overall.deviation {
        prop_assert!(deviation.nanoseconds.is_finite() && deviation.nanoseconds >= 0.0);
        let range = deviation.range(Confidence::P95);
        prop_assert!(range.is_err() || range.is_ok_and(|range| range.lower <= range.upper));
    }
    if let Ok(deviation) = overall.paper_deviation {
        prop_assert!(deviation.value.is_finite() && deviation.value >= 0.0);
        prop_assert!(deviation.missing < overall.intervals);
    }
    Ok(())
}

/// Whether two deviations agree but for the rounding of sums in another order.
fn alike(one: f64, other: f64, scale: f64) -> bool {
    (one - other).abs() <= 1e-9 * scale.abs() + 1e-9 * one.abs()
}

proptest! {
    #[test]
    fn any_tables(
        rows in 0..9usize,
        sender in prop::collection::vec(any_cell(), 0..20),
        receiver in prop::collection::vec(any_cell(), 0..20),
        same_size in any::<bool>(),
        sent in any::<u64>(),
        received in any::<u64>(),
    ) {
        let size = sender.len().min(receiver.len());
        let (sender, receiver) =
            if same_size { (&sender[..size], &receiver[..size]) } else { (&sender[..], &receiver[..]) };
        if let Ok(estimate) = estimate(&Observation { rows, sender, receiver, sent, received }) {
            sound(&estimate)?;
            sound_overall(&combine(&[estimate, estimate]))?;
        }
    }

    #[test]
    fn traffic_like_tables(rows in prop::collection::vec(row(), 1..64), unsampled in 0..1_000_000u64) {
        sound(&of_rows(&rows, unsampled))?;
        sound(&of_rows(&rows, 0))?;
    }

    #[test]
    fn rows_permuted_alike_change_nothing(
        (rows, permuted) in prop::collection::vec(row(), 1..64)
            .prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
        unsampled in 0..1_000u64,
    ) {
        let (one, other) = (of_rows(&rows, unsampled), of_rows(&permuted, unsampled));
        prop_assert_eq!(one.mean.map(|mean| mean.nanoseconds), other.mean.map(|mean| mean.nanoseconds));
        prop_assert_eq!(one.usable_rows, other.usable_rows);
        prop_assert_eq!(one.effective_samples, other.effective_samples);
        prop_assert_eq!(one.loss(), other.loss());
        if let (Ok(one), Ok(other)) = (one.deviation, other.deviation) {
            prop_assert!(alike(one, other, 0.0), "{} {}", one, other);
        }
        let half = |each: &Estimate| each.mean.and_then(|mean| mean.half_width(Confidence::P95));
        if let (Ok(one), Ok(other)) = (half(&one), half(&other)) {
            prop_assert!(alike(one, other, 0.0), "{} {}", one, other);
        }
    }

    #[test]
    fn a_clock_offset_moves_the_mean_alone(
        rows in prop::collection::vec((1..1_000u32, 0..=SUM_MASK, 0..1_000_000i64, Just(0)), 1..64),
        offset in -100_000_000..100_000_000i64,
        unsampled in 0..1_000u64,
    ) {
        let one = of_rows(&rows, unsampled);
        let moved: Vec<Row> = rows
            .iter()
            .map(|&(count, sum, delay, lost)| (count, sum, delay + offset * i64::from(count), lost))
            .collect();
        let other = of_rows(&moved, unsampled);
        let (mean, shifted) = (one.mean.unwrap(), other.mean.unwrap());
        prop_assert!((shifted.nanoseconds - offset as f64 - mean.nanoseconds).abs() < 1e-6);
        prop_assert_eq!(mean.uncertainty, shifted.uncertainty);
        prop_assert_eq!(one.deviation, other.deviation);
    }

    #[test]
    fn combining_adds_up(
        (intervals, permuted) in prop::collection::vec(
            (prop::collection::vec(row(), 1..16), 0..1_000u64), 0..8)
            .prop_map(|all| all.iter().map(|(rows, unsampled)| of_rows(rows, *unsampled)).collect::<Vec<_>>())
            .prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
    ) {
        let overall = combine(&intervals);
        sound_overall(&overall)?;
        prop_assert_eq!(overall.sent, intervals.iter().map(|each| each.sent).sum::<u64>());
        prop_assert_eq!(overall.received, intervals.iter().map(|each| each.received).sum::<u64>());
        prop_assert_eq!(
            overall.effective_samples,
            intervals.iter().map(|each| each.effective_samples).sum::<u64>()
        );
        let other = combine(&permuted);
        let scale = intervals
            .iter()
            .filter_map(|each| Some(each.mean.ok()?.nanoseconds.abs()))
            .fold(1.0, f64::max);
        if let (Ok(one), Ok(other)) = (overall.mean, other.mean) {
            prop_assert!(alike(one.nanoseconds, other.nanoseconds, scale));
        }
        prop_assert_eq!(overall.mean.is_ok(), other.mean.is_ok());
        if let (Ok(one), Ok(other)) = (overall.deviation, other.deviation) {
            prop_assert!(alike(one.nanoseconds, other.nanoseconds, scale));
        }
        prop_assert_eq!(overall.deviation.is_ok(), other.deviation.is_ok());
    }

    #[test]
    fn a_single_interval_combines_to_itself(
        rows in prop::collection::vec(row(), 1..64),
        unsampled in 0..1_000u64,
    ) {
        let one = of_rows(&rows, unsampled);
        let overall = combine(&[one]);
        prop_assert_eq!(overall.loss(), one.loss());
        if let Ok(mean) = one.mean {
            let value = overall.mean.unwrap();
            prop_assert_eq!(value.nanoseconds, mean.nanoseconds);
            let (own, found) = (mean.half_width(Confidence::P95), value.half_width(Confidence::P95));
            prop_assert_eq!(own.is_ok(), found.is_ok());
            if let (Ok(own), Ok(found)) = (own, found) {
                prop_assert!(alike(own, found, 0.0));
            }
        }
        if let Ok(deviation) = one.deviation {
            prop_assert!(alike(deviation, overall.deviation.unwrap().nanoseconds, 0.0));
        }
    }
}
