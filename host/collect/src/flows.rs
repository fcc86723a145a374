//! Flows: what an interval's cells of flows, in [rows](deltaline_model::sketch::flow_rows) or a [vector](deltaline_model::sketch::flow_vector), say of single flows.
//!
//! Tables know no flow. Whoever asks names flows, and their hashes say which cells are theirs; how many are asked decides how sure an answer is of
//! the worst of them ([`LdsPair::read`]).
//!
//! # Test plan
//!
//! `host/cli/tests/flows_of_points.rs`: the shipped captures through measurement points, against exact matching.

use crate::evaluation::{Unusable, distrust, sums};
use crate::follower::Followed;
use crate::pair::Rows;
use deltaline_estimate::Reason;
use deltaline_estimate::lds::ends::Ends;
use deltaline_estimate::lds::{FlowReading, HeldDeviation, LdsPair, LdsPairError};
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::flow::FlowKey;
use deltaline_model::sketch::cell::Cell;
use deltaline_model::sketch::lds::{FlowHash, LdsError};
use deltaline_model::sketch::{flow_rows, flow_vector};
use deltaline_model::wire::shape::Kind;
use std::mem::discriminant;

/// Why nothing is said of an interval's flows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoFlows {
    /// The interval has no estimate at all.
    #[error(transparent)]
    Unusable(#[from] Unusable),
    /// Its cells are not of flows, or only a sample of packets is in them.
    #[error(
        "these points keep no cells of flows for all packets: design them with synopsis \"lds\" or \"colate\" and prefixes = [0]"
    )]
    Kind,
    /// Its cells do not fit together.
    #[error(transparent)]
    Table(#[from] LdsError),
    /// A count overflowed.
    #[error(transparent)]
    Pair(#[from] LdsPairError),
    /// Delays mean nothing.
    #[error(transparent)]
    Distrusted(#[from] Reason),
}

/// Which flows are worst: what is so for certain is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worst {
    /// Those of most packets.
    Packets,
    /// Those of the greatest mean delay.
    Delay,
    /// Those of the greatest standard deviation of delay.
    Jitter,
    /// Those that lost most, less what came in.
    Loss,
}

impl Worst {
    fn rank(self, ReadFlow { reading, deviation, .. }: &ReadFlow) -> f64 {
        match self {
            Worst::Packets => reading.sent.least,
            Worst::Loss => reading.net.least,
            Worst::Delay => reading.mean.map_or(f64::NEG_INFINITY, |mean| mean.range.lower),
            Worst::Jitter => deviation.map_or(f64::NEG_INFINITY, |deviation| deviation.range.lower),
        }
    }
}

/// What an interval says of a flow.
#[derive(Clone, Copy, Debug)]
pub struct ReadFlow {
    /// Which flow.
    pub flow: FlowKey,
    /// Its packets, losses and mean delay.
    pub reading: FlowReading,
    /// The standard deviation of its delay.
    pub deviation: Result<HeldDeviation, Reason>,
}

/// The flows that an interval shows.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// What they were chosen by.
    pub by: Worst,
    /// These, in their order.
    pub flows: Vec<ReadFlow>,
    /// How many of all that are asked for may have packets in it.
    pub seen: usize,
    /// Of these, how many have no mean; by jitter, no deviation.
    pub refused: usize,
    /// Why most of these have none.
    pub reason: Option<Reason>,
}

impl Chosen {
    /// The `count` worst; by delay or jitter, those that have one.
    fn of(mut flows: Vec<ReadFlow>, by: Worst, count: usize) -> Self {
        flows.retain(|read| read.reading.mean != Err(Reason::NothingReceived));
        let seen = flows.len();
        let reason_of = |read: &ReadFlow| match by {
            Worst::Jitter => read.deviation.err(),
            _ => read.reading.mean.err(),
        };
        let reasons: Vec<Reason> = flows.iter().filter_map(reason_of).collect();
        let refused = reasons.len();
        let often = |reason: &&Reason| {
            reasons.iter().filter(|other| discriminant(*other) == discriminant(*reason)).count()
        };
        let reason = reasons.iter().max_by_key(often).copied();
        flows.retain(|read| !matches!(by, Worst::Delay | Worst::Jitter) || reason_of(read).is_none());
        flows.sort_by(|one, other| by.rank(other).total_cmp(&by.rank(one)));
        flows.truncate(count);
        Chosen { by, flows, seen, refused, reason }
    }

    /// How many intervals of mean and of deviation are given; where there is no mean, how many flows.
    fn given(&self) -> [usize; 2] {
        let means = self.flows.iter().filter(|read| read.reading.mean.is_ok()).count();
        let deviations = self.flows.iter().filter(|read| read.deviation.is_ok()).count();
        [if means > 0 { means } else { self.flows.len() }, deviations]
    }
}

/// The flows that are asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    configuration: Configuration,
    /// Each with its hash.
    flows: Vec<(FlowKey, u64)>,
}

impl Asked {
    /// These flows at points of this configuration, each once.
    ///
    /// # Errors
    ///
    /// [`NoFlows::Kind`].
    pub fn new(configuration: &Configuration, mut flows: Vec<FlowKey>) -> Result<Self, NoFlows> {
        let takes_all = configuration.prefixes().lengths() == [0] && !configuration.adaptive();
        if !configuration.kind().is_of_flows() || !takes_all {
            return Err(NoFlows::Kind);
        }
        flows.sort_unstable();
        flows.dedup();
        let hash = FlowHash::new(configuration.hash(), configuration.seed());
        let flows = flows.into_iter().map(|flow| (flow, hash.flow(&flow))).collect();
        Ok(Asked { configuration: *configuration, flows })
    }

    /// The `count` worst of them in an interval: of these, 95 % of each kind of interval hold.
    ///
    /// # Errors
    ///
    /// [`NoFlows`].
    pub fn worst(&self, followed: &Followed, by: Worst, count: usize) -> Result<Chosen, NoFlows> {
        // Where totals and cells contradict each other, cells may be anything.
        if let Err(reason) = &followed.evaluation.result {
            return Err(reason.clone().into());
        }
        let pair = followed.interval.pair().map_err(Unusable::from)?;
        let shape = &pair.sender.shape;
        if *shape != self.configuration.shape() {
            return Err(NoFlows::Kind);
        }
        // Every reader of this kind has sums.
        let sums = sums(&pair).ok_or(Unusable::Kind(shape.kind))?;
        let (prefixes, seed) = (self.configuration.prefixes(), self.configuration.seed());
        let parameters = match shape.kind {
            Kind::FLOW_VECTOR => flow_vector::parameters(self.configuration.rows(), prefixes, seed),
            _ => flow_rows::parameters(self.configuration.rows(), prefixes, seed),
        };
        let [sender, receiver]: [Vec<Cell>; 2] = [pair.sender.cells(), pair.receiver.cells()];
        let rows = Rows { vouched: shape.has_digests, ..pair.rows(&sender, &receiver) };
        if let Some(reason) = distrust([rows].iter()) {
            return Err(reason.into());
        }
        let ends = Ends::of_cells(&parameters, [&sender, &receiver], &sums)?;
        let tables = LdsPair::new(&ends.sender, &ends.receiver)?;
        let asked = self.flows.len();
        let look_alike = tables.look_alike(self.flows.iter().map(|(_, hash)| *hash));
        let mut shown = [count.min(asked); 2];
        // How sure an answer is depends on how many are given, and how many can be given on how sure they are.
        loop {
            let read = self.flows.iter().filter_map(|&(flow, hash)| {
                let mut reading = tables.read(hash, shown[0], asked)?;
                let mut deviation = tables.deviation(hash, shown[1], asked);
                if look_alike && deviation.is_ok() {
                    deviation = Err(Reason::Alike);
                }
                if ends.are_uncertain(hash) {
                    let is_of_damage = |reason| matches!(reason, Reason::NoUsableRow | Reason::Damaged);
                    let cause =
                        |reason: Reason| if is_of_damage(reason) { Reason::LongInterval } else { reason };
                    (reading.mean, deviation) = (reading.mean.map_err(cause), deviation.map_err(cause));
                }
                Some(ReadFlow { flow, reading, deviation })
            });
            let chosen = Chosen::of(read.collect(), by, count);
            let mut given = chosen.given();
            // Where none is given, nothing could be surer.
            for (given, shown) in given.iter_mut().zip(shown) {
                *given = if *given == 0 { shown } else { shown.min(*given) };
            }
            if given == shown {
                return Ok(chosen);
            }
            shown = given;
        }
    }

    /// How many are asked for.
    pub fn count(&self) -> usize {
        self.flows.len()
    }
}
