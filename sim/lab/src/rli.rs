//! RLI: delays of flows from reference packets, beside other ways to know them, as in figures 5 to 7 of Lee, Duffield, Kompella,
//! *Not all microseconds are equal* (SIGCOMM 2010), and what COLATE's paper says of it ([`colates`]).
//!
//! Packets of sessions ([`deltaline_traffic::source::Sessions`]), each a flow, pass a queue with random early detection as that paper has
//! it. What the link carries is the same in all cases, and how fast it is drained decides the utilisation. Reference packets of 64 bytes
//! go through the same queue, and so wait, are lost and make others wait as any packet. The traffic needs a while to build up: a tenth of
//! the packets pass before anything is counted.
//!
//! | way | what a flow's mean is made of |
//! |---|---|
//! | RLI, linear, one-sided, shrinkage | interpolated delays of all of its packets ([`deltaline_estimate::interpolation`]) |
//! | trajectory sampling | delays of its packets that a hash samples |
//! | multiflow | delays of the first and last packets, within the flow's life, of all flows that a hash samples, if its own is one of them |
//! | mean of all | delays of all packets of all flows |
//!
//! Where flows take turns on two queues, neighbours do not wait alike, and reference packets pass one of the two: the same, there.
//!
//! # Test plan
//!
//! At a reduced scale: more reference packets have smaller errors; the linear method is nearer than the one-sided; on two queues RLI is worse than
//! on one; numbers of packets between reference packets within their ends. The methods have their own tests.

mod colates;

use crate::figure::{Axis, Claim, Figure, Point, Series, Source, Stated, Style};
use crate::{LabError, Progress, Report, Scale};
use deltaline_estimate::interpolation::{Counters, Interpolator, Method};
use deltaline_model::reference::{Injector, Spacing};
use deltaline_traffic::loss::Losses;
use deltaline_traffic::queue::{Queue, RLI_CAPACITY, Red};
use deltaline_traffic::random::{Random, Seed};
use deltaline_traffic::source::{MEAN_BYTES, Sent, Sessions};
use rayon::prelude::*;
use std::collections::HashMap;

/// What the sessions send together, in bytes a second: that of a link of 10 Gbit/s, of which 88 % are used.
const RATE: f64 = 1.1e9;
/// Share of it that a session sends while it lasts.
const SESSION_SHARE: f64 = 0.01;
/// The paper's utilisations.
const UTILISATIONS: [f64; 3] = [0.22, 0.55, 0.88];
/// Length of a reference packet in bytes.
const REFERENCE_BYTES: u32 = 64;
/// Of all packets, the first tenth is not counted.
const WARM_UP: usize = 10;
/// Shares that trajectory sampling and multiflow sample.
const SAMPLES: [f64; 2] = [0.01, 0.1];
/// Errors at which distributions are shown.
const ERRORS: [f64; 11] = [1e-3, 3e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 3.0];
/// Upper ends of the bins of true delays, in seconds, a factor of about three apart.
const DELAYS: [f64; 9] = [3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, f64::INFINITY];

const METHODS: [(&str, Method); 3] = [
    ("linear", Method::Linear),
    ("one-sided", Method::OneSided),
    ("shrinkage", Method::Shrinkage { lambda: 0.9, weight: 0.1 }),
];

/// A flow's delays as they were, and where and when it began and ended.
#[derive(Clone, Copy, Default)]
pub(crate) struct Flow {
    pub(crate) truth: Counters,
    first: (u64, f64),
    last: (u64, f64),
    /// By each share that is sampled, its sampled packets.
    sampled: [Counters; SAMPLES.len()],
}

/// What passed, and what was found.
pub(crate) struct Passed {
    pub(crate) flows: HashMap<u64, Flow>,
    pub(crate) all: Counters,
    /// Of each method.
    pub(crate) found: Vec<HashMap<u64, Counters>>,
    /// Packets that passed or were lost, and reference packets that were sent.
    packets: u64,
    pub(crate) references: u64,
    lost: u64,
}

/// Whose queue it is, with random early detection.
#[derive(Clone, Copy)]
pub(crate) enum Router {
    /// RLI's paper's, of 10,000 packets.
    Rli,
    /// COLATE's paper's, of half a second.
    Colate,
}

impl Router {
    /// Drained at so many bytes a second.
    fn queue(self, drain: f64, random: Random) -> Queue {
        match self {
            Router::Rli => Queue::red(RLI_CAPACITY, drain, Red::RLI, random),
            Router::Colate => {
                let capacity = (0.5 * drain / MEAN_BYTES) as usize;
                Queue::red(capacity, drain, Red::colate(capacity), random)
            }
        }
    }
}

/// How packets are sent.
#[derive(Clone, Copy)]
pub(crate) struct Sending {
    pub(crate) packets: usize,
    pub(crate) utilisation: f64,
    pub(crate) spacing: Spacing,
    pub(crate) router: Router,
    /// Queues, which flows take turns on.
    pub(crate) paths: u64,
    /// Share of the packets that is lost behind the queues, reference packets among them.
    pub(crate) loss: f64,
}

/// A packet that is counted: its flow, when it was sent, and its delay in nanoseconds, none if it was lost.
pub(crate) type Passage = (u64, u64, Option<u32>);

/// Sends packets through as many queues as there are, by flow, and tells of each.
pub(crate) fn send(sending: &Sending, seed: Seed, tell: &mut dyn FnMut(Passage)) -> Passed {
    let Sending { packets, utilisation, spacing, router, paths, loss } = *sending;
    let mut sessions = Sessions::new(RATE, SESSION_SHARE, seed.with(0).random());
    let drain = RATE / utilisation;
    // Of two queues one is slower: what is sent is the same.
    let slower = |path: u64| drain / paths as f64 * if path == 0 { 1.0 } else { 0.97 };
    let mut queues: Vec<Queue> =
        (0..paths).map(|path| router.queue(slower(path), seed.with(1 + path).random())).collect();
    let mut random = seed.with(99).random();
    let mut losses = Losses::uniform(loss, seed.with(98).random());
    let mut arriving = |delay: Option<u32>| delay.filter(|_| losses.next() != Some(true));
    let mut injector = Injector::new(spacing, drain);
    let mut receivers: Vec<Interpolator> = METHODS.map(|(_, method)| Interpolator::new(method)).into();
    let mut passed = Passed {
        flows: HashMap::new(),
        all: Counters::default(),
        found: vec![],
        packets: 0,
        references: 0,
        lost: 0,
    };
    // Arrivals are in order where there is one queue; else a packet is taken for as early as the last one.
    let mut arrived = 0;
    for number in 0..packets {
        let Some((packet, flow)) = sessions.next_of_session() else { break };
        let path = (flow % paths) as usize;
        let is_counted = number >= packets / WARM_UP;
        let delay = arriving(queues[path].pass(packet));
        if is_counted {
            tell((flow, packet.time, delay));
        }
        if let (Some(delay), true) = (delay, is_counted) {
            arrived = arrived.max(packet.time + u64::from(delay));
            let delay = f64::from(delay);
            let known = passed.flows.entry(flow).or_default();
            if known.truth.packets == 0 {
                known.first = (packet.time, delay);
            }
            known.last = (packet.time, delay);
            known.truth.add(delay);
            passed.all.add(delay);
            let chance = random.uniform();
            for (sampled, share) in known.sampled.iter_mut().zip(SAMPLES) {
                if chance < share {
                    sampled.add(delay);
                }
            }
            receivers.iter_mut().for_each(|receiver| receiver.packet(flow, arrived));
        }
        passed.packets += u64::from(is_counted);
        passed.lost += u64::from(is_counted && delay.is_none());
        if injector.is_due_behind(packet.time, packet.bytes) {
            passed.references += u64::from(is_counted);
            let reference = Sent { time: packet.time, bytes: REFERENCE_BYTES };
            // Reference packets are a flow of their own, and take its path.
            if let (Some(delay), true) = (arriving(queues[0].pass(reference)), is_counted) {
                arrived = arrived.max(reference.time + u64::from(delay));
                receivers.iter_mut().for_each(|receiver| receiver.reference(arrived, f64::from(delay)));
            }
        }
    }
    passed.found = receivers.into_iter().map(|receiver| receiver.finish().0).collect();
    passed
}

impl Passed {
    /// The errors of what `found` says of all flows, |true - estimated| / true; none where it says nothing.
    fn errors(
        &self,
        found: impl Fn(u64, &Flow) -> Option<f64>,
        true_value: fn(&Counters) -> Option<f64>,
    ) -> Vec<Option<f64>> {
        let error = |(number, flow): (&u64, &Flow)| {
            let truth = true_value(&flow.truth).filter(|truth| *truth > 0.0)?;
            Some(found(*number, flow).map(|found| (found / truth - 1.0).abs()))
        };
        self.flows.iter().filter_map(error).collect()
    }

    /// Of the means by a method.
    fn means(&self, method: usize) -> Vec<Option<f64>> {
        self.errors(|number, _| self.found.get(method)?.get(&number)?.mean(), Counters::mean)
    }

    /// Of the deviations, of flows of at least two packets.
    fn deviations(&self, method: usize) -> Vec<Option<f64>> {
        self.errors(|number, _| self.found.get(method)?.get(&number)?.deviation(), Counters::deviation)
    }

    /// Of the means by sampled packets.
    fn trajectories(&self, share: usize) -> Vec<Option<f64>> {
        self.errors(|_, flow| flow.sampled.get(share)?.mean(), Counters::mean)
    }

    /// Of the mean of all.
    fn overall(&self) -> Vec<Option<f64>> {
        let all = self.all.mean();
        self.errors(|_, _| all, Counters::mean)
    }

    /// Of the means by first and last packets.
    fn multiflow(&self, share: f64) -> Vec<Option<f64>> {
        let means = self.means_of_sampled_flows(share);
        self.errors(|number, _| means.get(&number).copied(), Counters::mean)
    }

    /// The means by first and last packets, of flows that a hash samples with this probability.
    pub(crate) fn means_of_sampled_flows(&self, share: f64) -> HashMap<u64, f64> {
        let ends = |(number, flow): (&u64, &Flow)| (*number, [flow.first, flow.last]);
        multiflow(self.flows.iter().filter(|(number, _)| is_sampled(**number, share)).map(ends).collect())
    }

    /// Packets from one reference packet to the next.
    fn apart(&self) -> f64 {
        self.packets as f64 / self.references.max(1) as f64
    }
}

/// Multiflow: the mean of each flow, from times and delays of its first and last packets and of those of the others within its life.
pub(crate) fn multiflow(flows: Vec<(u64, [(u64, f64); 2])>) -> HashMap<u64, f64> {
    let mut samples: Vec<(u64, f64)> = flows.iter().flat_map(|(_, ends)| *ends).collect();
    samples.sort_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    let mut sums = vec![0.0];
    for (_, delay) in &samples {
        sums.push(sums[sums.len() - 1] + delay);
    }
    let mean = |(number, [first, last]): (u64, [(u64, f64); 2])| {
        let from = samples.partition_point(|(time, _)| *time < first.0);
        let to = samples.partition_point(|(time, _)| *time <= last.0);
        (number, (sums[to] - sums[from]) / (to - from) as f64)
    };
    flows.into_iter().map(mean).collect()
}

/// Whether a hash samples a session, with this probability. Sessions are numbered as they come; their hash is one of the multiplicative kind.
pub(crate) fn is_sampled(number: u64, share: f64) -> bool {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 < (share * 2f64.powi(32)) as u64
}

/// The value that this share of all does not exceed; what has none counts as the largest.
fn quantile(errors: &[Option<f64>], share: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = errors.iter().map(|error| error.unwrap_or(f64::INFINITY)).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get((share * sorted.len() as f64) as usize).copied().filter(|value| value.is_finite())
}

/// The share of all within an error.
pub(crate) fn within(errors: &[Option<f64>], most: f64) -> f64 {
    let good = errors.iter().filter(|error| error.is_some_and(|error| error <= most)).count();
    good as f64 / errors.len().max(1) as f64
}

/// The distribution of errors, averaged over the runs.
fn distribution(name: String, colour: usize, style: Style, runs: &[Vec<Option<f64>>]) -> Series {
    let point = |most| Point::average(most, runs.iter().map(|errors| Some(within(errors, most))));
    Series { name, colour, style, points: ERRORS.map(point).to_vec() }
}

/// Least and largest of a value over the runs, in per cent.
fn percent(runs: &[Vec<Option<f64>>], value: impl Fn(&[Option<f64>]) -> Option<f64>) -> [f64; 2] {
    range(runs.iter().map(|errors| 100.0 * value(errors).unwrap_or(f64::INFINITY)))
}

/// The least and the largest.
fn range(values: impl Iterator<Item = f64>) -> [f64; 2] {
    values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| [low.min(value), high.max(value)])
}

fn figure(name: &'static str, title: &'static str, series: Vec<Series>) -> Figure {
    let (x, y) = (Axis::logarithmic("relative error"), Axis::linear("share of flows"));
    Figure { name, title, x, y, series }
}

pub(crate) fn run(scale: &Scale, progress: &dyn Progress) -> Result<Report, LabError> {
    // One trace in the paper: a fifth of other experiments' runs.
    let runs = scale.runs.div_ceil(5) as u64;
    let seed = Seed::new(scale.seed).with(19);
    progress.expect(runs * (UTILISATIONS.len() as u64 + 1) + colates::steps(runs));
    let each = |utilisation: f64, spacing: Spacing, paths: u64| -> Vec<Passed> {
        let one = |run| {
            let router = Router::Rli;
            let sending = Sending { packets: scale.packets, utilisation, spacing, router, paths, loss: 0.0 };
            let passed = send(&sending, seed.with(run), &mut |_| {});
            progress.step();
            passed
        };
        (0..runs).into_par_iter().map(one).collect()
    };
    let errors = |passed: &[Passed], of: &dyn Fn(&Passed) -> Vec<Option<f64>>| -> Vec<_> {
        passed.iter().map(of).collect()
    };

    let (mut means, mut deviations, mut by_delay, mut claims) = (vec![], vec![], vec![], vec![]);
    let (mut losses, mut busiest) = (vec![], vec![]);
    for (colour, utilisation) in UTILISATIONS.into_iter().enumerate() {
        let passed = each(utilisation, Spacing::PAPER, 1);
        let name = format!("{:.0} %", 100.0 * utilisation);
        let found = errors(&passed, &|run| run.means(0));
        means.push(distribution(name.clone(), colour, Style::Line, &found));
        deviations.push(distribution(
            name.clone(),
            colour,
            Style::Line,
            &errors(&passed, &|run| run.deviations(0)),
        ));
        by_delay.push(binned(name.clone(), colour, &passed));
        let stated = if utilisation < 0.5 { Stated::About(30.0) } else { Stated::Between(10.0, 12.0) };
        claims.push(Claim {
            by: Source::Paper,
            what: format!("RLI's median error of flows' means, utilisation {name}"),
            unit: " %",
            stated,
            measured: percent(&found, |errors| quantile(errors, 0.5)),
            comment:
                "our traffic, as the paper's traces are not public; what they have in common with it is the utilisation alone"
                    .into(),
        });
        if utilisation > 0.5 {
            claims.push(Claim {
                by: Source::Paper,
                what: format!("its 75th percentile, utilisation {name}"),
                unit: " %",
                stated: Stated::Below(20.0),
                measured: percent(&found, |errors| quantile(errors, 0.75)),
                comment: "as of the median: how bursty the traffic is is our choice".into(),
            });
        }
        losses.extend(passed.iter().map(|run| 100.0 * run.lost as f64 / run.packets.max(1) as f64));
        busiest = passed;
    }
    let mut compared = vec![];
    for (number, (name, _)) in METHODS.into_iter().enumerate() {
        let style = if number == 0 { Style::Line } else { Style::Dashed };
        compared.push(distribution(
            format!("RLI, {name}"),
            number,
            style,
            &errors(&busiest, &|run| run.means(number)),
        ));
    }
    for (number, share) in SAMPLES.into_iter().enumerate() {
        let found = errors(&busiest, &|run| run.trajectories(number));
        compared.push(distribution(format!("trajectory sampling, {share}"), 3, Style::Dashed, &found));
        let found = errors(&busiest, &|run| run.multiflow(share));
        compared.push(distribution(format!("multiflow, {share}"), 4, Style::Dashed, &found));
    }
    compared.push(distribution(
        "multiflow, all".into(),
        4,
        Style::Line,
        &errors(&busiest, &|run| run.multiflow(1.0)),
    ));
    compared.push(distribution("mean of all".into(), 5, Style::Line, &errors(&busiest, &Passed::overall)));

    let parted = each(0.88, Spacing::PAPER, 2);
    let on_two_paths = vec![
        distribution("RLI, linear".into(), 0, Style::Line, &errors(&parted, &|run| run.means(0))),
        distribution("multiflow, all".into(), 4, Style::Line, &errors(&parted, &|run| run.multiflow(1.0))),
        distribution("mean of all".into(), 5, Style::Line, &errors(&parted, &Passed::overall)),
    ];
    let colates = colates::run(scale, runs, seed.with(u64::MAX), progress, &mut claims)?;
    let [least_lost, most_lost] = range(losses.into_iter());
    Ok(Report {
        title: "Delays of flows: reference packets (rli)",
        text: format!(
            "Figures 5 to 7 of Lee, Duffield, Kompella, *Not all microseconds are equal* (SIGCOMM 2010), and other ways beside it. {} packets, {runs} runs; \
             sessions of Pareto lengths through a queue of {RLI_CAPACITY} packets with random early detection, parameters as in that paper; its traces, of CAIDA and \
             of a router, are not public, and so how bursty the traffic is is our choice (`sim/traffic/src/source.rs`). Packets have 64, 576 and 1500 bytes, seven to four to one; sessions begin at random, have 10 \
             packets at least and 30 on average (Pareto, shape 1.5), and send one percent of the load each while they last. Where nothing is lost the queue is \
             never as long as random early detection asks for before it drops any. One reference packet behind \
             10 packets on an idle link to one behind 300 on a busy one. {least_lost:.2} to {most_lost:.2} % of the packets were lost. Errors are |true - estimated| / \
             true; a flow of which a way says nothing counts as the worst.",
            scale.packets
        ),
        figures: vec![
            figure("rli5", "error of flows' means, by utilisation", means),
            Figure {
                name: "rli6",
                title: "error of flows' means, by true delay",
                x: Axis::logarithmic("true delay up to (s)"),
                y: Axis::logarithmic("average relative error"),
                series: by_delay,
            },
            figure("rli7", "error of flows' deviations, by utilisation", deviations),
            figure("rli8", "ways to know flows' means, utilisation 88 %", compared),
            figure("rli9", "the same where flows take turns on two queues", on_two_paths),
            figure("rli10", "COLATE's figure 11: its queue, and links as full as its traces'", colates),
        ],
        claims,
    })
}

/// Average errors by true delay.
fn binned(name: String, colour: usize, passed: &[Passed]) -> Series {
    let mean_error = |run: &Passed, least: f64, most: f64| {
        let inside =
            |flow: &Flow| flow.truth.mean().is_some_and(|mean| (least..most).contains(&(mean / 1e9)));
        let found = |(number, flow): (&u64, &Flow)| {
            let found = run.found.first()?.get(number)?.mean()?;
            Some((found / flow.truth.mean()? - 1.0).abs())
        };
        let errors: Vec<f64> = run.flows.iter().filter(|(_, flow)| inside(flow)).filter_map(found).collect();
        // A few flows have no average that is one.
        (errors.len() >= 30).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
    };
    let bins = DELAYS.windows(2).filter_map(|bin| bin.first_chunk::<2>());
    let points = bins
        .filter(|[_, most]| most.is_finite())
        .map(|[least, most]| Point::average(*most, passed.iter().map(|run| mean_error(run, *least, *most))))
        .collect();
    Series { name, colour, style: Style::Line, points }
}
