//! `deltaline lab`: the LDA paper's experiments, and the RDA paper's.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::hash::Hash;
use crate::matched::Matched;
use crate::parse;
use crate::recordings::Recordings;
use crate::report;
use clap::{Args, ValueEnum};
use deltaline_capture::matching::Observations;
use deltaline_capture::write_file;
use deltaline_lab::keys::{Counter, Keys};
use deltaline_lab::methods::{self, Comparison};
use deltaline_lab::page::{self, Page};
use deltaline_lab::{Experiment, LabError, Progress, Recording, Report, Scale, deployment};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::packet::hash::LinearHash;
use deltaline_station::read;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::path::{Path, PathBuf};

pub(crate) const EXAMPLES: &str = "\
Examples:
  The LDA paper's figures 4a to 4c, in full:
    deltaline lab 4

  Everything, a tenth of the packets, to look at:
    deltaline lab all --packets 500000 --out out/quick

  Two hosts' recordings, by an exchange between them:
    deltaline lab 12 --recording sender.pcap receiver.pcap

  How often intervals hold where packets differ in a TCP sequence number alone:
    deltaline lab 8 --keys sequence --hash rabin

  Which routers of a network to upgrade, as MPLANE has it:
    deltaline lab mplane --topology network.graphml

  Every method with equal memory, for the documentation and for `deltaline advise`:
    deltaline lab methods --packets 1000000 --runs 20 --out docs

  The results page of the documentation:
    deltaline lab all --out docs --recording \\
        sim/traffic/captures/t1-sender.pcap.zst sim/traffic/captures/t1-receiver.pcap.zst";

#[derive(Debug, Args)]
pub(crate) struct Lab {
    /// Which experiment
    #[arg(value_enum, required = true, value_name = "FIGURE")]
    figures: Vec<LabFigure>,
    /// Packets of an interval
    #[arg(long, default_value_t = Scale::default().packets, value_parser = parse::count_within::<1000, 1_000_000_000>)]
    pub(crate) packets: usize,
    /// Runs of each point; lds and rli, of whole flows, make a fifth of them
    #[arg(long, default_value_t = Scale::default().runs, value_parser = parse::count_within::<1, 1_000_000>)]
    pub(crate) runs: usize,
    /// Seed of all random numbers
    #[arg(long, default_value_t = Scale::default().seed)]
    pub(crate) seed: u64,
    /// The packets' keys: hashes are drawn, or computed from keys that differ in a counter alone
    #[arg(long, value_enum, default_value = "random")]
    keys: LabKeys,
    /// Hash function of keys that are counters: h3 unless given
    #[arg(long, value_enum)]
    hash: Option<Hash>,
    /// Captures of both ends whose delays and losses figures 7 and 10 measure as well, and figure 12 alone
    #[arg(long, num_args = 2, value_names = ["SENDER", "RECEIVER"])]
    pub(crate) recording: Vec<PathBuf>,
    /// The network that figure 14 upgrades, in a form that `deltaline plan` reads; a generated one unless given
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// Where to write results.md or methods.md and, in results/, each figure as CSV and SVG
    #[arg(long, default_value = "out/lab", value_name = "FOLDER")]
    pub(crate) out: PathBuf,
    /// Write the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Lab {
    /// The experiments asked for, each once, in the order of their figures.
    pub(crate) fn experiments(&self) -> impl Iterator<Item = Experiment> {
        let asked = |experiment| {
            let is_it = |figure: &LabFigure| figure.experiment().is_none_or(|asked| asked == experiment);
            self.figures.iter().any(is_it)
        };
        Experiment::ALL.into_iter().filter(move |&experiment| asked(experiment))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LabKeys {
    /// No keys: hashes are drawn
    Random,
    /// The IPv4 identification counts
    Identification,
    /// The TCP sequence number counts
    Sequence,
    /// Both count
    Both,
    /// IPv4 identification, RTP sequence number and RTP timestamp count
    Rtp,
}

impl LabKeys {
    /// The keys, hashed by this function.
    fn hashed_by(self, hash: Option<Hash>) -> Result<Keys, Failure> {
        let counter = match self {
            LabKeys::Random if hash.is_some() => {
                let message = "--hash: drawn hashes need no function; give the --keys that count as well";
                return Err(Failure::new(Exit::Usage, message.to_string()));
            }
            LabKeys::Random => return Ok(Keys::Random),
            LabKeys::Identification => Counter::Identification,
            LabKeys::Sequence => Counter::Sequence,
            LabKeys::Both => Counter::Both,
            LabKeys::Rtp => Counter::Rtp,
        };
        Ok(Keys::Counter(counter, hash.unwrap_or(Hash::H3).into()))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LabFigure {
    /// 4a to 4c: one bank, tuned to the loss
    #[value(name = "4", aliases = ["4a", "4b", "4c"])]
    KnownLoss,
    /// 5a to 5c: one to four banks, the loss unknown
    #[value(name = "5", aliases = ["5a", "5b", "5c"])]
    UnknownLoss,
    /// 6a to 6c: two banks against Poisson probes, loss in bursts
    #[value(name = "6", aliases = ["6a", "6b", "6c"])]
    Probes,
    /// 7: the standard deviation behind queues
    #[value(name = "7", alias = "queues")]
    Queues,
    /// 8: how often the confidence intervals hold the truth
    #[value(name = "8", aliases = ["8a", "8b", "coverage"])]
    Coverage,
    /// 9: reordering at the edges of intervals
    #[value(name = "9", alias = "edges")]
    Edges,
    /// 10: the intervals under heavy tails, with few rows and behind a full queue
    #[value(name = "10", aliases = ["10a", "10b", "10c", "tails"])]
    Tails,
    /// 11: tables that can be subtracted, the RDA paper's figures 6 to 8
    #[value(name = "11", aliases = ["11a", "11b", "11c", "11d", "reconciliation"])]
    Reconciliation,
    /// 12: an exchange between the ends of a recording, the RDA paper's figures 10 to 15
    #[value(name = "12", aliases = ["12a", "12b", "12c", "12d", "12e", "hosts"])]
    TwoHosts,
    /// Delays of flows: the LDS paper's figures 9 to 12, and ours
    Lds,
    /// Delays of flows: the COLATE paper's figures, and ours
    Colate,
    /// Delays of flows: the RLI paper's figures 5 to 7, and other ways beside it
    Rli,
    /// 13: rows whose damage an identity table names, against rows alone
    #[value(name = "13", aliases = ["13a", "13b", "13c", "damaged-rows"])]
    DamagedRows,
    /// 14: MPLANE, which routers to upgrade: the LDA paper's figures 7 to 9
    #[value(name = "14", aliases = ["14a", "14b", "mplane"])]
    Deployment,
    /// 15: slices, an LDA of as many bits, and both
    #[value(name = "15", aliases = ["15a", "15b", "15c", "slices"])]
    Slices,
    /// Every method with equal memory, by need: writes methods.md and methods.json
    Methods,
    /// All of them
    All,
}

impl LabFigure {
    /// The experiment; none for all of them.
    fn experiment(self) -> Option<Experiment> {
        match self {
            LabFigure::KnownLoss => Some(Experiment::KnownLoss),
            LabFigure::UnknownLoss => Some(Experiment::UnknownLoss),
            LabFigure::Probes => Some(Experiment::Probes),
            LabFigure::Queues => Some(Experiment::Queues),
            LabFigure::Coverage => Some(Experiment::Coverage),
            LabFigure::Edges => Some(Experiment::Edges),
            LabFigure::Tails => Some(Experiment::Tails),
            LabFigure::Reconciliation => Some(Experiment::Reconciliation),
            LabFigure::TwoHosts => Some(Experiment::TwoHosts),
            LabFigure::Lds => Some(Experiment::Lds),
            LabFigure::Colate => Some(Experiment::Colate),
            LabFigure::Rli => Some(Experiment::Rli),
            LabFigure::DamagedRows => Some(Experiment::DamagedRows),
            LabFigure::Deployment => Some(Experiment::Deployment),
            LabFigure::Slices => Some(Experiment::Slices),
            LabFigure::Methods => Some(Experiment::Methods),
            LabFigure::All => None,
        }
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        Failure::new(Exit::Refused, error)
    }
}

#[derive(Serialize)]
struct Output<'a> {
    scale: Scale,
    experiments: Vec<&'a Report>,
}

/// A progress bar on standard error, if that is a terminal.
struct Bar(ProgressBar);

impl Progress for Bar {
    fn expect(&self, steps: u64) {
        self.0.inc_length(steps);
    }

    fn step(&self) {
        self.0.inc(1);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

impl Bar {
    fn new(what: &'static str) -> Self {
        let style = ProgressStyle::with_template("{msg} {bar:40} {pos}/{len} runs ({eta} left)");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        Bar(ProgressBar::new(0).with_style(style).with_message(what))
    }
}

pub(crate) fn run(arguments: &Lab) -> Result<Exit, Failure> {
    let keys = arguments.keys.hashed_by(arguments.hash)?;
    let scale = Scale { packets: arguments.packets, runs: arguments.runs, seed: arguments.seed, keys };
    let figures = arguments.out.join(page::FIGURES);
    std::fs::create_dir_all(&figures).map_err(|reason| {
        let figures = figures.display();
        Failure::new(
            Exit::Output,
            format!("{figures}: cannot be made: {reason}; give another place with --out"),
        )
    })?;
    let recording = match &arguments.recording[..] {
        [sender, receiver] => recorded(sender, receiver)?,
        _ => Recording::default(),
    };
    let topology = arguments.topology.as_deref().map(read).transpose()?;
    let mut pages = Page::ALL.map(|page| (page, vec![]));
    for experiment in arguments.experiments() {
        let bar = Bar::new(experiment.name());
        let result = match experiment {
            Experiment::Deployment => Ok(deployment::run(&scale, topology.as_ref(), &bar)?),
            Experiment::Methods => compared(&scale, &arguments.out, &bar),
            _ => Ok(experiment.run(&scale, &recording, &bar)?),
        };
        drop(bar);
        let report = result?;
        for (name, contents) in page::figures(&report)? {
            write_file(figures.join(name), contents.as_bytes())?;
        }
        if !arguments.json {
            report::print(&page::section(&report))?;
        }
        if let Some((_, reports)) = pages.iter_mut().find(|(page, _)| *page == experiment.page()) {
            reports.push(report);
        }
    }
    let given: Vec<_> =
        std::env::args_os().skip(1).map(|given| given.to_string_lossy().into_owned()).collect();
    let command = format!("deltaline {}", given.join(" "));
    for (page, reports) in pages.iter().filter(|(_, reports)| !reports.is_empty()) {
        write_file(arguments.out.join(page.file()), page.text(reports, &scale, &command).as_bytes())?;
    }
    if arguments.json {
        let experiments = pages.iter().flat_map(|(_, reports)| reports).collect();
        report::print_result("lab", &Output { scale, experiments })?;
    }
    Ok(Exit::Done)
}

/// Compares the methods, and writes what `deltaline advise` answers from.
fn compared(scale: &Scale, out: &Path, progress: &dyn Progress) -> Result<Report, Failure> {
    let (report, comparison) = methods::run(scale, progress)?;
    let text = in_lines(&comparison).map_err(|error| Failure::new(Exit::Output, error))?;
    write_file(out.join("methods.json"), text.as_bytes())?;
    Ok(report)
}

/// A comparison as JSON, a method or a case a line.
fn in_lines(comparison: &Comparison) -> serde_json::Result<String> {
    fn lines(values: &[impl Serialize]) -> serde_json::Result<String> {
        let lines: Vec<String> = values.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        Ok(lines.join(",\n"))
    }
    let Comparison { packets, runs, of_flows: [flow_packets, flow_runs], seed, methods, cases } = comparison;
    Ok(format!(
        "{{\"packets\":{packets},\"runs\":{runs},\"of_flows\":[{flow_packets},{flow_runs}],\"seed\":{seed},\"methods\":[\n{}\n],\"cases\":[\n{}\n]}}\n",
        lines(methods)?,
        lines(cases)?
    ))
}

/// What became of a recording's packets.
fn recorded(sender: &Path, receiver: &Path) -> Result<Recording, Failure> {
    let Matched { sender, receiver, matching, .. } =
        Matched::read_common(&Recordings::whole(sender, receiver))?;
    let configuration = Configuration::new(Settings::default())
        .map_err(|reason| Failure::new(Exit::Configuration, reason.to_string()))?;
    let hash = LinearHash::new(configuration.hash(), configuration.seed());
    let seen = |end: &Observations| -> Vec<Option<(u64, u64)>> {
        let keyed = end.keys().zip(end.timestamps());
        keyed.map(|(key, time)| Some((hash.hash(&key?), time))).collect()
    };
    let (sent, received) = (seen(&sender), seen(&receiver));
    let lost = matching.lost.iter().map(|index| (*index, None));
    let mut fate: Vec<(usize, Option<i64>)> =
        lost.chain(matching.pairs.iter().map(|pair| (pair.sender, Some(pair.delay)))).collect();
    fate.sort_unstable();
    let with_fate = |(index, delay): (usize, Option<i64>)| {
        let (hash, time) = (*sent.get(index)?)?;
        Some((hash, time, delay))
    };
    Ok(Recording {
        sent: fate.into_iter().filter_map(with_fate).collect(),
        received: received.into_iter().flatten().collect(),
    })
}
