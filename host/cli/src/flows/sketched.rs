//! Flows through the tables of a synopsis, as two points would report them.

use super::output::FlowOutput;
use super::{Compared, Synopsis};
use crate::causes::Surveys;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::working;
use crate::truth::each_packet;
use deltaline_capture::edges::Edges;
use deltaline_estimate::Reason;
use deltaline_estimate::colate::ColatePair;
use deltaline_estimate::lds::LdsPair;
use deltaline_model::packet::flow::{FlowKey, FlowMasks};
use deltaline_model::packet::hash::HashKind;
use deltaline_model::packet::identity::identify;
use deltaline_model::sketch::colate::{Colate, ColateParameters};
use deltaline_model::sketch::lds::{FlowHash, FlowPacket, Lds, LdsParameters};
use deltaline_model::sketch::sampler::Prefixes;
use deltaline_model::wire::frame::Role;
use std::collections::BTreeMap;
use std::fmt::Display;

/// Rows of an LDS.
const ROWS: usize = 4;
/// Seed of the hashes: recordings are nobody's who could choose packets by it.
const SEED: u64 = 1;

/// The flows that were seen, with their packets at the sender and at the receiver: tables know no flow, so whoever asks names them.
type Known = BTreeMap<FlowKey, [u64; 2]>;

/// The recordings and how they are read.
pub(super) struct Reading<'a> {
    pub(super) compared: &'a Compared,
    pub(super) edges: Option<&'a Edges>,
    pub(super) surveys: &'a mut Surveys,
    pub(super) remarks: &'a mut Vec<String>,
}

impl Reading<'_> {
    /// All flows of the recordings, as the tables of the synopsis tell them.
    pub(super) fn flows(self) -> Result<Vec<FlowOutput>, Failure> {
        match self.compared.synopsis {
            Synopsis::Colate => self.colate(),
            Synopsis::Lds | Synopsis::Exact => self.lds(),
        }
    }

    fn lds(self) -> Result<Vec<FlowOutput>, Failure> {
        let Compared { counters, width, prefixes, .. } = self.compared;
        let prefixes = match prefixes[..] {
            [prefix] => vec![prefix; ROWS],
            _ => prefixes.clone(),
        };
        let columns = counters / prefixes.len().max(1);
        let parameters = LdsParameters { columns, width: *width, prefixes, has_octets: false, seed: SEED };
        let table = || Lds::new(parameters.clone()).map_err(|reason| refused(&reason));
        let (mut sender, mut receiver) = (table()?, table()?);
        let hash = FlowHash::new(HashKind::H3, SEED);
        let known = self.each(&hash, |role, packet| match role {
            Role::Sender => sender.add(&packet),
            Role::Receiver => receiver.add(&packet),
        })?;
        let pair = LdsPair::new(&sender, &receiver).map_err(|reason| Failure::new(Exit::Refused, reason))?;
        let estimated = |flow: &FlowKey| FlowOutput::estimated(flow, &pair.regularised(hash.flow(flow)));
        Ok(working("asking the tables", || known.keys().map(estimated).collect()))
    }

    fn colate(self) -> Result<Vec<FlowOutput>, Failure> {
        let mut lengths = self.compared.prefixes.clone();
        lengths.dedup();
        let prefixes = Prefixes::new(&lengths).map_err(|reason| refused(&reason))?;
        let Compared { counters, width, .. } = *self.compared;
        let parameters =
            ColateParameters { counters, width, bits: 64, threshold: u64::MAX, prefixes, seed: SEED };
        let ends = || Colate::new(parameters).map_err(|reason| refused(&reason));
        let (mut sender, mut receiver) = (ends()?, ends()?);
        let hash = FlowHash::new(HashKind::H3, SEED);
        let (mut origin, mut is_early) = (None, false);
        let known = self.each(&hash, |role, mut packet| {
            let origin = *origin.get_or_insert(packet.nanoseconds);
            is_early |= packet.nanoseconds < origin;
            packet.nanoseconds = packet.nanoseconds.saturating_sub(origin);
            match role {
                Role::Sender => sender.add(&packet),
                Role::Receiver => receiver.add(&packet),
            }
        })?;
        if is_early {
            let message = "packets have times before the sender's first one, from which COLATE counts; take --synopsis lds, or \
                           recordings whose clocks agree";
            return Err(Failure::new(Exit::Refused, message.to_string()));
        }
        let [sent, received] = [sender, receiver].map(Colate::finish);
        let pair = match (&sent[..], &received[..]) {
            ([sent], [received]) => ColatePair::new(&parameters, sent, received),
            _ => Err(Reason::NothingReceived),
        };
        let estimated = |(flow, counts): (&FlowKey, &[u64; 2])| {
            let found = pair.as_ref().map_err(|reason| *reason);
            let found = found.and_then(|pair| pair.estimate(hash.flow(flow), counts[0] as f64));
            FlowOutput::counted(flow, *counts, found)
        };
        Ok(working("asking the counters", || known.iter().map(estimated).collect()))
    }

    /// Calls for every measured packet, and counts those of each flow.
    fn each(self, hash: &FlowHash, mut take: impl FnMut(Role, FlowPacket)) -> Result<Known, Failure> {
        let Reading { compared, edges, surveys, remarks } = self;
        let masks = FlowMasks::new(&compared.fields());
        let mut known = Known::new();
        each_packet(&compared.recordings, edges, surveys, remarks, |role, packet| {
            if let Ok(identity) = identify(packet.data) {
                let flow = masks.flow(&identity.key);
                let [sent, received] = known.entry(flow).or_default();
                *if role == Role::Sender { sent } else { received } += 1;
                let (flow, key) = (hash.flow(&flow), hash.packet(&identity.key));
                let (nanoseconds, octets) = (packet.timestamp, identity.ip_length);
                take(role, FlowPacket { flow, packet: key, nanoseconds, octets, weight: 1 });
            }
            Ok(())
        })?;
        Ok(known)
    }
}

fn refused(reason: &dyn Display) -> Failure {
    Failure::new(Exit::Usage, format!("--counters, --width, --prefixes: {reason}"))
}
