//! Figure 7: the standard deviation behind real and simulated queues.
//!
//! Bursty traffic ([`Sessions`]) passes a queue of the RLI paper, drop-tail or RED, at several loads. A recording
//! is measured too, if there is one. Unlike drawn delays these are large compared to their spread and differ little
//! between neighbours, and losses come where delays are large.
//!
//! # Test plan
//!
//! At a tenth of the packets: our estimator has the error of theory in every case, and the paper's has a far larger
//! one where the mean is far above the deviation.

use crate::banks::Banks;
use crate::figure::{Axis, Claim, Figure, Point, Series, Source, Stated, Style, significant};
use crate::outcome::{Moments, Outcome, Truth, measure};
use crate::traffic::purpose;
use crate::{Fate, LabError, Progress, Report, Scale};
use deltaline_traffic::queue::{Queue, RLI_CAPACITY, Red};
use deltaline_traffic::random::Seed;
use deltaline_traffic::source::Sessions;
use deltaline_traffic::stream::Stream;
use rayon::prelude::*;

/// Offered load over the link's rate.
const LOADS: [f64; 4] = [0.55, 0.88, 0.98, 1.05];
/// The link in bytes a second: the OC-192 of the RLI paper's traces, 10 Gbit/s.
const RATE: f64 = 1.25e9;
/// The most that one session may take of it: 100 Mbit/s.
const SHARE: f64 = 0.01;
/// Counters of the bank.
const COUNTERS: u32 = 1024;
/// Runs here for each run elsewhere; they are cheap.
const MORE_RUNS: usize = 10;
/// The interval of other experiments is divided by this for the queue.
const FEWER_PACKETS: usize = 5;

#[derive(Clone, Copy, PartialEq)]
enum Discipline {
    DropTail,
    Red,
}

impl Discipline {
    const ALL: [Discipline; 2] = [Discipline::DropTail, Discipline::Red];

    fn name(self) -> &'static str {
        match self {
            Discipline::DropTail => "drop-tail",
            Discipline::Red => "RED",
        }
    }
}

/// One queue's truth and its runs.
struct Case {
    name: String,
    truth: Truth,
    outcomes: Vec<Outcome>,
}

impl Case {
    fn new(
        name: String,
        fate: &Fate,
        seed: Seed,
        scale: &Scale,
        progress: &dyn Progress,
    ) -> Result<Self, LabError> {
        let mut moments = Moments::default();
        fate.iter().for_each(|&delay| moments.add(delay));
        let truth = moments.truth();
        let loss = (truth.sent - truth.received) as f64 / truth.sent as f64;
        let banks = Banks::tuned(COUNTERS, &[loss], fate.len());
        let measured = (0..(scale.runs * MORE_RUNS) as u64).into_par_iter().map(|run| {
            let hashes = scale.keys.hashes(seed.with(purpose::HASHES).with(run));
            let outcome = measure(fate.iter().copied(), &banks, hashes)?;
            progress.step();
            Ok(outcome)
        });
        Ok(Case { name, truth, outcomes: measured.collect::<Result<_, LabError>>()? })
    }

    fn point(&self, x: f64, value: impl Fn(&Outcome) -> Option<f64>) -> Point {
        Point::average(x, self.outcomes.iter().map(value))
    }

    /// A line of the table of truths.
    fn row(&self) -> String {
        let Truth { sent, received, mean, deviation } = self.truth;
        let per_cent =
            |value: Option<f64>| value.map_or_else(|| "none".into(), |value| significant(100.0 * value));
        let [paper, ours] =
            [self.point(0.0, Outcome::paper_deviation_error), self.point(0.0, Outcome::deviation_error)];
        format!(
            "| {} | {} | {} | {} | {} | {} ({} of {} without) | {} |\n",
            self.name,
            sent,
            significant(100.0 * (sent - received) as f64 / sent as f64),
            significant(mean / 1e3),
            significant(deviation / 1e3),
            per_cent(paper.y),
            paper.missing,
            paper.missing + paper.runs,
            per_cent(ours.y),
        )
    }
}

/// The second interval behind the queue; the first fills it.
fn behind(discipline: Discipline, load: f64, packets: usize, seed: Seed) -> Vec<Option<u32>> {
    let source = Sessions::new(load * RATE, SHARE, seed.with(purpose::SOURCE).random());
    let queue = match discipline {
        Discipline::DropTail => Queue::drop_tail(RLI_CAPACITY, RATE),
        Discipline::Red => Queue::red(RLI_CAPACITY, RATE, Red::RLI, seed.with(purpose::QUEUE).random()),
    };
    let stream = Stream::new(source, queue, packets as u64);
    stream.skip(packets).take(packets).map(|packet| packet.arrival.map(|arrival| arrival.delay)).collect()
}

pub(crate) fn run(scale: &Scale, recording: &Fate, progress: &dyn Progress) -> Result<Report, LabError> {
    let seed = Seed::new(scale.seed).with(7);
    let (packets, runs) = (scale.packets / FEWER_PACKETS, scale.runs * MORE_RUNS);
    let has_recording = !recording.is_empty();
    progress.expect(((LOADS.len() * Discipline::ALL.len() + usize::from(has_recording)) * runs) as u64);
    let mut cases = vec![];
    for discipline in Discipline::ALL {
        for (load, number) in LOADS.into_iter().zip(0..) {
            // Both queues see the same traffic.
            let seed = seed.with(number);
            let fate = behind(discipline, load, packets, seed);
            let name = format!("{}, load {load}", discipline.name());
            cases.push(((discipline, load), Case::new(name, &fate, seed, scale, progress)?));
        }
    }
    let recorded = match has_recording {
        true => Some(Case::new("recording".into(), recording, seed.with(100), scale, progress)?),
        false => None,
    };
    let mut table = String::from(
        "| case | packets | lost % | mean µs | deviation µs | error of the paper's % | error between rows % |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
    );
    recorded.iter().chain(cases.iter().map(|(_, case)| case)).for_each(|case| table += &case.row());
    let series = Discipline::ALL.into_iter().zip(0..).flat_map(|(discipline, colour)| {
        let series = |estimator, style, value: fn(&Outcome) -> Option<f64>| {
            let own = cases.iter().filter(|((own, _), _)| *own == discipline);
            Series {
                name: format!("{}, {estimator}", discipline.name()),
                colour,
                style,
                points: own.map(|((_, load), case)| case.point(*load, value)).collect(),
            }
        };
        [
            series("paper's", Style::Dashed, Outcome::paper_deviation_error),
            series("between rows", Style::Line, Outcome::deviation_error),
        ]
    });
    let figure = Figure {
        name: "7",
        title: "relative error of the standard deviation behind queues",
        x: Axis::linear("offered load / rate of the link"),
        y: Axis::logarithmic("average relative error of the deviation"),
        series: series.collect(),
    };
    let all = || recorded.iter().chain(cases.iter().map(|(_, case)| case));
    let errors = all().filter_map(|case| case.point(0.0, Outcome::deviation_error).y);
    let measured = errors.fold([f64::INFINITY, 0.0], |[low, high]: [f64; 2], error| {
        [low.min(100.0 * error), high.max(100.0 * error)]
    });
    Ok(Report {
        title: "Behind queues (figure 7)",
        text: format!(
            "{packets} packets of bursty sessions through a queue of 10,000 packets before a link of 10 Gbit/s; RED \
             with the RLI paper's 4,000, 9,000, 0.002 and 1/50{}. One bank of 1024 rows tuned to the loss, {runs} runs. \
             Runs in which the paper's variance came out negative have no value.\n\n{table}",
            if has_recording { "; and a recording" } else { "" }
        ),
        figures: vec![figure],
        claims: vec![Claim {
            by: Source::Target,
            what: "error of the deviation, between rows, queues and recording".into(),
            unit: " %",
            stated: Stated::Below(8.0),
            measured,
            comment: "the paper's estimator: table above".into(),
        }],
    })
}
