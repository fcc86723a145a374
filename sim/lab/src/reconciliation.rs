//! Figure 11: tables that can be subtracted, against those that cannot.
//!
//! The RDA paper's experiments (Fu, Barlet-Ros, Li, IEEE/ACM ToN 2018, figures 6, 7 and 8): half of the packets that differ are lost, anywhere in
//! the interval; half are the next interval's, which arrive at its end. The paper has 5,000 cells and 0 to 10,000 packets that differ; cells of
//! a table are a power of two here, so there are 4,096 of all synopses alike and as many packets for each of them as in the paper.
//!
//! | series | what |
//! |---|---|
//! | LDA, LDA in RDA's bytes | one bank, tuned to the number of packets that differ; 4,096 rows, and 7,737 |
//! | FineComb | the same bank with digests; of rows that lost nothing, what came in is taken out, as the paper has it "ideal" |
//! | sRDA, RDA | as published: two hashes into one array, two banks |
//! | identity, identity in fewer bytes | four tables of 1,024 cells; of 512, 0.62 of RDA's bytes |
//!
//! # Test plan
//!
//! At a reduced scale: without differences and while all packets come out the means of the tables that can be subtracted are exact; where RDA
//! completes as often as random graphs have no cycle, identity tables always do; a stash takes FineComb twice the time for each packet.

use crate::banks::Banks;
use crate::figure::{Axis, Claim, Figure, Point, Series, Source, Stated, Style};
use crate::outcome::{GAP, Moments, Truth};
use crate::traffic::purpose;
use crate::{LabError, Progress, Report, Scale};
use deltaline_estimate::difference::stash::by_all_combinations;
use deltaline_estimate::difference::{best_table, published_deviation, published_mean};
use deltaline_estimate::{Difference, Observation, estimate};
use deltaline_model::sketch::cell::{Cell, Row};
use deltaline_model::sketch::finecomb::RowCell;
use deltaline_model::sketch::identity_table::IdentityCell;
use deltaline_model::sketch::layout::{Layout, Subtractable};
use deltaline_model::sketch::packet_id::PacketId;
use deltaline_model::sketch::rda::{RdaCell, SrdaCell};
use deltaline_traffic::delay::Delay;
use deltaline_traffic::random::Seed;
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::hint::black_box;
use std::time::Instant;

/// Cells of each synopsis, and what the paper has.
const CELLS: usize = 4096;
const PAPERS_CELLS: f64 = 5000.0;
/// Rows of an LDA with as many bits as RDA, whose cells have 136 to its 72.
const ROWS_IN_BYTES: u32 = 7737;
/// Packets that differ where the paper's table has 5,000 cells.
const DIFFERENCES: [f64; 11] =
    [0.0, 50.0, 100.0, 500.0, 1000.0, 1250.0, 2000.0, 2500.0, 5000.0, 7500.0, 10_000.0];
/// Packets whose decoding is timed, and packets in a stash.
const TIMED: [usize; 7] = [1, 10, 50, 100, 500, 1000, 2000];
const STASHED: [usize; 5] = [4, 8, 12, 16, 20];
/// Scale (not the mean) and shape of the delays.
const DELAY_SCALE: f64 = 66_470.0;
const DELAY_SHAPE: f64 = 0.7;
/// The mean over the scale, the gamma function at 1 + 1 / 0.7.
const MEAN_OVER_SCALE: f64 = 1.265_823_506;
/// The interval of other experiments is multiplied by 2 / 5: 2 million packets.
const FEWER_PACKETS: (usize, usize) = (2, 5);
/// Errors below this are rounding and drawn here.
const NOTHING: f64 = 1e-12;
/// Decodings of tables of packets that differ alone, for each run elsewhere.
const MORE_RUNS: usize = 50;

const RDA: Layout = Layout::Banks { rows: CELLS / 2, banks: 2 };
const SRDA: Layout = Layout::Flat { cells: CELLS, hashes: 2 };
const IDENTITY: Layout = Layout::Identity { rows: CELLS / 4 };
const IDENTITY_IN_FEWER: Layout = Layout::Identity { rows: CELLS / 8 };

const NAMES: [&str; 7] =
    ["LDA", "LDA, RDA's bytes", "FineComb, ideal", "sRDA", "RDA", "identity", "identity, fewer bytes"];

/// A packet's identifier, with its check.
#[derive(Clone, Copy)]
pub(crate) struct Packet {
    hash: u64,
    pub(crate) halves: [u32; 2],
    check: u32,
}

impl Packet {
    pub(crate) fn new(hash: u64, id: &PacketId) -> Self {
        Packet { hash, halves: id.halves_of(hash), check: id.check_of(hash) }
    }

    fn checked(&self) -> [u32; 3] {
        [self.check, self.halves[0], self.halves[1]]
    }
}

/// A table that can be subtracted, of both ends.
pub(crate) struct Pair<C> {
    layout: Layout,
    pub(crate) cells: [Vec<C>; 2],
    add: fn(&mut C, u64, &Packet),
}

impl<C: Subtractable> Pair<C> {
    fn new(layout: Layout, add: fn(&mut C, u64, &Packet)) -> Self {
        Pair { layout, cells: [0, 1].map(|_| vec![C::default(); layout.cells()]), add }
    }

    /// Adds a packet, seen at these times at either end.
    pub(crate) fn add(&mut self, id: &PacketId, packet: &Packet, times: [Option<u64>; 2]) {
        for place in self.layout.places(id, packet.halves) {
            for (cells, time) in self.cells.iter_mut().zip(times) {
                if let Some(time) = time {
                    (self.add)(&mut cells[place], time, packet);
                }
            }
        }
    }

    /// Takes out what came out, by the times at which the packets that differ were seen.
    fn repair(&mut self, id: &PacketId, found: &Difference, times: &HashMap<[u32; 2], u64>) {
        for (cells, packets) in self.cells.iter_mut().zip([&found.only_sent, &found.only_received]) {
            for (halves, time) in packets.iter().filter_map(|halves| Some((halves, times.get(halves)?))) {
                self.layout.places(id, *halves).for_each(|place| cells[place].take_out(*time, id, *halves));
            }
        }
    }

    fn observation(&self, rows: usize, packets: u64) -> Observation<'_, C> {
        let [sender, receiver] = &self.cells;
        Observation { rows, sender, receiver, sent: packets, received: packets }
    }
}

pub(crate) fn rda(layout: Layout) -> Pair<RdaCell> {
    Pair::new(layout, |cell, time, packet| _ = cell.add(time, packet.halves))
}

pub(crate) fn srda(layout: Layout) -> Pair<SrdaCell> {
    Pair::new(layout, |cell, time, packet| _ = cell.add(time, packet.checked()))
}

pub(crate) fn identity(layout: Layout) -> Pair<IdentityCell> {
    Pair::new(layout, |cell, time, packet| _ = cell.add(time, packet.checked()))
}

/// Mean and deviation of delay, as far as they are known.
type Found = [Option<f64>; 2];

/// What a bank of rows says.
fn of_rows<R: Row>(rows: usize, ends: &[Vec<R>; 2], [sent, received]: [u64; 2]) -> Result<Found, LabError> {
    let [sender, receiver] = ends;
    let found = estimate(&Observation { rows, sender, receiver, sent, received })?;
    Ok([found.mean.ok().map(|mean| mean.nanoseconds), found.deviation.ok()])
}

/// What a published table says.
fn published<R: Row>(observation: &Observation<R>) -> Found {
    match published_mean(observation) {
        Ok(mean) => [Some(mean), published_deviation(observation, mean).1.ok()],
        Err(_) => [None, None],
    }
}

/// One interval of so many packets, of which so many differ, through all synopses.
fn measure(
    packets: usize,
    differ: usize,
    scale: &Scale,
    seed: Seed,
) -> Result<([Found; 7], Truth), LabError> {
    let random = |purpose| seed.with(purpose).random();
    let [mut delays, mut losses] = [random(purpose::DELAYS), random(purpose::LOSSES)];
    let mut law = Delay::weibull(DELAY_SCALE * MEAN_OVER_SCALE, DELAY_SHAPE);
    let mut hashes = scale.keys.hashes(seed.with(purpose::HASHES));
    let (lost, gained) = (differ / 2, differ - differ / 2);
    let share = differ as f64 / packets as f64;
    let banks = [CELLS as u32, ROWS_IN_BYTES].map(|rows| Banks::tuned(rows, &[share], packets));
    let mut ldas = [0, 1].map(|bank: usize| [0, 1].map(|_| vec![Cell::default(); banks[bank].cells()]));
    let mut finecomb = [0, 1].map(|_| vec![RowCell::default(); banks[0].cells()]);
    let (mut rda, mut srda) = (rda(RDA), srda(SRDA));
    let mut identities = [identity(IDENTITY), identity(IDENTITY_IN_FEWER)];
    let id = PacketId::default();
    let mut moments = Moments::default();
    let mut times_of: HashMap<[u32; 2], u64> = HashMap::new();
    let (mut rows_lost, mut came_in) = (HashSet::new(), vec![]);
    let mut to_lose = lost;
    for number in 0..packets + gained {
        let packet = Packet::new(hashes.bits(), &id);
        let (sent, delay) = (number as u64 * GAP, law.draw(&mut delays));
        let is_next = number >= packets;
        let is_lost = !is_next && losses.uniform() * ((packets - number) as f64) < to_lose as f64;
        let times = [(!is_next).then_some(sent), (!is_lost).then(|| sent + u64::from(delay))];
        to_lose -= usize::from(is_lost);
        match times {
            [Some(_), Some(_)] => moments.add(Some(delay)),
            [Some(time), None] | [None, Some(time)] => _ = times_of.insert(packet.halves, time),
            [None, None] => {}
        }
        for (banks, ends) in banks.iter().zip(&mut ldas) {
            let Some(row) = banks.cell(packet.hash) else { continue };
            ends.iter_mut().zip(times).for_each(|(rows, time)| {
                time.into_iter().for_each(|time| _ = rows[row].add(time));
            });
        }
        if let Some(row) = banks[0].cell(packet.hash) {
            finecomb.iter_mut().zip(times).for_each(|(rows, time)| {
                time.into_iter().for_each(|time| _ = rows[row].add(time, packet.halves));
            });
            match times {
                [Some(_), None] => _ = rows_lost.insert(row),
                [None, Some(time)] => came_in.push((row, packet.halves, time)),
                _ => {}
            }
        }
        rda.add(&id, &packet, times);
        srda.add(&id, &packet, times);
        identities.iter_mut().for_each(|pair| pair.add(&id, &packet, times));
    }
    for (row, halves, time) in came_in.iter().filter(|(row, ..)| !rows_lost.contains(row)) {
        finecomb[1][*row].remove(*time, *halves);
    }
    let totals = [packets as u64, (packets - lost + gained) as u64];
    let found = Difference::of_rda(&rda.cells[0], &rda.cells[1], RDA);
    rda.repair(&id, &found, &times_of);
    let found = Difference::of_srda(&srda.cells[0], &srda.cells[1], SRDA);
    srda.repair(&id, &found, &times_of);
    let mut of_identities = [[None, None]; 2];
    for (pair, found) in identities.iter_mut().zip(&mut of_identities) {
        let difference = Difference::of(&pair.cells[0], &pair.cells[1]);
        pair.repair(&id, &difference, &times_of);
        let common = (packets - difference.only_sent.len()) as u64;
        let table = best_table(&pair.observation(pair.layout.cells() / 4, common));
        let received = totals[1] - difference.only_received.len() as u64;
        let table = estimate(&Observation { received, ..table })?;
        *found = [table.mean.ok().map(|mean| mean.nanoseconds), table.deviation.ok()];
    }
    let results = [
        of_rows(banks[0].rows(), &ldas[0], totals)?,
        of_rows(banks[1].rows(), &ldas[1], totals)?,
        of_rows(banks[0].rows(), &finecomb, totals)?,
        published(&srda.observation(CELLS, totals[0])),
        published(&rda.observation(CELLS / 2, totals[0])),
        of_identities[0],
        of_identities[1],
    ];
    Ok((results, moments.truth()))
}

/// Both ends' tables of packets that differ alone, every second one the sender's.
fn differing<C: Subtractable>(mut pair: Pair<C>, differ: usize, seed: Seed) -> Pair<C> {
    let (id, mut random) = (PacketId::default(), seed.random());
    for number in 0..differ {
        let packet = Packet::new(random.bits(), &id);
        pair.add(&id, &packet, [(number % 2 == 0).then_some(0), (number % 2 == 1).then_some(0)]);
    }
    pair
}

/// How a series is decoded, from what differs.
type Decode = fn(usize, Seed) -> (Difference, f64);

/// A decoding and the milliseconds that it takes.
fn timed<C: Subtractable>(pair: Pair<C>, decode: fn(&[C], &[C], Layout) -> Difference) -> (Difference, f64) {
    let start = Instant::now();
    let found = black_box(decode(&pair.cells[0], &pair.cells[1], pair.layout));
    (found, start.elapsed().as_secs_f64() * 1e3)
}

const DECODERS: [(&str, Decode); 3] = [
    ("sRDA", |differ, seed| timed(differing(srda(SRDA), differ, seed), Difference::of_srda)),
    ("RDA", |differ, seed| timed(differing(rda(RDA), differ, seed), Difference::of_rda)),
    ("identity", |differ, seed| {
        timed(differing(identity(IDENTITY), differ, seed), |sent, received, _| Difference::of(sent, received))
    }),
];

/// The milliseconds that all combinations of a stash take, whose packets all came in.
fn exhaust(stashed: usize, seed: Seed) -> f64 {
    let (id, mut random) = (PacketId::default(), seed.random());
    let stash: Vec<[u32; 2]> = (0..stashed).map(|_| id.halves_of(random.bits())).collect();
    let sent = vec![RowCell::default(); CELLS];
    let mut received = sent.clone();
    for halves in &stash {
        received[random.bits() as usize % CELLS].add(0, *halves);
    }
    let start = Instant::now();
    black_box(by_all_combinations(&sent, &received, &stash));
    start.elapsed().as_secs_f64() * 1e3
}

/// Packets that differ of 4,096 cells' as many as the paper's of 5,000.
fn scaled(differences: f64) -> usize {
    (differences * CELLS as f64 / PAPERS_CELLS).round() as usize
}

fn line(name: &str, colour: usize, style: Style, points: Vec<Point>) -> Series {
    Series { name: name.into(), colour, style, points }
}

/// Figure 11a.
fn times(scale: &Scale, seed: Seed) -> Figure {
    let mut series: Vec<Series> = DECODERS
        .iter()
        .enumerate()
        .map(|(colour, (name, decode))| {
            let point = |differ: &usize| {
                let times = (0..scale.runs as u64).map(|run| Some(decode(*differ, seed.with(run)).1));
                Point::average(*differ as f64, times)
            };
            line(name, colour, Style::Line, TIMED.iter().map(point).collect())
        })
        .collect();
    let stash = |stashed: &usize| {
        Point::average(
            *stashed as f64,
            (0..scale.runs as u64).map(|run| Some(exhaust(*stashed, seed.with(run)))),
        )
    };
    let points = STASHED.iter().map(stash).collect();
    series.push(line("FineComb, all combinations", series.len(), Style::Dashed, points));
    Figure {
        name: "11a",
        title: "time of decoding, on the machine that wrote this",
        x: Axis::logarithmic("packets that differ, or are in the stash"),
        y: Axis::logarithmic("milliseconds"),
        series,
    }
}

/// Figure 11d.
fn completion(scale: &Scale, seed: Seed) -> Figure {
    let runs = scale.runs * MORE_RUNS;
    let share = |decode: Decode, differences: f64| {
        let complete = |run: &u64| decode(scaled(differences), seed.with(*run)).0.complete;
        (0..runs as u64).into_par_iter().filter(complete).count() as f64 / runs as f64
    };
    let mut series: Vec<Series> = DECODERS
        .iter()
        .enumerate()
        .map(|(colour, (name, decode))| {
            let point = |x: &f64| {
                let y = share(*decode, *x);
                Point { x: *x, y: Some(y), low: Some(y), high: Some(y), runs, missing: 0 }
            };
            line(name, colour, Style::Line, DIFFERENCES.iter().map(point).collect())
        })
        .collect();
    // d packets in two banks of m cells have no cycle.
    let acyclic = |x: &f64| {
        let load = scaled(*x) as f64 / (CELLS / 2) as f64;
        Point::range(*x, (1.0 - load * load).max(0.0).sqrt(), 0.0)
    };
    series.push(line("RDA by theory", 1, Style::Dashed, DIFFERENCES.iter().map(acyclic).collect()));
    Figure {
        name: "11d",
        title: "how often all packets that differ come out",
        x: Axis::linear("packets that differ for each 5,000 cells"),
        y: Axis::linear("share of intervals"),
        series,
    }
}

pub(crate) fn run(scale: &Scale, progress: &dyn Progress) -> Result<Report, LabError> {
    let seed = Seed::new(scale.seed).with(11);
    let packets = scale.packets * FEWER_PACKETS.0 / FEWER_PACKETS.1;
    progress.expect((DIFFERENCES.len() * scale.runs) as u64);
    let mut errors: [[Vec<Point>; 7]; 2] = Default::default();
    for (place, differences) in DIFFERENCES.into_iter().enumerate() {
        let outcomes = (0..scale.runs as u64).into_par_iter().map(|run| {
            let outcome = measure(packets, scaled(differences), scale, seed.with(place as u64).with(run));
            progress.step();
            outcome
        });
        let outcomes: Vec<_> = outcomes.collect::<Result<_, LabError>>()?;
        for synopsis in 0..NAMES.len() {
            for quantity in 0..2 {
                let error = |(found, truth): &([Found; 7], Truth)| {
                    let true_value = [truth.mean, truth.deviation][quantity];
                    Some(((found[synopsis][quantity]? - true_value).abs() / true_value).max(NOTHING))
                };
                let point = Point::average(differences, outcomes.iter().map(error));
                errors[quantity][synopsis].push(point);
            }
        }
    }
    let [means, deviations] = errors.map(|points| {
        let named = NAMES.iter().enumerate().zip(points);
        named.map(|((colour, name), points)| line(name, colour, Style::Line, points)).collect::<Vec<_>>()
    });
    let x = Axis::linear("packets that differ for each 5,000 cells");
    let completion = completion(scale, seed);
    let at = |name: &str, x: f64| {
        let series = completion.series(name).into_iter().flat_map(|series| &series.points);
        series.filter(|point| point.x == x).find_map(|point| point.y).unwrap_or(f64::NAN)
    };
    // Banks of 2 d cells, of which Theorem 2 speaks: 1,250 packets for each 5,000.
    let theorem = at("RDA", 1250.0);
    let claims = vec![Claim {
        by: Source::Target,
        what: "intervals in which identity tables show all packets, one for every two cells".into(),
        unit: " %",
        stated: Stated::Above(99.0),
        measured: [100.0 * at("identity", 2500.0); 2],
        comment: "what they do not show, `measure` reads from further symbols".into(),
    }];
    let text = format!(
        "{packets} packets, Weibull delays of scale 66.47 µs and shape 0.7, {CELLS} cells of each synopsis, {} runs; the \
         packets that differ are scaled from the RDA paper's 5,000 cells (its figures 6, 7 and 8). Half are lost, half are early ones of the \
         next interval. Errors below 10^-12 are drawn as that. FineComb is repaired as the paper has it, by who knows which \
         packets came in. Theorem 2 of the RDA paper promises that two banks of 2 d cells fail to show d packets with a probability \
         of the order d^-2: measured is {:.1} %, and 13.4 % is the share of random bipartite graphs with a cycle, at any d. So RDA's mean is \
         not exact up to 2,000 packets, as the paper has it, but in the intervals that decode.",
        scale.runs,
        100.0 * (1.0 - theorem),
    );
    Ok(Report {
        title: "Tables that can be subtracted (figure 11)",
        text,
        figures: vec![
            times(scale, seed),
            Figure {
                name: "11b",
                title: "relative error of the mean",
                x,
                y: Axis::logarithmic("average relative error of the mean"),
                series: means,
            },
            Figure {
                name: "11c",
                title: "relative error of the standard deviation",
                x,
                y: Axis::logarithmic("average relative error of the standard deviation"),
                series: deviations,
            },
            completion,
        ],
        claims,
    })
}
