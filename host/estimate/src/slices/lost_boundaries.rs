//! What lost boundaries show of when lost packets were sent.
//!
//! The hash that makes a packet a boundary knows nothing of its fate: lost boundaries are a random sample of all lost packets, and the sender has the
//! time of each. It is so much later than the mean of its slice's packets. A part of that is where the slice's ends happen to be: of the packets of its slice, more were
//! before it than behind it, or fewer. Ends know nothing of the boundary's fate either, and over all lost packets both numbers are the same on average. So that part is
//! taken off, as survey samplers do (a regression estimator, whose auxiliary variable has a known mean of zero):
//!
//! ```text
//! y = time - mean time of its slice - B (packets before it - it and those behind it)
//! ```
//!
//! with B fitted to all boundaries: those that arrived would lie between two slices of one if they were lost. In even traffic nothing is left but the noise of a few packets. Where
//! packets leave in trains, and some place of each train is lost, what is left is the gap beside it: a share of what the slice lasts, h. What all slices last, weighted with the
//! losses that are not known in them, is H = U h_1 for U of these (a ratio estimator):
//!
//! ```text
//! lateness of the U losses = H sum y / (sum h + h_1 / 3)
//! variance                 = H^2 s^2 (sum h^2 + h_1^2 / 3) / (sum h + h_1 / 3)^2
//! ```
//!
//! with sums over lost boundaries, and s^2 the sum of y^2 over that of h^2 of all boundaries. The thirds are what is known without any: all lost packets may be where y is greatest, or least. Of
//! something that is evenly spread around zero, that is three times the mean square away.

use super::align::{First, Part, Slice};
use super::guess::Guess;
use super::sample::Sample;
use crate::Skew;
use std::ops::Add;

/// What is known without lost boundaries counts as this part of one.
pub(crate) const NONE_KNOWN: f64 = 1.0 / 3.0;

/// A packet between two of its slice's boundaries.
struct Boundary {
    /// By how many nanoseconds it is later than the mean of the slice's packets.
    later: f64,
    /// How many more packets of the slice are before it than from it on.
    more_before: f64,
    /// How many nanoseconds the slice lasts.
    length: f64,
    is_lost: bool,
}

/// What boundaries show of the lateness of losses that are none, of one interval or of several together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Lateness {
    /// Losses that are no boundaries.
    losses: f64,
    /// What their slices last, H, and that as often as a boundary of the same interval stands for a packet.
    lengths: f64,
    weighted_lengths: f64,
    /// Of lost boundaries, each as often as it stands for a packet: y, what slices last, and its square.
    late: f64,
    length: f64,
    squared_length: f64,
    /// Of all boundaries: the squares of y and of what slices last.
    all_late_squared: f64,
    all_squared_length: f64,
    /// The variance of `all_late_squared`, halved.
    noise: f64,
}

impl Lateness {
    /// That of an interval's slices. Each boundary stands for so many packets.
    pub(super) fn of(slices: &[Slice]) -> Self {
        let boundaries: Vec<Boundary> = lost(slices).chain(arrived(slices)).collect();
        let all = |of: &dyn Fn(&Boundary) -> f64| boundaries.iter().map(of).sum::<f64>();
        let slope = all(&|it| it.later * it.more_before) / all(&|it| it.more_before.powi(2)).max(1.0);
        let late = |it: &Boundary| it.later - slope * it.more_before;
        let packets: u64 = slices.iter().map(|slice| slice.sent).sum();
        let stands_for = packets as f64 / boundaries.len().max(1) as f64;
        let of_lost = |of: &dyn Fn(&Boundary) -> f64| all(&|it| if it.is_lost { of(it) } else { 0.0 });
        let unseen = |slice: &Slice| {
            let known = slice.parts.iter().filter(|part| part.first == First::Lost).count();
            slice.lost as f64 - known as f64
        };
        let lengths: f64 = slices.iter().map(|slice| unseen(slice) * length(slice.start, slice.end)).sum();
        let all_late_squared = all(&|it| late(it).powi(2));
        let rounded: Vec<i64> = boundaries.iter().map(|it| late(it) as i64).collect();
        Lateness {
            losses: slices.iter().map(unseen).sum(),
            lengths,
            weighted_lengths: lengths * stands_for,
            late: of_lost(&late) * stands_for,
            length: of_lost(&|it| it.length) * stands_for,
            squared_length: of_lost(&|it| it.length.powi(2)) * stands_for.powi(2),
            all_late_squared,
            all_squared_length: all(&|it| it.length.powi(2)),
            noise: all_late_squared.powi(2) / Sample::of(&rounded).freedom.max(1.0),
        }
    }

    /// The same where lost boundaries are no random sample of the losses: nothing is known of these.
    pub(super) fn without_boundaries(self) -> Self {
        Lateness { late: 0.0, length: 0.0, squared_length: 0.0, ..self }
    }

    /// By how many nanoseconds the losses are later than the means of their slices, all together.
    pub(super) fn guess(&self) -> Guess {
        let one = self.weighted_lengths / self.losses.max(1.0);
        let scale = self.lengths / (self.length + NONE_KNOWN * one).max(1.0);
        let squared_share = self.all_late_squared / self.all_squared_length.max(1.0);
        Guess {
            nanoseconds: scale * self.late,
            variance: scale.powi(2) * squared_share * (self.squared_length + NONE_KNOWN * one.powi(2)),
            freedom: if self.noise > 0.0 {
                self.all_late_squared.powi(2) / self.noise
            } else {
                f64::INFINITY
            },
            skew: Skew::default(),
        }
    }
}

impl Add for Lateness {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Lateness {
            losses: self.losses + other.losses,
            lengths: self.lengths + other.lengths,
            weighted_lengths: self.weighted_lengths + other.weighted_lengths,
            late: self.late + other.late,
            length: self.length + other.length,
            squared_length: self.squared_length + other.squared_length,
            all_late_squared: self.all_late_squared + other.all_late_squared,
            all_squared_length: self.all_squared_length + other.all_squared_length,
            noise: self.noise + other.noise,
        }
    }
}

fn length(start: i64, end: i64) -> f64 {
    (end - start).max(0) as f64
}

/// The boundaries that were lost, each within its slice.
fn lost(slices: &[Slice]) -> impl Iterator<Item = Boundary> {
    slices.iter().flat_map(|slice| {
        let parts: Vec<&Part> = slice.parts.iter().collect();
        let is_lost = |at: &usize| slice.parts[*at].first == First::Lost;
        (0..parts.len())
            .filter(is_lost)
            .map(|at| Boundary { is_lost: true, ..within(&parts, at) })
            .collect::<Vec<_>>()
    })
}

/// The boundaries that arrived, each within the slices at both its sides.
fn arrived(slices: &[Slice]) -> impl Iterator<Item = Boundary> {
    slices.windows(2).map(|pair| {
        let parts: Vec<&Part> = pair.iter().flat_map(|slice| &slice.parts).collect();
        within(&parts, pair[0].parts.len())
    })
}

/// The first packet of the part at this place, within all of them but for other boundaries that were lost: those are known, and not among the packets that
/// unknown losses are compared with either.
fn within(parts: &[&Part], at: usize) -> Boundary {
    let first = parts[0].start;
    let is_known = |place: usize| place > 0 && place != at && parts[place].first == First::Lost;
    let (mut before, mut behind, mut since) = (0.0, 0.0, 0i128);
    for (place, part) in parts.iter().enumerate() {
        let known = u64::from(is_known(place));
        let packets = part.packets.saturating_sub(known) as f64;
        if place < at {
            before += packets
        } else {
            behind += packets
        }
        since += part.sum
            - i128::from(part.packets) * i128::from(first)
            - i128::from(known) * i128::from(part.start - first);
    }
    // The very first one arrived: it is none of those that may have been lost.
    let others = before + behind - f64::from(u8::from(parts[0].first == First::Arrived));
    Boundary {
        later: (parts[at].start - first) as f64 - since as f64 / others.max(1.0),
        more_before: before - behind,
        length: length(first, parts[parts.len() - 1].end),
        is_lost: false,
    }
}
