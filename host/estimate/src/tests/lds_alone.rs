//! Deviations of flows from LDS tables.

use crate::lds::LdsPair;
use crate::reason::Reason;
use deltaline_model::sketch::lds::{FlowPacket, Lds, LdsParameters};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Delays in nanoseconds of a flow of so many packets.
type Law = fn(usize, &mut StdRng) -> Vec<f64>;

fn late(count: usize, late: usize, random: &mut StdRng) -> Vec<f64> {
    let usual = |_| 100_000.0 + random.random_range(0.0..1_000.0);
    let mut delays: Vec<f64> = (0..count).map(usual).collect();
    delays.iter_mut().take(late).for_each(|delay| *delay += 1_000_000.0);
    delays
}

/// Of uniform numbers above 0.
fn drawn(count: usize, law: impl Fn(f64) -> f64, random: &mut StdRng) -> Vec<f64> {
    (0..count).map(|_| 1_000_000.0 + 100_000.0 * law(1.0 - random.random_range(0.0..1.0))).collect()
}

/// A normal variable, by Box and Muller, of one uniform number and its digits behind the sixth.
fn normal(uniform: f64) -> f64 {
    let angle = core::f64::consts::TAU * (uniform * 1e6).fract();
    (-2.0 * uniform.ln()).sqrt() * angle.cos()
}

const LAWS: [(&str, Law); 9] = [
    ("normal", |count, random| drawn(count, normal, random)),
    ("exponential", |count, random| drawn(count, |uniform| -uniform.ln(), random)),
    ("lognormal", |count, random| drawn(count, |uniform| normal(uniform).exp(), random)),
    ("pareto", |count, random| drawn(count, |uniform| uniform.powf(-1.0 / 2.2), random)),
    ("a queue that rises and falls", |count, random| {
        let mut queue = 0.0f64;
        let step = |_| {
            queue = (queue + random.random_range(-1.0..1.0)).clamp(0.0, 20.0);
            50_000.0 + 20_000.0 * queue
        };
        (0..count).map(step).collect()
    }),
    ("one in ten late", |count, random| late(count, count / 10, random)),
    ("one late", |count, random| late(count, 1, random)),
    ("three late", |count, random| late(count, 3, random)),
    ("four late", |count, random| late(count, 4, random)),
];

/// A flow that was sent through both tables.
struct Flow {
    hash: u64,
    law: usize,
    deviation: f64,
}

/// An interval of so many flows in four rows of so many columns, `width` of which are a flow's.
fn pass(flows: usize, [columns, width]: [usize; 2], loss: f64, seed: u64) -> ([Lds; 2], Vec<Flow>) {
    let mut random = StdRng::seed_from_u64(seed);
    let parameters = LdsParameters { width, ..LdsParameters::plain(4, columns, seed) };
    let mut ends = [(); 2].map(|()| Lds::new(parameters.clone()).unwrap());
    let flows = (0..flows).map(|number| {
        let (law, hash) = (number % LAWS.len(), random.random());
        let size = random.random_range(3.0f64..7.0).exp() as usize;
        let delays = LAWS[law].1(size, &mut random);
        let mean = delays.iter().sum::<f64>() / size as f64;
        let squares: f64 = delays.iter().map(|delay| (delay - mean).powi(2)).sum();
        for delay in &delays {
            let sent = random.random_range(0..1_000_000_000u64);
            let packet =
                FlowPacket { flow: hash, packet: random.random(), nanoseconds: sent, octets: 0, weight: 1 };
            ends[0].add(&packet);
            if !random.random_bool(loss) {
                ends[1].add(&FlowPacket { nanoseconds: sent + delay.max(0.0) as u64, ..packet });
            }
        }
        Flow { hash, law, deviation: (squares / (size as f64 - 1.0)).sqrt() }
    });
    let flows = flows.collect();
    (ends, flows)
}

#[test]
fn deviations_of_flows_hold() {
    let (mut given, mut missed) = ([0.0; LAWS.len()], [0.0; LAWS.len()]);
    for seed in 0..80 {
        let (tables, flows) = pass(90, [1024, 4], if seed % 4 == 3 { 2e-4 } else { 0.0 }, seed);
        let pair = LdsPair::new(&tables[0], &tables[1]).unwrap();
        for Flow { hash, law, deviation } in &flows {
            let Ok(found) = pair.deviation(*hash, 1, 1) else { continue };
            given[*law] += 1.0;
            let is_inside = (found.range.lower..=found.range.upper).contains(deviation);
            missed[*law] += f64::from(u8::from(!is_inside));
        }
    }
    for ((name, _), (given, missed)) in LAWS.iter().zip(given.iter().zip(missed)) {
        println!("{name}: {missed} of {given} missed, {:.1} %", 100.0 * missed / given);
        // What four late packets do, is in the module's doc.
        let share = if *name == "four late" { 0.1 } else { 0.05 };
        assert!(*given > 500.0 && missed < given * share + 5.0 * (given * share).sqrt(), "{name}");
    }
}

/// The flows of `flows` that have a row to themselves.
fn alone(table: &Lds, flows: &[Flow]) -> Vec<bool> {
    let rows = table.parameters().prefixes.len();
    let mut users = vec![0u32; table.cells().len()];
    let cells = |flow: &Flow, row| table.cells_of(flow.hash, row);
    for flow in flows {
        (0..rows).flat_map(|row| cells(flow, row)).for_each(|at| users[at] += 1);
    }
    let is_alone = |flow| (0..rows).any(|row| cells(flow, row).all(|at| users[at] == 1));
    flows.iter().map(is_alone).collect()
}

#[test]
fn flows_that_share_their_cells_are_refused() {
    for (flows, cells, least) in [
        (90, [1024, 4], 3000.0),
        (90, [256, 4], 0.0),
        (400, [256, 4], 0.0),
        (20, [32, 2], 0.0),
        (5, [8, 2], 0.0),
    ] {
        let (mut given, mut shared) = (0.0f64, 0.0);
        for seed in 0..60 {
            let (tables, flows) = pass(flows, cells, 0.0, seed);
            let pair = LdsPair::new(&tables[0], &tables[1]).unwrap();
            for (flow, is_alone) in flows.iter().zip(alone(&tables[0], &flows)) {
                if pair.deviation(flow.hash, 1, 1).is_ok() {
                    given += 1.0;
                    shared += f64::from(u8::from(!is_alone));
                }
            }
        }
        println!("{flows} flows in {cells:?}: {shared} shared of {given}");
        // Half of what an interval may miss.
        assert!(given >= least && shared <= 0.025 * given + 5.0 * (0.025 * given).sqrt(), "{cells:?}");
    }
}

#[test]
fn refusals() {
    let (tables, flows) = pass(9, [1024, 4], 0.0, 7);
    let pair = LdsPair::new(&tables[0], &tables[1]).unwrap();
    assert_eq!(pair.deviation(1, 1, 1), Err(Reason::NothingReceived));
    assert!(pair.deviation(flows[0].hash, 1, 1).is_ok());
    let parameters = LdsParameters { width: 4, ..LdsParameters::plain(4, 64, 1) };
    let table = |delay: u64, packets: u64| {
        let mut table = Lds::new(parameters.clone()).unwrap();
        for packet in 0..packets {
            let nanoseconds = 1_000 * packet + delay;
            table.add(&FlowPacket { flow: 5, packet: packet << 7, nanoseconds, octets: 0, weight: 1 });
        }
        table
    };
    // All take equally long; a single packet; all lost.
    for (packets, received, reason) in [
        (100, 100, Reason::NoSpread),
        (1, 1, Reason::OneCell),
        (100, 0, Reason::Damaged),
        (100, 99, Reason::Damaged),
    ] {
        let tables = [table(0, packets), table(77, received)];
        let pair = LdsPair::new(&tables[0], &tables[1]).unwrap();
        assert_eq!(pair.deviation(5, 1, 1), Err(reason));
    }
}

/// Flows of 300 packets, each `copies` times, all with the same delay.
fn copied(copies: u64, flows: u64, seed: u64) -> [Lds; 2] {
    let mut random = StdRng::seed_from_u64(seed);
    let parameters = LdsParameters { width: 4, ..LdsParameters::plain(4, 1024, seed) };
    let mut ends = [(); 2].map(|()| Lds::new(parameters.clone()).unwrap());
    for flow in 0..flows {
        for _ in 0..300 / copies {
            let (packet, delay) = (random.random(), random.random_range(100_000..200_000u64));
            for nanoseconds in (0..copies).map(|copy| 1_000 * copy) {
                let flow = flow.wrapping_mul(0x5851_f42d_4c95_7f2d);
                let packet = FlowPacket { flow, packet, nanoseconds, octets: 0, weight: 1 };
                ends[0].add(&packet);
                ends[1].add(&FlowPacket { nanoseconds: nanoseconds + delay, ..packet });
            }
        }
    }
    ends
}

#[test]
fn packets_that_look_alike_are_noticed() {
    let mut noticed = vec![];
    // Of all flows together, and one by one; one, two, eight or 75 copies of each packet.
    for copies in [1, 2, 8, 75] {
        let (mut together, mut alone) = (0.0, 0.0);
        for seed in 0..100 {
            let tables = copied(copies, 40, seed);
            let pair = LdsPair::new(&tables[0], &tables[1]).unwrap();
            let flows = || (0..40u64).map(|flow| flow.wrapping_mul(0x5851_f42d_4c95_7f2d));
            together += f64::from(u8::from(pair.look_alike(flows())));
            let is_alike = |flow: &u64| pair.deviation(*flow, 1, 1) == Err(Reason::Alike);
            alone += flows().filter(is_alike).count() as f64;
        }
        println!("{copies} copies: {together} of 100 tables, {alone} of 4000 flows");
        noticed.push([together, alone]);
    }
    // One in a hundred by chance, and five standard deviations.
    assert!(noticed[0][0] <= 6.0 && noticed[0][1] <= 40.0 + 5.0 * 40f64.sqrt());
    // Twice as large squares of 120 degrees of freedom are missed once in 300; all flows but one in eight are alone.
    assert!(noticed[1][0] > 93.0 && noticed[2][0] == 100.0 && noticed[3][0] == 100.0);
    assert!(noticed[2][1] > 2000.0 && noticed[3][1] > 3000.0);
}
