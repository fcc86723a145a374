//! `deltaline plan`: which routers of a network to upgrade, and who measures what then.
//!
//! # Test plan
//!
//! `tests/plan.rs`: a network counted by hand, as table and as JSON; the paper's m-sets; the ways to choose; what is refused. With
//! `DELTALINE_TOPOLOGIES`, a folder with the Sprint network of Rocketfuel, the published numbers.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{is_standard_input, name};
use crate::progress::working;
use crate::report::{self, or_none};
use clap::Args;
use deltaline_station::{
    Member, Plan as Choice, PlanError, Routes, TooManyPaths, Topology, TopologyError, Totals, read,
    read_from, sessions,
};
use serde::Serialize;
use std::io;
use std::path::PathBuf;

pub(crate) const EXAMPLES: &str = "\
Examples:
  The 45 routers that Algorithm 1 of the LDA paper upgrades, in this order:
    deltaline plan sprint.graph --upgrade 45

  The same number of routers, chosen for the probe hop count itself, for programs:
    deltaline plan sprint.graph --upgrade 45 --improved --json

  A network that runs OSPF, and what each of its routers and servers has to measure:
    vtysh -c 'show ip ospf database router json' | deltaline plan - --upgrade 3 --m-sets

Topologies are read as Repetita's .graph (costs: the column weight), GraphML (the Topology Zoo's; costs: data of edges \
named weight, cost or metric), Rocketfuel's .cch (no costs), and FRR's JSON.";

#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// The network; - is standard input
    topology: PathBuf,
    /// How many routers to upgrade, so that they measure their own delay
    #[arg(long, value_name = "N")]
    upgrade: usize,
    /// Upgrade any routers, for comparison
    #[arg(long)]
    random: bool,
    /// Seed of the random choice
    #[arg(long, default_value_t = 1, requires = "random")]
    seed: u64,
    /// Upgrade what lowers the probe hop count most, and exchange routers as long as that lowers it further
    #[arg(long, conflicts_with = "random")]
    improved: bool,
    /// Also list which routers each router, or the server beside it, has to measure to
    #[arg(long)]
    m_sets: bool,
    /// Write the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Output<'a> {
    method: &'static str,
    network: Network,
    probe_hops_before: u128,
    probe_hops: u128,
    /// Of the best choice of all, where all are tried.
    probe_hops_optimal: Option<u128>,
    segments_before: u128,
    segments: u128,
    granularity_mean_before: Option<f64>,
    granularity_mean: Option<f64>,
    granularity_min: u32,
    granularity_max: u32,
    routers: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    m_sets: Option<Vec<MSet<'a>>>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Network {
    routers: usize,
    links: usize,
}

#[derive(Serialize)]
struct MSet<'a> {
    router: &'a str,
    is_upgraded: bool,
    measures: Vec<Measured<'a>>,
    #[serde(skip)]
    labels: Vec<String>,
}

#[derive(Serialize)]
struct Measured<'a> {
    router: &'a str,
    path: u128,
    through: Vec<&'a str>,
}

impl From<TopologyError> for Failure {
    fn from(error: TopologyError) -> Self {
        Failure::new(Exit::Input, &error).of_file(error.file())
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::Paths(error) => error.into(),
            error @ (PlanError::Routers { .. } | PlanError::Optimal { .. }) => {
                Failure::new(Exit::Usage, format!("--upgrade: {error}"))
            }
        }
    }
}

impl From<TooManyPaths> for Failure {
    fn from(error: TooManyPaths) -> Self {
        Failure::new(Exit::Refused, error)
    }
}

pub(crate) fn run(arguments: &Plan) -> Result<Exit, Failure> {
    let topology = match is_standard_input(&arguments.topology) {
        true => read_from(&name(&arguments.topology), io::stdin()),
        false => read(&arguments.topology),
    }?;
    let routes = working("finding shortest paths", || Routes::of(&topology));
    let (plan, method) = working("choosing routers", || chosen(arguments, &routes))?;
    let optimal = match topology.len() <= Choice::MOST_OPTIMAL {
        true => Some(Choice::optimal(&routes, arguments.upgrade)?.after().probe_hops),
        false => None,
    };
    let m_sets = match arguments.m_sets {
        true => Some(working("cutting trees", || m_sets(&routes, &plan))?),
        false => None,
    };
    let (before, after) = (plan.before, plan.after());
    let output = Output {
        method,
        network: Network { routers: topology.len(), links: topology.link_count() },
        probe_hops_before: before.probe_hops,
        probe_hops: after.probe_hops,
        probe_hops_optimal: optimal,
        segments_before: before.segments,
        segments: after.segments,
        granularity_mean_before: before.granularity(),
        granularity_mean: after.granularity(),
        granularity_min: after.shortest,
        granularity_max: after.longest,
        routers: plan.steps.iter().map(|step| topology.name(step.router)).collect(),
        m_sets,
        warnings: warnings(&routes, arguments.upgrade, &plan),
    };
    if arguments.json {
        report::print_result("plan", &output)?;
    } else {
        report::print(&text(&topology, &plan, &output))?;
    }
    output.warnings.iter().for_each(|warning| report::say(warning));
    Ok(Exit::Done)
}

fn chosen(arguments: &Plan, routes: &Routes) -> Result<(Choice, &'static str), PlanError> {
    let Plan { upgrade, seed, .. } = *arguments;
    Ok(match (arguments.random, arguments.improved) {
        (true, _) => (Choice::random(routes, upgrade, seed)?, "random"),
        (_, true) => (Choice::improved(routes, upgrade)?, "improved"),
        _ => (Choice::greedy(routes, upgrade)?, "greedy"),
    })
}

fn m_sets<'a>(routes: &Routes<'a>, plan: &Choice) -> Result<Vec<MSet<'a>>, TooManyPaths> {
    let topology = routes.topology();
    let mut upgraded = vec![false; topology.len()];
    plan.steps.iter().for_each(|step| upgraded[step.router] = true);
    let m_set = |router: usize| {
        let members = sessions(routes, &upgraded, router)?;
        let measured = |member: &Member| Measured {
            router: member.end().map_or("", |end| topology.name(end)),
            path: member.ordinal,
            through: member.between().map(|router| topology.name(router)).collect(),
        };
        Ok(MSet {
            router: topology.name(router),
            is_upgraded: upgraded[router],
            measures: members.iter().map(measured).collect(),
            labels: members.iter().map(|member| member.label(topology)).collect(),
        })
    };
    (0..topology.len()).map(m_set).collect()
}

/// What the numbers do not say.
fn warnings(routes: &Routes, asked: usize, plan: &Choice) -> Vec<String> {
    let topology = routes.topology();
    let mut warnings = vec![];
    let mut warn = |count: u64, text: &str| {
        if count > 0 {
            warnings.push(format!("{count} {text}"));
        }
    };
    warn(topology.parallel, "parallel links were left out: of those between two routers the cheapest counts");
    warn(topology.loops, "links from a router to itself were left out");
    warn(routes.unreachable(), "ordered pairs of routers have no path between them, and no probes");
    let spare = asked - plan.steps.len();
    warn(spare as u64, "upgrades would save nothing and are left out: no segment passes a further router");
    warnings.extend(topology.remarks.iter().map(ToString::to_string));
    warnings
}

fn text(topology: &Topology, plan: &Choice, output: &Output) -> String {
    let mut table = report::table(&["upgraded", "router", "probe hops", "segments", "mean", "least", "most"]);
    let steps = plan.steps.iter().map(|step| (topology.name(step.router), step.totals));
    for (number, (router, totals)) in [("", plan.before)].into_iter().chain(steps).enumerate() {
        let Totals { probe_hops, segments, shortest, longest } = totals;
        table.add_row([
            number.to_string(),
            router.to_string(),
            probe_hops.to_string(),
            segments.to_string(),
            or_none(totals.granularity(), |mean| format!("{mean:.2}")),
            shortest.to_string(),
            longest.to_string(),
        ]);
    }
    let Network { routers, links } = output.network;
    let mut text =
        format!("{table}\n{routers} routers, {links} links; mean, least, most: hops of a segment\n");
    if let Some(optimal) = output.probe_hops_optimal {
        text += &format!("of all choices the best has {optimal} probe hops\n");
    }
    for MSet { router, is_upgraded, labels, .. } in output.m_sets.iter().flatten() {
        let who = if *is_upgraded { "m-router" } else { "m-server" };
        text += &format!("{who} {router}: {}\n", labels.join(", "));
    }
    text
}
