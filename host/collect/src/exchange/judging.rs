//! Judging the intervals of an exchange when all are known: only then is it said how far recordings reach, and where
//! packets were found that had been missing.

use crate::evaluation::Evaluation;
use crate::verdict::Void;
use deltaline_estimate::Further;
use std::collections::BTreeMap;

/// What is known at an exchange's end.
pub(super) struct Known {
    /// Nanoseconds of an interval.
    pub length: u64,
    /// From when to when the sender recorded, and the receiver, in nanoseconds since the Unix epoch.
    pub spans: [[u64; 2]; 2],
    /// From when on packets were looked for, in nanoseconds since the Unix epoch.
    pub looked: u64,
    /// Intervals whose packets were where nobody looked for them, and the delay of such a packet that is farthest from none.
    pub far: BTreeMap<u64, i64>,
}

impl Known {
    /// Whether an interval was recorded whole. If packets of it may be where nobody looked for them, it is void from here on.
    pub(super) fn judge(&self, evaluation: &mut Evaluation, number: u64) -> bool {
        if !is_recorded(evaluation, number, self.length, self.spans) {
            return false;
        }
        let [from, until] = self.spans[1];
        let looked = [from.max(self.looked), until];
        let farthest = self.far.values().copied().max_by_key(|delay| delay.unsigned_abs());
        let delay = self.far.get(&number).copied();
        let delay = delay.or(farthest.filter(|delay| !reaches(looked, number, self.length, *delay)));
        if let Some(delay) = delay.filter(|_| evaluation.result.is_ok()) {
            let void = Void::Beyond { delay, length: self.length };
            (evaluation.result, evaluation.further) = (Err(void.into()), vec![]);
        }
        true
    }
}

/// Whether packets of an interval have arrived, or it is void and nobody knows.
pub(super) fn may_have_arrived(evaluation: &Evaluation) -> bool {
    evaluation.result.as_ref().map_or(true, |(estimate, _)| estimate.delivered > 0)
}

/// Why packets of an interval may be where nobody looks for them, if so: sent at its end they are found if they take less than another interval. Of
/// those that take as long as two, none is found: such delays come of wrong stamps.
pub(super) fn beyond(evaluation: &Evaluation, length: u64) -> Option<Void> {
    let singles = evaluation.further.iter().find_map(Further::singles).filter(|_| length > 0)?;
    let found = singles.delays().iter().filter(|delay| delay.unsigned_abs() < length.saturating_mul(2));
    let delay = *found.max_by_key(|delay| delay.unsigned_abs())?;
    (delay.unsigned_abs() > length).then_some(Void::Beyond { delay, length })
}

/// Whether both ends recorded while an interval's packets passed and while its packets of the other end did, as long as
/// delays are those that it shows.
fn is_recorded(evaluation: &Evaluation, number: u64, length: u64, [sender, receiver]: [[u64; 2]; 2]) -> bool {
    let singles = evaluation.further.iter().find_map(Further::singles);
    let delays = singles.iter().flat_map(|singles| singles.delays());
    let sound = delays.copied().filter(|delay| delay.unsigned_abs() <= length).map(i128::from);
    let Some((least, most)) = sound.clone().min().zip(sound.max()) else { return true };
    let begin = i128::from(number) * i128::from(length);
    let end = begin + i128::from(length);
    let holds = |[from, until]: [u64; 2], begin, end| i128::from(from) <= begin && end <= i128::from(until);
    holds(receiver, begin + least, end + most) && holds(sender, begin - most, end - least)
}

/// Whether all packets of an interval that took as long as this, or were as early, arrived in this time.
fn reaches([from, until]: [u64; 2], number: u64, length: u64, delay: i64) -> bool {
    let begin = i128::from(number) * i128::from(length);
    let end = begin + i128::from(length);
    i128::from(from) <= begin + i128::from(delay.min(0))
        && end + i128::from(delay.max(0)) <= i128::from(until)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Intervals of 100, the third from 300 to 400: recorded is enough when the latest and the earliest packets of it are.
    #[test]
    fn a_recording_reaches_as_far_as_the_delay_asks() {
        for (span, delay, expected) in [
            ([300, 400], 0, true),
            ([300, 650], 250, true),
            ([300, 649], 250, false),
            ([301, 650], 250, false),
            ([50, 400], -250, true),
            ([51, 400], -250, false),
            ([50, 399], -250, false),
        ] {
            assert_eq!(reaches(span, 3, 100, delay), expected, "{span:?} {delay}");
        }
        assert!(!reaches([0, u64::MAX], u64::MAX, u64::MAX, i64::MAX));
    }
}
