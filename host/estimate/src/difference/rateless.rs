//! Rateless symbols: which packets two ends have not in common, from as many cells as that takes.
//!
//! Where a table is too small for the packets that differ, ends that remember their packets can make another, of which any beginning is
//! a table of its own: symbol 0 holds all packets, symbol i one packet in 1 + i/2, each with count, check and identifier as an
//! [identity table's](deltaline_model::sketch::identity_table) cell has them (Yang, Gilad, Alizadeh, *Practical Rateless Set Reconciliation*,
//! SIGCOMM 2024). Some 1.4 to 1.7 symbols for each packet that differs are enough, whatever their number is.
//!
//! A packet that is in symbol i is in none of the symbols up to j behind it with the probability (i+1)(i+2) / ((j+1)(j+2)), the product of k / (k+2).
//! So, with u of 64 bits at random, the next is the least j with (j+1)(j+2) u > (i+1)(i+2) 2^64. It is guessed by a square root, and then found by
//! whole numbers alone: the same ones on every machine. The packets' identifiers are the seeds of their u.
//!
//! Counts are kept modulo 2^16, since single packets are all that is looked for: a symbol takes 112 bits.
//!
//! # Test plan
//!
//! Shares of packets in symbols against 1 / (1 + i/2), within chance; the next symbol by the definition. The pieces of an end's symbols against the whole. Sets that differ by none, one and
//! thousands of packets, some of one identity: these come out, and of how many symbols. Sets without anything in common end.

use super::Difference;
use super::left::{InHalves, Left};
use deltaline_model::sketch::digest::add;
use deltaline_model::sketch::packet_id::PacketId;

/// Symbols at first.
const FEWEST: usize = 64;
/// Most symbols: of half as many packets that differ.
pub const MOST_SYMBOLS: usize = 1 << 22;

/// How many symbols to make where so many were too few: an eighth more, in fours.
pub fn more_than(symbols: usize) -> usize {
    (symbols / 8).next_multiple_of(4).max(4)
}

/// A symbol of one end's packets, or a cell of a [bound table](super::bound): how many, and the sums of their checks and identifiers' halves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Symbol {
    /// Packets, modulo 2^16.
    pub count: u16,
    /// Sums of checks, upper halves and lower halves, each part of 16 bits modulo 2^16.
    pub fields: [u32; 3],
}

impl Symbol {
    /// Adds a packet.
    #[inline(always)]
    pub(super) fn add(&mut self, fields: [u32; 3]) {
        self.count = self.count.wrapping_add(1);
        self.fields.iter_mut().zip(fields).for_each(|(sum, field)| *sum = add(*sum, field));
    }

    /// What is left of it, less the receiver's.
    pub(super) fn less(&self, received: &Symbol) -> Left<InHalves> {
        let count = self.count.wrapping_sub(received.count);
        Left::in_halves(u32::from(count), self.fields, received.fields).shortened()
    }
}

/// One end's packets on their way into symbols, which can be made in pieces. 24 bytes a packet.
pub struct Symbols {
    id: PacketId,
    /// Each with its hash.
    packets: Vec<(Indices, u64)>,
    made: usize,
}

impl Symbols {
    /// Of packets with these hashes.
    pub fn of(hashes: impl IntoIterator<Item = u64>) -> Self {
        let id = PacketId::default();
        let packets = hashes.into_iter().map(|hash| (Indices::of(id.halves_of(hash)), hash)).collect();
        Symbols { id, packets, made: 0 }
    }

    /// How many symbols have been made.
    pub fn made(&self) -> usize {
        self.made
    }

    /// The next symbols, so many.
    pub fn make(&mut self, more: usize) -> Vec<Symbol> {
        let (first, end) = (self.made, self.made.saturating_add(more));
        let mut symbols = vec![Symbol::default(); more];
        for (indices, hash) in &mut self.packets {
            if indices.next as usize >= end {
                continue;
            }
            let [upper, lower] = self.id.halves_of(*hash);
            let fields = [self.id.check_of(*hash), upper, lower];
            while indices.next < end as u64 {
                let Some(index) = indices.next() else { break };
                symbols[index - first].add(fields);
            }
        }
        self.made = end;
        symbols
    }
}

/// The symbols that a packet is in, from the first on.
#[derive(Clone, Copy)]
struct Indices {
    state: u64,
    next: u64,
}

impl Indices {
    fn of([upper, lower]: [u32; 2]) -> Self {
        Indices { state: u64::from(upper) << 32 | u64::from(lower), next: 0 }
    }
}

impl Iterator for Indices {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let here = self.next;
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.next = following(here, mixed ^ mixed >> 31);
        usize::try_from(here).ok()
    }
}

/// The symbol behind symbol `here`, which is below 2^31, for these random bits.
fn following(here: u64, random: u64) -> u64 {
    let here = here.min(1 << 31);
    let random = random.max(1);
    let pairs = |symbol: u64| u128::from(symbol + 1) * u128::from(symbol + 2);
    let least = pairs(here) << 64;
    let is_behind = |symbol: u64| pairs(symbol) * u128::from(random) > least;
    // (j + 1)(j + 2) is the square of j + 3/2 but for a quarter. Beyond 2^31 it does not matter which.
    let guess = ((here as f64 + 1.5) * (2f64.powi(64) / random as f64).sqrt() - 1.5).min(2f64.powi(31));
    let mut symbol = (guess as u64).max(here + 1);
    while symbol > here + 1 && is_behind(symbol - 1) {
        symbol -= 1;
    }
    while symbol < 1 << 31 && !is_behind(symbol) {
        symbol += 1;
    }
    symbol
}

impl Difference {
    /// The packets that two ends with these hashes have not in common, by as many symbols as that takes, and how many these
    /// are. Not complete where it takes more than four million.
    pub fn by_symbols(
        sent: impl IntoIterator<Item = u64>,
        received: impl IntoIterator<Item = u64>,
    ) -> (Self, usize) {
        let mut ends = [Symbols::of(sent), Symbols::of(received)];
        let mut made = [vec![], vec![]];
        let mut more = FEWEST;
        loop {
            for (made, end) in made.iter_mut().zip(&mut ends) {
                made.extend(end.make(more));
            }
            let (found, length) = (Difference::of_symbols(&made[0], &made[1]), made[0].len());
            if found.complete || length >= MOST_SYMBOLS {
                return (found, length);
            }
            more = more_than(length);
        }
    }

    /// The packets that two ends with these first symbols have not in common, as far as these show them.
    pub fn of_symbols(sent: &[Symbol], received: &[Symbol]) -> Self {
        decode(
            sent.iter().zip(received).map(|(sent, received)| sent.less(received)).collect(),
            &PacketId::default(),
        )
    }
}

/// The packets that are left in symbols.
fn decode(mut symbols: Vec<Left<InHalves>>, id: &PacketId) -> Difference {
    let mut difference = Difference::default();
    let mut waiting: Vec<usize> = (0..symbols.len()).collect();
    let mut known = 0;
    let length = symbols.len();
    while let Some(index) = waiting.pop() {
        let is_here = |halves| Indices::of(halves).take_while(|other| *other <= index).last() == Some(index);
        let found = symbols[index].single(id, is_here).filter(|_| known < length);
        let Some((check, halves)) = found else { continue };
        let count = symbols[index].count;
        if !difference.put(count, halves, length) {
            continue;
        }
        known += 1;
        for symbol in Indices::of(halves).take_while(|index| *index < length) {
            symbols[symbol].take(count, check, halves);
            symbols[symbol] = symbols[symbol].shortened();
            waiting.push(symbol);
        }
    }
    difference.complete = symbols.iter().all(Left::is_empty);
    difference
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn hashes(range: std::ops::Range<u64>) -> Vec<u64> {
        range.map(|packet| (packet + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
    }

    #[test]
    fn packets_are_in_as_many_symbols_as_they_should() {
        let id = PacketId::default();
        let mut in_symbol = [0u32; 200];
        let packets = 20_000;
        for hash in hashes(0..packets) {
            Indices::of(id.halves_of(hash))
                .take_while(|index| *index < 200)
                .for_each(|index| in_symbol[index] += 1);
        }
        for (index, found) in in_symbol.into_iter().enumerate() {
            let share = 1.0 / (1.0 + index as f64 / 2.0);
            // Six standard deviations: 200 places.
            let error = 6.0 * (packets as f64 * share * (1.0 - share)).sqrt();
            assert!((f64::from(found) - packets as f64 * share).abs() <= error, "{index}: {found}");
        }
    }

    #[test]
    fn pieces_make_up_the_whole() {
        let mut pieces = Symbols::of(hashes(0..5000));
        let made: Vec<Symbol> =
            [1, 0, 7, 56, 400, 36].into_iter().flat_map(|more| pieces.make(more)).collect();
        assert_eq!((pieces.made(), &made), (500, &Symbols::of(hashes(0..5000)).make(500)));
        assert_eq!(made[0].count, 5000);
    }

    #[test]
    fn the_next_symbol_by_definition() {
        for here in [0u64, 1, 2, 7, 100, 12_345] {
            for random in [1 << 50, 1 << 60, 1 << 62, 1 << 63, 3 << 62, u64::MAX - 1, u64::MAX] {
                let is_behind = |j: u64| {
                    u128::from(j + 1) * u128::from(j + 2) * u128::from(random >> 40)
                        > (u128::from(here + 1) * u128::from(here + 2)) << 24
                };
                let found = following(here, random >> 40 << 40);
                assert!(found > here && is_behind(found), "{here} {random:x}: {found}");
                assert!(found == here + 1 || !is_behind(found - 1), "{here} {random:x}: {found}");
            }
        }
        // Beyond the last symbol of all.
        assert_eq!((following(u64::MAX >> 20, 0), following(5, 0)), ((1 << 31) + 1, 1 << 31));
    }

    #[test]
    fn exactly_the_packets_that_differ_come_out() {
        let id = PacketId::default();
        let sorted = |mut packets: Vec<[u32; 2]>| {
            packets.sort_unstable();
            packets
        };
        let names = |hashes: &[u64]| sorted(hashes.iter().map(|hash| id.halves_of(*hash)).collect());
        for (lost, foreign) in [(0, 0), (1, 0), (0, 1), (40, 60), (1500, 700)] {
            let sent = hashes(0..10_000);
            let received = [hashes(lost..10_000), hashes(50_000..50_000 + foreign)].concat();
            let (found, symbols) = Difference::by_symbols(sent.iter().copied(), received);
            assert!(found.complete);
            assert_eq!(sorted(found.only_sent), names(&hashes(0..lost)));
            assert_eq!(sorted(found.only_received), names(&hashes(50_000..50_000 + foreign)));
            // The paper's overhead is 1.35 at many and 1.72 at four packets; an eighth more is tried each time, and 64 at least.
            assert!(
                symbols <= FEWEST.max((2.1 * (lost + foreign) as f64) as usize),
                "{lost} {foreign}: {symbols}"
            );
        }
        // Three of one identity, and one of two.
        let (found, _) = Difference::by_symbols([5, 5, 5, 7, 7, 9], [7, 9]);
        assert_eq!((found.complete, sorted(found.only_sent)), (true, names(&[5, 5, 5, 7])));
        // Nothing in common.
        let (found, _) = Difference::by_symbols(hashes(0..3000), hashes(5000..9000));
        assert_eq!((found.complete, found.only_sent.len(), found.only_received.len()), (true, 3000, 4000));
    }
}
