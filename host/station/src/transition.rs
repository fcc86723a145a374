//! What is measured while routes change (section VI of the LDA paper).
//!
//! When a link fails or comes back, routers learn of it one after the other; for some time packets follow old paths and new ones.
//! So the segments of both are measured for a time, *hold*, and then those of the old paths alone are left out. A further change within
//! that time adds its segments and gives the ones that it leaves the same time again.
//!
//! Segments are named by their routers, since routers come and go.
//!
//! # Test plan
//!
//! By hand; and random failures and repairs, closer together and farther apart than the hold: at any time every path of the network as it
//! is, and as it was within the hold, consists of segments that are measured, and after it nothing else is.

use crate::{Routes, TooManyPaths, m_set};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// A segment: the names of the routers on it, from one end to the other.
pub type Segment = Vec<Arc<str>>;

/// All segments of a network with these routers upgraded.
///
/// # Errors
///
/// [`TooManyPaths`].
pub fn segments(routes: &Routes, upgraded: &[bool]) -> Result<BTreeSet<Segment>, TooManyPaths> {
    let topology = routes.topology();
    let names: Vec<Arc<str>> = (0..topology.len()).map(|router| topology.name(router).into()).collect();
    let mut all = BTreeSet::new();
    for owner in 0..topology.len() {
        let members = m_set(routes, upgraded, owner)?.into_iter();
        all.extend(
            members
                .map(|member| member.path.iter().map(|&router| names[router].clone()).collect::<Segment>()),
        );
    }
    Ok(all)
}

/// The segments that are measured.
#[derive(Clone, Debug)]
pub struct Measured {
    hold: Duration,
    now: Duration,
    current: BTreeSet<Segment>,
    /// Segments of old paths alone, and until when they are measured.
    leaving: BTreeMap<Segment, Duration>,
}

impl Measured {
    /// Begins with these segments; those that a change leaves are measured for `hold` more.
    pub fn new(segments: BTreeSet<Segment>, hold: Duration) -> Self {
        Measured { hold, now: Duration::ZERO, current: segments, leaving: BTreeMap::new() }
    }

    /// From `at` on these are the network's segments. Times are those since any beginning; one before the last is taken as the last.
    /// Says which segments are phased out at that time, as [`advance`](Self::advance) does.
    pub fn change(&mut self, at: Duration, segments: BTreeSet<Segment>) -> Vec<Segment> {
        let mut ended = self.advance(at);
        ended.retain(|segment| !segments.contains(segment));
        let until = self.now.saturating_add(self.hold);
        for old in std::mem::replace(&mut self.current, segments) {
            self.leaving.insert(old, until);
        }
        self.leaving.retain(|segment, _| !self.current.contains(segment));
        ended
    }

    /// Phases out what is no longer needed at `at`; says which segments these are.
    pub fn advance(&mut self, at: Duration) -> Vec<Segment> {
        self.now = self.now.max(at);
        let now = self.now;
        let ended = self.leaving.iter().filter(|&(_, &until)| until <= now);
        let ended: Vec<Segment> = ended.map(|(segment, _)| segment.clone()).collect();
        self.leaving.retain(|_, until| *until > now);
        ended
    }

    /// The segments that are measured now.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.current.iter().chain(self.leaving.keys())
    }

    /// Whether this one is.
    pub fn contains(&self, segment: &[Arc<str>]) -> bool {
        self.current.contains(segment) || self.leaving.contains_key(segment)
    }

    /// When the next segments are phased out, if any are to be.
    pub fn next_end(&self) -> Option<Duration> {
        self.leaving.values().min().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Topology;
    use crate::routes::listed::{all_paths, topologies};
    use proptest::prelude::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn by_hand() {
        let segment =
            |names: &str| -> Segment { names.chars().map(|name| name.to_string().into()).collect() };
        let set =
            |names: &[&str]| -> BTreeSet<Segment> { names.iter().map(|names| segment(names)).collect() };
        let mut measured = Measured::new(set(&["AB", "BC"]), seconds(10));
        let is = |measured: &Measured, names: &[&str]| {
            let found: BTreeSet<Segment> = measured.segments().cloned().collect();
            assert_eq!(found, set(names));
            assert_eq!(measured.segments().count(), found.len());
            found.iter().for_each(|segment| assert!(measured.contains(segment)));
        };
        measured.change(seconds(100), set(&["AB", "ADC"]));
        is(&measured, &["AB", "ADC", "BC"]);
        assert_eq!((measured.next_end(), measured.contains(&segment("AC"))), (Some(seconds(110)), false));
        measured.change(seconds(105), set(&["BC"]));
        is(&measured, &["AB", "ADC", "BC"]);
        // A clock that was set back changes nothing.
        assert!(measured.advance(seconds(1)).is_empty() && measured.advance(seconds(114)).is_empty());
        assert_eq!(measured.advance(seconds(115)), [segment("AB"), segment("ADC")]);
        is(&measured, &["BC"]);
        assert_eq!(measured.next_end(), None);
    }

    /// The network at a time, with one link of it failed.
    fn failed(topology: &Topology, link: usize) -> Topology {
        let mut failed = topology.clone();
        let ends =
            (0..topology.len()).flat_map(|from| topology.links(from).iter().map(move |&(to, _)| (from, to)));
        if let Some((from, to)) = ends.clone().nth(link) {
            failed.disconnect(from, to);
        }
        failed
    }

    proptest! {
        #[test]
        fn nothing_is_unmeasured_between(
            (topology, cut) in topologies(),
            failures in prop::collection::vec((0..30usize, 1..25u64), 1..8),
        ) {
            const HOLD: u64 = 12;
            let of = |topology: &Topology| segments(&Routes::of(topology), &cut).unwrap();
            let mut measured = Measured::new(of(&topology), seconds(HOLD));
            // Since when each network is, the first since ever.
            let mut history = vec![(0, topology.clone())];
            let mut now = 0;
            for (link, later) in failures {
                let next = failed(&topology, link);
                for time in now + 1..=now + later {
                    let before: BTreeSet<Segment> = measured.segments().cloned().collect();
                    let mut ended = vec![];
                    if time == now + later {
                        // What it phases out is said by the change, too.
                        ended = measured.change(seconds(time), of(&next));
                        history.push((time, next.clone()));
                    }
                    ended.extend(measured.advance(seconds(time)));
                    // A network ends when the next one begins.
                    let ends = history.iter().skip(1).map(|&(begin, _)| begin).chain([u64::MAX]);
                    let recent: Vec<&Topology> = history
                        .iter()
                        .zip(ends)
                        .filter(|&(_, end)| end == u64::MAX || end + HOLD > time)
                        .map(|((_, network), _)| network)
                        .collect();
                    let mut needed = BTreeSet::new();
                    for network in recent {
                        for path in all_paths(network) {
                            let inner = 1..path.len() - 1;
                            let cuts = inner.filter(|&place| cut[path[place]]);
                            let ends: Vec<usize> = [0].into_iter().chain(cuts).chain([path.len() - 1]).collect();
                            for ends in ends.windows(2) {
                                let names = path[ends[0]..=ends[1]].iter().map(|&router| topology.name(router).into());
                                needed.insert(names.collect::<Segment>());
                            }
                        }
                    }
                    let found: BTreeSet<Segment> = measured.segments().cloned().collect();
                    prop_assert_eq!(&found, &needed, "at {}", time);
                    let gone: BTreeSet<Segment> = before.difference(&found).cloned().collect();
                    prop_assert_eq!(ended.into_iter().collect::<BTreeSet<_>>(), gone, "at {}", time);
                }
                now += later;
            }
        }
    }
}
