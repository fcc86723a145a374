//! Rounded times: what coarse clocks add to delays and to their spread.
//!
//! A clock that shows multiples of q leaves a rest e of each time, anywhere within 0..q if packets are not sent in step with it. A measured
//! delay is D = d + e_s - e_r: the true one, with the sender's rest and less the receiver's. Whatever d is, the mean of e_s - e_r is the same, so that d and
//! what the clocks add have no covariance, and
//!
//! ```text
//! var D = var d + var(e_s - e_r),    (q_s - q_r)^2 / 12 <= var(e_s - e_r) <= (q_s + q_r)^2 / 12
//! ```
//!
//! because e_s and e_r have the variances q_s^2/12 and q_r^2/12 and any correlation. In the middle, without correlation, stands
//! (q_s^2 + q_r^2) / 12, Sheppard's correction of both ends. That is right where delays are spread over units; where they are all within one,
//! d alone decides the correlation. So the middle is subtracted from the variance, and the interval reaches from what is left of its lower end at most
//! rounding to what is left of its upper end at least rounding. A variance that is no larger than its correction is refused.
//!
//! Where nothing is spread at all, rounding has not added anything either: the deviation stays 0, and its interval says how much may hide
//! in the units.
//!
//! # The mean
//!
//! The mean of e_s - e_r is (q_s - q_r) / 2 where rests are even: nothing where both ends round alike, and half a microsecond where one records in
//! nanoseconds and the other, as most recorders do, in microseconds. There the mean is moved by it, unless delays are spread less than rests are, and its interval and its bracket reach farther, by q_s
//! below and q_r above: no rest is larger, even if packets are sent in step with the clock. Other units are not believed to be a recorder's: packets
//! that are sent once a millisecond have times that are multiples of one, by the finest clock.
//!
//! # Test plan
//!
//! Means of delays whose times are cut to 1 µs at one end: bracket and interval hold the true one whatever the rests are, and the mean is half way. With units
//! that are alike, or another than a recorder's, nothing changes.
//! Uniform, exponential and lognormal delays between 0.3 and 5 µs, cut to 1 µs at both ends or at one, over many seeds, against the
//! exact deviation before they were cut: the interval holds it in 95 % within chance; from a unit of deviation on the corrected value is
//! off by chance alone; deviations below the unit's correction are refused. Without units nothing changes.

use crate::Range;

/// The unit of most recorders' times, in nanoseconds.
const RECORDERS: f64 = 1000.0;

/// What both ends' times are multiples of, in nanoseconds; 0 and 1 are exact times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rounding {
    /// At the sender.
    pub sender: u64,
    /// At the receiver.
    pub receiver: u64,
}

impl Rounding {
    /// The coarser one of two, at each end.
    pub(crate) fn max(self, other: Rounding) -> Rounding {
        Rounding { sender: self.sender.max(other.sender), receiver: self.receiver.max(other.receiver) }
    }

    /// The ends' units in nanoseconds, 0 of exact times: a true delay is less than the measured one by less than the sender's, or more by less
    /// than the receiver's.
    pub(crate) fn units(self) -> [f64; 2] {
        // A nanosecond is what all times are counted in.
        [self.sender, self.receiver].map(|unit| if unit > 1 { unit as f64 } else { 0.0 })
    }

    /// Whether times are exact.
    pub(crate) fn is_none(self) -> bool {
        self.units() == [0.0; 2]
    }

    /// The variance that it adds if the ends' rests are not correlated.
    fn middle(self) -> f64 {
        let [sender, receiver] = self.units();
        (sender * sender + receiver * receiver) / 12.0
    }

    /// The ends' units where one is a recorder's and the other finer, else 0.
    fn uneven(self) -> [f64; 2] {
        let units = self.units();
        let [sender, receiver] = units;
        if sender.max(receiver) == RECORDERS && sender.min(receiver) < RECORDERS { units } else { [0.0; 2] }
    }

    /// Whether one end's unit is a recorder's microsecond and the other's finer.
    pub fn is_uneven(self) -> bool {
        self.uneven() != [0.0; 2]
    }

    /// By how many nanoseconds measured delays are too short on average.
    pub fn shift(self) -> f64 {
        let [sender, receiver] = self.uneven();
        (receiver - sender) / 2.0
    }

    /// What holds the mean, of what holds the mean of measured delays.
    pub fn around(self, measured: Range) -> Range {
        let [sender, receiver] = self.uneven();
        Range { lower: measured.lower - sender, upper: measured.upper + receiver }
    }

    /// The deviation without it, of one that contains it; none if it is no more than what is taken off.
    pub fn without(self, deviation: f64) -> Option<f64> {
        if self.is_none() || deviation == 0.0 {
            return Some(deviation);
        }
        let (variance, added) = (deviation * deviation, self.middle());
        (variance > 2.0 * added).then(|| (variance - added).sqrt())
    }

    /// The deviation with it again.
    pub(crate) fn with(self, deviation: f64) -> f64 {
        if deviation == 0.0 { 0.0 } else { (deviation * deviation + self.middle()).sqrt() }
    }

    /// The interval of the deviation without it, of one that contains it.
    pub(crate) fn without_range(self, range: Range) -> Range {
        if self.is_none() {
            return range;
        }
        let [sender, receiver] = self.units();
        let (least, most) = ((sender - receiver).powi(2) / 12.0, (sender + receiver).powi(2) / 12.0);
        if range.upper == 0.0 {
            return Range { lower: 0.0, upper: most.sqrt() };
        }
        let off = |end: f64, added: f64| (end * end - added).max(0.0).sqrt();
        Range { lower: off(range.lower, most), upper: off(range.upper, least) }
    }
}
