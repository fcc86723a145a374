//! Figure 6: the paper's two banks against Poisson probes, loss in bursts.
//!
//! A probe is a packet of its own with a delay from the delay law; it is lost when it is sent within an episode of
//! loss. It does not disturb the packets of the traffic. Probes estimate the mean and the standard deviation
//! (divisor n - 1) of their own delays.
//!
//! # Test plan
//!
//! At a tenth of the packets: as many probes arrive as the rate and the loss leave; errors are those that so many
//! samples allow; a deviation needs at least two probes.

use crate::figure::{Axis, Claim, Figure, Point, Series, Source, Stated, Style};
use crate::outcome::Outcome;
use crate::traffic::{LOSS_AXIS, LOSSES, MEAN, Pattern, interval, purpose, seed_of_place, sweep};
use crate::unknown_loss::{Configuration, two_banks};
use crate::{LabError, Progress, Report, Scale};
use deltaline_estimate::{Confidence, hoeffding_half_width};
use deltaline_traffic::delay::Delay;
use deltaline_traffic::random::Seed;
use rayon::prelude::*;

/// Probes in an interval of the paper's one second.
const RATES: [(u32, &str); 4] = [(1, "1 Hz"), (7, "7 Hz"), (144, "144 Hz"), (10_000, "10,000 Hz")];
/// Losses "for which the LDA was tuned", for which the paper gives the largest errors.
const TUNED_LOSS: f64 = 0.0016;

/// The estimates from the probes of one run.
#[derive(Clone, Copy, Debug)]
struct Probing {
    /// Probes that arrived.
    samples: f64,
    /// |estimate - truth| / truth of the mean.
    mean_error: Option<f64>,
    /// |estimate - truth| / truth of the standard deviation.
    deviation_error: Option<f64>,
}

/// Sends probes beside a trace that lost packets by `pattern`; `truth` is the trace's.
fn probe(rate: u32, law: &Delay, loss: f64, seed: Seed, run: u64, scale: &Scale, truth: &Outcome) -> Probing {
    let mut random = seed.with(purpose::PROBES).with(u64::from(rate)).with(run).random();
    let mut law = law.clone();
    let mut losses = Pattern::Bursts.losses(loss, seed.with(purpose::LOSSES));
    let gap = scale.packets as f64 / f64::from(rate);
    let (mut time, mut passed, mut is_lost, mut delays) = (0.0, 0, false, vec![]);
    loop {
        time += random.exponential(gap);
        let packet = time as usize;
        if packet >= scale.packets {
            break;
        }
        // The state of the path for the next packet; several probes may come before it.
        if passed <= packet {
            is_lost = losses.nth(packet - passed).unwrap_or(false);
            passed = packet + 1;
        }
        if !is_lost {
            delays.push(f64::from(law.draw(&mut random)));
        }
    }
    let count = delays.len() as f64;
    let mean = delays.iter().sum::<f64>() / count;
    let squares: f64 = delays.iter().map(|delay| (delay - mean).powi(2)).sum();
    let error = |estimate: f64, truth: f64| (estimate - truth).abs() / truth;
    let truth = &truth.truth;
    Probing {
        samples: count,
        mean_error: (count >= 1.0).then(|| error(mean, truth.mean)),
        deviation_error: (count >= 2.0).then(|| error((squares / (count - 1.0)).sqrt(), truth.deviation)),
    }
}

/// All runs at one rate, by loss and run.
struct Rate {
    name: &'static str,
    probings: Vec<Vec<Probing>>,
}

impl Rate {
    fn series(&self, colour: usize, value: impl Fn(&Probing) -> Option<f64>) -> Series {
        let places = LOSSES.iter().zip(&self.probings);
        let points = places.map(|(&loss, runs)| Point::average(loss, runs.iter().map(&value)));
        Series { name: self.name.into(), colour, style: Style::Line, points: points.collect() }
    }
}

pub(crate) fn run(scale: &Scale, progress: &dyn Progress) -> Result<Report, LabError> {
    let seed = Seed::new(scale.seed).with(6);
    let law = Delay::weibull(MEAN, 0.6);
    let delays = interval(&law, scale.packets, seed.with(purpose::DELAYS));
    progress.expect(((1 + RATES.len()) * LOSSES.len() * scale.runs) as u64);
    let banks = |_| Ok(two_banks(scale.packets));
    let outcomes = sweep(&delays, Pattern::Bursts, &banks, seed, scale, progress)?;
    let lda = Configuration { name: "two banks", outcomes };
    let rates = RATES.map(|(rate, name)| {
        let places: Vec<(usize, f64)> = LOSSES.into_iter().enumerate().collect();
        let probings = places.into_par_iter().map(|(place, loss)| {
            let seed = seed_of_place(seed, place);
            let runs = lda.outcomes[place].par_iter().enumerate().map(|(run, truth)| {
                let probing = probe(rate, &law, loss, seed, run as u64, scale, truth);
                progress.step();
                probing
            });
            runs.collect()
        });
        Rate { name, probings: probings.collect() }
    });
    let with_rates = |mut series: Vec<Series>, value: fn(&Probing) -> Option<f64>| {
        series.extend(rates.iter().zip(1..).map(|(rate, colour)| rate.series(colour, value)));
        series
    };
    let lda_series =
        |name: &str, style, value: fn(&Outcome) -> Option<f64>| lda.series(name.into(), 0, style, value);
    Ok(Report {
        title: "Two banks against Poisson probes, loss in bursts (figure 6)",
        text: format!(
            "{} packets, Weibull delays of shape 0.6, losses in episodes of 100 packets on average with exponentially \
             distributed lengths. Two banks as in figure 5. Probes suffer the same delays and losses; a run in which no \
             probe arrived has no mean, and one with fewer than two has no deviation.",
            scale.packets
        ),
        figures: vec![
            Figure {
                name: "6a",
                title: "samples of two banks and of probes",
                x: LOSS_AXIS,
                y: Axis::logarithmic("effective samples"),
                series: with_rates(
                    vec![lda_series("two banks", Style::Line, |each| Some(each.samples()))],
                    |probing| Some(probing.samples),
                ),
            },
            Figure {
                name: "6b",
                title: "relative error of the mean of two banks and of probes",
                x: LOSS_AXIS,
                y: Axis::logarithmic("average relative error of the mean"),
                series: with_rates(
                    vec![lda_series("two banks", Style::Line, Outcome::mean_error)],
                    |probing| probing.mean_error,
                ),
            },
            Figure {
                name: "6c",
                title: "relative error of the standard deviation of two banks and of probes",
                x: LOSS_AXIS,
                y: Axis::logarithmic("average relative error of the deviation"),
                series: with_rates(
                    vec![
                        lda_series("two banks, paper's", Style::Dashed, Outcome::paper_deviation_error),
                        lda_series("two banks, between rows", Style::Line, Outcome::deviation_error),
                    ],
                    |probing| probing.deviation_error,
                ),
            },
        ],
        claims: claims(&lda, &rates, scale),
    })
}

/// The least and largest of these, in per cent.
fn per_cent(values: impl Iterator<Item = Option<f64>>) -> [f64; 2] {
    values.flatten().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| {
        [low.min(100.0 * value), high.max(100.0 * value)]
    })
}

fn claims(lda: &Configuration, rates: &[Rate; 4], scale: &Scale) -> Vec<Claim> {
    let lda_averages = |counts: &dyn Fn(f64) -> bool, value: fn(&Outcome) -> Option<f64>| {
        let series = lda.series(String::new(), 0, Style::Line, value);
        per_cent(series.points.iter().filter(|point| counts(point.x)).map(|point| point.y))
    };
    // All runs together: an average of ten has an error of a quarter of itself.
    let average = |rate: usize, counts: &dyn Fn(f64) -> bool, value: fn(&Probing) -> Option<f64>| {
        let places = LOSSES.iter().zip(&rates[rate].probings).filter(|(loss, _)| counts(**loss));
        let all = Point::average(0.0, places.flat_map(|(_, runs)| runs.iter().map(value)));
        per_cent([all.y].into_iter())
    };
    let place = LOSSES.iter().position(|&loss| loss == TUNED_LOSS).unwrap_or(0);
    let largest = |rate: usize| {
        let [_, high] = per_cent(rates[rate].probings[place].iter().map(|probing| probing.mean_error));
        [high; 2]
    };
    let [_, lda_largest] = per_cent(lda.outcomes[place].iter().map(Outcome::mean_error));
    let half = |outcome: &Outcome| {
        let level = Confidence::new(0.98).ok()?;
        let half =
            hoeffding_half_width(outcome.truth.deviation, outcome.estimate.effective_samples, level).ok()?;
        Some(half / outcome.truth.mean)
    };
    let our_half = |outcome: &Outcome| {
        let half = outcome.estimate.mean.ok()?.half_width(Confidence::new(0.98).ok()?).ok()?;
        Some(half / outcome.truth.mean)
    };
    // Probes for as many samples as the banks have, in units of the 144 that cost as many bytes.
    let probes_for = |loss: f64| lda.at(loss, |each| Some(each.samples())) / (1.0 - loss) / 144.0;
    let realistic = |loss: f64| loss < 0.05;
    let rms =
        |outcome: &Outcome| Some(outcome.truth.deviation / outcome.truth.mean / outcome.samples().sqrt());
    let expected = |loss: f64| 100.0 * lda.at(loss, rms);
    let comment = format!(
        "the standard error of one run is {} %: the largest of {} is about twice that; with 10,000 probes it would be \
         1.76 %",
        crate::figure::significant(expected(TUNED_LOSS)),
        scale.runs
    );
    let paper = |what: &str, unit, stated, measured, comment: &str| Claim {
        by: Source::Paper,
        what: what.into(),
        unit,
        stated,
        measured,
        comment: comment.into(),
    };
    let nothing = "";
    vec![
        paper(
            "error of the mean, two banks, below 5 % loss",
            " %",
            Stated::Between(0.2, 4.0),
            lda_averages(&realistic, Outcome::mean_error),
            nothing,
        ),
        paper(
            "error of the mean, two banks, up to 1 % loss",
            " %",
            Stated::Below(1.0),
            lda_averages(&|loss| loss <= 0.01, Outcome::mean_error),
            "at exactly 1 % the expected error is 1 %; the paper says \"less than 1% at loss rates less than 1%\"",
        ),
        paper(
            "error of the mean, 144 Hz",
            " %",
            Stated::About(11.0),
            average(2, &|_| true, |probing| probing.mean_error),
            "all losses together; expected: sqrt(2/π) · 1.76 / sqrt(144) = 11.7 %",
        ),
        paper(
            "error of the mean, 1 Hz",
            " %",
            Stated::About(100.0),
            average(0, &realistic, |probing| probing.mean_error),
            "\"almost 100%\"; all losses together, of runs with a probe",
        ),
        paper(
            "error of the deviation, two banks, paper's estimator, below 5 % loss",
            " %",
            Stated::Between(3.0, 9.0),
            lda_averages(&realistic, Outcome::paper_deviation_error),
            "an average of ten runs has a standard error of a quarter of itself",
        ),
        Claim {
            by: Source::Target,
            ..paper(
                "error of the deviation, two banks, between rows, below 5 % loss",
                " %",
                Stated::Below(9.0),
                lda_averages(&realistic, Outcome::deviation_error),
                nothing,
            )
        },
        paper(
            "error of the deviation, 144 Hz, below 5 % loss",
            " %",
            Stated::About(15.0),
            average(2, &realistic, |probing| probing.deviation_error),
            "these losses together",
        ),
        paper(
            "half of the paper's 98 % interval / mean, below 0.1 % loss",
            " %",
            Stated::Below(25.0),
            lda_averages(&|loss| loss < 0.001, half),
            nothing,
        ),
        paper(
            "half of the paper's 98 % interval / mean, 10 % loss",
            " %",
            Stated::Below(100.0),
            lda_averages(&|loss| loss == 0.1, half),
            nothing,
        ),
        Claim {
            by: Source::Target,
            ..paper(
                "half of our 98 % interval / mean, below 0.1 % loss",
                " %",
                Stated::Below(25.0),
                lda_averages(&|loss| loss < 0.001, our_half),
                nothing,
            )
        },
        paper(
            "largest error of the mean at 0.16 % loss, two banks",
            " %",
            Stated::About(0.17),
            [lda_largest; 2],
            &comment,
        ),
        paper(
            "largest error of the mean at 0.16 % loss, 7 Hz",
            " %",
            Stated::About(87.0),
            largest(1),
            nothing,
        ),
        paper(
            "largest error of the mean at 0.16 % loss, 144 Hz",
            " %",
            Stated::About(13.0),
            largest(2),
            "the standard error of 144 probes is 14.6 %",
        ),
        paper(
            "largest error of the mean at 0.16 % loss, 10,000 Hz",
            " %",
            Stated::About(0.15),
            largest(3),
            "the standard error of 10,000 probes is 1.76 %",
        ),
        paper(
            "probes, in units of 144 Hz, for as many samples as two banks, 1 to 4 % loss",
            "",
            Stated::Between(50.0, 60.0),
            [probes_for(0.04).min(probes_for(0.01)), probes_for(0.01).max(probes_for(0.04))],
            "the factor depends on the loss, and is as stated near 2 %",
        ),
    ]
}
