//! Times of test packets: seconds since 1900 and their fraction, as NTP has them (RFC 5905, section 6), and how wrong they may be.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds from 1900 to 1970.
const TO_UNIX: u64 = 2_208_988_800;
const NANOSECONDS: u64 = 1_000_000_000;
/// Seconds of an era.
const ERA: i64 = 1 << 32;

/// The time now, in nanoseconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// A time in nanoseconds since 1970 as 64 bits: the seconds of its era, and their fraction rounded down.
pub fn to_ntp(nanoseconds: i64) -> u64 {
    let seconds = nanoseconds.div_euclid(NANOSECONDS as i64) as u64;
    let rest = nanoseconds.rem_euclid(NANOSECONDS as i64) as u64;
    // The fraction is below one.
    (seconds.wrapping_add(TO_UNIX) << 32) | ((rest << 32) / NANOSECONDS)
}

/// The time nearest to `near` that these 64 bits stand for, both in nanoseconds since 1970; none beyond the year 2262.
pub fn from_ntp(bits: u64, near: i64) -> Option<i64> {
    let rest = ((bits & u64::from(u32::MAX)) * NANOSECONDS).div_ceil(1 << 32) as i64;
    let seconds = (bits >> 32) as i64 - TO_UNIX as i64;
    let eras = (near.div_euclid(NANOSECONDS as i64) - seconds + ERA / 2).div_euclid(ERA);
    (seconds + eras * ERA).checked_mul(NANOSECONDS as i64)?.checked_add(rest)
}

/// The same of a time as PTP has it: seconds and nanoseconds of its own scale.
pub fn from_ptp(bits: u64) -> i64 {
    (bits >> 32) as i64 * NANOSECONDS as i64 + (bits & u64::from(u32::MAX)) as i64
}

/// What a packet says of its clock (RFC 4656, section 4.1.2, and RFC 8186): whether it is synchronised to UTC, which format its times
/// have, and how wrong they may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorEstimate(pub u16);

impl ErrorEstimate {
    /// Of a clock of which nothing is known: not synchronised, NTP's format, 1 s.
    pub const UNKNOWN: ErrorEstimate = ErrorEstimate(32 << 8 | 1);

    /// The clock is synchronised to UTC.
    pub fn is_synchronised(self) -> bool {
        self.0 & 0x8000 != 0
    }

    /// Its times are PTP's.
    pub fn is_ptp(self) -> bool {
        self.0 & 0x4000 != 0
    }

    /// How wrong a time may be, in nanoseconds: multiplier · 2^(scale - 32) seconds. Zero is said by clocks that break the rule.
    pub fn nanoseconds(self) -> f64 {
        let scale = i32::from(self.0 >> 8 & 0x3f);
        f64::from(self.0 & 0xff) * 2f64.powi(scale - 32) * 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_times() {
        // 1970, half a second behind it, and the last second of 2035's era.
        assert_eq!(to_ntp(0), TO_UNIX << 32);
        assert_eq!(to_ntp(500_000_000), TO_UNIX << 32 | 1 << 31);
        assert_eq!(to_ntp(-1) >> 32, TO_UNIX - 1);
        let end_of_era = (u64::from(u32::MAX) - TO_UNIX) as i64 * 1_000_000_000;
        assert_eq!(to_ntp(end_of_era), u64::from(u32::MAX) << 32);
        assert_eq!(to_ntp(end_of_era + 1_000_000_000), 0);
        assert_eq!(from_ntp(0, end_of_era), Some(end_of_era + 1_000_000_000));
        assert_eq!(from_ntp(u64::MAX, i64::MAX), None);
        assert_eq!(from_ptp(3 << 32 | 7), 3_000_000_007);
    }

    #[test]
    fn errors_by_hand() {
        assert_eq!(ErrorEstimate::UNKNOWN.nanoseconds(), 1e9);
        assert!(!ErrorEstimate::UNKNOWN.is_synchronised() && !ErrorEstimate::UNKNOWN.is_ptp());
        let synchronised = ErrorEstimate(0x8000 | 22 << 8 | 4);
        assert!(synchronised.is_synchronised());
        assert_eq!(synchronised.nanoseconds(), 4.0 * 1e9 / 1024.0);
        assert!(ErrorEstimate(0x4000).is_ptp());
    }

    proptest! {
        #[test]
        fn times_come_back(nanoseconds in 0i64..i64::MAX / 2, apart in -2_000_000_000i64..2_000_000_000) {
            let near = nanoseconds.saturating_add(apart.saturating_mul(1_000_000_000));
            let found = from_ntp(to_ntp(nanoseconds), near);
            prop_assert_eq!(found, Some(nanoseconds));
        }
    }
}
