//! Slices completed by the sending times that lost packets may have had.

use super::align::{First, Part, Slice};
use super::guess::Guess;
use super::lost_boundaries::Lateness;
use crate::{Range, Reason, Skew};

/// What completed slices show of the mean.
pub(super) struct Completion {
    /// The mean delay, if losses are no later than the means of their slices.
    pub(super) mean: Guess,
    /// The variance of it that is of the first slice and the last, which begin and end with the interval, and not by chance.
    pub(super) edges: f64,
    /// By how much they are later.
    pub(super) lateness: Lateness,
    /// Between which delays the mean lies if the path keeps order; none if times are not in order.
    pub(super) bracket: Option<Range>,
}

impl Completion {
    /// The completion of these slices; lost boundaries are a random sample of the lost packets if `is_sample`.
    pub(super) fn of(slices: &[Slice], is_sample: bool) -> Result<Self, Reason> {
        let received: u64 = slices.iter().map(|slice| slice.sent - slice.lost).sum();
        if received == 0 {
            return Err(Reason::NothingReceived);
        }
        let burst = burstiness(slices);
        let (mut known, mut guessed) = (0i128, 0.0);
        let (mut variance, mut squares) = (0.0, 0.0);
        let mut ends = Some((0.0, 0.0));
        let (mut losses, mut edges) = (vec![], 0.0);
        for (place, slice) in slices.iter().enumerate() {
            let open = Open::of(slice);
            let sent: i128 = slice.parts.iter().map(|part| part.sum).sum();
            // Times since the slice's start, so that no digits are lost.
            known += slice.received - sent + open.lost_sum + i128::from(open.lost) * i128::from(slice.start);
            guessed += open.lost as f64 * open.mean();
            let time = slice.start as f64 + open.mean();
            losses.push(Losses { packets: open.packets(), lost: open.lost as f64, time });
            let own = open.variance(burst);
            variance += own;
            edges += if place == 0 || place + 1 == slices.len() { own } else { 0.0 };
            squares += own * own;
            ends = ends
                .zip(open.ends())
                .map(|((low, high), (own_low, own_high))| (low + own_low, high + own_high));
        }
        let packets = received as f64;
        // So many slices share the error.
        let freedom =
            if squares > 0.0 { (variance * variance / squares).max(1.0) * FREEDOM } else { f64::INFINITY };
        // The greater of both is on the safe side; it has the freedom of the slices' own, which know more of bursts.
        let variance = variance.max(seen_by_pairs(&losses)) / packets / packets;
        let lateness = Lateness::of(slices);
        let with = |lost: f64| {
            let whole = known.div_euclid(received.into());
            let rest = known.rem_euclid(received.into()) as f64;
            whole as f64 + (rest + lost) / packets
        };
        Ok(Completion {
            mean: Guess { nanoseconds: with(guessed), variance, freedom, skew: Skew::default() },
            edges: edges / packets / packets,
            lateness: if is_sample { lateness } else { lateness.without_boundaries() },
            bracket: ends.map(|(low, high)| Range { lower: with(low), upper: with(high) }),
        })
    }
}

/// The packets of a slice of which it is not known whether they were lost, and how many were.
#[derive(Clone, Copy)]
struct Losses {
    packets: f64,
    lost: f64,
    /// Their mean sending time in nanoseconds.
    time: f64,
}

/// The variance of the completion, as slices of twice the length show it: two neighbours as one are wrong by what is known of the two. Of slices that
/// are as long as chance has it, those of twice the length have twice the variance. It knows nothing of bursts, and is true of any; but a few
/// pairs may be most of it.
fn seen_by_pairs(losses: &[Losses]) -> f64 {
    let merged = |pair: &[Losses]| match pair {
        [a, b] if a.packets + b.packets > 0.0 => {
            (a.lost * b.packets - b.lost * a.packets) / (a.packets + b.packets) * (a.time - b.time)
        }
        _ => 0.0,
    };
    // Every slice is in two pairs.
    losses.windows(2).map(|pair| merged(pair).powi(2)).sum::<f64>() / 2.0
}

/// Degrees of freedom for every slice that shares the error: sending times have an end on both sides, so that sums of few of them
/// have lighter tails than a normal variable, and Student's t for so few would be far too wide.
const FREEDOM: f64 = 8.0;

/// The packets of a slice of which it is not known whether they were lost.
struct Open<'a> {
    parts: Vec<OpenPart>,
    slice: &'a Slice,
    /// Those of them that were lost.
    lost: u64,
    /// Sum of the sending times of the lost ones that are known.
    lost_sum: i128,
}

/// A part's packets of which it is not known whether they were lost: times since the slice's start.
struct OpenPart {
    start: f64,
    end: f64,
    packets: f64,
    sum: f64,
}

impl<'a> Open<'a> {
    fn of(slice: &'a Slice) -> Self {
        let (mut lost, mut lost_sum) = (slice.lost, 0);
        let part = |part: &Part| {
            let known = u64::from(part.first != First::Unknown);
            if part.first == First::Lost {
                lost -= 1;
                lost_sum += i128::from(part.start);
            }
            let base = i128::from(slice.start);
            let packets = part.packets.saturating_sub(known);
            let sum = part.sum - i128::from(known) * i128::from(part.start) - i128::from(packets) * base;
            OpenPart {
                start: (part.start - slice.start) as f64,
                end: (part.end - slice.start) as f64,
                packets: packets as f64,
                sum: sum as f64,
            }
        };
        let parts = slice.parts.iter().map(part).collect();
        Open { parts, slice, lost, lost_sum }
    }

    fn packets(&self) -> f64 {
        self.parts.iter().map(|part| part.packets).sum()
    }

    /// Mean sending time.
    fn mean(&self) -> f64 {
        let packets = self.packets();
        if packets == 0.0 { 0.0 } else { self.parts.iter().map(|part| part.sum).sum::<f64>() / packets }
    }

    /// The variance of the sum of the lost packets' times, if they come in bursts of so many.
    fn variance(&self, burst: f64) -> f64 {
        let (lost, packets, mean) = (self.lost as f64, self.packets(), self.mean());
        if lost == 0.0 || packets <= lost {
            return 0.0;
        }
        let spread: f64 = self
            .parts
            .iter()
            .filter(|part| part.packets > 0.0)
            .map(|part| {
                let (length, own) = (part.end - part.start, part.sum / part.packets);
                let share = ((own - part.start) / length.max(1.0)).clamp(0.0, 1.0);
                part.packets / packets
                    * ((own - mean).powi(2) + length * length * share * (1.0 - share) / 3.0)
            })
            .sum();
        let together = burst.min(lost);
        spread * lost * together * (1.0 - lost / packets) * packets / (packets - 1.0)
    }

    /// The least and the greatest that the sum of the lost packets' times can be; none if times are not in order.
    fn ends(&self) -> Option<(f64, f64)> {
        let in_order = |part: &OpenPart| {
            part.sum >= part.packets * part.start - 0.5 && part.sum <= part.packets * part.end + 0.5
        };
        if self.slice.end < self.slice.start || !self.parts.iter().all(in_order) {
            return None;
        }
        // So many packets of a part may all lie at its start, the others then at its end.
        let steps = |part: &OpenPart| {
            let length = part.end - part.start;
            let early = match length > 0.0 {
                true => ((part.packets * part.end - part.sum) / length).clamp(0.0, part.packets),
                false => part.packets,
            };
            [(part.start, early), (part.end, part.packets - early)]
        };
        let mut steps: Vec<(f64, f64)> = self.parts.iter().flat_map(steps).collect();
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        let fill = |steps: &mut dyn Iterator<Item = &(f64, f64)>| {
            let mut left = self.lost as f64;
            steps.fold(0.0, |sum, (time, room)| {
                let taken = room.min(left);
                left -= taken;
                sum + taken * time
            })
        };
        Some((fill(&mut steps.iter()), fill(&mut steps.iter().rev())))
    }
}

/// How many packets are lost together, at least 1: how many of its slice are lost with a lost packet, less those that the two neighbours let expect.
fn burstiness(slices: &[Slice]) -> f64 {
    if slices.len() < FEW {
        return f64::INFINITY;
    }
    // The first and the last have one neighbour.
    let beside = |(at, own): (usize, &Slice)| {
        let around = [at.checked_sub(1), at.checked_add(1)].map(|at| slices.get(at?));
        let count = |count: fn(&Slice) -> u64| around.into_iter().flatten().map(count).sum::<u64>() as f64;
        let near = count(|slice| slice.lost) / count(|slice| slice.sent).max(1.0);
        let (own_sent, own) = (own.sent as f64, own.lost as f64);
        [own * (own - near * own_sent), own]
    };
    let all = slices.iter().enumerate().map(beside);
    let sums = all.fold([0.0, 0.0], |sum, own| [sum[0] + own[0], sum[1] + own[1]]);
    if sums[1] > 0.0 { (sums[0] / sums[1]).max(1.0) } else { f64::INFINITY }
}

/// Slices that are too few to tell whether losses come together: they may.
const FEW: usize = 8;
