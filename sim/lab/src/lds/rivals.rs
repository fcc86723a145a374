//! Multiflow and RLI beside LDS, as in figures 9 and 10 of its paper.
//!
//! Both take a flow's delays from its neighbours', and LDS's paper compares them where neighbours do not wait alike: the traffic of
//! [`crate::flows`] with a life for every flow, from one random moment of the interval to another, in which its packets come at random. RLI's
//! reference packets, a thousand a second, are a flow of their own, which waits as most others do: 150 µs on average. Multiflow, which that paper calls MPE, knows of flows
//! that are sampled when their first and last packets came; of the others it says the mean of all packets, as there.
//!
//! # Test plan
//!
//! At a reduced scale: LDS is nearer than both for large flows, and neither gains from a flow's size as LDS does.

use super::{BINS, ERRORS, LARGE, Runs, quantile, series};
use crate::LabError;
use crate::figure::{Claim, Series, Source, Stated, Style};
use crate::flows::Flow;
use crate::rli::{is_sampled, multiflow, within};
use deltaline_estimate::interpolation::{Counters, Interpolator, Method};
use deltaline_traffic::delay::Delay;
use deltaline_traffic::random::Seed;

const NAMES: [&str; 3] = ["multiflow, 1 %", "multiflow, 10 %", "RLI, 1 kHz"];
/// Shares of the flows that multiflow samples.
const SHARES: [f64; 2] = [0.01, 0.1];
/// Between reference packets, in nanoseconds.
const APART: u64 = 1_000_000;
/// Mean delay of a reference packet in nanoseconds.
const REFERENCE_MEAN: f64 = 150_000.0;
/// The interval has so many nanoseconds for each packet, as for LDS.
const A_PACKET: f64 = 36_000.0;
/// Shape of a flow's delays, as for LDS.
const SHAPE: f64 = 0.8;

/// A flow's size, and the relative error of each of [`NAMES`].
struct Outcome {
    size: f64,
    errors: [Option<f64>; NAMES.len()],
}

/// A packet, or one of the reference packets: when it arrived, whose it is, and its delay.
type Arrival = (u64, Option<u64>, f64);

fn measure(flows: &[Flow], seed: Seed) -> Vec<Outcome> {
    let packets: f64 = flows.iter().map(|flow| f64::from(flow.size)).sum();
    let interval = A_PACKET * packets;
    let mut random = seed.random();
    let mut arrivals: Vec<Arrival> = Vec::with_capacity(packets as usize);
    let (mut ends, mut truths) = (Vec::with_capacity(flows.len()), Vec::with_capacity(flows.len()));
    let mut all = Counters::default();
    for (flow, number) in flows.iter().zip(0..) {
        let mut law = Delay::weibull(flow.mean, SHAPE);
        let [one, other] = [(); 2].map(|()| random.uniform() * interval);
        let (begin, life) = (one.min(other), (one - other).abs());
        let (mut first, mut last) = ((u64::MAX, 0.0), (0, 0.0));
        let mut truth = Counters::default();
        for _ in 0..flow.size {
            let sent = (begin + random.uniform() * life) as u64;
            let delay = law.draw(&mut random);
            arrivals.push((sent + u64::from(delay), Some(number), delay.into()));
            let sample = (sent, f64::from(delay));
            first = if sample.0 < first.0 { sample } else { first };
            last = if sample.0 >= last.0 { sample } else { last };
            truth.add(delay.into());
            all.add(delay.into());
        }
        ends.push([first, last]);
        truths.push(truth);
    }
    let mut law = Delay::weibull(REFERENCE_MEAN, SHAPE);
    for sent in (0..interval as u64).step_by(APART as usize) {
        let delay = law.draw(&mut random);
        arrivals.push((sent + u64::from(delay), None, delay.into()));
    }
    arrivals.sort_unstable_by_key(|(arrived, flow, _)| (*arrived, *flow));
    let mut receiver = Interpolator::new(Method::Linear);
    for (arrived, flow, delay) in arrivals {
        match flow {
            Some(flow) => receiver.packet(flow, arrived),
            None => receiver.reference(arrived, delay),
        }
    }
    let (interpolated, _) = receiver.finish();
    let sampled = SHARES.map(|share| {
        let ends = (0..).zip(&ends).filter(|(number, _)| is_sampled(*number, share));
        multiflow(ends.map(|(number, ends)| (number, *ends)).collect())
    });
    let overall = all.mean();
    let outcome = |((flow, truth), number): ((&Flow, Counters), u64)| {
        let truth = truth.mean()?;
        let [few, many] = [0, 1].map(|share| sampled[share].get(&number).copied().or(overall));
        let found = [few, many, interpolated.get(&number).and_then(Counters::mean)];
        let error = |found: Option<f64>| found.map(|found| (found / truth - 1.0).abs());
        Some(Outcome { size: flow.size.into(), errors: found.map(error) })
    };
    flows.iter().zip(truths).zip(0..).filter_map(outcome).collect()
}

/// Adds their series to figures 9 and 10, and compares them with the median errors of LDS for large flows, of each run.
pub(super) fn add(
    runs: &Runs,
    lds: Vec<f64>,
    [shares, medians]: [&mut Vec<Series>; 2],
    claims: &mut Vec<Claim>,
) -> Result<(), LabError> {
    let outcomes = runs.each(8, |flows, seed| Ok(measure(flows, seed)))?;
    for (method, name) in NAMES.into_iter().enumerate() {
        let colour = 5 + method;
        let inside = |run: &[Outcome], least: f64, beyond: f64| {
            let inside = run.iter().filter(|flow| (least..beyond).contains(&flow.size));
            inside.map(|flow| flow.errors[method]).collect::<Vec<_>>()
        };
        for (least, style) in [(LARGE, Style::Line), (0.0, Style::Dashed)] {
            let below = |error: f64| {
                runs.average(error, &outcomes, |run| {
                    Some(within(&inside(run, least + 1.0, f64::INFINITY), error))
                })
            };
            let name = format!("{name}, more than {least:.0} packets");
            shares.push(series(name, colour, style, ERRORS.map(below).to_vec()));
        }
        let median = |(least, beyond): (f64, f64)| {
            runs.average(least, &outcomes, |run| quantile(inside(run, least, beyond).into_iter(), 0.5))
        };
        medians.push(series(format!("{name}, median"), colour, Style::Dashed, BINS.map(median).to_vec()));
        let ratio = |(run, lds): (&Vec<Outcome>, &f64)| {
            Some(quantile(inside(run, LARGE + 1.0, f64::INFINITY).into_iter(), 0.5)? / lds)
        };
        let Some(ratios) = outcomes.iter().zip(&lds).map(ratio).collect::<Option<Vec<f64>>>() else {
            continue;
        };
        if ratios.is_empty() {
            continue;
        }
        claims.push(Claim {
            by: Source::Paper,
            what: format!(
                "median error of {name} / of LDS with 70,000 counters, flows of more than 1,000 packets"
            ),
            unit: "",
            stated: Stated::Above(1.0),
            measured: [
                ratios.iter().copied().fold(f64::INFINITY, f64::min),
                ratios.iter().copied().fold(0.0, f64::max),
            ],
            comment: "where neighbours do not wait alike".into(),
        });
    }
    Ok(())
}
