//! What two recordings hold that makes them hard to compare, with the remedy.

use crate::recordings::Recordings;
use deltaline_capture::survey::{BothWays, Survey};
use deltaline_model::wire::frame::Role;

/// What both ends' recordings hold, as far as a sample shows it.
#[derive(Default)]
pub(crate) struct Surveys {
    pub(crate) sender: Survey,
    pub(crate) receiver: Survey,
}

impl Surveys {
    pub(crate) fn of(&mut self, role: Role) -> &mut Survey {
        match role {
            Role::Sender => &mut self.sender,
            Role::Receiver => &mut self.receiver,
        }
    }

    /// What is to be said in every case, since a result may look right all the same.
    pub(crate) fn remarks(&self, recordings: &Recordings) -> Vec<String> {
        let tunnels = if recordings.takes_inner() { None } else { self.remark_on_tunnels() };
        tunnels.into_iter().chain(self.remark_on_both_ways()).collect()
    }

    /// Tunnels, which may hide what is in them, and that only one end may be in.
    fn remark_on_tunnels(&self) -> Option<String> {
        let found = [self.sender.tunnelled(), self.receiver.tunnelled()];
        let share = found.map(|found| found.map_or(0.0, |found| found.share));
        let most = found.into_iter().flatten().max_by(|one, other| one.share.total_cmp(&other.share))?;
        if most.share < NOTABLE {
            return None;
        }
        let harm = if (share[0] - share[1]).abs() > NOTABLE {
            "and one packet has a different identity inside and outside of one"
        } else if most.are_alike {
            "whose headers do not distinguish them"
        } else {
            "and known by the outer headers and a few bytes behind them, which must be the same at both ends"
        };
        Some(format!(
            "{} of the sender's packets and {} of the receiver's are in tunnels ({}), {harm}; --inner takes the packets inside",
            percent(share[0]),
            percent(share[1]),
            most.tunnel
        ))
    }

    /// Packets of both directions, whose delays have different signs.
    fn remark_on_both_ways(&self) -> Option<String> {
        let found = [self.sender.both_ways(), self.receiver.both_ways()];
        let share = found.map(|found| found.map_or(0.0, |found| found.share));
        let BothWays { example: [source, destination], .. } = found.into_iter().flatten().next()?;
        Some(format!(
            "{} of the sender's packets and {} of the receiver's go against the others of the same two addresses, such as \
             {source} and {destination}: the delays of two directions make one mean, and what only one end has seen is lost \
             or foreign; take one direction with --filter, such as 'src host {source}', or with --direction where the \
             recordings say it",
            percent(share[0]),
            percent(share[1])
        ))
    }
}

/// The share of packets from which on something about them is said.
const NOTABLE: f64 = 0.05;

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
