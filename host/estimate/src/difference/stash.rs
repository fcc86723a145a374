//! Repair of FineComb's rows: which packets of a row the receiver alone has seen.
//!
//! FineComb (Lee, Goldberg, Kompella, Varghese, SIGMETRICS 2011; RDA paper, section III-C) keeps a stash of packets at the receiver that may
//! be of another interval. Where the digests of a row differ, a combination of them is looked for that makes up the difference. A row that lost
//! packets is never repaired: nobody has these.
//!
//! * [`by_all_combinations`], as published: for each damaged row all 2^s combinations of a stash of s packets.
//! * [`by_rows`]: the row's own packets alone, as many as it has too many, by their sums' halves: of n packets c are found in
//!   the time of n^(c/2), rounded up. A row with too many combinations is left as it is.
//!
//! What is found is wrong as seldom as digests of 64 bits agree by chance: at most once in 2^32 rows.
//!
//! # Test plan
//!
//! Rows that gained nothing, one, several packets: exactly these are found, by either way; rows that lost some, or too many
//! to look for, are left; random rows end.

use deltaline_model::sketch::cell::Row;
use deltaline_model::sketch::digest::{add, subtract};
use deltaline_model::sketch::finecomb::RowCell;
use std::collections::HashMap;

/// Longest stash of which all combinations are tried.
pub const MOST_STASHED: usize = 24;
/// Most combinations that are looked at for one row.
const MOST_TRIED: usize = 1 << 20;
/// Most combinations that are told apart by 64 bits, wrong once in 2^32 rows.
const MOST_TOLD_APART: f64 = (1u64 << 32) as f64;

/// A packet of the receiver's: the row that it is in, and its identifier.
pub type Stashed = (usize, [u32; 2]);

type Sum = [u32; 2];

fn plus(one: Sum, other: Sum) -> Sum {
    [add(one[0], other[0]), add(one[1], other[1])]
}

fn minus(one: Sum, other: Sum) -> Sum {
    [subtract(one[0], other[0]), subtract(one[1], other[1])]
}

/// The rows that do not agree: which, packets and digests that the receiver has too many.
fn damaged<'a>(
    sender: &'a [RowCell],
    receiver: &'a [RowCell],
) -> impl Iterator<Item = (usize, u32, Sum)> + 'a {
    sender.iter().zip(receiver).enumerate().filter(|(_, (sent, received))| !sent.agrees(received)).map(
        |(row, (sent, received))| {
            (row, received.count.wrapping_sub(sent.count), minus(received.fields, sent.fields))
        },
    )
}

/// For each damaged row, in order, the packets of the stash, by their numbers, that make up its difference, if any do. None if the stash is
/// longer than [`MOST_STASHED`].
pub fn by_all_combinations(
    sender: &[RowCell],
    receiver: &[RowCell],
    stash: &[[u32; 2]],
) -> Option<Vec<(usize, Option<Vec<usize>>)>> {
    if stash.len() > MOST_STASHED {
        return None;
    }
    let of_row = |(row, _, difference): (usize, u32, Sum)| {
        // Neighbours in Gray's order differ in one packet.
        let (mut sum, mut chosen) = ([0, 0], 0u32);
        for number in 0..1u32 << stash.len() {
            let gray = number ^ number >> 1;
            let turned = (gray ^ chosen).trailing_zeros() as usize;
            if let Some(packet) = stash.get(turned) {
                sum = if gray > chosen { plus(sum, *packet) } else { minus(sum, *packet) };
            }
            chosen = gray;
            if sum == difference {
                return (row, Some((0..stash.len()).filter(|packet| gray >> packet & 1 == 1).collect()));
            }
        }
        (row, None)
    };
    Some(damaged(sender, receiver).map(of_row).collect())
}

/// The packets, by their numbers among the `packets` of the receiver, that only it has seen, and whether all rows agree without them.
pub fn by_rows(sender: &[RowCell], receiver: &[RowCell], packets: &[Stashed]) -> (Vec<usize>, bool) {
    let mut of_rows: HashMap<usize, Vec<usize>> =
        damaged(sender, receiver).map(|(row, _, _)| (row, vec![])).collect();
    for (number, (row, _)) in packets.iter().enumerate() {
        if let Some(numbers) = of_rows.get_mut(row) {
            numbers.push(number);
        }
    }
    let (mut found, mut complete) = (vec![], sender.len() == receiver.len());
    for (row, count, difference) in damaged(sender, receiver) {
        let own = of_rows.remove(&row).unwrap_or_default();
        let sums: Vec<Sum> = own.iter().map(|number| packets[*number].1).collect();
        match combination(&sums, count as usize, difference) {
            Some(chosen) => found.extend(chosen.into_iter().map(|number| own[number])),
            None => complete = false,
        }
    }
    (found, complete)
}

/// Which `count` of these add up to `sum`; none if none do or there are too many combinations to look at.
fn combination(of: &[Sum], count: usize, sum: Sum) -> Option<Vec<usize>> {
    let (few, many) = (count / 2, count - count / 2);
    if count > of.len()
        || combinations(of.len(), count) > MOST_TOLD_APART
        || combinations(of.len(), many) > MOST_TRIED as f64
    {
        return None;
    }
    let mut known: HashMap<Sum, Vec<usize>> = HashMap::new();
    each(of, few, &mut |chosen, part| {
        known.entry(part).or_insert_with(|| chosen.to_vec());
        false
    });
    let mut found = None;
    each(of, many, &mut |chosen, part| {
        let other = known.get(&minus(sum, part));
        found = other
            .filter(|other| other.iter().all(|number| !chosen.contains(number)))
            .map(|other| [other, chosen].concat());
        found.is_some()
    });
    found
}

/// n over k.
fn combinations(n: usize, k: usize) -> f64 {
    (0..k.min(n - k.min(n))).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

/// Shows every combination of so many of these with its sum, until one is the last that is wanted.
fn each(of: &[Sum], count: usize, show: &mut impl FnMut(&[usize], Sum) -> bool) {
    fn from(
        of: &[Sum],
        first: usize,
        left: usize,
        (chosen, sum): (&mut Vec<usize>, Sum),
        show: &mut impl FnMut(&[usize], Sum) -> bool,
    ) -> bool {
        if left == 0 {
            return show(chosen, sum);
        }
        for number in first..=of.len() - left {
            chosen.push(number);
            let is_last = from(of, number + 1, left - 1, (chosen, plus(sum, of[number])), show);
            chosen.pop();
            if is_last {
                return true;
            }
        }
        false
    }
    from(of, 0, count, (&mut vec![], [0, 0]), show);
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltaline_model::sketch::packet_id::PacketId;
    use proptest::prelude::*;

    fn halves(packet: u64) -> [u32; 2] {
        PacketId::default().halves_of((packet + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    const ROWS: usize = 16;

    fn rows(packets: impl Iterator<Item = u64>) -> Vec<RowCell> {
        let mut rows = vec![RowCell::default(); ROWS];
        packets.for_each(|packet| {
            rows[packet as usize % ROWS].add(packet, halves(packet));
        });
        rows
    }

    fn stashed(packets: impl Iterator<Item = u64>) -> Vec<Stashed> {
        packets.map(|packet| (packet as usize % ROWS, halves(packet))).collect()
    }

    #[test]
    fn packets_of_another_interval_are_found() {
        // Of packets 1000 and on, those are foreign. Row 3 has one, row 4 two, row 5 three, row 6 four.
        let foreign = [1011, 1012, 1028, 1013, 1029, 1045, 1014, 1030, 1046, 1062];
        let sent = rows(0..400);
        let received = rows((0..400).chain(foreign));
        let seen: Vec<u64> = (0..400).chain(foreign).collect();
        let (mut found, complete) = by_rows(&sent, &received, &stashed(seen.iter().copied()));
        found.sort_unstable();
        assert_eq!((found, complete), ((400..410).collect(), true));
        // The published way finds the same in a stash of the last 14.
        let stash: Vec<[u32; 2]> = seen[396..].iter().map(|packet| halves(*packet)).collect();
        let all = by_all_combinations(&sent, &received, &stash).unwrap();
        let numbers = [vec![4], vec![5, 6], vec![7, 8, 9], vec![10, 11, 12, 13]];
        let expected: Vec<_> = (3..7).zip(numbers).map(|(row, found)| (row, Some(found))).collect();
        assert_eq!(all.len(), 4);
        assert_eq!(all, expected);
        assert_eq!(by_all_combinations(&sent, &received, &[[0, 0]; MOST_STASHED + 1]), None);
    }

    #[test]
    fn rows_that_lost_packets_are_left() {
        let seen = || (1..400).chain([1008, 1009]);
        let sent = rows(0..400);
        // Row 0 lost packet 0 and gained 1008; row 1 gained 1009.
        let (found, complete) = by_rows(&sent, &rows(seen()), &stashed(seen()));
        // The last packet is 1009.
        assert_eq!((found, complete), (vec![400], false));
        let seen = || (1..400).chain([1025]);
        let (found, complete) = by_rows(&sent, &rows(seen()), &stashed(seen()));
        assert_eq!((found, complete), (vec![399], false));
        // Too many of too many.
        let seen = || (0..400).chain((0..12).map(|number| 1600 + 16 * number));
        assert_eq!(by_rows(&sent, &rows(seen()), &stashed(seen())), (vec![], false));
        assert_eq!(by_rows(&sent, &sent, &[]), (vec![], true));
    }

    #[test]
    fn numbers_of_combinations() {
        assert_eq!(
            [(5, 0), (5, 2), (5, 5), (40, 20)].map(|(n, k)| combinations(n, k).round()),
            [1.0, 10.0, 1.0, 137_846_528_820.0]
        );
    }

    proptest! {
        #[test]
        fn random_rows_end(
            given in proptest::collection::vec((any::<u32>(), any::<[u32; 2]>()), ROWS),
            packets in proptest::collection::vec((0..2 * ROWS, any::<[u32; 2]>()), 0..40),
        ) {
            let sent = rows(0..50);
            let received: Vec<RowCell> =
                given.iter().map(|(count, fields)| RowCell { count: count % 100, sum: 0, fields: *fields }).collect();
            let (found, complete) = by_rows(&sent, &received, &packets);
            prop_assert!(found.len() <= packets.len() && !complete);
        }
    }
}
