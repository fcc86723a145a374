//! LDS: the errors of flows' delays, as in figures 9 to 12 of *Sketching the Delay* (IMC 2011), and of ours beside them.
//!
//! That paper's figures 5 and 6 are the update and the estimator themselves: `deltaline_model::sketch::lds` and
//! `deltaline_estimate::lds`.
//!
//! The traffic is that of [`crate::flows`].
//!
//! # Test plan
//!
//! At a reduced scale, counters reduced alike: more counters and larger flows have smaller errors; claims that do not depend on
//! scale. The sketch itself is compared with the paper's definition in `deltaline_model::sketch::lds`.

mod rivals;

use crate::figure::{Axis, Claim, Figure, Point, Series, Source, Stated, Style};
use crate::flows::{Flow, MORE_PACKETS, population};
use crate::rli::within;
use crate::{LabError, Progress, Report, Scale};
use deltaline_estimate::lds::{ALPHA, LdsPair};
use deltaline_model::sketch::lds::{CELL_BITS, FlowPacket, Lds, LdsParameters};
use deltaline_traffic::delay::Delay;
use deltaline_traffic::random::Seed;
use rayon::prelude::*;

/// The paper's flows.
const FLOWS: f64 = 146_000.0;
pub(crate) const ROWS: usize = 4;
/// One in 128, 8, 2 and 1 for the paper's 0.01, 0.1, 0.5 and 1.
pub(crate) const SEVERAL: [u8; ROWS] = [7, 3, 1, 0];
/// Flows of which ours must be nearer.
const HEAVIEST: f64 = 1000.0;

/// Flows of more packets are the large ones of figure 9.
const LARGE: f64 = 1000.0;
/// Sizes of flows, the paper's bins.
const BINS: [(f64, f64); 6] = [
    (1.0, 10.0),
    (10.0, 100.0),
    (100.0, 500.0),
    (500.0, 1000.0),
    (1000.0, 10_000.0),
    (10_000.0, f64::INFINITY),
];
/// Errors at which distributions are shown.
const ERRORS: [f64; 9] = [1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3];

/// What became of a flow.
#[derive(Clone, Copy)]
struct Outcome {
    size: f64,
    class: usize,
    /// Relative error of the paper's mean; none where it has none.
    paper: Option<f64>,
    /// Of ours.
    ours: Option<f64>,
    /// Of the mean of all packets, for comparison.
    overall: f64,
}

/// How an interval is sent.
#[derive(Clone, Copy)]
struct Path<'a> {
    loss: f64,
    /// Weights of the classes.
    weights: [u32; 3],
    tracked: &'a [u64],
    seed: Seed,
}

/// Both ends' tables, and each flow's true mean.
fn send(
    parameters: &LdsParameters,
    flows: &[Flow],
    path: Path,
) -> Result<([Lds; 2], Vec<Option<f64>>), LabError> {
    let table = || Ok::<_, LabError>(Lds::new(parameters.clone())?.tracking(path.tracked));
    let [mut sender, mut receiver] = [table()?, table()?];
    let mut random = path.seed.random();
    let mut number = 0;
    let mut truths = Vec::with_capacity(flows.len());
    for flow in flows {
        let mut law = Delay::weibull(flow.mean, 0.8);
        let (mut sum, mut received) = (0.0, 0.0);
        for _ in 0..flow.size {
            number += 1;
            let weight = path.weights.get(flow.class).copied().unwrap_or(1);
            let packet = FlowPacket {
                flow: flow.hash,
                packet: random.bits(),
                nanoseconds: 36_000 * number,
                octets: 0,
                weight,
            };
            sender.add(&packet);
            if path.loss == 0.0 || !random.chance(path.loss) {
                let delay = law.draw(&mut random);
                receiver.add(&FlowPacket { nanoseconds: packet.nanoseconds + u64::from(delay), ..packet });
                (sum, received) = (sum + f64::from(delay), received + 1.0);
            }
        }
        truths.push((received > 0.0).then(|| sum / received));
    }
    Ok(([sender, receiver], truths))
}

/// The errors of all flows of which a packet arrived.
fn measure(parameters: &LdsParameters, flows: &[Flow], path: Path) -> Result<Vec<Outcome>, LabError> {
    let (tables, truths) = send(parameters, flows, path)?;
    let pair = LdsPair::new(&tables[0], &tables[1])?;
    let weighed =
        flows.iter().zip(&truths).filter_map(|(flow, truth)| Some((f64::from(flow.size), (*truth)?)));
    let (packets, sum) = weighed.fold((0.0, 0.0), |all, (size, mean)| (all.0 + size, all.1 + size * mean));
    let overall = sum / f64::max(packets, 1.0);
    let outcome = |(flow, truth): (&Flow, &Option<f64>)| {
        let truth = (*truth)?;
        let error = |mean: f64| (mean / truth - 1.0).abs();
        Some(Outcome {
            size: flow.size.into(),
            class: flow.class,
            paper: pair.paper(flow.hash, ALPHA).mean.ok().map(|mean| error(mean.nanoseconds)),
            ours: pair.regularised(flow.hash).mean.ok().map(|mean| error(mean.nanoseconds)),
            overall: error(overall),
        })
    };
    Ok(flows.iter().zip(&truths).filter_map(outcome).collect())
}

/// The value below which this share of all lies; flows without one count as the largest.
fn quantile(values: impl Iterator<Item = Option<f64>>, share: f64) -> Option<f64> {
    let mut values: Vec<f64> = values.map(|value| value.unwrap_or(f64::INFINITY)).collect();
    values.sort_by(f64::total_cmp);
    values.get((share * values.len() as f64) as usize).copied().filter(|value| value.is_finite())
}

fn series(name: String, colour: usize, style: Style, points: Vec<Point>) -> Series {
    Series { name, colour, style, points }
}

/// Counters of all rows, by the paper's number, for a population of this size.
fn counters(papers: f64, flows: usize) -> usize {
    (papers * flows as f64 / FLOWS / ROWS as f64).round().max(8.0) as usize
}

/// The outcomes of all runs.
struct Runs<'a> {
    scale: &'a Scale,
    progress: &'a dyn Progress,
    seed: Seed,
}

impl Runs<'_> {
    /// Each run's outcomes with a table made for its population.
    fn each<T: Send>(
        &self,
        label: u64,
        one: impl Fn(&[Flow], Seed) -> Result<T, LabError> + Sync,
    ) -> Result<Vec<T>, LabError> {
        let runs = (0..self.count()).into_par_iter().map(|run| {
            let seed = self.seed.with(run);
            let flows = population(self.scale, seed.with(0));
            let result = one(&flows, seed.with(label));
            self.progress.step();
            result
        });
        runs.collect()
    }

    /// The paper has one trace: a fifth of other experiments' runs.
    fn count(&self) -> u64 {
        self.scale.runs.div_ceil(5) as u64
    }

    fn average<T>(&self, x: f64, runs: &[Vec<T>], value: impl Fn(&[T]) -> Option<f64>) -> Point {
        Point::average(x, runs.iter().map(|run| value(run)))
    }
}

/// Without loss, weights or tracked flows.
fn plain_path(seed: Seed) -> Path<'static> {
    Path { loss: 0.0, weights: [1; 3], tracked: &[], seed }
}

pub(crate) fn run(scale: &Scale, progress: &dyn Progress) -> Result<Report, LabError> {
    let runs = Runs { scale, progress, seed: Seed::new(scale.seed).with(12) };
    progress.expect(runs.count() * (3 + 1 + 3 * LOSSES.len() as u64 + 2 * 4 + 2));
    let (mut figures, mut claims) = (vec![], vec![]);
    by_counters(&runs, &mut figures, &mut claims)?;
    under_loss(&runs, &mut figures, &mut claims)?;
    weighted(&runs, &mut figures, &mut claims)?;
    heaviest(&runs, &mut figures, &mut claims)?;
    Ok(Report {
        title: "Delays of flows: LDS (lds)",
        text: format!(
            "Figures 9 to 12 of Sanjuàs-Cuxart et al., *Sketching the Delay* (IMC 2011), {} runs. {:.0} packets in flows of Pareto sizes matched \
             to the paper's trace, which is not public: its delays have two modes, and so have ours, 150 and 500 µs, but how far flows \
             differ is our choice (`sim/lab/src/flows.rs`). What a flow's packets wait has nothing to do with what others' wait, as that paper says of its trace; where packets wait in one \
             queue, multiflow and RLI are shown below (rli8). Counters are the paper's for 146,000 flows. Errors are |true - estimated| / true of a \
             flow's mean; a flow without an answer counts as the worst.",
            runs.count(),
            scale.packets as f64 * MORE_PACKETS
        ),
        figures,
        claims,
    })
}

/// Figures 9 and 10: errors by size, 7,000 to 700,000 counters, no loss.
fn by_counters(runs: &Runs, figures: &mut Vec<Figure>, claims: &mut Vec<Claim>) -> Result<(), LabError> {
    let (mut shares, mut medians) = (vec![], vec![]);
    let mut of_large = None;
    for (colour, papers) in [7e3, 70e3, 700e3].into_iter().enumerate() {
        let outcomes = runs.each(1 + colour as u64, |flows, seed| {
            let parameters = LdsParameters::plain(ROWS, counters(papers, flows.len()), 1);
            measure(&parameters, flows, plain_path(seed))
        })?;
        for (least, style) in [(LARGE, Style::Line), (100.0, Style::Dashed), (0.0, Style::Dashed)] {
            let below = |error: f64| {
                runs.average(error, &outcomes, |run| {
                    let large = run.iter().filter(|flow| flow.size > least);
                    Some(within(&large.map(|flow| flow.paper).collect::<Vec<_>>(), error))
                })
            };
            let name = format!("{papers:.0} counters, more than {least:.0} packets");
            shares.push(series(name, colour, style, ERRORS.map(below).to_vec()));
        }
        let binned = |share: f64, value: fn(&Outcome) -> Option<f64>| -> Vec<Point> {
            let point = |(least, beyond): (f64, f64)| {
                runs.average(least, &outcomes, |run| {
                    let inside = run.iter().filter(|flow| (least..beyond).contains(&flow.size));
                    quantile(inside.map(value), share)
                })
            };
            BINS.map(point).to_vec()
        };
        let median = binned(0.5, |flow| flow.paper);
        if papers == 70e3 {
            for (bin, stated, name) in
                [(3, 1.2, "500 to 999"), (4, 0.4, "1,000 to 9,999"), (5, 0.06, "10,000 or more")]
            {
                // Few packets have no such flows.
                let Some(found) = median.get(bin).and_then(|point| point.y) else { continue };
                claims.push(Claim {
                    by: Source::Paper,
                    what: format!("median error, 70,000 counters, flows of {name} packets"),
                    unit: " %",
                    stated: Stated::Below(stated),
                    measured: [100.0 * found; 2],
                    comment: "how far other flows' delays differ is the trace's in the paper, ours here"
                        .into(),
                });
            }
            medians.push(series(
                format!("{papers:.0}, ours, median"),
                3,
                Style::Line,
                binned(0.5, |flow| flow.ours),
            ));
            medians.push(series(
                "mean of all packets, median".into(),
                4,
                Style::Dashed,
                binned(0.5, |flow| Some(flow.overall)),
            ));
            let large = |run: &Vec<Outcome>| {
                quantile(run.iter().filter(|flow| flow.size > LARGE).map(|flow| flow.paper), 0.5)
            };
            of_large = outcomes.iter().map(large).collect::<Option<Vec<f64>>>();
        }
        medians.push(series(format!("{papers:.0}, median"), colour, Style::Line, median));
        medians.push(series(
            format!("{papers:.0}, 95 %"),
            colour,
            Style::Dashed,
            binned(0.95, |flow| flow.paper),
        ));
    }
    rivals::add(runs, of_large.unwrap_or_default(), [&mut shares, &mut medians], claims)?;
    let error = Axis::logarithmic("relative error of the mean");
    figures.push(Figure {
        name: "lds9",
        title: "flows with at most this error",
        x: error,
        y: Axis::linear("share of flows"),
        series: shares,
    });
    figures.push(Figure {
        name: "lds10",
        title: "error by size of flows and counters",
        x: Axis::logarithmic("packets of the flow, at least"),
        y: error,
        series: medians,
    });
    Ok(())
}

const LOSSES: [f64; 4] = [0.0, 0.001, 0.005, 0.01];
const WIDTH: usize = 5;

/// Five cells a flow in every row, rows five times as long, as the paper has them.
fn banks(flows: usize, prefixes: [u8; ROWS]) -> LdsParameters {
    banks_of(WIDTH * counters(70e3, flows), prefixes)
}

/// As the paper's, with rows of so many columns.
pub(crate) fn banks_of(columns: usize, prefixes: [u8; ROWS]) -> LdsParameters {
    LdsParameters {
        columns,
        width: WIDTH,
        prefixes: prefixes.to_vec(),
        has_octets: false,
        is_scattered: false,
        seed: 1,
    }
}

/// Figure 11: several banks and one under loss.
fn under_loss(runs: &Runs, figures: &mut Vec<Figure>, claims: &mut Vec<Claim>) -> Result<(), LabError> {
    // One in 16 for the paper's 0.05.
    let kinds = [("several banks", SEVERAL), ("one in 16", [4; ROWS]), ("all packets", [0; ROWS])];
    let mut found: Vec<Series> = vec![];
    for (colour, (name, prefixes)) in kinds.into_iter().enumerate() {
        let mut points = [vec![], vec![], vec![]];
        for (number, loss) in LOSSES.into_iter().enumerate() {
            let label = 10 + 10 * colour as u64 + number as u64;
            let outcomes = runs.each(label, |flows, seed| {
                measure(&banks(flows.len(), prefixes), flows, Path { loss, ..plain_path(seed) })
            })?;
            let of = |least: f64, value: fn(&Outcome) -> Option<f64>| {
                runs.average(loss, &outcomes, |run| {
                    quantile(run.iter().filter(|flow| flow.size >= least).map(value), 0.5)
                })
            };
            points[0].push(of(1000.0, |flow| flow.paper));
            points[1].push(of(100.0, |flow| flow.paper));
            points[2].push(of(1000.0, |flow| flow.ours));
        }
        let [large, medium, ours] = points;
        found.push(series(format!("{name}, 1000 packets or more"), colour, Style::Line, large));
        found.push(series(format!("{name}, 100 or more"), colour, Style::Dashed, medium));
        found.push(series(format!("{name}, 1000 or more, ours"), colour + 3, Style::Line, ours));
    }
    let at = |name: &str, loss: f64| {
        let series = found.iter().find(|series| series.name == name);
        let point = series.and_then(|series| series.points.iter().find(|point| point.x == loss));
        point.and_then(|point| point.y).unwrap_or(1.0)
    };
    let name = "several banks, 1000 packets or more";
    claims.push(Claim {
        by: Source::Target,
        what: "accuracy that several banks lose under 1 % loss: error with loss / without, flows of 1000 packets or more".into(),
        unit: "",
        stated: Stated::Below(1.5),
        measured: [at(name, 0.01) / at(name, 0.0); 2],
        comment: "of a flow of 10,000 packets 100 are lost, which leaves the banks of one in 8 and one in 128: few packets stand for many".into(),
    });
    claims.push(Claim {
        by: Source::Paper,
        what: "error of several banks / of all packets in one bank, 1 % loss, flows of 1000 packets or more"
            .into(),
        unit: "",
        stated: Stated::Below(1.0),
        measured: [at(name, 0.01) / at("all packets, 1000 packets or more", 0.01); 2],
        comment: "a flow without an answer counts as an error of 100 %".into(),
    });
    figures.push(Figure {
        name: "lds11",
        title: "median error under loss",
        x: Axis::linear("share of packets lost"),
        y: Axis::logarithmic("median of the mean's relative error"),
        series: found,
    });
    Ok(())
}

/// Figure 12: weights by class.
fn weighted(runs: &Runs, figures: &mut Vec<Figure>, claims: &mut Vec<Claim>) -> Result<(), LabError> {
    const WEIGHTS: [[u32; 3]; 4] = [[1, 1, 1], [1, 25, 100], [1, 10, 100], [1, 50, 2500]];
    let mut found = vec![];
    for (style, papers) in [(Style::Line, 40e3), (Style::Dashed, 100e3)] {
        let mut points = [vec![], vec![], vec![]];
        for (number, weights) in WEIGHTS.into_iter().enumerate() {
            let label = 100 + 10 * (papers / 1e4) as u64 + number as u64;
            let outcomes = runs.each(label, |flows, seed| {
                let parameters = LdsParameters::plain(ROWS, counters(papers, flows.len()), 1);
                measure(&parameters, flows, Path { weights, ..plain_path(seed) })
            })?;
            for (class, points) in points.iter_mut().enumerate() {
                points.push(runs.average(number as f64, &outcomes, |run| {
                    quantile(run.iter().filter(|flow| flow.class == class).map(|flow| flow.paper), 0.5)
                }));
            }
        }
        for (class, (name, points)) in ["bronze", "silver", "gold"].into_iter().zip(points).enumerate() {
            if class == 2 {
                let at =
                    |place: usize| points.get(place).and_then(|point: &Point| point.y).unwrap_or(f64::NAN);
                claims.push(Claim {
                    by: Source::Paper,
                    what: format!(
                        "median error of gold flows, weight 2500 / without weights, {papers:.0} counters"
                    ),
                    unit: "",
                    stated: Stated::Below(1.0),
                    measured: [at(3) / at(0); 2],
                    comment: "\"gold customers obtain extreme accuracy\"".into(),
                });
            }
            found.push(series(format!("{name}, {papers:.0} counters"), class, style, points));
        }
    }
    figures.push(Figure {
        name: "lds12",
        title: "median error by class, weights 1:1:1, 1:25:100, 1:10:100, 1:50:2500 (0 to 3)",
        x: Axis::linear("weights"),
        y: Axis::logarithmic("median of the mean's relative error, flows of any size"),
        series: found,
    });
    Ok(())
}

/// Ours at equal bits: the heaviest flows tracked.
fn heaviest(runs: &Runs, figures: &mut Vec<Figure>, claims: &mut Vec<Claim>) -> Result<(), LabError> {
    let mut points = [vec![], vec![]];
    for (number, loss) in [0.0, 0.01].into_iter().enumerate() {
        let errors = runs.each(200 + number as u64, |flows, seed| {
            let count = (HEAVIEST * flows.len() as f64 / FLOWS).round().max(1.0) as usize;
            let mut plain = if loss == 0.0 {
                LdsParameters::plain(ROWS, counters(70e3, flows.len()), 1)
            } else {
                banks(flows.len(), SEVERAL)
            };
            let outcomes = measure(&plain, flows, Path { loss, ..plain_path(seed) })?;

            // The interval before has about half of each flow's packets.
            let mut random = seed.with(1).random();
            let before: Vec<Flow> = flows
                .iter()
                .map(|flow| {
                    let half = 0.5 * f64::from(flow.size);
                    let size = half + 0.5 * f64::from(flow.size).sqrt() * random.normal();
                    Flow { size: size.round().max(0.0) as u32, ..*flow }
                })
                .collect();
            let path = Path { loss, ..plain_path(seed.with(2)) };
            let (tables, _) = send(&plain, &before, path)?;
            let pair = LdsPair::new(&tables[0], &tables[1])?;
            let mut sizes: Vec<(f64, u64)> =
                flows.iter().map(|flow| (pair.paper(flow.hash, ALPHA).sent.most, flow.hash)).collect();
            sizes.sort_by(|one, other| other.0.total_cmp(&one.0));
            let tracked: Vec<u64> = sizes.iter().take(count).map(|(_, hash)| *hash).collect();

            let mut prefixes = plain.prefixes.clone();
            prefixes.sort_unstable();
            prefixes.dedup();
            let each = 64 + CELL_BITS * prefixes.len() * plain.width;
            plain.columns -= (count * each).div_ceil(CELL_BITS * ROWS).min(plain.columns - plain.width);
            let ours = measure(&plain, flows, Path { loss, tracked: &tracked, ..plain_path(seed) })?;

            let heavy = |outcomes: &[Outcome], value: fn(&Outcome) -> Option<f64>| {
                let mut heavy: Vec<&Outcome> = outcomes.iter().collect();
                heavy.sort_by(|one, other| other.size.total_cmp(&one.size));
                heavy.truncate(count);
                heavy.iter().map(|flow| value(flow).unwrap_or(1.0)).sum::<f64>() / heavy.len().max(1) as f64
            };
            Ok([heavy(&outcomes, |flow| flow.paper), heavy(&ours, |flow| flow.ours)])
        })?;
        for (which, points) in points.iter_mut().enumerate() {
            points.push(Point::average(loss, errors.iter().map(|pair| pair.get(which).copied())));
        }
        // Few flows have counters of their own, and no error.
        let ratios = errors.iter().filter(|[_, ours]| *ours > 1e-9).map(|[paper, ours]| paper / ours);
        if ratios.clone().next().is_none() {
            continue;
        }
        claims.push(Claim {
            by: Source::Target,
            what: format!(
                "error of the paper's / of ours at equal bits, the 1,000 heaviest flows, {} % loss",
                100.0 * loss
            ),
            unit: "",
            stated: Stated::Above(3.0),
            measured: [ratios.clone().fold(f64::INFINITY, f64::min), ratios.fold(0.0, f64::max)],
            comment: "average of |error|; tracked are those that were heaviest in the interval before".into(),
        });
    }
    let [paper, ours] = points;
    figures.push(Figure {
        name: "lds13",
        title: "the 1,000 heaviest flows: the paper's table, and ours at equal bits",
        x: Axis::linear("share of packets lost"),
        y: Axis::logarithmic("average of the mean's relative error"),
        series: vec![
            series("paper's".into(), 0, Style::Line, paper),
            series("ours".into(), 1, Style::Line, ours),
        ],
    });
    Ok(())
}
