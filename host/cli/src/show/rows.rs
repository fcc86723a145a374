//! What tables have a row for: an interval, or a run of intervals without packets.
//!
//! # Test plan
//!
//! Runs at either end and in between, of one and of several intervals; void intervals and gaps in the numbers end one.

use deltaline_collect::summary::IntervalFigures;
use deltaline_estimate::quantity::{Number, RECEIVED, SENT};

/// One interval, or several next to each other in which no packet passed either end.
pub(super) struct Run<'a> {
    pub(super) first: &'a IntervalFigures,
    last: u32,
}

impl Run<'_> {
    /// The number or numbers.
    pub(super) fn name(&self) -> String {
        match self.first.number == self.last {
            true => self.last.to_string(),
            false => format!("{} to {}", self.first.number, self.last),
        }
    }
}

/// The rows of a segment's intervals.
pub(super) fn runs(intervals: &[IntervalFigures]) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = vec![];
    for interval in intervals {
        match runs.last_mut() {
            Some(run)
                if is_empty(run.first)
                    && is_empty(interval)
                    && run.last.checked_add(1) == Some(interval.number) =>
            {
                run.last = interval.number;
            }
            _ => runs.push(Run { first: interval, last: interval.number }),
        }
    }
    runs
}

fn is_empty(interval: &IntervalFigures) -> bool {
    let none = |name| interval.figures.find(name).is_some_and(|each| each.value == Ok(Number::Count(0)));
    interval.figures.void.is_none() && none(SENT.name) && none(RECEIVED.name)
}

#[cfg(test)]
mod tests {
    use super::super::tests::blank;
    use super::*;
    use deltaline_collect::summary::Figures;
    use deltaline_estimate::Reason;
    use deltaline_estimate::quantity::{of_nothing, of_totals};

    #[test]
    fn intervals_without_packets_share_a_row() {
        let interval = |(number, packets): (u32, Option<u64>)| {
            let quantities = match packets {
                Some(packets) => of_totals(packets, packets, Reason::NoUsableRow),
                None => of_nothing(Reason::Void),
            };
            blank(number, Figures { answers: vec![quantities], ..Figures::default() })
        };
        let packets = [Some(0), Some(0), Some(1), Some(0), Some(2), None, None, Some(0), Some(0), Some(0)];
        let mut intervals: Vec<IntervalFigures> = (4..).zip(packets).map(interval).collect();
        intervals.push(interval((15, Some(0))));
        let names: Vec<String> = runs(&intervals).iter().map(Run::name).collect();
        assert_eq!(names, ["4 to 5", "6", "7", "8", "9", "10", "11 to 13", "15"]);
    }
}
