//! Figure 4: one bank of 1024 rows, tuned to the loss.
//!
//! # Test plan
//!
//! At a tenth of the packets: errors are those that the effective samples allow, samples are those that theory
//! gives, and the paper's and our standard deviation have the errors of theory.

use crate::banks::{ALPHA, Banks};
use crate::figure::{Axis, Claim, Figure, Point, Series, Source, Stated, Style};
use crate::outcome::{Moments, Outcome};
use crate::traffic::{LOSS_AXIS, LOSSES, MEAN, Pattern, interval, laws, purpose, sweep};
use crate::{LabError, Progress, Report, Scale};
use deltaline_estimate::{Confidence, hoeffding_half_width, prefixes_for_loss};
use deltaline_traffic::delay::Delay;
use deltaline_traffic::random::Seed;

/// Counters of the bank.
const COUNTERS: u32 = 1024;
/// Traces for the paper's statements about 6 % loss.
const TRACES: u64 = 10;
/// The loss of those statements.
const TRACES_LOSS: f64 = 0.06;
/// The largest loss for which the paper gives an error.
const LARGEST_LOSS: f64 = 0.2;
/// Runs that figure 4b shows.
const SHOWN: usize = 5;

/// All runs of one delay law, by loss and run.
struct Law {
    name: &'static str,
    outcomes: Vec<Vec<Outcome>>,
    /// By loss: the average error of the deviation of equally many packets, drawn at random, with known delays.
    known: Vec<f64>,
}

impl Law {
    fn is_weibull(&self) -> bool {
        self.name.starts_with("Weibull")
    }

    /// The averages over the runs, by loss.
    fn points(&self, value: impl Fn(&Outcome) -> Option<f64>) -> Vec<Point> {
        let places = LOSSES.iter().zip(&self.outcomes);
        places.map(|(&loss, runs)| Point::average(loss, runs.iter().map(&value))).collect()
    }
}

pub(crate) fn run(scale: &Scale, progress: &dyn Progress) -> Result<Report, LabError> {
    let seed = Seed::new(scale.seed).with(4);
    let all = laws();
    progress.expect((all.len() * LOSSES.len() * scale.runs) as u64 + 3 * TRACES * scale.runs as u64);
    let tuned = |loss| Ok(Banks::tuned(COUNTERS, &[loss], scale.packets));
    let mut measured = vec![];
    for ((name, law), number) in all.into_iter().zip(0..) {
        let seed = seed.with(number);
        let delays = interval(&law, scale.packets, seed.with(purpose::DELAYS));
        let outcomes = sweep(&delays, Pattern::Uniform, &tuned, seed, scale, progress)?;
        let known =
            outcomes.iter().zip(0..).map(|(runs, place)| known(&delays, runs, seed.with(200 + place)));
        measured.push(Law { name, known: known.collect(), outcomes });
    }
    let paper = |loss| Banks::tuned(COUNTERS, &[loss], scale.packets);
    let lost = (LARGEST_LOSS * scale.packets as f64).round() as u64;
    let ours = prefixes_for_loss(1, COUNTERS as usize, scale.packets as u64, lost)?;
    let ours = Banks::of_prefixes(COUNTERS, &ours);
    let traces = |loss, banks: &Banks, number| traces(seed.with(number), loss, banks, scale, progress);
    let traces = Traces {
        at_six: traces(TRACES_LOSS, &paper(TRACES_LOSS), 100)?,
        at_largest: traces(LARGEST_LOSS, &paper(LARGEST_LOSS), 101)?,
        ours_at_largest: traces(LARGEST_LOSS, &ours, 101)?,
    };
    Ok(Report {
        title: "Known loss: one bank of 1024 counters, tuned (figure 4)",
        text: format!(
            "{} packets with a mean delay of 0.2 µs, independent losses; p = 0.5 · 1024 / (L + 1). Averages of {} \
             runs with other hashes over the same packets. The mean's estimate is the paper's. For its interval and \
             the standard deviation, both the paper's and our estimates are shown.",
            scale.packets, scale.runs
        ),
        figures: vec![mean_error(&measured), estimates(&measured), deviation_error(&measured)],
        claims: claims(&measured, &traces, scale),
    })
}

/// The average error of the standard deviation of randomly drawn delays, as many as the runs had samples.
fn known(delays: &[u32], runs: &[Outcome], seed: Seed) -> f64 {
    let errors = runs.iter().zip(0..).map(|(run, number)| {
        let (mut random, mut sample) = (seed.with(number).random(), Moments::default());
        let share = run.samples() / delays.len() as f64;
        let mut place = random.failures(share);
        while let Some(&delay) = delays.get(place as usize) {
            sample.add(Some(delay));
            place = place.saturating_add(1).saturating_add(random.failures(share));
        }
        (sample.truth().deviation / run.truth.deviation - 1.0).abs()
    });
    errors.sum::<f64>() / runs.len() as f64
}

/// Outcomes over several traces of the worst law, by trace.
struct Traces {
    /// At 6 % loss, one bank tuned as in the paper.
    at_six: Vec<Outcome>,
    /// At the largest loss.
    at_largest: Vec<Outcome>,
    /// At the largest loss, one bank with the prefix length that the product chooses for it.
    ours_at_largest: Vec<Outcome>,
}

fn traces(
    seed: Seed,
    loss: f64,
    banks: &Banks,
    scale: &Scale,
    progress: &dyn Progress,
) -> Result<Vec<Outcome>, LabError> {
    let law = Delay::weibull(MEAN, 0.6);
    let mut outcomes = vec![];
    for trace in 0..TRACES {
        let seed = seed.with(trace);
        let delays = interval(&law, scale.packets, seed.with(purpose::DELAYS));
        outcomes.extend(crate::traffic::runs(&delays, Pattern::Uniform, loss, banks, seed, scale, progress)?);
    }
    Ok(outcomes)
}

/// The average error of the mean, and the error to be expected from the samples.
fn average_error(outcomes: &[Outcome]) -> [f64; 2] {
    let errors: Vec<f64> = outcomes.iter().filter_map(Outcome::mean_error).collect();
    let expected = outcomes.iter().map(|each| {
        let truth = &each.truth;
        let share = 1.0 - each.samples() / truth.received as f64;
        (std::f64::consts::FRAC_2_PI * share / each.samples()).sqrt() * truth.deviation / truth.mean
    });
    [errors.iter().sum::<f64>() / errors.len() as f64, expected.sum::<f64>() / outcomes.len() as f64]
}

fn mean_error(laws: &[Law]) -> Figure {
    let series = laws.iter().enumerate().map(|(colour, law)| Series {
        name: law.name.into(),
        colour,
        style: if law.is_weibull() { Style::Line } else { Style::Dashed },
        points: law.points(Outcome::mean_error),
    });
    Figure {
        name: "4a",
        title: "relative error of the mean, one tuned bank",
        x: LOSS_AXIS,
        y: Axis::logarithmic("average relative error of the mean"),
        series: series.collect(),
    }
}

/// Half of the paper's interval of the mean at 98 %, from the true standard deviation as in the paper.
fn paper_half_width(outcome: &Outcome) -> Option<f64> {
    let confidence = Confidence::new(0.98).ok()?;
    hoeffding_half_width(outcome.truth.deviation, outcome.estimate.effective_samples, confidence).ok()
}

/// Half of our interval of the mean at 98 %.
fn half_width(outcome: &Outcome) -> Option<f64> {
    outcome.estimate.mean.ok()?.half_width(Confidence::new(0.98).ok()?).ok()
}

/// The largest of the runs' half-widths.
fn widest(runs: &[Outcome], half: fn(&Outcome) -> Option<f64>) -> Option<f64> {
    runs.iter().filter_map(half).max_by(f64::total_cmp)
}

/// Estimates and intervals of the first law, which is the one with the largest errors.
fn estimates(laws: &[Law]) -> Figure {
    let outcomes: &[Vec<Outcome>] = laws.first().map_or(&[], |law| &law.outcomes);
    let places = || LOSSES.iter().zip(outcomes);
    let band = |name: &str, colour, half: fn(&Outcome) -> Option<f64>| {
        let point = |(&loss, runs): (&f64, &Vec<Outcome>)| {
            Some(Point::range(loss, runs.first()?.truth.mean / 1e3, widest(runs, half)? / 1e3))
        };
        Series { name: name.into(), colour, style: Style::Band, points: places().filter_map(point).collect() }
    };
    let run = |number: usize| {
        let estimate = |outcome: &Outcome| Some(outcome.estimate.mean.ok()?.nanoseconds / 1e3);
        let points =
            places().map(|(&loss, runs)| Point::average(loss, runs.get(number).map(estimate).into_iter()));
        Series {
            name: format!("run {}", number + 1),
            colour: number + 2,
            style: Style::Line,
            points: points.collect(),
        }
    };
    let bands = [
        band("98 %, Hoeffding (paper)", 6, paper_half_width),
        band("98 %, finite population (ours)", 0, half_width),
    ];
    let shown = SHOWN.min(outcomes.first().map_or(0, Vec::len));
    Figure {
        name: "4b",
        title: "estimates of the mean and 98 % intervals, Weibull 0.6",
        x: LOSS_AXIS,
        y: Axis::linear("mean delay (µs)"),
        series: bands.into_iter().chain((0..shown).map(run)).collect(),
    }
}

fn deviation_error(laws: &[Law]) -> Figure {
    let series = laws.iter().enumerate().flat_map(|(colour, law)| {
        let series = |estimator, style, value: fn(&Outcome) -> Option<f64>| Series {
            name: format!("{}, {estimator}", law.name),
            colour,
            style,
            points: law.points(value),
        };
        [
            series("paper's", Style::Dashed, Outcome::paper_deviation_error),
            series("between rows", Style::Line, Outcome::deviation_error),
        ]
    });
    Figure {
        name: "4c",
        title: "relative error of the standard deviation, one tuned bank",
        x: LOSS_AXIS,
        y: Axis::logarithmic("average relative error of the deviation"),
        series: series.collect(),
    }
}

/// The least and largest average of `value` over the runs, over `laws` and the losses that `counts` selects.
fn extremes(
    laws: &[&Law],
    counts: impl Fn(f64) -> bool,
    value: impl Fn(&Outcome) -> Option<f64> + Copy,
) -> [f64; 2] {
    let points = laws.iter().flat_map(|law| law.points(value)).filter(|point| counts(point.x));
    points
        .filter_map(|point| point.y)
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], y| [low.min(y), high.max(y)])
}

/// The least and largest average of `value` over `laws`, each over all runs at the losses that `counts` selects.
/// The error of a single point of ten runs is a quarter of its value.
fn pooled(
    laws: &[&Law],
    counts: impl Fn(f64) -> bool,
    value: impl Fn(&Outcome) -> Option<f64> + Copy,
) -> [f64; 2] {
    laws.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], law| {
        let places = LOSSES.iter().zip(&law.outcomes).filter(|(loss, _)| counts(**loss));
        let average = Point::average(0.0, places.flat_map(|(_, runs)| runs.iter().map(value))).y;
        average.map_or([low, high], |average| [low.min(average), high.max(average)])
    })
}

fn claims(laws: &[Law], traces: &Traces, scale: &Scale) -> Vec<Claim> {
    let (weibull, pareto): (Vec<&Law>, Vec<&Law>) = laws.iter().partition(|law| law.is_weibull());
    let every: Vec<&Law> = laws.iter().collect();
    let per_cent = |[low, high]: [f64; 2]| [100.0 * low, 100.0 * high];
    let claim = |by, what: &str, unit, stated, measured, comment: &str| Claim {
        by,
        what: what.into(),
        unit,
        stated,
        measured,
        comment: comment.into(),
    };
    let [average, expected] = average_error(&traces.at_six).map(|error| 100.0 * error);
    let largest = traces.at_six.iter().filter_map(Outcome::mean_error).fold(0.0, f64::max);
    // The mean |x| of a normal variable is 0.8 of its deviation.
    let deviation = expected / std::f64::consts::FRAC_2_PI.sqrt();
    let [at_largest, at_largest_expected] = average_error(&traces.at_largest).map(|error| 100.0 * error);
    let [ours, ours_expected] = average_error(&traces.ours_at_largest).map(|error| 100.0 * error);
    let runs = traces.at_largest.len() as f64;
    // Every loss has as many runs.
    let known = |laws: &[&Law], losses: fn(f64) -> bool| {
        let of = |law: &&Law| {
            let places: Vec<f64> = LOSSES
                .iter()
                .zip(&law.known)
                .filter(|(loss, _)| losses(**loss))
                .map(|(_, error)| *error)
                .collect();
            places.iter().sum::<f64>() / places.len() as f64
        };
        laws.iter().map(of).fold(0.0, f64::max)
    };
    let chance = |expected: f64| expected * ((std::f64::consts::FRAC_PI_2 - 1.0) / runs).sqrt();
    let figure = crate::figure::significant;
    // The first claims of figure 4: at least as many packets are lost as there are rows.
    let gain = |outcome: &Outcome| {
        let truth = &outcome.truth;
        let lost = (truth.sent - truth.received) as f64;
        let bound = ALPHA * (1.0 - ALPHA) * f64::from(COUNTERS) / (lost + 1.0) * truth.received as f64;
        Some(outcome.samples() / bound)
    };
    let many = |loss: f64| loss * scale.packets as f64 >= f64::from(COUNTERS);
    let sigma = |laws: &[&Law]| {
        let deviation = |outcome: &Outcome| Some(outcome.truth.deviation / 1e3);
        extremes(laws, |_| true, deviation)
    };
    let relative_sigma = |names: [&str; 1]| {
        let law: Vec<&Law> = laws.iter().filter(|law| names.contains(&law.name)).collect();
        sigma(&law)
    };
    let outside = |half: fn(&Outcome) -> Option<f64>| {
        let runs = every.iter().flat_map(|law| law.outcomes.iter().flatten());
        let (mut out, mut all) = (0.0, 0.0);
        for outcome in runs {
            if let (Ok(mean), Some(half)) = (outcome.estimate.mean, half(outcome)) {
                all += 1.0;
                out += f64::from(u8::from((mean.nanoseconds - outcome.truth.mean).abs() > half));
            }
        }
        [100.0 * (1.0 - out / all); 2]
    };
    vec![
        claim(
            Source::Paper,
            "samples / lower bound (2), at least 1024 losses",
            "",
            Stated::About(2.0),
            extremes(&every, many, gain),
            "\"almost twice as many\"; theory gives α e^-α / (α (1 - α)) = 1.21 for α = 0.5, however many packets",
        ),
        claim(
            Source::Paper,
            "error of the mean at 20 % loss",
            " %",
            Stated::Below(4.0),
            per_cent(extremes(&every, |loss| loss == 0.2, Outcome::mean_error)),
            "for 5 million packets theory gives 3.98 % with Weibull 0.6, the worst law, and leaves no room for chance: an \
             average of ten runs has a standard error of a quarter of itself",
        ),
        claim(
            Source::Paper,
            "error of the mean at 20 % loss, ten traces, Weibull 0.6",
            " %",
            Stated::Below(4.0),
            [at_largest; 2],
            &format!(
                "expected {} %; the average of {} runs has a standard error of {} %",
                figure(at_largest_expected),
                traces.at_largest.len(),
                figure(chance(at_largest_expected))
            ),
        ),
        claim(
            Source::Target,
            "error of the mean at 20 % loss, ten traces, Weibull 0.6, prefix length as the product chooses it",
            " %",
            Stated::Below(4.0),
            [ours; 2],
            &format!(
                "expected {} % ± {} %: nearly one loss a row leaves more samples than the paper's half; the same packets and losses as above",
                figure(ours_expected),
                figure(chance(ours_expected))
            ),
        ),
        claim(
            Source::Paper,
            "error of the mean below 0.1 % loss",
            " %",
            Stated::Below(0.3),
            per_cent(extremes(&every, |loss| loss < 0.001, Outcome::mean_error)),
            "",
        ),
        claim(
            Source::Paper,
            "largest error of the mean at 6 % loss, ten traces, Weibull 0.6",
            " %",
            Stated::Below(3.0),
            [100.0 * largest; 2],
            &format!(
                "the standard error of a run is {} %, and the largest of {} normal errors is about two and a half times that",
                figure(deviation),
                traces.at_six.len()
            ),
        ),
        claim(
            Source::Paper,
            "average error of the mean at 6 % loss, ten traces, Weibull 0.6",
            " %",
            Stated::About(0.2),
            [average; 2],
            &format!(
                "no sample of that size can achieve it: sqrt(2/π) σ / (µ sqrt(S)) is {} % for these samples; a tenth \
                 of that would need a hundred times the rows",
                figure(expected)
            ),
        ),
        claim(
            Source::Paper,
            "deviation of the delays, Weibull 0.6",
            " µs",
            Stated::About(0.35),
            relative_sigma(["Weibull 0.6"]),
            "",
        ),
        claim(
            Source::Paper,
            "deviation of the delays, Pareto 3",
            " µs",
            Stated::About(0.11),
            relative_sigma(["Pareto 3"]),
            "",
        ),
        claim(
            Source::Paper,
            "error of the deviation, paper's estimator, Weibull",
            " %",
            Stated::Below(10.0),
            per_cent(pooled(&weibull, |_| true, Outcome::paper_deviation_error)),
            "by law, all losses together",
        ),
        claim(
            Source::Paper,
            "error of the deviation, paper's estimator, Pareto",
            " %",
            Stated::Between(20.0, 50.0),
            per_cent(pooled(&pareto, |_| true, Outcome::paper_deviation_error)),
            "by law, all losses together; runs whose variance came out negative have no value and are left out",
        ),
        claim(
            Source::Target,
            "error of the deviation, between rows, Weibull, up to 1 % loss",
            " %",
            Stated::Below(3.0),
            per_cent(pooled(&weibull, |loss| loss <= 0.01, Outcome::deviation_error)),
            "by law, these losses together",
        ),
        claim(
            Source::Target,
            "error of the deviation, between rows, Pareto, up to 1 % loss",
            " %",
            Stated::Below(3.0),
            per_cent(pooled(&pareto, |loss| loss <= 0.01, Outcome::deviation_error)),
            &format!(
                "by law, these losses together; with shape 3 the fourth moment is infinite, and even if every sampled packet's \
                 delay were known the error would be {} %, and {} % at 1 % loss alone; the rest comes from rows instead of packets",
                figure(100.0 * known(&pareto, |loss| loss <= 0.01)),
                figure(100.0 * known(&pareto, |loss| loss == 0.01))
            ),
        ),
        claim(
            Source::Paper,
            "runs within the paper's 98 % interval",
            " %",
            Stated::Above(98.0),
            outside(paper_half_width),
            "",
        ),
        claim(
            Source::Target,
            "runs within our 98 % interval",
            " %",
            Stated::Between(96.0, 100.0),
            outside(half_width),
            "figure 8 has many more runs",
        ),
    ]
}
