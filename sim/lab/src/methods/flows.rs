//! The methods for single flows: what each says of the mean delay of every flow of so many packets.
//!
//! The traffic is that of [`crate::rli`]: sessions behind a queue with random early detection, of whose capacity 88 % are used; or flows that
//! take turns on two queues, so that those who follow each other do not wait alike.
//!
//! # Test plan
//!
//! `tests/experiments.rs`: of two queues the methods that trust neighbours are worse than on one; a mean of all packets answers always.

use super::{Answer, CONDITIONS, Case, Condition, Method, NOTHING, Need};
use crate::lds::{ROWS, SEVERAL, banks_of};
use crate::rli::{Passed, Router, Sending, is_sampled, send};
use crate::{LabError, Progress, Scale};
use deltaline_estimate::colate::ColatePair;
use deltaline_estimate::interpolation::Counters;
use deltaline_estimate::lds::{ALPHA, LdsPair};
use deltaline_model::reference::Spacing;
use deltaline_model::sketch::colate::{Colate, ColateParameters};
use deltaline_model::sketch::lds::{FlowPacket, Lds, LdsParameters};
use deltaline_model::sketch::sampler::Prefixes;
use deltaline_model::sketch::{flow_rows, flow_vector};
use deltaline_model::wire::cell::bits;
use deltaline_traffic::random::Seed;
use rayon::prelude::*;
use std::collections::HashMap;

/// Columns of each of four rows of an LDS: about half a cell for each flow, as its paper has it.
const COLUMNS: usize = 4096;
/// Octets of memory at each end: as many cells of 104 bits.
pub(super) const OCTETS: usize = ROWS * COLUMNS * bits(1) as usize / 8;
/// What has 104 bits too: 32 that tell a flow with counts and sums of its delays, or with digest and time of a packet.
const ENTRIES: usize = ROWS * COLUMNS;
/// Flows of which the first and last time are kept: 112 bits.
const FLOWS: usize = 8 * OCTETS / 112;
/// Counters of COLATE, of 40 bits, an even number of them; and of ours, of 72 bits.
const COUNTERS: usize = 8 * OCTETS / 40 / 2 * 2;
const OUR_COUNTERS: usize = 8 * OCTETS / 72;
/// m of its paper's example.
const WIDTH: usize = 20;
/// Octets of a reference packet.
const REFERENCE_OCTETS: usize = 64;
/// Flows of so many packets that arrived are compared.
pub(super) const LEAST: f64 = 100.0;
/// The interval of other experiments is divided by this.
const FEWER_PACKETS: usize = 5;
/// What is used of the queue's capacity.
const UTILISATION: f64 = 0.88;

/// The streams, and on how many queues flows take turns.
pub(super) const STREAMS: [(&str, u64); 2] = [("one queue", 1), ("two queues", 2)];
/// Which of all conditions: no loss, and 1 %.
const LOSSES: [usize; 2] = [0, 2];

/// The methods, in the order of what they find.
const NAMES: [&str; 8] = [
    "LDS, its paper's",
    "LDS, ours",
    "COLATE, its paper's",
    "COLATE, ours",
    "RLI, linear",
    "trajectory sampling of flows",
    "multiflow",
    "mean of all packets",
];

/// Both ends' tables.
struct Tables {
    papers: [Lds; 2],
    ours: [Lds; 2],
    colate: [Colate; 2],
    colates: ColateParameters,
    vector: [Lds; 2],
    /// Delays of sampled packets, by flow.
    sampled: HashMap<u64, Counters>,
}

impl Tables {
    fn new(condition: &Condition) -> Result<Self, LabError> {
        let papers = match condition.loss {
            0.0 => LdsParameters::plain(ROWS, COLUMNS, 1),
            _ => banks_of(COLUMNS, SEVERAL),
        };
        let prefixes = Prefixes::new(&[0])?;
        let ours = flow_rows::parameters(COLUMNS, &prefixes, 1);
        let colates = ColateParameters {
            counters: COUNTERS,
            width: WIDTH,
            bits: 64,
            threshold: u64::MAX,
            prefixes,
            seed: 1,
        };
        let both = |parameters: &LdsParameters| {
            Ok::<_, LabError>([Lds::new(parameters.clone())?, Lds::new(parameters.clone())?])
        };
        Ok(Tables {
            papers: both(&papers)?,
            ours: both(&ours)?,
            colate: [Colate::new(colates)?, Colate::new(colates)?],
            colates,
            vector: both(&flow_vector::parameters(OUR_COUNTERS, &prefixes, 1))?,
            sampled: HashMap::new(),
        })
    }

    fn add(&mut self, packet: &FlowPacket, end: usize) {
        self.papers[end].add(packet);
        self.ours[end].add(packet);
        self.colate[end].add(packet);
        self.vector[end].add(packet);
    }
}

/// What one run says: median error and share of flows answered of each method, and the reference packets that were sent.
struct Outcome {
    found: Vec<(Option<f64>, f64)>,
    references: u64,
}

/// The hash of a flow.
fn hash(flow: u64) -> u64 {
    Seed::new(flow).random().bits()
}

/// One interval through all methods.
fn measure(sending: &Sending, condition: &Condition, seed: Seed) -> Result<Outcome, LabError> {
    let mut tables = Tables::new(condition)?;
    let share = ENTRIES as f64 / sending.packets as f64;
    let (mut random, mut begin) = (seed.with(1).random(), None);
    let passed = send(sending, seed.with(0), &mut |(flow, time, delay)| {
        // Times count from the beginning of the interval, as COLATE has them.
        let sent = time - *begin.get_or_insert(time);
        let packet =
            FlowPacket { flow: hash(flow), packet: random.bits(), nanoseconds: sent, octets: 0, weight: 1 };
        tables.add(&packet, 0);
        if let Some(delay) = delay {
            tables.add(&FlowPacket { nanoseconds: sent + u64::from(delay), ..packet }, 1);
            if random.chance(share) {
                tables.sampled.entry(flow).or_default().add(delay.into());
            }
        }
    });
    let Tables { papers, ours, colate, colates, vector, sampled } = tables;
    let [papers, ours, vector] =
        [&papers, &ours, &vector].map(|[sender, receiver]| LdsPair::new(sender, receiver));
    let (papers, ours, vector) = (papers?, ours?, vector?);
    let read = |pair: &LdsPair, flow| Some(pair.read(hash(flow), 1, 1)?.mean.ok()?.nanoseconds);
    let [sender, receiver] = colate.map(Colate::finish);
    // Of a vector that lost packets the paper makes nothing.
    let ends = sender.last().zip(receiver.last());
    let colate = ends.and_then(|(sender, receiver)| ColatePair::new(&colates, sender, receiver).ok());
    let flows = passed.flows.len() as f64;
    let by_ends = passed.means_of_sampled_flows((FLOWS as f64 / flows).min(1.0));
    let counted = (ENTRIES as f64 / flows).min(1.0);
    let answers = |flow: u64, packets: f64| -> [Option<f64>; NAMES.len()] {
        let interpolated = || passed.found.first()?.get(&flow)?.mean();
        [
            papers.paper(hash(flow), ALPHA).mean.ok().map(|mean| mean.nanoseconds),
            read(&ours, flow),
            colate.as_ref().map(|colate| colate.papers_mean(hash(flow), packets)),
            read(&vector, flow),
            is_sampled(flow, counted).then(interpolated).flatten(),
            sampled.get(&flow).and_then(Counters::mean),
            by_ends.get(&flow).copied(),
            passed.all.mean(),
        ]
    };
    Ok(Outcome { found: errors(&passed, answers), references: passed.references })
}

/// The median error of each method over all flows, and the share of those that it answers: the others have the mean of all packets, as whoever reads its answers has
/// nothing better.
fn errors(
    passed: &Passed,
    answers: impl Fn(u64, f64) -> [Option<f64>; NAMES.len()],
) -> Vec<(Option<f64>, f64)> {
    let (mut errors, mut answered) = (vec![vec![]; NAMES.len()], [0.0; NAMES.len()]);
    let of_all = passed.all.mean();
    for (flow, known) in &passed.flows {
        let Some(truth) = known.truth.mean().filter(|_| known.truth.packets as f64 >= LEAST) else {
            continue;
        };
        let answers = answers(*flow, known.truth.packets as f64);
        for ((errors, answered), found) in errors.iter_mut().zip(&mut answered).zip(answers) {
            *answered += f64::from(u8::from(found.is_some()));
            errors.extend(found.or(of_all).map(|found| (found / truth - 1.0).abs()));
        }
    }
    let median = |(mut errors, answered): (Vec<f64>, f64)| {
        let (count, middle) = (errors.len(), errors.len() / 2);
        let error = (answered > 0.0).then(|| *errors.select_nth_unstable_by(middle, f64::total_cmp).1);
        (error, answered / f64::max(count as f64, 1.0))
    };
    errors.into_iter().zip(answered).map(median).collect()
}

/// Averages over the runs.
fn average(runs: &[Outcome], method: usize) -> (Option<f64>, f64) {
    let found = || runs.iter().filter_map(|run| run.found.get(method));
    let errors: Vec<f64> = found().filter_map(|(error, _)| *error).collect();
    let error = errors.iter().sum::<f64>() / errors.len() as f64;
    let answered = found().map(|(_, share)| share).sum::<f64>() / runs.len().max(1) as f64;
    ((!errors.is_empty()).then_some(if error < NOTHING { 0.0 } else { error }), answered)
}

/// What methods take; `references` is how many reference packets an interval has.
fn methods(references: f64) -> Vec<Method> {
    const LDS: &str = "deltaline read eth0 --design lds.toml --flows flows.json";
    const COLATE: &str = "deltaline read eth0 --design colate.toml --flows flows.json";
    let octets = |name: &str| match name {
        "mean of all packets" => 24,
        _ => OCTETS,
    };
    let method = |name: &'static str| {
        let octets = octets(name);
        let (link_octets, command) = match name {
            "LDS, ours" => (2 * octets, Some(LDS)),
            "COLATE, ours" => (2 * octets, Some(COLATE)),
            "RLI, linear" => (REFERENCE_OCTETS * references.round() as usize, None),
            "mean of all packets" => (2 * octets, Some("deltaline measure sender.pcap receiver.pcap")),
            _ => (2 * octets, None),
        };
        Method { name, octets, link_octets, command }
    };
    NAMES.map(method).to_vec()
}

/// Packets of an interval, and intervals of each stream.
pub(super) fn size(scale: &Scale) -> [usize; 2] {
    [scale.packets / FEWER_PACKETS, scale.runs]
}

/// Steps of the experiment.
pub(super) fn steps(scale: &Scale) -> u64 {
    (STREAMS.len() * LOSSES.len() * scale.runs) as u64
}

/// Methods and cases of single flows.
pub(super) fn run(
    scale: &Scale,
    seed: Seed,
    progress: &dyn Progress,
) -> Result<(Vec<Method>, Vec<Case>), LabError> {
    let [packets, runs] = size(scale);
    let mut found = vec![];
    let mut references = vec![];
    for (number, place) in LOSSES.into_iter().zip(0..) {
        let condition = CONDITIONS[number];
        let mut of_streams = vec![];
        for (stream, (_, paths)) in STREAMS.into_iter().enumerate() {
            let sending = Sending {
                packets,
                utilisation: UTILISATION,
                spacing: Spacing::PAPER,
                router: Router::Rli,
                paths,
                loss: condition.loss,
            };
            let one = |run| {
                let outcome = measure(&sending, &condition, seed.with(place).with(stream as u64).with(run));
                progress.step();
                outcome
            };
            let outcomes =
                (0..runs as u64).into_par_iter().map(one).collect::<Result<Vec<Outcome>, LabError>>()?;
            references.extend(outcomes.iter().map(|outcome| outcome.references as f64));
            of_streams.push(outcomes);
        }
        found.push((condition, of_streams));
    }
    let methods = methods(references.iter().sum::<f64>() / references.len().max(1) as f64);
    let case = |(condition, of_streams): (Condition, Vec<Vec<Outcome>>)| {
        let answer = |(number, name): (usize, &&'static str)| {
            Answer::new(name, of_streams.iter().map(|runs| average(runs, number)).collect())
        };
        let answers = NAMES.iter().enumerate().map(answer).collect();
        Case::new(Need::Flow, condition, STREAMS.map(|(name, _)| name).to_vec(), answers, &methods)
    };
    let cases = found.into_iter().map(case).collect();
    Ok((methods, cases))
}
