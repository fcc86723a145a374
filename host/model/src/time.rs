//! Timestamps: PTP relative-64 and time-of-day-96, as open Ethernet MACs deliver them.
//!
//! Everything computes with relative-64:
//!
//! | bits  | meaning |
//! |-------|---------|
//! | 63:16 | nanoseconds, modulo 2^48 (wraps every 3.26 days) |
//! | 15:0  | fraction of a nanosecond, in units of 2^-16 ns |
//!
//! Time-of-day-96 is converted to it where it enters:
//!
//! | bits  | meaning |
//! |-------|---------|
//! | 95:48 | seconds |
//! | 47:46 | zero |
//! | 45:16 | nanoseconds, 0..=999,999,999 |
//! | 15:0  | fraction of a nanosecond, in units of 2^-16 ns |
//!
//! # Test plan
//!
//! A date of today, by hand; both sides of the wrap; random moments against multiplication in 128 bits.

/// A moment in PTP relative-64 format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The moment `nanoseconds` after the clock's epoch; bits above 2^48 ns are dropped, the fraction is zero.
    #[inline]
    pub fn from_nanoseconds(nanoseconds: u64) -> Self {
        Timestamp(nanoseconds << 16)
    }

    /// Whole nanoseconds since the clock's epoch, modulo 2^48.
    #[inline]
    pub fn nanoseconds(self) -> u64 {
        self.0 >> 16
    }

    /// Nanoseconds from `earlier`, rounded down; negative if it is later. From -2^47 to 2^47, modulo 2^48.
    #[inline]
    pub fn nanoseconds_since(self, earlier: Timestamp) -> i64 {
        (self.0.wrapping_sub(earlier.0) as i64) >> 16
    }
}

/// A moment in PTP time-of-day-96 format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TimeOfDay(pub u128);

impl TimeOfDay {
    /// The moment `nanoseconds` (0..=999,999,999) after second `seconds` (below 2^48) of the clock's epoch, and
    /// `fraction` times 2^-16 ns.
    pub fn new(seconds: u64, nanoseconds: u32, fraction: u16) -> Self {
        TimeOfDay(u128::from(seconds) << 48 | u128::from(nanoseconds) << 16 | u128::from(fraction))
    }

    /// Whole seconds since the clock's epoch.
    pub fn seconds(self) -> u64 {
        (self.0 >> 48) as u64
    }

    /// Nanoseconds within the second.
    pub fn nanoseconds(self) -> u32 {
        (self.0 >> 16) as u32 & 0x3fff_ffff
    }

    /// Fraction of the nanosecond, in units of 2^-16 ns.
    pub fn fraction(self) -> u16 {
        self.0 as u16
    }
}

/// The same moment in relative-64 format: (seconds x 10^9 + nanoseconds) modulo 2^48, and the fraction.
impl From<TimeOfDay> for Timestamp {
    fn from(time: TimeOfDay) -> Self {
        // Modulo 2^64 and then shifted left by 16 bits is modulo 2^48 of what is shifted.
        let nanoseconds = time.seconds().wrapping_mul(1_000_000_000).wrapping_add(time.nanoseconds().into());
        Timestamp(nanoseconds << 16 | u64::from(time.fraction()))
    }
}

/// What an absolute time counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeBase {
    /// International Atomic Time, as PTP counts: seconds since 1 January 1970, leap seconds included.
    Tai = 1,
    /// Unix time: seconds since 1 January 1970, leap seconds left out.
    Unix = 2,
}

/// A moment in whole seconds, which never wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AbsoluteTime {
    /// What it counts from.
    pub base: TimeBase,
    /// Whole seconds, below 2^48.
    pub seconds: u64,
}

impl AbsoluteTime {
    /// As a control frame carries it: the base in the first byte, the seconds in the last six.
    pub fn to_word(self) -> u64 {
        (self.base as u64) << 56 | self.seconds & SECONDS_MASK
    }

    /// From a control frame's word; none if it says none, or a base of a later release. Bits 55:48 are ignored.
    pub fn from_word(word: u64) -> Option<Self> {
        let base = match word >> 56 {
            1 => TimeBase::Tai,
            2 => TimeBase::Unix,
            _ => return None,
        };
        Some(AbsoluteTime { base, seconds: word & SECONDS_MASK })
    }
}

const SECONDS_MASK: u64 = (1 << 48) - 1;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A PTP clock's reading of 1 January 2026, 37 leap seconds included: 1,767,225,637 s, and the nanoseconds modulo
    /// 2^48 by Python's integers.
    #[test]
    fn a_date_of_today() {
        let time = TimeOfDay(0x0000_6955_b925_0000_0001_8000);
        assert_eq!((time.seconds(), time.nanoseconds(), time.fraction()), (1_767_225_637, 1, 0x8000));
        assert_eq!(Timestamp::from(time), Timestamp(0x725a_8b59_3201_8000));
    }

    #[test]
    fn differences_reach_over_the_wrap() {
        let [late, early] = [5, (1 << 48) - 7].map(Timestamp::from_nanoseconds);
        assert_eq!((late.nanoseconds_since(early), early.nanoseconds_since(late)), (12, -12));
        assert_eq!(Timestamp(1 << 63).nanoseconds_since(Timestamp(0)), -1 << 47);
        assert_eq!(Timestamp(0).nanoseconds_since(Timestamp(1)), -1);
    }

    #[test]
    fn the_relative_clock_wraps_after_three_days() {
        // 2^48 ns = 281,474 s and 976,710,656 ns.
        for (seconds, nanoseconds, relative) in [
            (0, 0, 0),
            (0, 999_999_999, 999_999_999),
            (1, 0, 1_000_000_000),
            (281_474, 976_710_655, (1 << 48) - 1),
            (281_474, 976_710_656, 0),
            (281_475, 0, 23_289_344),
        ] {
            let time = TimeOfDay::new(seconds, nanoseconds, 0xabcd);
            assert_eq!(
                Timestamp::from(time),
                Timestamp(relative << 16 | 0xabcd),
                "{seconds} s {nanoseconds} ns"
            );
        }
    }

    #[test]
    fn reserved_bits_do_not_count() {
        let time = TimeOfDay::new(5, 7, 9);
        assert_eq!(Timestamp::from(TimeOfDay(time.0 | 3 << 46)), Timestamp::from(time));
    }

    proptest! {
        #[test]
        fn conversion_is_multiplication_in_long_arithmetic(
            seconds in 0u64..1 << 48, nanoseconds in 0u32..1_000_000_000, fraction: u16,
        ) {
            let truth = (u128::from(seconds) * 1_000_000_000 + u128::from(nanoseconds)) % (1 << 48);
            let converted = Timestamp::from(TimeOfDay::new(seconds, nanoseconds, fraction));
            prop_assert_eq!(u128::from(converted.nanoseconds()), truth);
            prop_assert_eq!(converted.0 as u16, fraction);
        }
    }
}
