//! Whether the two clocks ran alike: jumps, drift and wild stamps, seen in the delays.
//!
//! A clock that is set, runs fast, or stamps a packet wrongly makes delays that no queue makes. What is looked at are
//! blocks of delays in order of time, each reduced to the range from its lower tenth to its upper quarter, so that neither late packets nor a few
//! wild stamps matter; and the least delay of each, the floor. A queue that fills and empties comes back to its floor, and a clock that was set does not.
//!
//! | doubt | what shows it |
//! |---|---|
//! | jump | the ranges of up to four blocks before a block and behind it are three times as far apart as either is wide, the next eighth of all blocks stays on its side, and, up to a second, so do the floors of all blocks before and behind; or the floors of up to 32 parts of the time lie in two groups, before a moment and behind it, farther apart than either is wide |
//! | drift | the least of the ranges' lower ends, in 16 parts of the time, lies on a line (Theil and Sen's) that rises or falls four times as far as the parts are off it, and no steeper than clocks run apart; twice as far is enough where the lines of both halves are within 0.4 of its slope; up to a hundred times as steep, as daemons make clocks catch up, where it is ten times as far and both |
//! | wild stamps | delays more than a second and 1000 interquartile ranges from the median, of at most one packet in twenty |
//!
//! Were the floors of n parts exchangeable, all of the first k would be below all others, or above, with a chance of 2 / C(n, k): of 32
//! parts, four on either side at least, at most 1 in 7,000 for all k together. They are not where a queue wanders more slowly than a
//! part lasts; there the distance between the groups, at least the width of the wider one, keeps false alarms rare: at most 3 in 200 in the
//! tests. What is found follows from the same: a step of more than twice the range of the parts' floors always, and a drift of more
//! than some two ranges in all. Behind two steps back and forth there is one floor, and nothing to find.
//!
//! A path can do all of that: another route jumps as a clock that is set, and a queue that fills slowly drifts. Nothing in delays of one
//! direction distinguishes them, so that a doubt is a doubt. What it finds nothing in may still have been off by any constant.
//!
//! # Test plan
//!
//! Light and heavy tails, queues that wander, fill and empty, and alternating paths raise no doubt, over many seeds. A step and a drift as large as the
//! delays' deviation are found by the floor. A jump of a clock, forward and back, is
//! found at its time and of its size, in constant, light and heavy delays; a drift is found with its rate within its error, of either
//! sign; wild stamps are counted. The same from a few intervals. Recordings: `host/cli/tests/clocks.rs`.

use crate::{Estimate, Singles};
use std::fmt;

/// Delays about one time, reduced to their range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// When, in nanoseconds since any moment.
    pub time: i64,
    /// A delay in nanoseconds that about a tenth of them do not exceed.
    pub low: f64,
    /// A delay in nanoseconds that about three quarters of them do not exceed.
    pub high: f64,
    /// The least delay in nanoseconds, where single ones are known.
    pub least: Option<f64>,
}

/// By how many nanoseconds a stamp is off at least to be called wrong: no path holds packets up for as long, and no recorder writes one as much
/// later than the packet behind it.
pub const WRONG_BY: u64 = 1_000_000_000;
/// Fewest delays of a block.
const FEWEST: usize = 8;
/// Most blocks of single packets.
const MOST_BLOCKS: usize = 4096;

impl Block {
    /// The block of these delays at `time`, if they are enough.
    pub fn of(time: i64, delays: &[i64]) -> Option<Self> {
        let mut delays = delays.to_vec();
        delays.sort_unstable();
        let at = |share: f64| delays[(share * (delays.len() - 1) as f64).round() as usize] as f64;
        (delays.len() >= FEWEST).then(|| Block { time, low: at(0.1), high: at(0.75), least: Some(at(0.0)) })
    }

    /// The block of an interval: of its exact delays, if they are enough, or of mean and deviation.
    pub fn of_interval(time: i64, estimate: &Estimate, singles: Option<&Singles>) -> Option<Self> {
        let of_singles = singles.and_then(|singles| Block::of(time, singles.delays()));
        of_singles.or_else(|| {
            let (mean, deviation) = (estimate.mean.ok()?.nanoseconds, estimate.deviation.ok()?);
            Some(Block { time, low: mean - deviation, high: mean + deviation, least: None })
        })
    }

    /// Blocks of single packets, each its time of sending and its delay in nanoseconds, in order of sending.
    pub(crate) fn of_packets(packets: &[(i64, i64)]) -> Vec<Self> {
        let size = (packets.len() / 16).clamp(FEWEST, 32).max(packets.len().div_ceil(MOST_BLOCKS));
        let block = |packets: &[(i64, i64)]| {
            let (mut times, delays): (Vec<i64>, Vec<i64>) = packets.iter().copied().unzip();
            // The median, which a wild stamp does not move.
            let middle = times.len() / 2;
            let (_, time, _) = times.select_nth_unstable(middle);
            Block::of(*time, &delays)
        };
        packets.chunks(size).filter_map(block).collect()
    }

    /// The least delay that is known.
    fn floor(&self) -> f64 {
        self.least.unwrap_or(self.low)
    }

    fn middle(&self) -> f64 {
        f64::midpoint(self.low, self.high)
    }
}

/// What makes the clocks doubtful.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClockDoubt {
    /// Delays of all packets change at once, and stay so.
    Jump {
        /// How often.
        count: usize,
        /// About when first, as the blocks' times.
        time: i64,
        /// By how many nanoseconds the first time.
        by: f64,
    },
    /// The least delays grow or fall steadily.
    Drift {
        /// By how many millionths of the time: positive if the receiver's clock runs fast.
        ppm: f64,
        /// By how many nanoseconds in all.
        by: f64,
    },
    /// Single packets have delays that no path makes.
    Wild {
        /// How many.
        packets: usize,
        /// Of how many.
        of: usize,
        /// The delay that is farthest off, less the median, in nanoseconds.
        by: i64,
    },
}

impl fmt::Display for ClockDoubt {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            ClockDoubt::Jump { count, by, .. } => {
                let times = if count == 1 { "once".into() } else { format!("{count} times") };
                write!(
                    f,
                    "the delays of all packets jump {times}, first by {:+.6} s: a clock was set, or the path changed; mean and \
                     deviation are of what was before and behind it together",
                    by / 1e9
                )
            }
            ClockDoubt::Drift { ppm, by } => write!(
                f,
                "the least delays {} steadily, by {:.6} s or {:.3} ppm of the time: the {}'s clock runs fast against the other \
                 one, or a queue {} slowly; mean and deviation contain it",
                if ppm > 0.0 { "grow" } else { "fall" },
                by.abs() / 1e9,
                ppm.abs(),
                if ppm > 0.0 { "receiver" } else { "sender" },
                if ppm > 0.0 { "fills" } else { "drains" },
            ),
            ClockDoubt::Wild { packets, of, by } => write!(
                f,
                "{packets} of {of} packets that were looked at have delays up to {:+.3} s from the median, far from all others: their \
                 stamps are wrong, or they alone were held up; mean and deviation, where they are given, contain them",
                by as f64 / 1e9
            ),
        }
    }
}

/// What makes the clocks doubtful, from blocks in order of time.
pub fn clock_doubts(blocks: &[Block]) -> Vec<ClockDoubt> {
    match jumps(blocks).or_else(|| floor_jump(blocks)) {
        Some(jump) => vec![jump],
        None => drift(blocks).into_iter().collect(),
    }
}

/// What makes the clocks doubtful, from single packets in order of sending: when each was sent, in nanoseconds since the Unix
/// epoch, and its delay in nanoseconds.
pub fn clock_doubts_of_packets(packets: impl IntoIterator<Item = (u64, i64)>) -> Vec<ClockDoubt> {
    let packets: Vec<(i64, i64)> =
        packets.into_iter().map(|(sent, delay)| (sent.cast_signed(), delay)).collect();
    let delays: Vec<i64> = packets.iter().map(|(_, delay)| *delay).collect();
    let wild = wild_stamps(delays.iter().copied());
    // A wild stamp is no floor.
    let tame = Tame::of(&delays);
    let is_tame = |(_, delay): &(i64, i64)| tame.is_none_or(|tame| tame.holds(*delay));
    let tame: Vec<_> = packets.into_iter().filter(is_tame).collect();
    clock_doubts(&Block::of_packets(&tame)).into_iter().chain(wild).collect()
}

/// Fewest delays among which wild ones are told.
const FEWEST_TAME: usize = 32;

/// The delays that the path of some packets makes: what is beyond them is wild, of a wrong stamp or of a packet that was held up alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tame {
    median: i128,
    far: i128,
}

impl Tame {
    /// Those of a path that has made these delays in nanoseconds. None where they are too few to tell, or more than one in twenty is
    /// beyond.
    pub fn of(delays: &[i64]) -> Option<Self> {
        let mut sorted = delays.to_vec();
        sorted.sort_unstable();
        if sorted.len() < FEWEST_TAME {
            return None;
        }
        let at = |share: usize| i128::from(sorted[share * (sorted.len() - 1) / 4]);
        let tame = Tame { median: at(2), far: (1000 * (at(3) - at(1))).max(i128::from(WRONG_BY)) };
        let wild = sorted.iter().filter(|delay| !tame.holds(**delay)).count();
        (20 * wild <= sorted.len()).then_some(tame)
    }

    /// Whether a delay in nanoseconds is one of them.
    pub fn holds(&self, delay: i64) -> bool {
        (i128::from(delay) - self.median).abs() <= self.far
    }
}

/// Wild stamps among delays in nanoseconds.
pub fn wild_stamps(delays: impl IntoIterator<Item = i64>) -> Option<ClockDoubt> {
    let mut delays: Vec<i64> = delays.into_iter().collect();
    let tame = Tame::of(&delays)?;
    let (of, packets) = (delays.len(), delays.iter().filter(|delay| !tame.holds(**delay)).count());
    if packets == 0 {
        return None;
    }
    delays.sort_unstable();
    let median = i128::from(delays[(of - 1) / 2]);
    let by = [delays[0], delays[of - 1]].map(|delay| i128::from(delay) - median);
    let by = if by[0].abs() > by[1].abs() { by[0] } else { by[1] };
    let by = by.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    Some(ClockDoubt::Wild { packets, of, by })
}

/// Blocks that are compared before a jump and behind it.
const BESIDE: usize = 4;

/// The range of several blocks.
fn range(blocks: &[Block]) -> (f64, f64) {
    let low = blocks.iter().map(|block| block.low).fold(f64::INFINITY, f64::min);
    let high = blocks.iter().map(|block| block.high).fold(f64::NEG_INFINITY, f64::max);
    (low, high)
}

fn jumps(blocks: &[Block]) -> Option<ClockDoubt> {
    let (mut first, mut count, mut index) = (None, 0, 2);
    while index + 1 < blocks.len() {
        // It jumps in front of the block, in front of the next one, or within the block.
        let within = || jump(blocks, index + 1, index + 1).is_none().then(|| jump(blocks, index, index + 1));
        let by = jump(blocks, index, index).or_else(|| within().flatten());
        let Some(by) = by else {
            index += 1;
            continue;
        };
        first.get_or_insert((blocks[index].time, by));
        count += 1;
        index += BESIDE + 1;
    }
    first.map(|(time, by)| ClockDoubt::Jump { count, time, by })
}

/// By how much delays jump between the blocks before `end` and those from `start` on.
fn jump(blocks: &[Block], end: usize, start: usize) -> Option<f64> {
    let before = &blocks[end.saturating_sub(BESIDE)..end];
    let behind = &blocks[start..(start + BESIDE).min(blocks.len())];
    if before.len() < 2 || behind.len() < 2 {
        return None;
    }
    let ((low, high), (low_behind, high_behind)) = (range(before), range(behind));
    let width = (high - low).max(high_behind - low_behind);
    let lasting = &blocks[start..(start + (blocks.len() / 8).max(BESIDE)).min(blocks.len())];
    let (least, most) = range(lasting);
    let [up, down] = [low_behind - high, low - high_behind];
    // A delay between 0 and a unit of the clock is no jump.
    let is_far = |gap: f64| gap > 3.0 * width && gap > 1.0;
    let stays = |gap: f64| match gap == up {
        true => {
            least > high + gap / 2.0
                && (gap > QUEUES || are_apart(&blocks[..end], &blocks[start..], high + gap / 2.0))
        }
        false => {
            most < low - gap / 2.0
                && (gap > QUEUES || are_apart(&blocks[start..], &blocks[..end], low - gap / 2.0))
        }
    };
    let gap = up.max(down);
    let middle = |blocks: &[Block]| blocks.iter().map(Block::middle).sum::<f64>() / blocks.len() as f64;
    (is_far(gap) && stays(gap)).then(|| middle(behind) - middle(before))
}

/// Nanoseconds that no queue holds packets up: a jump that is farther may go back.
const QUEUES: f64 = 1e9;

/// Whether all floors of one group are below a delay, and all of the other one above.
fn are_apart(below: &[Block], above: &[Block], delay: f64) -> bool {
    below.iter().all(|block| block.floor() < delay) && above.iter().all(|block| block.floor() > delay)
}

/// Parts of the time whose floors are compared, and how many there are at least before a jump and behind it.
const FLOORS: usize = 32;
const FEWEST_FLOORS: usize = 4;

/// A jump that moves the floor less than the delays vary: floors in two groups, farther apart than either is wide.
fn floor_jump(blocks: &[Block]) -> Option<ClockDoubt> {
    let size = blocks.len().div_ceil(FLOORS).max(1);
    let floor = |part: &[Block]| {
        part.iter().map(|block| block.least).try_fold(f64::INFINITY, |least, each| Some(least.min(each?)))
    };
    let floors = blocks.chunks(size).map(floor).collect::<Option<Vec<f64>>>()?;
    let group = |floors: &[f64]| {
        let least = floors.iter().copied().fold(f64::INFINITY, f64::min);
        (least, floors.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    };
    let apart = |split: &usize| {
        let ((low, high), (low_behind, high_behind)) = (group(&floors[..*split]), group(&floors[*split..]));
        let gap = (low_behind - high).max(low - high_behind);
        let width = (high - low).max(high_behind - low_behind);
        (gap > width.max(1.0)).then_some((*split, gap))
    };
    let splits = FEWEST_FLOORS..=floors.len().saturating_sub(FEWEST_FLOORS);
    let (split, _) =
        splits.filter_map(|split| apart(&split)).max_by(|one, other| one.1.total_cmp(&other.1))?;
    let mean = |floors: &[f64]| floors.iter().sum::<f64>() / floors.len() as f64;
    let by = mean(&floors[split..]) - mean(&floors[..split]);
    Some(ClockDoubt::Jump { count: 1, time: blocks[split * size].time, by })
}

/// Parts of the time between which a drift is looked for.
const PARTS: usize = 16;
/// How far clocks run apart that nobody sets, in millionths: ordinary crystals do not reach a fifth of it.
const FREE_PPM: f64 = 1000.0;
/// How far they run apart at most, where a daemon makes up for a wrong time by running fast or slow. Queues fill as fast, and seldom as straight.
const MOST_PPM: f64 = 100_000.0;
/// How many times as far as the parts are off the line it has to lead there.
const STRAIGHT: f64 = 10.0;

fn drift(blocks: &[Block]) -> Option<ClockDoubt> {
    if blocks.len() < PARTS / 2 {
        return None;
    }
    let size = blocks.len().div_ceil(PARTS);
    let least =
        |part: &[Block]| part.iter().copied().min_by(|one, other| one.floor().total_cmp(&other.floor()));
    let parts: Vec<Block> = blocks.chunks(size).filter_map(least).collect();
    let slope = line(&parts)?;
    let base = parts.first()?.time;
    let by = slope * (parts.last()?.time - base) as f64;
    let off = parts.iter().map(|part| part.floor() - slope * (part.time - base) as f64);
    let (least, most) =
        off.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), off| (least.min(off), most.max(off)));
    let ppm = 1e6 * slope;
    // A unit of the clock may be what the line is off.
    let off = (most - least).max(1.0);
    let half = |parts: &[Block]| line(parts).is_some_and(|half| (half - slope).abs() < 0.4 * slope.abs());
    let (first, second) = parts.split_at(parts.len() / 2);
    let is_line = by.abs() > 4.0 * off || by.abs() > 2.0 * off && half(first) && half(second);
    let is_slewed = ppm.abs() <= MOST_PPM && by.abs() > STRAIGHT * off && half(first) && half(second);
    (is_line && ppm.abs() <= FREE_PPM || is_slewed).then_some(ClockDoubt::Drift { ppm, by })
}

/// The slope of Theil and Sen's line through the parts' floors: the median of those between any two.
fn line(parts: &[Block]) -> Option<f64> {
    let pairs = parts.iter().enumerate().flat_map(|(index, one)| {
        parts[index + 1..]
            .iter()
            .map(move |other| ((other.time - one.time) as f64, other.floor() - one.floor()))
    });
    let mut slopes: Vec<f64> =
        pairs.filter(|(time, _)| *time > 0.0).map(|(time, delay)| delay / time).collect();
    slopes.sort_unstable_by(f64::total_cmp);
    slopes.get(slopes.len() / 2).copied()
}
