//! Clocks that jump, drift or stamp wrongly, and paths that do not: [`crate::clock`]'s test plan.

use super::monte_carlo::Generator;
use crate::clock::wild_stamps;
use crate::{Block, ClockDoubt, clock_doubts, clock_doubts_of_packets};

/// Delays in nanoseconds of packets every 100 µs, of one form.
fn delays(form: &str, count: usize, random: &mut Generator) -> Vec<i64> {
    let (mut queue, mut wander) = (0.0f64, 0.0f64);
    (0..count)
        .map(|index| match form {
            "constant" => 5_922,
            "light" => 10_000_000 + random.below(2_000_000),
            "pareto" => (5e4 * random.uniform().powf(-1.0 / 2.2)) as i64,
            "lognormal" => (5e4 * (2.0 * random.normal()).exp()) as i64,
            // Two paths, packet by packet.
            "alternating" => [1_000_000, 9_000_000][index % 2] + random.below(1000),
            // Lindley's recursion at a load of nine tenths, with bursts.
            "queue" => {
                let work = if random.uniform() < 0.09 { 1_000_000.0 } else { 0.0 };
                queue = (queue + work - 100_000.0f64).max(0.0);
                20_000 + queue as i64
            }
            // Full for spells, some six of them.
            "spells" => {
                if random.uniform() < 12.0 / count as f64 {
                    queue = 1e7 - queue;
                }
                20_000 + queue as i64 + random.below(200_000)
            }
            // In order, as a queue serves packets, one each millisecond, that were each held up.
            "in-order" => {
                let gamma: f64 = (0..4).map(|_| -random.uniform().ln() * 500_000.0).sum();
                queue = (queue - 1_000_000.0).max(100_000.0 + gamma);
                queue as i64
            }
            // Seconds of one load and then of another.
            "wandering" => {
                wander = 0.999 * wander + 1e5 * (random.uniform() - 0.5);
                2_000_000 + wander as i64 + random.below(300_000)
            }
            _ => unreachable!(),
        })
        .collect()
}

const FORMS: [&str; 9] =
    ["constant", "light", "pareto", "lognormal", "alternating", "queue", "wandering", "spells", "in-order"];

fn packets(delays: impl IntoIterator<Item = i64>) -> Vec<(i64, i64)> {
    delays.into_iter().enumerate().map(|(index, delay)| (index as i64 * 100_000, delay)).collect()
}

#[test]
fn what_paths_do_raises_no_doubt() {
    for form in FORMS {
        let mut doubtful = 0;
        for seed in 0..200 {
            let mut random = Generator::new(seed);
            let count = [100, 1000, 20_000][seed as usize % 3];
            let delays = delays(form, count, &mut random);
            assert_eq!(wild_stamps(delays.iter().copied()), None, "{form} {seed}");
            doubtful += usize::from(!clock_doubts(&Block::of_packets(&packets(delays))).is_empty());
        }
        // Not more than by chance at a level of 1 %: 6 of 200 with a probability of 1.7 %.
        assert!(doubtful <= 6, "{form}: {doubtful} of 200");
    }
}

#[test]
fn a_jump_is_found_with_its_size() {
    for (form, by) in [("constant", 300), ("constant", -300), ("light", 50_000_000), ("queue", -500_000_000)]
        .into_iter()
        .chain([("pareto", 1_000_000_000), ("lognormal", -100_000_000_000), ("alternating", 1_000_000_000)])
    {
        for seed in 0..50 {
            let mut random = Generator::new(seed);
            let count = [200, 5000, 50_000][seed as usize % 3];
            let at = count / 3 + random.below(count as i64 / 3) as usize;
            let stepped = delays(form, count, &mut random)
                .into_iter()
                .enumerate()
                .map(|(index, delay)| delay + if index >= at { by } else { 0 });
            let doubts = clock_doubts(&Block::of_packets(&packets(stepped)));
            let [ClockDoubt::Jump { count: 1, time, by: found }] = doubts[..] else {
                panic!("{form} {seed} of {count}: {doubts:?}")
            };
            assert!((found - by as f64).abs() < 0.35 * by.abs() as f64, "{form} {seed}: {found}");
            // Within two blocks.
            let blocks = 2 * (count / 16).clamp(8, 32) as i64;
            assert!((time / 100_000 - at as i64).abs() <= blocks, "{form} {seed}: {time} {at}");
        }
    }
}

#[test]
fn a_drift_is_found_with_its_rate() {
    let ordinary = [("constant", 1.0), ("light", -300.0), ("queue", 40.0), ("pareto", -20.0)];
    // As fast as daemons let clocks catch up.
    let slewed = [("light", 2000.0), ("queue", -80_000.0), ("pareto", 20_000.0)];
    for (form, ppm) in ordinary.into_iter().chain(slewed) {
        for seed in 0..50 {
            let mut random = Generator::new(seed);
            // A hundred seconds.
            let drifting = packets(delays(form, 100_000, &mut random))
                .into_iter()
                .map(|(time, delay)| (10 * time, delay + (10.0 * time as f64 * ppm / 1e6) as i64));
            let doubts = clock_doubts(&Block::of_packets(&drifting.collect::<Vec<_>>()));
            let [ClockDoubt::Drift { ppm: found, .. }] = doubts[..] else {
                panic!("{form} {seed}: {doubts:?}")
            };
            // The least of some hundred delays of the lightest spread is known to a hundredth of it.
            assert!((found - ppm).abs() < 0.05 * ppm.abs(), "{form} {seed}: {found} for {ppm}");
        }
    }
}

#[test]
fn a_step_within_what_delays_vary_moves_their_floor() {
    // Delays vary by some milliseconds, and a block's floor by some tenths of one.
    for (by, fewest) in [(1_500_000, 36), (2_000_000, 38), (-3_000_000, 40), (8_000_000, 40)] {
        let found = (0..40).filter(|seed| {
            let mut random = Generator::new(*seed);
            let at = 4_000 + random.below(12_000) as usize;
            let stepped = delays("in-order", 20_000, &mut random)
                .into_iter()
                .enumerate()
                .map(|(index, delay)| delay + if index >= at { by } else { 0 });
            let doubts = clock_doubts(&Block::of_packets(&packets(stepped)));
            let [ClockDoubt::Jump { by: found, .. }] = doubts[..] else { return false };
            (found - by as f64).abs() < 500_000.0
        });
        let found = found.count();
        assert!(found >= fewest, "{by}: {found} of 40");
    }
}

#[test]
fn a_drift_within_what_delays_vary_moves_their_floor() {
    // 50 ppm of 20 seconds are as much as the delays' deviation.
    let found = (0..40).filter(|seed| {
        let mut random = Generator::new(*seed);
        let delays = delays("in-order", 20_000, &mut random).into_iter().enumerate();
        let drifting: Vec<_> =
            delays.map(|(index, delay)| (index as i64 * 1_000_000, delay + index as i64 * 50)).collect();
        let doubts = clock_doubts(&Block::of_packets(&drifting));
        matches!(doubts[..], [ClockDoubt::Drift { ppm, .. }] if (ppm - 50.0).abs() < 15.0)
    });
    let found = found.count();
    assert!(found >= 36, "{found} of 40");
}

#[test]
fn a_queue_that_comes_back_to_its_floor_is_no_jump() {
    // Empty, then full but for a packet now and then, as when a sender backs off.
    for seed in 0..20 {
        let mut random = Generator::new(seed);
        let delays = (0..20_000).map(|index| match index {
            6_000..14_000 if random.uniform() > 0.01 => 20_000_000 + random.below(100_000),
            _ => 2_000 + random.below(1_000),
        });
        let delays: Vec<i64> = delays.collect();
        assert_eq!(clock_doubts(&Block::of_packets(&packets(delays))), [], "{seed}");
    }
}

#[test]
fn wild_stamps_are_counted() {
    let mut random = Generator::new(1);
    for by in [1_000_000_000_000, -1_000_000_000_000] {
        let mut delays = delays("light", 10_000, &mut random);
        for index in 0..10 {
            delays[index * 997] += by;
        }
        let Some(ClockDoubt::Wild { packets: 10, of: 10_000, by: found }) =
            wild_stamps(delays.iter().copied())
        else {
            panic!("{by}")
        };
        assert!((found - by).abs() < 2_000_000);
        // They make no jump and no drift.
        let of_packets = packets(delays).into_iter().map(|(time, delay)| (time.cast_unsigned(), delay));
        let doubts = clock_doubts_of_packets(of_packets);
        assert!(matches!(doubts[..], [ClockDoubt::Wild { packets: 10, .. }]), "{doubts:?}");
    }
    assert_eq!(wild_stamps([]), None);
    assert_eq!(wild_stamps([i64::MIN, i64::MAX]), None);
}

#[test]
fn few_intervals_show_a_jump() {
    let block = |time: i64, delay: f64| Block { time, low: delay, high: delay + 100.0, least: None };
    let stepped: Vec<Block> =
        (0..10).map(|time| block(time, if time < 6 { 1000.0 } else { 9000.0 })).collect();
    assert_eq!(clock_doubts(&stepped), [ClockDoubt::Jump { count: 1, time: 6, by: 8000.0 }]);
    // The interval in which it happens holds delays of both.
    let mut within = stepped;
    within[5].high = 9100.0;
    let doubts = clock_doubts(&within);
    assert!(matches!(doubts[..], [ClockDoubt::Jump { count: 1, time: 5, .. }]), "{doubts:?}");
    assert_eq!(clock_doubts(&within[4..7]), []);
    assert_eq!(clock_doubts(&[]), []);
}
