//! A network: routers, and links with costs.
//!
//! A link leads one way. Routing and probes know routers alone, so that of parallel links between the same two routers the
//! cheapest one counts; a link from a router to itself leads nowhere and is left out. Both are counted, so that whoever reads
//! a file can say so.
//!
//! # Test plan
//!
//! Parallel links, loops, costs at both limits, as many routers as are allowed and one more.

use std::collections::HashMap;
use std::sync::Arc;

/// A network of routers.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    names: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, usize>,
    links: Vec<Vec<(usize, u32)>>,
    /// Links left out because another one between the same routers costs no more.
    pub parallel: u64,
    /// Links left out because they lead back to where they begin.
    pub loops: u64,
    /// What its file did not say, or said otherwise.
    pub remarks: Vec<Remark>,
}

/// What a reader of a network's numbers has to know of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Remark {
    /// No link has a cost.
    #[error(
        "the file has no costs of links, or not by a name that is known: each costs 1, and shortest paths are those of fewest hops"
    )]
    NoCosts,
    /// So many areas.
    #[error(
        "the routers are of {0} areas: paths are taken as if there were none, and OSPF's may differ where a shorter one leaves an area and comes back"
    )]
    Areas(usize),
    /// So many routers name fewer neighbours than they say they have.
    #[error("{0} lines name other neighbours than as many as they say: are they whole?")]
    Neighbours(usize),
}

/// A router or link that a topology refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// A cost of nothing, with which paths of equal cost have no end.
    #[error("the link from {from} to {to} costs nothing; give it a cost of at least 1")]
    Free {
        /// Where it begins.
        from: String,
        /// Where it ends.
        to: String,
    },
    /// More routers than fit.
    #[error("more than {} routers; give a part of the network", Topology::MOST_ROUTERS)]
    Routers,
}

impl Topology {
    /// The most routers. All shortest paths take 12 bytes for each pair of them.
    pub const MOST_ROUTERS: usize = 4096;

    /// A network of nothing.
    pub fn new() -> Self {
        Topology::default()
    }

    /// The number of the router of this name, which is new unless it is there.
    ///
    /// # Errors
    ///
    /// [`LinkError::Routers`].
    pub fn router(&mut self, name: &str) -> Result<usize, LinkError> {
        if let Some(&number) = self.numbers.get(name) {
            return Ok(number);
        }
        if self.names.len() == Self::MOST_ROUTERS {
            return Err(LinkError::Routers);
        }
        let (number, name) = (self.names.len(), Arc::<str>::from(name));
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        self.links.push(vec![]);
        Ok(number)
    }

    /// A link from one router to another, at this cost.
    ///
    /// # Errors
    ///
    /// [`LinkError`].
    pub fn link(&mut self, from: &str, to: &str, cost: u32) -> Result<(), LinkError> {
        if cost == 0 {
            return Err(LinkError::Free { from: from.into(), to: to.into() });
        }
        let (from, to) = (self.router(from)?, self.router(to)?);
        if from == to {
            self.loops += 1;
            return Ok(());
        }
        match self.links[from].binary_search_by_key(&to, |&(end, _)| end) {
            Ok(place) => {
                self.parallel += 1;
                let known = &mut self.links[from][place].1;
                *known = cost.min(*known);
            }
            Err(place) => self.links[from].insert(place, (to, cost)),
        }
        Ok(())
    }

    /// Links in both directions, at the same cost.
    ///
    /// # Errors
    ///
    /// [`LinkError`].
    pub fn connect(&mut self, one: &str, other: &str, cost: u32) -> Result<(), LinkError> {
        self.link(one, other, cost)?;
        self.link(other, one, cost)
    }

    /// Takes both directions of a link away; says whether there was one.
    pub fn disconnect(&mut self, one: usize, other: usize) -> bool {
        let mut remove = |from: usize, to: usize| {
            let links = self.links.get_mut(from)?;
            let place = links.iter().position(|&(end, _)| end == to)?;
            Some(links.remove(place))
        };
        let removed = [remove(one, other), remove(other, one)];
        removed.iter().any(Option::is_some)
    }

    /// How many routers there are; they have numbers from 0 on.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// A router's name; empty if there is none of this number.
    pub fn name(&self, router: usize) -> &str {
        self.names.get(router).map_or("", |name| name)
    }

    /// The router of this name.
    pub fn number(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// Where a router's links lead, and what they cost, in the order of the routers' numbers.
    pub fn links(&self, router: usize) -> &[(usize, u32)] {
        self.links.get(router).map_or(&[], |links| links)
    }

    /// How many links there are, each direction for itself.
    pub fn link_count(&self) -> usize {
        self.links.iter().map(Vec::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheapest_of_parallel_links_counts() {
        let mut topology = Topology::new();
        topology.connect("A", "B", 7).unwrap();
        topology.link("A", "B", 3).unwrap();
        topology.link("A", "B", 9).unwrap();
        topology.link("B", "B", 1).unwrap();
        assert_eq!((topology.links(0), topology.links(1)), (&[(1, 3)][..], &[(0, 7)][..]));
        assert_eq!((topology.parallel, topology.loops, topology.link_count()), (2, 1, 2));
        assert_eq!((topology.name(1), topology.name(2), topology.number("C")), ("B", "", None));
        assert!(topology.disconnect(1, 0) && !topology.disconnect(0, 1) && !topology.disconnect(5, 0));
        assert_eq!(topology.link_count(), 0);
    }

    #[test]
    fn costs_and_sizes_have_limits() {
        let mut topology = Topology::new();
        let free = LinkError::Free { from: "A".into(), to: "B".into() };
        assert_eq!(topology.link("A", "B", 0), Err(free));
        topology.connect("0", "1", u32::MAX).unwrap();
        (2..Topology::MOST_ROUTERS).for_each(|name| _ = topology.router(&name.to_string()).unwrap());
        assert_eq!(topology.len(), Topology::MOST_ROUTERS);
        assert_eq!(topology.router("one more"), Err(LinkError::Routers));
        assert_eq!(topology.router("17"), Ok(17));
    }
}
