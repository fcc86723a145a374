//! An interval of a flow's mean that holds by the hash alone, from what flows read that do not exist.
//!
//! A flow's cells hold other flows' packets, too. Which ones, its hash decides, which knows nothing of delays or sizes: so they are
//! what any other hash would find. Let a flow with mean delay m read n packets with delay sum S, of which v packets with delay sum V are
//! others'. Then
//!
//! ```text
//! S - n m  =  V - v m          its own packets cancel out
//! ```
//!
//! and the right side is a draw of the numbers V_i - v_i m of flows that do not exist, read in the same way. A mean m is rejected
//! where S - n m is among the outermost of these. So the interval holds whatever sizes and delays there are, and whether or not they stay
//! the same. Flows that do not exist read the packets of existing ones, the asked flow's among them; at the right m those cancel out there,
//! too.
//!
//! **How it is read.** By the emptiest of the rows in which every packet is counted and all k cells of the flow are usable. Flows that do
//! not exist are read by the emptiest of the first so many.
//!
//! **Where the flow lost packets**, cells are damaged at the same places in all rows, since a packet's place picks the same of the k cells in each. The
//! others are read, of flows that do not exist the same ones. They hold a random sample of the packets that arrived, and the mean is that of the
//! sample: how far the others' is from it, two or three cells cannot tell where a few packets take far longer than most.
//!
//! **The ends.** Each flow that does not exist, with v_i < n, rejects the means on one side of (S - V_i) / (n - v_i); so the interval ends
//! where as many of these numbers lie outside as may be missed. One with v_i >= n might have made all that is read, and counts against
//! both ends.
//!
//! **Packets and losses** in the same way: what a flow reads beyond its own packets, or its own losses, is what flows that do not exist read, of all rows
//! the least. If no packet came in, no flow reads less than its own.
//!
//! **Many flows.** Of those that are asked, one in twenty is missed, and these may be just the ones that look worst. So whoever shows some of
//! many says so: with a chance of 0.05 shown / asked for each, no more than one in twenty of those shown is missed on average
//! (Benjamini, Yekutieli, *False discovery rate-adjusted multiple confidence intervals*, JASA 2005). What counts as shown is what is given: whoever has fewer
//! than were to be shown says so, and asks again.
//!
//! # Test plan
//!
//! A flow alone; packets, losses and means of all flows, and of the slowest of many, as many are missed as theory allows,
//! over seeds, with heavy tails, with delays that rise and fall, and with a large flow; on the capture of a real
//! queue (`tests/capture.rs`); refusals.

use super::alone::SameRows;
use super::{Bounds, LdsPair, MISSED};
use crate::mean::Range;
use crate::reason::Reason;
use deltaline_model::sketch::lds::Lds;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Flows that do not exist, at least.
const FLOWS: usize = 3999;
/// As many for each flow that is asked for, so that one of them may be shown alone.
const FLOWS_ASKED: usize = 40;
/// As many times as many are looked for in order to find these, where cells are damaged.
const TRIED: usize = 20;
/// Of so many combinations of parts their readings are kept: flows of many cells that lost packets have nearly all another one.
const KEPT: usize = 64;

/// Most cells of a flow in a row that are told apart; of more, some stand together.
const PARTS: usize = 64;

/// What a flow reads in a part of its cells of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Reading {
    packets: f64,
    delays: f64,
}

impl Reading {
    fn plus(self, other: Reading) -> Self {
        Reading { packets: self.packets + other.packets, delays: self.delays + other.delays }
    }
}

/// What a flow reads in a row: by parts of its cells, where they are usable.
struct Parts([Option<Reading>; PARTS]);

impl Parts {
    /// The usable parts, a bit each.
    fn usable(&self) -> u64 {
        self.0
            .iter()
            .enumerate()
            .fold(0, |parts, (part, reading)| parts | u64::from(reading.is_some()) << part)
    }

    /// Those of these parts.
    fn of(&self, parts: u64) -> impl Iterator<Item = Reading> {
        self.0
            .iter()
            .enumerate()
            .filter(move |(part, _)| parts >> part & 1 == 1)
            .filter_map(|(_, reading)| *reading)
    }

    /// All of these parts together.
    fn sum(&self, parts: u64) -> Reading {
        self.of(parts).fold(Reading::default(), Reading::plus)
    }
}

/// How sure an answer has to be, and what it takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sureness {
    /// What an interval may miss.
    pub(super) chance: f64,
    /// Flows that do not exist to compare with.
    pub(super) flows: usize,
}

impl Sureness {
    /// Of `shown` flows that are shown of the `asked` ones.
    pub(super) fn of(shown: usize, asked: usize) -> Self {
        let chance = MISSED * (shown as f64 / asked.max(1) as f64).min(1.0);
        Sureness { chance, flows: FLOWS.max(FLOWS_ASKED.saturating_mul(asked)) }
    }
}

/// The readings of flows that do not exist, in the emptiest of so many rows, those with few packets first.
type Readings = Vec<Reading>;

/// Packets sent, and lost less those that came in.
#[derive(Clone, Debug, Default)]
struct Whole<T> {
    sent: T,
    net: T,
}

impl Whole<Vec<f64>> {
    fn sorted(flows: impl Iterator<Item = Whole<f64>>) -> Self {
        let (mut sent, mut net): (Vec<f64>, Vec<f64>) = flows.map(|whole| (whole.sent, whole.net)).unzip();
        [&mut sent, &mut net].into_iter().for_each(|values| values.sort_unstable_by(f64::total_cmp));
        Whole { sent, net }
    }
}

/// What flows that do not exist read; made when it is asked for.
#[derive(Debug, Default)]
pub(super) struct Absent {
    /// Of so many rows in which these parts are usable, and so many flows.
    usable: Mutex<BTreeMap<(usize, u64, usize), Arc<Readings>>>,
    /// Whether both ends' cells are usable, one by one.
    cells: OnceLock<Vec<bool>>,
    /// The usable parts of as many flows as were needed, one after the other; of each, in the rows that count every packet.
    parts: Mutex<Vec<u64>>,
    /// Of all rows that count every packet, and so many flows.
    whole: Mutex<BTreeMap<usize, Arc<Whole<Vec<f64>>>>>,
    /// Of so many flows.
    same_rows: Mutex<BTreeMap<usize, SameRows>>,
}

impl Absent {
    /// What is known of so many flows, or found out now.
    pub(super) fn of_same_rows(&self, flows: usize, find: impl FnOnce() -> SameRows) -> SameRows {
        let mut known = self.same_rows.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(flows).or_insert_with(find)
    }
}

/// What is known of a flow by the hash alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowReading {
    /// Packets sent, by weight; the most is certain.
    pub sent: Bounds,
    /// Packets lost less those that came in, by weight: negative where more came in.
    pub net: Bounds,
    /// The mean delay and its interval.
    pub mean: Result<HeldMean, Reason>,
}

/// A mean delay with an interval that holds by the hash alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldMean {
    /// As likely too much as too little, in nanoseconds.
    pub nanoseconds: f64,
    /// The interval.
    pub range: Range,
    /// Of how many of the flow's packets that arrived this is the mean: 1 for all, or else about this share, drawn by lot.
    pub share: f64,
}

impl LdsPair<'_> {
    /// What is known of a flow, of which `shown` flows are shown of the `asked` ones: so chosen, 95 % of each kind of interval shown hold. For one
    /// flow that was chosen beforehand, both are 1: then 95 % of those asked hold, counting refusals, and fewer of the
    /// given, since those with many packets of others are given rather. None of a tracked flow, which has cells of its own, and where every row takes
    /// a sample of packets.
    ///
    /// The mean is refused with [`Reason::NothingReceived`] of a flow without packets; [`Reason::NoUsableRow`] where loss left no row
    /// that counts all packets with all of the cells that any of them has whole;
    /// [`Reason::TooSmall`] where others might have made all that is read.
    pub fn read(&self, flow: u64, shown: usize, asked: usize) -> Option<FlowReading> {
        if self.sender.tracked(flow).is_some() || !self.sender.parameters().prefixes.contains(&0) {
            return None;
        }
        let Sureness { chance, flows } = Sureness::of(shown, asked);
        let (own, others) = (self.whole(flow), self.absent_whole(flows));
        let sent = Bounds { least: (own.sent - beyond(&others.sent, 1.0 - chance)).max(0.0), most: own.sent };
        let [least, most] =
            [1.0 - 0.5 * chance, 0.5 * chance].map(|share| own.net - beyond(&others.net, share));
        let net = Bounds { least: least.min(sent.most), most: most.min(sent.most) };
        let mean =
            if own.sent == 0.0 { Err(Reason::NothingReceived) } else { self.held_mean(flow, chance, flows) };
        Some(FlowReading { sent, net, mean })
    }

    fn held_mean(&self, flow: u64, chance: f64, flows: usize) -> Result<HeldMean, Reason> {
        let rows: Vec<Parts> = self.readings(flow).collect();
        // Where no row is usable the flow itself lost a packet: so in all rows, by the same packets' places.
        let parts = rows.iter().fold(0, |parts, row| parts | row.usable());
        let rows = rows.iter().filter(|row| parts != 0 && row.usable() == parts);
        let rows: Vec<Reading> = rows.map(|row| row.sum(parts)).collect();
        let Reading { packets, delays } = emptiest(rows.iter().copied()).ok_or(Reason::NoUsableRow)?;
        let absent = self.absent(rows.len(), parts, flows);
        let may_lie_outside = (0.5 * chance * (absent.len() + 1) as f64).floor() as usize;
        let smaller = absent.partition_point(|other| other.packets < packets);
        let outside = may_lie_outside.saturating_sub(absent.len() - smaller);
        let others = absent.len().checked_sub(may_lie_outside.max(1)).and_then(|place| absent.get(place));
        let others = others.map_or(0, |other| other.packets as u64);
        let too_small = Reason::TooSmall { packets: packets as u64, others };
        if outside == 0 || 2 * outside > smaller {
            return Err(too_small);
        }
        let end = |other: &Reading| (delays - other.delays) / (packets - other.packets);
        let mut ends: Vec<f64> = absent.iter().take(smaller).map(end).collect();
        let [lower, nanoseconds, upper] = [outside - 1, smaller / 2, smaller - outside]
            .map(|place| *ends.select_nth_unstable_by(place, f64::total_cmp).1);
        let share = f64::from(parts.count_ones()) / self.parts() as f64;
        Ok(HeldMean { nanoseconds, range: Range { lower, upper }, share })
    }

    /// Into how many parts a flow's cells of a row fall.
    fn parts(&self) -> usize {
        self.sender.parameters().width.min(PARTS)
    }

    /// The least that any row which counts every packet holds of a flow's packets, and lacks of them at the receiver.
    fn whole(&self, flow: u64) -> Whole<f64> {
        let prefixes = &self.sender.parameters().prefixes;
        let rows = prefixes.iter().enumerate().filter(|(_, prefix)| **prefix == 0);
        let sums = rows.map(|(row, _)| {
            self.sender.cells_of(flow, row).fold([0.0; 2], |[sent, net], at| {
                let count = |end: &Lds| end.cells().get(at).map_or(0.0, |cell| f64::from(cell.count));
                let here = count(self.sender);
                [sent + here, net + here - count(self.receiver)]
            })
        });
        let least = sums.reduce(|one, other| [one[0].min(other[0]), one[1].min(other[1])]);
        let [sent, net] = least.unwrap_or_default();
        Whole { sent, net }
    }

    /// What a flow reads in the rows that count every packet.
    fn readings(&self, flow: u64) -> impl Iterator<Item = Parts> {
        let rows = self.sender.parameters().prefixes.iter().enumerate();
        let width = self.sender.parameters().width;
        rows.filter(|(_, prefix)| **prefix == 0).map(move |(row, _)| {
            let mut parts = Parts([None; PARTS]);
            parts.0.iter_mut().take(self.parts()).for_each(|part| *part = Some(Reading::default()));
            for (offset, at) in self.sender.cells_of(flow, row).enumerate() {
                let cells = self.sender.cells().get(at).zip(self.receiver.cells().get(at));
                let read = cells.and_then(|(sent, received)| {
                    Some(Reading { packets: sent.count.into(), delays: sent.delay_sum(received)? as f64 })
                });
                if let Some(part) = parts.0.get_mut(offset * self.parts() / width) {
                    *part = part.zip(read).map(|(all, read)| all.plus(read));
                }
            }
            parts
        })
    }

    /// The usable parts of a flow's cells in each of the rows that count every packet.
    fn usable_parts(&self, flow: u64) -> impl Iterator<Item = u64> {
        let cells = self.absent.cells.get_or_init(|| {
            let ends = self.sender.cells().iter().zip(self.receiver.cells());
            ends.map(|(sent, received)| sent.delay_sum(received).is_some()).collect()
        });
        let rows = self.sender.parameters().prefixes.iter().enumerate();
        let (parts, width) = (self.parts(), self.sender.parameters().width);
        rows.filter(|(_, prefix)| **prefix == 0).map(move |(row, _)| {
            let damaged = self.sender.cells_of(flow, row).enumerate();
            let damaged = damaged.filter(|(_, at)| !cells.get(*at).is_some_and(|is_usable| *is_usable));
            let damaged = damaged.fold(0, |all, (offset, _)| all | 1 << (offset * parts / width));
            (u64::MAX >> (PARTS - parts)) & !damaged
        })
    }

    /// What so many flows that do not exist read in these parts, in the emptiest of `rows` rows.
    fn absent(&self, rows: usize, parts: u64, flows: usize) -> Arc<Readings> {
        let mut known = self.absent.usable.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(readings) = known.get(&(rows, parts, flows)) {
            return Arc::clone(readings);
        }
        if known.len() >= KEPT {
            known.clear();
        }
        let all_rows = self.sender.parameters().prefixes.iter().filter(|prefix| **prefix == 0).count();
        let mut usable = self.absent.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let read = |(number, flow)| {
            if usable.len() <= number * all_rows {
                usable.extend(self.usable_parts(flow));
            }
            let of_flow = usable.get(number * all_rows..)?;
            let has_parts = |usable: &u64| usable & parts == parts;
            if of_flow.iter().take(all_rows).filter(|usable| has_parts(usable)).take(rows).count() < rows {
                return None;
            }
            let readings = self.readings(flow).zip(of_flow).filter(|(_, usable)| has_parts(usable));
            emptiest(readings.take(rows).map(|(row, _)| row.sum(parts)))
        };
        let mut all: Readings =
            absent_flows(TRIED * flows).enumerate().filter_map(read).take(flows).collect();
        all.sort_unstable_by(|one, other| one.packets.total_cmp(&other.packets));
        let readings = Arc::new(all);
        known.insert((rows, parts, flows), Arc::clone(&readings));
        readings
    }

    /// What so many flows that do not exist read in all rows that count every packet.
    fn absent_whole(&self, flows: usize) -> Arc<Whole<Vec<f64>>> {
        let mut known = self.absent.whole.lock().unwrap_or_else(PoisonError::into_inner);
        let whole = known
            .entry(flows)
            .or_insert_with(|| Arc::new(Whole::sorted(absent_flows(flows).map(|flow| self.whole(flow)))));
        Arc::clone(whole)
    }
}

/// Hashes of so many flows that do not exist: numbers of which the tables' rounds make bases.
pub(super) fn absent_flows(flows: usize) -> impl Iterator<Item = u64> {
    (1..=flows as u64).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// What so great a share of values, which ascend, do not exceed.
fn beyond(values: &[f64], share: f64) -> f64 {
    let place = (share * (values.len() + 1) as f64).ceil() as usize;
    values.get(place.clamp(1, values.len().max(1)) - 1).copied().unwrap_or(0.0)
}

fn emptiest(readings: impl Iterator<Item = Reading>) -> Option<Reading> {
    readings.min_by(|one, other| one.packets.total_cmp(&other.packets))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use deltaline_model::sketch::lds::{FlowPacket, LdsParameters};

    /// What is found out of many flows that do not exist at once is what each of them reads, with one cell, some, and more than are told apart.
    #[test]
    fn usable_parts_are_those_that_are_read() {
        for width in [1, 4, 64, 100] {
            let parameters =
                LdsParameters { width, prefixes: vec![0, 3, 0], ..LdsParameters::plain(3, 256, 9) };
            let [mut sender, mut receiver] = [(); 2].map(|()| Lds::new(parameters.clone()).unwrap());
            for (number, packet) in absent_flows(2000).enumerate() {
                let packet =
                    FlowPacket { flow: packet >> 60, packet, nanoseconds: 1, octets: 100, weight: 1 };
                sender.add(&packet);
                if number % 97 > 0 {
                    receiver.add(&packet);
                }
            }
            let pair = LdsPair::new(&sender, &receiver).unwrap();
            let mut damaged = 0;
            for flow in absent_flows(500) {
                let read: Vec<u64> = pair.readings(flow).map(|row| row.usable()).collect();
                damaged +=
                    read.iter().filter(|parts| parts.count_zeros() as usize > PARTS - pair.parts()).count();
                assert_eq!(pair.usable_parts(flow).collect::<Vec<_>>(), read, "{width}");
            }
            assert!(damaged > 0, "{width}");
        }
    }
}
