//! What COLATE's paper says of RLI: figure 11 and table 3 of Shahzad, Liu, *Noise can help* (SIGMETRICS 2014).
//!
//! That paper sends three traces through a queue of half a second, and reference packets behind 10 to 300 packets, or 2 to 10. Its traces
//! are not public as it has them; how full they leave their link is not said either, but follows from how many packets there are between reference packets: RLI's
//! sender adapts that number to the load, and ours does so along a straight line. A link of ours is as full as gives the first column of table 3; what is then in its second
//! column, and how near RLI comes, is measured. COLATE's vector sees the same packets.
//!
//! The paper's means over its traces are those of all packets over all reference packets, 21.66 and 4.78, which table 3 gives with the packets of its table 2.
//!
//! # Test plan
//!
//! At a reduced scale: the first column as stated; more reference packets are nearer; the second column of each trace but one.

use super::{Passed, Router, Sending, distribution, percent, range, send, within};
use crate::colate::{PAPERS_COUNTERS, WIDTH};
use crate::figure::{Claim, Series, Source, Stated, Style};
use crate::{LabError, Progress, Scale};
use deltaline_estimate::colate::ColatePair;
use deltaline_estimate::interpolation::Counters;
use deltaline_model::reference::Spacing;
use deltaline_model::sketch::colate::{Colate, ColateParameters};
use deltaline_model::sketch::lds::FlowPacket;
use deltaline_model::sketch::sampler::Prefixes;
use deltaline_traffic::random::Seed;
use rayon::prelude::*;

/// The spacings that are compared, the ends of each, and what figure 11 has of flows within 5 %.
const SPACINGS: [([u32; 2], f64); 2] = [([10, 300], 77.0), ([2, 10], 81.0)];
/// Table 3: packets from one reference packet to the next.
const TRACES: [(&str, [f64; 2]); 3] =
    [("CHIC", [18.66, 10.0]), ("ICSI", [17.19, 2.97]), ("DC", [245.7, 9.06])];

/// What is used of a link on which the sender's number is this one.
fn utilisation(stated: f64) -> f64 {
    let [least, most] = SPACINGS[0].0.map(f64::from);
    (stated - least) / (most - least)
}

/// Steps of the experiment.
pub(super) fn steps(runs: u64) -> u64 {
    runs * (TRACES.len() * SPACINGS.len()) as u64
}

/// What passed, and the error of COLATE's mean of each flow.
fn measure(sending: &Sending, seed: Seed) -> Result<(Passed, Vec<Option<f64>>), LabError> {
    let parameters = ColateParameters {
        counters: (PAPERS_COUNTERS * sending.packets as f64) as usize,
        width: WIDTH,
        bits: 64,
        threshold: u64::MAX,
        prefixes: Prefixes::new(&[0])?,
        seed: 1,
    };
    let (mut sender, mut receiver) = (Colate::new(parameters)?, Colate::new(parameters)?);
    let hash = |flow: u64| Seed::new(flow).random().bits();
    let (mut random, mut begin) = (seed.with(1).random(), None);
    let passed = send(sending, seed.with(0), &mut |(flow, time, delay)| {
        // Times count from the beginning of the interval.
        let nanoseconds = time - *begin.get_or_insert(time);
        let packet =
            FlowPacket { flow: hash(flow), packet: random.bits(), nanoseconds, octets: 0, weight: 1 };
        sender.add(&packet);
        if let Some(delay) = delay {
            receiver.add(&FlowPacket { nanoseconds: nanoseconds + u64::from(delay), ..packet });
        }
    });
    let ends = [sender, receiver].map(Colate::finish);
    let ends = ends[0].last().zip(ends[1].last());
    // None if a packet was lost: of that the paper makes nothing.
    let pair = ends.and_then(|(sender, receiver)| ColatePair::new(&parameters, sender, receiver).ok());
    let mean = |flow, packets| pair.as_ref().map(|pair| pair.papers_mean(hash(flow), packets));
    let errors = passed.errors(|flow, known| mean(flow, known.truth.packets as f64), Counters::mean);
    Ok((passed, errors))
}

/// The figure's series; what the paper states goes to the claims.
pub(super) fn run(
    scale: &Scale,
    runs: u64,
    seed: Seed,
    progress: &dyn Progress,
    claims: &mut Vec<Claim>,
) -> Result<Vec<Series>, LabError> {
    let (mut series, mut colate) = (vec![], vec![]);
    for (number, ([least, most], stated)) in SPACINGS.into_iter().enumerate() {
        let mut errors = vec![];
        for (trace, (name, apart)) in TRACES.into_iter().enumerate() {
            let sending = Sending {
                packets: scale.packets,
                utilisation: utilisation(apart[0]),
                spacing: Spacing::Adaptive(least, most),
                router: Router::Colate,
                paths: 1,
                loss: 0.0,
            };
            let one = |run| {
                let found = measure(&sending, seed.with(trace as u64).with(run));
                progress.step();
                found
            };
            let found = (0..runs).into_par_iter().map(one).collect::<Result<Vec<_>, LabError>>()?;
            claims.push(Claim {
                by: Source::Paper,
                what: format!("{name}'s packets from one reference packet to the next, one in {least} to {most}"),
                unit: "",
                stated: Stated::About(apart[number]),
                measured: range(found.iter().map(|(passed, _)| passed.apart())),
                comment: match (number, name) {
                    (0, _) => "our link is as full as makes it so".into(),
                    (_, "CHIC") => {
                        "the paper's two columns contradict each other: the first is that of a link nearly idle, this one that of a full one".into()
                    }
                    _ => "on the same link; how the number follows the load is ours".into(),
                },
            });
            for (passed, by_colate) in found {
                errors.push(passed.means(0));
                colate.extend((number == 0).then_some(by_colate));
            }
        }
        claims.push(Claim {
            by: Source::Paper,
            what: format!(
                "flows whose mean RLI has within 5 %, one in {least} to {most}, the three traces' links"
            ),
            unit: " %",
            stated: Stated::About(stated),
            measured: percent(&errors, |errors| Some(within(errors, 0.05))),
            comment: "least and most of the three links; on nearly idle ones most of a packet's delay is the time that its own octets take, which reference packets do not show".into(),
        });
        series.push(distribution(format!("RLI, one in {least} to {most}"), number, Style::Line, &errors));
    }
    claims.push(Claim {
        by: Source::Paper,
        what: "flows whose mean COLATE has within 1 %, on the same links".into(),
        unit: " %",
        stated: Stated::Above(99.0),
        measured: percent(&colate, |errors| Some(within(errors, 0.01))),
        comment:
            "counters a packet as in the paper's example; what other flows add is larger than a flow's delays"
                .into(),
    });
    series.push(distribution("COLATE, its paper's".into(), 2, Style::Dashed, &colate));
    Ok(series)
}
