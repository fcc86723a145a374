//! Difference: which packets two identity tables do not have in common, one by one.
//!
//! The ends' tables are subtracted cell by cell. Where a single packet is left in a cell, the cell shows its identifier;
//! it is taken out of its cells in the other tables, where another single packet may be left then, and so on (RDA
//! paper, section IV, Algorithm 1, with k tables in place of k banks and a check in every cell). That decodes d packets
//! with near certainty if the tables have 1.5 d cells together and 200 at least.
//!
//! Packets of one identity, of which one end has seen more, are left in a cell several times: its fields are that multiple of one
//! packet's, and are divided. Numbers that eight divides are not: too little is left of the fields then.
//!
//! Decoding ends: a packet is taken out of [`TABLES`] cells at most as often as there are cells, which is more than
//! tables can hold packets; tables made up to go on for ever are given up then.
//!
//! # Test plan
//!
//! Sets that differ by known packets, from none up to what decodes, both ways, across an interval's edge, with as many of one identity as you like: exactly these packets
//! come out, or the difference says that it is not complete; random and hostile cells: it ends, and never
//! says complete with a cell left over.

use crate::quantity::{Definition, Metric, Number, Quantity, Unit};
use crate::{Observation, Reason, Sums};
use deltaline_model::sketch::cell::Row;
use deltaline_model::sketch::digest::{PacketDigest, add, subtract};
use deltaline_model::sketch::identity_table::{IdentityCell, TABLES, row};
use deltaline_model::sketch::lda_identity::CheckedCell;
use deltaline_model::sketch::packet_id::PacketId;
use std::collections::HashMap;

mod bound;
mod damage;
mod left;
mod rateless;
mod rda;
mod size;
pub mod stash;

pub use bound::{MOST_ROWS, bound, rows_for};
pub use damage::NamedRow;
use left::{AsTimes, CheckSum, Left, Waiting};
pub use rateless::{MOST_SYMBOLS, Symbol, Symbols, more_than};
pub use rda::{published_deviation, published_mean};
pub use size::{MinHash, by_counts};

/// The packets that only one end has seen, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Identifiers of those that only the sender has seen: lost, or counted in another interval by the receiver.
    pub only_sent: Vec<[u32; 2]>,
    /// Identifiers of those that only the receiver has seen: duplicates, strangers, or of another interval.
    pub only_received: Vec<[u32; 2]>,
    /// No packet is left unknown.
    pub complete: bool,
    /// The tables hold a sample of the packets: what is known are those of them that are in it.
    pub is_sampled: bool,
    /// Rows were repaired: what is said is whether all were.
    pub of_rows: bool,
    /// Of those received, how many have the identity of one that was sent, if it is known: repeated on their way.
    pub repeated: Option<u64>,
    /// Of those sent, how many have the identity of one that was received, as far as it is known: copies of it.
    pub copies: u64,
    /// How many packets of either end's others look like, so that which one of them the other end has seen was chosen by their times.
    pub chosen: u64,
    /// How many of the sender's packets look like others of the interval, as far as it is known: what was lost of them while another one came twice is not seen.
    pub alike: u64,
    /// How many packets look like some of an interval beside theirs, so that which are whose was chosen by where clocks cut them.
    pub across: u64,
    /// Of those received, how many the sender has in the interval before: late ones.
    pub late: u64,
    /// Of those received, how many the sender has in the next interval: early ones.
    pub early: u64,
}

impl Difference {
    /// Why it does not give the number of all packets that differ, if so.
    fn doubt(&self) -> Option<Reason> {
        match self {
            Difference { complete: false, .. } => Some(Reason::Undecoded),
            Difference { is_sampled: true, .. } => Some(Reason::SampledDifference),
            _ => None,
        }
    }

    /// Counts the packets that crossed from this interval to the `next` one, or the other way round, if all that differ are known in both.
    pub fn cross(&mut self, next: &mut Difference) {
        if self.doubt().or(next.doubt()).is_some() {
            return;
        }
        self.early = in_common(&self.only_received, &next.only_sent);
        next.late = in_common(&self.only_sent, &next.only_received);
    }

    /// Adds packets of one identity, of which the sender has `count` more, if there is room for them beside one for each of so many
    /// cells.
    fn put(&mut self, count: u32, halves: [u32; 2], cells: usize) -> bool {
        let alike = (count as i32).unsigned_abs() as usize;
        if self.only_sent.len() + self.only_received.len() + alike > cells + MOST_MORE {
            return false;
        }
        let side = if count as i32 > 0 { &mut self.only_sent } else { &mut self.only_received };
        side.extend(std::iter::repeat_n(halves, alike));
        true
    }

    /// Whether numbers and digest sums of all packets, which tell nothing of single ones, differ as these packets do. `digest` makes the digests.
    /// Three packets that look like one to a table without checks do not look so to them.
    pub fn agrees_with(&self, sums: &Sums, digest: &PacketDigest) -> bool {
        let id = PacketId::default();
        let sum = |packets: &[[u32; 2]]| {
            packets.iter().fold(0, |sum, halves| add(sum, digest.digest(id.hash_of(*halves))))
        };
        let [sent, received] = [&self.only_sent, &self.only_received];
        let differ = sums.sender.digests.zip(sums.receiver.digests);
        sums.sender.packets.wrapping_add(received.len() as u64)
            == sums.receiver.packets.wrapping_add(sent.len() as u64)
            && differ.is_none_or(|(sender, receiver)| {
                subtract(sender, receiver) == subtract(sum(sent), sum(received))
            })
    }

    /// Packets that did not arrive, if all packets that differ are known.
    pub fn lost(&self) -> Option<u64> {
        self.doubt().is_none().then_some(self.only_sent.len() as u64)
    }

    /// Packets that only the receiver has seen and that are no repeated ones, as far as they are known.
    pub fn foreign(&self) -> u64 {
        (self.only_received.len() as u64).saturating_sub(self.repeated.unwrap_or(0))
    }

    /// Packets that arrived without having been sent, if all packets that differ are known.
    pub fn gained(&self) -> Option<u64> {
        self.doubt().is_none().then_some(self.only_received.len() as u64)
    }
}

/// Most packets that are named beyond one for each cell.
const MOST_MORE: usize = 1 << 16;

impl Difference {
    /// What two ends' identity tables do not have in common. They are [`TABLES`] tables of equally many cells, a power of
    /// two each; of other tables nothing is known.
    pub fn of(sender: &[IdentityCell], receiver: &[IdentityCell]) -> Self {
        Difference::decode(sender, receiver, |sent, received| {
            Left::in_halves(sent.count.wrapping_sub(received.count), sent.fields, received.fields)
        })
    }

    /// As [`Difference::of`], of the identity tables beside an [LDA's rows](deltaline_model::sketch::lda_identity).
    pub fn beside_rows(sender: &[CheckedCell], receiver: &[CheckedCell]) -> Self {
        Difference::decode(sender, receiver, |sent, received| Left {
            count: sent.count.wrapping_sub(received.count),
            check: AsTimes(sent.sum).less(AsTimes(received.sum)),
            halves: std::array::from_fn(|half| subtract(sent.fields[half], received.fields[half])),
        })
    }

    fn decode<C, S: CheckSum>(sender: &[C], receiver: &[C], left: impl Fn(&C, &C) -> Left<S>) -> Self {
        let rows = sender.len() / TABLES;
        if sender.len() != receiver.len() || !rows.is_power_of_two() || rows * TABLES != sender.len() {
            return Difference::default();
        }
        let cells = sender.iter().zip(receiver).map(|(sent, received)| left(sent, received)).collect();
        Difference::of_cells(cells, rows, |halves, table| row(halves, table, rows), |left| left)
    }

    /// What is left in [`TABLES`] tables of `rows` cells each, of which a packet is in the one that `row` says of each. Whatever a cell becomes
    /// goes through `keep`.
    fn of_cells<S: CheckSum>(
        mut cells: Vec<Left<S>>,
        rows: usize,
        row: impl Fn([u32; 2], usize) -> usize,
        keep: impl Fn(Left<S>) -> Left<S>,
    ) -> Self {
        let id = PacketId::default();
        let mut difference = Difference::default();
        let mut waiting = Waiting::all(&cells);
        let mut known = 0;
        let may_be_here = |place, halves| {
            // Counted, not divided: a division takes as long as all the rest.
            let table = (1..TABLES).filter(|table| place >= table * rows).count();
            row(halves, table) == place - table * rows
        };
        while !waiting.is_over() {
            let singles = waiting.next(&cells, &id, may_be_here);
            for (place, left, check, halves) in singles.checked(&id) {
                let count = left.count;
                // One that was found before may have been in this cell, too; then it waits again.
                if cells[place] != left || known >= cells.len() || !difference.put(count, halves, cells.len())
                {
                    continue;
                }
                known += 1;
                for table in 0..TABLES {
                    let place = table * rows + row(halves, table);
                    cells[place].take(count, check, halves);
                    cells[place] = keep(cells[place]);
                    waiting.push(place, &cells[place]);
                }
            }
        }
        difference.complete = cells.iter().all(Left::is_empty);
        difference
    }
}

/// The table, or bank, of two ends' tables whose equal rows hold the most packets: as good as an LDA's bank.
///
/// Which one that is hangs on the packets that are lost, not on delays.
pub fn best_table<'a, R: Row>(observation: &Observation<'a, R>) -> Observation<'a, R> {
    let rows = observation.rows.max(1);
    let tables = observation.sender.chunks(rows).zip(observation.receiver.chunks(rows));
    let samples = |(sender, receiver): &(&[R], &[R])| {
        let usable = sender.iter().zip(*receiver).filter(|(sent, received)| sent.agrees(received));
        usable.map(|(sent, _)| u64::from(sent.count())).sum::<u64>()
    };
    match tables.max_by_key(samples) {
        Some((sender, receiver)) => Observation { sender, receiver, ..*observation },
        None => *observation,
    }
}

/// How many packets two lists have in common, each as often as both have it.
fn in_common(one: &[[u32; 2]], other: &[[u32; 2]]) -> u64 {
    let mut left: HashMap<[u32; 2], usize> = HashMap::new();
    one.iter().for_each(|packet| *left.entry(*packet).or_default() += 1);
    let is_left = |packet: &&[u32; 2]| {
        left.get_mut(*packet).filter(|count| **count > 0).map(|count| *count -= 1).is_some()
    };
    other.iter().filter(is_left).count() as u64
}

/// Packets that only the sender has seen.
pub static ONLY_SENT: Definition = Definition {
    metric: Some(Metric { name: "only_sent", help: "Packets that only the sender has seen" }),
    ..Definition::new("only_sent", "only sent", Unit::Packets)
};
/// Packets that only the receiver has seen.
pub static ONLY_RECEIVED: Definition = Definition {
    metric: Some(Metric { name: "only_received", help: "Packets that only the receiver has seen" }),
    ..Definition::new("only_received", "only received", Unit::Packets)
};

/// Packets received whose identity one that was sent has, too.
pub static REPEATED: Definition =
    Definition { heading: None, ..Definition::new("repeated", "", Unit::Packets) };
/// Packets received that were sent in the interval before.
pub static LATE: Definition = Definition { heading: None, ..Definition::new("late", "", Unit::Packets) };
/// Packets received that were sent in the next interval.
pub static EARLY: Definition = Definition { heading: None, ..Definition::new("early", "", Unit::Packets) };

/// Whether the tables show every packet that differs.
pub static COMPLETE: Definition =
    Definition { heading: None, ..Definition::new("complete", "", Unit::Packets) };

/// How many packets were seen at one end only.
pub fn of_differences(differences: &[&Difference]) -> Vec<Quantity> {
    let number = |what, packets: fn(&Difference) -> usize| {
        let total = differences.iter().map(|each| packets(each) as u64).sum();
        let doubt = differences.iter().find_map(|each| each.doubt());
        Quantity::new(what, doubt.map_or(Ok(Number::Count(total)), Err))
    };
    let repeated: Option<u64> = differences.iter().map(|each| each.repeated).sum();
    let repeated = Quantity::new(&REPEATED, repeated.map(Number::Count).ok_or(Reason::Undecoded));
    let complete = Quantity::new(&COMPLETE, Ok(Number::Truth(differences.iter().all(|each| each.complete))));
    if differences.iter().any(|each| each.of_rows) {
        return vec![complete];
    }
    vec![
        number(&ONLY_SENT, |each| each.only_sent.len()),
        number(&ONLY_RECEIVED, |each| each.only_received.len()),
        repeated,
        number(&LATE, |each| each.late as usize),
        number(&EARLY, |each| each.early as usize),
        complete,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltaline_model::sketch::packet_id::PacketId;
    use deltaline_model::wire::cell::WireCell;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// A hash of its own: odd multipliers permute 64-bit numbers.
    fn hash(packet: u64) -> u64 {
        (packet + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn halves(packet: u64) -> [u32; 2] {
        PacketId::default().halves_of(hash(packet))
    }

    fn tables(rows: usize, packets: impl IntoIterator<Item = u64>) -> Vec<IdentityCell> {
        let mut cells = vec![IdentityCell::default(); TABLES * rows];
        for packet in packets {
            let halves = halves(packet);
            let fields = [PacketId::default().check_of(hash(packet)), halves[0], halves[1]];
            for table in 0..TABLES {
                cells[table * rows + row(halves, table, rows)].add(packet, fields);
            }
        }
        cells
    }

    fn set(found: &[[u32; 2]]) -> BTreeSet<[u32; 2]> {
        found.iter().copied().collect()
    }

    #[test]
    fn exactly_the_packets_that_differ_come_out() {
        // 4 x 256 cells decode 680 packets; 300 lost and 250 foreign ones among 20,000.
        for (lost, foreign) in [(0, 0), (1, 0), (0, 1), (1, 1), (300, 250), (550, 0)] {
            let sent = tables(256, 0..20_000);
            let received = tables(256, (lost..20_000).chain(50_000..50_000 + foreign));
            let difference = Difference::of(&sent, &received);
            assert!(difference.complete, "{lost} {foreign}");
            let of = |packets: std::ops::Range<u64>| packets.map(halves).collect::<BTreeSet<_>>();
            assert_eq!(set(&difference.only_sent), of(0..lost));
            assert_eq!(set(&difference.only_received), of(50_000..50_000 + foreign));
            assert_eq!(difference.only_sent.len() as u64, lost);
        }
    }

    #[test]
    fn what_does_not_decode_is_said() {
        let (sent, received) = (tables(64, 0..5000), tables(64, 2000..5000));
        let difference = Difference::of(&sent, &received);
        assert!(!difference.complete);
        // What came out all the same is right.
        let lost: BTreeSet<_> = (0..2000).map(halves).collect();
        assert!(set(&difference.only_sent).is_subset(&lost) && difference.only_received.is_empty());
        assert_eq!(of_differences(&[&difference])[0].value, Err(Reason::Undecoded));
        let sampled = Difference { complete: true, is_sampled: true, ..difference };
        assert_eq!(
            (of_differences(&[&sampled])[1].value, sampled.lost()),
            (Err(Reason::SampledDifference), None)
        );
    }

    #[test]
    fn packets_of_one_identity_are_divided() {
        for alike in 1..=70usize {
            // One identity comes that often more, another is lost as often, among others that differ.
            let more = || std::iter::repeat_n(7, alike);
            let sent = tables(64, (0..100).chain(std::iter::repeat_n(8, alike)).chain(200..230));
            let difference = Difference::of(&sent, &tables(64, (0..100).chain(more()).chain(300..320)));
            if alike.is_multiple_of(8) {
                assert!(!difference.complete);
                continue;
            }
            let sorted = |mut found: Vec<[u32; 2]>| {
                found.sort_unstable();
                found
            };
            let expected = |common: u64, others: std::ops::Range<u64>| {
                sorted(std::iter::repeat_n(common, alike).chain(others).map(halves).collect())
            };
            assert!(difference.complete, "{alike}");
            assert_eq!(sorted(difference.only_sent), expected(8, 200..230));
            assert_eq!(sorted(difference.only_received), expected(7, 300..320));
        }
        for odd in (1..1 << 16).step_by(2) {
            assert_eq!((odd * left::inverse(odd)) & 0xffff, 1);
        }
    }

    #[test]
    fn packets_cross_the_edge_of_an_interval_both_ways() {
        let of = |sent: &[u64], received: &[u64]| Difference {
            only_sent: sent.iter().map(|packet| halves(*packet)).collect(),
            only_received: received.iter().map(|packet| halves(*packet)).collect(),
            complete: true,
            ..Difference::default()
        };
        // 1 and twice 2 come late, a third 2 is lost, 3 is repeated; 5 comes early.
        let (mut first, mut second) = (of(&[1, 2, 2, 2, 4], &[3, 5]), of(&[5, 6], &[1, 2, 2, 7]));
        first.cross(&mut second);
        assert_eq!((first.early, first.late, second.early, second.late), (1, 0, 0, 3));
        let (mut first, mut second) = (of(&[1], &[]), Difference { complete: false, ..of(&[], &[1]) });
        first.cross(&mut second);
        assert_eq!(second.late, 0);
    }

    /// Of so many runs, those in which all of d packets come out of 1.5 d cells.
    fn incomplete(rows: usize, runs: u64) -> u64 {
        let packets = (TABLES * rows * 2 / 3) as u64;
        let is_incomplete = |seed: &u64| {
            let lost = seed << 32..(seed << 32) + packets;
            !Difference::of(&tables(rows, lost), &tables(rows, [])).complete
        };
        (1..=runs).filter(is_incomplete).count() as u64
    }

    #[test]
    fn a_cell_and_a_half_for_each_packet_is_enough() {
        // 99.9 % at least: of 600 runs 0.6 fail in mean; more than five do once in 4,000 such tests.
        for rows in [128, 256] {
            assert!(incomplete(rows, 600) <= 5);
        }
    }

    /// The same of 200,000 runs: `cargo test --release -p deltaline-estimate -- --ignored --nocapture enough_in_full`.
    #[test]
    #[ignore = "takes minutes"]
    fn a_cell_and_a_half_is_enough_in_full() {
        for (rows, runs) in [(64, 100_000), (128, 50_000), (256, 25_000), (512, 12_500), (1024, 6250)] {
            let (cells, failed) = (TABLES * rows, incomplete(rows, runs));
            println!("{cells} cells, {} packets: {failed} of {runs} incomplete", cells * 2 / 3);
            let expected = runs as f64 / 1000.0;
            assert!(rows < 128 || (failed as f64) < expected + 5.0 * expected.sqrt());
        }
    }

    #[test]
    fn the_best_table_is_that_with_the_most_packets_in_equal_rows() {
        let (sent, received) = (tables(64, 0..1000), tables(64, 20..1000));
        let whole = Observation { rows: 64, sender: &sent, receiver: &received, sent: 1000, received: 980 };
        let samples = |sender: &[IdentityCell], receiver: &[IdentityCell]| {
            let equal = sender.iter().zip(receiver).filter(|(sent, received)| sent == received);
            equal.map(|(sent, _)| sent.count).sum::<u32>()
        };
        let most =
            sent.chunks(64).zip(received.chunks(64)).map(|(sent, received)| samples(sent, received)).max();
        let best = best_table(&whole);
        assert_eq!((best.sender.len(), Some(samples(best.sender, best.receiver))), (64, most));
    }

    #[test]
    fn tables_of_odd_sizes_are_not_decoded() {
        let cells = vec![IdentityCell::default(); 30];
        assert_eq!(Difference::of(&cells, &cells), Difference::default());
        assert_eq!(Difference::of(&cells[..28], &cells), Difference::default());
        assert_eq!(Difference::of(&[], &[]), Difference::default());
    }

    proptest! {
        #[test]
        fn hostile_cells_end_and_never_pass_for_complete(
            given in proptest::collection::vec((0u32..3, any::<[u32; 3]>(), any::<bool>()), 32),
            honest in proptest::collection::vec(any::<u64>(), 0..20),
        ) {
            // Single packets at places of their own among cells that hold anything.
            let mut cells = tables(8, honest.iter().map(|packet| packet >> 1));
            for (cell, (count, fields, is_hostile)) in cells.iter_mut().zip(&given) {
                if *is_hostile {
                    cell.merge(&IdentityCell { count: *count, sum: 0, fields: *fields });
                }
            }
            let none = tables(8, []);
            let difference = Difference::of(&cells, &none);
            let found = difference.only_sent.len() + difference.only_received.len();
            prop_assert!(found <= cells.len() + MOST_MORE);
            if difference.complete {
                let id = PacketId::default();
                let mut again = vec![IdentityCell::default(); cells.len()];
                let mut put = |halves: [u32; 2], is_sent: bool| for table in 0..TABLES {
                    let cell = &mut again[8 * table + row(halves, table, 8)];
                    let fields = [id.check_of(id.hash_of(halves)), halves[0], halves[1]];
                    let minus = fields.map(|field| subtract(0, field));
                    let (count, fields) = if is_sent { (1, fields) } else { (u32::MAX, minus) };
                    cell.merge(&IdentityCell { count, sum: 0, fields });
                };
                difference.only_sent.iter().for_each(|halves| put(*halves, true));
                difference.only_received.iter().for_each(|halves| put(*halves, false));
                for (cell, again) in cells.iter().zip(&again) {
                    prop_assert_eq!((cell.count, cell.fields), (again.count, again.fields));
                }
            }
        }
    }
}
