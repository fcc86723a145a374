//! How many packets differ, before it is known which.
//!
//! The RDA paper sizes its tables by [`MinHash`]: the share of equal minima of k hash functions estimates the share of packets that both ends have, J,
//! and (1 - J) / (1 + J) of both ends' packets differ. Here the least k hashes of both ends together serve, as those of k functions would.
//! The estimate's deviation is sqrt(J (1 - J) / k): of two million packets, of which a thousandth differs, k = 1024 see one or
//! two, or none.
//!
//! [`by_counts`] needs nothing more to be sent: where the counts of an identity table's cells differ, they do so as a random walk of the packets that
//! differ. The sum of the squared differences of one table's cells is their number in mean, with deviation sqrt(2 / rows) of it, whatever the number of
//! packets; four tables halve that.
//!
//! # Test plan
//!
//! Both against known sets, many times, within what their deviations allow; MinHash of sets that are alike, and of none.

use deltaline_model::sketch::cell::Row;
use deltaline_model::sketch::identity_table::{IdentityCell, TABLES};
use deltaline_model::sketch::packet_id::PacketId;

/// About how many packets differ, by the counts of both ends' identity tables.
pub fn by_counts(sender: &[IdentityCell], receiver: &[IdentityCell]) -> f64 {
    let rows = (sender.len() / TABLES) as f64;
    let more = |(sent, received): (&IdentityCell, &IdentityCell)| {
        f64::from(sent.count().wrapping_sub(received.count()) as i32)
    };
    let (sum, squares) = sender
        .iter()
        .zip(receiver)
        .map(more)
        .fold((0.0, 0.0), |(sum, squares), more| (sum + more, squares + more * more));
    // By how many the sender has more in all, and what that alone adds to the squares of a table.
    let net = sum / TABLES as f64;
    let spread = squares / TABLES as f64 - net * net / rows;
    (spread / (1.0 - 1.0 / rows)).max(net.abs())
}

/// The least hashes of a set of packets (Broder, Charikar, Frieze, Mitzenmacher, *Min-Wise Independent Permutations*, 2000).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinHash {
    least: Vec<u64>,
    most: usize,
    packets: u64,
}

impl MinHash {
    /// Of packets with these hashes; packets that look alike count once. `most` hashes are kept.
    pub fn of(hashes: impl IntoIterator<Item = u64>, most: usize) -> Self {
        let id = PacketId::default();
        let (mut least, mut packets) = (vec![], 0);
        let shrink = |least: &mut Vec<u64>| {
            least.sort_unstable();
            least.dedup();
            least.truncate(most);
        };
        for hash in hashes {
            let [upper, lower] = id.halves_of(hash);
            least.push(u64::from(upper) << 32 | u64::from(lower));
            packets += 1;
            if least.len() >= 4 * most.max(16) {
                shrink(&mut least);
            }
        }
        shrink(&mut least);
        MinHash { least, most, packets }
    }

    /// About how many packets differ.
    pub fn difference(&self, other: &Self) -> f64 {
        let mut union: Vec<u64> = self.least.iter().chain(&other.least).copied().collect();
        union.sort_unstable();
        union.dedup();
        union.truncate(self.most.min(other.most));
        let both =
            |hash: &&u64| self.least.binary_search(hash).is_ok() && other.least.binary_search(hash).is_ok();
        let common = union.iter().filter(both).count() as f64 / (union.len() as f64).max(1.0);
        (1.0 - common) / (1.0 + common) * (self.packets + other.packets) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difference::rateless::tests::hashes;
    use deltaline_model::sketch::identity_table::row;

    fn cells(rows: usize, hashes: &[u64]) -> Vec<IdentityCell> {
        let id = PacketId::default();
        let mut cells = vec![IdentityCell::default(); TABLES * rows];
        for hash in hashes {
            let halves = id.halves_of(*hash);
            (0..TABLES).for_each(|table| {
                cells[table * rows + row(halves, table, rows)].add(0, [0; 3]);
            });
        }
        cells
    }

    #[test]
    fn both_are_as_near_as_theory_has_it() {
        let (rows, most, runs) = (64, 256, 40);
        for (lost, foreign) in [(500u64, 0u64), (400, 400), (3000, 1000)] {
            let (mut by_count, mut by_minima) = (0.0, 0.0);
            for run in 0..runs {
                // Other lower halves of hashes in each run.
                let base = run * 1_000_003;
                let sent = hashes(base..base + 10_000);
                let received =
                    [hashes(base + lost..base + 10_000), hashes(base + 50_000..base + 50_000 + foreign)]
                        .concat();
                by_count += by_counts(&cells(rows, &sent), &cells(rows, &received));
                let [sent, received] = [sent, received].map(|hashes| MinHash::of(hashes, most));
                by_minima += sent.difference(&received);
            }
            let (differ, runs) = ((lost + foreign) as f64, runs as f64);
            // Five deviations of a mean of so many; that of one is 8.8 %, half of the 17.7 % of one table.
            let error = (by_count / runs / differ - 1.0).abs();
            assert!(error < 5.0 * 0.0884 / runs.sqrt(), "{lost} {foreign}: {error}");
            // d = (1 - J) / (1 + J) n, so that its deviation is 2 n / (1 + J)^2 times that of J; and a bias of its square.
            let all = (20_000 - lost + foreign) as f64;
            let common = (all - differ) / (all + differ);
            let deviation =
                2.0 * all / (1.0 + common).powi(2) * (common * (1.0 - common) / most as f64).sqrt();
            let bias = 2.0 * all / (1.0 + common).powi(3) * common * (1.0 - common) / most as f64;
            let error = (by_minima / runs - differ).abs();
            assert!(error < 5.0 * deviation / runs.sqrt() + bias, "{lost} {foreign}: {error} {deviation}");
        }
    }

    #[test]
    fn equal_sets_and_none() {
        let set = MinHash::of(hashes(0..1000), 64);
        assert_eq!((set.difference(&set), set.least.len()), (0.0, 64));
        let none = MinHash::of([], 64);
        assert_eq!((none.difference(&none), set.difference(&none)), (0.0, 1000.0));
        assert_eq!(by_counts(&[], &[]).max(0.0), 0.0);
    }
}
