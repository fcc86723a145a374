//! Sums over all packets of an interval: an exact mean where nothing was lost, and certain bounds where something was.
//!
//! Both ends add up the times of all packets. Where they have seen the same packets, which equal counts and equal digest sums
//! show (wrong once in 2^32), the difference of the sums over the number of packets is the mean delay, of every packet, without
//! sampling. Where L packets were lost and none gained, the sum of the sending times of those that arrived is not known, but
//! each lost packet was sent between the first and the last one: the mean delay lies between
//!
//! ```text
//! (sum of receiving times - sum of sending times + L first) / R    and    the same with the last sending time
//! ```
//!
//! for certain, whatever the loss depends on: as long as no packet was gained, which rows show only of the packets that they
//! sample. No mean is beyond the last receiving time less the first sending time either. One that was gained unseen moves the bounds by a lost one's share of their width. In between lies the *completed* mean, in which lost packets count with the mean
//! sending time of all; how far that is off is not known: it may be anywhere between the bounds.
//!
//! Times are known modulo 2^48 ns, their sums modulo 2^64. Where an end's times pass 2^48 ns within the interval, once in
//! 78 hours, the mean of n packets is known modulo 2^48 ns / n, and otherwise modulo 2^64 ns / n. It takes an estimate to know which it is. One that leaves
//! several open, or none where times pass 2^48 ns, gives no answer.
//!
//! # Test plan
//!
//! Exact means and bounds against sums by hand, over the wrap of times, clocks apart both ways; counts or digests that differ
//! give no exact mean, a surplus no bounds. One stamp that is wrong by an hour to three days, among packets whose rows are too large to show it, gives no mean
//! that is not that of the stamps.

use crate::Range;

/// What one end added up over all packets of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndSums {
    /// Packets.
    pub packets: u64,
    /// Sum of the packets' times in nanoseconds modulo 2^48, modulo 2^64.
    pub times: u64,
    /// Sum of their digests, if it is known.
    pub digests: Option<u32>,
    /// Time of the first packet in nanoseconds, modulo 2^48.
    pub first: u64,
    /// Time of the last one.
    pub last: u64,
}

/// What both ends added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sums {
    /// The sender.
    pub sender: EndSums,
    /// The receiver.
    pub receiver: EndSums,
}

/// Times are known modulo 2^48 ns.
const WRAP: i128 = 1 << 48;
/// Nanoseconds around the wrap of times, 18 minutes, in which packets may lie on both sides of it.
const NEAR_WRAP: u64 = 1 << 40;

/// How many nanoseconds a packet may lie before the first one or behind the last one: recorders and lanes may mix up neighbours.
const MIXED_UP: f64 = 1e6;

/// By how many nanoseconds the mean delay may differ from those of the first and the last packet, beside the difference of these.
const VAGUE: f64 = 2e7;

/// A difference of times modulo 2^48 as a signed number.
pub(crate) fn signed(difference: u64) -> i64 {
    ((difference << 16) as i64) >> 16
}

impl Sums {
    /// Whether the two ends' digest sums are equal, if both are known.
    pub fn digests_agree(&self) -> Option<bool> {
        Some(self.sender.digests? == self.receiver.digests?)
    }

    /// Whether the ends have seen the same packets.
    pub fn are_same(&self) -> bool {
        self.sender.packets == self.receiver.packets && self.digests_agree() == Some(true)
    }

    /// The mean delay in nanoseconds, if the ends have seen the same packets, at least one. It lies within `near`, as far as that is known.
    pub fn mean(&self, near: Option<Range>) -> Option<f64> {
        let packets = self.receiver.packets;
        if !self.are_same() || packets == 0 {
            return None;
        }
        Some(self.difference(0, near)? as f64 / packets as f64)
    }

    /// Between which delays the mean lies, in nanoseconds, if no more packets were received than sent, at least one, and none
    /// was gained. The mean lies within `near`, as far as that is known.
    pub fn bracket(&self, near: Option<Range>) -> Option<Range> {
        let lost = self.sender.packets.checked_sub(self.receiver.packets)?;
        let received = self.receiver.packets as f64;
        if received == 0.0 {
            return None;
        }
        let Range { lower, upper } = self.by_losses(lost, near)?;
        // No packet was sent before the first or received behind the last, nor the other way round.
        let between = |from: u64, to: u64| signed(to.wrapping_sub(from)) as f64;
        let least = between(self.sender.last, self.receiver.first);
        let most = between(self.sender.first, self.receiver.last);
        let bracket = Range { lower: lower.max(least), upper: upper.min(most) };
        (bracket.lower <= bracket.upper).then_some(bracket)
    }

    /// Whether a mean can be that of packets none of which was sent before the first one or behind the last one, or received so: single stamps that are
    /// far off show in the sums, and not in those times.
    pub(crate) fn holds(&self, mean: f64) -> bool {
        let [sent, received] = [self.sender, self.receiver]
            .map(|end| signed(end.last.wrapping_sub(end.first)).unsigned_abs() as f64);
        let first = signed(self.receiver.first.wrapping_sub(self.sender.first)) as f64;
        (first - sent - MIXED_UP..=first + received + MIXED_UP).contains(&mean)
    }

    /// Between which delays the mean lies because of when `lost` packets were sent.
    fn by_losses(&self, lost: u64, near: Option<Range>) -> Option<Range> {
        let received = self.receiver.packets as f64;
        let width = lost as f64 * self.span() as f64 / received;
        let near = near.map(|near| Range { lower: near.lower - width, ..near });
        let lower = self.difference(lost, near)? as f64 / received;
        Some(Range { lower, upper: lower + width })
    }

    /// Whether it is open how often the sums have wrapped: near a wrap of times, and with many packets lost in a long interval.
    pub(crate) fn wraps_are_open(&self) -> bool {
        let lost = self.sender.packets.checked_sub(self.receiver.packets);
        self.receiver.packets > 0 && lost.is_some_and(|lost| self.by_losses(lost, self.by_times()).is_none())
    }

    /// The mean delay if lost packets were sent at the mean sending time of all.
    pub fn completed(&self, near: Option<Range>) -> Option<f64> {
        let lost = self.sender.packets.checked_sub(self.receiver.packets)?;
        let Range { lower, upper } = self.by_losses(lost, near)?;
        Some(lower + (upper - lower) * self.mean_time())
    }

    /// Where the mean delay lies by the ends' first and last times and, if no packet was gained, by the sums: enough to know how
    /// often rows' sums have wrapped.
    pub fn near(&self) -> Option<Range> {
        let by_times = self.by_times()?;
        let width = |range: &Range| range.upper - range.lower;
        Some(
            self.bracket(Some(by_times))
                .filter(|range| width(range) + VAGUE < width(&by_times))
                .map_or(by_times, |range| Range { lower: range.lower - VAGUE, upper: range.upper + VAGUE }),
        )
    }

    /// Where the mean delay lies by the ends' first and last times, if both have seen packets.
    pub(crate) fn by_times(&self) -> Option<Range> {
        if self.sender.packets == 0 || self.receiver.packets == 0 {
            return None;
        }
        let [first, last] = [
            signed(self.receiver.first.wrapping_sub(self.sender.first)) as f64,
            signed(self.receiver.last.wrapping_sub(self.sender.last)) as f64,
        ];
        let open = (first - last).abs() + VAGUE;
        Some(Range { lower: first.min(last) - open, upper: first.max(last) + open })
    }

    /// From the first sending time to the last, in nanoseconds.
    fn span(&self) -> u64 {
        self.sender.last.wrapping_sub(self.sender.first) & (WRAP as u64 - 1)
    }

    /// Sum of receiving times less sum of sending times, of which `lost` more packets count with the first one's. Over the packets received it lies
    /// within `near`.
    fn difference(&self, lost: u64, near: Option<Range>) -> Option<i128> {
        let received = self.receiver.packets;
        let times = self.receiver.times.wrapping_sub(self.sender.times);
        let times = i128::from(times.wrapping_add(lost.wrapping_mul(self.sender.first)) as i64);
        let (times, wrap) = if self.times_wrap() {
            // How many packets came before the wrap and how many behind it is not known.
            (times, WRAP)
        } else {
            // All of one end's times may lie before a wrap and all of the other's behind it.
            let apart = i128::from(self.receiver.first) - i128::from(self.sender.first);
            let turns = if apart < -WRAP / 2 { 1 } else { -i128::from(apart >= WRAP / 2) };
            (times + turns * WRAP * i128::from(received), 1 << 64)
        };
        let Some(Range { lower, upper }) = near else { return (wrap != WRAP).then_some(times) };
        let wraps = |delay: f64| (delay * received as f64 - times as f64) / wrap as f64;
        // Of sums that are a wrap apart only one may be meant.
        let is_clear = wraps(upper) - wraps(lower) < 1.0;
        is_clear.then(|| times + wraps(f64::midpoint(lower, upper)).round() as i128 * wrap)
    }

    /// Between which every delay lies, in nanoseconds.
    pub(crate) fn extremes(&self) -> Range {
        let between = |from: u64, to: u64| signed(to.wrapping_sub(from)) as f64;
        Range {
            lower: between(self.sender.last, self.receiver.first) - MIXED_UP,
            upper: between(self.sender.first, self.receiver.last) + MIXED_UP,
        }
    }

    /// Whether times may pass 2^48 ns within the interval. Packets that overtook each other may have done so behind the
    /// first one and in front of the last.
    fn times_wrap(&self) -> bool {
        let is_near = |time: u64| time < NEAR_WRAP || time >= WRAP as u64 - NEAR_WRAP;
        let may_wrap = |end: &EndSums| end.first > end.last || is_near(end.first) || is_near(end.last);
        may_wrap(&self.sender) || may_wrap(&self.receiver)
    }

    /// Where the mean sending time lies between the first and the last, from 0 to 1.
    fn mean_time(&self) -> f64 {
        let EndSums { packets, times, first, .. } = self.sender;
        let sum = times.wrapping_sub(packets.wrapping_mul(first)) as f64;
        let mean = sum / (packets as f64 * self.span() as f64);
        if self.times_wrap() || !mean.is_finite() { 0.5 } else { mean.clamp(0.0, 1.0) }
    }
}
