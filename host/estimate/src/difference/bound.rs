//! Bound tables: of as many cells as it takes, made of packets that are remembered, when it is known how many differ.
//!
//! RDA paper, section VIII, "late binding". As an [identity table](deltaline_model::sketch::identity_table), but for two things: cells have no sum of
//! times and short counts, 112 bits as [symbols](super::Symbol); and there may be any number of rows: part p of a packet's identifier picks row
//! p rows / 2^16. Making one takes a packet far less time than symbols do, which it is in some twenty of.
//!
//! # Test plan
//!
//! Sets that differ by none to ten thousand packets, some alike: exactly these come out of as many rows as are said to be needed, unless it
//! says that it is not complete.

use super::{Difference, Symbol};
use deltaline_model::sketch::digest::LANES;
use deltaline_model::sketch::identity_table::TABLES;
use deltaline_model::sketch::packet_id::{PacketId, part};

/// Most rows of a table, which parts of 16 bits can pick: for 150,000 packets that differ.
pub const MOST_ROWS: usize = 1 << 16;
/// Fewest rows: tables of fewer than 200 cells fail too often.
const FEWEST_ROWS: usize = 64;
/// Cells for each packet: three for every two are enough, and so many differ may be wrong by a tenth.
const CELLS_EACH: f64 = 1.6;

/// Rows of each table for about so many packets that differ, if there may be as many.
pub fn rows_for(differ: f64) -> Option<usize> {
    let rows = (CELLS_EACH * differ / TABLES as f64).ceil() as usize;
    Some(rows.max(FEWEST_ROWS)).filter(|rows| *rows <= MOST_ROWS)
}

fn row(halves: [u32; 2], table: usize, rows: usize) -> usize {
    (usize::from(part(halves, table)) * rows) >> 16
}

/// The tables of packets with these hashes, one behind the other, of so many rows each.
pub fn bound(hashes: impl IntoIterator<Item = u64>, rows: usize) -> Vec<Symbol> {
    let (id, rows) = (PacketId::default(), rows.clamp(1, MOST_ROWS));
    let mut cells = vec![Symbol::default(); TABLES * rows];
    let [upper, lower] = id.halves();
    let (mut batch, mut length) = ([0; LANES], 0);
    let mut add = |batch: &[u64; LANES], length: usize| {
        let (checks, upper, lower) =
            (id.check().digests(*batch), upper.digests(*batch), lower.digests(*batch));
        for lane in 0..length {
            let halves = [upper[lane], lower[lane]];
            for table in 0..TABLES {
                cells[table * rows + row(halves, table, rows)].add([checks[lane], upper[lane], lower[lane]]);
            }
        }
    };
    for hash in hashes {
        batch[length] = hash;
        length += 1;
        if length == LANES {
            add(&batch, length);
            length = 0;
        }
    }
    add(&batch, length);
    cells
}

impl Difference {
    /// What two ends' [bound tables](bound) do not have in common; of tables of other sizes nothing is known.
    pub fn of_bound(sent: &[Symbol], received: &[Symbol]) -> Self {
        let rows = sent.len() / TABLES;
        if sent.len() != received.len() || !(1..=MOST_ROWS).contains(&rows) || rows * TABLES != sent.len() {
            return Difference::default();
        }
        let cells = sent.iter().zip(received).map(|(sent, received)| sent.less(received)).collect();
        Difference::of_cells(cells, rows, |halves, table| row(halves, table, rows), |left| left.shortened())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difference::rateless::tests::hashes;

    #[test]
    fn exactly_the_packets_that_differ_come_out() {
        let id = PacketId::default();
        let sorted = |mut packets: Vec<[u32; 2]>| {
            packets.sort_unstable();
            packets
        };
        let names = |hashes: &[u64]| sorted(hashes.iter().map(|hash| id.halves_of(*hash)).collect());
        for (lost, foreign) in [(0, 0), (1, 0), (40, 60), (900, 300), (5000, 5000)] {
            let alike = [7, 7, 7, 9, 9];
            let sent = [&hashes(0..20_000)[..], &alike].concat();
            let received =
                [&hashes(lost..20_000)[..], &hashes(50_000..50_000 + foreign), &alike[..1]].concat();
            // A thousandth of all tables may fail; these do not.
            let rows = rows_for((lost + foreign + 4) as f64).unwrap_or_default();
            let found = Difference::of_bound(&bound(sent, rows), &bound(received, rows));
            assert!(found.complete, "{lost} {foreign}");
            assert_eq!(sorted(found.only_sent), names(&[&hashes(0..lost)[..], &alike[1..]].concat()));
            assert_eq!(sorted(found.only_received), names(&hashes(50_000..50_000 + foreign)));
        }
        assert_eq!((rows_for(0.0), rows_for(1e9)), (Some(64), None));
        // More by 2^16 than the other end, and yet nothing that is wrong.
        let found = Difference::of_bound(&bound(hashes(0..65_600), 64), &bound([], 64));
        assert!(!found.complete && found.only_sent.is_empty());
        assert_eq!(Difference::of_bound(&bound([], 64), &bound([], 65)), Difference::default());
    }
}
