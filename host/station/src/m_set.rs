//! What a router or server has to measure: its *m-set* (section VI of the LDA paper).
//!
//! An m-set is the tree of shortest paths from its owner, cut where an m-router is met: what lies behind, that one measures.
//! Where several paths of equal cost lead to a router, each is a member of its own if it meets no m-router before. They are
//! numbered in the order of the routers on them; the second path to D is D2, also where the first is measured by somebody
//! else, as in figure 8 (c).
//!
//! Together the m-sets hold every segment exactly once ([`crate::Tally`]), so that every path is covered.
//!
//! # Readings
//!
//! Figure 8 (c) has {A, B, E, D2} for F although C, an m-router, is next to F, and F is in C's m-set. The published sets are those of
//! *sessions*: two m-routers whose paths to each other are the same both ways need one session between them, in which both directions
//! are measured (as STAMP, RFC 8762, does), and the one of the lower number starts it. Between an m-server and an m-router
//! each measures its own. [`m_set`] is the full set, [`sessions`] what its owner starts.
//!
//! # Test plan
//!
//! The toy network of figures 7 and 8: all six sets, of which the paper's text has three. On random networks the m-sets are
//! the segments of Algorithm 1, and whatever is left out of one's sessions another one starts in reverse.

use crate::{Routes, TooManyPaths, Topology};

/// The most members of an m-set that are listed.
const MOST_MEMBERS: usize = 1 << 20;

/// A segment that the owner of an m-set measures.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member {
    /// The routers on it: the owner first, last the one that it measures to.
    pub path: Vec<usize>,
    /// Of the shortest paths from the owner to that router, which one, from 1 on.
    pub ordinal: u128,
}

impl Member {
    /// The router that it leads to, none for a path of nothing.
    pub fn end(&self) -> Option<usize> {
        self.path.last().copied()
    }

    /// The routers on it between its two ends.
    pub fn between(&self) -> impl Iterator<Item = usize> + '_ {
        let inner = self.path.len().saturating_sub(2);
        self.path.iter().skip(1).take(inner).copied()
    }

    /// How the paper writes it: the router's name, from its second path on with a number, such as D2. Where that could be another router, the
    /// number is written out: 10.0.0.1 (path 2).
    pub fn label(&self, topology: &Topology) -> String {
        let name = self.end().map_or("", |end| topology.name(end));
        let numbered = format!("{name}{}", self.ordinal);
        if self.ordinal == 1 {
            name.to_string()
        } else if name.ends_with(|last: char| last.is_ascii_digit()) || topology.number(&numbered).is_some() {
            format!("{name} (path {})", self.ordinal)
        } else {
            numbered
        }
    }
}

/// The m-set of the router `owner`, or of the server beside it, by the order of the routers that it measures to.
///
/// # Errors
///
/// [`TooManyPaths`] if it has more than 2^20 members.
pub fn m_set(routes: &Routes, upgraded: &[bool], owner: usize) -> Result<Vec<Member>, TooManyPaths> {
    let is_cut = |router: usize| upgraded.get(router).copied().unwrap_or(false);
    let too_many = TooManyPaths { most: MOST_MEMBERS as u128 };
    let mut found: Vec<Vec<usize>> = vec![];
    let mut open = vec![vec![owner]];
    while let Some(path) = open.pop() {
        let end = path[path.len() - 1];
        if end == owner || !is_cut(end) {
            open.extend(routes.next(owner, end).map(|next| [&path[..], &[next]].concat()));
        }
        if end != owner {
            found.push(path);
        }
        if found.len() + open.len() > MOST_MEMBERS {
            return Err(too_many);
        }
    }
    found.sort_unstable_by(|one, other| (one.last(), one).cmp(&(other.last(), other)));
    let mut members = vec![];
    let mut ahead: Option<(usize, Vec<u128>)> = None;
    for path in found {
        let end = path[path.len() - 1];
        if ahead.as_ref().is_none_or(|(known, _)| *known != end) {
            ahead = Some((end, ways(routes, owner, end)?));
        }
        let counts = ahead.as_ref().map_or(&[][..], |(_, counts)| counts);
        let ordinal = 1 + path
            .windows(2)
            .map(|hop| {
                let before = routes.next(owner, hop[0]).take_while(|&next| next != hop[1]);
                before.map(|next| counts[next]).sum::<u128>()
            })
            .sum::<u128>();
        members.push(Member { path, ordinal });
    }
    Ok(members)
}

/// How many ways lead on to `end`, from each router on shortest paths from `source`.
fn ways(routes: &Routes, source: usize, end: usize) -> Result<Vec<u128>, TooManyPaths> {
    let mut ways = vec![0u128; routes.topology().len()];
    ways[end] = 1;
    for router in routes.order(source).rev().filter(|&router| router != end) {
        let onward = routes.next(source, router).try_fold(0u128, |sum, next| sum.checked_add(ways[next]));
        ways[router] = onward.ok_or(TooManyPaths { most: u128::MAX })?;
    }
    Ok(ways)
}

/// The members of the m-set that its owner starts a session for: all but those to m-routers of lower numbers that start one
/// along the same path.
///
/// # Errors
///
/// As [`m_set`].
pub fn sessions(routes: &Routes, upgraded: &[bool], owner: usize) -> Result<Vec<Member>, TooManyPaths> {
    let is_m_router = |router: usize| upgraded.get(router).copied().unwrap_or(false);
    let is_started = |member: &Member| {
        let other = member.end().filter(|&end| end < owner && is_m_router(end) && is_m_router(owner));
        // All routers between are the same, none of them cut: it is in the other's m-set if it is a shortest path there.
        other.is_some_and(|other| {
            let back: Vec<usize> = member.path.iter().rev().copied().collect();
            back.windows(2).all(|hop| routes.next(other, hop[0]).any(|next| next == hop[1]))
        })
    };
    let mut members = m_set(routes, upgraded, owner)?;
    members.retain(|member| !is_started(member));
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::listed::{all_paths, split, topologies};
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    fn toy() -> (Topology, Vec<bool>) {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/topologies/figure-7.graph");
        let topology = crate::read(Path::new(file)).unwrap();
        let upgraded = ["A", "B", "C", "D", "E", "F"].map(|name| ["C", "F"].contains(&name));
        (topology, upgraded.to_vec())
    }

    /// The sets of A, C and F are the paper's, the others are derived by hand.
    #[test]
    fn figure_8() {
        let (topology, upgraded) = toy();
        let routes = Routes::of(&topology);
        let labels = |members: Vec<Member>| -> Vec<String> {
            members.iter().map(|member| member.label(&topology)).collect()
        };
        let published: [&[&str]; 6] = [
            &["B", "F"],
            &["A", "F"],
            &["D", "E", "F"],
            &["C", "E", "F2"],
            &["C", "D", "F"],
            &["A", "B", "D2", "E"],
        ];
        for (owner, expected) in published.into_iter().enumerate() {
            assert_eq!(labels(sessions(&routes, &upgraded, owner).unwrap()), expected, "{owner}");
            let all = labels(m_set(&routes, &upgraded, owner).unwrap());
            match topology.name(owner) {
                "F" => assert_eq!(all, ["A", "B", "C", "D2", "E"]),
                _ => assert_eq!(all, expected),
            }
        }
        let second = m_set(&routes, &upgraded, 5).unwrap().swap_remove(3);
        let names: Vec<&str> = second.path.iter().map(|&router| topology.name(router)).collect();
        assert_eq!((names, second.ordinal), (vec!["F", "E", "D"], 2));
    }

    #[test]
    fn labels_are_of_one_router() {
        let mut topology = Topology::new();
        for name in ["D", "D2", "E", "10.0.0.1"] {
            topology.router(name).unwrap();
        }
        let label = |router: usize, ordinal: u128| Member { path: vec![router], ordinal }.label(&topology);
        assert_eq!([label(0, 1), label(0, 2), label(0, 3)], ["D", "D (path 2)", "D3"]);
        assert_eq!([label(1, 1), label(1, 2)], ["D2", "D2 (path 2)"]);
        assert_eq!([label(2, 2), label(3, 1), label(3, 2)], ["E2", "10.0.0.1", "10.0.0.1 (path 2)"]);
    }

    proptest! {
        #[test]
        fn all_sets_are_the_segments((topology, cut) in topologies()) {
            let routes = Routes::of(&topology);
            let paths = all_paths(&topology);
            let mut segments = paths.clone();
            for router in (0..topology.len()).filter(|&router| cut[router]) {
                segments = split(&segments, router);
            }
            let (mut members, mut started) = (vec![], BTreeSet::new());
            for owner in 0..topology.len() {
                members.extend(m_set(&routes, &cut, owner).unwrap());
                started.extend(sessions(&routes, &cut, owner).unwrap().into_iter().map(|member| member.path));
            }
            prop_assert_eq!(members.len(), segments.len());
            for Member { path, ordinal } in members {
                prop_assert!(segments.contains(&path));
                // Which of its kind it is, in the order of routers' numbers.
                let alike = paths.iter().filter(|other| other[0] == path[0] && other.last() == path.last());
                prop_assert_eq!(alike.filter(|&other| *other <= path).count() as u128, ordinal);
                let back: Vec<usize> = path.iter().rev().copied().collect();
                let is_shared = segments.contains(&back) && cut[path[0]] && cut[back[0]];
                prop_assert_eq!(started.contains(&path), !is_shared || path[0] < back[0], "{:?}", path);
            }
        }
    }

    #[test]
    fn too_many_are_refused() {
        let mut chain = Topology::new();
        for link in 0..20 {
            for side in ["left", "right"] {
                let side = format!("{side} {link}");
                chain.connect(&link.to_string(), &side, 1).unwrap();
                chain.connect(&side, &(link + 1).to_string(), 1).unwrap();
            }
        }
        let routes = Routes::of(&chain);
        assert_eq!(m_set(&routes, &[], 0), Err(TooManyPaths { most: MOST_MEMBERS as u128 }));
    }
}
