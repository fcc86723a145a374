//! COLATE: what its estimators promise and keep, as in figures 3, 4, 6, 7, 9, 10 and 12 of *Noise can help* (SIGMETRICS 2014).
//!
//! Its traces have one end alone, and delays of a simulated queue; ours is the traffic of [`crate::flows`], for all figures alike. The interval is
//! a second: times count from its beginning, in nanoseconds. The paper's figure 8, with several senders and receivers, is its figure 6 for
//! each pair of points: sums of another pair's packets are noise as those of other flows.
//!
//! # Test plan
//!
//! At a reduced scale: more counters and larger flows have smaller errors; repetitions approach the closed form; statements that do not
//! depend on scale.

use crate::figure::{Axis, Claim, Figure, Point, Series, Source, Stated, Style};
use crate::flows::{Flow, MORE_PACKETS, population};
use crate::{LabError, Progress, Report, Scale};
use deltaline_estimate::colate::{ColatePair, Requirement, solve};
use deltaline_model::sketch::colate::{Colate, ColateParameters, Epoch};
use deltaline_model::sketch::lds::{FlowPacket, Lds, LdsParameters};
use deltaline_model::sketch::sampler::Prefixes;
use deltaline_traffic::delay::Delay;
use deltaline_traffic::random::{Random, Seed};

/// m of the paper's example.
pub(crate) const WIDTH: usize = 20;
/// Bits that hold the sum of a counter: times of 30 bits, some hundred of them.
const BITS: f64 = 40.0;
/// The interval in nanoseconds.
const INTERVAL: u64 = 1_000_000_000;
/// The paper's packets for whom its example of 1 MB has 455,334 counters: those of its trace ICSI.
pub(crate) const PAPERS_COUNTERS: f64 = 455_334.0 / 46.9e6;
const REQUIREMENTS: [(f64, f64); 3] = [(0.90, 0.10), (0.95, 0.05), (0.99, 0.01)];
const SIZES: [f64; 7] = [1.0, 10.0, 100.0, 1000.0, 10_000.0, 100_000.0, f64::INFINITY];
const REPETITIONS: [usize; 4] = [1, 10, 100, 1000];

/// A flow's true mean and deviation and what was found, relative.
struct Outcome {
    size: f64,
    paper: f64,
    ours: Option<f64>,
    deviation: Option<f64>,
    our_deviation: Option<f64>,
}

struct Sent {
    parameters: ColateParameters,
    epochs: [Epoch; 2],
    /// Mean and deviation of each flow.
    truths: Vec<(f64, f64)>,
    /// Count-Min sketches of times in as many counters, four rows.
    sketches: [Lds; 2],
}

fn send(flows: &[Flow], counters: usize, seed: Seed) -> Result<Sent, LabError> {
    let prefixes = Prefixes::new(&[0])?;
    let (width, bits, threshold) = (WIDTH.min(counters / 4 * 2), 64, u64::MAX);
    let parameters = ColateParameters { counters, width, bits, threshold, prefixes, seed: 1 };
    let (mut sender, mut receiver) = (Colate::new(parameters)?, Colate::new(parameters)?);
    let sketch = || Lds::new(LdsParameters::plain(4, (counters / 4).max(1), 1));
    let mut sketches = [sketch()?, sketch()?];
    let mut random = seed.random();
    let mut truths = Vec::with_capacity(flows.len());
    for flow in flows {
        let mut law = Delay::weibull(flow.mean, 0.8);
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..flow.size {
            let nanoseconds = random.bits() % INTERVAL;
            let packet =
                FlowPacket { flow: flow.hash, packet: random.bits(), nanoseconds, octets: 0, weight: 1 };
            let delay = law.draw(&mut random);
            let arrived = FlowPacket { nanoseconds: nanoseconds + u64::from(delay), ..packet };
            sender.add(&packet);
            receiver.add(&arrived);
            sketches[0].add(&packet);
            sketches[1].add(&arrived);
            (sum, squares) = (sum + f64::from(delay), squares + f64::from(delay).powi(2));
        }
        let size = f64::from(flow.size);
        truths.push((sum / size, (squares / size - (sum / size).powi(2)).max(0.0).sqrt()));
    }
    let blank = || Epoch { span: [0; 2], vectors: vec![] };
    let epochs = [sender, receiver].map(|end| end.finish().pop().unwrap_or_else(blank));
    Ok(Sent { parameters, epochs, truths, sketches })
}

impl Sent {
    fn pair(&self) -> Result<ColatePair<'_>, LabError> {
        Ok(ColatePair::new(&self.parameters, &self.epochs[0], &self.epochs[1])?)
    }

    fn outcomes(&self, flows: &[Flow]) -> Result<Vec<Outcome>, LabError> {
        let pair = self.pair()?;
        let outcome = |(flow, &(mean, deviation)): (&Flow, &(f64, f64))| {
            let size = f64::from(flow.size);
            let error = |found: f64, truth: f64| (found / truth - 1.0).abs();
            let ours = pair.estimate(flow.hash, size).ok();
            // Of one packet there is no deviation.
            let of_deviation =
                |found: Option<f64>| found.filter(|_| deviation > 0.0).map(|found| error(found, deviation));
            let papers = pair.papers_deviation(flow.hash, size, pair.squares(flow.hash)).ok();
            Outcome {
                size,
                paper: error(pair.papers_mean(flow.hash, size), mean),
                ours: ours.map(|found| error(found.mean, mean)),
                deviation: of_deviation(papers),
                our_deviation: of_deviation(ours.and_then(|found| found.deviation.ok())),
            }
        };
        Ok(flows.iter().zip(&self.truths).map(outcome).collect())
    }

    /// The least of a flow's sums of delays over its packets.
    fn count_min(&self, flow: &Flow) -> f64 {
        let [sender, receiver] = &self.sketches;
        let sum = |at: usize| Some(sender.cells().get(at)?.delay_sum(receiver.cells().get(at)?)? as f64);
        let sums = (0..4).flat_map(|row| sender.cells_of(flow.hash, row)).filter_map(sum);
        sums.fold(f64::INFINITY, f64::min) / f64::from(flow.size)
    }
}

/// The share of flows of at least `least` packets and fewer than `beyond` within this error; none without flows.
fn within(
    outcomes: &[Outcome],
    [least, beyond]: [f64; 2],
    error: f64,
    value: fn(&Outcome) -> Option<f64>,
) -> Option<f64> {
    let inside: Vec<_> = outcomes.iter().filter(|flow| (least..beyond).contains(&flow.size)).collect();
    let good = inside.iter().filter(|flow| value(flow).is_some_and(|found| found <= error)).count();
    (!inside.is_empty()).then(|| good as f64 / inside.len() as f64)
}

fn median(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let mut values: Vec<f64> = values.map(|value| value.unwrap_or(f64::INFINITY)).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().filter(|value| value.is_finite())
}

fn point(x: f64, y: Option<f64>) -> Point {
    Point::average(x, std::iter::once(y))
}

fn series(name: String, colour: usize, style: Style, points: Vec<Point>) -> Series {
    Series { name, colour, style, points }
}

pub(crate) fn run(scale: &Scale, progress: &dyn Progress) -> Result<Report, LabError> {
    progress.expect(3);
    let seed = Seed::new(scale.seed).with(13);
    let packets = scale.packets as f64 * MORE_PACKETS;
    let flows = population(scale, seed.with(0));
    let (mut figures, mut claims) = (vec![], vec![]);
    parameters(&mut figures, &mut claims);
    progress.step();

    // A tenth of a bit a packet, and as many counters a packet as the paper's example has.
    let counters = [("0.1 bit a packet", 0.1 / BITS), ("the paper's counters", PAPERS_COUNTERS)];
    let mut shares: Vec<Series> = vec![];
    let (mut deviations, mut sketched) = (vec![], vec![]);
    for (colour, (name, share)) in counters.into_iter().enumerate() {
        let count = (share * packets) as usize;
        let sent = send(&flows, count.max(8), seed.with(1 + colour as u64))?;
        let outcomes = sent.outcomes(&flows)?;
        reliability(&outcomes, name, colour, share * BITS, &mut shares, &mut claims);
        let binned = |value: &dyn Fn(&Outcome) -> Option<f64>| {
            let bins = SIZES.windows(2).filter_map(|bin| bin.first_chunk::<2>());
            let one = |[least, beyond]: &[f64; 2]| {
                let inside = outcomes.iter().filter(|flow| (*least..*beyond).contains(&flow.size));
                point(*least, median(inside.map(value)))
            };
            bins.map(one).collect::<Vec<_>>()
        };
        deviations.push(series(
            format!("paper's, {name}"),
            colour,
            Style::Dashed,
            binned(&|flow| flow.deviation),
        ));
        deviations.push(series(
            format!("ours, {name}"),
            colour,
            Style::Line,
            binned(&|flow| flow.our_deviation),
        ));
        let mut minima = vec![];
        for bin in SIZES.windows(2).filter_map(|bin| bin.first_chunk::<2>()) {
            let inside = flows.iter().zip(&sent.truths);
            let inside = inside.filter(|(flow, _)| (bin[0]..bin[1]).contains(&f64::from(flow.size)));
            minima.push(point(
                bin[0],
                median(inside.map(|(flow, (mean, _))| Some((sent.count_min(flow) / mean - 1.0).abs()))),
            ));
        }
        sketched.push(series(
            format!("COLATE, {name}"),
            colour,
            Style::Line,
            binned(&|flow| Some(flow.paper)),
        ));
        sketched.push(series(
            format!("COLATE, ours, {name}"),
            colour + 2,
            Style::Line,
            binned(&|flow| flow.ours),
        ));
        sketched.push(series(format!("Count-Min, {name}"), colour, Style::Dashed, minima));
        if colour == 1 {
            figures.push(repeated(&sent, &flows, seed.with(9), &mut claims)?);
        }
        progress.step();
    }
    let size = Axis::logarithmic("packets of the flow, at least");
    figures.push(Figure {
        name: "colate6",
        title: "share of flows within the required error",
        x: size,
        y: Axis::linear("share of flows"),
        series: shares,
    });
    figures.push(Figure {
        name: "colate7",
        title: "error of the standard deviation",
        x: size,
        y: Axis::logarithmic("median of the deviation's relative error"),
        series: deviations,
    });
    figures.push(Figure {
        name: "colate12",
        title: "COLATE and Count-Min of as many counters",
        x: size,
        y: Axis::logarithmic("median of the mean's relative error"),
        series: sketched,
    });
    Ok(Report {
        title: "Delays of flows: COLATE (colate)",
        text: format!(
            "Figures 3, 4, 6, 7, 9, 10 and 12 of Shahzad, Liu, *Noise can help* (SIGMETRICS 2014). {packets:.0} packets of an interval of a second in \
             flows as for `lds`, no loss, {} counters a flow; how many packets a flow has is known, as in the paper. With {BITS} bits a counter 0.1 bit \
             a packet are {:.0} counters; \"the paper's counters\" are as many a packet as its example of 1 MB has for its trace ICSI. \
             Equation 7 takes off nothing, and repetitions approach a closed form (`deltaline_estimate::colate`): \"paper's\" deviations are that.",
            WIDTH,
            0.1 / BITS * packets
        ),
        figures,
        claims,
    })
}

/// For which sizes of flows a requirement holds.
fn reliability(
    outcomes: &[Outcome],
    name: &str,
    colour: usize,
    bits: f64,
    shares: &mut Vec<Series>,
    claims: &mut Vec<Claim>,
) {
    for (reliability, error) in REQUIREMENTS {
        type Value = fn(&Outcome) -> Option<f64>;
        let values: [(&str, Value); 2] = [("paper's", |flow| Some(flow.paper)), ("ours", |flow| flow.ours)];
        for (whose, value) in values {
            let bins: Vec<(f64, Option<f64>)> = SIZES
                .windows(2)
                .filter_map(|bin| bin.first_chunk::<2>())
                .map(|bin| (bin[0], within(outcomes, *bin, error, value)))
                .collect();
            let holds: Vec<String> = bins
                .iter()
                .filter(|(_, share)| share.is_some_and(|share| share >= reliability))
                .map(|(least, _)| format!("{least:.0}"))
                .collect();
            let all = within(outcomes, [0.0, f64::INFINITY], error, value).unwrap_or(f64::NAN);
            claims.push(Claim {
                by: Source::Paper,
                what: format!(
                    "flows with an error of at most {} %, {name} ({bits:.2} bits a packet), {whose}",
                    100.0 * error
                ),
                unit: " %",
                stated: Stated::Above(100.0 * reliability),
                measured: [100.0 * all; 2],
                comment: if holds.is_empty() {
                    "holds for no size".into()
                } else {
                    format!("holds for sizes, by powers of ten, from {}", holds.join(", "))
                },
            });
            let style = if whose == "ours" { Style::Line } else { Style::Dashed };
            let points = bins.into_iter().map(|(least, share)| point(least, share)).collect();
            shares.push(series(
                format!("{whose}, within {} %, {name}", 100.0 * error),
                colour,
                style,
                points,
            ));
        }
    }
}

/// Figure 9: the deviation by virtual repetitions.
fn repeated(sent: &Sent, flows: &[Flow], seed: Seed, claims: &mut Vec<Claim>) -> Result<Figure, LabError> {
    let pair = sent.pair()?;
    let width = sent.parameters.width;
    let mut large: Vec<(&Flow, f64)> =
        flows.iter().zip(&sent.truths).map(|(flow, truth)| (flow, truth.1)).collect();
    large.sort_by_key(|flow| std::cmp::Reverse(flow.0.size));
    large.truncate(100);
    let mut random = seed.random();
    let mut points = vec![];
    let good = |squares: &mut dyn FnMut(&Flow) -> f64| {
        let good = large.iter().filter(|(flow, truth)| {
            let found = pair.papers_deviation(flow.hash, flow.size.into(), squares(flow));
            found.is_ok_and(|found| (found / truth - 1.0).abs() < 0.05)
        });
        good.count() as f64 / large.len().max(1) as f64
    };
    for count in REPETITIONS {
        let mut squares =
            |flow: &Flow| pair.repeated(flow.hash, &mut (0..count).map(|_| permutation(width, &mut random)));
        points.push(point(count as f64, Some(good(&mut squares))));
    }
    let limit = good(&mut |flow| pair.squares(flow.hash));
    claims.push(Claim {
        by: Source::Paper,
        what: "of the 100 largest flows, those whose deviation is within 5 %, 1,000 repetitions".into(),
        unit: " %",
        stated: Stated::Above(91.0),
        measured: [100.0 * points.last().and_then(|point| point.y).unwrap_or(f64::NAN); 2],
        comment: format!("repetitions without end come to {:.0} %", 100.0 * limit),
    });
    let closed = REPETITIONS.map(|count| point(count as f64, Some(limit))).to_vec();
    Ok(Figure {
        name: "colate9",
        title: "deviation by virtual repetitions, the 100 largest flows",
        x: Axis::logarithmic("repetitions"),
        y: Axis::linear("share of flows within 5 %"),
        series: vec![
            series("repetitions".into(), 0, Style::Line, points),
            series("closed form".into(), 1, Style::Dashed, closed),
        ],
    })
}

/// A random order (Fisher, Yates).
fn permutation(count: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, (random.bits() % (last as u64 + 1)) as usize);
    }
    order
}

/// Figures 3, 4 and 10: what the equations of section 5 give.
fn parameters(figures: &mut Vec<Figure>, claims: &mut Vec<Claim>) {
    let megabyte = f64::from(8 << 20);
    let (mut thresholds, mut bits) = (vec![], vec![]);
    for megabytes in [0.2, 0.5, 1.0, 1.5, 2.0, 2.5] {
        let asked = Requirement {
            memory: megabytes * megabyte,
            reliability: 0.95,
            error: 0.05,
            delay_share: 0.5,
            least: 6e9,
            most: 7e9,
        };
        let found = solve(&asked);
        thresholds.push(point(megabytes, found.map(|found| found.threshold)));
        // An epoch of M bits holds T units of time.
        bits.push(point(megabytes, found.map(|found| asked.memory / found.threshold)));
    }
    let memory = Axis::logarithmic("memory (MB)");
    figures.push(Figure {
        name: "colate4",
        title: "threshold T for memory, (0.95, 0.05), flows of 6e9 to 7e9 units of time",
        x: memory,
        y: Axis::logarithmic("T (units of time)"),
        series: vec![series("equations 13 to 15, 22".into(), 0, Style::Line, thresholds)],
    });
    figures.push(Figure {
        name: "colate10",
        title: "storage for memory (figures 3 and 10): bits for each unit of time that packets add",
        x: memory,
        y: Axis::logarithmic("bits a unit; times the average time of a packet: bits a packet"),
        series: vec![series("equations 13 to 15, 22".into(), 0, Style::Line, bits)],
    });
    // n = 455,334 and T = 8e10: 8 Mbit hold 8e10 units of time.
    claims.push(Claim {
        by: Source::Target,
        what: "bits a packet at the paper's example (1 MB, T = 8e10), times of 950 units on average".into(),
        unit: "",
        stated: Stated::Below(0.1),
        measured: [megabyte / 8e10 * 950.0; 2],
        comment: "times in microseconds must then be from less than 2 ms before; of an interval of a second they take 52 bits a packet".into(),
    });
}
