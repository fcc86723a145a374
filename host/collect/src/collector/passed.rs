//! How far a segment has come: what a later reading goes on from, so that earlier frames do not pass for new ones.

use super::segment::is_ahead;
use crate::pair::Interval;
use crate::report::Report;
use deltaline_model::time::AbsoluteTime;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// How far a segment has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The number of its last interval.
    pub last: u32,
    /// How far its sender and its receiver have come, as far as they have reported.
    pub ends: [Option<End>; 2],
}

/// How far an end has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Its latest start.
    pub boot_epoch: u32,
    /// The highest number of an interval of that start.
    pub number: u32,
    /// The latest time of an interval of that start, if any had one.
    pub time: Option<AbsoluteTime>,
}

impl Passed {
    /// As far as this interval.
    pub fn of(interval: &Interval) -> Self {
        let Interval { number, sender, receiver, .. } = interval;
        let end = |report: &Report| End { boot_epoch: report.boot_epoch, number: *number, time: report.time };
        Passed { last: *number, ends: [sender, receiver].map(|report| report.as_ref().map(end)) }
    }

    /// Goes on to what came behind it.
    pub fn follow(&mut self, later: &Passed) {
        self.last = later.last;
        for (end, later) in self.ends.iter_mut().zip(later.ends) {
            *end = match (*end, later) {
                (Some(end), Some(later)) => Some(end.and(later)),
                (end, later) => later.or(end),
            };
        }
    }
}

impl End {
    fn and(self, later: End) -> End {
        if self.boot_epoch != later.boot_epoch {
            return if self.boot_epoch > later.boot_epoch { self } else { later };
        }
        let number = if is_ahead(later.number, self.number) { later.number } else { self.number };
        let is_back = |time: AbsoluteTime| {
            later.time.is_some_and(|later| later.base == time.base && later.seconds < time.seconds)
        };
        let time = self.time.filter(|time| later.time.is_none() || is_back(*time)).or(later.time);
        End { number, time, ..self }
    }
}

/// The last number, then of the sender and of the receiver its start, its highest number and its time's word, or `-`: `7 2:7:0 -`.
impl Display for Passed {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "{}", self.last)?;
        self.ends.iter().try_for_each(|end| match end {
            Some(End { boot_epoch, number, time }) => {
                write!(f, " {boot_epoch}:{number}:{}", time.map_or(0, AbsoluteTime::to_word))
            }
            None => write!(f, " -"),
        })
    }
}

impl FromStr for Passed {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let end = |text: &str| {
            if text == "-" {
                return Some(None);
            }
            let (boot_epoch, rest) = text.split_once(':')?;
            let (number, time) = rest.split_once(':')?;
            let time = AbsoluteTime::from_word(time.parse().ok()?);
            Some(Some(End { boot_epoch: boot_epoch.parse().ok()?, number: number.parse().ok()?, time }))
        };
        let parts: Vec<&str> = text.split(' ').collect();
        let [last, sender, receiver] = parts[..] else { return Err(()) };
        let ends = end(sender).zip(end(receiver)).ok_or(())?;
        Ok(Passed { last: last.parse().map_err(|_| ())?, ends: ends.into() })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn later_starts_numbers_and_times_count_and_it_can_be_written_down() {
        let time = |seconds: u64| AbsoluteTime::from_word((2 << 56) + seconds);
        let end = |boot_epoch, number, seconds| Some(End { boot_epoch, number, time: time(seconds) });
        let mut passed = Passed { last: 7, ends: [end(2, 7, 50), None] };
        // An older start at one end; a number that comes again behind a wrap, with a later time, at the other.
        passed.follow(&Passed { last: 8, ends: [end(1, 8, 60), end(3, u32::MAX, 60)] });
        assert_eq!(passed, Passed { last: 8, ends: [end(2, 7, 50), end(3, u32::MAX, 60)] });
        passed.follow(&Passed { last: 2, ends: [end(2, 2, 70), end(3, 2, 55)] });
        assert_eq!(passed, Passed { last: 2, ends: [end(2, 7, 70), end(3, 2, 60)] });
        passed.follow(&Passed { last: 3, ends: [end(4, 3, 10), None] });
        let text = passed.to_string();
        assert_eq!(text, format!("3 4:3:{} 3:2:{}", (2u64 << 56) + 10, (2u64 << 56) + 60));
        assert_eq!(text.parse(), Ok(passed));
        let other = Passed { last: 0, ends: [None, Some(End { boot_epoch: 0, number: 0, time: None })] };
        assert_eq!(other.to_string(), "0 - 0:0:0");
        assert_eq!(other.to_string().parse(), Ok(other));
        for wrong in ["", "1", "1 - - -", "1 1:1 -", "x - -", "1 1:1:1:1 -", "4294967296 - -"] {
            assert_eq!(wrong.parse::<Passed>(), Err(()), "{wrong}");
        }
    }
}
