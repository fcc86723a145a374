//! Which segment explains a spike.
//!
//! # Theory of operation
//!
//! Each segment is compared with its own past, by ranks alone. A segment is *named* when each of its last r values is greater
//! than every one of the n values before them. As long as nothing happens, the n + r values come in any order alike, and the r last
//! ones are the r greatest with probability
//!
//! ```text
//! n! r! / (n + r)!     n = 60, r = 3:  1 in 39,711 an interval and segment
//! ```
//!
//! whatever the values' distribution: no mean, variance or model has to be estimated. k segments have false names at most k times
//! as often. A segment whose values rise and stay above its past is named in the r-th interval.
//!
//! Values of a named segment are not taken into its past: it stays named until one is not above it. A value that is missing, of a
//! void interval, is passed over.
//!
//! Ranks know nothing of size. A rule may ask for a least rise besides, below which nobody minds: then a load that comes to the measuring
//! machine itself, and moves all segments a little, has no name.
//!
//! # Limits
//!
//! Values of intervals that depend on each other, as of a load that drifts by the hour, exceed their past more often: intervals have to be
//! long against the queues' memory. A rise shorter than r intervals is not named. After a change of route a segment is another one, with
//! a new past.
//!
//! # Test plan
//!
//! The rate by brute force over all orders of few values; values by hand: a rise, a spike that is too short, its end, gaps, a rise that is too small.
//! Queues that are squeezed: `tests/network.rs`.

use std::collections::{BTreeMap, VecDeque};

/// When a segment is named.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    past: usize,
    run: usize,
    least_rise: f64,
}

/// A rule that cannot be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a segment is compared with {past} values in {run} intervals; give at least one of both, and at most {}",
    Rule::MOST
)]
pub struct RuleError {
    /// Values before.
    pub past: usize,
    /// Values that exceed them.
    pub run: usize,
}

impl Default for Rule {
    /// Three intervals above the 60 before.
    fn default() -> Self {
        Rule { past: 60, run: 3, least_rise: 0.0 }
    }
}

impl Rule {
    /// Most values of either kind.
    pub const MOST: usize = 100_000;

    /// A segment is named when `run` values are greater than all the `past` values before.
    ///
    /// # Errors
    ///
    /// [`RuleError`].
    pub fn new(past: usize, run: usize) -> Result<Self, RuleError> {
        let is_allowed = |values: usize| (1..=Rule::MOST).contains(&values);
        match is_allowed(past) && is_allowed(run) {
            true => Ok(Rule { past, run, least_rise: 0.0 }),
            false => Err(RuleError { past, run }),
        }
    }

    /// The same where each of the last values has to be above the median of the past by at least so much, in the values' unit. What is above the past by
    /// less becomes the past.
    #[must_use]
    pub fn with_least_rise(self, least_rise: f64) -> Self {
        Rule { least_rise, ..self }
    }

    /// How often a quiet segment is named at most: the probability in an interval.
    pub fn false_names(self) -> f64 {
        (1..=self.run).map(|place| place as f64 / (self.past + place) as f64).product()
    }
}

/// A segment's values so far.
#[derive(Clone, Debug, Default)]
struct Watch {
    past: VecDeque<f64>,
    /// Values above the past.
    run: Vec<f64>,
}

impl Watch {
    /// Takes a value; says by how much the run lies above the past, if it is long enough.
    fn take(&mut self, value: f64, rule: Rule) -> Option<f64> {
        let Rule { past, run, least_rise } = rule;
        let highest = self.past.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let usual = middle(self.past.make_contiguous());
        if self.past.len() == past && value > highest && value - usual >= least_rise {
            self.run.push(value);
            if self.run.len() > run {
                self.run.remove(0);
            }
            return (self.run.len() == run).then(|| middle(&self.run) - usual);
        }
        // A short run was nothing; a long one was a spike, which is over.
        let short = std::mem::take(&mut self.run);
        let quiet = if short.len() < run { short } else { vec![] };
        self.past.extend(quiet.into_iter().chain([value]));
        let surplus = self.past.len().saturating_sub(past);
        self.past.drain(..surplus);
        None
    }
}

/// The median: the lower one of two in the middle.
fn middle(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}

/// A segment that is named.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Named<S> {
    /// Which one.
    pub segment: S,
    /// By how much it rose: the median of the run less that of the past, in the values' unit.
    pub rise: f64,
    /// Its share of the rise of all that are named.
    pub share: f64,
}

/// Watches segments, which come and go with the routes; `S` is what they are called.
#[derive(Clone, Debug)]
pub struct Localiser<S> {
    rule: Rule,
    watches: BTreeMap<S, Watch>,
}

impl<S: Clone + Ord> Localiser<S> {
    /// Watches by this rule what it will be given.
    pub fn new(rule: Rule) -> Self {
        Localiser { rule, watches: BTreeMap::new() }
    }

    /// How often, at most, an interval has a false name while all is quiet, with the segments seen so far.
    pub fn false_names(&self) -> f64 {
        (self.rule.false_names() * self.watches.len() as f64).min(1.0)
    }

    /// Takes the segments' values of an interval, such as their mean delays in nanoseconds. Says which segments are named, the greatest rise
    /// first. Values that are no numbers are passed over, as those of segments that have none.
    pub fn take(&mut self, values: impl IntoIterator<Item = (S, f64)>) -> Vec<Named<S>> {
        let mut named = vec![];
        for (segment, value) in values.into_iter().filter(|(_, value)| !value.is_nan()) {
            let watch = self.watches.entry(segment.clone()).or_default();
            let rise = watch.take(value, self.rule);
            named.extend(rise.map(|rise| Named { segment, rise, share: 0.0 }));
        }
        let all: f64 = named.iter().map(|named| named.rise).sum();
        named.iter_mut().for_each(|named| named.share = named.rise / all);
        named.sort_by(|one, other| other.rise.total_cmp(&one.rise));
        named
    }

    /// Forgets the pasts of all segments but these, as after a change of route.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&S) -> bool) {
        self.watches.retain(|segment, _| is_kept(segment));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All orders of as many values.
    fn orders(values: usize) -> Vec<Vec<usize>> {
        if values == 0 {
            return vec![vec![]];
        }
        let shorter = orders(values - 1);
        let place = |order: &Vec<usize>, place: usize| {
            let mut order = order.clone();
            order.insert(place, values);
            order
        };
        shorter.iter().flat_map(|order| (0..values).map(|at| place(order, at))).collect()
    }

    #[test]
    fn the_rate_is_that_of_all_orders() {
        for (past, run) in [(1, 1), (4, 1), (4, 2), (3, 3), (5, 2)] {
            let rule = Rule::new(past, run).unwrap();
            let orders = orders(past + run);
            let named = orders.iter().filter(|order| {
                let mut localiser = Localiser::new(rule);
                let last = order.iter().map(|&value| localiser.take([((), value as f64)])).last();
                !last.unwrap().is_empty()
            });
            let rate = named.count() as f64 / orders.len() as f64;
            assert!((rate - rule.false_names()).abs() < 1e-12, "{past} {run}: {rate}");
        }
        assert!((1.0 / Rule::default().false_names() - 39_711.0).abs() < 1e-6);
        // In longer sequences a run that was broken takes some away, and nothing adds any.
        let rule = Rule::new(3, 2).unwrap();
        let orders = orders(8);
        let named = orders.iter().filter(|order| {
            let mut localiser = Localiser::new(rule);
            order.iter().filter(|&&value| !localiser.take([((), value as f64)]).is_empty()).count() > 0
        });
        let intervals = 8 - 4;
        let rate = named.count() as f64 / orders.len() as f64;
        assert!(rate > 0.0 && rate <= f64::from(intervals) * rule.false_names(), "{rate}");
    }

    #[test]
    fn by_hand() {
        let mut localiser = Localiser::new(Rule::new(3, 2).unwrap());
        let mut named = |first: f64, second: Option<f64>| -> Vec<(usize, f64, f64)> {
            let named = localiser.take([(0, first)].into_iter().chain(second.map(|second| (1, second))));
            named.iter().map(|named| (named.segment, named.rise, named.share)).collect()
        };
        for value in [5.0, 7.0, 6.0] {
            assert_eq!(named(value, Some(10.0)), []);
        }
        // A single high value, then two of them, with a gap of the other segment.
        assert_eq!(named(9.0, Some(20.0)), []);
        assert_eq!(named(6.0, None), []);
        assert_eq!(named(11.0, Some(30.0)), [(1, 10.0, 1.0)]);
        assert_eq!(named(12.0, Some(30.0)), [(1, 20.0, 0.8), (0, 5.0, 0.2)]);
        // The past did not rise with it; a value in it ends the spike.
        assert_eq!(named(12.0, Some(10.0)), [(0, 6.0, 1.0)]);
        assert_eq!(named(9.0, Some(f64::NAN)), []);
        assert_eq!(named(12.0, Some(20.0)), []);
        assert_eq!(named(9.5, None), [(0, 0.5, 1.0)]);
        assert_eq!(named(9.0, None), []);
    }

    #[test]
    fn a_small_rise_is_none() {
        let mut localiser = Localiser::new(Rule::new(2, 1).unwrap().with_least_rise(5.0));
        // What rises by less each time becomes the past; 11 and 12 lie 5 and 6 above the median of 6 and 8.
        let values = [1.0, 3.0, 5.9, 6.0, 8.0, 11.0, 12.0, 7.0, 12.0];
        let rises = values.map(|value| localiser.take([((), value)]).first().map_or(0.0, |named| named.rise));
        assert_eq!(rises, [0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 6.0, 0.0, 5.0]);
    }

    #[test]
    fn forgotten() {
        let mut localiser = Localiser::new(Rule::new(2, 1).unwrap());
        let take = |localiser: &mut Localiser<char>, value: f64| -> String {
            localiser.take([('A', value), ('B', value)]).into_iter().map(|named| named.segment).collect()
        };
        assert_eq!([1.0, 2.0, 3.0].map(|value| take(&mut localiser, value)), ["", "", "AB"]);
        assert_eq!(localiser.false_names(), 2.0 / 3.0);
        localiser.retain(|segment| *segment == 'B');
        assert_eq!([4.0, 5.0].map(|value| take(&mut localiser, value)), ["B", "B"]);
        assert_eq!(localiser.false_names(), 2.0 / 3.0);
    }

    #[test]
    fn limits() {
        for (past, run) in [(0, 1), (1, 0), (Rule::MOST + 1, 1)] {
            assert_eq!(Rule::new(past, run), Err(RuleError { past, run }));
        }
    }
}
