//! RDA and sRDA as they were published: which packets differ, the mean, and the deviation.
//!
//! Fu, Barlet-Ros, Li, *Every Timestamp Counts* (IEEE/ACM ToN 2018). The sender's cells less the receiver's hold the packets
//! that differ; a cell that holds one of them shows which, and that one is taken out of its other cells (Algorithm 1, section IV).
//!
//! What the paper says is done here, also where it does not do what the paper hopes for:
//!
//! * A cell of RDA is taken for a single packet's if its ID hashes to this very cell and its count is 1 or -1. Three packets look so once in
//!   as many times as a bank has cells, and what is taken out then is no packet. Algorithm 1 does not look at a cell again before it
//!   takes it, and can go on for ever: here it ends after as many packets as there are cells.
//! * Two packets that share their cells in all banks never come out. With k = 2 banks of m = 2 d cells, where Theorem 2 promises
//!   failures of the order d^-2, a cycle among d packets is as likely at any d: all come out with the probability sqrt(1 - (d/m)^2) = 87 %
//!   for large d (a random bipartite graph without a cycle). A constant share of failures it is.
//! * Algorithm 1 calls those lost that only the receiver has, against section IV; here it is as section IV has it. Algorithm 2 counts
//!   its pairs from 2 to one for each row, two of which it means to take; Algorithm 3 returns the variance.
//! * A packet whose hashes agree is in one cell of sRDA once, and in two otherwise: the mean over all cells counts it half as much, and is
//!   off by the order of 1/m, also where nothing is lost.
//!
//! A difference is `complete` if what came out, an identifier in both directions left out, makes up the subtracted table: in that it goes
//! beyond the paper, which does not say whether it is done.
//!
//! # Test plan
//!
//! Sets that differ by known packets: these come out, or it is not complete. How often all come out beside the formula above, within
//! bounds of chance, and beside Theorem 2. Tables made up to go on for ever end. Mean and deviation by hand: the paper's example (figure 4), and a
//! row without packets between two pairs.

use super::Difference;
use crate::interval::root_of_difference;
use crate::{Observation, Reason};
use deltaline_model::sketch::cell::Row;
use deltaline_model::sketch::layout::Layout;
use deltaline_model::sketch::packet_id::PacketId;
use deltaline_model::sketch::rda::{RdaCell, SrdaCell};
use deltaline_model::sketch::xor_cell::XorCell;
use std::collections::BTreeSet;

/// What is left of a cell: the sender's less the receiver's.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Left<const D: usize> {
    count: u32,
    fields: [u32; D],
}

impl<const D: usize> Left<D> {
    const EMPTY: Self = Left { count: 0, fields: [0; D] };

    fn take(&mut self, count: u32, fields: [u32; D]) {
        self.count = self.count.wrapping_sub(count);
        self.fields.iter_mut().zip(fields).for_each(|(left, field)| *left ^= field);
    }
}

/// The sender's cells less the receiver's; none if they are not of this layout.
fn subtract<const D: usize>(
    sender: &[XorCell<D>],
    receiver: &[XorCell<D>],
    layout: Layout,
) -> Option<Vec<Left<D>>> {
    let left = |(sent, received): (&XorCell<D>, &XorCell<D>)| Left {
        count: sent.count.wrapping_sub(received.count),
        fields: std::array::from_fn(|field| sent.fields[field] ^ received.fields[field]),
    };
    let is_whole = sender.len() == layout.cells() && receiver.len() == layout.cells() && !sender.is_empty();
    is_whole.then(|| sender.iter().zip(receiver).map(left).collect())
}

impl Difference {
    /// What two ends' RDAs do not have in common, by Algorithm 1.
    pub fn of_rda(sender: &[RdaCell], receiver: &[RdaCell], layout: Layout) -> Self {
        let Layout::Banks { rows, .. } = layout else { return Difference::default() };
        let Some(whole) = subtract(sender, receiver, layout) else { return Difference::default() };
        let id = PacketId::default();
        let mut cells = whole.clone();
        let is_pure = |left: Left<2>, place: usize| {
            matches!(left.count, 1 | u32::MAX)
                && layout.places(&id, left.fields).nth(place / rows) == Some(place)
        };
        let mut pure: Vec<usize> = (0..cells.len()).filter(|&place| is_pure(cells[place], place)).collect();
        let (mut only_sent, mut only_received) = (BTreeSet::new(), BTreeSet::new());
        let mut most = cells.len();
        while let Some(place) = pure.pop() {
            let found = cells[place];
            if found == Left::EMPTY || most == 0 {
                continue;
            }
            most -= 1;
            let side = if found.count == 1 { &mut only_sent } else { &mut only_received };
            side.insert(found.fields);
            for place in layout.places(&id, found.fields) {
                cells[place].take(found.count, found.fields);
                if is_pure(cells[place], place) {
                    pure.push(place);
                }
            }
        }
        Difference::explaining(&whole, layout, [only_sent, only_received], |halves| halves)
    }

    /// What two ends' sRDAs do not have in common, by section IV.
    pub fn of_srda(sender: &[SrdaCell], receiver: &[SrdaCell], layout: Layout) -> Self {
        let Some(whole) = subtract(sender, receiver, layout) else { return Difference::default() };
        let id = PacketId::default();
        let check = |halves: [u32; 2]| id.check_of(id.hash_of(halves));
        let mut cells = whole.clone();
        let mut waiting: Vec<usize> = (0..cells.len()).collect();
        let (mut only_sent, mut only_received) = (BTreeSet::new(), BTreeSet::new());
        let mut most = cells.len();
        while let Some(place) = waiting.pop() {
            let Left { count, fields } = cells[place];
            let halves = [fields[1], fields[2]];
            if !matches!(count, 1 | u32::MAX) || check(halves) != fields[0] || most == 0 {
                continue;
            }
            most -= 1;
            let side = if count == 1 { &mut only_sent } else { &mut only_received };
            side.insert(halves);
            for place in layout.places(&id, halves) {
                cells[place].take(count, fields);
                waiting.push(place);
            }
        }
        let fields = |halves: [u32; 2]| [check(halves), halves[0], halves[1]];
        Difference::explaining(&whole, layout, [only_sent, only_received], fields)
    }

    /// Packets that came out of a subtracted table; complete if they make it up.
    fn explaining<const D: usize>(
        whole: &[Left<D>],
        layout: Layout,
        [sent, received]: [BTreeSet<[u32; 2]>; 2],
        fields: impl Fn([u32; 2]) -> [u32; D],
    ) -> Self {
        let id = PacketId::default();
        let mut cells = whole.to_vec();
        let mut take = |halves: &[u32; 2], count: u32| {
            for place in layout.places(&id, *halves) {
                cells[place].take(count, fields(*halves));
            }
        };
        let only_sent: Vec<[u32; 2]> = sent.difference(&received).copied().collect();
        let only_received: Vec<[u32; 2]> = received.difference(&sent).copied().collect();
        only_sent.iter().for_each(|halves| take(halves, 1));
        only_received.iter().for_each(|halves| take(halves, u32::MAX));
        let complete = cells.iter().all(|cell| *cell == Left::EMPTY);
        Difference { only_sent, only_received, complete, ..Difference::default() }
    }
}

/// The published mean in nanoseconds (section V-C): of all rows of all banks that hold the same packets at both ends, so that a packet
/// counts as often as it is in one.
///
/// # Errors
///
/// [`Reason::NoUsableRow`].
pub fn published_mean<R: Row>(observation: &Observation<R>) -> Result<f64, Reason> {
    let (packets, sum) = observation
        .usable_rows()
        .fold((0, 0), |(packets, sum), row| (packets + i128::from(row.packets), sum + row.delay_sum));
    if packets == 0 { Err(Reason::NoUsableRow) } else { Ok(sum as f64 / packets as f64) }
}

/// The published mean of the squared delays in ns^2 and the standard deviation in ns (Algorithms 2 and 3): in each bank every two rows
/// that hold packets, the same ones at both ends, collapse, whether they are neighbours or not.
///
/// # Errors
///
/// [`Reason::NoUsablePair`]; of the deviation also [`Reason::NegativeVariance`].
pub fn published_deviation<R: Row>(
    observation: &Observation<R>,
    mean: f64,
) -> (Result<f64, Reason>, Result<f64, Reason>) {
    let bank = observation.rows.max(1);
    let (mut packets, mut squares) = (0, 0.0);
    for (sender, receiver) in observation.sender.chunks(bank).zip(observation.receiver.chunks(bank)) {
        let one = Observation { sender, receiver, ..*observation };
        let usable: Vec<_> = one.usable_rows().collect();
        for [first, second] in usable.as_chunks::<2>().0 {
            packets += first.packets + second.packets;
            squares += ((first.delay_sum - second.delay_sum) as f64).powi(2);
        }
    }
    if packets == 0 {
        return (Err(Reason::NoUsablePair), Err(Reason::NoUsablePair));
    }
    let moment = squares / packets as f64;
    (Ok(moment), root_of_difference(moment, mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Identifiers by chance.
    fn packets(range: std::ops::Range<u64>, seed: u64) -> impl Iterator<Item = [u32; 2]> {
        let hash = move |packet: u64| (seed << 40 | packet).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        range.map(move |packet| PacketId::default().halves_of(hash(packet)))
    }

    fn table<const D: usize>(
        layout: Layout,
        packets: impl Iterator<Item = [u32; 2]>,
        fields: impl Fn([u32; 2]) -> [u32; D],
    ) -> Vec<XorCell<D>> {
        let id = PacketId::default();
        let mut cells = vec![XorCell::default(); layout.cells()];
        for halves in packets {
            layout.places(&id, halves).for_each(|place| {
                cells[place].add(1, fields(halves));
            });
        }
        cells
    }

    fn checked(halves: [u32; 2]) -> [u32; 3] {
        let id = PacketId::default();
        [id.check_of(id.hash_of(halves)), halves[0], halves[1]]
    }

    fn set(found: impl IntoIterator<Item = [u32; 2]>) -> BTreeSet<[u32; 2]> {
        found.into_iter().collect()
    }

    /// Differences of `lost` and `gained` packets among 2,000 as RDA and sRDA of about as many cells find them.
    fn differences(lost: u64, gained: u64, rows: usize, banks: usize, seed: u64) -> [Difference; 2] {
        let sent = || packets(0..2000, seed);
        let received = || packets(lost..2000, seed).chain(packets(5000..5000 + gained, seed));
        let layout = Layout::Banks { rows, banks };
        let whole = |halves| halves;
        let rda =
            Difference::of_rda(&table(layout, sent(), whole), &table(layout, received(), whole), layout);
        let layout = Layout::Flat { cells: rows * banks.next_power_of_two(), hashes: banks };
        let [sent, received] = [table(layout, sent(), checked), table(layout, received(), checked)];
        [rda, Difference::of_srda(&sent, &received, layout)]
    }

    #[test]
    fn exactly_the_packets_that_differ_come_out() {
        let mut done = [0, 0];
        for (lost, gained) in [(0, 0), (1, 0), (0, 1), (1, 1), (30, 25), (200, 0), (60, 160)] {
            for seed in 0..5 {
                for (kind, found) in differences(lost, gained, 512, 3, seed).into_iter().enumerate() {
                    let (sent, received) = (set(found.only_sent), set(found.only_received));
                    if found.complete {
                        done[kind] += 1;
                        assert_eq!(sent, set(packets(0..lost, seed)), "{lost} {gained} {seed}");
                        assert_eq!(received, set(packets(5000..5000 + gained, seed)));
                    }
                }
            }
        }
        // At most 220 packets in 1,536 cells: two share all cells of RDA once in 5,000 runs, two of three of sRDA's more often.
        assert!(done[0] >= 34 && done[1] >= 33, "{done:?}");
        for found in differences(1500, 0, 64, 2, 1) {
            assert!(!found.complete);
        }
    }

    /// How often all of d packets come out of k banks of m cells.
    fn completions(d: u64, k: usize, rows: usize, runs: u64) -> f64 {
        let complete = |seed: &u64| {
            let layout = Layout::Banks { rows, banks: k };
            let whole = |halves| halves;
            let sent = table(layout, packets(0..d / 2, *seed), whole);
            let received = table(layout, packets(d / 2..d, *seed), whole);
            Difference::of_rda(&sent, &received, layout).complete
        };
        (0..runs).filter(complete).count() as f64 / runs as f64
    }

    #[test]
    fn two_banks_complete_as_often_as_random_graphs_have_no_cycle() {
        // Theorem 2 promises failures of the order d^-2: 4e-4, 1.5e-5 and 1e-6 times a constant. Of m = 2 d cells a bank they are as
        // many at each d. The formula is that of large d: the expected number of cycles of length 2 j is the sum of (d/m)^2j / 2j,
        // less terms of the order 1/d. A cell of a false single packet spoils at most some in m more.
        for (d, rows) in [(64, 128), (256, 512), (1024, 2048)] {
            let runs = 1000;
            let expected = (1.0 - 0.25f64).sqrt();
            let error = 5.0 * (expected * (1.0 - expected) / runs as f64).sqrt() + 1.0 / d as f64;
            let found = completions(d, 2, rows, runs);
            assert!((found - expected).abs() < error, "d = {d}: {found} against {expected}");
        }
    }

    #[test]
    fn three_banks_fail_seldom() {
        // Two packets in all three banks the same: d (d - 1) / 2 m^3 = 0.8 % at d = 64, m = 128, one in 1,000 at d = 512.
        let runs = 400;
        let found = completions(64, 3, 128, runs);
        assert!(found > 1.0 - 0.01 - 5.0 * (0.01 / runs as f64).sqrt(), "{found}");
        assert!(completions(512, 3, 1024, runs) > 0.98);
    }

    #[test]
    fn a_table_made_up_to_go_on_for_ever_ends() {
        let id = PacketId::default();
        let layout = Layout::Banks { rows: 8, banks: 2 };
        // One packet in one bank alone: it goes from here to there and back.
        let halves = packets(0..1, 1).next().unwrap();
        let mut cells = vec![RdaCell::default(); 16];
        cells[layout.places(&id, halves).next().unwrap()].add(0, halves);
        let found = Difference::of_rda(&cells, &vec![RdaCell::default(); 16], layout);
        assert_eq!((found.complete, found.only_sent.len(), found.only_received.len()), (false, 0, 0));
        let layout = Layout::Flat { cells: 16, hashes: 2 };
        let mut cells = vec![SrdaCell::default(); 16];
        cells.iter_mut().for_each(|cell| {
            cell.add(0, checked(halves));
        });
        assert!(!Difference::of_srda(&cells, &vec![SrdaCell::default(); 16], layout).complete);
        // Tables of another size.
        assert_eq!(Difference::of_srda(&cells[1..], &cells[1..], layout), Difference::default());
        assert_eq!(Difference::of_rda(&[], &[], layout), Difference::default());
    }

    /// A cell of one end with a count, a sum of times and a name of its packets.
    fn cell(count: u32, sum: u64, of: u32) -> SrdaCell {
        SrdaCell { count, sum, fields: [of; 3] }
    }

    #[test]
    fn the_papers_example() {
        // Figure 4, and the text below it: mean 820 / 8; the collapse gives 4416.7, whose root less the mean's square does not exist.
        let sender = [cell(1, 70, 1), cell(2, 400, 2), cell(1, 250, 3), cell(2, 400, 4), cell(2, 480, 5)];
        let receiver = [cell(1, 110, 1), cell(2, 560, 2), cell(1, 390, 3), cell(2, 650, 4), cell(2, 710, 5)];
        let observation = Observation { rows: 5, sender: &sender, receiver: &receiver, sent: 8, received: 8 };
        assert_eq!(published_mean(&observation), Ok(102.5));
        let (moment, deviation) = published_deviation(&observation, 102.5);
        assert!((moment.unwrap() - 26500.0 / 6.0).abs() < 1e-9);
        assert_eq!(deviation, Err(Reason::NegativeVariance));
    }

    #[test]
    fn rows_that_are_empty_or_differ_are_passed_over() {
        // Delays 50 and 10 collapse across two rows that do not count; the third good row has no partner, and the other bank's none with it.
        let sender =
            [cell(1, 0, 1), cell(0, 0, 0), cell(1, 0, 2), cell(1, 0, 3), cell(1, 0, 4), cell(0, 0, 0)];
        let receiver =
            [cell(1, 50, 1), cell(0, 0, 0), cell(1, 9, 7), cell(1, 10, 3), cell(1, 70, 4), cell(0, 0, 0)];
        let observation = Observation { rows: 6, sender: &sender, receiver: &receiver, sent: 9, received: 9 };
        let (moment, deviation) = published_deviation(&observation, 20.0);
        assert_eq!((moment, deviation), (Ok(800.0), Ok(20.0)));
        let banks = Observation { rows: 3, ..observation };
        assert_eq!(published_deviation(&banks, 0.0).0, Ok(1800.0));
        let none = Observation { sender: &sender[1..3], receiver: &receiver[1..3], ..observation };
        assert_eq!(published_deviation(&none, 0.0).0, Err(Reason::NoUsablePair));
        assert_eq!(published_mean(&none), Err(Reason::NoUsableRow));
    }
}
