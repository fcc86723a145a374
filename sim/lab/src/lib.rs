//! The LDA paper's experiments (Kompella, Levchenko, Snoeren, Varghese, IEEE/ACM ToN 2012, section IV), and those
//! that the paper leaves out: queues, coverage of the confidence intervals, reordering.
//!
//! Each experiment is a function from a seed to figures. Its report shows the paper's statements beside the
//! measured values.
//!
//! | experiment | figures | what |
//! |---|---|---|
//! | [`Experiment::KnownLoss`] | 4a to 4c | one bank, tuned to the loss |
//! | [`Experiment::UnknownLoss`] | 5a to 5c | one to four banks, loss unknown |
//! | [`Experiment::Probes`] | 6a to 6c | two banks against Poisson probes, loss in bursts |
//! | [`Experiment::Queues`] | 7 | standard deviation on a recording and behind queues |
//! | [`Experiment::Coverage`] | 8 | how often the confidence intervals hold the truth |
//! | [`Experiment::Edges`] | 9 | reordering at the edges of intervals |
//! | [`Experiment::Tails`] | 10 | the intervals under heavy tails, with few rows and behind a full queue |
//! | [`Experiment::Colate`] | colate4 to colate12 | delays of flows by COLATE, as promised and as found |
//! | [`Experiment::Lds`] | lds9 to lds13 | delays of flows by the LDS, its paper's figures 9 to 12, and by ours |
//! | [`Experiment::Rli`] | rli5 to rli10 | delays of flows by reference packets, and other ways beside them |
//! | [`Experiment::Reconciliation`] | 11 | RDA and identity tables against LDA and FineComb, the RDA paper's figures 6 to 8 |
//! | [`Experiment::TwoHosts`] | 12 | two hosts' recordings, by an exchange between them: the RDA paper's figures 10 to 15 |
//! | [`Experiment::DamagedRows`] | 13 | rows whose damage an identity table names, against rows alone |
//! | [`Experiment::Deployment`] | 14 | MPLANE's incremental deployment, the LDA paper's figures 7 to 9 ([`deployment`]) |
//! | [`Experiment::Slices`] | 15 | slices, an LDA of as many bits, and both |
//! | [`Experiment::Methods`] | methods1, methods2 | every method in as many octets, by need: a page of its own ([`methods`]) |
//!
//! # How
//!
//! The delays of an interval are drawn once for each delay law (4 bytes a packet; nothing else is stored), and
//! losses are imposed on them. Each run then puts them into cells with its own hashes. That is the paper's
//! procedure: "the packet trace is the same, but the LDA selects a different random set of packets". Runs are
//! spread over all processors, but every number depends on the seed alone.
//!
//! The cells and the estimator are the product's, and so is the sampler where an experiment studies the hardware's
//! ([`banks`], [`outcome`]).
//!
//! # Test plan
//!
//! Each experiment at a reduced scale: the paper's claims that statistics support hold within margins from theory,
//! and the same seed gives the same figures on any number of threads, but for the times of 11a. Modules have their own plans.

pub mod banks;
mod colate;
mod coverage;
mod damaged_rows;
pub mod deployment;
mod edges;
pub mod figure;
mod flows;
pub mod keys;
mod known_loss;
mod lds;
pub mod methods;
pub mod outcome;
pub mod page;
mod path;
mod plot;
mod probes;
mod queues;
mod reconciliation;
mod rli;
mod slices;
mod tables;
mod tails;
mod traffic;
mod two_hosts;
mod unknown_loss;

use deltaline_collect::exchange::ExchangeError;
use deltaline_estimate::lds::LdsPairError;
use deltaline_estimate::{ConfidenceError, ObservationError, Reason};
use deltaline_model::configuration::ConfigurationError;
use deltaline_model::sketch::colate::ColateError;
use deltaline_model::sketch::lds::LdsError;
use deltaline_model::sketch::sampler::PrefixError;
use figure::{Claim, Figure};
use keys::Keys;
use page::Page;
use serde::Serialize;

/// The experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Experiment {
    /// Figures 4a to 4c.
    KnownLoss,
    /// Figures 5a to 5c.
    UnknownLoss,
    /// Figures 6a to 6c.
    Probes,
    /// Figure 7.
    Queues,
    /// Figures 8a and 8b.
    Coverage,
    /// Figure 9.
    Edges,
    /// Figures 10a to 10c.
    Tails,
    /// Figures 11a to 11d.
    Reconciliation,
    /// Figures 12a to 12e.
    TwoHosts,
    /// Figures lds9 to lds13.
    Lds,
    /// Figures colate4 to colate12.
    Colate,
    /// Figures rli5 to rli10.
    Rli,
    /// Figures 13a to 13c.
    DamagedRows,
    /// Figures 14a and 14b.
    Deployment,
    /// Figures 15a to 15c.
    Slices,
    /// Figures methods1 and methods2.
    Methods,
}

/// The fate of packets in the order in which they were sent: the delay in nanoseconds, none for a lost packet.
pub type Fate = [Option<u32>];

/// What both ends have recorded of the same traffic.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The sender's packets: hash, time in nanoseconds since the Unix epoch, and the delay in nanoseconds by exact matching, none for a lost packet.
    pub sent: Vec<(u64, u64, Option<i64>)>,
    /// The receiver's: hash and time.
    pub received: Vec<(u64, u64)>,
}

impl Recording {
    /// What became of its packets, for experiments that impose it on others; none if delays are negative or of more than 4.29 s.
    pub fn fate(&self) -> Option<Vec<Option<u32>>> {
        let fate = |(_, _, delay): &(u64, u64, Option<i64>)| match delay {
            Some(delay) => u32::try_from(*delay).ok().map(Some),
            None => Some(None),
        };
        self.sent.iter().map(fate).collect()
    }
}

impl Experiment {
    /// All of them, in order.
    pub const ALL: [Experiment; 16] = [
        Experiment::KnownLoss,
        Experiment::UnknownLoss,
        Experiment::Probes,
        Experiment::Queues,
        Experiment::Coverage,
        Experiment::Edges,
        Experiment::Tails,
        Experiment::Reconciliation,
        Experiment::TwoHosts,
        Experiment::Lds,
        Experiment::Colate,
        Experiment::Rli,
        Experiment::DamagedRows,
        Experiment::Deployment,
        Experiment::Slices,
        Experiment::Methods,
    ];

    /// Its name, which is also that of its figures.
    pub fn name(self) -> &'static str {
        match self {
            Experiment::KnownLoss => "figure 4",
            Experiment::UnknownLoss => "figure 5",
            Experiment::Probes => "figure 6",
            Experiment::Queues => "figure 7",
            Experiment::Coverage => "figure 8",
            Experiment::Edges => "figure 9",
            Experiment::Tails => "figure 10",
            Experiment::Reconciliation => "figure 11",
            Experiment::TwoHosts => "figure 12",
            Experiment::Lds => "lds",
            Experiment::Colate => "colate",
            Experiment::Rli => "rli",
            Experiment::DamagedRows => "figure 13",
            Experiment::Deployment => "figure 14",
            Experiment::Slices => "figure 15",
            Experiment::Methods => "methods",
        }
    }

    /// The page that its report is on.
    pub fn page(self) -> Page {
        if self == Experiment::Methods { Page::Methods } else { Page::Results }
    }

    /// Runs the experiment. A `recording` that is not empty is measured too, by the experiments on queues and tails, and alone by that on two
    /// hosts, which has nothing to show without one.
    ///
    /// # Errors
    ///
    /// [`LabError`].
    pub fn run(
        self,
        scale: &Scale,
        recording: &Recording,
        progress: &dyn Progress,
    ) -> Result<Report, LabError> {
        let fate = match self {
            Experiment::Queues | Experiment::Tails => recording.fate().ok_or(LabError::Delays)?,
            _ => vec![],
        };
        match self {
            Experiment::KnownLoss => known_loss::run(scale, progress),
            Experiment::UnknownLoss => unknown_loss::run(scale, progress),
            Experiment::Probes => probes::run(scale, progress),
            Experiment::Queues => queues::run(scale, &fate, progress),
            Experiment::Coverage => coverage::run(scale, progress),
            Experiment::Edges => edges::run(scale, progress),
            Experiment::Tails => tails::run(scale, &fate, progress),
            Experiment::Reconciliation => reconciliation::run(scale, progress),
            Experiment::TwoHosts => two_hosts::run(recording, progress),
            Experiment::Lds => lds::run(scale, progress),
            Experiment::Colate => colate::run(scale, progress),
            Experiment::Rli => rli::run(scale, progress),
            Experiment::DamagedRows => damaged_rows::run(scale, progress),
            Experiment::Deployment => deployment::run(scale, None, progress),
            Experiment::Slices => slices::run(scale, progress),
            Experiment::Methods => Ok(methods::run(scale, progress)?.0),
        }
    }
}

/// How large an experiment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Scale {
    /// Packets of an interval.
    pub packets: usize,
    /// Runs of each point.
    pub runs: usize,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The packets' keys.
    pub keys: Keys,
}

impl Default for Scale {
    /// The paper's: 5 million packets, ten runs.
    fn default() -> Self {
        Scale { packets: 5_000_000, runs: 10, seed: 1, keys: Keys::Random }
    }
}

/// Receives the progress of an experiment.
pub trait Progress: Sync {
    /// Announces that `steps` steps lie ahead.
    fn expect(&self, steps: u64);
    /// Reports that one of them is done.
    fn step(&self);
}

/// Ignores the progress.
impl Progress for () {
    fn expect(&self, _steps: u64) {}
    fn step(&self) {}
}

/// The result of an experiment.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Title.
    pub title: &'static str,
    /// What was done, in Markdown.
    pub text: String,
    /// The figures.
    pub figures: Vec<Figure>,
    /// Statements, and whether they hold.
    pub claims: Vec<Claim>,
}

/// Why an experiment fails.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// An observation contradicts itself.
    #[error(transparent)]
    Observation(#[from] ObservationError),
    /// A figure cannot be drawn.
    #[error("figure {figure} cannot be drawn: {reason}; its values are in the CSV of the same name")]
    Drawing {
        /// Which.
        figure: &'static str,
        /// Why.
        reason: String,
    },
    /// A recording's delays are none that can be imposed on other packets.
    #[error(
        "the recording has packets whose delay is negative or more than 4.29 s; give one with delays from 0 to 4.29 s"
    )]
    Delays,
    /// Two hosts cannot measure each other.
    #[error(
        "the recordings' exchange fails: {0}; give recordings of both ends, of some seconds and by one clock"
    )]
    Exchange(#[from] ExchangeError),
    /// A configuration that there is not.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// The system gives no connection.
    #[error("no connection between two ends on this machine: {0}")]
    Connection(#[from] std::io::Error),
    /// Prefix lengths are invalid.
    #[error(transparent)]
    Prefixes(#[from] PrefixError),
    /// A table of flows cannot be made.
    #[error(transparent)]
    Lds(#[from] LdsError),
    /// Counters of flows cannot be made.
    #[error(transparent)]
    Colate(#[from] ColateError),
    /// Counters of flows cannot be compared.
    #[error(transparent)]
    Counters(#[from] Reason),
    /// Tables of flows cannot be compared.
    #[error(transparent)]
    LdsPair(#[from] LdsPairError),
    /// A queue always drops some packets.
    #[error(
        "a queue dropped some of {packets} packets in every run that was to lose none; give fewer with --packets"
    )]
    NeverWhole {
        /// In a run.
        packets: usize,
    },
    /// A network is invalid, or has too many paths.
    #[error("{0}")]
    Network(String),
    /// A confidence level is invalid.
    #[error(transparent)]
    Confidence(#[from] ConfidenceError),
}
