//! Figure 10: the interval of the mean where it has a hard time: heavy tails, few rows, a full queue.
//!
//! One bank of 8 to 1024 rows is tuned to the loss. That leaves from none to some 600 usable rows; at 20 % loss they hold two or
//! three packets each. Behind the queue the packets that are lost would have waited longest, and most are lost where all wait long;
//! rows are picked by hash, so those that stay whole are no less congested than others. An interval is *marked* where the program
//! says that it may hold less often.
//!
//! # Test plan
//!
//! At half of the packets: no case misses more often without a mark than 8 % and what chance adds; the mean is unbiased behind
//! the queue; few rows and heavy tails are marked, light ones are not.

use crate::banks::Banks;
use crate::figure::{Axis, Claim, Figure, Point, Series, Source, Stated, Style, significant};
use crate::outcome::{Outcome, measure};
use crate::traffic::{MEAN, Pattern, interval, purpose};
use crate::{Fate, LabError, Progress, Report, Scale};
use deltaline_estimate::{Confidence, Mean, Uncertainty, combine, quantity};
use deltaline_traffic::delay::Delay;
use deltaline_traffic::queue::Queue;
use deltaline_traffic::random::Seed;
use deltaline_traffic::source::Sessions;
use deltaline_traffic::stream::Stream;
use rayon::prelude::*;

const ROWS: [u32; 6] = [8, 16, 32, 64, 256, 1024];
const LOSSES: [f64; 2] = [0.01, 0.2];
/// The interval of other experiments is divided by this: 20,000.
const FEWER_PACKETS: usize = 250;
/// Runs here for each run elsewhere.
const MORE_RUNS: usize = 40;
/// Runs that share the same packets.
const RUNS_A_TRACE: usize = 20;
/// Misses without a mark, in per cent: three points more than 5.
const MOST_UNMARKED: f64 = 8.0;
/// Rows, even at the largest loss, from which on exponential delays should not be marked.
const ENOUGH_ROWS: u32 = 1024;

/// The queue: packets that it holds, its link in bytes a second, load over that, and what a session takes of it.
const CAPACITY: usize = 500;
const RATE: f64 = 1.25e9;
const LOAD: f64 = 1.33;
const SHARE: f64 = 0.05;
/// Packets until the sessions bring that load.
const FILLING: usize = 40_000;
/// Behind the queue one packet in so many is late, by this factor.
const OUTLIER: (f64, f64) = (100.0, 3.0);

/// What the packets go through.
enum Path<'a> {
    /// Delays by a law, independent losses.
    Drawn(Delay, f64),
    /// A full queue.
    Queue,
    /// What was recorded.
    Recording(&'a Fate),
}

impl Path<'_> {
    fn fate(&self, packets: usize, seed: Seed) -> Vec<Option<u32>> {
        match self {
            Path::Drawn(law, loss) => {
                let losses = Pattern::Uniform.losses(*loss, seed.with(purpose::LOSSES));
                let delays = interval(law, packets, seed.with(purpose::DELAYS)).into_iter();
                delays.zip(losses).map(|(delay, lost)| (!lost).then_some(delay)).collect()
            }
            Path::Queue => {
                let source = Sessions::new(LOAD * RATE, SHARE, seed.with(purpose::SOURCE).random());
                let stream = Stream::new(source, Queue::drop_tail(CAPACITY, RATE), packets as u64);
                let mut random = seed.with(purpose::QUEUE).random();
                let mut late =
                    |delay| if random.chance(OUTLIER.0.recip()) { OUTLIER.1 } else { 1.0 } * f64::from(delay);
                let packets = stream.skip(FILLING).take(packets);
                packets.map(|packet| packet.arrival.map(|arrival| late(arrival.delay) as u32)).collect()
            }
            Path::Recording(fate) => fate.to_vec(),
        }
    }
}

/// What came of the runs of a path and a number of rows.
#[derive(Clone, Copy, Default)]
struct Tally {
    runs: f64,
    /// Runs with an interval: neither without one nor exact.
    intervals: f64,
    /// Of these, those whose interval lies above the truth, and below it.
    above: f64,
    below: f64,
    marked: f64,
    /// Missed without a mark.
    unmarked: f64,
    /// Errors of the mean, in units of their expectation.
    errors: f64,
    usable: f64,
}

impl Tally {
    fn of(outcome: &Outcome) -> Self {
        let estimate = &outcome.estimate;
        let truth = outcome.truth.mean;
        let one = Tally { runs: 1.0, usable: estimate.usable_rows as f64, ..Tally::default() };
        let range = |mean: Mean| Ok((mean, mean.range(Confidence::P95)?));
        let Ok((mean, range)) = estimate.mean.and_then(range) else { return one };
        if mean.uncertainty == Uncertainty::Exact {
            return one;
        }
        let count = |is: bool| f64::from(u8::from(is));
        let quantities = quantity::of_delays(&combine(&[*estimate]), None);
        let is_mean = |each: &&quantity::Quantity| std::ptr::eq(each.what, &quantity::MEAN);
        let is_marked = quantities.iter().find(is_mean).is_some_and(|mean| mean.remark.is_some());
        let (above, below) = (range.lower > truth, range.upper < truth);
        let share = 1.0 - outcome.samples() / outcome.truth.received as f64;
        let error = outcome.truth.deviation * (share / outcome.samples()).sqrt();
        Tally {
            intervals: 1.0,
            above: count(above),
            below: count(below),
            marked: count(is_marked),
            unmarked: count((above || below) && !is_marked),
            errors: if error > 0.0 { (mean.nanoseconds - truth) / error } else { 0.0 },
            ..one
        }
    }

    fn plus(self, other: Tally) -> Tally {
        Tally {
            runs: self.runs + other.runs,
            intervals: self.intervals + other.intervals,
            above: self.above + other.above,
            below: self.below + other.below,
            marked: self.marked + other.marked,
            unmarked: self.unmarked + other.unmarked,
            errors: self.errors + other.errors,
            usable: self.usable + other.usable,
        }
    }

    /// A share of the runs with an interval, in per cent.
    fn share(&self, of: f64) -> Option<f64> {
        (self.intervals > 0.0).then(|| 100.0 * of / self.intervals)
    }
}

/// All runs of one path.
struct Case {
    name: String,
    /// By number of rows.
    tallies: Vec<Tally>,
}

impl Case {
    fn new(
        name: String,
        path: &Path,
        seed: Seed,
        scale: &Scale,
        progress: &dyn Progress,
    ) -> Result<Self, LabError> {
        let (packets, runs) = (scale.packets / FEWER_PACKETS, scale.runs * MORE_RUNS);
        let traces = runs.div_ceil(RUNS_A_TRACE);
        let parts = (0..traces).into_par_iter().map(|number| {
            let seed = seed.with(number as u64);
            let fate = path.fate(packets, seed);
            let lost = fate.iter().filter(|delay| delay.is_none()).count() as f64;
            let of_rows = ROWS.into_iter().map(|rows| {
                let banks = Banks::tuned(rows, &[lost / fate.len() as f64], fate.len());
                let mut tally = Tally::default();
                for run in 0..RUNS_A_TRACE.min(runs - number * RUNS_A_TRACE) as u64 {
                    let seed = seed.with(purpose::HASHES).with(rows.into()).with(run);
                    let outcome = measure(fate.iter().copied(), &banks, scale.keys.hashes(seed))?;
                    tally = tally.plus(Tally::of(&outcome));
                }
                Ok(tally)
            });
            let tallies = of_rows.collect::<Result<Vec<Tally>, LabError>>();
            progress.step();
            tallies
        });
        let parts: Vec<Vec<Tally>> = parts.collect::<Result<_, LabError>>()?;
        let sum = |place: usize| parts.iter().fold(Tally::default(), |sum, part| sum.plus(part[place]));
        Ok(Case { name, tallies: (0..ROWS.len()).map(sum).collect() })
    }

    fn all(&self) -> Tally {
        self.tallies.iter().fold(Tally::default(), |sum, tally| sum.plus(*tally))
    }

    fn series(&self, colour: usize, value: fn(&Tally) -> f64) -> Series {
        let point = |(rows, tally): (u32, &Tally)| Point {
            x: f64::from(rows),
            y: tally.share(value(tally)),
            low: None,
            high: None,
            runs: tally.intervals as usize,
            missing: (tally.runs - tally.intervals) as usize,
        };
        let points = ROWS.into_iter().zip(&self.tallies).map(point).collect();
        Series { name: self.name.clone(), colour, style: Style::Line, points }
    }

    /// The least and largest share of the runs, in per cent, over the numbers of rows that count.
    fn extremes(&self, rows: impl Fn(u32) -> bool, value: fn(&Tally) -> f64) -> [f64; 2] {
        let counts = ROWS.into_iter().zip(&self.tallies).filter(|(own, _)| rows(*own));
        counts
            .filter_map(|(_, tally)| tally.share(value(tally)))
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], share| [low.min(share), high.max(share)])
    }

    fn claim(&self) -> Claim {
        let all = self.all();
        let share = |of| all.share(of).map_or_else(|| "none".into(), significant);
        Claim {
            by: Source::Target,
            what: format!("intervals that miss the mean without a mark, {}", self.name),
            unit: " %",
            stated: Stated::Below(MOST_UNMARKED),
            measured: self.extremes(|_| true, |tally| tally.unmarked),
            comment: format!(
                "of all intervals {} % lie above the truth and {} % below it; {} % are marked",
                share(all.above),
                share(all.below),
                share(all.marked)
            ),
        }
    }
}

pub(crate) fn run(scale: &Scale, recording: &Fate, progress: &dyn Progress) -> Result<Report, LabError> {
    let seed = Seed::new(scale.seed).with(10);
    let laws = [
        ("exponential", Delay::weibull(MEAN, 1.0)),
        ("lognormal 2", Delay::lognormal(MEAN, 2.0)),
        ("Pareto 2.2", Delay::pareto(MEAN, 2.2)),
    ];
    let mut paths: Vec<(String, Path)> = vec![];
    for (name, law) in laws {
        paths.extend(LOSSES.map(|loss| {
            (format!("{name}, {} % loss", significant(100.0 * loss)), Path::Drawn(law.clone(), loss))
        }));
    }
    paths.push(("full queue".into(), Path::Queue));
    if !recording.is_empty() {
        paths.push(("recording".into(), Path::Recording(recording)));
    }
    let runs = scale.runs * MORE_RUNS;
    progress.expect((paths.len() * runs.div_ceil(RUNS_A_TRACE)) as u64);
    let mut cases = vec![];
    for ((name, path), number) in paths.into_iter().zip(0..) {
        cases.push(Case::new(name, &path, seed.with(number), scale, progress)?);
    }
    let figure = |name, title, label, value: fn(&Tally) -> f64| Figure {
        name,
        title,
        x: Axis::logarithmic("rows of the bank"),
        y: Axis::linear(label),
        series: cases.iter().enumerate().map(|(colour, case)| case.series(colour, value)).collect(),
    };
    let usable = |place: usize| {
        let all = cases.iter().fold(Tally::default(), |sum, case| sum.plus(case.tallies[place]));
        significant(all.usable / all.runs)
    };
    let mut claims: Vec<Claim> = cases.iter().map(Case::claim).collect();
    claims.extend(cases.iter().filter(|case| case.name == "full queue").map(|case| {
        let all = case.all();
        Claim {
            by: Source::Target,
            what: "average error of the mean in standard errors, full queue".into(),
            unit: "",
            stated: Stated::Between(-0.1, 0.1),
            measured: [all.errors / all.intervals; 2],
            comment: format!(
                "whole rows are no chance sample if this is not zero, ± {}",
                significant(all.intervals.sqrt().recip())
            ),
        }
    }));
    claims.extend(cases.iter().filter(|case| case.name.starts_with("exponential")).map(|case| Claim {
        by: Source::Target,
        what: format!("marked intervals, {ENOUGH_ROWS} rows and more, {}", case.name),
        unit: " %",
        stated: Stated::Below(5.0),
        measured: case.extremes(|rows| rows >= ENOUGH_ROWS, |tally| tally.marked),
        comment: String::new(),
    }));
    Ok(Report {
        title: "The mean's interval under heavy tails, with few rows and behind a full queue (figure 10)",
        text: format!(
            "{} packets, one bank tuned to the loss, {runs} runs a point, new packets every {RUNS_A_TRACE} runs. Of its rows {} \
             are usable on average. The queue drops a fifth of bursty sessions' packets, and one packet in 100 behind it takes three \
             times as long. Runs without an interval are missing: they have fewer than two usable rows, or all packets.",
            scale.packets / FEWER_PACKETS,
            (0..ROWS.len())
                .map(|place| format!("{} of {}", usable(place), ROWS[place]))
                .collect::<Vec<_>>()
                .join(", "),
        ),
        figures: vec![
            figure(
                "10a",
                "intervals of the mean that hold, 95 % stated",
                "intervals that hold the true mean (%)",
                |tally| tally.intervals - tally.above - tally.below,
            ),
            figure("10b", "intervals that are marked", "marked intervals (%)", |tally| tally.marked),
            figure("10c", "intervals that miss without a mark", "missed and not marked (%)", |tally| {
                tally.unmarked
            }),
        ],
        claims,
    })
}
