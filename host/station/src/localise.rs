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
//! Values of a named segment are not taken into its past: it stays named until one is not above it, so that the next spike has a name, too. A
//! segment that has been named for n intervals has a new level, which becomes its past. A value that is missing, of a void interval, is
//! passed over.
//!
//! What is left out of the past makes the next false name likelier, by
//!
//! ```text
//! (n + r)! (2 r)! / ((n + 2 r)! r!)
//! ```
//!
//! an interval at most, until the past is another one, n intervals later. That ends by itself if n times this is below 1, and does not with a run of
//! one: rules of which it is more than a half are refused, and [`Rule::false_names`] counts it in.
//!
//! Ranks know nothing of size. A rule may ask for a least rise besides, below which nobody minds: then a load that comes to the measuring
//! machine itself, and moves all segments a little, has no name.
//!
//! # Limits
//!
//! * Values that depend on those before exceed their past more often: intervals have to be long against the queues' memory, and the day's course. With
//!   the default rule, values that are the last one times 0.3, 0.5, 0.9 and something new (AR(1)) come to be named 10, 35 and 570 times as often.
//! * A rise shorter than r intervals is not named, and none within n intervals behind a single higher value.
//! * After a change of route a segment is another one, with a new past.
//!
//! # Test plan
//!
//! The rate by brute force over all orders of few values, and over long sequences of rules with short pasts; values by hand: a rise, a spike that is too
//! short, its end, gaps, a rise that is too small, a new level; values beyond all measure. Queues that are squeezed: `tests/network.rs`.

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
pub enum RuleError {
    /// No values of one kind, or too many.
    #[error(
        "a segment is compared with {past} values in {run} intervals; give at least one of both, and at most {}",
        Rule::MOST
    )]
    Values {
        /// Values before.
        past: usize,
        /// Values that exceed them.
        run: usize,
    },
    /// What is named by chance would bring on the next name.
    #[error(
        "compared with {past} values in {run} intervals, a segment that is named by chance is soon named again; give a longer past, or a longer run"
    )]
    Short {
        /// Values before.
        past: usize,
        /// Values that exceed them.
        run: usize,
    },
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
        let rule = Rule { past, run, least_rise: 0.0 };
        match is_allowed(past) && is_allowed(run) {
            false => Err(RuleError::Values { past, run }),
            true if rule.echo() > 0.5 => Err(RuleError::Short { past, run }),
            true => Ok(rule),
        }
    }

    /// The same where each of the last values has to be above the median of the past by at least so much, in the values' unit; what is less than 0, or no
    /// number, is 0. What is above the past by less becomes the past.
    #[must_use]
    pub fn with_least_rise(self, least_rise: f64) -> Self {
        Rule { least_rise: least_rise.max(0.0), ..self }
    }

    /// How often a quiet segment comes to be named at most: the probability in an interval.
    pub fn false_names(self) -> f64 {
        self.by_chance() / (1.0 - self.echo())
    }

    /// The probability that the last values of any are the greatest.
    fn by_chance(self) -> f64 {
        (1..=self.run).map(|place| place as f64 / (self.past + place) as f64).product()
    }

    /// How many further names one by chance brings on at most.
    fn echo(self) -> f64 {
        let Rule { past, run, .. } = self;
        let again =
            (1..=run).map(|place| (run + place) as f64 / (past + run + place) as f64).product::<f64>();
        again * past as f64
    }
}

/// A segment's values so far.
#[derive(Clone, Debug, Default)]
struct Watch {
    past: VecDeque<f64>,
    /// Values above the past.
    run: VecDeque<f64>,
}

impl Watch {
    /// Takes a value; says by how much the run lies above the past, if it is long enough.
    fn take(&mut self, value: f64, rule: Rule) -> Option<f64> {
        let Rule { past, run, least_rise } = rule;
        let highest = self.past.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let usual = middle(self.past.make_contiguous());
        if self.past.len() == past && value > highest && value - usual >= least_rise {
            self.run.push_back(value);
            if self.run.len() < run {
                return None;
            }
            let values = self.run.make_contiguous();
            let rise = middle(&values[values.len() - run..]) - usual;
            // Named for as many intervals as the past has values: this is how it is now.
            if values.len() + 1 == past + run {
                self.past = self.run.split_off(run - 1);
                self.run.clear();
            }
            return Some(rise);
        }
        // A short run was nothing; a long one was a spike, which is over.
        let short = std::mem::take(&mut self.run);
        let quiet = if short.len() < run { short } else { VecDeque::new() };
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

    /// How often, at most, a segment comes to be named in an interval while all is quiet, with the segments whose pasts it has.
    pub fn false_names(&self) -> f64 {
        (self.rule.false_names() * self.watches.len() as f64).min(1.0)
    }

    /// Takes the segments' values of an interval, such as their mean delays in nanoseconds; of two for one segment the last counts. Says which segments are
    /// named, the greatest rise first. Values that are no numbers, or infinite, are passed over, as those of segments that have none.
    pub fn take(&mut self, values: impl IntoIterator<Item = (S, f64)>) -> Vec<Named<S>> {
        let values: BTreeMap<S, f64> = values.into_iter().filter(|(_, value)| value.is_finite()).collect();
        let mut named = vec![];
        for (segment, value) in values {
            let watch = self.watches.entry(segment.clone()).or_default();
            let rise = watch.take(value, self.rule).map(|rise| rise.min(f64::MAX));
            named.extend(rise.map(|rise| Named { segment, rise, share: 0.0 }));
        }
        named.sort_by(|one, other| other.rise.total_cmp(&one.rise));
        let greatest = named.first().map_or(0.0, |named| named.rise);
        let all: f64 = named.iter().map(|named| named.rise / greatest).sum();
        named.iter_mut().for_each(|named| named.share = named.rise / greatest / all);
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
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    /// A rule that need not be one to keep.
    fn rule(past: usize, run: usize) -> Rule {
        Rule { past, run, least_rise: 0.0 }
    }

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
            let rule = rule(past, run);
            let orders = orders(past + run);
            let named = orders.iter().filter(|order| {
                let mut localiser = Localiser::new(rule);
                let last = order.iter().map(|&value| localiser.take([((), value as f64)])).last();
                !last.unwrap().is_empty()
            });
            let rate = named.count() as f64 / orders.len() as f64;
            assert!((rate - rule.by_chance()).abs() < 1e-12, "{past} {run}: {rate}");
        }
        assert!((1.0 / Rule::default().by_chance() - 39_711.0).abs() < 1e-6);
        // In longer sequences a run that was broken takes some away, and nothing adds any.
        let rule = rule(3, 2);
        let orders = orders(8);
        let named = orders.iter().filter(|order| {
            let mut localiser = Localiser::new(rule);
            order.iter().filter(|&&value| !localiser.take([((), value as f64)]).is_empty()).count() > 0
        });
        let intervals = 8 - 4;
        let rate = named.count() as f64 / orders.len() as f64;
        assert!(rate > 0.0 && rate <= f64::from(intervals) * rule.by_chance(), "{rate}");
    }

    #[test]
    fn by_hand() {
        let mut localiser = Localiser::new(rule(3, 2));
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
        let mut localiser = Localiser::new(rule(2, 1).with_least_rise(5.0));
        // What rises by less each time becomes the past; 11 lies 5 above the median of 6 and 8, 12 as much above that of 8 and 7.
        let values = [1.0, 3.0, 5.9, 6.0, 8.0, 11.0, 7.0, 12.0, 13.0];
        let rises = values.map(|value| localiser.take([((), value)]).first().map_or(0.0, |named| named.rise));
        assert_eq!(rises, [0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0, 5.0, 6.0]);
    }

    #[test]
    fn forgotten() {
        let mut localiser = Localiser::new(rule(2, 1));
        let take = |localiser: &mut Localiser<char>, value: f64| -> String {
            localiser.take([('A', value), ('B', value)]).into_iter().map(|named| named.segment).collect()
        };
        assert_eq!([1.0, 2.0, 3.0].map(|value| take(&mut localiser, value)), ["", "", "AB"]);
        localiser.retain(|segment| *segment == 'B');
        assert_eq!([4.0, 5.0].map(|value| take(&mut localiser, value)), ["B", "B"]);
        let mut localiser = Localiser::new(Rule::default());
        take(&mut localiser, 1.0);
        assert_eq!(localiser.false_names(), 2.0 * Rule::default().false_names());
        localiser.retain(|_| false);
        assert_eq!(localiser.false_names(), 0.0);
    }

    /// In long sequences without order names are as often as is said, also where a past is short.
    #[test]
    fn names_by_chance_are_no_more_than_said() {
        for (past, run, intervals) in [(6, 4, 400_000), (8, 3, 400_000), (24, 2, 800_000), (20, 3, 1_500_000)]
        {
            let rule = Rule::new(past, run).unwrap();
            let (mut localiser, mut random) = (Localiser::new(rule), StdRng::seed_from_u64(1));
            let (mut begun, mut intervals_named, mut was_named) = (0.0, 0.0, false);
            for _ in 0..intervals {
                let is_named = !localiser.take([((), random.random::<f64>())]).is_empty();
                begun += f64::from(u8::from(is_named && !was_named));
                intervals_named += f64::from(u8::from(is_named));
                was_named = is_named;
            }
            let all = f64::from(intervals);
            let [least, most] = [rule.by_chance() * all, rule.false_names() * all];
            println!(
                "{past} {run}: {} of what chance gives, {} of what is said; {} intervals each",
                begun / least,
                begun / most,
                intervals_named / begun
            );
            // Four standard errors of a number of names.
            assert!(
                begun > least - 4.0 * least.sqrt() && begun < most + 4.0 * most.sqrt(),
                "{past} {run}: {begun}"
            );
        }
    }

    /// What the limits say of values that depend on those before.
    #[test]
    fn values_that_depend_on_those_before_are_named_more_often() {
        let rule = Rule::default();
        for (dependence, intervals, more) in
            [(0.3, 1_500_000, 5.0), (0.5, 500_000, 25.0), (0.9, 100_000, 500.0)]
        {
            let (mut localiser, mut random) = (Localiser::new(rule), StdRng::seed_from_u64(1));
            let (mut value, mut named, mut begun, mut was_named) = (0.0, 0, 0, false);
            for _ in 0..intervals {
                let new: f64 = (0..12).map(|_| random.random::<f64>() - 0.5).sum();
                value = value * dependence + new;
                let is_named = !localiser.take([((), value)]).is_empty();
                begun += u32::from(is_named && !was_named);
                named += u32::from(is_named);
                was_named = is_named;
            }
            let [begun, named] =
                [begun, named].map(|names| f64::from(names) / (rule.by_chance() * f64::from(intervals)));
            println!("{dependence}: {begun:.0} times as often, {named:.0} times as many intervals");
            assert!(begun > more, "{dependence}: {begun}");
        }
    }

    /// A step is named for as many intervals as the past has values.
    #[test]
    fn a_new_level_becomes_the_past() {
        let mut localiser = Localiser::new(Rule::default());
        let mut named = |value: f64| !localiser.take([((), value)]).is_empty();
        assert!((0..60).all(|place| !named(f64::from(place % 7))));
        let step: Vec<bool> = (0..200).map(|place| named(f64::from(100 + place % 7))).collect();
        let expected: Vec<bool> = (0..200).map(|place| (2..62).contains(&place)).collect();
        assert_eq!(step, expected);
        assert_eq!([200.0; 3].map(named), [false, false, true]);
    }

    #[test]
    fn values_beyond_all_measure() {
        let mut localiser = Localiser::new(rule(2, 1));
        let mut take = |one: f64, other: f64| -> Vec<(char, f64, f64)> {
            let named = localiser.take([('A', one), ('B', other)]);
            named.iter().map(|named| (named.segment, named.rise, named.share)).collect()
        };
        let least = -f64::MAX;
        for value in [least, least, f64::INFINITY, f64::NAN] {
            assert_eq!(take(value, value), []);
        }
        assert_eq!(take(f64::MAX, f64::MAX), [('A', f64::MAX, 0.5), ('B', f64::MAX, 0.5)]);
        // What is given twice counts once.
        let mut localiser = Localiser::new(rule(2, 1));
        for value in [1.0, 2.0] {
            assert_eq!(localiser.take([((), 9.0), ((), value)]), []);
        }
        assert_eq!(localiser.take([((), 1.0), ((), 4.0)])[0].rise, 3.0);
        assert_eq!(rule(2, 1).with_least_rise(f64::NAN), rule(2, 1).with_least_rise(-1.0));
    }

    #[test]
    fn limits() {
        for (past, run) in [(0, 3), (60, 0), (Rule::MOST + 1, 3)] {
            assert_eq!(Rule::new(past, run), Err(RuleError::Values { past, run }));
        }
        for (past, run) in [(1, 1), (60, 1), (Rule::MOST, 1), (10, 2), (5, 3)] {
            assert_eq!(Rule::new(past, run), Err(RuleError::Short { past, run }));
        }
    }
}
