//! The methods for all packets of an interval: each is told what both ends saw of a run, and says what its tables show of it.
//!
//! A method knows the hash of a packet, when each end saw it, and how many packets it is to expect. Those that sample are tuned to the
//! losses of the run: in the field, to those of the interval before.
//!
//! # Test plan
//!
//! Every method on the paths that the [experiment](super) measures: `tests/experiments.rs`. Tables are not larger than they may be.

use super::{LINK_OCTETS, Method, OCTETS, ROWS};
use crate::LabError;
use crate::path::{PROBE_OCTETS, Run};
use crate::reconciliation::{Packet, Pair, identity, rda, srda};
use crate::slices::{measured, sliced, tuned};
use crate::tables::{cells, of_cells, sums};
use crate::traffic::purpose;
use deltaline_collect::collector::Collector;
use deltaline_collect::evaluation::Evaluation;
use deltaline_estimate::difference::{best_table, published_mean};
use deltaline_estimate::slices::together;
use deltaline_estimate::{
    Confidence, Difference, Estimate, Observation, Singles, estimate, prefixes_for_loss, quantile,
};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::packet::identity::{Identity, KEY_WORDS};
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::sketch::cell::Row;
use deltaline_model::sketch::finecomb::RowCell;
use deltaline_model::sketch::layout::{Layout, Subtractable};
use deltaline_model::sketch::packet_id::PacketId;
use deltaline_model::sketch::sampler::{MAX_PREFIX, Prefixes, Sampler};
use deltaline_model::sketch::synopsis::Hashed;
use deltaline_model::wire::cell::bits;
use deltaline_model::wire::frame::Role;
use deltaline_model::wire::shape::Kind;
use deltaline_traffic::random::Seed;
use std::collections::HashMap;

/// What a method says of a run; none where it says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    /// The mean delay in nanoseconds.
    pub(super) mean: Option<f64>,
    /// The 99th percentile of delay in nanoseconds.
    pub(super) quantile: Option<f64>,
    /// Packets lost.
    pub(super) lost: Option<f64>,
}

/// A method for all packets.
pub(super) struct Aggregate {
    pub(super) method: Method,
    pub(super) measure: fn(&Run, Seed) -> Result<Found, LabError>,
}

/// The quantile that is asked for.
pub(super) const QUANTILE: f64 = 0.99;

/// Rows with a digest: 104 bits.
const ROWS_WITH_DIGESTS: usize = 8 * OCTETS / 104;
/// Rows with a digest of 64 bits, and cells of an RDA: 136 bits.
const ROWS_OF_136: usize = 8 * OCTETS / 136;
/// Cells of both banks of an RDA, and of all four tables of identities with their 168 bits: they are powers of two.
const RDA_CELLS: usize = 1024;
const IDENTITY_CELLS: usize = 512;
/// Cells of an sRDA, of which a packet is in two; and rows of an LDA beside as many identities.
const SRDA_CELLS: usize = 512;
const NAMED_ROWS: usize = 512;
const _: () =
    assert!(RDA_CELLS * bits(2) as usize <= 8 * OCTETS && IDENTITY_CELLS * bits(3) as usize <= 8 * OCTETS);
/// Packets that differ for each cell of an identity table: it shows 0.67.
const LOAD: f64 = 0.6;
/// How many packets trajectory sampling draws on average, 72 bits each: three deviations fewer than it has room for.
const DRAWN: f64 = 1912.0;
const PROBES: usize = LINK_OCTETS / PROBE_OCTETS;
/// What sums over all packets take at an end: packets, the sum of their times, and the first and last time.
const SUMS_OCTETS: usize = 4 + 8 + 6 + 6;

/// The methods, in the order of the tables.
pub(super) const METHODS: [Aggregate; 13] = [
    Aggregate {
        method: Method::tables(
            "LDA, one bank",
            OCTETS,
            "deltaline measure --synopsis lda --rows 2048 --banks 1 sender.pcap receiver.pcap",
        ),
        measure: |run, _| lda(run),
    },
    Aggregate {
        method: Method::tables(
            "LDA, adaptive",
            OCTETS,
            "deltaline measure --design 10g-adaptive sender.pcap receiver.pcap",
        ),
        measure: |run, _| adaptive(run),
    },
    Aggregate {
        method: Method::tables(
            "LDA with digests, single packets",
            OCTETS,
            "deltaline measure --synopsis lda --rows 1024 --banks 8 --digest sender.pcap receiver.pcap",
        ),
        measure: |run, _| single_packets(run),
    },
    Aggregate {
        method: Method::tables(
            "slices",
            OCTETS,
            "deltaline measure --synopsis slices --rows 2048 sender.pcap receiver.pcap",
        ),
        measure: |run, _| slices(run),
    },
    Aggregate {
        method: Method::tables(
            "LDA and slices",
            OCTETS,
            "deltaline measure --synopsis both --rows 1024 --banks 1 sender.pcap receiver.pcap",
        ),
        measure: |run, _| both(run),
    },
    Aggregate {
        method: Method::tables(
            "FineComb",
            OCTETS,
            "deltaline measure --synopsis finecomb --rows 1024 --banks 1 sender.pcap receiver.pcap",
        ),
        measure: |run, _| finecomb(run),
    },
    Aggregate {
        method: Method::tables(
            "RDA, nothing remembered",
            RDA_CELLS * bits(2) as usize / 8,
            "deltaline measure --synopsis rda --rows 512 sender.pcap receiver.pcap",
        ),
        measure: |run, _| Ok(published(run)),
    },
    Aggregate {
        method: Method::tables(
            "identity tables",
            IDENTITY_CELLS * bits(3) as usize / 8,
            "deltaline measure --synopsis identity --rows 128 --banks 3 sender.pcap receiver.pcap",
        ),
        measure: |run, _| identities(run),
    },
    Aggregate {
        method: Method::tables(
            "sRDA, nothing remembered",
            SRDA_CELLS * bits(3) as usize / 8,
            "deltaline measure --synopsis srda --rows 512 sender.pcap receiver.pcap",
        ),
        measure: |run, _| Ok(published_flat(run)),
    },
    Aggregate {
        method: Method::tables(
            "LDA beside identities",
            3 * NAMED_ROWS * bits(0) as usize / 8,
            "deltaline measure --synopsis lda-identity --rows 512 sender.pcap receiver.pcap",
        ),
        measure: |run, seed| named_rows(run, seed),
    },
    Aggregate {
        method: Method {
            name: "trajectory sampling",
            octets: OCTETS,
            link_octets: LINK_OCTETS,
            command: None,
        },
        measure: |run, _| Ok(trajectories(run)),
    },
    Aggregate {
        method: Method {
            name: "Poisson probes",
            // Their delays, 40 bits each.
            octets: 5 * PROBES,
            link_octets: LINK_OCTETS,
            command: Some("deltaline stamp send router.example"),
        },
        measure: |run, seed| Ok(probes(run, seed)),
    },
    Aggregate {
        method: Method {
            name: "sums alone",
            octets: SUMS_OCTETS,
            link_octets: 2 * SUMS_OCTETS,
            // Every table has them beside it; hardly any packet is in this one.
            command: Some("deltaline measure --synopsis lda --rows 8 --banks 16 sender.pcap receiver.pcap"),
        },
        measure: |run, _| Ok(sums_alone(run)),
    },
];

/// What rows say of a run, without sums over all packets.
fn of_rows<R: Row>(run: &Run, rows: usize, [sender, receiver]: &[Vec<R>; 2]) -> Result<Estimate, LabError> {
    Ok(estimate(&observation(run, rows, sender, receiver))?)
}

fn observation<'a, R: Row>(run: &Run, rows: usize, sender: &'a [R], receiver: &'a [R]) -> Observation<'a, R> {
    let (sent, received) = (run.sent.len() as u64, run.received.len() as u64);
    Observation { rows, sender, receiver, sent, received }
}

/// Mean and loss of an estimate.
fn of_estimate(estimate: &Estimate) -> Found {
    let is_known = estimate.balance.unknown().is_none();
    Found {
        mean: estimate.mean.ok().map(|mean| mean.within_bounds()),
        quantile: None,
        lost: is_known.then(|| estimate.balance.lost() as f64),
    }
}

/// The quantile that single packets show.
fn of_singles(singles: &Singles) -> Option<f64> {
    let found = quantile(&[singles], QUANTILE, Confidence::P95).ok()?;
    Some(found.value.nanoseconds)
}

/// Packets sent less packets received.
fn net(run: &Run) -> Option<f64> {
    Some(run.sent.len() as f64 - run.received.len() as f64)
}

fn tuned_bank(run: &Run, rows: usize) -> Result<Prefixes, LabError> {
    Ok(Prefixes::new(&[tuned(rows, run.lost(), run.sent.len())])?)
}

/// The paper's LDA: one bank, tuned to the losses; rows and totals alone.
fn lda(run: &Run) -> Result<Found, LabError> {
    let estimate = of_rows(run, ROWS, &cells(run, &tuned_bank(run, ROWS)?, ROWS, false))?;
    Ok(Found { lost: net(run), ..of_estimate(&estimate) })
}

/// Two banks whose prefix lengths follow the losses, and the sums over all packets.
fn adaptive(run: &Run) -> Result<Found, LabError> {
    let rows = ROWS / 2;
    let prefixes = prefixes_for_loss(2, rows, run.sent.len() as u64, run.lost() as u64)?;
    Ok(of_estimate(&of_cells(&cells(run, &prefixes, rows, false), &prefixes, &sums(run))?))
}

/// Rows with digests, in which most packets are alone.
fn single_packets(run: &Run) -> Result<Found, LabError> {
    let rows = ROWS_WITH_DIGESTS;
    let prefix = (run.sent.len() as f64 / rows as f64).max(1.0).log2().round() as u8;
    let prefixes = Prefixes::new(&[prefix.min(MAX_PREFIX)])?;
    let cells = cells(run, &prefixes, rows, true);
    let singles = Singles::of(&observation(run, rows, &cells[0], &cells[1]));
    let estimate = of_cells(&cells, &prefixes, &sums(run))?;
    Ok(Found { quantile: of_singles(&singles), ..of_estimate(&estimate) })
}

fn slices(run: &Run) -> Result<Found, LabError> {
    let sliced = sliced(run, ROWS, 0, usize::MAX)?;
    Ok(Found { quantile: of_singles(&sliced.singles), ..of_estimate(&sliced.estimate) })
}

/// An LDA, tuned to the losses, and slices, with half of the octets each.
fn both(run: &Run) -> Result<Found, LabError> {
    let (lda, sliced) = measured(run, ROWS / 2)?;
    let estimate = together(lda, &sliced.estimate);
    Ok(Found { quantile: of_singles(&sliced.singles), ..of_estimate(&estimate) })
}

/// One bank of rows that know whether they hold the same packets.
fn finecomb(run: &Run) -> Result<Found, LabError> {
    let prefixes = tuned_bank(run, ROWS_OF_136)?;
    let (sampler, id) = (Sampler::new(prefixes), PacketId::default());
    let rows = [&run.sent, &run.received].map(|packets| {
        let mut rows = vec![RowCell::default(); ROWS_OF_136];
        for packet in packets.iter().filter(|packet| sampler.bank(packet.place).is_some()) {
            let row = packet.place as usize % ROWS_OF_136;
            rows[row].add(packet.time.nanoseconds(), id.halves_of(packet.hash));
        }
        rows
    });
    Ok(of_estimate(&of_rows(run, ROWS_OF_136, &rows)?))
}

/// Adds both ends' packets to a table that can be subtracted.
fn fill<C: Subtractable>(mut pair: Pair<C>, run: &Run, is_sampled: impl Fn(&&Hashed) -> bool) -> Pair<C> {
    let id = PacketId::default();
    for packet in run.sent.iter().filter(&is_sampled) {
        pair.add(&id, &Packet::new(packet.hash, &id), [Some(packet.time.nanoseconds()), None]);
    }
    for packet in run.received.iter().filter(&is_sampled) {
        pair.add(&id, &Packet::new(packet.hash, &id), [None, Some(packet.time.nanoseconds())]);
    }
    pair
}

/// RDA as published, of ends that remember no packet: none can be taken out of the rows that it damages.
fn published(run: &Run) -> Found {
    let layout = Layout::Banks { rows: RDA_CELLS / 2, banks: 2 };
    let pair = fill(rda(layout), run, |_| true);
    let [sender, receiver] = &pair.cells;
    let difference = Difference::of_rda(sender, receiver, layout);
    let lost = difference.complete.then_some(difference.only_sent.len() as f64);
    let mean = published_mean(&observation(run, RDA_CELLS / 2, sender, receiver)).ok();
    Found { mean, quantile: None, lost: lost.or(net(run)) }
}

/// The same of one array of cells.
fn published_flat(run: &Run) -> Found {
    let layout = Layout::Flat { cells: SRDA_CELLS, hashes: 2 };
    let pair = fill(srda(layout), run, |_| true);
    let [sender, receiver] = &pair.cells;
    let difference = Difference::of_srda(sender, receiver, layout);
    let lost = difference.complete.then_some(difference.only_sent.len() as f64);
    let mean = published_mean(&observation(run, SRDA_CELLS, sender, receiver)).ok();
    Found { mean, quantile: None, lost: lost.or(net(run)) }
}

/// The shortest prefix length with which at most so many of the packets that differ are sampled.
fn until_it_shows(run: &Run, most: f64) -> Result<Prefixes, LabError> {
    let differ = (run.lost() + run.gained()) as f64;
    let fits = |prefix: &u8| differ / f64::from(1u32 << prefix) <= most;
    Ok(Prefixes::new(&[(0..MAX_PREFIX).find(fits).unwrap_or(MAX_PREFIX)])?)
}

/// Rows, and identities that name what damages them, through the product's own points and their control frames.
fn named_rows(run: &Run, seed: Seed) -> Result<Found, LabError> {
    let prefixes = until_it_shows(run, LOAD * NAMED_ROWS as f64)?;
    let settings = Settings {
        synopsis: Kind::LDA_IDENTITY,
        rows: NAMED_ROWS,
        prefixes: prefixes.lengths(),
        seed: seed.with(purpose::HASHES).random().bits(),
        ..Settings::default()
    };
    let configuration = Configuration::new(settings)?;
    let mut collector = Collector::expecting(&configuration);
    for (role, packets) in [(Role::Sender, &run.sent), (Role::Receiver, &run.received)] {
        let mut point = MeasurementPoint::new(&configuration, role);
        for packet in packets {
            let mut key = [0; KEY_WORDS];
            [key[0], key[1]] = [(packet.hash >> 32) as u32, packet.hash as u32];
            point.record(&Identity { key: key.into(), ip_length: 0, truncated: false }, packet.time);
        }
        point.end_interval(IntervalEnd::Delimiter, |frame| collector.push(frame));
    }
    let evaluation = Evaluation::all(&collector.finish()).next();
    let estimate = evaluation.and_then(|evaluation| evaluation.result.ok());
    Ok(estimate.map_or_else(Found::default, |(estimate, _)| of_estimate(&estimate)))
}

/// Tables of identities, sampled so that what differs comes out.
fn identities(run: &Run) -> Result<Found, LabError> {
    let rows = IDENTITY_CELLS / 4;
    let prefixes = until_it_shows(run, LOAD * IDENTITY_CELLS as f64)?;
    let sampler = Sampler::new(prefixes);
    let pair = fill(identity(Layout::Identity { rows }), run, |packet| sampler.bank(packet.place).is_some());
    let [sender, receiver] = &pair.cells;
    let estimate = estimate(&best_table(&observation(run, rows, sender, receiver)))?;
    let difference = Difference::of(sender, receiver);
    let balance = match difference.complete {
        true => {
            let [lost, gained] =
                [&difference.only_sent, &difference.only_received].map(|packets| packets.len() as u64);
            estimate.balance.with_known(lost, gained, prefixes.probability(0))
        }
        false => estimate.balance,
    };
    Ok(of_estimate(&Estimate { balance, ..estimate }))
}

/// The mean and the quantile of a sample of delays, in nanoseconds.
fn of_sample(delays: Vec<i64>, run: &Run) -> Found {
    let mean = delays.iter().map(|delay| *delay as f64).sum::<f64>() / delays.len() as f64;
    let mean = (!delays.is_empty()).then_some(mean);
    Found { mean, quantile: of_singles(&Singles::drawn(delays, run.received.len() as u64)), lost: None }
}

/// Both ends keep digest and time of the packets that their hash samples.
fn trajectories(run: &Run) -> Found {
    let limit = DRAWN / run.sent.len() as f64 * 2f64.powi(32);
    let kept = |packets: &[Hashed]| -> Vec<(u64, i64)> {
        let sampled = packets.iter().filter(|packet| f64::from(packet.place) < limit);
        sampled.take(ROWS).map(|packet| (packet.hash, packet.time.nanoseconds() as i64)).collect()
    };
    let sent = kept(&run.sent);
    let received: HashMap<u64, i64> = kept(&run.received).into_iter().collect();
    let delays: Vec<i64> = sent.iter().filter_map(|(hash, time)| Some(received.get(hash)? - time)).collect();
    let arrived = delays.len() as f64 / sent.len() as f64;
    let lost = (!sent.is_empty()).then_some((1.0 - arrived) * run.sent.len() as f64);
    Found { lost, ..of_sample(delays, run) }
}

/// Packets of their own at random times: each meets what the next packet of the traffic meets.
fn probes(run: &Run, seed: Seed) -> Found {
    let mut random = seed.with(purpose::PROBES).random();
    let times = |packet: Option<&Hashed>| packet.map_or(0.0, |packet| packet.time.nanoseconds() as f64);
    let (first, last) = (times(run.sent.first()), times(run.sent.last()));
    let gap = (last - first) / PROBES as f64;
    let (mut time, mut sent, mut delays) = (first, 0.0, vec![]);
    loop {
        time += random.exponential(gap);
        let next = run.sent.partition_point(|packet| (packet.time.nanoseconds() as f64) < time);
        let Some(fate) = run.fates.get(next) else { break };
        sent += 1.0;
        // It is lost as the packet behind it.
        delays.extend(fate.map(|_| run.probe(next, time, &mut random) as i64));
    }
    let lost = (sent > 0.0).then(|| (1.0 - delays.len() as f64 / sent) * run.sent.len() as f64);
    Found { lost, ..of_sample(delays, run) }
}

/// Packets and their times, added up: those that were lost are taken to be sent at the mean time of all.
fn sums_alone(run: &Run) -> Found {
    let sums = sums(run);
    Found { mean: sums.completed(sums.near()), quantile: None, lost: net(run) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_table_is_larger_than_it_may_be() {
        for Aggregate { method, .. } in &METHODS {
            assert!(method.octets <= OCTETS && method.link_octets <= LINK_OCTETS, "{}", method.name);
        }
        let names: std::collections::HashSet<&str> = METHODS.iter().map(|each| each.method.name).collect();
        assert_eq!(names.len(), METHODS.len());
    }
}
