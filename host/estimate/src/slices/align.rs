//! Both ends' slices side by side.

use crate::Reason;
use crate::sums::{EndSums, Sums, signed};
use deltaline_model::sketch::cell::{SUM_BITS, SUM_MASK};
use deltaline_model::sketch::slices::{Record, coarsen};
use std::collections::HashMap;

/// A stretch of the sender's packets between two of its own boundaries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    /// Time of its first packet in nanoseconds, since the sender's first packet of the interval.
    pub(super) start: i64,
    /// Time of the first one behind it, or of the last of all.
    pub(super) end: i64,
    /// Its packets.
    pub(super) packets: u64,
    /// Sum of their times.
    pub(super) sum: i128,
    /// What became of its first packet.
    pub(super) first: First,
}

/// What became of the first packet of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    /// It arrived.
    Arrived,
    /// It was lost.
    Lost,
    /// It is not known.
    Unknown,
}

/// Packets that are the same at both ends, but for those that were lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// When the sender saw the first of them, in nanoseconds since its first packet of the interval.
    pub start: i64,
    /// When it saw the first one behind them, or the last of all.
    pub end: i64,
    /// Packets sent.
    pub sent: u64,
    /// Packets lost.
    pub lost: u64,
    /// The exact delay of the first packet in nanoseconds, if it is a boundary.
    pub delay: Option<i64>,
    pub(super) parts: Vec<Part>,
    /// Sum of the times received, since the sender's first packet.
    pub(super) received: i128,
}

/// A stretch of one end: what marks its first packet, a boundary's place; its time, packets, sum of times.
#[derive(Clone, Copy)]
struct Piece {
    mark: Option<u32>,
    start: i64,
    packets: u64,
    sum: i128,
}

/// Room for times that go back within a slice, below zero and at the top: 18 minutes less two parts in a thousand is what sums may be.
const BACK: u64 = SUM_MASK >> 10;

/// The pieces of an end, its first packet at `base`. None if sums wrap or contradict the totals.
fn pieces(records: &[Record], end: &EndSums, base: i64) -> Result<Vec<Piece>, Reason> {
    let (mut packets, mut times) = (end.packets, end.times);
    for record in records {
        packets = packets.checked_sub(record.count.into()).ok_or(Reason::NoSums)?;
        times = times.wrapping_sub(record.sum);
    }
    let head = (None, end.first & SUM_MASK, packets, times & SUM_MASK);
    let rest = records.iter().map(|each| (Some(each.place), each.start, u64::from(each.count), each.sum));
    let (mut at, mut before) = (base, end.first);
    let all: Vec<(Option<u32>, i64, u64, u64, u64)> = std::iter::once(head)
        .chain(rest)
        .map(|(mark, start, packets, sum)| {
            let shift = 64 - SUM_BITS;
            at += ((start.wrapping_sub(before) << shift) as i64) >> shift;
            before = start;
            (mark, at, packets, sum, start)
        })
        .collect();
    let last = base.saturating_add(signed(end.last.wrapping_sub(end.first)));
    let ends: Vec<i64> = all.iter().skip(1).map(|each| each.1).chain([last]).collect();
    let piece = |((mark, start, packets, sum, raw), end): ((Option<u32>, i64, u64, u64, u64), i64)| {
        let room = u128::from(packets) * end.saturating_sub(start).unsigned_abs() as u128;
        if room >= u128::from(SUM_MASK - 2 * BACK) {
            return Err(Reason::SliceWraps);
        }
        let above = sum.wrapping_sub(packets.wrapping_mul(raw)).wrapping_add(BACK) & SUM_MASK;
        let above = i128::from(above) - i128::from(BACK);
        Ok(Piece { mark, start, packets, sum: above + i128::from(packets) * i128::from(start) })
    };
    all.into_iter().zip(ends).map(piece).collect()
}

/// Where marks are that come once.
fn once(pieces: &[Piece]) -> HashMap<u32, usize> {
    let mut places: HashMap<u32, Option<usize>> = HashMap::new();
    for (place, piece) in pieces.iter().enumerate() {
        if let Some(mark) = piece.mark {
            places.entry(mark).and_modify(|seen| *seen = None).or_insert(Some(place));
        }
    }
    places.into_iter().filter_map(|(mark, place)| Some((mark, place?))).collect()
}

/// The slices that both ends have in common. A table of `room` records that is full tells of no boundary behind its last.
///
/// # Errors
///
/// [`Reason::Gained`] where a boundary was not sent, [`Reason::Reordered`] where packets did not keep their order or were gained, [`Reason::SliceWraps`], and [`Reason::NoSums`] where records
/// contradict the totals.
pub fn align(sender: &[Record], receiver: &[Record], sums: &Sums, room: usize) -> Result<Vec<Slice>, Reason> {
    let [sender_is_full, receiver_is_full] = [sender, receiver].map(|records| records.len() >= room);
    // A table without records may have asked for any number.
    let least = |records: &[Record]| records.iter().map(Record::zeros).min().unwrap_or(u32::MAX);
    let zeros = least(sender).max(least(receiver));
    let [mut sender, mut receiver] = [sender.to_vec(), receiver.to_vec()];
    // A count that goes round is that of a slice whose sum of times does, too.
    if coarsen(&mut sender, zeros) | coarsen(&mut receiver, zeros) {
        return Err(Reason::SliceWraps);
    }
    let apart = signed(sums.receiver.first.wrapping_sub(sums.sender.first));
    let (sent, received) = (pieces(&sender, &sums.sender, 0)?, pieces(&receiver, &sums.receiver, apart)?);
    let (once_sent, once_received) = (once(&sent), once(&received));

    let mut gained = 0;
    let mut pairs: Vec<(usize, usize)> = vec![(0, 0)];
    for (place, piece) in sent.iter().enumerate().skip(1) {
        let Some(mark) = piece.mark.filter(|mark| once_sent.get(mark) == Some(&place)) else {
            continue;
        };
        let Some(&other) = once_received.get(&mark) else { continue };
        match pairs.last() {
            Some((_, before)) if *before >= other => gained += 1,
            _ => pairs.push((place, other)),
        }
    }

    let &(last_sent, last_received) = pairs.last().unwrap_or(&(0, 0));
    // A boundary that only the receiver has, but for one that came twice at either end.
    let all_sent: HashMap<u32, ()> = sent.iter().filter_map(|piece| Some((piece.mark?, ()))).collect();
    let told = if sender_is_full { last_received + 1 } else { received.len() };
    let strangers = received.iter().take(told).filter_map(|piece| piece.mark);
    let strangers = strangers.filter(|mark| !all_sent.contains_key(mark)).count() as u64;
    let last = signed(sums.sender.last.wrapping_sub(sums.sender.first));
    let all_received: HashMap<u32, ()> =
        received.iter().filter_map(|piece| Some((piece.mark?, ()))).collect();
    let ends = pairs.iter().skip(1).copied().chain([(sent.len(), received.len())]);
    let mut slices = vec![];
    for (&(from, from_received), (to, to_received)) in pairs.iter().zip(ends) {
        let parts: Vec<Part> = (from..to)
            .map(|place| {
                let Piece { mark, start, packets, sum } = sent[place];
                let first = match mark {
                    Some(_) if place == from => First::Arrived,
                    Some(_) if receiver_is_full && place > last_sent => First::Unknown,
                    Some(mark) if !all_received.contains_key(&mark) => First::Lost,
                    _ => First::Unknown,
                };
                let end = sent.get(place + 1).map_or(last, |next| next.start);
                Part { start, end, packets, sum, first }
            })
            .collect();
        let of_receiver = &received[from_received..to_received];
        let arrived: u64 = of_receiver.iter().map(|piece| piece.packets).sum();
        let sent_packets: u64 = parts.iter().map(|part| part.packets).sum();
        let known = parts.iter().filter(|part| part.first == First::Lost).count() as u64;
        match sent_packets.checked_sub(arrived).filter(|lost| *lost >= known) {
            None => gained += arrived.saturating_sub(sent_packets).max(1),
            Some(lost) => slices.push(Slice {
                start: sent[from].start,
                end: parts.last().map_or(last, |part| part.end),
                sent: sent_packets,
                lost,
                delay: (from > 0).then(|| received[from_received].start - sent[from].start),
                parts,
                received: of_receiver.iter().map(|piece| piece.sum).sum(),
            }),
        }
    }
    match (strangers, gained) {
        (0, 0) => Ok(slices),
        (0, _) => Err(Reason::Reordered(gained)),
        _ => Err(Reason::Gained(strangers)),
    }
}
