//! Probe hop count and localisation granularity, and what each router's upgrade would change.
//!
//! # Theory of operation
//!
//! Algorithm 1 of the paper (section VI-A) holds a set S of paths, at first all shortest paths between all ordered pairs of
//! routers, and splits those that an upgraded router is on. A piece of a shortest path is a shortest path itself, so it was in
//! S from the beginning, and S is a set: after any upgrades U, in any order,
//!
//! ```text
//! S = all shortest paths without a router of U between their ends
//! ```
//!
//! Each is a *segment*: what one probe measures. From that, exactly as if S were listed:
//!
//! * *probe hop count*: the hops of all segments, each once;
//! * *localisation granularity*: hops of a segment, on average, least and most;
//! * an upgrade of r takes out of S the segments that have r between their ends, and nothing else changes.
//!
//! Segments may be more than can be listed; they are counted. From a source s, with sigma(v) the segments that end at v and h(v)
//! their hops, and going back, with b(v) the segments that go on behind v and g(v) their hops behind v:
//!
//! ```text
//! sigma(v) = sum of sigma(u)             over links (u, v) on shortest paths, u = s or not upgraded
//! h(v)     = sum of h(u) + sigma(u)
//! b(u)     = sum of c(v), g(u) = sum of c(v) + g(v), c(v) = 1 + b(v); b and g of an upgraded v count as 0
//! through r: sigma(r) b(r) segments of h(r) b(r) + sigma(r) g(r) hops
//! ```
//!
//! This is Brandes' algorithm for betweenness with ends that are cut. Cost: one pass over routers and links for each source.
//!
//! # Readings
//!
//! The paper leaves open what is counted once; this reading gives its numbers for the Sprint network of Rocketfuel (315 routers):
//! 965,384 hops before any upgrade ("approximately one million"), granularity 1.50 with 50 routers ("around 1.5"). Ordered
//! pairs; all paths of equal cost; equal segments of different paths once. Its "10 000" hops at 45 routers are 5,742 then (10,000
//! are reached at 35); counted once for each path, segments would have granularity 1.28 at 50.
//!
//! # Test plan
//!
//! Against the algorithm taken literally, which lists and splits paths, on random networks with any upgrades; networks with
//! more paths than can be listed, against binomial coefficients; overflow.

use crate::{Routes, TooManyPaths};
use serde::Serialize;

/// The segments of a network in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// The hops of all segments.
    pub probe_hops: u128,
    /// The segments.
    pub segments: u128,
    /// The hops of the shortest one; 0 without any.
    pub shortest: u32,
    /// The hops of the longest one; 0 without any.
    pub longest: u32,
}

impl Totals {
    /// The average segment's hops; none without any.
    pub fn granularity(&self) -> Option<f64> {
        (self.segments > 0).then(|| self.probe_hops as f64 / self.segments as f64)
    }
}

/// The segments that have a router between their ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Through {
    /// How many.
    pub segments: u128,
    /// Their hops.
    pub hops: u128,
}

/// The segments of a network with some routers upgraded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// All of them.
    pub totals: Totals,
    /// Those through each router, which its upgrade would take away.
    pub through: Vec<Through>,
}

/// What is known of a router on the way from a source.
#[derive(Clone, Copy, Default)]
struct Reached {
    /// Segments that end here, and their hops.
    segments: u128,
    hops: u128,
    fewest: u32,
    most: u32,
    /// Segments that go on from here, and their hops behind here.
    onward: u128,
    onward_hops: u128,
}

impl Tally {
    /// Counts the segments where the routers with `upgraded` are m-routers; those beyond its end are none.
    ///
    /// # Errors
    ///
    /// [`TooManyPaths`] if a number does not fit into 128 bits.
    pub fn of(routes: &Routes, upgraded: &[bool]) -> Result<Self, TooManyPaths> {
        let routers = routes.topology().len();
        let is_cut = |router: usize| upgraded.get(router).copied().unwrap_or(false);
        let mut tally = Tally { totals: Totals::default(), through: vec![Through::default(); routers] };
        let mut reached = vec![Reached::default(); routers];
        for source in 0..routers {
            reached.fill(Reached::default());
            reached[source].segments = 1;
            for router in routes.order(source) {
                let here = reached[router];
                if here.segments == 0 || (router != source && is_cut(router)) {
                    continue;
                }
                for next in routes.next(source, router) {
                    let next = &mut reached[next];
                    let is_first = next.segments == 0;
                    next.fewest = if is_first { here.fewest + 1 } else { next.fewest.min(here.fewest + 1) };
                    next.most = next.most.max(here.most + 1);
                    next.segments = next.segments.saturating_add(here.segments);
                    next.hops = next.hops.saturating_add(here.hops).saturating_add(here.segments);
                }
            }
            for router in routes.order(source).rev() {
                if reached[router].segments == 0 || is_cut(router) || router == source {
                    continue;
                }
                let (mut onward, mut onward_hops) = (0u128, 0u128);
                for next in routes.next(source, router) {
                    let (behind, behind_hops) = (reached[next].onward, reached[next].onward_hops);
                    let ending = behind.saturating_add(1);
                    onward = onward.saturating_add(ending);
                    onward_hops = onward_hops.saturating_add(ending).saturating_add(behind_hops);
                }
                let here = &mut reached[router];
                (here.onward, here.onward_hops) = (onward, onward_hops);
                let through = &mut tally.through[router];
                through.segments = through.segments.saturating_add(here.segments.saturating_mul(onward));
                let before = here.hops.saturating_mul(onward);
                let behind = here.segments.saturating_mul(onward_hops);
                through.hops = through.hops.saturating_add(before).saturating_add(behind);
            }
            tally.totals.add(&reached, source);
        }
        // Every number above is at most that of all hops, so nothing else can have been too large.
        match tally.totals.probe_hops {
            u128::MAX => Err(TooManyPaths { most: u128::MAX }),
            _ => Ok(tally),
        }
    }
}

impl Totals {
    /// Adds the segments from `source`.
    fn add(&mut self, reached: &[Reached], source: usize) {
        for (router, here) in reached.iter().enumerate() {
            if router == source || here.segments == 0 {
                continue;
            }
            self.shortest = if self.segments == 0 { here.fewest } else { self.shortest.min(here.fewest) };
            self.longest = self.longest.max(here.most);
            self.segments = self.segments.saturating_add(here.segments);
            self.probe_hops = self.probe_hops.saturating_add(here.hops);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Topology;
    use crate::routes::listed::{all_paths, split, topologies};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counted_as_if_listed((topology, cut) in topologies()) {
            let routes = Routes::of(&topology);
            let mut segments = all_paths(&topology);
            for router in (0..topology.len()).filter(|&router| cut[router]) {
                segments = split(&segments, router);
            }
            let tally = Tally::of(&routes, &cut).unwrap();
            let hops = |path: &Vec<usize>| path.len() as u32 - 1;
            let totals = Totals {
                probe_hops: segments.iter().map(|path| u128::from(hops(path))).sum(),
                segments: segments.len() as u128,
                shortest: segments.iter().map(hops).min().unwrap_or(0),
                longest: segments.iter().map(hops).max().unwrap_or(0),
            };
            prop_assert_eq!(tally.totals, totals);
            for (router, through) in tally.through.iter().enumerate() {
                let on = segments.iter().filter(|path| path[1..path.len() - 1].contains(&router));
                let hops = on.clone().map(|path| u128::from(hops(path))).sum();
                prop_assert_eq!(*through, Through { segments: on.count() as u128, hops });
            }
        }
    }

    fn grid(size: usize) -> Topology {
        let mut grid = Topology::new();
        for (x, y) in (0..size * size).map(|place| (place / size, place % size)) {
            let name = |x: usize, y: usize| format!("{x},{y}");
            if x + 1 < size {
                grid.connect(&name(x, y), &name(x + 1, y), 1).unwrap();
            }
            if y + 1 < size {
                grid.connect(&name(x, y), &name(x, y + 1), 1).unwrap();
            }
        }
        grid
    }

    /// Between two corners (dx, dy) apart there are (dx + dy over dx) paths of dx + dy hops.
    #[test]
    fn more_paths_than_can_be_listed() {
        let size = 24;
        let mut binomial = vec![vec![1u128; size]; size];
        for (x, y) in (0..size * size).map(|place| (place / size, place % size)) {
            if x > 0 && y > 0 {
                binomial[x][y] = binomial[x - 1][y] + binomial[x][y - 1];
            }
        }
        let (mut segments, mut hops) = (0, 0);
        for (x, y) in (1..size * size).map(|place| (place / size, place % size)) {
            let directions = if x > 0 && y > 0 { 4 } else { 2 };
            let pairs = (directions * (size - x) * (size - y)) as u128;
            segments += pairs * binomial[x][y];
            hops += pairs * binomial[x][y] * (x + y) as u128;
        }
        assert!(segments > 1 << 40);
        let grid = grid(size);
        let totals = Tally::of(&Routes::of(&grid), &[]).unwrap().totals;
        let most = 2 * size as u32 - 2;
        assert_eq!(totals, Totals { probe_hops: hops, segments, shortest: 1, longest: most });
    }

    /// A chain of diamonds doubles the paths with each.
    #[test]
    fn too_many_to_count_are_refused() {
        let mut chain = Topology::new();
        for link in 0..130 {
            for side in ["left", "right"] {
                let side = format!("{side} {link}");
                chain.connect(&link.to_string(), &side, 1).unwrap();
                chain.connect(&side, &(link + 1).to_string(), 1).unwrap();
            }
        }
        let routes = Routes::of(&chain);
        assert_eq!(Tally::of(&routes, &[]), Err(TooManyPaths { most: u128::MAX }));
        let mut cut = vec![false; chain.len()];
        cut[chain.number("65").unwrap()] = true;
        assert!(Tally::of(&routes, &cut).is_ok());
    }

    #[test]
    fn nothing_has_no_granularity() {
        let mut topology = Topology::new();
        for name in ["", "A"] {
            let totals = Tally::of(&Routes::of(&topology), &[true]).unwrap().totals;
            assert_eq!((totals, totals.granularity()), (Totals::default(), None));
            topology.router(name).unwrap();
        }
    }
}
