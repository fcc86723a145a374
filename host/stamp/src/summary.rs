//! What many samples say together.

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

#[cfg(test)]
mod tests {
    use super::*;

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
