//! Figures 12a and 12b: MPLANE's incremental deployment, the LDA paper's figures 7 to 9.
//!
//! Routers of a network are upgraded one after the other, by Algorithm 1, at random, and by the improved choice, and the probe hop count and
//! the localisation granularity are taken after each (`deltaline_station`). The paper's network, Sprint as Rocketfuel has mapped it, may
//! not be passed on; without one of the reader's own a network like it is generated.
//!
//! # The generated network
//!
//! `CITIES` places in a square, each connected to its nearest ones and some to any other, at a cost of its distance; in each two core
//! routers and some that hang on both, at equal costs, so that there are paths of equal cost.
//!
//! # Test plan
//!
//! The toy network's sets are the paper's; hop counts fall from step to step, at random more slowly than by choice; the same
//! seed gives the same network.

use crate::figure::{Axis, Claim, Figure, Point, Series, Source, Stated, Style};
use crate::{LabError, Progress, Report, Scale};
use deltaline_station::{Plan, Routes, Topology, Totals, parse, sessions};
use deltaline_traffic::random::Seed;
use rayon::prelude::*;
use std::fmt::Display;

const TOY: &str = include_str!("../../../host/station/topologies/figure-7.graph");
/// Of the toy network's routers, those that the paper upgrades.
const TOY_UPGRADES: [&str; 2] = ["C", "F"];
/// Places of the generated network.
const CITIES: usize = 30;
/// Where the improved choice is made: shares of all routers.
const SHARES: [f64; 6] = [0.02, 0.05, 0.1, 0.15, 0.2, 0.3];
/// What the paper upgrades of its network to have two orders of magnitude fewer hops, and granularity 1.5.
const SEVENTH: f64 = 45.0 / 315.0;
const SIXTH: f64 = 50.0 / 315.0;

fn failed(error: impl Display) -> LabError {
    LabError::Network(error.to_string())
}

/// A network of cities, two core routers in each and others that hang on both.
fn generated(seed: Seed) -> Result<Topology, LabError> {
    let mut random = seed.random();
    let places: Vec<[f64; 2]> = (0..CITIES).map(|_| [random.uniform(), random.uniform()]).collect();
    let distance = |one: usize, other: usize| {
        let [x, y] = [0, 1].map(|axis| places[one][axis] - places[other][axis]);
        (x.hypot(y) * 1000.0) as u32 + 10
    };
    let mut topology = Topology::new();
    let mut connect = |one: &str, other: &str, cost| topology.connect(one, other, cost).map_err(failed);
    let core = |city: usize, side: usize| format!("core {city}.{side}");
    for city in 0..CITIES {
        connect(&core(city, 0), &core(city, 1), 5)?;
        for router in 0..1 + random.bits() as usize % 14 {
            for side in 0..2 {
                connect(&format!("access {city}.{router}"), &core(city, side), 20)?;
            }
        }
        let mut near: Vec<usize> = (0..city).collect();
        near.sort_by_key(|&other| distance(city, other));
        let far = near.get(random.bits() as usize % CITIES).copied();
        for other in near.into_iter().take(2).chain(far) {
            for side in 0..2 {
                connect(&core(city, side), &core(other, side), distance(city, other))?;
            }
        }
    }
    Ok(topology)
}

/// The sets of the toy network, as the paper writes them.
fn toy() -> Result<String, LabError> {
    let topology = parse("figure 7", TOY).map_err(failed)?;
    let routes = Routes::of(&topology);
    let mut upgraded = vec![false; topology.len()];
    let mut all: Vec<usize> = (0..topology.len()).collect();
    all.iter().for_each(|&router| upgraded[router] = TOY_UPGRADES.contains(&topology.name(router)));
    all.sort_by_key(|&router| topology.name(router));
    let mut text = String::from("\n\n| router | upgraded | measures to |\n|---|---|---|");
    for router in all {
        let members = sessions(&routes, &upgraded, router).map_err(failed)?;
        let labels: Vec<String> = members.iter().map(|member| member.label(&topology)).collect();
        let is_upgraded = if upgraded[router] { "yes" } else { "no" };
        text += &format!("\n| {} | {is_upgraded} | {} |", topology.name(router), labels.join(", "));
    }
    Ok(text)
}

/// The network before and after each step.
fn totals(plan: &Plan) -> impl Iterator<Item = (f64, Totals)> {
    let steps = plan.steps.iter().map(|step| step.totals);
    [plan.before].into_iter().chain(steps).enumerate().map(|(number, totals)| (number as f64, totals))
}

fn line(name: &str, colour: usize, style: Style, points: Vec<Point>) -> Series {
    Series { name: name.into(), colour, style, points }
}

/// What of the network is drawn over the upgrades.
type Value = fn(&Totals) -> Option<f64>;

/// The series of a value that greedy, improved and random upgrades have in common.
fn compared(greedy: &Plan, improved: &[Plan], random: &[Plan], value: Value) -> Vec<Series> {
    let point = |(x, totals): (f64, Totals)| Point::average(x, [value(&totals)].into_iter());
    let drawn = (0..=greedy.steps.len()).map(|step| {
        let values = random.iter().map(|plan| totals(plan).nth(step).and_then(|(_, totals)| value(&totals)));
        Point::average(step as f64, values)
    });
    let chosen = improved.iter().map(|plan| point((plan.steps.len() as f64, plan.after())));
    vec![
        line("Algorithm 1", 0, Style::Line, totals(greedy).map(point).collect()),
        line("improved", 1, Style::Line, chosen.collect()),
        line("random", 2, Style::Dashed, drawn.collect()),
    ]
}

/// Runs the experiment on `topology`, or on the generated network.
///
/// # Errors
///
/// [`LabError`].
pub fn run(scale: &Scale, topology: Option<&Topology>, progress: &dyn Progress) -> Result<Report, LabError> {
    let seed = Seed::new(scale.seed).with(12);
    let own = if topology.is_none() { Some(generated(seed)?) } else { None };
    let Some(topology) = topology.or(own.as_ref()) else { return Err(failed("there is no network")) };
    let (routers, links) = (topology.len(), topology.link_count());
    progress.expect((1 + SHARES.len() + scale.runs) as u64);
    let routes = Routes::of(topology);
    let of = |share: f64| (share * routers as f64).round() as usize;
    let greedy = Plan::greedy(&routes, of(1.0 / 3.0)).map_err(failed)?;
    progress.step();
    let improved = SHARES.into_par_iter().map(|share| {
        let plan = Plan::improved(&routes, of(share)).map_err(failed);
        progress.step();
        plan
    });
    let improved: Vec<Plan> = improved.collect::<Result<_, _>>()?;
    let random = (0..scale.runs as u64).into_par_iter().map(|run| {
        let plan = Plan::random(&routes, greedy.steps.len(), seed.with(run).random().bits()).map_err(failed);
        progress.step();
        plan
    });
    let random: Vec<Plan> = random.collect::<Result<_, _>>()?;

    let hops: Value = |totals| (totals.segments > 0).then_some(totals.probe_hops as f64);
    let mut granularity = compared(&greedy, &improved, &random, Totals::granularity);
    let extremes: [(&str, Value); 2] = [
        ("Algorithm 1, least", |totals| Some(f64::from(totals.shortest))),
        ("Algorithm 1, most", |totals| Some(f64::from(totals.longest))),
    ];
    for (name, value) in extremes {
        let points = totals(&greedy).map(|(x, totals)| Point::average(x, [value(&totals)].into_iter()));
        granularity.push(line(name, 3, Style::Dashed, points.collect()));
    }
    let axis = Axis::linear("upgraded routers");
    let figure = |name, title, y, series| Figure { name, title, x: axis, y, series };
    let after = |share: f64| totals(&greedy).nth(of(share)).map_or(greedy.after(), |(_, totals)| totals);
    let fewer = greedy.before.probe_hops as f64 / after(SEVENTH).probe_hops.max(1) as f64;
    let ratios = improved.iter().map(|plan| {
        let count = plan.steps.len() as f64;
        let other = totals(&greedy).find(|&(x, _)| x == count).map_or(greedy.after(), |(_, totals)| totals);
        plan.after().probe_hops as f64 / other.probe_hops.max(1) as f64
    });
    let (best, worst) =
        ratios.fold((f64::INFINITY, 0.0f64), |(best, worst), ratio| (best.min(ratio), worst.max(ratio)));
    let network = match own {
        Some(_) => format!("A generated network of {routers} routers and {links} links"),
        None => format!("A network of {routers} routers and {links} links"),
    };
    Ok(Report {
        title: "MPLANE's incremental deployment (figure 14: the LDA paper's figures 7 to 9)",
        text: format!(
            "{network}. Routers are upgraded by the paper's Algorithm 1, which takes the router that most segments pass; by the \
             improved choice, which takes the one that saves most hops and then exchanges; and at random, {} times. The probe hop \
             count is that of all segments, each once; granularity is hops of a segment. `deltaline plan` does the same for a file. The paper \
             has the Sprint network of Rocketfuel, which may not be passed on: `--topology`.\n\nThe toy network of figure 7, whose \
             links are chosen so that the sets of figure 8 come out, which the paper has of A, C and F:{}",
            scale.runs,
            toy()?
        ),
        figures: vec![
            figure(
                "14a",
                "probe hop count",
                Axis::logarithmic("hops of all segments"),
                compared(&greedy, &improved, &random, hops),
            ),
            figure("14b", "localisation granularity", Axis::linear("hops of a segment"), granularity),
        ],
        claims: vec![
            Claim {
                by: Source::Paper,
                what: "times fewer probe hops with a seventh of the routers upgraded (45 of 315)".into(),
                unit: "",
                stated: Stated::Above(95.0),
                measured: [fewer; 2],
                comment: "the paper's figure is of the Sprint network".into(),
            },
            Claim {
                by: Source::Paper,
                what: "average granularity with a sixth of the routers upgraded (50 of 315)".into(),
                unit: "",
                stated: Stated::About(1.5),
                measured: [after(SIXTH).granularity().unwrap_or(f64::NAN); 2],
                comment: "the paper's figure is of the Sprint network".into(),
            },
            Claim {
                by: Source::Target,
                what: "probe hops of the improved choice, of those of Algorithm 1".into(),
                unit: "",
                stated: Stated::Below(1.0),
                measured: [best, worst],
                comment: String::new(),
            },
        ],
    })
}
