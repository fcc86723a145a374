//! Continuity: of which intervals nothing was recorded, by the numbers of those around them.
//!
//! Intervals are looked at in the order of their times, those just outside of the time that is asked for too: what is missing across its edges is missing in it. A
//! number that comes late fills its gap; one that comes [`HELD`] later is named, as it counts in the time when it came. Numbers start over when points start again:
//! then those in front of the first one are not known to be missing.
//!
//! # Test plan
//!
//! Numbers with some held back, in order, shuffled within a hundred, and with the first ones late; the gap across either edge, over the whole time, and outside
//! of it; numbers that start over, at nought and where others were missing, and around 2^32; a number that comes again alone; some that come an hour late, in the
//! time that is asked for and behind it; a recorder's clock that is set back, within a recording and between two; more gaps than are kept.

use crate::stretch::Stretch;
use crate::table::Row;
use deltaline_collect::summary::Missing;
use std::collections::BTreeMap;
use std::ops::Range;

/// A number lower by more than so many does not come late: numbers have started over.
const LATE: u32 = 1000;
/// A first number lower by no more than so many, and those in between, come late; farther ones were before what was looked at.
const SHUFFLED: u32 = 100;
/// Microseconds from which on an interval that comes behind others was held back.
const HELD: i64 = 600_000_000;
/// Gaps that later numbers may fill.
const MOST_GAPS: usize = 4096;

/// Where an interval lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In front of the time that is asked for.
    Before,
    /// In it.
    Inside,
    /// Behind it.
    Behind,
}

impl Place {
    /// Of the moments from one to another, together.
    pub(crate) fn of([from, to]: [i64; 2], asked: Option<&Range<i64>>) -> Self {
        match asked {
            Some(asked) if to < asked.start => Place::Before,
            Some(asked) if from >= asked.end => Place::Behind,
            _ => Place::Inside,
        }
    }
}

/// An interval's segment and number, and when it was reported in microseconds since the Unix epoch; in order of segment and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reported {
    pub(crate) segment: u32,
    pub(crate) reported: i64,
    pub(crate) interval: u32,
}

impl From<&Row> for Reported {
    fn from(row: &Row) -> Self {
        Reported { segment: row.segment, reported: row.reported, interval: row.interval }
    }
}

/// What is known of all runs and segments.
#[derive(Debug)]
pub(crate) struct Continuity {
    asked: Option<Range<i64>>,
    known: BTreeMap<(String, u32), Numbers>,
}

impl Continuity {
    /// Where this time is asked for, or any.
    pub(crate) fn of(asked: Option<Range<i64>>) -> Self {
        Continuity { asked, known: BTreeMap::new() }
    }

    /// Takes the next ones of a run, of each segment in order of time.
    pub(crate) fn take(&mut self, run: &str, intervals: impl IntoIterator<Item = Reported>) {
        let intervals: Vec<Reported> = intervals.into_iter().collect();
        for of_segment in intervals.chunk_by(|one, next| one.segment == next.segment) {
            let Some(Reported { segment, .. }) = of_segment.first() else { continue };
            let numbers = self.known.entry((run.into(), *segment)).or_default();
            for Reported { reported, interval, .. } in of_segment {
                numbers.take(*interval, *reported, Place::of([*reported; 2], self.asked.as_ref()));
            }
        }
    }

    /// Takes the next ones of a run that are stretches of the time that is asked for, whose numbers are above all before.
    pub(crate) fn take_stretches(&mut self, run: &str, stretches: &[Stretch]) {
        for [first, last] in stretches.iter().map(Stretch::ends) {
            let numbers = self.known.entry((run.into(), first.segment)).or_default();
            numbers.take(first.interval, first.reported, Place::Inside);
            numbers.go_on_to(last.interval, last.reported);
        }
    }

    /// What is missing of each run and segment, and what came late.
    pub(crate) fn finish(self) -> [BTreeMap<(String, u32), Missing>; 2] {
        let mut all = [BTreeMap::new(), BTreeMap::new()];
        for (key, numbers) in self.known {
            for (of_all, found) in all.iter_mut().zip(numbers.finish()) {
                found.map(|found| of_all.insert(key.clone(), found));
            }
        }
        all
    }
}

/// Numbers that have not come, from one to another.
#[derive(Clone, Copy, Debug)]
struct Gap {
    from: u32,
    to: u32,
    /// When the one behind them came, in microseconds since the Unix epoch.
    noted: i64,
    /// Whether they are known to be missing: not where only a part of what came before was looked at.
    is_known: bool,
}

/// The numbers of a segment.
#[derive(Debug, Default)]
struct Numbers {
    /// The first and the last since they started over, and where that one lies.
    seen: Option<[u32; 2]>,
    place: Option<Place>,
    /// When the last one was reported.
    latest: i64,
    /// Where the first one lies, and when it was reported.
    begins: Option<(Place, i64)>,
    /// The first one before numbers started over, and when it was reported.
    earlier: Option<(u32, i64)>,
    /// What may still be filled, in the order in which it was found.
    gaps: Vec<Gap>,
    /// One that came again.
    again: Option<u32>,
    /// What is known to be missing, and what came late.
    missing: Option<Missing>,
    late: Option<Missing>,
}

impl Numbers {
    fn take(&mut self, number: u32, reported: i64, place: Place) {
        let Some([first, last]) = self.seen else {
            (self.seen, self.place, self.begins) = (Some([number; 2]), Some(place), Some((place, reported)));
            self.latest = reported;
            return;
        };
        let again = self.again.take();
        let ahead = number.wrapping_sub(last);
        if ahead > 0 && ahead < 1 << 31 {
            self.note([last.wrapping_add(1), number.wrapping_sub(1)], reported, place, true);
            // A recording that follows another one is dated before it.
            self.note_late(
                first,
                last.wrapping_sub(first).wrapping_add(1),
                self.latest.saturating_sub(reported),
            );
            self.latest = reported;
            if let Some((_, then)) = self.earlier.filter(|(behind, _)| number.wrapping_add(1) == *behind) {
                // What was taken for another start leads up to what came before it.
                self.note_late(
                    first,
                    number.wrapping_sub(first).wrapping_add(1),
                    reported.saturating_sub(then),
                );
                self.earlier = None;
            }
            (self.seen, self.place) = (Some([first, number]), Some(place));
        } else if !self.fill(number, reported) {
            let in_front = first.wrapping_sub(number);
            let is_late = in_front > 0 && in_front <= LATE;
            match again {
                // Two that came already follow each other.
                Some(again) if number.wrapping_sub(again).wrapping_sub(1) < LATE => {
                    (self.seen, self.place, self.latest) = (Some([again, number]), Some(place), reported);
                    self.note([again.wrapping_add(1), number.wrapping_sub(1)], reported, place, true);
                }
                _ if is_late => {
                    let (begins, then) = self.begins.unwrap_or((place, reported));
                    let is_known = begins != Place::Before && in_front <= SHUFFLED;
                    self.note([number.wrapping_add(1), first.wrapping_sub(1)], then, place, is_known);
                    self.note_late(number, 1, reported.saturating_sub(then));
                    self.seen = Some([number, last]);
                }
                _ if last.wrapping_sub(number) <= last.wrapping_sub(first) => self.again = Some(number),
                _ => {
                    let (_, then) = self.begins.unwrap_or((place, reported));
                    self.earlier = Some((first, then));
                    self.latest = reported;
                    (self.seen, self.place, self.begins) =
                        (Some([number; 2]), Some(place), Some((place, reported)));
                }
            }
        }
    }

    /// All from the last one up to a number came, in their order.
    fn go_on_to(&mut self, number: u32, reported: i64) {
        self.seen = self.seen.map(|[first, _]| [first, number]);
        self.latest = reported;
    }

    /// Notes that those from one number to another have not come, if there are any, unless they lie outside of the time that is asked for.
    fn note(&mut self, [from, to]: [u32; 2], noted: i64, place: Place, is_known: bool) {
        let is_outside = place != Place::Inside && self.place == Some(place);
        let many = to.wrapping_sub(from).wrapping_add(1);
        if many == 0 || many >= 1 << 31 || is_outside {
            return;
        }
        if self.gaps.len() == MOST_GAPS {
            let oldest = self.gaps.remove(0);
            self.settle(oldest);
        }
        self.gaps.push(Gap { from, to, noted, is_known });
    }

    /// Takes a number out of the gap that it is in, if it is in one.
    fn fill(&mut self, number: u32, reported: i64) -> bool {
        let holds = |gap: &Gap| number.wrapping_sub(gap.from) <= gap.to.wrapping_sub(gap.from);
        let Some(at) = self.gaps.iter().rposition(holds) else { return false };
        let gap = self.gaps[at];
        let before = (number != gap.from).then(|| Gap { to: number.wrapping_sub(1), ..gap });
        let behind = (number != gap.to).then(|| Gap { from: number.wrapping_add(1), ..gap });
        self.gaps.splice(at..=at, before.into_iter().chain(behind));
        self.note_late(number, 1, reported.saturating_sub(gap.noted));
        true
    }

    /// So many intervals from this number on came so many microseconds behind those that follow them.
    fn note_late(&mut self, first: u32, intervals: u32, by: i64) {
        if by >= HELD {
            let late = Missing { intervals: intervals.into(), first };
            self.late = Some(self.late.map_or(late, |known| known.and(late)));
        }
    }

    fn settle(&mut self, gap: Gap) {
        if gap.is_known {
            let missing =
                Missing { intervals: u64::from(gap.to.wrapping_sub(gap.from)) + 1, first: gap.from };
            self.missing = Some(self.missing.map_or(missing, |known| known.and(missing)));
        }
    }

    fn finish(mut self) -> [Option<Missing>; 2] {
        std::mem::take(&mut self.gaps).into_iter().for_each(|gap| self.settle(gap));
        [self.missing, self.late]
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use proptest::prelude::*;

    /// What is missing of these numbers, of which each comes a second behind the one before it, and of which those from second to second are asked for.
    fn missing(numbers: &[u32], asked: Option<Range<i64>>) -> Option<(u64, u32)> {
        let mut continuity = Continuity::of(asked);
        let intervals = numbers.iter().zip(0..);
        continuity.take(
            "north",
            intervals.map(|(interval, reported)| Reported { segment: 1, reported, interval: *interval }),
        );
        let [mut missing, _] = continuity.finish();
        let found = missing.pop_first()?.1;
        Some((found.intervals, found.first))
    }

    fn without(numbers: Range<u32>, lacking: Range<u32>) -> Vec<u32> {
        numbers.filter(|number| !lacking.contains(number)).collect()
    }

    #[test]
    fn numbers_that_lack_are_counted_inside_and_across_the_edges() {
        let numbers = without(0..60, 30..36);
        // 29 is of second 29, and 36 of second 30.
        for (asked, expected) in [
            (None, Some((6, 30))),
            (Some(0..100), Some((6, 30))),
            (Some(0..30), Some((6, 30))),
            (Some(30..60), Some((6, 30))),
            (Some(29..30), Some((6, 30))),
            (Some(0..29), None),
            (Some(31..60), None),
        ] {
            assert_eq!(missing(&numbers, asked.clone()), expected, "{asked:?}");
        }
        // All of the time that is asked for.
        let mut continuity = Continuity::of(Some(10..20));
        let at = |(interval, reported)| Reported { segment: 1, reported, interval };
        continuity.take("north", [(9, 9), (20, 20)].map(at));
        let [mut missing, _] = continuity.finish();
        assert_eq!(missing.pop_first().unwrap().1, Missing { intervals: 10, first: 10 });
    }

    #[test]
    fn numbers_start_over() {
        let over = [without(0..50, 0..0), without(0..60, 40..45)].concat();
        assert_eq!(missing(&over, None), Some((5, 40)));
        let far = [without(5000..5050, 0..0), without(0..60, 0..2)].concat();
        assert_eq!(missing(&far, None), None);
        // Where others were missing, too.
        let gap = [without(0..50, 10..20), without(0..60, 0..0)].concat();
        assert_eq!(missing(&gap, None).unwrap().1, 10);
        // One that comes again alone starts nothing.
        let again = [without(0..50, 0..0), vec![7], without(50..60, 0..0)].concat();
        assert_eq!(missing(&again, None), None);
        let wrapping: Vec<u32> = (0..100u32).map(|number| number.wrapping_sub(50)).collect();
        assert_eq!(missing(&wrapping, None), None);
        let lacking: Vec<u32> = wrapping.iter().copied().filter(|number| *number > 3).collect();
        assert_eq!(missing(&lacking, None), Some((4, 0)));
    }

    #[test]
    fn the_first_ones_may_come_late() {
        let late = [without(5..20, 0..0), vec![0, 1, 2, 3, 4], without(20..40, 0..0)].concat();
        assert_eq!(missing(&late, None), None);
        let many: Vec<u32> = (0..20_000).map(|number| 2 * number).collect();
        assert_eq!(missing(&many, None), Some((19_999, 1)));
    }

    #[test]
    fn what_comes_an_hour_late_is_named() {
        let minute = 60_000_000;
        let held = 10..20;
        let at =
            |number: u32| i64::from(number) * minute + if held.contains(&number) { 60 * minute } else { 0 };
        let mut all: Vec<Reported> =
            (0..120).map(|interval| Reported { segment: 1, reported: at(interval), interval }).collect();
        all.sort_by_key(|each| each.reported);
        for (asked, from) in [(None, 0), (Some(0..60 * minute), 0), (Some(60 * minute..120 * minute), 45)] {
            let mut continuity = Continuity::of(asked.clone());
            continuity.take("north", all.iter().skip(from).copied());
            let [missing, late] = continuity.finish();
            let late: Vec<Missing> = late.into_values().collect();
            assert_eq!(missing.len(), 0, "{asked:?} {missing:?}");
            assert_eq!(late, [Missing { intervals: 10, first: 10 }], "{asked:?}");
        }
    }

    /// A recorder's clock is set back amid a start, so that what follows is dated hours before.
    #[test]
    fn a_clock_that_is_set_back_is_named() {
        for (set, all) in [(50, 100), (3000, 7000)] {
            let second = 1_000_000;
            let at =
                |number: u32| i64::from(number) * second - if number >= set { 18_000 * second } else { 0 };
            let mut intervals: Vec<Reported> =
                (0..all).map(|interval| Reported { segment: 1, reported: at(interval), interval }).collect();
            intervals.sort();
            let mut continuity = Continuity::of(None);
            continuity.take("north", intervals);
            let [missing, late] = continuity.finish();
            assert!(missing.is_empty(), "{missing:?}");
            let late: Vec<Missing> = late.into_values().collect();
            assert_eq!(late, [Missing { intervals: set.into(), first: 0 }]);
            // In recordings of their own, in the order of their names.
            let mut continuity = Continuity::of(None);
            let one = |interval| Reported { segment: 1, reported: at(interval), interval };
            continuity.take("north", (0..set).map(one));
            continuity.take("north", (set..all).map(one));
            assert_eq!(continuity.finish()[1].values().collect::<Vec<_>>(), [&late[0]]);
        }
    }

    proptest! {
        /// Shuffled within a hundred, with any of them held back: as many are missing as between the least and the greatest.
        #[test]
        fn shuffled_numbers_are_none_that_lack(seed: u64, kept in prop::collection::vec(prop::bool::weighted(0.9), 400), start: u32) {
            let kept: Vec<u32> = (0..400).filter(|number| kept[*number as usize]).collect();
            let mut shuffled = kept.clone();
            shuffled.sort_by_key(|number| {
                let mix = (u64::from(*number) ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
                u64::from(*number) + mix % 100
            });
            let numbers: Vec<u32> = shuffled.iter().map(|number| start.wrapping_add(*number)).collect();
            let span = kept.last().zip(kept.first()).map_or(0, |(last, first)| last - first + 1);
            let lacking = u64::from(span) - kept.len() as u64;
            prop_assert_eq!(missing(&numbers, None).map_or(0, |(many, _)| many), lacking);
        }
    }
}
