//! Figure 5: one to four banks with 1024 counters in all and unknown loss, and banks that follow the loss of the
//! last interval ([`prefixes_for_loss`]).
//!
//! # Test plan
//!
//! At a tenth of the packets: the samples of two banks are those that theory gives. No configuration beats the
//! tuned bank by more than chance, and each loses as many samples against it as theory says.

use crate::banks::Banks;
use crate::figure::{Axis, Claim, Figure, Point, Series, Source, Stated, Style};
use crate::outcome::Outcome;
use crate::traffic::{LOSS_AXIS, LOSSES, MEAN, Pattern, interval, purpose, sweep};
use crate::{LabError, Progress, Report, Scale};
use deltaline_estimate::prefixes_for_loss;
use deltaline_traffic::delay::Delay;
use deltaline_traffic::random::Seed;

/// Counters of all banks together.
const COUNTERS: u32 = 1024;
/// The losses to which the paper's banks are tuned.
pub(crate) const TWO: [f64; 2] = [0.005, 0.1];
const THREE: [f64; 3] = [0.001, 0.01, 0.1];
const FOUR: [f64; 4] = [0.001, 0.01, 0.05, 0.1];
/// The least loss that the paper plots.
const LEAST_LOSS: f64 = 0.001;

/// All runs of one configuration.
pub(crate) struct Configuration {
    pub(crate) name: &'static str,
    /// By loss and run.
    pub(crate) outcomes: Vec<Vec<Outcome>>,
}

impl Configuration {
    pub(crate) fn series(
        &self,
        name: String,
        colour: usize,
        style: Style,
        value: impl Fn(&Outcome) -> Option<f64>,
    ) -> Series {
        let places = LOSSES.iter().zip(&self.outcomes);
        let points = places.map(|(&loss, runs)| Point::average(loss, runs.iter().map(&value)));
        Series { name, colour, style, points: points.collect() }
    }

    /// The average of `value` at `loss`.
    pub(crate) fn at(&self, loss: f64, value: impl Fn(&Outcome) -> Option<f64>) -> f64 {
        let series = self.series(String::new(), 0, Style::Line, value);
        series.points.iter().find(|point| point.x == loss).and_then(|point| point.y).unwrap_or(f64::NAN)
    }
}

/// The paper's two banks.
pub(crate) fn two_banks(packets: usize) -> Banks {
    Banks::tuned(COUNTERS, &TWO, packets)
}

pub(crate) fn run(scale: &Scale, progress: &dyn Progress) -> Result<Report, LabError> {
    let seed = Seed::new(scale.seed).with(5);
    let delays = interval(&Delay::weibull(MEAN, 0.6), scale.packets, seed.with(purpose::DELAYS));
    let fixed: [(&'static str, &[f64]); 3] =
        [("two banks", &TWO), ("three banks", &THREE), ("four banks", &FOUR)];
    let adaptive = [("adaptive, one bank", 1), ("adaptive, bank and guard", 2)];
    progress.expect(((1 + fixed.len() + adaptive.len()) * LOSSES.len() * scale.runs) as u64);
    let sweep = |banks: &(dyn Fn(f64) -> Result<Banks, LabError> + Sync)| {
        sweep(&delays, Pattern::Uniform, banks, seed, scale, progress)
    };
    let mut all = vec![Configuration {
        name: "one bank, tuned",
        outcomes: sweep(&|loss| Ok(Banks::tuned(COUNTERS, &[loss], scale.packets)))?,
    }];
    for (name, losses) in fixed {
        let outcomes = sweep(&|_| Ok(Banks::tuned(COUNTERS, losses, scale.packets)))?;
        all.push(Configuration { name, outcomes });
    }
    for (name, banks) in adaptive {
        let rows = COUNTERS / banks as u32;
        let outcomes = sweep(&|loss| {
            // This interval loses what the last one lost.
            let lost = (loss * scale.packets as f64).round() as u64;
            let prefixes = prefixes_for_loss(banks, rows as usize, scale.packets as u64, lost)?;
            Ok(Banks::of_prefixes(rows, &prefixes))
        })?;
        all.push(Configuration { name, outcomes });
    }
    let line = |value: fn(&Outcome) -> Option<f64>| {
        let series = all.iter().enumerate();
        series.map(|(colour, each)| each.series(each.name.into(), colour, Style::Line, value)).collect()
    };
    let deviations = all.iter().enumerate().flat_map(|(colour, each)| {
        let name = |estimator| format!("{}, {estimator}", each.name);
        [
            each.series(name("paper's"), colour, Style::Dashed, Outcome::paper_deviation_error),
            each.series(name("between rows"), colour, Style::Line, Outcome::deviation_error),
        ]
    });
    Ok(Report {
        title: "Unknown loss: 1024 counters in one to four banks (figure 5)",
        text: format!(
            "{} packets, Weibull delays of shape 0.6, independent losses. Two banks of 512 rows tuned to 0.5 and 10 % \
             loss, three of 341 to 0.1, 1 and 10 %, and four of 256 to 0.1, 1, 5 and 10 %, against one bank of 1024 tuned \
             to the actual loss. The paper plots from 0.1 % loss on. Our banks are for any loss. The \
             product's rule takes their prefix lengths from the loss of the last interval, with powers of 1/2 for \
             probabilities: one bank of 1024 rows, or one of 512 and a guard of 512 for when the loss jumps. The rule \
             does not depend on the earlier lengths, so one interval of constant loss is enough.",
            scale.packets
        ),
        figures: vec![
            Figure {
                name: "5a",
                title: "effective samples, banks tuned to other losses",
                x: LOSS_AXIS,
                y: Axis::logarithmic("effective samples"),
                series: line(|outcome| Some(outcome.samples())),
            },
            Figure {
                name: "5b",
                title: "relative error of the mean, banks tuned to other losses",
                x: LOSS_AXIS,
                y: Axis::logarithmic("average relative error of the mean"),
                series: line(Outcome::mean_error),
            },
            Figure {
                name: "5c",
                title: "relative error of the standard deviation, banks tuned to other losses",
                x: LOSS_AXIS,
                y: Axis::logarithmic("average relative error of the deviation"),
                series: deviations.collect(),
            },
        ],
        claims: claims(&all),
    })
}

/// The mean's error to be expected from the samples.
fn expected_error(outcome: &Outcome) -> Option<f64> {
    let truth = &outcome.truth;
    Some((std::f64::consts::FRAC_2_PI / outcome.samples()).sqrt() * truth.deviation / truth.mean)
}

fn claims(all: &[Configuration]) -> Vec<Claim> {
    let [tuned, two, three, four, alone, guarded] = all else { return vec![] };
    let samples = |configuration: &Configuration, loss| configuration.at(loss, |each| Some(each.samples()));
    let behind = |configuration: &Configuration, loss| samples(tuned, loss) / samples(configuration, loss);
    let mut claims = vec![];
    let mut claim = |by, what: String, unit, stated, measured, comment: &str| {
        claims.push(Claim { by, what, unit, stated, measured, comment: comment.into() });
    };
    // Computed from p = alpha m / (L + 1) and e^-(p L / m) for 5 million packets, for this project.
    for (name, configuration, computed) in
        [("two", two, [57.0, 7.7, 1.8]), ("three", three, [17.0, 3.1, 2.9])]
    {
        for (loss, factor) in [0.0001, 0.001, 0.01].into_iter().zip(computed) {
            claim(
                Source::Target,
                format!("samples of the tuned bank / {name} banks, {} % loss", 100.0 * loss),
                "",
                Stated::About(factor),
                [behind(configuration, loss); 2],
                "what loss-adaptive sampling can gain; the stated value is an earlier computation",
            );
        }
    }
    let ahead = |configuration, loss| samples(configuration, loss) / samples(two, loss);
    for (configuration, comment) in [
        (alone, "as many counters on both sides"),
        (
            guarded,
            "as many counters on both sides; half of them are the guard's, for a loss that jumps, and rest while it \
             does not: with 512 rows α = 1 has 3.85 times the samples at 0.1 % at best",
        ),
    ] {
        for (loss, least) in [(0.0001, 20.0), (0.001, 4.0), (0.1, 1.0)] {
            claim(
                Source::Target,
                format!("samples of {} / the paper's two banks, {} % loss", configuration.name, 100.0 * loss),
                "",
                Stated::Above(least),
                [ahead(configuration, loss); 2],
                comment,
            );
        }
    }
    let plotted: Vec<f64> = LOSSES.into_iter().filter(|&loss| loss >= LEAST_LOSS).collect();
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high]: [f64; 2], value| {
            [low.min(value), high.max(value)]
        })
    };
    let per_cent = |[low, high]: [f64; 2]| [100.0 * low, 100.0 * high];
    let rank = |loss: f64| {
        let others = samples(two, loss).min(samples(three, loss));
        samples(four, loss) / others
    };
    claim(
        Source::Paper,
        "samples of four banks / fewest of two and three, 10 and 20 % loss".into(),
        "",
        Stated::Below(1.0),
        range(&mut [0.1, 0.2].into_iter().map(rank)),
        "\"the four-bank LDA performs the worst of the three when the loss rates are high\"; with p = α m / (L + 1) its banks for 5 and \
             10 % together leave more samples than one bank of 341 or 512 rows for 10 %",
    );
    for (name, configuration) in [("two", two), ("three", three), ("four", four)] {
        claim(
            Source::Target,
            format!("error of the mean of {name} banks, 0.1 to 4 % loss"),
            " %",
            Stated::Below(4.0),
            per_cent(range(
                &mut plotted
                    .iter()
                    .filter(|&&loss| loss <= 0.04)
                    .map(|&loss| configuration.at(loss, Outcome::mean_error)),
            )),
            &format!(
                "expected at 4 %: {} %; an average of ten runs has a standard error of a quarter of itself",
                crate::figure::significant(100.0 * configuration.at(0.04, expected_error))
            ),
        );
    }
    claims
}
