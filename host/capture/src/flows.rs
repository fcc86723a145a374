//! Flows: what became of the packets of each, exactly.
//!
//! [`crate::exact::Matcher::finish_by_flow`] sorts every packet's fate by its flow, in bounded memory however many flows there are.
//!
//! # Test plan
//!
//! `exact`: random small captures against all pairs in memory, added up by flow; with memory for all and for a few records.

use crate::matching::{Flow, Likeness, Tally, Truth};
use crate::sorting::Sorter;
use deltaline_model::packet::flow::{FlowFields, FlowKey, FlowMasks};
use deltaline_model::packet::identity::KEY_BYTES;
use std::io;
use std::net::IpAddr;

/// Flow, what became of the packet, whether others look like it, and its delay in an order of its own.
const FATED: usize = size_of::<Flow>() + 2 + size_of::<i64>();

const RECEIVED: u8 = 0;
const LOST: u8 = 1;

/// Packets of a flow, of the same addresses, ports and protocol as a rule, and what became of them.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowTruth {
    /// The sender's address.
    pub source: IpAddr,
    /// The receiver's address.
    pub destination: IpAddr,
    /// The source port and the destination port; `None` of protocols without, and of a datagram's later fragments; zero is one that does not
    /// count.
    pub ports: Option<[u16; 2]>,
    /// The protocol that IP carries, such as 6 for TCP.
    pub protocol: u8,
    /// What became of those that were sent, without what looks alike.
    pub truth: Truth,
    /// Those that only the receiver has.
    pub surplus: u64,
    /// Those that look like others of the recordings and were not all lost, nor all surplus: which of them is which is a guess.
    pub alike: u64,
}

/// Packets' fates, to be sorted by flow.
pub(crate) struct Fates {
    masks: FlowMasks,
    sorter: Sorter<FATED>,
}

impl Fates {
    /// Takes fates of packets whose flows are told apart by these fields, about so many bytes of them in memory.
    pub(crate) fn new(fields: &FlowFields, memory: usize) -> Self {
        Fates { masks: FlowMasks::new(fields), sorter: Sorter::new(memory) }
    }

    /// A packet that arrived, after so many nanoseconds.
    pub(crate) fn received(&mut self, key: &[u8; KEY_BYTES], delay: i64, is_alike: bool) -> io::Result<()> {
        self.push(key, RECEIVED, is_alike, delay)
    }

    /// A packet that did not arrive.
    pub(crate) fn lost(&mut self, key: &[u8; KEY_BYTES], is_alike: bool) -> io::Result<()> {
        self.push(key, LOST, is_alike, 0)
    }

    /// A packet that was never sent.
    pub(crate) fn surplus(&mut self, key: &[u8; KEY_BYTES], is_alike: bool) -> io::Result<()> {
        self.push(key, LOST + 1, is_alike, 0)
    }

    fn push(&mut self, key: &[u8; KEY_BYTES], what: u8, is_alike: bool, delay: i64) -> io::Result<()> {
        let mut record = [0; FATED];
        let (flow, rest) = record.split_at_mut(size_of::<Flow>());
        flow.copy_from_slice(&self.masks.flow(&(*key).into()).to_bytes());
        [rest[0], rest[1]] = [what, u8::from(is_alike)];
        rest[2..].copy_from_slice(&delay.to_be_bytes());
        self.sorter.push(record)
    }

    /// Calls for each flow, in the order of their bytes.
    pub(crate) fn each(self, mut each: impl FnMut(FlowTruth)) -> io::Result<()> {
        let mut sorted = self.sorter.sorted()?;
        let mut current: Option<(Flow, Tally, u64, u64)> = None;
        while let Some(record) = sorted.next()? {
            let Some((flow, rest)) = record.split_first_chunk::<{ size_of::<Flow>() }>() else { continue };
            if current.as_ref().is_some_and(|(other, ..)| other != flow)
                && let Some((flow, tally, surplus, alike)) = current.take()
            {
                each(flow_truth(&flow, tally, surplus, alike));
            }
            let (_, tally, surplus, alike) = current.get_or_insert((*flow, Tally::default(), 0, 0));
            *alike += u64::from(rest[1]);
            match rest[0] {
                RECEIVED => {
                    let delay = rest[2..].first_chunk().map_or(0, |delay| i64::from_be_bytes(*delay));
                    tally.received(delay, Likeness::Single);
                }
                LOST => tally.lost(),
                _ => *surplus += 1,
            }
        }
        if let Some((flow, tally, surplus, alike)) = current {
            each(flow_truth(&flow, tally, surplus, alike));
        }
        Ok(())
    }
}

fn flow_truth(flow: &Flow, tally: Tally, surplus: u64, alike: u64) -> FlowTruth {
    let key = FlowKey::from(*flow);
    FlowTruth {
        source: key.source(),
        destination: key.destination(),
        ports: key.ports(),
        protocol: key.protocol(),
        truth: tally.truth(),
        surplus,
        alike,
    }
}
