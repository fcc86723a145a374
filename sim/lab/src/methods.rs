//! Methods: those of the five papers and ours, on the same streams and in as many octets, by what is asked of them.
//!
//! What comes of it are a page of its own and the file that `deltaline advise` answers from.
//!
//! # How
//!
//! Every method sees the same packets of a run, lost alike, and has at most `OCTETS` octets of memory at each end, or of single flows
//! `flows::OCTETS`; tables are sent whole, and probes have as many octets on the link as the tables of both ends. Errors are root mean squares over the runs
//! in which a method answers: of mean and loss relative to the true value, of the quantile in ranks. Of single flows they are medians
//! over the flows, averaged over the runs. Streams differ in how delays
//! depend on each other, and nobody knows beforehand which is theirs: that method is the best which is never many times farther off than
//! the best one of the stream.
//!
//! # Test plan
//!
//! At a reduced scale: methods that see all packets are exact where none is lost; errors of samples are those of theory; what asks for
//! order refuses where order is not kept; rows without digests are far off where packets come in from elsewhere, and those with digests
//! are not; the recommended method is the first of those that always answer.

mod aggregate;
mod flows;

use crate::figure::{Axis, Claim, Figure, Point, Series, Source, Stated, Style, significant};
use crate::path::{Distribution, Law, Path, Run};
use crate::traffic::Pattern;
use crate::{LabError, Progress, Report, Scale};
use aggregate::{Aggregate, Found, METHODS, QUANTILE};
use deltaline_traffic::random::Seed;
use rayon::prelude::*;
use serde::Serialize;
use std::iter;

/// Octets of memory that a method for all packets has at each end: 1,024 records of 144 bits, or 2,048 rows of 72.
const OCTETS: usize = 18_432;
/// Octets that both ends' tables are on a link.
const LINK_OCTETS: usize = 2 * OCTETS;
/// Rows of 72 bits in as many octets.
const ROWS: usize = 8 * OCTETS / 72;
/// The interval of other experiments is divided by this.
const FEWER_PACKETS: usize = 25;
/// Runs here for each run elsewhere.
const MORE_RUNS: usize = 10;
/// Runs that are drawn for one in which a queue drops nothing.
const DRAWS: u64 = 64;
/// Errors below this are rounding.
const NOTHING: f64 = 1e-9;
/// A method answers if it does so in this share of the runs.
const USUALLY: f64 = 0.95;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Need {
    /// The mean delay of all packets.
    Mean,
    /// The 99th percentile of delay.
    Quantile,
    /// How many packets were lost.
    Loss,
    /// The mean delay of each flow of a hundred packets or more.
    Flow,
}

/// A method, and what it takes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Method {
    /// Its name.
    pub name: &'static str,
    /// Octets of memory at each end.
    pub octets: usize,
    /// Octets on the link in an interval, without the frames' headers.
    pub link_octets: usize,
    /// The command that measures so; none if this program does not.
    pub command: Option<&'static str>,
}

impl Method {
    /// One whose ends send their tables of so many octets.
    const fn tables(name: &'static str, octets: usize, command: &'static str) -> Self {
        Method { name, octets, link_octets: 2 * octets, command: Some(command) }
    }
}

/// What happens to packets on their way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Condition {
    /// In words.
    pub name: &'static str,
    /// Share of the packets that is lost.
    pub loss: f64,
    /// Whether losses come in bursts of a hundred packets on average.
    pub is_bursty: bool,
    /// Share of the packets that others overtake.
    pub overtaken: f64,
    /// Packets that come in from elsewhere, for each that is sent.
    pub foreign: f64,
}

impl Condition {
    const fn losing(name: &'static str, loss: f64, is_bursty: bool) -> Self {
        Condition { name, loss, is_bursty, overtaken: 0.0, foreign: 0.0 }
    }

    fn pattern(&self) -> Pattern {
        if self.is_bursty { Pattern::Bursts } else { Pattern::Uniform }
    }
}

const CONDITIONS: [Condition; 9] = [
    Condition::losing("no loss", 0.0, false),
    Condition::losing("0.1 % lost, single", 0.001, false),
    Condition::losing("1 % lost, single", 0.01, false),
    Condition::losing("20 % lost, single", 0.2, false),
    Condition::losing("0.1 % lost in bursts", 0.001, true),
    Condition::losing("1 % lost in bursts", 0.01, true),
    Condition::losing("20 % lost in bursts", 0.2, true),
    Condition { overtaken: 0.01, ..Condition::losing("1 % lost, 1 % overtaken", 0.01, false) },
    Condition { foreign: 0.001, ..Condition::losing("1 % lost, 0.1 % from elsewhere", 0.01, false) },
];

/// Packets whose delays depend on each other in some way.
#[derive(Clone, Copy)]
struct Stream {
    name: &'static str,
    law: Law,
    /// Packets a second.
    rate: f64,
}

const STREAMS: [Stream; 3] = [
    Stream { name: "drifting", law: Law::Correlated(100e3), rate: 1e6 },
    Stream { name: "independent", law: Law::Weibull(5e3), rate: 1e5 },
    Stream { name: "queue", law: Law::Queue(0.7), rate: 1e6 },
];
/// The load at which a queue drops about a fifth of the packets itself, and the share of losses from which on it is left to it.
const OVERLOAD: (f64, f64) = (1.25, 0.2);

impl Stream {
    fn path(&self, condition: &Condition) -> Path {
        let (load, loss) = OVERLOAD;
        match self.law {
            Law::Queue(_) if condition.is_bursty && condition.loss >= loss => {
                Path::new(Law::Queue(load), self.rate)
            }
            law => Path {
                loss: condition.loss,
                pattern: condition.pattern(),
                overtaken: condition.overtaken,
                foreign: condition.foreign,
                ..Path::new(law, self.rate)
            },
        }
    }
}

/// How well a method answers. Of single flows, what is said here of runs is of flows.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The method.
    pub method: &'static str,
    /// How many times its error is that of the best method of the stream, on the stream on which that is most; none where another one is exact
    /// and it is not, or without any answer.
    pub excess: Option<f64>,
    /// The error on each stream; none where there is no answer.
    pub errors: Vec<Option<f64>>,
    /// The share of runs with an answer on each stream.
    pub answered: Vec<f64>,
}

impl Answer {
    fn new(method: &'static str, found: Vec<(Option<f64>, f64)>) -> Self {
        let (errors, answered): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        Answer { method, excess: None, errors, answered }
    }

    /// The largest error; none without any answer.
    fn largest(&self) -> Option<f64> {
        self.errors.iter().flatten().copied().reduce(f64::max)
    }

    /// How many times its errors are the best ones, at most.
    fn excess_over(&self, best: &[f64]) -> f64 {
        let times = |(error, best): (&Option<f64>, &f64)| match error {
            Some(error) if error > best => error / best,
            Some(_) => 1.0,
            None => f64::INFINITY,
        };
        self.errors.iter().zip(best).map(times).fold(1.0, f64::max)
    }

    /// Whether it answers nearly always, on all streams.
    fn is_usual(&self) -> bool {
        self.answered.iter().all(|share| *share >= USUALLY)
    }

    fn text(&self) -> String {
        let least = self.errors.iter().flatten().copied().reduce(f64::min);
        match (least, self.largest()) {
            (Some(least), Some(largest)) if least < largest => {
                format!("{} ({} to {})", self.method, percent(Some(least)), percent(Some(largest)))
            }
            (_, largest) => format!("{} ({})", self.method, percent(largest)),
        }
    }
}

/// How all methods that give an answer at all answer a need under a condition.
#[derive(Clone, Debug, Serialize)]
pub struct Case {
    /// What is asked.
    pub need: Need,
    /// What happens to the packets.
    pub condition: Condition,
    /// The streams, in the order of errors.
    pub streams: Vec<&'static str>,
    /// The best first; those that do not always answer behind all that do.
    pub answers: Vec<Answer>,
    /// How many of them, from the first on, nearly always answer.
    pub usual: usize,
}

impl Case {
    /// Ranks answers on these streams; methods that never answer are left out.
    fn new(
        need: Need,
        condition: Condition,
        streams: Vec<&'static str>,
        mut answers: Vec<Answer>,
        methods: &[Method],
    ) -> Self {
        let octets = |answer: &Answer| {
            methods.iter().find(|each| each.name == answer.method).map_or(0, |each| each.octets)
        };
        answers.retain(|answer| answer.largest().is_some());
        let best: Vec<f64> = (0..streams.len())
            .map(|stream| {
                let usual = answers.iter().filter(|answer| answer.is_usual());
                usual.filter_map(|answer| answer.errors[stream]).fold(f64::INFINITY, f64::min)
            })
            .collect();
        for answer in &mut answers {
            answer.excess = Some(answer.excess_over(&best)).filter(|excess| excess.is_finite());
        }
        answers.sort_by(|one, other| {
            let [excess, other_excess] = [one, other].map(|each| each.excess.unwrap_or(f64::INFINITY));
            let by_excess = other.is_usual().cmp(&one.is_usual()).then(excess.total_cmp(&other_excess));
            by_excess.then(octets(one).cmp(&octets(other)))
        });
        let usual = answers.iter().filter(|answer| answer.is_usual()).count();
        Case { need, condition, streams, answers, usual }
    }

    /// The best two, in words.
    fn best(&self) -> String {
        let best: Vec<String> = self.answers.iter().take(self.usual.min(2)).map(Answer::text).collect();
        if best.is_empty() { "none".into() } else { best.join(", then ") }
    }

    fn answer(&self, method: &str) -> Option<&Answer> {
        self.answers.iter().find(|answer| answer.method == method)
    }
}

/// The comparison, as `deltaline advise` reads it.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Packets of an interval.
    pub packets: usize,
    /// Runs of each stream under each condition.
    pub runs: usize,
    /// Packets of an interval with single flows, and how many of these intervals there are of each stream.
    pub of_flows: [usize; 2],
    /// The seed of all random numbers.
    pub seed: u64,
    /// The methods.
    pub methods: Vec<Method>,
    /// The needs and conditions.
    pub cases: Vec<Case>,
}

/// The errors of a method in one run, by need: nothing where there is nothing to know, and none where it does not answer.
fn errors(run: &Run, found: &Found, delays: &Distribution) -> [Option<Option<f64>>; 3] {
    let relative = |found: f64, truth: f64| (found / truth - 1.0).abs();
    let lost = run.lost() as f64;
    [
        Some(found.mean.map(|mean| relative(mean, run.mean()))),
        Some(found.quantile.map(|delay| delays.rank_error(QUANTILE, delay))),
        (lost > 0.0).then(|| found.lost.map(|found| relative(found, lost))),
    ]
}

/// A run; where nothing may be lost, the first of several in which a queue drops nothing of its own either.
fn drawn(path: &Path, packets: usize, seed: Seed, is_whole: bool) -> Result<Run, LabError> {
    let again = (1..DRAWS).map(|draw| seed.with(draw));
    let mut runs = iter::once(seed).chain(again).map(|seed| Run::new(path, packets, seed));
    runs.find(|run| !is_whole || run.lost() == 0).ok_or(LabError::NeverWhole { packets })
}

/// Root mean square of a method's errors, and the share of runs that have one, of those with something to know.
fn summary(errors: impl Iterator<Item = Option<Option<f64>>>) -> (Option<f64>, f64) {
    let (mut runs, mut answers, mut squares) = (0.0, 0.0, 0.0);
    for error in errors.flatten() {
        runs += 1.0;
        if let Some(error) = error {
            (answers, squares) = (answers + 1.0, squares + error * error);
        }
    }
    let error = f64::sqrt(squares / answers);
    let exact = if error < NOTHING { 0.0 } else { error };
    ((answers > 0.0).then_some(exact), answers / f64::max(runs, 1.0))
}

/// Compares all methods, and says so as a report too.
///
/// # Errors
///
/// [`LabError`].
pub fn run(scale: &Scale, progress: &dyn Progress) -> Result<(Report, Comparison), LabError> {
    let seed = Seed::new(scale.seed).with(20);
    let (packets, runs) = (scale.packets / FEWER_PACKETS, scale.runs * MORE_RUNS);
    progress.expect((CONDITIONS.len() * STREAMS.len() * runs) as u64 + flows::steps(scale));
    let mut methods: Vec<Method> = METHODS.iter().map(|each| each.method).collect();
    let mut cases = vec![];
    for (condition, number) in CONDITIONS.into_iter().zip(0..) {
        let mut found = vec![];
        for (stream, place) in STREAMS.iter().zip(0..) {
            let path = stream.path(&condition);
            let one = |run| {
                let seed = seed.with(number).with(place).with(run);
                let run = drawn(&path, packets, seed, condition.loss == 0.0)?;
                let delays = Distribution::of(&run);
                let of_method =
                    |each: &Aggregate| Ok::<_, LabError>(errors(&run, &(each.measure)(&run, seed)?, &delays));
                let errors = METHODS.iter().map(of_method).collect::<Result<Vec<_>, LabError>>();
                progress.step();
                errors
            };
            found.push((0..runs as u64).into_par_iter().map(one).collect::<Result<Vec<_>, LabError>>()?);
        }
        for (need, place) in [Need::Mean, Need::Quantile, Need::Loss].into_iter().zip(0..) {
            let answer = |(number, method): (usize, &Method)| {
                let of_stream = |runs: &Vec<Vec<[Option<Option<f64>>; 3]>>| {
                    summary(runs.iter().map(|run| run[number][place]))
                };
                Answer::new(method.name, found.iter().map(of_stream).collect())
            };
            let answers = methods.iter().enumerate().map(answer).collect();
            cases.push(Case::new(
                need,
                condition,
                STREAMS.map(|stream| stream.name).to_vec(),
                answers,
                &methods,
            ));
        }
    }
    let (of_flows, flow_cases) = flows::run(scale, seed.with(CONDITIONS.len() as u64), progress)?;
    methods.extend(of_flows);
    cases.extend(flow_cases);
    let comparison =
        Comparison { packets, runs, of_flows: flows::size(scale), seed: scale.seed, methods, cases };
    Ok((comparison.report(), comparison))
}

/// An error in per cent.
fn percent(error: Option<f64>) -> String {
    match error {
        None => "–".into(),
        Some(0.0) => "exact".into(),
        Some(error) => format!("{} %", significant(100.0 * error)),
    }
}

impl Comparison {
    fn cases(&self, need: Need) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(move |case| case.need == need)
    }

    /// The best for each need and condition.
    fn recommendation(&self) -> String {
        let mut text = String::from(
            "| | mean | 99th percentile | loss | mean of single flows |\n|---|---|---|---|---|\n",
        );
        for condition in CONDITIONS {
            let best = |need| {
                self.cases(need)
                    .find(|case| case.condition == condition)
                    .map_or_else(|| "not measured".into(), Case::best)
            };
            let [mean, quantile, loss, flow] = [Need::Mean, Need::Quantile, Need::Loss, Need::Flow].map(best);
            text += &format!("| {} | {mean} | {quantile} | {loss} | {flow} |\n", condition.name);
        }
        text
    }

    /// What methods take.
    fn costs(&self) -> String {
        let mut text = String::from(
            "| method | octets at each end | octets on the link | command |\n|---|---:|---:|---|\n",
        );
        for Method { name, octets, link_octets, command } in &self.methods {
            let command = command.map_or_else(|| "none".into(), |command| format!("`{command}`"));
            text += &format!("| {name} | {octets} | {link_octets} | {command} |\n");
        }
        text
    }

    /// All errors of a need on a stream.
    fn table(&self, need: Need, stream: usize) -> String {
        let cases: Vec<&Case> = self.cases(need).filter(|case| !case.answers.is_empty()).collect();
        let mut text = String::from("| |");
        cases.iter().for_each(|case| text += &format!(" {} |", case.condition.name));
        text += "\n|---|";
        cases.iter().for_each(|_| text += "---:|");
        text += "\n";
        let gives_any = |method: &&Method| cases.iter().any(|case| case.answer(method.name).is_some());
        for method in self.methods.iter().filter(gives_any) {
            text += &format!("| {} |", method.name);
            for case in &cases {
                let found = case
                    .answer(method.name)
                    .and_then(|answer| Some((*answer.errors.get(stream)?, *answer.answered.get(stream)?)));
                let (error, answered) = found.unwrap_or_default();
                let share = match error {
                    Some(_) if answered < 1.0 => format!(" (in {} %)", significant(100.0 * answered)),
                    _ => String::new(),
                };
                text += &format!(" {}{share} |", percent(error));
            }
            text += "\n";
        }
        text
    }

    fn tables(&self) -> String {
        let mut text = String::new();
        for (need, title) in [
            (Need::Mean, "Error of the mean"),
            (Need::Quantile, "Rank error of the 99th percentile"),
            (Need::Loss, "Error of the loss"),
            (Need::Flow, "Median error of single flows' means"),
        ] {
            let streams = self.cases(need).next().map_or(&[][..], |case| &case.streams);
            for (place, stream) in streams.iter().enumerate() {
                text += &format!("\n{title}, {stream}:\n\n{}", self.table(need, place));
            }
        }
        text
    }

    /// The largest error by loss, single losses, of each method that gives an answer.
    fn figure(&self, name: &'static str, title: &'static str, label: &'static str, need: Need) -> Figure {
        let is_shown = |case: &&Case| {
            let Condition { loss, is_bursty, overtaken, foreign, .. } = case.condition;
            loss > 0.0 && !is_bursty && overtaken == 0.0 && foreign == 0.0
        };
        let series = |(colour, method): (usize, &Method)| {
            let point = |case: &Case| {
                let answer = case.answer(method.name)?;
                let least = answer.errors.iter().flatten().copied().reduce(f64::min);
                let missing =
                    answer.answered.iter().map(|share| self.runs as f64 * (1.0 - share)).sum::<f64>().round()
                        as usize;
                let runs = self.runs * answer.answered.len() - missing;
                Some(Point {
                    x: case.condition.loss,
                    y: answer.largest(),
                    low: least,
                    high: answer.largest(),
                    runs,
                    missing,
                })
            };
            let points: Vec<Point> = self.cases(need).filter(is_shown).filter_map(point).collect();
            let series = Series { name: method.name.into(), colour, style: Style::Line, points };
            (!series.points.is_empty()).then_some(series)
        };
        Figure {
            name,
            title,
            x: Axis::logarithmic("share of packets lost, single losses"),
            y: Axis::logarithmic(label),
            series: self.methods.iter().enumerate().filter_map(series).collect(),
        }
    }

    fn report(&self) -> Report {
        Report {
            title: "Every method in as many octets (methods)",
            text: self.text(),
            figures: vec![
                self.figure(
                    "methods1",
                    "error of the mean, by loss",
                    "root mean square of the mean's relative error, on the worst stream",
                    Need::Mean,
                ),
                self.figure(
                    "methods2",
                    "error of the 99th percentile, by loss",
                    "root mean square of the rank error, on the worst stream",
                    Need::Quantile,
                ),
            ],
            claims: self.claims(),
        }
    }

    fn text(&self) -> String {
        let [flow_packets, flow_runs] = self.of_flows;
        format!(
            "All methods saw the same packets, and the same of them were lost. Each had at most {OCTETS} octets of memory at each end: \
             {} records of a slice, or {ROWS} rows of an LDA. Tables that come in powers of two have the largest that fits. Tables are sent \
             whole once an interval; headers of frames are not counted. Probes are frames of 64 octets, as many as the tables of both ends \
             are octets on the link. What samples is tuned to the losses of the run; in the field, to those of the interval before.\n\n\
             An interval has {} packets. There were {} runs of each stream under each condition, each with packets of its own. The streams:\n\n\
             * *drifting*: delays drift by a random walk, 400 ± 100 µs, at a million packets a second. Packets that follow each other wait \
             alike.\n\
             * *independent*: a packet takes 1 µs and what is drawn anew for it (Weibull, 5 µs on average, shape 0.7), and waits for the one \
             ahead of it, at 100,000 packets a second with exponential gaps. Neighbours are alike only as far as they wait for each other.\n\
             * *queue*: sessions through a queue for 500 packets at a load of 0.7. Under 20 % losses in bursts the load is 1.25, and all \
             losses are the queue's own: what is lost depends on what is waited. Where nothing is lost, runs in which the queue drops packets \
             are drawn again. Losses that are not its own come behind the queue.\n\n\
             Errors of the mean and of the loss are relative to the true value, in per cent. Of the 99th percentile they are errors of rank: \
             1 % means that what is said to be the 99th percentile is the 98th or the 100th. All are root mean squares over the runs with \
             an answer, relative to each run's own value, which behind a queue differs much from run to run. They have standard errors of {:.0} % of \
             themselves and more: methods that are nearer to each other than twice that are alike. Where a method did not answer in all runs, the table \
             says in how many. \
             Bursts are of 100 packets on average. Overtaken packets arrive some five packets late.\n\n\
             Single flows: {} packets an interval, {} intervals, {} octets at each end. Sessions pass a queue with random early detection, of \
             whose capacity 88 % are used, or take turns on two queues, of which one is 3 % slower. Compared are flows of which {} packets \
             or more arrived: the median of their relative errors, averaged over the intervals. Flows without an answer of a method, of which the table says how \
             many have one, have the mean of all packets instead. On two queues that median lies between the flows of either. What \
             keeps an entry for each flow (RLI, multiflow) keeps as many as there is room for, by hash. COLATE is told how many packets \
             a flow has. The LDS paper's is tuned to the losses: where there are none, a flow has one cell in each row, else four, in rows \
             that sample. Ours has four always, as cores have, and without loss they hold four times as many of other flows' packets. Reference packets of RLI pass one of the two queues.\n\n\
             **What to take.** For each need and condition the best two methods, with their errors on the streams on which these are least and \
             largest. Nobody knows beforehand which stream is theirs: the best method is the one that is never many times farther off than the \
             best one of a stream; of those that are alike, the one that takes least memory. \
             Methods that did not answer in {} % of the runs, or of the flows, on every stream are not in this table. `deltaline advise` \
             answers from the same numbers.\n\n{}\n\
             **What methods take.**\n\n{}\n\
             RDA, sRDA and identity tables are those of ends that forget their packets. Ends that keep every packet of an interval need no \
             estimate: `deltaline exchange` finds what became of each ([figure 12](results.md)). Prefix lengths (`--banks`) are for this \
             number of packets and 1 % loss: `deltaline size` finds those for yours.\n\n\
             Octets are those of the method, as a core keeps it. The commands keep more. In software the rows of an LDA have digests \
             besides, 104 bits for 72, and so leave out rows into which packets came from elsewhere, as FineComb's do. Sums over all packets \
             stand beside every table: no command keeps those alone.\n\n\
             **Limits.** Three streams are not all. Errors of sampled packets fall with the root of the octets, those of slices with how much \
             shorter slices are than delays take to change. Probes see a queue at any moment, packets more often when it is long: behind one, probes are too \
             early, however many they are. Nothing here says what other numbers of packets would do. Clocks are right in all of \
             it. A count of packets tells the loss only as long as none comes in from elsewhere.\n{}",
            ROWS / 2,
            self.packets,
            self.runs,
            // Of a root mean square of as many errors that have a normal distribution.
            100.0 / (2.0 * self.runs as f64).sqrt(),
            flow_packets,
            flow_runs,
            flows::OCTETS,
            flows::LEAST,
            100.0 * USUALLY,
            self.recommendation(),
            self.costs(),
            self.tables(),
        )
    }

    /// The largest error of a method under a condition; not a number where it has none.
    fn error(&self, need: Need, condition: &str, method: &str) -> f64 {
        let case = self.cases(need).find(|case| case.condition.name == condition);
        case.and_then(|case| case.answer(method)?.largest()).unwrap_or(f64::NAN)
    }

    /// By how much both together are worse than the better one of an LDA and slices in as many octets, on each stream where both answer.
    fn worse_than_the_better(&self) -> impl Iterator<Item = f64> {
        self.cases(Need::Mean).flat_map(|case| {
            let of = |method| case.answer(method).map(|answer| &answer.errors[..]).unwrap_or_default();
            let [both, lda, slices] = ["LDA and slices", "LDA, one bank", "slices"].map(of);
            let ratio = |((both, lda), slices): ((&Option<f64>, &Option<f64>), &Option<f64>)| {
                let better = f64::min((*lda)?, (*slices)?);
                (better > 0.0).then_some((*both)? / better)
            };
            both.iter().zip(lda).zip(slices).filter_map(ratio)
        })
    }

    fn claims(&self) -> Vec<Claim> {
        let target = |what: &str, unit, stated, measured, comment: &str| Claim {
            by: Source::Target,
            what: what.into(),
            unit,
            stated,
            measured,
            comment: comment.into(),
        };
        let range = |values: &mut dyn Iterator<Item = f64>| {
            values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| {
                [low.min(value), high.max(value)]
            })
        };
        let from_elsewhere = CONDITIONS[CONDITIONS.len() - 1].name;
        let without_digests = self.error(Need::Mean, from_elsewhere, "LDA, one bank");
        let with_digests = self.error(Need::Mean, from_elsewhere, "FineComb");
        let [lda, probes] = ["LDA, one bank", "Poisson probes"]
            .map(|method| self.error(Need::Mean, CONDITIONS[2].name, method));
        vec![
            target(
                "error of the mean of an LDA and slices, no loss",
                " %",
                Stated::Below(0.0),
                [100.0 * self.error(Need::Mean, CONDITIONS[0].name, "LDA and slices"); 2],
                "sums over all packets show that none is missing",
            ),
            target(
                "error of an LDA and slices over that of the better one of both in as many octets",
                "",
                Stated::Below(2.0 * 1.2),
                range(&mut self.worse_than_the_better()),
                "each has half of the octets: rows are the root of two farther off then, slices twice; a fifth more is figure 15's",
            ),
            target(
                "error of Poisson probes over that of one tuned bank, 1 % single losses",
                "",
                Stated::Above(10.0),
                [probes / lda; 2],
                "as many octets on the link; of either the largest of the three streams",
            ),
            target(
                "error of one tuned bank over that of FineComb, 0.1 % of the packets from elsewhere",
                "",
                Stated::Above(10.0),
                [without_digests / with_digests; 2],
                "rows alone trust rows that lost one packet and gained another",
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_summed_up() {
        let found = [Some(Some(3.0)), Some(None), None, Some(Some(4.0)), Some(None)];
        assert_eq!(summary(found.into_iter()), (Some(12.5f64.sqrt()), 0.5));
        assert_eq!(summary([Some(Some(1e-15)), None, Some(Some(0.0))].into_iter()), (Some(0.0), 1.0));
        assert_eq!(summary([Some(None), None].into_iter()), (None, 0.0));
    }

    /// By how many times their error is the best one; then by octets; those that seldom answer last, and those that never do not at all.
    #[test]
    fn the_best_come_first() {
        let method = |name, octets| Method { name, octets, link_octets: 0, command: None };
        let methods =
            [method("a", 9), method("b", 1), method("c", 1), method("d", 1), method("e", 1), method("f", 2)];
        let answer = |name, errors: [f64; 2], share| {
            Answer::new(name, errors.map(|error| (Some(error), share)).to_vec())
        };
        let answers = vec![
            answer("a", [0.2, 0.2], 1.0),
            answer("b", [0.2, 0.2], 1.0),
            answer("c", [0.01, 0.01], 0.5),
            Answer::new("d", vec![(None, 0.0); 2]),
            // The least error of all, and three times the best one of the other stream.
            answer("e", [0.1, 0.3], 1.0),
            answer("f", [0.5, 0.1], 1.0),
        ];
        let case = Case::new(Need::Mean, CONDITIONS[0], vec!["one", "two"], answers, &methods);
        let order: Vec<&str> = case.answers.iter().map(|answer| answer.method).collect();
        assert_eq!((&order[..], case.usual), (&["b", "a", "e", "f", "c"][..], 4));
        assert_eq!(case.best(), "b (20 %), then a (20 %)");
        let excess = case.answers.iter().map(|answer| answer.excess.map(|excess| excess.round()));
        assert_eq!(excess.collect::<Vec<_>>(), [2.0, 2.0, 3.0, 5.0, 1.0].map(Some));
        let exact = vec![answer("a", [0.0, 0.1], 1.0), answer("b", [0.1, 0.1], 1.0)];
        let case = Case::new(Need::Mean, CONDITIONS[0], vec!["one", "two"], exact, &methods);
        assert_eq!(case.answers.iter().map(|answer| answer.excess).collect::<Vec<_>>(), [Some(1.0), None]);
    }
}
