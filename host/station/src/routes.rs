//! All shortest paths of a network, those of equal cost included.
//!
//! From each router the distances to all others are kept, as Dijkstra's algorithm finds them. A link from u to v lies on a
//! shortest path from s exactly if distance(s, u) + cost = distance(s, v); so the paths themselves, of which there may be more
//! than can ever be listed, need not be kept.
//!
//! Memory: 12 bytes for each pair of routers.
//!
//! # Test plan
//!
//! Against Floyd and Warshall's algorithm on random graphs with links of one direction and parts that nothing connects.

use crate::Topology;
use petgraph::algo::dijkstra;
use petgraph::graph::{DiGraph, NodeIndex};

/// The distance of what cannot be reached.
const FAR: u64 = u64::MAX;

/// All shortest paths of a network.
#[derive(Clone, Debug)]
pub struct Routes<'a> {
    topology: &'a Topology,
    trees: Vec<Tree>,
    unreachable: u64,
}

/// The shortest paths from one router.
#[derive(Clone, Debug)]
struct Tree {
    distances: Vec<u64>,
    /// What can be reached, the nearest first.
    order: Vec<u32>,
}

impl<'a> Routes<'a> {
    /// Finds them.
    pub fn of(topology: &'a Topology) -> Self {
        let edges = (0..topology.len()).flat_map(|from| {
            topology.links(from).iter().map(move |&(to, cost)| (from as u32, to as u32, u64::from(cost)))
        });
        let mut graph: DiGraph<(), u64> = DiGraph::from_edges(edges);
        // Routers behind the last one with a link.
        while graph.node_count() < topology.len() {
            graph.add_node(());
        }
        let (mut trees, mut unreachable) = (vec![], 0);
        for source in 0..topology.len() {
            let found = dijkstra(&graph, NodeIndex::new(source), None, |edge| *edge.weight());
            let mut distances = vec![FAR; topology.len()];
            found.iter().for_each(|(router, &distance)| distances[router.index()] = distance);
            let mut order: Vec<u32> = found.keys().map(|router| router.index() as u32).collect();
            order.sort_unstable_by_key(|&router| (distances[router as usize], router));
            unreachable += (topology.len() - order.len()) as u64;
            trees.push(Tree { distances, order });
        }
        Routes { topology, trees, unreachable }
    }

    /// The network.
    pub fn topology(&self) -> &'a Topology {
        self.topology
    }

    /// How many ordered pairs of routers no path connects.
    pub fn unreachable(&self) -> u64 {
        self.unreachable
    }

    /// The cost of the shortest paths from one router to another, if there are any.
    pub fn distance(&self, source: usize, router: usize) -> Option<u64> {
        self.trees.get(source)?.distances.get(router).copied().filter(|&distance| distance != FAR)
    }

    /// The routers that `source` reaches, itself first, the nearest first.
    pub fn order(&self, source: usize) -> impl DoubleEndedIterator<Item = usize> {
        self.trees.get(source).into_iter().flat_map(|tree| &tree.order).map(|&router| router as usize)
    }

    /// The next routers behind `router` on the shortest paths from `source`, in the order of their numbers.
    pub fn next(&self, source: usize, router: usize) -> impl Iterator<Item = usize> {
        let tree = self.trees.get(source);
        self.topology.links(router).iter().filter_map(move |&(to, cost)| {
            let distances = &tree?.distances;
            let here = distances.get(router).filter(|&&distance| distance != FAR)?;
            (here + u64::from(cost) == distances[to]).then_some(to)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn distances_are_those_of_floyd_and_warshall(
            links in prop::collection::vec((0..9u8, 0..9u8, 1..6u32), 0..30),
        ) {
            let mut topology = Topology::new();
            (0..9).for_each(|router| _ = topology.router(&router.to_string()).unwrap());
            let mut known = [[None; 9]; 9];
            (0..9).for_each(|router| known[router][router] = Some(0));
            for (from, to, cost) in links {
                topology.link(&from.to_string(), &to.to_string(), cost).unwrap();
                let known = &mut known[usize::from(from)][usize::from(to)];
                *known = Some(known.map_or(u64::from(cost), |known: u64| known.min(cost.into())));
            }
            for middle in 0..9 {
                for (from, to) in (0..81).map(|pair| (pair / 9, pair % 9)) {
                    if let (Some(first), Some(second)) = (known[from][middle], known[middle][to]) {
                        let known = &mut known[from][to];
                        *known = Some(known.map_or(first + second, |known: u64| known.min(first + second)));
                    }
                }
            }
            let routes = Routes::of(&topology);
            let mut unreachable = 0;
            for (from, row) in known.iter().enumerate() {
                for (to, &distance) in row.iter().enumerate() {
                    prop_assert_eq!(routes.distance(from, to), distance);
                    unreachable += u64::from(distance.is_none());
                }
                let distances: Vec<_> = routes.order(from).map(|to| row[to].unwrap()).collect();
                prop_assert!(distances.is_sorted());
                prop_assert_eq!(distances.len(), row.iter().flatten().count());
            }
            prop_assert_eq!(routes.unreachable(), unreachable);
        }
    }
}

/// Paths one by one, in the plainest way: the truth of other modules' tests.
#[cfg(test)]
pub(crate) mod listed {
    use crate::Topology;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// All shortest paths between all ordered pairs: of all ways without a repetition, the cheapest.
    pub(crate) fn all_paths(topology: &Topology) -> BTreeSet<Vec<usize>> {
        let mut cheapest = vec![vec![u64::MAX; topology.len()]; topology.len()];
        let mut ways = vec![];
        for (source, cheapest) in cheapest.iter_mut().enumerate() {
            let mut open = vec![(vec![source], 0u64)];
            while let Some((way, cost)) = open.pop() {
                let end = way[way.len() - 1];
                for &(next, more) in topology.links(end) {
                    if !way.contains(&next) {
                        open.push(([&way[..], &[next]].concat(), cost + u64::from(more)));
                    }
                }
                if end != source {
                    cheapest[end] = cheapest[end].min(cost);
                    ways.push((way, cost));
                }
            }
        }
        let is_cheapest = |(way, cost): &(Vec<usize>, u64)| cheapest[way[0]][way[way.len() - 1]] == *cost;
        ways.into_iter().filter(is_cheapest).map(|(way, _)| way).collect()
    }

    /// Lines 12 to 19 of Algorithm 1.
    pub(crate) fn split(paths: &BTreeSet<Vec<usize>>, router: usize) -> BTreeSet<Vec<usize>> {
        let pieces = |path: &Vec<usize>| match path[1..path.len() - 1].iter().position(|&on| on == router) {
            Some(place) => vec![path[..=place + 1].to_vec(), path[place + 1..].to_vec()],
            None => vec![path.clone()],
        };
        paths.iter().flat_map(pieces).collect()
    }

    /// Small networks in which many paths cost the same, some links lead one way, and any routers are upgraded.
    pub(crate) fn topologies() -> impl Strategy<Value = (Topology, Vec<bool>)> {
        let links = prop::collection::vec((0..7u8, 0..7u8, 1..4u32, prop::bool::weighted(0.8)), 0..14);
        (links, prop::collection::vec(prop::bool::weighted(0.3), 7)).prop_map(|(links, cut)| {
            let mut topology = Topology::new();
            (0..7).for_each(|router| _ = topology.router(&router.to_string()).unwrap());
            for (from, to, cost, is_both) in links {
                let [from, to] = [from, to].map(|router| router.to_string());
                topology.link(&from, &to, cost).unwrap();
                if is_both {
                    topology.link(&to, &from, cost).unwrap();
                }
            }
            (topology, cut)
        })
    }
}
