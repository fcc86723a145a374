//! Numbers and times for people.

use std::time::{Duration, SystemTime};

/// A duration in a unit that suits it.
///
/// ```
/// assert_eq!(deltaline_collect::text::duration(12_301_070.6), "12.301 ms");
/// ```
pub fn duration(nanoseconds: f64) -> String {
    let (scale, unit) = unit(nanoseconds);
    format!("{:.3} {unit}", nanoseconds / scale)
}

/// The unit that suits a duration: its length in nanoseconds, and its name.
pub fn unit(nanoseconds: f64) -> (f64, &'static str) {
    // The limits are those from which on three decimals would round up to the next unit.
    match nanoseconds.abs() {
        small if small < 999.9995 => (1.0, "ns"),
        small if small < 999_999.5 => (1e3, "µs"),
        small if small < 999_999_500.0 => (1e6, "ms"),
        _ => (1e9, "s"),
    }
}

/// A moment in nanoseconds since the Unix epoch as RFC 3339 writes it, in UTC.
///
/// ```
/// assert_eq!(deltaline_collect::text::utc(1_700_000_000_000_000_001), "2023-11-14T22:13:20.000000001Z");
/// ```
pub fn utc(nanoseconds: u64) -> String {
    let moment = SystemTime::UNIX_EPOCH + Duration::from_nanos(nanoseconds);
    humantime::format_rfc3339_nanos(moment).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_times_are_readable() {
        assert_eq!(utc(0), "1970-01-01T00:00:00.000000000Z");
        assert_eq!(utc(1_709_164_800_500_000_000), "2024-02-29T00:00:00.500000000Z");
        assert_eq!(utc(u64::MAX), "2554-07-21T23:34:33.709551615Z");
    }

    #[test]
    fn durations_are_readable() {
        for (nanoseconds, text) in [
            (0.0, "0.000 ns"),
            (519.0, "519.000 ns"),
            (-999.9996, "-1.000 µs"),
            (12_301_070.6, "12.301 ms"),
            (999_999.6, "1.000 ms"),
            (-1.5e9, "-1.500 s"),
            (5.4e11, "540.000 s"),
        ] {
            assert_eq!(duration(nanoseconds), text);
        }
    }
}
