//! Flows: what an interval's [rows of flows](deltaline_model::sketch::flow_rows) say of single flows.
//!
//! Tables know no flow. Whoever asks names flows, and their hashes say which cells are theirs; how many are asked decides how sure an answer is of
//! the worst of them ([`LdsPair::read`]).
//!
//! # Test plan
//!
//! `host/cli/tests/flows_of_points.rs`: the shipped captures through measurement points, against exact matching.

use crate::evaluation::{Unusable, distrust, sums};
use crate::pair::{Interval, Rows};
use deltaline_estimate::Reason;
use deltaline_estimate::lds::ends::Ends;
use deltaline_estimate::lds::{FlowReading, LdsPair, LdsPairError};
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::flow::FlowKey;
use deltaline_model::sketch::cell::Cell;
use deltaline_model::sketch::flow_rows;
use deltaline_model::sketch::lds::{FlowHash, LdsError};
use deltaline_model::wire::shape::Kind;

/// Why nothing is said of an interval's flows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoFlows {
    /// The interval has no estimate at all.
    #[error(transparent)]
    Unusable(#[from] Unusable),
    /// Its cells are not of flows, or only a sample of packets is in them.
    #[error(
        "these points keep no cells of flows for all packets: design them with synopsis \"lds\" and prefixes = [0]"
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
    /// Those that lost most, less what came in.
    Loss,
}

impl Worst {
    fn rank(self, reading: &FlowReading) -> f64 {
        match self {
            Worst::Packets => reading.sent.least,
            Worst::Loss => reading.net.least,
            Worst::Delay => reading.mean.map_or(f64::NEG_INFINITY, |mean| mean.range.lower),
        }
    }
}

/// The flows that an interval shows.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// These, in their order.
    pub flows: Vec<(FlowKey, FlowReading)>,
    /// How many of all that are asked for may have packets in it.
    pub seen: usize,
    /// Of these, how many have no mean.
    pub refused: usize,
}

impl Chosen {
    /// The `count` worst; by delay, those that have a mean.
    fn of(mut flows: Vec<(FlowKey, FlowReading)>, by: Worst, count: usize) -> Self {
        flows.retain(|(_, reading)| reading.mean != Err(Reason::NothingReceived));
        let seen = flows.len();
        let refused = flows.iter().filter(|(_, reading)| reading.mean.is_err()).count();
        flows.retain(|(_, reading)| by != Worst::Delay || reading.mean.is_ok());
        flows.sort_by(|(_, one), (_, other)| by.rank(other).total_cmp(&by.rank(one)));
        flows.truncate(count);
        Chosen { flows, seen, refused }
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
        if configuration.kind() != Kind::FLOW_ROWS || !takes_all {
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
    pub fn worst(&self, interval: &Interval, by: Worst, count: usize) -> Result<Chosen, NoFlows> {
        let pair = interval.pair().map_err(Unusable::from)?;
        let shape = &pair.sender.shape;
        if *shape != self.configuration.shape() {
            return Err(NoFlows::Kind);
        }
        // Every reader of this kind has sums.
        let sums = sums(&pair).ok_or(Unusable::Kind(shape.kind))?;
        let (prefixes, seed) = (self.configuration.prefixes(), self.configuration.seed());
        let parameters = flow_rows::parameters(self.configuration.rows(), prefixes, seed);
        let [sender, receiver]: [Vec<Cell>; 2] = [pair.sender.cells(), pair.receiver.cells()];
        let rows = Rows { vouched: true, ..pair.rows(&sender, &receiver) };
        if let Some(reason) = distrust([rows].iter()) {
            return Err(reason.into());
        }
        let ends = Ends::of_cells(&parameters, [&sender, &receiver], &sums)?;
        let tables = LdsPair::new(&ends.sender, &ends.receiver)?;
        let asked = self.flows.len();
        let mut shown = count.min(asked);
        // How sure an answer is depends on how many are given, and how many can be given on how sure they are.
        loop {
            let read = self.flows.iter().filter_map(|(flow, hash)| {
                let mut reading = tables.read(*hash, shown, asked)?;
                if reading.mean == Err(Reason::NoUsableRow) && ends.are_uncertain(*hash) {
                    reading.mean = Err(Reason::LongInterval);
                }
                Some((*flow, reading))
            });
            let chosen = Chosen::of(read.collect(), by, count);
            let lines = chosen.flows.len();
            let means = chosen.flows.iter().filter(|(_, reading)| reading.mean.is_ok()).count();
            let given = if means > 0 { means } else { lines };
            if given >= shown || given == 0 {
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
