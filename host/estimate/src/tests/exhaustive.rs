//! The formulas as identities over all assignments of a few packets to a few rows.
//!
//! Hashing makes every assignment equally likely, so the average over all of them is the expectation, exact to
//! rounding and free of chance. Averages run over the assignments in which the quantity is identifiable. Each
//! expectation holds given the rows' counts, so it holds for any selection made by counts.
//!
//! # Test plan
//!
//! Packets of which one or two are lost and, in one case, some hash values that are not sampled. Tested are the
//! mean, the between-row variance, the squared standard error against the mean's true squared error, and the
//! paper's second moment. For two intervals: the combined mean and variance.

use super::{Table, moments};
use crate::{Estimate, Uncertainty, combine};

/// Delays; none when lost.
const FIRST: [Option<i64>; 6] = [Some(1), Some(9), Some(4), None, Some(30), Some(5)];
const SECOND: [Option<i64>; 6] = [Some(70), None, Some(-13), Some(8), None, Some(8)];

/// The estimate for every assignment of `packets` to two banks of two rows. Of `values` hash values, those from 4
/// on stand for packets that are not sampled.
fn all_assignments(packets: &[Option<i64>], values: usize) -> Vec<Estimate> {
    (0..values.pow(packets.len() as u32))
        .map(|assignment| {
            let mut table = Table::new(2, 2);
            let mut rest = assignment;
            for &delay in packets {
                let hash = rest % values;
                rest /= values;
                table.packet((hash < 4).then_some(hash), 1_000, delay);
            }
            table.estimate()
        })
        .collect()
}

fn received(packets: &[Option<i64>]) -> Vec<f64> {
    packets.iter().flatten().map(|&delay| delay as f64).collect()
}

fn average(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    assert!(values.len() > 50, "{} values", values.len());
    values.iter().sum::<f64>() / values.len() as f64
}

fn agree(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found}, expected {expected}");
}

#[test]
fn expectations_of_one_interval() {
    for (packets, values) in [(FIRST, 4), (SECOND, 4), (FIRST, 6)] {
        let estimates = all_assignments(&packets, values);
        let delays = received(&packets);
        let (mean, squares) = moments(&delays);

        agree(average(estimates.iter().filter_map(|each| Some(each.mean.ok()?.nanoseconds))), mean);

        // sigma, squared, is the population's variance.
        let variance =
            average(estimates.iter().filter_map(|each| each.deviation.ok()).map(|sigma| sigma * sigma));
        agree(variance, squares / delays.len() as f64);

        // The squared standard error is the mean's squared error, on average.
        let sampled: Vec<(f64, f64)> = estimates
            .iter()
            .filter_map(|each| each.mean.ok())
            .filter_map(|found| match found.uncertainty {
                Uncertainty::Exact => {
                    assert!((found.nanoseconds - mean).abs() < 1e-9);
                    None
                }
                Uncertainty::Sampled { standard_error, .. } => {
                    Some((standard_error.powi(2), (found.nanoseconds - mean).powi(2)))
                }
                Uncertainty::Unknown(_) => None,
            })
            .collect();
        agree(average(sampled.iter().map(|pair| pair.0)), average(sampled.iter().map(|pair| pair.1)));

        let moment = delays.iter().map(|delay| delay * delay).sum::<f64>() / delays.len() as f64;
        agree(average(estimates.iter().filter_map(|each| each.paper_second_moment.ok())), moment);
    }
}

#[test]
fn expectations_of_two_intervals() {
    // Four packets each, so that all pairs of assignments are few enough.
    let (first, second) = (&FIRST[..4], &SECOND[2..]);
    let identified = |packets| -> Vec<Estimate> {
        all_assignments(packets, 4).into_iter().filter(|each| each.deviation.is_ok()).collect()
    };
    let (firsts, seconds) = (identified(first), identified(second));
    let delays = [received(first), received(second)].concat();
    let (mean, squares) = moments(&delays);
    let overall: Vec<_> = firsts
        .iter()
        .flat_map(|first| seconds.iter().map(move |second| combine(&[*first, *second])))
        .collect();
    let means: Vec<_> = overall.iter().map(|each| each.mean.unwrap()).collect();
    agree(average(means.iter().map(|each| each.nanoseconds)), mean);
    let variance = average(overall.iter().map(|each| each.deviation.unwrap().nanoseconds.powi(2)));
    agree(variance, squares / delays.len() as f64);
    let claimed = average(means.iter().map(|each| match each.uncertainty {
        Uncertainty::Sampled { standard_error, .. } => standard_error.powi(2),
        _ => 0.0,
    }));
    agree(claimed, average(means.iter().map(|each| (each.nanoseconds - mean).powi(2))));
}
