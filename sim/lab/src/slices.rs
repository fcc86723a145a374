//! Figure 15: slices and an LDA of as many bits, each alone and both together.
//!
//! Packets are sent at random times and arrive in their order: with delays that drift by a random walk around their mean, or
//! that are drawn anew for each packet and wait for the one ahead, or behind a queue that drops its tail. Losses are single
//! or in bursts of a hundred; packets that start slices may be lost more often than others; some may be overtaken. The LDA
//! has 1024 rows in one bank, with the prefix length nearest to the best for the losses of the run; the slices have 512
//! records, which are as many bits. Both together are the same two tables behind one hash, weighted by what each says of its
//! own error.
//!
//! A bracket is wrong where the true mean lies outside it. Quantiles are those of boundary packets, compared by rank: what
//! share of all delays lies below what is said to be the p-quantile, less p.
//!
//! # Test plan
//!
//! At a hundredth of the packets: no bracket is wrong where order is kept; where slices are far better than rows, and where rows
//! are better than slices, both together are as good as the better one, within what chance does; quantiles have the rank errors of theory.

use crate::figure::{Axis, Claim, Figure, Point, Series, Source, Stated, Style, significant};
use crate::path::{Distribution, Law, Path, Run};
use crate::tables::{cells, of_cells, records, sums};
use crate::traffic::{Pattern, purpose};
use crate::{LabError, Progress, Report, Scale};
use deltaline_estimate::slices::{Sliced, together};
use deltaline_estimate::{Confidence, Estimate, Quantile, Reason, Stratified, Uncertainty, quantile};
use deltaline_model::sketch::sampler::{MAX_PREFIX, Prefixes};
use deltaline_model::sketch::slices::RECORD_CELLS;
use deltaline_traffic::random::Seed;
use rayon::prelude::*;

/// Rows of the LDA; slices have half as many records.
const ROWS: usize = 1024;
/// The interval of other experiments is divided by this.
const FEWER_PACKETS: usize = 25;
/// Runs here for each run elsewhere.
const MORE_RUNS: usize = 10;
/// Ways are compared in the runs in which all have a mean, if these are one in so many.
const LEAST_COMMON: usize = 10;
/// Packets a second.
const RATES: [(f64, &str); 3] = [(1e5, "10^5"), (1e6, "10^6"), (1e7, "10^7")];
/// Spreads of delay in nanoseconds.
const JITTERS: [f64; 5] = [5e3, 20e3, 100e3, 300e3, 1e6];
/// Where the last two apply: nearer by so much, from so much jitter on.
const FAR: (f64, f64) = (10.0, 100e3);
/// Records of the tables that quantiles come from, and how many of them are used on average.
const SAMPLE: (usize, usize) = (1024, 960);
/// Quantiles, and the largest root mean square of their rank errors.
const QUANTILES: [(f64, &str, f64); 4] =
    [(0.5, "p50", 0.017), (0.9, "p90", 0.011), (0.99, "p99", 0.0045), (0.999, "p99.9", 0.002)];

/// The ways to measure.
const WAYS: [&str; 3] = ["LDA", "slices", "both"];

/// What came of one way in all runs of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    runs: usize,
    means: usize,
    /// Sum of squares of relative errors.
    squares: f64,
    /// Intervals that are not exact, and those that hold.
    intervals: usize,
    hold: usize,
    brackets: usize,
    wrong: usize,
}

impl Tally {
    fn add(&mut self, estimate: &Estimate, truth: f64) {
        self.runs += 1;
        if let Ok(bracket) = estimate.bracket {
            self.brackets += 1;
            let rounding = 1e-6 + 1e-12 * truth;
            let is_within = bracket.lower <= truth + rounding && truth <= bracket.upper + rounding;
            self.wrong += usize::from(!is_within);
        }
        let Ok(mean) = estimate.mean else { return };
        self.means += 1;
        self.squares += (mean.within_bounds() / truth - 1.0).powi(2);
        if let (Uncertainty::Sampled { .. }, Ok(range)) = (mean.uncertainty, mean.range(Confidence::P95)) {
            self.intervals += 1;
            self.hold += usize::from(range.lower <= truth && truth <= range.upper);
        }
    }

    fn plus(self, other: Tally) -> Tally {
        Tally {
            runs: self.runs + other.runs,
            means: self.means + other.means,
            squares: self.squares + other.squares,
            intervals: self.intervals + other.intervals,
            hold: self.hold + other.hold,
            brackets: self.brackets + other.brackets,
            wrong: self.wrong + other.wrong,
        }
    }

    /// Root mean square of the relative error; none where there never was a mean.
    fn error(&self) -> Option<f64> {
        (self.means > 0).then(|| (self.squares / self.means as f64).sqrt())
    }

    /// Intervals that hold, in per cent.
    fn coverage(&self) -> Option<f64> {
        (self.intervals > 0).then(|| 100.0 * self.hold as f64 / self.intervals as f64)
    }
}

/// All runs of a path.
struct Case {
    name: String,
    path: Path,
    /// By [`WAYS`].
    tallies: [Tally; 3],
    /// The same of the runs in which each of them has a mean.
    common: [Tally; 3],
}

/// The prefix length with which a bank of `rows` rows shows most where `lost` of `packets` packets are lost.
pub(crate) fn tuned(rows: usize, lost: usize, packets: usize) -> u8 {
    // Half a lost packet a row; but no more packets than it takes to fill all.
    let share = (rows as f64 / 2.0 / (lost + 1) as f64).min(1.0);
    let longest = (packets as f64 / rows as f64).max(1.0).log2().floor() as u8;
    ((-share.log2()).round() as u8).min(longest).min(MAX_PREFIX)
}

/// What an LDA of so many rows, tuned to the losses of a run, and a table of slices in as many bits say of it.
pub(crate) fn measured(run: &Run, rows: usize) -> Result<(Estimate, Sliced), LabError> {
    let prefixes = Prefixes::new(&[tuned(rows, run.lost(), run.sent.len())])?;
    let sums = sums(run);
    let lda = of_cells(&cells(run, &prefixes, rows, false), &prefixes, &sums)?;
    Ok((lda, sliced(run, rows, 0, usize::MAX)?))
}

/// What a table of slices as large as `rows` rows says of a run, with as many records as make it full; cut as [`records`] says.
pub(crate) fn sliced(run: &Run, rows: usize, prefix: u8, room: usize) -> Result<Sliced, LabError> {
    let [sender, receiver] = records(run, rows, prefix)?;
    Ok(Sliced::of(&sender, &receiver, &sums(run), room))
}

fn estimates(run: &Run) -> Result<[Estimate; 3], LabError> {
    let (lda, Sliced { estimate, .. }) = measured(run, ROWS)?;
    Ok([lda, estimate, together(lda, &estimate)])
}

impl Case {
    fn new(
        (name, path): (String, Path),
        seed: Seed,
        scale: &Scale,
        progress: &dyn Progress,
    ) -> Result<Self, LabError> {
        let packets = scale.packets / FEWER_PACKETS;
        let runs = (0..(scale.runs * MORE_RUNS) as u64).into_par_iter().map(|number| {
            let run = Run::new(&path, packets, seed.with(number));
            progress.step();
            let mut tallies = [[Tally::default(); 3]; 2];
            if run.delays().next().is_some() {
                let truth = run.mean();
                let found = estimates(&run)?;
                let is_common = found.iter().all(|estimate| estimate.mean.is_ok());
                for tallies in tallies.iter_mut().take(1 + usize::from(is_common)) {
                    tallies.iter_mut().zip(&found).for_each(|(tally, estimate)| tally.add(estimate, truth));
                }
            }
            Ok(tallies)
        });
        let runs: Vec<[[Tally; 3]; 2]> = runs.collect::<Result<_, LabError>>()?;
        let sum = |common: usize| {
            [0, 1, 2].map(|way| runs.iter().fold(Tally::default(), |sum, run| sum.plus(run[common][way])))
        };
        Ok(Case { name, path, tallies: sum(0), common: sum(1) })
    }

    fn keeps_order(&self) -> bool {
        self.path.overtaken == 0.0
    }

    /// The error of both over that of the better one, of the runs in which each has a mean; if slices hardly ever have one, over that of
    /// the LDA.
    fn loss_of_both(&self) -> Option<f64> {
        // Fewer runs show whose error is smaller by chance alone.
        let are_common = self.common[1].means * LEAST_COMMON >= self.tallies[1].runs;
        let ways = if are_common { self.common } else { self.tallies };
        let [lda, slices, both] = ways.map(|tally| tally.error());
        let best = [lda, slices.filter(|_| are_common)].into_iter().flatten().fold(f64::INFINITY, f64::min);
        both.filter(|_| best > 0.0 && best.is_finite()).map(|both| both / best)
    }

    fn gain(&self) -> Option<f64> {
        let [lda, slices, _] = self.tallies.map(|tally| tally.error());
        lda.zip(slices).map(|(lda, slices)| lda / slices)
    }

    fn is_far(&self) -> bool {
        let jitter = match self.path.law {
            Law::Correlated(jitter) | Law::Weibull(jitter) => jitter,
            Law::Queue(_) => 0.0,
        };
        jitter >= FAR.1 && self.path.rate == 1e7
    }

    fn row(&self) -> String {
        let text = |value: Option<f64>| value.map_or_else(|| "none".into(), significant);
        let [lda, slices, both] = self.tallies;
        let mut row = format!("| {} |", self.name);
        for tally in [lda, slices, both] {
            row += &format!(" {} |", text(tally.error().map(|error| 1e6 * error)));
        }
        row += &format!(" {} |", text(self.loss_of_both()));
        for tally in [lda, slices, both] {
            row += &format!(" {} |", text(tally.coverage()));
        }
        row + &format!(" {} |\n", slices.runs - slices.means)
    }
}

/// The paths of the grid, and those beside it.
fn paths() -> Vec<(String, Path)> {
    let mut paths = vec![];
    for (rate, name) in RATES {
        for jitter in JITTERS {
            let micros = significant(jitter / 1e3);
            for (law, kind) in [(Law::Correlated(jitter), "walk"), (Law::Weibull(jitter), "Weibull")] {
                for (pattern, losses) in [(Pattern::Uniform, "single"), (Pattern::Bursts, "bursts")] {
                    let path = Path { loss: 0.01, pattern, ..Path::new(law, rate) };
                    paths.push((format!("{kind} {micros} µs, {name}/s, 1 % {losses}"), path));
                }
            }
        }
    }
    let base = Path::new(Law::Correlated(100e3), 1e6);
    for (loss, pattern, name) in [
        (1e-4, Pattern::Uniform, "0.01 % single"),
        (1e-3, Pattern::Uniform, "0.1 % single"),
        (1e-3, Pattern::Bursts, "0.1 % bursts"),
        (0.2, Pattern::Uniform, "20 % single"),
        (0.2, Pattern::Bursts, "20 % bursts"),
    ] {
        paths.push((format!("walk 100 µs, 10^6/s, {name}"), Path { loss, pattern, ..base }));
    }
    for (load, rate, name) in
        [(0.98, 1e6, "10^6"), (1.05, 1e6, "10^6"), (1.33, 1e6, "10^6"), (1.05, 1e7, "10^7")]
    {
        paths.push((format!("queue, load {load}, {name}/s"), Path::new(Law::Queue(load), rate)));
    }
    let lossy = Path { loss: 0.01, ..base };
    for overtaken in [0.0001, 0.001, 0.01, 0.05] {
        let name = format!("walk 100 µs, 10^6/s, 1 % single, {} % overtaken", significant(100.0 * overtaken));
        paths.push((name, Path { overtaken, ..lossy }));
    }
    for boundaries_lost in [0.1, 0.5] {
        let name =
            format!("the same in order, {} % of boundaries lost", significant(100.0 * boundaries_lost));
        paths.push((name, Path { boundaries_lost, ..lossy }));
    }
    paths
}

/// Rank errors and coverage of one quantile in all runs.
#[derive(Clone, Copy, Default)]
struct Ranks {
    squares: f64,
    values: usize,
    runs: usize,
    /// Runs in which the quantile is reported, and those whose interval holds it.
    intervals: usize,
    hold: usize,
}

/// Quantiles of many runs, with about as many records used as there may be.
fn quantiles(seed: Seed, scale: &Scale, progress: &dyn Progress) -> Result<[Ranks; 4], LabError> {
    let (room, used) = SAMPLE;
    let prefix = (scale.packets / FEWER_PACKETS / used).max(2).ilog2() as u8;
    let packets = used << prefix;
    let path = Path { loss: 0.01, ..Path::new(Law::Correlated(100e3), 1e6) };
    let laws = [path, Path { law: Law::Weibull(100e3), ..path }];
    let runs = (0..(scale.runs * MORE_RUNS * 4) as u64).into_par_iter().map(|number| {
        let run = Run::new(&laws[number as usize % laws.len()], packets, seed.with(number));
        progress.step();
        let sliced = sliced(&run, room * RECORD_CELLS, prefix, room)?;
        let delays = Distribution::of(&run);
        let mut sample = sliced.singles.delays().to_vec();
        sample.sort_unstable();
        let mut all = [Ranks::default(); 4];
        for ((p, ..), ranks) in QUANTILES.into_iter().zip(&mut all) {
            ranks.runs = 1;
            let place = ((p * sample.len() as f64).ceil() as usize).saturating_sub(1);
            let Some(delay) = sample.get(place) else { continue };
            ranks.values = 1;
            ranks.squares = delays.rank_error(p, *delay as f64).powi(2);
            let found: Result<Stratified<Quantile>, Reason> =
                quantile(&[&sliced.singles], p, Confidence::P95);
            if let Ok(Stratified { value: Quantile { range, .. }, .. }) = found {
                ranks.intervals = 1;
                ranks.hold =
                    usize::from(delays.ranks(range.lower)[0] <= p && p <= delays.ranks(range.upper)[1]);
            }
        }
        Ok(all)
    });
    let runs: Vec<[Ranks; 4]> = runs.collect::<Result<_, LabError>>()?;
    let mut sums = [Ranks::default(); 4];
    for run in runs {
        for (sum, ranks) in sums.iter_mut().zip(run) {
            sum.squares += ranks.squares;
            sum.values += ranks.values;
            sum.runs += ranks.runs;
            sum.intervals += ranks.intervals;
            sum.hold += ranks.hold;
        }
    }
    Ok(sums)
}

/// Least and largest of some values.
fn extremes(values: impl Iterator<Item = f64>) -> [f64; 2] {
    values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| [low.min(value), high.max(value)])
}

fn target(what: String, unit: &'static str, stated: Stated, measured: [f64; 2], comment: String) -> Claim {
    Claim { by: Source::Target, what, unit, stated, measured, comment }
}

fn claims(cases: &[Case], ranks: &[Ranks; 4]) -> Vec<Claim> {
    let worst = cases
        .iter()
        .filter_map(|case| case.loss_of_both().map(|ratio| (ratio, case)))
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map_or_else(String::new, |(_, case)| format!("the largest: {}", case.name));
    let mut claims: Vec<Claim> = ["single", "bursts"]
        .into_iter()
        .map(|losses| {
            let far = || cases.iter().filter(|case| case.is_far() && case.name.ends_with(losses));
            let least = far()
                .filter_map(|case| case.gain().map(|gain| (gain, case)))
                .min_by(|(a, _), (b, _)| a.total_cmp(b))
                .map_or_else(String::new, |(_, case)| format!("the least: {}", case.name));
            target(
                format!("error of the LDA over that of slices, 100 µs and more, 10^7 packets a second, losses {losses}"),
                "",
                Stated::Above(FAR.0),
                extremes(far().filter_map(Case::gain)),
                least,
            )
        })
        .collect();
    claims.push(target(
        "error of both over that of the better one".into(),
        "",
        Stated::Below(1.2),
        extremes(cases.iter().filter_map(Case::loss_of_both)),
        worst,
    ));
    for (way, name) in WAYS.into_iter().enumerate() {
        let all = cases.iter().fold(Tally::default(), |sum, case| sum.plus(case.tallies[way]));
        let share = all.coverage().unwrap_or(f64::NAN);
        claims.push(target(
            format!("95 % intervals that hold, {name}, all paths"),
            " %",
            Stated::Between(93.0, 97.0),
            [share; 2],
            format!("of {} intervals", all.intervals),
        ));
    }
    let ordered = cases.iter().filter(|case| case.keeps_order());
    let all = ordered.fold(Tally::default(), |sum, case| sum.plus(case.tallies[1]));
    claims.push(target(
        "brackets of slices that do not hold, paths that keep order".into(),
        "",
        Stated::Below(0.0),
        [all.wrong as f64; 2],
        format!("of {}", all.brackets),
    ));
    for ((_, name, most), ranks) in QUANTILES.into_iter().zip(ranks) {
        // Nothing measured is nothing that holds.
        let error = match ranks.values {
            0 => f64::INFINITY,
            values => (ranks.squares / values as f64).sqrt(),
        };
        claims.push(target(
            format!("rank error of {name}, root mean square, some {} records", SAMPLE.1),
            "",
            Stated::Below(most),
            [error; 2],
            format!(
                "of {} runs; {} of {} intervals hold; tables that were full have none",
                ranks.values, ranks.hold, ranks.intervals
            ),
        ));
    }
    claims
}

fn figure(name: &'static str, title: &'static str, rate: f64, cases: &[Case]) -> Figure {
    let series = |way: usize, pattern: &'static str| {
        let point = |case: &Case| {
            let Law::Correlated(jitter) = case.path.law else { return None };
            let tally = case.tallies[way];
            let is_it = case.path.rate == rate && case.name.ends_with(&format!("1 % {pattern}"));
            is_it.then(|| Point {
                x: jitter / 1e3,
                y: tally.error(),
                low: None,
                high: None,
                runs: tally.means,
                missing: tally.runs - tally.means,
            })
        };
        Series {
            name: format!("{}, {pattern}", WAYS[way]),
            colour: way,
            style: if pattern == "single" { Style::Line } else { Style::Dashed },
            points: cases.iter().filter_map(point).collect(),
        }
    };
    let all = (0..WAYS.len()).flat_map(|way| ["single", "bursts"].map(|pattern| series(way, pattern)));
    Figure {
        name,
        title,
        x: Axis::logarithmic("standard deviation of delays that drift (µs)"),
        y: Axis::logarithmic("root mean square of the mean's relative error"),
        series: all.collect(),
    }
}

pub(crate) fn run(scale: &Scale, progress: &dyn Progress) -> Result<Report, LabError> {
    let seed = Seed::new(scale.seed).with(12);
    let (paths, runs) = (paths(), scale.runs * MORE_RUNS);
    progress.expect((paths.len() * runs + 4 * runs) as u64);
    let mut cases = vec![];
    for (path, number) in paths.into_iter().zip(0..) {
        cases.push(Case::new(path, seed.with(number), scale, progress)?);
    }
    let ranks = quantiles(seed.with(purpose::PLACE).with(1), scale, progress)?;
    let mut table = String::from(
        "| path | LDA | slices | both | both / better | LDA holds % | slices hold % | both hold % | no slices |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    cases.iter().for_each(|case| table += &case.row());
    Ok(Report {
        title: "Slices, an LDA of as many bits, and both (figure 15)",
        text: format!(
            "{} packets, {runs} runs a path, each with packets of its own. An LDA with one bank of {ROWS} rows, tuned to the run's losses; \
             slices of {} records, as many bits; both tables together. Errors of the mean are root mean squares in millionths of the \
             true mean; a way that never has a mean has none, and the last column counts runs in which slices gave none. Both are compared with the \
             better one in the runs in which each has a mean. Delays drift \
             (walk) or are drawn for each packet and keep their order (Weibull 0.7); bursts are of 100 packets; the queue has room for \
             500. Where packets are overtaken, it is by some five on average.\n\n{table}",
            scale.packets / FEWER_PACKETS,
            ROWS / RECORD_CELLS,
        ),
        figures: vec![
            figure("15a", "error of the mean, 10^5 packets a second", 1e5, &cases),
            figure("15b", "error of the mean, 10^6 packets a second", 1e6, &cases),
            figure("15c", "error of the mean, 10^7 packets a second", 1e7, &cases),
        ],
        claims: claims(&cases, &ranks),
    })
}
