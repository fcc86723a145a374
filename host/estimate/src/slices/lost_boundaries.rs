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

/// By how much the losses of these slices that are not boundaries are later than the means of their slices, all together. Lost boundaries show it if they are a
/// random sample of the lost packets.
pub(super) fn lateness(slices: &[Slice], is_sample: bool) -> Guess {
    let boundaries: Vec<Boundary> = lost(slices).chain(arrived(slices)).collect();
    let all = |of: &dyn Fn(&Boundary) -> f64| boundaries.iter().map(of).sum::<f64>();
    let slope = all(&|it| it.later * it.more_before) / all(&|it| it.more_before.powi(2)).max(1.0);
    let late = |it: &Boundary| it.later - slope * it.more_before;
    let squared_share = all(&|it| late(it).powi(2)) / all(&|it| it.length.powi(2)).max(1.0);
    let unseen = |slice: &Slice| {
        let known = slice.parts.iter().filter(|part| part.first == First::Lost).count();
        slice.lost as f64 - known as f64
    };
    let lengths: f64 = slices.iter().map(|slice| unseen(slice) * length(slice.start, slice.end)).sum();
    let one = lengths / slices.iter().map(unseen).sum::<f64>().max(1.0);
    let sample =
        |of: &dyn Fn(&Boundary) -> f64| all(&|it| if it.is_lost && is_sample { of(it) } else { 0.0 });
    let scale = lengths / (sample(&|it| it.length) + NONE_KNOWN * one).max(1.0);
    let lateness: Vec<i64> = boundaries.iter().map(|it| late(it) as i64).collect();
    Guess {
        nanoseconds: scale * sample(&late),
        variance: scale.powi(2)
            * squared_share
            * (sample(&|it| it.length.powi(2)) + NONE_KNOWN * one.powi(2)),
        freedom: Sample::of(&lateness).freedom,
        skew: Skew::default(),
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

/// The first packet of the part at this place, within all of them.
fn within(parts: &[&Part], at: usize) -> Boundary {
    let start = i128::from(parts[0].start);
    let packets = |parts: &[&Part]| parts.iter().map(|part| part.packets).sum::<u64>();
    let (before, behind) = (packets(&parts[..at]), packets(&parts[at..]));
    // The very first one arrived: it is none of those that may have been lost.
    let others = (before + behind).saturating_sub(u64::from(parts[0].first == First::Arrived));
    let since: i128 = parts.iter().map(|part| part.sum - i128::from(part.packets) * start).sum();
    Boundary {
        later: (parts[at].start - parts[0].start) as f64 - since as f64 / others.max(1) as f64,
        more_before: before as f64 - behind as f64,
        length: length(parts[0].start, parts[parts.len() - 1].end),
        is_lost: false,
    }
}
