//! Reordering: packets that arrive after one that was sent later (RFC 4737, section 3.3).
//!
//! The timestamps give the order, not the order in the captures, which a recorder that collects from several queues may mix
//! up. RFC 4737 speaks of packets of one type: here a *flow*, of IP version, protocol, addresses and ports. Several queues, and
//! timestamps taken before a common queue, reorder packets of different flows where every flow is in order.
//!
//! # Test plan
//!
//! [`crate::matching`] and [`crate::stretches`] count by it: theirs holds for this.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::AddAssign;

/// How many packets were reordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reordering {
    /// Packets that were compared.
    pub compared: u64,
    /// Those that arrived after a later sent one of their flow.
    pub in_flow: u64,
    /// Those that arrived after a later sent one of any flow.
    pub overall: u64,
}

impl Reordering {
    /// Of these packets: when each arrived, when it was sent, its place in the order of sending, and its flow.
    pub(crate) fn of<F: Hash + Eq>(packets: impl Iterator<Item = (u64, u64, usize, F)>) -> Self {
        let mut packets: Vec<_> = packets.collect();
        // In order of arrival; what arrived in the same nanosecond, in order of sending.
        packets.sort_unstable_by_key(|&(arrived, sent, place, _)| (arrived, sent, place));
        let mut found = Reordering { compared: packets.len() as u64, ..Reordering::default() };
        let mut latest_of_flow: HashMap<F, u64> = HashMap::new();
        let mut latest = 0;
        for (_, sent, _, flow) in packets {
            found.overall += u64::from(sent < latest);
            latest = latest.max(sent);
            let latest = latest_of_flow.entry(flow).or_default();
            found.in_flow += u64::from(sent < *latest);
            *latest = sent.max(*latest);
        }
        found
    }
}

impl AddAssign for Reordering {
    fn add_assign(&mut self, other: Self) {
        self.compared += other.compared;
        self.in_flow += other.in_flow;
        self.overall += other.overall;
    }
}
