//! Figure 8: how often the confidence intervals hold the true mean.
//!
//! One bank of 64 to 1024 rows is tuned to losses of 0.1 to 20 %, for all delay laws. That leaves between a dozen
//! and a thousand usable rows, with about two packets a row at the heaviest loss and hundreds at the lightest,
//! where all packets are sampled. A cell of this grid is one combination. New packets are drawn every few runs.
//!
//! # Test plan
//!
//! At a reduced scale, with delays without a heavy tail: coverage within four standard deviations of the level.

use crate::banks::Banks;
use crate::figure::{Axis, Claim, Figure, Point, Series, Source, Stated, Style};
use crate::keys::Keys;
use crate::outcome::{Outcome, measure};
use crate::traffic::{MEAN, Pattern, interval, laws, purpose};
use crate::{LabError, Progress, Report, Scale};
use deltaline_estimate::Confidence;
use deltaline_traffic::delay::Delay;
use deltaline_traffic::random::Seed;
use rayon::prelude::*;

const ROWS: [u32; 5] = [64, 128, 256, 512, 1024];
const LOSSES: [f64; 4] = [0.001, 0.01, 0.05, 0.2];
const LEVELS: [f64; 2] = [0.95, 0.98];
/// The interval of 5 million packets of other experiments is divided by this: 20,000.
const FEWER_PACKETS: usize = 250;
/// Runs here for each run elsewhere.
const MORE_RUNS: usize = 400;
/// Runs that share the same packets.
const RUNS_A_TRACE: usize = 100;
/// Usable rows from which on the intervals have their stated coverage.
pub(crate) const LEAST_ROWS: f64 = 32.0;

/// One cell of the grid.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// Runs with an interval.
    intervals: f64,
    /// Intervals that hold the true mean, at each level.
    held: [f64; 2],
    /// Usable rows, in all intervals together.
    rows: f64,
    /// Usable rows of an interval, over all laws: they do not depend on delays.
    place: f64,
}

impl Cell {
    fn add(&mut self, outcome: &Outcome, levels: &[Confidence; 2]) {
        let Ok(mean) = outcome.estimate.mean else { return };
        let ranges = levels.map(|level| mean.range(level));
        let [Ok(first), Ok(second)] = ranges else { return };
        self.intervals += 1.0;
        self.rows += outcome.estimate.usable_rows as f64;
        for (held, range) in self.held.iter_mut().zip([first, second]) {
            *held += f64::from(u8::from((range.lower..=range.upper).contains(&outcome.truth.mean)));
        }
    }

    fn plus(self, other: Cell) -> Cell {
        Cell {
            intervals: self.intervals + other.intervals,
            held: [self.held[0] + other.held[0], self.held[1] + other.held[1]],
            rows: self.rows + other.rows,
            place: 0.0,
        }
    }

    fn point(&self, level: usize) -> Point {
        let share = self.held[level] / self.intervals;
        let deviation = (share * (1.0 - share) / self.intervals).sqrt();
        let runs = self.intervals as usize;
        Point { runs, ..Point::range(self.place, 100.0 * share, 200.0 * deviation) }
    }
}

/// The runs over one trace.
fn trace(
    law: &Delay,
    loss: f64,
    banks: &Banks,
    packets: usize,
    runs: usize,
    levels: &[Confidence; 2],
    (keys, seed): (Keys, Seed),
) -> Result<Cell, LabError> {
    let delays = interval(law, packets, seed.with(purpose::DELAYS));
    let losses = Pattern::Uniform.losses(loss, seed.with(purpose::LOSSES));
    let fate: Vec<Option<u32>> =
        delays.iter().zip(losses).map(|(&delay, lost)| (!lost).then_some(delay)).collect();
    let mut cell = Cell::default();
    for run in 0..runs as u64 {
        let hashes = keys.hashes(seed.with(purpose::HASHES).with(run));
        cell.add(&measure(fate.iter().copied(), banks, hashes)?, levels);
    }
    Ok(cell)
}

pub(crate) fn run(scale: &Scale, progress: &dyn Progress) -> Result<Report, LabError> {
    let seed = Seed::new(scale.seed).with(8);
    let jitter = ("jitter", Delay::Jitter { base: MEAN, jitter: MEAN / 2.0 });
    let laws: Vec<(&str, Delay)> = laws().into_iter().chain([jitter]).collect();
    let (packets, runs) = (scale.packets / FEWER_PACKETS, scale.runs * MORE_RUNS);
    let traces = runs.div_ceil(RUNS_A_TRACE);
    progress.expect((laws.len() * ROWS.len() * LOSSES.len() * traces) as u64);
    let levels = [Confidence::new(LEVELS[0])?, Confidence::new(LEVELS[1])?];
    let mut cells = vec![];
    for ((_, law), law_number) in laws.iter().zip(0..) {
        let mut of_law = vec![];
        for (rows, row_number) in ROWS.into_iter().zip(0..) {
            for (loss, loss_number) in LOSSES.into_iter().zip(0..) {
                let seed = seed.with(law_number).with(row_number).with(loss_number);
                let banks = Banks::tuned(rows, &[loss], packets);
                let parts = (0..traces as u64).into_par_iter().map(|number| {
                    let runs = RUNS_A_TRACE.min(runs - number as usize * RUNS_A_TRACE);
                    let cell =
                        trace(law, loss, &banks, packets, runs, &levels, (scale.keys, seed.with(number)));
                    progress.step();
                    cell
                });
                let parts: Vec<Cell> = parts.collect::<Result<_, LabError>>()?;
                of_law.push(parts.into_iter().fold(Cell::default(), Cell::plus));
            }
        }
        cells.push(of_law);
    }
    for number in 0..ROWS.len() * LOSSES.len() {
        let all = cells.iter().fold(Cell::default(), |sum, of_law| sum.plus(of_law[number]));
        cells.iter_mut().for_each(|of_law| of_law[number].place = all.rows / all.intervals);
    }
    for of_law in &mut cells {
        of_law.retain(|cell| cell.intervals > 0.0);
        of_law.sort_by(|a, b| a.place.total_cmp(&b.place));
    }
    let figure = |name, title, level: usize| {
        let series = laws.iter().zip(&cells).enumerate().map(|(colour, ((law, _), cells))| Series {
            name: (*law).into(),
            colour,
            style: Style::Line,
            points: cells.iter().map(|cell| cell.point(level)).collect(),
        });
        Figure {
            name,
            title,
            x: Axis::logarithmic("usable rows"),
            y: Axis::linear("intervals that hold the true mean (%)"),
            series: series.collect(),
        }
    };
    let claim = |law: usize, level: usize| {
        let points = cells[law].iter().map(|cell| cell.point(level)).filter(|point| point.x >= LEAST_ROWS);
        let nominal = 100.0 * LEVELS[level];
        Claim {
            by: Source::Target,
            what: format!("coverage at {nominal} %, 32 usable rows and more, {}", laws[law].0),
            unit: " %",
            stated: Stated::Between(nominal - 2.0, (nominal + 2.0).min(100.0)),
            measured: points
                .filter_map(|point| point.y)
                .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], y| [low.min(y), high.max(y)]),
            comment: String::new(),
        }
    };
    Ok(Report {
        title: "Coverage of the confidence intervals of the mean (figure 8)",
        text: format!(
            "One bank of 64, 128, 256, 512 or 1024 rows, tuned to 0.1, 1, 5 or 20 % loss, {packets} packets, {runs} \
             runs for each combination, new packets every {RUNS_A_TRACE} runs: a standard error of {:.2} points at \
             95 %.",
            100.0 * (0.95 * 0.05 / runs as f64).sqrt()
        ),
        figures: vec![
            figure("8a", "coverage of the 95 % interval", 0),
            figure("8b", "coverage of the 98 % interval", 1),
        ],
        claims: (0..laws.len()).flat_map(|law| [claim(law, 0), claim(law, 1)]).collect(),
    })
}
