//! Flows from LDS tables.

use crate::lds::{ALPHA, Bounds, LdsPair, LdsPairError};
use crate::mean::Range;
use crate::{Confidence, Reason, Uncertainty};
use deltaline_model::sketch::lds::{FlowPacket, Lds, LdsParameters};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::HashMap;

/// A flow that was sent through both tables.
#[derive(Debug)]
struct Flow {
    hash: u64,
    sent: f64,
    received: f64,
    octets: f64,
    mean: f64,
}

impl Flow {
    fn lost(&self) -> f64 {
        self.sent - self.received
    }
}

/// Flows of bounded Pareto sizes whose mean delays differ, through both tables.
fn pass(parameters: &LdsParameters, flows: usize, loss: f64, seed: u64) -> ([Lds; 2], Vec<Flow>) {
    let mut random = StdRng::seed_from_u64(seed);
    let [mut sender, mut receiver] = [(); 2].map(|()| Lds::new(parameters.clone()).unwrap());
    let flows = (0..flows).map(|_| {
        let size = (random.random_range(1e-3..1.0f64).powf(-1.25)).min(3000.0) as u32;
        let usual = 50_000.0 * (2.0 * random.random_range(0.0..1.0f64)).exp();
        let hash = random.random();
        let mut flow = Flow { hash, sent: size.into(), received: 0.0, octets: 0.0, mean: 0.0 };
        for _ in 0..size {
            let octets = random.random_range(40..1500);
            let sent = random.random_range(0..1_000_000_000u64);
            let packet =
                FlowPacket { flow: hash, packet: random.random(), nanoseconds: sent, octets, weight: 1 };
            sender.add(&packet);
            flow.octets += f64::from(octets);
            if random.random_bool(1.0 - loss) {
                let delay = (usual * random.random_range(0.5..1.5)) as u64;
                receiver.add(&FlowPacket { nanoseconds: sent + delay, ..packet });
                flow.received += 1.0;
                flow.mean += delay as f64;
            }
        }
        flow.mean /= f64::max(flow.received, 1.0);
        flow
    });
    let flows = flows.collect();
    ([sender, receiver], flows)
}

#[test]
fn a_flow_alone_is_exact() {
    let parameters = LdsParameters { has_octets: true, ..LdsParameters::plain(4, 100, 3) };
    let (tables, flows) = pass(&parameters, 1, 0.0, 5);
    let pair = LdsPair::new(&tables[0], &tables[1]).unwrap();
    for found in [pair.paper(flows[0].hash, ALPHA), pair.regularised(flows[0].hash)] {
        let mean = found.mean.unwrap();
        assert!((mean.nanoseconds / flows[0].mean - 1.0).abs() < 1e-9, "{mean:?} {}", flows[0].mean);
        assert_eq!(found.sent.most, flows[0].sent);
        assert_eq!(found.lost, Bounds::default());
        assert_eq!(found.octets.unwrap().most, flows[0].octets);
        assert_eq!(found.deviation, Err(Reason::OneCell));
    }
    // Nothing of another flow.
    let other = (0..).find(|other| {
        (0..4).all(|row| tables[0].cells_of(*other, row).all(|at| tables[0].cells()[at].count == 0))
    });
    assert_eq!(pair.paper(other.unwrap(), ALPHA).mean, Err(Reason::NothingReceived));
}

/// The paper's figure 6, cell for cell.
fn figure_6(l1: &Lds, l2: &Lds, f: u64, alpha: f64) -> Option<f64> {
    let mut s = vec![];
    for i in 0..l1.parameters().prefixes.len() {
        for j in l1.cells_of(f, i) {
            let (one, two) = (l1.cells()[j], l2.cells()[j]);
            if one.count == two.count && one.digest == two.digest && one.count > 0 {
                let inverted = f64::from(one.count) * 2f64.powi(l1.parameters().prefixes[i].into());
                s.push((two.sum.wrapping_sub(one.sum) as i64 as f64, f64::from(one.count), inverted));
            }
        }
    }
    let n_min = s.iter().map(|cell| cell.2).reduce(f64::min)?;
    s.retain(|cell| cell.2 <= (1.0 + alpha) * n_min);
    let sums = s.iter().fold((0.0, 0.0), |sums, cell| (sums.0 + cell.0, sums.1 + cell.1));
    Some(sums.0 / sums.1)
}

#[test]
fn the_papers_choice_of_cells() {
    for (seed, loss) in [(1, 0.0), (2, 0.01), (3, 0.2)] {
        let parameters = LdsParameters {
            columns: 900,
            width: 5,
            prefixes: vec![0, 1, 3, 6],
            has_octets: false,
            is_scattered: false,
            seed,
        };
        let (tables, flows) = pass(&parameters, 300, loss, seed);
        let pair = LdsPair::new(&tables[0], &tables[1]).unwrap();
        let mut answered = 0;
        for flow in &flows {
            let expected = figure_6(&tables[0], &tables[1], flow.hash, 0.1);
            match (pair.paper(flow.hash, 0.1).mean, expected) {
                (Ok(mean), Some(expected)) => {
                    assert!((mean.nanoseconds / expected - 1.0).abs() < 1e-9);
                    answered += 1;
                }
                (Err(Reason::NoUsableRow), None) => {}
                (found, expected) => panic!("{found:?} {expected:?}"),
            }
        }
        assert!(answered > 20, "{answered}");
    }
}

#[test]
fn sizes_and_losses_are_never_below_the_truth() {
    let parameters = LdsParameters {
        columns: 300,
        width: 4,
        prefixes: vec![0; 3],
        has_octets: true,
        is_scattered: false,
        seed: 8,
    };
    let (mut held, mut all) = ([0.0; 2], 0.0);
    for seed in 0..10 {
        let (tables, flows) = pass(&parameters, 600, 0.02, seed);
        let pair = LdsPair::new(&tables[0], &tables[1]).unwrap();
        for flow in &flows {
            let found = pair.regularised(flow.hash);
            assert!(found.sent.most >= flow.sent && found.lost.most >= flow.sent - flow.received);
            assert!(found.octets.unwrap().most >= flow.octets);
            held[0] += f64::from(u8::from(found.sent.least <= flow.sent));
            held[1] += f64::from(u8::from(found.lost.least <= flow.sent - flow.received));
            all += 1.0;
        }
    }
    // 95 % of flows, and five standard deviations of a tenth of them, since flows of a table share its cells.
    let least = 0.95 - 5.0 * (0.05 * 0.95 / (all / 10.0f64)).sqrt();
    held.iter().for_each(|held| assert!(held / all > least, "{} {least}", held / all));
}

#[test]
fn intervals_hold() {
    for (width, prefixes, loss) in [(1, vec![0; 4], 0.0), (4, vec![0, 0, 2, 4], 0.003)] {
        let parameters = LdsParameters {
            columns: 1000 * width,
            width,
            prefixes,
            has_octets: false,
            is_scattered: false,
            seed: 2,
        };
        let (mut held, mut answered) = ([0.0; 2], [0.0; 2]);
        for seed in 0..10 {
            let (tables, flows) = pass(&parameters, 1500, loss, seed);
            let pair = LdsPair::new(&tables[0], &tables[1]).unwrap();
            for flow in &flows {
                // Where ours does not answer, the paper's intervals need not hold.
                let ours = pair.regularised(flow.hash);
                if ours.mean.is_err() {
                    continue;
                }
                for (which, found) in [pair.paper(flow.hash, ALPHA), ours].iter().enumerate() {
                    if let Ok(mean) = &found.mean {
                        let range = mean.range(Confidence::P95).unwrap();
                        let slack = 1e-6 * flow.mean;
                        held[which] += f64::from(u8::from(
                            range.lower - slack <= flow.mean && flow.mean <= range.upper + slack,
                        ));
                        answered[which] += 1.0;
                    }
                }
            }
        }
        for (held, answered) in held.iter().zip(answered) {
            println!("{width}: {held} of {answered}");
            assert!(answered > 500.0, "{answered}");
            let least = 0.95 - 5.0 * (0.05 * 0.95 / (answered / 5.0f64)).sqrt();
            assert!(held / answered > least, "{}: {width}, {answered} {least}", held / answered);
        }
    }
}

#[test]
fn tracked_flows_are_exact_or_samples() {
    let parameters = LdsParameters {
        columns: 200,
        width: 4,
        prefixes: vec![0, 0, 3],
        has_octets: false,
        is_scattered: false,
        seed: 2,
    };
    for loss in [0.0, 0.01] {
        let (_, flows) = pass(&parameters, 300, loss, 7);
        let tracked: Vec<u64> = flows.iter().filter(|flow| flow.sent > 100.0).map(|flow| flow.hash).collect();
        // The same stream again, with the flows tracked.
        let (plain, _) = pass(&parameters, 300, loss, 7);
        let mut random = StdRng::seed_from_u64(7);
        let [mut sender, mut receiver] =
            [(); 2].map(|()| Lds::new(parameters.clone()).unwrap().tracking(&tracked));
        assert!(sender.bits() > plain[0].bits());
        let mut means = vec![];
        for _ in &tracked {
            means.push((0.0, 0.0, 0u32));
        }
        for (flow, mean) in tracked.iter().zip(&mut means) {
            for _ in 0..1000 {
                let packet =
                    FlowPacket { flow: *flow, packet: random.random(), nanoseconds: 0, octets: 0, weight: 1 };
                sender.add(&packet);
                if random.random_bool(1.0 - loss) {
                    let delay = random.random_range(1..100_000u64);
                    receiver.add(&FlowPacket { nanoseconds: delay, ..packet });
                    (mean.0, mean.1) = (mean.0 + delay as f64, mean.1 + 1.0);
                }
            }
        }
        let pair = LdsPair::new(&sender, &receiver).unwrap();
        let mut within = 0;
        for (flow, (sum, received, _)) in tracked.iter().zip(&means) {
            let found = pair.regularised(*flow);
            assert_eq!((found.sent.most, found.lost.most), (1000.0, 1000.0 - received));
            let Ok(mean) = found.mean else { continue };
            if loss == 0.0 {
                assert_eq!(mean.uncertainty, Uncertainty::Exact);
                assert!((mean.nanoseconds * received / sum - 1.0).abs() < 1e-9);
            }
            let range = mean.range(Confidence::P95);
            within += usize::from(
                range.is_ok_and(|range| range.lower <= sum / received && sum / received <= range.upper),
            );
        }
        assert!(within * 2 > tracked.len() && tracked.len() > 5, "{within} of {}", tracked.len());
    }
}

#[test]
fn what_cannot_be_told_is_told() {
    let parameters = LdsParameters::plain(2, 20, 1);
    let (tables, flows) = pass(&parameters, 300, 0.0, 1);
    let pair = LdsPair::new(&tables[0], &tables[1]).unwrap();
    let smallest = flows.iter().min_by(|one, other| one.sent.total_cmp(&other.sent)).unwrap();
    assert!(matches!(pair.regularised(smallest.hash).mean, Err(Reason::TooSmall { .. })));
    let (tables, flows) = pass(&parameters, 300, 0.5, 1);
    let pair = LdsPair::new(&tables[0], &tables[1]).unwrap();
    assert_eq!(pair.paper(flows[0].hash, ALPHA).mean, Err(Reason::NoUsableRow));

    let other = Lds::new(LdsParameters { seed: 2, ..parameters.clone() }).unwrap();
    assert_eq!(LdsPair::new(&tables[0], &other).err(), Some(LdsPairError::Differ));
    let mut full = Lds::new(parameters).unwrap();
    for _ in 0..2 {
        full.add(&FlowPacket { flow: 1, packet: 2, nanoseconds: 3, octets: 4, weight: u32::MAX });
    }
    assert_eq!(LdsPair::new(&full, &full).err(), Some(LdsPairError::Saturated));
}

/// Hashes of flows, by their number and that of a stream.
fn hash(stream: u64, flow: u64) -> u64 {
    StdRng::seed_from_u64(stream << 32 | flow).random()
}

/// The interval of the mean of a flow's packets, if it is that of all.
fn interval(pair: &LdsPair, flow: u64, shown: usize, asked: usize) -> Result<Range, Reason> {
    let reading = pair.read(flow, shown, asked).ok_or(Reason::OneCell)?;
    reading.mean.and_then(|mean| if mean.share == 1.0 { Ok(mean.range) } else { Err(Reason::OneCell) })
}

/// A stream that breaks what a model of flows would assume: a flow of a third of all packets, heavy tails, delays that rise tenfold and fall
/// again, and flows that are short against that. Means are of packets that arrive; none where none do.
fn wild(parameters: &LdsParameters, loss: f64, stream: u64) -> ([Lds; 2], Vec<(u64, f64)>) {
    let [mut sender, mut receiver] = [(); 2].map(|()| Lds::new(parameters.clone()).unwrap());
    let mut means: Vec<(u64, f64, f64)> = vec![];
    each_of(loss, stream, |sent, received| {
        sender.add(&sent);
        let Some(received) = received else { return };
        receiver.add(&received);
        if means.last().is_none_or(|(flow, ..)| *flow != sent.flow) {
            means.push((sent.flow, 0.0, 0.0));
        }
        if let Some((_, sum, packets)) = means.last_mut() {
            (*sum, *packets) = (*sum + (received.nanoseconds - sent.nanoseconds) as f64, *packets + 1.0);
        }
    });
    ([sender, receiver], means.into_iter().map(|(flow, sum, packets)| (flow, sum / packets)).collect())
}

/// Hands out the packets of such a stream, and what the receiver sees of them, flow by flow.
fn each_of(loss: f64, stream: u64, mut take: impl FnMut(FlowPacket, Option<FlowPacket>)) {
    let mut random = StdRng::seed_from_u64(stream);
    for flow in 0..400 {
        let size =
            if flow == 0 { 4000 } else { (random.random_range(1e-3..1.0f64).powf(-1.25)).min(2000.0) as u32 };
        let begin = random.random_range(0.0..1.0f64);
        for packet in 0..size {
            let time = if flow == 0 { f64::from(packet) / f64::from(size) } else { begin };
            let usual = 100_000.0 * (1.0 + 9.0 * (std::f64::consts::PI * time).sin());
            let delay = (usual * random.random_range(0.0..1.0f64).powi(-1).min(50.0)) as u64;
            let nanoseconds = (1e9 * time) as u64;
            let (flow, packet) = (hash(stream, flow), random.random());
            let sent = FlowPacket { flow, packet, nanoseconds, octets: 0, weight: 1 };
            let arrives = random.random_bool(1.0 - loss);
            take(sent, arrives.then(|| FlowPacket { nanoseconds: nanoseconds + delay, ..sent }));
        }
    }
}

fn holds(range: &Range, mean: f64) -> bool {
    let slack = 1e-9 * mean;
    range.lower - slack <= mean && mean <= range.upper + slack
}

#[test]
fn intervals_hold_by_the_hash_alone() {
    for (width, rows, columns, loss) in [
        (1, 4, 300, 0.0),
        (4, 4, 1200, 0.0),
        (1, 1, 1000, 0.0),
        (2, 3, 200, 0.0),
        (1, 3, 400, 0.003),
        (4, 4, 1200, 0.003),
    ] {
        let parameters = LdsParameters {
            columns,
            width,
            prefixes: vec![0; rows],
            has_octets: false,
            is_scattered: false,
            seed: 2,
        };
        let (mut missed, mut all) = (0.0, 0.0);
        let (mut slowest_missed, mut slowest, mut given_missed, mut given) = (0.0, 0.0, 0.0, 0.0);
        for stream in 0..40 {
            let (tables, flows) = wild(&parameters, loss, stream);
            let pair = LdsPair::new(&tables[0], &tables[1]).unwrap();
            for (flow, mean) in &flows {
                missed += f64::from(u8::from(
                    interval(&pair, *flow, 1, 1).is_ok_and(|range| !holds(&range, *mean)),
                ));
                all += 1.0;
            }
            // All that can be given, as many as are shown.
            let shown = |shown| {
                let ranges =
                    flows.iter().map(|(flow, mean)| (interval(&pair, *flow, shown, flows.len()), mean));
                ranges.filter_map(|(range, mean)| Some((range.ok()?, *mean))).collect::<Vec<_>>()
            };
            let mut ranges = shown(flows.len());
            loop {
                let fewer = shown(ranges.len());
                let is_settled = fewer.len() == ranges.len();
                ranges = fewer;
                if is_settled {
                    break;
                }
            }
            given += ranges.len() as f64;
            given_missed += ranges.iter().filter(|(range, mean)| !holds(range, *mean)).count() as f64;
            // Those that look slowest, ten of all.
            let asked = |(flow, mean): &(u64, f64)| {
                Some((pair.paper(*flow, 0.0).mean.ok()?.nanoseconds, *flow, *mean))
            };
            let mut found: Vec<(f64, u64, f64)> = flows.iter().filter_map(asked).collect();
            found.sort_by(|one, other| other.0.total_cmp(&one.0));
            for (_, flow, mean) in found.iter().take(10) {
                let range = interval(&pair, *flow, 10, flows.len());
                slowest_missed += f64::from(u8::from(range.is_ok_and(|range| !holds(&range, *mean))));
                slowest += 1.0;
            }
        }
        println!(
            "{width} {rows}: {missed} of {all}, {slowest_missed} of {slowest}, {given_missed} of {given}"
        );
        // Five standard deviations of as many streams, of which each flow shares cells with a tenth.
        let most = |all: f64| 0.05 + 5.0 * (0.05 * 0.95 / (all / 10.0)).sqrt();
        assert!(missed / all < most(all), "{missed} of {all}");
        assert!(slowest_missed / slowest < most(10.0 * slowest), "{slowest_missed} of {slowest}");
        // With one row, most of what is read may be anybody's.
        assert!(rows < 4 || given > 0.1 * all, "{given}");
        assert!(given_missed <= most(given.max(1.0)) * given, "{given_missed} of {given}");
    }
}

/// A flow that lost packets has the mean of a sample, which the truth of all packets does not tell: the sums of its own cells do.
#[test]
fn flows_that_lost_packets_have_the_mean_of_a_sample() {
    for (columns, loss) in [(80_000, 0.003), (1200, 0.003), (1200, 0.02)] {
        let parameters = LdsParameters {
            columns,
            width: 4,
            prefixes: vec![0; 4],
            has_octets: false,
            is_scattered: false,
            seed: 2,
        };
        let (mut missed, mut given, mut of_sample, mut all) = (0.0, 0.0, 0.0, 0.0);
        for stream in 0..30 {
            let (tables, flows) = wild(&parameters, loss, stream);
            // Each flow alone: its cells without those of others.
            let alone = own_cells(&parameters, loss, stream);
            let pair = LdsPair::new(&tables[0], &tables[1]).unwrap();
            for (flow, _) in &flows {
                all += 1.0;
                let Ok(mean) = pair.read(*flow, 1, 1).unwrap().mean else { continue };
                let [sender, receiver] = &alone[flow];
                let cells = sender.cells_of(*flow, 0).filter_map(|at| {
                    let delays = sender.cells()[at].delay_sum(&receiver.cells()[at])?;
                    Some((delays as f64, f64::from(sender.cells()[at].count)))
                });
                let (kept, count, delays) = cells
                    .fold((0.0, 0.0, 0.0), |(kept, count, sum), (delays, packets)| {
                        (kept + 1.0, count + packets, sum + delays)
                    });
                given += 1.0;
                of_sample += f64::from(u8::from(mean.share < 1.0));
                // Damage by others' losses in all rows makes a sample, too.
                assert!(mean.share <= kept / 4.0, "{mean:?} {kept}");
                if mean.share == kept / 4.0 {
                    missed += f64::from(u8::from(!holds(&mean.range, delays / count)));
                }
            }
        }
        println!(
            "{columns}, {loss}: {missed} of {given} given, {of_sample} of them of a sample, and {all} asked"
        );
        assert!(missed / all < 0.05 + 5.0 * (0.05 * 0.95 / (all / 10.0)).sqrt(), "{missed} of {all}");
        assert!(of_sample > 100.0, "the test is blind: {of_sample}");
    }
}

/// The tables that each flow of a stream makes alone.
fn own_cells(parameters: &LdsParameters, loss: f64, stream: u64) -> HashMap<u64, [Lds; 2]> {
    let mut own = HashMap::new();
    each_of(loss, stream, |sent, received| {
        let [sender, receiver]: &mut [Lds; 2] = own.entry(sent.flow).or_insert_with(|| {
            [(); 2].map(|()| Lds::new(LdsParameters { prefixes: vec![0], ..parameters.clone() }).unwrap())
        });
        sender.add(&sent);
        received.into_iter().for_each(|received| receiver.add(&received));
    });
    own
}

#[test]
fn an_interval_says_something_of_flows_that_are_large() {
    let parameters = LdsParameters::plain(4, 1000, 2);
    let (mut given, mut narrow, mut all) = (0, 0, 0);
    for stream in 0..10 {
        let (tables, flows) = wild(&parameters, 0.0, stream);
        let pair = LdsPair::new(&tables[0], &tables[1]).unwrap();
        for (flow, mean) in &flows {
            let range = interval(&pair, *flow, 1, 1);
            given += usize::from(range.is_ok());
            narrow += usize::from(range.is_ok_and(|range| range.upper - range.lower < 0.1 * mean));
            all += 1;
        }
    }
    println!("{given} {narrow} {all}");
    assert!(narrow * 2 > all, "{given} {narrow} {all}");
}

#[test]
fn intervals_that_cannot_be_given_are_refused() {
    let parameters = LdsParameters::plain(2, 20, 1);
    let (tables, flows) = pass(&parameters, 1, 0.0, 5);
    let pair = LdsPair::new(&tables[0], &tables[1]).unwrap();
    let alone = interval(&pair, flows[0].hash, 1, 1);
    assert!(alone.is_ok_and(|range| range.lower == range.upper && holds(&range, flows[0].mean)), "{alone:?}");
    assert!(matches!(interval(&pair, flows[0].hash, 1, 2000), Err(Reason::TooSmall { .. })));
    let other = (0..).find(|other| {
        (0..2).all(|row| tables[0].cells_of(*other, row).all(|at| tables[0].cells()[at].count == 0))
    });
    assert_eq!(interval(&pair, other.unwrap(), 1, 1), Err(Reason::NothingReceived));

    let (tables, flows) = pass(&parameters, 300, 0.0, 1);
    let pair = LdsPair::new(&tables[0], &tables[1]).unwrap();
    let smallest = flows.iter().min_by(|one, other| one.sent.total_cmp(&other.sent)).unwrap();
    assert!(matches!(interval(&pair, smallest.hash, 1, 1), Err(Reason::TooSmall { .. })));
    let (tables, flows) = pass(&parameters, 300, 0.5, 1);
    let pair = LdsPair::new(&tables[0], &tables[1]).unwrap();
    assert_eq!(interval(&pair, flows[0].hash, 1, 1), Err(Reason::NoUsableRow));
    // A row that samples does not hold the flow.
    let sampled = LdsParameters { prefixes: vec![1, 1], ..parameters.clone() };
    let (tables, flows) = pass(&sampled, 1, 0.0, 5);
    let pair = LdsPair::new(&tables[0], &tables[1]).unwrap();
    assert_eq!(pair.read(flows[0].hash, 1, 1), None);
    // Others may be read in the same tables.
    let tracking = Lds::new(parameters).unwrap().tracking(&[7]);
    let pair = LdsPair::new(&tracking, &tracking).unwrap();
    assert_eq!(pair.read(7, 1, 1), None);
    assert_eq!(interval(&pair, 8, 1, 1), Err(Reason::NothingReceived));
}

#[test]
fn packets_and_losses_hold_by_the_hash_alone() {
    let mut all = 0.0;
    let mut missed = [0.0; 4];
    for seed in 0..40 {
        let parameters = LdsParameters {
            columns: 300,
            width: 4,
            prefixes: vec![0, 0, 3],
            has_octets: false,
            is_scattered: false,
            seed,
        };
        let (tables, flows) = pass(&parameters, 200, 0.03, seed);
        let pair = LdsPair::new(&tables[0], &tables[1]).unwrap();
        let mut by_size: Vec<&Flow> = flows.iter().collect();
        by_size.sort_by(|one, other| other.lost().total_cmp(&one.lost()));
        for (place, flow) in by_size.into_iter().enumerate() {
            let outside =
                |bounds: Bounds, truth: f64| f64::from(u8::from(truth < bounds.least || bounds.most < truth));
            let reading = pair.read(flow.hash, 1, 1).unwrap();
            all += 1.0;
            missed[0] += outside(reading.sent, flow.sent);
            missed[1] += outside(reading.net, flow.lost());
            assert!(reading.sent.most >= flow.sent, "{reading:?} {flow:?}");
            // The ten that lost most, of all.
            if place < 10 {
                let reading = pair.read(flow.hash, 10, flows.len()).unwrap();
                missed[2] += outside(reading.sent, flow.sent);
                missed[3] += outside(reading.net, flow.lost());
            }
        }
    }
    println!("{missed:?} of {all}");
    let most = |all: f64| 0.05 + 5.0 * (0.05 * 0.95 / (all / 10.0)).sqrt();
    assert!(missed[..2].iter().all(|missed| missed / all < most(all)), "{missed:?} of {all}");
    assert!(missed[2..].iter().all(|missed| missed / 400.0 < most(4000.0)), "{missed:?} of 400");
    // Neither is it certainty.
    assert!(missed[0] > 0.0 && missed[1] > 0.0, "{missed:?}");
}
