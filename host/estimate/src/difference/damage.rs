//! Damaged rows: those that the packets that differ are in.
//!
//! An [identity table beside an LDA's rows](deltaline_model::sketch::lda_identity) names the packets of which one end has seen more, and
//! an identifier says its row. A row with none of them holds the same packets at both ends, whatever the others hold.
//!
//! What a row lost or gained must explain the difference of its counts, in every row. That is asked of all rows before
//! the others are trusted: cells that decode to packets that were never there do not explain them.
//!
//! # Test plan
//!
//! Rows by hand: whole, short, with a surplus, and with as many lost as gained; packets that explain the counts, and others; through
//! frames, against the packets that were taken away: `host/collect`, `host/cli/tests/lda_identity.rs`.

use super::Difference;
use deltaline_model::sketch::cell::{Cell, Row};
use deltaline_model::sketch::lda_identity::row_of;

/// A row of which it may be known that its packets differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedRow {
    /// What it counts.
    pub cell: Cell,
    /// One end is known to have seen a packet of it that the other has not.
    pub is_damaged: bool,
}

impl Row for NamedRow {
    fn count(&self) -> u32 {
        self.cell.count()
    }

    fn sum(&self) -> u64 {
        self.cell.sum()
    }

    fn agrees(&self, receiver: &Self) -> bool {
        self.cell.agrees(&receiver.cell) && !self.is_damaged && !receiver.is_damaged
    }
}

impl Difference {
    /// Both ends' rows, 2^n of them each, with what this difference says of them; and whether it explains every row's counts.
    pub fn name_rows(&self, sender: &[Cell], receiver: &[Cell]) -> ([Vec<NamedRow>; 2], bool) {
        let ends = [sender, receiver];
        let mut changed = [vec![0u32; sender.len()], vec![0u32; receiver.len()]];
        for (changed, packets) in changed.iter_mut().zip([&self.only_sent, &self.only_received]) {
            for halves in packets {
                if let Some(packets) = changed.get_mut(row_of(*halves, sender.len().max(1))) {
                    *packets += 1;
                }
            }
        }
        let [lost, gained] = &changed;
        let explains = |((sent, received), (lost, gained)): ((&Cell, &Cell), (&u32, &u32))| {
            sent.count.wrapping_add(*gained) == received.count.wrapping_add(*lost)
        };
        let is_explained = sender.len() == receiver.len()
            && sender.iter().zip(receiver).zip(lost.iter().zip(gained)).all(explains);
        let named = |cells: &[Cell]| {
            let is_damaged = lost.iter().zip(gained).map(|(lost, gained)| lost + gained > 0);
            cells
                .iter()
                .zip(is_damaged)
                .map(|(cell, is_damaged)| NamedRow { cell: *cell, is_damaged })
                .collect()
        };
        (ends.map(named), is_explained)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_by_hand() {
        let count = |count| Cell { count, ..Cell::default() };
        let in_row = |row: u32| [9, row | 8];
        let sent = [5, 5, 5, 5].map(count);
        let received = [5, 4, 5, 6].map(count);
        // Lost in rows 1 and 2, gained in rows 2 and 3, of four.
        let difference = Difference {
            only_sent: vec![in_row(1), in_row(2)],
            only_received: vec![in_row(2), in_row(3)],
            complete: true,
            ..Difference::default()
        };
        let ([sent_rows, received_rows], is_explained) = difference.name_rows(&sent, &received);
        let agree: Vec<bool> =
            sent_rows.iter().zip(&received_rows).map(|(sent, received)| sent.agrees(received)).collect();
        assert_eq!((agree, is_explained), (vec![true, false, false, false], true));
        // Counts alone would trust row 2.
        assert!(sent[2].agrees(&received[2]));
        let wrong = Difference { only_sent: vec![in_row(0), in_row(2)], ..difference.clone() };
        assert!(!wrong.name_rows(&sent, &received).1);
        assert!(!difference.name_rows(&sent, &received[..3]).1);
        assert!(Difference::default().name_rows(&[], &[]).1);
    }
}
