//! What both ends of a [path](crate::path) add up of a run.
//!
//! # Test plan
//!
//! Without loss and with all packets in rows, the mean of rows is the true one; sums over all packets say the same. What tables make of
//! losses is tested with the experiments.

use crate::LabError;
use crate::path::Run;
use deltaline_estimate::{EndSums, Estimate, Observation, Sums, estimate_traffic};
use deltaline_model::sketch::cell::Cell;
use deltaline_model::sketch::digest;
use deltaline_model::sketch::sampler::{Prefixes, Sampler};
use deltaline_model::sketch::slices::{Record, Slices};
use deltaline_model::sketch::synopsis::{Hashed, Parameters, Synopsis};

/// Both ends' banks of `rows` rows each.
pub(crate) fn cells(run: &Run, prefixes: &Prefixes, rows: usize, has_digests: bool) -> [Vec<Cell>; 2] {
    let sampler = Sampler::new(*prefixes);
    [&run.sent, &run.received].map(|packets| {
        let mut cells = vec![Cell::default(); rows * prefixes.banks()];
        for packet in packets {
            let Some(bank) = sampler.bank(packet.place) else { continue };
            let digest = if has_digests { packet.digest } else { 0 };
            cells[bank * rows + packet.place as usize % rows].add_some(1, packet.time.nanoseconds(), digest);
        }
        cells
    })
}

/// What banks of rows and the sums over all packets say together.
///
/// # Errors
///
/// [`LabError::Observation`] when cells contradict the totals, which cannot happen here.
pub(crate) fn of_cells(
    cells: &[Vec<Cell>; 2],
    prefixes: &Prefixes,
    sums: &Sums,
) -> Result<Estimate, LabError> {
    let [sender, receiver] = cells;
    let (sent, received) = (sums.sender.packets, sums.receiver.packets);
    let rows = sender.len() / prefixes.banks();
    let observation = Observation { rows, sender, receiver, sent, received };
    let shares: Vec<f64> = (0..prefixes.banks()).map(|bank| prefixes.probability(bank)).collect();
    Ok(estimate_traffic(&observation, sums.near(), &shares)?.with_sums(sums))
}

/// Both ends' slices, in a table as large as `rows` rows; cut at this prefix length, or with 0 at as many packets as there is room for.
///
/// # Errors
///
/// [`LabError::Prefixes`].
pub(crate) fn records(run: &Run, rows: usize, prefix: u8) -> Result<[Vec<Record>; 2], LabError> {
    let prefixes = Prefixes::new(&[prefix])?;
    let parameters = Parameters { classes: 1, rows, prefixes, has_digests: false, seed: 0, tables: None };
    Ok([&run.sent, &run.received].map(|packets| {
        let mut slices = Slices::new(&parameters);
        slices.add(0, &Sampler::new(prefixes), packets);
        slices.records().to_vec()
    }))
}

/// What both ends add up over all packets.
pub(crate) fn sums(run: &Run) -> Sums {
    Sums { sender: end_sums(&run.sent), receiver: end_sums(&run.received) }
}

fn end_sums(packets: &[Hashed]) -> EndSums {
    let time = |packet: Option<&Hashed>| packet.map_or(0, |packet| packet.time.nanoseconds());
    EndSums {
        packets: packets.len() as u64,
        times: packets.iter().fold(0, |sum: u64, packet| sum.wrapping_add(packet.time.nanoseconds())),
        digests: Some(packets.iter().fold(0, |sum, packet| digest::add(sum, packet.digest))),
        first: time(packets.first()),
        last: time(packets.last()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{Law, Path};
    use deltaline_traffic::random::Seed;

    #[test]
    fn all_packets_are_in_rows_and_in_sums() {
        let run = Run::new(&Path::new(Law::Weibull(5e3), 1e5), 5000, Seed::new(1));
        let prefixes = Prefixes::new(&[0]).unwrap();
        let sums = sums(&run);
        assert!((sums.mean(sums.near()).unwrap() - run.mean()).abs() < 1e-6);
        for has_digests in [false, true] {
            let cells = cells(&run, &prefixes, 100, has_digests);
            let [sender, receiver] = &cells;
            let observation = Observation { rows: 100, sender, receiver, sent: 5000, received: 5000 };
            let of_rows = deltaline_estimate::estimate(&observation).unwrap();
            assert!((of_rows.mean.unwrap().nanoseconds - run.mean()).abs() < 1e-6);
            assert_eq!(of_cells(&cells, &prefixes, &sums).unwrap().sent, 5000);
            assert_eq!(sender.iter().any(|cell| cell.digest > 0), has_digests);
        }
    }
}
