//! What both ends reported about one interval, and which of its rows are usable.

use deltaline_model::sketch::cell::{Cell, Row};
use deltaline_model::wire::frame::Role;
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// One interval as both ends reported it.
///
/// Cells are bank-major: `rows` cells of bank 0, then `rows` of bank 1, and so on, alike at both ends.
#[derive(Clone, Copy, Debug)]
pub struct Observation<'a, R: Row = Cell> {
    /// Rows of one bank, at least 1.
    pub rows: usize,
    /// The sender's cells.
    pub sender: &'a [R],
    /// The receiver's cells, as many as the sender's.
    pub receiver: &'a [R],
    /// Packets that passed the sender in this interval, sampled or not.
    pub sent: u64,
    /// Packets that passed the receiver in this interval, sampled or not.
    pub received: u64,
}

/// Why an observation contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObservationError {
    /// No rows, or no cells.
    #[error("{rows} rows a bank and {cells} cells: give at least one row and one bank of cells")]
    Empty {
        /// Rows of one bank.
        rows: usize,
        /// Cells of the sender.
        cells: usize,
    },
    /// The ends' tables differ in size.
    #[error("the sender has {sender} cells, the receiver {receiver}: configure both ends alike")]
    Sizes {
        /// Cells of the sender.
        sender: usize,
        /// Cells of the receiver.
        receiver: usize,
    },
    /// The number of cells is not a whole number of banks.
    #[error("{cells} cells are not a multiple of {rows} rows: give every bank all of its rows")]
    PartialBank {
        /// Cells of either end.
        cells: usize,
        /// Rows of one bank.
        rows: usize,
    },
    /// An end's cells hold more packets than passed it, or those of a bank that takes all packets hold fewer.
    #[error(
        "the {end}'s cells hold {cells} packets, but its total is {total}: cells and total belong to different intervals"
    )]
    Total {
        /// Which end.
        end: Role,
        /// Packets in all of its cells, or in that bank's.
        cells: u64,
        /// Its count of all packets.
        total: u64,
    },
}

/// A row in which the packet counts of both ends match, and their digest sums.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsableRow {
    /// n_i, packets; may be zero.
    pub(crate) packets: u64,
    /// X_i, sum of the packets' delays in nanoseconds: within ±2^39, modulo 2^40.
    pub(crate) delay_sum: i128,
}

impl<R: Row> Observation<'_, R> {
    /// Checks that the observation does not contradict itself.
    pub(crate) fn check(&self) -> Result<(), ObservationError> {
        let cells = self.sender.len();
        if self.rows == 0 || cells == 0 {
            return Err(ObservationError::Empty { rows: self.rows, cells });
        }
        if self.receiver.len() != cells {
            return Err(ObservationError::Sizes { sender: cells, receiver: self.receiver.len() });
        }
        if !cells.is_multiple_of(self.rows) {
            return Err(ObservationError::PartialBank { cells, rows: self.rows });
        }
        for (end, cells, total) in
            [(Role::Sender, self.sender, self.sent), (Role::Receiver, self.receiver, self.received)]
        {
            let cells = cells.iter().map(|cell| u64::from(cell.count())).sum();
            if cells > total {
                return Err(ObservationError::Total { end, cells, total });
            }
        }
        Ok(())
    }

    /// Checks that banks hold all packets of which they sample the share 1, as an end reports them.
    pub(crate) fn check_whole(&self, shares: &[f64]) -> Result<(), ObservationError> {
        let ends = [(Role::Sender, self.sender, self.sent), (Role::Receiver, self.receiver, self.received)];
        for (end, cells, total) in ends {
            let banks = cells.chunks(self.rows.max(1)).zip(shares).filter(|(_, share)| **share == 1.0);
            let counts = banks.map(|(bank, _)| bank.iter().map(|cell| u64::from(cell.count())).sum::<u64>());
            if let Some(cells) = counts.into_iter().find(|cells| *cells != total) {
                return Err(ObservationError::Total { end, cells, total });
            }
        }
        Ok(())
    }

    /// Whether neither end's cells hold any packet.
    pub(crate) fn is_blank(&self) -> bool {
        self.sender.iter().chain(self.receiver).all(|cell| cell.count() == 0)
    }

    /// Whether so many of the sender's packets share rows, or so few or many are in a bank, that they look alike: packets whose keys
    /// differ fall into banks and rows by chance. `shares` is what share of all packets each bank samples.
    ///
    /// N packets of different keys in m rows make N (N - 1) / (2 m) pairs that share a row, with that variance, since any two of
    /// these are independent. Five standard deviations and ten pairs more are no chance where packets are few. Where they are many, the index of
    /// dispersion of the counts is chi-squared with m - 1 degrees of freedom, and once in 10^6 is no chance either. Both are asked for.
    pub(crate) fn has_alike(&self, shares: &[f64]) -> bool {
        // A bank has about its share of packets of different keys: six standard deviations and a few packets more are no chance.
        let is_off = |(bank, share): (&[R], &f64)| {
            let sampled: f64 = bank.iter().map(|cell| f64::from(cell.count())).sum();
            let expected = self.sent as f64 * share;
            (sampled - expected).abs() > 6.0 * (expected * (1.0 - share)).sqrt() + 5.0
        };
        if self.sender.chunks(self.rows.max(1)).zip(shares).any(is_off) {
            return true;
        }

        let (mut pairs, mut expected) = (0.0, 0.0);
        let (mut index, mut freedom) = (0.0, 0.0);
        for bank in self.sender.chunks(self.rows.max(1)) {
            let counts = bank.iter().map(|cell| f64::from(cell.count()));
            let packets: f64 = counts.clone().sum();
            let rows = bank.len() as f64;
            let of_bank = counts.map(|count| count * (count - 1.0) / 2.0).sum::<f64>();
            pairs += of_bank;
            expected += packets * (packets - 1.0) / 2.0 / rows;
            if packets > 0.0 && rows > 1.0 {
                index += (2.0 * of_bank + packets) * rows / packets - packets;
                freedom += rows - 1.0;
            }
        }
        let chance = ChiSquared::new(freedom).map_or(1.0, |chi_squared| chi_squared.sf(index));
        chance < 1e-6 && pairs - expected > 5.0 * expected.max(0.0).sqrt() + 10.0
    }

    /// The usable rows that hold packets.
    pub(crate) fn usable_rows(&self) -> impl Iterator<Item = UsableRow> {
        self.sender
            .iter()
            .zip(self.receiver)
            .filter_map(|(sender, receiver)| usable(sender, receiver))
            .filter(|row| row.packets > 0)
    }

    /// The pairs of adjacent rows, within a bank, that are both usable; either may be empty.
    ///
    /// The last row of a bank with an odd number of rows has no partner and is left out.
    pub(crate) fn usable_pairs(&self) -> impl Iterator<Item = (UsableRow, UsableRow)> {
        let banks = self.sender.chunks_exact(self.rows).zip(self.receiver.chunks_exact(self.rows));
        banks
            .flat_map(|(sender, receiver)| sender.as_chunks::<2>().0.iter().zip(receiver.as_chunks::<2>().0))
            .filter_map(|(sender, receiver)| {
                Some((usable(&sender[0], &receiver[0])?, usable(&sender[1], &receiver[1])?))
            })
    }
}

/// The row that two cells form, if they agree.
fn usable<R: Row>(sender: &R, receiver: &R) -> Option<UsableRow> {
    sender.agrees(receiver).then(|| UsableRow {
        packets: u64::from(sender.count()),
        // Without packets there is no delay, whatever the sums hold.
        delay_sum: if sender.count() == 0 { 0 } else { sender.delay_sum(receiver).into() },
    })
}
