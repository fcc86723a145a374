//! When packets are expected at the other end, by the delays of those that both have at an edge.
//!
//! # Test plan
//!
//! By edges that are found with it (`super::tests`): stray and wild stamps, clocks that are set, paths that differ, packets that repeat.

use super::OUTERMOST;

/// Passages that are near an edge, at least, if there are so many.
const NEAREST: usize = 256;
/// Those are near, too, whose times are from the edge no more than so many times by what delays there differ.
const NEAR: i128 = 16;
/// Packets at an edge from which on stray delays are told from others.
const FEW: usize = 32;
/// Stray delays at either side of all others, at most.
const STRAY: usize = 3;
/// One in so many passages of packets that repeat, at either side of the others, may be of two packets.
const MISTAKEN: usize = 20;
/// No more than one in so many delays are those of wild stamps, or [`STRAY`].
const MANY: usize = 100;
/// Nanoseconds from the median from which on a delay is that of a wrong stamp, if few are.
const WILD: i128 = 1_000_000_000;

/// A packet of both, seen from one end: its time there, and the nanoseconds from then to its time at the other end.
#[derive(Clone, Copy)]
pub(super) struct Passage {
    pub(super) time: u64,
    pub(super) shift: i128,
}

/// When packets are expected at the other end: nanoseconds to add to their time, at least and at most.
#[derive(Clone, Copy)]
pub(super) struct Shift {
    pub(super) least: i128,
    pub(super) greatest: i128,
}

impl Shift {
    /// Of passages, without those that stray: no more than so many at either side, which are farther from all others than these are from each other.
    /// Of n delays whose tail falls off exponentially, the outermost is so with a probability of about 1 / n.
    fn of(passages: &[Passage], stray: usize) -> Option<Self> {
        let mut shifts: Vec<i128> = passages.iter().map(|passage| passage.shift).collect();
        shifts.sort_unstable();
        let within = shifts.get(stray..shifts.len().checked_sub(stray)?)?;
        let most = Shift { least: *within.first()?, greatest: *within.last()? };
        let reach = Shift { least: most.least - most.width(), greatest: most.greatest + most.width() };
        let mut near = shifts.into_iter().filter(|shift| (reach.least..=reach.greatest).contains(shift));
        let least = near.next()?;
        Some(Shift { least, greatest: near.next_back().unwrap_or(least) })
    }

    /// Of both edges, with a margin.
    pub(super) fn of_edges(at_edges: [AtEdge; 2]) -> Self {
        let [front, back] = at_edges.map(|at_edge| at_edge.near.with_margin(at_edge.count));
        Shift { least: front.least.min(back.least), greatest: front.greatest.max(back.greatest) }
    }

    pub(super) fn width(&self) -> i128 {
        self.greatest - self.least
    }

    pub(super) fn holds(&self, passage: &Passage) -> bool {
        (self.least..=self.greatest).contains(&passage.shift)
    }

    /// Wider by as much as one more packet's may lie outside: the greatest of n is ln n times as far out as an exponential tail falls off in.
    fn with_margin(self, count: usize) -> Self {
        let margin = self.width() / i128::from(count.ilog2().max(1));
        Shift { least: self.least - margin, greatest: self.greatest + margin }
    }
}

/// When packets at an edge are expected at the other end.
#[derive(Clone, Copy)]
pub(super) struct AtEdge {
    /// By those near the edge.
    pub(super) near: Shift,
    /// How many these are.
    count: usize,
    /// By all outermost ones, whatever stamps they have, unless these are wild.
    pub(super) far: Shift,
}

impl AtEdge {
    /// By passages, the outermost ones first, of which some may not be of one packet, if they are of keys that repeat.
    pub(super) fn of(passages: impl Iterator<Item = Passage>, repeat: bool) -> Option<Self> {
        let mut passages: Vec<Passage> = passages.take(OUTERMOST).collect();
        if repeat {
            let usual = Shift::of(&passages, passages.len() / MISTAKEN)?;
            passages.retain(|passage| usual.holds(passage));
        }
        let mut nearest: Vec<i128> = passages.iter().take(NEAREST).map(|passage| passage.shift).collect();
        nearest.sort_unstable();
        let median = *nearest.get(nearest.len() / 2)?;
        let is_wild = |passage: &Passage| (passage.shift - median).abs() >= WILD;
        // What many have is the path's, or that of a clock that was set.
        let wild = passages.iter().filter(|passage| is_wild(passage)).count();
        if wild <= STRAY.max(passages.len() / MANY) {
            passages.retain(|passage| !is_wild(passage));
        }
        let shifts = || passages.iter().map(|passage| passage.shift);
        let far = Shift { least: shifts().min()?, greatest: shifts().max()? };
        // As far from the edge as packets there can be under way, several times over.
        let edge = passages.first()?.time;
        let (mut count, mut near) = (0, Shift { least: 0, greatest: 0 });
        loop {
            let reach = NEAR * near.width();
            let within =
                passages.iter().take_while(|passage| i128::from(passage.time.abs_diff(edge)) <= reach);
            let wider = within.count().max(NEAREST).min(passages.len());
            if wider <= count {
                return Some(AtEdge { near, count, far });
            }
            count = wider;
            near = Shift::of(&passages[..count], if count < FEW { 0 } else { STRAY })?;
        }
    }
}
