//! Values on the command line that several commands take.

use deltaline_collect::verdict::LONGEST_INTERVAL;
use thiserror::Error;

#[derive(Debug, Error)]
#[error("give a number and a unit of ns, us, ms, s, m (minutes) or h, such as 500ms, from 1ns to 584 years")]
pub(crate) struct NotADuration;

/// A duration in whole nanoseconds, at least 1.
pub(crate) fn duration(text: &str) -> Result<u64, NotADuration> {
    const UNITS: [(&str, f64); 8] = [
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("ms", 1e6),
        ("min", 60e9),
        ("m", 60e9),
        ("s", 1e9),
        ("h", 3600e9),
    ];
    let unit = UNITS.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, scale)));
    let (number, scale) = unit.ok_or(NotADuration)?;
    let number = number.trim_end();
    // Neither a sign nor an exponent nor "inf".
    if !number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(NotADuration);
    }
    let nanoseconds = (number.parse::<f64>().map_err(|_| NotADuration)? * scale).round();
    if (1.0..u64::MAX as f64).contains(&nanoseconds) { Ok(nanoseconds as u64) } else { Err(NotADuration) }
}

/// The length of an interval in whole nanoseconds: a duration that packets' times can tell.
pub(crate) fn interval(text: &str) -> Result<u64, String> {
    match duration(text) {
        Ok(length) if length < LONGEST_INTERVAL => Ok(length),
        Ok(_) => {
            Err("packets' times are known modulo 2^48 ns (78 h): give an interval of at most 39h".into())
        }
        Err(_) => {
            Err("give a number and a unit of ns, us, ms, s, m (minutes) or h, such as 500ms, of at most 39h"
                .into())
        }
    }
}

/// A moment as RFC 3339 has it, in UTC, in nanoseconds since 1970.
pub(crate) fn moment(text: &str) -> Result<i64, &'static str> {
    let moment = humantime::parse_rfc3339_weak(text).ok();
    let since = moment.and_then(|moment| moment.duration_since(std::time::SystemTime::UNIX_EPOCH).ok());
    let nanoseconds = since.and_then(|since| i64::try_from(since.as_nanos()).ok());
    nanoseconds.ok_or("give a time in UTC such as 2026-01-23T07:00:00Z, from 1970 to 2262")
}

/// A number with a factor of a thousand, a million or a thousand millions behind it, above 0.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    let units = [("k", 1e3), ("M", 1e6), ("G", 1e9)];
    let unit = units.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale)));
    let (number, scale) = unit.unwrap_or((text, 1.0));
    match number.trim_end().parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number * scale),
        _ => Err("give a number above 0, such as 300000, 300k or 1.5M".into()),
    }
}

/// A share: a number, or one in per cent.
pub(crate) fn share(text: &str) -> Option<f64> {
    let (number, scale) = text.strip_suffix('%').map_or((text, 1.0), |number| (number.trim_end(), 100.0));
    number.trim().parse::<f64>().ok().map(|number| number / scale).filter(|share| share.is_finite())
}

/// A number that is at least `LEAST`.
pub(crate) fn count<const LEAST: usize>(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number >= LEAST => Ok(number),
        _ => Err(format!("give a whole number of at least {LEAST}")),
    }
}

/// A whole number from `LEAST` to `MOST`.
pub(crate) fn count_within<const LEAST: usize, const MOST: usize>(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if (LEAST..=MOST).contains(&number) => Ok(number),
        _ => Err(format!("give a whole number from {LEAST} to {MOST}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, nanoseconds) in [
            ("500ms", 500_000_000),
            ("0.5s", 500_000_000),
            (".5 s", 500_000_000),
            ("1h", 3_600_000_000_000),
            ("250us", 250_000),
            ("250µs", 250_000),
            ("1ns", 1),
            ("2min", 120_000_000_000),
            ("1m", 60_000_000_000),
        ] {
            assert_eq!(duration(text).unwrap(), nanoseconds, "{text}");
        }
        for text in
            ["", "5", "ms", "-1s", "0s", "0.1ns", "1e3s", "infs", "NaNs", "1d", "1..2s", "99999999999min"]
        {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn intervals_are_shorter_than_times_wrap() {
        assert_eq!(interval("39h"), Ok(39 * 3_600_000_000_000));
        for text in ["40h", "5", "0s", "99999999h"] {
            assert!(interval(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates() {
        assert_eq!(rate("300k"), Ok(3e5));
        assert_eq!(rate("14.88M"), Ok(14.88e6));
        for text in ["", "0", "-1", "k", "1T", "inf", "nan"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }
}
