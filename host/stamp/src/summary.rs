//! What many samples say together.

use crate::sender::Sample;

/// Delays, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delays {
    /// The least one.
    pub least: i64,
    /// Their mean.
    pub mean: f64,
    /// What half of them do not exceed.
    pub p50: i64,
    /// What nine tenths of them do not exceed.
    pub p90: i64,
    /// What all but a hundredth do not exceed.
    pub p99: i64,
    /// The greatest one.
    pub greatest: i64,
    /// The 99th percentile less the least one: delay variation (RFC 3393, RFC 5481), which no offset of a clock changes.
    pub variation: i64,
}

impl Delays {
    /// Of all of these; none without any.
    pub fn of(delays: impl IntoIterator<Item = i64>) -> Option<Self> {
        let mut sorted: Vec<i64> = delays.into_iter().collect();
        sorted.sort_unstable();
        let (least, greatest) = (*sorted.first()?, *sorted.last()?);
        let sum: i128 = sorted.iter().map(|delay| i128::from(*delay)).sum();
        // The least one that so many of a hundred do not exceed.
        let percentile = |share: usize| sorted[(sorted.len() * share).div_ceil(100) - 1];
        let [p50, p90, p99] = [50, 90, 99].map(percentile);
        let (mean, variation) = (sum as f64 / sorted.len() as f64, p99.saturating_sub(least));
        Some(Delays { least, mean, p50, p90, p99, greatest, variation })
    }
}

/// By how much at least the offset between both ends' clocks changed from one of these samples to another, in nanoseconds. An offset constant
/// and unknown makes one way longer and the other one shorter, but neither takes less than nothing: so it lies between the negative delay
/// back and the delay there, of every sample.
pub fn offset_change(samples: &[Sample]) -> Option<i64> {
    let bounds = || samples.iter().filter_map(|sample| sample.one_way);
    let least = bounds().map(|[_, back]| back.saturating_neg()).max()?;
    let greatest = bounds().map(|[there, _]| there).min()?;
    Some(least.saturating_sub(greatest)).filter(|change| *change > ROUNDING)
}

/// What rounding of both ends' times to 2^-32 s and to nanoseconds may add, in nanoseconds.
const ROUNDING: i64 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_constant_offset_is_called_a_change() {
        let sample = |there: i64, back: i64| Sample {
            number: 0,
            round_trip: there + back,
            dwell: 0,
            one_way: Some([there, back]),
            ttl: 64,
        };
        let without = Sample { one_way: None, ..sample(0, 0) };
        assert_eq!(offset_change(&[without]), None);
        for offset in [0, 5_000, -3_000_000_000, 1 << 62] {
            let delays = (0..100).map(|number: i64| [number * 7919 % 1000, number * 104_729 % 1000]);
            let samples: Vec<Sample> =
                delays.map(|[there, back]| sample(there + offset, back - offset)).collect();
            assert_eq!(offset_change(&samples), None, "{offset}");
            // Set by 3,000 ns: a round trip takes some 2,000 of these, at most.
            let mut set = samples.clone();
            set[50..].iter_mut().for_each(|each| {
                *each = sample(each.one_way.unwrap()[0] + 3000, each.one_way.unwrap()[1] - 3000)
            });
            let change = offset_change(&set).unwrap();
            assert!((1000..=3000).contains(&change), "{offset} {change}");
        }
    }

    #[test]
    fn by_hand() {
        assert_eq!(Delays::of([]), None);
        let one = Delays { least: 7, mean: 7.0, p50: 7, p90: 7, p99: 7, greatest: 7, variation: 0 };
        assert_eq!(Delays::of([7]), Some(one));
        let hundred = Delays::of((1..=100).rev()).unwrap();
        let expected =
            Delays { least: 1, mean: 50.5, p50: 50, p90: 90, p99: 99, greatest: 100, variation: 98 };
        assert_eq!(hundred, expected);
        assert_eq!(Delays::of([i64::MIN, i64::MAX]).unwrap().variation, i64::MAX);
    }
}
