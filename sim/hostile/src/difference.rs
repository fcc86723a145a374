//! Decoders of tables that can be subtracted, and FineComb's repair.
//!
//! # Test plan
//!
//! That of the crate; and, here, ten thousand tables of random packets and damage.

use deltaline_estimate::difference::bound;
use deltaline_estimate::difference::stash::{Stashed, by_rows};
use deltaline_estimate::{Difference, EndSums, Sums};
use deltaline_model::sketch::digest;
use deltaline_model::sketch::finecomb::RowCell;
use deltaline_model::sketch::identity_table::IdentityCell;
use deltaline_model::sketch::layout::Layout;
use deltaline_model::sketch::lda_identity::CheckedCell;
use deltaline_model::sketch::packet_id::PacketId;
use deltaline_model::sketch::rda::{RdaCell, SrdaCell};
use deltaline_model::wire::shape::Kind;
use std::collections::BTreeMap;

/// The ends at which a packet is, or damage.
#[derive(Clone, Copy)]
enum Step {
    /// A packet, by its number: at the sender so often, and at the receiver.
    Packet(u16, [usize; 2]),
    /// A cell of an end, a word of it, and what is added to that.
    Damage(usize, usize, usize, u32),
}

/// A byte with the size of the tables in its lower half and the number of hashes in its upper one, then steps of four bytes: what is
/// done, and with what. Nothing is damaged if the first byte's uppermost bit is zero.
fn steps(bytes: &[u8]) -> (usize, usize, Vec<Step>) {
    let Some((first, rest)) = bytes.split_first() else { return (8, 1, vec![]) };
    let may_damage = first & 0x80 != 0;
    let of = |step: &[u8; 4]| {
        let [what, where_, upper, lower] = *step;
        let value = u16::from_be_bytes([upper, lower]);
        match what % 16 {
            15 if may_damage => {
                let end = usize::from(what >> 4 & 1);
                Step::Damage(
                    end,
                    where_.into(),
                    usize::from(what >> 5),
                    u32::from(value).rotate_left(16 * u32::from(value & 1)),
                )
            }
            12..=14 => Step::Packet(value, [usize::from(where_ % 8), usize::from(where_ / 8 % 8)]),
            0..=3 => Step::Packet(value, [1, 0]),
            4..=7 => Step::Packet(value, [0, 1]),
            _ => Step::Packet(value, [1, 1]),
        }
    };
    let steps = rest.as_chunks::<4>().0.iter().take(4096).map(of).collect();
    (8 << (first & 3), usize::from(first >> 4 & 3) + 1, steps)
}

fn hash(packet: u16) -> u64 {
    (u64::from(packet) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Packets of two ends, and damage to the tables that hold them, in the bytes' own form. Decoders must end; what is complete must make up the
/// tables' difference, and be what really differs if nothing is damaged and sums of all packets do not contradict it. `rda` and `srda` cannot
/// show packets of one identity, two of which look like none.
pub fn difference(bytes: &[u8]) {
    let (rows, hashes, steps) = steps(bytes);
    let id = PacketId::default();
    let mut excess: BTreeMap<[u32; 2], i64> = BTreeMap::new();
    let mut is_damaged = false;
    for step in &steps {
        match step {
            Step::Packet(packet, [sent, received]) => {
                *excess.entry(id.halves_of(hash(*packet))).or_default() += *sent as i64 - *received as i64;
            }
            Step::Damage(..) => is_damaged = true,
        }
    }
    let are_different = excess.values().all(|more| more.abs() <= 1);
    let truth = |sign: i64| -> Vec<[u32; 2]> {
        let many = excess.iter().map(|(halves, more)| (halves, (more * sign).max(0) as usize));
        many.flat_map(|(halves, more)| std::iter::repeat_n(*halves, more)).collect()
    };
    let check = |kind: Kind, found: Difference, is_fit: bool| {
        if !found.complete
            || is_damaged
            || !is_fit
            || !found.agrees_with(&sums(&steps, kind), &digest::first(kind, 0))
        {
            return;
        }
        let sorted = |mut packets: Vec<[u32; 2]>| {
            packets.sort_unstable();
            packets
        };
        assert_eq!(sorted(found.only_sent), truth(1), "{kind}");
        assert_eq!(sorted(found.only_received), truth(-1), "{kind}");
    };

    let layout = Layout::Identity { rows };
    let checked = |halves: [u32; 2]| [id.check_of(id.hash_of(halves)), halves[0], halves[1]];
    let [sent, received] = tables(
        &steps,
        layout,
        |cell: &mut IdentityCell, halves| _ = cell.add(0, checked(halves)),
        |cell| (&mut cell.count, &mut cell.fields),
    );
    let found = Difference::of(&sent, &received);
    if found.complete {
        // Every packet again, one by one.
        let [mut sent, mut received] = [sent, received];
        for (halves, cells) in found
            .only_sent
            .iter()
            .map(|halves| (halves, 0))
            .chain(found.only_received.iter().map(|halves| (halves, 1)))
        {
            let cells = if cells == 0 { &mut sent } else { &mut received };
            layout.places(&id, *halves).for_each(|place| cells[place].remove(0, checked(*halves)));
        }
        assert_eq!(sent, received);
    }
    check(Kind::IDENTITY_TABLE, found, true);

    // Bound tables of any number of rows, of honest packets and damaged on their way.
    let bound_rows = rows + hashes;
    let hashes_of = |end: usize| {
        let packets = steps.iter().filter_map(move |step| match step {
            Step::Packet(packet, many) => Some((hash(*packet), many[end])),
            Step::Damage(..) => None,
        });
        packets.flat_map(|(hash, many)| std::iter::repeat_n(hash, many))
    };
    let mut ends = [0, 1].map(|end| bound(hashes_of(end), bound_rows));
    for step in &steps {
        if let Step::Damage(end, place, word, more) = *step {
            let place = place % ends[end].len();
            let symbol = &mut ends[end][place];
            match symbol.fields.get_mut(word % 4) {
                Some(field) => *field = field.wrapping_add(more),
                None => symbol.count = symbol.count.wrapping_add(more as u16),
            }
        }
    }
    check(Kind::IDENTITY_TABLE, Difference::of_bound(&ends[0], &ends[1]), true);
    // The same tables beside rows, with checks where those have times.
    let [sent, received] = tables(
        &steps,
        layout,
        |cell: &mut CheckedCell, halves| _ = cell.add(checked(halves)[0].into(), halves),
        |cell| (&mut cell.count, &mut cell.fields),
    );
    check(Kind::LDA_IDENTITY, Difference::beside_rows(&sent, &received), true);

    let layout = Layout::Banks { rows, banks: hashes };
    let [sent, received] = tables(
        &steps,
        layout,
        |cell: &mut RdaCell, halves| _ = cell.add(0, halves),
        |cell| (&mut cell.count, &mut cell.fields),
    );
    check(Kind::RDA, Difference::of_rda(&sent, &received, layout), are_different);

    let layout = Layout::Flat { cells: rows, hashes };
    let [sent, received] = tables(
        &steps,
        layout,
        |cell: &mut SrdaCell, halves| _ = cell.add(0, checked(halves)),
        |cell| (&mut cell.count, &mut cell.fields),
    );
    check(Kind::SRDA, Difference::of_srda(&sent, &received, layout), are_different);

    // FineComb has one cell for a packet.
    let layout = Layout::Banks { rows, banks: 1 };
    let [sent, received] = tables(
        &steps,
        layout,
        |cell: &mut RowCell, halves| _ = cell.add(0, halves),
        |cell| (&mut cell.count, &mut cell.fields),
    );
    let mut stash: Vec<Stashed> = vec![];
    for step in &steps {
        if let Step::Packet(packet, [_, received]) = step {
            let halves = id.halves_of(hash(*packet));
            let row = layout.places(&id, halves).next().unwrap_or_default();
            stash.extend(std::iter::repeat_n((row, halves), *received));
        }
    }
    let (found, complete) = by_rows(&sent, &received, &stash);
    let only_received = found.into_iter().map(|number| stash[number].1).collect();
    check(Kind::FINECOMB, Difference { only_received, complete, ..Difference::default() }, true);
}

/// Both ends' cells.
fn tables<C: Copy + Default, const D: usize>(
    steps: &[Step],
    layout: Layout,
    add: impl Fn(&mut C, [u32; 2]),
    words: impl Fn(&mut C) -> (&mut u32, &mut [u32; D]),
) -> [Vec<C>; 2] {
    let id = PacketId::default();
    let mut ends = [vec![C::default(); layout.cells()], vec![C::default(); layout.cells()]];
    for step in steps {
        match *step {
            Step::Packet(packet, many) => {
                let halves = id.halves_of(hash(packet));
                for (cells, many) in ends.iter_mut().zip(many) {
                    for place in layout.places(&id, halves) {
                        (0..many).for_each(|_| add(&mut cells[place], halves));
                    }
                }
            }
            Step::Damage(end, place, word, more) => {
                let place = place % layout.cells();
                let (count, fields) = words(&mut ends[end][place]);
                let word = if word % (D + 1) == D { count } else { &mut fields[word % (D + 1)] };
                *word = word.wrapping_add(more);
            }
        }
    }
    ends
}

/// What both ends add up of all packets.
fn sums(steps: &[Step], kind: Kind) -> Sums {
    let digest = digest::first(kind, 0);
    let mut ends = [EndSums { packets: 0, times: 0, digests: Some(0), first: 0, last: 0 }; 2];
    for step in steps {
        let Step::Packet(packet, many) = step else { continue };
        for (end, many) in ends.iter_mut().zip(many) {
            for _ in 0..*many {
                end.packets += 1;
                end.digests = end.digests.map(|sum| digest::add(sum, digest.digest(hash(*packet))));
            }
        }
    }
    let [sender, receiver] = ends;
    Sums { sender, receiver }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousand_tables() {
        // Marsaglia's xorshift.
        let mut state = 88_172_645_463_325_252u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for table in 0..10_000u64 {
            let length = 1 + 4 * (random() % if table % 100 == 0 { 1000 } else { 40 });
            let mut bytes: Vec<u8> = (0..length).map(|_| (random() >> 32) as u8).collect();
            // Of a small number of packets several come to one identity.
            if table % 3 == 0 {
                bytes[1..].as_chunks_mut::<4>().0.iter_mut().for_each(|step| step[2] = 0);
            }
            difference(&bytes);
        }
    }
}
