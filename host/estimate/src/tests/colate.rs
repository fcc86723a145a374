//! Flows from COLATE counters.

use crate::Reason;
use crate::colate::{ColatePair, Requirement, solve};
use deltaline_model::sketch::colate::{Colate, ColateParameters, Epoch, Subvectors};
use deltaline_model::sketch::lds::FlowPacket;
use deltaline_model::sketch::sampler::Prefixes;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

fn parameters(counters: usize, width: usize, prefixes: &[u8]) -> ColateParameters {
    let prefixes = Prefixes::new(prefixes).unwrap();
    ColateParameters { counters, width, bits: 64, threshold: u64::MAX, prefixes, seed: 3 }
}

/// A flow's hash, packets, and delays' sum and sum of squares.
type Flow = (u64, f64, f64, f64);

/// Flows of these sizes whose mean delays differ, through both ends.
fn pass(parameters: &ColateParameters, sizes: &[u32], loss: f64, seed: u64) -> ([Epoch; 2], Vec<Flow>) {
    let mut random = StdRng::seed_from_u64(seed);
    let [mut sender, mut receiver] = [(); 2].map(|()| Colate::new(*parameters).unwrap());
    let flows = sizes.iter().map(|&size| {
        let (hash, usual) = (random.random(), random.random_range(20_000.0..200_000.0));
        let mut flow = (hash, f64::from(size), 0.0, 0.0);
        for _ in 0..size {
            let nanoseconds = random.random_range(0..1_000_000_000u64);
            let packet =
                FlowPacket { flow: hash, packet: random.random(), nanoseconds, octets: 0, weight: 1 };
            sender.add(&packet);
            if random.random_bool(1.0 - loss) {
                let delay = (usual * random.random_range(0.2..1.8)) as u64;
                receiver.add(&FlowPacket { nanoseconds: nanoseconds + delay, ..packet });
                flow.2 += delay as f64;
                flow.3 += (delay as f64).powi(2);
            }
        }
        flow
    });
    let flows = flows.collect();
    let epochs = [sender, receiver].map(|end| {
        let mut epochs = end.finish();
        assert_eq!(epochs.len(), 1);
        epochs.remove(0)
    });
    (epochs, flows)
}

/// All orders of these numbers.
fn orders(numbers: &[usize]) -> Vec<Vec<usize>> {
    if numbers.is_empty() {
        return vec![vec![]];
    }
    let rest = |first: usize| numbers.iter().copied().filter(|&number| number != first).collect::<Vec<_>>();
    let behind =
        |first: usize| orders(&rest(first)).into_iter().map(move |order| [&[first][..], &order].concat());
    numbers.iter().flat_map(|&first| behind(first)).collect()
}

#[test]
fn the_papers_equations() {
    let parameters = parameters(50, 6, &[0]);
    let (epochs, flows) = pass(&parameters, &[40, 3, 90, 7], 0.0, 1);
    let pair = ColatePair::new(&parameters, &epochs[0], &epochs[1]).unwrap();
    let subvectors = Subvectors::new(parameters.counters, parameters.width, parameters.seed);
    for &(flow, packets, ..) in &flows {
        // Equation 4 at each end.
        let totals = [0, 1].map(|end| {
            let counters = &epochs[end].vectors[0].counters;
            let own: f64 = subvectors.of(flow).map(|at| counters[at] as f64).sum();
            (50.0 * own - 6.0 * counters.iter().sum::<u64>() as f64) / (50.0 - 6.0)
        });
        let mean = pair.papers_mean(flow, packets);
        assert!((mean * packets - (totals[1] - totals[0])).abs() < 1e-3 * mean.abs() + 1e-3);
        // Equation 10 over all orders is the variance.
        let orders = orders(&[0, 1, 2, 3, 4, 5]);
        assert_eq!(orders.len(), 720);
        let repeated = pair.repeated(flow, &mut orders.into_iter());
        assert!((repeated / pair.squares(flow) - 1.0).abs() < 1e-9, "{repeated}");
        // Equation 7's solution is about the mean of the others' times, the same for every counter.
        for (end, is_receiver) in [(0, false), (1, true)] {
            let all: f64 = epochs[end].vectors[0].counters.iter().sum::<u64>() as f64;
            let noise = pair.papers_noise(flow, is_receiver);
            let expected = (all - totals[end]).max(0.0) / 50.0;
            assert!((noise - expected).abs() <= 1.0 + 1e-6 * expected, "{noise} {expected}");
        }
    }
}

#[test]
fn a_flow_alone_is_exact() {
    let parameters = parameters(1000, 10, &[0]);
    let (epochs, flows) = pass(&parameters, &[500], 0.0, 2);
    let pair = ColatePair::new(&parameters, &epochs[0], &epochs[1]).unwrap();
    let (flow, packets, sum, _) = flows[0];
    // The few counters that are the flow's own enter the mean of all.
    let found = pair.estimate(flow, packets).unwrap();
    assert!(
        found.range.lower <= sum / packets && sum / packets <= found.range.upper,
        "{found:?} {}",
        sum / packets
    );
    assert!((found.mean * packets / sum - 1.0).abs() < 0.02, "{found:?}");
    assert!((pair.papers_mean(flow, packets) * packets / sum - 1.0).abs() < 0.02);
    assert_eq!(pair.estimate(flow, 0.0), Err(Reason::NothingReceived));
}

#[test]
fn intervals_hold_and_squares_are_unbiased() {
    let parameters = parameters(6000, 20, &[0]);
    let mut random = StdRng::seed_from_u64(9);
    let (mut held, mut answered, mut small) = (0.0, 0.0f64, 0.0);
    let mut squares = vec![];
    for seed in 0..12 {
        let mut sizes: Vec<u32> =
            (0..3000).map(|_| (random.random_range(1e-3..1.0f64).powf(-1.25)).min(2000.0) as u32).collect();
        sizes.extend([4000; 20]);
        let (epochs, flows) = pass(&parameters, &sizes, 0.0, seed);
        let pair = ColatePair::new(&parameters, &epochs[0], &epochs[1]).unwrap();
        for &(flow, packets, sum, of_squares) in &flows {
            match pair.estimate(flow, packets) {
                Ok(found) => {
                    let mean = sum / packets;
                    held += f64::from(u8::from(found.range.lower <= mean && mean <= found.range.upper));
                    answered += 1.0;
                }
                Err(reason) => {
                    assert!(matches!(reason, Reason::TooSmall { .. }));
                    small += 1.0;
                }
            }
            if packets == 4000.0 {
                let noise: f64 = {
                    let all: Vec<f64> = epochs[0].vectors[0]
                        .counters
                        .iter()
                        .zip(&epochs[1].vectors[0].counters)
                        .map(|(sent, received)| (received - sent) as f64)
                        .collect();
                    let mean = all.iter().sum::<f64>() / 6000.0;
                    all.iter().map(|each| (each - mean).powi(2)).sum::<f64>() / 5999.0
                };
                squares.push((pair.squares(flow) - 20.0 * noise) / of_squares - 1.0);
            }
        }
    }
    println!("{held} of {answered} hold, {small} too small");
    assert!(small > 1000.0 && answered > 100.0);
    // 95 %, and five standard deviations of a third of them, since flows share counters.
    let least = 0.95 - 5.0 * (0.05 * 0.95 * 3.0 / answered).sqrt();
    assert!(held / answered > least, "{} {least}", held / answered);
    let count = squares.len() as f64;
    let mean = squares.iter().sum::<f64>() / count;
    let error = (squares.iter().map(|each| (each - mean).powi(2)).sum::<f64>() / count / count).sqrt();
    assert!(mean.abs() < 5.0 * error, "{mean} ± {error}");
}

#[test]
fn a_vector_that_lost_packets_is_passed_over() {
    let parameters = parameters(500, 4, &[0, 3, 7]);
    let (epochs, flows) = pass(&parameters, &[3000], 0.003, 4);
    let counts =
        [0, 1].map(|end| epochs[end].vectors.iter().map(|vector| vector.packets).collect::<Vec<_>>());
    let whole = (0..3).find(|&vector| counts[0][vector] == counts[1][vector]);
    match (whole, ColatePair::new(&parameters, &epochs[0], &epochs[1])) {
        (None, Err(reason)) => assert_eq!(reason, Reason::NoUsableRow),
        (Some(1..), Ok(pair)) => {
            let (flow, packets, sum, _) = flows[0];
            let found = pair.papers_mean(flow, packets);
            // A sample of about 24 or more packets, delays uniform: a fifth of their mean each, and as many packets more or less.
            assert!((found * packets / sum - 1.0).abs() < 1.0, "{found}");
        }
        (whole, found) => panic!("{whole:?} {:?}", found.is_ok()),
    }
    let (none, _) = pass(&parameters, &[3000], 0.5, 4);
    assert_eq!(ColatePair::new(&parameters, &none[0], &none[1]).err(), Some(Reason::NoUsableRow));
}

/// "For M = 1 MB, alpha = 0.95 and beta = 0.05, typical values are b = 19, m = 20, n = 455334, and T = 8e10."
#[test]
fn the_papers_parameters() {
    let memory = f64::from(8 << 20);
    let (n, m) = (455_334.0, 20.0);
    let bits = memory / n;
    let half = (bits - 1.0f64).exp2();
    // Equations 15 and 22 say which flows these are for.
    let most = (half - 1.0) / (1.0 / m - 1.0 / n);
    let asked = |least| Requirement { memory, reliability: 0.95, error: 0.05, delay_share: 0.5, least, most };
    let found = |least| solve(&asked(least)).map_or(f64::INFINITY, |found| found.bits);
    let (mut low, mut high) = (1e3, 1e13);
    for _ in 0..100 {
        let middle = f64::sqrt(low * high);
        if found(middle) > bits { low = middle } else { high = middle }
    }
    let solution = solve(&asked(high)).unwrap();
    assert_eq!(solution.bits.ceil(), 19.0);
    assert!((solution.width - 20.0).abs() < 0.1 && (solution.counters - n).abs() < 100.0, "{solution:?}");
    assert!((solution.threshold / 8e10 - 1.0).abs() < 0.01, "{solution:?}");
    assert!(solve(&asked(1.0)).is_none());
}
