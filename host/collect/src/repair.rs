//! Repair: the packets that only one end has seen are taken out of the ends' cells and sums, as far as the ends remember when they saw
//! them.
//!
//! Of several packets of one identity, those are taken out that exact matching takes for lost or foreign ones.
//!
//! # Test plan
//!
//! Packets of an identity of their own, and of one that others have: what is left is what the packets that both ends have seen add up to; a
//! packet that an end does not remember, or not as often as the tables say, is left where it is.

use deltaline_capture::matching::{Fate, align};
use deltaline_estimate::{Difference, EndSums, Sums};
use deltaline_model::sketch::digest::{self, PacketDigest};
use deltaline_model::sketch::layout::Subtractable;
use deltaline_model::sketch::packet_cache::PacketCache;
use deltaline_model::sketch::packet_id::PacketId;
use std::collections::BTreeMap;

/// Both ends' cells and sums, the sender's first, without the packets that only one end has seen.
#[derive(Clone, Debug)]
pub(crate) struct Repaired<C> {
    /// The cells.
    pub(crate) cells: [Vec<C>; 2],
    /// The sums.
    pub(crate) sums: Sums,
    /// Packets that were taken out.
    pub(crate) taken: usize,
    /// Packets received whose identity one that was sent has, too: repeated on their way.
    pub(crate) repeated: u64,
    /// Packets sent that did not arrive although others of their identity did: copies of these.
    pub(crate) copies: u64,
    /// By how many nanoseconds the sum of delays is less, and by how many it is more, if of packets that look alike others were those
    /// that both ends have seen.
    pub(crate) open: [u64; 2],
    /// Of how many packets that is.
    pub(crate) chosen: u64,
}

/// Takes packets that differ out of both ends' `cells`, where `places` says they are, by hash and identifier. `usual` is about the delay of a packet in nanoseconds, if it is known, and `first` the
/// first digest of packets, whose sums the ends have.
pub(crate) fn repair<C: Subtractable>(
    cells: [&[C]; 2],
    sums: Sums,
    places: impl Fn(u64, [u32; 2]) -> Vec<usize>,
    difference: &Difference,
    caches: [&PacketCache; 2],
    (usual, first): (Option<f64>, PacketDigest),
) -> Option<Repaired<C>> {
    let id = PacketId::default();
    // Of each hash, how many more packets the sender has.
    let mut excess: BTreeMap<u64, (i64, [u32; 2])> = BTreeMap::new();
    let signed = difference.only_sent.iter().map(|halves| (halves, 1));
    for (halves, sign) in signed.chain(difference.only_received.iter().map(|halves| (halves, -1))) {
        excess.entry(id.hash_of(*halves)).or_insert((0, *halves)).0 += sign;
    }
    let hashes: Vec<u64> = excess.keys().copied().collect();
    let [sent, received] = [caches[0].all_times(&hashes)?, caches[1].all_times(&hashes)?];
    // Times are known modulo 2^48: as distances from the first one, half of that and more.
    let base = sums.sender.first;
    let far = |times: &[u64]| -> Vec<u64> {
        let signed = |time: &u64| ((time.wrapping_sub(base) << 16) as i64) >> 16;
        let mut times: Vec<u64> = times.iter().map(|time| (signed(time) + (1 << 48)) as u64).collect();
        times.sort_unstable();
        times
    };
    let near = |time: u64| time.wrapping_add(base) & ((1 << 48) - 1);
    let mut repaired = Repaired {
        cells: cells.map(<[C]>::to_vec),
        sums,
        taken: 0,
        repeated: 0,
        copies: 0,
        open: [0; 2],
        chosen: 0,
    };
    for (((hash, (more, halves)), sent), received) in excess.into_iter().zip(sent).zip(received) {
        if sent.len() as i64 - received.len() as i64 != more {
            continue;
        }
        let (sent, received) = (far(&sent), far(&received));
        let (mut taken_out, copies) = (0, if more > 0 { &sent } else { &received });
        for fate in align(&sent, &received, usual.map(|usual| usual as i64)) {
            let (end, time) = match fate {
                Fate::Lost(number) => (0, sent.get(number)),
                Fate::Foreign(number) => (1, received.get(number)),
                Fate::Received(..) => continue,
            };
            let time = *time?;
            taken_out += u128::from(if (more > 0) == (end == 0) { time } else { 0 });
            let time = near(time);
            for place in places(hash, halves) {
                repaired.cells[end].get_mut(place)?.take_out(time, &id, halves);
            }
            let sums = if end == 0 { &mut repaired.sums.sender } else { &mut repaired.sums.receiver };
            *sums = without(*sums, time, first.digest(hash))?;
            repaired.taken += 1;
            repaired.repeated += u64::from(end == 1 && !sent.is_empty());
            repaired.copies += u64::from(end == 0 && !received.is_empty());
        }
        // Any of them may be the ones that only one end has seen: the earliest, or the latest.
        let count = more.unsigned_abs() as usize;
        if count < copies.len() {
            let sum = |times: &[u64]| times.iter().copied().map(u128::from).sum::<u128>();
            let [least, most] = [sum(&copies[..count]), sum(&copies[copies.len() - count..])];
            let [below, above] = [most.saturating_sub(taken_out), taken_out.saturating_sub(least)];
            // A packet less of the receiver takes its time off the sum; one of the sender adds it.
            let [less, greater] = if more > 0 { [above, below] } else { [below, above] };
            let [less, greater] = [less, greater].map(|ns| u64::try_from(ns).unwrap_or(u64::MAX));
            repaired.open[0] = repaired.open[0].saturating_add(less);
            repaired.open[1] = repaired.open[1].saturating_add(greater);
            repaired.chosen += if less | greater > 0 { count as u64 } else { 0 };
        }
    }
    Some(repaired)
}

/// An end's sums without a packet.
fn without(sums: EndSums, time: u64, digest: u32) -> Option<EndSums> {
    Some(EndSums {
        packets: sums.packets.checked_sub(1)?,
        times: sums.times.wrapping_sub(time),
        digests: sums.digests.map(|digests| digest::subtract(digests, digest)),
        ..sums
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltaline_model::sketch::identity_table::IdentityCell;
    use deltaline_model::sketch::layout::Layout;
    use deltaline_model::sketch::synopsis::Hashed;
    use deltaline_model::time::Timestamp;
    use deltaline_model::wire::shape::Kind;

    const LAYOUT: Layout = Layout::Identity { rows: 64 };

    fn places(_: u64, halves: [u32; 2]) -> Vec<usize> {
        LAYOUT.places(&PacketId::default(), halves).collect()
    }

    /// An end that has seen packets (hash, time).
    fn end(packets: &[(u64, u64)]) -> (Vec<IdentityCell>, EndSums, PacketCache) {
        let (id, digest) = (PacketId::default(), digest::first(Kind::IDENTITY_TABLE, 0));
        let mut cells = vec![IdentityCell::default(); LAYOUT.cells()];
        let mut sums = EndSums { packets: 0, times: 0, digests: Some(0), first: packets[0].1, last: 0 };
        let mut cache = PacketCache::default();
        for &(hash, time) in packets {
            let halves = id.halves_of(hash);
            for place in LAYOUT.places(&id, halves) {
                cells[place].add(time, [id.check_of(hash), halves[0], halves[1]]);
            }
            sums.packets += 1;
            sums.times = sums.times.wrapping_add(time);
            sums.digests = sums.digests.map(|sum| digest::add(sum, digest.digest(hash)));
            sums.last = time;
            cache.remember(&[Hashed { hash, time: Timestamp::from_nanoseconds(time), ..Hashed::default() }]);
        }
        (cells, sums, cache)
    }

    fn repaired(sent: &[(u64, u64)], received: &[(u64, u64)]) -> (Repaired<IdentityCell>, Difference) {
        let (sent, received) = (end(sent), end(received));
        let difference = Difference::of(&sent.0, &received.0);
        let sums = Sums { sender: sent.1, receiver: received.1 };
        let known = (Some(50.0), digest::first(Kind::IDENTITY_TABLE, 0));
        let caches = [&sent.2, &received.2];
        (repair([&sent.0, &received.0], sums, places, &difference, caches, known).unwrap(), difference)
    }

    #[test]
    fn what_both_have_seen_is_left() {
        let common = [(1, 1000), (2, 2000), (3, 3000), (3, 7000)];
        let late: Vec<(u64, u64)> = common.iter().map(|(hash, time)| (*hash, time + 50)).collect();
        // Packet 9 is lost, 8 is foreign, of three packets 3 the middle one is lost, 2 comes twice.
        let sent = [&common[..3], &[(3, 5000)], &common[3..], &[(9, 9000)]].concat();
        let received = [&late[..2], &[(2, 2900)], &late[2..], &[(8, 9999)]].concat();
        let (found, difference) = repaired(&sent, &received);
        assert!(difference.complete);
        let [sender, receiver] = [end(&common), end(&late)];
        assert_eq!(found.cells, [sender.0, receiver.0]);
        let whole = |sums: EndSums| (sums.packets, sums.times, sums.digests);
        assert_eq!(whole(found.sums.sender), whole(sender.1));
        assert_eq!(whole(found.sums.receiver), whole(receiver.1));
        assert_eq!((found.taken, found.repeated), (4, 1));
    }

    #[test]
    fn times_wrap() {
        let top = (1u64 << 48) - 10;
        let (found, _) = repaired(&[(1, top), (2, top + 5)], &[(1, 40), (2, 45), (2, 3_000_000)]);
        assert_eq!((found.sums.receiver.times, found.taken), (85, 1));
    }

    #[test]
    fn what_is_not_remembered_stays() {
        let (sent, received) = (end(&[(1, 1000), (2, 2000)]), end(&[(1, 1050)]));
        let difference = Difference::of(&sent.0, &received.0);
        let known = (None, digest::first(Kind::IDENTITY_TABLE, 0));
        let sums = Sums { sender: sent.1, receiver: received.1 };
        let caches = [&received.2, &received.2];
        let found = repair([&sent.0, &received.0], sums, places, &difference, caches, known).unwrap();
        assert_eq!((found.taken, found.sums), (0, sums));
    }
}
