//! Times that are multiples of a unit: the plan is in `rounding.rs`.

use super::moments;
use super::monte_carlo::Generator;
use crate::{Confidence, Observation, Range, Reason, Rounding, Uncertainty, combine, estimate};
use deltaline_model::sketch::cell::Cell;

/// A microsecond.
const UNIT: u64 = 1000;
const ROWS: usize = 512;
const PACKETS: usize = 6000;
const SEEDS: u64 = 60;

/// What is measured of a recording with times cut to these units, and the exact mean and deviation before.
struct Found {
    mean: f64,
    bracket: Range,
    exact_mean: f64,
    deviation: Result<f64, Reason>,
    range: Result<[f64; 2], Reason>,
    exact: f64,
}

fn measured(seed: u64, rounding: Rounding, delay: impl Fn(&mut Generator) -> f64) -> Found {
    let random = &mut Generator::new(seed);
    let mut ends = [vec![Cell::default(); ROWS], vec![Cell::default(); ROWS]];
    let mut delays = vec![];
    let cut = |time: u64, unit: u64| time - time % unit.max(1);
    for number in 0..PACKETS as u64 {
        let sent = 1_000_000 * number + (1e6 * random.uniform()) as u64;
        let delay = delay(random).round();
        delays.push(delay);
        let row = (random.uniform() * ROWS as f64) as usize % ROWS;
        let times = [cut(sent, rounding.sender), cut(sent + delay as u64, rounding.receiver)];
        for (end, time) in ends.iter_mut().zip(times) {
            end[row].add(time);
        }
    }
    let sent = PACKETS as u64;
    let observation = Observation { rows: ROWS, sender: &ends[0], receiver: &ends[1], sent, received: sent };
    let mut estimate = estimate(&observation).unwrap();
    estimate.rounding = rounding;
    let overall = combine(&[estimate]);
    let mean = overall.mean.unwrap();
    assert_eq!(mean.uncertainty, Uncertainty::Exact);
    let bracket = Range { lower: mean.nanoseconds, upper: mean.nanoseconds };
    let found = overall.deviation;
    let (_, squares) = moments(&delays);
    Found {
        mean: mean.nanoseconds + rounding.shift(),
        bracket: rounding.around(bracket),
        exact_mean: delays.iter().sum::<f64>() / delays.len() as f64,
        deviation: found.map(|found| found.nanoseconds),
        range: found.and_then(|found| found.range(Confidence::P95)).map(|range| [range.lower, range.upper]),
        exact: (squares / delays.len() as f64).sqrt(),
    }
}

/// Delays of this mean in nanoseconds.
type Delay = fn(&mut Generator, f64) -> f64;
const LAWS: [(&str, Delay); 3] = [
    ("uniform", |random, mean| 2.0 * mean * random.uniform()),
    ("exponential", |random, mean| random.weibull(mean, 1.0)),
    ("lognormal", |random, mean| mean * (0.5 * random.normal()).exp()),
];

#[test]
fn the_mean_is_that_of_times_before_they_were_cut() {
    let (_, exponential) = LAWS[1];
    for (sender, receiver) in [(0, UNIT), (UNIT, 1), (10, UNIT)] {
        for seed in 0..SEEDS {
            let found = measured(seed, Rounding { sender, receiver }, |random| exponential(random, 5000.0));
            let Range { lower, upper } = found.bracket;
            assert!(
                lower <= found.exact_mean && found.exact_mean <= upper,
                "{sender}, {receiver}, seed {seed}"
            );
            // Of even rests the mean of 6000 packets is off by 4 ns; five standard deviations.
            assert!((found.mean - found.exact_mean).abs() < 5.0 * 1000.0 / (12.0 * PACKETS as f64).sqrt());
        }
    }
    // Units that are alike cancel out, others are not a recorder's, and nothing is taken off exact times.
    for (sender, receiver) in [(UNIT, UNIT), (0, 1_000_000), (1, 0), (0, 0)] {
        let rounding = Rounding { sender, receiver };
        let range = Range { lower: 5.0, upper: 7.0 };
        assert_eq!((rounding.shift(), rounding.around(range)), (0.0, range));
    }
}

/// Packets in step with a clock have all the same rest: there is room for any.
#[test]
fn there_is_room_for_packets_in_step_with_a_clock() {
    for rest in [0, 1, 400, 999] {
        let delay = 100_000.0;
        // The receiver's clock shows less than it is, or the sender's does.
        for (rounding, measured) in [
            (Rounding { sender: 0, receiver: UNIT }, delay - f64::from(rest)),
            (Rounding { sender: UNIT, receiver: 0 }, delay + f64::from(rest)),
        ] {
            let Range { lower, upper } = rounding.around(Range { lower: measured, upper: measured });
            assert!(lower <= delay && delay <= upper, "{rest}: {lower} to {upper}");
        }
    }
}

#[test]
fn the_deviation_is_that_of_times_before_they_were_cut() {
    let both = Rounding { sender: UNIT, receiver: UNIT };
    let one = Rounding { sender: 0, receiver: UNIT };
    for (name, delay) in LAWS {
        for rounding in [both, one] {
            for mean in [300.0, 700.0, 1500.0, 5000.0] {
                let (mut given, mut held, mut refused) = (0, 0, 0);
                let (mut error, mut exact) = (0.0, 0.0);
                for seed in 0..SEEDS {
                    let found = measured(seed, rounding, |random| delay(random, mean));
                    exact += found.exact / SEEDS as f64;
                    match (found.deviation, found.range) {
                        (Err(reason), _) => {
                            assert_eq!(reason, Reason::Rounded);
                            refused += 1;
                        }
                        (Ok(value), Ok([lower, upper])) => {
                            given += 1;
                            held += u64::from((lower..=upper).contains(&found.exact));
                            error += value / found.exact - 1.0;
                        }
                        (Ok(_), Err(reason)) => panic!("{name}, {mean}: {reason}"),
                    }
                }
                let off = if given > 0 { error / given as f64 } else { 0.0 };
                println!(
                    "{name}, {mean} ns, {rounding:?}: {exact:.0} ns, {refused} refused, {held} of {given} held, {off:+.4}"
                );
                // Four deviations of a binomial count.
                let most = 0.05 * given as f64 + 4.0 * (0.05 * 0.95 * given as f64).sqrt();
                assert!((given - held) as f64 <= most, "{name}, {mean}: {held} of {given}");
                // A chi-squared variable of 511 degrees of freedom makes 3.1 % a seed; rests that are correlated make less than 1 % where
                // delays are spread over more than a unit.
                if exact > UNIT as f64 {
                    assert_eq!(refused, 0, "{name}, {mean}");
                    assert!(off.abs() < 0.01 + 4.0 * 0.032 / (SEEDS as f64).sqrt(), "{name}, {mean}: {off}");
                }
                if rounding == both && exact < 0.35 * UNIT as f64 {
                    assert!(10 * refused > 9 * SEEDS, "{name}, {mean}: {refused} refused");
                }
            }
        }
    }
}

#[test]
fn exact_times_and_constant_delays_are_left_alone() {
    let deviation = |rounding| measured(1, rounding, |random| random.weibull(700.0, 1.0)).deviation;
    assert_eq!(deviation(Rounding { sender: 1, receiver: 1 }), deviation(Rounding::default()));
    let rounding = Rounding { sender: UNIT, receiver: UNIT };
    let constant = measured(1, rounding, |_| 5000.0);
    assert_eq!(constant.deviation, Ok(0.0));
    let [lower, upper] = constant.range.unwrap();
    assert!(lower == 0.0 && (577.0..578.0).contains(&upper), "{upper}");
}
